/* Structure under noise: right whatever the constants are, wrong however close the values are. And
 * what is judged when the search answers. */
#include "eval/test/tiny.h"

/* Data of the truth with errors of 1 % in y. */
static sl_eval_problem noisy(sl_fixture *t, const char *truth) {
    sl_eval_problem p = problem_of(t, parsed(t, truth), 1, 3, 40, 60);
    double *y = sl_arena_alloc(&t->arena, 40 * sizeof *y);
    assert_non_null(y);
    for (int i = 0; i < 40; i++) y[i] = p.data.y[i] * (1 + 0.01 * sl_rng_normal(&t->rng));
    p.y_true = p.data.y;
    p.data.y = y;
    return p;
}

static void constants_do_not_matter_and_terms_do(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *truth, *found;
        bool right;
    } list[] = {
        { "3*x1*x2**2 + 2", "2.9*x1*x2**2 + 2.2", true },
        { "3*x1*x2**2 + 2", "2.9*x1*x2**2", false },
        { "3*x1*x2**2 + 2", "2.9*x1*x2**(5/2) + 2", false }, // exponents stay
        { "3*x1*x2**2", "2.9*x1*x2**2 + 0.001", true },      // a summand that becomes 0
        { "exp(-x1/2)*sin(x2)", "1.01*exp(-0.51*x1)*sin(0.99*x2)", true },
        { "x1/(x1 + 2*x2)", "1/(1.01 + 1.98*x2/x1)", true },       // written another way
        { "x1 + x2 + x1**3/10000", "1.001*x1 + 0.998*x2", false }, // as close as the noise
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        const sl_eval_problem p = noisy(t, list[i].truth);
        bool right;
        SL_MUST(t, sl_eval__structure(&right, &t->arena, parsed(t, list[i].found), NULL, &p));
        SL_CHECK(t, right == list[i].right, "%s for %s: %d", list[i].found, list[i].truth, right);
    }
}

/* Free constants have values of their own. */
static void fitted_constants_are_fitted_again(void **state) {
    sl_fixture *t = *state;
    const sl_eval_problem p = noisy(t, "7*x1*x2 + 1/3");
    const double value[] = { 6.9, 0.5 };
    bool right;
    SL_MUST(t, sl_eval__structure(&right, &t->arena, parsed(t, "c1*x1*x2 + c2"), value, &p));
    assert_true(right);
}

static sl_status once(sl_fixture *t, const sl_node *e, const sl_eval_problem *p) {
    bool right;
    return sl_eval__structure(&right, &t->arena, e, NULL, p);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_eval_problem p = noisy(t, "3*x1*x2");
    const sl_node *e = parsed(t, "2*x1*x2");
    SL_EACH_ALLOCATION(t, once(t, e, &p));
}

/* An exact law of the table: found, said to be exact, and how. */
static void a_formula_of_the_search_is_judged(void **state) {
    sl_fixture *t = *state;
    const sl_eval_problem p = problem_of(t, parsed(t, "x1*x2**2/2"), 1, 3, 30, 30);
    sl_discover_options o = sl_discover_defaults();
    sl_judgement j;
    o.search = SL_DISCOVER_EXHAUSTIVE;
    o.effort = SL_EFFORT_LOW;
    SL_MUST(t, sl_eval_judge(&j, &t->arena, NULL, NULL, &p, &o));
    SL_CHECK(t, j.verdict == SL_VERDICT_SOLVED && j.claimed, "%s: %s",
             sl_eval_verdict_name(j.verdict), j.expr);
    assert_true(*j.method && j.answered >= 0 && j.answered <= j.seconds);
    assert_true(j.structure && j.on_front && isnan(j.loss) && j.samples == 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(constants_do_not_matter_and_terms_do),
        SL_TEST(fitted_constants_are_fitted_again),
        SL_TEST(each_allocation_may_fail),
        SL_TEST(a_formula_of_the_search_is_judged),
    };
    return sl_test_main("eval.structure", tests, SL_LEN(tests));
}
