#include "golden.h"

static void normal_agrees_with_exact_answers(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    int n;
    SL_CHECK(t, golden_case(&g, "normal_cdf"), "no case");
    const double *x = golden_get(&g, "x", &n), *value = golden_get(&g, "value", NULL);
    for (int i = 0; i < n; i++) {
        // x / sqrt(2) is rounded, and far out that costs x^2 times as much
        SL_CHECK(t, near(sl_num_normal_cdf(x[i]), value[i], 1e-15 + 3e-16 * x[i] * x[i]),
                 "at %g: %.17g, should be %.17g", x[i], sl_num_normal_cdf(x[i]), value[i]);
    }
    SL_CHECK(t, golden_case(&g, "normal_quantile"), "no case");
    const double *p = golden_get(&g, "p", &n);
    value = golden_get(&g, "value", NULL);
    for (int i = 0; i < n; i++) {
        SL_CHECK(t, fabs(sl_num_normal_quantile(p[i]) - value[i]) <= 3e-15 * fabs(value[i]),
                 "of %g: %.17g, should be %.17g", p[i], sl_num_normal_quantile(p[i]), value[i]);
    }
    golden_close(&g);
}

static void normal_quantile_inverts_the_cdf(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 2000); k++) {
        double x = sl_rng_range(&t->rng, -30, 5), p = sl_num_normal_cdf(x);
        // near 1 the double p knows x only to the width of its last digit
        double known = 1e-13 + 2e-16 / exp(-x * x / 2);
        SL_CHECK(t, fabs(sl_num_normal_quantile(p) - x) < (x < 0 ? 1e-13 * -x + 1e-14 : 10 * known),
                 "%.17g came back as %.17g", x, sl_num_normal_quantile(p));
    }
    SL_CHECK(t, sl_num_normal_quantile(0) == -INFINITY && sl_num_normal_quantile(1) == INFINITY,
             "ends");
    SL_CHECK(t, isnan(sl_num_normal_quantile(-0.1)) && isnan(sl_num_normal_quantile(1.1)),
             "outside");
    SL_CHECK(t, isnan(sl_num_normal_quantile(NAN)) && isnan(sl_num_normal_cdf(NAN)), "NaN");
    SL_CHECK(t, sl_num_normal_quantile(0.5) == 0 && sl_num_normal_cdf(0) == 0.5, "middle");
}

static void chi2_agrees_with_exact_answers(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "chi2")) {
        int n;
        const double *row = golden_get(&g, "rows", &n);
        for (; n > 0; n -= 3, row += 3) {
            double got = sl_num_chi2_tail(row[0], row[1]);
            SL_CHECK(t, near(got, row[2], 1e-12), "x = %g, k = %g: %.17g, should be %.17g", row[0],
                     row[1], got, row[2]);
        }
    }
    golden_close(&g);
}

/* Two degrees of freedom make an exponential; one makes the square of a normal; the tail falls,
 * also across the switch between series and continued fraction and that to Stirling's formula. */
/* By SciPy: scipy.stats.f.sf. */
static void f_agrees_with_known_answers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double x, m, n, tail;
    } cases[] = {
        { 1, 1, 1, 0.50000000000000011 },        { 0.3, 2, 7, 0.74988655504748758 },
        { 2.5, 3, 12, 0.10915471239500632 },     { 4.9, 5, 30, 0.0021443419658868056 },
        { 12, 4, 100, 5.2826512273086635e-08 },  { 0.01, 6, 3, 0.99998363109329247 },
        { 1.7, 10, 5000, 0.074702422537533231 }, { 60, 3, 40, 7.2850309763454928e-15 },
        { 3, 200, 300, 3.5840483011895781e-18 }, { 1, 2, 1, 0.57735026918962584 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const double got = sl_num_f_tail(cases[i].x, cases[i].m, cases[i].n);
        SL_CHECK(t, near(got, cases[i].tail, 1e-11), "F(%g, %g) at %g: %.17g and not %.17g",
                 cases[i].m, cases[i].n, cases[i].x, got, cases[i].tail);
    }
    assert_true(isnan(sl_num_f_tail(1, 0, 1)) && sl_num_f_tail(0, 1, 1) == 1);
    assert_true(sl_num_f_tail(INFINITY, 1, 1) == 0);
}

static void chi2_equals_known_special_cases(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 500); k++) {
        double x = 1000 * pow(sl_rng_uniform(&t->rng), 4);
        SL_CHECK(t, near(sl_num_chi2_tail(x, 2), exp(-x / 2), 2e-13), "x = %g", x);
        SL_CHECK(t, near(sl_num_chi2_tail(x, 1), erfc(sqrt(x / 2)), 2e-12), "x = %g: %.17g", x,
                 sl_num_chi2_tail(x, 1));
        double dof = sl_rng_range(&t->rng, 0.1, 60);
        SL_CHECK(t, sl_num_chi2_tail(x, dof) >= sl_num_chi2_tail(x * 1.001 + 1e-9, dof),
                 "x %g, k %g", x, dof);
        SL_CHECK(t, sl_num_chi2_tail(x, dof) <= sl_num_chi2_tail(x, dof * 1.001), "x %g, k %g", x,
                 dof);
    }
    for (double dof = 1; dof < 1e7; dof *= 3) { // the median is about k (1 - 2/(9k))^3
        double p = sl_num_chi2_tail(dof * pow(1 - 2 / (9 * dof), 3), dof);
        SL_CHECK(t, fabs(p - 0.5) < 0.01 / sqrt(dof), "median for %g: p = %g", dof, p);
    }
    SL_CHECK(t, sl_num_chi2_tail(0, 3) == 1 && sl_num_chi2_tail(-1, 3) == 1, "no deviation");
    SL_CHECK(t, sl_num_chi2_tail(INFINITY, 3) == 0 && sl_num_chi2_tail(1e6, 3) == 0,
             "all deviation");
    SL_CHECK(t, isnan(sl_num_chi2_tail(NAN, 3)) && isnan(sl_num_chi2_tail(1, 0)), "nonsense");
}

static void ks_agrees_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    int n;
    SL_CHECK(t, golden_case(&g, "ks"), "no case");
    const double *row = golden_get(&g, "rows", &n);
    for (; n > 0; n -= 3, row += 3) {
        double got = sl_num_ks_tail(row[0], (int64_t)row[1]);
        SL_CHECK(t, fabs(got - row[2]) < 0.03 / row[1], "d = %g, n = %g: %.7f, exactly %.7f",
                 row[0], row[1], got, row[2]);
    }
    SL_CHECK(t, golden_case(&g, "kolmogorov"), "no case");
    const double *x = golden_get(&g, "t", &n), *value = golden_get(&g, "value", NULL);
    for (int i = 0; i < n; i++) {
        // what becomes x[i] again for 10,000 values
        double d = (x[i] - 1.0 / 600 + 1.0 / 40000) / (1 + 1.0 / 40000) / 100;
        SL_CHECK(t, near(sl_num_ks_tail(d, 10000), value[i], 1e-12),
                 "t = %g: %.17g, should be %.17g", x[i], sl_num_ks_tail(d, 10000), value[i]);
    }
    golden_close(&g);
    SL_CHECK(
        t, sl_num_ks_tail(0, 5) == 1 && sl_num_ks_tail(1, 5) == 0 && isnan(sl_num_ks_tail(0.1, 0)),
        "ends");
}

/* p-values of true hypotheses are uniform themselves; of false ones they vanish. */
static void ks_p_values_are_uniform_for_true_hypotheses(void **state) {
    sl_fixture *t = *state;
    double p[100], u[400];
    for (int k = 0; k < SL_LEN(p); k++) {
        for (int i = 0; i < SL_LEN(u); i++) u[i] = sl_rng_uniform(&t->rng);
        p[k] = sl_num_ks_uniform(u, SL_LEN(u));
    }
    double pp = sl_num_ks_uniform(p, SL_LEN(p));
    SL_CHECK(t, pp > 1e-4, "p-values are not uniform: %g", pp);
    for (int i = 0; i < SL_LEN(u); i++) u[i] = pow(sl_rng_uniform(&t->rng), 1.5);
    SL_CHECK(t, sl_num_ks_uniform(u, SL_LEN(u)) < 1e-4, "skewed values pass");
    for (int i = 0; i < SL_LEN(u); i++) u[i] = 0.3 + 0.7 * (i + 0.5) / SL_LEN(u);
    SL_CHECK(t, sl_num_ks_uniform(u, SL_LEN(u)) < 1e-10, "values above 0.3 pass");
    for (int i = 0; i < SL_LEN(u); i++) u[i] = 0.7 * (i + 0.5) / SL_LEN(u);
    SL_CHECK(t, sl_num_ks_uniform(u, SL_LEN(u)) < 1e-10, "values below 0.7 pass");
    for (int i = 0; i < SL_LEN(u); i++) u[i] = (i + 0.5) / SL_LEN(u);
    SL_CHECK(t, sl_num_ks_uniform(u, SL_LEN(u)) > 0.999, "the most even values do not pass");
    u[7] = NAN;
    SL_CHECK(t, sl_num_ks_uniform(u, SL_LEN(u)) == 0, "a NaN passes");
    u[7] = 1.5;
    SL_CHECK(t, sl_num_ks_uniform(u, SL_LEN(u)) == 0, "1.5 passes");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(normal_agrees_with_exact_answers),
        SL_TEST(normal_quantile_inverts_the_cdf),
        SL_TEST(chi2_agrees_with_exact_answers),
        SL_TEST(chi2_equals_known_special_cases),
        SL_TEST(f_agrees_with_known_answers),
        SL_TEST(ks_agrees_with_scipy),
        SL_TEST(ks_p_values_are_uniform_for_true_hypotheses),
    };
    return sl_test_main("num.dist", tests, SL_LEN(tests));
}
