#include "golden.h"
#include "tight.h"

enum { ROWS = 40 };

/* Mean and median of the picked rows; a draw without row 0 has no third value. */
typedef struct sample {
    double x[ROWS];
    int calls, fail_at;
} sample;

static sl_status describe(double *value, const int *pick, int n, void *payload) {
    sample *s = payload;
    double x[ROWS];
    if (++s->calls == s->fail_at) return sl_fail(SL_EIO, "as asked");
    for (int j = 0; j < 3; j++) {
        if (!isnan(value[j])) return sl_fail(SL_EFORMAT, "value is not NaN at first");
    }
    for (int i = 0; i < ROWS; i++) x[i] = s->x[pick[i]];
    value[0] = sl_num_mean(x, n);
    value[1] = sl_num_median(x, n);
    for (int i = 0; i < n; i++) {
        if (pick[i] == 0) value[2] = 1;
    }
    return SL_OK;
}

static void random_sample(sample *s, sl_rng *rng) {
    *s = (sample){ 0 };
    for (int i = 0; i < ROWS; i++) s->x[i] = 5 + sl_rng_normal(rng);
}

/* sl_num_bootstrap equals picks and summaries called separately, draws in the opposite order. */
static void order_of_draws_does_not_matter(void **state) {
    sl_fixture *t = *state;
    sample s;
    random_sample(&s, &t->rng);
    const sl_boot_options opt = { .seed = 7, .stream = 3, .draws = 301, .level = 0.9 };
    sl_boot got[3];
    SL_MUST(t, sl_num_bootstrap(got, &t->arena, &opt, ROWS, 3, describe, &s));
    SL_CHECK(t, s.calls == 301, "%d calls", s.calls);

    double all[3][301], value[3];
    for (int i = 300; i >= 0; i--) {
        int pick[ROWS];
        sl_num_boot_pick(pick, ROWS, 7, 3, (uint64_t)i);
        for (int j = 0; j < 3; j++) value[j] = NAN;
        SL_MUST(t, describe(value, pick, ROWS, &s));
        for (int j = 0; j < 3; j++) all[j][i] = value[j];
    }
    for (int j = 0; j < 3; j++) {
        sl_boot want = sl_num_boot_summary(all[j], 301, 0.9);
        SL_CHECK(
            t, memcmp(&want.lo, &got[j].lo, 3 * sizeof(double)) == 0 && want.valid == got[j].valid,
            "value %d: [%.17g, %.17g], not [%.17g, %.17g]", j, got[j].lo, got[j].hi, want.lo,
            want.hi);
    }
    SL_CHECK(t, got[0].lo < got[0].median && got[0].median < got[0].hi, "order of the ends");
    SL_CHECK(t, got[2].valid > 150 && got[2].valid < 240 && got[2].hi == 1, "%d of 301 had row 0",
             got[2].valid);
}

/* Each row is picked once on average, draws differ, and so do seeds and streams. */
static void picks_are_uniform_and_distinct(void **state) {
    sl_fixture *t = *state;
    int count[ROWS] = { 0 }, pick[ROWS], other[ROWS];
    for (uint64_t draw = 0; draw < 500; draw++) {
        sl_num_boot_pick(pick, ROWS, t->seed, 1, draw);
        for (int i = 0; i < ROWS; i++) {
            SL_CHECK(t, pick[i] >= 0 && pick[i] < ROWS, "row %d", pick[i]);
            count[pick[i]]++;
        }
    }
    double chi2 = 0;
    for (int i = 0; i < ROWS; i++) chi2 += (count[i] - 500.0) * (count[i] - 500.0) / 500;
    SL_CHECK(t, sl_num_chi2_tail(chi2, ROWS - 1) > 1e-6, "chi-square %g", chi2);

    sl_num_boot_pick(pick, ROWS, t->seed, 1, 5);
    for (int k = 0; k < 4; k++) {
        sl_num_boot_pick(other, ROWS, t->seed + (k == 1), 1 + (k == 2), 5 + (k == 3));
        SL_CHECK(t, (memcmp(pick, other, sizeof pick) == 0) == (k == 0), "change %d", k);
    }
}

/* For the mean the interval is nearly the normal one, and its coverage is about its level. */
static void coverage_is_about_the_level(void **state) {
    sl_fixture *t = *state;
    int covered = 0, trials = 100;
    double width = 0;
    for (int k = 0; k < trials; k++) {
        sample s;
        sl_boot got[3];
        random_sample(&s, &t->rng);
        const sl_boot_options opt = {
            .seed = t->seed, .stream = (uint32_t)k, .draws = 300, .level = 0.9
        };
        SL_MUST(t, sl_num_bootstrap(got, &t->arena, &opt, ROWS, 3, describe, &s));
        covered += got[0].lo <= 5 && 5 <= got[0].hi;
        width += (got[0].hi - got[0].lo) / sqrt(sl_num_variance(s.x, ROWS) / ROWS) / trials;
    }
    SL_CHECK(t, covered >= 74 && covered <= 98, "%d of %d cover the truth at level 0.9", covered,
             trials);
    SL_CHECK(t, fabs(width - 2 * 1.645) < 0.2, "%g standard errors wide", width);
}

static void summaries_count_only_values(void **state) {
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

static void a_failing_statistic_is_passed_up(void **state) {
    sl_fixture *t = *state;
    sample s;
    sl_boot got[3];
    random_sample(&s, &t->rng);
    s.fail_at = 17;
    sl_status st = sl_num_bootstrap(got, &t->arena, NULL, ROWS, 3, describe, &s);
    SL_CHECK(t, st == SL_EIO && s.calls == 17, "%d after %d calls", st, s.calls);
    SL_CHECK(t, sl_arena_mark(&t->arena) == 0, "scratch is not rewound");
}

static sl_status boot_once(sl_fixture *t, sample *s) {
    sl_boot got[3];
    const sl_boot_options opt = { .draws = 200, .level = 0.9 };
    SL_TRY(sl_num_bootstrap(got, &t->arena, &opt, ROWS, 3, describe, s));
    SL_CHECK(t, sl_arena_mark(&t->arena) == 0, "scratch is not rewound");
    return SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sample s;
    random_sample(&s, &t->rng);
    EACH_LIMIT(t, boot_once(t, &s));
    SL_EACH_ALLOCATION(t, boot_once(t, &s));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(order_of_draws_does_not_matter),   SL_TEST(picks_are_uniform_and_distinct),
        SL_TEST(coverage_is_about_the_level),      SL_TEST(summaries_count_only_values),
        SL_TEST(a_failing_statistic_is_passed_up), SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("num.boot", tests, SL_LEN(tests));
}
