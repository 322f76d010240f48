/* pool - room for candidates, and which of them the options allow. */
#include <string.h>

#include "discover/discover_impl.h"

enum { FIRST_ROOM = 64 };

/* The best so far, as progress shows it, lies among the candidates that move. */
sl_status sl_discover__reserve(sl_discover__pool *p, int64_t more) {
    if (p->count + more <= p->room) return SL_OK;
    const int64_t room = SL_MAX(SL_MAX(2 * p->room, FIRST_ROOM), p->count + more);
    sl_discover__work *work = sl_arena_alloc(p->arena, (size_t)room * sizeof *work);
    if (!work) return sl_fail_memory((size_t)room, sizeof *work, "candidates");
    if (p->count > 0) memcpy(work, p->work, (size_t)p->count * sizeof *work);
    for (int64_t i = 0; i < p->count; i++)
        if (p->control.best == &p->work[i].c) {
            p->control.best = &work[i].c;
            break;
        }
    p->work = work;
    p->room = room;
    return SL_OK;
}

void sl_discover__find_best(sl_discover__pool *p, int64_t first) {
    for (int64_t i = first; i < p->count; i++) {
        const sl_candidate *c = &p->work[i].c, *best = p->control.best;
        if (c->state >= SL_CANDIDATE_SCORED && (!best || c->r2 > best->r2)) p->control.best = c;
    }
}

/* ---------------------------------------------------------------- what is allowed ----------- */

/* Do the units of e agree, as far as they are known? Where they do not, they may if exact numbers
 * have units too: 10 in m v^2/2 + 10 m h was a constant until it was snapped. */
static sl_status try_units(bool *out, sl_arena *scratch, const sl_node *e, const sl_units *units) {
    double value[SL_FIT_MAX_PARAMS] = { 0 };
    sl_fit_dimensions d;
    const sl_node *free;
    int n;
    SL_TRY(sl_fit_units(&d, scratch, e, units));
    *out = d.homogeneous;
    if (*out) return SL_OK;
    const sl_status st = sl_expr_free_numbers(&free, value, &n, SL_FIT_MAX_PARAMS, scratch, e);
    if (st == SL_ELIMIT) return SL_OK;
    SL_TRY(st);
    SL_TRY(sl_fit_units(&d, scratch, free, units));
    *out = d.homogeneous;
    return SL_OK;
}

static sl_status is_homogeneous(bool *out, sl_discover__pool *p, const sl_candidate *c) {
    sl_arena *scratch = &p->scratch[0];
    const size_t mark = sl_arena_mark(scratch);
    sl_status st = SL_OK;
    *out = true;
    if (p->o->exhaustive.units && c->params <= SL_FIT_MAX_PARAMS)
        st = try_units(out, scratch, c->expr, p->o->exhaustive.units);
    sl_arena_rewind(scratch, mark);
    return st;
}

sl_status sl_discover__exclude(sl_discover__pool *p) {
    const sl_search_options *o = &p->o->exhaustive;
    for (int64_t i = 0; i < p->count; i++) {
        sl_candidate *c = &p->work[i].c;
        if (c->state < SL_CANDIDATE_SCORED) continue;
        const bool large = o->max_size > 0 && c->size > o->max_size;
        bool homogeneous;
        SL_TRY(is_homogeneous(&homogeneous, p, c));
        if (large || !homogeneous || !sl_search_allows(c->expr, o->ops))
            c->state = SL_CANDIDATE_EXCLUDED;
    }
    return SL_OK;
}
