/* Rounded formulas: few digits, and real and as good in every row where the exact ones are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "discover/discover.h"
#include "fixture/fixture.h"
#include "num/num.h"

enum { ROWS = 2000 };

/* One input, and a discovery of one candidate made by hand. */
typedef struct made {
    sl_fixture *t;
    double x[ROWS], y[ROWS];
    bool fitted[ROWS];
    const double *columns[1];
    sl_dataset p;
    double value[3], error[3];
    sl_candidate c;
    sl_discovery d;
} made;

static void make(made *m, sl_fixture *t, int64_t rows, const char *text, const double *value,
                 const double *error) {
    *m = (made){ .t = t };
    m->columns[0] = m->x;
    m->p = sl_data_view(m->columns, 1, m->y, rows);
    m->d = (sl_discovery){ .candidate = &m->c, .count = 1, .ranked = 1, .rows_fit = rows };
    sl_text_error wrong;
    SL_MUST(
        t, sl_expr_parse(&m->c.expr, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, &wrong));
    m->c.params = sl_expr_max_par(m->c.expr);
    for (int i = 0; i < m->c.params; i++) {
        m->value[i] = value[i];
        m->error[i] = error ? error[i] : NAN;
    }
    m->c.value = m->value;
    m->c.error = error ? m->error : NULL;
}

/* y := the exact formula and noise. */
static void add_y(made *m, double noise) {
    SL_MUST(m->t, sl_discover_candidate_eval(m->y, &m->t->arena, &m->c, &m->p));
    for (int64_t i = 0; i < m->p.rows; i++) {
        if (isnan(m->y[i])) m->y[i] = 0;
        m->y[i] += noise * sl_rng_normal(&m->t->rng);
    }
}

static sl_candidate rounded(made *m) {
    sl_rounding r;
    sl_candidate out;
    SL_MUST(m->t, sl_discover_rounding_make(&r, &m->t->arena, &m->p, &m->d));
    SL_MUST(m->t, sl_discover_candidate_round(&out, &m->t->arena, &m->c, &r));
    assert_true(out.expr == m->c.expr && out.params == m->c.params);
    return out;
}

/* R2 in the rows where both are real; rows where only the exact one is real are counted. */
static double r2_of(made *m, const sl_candidate *c, int *lost) {
    static double y[ROWS], exact[ROWS], truth[ROWS];
    int64_t n = 0;
    SL_MUST(m->t, sl_discover_candidate_eval(y, &m->t->arena, c, &m->p));
    SL_MUST(m->t, sl_discover_candidate_eval(exact, &m->t->arena, &m->c, &m->p));
    *lost = 0;
    for (int64_t i = 0; i < m->p.rows; i++) {
        if (!isfinite(exact[i])) continue;
        *lost += !isfinite(y[i]);
        y[n] = y[i];
        truth[n++] = m->y[i];
    }
    return sl_num_r2(y, truth, n);
}

static void must_hold(made *m, const sl_candidate *c) {
    int lost;
    const double exact = r2_of(m, &m->c, &lost), shown = r2_of(m, c, &lost);
    SL_CHECK(m->t, lost == 0, "%d rows have no value with %.17g for %.17g", lost, c->value[0],
             m->value[0]);
    SL_CHECK(m->t, isnan(exact) || 1 - shown <= 1.05 * (1 - exact) + 1e-8, "R2 %.17g, shown %.17g",
             exact, shown);
}

/* ---------------------------------------------------------------- digits -------------------- */

static void errors_determine_the_digits(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double value, error;
        int digits;
    } cases[] = {
        { 1.0453, 0.3, 3 },      { 1.0453, 0.03, 4 }, { -1.0453, 0.03, 4 }, { 123.4, 0.03, 6 },
        { 1.0453, 1e-9, 6 },     { 1.0453, 100, 2 },  { 1.0453, NAN, 6 },   { 1.0453, 0, 6 },
        { 1.0453, INFINITY, 6 }, { 0, 0.1, 6 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_candidate c = { .params = 1, .value = &cases[i].value, .error = &cases[i].error };
        const int digits = sl_discover_candidate_digits(&c, 0, 6);
        SL_CHECK(t, digits == cases[i].digits, "%g +- %g: %d digits, not %d", cases[i].value,
                 cases[i].error, digits, cases[i].digits);
    }
    const double value = 2.5;
    assert_int_equal(
        sl_discover_candidate_digits(&(sl_candidate){ .params = 1, .value = &value }, 0, 15), 15);
}

/* Where there is room, what the error leaves is what is shown. */
static void few_digits_are_enough_in_the_open(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 2.03127, 0.71828 }, error[] = { 0.03, 0.02 };
    made m;
    make(&m, t, 300, "c1*x1 + c2", value, error);
    for (int i = 0; i < 300; i++) m.x[i] = sl_rng_range(&t->rng, -1, 1);
    add_y(&m, 0.5);
    const sl_candidate c = rounded(&m);
    assert_true(c.value[0] == 2.031 && c.value[1] == 0.718);
    must_hold(&m, &c);

    make(&m, t, 300, "2*x1 + 1", NULL, NULL); // exact numbers stay
    add_y(&m, 0.5);
    assert_int_equal(rounded(&m).params, 0);
}

/* ---------------------------------------------------------------- the edge of a domain ------ */

/* The smallest x is just inside, in any place of the table, however long that is. */
static void every_row_keeps_its_value(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "(x1 - c1)^(3/2)", "sqrt(x1 - c1)", "c2/sqrt(x1 - c1)" };
    static const int64_t sizes[] = { 5, 40, 300, ROWS };
    const double value[] = { 1.04533, 2.5 }, error[] = { 0.3, 0.3 };
    for (int k = 0; k < SL_LEN(texts); k++)
        for (int s = 0; s < SL_LEN(sizes); s++)
            for (int place = 0; place < 5; place++) {
                made m;
                const int64_t rows = sizes[s];
                make(&m, t, rows, texts[k], value, error);
                for (int64_t i = 0; i < rows; i++) m.x[i] = sl_rng_range(&t->rng, 2, 9);
                m.x[sl_rng_below(&t->rng, (uint32_t)rows)] = 1.0454;
                add_y(&m, 0.5);
                const sl_candidate c = rounded(&m);
                must_hold(&m, &c);
                // and no more digits than that takes; next to a pole each of them counts
                SL_CHECK(t, k == 2 || c.value[0] == 1.045, "%s: %.17g", texts[k], c.value[0]);
            }
}

/* Rows without a value of the exact formula ask for nothing. */
static void rows_without_a_value_are_left_alone(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 1.04533, 2.5 }, error[] = { 0.3, 0.3 };
    made m;
    make(&m, t, 600, "c2*sqrt(x1 - c1)", value, error);
    for (int i = 0; i < 600; i++) m.x[i] = sl_rng_range(&t->rng, 1.2, 9);
    for (int i = 0; i < 600; i += 7) m.x[i] = sl_rng_range(&t->rng, -3, 1.04);
    add_y(&m, 0.5);
    sl_candidate c = rounded(&m);
    must_hold(&m, &c);
    assert_true(c.value[0] == 1.05);
    for (int i = 0; i < 600; i++) m.x[i] = -1; // nowhere
    c = rounded(&m);
    assert_true(c.value[0] == 1.05);
    m.p.rows = 1;
    assert_true(rounded(&m).value[0] == 1.05);
}

/* The row at the edge is a held-out one, or held-out rows are so badly explained that no rounding
 * shows beside them. */
static void held_out_rows_count_by_themselves(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 1.04533, 2.512345 }, error[] = { 0.3, 0.3 };
    made m;
    make(&m, t, 900, "c2*(x1 - c1)^(3/2)", value, error);
    m.d.fitted = m.fitted;
    for (int i = 0; i < 900; i++) {
        m.x[i] = sl_rng_range(&t->rng, 2, 9);
        m.fitted[i] = i % 5 != 0;
    }
    m.x[125] = 1.0454;
    add_y(&m, 0);
    sl_candidate c = rounded(&m);
    must_hold(&m, &c);
    for (int i = 0; i < 900; i += 5) m.y[i] += 1e9;
    c = rounded(&m);
    for (int i = 0; i < 900; i += 5) m.y[i] -= 1e9;
    must_hold(&m, &c);
}

/* ---------------------------------------------------------------- as good ------------------- */

/* Constants that make up for each other, each with an error larger than itself. */
static void r2_is_kept(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 167252.14556, 241153271.5, -2597277050.949 };
    const double error[] = { 9e4, 2e8, 2e9 };
    made m;
    make(&m, t, 500, "c1*sqrt(x1 + c2) + c3", value, error);
    for (int i = 0; i < 500; i++) m.x[i] = sl_rng_range(&t->rng, 50, 6000);
    add_y(&m, 100);
    const sl_candidate c = rounded(&m);
    must_hold(&m, &c);
    assert_true(c.value[2] != value[2] || c.value[0] != value[0]); // and yet rounded
}

/* A pole between two rows must stay between them. */
static void poles_stay_between_rows(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 3.14159265, 1 }, error[] = { 0.2, 0.2 };
    made m;
    make(&m, t, 1000, "c2/(x1 - c1)", value, error);
    for (int i = 0; i < 1000; i++) m.x[i] = sl_rng_range(&t->rng, 4, 9);
    m.x[777] = 3.1415;
    m.x[778] = 3.1417;
    add_y(&m, 0.01);
    const sl_candidate c = rounded(&m);
    must_hold(&m, &c);
    assert_true(c.value[0] > 3.1415 && c.value[0] < 3.1417);
}

static void odd_constants_end(void **state) {
    sl_fixture *t = *state;
    static const double odd[] = { 0, -0.0, 1.7976931348623157e308, 5e-324, 1.0 / 3, -1e22 };
    for (int i = 0; i < SL_LEN(odd); i++) {
        made m;
        make(&m, t, 50, "c1*x1", &odd[i], NULL);
        for (int k = 0; k < 50; k++) m.x[k] = sl_rng_range(&t->rng, -1, 1);
        add_y(&m, 0);
        const sl_candidate c = rounded(&m);
        SL_CHECK(t, isfinite(c.value[0]), "%g becomes %g", odd[i], c.value[0]);
        must_hold(&m, &c);
    }
}

static sl_status round_once(made *m) {
    sl_rounding r;
    sl_candidate out;
    SL_TRY(sl_discover_rounding_make(&r, &m->t->arena, &m->p, &m->d));
    return sl_discover_candidate_round(&out, &m->t->arena, &m->c, &r);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 1.04533, 2.5 }, error[] = { 0.3, 0.3 };
    static made m;
    make(&m, t, ROWS, "c2*sqrt(x1 - c1)", value, error);
    m.d.fitted = m.fitted;
    for (int i = 0; i < ROWS; i++) {
        m.x[i] = sl_rng_range(&t->rng, 1.0454, 9);
        m.fitted[i] = i % 2;
    }
    add_y(&m, 0.1);
    SL_EACH_ALLOCATION(t, round_once(&m));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(errors_determine_the_digits),       SL_TEST(few_digits_are_enough_in_the_open),
        SL_TEST(every_row_keeps_its_value),         SL_TEST(rows_without_a_value_are_left_alone),
        SL_TEST(held_out_rows_count_by_themselves), SL_TEST(r2_is_kept),
        SL_TEST(poles_stay_between_rows),           SL_TEST(odd_constants_end),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("discover.round", tests, SL_LEN(tests));
}
