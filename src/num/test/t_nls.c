#include "golden.h"
#include "tight.h"

enum { POINTS = 200 };

/* Models by number, as in tests/golden/num/answers.py; from 3 on our own, with edges to their
 * domain. value and its derivatives by the parameters. */
static void model(double *f, double d[4], int number, const double *p, double x) {
    switch (number) {
    case 0: { // p0 exp(-p1 x) + p2
        double e = exp(-p[1] * x);
        *f = p[0] * e + p[2];
        d[0] = e, d[1] = -x * p[0] * e, d[2] = 1;
        break;
    }
    case 1: // p0 sin(p1 x + p2)
        *f = p[0] * sin(p[1] * x + p[2]);
        d[0] = sin(p[1] * x + p[2]);
        d[2] = p[0] * cos(p[1] * x + p[2]);
        d[1] = x * d[2];
        break;
    case 2: { // log(exp(p0 - p1 x) + exp(p2))
        double a = p[0] - p[1] * x, top = fmax(a, p[2]);
        *f = top + log(exp(a - top) + exp(p[2] - top));
        d[0] = exp(a - *f), d[1] = -x * d[0], d[2] = exp(p[2] - *f);
        break;
    }
    case 3: // p0 log(x - p1): NaN from the smallest x on
        *f = p[0] * log(x - p[1]);
        d[0] = log(x - p[1]), d[1] = -p[0] / (x - p[1]);
        break;
    default: // p0 sqrt(x - p1): the derivative is infinite on the edge
        *f = p[0] * sqrt(x - p[1]);
        d[0] = sqrt(x - p[1]), d[1] = -0.5 * p[0] / sqrt(x - p[1]);
    }
}

typedef struct data {
    int number, m, n;
    const double *x, *y;
    int evaluations, outside, jacobians, fail_at, stop_at;
    double best; // lowest finite sum of squares returned
} data;

static sl_status ask(double *r, double *const *jac, const double *p, void *payload) {
    data *d = payload;
    double sse = 0, f, df[4] = { 0 };
    if (r)
        d->evaluations++;
    else
        d->jacobians++;
    if (d->fail_at && d->evaluations >= d->fail_at) return sl_fail(SL_EIO, "as asked");
    for (int i = 0; i < d->m; i++) {
        model(&f, df, d->number, p, d->x[i]);
        if (r) r[i] = f - d->y[i], sse += r[i] * r[i];
        for (int k = 0; jac && k < d->n; k++) jac[k][i] = df[k];
    }
    if (r && !isfinite(sse)) d->outside++;
    if (r && (d->evaluations == 1 || sse < d->best)) d->best = sse;
    return SL_OK;
}

static bool stop(void *payload) {
    data *d = payload;
    return d->stop_at && d->evaluations >= d->stop_at;
}

/* x uniform on [lo, hi], y = the model at `truth` plus noise. */
static void make(data *d, sl_fixture *t, int number, int n, const double *truth, double lo,
                 double hi, double noise) {
    static double x[POINTS], y[POINTS];
    *d = (data){ .number = number, .m = POINTS, .n = n, .x = x, .y = y };
    for (int i = 0; i < POINTS; i++) {
        double df[4];
        x[i] = sl_rng_range(&t->rng, lo, hi);
        model(&y[i], df, number, truth, x[i]);
        y[i] += noise * sl_rng_normal(&t->rng);
    }
}

static void nls_agrees_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "nls")) {
        int m;
        const double *x = golden_get(&g, "x", &m), *y = golden_get(&g, "y", NULL);
        double *p = golden_get(&g, "start", NULL), se[3];
        const double *want = golden_get(&g, "p", NULL), *want_se = golden_get(&g, "se", NULL);
        data d = { .number = (int)golden_one(&g, "model"), .m = m, .n = 3, .x = x, .y = y };
        sl_nls fit;
        SL_MUST(t, sl_num_nls_fit(&fit, p, se, &t->arena, NULL, m, 3, ask, &d));
        SL_CHECK(t, fit.end == SL_NLS_CONVERGED && fit.evaluations == d.evaluations, "%d %d",
                 fit.end, fit.evaluations);
        SL_CHECK(t, near(fit.sse, golden_one(&g, "sse"), 1e-12), "model %d: sse %.17g", d.number,
                 fit.sse);
        for (int k = 0; k < 3; k++) {
            SL_CHECK(t, fabs(p[k] - want[k]) < 1e-5 * want_se[k],
                     "model %d: p%d = %.17g, not %.17g", d.number, k, p[k], want[k]);
            SL_CHECK(t, near(se[k], want_se[k], 1e-6), "model %d: error of p%d %.17g, not %.17g",
                     d.number, k, se[k], want_se[k]);
        }
    }
    golden_close(&g);
}

static void noise_free_parameters_are_recovered(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 60); k++) {
        data d;
        double truth[3], p[3];
        int number = k % 3;
        for (int i = 0; i < 3; i++) truth[i] = sl_rng_range(&t->rng, 0.5, 2);
        if (number == 2) truth[0] += 2; // else the floor hides the slope
        for (int i = 0; i < 3; i++) p[i] = truth[i] * sl_rng_range(&t->rng, 0.8, 1.25);
        make(&d, t, number, 3, truth, 0, 4, 0);
        sl_nls fit;
        SL_MUST(t, sl_num_nls_fit(&fit, p, NULL, &t->arena, NULL, d.m, 3, ask, &d));
        for (int i = 0; i < 3; i++) {
            SL_CHECK(t, near(p[i], truth[i], 1e-9), "model %d: p%d = %.17g, not %.17g", number, i,
                     p[i], truth[i]);
        }
        SL_CHECK(t, fit.end == SL_NLS_CONVERGED && fit.sse < 1e-20, "end %d, sse %g", fit.end,
                 fit.sse);
    }
}

/* Standard errors are about the scatter of answers: the standardised errors of many fits are
 * normal. */
static void standard_errors_cover_the_truth(void **state) {
    sl_fixture *t = *state;
    const double truth[3] = { 2, 1.5, 0.5 };
    double u[120];
    for (int k = 0; k < SL_LEN(u); k++) {
        data d;
        double p[3] = { 2, 1, 1 }, se[3];
        make(&d, t, 0, 3, truth, 0, 3, 0.1);
        sl_nls fit;
        SL_MUST(t, sl_num_nls_fit(&fit, p, se, &t->arena, NULL, d.m, 3, ask, &d));
        u[k] = sl_num_normal_cdf((p[k % 3] - truth[k % 3]) / se[k % 3]);
    }
    double p = sl_num_ks_uniform(u, SL_LEN(u));
    SL_CHECK(t, p > 1e-4, "standardised errors are not normal: p = %g", p);
}

/* Starts so far from the edge that the first steps jump over it, where every residual is NaN. */
static void steps_outside_the_domain_are_taken_back(void **state) {
    sl_fixture *t = *state;
    int outside = 0;
    for (int k = 0; k < sl_test_iters(t, 60); k++) {
        data d;
        int number = 3 + k % 2;
        const double truth[2] = { sl_rng_range(&t->rng, 0.5, 3), sl_rng_range(&t->rng, -0.5, 0.9) };
        double p[2] = { 1, sl_rng_range(&t->rng, -30, 0.5) };
        make(&d, t, number, 2, truth, 1, 5, 0);
        sl_nls fit;
        SL_MUST(t, sl_num_nls_fit(&fit, p, NULL, &t->arena, NULL, d.m, 2, ask, &d));
        SL_CHECK(t, near(p[0], truth[0], 1e-7) && fabs(p[1] - truth[1]) < 1e-7,
                 "model %d: (%g, %g), not (%g, %g), end %d after %d", number, p[0], p[1], truth[0],
                 truth[1], fit.end, fit.evaluations);
        outside += d.outside;
    }
    SL_CHECK(t, outside > 20, "only %d steps left the domain: nothing was tested", outside);
}

/* The truth lies on the edge, where one derivative is infinite: no NaN comes out, nothing gets
 * worse. */
static void infinite_derivatives_give_no_nan(void **state) {
    sl_fixture *t = *state;
    const double x[5] = { 1, 1.5, 2, 3, 4 }, truth[2] = { 2, 1 };
    double y[5], df[4];
    for (int i = 0; i < 5; i++) model(&y[i], df, 4, truth, x[i]);
    y[3] += 0.1;
    data d = { .number = 4, .m = 5, .n = 2, .x = x, .y = y };
    double p[2] = { 1.5, 1 }, se[2];
    sl_nls fit;
    SL_MUST(t, sl_num_nls_fit(&fit, p, se, &t->arena, NULL, 5, 2, ask, &d));
    SL_CHECK(t, isfinite(p[0]) && isfinite(p[1]) && isfinite(fit.sse), "%g %g", p[0], p[1]);
    SL_CHECK(t, fit.sse < 0.02 && fabs(p[0] - 2) < 0.1, "sse %g at (%g, %g)", fit.sse, p[0], p[1]);
    SL_CHECK(t, isfinite(se[0]), "%g", se[0]);
}

static void a_start_outside_the_domain_is_reported(void **state) {
    sl_fixture *t = *state;
    const double truth[2] = { 1, 0 };
    data d;
    make(&d, t, 3, 2, truth, 1, 5, 0);
    for (int k = 0; k < 3; k++) {
        double p[2] = { 1, (double[]){ 3, NAN, 1e308 }[k] }, was = p[1], se[2];
        if (k == 2) p[0] = 1e308; // finite parameters, infinite residuals
        sl_nls fit;
        d.evaluations = 0;
        SL_MUST(t, sl_num_nls_fit(&fit, p, se, &t->arena, NULL, d.m, 2, ask, &d));
        SL_CHECK(t, fit.end == SL_NLS_DOMAIN && isinf(fit.sse) && isnan(se[0]), "%d %g", fit.end,
                 fit.sse);
        SL_CHECK(t, memcmp(&p[1], &was, sizeof was) == 0, "p moved to %g", p[1]);
        SL_CHECK(t, fit.evaluations == 1, "%d evaluations", fit.evaluations);
        SL_CHECK(t, d.evaluations == (k != 1), "the model was asked about NaN");
    }
}

/* Cut at any budget: not one evaluation too many, and the answer is the best point that was seen.
 */
static void work_is_bounded_and_the_best_is_kept(void **state) {
    sl_fixture *t = *state;
    const double truth[3] = { 2, 2, 1 };
    for (int budget = 1; budget < 30; budget++) {
        for (int kind = 0; kind < 2; kind++) {
            data d;
            double p[3] = { 1, 9, -1 };
            make(&d, t, budget % 2 ? 1 : 0, 3, truth, 0, 3, 0.2);
            sl_nls_options opt = SL_NLS_OPTIONS_INIT;
            if (kind == 0)
                opt.max_evaluations = budget;
            else
                opt.stop = stop, opt.stop_payload = &d, d.stop_at = budget;
            sl_nls fit;
            SL_MUST(t, sl_num_nls_fit(&fit, p, NULL, &t->arena, &opt, d.m, 3, ask, &d));
            SL_CHECK(t, d.evaluations <= budget && fit.evaluations == d.evaluations, "%d of %d",
                     d.evaluations, budget);
            SL_CHECK(t, d.jacobians <= d.evaluations, "%d jacobians", d.jacobians);
            SL_CHECK(t,
                     fit.end == (kind ? SL_NLS_STOPPED : SL_NLS_EVALUATIONS) ||
                         fit.end == SL_NLS_CONVERGED,
                     "end %d", fit.end);
            SL_CHECK(t, budget > 3 || fit.end != SL_NLS_CONVERGED, "converged in %d?", budget);
            SL_CHECK(t, fit.sse == d.best, "%.17g, but %.17g was seen", fit.sse, d.best);
            double sse = d.best, r[POINTS], again = 0;
            SL_MUST(t, ask(r, NULL, p, &d));
            for (int i = 0; i < d.m; i++) again += r[i] * r[i];
            SL_CHECK(t, again == sse, "sse at p is %.17g, not %.17g", again, sse);
        }
    }
    // stopped before anything was looked at
    data d;
    double p[3] = { 1, 9, -1 };
    make(&d, t, 0, 3, truth, 0, 3, 0.2);
    d.stop_at = 1, d.evaluations = 1;
    sl_nls_options opt = SL_NLS_OPTIONS_INIT;
    opt.stop = stop, opt.stop_payload = &d;
    sl_nls fit;
    SL_MUST(t, sl_num_nls_fit(&fit, p, NULL, &t->arena, &opt, d.m, 3, ask, &d));
    SL_CHECK(t, fit.end == SL_NLS_STOPPED && isinf(fit.sse) && fit.evaluations == 0 && p[1] == 9,
             "%d %g", fit.end, fit.sse);
}

static void a_failing_callback_is_passed_up(void **state) {
    sl_fixture *t = *state;
    const double truth[3] = { 2, 2, 1 };
    for (int at = 1; at < 6; at++) {
        data d;
        double p[3] = { 1, 1, -1 };
        make(&d, t, 0, 3, truth, 0, 3, 0.2);
        d.fail_at = at;
        sl_nls fit;
        sl_status st = sl_num_nls_fit(&fit, p, NULL, &t->arena, NULL, d.m, 3, ask, &d);
        SL_CHECK(t, st == SL_EIO && strcmp(sl_last_error(), "as asked") == 0, "%d %s", st,
                 sl_last_error());
        SL_CHECK(t, p[0] == 1 && p[1] == 1 && p[2] == -1, "p moved");
        SL_CHECK(t, d.evaluations == at, "went on to evaluation %d", d.evaluations);
    }
}

/* More parameters than points, a parameter without effect, none at all. */
static void any_numbers_of_parameters_and_points_work(void **state) {
    sl_fixture *t = *state;
    const double x[2] = { 0.5, 2 }, y[2] = { 1.5, 0.7 };
    data d = { .number = 0, .m = 2, .n = 3, .x = x, .y = y };
    double p[3] = { 1, 1, 0 }, se[3];
    sl_nls fit;
    SL_MUST(t, sl_num_nls_fit(&fit, p, se, &t->arena, NULL, 2, 3, ask, &d));
    SL_CHECK(t, fit.sse < 1e-20 && fit.evaluations < 6, "%g after %d", fit.sse, fit.evaluations);
    SL_CHECK(t, isinf(se[0]) + isinf(se[1]) + isinf(se[2]) == 1, "%g %g %g", se[0], se[1], se[2]);
    SL_CHECK(t, isnan(se[0]) + isnan(se[1]) + isnan(se[2]) == 2, "%g %g %g", se[0], se[1], se[2]);

    // p0 = 0 takes p1 out of p0 exp(-p1 x) + p2
    const double x5[5] = { 1, 2, 3, 4, 5 }, y5[5] = { 1, 1, 1, 1, 1 };
    d = (data){ .number = 0, .m = 5, .n = 3, .x = x5, .y = y5 };
    double q[3] = { 0, 1, 1 };
    SL_MUST(t, sl_num_nls_fit(&fit, q, se, &t->arena, NULL, 5, 3, ask, &d));
    SL_CHECK(t, fit.sse == 0 && isinf(se[1]) && se[0] == 0 && q[1] == 1, "%g %g", fit.sse, se[1]);

    d.n = 0;
    double fixed[3] = { 1, 1, 0 };
    SL_MUST(t, sl_num_nls_fit(&fit, fixed, NULL, &t->arena, NULL, 5, 0, ask, &d));
    SL_CHECK(t, fit.end == SL_NLS_CONVERGED && fit.evaluations == 1 && fit.sse > 1, "%d %g",
             fit.end, fit.sse);
}

static sl_status fit_once(sl_fixture *t, data *d) {
    double p[3] = { 1, 1, 0 }, se[3];
    sl_nls fit;
    SL_TRY(sl_num_nls_fit(&fit, p, se, &t->arena, NULL, d->m, 3, ask, d));
    SL_CHECK(t, sl_arena_mark(&t->arena) == 0, "scratch is not rewound");
    return SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    const double truth[3] = { 2, 2, 1 };
    data d;
    make(&d, t, 0, 3, truth, 0, 3, 0.2);
    EACH_LIMIT(t, fit_once(t, &d));
    SL_EACH_ALLOCATION(t, fit_once(t, &d));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(nls_agrees_with_scipy),
        SL_TEST(noise_free_parameters_are_recovered),
        SL_TEST(standard_errors_cover_the_truth),
        SL_TEST(steps_outside_the_domain_are_taken_back),
        SL_TEST(infinite_derivatives_give_no_nan),
        SL_TEST(a_start_outside_the_domain_is_reported),
        SL_TEST(work_is_bounded_and_the_best_is_kept),
        SL_TEST(a_failing_callback_is_passed_up),
        SL_TEST(any_numbers_of_parameters_and_points_work),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("num.nls", tests, SL_LEN(tests));
}
