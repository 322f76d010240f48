#include "skeleton_check.h"

static const int levels[] = { VARIED_BELOW, VARIED, VARIED_WIDE, ALIKE, BOTH, ONE_TERM };

static const at_level formulas[] = {
    // a constant inside a function of a numerator, of one column and of two
    { "x1/(2*x2) + (exp(-3*x2) - 8)/(x1 + 4*x2 + 3)", 2, VARIED },
    { "2*x1 + sqrt(x1)/(7*x1 + x2 + 4) - 7*sin(5*x2 + 8)", 2, VARIED },
    // one term of five factors
    { "-4*x1*sin(8*x1)/(x2*(9*x1*x2 - 1)*(9*x1 + x2 + 9))", 2, VARIED },
    // a constant inside a function of a divisor; beside another divisor that has none
    { "-14*x1/(8*x1 + x2 + sin(5*x1) + 7) - sin(x1)/(x1 + x2 + sin(x1))", 2, VARIED_BELOW },
    { "1/(x1*(sqrt(x2) + exp(x1))) + x2/(x1^2*(exp(x1) + sqrt(x2 + 9) + 5))", 2, VARIED_BELOW },
    // many columns of the function of a numerator that has it
    { "16*x1^2/(x1 - 7*x2 - 7*sin(x1) + 9) - sin(9*x2 - 3)/(x1 + x2 + sin(x1) - 4)", 2,
      VARIED_WIDE },
    // the same constant in two numerators, in two divisors
    { "x1*sin(7*x2 - 2)/(x1 + 3*x2) - x2*sin(7*x2)/(2*x1 + x2 + 5)", 2, ALIKE },
    { "x1/(x1 + exp(-3*x2) + 2) - 4*x2/(2*x1 + 7*exp(-3*x2))", 2, ALIKE },
    // one term: a constant in the numerator and one in a divisor, two in one divisor
    { "4*exp(x2)*(sqrt(x2 + 1) - 5)/(3*x1*(x2 - 7) + sin(9*x1))", 2, BOTH },
    { "(exp(-3*x2) + 8)/((x1 + 7)*(2*exp(5*x1) - 9))", 2, BOTH },
    { "x1*(x2 - 5)/(sin(4*x1 + 7) + 3*exp(-2*x2) + 6)", 2, BOTH },
    // two factors, none of them a divisor
    { "sin(exp(2*x1))*(1/sqrt(x1 + x2 + 5) - 5)", 2, ONE_TERM },
    { "(exp(-9*x2) + 4)*(1/sqrt(x2 + 6) - 5)/(exp(x1) + exp(x2))", 2, ONE_TERM },
};

static void constants_inside_functions_are_found(void **state) {
    check_levels(*state, &full_grammar, formulas, SL_LEN(formulas), 0.3, 3);
}

/* Columns over narrow ranges are nearly dependent, and terms cancel where y is next to 0: what is
 * left of a true dependence is more than rounding. */
static void nearly_dependent_columns_have_their_formula(void **state) {
    static const at_level cases[] = {
        { "16*x2/(8*x1 - x2 - exp(x1) - 13) + 5*sqrt(x2)/(x1 - x2 - exp(3*x1 - 3) + 13)", 2,
          VARIED_BELOW },
    };
    check_levels(*state, &full_grammar, cases, SL_LEN(cases), 0.5, 1.2);
}

/* A root in a divisor, of what has both signs without its constant. */
static void roots_of_both_signs_have_their_constant(void **state) {
    static const at_level cases[] = {
        { "x2*(exp(x1) + 3)/(sqrt(x2 + 5) + 4*x1 - 7)", 2, VARIED_BELOW },
        { "x1/(2*x1 + sqrt(-x2 + 4) - 9) + x2/(x1 + 3)", 2, VARIED_BELOW },
    };
    check_levels(*state, &full_grammar, cases, SL_LEN(cases), -0.9, 1.8);
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, "(exp(-3*x2) + 8)/((x1 + 7)*(2*exp(5*x1) - 9))", 2, 64, 0.3, 3);
    check_threads(t, &full_grammar, BOTH, BOTH);
}

static sl_status run_both(const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(run_skeletons(&r, NULL, o, BOTH, BOTH));
    sl_search_result_free(r);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = with_grammar(&small_grammar);
    plant(&table, t, "(exp(2*x1) - 2)/(x1 + exp(-2*x1))", 1, 50, 0.3, 3);
    SL_EACH_ALLOCATION(t, run_both(&o));
}

static void other_functions_have_no_formula(void **state) {
    check_other_functions(*state, levels, SL_LEN(levels));
}

static void hostile_tables_are_harmless(void **state) {
    check_hostile_tables(*state, levels, SL_LEN(levels));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(constants_inside_functions_are_found),
        SL_TEST(nearly_dependent_columns_have_their_formula),
        SL_TEST(roots_of_both_signs_have_their_constant),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(failing_allocations_are_reported),
        SL_TEST(other_functions_have_no_formula),
        SL_TEST(hostile_tables_are_harmless),
    };
    return sl_test_main("search.skeleton_vary", tests, SL_LEN(tests));
}
