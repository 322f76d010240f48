/* run - a whole discovery: bags, samples, candidates, fits, ranks. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"

/* ---------------------------------------------------------------- ending early -------------- */

static const double REPORT_EVERY = 0.05; // seconds

static void send_report(sl_discover__control *c) {
    c->reported = sl_clock();
    if (c->progress && c->progress(c->what, c->done, c->total, c->best, c->payload) != 0)
        atomic_store(&c->cut, SL_CUT_CANCEL);
}

bool sl_discover__stop(sl_discover__control *c, bool report) {
    if (atomic_load_explicit(&c->cut, memory_order_relaxed) != SL_CUT_NONE) return true;
    const double now = sl_clock();
    if (sl_deadline_passed(c->deadline, now)) {
        int none = SL_CUT_NONE;
        atomic_compare_exchange_strong(&c->cut, &none, SL_CUT_TIME);
        return true;
    }
    if (report && now - c->reported >= REPORT_EVERY) send_report(c);
    return atomic_load_explicit(&c->cut, memory_order_relaxed) != SL_CUT_NONE;
}

/* ---------------------------------------------------------------- sampling ------------------ */

static sl_infer_options infer_options(const sl_discover_options *o) {
    sl_infer_options i = o->infer;
    i.seed = o->seed;
    i.problem = o->problem;
    i.grammar = o->grammar;
    return i;
}

/* The samples of one bag. */
typedef struct sample_set {
    sl_sampled *s;
    int64_t made;
    sl_arena arena;
    sl_infer_cost cost;
} sample_set;

typedef struct sampling {
    sl_discover__pool *p;
    const sl_infer *model;
    const sl_discover__bag *bags;
    sample_set *sets;
    sl_pool *inside; // threads that work on one bag together; NULL: one bag each
} sampling;

/* Half of the time is reserved for the fits, which gain more than further samples. */
static bool is_enough(sl_discover__control *c, bool report) {
    if (report) c->done = (double)atomic_load_explicit(&c->sampled, memory_order_relaxed);
    if (sl_discover__stop(c, report)) return true;
    if (sl_deadline_passed(c->half, sl_clock())) atomic_store(&c->short_of_samples, true);
    return atomic_load_explicit(&c->short_of_samples, memory_order_relaxed);
}

static bool stop_reporting(void *payload) { return is_enough(payload, true); }
static bool stop_silent(void *payload) { return is_enough(payload, false); }

/* In slices, so that progress can be reported: a sample does not depend on the others.
 * A beam is one slice. */
static sl_status sample_bag(sample_set *h, const sampling *g, const sl_discover__bag *b,
                            bool report) {
    enum { SLICE = 1024 };
    sl_discover__control *control = &g->p->control;
    const sl_infer_options o = infer_options(g->p->o);
    const int64_t slice = o.decode == SL_DECODE_SAMPLE ? SLICE : b->count;
    h->s = sl_arena_alloc(&h->arena, (size_t)b->count * sizeof *h->s);
    if (!h->s) return sl_fail_memory((size_t)b->count, sizeof *h->s, "samples");
    for (int64_t at = 0; at < b->count && !is_enough(control, report); at += slice) {
        const int64_t count = SL_MIN(slice, b->count - at);
        int64_t made = 0;
        SL_TRY(sl_infer_run(h->s + h->made, &made, &h->arena, g->model, g->inside, &b->data, &o,
                            b->first + at, count, &h->cost, report ? stop_reporting : stop_silent,
                            control));
        h->made += made;
        atomic_fetch_add_explicit(&control->sampled, count, memory_order_relaxed);
    }
    return SL_OK;
}

static sl_status sample_bags(int64_t begin, int64_t end, int worker, void *payload) {
    const sampling *g = payload;
    for (int64_t i = begin; i < end; i++)
        SL_TRY(sample_bag(&g->sets[i], g, &g->bags[i], worker == 0));
    return SL_OK;
}

/* Into the discovery, whose arena outlives the samples'. */
static sl_status bring_in(sl_discover__pool *p, const sample_set *h, bool unit) {
    sl_sampled *s = sl_arena_alloc(p->arena, (size_t)h->made * sizeof *s);
    if (!s) return sl_fail_memory((size_t)h->made, sizeof *s, "samples");
    for (int64_t i = 0; i < h->made; i++) {
        sl_token *tokens = sl_arena_alloc(p->arena, (size_t)h->s[i].n);
        if (!tokens) return sl_fail_memory((size_t)h->s[i].n, 1, "samples");
        memcpy(tokens, h->s[i].tokens, (size_t)h->s[i].n);
        s[i] = h->s[i];
        s[i].tokens = tokens;
    }
    p->cost->samples += h->made;
    p->cost->infer.rows += h->cost.rows;
    p->cost->infer.tokens += h->cost.tokens;
    return sl_discover__take_samples(p, s, h->made, unit);
}

/* With as many bags as threads, each thread samples bags of its own, so that none waits for the few
 * longest samples of another bag. */
static sl_status sample_all(sl_discover__pool *p, const sl_infer *model, int64_t samples) {
    const double start = sl_clock();
    sl_discover__bag *bags;
    int n;
    sl_status st = SL_OK;
    SL_TRY(sl_discover__bags_make(&bags, &n, p->arena, &p->rows, sl_infer_about(model)->points,
                                  p->o, samples));
    sample_set *h = sl_calloc((size_t)n, sizeof *h);
    if (!h) return sl_fail_memory((size_t)n, sizeof *h, "samples");
    const bool apart = n >= p->workers;
    sampling g = { p, model, bags, h, apart ? NULL : p->threads };
    p->control.what = "sampling";
    p->control.total = (double)samples;
    if (apart)
        SL_GO(sl_par_for(p->threads, n, 1, sample_bags, &g));
    else
        SL_GO(sample_bags(0, n, 0, &g));
    for (int i = 0; i < n; i++) p->cost->infer.encode += h[i].cost.encode;
    p->cost->infer.decode = fmax(0, sl_clock() - start - p->cost->infer.encode); // bags overlap
    for (int i = 0; i < n; i++) {
        p->cost->bags += h[i].made > 0;
        SL_GO(bring_in(p, &h[i], bags[i].unit));
    }
done:
    for (int i = 0; i < n; i++) sl_arena_clear(&h[i].arena);
    sl_free(h);
    return st;
}

/* ---------------------------------------------------------------- a proposer's samples ------ */

enum { PROPOSED = 64 }; // samples of a part

/* As many as there is time for, part by part: a sample does not depend on the others. */
static sl_status propose_part(sample_set *h, sl_discover__pool *p, int64_t first, int64_t count,
                              bool report) {
    const sl_discover_options *o = p->o;
    h->s = sl_arena_alloc(&h->arena, (size_t)count * sizeof *h->s);
    if (!h->s) return sl_fail_memory((size_t)count, sizeof *h->s, "samples");
    for (int64_t i = 0; i < count && !is_enough(&p->control, report); i++) {
        SL_TRY(o->proposer->get(&h->s[i], &h->arena, p->rows.fit.inputs, o->seed, o->problem,
                                first + i, o->proposer->state));
        h->made++;
        atomic_fetch_add_explicit(&p->control.sampled, 1, memory_order_relaxed);
    }
    return SL_OK;
}

typedef struct proposing {
    sl_discover__pool *p;
    sample_set *sets;
    int64_t samples;
} proposing;

static sl_status propose_parts(int64_t begin, int64_t end, int worker, void *payload) {
    const proposing *g = payload;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = i * PROPOSED, count = SL_MIN(PROPOSED, g->samples - first);
        SL_TRY(propose_part(&g->sets[i], g->p, first, count, worker == 0));
    }
    return SL_OK;
}

static sl_status propose_all(sl_discover__pool *p, int64_t samples) {
    const int64_t n = (samples + PROPOSED - 1) / PROPOSED;
    sample_set *h = sl_calloc((size_t)n, sizeof *h);
    if (!h) return sl_fail_memory((size_t)n, sizeof *h, "samples");
    proposing g = { p, h, samples };
    sl_status st;
    p->control.what = "sampling";
    p->control.total = (double)samples;
    SL_GO(sl_par_for(p->threads, n, 1, propose_parts, &g));
    for (int64_t i = 0; i < n; i++) SL_GO(bring_in(p, &h[i], false));
done:
    for (int64_t i = 0; i < n; i++) sl_arena_clear(&h[i].arena);
    sl_free(h);
    return st;
}

/* ---------------------------------------------------------------- the model ----------------- */

/* If there are more inputs than the model accepts, it reads those that explain most. */
static sl_status show_inputs(sl_discover__pool *p, int takes) {
    sl_discover__rows *r = &p->rows;
    double explained;
    if (r->fit.inputs <= takes) return SL_OK;
    const sl_columns from = { r->fit.x, r->fit.inputs, r->fit.y, r->fit.rows, 1 };
    SL_TRY(sl_data_choose_inputs(r->column, &explained, &from, takes, p->o->seed));
    r->shown = takes;
    return SL_OK;
}

/* *model := the one given, or the one that the options open. */
static sl_status need_model(const sl_infer **model, const sl_discover_options *o) {
    return *model || !o->open_model ? SL_OK : o->open_model(model, o->open_payload);
}

/* Samples of a proposer, or of the model, if there is one. */
static sl_status ask_model(sl_discovery *d, sl_discover__pool *p, const sl_infer *model) {
    const int64_t samples = sl_discover__budget_of(p->o).samples;
    if (p->rows.constant || samples == 0 || sl_discover__stop(&p->control, true)) return SL_OK;
    if (!p->o->proposer) SL_TRY(need_model(&model, p->o));
    if (!p->o->proposer && !model) return SL_OK;
    SL_TRY(show_inputs(p, SL_MIN(model ? sl_infer_about(model)->variables : SL_TOKEN_VARIABLES,
                                 SL_TOKEN_VARIABLES)));
    if (p->control.deadline > 0 && sl_discover__budget_of(p->o).refined > 0)
        p->control.half = (sl_clock() + p->control.deadline) / 2;
    d->model_used = true;
    d->model_inputs = p->rows.shown;
    for (int i = 0; i < p->rows.shown; i++) d->model_input[i] = p->rows.column[i];
    return p->o->proposer ? propose_all(p, samples) : sample_all(p, model, samples);
}

/* ---------------------------------------------------------------- the call ------------------ */

static sl_status check(const sl_infer *model, const sl_dataset *p, const sl_discover_options *o) {
    SL_TRY(sl_discover_options_check(o));
    if (p->rows < 2)
        return sl_fail(SL_EINVAL, "%s: a formula needs at least two",
                       p->rows ? "one row" : "no rows");
    if (p->rows > INT_MAX)
        return sl_fail(SL_ELIMIT, "%lld rows: more than %d are not taken", (long long)p->rows,
                       INT_MAX);
    if (p->inputs < 1 || p->inputs > SL_DATA_MAX_INPUTS)
        return sl_fail(SL_EINVAL, "1 to %d inputs can be given; the data have %d",
                       SL_DATA_MAX_INPUTS, p->inputs);
    if (model && p->inputs > sl_infer_about(model)->variables && o->search == SL_DISCOVER_MODEL)
        return sl_fail(SL_EINVAL, "the model takes %d input%s; the data have %d",
                       sl_infer_about(model)->variables,
                       sl_infer_about(model)->variables == 1 ? "" : "s", p->inputs);
    return SL_OK;
}

static sl_status pool_init(sl_discover__pool *p, sl_discovery *d, sl_pool *threads,
                           const sl_dataset *problem, const sl_discover_options *o) {
    p->arena = &d->arena;
    p->o = o;
    p->threads = threads;
    p->workers = sl_par_pool_threads(threads);
    p->cost = &d->cost;
    p->noise.sigma = o->exhaustive.sigma; // an estimate is no measure to choose by
    p->scratch = sl_calloc((size_t)p->workers, sizeof *p->scratch);
    if (!p->scratch) return sl_fail_memory((size_t)p->workers, sizeof *p->scratch, "arenas");
    return sl_discover__rows_make(&p->rows, &d->arena, problem, o);
}

static void pool_clear(sl_discover__pool *p) {
    for (int i = 0; i < p->workers && p->scratch; i++) sl_arena_clear(&p->scratch[i]);
    sl_free(p->scratch);
}

/* The deadline of a pass of the search: half of the time that is left, if the model comes after. */
static double pass_deadline(const sl_discover__control *c, bool more) {
    return c->deadline > 0 && more ? (sl_clock() + c->deadline) / 2 : c->deadline;
}

static bool has_search(const sl_discover__pool *p) {
    enum { LEAST_ROWS = 3 };
    return p->o->search != SL_DISCOVER_MODEL && !p->rows.constant && p->rows.fit.rows >= LEAST_ROWS;
}

/* Is one of the search's formulas allowed? */
static bool has_formula(const sl_discover__pool *p) {
    for (int64_t i = 0; i < p->count; i++)
        if (p->work[i].c.source == SL_SOURCE_SEARCH && p->work[i].c.state >= SL_CANDIDATE_SCORED)
            return true;
    return false;
}

/* Fills the pool. d->within_noise: by a formula of the search. */
static sl_status propose(sl_discovery *d, sl_discover__pool *p, const sl_infer *model) {
    const sl_discover_options *o = p->o;
    const bool search = has_search(p), ask = o->search != SL_DISCOVER_EXHAUSTIVE;
    const bool more = ask && (model || o->open_model || o->proposer);
    if (o->baseline) SL_TRY(sl_discover__take_baselines(p));
    sl_discover__report_front(p, NULL, 0);
    if (search) SL_TRY(sl_discover__search(p, &d->search, pass_deadline(&p->control, more), false));
    SL_TRY(sl_discover__exclude(p));
    sl_discover__report_front(p, NULL, 0);
    d->within_noise = search && d->search.within_noise && has_formula(p);
    if (ask && !d->within_noise) SL_TRY(ask_model(d, p, model));
    SL_TRY(sl_discover__exclude(p));
    sl_discover__report_front(p, NULL, 0);
    SL_TRY(sl_discover__refine(p));
    sl_discover__report_front(p, NULL, 0);
    if (search && d->model_used && !sl_discover__stop(&p->control, true))
        SL_TRY(sl_discover__search(p, &d->search, p->control.deadline, true));
    SL_TRY(sl_discover__exclude(p));
    d->within_noise = search && d->search.within_noise && has_formula(p);
    return SL_OK;
}

/* How much larger than the noise the residuals of a fitted formula may be. */
static const double NOISE_SLACK = 1.1;

/* Of a formula from another source than the search. The noise is not known if there was no search
 * and sigma is not given. */
static bool is_within_noise(const sl_discovery *d, double sigma) {
    if (d->ranked == 0) return false;
    const sl_candidate *best = &d->candidate[0];
    if (d->search.passes == 0 || d->within_noise || best->exact) return true;
    if (best->r2 >= 1 - SL_DISCOVER__TIE) return true;
    return sigma > 0 && best->rms <= NOISE_SLACK * sigma;
}

static sl_cut cut_of(sl_discover__control *c) {
    const sl_cut cut = (sl_cut)atomic_load(&c->cut);
    return cut == SL_CUT_NONE && atomic_load(&c->short_of_samples) ? SL_CUT_TIME : cut;
}

static sl_status discover(sl_discovery *d, sl_discover__pool *p, const sl_infer *model,
                          sl_pool *threads, const sl_dataset *problem,
                          const sl_discover_options *o) {
    SL_TRY(pool_init(p, d, threads, problem, o));
    SL_TRY(propose(d, p, model));
    p->control.best = NULL; // the list is about to move
    SL_TRY(sl_discover__list(d, p));
    d->within_noise = is_within_noise(d, o->exhaustive.sigma);
    d->rows_fit = p->rows.fit.rows;
    d->rows_held = p->rows.held.rows;
    d->fitted = p->rows.fitted;
    d->cut = cut_of(&p->control);
    d->seconds = sl_clock() - p->control.start;
    return SL_OK;
}

sl_status sl_discover_run(sl_discovery **out, const sl_infer *model, sl_pool *pool,
                          const sl_dataset *problem, const sl_discover_options *o,
                          sl_discover_progress progress, void *payload) {
    SL_TRY(check(model, problem, o));
    sl_discovery *d = sl_calloc(1, sizeof *d);
    if (!d) return sl_fail_memory(1, sizeof *d, "a discovery");
    sl_discover__pool p = { .control = { .start = sl_clock(),
                                         .deadline = o->deadline,
                                         .progress = progress,
                                         .payload = payload,
                                         .what = "sampling" } };
    sl_status st = discover(d, &p, model, pool, problem, o);
    pool_clear(&p);
    if (st != SL_OK) {
        sl_discover_free(d);
        return st;
    }
    *out = d;
    return SL_OK;
}

void sl_discover_free(sl_discovery *d) {
    if (!d) return;
    sl_arena_clear(&d->arena);
    sl_free(d);
}
