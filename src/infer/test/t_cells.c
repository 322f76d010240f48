/* What the model reads: columns, numbers as in training, and what stands in for a missing one. */
#include "small.h"

static void numbers_are_split_as_in_training(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    s.y[0] = -1234;
    s.x1[1] = 0.05;
    s.x2[2] = 0;
    sl_infer__cells c;
    SL_MUST(t, sl_infer__cells_make(&c, &t->arena, s.m, &s.data, 0, 0));
    assert_true(fabsf(c.mantissa[0] + 1.234f) < 1e-6f && c.exponent[0] == 0.3f); // y is column 0
    assert_true(fabsf(c.mantissa[POINTS + 1] - 5) < 1e-6f && c.exponent[POINTS + 1] == -0.2f);
    assert_true(c.mantissa[2 * POINTS + 2] == 0 && c.exponent[2 * POINTS + 2] == 0);
    for (int k = 0; k < 3; k++) assert_int_equal(c.present[k], 1);
    assert_true(c.batch.present == c.present && c.batch.points == POINTS && c.batch.pairs == 1);
    small_end(&s);
}

/* Of mean 0 and variance 1, another one for another problem; or nothing, where the model knows
 * that. */
static void a_missing_column_is_filled(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    s.data.inputs = 1;
    sl_infer__cells a, b;
    SL_MUST(t, sl_infer__cells_make(&a, &t->arena, s.m, &s.data, 1, 2));
    SL_MUST(t, sl_infer__cells_make(&b, &t->arena, s.m, &s.data, 1, 3));
    double sum = 0, squares = 0, apart = 0;
    for (int i = 2 * POINTS; i < 3 * POINTS; i++) {
        const double v = (double)a.mantissa[i] * pow(10, 10 * (double)a.exponent[i]);
        sum += v;
        squares += v * v;
        apart += fabs((double)(a.mantissa[i] - b.mantissa[i]));
    }
    assert_true(fabs(sum) < 1e-5 && fabs(squares / POINTS - 1) < 1e-5 && apart > 0.1);
    assert_int_equal(a.present[2], 1);
    s.m->info.drop_column = 0.1;
    SL_MUST(t, sl_infer__cells_make(&a, &t->arena, s.m, &s.data, 1, 2));
    assert_int_equal(a.present[2], 0);
    for (int i = 2 * POINTS; i < 3 * POINTS; i++) assert_true(a.mantissa[i] == 0);
    small_end(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(numbers_are_split_as_in_training),
        SL_TEST(a_missing_column_is_filled),
    };
    return sl_test_main("infer.cells", tests, SL_LEN(tests));
}
