#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "search/search_impl.h"

enum { ROWS = 60 };

static double rounded(double x, int decimals) {
    char text[64];
    sl_snprintf(text, sizeof text, "%.*f", decimals, x);
    return sl_strtod(text, NULL);
}

static double significant(double x, int digits) {
    char text[64];
    sl_snprintf(text, sizeof text, "%.*e", digits - 1, x);
    return sl_strtod(text, NULL);
}

static void digits_are_detected(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 200); i++) {
        double y[ROWS];
        int digits = 2 + (int)sl_rng_below(&t->rng, 5),
            rows = 10 + (int)sl_rng_below(&t->rng, ROWS - 9);
        // over some decades, so that both kinds look different
        for (int k = 0; k < rows; k++) y[k] = exp(sl_rng_range(&t->rng, 1, 8));
        for (int k = 0; k < rows; k++) y[k] = rounded(y[k], SL_MIN(digits, 4));
        sl_digits d = sl_search__digits(y, rows);
        SL_CHECK(t, d.kind == SL_DIGITS_DECIMALS && d.digits == SL_MIN(digits, 4),
                 "%d decimals: kind %d, %d digits", digits, d.kind, d.digits);
        for (int k = 0; k < rows; k++)
            y[k] = significant(exp(sl_rng_range(&t->rng, -6, 3)) * (k % 2 ? -1 : 1), digits);
        d = sl_search__digits(y, rows);
        SL_CHECK(t, d.kind == SL_DIGITS_SIGNIFICANT && d.digits == digits,
                 "%d digits: kind %d, %d digits", digits, d.kind, d.digits);
    }
}

/* Six decimals of numbers up to a thousand are nine digits. */
static void many_decimals_are_detected(void **state) {
    sl_fixture *t = *state;
    static const double period[] = { 0.240847,  0.615197,  1.000017,  1.880848,
                                     11.862607, 29.448006, 84.017526, 164.790305 };
    sl_digits d = sl_search__digits(period, SL_LEN(period));
    SL_CHECK(t, d.kind == SL_DIGITS_DECIMALS && d.digits == 6, "kind %d, %d digits", d.kind,
             d.digits);
}

static void full_and_single_precision_are_detected(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 100); i++) {
        double y[ROWS];
        for (int k = 0; k < ROWS; k++) y[k] = sl_rng_normal(&t->rng);
        SL_CHECK(t, sl_search__digits(y, ROWS).kind == SL_DIGITS_FULL, "doubles are not full");
        for (int k = 0; k < ROWS; k++) y[k] = (float)y[k];
        SL_CHECK(t, sl_search__digits(y, ROWS).kind == SL_DIGITS_SINGLE, "floats are not single");
        for (int k = 0; k < ROWS; k++) y[k] = (double)sl_rng_below(&t->rng, 1000);
        SL_CHECK(t, sl_search__digits(y, ROWS).kind == SL_DIGITS_FULL, "whole numbers are exact");
    }
    double edge[4] = { 0, 1e300, 5e-324, -1e-310 };
    SL_CHECK(t, sl_search__digits(edge, 4).kind == SL_DIGITS_FULL, "edges of doubles");
    SL_CHECK(t, sl_search__digits(edge, 0).kind == SL_DIGITS_FULL, "no rows");
}

static void the_last_unit_bounds_the_rounding(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        double x = exp(sl_rng_range(&t->rng, -8, 8));
        int n = 2 + (int)sl_rng_below(&t->rng, 5);
        double s = significant(x, n), d = rounded(x, n);
        double unit = sl_search__last_unit((sl_digits){ SL_DIGITS_SIGNIFICANT, n }, s);
        SL_CHECK(t, fabs(s - x) <= 0.5001 * unit && unit <= fabs(s) * pow(10, 1 - n) * 1.0001,
                 "%g to %d digits: unit %g", x, n, unit);
        unit = sl_search__last_unit((sl_digits){ SL_DIGITS_DECIMALS, n }, d);
        SL_CHECK(t, fabs(d - x) <= 0.5001 * unit && fabs(unit * pow(10, n) - 1) < 1e-9,
                 "%g to %d decimals: unit %g", x, n, unit);
        unit = sl_search__last_unit((sl_digits){ SL_DIGITS_SINGLE, 0 }, (float)x);
        const double gap = (double)nextafterf((float)x, INFINITY) - (double)(float)x;
        SL_CHECK(t, unit == gap && fabs((float)x - x) <= 0.5 * unit, "%g as float: unit %g", x,
                 unit);
    }
}

/* *kept := y = 3 x1 + slope x2, x1 a million times x2, as a search offers it. value: the
 * coefficients that it has found. */
static void offer_sum(sl_fixture *t, sl_search_formula *kept, double slope, const double *value) {
    static double x[2][ROWS], y[ROWS];
    const double *column[] = { x[0], x[1] };
    const char *text = "c1*x1 + c2*x2";
    const sl_node *e;
    bool good;
    for (int k = 0; k < ROWS; k++) {
        x[0][k] = sl_rng_range(&t->rng, 1e6, 2e6), x[1][k] = sl_rng_range(&t->rng, 1, 2);
        y[k] = 3 * x[0][k] + slope * x[1][k];
    }
    const sl_dataset rows = sl_data_view(column, 2, y, ROWS);
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search__job j = { .all = &rows, .o = &o, .precision = 0x1p-52 };
    atomic_store(&j.ended, SL_SEARCH__RUNNING);
    j.result = sl_calloc(1, sizeof *j.result);
    assert_non_null(j.result);
    SL_MUST(t, sl_search__prepare(&j));
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_MUST(t, sl_search__offer(&good, &j, e, value, 2, "sums", 0));
    assert_true(good && j.n_kept == 1);
    *kept = j.kept[0];
    kept->fit.expr = sl_expr_copy(&t->arena, kept->fit.expr);
    assert_non_null(kept->fit.expr);
    sl_free(j.kept);
    sl_arena_clear(&j.arena);
    sl_search_result_free(j.result);
}

/* Beside a term a million times as large a coefficient is known to fewer digits than a number must
 * agree in: it is that number if it leaves less, and stays as it is where it leaves more. */
static void coefficients_of_small_terms_become_exact(void **state) {
    sl_fixture *t = *state;
    sl_search_formula kept;
    for (int i = 0; i < sl_test_iters(t, 20); i++) {
        offer_sum(t, &kept, 1, (const double[]){ 3, 1 + 5e-9 });
        SL_CHECK(t, kept.exact && kept.fit.params == 0, "%d constants are left", kept.fit.params);
        offer_sum(t, &kept, 1 + 4e-7, (const double[]){ 3, 1 + 4e-7 });
        SL_CHECK(t, kept.exact && kept.fit.params == 1, "%d constants are left", kept.fit.params);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(digits_are_detected),
        SL_TEST(many_decimals_are_detected),
        SL_TEST(full_and_single_precision_are_detected),
        SL_TEST(the_last_unit_bounds_the_rounding),
        SL_TEST(coefficients_of_small_terms_become_exact),
    };
    return sl_test_main("search.precision", tests, SL_LEN(tests));
}
