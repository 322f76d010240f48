#include "skeleton_check.h"

static const int levels[] = { VARIED_TWO };

static const at_level formulas[] = {
    // constants inside a divisor and a numerator: they meet in one column
    { "-9*x1*x2/(x2^2 - 9*sin(3*x1)) + sin(6*x1 + 8)/(x2^2 - sin(x1))", 2, VARIED_TWO },
    // inside two divisors, without phases: with them columns are too many
    { "x1/(x1 + 3*sin(4*x2)) + x2/(2*x1 + sin(7*x2) + 5)", 2, VARIED_TWO },
    // inside two numerators
    { "(exp(-2*x1) + 3)/(x1 + 4*x2 + 3) + (x1 - 2)*(sin(6*x2) + 5)", 2, VARIED_TWO },
};

static void two_constants_inside_functions_are_found(void **state) {
    check_levels(*state, &full_grammar, formulas, SL_LEN(formulas), 0.3, 3);
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, formulas[0].text, 2, 64, 0.3, 3);
    check_threads(t, &full_grammar, VARIED_TWO, VARIED_TWO);
}

static void other_functions_have_no_formula(void **state) {
    check_other_functions(*state, levels, SL_LEN(levels));
}

static void hostile_tables_are_harmless(void **state) {
    check_hostile_tables(*state, levels, SL_LEN(levels));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(two_constants_inside_functions_are_found),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(other_functions_have_no_formula),
        SL_TEST(hostile_tables_are_harmless),
    };
    return sl_test_main("search.skeleton_vary_two", tests, SL_LEN(tests));
}
