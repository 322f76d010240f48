/* Inside a level: cells that equal values share, domains that are predicted right, and no two
 * classes that agree. */
#include "universe/universe_impl.h"

#include "fixture/fixture.h"

#include <math.h>

static sl_universe *build(sl_fixture *t, int depth, int variables, const char *ops) {
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    sl_universe *u;
    o.depth = depth;
    o.variables = variables;
    o.size = 100; // the classes are what is looked at, not the forms
    SL_MUST(t, sl_universe_ops_parse(&o.ops, ops));
    SL_MUST(t, sl_universe_new(&u, NULL, &o, NULL));
    return u;
}

static void values_of(long double *v, const sl_universe *u, int64_t k) {
    sl_universe__values(v, u, &u->level[u->class[k].level], u->class[k].raw);
}

static bool share_a_cell(sl_universe__cells a, sl_universe__cells b) {
    return a.first == b.first || a.first == b.second || a.second == b.first || a.second == b.second;
}

/* Rounding moves a value by less than 2^-50 of itself; wherever on the grid it is, the cells still
 * meet. The middle of the relative grid is left almost never, so values are put on edges on
 * purpose. */
static void equal_values_share_a_cell(void **state) {
    sl_fixture *t = *state;
    int two = 0;
    for (int i = 0; i < sl_test_iters(t, 20000); i++) {
        long double edge =
            ldexpl((long double)sl_rng_below(&t->rng, 1 << 26), -26); // relative grid
        long double v = ldexpl(1 + edge, (int)sl_rng_below(&t->rng, 40) - 8);
        if (i % 3 == 0)
            v = ldexpl((long double)sl_rng_below(&t->rng, 1 << 26), -34); // absolute one
        if (i % 2) v = -v;
        long double noise =
            (fabsl(v) + 1) * 0x1p-52L * (2 * (long double)sl_rng_uniform(&t->rng) - 1);
        sl_universe__cells a = sl_universe__cells_of(v), b = sl_universe__cells_of(v + noise);
        SL_CHECK(t, share_a_cell(a, b), "%La and %La", v, v + noise);
        SL_CHECK(t, share_a_cell(b, a) && a.first == sl_universe__cell(v), "%La", v);
        two += a.first != a.second;
        // a value well away from both is in another cell
        sl_universe__cells far = sl_universe__cells_of(v + (fabsl(v) + 0x1p-8L) * 0x1p-23L);
        SL_CHECK(t, !share_a_cell(a, far), "%La is not distinguished from its neighbour", v);
    }
    SL_CHECK(t, two > 0, "no value was near an edge");
}

/* Where a candidate is real is derived from its operands; here it is looked at. */
static void domains_are_predicted_right(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int depth, variables;
        const char *ops;
    } cases[] = {
        { 4, 1, "exp,*" },      // exp(exp(exp(x1))) overflows, and products of it more
        { 4, 1, "sqrt,*,-,/" }, // divides by x1 - sqrt(x1^2), which is 0 for x1 > 0
        { 2, 3, "exp,sin,neg,sqrt,+,-,*,/" },
    };
    for (int c = 0; c < SL_LEN(cases); c++) {
        sl_universe *u = build(t, cases[c].depth, cases[c].variables, cases[c].ops);
        for (int64_t k = 0; k < u->n_class; k++) {
            long double v[SL_UNIVERSE__MAX_PROBES];
            sl_universe__shape s;
            values_of(v, u, k);
            sl_universe__shape_of(&s, v, u->probes);
            SL_CHECK(t, s.real == u->class[k].real, "%s: class %lld of level %d, candidate %lld",
                     cases[c].ops, (long long)k, u->class[k].level, (long long)u->class[k].raw);
        }
        sl_universe_free(u);
    }
}

/* The naive twin of all keys and filters: every class against every other. */
static void no_two_classes_agree(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = build(t, 3, 2, "sqrt,*,-");
    const int64_t n = u->n_class, P = u->probes;
    long double *all = sl_malloc((size_t)n, (size_t)P * sizeof *all);
    assert_non_null(all);
    for (int64_t k = 0; k < n; k++) values_of(all + k * P, u, k);
    int partial = 0;
    for (int64_t k = 0; k < n; k++) {
        sl_universe__shape s;
        sl_universe__shape_of(&s, all + k * P, (int)P);
        SL_CHECK(t, sl_universe__find_class(u, all + k * P) == k, "class %lld is not found",
                 (long long)k);
        partial += !s.full;
        for (int64_t m = 0; m < k; m++)
            SL_CHECK(t, !sl_universe__agree(all + k * P, all + m * P, (int)P),
                     "classes %lld and %lld agree", (long long)m, (long long)k);
    }
    SL_CHECK(t, partial == u->level[3].counts.partial && partial > 100, "%d partly real", partial);
    const sl_universe_counts *c = &u->level[3].counts;
    SL_CHECK(t, c->raw == c->constant + c->nowhere + c->known + c->distinct,
             "level 3 does not add up");
    SL_CHECK(t, c->constant == 213 && c->nowhere == 8 && c->partial_raw == 339, "%lld %lld %lld",
             (long long)c->constant, (long long)c->nowhere, (long long)c->partial_raw);
    sl_free(all);
    sl_universe_free(u);
}

/* x1 - sqrt(x1^2) is 0 for x1 > 0. Were it the rounding error of a root, a division by it would be
 * real. */
static void cancelled_sums_are_zero(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = build(t, 4, 1, "sqrt,*,-");
    int zeros = 0;
    for (int64_t k = 0; k < u->listed.n; k++) {
        const long double *v = u->listed.value + k * u->probes;
        for (int i = 0; i < u->probes; i++) {
            SL_CHECK(t, !(fabsl(v[i]) < 1e-15L && v[i] != 0), "noise %Lg in function %lld", v[i],
                     (long long)k);
            zeros += v[i] == 0;
        }
    }
    SL_CHECK(t, zeros > 0, "nothing cancels");
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(equal_values_share_a_cell),
        SL_TEST(domains_are_predicted_right),
        SL_TEST(no_two_classes_agree),
        SL_TEST(cancelled_sums_are_zero),
    };
    return sl_test_main("universe.level", tests, SL_LEN(tests));
}
