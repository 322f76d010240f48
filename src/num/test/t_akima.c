#include "golden.h"
#include "tight.h"

enum { N_MAX = 30 };

/* n increasing places and n values. */
static void random_points(double *x, double *y, sl_rng *rng, int n) {
    x[0] = sl_rng_normal(rng);
    for (int i = 0; i < n; i++) {
        if (i > 0) x[i] = x[i - 1] + sl_rng_range(rng, 0.05, 2);
        y[i] = sl_rng_normal(rng);
    }
}

static void akima_agrees_with_scipy(void **state) {
    sl_fixture *t = *state;
    golden g = open_answers(t);
    while (golden_case(&g, "akima")) {
        int n, n_at;
        const double *x = golden_get(&g, "x", &n), *y = golden_get(&g, "y", NULL);
        const double *at = golden_get(&g, "at", &n_at), *value = golden_get(&g, "value", NULL);
        double size = 0;
        for (int i = 0; i < n; i++) size = fmax(size, fabs(y[i]));
        sl_akima s;
        SL_MUST(t, sl_num_akima_init(&s, &t->arena, x, y, n));
        for (int i = 0; i < n_at; i++) {
            double got = sl_num_akima_at(&s, at[i]);
            SL_CHECK(t, fabs(got - value[i]) <= 1e-13 * size,
                     "case %d at %g: %.17g, should be %.17g", g.cases, at[i], got, value[i]);
        }
    }
    golden_close(&g);
}

static void akima_passes_through_its_points(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        double x[N_MAX], y[N_MAX];
        int n = 2 + (int)sl_rng_below(&t->rng, N_MAX - 1);
        random_points(x, y, &t->rng, n);
        sl_akima s;
        SL_MUST(t, sl_num_akima_init(&s, &t->arena, x, y, n));
        for (int i = 0; i < n; i++) {
            SL_CHECK(t, sl_num_akima_at(&s, x[i]) == y[i], "point %d of %d: %.17g, not %.17g", i, n,
                     sl_num_akima_at(&s, x[i]), y[i]);
        }
        // continuous, with a continuous slope: two sides of an inner point agree
        for (int i = 1; i + 1 < n; i++) {
            double h = 1e-5, left = sl_num_akima_at(&s, x[i] - h),
                   right = sl_num_akima_at(&s, x[i] + h);
            double bend = (right - 2 * y[i] + left) / h;
            SL_CHECK(t, fabs(bend) < 0.1 && fabs(right - left) < 0.01, "kink %g at point %d", bend,
                     i);
        }
    }
}

/* A line is reproduced for every number of points. Adding a line to the data adds it to the curve
 * (weights depend on differences of slopes only). */
static void lines_stay_lines(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        double x[N_MAX], y[N_MAX], line[N_MAX], both[N_MAX];
        int n = 2 + k % (N_MAX - 1);
        double a = sl_rng_normal(&t->rng), b = 3 * sl_rng_normal(&t->rng);
        random_points(x, y, &t->rng, n);
        for (int i = 0; i < n; i++) line[i] = a + b * x[i], both[i] = line[i] + y[i];
        sl_akima s, sl, sb;
        SL_MUST(t, sl_num_akima_init(&s, &t->arena, x, y, n));
        SL_MUST(t, sl_num_akima_init(&sl, &t->arena, x, line, n));
        SL_MUST(t, sl_num_akima_init(&sb, &t->arena, x, both, n));
        for (int i = 0; i < 20; i++) {
            double at = sl_rng_range(&t->rng, x[0], x[n - 1]), want = a + b * at;
            SL_CHECK(t,
                     fabs(sl_num_akima_at(&sl, at) - want) < 1e-12 * (1 + fabs(a) + fabs(b * at)),
                     "%d points of a line: %.17g, not %.17g", n, sl_num_akima_at(&sl, at), want);
            SL_CHECK(t, fabs(sl_num_akima_at(&sb, at) - want - sl_num_akima_at(&s, at)) < 1e-9,
                     "%d points plus a line: %.17g", n, sl_num_akima_at(&sb, at));
        }
        if (n == 2) {
            double mid = sl_num_akima_at(&s, (x[0] + x[1]) / 2);
            SL_CHECK(t, fabs(mid - (y[0] + y[1]) / 2) < 1e-14, "two points bend: %.17g", mid);
        }
        sl_arena_rewind(&t->arena, 0);
    }
}

static void values_outside_the_points_are_nan(void **state) {
    sl_fixture *t = *state;
    const double x[3] = { 1, 2, 4 }, y[3] = { 1, 0, 3 };
    sl_akima s;
    SL_MUST(t, sl_num_akima_init(&s, &t->arena, x, y, 3));
    SL_CHECK(t, isnan(sl_num_akima_at(&s, nextafter(1, 0))), "left of all");
    SL_CHECK(t, isnan(sl_num_akima_at(&s, nextafter(4, 5))), "right of all");
    SL_CHECK(t, isnan(sl_num_akima_at(&s, NAN)) && isnan(sl_num_akima_at(&s, INFINITY)),
             "no place at all");

    const double hole[6] = { 1, 2, NAN, 1, 2, 1 }, x6[6] = { 0, 1, 2, 3, 4, 5 };
    SL_MUST(t, sl_num_akima_init(&s, &t->arena, x6, hole, 6));
    SL_CHECK(t, isnan(sl_num_akima_at(&s, 1.5)) && isnan(sl_num_akima_at(&s, 2.5)),
             "a NaN was bridged");
}

static void bad_points_are_refused(void **state) {
    sl_fixture *t = *state;
    const double y[4] = { 1, 2, 3, 4 };
    static const double bad[][4] = {
        { 1, 2, 2, 3 }, { 1, 3, 2, 4 }, { 1, NAN, 2, 3 }, { 1, 2, 3, NAN }
    };
    sl_akima s;
    for (int k = 0; k < SL_LEN(bad); k++) {
        SL_CHECK(t, sl_num_akima_init(&s, &t->arena, bad[k], y, 4) == SL_EINVAL, "list %d", k);
    }
    SL_CHECK(t, sl_num_akima_init(&s, &t->arena, y, y, 1) == SL_EINVAL, "one point");
    SL_CHECK(t, sl_num_akima_init(&s, &t->arena, y, y, 0) == SL_EINVAL, "no point");
    SL_CHECK(t, sl_arena_mark(&t->arena) == 0, "memory was taken");
}

static sl_status init_once(sl_fixture *t) {
    static const double x[3] = { 1, 2, 4 };
    sl_akima s;
    return sl_num_akima_init(&s, &t->arena, x, x, 3);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    EACH_LIMIT(t, init_once(t));
    SL_EACH_ALLOCATION(t, init_once(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(akima_agrees_with_scipy), SL_TEST(akima_passes_through_its_points),
        SL_TEST(lines_stay_lines),        SL_TEST(values_outside_the_points_are_nan),
        SL_TEST(bad_points_are_refused),  SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("num.akima", tests, SL_LEN(tests));
}
