/* Formulas of a made-up search: the form they are shown in, and their twins with simple exponents.
 */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"
#include "fixture/fixture.h"

enum { ROWS = 20 };

typedef struct bench {
    double x[3][ROWS], y[ROWS];
    const double *columns[3];
    sl_dataset p;
    sl_discovery d;
    sl_discover_options o;
    sl_discover__pool pool;
    sl_arena scratch;
} bench;

static void set_up(sl_fixture *t, bench *b) {
    *b = (bench){ .o = sl_discover_defaults() };
    for (int c = 0; c < 3; c++) {
        b->columns[c] = b->x[c];
        for (int i = 0; i < ROWS; i++) b->x[c][i] = sl_rng_range(&t->rng, 1, 5);
    }
    for (int i = 0; i < ROWS; i++) b->y[i] = 2.5 * b->x[0][i] * sqrt(b->x[0][i]);
    b->p = sl_data_view(b->columns, 3, b->y, ROWS);
    b->pool =
        (sl_discover__pool){ .arena = &b->d.arena, .o = &b->o, .cost = &b->d.cost, .workers = 1 };
    b->pool.scratch = &b->scratch;
    b->pool.rows.fit = b->p;
}

static void tear_down(bench *b) {
    sl_arena_clear(&b->scratch);
    sl_arena_clear(&b->d.arena);
}

/* A formula as a search hands it over. */
static sl_search_formula found(sl_fixture *t, const char *text, double *value, double *error,
                               int n) {
    sl_search_formula f = { .fit = { .params = n, .value = value, .error = error, .r2 = 0.5 },
                            .method = "products",
                            .level = 3 };
    const sl_node *raw;
    SL_MUST(t, sl_expr_parse(&raw, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_MUST(t, sl_expr_tidy(&f.fit.expr, &t->arena, raw));
    return f;
}

static void must_print(sl_fixture *t, const sl_candidate *c, const char *want) {
    sl_str s = { 0 };
    SL_MUST(t, sl_discover_candidate_print(&s, c, SL_FORMAT_INFIX, NULL));
    SL_CHECK(t, strcmp(sl_str_text(&s), want) == 0, "%s, not %s", sl_str_text(&s), want);
    sl_str_clear(&s);
}

/* The shortest form of a sum of products, whatever the search has combined. */
static void forms_are_those_that_people_write(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "(x1*x2 - x1*x3)*(x1^3)^(-1)", "(x2 - x3)/x1^2" },
        { "x1*x2/(x1 + x2)", "x1*x2/(x1 + x2)" },
        { "x1^2*x2 + x1*x3", "x1*(x1*x2 + x3)" },
        { "x1/x2^2 - 1/x2^3", "x1/x2^2 - 1/x2^3" }, // the other one has as many nodes
        { "x1 + x2", "x1 + x2" },
        { "sin(x1)*x2 + sin(x1)*x3", "sin(x1)*(x2 + x3)" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        bench b;
        set_up(t, &b);
        const sl_search_formula f = found(t, cases[i][0], NULL, NULL, 0);
        SL_MUST(t, sl_discover__take_formulas(&b.pool, &f, 1));
        assert_int_equal(b.pool.count, 1);
        const sl_candidate *c = &b.pool.work[0].c;
        double want[ROWS], got[ROWS];
        SL_MUST(t, sl_expr_eval(want, &t->arena, f.fit.expr, b.columns, ROWS, NULL));
        SL_MUST(t, sl_discover_candidate_eval(got, &t->arena, c, &b.p));
        for (int k = 0; k < ROWS; k++)
            SL_CHECK(t, fabs(got[k] - want[k]) <= 1e-12 * (1 + fabs(want[k])), "%s", cases[i][0]);
        assert_true(c->size <= sl_expr_nodes(f.fit.expr));
        assert_int_equal(c->size, sl_expr_nodes(c->expr));
        must_print(t, c, cases[i][1]);
        assert_string_equal(c->method, "products");
        assert_int_equal(c->level, 3);
        tear_down(&b);
    }
}

static void constants_stand_in_front_of_powers(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    double value = 4, error = 0.2;
    const sl_search_formula f = found(t, "sqrt(c1*x1)", &value, &error, 1);
    SL_MUST(t, sl_discover__take_formulas(&b.pool, &f, 1));
    const sl_candidate *c = &b.pool.work[0].c;
    must_print(t, c, "2*sqrt(x1)");
    assert_true(fabs(c->error[0] - 0.05) < 1e-15); // half of it over the root
    assert_true(value == 4 && error == 0.2);       // the search's own
    tear_down(&b);
}

/* The places that are left when n formulas are merged, the law being number 0. */
static int64_t merged(sl_fixture *t, bench *b, sl_search_formula *f, int n) {
    int64_t place[4] = { 0, 1, 2, 3 }, kept = n;
    for (int k = 0; k < n; k++) f[k].fit.r2 = 1;
    SL_MUST(t, sl_discover__take_formulas(&b->pool, f, n));
    SL_MUST(t, sl_discover__merge(&b->pool, place, &kept));
    return kept;
}

/* Rows of y = exp(30 x1) differ by 50 decades: the last terms of the law cannot be seen in the
 * largest of them, and a fit without these terms is another formula. */
static void largest_rows_do_not_decide_what_is_the_same(void **state) {
    sl_fixture *t = *state;
    bench b;
    double value = 30, error = 1e-13, first = 2.5, second = 2.5 * (1 + 1e-13);
    set_up(t, &b);
    for (int i = 0; i < ROWS; i++) {
        b.x[0][i] = i < ROWS / 4 ? 4 + 0.05 * i : -b.x[0][i];
        b.y[i] = exp(30 * b.x[0][i]) + 7 * b.x[1][i];
    }
    sl_search_formula f[] = { found(t, "exp(30*x1) + 7*x2", NULL, NULL, 0),
                              found(t, "exp(c1*x1)", &value, &error, 1) };
    assert_int_equal(merged(t, &b, f, 2), 2);
    tear_down(&b);
    set_up(t, &b);
    f[0] = found(t, "c1*x1^(3/2)", &first, &error, 1); // two fits of one formula
    f[1] = found(t, "c1*x1*sqrt(x1)", &second, &error, 1);
    assert_int_equal(merged(t, &b, f, 2), 1);
    tear_down(&b);
}

/* 2.4*x1^1.497 has a twin of 3/2 with its factor fitted; x1^1.2 has none. */
static void exponents_have_simple_twins(void **state) {
    sl_fixture *t = *state;
    bench b;
    set_up(t, &b);
    double value[2] = { 2.4, 1.497 }, error[2] = { 0.1, 0.1 };
    sl_search_formula f = found(t, "c1*x1^c2", value, error, 2);
    SL_MUST(t, sl_discover__take_formulas(&b.pool, &f, 1));
    assert_int_equal(b.pool.count, 2);
    const sl_candidate *twin = &b.pool.work[1].c;
    assert_int_equal(twin->params, 1);
    assert_int_equal(twin->state, SL_CANDIDATE_SNAPPED);
    SL_CHECK(t, fabs(twin->value[0] - 2.5) < 1e-9 && twin->r2 > 1 - 1e-12, "%g, %g", twin->value[0],
             twin->r2);
    value[1] = 1.2;
    SL_MUST(t, sl_discover__take_formulas(&b.pool, &f, 1));
    assert_int_equal(b.pool.count, 3);
    tear_down(&b);
}

static sl_status take_once(sl_fixture *t, const sl_search_formula *f, int n) {
    bench b;
    set_up(t, &b);
    sl_status st = sl_discover__take_formulas(&b.pool, f, n);
    tear_down(&b);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    double value[2] = { 2.4, 1.497 }, error[2] = { 0.1, 0.1 }, under = 4, near = 1;
    const sl_search_formula f[] = { found(t, "c1*x1^c2", value, error, 2),
                                    found(t, "sqrt(c1*x1*x2)", &under, &near, 1),
                                    found(t, "x1^2*x2 + x1*x3", NULL, NULL, 0) };
    SL_EACH_ALLOCATION(t, take_once(t, f, SL_LEN(f)));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(forms_are_those_that_people_write),
        SL_TEST(constants_stand_in_front_of_powers),
        SL_TEST(largest_rows_do_not_decide_what_is_the_same),
        SL_TEST(exponents_have_simple_twins),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("discover.formulas", tests, SL_LEN(tests));
}
