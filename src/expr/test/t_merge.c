/* Numbers merged without multiplying out. */
#include <string.h>

#include "expr/expr.h"
#include "expr/expr_test.h"
#include "fixture/formula.h"

static void examples(void **state) {
    static const char *const cases[][2] = {
        { "(3*x1)^2", "9*x1^2" },
        { "x1/(7*x2)", "x1/7/x2" },
        { "x2*(7*x1)^(-1)", "x2*x1^(-1)/7" },
        { "(-2*x2)^(-3)", "-x2^(-3)/8" },
        { "(2*x1*sin(x2))^2", "4*x1^2*sin(x2)^2" },
        { "sqrt(9*x1)", "3*sqrt(x1)" },
        { "sqrt(8*x1)", "2*sqrt(2*x1)" },
        { "sqrt(-12*x1)", "2*sqrt(-3*x1)" },
        { "sqrt(x1/4)", "sqrt(x1)/2" },
        { "sqrt(x1/8)", "sqrt(x1/2)/2" },
        { "1/sqrt(9*x1)", "1/sqrt(x1)/3" },
        { "(18*x1)^(3/2)", "27*(2*x1)^(3/2)" },
        { "(32*x1)^(1/4)", "2*(2*x1)^(1/4)" },
        { "2*(x1 + 3)", "2*x1 + 6" },
        { "x1 - 2*(x2 - 8)", "x1 - 2*x2 + 16" },
        { "2*x2*(x1 + 3)", "2*x2*(x1 + 3)" },
        { "(x1 + 3)^2", "(x1 + 3)^2" },
        { "2*(3*(x1 + 1) - 4)", "6*x1 - 2" },
        { "sin(-8*x1)", "-sin(8*x1)" },
        { "sin(-x1 + 7)", "-sin(x1 - 7)" },
        { "cos(-x1)", "cos(x1)" },
        { "cos(3 - 2*x1)", "cos(2*x1 - 3)" },
        { "exp(-x1)", "exp(-x1)" },
        { "x1*sin(-3*x2)^2", "x1*sin(3*x2)^2" },
        { "4*sin(-exp(x1))", "-4*sin(exp(x1))" },
        { "sqrt((3*x1)^2)", "3*sqrt(x1^2)" },
    };
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *e = parsed(t, cases[i][0]), *want = parsed(t, cases[i][1]), *got;
        SL_MUST(t, sl_expr_merge(&got, &t->arena, e));
        SL_CHECK(t, sl_expr_equal(got, want), "%s gives %s", cases[i][0], text_of(got));
    }
}

/* Compared by canonical forms, which have their own rules for numbers, signs and roots. */
static void random_expressions(void **state) {
    sl_fixture *t = *state;
    int changed = 0, n = sl_test_iters(t, 20000);
    for (int i = 0; i < n; i++) {
        sl_expr_random_options o = {
            1 + i % 4, 2, i % 3 ? 0 : 5, 0.2, sl_rng_below(&t->rng, 2) ? SL_EXPR_ALL_OPERATORS : 0,
            true
        };
        const sl_node *e, *w, *m, *mw, *again, *tidy, *ce, *cm;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.3, 12));
        SL_MUST(t, sl_expr_rewrite(&w, &t->arena, &t->rng, e));
        sl_status st = sl_expr_merge(&m, &t->arena, e);
        if (st == SL_EOVERFLOW) continue;
        SL_MUST(t, st);
        SL_MUST(t, sl_expr_merge(&mw, &t->arena, w));
        SL_CHECK(t, sl_expr_equal(m, mw), "the way it was written leaks through: %s", text_of(e));
        SL_MUST(t, sl_expr_merge(&again, &t->arena, m));
        SL_CHECK(t, sl_expr_equal(again, m), "not a fixed point: %s", text_of(m));
        SL_MUST(t, sl_expr_tidy(&tidy, &t->arena, m));
        SL_CHECK(t, sl_expr_equal(tidy, m), "not tidy: %s", text_of(m));
        SL_MUST(t, sl_expr_tidy(&tidy, &t->arena, e));
        changed += !sl_expr_equal(tidy, m);
        if (sl_expr_canon(&ce, &t->arena, tidy) != SL_OK) continue;
        if (sl_expr_canon(&cm, &t->arena, m) != SL_OK) continue;
        SL_CHECK(t, sl_expr_equal(ce, cm), "another function: %s", text_of(e));
    }
    SL_CHECK(t, changed > n / 10, "only %d of %d had anything to merge", changed, n);
}

static void lack_of_memory(void **state) {
    sl_fixture *t = *state;
    const sl_node *out;
    sl_arena own = { 0 };
    const char *text = "2*(sqrt(8*x1) - 3*(2*x2*x1)^2 + sin(-x1 + x2) + atan(-x1)^x2)";
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &own, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_EACH_ALLOCATION(t, sl_expr_merge(&out, &t->arena, e));
    sl_arena_clear(&own);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(examples),
        SL_TEST(random_expressions),
        SL_TEST(lack_of_memory),
    };
    return sl_test_main("expr.merge", tests, SL_LEN(tests));
}
