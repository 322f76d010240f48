#include "search/spans_impl.h"
#include "search_check.h"

/* Two terms for transforms of y that have no table of their own. */

static planted table;

/* One level of products, then pairs. *found: whether these gave a formula that level 0 had not. */
static sl_status run(bool *found, const sl_dataset *p) {
    sl_status st;
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    sl_search_result result = { .count = 0 };
    sl_search__job j = { .all = p, .o = &o, .result = &result, .precision = 0x1p-52 };
    void *side = NULL;
    bool more;
    atomic_store(&j.ended, SL_SEARCH__RUNNING);
    *found = false;
    SL_GO(sl_search__prepare(&j));
    SL_GO(sl_search__spans_products.open(&side, &j));
    SL_GO(sl_search__spans_products.level(&more, side, 0));
    if (j.exact == 0) {
        st = sl_search__spans_pairs(side, 1000, 1024);
        *found = j.exact > 0;
    }
done:
    if (side) sl_search__spans_products.close(side);
    sl_free(j.kept);
    sl_arena_clear(&j.arena);
    sl_arena_clear(&result.arena);
    return st;
}

static const struct {
    const char *text;
    int inputs;
    double low, high;
} kinds[] = {
    { "log(0.3*(1 + x1)/(1 + 2*x1))/x1", 1, 1.2, 3 },
    { "log(0.3*(1 + x1)/(1 + 2*x2))/log(x3)", 3, 1.2, 3 },
    { "(1 - 7.7*cos(x1)*(1 + x2))/(1 + 7.7*cos(x1)*(1 + x2))", 2, 0.1, 1.2 },
    { "((1 - 7.7*cos(x1)*(1 + x2))/(1 + 7.7*cos(x1)*(1 + x2)))^2", 2, 0.1, 1.2 },
    { "1/(1/x1 + 1.7*x2*sin(x3)^2/(1 + x2)^2)", 3, 0.5, 2.5 },
    { "x1*exp(-1.4*(1 + x1)*cos(x2))", 2, 0.1, 1.2 },
};

static void planted_pairs_are_found(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(kinds); i++) {
        bool found;
        plant(&table, t, kinds[i].text, kinds[i].inputs, 80, kinds[i].low, kinds[i].high);
        SL_MUST(t, run(&found, &table.problem));
        SL_CHECK(t, found, "%s: nothing", kinds[i].text);
    }
}

static void random_numbers_have_no_pair(void **state) {
    sl_fixture *t = *state;
    for (int inputs = 1; inputs <= 4; inputs++) {
        bool found;
        plant(&table, t, NULL, inputs, 40, 0.5, 3);
        SL_MUST(t, run(&found, &table.problem));
        SL_CHECK(t, !found, "a formula for random numbers of %d inputs", inputs);
    }
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    bool found;
    plant(&table, t, kinds[0].text, 1, 30, kinds[0].low, kinds[0].high);
    SL_EACH_ALLOCATION(t, run(&found, &table.problem));
    SL_CHECK(t, found, "%s: nothing", kinds[0].text);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(planted_pairs_are_found),
        SL_TEST(random_numbers_have_no_pair),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("search.spans_pairs", tests, SL_LEN(tests));
}
