/* Quotients and skeletons where y has six digits. */
#include "search/quotients_impl.h"
#include "search/skeleton_impl.h"
#include "search_check.h"

static planted table;
static const sl_search_grammar small = { SL_UNIVERSE_ALL_OPS, 2, 3, -3, 3 };

enum { ROWS = 64 };

static sl_search_options with_grammar(void) {
    sl_search_options o = options(SL_SEARCH_EFFORT_HIGH);
    o.grammar = &small;
    return o;
}

static void plant_rounded(sl_fixture *t, const char *text, double low, int digits) {
    plant(&table, t, text, 2, ROWS, low, 3);
    for (int k = 0; k < ROWS; k++) {
        char number[64];
        sl_snprintf(number, sizeof number, "%.*e", digits - 1, table.y[k]);
        table.y[k] = sl_strtod(number, NULL);
    }
}

/* Has it the truth's values to nearly all digits, and no constant that was fitted? */
static bool is_the_truth(sl_fixture *t, const sl_search_formula *f) {
    static double got[ROWS_MAX], want[ROWS_MAX];
    bool good = f->exact && f->fit.params == 0;
    draw_x(&table, &t->rng);
    SL_MUST(t, sl_expr_eval(got, &t->arena, f->fit.expr, table.column, ROWS, f->fit.value));
    SL_MUST(t, sl_expr_eval(want, &t->arena, table.formula, table.column, ROWS, NULL));
    for (int i = 0; i < ROWS; i++)
        good = good && fabs(got[i] - want[i]) <= 1e-9 * (fabs(want[i]) + 1e-3);
    return good;
}

static void must_find(sl_fixture *t, const sl_search__method *m, const char *text, double low,
                      int from, int to) {
    const sl_search_options o = with_grammar();
    sl_search_result *r;
    plant_rounded(t, text, low, 6);
    SL_MUST(t, run_method(&r, m, NULL, &table.problem, &o, from, to));
    SL_CHECK(t, r->count > 0 && is_the_truth(t, &r->formula[0]), "%s: %s", text,
             r->count ? text_of(t, &r->formula[0]) : "nothing");
    sl_search_result_free(r);
}

/* ---------------------------------------------------------------- quotients ----------------- */

static void quotients_are_found(void **state) {
    must_find(*state, &sl_search__quotients,
              "3*(x1 + 1)/(x1 + exp(x2)) - 2*sin(x2)/(x1 + exp(x2) + 2)", 0.3, 0, 0);
    must_find(*state, &sl_search__quotients, "x1/sin(2*exp(x2)) - 3*x2/sin(exp(x2 - 2))", 0.3, 0,
              0);
    // a coefficient that is a root, and one term that is a hundredth of the other
    must_find(*state, &sl_search__quotients,
              "sqrt(3*x1)/(x1 + sqrt(x2)) + 100*exp(x2)/(x1 + 2*sqrt(x2))", 0.3, 0, 0);
    must_find(*state, &sl_search__quotients,
              "x1*x2/(x2 + exp(2*x1) + 3) + sqrt(x2)/(2*x2 + exp(x1))", 0.3, 1, 1);
}

/* Smooth functions outside of the grammar, with fewer digits too: nothing is claimed. */
static void other_functions_are_not_claimed(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[] = { "tanh(x1*x2 + 0.3)", "log(x1 + 1.7*x2)/(x2 + 0.61)" };
    const sl_search_options o = with_grammar();
    for (int i = 0; i < 2 * SL_LEN(cases); i++) {
        sl_search_result *r;
        plant_rounded(t, cases[i / 2], 0.3, i % 2 ? 4 : 6);
        SL_MUST(t, run_method(&r, &sl_search__quotients, NULL, &table.problem, &o, 0, 0));
        for (int k = 0; k < r->count; k++)
            SL_CHECK(t, !r->formula[k].exact, "%s: %s", cases[i / 2], text_of(t, &r->formula[k]));
        sl_search_result_free(r);
    }
}

static void answers_do_not_depend_on_threads(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = with_grammar();
    sl_search_result *r[2];
    plant_rounded(t, "x1*x2/(sin(x1) + 2*x2) + exp(x1)/(sin(x1 + 2) + x2)", 0.3, 6);
    for (int i = 0; i < 2; i++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, 1 + 2 * i));
        SL_MUST(t, run_method(&r[i], &sl_search__quotients, pool, &table.problem, &o, 0, 0));
        sl_par_pool_free(pool);
    }
    SL_CHECK(t, r[0]->count > 0 && r[0]->count == r[1]->count, "%lld and %lld formulas",
             (long long)r[0]->count, (long long)r[1]->count);
    for (int k = 0; k < r[0]->count; k++)
        SL_CHECK(t, sl_expr_equal(r[0]->formula[k].fit.expr, r[1]->formula[k].fit.expr), "%d", k);
    for (int i = 0; i < 2; i++) sl_search_result_free(r[i]);
}

/* ---------------------------------------------------------------- skeletons ----------------- */

/* Constants of divisors from y D = N. */
static void divisors_are_cleared(void **state) {
    must_find(*state, &sl_search__skeletons,
              "x1*x2/(2*x1^2 + x2) - sqrt(x2)*(x1 + 5)/(x2 + 2*(x1 + 1)^2)", 0.3, 1, 1);
}

/* Of some twenty columns, those of the formula remain. */
static void columns_without_effect_are_dropped(void **state) {
    must_find(*state, &sl_search__skeletons,
              "-27*x2^3/x1 - x2^2*sin(x2)/(3*x1) + 2*x2^2 + x2*(x1 + 1) + sin(3*x2 + 2)*(x2 - 2)",
              -1, 3, 3);
}

/* ---------------------------------------------------------------- numbers ------------------- */

/* What one constant of the grammar makes costs less than the fraction that it is written as. */
static void numbers_are_priced_as_constants(void **state) {
    sl_fixture *t = *state;
    static const struct {
        sl_search__lattice_number number;
        double most;
    } cases[] = {
        { { .times = { 7, 1 }, .degree = 1 }, 5 },
        { { .times = { 1, 81 }, .degree = 1 }, 7 },
        { { .times = { 1, 25 }, .root = { 5, 1 }, .degree = 2 }, 7 },  // 5^(-3/2)
        { { .times = { 128, 1 }, .root = { 2, 1 }, .degree = 2 }, 7 }, // 8^(5/2)
        { { .times = { 3, 1 }, .power = { -4, 1 }, .degree = 1 }, 10 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const double bits = sl_search__lattice_number_bits(cases[i].number);
        const double v = sl_search__lattice_number_value(cases[i].number);
        sl_search__lattice_number n;
        SL_CHECK(t, bits > 0 && bits <= cases[i].most, "%d: %g bits", i, bits);
        const bool near = sl_search__lattice_near_number(&n, v * (1 + 1e-7), 1e-6 * v, 20);
        SL_CHECK(t, near && sl_search__lattice_number_value(n) == v, "%d: %.17g", i, v);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(quotients_are_found),
        SL_TEST(other_functions_are_not_claimed),
        SL_TEST(answers_do_not_depend_on_threads),
        SL_TEST(divisors_are_cleared),
        SL_TEST(columns_without_effect_are_dropped),
        SL_TEST(numbers_are_priced_as_constants),
    };
    return sl_test_main("search.rounded", tests, SL_LEN(tests));
}
