/* The order of training: a permutation of whatever size, its own inverse known, and one that looks
 * like any other. Tests of randomness fail by chance for about one seed in 1,000. */
#include <math.h>

#include "fixture/fixture.h"
#include "num/num.h"
#include "pairs/pairs_impl.h"

#define FULL INT64_C(360000000) // pairs of the default configuration

/* Whatever key: the promises hold for all of them. */
static sl_pairs__key random_key(sl_fixture *t) {
    return (sl_pairs__key){ sl_rng_u64(&t->rng), (sl_split)sl_rng_below(&t->rng, SL_SPLIT_COUNT),
                            sl_rng_below(&t->rng, 3) };
}

/* Every number below n is met once, and from each the way back leads where it came from. */
static void is_bijection(sl_fixture *t, int64_t n, sl_pairs__key key) {
    bool *met = sl_calloc((size_t)n, sizeof *met);
    assert_non_null(met);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = sl_pairs__permute(n, key, i);
        if (at < 0 || at >= n || met[at] || sl_pairs__permute_inverse(n, key, at) != i) {
            sl_free(met);
            SL_CHECK(t, false, "%lld of %lld becomes %lld", (long long)i, (long long)n,
                     (long long)at);
        }
        met[at] = true;
    }
    sl_free(met);
}

static void every_size_has_a_permutation(void **state) {
    sl_fixture *t = *state;
    static const int64_t sizes[] = { 929 * 7,       10007,         1 << 14,
                                     (1 << 14) + 1, 129 * 129 - 1, 129 * 128 };
    for (int64_t n = 1; n <= 300; n++) is_bijection(t, n, random_key(t));
    for (int k = 0; k < SL_LEN(sizes); k++) is_bijection(t, sizes[k], random_key(t));
    for (int k = 0; k < sl_test_iters(t, 20); k++)
        is_bijection(t, 1 + sl_rng_below(&t->rng, 3000), random_key(t));
}

/* A function with an inverse on both sides is a bijection: so much can be seen of large ones. */
static void large_ones_go_back_and_forth(void **state) {
    sl_fixture *t = *state;
    static const int64_t sizes[] = {
        FULL, FULL, FULL, FULL - 1, INT64_C(1) << 31, INT64_C(2147483647) * 1000000000
    }; // the largest there can be
    for (int i = 0; i < sl_test_iters(t, 100000); i++) {
        const int64_t n = sizes[i % SL_LEN(sizes)];
        const sl_pairs__key key = { t->seed, SL_SPLIT_TRAIN, i % 4 };
        int64_t at = (int64_t)(sl_rng_u64(&t->rng) % (uint64_t)n);
        int64_t to = sl_pairs__permute(n, key, at), from = sl_pairs__permute_inverse(n, key, at);
        SL_CHECK(t, to >= 0 && to < n && sl_pairs__permute_inverse(n, key, to) == at,
                 "%lld of %lld there and back", (long long)at, (long long)n);
        SL_CHECK(t, from >= 0 && from < n && sl_pairs__permute(n, key, from) == at,
                 "%lld of %lld back and there", (long long)at, (long long)n);
    }
}

/* p of "these counts are equal shares". */
static double p_equal(const int *count, int cells) {
    double n = 0, chi2 = 0;
    for (int i = 0; i < cells; i++) n += count[i];
    for (int i = 0; i < cells; i++)
        chi2 += (count[i] - n / cells) * (count[i] - n / cells) / (n / cells);
    return sl_num_chi2_tail(chi2, cells - 1);
}

/* Orders of different keys have nothing to do with each other: their difference at a place is any
 * number alike, so neither is a shift of the other. */
static void keys_give_unrelated_orders(void **state) {
    sl_fixture *t = *state;
    enum { N = 929 * 7, CELLS = 32 };
    const sl_pairs__key keys[] = {
        { t->seed, SL_SPLIT_TRAIN, 0 },     { t->seed, SL_SPLIT_TRAIN, 1 },
        { t->seed, SL_SPLIT_TRAIN, 2 },     { t->seed, SL_SPLIT_TRAIN, 1000000 },
        { t->seed, SL_SPLIT_VALID, 0 },     { t->seed, SL_SPLIT_TEST, 0 },
        { t->seed, SL_SPLIT_TEST, 1 },      { t->seed, SL_SPLIT_WITHHELD, 0 },
        { t->seed + 1, SL_SPLIT_TRAIN, 0 }, { t->seed ^ UINT64_C(1) << 63, SL_SPLIT_TRAIN, 0 },
    };
    for (int a = 0; a < SL_LEN(keys); a++) {
        for (int b = 0; b < a; b++) {
            int count[CELLS] = { 0 }, same = 0;
            for (int64_t i = 0; i < N; i++) {
                int64_t off = sl_pairs__permute(N, keys[a], i) - sl_pairs__permute(N, keys[b], i);
                same += off == 0;
                count[(off + N) % N * CELLS / N]++;
            }
            // two random orders agree at about one place; at 12 once in 1e9 times
            SL_CHECK(t, same < 12, "keys %d and %d agree at %d places", a, b, same);
            double p = p_equal(count, CELLS);
            SL_CHECK(t, p > 1e-6, "keys %d and %d: p = %g", a, b, p);
        }
    }
}

/* Neighbours, and what stands a row of the grid apart, must not be related in any digit: neither
 * in the value itself nor modulo the width of the grid, which is where the lower half lives. */
static void the_order_looks_random(void **state) {
    sl_fixture *t = *state;
    enum { CELLS = 64 };
    const int64_t width = (int64_t)ceil(sqrt((double)FULL)), lags[] = { 1, 2, width, 7 * width };
    const int n = sl_test_iters(t, 20000);
    const sl_pairs__key key = random_key(t);
    const int64_t begin = sl_rng_below(&t->rng, (uint32_t)(FULL - 8 * width - n));
    for (int k = 0; k < SL_LEN(lags); k++) {
        int value[CELLS] = { 0 }, high[CELLS] = { 0 }, low[CELLS] = { 0 }, pair[CELLS] = { 0 };
        double product = 0;
        for (int64_t i = begin; i < begin + n; i++) {
            int64_t a = sl_pairs__permute(FULL, key, i);
            int64_t b = sl_pairs__permute(FULL, key, i + lags[k]);
            double u = (double)a / (double)FULL, v = (double)b / (double)FULL;
            product += (u - 0.5) * (v - 0.5);
            value[(int)(u * CELLS)]++;
            high[(b - a + FULL) % FULL * CELLS / FULL]++;
            low[(b % width - a % width + width) % width * CELLS / width]++;
            pair[(int)(u * 8) * 8 + (int)(v * 8)]++;
        }
        double p[] = { p_equal(value, CELLS), p_equal(high, CELLS), p_equal(low, CELLS),
                       p_equal(pair, CELLS),
                       // a product of two has variance 1/144
                       2 * sl_num_normal_cdf(-fabs(product) / sqrt(n / 144.0)) };
        for (int j = 0; j < SL_LEN(p); j++)
            SL_CHECK(t, p[j] > 1e-4, "lag %lld, test %d: p = %g", (long long)lags[k], j, p[j]);
    }
}

/* In a small set each number goes everywhere equally often, over all seeds. */
static void small_orders_are_fair(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 12 };
    const int n = sl_test_iters(t, 20000);
    for (int64_t size = 2; size <= MOST; size += 5) {
        for (int64_t i = 0; i < size; i++) {
            int count[MOST] = { 0 };
            for (int k = 0; k < n; k++) count[sl_pairs__permute(size, random_key(t), i)]++;
            double p = p_equal(count, (int)size);
            SL_CHECK(t, p > 1e-5, "%lld of %lld: p = %g", (long long)i, (long long)size, p);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(every_size_has_a_permutation), SL_TEST(large_ones_go_back_and_forth),
        SL_TEST(keys_give_unrelated_orders),   SL_TEST(the_order_looks_random),
        SL_TEST(small_orders_are_fair),
    };
    return sl_test_main("pairs.order", tests, SL_LEN(tests));
}
