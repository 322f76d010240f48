/* Inside report: parts that the forms of a discovery share. */
#ifndef SL_REPORT_DISCOVERY_IMPL_H
#define SL_REPORT_DISCOVERY_IMPL_H

#include "report/report_impl.h"

/* Does it have a formula that can be printed? Not if a constant has overflowed. */
bool sl_report__can_print(const sl_candidate *c);
/* Appends variable v as formulas spell it: in backticks where its name is no word. */
SL_NODISCARD sl_status sl_report__add_variable(sl_str *s, int v, const sl_names *names);
/* Units of the constants of a candidate. */
SL_NODISCARD sl_status sl_report__constant_units(sl_fit_dimensions *out, sl_arena *scratch,
                                                 const sl_candidate *c, const sl_units *units);
/* Appends a line about the columns' units. */
SL_NODISCARD sl_status sl_report__add_units(sl_str *s, const sl_units *u, const sl_names *names,
                                            const char *target);
/* Appends lines above the formula: which columns were left out. */
SL_NODISCARD sl_status sl_report__discovery_before(sl_str *s, const sl_report_discovery *r);
/* Appends lines below the table: what was done, and with which data. */
SL_NODISCARD sl_status sl_report__discovery_work(sl_str *s, const sl_report_discovery *r);

/* The input of a picture. */
typedef struct sl_report__picture {
    const sl_report_discovery *r;
    bool html;
    sl_arena *arena;
    const char *title;        // the file's name; NULL: none
    const sl_candidate *best; // NULL if no candidate has an R2
    sl_rounding rounding;     // what rounded formulas are tried on
    sl_candidate rounded;     // the best with constants for people to read
    sl_dataset rows;          // all, or as many as can be distinguished
    double *value, *residual; // of the formula, of the rows; NaN where it is not real
    char plain[SL_DATA_MAX_INPUTS][16];
    const char *name[SL_DATA_MAX_INPUTS], *target; // of inputs and y
} sl_report__picture;

/* Appends the name and an R2: 0.9731; "1 - R2 = 2.4e-9" instead where it is close to 1. */
void sl_report__r2(sl_str *s, const char *name, double r2);
/* Appends the figure. */
SL_NODISCARD sl_status sl_report__discovery_figure(sl_str *s, const sl_report__picture *v);
/* Appends the page around it. */
SL_NODISCARD sl_status sl_report__discovery_page(sl_str *s, const sl_report__picture *v);

#endif
