/* Walks: the tuples (first, second, choice) of a family whose ranks have a product in (low, high],
 * as a generator that stops when its caller's room is full and goes on from there.
 *
 * All three lists ascend in rank. So the outer loops end by a product that is too large, begin
 * where the largest of the inner ranks first suffices, and the first choice of a pair only moves
 * down while the second part moves up: a few nanoseconds a term, whatever the window. */
#include <math.h>

#include "search/store_impl.h"

#define NONE SIZE_MAX // not yet known

/* The first place in l whose rank times `factor` is above `low`. */
static size_t first_above(const sl_search__store_list *l, double factor, double low) {
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

bool sl_search__store_range_begin(sl_search__store_range *r, const sl_store *s,
                                  const sl_search__store_family *f, int level) {
    const int l = level + f->ahead;
    const sl_search__store_list *a = sl_search__store_list_of(s, f->first),
                                *b = sl_search__store_list_of(s, f->second);
    const sl_search__store_list *c = &s->list[f->choices];
    *r = (sl_search__store_range){ .store = s, .family = f };
    r->by_choice = s->units && (f->choices == SL_LIST_OF_ANY || f->choices == SL_LIST_PLAIN ||
                                f->choices == SL_LIST_PAIR || f->choices == SL_LIST_ALGEBRAIC);
    if (level < f->first_level || l < 0 || !sl_search__store_family_open(s, f)) return false;
    if (!a->count || !b->count || !c->count) return false;
    r->high = ldexp(1, l);
    r->low = level == f->first_level || l == 0 ? 0 : ldexp(1, l - 1);
    r->i = first_above(a, (double)b->rank[b->count - 1] * c->rank[c->count - 1], r->low);
    return true;
}

/* Places of the second list that go with place i of the first. */
static size_t second_begin(const sl_search__store_range *r, const sl_search__store_list *b,
                           const sl_search__store_list *c, double rank) {
    const size_t j = first_above(b, rank * c->rank[c->count - 1], r->low);
    return r->family->pairs == SL_PAIRS_UP ? SL_MAX(j, r->i + 1) : j;
}

static size_t second_end(const sl_search__store_range *r, const sl_search__store_list *b) {
    if (r->family->pairs == SL_PAIRS_DOWN) return SL_MIN(b->count, r->i);
    if (r->family->pairs == SL_PAIRS_DOWN_OR_SAME) return SL_MIN(b->count, r->i + 1);
    return b->count;
}

/* Of the binomial q1 + c q2: have q1 and q2 no variable in common? */
static bool is_coprime(const sl_store *s, sl_store_term t) {
    const sl_store_term p = sl_search__store_term(s, sl_search__term_a(t)),
                        q = sl_search__store_term(s, sl_search__term_b(t));
    const int8_t *a = s->exponents.row[sl_search__term_a(p)],
                 *b = s->exponents.row[sl_search__term_a(q)];
    for (int v = 0; v < s->variables; v++)
        if (a[v] && b[v]) return false;
    return true;
}

/* Is |c| >= 1? */
static bool is_whole(const sl_store *s, sl_store_term t) {
    return fabs(s->constant[sl_search__term_constant(t)]) >= 1;
}

/* Does the family take this first part? */
static bool first_fits(const sl_search__store_range *r, uint32_t part) {
    if (r->family->firsts == SL_FIRST_ANY) return true;
    const sl_store_term t = sl_search__store_term(r->store, part);
    const sl_store_form form = sl_search__term_form(t);
    if (r->family->firsts == SL_FIRST_COPRIME) return is_coprime(r->store, t);
    if (r->family->firsts == SL_FIRST_WHOLE) return is_whole(r->store, t);
    if (r->family->firsts == SL_FIRST_PRIMITIVE)
        return is_whole(r->store, t) && is_coprime(r->store, t);
    if (r->family->firsts == SL_FIRST_SUM) return form == SL_FORM_SUM || form == SL_FORM_ONE_SCALED;
    if (r->family->firsts == SL_FIRST_UNSCALED)
        return form == SL_FORM_SUM || form == SL_FORM_ONE_SCALED ||
               sl_search__term_constant(t) == 0;
    return form != SL_FORM_FUNCTION ||
           !sl_search__store_functions[sl_search__term_function(t)].power;
}

/* Does the family take this second part beside the first? */
static bool second_fits(const sl_search__store_range *r, uint32_t part) {
    const int pairs = r->family->pairs;
    if (pairs == SL_PAIRS_DISTINCT) return r->j != r->i;
    if (pairs < SL_PAIRS_PRIMITIVE) return true;
    const sl_store_term t = sl_search__store_term(r->store, part);
    return is_whole(r->store, t) && (pairs == SL_PAIRS_WHOLE || is_coprime(r->store, t));
}

static bool homogeneous(const sl_search__store_range *r, sl_store_term t) {
    sl_dimension d;
    return !r->store->units || sl_search__store_dimension(&d, r->store, t);
}

/* Terms of the pair (i, j) from choice k on. */
static int choices(sl_store_term *out, float *cost, int n, int room, sl_search__store_range *r,
                   const sl_search__store_list *c, double rank, float bits, sl_store_term pair) {
    for (; r->k < c->count && c->rank[r->k] * rank <= r->high && n < room; r->k++) {
        out[n] = pair | (sl_store_term)c->id[r->k] << 48;
        if (r->by_choice && !homogeneous(r, out[n])) continue;
        if (cost) cost[n] = bits + c->bits[r->k];
        n++;
    }
    return n;
}

/* The pair's terms, from k on where it was begun before. Pairs whose dimensions do not fit are
 * skipped; where that depends on the choice, terms are. */
static int next_of_pair(sl_store_term *out, float *cost, int n, int room, sl_search__store_range *r,
                        const sl_search__store_list *c, double rank, float bits,
                        sl_store_term pair) {
    if (!r->in_j) {
        if (r->k_begin == NONE) r->k_begin = first_above(c, rank, r->low);
        while (r->k_begin > 0 && c->rank[r->k_begin - 1] * rank > r->low) r->k_begin--;
        r->k = r->k_begin;
        r->in_j = true;
        if (!r->by_choice && !homogeneous(r, pair | (sl_store_term)c->id[0] << 48)) r->k = c->count;
    }
    return choices(out, cost, n, room, r, c, rank, bits, pair);
}

int sl_search__store_range_next(sl_store_term *out, float *cost, int room,
                                sl_search__store_range *r) {
    const sl_search__store_family *f = r->family;
    const sl_search__store_list *a = sl_search__store_list_of(r->store, f->first);
    const sl_search__store_list *b = sl_search__store_list_of(r->store, f->second);
    const sl_search__store_list *c = &r->store->list[f->choices];
    const double least = c->rank[0], least_pair = least * b->rank[0];
    const bool two = f->second < SL_LIST_PARTS;
    int n = 0;
    for (; r->i < a->count && a->rank[r->i] * least_pair <= r->high; r->i++, r->in_i = false) {
        const double rank = a->rank[r->i];
        if (!r->in_i && !first_fits(r, a->id[r->i])) continue;
        if (!r->in_i) r->j = second_begin(r, b, c, rank), r->k_begin = NONE, r->in_j = false;
        r->in_i = true;
        const size_t end = second_end(r, b);
        for (; r->j < end && b->rank[r->j] * rank * least <= r->high; r->j++, r->in_j = false) {
            if (!r->in_j && !second_fits(r, b->id[r->j])) continue;
            n = next_of_pair(out, cost, n, room, r, c, b->rank[r->j] * rank,
                             a->bits[r->i] + b->bits[r->j] - (float)f->ahead,
                             sl_search__term_make(f->exponent, (sl_store_form)f->form, 0,
                                                  a->id[r->i], two ? b->id[r->j] : 0));
            if (n == room) return n;
        }
    }
    return n;
}

/* ---------------------------------------------------------------- over families ------------- */

void sl_search__store_walk_begin(sl_store_walk *w, const sl_store *s, sl_side side, int level) {
    *w = (sl_store_walk){ .store = s, .side = side, .level = level };
}

/* The state of the family's range, kept in the caller's struct. */
static bool resume(sl_search__store_range *r, const sl_store_walk *w) {
    const sl_search__store_family *f = &sl_search__store_families[w->family];
    if (!sl_search__store_range_begin(r, w->store, f, w->level)) return false;
    if (!w->inside) return true;
    r->i = w->i, r->j = w->j, r->k = w->k, r->k_begin = w->k_begin;
    r->in_i = w->in_i, r->in_j = w->in_j;
    return true;
}

static void suspend(sl_store_walk *w, const sl_search__store_range *r) {
    w->i = r->i, w->j = r->j, w->k = r->k, w->k_begin = r->k_begin;
    w->in_i = r->in_i, w->in_j = r->in_j;
    w->inside = true;
}

/* Simple families come first in the table. */
int sl_search__store_walk_next(sl_store_term *out, float *cost, int room, sl_store_walk *w) {
    int n = 0;
    w->simple = 0;
    for (; w->family < sl_search__store_n_families; w->family++, w->inside = false) {
        sl_search__store_range r;
        if (sl_search__store_families[w->family].of != (int)w->side || !resume(&r, w)) continue;
        n += sl_search__store_range_next(out + n, cost ? cost + n : NULL, room - n, &r);
        if (sl_search__store_families[w->family].simple) w->simple = n;
        suspend(w, &r);
        if (n == room) return n;
    }
    return n;
}
