#include "golden.h"
#include "tight.h"

enum { M_MAX = 40, N_MAX = 7 };

typedef struct problem {
    double a[N_MAX][M_MAX], y[M_MAX], w[M_MAX];
    const double *col[N_MAX];
    int m, n;
} problem;

/* Columns have a positive mean, so that unconstrained coefficients have both signs. */
static void random_problem(problem *p, sl_rng *rng) {
    p->n = 1 + (int)sl_rng_below(rng, 5);
    p->m = p->n + (int)sl_rng_below(rng, 20);
    for (int i = 0; i < p->m; i++) {
        p->y[i] = sl_rng_normal(rng) + sl_rng_range(rng, -1, 1);
        p->w[i] = sl_rng_range(rng, 0.1, 3);
        for (int j = 0; j < p->n; j++) p->a[j][i] = sl_rng_normal(rng) + (j % 2 ? 0.5 : 0);
    }
    for (int j = 0; j < p->n; j++) p->col[j] = p->a[j];
}

static double sse_of(const problem *p, const double *coef, const double *w) {
    double sum = 0;
    for (int i = 0; i < p->m; i++) {
        double r = p->y[i];
        for (int j = 0; j < p->n; j++) r -= coef[j] * p->a[j][i];
        sum += (w ? w[i] : 1) * r * r;
    }
    return sum;
}

static void nnls_agrees_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "nnls")) {
        const double *size = golden_get(&g, "size", NULL), *a = golden_get(&g, "a", NULL);
        const double *want = golden_get(&g, "coef", NULL);
        const int m = (int)size[0], n = (int)size[1];
        const double *col[N_MAX];
        double coef[N_MAX], sse;
        for (int j = 0; j < n; j++) col[j] = a + j * m;
        SL_MUST(t,
                sl_num_nnls_fit(&sse, coef, &t->arena, col, golden_get(&g, "y", NULL), NULL, m, n));
        SL_CHECK(t, near(sse, golden_one(&g, "sse"), 1e-11), "case %d: sse %.17g", g.cases, sse);
        for (int j = 0; j < n; j++)
            SL_CHECK(t, near(coef[j], want[j], 1e-10), "case %d, coefficient %d: %.17g, not %.17g",
                     g.cases, j, coef[j], want[j]);
    }
    golden_close(&g);
}

/* Naive version: plain least squares on every subset of the columns, the best feasible one. */
static void no_subset_of_columns_does_better(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 150); k++) {
        problem p;
        random_problem(&p, &t->rng);
        const double *w = k % 2 ? p.w : NULL;
        double coef[N_MAX], sse, best = sse_of(&p, (double[N_MAX]){ 0 }, w);
        SL_MUST(t, sl_num_nnls_fit(&sse, coef, &t->arena, p.col, p.y, w, p.m, p.n));
        for (int set = 1; set < 1 << p.n; set++) {
            const double *col[N_MAX];
            double part[N_MAX], whole[N_MAX] = { 0 };
            int n = 0;
            bool feasible = true;
            sl_lsq fit;
            for (int j = 0; j < p.n; j++)
                if (set >> j & 1) col[n++] = p.col[j];
            SL_MUST(t, sl_num_lsq_fit(&fit, part, NULL, &t->arena, col, p.y, w, p.m, n));
            n = 0;
            for (int j = 0; j < p.n; j++) {
                if (!(set >> j & 1)) continue;
                feasible &= part[n] >= 0;
                whole[j] = part[n++];
            }
            if (feasible) best = fmin(best, sse_of(&p, whole, w));
        }
        for (int j = 0; j < p.n; j++) SL_CHECK(t, coef[j] >= 0, "coefficient %d is %g", j, coef[j]);
        SL_CHECK(t, near(sse, sse_of(&p, coef, w), 1e-10), "says %.17g, is %.17g", sse,
                 sse_of(&p, coef, w));
        SL_CHECK(t, sse <= best * (1 + 1e-10) + 1e-12, "%d x %d: %.17g, but %.17g is possible", p.m,
                 p.n, sse, best);
    }
}

/* A column in another unit has its coefficient in the other unit, and nothing else changes. */
static void units_do_not_matter(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 100); k++) {
        problem p;
        double c1[N_MAX], c2[N_MAX], s1, s2;
        const double unit = k % 2 ? 0x1p200 : 0x1p-200;
        random_problem(&p, &t->rng);
        SL_MUST(t, sl_num_nnls_fit(&s1, c1, &t->arena, p.col, p.y, NULL, p.m, p.n));
        for (int i = 0; i < p.m; i++) p.a[0][i] *= unit;
        SL_MUST(t, sl_num_nnls_fit(&s2, c2, &t->arena, p.col, p.y, NULL, p.m, p.n));
        SL_CHECK(t, near(s1, s2, 1e-11) && near(c1[0], c2[0] * unit, 1e-9), "%.17g %.17g", c1[0],
                 c2[0]);
    }
}

static void values_that_are_not_finite_give_nan(void **state) {
    sl_fixture *t = *state;
    const double good[3] = { 1, 2, 4 }, bad[3] = { 1, NAN, 2 }, minus[3] = { 1, -1, 1 };
    const double *col[1] = { good }, *hole[1] = { bad };
    double coef[1], sse;
    SL_MUST(t, sl_num_nnls_fit(&sse, coef, &t->arena, col, bad, NULL, 3, 1));
    SL_CHECK(t, isnan(sse) && isnan(coef[0]), "y: %g", coef[0]);
    SL_MUST(t, sl_num_nnls_fit(&sse, coef, &t->arena, hole, good, NULL, 3, 1));
    SL_CHECK(t, isnan(sse) && isnan(coef[0]), "column: %g", coef[0]);
    SL_MUST(t, sl_num_nnls_fit(&sse, coef, &t->arena, col, good, minus, 3, 1));
    SL_CHECK(t, isnan(sse) && isnan(coef[0]), "weight: %g", coef[0]);
    SL_MUST(t, sl_num_nnls_fit(&sse, coef, &t->arena, NULL, good, NULL, 3, 0));
    SL_CHECK(t, sse == 21, "no columns: %g", sse);
}

static sl_status fit_once(sl_fixture *t) {
    static const double a[3] = { 1, 2, 4 }, b[3] = { 1, 0, 1 };
    const double *col[2] = { a, b };
    double coef[2], sse;
    return sl_num_nnls_fit(&sse, coef, &t->arena, col, b, NULL, 3, 2);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    EACH_LIMIT(t, fit_once(t));
    SL_EACH_ALLOCATION(t, fit_once(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(nnls_agrees_with_scipy),     SL_TEST(no_subset_of_columns_does_better),
        SL_TEST(units_do_not_matter),        SL_TEST(values_that_are_not_finite_give_nan),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("num.nnls", tests, SL_LEN(tests));
}
