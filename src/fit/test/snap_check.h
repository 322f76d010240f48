/* Shared by tests of snapping: a table of a formula, and the text of a fit. */
#ifndef SL_SNAP_CHECK_H
#define SL_SNAP_CHECK_H

#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"
#include "fixture/fixture.h"

enum { ROWS = 64, VARS = 2 };

typedef struct data {
    double x[VARS][ROWS], y[ROWS];
    const double *column[VARS];
    sl_dataset p;
} data;

static const sl_refine_options plain = { .evaluations = 200, .restarts = 4, .seed = 7 };

static inline const sl_node *parsed(sl_fixture *t, const char *text) {
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return e;
}

static inline const char *text_of(const sl_fit *f) {
    static char text[2][4096];
    static int which;
    char *to = text[which ^= 1];
    sl_str s = { 0 };
    sl_status st = sl_expr_print_values(&s, SL_FORMAT_INFIX, f->expr, NULL, f->value);
    snprintf(to, sizeof text[0], "%s", st == SL_OK ? sl_str_text(&s) : "?");
    sl_str_clear(&s);
    return to;
}

/* Rows at random x, y by `truth` with the values given and errors of that size; false: y is huge.
 */
static inline bool make(sl_fixture *t, data *d, const sl_node *truth, const double *value,
                        double noise) {
    for (int v = 0; v < VARS; v++) {
        d->column[v] = d->x[v];
        for (int i = 0; i < ROWS; i++) d->x[v][i] = sl_rng_range(&t->rng, 0.2, 2);
    }
    d->p = sl_data_view(d->column, VARS, d->y, ROWS);
    SL_MUST(t, sl_expr_eval(d->y, &t->arena, truth, d->column, ROWS, value));
    bool good = true;
    for (int i = 0; i < ROWS; i++) {
        good = good && fabs(d->y[i]) < 1e30;
        d->y[i] += noise * sl_rng_normal(&t->rng);
    }
    return good;
}

#endif
