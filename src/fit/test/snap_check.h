/* Shared by tests of snapping: a table of a formula, and the text of a fit. */
#ifndef SL_SNAP_CHECK_H
#define SL_SNAP_CHECK_H

#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"
#include "fixture/formula.h"

enum { ROWS = 64, VARS = 2 };

typedef struct data {
    double x[VARS][ROWS], y[ROWS];
    const double *column[VARS];
    sl_dataset p;
} data;

static const sl_refine_options plain = { .evaluations = 200, .restarts = 4, .seed = 7 };

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
