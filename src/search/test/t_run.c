/* Whole searches: progress reports, and limits of formulas. */
#include "search/test/search_check.h"

enum { ENOUGH = 6 }; // reports with a formula

static planted table;

/* What a search has reported. */
typedef struct watched {
    sl_fixture *t;
    int reports, last_step, with_best;
    double bits; // of the best so far
} watched;

static int watch(const sl_search_progress *progress, void *payload) {
    watched *w = payload;
    SL_CHECK(w->t, progress->step >= w->last_step && progress->step < progress->steps,
             "step %d after %d of %d", progress->step, w->last_step, progress->steps);
    w->last_step = progress->step;
    w->reports++;
    if (!progress->best) {
        SL_CHECK(w->t, w->with_best == 0, "the best of %d reports is lost", w->with_best);
        return 0;
    }
    const double bits = progress->best->bits.total;
    SL_CHECK(w->t, w->with_best == 0 || bits <= w->bits, "%g bits after %g", bits, w->bits);
    w->with_best++;
    w->bits = bits;
    return w->with_best == ENOUGH;
}

static void plant_noisy(planted *p, sl_fixture *t, int rows) {
    plant(p, t, "x1*exp(x2/3) + sin(5*x1)", 2, rows, 1, 3);
    for (int i = 0; i < rows; i++) p->y[i] += 0.2 * sl_rng_normal(&t->rng);
}

/* Every step is reported, with the best formula so far, which only improves and is the result of a
 * search that is cut. */
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

/* A polynomial beside a listed rate fits as well as one free rate; the latter is shorter, and is
 * tried before a formula within the noise ends the search. */
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

/* ---------------------------------------------------------------- memory -------------------- */

/* A search that lacks memory reports the first such step and the bytes it requested; with that much
 * it goes further, and with enough no step is short. */
static void steps_that_lack_memory_are_named(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    int step = 8, rounds = 0;
    int64_t used = 0, needed = 100000;
    o.progress = stop_at_step;
    o.payload = &step;
    plant(&table, t, NULL, 2, 40, 1, 3);
    for (; needed > 0; rounds++) {
        sl_search_result *r;
        o.max_memory = rounds % 2 ? needed : 2 * needed;
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        const sl_search_short *m = &r->memory_short;
        SL_CHECK(t, r->memory <= o.max_memory && r->memory > used, "%lld bytes of %lld after %lld",
                 (long long)r->memory, (long long)o.max_memory, (long long)used);
        SL_CHECK(t,
                 (m->steps > 0) == (m->needed > o.max_memory) && (m->steps > 0) == (m->method != 0),
                 "%d steps of %s need %lld bytes of %lld", m->steps, m->method ? m->method : "none",
                 (long long)m->needed, (long long)o.max_memory);
        needed = m->needed;
        used = r->memory;
        sl_search_result_free(r);
    }
    SL_CHECK(t, rounds > 2, "%d rounds", rounds);
}

/* ---------------------------------------------------------------- size ---------------------- */

/* R2 of the best a f + b, f by text: a reference for the search. */
static double best_r2(sl_fixture *t, const char *const *texts, int n) {
    double best = -INFINITY;
    for (int k = 0; k < n; k++) {
        const sl_node *e;
        double f[ROWS_MAX], sf = 0, sy = 0, ff = 0, fy = 0, yy = 0;
        const int64_t rows = table.problem.rows;
        SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, texts[k], strlen(texts[k]), NULL,
                                 NULL));
        SL_MUST(t, sl_expr_eval(f, &t->arena, e, table.column, rows, NULL));
        for (int64_t i = 0; i < rows; i++)
            sf += f[i] / (double)rows, sy += table.y[i] / (double)rows;
        for (int64_t i = 0; i < rows; i++) {
            ff += (f[i] - sf) * (f[i] - sf);
            fy += (f[i] - sf) * (table.y[i] - sy);
            yy += (table.y[i] - sy) * (table.y[i] - sy);
        }
        best = SL_MAX(best, fy * fy / (ff * yy));
    }
    return best;
}

/* A law above the limit is left out; the result is the best formula within it. */
static void formulas_keep_to_their_size(void **state) {
    sl_fixture *t = *state;
    static const char *const small[] = { "x1", "x2", "exp(x1)", "exp(x2)", "sin(x2)" };
    static const char *const large[] = { "x1*x2", "x1^2", "x2^2", "x1*exp(x2)" };
    static const struct {
        int most;
        const char *const *reference;
        int n;
    } cases[] = { { 5, small, SL_LEN(small) }, { 7, large, SL_LEN(large) } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_search_result *r;
        sl_search_options o = SL_SEARCH_OPTIONS_INIT;
        o.effort = SL_SEARCH_EFFORT_LOW;
        o.max_size = cases[i].most;
        plant(&table, t, "x1*exp(x2) + sin(x1*x2)", 2, 60, 1, 3);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, r->count > 0, "nothing of %d nodes", o.max_size);
        for (int64_t k = 0; k < r->count; k++)
            SL_CHECK(t, !r->formula[k].exact && sl_expr_nodes(r->formula[k].fit.expr) <= o.max_size,
                     "%d nodes: %s", o.max_size, text_of(t, &r->formula[k]));
        const double reference = best_r2(t, cases[i].reference, cases[i].n);
        double best = 0;
        for (int64_t k = 0; k < r->count; k++) best = SL_MAX(best, r->formula[k].fit.r2);
        // a fit by relative errors gives up a little of R2
        SL_CHECK(t, best >= reference - 1e-3, "%d nodes: R2 %.6f, but there is one of %.6f",
                 o.max_size, best, reference);
        SL_CHECK(t, r->too_large == 9 && r->end == SL_SEARCH_DONE && !r->within_noise,
                 "an exact formula of %d nodes, end %d", r->too_large, r->end);
        sl_search_result_free(r);
    }
}

/* A limit above the law's size changes nothing. */
static void a_law_within_the_size_is_found(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search_result *r;
    o.max_size = 9;
    plant(&table, t, "x1*exp(x2) + sin(x1*x2)", 2, 60, 1, 3);
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    SL_CHECK(t, r->end == SL_SEARCH_FOUND && r->count > 0 && holds(t, &table, &r->formula[0]),
             "end %d", r->end);
    SL_CHECK(t, r->too_large == 0, "%d nodes", r->too_large);
    sl_search_result_free(r);
}

static sl_status run_small(const sl_search_options *o) {
    sl_search_result *r;
    SL_TRY(run_method(&r, &sl_search__small, NULL, &table.problem, o, 0, 0));
    sl_search_result_free(r);
    return SL_OK;
}

static void small_formulas_may_lack_memory(void **state) {
    sl_fixture *t = *state;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    o.max_size = 2;
    o.ops = 1u << SL_OPERATOR_MUL;
    plant(&table, t, "x1^2 + 0.3*x1", 1, 8, 1, 3);
    SL_EACH_ALLOCATION(t, run_small(&o));
}

/* ---------------------------------------------------------------- hints --------------------- */

/* Methods by bit: which have run. */
enum { SPANS = 1, NOISE = 2, OTHER = 4 };

static int note_method(const sl_search_progress *progress, void *payload) {
    const bool spans = !strcmp(progress->what, "products") || !strcmp(progress->what, "sums");
    *(int *)payload |= spans ? SPANS : !strcmp(progress->what, "noise") ? NOISE : OTHER;
    return 0;
}

/* A search with hints runs only the steps that use them. */
static void hints_run_only_steps_that_use_them(void **state) {
    sl_fixture *t = *state;
    const sl_node *hint;
    static const char text[] = "sin(x1^2 + 3*x1)";
    SL_MUST(t, sl_expr_parse(&hint, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    for (int hints = 0; hints < 2; hints++) {
        sl_search_result *r;
        sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
        int seen = 0;
        o.ops = 1u << SL_OPERATOR_MUL; // a small store
        o.progress = note_method;
        o.payload = &seen;
        o.hints = &hint;
        o.n_hints = hints;
        plant(&table, t, NULL, 1, 30, 1, 3);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, seen == (hints ? SPANS | NOISE : SPANS | NOISE | OTHER), "%d hints: methods %x",
                 hints, (unsigned)seen);
        sl_search_result_free(r);
    }
}

/* ---------------------------------------------------------------- rounded tables ------------ */

/* v rounded to that many significant digits. */
static double significant(double v, int digits) {
    char text[64];
    sl_snprintf(text, sizeof text, "%.*e", digits - 1, v);
    return sl_strtod(text, NULL);
}

static int note_level(const sl_search_progress *progress, void *payload) {
    if (!strcmp(progress->what, "noise") && progress->level > *(int *)payload)
        *(int *)payload = progress->level;
    return 0;
}

/* y that was computed and then rounded: the grammar's formulas come before the expensive levels of
 * the search under noise. */
static void the_lattice_precedes_expensive_noise_levels(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 3, -2, 2 };
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_search_result *r;
    int level = -1;
    o.grammar = &g;
    o.progress = note_level;
    o.payload = &level;
    plant(&table, t, "sin(x1*(x2 - 2)) + 3*exp(-x2/x1)", 2, 64, 0.2, 3);
    for (int i = 0; i < 64; i++) table.y[i] = significant(table.y[i], 6);
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    SL_CHECK(t, r->count > 0 && r->formula[0].exact && holds(t, &table, &r->formula[0]), "%s",
             r->count ? text_of(t, &r->formula[0]) : "nothing");
    SL_CHECK(t, level <= 1, "level %d under noise", level);
    sl_search_result_free(r);
}

/* Where inputs are rounded too, residuals are larger than the last digit of y: they do not continue
 * the search. */
static void rounded_inputs_end_the_search(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 3, 2, 2 };
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    for (int digits = 6; digits <= 8; digits += 2) {
        sl_search_result *r;
        int level = -1;
        o.grammar = &g;
        o.progress = note_level;
        o.payload = &level;
        plant(&table, t, "x1^2*x2/2 + sin(x2)", 2, 60, 0.1, 9);
        for (int i = 0; i < 60; i++) {
            table.y[i] = significant(table.y[i], 8);
            for (int v = 0; v < 2; v++) table.x[v][i] = significant(table.x[v][i], digits);
        }
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, r->count > 0 && r->end == SL_SEARCH_FOUND && level <= 1,
                 "%d digits: end %d, level %d under noise", digits, r->end, level);
        sl_search_result_free(r);
    }
}

/* y of many decades: rows of large y do not hide that others lack a term. */
static void small_rows_count_beside_large_ones(void **state) {
    sl_fixture *t = *state;
    sl_search_result *r;
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    o.exact_only = true;
    plant(&table, t, "exp((x1 - 5)^2) + sin(x1)*tanh(x1)", 1, 64, -2.8, 2.3);
    SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
    for (int64_t i = 0; i < r->count; i++)
        SL_CHECK(t, holds(t, &table, &r->formula[i]), "%s", text_of(t, &r->formula[i]));
    sl_search_result_free(r);
}

/* An exact formula with a function that is not allowed is no result, and does not end the search.
 */
static void functions_that_are_not_allowed_end_no_search(void **state) {
    sl_fixture *t = *state;
    const sl_search_grammar g = { SL_UNIVERSE_ALL_OPS, 2, 3, -2, 5 };
    sl_search_options o = options(SL_SEARCH_EFFORT_LOW);
    o.grammar = &g;
    plant(&table, t, "sin(3*x1 - 2)/(x2 + 5)", 2, 40, 1, 3);
    for (int without = 0; without < 2; without++) {
        sl_search_result *r;
        if (without) o.ops &= ~(1u << SL_OPERATOR_SIN);
        SL_MUST(t, sl_search_run(&r, NULL, &table.problem, &o));
        SL_CHECK(t, (r->end == SL_SEARCH_FOUND) == !without, "end %d", (int)r->end);
        for (int64_t i = 0; i < r->count; i++)
            SL_CHECK(t, sl_search_allows(r->formula[i].fit.expr, o.ops), "%s",
                     text_of(t, &r->formula[i]));
        sl_search_result_free(r);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(progress_has_the_best_so_far),
        SL_TEST(a_free_rate_is_tried_before_the_end),
        SL_TEST(steps_that_lack_memory_are_named),
        SL_TEST(formulas_keep_to_their_size),
        SL_TEST(a_law_within_the_size_is_found),
        SL_TEST(small_formulas_may_lack_memory),
        SL_TEST(hints_run_only_steps_that_use_them),
        SL_TEST(the_lattice_precedes_expensive_noise_levels),
        SL_TEST(rounded_inputs_end_the_search),
        SL_TEST(small_rows_count_beside_large_ones),
        SL_TEST(functions_that_are_not_allowed_end_no_search),
    };
    return sl_test_main("search.run", tests, SL_LEN(tests));
}
