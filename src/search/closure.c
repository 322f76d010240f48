/* closure - formulas of two halves with real constants, at most one of them inside a function.
 *
 * closure_impl.h shows how such a formula becomes linear: y D = N in products of atoms, all
 * coefficients free. closure_scan.c enumerates shapes (closure_shapes.c) and atoms
 * (closure_atoms.c, closure_curves.c). The constant inside a curve starts at a point of a grid and
 * is moved to a root of the residual (closure_refine.c). closure_verify.c solves for the
 * coefficients, checks rows that were not fitted, and offers the formula.
 *
 *   level 0   two halves of up to four simple atoms, or one half a nested function
 *   level 1   the same with up to three atoms, one of them a curve of one input
 *   level 2   one half is a curve of products, quotients or functions of inputs
 *   level 3   four atoms, one of them a curve of one input */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/num.h"
#include "par/par.h"
#include "search/closure_impl.h"

enum { LEVELS = 4, ROWS_LEAST = 24, ATTEMPTS = 48, SCANS = 64, BATCH = 32 };

/* Choices with a curve that are refined. */
static const int refined_of[LEVELS] = { 0, 3000, 2000, 6000 };

/* Columns of a choice, and rows of the first test. */
static const int columns_of[LEVELS] = { 36, 20, 20, 18 };
static const int rows_of[LEVELS] = { SL_CLOSURE__ROWS, 40, 40, 40 };

typedef struct attempt {
    sl_closure *c;
    int level;
    int scans;
    sl_search__closure_scan scan[SCANS];
    const sl_search__closure_scan *now;
    int first; // of the parts in progress
    int64_t hits;
    sl_search__closure_hit *hit;     // SL_CLOSURE__BEST for each part of a scan, then compacted
    sl_search__closure_basis *basis; // two for each thread
} attempt;

/* ---------------------------------------------------------------- scans --------------------- */

static void add_scan(attempt *a, const sl_search__closure_shape *shape, int special,
                     sl_search__closure_list list, int atoms) {
    SL_ASSERT(a->scans < SCANS);
    const sl_closure *c = a->c;
    // quotients give falling exponentials too: with four slots these atoms cost more than they find
    const bool falling = shape->slots < 4 || a->level == 1;
    const int simple = c->simple.end - c->simple.begin - (falling ? 0 : c->falling);
    const int rows = SL_MIN(rows_of[a->level], c->fitted);
    if (special < 0 || list.begin < list.end)
        a->scan[a->scans++] =
            (sl_search__closure_scan){ shape, special, list, simple, atoms, columns_of[a->level],
                                       rows };
}

/* One scan for each slot that may hold a curve. Curves come after the simple atoms, so a slot that
 * is ordered before another cannot. */
static void add_curves(attempt *a, const sl_search__closure_shape *shape, int atoms) {
    for (int s = 0; s < shape->slots; s++) {
        bool last = true;
        for (int i = 0; i < shape->orders; i++) last = last && shape->order[i].first != s;
        if (last) add_scan(a, shape, s, a->c->grid, atoms);
    }
}

static void list_scans(attempt *a) {
    for (int i = 0; i < sl_search__closure_halves_count; i++) {
        if (a->level == 0) add_scan(a, &sl_search__closure_halves[i], -1, a->c->nested, 4);
        if (a->level == 1) add_curves(a, &sl_search__closure_halves[i], 2);
        if (a->level == 3) add_curves(a, &sl_search__closure_halves[i], 3);
    }
    for (int i = 0; i < sl_search__closure_nested_count; i++) {
        if (a->level == 0) add_scan(a, &sl_search__closure_nested[i], 2, a->c->nested, 3);
        if (a->level == 2) add_scan(a, &sl_search__closure_nested[i], 2, a->c->nested_grid, 3);
    }
}

static sl_status scan_part(int64_t begin, int64_t end, int worker, void *payload) {
    attempt *a = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_search__closure_hit *to = a->hit + a->hits + i * SL_CLOSURE__BEST;
        int n = sl_search__closure_scan_run(to, a->c, a->now, a->basis + 2 * worker,
                                            (int)(a->first + i));
        for (; n < SL_CLOSURE__BEST; n++) to[n].columns = 0;
    }
    return SL_OK;
}

/* One scan; its hits follow those of the scans before. */
static sl_status run_scan(attempt *a, const sl_search__closure_scan *s) {
    const int total = sl_search__closure_scan_parts(s);
    sl_search__job *j = a->c->job;
    a->now = s;
    for (a->first = 0; a->first < total; a->first += BATCH) {
        const int parts = SL_MIN(BATCH, total - a->first);
        if (sl_search__stop(j, true)) return SL_OK;
        SL_TRY(sl_par_for(j->pool, parts, 1, scan_part, a));
        sl_search__closure_hit *to = a->hit + a->hits;
        for (int i = 0; i < parts * SL_CLOSURE__BEST; i++)
            if (to[i].columns > 0) a->hit[a->hits++] = to[i];
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- hits ---------------------- */

static int by_score(const void *a, const void *b) {
    const sl_search__closure_hit *p = a, *q = b;
    if (p->score != q->score) return p->score < q->score ? -1 : 1;
    if (p->choice.shape != q->choice.shape) return p->choice.shape < q->choice.shape ? -1 : 1;
    for (int s = 0; s < SL_CLOSURE__SLOTS; s++)
        if (p->choice.atom[s] != q->choice.atom[s]) return p->choice.atom[s] - q->choice.atom[s];
    return 0;
}

static sl_status refine_part(int64_t begin, int64_t end, int worker, void *payload) {
    attempt *a = payload;
    for (int64_t i = begin; i < end; i++) {
        sl_search__closure_hit *h = &a->hit[i];
        sl_search__closure_column list[SL_CLOSURE__COLUMNS];
        if (sl_search__stop(a->c->job, worker == 0)) return SL_OK;
        int n = sl_search__closure_all_columns(list, a->c, &h->choice);
        h->rest = sl_search__closure_refine(&h->constant, a->c,
                                            sl_search__closure_curve_of(a->c, &h->choice),
                                            sl_search__closure_lead(a->c, &h->choice), list, n);
        h->score = h->columns;
    }
    return SL_OK;
}

static const double REFINED = 1e-11; // the right constant leaves less

/* Refines the best of all scans, and offers those that leave nothing, the smallest first. */
static sl_status verify_hits(attempt *a) {
    sl_closure *c = a->c;
    int attempts = 0;
    bool kept;
    const bool curves = refined_of[a->level] > 0;
    qsort(a->hit, (size_t)a->hits, sizeof *a->hit, by_score);
    if (curves) {
        a->hits = SL_MIN(a->hits, refined_of[a->level]);
        SL_TRY(sl_par_for(c->job->pool, a->hits, 8, refine_part, a));
        qsort(a->hit, (size_t)a->hits, sizeof *a->hit, by_score);
    }
    for (int64_t i = 0; i < a->hits && attempts < ATTEMPTS; i++) {
        if (!(a->hit[i].rest < (curves ? REFINED : SL_CLOSURE__NOTHING))) continue;
        if (sl_search__stop(c->job, true)) return SL_OK;
        SL_TRY(sl_search__closure_verify(&kept, c, &a->hit[i], a->level));
        attempts++;
    }
    return SL_OK;
}

static sl_status run_scans(attempt *a) {
    const int exact = a->c->job->exact;
    for (int i = 0; i < a->scans && a->c->job->exact == exact; i++) {
        SL_TRY(run_scan(a, &a->scan[i]));
        if (sl_search__stop(a->c->job, true)) return SL_OK;
        // choices without curves are verified shape by shape, simple ones first
        if (refined_of[a->level] == 0 || i == a->scans - 1) SL_TRY(verify_hits(a));
        if (refined_of[a->level] == 0) a->hits = 0;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the method ---------------- */

static void close_closure(void *state) {
    sl_closure *c = state;
    if (!c) return;
    sl_arena_clear(&c->arena);
    sl_search__release(c->job, SL_CLOSURE__BYTES);
    sl_free(c);
}

/* Rows are weighted by 1/|y|, bounded where y is next to 0. */
static void weigh_rows(sl_closure *c) {
    double size[SL_CLOSURE__ROWS];
    for (int r = 0; r < c->rows; r++) size[r] = fabs(c->y[r]);
    sl_num_sort(size, c->rows);
    const double least = 1e-3 * size[c->rows / 2];
    for (int r = 0; r < c->rows; r++) {
        c->side[0][r] = 1 / (fabs(c->y[r]) + least);
        c->side[1][r] = c->y[r] * c->side[0][r];
    }
}

static sl_status prepare(sl_closure *c) {
    c->value = sl_arena_alloc(&c->arena, SL_CLOSURE__PARTS * sizeof *c->value);
    c->expr = sl_arena_alloc(&c->arena, SL_CLOSURE__PARTS * sizeof *c->expr);
    c->atom = sl_arena_alloc(&c->arena, SL_CLOSURE__ATOMS * sizeof *c->atom);
    c->curve = sl_arena_alloc(&c->arena, SL_CLOSURE__CURVES * sizeof *c->curve);
    if (!c->value || !c->expr || !c->atom || !c->curve)
        return sl_fail(SL_ENOMEM, "no memory for a closure");
    memset(c->expr, 0, SL_CLOSURE__PARTS * sizeof *c->expr);
    weigh_rows(c);
    SL_TRY(sl_search__closure_make_atoms(c));
    return sl_search__closure_make_curves(c);
}

static sl_status open_closure(void **state, sl_search__job *j) {
    const sl_dataset *p = &j->rows;
    *state = NULL;
    if (!j->o->grammar || p->inputs < 1 || p->inputs > SL_UNIVERSE_MAX_VARS || p->rows < ROWS_LEAST)
        return SL_OK;
    for (int64_t r = 0; r < p->rows; r++)
        if (!(fabs(p->y[r]) > 1e-100 && fabs(p->y[r]) < 1e100)) return SL_OK;
    if (!sl_search__reserve(j, SL_CLOSURE__BYTES)) return SL_OK;
    sl_closure *c = sl_calloc(1, sizeof *c);
    if (!c) {
        sl_search__release(j, SL_CLOSURE__BYTES);
        return sl_fail_memory(1, sizeof *c, "a closure");
    }
    c->job = j;
    c->rows = (int)SL_MIN(p->rows, SL_CLOSURE__ROWS);
    c->fitted = c->rows - SL_MAX(6, c->rows / 5);
    c->variables = p->inputs;
    for (int v = 0; v < p->inputs; v++) c->x[v] = p->x[v];
    c->y = p->y;
    sl_status st = prepare(c);
    if (st != SL_OK) close_closure(c), c = NULL;
    *state = c;
    return st;
}

static sl_status run_level(bool *more, void *state, int level) {
    sl_closure *c = state;
    *more = c && level + 1 < LEVELS;
    if (!c || level >= LEVELS) return SL_OK;
    attempt a = { .c = c, .level = level };
    list_scans(&a);
    if (a.scans == 0) return SL_OK;
    int total = 0; // parts whose hits are held at once
    for (int i = 0; i < a.scans; i++) {
        const int n = sl_search__closure_scan_parts(&a.scan[i]);
        total = refined_of[level] > 0 ? total + n : SL_MAX(total, n);
    }
    const size_t hits = (size_t)total * SL_CLOSURE__BEST;
    const size_t bases = 2 * (size_t)sl_par_pool_threads(c->job->pool);
    const int64_t bytes = (int64_t)(hits * sizeof *a.hit + bases * sizeof *a.basis);
    if (!sl_search__reserve(c->job, bytes)) return SL_OK;
    a.hit = sl_malloc(hits, sizeof *a.hit);
    a.basis = sl_malloc(bases, sizeof *a.basis);
    sl_status st = a.hit && a.basis ? run_scans(&a) : sl_fail_memory(1, (size_t)bytes, "closures");
    sl_free(a.basis);
    sl_free(a.hit);
    sl_search__release(c->job, bytes);
    return st;
}

const sl_search__method sl_search__closure = { "closure", open_closure, run_level, close_closure };
