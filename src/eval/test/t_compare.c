/* Is a candidate the truth? Whatever is written otherwise is, whatever has other values is not; and
 * where nothing can be said, the answer is no. */
#include "eval/test/small.h"

#include "expr/expr_test.h"

static sl_verdict compare(sl_fixture *t, const sl_node *expr, const double *value,
                          const sl_eval_problem *p) {
    sl_verdict v;
    const size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_eval_compare(&v, &t->arena, expr, value, p));
    SL_CHECK(t, sl_arena_mark(&t->arena) == mark, "memory of the arena is kept");
    return v;
}

static const sl_node *tidy(sl_fixture *t, const sl_node *e) {
    const sl_node *out;
    return sl_expr_tidy(&out, &t->arena, e) == SL_OK ? out : NULL;
}

/* A random truth that is real at 40 points or more and no constant, and a problem of it. */
static bool random_problem(sl_fixture *t, sl_eval_problem *p) {
    static const sl_expr_random_options how = { 3, 2, 5, 0.1, 0, false };
    const sl_node *e, *form;
    SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &how));
    e = tidy(t, e);
    if (!e || sl_expr_has_undefined(e) || sl_expr_canon(&form, &t->arena, e) != SL_OK) return false;
    if (sl_expr_max_var(form) == 0) return false;
    const double hi = sl_rng_below(&t->rng, 2) ? 2 : 9;
    *p = problem_of(t, e, -hi, hi, 40, 60);
    return p->data.rows == 40;
}

/* ---------------------------------------------------------------- laws ---------------------- */

/* Permuted and rebracketed, it is proved; with decimals for its numbers, it is found equal. */
static void what_is_written_otherwise_is_the_truth(void **state) {
    sl_fixture *t = *state;
    int equal = 0, all = 0, fitted = 0;
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        sl_eval_problem p;
        const sl_node *other;
        sl_arena_rewind(&t->arena, 0);
        if (!random_problem(t, &p)) continue;
        SL_MUST(t, sl_expr_rewrite(&other, &t->arena, &t->rng, p.truth));
        const sl_verdict v = compare(t, other, NULL, &p);
        SL_CHECK(t, v == SL_VERDICT_SOLVED, "%s as %s: %s", text_of(p.truth), text_of(other),
                 sl_eval_verdict_name(v));
        all++;

        double value[SL_FIT_MAX_PARAMS];
        int n;
        if (sl_expr_free_numbers(&other, value, &n, SL_LEN(value), &t->arena, p.truth) != SL_OK)
            continue;
        if (n == 0) continue;
        // as a fit leaves them
        for (int k = 0; k < n; k++) value[k] *= 1 + 1e-13 * sl_rng_range(&t->rng, -1, 1);
        fitted++;
        equal += compare(t, other, value, &p) == SL_VERDICT_EQUAL;
    }
    SL_CHECK(t, all > 100 && fitted > 50, "only %d problems, %d with constants", all, fitted);
    // the rest is too sensitive to its constants
    SL_CHECK(t, equal > fitted * 19 / 20, "%d of %d fitted ones are equal", equal, fitted);
}

/* Where the values differ by 1e-7 of them at some point, it is not the truth. */
static void what_has_other_values_is_not(void **state) {
    sl_fixture *t = *state;
    int all = 0;
    for (int i = 0; i < sl_test_iters(t, 400); i++) {
        sl_eval_problem p;
        sl_arena_rewind(&t->arena, 0);
        if (!random_problem(t, &p)) continue;
        static const char *const change[] = { "1/1000000", "x1/10000", "sin(x2)/100000", "1" };
        const sl_node *operand[2] = { p.truth, parsed(t, change[i % SL_LEN(change)]) };
        const sl_node *e = tidy(t, sl_expr_nary(&t->arena, SL_OP_ADD, operand, 2));
        if (!e) continue;
        // in double, by the evaluation that this folder does not use
        double y[60];
        int differ = 0;
        SL_MUST(t, sl_expr_eval(y, &t->arena, e, p.fresh.x, p.fresh.rows, NULL));
        for (int k = 0; k < p.fresh.rows; k++)
            differ += fabs(y[k] - p.fresh.y[k]) > 1e-7 * fabs(p.fresh.y[k]);
        if (differ < 30) continue; // huge ones hide it
        sl_verdict v = compare(t, e, NULL, &p);
        SL_CHECK(t, v == SL_VERDICT_MISS, "%s for %s: %s", text_of(e), text_of(p.truth),
                 sl_eval_verdict_name(v));
        all++;
    }
    SL_CHECK(t, all > 150, "only %d", all);
}

/* ---------------------------------------------------------------- cases --------------------- */

typedef struct given {
    const char *truth, *expr;
    double lo, hi;
    sl_verdict verdict;
} given;

static void cases(void **state) {
    sl_fixture *t = *state;
    static const given list[] = {
        { "x1 + x2", "x2 + x1", -2, 2, SL_VERDICT_SOLVED },
        { "(x1 + 1)**2", "x1**2 + 2*x1 + 1", -2, 2, SL_VERDICT_SOLVED },
        { "x1", "sqrt(x1**2)", 1, 2, SL_VERDICT_EQUAL }, // no rule says so, but it is so here
        { "x1", "sqrt(x1**2)", -2, 2, SL_VERDICT_MISS }, // and not here
        { "x1 + x2", "x1 + x2 + 1/1000000000000000", 1, 2, SL_VERDICT_EQUAL }, // 1e-15 of 2
        { "x1 + x2", "x1 + x2 + 1/100000000", 1, 2, SL_VERDICT_MISS },         // 1e-8
        { "x1 + x2", "(x1 + x2)*1.00000000001", -2, 2, SL_VERDICT_EQUAL },
        { "x1 + x2", "(x1 + x2)*1.00000001", -2, 2, SL_VERDICT_MISS },
        // small values are values
        { "exp(-100*x1**2)", "2*exp(-100*x1**2)", 1, 2, SL_VERDICT_MISS },
        { "exp(-100*x1**2)", "exp(-100*x1**2)*x2/x2", 1, 2, SL_VERDICT_SOLVED },
        { "exp(-100*x1**2)", "0", 1, 2, SL_VERDICT_MISS },
        { "1/10**15*x1", "1/10**15*x2", 1, 2, SL_VERDICT_MISS },
        // the truth's domain is what counts
        { "sqrt(x1)", "sqrt(x1) + x1 - sqrt(x1**2)", -2, 2, SL_VERDICT_EQUAL },
        { "x1", "sqrt(x1)*sqrt(sqrt(x1**2))", 1, 2, SL_VERDICT_EQUAL },
        { "x1", "sqrt(x1)*sqrt(sqrt(x1**2))", -2, 2, SL_VERDICT_MISS },
        { "x1", "exp(x1)/exp(x1 + sqrt(x2))", -2, 2, SL_VERDICT_MISS },
        // nothing can be said of such sines
        { "sin(exp(60*x1))", "sin(exp(60*x1) + sin(x2)/10**6)", 1, 2, SL_VERDICT_MISS },
        { "x1", "x1 + x3", -2, 2, SL_VERDICT_MISS },
        { "x1", "1/0", -2, 2, SL_VERDICT_MISS },
        { "x1*x2", "x1*x2 + exp(-exp(x1 + 3))", 1, 2, SL_VERDICT_EQUAL },
    };
    for (int i = 0; i < SL_LEN(list); i++)
        for (int with = 0; with < 2; with++) {
            const given *g = &list[i];
            sl_arena_rewind(&t->arena, 0);
            const sl_eval_problem p =
                problem_of(t, parsed(t, g->truth), g->lo, g->hi, 50, with ? 50 : 0);
            const sl_verdict v = compare(t, parsed(t, g->expr), NULL, &p);
            SL_CHECK(t, v == g->verdict, "%s for %s, %d fresh: %s, not %s", g->expr, g->truth,
                     with ? 50 : 0, sl_eval_verdict_name(v), sl_eval_verdict_name(g->verdict));
        }
}

/* A constant that a fit left a little off shows where terms cancel, and is still the truth. */
static void fitted_constants_may_be_a_little_off(void **state) {
    sl_fixture *t = *state;
    const sl_node *expr = parsed(t, "x1 + c1*x2");
    sl_eval_problem p = problem_of(t, parsed(t, "x1 - 2*x2"), -2, 2, 200, 0);
    static double x2[200], y[200];
    for (int i = 0; i < 200; i++) {
        x2[i] = i < 100 ? 1.5 : p.data.x[0][i] / 2 * (1 + 1e-6); // six digits cancel
        y[i] = p.data.x[0][i] - 2 * x2[i];
    }
    p.data.x[1] = x2;
    p.data.y = y;
    static const struct {
        double c;
        sl_verdict verdict;
    } list[] = {
        { -2, SL_VERDICT_EQUAL },
        { -2 * (1 + 1e-13), SL_VERDICT_EQUAL },
        { -2 * (1 - 1e-13), SL_VERDICT_EQUAL },
        { -2 * (1 + 1e-8), SL_VERDICT_MISS },
        { -2 * (1 - 1e-8), SL_VERDICT_MISS },
        { 2, SL_VERDICT_MISS },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        const sl_verdict v = compare(t, expr, &list[i].c, &p);
        SL_CHECK(t, v == list[i].verdict, "%.17g: %s", list[i].c, sl_eval_verdict_name(v));
    }
}

/* With few points all must say yes, and there must be more of them than constants. */
static void few_points_have_little_evidence(void **state) {
    sl_fixture *t = *state;
    static const double one[4] = { 1, 1, 1, 1 }, two[4] = { 2, 2, 2, 2 };
    static const double some[4] = { 1, 2, 1, 2 };
    const sl_node *truth = parsed(t, "x1 + x2"), *wrong = parsed(t, "x1*x2 + 1");
    sl_eval_problem p = { .id = "p",
                          .truth = truth,
                          .data = { .inputs = 2, .rows = 4, .x = { one, two }, .y = two } };
    // the box around such rows is a point, and there the two agree
    assert_int_equal(compare(t, wrong, NULL, &p), SL_VERDICT_EQUAL);
    p.data.x[0] = some;
    assert_int_equal(compare(t, wrong, NULL, &p), SL_VERDICT_MISS);

    // right at all rows, but not between them
    p.truth = parsed(t, "x1");
    assert_int_equal(compare(t, parsed(t, "x1**2 - 2*x1 + 2"), NULL, &p), SL_VERDICT_MISS);

    // a line through points of a product
    p.truth = parsed(t, "x1*x2");
    p.fresh = sl_data_view(p.data.x, 2, two, 3);
    const sl_node *fit = parsed(t, "c1*x1 + c2");
    static const double value[2] = { 2, 0 };
    assert_int_equal(compare(t, fit, value, &p), SL_VERDICT_EQUAL); // 7 points, 2 constants
    p.data.rows = 1;
    p.fresh.rows = 1;
    assert_int_equal(compare(t, fit, value, &p), SL_VERDICT_MISS); // 2 points, 2 constants
}

/* Proposals over inputs of mean 0 and variance 1 can have more constants than are ever fitted. */
static void any_number_of_constants_will_do(void **state) {
    sl_fixture *t = *state;
    enum { N = 2 * SL_FIT_MAX_PARAMS };
    double value[N];
    sl_str s = { 0 };
    for (int k = 0; k < N; k++) {
        value[k] = 0.25;
        sl_str_addf(&s, "%sc%d*x1", k > 0 ? " + " : "", k + 1);
    }
    SL_MUST(t, sl_str_status(&s));
    const sl_node *expr = parsed(t, s.text);
    sl_str_clear(&s);
    const sl_eval_problem p = problem_of(t, parsed(t, "12*x1"), 1, 2, 40, 60);
    assert_int_equal(sl_expr_max_par(expr), N);
    assert_int_equal(compare(t, expr, value, &p), SL_VERDICT_EQUAL);
    value[N - 1] = 1;
    assert_int_equal(compare(t, expr, value, &p), SL_VERDICT_MISS);
}

static void many_rows_are_sampled_evenly(void **state) {
    sl_fixture *t = *state;
    enum { ROWS = 5000 };
    const sl_node *truth = parsed(t, "x1 + x2");
    const sl_eval_problem p = problem_of(t, truth, 1, 2, ROWS, 30);
    assert_int_equal(compare(t, parsed(t, "x1 + sqrt(x2**2)"), NULL, &p), SL_VERDICT_EQUAL);
    // differs in the last rows alone
    double *x2 = sl_arena_alloc(&t->arena, ROWS * sizeof *x2);
    for (int i = 0; i < ROWS; i++) x2[i] = i < ROWS - 20 ? p.data.x[1][i] : -1;
    sl_eval_problem q = p;
    q.data.x[1] = x2;
    assert_int_equal(compare(t, parsed(t, "x1 + sqrt(x2**2)"), NULL, &q), SL_VERDICT_MISS);
}

static sl_status compare_once(sl_fixture *t, const sl_node *expr, const sl_eval_problem *p) {
    sl_verdict v;
    return sl_eval_compare(&v, &t->arena, expr, NULL, p);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_node *expr = parsed(t, "x1*sin(x2)*sqrt(x1**2)");
    const sl_eval_problem p = problem_of(t, parsed(t, "x1**2*sin(x2)"), 1, 2, 20, 0);
    SL_EACH_ALLOCATION(t, compare_once(t, expr, &p));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_is_written_otherwise_is_the_truth),
        SL_TEST(what_has_other_values_is_not),
        SL_TEST(cases),
        SL_TEST(fitted_constants_may_be_a_little_off),
        SL_TEST(few_points_have_little_evidence),
        SL_TEST(any_number_of_constants_will_do),
        SL_TEST(many_rows_are_sampled_evenly),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.compare", tests, SL_LEN(tests));
}
