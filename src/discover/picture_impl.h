/* Shared by picture.c and picture_page.c: what a picture is made from. */
#ifndef SL_PICTURE_IMPL_H
#define SL_PICTURE_IMPL_H

#include "discover/discover.h"

typedef struct sl_discover__picture_shown {
    const sl_picture *p;
    sl_arena *arena;
    const sl_candidate *best;      // NULL if no candidate has an R2
    sl_rounding rounding;          // what rounded formulas are tried on
    sl_candidate rounded;          // the best with constants for people to read
    sl_problem rows;               // all, or as many as can be told apart
    const double *x[SL_DATA_MAX_INPUTS];
    double *value, *residual;      // of the formula, of the rows; NaN where it is not real
    char plain[SL_DATA_MAX_INPUTS][16];
    const char *name[SL_DATA_MAX_INPUTS], *target; // of inputs and y
} sl_discover__picture_shown;

/* Appends an R2 for people: 0.9731, and 1 - 2.4e-9 where nines would have to be counted. */
void sl_discover__picture_r2(sl_str *s, double r2);
/* Appends the figure. */
SL_NODISCARD sl_status sl_discover__picture_figure(sl_str *s, const sl_discover__picture_shown *v);
/* Appends the page around it. */
SL_NODISCARD sl_status sl_discover__picture_page(sl_str *s, const sl_discover__picture_shown *v);

#endif
