/* A formula of the user's own: values, standard errors and correlations against lines by the
 * textbook, bounds, constants that are not determined. The answers of SciPy are in
 * tests/cli/test_fit.py. */
#include "fixture/fixture.h"

#include <math.h>
#include <string.h>

#include "fit/fit.h"

enum { ROWS = 50 };

typedef struct data {
    double x[ROWS], y[ROWS], sigma[ROWS];
    sl_dataset p;
} data;

/* y = f(x) with normal errors. */
static void make(sl_fixture *t, data *d, double (*f)(double x), double lo, double hi,
                 double noise) {
    for (int i = 0; i < ROWS; i++) {
        d->x[i] = lo + (hi - lo) * i / (ROWS - 1);
        d->sigma[i] = 0.1 + 0.01 * i;
        d->y[i] = f(d->x[i]) + noise * sl_rng_normal(&t->rng);
    }
    d->p = (sl_dataset){ .inputs = 1, .rows = ROWS, .x = { d->x }, .y = d->y };
}

static sl_curve fitted(sl_fixture *t, const data *d, const char *text, const sl_curve_options *o) {
    const sl_node *e;
    sl_curve c;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_MUST(t, sl_fit_curve(&c, &t->arena, e, sl_expr_max_par(e), &d->p, o));
    return c;
}

static bool near(double a, double b, double part) { return fabs(a - b) <= part * fabs(b); }

static double line(double x) { return 3 - 2 * x; }
static double decay(double x) { return 4 * exp(-0.7 * x) + 0.5; }

/* Intercept, slope, their errors and their correlation, all in closed form. */
static void lines_are_the_textbooks(void **state) {
    sl_fixture *t = *state;
    data d;
    for (int way = 0; way < 4; way++) { // no sigma, one sigma, absolute by row, relative by row
        make(t, &d, line, -1, 4, 0.3);
        const bool by_row = way >= 2;
        if (by_row) d.p.sigma = d.sigma;
        d.p.sigma_absolute = way == 2;
        const sl_curve_options o = { .sigma = way == 1 ? 0.3 : 0 };
        const sl_curve c = fitted(t, &d, "c1 + c2*x1", &o);
        double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, sse = 0;
        for (int i = 0; i < ROWS; i++) {
            const double w = by_row ? 1 / (d.sigma[i] * d.sigma[i]) : 1;
            s += w, sx += w * d.x[i], sy += w * d.y[i];
            sxx += w * d.x[i] * d.x[i], sxy += w * d.x[i] * d.y[i];
        }
        const double det = s * sxx - sx * sx, slope = (s * sxy - sx * sy) / det,
                     at0 = (sxx * sy - sx * sxy) / det;
        for (int i = 0; i < ROWS; i++) {
            const double r = d.y[i] - at0 - slope * d.x[i];
            sse += by_row ? r * r / (d.sigma[i] * d.sigma[i]) : r * r;
        }
        const double variance = way == 1 ? 0.09 : way == 2 ? 1 : sse / (ROWS - 2);
        SL_CHECK(
            t, c.converged && near(c.fit.value[0], at0, 1e-9) && near(c.fit.value[1], slope, 1e-9),
            "way %d: %.15g, %.15g", way, c.fit.value[0], c.fit.value[1]);
        SL_CHECK(t,
                 near(c.fit.error[0], sqrt(variance * sxx / det), 1e-9) &&
                     near(c.fit.error[1], sqrt(variance * s / det), 1e-9),
                 "way %d: errors %g, %g", way, c.fit.error[0], c.fit.error[1]);
        SL_CHECK(t, near(c.correlation[1], -sx / sqrt(s * sxx), 1e-9), "way %d: %g", way,
                 c.correlation[1]);
        SL_CHECK(t, near(c.sse, sse, 1e-9) && isnan(c.chi2) == (way == 0 || way == 3),
                 "way %d: sum of squares %g, chi-square %g", way, c.sse, c.chi2);
    }
}

/* The result does not depend on the unit of y, up to squares that leave the doubles. */
static void units_of_y_do_not_matter(void **state) {
    sl_fixture *t = *state;
    static const double units[] = { 1, 0x1p500, 0x1p-500 };
    double first = 0;
    for (int k = 0; k < SL_LEN(units); k++) {
        data d;
        sl_rng_init(&t->rng, 11, 0, 0);
        make(t, &d, decay, 0, 5, 0.02);
        for (int i = 0; i < ROWS; i++) d.y[i] *= units[k];
        const sl_curve c = fitted(t, &d, "c1*exp(-c2*x1) + c3", &(sl_curve_options){ .seed = 1 });
        if (k == 0) first = c.fit.value[1];
        SL_CHECK(t, near(c.fit.value[1], first, 1e-7), "unit %g: %.15g, not %.15g", units[k],
                 c.fit.value[1], first);
        SL_CHECK(t, near(c.fit.value[1], 0.7, 0.1) && c.fit.error[1] > 0 && c.fit.error[1] < 0.1,
                 "unit %g: %g +- %g", units[k], c.fit.value[1], c.fit.error[1]);
    }
}

/* At a bound nothing is left to gain inside: the others are at the minimum with it held. */
static void bounds_hold(void **state) {
    sl_fixture *t = *state;
    data d, held;
    make(t, &d, decay, 0, 5, 0.02);
    const double lo[] = { -INFINITY, -INFINITY, 0.8 }, hi[] = { INFINITY, 10, 2 };
    const sl_curve c =
        fitted(t, &d, "c1*exp(-c2*x1) + c3", &(sl_curve_options){ .lo = lo, .hi = hi });
    SL_CHECK(t, c.fit.value[2] == 0.8 && c.bound[2] == -1 && c.bound[0] == 0 && c.bound[1] == 0,
             "%g, bound %d", c.fit.value[2], c.bound[2]);
    held = d;
    held.p.x[0] = held.x;
    held.p.y = held.y;
    for (int i = 0; i < ROWS; i++) held.y[i] -= 0.8;
    const sl_curve two = fitted(t, &held, "c1*exp(-c2*x1)", &(sl_curve_options){ .seed = 0 });
    for (int k = 0; k < 2; k++)
        SL_CHECK(t, near(c.fit.value[k], two.fit.value[k], 1e-6), "constant %d: %.12g and %.12g",
                 k + 1, c.fit.value[k], two.fit.value[k]);
}

static void what_is_not_determined_has_no_error(void **state) {
    sl_fixture *t = *state;
    data d;
    make(t, &d, decay, 0, 5, 0.02);
    const sl_curve c = fitted(t, &d, "c1*c2*exp(-c3*x1) + c4", &(sl_curve_options){ .seed = 0 });
    SL_CHECK(t, c.tied[0] && c.tied[1] && !c.tied[2] && !c.tied[3] && c.rank == 3,
             "tied %d %d %d %d, rank %d", c.tied[0], c.tied[1], c.tied[2], c.tied[3], c.rank);
    SL_CHECK(t, isinf(c.fit.error[0]) && c.fit.error[2] > 0 && isfinite(c.fit.error[2]),
             "errors %g, %g", c.fit.error[0], c.fit.error[2]);
    const sl_node *e = sl_expr_var(&t->arena, 1);
    sl_curve idle;
    SL_MUST(t, sl_fit_curve(&idle, &t->arena, e, 1, &d.p, &(sl_curve_options){ .seed = 0 }));
    SL_CHECK(t, idle.idle[0] && isinf(idle.fit.error[0]) && !isnan(idle.fit.r2), "not idle");
}

static void outside_the_domain_there_is_no_fit(void **state) {
    sl_fixture *t = *state;
    data d;
    make(t, &d, decay, -3, 5, 0);
    const sl_curve c = fitted(t, &d, "c1*log(x1)", &(sl_curve_options){ .seed = 0 });
    SL_CHECK(t, isnan(c.fit.r2) && !c.converged, "R2 %g", c.fit.r2);
    // a start outside is left for one inside
    const sl_curve in = fitted(t, &d, "c1*log(x1 + c2)", &(sl_curve_options){ .seed = 0 });
    SL_CHECK(t, !isnan(in.fit.r2) && in.fit.value[1] > 3, "R2 %g", in.fit.r2);
}

static bool at_once(void *payload) {
    (void)payload;
    return true;
}

static void a_stopped_fit_has_its_start(void **state) {
    sl_fixture *t = *state;
    data d;
    make(t, &d, decay, 0, 5, 0.02);
    const double start[] = { 2, 1, 0 };
    const bool given[] = { true, true, true };
    const sl_curve c =
        fitted(t, &d, "c1*exp(-c2*x1) + c3",
               &(sl_curve_options){ .start = start, .given = given, .stop = at_once });
    SL_CHECK(t, c.fit.stopped && !c.converged && !isnan(c.fit.r2), "R2 %g", c.fit.r2);
}

static sl_status once(sl_fixture *t, const data *d, const sl_node *e) {
    sl_curve c;
    return sl_fit_curve(&c, &t->arena, e, 3, &d->p, &(sl_curve_options){ .seed = 0 });
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    data d;
    const sl_node *e;
    const char *text = "c1*exp(-c2*x1) + c3";
    make(t, &d, decay, 0, 5, 0.02);
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_EACH_ALLOCATION(t, once(t, &d, e));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(lines_are_the_textbooks),
        SL_TEST(units_of_y_do_not_matter),
        SL_TEST(bounds_hold),
        SL_TEST(what_is_not_determined_has_no_error),
        SL_TEST(outside_the_domain_there_is_no_fit),
        SL_TEST(a_stopped_fit_has_its_start),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("fit.curve", tests, SL_LEN(tests));
}
