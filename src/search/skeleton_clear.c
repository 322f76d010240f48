/* skeleton_clear - skeletons multiplied by their divisors: no constant is enumerated.
 *
 * x1/(a x1 + b x2 + c) + sin(x2)/(d x1 + e x2 + f) is not linear in its constants. Multiplied by
 * both divisors it is y D = N, with D in the span of the products of {x1, x2, 1} with itself, and N
 * in that of x1 {x1, x2, 1} and sin(x2) {x1, x2, 1}: all coefficients are free, and the test of a
 * skeleton is whether these columns, those of D times y, are linearly dependent in the rows. That a
 * coefficient of D is then a product of constants is not used: with 64 rows and 30 columns a true
 * skeleton leaves 1e-14, another one 1e-4.
 *
 * Where all divisors make too many columns, those of phases are left out, or further ones of the
 * numerators, or some of the divisors have no constants. skeleton_space.c has the columns and the
 * test, skeleton_vary.c one constant inside a function; skeleton_clear_verify.c finds the constants
 * of a hit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_clear_hit hit;
typedef sl_search__skeleton_clear_hits hits;
typedef sl_search__skeleton_extent extent;
typedef sl_search__skeleton_alike alike;

enum {
    GRAIN = 128,
    HITS_MAX = 48,
    BATCH = 4, // hits that are solved at once: the same for any number of threads
};
/* What a true dependence leaves of a column, and one of columns that are well determined. */
static const double ROUNDING = 4e-15, CERTAIN = 1e-10;

/* ---------------------------------------------------------------- which skeletons ----------- */

static uint64_t mix(uint64_t v) {
    v = (v ^ v >> 32) * 0xD6E8FEB86659FD93u;
    return v ^ v >> 32;
}

/* A number for what a factor is to these levels: x1 + x2 and x1 - x2 are one divisor. */
static uint64_t number_of_piece(const sl_skeletons *s, int32_t i) {
    const sl_search__skeleton_divisor *d = &s->piece[i].divisor;
    uint64_t sum = (uint64_t)d->power;
    if (d->columns == 0) return mix((uint64_t)i + 1);
    for (int k = 0; k < d->columns; k++) sum += mix(d->name[k]);
    return mix(sum);
}

static uint64_t number_of_base(const sl_skeletons *s, const sl_search__skeleton_base *b,
                               const uint64_t *piece) {
    uint64_t sum = 0;
    for (int t = 0; t < b->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[b->term[t]];
        uint64_t whole = 0;
        for (int f = 0; f < term->factors; f++) whole += mix(piece[term->piece[f]]);
        sum += mix(whole);
    }
    return mix(sum) | 1;
}

/* *list := the skeletons with divisors. Of those that have the same columns one is first; the
 * others are -1 - base, and differ from it only where a divisor has no constants. */
static sl_status list_bases(int32_t *list, int32_t *n, const sl_skeletons *s, cleared *c) {
    const int64_t size = (int64_t)1 << (ilogb(SL_MAX(s->bases, 1)) + 2);
    uint64_t *seen = sl_calloc((size_t)size, sizeof *seen);
    uint64_t *piece = sl_malloc((size_t)SL_MAX(s->pieces, 1), sizeof *piece);
    *n = 0;
    for (int32_t i = 0; i < s->pieces && piece; i++) piece[i] = number_of_piece(s, i);
    for (int32_t i = 0; i < s->bases && seen && piece; i++) {
        if (!sl_search__skeleton_find_divisors(c, s, i)) continue;
        const uint64_t number = number_of_base(s, &s->base[i], piece);
        int64_t at = (int64_t)(number >> 8) & (size - 1);
        while (seen[at] && seen[at] != number) at = (at + 1) & (size - 1);
        list[(*n)++] = seen[at] ? -1 - i : i;
        seen[at] = number;
    }
    const bool good = seen && piece;
    sl_free(seen);
    sl_free(piece);
    return good ? SL_OK : sl_fail_memory((size_t)size, sizeof *seen, "skeletons");
}

/* Makes that list once. *done := false where there is no memory. */
static sl_status make_list(bool *done, sl_skeletons *s) {
    const int64_t bytes = s->bases * (int64_t)sizeof *s->with_divisors;
    *done = s->with_divisors || sl_search__reserve(s->job, bytes);
    if (!*done || s->with_divisors) return SL_OK;
    s->bytes += bytes;
    s->with_divisors = sl_malloc((size_t)SL_MAX(s->bases, 1), sizeof *s->with_divisors);
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    sl_status st = s->with_divisors && c ? list_bases(s->with_divisors, &s->n_with_divisors, s, c)
                                         : sl_fail_memory(1, sizeof *c, "skeletons");
    sl_free(c);
    return st;
}

/* ---------------------------------------------------------------- screening ----------------- */

/* Is the dependence one in all rows, too? Few rows more than columns let many smooth ones pass. */
static bool holds(cleared *c) {
    bool fits;
    c->every = true;
    const bool out = sl_search__skeleton_is_dependent(&fits, c);
    c->every = false;
    return out;
}

sl_status sl_search__skeleton_add_clear_hit(hits *h, cleared *c, const hit *from) {
    if (!holds(c)) return SL_OK;
    if (h->count == h->room) {
        int64_t room = SL_MAX(64, 2 * h->room);
        hit *more = sl_realloc(h->hit, (size_t)room, sizeof *more);
        if (!more) return sl_fail_memory((size_t)room, sizeof *more, "the hits of a search");
        h->hit = more;
        h->room = room;
    }
    hit *to = &h->hit[h->count++];
    *to = *from;
    to->columns = c->above.count + c->below.count;
    to->left = c->left;
    return SL_OK;
}

static int count_bits(uint32_t mask) {
    int n = 0;
    for (; mask; mask &= mask - 1) n++;
    return n;
}

/* All choices of so many divisors. */
static sl_status try_masks(bool *any, cleared *c, hits *h, int32_t base, int size, extent e) {
    sl_search__skeleton_use_columns(c, e);
    for (c->mask = 1; c->mask < 1u << c->divisors; c->mask++) {
        bool fits;
        if (count_bits(c->mask) != size) continue;
        if (sl_search__skeleton_is_dependent(&fits, c))
            SL_TRY(sl_search__skeleton_add_clear_hit(
                h, c, &(hit){ .base = base, .mask = c->mask, .extent = e }));
        *any = *any || fits;
    }
    return SL_OK;
}

/* Has a divisor columns beside its own? */
static bool has_further(const cleared *c) {
    for (int i = 0; i < c->divisors; i++)
        if (c->divisor[i].divisor->own != (1u << c->divisor[i].divisor->columns) - 1) return true;
    return false;
}

/* Where all columns are too many: those of divisors that are not their own are left out; further
 * ones above, and phases; all divisors but one; then as many as fit. first: of skeletons with the
 * same columns. */
static sl_status try_some(cleared *c, hits *h, int32_t base, bool first) {
    const extent all = { .phases = true }, plain = { .phases = false };
    const extent lean = { .phases = true, .lean = UINT32_MAX };
    const extent own = { .phases = true, .own = true };
    const extent least = { .phases = true, .lean = UINT32_MAX, .own = true };
    const int n = c->divisors;
    const bool phases = sl_search__skeleton_has_phases(c);
    bool fits = false;
    sl_search__skeleton_use_columns(c, all);
    c->mask = (1u << n) - 1;
    if (sl_search__skeleton_clear(c, 0)) return SL_OK;
    if (c->s->sigma == 0 && has_further(c)) {
        SL_TRY(try_masks(&fits, c, h, base, n, own));
        if (!fits) SL_TRY(try_masks(&fits, c, h, base, n, least));
        fits = false;
    }
    if (!first && n == 1) return SL_OK;
    if (first) SL_TRY(try_masks(&fits, c, h, base, n, lean));
    if (first && phases) SL_TRY(try_masks(&fits, c, h, base, n, plain));
    for (int size = n - 1; size > 0 && !fits; size--)
        SL_TRY(try_masks(&fits, c, h, base, size, plain));
    if (n > 1) SL_TRY(try_masks(&fits, c, h, base, n - 1, lean));
    if (phases && n > 1) SL_TRY(try_masks(&fits, c, h, base, n - 1, all));
    return SL_OK;
}

/* ---------------------------------------------------------------- threads ------------------- */

static sl_status screen_part(int64_t begin, int64_t end, int worker, void *payload) {
    const sl_search__skeleton_clear_screening *g = payload;
    sl_status st = SL_OK;
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    if (!c) return sl_fail_memory(1, sizeof *c, "skeletons");
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        const int32_t at = g->s->with_divisors[i], base = at < 0 ? -1 - at : at;
        bool fits = false;
        (void)sl_search__skeleton_find_divisors(c, g->s, base);
        if (g->how == SL_SKELETON__CLEAR_SOME)
            st = try_some(c, &g->hits[worker], base, at >= 0);
        else if (at >= 0)
            st = try_masks(&fits, c, &g->hits[worker], base, c->divisors,
                           (extent){ .phases = true });
    }
    atomic_fetch_add_explicit(&g->s->job->tried, end - begin, memory_order_relaxed);
    sl_free(c);
    return st;
}

/* ---------------------------------------------------------------- a level ------------------- */

/* What a dependence leaves, in steps of 2^3: true ones leave rounding errors, and smooth columns
 * that only approximate y leave more. */
static int leaves(const hit *h) { return h->left < ROUNDING ? 0 : ilogb(h->left / ROUNDING) / 3; }

/* Certain ones first, then fewer columns, then what leaves less, then the order of skeletons. */
static int by_columns(const void *a, const void *b) {
    const hit *p = a, *q = b;
    const bool certain = p->left < CERTAIN;
    if (certain != (q->left < CERTAIN)) return certain ? -1 : 1;
    if (p->columns != q->columns) return p->columns < q->columns ? -1 : 1;
    if (leaves(p) != leaves(q)) return leaves(p) < leaves(q) ? -1 : 1;
    if (p->base != q->base) return p->base < q->base ? -1 : 1;
    if (p->mask != q->mask) return p->mask < q->mask ? -1 : 1;
    if (p->alike != q->alike) return p->alike < q->alike ? -1 : 1;
    return memcmp(p->inside, q->inside, sizeof p->inside);
}

/* What leaves least first, of these fewer columns. */
static int by_rest(const void *a, const void *b) {
    const int p = leaves(a), q = leaves(b);
    return p != q ? (p < q ? -1 : 1) : by_columns(a, b);
}

/* *out := the skeletons of a hit, with its variant in all places. */
static sl_status begin_hit(sl_skeletons **out, alike *k, sl_skeletons *s, const hit *h) {
    *out = h->alike ? &k->s : s;
    if (!h->alike) return SL_OK;
    SL_TRY(sl_search__skeleton_alike_begin(k, s));
    return sl_search__skeleton_alike_set(k, h->alike - 1, h->inside[0].change.variant);
}

static void end_hit(alike *k, const hit *h) {
    if (h->alike) sl_search__skeleton_alike_end(k);
}

typedef struct solving {
    sl_skeletons *s;
    const hit *hit;
    sl_search__skeleton_solution *solution;
} solving;

static sl_status solve_part(int64_t begin, int64_t end, int worker, void *payload) {
    const solving *g = payload;
    for (int64_t i = begin; i < end; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        alike k;
        sl_skeletons *s;
        sl_status st = begin_hit(&s, &k, g->s, &g->hit[i]);
        if (st == SL_OK) st = sl_search__skeleton_clear_solve(&g->solution[i], s, &g->hit[i]);
        end_hit(&k, &g->hit[i]);
        SL_TRY(st);
    }
    return SL_OK;
}

static sl_status offer(bool *good, sl_skeletons *from, const hit *h,
                       const sl_search__skeleton_solution *x, int level) {
    alike k;
    sl_skeletons *s;
    sl_status st = begin_hit(&s, &k, from, h);
    if (st == SL_OK) st = sl_search__skeleton_clear_offer(good, s, h, x, level);
    end_hit(&k, h);
    return st;
}

/* Half of those that are tried leave least, the others have fewest columns: a true dependence of
 * nearly dependent columns leaves more than rounding. */
static void sort_hits(hits *h) {
    if (h->count == 0) return;
    qsort(h->hit, (size_t)h->count, sizeof *h->hit, by_rest);
    const int64_t first = SL_MIN(h->count, HITS_MAX / 2);
    qsort(h->hit + first, (size_t)(h->count - first), sizeof *h->hit, by_columns);
}

/* The constants of some hits on all threads, then their formulas in order; and the next. */
static sl_status verify(sl_skeletons *s, hits *h, int level) {
    sl_status st = SL_OK;
    bool good = false;
    sort_hits(h);
    const int64_t n = SL_MIN(h->count, HITS_MAX);
    for (int64_t from = 0; from < n && st == SL_OK && !good; from += BATCH) {
        sl_search__skeleton_solution solution[BATCH] = { { .found = false } };
        const int64_t batch = SL_MIN(n - from, BATCH);
        solving g = { s, h->hit + from, solution };
        st = sl_par_for(s->job->pool, batch, 1, solve_part, &g);
        if (sl_search__stop(s->job, true)) break;
        for (int64_t i = 0; i < batch && st == SL_OK && !good; i++)
            if (solution[i].found) st = offer(&good, s, &g.hit[i], &solution[i], level);
    }
    return st;
}

static sl_status gather(hits *all, const hits *by_worker, int workers) {
    for (int w = 0; w < workers; w++) all->room += by_worker[w].count;
    all->hit = sl_malloc((size_t)SL_MAX(all->room, 1), sizeof *all->hit);
    if (!all->hit) return sl_fail_memory((size_t)all->room, sizeof *all->hit, "hits of a search");
    for (int w = 0; w < workers; w++) {
        if (by_worker[w].count)
            memcpy(all->hit + all->count, by_worker[w].hit,
                   (size_t)by_worker[w].count * sizeof *all->hit);
        all->count += by_worker[w].count;
    }
    return SL_OK;
}

/* Rows of large |y| would have columns of D alone, those of small |y| columns of N alone. */
static void set_weights(sl_skeletons *s) {
    double mean = 0;
    for (int r = 0; r < s->rows; r++) mean += log(fabs(s->y[r])) / s->rows;
    for (int r = 0; r < s->rows; r++) {
        s->above[r] = 1 / (exp(mean) + fabs(s->y[r]));
        s->below[r] = s->above[r] * s->y[r];
    }
}

/* What each way but SL_SKELETON__CLEAR_ALIKE does with some skeletons. */
static const sl_par_fn screens[] = {
    [SL_SKELETON__CLEAR_ALL] = screen_part,
    [SL_SKELETON__CLEAR_SOME] = screen_part,
    [SL_SKELETON__CLEAR_VARIED_BELOW] = sl_search__skeleton_vary,
    [SL_SKELETON__CLEAR_VARIED_ABOVE] = sl_search__skeleton_vary,
    [SL_SKELETON__CLEAR_VARIED_WIDE] = sl_search__skeleton_vary,
    [SL_SKELETON__CLEAR_VARIED_TWO] = sl_search__skeleton_vary_two,
    [SL_SKELETON__CLEAR_VARIED_TWO_MORE] = sl_search__skeleton_vary_two,
    [SL_SKELETON__CLEAR_VARIED_BOTH] = sl_search__skeleton_vary_both,
};

sl_status sl_search__skeleton_clear_all(sl_skeletons *s, sl_search__skeleton_clearing how,
                                        int level) {
    bool done;
    sl_status st = make_list(&done, s);
    if (st != SL_OK || !done) return st;
    const int workers = sl_par_pool_threads(s->job->pool);
    hits all = { 0 };
    sl_search__skeleton_clear_screening g = { s, sl_calloc((size_t)workers, sizeof *g.hits), how };
    if (!g.hits) return sl_fail_memory((size_t)workers, sizeof *g.hits, "skeletons");
    set_weights(s);
    if (how == SL_SKELETON__CLEAR_ALIKE)
        st = sl_search__skeleton_screen_alike(&done, s, g.hits);
    else
        st = sl_par_for(s->job->pool, s->n_with_divisors, GRAIN, screens[how], &g);
    if (st == SL_OK) st = gather(&all, g.hits, workers);
    if (st == SL_OK && !sl_search__stop(s->job, true)) st = verify(s, &all, level);
    for (int w = 0; w < workers; w++) sl_free(g.hits[w].hit);
    sl_free(g.hits);
    sl_free(all.hit);
    return st;
}
