#include "search_check.h"

static planted table;
static const sl_search_grammar grammar = SL_SEARCH_GRAMMAR_INIT;

static sl_status run_closure(sl_search_result **out, const planted *p, sl_pool *pool, int from,
                             int to) {
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &grammar;
    return run_method(out, &sl_search__closure, pool, &p->problem, &o, from, to);
}

/* Real constants anywhere but inside functions; then one inside, of an input and of a function of
 * it. */
static const at_level formulas[] = {
    { "(2.31*x1 + 1.77)*exp(x1)/(x1 + 4.3)", 1, 0 },
    { "1.9*exp(-x1) + 0.37*x1", 1, 0 },
    { "1/(x1*sin(x1 + 0.7) + 5.3)", 1, 0 }, // the sum below, and not the product, leads
    { "2.2*x1/(exp(x1) - 2.7*x1) - 1.3/(exp(x1) + 4.4*x1)", 1, 0 }, // two sums of the same atoms
    { "x1 + 3.1*exp(-x1^2)*(sqrt(x1) + 0.4)", 1, 0 },               // a nested function
    { "-1.7*sin(x2 + 2.3)/x1 + 0.83*x2", 2, 0 }, // a denominator without a constant
    { "x1*exp(-2.37*x1) + 2.2", 1, 1 },
    { "(x1 + 1.4)/(sin(2.31*x1) + 1.7)", 1, 1 },
    { "(x1 + 2.81)^(3/2)/(exp(x1) + 0.6)", 1, 1 },
    { "x1*sin(1.37*exp(x1)) + 2.2", 1, 2 },
};

static void real_constants_are_found(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &grammar;
    find_each(t, &table, &sl_search__closure, &o, formulas, SL_LEN(formulas), -1, 0.2, 3);
}

static void random_numbers_have_no_formula(void **state) {
    sl_fixture *t = *state;
    static const int rows[] = { 10, 24, 64 };
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_search_result *r;
        plant(&table, t, NULL, 1, rows[i], 0.2, 3);
        SL_MUST(t, run_closure(&r, &table, NULL, 0, rows[i] == 64));
        SL_CHECK(t, r->count == 0, "%d rows: %s", rows[i], text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r[2];
    plant(&table, t, "x1*exp(1.37*x1) + 2.2", 1, 64, 0.2, 3);
    for (int i = 0; i < 2; i++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, 1 + 2 * i));
        SL_MUST(t, run_closure(&r[i], &table, pool, 0, 1));
        sl_par_pool_free(pool);
    }
    SL_CHECK(t, r[0]->count == r[1]->count && r[0]->count > 0, "%lld and %lld formulas",
             (long long)r[0]->count, (long long)r[1]->count);
    for (int64_t k = 0; k < r[0]->count; k++)
        SL_CHECK(t, sl_expr_equal(r[0]->formula[k].fit.expr, r[1]->formula[k].fit.expr),
                 "formula %lld", (long long)k);
    sl_search_result_free(r[0]);
    sl_search_result_free(r[1]);
}

static sl_status run_small(void) {
    sl_search_result *r;
    SL_TRY(run_closure(&r, &table, NULL, 0, 0));
    sl_search_result_free(r);
    return SL_OK;
}

static void failing_allocations_are_reported(void **state) {
    sl_fixture *t = *state;
    plant(&table, t, "1.9*exp(-x1) + 0.37*x1", 1, 24, 0.2, 3);
    SL_EACH_ALLOCATION(t, run_small());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(real_constants_are_found),
        SL_TEST(random_numbers_have_no_formula),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(failing_allocations_are_reported),
    };
    return sl_test_main("search.closure", tests, SL_LEN(tests));
}
