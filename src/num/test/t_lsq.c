#include "golden.h"
#include "tight.h"

enum { M_MAX = 40, N_MAX = 8 };

/* A random problem: n columns of m normal values, optionally weights. */
typedef struct problem {
    double a[N_MAX][M_MAX], y[M_MAX], w[M_MAX];
    const double *col[N_MAX];
    int m, n;
} problem;

static void random_problem(problem *p, sl_rng *rng, int m, int n) {
    p->m = m, p->n = n;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) p->a[j][i] = sl_rng_normal(rng);
        p->col[j] = p->a[j];
    }
    for (int i = 0; i < m; i++) {
        p->y[i] = sl_rng_normal(rng);
        p->w[i] = sl_rng_range(rng, 0.1, 3);
    }
}

/* Weighted residual r_i = w_i (y_i - sum_j c_j a_ji). */
static void residual(double *r, const problem *p, const double *coef, bool weighted) {
    for (int i = 0; i < p->m; i++) {
        r[i] = p->y[i];
        for (int j = 0; j < p->n; j++) r[i] -= coef[j] * p->a[j][i];
        if (weighted) r[i] *= p->w[i];
    }
}

static void lsq_agrees_with_exact_answers(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "lsq")) {
        const double *size = golden_get(&g, "size", NULL), *a = golden_get(&g, "a", NULL);
        int m = (int)size[0], n = (int)size[1];
        const double *coef = golden_get(&g, "coef", NULL), *se = golden_get(&g, "se", NULL);
        double tol = pow(10, -golden_one(&g, "digits")), got[N_MAX], got_se[N_MAX];
        const double *col[N_MAX];
        for (int j = 0; j < n; j++) col[j] = a + j * m;
        sl_lsq fit;
        SL_MUST(t, sl_num_lsq_fit(&fit, got, got_se, &t->arena, col, golden_get(&g, "y", NULL),
                                  golden_get(&g, "w", NULL), m, n));
        SL_CHECK(t, fit.rank == n, "case %d: rank %d of %d", g.cases, fit.rank, n);
        SL_CHECK(t, near(fit.sse, golden_one(&g, "sse"), tol), "case %d: sse %.17g", g.cases,
                 fit.sse);
        for (int j = 0; j < n; j++) {
            SL_CHECK(t, near(got[j], coef[j], tol) && near(got_se[j], se[j], tol),
                     "case %d, coefficient %d: %.17g +- %.17g, should be %.17g +- %.17g", g.cases,
                     j, got[j], got_se[j], coef[j], se[j]);
        }
    }
    golden_close(&g);
}

/* What defines the minimum, whatever the method: the weighted residual is orthogonal to all
 * columns. */
static void residual_is_orthogonal_to_the_columns(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        problem p;
        int n = 1 + (int)sl_rng_below(&t->rng, N_MAX), m = (int)sl_rng_below(&t->rng, M_MAX + 1);
        random_problem(&p, &t->rng, m, n);
        bool weighted = k % 2;
        sl_lsq fit;
        double coef[N_MAX], r[M_MAX], sse = 0;
        SL_MUST(t, sl_num_lsq_fit(&fit, coef, NULL, &t->arena, p.col, p.y, weighted ? p.w : NULL, m,
                                  n));
        SL_CHECK(t, fit.rank == SL_MIN(m, n), "%d x %d has rank %d", m, n, fit.rank);
        residual(r, &p, coef, weighted);
        double size = 0;
        for (int j = 0; j < n; j++) size += fabs(coef[j]);
        for (int j = 0; j < n; j++) {
            double dot = 0;
            for (int i = 0; i < m; i++) dot += r[i] * p.a[j][i];
            SL_CHECK(t, fabs(dot) <= 1e-12 * m * (1 + size), "%d x %d: %g", m, n, dot);
        }
        for (int i = 0; i < m; i++) sse += r[i] * r[i] / (weighted ? p.w[i] : 1);
        SL_CHECK(t, fabs(fit.sse - sse) <= 1e-12 * sse + 1e-25 * (1 + size * size), "%g %g",
                 fit.sse, sse);
    }
}

/* A row of weight 0 is as good as absent, also for the standard errors; weights have no unit. */
static void zero_weights_drop_rows_and_weights_have_no_unit(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 100); k++) {
        problem p;
        random_problem(&p, &t->rng, 20, 3);
        sl_lsq whole, part;
        double c1[3], c2[3], s1[3], s2[3], w2[M_MAX];
        for (int i = 0; i < 20; i++) p.w[i] = i < 12 ? p.w[i] : 0;
        for (int i = 0; i < 20; i++) w2[i] = 1024 * p.w[i];
        SL_MUST(t, sl_num_lsq_fit(&whole, c1, s1, &t->arena, p.col, p.y, p.w, 20, 3));
        SL_MUST(t, sl_num_lsq_fit(&part, c2, s2, &t->arena, p.col, p.y, w2, 12, 3));
        for (int j = 0; j < 3; j++) {
            SL_CHECK(t, near(c1[j], c2[j], 1e-10), "%.17g %.17g", c1[j], c2[j]);
            SL_CHECK(t, near(s1[j], s2[j], 1e-10), "%.17g %.17g", s1[j], s2[j]);
        }
    }
}

/* Columns that are combinations of others are found, in any unit, and get nothing. The others still
 * reach the same minimum. */
static void dependent_columns_are_left_out(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        problem p;
        int rank = 1 + (int)sl_rng_below(&t->rng, 4), n = rank + 1 + (int)sl_rng_below(&t->rng, 3);
        random_problem(&p, &t->rng, M_MAX, n);
        for (int j = n - 1; j > 0; j--) { // the independent ones anywhere
            int l = (int)sl_rng_below(&t->rng, (uint32_t)j + 1);
            const double *c = p.col[j];
            p.col[j] = p.col[l], p.col[l] = c;
        }
        for (int j = rank; j < n; j++) {
            double unit = ldexp(1, (int)sl_rng_below(&t->rng, 900) - 450);
            for (int i = 0; i < M_MAX; i++) p.a[j][i] = 0;
            for (int l = 0; l < rank; l++) {
                double f = sl_rng_normal(&t->rng) * unit;
                for (int i = 0; i < M_MAX; i++) p.a[j][i] += f * p.a[l][i];
            }
        }
        sl_lsq all, few;
        double coef[N_MAX], se[N_MAX], base[N_MAX];
        SL_MUST(t, sl_num_lsq_fit(&all, coef, se, &t->arena, p.col, p.y, NULL, M_MAX, n));
        const double *const kept[4] = { p.a[0], p.a[1], p.a[2], p.a[3] };
        SL_MUST(t, sl_num_lsq_fit(&few, base, NULL, &t->arena, kept, p.y, NULL, M_MAX, rank));
        SL_CHECK(t, all.rank == rank, "%d columns of rank %d have rank %d", n, rank, all.rank);
        SL_CHECK(t, near(all.sse, few.sse, 1e-10), "sse %.17g, should be %.17g", all.sse, few.sse);
        int out = 0;
        for (int j = 0; j < n; j++) {
            SL_CHECK(t, isinf(se[j]) == (coef[j] == 0), "%g +- %g", coef[j], se[j]);
            out += isinf(se[j]);
        }
        SL_CHECK(t, out == n - rank, "%d of %d left out", out, n - rank);
    }
}

/* Columns that differ in their tenth or twelfth digit are still two columns. */
static void nearly_dependent_columns_are_kept(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 100); k++) {
        problem p;
        random_problem(&p, &t->rng, M_MAX, 2);
        double gap = k % 2 ? 1e-10 : 1e-12;
        for (int i = 0; i < M_MAX; i++) {
            p.a[1][i] = p.a[0][i] + gap * p.a[1][i];
            p.y[i] = p.a[0][i] - 3 * (p.a[1][i] - p.a[0][i]) / gap; // huge coefficients of both
        }
        sl_lsq fit;
        double coef[2];
        SL_MUST(t, sl_num_lsq_fit(&fit, coef, NULL, &t->arena, p.col, p.y, NULL, M_MAX, 2));
        SL_CHECK(t, fit.rank == 2 && near(coef[1], -3 / gap, 1e-2), "rank %d, %g", fit.rank,
                 coef[1]);
    }
}

static void degenerate_problems_are_solved(void **state) {
    sl_fixture *t = *state;
    problem p;
    sl_lsq fit;
    double coef[N_MAX], se[N_MAX];

    // as many rows as columns: exact, and no way to know the noise
    random_problem(&p, &t->rng, 3, 3);
    SL_MUST(t, sl_num_lsq_fit(&fit, coef, se, &t->arena, p.col, p.y, NULL, 3, 3));
    SL_CHECK(t, fit.rank == 3 && fit.sse < 1e-20 && isnan(se[0]), "%d %g %g", fit.rank, fit.sse,
             se[0]);

    // no column at all, no row at all, a column of zeros
    SL_MUST(t, sl_num_lsq_fit(&fit, coef, se, &t->arena, p.col, p.y, NULL, 3, 0));
    double yy = p.y[0] * p.y[0] + p.y[1] * p.y[1] + p.y[2] * p.y[2];
    SL_CHECK(t, fit.rank == 0 && near(fit.sse, yy, 1e-14), "%d %g", fit.rank, fit.sse);
    SL_MUST(t, sl_num_lsq_fit(&fit, coef, se, &t->arena, p.col, p.y, NULL, 0, 2));
    SL_CHECK(t, fit.rank == 0 && fit.sse == 0 && coef[0] == 0 && isinf(se[1]), "%d", fit.rank);
    memset(p.a[1], 0, sizeof p.a[1]);
    SL_MUST(t, sl_num_lsq_fit(&fit, coef, se, &t->arena, p.col, p.y, NULL, 3, 2));
    SL_CHECK(t, fit.rank == 1 && coef[1] == 0 && isinf(se[1]), "%d", fit.rank);
}

static void values_that_are_not_finite_give_nan(void **state) {
    sl_fixture *t = *state;
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int k = 0; k < 10; k++) {
        problem p;
        random_problem(&p, &t->rng, 10, 3);
        if (k < 3)
            p.a[1][4] = bad[k];
        else if (k < 6)
            p.y[9] = bad[k - 3];
        else if (k < 9)
            p.w[0] = bad[k - 6];
        else
            p.w[0] = -1;
        sl_lsq fit;
        double coef[3], se[3];
        SL_MUST(t, sl_num_lsq_fit(&fit, coef, se, &t->arena, p.col, p.y, p.w, 10, 3));
        SL_CHECK(
            t, fit.rank == 0 && isnan(fit.sse) && isnan(coef[0]) && isnan(coef[2]) && isnan(se[2]),
            "kind %d: rank %d, %g", k, fit.rank, coef[0]);
    }
}

static void power_law_agrees_with_exact_answers(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "power")) {
        int n;
        const double *x = golden_get(&g, "x", &n), *fit = golden_get(&g, "fit", NULL);
        const double *y = golden_get(&g, "y", NULL);
        double one[M_MAX], lx[M_MAX], ly[M_MAX], line[M_MAX], five[5];
        assert_true(n <= M_MAX);
        for (int i = 0; i < n; i++) one[i] = 1;
        sl_log_array(lx, x, n);
        sl_log_array(ly, y, n);
        const double *const col[2] = { one, lx };
        sl_lsq got;
        SL_MUST(t, sl_num_lsq_fit(&got, five, five + 2, &t->arena, col, ly,
                                  golden_get(&g, "w", NULL), n, 2));
        for (int i = 0; i < n; i++) line[i] = five[0] + five[1] * lx[i];
        five[4] = sl_num_r2(line, ly, n);
        for (int k = 0; k < 5; k++) {
            SL_CHECK(t, near(five[k], fit[k], 1e-12), "case %d, number %d: %.17g, should be %.17g",
                     g.cases, k, five[k], fit[k]);
        }
    }
    golden_close(&g);
}

static sl_status fit_all(sl_fixture *t, const problem *p) {
    sl_lsq fit;
    double coef[N_MAX], se[N_MAX];
    SL_TRY(sl_num_lsq_fit(&fit, coef, se, &t->arena, p->col, p->y, p->w, p->m, p->n));
    SL_CHECK(t, sl_arena_mark(&t->arena) == 0, "scratch is not rewound");
    return SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    static problem p;
    random_problem(&p, &t->rng, M_MAX, N_MAX);
    EACH_LIMIT(t, fit_all(t, &p));
    SL_EACH_ALLOCATION(t, fit_all(t, &p));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(lsq_agrees_with_exact_answers),
        SL_TEST(residual_is_orthogonal_to_the_columns),
        SL_TEST(zero_weights_drop_rows_and_weights_have_no_unit),
        SL_TEST(dependent_columns_are_left_out),
        SL_TEST(nearly_dependent_columns_are_kept),
        SL_TEST(degenerate_problems_are_solved),
        SL_TEST(values_that_are_not_finite_give_nan),
        SL_TEST(power_law_agrees_with_exact_answers),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("num.lsq", tests, SL_LEN(tests));
}
