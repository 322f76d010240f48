/* Non-negative least squares. C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems"
 * (1974), chapter 23. */
#include "num/num_impl.h"

#include <math.h>
#include <string.h>

typedef struct nnls {
    const double *const *col;
    const double *y, *w;
    int m, n;
    bool *free;         // columns whose coefficient may be positive
    const double **set; // the free ones' columns
    double *part;       // their coefficients by plain least squares
    double *r;          // weighted residual
} nnls;

static bool all_finite(const nnls *p) {
    for (int i = 0; i < p->m; i++) {
        if (!isfinite(p->y[i]) || (p->w && !(p->w[i] >= 0 && isfinite(p->w[i])))) return false;
        for (int j = 0; j < p->n; j++)
            if (!isfinite(p->col[j][i])) return false;
    }
    return true;
}

/* Residual at coef; returns its weighted sum of squares. r is left multiplied by the weights. */
static double residual(const nnls *p, const double *coef) {
    double sse = 0;
    for (int i = 0; i < p->m; i++) {
        double r = p->y[i];
        for (int j = 0; j < p->n; j++) r -= coef[j] * p->col[j][i];
        p->r[i] = p->w ? p->w[i] * r : r;
        sse += p->r[i] * r;
    }
    return sse;
}

/* Of the columns held at 0, the one whose angle with the residual has the largest cosine, which
 * does not depend on units; -1 if none is positive. */
static int steepest_column(const nnls *p, double size) {
    int best = -1;
    double top = 1e-11 * sqrt(size);
    for (int j = 0; j < p->n; j++) {
        double dot = 0, own = 0;
        if (p->free[j]) continue;
        for (int i = 0; i < p->m; i++) {
            dot += p->col[j][i] * p->r[i];
            own += p->col[j][i] * p->col[j][i] * (p->w ? p->w[i] : 1);
        }
        if (own > 0 && dot / sqrt(own) > top) best = j, top = dot / sqrt(own);
    }
    return best;
}

static sl_status solve_free(nnls *p, double *coef_free, sl_arena *scratch) {
    int k = 0;
    sl_lsq fit;
    for (int j = 0; j < p->n; j++) {
        if (p->free[j]) p->set[k++] = p->col[j];
    }
    SL_TRY(sl_num_lsq_fit(&fit, p->part, NULL, scratch, p->set, p->y, p->w, p->m, k));
    k = 0;
    for (int j = 0; j < p->n; j++) coef_free[j] = p->free[j] ? p->part[k++] : 0;
    return SL_OK;
}

/* Moves from coef, which is feasible, towards the minimum over the free columns; a coefficient that
 * reaches 0 on the way is held there. */
static sl_status towards(nnls *p, double *coef, double *goal, sl_arena *scratch) {
    for (int round = 0; round <= p->n; round++) {
        double step = 1;
        int first = -1; // to reach 0
        SL_TRY(solve_free(p, goal, scratch));
        for (int j = 0; j < p->n; j++) {
            if (!p->free[j] || goal[j] > 0) continue;
            const double until = coef[j] / (coef[j] - goal[j]);
            if (first < 0 || until < step) first = j, step = until;
        }
        if (first < 0) step = 1;
        for (int j = 0; j < p->n; j++) coef[j] += step * (goal[j] - coef[j]);
        if (first < 0) return SL_OK;
        for (int j = 0; j < p->n; j++) {
            if (j != first && coef[j] > 0) continue;
            p->free[j] = false;
            coef[j] = 0;
        }
    }
    return SL_OK;
}

static sl_status minimise(nnls *p, double *sse, double *coef, double *goal, sl_arena *scratch) {
    memset(coef, 0, (size_t)p->n * sizeof *coef);
    double now = residual(p, coef);
    const double size = now;
    for (int round = 0; round < 3 * p->n + 10; round++) {
        const int j = steepest_column(p, size);
        if (j < 0) break;
        p->free[j] = true;
        SL_TRY(towards(p, coef, goal, scratch));
        const double next = residual(p, coef);
        if (!(next < now)) break; // the change is rounding
        now = next;
    }
    *sse = now;
    return SL_OK;
}

sl_status sl_num_nnls_fit(double *sse, double *coef, sl_arena *scratch, const double *const *col,
                          const double *y, const double *w, int m, int n) {
    SL_ASSERT(m >= 0 && n >= 0);
    nnls p = { .col = col, .y = y, .w = w, .m = m, .n = n };
    if (!all_finite(&p)) {
        for (int j = 0; j < n; j++) coef[j] = NAN;
        *sse = NAN;
        return SL_OK;
    }
    const size_t mark = sl_arena_mark(scratch), k = (size_t)n + 1;
    p.free = sl_num__alloc(scratch, k, sizeof *p.free);
    p.set = sl_num__alloc(scratch, k, sizeof *p.set);
    p.part = sl_num__alloc(scratch, k, sizeof *p.part);
    p.r = sl_num__alloc(scratch, (size_t)m + 1, sizeof *p.r);
    double *goal = sl_num__alloc(scratch, k, sizeof *goal);
    sl_status st = SL_OK;
    if (!p.free || !p.set || !p.part || !p.r || !goal)
        st = sl_fail(SL_ENOMEM, "no memory for non-negative least squares of %d rows", m);
    if (st == SL_OK) {
        memset(p.free, 0, k * sizeof *p.free);
        st = minimise(&p, sse, coef, goal, scratch);
    }
    sl_arena_rewind(scratch, mark);
    return st;
}
