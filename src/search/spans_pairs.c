/* spans_pairs - two terms for targets that have no table of their own.
 *
 * Thousands of targets are looked up by direction, where one term has to be enough. For two, each
 * target gets a small table of the first simple terms: their projections modulo the target's image
 * are hashed, as in the large tables, and two with one key make a formula. That costs as many keys
 * as there are targets times terms. The table stays in the first cache. Targets are independent:
 * threads share nothing, and hits come in the order of targets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum { DIMS = SL_SPANS__DIMS, LEFT = DIMS - 1, BLOCK = SL_SPANS__BLOCK, GRAIN = 8, HITS_PART = 16 };

typedef struct pairs {
    sl_spans *s;
    int span, terms, from;       // the first target
    sl_search__spans_numbers *q; // of the terms, by blocks
    uint64_t mask;
    uint64_t **slot;             // by worker: key and number of a term; 0: free
    sl_search__spans_hits *hits; // by part of the loop
} pairs;

/* Are the two parallel modulo the target, and not without it? */
static bool is_pair(const sl_search__spans_first *f, const sl_search__spans_first *g,
                    const double basis[LEFT][DIMS]) {
    double u[LEFT], v[LEFT];
    for (int i = 0; i < LEFT; i++) {
        u[i] = sl_search__dot(basis[i], f->q, DIMS);
        v[i] = sl_search__dot(basis[i], g->q, DIMS);
    }
    return sl_search__spans_sine(u, v, LEFT) < 1e-9 &&
           sl_search__spans_sine(f->q, g->q, DIMS) > 1e-7;
}

/* The first term that has this key, or -1: then it is this one from now on. The slot's lowest bits
 * are the number of the term, from 1. */
static int meet(uint64_t *slot, uint64_t mask, uint64_t key, int number) {
    const uint64_t low = SL_SPANS__FIRST * 2 - 1;
    uint64_t at = key >> 20 & mask;
    for (; slot[at]; at = (at + 1) & mask)
        if (!((slot[at] ^ key) & ~low)) return (int)(slot[at] & low) - 1;
    slot[at] = (key & ~low) | (uint64_t)(number + 1);
    return -1;
}

static void one_target(const pairs *p, uint64_t *slot, sl_search__spans_hits *hits, int target) {
    const sl_spans *s = p->s;
    const sl_search__spans_first *first = s->first[p->span];
    double basis[LEFT][DIMS], rest[BLOCK];
    uint64_t key[BLOCK];
    sl_search__spans_find_basis(basis, s->image[p->span][target].q, DIMS);
    memset(slot, 0, (p->mask + 1) * sizeof *slot);
    for (int from = 0; from < p->terms; from += BLOCK) {
        s->kernels->reduce(key, rest, p->q[from / BLOCK], (const double(*)[DIMS])basis);
        for (int i = 0; i < BLOCK && from + i < p->terms; i++) {
            const sl_search__spans_first *f = &first[from + i];
            if (!(rest[i] > 1e-14 * sl_search__dot(f->q, f->q, DIMS))) continue; // this term alone
            int other = meet(slot, p->mask, key[i], from + i);
            if (other < 0 || !is_pair(f, &first[other], (const double(*)[DIMS])basis)) continue;
            sl_search__spans_hit hit = { .span = (int16_t)p->span, .n = 2, .target = target };
            hit.term[0] = first[other].term;
            hit.term[1] = f->term;
            sl_search__spans_add_hit(hits, &hit);
        }
    }
}

static sl_status pairs_part(int64_t begin, int64_t end, int worker, void *payload) {
    pairs *p = payload;
    sl_search__spans_hits *hits = &p->hits[begin / GRAIN];
    hits->n = 0;
    if (sl_search__stop(p->s->job, worker == 0)) return SL_OK;
    for (int64_t i = begin; i < end; i++) {
        int target = p->from + (int)i;
        if (sl_search__spans_is_seen(&p->s->image[p->span][target]))
            one_target(p, p->slot[worker], hits, target);
    }
    return SL_OK;
}

static void fill_blocks(pairs *p) {
    const sl_search__spans_first *first = p->s->first[p->span];
    for (int i = 0; i < p->terms; i++)
        for (int d = 0; d < DIMS; d++) p->q[i / BLOCK][d][i % BLOCK] = first[i].q[d];
}

static sl_status one_span(pairs *p, int targets) {
    sl_spans *s = p->s;
    fill_blocks(p);
    SL_TRY(sl_par_for(s->job->pool, targets, GRAIN, pairs_part, p));
    if (sl_search__stop(s->job, true)) return SL_OK;
    atomic_fetch_add(&s->job->tried, (int64_t)targets * p->terms);
    for (int i = 0; i * GRAIN < targets && !s->found; i++)
        for (int k = 0; k < p->hits[i].n && !s->found; k++)
            SL_TRY(sl_search__spans_verify(s, &p->hits[i].list[k]));
    return SL_OK;
}

static sl_status open_pairs(pairs *p, sl_arena *a, int targets, int terms) {
    size_t parts = (size_t)(targets / GRAIN) + 1, slots = (size_t)p->mask + 1;
    size_t blocks = (size_t)(terms + BLOCK - 1) / BLOCK;
    p->q = sl_arena_alloc(a, blocks * sizeof *p->q);
    p->slot = sl_arena_alloc(a, (size_t)p->s->workers * sizeof *p->slot);
    p->hits = sl_arena_alloc(a, parts * sizeof *p->hits);
    sl_search__spans_hit *list = sl_arena_alloc(a, parts * HITS_PART * sizeof *list);
    if (!p->q || !p->slot || !p->hits || !list)
        return sl_fail_memory(parts, HITS_PART * sizeof *list, "pairs of terms");
    memset(p->q, 0, blocks * sizeof *p->q);
    for (size_t i = 0; i < parts; i++)
        p->hits[i] = (sl_search__spans_hits){ list + i * HITS_PART, 0, HITS_PART };
    for (int i = 0; i < p->s->workers; i++) {
        p->slot[i] = sl_arena_alloc(a, slots * sizeof **p->slot);
        if (!p->slot[i]) return sl_fail_memory(slots, sizeof **p->slot, "pairs of terms");
    }
    return SL_OK;
}

sl_status sl_search__spans_pairs(sl_spans *s, int targets, int terms) {
    sl_status st = SL_OK;
    size_t mark = sl_arena_mark(&s->arena);
    pairs p = { .s = s, .mask = 15, .from = s->tables };
    targets = SL_MIN(targets, s->targets - s->tables);
    while (p.mask + 1 < 2 * (uint64_t)terms) p.mask = 2 * p.mask + 1;
    if (targets <= 0) return SL_OK;
    SL_GO(open_pairs(&p, &s->arena, targets, terms));
    for (p.span = 0; p.span < s->spans; p.span++) {
        p.terms = SL_MIN(terms, s->n_first[p.span]);
        if (s->span[p.span].left < DIMS) continue;
        if (s->found || sl_search__stop(s->job, true)) break;
        SL_GO(one_span(&p, targets));
    }
done:
    sl_arena_rewind(&s->arena, mark);
    return st;
}
