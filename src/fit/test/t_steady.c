/* steady - constants that compensate each other. */
#include "fixture/fixture.h"

#include <string.h>

#include "fit/fit.h"

/* A fit whose constants cancel is refused, whatever its R2. */
static void constants_that_cancel_are_detected(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        double value[2];
        bool steady;
    } cases[] = {
        { "c1*x1 + c2", { 3, 1 }, true },
        { "c1*x1 + c2", { 3e6, -1e7 }, false }, // y is not that large
        { "c1*(x1 + c1)/(x1 - c1)", { 1e8 }, false },
        { "sqrt(x1 + c1) - c2", { 1e16, 1e8 }, false },
        { "sin(c1*x1)", { 7 }, true },
    };
    enum { ROWS = 60 };
    double x1[ROWS], x2[ROWS], y[ROWS];
    const double *const x[2] = { x1, x2 };
    sl_dataset p = sl_data_view(x, 2, y, ROWS);
    for (int i = 0; i < ROWS; i++) {
        x1[i] = sl_rng_range(&t->rng, 1, 5);
        x2[i] = sl_rng_range(&t->rng, -1, 2);
        y[i] = 3 * x1[i] * x1[i] - 2 * x2[i] + 1;
    }
    for (int i = 0; i < SL_LEN(cases); i++) {
        double value[2] = { cases[i].value[0], cases[i].value[1] };
        sl_fit f = { .value = value };
        bool steady;
        SL_MUST(t, sl_expr_parse(&f.expr, &t->arena, SL_FORMAT_INFIX, cases[i].text,
                                 strlen(cases[i].text), NULL, NULL));
        f.params = sl_expr_max_par(f.expr);
        SL_MUST(t, sl_fit_is_steady(&steady, &t->arena, &f, &p));
        SL_CHECK(t, steady == cases[i].steady, "%s", cases[i].text);
        p.rows = 2 * f.params - 1; // too few for that many constants
        SL_MUST(t, sl_fit_is_steady(&steady, &t->arena, &f, &p));
        SL_CHECK(t, !steady || f.params == 0, "%s", cases[i].text);
        p.rows = ROWS;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { SL_TEST(constants_that_cancel_are_detected) };
    return sl_test_main("fit.steady", tests, SL_LEN(tests));
}
