/* Data sets made of others: views copy nothing, picked and held-out rows are whole, inputs of any
 * size come to mean 0 and variance 1. */
#include "fixture/fixture.h"

#include <float.h>
#include <math.h>

#include "data/data.h"

enum { ROWS = 40 };

static void views_copy_nothing(void **state) {
    (void)state;
    static const double a[] = { 1, 2 }, b[] = { 3, 4 }, c[] = { 5, 6 }, y[] = { 7, 8 };
    const double *const x[] = { a, b, c };
    const char *const names[] = { "a", "b", "c" };
    static const int column[] = { 2, 0 };
    sl_dataset d = sl_data_view(x, 3, y, 2);
    d.names = names;
    d.sigma = b;
    assert_true(d.inputs == 3 && d.rows == 2 && d.x[0] == a && d.x[2] == c && d.y == y);
    const sl_dataset v = sl_data_view_inputs(&d, column, 2);
    assert_true(v.inputs == 2 && v.rows == 2 && v.x[0] == c && v.x[1] == a && v.y == y);
    assert_true(v.sigma == b && !v.names);
}

static void some_rows_keep_their_errors(void **state) {
    sl_fixture *t = *state;
    static const double x[] = { 1, 2, 3, 4 }, y[] = { 5, 6, 7, 8 }, sigma[] = { 9, 10, 11, 12 };
    static const int64_t pick[] = { 3, 1 };
    const double *const column[] = { x };
    sl_dataset d = sl_data_view(column, 1, y, 4), some;
    SL_MUST(t, sl_data_pick_rows(&some, &t->arena, &d, pick, 2));
    assert_true(some.rows == 2 && some.x[0][0] == 4 && some.y[1] == 6 && !some.sigma);
    d.sigma = sigma;
    d.sigma_absolute = true;
    SL_MUST(t, sl_data_pick_rows(&some, &t->arena, &d, pick, 2));
    assert_true(some.sigma[0] == 12 && some.sigma[1] == 10 && some.sigma_absolute);
    SL_MUST(t, sl_data_pick_evenly(&some, &t->arena, &d, 3));
    assert_true(some.rows == 3 && some.y[0] == 5 && some.y[1] == 6 && some.sigma[2] == 11);
    for (size_t limit = 16, ok = 0; !ok; limit += 16) {
        sl_arena a = { .limit = limit };
        const sl_status st = sl_data_pick_rows(&some, &a, &d, pick, 2);
        SL_CHECK(t, st == SL_OK || st == SL_ENOMEM, "%d", (int)st);
        ok = st == SL_OK;
        sl_arena_clear(&a);
    }
}

/* Every row is in one part, in order, with its own numbers; another generator holds out others. */
static void rows_are_fitted_or_held_out(void **state) {
    sl_fixture *t = *state;
    double x[ROWS], y[ROWS];
    const double *const column[] = { x };
    for (int i = 0; i < ROWS; i++) {
        y[i] = i;
        x[i] = -i;
    }
    const sl_dataset d = sl_data_view(column, 1, y, ROWS);
    int64_t differ = 0;
    const bool *first = NULL;
    for (int held = 1; held < ROWS; held += 6) {
        sl_dataset fit, out;
        const bool *fitted;
        SL_MUST(t, sl_data_hold_out(&fit, &out, &fitted, &t->arena, &d, held, &t->rng));
        assert_true(fit.rows == ROWS - held && out.rows == held);
        for (int64_t i = 0, f = 0, h = 0; i < ROWS; i++) {
            const sl_dataset *part = fitted[i] ? &fit : &out;
            const int64_t at = fitted[i] ? f++ : h++;
            SL_CHECK(t, part->y[at] == y[i] && part->x[0][at] == x[i], "row %d", (int)i);
            differ += first && first[i] != fitted[i];
        }
        if (!first) first = fitted;
    }
    assert_true(differ > 0);
}

static void a_shuffle_has_each_row_once(void **state) {
    sl_fixture *t = *state;
    int64_t *order, moved = 0;
    int seen[ROWS] = { 0 };
    SL_MUST(t, sl_data_shuffle(&order, &t->arena, ROWS, &t->rng));
    for (int i = 0; i < ROWS; i++) {
        seen[order[i]]++;
        moved += order[i] != i;
    }
    for (int i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1);
    assert_true(moved > ROWS / 2);
}

/* Of five inputs y depends on two, and on neither alone. */
static void inputs_that_explain_are_chosen(void **state) {
    sl_fixture *t = *state;
    enum { MANY = 600, INPUTS = 5 };
    static double x[INPUTS][MANY], y[MANY];
    const double *column[INPUTS];
    for (int c = 0; c < INPUTS; c++) column[c] = x[c];
    for (int i = 0; i < MANY; i++) {
        for (int c = 0; c < INPUTS; c++) x[c][i] = sl_rng_range(&t->rng, -1, 1);
        y[i] = x[1][i] * x[4][i];
    }
    const sl_dataset d = sl_data_view(column, INPUTS, y, MANY);
    int chosen[2];
    double explained;
    const sl_columns from = { column, INPUTS, y, MANY, 1 };
    SL_MUST(t, sl_data_choose_inputs(chosen, &explained, &from, 2, 1));
    SL_CHECK(t, chosen[0] == 1 && chosen[1] == 4 && explained > 0.5, "%d and %d explain %g",
             chosen[0], chosen[1], explained);
    assert_false(sl_data_constant(&d));
    for (int i = 0; i < MANY; i++) y[i] = 3;
    assert_true(sl_data_constant(&d));
}

/* Down to where numbers have no digits left, and up to the largest double. */
static void inputs_of_any_size_are_standardised(void **state) {
    sl_fixture *t = *state;
    static const double sizes[] = { 5e-324, 1e-320, 1e-308, 1e-300, 1, 1e300, DBL_MAX };
    for (int k = 0; k < SL_LEN(sizes); k++)
        for (int kind = 0; kind < 4; kind++) {
            double x[ROWS], sum = 0, squares = 0;
            const double *const column[] = { x };
            for (int i = 0; i < ROWS; i++) {
                const double u = sl_rng_uniform(&t->rng);
                x[i] = sizes[k] * (kind == 0   ? u
                                   : kind == 1 ? 0.5 + u / 2
                                   : kind == 2 ? (u < 0.2 ? 1 : -1)
                                               : 1);
            }
            const sl_dataset d = sl_data_view(column, 1, x, ROWS);
            const sl_standard s = sl_data_standard(&d);
            SL_CHECK(t, isfinite(s.mean[0]) && isfinite(s.deviation[0]) && isfinite(s.factor[0]),
                     "size %g, kind %d: mean %g, deviation %g", sizes[k], kind, s.mean[0],
                     s.deviation[0]);
            sl_data_standardise(x, ROWS, &s, 0);
            for (int i = 0; i < ROWS; i++) {
                SL_CHECK(t, fabs(x[i]) < 10, "size %g, kind %d becomes %g", sizes[k], kind, x[i]);
                sum += x[i];
                squares += x[i] * x[i];
            }
            if (kind == 3 || sizes[k] < 1e-300) continue; // constant, or digits are lost
            SL_CHECK(t, fabs(sum) < 1e-9 && fabs(squares / ROWS - 1) < 1e-9,
                     "size %g, kind %d: mean %g, variance %g", sizes[k], kind, sum / ROWS,
                     squares / ROWS);
        }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(views_copy_nothing),
        SL_TEST(some_rows_keep_their_errors),
        SL_TEST(rows_are_fitted_or_held_out),
        SL_TEST(a_shuffle_has_each_row_once),
        SL_TEST(inputs_that_explain_are_chosen),
        SL_TEST(inputs_of_any_size_are_standardised),
    };
    return sl_test_main("data.dataset", tests, SL_LEN(tests));
}
