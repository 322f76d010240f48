/* steady - is a fit well conditioned, or do its constants diverge towards a simpler formula? */
#include <math.h>

#include "fit/fit.h"

sl_status sl_fit_is_steady(bool *out, sl_arena *scratch, const sl_fit *f, const sl_dataset *p) {
    const double CHANGE = 1e-7, MOST = 1e5;
    *out = false;
    if (f->params > SL_FIT_MAX_PARAMS) return SL_OK; // was not fitted
    if (2 * f->params > p->rows) return SL_OK;       // an interpolation
    const size_t mark = sl_arena_mark(scratch), rows = (size_t)SL_MIN(p->rows, 1000);
    double *y = sl_arena_alloc(scratch, 2 * rows * sizeof *y);
    if (!y) return sl_fail_memory(2 * rows, sizeof *y, "values");
    double *z = y + rows, value[SL_FIT_MAX_PARAMS], lo = p->y[0], hi = p->y[0], most = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        lo = fmin(lo, p->y[i]);
        hi = fmax(hi, p->y[i]);
    }
    SL_TRY(sl_expr_eval(y, scratch, f->expr, p->x, (int64_t)rows, f->value));
    for (int k = 0; k < f->params && hi > lo; k++) {
        for (int i = 0; i < f->params; i++) value[i] = f->value[i];
        value[k] *= 1 + CHANGE;
        SL_TRY(sl_expr_eval(z, scratch, f->expr, p->x, (int64_t)rows, value));
        for (size_t i = 0; i < rows; i++)
            most = fmax(most, fabs(z[i] / (hi - lo) - y[i] / (hi - lo)));
    }
    *out = most <= CHANGE * MOST;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}
