/* Merged constants: the same values, and no redundant constant. */
#include <math.h>
#include <string.h>

#include "expr/expr_test.h"
#include "fit/fit.h"
#include "fixture/fixture.h"

static const sl_node *parse(sl_fixture *t, const char *text) {
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return e;
}

static void must_become(sl_fixture *t, const char *text, const double *given, const char *want) {
    const sl_node *e, *from = parse(t, text);
    double *value;
    int n;
    sl_str s = { 0 };
    SL_MUST(t, sl_fit_collapse(&e, &value, &n, &t->arena, from, given));
    SL_MUST(t, sl_expr_print_values(&s, SL_FORMAT_INFIX, e, NULL, value));
    SL_CHECK(t, strcmp(s.text, want) == 0, "%s is %s, not %s", text, s.text, want);
    sl_str_clear(&s);
}

static void constants_that_could_be_one_are(void **state) {
    sl_fixture *t = *state;
    const double half[] = { 0.5, -1 };
    must_become(t, "3*(c1*x1 + c2)^2 + 2 - 7", half, "0.75*(x1 - 2)^2 - 5");
    must_become(t, "2*(c1*x1 + c2) + 3", half, "x1 + 1");
    must_become(t, "sin(2*(c1*x1 + c2) + 5)", half, "sin(x1 + 3)");
    must_become(t, "sqrt(c1*x1 + c2)", half, "0.7071067811865476*sqrt(x1 - 2)");
    must_become(t, "sqrt(c2*x1 + c1)", half, "sqrt(-x1 + 0.5)");
    must_become(t, "sqrt(x1*c2*4 + c1)", half, "2*sqrt(-x1 + 0.125)");
    must_become(t, "1/(c1*x1 + c2)", half, "2/(x1 - 2)");
    must_become(t, "c1*c2 + exp(c2)*0", half, "-0.5");
    must_become(t, "x1*c1*x2*4", half, "2*x1*x2");
    must_become(t, "exp(c1*x1)*exp(c2)", half, "0.36787944117144233*exp(0.5*x1)");
    must_become(t, "c1*(x1 + c2*(x2 + c1))", half, "0.5*x1 - 0.5*x2 - 0.25");
    must_become(t, "x2*(c1*x1 + c2)^5000", half, "x2*(0.5*x1 - 1)^5000"); // 0.5^5000 is 0
}

/* Of any expression whose numbers are freed: the same values wherever both are real. */
static void values_stay(void **state) {
    sl_fixture *t = *state;
    enum { N = 20 };
    double x1[N], x2[N];
    const double *x[2] = { x1, x2 };
    const sl_expr_random_options options = {
        .depth = 5, .variables = 2, .number_range = 9, .p_leaf = 0.1
    };
    for (int i = 0; i < sl_test_iters(t, 400); i++) {
        sl_arena_rewind(&t->arena, 0);
        double given[64], *value, y[N], z[N];
        const sl_node *raw, *e, *from, *out;
        int n, m;
        SL_MUST(t, sl_expr_random(&raw, &t->arena, &t->rng, &options));
        if (sl_expr_tidy(&e, &t->arena, raw) != SL_OK) continue;
        if (sl_expr_free_numbers(&from, given, &n, 64, &t->arena, e) != SL_OK) continue;
        for (int k = 0; k < n; k++) given[k] = sl_rng_range(&t->rng, 0.3, 3);
        for (int k = 0; k < N; k++) {
            x1[k] = sl_rng_range(&t->rng, 0.2, 2);
            x2[k] = sl_rng_range(&t->rng, 0.2, 2);
        }
        const sl_status st = sl_fit_collapse(&out, &value, &m, &t->arena, from, given);
        if (st == SL_EOVERFLOW || st == SL_ELIMIT) continue;
        SL_MUST(t, st);
        SL_CHECK(t, m <= SL_MAX(n, 1) + sl_expr_nodes(from), "%d constants of %d", m, n);
        SL_MUST(t, sl_expr_eval(y, &t->arena, from, x, N, given));
        SL_MUST(t, sl_expr_eval(z, &t->arena, out, x, N, value));
        for (int k = 0; k < N; k++) {
            if (!isfinite(y[k]) || !isfinite(z[k])) continue;
            long double exact, bound;
            const long double at[2] = { x1[k], x2[k] };
            long double par[64];
            for (int j = 0; j < n; j++) par[j] = given[j];
            sl_expr_eval_ref(&exact, &bound, from, at, par, 0x1p-53L);
            SL_CHECK(t, fabs(y[k] - z[k]) <= 1e-9 * fabs(y[k]) + 50 * (double)bound + 1e-12,
                     "%.17g, not %.17g", z[k], y[k]);
        }
    }
}

static sl_status collapse_once(sl_fixture *t) {
    static const char text[] = "3*(c1*x1 + c2)^2 + sin(x1*c1 - 5)*sqrt(-2*x2 + c2)";
    const double given[] = { 0.5, -1 };
    const sl_node *e, *out;
    double *value;
    int n;
    SL_TRY(sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return sl_fit_collapse(&out, &value, &n, &t->arena, e, given);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, collapse_once(t));
}

/* Also where the arena's chunk is at its end, at whatever piece of a formula that comes. */
static void lack_of_space_is_reported(void **state) {
    sl_fixture *t = *state;
    const sl_node *e = parse(t, "sqrt(-2*x1) + (c1*x1 + c2)^(1/3)*sin(3*x1 - 5)"), *out;
    const double given[] = { -0.5, 1 };
    sl_status st = SL_ENOMEM;
    for (size_t limit = 16; st != SL_OK; limit += 16) {
        sl_arena a = { .limit = limit };
        double *value;
        int n;
        st = sl_fit_collapse(&out, &value, &n, &a, e, given);
        sl_arena_clear(&a);
        SL_CHECK(t, (st == SL_OK || st == SL_ENOMEM) && limit < 1 << 16, "%zu bytes: status %d",
                 limit, (int)st);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(constants_that_could_be_one_are),
        SL_TEST(values_stay),
        SL_TEST(lack_of_memory_is_reported),
        SL_TEST(lack_of_space_is_reported),
    };
    return sl_test_main("fit.constants", tests, SL_LEN(tests));
}
