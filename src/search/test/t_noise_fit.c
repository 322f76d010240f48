#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "search/noise_impl.h"

enum { ROWS = 60, COLUMNS = 4 };

/* y = scale m(eta) with eta in 1 .. 3 or so, and errors. */
typedef struct example {
    sl_search__noise_model m;
    double column[COLUMNS][ROWS], y[ROWS], scale[ROWS], weight[ROWS];
    double truth[COLUMNS];
    double scratch[SL_NOISE__SCRATCH * ROWS];
} example;

static double respond(sl_search__noise_link link, double eta) {
    switch (link) {
    case SL_NOISE__LOG: return exp(eta);
    case SL_NOISE__INVERSE: return 1 / eta;
    case SL_NOISE__SQUARE: return sqrt(eta);
    case SL_NOISE__INVERSE_SQUARE: return 1 / sqrt(eta);
    default: return eta;
    }
}

static void make(example *e, sl_rng *rng, sl_search__noise_link link, const double *truth,
                 double noise) {
    e->m = (sl_search__noise_model){ .link = link,
                                     .rows = ROWS,
                                     .columns = COLUMNS,
                                     .y = e->y,
                                     .scale = e->scale,
                                     .weight = e->weight };
    for (int j = 0; j < COLUMNS; j++) {
        e->m.column[j] = e->column[j];
        e->m.kind[j] = j ? SL_NOISE__EXPONENT : SL_NOISE__FACTOR;
        e->m.price[j] = 1;
        e->truth[j] = truth[j];
    }
    for (int i = 0; i < ROWS; i++) {
        double eta = 0;
        e->scale[i] = sl_rng_range(rng, 0.5, 2) * (i % 3 ? 1 : -1);
        e->weight[i] = sl_rng_range(rng, 0.5, 2);
        for (int j = 0; j < COLUMNS; j++) {
            e->column[j][i] = j ? sl_rng_range(rng, 0.2, 1.2) : 1;
            eta += truth[j] * e->column[j][i];
        }
        double mu = e->scale[i] * respond(link, eta);
        e->y[i] = mu + noise * sl_rng_normal(rng) / e->weight[i];
    }
}

/* The sum of squares from the definition. */
static double squares_of(const example *e, const double *coefficient) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        double eta = 0;
        for (int j = 0; j < COLUMNS; j++) eta += coefficient[j] * e->column[j][i];
        double r = e->weight[i] * (e->y[i] - e->scale[i] * respond(e->m.link, eta));
        sum += r * r;
    }
    return sum;
}

static const double truth[COLUMNS] = { 0.7, 0.5, 2, -0.35 };

static void fits_are_at_the_least_squares(void **state) {
    sl_fixture *t = *state;
    static example e;
    for (int k = 0; k < sl_test_iters(t, 50); k++) {
        sl_search__noise_link link = (sl_search__noise_link)(k % SL_NOISE__LINK_COUNT);
        sl_search__noise_fit f = { 0 };
        make(&e, &t->rng, link, truth, 0.05);
        sl_search__noise_fit_run(&f, &e.m, true, 12, e.scratch);
        double least = squares_of(&e, f.coefficient), mu[ROWS];
        SL_CHECK(t, fabs(f.rss - least) <= 1e-9 * least, "link %d: %g is not %g", link, f.rss,
                 least);
        for (int j = 0; j < COLUMNS; j++) {
            for (int side = -1; side <= 1; side += 2) {
                double moved[COLUMNS];
                memcpy(moved, f.coefficient, sizeof moved);
                moved[j] += side * 1e-3;
                SL_CHECK(t, squares_of(&e, moved) > least * (1 - 1e-6),
                         "link %d: coefficient %d is not"
                         " at the minimum",
                         link, j);
            }
        }
        sl_search__noise_predict(mu, &e.m, &f);
        double again = 0;
        for (int i = 0; i < ROWS; i++) again += pow(e.weight[i] * (e.y[i] - mu[i]), 2);
        SL_CHECK(t, fabs(again - least) <= 1e-9 * least, "link %d: predictions leave %g", link,
                 again);
    }
}

static void fixed_coefficients_stay(void **state) {
    sl_fixture *t = *state;
    static example e;
    for (int k = 0; k < SL_NOISE__LINK_COUNT; k++) {
        sl_search__noise_fit f = { .coefficient = { 0, 0.5 }, .fixed = { false, true } };
        make(&e, &t->rng, (sl_search__noise_link)k, truth, 0);
        sl_search__noise_fit_run(&f, &e.m, true, 20, e.scratch);
        SL_CHECK(t, f.coefficient[1] == 0.5, "link %d: moved to %g", k, f.coefficient[1]);
        for (int j = 0; j < COLUMNS; j++)
            SL_CHECK(t, fabs(f.coefficient[j] - truth[j]) < 1e-6, "link %d: coefficient %d is %g",
                     k, j, f.coefficient[j]);
    }
}

/* Half the second derivative of the sum of squares by coefficients a and b. */
static double curvature(const example *e, const double *at, int a, int b) {
    const double h = 1e-3;
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        double moved[COLUMNS];
        memcpy(moved, at, sizeof moved);
        moved[a] += corner & 1 ? h : -h;
        moved[b] += corner & 2 ? h : -h;
        sum += (corner == 0 || corner == 3 ? 1 : -1) * squares_of(e, moved);
    }
    return sum / (8 * h * h);
}

/* Standard errors of coefficients 0 and 3, the others being exact. */
static void two_errors(double error[COLUMNS], const example *e, const double *at) {
    double p = curvature(e, at, 0, 0), q = curvature(e, at, 3, 3), r = curvature(e, at, 0, 3);
    double variance = squares_of(e, at) / (ROWS - 2) / (p * q - r * r);
    error[0] = sqrt(variance * q), error[3] = sqrt(variance * p);
}

/* Exponents of all simple kinds become exact, columns without effect are dropped, and other
 * coefficients stay free. */
static void coefficients_become_simple(void **state) {
    sl_fixture *t = *state;
    static example e;
    static const double exact[] = { 0.5, 1, 2, -1, -0.5, 1.5, 1 / 3., -2 / 3., 3 };
    for (int k = 0; k < SL_LEN(exact); k++) {
        const double values[COLUMNS] = { 0.7, exact[k], 0, 0.8472 };
        sl_search__noise_fit f = { 0 };
        make(&e, &t->rng, SL_NOISE__LOG, values, 1e-3);
        sl_search__noise_fit_run(&f, &e.m, true, 8, e.scratch);
        sl_search__noise_simplify(&f, &e.m, 8, e.scratch);
        SL_CHECK(t, f.fixed[1] && f.coefficient[1] == exact[k], "%g became %g", exact[k],
                 f.coefficient[1]);
        SL_CHECK(t, f.fixed[2] && f.coefficient[2] == 0, "0 became %g", f.coefficient[2]);
        SL_CHECK(t, !f.fixed[3] && fabs(f.coefficient[3] - 0.8472) < 0.01, "0.8472 became %g",
                 f.coefficient[3]);
        double bits = sl_search__noise_residual_bits(&e.m, squares_of(&e, f.coefficient));
        double error[COLUMNS] = { 0 };
        two_errors(error, &e, f.coefficient);
        for (int j = 0; j < COLUMNS; j++) {
            bits += sl_search__noise_price(e.m.kind[j], f.coefficient[j], error[j], ROWS);
            bits += f.coefficient[j] != 0 ? e.m.price[j] : 0;
        }
        SL_CHECK(t, fabs(bits - f.bits) < 0.1, "%g bits instead of %g", f.bits, bits);
        SL_CHECK(t,
                 error[3] > 0 &&
                     fabs(sl_search__noise_price(SL_NOISE__RATE, 1024, 1, ROWS) -
                          sl_search__noise_price(SL_NOISE__RATE, 512, 1, ROWS) - 1) < 1e-9,
                 "a digit costs no bit");
    }
}

static void equal_columns_do_no_harm(void **state) {
    sl_fixture *t = *state;
    static example e;
    const double values[COLUMNS] = { 0.7, 1, 0, 2 };
    sl_search__noise_fit f = { 0 };
    make(&e, &t->rng, SL_NOISE__LOG, values, 1e-3);
    memcpy(e.column[2], e.column[1], sizeof e.column[1]);
    sl_search__noise_fit_run(&f, &e.m, true, 8, e.scratch);
    sl_search__noise_simplify(&f, &e.m, 8, e.scratch);
    SL_CHECK(t, f.coefficient[1] + f.coefficient[2] == 1 && f.coefficient[3] == 2, "%g, %g, %g",
             f.coefficient[1], f.coefficient[2], f.coefficient[3]);
}

/* A list does not depend on the order of insertion. */
static void lists_keep_the_best(void **state) {
    sl_fixture *t = *state;
    enum { ALL = 300, ROOM = 20 };
    for (int k = 0; k < sl_test_iters(t, 40); k++) {
        sl_search__noise_candidate all[ALL], list[ROOM];
        sl_search__noise_top top = { .room = ROOM, .worst = INFINITY, .list = list };
        for (int i = 0; i < ALL; i++) { // many equal scores
            all[i] = (sl_search__noise_candidate){ .score = sl_rng_below(&t->rng, 40),
                                                   .n = 1,
                                                   .at = { i } };
        }
        for (int i = ALL - 1; i > 0; i--) {
            int other = (int)sl_rng_below(&t->rng, (uint32_t)i + 1);
            sl_search__noise_candidate swap = all[i];
            all[i] = all[other], all[other] = swap;
        }
        for (int i = 0; i < ALL; i++) sl_search__noise_top_add(&top, &all[i]);
        sl_search__noise_top_finish(&top);
        for (int i = 0; i < ROOM; i++) { // place i has i candidates before it
            int before = 0;
            for (int q = 0; q < ALL; q++) {
                before += all[q].score < list[i].score ||
                          (all[q].score == list[i].score && all[q].at[0] < list[i].at[0]);
            }
            SL_CHECK(t, top.n == ROOM && before == i, "place %d has %d before it", i, before);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(fits_are_at_the_least_squares), SL_TEST(fixed_coefficients_stay),
        SL_TEST(coefficients_become_simple),    SL_TEST(equal_columns_do_no_harm),
        SL_TEST(lists_keep_the_best),
    };
    return sl_test_main("search.noise_fit", tests, SL_LEN(tests));
}
