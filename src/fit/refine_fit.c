/* refine_fit - least squares from a start, and from others drawn around it.
 *
 * Three descents from a start, all by Levenberg-Marquardt with exact derivatives:
 *
 *   projected   over the nonlinear constants, with the linear ones solved for (linear.c)
 *   plain       over all of them
 *   circle      passes poles (refine_circle.c); then the other two from its end
 *
 * The first two are enough for most formulas; where they do not reach the data, the third is run,
 * and further starts begin with it. The best point is kept. Measured success of each:
 * docs/math/refine.md.
 *
 * Where a formula is not real in some row there is no residual and no step. Starts are drawn until
 * one is inside the domain.
 *
 * Large tables: constants are found on SEARCH_ROWS rows, one drawn from each of as many equal
 * stretches of the table, and finished by few steps on all of them (up to FINISH_ROWS, drawn the
 * same way). R2 is always that of all rows. */
#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"

enum { SEARCH_ROWS = 4096, FINISH_ROWS = 1 << 17, FINISH_EVALUATIONS = 12 };
enum { DRAWS_INSIDE = 16 };                                  // draws for a start inside the domain
enum { STREAM = 0x72660000, STREAM_ROWS = STREAM + 0xffff }; // start k draws by STREAM + k

/* ---------------------------------------------------------------- rows ---------------------- */

/* A power of two that brings the spread of y near 1, or y itself where it has none. */
static double unit_of(const double *y, int m) {
    double spread = 0, top = 0;
    for (int i = 0; i < m; i++) {
        spread = fmax(spread, fabs(y[i] - y[0]));
        top = fmax(top, fabs(y[i]));
    }
    if (spread == 0 || !isfinite(spread)) spread = top;
    if (spread == 0) return 1;
    return ldexp(1, SL_MAX(-1000, SL_MIN(1000, -ilogb(spread))));
}

/* out->scale := what residuals are multiplied by. */
static sl_status scale_rows(sl_fit__rows *out, sl_arena *a, const double *sigma, bool absolute) {
    double *scale = sl_arena_alloc(a, (size_t)out->m * sizeof *scale);
    if (!scale) return sl_fail_memory((size_t)out->m, sizeof *scale, "rows to fit");
    const double mean = sigma ? sl_fit__log_mean(sigma, out->m) : 0;
    for (int i = 0; i < out->m; i++) scale[i] = sigma ? out->unit * (mean / sigma[i]) : out->unit;
    out->scale = scale;
    out->sigma = absolute ? mean : 0;
    return SL_OK;
}

/* Sum of squares of y about its mean, both weighted. */
static double spread_of(const sl_fit__rows *r) {
    double mean = 0, weight = 0, sst = 0;
    for (int i = 0; i < r->m; i++) {
        const double w = r->scale[i] / r->unit;
        mean += w * w * (r->unit * r->y[i] / r->m);
        weight += w * w / r->m;
    }
    mean /= weight;
    for (int i = 0; i < r->m; i++) {
        const double off = r->scale[i] / r->unit * (r->unit * r->y[i] - mean);
        sst += off * off;
    }
    return sst;
}

/* All rows, or `most` of them: one of each of as many equal stretches. */
static sl_status take_rows(sl_fit__rows *out, sl_arena *a, const sl_dataset *p, int most,
                           const sl_refine_options *o) {
    const int m = (int)SL_MIN(p->rows, (int64_t)most);
    const double *sigma = p->sigma;
    *out = (sl_fit__rows){ .m = m, .y = p->y };
    for (int v = 0; v < p->inputs; v++) out->x[v] = p->x[v];
    if (p->rows > m) {
        double *block = sl_arena_alloc(a, (size_t)m * (size_t)(p->inputs + 2) * sizeof *block);
        if (!block) return sl_fail_memory((size_t)m, sizeof *block, "rows to fit");
        sl_rng rng;
        sl_rng_init(&rng, o->seed, STREAM_ROWS, o->stream);
        const double stretch = (double)p->rows / m;
        for (int i = 0; i < m; i++) {
            const int64_t row = (int64_t)(((double)i + sl_rng_uniform(&rng)) * stretch);
            const int64_t at = SL_MIN(row, p->rows - 1);
            for (int v = 0; v < p->inputs; v++) block[v * m + i] = p->x[v][at];
            block[p->inputs * m + i] = p->y[at];
            if (p->sigma) block[(p->inputs + 1) * m + i] = p->sigma[at];
        }
        for (int v = 0; v < p->inputs; v++) out->x[v] = block + v * m;
        out->y = block + p->inputs * m;
        sigma = p->sigma ? out->y + m : NULL;
    }
    out->unit = unit_of(out->y, m);
    SL_TRY(scale_rows(out, a, sigma, p->sigma_absolute));
    double *sorted = sl_arena_alloc(a, (size_t)m * sizeof *sorted);
    if (!sorted) return sl_fail_memory((size_t)m, sizeof *sorted, "rows to fit");
    for (int i = 0; i < m; i++) sorted[i] = fabs(out->y[i]);
    const double size = sl_num_median(sorted, m);
    out->size = size > 0 ? size : 1 / out->unit;
    out->sst = spread_of(out);
    return SL_OK;
}

/* Part of y's squares that is left, for constant y, where R2 is 0 for all but the exact formula. */
static double part_left(const double *value, const double *y, int64_t n) {
    double top = 0, left = 0, all = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(y[i]));
    if (top == 0) return 1;
    for (int64_t i = 0; i < n; i++) {
        const double r = (value[i] - y[i]) / top, one = y[i] / top;
        left += r * r;
        all += one * one;
    }
    return left / all;
}

sl_status sl_fit__score(double *r2, double *loss, const sl_node *expr, const double *value,
                        const sl_dataset *p) {
    double *y = sl_malloc_aligned((size_t)p->rows, sizeof *y);
    if (!y) return sl_fail_memory((size_t)p->rows, sizeof *y, "values");
    sl_arena scratch = { 0 };
    sl_status st = sl_expr_eval(y, &scratch, expr, p->x, p->rows, value);
    if (st == SL_OK) {
        *r2 = sl_fit_r2(y, p);
        *loss = *r2 == 0 ? part_left(y, p->y, p->rows) : 1 - *r2;
    }
    sl_arena_clear(&scratch);
    sl_free(y);
    return st;
}

/* ---------------------------------------------------------------- one descent --------------- */

static sl_status descent_init(sl_fit__descent *d, const sl_fit__code *code,
                              const sl_fit__rows *rows, const sl_refine_options *o, sl_arena *a) {
    *d = (sl_fit__descent){ .code = code, .rows = rows, .o = o, .scratch = a };
    const size_t m = (size_t)rows->m, n = (size_t)code->n + 1;
    double *block = sl_arena_alloc(a, n * m * sizeof *block);
    if (!block) return sl_fail_memory(n * m, sizeof *block, "columns to fit");
    for (size_t k = 0; k < n; k++) d->col[k] = block + k * m;
    for (int i = 0; i < rows->m; i++) {
        const double y = rows->scale[i] * rows->y[i];
        d->exact += 1e-32 * y * y; // y is a double, and so is the value
    }
    return SL_OK;
}

static bool enough(void *descent) {
    sl_fit__descent *d = descent;
    if (d->o->stop && d->o->stop(d->o->payload)) d->stopped = true;
    return d->stopped || d->last <= d->exact;
}

sl_status sl_fit__minimize(sl_fit__descent *d, double *place, double *error, double *sse,
                           int evaluations, int n, sl_nls_fn fn, void *payload) {
    sl_nls_options opt = SL_NLS_OPTIONS_INIT;
    opt.max_evaluations = evaluations;
    opt.stop = enough;
    opt.stop_payload = d;
    d->last = INFINITY;
    sl_nls fit;
    SL_TRY(sl_num_nls_fit(&fit, place, error, d->scratch, &opt, d->rows->m, n, fn, payload));
    d->evaluations += fit.evaluations;
    *sse = fit.sse;
    return SL_OK;
}

static sl_status residuals(double *r, sl_fit__descent *d, const double *value) {
    const sl_fit__rows *rows = d->rows;
    SL_TRY(sl_expr_program_run(r, d->code->value, rows->x, rows->m, value, d->scratch));
    d->last = 0;
    for (int i = 0; i < rows->m; i++) {
        r[i] = rows->scale[i] * (r[i] - rows->y[i]);
        d->last += r[i] * r[i];
    }
    return SL_OK;
}

static sl_status plain_residuals(double *r, double *const *jac, const double *value,
                                 void *payload) {
    sl_fit__descent *d = payload;
    const sl_fit__rows *rows = d->rows;
    if (r) return residuals(r, d, value);
    for (int k = 0; k < d->code->n; k++) {
        SL_TRY(sl_expr_program_run(jac[k], d->code->slope[k], rows->x, rows->m, value, d->scratch));
        for (int i = 0; i < rows->m; i++) jac[k][i] *= rows->scale[i];
    }
    return SL_OK;
}

/* Projected if it can be, then plain. */
static sl_status descend(sl_fit__descent *d, double *value, double *sse) {
    double plain;
    *sse = INFINITY;
    if (d->code->n_linear > 0) SL_TRY(sl_fit__projected(d, value, sse, d->o->evaluations));
    if (d->stopped || *sse <= d->exact) return SL_OK;
    SL_TRY(sl_fit__minimize(d, value, NULL, &plain, d->o->evaluations, d->code->n, plain_residuals,
                            d));
    if (isfinite(plain))
        *sse = plain; // otherwise it was stopped at once, and the projected result stands
    return SL_OK;
}

static sl_status descend_by_circle(sl_fit__descent *d, double *value, double *sse) {
    SL_TRY(sl_fit__circle(d, value, d->o->evaluations));
    return descend(d, value, sse);
}

/* ---------------------------------------------------------------- starts -------------------- */

/* Around `from`: near it, or of about that size with either sign. */
static void draw_start(double *value, const double *from, int n, bool near, sl_rng *rng) {
    for (int k = 0; k < n; k++) {
        const double size = from[k] == 0 ? 1 : from[k];
        if (near) {
            value[k] = from[k] + 0.4 * size * sl_rng_normal(rng);
        } else {
            const double sign = sl_rng_below(rng, 4) == 0 ? -1 : 1;
            value[k] = sign * size * sl_exp(sl_rng_normal(rng)) + 0.3 * sl_rng_normal(rng);
        }
    }
}

/* *sse := the sum of squares at value; infinite outside the domain. */
static sl_status evaluate_at(double *sse, sl_fit__descent *d, const double *value) {
    d->evaluations++;
    SL_TRY(residuals(d->col[0], d, value));
    *sse = isfinite(d->last) ? d->last : INFINITY;
    return SL_OK;
}

static sl_status draw_inside(double *value, sl_fit__descent *d, const double *from, int start) {
    sl_rng rng;
    double sse = INFINITY;
    sl_rng_init(&rng, d->o->seed, STREAM + (uint32_t)start, d->o->stream);
    for (int i = 0; i < DRAWS_INSIDE && isinf(sse); i++) {
        draw_start(value, from, d->code->n, start % 2 == 1, &rng);
        SL_TRY(evaluate_at(&sse, d, value));
    }
    return SL_OK;
}

/* best[] := the best of all starts; *sse infinite if none was inside the domain. Start 0 is `from`
 * without the circle, start 1 the same with it, which is not counted as a restart; those after it
 * are drawn. */
static sl_status search(double *best, double *sse, int *starts, sl_fit__descent *d,
                        const double *from) {
    const size_t bytes = (size_t)d->code->n * sizeof *best;
    double value[SL_FIT_MAX_PARAMS], found;
    SL_TRY(evaluate_at(sse, d, from));
    memcpy(best, from, bytes);
    for (int start = 0; start <= d->o->restarts + 1; start++) {
        if (enough(d) || (start > 0 && *sse <= SL_FIT__GOOD * d->rows->sst)) break;
        memcpy(value, from, bytes);
        if (start > 1) SL_TRY(draw_inside(value, d, from, start));
        SL_TRY((start == 0 ? descend : descend_by_circle)(d, value, &found));
        if (found < *sse) {
            *sse = found;
            memcpy(best, value, bytes);
        }
        *starts += start != 1;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

/* Standard errors are by the residuals; where sigma is known they are by that instead. */
static void use_sigma(double *error, int n, const sl_fit__rows *rows, double sse) {
    if (!(rows->sigma > 0) || rows->m <= n || !(sse > 0) || !isfinite(sse)) return;
    const double found = sqrt(sse / (rows->m - n)), known = rows->unit * rows->sigma;
    for (int k = 0; k < n; k++) error[k] *= known / found;
}

static sl_status fit(sl_fit *out, sl_arena *scratch, const double *start, const sl_dataset *p,
                     const sl_refine_options *o) {
    sl_fit__code code;
    sl_fit__rows rows;
    sl_fit__descent d;
    double sse;
    const sl_status st = sl_fit__compile(&code, scratch, out->expr, out->params);
    if (st == SL_ELIMIT || st == SL_EOVERFLOW) return SL_OK; // no derivatives: e is unchanged
    SL_TRY(st);
    SL_TRY(take_rows(&rows, scratch, p, SEARCH_ROWS, o));
    SL_TRY(descent_init(&d, &code, &rows, o, scratch));
    SL_TRY(search(out->value, &sse, &out->starts, &d, start));

    int more = 1; // only the errors
    if (rows.m < p->rows) {
        const int evaluations = d.evaluations;
        const bool stopped = d.stopped;
        SL_TRY(take_rows(&rows, scratch, p, FINISH_ROWS, o));
        SL_TRY(descent_init(&d, &code, &rows, o, scratch));
        d.evaluations = evaluations;
        d.stopped = stopped;
        more = FINISH_EVALUATIONS;
    }
    SL_TRY(sl_fit__minimize(&d, out->value, out->error, &sse, more, code.n, plain_residuals, &d));
    // a row outside the sample is outside the domain: back to the start; a stopped fit has
    // evaluated no row
    if (isinf(sse) && rows.m > SEARCH_ROWS && !d.stopped) {
        memcpy(out->value, start, (size_t)code.n * sizeof *start);
        SL_TRY(
            sl_fit__minimize(&d, out->value, out->error, &sse, more, code.n, plain_residuals, &d));
    }
    use_sigma(out->error, code.n, &rows, sse);
    out->evaluations = d.evaluations;
    out->stopped = d.stopped;
    return SL_OK;
}

sl_status sl_fit__put(sl_fit *out, sl_arena *a, const sl_node *expr, const double *value, int n) {
    double *room = sl_arena_alloc(a, 2 * ((size_t)n + 1) * sizeof *room); // never of no bytes
    if (!room) return sl_fail_memory(2 * (size_t)n, sizeof *room, "constants");
    for (int k = 0; k < n; k++) {
        room[k] = value[k];
        room[n + k] = NAN;
    }
    *out = (sl_fit){ .expr = expr, .params = n, .value = room, .error = room + n, .r2 = NAN };
    return SL_OK;
}

sl_status sl_fit__run(sl_fit *out, sl_arena *a, const sl_node *expr, int n, const double *start,
                      const sl_dataset *p, const sl_refine_options *o) {
    SL_ASSERT(p->rows >= 1 && p->inputs <= SL_DATA_MAX_INPUTS);
    SL_ASSERT(sl_expr_max_var(expr) <= p->inputs); // columns that are not there
    SL_ASSERT(o->evaluations >= 1);
    SL_TRY(sl_fit__put(out, a, expr, start, n));
    sl_arena scratch = { 0 };
    const sl_status st = n > 0 ? fit(out, &scratch, start, p, o) : SL_OK;
    sl_arena_clear(&scratch);
    SL_TRY(st);
    double loss;
    return sl_fit__score(&out->r2, &loss, expr, out->value, p);
}
