/* Evaluation against the reference in long double, and against the guarantees on bits. */
#include "fixture/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr_impl.h"
#include "expr/expr_test.h"
#include "expr/kernels.h"

enum { VARS = 3, PARAMS = 2 };

/* Mostly ordinary numbers, some integers, sometimes extreme or on an edge. */
static double random_double(sl_rng *rng) {
    static const double edge[] = { 0, -0.0, 1, -1, 0.5, 1e-5, -1e5, 1e160, 1e-200, 3e15 };
    uint32_t kind = sl_rng_below(rng, 16);
    if (kind == 0) return edge[sl_rng_below(rng, SL_LEN(edge))];
    if (kind == 1) return (double)sl_rng_below(rng, 21) - 10;
    return sl_rng_range(rng, -10, 10);
}

/* A random tree, with numbers, constants and powers of all kinds put in; raw or tidy. */
static const sl_node *random_tree(sl_fixture *t) {
    static const sl_rat powers[] = { { 2, 1 },  { 3, 1 },  { 7, 1 }, { -1, 1 }, { -2, 1 },
                                     { -5, 1 }, { 1, 2 },  { 3, 2 }, { -1, 2 }, { 5, 4 },
                                     { 7, 4 },  { -3, 4 }, { 1, 3 }, { -2, 3 }, { 9, 5 } };
    const sl_expr_random_options o = { 1 + (int)sl_rng_below(&t->rng, 4),
                                       VARS,
                                       5,
                                       0.1,
                                       sl_rng_below(&t->rng, 2) ? SL_EXPR_ALL_OPERATORS : 0,
                                       true };
    const sl_node *e, *f;
    SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
    SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.2, 9));
    if (sl_rng_below(&t->rng, 2)) {
        e = sl_expr_pow(&t->arena, e, powers[sl_rng_below(&t->rng, SL_LEN(powers))]);
        SL_MUST(t, sl_expr_random(&f, &t->arena, &t->rng, &o));
        e = sl_expr_apply(&t->arena, (sl_operator)sl_rng_below(&t->rng, SL_OPERATOR_COUNT), e, f);
    }
    if (sl_rng_below(&t->rng, 4) == 0) {
        f = sl_expr_par(&t->arena, 1 + (int)sl_rng_below(&t->rng, PARAMS));
        f = sl_expr_pow(&t->arena, f, powers[sl_rng_below(&t->rng, SL_LEN(powers))]);
        e = sl_expr_nary(&t->arena, SL_OP_MUL, (const sl_node *[]){ f, e }, 2);
        e = sl_expr_fn(&t->arena, SL_OP_COS, e);
    }
    SL_CHECK(t, e != NULL, "no memory");
    const sl_node *tidy;
    // numbers may pass 64 bits on the way; then the raw tree serves
    if (sl_rng_below(&t->rng, 2) && sl_expr_tidy(&tidy, &t->arena, e) == SL_OK) return tidy;
    return e;
}

static int by_size(const void *a, const void *b) {
    long double x = *(const long double *)a, y = *(const long double *)b;
    return (x > y) - (x < y);
}

/* Also that the bound is tight: half of the time within a factor of 300 of the error. */
static void values_are_within_the_bound_of_the_reference(void **state) {
    sl_fixture *t = *state;
    enum { POINTS = 8 };
    const int trees = sl_test_iters(t, 3000);
    long double *ratio = sl_malloc((size_t)trees * POINTS, sizeof *ratio);
    assert_non_null(ratio);
    int n_ratio = 0, n_real = 0, n_bounded = 0, n_never = 0;
    for (int i = 0; i < trees; i++) {
        double column[VARS][POINTS], y[POINTS], params[PARAMS];
        const double *x[VARS];
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_tree(t);
        for (int v = 0; v < VARS; v++) {
            x[v] = column[v];
            for (int k = 0; k < POINTS; k++) column[v][k] = random_double(&t->rng);
        }
        for (int k = 0; k < PARAMS; k++) params[k] = random_double(&t->rng);
        SL_MUST(t, sl_expr_eval(y, &t->arena, e, x, POINTS, params));

        for (int k = 0; k < POINTS; k++) {
            long double at[VARS], par[PARAMS], value, bound;
            for (int v = 0; v < VARS; v++) at[v] = column[v][k];
            for (int v = 0; v < PARAMS; v++) par[v] = params[v];
            sl_expr_eval_ref(&value, &bound, e, at, par, 0x1p-53L);
            SL_CHECK(t, bound >= 0, "bound %Lg: %s", bound, text_of(e));
            if (isnan(value)) {
                n_never += bound == 0;
                SL_CHECK(t, bound > 0 || isnan(y[k]), "%a, but not real nearby: %s", y[k],
                         text_of(e));
                continue;
            }
            n_real++;
            if (isinf(bound)) continue;
            n_bounded++;
            long double error = fabsl(y[k] - value);
            SL_CHECK(t, error <= bound, "%.17g is %Lg from %.20Lg, allowed %Lg\n    %s at %a %a %a",
                     y[k], error, value, bound, text_of(e), column[0][k], column[1][k],
                     column[2][k]);
            if (error > 0) ratio[n_ratio++] = bound / error;
        }
    }
    // the test is not vacuous: most points are real, and most of those have a bound
    SL_CHECK(t, n_real > trees * POINTS / 3 && n_never > trees * POINTS / 20, "%d real, %d not",
             n_real, n_never);
    SL_CHECK(t, n_bounded > n_real * 3 / 4, "only %d of %d have a bound", n_bounded, n_real);
    qsort(ratio, (size_t)n_ratio, sizeof *ratio, by_size);
    long double median = ratio[n_ratio / 2];
    sl_free(ratio);
    SL_CHECK(t, median < 300, "bounds are %Lg times the error", median);
}

static bool same_bits(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static void a_point_has_the_same_bits_at_every_place(void **state) {
    sl_fixture *t = *state;
    enum { MOST = 4097 };
    static const int sizes[] = { 0, 1, 63, 64, 65, 1000, MOST };
    double *memory = sl_malloc((VARS + 2) * (MOST + 1), sizeof *memory);
    assert_non_null(memory);
    double *all = memory + VARS * (MOST + 1), *part = all + MOST + 1;
    for (int i = 0; i < sl_test_iters(t, 10); i++) {
        const double *x[VARS];
        const double params[PARAMS] = { random_double(&t->rng), random_double(&t->rng) };
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_tree(t);
        const sl_program *p;
        for (int v = 0; v < VARS; v++) {
            x[v] = memory + v * (MOST + 1);
            for (int k = 0; k < MOST; k++) memory[v * (MOST + 1) + k] = random_double(&t->rng);
        }
        memory[7] = -NAN; // payload and sign of a NaN must not come out either
        memory[MOST + 1 + 7] = NAN;
        SL_MUST(t, sl_expr_compile(&p, &t->arena, e));
        SL_MUST(t, sl_expr_program_run(all, p, x, MOST, params, &t->arena));
        for (int s = 0; s < SL_LEN(sizes); s++) {
            // at the front, and as near to the end as it fits
            for (int from = 0; from <= MOST - sizes[s]; from += SL_MAX(MOST - sizes[s], 1)) {
                const double *moved[VARS];
                for (int v = 0; v < VARS; v++) moved[v] = x[v] + from;
                part[sizes[s]] = 42;
                SL_MUST(t, sl_expr_program_run(part, p, moved, sizes[s], params, &t->arena));
                SL_CHECK(t, part[sizes[s]] == 42, "writes past the end for n = %d", sizes[s]);
                for (int k = 0; k < sizes[s]; k++)
                    SL_CHECK(t, same_bits(part[k], all[from + k]),
                             "%a or %a: n = %d, point %d of %s", part[k], all[from + k], sizes[s],
                             k, text_of(e));
            }
        }
    }
    sl_free(memory);
}

static void kernels_of_every_instruction_set_agree(void **state) {
    sl_fixture *t = *state;
    static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 1e308, 5e-324 };
    for (int isa = SL_ISA_AVX2; isa <= (int)sl_cpu_best(); isa++) {
        const sl_expr__kernels *base = sl_expr__kernels_at(SL_ISA_BASE),
                               *wide = sl_expr__kernels_at((sl_isa)isa);
        for (int i = 0; i < sl_test_iters(t, 3000); i++) {
            enum { MOST = 19 };
            double a[MOST], b[MOST], want[MOST], got[MOST], place[MOST];
            const int n = 1 + (int)sl_rng_below(&t->rng, MOST);
            for (int k = 0; k < MOST; k++) {
                a[k] = sl_rng_range(&t->rng, -3, 3);
                b[k] = sl_rng_range(&t->rng, -3, 3);
                if (sl_rng_below(&t->rng, 8) == 0)
                    a[k] = special[sl_rng_below(&t->rng, SL_LEN(special))];
                if (sl_rng_below(&t->rng, 8) == 0)
                    b[k] = special[sl_rng_below(&t->rng, SL_LEN(special))];
            }
            const int op = i % SL_EXPR__KERNEL_COUNT;
            memcpy(place, a, sizeof a);
            base->fn[op](want, a, b, n);
            wide->fn[op](got, a, b, n);
            wide->fn[op](place, place, b, n); // the result may overwrite an operand
            for (int k = 0; k < n; k++) {
                const bool nan = isnan(want[k]); // ONE_NAN decides which NaN
                SL_CHECK(t, nan ? isnan(got[k]) : same_bits(got[k], want[k]),
                         "%s kernel %d: %a, not %a", wide->name, op, got[k], want[k]);
                SL_CHECK(t, nan ? isnan(place[k]) : same_bits(place[k], want[k]),
                         "%s kernel %d in place: %a, not %a", wide->name, op, place[k], want[k]);
                SL_CHECK(t, op != SL_EXPR__ONE_NAN || same_bits(want[k], nan ? (double)NAN : a[k]),
                         "ONE_NAN gives %a for %a", want[k], a[k]);
            }
        }
    }
}

/* The documented operations, written in C; y, z > 0. */
static void operations_are_the_documented_ones(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        const double x = sl_rng_range(&t->rng, -9, 9), y = sl_rng_range(&t->rng, 0, 9);
        const double z = sl_rng_range(&t->rng, 0, 9);
        const struct {
            const char *text;
            double want;
        } cases[] = {
            { "x1", x },
            { "-x1", -x },
            { "3/7", 3.0 / 7.0 },
            { "x1 + x2", x + y },
            { "x1 - x2", x - y },
            { "x1 - sin(x2)", x - sl_sin(y) },
            { "-x1 - x2", -(x + y) },
            { "x1/x2", x / y },
            { "2/x2", 2 / y },
            { "-1/x2", -1 / y },
            { "x1/(x2*x3)", x / (y * z) },
            { "3*x1/x2", 3 * x / y },
            { "x1 - x2/x3", x - y / z },
            { "x1^2", x * x },
            { "x1^3", x * x * x },
            { "x1^4", (x * x) * (x * x) },
            { "x1^-2", 1 / (x * x) },
            { "(-x1)^3", -(x * x * x) },
            { "(-x1)^2", x * x },
            { "sqrt(x2)", sqrt(y) },
            { "x2^(3/2)", y * sqrt(y) },
            { "x2^(-1/2)", 1 / sqrt(y) },
            { "x2^(1/4)", sqrt(sqrt(y)) },
            { "x2^(7/4)", y * (sqrt(y) * sqrt(sqrt(y))) },
            { "x2^(1/3)", sl_exp(sl_log(y) * (1.0 / 3.0)) },
            { "exp(-x1)", sl_exp(-x) },
            { "x1 + sqrt(2)", x + sqrt(2) },
        };
        sl_arena_rewind(&t->arena, 0);
        for (int k = 0; k < SL_LEN(cases); k++) {
            double got;
            const double *columns[] = { &x, &y, &z };
            SL_MUST(t, sl_expr_eval(&got, &t->arena, parsed(t, cases[k].text), columns, 1, NULL));
            SL_CHECK(t, same_bits(got, cases[k].want), "%s is %a, not %a", cases[k].text, got,
                     cases[k].want);
        }
    }
}

static void outside_the_domain_is_nan(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        double x, want;
    } cases[] = {
        { "1/x1", 0, NAN },
        { "1/x1", -0.0, NAN },
        { "x1/x1", 0, NAN },
        { "x1^-2", 0, NAN },
        { "x1^(-1/2)", 0, NAN },
        { "x1^(-1/3)", 0, NAN },
        { "exp(1/x1)", 0, NAN },
        { "x1 + 1/0", 1, NAN },
        { "x1/(x1 - 1)", 1, NAN },
        { "sqrt(x1)", -1, NAN },
        { "sqrt(x1)", 0, 0 },
        { "sqrt(x1)^2", -4, NAN },
        { "x1^(1/3)", -8, NAN },
        { "x1^(2/3)", -8, NAN },
        { "x1^(2/3)", 0, 0 },
        { "x1^(3/4)", -1, NAN },
        { "sqrt(-2) + x1", 1, NAN },
        { "x1 - x1", NAN, NAN },
        { "sin(x1)", INFINITY, NAN },
        { "exp(x1)", 1000, INFINITY },
        { "exp(x1)", -1000, 0 },
        { "x1^2", -1e200, INFINITY },
        { "1/exp(x1)", 1000, 0 },
        { "log(x1)", 0, NAN },
        { "log(x1)", -0.0, NAN },
        { "log(x1)", -1, NAN },
        { "log(x1)", 1, 0 },
        { "asin(x1)", 1.5, NAN },
        { "acos(x1)", -1.5, NAN },
        { "acos(x1)", 1, 0 },
        { "tan(x1)", INFINITY, NAN },
        { "abs(x1)", -2.5, 2.5 },
        { "cosh(x1)", 1000, INFINITY },
        { "tanh(x1)", -1000, -1 },
        { "atan(x1)", 0, 0 },
        { "x1^x1", -2, NAN },
        { "x1^x1", 0, NAN },
        { "x1^(2 + x1)", 0, 0 },
        { "x1^(x1 - 2)", 0, NAN },
        { "0^x1", 2, 0 },
        { "0^x1", -2, NAN },
        { "0^x1", 0, NAN },
        { "(-2)^x1", 2, NAN },
        { "1^x1", 5, 1 },
        { "x1^pi", -1, NAN },
        { "x1^pi", 1, 1 },
        { "x1^log(x1)", 0, NAN },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        double y[5], x[5];
        const double *columns[] = { x };
        for (int k = 0; k < 5; k++) x[k] = cases[i].x; // a vector and the rest behind it
        SL_MUST(t, sl_expr_eval(y, &t->arena, parsed(t, cases[i].text), columns, 5, NULL));
        for (int k = 0; k < 5; k++)
            SL_CHECK(t, isnan(cases[i].want) ? same_bits(y[k], NAN) : y[k] == cases[i].want,
                     "%s at %g is %g, not %g", cases[i].text, cases[i].x, y[k], cases[i].want);
    }
    // what tidying would have removed still spreads: 0*NaN and NaN^0
    const double root[] = { -1, 4 }, *columns[] = { root };
    const sl_node *u = sl_expr_pow(&t->arena, sl_expr_var(&t->arena, 1), (sl_rat){ 1, 2 });
    const sl_node *zero =
        sl_expr_nary(&t->arena, SL_OP_MUL, (const sl_node *[]){ sl_expr_int(&t->arena, 0), u }, 2);
    double y[2];
    SL_MUST(t, sl_expr_eval(y, &t->arena, zero, columns, 2, NULL));
    SL_CHECK(t, isnan(y[0]) && y[1] == 0, "0*sqrt(x1) is %g, %g", y[0], y[1]);
    SL_MUST(t, sl_expr_eval(y, &t->arena, sl_expr_pow(&t->arena, u, SL_RAT(0)), columns, 2, NULL));
    SL_CHECK(t, isnan(y[0]) && y[1] == 1, "sqrt(x1)^0 is %g, %g", y[0], y[1]);
}

/* The reference where it has no value. */
static void the_reference_bounds_what_it_cannot_evaluate(void **state) {
    sl_fixture *t = *state;
    enum { SURELY_NAN, NAN_PERHAPS, NO_BOUND, BOUND };
    static const struct {
        const char *text;
        long double x;
        int what;
    } cases[] = {
        { "sqrt(x1)", -1, SURELY_NAN },
        { "1/x1", 0, SURELY_NAN },
        { "sin(1/x1)", 0, SURELY_NAN },
        { "x1 + sqrt(x1) + exp(-1000*x1)", -1, SURELY_NAN },
        { "1/(exp(x1) - exp(x1))", 1, NAN_PERHAPS }, // one that adds otherwise may miss the 0
        { "sqrt(sin(x1) - sin(x1))", 1, NO_BOUND },
        { "exp(x1)", 800, NO_BOUND }, // infinite in double
        { "1/exp(x1)", 800, NO_BOUND },
        { "x1*x1*x1/exp(x1)/x1", 1e-150L, NO_BOUND },   // x1^3 underflows
        { "x1*x1*exp(400)", 1e-170L, NO_BOUND },        // so does x1*x1
        { "x1 + x1 + x1 - x1 - x1", 5e306L, NO_BOUND }, // in some order near the largest double
        { "sqrt(x1)", 0, BOUND },
        { "sin(10^15*exp(x1))", 1, BOUND },
        { "exp(x1)", -800, BOUND },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        long double v, d;
        sl_expr_eval_ref(&v, &d, parsed(t, cases[i].text), &cases[i].x, NULL, 0x1p-53L);
        int got = isnan(v) ? (d == 0 ? SURELY_NAN : NAN_PERHAPS) : isinf(d) ? NO_BOUND : BOUND;
        SL_CHECK(t, got == cases[i].what, "%s at %Lg: %Lg with bound %Lg", cases[i].text,
                 cases[i].x, v, d);
    }
    // the error of the argument is that of 10^15 e, about 0.3: the bound must not be smaller
    long double v, d;
    const long double one = 1;
    sl_expr_eval_ref(&v, &d, parsed(t, "sin(10^15*exp(x1))"), &one, NULL, 0x1p-53L);
    SL_CHECK(t, d > 0.3L && d <= 2.1L, "bound %Lg of a sine that is hardly known", d);
    sl_expr_eval_ref(&v, &d, parsed(t, "exp(x1)"), (const long double[]){ 800 }, NULL, 0x1p-64L);
    SL_CHECK(t, isfinite(d), "exp(800) is an ordinary long double");
}

/* cos is base's sin a quarter turn ahead: compared with libm's long double. */
static void cos_is_good_to_one_ulp(void **state) {
    sl_fixture *t = *state;
    enum { N = 1000 };
    double x[N], y[N];
    for (int i = 0; i < sl_test_iters(t, 20); i++) {
        for (int k = 0; k < N; k++) {
            // near and far, and on either side of multiples of pi/2, where cos is small
            x[k] = sl_rng_range(&t->rng, -1, 1) * ldexp(1, (int)sl_rng_below(&t->rng, 60) - 20);
            if (k % 4 == 0)
                x[k] = ((double)sl_rng_below(&t->rng, 4000) - 2000) * 0x1.921fb54442d18p0;
        }
        sl_cos_array(y, x, N);
        for (int k = 0; k < N; k++) {
            const long double want = cosl(x[k]);
            const double near = fabs((double)want), ulp = nextafter(near, 2) - near;
            SL_CHECK(t, fabsl(y[k] - want) <= ulp, "cos(%a) is %a, not %La", x[k], y[k], want);
        }
    }
    const double edge[] = { 0, -0.0, 5e-324, INFINITY, -INFINITY, NAN };
    sl_cos_array(y, edge, SL_LEN(edge));
    for (int k = 0; k < SL_LEN(edge); k++)
        SL_CHECK(t, k < 3 ? y[k] == 1 : same_bits(y[k], NAN), "cos(%g) is %g", edge[k], y[k]);
}

/* A long sum needs no more registers than a short one: scratch has room for eight. */
static void registers_are_used_again(void **state) {
    sl_fixture *t = *state;
    enum { TERMS = 200, POINTS = 256 };
    const sl_node *terms[TERMS], *s = sl_expr_fn(&t->arena, SL_OP_SIN, sl_expr_var(&t->arena, 1));
    static const sl_rat powers[] = { { 3, 1 }, { 6, 1 }, { 5, 2 }, { 7, 4 }, { 1, 2 }, { 1, 3 } };
    for (int i = 0; i < TERMS; i++)
        terms[i] = sl_expr_pow(&t->arena, s, powers[i % SL_LEN(powers)]);
    const sl_node *e = sl_expr_nary(&t->arena, SL_OP_ADD, terms, TERMS);
    const sl_program *p;
    double x[POINTS], y[POINTS];
    const double *columns[] = { x };
    for (int i = 0; i < POINTS; i++) x[i] = 1 + i;
    assert_non_null(e);
    SL_MUST(t, sl_expr_compile(&p, &t->arena, e));
    sl_arena scratch = { .limit = 8 * POINTS * sizeof(double) + TERMS * 3 * 2 * sizeof(double) };
    sl_status st = sl_expr_program_run(y, p, columns, POINTS, NULL, &scratch);
    sl_arena_clear(&scratch);
    SL_MUST(t, st);
}

static void too_deep_is_refused(void **state) {
    sl_fixture *t = *state;
    const sl_node *e = sl_expr_var(&t->arena, 1);
    for (int i = 0; i < SL_EXPR__DEEP + 1; i++) e = sl_expr_fn(&t->arena, SL_OP_SIN, e);
    const sl_program *p;
    size_t mark = sl_arena_mark(&t->arena);
    assert_int_equal(sl_expr_compile(&p, &t->arena, e), SL_ELIMIT);
    assert_int_equal(sl_arena_mark(&t->arena), mark);
    long double v, d;
    sl_expr_eval_ref(&v, &d, e, (const long double[]){ 1 }, NULL, 0x1p-53L);
    assert_true(isnan(v) && isinf(d));
}

static sl_status compile_and_run(sl_fixture *t, const sl_node *e, double *y, const double *const *x,
                                 int n) {
    const sl_program *p;
    sl_arena scratch = { 0 };
    sl_status st = sl_expr_compile(&p, &t->arena, e);
    if (st == SL_OK) st = sl_expr_program_run(y, p, x, n, NULL, &scratch);
    if (st == SL_OK && sl_arena_mark(&scratch) != 0)
        st = sl_fail(SL_EINVAL, "scratch is not rewound");
    sl_arena_clear(&scratch);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    double x[100], y[100];
    const double *columns[] = { x };
    for (int i = 0; i < 100; i++) x[i] = i;
    const sl_node *e = parsed(t, "sin(x1)*exp(-x1) + sqrt(x1)*sin(2*x1 + 1) + x1^log(pi*x1)");
    SL_EACH_ALLOCATION(t, compile_and_run(t, e, y, columns, 100));
    SL_EACH_ALLOCATION(t, sl_expr_eval(y, &t->arena, e, columns, 100, NULL));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(values_are_within_the_bound_of_the_reference),
        SL_TEST(a_point_has_the_same_bits_at_every_place),
        SL_TEST(kernels_of_every_instruction_set_agree),
        SL_TEST(operations_are_the_documented_ones),
        SL_TEST(outside_the_domain_is_nan),
        SL_TEST(the_reference_bounds_what_it_cannot_evaluate),
        SL_TEST(cos_is_good_to_one_ulp),
        SL_TEST(registers_are_used_again),
        SL_TEST(too_deep_is_refused),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("expr.eval", tests, SL_LEN(tests));
}
