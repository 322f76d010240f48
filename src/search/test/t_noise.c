#include "noise_check.h"

/* One term times powers, sums of two terms, and transforms of y; none has constants that the search
 * would have to know. */
static const struct {
    const char *formula;
    int inputs;
    double low, high;
} planted[] = {
    { "2.7*x1*x2^2/sqrt(x3)", 3, 1, 5 },
    { "0.37*x1^(3/2)", 1, 1, 5 },
    { "1.8*x1*exp(-x2^2/2)", 2, 0.3, 2 },
    { "3*x1*x2 + 0.7*x3^2", 3, 1, 4 },
    { "1.3*x1 + 2.1*sin(x2)", 2, 0.5, 4 },
    { "1/(1/x1 + 1/x2)", 2, 1, 5 },
    { "sqrt(x1^2 + x2^2)", 2, 1, 5 },
    { "x1*cos(x2)", 2, 1, 5 },
    { "4.2", 1, 1, 5 },
};

static void planted_formulas_are_found(void **state) {
    sl_fixture *t = *state;
    static noisy_table n;
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    for (int k = 0; k < SL_LEN(planted); k++) {
        for (int pass = 0; pass < 2; pass++) {
            sl_search_result *r;
            double noise = pass ? 1e-2 : 1e-3;
            int rows = pass ? 200 : 50;
            noisy_table_make(&n, t, planted[k].formula, planted[k].inputs, rows, planted[k].low,
                             planted[k].high, noise);
            SL_MUST(t, noise_run(&r, &n, NULL, &o, 0));
            SL_CHECK(t, r->count > 0 && is_structure(t, &r->formula[0], &n),
                     "%s with %d rows and noise %g: %s", planted[k].formula, rows, noise,
                     formula_text(t, r));
            bool constant = strchr(planted[k].formula, 'x') == NULL;
            SL_CHECK(t, r->within_noise == !constant, "%s: within the noise: %d",
                     planted[k].formula, r->within_noise);
            sl_search_result_free(r);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(planted_formulas_are_found),
    };
    return sl_test_main("search.noise", tests, SL_LEN(tests));
}
