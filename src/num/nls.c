/* Non-linear least squares: MINPACK's Levenberg-Marquardt, which never sees a value that is not
 * finite.
 *
 * A point outside the domain is passed to lmder as residuals of norm OUTSIDE. Any finite sum of
 * squares has a norm below 1e155, so the step counts as at least ten times worse, is rejected, and
 * the next one is a tenth as long. With a NaN or an infinity, lmder's comparisons would decide in
 * an unspecified way. */
#include "num/num_impl.h"

#include <cminpack.h>
#include <math.h>
#include <string.h>

#define OUTSIDE 1e160

typedef struct fit {
    sl_nls_fn fn;
    void *payload;
    const sl_nls_options *opt;
    int m, n;
    double **jac; // column k of the derivatives
    double *best; // parameters of the best finite point so far
    double best_sse;
    int evaluations;
    bool ended; // for the reason in `end`, or by a callback that failed with `st`
    sl_nls_end end;
    sl_status st;
} fit;

static void copy(double *to, const double *from, int n) { // unlike memcpy, NULL is fine for n = 0
    for (int i = 0; i < n; i++) to[i] = from[i];
}

static bool all_finite(const double *x, int n) {
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

/* Residuals at p; keeps the best point so far. False: the fit must end. */
static bool residuals(fit *f, const double *p, double *r) {
    const sl_nls_options *opt = f->opt;
    f->ended = true;
    f->end = SL_NLS_STOPPED;
    if (opt->stop && opt->stop(opt->stop_payload)) return false;
    f->end = SL_NLS_EVALUATIONS;
    if (f->evaluations >= opt->max_evaluations) return false;

    f->evaluations++;
    double sse = INFINITY;
    if (all_finite(p, f->n)) { // a step can overflow; the callback gets finite parameters only
        f->st = f->fn(r, NULL, p, f->payload);
        if (f->st != SL_OK) return false;
        sse = 0;
        for (int i = 0; i < f->m; i++) sse += r[i] * r[i];
    }
    if (!isfinite(sse)) {
        f->end = SL_NLS_DOMAIN;
        if (f->evaluations == 1) return false;
        memset(r, 0, (size_t)f->m * sizeof *r);
        r[0] = OUTSIDE;
    } else if (f->evaluations == 1 || sse < f->best_sse) {
        f->best_sse = sse;
        copy(f->best, p, f->n);
    }
    f->ended = false;
    return true;
}

static bool derivatives(fit *f, const double *p) {
    f->st = f->fn(NULL, f->jac, p, f->payload);
    if (f->st != SL_OK) {
        f->ended = true;
        return false;
    }
    for (int k = 0; k < f->n; k++) {
        for (int i = 0; i < f->m; i++) {
            if (!isfinite(f->jac[k][i])) f->jac[k][i] = 0;
        }
    }
    return true;
}

/* lmder's callback. Rows past m, which exist when n > m, are zero; lmder factors the derivatives in
 * place, so the zeros are written every time. */
static int ask(void *payload, int rows, int n, const double *p, double *r, double *jac, int ld,
               int question) {
    (void)n;
    fit *f = payload;
    if (question == 1) {
        bool more = residuals(f, p, r);
        for (int i = f->m; i < rows; i++) r[i] = 0;
        return more ? 0 : -1;
    }
    for (int k = 0; k < f->n; k++) {
        f->jac[k] = jac + (size_t)k * (size_t)ld;
        for (int i = f->m; i < rows; i++) f->jac[k][i] = 0;
    }
    return derivatives(f, p) ? 0 : -1;
}

/* se[k] from the derivatives at p, by sl_num__qr: lmder's own factorisation is that of the point
 * before the last step. */
static sl_status errors(double *se, sl_arena *a, fit *f, const double *p, double sse) {
    if (!derivatives(f, p)) return f->st;
    sl_qr q;
    SL_TRY(sl_num__qr(&q, a, (const double *const *)f->jac, NULL, f->m, f->n));
    SL_TRY(sl_num__qr_errors(&q, se, a));
    double s = f->m > q.rank ? sqrt(sse / (double)(f->m - q.rank)) : NAN;
    for (int k = 0; k < f->n; k++) se[k] = isinf(se[k]) ? se[k] : se[k] * s;
    return SL_OK;
}

sl_status sl_num_nls_fit(sl_nls *out, double *p, double *se, sl_arena *scratch,
                         const sl_nls_options *opt, int m, int n, sl_nls_fn fn, void *payload) {
    SL_ASSERT(m >= 1 && n >= 0);
    static const sl_nls_options defaults = SL_NLS_OPTIONS_INIT;
    if (!opt) opt = &defaults;
    SL_ASSERT(opt->max_evaluations >= 1); // the start is always evaluated

    sl_status st;
    size_t mark = sl_arena_mark(scratch);
    int rows = SL_MAX(m, n); // lmder needs at least n residuals: the rest is zero
    size_t sn = (size_t)n, sm = (size_t)rows;

    // one block of doubles: residuals, lmder's work, parameters; then the derivatives
    double *r = sl_num__alloc(scratch, 2 * sm + 7 * sn, sizeof *r);
    double *jac = sl_num__alloc(scratch, sm * sizeof *jac, sn);
    double **col = sl_num__alloc(scratch, sn, sizeof *col);
    int *perm = sl_num__alloc(scratch, sn, sizeof *perm);
    if (!r || !jac || !col || !perm) {
        st = sl_fail(SL_ENOMEM, "no memory to fit %d parameters to %d residuals", n, m);
        goto done;
    }
    double *trial = r + sm, *x = trial + sm, *best = x + n, *diag = best + n, *qtf = diag + n;
    double *w1 = qtf + n, *w2 = w1 + n, *w3 = w2 + n;

    fit f = { .fn = fn, .payload = payload, .opt = opt, .m = m, .n = n, .jac = col };
    f.best = best;
    f.best_sse = INFINITY;
    if (n == 0) {
        if (residuals(&f, p, r)) f.end = SL_NLS_CONVERGED;
    } else {
        int nfev, njev;
        copy(x, p, n);
        int info = lmder(ask, &f, rows, n, x, r, jac, rows, opt->ftol, opt->xtol, opt->gtol,
                         opt->max_evaluations, diag, 1, 100, 0, &nfev, &njev, perm, qtf, w1, w2, w3,
                         trial);
        SL_ASSERT(info != 0); // 0 would be improper arguments
        // 1 .. 4 converged, 5 budget, 6 .. 8 tolerances below the resolution of double precision
        if (!f.ended) f.end = info == 5 ? SL_NLS_EVALUATIONS : SL_NLS_CONVERGED;
    }
    SL_GO(f.st);

    if (se && isfinite(f.best_sse)) {
        for (int k = 0; k < n; k++) col[k] = jac + (size_t)k * sm;
        SL_GO(errors(se, scratch, &f, best, f.best_sse));
    } else {
        for (int k = 0; se && k < n; k++) se[k] = NAN;
    }
    if (isfinite(f.best_sse)) copy(p, best, n);
    *out = (sl_nls){ .end = f.end, .evaluations = f.evaluations, .sse = f.best_sse };
    st = SL_OK;
done:
    sl_arena_rewind(scratch, mark);
    return st;
}
