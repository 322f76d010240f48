/* What a model is shown: rows of any size of numbers become numbers of about 1. */
#include "fixture/fixture.h"

#include <float.h>
#include <math.h>

#include "discover/discover_impl.h"

enum { ROWS = 40, POINTS = 16 };

static void show(sl_fixture *t, sl_discover__rows *rows, sl_discover__bag **bags, int *n,
                 const double *x, int scale) {
    double y[ROWS];
    const sl_dataset p = sl_data_view(&x, 1, y, ROWS);
    sl_discover_options o = sl_discover_defaults();
    o.scale = scale;
    for (int i = 0; i < ROWS; i++) y[i] = i;
    SL_MUST(t, sl_discover__rows_make(rows, &t->arena, &p, &o));
    SL_MUST(t, sl_discover__bags_make(bags, n, &t->arena, rows, POINTS, &o, 100));
}

/* Down to where numbers have no digits left, and up to the largest double: mean and deviation are
 * numbers, and so is all that the model reads. */
static void inputs_of_any_size_become_unit(void **state) {
    sl_fixture *t = *state;
    static const double sizes[] = { 5e-324, 1e-320, 1e-308, 1e-300, 1, 1e300, DBL_MAX };
    for (int k = 0; k < SL_LEN(sizes); k++)
        for (int kind = 0; kind < 3; kind++) {
            double x[ROWS];
            sl_discover__rows rows;
            sl_discover__bag *bags;
            int n;
            sl_arena_rewind(&t->arena, 0);
            for (int i = 0; i < ROWS; i++) {
                const double u = sl_rng_uniform(&t->rng);
                x[i] = sizes[k] * (kind == 0 ? u : kind == 1 ? 0.5 + u / 2 : u < 0.2 ? 1 : -1);
            }
            show(t, &rows, &bags, &n, x, SL_SCALE_UNIT);
            SL_CHECK(t, isfinite(rows.standard.mean[0]) && isfinite(rows.standard.deviation[0]),
                     "size %g, kind %d: mean %g, deviation %g", sizes[k], kind,
                     rows.standard.mean[0], rows.standard.deviation[0]);
            for (int b = 0; b < n; b++)
                for (int i = 0; i < bags[b].data.rows; i++)
                    SL_CHECK(t, fabs(bags[b].data.x[0][i]) < 10, "size %g, kind %d shows %g",
                             sizes[k], kind, bags[b].data.x[0][i]);
        }
}

/* What is shown is (x - mean) / deviation, of rows of the table; their samples add up. */
static void bags_share_rows_and_samples(void **state) {
    sl_fixture *t = *state;
    double x[ROWS];
    sl_discover__rows rows;
    sl_discover__bag *bags;
    int n;
    for (int i = 0; i < ROWS; i++) x[i] = 100 + sl_rng_normal(&t->rng);
    show(t, &rows, &bags, &n, x, SL_SCALE_BOTH);
    int64_t samples = 0;
    int units = 0;
    for (int b = 0; b < n; b++) {
        assert_int_equal(bags[b].first, samples);
        samples += bags[b].count;
        units += bags[b].unit;
        for (int i = 0; i < bags[b].data.rows; i++) {
            const double is = x[(int)bags[b].data.y[i]]; // y is the row's number
            const double want =
                bags[b].unit ? (is - rows.standard.mean[0]) / rows.standard.deviation[0] : is;
            assert_true(fabs(bags[b].data.x[0][i] - want) <= 1e-12 * fabs(want));
        }
    }
    assert_int_equal(samples, 100);
    assert_true(n >= 2 && 2 * units == n);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(inputs_of_any_size_become_unit),
        SL_TEST(bags_share_rows_and_samples),
    };
    return sl_test_main("discover.bags", tests, SL_LEN(tests));
}
