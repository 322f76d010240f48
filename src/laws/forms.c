/* forms - y against ln x by each form: the line, the line with a floor, the binomial likelihood. */
#include <math.h>

#include "laws/laws_impl.h"
#include "num/num.h"

/* ---------------------------------------------------------------- power --------------------- */

static bool varies(const double *x, const double *w, int n, int at_least) {
    int different = 0;
    double last = NAN;
    for (int i = 0; i < n; i++) { // x comes in order, so equal ones are neighbours
        if (w[i] > 0 && x[i] != last) different++, last = x[i];
    }
    return different >= at_least;
}

bool sl_laws__line(sl_laws_draw *out, const double *x, const double *ln_y, const double *w, int n) {
    double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, sse = 0;
    *out = (sl_laws_draw){ .a = NAN, .b = NAN, .floor = NAN, .sigma = NAN };
    for (int i = 0; i < n; i++) sw += w[i], sx += w[i] * x[i], sy += w[i] * ln_y[i];
    const double mx = sx / sw, my = sy / sw;
    for (int i = 0; i < n; i++) {
        sxx += w[i] * (x[i] - mx) * (x[i] - mx);
        sxy += w[i] * (x[i] - mx) * (ln_y[i] - my);
    }
    if (!(sxx > 1e-20 * sw * (1 + mx * mx))) return false;
    const double b = sxy / sxx, a = my - b * mx;
    for (int i = 0; i < n; i++) {
        const double r = ln_y[i] - my - b * (x[i] - mx);
        sse += w[i] * r * r;
    }
    *out = (sl_laws_draw){ .a = a,
                           .b = b,
                           .mean = mx,
                           .spread = sxx,
                           .sigma = sw > 2 ? sqrt(sse / (sw - 2)) : NAN,
                           .n = sw };
    return isfinite(a) && isfinite(b);
}

double sl_laws__line_r2(const sl_laws_draw *line, const double *x, const double *ln_y,
                        const double *w, int n) {
    double sw = 0, sy = 0, sst = 0, sse = 0;
    for (int i = 0; i < n; i++) sw += w[i], sy += w[i] * ln_y[i];
    for (int i = 0; i < n; i++) {
        const double y = line->floor + sl_exp(line->a + line->b * x[i]);
        const double r = ln_y[i] - sl_log(y), d = ln_y[i] - sy / sw;
        sse += w[i] * r * r;
        sst += w[i] * d * d;
    }
    return sst > 0 ? 1 - sse / sst : NAN;
}

sl_status sl_laws__curvature(sl_estimate *out, sl_arena *scratch, const double *x,
                             const double *ln_y, int n) {
    *out = (sl_estimate){ NAN, NAN, NAN };
    if (n < 4) return SL_OK;
    const size_t mark = sl_arena_mark(scratch);
    double *col;
    SL_LAWS__TRY_ALLOC(col, scratch, 3 * n);
    const double middle = sl_num_mean(x, n);
    for (int i = 0; i < n; i++) {
        col[i] = 1;
        col[n + i] = x[i] - middle;
        col[2 * n + i] = (x[i] - middle) * (x[i] - middle);
    }
    const double *const list[3] = { col, col + n, col + 2 * n };
    sl_lsq fit;
    double coef[3], se[3];
    const sl_status st = sl_num_lsq_fit(&fit, coef, se, scratch, list, ln_y, NULL, n, 3);
    sl_arena_rewind(scratch, mark);
    if (st == SL_OK && fit.rank == 3)
        *out = (sl_estimate){ coef[2], coef[2] - 2 * se[2], coef[2] + 2 * se[2] };
    return st;
}

/* ---------------------------------------------------------------- floor --------------------- */

/* y = A (exp(-b u) + r) with u = x - top, so r is the floor's part at the largest x. For given b
 * and r the best ln A is a mean, so the search has two dimensions; logarithms keep all three
 * positive. */
typedef struct floored {
    const double *x, *ln_y, *w;
    double top;
    int n;
} floored;

static sl_status floor_residuals(double *out, double *const *jac, const double *p, void *payload) {
    const floored *f = payload;
    const double b = sl_exp(p[1]), r = sl_exp(p[2]);
    for (int i = 0; i < f->n; i++) {
        const double u = f->x[i] - f->top, e = sl_exp(-b * u), root = sqrt(f->w[i]);
        if (out) out[i] = root * (p[0] + sl_log(e + r) - f->ln_y[i]);
        if (!jac) continue;
        jac[0][i] = root;
        jac[1][i] = root * -b * u * e / (e + r);
        jac[2][i] = root * r / (e + r);
    }
    return SL_OK;
}

/* ln A and the sum of squares for given b and r; e has exp(-b u), room for n. */
static double best_scale(const floored *f, const double *e, double r, double *room, double *sse) {
    double sw = 0, s = 0, ss = 0;
    for (int i = 0; i < f->n; i++) room[i] = e[i] + r;
    sl_log_array(room, room, f->n);
    for (int i = 0; i < f->n; i++) {
        const double d = f->ln_y[i] - room[i];
        sw += f->w[i];
        s += f->w[i] * d;
        ss += f->w[i] * d * d;
    }
    *sse = ss - s * s / sw;
    return s / sw;
}

static sl_status search_grid(double p[3], const floored *f, sl_arena *scratch) {
    const size_t mark = sl_arena_mark(scratch);
    double lowest = INFINITY, *e;
    SL_LAWS__TRY_ALLOC(e, scratch, 2 * f->n);
    for (int i = 0; i < 14; i++) {
        const double b = 0.02 * sl_exp(0.4 * i); // to 3.6
        for (int k = 0; k < f->n; k++) e[k] = -b * (f->x[k] - f->top);
        sl_exp_array(e, e, f->n);
        for (int k = 0; k < 9; k++) {
            double sse;
            const double r = 0.01 * sl_exp(1.15 * k); // to 100
            const double scale = best_scale(f, e, r, e + f->n, &sse);
            if (!(sse < lowest)) continue;
            lowest = sse;
            p[0] = scale, p[1] = sl_log(b), p[2] = sl_log(r);
        }
    }
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

sl_status sl_laws__floor(sl_laws_draw *out, bool *known, sl_arena *scratch, const double *x,
                         const double *ln_y, const double *w, int n) {
    const sl_nls_options o = { .max_evaluations = 100, .ftol = 1e-13, .xtol = 1e-11 };
    floored f = { x, ln_y, w, -INFINITY, n };
    double p[3] = { 0, 0, 0 }, sse;
    sl_laws_draw line;
    sl_nls fit;
    *known = false;
    if (!varies(x, w, n, 4) || !sl_laws__line(&line, x, ln_y, w, n) || line.b >= 0) return SL_OK;
    for (int i = 0; i < n; i++) f.top = SL_MAX(f.top, x[i]);
    SL_TRY(search_grid(p, &f, scratch));
    SL_TRY(sl_num_nls_fit(&fit, p, NULL, scratch, &o, n, 3, floor_residuals, &f));
    *known = true;
    *out = line; // a floor of 0 is the line
    sse = line.sigma * line.sigma * (line.n - 2);
    if (!(fit.sse < sse * (1 - 1e-9)) || p[2] < -20) return SL_OK;
    const double b = sl_exp(p[1]);
    out->a = p[0] + b * f.top;
    out->b = -b;
    out->floor = sl_exp(p[0] + p[2]);
    out->sigma = NAN; // the line's errors do not apply
    if (!isfinite(out->a) || !isfinite(out->floor)) *out = line;
    return SL_OK;
}

/* ---------------------------------------------------------------- binomial ------------------ */

typedef struct failures {
    const double *x, *share, *trials, *w;
    int n;
} failures;

/* ln likelihood of probabilities exp(a + b x); -infinity where one is not below 1. */
static double likelihood(const failures *f, double a, double b) {
    double sum = 0;
    for (int i = 0; i < f->n; i++) {
        const double ln_p = a + b * f->x[i], k = f->w[i] * f->trials[i];
        if (f->share[i] > 0) sum += k * f->share[i] * ln_p;
        if (f->share[i] < 1) sum += k * (1 - f->share[i]) * sl_log(1 - sl_exp(ln_p));
        if (ln_p >= 0) return -INFINITY;
    }
    return sum;
}

/* One step of Fisher's scoring: least squares of (share - p)/p with weights trials p/(1 - p). */
static bool scoring_step(double step[2], const failures *f, double a, double b, double middle) {
    double s0 = 0, s1 = 0, s2 = 0, z0 = 0, z1 = 0;
    for (int i = 0; i < f->n; i++) {
        const double p = sl_exp(a + b * f->x[i]), u = f->x[i] - middle;
        const double w = f->w[i] * f->trials[i] * p / (1 - p), z = (f->share[i] - p) / p;
        s0 += w, s1 += w * u, s2 += w * u * u, z0 += w * z, z1 += w * u * z;
    }
    const double det = s0 * s2 - s1 * s1;
    if (!(det > 1e-14 * s0 * s2)) return false;
    step[1] = (s0 * z1 - s1 * z0) / det;
    step[0] = (s2 * z0 - s1 * z1) / det - step[1] * middle;
    return isfinite(step[0]) && isfinite(step[1]);
}

/* A start inside the domain: constant probability, which is the best of slope 0. */
static bool binomial_start(double *a, double *middle, const failures *f) {
    double k = 0, failed = 0, sx = 0;
    for (int i = 0; i < f->n; i++) {
        k += f->w[i] * f->trials[i];
        failed += f->w[i] * f->trials[i] * f->share[i];
        sx += f->w[i] * f->trials[i] * f->x[i];
    }
    *middle = sx / k;
    *a = sl_log(failed / k);
    return failed > 0 && failed < k;
}

bool sl_laws__binomial(sl_laws_draw *out, const double *x, const double *share,
                       const double *trials, const double *w, int n) {
    const failures f = { x, share, trials, w, n };
    double a, b = 0, middle;
    *out = (sl_laws_draw){ .a = NAN, .b = NAN, .floor = NAN, .sigma = NAN };
    if (!varies(x, w, n, 3) || !binomial_start(&a, &middle, &f)) return false;
    double now = likelihood(&f, a, b);
    for (int round = 0; round < 100; round++) {
        double step[2], t = 1, next = -INFINITY;
        if (!scoring_step(step, &f, a, b, middle)) return false;
        for (; t > 1e-10;
             t /= 2) { // a shorter step where the likelihood falls or p leaves its domain
            next = likelihood(&f, a + t * step[0], b + t * step[1]);
            if (next >= now) break;
        }
        if (!(next >= now)) break;
        a += t * step[0], b += t * step[1];
        const bool done = next - now <= 1e-15 * fabs(now); // what is left is rounding
        now = next;
        if (done) break;
    }
    *out = (sl_laws_draw){ .a = a, .b = b, .sigma = NAN, .n = n };
    return true;
}
