/* The front that is reported while the work goes on. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"
#include "fixture/fixture.h"

enum { ROWS = 40, REPORTS_MAX = 1000 };

typedef struct reports {
    sl_fixture *t;
    int n;
    double best[REPORTS_MAX]; // R2 of the last of each front
    int size;                 // nodes of the last front's last
} reports;

static void on_front(const sl_candidate *front, int n, void *payload) {
    reports *r = payload;
    assert_true(n > 0 && r->n < REPORTS_MAX);
    for (int i = 1; i < n; i++)
        SL_CHECK(r->t, front[i].size > front[i - 1].size && front[i].r2 > front[i - 1].r2,
                 "entry %d of a front is no improvement", i);
    for (int i = 0; i < n; i++) assert_true(front[i].rms >= 0 && front[i].expr);
    r->best[r->n++] = front[n - 1].r2;
    r->size = front[n - 1].size;
}

/* y = 0.7 x1 sqrt(x2) + 2 with noise in the fourth digit. */
static sl_dataset make_rows(sl_fixture *t, double *x1, double *x2, double *y, const double **x) {
    for (int i = 0; i < ROWS; i++) {
        x1[i] = sl_rng_range(&t->rng, 1, 5);
        x2[i] = sl_rng_range(&t->rng, 1, 9);
        y[i] = 0.7 * x1[i] * sqrt(x2[i]) + 2 + 1e-3 * sl_rng_range(&t->rng, -1, 1);
    }
    x[0] = x1, x[1] = x2;
    return sl_data_view(x, 2, y, ROWS);
}

/* Fronts rise, differ from one another, and end at the best R2 of the list. */
static void fronts_grow_to_the_final_one(void **state) {
    sl_fixture *t = *state;
    double x1[ROWS], x2[ROWS], y[ROWS], highest = -INFINITY;
    const double *x[2];
    const sl_dataset p = make_rows(t, x1, x2, y, x);
    reports r = { .t = t };
    sl_discovery *d = NULL;
    sl_discover_options o = sl_discover_defaults();
    o.search = SL_DISCOVER_EXHAUSTIVE;
    o.effort = SL_EFFORT_LOW;
    o.on_front = on_front;
    o.front_payload = &r;
    SL_MUST(t, sl_discover_run(&d, NULL, NULL, &p, &o, NULL, NULL));
    SL_CHECK(t, r.n >= 2, "%d fronts", r.n);
    for (int i = 1; i < r.n; i++) assert_true(r.best[i] >= r.best[i - 1] - SL_DISCOVER__TIE);
    for (int64_t i = 0; i < d->ranked; i++)
        if (d->candidate[i].front) highest = fmax(highest, d->candidate[i].r2);
    SL_CHECK(t, fabs(r.best[r.n - 1] - highest) < 1e-9, "ends at %.12g, the list at %.12g",
             r.best[r.n - 1], highest);
    sl_discover_free(d);
}

/* The same work with and without: reporting changes nothing. */
static void reporting_changes_no_result(void **state) {
    sl_fixture *t = *state;
    double x1[ROWS], x2[ROWS], y[ROWS];
    const double *x[2];
    const sl_dataset p = make_rows(t, x1, x2, y, x);
    reports r = { .t = t };
    sl_discovery *d[2];
    for (int with = 0; with < 2; with++) {
        sl_discover_options o = sl_discover_defaults();
        o.search = SL_DISCOVER_EXHAUSTIVE;
        o.effort = SL_EFFORT_LOW;
        o.on_front = with ? on_front : NULL;
        o.front_payload = &r;
        SL_MUST(t, sl_discover_run(&d[with], NULL, NULL, &p, &o, NULL, NULL));
    }
    assert_int_equal(d[0]->count, d[1]->count);
    for (int64_t i = 0; i < d[0]->ranked; i++) {
        assert_true(sl_expr_equal(d[0]->candidate[i].expr, d[1]->candidate[i].expr));
        assert_true(d[0]->candidate[i].r2 == d[1]->candidate[i].r2);
    }
    sl_discover_free(d[0]);
    sl_discover_free(d[1]);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(fronts_grow_to_the_final_one),
        SL_TEST(reporting_changes_no_result),
    };
    return sl_test_main("discover.front", tests, SL_LEN(tests));
}
