/* The chance of an expression is the sum over all constants that give it: held against trying them
 * all. Bases are chosen so that each rule by which numbers merge has one. */
#include "pairs/test/naive.h"

#include <stdlib.h>

static sl_pairs_options constants(int max, double chance) {
    sl_pairs_options o = sl_pairs_defaults();
    o.constant_max = max;
    o.constant_chance = chance;
    return o;
}

/* ---------------------------------------------------------------- all draws ----------------- */

/* What one way to choose constants gives. */
typedef struct way {
    const sl_node *e;
    double chance;
} way;

static int cmp_way(const void *a, const void *b) {
    return sl_expr_cmp(((const way *)a)->e, ((const way *)b)->e);
}

/* The next choice of constants; false after the last. */
static bool next_choice(sl_pair_site *site, int n, int max) {
    for (int i = 0; i < n; i++) {
        if (++site[i].a == 0) site[i].a++;
        if (site[i].a <= max) return true;
        site[i].a = -max;
        if (++site[i].b <= max) return true;
        site[i].b = -max;
    }
    return false;
}

/* Of constants by their law, said once more. */
static double naive_chance(const sl_pair_site *site, int n, const sl_pairs_options *o) {
    const double p = o->constant_chance, max = (double)o->constant_max;
    double chance = 1;
    for (int i = 0; i < n; i++)
        chance *=
            (site[i].a == 1 ? 1 - p : p / (2 * max - 1)) * (site[i].b == 0 ? 1 - p : p / (2 * max));
    return chance;
}

/* Every expression that base can become, once, with its chance; returns how many. In t->arena. */
static int all_ways(sl_fixture *t, way **out, const sl_node *base, const sl_pairs_options *o) {
    sl_pair_site site[8];
    const int max = (int)o->constant_max;
    int n = 0, count = 1, filled = 0;
    for (uint32_t i = 0; i < base->len; i += sl_expr_step(&base[i])) {
        if (!naive_is_place(&base[i])) continue;
        SL_CHECK(t, n < SL_LEN(site), "too many places: %s", text_of(base));
        site[n++] = (sl_pair_site){ .a = -max, .b = -max };
        count *= 2 * max * (2 * max + 1);
    }
    way *w = sl_arena_alloc(&t->arena, (size_t)count * sizeof *w);
    assert_non_null(w);
    do {
        SL_MUST(t, sl_pairs__place(&w[filled].e, &t->arena, base, site));
        w[filled++].chance = naive_chance(site, n, o);
        SL_CHECK(t, fabs(sl_pairs__draw_chance(site, n, o) / w[filled - 1].chance - 1) < 1e-13,
                 "the chance of constants");
    } while (next_choice(site, n, max));
    assert_int_equal(filled, count);
    qsort(w, (size_t)count, sizeof *w, cmp_way);
    int kinds = 0;
    for (int i = 0; i < count; i++) {
        if (kinds > 0 && same_bytes(w[kinds - 1].e, w[i].e))
            w[kinds - 1].chance += w[i].chance;
        else
            w[kinds++] = w[i];
    }
    *out = w;
    return kinds;
}

static void check_base(sl_fixture *t, const sl_node *base, const sl_pairs_options *o) {
    way *w;
    const int kinds = all_ways(t, &w, base, o);
    for (int i = 0; i < kinds; i += 1 + kinds / 200) {
        double chance;
        SL_MUST(t, sl_pairs__chance(&chance, &t->arena, base, w[i].e, o));
        SL_CHECK(t, fabs(chance - w[i].chance) <= 1e-12 * w[i].chance,
                 "%s becomes %s with chance %.17g, not %.17g", text_of(base), text_of(w[i].e),
                 w[i].chance, chance);
        SL_CHECK(t, sl_pairs__skeleton_hash(base) == sl_pairs__skeleton_hash(w[i].e),
                 "%s is no skeleton_hash of %s", text_of(w[i].e), text_of(base));
    }
}

static void chances_are_sums_over_all_draws(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *base;
        int max;
    } cases[] = {
        { "x1", 9 },
        { "-3*x1", 9 },
        { "x1/2", 9 },
        { "x1 + 1", 5 },
        { "x1 + x2", 4 },
        { "2*x1 - x2/3", 4 },
        { "x1*x2", 4 },
        { "3*x1*x2", 4 },
        { "x1/x2", 4 },
        { "x1^2", 9 },
        { "x1^2*x2", 4 },
        { "x1^(-3)", 9 },
        { "exp(x1)", 4 },
        { "exp(x1/2)", 4 },
        { "x1*exp(x1)", 2 },
        { "sin(x1)", 4 },
        { "2*sin(3*x1)", 4 },
        { "sin(x1 + x2)", 2 },
        { "sin(x1 - x2)", 2 },
        { "sin(x1*x2)", 2 },
        { "sin(x1 + 2)", 4 },
        { "sin(x1)^2", 4 },
        { "sin(sin(x1))", 2 },
        { "sin(x1) + sin(2*x1)", 1 },
        { "sin(x1^2 + x1)", 2 },
        { "sqrt(x1)", 9 },
        { "sqrt(2)*sqrt(x1)", 4 },
        { "sqrt(3*x1)", 3 },
        { "x1*sqrt(x1)", 2 },
        { "sqrt(x1)*sqrt(x2)", 1 },
        { "sqrt(x1^2)", 4 },
        { "sqrt(x1*x2)", 2 },
        { "sqrt(x1 + x2)", 2 },
        { "sqrt(sin(x1))", 2 },
        { "x1^(3/2)", 4 },
        { "x1^(-1/2)", 4 },
        { "(8*x1)^(1/4)", 2 },
        { "1/(x1 + x2)", 4 },
        { "x1/(x1 + x2)", 2 },
        { "1/(2*x1 + x1*x2)", 2 },
        { "x1^2 + 2*x1*x2", 2 },
        { "(x1 + 1)*(x1 + 2)", 3 },
        { "exp(x1)*exp(-x1)", 1 },
        { "(x1 + 1)^2 + (x1 + 2)^2", 3 },
        { "sin((x1 + 1)^2 - (x1 + 2)^2)", 2 },
        { "x1 + x1*x2 + x2^2", 1 },
        { "(x1 + x2)*(x1 + 2*x2)", 1 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_pairs_options o = constants(cases[i].max, 0.2);
        check_base(t, parsed(t, cases[i].base), &o);
    }
}

/* Random members of larger sets, those with few enough places. */
static void members_too(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 2, NULL, 0);
    for (int i = 0; i < sl_test_iters(t, 30); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *base =
            sl_universe_get(u, sl_rng_below(&t->rng, (uint32_t)sl_universe_size(u)));
        int places = 0;
        for (uint32_t k = 0; k < base->len; k += sl_expr_step(&base[k]))
            places += naive_is_place(&base[k]);
        if (places > 4) continue;
        const sl_pairs_options o = constants(places > 3 ? 1 : 2, 0.1 + 0.1 * i / 30);
        check_base(t, base, &o);
    }
    sl_universe_free(u);
}

/* What a base cannot become has no chance; skeleton_hash may be shared all the same. */
static void others_have_no_chance(void **state) {
    sl_fixture *t = *state;
    static const char *const pairs[][2] = {
        { "x1 + x2", "x1" },
        { "x1", "x2" },
        { "x1 + x2", "x1*x2" },
        { "2*x1", "3*x1" },
        { "x1^2", "-x1^2" },
        { "x1^2", "3*x1^2" },
        { "sqrt(x1)", "sqrt(11*x1)" },
        { "x1", "10*x1" },
        { "x1", "x1 + 10" },
        { "x1 + x2", "x1 + x2 + 19" },
        { "exp(x1)", "sin(x1)" },
        { "x1^2", "x1^3" },
        { "sqrt(2)*x1", "sqrt(3)*x1" },
    };
    const sl_pairs_options o = constants(9, 0.2);
    for (int i = 0; i < SL_LEN(pairs); i++) {
        double chance = -1;
        const sl_node *base = parsed(t, pairs[i][0]), *e = parsed(t, pairs[i][1]);
        SL_MUST(t, sl_pairs__chance(&chance, &t->arena, base, e, &o));
        SL_CHECK(t, chance == 0, "%s becomes %s with chance %g", pairs[i][0], pairs[i][1], chance);
    }
}

/* At any depth, the draw that made an expression is among those that are counted. */
static void the_draw_itself_counts(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = small_universe(t, 2, 3, NULL, 0);
    const sl_pairs_options o = sl_pairs_defaults();
    for (int i = 0; i < sl_test_iters(t, 1000); i++) {
        sl_arena_rewind(&t->arena, 0);
        // one level above the set: a sum or product of two members, or a function of one
        const sl_node *base, *e, *p, *q;
        p = sl_universe_get(u, sl_rng_below(&t->rng, (uint32_t)sl_universe_size(u)));
        q = sl_universe_get(u, sl_rng_below(&t->rng, (uint32_t)sl_universe_size(u)));
        SL_MUST(t, sl_expr_canon_apply(&base, &t->arena, sl_rng_below(&t->rng, SL_OPERATOR_DIV + 1),
                                       p, q));
        sl_pair_site site[64];
        int n;
        if (sl_expr_is_undefined(base) || base->op == SL_OP_NUM || base->len > 64) continue;
        SL_MUST(t, sl_pairs__insert(&e, site, &n, &t->arena, base, &t->rng, &o));
        if (sl_expr_variables(e) != sl_expr_variables(base)) continue;
        double chance;
        SL_MUST(t, sl_pairs__chance(&chance, &t->arena, base, e, &o));
        SL_CHECK(t, chance >= naive_chance(site, n, &o) * (1 - 1e-12) && chance <= 1 + 1e-12,
                 "%s becomes %s with chance %g, one draw alone has %g", text_of(base), text_of(e),
                 chance, naive_chance(site, n, &o));
    }
    sl_universe_free(u);
}

static void memory_may_be_short(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options o = constants(9, 0.2);
    sl_arena own = { 0 };
    const sl_node *base = parsed(t, "sin(x1 + x2)*sqrt(x1)");
    const sl_node *e = parsed(t, "6*sin(2*x1 + x2 + 3)*sqrt(3*x1)");
    base = sl_expr_copy(&own, base);
    e = sl_expr_copy(&own, e);
    double chance;
    SL_EACH_ALLOCATION(t, sl_pairs__chance(&chance, &t->arena, base, e, &o));
    SL_CHECK(t, chance > 0, "no chance");
    sl_arena_clear(&own);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(chances_are_sums_over_all_draws),
        SL_TEST(members_too),
        SL_TEST(others_have_no_chance),
        SL_TEST(the_draw_itself_counts),
        SL_TEST(memory_may_be_short),
    };
    return sl_test_main("pairs.match", tests, SL_LEN(tests));
}
