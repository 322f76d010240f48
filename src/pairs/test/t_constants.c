/* Constants put into an expression, judged by the values of the expression they were put into.
 * Tests of distribution fail by chance for about one seed in 1,000. */
#include <stdlib.h>

#include "expr/expr_test.h"
#include "pairs/test/naive.h"

enum { VARS = 2, MAX_SITES = 4096 };

static sl_universe *depth_two; // made once, in main

static sl_pairs_options options(double chance, int max) {
    sl_pairs_options o = sl_pairs_defaults();
    o.constant_chance = chance;
    o.constant_max = max;
    return o;
}

/* A canonical expression: a member of the universe, or one with numbers and roots of its own. */
static const sl_node *random_base(sl_fixture *t) {
    if (sl_rng_below(&t->rng, 2))
        return sl_universe_get(depth_two,
                               sl_rng_below(&t->rng, (uint32_t)sl_universe_size(depth_two)));
    for (;;) {
        const sl_expr_random_options o = {
            1 + (int)sl_rng_below(&t->rng, 4), VARS, 5, 0.1, 0, false
        };
        const sl_node *e;
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        sl_status st = sl_expr_canon(&e, &t->arena, e);
        if (st == SL_EOVERFLOW || st == SL_ELIMIT) continue;
        SL_MUST(t, st);
        if (!sl_expr_is_undefined(e) && e->len < MAX_SITES) return e;
    }
}

static void without_chance_the_base_stays(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = options(0, 9);
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        sl_pair_site site[MAX_SITES];
        const sl_node *e;
        int n;
        sl_arena_rewind(&t->arena, 0);
        const sl_node *base = random_base(t);
        SL_MUST(t, sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o));
        SL_CHECK(t, same_bytes(e, base), "%s becomes %s", text_of(base), text_of(e));
        for (int k = 0; k < n; k++) assert_true(site[k].a == 1 && site[k].b == 0);
    }
}

/* Is e what the sites make of base? Asked at random points. Answers how many could be compared. */
static int is_base_with_sites(sl_fixture *t, const sl_node *e, const sl_node *base,
                              const sl_pair_site *site, int n) {
    int compared = 0;
    for (int k = 0; k < 6; k++) {
        long double x[VARS];
        for (int v = 0; v < VARS; v++) x[v] = sl_rng_range(&t->rng, k < 3 ? -3 : 0.1, 3);
        naive s = { .x = x, .site = site, .n = n };
        int agrees = naive_agrees(&s, base, e, x);
        SL_CHECK(t, !s.wrong && s.at == n, "%d sites do not fit %s", n, text_of(base));
        SL_CHECK(t, agrees >= 0, "%s is not, at %Lg %Lg, what is made of %s", text_of(e), x[0],
                 x[1], text_of(base));
        compared += agrees;
    }
    return compared;
}

static void values_are_those_of_the_base_with_its_sites(void **state) {
    sl_fixture *t = *state;
    const int n = sl_test_iters(t, 3000);
    int compared = 0, sites = 0, overflows = 0;
    for (int i = 0; i < n; i++) {
        const sl_pairs_options o = options(i % 3 ? 0.2 : 0.7, i % 4 ? 9 : i % 8 ? 1 : 1000);
        sl_pair_site site[MAX_SITES];
        const sl_node *e, *again;
        int n_sites;
        sl_arena_rewind(&t->arena, 0);
        const sl_node *base = random_base(t);
        sl_status st = sl_pairs__insert(&e, site, &n_sites, &t->arena, base, &t->rng, &o);
        if (st == SL_EOVERFLOW) {
            overflows++;
            continue;
        }
        SL_MUST(t, st);
        compared += is_base_with_sites(t, e, base, site, n_sites);
        sites += n_sites;

        SL_MUST(t, sl_expr_tidy(&again, &t->arena, e));
        SL_CHECK(t, same_bytes(again, e), "not tidy: %s", text_of(e));
        SL_MUST(t, sl_expr_merge(&again, &t->arena, e));
        SL_CHECK(t, same_bytes(again, e), "not merged: %s", text_of(e));

        // shape stays: sums and products come and go, powers and functions do not
        int before[SL_OP_COUNT], after[SL_OP_COUNT];
        count_nodes(before, base);
        count_nodes(after, e);
        for (sl_op op = 0; op < SL_OP_COUNT; op++)
            SL_CHECK(
                t, op == SL_OP_NUM || op == SL_OP_ADD || op == SL_OP_MUL || before[op] == after[op],
                "%s has other nodes than %s", text_of(e), text_of(base));
    }
    SL_CHECK(t, compared > n * 2, "only %d values of %d", compared, 6 * n);
    SL_CHECK(t, sites > n && overflows < n / 20, "%d sites, %d overflows", sites, overflows);
}

/* By hand: which occurrences are places. */
static void places_are_variables_functions_and_roots(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *base;
        int places;
    } cases[] = {
        { "x1", 1 },
        { "x1 + x1*x2", 3 },
        { "x1^2", 1 }, // a whole power is no operator
        { "x1^(-3)", 1 },
        { "sqrt(x1)", 2 },
        { "x1^(3/2)", 2 },
        { "x1^(-1/4)", 2 },
        { "1/sqrt(x1 + x2)", 3 },
        { "sqrt(2)*x1", 1 }, // a root of a number is a number
        { "exp(sin(x2))", 3 },
        { "-x1", 1 },
        { "5*x1 + 3", 1 },
        { "(x1 + x2)^2", 2 },
        { "exp(x1)^2 + sin(sqrt(x1))", 5 },
    };
    const sl_pairs_options o = options(1, 9);
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_pair_site site[MAX_SITES];
        const sl_node *e, *base = parsed(t, cases[i].base);
        int n;
        SL_MUST(t, sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o));
        SL_CHECK(t, n == cases[i].places, "%d places in %s", n, cases[i].base);
        for (int k = 0; k < n; k++)
            SL_CHECK(t, site[k].a != 1 && site[k].b != 0, "surely, but not at place %d of %s", k,
                     cases[i].base);
        is_base_with_sites(t, e, base, site, n);
    }
}

/* Numbers merge, also into a sum that they alone multiply; nothing is multiplied out. */
static void nothing_is_expanded(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = options(1, 9);
    const sl_node *base = parsed(t, "(x1 + x2)^2"), *e;
    for (int i = 0; i < 50; i++) {
        sl_pair_site site[2];
        char want[128];
        int n;
        SL_MUST(t, sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o));
        snprintf(want, sizeof want, "(%d*x1 + %d*x2 + %d)^2", site[0].a, site[1].a,
                 site[0].b + site[1].b);
        SL_CHECK(t, same_bytes(e, parsed(t, want)), "%s, not %s", text_of(e), want);
    }
    base = parsed(t, "3*exp(x1) + 5");
    for (int i = 0; i < 50; i++) {
        sl_pair_site site[2];
        char want[128];
        int n;
        SL_MUST(t, sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o));
        snprintf(want, sizeof want, "%d*exp(%d*x1 + %d) + %d", 3 * site[0].a, site[1].a, site[1].b,
                 3 * site[0].b + 5);
        SL_CHECK(t, same_bytes(e, parsed(t, want)), "%s, not %s", text_of(e), want);
    }
}

/* Whether and which, over many draws; each of the four cases of (factor, summand) in its share, at
 * a place and at its neighbour. */
static void draws_follow_their_law(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double chance;
        int max;
    } cases[] = { { 0.2, 9 }, { 0.5, 1 }, { 0.9, 2 }, { 0.3, 15 } };
    const sl_node *base = parsed(t, "x1*exp(x2)");
    for (int c = 0; c < SL_LEN(cases); c++) {
        const double p = cases[c].chance;
        const int max = cases[c].max, n = sl_test_iters(t, 20000);
        const sl_pairs_options o = options(p, max);
        int cell[16] = { 0 }, factor[64] = { 0 }, summand[64] = { 0 };
        for (int i = 0; i < n; i++) {
            sl_pair_site site[3];
            const sl_node *e;
            int n_sites, present = 0;
            const size_t mark = sl_arena_mark(&t->arena);
            SL_MUST(t, sl_pairs__insert(&e, site, &n_sites, &t->arena, base, &t->rng, &o));
            sl_arena_rewind(&t->arena, mark);
            assert_int_equal(n_sites, 3);
            for (int k = 0; k < 3; k++) {
                int a = site[k].a, b = site[k].b;
                SL_CHECK(t, a != 0 && a >= -max && a <= SL_MAX(max, 1), "factor %d of %d", a, max);
                SL_CHECK(t, b >= -max && b <= max, "summand %d of %d", b, max);
                if (a != 1) factor[a < 0 ? a + max : a + max - 2]++; // 0 and 1 cannot be
                if (b != 0) summand[b < 0 ? b + max : b + max - 1]++;
                if (k < 2) present = present * 4 + (a != 1) * 2 + (b != 0);
            }
            cell[present]++;
        }
        double share[16], q[] = { 1, 1, 1 };
        for (int k = 0; k < 16; k++) {
            share[k] = 1;
            for (int bit = 0; bit < 4; bit++) share[k] *= k >> bit & 1 ? p : 1 - p;
        }
        q[0] = p_shares(cell, share, 16);
        if (max > 1) q[1] = p_equal(factor, 2 * max - 1);
        q[2] = p_equal(summand, 2 * max);
        for (int k = 0; k < SL_LEN(q); k++)
            SL_CHECK(t, q[k] > 1e-4, "chance %g, up to %d, test %d: p = %g", p, max, k, q[k]);
        for (int k = 0; k < 2 * max - 1; k++) assert_true(factor[k] > 0);
    }
}

/* The largest that can be asked for: all in bounds, both ends reached. */
static void large_constants_reach_both_ends(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = options(1, 1000);
    const sl_node *base = parsed(t, "x1*x2*exp(x1)*sin(x2)*sqrt(x1)");
    int lo[2] = { 0, 0 }, hi[2] = { 0, 0 };
    const size_t mark = sl_arena_mark(&t->arena);
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        sl_pair_site site[8];
        const sl_node *e;
        int n;
        sl_arena_rewind(&t->arena, mark);
        SL_MUST(t, sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o));
        assert_int_equal(n, 8);
        for (int k = 0; k < n; k++) {
            assert_true(site[k].a != 0 && site[k].a != 1 && site[k].b != 0);
            lo[0] = SL_MIN(lo[0], site[k].a), hi[0] = SL_MAX(hi[0], site[k].a);
            lo[1] = SL_MIN(lo[1], site[k].b), hi[1] = SL_MAX(hi[1], site[k].b);
        }
    }
    for (int k = 0; k < 2; k++)
        SL_CHECK(t, lo[k] == -1000 && hi[k] == 1000, "%d: %d to %d", k, lo[k], hi[k]);
}

/* Merged numbers that pass 64 bits are a status, not a wrong number. */
static void overflow_is_noticed(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = options(0.5, 9);
    const sl_node *base = parsed(t, "4000000000000000000*x1"), *e;
    int overflows = 0, n;
    for (int i = 0; i < 200; i++) {
        sl_pair_site site[1];
        sl_status st = sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o);
        bool fits = abs(site[0].a) <= 2 && abs(site[0].b) <= 2; // 4e18 enters the sum
        SL_CHECK(t, st == (fits ? SL_OK : SL_EOVERFLOW), "%d x1 + %d: %s", site[0].a, site[0].b,
                 sl_status_text(st));
        assert_int_equal(n, 1); // sites are known even so: statistics want them
        overflows += !fits;
    }
    assert_in_range(overflows, 10, 190);
}

static sl_status insert(sl_fixture *t, const sl_node *base, const sl_pairs_options *o) {
    sl_pair_site site[MAX_SITES];
    const sl_node *e;
    int n;
    sl_rng same = t->rng; // every run draws the same numbers
    return sl_pairs__insert(&e, site, &n, &t->arena, base, &same, o);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = options(0.5, 9);
    const sl_node *base = parsed(t, "exp(x1*x2) + sqrt(x1 + x2)/x2");
    SL_EACH_ALLOCATION(t, insert(t, base, &o));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(without_chance_the_base_stays),
        SL_TEST(values_are_those_of_the_base_with_its_sites),
        SL_TEST(places_are_variables_functions_and_roots),
        SL_TEST(nothing_is_expanded),
        SL_TEST(draws_follow_their_law),
        SL_TEST(large_constants_reach_both_ends),
        SL_TEST(overflow_is_noticed),
        SL_TEST(each_allocation_may_fail),
    };
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = 2;
    o.size = 0;
    if (sl_universe_new(&depth_two, NULL, &o, NULL) != SL_OK) return 1;
    int failed = sl_test_main("pairs.constants", tests, SL_LEN(tests));
    sl_universe_free(depth_two);
    return failed;
}
