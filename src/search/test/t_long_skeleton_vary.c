#include "skeleton_check.h"

static const at_level formulas[] = {
    // a constant inside a function of two columns, without its phase: with it there are too many
    { "(1/sqrt(x2) + 3)*x1^2/(x1 + x2 + 7) + (sin(9*x2) - 5)/(sqrt(x2)*(x1 + 2*x2))", 2, VARIED },
    // many products with its function: those of further columns are left out
    { "x1*x2*(exp(-x2) + 7) + 8*x1/(sin(x2 + 5) - 9) + (x2 - 5)/(8*sin(x2 + 3) + 9)", 2, VARIED },
    // many columns of the other term: its further ones are left out
    { "(x2 - 4)*(sin(7*x1) + 3)/x1^2 + sin(x1)*sin(x2)/(3*x1 + 2)^2", 2, VARIED },
    // many columns of the function of a divisor that has it
    { "x1/(x2 + sin(2*x1 - 1) + 3) + x2/(x2 + 2*sin(x1) + 5)", 2, VARIED_WIDE },
    // the same constant in a numerator and in a divisor
    { "x1*sin(5*x2 + 2)/(x1 + 4*x2) - 3*x2/(x1 + 2*sin(5*x2) + 7)", 2, ALIKE },
};

static void constants_inside_functions_are_found(void **state) {
    check_levels(*state, &full_grammar, formulas, SL_LEN(formulas), 0.3, 3);
}

static void nearly_dependent_columns_have_their_formula(void **state) {
    static const at_level cases[] = {
        { "-(exp(3*x1) - 3)*(sin(x2 + 6) + 1)/(x1*(4*x1 - 1))", 2, VARIED },
    };
    check_levels(*state, &full_grammar, cases, SL_LEN(cases), 0.5, 1.2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(constants_inside_functions_are_found),
        SL_TEST(nearly_dependent_columns_have_their_formula),
    };
    return sl_test_main("search.long_skeleton_vary", tests, SL_LEN(tests));
}
