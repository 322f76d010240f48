/* Statistics of a handful of pairs: nothing can be proved by them, so nothing is found wrong. Over
 * many seeds, since by one seed a test that cries wolf may be silent; of thousands of p-values some
 * are small by right, but not this small. */
#include "pairs/test/naive.h"

static void a_handful_is_no_alarm(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0);
    sl_pool *pool;
    SL_MUST(t, sl_par_pool_new(&pool, 1));
    for (int seed = 0; seed < sl_test_iters(t, 400); seed++) {
        sl_pairs_options o = sl_pairs_defaults();
        o.seed = (uint64_t)seed;
        o.points = 4;
        o.test_size = 1;
        sl_pairs *p = pairs_of(t, u, &o);
        sl_pairs_stats s;
        const int n = 1 + seed % 12;
        SL_MUST(t, sl_pairs_measure(&s, pool, p, n, 0, NULL, NULL));
        for (int i = 0; i < s.n_checks; i++)
            SL_CHECK(t, s.check[i].p >= 1e-8, "%d pairs, seed %d: %s: p = %g", n, seed,
                     s.check[i].what, s.check[i].p);
        sl_pairs_free(p);
    }
    sl_par_pool_free(pool);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_handful_is_no_alarm),
    };
    return sl_test_main("pairs.stats_few", tests, SL_LEN(tests));
}
