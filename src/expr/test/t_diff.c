/* Derivatives against central differences of the values. */
#include "fixture/formula.h"

#include <math.h>
#include <string.h>

#include "expr/expr_impl.h"
#include "expr/expr_test.h"

enum { VARS = 2 };

/* e with every number turned into a free constant, counted from 1; *n is how many. */
static const sl_node *with_constants(sl_fixture *t, const sl_node *e, int *n, sl_rng *rng) {
    sl_node *r = sl_arena_alloc(&t->arena, e->len * sizeof *r);
    assert_non_null(r);
    memcpy(r, e, e->len * sizeof *r);
    bool exponent[SL_EXPR_MAX] = { false };
    *n = 0;
    for (uint32_t i = 0; i < r->len; i++) {
        if (r[i].op == SL_OP_POW) exponent[i + 1 + r[i + 1].len] = true;
        // -1 mostly is a minus sign, and constants may be used twice
        if (r[i].op != SL_OP_NUM || exponent[i] ||
            (sl_expr_num_is(r + i, -1) && sl_rng_below(rng, 4)))
            continue;
        assert_int_equal(r[i].len, 1);
        int k = *n && sl_rng_below(rng, 4) == 0 ? 1 + (int)sl_rng_below(rng, (uint32_t)*n) : ++*n;
        r[i] = (sl_node){ .op = SL_OP_PAR, .arg = (uint16_t)k, .len = 1 };
    }
    return r;
}

/* Value with the coordinate *at_j moved by h; its error is added to *noise. */
static long double moved(const sl_node *e, const long double *x, const long double *params,
                         long double *at_j, long double h, long double *noise) {
    long double old = *at_j, v, d;
    *at_j = old + h;
    sl_expr_eval_ref(&v, &d, e, x, params, 0x1p-64L);
    *at_j = old;
    *noise += d;
    return v;
}

/* The slope by a six-point difference, and its error: the errors of the values, and the difference
 * to a four-point formula, which is much larger than the error of the six-point one. */
static long double numeric(long double *off, const sl_node *e, const long double *x,
                           const long double *params, long double *at_j) {
    const long double h = 0x1p-12L;
    long double f[4] = { 0 }, noise = 0;
    for (int k = 1; k <= 3; k++)
        f[k] = (moved(e, x, params, at_j, (long double)k * h, &noise) -
                moved(e, x, params, at_j, (long double)-k * h, &noise)) /
               h;
    const long double four = f[1] * 2 / 3 - f[2] / 12,
                      six = f[1] * 3 / 4 - f[2] * 3 / 20 + f[3] / 60;
    *off = noise / h + 10 * fabsl(four - six);
    return six;
}

static void derivatives_are_slopes(void **state) {
    sl_fixture *t = *state;
    int judged = 0, with_cos = 0;
    const int trees = sl_test_iters(t, 3000);
    for (int i = 0; i < trees; i++) {
        const sl_expr_random_options o = { 1 + (int)sl_rng_below(&t->rng, 3),
                                           VARS,
                                           3,
                                           0.1,
                                           sl_rng_below(&t->rng, 2) ? SL_EXPR_ALL_OPERATORS : 0,
                                           true };
        const sl_node *e, *d;
        int n_params;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.3, 5));
        if (sl_rng_below(&t->rng, 4) == 0) {
            e = sl_expr_fn(&t->arena, SL_OP_COS, e);
            e = sl_expr_pow(&t->arena, e, (sl_rat){ (int64_t)sl_rng_below(&t->rng, 7) * 2 - 7, 3 });
        }
        assert_non_null(e);
        e = with_constants(t, e, &n_params, &t->rng);

        long double x[VARS], params[SL_EXPR_MAX];
        for (int k = 0; k < VARS; k++) x[k] = sl_rng_range(&t->rng, -2, 2);
        for (int k = 0; k < n_params; k++) params[k] = sl_rng_range(&t->rng, -2, 2);
        for (int j = 0; j < VARS + n_params; j++) {
            const bool var = j < VARS;
            long double v, bound, off, *at_j = var ? &x[j] : &params[j - VARS];
            const bool simple = var && i % 2; // that is the derivative for people
            SL_MUST(t, simple ? sl_expr_derivative(&d, &t->arena, e, 1 + j)
                              : sl_expr_diff(&d, &t->arena, e, var ? SL_OP_VAR : SL_OP_PAR,
                                             1 + (var ? j : j - VARS)));
            const long double slope = numeric(&off, e, x, params, at_j);
            sl_expr_eval_ref(&v, &bound, d, x, params, 0x1p-64L);
            if (!(off + bound < 1e-8L * (1e-3L + fabsl(slope))))
                continue; // not known well, or not real
            judged++;
            for (uint32_t k = 0; k < d->len; k++) with_cos += d[k].op == SL_OP_COS;
            SL_CHECK(t, fabsl(v - slope) <= off + bound + 1e-15L,
                     "%.15Lg, but the slope is %.15Lg\n    of %s\n    is %s", v, slope, text_of(e),
                     text_of(d));
        }
    }
    SL_CHECK(t, judged > trees && with_cos > trees / 8, "judged only %d, cos in %d", judged,
             with_cos);
}

/* Absent terms leave no trace, and the answer is tidy. */
static void derivatives_are_tidy(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *e, *d;
    } cases[] = {
        { "3", "0" },
        { "x2", "0" },
        { "x1", "1" },
        { "x1 + x2", "1" },
        { "5*x1*x2", "5*x2" },
        { "x1^3", "3*x1^2" },
        { "exp(x2)*sin(x2)", "0" },
        { "exp(x1)", "exp(x1)" },
        { "sqrt(x1)", "x1^(-1/2)/2" },
        { "x2/x1", "-x2*x1^(-2)" },
        { "exp(2*x1)", "2*exp(2*x1)" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *d, *again, *want = parsed(t, cases[i].d);
        SL_MUST(t, sl_expr_diff(&d, &t->arena, parsed(t, cases[i].e), SL_OP_VAR, 1));
        SL_CHECK(t, sl_expr_equal(d, want), "d %s / d x1 is %s, not %s", cases[i].e, text_of(d),
                 cases[i].d);
        SL_MUST(t, sl_expr_tidy(&again, &t->arena, d));
        SL_CHECK(t, sl_expr_equal(again, d), "not tidy: %s", text_of(d));
    }
}

static void limits_are_reported(void **state) {
    sl_fixture *t = *state;
    const sl_node *d = NULL, *e = sl_expr_var(&t->arena, 1), *x = e;
    // x^k with k = -2^63 + 2 and less: there is no k - 1 in the end
    const size_t before = sl_arena_mark(&t->arena);
    e = sl_expr_pow(&t->arena, x, (sl_rat){ -INT64_MAX, 1 });
    assert_non_null(e);
    size_t mark = sl_arena_mark(&t->arena);
    assert_int_equal(sl_expr_diff(&d, &t->arena, e, SL_OP_VAR, 1), SL_EOVERFLOW);
    assert_int_equal(sl_arena_mark(&t->arena), mark);
    assert_null(d);

    // a product of n factors becomes n products of n factors
    sl_arena_rewind(&t->arena, before);
    const sl_node *factors[200];
    for (int i = 0; i < SL_LEN(factors); i++) factors[i] = x;
    e = sl_expr_nary(&t->arena, SL_OP_MUL, factors, SL_LEN(factors));
    assert_non_null(e);
    mark = sl_arena_mark(&t->arena);
    assert_int_equal(sl_expr_diff(&d, &t->arena, e, SL_OP_VAR, 1), SL_ELIMIT);
    assert_int_equal(sl_arena_mark(&t->arena), mark);

    for (int i = 0; i < SL_EXPR__DEEP; i++) x = sl_expr_fn(&t->arena, SL_OP_SIN, x);
    assert_non_null(x);
    assert_int_equal(sl_expr_diff(&d, &t->arena, x, SL_OP_VAR, 1), SL_ELIMIT);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const sl_node *d, *e = parsed(t, "sin(x1*exp(x2))*sqrt(x1) + x1*x2/(x1 + 1) + "
                                     "x1^x2*tan(x1)*atan(x1)*abs(x1) + acos(log(x1))");
    SL_EACH_ALLOCATION(t, sl_expr_diff(&d, &t->arena, e, SL_OP_VAR, 1));
    SL_EACH_ALLOCATION(t, sl_expr_derivative(&d, &t->arena, e, 1));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(derivatives_are_slopes),
        SL_TEST(derivatives_are_tidy),
        SL_TEST(limits_are_reported),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("expr.diff", tests, SL_LEN(tests));
}
