/* Walks: the tuples (first, second, choice) of a family whose ranks have a product in (low, high],
 * as a generator that stops when its caller's room is full and goes on from there.
 *
 * All three lists ascend in rank. So the outer loops end by a product that is too large, begin where
 * the largest of the inner ranks first suffices, and the first choice of a pair only moves down
 * while the second part moves up: a few nanoseconds a term, whatever the window. */
#include <math.h>

#include "search/store_impl.h"

/* The first place in l whose rank times `factor` is above `low`. */
static size_t first_above(const sl_store__list *l, double factor, double low) {
    size_t begin = 0, end = l->count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if ((double)l->rank[middle] * factor > low)
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

bool sl_store__range_begin(sl_store__range *r, const sl_store *s, const sl_store__family *f,
                           int level) {
    const int l = level + f->ahead;
    const sl_store__list *a = &s->list[f->first], *b = &s->list[f->second], *c = &s->list[f->choices];
    *r = (sl_store__range){ .store = s, .family = f };
    if (level < f->first_level || l < 0 || !sl_store__family_open(s, f)) return false;
    if (!a->count || !b->count || !c->count) return false;
    r->high = ldexp(1, l);
    r->low = level == f->first_level || l == 0 ? 0 : ldexp(1, l - 1);
    r->i = first_above(a, (double)b->rank[b->count - 1] * c->rank[c->count - 1], r->low);
    return true;
}

/* Places of the second list that go with place i of the first. */
static size_t second_begin(const sl_store__range *r, const sl_store__list *b,
                           const sl_store__list *c, double rank) {
    const size_t j = first_above(b, rank * c->rank[c->count - 1], r->low);
    return r->family->pairs == SL_PAIRS_UP ? SL_MAX(j, r->i + 1) : j;
}

static size_t second_end(const sl_store__range *r, const sl_store__list *b) {
    if (r->family->pairs == SL_PAIRS_DOWN) return SL_MIN(b->count, r->i);
    if (r->family->pairs == SL_PAIRS_DOWN_OR_SAME) return SL_MIN(b->count, r->i + 1);
    return b->count;
}

/* Terms of the pair (i, j) from choice k on. */
static int choices(sl_term *out, float *cost, int n, int room, sl_store__range *r,
                   const sl_store__list *c, double rank, float bits, sl_term pair) {
    for (; r->k < c->count && c->rank[r->k] * rank <= r->high && n < room; r->k++, n++) {
        out[n] = pair | (sl_term)c->id[r->k] << 48;
        if (cost) cost[n] = bits + c->bits[r->k];
    }
    return n;
}

int sl_store__range_next(sl_term *out, float *cost, int room, sl_store__range *r) {
    const sl_store__family *f = r->family;
    const sl_store__list *lists = r->store->list;
    const sl_store__list *a = &lists[f->first], *b = &lists[f->second], *c = &lists[f->choices];
    const double least = c->rank[0], least_pair = least * b->rank[0];
    const bool two = f->second < SL_LIST_PARTS;
    int n = 0;
    for (; r->i < a->count && a->rank[r->i] * least_pair <= r->high; r->i++, r->in_i = false) {
        const double rank = a->rank[r->i];
        const float bits = a->bits[r->i] - (float)f->ahead;
        if (!r->in_i) r->j = second_begin(r, b, c, rank), r->k_begin = c->count, r->in_j = false;
        r->in_i = true;
        const size_t end = second_end(r, b);
        for (; r->j < end && b->rank[r->j] * rank * least <= r->high; r->j++, r->in_j = false) {
            if (f->pairs == SL_PAIRS_DISTINCT && r->j == r->i) continue;
            const double pair = b->rank[r->j] * rank;
            if (!r->in_j) {
                while (r->k_begin > 0 && c->rank[r->k_begin - 1] * pair > r->low) r->k_begin--;
                r->k = r->k_begin;
                r->in_j = true;
            }
            n = choices(out, cost, n, room, r, c, pair, bits + b->bits[r->j],
                        sl_term__make(f->exponent, (sl_form)f->form, 0, a->id[r->i],
                                      two ? b->id[r->j] : 0));
            if (n == room) return n;
        }
    }
    return n;
}

/* ---------------------------------------------------------------- over families ------------- */

void sl_store_walk_begin(sl_store_walk *w, const sl_store *s, sl_side side, int level) {
    *w = (sl_store_walk){ .store = s, .side = side, .level = level };
}

/* The state of the family's range, kept in the caller's struct. */
static bool resume(sl_store__range *r, const sl_store_walk *w) {
    const sl_store__family *f = &sl_store__families[w->family];
    if (!sl_store__range_begin(r, w->store, f, w->level)) return false;
    if (!w->inside) return true;
    r->i = w->i, r->j = w->j, r->k = w->k, r->k_begin = w->k_begin;
    r->in_i = w->in_i, r->in_j = w->in_j;
    return true;
}

static void suspend(sl_store_walk *w, const sl_store__range *r) {
    w->i = r->i, w->j = r->j, w->k = r->k, w->k_begin = r->k_begin;
    w->in_i = r->in_i, w->in_j = r->in_j;
    w->inside = true;
}

/* Simple families come first in the table. */
int sl_store_walk_next(sl_term *out, float *cost, int room, sl_store_walk *w) {
    int n = 0;
    w->simple = 0;
    for (; w->family < sl_store__n_families; w->family++, w->inside = false) {
        sl_store__range r;
        if (sl_store__families[w->family].of != (int)w->side || !resume(&r, w)) continue;
        n += sl_store__range_next(out + n, cost ? cost + n : NULL, room - n, &r);
        if (sl_store__families[w->family].simple) w->simple = n;
        suspend(w, &r);
        if (n == room) return n;
    }
    return n;
}
