/* noise - the search where y has errors, so that exact keys do not match.
 *
 * Terms of the store are compared by what they and T(y) leave outside a span of columns that are
 * free (noise_span.c), one, two and three at a time (noise_screen.c). The best thousands of each
 * family are fitted in all rows in the space of y and their exponents and coefficients rounded to
 * simple numbers while that shortens the description (noise_candidate.c); the best few of these,
 * and the best of each size, are offered as formulas.
 *
 * Screening uses a few dozen rows and a crude transform of y, so many candidates must pass: at 10
 * percent of noise the true formula often has rank some hundred. The fits decide. */
#include <math.h>
#include <stdlib.h>

#include "search/noise_impl.h"

/* Work of a level. */
static const sl_search__noise_effort efforts[] = {
    { .terms = 1024,
      .pair_terms = 256,
      .keep_one = 64,
      .keep_two = 64,
      .keep_three = 16,
      .triple_pairs = 16,
      .monomials = 48,
      .factors = 64,
      .offers = 16 },
    { .terms = 4096,
      .pair_terms = 2048,
      .keep_one = 512,
      .keep_two = 512,
      .keep_three = 64,
      .triple_pairs = 64,
      .monomials = 128,
      .factors = 1024,
      .offers = 24 },
    { .terms = 16384,
      .pair_terms = 10240,
      .keep_one = 2048,
      .keep_two = 2048,
      .keep_three = 512,
      .triple_pairs = 256,
      .monomials = 512,
      .factors = 4096,
      .offers = 40 },
    { .terms = 65536,
      .pair_terms = 20480,
      .keep_one = 4096,
      .keep_two = 4096,
      .keep_three = 2048,
      .triple_pairs = 1024,
      .monomials = 2048,
      .factors = 16384,
      .offers = 48 },
};

typedef struct state {
    sl_search__noise_parts parts;
    sl_arena arena;
} state;

/* Families, and the most columns of each.   side  link  degree */
static const struct family {
    sl_side side;
    sl_search__noise_link link;
    int degree;
} families[] = {
    { SL_SIDE_PRODUCT, SL_NOISE__LOG, 0 },        { SL_SIDE_SUM, SL_NOISE__IDENTITY, 1 },
    { SL_SIDE_SUM, SL_NOISE__IDENTITY, 2 },       { SL_SIDE_SUM, SL_NOISE__INVERSE, 1 },
    { SL_SIDE_SUM, SL_NOISE__INVERSE, 2 },        { SL_SIDE_SUM, SL_NOISE__SQUARE, 1 },
    { SL_SIDE_SUM, SL_NOISE__SQUARE, 2 },         { SL_SIDE_SUM, SL_NOISE__INVERSE_SQUARE, 1 },
    { SL_SIDE_SUM, SL_NOISE__INVERSE_SQUARE, 2 },
};

/* ---------------------------------------------------------------- opening ------------------- */

/* Is T defined and invertible on y? Even powers lose the sign of y. */
static bool fits_family(const sl_search__job *j, const struct family *f) {
    int base = sl_search__noise_span_base(j, f->side, f->degree);
    if (base > SL_NOISE__COLUMNS - SL_NOISE__TERMS || base > j->rows.rows - 3) return false;
    if (f->link != SL_NOISE__SQUARE && f->link != SL_NOISE__INVERSE_SQUARE) return true;
    double sum = 0, size = 0;
    for (int64_t i = 0; i < j->rows.rows; i++) sum += j->rows.y[i], size += fabs(j->rows.y[i]);
    return fabs(sum) > 0.98 * size;
}

/* Weights of rows: 1/sigma, in units of the typical one where sigma is known. */
static sl_status make_weights(state *s, sl_search__job *j) {
    sl_search__noise_parts *p = &s->parts;
    p->sigma = j->o->sigma;
    double size = 0;
    for (int i = 0; i < p->rows; i++) size += j->rows.y[i] * j->rows.y[i];
    double rounding = SL_MAX(j->precision, 0x1p-48);
    p->least = size * rounding * rounding;
    for (int i = 0; i < p->rows && !j->rows.sigma; i++) {
        double unit = sl_search__last_unit(j->digits, j->rows.y[i]);
        p->least += unit * unit / 12;
    }
    if (!j->rows.sigma) return SL_OK;
    double *w = sl_arena_alloc(&s->arena, (size_t)p->rows * sizeof *w);
    if (!w) return sl_fail_memory((size_t)p->rows, sizeof *w, "weights of rows");
    double unit = 0;
    for (int i = 0; i < p->rows; i++) unit += log(j->rows.sigma[i]) / p->rows;
    unit = exp(unit);
    for (int i = 0; i < p->rows; i++) w[i] = unit / j->rows.sigma[i];
    p->sigma = j->rows.sigma_absolute ? unit : 0;
    p->weight = w;
    return SL_OK;
}

static void close_noise(void *payload) {
    state *s = payload;
    for (int side = 0; side < 2; side++)
        sl_search__noise_terms_clear(&s->parts.terms[side], s->parts.j);
    if (s->parts.store) sl_search__store_close(s->parts.store);
    sl_arena_clear(&s->arena);
    sl_free(s);
}

static sl_status open_noise(void **out, sl_search__job *j) {
    sl_status st;
    state *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "a search under noise");
    sl_search__noise_parts *p = &s->parts;
    p->j = j;
    p->rows = (int)j->rows.rows;
    SL_GO(make_weights(s, j));
    SL_GO(sl_search__store_open(&p->store, j, SL_MIN(p->rows, SL_NOISE__PROBES)));
    for (int k = 0; k < SL_LEN(families); k++) {
        if (!fits_family(j, &families[k])) continue;
        SL_GO(sl_search__noise_span_make(&p->span[p->spans++], &s->arena, j, p->weight,
                                         families[k].side, families[k].link, families[k].degree,
                                         sl_search__store_stride(p->store)));
    }
    *out = s;
    return SL_OK;
done:
    close_noise(s);
    return st;
}

/* ---------------------------------------------------------------- candidates ---------------- */

typedef struct list {
    sl_search__noise_candidate *item;
    int n, room;
} list;

static sl_status append(list *l, const sl_search__noise_candidate *item, int n) {
    if (l->n + n > l->room) {
        int room = SL_MAX(2 * l->room, l->n + n);
        sl_search__noise_candidate *grown = sl_realloc(l->item, (size_t)room, sizeof *grown);
        if (!grown) return sl_fail_memory((size_t)room, sizeof *grown, "candidates under noise");
        l->item = grown, l->room = room;
    }
    memcpy(l->item + l->n, item, (size_t)n * sizeof *item);
    l->n += n;
    return SL_OK;
}

/* The span alone, and y^p z in the span for monomials z. */
static sl_status add_closures(list *l, const sl_search__noise_parts *p, int span, int monomials) {
    int n = 0;
    if (p->span[span].side == SL_SIDE_SUM && p->span[span].base <= 36)
        SL_TRY(sl_search__store_monomials(&n, p->store, monomials));
    for (int z = -1; z < n; z++) {
        sl_search__noise_candidate c = { .span = span, .monomial = z };
        if (z == 0) continue; // the monomial 1
        SL_TRY(append(l, &c, 1));
    }
    return SL_OK;
}

/* A polynomial times a power of a term of products. */
static sl_status add_factors(list *l, const sl_search__noise_parts *p, int span, int factors) {
    static const int powers[] = { 2, -2, 1, -1 };
    const sl_search__noise_terms *t = &p->terms[SL_SIDE_PRODUCT];
    const sl_search__noise_span *s = &p->span[span];
    if (s->side != SL_SIDE_SUM || s->link != SL_NOISE__IDENTITY || s->base > 36) return SL_OK;
    for (int k = 0; k < SL_MIN(t->n, factors); k++) {
        for (int e = 0; e < SL_LEN(powers); e++) {
            sl_search__noise_candidate c = {
                .span = span, .monomial = -1, .power = powers[e], .at = { t->order[k] }
            };
            SL_TRY(append(l, &c, 1));
        }
    }
    return SL_OK;
}

static sl_status screen_span(list *l, const sl_search__noise_parts *p, int span,
                             const sl_search__noise_effort *e) {
    const int keep[SL_NOISE__TERMS] = { e->keep_one, e->keep_two, e->keep_three };
    sl_search__noise_top top[SL_NOISE__TERMS];
    sl_search__noise_candidate *room = NULL;
    int total = 0;
    for (int k = 0; k < SL_NOISE__TERMS; k++) total += keep[k];
    room = sl_malloc((size_t)total, sizeof *room);
    if (!room) return sl_fail_memory((size_t)total, sizeof *room, "candidates under noise");
    for (int k = 0, at = 0; k < SL_NOISE__TERMS; at += keep[k++]) {
        top[k] = (sl_search__noise_top){ .room = keep[k], .worst = INFINITY, .list = room + at };
    }
    sl_status st =
        sl_search__noise_screen(top, p->j, &p->span[span], span, &p->terms[p->span[span].side], e);
    for (int k = 0; k < SL_NOISE__TERMS && st == SL_OK; k++) {
        sl_search__noise_top_finish(&top[k]);
        st = append(l, top[k].list, top[k].n);
    }
    sl_free(room);
    return st;
}

static sl_status gather_candidates(list *l, state *s, const sl_search__noise_effort *e) {
    sl_search__noise_parts *p = &s->parts;
    for (int side = 0; side < 2; side++) {
        SL_TRY(sl_search__noise_terms_gather(&p->terms[side], p->j, p->store, (sl_side)side,
                                             e->terms));
    }
    for (int k = 0; k < p->spans && !sl_search__stop(p->j, true); k++) {
        SL_TRY(add_closures(l, p, k, e->monomials));
        SL_TRY(add_factors(l, p, k, e->factors));
        SL_TRY(screen_span(l, p, k, e));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- offers -------------------- */

/* Nearly equal sum of squares and price: taken for the same formula found twice. */
static bool is_repeated(const sl_search__noise_outcome *o, sl_search__noise_outcome *const *chosen,
                        int n) {
    for (int k = 0; k < n; k++) {
        const sl_search__noise_fit *f = &chosen[k]->fit;
        if (fabs(f->rss - o->fit.rss) <= 1e-6 * f->rss) return true;
    }
    return false;
}

static int cmp_price(const void *a, const void *b) {
    const sl_search__noise_outcome *p = *(sl_search__noise_outcome *const *)a;
    const sl_search__noise_outcome *q = *(sl_search__noise_outcome *const *)b;
    if (p->fit.price != q->fit.price) return p->fit.price < q->fit.price ? -1 : 1;
    return sl_search__noise_outcome_cmp(p, q);
}

/* chosen[] := the best by bits, then the front of price against error; outcomes are sorted by bits.
 */
static int choose(sl_search__noise_outcome **chosen, sl_search__noise_outcome *o,
                  sl_search__noise_outcome **order, int n, int offers) {
    int taken = 0, finite = 0;
    while (finite < n && isfinite(o[finite].fit.bits)) order[finite] = &o[finite], finite++;
    for (int k = 0; k < finite && taken < offers / 2; k++) {
        if (!is_repeated(&o[k], chosen, taken)) chosen[taken++] = &o[k];
    }
    qsort(order, (size_t)finite, sizeof *order, cmp_price);
    double least = INFINITY;
    for (int k = 0; k < finite && taken < offers; k++) {
        if (order[k]->fit.rss > 0.98 * least) continue;
        least = order[k]->fit.rss;
        if (!is_repeated(order[k], chosen, taken)) chosen[taken++] = order[k];
    }
    return taken;
}

static sl_status offer(state *s, const sl_search__noise_outcome *o, int level) {
    sl_arena arena = { 0 };
    const sl_node *e;
    double value[SL_NOISE__COLUMNS + 4];
    int params;
    bool kept;
    sl_status st = sl_search__noise_expr(&e, value, &params, &arena, &s->parts, o);
    if (st == SL_OK && params <= SL_FIT_MAX_PARAMS) {
        st = sl_search__offer(&kept, s->parts.j, e, value, params, "noise", level);
        if (st == SL_OK && !kept)
            st = sl_search__offer_noisy(&kept, s->parts.j, e, value, params, "noise", level);
    }
    sl_arena_clear(&arena);
    return sl_search__skip_overflow(st);
}

/* One step of a fit is enough to select candidates. Those are fitted to the end. */
static sl_status fit_closely(state *s, sl_search__noise_outcome *outcome,
                             sl_search__noise_outcome **chosen, int n) {
    sl_search__noise_candidate *again = sl_malloc((size_t)n, sizeof *again);
    if (!again) return sl_fail_memory((size_t)n, sizeof *again, "candidates under noise");
    for (int k = 0; k < n; k++) again[k] = chosen[k]->candidate;
    sl_status st = sl_search__noise_fit_all(outcome, &s->parts, again, n, 8);
    sl_free(again);
    if (st == SL_OK) qsort(outcome, (size_t)n, sizeof *outcome, sl_search__noise_outcome_cmp);
    return st;
}

static sl_status offer_best(state *s, sl_search__noise_outcome *outcome, int n, int level) {
    enum { CLOSELY = 8 }; // times as many are fitted closely as are offered
    int offers = efforts[level].offers;
    sl_search__noise_outcome **order =
        sl_malloc((size_t)n + (size_t)offers * CLOSELY, sizeof *order);
    if (!order) return sl_fail_memory((size_t)n, sizeof *order, "candidates under noise");
    sl_search__noise_outcome **chosen = order + n;
    sl_status st;
    qsort(outcome, (size_t)n, sizeof *outcome, sl_search__noise_outcome_cmp);
    int taken = choose(chosen, outcome, order, n, offers * CLOSELY);
    SL_GO(fit_closely(s, outcome, chosen, taken));
    taken = choose(chosen, outcome, order, taken, offers);
    for (int k = 0; k < taken && st == SL_OK && !sl_search__stop(s->parts.j, true); k++) {
        st = offer(s, chosen[k], level);
    }
done:
    sl_free(order);
    return st;
}

/* ---------------------------------------------------------------- the end ------------------- */

/* The formula of fewest bits so far; NULL: none. */
static const sl_search_formula *best_of(const sl_search__job *j) {
    const sl_search_formula *best = NULL;
    for (int k = 0; k < j->n_kept; k++) {
        if (!best || j->kept[k].bits.total < best->bits.total) best = &j->kept[k];
    }
    return best;
}

static uint64_t hash_of_best(const sl_search__job *j) {
    const sl_search_formula *best = best_of(j);
    return best ? sl_expr_hash(best->fit.expr) | 1 : 0;
}

/* Ends the search if the best formula leaves nothing but noise and was already the best before this
 * level. `before`: hash of the best one then. */
static sl_status end_if_found(state *s, uint64_t before) {
    sl_search__job *j = s->parts.j;
    const sl_search_formula *best = best_of(j);
    bool within;
    double sigma;
    if (!best || hash_of_best(j) != before || best->exact) return SL_OK;
    SL_TRY(sl_search__judge_noise(&sigma, &within, j, best, SL_SEARCH__NOISE_PROBABILITY));
    if (within) SL_TRY(sl_search__noise_is_certain(&within, j, best));
    if (within) sl_search__end(j, SL_SEARCH_FOUND);
    return SL_OK;
}

/* ---------------------------------------------------------------- a level ------------------- */

static sl_status run_level(bool *more, void *payload, int level) {
    state *s = payload;
    sl_search__job *j = s->parts.j;
    list l = { 0 };
    sl_search__noise_outcome *outcome = NULL;
    int64_t bytes = 0;
    sl_status st;
    uint64_t before = hash_of_best(j);
    SL_ASSERT(level < SL_LEN(efforts));
    *more = level + 1 < SL_LEN(efforts) && !j->o->exact_only;
    if (j->o->exact_only) return SL_OK;
    SL_GO(gather_candidates(&l, s, &efforts[level]));
    int64_t needed = (int64_t)l.n * (int64_t)(sizeof *outcome + 8 * (size_t)s->parts.rows);
    if (!sl_search__reserve(j, needed)) goto done;
    bytes = needed;
    outcome = sl_malloc((size_t)l.n, sizeof *outcome);
    if (!outcome) {
        st = sl_fail_memory((size_t)l.n, sizeof *outcome, "fits of the search under noise");
        goto done;
    }
    SL_GO(sl_search__noise_fit_all(outcome, &s->parts, l.item, l.n, 1));
    SL_GO(offer_best(s, outcome, l.n, level));
    if (level > 0 && !sl_search__stop(j, true)) st = end_if_found(s, before);
done:
    sl_free(outcome);
    sl_free(l.item);
    if (bytes) sl_search__release(j, bytes);
    return st;
}

const sl_search__method sl_search__noise = { "noise", open_noise, run_level, close_noise };
