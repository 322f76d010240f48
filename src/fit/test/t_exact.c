/* Constants equal to pi, roots and simple exponents become exact, others do not. */
#include "snap_check.h"

/* Errors of `noise` times the rms of y. */
static void make_exact(sl_fixture *t, data *d, const char *truth, const double *value,
                       double noise) {
    double squares = 0;
    make(t, d, parsed(t, truth), value, 0);
    for (int i = 0; i < ROWS; i++) squares += d->y[i] * d->y[i] / ROWS;
    for (int i = 0; i < ROWS; i++) d->y[i] += noise * sqrt(squares) * sl_rng_normal(&t->rng);
}

static sl_fit snapped(sl_fixture *t, const data *d, const char *start, int *count) {
    static const double ones[] = { 1, 1, 1 };
    sl_fit f;
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, start), ones, &d->p, &plain));
    SL_MUST(t, sl_fit_snap(&f, count, &t->arena, &d->p, &plain));
    return f;
}

static const struct {
    const char *truth, *start;
} tasks[] = {
    { "2*pi*x1", "3*x1" },
    { "-pi*x1/4", "3*x1" },
    { "x1/(4*pi*x2^2)", "3*x1/x2^2" },
    { "pi^2*x1/6", "3*x1" },
    { "sqrt(2)*x1", "3*x1" },
    { "x1/sqrt(2)", "3*x1" },
    { "sqrt(3)*x1/2", "3*x1" },
    { "sqrt(pi)*x1/2", "3*x1" },
    { "exp(-x1^2/2)/sqrt(2*pi)", "2*exp(-x1^2/3)" },
    { "sin(2*pi*x1/3)", "sin(2*x1)" },
    { "2*pi*x1 + 3*x2 + 1/2", "5*x1 + 2*x2 + 1" },
    { "4*pi*x1^2*x2/3", "5*x1^2*x2" },
    // exponents
    { "x1^(3/2)", "x1^c1" },
    { "2*x1^(3/2)*x2^(-2)", "c1*x1^c2*x2^c3" },
    { "x1^2", "x1^c1" },
    { "x1^(-1/3)", "x1^c1" },
    { "pi*sqrt(x1)", "c1*x1^c2" },
};

static void exact_numbers_come_back(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(tasks); i++) {
        data d;
        int count;
        sl_truth same;
        make_exact(t, &d, tasks[i].truth, NULL, 0);
        const sl_fit f = snapped(t, &d, tasks[i].start, &count);
        SL_CHECK(t, f.params == 0 && count > 0, "%s is found as %s", tasks[i].truth,
                 text_with(f.expr, f.value));
        SL_MUST(t, sl_expr_same(&same, &t->arena, f.expr, parsed(t, tasks[i].truth)));
        SL_CHECK(t, sl_yes(same), "%s is found as %s", tasks[i].truth, text_with(f.expr, f.value));
    }
}

/* A decimal near pi is not pi: the data resolve the difference. */
static void constants_near_pi_stay_decimal(void **state) {
    sl_fixture *t = *state;
    static const double near[] = { 3.1415926,
                                   3.14159265,
                                   6.2831853,
                                   1.41421356,
                                   0.39894228,
                                   3 + 7e-10,
                                   3.14159265358979 * (1 + 3e-10) };
    for (int i = 0; i < SL_LEN(near); i++) {
        data d;
        int count;
        make_exact(t, &d, "c1*x1", &near[i], 0);
        const sl_fit f = snapped(t, &d, "2*x1", &count);
        SL_CHECK(t, f.params == 1 && count == 0, "%.9g is found as %s", near[i],
                 text_with(f.expr, f.value));
    }
}

/* Random constants become none of these, with or without noise. */
static void chance_makes_no_pi(void **state) {
    sl_fixture *t = *state;
    static const double noises[] = { 0, 1e-6, 1e-3, 0.1 };
    for (int n = 0; n < SL_LEN(noises); n++) {
        int irrational = 0, draws = sl_test_iters(t, 100);
        for (int i = 0; i < draws; i++) {
            data d;
            int count;
            const double v = sl_rng_range(&t->rng, 0.5, 9);
            sl_arena_rewind(&t->arena, 0);
            make_exact(t, &d, "c1*x1", &v, noises[n]);
            const sl_fit f = snapped(t, &d, "2*x1", &count);
            for (const sl_node *c = f.expr; c < f.expr + f.expr->len; c += sl_expr_step(c))
                irrational += c->op == SL_OP_PI || c->op == SL_OP_POW;
        }
        SL_CHECK(t, irrational <= draws / 50, "noise %g: %d of %d", noises[n], irrational, draws);
    }
}

/* With noise, pi is found where the constant has digits enough, and within its error. */
static void pi_is_recognised_under_little_noise(void **state) {
    sl_fixture *t = *state;
    int found = 0, coarse = 0, draws = sl_test_iters(t, 40);
    for (int i = 0; i < draws; i++) {
        data d;
        int count;
        sl_arena_rewind(&t->arena, 0);
        make_exact(t, &d, "2*pi*x1", NULL, 1e-6);
        sl_fit f = snapped(t, &d, "5*x1", &count);
        found += sl_expr_equal(f.expr, parsed(t, "2*pi*x1"));
        make_exact(t, &d, "2*pi*x1", NULL, 0.1);
        f = snapped(t, &d, "5*x1", &count);
        coarse += sl_expr_equal(f.expr, parsed(t, "2*pi*x1"));
    }
    // half an error: 38 percent of all draws
    SL_CHECK(t, found > draws / 5 && coarse == 0, "%d and %d of %d", found, coarse, draws);
}

/* The cheapest number is offered, and none where the constant has too few digits for it. */
static void a_number_costs_less_than_the_digits(void **state) {
    sl_fixture *t = *state;
    const double v = 1.57079632679489662;
    sl_fit__exact x;
    bool found;
    SL_MUST(t, sl_fit__near_exact(&found, &x, &t->arena, v, 0.01, 1, 7));
    assert_false(found);
    SL_MUST(t, sl_fit__near_exact(&found, &x, &t->arena, v, 1e-6, 1, 20));
    assert_true(found && x.shape == 1 && x.times.num == 1 && x.times.den == 2);
}

/* Expressions of exact numbers have their values. */
static void values_and_expressions_agree(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_FIT__SHAPES; k++) {
        bool found;
        sl_fit__exact x = { .times = { 1, 1 }, .shape = k };
        const sl_node *e = sl_fit__exact_expr(&t->arena, x);
        const double one = 1, *const columns[] = { &one };
        double value;
        assert_non_null(e);
        SL_MUST(t, sl_expr_eval(&value, &t->arena, e, columns, 1, NULL));
        SL_CHECK(t, fabs(value / sl_fit__exact_value(x) - 1) < 1e-15, "%d: %.17g", k, value);
        for (int num = -3; num <= 3 && k > 0; num += 2) {
            sl_fit__exact y;
            const double v = num / 2.0 * sl_fit__exact_value(x);
            SL_MUST(t, sl_fit__near_exact(&found, &y, &t->arena, v, 1e-14 * fabs(v), 1, 46));
            SL_CHECK(t, found && fabs(sl_fit__exact_value(y) / v - 1) < 1e-12, "%d/2 of %d", num,
                     k);
        }
    }
}

/* Without a fit, and one of several on request. */
static void constants_become_exact(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double value;
        const char *exact; // NULL: it stays
    } cases[] = {
        { 3, "3" },
        { -7.0 / 12, "-7/12" },
        { 0.75000000000001, "3/4" },
        { 2.718281828, NULL },
        { 0.333, NULL },
        { 6.283185307179586, "2*pi" },
        { 0.15915494309189535, "1/(2*pi)" },
        { 1.4142135623730951, "sqrt(2)" },
        { -1.7320508075688772, "-sqrt(3)" },
        { 0.016125767216599897, "1/(2*pi^3)" },
        { 0.39894228040143268, "1/sqrt(2*pi)" },
        { -3.2998316455372219, "-7*sqrt(2)/3" },
        { 63.984375, "4095/64" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_fit_bound s;
        double x = 1.7, got, want;
        const double *at[] = { &x };
        const sl_node *e = sl_expr_apply(&t->arena, SL_OPERATOR_MUL, sl_expr_par(&t->arena, 1),
                                         sl_expr_var(&t->arena, 1));
        SL_MUST(t, sl_fit_bind(&s, &t->arena, e, &cases[i].value, 1, -1, 1e-9));
        if (!cases[i].exact) {
            SL_CHECK(t, s.bound == 0 && s.params == 1, "%g became a number", cases[i].value);
            continue;
        }
        SL_CHECK(t, s.bound == 1 && s.params == 0, "%g stays", cases[i].value);
        SL_MUST(t, sl_expr_eval(&got, &t->arena, s.expr, at, 1, NULL));
        SL_MUST(t, sl_expr_eval(&want, &t->arena, parsed(t, cases[i].exact), at, 1, NULL));
        SL_CHECK(t, fabs(got - 1.7 * want) <= 1e-15 * fabs(got), "%.17g is no %s x1", got,
                 cases[i].exact);
    }
    const double two[] = { 0.5, 6.283185307179586 };
    const sl_node *e = parsed(t, "c1*x1 + sin(c2*x2)");
    for (int which = 0; which < 2; which++) {
        sl_fit_bound s;
        SL_MUST(t, sl_fit_bind(&s, &t->arena, e, two, 2, which, 1e-9));
        SL_CHECK(t, s.bound == 1 && s.params == 1 && s.value[0] == two[1 - which], "constant %d",
                 which);
    }
}

static sl_status snap_once(sl_arena *a, const sl_fit *fit, const sl_dataset *p) {
    sl_fit f = *fit;
    int count;
    const sl_refine_options o = { .evaluations = 20 };
    return sl_fit_snap(&f, &count, a, p, &o);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    make_exact(t, &d, "exp(-x1)/sqrt(2*pi)", NULL, 0);
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "3*exp(-x1)"), NULL, &d.p, &plain));
    SL_EACH_ALLOCATION(t, snap_once(&t->arena, &f, &d.p));
    // also where the arena's chunk is at its end
    sl_status st = SL_ENOMEM;
    for (size_t limit = 64; st != SL_OK; limit += 64) {
        sl_arena a = { .limit = limit };
        st = snap_once(&a, &f, &d.p);
        sl_arena_clear(&a);
        SL_CHECK(t, (st == SL_OK || st == SL_ENOMEM) && limit < 1 << 20, "%zu bytes: %d", limit,
                 (int)st);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(exact_numbers_come_back),
        SL_TEST(constants_near_pi_stay_decimal),
        SL_TEST(chance_makes_no_pi),
        SL_TEST(pi_is_recognised_under_little_noise),
        SL_TEST(a_number_costs_less_than_the_digits),
        SL_TEST(values_and_expressions_agree),
        SL_TEST(constants_become_exact),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("fit.exact", tests, SL_LEN(tests));
}
