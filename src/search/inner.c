/* inner - constants inside functions that are on no list: frequencies, rates, shifts, exponents.
 *
 * All but one or two constants of a formula T(y) = base + b m u(z; t) are coefficients: for a given
 * t they follow by least squares. So t is scanned on a grid, at a few dozen rows that are far
 * apart, for each family u and monomials z and m (inner_scan.c). The best points are moved to their
 * minima there, then solved in all rows; the best of these are fitted with all constants free and
 * offered (inner_offer.c). With exact data only candidates with next to no residual are fitted.
 *
 * A part of the work is one pair (u, z) with a result slot of its own. */
#include <math.h>
#include <stdlib.h>

#include "par/par.h"
#include "search/inner_impl.h"

/* Work of a level: monomials z and m for families of one inner constant, and of two; frequencies by
 * row; how many are moved to their minima, solved in all rows, and offered. */
static const struct effort {
    int z, m, z_two, m_two;
    int frequencies, frequencies_most;
    int minimize, solve, exact, noisy;
} efforts[] = {
    { 15, 4, 0, 0, 2, 128, 128, 32, 8, 4 },
    { 60, 16, 12, 5, 2, 512, 512, 128, 24, 10 },
};

static const double EXACT_LEFT[] = { 1e-9, 1e-3 }; // of y's variance, by inner constants

enum { BATCH = 32 }; // pairs between two checks of the clock

/* ---------------------------------------------------------------- pairs --------------------- */

typedef struct pair {
    sl_search__inner_family family;
    int z, monomials;
} pair;

typedef struct work {
    const sl_inner *s;
    pair *pair;
    int pairs, slots, frequencies; // slots: candidates of one pair
    int64_t first;                 // pair of the batch
    sl_search__inner_candidate *candidate;
} work;

static int inner_constants(sl_search__inner_family f) {
    return sl_search__inner_traits_of[f].coordinate[1] == SL_INNER__NONE ? 1 : 2;
}

/* Logarithms of tanh and of exp - 1 need a z of one sign. */
static bool fits(const sl_inner *s, sl_search__inner_family f, int z) {
    const sl_search__inner_range *r = &s->monomial[z].range;
    if (!(s->job->o->ops >> sl_search__inner_traits_of[f].op & 1)) return false;
    if (f == SL_INNER__TANHS || f == SL_INNER__EXPM1) return r->low > 0 || r->high < 0;
    return true;
}

static void list_pairs(work *w, const struct effort *e) {
    const sl_inner *s = w->s;
    for (int f = 0; f < SL_INNER__FAMILY_COUNT; f++) {
        bool two = inner_constants((sl_search__inner_family)f) == 2;
        bool product = sl_search__inner_traits_of[f].side == SL_SIDE_PRODUCT;
        int zs = SL_MIN(two ? e->z_two : e->z, s->monomials - 1);
        int ms = product ? 1 : SL_MIN(two ? e->m_two : e->m, s->monomials);
        if (s->span[sl_search__inner_traits_of[f].side].targets == 0) continue;
        for (int z = 1; z <= zs; z++)
            if (fits(s, (sl_search__inner_family)f, z))
                w->pair[w->pairs++] = (pair){ (sl_search__inner_family)f, z, ms };
    }
}

static sl_status scan_part(int64_t begin, int64_t end, int worker, void *payload) {
    const work *w = payload;
    (void)worker;
    for (int64_t i = w->first + begin; i < w->first + end; i++) {
        const pair *p = &w->pair[i];
        sl_search__inner_candidate *to = w->candidate + i * w->slots;
        for (int k = 0; k < w->slots; k++)
            to[k] = (sl_search__inner_candidate){ p->family,
                                                  p->z,
                                                  k / SL_INNER__TARGETS,
                                                  k % SL_INNER__TARGETS,
                                                  .left = INFINITY,
                                                  .number = (int)(i * w->slots) + k };
        sl_search__inner_scan(to, w->s, p->family, p->z, p->monomials, w->frequencies);
    }
    return SL_OK;
}

static sl_status minimize_part(int64_t begin, int64_t end, int worker, void *payload) {
    const work *w = payload;
    (void)worker;
    for (int64_t i = begin; i < end && !sl_search__stop(w->s->job, false); i++)
        sl_search__inner_minimize(&w->candidate[i], w->s);
    return SL_OK;
}

static sl_status solve_part(int64_t begin, int64_t end, int worker, void *payload) {
    const work *w = payload;
    double coefficient[SL_INNER__BASE + 2];
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        SL_TRY(sl_search__inner_solve(coefficient, &w->candidate[i], w->s));
    return SL_OK;
}

/* ---------------------------------------------------------------- order --------------------- */

static int by_bits(const void *a, const void *b) {
    const sl_search__inner_candidate *p = a, *q = b;
    if (p->bits != q->bits) return p->bits < q->bits ? -1 : 1;
    return p->number - q->number;
}

/* Sorts n candidates by bits of `rows` residuals and of their structure; returns how many have a
 * finite residual. */
static int sort(sl_search__inner_candidate *c, int n, const sl_inner *s, double rows) {
    static const int transform_bits[] = { [SL_INNER__SAME] = 0,
                                          [SL_INNER__SQUARED] = 5,
                                          [SL_INNER__INVERTED] = 5,
                                          [SL_INNER__LOGARITHM] = 7,
                                          [SL_INNER__FACTORS] = 2 };
    int finite = 0;
    for (int i = 0; i < n; i++) {
        if (!(c[i].left < INFINITY)) continue;
        const sl_search__inner_traits *traits = &sl_search__inner_traits_of[c[i].family];
        const sl_search__inner_target *t = &s->span[traits->side].target[c[i].target];
        c[finite] = c[i];
        c[finite++].bits = 0.5 * rows * log2(SL_MAX(c[i].left, 0x1p-60)) + traits->bits +
                           s->monomial[c[i].z].bits + s->monomial[c[i].m].bits +
                           transform_bits[t->transform];
    }
    qsort(c, (size_t)finite, sizeof *c, by_bits);
    return finite;
}

/* ---------------------------------------------------------------- a level ------------------- */

static sl_status offer_best(sl_inner *s, const sl_search__inner_candidate *c, int n,
                            const struct effort *e) {
    enum { ROWS_LEAST = 16 }; // with fewer an inner constant fits any residual
    bool noise = !s->job->o->exact_only && s->rows >= ROWS_LEAST, exact;
    int tried = 0, noisy = 0;
    for (int i = 0; i < n && !sl_search__stop(s->job, true); i++) {
        bool close = c[i].left < EXACT_LEFT[inner_constants(c[i].family) - 1] && tried < e->exact;
        bool approximate = noise && noisy < e->noisy && s->job->exact == 0;
        if (!close && !approximate) continue;
        tried += close, noisy += approximate;
        SL_TRY(sl_search__inner_offer(&exact, s, &c[i], approximate));
    }
    return SL_OK;
}

/* Rows that the residual on a coarse grid counts as, fewer than there are: it is only roughly the
 * minimum. */
static const double GRID_ROWS = 8;

static sl_status run(work *w, sl_inner *s, const struct effort *e) {
    sl_pool *pool = s->job->pool;
    for (w->first = 0; w->first < w->pairs; w->first += BATCH) {
        if (sl_search__stop(s->job, true)) return SL_OK;
        SL_TRY(sl_par_for(pool, SL_MIN((int64_t)BATCH, w->pairs - w->first), 1, scan_part, w));
    }
    int n = sort(w->candidate, w->pairs * w->slots, s, GRID_ROWS);
    n = SL_MIN(n, e->minimize);
    SL_TRY(sl_par_for(pool, n, 4, minimize_part, w));
    n = SL_MIN(sort(w->candidate, n, s, s->probes), e->solve);
    if (sl_search__stop(s->job, true)) return SL_OK;
    SL_TRY(sl_par_for(pool, n, 4, solve_part, w));
    n = sort(w->candidate, n, s, s->rows);
    return offer_best(s, w->candidate, n, e);
}

static sl_status level_inner(bool *more, void *state, int level) {
    sl_inner *s = state;
    const struct effort *e = &efforts[level];
    sl_status st = SL_OK;
    work w = { .s = s };
    *more = level + 1 < SL_LEN(efforts);
    if (s->monomials == 0) return SL_OK;
    int most = SL_INNER__FAMILY_COUNT * e->z;
    w.slots = SL_MIN(e->m, s->monomials) * SL_INNER__TARGETS;
    w.frequencies = SL_MIN(e->frequencies * s->rows, e->frequencies_most);
    s->level = level;
    int64_t bytes = most * (int64_t)(sizeof *w.pair + (size_t)w.slots * sizeof *w.candidate);
    if (!sl_search__reserve(s->job, bytes)) return SL_OK;
    w.pair = sl_malloc((size_t)most, sizeof *w.pair);
    w.candidate = sl_malloc((size_t)most * (size_t)w.slots, sizeof *w.candidate);
    if (w.pair && w.candidate) {
        list_pairs(&w, e);
        st = run(&w, s, e);
    } else {
        st = sl_fail_memory(1, (size_t)bytes, "the grid of inner constants");
    }
    sl_free(w.candidate);
    sl_free(w.pair);
    sl_search__release(s->job, bytes);
    return st;
}

/* ---------------------------------------------------------------- the method ---------------- */

static void close_inner(void *state) {
    sl_inner *s = state;
    if (!s) return;
    sl_search__release(s->job, s->bytes);
    sl_arena_clear(&s->arena);
    sl_free(s);
}

/* Without memory for its columns the method has no monomials, and its levels do nothing. */
static sl_status open_inner(void **state, sl_search__job *j) {
    enum { COLUMNS = 300 }; // of the base, of targets and monomials, at most
    sl_inner *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "the search for inner constants");
    s->job = j;
    int64_t bytes =
        COLUMNS * SL_MAX(j->rows.rows, (int64_t)SL_INNER__PROBES) * (int64_t)sizeof(double);
    sl_status st = SL_OK;
    if (sl_search__reserve(j, bytes)) {
        s->bytes = bytes;
        st = sl_search__inner_prepare(s);
    }
    if (st != SL_OK) {
        close_inner(s);
        return st;
    }
    *state = s;
    return SL_OK;
}

const sl_search__method sl_search__inner = { "inner", open_inner, level_inner, close_inner };
