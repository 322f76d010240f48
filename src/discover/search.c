/* search - formulas of the search as candidates.
 *
 * The search works on the rows that are fitted and reports progress like sampling. Its second pass
 * gets samples of the model as hints: whole formulas, of which the search takes parts as terms of
 * low cost. It runs only the steps that use hints. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"

enum { HINTS_MAX = 64 };

/* ---------------------------------------------------------------- progress ------------------ */

/* "search, products, level 3" with the best formula of the search, where that is better. */
static int on_progress(const sl_search_progress *progress, void *payload) {
    sl_discover__pool *p = payload;
    sl_discover__control *c = &p->control;
    sl_candidate found = { 0 };
    const sl_candidate *before = c->best;
    char what[64];
    sl_snprintf(what, sizeof what, "search, %.24s, level %d", progress->what, progress->level);
    if (progress->best) {
        const sl_fit *f = &progress->best->fit;
        found = (sl_candidate){ .state = SL_CANDIDATE_REFINED,
                                .source = SL_SOURCE_SEARCH,
                                .method = progress->best->method,
                                .level = progress->best->level,
                                .expr = f->expr,
                                .params = f->params,
                                .value = f->value,
                                .error = f->error,
                                .r2 = f->r2 };
        if (!before || found.r2 >= before->r2) c->best = &found;
    }
    c->what = what;
    c->done = progress->step;
    c->total = SL_MAX(progress->steps, 1);
    if (progress->n_found != p->found)
        sl_discover__report_front(p, progress->found, progress->n_found);
    p->found = progress->n_found;
    const bool stop = sl_discover__stop(c, true);
    c->best = before;
    c->what = "search";
    return stop;
}

/* ---------------------------------------------------------------- hints --------------------- */

/* hints[0..) := the best samples by R2, unmodified; returns how many. */
static sl_status find_hints(const sl_node **hints, int *n, sl_discover__pool *p) {
    const size_t mark = sl_arena_mark(&p->scratch[0]);
    int64_t *place = sl_arena_alloc(&p->scratch[0], (size_t)p->count * sizeof *place);
    if (!place) return sl_fail_memory((size_t)p->count, sizeof *place, "candidates");
    const int64_t ranked = sl_discover__order(place, p->work, p->count, SL_RANK_SIMPLE);
    *n = 0;
    for (int64_t i = 0; i < ranked && *n < HINTS_MAX; i++) {
        const sl_discover__work *w = &p->work[place[i]];
        // a form over inputs of mean 0 and variance 1 says nothing about the inputs themselves
        if (w->c.source == SL_SOURCE_MODEL && !w->unit && w->form && sl_expr_max_par(w->form) == 0)
            hints[(*n)++] = w->form;
    }
    sl_arena_rewind(&p->scratch[0], mark);
    return SL_OK;
}

/* ---------------------------------------------------------------- one pass ------------------ */

/* The second pass has only the steps that use hints: notes of the first pass stay. */
static void add_up(sl_discover_searched *s, const sl_search_result *r, int hints) {
    const bool was_short = s->passes > 0 && s->memory_short.steps > 0;
    s->passes++;
    s->end = was_short && r->end == SL_SEARCH_DONE ? SL_SEARCH_MEMORY : r->end;
    if (!was_short) s->memory_short = r->memory_short;
    s->sigma = r->sigma;
    s->relative = r->relative;
    s->within_noise = r->within_noise;
    s->tried += r->tried;
    s->verified += r->verified;
    s->memory = SL_MAX(s->memory, r->memory);
    s->steps += r->steps;
    s->hints = hints;
    if (r->too_large > 0) s->too_large = r->too_large;
}

/* Of the whole discovery: a search that used up its share of the time is not cut yet. */
static void take_cut(sl_discover__pool *p, const sl_search_result *r) {
    int none = SL_CUT_NONE;
    if (r->end == SL_SEARCH_CANCEL)
        atomic_compare_exchange_strong(&p->control.cut, &none, SL_CUT_CANCEL);
    if (r->end == SL_SEARCH_TIME) atomic_store(&p->control.short_of_samples, true);
}

sl_status sl_discover__search(sl_discover__pool *p, sl_discover_searched *s, double deadline,
                              bool hints) {
    const double start = sl_clock();
    sl_search_grammar small = SL_SEARCH_GRAMMAR_INIT; // whole constants in every node
    const sl_node *hint[HINTS_MAX];
    sl_search_options o = p->o->exhaustive;
    small.ops &= o.ops; // an exact formula that is not allowed would end the search
    if (!o.grammar && p->rows.fit.inputs <= small.variables) o.grammar = &small;
    o.effort = p->o->effort;
    o.deadline = deadline;
    o.progress = on_progress;
    o.payload = p;
    p->found = 0;
    o.hints = NULL;
    o.n_hints = 0;
    if (hints) {
        SL_TRY(find_hints(hint, &o.n_hints, p));
        if (o.n_hints == 0) return SL_OK;
        o.hints = hint;
    }
    p->control.what = "search";
    sl_search_result *r = NULL;
    SL_TRY(sl_search_run(&r, p->threads, &p->rows.fit, &o));
    const int64_t first = p->count;
    const sl_status st = sl_discover__take_formulas(p, r->formula, r->count);
    sl_discover__find_best(p, first);
    add_up(s, r, o.n_hints);
    p->tried = s->tried;
    take_cut(p, r);
    sl_search_result_free(r);
    p->cost->search += sl_clock() - start;
    return st;
}
