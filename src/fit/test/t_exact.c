/* Constants that are pi, roots and exponents become them, and no others do. */
#include "fixture/fixture.h"

#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"

enum { ROWS = 50, VARS = 2 };

typedef struct data {
    double x[VARS][ROWS], y[ROWS];
    const double *column[VARS];
    sl_problem p;
} data;

static const sl_refine_options plain = { .evaluations = 200, .restarts = 4, .seed = 7 };

static const sl_node *parsed(sl_fixture *t, const char *text) {
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return e;
}

static const char *text_of(const sl_fit *f) {
    static char text[4096];
    sl_str s = { 0 };
    sl_status st = sl_expr_print_values(&s, SL_FORMAT_INFIX, f->expr, NULL, f->value);
    snprintf(text, sizeof text, "%s", st == SL_OK ? sl_str_text(&s) : "?");
    sl_str_clear(&s);
    return text;
}

/* Rows at random x, y by `truth`, with errors of `noise` times their rms. */
static void make(sl_fixture *t, data *d, const char *truth, const double *value, double noise) {
    for (int v = 0; v < VARS; v++) {
        d->column[v] = d->x[v];
        for (int i = 0; i < ROWS; i++) d->x[v][i] = sl_rng_range(&t->rng, 0.2, 2);
    }
    d->p = (sl_problem){ .inputs = VARS, .rows = ROWS, .x = d->column, .y = d->y };
    SL_MUST(t, sl_expr_eval(d->y, &t->arena, parsed(t, truth), d->column, ROWS, value));
    double squares = 0;
    for (int i = 0; i < ROWS; i++) squares += d->y[i] * d->y[i] / ROWS;
    for (int i = 0; i < ROWS; i++) d->y[i] += noise * sqrt(squares) * sl_rng_normal(&t->rng);
}

static sl_fit snapped(sl_fixture *t, const data *d, const char *start, int *count) {
    static const double ones[] = { 1, 1, 1 };
    sl_fit f;
    SL_MUST(t, sl_refine(&f, &t->arena, parsed(t, start), ones, &d->p, &plain));
    SL_MUST(t, sl_snap(&f, count, &t->arena, &d->p, &plain));
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
        make(t, &d, tasks[i].truth, NULL, 0);
        const sl_fit f = snapped(t, &d, tasks[i].start, &count);
        SL_CHECK(t, f.params == 0 && count > 0, "%s is found as %s", tasks[i].truth, text_of(&f));
        SL_MUST(t, sl_expr_same(&same, &t->arena, f.expr, parsed(t, tasks[i].truth)));
        SL_CHECK(t, sl_yes(same), "%s is found as %s", tasks[i].truth, text_of(&f));
    }
}

/* A decimal that is near pi is not pi: the data are exact enough to tell. */
static void what_is_near_stays(void **state) {
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
        make(t, &d, "c1*x1", &near[i], 0);
        const sl_fit f = snapped(t, &d, "2*x1", &count);
        SL_CHECK(t, f.params == 1 && count == 0, "%.9g is found as %s", near[i], text_of(&f));
    }
}

/* Random constants are none of these, nor are they with noise. */
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
            make(t, &d, "c1*x1", &v, noises[n]);
            const sl_fit f = snapped(t, &d, "2*x1", &count);
            for (const sl_node *c = f.expr; c < f.expr + f.expr->len; c += sl_step(c))
                irrational += c->op == SL_OP_PI || c->op == SL_OP_POW;
        }
        SL_CHECK(t, irrational <= draws / 50, "noise %g: %d of %d", noises[n], irrational, draws);
    }
}

/* With noise, pi is found where the constant has digits enough, and within its error. */
static void pi_is_seen_through_little_noise(void **state) {
    sl_fixture *t = *state;
    int found = 0, coarse = 0, draws = sl_test_iters(t, 40);
    for (int i = 0; i < draws; i++) {
        data d;
        int count;
        sl_arena_rewind(&t->arena, 0);
        make(t, &d, "2*pi*x1", NULL, 1e-6);
        sl_fit f = snapped(t, &d, "5*x1", &count);
        found += sl_expr_equal(f.expr, parsed(t, "2*pi*x1"));
        make(t, &d, "2*pi*x1", NULL, 0.1);
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
    SL_MUST(t, sl_fit__near_irrational(&found, &x, &t->arena, v, 0.01));
    assert_false(found);
    SL_MUST(t, sl_fit__near_irrational(&found, &x, &t->arena, v, 1e-6));
    assert_true(found && x.factor == 1 && x.times.num == 1 && x.times.den == 2);
}

/* As expressions numbers have the values that they have. */
static void values_and_expressions_agree(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_FIT__FACTORS; k++) {
        bool found;
        sl_fit__exact x = { .times = { 1, 1 }, .factor = k };
        const sl_node *e = sl_fit__exact_expr(&t->arena, x);
        const double one = 1, *const columns[] = { &one };
        double value;
        assert_non_null(e);
        SL_MUST(t, sl_expr_eval(&value, &t->arena, e, columns, 1, NULL));
        SL_CHECK(t, fabs(value / sl_fit__exact_value(x) - 1) < 1e-15, "%d: %.17g", k, value);
        for (int num = -3; num <= 3 && k > 0; num += 2) {
            sl_fit__exact y;
            const double v = num / 2.0 * sl_fit__exact_value(x);
            SL_MUST(t, sl_fit__near_irrational(&found, &y, &t->arena, v, 1e-14 * fabs(v)));
            SL_CHECK(t, found && fabs(sl_fit__exact_value(y) / v - 1) < 1e-12, "%d/2 of %d", num,
                     k);
        }
    }
}

static sl_status snap_once(sl_arena *a, const sl_fit *fit, const sl_problem *p) {
    sl_fit f = *fit;
    int count;
    const sl_refine_options o = { .evaluations = 20 };
    return sl_snap(&f, &count, a, p, &o);
}

static void lack_of_memory_is_told(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    make(t, &d, "exp(-x1)/sqrt(2*pi)", NULL, 0);
    SL_MUST(t, sl_refine(&f, &t->arena, parsed(t, "3*exp(-x1)"), NULL, &d.p, &plain));
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
        SL_TEST(what_is_near_stays),
        SL_TEST(chance_makes_no_pi),
        SL_TEST(pi_is_seen_through_little_noise),
        SL_TEST(a_number_costs_less_than_the_digits),
        SL_TEST(values_and_expressions_agree),
        SL_TEST(lack_of_memory_is_told),
    };
    return sl_test_main("fit.exact", tests, SL_LEN(tests));
}
