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

/* Functions in e that `ops` does not name. Sums, products and powers are how expressions are held,
 * whatever operators they were written with, so those are not told apart. */
static bool has_other_function(const sl_node *e, uint32_t ops) {
    static const char *const names[] = {
#define X(id, name, operands, commutes) name,
        SL_NODES(X)
#undef X
    };
    const sl_node *end = e + e->len;
    for (const sl_node *at = e; at < end; at += sl_step(at)) {
        const sl_operator o = sl_operator_find(names[at->op], strlen(names[at->op]));
        if (o < SL_OPERATOR_COUNT && sl_operator_operands(o) == 1 && !(ops >> o & 1)) return true;
    }
    return false;
}

void sl_discover__exclude(sl_discover__pool *p) {
    const sl_search_options *o = &p->o->exhaustive;
    for (int64_t i = 0; i < p->count; i++) {
        sl_candidate *c = &p->work[i].c;
        if (c->state < SL_CANDIDATE_SCORED) continue;
        const bool large = o->max_size > 0 && c->size > o->max_size;
        if (large || has_other_function(c->expr, o->ops)) c->state = SL_CANDIDATE_EXCLUDED;
    }
}
