#include "skeleton_check.h"

static const at_level formulas[] = {
    // inside two divisors
    { "2*x1/(x2^2 - exp(-3*x2)) + (sin(x2 - 9) - 2)/(x2^2 - exp(7*x2) - 9)", 2, VARIED_TWO_MORE },
    // inside two numerators; sin^2 + cos^2 = 1 in y D
    { "-exp(8*x1)*(x1 - 7)/(x2*(sin(x2 + 9) + 3)) + (-9*exp(-x1) - 8)*(sin(x1) - 8)/sin(x2 + 5)", 2,
      VARIED_TWO_MORE },
};

static void two_constants_inside_functions_are_found(void **state) {
    check_levels(*state, &full_grammar, formulas, SL_LEN(formulas), -2, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(two_constants_inside_functions_are_found),
    };
    return sl_test_main("search.long_skeleton_vary_two", tests, SL_LEN(tests));
}
