#include "skeleton_check.h"

/* Two constants inside, in further places. */
static const at_level formulas[] = {
    // of a function of two inputs; one inside the other
    { "exp(-2*x1*(x2 + 1)) + x2*sin(x1) - 3", 2, 8 },
    { "x1*x2 + x2*exp(2*sin(x1 + 1))", 2, 8 },
    // in two factors of one term, one with a phase
    { "-2*x1 - exp(x2) - sin(2*x1 - 1)/sqrt(x1 + 1)", 2, 6 },
    // a fraction in the square under a root
    { "x1/(x2 - 2) + 2*x2 - sqrt((2*x1 - 1)^2)", 2, 7 },
};

static void two_constants_inside_are_found(void **state) {
    check_levels(*state, &small_grammar, formulas, SL_LEN(formulas), 0.2, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = { SL_TEST(two_constants_inside_are_found) };
    return sl_test_main("search.long_skeleton_two", tests, SL_LEN(tests));
}
