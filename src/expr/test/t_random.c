/* The generator that other tests rely on: well-formed trees of the requested depth, all shapes
 * reached. */
#include "fixture/fixture.h"

#include <stdlib.h>

#include "expr/expr_impl.h"
#include "expr/expr_test.h"

/* Surface depth of a tree made by sl_expr_apply alone: -u is one level although 0 - u may share its
 * product, and u - v, u/v hide a second node. */
static int surface_depth(const sl_node *e) {
    int deepest = 0;
    const sl_node *c = e + 1;
    if (e->op == SL_OP_NUM || e->len == 1) return 0;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        const sl_node *u = c;
        if (e->op == SL_OP_POW && i == 1) break; // the exponent
        if (e->op == SL_OP_ADD && i == 1 && c->op == SL_OP_MUL && sl_expr_num_is(c + 1, -1))
            u = sl_expr_next(c + 1);
        if (e->op == SL_OP_MUL && i == 1 && c->op == SL_OP_POW && sl_expr__exponent(c).num == -1)
            u = c + 1;
        deepest = SL_MAX(deepest, surface_depth(u));
    }
    return deepest + 1;
}

static void trees_are_well_formed(void **state) {
    sl_fixture *t = *state;
    bool seen[SL_OP_COUNT] = { false }, root = false, minus = false, quotient = false;
    int deep = 0;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        const int depth = (int)sl_rng_below(&t->rng, 6), vars = 1 + (int)sl_rng_below(&t->rng, 4);
        const int range = (int)sl_rng_below(&t->rng, 3);
        const sl_expr_random_options o = { depth, vars, range, 0.2, SL_EXPR_ALL_OPERATORS, true };
        const sl_node *e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_CHECK(t, sl_expr_valid(e, e->len), "malformed, depth %d", depth);
        SL_CHECK(t, surface_depth(e) <= depth, "depth %d, not %d", surface_depth(e), depth);
        SL_CHECK(t, sl_expr_max_var(e) <= vars, "x%d of %d", sl_expr_max_var(e), vars);
        deep += surface_depth(e) == depth;
        for (uint32_t k = 0; k < e->len; k++) {
            seen[e[k].op] = true;
            root |= e[k].op == SL_OP_POW && sl_expr__exponent(e + k).den == 2;
            quotient |= e[k].op == SL_OP_POW && sl_expr__exponent(e + k).num == -1;
            minus |= sl_expr_num_is(e + k, -1);
            SL_CHECK(t,
                     e[k].op != SL_OP_NUM || range > 0 || sl_expr_num_is(e + k, -1) ||
                         (k > 0 && sl_expr_num_value(e + k).den == 2),
                     "a number, but none were requested");
        }
    }
    for (int op = 0; op < SL_OP_COUNT; op++)
        if (op != SL_OP_PAR) SL_CHECK(t, seen[op], "node %d never appears", op);
    SL_CHECK(t, root && minus && quotient, "an operator never appears");
    SL_CHECK(t, deep > 500, "only %d trees reach the depth", deep);
}

/* p_leaf = 0 and one binary level: each operator is as likely as the next. */
static void operators_are_uniform(void **state) {
    sl_fixture *t = *state;
    const int n = 8000;
    const sl_expr_random_options o = { 1, 1, 0, 0, 0, false };
    int sums = 0, sines = 0, quotients = 0;
    for (int i = 0; i < n; i++) {
        const sl_node *e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        sums += e->op == SL_OP_ADD; // + and -
        sines += e->op == SL_OP_SIN;
        quotients += e->op == SL_OP_MUL && e[2].op == SL_OP_POW;
    }
    // six standard deviations around n/4 and n/8
    SL_CHECK(t, abs(sums - n / 4) < 240, "%d sums and differences of %d", sums, n);
    SL_CHECK(t, abs(sines - n / 8) < 180, "%d sines of %d", sines, n);
    SL_CHECK(t, abs(quotients - n / 8) < 180, "%d quotients of %d", quotients, n);
}

/* Sum of the hashes of all operands that cannot be lifted further: what rewriting must not change.
 */
static uint64_t contents(const sl_node *e) {
    if (e->op == SL_OP_NUM || e->op == SL_OP_VAR || e->op == SL_OP_PAR) return sl_expr_hash(e);
    uint64_t sum = 0;
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        // an operand of the same kind counts as its own operands: brackets do not matter
        const bool lifted = c->op == e->op && (e->op == SL_OP_ADD || e->op == SL_OP_MUL);
        sum += lifted ? contents(c) : sl_hash(&(uint64_t){ contents(c) }, 8, 1u + c->op);
    }
    return sum;
}

static void rewriting_moves_operands_only(void **state) {
    sl_fixture *t = *state;
    int changed = 0, rebracketed = 0, big = 0;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        const sl_expr_random_options o = {
            1 + (int)sl_rng_below(&t->rng, 6), 3, 4, 0.1, SL_EXPR_ALL_OPERATORS, true
        };
        const sl_node *e, *w;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_rewrite(&w, &t->arena, &t->rng, e));
        SL_CHECK(t, sl_expr_valid(w, w->len), "malformed");
        SL_CHECK(t, contents(w) == contents(e),
                 "operands were lost, doubled or moved across a function");
        big += e->len > 20;
        changed += e->len > 20 && !sl_expr_equal(e, w);
        rebracketed += e->len != w->len;
    }
    SL_CHECK(t, changed > big * 9 / 10, "%d of %d changed", changed, big);
    SL_CHECK(t, rebracketed > big / 4, "%d of %d rebracketed", rebracketed, big);
}

/* All six orders of three operands, and all three ways to bracket them, are met. */
static void rewriting_reaches_every_order(void **state) {
    sl_fixture *t = *state;
    const int n = 6000;
    int order[6] = { 0 }, shape[3] = { 0 };
    const sl_node *x[3], *e, *w;
    for (int v = 0; v < 3; v++) x[v] = sl_expr_var(&t->arena, v + 1);
    e = sl_expr_nary(&t->arena, SL_OP_ADD, x, 3);
    assert_non_null(e);
    const size_t mark = sl_arena_mark(&t->arena);
    for (int i = 0; i < n; i++) {
        int seen[3], k = 0;
        sl_arena_rewind(&t->arena, mark);
        SL_MUST(t, sl_expr_rewrite(&w, &t->arena, &t->rng, e));
        for (uint32_t j = 0; j < w->len; j++)
            if (w[j].op == SL_OP_VAR) seen[k++] = w[j].arg - 1;
        assert_int_equal(k, 3);
        order[2 * seen[0] + (seen[1] > seen[2])]++;
        shape[w->arg == 3 ? 0 : w[1].op == SL_OP_ADD ? 1 : 2]++;
    }
    // six standard deviations around n/6
    for (int k = 0; k < 6; k++)
        SL_CHECK(t, abs(order[k] - n / 6) < 175, "order %d: %d of %d", k, order[k], n);
    for (int k = 0; k < 3; k++)
        SL_CHECK(t, shape[k] > n / 10, "shape %d: %d of %d", k, shape[k], n);
}

/* With p = 1 every variable and function becomes a*u + b; with p = 0 nothing happens. */
static void numbers_go_where_requested(void **state) {
    sl_fixture *t = *state;
    bool seen[7] = { false };
    for (int i = 0; i < sl_test_iters(t, 500); i++) {
        const sl_expr_random_options o = { 1 + (int)sl_rng_below(&t->rng, 4), 3, 0, 0.1, 0, false };
        const sl_node *e, *same, *full;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_insert_numbers(&same, &t->arena, &t->rng, e, 0, 3));
        SL_CHECK(t, sl_expr_equal(e, same), "p = 0 changes something");
        SL_MUST(t, sl_expr_insert_numbers(&full, &t->arena, &t->rng, e, 1, 3));
        SL_CHECK(t, sl_expr_valid(full, full->len), "malformed");

        // each variable, exp, sin and root takes four more slots: ADD MUL a u b
        int places = 0;
        for (uint32_t k = 0; k < e->len; k++)
            places += e[k].op == SL_OP_VAR || e[k].op == SL_OP_EXP || e[k].op == SL_OP_SIN ||
                      (e[k].op == SL_OP_POW && sl_expr__exponent(e + k).den > 1);
        assert_int_equal(full->len, (int)e->len + 4 * places);
        for (uint32_t k = 0; k + 4 < full->len; k++) {
            if (full[k].op != SL_OP_ADD || full[k + 1].op != SL_OP_MUL) continue;
            const sl_node *a = full + k + 2, *u = a + 1;
            if (a->op != SL_OP_NUM || u->op != SL_OP_VAR) continue;
            for (int j = 0; j < 2; j++) {
                const sl_rat v = sl_expr_num_value(j ? sl_expr_next(full + k + 1) : a);
                SL_CHECK(t, v.den == 1 && v.num != 0 && v.num >= -3 && v.num <= 3, "%lld",
                         (long long)v.num);
                seen[v.num + 3] = true;
            }
        }
    }
    for (int v = -3; v <= 3; v++) SL_CHECK(t, seen[v + 3] == (v != 0), "%d", v);
}

static sl_status all_three(sl_fixture *t) {
    const sl_expr_random_options o = { 4, 2, 3, 0, SL_EXPR_ALL_OPERATORS, true };
    const sl_node *e;
    sl_rng rng;
    sl_rng_init(&rng, 1, 2, 3); // the same tree at every attempt
    SL_TRY(sl_expr_random(&e, &t->arena, &rng, &o));
    SL_TRY(sl_expr_rewrite(&e, &t->arena, &rng, e));
    return sl_expr_insert_numbers(&e, &t->arena, &rng, e, 0.5, 3);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, all_three(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(trees_are_well_formed),         SL_TEST(operators_are_uniform),
        SL_TEST(rewriting_moves_operands_only), SL_TEST(rewriting_reaches_every_order),
        SL_TEST(numbers_go_where_requested),    SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("expr.random", tests, SL_LEN(tests));
}
