/* structure - is a formula that was found in data with errors the truth but for its constants?
 *
 * Errors in y leave errors in constants, so the formula's values say nothing. Its numbers, but for
 * exponents, are fitted once more, to y without errors: if the structure is right they go to the
 * truth's and the formula has its values at points that it has not seen. */
#include <math.h>

#include "eval/eval_impl.h"

enum { EVALUATIONS = 400, RESTARTS = 2 };

static const double tolerance = 1e-6; // of the root mean square of y

/* Has the fit the values of p at all of its rows? */
static sl_status agrees(bool *out, sl_arena *scratch, const sl_fit *f, const sl_dataset *p) {
    double *y = sl_arena_alloc(scratch, (size_t)p->rows * sizeof *y), most = 0, square = 0;
    if (!y) return sl_fail_memory((size_t)p->rows, sizeof *y, "values");
    SL_TRY(sl_expr_eval(y, scratch, f->expr, p->x, p->rows, f->value));
    for (int64_t i = 0; i < p->rows; i++) most = fmax(most, fabs(p->y[i]));
    for (int64_t i = 0; i < p->rows && most > 0; i++) square += p->y[i] / most * (p->y[i] / most);
    const double near = tolerance * most * sqrt(square / (double)p->rows);
    *out = true;
    for (int64_t i = 0; i < p->rows; i++) *out = *out && fabs(y[i] - p->y[i]) <= near; // NaN: no
    return SL_OK;
}

sl_status sl_eval__structure(bool *out, sl_arena *scratch, const sl_node *expr, const double *value,
                             const sl_eval_problem *p) {
    const sl_refine_options o = { .evaluations = EVALUATIONS, .restarts = RESTARTS };
    const size_t mark = sl_arena_mark(scratch);
    sl_dataset clean = p->data;
    sl_fit fit;
    if (p->y_true) clean.y = p->y_true;
    clean.sigma = NULL;
    *out = false;
    sl_status st = sl_fit_refine(&fit, scratch, expr, value, &clean, &o);
    if (st == SL_OK) st = agrees(out, scratch, &fit, p->fresh.rows > 0 ? &p->fresh : &clean);
    sl_arena_rewind(scratch, mark);
    return st;
}
