/* fit - fits the constants of the best candidates, and rounds them when the fit does not worsen. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"

/* Candidates are fitted in waves of a fixed size, and no further wave begins once a formula is
 * perfect: so what is fitted does not depend on the number of threads. */
enum { WAVE = 8 };

/* ---------------------------------------------------------------- skeletons ----------------- */

/* Of the structure alone: numbers are ignored, except exponents. */
static uint64_t skeleton_hash(const sl_node *e, uint64_t seed) {
    if (e->op == SL_OP_NUM || e->op == SL_OP_PAR) return sl_hash("c", 1, seed);
    if (e->op == SL_OP_POW) {
        const sl_rat exponent = sl_expr_num_value(sl_expr_next(e + 1));
        seed = sl_hash(&exponent, sizeof exponent, seed);
        return skeleton_hash(e + 1, sl_hash("^", 1, seed));
    }
    seed = sl_hash(&e->op, sizeof e->op, seed);
    seed = sl_hash(&e->arg, sizeof e->arg, seed);
    const sl_node *c = e + 1;
    for (int i = 0; e->op != SL_OP_VAR && i < e->arg; i++, c = sl_expr_next(c))
        seed = skeleton_hash(c, seed);
    return seed;
}

/* Set of skeletons seen so far: at least twice as many places as skeletons, a power of two; 0:
 * empty. */
typedef struct met {
    uint64_t *hash;
    size_t mask;
} met;

static sl_status met_make(met *m, sl_arena *a, int64_t count) {
    size_t n = 16;
    while (n < 2 * (size_t)count) n *= 2;
    *m = (met){ .hash = sl_arena_alloc(a, n * sizeof *m->hash), .mask = n - 1 };
    if (!m->hash) return sl_fail_memory(n, sizeof *m->hash, "skeletons");
    memset(m->hash, 0, n * sizeof *m->hash);
    return SL_OK;
}

/* Returns whether it is the first of its kind. */
static bool is_new(met *m, const sl_node *e) {
    const uint64_t hash = skeleton_hash(e, 0) | 1;
    size_t s = (size_t)(hash >> 1) & m->mask;
    while (m->hash[s] != 0 && m->hash[s] != hash) s = (s + 1) & m->mask;
    const bool first = m->hash[s] == 0;
    m->hash[s] = hash;
    return first;
}

/* Leaves of pick[0..n) the first of each skeleton, at most `most`; returns how many. */
static int64_t thin(int64_t *pick, int64_t n, met *m, const sl_discover__pool *p, int64_t most) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n && kept < most; i++)
        if (is_new(m, p->work[pick[i]].c.expr)) pick[kept++] = pick[i];
    return kept;
}

/* Leaves of pick[0..n) those that the search has not fitted; the skeletons of the others count as
 * seen. */
static int64_t without_search(int64_t *pick, int64_t n, met *m, const sl_discover__pool *p) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (p->work[pick[i]].c.source == SL_SOURCE_SEARCH)
            is_new(m, p->work[pick[i]].c.expr);
        else
            pick[kept++] = pick[i];
    return kept;
}

/* For the first round: the best as proposed, then those that are not real yet. */
static int64_t choose(int64_t *pick, met *m, const sl_discover__pool *p, int64_t most) {
    int64_t n = sl_discover__order(pick, p->work, p->count, SL_RANK_SIMPLE);
    n = without_search(pick, n, m, p);
    for (int64_t i = 0; i < p->count; i++)
        if (p->work[i].c.state == SL_CANDIDATE_UNREAL) pick[n++] = i;
    return thin(pick, n, m, p, most);
}

/* For the second: the best by R2 and the best for their size, in turn. */
static sl_status choose_again(int64_t *pick, int64_t *n, met *m, sl_discover__pool *p,
                              int64_t most) {
    int64_t ranked = sl_discover__order(pick, p->work, p->count, SL_RANK_SIMPLE);
    ranked = without_search(pick, ranked, m, p);
    SL_TRY(sl_discover__mix(pick, ranked, p));
    *n = thin(pick, 2 * ranked, m, p, most);
    return SL_OK;
}

/* ---------------------------------------------------------------- one fit ------------------- */

typedef struct fitting {
    sl_discover__pool *p;
    const int64_t *pick;
    sl_discover__budget budget;
    int restarts; // of this round
    bool snap;    // in this round
    sl_fit fit[WAVE];
    int snapped[WAVE];
    bool steady[WAVE];
} fitting;

typedef struct cancel_check {
    sl_discover__control *control;
    bool report;
} cancel_check;

static bool cancel_requested(void *payload) {
    const cancel_check *a = payload;
    return sl_discover__stop(a->control, a->report);
}

static sl_status fit_some(int64_t begin, int64_t end, int worker, void *payload) {
    fitting *f = payload;
    sl_discover__pool *p = f->p;
    sl_arena *a = &p->scratch[worker];
    cancel_check own = { &p->control, worker == 0 };
    for (int64_t i = begin; i < end; i++) {
        const sl_discover__work *w = &p->work[f->pick[i]];
        const sl_refine_options o = { .evaluations = f->budget.evaluations,
                                      .restarts = f->restarts,
                                      .seed = p->o->seed,
                                      .stream = p->o->problem << 32 | (uint64_t)f->pick[i],
                                      .stop = cancel_requested,
                                      .payload = &own };
        f->fit[i] = (sl_fit){ 0 };
        f->snapped[i] = 0;
        f->steady[i] = false;
        if (sl_discover__stop(&p->control, own.report)) return SL_OK;
        SL_TRY(sl_fit_refine_wide(&f->fit[i], a, w->c.expr, w->start, &p->rows.fit, &o));
        if (isnan(f->fit[i].r2)) continue;
        if (f->snap) SL_TRY(sl_fit_snap(&f->fit[i], &f->snapped[i], a, &p->rows.fit, &o));
        SL_TRY(sl_fit_is_steady(&f->steady[i], a, &f->fit[i], &p->rows.fit));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- taking it ----------------- */

static bool is_simpler(const sl_candidate *c, const sl_fit *f) {
    return sl_expr_nodes(f->expr) > c->size || f->params > c->params;
}

/* A fit replaces the candidate if it explains more, or as much with fewer nodes; or if some of its
 * constants are exact: sl_fit_snap has checked that this is worth the loss. */
static bool is_gain(const sl_candidate *c, const sl_fit *f, int snapped) {
    if (!f->expr || isnan(f->r2)) return false;
    if (isnan(c->r2) || f->r2 > c->r2 + SL_DISCOVER__TIE) return true;
    if (snapped > 0 && f->params < c->params) return true;
    return f->r2 >= c->r2 - SL_DISCOVER__TIE &&
           (sl_expr_nodes(f->expr) < c->size || (c->params > 0 && f->params < c->params));
}

/* The candidate is kept together with a fit that is less simple, because constants fit noise too,
 * and with one that lost some R2 by rounding. */
static bool stays(const sl_candidate *c, const sl_fit *f) {
    return !isnan(c->r2) && (is_simpler(c, f) || f->r2 < c->r2 - SL_DISCOVER__TIE);
}

static sl_status take(sl_discover__pool *p, sl_discover__work *w, const sl_fit *f, int snapped) {
    sl_candidate *c = &w->c;
    if (stays(c, f)) {
        SL_ASSERT(p->count < p->room);
        p->work[p->count++] = *w;
    }
    const sl_node *e = sl_expr_copy(p->arena, f->expr);
    if (!e) return sl_fail_memory(1, sizeof *e, "candidates");
    SL_TRY(sl_discover__copy(&c->value, p->arena, f->value, f->params));
    SL_TRY(sl_discover__copy(&c->error, p->arena, f->error, f->params));
    c->expr = e;
    w->start = c->value;
    c->params = f->params;
    c->size = sl_expr_nodes(e);
    c->r2 = f->r2;
    c->state = snapped > 0 ? SL_CANDIDATE_SNAPPED : SL_CANDIDATE_REFINED;
    c->seconds = sl_clock() - p->control.start;
    if (!p->control.best || c->r2 > p->control.best->r2) p->control.best = c;
    return SL_OK;
}

static sl_status run_wave(fitting *f, int n) {
    sl_discover__pool *p = f->p;
    memset(f->fit, 0, sizeof f->fit);
    SL_TRY(sl_par_for(p->threads, n, 1, fit_some, f));
    for (int i = 0; i < n; i++) {
        sl_discover__work *w = &p->work[f->pick[i]];
        p->cost->evaluations += f->fit[i].evaluations;
        p->cost->refined += f->fit[i].expr != NULL && !f->snap; // the second round follows a first
        if (f->steady[i] && is_gain(&w->c, &f->fit[i], f->snapped[i]))
            SL_TRY(take(p, w, &f->fit[i], f->snapped[i]));
    }
    for (int i = 0; i < p->workers; i++) sl_arena_rewind(&p->scratch[i], 0);
    return SL_OK;
}

static bool is_perfect(const sl_candidate *c) { return c && c->r2 >= 1 - SL_DISCOVER__TIE; }

static sl_status run_waves(fitting *f, const int64_t *pick, int64_t n) {
    sl_discover__pool *p = f->p;
    for (int64_t i = 0; i < n; i += WAVE) {
        if (sl_discover__stop(&p->control, true)) break;
        f->pick = pick + i;
        SL_TRY(run_wave(f, (int)SL_MIN(WAVE, n - i)));
        p->control.done += (double)WAVE;
        if (is_perfect(p->control.best)) break;
    }
    return SL_OK;
}

/* Most fits end where their first start leads, and most do not matter for the result. So all get
 * one start, and the better quarter gets the others and has its constants rounded. */
sl_status sl_discover__refine(sl_discover__pool *p) {
    const double start = sl_clock();
    fitting f = { .p = p, .budget = sl_discover__budget_of(p->o) };
    met skeletons;
    SL_TRY(sl_discover__reserve(p, 2 * p->count)); // fits may stand beside proposals, twice
    const size_t n = 2 * (size_t)p->room; // each twice, with those that join the list meanwhile
    int64_t *pick = sl_arena_alloc(p->arena, n * sizeof *pick);
    if (!pick) return sl_fail_memory(n, sizeof *pick, "candidates");
    SL_TRY(met_make(&skeletons, p->arena, p->count));
    const int64_t picked = choose(pick, &skeletons, p, f.budget.refined), again = (picked + 7) / 8;
    p->control.what = "refining";
    p->control.done = 0;
    p->control.total = (double)(picked + again);
    const sl_candidate *best = p->control.best;
    if (!is_perfect(best) || best->params > 0) { // else there is nothing to gain
        f.restarts = -1;                         // the given start alone
        SL_TRY(run_waves(&f, pick, picked));
        f.restarts = f.budget.restarts;
        f.snap = true;
        SL_TRY(met_make(&skeletons, p->arena, p->count));
        int64_t best_again;
        SL_TRY(choose_again(pick, &best_again, &skeletons, p, again));
        SL_TRY(run_waves(&f, pick, best_again));
    }
    p->cost->refine += sl_clock() - start;
    return SL_OK;
}
