#include "golden.h"

static void samples_agree_with_numpy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "sample")) {
        int n, n_q;
        double *x = golden_get(&g, "x", &n);
        const double *q = golden_get(&g, "q", &n_q), *want = golden_get(&g, "quantile", NULL);
        double mean = sl_num_mean(x, n), var = sl_num_variance(x, n);
        SL_CHECK(t, near(mean, golden_one(&g, "mean"), 1e-15), "case %d: %.17g", g.cases, mean);
        SL_CHECK(t, near(var, golden_one(&g, "var"), 1e-13), "case %d: %.17g", g.cases, var);
        double median = sl_num_median(x, n); // sorts, which the quantiles need
        SL_CHECK(t, near(median, golden_one(&g, "median"), 1e-15), "case %d: %.17g", g.cases,
                 median);
        for (int i = 0; i < n_q; i++) {
            double got = sl_num_quantile(x, n, q[i]);
            SL_CHECK(t, got == want[i], "case %d: quantile %g is %.17g, should be %.17g", g.cases,
                     q[i], got, want[i]);
        }
    }
    golden_close(&g);
}

/* An offset of 1e9 would leave the textbook formula, mean of squares minus square of mean, without
 * a digit. */
static void an_offset_does_not_change_the_variance(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 50); k++) {
        double x[300], far[300];
        int n = 2 + (int)sl_rng_below(&t->rng, 299);
        for (int i = 0; i < n; i++) {
            x[i] = (double)(int)sl_rng_below(&t->rng, 2000) / 64; // so that the sum below is exact
            far[i] = x[i] + 1e9;
        }
        SL_CHECK(t, near(sl_num_variance(x, n), sl_num_variance(far, n), 1e-12),
                 "%d values: %.17g, %.17g", n, sl_num_variance(x, n), sl_num_variance(far, n));
        SL_CHECK(t, near(sl_num_mean(x, n) + 1e9, sl_num_mean(far, n), 2e-16), "%d values", n);
        for (int i = 0; i < n; i++) far[i] = 0.1;
        SL_CHECK(t, sl_num_mean(far, n) == 0.1 && sl_num_variance(far, n) == 0,
                 "%d times 0.1 have mean %.17g", n, sl_num_mean(far, n));
    }
}

static void equal_keys_are_sorted_by_place(void **state) {
    (void)state;
    static const double key[] = { 2, -1, 2, INFINITY, -1, 0 };
    static const int order[] = { 1, 4, 5, 0, 2, 3 };
    sl_keyed list[SL_LEN(key)];
    for (int i = 0; i < SL_LEN(key); i++) list[i] = (sl_keyed){ key[5 - i], 5 - i };
    sl_num_sort_keyed(list, SL_LEN(key));
    for (int i = 0; i < SL_LEN(key); i++) {
        assert_int_equal(list[i].at, order[i]);
        assert_true(list[i].key == key[order[i]]);
    }
}

static void quantiles_are_monotone_and_inside(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        double x[20], last = -INFINITY;
        int n = 1 + (int)sl_rng_below(&t->rng, 20);
        for (int i = 0; i < n; i++) x[i] = exp(20 * sl_rng_normal(&t->rng)) * (i % 3 - 1);
        sl_num_sort(x, n);
        for (int i = 1; i < n; i++) SL_CHECK(t, x[i - 1] <= x[i], "not sorted");
        for (int i = 0; i <= 200; i++) {
            double v = sl_num_quantile(x, n, i / 200.0);
            SL_CHECK(t, v >= last && v >= x[0] && v <= x[n - 1], "%.17g after %.17g", v, last);
            last = v;
        }
        SL_CHECK(t, sl_num_quantile(x, n, 0) == x[0] && last == x[n - 1], "ends");
    }
}

/* Negated values have negated quantiles, to the bit. */
static void quantiles_are_symmetric(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        double x[8], y[8];
        for (int i = 0; i < 8; i++) x[i] = sl_rng_normal(&t->rng), y[i] = -x[i];
        sl_num_sort(x, 8);
        sl_num_sort(y, 8);
        for (int i = 0; i <= 64; i++) {
            if (7 * i % 64 == 32) continue; // half way: nearer to neither
            double v = sl_num_quantile(x, 8, i / 64.0), w = sl_num_quantile(y, 8, 1 - i / 64.0);
            SL_CHECK(t, v == -w, "at %d/64: %.17g and %.17g", i, v, w);
        }
    }
}

static void nan_and_empty_samples_give_nan(void **state) {
    sl_fixture *t = *state;
    double x[6] = { 2, NAN, -INFINITY, 1, INFINITY, INFINITY };
    sl_num_sort(x, 6);
    SL_CHECK(t, x[0] == -INFINITY && x[1] == 1 && x[2] == 2 && isinf(x[4]) && isnan(x[5]), "order");
    SL_CHECK(t, isnan(sl_num_quantile(x, 6, 0.1)), "a NaN among the values");
    SL_CHECK(t, sl_num_quantile(x, 5, 0.25) == 1 && sl_num_quantile(x, 5, 0.5) == 2,
             "infinite ends");
    SL_CHECK(t, sl_num_quantile(x, 5, 1) == INFINITY && sl_num_quantile(x, 5, 0.9) == INFINITY,
             "infinite");
    SL_CHECK(t, isnan(sl_num_quantile(x, 0, 0.5)) && isnan(sl_num_median(x, 0)), "no values");
    SL_CHECK(t, isnan(sl_num_quantile(x, 5, 1.1)) && isnan(sl_num_quantile(x, 5, NAN)),
             "no such quantile");
    SL_CHECK(t,
             isnan(sl_num_mean(x, 0)) && isnan(sl_num_variance(x, 0)) &&
                 isnan(sl_num_variance(x + 1, 1)),
             "too few");
    SL_CHECK(t, sl_num_mean(x + 1, 1) == 1, "one value");
}

static void r2_agrees_with_exact_answers(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "r2")) {
        int n;
        const double *y = golden_get(&g, "y", &n), *f = golden_get(&g, "f", NULL);
        SL_CHECK(t, near(sl_num_r2(f, y, n), golden_one(&g, "r2"), 1e-14), "case %d: %.17g",
                 g.cases, sl_num_r2(f, y, n));
    }
    golden_close(&g);
}

static void r2_of_special_cases_is_as_documented(void **state) {
    sl_fixture *t = *state;
    const double y[4] = { 1, 2, 3, 4 }, flat[4] = { 0.1, 0.1, 0.1, 0.1 }, zero[4] = { 0 };
    SL_CHECK(t,
             sl_num_r2(y, y, 4) == 1 && sl_num_r2(flat, flat, 4) == 1 &&
                 sl_num_r2(zero, zero, 4) == 1,
             "equal everywhere");
    SL_CHECK(t, sl_num_r2(y, flat, 4) == 0, "constant y, other prediction: %g",
             sl_num_r2(y, flat, 4));
    const double tiny[4] = { 0, 0, 1e-200, 0 };
    SL_CHECK(t, sl_num_r2(tiny, zero, 4) == 0, "constant y, prediction off by 1e-200");
    SL_CHECK(t, isnan(sl_num_r2(y, y, 1)) && isnan(sl_num_r2(y, y, 0)), "fewer than two points");
    for (int k = 0; k < 3; k++) {
        double bad[4] = { 1, 2, 3, 4 };
        bad[3] = (double[]){ NAN, INFINITY, -INFINITY }[k];
        SL_CHECK(t, isnan(sl_num_r2(bad, y, 4)) && isnan(sl_num_r2(y, bad, 4)), "kind %d", k);
        SL_CHECK(t, isnan(sl_num_r2(bad, flat, 4)), "constant y, prediction of kind %d", k);
    }
    const double mean[4] = { 2.5, 2.5, 2.5, 2.5 }, worse[4] = { 4, 3, 2, 1 };
    SL_CHECK(t, sl_num_r2(mean, y, 4) == 0 && sl_num_r2(worse, y, 4) == -3, "%g %g",
             sl_num_r2(mean, y, 4), sl_num_r2(worse, y, 4));
    const double huge[4] = { 1e300, 2, 3, 4 };
    SL_CHECK(t, sl_num_r2(huge, y, 4) == -INFINITY, "%g", sl_num_r2(huge, y, 4));
}

/* Units of y and prediction together, or an offset, change nothing. */
static void r2_has_no_unit(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 200); k++) {
        double y[30], f[30], ys[30], fs[30];
        double unit = ldexp(1, (int)sl_rng_below(&t->rng, 1800) - 900);
        for (int i = 0; i < 30; i++) {
            y[i] = sl_rng_normal(&t->rng), ys[i] = y[i] * unit;
            f[i] = y[i] + sl_rng_normal(&t->rng), fs[i] = f[i] * unit;
        }
        double r2 = sl_num_r2(f, y, 30);
        SL_CHECK(t, r2 == sl_num_r2(fs, ys, 30), "unit %g: %.17g, not %.17g", unit,
                 sl_num_r2(fs, ys, 30), r2);
        SL_CHECK(t, r2 < 1, "%g", r2);
    }
}

static void wilson_agrees_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "wilson")) {
        int n;
        const double *row = golden_get(&g, "rows", &n);
        for (; n > 0; n -= 5, row += 5) {
            sl_interval i = sl_num_wilson(row[0], (int64_t)row[1], row[2]);
            SL_CHECK(t, fabs(i.lo - row[3]) < 1e-14 && fabs(i.hi - row[4]) < 1e-14,
                     "%g of %g: [%.17g, %.17g], should be [%.17g, %.17g]", row[0], row[1], i.lo,
                     i.hi, row[3], row[4]);
        }
    }
    golden_close(&g);
}

/* What the interval is: the probabilities p that a two-sided score test does not reject. At an end
 * the distance of hits/n from p is exactly z standard deviations under p. */
static void wilson_inverts_the_score_test(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 500); k++) {
        int64_t n = 1 + sl_rng_below(&t->rng, 2000);
        double hits = sl_rng_below(&t->rng, (uint32_t)n + 1); // a mean of three is not always whole
        if (k % 2 && hits < (double)n) hits += sl_rng_below(&t->rng, 3) / 3.0;
        double level = sl_rng_range(&t->rng, 0.05, 0.999),
               z = sl_num_normal_quantile(0.5 + level / 2);
        sl_interval i = sl_num_wilson(hits, n, level),
                    mirror = sl_num_wilson((double)n - hits, n, level);
        double f = hits / (double)n;
        SL_CHECK(t, 0 <= i.lo && i.lo <= f && f <= i.hi && i.hi <= 1, "[%g, %g] at %g", i.lo, i.hi,
                 f);
        SL_CHECK(t, fabs(i.lo + mirror.hi - 1) < 1e-14, "not symmetric");
        double lo = (f - i.lo) * (f - i.lo) * (double)n, hi = (f - i.hi) * (f - i.hi) * (double)n;
        SL_CHECK(t, hits == 0 || fabs(lo - z * z * i.lo * (1 - i.lo)) < 1e-10 * z * z, "low end");
        SL_CHECK(t, hits == (double)n || fabs(hi - z * z * i.hi * (1 - i.hi)) < 1e-10 * z * z,
                 "high end");
        SL_CHECK(t, hits > 0 || i.lo == 0, "0 of %lld: %g", (long long)n, i.lo);
        SL_CHECK(t, hits < (double)n || i.hi == 1, "all of %lld: %g", (long long)n, i.hi);
    }
    sl_interval none = sl_num_wilson(0, 0, 0.95);
    SL_CHECK(t, none.lo == 0 && none.hi == 1, "[%g, %g]", none.lo, none.hi);
}

static void bootstrap_summaries_count_only_values(void **state) {
    sl_fixture *t = *state;
    double half[6] = { NAN, 3, NAN, 1, 2, NAN }, few[5] = { NAN, 3, NAN, 1, NAN };
    sl_boot b = sl_num_boot_summary(half, 6, 0.5);
    SL_CHECK(t, b.valid == 3 && b.median == 2 && b.lo == 1.5 && b.hi == 2.5, "%d: %g %g %g",
             b.valid, b.lo, b.median, b.hi);
    b = sl_num_boot_summary(few, 5, 0.5);
    SL_CHECK(t, b.valid == 2 && isnan(b.lo) && isnan(b.median) && isnan(b.hi), "%d: %g", b.valid,
             b.lo);
    b = sl_num_boot_summary(few, 0, 0.5);
    SL_CHECK(t, b.valid == 0 && isnan(b.median), "nothing: %g", b.median);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(samples_agree_with_numpy),
        SL_TEST(an_offset_does_not_change_the_variance),
        SL_TEST(equal_keys_are_sorted_by_place),
        SL_TEST(quantiles_are_monotone_and_inside),
        SL_TEST(quantiles_are_symmetric),
        SL_TEST(nan_and_empty_samples_give_nan),
        SL_TEST(r2_agrees_with_exact_answers),
        SL_TEST(r2_of_special_cases_is_as_documented),
        SL_TEST(r2_has_no_unit),
        SL_TEST(wilson_agrees_with_scipy),
        SL_TEST(wilson_inverts_the_score_test),
        SL_TEST(bootstrap_summaries_count_only_values),
    };
    return sl_test_main("num.stat", tests, SL_LEN(tests));
}
