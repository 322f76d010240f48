/* Screening: which terms, pairs and triples explain most of T(y) outside a span.
 *
 * Terms and T(y) are vectors of a few dozen dimensions of unit length. One term leaves 1 - (f.y)^2
 * of y; a pair is known from f.g, f.y and g.y (noise_kernels.h); a triple is a third term for one
 * of the best pairs, both projected out of all others. A score is dims/2 log2(residual) + the
 * terms' bits.
 *
 * Pairs are cut into blocks of terms, each with a list of its own, merged in order: the same for
 * any number of threads. */
#include <math.h>

#include "search/noise_impl.h"

typedef struct screen {
    sl_search__job *j;
    const sl_search__noise_span *s;
    const sl_search__noise_terms *t;
    const sl_search__noise_effort *e;
    int span;
    int n;       // distinct terms outside of the span
    int *at;     // place in t of each
    float *q;    // dims each
    float *y;    // q.target
    float *tile; // the first pair_terms, SL_NOISE__TILE at a time, dimension by dimension
    float *tile_y;
    int tiles;
    sl_search__noise_top *block; // of pairs, by tile
    double unit;                 // bits of all of T(y)
    float
        *worth; // 2^(-2 bits/dims) of each term: the factor of y's residual that pays for its bits
} screen;

/* The information in few dimensions. Errors of y are assumed to be at least 2^-RESOLUTION of it:
 * then each dimension that a model leaves free holds RESOLUTION bits, and the choice among 2^k
 * models uses k of them. SL_NOISE__EVIDENCE bits must remain, or the choice is chance. */
static const double RESOLUTION = 8;

/* log2 of how many models with that many terms may be compared. */
static double choice_bits(int dims, int terms) {
    return RESOLUTION * (dims - terms) - SL_NOISE__EVIDENCE;
}

static float inner(const float *a, const float *b, int n) {
    float sum[8] = { 0 };
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) sum[k] += a[i + k] * b[i + k];
    }
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static double score_of(const screen *c, double left, double bits) {
    return c->unit + 0.5 * c->s->dims * log2(SL_MAX(left, 1e-7)) + bits;
}

/* ---------------------------------------------------------------- vectors ------------------- */

typedef struct projection {
    screen *c;
    float *raw; // in the order of the store
    bool *outside;
} projection;

static sl_status project_terms(int64_t begin, int64_t end, int worker, void *payload) {
    const projection *p = payload;
    const screen *c = p->c;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        p->outside[k] =
            sl_search__noise_project(p->raw + k * c->s->dims, c->s, c->t->value + k * c->t->stride);
    }
    return SL_OK;
}

/* A rounded direction without its sign: equal for terms that are equal modulo the span. */
static uint64_t direction(const float *q, int dims) {
    int32_t cell[8] = { 0 };
    int n = SL_MIN(dims, 8);
    float sign = 0;
    for (int d = 0; d < n; d++) sign += q[d] * (0.3f + 0.1f * (float)d);
    for (int d = 0; d < n; d++) cell[d] = (int32_t)lrintf((sign < 0 ? -q[d] : q[d]) * 65536);
    return sl_hash(cell, sizeof cell, 0) | 1;
}

/* Keeps distinct terms outside the span, in order of cost. */
static void keep_distinct(screen *c, const float *raw, const bool *outside, uint64_t *slot,
                          size_t slots) {
    int dims = c->s->dims;
    c->n = 0;
    for (int i = 0; i < c->t->n; i++) {
        int k = c->t->order[i];
        if (!outside[k]) continue;
        const float *q = raw + (size_t)k * (size_t)dims;
        uint64_t key = direction(q, dims);
        size_t h = (size_t)key & (slots - 1);
        while (slot[h] && slot[h] != key) h = (h + 1) & (slots - 1);
        if (slot[h]) continue;
        slot[h] = key;
        c->at[c->n] = k;
        memcpy(c->q + (size_t)c->n * (size_t)dims, q, (size_t)dims * sizeof *q);
        c->y[c->n] = inner(q, c->s->target, dims);
        c->worth[c->n] = (float)exp2(-2 * (double)c->t->cost[k] / dims);
        c->n++;
    }
}

static sl_status make_vectors(screen *c) {
    size_t n = (size_t)c->t->n, slots = 16;
    while (slots < 2 * n) slots *= 2;
    bool *outside = sl_malloc(n, sizeof *outside);
    uint64_t *slot = sl_calloc(slots, sizeof *slot);
    float *raw = sl_malloc(n * (size_t)c->s->dims, sizeof *raw);
    sl_status st = SL_ENOMEM;
    if (outside && slot && raw) {
        st = sl_par_for(c->j->pool, c->t->n, 64, project_terms, &(projection){ c, raw, outside });
        if (st == SL_OK) keep_distinct(c, raw, outside, slot, slots);
    } else {
        st = sl_fail_memory(slots, sizeof *slot, "projected terms");
    }
    sl_free(outside), sl_free(slot), sl_free(raw);
    return st;
}

/* ---------------------------------------------------------------- one and two terms --------- */

static void one_term(sl_search__noise_top *top, const screen *c) {
    for (int k = 0; k < c->n; k++) {
        double left = 1 - (double)c->y[k] * c->y[k];
        sl_search__noise_candidate x = {
            .span = c->span, .n = 1, .at = { c->at[k] }, .monomial = -1
        };
        x.score = score_of(c, left, c->t->cost[c->at[k]]);
        sl_search__noise_top_add(top, &x);
    }
}

static void make_tiles(screen *c) {
    int dims = c->s->dims;
    for (int t = 0; t < c->tiles; t++) {
        float *tile = c->tile + (size_t)(t * dims) * SL_NOISE__TILE;
        for (int k = 0; k < SL_NOISE__TILE; k++) {
            int i = t * SL_NOISE__TILE + k;
            bool there = i < c->n;
            for (int d = 0; d < dims; d++) {
                tile[d * SL_NOISE__TILE + k] =
                    there ? c->q[(size_t)i * (size_t)dims + (size_t)d] : 0;
            }
            c->tile_y[i] = there ? c->y[i] : 0;
        }
    }
}

/* A block's list, and the largest residual with which a pair of 0 bits is kept there. */
typedef struct block {
    sl_search__noise_top *top;
    double worst, most; // `most` is that for this score
} block;

static double most_left(block *b, const screen *c) {
    if (b->worst != b->top->worst) {
        b->worst = b->top->worst;
        b->most = exp2(2 * (b->worst - c->unit) / c->s->dims);
    }
    return b->most;
}

/* Pairs of term i with those before it in a tile. Terms come by cost, so the tile's first is the
 * cheapest. */
static void pairs_of(block *b, const screen *c, int i, int tile) {
    float left[SL_NOISE__TILE] __attribute__((aligned(64)));
    int dims = c->s->dims, first = tile * SL_NOISE__TILE;
    float cost = c->t->cost[c->at[i]];
    double limit = most_left(b, c) * c->worth[i] * c->worth[first];
    float most = limit < 0.9 ? (float)limit : 0.9f; // else one term is nearly as good
    const float *q = c->tile + (size_t)(tile * dims) * SL_NOISE__TILE;
    if (!c->s->kernels->pairs(left, c->q + (size_t)i * (size_t)dims, c->y[i], q, c->tile_y + first,
                              dims, most))
        return;
    for (int k = 0; k < SL_NOISE__TILE && first + k < i; k++) {
        if (!(left[k] < most)) continue;
        int g = c->at[first + k];
        sl_search__noise_candidate x = {
            .span = c->span, .n = 2, .at = { g, c->at[i] }, .monomial = -1
        };
        x.score = score_of(c, left[k], cost + c->t->cost[g]);
        sl_search__noise_top_add(b->top, &x);
    }
}

static sl_status pairs_of_block(int64_t begin, int64_t end, int worker, void *payload) {
    const screen *c = payload;
    (void)worker;
    for (int64_t b = begin; b < end; b++) {
        int first = (int)b * SL_NOISE__TILE;
        block list = { &c->block[b], INFINITY, INFINITY };
        for (int tile = 0; tile <= b; tile++) {
            if (sl_search__stop(c->j, false)) return SL_OK;
            for (int k = 0; k < SL_NOISE__TILE && first + k < c->n; k++) {
                pairs_of(&list, c, first + k, tile);
            }
        }
        atomic_fetch_add(&c->j->tried, (int64_t)(b + 1) * SL_NOISE__TILE * SL_NOISE__TILE);
    }
    return SL_OK;
}

/* Pairs that one block keeps: a part of all, because the best are of many blocks. */
static int block_room(const sl_search__noise_effort *e) { return SL_MAX(e->keep_two / 4, 64); }

static sl_status two_terms(sl_search__noise_top *top, screen *c) {
    int room = block_room(c->e);
    sl_search__noise_candidate *lists = sl_malloc((size_t)c->tiles * (size_t)room, sizeof *lists);
    c->block = sl_malloc((size_t)c->tiles, sizeof *c->block);
    sl_status st = SL_OK;
    if (!lists || !c->block) {
        st = sl_fail_memory((size_t)(c->tiles * room), sizeof *lists, "pairs of terms");
    } else {
        for (int b = 0; b < c->tiles; b++) {
            c->block[b] = (sl_search__noise_top){ .room = room,
                                                  .worst = INFINITY,
                                                  .list = lists + (size_t)b * (size_t)room };
        }
        make_tiles(c);
        st = sl_par_for(c->j->pool, c->tiles, 1, pairs_of_block, c);
        for (int b = 0; b < c->tiles && st == SL_OK; b++) {
            for (int k = 0; k < c->block[b].n; k++)
                sl_search__noise_top_add(top, &c->block[b].list[k]);
        }
    }
    sl_free(lists), sl_free(c->block);
    return st;
}

/* ---------------------------------------------------------------- three terms --------------- */

typedef struct triples {
    const screen *c;
    const sl_search__noise_candidate *pair;
    const int *place;                 // of a term of t among the projected ones
    sl_search__noise_candidate *best; // one for each pair
} triples;

/* The best third term of a pair. */
static sl_search__noise_candidate third_term(const triples *p,
                                             const sl_search__noise_candidate *pair) {
    const screen *c = p->c;
    int dims = c->s->dims;
    float f[SL_NOISE__DIMS], g[SL_NOISE__DIMS], y[SL_NOISE__DIMS];
    const float *q = c->q + (size_t)p->place[pair->at[0]] * (size_t)dims;
    const float *r = c->q + (size_t)p->place[pair->at[1]] * (size_t)dims;
    memcpy(f, q, (size_t)dims * sizeof *f);
    float fg = inner(f, r, dims), size = sqrtf(1 - fg * fg);
    for (int d = 0; d < dims; d++) g[d] = (r[d] - fg * f[d]) / size;
    float fy = inner(f, c->s->target, dims), gy = inner(g, c->s->target, dims), rest = 0;
    for (int d = 0; d < dims; d++) {
        y[d] = c->s->target[d] - fy * f[d] - gy * g[d];
        rest += y[d] * y[d];
    }
    sl_search__noise_candidate best = { .score = INFINITY, .n = 3 };
    double bits = c->t->cost[pair->at[0]] + c->t->cost[pair->at[1]];
    for (int k = 0; k < SL_MIN(c->n, c->tiles * SL_NOISE__TILE); k++) {
        const float *h = c->q + (size_t)k * (size_t)dims;
        float hf = inner(h, f, dims), hg = inner(h, g, dims), hy = inner(h, y, dims);
        float apart = 1 - hf * hf - hg * hg;
        if (!(apart > SL_NOISE__PARALLEL)) continue;
        double score = score_of(c, rest - hy * hy / apart, bits + c->t->cost[c->at[k]]);
        if (score < best.score) {
            best = *pair;
            best.n = 3, best.score = score, best.at[2] = c->at[k];
        }
    }
    return best;
}

static sl_status third_terms(int64_t begin, int64_t end, int worker, void *payload) {
    const triples *p = payload;
    (void)worker;
    for (int64_t k = begin; k < end && !sl_search__stop(p->c->j, false); k++) {
        p->best[k] = third_term(p, &p->pair[k]);
    }
    return SL_OK;
}

static sl_status three_terms(sl_search__noise_top *top, screen *c,
                             const sl_search__noise_candidate *pair, int n) {
    int *place = sl_malloc((size_t)c->t->n, sizeof *place);
    sl_search__noise_candidate *best = sl_malloc((size_t)n, sizeof *best);
    sl_status st = SL_OK;
    if (!place || !best) {
        st = sl_fail_memory((size_t)c->t->n, sizeof *place, "three terms");
    } else {
        for (int k = 0; k < c->n; k++) place[c->at[k]] = k;
        for (int k = 0; k < n; k++) best[k].score = INFINITY;
        triples p = { c, pair, place, best };
        st = sl_par_for(c->j->pool, n, 4, third_terms, &p);
        atomic_fetch_add(&c->j->tried, (int64_t)n * c->n);
        for (int k = 0; k < n && st == SL_OK; k++) {
            if (isfinite(best[k].score)) sl_search__noise_top_add(top, &best[k]);
        }
    }
    sl_free(place), sl_free(best);
    return st;
}

/* ---------------------------------------------------------------- the whole ----------------- */

/* Terms that pairs may be made of. */
static int pair_terms(const screen *c) {
    double most = exp2(0.5 * (choice_bits(c->s->dims, 2) + 1));
    return (int)SL_MIN(most, SL_MIN(c->n, c->e->pair_terms));
}

static sl_status run(sl_search__noise_top *top, screen *c) {
    SL_TRY(make_vectors(c));
    one_term(&top[0], c);
    int terms = pair_terms(c);
    if (terms < 2 || sl_search__stop(c->j, true)) return SL_OK;
    c->n = SL_MIN(c->n, (terms + SL_NOISE__TILE - 1) / SL_NOISE__TILE * SL_NOISE__TILE);
    c->tiles = (c->n + SL_NOISE__TILE - 1) / SL_NOISE__TILE;
    SL_TRY(two_terms(&top[1], c));
    sl_search__noise_top_finish(&top[1]);
    int pairs = SL_MIN(top[1].n, c->e->triple_pairs);
    bool chance = log2((double)c->n * c->n * c->n / 6) > choice_bits(c->s->dims, 3);
    if (chance || !pairs || sl_search__stop(c->j, true)) return SL_OK;
    return three_terms(&top[2], c, top[1].list, pairs);
}

sl_status sl_search__noise_screen(sl_search__noise_top top[SL_NOISE__TERMS], sl_search__job *j,
                                  const sl_search__noise_span *s, int span,
                                  const sl_search__noise_terms *t,
                                  const sl_search__noise_effort *e) {
    screen c = { .j = j, .s = s, .t = t, .e = e, .span = span };
    if (s->dims < 2 || !t->n) return SL_OK;
    c.unit = 0.5 * s->dims * log2(s->target_square);
    int tiles = (SL_MIN(t->n, e->pair_terms) + SL_NOISE__TILE - 1) / SL_NOISE__TILE;
    size_t dims = (size_t)s->dims, n = (size_t)t->n, paired = (size_t)tiles * SL_NOISE__TILE;
    int64_t bytes =
        (int64_t)(n * (dims * 8 + 28) + paired * (dims * 4 + 4) +
                  (size_t)tiles * (size_t)block_room(e) * sizeof(sl_search__noise_candidate));
    if (!sl_search__reserve(j, bytes)) return SL_OK;
    c.at = sl_malloc(n, sizeof *c.at);
    c.y = sl_malloc(n, sizeof *c.y);
    c.worth = sl_malloc(n, sizeof *c.worth);
    c.q = sl_malloc(n * dims, sizeof *c.q);
    c.tile = sl_malloc_aligned(paired * dims, sizeof *c.tile);
    c.tile_y = sl_malloc_aligned(paired, sizeof *c.tile_y);
    sl_status st = c.at && c.y && c.worth && c.q && c.tile && c.tile_y
                       ? run(top, &c)
                       : sl_fail_memory(n * dims, sizeof *c.q, "projected terms");
    sl_free(c.at), sl_free(c.y), sl_free(c.worth);
    sl_free(c.q), sl_free(c.tile), sl_free(c.tile_y);
    sl_search__release(j, bytes);
    return st;
}
