#include "tables.h"

enum { N_MAX = 40 };

static const double ones[N_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

static void lines_agree_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "line")) {
        int n;
        const double *x = golden_get(&g, "x", &n), *y = golden_get(&g, "y", NULL);
        const double *fit = golden_get(&g, "fit", NULL), *se = golden_get(&g, "se", NULL);
        const double *bend = golden_get(&g, "curvature", NULL);
        double ln_y[N_MAX];
        sl_laws_draw d;
        sl_estimate c;
        for (int i = 0; i < n; i++) ln_y[i] = log(y[i]);
        SL_CHECK(t, sl_laws__line(&d, x, ln_y, ones, n), "case %d has no line", g.cases);
        SL_CHECK(t, near(d.a, fit[0], 1e-11) && near(d.b, fit[1], 1e-11), "case %d: %.17g %.17g",
                 g.cases, d.a, d.b);
        const double r2 = sl_laws__line_r2(&d, x, ln_y, ones, n);
        SL_CHECK(t, near(r2, fit[2], 1e-11), "case %d: R2 %.17g", g.cases, r2);
        const double sb = d.sigma / sqrt(d.spread);
        const double sa = d.sigma * sqrt(1 / d.n + d.mean * d.mean / d.spread);
        SL_CHECK(t, near(sa, se[0], 1e-9) && near(sb, se[1], 1e-9), "case %d: %g %g", g.cases, sa,
                 sb);
        SL_MUST(t, sl_laws__curvature(&c, &t->arena, x, ln_y, n));
        SL_CHECK(t,
                 near(c.value, bend[0], 1e-8) && near(c.low, bend[1], 1e-8) &&
                     near(c.high, bend[2], 1e-8),
                 "case %d bends by %g (%g to %g)", g.cases, c.value, c.low, c.high);
    }
    golden_close(&g);
}

static void floors_agree_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "floor")) {
        int n;
        const double *x = golden_get(&g, "x", &n), *y = golden_get(&g, "y", NULL);
        const double *fit = golden_get(&g, "fit", NULL), *w = golden_get(&g, "w", NULL);
        double ln_y[N_MAX];
        sl_laws_draw d;
        bool known;
        for (int i = 0; i < n; i++) ln_y[i] = log(y[i]);
        SL_MUST(t, sl_laws__floor(&d, &known, &t->arena, x, ln_y, w, n));
        SL_CHECK(t,
                 known && near(d.a, fit[0], 1e-5) && near(d.b, fit[1], 1e-5) &&
                     near(d.floor, fit[2], 1e-5),
                 "case %d: %.9g %.9g %.9g, should be %.9g %.9g %.9g", g.cases, d.a, d.b, d.floor,
                 fit[0], fit[1], fit[2]);
    }
    golden_close(&g);
}

static void binomial_likelihoods_agree_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "binomial")) {
        int n;
        const double *x = golden_get(&g, "x", &n), *share = golden_get(&g, "share", NULL);
        const double *fit = golden_get(&g, "fit", NULL);
        sl_laws_draw d;
        const bool known = sl_laws__binomial(&d, x, share, golden_get(&g, "trials", NULL), ones, n);
        SL_CHECK(t, known && near(d.a, fit[0], 1e-5) && near(d.b, fit[1], 1e-5),
                 "case %d: %.9g %.9g, should be %.9g %.9g", g.cases, d.a, d.b, fit[0], fit[1]);
    }
    golden_close(&g);
}

/* A point that was drawn twice counts as two of it, in every form. */
static void a_weight_is_a_repetition(void **state) {
    sl_fixture *t = *state;
    double x[8], ln_y[8], share[8], trials[8], w[8];
    double x2[16], ln_y2[16], share2[16], trials2[16];
    int m = 0;
    for (int i = 0; i < 8; i++) {
        x[i] = 30 + i;
        share[i] = exp(-0.2 * (i + 1)) * exp(0.1 * sl_rng_normal(&t->rng)) / 1.5 + 0.03;
        ln_y[i] = log(share[i]);
        trials[i] = 100 + 50 * i;
        w[i] = 1 + i % 2;
        for (int k = 0; k < (int)w[i]; k++, m++)
            x2[m] = x[i], ln_y2[m] = ln_y[i], share2[m] = share[i], trials2[m] = trials[i];
    }
    sl_laws_draw a, b;
    bool known;
    SL_CHECK(t, sl_laws__line(&a, x, ln_y, w, 8) && sl_laws__line(&b, x2, ln_y2, ones, m), "line");
    SL_CHECK(t, near(a.b, b.b, 1e-12) && near(a.sigma, b.sigma, 1e-9), "line %g %g", a.b, b.b);
    SL_MUST(t, sl_laws__floor(&a, &known, &t->arena, x, ln_y, w, 8));
    SL_MUST(t, sl_laws__floor(&b, &known, &t->arena, x2, ln_y2, ones, m));
    SL_CHECK(t, near(a.b, b.b, 1e-5) && near(a.floor, b.floor, 1e-5), "floor %g %g", a.b, b.b);
    SL_CHECK(t,
             sl_laws__binomial(&a, x, share, trials, w, 8) &&
                 sl_laws__binomial(&b, x2, share2, trials2, ones, m),
             "binomial");
    SL_CHECK(t, near(a.b, b.b, 1e-9), "binomial %g %g", a.b, b.b);
}

/* Data on a power law have no floor: the form equals the line. */
static void floor_of_power_law_data_is_zero(void **state) {
    sl_fixture *t = *state;
    double x[10], ln_y[10];
    sl_laws_draw line, f;
    bool known;
    for (int i = 0; i < 10; i++) x[i] = 30 + i, ln_y[i] = 2 - 0.2 * x[i] - 0.002 * x[i] * x[i];
    SL_CHECK(t, sl_laws__line(&line, x, ln_y, ones, 10), "no line");
    SL_MUST(t, sl_laws__floor(&f, &known, &t->arena, x, ln_y, ones, 10));
    SL_CHECK(t, known && f.floor == 0 && f.a == line.a && f.b == line.b, "floor %g, %g %g", f.floor,
             f.b, line.b);
    for (int i = 0; i < 10; i++) ln_y[i] = 0.1 * x[i];
    SL_MUST(t, sl_laws__floor(&f, &known, &t->arena, x, ln_y, ones, 10));
    SL_CHECK(t, !known, "y rises");
}

static void too_few_points_are_no_law(void **state) {
    sl_fixture *t = *state;
    const double x[4] = { 30, 30, 30, 30 }, y[4] = { -1, -2, -1, -3 },
                 share[4] = { 0.5, 0.4, 0.5, 0.2 };
    const double trials[4] = { 9, 9, 9, 9 }, up[4] = { 30, 31, 32, 33 }, none[4] = { 0 };
    sl_laws_draw d;
    bool known;
    SL_CHECK(t, !sl_laws__line(&d, x, y, ones, 4), "one x");
    SL_CHECK(t, !sl_laws__binomial(&d, x, share, trials, ones, 4), "one x");
    SL_CHECK(t, !sl_laws__binomial(&d, up, none, trials, ones, 4), "no failure at all");
    SL_MUST(t, sl_laws__floor(&d, &known, &t->arena, up, y, ones, 3));
    SL_CHECK(t, !known, "three points for three constants");
}

static sl_status floor_once(sl_fixture *t) {
    static const double x[5] = { 30, 31, 32, 33, 34 }, y[5] = { 0, -0.5, -0.8, -1, -1.1 };
    sl_laws_draw d;
    sl_estimate c;
    bool known;
    SL_TRY(sl_laws__floor(&d, &known, &t->arena, x, y, ones, 5));
    return sl_laws__curvature(&c, &t->arena, x, y, 5);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, floor_once(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(lines_agree_with_scipy),
        SL_TEST(floors_agree_with_scipy),
        SL_TEST(binomial_likelihoods_agree_with_scipy),
        SL_TEST(a_weight_is_a_repetition),
        SL_TEST(floor_of_power_law_data_is_zero),
        SL_TEST(too_few_points_are_no_law),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("laws.forms", tests, SL_LEN(tests));
}
