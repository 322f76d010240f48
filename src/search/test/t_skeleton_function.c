#include "skeleton_check.h"

static const at_level formulas[] = {
    // the branch of the inverse sine is not known; a phase
    { "2*sin(sqrt(x1) - 4*x2^2) + 1", 2, FUNCTIONS },
    { "5*sin(x2^2 + sin(2*x1) - 1)", 2, FUNCTIONS },
    // none inside; one inside
    { "exp(exp(x1)/(x1 + x2)) - 7", 2, FUNCTIONS },
    { "-3*exp(sin(x1 - 2)/x2) + 4", 2, FUNCTIONS },
    { "5*sqrt(x1^2 + exp(2*x2)) - 3", 2, FUNCTIONS },
};

static void functions_of_halves_are_found(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar(&small_grammar);
    find_each(t, &table, &sl_search__skeletons, &o, formulas, SL_LEN(formulas), FUNCTIONS, 0.2, 3);
}

static const int levels[] = { FUNCTIONS };

static void other_functions_have_no_formula(void **state) {
    check_other_functions(*state, levels, SL_LEN(levels));
}

static void hostile_tables_are_harmless(void **state) {
    check_hostile_tables(*state, levels, SL_LEN(levels));
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, formulas[0].text, 2, 64, 0.2, 3);
    check_threads(t, &small_grammar, FUNCTIONS, FUNCTIONS);
}

static void memory_stays_below_its_limit(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = with_grammar(&small_grammar);
    plant(&table, t, formulas[0].text, 2, 64, 0.2, 3);
    for (int64_t limit = 1000; limit <= 1000000000; limit *= 1000) {
        sl_search_result *r;
        o.max_memory = limit;
        SL_MUST(t, run_skeletons(&r, NULL, &o, FUNCTIONS, FUNCTIONS));
        SL_CHECK(t, r->memory <= limit, "%lld bytes of %lld", (long long)r->memory,
                 (long long)limit);
        SL_CHECK(t, (r->count > 0) == (limit == 1000000000), "%lld formulas within %lld bytes",
                 (long long)r->count, (long long)limit);
        sl_search_result_free(r);
    }
}

static sl_status run_functions(sl_search_result **out, const sl_search_options *o) {
    SL_TRY(run_skeletons(out, NULL, o, FUNCTIONS, FUNCTIONS));
    sl_search_result_free(*out);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 3, 2, 2 };
    sl_search_options o = with_grammar(&small_grammar);
    sl_search_result *r;
    o.grammar = &g;
    plant(&table, t, "3*sin(sqrt(x1) - 2*x1^2)", 1, 50, 0.2, 3);
    SL_EACH_ALLOCATION(t, run_functions(&r, &o));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(functions_of_halves_are_found), SL_TEST(other_functions_have_no_formula),
        SL_TEST(hostile_tables_are_harmless),   SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(memory_stays_below_its_limit),  SL_TEST(failing_allocations_are_reported),
    };
    return sl_test_main("search.skeleton_function", tests, SL_LEN(tests));
}
