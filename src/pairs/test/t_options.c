/* Options keep to their table, row by row; names are those of the tables. */
#include <stdlib.h>

#include "pairs/test/naive.h"

/* One row for the test: how to set the field, and its bounds. */
typedef struct row {
    const char *option, *choices;
    double min, max;
    bool real;
} row;

#define IS_REAL_INT    false
#define IS_REAL_REAL   true
#define IS_REAL_CHOICE false

static const row rows[] = {
#define X(field, option, kind, value, text, choices, min, max, shown, help) \
    { option, choices, min, max, IS_REAL_##kind },
    SL_PAIRS_TABLE(X)
#undef X
};

#define SET_INT(v)    (int64_t)(v)
#define SET_REAL(v)   (v)
#define SET_CHOICE(v) (int)(v)

static sl_pairs_options with(int k, double v) {
    sl_pairs_options o = SL_PAIRS_OPTIONS_INIT;
    int i = 0;
#define X(field, option, kind, ...) \
    if (i++ == k) o.field = SET_##kind(v);
    SL_PAIRS_TABLE(X)
#undef X
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
    const sl_pairs_options fine = SL_PAIRS_OPTIONS_INIT;
    SL_MUST(t, sl_pairs_options_check(&fine));
    for (int k = 0; k < SL_LEN(rows); k++) {
        const row *r = &rows[k];
        const double max = r->choices ? last_choice(r->choices) : r->max;
        const double good[] = { r->min, max };
        const double bad[] = { r->real ? nextafter(r->min, -INFINITY) : r->min - 1,
                               r->real ? nextafter(max, INFINITY) : max + 1,
                               r->real ? NAN : -1000000, r->real ? INFINITY : 2e9 };
        for (int j = 0; j < SL_LEN(good); j++) {
            sl_pairs_options o = with(k, good[j]);
            SL_MUST(t, sl_pairs_options_check(&o));
        }
        for (int j = 0; j < SL_LEN(bad); j++) {
            sl_pairs_options o = with(k, bad[j]);
            sl_pairs *p;
            SL_CHECK(t, sl_pairs_options_check(&o) == SL_EINVAL, "%s may be %g", r->option, bad[j]);
            SL_CHECK(t, strncmp(sl_last_error(), r->option, strlen(r->option)) == 0, "%s: %s",
                     r->option, sl_last_error());
            assert_int_equal(sl_pairs_new(&p, u, &o), SL_EINVAL);
        }
    }
    sl_universe_free(u);
}

/* The paper's parameters of data, as they were read. */
static void defaults_are_the_papers(void **state) {
    (void)state;
    const sl_pairs_options o = SL_PAIRS_OPTIONS_INIT;
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
    assert_true(o.constant_chance == 0.2 && o.limit == 1e100);
}

/* The default is written as a number and as text. */
static void texts_of_defaults_are_the_defaults(void **state) {
    sl_fixture *t = *state;
#define X(field, option, kind, value, text, choices, min, max, shown, help)               \
    {                                                                                     \
        const char *all = choices, *at = all ? strstr(all, text) : NULL;                  \
        double want = (double)(value), got = 0;                                           \
        for (const char *c = all; at && c < at; c++) got += *c == '|';                    \
        if (!all) got = strtod(text, NULL);                                               \
        SL_CHECK(t, (!all || at) && got == want, "%s is %s, not %g", option, text, want); \
    }
    SL_PAIRS_TABLE(X)
#undef X
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
        SL_TEST(texts_of_defaults_are_the_defaults),
        SL_TEST(names_are_found_again),
    };
    return sl_test_main("pairs.options", tests, SL_LEN(tests));
}
