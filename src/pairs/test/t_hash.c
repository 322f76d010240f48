/* Hashes: they notice what they cover, do not depend on threads, and are those stored. */
#include "pairs/test/naive.h"

static sl_pairs_options small(void) {
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 9;
    o.draws = 2;
    o.test_size = 30;
    return o;
}

/* Any bit of expression, tokens and data, and which base it is. */
static void a_pairs_hash_notices_every_bit(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0);
    const sl_pairs_options o = small();
    sl_pairs *p = pairs_of(t, u, &o);
    for (int i = 0; i < 20; i++) {
        sl_pair e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TRAIN, i));
        const uint64_t h = sl_pairs__hash_pair(&e);
        const struct {
            const void *at;
            size_t bytes;
        } part[] = { { e.expr, e.expr->len * sizeof *e.expr },
                     { e.tokens, (size_t)e.n_tokens },
                     { e.data.x[0], 9 * sizeof(double) },
                     { e.data.x[1], 9 * sizeof(double) },
                     { e.data.y, 9 * sizeof(double) } };
        for (int k = 0; k < SL_LEN(part); k++)
            for (size_t b = 0; b < part[k].bytes; b++) {
                if (k == 0 && b >= 4 && b < 8) continue; // the length of the whole
                uint8_t *byte = (uint8_t *)(uintptr_t)part[k].at + b;
                *byte ^= 1;
                SL_CHECK(t, sl_pairs__hash_pair(&e) != h, "part %d, byte %zu", k, b);
                *byte ^= 1;
            }
        e.base++;
        assert_true(sl_pairs__hash_pair(&e) != h);
    }
    sl_pairs_free(p);
    sl_universe_free(u);
}

static void text(sl_fixture *t, char out[33], const sl_universe *u, const sl_pairs_options *o,
                 sl_split split, int64_t count, int threads) {
    sl_pool *pool = NULL;
    sl_pairs *p = pairs_of(t, u, o);
    if (threads) SL_MUST(t, sl_par_pool_new(&pool, threads));
    SL_MUST(t, sl_pairs_hash(out, pool, p, split, count));
    sl_par_pool_free(pool);
    sl_pairs_free(p);
}

static void threads_do_not_matter(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0.2);
    const sl_pairs_options o = small();
    for (sl_split split = 0; split < SL_SPLIT_COUNT; split++) {
        char serial[33], got[33];
        text(t, serial, u, &o, split, 500, 0);
        assert_int_equal(strlen(serial), 32);
        for (int threads = 1; threads <= 3; threads++) {
            text(t, got, u, &o, split, 500, threads);
            SL_CHECK(t, strcmp(got, serial) == 0, "%d threads: %s, not %s", threads, got, serial);
        }
    }
    sl_universe_free(u);
}

/* Another split, seed or number of pairs is another hash; more than there are is all of them. */
static void different_pairs_have_different_hashes(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0.2);
    sl_pairs_options o = small();
    char h[9][33], all[33];
    text(t, h[0], u, &o, SL_SPLIT_TRAIN, 10, 1);
    text(t, h[1], u, &o, SL_SPLIT_VALID, 10, 1);
    text(t, h[2], u, &o, SL_SPLIT_TEST, 10, 1);
    text(t, h[3], u, &o, SL_SPLIT_WITHHELD, 10, 1);
    text(t, h[4], u, &o, SL_SPLIT_TRAIN, 11, 1);
    text(t, h[5], u, &o, SL_SPLIT_TEST, 30, 1);
    text(t, h[6], u, &o, SL_SPLIT_TEST, 0, 1);
    text(t, all, u, &o, SL_SPLIT_TEST, INT64_MAX, 1);
    assert_string_equal(h[5], all);
    o.seed = 1;
    text(t, h[7], u, &o, SL_SPLIT_TRAIN, 10, 1);
    o.seed = 0;
    o.noise = 1e-9;
    text(t, h[8], u, &o, SL_SPLIT_TRAIN, 10, 1);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < i; k++)
            SL_CHECK(t, strcmp(h[i], h[k]) != 0, "%d and %d: %s", i, k, h[i]);
    sl_universe_free(u);
}

/* Every byte of these pairs. Other digits here mean that data sets are others than they were: if
 * that is intended, put the new digits in, and say so where readers of old runs look. */
static void pairs_are_those_stored(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0);
    sl_pairs_options o = small();
    char h[33];
    o.points = 64;
    text(t, h, u, &o, SL_SPLIT_TRAIN, 300, 1);
    SL_CHECK(t, strcmp(h, "cf04a811424bdbcd9e6144e25e8e3101") == 0, "defaults: %s", h);
    sl_universe_free(u);

    u = small_universe(t, 2, 3, NULL, 0.1);
    o = small();
    o.seed = 7;
    o.shift = 3;
    o.stretch = 10;
    o.noise = 0.1;
    o.drop_column = 0.5;
    o.retry = SL_PAIRS_RETRY_WHOLE;
    o.counts = SL_PAIRS_COUNTS_PROPORTIONAL;
    o.shape = SL_PAIRS_SHAPE_DATASET;
    text(t, h, u, &o, SL_SPLIT_WITHHELD, 300, 1);
    SL_CHECK(t, strcmp(h, "e8d6adf568e820e4312f81bb72765cc5") == 0, "all knobs: %s", h);
    sl_universe_free(u);
}

static sl_status hash_three(const sl_pairs *p) {
    char h[33];
    return sl_pairs_hash(h, NULL, p, SL_SPLIT_TRAIN, 3);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 1, NULL, 0);
    const sl_pairs_options o = small();
    sl_pairs *p = pairs_of(t, u, &o);
    SL_EACH_ALLOCATION(t, hash_three(p));
    sl_pairs_free(p);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_pairs_hash_notices_every_bit),
        SL_TEST(threads_do_not_matter),
        SL_TEST(different_pairs_have_different_hashes),
        SL_TEST(pairs_are_those_stored),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("pairs.hash", tests, SL_LEN(tests));
}
