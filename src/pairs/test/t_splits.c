/* Which pair an index is: a pass has every base as often as it should, splits keep apart, passes
 * are fresh, and what is no index is refused. */
#include "pairs/test/naive.h"

#include <stdlib.h>

static sl_pairs_options small(void) {
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 3;
    o.draws = 2;
    o.test_size = 50;
    return o;
}

/* The members that training sees, in order. */
static int64_t seen_by_training(int64_t *list, const sl_universe *u) {
    int64_t n = 0;
    for (int64_t i = 0; i < sl_universe_size(u); i++)
        if (!sl_universe_withheld(u, i)) list[n++] = i;
    return n;
}

static sl_pair get(sl_fixture *t, const sl_pairs *p, sl_split split, int64_t index) {
    sl_pair e;
    sl_arena_rewind(&t->arena, 0);
    SL_MUST(t, sl_pairs_get(&e, &t->arena, p, split, index));
    return e;
}

/* Three whole passes: each has every base it may have exactly `draws` times, in another order, and
 * an index leads to the base that the order says. */
static void a_pass_has_every_base_equally_often(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0.3);
    const sl_pairs_options o = small();
    sl_pairs *p = pairs_of(t, u, &o);
    int64_t list[1000], n = seen_by_training(list, u), size = sl_pairs_size(p, SL_SPLIT_TRAIN);
    assert_true(n < sl_universe_size(u) && size == n * o.draws);
    for (int64_t pass = 0; pass < 3; pass++) {
        int count[1000] = { 0 };
        int64_t same = 0;
        for (int64_t i = 0; i < size; i++) {
            sl_pair e = get(t, p, SL_SPLIT_TRAIN, pass * size + i);
            SL_CHECK(t, e.attempts <= SL_PAIRS__ATTEMPTS_PER_BASE, "pair %lld took another base",
                     (long long)i); // this configuration has none: else counts would differ
            count[e.base]++;
            int64_t place = sl_pairs_order(p, pass, i);
            assert_int_equal(sl_pairs_order_inverse(p, pass, place), i);
            assert_int_equal(sl_pairs_pass(p, SL_SPLIT_TRAIN, pass * size + i), pass);
            SL_CHECK(t, e.base == list[place / o.draws], "pair %lld is of base %lld, not %lld",
                     (long long)i, (long long)e.base, (long long)list[place / o.draws]);
            same += place == sl_pairs_order(p, pass + 1, i);
        }
        for (int64_t i = 0; i < sl_universe_size(u); i++)
            SL_CHECK(t, count[i] == (sl_universe_withheld(u, i) ? 0 : o.draws),
                     "pass %lld has base %lld %d times", (long long)pass, (long long)i, count[i]);
        SL_CHECK(t, same < 12, "%lld places are those of the next pass", (long long)same);
    }
    sl_pairs_free(p);
    sl_universe_free(u);
}

/* As long as there are enough: then all of them again, in another order. */
static void other_splits_have_distinct_bases(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0.4);
    sl_pairs_options o = small();
    o.test_size = 2000;
    sl_pairs *p = pairs_of(t, u, &o);
    int64_t first[SL_SPLIT_COUNT][40];
    for (sl_split split = SL_SPLIT_VALID; split < SL_SPLIT_COUNT; split++) {
        int count[1000] = { 0 }, list_size = 0;
        const bool unseen = split == SL_SPLIT_WITHHELD;
        for (int64_t i = 0; i < sl_universe_size(u); i++)
            list_size += sl_universe_withheld(u, i) == unseen;
        for (int64_t i = 0; i < 2 * list_size; i++) {
            sl_pair e = get(t, p, split, i);
            assert_true(e.attempts <= SL_PAIRS__ATTEMPTS_PER_BASE);
            assert_true(sl_universe_withheld(u, e.base) == unseen);
            if (i < 40) first[split][i] = e.base;
            SL_CHECK(t, ++count[e.base] == 1 + i / list_size, "%s/%lld repeats base %lld",
                     sl_pairs_split_name(split), (long long)i, (long long)e.base);
        }
        assert_int_equal(sl_pairs_pass(p, split, 2 * list_size), 0);
    }
    // valid and test are drawn from the same members, not in the same order
    assert_true(memcmp(first[SL_SPLIT_VALID], first[SL_SPLIT_TEST], sizeof first[0]) != 0);
    sl_pairs_free(p);
    sl_universe_free(u);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* No two of all pairs, in two passes and all splits, have a number in common: streams are counted
 * by what a pair is and never meet. The other seed's neither. */
static void no_draws_are_shared(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 8000 };
    static double x[MOST];
    sl_universe *u = small_universe(t, 2, 2, NULL, 0.5);
    sl_pairs_options o = small();
    int n = 0;
    for (int seed = 0; seed < 2; seed++) {
        o.seed = (uint64_t)seed;
        sl_pairs *p = pairs_of(t, u, &o);
        for (sl_split split = 0; split < SL_SPLIT_COUNT; split++) {
            int64_t size = sl_pairs_size(p, split) * (split == SL_SPLIT_TRAIN ? 2 : 1);
            for (int64_t i = 0; i < size; i++) {
                assert_true(n < MOST);
                x[n++] = get(t, p, split, i).data.x[0][0];
            }
        }
        sl_pairs_free(p);
    }
    assert_true(n > 4000);
    qsort(x, (size_t)n, sizeof *x, by_size);
    for (int i = 1; i < n; i++) SL_CHECK(t, x[i] != x[i - 1], "x1 is %.17g twice", x[i]);
    sl_universe_free(u);
}

/* The same base and draw in the next pass has constants and points of its own. */
static void the_next_pass_is_fresh(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0);
    sl_pairs_options o = small();
    o.constant_chance = 0.5;
    o.draws = 10;
    sl_pairs *p = pairs_of(t, u, &o);
    const int64_t size = sl_pairs_size(p, SL_SPLIT_TRAIN);
    int other = 0;
    for (int64_t place = 0; place < size; place++) {
        sl_pair a, b;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(
            t, sl_pairs_get(&a, &t->arena, p, SL_SPLIT_TRAIN, sl_pairs_order_inverse(p, 0, place)));
        SL_MUST(t, sl_pairs_get(&b, &t->arena, p, SL_SPLIT_TRAIN,
                                size + sl_pairs_order_inverse(p, 1, place)));
        assert_int_equal(a.base, b.base);
        assert_true(a.data.x[0][0] != b.data.x[0][0]);
        other += !same_bytes(a.expr, b.expr);
    }
    SL_CHECK(t, other > size / 2, "%d of %lld have other constants", other, (long long)size);
    sl_pairs_free(p);
    sl_universe_free(u);
}

static void must_refuse(sl_fixture *t, const sl_pairs *p, sl_split split, int64_t index,
                        const char *says) {
    sl_pair e;
    const size_t mark = sl_arena_mark(&t->arena);
    sl_status st = sl_pairs_get(&e, &t->arena, p, split, index);
    SL_CHECK(t, st == SL_EINVAL && strstr(sl_last_error(), says), "%s/%lld: %s: %s",
             sl_pairs_split_name(split), (long long)index, sl_status_text(st), sl_last_error());
    assert_true(sl_arena_mark(&t->arena) == mark);
}

static void what_is_no_index_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0), *kept = small_universe(t, 1, 2, NULL, 0.5);
    sl_pairs_options o = small();
    o.test_size = 1234;
    sl_pairs *p = pairs_of(t, u, &o), *q = pairs_of(t, kept, &o);
    for (sl_split split = 0; split < SL_SPLIT_COUNT; split++) {
        must_refuse(t, q, split, -1, "begin at 0");
        must_refuse(t, q, split, INT64_MIN, "begin at 0");
        if (split == SL_SPLIT_TRAIN) continue;
        must_refuse(t, q, split, 1234, "1,234 pairs, 0 to 1,233");
        must_refuse(t, q, split, INT64_MAX, sl_pairs_split_name(split));
        get(t, q, split, 1233);
        assert_int_equal(sl_pairs_size(q, split), 1234);
    }
    assert_int_equal(sl_pairs_size(p, SL_SPLIT_WITHHELD), 0);
    must_refuse(t, p, SL_SPLIT_WITHHELD, 0, "withheld");
    sl_pairs_free(p);
    sl_pairs_free(q);
    sl_universe_free(u);
    sl_universe_free(kept);
}

/* Training goes on as far as numbers do. */
static void training_never_ends(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0);
    const sl_pairs_options o = small();
    sl_pairs *p = pairs_of(t, u, &o);
    double last = 0;
    for (int64_t i = INT64_MAX; i > INT64_MAX - 100; i--) {
        sl_pair e = get(t, p, SL_SPLIT_TRAIN, i);
        assert_true(e.index == i && e.data.x[0][0] != last);
        assert_int_equal(sl_pairs_pass(p, SL_SPLIT_TRAIN, i), i / sl_pairs_size(p, SL_SPLIT_TRAIN));
        last = e.data.x[0][0];
    }
    sl_pairs_free(p);
    sl_universe_free(u);
}

static void nothing_to_train_on_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 1, NULL, 1);
    const sl_pairs_options o = small();
    sl_pairs *p;
    sl_status st = sl_pairs_new(&p, u, &o);
    SL_CHECK(t, st == SL_EINVAL && strstr(sl_last_error(), "withheld"), "%s: %s",
             sl_status_text(st), sl_last_error());
    sl_universe_free(u);
}

static void a_handle_returns_what_it_was_made_of(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 1, NULL, 0);
    const sl_pairs_options o = small();
    sl_pairs *p = pairs_of(t, u, &o);
    assert_ptr_equal(sl_pairs_universe(p), u);
    assert_int_equal(sl_pairs_config(p)->draws, o.draws);
    sl_pairs_free(p);
    sl_pairs_free(NULL);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_pass_has_every_base_equally_often),
        SL_TEST(other_splits_have_distinct_bases),
        SL_TEST(no_draws_are_shared),
        SL_TEST(the_next_pass_is_fresh),
        SL_TEST(what_is_no_index_is_reported),
        SL_TEST(training_never_ends),
        SL_TEST(nothing_to_train_on_is_reported),
        SL_TEST(a_handle_returns_what_it_was_made_of),
    };
    return sl_test_main("pairs.splits", tests, SL_LEN(tests));
}
