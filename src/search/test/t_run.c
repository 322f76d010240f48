/* A search as a whole: what it reports while it works. */
#include "search/test/search_check.h"

enum { ENOUGH = 6 }; // reports with a formula

static planted table;

/* What a search has reported. */
typedef struct watched {
    sl_fixture *t;
    int reports, last_step, with_best;
    double bits; // of the best so far
} watched;

static int watch(const sl_search_news *news, void *payload) {
    watched *w = payload;
    SL_CHECK(w->t, news->step >= w->last_step && news->step < news->steps, "step %d after %d of %d",
             news->step, w->last_step, news->steps);
    w->last_step = news->step;
    w->reports++;
    if (!news->best) {
        SL_CHECK(w->t, w->with_best == 0, "the best of %d reports is lost", w->with_best);
        return 0;
    }
    const double bits = news->best->bits.total;
    SL_CHECK(w->t, w->with_best == 0 || bits <= w->bits, "%g bits after %g", bits, w->bits);
    w->with_best++;
    w->bits = bits;
    return w->with_best == ENOUGH;
}

static void plant_noisy(planted *p, sl_fixture *t, int rows) {
    plant(p, t, "x1*exp(x2/3) + sin(5*x1)", 2, rows, 1, 3);
    for (int i = 0; i < rows; i++) p->y[i] += 0.2 * sl_rng_normal(&t->rng);
}

/* Every step is reported, with the best formula so far, which only gets better and is the answer of
 * a search that is cut. */
static void progress_has_the_best_so_far(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r;
    watched w = { .t = t };
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    o.effort = SL_SEARCH_EFFORT_LOW;
    o.progress = watch;
    o.payload = &w;
    o.sigma = 0.2; // noise comes before the exact steps that take long
    plant_noisy(&table, t, 40);
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    SL_CHECK(t, w.reports >= r->steps, "%d reports of %d steps", w.reports, r->steps);
    SL_CHECK(t, w.with_best == ENOUGH, "%d of %d reports have a formula", w.with_best, w.reports);
    SL_CHECK(t, r->end == SL_SEARCH_CANCEL && r->count > 0, "end %d, %lld formulas", r->end,
             (long long)r->count);
    SL_CHECK(t, r->formula[0].bits.total <= w.bits, "%g bits after %g", r->formula[0].bits.total,
             w.bits);
    sl_search_result_free(r);
}

/* A polynomial beside a listed rate leaves as little as one free rate; that one is shorter, and has
 * its turn before a formula within the noise ends the search. */
static void a_free_rate_is_tried_before_the_end(void **state) {
    sl_fixture *t = *state;
    enum { ROWS = 24 };
    const sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search_result *r;
    plant(&table, t, "3.2*exp(-0.37*x1) + 1/2", 1, ROWS, 0, 10);
    for (int i = 0; i < ROWS; i++)
        table.y[i] = round(1e4 * (table.y[i] + 0.02 * sl_rng_normal(&t->rng))) / 1e4;
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    SL_CHECK(t, r->end == SL_SEARCH_FOUND && r->within_noise, "no formula within the noise");
    SL_CHECK(t, strcmp(r->formula[0].method, "inner") == 0 && r->formula[0].fit.params <= 3,
             "%d constants by %s", r->formula[0].fit.params, r->formula[0].method);
    sl_search_result_free(r);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(progress_has_the_best_so_far),
        SL_TEST(a_free_rate_is_tried_before_the_end),
    };
    return sl_test_main("search.run", tests, SL_LEN(tests));
}
