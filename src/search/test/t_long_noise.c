#include "noise_check.h"

static sl_status search_small(const noisy_table *n, const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(noise_run(&r, n, NULL, o, 0));
    sl_search_result_free(r);
    return SL_OK;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    o.ops = 1u << SL_OPERATOR_MUL; // a small store: a search is repeated for every allocation
    noisy_table_make(&n, t, "2*x1", 1, 7, 1, 3, 0.01);
    SL_EACH_ALLOCATION(t, search_small(&n, &o));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("search.long_noise", tests, SL_LEN(tests));
}
