#include "search/skeleton_impl.h"
#include "search_check.h"

static planted table;
static const sl_search_grammar grammar = SL_SEARCH_GRAMMAR_INIT;

static sl_search_options with_grammar(void) {
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &grammar;
    return o;
}

enum { CLEARED = 1, VARIED_BELOW = 2, SOME = 3, VARIED = 4, WIDE = 9, ALIKE = 11 }; // levels

static const int levels[] = { CLEARED, VARIED_BELOW, SOME, VARIED, WIDE, ALIKE };

static sl_status run_clear(sl_search_result **out, sl_pool *pool, const sl_search_options *o,
                           int level) {
    return run_method(out, &sl_search__skeletons, pool, &table.problem, o, level, level);
}

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
    // a constant inside a function of a numerator, of one column and of two
    { "x1/(2*x2) + (exp(-3*x2) - 8)/(x1 + 4*x2 + 3)", 2, VARIED },
    { "2*x1 + sqrt(x1)/(7*x1 + x2 + 4) - 7*sin(5*x2 + 8)", 2, VARIED },
    // the same without its phase: with it there are too many columns
    { "(1/sqrt(x2) + 3)*x1^2/(x1 + x2 + 7) + (sin(9*x2) - 5)/(sqrt(x2)*(x1 + 2*x2))", 2, VARIED },
    // many products with its function: those of further columns are left out
    { "x1*x2*(exp(-x2) + 7) + 8*x1/(sin(x2 + 5) - 9) + (x2 - 5)/(8*sin(x2 + 3) + 9)", 2, VARIED },
    // many columns of the other term: its further ones are left out
    { "(x2 - 4)*(sin(7*x1) + 3)/x1^2 + sin(x1)*sin(x2)/(3*x1 + 2)^2", 2, VARIED },
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
    // a constant inside a function of a divisor; beside another divisor that has none
    { "-14*x1/(8*x1 + x2 + sin(5*x1) + 7) - sin(x1)/(x1 + x2 + sin(x1))", 2, VARIED_BELOW },
    { "1/(x1*(sqrt(x2) + exp(x1))) + x2/(x1^2*(exp(x1) + sqrt(x2 + 9) + 5))", 2, VARIED_BELOW },
    // many columns of the function that has it, of a numerator and of a divisor
    { "16*x1^2/(x1 - 7*x2 - 7*sin(x1) + 9) - sin(9*x2 - 3)/(x1 + x2 + sin(x1) - 4)", 2, WIDE },
    { "x1/(x2 + sin(2*x1 - 1) + 3) + x2/(x2 + 2*sin(x1) + 5)", 2, WIDE },
    // the same constant in two numerators, in two divisors, in one of either
    { "x1*sin(7*x2 - 2)/(x1 + 3*x2) - x2*sin(7*x2)/(2*x1 + x2 + 5)", 2, ALIKE },
    { "x1/(x1 + exp(-3*x2) + 2) - 4*x2/(2*x1 + 7*exp(-3*x2))", 2, ALIKE },
    { "x1*sin(5*x2 + 2)/(x1 + 4*x2) - 3*x2/(x1 + 2*sin(5*x2) + 7)", 2, ALIKE },
};

static void constants_of_divisors_are_found(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    find_each(t, &table, &sl_search__skeletons, &o, formulas, SL_LEN(formulas), -1, 0.3, 3);
}

/* Columns over narrow ranges are nearly dependent, and terms cancel where y is next to 0: what is
 * left of a true dependence is more than rounding. */
static void nearly_dependent_columns_have_their_formula(void **state) {
    sl_fixture *t = *state;
    static const at_level cases[] = {
        { "16*x2/(8*x1 - x2 - exp(x1) - 13) + 5*sqrt(x2)/(x1 - x2 - exp(3*x1 - 3) + 13)", 2,
          VARIED_BELOW },
        { "-(exp(3*x1) - 3)*(sin(x2 + 6) + 1)/(x1*(4*x1 - 1))", 2, VARIED },
    };
    const sl_search_options o = with_grammar();
    find_each(t, &table, &sl_search__skeletons, &o, cases, SL_LEN(cases), -1, 0.5, 1.2);
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    sl_search_result *r[2];
    plant(&table, t, formulas[0].text, 2, 64, 0.3, 3);
    for (int i = 0; i < 2; i++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, 1 + 2 * i));
        SL_MUST(t, run_clear(&r[i], pool, &o, CLEARED));
        sl_par_pool_free(pool);
    }
    const bool same = r[0]->count > 0 && same_answers(r[0], r[1]);
    SL_CHECK(t, same, "%lld and %lld formulas", (long long)r[0]->count, (long long)r[1]->count);
    for (int i = 0; i < 2; i++) sl_search_result_free(r[i]);
}

/* A quotient with many coefficients comes close to any smooth function, and fits any numbers if
 * there are as many of them as rows. */
static void other_functions_have_no_formula(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[] = { NULL, "log(x1 + 3)", "tanh(x1/3) + 1", "x1^1.37 + 2",
                                         "atan(x1)" };
    const sl_search_options o = with_grammar();
    for (int i = 0; i < SL_LEN(levels) * SL_LEN(cases); i++) {
        sl_search_result *r;
        const char *text = cases[i / SL_LEN(levels)];
        plant(&table, t, text, 1, 64, 1, 1.5);
        SL_MUST(t, run_clear(&r, NULL, &o, levels[i % SL_LEN(levels)]));
        SL_CHECK(t, r->count == 0, "%s: %s", text ? text : "random numbers",
                 text_of(t, &r->formula[0]));
        SL_CHECK(t, r->tried > 0, "nothing was tried");
        sl_search_result_free(r);
    }
}

static void hostile_tables_are_harmless(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    for (int i = 0; i < 12; i++) {
        sl_search_result *r;
        plant_hostile(&table, t, i, 50);
        table.problem.inputs = 1;
        SL_MUST(t, run_clear(&r, NULL, &o, levels[i % SL_LEN(levels)]));
        sl_search_result_free(r);
    }
}

static sl_status run_small(const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(run_clear(&r, NULL, o, CLEARED));
    sl_search_result_free(r);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = with_grammar();
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
        SL_TEST(constants_of_divisors_are_found),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(nearly_dependent_columns_have_their_formula),
        SL_TEST(other_functions_have_no_formula),
        SL_TEST(hostile_tables_are_harmless),
        SL_TEST(failing_allocations_are_reported),
        SL_TEST(names_add_up),
    };
    return sl_test_main("search.skeleton_clear", tests, SL_LEN(tests));
}
