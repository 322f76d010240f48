/* Rows with a sigma: fits, R2 and standard errors are weighted by it. */
#include "fixture/fixture.h"

#include <math.h>
#include <string.h>

#include "fit/fit.h"
#include "num/num.h"

enum { ROWS = 60 };

typedef struct data {
    double x[ROWS], y[ROWS], sigma[ROWS];
    sl_dataset p;
} data;

static const sl_refine_options options = { .evaluations = 200, .restarts = 0, .seed = 5 };

/* y = 3 exp(-x/2) + 1 with errors sigma times those of `noise`. */
static void make(sl_fixture *t, data *d, double noise) {
    for (int i = 0; i < ROWS; i++) {
        d->x[i] = sl_rng_range(&t->rng, 0, 4);
        d->sigma[i] = i % 3 == 0 ? 1 : 0.01;
        d->y[i] = 3 * exp(-d->x[i] / 2) + 1 + noise * d->sigma[i] * sl_rng_normal(&t->rng);
    }
    d->p = (sl_dataset){ .inputs = 1,
                         .rows = ROWS,
                         .x = { d->x },
                         .y = d->y,
                         .sigma = d->sigma,
                         .sigma_absolute = true };
}

static sl_fit fitted(sl_fixture *t, const data *d, const char *text) {
    static const double start[] = { 2, -0.3, 0.5 };
    const sl_node *e;
    sl_fit f;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_MUST(t, sl_fit_refine(&f, &t->arena, e, start, &d->p, &options));
    return f;
}

/* A straight line by the textbook's formulas. */
static void line(const data *d, double *slope, double *at0, double *slope_error, double *left) {
    double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < ROWS; i++) {
        const double w = 1 / (d->sigma[i] * d->sigma[i]);
        s += w, sx += w * d->x[i], sy += w * d->y[i];
        sxx += w * d->x[i] * d->x[i], sxy += w * d->x[i] * d->y[i];
    }
    const double det = s * sxx - sx * sx;
    *slope = (s * sxy - sx * sy) / det;
    *at0 = (sxx * sy - sx * sxy) / det;
    *slope_error = sqrt(s / det);
    *left = 0;
    for (int i = 0; i < ROWS; i++)
        *left += pow((d->y[i] - *slope * d->x[i] - *at0) / d->sigma[i], 2);
}

static void lines_are_the_textbooks(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 20); k++) {
        data d;
        double slope, at0, slope_error, left;
        make(t, &d, 1);
        line(&d, &slope, &at0, &slope_error, &left);
        sl_fit f = fitted(t, &d, "c1*x1 + c2");
        SL_CHECK(t, fabs(f.value[0] - slope) < 1e-9 && fabs(f.value[1] - at0) < 1e-9,
                 "%g %g, not %g %g", f.value[0], f.value[1], slope, at0);
        SL_CHECK(t, fabs(f.error[0] / slope_error - 1) < 1e-6, "error %g, not %g", f.error[0],
                 slope_error);
        // of ratios alone: by the residuals, and whatever the scale
        d.p.sigma_absolute = false;
        for (int i = 0; i < ROWS; i++) d.sigma[i] *= 1e10;
        f = fitted(t, &d, "c1*x1 + c2");
        const double by_residuals = slope_error * sqrt(left / (ROWS - 2));
        SL_CHECK(t, fabs(f.value[0] - slope) < 1e-9, "%g, not %g", f.value[0], slope);
        SL_CHECK(t, fabs(f.error[0] / by_residuals - 1) < 1e-6, "error %g, not %g", f.error[0],
                 by_residuals);
    }
}

/* Every third row has errors of a hundred times those of the others: with weights the constants are
 * as good as the good rows. */
static void bad_rows_do_no_harm(void **state) {
    sl_fixture *t = *state;
    double worst = 0, worst_plain = 0, covered = 0;
    const int draws = sl_test_iters(t, 30);
    for (int k = 0; k < draws; k++) {
        data d;
        make(t, &d, 1);
        const sl_fit f = fitted(t, &d, "c1*exp(c2*x1) + c3");
        d.p.sigma = NULL;
        const sl_fit plain = fitted(t, &d, "c1*exp(c2*x1) + c3");
        worst = fmax(worst, fabs(f.value[1] + 0.5));
        worst_plain = fmax(worst_plain, fabs(plain.value[1] + 0.5));
        covered += fabs(f.value[1] + 0.5) < 2 * f.error[1];
    }
    SL_CHECK(t, worst < 0.06 && worst_plain > 4 * worst, "%g with weights, %g without", worst,
             worst_plain);
    SL_CHECK(t, covered >= 0.8 * draws, "within two errors: %g of %d", covered, draws);
}

static void r2_is_weighted(void **state) {
    sl_fixture *t = *state;
    data d;
    double value[ROWS], weights = 0, mean = 0, sst = 0, sse = 0;
    make(t, &d, 1);
    for (int i = 0; i < ROWS; i++) {
        value[i] = 2 + 0.1 * d.x[i];
        weights += pow(d.sigma[i], -2);
        mean += d.y[i] * pow(d.sigma[i], -2);
    }
    mean /= weights;
    for (int i = 0; i < ROWS; i++) {
        sst += pow((d.y[i] - mean) / d.sigma[i], 2);
        sse += pow((d.y[i] - value[i]) / d.sigma[i], 2);
    }
    SL_CHECK(t, fabs(sl_fit_r2(value, &d.p) - (1 - sse / sst)) < 1e-9, "%g, not %g",
             sl_fit_r2(value, &d.p), 1 - sse / sst);
    assert_true(sl_fit_r2(d.y, &d.p) == 1);
    for (int i = 0; i < ROWS; i++) d.sigma[i] = 7;
    SL_CHECK(t, fabs(sl_fit_r2(value, &d.p) - sl_num_r2(value, d.y, ROWS)) < 1e-12,
             "equal weights");
    d.p.sigma = NULL;
    assert_true(sl_fit_r2(value, &d.p) == sl_num_r2(value, d.y, ROWS));
    value[3] = NAN;
    assert_true(isnan(sl_fit_r2(value, &d.p)));
}

/* Far more rows than are searched: the rest is fitted by its weights too. */
static void many_rows_are_weighted_too(void **state) {
    sl_fixture *t = *state;
    enum { MANY = 140000 }; // more than are ever fitted at once
    double *block = sl_malloc(3 * MANY, sizeof *block), *x = block, *y = x + MANY, *s = y + MANY;
    assert_non_null(block);
    for (int i = 0; i < MANY; i++) {
        x[i] = sl_rng_range(&t->rng, 0, 4);
        s[i] = i % 2 ? 1e-3 : 10;
        y[i] = 2 * x[i] + 1 + s[i] * sl_rng_normal(&t->rng);
    }
    data d = { .p = { .inputs = 1, .rows = MANY, .x = { x }, .y = y, .sigma = s } };
    const sl_fit f = fitted(t, &d, "c1*x1 + c2");
    SL_CHECK(t, fabs(f.value[0] - 2) < 1e-3 && fabs(f.value[1] - 1) < 1e-3, "%g %g", f.value[0],
             f.value[1]);
    sl_free(block);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    static const double start[] = { 2, -0.3, 0.5 };
    data d;
    sl_fit f;
    const sl_node *e;
    make(t, &d, 1);
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, "c1*exp(c2*x1) + c3", 18, NULL, NULL));
    SL_EACH_ALLOCATION(t, sl_fit_refine(&f, &t->arena, e, start, &d.p, &options));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(lines_are_the_textbooks),
        SL_TEST(bad_rows_do_no_harm),
        SL_TEST(r2_is_weighted),
        SL_TEST(many_rows_are_weighted_too),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("fit.weights", tests, SL_LEN(tests));
}
