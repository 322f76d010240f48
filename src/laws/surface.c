/* surface - L(N, D) = E + A/N^alpha + B/D^beta by variable projection.
 *
 * For given exponents L is linear in E, A, B >= 0, so the search is over two exponents: a grid over
 * all plausible values, finer grids around its best, then Levenberg-Marquardt on all five constants
 * for the last digits. No starting point has to be chosen: the published constants of Chinchilla
 * came from a minimiser that had stopped early (Besiroglu et al. 2024).
 *
 * Huber's loss is minimised by iteratively reweighted least squares with weights
 * min(1, delta/|r|), starting from the squared loss. It never rises. delta is 1.345 deviations of
 * the squared fit's residuals, the deviation by their median: 95 % efficient for normal noise. */
#include <math.h>
#include <string.h>

#include "laws/laws_impl.h"
#include "num/num.h"

#define UNIT_PARAMS 1e6
#define UNIT_TOKENS 1e9

/* Points, with weights that a draw or Huber's loss changes. */
typedef struct data {
    double *n, *d, *loss;   // ln(N/unit), ln(D/unit), L
    double *drawn, *weight; // how often the point counts; that, times Huber's weight
    double *ones, *an, *bd; // columns for given exponents
    double *root;           // of the weights
    int m;
    bool zero; // E is held at 0
} data;

double sl_laws__surface_value(const sl_laws_constants *c, double params, double tokens) {
    return c->E + c->A * sl_exp(-c->alpha * sl_log(params / UNIT_PARAMS)) +
           c->B * sl_exp(-c->beta * sl_log(tokens / UNIT_TOKENS));
}

/* ---------------------------------------------------------------- search -------------------- */

static sl_status project(double *sse, sl_laws_constants *c, const data *s, sl_arena *scratch) {
    const double *const col[3] = { s->ones, s->an, s->bd };
    double coef[3];
    for (int i = 0; i < s->m; i++) {
        s->an[i] = -c->alpha * s->n[i];
        s->bd[i] = -c->beta * s->d[i];
    }
    sl_exp_array(s->an, s->an, s->m);
    sl_exp_array(s->bd, s->bd, s->m);
    SL_TRY(sl_num_nnls_fit(sse, coef, scratch, col, s->loss, s->weight, s->m, 3));
    c->E = coef[0], c->A = coef[1], c->B = coef[2];
    return SL_OK;
}

/* Exponents in a square grid of logarithms around *best; improves it. */
static sl_status search(sl_laws_constants *best, double *lowest, const data *s, double step,
                        int reach, sl_arena *scratch) {
    const sl_laws_constants middle = *best;
    for (int i = -reach; i <= reach; i++) {
        for (int k = -reach; k <= reach; k++) {
            sl_laws_constants c = { .alpha = middle.alpha * sl_exp(i * step),
                                    .beta = middle.beta * sl_exp(k * step) };
            double sse;
            SL_TRY(project(&sse, &c, s, scratch));
            if (sse < *lowest) *lowest = sse, *best = c;
        }
    }
    return SL_OK;
}

static sl_status search_all(sl_laws_constants *best, const data *s, sl_arena *scratch) {
    double lowest = INFINITY, step = 0.25;
    *best = (sl_laws_constants){ .alpha = 0.3, .beta = 0.3 };
    SL_TRY(search(best, &lowest, s, step, 11, scratch)); // 0.019 to 4.7
    for (int round = 0; round < 16; round++) {
        step *= 0.5;
        SL_TRY(search(best, &lowest, s, step, 2, scratch));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- refinement ---------------- */

/* p = E, ln A, ln B, ln alpha, ln beta; without E where it is held at 0. */
static sl_status residuals(double *out, double *const *jac, const double *p, void *payload) {
    const data *s = payload;
    const int k = s->zero ? 0 : 1;
    const double alpha = sl_exp(p[k + 2]), beta = sl_exp(p[k + 3]);
    for (int i = 0; i < s->m; i++) {
        s->an[i] = p[k] - alpha * s->n[i];
        s->bd[i] = p[k + 1] - beta * s->d[i];
    }
    sl_exp_array(s->an, s->an, s->m);
    sl_exp_array(s->bd, s->bd, s->m);
    for (int i = 0; i < s->m; i++) {
        const double root = s->root[i], fn = s->an[i], fd = s->bd[i];
        if (out) out[i] = root * ((k ? p[0] : 0) + fn + fd - s->loss[i]);
        if (!jac) continue;
        if (k) jac[0][i] = root;
        jac[k][i] = root * fn;
        jac[k + 1][i] = root * fd;
        jac[k + 2][i] = root * -alpha * s->n[i] * fn;
        jac[k + 3][i] = root * -beta * s->d[i] * fd;
    }
    return SL_OK;
}

static double residual_of(const sl_laws_constants *c, const data *s, int i) {
    return s->loss[i] - c->E - c->A * sl_exp(-c->alpha * s->n[i]) -
           c->B * sl_exp(-c->beta * s->d[i]);
}

/* One fit, with E free or held at 0. *c stays if E would be negative. */
static sl_status polish_once(sl_laws_constants *c, data *s, const sl_nls_options *o, bool zero,
                             sl_arena *scratch) {
    const int k = zero ? 0 : 1;
    double p[5] = { c->E };
    sl_nls fit;
    s->zero = zero;
    p[k] = sl_log(c->A), p[k + 1] = sl_log(c->B);
    p[k + 2] = sl_log(c->alpha), p[k + 3] = sl_log(c->beta);
    SL_TRY(sl_num_nls_fit(&fit, p, NULL, scratch, o, s->m, 4 + k, residuals, s));
    if (k && !(p[0] >= 0)) {
        c->E = 0;
        return SL_OK;
    }
    *c = (sl_laws_constants){ k ? p[0] : 0, sl_exp(p[k]), sl_exp(p[k + 1]), sl_exp(p[k + 2]),
                              sl_exp(p[k + 3]) };
    return SL_OK;
}

/* E >= 0: where the unconstrained minimum is negative, E is fixed at 0; where it is 0, it is freed
 * if a larger E lowers the sum of squares. */
static sl_status polish(sl_laws_constants *c, data *s, double tol, int evaluations,
                        sl_arena *scratch) {
    const sl_nls_options o = { .max_evaluations = evaluations, .ftol = tol * tol, .xtol = tol };
    if (!(c->A > 0 && c->B > 0)) return SL_OK; // a term is missing: the search result is final
    for (int i = 0; i < s->m; i++) s->root[i] = sqrt(s->weight[i]);
    if (c->E > 0) SL_TRY(polish_once(c, s, &o, false, scratch));
    if (c->E > 0) return SL_OK;
    SL_TRY(polish_once(c, s, &o, true, scratch));
    double gain = 0;
    for (int i = 0; i < s->m; i++) gain += s->weight[i] * residual_of(c, s, i);
    return gain > 0 ? polish_once(c, s, &o, false, scratch) : SL_OK;
}

/* ---------------------------------------------------------------- Huber --------------------- */

static sl_status huber_delta(double *out, const sl_laws_constants *c, const data *s,
                             sl_arena *scratch) {
    double *size;
    const size_t mark = sl_arena_mark(scratch);
    SL_LAWS__TRY_ALLOC(size, scratch, s->m);
    for (int i = 0; i < s->m; i++) size[i] = fabs(residual_of(c, s, i));
    *out = 1.345 * 1.4826 * sl_num_median(size, s->m);
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

/* Few evaluations per round: with weights that are not final, a precise minimum is useless. */
static sl_status reweight(sl_laws_constants *c, data *s, double delta, double tol, int rounds,
                          sl_arena *scratch) {
    if (!(delta > 1e-9 * sl_num_mean(s->loss, s->m))) return SL_OK; // residuals are rounding
    for (int round = 0; round < rounds; round++) {
        const sl_laws_constants before = *c;
        for (int i = 0; i < s->m; i++) {
            const double r = fabs(residual_of(c, s, i));
            s->weight[i] = s->drawn[i] * (r > delta ? delta / r : 1);
        }
        SL_TRY(polish(c, s, 1e-9, 4, scratch));
        if (fabs(c->E - before.E) + fabs(c->alpha - before.alpha) + fabs(c->beta - before.beta) <
            tol * (c->E + c->alpha + c->beta))
            break;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- all of it ----------------- */

static sl_status make_data(data *s, sl_arena *a, int n) {
    double *room;
    SL_LAWS__TRY_ALLOC(room, a, 9 * n);
    *s = (data){ .n = room,
                 .d = room + n,
                 .loss = room + 2 * n,
                 .drawn = room + 3 * n,
                 .weight = room + 4 * n,
                 .ones = room + 5 * n,
                 .an = room + 6 * n,
                 .bd = room + 7 * n,
                 .root = room + 8 * n };
    return SL_OK;
}

/* The points of a draw, or of the data (-1), that have all three figures. */
static void fill_data(data *s, const sl_laws *l, const int *points, int n, int *pick,
                      sl_laws__obs *obs, int64_t draw) {
    const int k = sl_laws__sample(obs, pick, l, points, n, draw);
    s->m = 0;
    for (int i = 0; i < k; i++) {
        const double loss = obs[i].y[SL_LAWS_LOSS];
        if (isnan(obs[i].params) || isnan(obs[i].tokens) || isnan(loss)) continue;
        s->n[s->m] = sl_log(obs[i].params / UNIT_PARAMS);
        s->d[s->m] = sl_log(obs[i].tokens / UNIT_TOKENS);
        s->loss[s->m] = loss;
        s->ones[s->m] = 1;
        s->drawn[s->m] = s->weight[s->m] = obs[i].weight;
        s->m++;
    }
}

/* N and D must vary, each on its own: three values of both, and not in step. */
static bool enough(const data *s) {
    double mn = sl_num_mean(s->n, s->m), md = sl_num_mean(s->d, s->m), nn = 0, dd = 0, nd = 0;
    for (int i = 0; i < s->m; i++) {
        const double u = s->n[i] - mn, v = s->d[i] - md;
        nn += u * u, dd += v * v, nd += u * v;
    }
    return s->m >= 6 && nn > 1e-3 && dd > 1e-3 && nd * nd < 0.999 * nn * dd;
}

static sl_status make_draws(sl_laws_surface *out, sl_arena *a, sl_arena *scratch, data *s,
                            const sl_laws *l, const int *points, int n, int *pick,
                            sl_laws__obs *obs) {
    // a large table gets fewer draws, so that they take seconds at most
    const int draws = SL_MIN(l->options.draws, SL_MAX(100, 1000000 / n));
    sl_laws_constants *draw;
    if (l->options.draws == 0) return SL_OK;
    SL_LAWS__TRY_ALLOC(draw, a, draws);
    SL_LAWS__TRY_ALLOC(out->scratch, a, draws);
    for (int d = 0; d < draws; d++) {
        draw[d] = out->fit;
        fill_data(s, l, points, n, pick, obs, d);
        SL_TRY(polish(&draw[d], s, 1e-6, 100, scratch));
        if (out->huber) SL_TRY(reweight(&draw[d], s, out->delta, 1e-4, 30, scratch));
    }
    out->draw = draw;
    out->n_draw = out->valid = draws;
    return SL_OK;
}

static sl_estimate spread(const sl_laws_surface *s,
                          double (*of)(const sl_laws_constants *, double, double), double u,
                          double v) {
    for (int i = 0; i < s->n_draw; i++) s->scratch[i] = of(&s->draw[i], u, v);
    return sl_laws__interval(of(&s->fit, u, v), s->scratch, s->n_draw, s->level);
}

static double of_E(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->E;
}
static double of_A(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->A;
}
static double of_B(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->B;
}
static double of_alpha(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->alpha;
}
static double of_beta(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->beta;
}
static double of_n_exponent(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->beta / (c->alpha + c->beta);
}
static double of_d_exponent(const sl_laws_constants *c, double u, double v) {
    return (void)u, (void)v, c->alpha / (c->alpha + c->beta);
}

static void summarise(sl_laws_surface *out, const data *s) {
    double sse = 0, sst = 0;
    const double mean = sl_num_mean(s->loss, s->m);
    for (int i = 0; i < s->m; i++) {
        const double r = residual_of(&out->fit, s, i);
        sse += r * r;
        sst += (s->loss[i] - mean) * (s->loss[i] - mean);
    }
    out->rms = sqrt(sse / s->m);
    out->r2 = sst > 0 ? 1 - sse / sst : NAN;
}

static sl_status flops_per(double *out, sl_arena *scratch, const sl_laws *l, const int *points,
                           int n) {
    double *k;
    int m = 0;
    SL_LAWS__TRY_ALLOC(k, scratch, n);
    for (int i = 0; i < n; i++) {
        const sl_laws_point *p = &l->point[points[i]];
        const double v = p->flops / (p->params * p->tokens);
        if (!isnan(v)) k[m++] = v;
    }
    *out = sl_num_median(k, m);
    return SL_OK;
}

static sl_status fit(sl_laws_surface *out, sl_arena *a, sl_arena *scratch, const sl_laws *l,
                     const int *points, int n) {
    data s;
    sl_laws__obs *obs;
    int *pick;
    SL_LAWS__TRY_ALLOC(obs, scratch, n);
    SL_LAWS__TRY_ALLOC(pick, scratch, n);
    SL_TRY(make_data(&s, scratch, n));
    fill_data(&s, l, points, n, pick, obs, -1);
    out->n = s.m;
    if (!enough(&s)) return SL_OK;
    SL_TRY(flops_per(&out->flops_per, scratch, l, points, n));
    SL_TRY(search_all(&out->fit, &s, scratch));
    SL_TRY(polish(&out->fit, &s, 1e-14, 200, scratch));
    if (out->huber) {
        SL_TRY(huber_delta(&out->delta, &out->fit, &s, scratch));
        SL_TRY(reweight(&out->fit, &s, out->delta, 1e-11, 2000, scratch));
    }
    if (!isfinite(out->fit.E + out->fit.A + out->fit.B + out->fit.alpha + out->fit.beta))
        return SL_OK;
    out->known = out->fit.A > 0 && out->fit.B > 0;
    summarise(out, &s);
    if (!out->known) return SL_OK;
    SL_TRY(make_draws(out, a, scratch, &s, l, points, n, pick, obs));
    out->E = spread(out, of_E, 0, 0);
    out->A = spread(out, of_A, 0, 0);
    out->B = spread(out, of_B, 0, 0);
    out->alpha = spread(out, of_alpha, 0, 0);
    out->beta = spread(out, of_beta, 0, 0);
    out->n_exponent = spread(out, of_n_exponent, 0, 0);
    out->d_exponent = spread(out, of_d_exponent, 0, 0);
    return SL_OK;
}

sl_status sl_laws__surface(sl_laws_surface *out, sl_arena *a, const sl_laws *l, const int *points,
                           int n, bool huber) {
    static const sl_estimate none = { NAN, NAN, NAN };
    sl_arena scratch = { 0 };
    *out = (sl_laws_surface){ .huber = huber,
                              .delta = NAN,
                              .unit_params = UNIT_PARAMS,
                              .unit_tokens = UNIT_TOKENS,
                              .E = none,
                              .A = none,
                              .B = none,
                              .alpha = none,
                              .beta = none,
                              .n_exponent = none,
                              .d_exponent = none,
                              .flops_per = NAN,
                              .c_top = l->c_top,
                              .r2 = NAN,
                              .rms = NAN,
                              .level = l->options.level };
    const sl_status st = fit(out, a, &scratch, l, points, n);
    sl_arena_clear(&scratch);
    return st;
}

/* ---------------------------------------------------------------- evaluation ---------------- */

sl_estimate sl_laws_surface_at(const sl_laws_surface *s, double params, double tokens) {
    if (!s->known) return (sl_estimate){ NAN, NAN, NAN };
    return spread(s, sl_laws__surface_value, params, tokens);
}

/* Least loss under C = k N D, in units n and d of N and D:  n = G q^a, d = q^(1-a)/G with q = C/k
 * in these units, a = beta/(alpha+beta), G = (alpha A/(beta B))^(1/(alpha+beta)). */
static double best_params(const sl_laws_constants *c, double q, double unused) {
    (void)unused;
    const double sum = c->alpha + c->beta;
    const double ln_g = sl_log(c->alpha * c->A / (c->beta * c->B)) / sum;
    return UNIT_PARAMS * sl_exp(ln_g + c->beta / sum * sl_log(q));
}

static double best_tokens(const sl_laws_constants *c, double q, double unused) {
    return q * UNIT_PARAMS * UNIT_TOKENS / best_params(c, q, unused);
}

static double best_ratio(const sl_laws_constants *c, double q, double unused) {
    return best_tokens(c, q, unused) / best_params(c, q, unused);
}

static double best_loss(const sl_laws_constants *c, double q, double unused) {
    return sl_laws__surface_value(c, best_params(c, q, unused), best_tokens(c, q, unused));
}

sl_laws_allocation sl_laws_allocate(const sl_laws_surface *s, double flops) {
    static const sl_estimate none = { NAN, NAN, NAN };
    if (!s->known) return (sl_laws_allocation){ none, none, none, none };
    const double q = flops / s->flops_per / UNIT_PARAMS / UNIT_TOKENS;
    return (sl_laws_allocation){ spread(s, best_params, q, 0), spread(s, best_tokens, q, 0),
                                 spread(s, best_ratio, q, 0), spread(s, best_loss, q, 0) };
}
