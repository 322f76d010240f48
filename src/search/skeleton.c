/* skeleton - the skeletons of the grammar one by one, with constants outside of functions free.
 *
 * A pair's skeleton is multiplied out before constants go in: (sqrt(x2) - sin(x1)) (exp(x1) +
 * exp(x2)) is four terms, x1/(x1 + x2) - sin(x1)/(x1 + x2) two, and each gets constants of its own,
 * also in its own copy of the divisor. Two halves (lattice.c) do not make such sums. But there are
 * only some hundred thousand skeletons (skeleton_bases.c), and for a given one most constants need
 * no search: those outside of functions and divisors are coefficients of a linear combination. Up
 * to two constants inside are enumerated (skeleton_pieces.c, skeleton_screen.c, skeleton_two.c).
 * Hits are fitted in all rows, reduced to the columns that are needed, and offered
 * (skeleton_verify.c).
 *
 *   level 0   two terms, one constant in one of them or, without further columns, in each
 *   level 1   y times the divisors: no constant inside functions, any in divisors
 *             (skeleton_clear.c)
 *   level 2   as level 1, with one constant inside a function of a divisor
 *   level 3   as level 1 where columns are too many: some of them, or some of the divisors
 *   level 4   as level 1, with one constant inside a function of a numerator
 *   level 5   as level 0, for three terms and more, and divisors that are sums
 *   level 6   all of them, one constant in each of two factors of one term
 *   level 7   all of them, with fractions beside variables; two terms: a constant in each of them
 *   level 8   all of them, two constants in one factor (skeleton_two.c)
 *   level 9   as levels 2 and 4, where the function is in many columns
 *   level 10  as level 5, a constant in each of two terms, with further columns
 *   level 11  as level 1, one constant, the same in all places of a function (skeleton_alike.c)
 *   level 12  as levels 2 and 4, with a constant inside each of two functions
 *             (skeleton_vary_two.c), where that is cheap
 *   level 13  some more of them
 *   level 14  a function of a half, with one constant inside (skeleton_function.c)
 *   level 15  one term, one constant in each of two factors that are no divisors
 *   level 16  as level 1, one term: a constant in each of two functions (skeleton_both.c)
 *
 * Where y is rounded (skeleton_fits.c, skeleton_clear_rounded.c) levels 2, 4 and 8 to 16 do not
 * apply, the order is another one, and level 10 has fewer skeletons:
 *
 *   level 17  no divisors that are sums, one constant in each of two terms
 *
 * Levels 1 to 4, 9, 11 to 13, 15 and 16 have products of one term too; otherwise these are the
 * lattice's.
 *
 * Only operators of the default grammar are supported. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/skeleton_impl.h"

enum { LEVELS = 18, ROWS_LEAST = 48, GRAIN = 512 };

/* ---------------------------------------------------------------- open and close ------------ */

static void close_skeletons(void *state) {
    sl_skeletons *s = state;
    if (!s) return;
    for (int32_t i = 0; i < s->pieces; i++)
        for (int k = 0; k < SL_SKELETON__SETS; k++) {
            sl_free(s->piece[i].set[k].list);
            sl_free(s->piece[i].set[k].value);
        }
    if (s->hits)
        for (int w = 0; w < sl_par_pool_threads(s->job->pool); w++) sl_free(s->hits[w].hit);
    sl_free(s->hits);
    sl_free(s->node_index.slot);
    sl_free(s->term_index.slot);
    sl_free(s->base_index.slot);
    sl_free(s->node);
    sl_free(s->term);
    sl_free(s->base);
    sl_free(s->with_divisors);
    sl_free(s->piece);
    sl_search__release(s->job, s->bytes);
    sl_arena_clear(&s->scratch);
    sl_arena_clear(&s->arena);
    sl_free(s);
}

static bool applies(const sl_search__job *j) {
    const sl_search_grammar *g = j->o->grammar;
    const sl_dataset *p = &j->rows;
    if (!(j->o->ops >> SL_OPERATOR_COS & 1)) return false; // phases
    if (!g || g->ops != SL_UNIVERSE_ALL_OPS || g->depth < 3 || p->inputs < 1 ||
        p->inputs > SL_SKELETON__INPUTS || p->inputs > g->variables || p->rows < ROWS_LEAST)
        return false;
    for (int64_t r = 0; r < p->rows; r++)
        if (!(fabs(p->y[r]) > 1e-100 && fabs(p->y[r]) < 1e100)) return false;
    return true;
}

/* Largest rounding error of y, by row. */
static void set_rounding(sl_skeletons *s) {
    const sl_digits digits = sl_search__digits(s->job->rows.y, s->job->rows.rows);
    double sum = 0;
    for (int r = 0; r < s->rows && digits.kind != SL_DIGITS_FULL; r++) {
        s->rounding[r] = 0.5 * sl_search__last_unit(digits, s->y[r]) * s->weight[r];
        sum += s->rounding[r] * s->rounding[r];
    }
    s->sigma = sqrt(sum / (3 * s->rows));
}

static sl_status open_skeletons(void **state, sl_search__job *j) {
    *state = NULL;
    if (!applies(j)) return SL_OK;
    sl_skeletons *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "skeletons");
    s->job = j;
    s->kernels = sl_search__skeleton_kernels_at(sl_cpu());
    s->low = SL_MAX(j->o->grammar->low, -99), s->high = SL_MIN(j->o->grammar->high, 99);
    s->rows = (int)SL_MIN(j->rows.rows, SL_SKELETON__ROWS);
    s->variables = j->rows.inputs;
    for (int v = 0; v < s->variables; v++) s->x[v] = j->rows.x[v];
    s->y = j->rows.y;
    for (int r = 0; r < s->rows; r++) s->weight[r] = 1 / fabs(s->y[r]);
    set_rounding(s);
    s->hits = sl_calloc((size_t)sl_par_pool_threads(j->pool), sizeof *s->hits);
    if (!s->hits) {
        close_skeletons(s);
        return sl_fail_memory(1, sizeof *s->hits, "skeletons");
    }
    *state = s;
    return SL_OK;
}

/* ---------------------------------------------------------------- levels -------------------- */

enum {
    ONE = 1u << SL_SKELETON__ONE,
    FRACTION = 1u << SL_SKELETON__FRACTION,
};

/* Skeletons of a level. */
typedef enum which { NONE, ONE_TERM, TWO_TERMS, OTHERS, ALL, NO_QUOTIENTS } which;

/* As sl_search__skeleton_screening has them. */
static const struct level {
    bool cleared; // of divisors
    sl_search__skeleton_clearing clearing;
    which which;
    uint32_t sets;
    which pairs;
    bool pairs_alone;
    bool inside;
    bool two;       // of skeleton_two.c
    bool functions; // of skeleton_function.c
} levels[LEVELS] = {
    { .which = TWO_TERMS, .sets = ONE },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_ALL },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_VARIED_BELOW },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_SOME },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_VARIED_ABOVE },
    { .which = OTHERS, .sets = ONE },
    { .which = ALL, .inside = true },
    { .which = ALL, .sets = ONE | FRACTION, .pairs = TWO_TERMS },
    { .two = true },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_VARIED_WIDE },
    { .sets = ONE, .pairs = OTHERS, .pairs_alone = true },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_ALIKE },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_VARIED_TWO },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_VARIED_TWO_MORE },
    { .functions = true },
    { .which = ONE_TERM, .inside = true },
    { .cleared = true, .clearing = SL_SKELETON__CLEAR_VARIED_BOTH },
    { .which = NO_QUOTIENTS, .sets = ONE, .pairs = NO_QUOTIENTS },
};

enum { PAIRS_ROUNDED = LEVELS - 1, NOT_ROUNDED = 11 };

/* The order where y is rounded, by what is found; the last ones do not apply. */
static const int rounded_levels[LEVELS] = { 0,  1,  3,  5,  7,  PAIRS_ROUNDED,
                                            6,  8,  9,  10, 11, 12,
                                            13, 14, 15, 16, 2,  4 };

static bool is_of(const sl_search__skeleton_base *b, which w) {
    if (w == ONE_TERM) return b->terms == 1;
    if (b->terms < 2) return false;
    switch (w) {
    case TWO_TERMS: return b->terms == 2 && !b->quotient;
    case OTHERS: return b->terms > 2 || b->quotient;
    case NO_QUOTIENTS: return !b->quotient;
    case NONE: return false;
    default: return true;
    }
}

static sl_status gather(sl_search__skeleton_hits *all, sl_skeletons *s) {
    const int workers = sl_par_pool_threads(s->job->pool);
    for (int w = 0; w < workers; w++) all->room += s->hits[w].count;
    all->hit = sl_malloc((size_t)SL_MAX(all->room, 1), sizeof *all->hit);
    if (!all->hit) return sl_fail_memory((size_t)all->room, sizeof *all->hit, "hits of a search");
    for (int w = 0; w < workers; w++) {
        if (s->hits[w].count)
            memcpy(all->hit + all->count, s->hits[w].hit,
                   (size_t)s->hits[w].count * sizeof *all->hit);
        all->count += s->hits[w].count;
        s->hits[w].count = 0;
    }
    return SL_OK;
}

/* Has a skeleton no fractions, so that a level with these adds nothing to levels 0 and 5? */
static bool is_tried(const sl_skeletons *s, const sl_search__skeleton_base *b, int level) {
    const uint32_t before = 1u << 0 | 1u << 5;
    if (!(levels[level].sets & FRACTION) || (s->screened & before) != before) return false;
    for (int t = 0; t < b->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[b->term[t]];
        for (int f = 0; f < term->factors; f++)
            if (s->piece[term->piece[f]].set[SL_SKELETON__FRACTION].count > 0) return false;
    }
    return true;
}

/* The skeletons of a level against variants of its sets. */
static sl_status screen_sets(sl_skeletons *s, int level) {
    const bool pairs = s->sigma == 0 || level == PAIRS_ROUNDED;
    int32_t n = 0, with_pairs = 0, *list = sl_malloc((size_t)SL_MAX(s->bases, 1), sizeof *list);
    if (!list) return sl_fail_memory((size_t)s->bases, sizeof *list, "skeletons");
    for (int32_t i = 0; i < s->bases; i++)
        if (pairs && is_of(&s->base[i], levels[level].pairs)) list[n++] = i;
    with_pairs = n;
    for (int32_t i = 0; i < s->bases; i++)
        if (is_of(&s->base[i], levels[level].which) &&
            !(pairs && is_of(&s->base[i], levels[level].pairs)) && !is_tried(s, &s->base[i], level))
            list[n++] = i;
    sl_search__skeleton_screening g = {
        s, list, with_pairs, levels[level].pairs_alone, levels[level].sets, levels[level].inside
    };
    sl_status st = sl_par_for(s->job->pool, n, GRAIN, sl_search__skeleton_screen, &g);
    sl_free(list);
    return st;
}

static sl_status screen_level(sl_skeletons *s, int level) {
    sl_search__skeleton_hits all = { 0 };
    bool done = true;
    sl_status st =
        levels[level].two ? sl_search__skeleton_screen_two(&done, s) : screen_sets(s, level);
    if (st != SL_OK || !done || sl_search__stop(s->job, true)) return st;
    st = gather(&all, s);
    if (st == SL_OK) st = sl_search__skeleton_verify(s, &all, level);
    sl_free(all.hit);
    return st;
}

static sl_status make_variants(bool *done, sl_skeletons *s, int set, int rows) {
    if (s->made >> set & 1) return SL_OK;
    SL_TRY(sl_search__skeleton_make_variants(done, s, set, rows));
    s->made |= 1u << set;
    return SL_OK;
}

/* Counts what expressions and values of pieces take; false: more than is allowed. */
static bool count_arena(sl_skeletons *s) {
    const int64_t bytes = (int64_t)sl_arena_mark(&s->arena);
    if (!sl_search__reserve(s->job, bytes)) return false;
    s->bytes += bytes;
    return true;
}

/* The skeletons, their pieces and the variants of a level. *done := false where there is no memory.
 */
static sl_status prepare(bool *done, sl_skeletons *s, int level) {
    *done = true;
    if (s->bases == 0) {
        SL_TRY(sl_search__skeleton_list(done, s));
        if (*done) SL_TRY(sl_search__skeleton_make_pieces(done, s));
        if (*done) *done = count_arena(s);
    }
    if (*done && level != 1) SL_TRY(make_variants(done, s, SL_SKELETON__ONE, SL_SKELETON__FITTED));
    if (*done && (levels[level].sets & FRACTION))
        SL_TRY(make_variants(done, s, SL_SKELETON__FRACTION, SL_SKELETON__FITTED));
    return SL_OK;
}

static sl_status run_level(bool *more, void *state, int number) {
    sl_skeletons *s = state;
    bool done;
    const int n = s && s->sigma > 0 ? LEVELS - NOT_ROUNDED : PAIRS_ROUNDED;
    *more = false;
    if (!s || number >= n) return SL_OK;
    s->levels_run |= 1u << number; // in any order
    *more = s->levels_run != (1u << n) - 1;
    const int level = s->sigma > 0 ? rounded_levels[number] : number;
    if (levels[level].functions) return sl_search__skeleton_functions(s, level);
    SL_TRY(prepare(&done, s, level));
    if (!done) *more = false;
    if (!done || sl_search__stop(s->job, true)) return SL_OK;
    if (levels[level].cleared)
        return sl_search__skeleton_clear_all(s, levels[level].clearing, level);
    SL_TRY(screen_level(s, level));
    s->screened |= 1u << level;
    return SL_OK;
}

const sl_search__method sl_search__skeletons = { "skeletons", open_skeletons, run_level,
                                                 close_skeletons };
