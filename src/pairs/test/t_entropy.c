/* The entropy is that of expressions as they are drawn: in sets so small that each expression comes
 * often, it is held against counts of them. */
#include "pairs/test/naive.h"

#include <stdlib.h>

static int cmp_hash(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* By how often each expression came among n pairs, with Miller's and Madow's correction: each kind
 * that is seen hides half a nat over n. */
static double counted(sl_fixture *t, const sl_pairs *p, int n) {
    uint64_t *hash = sl_malloc((size_t)n, sizeof *hash);
    assert_non_null(hash);
    for (int i = 0; i < n; i++) {
        sl_pair pair;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&pair, &t->arena, p, SL_SPLIT_TRAIN, i));
        hash[i] = sl_expr_hash(pair.expr);
    }
    qsort(hash, (size_t)n, sizeof *hash, cmp_hash);
    double h = 0;
    int kinds = 0;
    for (int i = 0, k; i < n; i = k, kinds++) {
        for (k = i; k < n && hash[k] == hash[i];) k++;
        h -= (double)(k - i) / n * log((double)(k - i) / n);
    }
    sl_free(hash);
    return h + (kinds - 1) / (2.0 * n);
}

static sl_entropy entropy(sl_fixture *t, const sl_pairs *p, int64_t n, int threads) {
    sl_pool *pool;
    sl_entropy e;
    SL_MUST(t, sl_par_pool_new(&pool, threads));
    SL_MUST(t, sl_pairs_entropy(&e, pool, p, n, NULL, NULL));
    sl_par_pool_free(pool);
    return e;
}

static void check(sl_fixture *t, const char *ops, const sl_pairs_options *o, int depth, int n) {
    sl_universe *u = small_universe(t, depth, 2, ops, 0);
    sl_pairs *p = pairs_of(t, u, o);
    const sl_entropy e = entropy(t, p, n, 2);
    const double h = counted(t, p, n);
    SL_CHECK(t, fabs(e.expressions - h) < 5 * e.error + 0.01,
             "%s, depth %d: the entropy is %.4f by counts, %.4f +- %.4f by chances", ops, depth, h,
             e.expressions, e.error);
    SL_CHECK(t, e.error >= 0 && e.error < 0.05, "error %g", e.error);
    SL_CHECK(t, fabs(e.bases - log((double)sl_universe_size(u))) < 1e-12, "bases %g", e.bases);
    SL_CHECK(t, e.draws >= e.bases && e.expressions < e.draws + 5 * e.error + 1e-12,
             "%g nats of expressions from %g nats of draws", e.expressions, e.draws);
    assert_int_equal(e.pairs, n);
    sl_pairs_free(p);
    sl_universe_free(u);
}

static void agrees_with_counts(void **state) {
    sl_fixture *t = *state;
    sl_pairs_options o = sl_pairs_defaults();
    const int n = sl_test_iters(t, 5000);
    o.points = 4;
    o.draws = 100000; // a small set has many pairs of each
    o.constant_max = 1;
    check(t, NULL, &o, 1, n);
    o.constant_max = 2;
    o.constant_chance = 0.3;
    check(t, "+,*,neg,sin", &o, 1, n);
    o.constant_chance = 0;
    check(t, NULL, &o, 1, n);
    o.constant_chance = 1;
    check(t, "+", &o, 1, n);
}

/* With one draw of points a root often fails, and more often with some constants than with others.
 */
static void failures_count(void **state) {
    sl_fixture *t = *state;
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 3;
    o.tries = 1;
    o.draws = 100000;
    o.constant_max = 2;
    o.constant_chance = 0.3;
    check(t, "sqrt", &o, 1, sl_test_iters(t, 10000));
}

/* Bases that share expressions: 2 x1 and x1 are both in the set. */
static void bases_with_the_same_expressions_count(void **state) {
    sl_fixture *t = *state;
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 4;
    o.draws = 100000;
    o.constant_chance = 0.15;
    check(t, "+,neg", &o, 1, sl_test_iters(t, 10000));
}

/* ln(bases), and for each of them two questions of c with 2N-1 and 2N answers. */
static void draws_are_exact(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 1, "exp", 0); // x1 with one place, exp(x1) with two
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 3;
    sl_pairs *p = pairs_of(t, u, &o);
    const sl_entropy e = entropy(t, p, 2, 1);
    const double yes = 0.2, no = 0.8;
    const double place = -2 * no * log(no) - yes * log(yes / 17) - yes * log(yes / 18);
    assert_int_equal(sl_universe_size(u), 2);
    SL_CHECK(t, fabs(e.draws - (log(2) + 1.5 * place)) < 1e-12, "%.15g", e.draws);
    sl_pairs_free(p);
    sl_universe_free(u);
}

static void threads_do_not_matter(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0.1);
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 8;
    sl_pairs *p = pairs_of(t, u, &o);
    const sl_entropy one = entropy(t, p, 1100, 1), three = entropy(t, p, 1100, 3);
    assert_memory_equal(&one, &three, sizeof one);
    sl_pairs_free(p);
    sl_universe_free(u);
}

static int stop(const char *what, double done, double total, void *payload) {
    (void)what;
    (void)total;
    *(int *)payload += 1;
    return done > 0;
}

static void can_be_stopped_and_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 1, 2, NULL, 0);
    sl_pairs_options o = sl_pairs_defaults();
    o.points = 4;
    sl_pairs *p = pairs_of(t, u, &o);
    sl_entropy e;
    int asked = 0;
    assert_int_equal(sl_pairs_entropy(&e, NULL, p, 100000, stop, &asked), SL_ECANCEL);
    assert_int_equal(asked, 2);
    assert_int_equal(sl_pairs_entropy(&e, NULL, p, 1, NULL, NULL), SL_EINVAL);
    SL_EACH_ALLOCATION(t, sl_pairs_entropy(&e, NULL, p, 3, NULL, NULL));
    sl_pairs_free(p);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(agrees_with_counts),
        SL_TEST(failures_count),
        SL_TEST(bases_with_the_same_expressions_count),
        SL_TEST(draws_are_exact),
        SL_TEST(threads_do_not_matter),
        SL_TEST(can_be_stopped_and_may_fail),
    };
    return sl_test_main("pairs.entropy", tests, SL_LEN(tests));
}
