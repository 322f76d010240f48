/* spans_three - three terms.
 *
 * Two terms have one key because one dimension, the target's, is projected out. For triples a
 * second one is: for each f of the first terms, all g before it are hashed modulo target and f, and
 * two with one key make a formula with f. So triples cost the square of the number of terms, not
 * its cube. The tables are small and stay in the caches. Each f is independent: threads share
 * nothing, and hits are sorted by their terms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "par/par.h"
#include "search/spans_impl.h"

enum { DIMS = SL_SPANS__DIMS, LEFT = DIMS - 1, REST = DIMS - 2, HITS_PART = 32, GRAIN = 16 };

/* A slot of the table of one f; stamped, so that it need not be cleared for the next. */
typedef struct slot {
    uint32_t stamp;
    int term;
    uint64_t key;
} slot;

typedef struct workspace { // of one worker
    slot *slot;
    uint32_t stamp;
} workspace;

typedef struct triples {
    sl_spans *s;
    int span, target, n;
    double *unit; // [n][LEFT]: the terms modulo the target, of length 1; 0 where they are parallel
                  // to it
    uint64_t mask;
    workspace *workspace;
    sl_search__spans_hits *hits; // by part of the loop
} triples;

/* w := the reflection of r that takes f to the first axis, without that axis; u: its vector,
 * 2/|u|^2 its factor. */
static double reflect(double *w, const double *r, const double *u, double factor) {
    double c = sl_search__dot(u, r, LEFT) * factor, norm = 0;
    for (int i = 0; i < REST; i++) {
        w[i] = r[i + 1] - c * u[i + 1];
        norm += w[i] * w[i];
    }
    return norm;
}

static uint64_t key_of(const double *w, double norm) {
    const double whole = 0x1.8p52, side = w[0] * 0.4363 + w[1] * 0.7411 + w[2] * 0.3127;
    const double factor = copysign(0x1p20 / sqrt(norm), side);
    uint64_t part[REST], h = 0;
    for (int i = 0; i < REST; i++) {
        double x = w[i] * factor + whole;
        memcpy(&part[i], &x, sizeof x);
        h = (h + part[i]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    return h;
}

/* Are the projections of the three independent? If not, they are dependent without y. */
static bool are_independent(const double *a, const double *b, const double *c) {
    double u[DIMS], v[DIMS], w[DIMS];
    double na = sqrt(sl_search__dot(a, a, DIMS)), nc = sqrt(sl_search__dot(c, c, DIMS));
    for (int d = 0; d < DIMS; d++) u[d] = a[d] / na;
    double along = sl_search__dot(u, b, DIMS);
    for (int d = 0; d < DIMS; d++) v[d] = b[d] - along * u[d];
    double nv = sqrt(sl_search__dot(v, v, DIMS));
    for (int d = 0; d < DIMS; d++) v[d] /= nv;
    double cu = sl_search__dot(u, c, DIMS), cv = sl_search__dot(v, c, DIMS);
    for (int d = 0; d < DIMS; d++) w[d] = (c[d] - cu * u[d] - cv * v[d]) / nc;
    return sqrt(sl_search__dot(w, w, DIMS)) > 1e-7;
}

/* g and e have the same key modulo f: are they parallel there, and not without f? */
static bool is_triple(const triples *t, int f, int g, int e, const double *w, double norm,
                      const double *u, double factor) {
    const double *rg = t->unit + g * LEFT, *re = t->unit + e * LEFT;
    const sl_search__spans_first *first = t->s->first[t->span];
    double v[REST], difference = 0;
    if (fabs(sl_search__dot(rg, re, LEFT)) > 1 - 1e-9) return false; // a pair without f
    double other = reflect(v, re, u, factor), along = sl_search__dot(v, w, REST) / other;
    for (int i = 0; i < REST; i++) {
        double z = (w[i] - along * v[i]) / sqrt(norm);
        difference += z * z;
    }
    return sqrt(difference) < 1e-9 && are_independent(first[e].q, first[g].q, first[f].q);
}

static void one_f(const triples *t, workspace *d, sl_search__spans_hits *hits, int f) {
    const double *rf = t->unit + f * LEFT;
    const sl_search__spans_first *first = t->s->first[t->span];
    double u[LEFT];
    if (sl_search__dot(rf, rf, LEFT) == 0) return;
    memcpy(u, rf, sizeof u);
    u[0] += rf[0] < 0 ? -1 : 1;
    double factor = 2 / sl_search__dot(u, u, LEFT);
    d->stamp++;
    for (int g = 0; g < f; g++) {
        double w[REST], norm = reflect(w, t->unit + g * LEFT, u, factor);
        if (norm < 1e-12) continue;
        uint64_t key = key_of(w, norm), at = key >> 20 & t->mask;
        while (d->slot[at].stamp == d->stamp && d->slot[at].key != key) at = (at + 1) & t->mask;
        if (d->slot[at].stamp != d->stamp) {
            d->slot[at] = (slot){ d->stamp, g, key };
        } else if (is_triple(t, f, g, d->slot[at].term, w, norm, u, factor)) {
            sl_search__spans_hit hit = { .place = f,
                                         .span = (int16_t)t->span,
                                         .n = 3,
                                         .target = t->target,
                                         .term = { first[d->slot[at].term].term, first[g].term,
                                                   first[f].term } };
            sl_search__spans_add_hit(hits, &hit);
        }
    }
}

static sl_status triples_part(int64_t begin, int64_t end, int worker, void *payload) {
    triples *t = payload;
    sl_search__spans_hits *hits = &t->hits[begin / GRAIN];
    hits->n = 0;
    if (sl_search__stop(t->s->job, worker == 0)) return SL_OK;
    for (int64_t f = begin; f < end; f++) one_f(t, &t->workspace[worker], hits, (int)f);
    return SL_OK;
}

/* The first terms modulo the target. */
static void find_units(triples *t) {
    const sl_search__spans_table *table = &t->s->table[t->span][t->target];
    for (int i = 0; i < t->n; i++) {
        const double *q = t->s->first[t->span][i].q;
        double *r = t->unit + i * LEFT;
        for (int k = 0; k < LEFT; k++) r[k] = sl_search__dot(table->basis[k], q, DIMS);
        double norm = sl_search__dot(r, r, LEFT),
               scale = norm > 1e-8 * sl_search__dot(q, q, DIMS) ? 1 / sqrt(norm) : 0;
        for (int k = 0; k < LEFT; k++) r[k] *= scale;
    }
}

static int cmp_hit(const void *a, const void *b) {
    const sl_search__spans_hit *p = a, *q = b;
    if (p->place != q->place) return p->place - q->place;
    if (p->term[1] != q->term[1]) return p->term[1] < q->term[1] ? -1 : 1;
    return (p->term[0] > q->term[0]) - (p->term[0] < q->term[0]);
}

static sl_status one_target(triples *t) {
    sl_spans *s = t->s;
    find_units(t);
    SL_TRY(sl_par_for(s->job->pool, t->n, GRAIN, triples_part, t));
    if (sl_search__stop(s->job, true)) return SL_OK;
    atomic_fetch_add(&s->job->tried, (int64_t)t->n * (t->n - 1) / 2);
    s->hits.n = 0;
    for (int i = 0; i * GRAIN < t->n; i++)
        for (int k = 0; k < t->hits[i].n; k++)
            sl_search__spans_add_hit(&s->hits, &t->hits[i].list[k]);
    qsort(s->hits.list, (size_t)s->hits.n, sizeof *s->hits.list, cmp_hit);
    for (int i = 0; i < s->hits.n && !s->found; i++)
        SL_TRY(sl_search__spans_verify(s, &s->hits.list[i]));
    return SL_OK;
}

static sl_status open_workspaces(triples *t, sl_arena *a, int n) {
    int parts = n / GRAIN + 1;
    t->workspace = sl_arena_alloc(a, (size_t)t->s->workers * sizeof *t->workspace);
    t->unit = sl_arena_alloc(a, (size_t)n * LEFT * sizeof *t->unit);
    t->hits = sl_arena_alloc(a, (size_t)parts * sizeof *t->hits);
    sl_search__spans_hit *list = sl_arena_alloc(a, (size_t)parts * HITS_PART * sizeof *list);
    if (!t->workspace || !t->unit || !t->hits || !list)
        return sl_fail_memory((size_t)n, sizeof *list, "triples of terms");
    for (int i = 0; i < parts; i++)
        t->hits[i] = (sl_search__spans_hits){ list + i * HITS_PART, 0, HITS_PART };
    for (int i = 0; i < t->s->workers; i++) {
        size_t bytes = (t->mask + 1) * sizeof(slot);
        t->workspace[i] = (workspace){ .slot = sl_arena_alloc(a, bytes) };
        if (!t->workspace[i].slot) return sl_fail_memory(1, bytes, "triples of terms");
        memset(t->workspace[i].slot, 0, bytes);
    }
    return SL_OK;
}

sl_status sl_search__spans_three(sl_spans *s, int n) {
    sl_status st = SL_OK;
    size_t mark = sl_arena_mark(&s->arena);
    triples t = { .s = s, .mask = 15 };
    while (t.mask + 1 < 2 * (uint64_t)n) t.mask = 2 * t.mask + 1;
    SL_GO(open_workspaces(&t, &s->arena, n));
    int targets = s->side == SL_SIDE_PRODUCT ? 1 : SL_MIN(s->tables, 3);
    for (t.span = 0; t.span < s->spans; t.span++) {
        t.n = SL_MIN(n, s->n_first[t.span]);
        for (t.target = 0; t.target < targets; t.target++) {
            if (!s->table[t.span][t.target].entry || s->span[t.span].left < DIMS) continue;
            if (s->found || sl_search__stop(s->job, true)) goto done;
            SL_GO(one_target(&t));
        }
    }
done:
    sl_arena_rewind(&s->arena, mark);
    return st;
}
