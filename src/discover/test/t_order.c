/* Which candidate comes first: the two rules differ in what counts as equal. */
#include <math.h>

#include "discover/discover_impl.h"
#include "fixture/fixture.h"

/* In the order they came. */
static const struct {
    double r2;
    int size;
    double log_prob;
} given[] = {
    { 0.5, 1, -1 },                   // 0
    { 1 - 2e-13, 3, -9 },             // 1  the simplest within 1e-12
    { 1 - 1e-13, 9, -5 },             // 2
    { NAN, 1, -1 },                   // 3
    { 1 - 1e-13, 9, -4 },             // 4  the same double as 2, more probable
    { 1 - 1e-13, 12, -3 },            // 5  and this one more so, if larger
    { 1 - 3e-12, 2, -2 },             // 6  further away
    { 0.5, 1, -0.5 },                 // 7
    { 0.5 + 0x1p-53, 30, -INFINITY }, // 8  the next double
    { 0.5, 1, -1 },                   // 9  as 0 in all
};

static void must_be(sl_fixture *t, int rank, const int64_t *want, int64_t n) {
    sl_discover__work work[SL_LEN(given)] = { 0 };
    int64_t place[SL_LEN(given)];
    for (int i = 0; i < SL_LEN(given); i++)
        work[i].c =
            (sl_candidate){ .state = isnan(given[i].r2) ? SL_CANDIDATE_UNREAL : SL_CANDIDATE_SCORED,
                            .r2 = given[i].r2,
                            .size = given[i].size,
                            .log_prob = given[i].log_prob };
    assert_int_equal(sl_discover__order(place, work, SL_LEN(given), rank), n);
    for (int64_t i = 0; i < n; i++)
        SL_CHECK(t, place[i] == want[i], "place %lld has candidate %lld, not %lld", (long long)i,
                 (long long)place[i], (long long)want[i]);
}

static void for_people_the_simpler_of_close_ones_comes_first(void **state) {
    static const int64_t want[] = { 1, 4, 2, 5, 6, 7, 0, 9, 8 };
    must_be(*state, SL_RANK_SIMPLE, want, SL_LEN(want));
}

static void for_the_metric_the_highest_r2_comes_first(void **state) {
    static const int64_t want[] = { 5, 4, 2, 1, 6, 8, 7, 0, 9 };
    must_be(*state, SL_RANK_R2, want, SL_LEN(want));
}

static void the_fewest_bits_come_first(void **state) {
    sl_fixture *t = *state;
    static const double bits[] = { 40, 30, 30, -5, 90 };
    static const int size[] = { 3, 9, 5, 20, 1 };
    static const int64_t want[] = { 3, 2, 1, 0, 4 };
    sl_discover__work work[SL_LEN(bits)] = { 0 };
    int64_t place[SL_LEN(bits)];
    for (int i = 0; i < SL_LEN(bits); i++) {
        work[i].c = (sl_candidate){ .bits = { .total = bits[i] }, .size = size[i] };
        place[i] = i;
    }
    sl_discover__order_bits(place, work, SL_LEN(bits));
    for (int i = 0; i < SL_LEN(bits); i++)
        SL_CHECK(t, place[i] == want[i], "place %d has candidate %lld", i, (long long)place[i]);
}

static void each_command_has_its_rule(void **state) {
    (void)state;
    const sl_discover_options people = sl_discover_defaults();
    const sl_discover_options paper = sl_discover_paper_defaults();
    assert_int_equal(people.rank, SL_RANK_BITS);
    assert_int_equal(paper.rank, SL_RANK_R2);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(for_people_the_simpler_of_close_ones_comes_first),
        SL_TEST(for_the_metric_the_highest_r2_comes_first),
        SL_TEST(the_fewest_bits_come_first),
        SL_TEST(each_command_has_its_rule),
    };
    return sl_test_main("discover.order", tests, SL_LEN(tests));
}
