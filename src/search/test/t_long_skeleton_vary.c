#include "skeleton_check.h"

static const at_level formulas[] = {
    // a constant inside a function of two columns, without its phase: with it there are too many
    { "(1/sqrt(x2) + 3)*x1^2/(x1 + x2 + 7) + (sin(9*x2) - 5)/(sqrt(x2)*(x1 + 2*x2))", 2, VARIED },
    // many columns of the other term: its further ones are left out
    { "(x2 - 4)*(sin(7*x1) + 3)/x1^2 + sin(x1)*sin(x2)/(3*x1 + 2)^2", 2, VARIED },
    // many columns of the function of a divisor that has it
    { "x1/(x2 + sin(2*x1 - 1) + 3) + x2/(x2 + 2*sin(x1) + 5)", 2, WIDE },
    // the same constant in a numerator and in a divisor
    { "x1*sin(5*x2 + 2)/(x1 + 4*x2) - 3*x2/(x1 + 2*sin(5*x2) + 7)", 2, ALIKE },
};

static void constants_inside_functions_are_found(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    find_each(t, &table, &sl_search__skeletons, &o, formulas, SL_LEN(formulas), -1, 0.3, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = { SL_TEST(constants_inside_functions_are_found) };
    return sl_test_main("search.long_skeleton_vary", tests, SL_LEN(tests));
}
