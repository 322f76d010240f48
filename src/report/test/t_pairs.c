/* Pairs as text: plots of characters, statistics. What the command prints: api/test/t_pairs.c. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "report/report_impl.h"

static int count_of(const char *text, const char *word) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word)) n++;
    return n;
}

/* ---------------------------------------------------------------- plots --------------------- */

/* A pair of one variable with these values; y = f(x) is not asked for. */
static sl_pair made(sl_fixture *t, const double *x, const double *y, int n) {
    sl_pair p = { .data.rows = n, .data.inputs = 1, .column = { 1 }, .data.x = { x }, .data.y = y };
    p.expr = sl_expr_var(&t->arena, 1);
    assert_non_null(p.expr);
    return p;
}

static void a_plot_shows_where_points_are(void **state) {
    sl_fixture *t = *state;
    double x[13], y[13];
    for (int i = 0; i < 13; i++) x[i] = y[i] = i < 12 ? i - 2 : 5; // two points at 5
    x[12] = 5.0001;
    sl_pair p = made(t, x, y, 13);
    sl_str s = { 0 };
    SL_MUST(t, sl_report__pair_plot(&s, &t->arena, &p));
    assert_string_equal(sl_str_text(&s), "            9 |                             .\n"
                                         "              |                           .\n"
                                         "              |                        .\n"
                                         "              |                     .\n"
                                         "              |                   :\n"
                                         "              |                .\n"
                                         "            y |             .\n"
                                         "              |          .\n"
                                         "              |        .\n"
                                         "              |     .\n"
                                         "              |  .\n"
                                         "           -2 |.\n"
                                         "              +------------------------------\n"
                                         "               -2            x1             9\n");
    sl_str_clear(&s);
}

static void an_axis_that_is_not_plain_is_marked(void **state) {
    sl_fixture *t = *state;
    double x[50] = { 0 }, y[50] = { 0 };
    sl_str s = { 0 };
    sl_pair p = made(t, x, y, 50);

    // seven orders of magnitude, and of one sign
    for (int i = 0; i < 50; i++) {
        x[i] = i;
        y[i] = -pow(10, i / 7.0);
    }
    SL_MUST(t, sl_report__pair_plot(&s, &t->arena, &p));
    assert_non_null(strstr(sl_str_text(&s), "the y axis is logarithmic\n"));
    assert_null(strstr(sl_str_text(&s), "cut"));
    assert_int_equal(strncmp(sl_str_text(&s), "           -1 |:", 16), 0); // largest y, smallest x
    assert_non_null(strstr(sl_str_text(&s), "\n       -1e+07 |                           .::\n"));
    sl_str_truncate(&s, 0);

    // both signs, and two outliers
    for (int i = 0; i < 50; i++) y[i] = i - 25;
    y[10] = 1e6;
    y[20] = -1e9;
    SL_MUST(t, sl_report__pair_plot(&s, &t->arena, &p));
    assert_non_null(strstr(sl_str_text(&s), "cut: 2 of 50 points are beyond it, marked ^ or v\n"));
    assert_null(strstr(sl_str_text(&s), "logarithmic"));
    assert_int_equal(count_of(sl_str_text(&s), "^"), 2); // and once in the sentence
    assert_int_equal(strncmp(sl_str_text(&s), "           24 |      ^", 22), 0); // the largest left
    assert_non_null(strstr(sl_str_text(&s), "\n          -25 |::.         v\n"));
    sl_str_truncate(&s, 0);

    // so far out that no int counts the rows to them
    y[10] = 1e60;
    y[20] = -1e90;
    SL_MUST(t, sl_report__pair_plot(&s, &t->arena, &p));
    assert_int_equal(strncmp(sl_str_text(&s), "           24 |      ^", 22), 0);
    assert_non_null(strstr(sl_str_text(&s), "\n          -25 |::.         v\n"));
    sl_str_truncate(&s, 0);

    // nothing odd: nothing is said
    for (int i = 0; i < 50; i++) y[i] = sin(i);
    SL_MUST(t, sl_report__pair_plot(&s, &t->arena, &p));
    assert_null(strstr(sl_str_text(&s), "axis"));
    sl_str_clear(&s);
}

/* ---------------------------------------------------------------- statistics ---------------- */

static void false_claims_are_reported(void **state) {
    (void)state;
    sl_str s = { 0 };
    sl_pairs_stats good = { .pairs = 10, .trained = 5, .n_checks = 2 };
    const sl_entropy entropy = { 6.834, 13.541, 12.828, 0.0305, 20000 };
    good.check[0] = (sl_pairs_check){ "first", 0.2, 0.2, 0.5, "chi-square" };
    good.check[1] = (sl_pairs_check){ "second", 1, 1, NAN, NULL }; // no test
    assert_true(sl_pairs_stats_good(&good));
    sl_report_pairs_stats_table(&s, &good, &entropy);
    assert_non_null(strstr(sl_str_text(&s), "good: all 2 checks hold\n"));
    assert_null(strstr(sl_str_text(&s), "<- fails"));
    assert_non_null(strstr(sl_str_text(&s), " 12.83, standard error 0.03, by 20,000 pairs\n"));
    assert_non_null(
        strstr(sl_str_text(&s), " 13.54 before equal expressions merge; 6.83 without constants\n"));
    sl_str_truncate(&s, 0);

    sl_pairs_stats bad = good;
    bad.check[0].p = 0.9e-4;
    assert_false(sl_pairs_stats_good(&bad));
    sl_report_pairs_stats_table(&s, &bad, &entropy);
    assert_non_null(strstr(sl_str_text(&s), "NOT GOOD: 1 of 2 checks fail"));
    assert_int_equal(count_of(sl_str_text(&s), "<- fails\n"), 1);
    sl_str_truncate(&s, 0);
    sl_report_pairs_stats_json(&s, &bad, &entropy);
    assert_int_equal(count_of(sl_str_text(&s), "\"good\":false"), 2); // the check, and the whole
    assert_non_null(strstr(sl_str_text(&s), "\"p\":null"));
    sl_str_clear(&s);

    sl_pairs_stats shared = good;
    shared.shared = 1;
    assert_false(sl_pairs_stats_good(&shared));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_plot_shows_where_points_are),
        SL_TEST(an_axis_that_is_not_plain_is_marked),
        SL_TEST(false_claims_are_reported),
    };
    return sl_test_main("report.pairs", tests, SL_LEN(tests));
}
