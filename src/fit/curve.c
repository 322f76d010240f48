/* curve - a formula of the user's own: its constants, how well they are determined, and how well it
 * fits.
 *
 * Where starts are not given they are drawn on scales that the data have: sizes of the columns and
 * of y, and their inverses. Starts are tried on a part of the rows by the descents of refine_fit.c,
 * which solve for linear constants; the best few are finished on all rows by Levenberg-Marquardt
 * steps within the bounds. A constant at a bound that the sum of squares would pass is held there
 * for the step.
 *
 * Covariances are those of SciPy's curve_fit: (J'J)^-1 with J the derivatives of f/sigma at the
 * minimum, multiplied by the residual variance where sigma is not absolute; bounds are not taken
 * into account. Columns of J are scaled to length 1 and decomposed into singular values. Constants
 * in a direction that the data do not see are tied: any of them can make up for the others. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"

enum { FEW_ROWS = 200, STARTS = 60, ALIKE = 4, FINISHED = 3, STEPS = 400 };
enum { DRAWS = 20 }; // for a start at which the formula is real
enum { STREAM = 0x63757276 };

static const double TIED = 1e-9; // of the largest singular value; scaled columns
static const double DIGITS = 1e-13;

typedef struct work {
    const sl_dataset *p;
    const sl_fit__code *code;
    const sl_curve_options *o;
    sl_arena *a;
    double unit; // a power of two that brings y near 1
    double *r;   // unit (f - y)/sigma by row
    double *slope[SL_FIT_MAX_PARAMS];
    int64_t evaluations;
    bool stopped;
} work;

static bool stops(work *w) {
    if (!w->stopped && w->o->stop) w->stopped = w->o->stop(w->o->payload);
    return w->stopped;
}

static double low_of(const work *w, int k) { return w->o->lo ? w->o->lo[k] : -INFINITY; }
static double high_of(const work *w, int k) { return w->o->hi ? w->o->hi[k] : INFINITY; }

static void clip(const work *w, double *value) {
    for (int k = 0; k < w->code->n; k++)
        value[k] = fmin(fmax(value[k], low_of(w, k)), high_of(w, k));
}

static void scale(const work *w, double *v) {
    for (int64_t i = 0; i < w->p->rows; i++)
        v[i] *= w->p->sigma ? w->unit / w->p->sigma[i] : w->unit;
}

/* w->r and *sse := of these constants; infinite where a row is not real. */
static sl_status residuals(double *sse, work *w, const double *value) {
    const sl_dataset *p = w->p;
    SL_TRY(sl_expr_program_run(w->r, w->code->value, p->x, p->rows, value, w->a));
    for (int64_t i = 0; i < p->rows; i++) w->r[i] -= p->y[i];
    scale(w, w->r);
    *sse = 0;
    for (int64_t i = 0; i < p->rows; i++) *sse += w->r[i] * w->r[i];
    if (!isfinite(*sse)) *sse = INFINITY;
    w->evaluations++;
    return SL_OK;
}

/* w->slope := derivatives of the residuals; one that is not finite counts as 0. */
static sl_status slopes(work *w, const double *value) {
    for (int k = 0; k < w->code->n; k++) {
        SL_TRY(
            sl_expr_program_run(w->slope[k], w->code->slope[k], w->p->x, w->p->rows, value, w->a));
        scale(w, w->slope[k]);
        for (int64_t i = 0; i < w->p->rows; i++)
            if (!isfinite(w->slope[k][i])) w->slope[k][i] = 0;
    }
    return SL_OK;
}

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static sl_status work_init(work *w, const sl_dataset *p, const sl_fit__code *code,
                           const sl_curve_options *o, sl_arena *a) {
    *w = (work){ .p = p, .code = code, .o = o, .a = a, .unit = 1 };
    double top = 0;
    for (int64_t i = 0; i < p->rows; i++)
        top = fmax(top, fabs(p->sigma ? p->y[i] / p->sigma[i] : p->y[i]));
    if (top > 0 && isfinite(top)) w->unit = ldexp(1, -SL_MAX(-1000, SL_MIN(1000, ilogb(top))));
    const size_t rows = (size_t)p->rows, columns = (size_t)code->n + 1;
    double *block = sl_arena_alloc(a, columns * rows * sizeof *block);
    if (!block) return sl_fail_memory(columns * rows, sizeof *block, "columns to fit");
    w->r = block;
    for (int k = 0; k < code->n; k++) w->slope[k] = block + (size_t)(k + 1) * rows;
    return SL_OK;
}

/* ---------------------------------------------------------------- steps within bounds ------- */

/* The normal equations of scaled columns, and which constants may move. */
typedef struct normal {
    int n, free[SL_FIT_MAX_PARAMS];
    double length[SL_FIT_MAX_PARAMS]; // of each column; 1 where it is 0
    double product[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS], gradient[SL_FIT_MAX_PARAMS];
} normal;

static void make_normal(normal *q, const work *w, const double *value) {
    const int64_t rows = w->p->rows;
    q->n = 0;
    for (int k = 0; k < w->code->n; k++) {
        const double g = dot(w->slope[k], w->r, rows);
        const bool held =
            (value[k] <= low_of(w, k) && g > 0) || (value[k] >= high_of(w, k) && g < 0);
        const double length = sqrt(dot(w->slope[k], w->slope[k], rows));
        if (held || !(length > 0)) continue;
        q->length[q->n] = length;
        q->gradient[q->n] = g / length;
        q->free[q->n++] = k;
    }
    for (int i = 0; i < q->n; i++)
        for (int j = 0; j <= i; j++)
            q->product[i][j] = q->product[j][i] =
                dot(w->slope[q->free[i]], w->slope[q->free[j]], rows) / q->length[i] / q->length[j];
}

/* step := the solution with `damping` added to the diagonal, by Cholesky; false where it has none.
 */
static bool solve(double *step, const normal *q, double damping) {
    double l[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS];
    const int n = q->n;
    SL_ASSERT(n >= 0);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = q->product[i][j] + (i == j ? damping : 0);
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0)) return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        step[i] = -q->gradient[i];
        for (int k = 0; k < i; k++) step[i] -= l[i][k] * step[k];
        step[i] /= l[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) step[i] -= l[k][i] * step[k];
        step[i] /= l[i][i];
    }
    return true;
}

/* next := value moved by a step within the bounds; the largest relative change. */
static double move(double *next, const work *w, const normal *q, const double *value,
                   const double *step) {
    double change = 0;
    memcpy(next, value, (size_t)w->code->n * sizeof *next);
    for (int i = 0; i < q->n; i++) next[q->free[i]] += step[i] / q->length[i];
    clip(w, next);
    for (int k = 0; k < w->code->n; k++)
        change = fmax(change, fabs(next[k] - value[k]) / (fabs(value[k]) + DBL_MIN));
    return change;
}

/* Moves value[] to a minimum within the bounds; *sse infinite where the start is not real. *done:
 * nothing is left to gain. */
static sl_status descend(double *value, double *sse, bool *done, work *w) {
    double next[SL_FIT_MAX_PARAMS], step[SL_FIT_MAX_PARAMS], at, damping = 1e-3;
    *done = false;
    clip(w, value);
    SL_TRY(residuals(sse, w, value));
    if (isinf(*sse)) return SL_OK;
    for (int i = 0; i < STEPS && !*done && !stops(w); i++) {
        normal q;
        SL_TRY(residuals(sse, w, value));
        SL_TRY(slopes(w, value));
        make_normal(&q, w, value);
        double steepest = 0;
        for (int k = 0; k < q.n; k++) steepest = fmax(steepest, fabs(q.gradient[k]));
        *done = q.n == 0 || steepest <= DIGITS * sqrt(*sse) || *sse == 0;
        bool better = false;
        while (!*done && !better) {
            const bool solved = solve(step, &q, damping);
            const double change = solved ? move(next, w, &q, value, step) : INFINITY;
            at = INFINITY;
            if (solved) SL_TRY(residuals(&at, w, next));
            better = at < *sse;
            // no shorter step helps: this is the minimum to the digits of a double
            *done = !better && (change < DIGITS || damping > 1e18);
            damping = better ? fmax(damping / 8, 1e-16) : fmax(damping * 6, 1e-12);
        }
        if (better) memcpy(value, next, (size_t)w->code->n * sizeof *value);
    }
    return residuals(sse, w, value);
}

/* ---------------------------------------------------------------- starts -------------------- */

/* Sizes that constants may have: of the columns and of y, their spreads, and the inverses. */
typedef struct scales {
    int n;
    double size[8 * (SL_DATA_MAX_INPUTS + 1) + 1];
} scales;

static void add_scale(scales *s, double v) {
    if (v == 0 || !isfinite(v)) return;
    s->size[s->n++] = v;
    s->size[s->n++] = 1 / v;
}

static void add_column(scales *s, const double *v, int64_t n) {
    double mean = 0, lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        mean += v[i] / (double)n;
        lo = fmin(lo, v[i]);
        hi = fmax(hi, v[i]);
    }
    add_scale(s, mean);
    add_scale(s, hi - lo);
    add_scale(s, hi);
    if (lo != 0) add_scale(s, lo);
}

static void make_scales(scales *s, const sl_dataset *p) {
    *s = (scales){ .n = 0 };
    s->size[s->n++] = 1;
    for (int v = 0; v < p->inputs; v++) add_column(s, p->x[v], p->rows);
    add_column(s, p->y, p->rows);
}

/* Start 0 is what was given and 1 elsewhere; the others keep what was given. */
static void draw(double *value, const work *w, const scales *s, int start, sl_rng *rng) {
    const sl_curve_options *o = w->o;
    for (int k = 0; k < w->code->n; k++) {
        const bool given = o->start && o->given[k];
        const double lo = low_of(w, k), hi = high_of(w, k);
        const double size = s->size[sl_rng_below(rng, (uint32_t)s->n)];
        const bool minus = sl_rng_below(rng, 5) == 0, inside = sl_rng_below(rng, 2) == 0;
        const double drawn = (minus ? -size : size) * sl_exp(0.7 * sl_rng_normal(rng));
        const double even = sl_rng_uniform(rng);
        value[k] = given                                              ? o->start[k]
                   : start == 0                                       ? 1
                   : inside && isfinite(hi - lo) /* of a short box */ ? lo + even * (hi - lo)
                                                                      : drawn;
        if (!given && start == 0 && (value[k] < lo || value[k] > hi))
            value[k] = isfinite(hi - lo) ? lo + (hi - lo) / 2 : value[k];
    }
    clip(w, value);
}

static bool is_bounded(const work *w) {
    for (int k = 0; k < w->code->n; k++)
        if (isfinite(low_of(w, k)) || isfinite(high_of(w, k))) return true;
    return false;
}

/* value[] := what a start comes to on few rows. */
static sl_status try_start(double *value, double *sse, work *few) {
    const size_t mark = sl_arena_mark(few->a);
    bool done;
    if (!is_bounded(few)) {
        const sl_refine_options o = { .evaluations = 100,
                                      .restarts = -1,
                                      .seed = few->o->seed,
                                      .stop = few->o->stop,
                                      .payload = few->o->payload };
        sl_fit f;
        SL_TRY(sl_fit__run(&f, few->a, few->code->expr, few->code->n, value, few->p, &o));
        if (!isnan(f.r2)) memcpy(value, f.value, (size_t)few->code->n * sizeof *value);
        few->evaluations += f.evaluations;
        few->stopped = few->stopped || f.stopped;
        sl_arena_rewind(few->a, mark);
        return residuals(sse, few, value);
    }
    return descend(value, sse, &done, few);
}

/* The best few ends of all starts, the best first. */
typedef struct ends {
    int n;
    double sse[FINISHED], value[FINISHED][SL_FIT_MAX_PARAMS];
} ends;

static int negatives(const double *value, int n) {
    int count = 0;
    for (int k = 0; k < n; k++) count += value[k] < 0;
    return count;
}

/* Of mirror images, as cos(w t + p) has, the one with fewer negative constants is kept. */
static void keep(ends *e, const double *value, double sse, int n) {
    int at = 0;
    while (at < e->n && e->sse[at] <= sse) at++;
    if (at > 0 &&
        fabs(e->sse[at - 1] - sse) <= 1e-8 * sse) { // the same minimum, or its mirror image
        if (negatives(value, n) < negatives(e->value[at - 1], n))
            memcpy(e->value[at - 1], value, (size_t)n * sizeof *value);
        return;
    }
    if (at == FINISHED || isinf(sse)) return;
    if (e->n < FINISHED) e->n++;
    for (int i = e->n - 1; i > at; i--) {
        e->sse[i] = e->sse[i - 1];
        memcpy(e->value[i], e->value[i - 1], sizeof e->value[i]);
    }
    e->sse[at] = sse;
    memcpy(e->value[at], value, (size_t)n * sizeof *value);
}

static sl_status search(ends *out, int *starts, work *few) {
    const sl_curve_options *o = few->o;
    scales s;
    sl_rng rng;
    bool all_given = o->start != NULL;
    int alike = 0;
    make_scales(&s, few->p);
    sl_rng_init(&rng, o->seed, STREAM, 0);
    *out = (ends){ .n = 0 };
    for (int k = 0; k < few->code->n && all_given; k++) all_given = o->given[k];
    // y without a formula, and what rounding leaves of it: no start can do better
    const double exact = 1e-26 * dot(few->p->y, few->p->y, few->p->rows) * few->unit * few->unit;
    for (int i = 0; i < (all_given ? 1 : STARTS) && (i == 0 || !stops(few)); i++) {
        double value[SL_FIT_MAX_PARAMS], sse;
        draw(value, few, &s, i, &rng);
        SL_TRY(residuals(&sse, few, value));
        for (int k = 0; k < DRAWS && isinf(sse) && !all_given; k++) {
            draw(value, few, &s, i + 1, &rng);
            SL_TRY(residuals(&sse, few, value));
        }
        SL_TRY(try_start(value, &sse, few));
        const double best = out->n ? out->sse[0] : INFINITY;
        if (isfinite(sse)) alike = sse < best * (1 - 1e-6) ? 0 : alike + (sse <= best * (1 + 1e-6));
        keep(out, value, sse, few->code->n);
        ++*starts;
        if (alike >= ALIKE || (out->n && out->sse[0] <= exact)) break;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- covariance ---------------- */

/* Singular values s[] and right vectors v of n columns of `rows` numbers, which are overwritten:
 * one-sided Jacobi rotations (Hestenes 1958). */
static void decompose(double *const *col, int64_t rows, int n, double *s,
                      double v[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) v[i][j] = i == j;
    bool rotated = true;
    for (int sweep = 0; sweep < 60 && rotated; sweep++) {
        rotated = false;
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                const double a = dot(col[i], col[i], rows), b = dot(col[j], col[j], rows),
                             c = dot(col[i], col[j], rows);
                if (fabs(c) <= 1e-15 * sqrt(a * b) || c == 0) continue;
                rotated = true;
                const double zeta = (b - a) / (2 * c);
                const double t = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
                const double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
                for (int64_t k = 0; k < rows; k++) {
                    const double x = col[i][k], y = col[j][k];
                    col[i][k] = cosine * x - sine * y;
                    col[j][k] = sine * x + cosine * y;
                }
                for (int k = 0; k < n; k++) {
                    const double x = v[k][i], y = v[k][j];
                    v[k][i] = cosine * x - sine * y;
                    v[k][j] = sine * x + cosine * y;
                }
            }
    }
    for (int i = 0; i < n; i++) s[i] = sqrt(dot(col[i], col[i], rows));
}

/* r[k] := column k of the triangular factor of n columns, which become orthonormal: Gram-Schmidt,
 * twice, so that the factor is accurate. Squares of rows are summed once per pair of columns. */
static void triangle(double r[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS], double *const *col,
                     int64_t rows, int n) {
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) r[k][i] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < k; i++) {
                const double c = dot(col[i], col[k], rows);
                r[k][i] += c;
                for (int64_t j = 0; j < rows; j++) col[k][j] -= c * col[i][j];
            }
        r[k][k] = sqrt(dot(col[k], col[k], rows));
        for (int64_t j = 0; j < rows && r[k][k] > 0; j++) col[k][j] /= r[k][k];
    }
}

/* out->error, correlation, idle, tied := from w->slope, which is overwritten. variance: of a
 * residual in the unit of w. */
static void covariance(sl_curve *out, work *w, double variance) {
    const int n = w->code->n;
    const int64_t rows = w->p->rows;
    double length[SL_FIT_MAX_PARAMS], s[SL_FIT_MAX_PARAMS], largest = 0;
    static const double NOTHING = 1e-14; // of y, by which a constant changes values
    double v[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS], r[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS];
    double *col[SL_FIT_MAX_PARAMS];
    int place[SL_FIT_MAX_PARAMS], seen = 0;
    for (int k = 0; k < n; k++) {
        length[k] = sqrt(dot(w->slope[k], w->slope[k], rows));
        // residuals are in a unit of y
        out->idle[k] =
            !(length[k] * fmax(fabs(out->fit.value[k]), DBL_MIN) > NOTHING * sqrt((double)rows)) &&
            !(length[k] > NOTHING);
        if (out->idle[k]) continue;
        for (int64_t i = 0; i < rows; i++) w->slope[k][i] /= length[k];
        col[seen] = w->slope[k];
        place[seen++] = k;
    }
    triangle(r, col, rows, seen);
    for (int k = 0; k < seen; k++) col[k] = r[k];
    decompose(col, seen, seen, s, v);
    for (int i = 0; i < seen; i++) largest = fmax(largest, s[i]);
    out->rank = 0;
    for (int i = 0; i < seen; i++) {
        const bool zero = !(s[i] > TIED * largest);
        out->rank += !zero;
        for (int k = 0; k < seen && zero; k++)
            if (fabs(v[k][i]) > 0.05) out->tied[place[k]] = true;
    }
    double c[SL_FIT_MAX_PARAMS][SL_FIT_MAX_PARAMS] = { { 0 } };
    for (int j = 0; j < seen; j++)
        for (int k = 0; k < seen; k++)
            for (int i = 0; i < seen; i++)
                if (s[i] > TIED * largest) c[j][k] += v[j][i] * v[k][i] / (s[i] * s[i]);
    for (int j = 0; j < n; j++) {
        out->fit.error[j] = out->idle[j] ? INFINITY : NAN;
        for (int k = 0; k < n; k++) out->correlation[j * n + k] = j == k ? 1 : NAN;
    }
    for (int j = 0; j < seen; j++) {
        const int at = place[j];
        out->fit.error[at] = out->tied[at] ? INFINITY : sqrt(c[j][j] * variance) / length[at];
        for (int k = 0; k < seen; k++)
            if (j != k && !out->tied[at] && !out->tied[place[k]])
                out->correlation[at * n + place[k]] = c[j][k] / sqrt(c[j][j] * c[k][k]);
    }
}

/* ---------------------------------------------------------------- figures ------------------- */

/* Log-likelihood of normal errors, with their size estimated where only ratios of sigma are known.
 */
static void judge(sl_curve *out, const work *w, double sse) {
    const sl_dataset *p = w->p;
    const double n = (double)p->rows, sum = sse / (w->unit * w->unit), two_pi = 6.283185307179586;
    double logs = 0, squares = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        const double s = p->sigma ? p->sigma[i] : 1, r = w->r[i] / w->unit * s;
        logs += log(s);
        squares += r * r;
    }
    out->rms = sqrt(squares / n);
    const bool known = (p->sigma && p->sigma_absolute) || w->o->sigma > 0;
    const double sigma = p->sigma ? 1 : w->o->sigma;
    out->chi2 = known ? sum / (sigma * sigma) : NAN;
    const double fit_log = known ? -0.5 * (out->chi2 + n * log(two_pi * sigma * sigma)) - logs
                                 : -0.5 * n * (log(two_pi * sum / n) + 1) - logs;
    const double params = out->fit.params + !known; // the size of errors is one more
    out->aic = 2 * params - 2 * fit_log;
    out->bic = params * log(n) - 2 * fit_log;
}

static sl_status finish(sl_curve *out, work *w, double sse) {
    const int n = w->code->n;
    const double degrees = (double)(w->p->rows - n), s = w->o->sigma;
    double variance = degrees > 0 ? sse / degrees : NAN;
    if (w->p->sigma && w->p->sigma_absolute) variance = w->unit * w->unit;
    if (!w->p->sigma && s > 0) variance = w->unit * w->unit * s * s;
    out->sse = sse / (w->unit * w->unit);
    judge(out, w, sse);
    SL_TRY(slopes(w, out->fit.value));
    covariance(out, w, variance);
    for (int k = 0; k < n; k++)
        out->bound[k] = out->fit.value[k] <= low_of(w, k)    ? -1
                        : out->fit.value[k] >= high_of(w, k) ? 1
                                                             : 0;
    return SL_OK;
}

/* *out: room for n constants, at the start. */
static sl_status make_room(sl_curve *out, sl_arena *a, const sl_node *e, int n) {
    const double zero[SL_FIT_MAX_PARAMS] = { 0 };
    *out = (sl_curve){ .rms = NAN, .chi2 = NAN, .aic = NAN, .bic = NAN, .sse = INFINITY };
    SL_TRY(sl_fit__put(&out->fit, a, e, zero, n));
    const size_t room = (size_t)n * (size_t)n + 1;
    out->correlation = sl_arena_alloc(a, room * sizeof *out->correlation);
    if (!out->correlation) return sl_fail_memory(room, sizeof *out->correlation, "correlations");
    for (int k = 0; k < n * n; k++) out->correlation[k] = NAN;
    return SL_OK;
}

static sl_status fit(sl_curve *out, sl_arena *a, const sl_dataset *p, const sl_curve_options *o) {
    sl_fit__code code;
    work all, few;
    sl_dataset part = *p;
    ends e;
    SL_TRY(sl_fit__compile(&code, a, out->fit.expr, out->fit.params));
    if (p->rows > FEW_ROWS) SL_TRY(sl_data_pick_evenly(&part, a, p, FEW_ROWS));
    SL_TRY(work_init(&all, p, &code, o, a));
    SL_TRY(work_init(&few, &part, &code, o, a));
    SL_TRY(search(&e, &out->fit.starts, &few));
    all.stopped = few.stopped;
    for (int i = 0; i < e.n; i++) {
        double sse;
        bool done;
        SL_TRY(descend(e.value[i], &sse, &done, &all));
        if (!(sse < out->sse * (1 - 1e-12))) continue;
        out->sse = sse;
        out->converged = done;
        memcpy(out->fit.value, e.value[i], (size_t)code.n * sizeof *out->fit.value);
    }
    out->fit.evaluations = (int)SL_MIN(all.evaluations + few.evaluations, (int64_t)INT32_MAX);
    out->fit.stopped = all.stopped;
    if (isinf(out->sse)) return SL_OK;
    double sse;
    SL_TRY(residuals(&sse, &all, out->fit.value));
    return finish(out, &all, sse);
}

sl_status sl_fit_curve(sl_curve *out, sl_arena *a, const sl_node *e, int params,
                       const sl_dataset *p, const sl_curve_options *o) {
    SL_ASSERT(params <= SL_FIT_MAX_PARAMS && p->rows >= 1 && sl_expr_max_var(e) <= p->inputs);
    SL_TRY(make_room(out, a, e, params));
    sl_arena scratch = { 0 };
    sl_status st;
    SL_GO(fit(out, &scratch, p, o));
    double loss;
    SL_GO(sl_fit__score(&out->fit.r2, &loss, e, out->fit.value, p));
    if (isinf(out->sse)) out->fit.r2 = NAN;
    const sl_noise noise = { .sigma = p->sigma ? 0 : o->sigma };
    SL_GO(sl_fit_describe(&out->bits, &out->fit, p, &noise));
done:
    sl_arena_clear(&scratch);
    return st;
}
