#include "skeleton_check.h"

/* Two constants inside: levels 6, 7, 8 and 10. */
static const at_level formulas[] = {
    // a fraction under a root
    { "x2^(3/2) + sin(x1)*sqrt(x2 + 1/2) + exp(x1)", 2, 7 },
    // two constants in one place of a divisor
    { "x1/(x1 - exp(x1)) - sin(x1)/(2*x1 - exp(x1) - 1)", 1, 8 },
    // of a function, in two places, and with a phase
    { "x1/sin(2*x2 - 1) + x1 + x2/sin(x2) - x2 - sin(x1) + 3", 2, 8 },
    { "x1*sin(2*x1 - 2*x2 + 1) + exp(x2)", 2, 8 },
    // a constant in each of two terms with a phase or a summand
    { "-sin(x1 + 4)/(x1 + exp(2*x1)) + (x1 + 6)/(x1 + exp(x1) + 2)", 1, 10 },
    // the same without a divisor
    { "(x1 + 3)*exp(2*x1) + 5*x1*sin(2*x1 + 1)", 1, 7 },
    // a constant in each of two factors of one term
    { "x1^2 + 3*sqrt(x1 + 2)/(sin(x1) + 2)", 1, 6 },
    // the same with a summand beside one of them, and with a phase
    { "exp(-x2)*(sqrt(x2) - 4) - sin(2*x2)*(exp(2*x1 - 2) - 2)", 2, 6 },
};

static void two_constants_inside_are_found(void **state) {
    check_levels(*state, &small_grammar, formulas, SL_LEN(formulas), 0.2, 3);
}

/* Behind levels 0 and 5, level 7 leaves out skeletons without fractions, but not this one. */
static void fractions_are_found_behind_other_levels(void **state) {
    static const at_level formula = {
        "exp(x1)*sqrt(x2 + 1/2) - x2^(3/2) - sin(x1)*exp(x1) + x2*sin(x1)", 2, 7
    };
    const sl_search_options o = with_grammar(&small_grammar);
    find_each(*state, &table, &sl_search__skeletons, &o, &formula, 1, 0, 0.2, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = { SL_TEST(two_constants_inside_are_found),
                                        SL_TEST(fractions_are_found_behind_other_levels) };
    return sl_test_main("search.skeleton_two", tests, SL_LEN(tests));
}
