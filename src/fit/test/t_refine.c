/* Fitting: constants are found, R2 never falls, and reported figures are right. */
#include "fixture/formula.h"

#include <math.h>
#include <string.h>

#include "expr/expr_test.h"
#include "fit/fit_impl.h"

enum { ROWS = 64, VARS = 2, MANY = 20000 };

typedef struct data {
    double x[VARS][ROWS], y[ROWS];
    const double *column[VARS];
    sl_dataset p;
} data;

static const sl_refine_options plain = { .evaluations = 200, .restarts = 4, .seed = 7 };

static int pick(sl_rng *rng, int n) { return (int)sl_rng_below(rng, (uint32_t)n); }

/* Rows at random x, y by `truth`; false where that is not real. */
static bool make(sl_fixture *t, data *d, const sl_node *truth, double lo, double hi) {
    for (int v = 0; v < VARS; v++) {
        d->column[v] = d->x[v];
        for (int i = 0; i < ROWS; i++) d->x[v][i] = sl_rng_range(&t->rng, lo, hi);
    }
    d->p = sl_data_view(d->column, VARS, d->y, ROWS);
    SL_MUST(t, sl_expr_eval(d->y, &t->arena, truth, d->column, ROWS, NULL));
    for (int i = 0; i < ROWS; i++)
        if (!isfinite(d->y[i])) return false;
    return true;
}

static double r2_of(sl_fixture *t, const sl_node *e, const double *value, const sl_dataset *p) {
    double y[ROWS];
    SL_MUST(t, sl_expr_eval(y, &t->arena, e, p->x, p->rows, value));
    return sl_num_r2(y, p->y, p->rows);
}

static void check_fit(sl_fixture *t, const sl_fit *f, const sl_dataset *p) {
    const sl_node *tidy;
    SL_CHECK(t, sl_expr_max_par(f->expr) <= f->params && f->params <= SL_FIT_MAX_PARAMS,
             "%d constants: %s", f->params, text_with(f->expr, NULL));
    SL_MUST(t, sl_expr_tidy(&tidy, &t->arena, f->expr));
    SL_CHECK(t, sl_expr_equal(tidy, f->expr), "not tidy: %s", text_with(f->expr, NULL));
    const double r2 = r2_of(t, f->expr, f->value, p);
    SL_CHECK(t, r2 == f->r2 || (isnan(r2) && isnan(f->r2)), "R2 is %.12g, not %.12g: %s", r2, f->r2,
             text_with(f->expr, f->value));
}

/* ---------------------------------------------------------------- finding ------------------- */

typedef struct task {
    const char *truth, *start;
    double lo, hi;
} task;

static const task tasks[] = {
    { "2.5*exp(-1.3*x1) + 0.7", "9*exp(-4*x1) - 3", 0, 3 },
    { "3*x1 - 4*x2 + 5", "-7*x1 + 100*x2 + 2", -2, 2 },
    { "sqrt(2*x1 + 3)", "sqrt(5*x1 + 7)", -1, 3 },
    { "3*sin(2*x1 + 1)", "2*sin(2.2*x1 + 2)", -2, 2 },
    { "7/(x1 + 3)", "3/(x1 + 5)", -2, 2 },
    { "3*x1/(x1 - 2*x2)", "4*x1/(x1 - 3*x2)", -2, 2 }, // a pole between the rows
    { "1/(x1^2 - 2) + 3*x2", "2/(x1^2 - 1.8) + 2*x2", -2, 2 },
    { "exp(2*x1*x2)/5", "exp(3*x1*x2)/2", -1, 1 },
    { "(x1 - 2)^2*(3*x2 + 1)", "(x1 - 1)^2*(2*x2 + 3)", -2, 2 },
    // not real at the start
    { "sqrt(2*x1 + 3)", "sqrt(-2*x1 - 3)", -1, 3 },
    { "sqrt(3 - x1)", "sqrt(1 - x1)", -1, 2 },
    { "5*x2 - sqrt(6*x1)", "2*x2 - sqrt(-2*x1)", 0, 2 },
};

static void constants_are_found(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(tasks); i++) {
        data d;
        sl_fit f;
        SL_CHECK(t, make(t, &d, parsed(t, tasks[i].truth), tasks[i].lo, tasks[i].hi),
                 "%s is not finite", tasks[i].truth);
        SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, tasks[i].start), NULL, &d.p, &plain));
        SL_CHECK(t, f.r2 > 1 - 1e-12, "R2 %.12g: %s becomes %s, not %s", f.r2, tasks[i].start,
                 text_with(f.expr, f.value), tasks[i].truth);
        SL_CHECK(t, f.starts <= 1 + plain.restarts && !f.stopped, "%d starts", f.starts);
        check_fit(t, &f, &d.p);
    }
}

/* A formula with integers, real at all rows, and not flat there. */
static const sl_node *random_law(sl_fixture *t, data *d) {
    for (;;) {
        const sl_expr_random_options o = { 1 + pick(&t->rng, 3), VARS, 0, 0.1, 0, false };
        const sl_node *e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.2, 9));
        SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));
        if (!make(t, d, e, 0.2, 2)) continue;
        double top = 0, spread = 0;
        for (int i = 0; i < ROWS; i++) {
            top = fmax(top, fabs(d->y[i]));
            spread = fmax(spread, fabs(d->y[i] - d->y[0]));
        }
        if (top < 1e100 && spread > 1e-6 * top) return e;
    }
}

static void constants_of_random_laws_are_found_again(void **state) {
    sl_fixture *t = *state;
    const int laws = sl_test_iters(t, 100);
    int found = 0, with = 0;
    for (int i = 0; i < laws; i++) {
        data d;
        const sl_node *e = random_law(t, &d), *free;
        double value[256];
        int n;
        SL_MUST(t, sl_expr_free_numbers(&free, value, &n, SL_LEN(value), &t->arena, e));
        if (n == 0 || n > SL_FIT_MAX_PARAMS) continue;
        for (int k = 0; k < n; k++) value[k] *= sl_rng_range(&t->rng, 0.6, 1.4);
        sl_fit f;
        SL_MUST(t, sl_expr_tidy(&free, &t->arena, free));
        SL_MUST(t, sl_fit_refine(&f, &t->arena, free, value, &d.p, &plain));
        check_fit(t, &f, &d.p);
        with++;
        found += f.r2 > 1 - 1e-10;
    }
    SL_CHECK(t, with > laws / 2 && found > 0.85 * with, "only %d of %d", found, with);
}

/* ---------------------------------------------------------------- laws ---------------------- */

/* Whatever the data, and whether the formula is real or not. */
static void r2_never_falls(void **state) {
    sl_fixture *t = *state;
    const sl_refine_options few = { .evaluations = 10, .restarts = 1, .seed = 3 };
    int better = 0;
    const int cases = sl_test_iters(t, 150);
    for (int i = 0; i < cases; i++) {
        data d;
        sl_arena_rewind(&t->arena, 0);
        make(t, &d, parsed(t, "x1"), -2, 2);
        for (int k = 0; k < ROWS; k++) d.y[k] = sl_rng_normal(&t->rng);
        const sl_expr_random_options o = { 1 + pick(&t->rng, 3), VARS, 3, 0.1, 0, false };
        const sl_node *e;
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &o));
        SL_MUST(t, sl_expr_insert_numbers(&e, &t->arena, &t->rng, e, 0.2, 5));
        SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));
        const double before = r2_of(t, e, NULL, &d.p);
        for (int wide = 0; wide < 2; wide++) {
            sl_fit f;
            SL_MUST(
                t, (wide ? sl_fit_refine_wide : sl_fit_refine)(&f, &t->arena, e, NULL, &d.p, &few));
            SL_CHECK(t, !(f.r2 < before) && !(isnan(f.r2) && !isnan(before)),
                     "R2 falls from %.17g to %.17g: %s", before, f.r2, text_with(e, NULL));
            check_fit(t, &f, &d.p);
            better += f.r2 > before;
        }
    }
    SL_CHECK(t, better > cases / 2, "only %d became better", better);
}

/* Nothing depends on the unit of y. */
static void any_size_of_y_will_do(void **state) {
    sl_fixture *t = *state;
    static const double sizes[] = { 1e-300, 1e-30, 1, 1e30, 1e290 };
    for (int i = 0; i < SL_LEN(sizes); i++) {
        data d;
        sl_fit f;
        make(t, &d, parsed(t, "3*exp(x1) + 5*sin(2*x2) + 2"), -1, 1);
        for (int k = 0; k < ROWS; k++) d.y[k] *= sizes[i];
        SL_MUST(t, sl_fit_refine_wide(&f, &t->arena, parsed(t, "exp(x1) + 2*sin(1.7*x2)"), NULL,
                                      &d.p, &plain));
        SL_CHECK(t, f.r2 > 1 - 1e-12, "R2 %.12g at size %g: %s", f.r2, sizes[i],
                 text_with(f.expr, f.value));
    }
}

static void the_same_call_gives_the_same_bits(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f[2], other;
    make(t, &d, parsed(t, "sin(3*x1) + x2"), -3, 3);
    const sl_node *e = parsed(t, "sin(7*x1) + 2*x2");
    for (int i = 0; i < 2; i++)
        SL_MUST(t,
                sl_fit_refine(&f[i], &t->arena, e, NULL, &d.p,
                              &(sl_refine_options){ .evaluations = 5, .restarts = 2, .seed = 1 }));
    SL_CHECK(t,
             sl_expr_equal(f[0].expr, f[1].expr) && f[0].params == f[1].params &&
                 f[0].evaluations == f[1].evaluations,
             "other work");
    for (int k = 0; k < f[0].params; k++)
        SL_CHECK(t, f[0].value[k] == f[1].value[k], "c%d differs", k + 1);
    SL_MUST(t, sl_fit_refine(&other, &t->arena, e, NULL, &d.p,
                             &(sl_refine_options){
                                 .evaluations = 5, .restarts = 2, .seed = 1, .stream = 9 }));
    SL_CHECK(t, other.value[0] != f[0].value[0], "the stream does not matter");
}

typedef struct stopper {
    int calls, at, after;
} stopper;

static bool stop(void *payload) {
    stopper *s = payload;
    s->calls++;
    if (s->calls < s->at) return false;
    s->after++;
    return true;
}

/* At any evaluation. */
static void fits_stop_on_request(void **state) {
    sl_fixture *t = *state;
    data d;
    make(t, &d, parsed(t, "3*exp(-2*x1) + x2 + sin(9*x1)"), 0, 2);
    for (int at = 1; at < 60; at++) {
        sl_fit f;
        stopper s = { .at = at };
        const sl_refine_options o = {
            .evaluations = 100, .restarts = 5, .stop = stop, .payload = &s
        };
        SL_MUST(t, sl_fit_refine_wide(&f, &t->arena, parsed(t, "exp(-5*x1)*2 + 3*sin(x2)"), NULL,
                                      &d.p, &o));
        SL_CHECK(t, f.stopped && f.evaluations <= at + 1, "%d evaluations, stopped at %d",
                 f.evaluations, at);
        SL_CHECK(t, s.after <= 6, "%d calls after the stop", s.after);
        check_fit(t, &f, &d.p);
    }
}

/* Exact formulas stay unchanged. */
static void exact_formulas_stay(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    const sl_node *e = parsed(t, "2*exp(x1/3) - 7*x2");
    make(t, &d, e, -1, 1);
    SL_MUST(t, sl_fit_refine_wide(&f, &t->arena, e, NULL, &d.p, &plain));
    SL_CHECK(t, f.r2 == 1 && f.params == 0 && sl_expr_equal(f.expr, e), "it is %s",
             text_with(f.expr, f.value));
}

/* For a constant y R2 is 0 for all but the exact formula; the nearest one is still found. */
static void constant_targets_are_fitted(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    make(t, &d, parsed(t, "0.7"), -1, 1);
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "3*x1 + 4"), NULL, &d.p, &plain));
    SL_CHECK(t, f.params == 2 && fabs(f.value[0]) < 1e-12 && fabs(f.value[1] - 0.7) < 1e-12,
             "it is %s", text_with(f.expr, f.value));
}

/* Where linear constants are solved for, few steps are enough. */
static void projection_saves_steps(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    make(t, &d, parsed(t, "2.5*exp(-1.3*x1) + 0.7*x2 - 11"), 0, 3);
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "900*exp(-4*x1) + 500*x2 + 300"), NULL, &d.p,
                             &plain));
    SL_CHECK(t, f.r2 > 1 - 1e-12 && f.evaluations <= 16, "%d evaluations to R2 %.12g",
             f.evaluations, f.r2);
}

/* ---------------------------------------------------------------- noise and size ------------ */

/* Slope and intercept with their errors, from the textbook. */
static void errors_are_those_of_the_textbook(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    make(t, &d, parsed(t, "3*x1 + 2"), -1, 4);
    double mx = 0, my = 0, sxx = 0, sxy = 0, sse = 0;
    for (int i = 0; i < ROWS; i++) {
        d.y[i] += 0.3 * sl_rng_normal(&t->rng);
        mx += d.x[0][i] / ROWS;
        my += d.y[i] / ROWS;
    }
    for (int i = 0; i < ROWS; i++) {
        sxx += (d.x[0][i] - mx) * (d.x[0][i] - mx);
        sxy += (d.x[0][i] - mx) * (d.y[i] - my);
    }
    const double slope = sxy / sxx, level = my - slope * mx;
    for (int i = 0; i < ROWS; i++) sse += pow(d.y[i] - slope * d.x[0][i] - level, 2);
    const double s = sqrt(sse / (ROWS - 2)), slope_error = s / sqrt(sxx),
                 level_error = s * sqrt(1.0 / ROWS + mx * mx / sxx);
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "7*x1 + 5"), NULL, &d.p, &plain));
    SL_CHECK(t, f.params == 2, "%s", text_with(f.expr, NULL));
    SL_CHECK(t, fabs(f.value[0] - slope) < 1e-10 && fabs(f.value[1] - level) < 1e-10, "%s",
             text_with(f.expr, f.value));
    SL_CHECK(t,
             fabs(f.error[0] / slope_error - 1) < 1e-8 && fabs(f.error[1] / level_error - 1) < 1e-8,
             "errors %g and %g, not %g and %g", f.error[0], f.error[1], slope_error, level_error);
}

/* A table that is fitted by a part of its rows first: sorted, so that a part from its front would
 * mislead, and with noise, so that only all rows have the best constants. */
static void large_tables_are_fitted_by_all_rows(void **state) {
    sl_fixture *t = *state;
    double *x = sl_arena_alloc(&t->arena, 3 * MANY * sizeof *x), *y = x + MANY, *z = y + MANY;
    assert_non_null(x);
    const double *columns[1] = { x };
    for (int i = 0; i < MANY; i++) {
        x[i] = 4.0 * i / MANY;
        y[i] = 2 * exp(-1.5 * x[i]) + 1 + 0.1 * sl_rng_normal(&t->rng);
    }
    const sl_dataset p = sl_data_view(columns, 1, y, MANY);
    sl_fit f;
    SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "5*exp(-4*x1) + 3"), NULL, &p, &plain));
    SL_CHECK(t, f.params == 3, "%s", text_with(f.expr, NULL));
    SL_MUST(t, sl_expr_eval(z, &t->arena, f.expr, columns, MANY, f.value));
    SL_CHECK(t, f.r2 == sl_num_r2(z, y, MANY), "not the R2 of all rows");
    const double want[] = { 2, -1.5, 1 };
    for (int k = 0; k < 3; k++) {
        double off = INFINITY; // constants are in the order of the tree, unknown here
        for (int j = 0; j < 3; j++) off = fmin(off, fabs(f.value[k] - want[j]));
        SL_CHECK(t, off < 5 * f.error[k] && f.error[k] < 0.03, "%.6g +- %.2g", f.value[k],
                 f.error[k]);
    }
    // the slope of the sum of squares vanishes over all rows, not over a part of them
    for (int k = 0; k < 3; k++) {
        const sl_node *slope;
        double dot = 0, rr = 0, ss = 0;
        SL_MUST(t, sl_expr_diff(&slope, &t->arena, f.expr, SL_OP_PAR, k + 1));
        double *s = sl_arena_alloc(&t->arena, MANY * sizeof *s);
        SL_MUST(t, sl_expr_eval(s, &t->arena, slope, columns, MANY, f.value));
        for (int i = 0; i < MANY; i++) {
            dot += s[i] * (z[i] - y[i]);
            rr += (z[i] - y[i]) * (z[i] - y[i]);
            ss += s[i] * s[i];
        }
        SL_CHECK(t, fabs(dot) < 1e-6 * sqrt(rr * ss), "c%d: cosine %g", k + 1, dot / sqrt(rr * ss));
    }
}

/* The sample of a large table may miss rows outside the domain. */
static void rows_outside_the_sample_count(void **state) {
    sl_fixture *t = *state;
    double *x = sl_arena_alloc(&t->arena, 2 * MANY * sizeof *x), *y = x + MANY;
    assert_non_null(x);
    const double *columns[1] = { x };
    for (int i = 0; i < MANY; i++) {
        x[i] = sl_rng_uniform(&t->rng);
        y[i] = sqrt(x[i] + 0.5);
    }
    for (int i = 0; i < 3; i++) { // there sqrt(x1 + 0.5) is not real
        x[i * 5000 + 1] = -1;
        y[i * 5000 + 1] = 0;
    }
    const sl_dataset p = sl_data_view(columns, 1, y, MANY);
    for (int stream = 0; stream < 8; stream++) {
        sl_refine_options o = plain;
        o.stream = (uint64_t)stream;
        sl_fit f;
        SL_MUST(t, sl_fit_refine(&f, &t->arena, parsed(t, "sqrt(x1 + 2)"), NULL, &p, &o));
        SL_CHECK(t, f.params == 1 && f.value[0] >= 1 && f.value[0] < 1.5, "it is %s",
                 text_with(f.expr, f.value));
    }
}

/* Stopped before all rows are evaluated, it keeps the result of the sample. */
static void a_stop_in_a_large_table_loses_nothing(void **state) {
    sl_fixture *t = *state;
    double *x = sl_arena_alloc(&t->arena, 2 * MANY * sizeof *x), *y = x + MANY;
    assert_non_null(x);
    const double *columns[1] = { x };
    for (int i = 0; i < MANY; i++) {
        x[i] = 4.0 * i / MANY;
        y[i] = 2 * exp(-1.5 * x[i]) + 1;
    }
    const sl_dataset p = sl_data_view(columns, 1, y, MANY);
    const sl_node *e = parsed(t, "5*exp(-4*x1) + 3");
    double last = -INFINITY;
    for (int at = 2; at < 12; at++) {
        sl_fit f;
        stopper s = { .at = at };
        sl_refine_options o = plain;
        o.stop = stop;
        o.payload = &s;
        SL_MUST(t, sl_fit_refine(&f, &t->arena, e, NULL, &p, &o));
        SL_CHECK(t, f.r2 >= last, "stopped at %d: R2 %.6g, and %.6g before", at, f.r2, last);
        last = f.r2;
    }
    SL_CHECK(t, last > 0.99, "R2 %.6g", last);
}

/* ---------------------------------------------------------------- shapes -------------------- */

static void linear_constants_are_known(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *e;
        int n, n_linear;
    } cases[] = {
        { "c1*exp(c2*x1) + c3", 3, 2 },
        { "c1*(c2*x1 + c3*x2 + c4)", 4, 3 },
        { "c1*x1 + c2*x2 + c3", 3, 3 },
        { "exp(c1*x1)", 1, 0 },
        { "c1*c2*x1", 2, 1 },
        { "sqrt(c1*x1 + c2)", 2, 0 },
        { "c1*sin(x1 + c2) + c1*x2", 2, 1 },
        { "x1/(x2 + c1) + c2/x1", 2, 1 },
        { "c1^2*x1 + c2", 2, 1 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_fit__code c;
        SL_MUST(t, sl_fit__compile(&c, &t->arena, parsed(t, cases[i].e), cases[i].n));
        SL_CHECK(t, c.n_linear == cases[i].n_linear && c.n_linear + c.n_nonlinear == c.n,
                 "%d of %s enter linearly", c.n_linear, cases[i].e);
    }
}

/* The wide fit adds a factor for each term and a summand, if the description gets shorter. */
static void wider_formulas_need_a_shorter_description(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *truth, *e;
        int params;
    } cases[] = {
        { "37.5*sin(x1) + 12", "sin(x1)", 2 },
        { "37.5*sin(x1) - 4*x2 + 12", "sin(x1) - x2", 3 },
        { "2*exp(x2) + 0.5*x1", "exp(x2) + x1", 3 },
        { "x1^2 + x2", "x1^2 + x2", 0 }, // unchanged
        { "7*x1^2", "3*x1^2", 1 },
        { "7*x1^2 + 1", "3*x1^2 + 3", 2 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        data d;
        sl_fit f;
        make(t, &d, parsed(t, cases[i].truth), -2, 2);
        SL_MUST(t, sl_fit_refine_wide(&f, &t->arena, parsed(t, cases[i].e), NULL, &d.p, &plain));
        SL_CHECK(t, f.r2 > 1 - 1e-12 && f.params == cases[i].params, "%s gives %s, R2 %.12g",
                 cases[i].e, text_with(f.expr, f.value), f.r2);
        check_fit(t, &f, &d.p);
    }
    // noise is no reason for a summand that is a quarter of its standard error
    data d;
    sl_fit f;
    make(t, &d, parsed(t, "sin(x1)"), -2, 2);
    for (int k = 0; k < ROWS / 2; k++) { // rows in pairs, so that nothing else is left to chance
        d.x[0][2 * k + 1] = -d.x[0][2 * k];
        const double noise = 0.3 * sl_rng_normal(&t->rng);
        d.y[2 * k] = sl_sin(d.x[0][2 * k]) + noise + 0.01;
        d.y[2 * k + 1] = -sl_sin(d.x[0][2 * k]) - noise + 0.01;
    }
    SL_MUST(t, sl_fit_refine_wide(&f, &t->arena, parsed(t, "3*sin(x1)"), NULL, &d.p, &plain));
    SL_CHECK(t, f.params == 1, "a summand for nothing: %s", text_with(f.expr, f.value));
}

static void too_many_constants_stay_as_they_are(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    sl_str s = { 0 };
    for (int i = 1; i <= SL_FIT_MAX_PARAMS + 1; i++)
        sl_str_addf(&s, "%s%d*sin(x1)^%d", i > 1 ? " + " : "", i + 1, i + 1);
    const sl_node *e = parsed(t, s.text);
    sl_str_clear(&s);
    make(t, &d, parsed(t, "x1"), -1, 1);
    for (int wide = 0; wide < 2; wide++) {
        SL_MUST(t,
                (wide ? sl_fit_refine_wide : sl_fit_refine)(&f, &t->arena, e, NULL, &d.p, &plain));
        SL_CHECK(t, sl_expr_equal(f.expr, e) && f.params == 0 && f.evaluations == 0, "it is %s",
                 text_with(f.expr, f.value));
        check_fit(t, &f, &d.p);
    }
}

/* More constants than rows, one row, a constant target: a result and no fault. */
static void degenerate_tables_are_answered(void **state) {
    sl_fixture *t = *state;
    double x[2] = { 1, 2 }, y[2] = { 5, 5 };
    const double *columns[1] = { x };
    for (int rows = 1; rows <= 2; rows++) {
        const sl_dataset p = sl_data_view(columns, 1, y, rows);
        sl_fit f;
        SL_MUST(t, sl_fit_refine_wide(&f, &t->arena, parsed(t, "2*exp(3*x1) + 4*x1 + 1"), NULL, &p,
                                      &plain));
        SL_CHECK(t, rows == 1 ? isnan(f.r2) : f.r2 >= 0, "R2 of %d rows is %g", rows, f.r2);
    }
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    data d;
    sl_fit f;
    make(t, &d, parsed(t, "3*exp(x1) + 2*x2"), -1, 1);
    const sl_node *e = parsed(t, "exp(2*x1) + x2");
    const sl_refine_options o = { .evaluations = 4, .restarts = 1 };
    SL_EACH_ALLOCATION(t, sl_fit_refine_wide(&f, &t->arena, e, NULL, &d.p, &o));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(constants_are_found),
        SL_TEST(constants_of_random_laws_are_found_again),
        SL_TEST(r2_never_falls),
        SL_TEST(any_size_of_y_will_do),
        SL_TEST(the_same_call_gives_the_same_bits),
        SL_TEST(fits_stop_on_request),
        SL_TEST(exact_formulas_stay),
        SL_TEST(constant_targets_are_fitted),
        SL_TEST(projection_saves_steps),
        SL_TEST(errors_are_those_of_the_textbook),
        SL_TEST(large_tables_are_fitted_by_all_rows),
        SL_TEST(rows_outside_the_sample_count),
        SL_TEST(a_stop_in_a_large_table_loses_nothing),
        SL_TEST(linear_constants_are_known),
        SL_TEST(wider_formulas_need_a_shorter_description),
        SL_TEST(too_many_constants_stay_as_they_are),
        SL_TEST(degenerate_tables_are_answered),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("fit.refine", tests, SL_LEN(tests));
}
