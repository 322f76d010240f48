/* All of depth 3 is there: random raw trees of that depth are found. Takes the time of a whole
 * enumeration, so it runs with `make check-long`. */
#include "universe/universe.h"

#include "fixture/fixture.h"
#include "universe/test/raw_tree.h"

static const char *show(sl_fixture *t, const sl_node *e) {
    static char text[900];
    sl_str s = { 0 };
    SL_MUST(t, sl_expr_print(&s, SL_FORMAT_INFIX, e, NULL));
    snprintf(text, sizeof text, "%s", sl_str_text(&s));
    sl_str_clear(&s);
    return text;
}

/* Do a and b agree where both are real? Asked where the universe asks too, 0.3 <= |x| <= 2.3:
 * beyond pi, |sin(x1)| is not sin(|x1|), which stands for both. */
static bool agree(sl_fixture *t, const sl_node *a, const sl_node *b) {
    for (int i = 0; i < 20; i++) {
        long double x[2], v, w, dv, dw;
        for (int k = 0; k < 2; k++) {
            x[k] = sl_rng_range(&t->rng, 0.3, 2.3);
            if (i >> k & 1) x[k] = -x[k];
        }
        sl_expr_eval_ref(&v, &dv, a, x, NULL, 0x1p-64L);
        sl_expr_eval_ref(&w, &dw, b, x, NULL, 0x1p-64L);
        if (isfinite(v) && isfinite(w) && fabsl(v - w) > 4 * (dv + dw)) return false;
    }
    return true;
}

/* Found, and what is found is that function. */
static void random_raw_trees_of_depth_three_are_in_it(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool;
    sl_universe *u;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.size = 0;
    SL_MUST(t, sl_par_pool_new(&pool, 0));
    SL_MUST(t, sl_universe_new(&u, pool, &o, NULL));
    sl_par_pool_free(pool);

    int n = sl_test_iters(t, 20000), high[4] = { 0 };
    for (int i = 0; i < n; i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = raw_tree(t, 3);
        int64_t at = sl_universe_find(u, e);
        SL_CHECK(t, at >= 0, "not found: %s", show(t, e));
        SL_CHECK(t, agree(t, e, sl_universe_get(u, at)), "found as another function: %s",
                 show(t, e));
        high[sl_universe_level(u, at)]++;
    }
    SL_CHECK(t, high[3] > n / 2, "only %d of %d need depth 3", high[3], n);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(random_raw_trees_of_depth_three_are_in_it) };
    return sl_test_main("universe.long_find3", tests, SL_LEN(tests));
}
