/* linear - constants that enter linearly need no search.
 *
 * In a exp(b x) + c only b is nonlinear: for each b the best a and c are a linear least-squares
 * problem. Levenberg-Marquardt then varies b alone and minimises the sum of squares at the best a
 * and c (variable projection, Golub and Pereyra 1973). There are fewer constants, a and c need no
 * start, and there are far fewer local minima. The derivative by b is taken along the residual
 * space only (Kaufman 1975): what b changes within the span of the linear columns, a and c take
 * up. */
#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"

/* ---------------------------------------------------------------- which ones ---------------- */

static bool has_constant(const sl_node *e, int number) {
    for (const sl_node *c = e; c < e + e->len; c += sl_expr_step(c))
        if (c->op == SL_OP_PAR && c->arg == number) return true;
    return false;
}

/* is[i][j]: the derivative by constant i contains constant j. That is symmetric: the mixed second
 * derivative does not vanish. */
typedef bool coupled[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS];

/* Constants that are not coupled with each other, `first` among them and then in order. */
static int gather(int *set, const coupled is, int first, int n) {
    int count = 0;
    if (is[first][first]) return 0;
    set[count++] = first;
    for (int k = 0; k < n; k++) {
        bool free = k != first && !is[k][k];
        for (int i = 0; i < count && free; i++) free = !is[k][set[i]];
        if (free) set[count++] = k;
    }
    return count;
}

/* The largest such set over all first constants. Every set is valid, so a greedy choice is
 * enough. */
static void split(sl_fit__code *code, const sl_node *const *slope) {
    const int n = code->n;
    coupled is;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) is[i][j] = is[j][i] = has_constant(slope[i], j + 1);
    for (int first = 0; first < n; first++) {
        int set[SL_FIT_MAX_PARAMS],
            count = gather(set, (const bool(*)[SL_FIT_MAX_PARAMS])is, first, n);
        if (count <= code->n_linear) continue;
        code->n_linear = count;
        memcpy(code->linear, set, (size_t)count * sizeof *set);
    }
    bool linear[SL_FIT_MAX_PARAMS] = { false };
    for (int i = 0; i < code->n_linear; i++) linear[code->linear[i]] = true;
    for (int k = 0; k < n; k++)
        if (!linear[k]) code->nonlinear[code->n_nonlinear++] = k;
}

sl_status sl_fit__compile(sl_fit__code *out, sl_arena *a, const sl_node *expr, int n) {
    SL_ASSERT(n <= SL_FIT_MAX_PARAMS);
    const sl_node *slope[SL_FIT_MAX_PARAMS];
    *out = (sl_fit__code){ .expr = expr, .n = n };
    SL_TRY(sl_expr_compile(&out->value, a, expr));
    for (int k = 0; k < n; k++) {
        SL_TRY(sl_expr_diff(&slope[k], a, expr, SL_OP_PAR, k + 1));
        SL_TRY(sl_expr_compile(&out->slope[k], a, slope[k]));
    }
    split(out, slope);
    return SL_OK;
}

/* ---------------------------------------------------------------- projection ---------------- */

typedef struct projection {
    sl_fit__descent *d;
    double value[SL_FIT_MAX_PARAMS]; // all constants
} projection;

static sl_status column(sl_fit__descent *d, double *to, const sl_program *p, const double *value) {
    const sl_fit__rows *r = d->rows;
    SL_TRY(sl_expr_program_run(to, p, r->x, r->m, value, d->scratch));
    for (int i = 0; i < r->m; i++) to[i] *= r->scale[i];
    return SL_OK;
}

/* v := v minus its projection onto the n columns; coef[] := the coefficients. */
static sl_status project_out(double *v, double *coef, sl_fit__descent *d, int n) {
    sl_lsq fit;
    const double *const *col = (const double *const *)d->col;
    SL_TRY(sl_num_lsq_fit(&fit, coef, NULL, d->scratch, col, v, NULL, d->rows->m, n));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < d->rows->m; i++) v[i] -= coef[j] * col[j][i];
    return SL_OK;
}

/* The columns of the linear constants into d->col, their best values into pr->value, and what is
 * left of y, with the sign of a residual, to r. NaN in r where a column is not finite. */
static sl_status solve(double *r, projection *pr) {
    sl_fit__descent *d = pr->d;
    const sl_fit__code *c = d->code;
    double coef[SL_FIT_MAX_PARAMS];
    for (int j = 0; j < c->n_linear; j++) pr->value[c->linear[j]] = 0;
    for (int j = 0; j < c->n_linear; j++)
        SL_TRY(column(d, d->col[j], c->slope[c->linear[j]], pr->value));
    SL_TRY(column(d, r, c->value, pr->value));
    for (int i = 0; i < d->rows->m; i++) r[i] -= d->rows->scale[i] * d->rows->y[i];
    SL_TRY(project_out(r, coef, d, c->n_linear));
    for (int j = 0; j < c->n_linear; j++) pr->value[c->linear[j]] = -coef[j];
    return SL_OK;
}

static sl_status projected_residuals(double *r, double *const *jac, const double *nonlinear,
                                     void *payload) {
    projection *pr = payload;
    sl_fit__descent *d = pr->d;
    const sl_fit__code *c = d->code;
    for (int k = 0; k < c->n_nonlinear; k++) pr->value[c->nonlinear[k]] = nonlinear[k];
    if (r) {
        SL_TRY(solve(r, pr));
        d->last = 0;
        for (int i = 0; i < d->rows->m; i++) d->last += r[i] * r[i];
        return SL_OK;
    }
    double coef[SL_FIT_MAX_PARAMS];
    SL_TRY(solve(d->col[c->n], pr));
    for (int k = 0; k < c->n_nonlinear; k++) {
        SL_TRY(column(d, jac[k], c->slope[c->nonlinear[k]], pr->value));
        SL_TRY(project_out(jac[k], coef, d, c->n_linear));
    }
    return SL_OK;
}

sl_status sl_fit__projected(sl_fit__descent *d, double *value, double *sse, int evaluations) {
    const sl_fit__code *c = d->code;
    projection pr = { .d = d };
    double nonlinear[SL_FIT_MAX_PARAMS];
    for (int k = 0; k < c->n_nonlinear; k++) nonlinear[k] = value[c->nonlinear[k]];
    SL_TRY(sl_fit__minimize(d, nonlinear, NULL, sse, evaluations, c->n_nonlinear,
                            projected_residuals, &pr));
    if (!isfinite(*sse)) return SL_OK;
    for (int k = 0; k < c->n_nonlinear; k++) pr.value[c->nonlinear[k]] = nonlinear[k];
    SL_TRY(solve(d->col[c->n], &pr));
    memcpy(value, pr.value, (size_t)c->n * sizeof *value);
    return SL_OK;
}
