#include "skeleton_check.h"

/* Levels 1 and 3. t_skeleton_vary.c has those with a constant inside a function. */
static const int levels[] = { CLEARED, SOME };

static const at_level formulas[] = {
    // a divisor for each of two terms, of one structure: they may come out exchanged
    { "x1*x2/(2*x1^2 + x2) - sqrt(x2)*(x1 + 5)/(x2 + 2*(x1 + 1)^2)", 2, 1 },
    // a phase, and a sum with exp of a summand
    { "x1/(x1 + 4*sin(x2 + 2) + 9) - 6*exp(x2)/(x1 + sin(x2) + 3)", 2, 1 },
    { "x1/(x1 + 2*x2 + exp(x1)) - 3*x2/(x1 + 5*x2 + exp(x1 - 2) + 1)", 2, 1 },
    // divisors that are products, a power of one, three terms
    { "x1/(x2^2*(x1 + x2)) + 1/(x1*(5*x1 + x2)*(x2 + 6))", 2, 1 },
    { "-x2/(9*x1*(x1 + x2 + 5)) + sin(x1)/(x1*(x1 + 2*x2 + 8)) - 1/(x1 + 6*x2)", 2, SOME },
    // of the columns of divisors their own alone
    { "-x2^2/(x1 + 6*x2*sin(x1)) + 4*x2*sin(x2 - 4)/(x1 + 5*x2*sin(x1 - 3))", 2, SOME },
    // many other skeletons have enough smooth columns to come close
    { "x1*exp(x1)/(sin(x1) - 4) - x2*(x1 + 3)^2/(2*sin(x1) + 7)", 2, 1 },
    // canonical forms multiply a sum by what its terms are divided by: x1/x2 - sqrt(x1), and
    // exp(x1) - x2/x1, whose first term changes
    { "8*x2^(3/2)/(sqrt(x1)*(sqrt(x1) - x2 + 8)) + x2^2/(x1^(3/2)*(-3*sqrt(x1) - 3*x2 - 8))", 2,
      1 },
    { "x1^2/(x2*(x1*exp(x1) - 2*x2 - 9)) + x1^2/(x1*exp(x1) + 2*x2 + 1)", 2, 1 },
    // too many columns: two of three divisors have constants, and signs of the third matter
    { "x1/(sin(x1) + 3*exp(x2) + 7) + x2/(2*sin(x1 + 1) + exp(x2) + 2) - sqrt(x2)/(exp(x2) - "
      "sin(x1))",
      2, SOME },
    // one term
    { "(x1 - 7)/((x1 + 3*x2 + 3)*(exp(x2) + 5*sin(x1)))", 2, 1 },
};

static void constants_of_divisors_are_found(void **state) {
    check_levels(*state, &full_grammar, formulas, SL_LEN(formulas), 0.3, 3);
}

/* Three divisors of one structure, in six orders. */
static void divisors_are_put_in_order(void **state) {
    static const at_level alike[] = {
        { "x1/(2*sqrt(x1) + 2*exp(x1 + 4)) + x2^2/(sqrt(x1) + exp(x1 - 2) - 1) + "
          "6*x2/(sqrt(x1) + exp(x1) + 8)",
          2, 1 },
    };
    check_levels(*state, &full_grammar, alike, SL_LEN(alike), 0.02, 2);
}

/* Three divisors: few starts lead to their constants. One formula, of several tables. */
static void constants_of_three_divisors_are_found(void **state) {
    static const at_level three[] = {
        { "x1/((4*x1 - 7*x2 - 1)*(sqrt(x1) + exp(x2) + 1)*(x2 - 9))", 2, 1 },
        { "1/((6*x1 - 9*x2 - 7)*(sqrt(x1) + exp(x2) - 5)*(x2 - 4))", 2, 1 },
        { "1/((6*x1 - 9*x2 - 7)*(sqrt(x1) + exp(x2) - 5)*(x2 - 4))", 2, 1 },
        { "1/((6*x1 - 9*x2 - 7)*(sqrt(x1) + exp(x2) - 5)*(x2 - 4))", 2, 1 },
    };
    check_levels(*state, &full_grammar, three, SL_LEN(three), 0.01, 2.2);
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, formulas[0].text, 2, 64, 0.3, 3);
    check_threads(t, &full_grammar, CLEARED, CLEARED);
}

static void other_functions_have_no_formula(void **state) {
    check_other_functions(*state, levels, SL_LEN(levels));
}

static void hostile_tables_are_harmless(void **state) {
    check_hostile_tables(*state, levels, SL_LEN(levels));
}

static sl_status run_small(const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(run_skeletons(&r, NULL, o, CLEARED, CLEARED));
    sl_search_result_free(r);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = with_grammar(&full_grammar);
    plant(&table, t, "x1/(x1 + 7) + sin(x1)", 1, 50, 0.3, 3);
    SL_EACH_ALLOCATION(t, run_small(&o));
}

/* Names of factors add up to that of their product. */
static void names_add_up(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][3] = {
        { "x1", "x2", "x1*x2" },
        { "x1^2", "x1^(-1/2)", "x1^(3/2)" },
        { "sin(x1)*x2", "sin(x1)^2*x2", "sin(x1)^3*x2^2" },
        { "1/(x1 + x2)", "x1 + x2", "1" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        uint64_t name[3];
        for (int k = 0; k < 3; k++) {
            const sl_node *e;
            SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, cases[i][k],
                                     strlen(cases[i][k]), NULL, NULL));
            SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));
            name[k] = sl_search__skeleton_name(e);
        }
        SL_CHECK(t, name[0] + name[1] == name[2], "%s and %s", cases[i][0], cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(constants_of_divisors_are_found),  SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(divisors_are_put_in_order),        SL_TEST(constants_of_three_divisors_are_found),
        SL_TEST(other_functions_have_no_formula),  SL_TEST(hostile_tables_are_harmless),
        SL_TEST(failing_allocations_are_reported), SL_TEST(names_add_up),
    };
    return sl_test_main("search.skeleton_clear", tests, SL_LEN(tests));
}
