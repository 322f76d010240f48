/* spans_batch - a batch of terms, from values to hits.
 *
 * Two loops on all threads. The first goes over blocks of terms: values, logarithms, projections,
 * keys, and the look-up of targets that one term explains. The second goes over shards of tables:
 * each is filled by one thread, block after block, so that of two equal keys the earlier term is
 * kept, for any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum { DIMS = SL_SPANS__DIMS, BLOCK = SL_SPANS__BLOCK };

/* A projection this small beside the vector is rounding. */
static const double SEEN = 1e-17;
/* What is left of a projection beside a target's image is rounding below this part of it. */
static const double REST = 1e-14;

/* ---------------------------------------------------------------- exact checks -------------- */

/* Is q, of a vector of this size, parallel to the image up to rounding? */
static bool is_parallel(const sl_search__spans_image *image, const double *q, double size) {
    double nq = sqrt(sl_search__dot(q, q, DIMS)),
           ny = sqrt(sl_search__dot(image->q, image->q, DIMS));
    return sl_search__spans_sine(q, image->q, DIMS) <
           1e-11 + 1e-12 * (size / nq + image->size / ny);
}

/* Are q and the projection of `other` dependent beside the table's target, but not without it? */
static bool is_pair(const sl_spans *s, int span, const sl_search__spans_table *t, const double *q,
                    double size, sl_store_term other) {
    double value[SL_STORE_MAX_PROBES], p[DIMS], other_size, u[DIMS - 1], w[DIMS - 1];
    if (!sl_search__spans_value(value, s, other)) return false;
    sl_search__spans_project(p, &other_size, s, span, value);
    other_size = sqrt(other_size + (s->side == SL_SIDE_PRODUCT));
    double nq = sqrt(sl_search__dot(q, q, DIMS)), np = sqrt(sl_search__dot(p, p, DIMS));
    double rounding = 1e-12 * (size / nq + other_size / np),
           between = sl_search__spans_sine(q, p, DIMS);
    if (between < 1e3 * rounding || between < 1e-9) return false;
    for (int i = 0; i < DIMS - 1; i++) {
        u[i] = sl_search__dot(t->basis[i], q, DIMS);
        w[i] = sl_search__dot(t->basis[i], p, DIMS);
    }
    double nu = sqrt(sl_search__dot(u, u, DIMS - 1)), nw = sqrt(sl_search__dot(w, w, DIMS - 1));
    return sl_search__spans_sine(u, w, DIMS - 1) < 1e-12 + 3 * rounding * (nq / nu + np / nw);
}

static void take_q(double *q, const sl_search__spans_view *v, int place) {
    for (int d = 0; d < DIMS; d++) q[d] = v->q[d][place];
}

/* ---------------------------------------------------------------- blocks -------------------- */

/* Values of the block's terms, logarithms for products; a term without is all 0. */
static void block_values(double *value, const sl_spans *s, const sl_search__spans_block *b) {
    int stride = s->stride;
    bool exponent[BLOCK] = { false };
    for (int t = 0; t < b->n; t++) {
        double *v = value + (size_t)t * (size_t)stride;
        if (!sl_search__store_value_first(v, &exponent[t], s->store, b->term[t], stride)) {
            memset(v, 0, (size_t)stride * sizeof *v);
            exponent[t] = true;
            continue;
        }
        for (int k = s->probes; k < stride; k++) v[k] = s->side == SL_SIDE_PRODUCT && !exponent[t];
    }
    if (s->side == SL_SIDE_SUM) return;
    for (int t = 0, end; t < b->n; t = end) { // runs of terms that need a logarithm
        for (end = t; end < b->n && !exponent[end];) end++;
        double *v = value + (size_t)t * (size_t)stride;
        int n = (end - t) * stride;
        for (int k = 0; k < n; k++) v[k] = fabs(v[k]);
        if (n) sl_log_array(v, v, n);
        while (end < b->n && exponent[end]) end++;
    }
}

/* Which terms are finite and not inside the span. */
static void mark_seen(bool *seen, const sl_spans *s, sl_search__spans_view *v, int n) {
    double one = s->side == SL_SIDE_PRODUCT;
    for (int t = 0; t < n; t++) {
        seen[t] = v->norm[t] > SEEN * (v->size[t] + one) && v->size[t] < INFINITY;
        v->size[t] = sqrt(v->size[t] + one);
    }
}

static void one_term(sl_spans *s, sl_search__spans_hits *hits, const sl_search__spans_block *b,
                     int span, int place, int target, int first) {
    double q[DIMS];
    const sl_search__spans_view *v = &b->view[span];
    take_q(q, v, place);
    if (!is_parallel(&s->image[span][target], q, v->size[place])) return;
    sl_search__spans_hit hit = {
        .place = first + place, .span = (int16_t)span, .n = 1, .target = target
    };
    hit.term[0] = b->term[place];
    sl_search__spans_add_hit(hits, &hit);
}

/* Keys for one table, and the places of terms by shard. */
static void table_keys(sl_spans *s, sl_search__spans_block *b, int span, int t, const bool *seen,
                       sl_search__spans_hits *hits, int first) {
    sl_search__spans_view *v = &b->view[span];
    double rest[BLOCK];
    int count[SL_SPANS__SHARDS] = { 0 }, from[SL_SPANS__SHARDS], sum = 0;
    bool in[BLOCK];
    s->kernels->reduce(v->key[t], rest, v->q, (const double(*)[DIMS])s->table[span][t].basis);
    for (int i = 0; i < b->n; i++) {
        in[i] = seen[i] && rest[i] >= REST * v->norm[i];
        if (seen[i] && !in[i]) one_term(s, hits, b, span, i, t, first);
        in[i] = in[i] && sl_search__spans_table_may_hold(&s->table[span][t], v->key[t][i]);
        count[sl_search__spans_shard(v->key[t][i])] += in[i];
    }
    for (int h = 0; h < SL_SPANS__SHARDS; h++) {
        from[h] = sum;
        sum += count[h];
        v->shard_end[t][h] = (uint8_t)sum;
    }
    for (int i = 0; i < b->n; i++)
        if (in[i]) v->place[t][from[sl_search__spans_shard(v->key[t][i])]++] = (uint8_t)i;
}

static void view_block(sl_spans *s, sl_search__spans_block *b, int span, const double *value,
                       sl_search__spans_hits *hits, int first) {
    sl_search__spans_view *v = &b->view[span];
    bool seen[BLOCK];
    int lanes = (s->span[span].rows + SL_SPANS__LANES - 1) / SL_SPANS__LANES * SL_SPANS__LANES;
    s->kernels->project(v->q, v->size, s->span[span].normal, value, lanes, s->stride, b->n);
    for (int d = 0; d < DIMS; d++)
        for (int t = b->n; t < BLOCK; t++) v->q[d][t] = 0;
    s->kernels->direct(v->direction, v->norm, v->q);
    mark_seen(seen, s, v, b->n);
    memset(v->fresh, 0, sizeof v->fresh);
    for (int t = 0; t < b->n; t++) {
        int target = seen[t] ? sl_search__spans_look_up(s->directory[span], v->direction[t]) : -1;
        if (target >= 0) one_term(s, hits, b, span, t, target, first);
    }
    for (int t = 0; t < s->tables; t++)
        if (s->table[span][t].entry) table_keys(s, b, span, t, seen, hits, first);
}

static sl_status block_part(int64_t begin, int64_t end, int worker, void *payload) {
    sl_spans *s = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_search__spans_block *b = &s->block[i];
        s->block_hits[i].n = 0;
        if (sl_search__stop(s->job, worker == 0)) b->n = 0;
        block_values(s->scratch[worker], s, b);
        for (int span = 0; span < s->spans; span++)
            view_block(s, b, span, s->scratch[worker], &s->block_hits[i], (int)i * BLOCK);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- shards -------------------- */

/* A part of the second loop. */
typedef struct corner {
    int span, table, shard;
} corner;

static void meet_block(sl_spans *s, corner c, sl_search__spans_block *b,
                       sl_search__spans_hits *hits, int first) {
    sl_search__spans_table *t = &s->table[c.span][c.table];
    sl_search__spans_view *v = &b->view[c.span];
    const uint64_t *key = v->key[c.table];
    int from = c.shard ? v->shard_end[c.table][c.shard - 1] : 0,
        to = v->shard_end[c.table][c.shard];
    for (int k = from; k < to; k++)
        __builtin_prefetch(&t->entry[sl_search__spans_slot(t, key[v->place[c.table][k]])], 1);
    for (int k = from; k < to; k++) {
        int i = v->place[c.table][k];
        sl_search__spans_hit hit = {
            .place = first + i, .span = (int16_t)c.span, .n = 2, .target = c.table
        };
        int64_t other = 0;
        sl_search__spans_lookup lookup =
            sl_search__spans_table_put(&other, t, key[i], v->direction[i], s->terms + first + i);
        if (lookup == SL_SPANS__NEW && c.table == 0) v->fresh[i] = true;
        if (lookup != SL_SPANS__OTHER) continue;
        double q[DIMS];
        take_q(q, v, i);
        hit.term[0] = s->log[other];
        hit.term[1] = b->term[i];
        if (is_pair(s, c.span, t, q, v->size[i], hit.term[0])) sl_search__spans_add_hit(hits, &hit);
    }
}

static sl_status shard_part(int64_t begin, int64_t end, int worker, void *payload) {
    sl_spans *s = payload;
    for (int64_t p = begin; p < end; p++) {
        corner c = { (int)(p / SL_SPANS__SHARDS) / s->tables,
                     (int)(p / SL_SPANS__SHARDS) % s->tables, (int)(p % SL_SPANS__SHARDS) };
        s->shard_hits[p].n = 0;
        if (!s->table[c.span][c.table].entry || sl_search__stop(s->job, worker == 0)) continue;
        for (int i = 0; i * BLOCK < s->batch_terms; i++)
            meet_block(s, c, &s->block[i], &s->shard_hits[p], i * BLOCK);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

static int cmp_hit(const void *a, const void *b) {
    const sl_search__spans_hit *p = a, *q = b;
    if (p->place != q->place) return p->place < q->place ? -1 : 1;
    if (p->n != q->n) return p->n - q->n;
    if (p->span != q->span) return p->span - q->span;
    return (p->target > q->target) - (p->target < q->target);
}

static void gather_hits(sl_spans *s, int blocks, int shards) {
    s->hits.n = 0;
    for (int i = 0; i < blocks; i++)
        for (int k = 0; k < s->block_hits[i].n; k++)
            sl_search__spans_add_hit(&s->hits, &s->block_hits[i].list[k]);
    for (int i = 0; i < shards; i++)
        for (int k = 0; k < s->shard_hits[i].n; k++)
            sl_search__spans_add_hit(&s->hits, &s->shard_hits[i].list[k]);
    qsort(s->hits.list, (size_t)s->hits.n, sizeof *s->hits.list, cmp_hit);
}

/* Simple terms that are new modulo span and y, in order, for triples. */
static void gather_first(sl_spans *s, int blocks) {
    for (int span = 0; span < s->spans; span++) {
        for (int i = 0; i < blocks; i++) {
            const sl_search__spans_block *b = &s->block[i];
            for (int t = 0; t < b->n && s->n_first[span] < SL_SPANS__FIRST; t++) {
                if (!b->view[span].fresh[t] || i * BLOCK + t >= s->batch_simple) continue;
                sl_search__spans_first *f = &s->first[span][s->n_first[span]++];
                f->term = b->term[t];
                take_q(f->q, &b->view[span], t);
            }
        }
    }
}

/* Room for the batch's terms in the list of all; *enough false: max_memory, or the numbers that an
 * entry can hold, do not allow it. */
static sl_status log_room(bool *enough, sl_spans *s, int64_t need) {
    *enough = need <= s->log_room;
    if (*enough || need > SL_SPANS__MAX_TERMS) return SL_OK;
    int64_t room = SL_MAX(need, 2 * s->log_room);
    int64_t bytes = (room - s->log_room) * (int64_t)sizeof *s->log;
    if (!sl_search__reserve(s->job, bytes)) return SL_OK;
    sl_store_term *log = sl_realloc(s->log, (size_t)room, sizeof *log);
    if (!log) {
        sl_search__release(s->job, bytes);
        return sl_fail_memory((size_t)room, sizeof *log, "terms of a search");
    }
    s->log = log;
    s->log_room = room;
    *enough = true;
    return SL_OK;
}

/* The batch's terms get numbers. Without room for them they are looked up and not put in. */
static sl_status log_terms(sl_spans *s) {
    bool enough;
    SL_TRY(log_room(&enough, s, s->terms + s->batch_terms));
    for (int i = 0; i < s->spans && !enough; i++)
        for (int t = 0; t < s->tables; t++) s->table[i][t].full = true;
    for (int i = 0; i * BLOCK < s->batch_terms && enough; i++)
        memcpy(s->log + s->terms + i * BLOCK, s->block[i].term,
               (size_t)s->block[i].n * sizeof *s->log);
    return SL_OK;
}

sl_status sl_search__spans_batch(sl_spans *s) {
    SL_TRY(log_terms(s));
    int blocks = (s->batch_terms + BLOCK - 1) / BLOCK;
    int shards = s->spans * s->tables * SL_SPANS__SHARDS;
    SL_TRY(sl_search__spans_table_grow(s->table, s->spans, s->job, s->batch_terms));
    SL_TRY(sl_par_for(s->job->pool, blocks, 1, block_part, s));
    SL_TRY(sl_par_for(s->job->pool, shards, SL_SPANS__SHARDS / 4, shard_part, s));
    if (sl_search__stop(s->job, true)) return SL_OK;
    gather_hits(s, blocks, shards);
    gather_first(s, blocks);
    s->terms += s->batch_terms;
    atomic_fetch_add(&s->job->tried, s->batch_terms);
    for (int i = 0; i < s->hits.n; i++) SL_TRY(sl_search__spans_verify(s, &s->hits.list[i]));
    return SL_OK;
}
