/* Quotients of polynomials, their roots and exponentials, roots of quadratic equations. */
#include "search_check.h"

static planted table;

static const struct {
    const char *text, *form; // form: how it is written, where that matters
    int inputs;
} formulas[] = {
    { "(3*x1 - x2)/(x1*x2 + 2)", NULL, 2 },
    { "sqrt((x1 + 5)/(x2^2 + 1))", NULL, 2 },
    { "x1 - sqrt(x1^2 + 3*x2)", NULL, 2 },
    // exponentials: the number in front is no part of the quotient
    { "8*exp(2*x1/(x1 + x2 - 9))", "8*exp(2*x1/(x1 + x2 - 9))", 2 },
    { "-exp((x1^2 + 1)/(x2 + 4))", NULL, 2 },
    { "1.7*exp(-3*x1/(x1 + 2.5))", NULL, 1 },
};

static void each_kind_is_found(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    for (int i = 0; i < SL_LEN(formulas); i++) {
        sl_search_result *r;
        plant(&table, t, formulas[i].text, formulas[i].inputs, 60, 1, 3);
        SL_MUST(t, run_method(&r, &sl_search__rational, NULL, &table.problem, &o, 0, 1));
        SL_CHECK(t, r->count > 0 && holds(t, &table, &r->formula[0]), "%s: %s", formulas[i].text,
                 r->count ? text_of(t, &r->formula[0]) : "nothing");
        if (r->count && formulas[i].form)
            SL_CHECK(t, !strcmp(text_of(t, &r->formula[0]), formulas[i].form), "%s",
                     text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

/* y of both signs has no logarithm, and neither has 0. */
static void other_tables_have_none(void **state) {
    sl_fixture *t = *state;
    const sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    static const char *const cases[] = { NULL, "sin(5*x1)*exp(x1)", "tanh(x1) + sin(7*x1)/50" };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *r;
        plant(&table, t, cases[i], 1, 60, 1, 3);
        table.y[7] = i == 0 ? 0 : table.y[7];
        SL_MUST(t, run_method(&r, &sl_search__rational, NULL, &table.problem, &o, 0, 1));
        SL_CHECK(t, r->count == 0, "%s", text_of(t, &r->formula[0]));
        sl_search_result_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(each_kind_is_found),
        SL_TEST(other_tables_have_none),
    };
    return sl_test_main("search.rational", tests, SL_LEN(tests));
}
