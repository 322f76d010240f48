/* Options keep to their table, row by row; names are those of the tables. */
#include <stdlib.h>

#include "pairs/test/naive.h"

static sl_pairs_options with(const sl_option *row, double v) {
    sl_pairs_options o = sl_pairs_defaults();
    if (row->kind == SL_KIND_REAL)
        *(double *)((char *)&o + row->offset) = v; // NaN too
    else
        sl_option_set(&o, row, v);
    return o;
}

static double last_choice(const char *choices) {
    double n = 0;
    while ((choices = strchr(choices, '|'))) choices++, n++;
    return n;
}

static void each_option_keeps_to_its_bounds(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 0, 1, NULL, 0);
    const sl_pairs_options fine = sl_pairs_defaults();
    SL_MUST(t, sl_pairs_options_check(&fine));
    for (int k = 0; k < sl_pairs_table.n; k++) {
        const sl_option *r = &sl_pairs_table.row[k];
        const bool real = r->kind == SL_KIND_REAL;
        const double max = r->choices ? last_choice(r->choices) : r->max;
        const double good[] = { r->min, max };
        const double bad[] = { real ? nextafter(r->min, -INFINITY) : r->min - 1,
                               real ? nextafter(max, INFINITY) : max + 1, real ? NAN : -1000000,
                               real ? INFINITY : 2e9 };
        for (int j = 0; j < SL_LEN(good); j++) {
            sl_pairs_options o = with(r, good[j]);
            SL_MUST(t, sl_pairs_options_check(&o));
        }
        for (int j = 0; j < SL_LEN(bad); j++) {
            sl_pairs_options o = with(r, bad[j]);
            sl_pairs *p;
            SL_CHECK(t, sl_pairs_options_check(&o) == SL_EINVAL, "%s may be %g", r->name, bad[j]);
            SL_CHECK(t, strncmp(sl_last_error(), r->name, strlen(r->name)) == 0, "%s: %s", r->name,
                     sl_last_error());
            assert_int_equal(sl_pairs_new(&p, u, &o), SL_EINVAL);
        }
    }
    sl_universe_free(u);
}

/* The paper's parameters of data, as they were read. */
static void defaults_are_the_papers(void **state) {
    (void)state;
    const sl_pairs_options o = sl_pairs_defaults();
    assert_int_equal(o.points, 64);
    assert_int_equal(o.draws, 3600);
    assert_int_equal(o.constant_max, 9);
    assert_int_equal(o.clusters, 5);
    assert_int_equal(o.tries, 5);
    assert_int_equal(o.max_tokens, 256);
    assert_int_equal(o.test_size, 1000);
    assert_int_equal(o.shape, SL_PAIRS_SHAPE_CLUSTER);
    assert_int_equal(o.counts, SL_PAIRS_COUNTS_MULTINOMIAL);
    assert_int_equal(o.retry, SL_PAIRS_RETRY_POINTS);
    assert_int_equal(o.whiten, 1);
    assert_true(o.constant_chance == 0.2 && o.max_y == 1e100);
}

static void names_are_found_again(void **state) {
    (void)state;
    for (sl_split s = 0; s < SL_SPLIT_COUNT; s++)
        assert_int_equal(sl_pairs_split_find(sl_pairs_split_name(s)), s);
    assert_string_equal(sl_pairs_split_name(SL_SPLIT_WITHHELD), "withheld");
    assert_int_equal(sl_pairs_split_find("training"), SL_SPLIT_COUNT);
    assert_int_equal(sl_pairs_split_find(""), SL_SPLIT_COUNT);
    for (sl_pair_failure f = 0; f < SL_PAIR_FAILURE_COUNT; f++)
        for (sl_pair_failure g = 0; g < f; g++)
            assert_string_not_equal(sl_pairs_failure_name(f), sl_pairs_failure_name(g));
    assert_string_equal(sl_pairs_failure_name(SL_PAIR_NONE), "good");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(each_option_keeps_to_its_bounds),
        SL_TEST(defaults_are_the_papers),
        SL_TEST(names_are_found_again),
    };
    return sl_test_main("pairs.options", tests, SL_LEN(tests));
}
