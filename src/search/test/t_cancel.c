/* Searches that end at any moment: cancelled by the callback or by another thread, cut by the
 * clock, short of memory. Whole searches and every method alone, on one to four threads.
 *
 * tests/long/search_threads.sh runs this program under the thread sanitizer, with longer searches
 * (SL_TEST_SCALE) and hundreds of cuts. */
#include <pthread.h>
#include <time.h>

#include "search/inner_impl.h"
#include "search/noise_impl.h"
#include "search/spans_impl.h"
#include "search_check.h"

enum { ROWS = 60, THREADS_MAX = 4 };

static planted table;
static sl_units units;
static const sl_search_grammar grammar = SL_SEARCH_GRAMMAR_INIT;

/* ---------------------------------------------------------------- tables -------------------- */

/* Most of these laws are not found, so that the search goes on. */
static const struct kind {
    const char *text; // NULL: no law
    int inputs, digits;
    double noise;
    const char *units;
} kinds[] = {
    { "x1*tanh(x2*x3/(x4*x5)) + sin(x1)", 5, 0, 0, NULL },
    { "(1.7*x1 + 2.9)/(x1 + 4.1)", 1, 0, 0, NULL },
    { "sin(1.37*x1*x2) + exp(0.21*x1)/(x2 + 0.77)", 2, 0, 0, NULL },
    { "x1*exp(x2/3) + sin(5*x1)", 2, 4, 0, NULL },
    { "x1*exp(x2/3) + sin(5*x1)", 2, 0, 0.1, NULL },
    { "x1*x2^2/2 + x1*x3*1.37", 3, 0, 0.02, "x1=kg,x2=m/s,x3=m^2/s^2,y=J" },
    { "x1*x2^2*tanh(x2^2/x3)", 3, 0, 0, "x1=kg,x2=m/s,x3=m^2/s^2,y=J" },
    { NULL, 2, 0, 0, NULL },
};

static const struct kind *draw_table(sl_fixture *t, sl_search_options *o) {
    static const char *const names[] = { "x1", "x2", "x3", "x4", "x5" };
    const struct kind *k = &kinds[sl_rng_below(&t->rng, SL_LEN(kinds))];
    plant(&table, t, k->text, k->inputs, ROWS, 1, 3);
    for (int i = 0; i < ROWS; i++) {
        char digits[40];
        if (k->noise > 0) table.y[i] += k->noise * sl_rng_normal(&t->rng);
        if (k->digits == 0) continue;
        sl_snprintf(digits, sizeof digits, "%.*g", k->digits, table.y[i]);
        table.y[i] = sl_strtod(digits, NULL);
    }
    units = (sl_units){ .target_known = false };
    if (k->units) SL_MUST(t, sl_data_units_parse(&units, k->units, names, k->inputs, "y"));
    o->units = k->units ? &units : NULL;
    o->grammar = k->inputs <= grammar.variables ? &grammar : NULL;
    o->sigma = k->noise;
    return k;
}

/* ---------------------------------------------------------------- what is cut --------------- */

/* The whole list of steps, or one method from a random level on. */
typedef struct work {
    const sl_search__method *method; // NULL: all
    int from, to;
} work;

static work draw_work(sl_fixture *t) {
    static const struct {
        const sl_search__method *method;
        int first; // levels that it may begin at: 0 .. first
    } alone[] = { { &sl_search__lattice, 0 },   { &sl_search__skeletons, 0 },
                  { &sl_search__closure, 3 },   { &sl_search__inner, 0 },
                  { &sl_search__noise, 0 },     { &sl_search__small, 0 },
                  { &sl_search__rational, 1 },  { &sl_search__spans_products, 0 },
                  { &sl_search__spans_sums, 0 } };
    if (sl_rng_below(&t->rng, 2) == 0) return (work){ .method = NULL };
    const uint32_t i = sl_rng_below(&t->rng, SL_LEN(alone));
    const int from = (int)sl_rng_below(&t->rng, (uint32_t)alone[i].first + 1);
    return (work){ alone[i].method, from, 3 };
}

static sl_status run_work(sl_search_result **out, const work *w, sl_pool *pool,
                          const sl_search_options *o) {
    *out = NULL;
    if (!w->method) return sl_search_run(out, pool, &table.problem, o);
    return run_method(out, w->method, pool, &table.problem, o, w->from, w->to);
}

/* ---------------------------------------------------------------- how it is cut ------------- */

/* Cancels at a report, or after another thread has requested it. */
typedef struct canceller {
    int report; // number of the report whose callback cancels; 0: none
    int reports;
    _Atomic bool late; // set by the other thread
    double seconds;    // delay of that
    bool cancelled;
    double bits; // of the best formula when it was last reported
} canceller;

static int on_progress(const sl_search_progress *progress, void *payload) {
    canceller *c = payload;
    c->bits = progress->best ? progress->best->bits.total : INFINITY;
    c->cancelled = ++c->reports == c->report || atomic_load(&c->late);
    return c->cancelled;
}

static void *cancel_later(void *payload) {
    canceller *c = payload;
    const struct timespec wait = { (time_t)c->seconds, (long)(1e9 * fmod(c->seconds, 1)) };
    nanosleep(&wait, NULL);
    atomic_store(&c->late, true);
    return NULL;
}

/* Seconds of a search: milliseconds as a rule, more in a long test. */
static double draw_seconds(sl_fixture *t) {
    const double most = 0.01 * sqrt((double)t->scale);
    return most * exp(sl_rng_range(&t->rng, -4, 0));
}

static sl_search_options draw_options(sl_fixture *t) {
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    o.effort = SL_SEARCH_EFFORT_HIGH;
    o.max_size = sl_rng_below(&t->rng, 2) ? 0 : 2 + (int)sl_rng_below(&t->rng, 14);
    o.max_memory = sl_rng_below(&t->rng, 4) == 0 ? 3000000 : 300000000;
    return o;
}

static void check_result(sl_fixture *t, const sl_search_result *r, const canceller *c,
                         const work *w) {
    const char *what = w->method ? w->method->name : "all";
    SL_CHECK(t, !c->cancelled || r->end == SL_SEARCH_CANCEL, "%s: end %d of a cancelled search",
             what, r->end);
    SL_CHECK(t, c->bits == INFINITY || (r->count > 0 && r->formula[0].bits.total <= c->bits),
             "%s: the best so far is lost", what);
    for (int64_t i = 0; i < r->count; i++) // it can be read
        SL_CHECK(t, text_of(t, &r->formula[i])[0], "%s: formula %lld", what, (long long)i);
}

/* By the callback's result, by another thread, by the clock. */
static void a_search_ends_at_any_moment(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 24); i++) {
        sl_search_result *r;
        sl_pool *pool;
        pthread_t other;
        sl_search_options o = draw_options(t);
        draw_table(t, &o);
        const work w = draw_work(t);
        const uint32_t how = sl_rng_below(&t->rng, 3);
        canceller c = { .bits = INFINITY, .seconds = draw_seconds(t) };
        o.progress = on_progress;
        o.payload = &c;
        if (how == 0) c.report = 1 + (int)sl_rng_below(&t->rng, 8);
        o.deadline = sl_clock() + (how == 2 ? c.seconds : 20 * c.seconds);
        SL_MUST(t, sl_par_pool_new(&pool, 1 + (int)sl_rng_below(&t->rng, THREADS_MAX)));
        const int64_t blocks = sl_mem_blocks();
        if (how == 1) assert_int_equal(pthread_create(&other, NULL, cancel_later, &c), 0);
        SL_MUST(t, run_work(&r, &w, pool, &o));
        if (how == 1) pthread_join(other, NULL);
        check_result(t, r, &c, &w);
        sl_search_result_free(r);
        SL_CHECK(t, sl_mem_blocks() == blocks, "%lld blocks are left",
                 (long long)(sl_mem_blocks() - blocks));
        sl_par_pool_free(pool);
    }
}

/* An allocation fails on any thread, alone or with all that follow. */
static void memory_ends_at_any_moment(void **state) {
    sl_fixture *t = *state;
    int failed = 0;
    for (int i = 0; i < sl_test_iters(t, 24); i++) {
        sl_search_result *r;
        sl_pool *pool;
        sl_search_options o = draw_options(t);
        draw_table(t, &o);
        const work w = draw_work(t);
        const int64_t n = 1 + (int64_t)exp(sl_rng_range(&t->rng, 0, 9));
        SL_MUST(t, sl_par_pool_new(&pool, 1 + (int)sl_rng_below(&t->rng, THREADS_MAX)));
        const int64_t blocks = sl_mem_blocks(), calls = sl_mem_calls();
        o.deadline = sl_clock() + 4 * draw_seconds(t);
        sl_mem_fail_at(n, sl_rng_below(&t->rng, 2) == 0);
        const sl_status st = run_work(&r, &w, pool, &o);
        const bool refused = sl_mem_calls() - calls >= n;
        sl_mem_fail_at(0, false);
        SL_CHECK(t, st == (refused ? SL_ENOMEM : SL_OK),
                 "%s: allocation %lld of %lld, status %d: %s", w.method ? w.method->name : "all",
                 (long long)n, (long long)(sl_mem_calls() - calls), st, sl_last_error());
        SL_CHECK(t, (st == SL_OK) == (r != NULL), "status %d, but %s result", st, r ? "a" : "no");
        failed += refused;
        sl_search_result_free(r);
        SL_CHECK(t, sl_mem_blocks() == blocks, "%lld blocks are left",
                 (long long)(sl_mem_blocks() - blocks));
        sl_par_pool_free(pool);
    }
    SL_CHECK(t, failed > 0, "no allocation failed");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_search_ends_at_any_moment),
        SL_TEST(memory_ends_at_any_moment),
    };
    return sl_test_main("search.cancel", tests, SL_LEN(tests));
}
