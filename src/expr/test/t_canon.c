/* The canonical form: does not depend on writing, is a fixed point, keeps every real value. */
#include "expr/expr_test.h"

#include "fixture/fixture.h"

#include <math.h>

/* Compares bytes, not by sl_expr_cmp, which canon itself sorts by: a test must not share code with
 * its subject. */
static bool same_bytes(const sl_node *a, const sl_node *b) {
    return a->len == b->len && memcmp(a, b, a->len * sizeof *a) == 0;
}

static const char *show(const sl_node *e) {
    static char buffer[4][900]; // enough for the two or three that one message names
    static int next;
    char *to = buffer[next++ & 3];
    sl_str s = { 0 };
    sl_status st = sl_expr_print(&s, SL_FORMAT_INFIX, e, NULL);
    snprintf(to, sizeof buffer[0], "%s", st == SL_OK ? sl_str_text(&s) : "?");
    sl_str_clear(&s);
    return to;
}

static const sl_node *read_text(sl_fixture *t, const char *text) {
    const sl_node *e = NULL;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return e;
}

/* Limits are an answer, not a failure; but few inputs may reach them. */
static bool canon_or_limit(sl_fixture *t, const sl_node **out, const sl_node *e) {
    sl_status st = sl_expr_canon(out, &t->arena, e);
    if (st == SL_ELIMIT || st == SL_EOVERFLOW) return false;
    SL_MUST(t, st);
    SL_CHECK(t, sl_expr_valid(*out, (*out)->len), "malformed: %s", show(*out));
    return true;
}

static sl_expr_random_options shape(sl_fixture *t, int depth) {
    return (sl_expr_random_options){ .depth = 1 + (int)sl_rng_below(&t->rng, (uint32_t)depth),
                                     .variables = 2,
                                     .number_range = sl_rng_below(&t->rng, 2) ? 4 : 0,
                                     .p_leaf = 0.2,
                                     .ops = sl_rng_below(&t->rng, 2) ? SL_EXPR_ALL_OPERATORS : 0,
                                     .with_pi = true };
}

/* e with powers put in, which the surface operators alone do not make: integer, fractional,
 * negative. */
static const sl_node *with_powers(sl_fixture *t, const sl_node *e) {
    static const sl_rat powers[] = { { 2, 1 }, { 3, 1 },  { -2, 1 }, { 3, 2 }, { -1, 2 },
                                     { 1, 4 }, { -3, 2 }, { 1, 3 },  { 5, 4 } };
    const sl_node *operand[2] = { NULL, NULL }, *c = e + 1, *r = e;
    if (e->op != SL_OP_NUM) {
        for (int i = 0; i < e->arg && e->len > 1 && i < 2; i++, c = sl_expr_next(c))
            operand[i] = with_powers(t, c);
        if (e->op == SL_OP_POW)
            r = sl_expr_pow(&t->arena, operand[0], sl_expr_num_value(operand[1]));
        else if (e->op == SL_OP_RAISE)
            r = sl_expr_power(&t->arena, operand[0], operand[1]);
        else if (operand[1])
            r = sl_expr_nary(&t->arena, (sl_op)e->op, operand, 2);
        else if (operand[0])
            r = sl_expr_fn(&t->arena, (sl_op)e->op, operand[0]);
        if (sl_rng_below(&t->rng, 6) == 0)
            r = sl_expr_pow(&t->arena, r, powers[sl_rng_below(&t->rng, SL_LEN(powers))]);
    }
    assert_non_null(r);
    return r;
}

static void canon_is_a_normal_form(void **state) {
    sl_fixture *t = *state;
    int limits = 0, n = sl_test_iters(t, 3000);
    for (int i = 0; i < n; i++) {
        const sl_node *e, *w, *ce, *cw, *cc, *te;
        sl_arena_rewind(&t->arena, 0);
        sl_expr_random_options o = shape(t, 6);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        if (i % 2) e = with_powers(t, e);
        SL_MUST(t, sl_expr_rewrite(&w, &t->arena, &t->rng, e)); // permutes and rebrackets
        if (!canon_or_limit(t, &ce, e)) {
            limits++;
            continue;
        }
        SL_CHECK(t, canon_or_limit(t, &cw, w), "only the rewritten one passes a limit: %s",
                 show(e));
        SL_CHECK(t, same_bytes(ce, cw),
                 "the way it was written leaks through: %s\n gives %s\n and   %s", show(e),
                 show(ce), show(cw));
        SL_CHECK(t, canon_or_limit(t, &cc, ce), "passes a limit the second time: %s", show(ce));
        SL_CHECK(t, same_bytes(cc, ce), "not a fixed point: %s\n gives %s\n and   %s", show(e),
                 show(ce), show(cc));
        SL_MUST(t, sl_expr_tidy(&te, &t->arena, ce));
        SL_CHECK(t, same_bytes(te, ce), "canonical but not tidy: %s", show(ce));
    }
    SL_CHECK(t, limits * 10 < n, "%d of %d pass a limit", limits, n);
}

/* At points where the original is real the canonical form is real and equal, within what rounding
 * may have done to both. */
static void canon_keeps_every_real_value(void **state) {
    sl_fixture *t = *state;
    int compared = 0, n = sl_test_iters(t, 3000);
    for (int i = 0; i < n; i++) {
        const sl_node *e, *ce;
        sl_arena_rewind(&t->arena, 0);
        sl_expr_random_options o = shape(t, 6);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        if (i % 2) e = with_powers(t, e);
        if (!canon_or_limit(t, &ce, e)) continue;
        for (int k = 0; k < 8; k++) {
            long double x[2], v, d, cv, cd;
            for (int j = 0; j < 2; j++) x[j] = sl_rng_range(&t->rng, -3, 3);
            if (k == 7) x[0] = 0; // where rules about signs and roots would show
            sl_expr_eval_ref(&v, &d, e, x, NULL, 0x1p-64L);
            sl_expr_eval_ref(&cv, &cd, ce, x, NULL, 0x1p-64L);
            if (!isfinite(v) || !isfinite(d) || d > 1e-6L * (1 + fabsl(v))) continue;
            // overflow, or a domain edge within rounding, is no statement about the function
            if (!isfinite(cd) || isinf(cv)) continue;
            compared++;
            SL_CHECK(t, !isnan(cv),
                     "real before, not after: %s\n gives %s\n at %.17Lg %.17Lg: %.17Lg", show(e),
                     show(ce), x[0], x[1], v);
            SL_CHECK(t, fabsl(v - cv) <= 4 * (d + cd),
                     "value changed: %s\n gives %s\n at %.17Lg %.17Lg: %.17Lg and %.17Lg", show(e),
                     show(ce), x[0], x[1], v, cv);
        }
    }
    SL_CHECK(t, compared > n, "only %d points compared in %d expressions", compared, n);
}

/* sl_expr_canon_apply gives the bytes of sl_expr_canon. */
static void canon_apply_is_canon_of_apply(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        const sl_node *p, *q, *direct, *whole, *long_way;
        sl_arena_rewind(&t->arena, 0);
        sl_expr_random_options o = shape(t, 3);
        SL_MUST(t, sl_expr_random(&p, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_random(&q, &t->arena, &t->rng, &o));
        if (i % 2) p = with_powers(t, p), q = with_powers(t, q);
        if (!canon_or_limit(t, &p, p) || !canon_or_limit(t, &q, q)) continue;
        sl_operator op = (sl_operator)sl_rng_below(&t->rng, SL_OPERATOR_COUNT);
        whole = sl_expr_apply(&t->arena, op, p, q);
        if (!canon_or_limit(t, &long_way, whole)) continue;
        SL_MUST(t, sl_expr_canon_apply(&direct, &t->arena, op, p, q));
        SL_CHECK(t, same_bytes(direct, long_way), "%s of %s and %s\n gives %s\n and   %s",
                 sl_expr_operator_text(op), show(p), show(q), show(direct), show(long_way));
    }
}

/* Rules by example: both sides have one canonical form, or (third column) they must not. */
static void rules_by_example(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "x1 + x1", "2*x1", true },
        // functions of one operand
        { "cos(-x1)", "cos(x1)", true },
        { "tan(-x1)", "-tan(x1)", true },
        { "tanh(x2 - x1)", "-tanh(x1 - x2)", true },
        { "sinh(-x1)*asin(-x2)", "sinh(x1)*asin(x2)", true },
        { "atan(-x1) + atan(x1)", "0", true },
        { "cosh(-x1)", "cosh(x1)", true },
        { "acos(-x1)", "acos(x1)", false },
        { "exp(0) + cos(0) + cosh(0)", "3", true },
        { "log(1) + sinh(0) + tanh(0)*x1", "0", true },
        { "acos(-1)", "pi", true },
        { "acos(0) - asin(1)", "0", true },
        { "4*atan(1)", "pi", true },
        { "log(0)", "1/0", true },
        { "asin(2)*0", "1/0", true },
        { "acos(-3/2)", "1/0", true },
        // abs is the root of the square
        { "abs(-x1)", "abs(x1)", true },
        { "abs(x1)^2", "x1^2", true },
        { "abs(x1)", "sqrt(x1^2)", true },
        { "abs(x1)", "x1", false },
        { "abs(-3*exp(x1))", "3*exp(x1)", true },
        { "abs(x1 - x2)", "abs(x2 - x1)", true },
        { "abs(abs(x1))", "abs(x1)", true },
        { "abs(sqrt(x1))", "sqrt(x1)", true },
        // log and exp
        { "log(exp(x1))", "x1", true },
        { "exp(log(x1))", "x1", true },
        { "exp(2*log(x1) + x2)", "x1^2*exp(x2)", true },
        { "exp(x2*log(x1))", "x1^x2", true },
        { "log(x1^3)", "3*log(x1)", true },
        { "log(x1^2)", "2*log(x1)", false },
        { "log(x1^4)", "2*log(x1^2)", true },
        { "log(1/x1)", "-log(x1)", true },
        { "log(sqrt(x1)*x2)", "log(x1)/2 + log(x2)", true },
        { "log(x1*x2)", "log(x1) + log(x2)", false },
        { "log(6*x1)", "log(6) + log(x1)", true },
        { "log(9*x1/8)", "2*log(3) - 3*log(2) + log(x1)", true },
        { "log(1/(x1 + x2)^2)", "-log((x1 + x2)^2)", true },
        { "log(8)/log(2)", "3", true },
        { "log(-2*x1)", "log(2) + log(-x1)", true },
        { "log(x1^x2)", "x2*log(x1)", true },
        { "log10(100*x1)", "2 + log10(x1)", true },
        // pi
        { "2*pi*x1/pi", "2*x1", true },
        { "sqrt(pi*x1)", "sqrt(pi)*sqrt(x1)", true },
        { "sin(pi) + cos(pi) + sin(pi/2) + cos(3*pi/2)", "0", true },
        { "sin(7*pi/2)", "-1", true },
        { "cos(-5*pi)", "-1", true },
        { "tan(3*pi)", "0", true },
        { "1/(pi*x1 + pi)", "1/pi/(x1 + 1)", true },
        { "sin(pi*x1)", "0", false },
        { "pi", "22/7", false },
        // powers with other exponents
        { "x1^c1*x1^c2", "x1^(c1 + c2)", true },
        { "x1^c1*x1", "x1^(c1 + 1)", true },
        { "x1^c1/x1^c1", "1", true },
        { "x1^x2*x1^(2 - x2)", "x1^2", true },
        { "(x1^x2)^2", "x1^(2*x2)", true },
        { "sqrt(x1^x2)", "x1^(x2/2)", true },
        { "exp(x1)^x2", "exp(x1*x2)", true },
        { "2^(x1 + 1)", "2*2^x1", true },
        { "pi^x1*pi", "pi^(x1 + 1)", true },
        { "(x1*x2)^c1", "x1^c1*x2^c1", false },
        { "(x1^2)^c1", "x1^(2*c1)", false },
        { "(-2)^x1", "1/0", true },
        { "x1^(x2 - x2)", "1", true },
        { "(x1/x1)^x2", "1", true }, // tidying does not see the 1
        { "(x1^c1)^c2", "x1^(c1*c2)", true },
        { "(x1 + x2)^2", "x1^2 + 2*x1*x2 + x2^2", true },
        { "((x1+1)*(x1+2))/(x1+1)", "x1 + 2", true },
        { "1/(2*x1 + 2)", "1/2/(x1 + 1)", true },
        { "1/(x2 - x1)", "-1/(x1 - x2)", true },
        { "1/(x1^2 + x1*x2)", "1/x1/(x1 + x2)", true },
        { "x1/(1 + x2/x1)", "x1^2/(x1 + x2)", true },
        { "sqrt(x1)^2", "x1", true },
        { "sqrt(x1^2)", "x1", false },
        { "sqrt(x1^4)", "x1^2", true },
        { "sqrt(x1^6)", "x1^3", false },
        { "(x1^4)^(1/4)", "sqrt(x1^2)", true },
        { "sqrt(x1*x2)", "sqrt(x1)*sqrt(x2)", false },
        { "sqrt(4*x1)", "2*sqrt(x1)", true },
        { "sqrt(12)", "2*sqrt(3)", true },
        { "sqrt(1/2)", "sqrt(2)/2", true },
        { "sqrt(2)*sqrt(2)", "2", true },
        { "sqrt(2)*sqrt(8)", "4", true },
        { "sqrt(x1 + x2)^3", "x1*sqrt(x1 + x2) + x2*sqrt(x1 + x2)", true },
        { "sqrt(exp(x1))", "exp(x1/2)", true },
        { "exp(x1)*exp(x2)", "exp(x1 + x2)", true },
        { "exp(x1)*exp(-x1)", "1", true },
        { "sqrt(exp(x1)*x2)", "exp(x1/2)*sqrt(x2)", true },
        { "sin(-x1)", "-sin(x1)", true },
        { "sin(x2 - x1)", "-sin(x1 - x2)", true },
        { "exp(0)", "1", true },
        { "sin(x1 - x1)", "0", true },
        { "x1/x1", "1", true },
        { "sqrt(-1)", "1/0", true },
        { "x1 + 0^(-1)", "1/0", true },
        { "0*x1", "0", true },
        { "0/0", "1/0", true },
        { "0*sqrt(-2)*x1", "1/0", true },
        { "(x1 + 1/0)^0", "1/0", true },
        { "sqrt(-x1)^2", "-x1", true },
        { "sqrt(-x1 - x2)^2/(x1 + x2)", "-1", true },
        { "1/sqrt(x1^2)", "1/x1", false },
        { "x1 - x2", "x2 - x1", false },
        { "sqrt(1/(x1 + x2)^2)", "1/sqrt((x1 + x2)^2)", true },
        { "(x1*x2)^(3/2)", "x1*x2*sqrt(x1*x2)", true },
        { "sqrt(-x1 - x2)*sqrt(-x1 - x2)/(x1 + x2)", "-1", true },
        { "(1 + sqrt(x1*x2))^2", "1 + 2*sqrt(x1*x2) + x1*x2", true },
        { "(1 + sqrt(x1 + x2))^2", "1 + 2*sqrt(x1 + x2) + x1 + x2", true },
        { "1/sqrt(-x1 - x2)/sqrt(-x1 - x2)", "-1/(x1 + x2)", true },
        { "1/sqrt(-x1 - x2)", "1/sqrt(-(x1 + x2))", true },
        { "1/(sqrt(-x1 - x2) + sqrt(-x1 - x2))^2", "-1/(4*(x1 + x2))", true },
        { "(2*x1 + 2*x2)*sqrt(x3/(x1 + x2))*sqrt(x3/(x1 + x2))", "2*x3", true },
        // the larger base comes apart first, so that the smaller one has all of its exponent in
        // time
        { "sqrt(x1*sqrt(x2*x3))/(x1*sqrt(x2*x3))^(3/2)*(x2*x3)^(5/4)", "(x2*x3)^(3/4)/x1", true },
    };
    const sl_node *form[2 * SL_LEN(cases)];
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *a, *b;
        a = read_text(t, cases[i].a);
        b = read_text(t, cases[i].b);
        SL_MUST(t, sl_expr_canon(&a, &t->arena, a));
        SL_MUST(t, sl_expr_canon(&b, &t->arena, b));
        form[2 * i] = a;
        form[2 * i + 1] = b;
        SL_CHECK(t, same_bytes(a, b) == cases[i].same, "%s is %s, %s is %s", cases[i].a, show(a),
                 cases[i].b, show(b));
    }
    // all pairs of them: the short cut for canonical operands, and the fixed point
    for (int i = 0; i < SL_LEN(form) * SL_LEN(form); i++) {
        const sl_node *p = form[i / SL_LEN(form)], *q = form[i % SL_LEN(form)], *direct, *long_way,
                      *again;
        size_t mark = sl_arena_mark(&t->arena);
        for (sl_operator o = SL_OPERATOR_ADD; o <= SL_OPERATOR_DIV; o++) {
            SL_MUST(t, sl_expr_canon_apply(&direct, &t->arena, o, p, q));
            SL_MUST(t, sl_expr_canon(&long_way, &t->arena, sl_expr_apply(&t->arena, o, p, q)));
            SL_MUST(t, sl_expr_canon(&again, &t->arena, direct));
            SL_CHECK(t, same_bytes(direct, long_way) && same_bytes(again, direct),
                     "%s of %s and %s:\n %s\n %s\n %s", sl_expr_operator_text(o), show(p), show(q),
                     show(direct), show(long_way), show(again));
        }
        sl_arena_rewind(&t->arena, mark);
    }
}

static void limits_are_answered(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        sl_status st;
    } cases[] = {
        { "(x1 + x2)^100", SL_EOVERFLOW },
        { "((x1 + 2)^60)^60", SL_EOVERFLOW },
        { "(x1+x2+x3+x4+x5+x6)^20", SL_ELIMIT },
        { "9223372036854775807*x1 + x1", SL_EOVERFLOW },
        { "3000000000*x1*(3000000000*x1 + x2)*4", SL_EOVERFLOW },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *e, *c = NULL;
        e = read_text(t, cases[i].text);
        size_t mark = sl_arena_mark(&t->arena);
        sl_status st = sl_expr_canon(&c, &t->arena, e);
        SL_CHECK(t, st == cases[i].st && !c, "%s: %s", cases[i].text, sl_status_text(st));
        SL_CHECK(t, sl_arena_mark(&t->arena) == mark, "the arena grew: %s", cases[i].text);
    }
}

/* Few terms of very many factors: a short text must reach a limit before it takes gigabytes. */
static void memory_is_bounded(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    const sl_node *e, *c = NULL;
    for (int i = 1; i <= 1800; i++) sl_str_addf(&s, "sin(%d*x1)*", i);
    sl_str_add(&s, "(x1");
    for (int i = 2; i <= 64; i++) sl_str_addf(&s, "+x%d", i);
    sl_str_add(&s, ")^3");
    e = read_text(t, sl_str_text(&s));
    sl_str_clear(&s);
    t->arena.limit = 100 << 20;
    sl_status st = sl_expr_canon(&c, &t->arena, e);
    SL_CHECK(t, st == SL_ELIMIT && !c, "%s: %s", sl_status_text(st), sl_last_error());
}

static sl_status canon_of_text(sl_arena *a, const char *text) {
    const sl_node *e;
    SL_TRY(sl_expr_parse(&e, a, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return sl_expr_canon(&e, a, e);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(
        t, canon_of_text(&t->arena, "(x1 + x2 + sin(x1))^9/sqrt(x1*x2 + 2)*exp(x1)*exp(x2)"));
    SL_EACH_ALLOCATION(t, canon_of_text(&t->arena,
                                        "abs(x1 + x2)^x1*x2^x1*x2*exp(x1*log(x1*x2) + 2*log(x2))*"
                                        "log(8*x1^4*exp(x2))*acos(-1)*(x1^x2 + 1)*(x1 + 1)"));
}

/* Same, different, and beyond what either proof reaches. */
static void same_has_three_answers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *a, *b;
        int answer;
    } cases[] = {
        { "x1*(x1 + 1)", "x1 + x1^2", 1 },
        { "sqrt(x1)*sqrt(x2)", "sqrt(x1*x2)", 0 },
        { "1/x1 + 1/x2", "(x1 + x2)/(x1*x2)", 1 },
        { "1/(1 + 1/(x1+1))", "(x1+1)/(x1+2)", 0 },
        { "sqrt(x1^2)", "x1", -1 },
        { "x1", "x1 + 1/1000000000000", -1 },
        { "sin(x1)", "x1", -1 },
        { "sqrt(x1)", "sqrt(-x1)", 0 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *a, *b;
        sl_truth answer;
        a = read_text(t, cases[i].a);
        b = read_text(t, cases[i].b);
        SL_MUST(t, sl_expr_same(&answer, &t->arena, a, b));
        SL_CHECK(t, answer.answer == cases[i].answer, "%s and %s: %d", cases[i].a, cases[i].b,
                 answer.answer);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(canon_is_a_normal_form),        SL_TEST(canon_keeps_every_real_value),
        SL_TEST(canon_apply_is_canon_of_apply), SL_TEST(rules_by_example),
        SL_TEST(limits_are_answered),           SL_TEST(memory_is_bounded),
        SL_TEST(every_allocation_may_fail),     SL_TEST(same_has_three_answers),
    };
    return sl_test_main("expr.canon", tests, SL_LEN(tests));
}
