/* rank - the ranked list: bits, order, duplicates after fitting, the front. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "discover/discover_impl.h"

/* ---------------------------------------------------------------- description length -------- */

typedef struct describing {
    sl_discover__pool *p;
    const int64_t *place;
    double tried; // formulas in all
} describing;

sl_fit sl_discover__fit_of(const sl_candidate *c) {
    return (sl_fit){ .expr = c->expr,
                     .params = c->params,
                     .value = (double *)c->value,
                     .error = (double *)c->error,
                     .r2 = c->r2 };
}

static sl_status measure_error(double *rms, sl_arena *scratch, const sl_candidate *c,
                               const sl_dataset *p) {
    const size_t mark = sl_arena_mark(scratch), n = (size_t)p->rows;
    double *y = sl_arena_alloc(scratch, n * sizeof *y), largest = 0, squares = 0;
    if (!y) return sl_fail_memory(n, sizeof *y, "values");
    SL_TRY(sl_discover_candidate_eval(y, scratch, c, p));
    for (int64_t i = 0; i < p->rows; i++) largest = fmax(largest, fabs(y[i] - p->y[i]));
    for (int64_t i = 0; i < p->rows && largest > 0; i++) { // in that unit squares do not overflow
        const double rest = (y[i] - p->y[i]) / largest;
        squares += rest * rest;
    }
    *rms = largest * sqrt(squares / (double)p->rows);
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

static sl_status describe_some(int64_t begin, int64_t end, int worker, void *payload) {
    const describing *d = payload;
    sl_discover__pool *p = d->p;
    for (int64_t i = begin; i < end; i++) {
        sl_candidate *c = &p->work[d->place[i]].c;
        SL_TRY(measure_error(&c->rms, &p->scratch[worker], c, &p->rows.fit));
        const sl_fit f = sl_discover__fit_of(c);
        SL_TRY(sl_fit_describe(&c->bits, &f, &p->rows.fit, &p->noise));
        if (isnan(c->evidence))
            SL_TRY(sl_fit_evidence(&c->evidence, &c->bits, &p->rows.fit, &p->noise, d->tried));
    }
    return SL_OK;
}

/* Description lengths, by p->noise, and errors of those that place[0..n) names, on all threads. */
static sl_status describe_all(sl_discover__pool *p, const int64_t *place, int64_t n) {
    describing d = { p, place, (double)(p->tried + p->count) };
    return sl_par_for(p->threads, n, 4, describe_some, &d);
}

/* ---------------------------------------------------------------- order --------------------- */

/* qsort's own payload: what is sorted are places, in a thread of its own each time. */
static _Thread_local const sl_discover__work *sorted;

static int by_bits(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    const sl_candidate *x = &sorted[i].c, *y = &sorted[k].c;
    if (x->bits.total != y->bits.total) return x->bits.total < y->bits.total ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    if (x->log_prob != y->log_prob) return x->log_prob > y->log_prob ? -1 : 1;
    return i < k ? -1 : i > k;
}

void sl_discover__order_bits(int64_t *place, const sl_discover__work *work, int64_t n) {
    sorted = work;
    qsort(place, (size_t)n, sizeof *place, by_bits);
}

/* ---------------------------------------------------------------- the front ----------------- */

/* qsort's payload again. */
static _Thread_local const sl_candidate *listed;

static int by_size(const void *a, const void *b) {
    const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    const sl_candidate *x = &listed[i], *y = &listed[k];
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    if (x->r2 != y->r2) return x->r2 > y->r2 ? -1 : 1;
    return i < k ? -1 : i > k;
}

/* From the smallest: one that explains more than all before it is on the front. R2 that differ by
 * rounding are equal. */
static sl_status mark_front(sl_discovery *d) {
    int64_t *place = sl_arena_alloc(&d->arena, (size_t)d->ranked * sizeof *place);
    if (!place) return sl_fail_memory((size_t)d->ranked, sizeof *place, "candidates");
    for (int64_t i = 0; i < d->ranked; i++) place[i] = i;
    listed = d->candidate;
    qsort(place, (size_t)d->ranked, sizeof *place, by_size);
    double best = -INFINITY;
    for (int64_t i = 0; i < d->ranked; i++) {
        sl_candidate *c = &d->candidate[place[i]];
        c->front = c->r2 > best + SL_DISCOVER__TIE;
        if (c->front) best = c->r2;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the list ------------------ */

static sl_status score_held(sl_discover__pool *p, const int64_t *place, int64_t n) {
    for (int64_t i = 0; i < n && p->rows.held.rows > 0; i++) {
        sl_candidate *c = &p->work[place[i]].c;
        SL_TRY(
            sl_discover__score(&c->r2_holdout, &p->scratch[0], c->expr, c->value, &p->rows.held));
    }
    return SL_OK;
}

/* place[0..*n) := the ranked ones, each formula once, in their order. */
static sl_status rank_all(int64_t *place, int64_t *n, sl_discover__pool *p) {
    const bool bits = p->o->rank == SL_RANK_BITS;
    *n = sl_discover__order(place, p->work, p->count, bits ? SL_RANK_SIMPLE : p->o->rank);
    SL_TRY(sl_discover__merge(p, place, n));
    if (!bits) return SL_OK;
    SL_TRY(describe_all(p, place, *n));
    sl_discover__order_bits(place, p->work, *n);
    return SL_OK;
}

/* The ranked ones first, then the others in the order they came. */
sl_status sl_discover__list(sl_discovery *d, sl_discover__pool *p) {
    const size_t count = (size_t)p->count;
    int64_t *place = sl_arena_alloc(&d->arena, count * sizeof *place);
    int64_t *rank = sl_arena_alloc(&d->arena, count * sizeof *rank);
    d->candidate = sl_arena_alloc(&d->arena, count * sizeof *d->candidate);
    if (!place || !rank || !d->candidate)
        return sl_fail_memory(count, sizeof *d->candidate, "candidates");
    int64_t n;
    SL_TRY(rank_all(place, &n, p));
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
        int64_t first = c->same_as; // it may have become a duplicate since
        while (p->work[first].c.state == SL_CANDIDATE_DUPLICATE) first = p->work[first].c.same_as;
        c->same_as = rank[first];
    }
    return mark_front(d);
}
