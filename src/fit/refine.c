/* refine - the constants of a formula, fitted to rows.
 *
 * The numbers of the formula become free constants, which refine_fit.c moves. If the fit is not
 * better than the formula before it, that formula is the result. */
#include <math.h>

#include "fit/fit_impl.h"

/* ---------------------------------------------------------------- without a fit ------------- */

/* *out := e unchanged. */
static sl_status unrefined(sl_fit *out, double *loss, sl_arena *a, const sl_node *e,
                           const double *start, const sl_dataset *p) {
    SL_TRY(sl_fit__put(out, a, e, start, sl_expr_max_par(e)));
    return sl_fit__score(&out->r2, loss, e, start, p);
}

/* *skeleton := e with its numbers free, tidy, *n constants with values in from[]; NULL where they
 * are too many. */
static sl_status set_free(const sl_node **skeleton, double *from, int *n, sl_arena *a,
                          const sl_node *e, const double *start) {
    const int had = sl_expr_max_par(e);
    *skeleton = NULL;
    if (had > SL_FIT_MAX_PARAMS) return SL_OK;
    for (int k = 0; k < had; k++) from[k] = start[k];
    const sl_node *free;
    const sl_status st = sl_expr_free_numbers(&free, from, n, SL_FIT_MAX_PARAMS, a, e);
    if (st == SL_ELIMIT) return SL_OK;
    SL_TRY(st);
    return sl_expr_tidy(skeleton, a, free);
}

sl_status sl_fit_refine(sl_fit *out, sl_arena *a, const sl_node *e, const double *start,
                        const sl_dataset *p, const sl_refine_options *o) {
    const sl_node *skeleton;
    double from[SL_FIT_MAX_PARAMS];
    int n = 0;
    double loss, proposed;
    sl_fit fitted;
    SL_TRY(unrefined(out, &proposed, a, e, start, p));
    SL_TRY(set_free(&skeleton, from, &n, a, e, start));
    if (!skeleton || n == 0) return SL_OK;
    SL_TRY(sl_fit__run(&fitted, a, skeleton, n, from, p, o));
    SL_TRY(sl_fit__score(&fitted.r2, &loss, skeleton, fitted.value, p));
    if (loss < proposed || (isnan(proposed) && !isnan(loss)))
        *out = fitted;
    else if (out->params == n && sl_expr_equal(out->expr, skeleton))
        out->error = fitted.error; // e was at the minimum already
    out->evaluations = fitted.evaluations;
    out->starts = fitted.starts;
    out->stopped = fitted.stopped;
    return SL_OK;
}

sl_status sl_fit_constants(sl_fit *out, sl_arena *a, const sl_node *e, int params,
                           const double *start, const sl_dataset *p, const sl_refine_options *o) {
    double loss, proposed;
    sl_fit fitted;
    const sl_node *tidy;
    SL_TRY(sl_expr_tidy(&tidy, a, e));
    SL_TRY(sl_fit__put(out, a, tidy, start, params));
    SL_TRY(sl_fit__score(&out->r2, &proposed, tidy, start, p));
    if (params == 0 || params > SL_FIT_MAX_PARAMS) return SL_OK;
    SL_TRY(sl_fit__run(&fitted, a, tidy, params, start, p, o));
    SL_TRY(sl_fit__score(&fitted.r2, &loss, tidy, fitted.value, p));
    // R2 does not resolve the last digits of constants, the sum of squares does
    if (loss <= proposed || (isnan(proposed) && !isnan(loss)))
        *out = fitted;
    else
        out->error = fitted.error; // e was at the minimum already
    return SL_OK;
}

/* ---------------------------------------------------------------- wider --------------------- */

static bool has_own_factor(const sl_node *e) {
    if (e->op == SL_OP_PAR) return true;
    if (e->op != SL_OP_MUL) return false;
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c))
        if (c->op == SL_OP_PAR) return true;
    return false;
}

/* e, times constant *n + 1 if it has no factor of its own yet; NULL without memory. */
static const sl_node *with_factor(sl_arena *a, const sl_node *e, int *n) {
    if (has_own_factor(e)) return e;
    const sl_node *both[2] = { sl_expr_par(a, ++*n), e };
    return both[0] ? sl_expr_nary(a, SL_OP_MUL, both, 2) : NULL;
}

/* *out := e with a factor for each of its terms and a summand, where it has none; *n constants. */
static sl_status widen(const sl_node **out, sl_arena *a, const sl_node *e, int *n) {
    const int terms = e->op == SL_OP_ADD ? e->arg : 1;
    const sl_node **term = sl_arena_alloc(a, ((size_t)terms + 1) * sizeof(const sl_node *));
    if (!term) return sl_fail_memory((size_t)terms + 1, sizeof *term, "terms");
    const sl_node *c = e->op == SL_OP_ADD ? e + 1 : e;
    bool summand = false, good = true;
    for (int i = 0; i < terms; i++, c = sl_expr_next(c)) {
        summand = summand || c->op == SL_OP_PAR;
        good = (term[i] = with_factor(a, c, n)) && good;
    }
    int count = terms;
    if (!summand) good = (term[count++] = sl_expr_par(a, ++*n)) && good;
    const sl_node *sum = count == 1 ? term[0] : NULL;
    if (good && count > 1) sum = sl_expr_nary(a, SL_OP_ADD, term, count);
    if (!sum) return sl_fail_memory((size_t)e->len, sizeof *e, "a wider formula");
    return sl_expr_tidy(out, a, sum);
}

sl_status sl_fit_refine_wide(sl_fit *out, sl_arena *a, const sl_node *e, const double *start,
                             const sl_dataset *p, const sl_refine_options *o) {
    SL_TRY(sl_fit_refine(out, a, e, start, p, o));
    const sl_node *skeleton, *wide;
    double from[2 * SL_FIT_MAX_PARAMS];
    int n = 0;
    if (out->stopped || 1 - out->r2 <= SL_FIT__GOOD) return SL_OK;
    SL_TRY(set_free(&skeleton, from, &n, a, e, start));
    if (!skeleton) return SL_OK;
    const int had = n;
    SL_TRY(widen(&wide, a, skeleton, &n));
    if (n == had || n > SL_FIT_MAX_PARAMS) return SL_OK;
    for (int k = had; k < n; k++) from[k] = 1;
    sl_fit f;
    SL_TRY(sl_fit__run(&f, a, wide, n, from, p, o));
    f.evaluations += out->evaluations;
    f.starts += out->starts;
    sl_bits bits, wide_bits;
    SL_TRY(sl_fit_describe(&bits, out, p, NULL));
    SL_TRY(sl_fit_describe(&wide_bits, &f, p, NULL));
    if (wide_bits.total < bits.total) {
        *out = f;
    } else {
        out->evaluations = f.evaluations;
        out->starts = f.starts;
        out->stopped = f.stopped;
    }
    return SL_OK;
}
