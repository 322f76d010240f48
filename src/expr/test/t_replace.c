/* Numbers to free constants and back, and expressions for variables. */
#include "fixture/formula.h"

#include <math.h>
#include <string.h>

#include "expr/expr_impl.h"
#include "expr/expr_test.h"

enum { VARS = 2, MOST = 256 };

static int pick(sl_rng *rng, int n) { return (int)sl_rng_below(rng, (uint32_t)n); }

/* Tidy, with numbers. */
static const sl_node *random_formula(sl_fixture *t) {
    const sl_expr_random_options o = { 1 + pick(&t->rng, 4),
                                       VARS,
                                       5,
                                       0.1,
                                       sl_rng_below(&t->rng, 2) ? SL_EXPR_ALL_OPERATORS : 0,
                                       true };
    const sl_node *e;
    SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
    SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.3, 9000));
    SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));
    return e;
}

/* ---------------------------------------------------------------- numbers and constants ----- */

static void numbers_become_constants_in_order(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *e, *free;
        int n;
        double value[4];
    } cases[] = {
        { "x1", "x1", 0, { 0 } },
        { "7", "c1", 1, { 7 } },
        { "1", "c1", 1, { 1 } },
        { "-x1", "-x1", 0, { 0 } },
        { "x1 + 1", "x1 + c1", 1, { 1 } },
        { "pi", "pi", 0, { 0 } },
        { "2*pi*x1", "c1*pi*x1", 1, { 2 } },
        { "x1^x2", "x1^x2", 0, { 0 } },
        { "3^(2*x2)", "c1^(c2*x2)", 2, { 3, 2 } },
        { "log(2*x1)", "log(c1*x1)", 1, { 2 } },
        { "x1 - 1", "x1 + c1", 1, { -1 } },
        { "x1^2", "x1^2", 0, { 0 } },
        { "sqrt(2*x1)", "sqrt(c1*x1)", 1, { 2 } },
        { "-3*x1/4 + exp(5*x2)", "c1*x1 + exp(c2*x2)", 2, { -0.75, 5 } },
        { "2^(1/3)*x1", "c1^(1/3)*x1", 1, { 2 } },
        { "5000000000*x1 + 1/3", "c1*x1 + c2", 2, { 5e9, 1.0 / 3 } },
        // what was free stays so, and the new ones follow
        { "c2*x1 + 3*c1", "c2*x1 + c3*c1", 3, { 77, 77, 3 } },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        double value[MOST] = { 77, 77 };
        int n = -1;
        const sl_node *free, *tidy;
        SL_MUST(t, sl_expr_free_numbers(&free, value, &n, 4, &t->arena, parsed(t, cases[i].e)));
        SL_MUST(t, sl_expr_tidy(&tidy, &t->arena, free));
        SL_CHECK(t, sl_expr_equal(tidy, parsed(t, cases[i].free)), "%s gives %s", cases[i].e,
                 text_of(tidy));
        SL_CHECK(t, n == cases[i].n, "%s has %d constants", cases[i].e, n);
        for (int k = 0; k < n; k++)
            SL_CHECK(t, value[k] == cases[i].value[k], "%s: c%d is %.17g", cases[i].e, k + 1,
                     value[k]);
    }
}

/* The same nodes at the same places, and the way back gives the bytes that were there. */
static void freed_numbers_can_be_bound_again(void **state) {
    sl_fixture *t = *state;
    int all = 0;
    for (int i = 0; i < sl_test_iters(t, 1000); i++) {
        double value[MOST];
        sl_rat exact[MOST];
        bool known[MOST];
        int n, seen = 0;
        const sl_node *free, *back;
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_formula(t);
        SL_MUST(t, sl_expr_free_numbers(&free, value, &n, MOST, &t->arena, e));
        SL_CHECK(t, sl_expr_valid(free, free->len) && sl_expr_nodes(free) == sl_expr_nodes(e),
                 "not well-formed: %s", text_of(e));
        const sl_node *c = free;
        for (const sl_node *d = e; d < e + e->len; d += sl_expr_step(d), c += sl_expr_step(c)) {
            if (c->op != SL_OP_PAR) continue;
            SL_CHECK(t, d->op == SL_OP_NUM && c->arg == ++seen, "out of order: %s", text_of(e));
            exact[seen - 1] = sl_expr_num_value(d);
            known[seen - 1] = true;
            SL_CHECK(t, value[seen - 1] == sl_expr_rat_double(exact[seen - 1]), "%s", text_of(e));
        }
        SL_CHECK(t, seen == n, "%d constants of %d are there: %s", seen, n, text_of(e));
        SL_MUST(t, sl_expr_bind(&back, &t->arena, free, exact, known));
        SL_CHECK(t, sl_expr_equal(back, e), "%s comes back as %s", text_of(e), text_of(back));
        all += n;
    }
    SL_CHECK(t, all > 1000, "only %d numbers", all);
}

static void bound_constants_leave_no_gap(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *e;
        sl_rat value[3];
        bool known[3];
        const char *want;
    } cases[] = {
        { "c1*x1 + c2*x2 + c3", { { 1, 1 } }, { true }, "x1 + c1*x2 + c2" },
        { "c1*x1 + c2*x2 + c3", { { 0 }, { 0, 1 } }, { false, true }, "c1*x1 + c2" },
        { "c1*x1 + c2*x2 + c3",
          { { 0 }, { 0 }, { -5, 2 } },
          { false, false, true },
          "c1*x1 + c2*x2 - 5/2" },
        { "c3*exp(c2*x1)", { { 0 }, { 0, 1 }, { 0 } }, { false, true, false }, "c2*exp(0)" },
        { "c1*x1*c2", { { 0, 1 } }, { true }, "0" },
        { "c1*x1*c2", { { INT64_MAX, 1 } }, { true }, "9223372036854775807*x1*c1" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *r;
        const size_t len = parsed(t, cases[i].e)->len;
        SL_MUST(t,
                sl_expr_bind(&r, &t->arena, parsed(t, cases[i].e), cases[i].value, cases[i].known));
        SL_CHECK(t, len && sl_expr_equal(r, parsed(t, cases[i].want)), "%s becomes %s", cases[i].e,
                 text_of(r));
    }
}

static void limits_are_reported(void **state) {
    sl_fixture *t = *state;
    const sl_node *r = NULL, *x = sl_expr_var(&t->arena, 1);
    double value[4] = { 0 };
    int n = -1;
    const sl_node *e = parsed(t, "2*x1 + 3*x2 + 4");
    size_t mark = sl_arena_mark(&t->arena);
    assert_int_equal(sl_expr_free_numbers(&r, value, &n, 2, &t->arena, e), SL_ELIMIT);
    assert_int_equal(sl_expr_free_numbers(&r, value, &n, 3, &t->arena, parsed(t, "c4*x1")),
                     SL_ELIMIT);
    assert_true(value[2] == 0 && n == -1 && !r); // room for two is not used for three
    sl_arena_rewind(&t->arena, mark);

    const sl_rat big[2] = { { INT64_MAX, 1 }, { INT64_MAX, 1 } };
    const bool both[2] = { true, true };
    e = parsed(t, "c1*c2*x1");
    mark = sl_arena_mark(&t->arena);
    assert_int_equal(sl_expr_bind(&r, &t->arena, e, big, both), SL_EOVERFLOW);
    assert_int_equal(sl_arena_mark(&t->arena), mark);
    assert_null(r);

    const sl_node *terms[200];
    for (int i = 0; i < SL_LEN(terms); i++) terms[i] = x;
    const sl_node *sum = sl_expr_nary(&t->arena, SL_OP_ADD, terms, SL_LEN(terms));
    assert_int_equal(sl_expr_substitute(&r, &t->arena, sum, &sum, 1), SL_ELIMIT);
    for (int i = 0; i < SL_EXPR__DEEP; i++) x = sl_expr_fn(&t->arena, SL_OP_SIN, x);
    assert_non_null(x);
    assert_int_equal(sl_expr_substitute(&r, &t->arena, x, &sum, 1), SL_ELIMIT);
    assert_null(r);
}

/* ---------------------------------------------------------------- variables ----------------- */

/* The value of e with expressions in it is the value of e at their values. */
static void substitution_is_composition(void **state) {
    sl_fixture *t = *state;
    int judged = 0;
    for (int i = 0; i < sl_test_iters(t, 1000); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_formula(t), *r, *with[VARS] = { NULL };
        double x[VARS], u[VARS], a, b;
        const double *at_x[VARS] = { &x[0], &x[1] }, *at_u[VARS] = { &u[0], &u[1] };
        for (int k = 0; k < VARS; k++) u[k] = x[k] = sl_rng_range(&t->rng, 0, 2);
        for (int k = 0; k < VARS; k++) {
            if (pick(&t->rng, 3) == 0) continue;
            const sl_expr_random_options o = {
                2, VARS, 2, 0.3, sl_rng_below(&t->rng, 2) ? SL_EXPR_ALL_OPERATORS : 0, true
            };
            SL_MUST(t, sl_expr_random(&with[k], &t->arena, &t->rng, &o));
            SL_MUST(t, sl_expr_eval(&u[k], &t->arena, with[k], at_x, 1, NULL));
        }
        SL_MUST(t, sl_expr_substitute(&r, &t->arena, e, with, 1 + i % VARS));
        if (i % VARS == 0) u[1] = x[1]; // only x1 was to be replaced
        SL_CHECK(t, sl_expr_valid(r, r->len), "not well-formed: %s", text_of(e));
        SL_MUST(t, sl_expr_eval(&a, &t->arena, r, at_x, 1, NULL));
        SL_MUST(t, sl_expr_eval(&b, &t->arena, e, at_u, 1, NULL));
        SL_CHECK(t, a == b || (isnan(a) && isnan(b)), "%.17g is not %.17g: %s", a, b, text_of(e));
        judged += isfinite(a);
    }
    SL_CHECK(t, judged > 300, "judged only %d", judged);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_node *r, *e = parsed(t, "2*x1 + 3*exp(4*x2) + c1");
    const sl_rat two = SL_RAT(2);
    const bool known = true;
    double value[8];
    int n;
    SL_EACH_ALLOCATION(t, sl_expr_free_numbers(&r, value, &n, 8, &t->arena, e));
    SL_EACH_ALLOCATION(t, sl_expr_bind(&r, &t->arena, e, &two, &known));
    SL_EACH_ALLOCATION(t, sl_expr_substitute(&r, &t->arena, e, &e, 1));
}

static void functions_of_zero_are_numbers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *e, *want;
    } cases[] = { { "x1*exp(0)", "x1" },
                  { "x1 + sin(0*x2)", "x1" },
                  { "exp(sin(0)) + cos(0)", "2" },
                  { "exp(sin(exp(0) - 1)*x1 + x2)", "exp(x2)" },
                  { "sin(x1)", "sin(x1)" } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *r;
        SL_MUST(t, sl_expr_fold(&r, &t->arena, parsed(t, cases[i].e)));
        SL_CHECK(t, sl_expr_equal(r, parsed(t, cases[i].want)), "%s", cases[i].e);
    }
    const sl_node *r, *e = parsed(t, "exp(sin(exp(0) - 1)*x1 + x2)");
    SL_EACH_ALLOCATION(t, sl_expr_fold(&r, &t->arena, e));
}

/* ---------------------------------------------------------------- decimals ------------------ */

static void decimals_are_printed_where_people_write_them(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "17*sin(23*x1/10 + 2/5)/10", "1.7*sin(2.3*x1 + 0.4)" },
        { "-981*x1/100 + x2/2", "-9.81*x1 + x2/2" },
        { "x1 - 17*x2/1000", "x1 - 0.017*x2" },
        { "c1*x1 + 33/20", "2.5*x1 + 1.65" },
        { "17*x1^(23/10)/10", "1.7*x1^(23/10)" },
        { "17*x1/30", "17*x1/30" },
        { "2*x1*x2^2/5", "2*x1*x2^2/5" },
        { "3*x1/10", "3*x1/10" },
        { "17*x1/2", "17*x1/2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value[MOST] = { 2.5 };
        const sl_node *e = parsed(t, cases[i][0]), *shown;
        sl_str s = { 0 };
        int n;
        SL_MUST(t, sl_expr_free_decimals(&shown, value, &n, MOST, &t->arena, e));
        SL_MUST(t, sl_expr_print_values(&s, SL_FORMAT_INFIX, shown, NULL, value));
        assert_string_equal(sl_str_text(&s), cases[i][1]);
        sl_str_clear(&s);
    }
}

static void decimals_do_not_change_values(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        const sl_node *e = random_formula(t), *shown;
        double value[MOST], x[VARS], was, is;
        int n;
        for (int v = 0; v < VARS; v++) x[v] = 1 + 2 * sl_rng_uniform(&t->rng);
        const double *column[VARS] = { &x[0], &x[1] };
        // numbers of random formulas are whole: tenths make decimals of them
        const sl_node *tenth = parsed(t, "13*x1/10 + 7/25"), *by[1] = { e };
        SL_MUST(t, sl_expr_substitute(&e, &t->arena, tenth, by, 1));
        SL_MUST(t, sl_expr_free_decimals(&shown, value, &n, MOST, &t->arena, e));
        assert_true(n >= 2);
        SL_MUST(t, sl_expr_eval(&was, &t->arena, e, column, 1, NULL));
        SL_MUST(t, sl_expr_eval(&is, &t->arena, shown, column, 1, value));
        if (isfinite(was) && fabs(was) < 1e6) assert_true(fabs(is - was) <= 1e-9 * (1 + fabs(was)));
        sl_arena_clear(&t->arena);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(functions_of_zero_are_numbers),
        SL_TEST(numbers_become_constants_in_order),
        SL_TEST(freed_numbers_can_be_bound_again),
        SL_TEST(bound_constants_leave_no_gap),
        SL_TEST(limits_are_reported),
        SL_TEST(substitution_is_composition),
        SL_TEST(decimals_are_printed_where_people_write_them),
        SL_TEST(decimals_do_not_change_values),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("expr.replace", tests, SL_LEN(tests));
}
