/* lattice_expand - products of sums, written out before constants go in.
 *
 * A pair's base is multiplied out: (sqrt(x2) - sin(x1)) (exp(x1) + exp(x2)) is four terms, and each
 * gets constants of its own. Two halves do not make such a sum. But its terms are known once the
 * base is, and bases are few: some thousand. For each of them
 *
 *   plain     what the terms are with constants outside of functions is a linear space, of 10 to 30
 *             columns (lattice_expand_pieces.c). It is taken out: the rows' vectors are projected
 *             onto eight directions that are orthogonal to it, and y is a formula if nothing of it
 *             is left.
 *   one       a term with one constant inside a function adds a few columns: y is a formula if its
 *             image is in the span of theirs.
 *   two       two terms with one constant each: their images, less what they have of y's, are
 *             parallel, so that they meet in a key. Only the first column of either is taken, so
 *             these two terms have no further summands.
 *
 * Rows are weighted by 1/|y|. What passes is fitted in all rows, thinned out to the columns that
 * are needed, and offered (lattice_expand_settle.c).
 *
 *   level 0   sum times sum, with whole constants inside
 *   level 1   sum times a product, a quotient or a function, the same
 *   level 2   sum times sum, with fractions inside */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_expand_impl.h"

enum {
    K = SL_EXPAND__FITTED,
    RANK = SL_EXPAND__RANK,
    DIMS = SL_LATTICE__DIMS,
    ROWS_LEAST = 48,
    CHANGED_MAX = 5, // columns of a variant that are taken in
    SLOTS = 1 << 13,
    GRAIN = 64,
};
/* Parts of a column that are rounding errors; of y's image that may be left. */
static const double DEPENDENT = 1e-11, NOTHING = 1e-10, LEFT = 1e-7, PARALLEL = 1e-6;

/* ---------------------------------------------------------------- bases --------------------- */

static void add_base(sl_expand *x, const int *sum, int n, const int *with, int with_n,
                     bool product) {
    SL_ASSERT(x->bases < x->base_room);
    sl_expand__base *b = &x->base[x->bases++];
    b->terms = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < (product ? 1 : with_n); k++) {
            sl_expand__term *t = &b->term[b->terms++];
            t->factors = 0;
            t->piece[t->factors++] = (int16_t)sum[i];
            for (int f = product ? 0 : k; f < (product ? with_n : k + 1); f++)
                t->piece[t->factors++] = (int16_t)with[f];
        }
}

/* A sum: two pieces, or both inputs and another. */
typedef struct sum {
    int pieces, piece[3];
} sum;

static int list_sums(sum *out, const sl_expand *x) {
    int n = 0, second = x->variables > 1 ? x->sums : 0;
    for (int p = 0; p < x->sums; p++)
        for (int q = p + 1; q < x->sums; q++) out[n++] = (sum){ 2, { p, q } };
    // the first piece of each input is the input: places 0 and a fifth of the rest behind
    int other = 5;
    for (int q = 0; q < second; q++)
        if (q != 0 && q != other) out[n++] = (sum){ 3, { 0, other, q } };
    return n;
}

enum { SUMS_MAX = 128 };

static void sums_times_sums(sl_expand *x, const sum *s, int n) {
    for (int i = 0; i < n; i++)
        for (int k = i; k < n; k++)
            if (s[i].pieces * s[k].pieces <= SL_EXPAND__TERMS)
                add_base(x, s[i].piece, s[i].pieces, s[k].piece, s[k].pieces, false);
}

static void sums_times_others(sl_expand *x, const sum *s, int n) {
    for (int i = 0; i < n; i++) {
        for (int p = 0; p < x->sums; p++)
            for (int q = p; q < x->sums; q++)
                add_base(x, s[i].piece, s[i].pieces, (int[]){ p, q }, 2, true);
        for (int p = 0; p <= x->sums; p++) // the one behind the sums is 1
            for (int q = x->sums + 1; q < x->inverses; q++)
                add_base(x, s[i].piece, s[i].pieces, (int[]){ p, q }, 2, true);
        for (int p = x->inverses; p < x->pieces; p++)
            add_base(x, s[i].piece, s[i].pieces, (int[]){ p }, 1, true);
    }
}

/* *done: there was memory. */
static sl_status make_bases(bool *done, sl_expand *x, int level) {
    sum s[SUMS_MAX];
    int n = list_sums(s, x);
    SL_ASSERT(n <= SUMS_MAX);
    int others = x->sums * (x->sums + 1) / 2 + (x->sums + 1) * x->inverses + x->pieces;
    int32_t room = level != 1 ? n * (n + 1) / 2 : n * others;
    int64_t bytes = room * (int64_t)sizeof *x->base, old = x->base_room * (int64_t)sizeof *x->base;
    *done = sl_search__reserve(x->job, bytes - old);
    if (!*done) return SL_OK;
    sl_expand__base *base = sl_realloc(x->base, (size_t)room, sizeof *base);
    if (!base) {
        sl_search__release(x->job, bytes - old);
        return sl_fail_memory((size_t)room, sizeof *base, "sums that are multiplied out");
    }
    x->base = base;
    x->base_room = room;
    x->bases = 0;
    if (level != 1)
        sums_times_sums(x, s, n);
    else
        sums_times_others(x, s, n);
    return SL_OK;
}

/* ---------------------------------------------------------------- projection ---------------- */

typedef struct screen {
    sl_expand *x;
    int worker;
    int32_t base;
    int rank;
    double basis[RANK + DIMS + 1][K]; // of the plain columns, then orthogonal to them
    double across[K][DIMS];           // the latter by row
    double y[DIMS], y_size;           // image of y
    uint64_t key[SLOTS];
    sl_expand__change change[SLOTS];
    double share[SLOTS];  // of y's image in that of the variant
    int32_t stamp[SLOTS]; // base + 1 that a slot belongs to
} screen;

/* v less what it has of basis[0..n), normalised; again where that is most of it. Answers what part
 * of it was left. */
static double make_orthogonal(double *v, const screen *s, int n) {
    const sl_lattice__kernels *kernels = s->x->kernels;
    double whole = sqrt(kernels->deflate(v, s->basis[0], 0, K)), before = whole, left = whole;
    for (int pass = 0; pass < 3; pass++) {
        left = sqrt(kernels->deflate(v, s->basis[0], n, K));
        if (!(left < 0.1 * before) || left < 1e-14 * whole) break;
        before = left;
    }
    for (int r = 0; r < K; r++) v[r] /= left;
    return left / whole;
}

/* The space of the plain columns; answers false where it is too large. */
static bool take_plain(screen *s, const sl_expand__base *b) {
    sl_expand__product list[SL_EXPAND__PRODUCTS];
    s->rank = 0;
    for (int t = 0; t < b->terms; t++) {
        int n = sl_expand__products(list, s->x, &b->term[t], -1, 0);
        for (int i = 0; i < n; i++) {
            double *v = s->basis[s->rank];
            if (!sl_expand__value(v, s->x, &list[i], K)) continue;
            if (!(make_orthogonal(v, s, s->rank) > DEPENDENT)) continue;
            if (++s->rank > RANK) return false;
        }
    }
    return s->rank > 0;
}

/* Directions that are orthogonal to the plain columns: what is left of some rows. */
static bool find_directions(screen *s) {
    int n = 0;
    for (int r = 0; r < K && n < DIMS; r++) {
        double *v = s->basis[s->rank + n];
        for (int i = 0; i < K; i++) v[i] = i == (r * 17) % K;
        if (make_orthogonal(v, s, s->rank + n) > 0.05) n++;
    }
    for (int d = 0; d < DIMS; d++)
        for (int r = 0; r < K; r++) s->across[r][d] = s->basis[s->rank + d][r];
    return n == DIMS;
}

static double size_of(const double *q) {
    double s = 0;
    for (int d = 0; d < DIMS; d++) s += q[d] * q[d];
    return sqrt(s);
}

static double inner_product(const double *a, const double *b) {
    double s = 0;
    for (int d = 0; d < DIMS; d++) s += a[d] * b[d];
    return s;
}

/* q := the image of a product, unless it is one of the plain columns or none. */
static bool image(double *q, const screen *s, const sl_expand__product *p) {
    const double *factor[SL_EXPAND__FACTORS];
    for (int f = 0; f < p->factors; f++) factor[f] = s->x->column[p->column[f]].value;
    double norm = s->x->kernels->image(q, s->x->weight, factor, p->factors, s->across[0], K);
    double size = inner_product(q, q);
    return norm < 1e60 && norm > 1e-60 && size > 1e-18 * norm;
}

/* ---------------------------------------------------------------- one base ------------------ */

static sl_status add_hit(const screen *s, const sl_expand__change *a, const sl_expand__change *b) {
    sl_expand__hits *h = &s->x->hits[s->worker];
    if (h->count == h->room) {
        int64_t room = SL_MAX(64, 2 * h->room);
        sl_expand__hit *more = sl_realloc(h->hit, (size_t)room, sizeof *more);
        if (!more) return sl_fail_memory((size_t)room, sizeof *more, "the hits of a search");
        h->hit = more;
        h->room = room;
    }
    sl_expand__hit *hit = &h->hit[h->count++];
    memset(hit, 0, sizeof *hit);
    hit->base = s->base;
    hit->changes = (a != NULL) + (b != NULL);
    if (a) hit->change[0] = *a;
    if (b) hit->change[1] = *b;
    return SL_OK;
}

/* Is y's image in the span of these images? They are made orthogonal in place. */
static bool spans_y(double (*q)[DIMS], int n, const screen *s) {
    double left[DIMS];
    memcpy(left, s->y, sizeof left);
    for (int i = 0, kept = 0; i < n; i++) {
        double whole = size_of(q[i]);
        for (int k = 0; k < kept; k++) {
            double c = inner_product(q[i], q[k]);
            for (int d = 0; d < DIMS; d++) q[i][d] -= c * q[k][d];
        }
        double size = size_of(q[i]);
        if (!(size > 1e-8 * whole)) continue;
        for (int d = 0; d < DIMS; d++) q[kept][d] = q[i][d] / size;
        double c = inner_product(left, q[kept]);
        for (int d = 0; d < DIMS; d++) left[d] -= c * q[kept][d];
        kept++;
    }
    return size_of(left) < LEFT * s->y_size;
}

/* The key of an image less what it has of y's; 0: nothing is left. *share: what it had, where the
 * rest is of length 1 and has the sign that keys give it. q is changed. */
static uint64_t key_of(double *share, double *q, const screen *s) {
    double whole = size_of(q), c = inner_product(q, s->y) / (s->y_size * s->y_size);
    for (int d = 0; d < DIMS; d++) q[d] -= c * s->y[d];
    double size = size_of(q), scale = 0x1p16 / size;
    int largest = 0;
    if (!(size > PARALLEL * whole)) return 0;
    for (int d = 1; d < DIMS; d++)
        if (fabs(q[d]) > 1.001 * fabs(q[largest])) largest = d;
    if (q[largest] < 0) scale = -scale;
    *share = c * scale * s->y_size;
    uint64_t h = 0x9E3779B97F4A7C15u;
    for (int d = 0; d < DIMS; d++) {
        h = (h ^ (uint64_t)(int64_t)floor(q[d] * scale + 0.5)) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

/* Meets a variant of another term, or waits in the table. Two that have the same share of y depend
 * on each other without it. */
static sl_status meet(screen *s, double *q, const sl_expand__change *c) {
    double share = 0;
    uint64_t key = key_of(&share, q, s);
    if (!key) return SL_OK;
    for (uint64_t at = key >> 20;; at++) {
        uint64_t i = at & (SLOTS - 1);
        if (s->stamp[i] != s->base + 1) {
            s->stamp[i] = s->base + 1;
            s->key[i] = key;
            s->change[i] = *c;
            s->share[i] = share;
            return SL_OK;
        }
        if (s->key[i] != key) continue;
        double apart = fabs(s->share[i] - share), size = fabs(s->share[i]) + fabs(share);
        if (s->change[i].term == c->term || !(apart > 1e-6 * size)) return SL_OK;
        return add_hit(s, &s->change[i], c);
    }
}

static sl_status try_variant(screen *s, const sl_expand__term *t, const sl_expand__change *c) {
    sl_expand__product list[SL_EXPAND__PRODUCTS];
    double q[CHANGED_MAX][DIMS], first[DIMS];
    int n = sl_expand__products(list, s->x, t, c->factor, c->variant), kept = 0;
    for (int i = 0; i < n && kept < CHANGED_MAX; i++) {
        if (image(q[kept], s, &list[i])) {
            kept++;
        } else if (i == 0) {
            return SL_OK;
        }
    }
    memcpy(first, q[0], sizeof first);
    if (spans_y(q, kept, s)) SL_TRY(add_hit(s, c, NULL));
    return meet(s, first, c);
}

static sl_status try_base(screen *s, const sl_expand__base *b) {
    double v[K], full = 1;
    if (!take_plain(s, b) || !find_directions(s)) return SL_OK;
    for (int r = 0; r < K; r++) v[r] = s->x->y[r] * s->x->weight[r];
    (void)s->x->kernels->image(s->y, s->x->weight, &s->x->y, 1, s->across[0], K);
    s->y_size = size_of(s->y);
    full = make_orthogonal(v, s, s->rank);
    if (full < NOTHING) return add_hit(s, NULL, NULL);
    int slots = 0;
    for (int t = 0; t < b->terms; t++)
        for (int f = 0; f < b->term[t].factors; f++) {
            const sl_expand__piece *p = &s->x->piece[b->term[t].piece[f]];
            bool seen = false; // the same piece again: it changes with the first
            for (int g = 0; g < f; g++) seen = seen || b->term[t].piece[g] == b->term[t].piece[f];
            for (int32_t i = 0; i < p->variants && !seen && slots < SLOTS / 2; i++) {
                sl_expand__change c = { (int16_t)t, (int16_t)f, p->variant + i };
                if (s->x->whole && s->x->group[c.variant].fraction) continue;
                slots++;
                SL_TRY(try_variant(s, &b->term[t], &c));
            }
        }
    atomic_fetch_add_explicit(&s->x->job->tried, slots + 1, memory_order_relaxed);
    return SL_OK;
}

static sl_status try_part(int64_t begin, int64_t end, int worker, void *payload) {
    sl_expand *x = payload;
    screen *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "sums that are multiplied out");
    s->x = x;
    s->worker = worker;
    sl_status st = SL_OK;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(x->job, worker == 0)) break;
        s->base = (int32_t)i;
        st = try_base(s, &x->base[i]);
    }
    sl_free(s);
    return st;
}

/* ---------------------------------------------------------------- the method ---------------- */

static const int64_t FIXED_BYTES = SL_EXPAND__COLUMNS * (int64_t)sizeof(sl_expand__column) +
                                   SL_EXPAND__GROUPS * (int64_t)sizeof(sl_expand__group);

static void close_expand(void *state) {
    sl_expand *x = state;
    if (!x) return;
    sl_search__release(x->job, FIXED_BYTES + x->base_room * (int64_t)sizeof *x->base);
    if (x->hits)
        for (int w = 0; w < sl_pool_threads(x->job->pool); w++) sl_free(x->hits[w].hit);
    sl_free(x->hits);
    sl_free(x->base);
    sl_free(x->column);
    sl_free(x->group);
    sl_arena_clear(&x->arena);
    sl_free(x);
}

/* The default grammar alone: its operators are those of the pieces, but for cos. */
static bool applies(const sl_search__job *j) {
    const sl_search_grammar *g = j->o->grammar;
    const sl_problem *p = &j->rows;
    if (!(j->o->ops >> SL_OPERATOR_COS & 1)) return false;
    if (!g || g->ops != SL_UNIVERSE_ALL_OPS || g->depth < 3 || p->inputs < 1 || p->inputs > 2 ||
        p->inputs > g->variables || p->rows < ROWS_LEAST)
        return false;
    for (int64_t r = 0; r < p->rows; r++)
        if (!(fabs(p->y[r]) > 1e-100 && fabs(p->y[r]) < 1e100)) return false;
    return sl_search__digits(p->y, p->rows).kind == SL_DIGITS_FULL;
}

static sl_status open_expand(void **state, sl_search__job *j) {
    *state = NULL;
    if (!applies(j) || !sl_search__reserve(j, FIXED_BYTES)) return SL_OK;
    sl_status st;
    sl_expand *x = sl_calloc(1, sizeof *x);
    if (!x) {
        sl_search__release(j, FIXED_BYTES);
        return sl_fail_memory(1, sizeof *x, "sums that are multiplied out");
    }
    x->job = j;
    x->kernels = sl_lattice__kernels_at(sl_cpu());
    x->low = j->o->grammar->low, x->high = j->o->grammar->high;
    x->rows = (int)SL_MIN(j->rows.rows, SL_EXPAND__ROWS);
    x->variables = j->rows.inputs;
    for (int v = 0; v < x->variables; v++) x->x[v] = j->rows.x[v];
    x->y = j->rows.y;
    for (int r = 0; r < x->rows; r++) x->weight[r] = 1 / fabs(x->y[r]);
    x->column = sl_malloc(SL_EXPAND__COLUMNS, sizeof *x->column);
    x->group = sl_malloc(SL_EXPAND__GROUPS, sizeof *x->group);
    x->hits = sl_calloc((size_t)sl_pool_threads(j->pool), sizeof *x->hits);
    if (!x->column || !x->group || !x->hits) {
        st = sl_fail_memory(SL_EXPAND__COLUMNS, sizeof *x->column, "sums that are multiplied out");
        goto done;
    }
    SL_GO(sl_expand__sum_pieces(x));
    *state = x;
    return SL_OK;
done:
    close_expand(x);
    return st;
}

static sl_status gather(sl_expand__hits *all, sl_expand *x) {
    for (int w = 0; w < sl_pool_threads(x->job->pool); w++) all->room += x->hits[w].count;
    all->hit = sl_malloc((size_t)SL_MAX(all->room, 1), sizeof *all->hit);
    if (!all->hit) return sl_fail_memory((size_t)all->room, sizeof *all->hit, "hits of a search");
    for (int w = 0; w < sl_pool_threads(x->job->pool); w++) {
        if (x->hits[w].count)
            memcpy(all->hit + all->count, x->hits[w].hit,
                   (size_t)x->hits[w].count * sizeof *all->hit);
        all->count += x->hits[w].count;
        x->hits[w].count = 0;
    }
    return SL_OK;
}

static sl_status run_level(bool *more, void *state, int level) {
    sl_expand *x = state;
    *more = x && level < 2;
    if (!x || level > 2) return SL_OK;
    bool done;
    sl_expand__hits all = { 0 };
    x->whole = level < 2;
    if (level == 1) SL_TRY(sl_expand__other_pieces(x));
    SL_TRY(make_bases(&done, x, level));
    if (!done) return SL_OK;
    SL_TRY(sl_par_for(x->job->pool, x->bases, GRAIN, try_part, x));
    if (sl_search__stop(x->job, true)) return SL_OK;
    sl_status st = gather(&all, x);
    if (st == SL_OK) st = sl_expand__settle(x, &all, level);
    sl_free(all.hit);
    return st;
}

const sl_search__method sl_search__expand = { "expansion", open_expand, run_level, close_expand };
