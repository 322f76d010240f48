/* run - a whole discovery: bags, samples, candidates, fits, ranks. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"

/* ---------------------------------------------------------------- ending early -------------- */

static const double TELL_EVERY = 0.05; // seconds

static void tell(sl_discover__control *c) {
    c->told = sl_clock();
    if (c->progress && c->progress(c->what, c->done, c->total, c->best, c->payload) != 0)
        atomic_store(&c->cut, SL_CUT_CANCEL);
}

bool sl_discover__stop(sl_discover__control *c, bool speak) {
    if (atomic_load_explicit(&c->cut, memory_order_relaxed) != SL_CUT_NONE) return true;
    const double now = sl_clock();
    if (c->deadline > 0 && now >= c->deadline) {
        int none = SL_CUT_NONE;
        atomic_compare_exchange_strong(&c->cut, &none, SL_CUT_TIME);
        return true;
    }
    if (speak && now - c->told >= TELL_EVERY) tell(c);
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
typedef struct harvest {
    sl_sampled *s;
    int64_t made;
    sl_arena arena;
    sl_infer_cost cost;
} harvest;

typedef struct sampling {
    sl_discover__pool *p;
    const sl_infer *model;
    const sl_discover__bag *bags;
    harvest *harvest;
    sl_pool *inside; // threads that work on one bag together; NULL: one bag each
} sampling;

/* Half of the time is for the fits, which gain more than further samples would. */
static bool is_enough(sl_discover__control *c, bool speak) {
    if (speak) c->done = (double)atomic_load_explicit(&c->sampled, memory_order_relaxed);
    if (sl_discover__stop(c, speak)) return true;
    if (c->half > 0 && sl_clock() >= c->half) atomic_store(&c->short_of_samples, true);
    return atomic_load_explicit(&c->short_of_samples, memory_order_relaxed);
}

static bool stop_speaking(void *payload) { return is_enough(payload, true); }
static bool stop_silent(void *payload) { return is_enough(payload, false); }

/* In slices, so that progress can be told: a sample does not depend on who is sampled with it. A
 * beam is one slice. */
static sl_status sample_bag(harvest *h, const sampling *g, const sl_discover__bag *b, bool speak) {
    enum { SLICE = 1024 };
    sl_discover__control *control = &g->p->control;
    const sl_infer_options o = infer_options(g->p->o);
    const int64_t slice = o.decode == SL_DECODE_SAMPLE ? SLICE : b->count;
    h->s = sl_arena_alloc(&h->arena, (size_t)b->count * sizeof *h->s);
    if (!h->s) return sl_fail_memory((size_t)b->count, sizeof *h->s, "samples");
    for (int64_t at = 0; at < b->count && !is_enough(control, speak); at += slice) {
        const int64_t count = SL_MIN(slice, b->count - at);
        int64_t made = 0;
        SL_TRY(sl_infer_run(h->s + h->made, &made, &h->arena, g->model, g->inside, &b->data, &o,
                            b->first + at, count, &h->cost, speak ? stop_speaking : stop_silent,
                            control));
        h->made += made;
        atomic_fetch_add_explicit(&control->sampled, count, memory_order_relaxed);
    }
    return SL_OK;
}

static sl_status sample_bags(int64_t begin, int64_t end, int worker, void *payload) {
    const sampling *g = payload;
    for (int64_t i = begin; i < end; i++)
        SL_TRY(sample_bag(&g->harvest[i], g, &g->bags[i], worker == 0));
    return SL_OK;
}

/* Into the discovery, whose arena outlives the harvest's. */
static sl_status bring_in(sl_discover__pool *p, const harvest *h, bool unit) {
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

/* Where there are as many bags as threads each takes bags of its own: the last few samples of a
 * bag, which are long and lonely, then do not keep the others waiting. */
static sl_status sample_all(sl_discover__pool *p, const sl_infer *model, int64_t samples) {
    const double start = sl_clock();
    sl_discover__bag *bags;
    int n;
    sl_status st = SL_OK;
    SL_TRY(sl_discover__bags_make(&bags, &n, p->arena, &p->rows, sl_infer_about(model)->points,
                                  p->o, samples));
    harvest *h = sl_calloc((size_t)n, sizeof *h);
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
static sl_status propose_part(harvest *h, sl_discover__pool *p, int64_t first, int64_t count,
                              bool speak) {
    const sl_discover_options *o = p->o;
    h->s = sl_arena_alloc(&h->arena, (size_t)count * sizeof *h->s);
    if (!h->s) return sl_fail_memory((size_t)count, sizeof *h->s, "samples");
    for (int64_t i = 0; i < count && !is_enough(&p->control, speak); i++) {
        SL_TRY(o->proposer->get(&h->s[i], &h->arena, p->rows.fit.inputs, o->seed, o->problem,
                                first + i, o->proposer->state));
        h->made++;
        atomic_fetch_add_explicit(&p->control.sampled, 1, memory_order_relaxed);
    }
    return SL_OK;
}

typedef struct proposing {
    sl_discover__pool *p;
    harvest *harvest;
    int64_t samples;
} proposing;

static sl_status propose_parts(int64_t begin, int64_t end, int worker, void *payload) {
    const proposing *g = payload;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = i * PROPOSED, count = SL_MIN(PROPOSED, g->samples - first);
        SL_TRY(propose_part(&g->harvest[i], g->p, first, count, worker == 0));
    }
    return SL_OK;
}

static sl_status propose_all(sl_discover__pool *p, int64_t samples) {
    const int64_t n = (samples + PROPOSED - 1) / PROPOSED;
    harvest *h = sl_calloc((size_t)n, sizeof *h);
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

/* ---------------------------------------------------------------- the result ---------------- */

static sl_status score_held(sl_discover__pool *p, const int64_t *place, int64_t n) {
    for (int64_t i = 0; i < n && p->rows.held.rows > 0; i++) {
        sl_candidate *c = &p->work[place[i]].c;
        SL_TRY(
            sl_discover__score(&c->r2_holdout, &p->scratch[0], c->expr, c->value, &p->rows.held));
    }
    return SL_OK;
}

/* Who goes down the list and meets a simpler one than all before has met the best of its size. */
static void mark_front(sl_discovery *d, int64_t rows) {
    int least = INT_MAX;
    double best = INFINITY;
    d->advised = -1;
    for (int64_t i = 0; i < d->ranked; i++) {
        sl_candidate *c = &d->candidate[i];
        c->front = c->size < least;
        least = SL_MIN(least, c->size);
        const double bic = sl_discover__bic(c, rows);
        if (bic >= best) continue;
        best = bic;
        d->advised = i;
    }
}

/* The ranked ones first, then the others in the order they came. */
static sl_status list(sl_discovery *d, sl_discover__pool *p) {
    const size_t count = (size_t)p->count;
    int64_t *place = sl_arena_alloc(&d->arena, count * sizeof *place);
    int64_t *rank = sl_arena_alloc(&d->arena, count * sizeof *rank);
    d->candidate = sl_arena_alloc(&d->arena, count * sizeof *d->candidate);
    if (!place || !rank || !d->candidate)
        return sl_fail_memory(count, sizeof *d->candidate, "candidates");
    int64_t n = sl_discover__order(place, p->work, p->count, p->o->rank);
    SL_TRY(sl_discover__merge(p, place, &n));
    SL_TRY(score_held(p, place, n));
    for (int64_t i = 0; i < p->count; i++) rank[i] = -1;
    for (int64_t i = 0; i < n; i++) rank[place[i]] = i;
    d->ranked = d->count = n;
    for (int64_t i = 0; i < p->count; i++)
        if (rank[i] < 0) rank[i] = d->count++;
    for (int64_t i = 0; i < p->count; i++) {
        sl_candidate *c = &d->candidate[rank[i]];
        *c = p->work[i].c;
        if (c->same_as < 0) continue;
        int64_t first = c->same_as; // who may have become a duplicate since
        while (p->work[first].c.state == SL_CANDIDATE_DUPLICATE) first = p->work[first].c.same_as;
        c->same_as = rank[first];
    }
    mark_front(d, p->rows.fit.rows);
    return SL_OK;
}

/* ---------------------------------------------------------------- the call ------------------ */

static sl_status check(const sl_infer *model, const sl_problem *p, const sl_discover_options *o) {
    SL_TRY(sl_discover_options_check(o));
    if (p->rows < 2)
        return sl_fail(SL_EINVAL, "%s: a formula needs at least two",
                       p->rows ? "one row" : "no rows");
    if (p->rows > INT_MAX)
        return sl_fail(SL_ELIMIT, "%lld rows: more than %d are not taken", (long long)p->rows,
                       INT_MAX);
    const int takes = model ? sl_infer_about(model)->variables : SL_TOKEN_VARIABLES;
    const int most = SL_MIN(takes, SL_TOKEN_VARIABLES);
    if (p->inputs < 1 || p->inputs > most)
        return sl_fail(SL_EINVAL, "the model takes %d input%s; the data have %d", most,
                       most == 1 ? "" : "s", p->inputs);
    return SL_OK;
}

static sl_status pool_init(sl_discover__pool *p, sl_discovery *d, sl_pool *threads,
                           const sl_problem *problem, const sl_discover_options *o,
                           int64_t samples) {
    p->arena = &d->arena;
    p->o = o;
    p->threads = threads;
    p->workers = sl_pool_threads(threads);
    p->cost = &d->cost;
    p->room = 3 * (samples + SL_DATA_MAX_INPUTS + 2); // fits may stand beside proposals, twice
    p->scratch = sl_calloc((size_t)p->workers, sizeof *p->scratch);
    if (!p->scratch) return sl_fail_memory((size_t)p->workers, sizeof *p->scratch, "arenas");
    p->work = sl_arena_alloc(&d->arena, (size_t)p->room * sizeof *p->work);
    if (!p->work) return sl_fail_memory((size_t)p->room, sizeof *p->work, "candidates");
    return sl_discover__rows_make(&p->rows, &d->arena, problem, o);
}

static void pool_clear(sl_discover__pool *p) {
    for (int i = 0; i < p->workers && p->scratch; i++) sl_arena_clear(&p->scratch[i]);
    sl_free(p->scratch);
}

static sl_status discover(sl_discovery *d, sl_discover__pool *p, const sl_infer *model,
                          sl_pool *threads, const sl_problem *problem,
                          const sl_discover_options *o) {
    const int64_t samples = model || o->proposer ? sl_discover__budget_of(o).samples : 0;
    SL_TRY(pool_init(p, d, threads, problem, o, samples));
    if (o->baseline) SL_TRY(sl_discover__take_baselines(p));
    if (samples > 0 && !p->rows.constant)
        SL_TRY(o->proposer ? propose_all(p, samples) : sample_all(p, model, samples));
    SL_TRY(sl_discover__refine(p));
    p->control.best = NULL; // the list is about to move
    SL_TRY(list(d, p));
    d->rows_fit = p->rows.fit.rows;
    d->rows_held = p->rows.held.rows;
    d->fitted = p->rows.fitted;
    d->cut = (sl_cut)atomic_load(&p->control.cut);
    if (d->cut == SL_CUT_NONE && atomic_load(&p->control.short_of_samples)) d->cut = SL_CUT_TIME;
    d->seconds = sl_clock() - p->control.start;
    return SL_OK;
}

sl_status sl_discover_run(sl_discovery **out, const sl_infer *model, sl_pool *pool,
                          const sl_problem *problem, const sl_discover_options *o,
                          sl_discover_progress progress, void *payload) {
    SL_TRY(check(model, problem, o));
    sl_discovery *d = sl_calloc(1, sizeof *d);
    if (!d) return sl_fail_memory(1, sizeof *d, "a discovery");
    sl_discover__pool p = { .control = { .start = sl_clock(),
                                         .deadline = o->deadline,
                                         .progress = progress,
                                         .payload = payload,
                                         .what = "sampling" } };
    if (o->deadline > 0 && sl_discover__budget_of(o).refined > 0)
        p.control.half = (p.control.start + o->deadline) / 2;
    sl_status st = discover(d, &p, model, pool, problem, o);
    pool_clear(&p);
    if (st != SL_OK) {
        sl_discovery_free(d);
        return st;
    }
    *out = d;
    return SL_OK;
}

void sl_discovery_free(sl_discovery *d) {
    if (!d) return;
    sl_arena_clear(&d->arena);
    sl_free(d);
}
