/* skeleton_function - a function of a half: a sin(h) + b cos(h) + c, a exp(h) + c, a sqrt(h) + c.
 *
 * Few bases are a function of a half of depth 2 (one of 600), and as such they are no sum of
 * products of halves. The inverse of the function is no help where y has lost h: the branch of
 * a sine is not known, and y + 7 has no digits left of a small exponential. So h is computed, with
 * at most one constant inside, in a few rows; what is outside of the function is a combination of
 * few columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_piece piece;

enum { WHOLE = 4, FUNCTIONS = 3, ROWS = 8, VERIFIED = 64 };
static const double LEFT = 1e-16; // square of what may be left of y

/* What has the functions as pieces: its nodes, pieces and arenas are its own. */
typedef sl_skeletons functions;

static sl_status add_piece(functions *f, const sl_node *node, int quarters) {
    f->node[f->nodes] = node;
    SL_TRY(sl_search__skeleton_make_piece(
        &f->piece[f->pieces], f,
        (sl_search__skeleton_factor){ (int16_t)f->nodes, (int16_t)quarters }));
    f->nodes++;
    f->pieces++;
    return SL_OK;
}

/* The functions of all halves of full depth: those of others are halves. */
static sl_status add_functions(functions *f, const sl_universe *u, int64_t most) {
    static const sl_op ops[] = { SL_OP_EXP, SL_OP_SIN };
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        const sl_node *h = sl_expr_copy(&f->arena, sl_universe_get(u, i));
        if (!h) return sl_fail(SL_ENOMEM, "no memory for a function");
        if (sl_universe_level(u, i) < 2 || f->pieces + FUNCTIONS > most) continue;
        if (sl_search__stop(f->job, true)) break;
        SL_TRY(add_piece(f, h, WHOLE / 2));
        for (int k = 0; k < SL_LEN(ops); k++) {
            const sl_node *e = sl_expr_fn(&f->arena, ops[k], h);
            if (!e) return sl_fail(SL_ENOMEM, "no memory for a function");
            SL_TRY(add_piece(f, e, WHOLE));
        }
    }
    return SL_OK;
}

/* v less what it has of the basis; returns the square of its length. */
static double project(double *v, double (*basis)[ROWS], int n) {
    double size = 0;
    for (int k = 0; k < n; k++) {
        double product = 0;
        for (int r = 0; r < ROWS; r++) product += v[r] * basis[k][r];
        for (int r = 0; r < ROWS; r++) v[r] -= product * basis[k][r];
    }
    for (int r = 0; r < ROWS; r++) size += v[r] * v[r];
    return size;
}

/* Is y in the first rows a combination of 1 and columns? value: of the first; step: to the next,
 * stride: from row to row. */
static bool agrees(const functions *f, const double *value, int columns, int64_t step,
                   int64_t stride) {
    double basis[SL_SKELETON__CHANGED + 2][ROWS];
    int n = 0;
    for (int c = -1; c < columns; c++) {
        double *v = basis[n];
        for (int r = 0; r < ROWS; r++)
            v[r] = f->weight[r] * (c < 0 ? 1 : value[c * step + r * stride]);
        const double size = project(v, basis, n);
        if (!(size > 1e-200)) continue;
        for (int r = 0; r < ROWS; r++) v[r] /= sqrt(size);
        n++;
    }
    double y[ROWS];
    for (int r = 0; r < ROWS; r++) y[r] = f->weight[r] * f->y[r];
    return project(y, basis, n) < LEFT * ROWS;
}

/* Is y, in all rows, a combination of these columns and 1? If so it is offered. */
static sl_status verify(bool *good, functions *f, const sl_node *const *column, int n, int level) {
    const sl_node *list[SL_SKELETON__CHANGED + 1];
    for (int c = 0; c < n; c++) list[c] = column[c];
    list[n] = sl_expr_int(&f->arena, 1);
    if (!list[n]) return sl_fail(SL_ENOMEM, "no memory for a function");
    const sl_search__skeleton_product product = { .factors = 1,
                                                  .list = { list },
                                                  .count = { n + 1 } };
    return sl_search__skeleton_verify_products(good, f, &product, 1, level);
}

/* A function without constants inside, then with one. */
static sl_status try_piece(bool *good, int *verified, functions *f, const piece *p, int level) {
    const sl_search__skeleton_set *set = &p->set[SL_SKELETON__ONE];
    const int plains = p->plains - sl_search__skeleton_has_summand(p);
    if (plains > 0 && agrees(f, p->value[0], plains, SL_SKELETON__ROWS, 1)) {
        ++*verified;
        SL_TRY(verify(good, f, p->plain, plains, level));
    }
    for (int32_t i = 0; i < set->count && !*good && *verified < VERIFIED; i++) {
        const sl_node *column[SL_SKELETON__CHANGED];
        if (!agrees(f, set->value + i, p->columns, set->rows * (int64_t)set->stride, set->stride))
            continue;
        ++*verified;
        for (int c = 0; c < p->columns; c++)
            SL_TRY(sl_search__skeleton_variant_expr(&column[c], &f->arena, p, &set->list[i], c));
        SL_TRY(verify(good, f, column, p->columns, level));
    }
    atomic_fetch_add_explicit(&f->job->tried, 1 + set->count, memory_order_relaxed);
    return SL_OK;
}

static sl_status try_functions(functions *f, int level) {
    bool done, good = false;
    int verified = 0;
    const int64_t bytes = (int64_t)sl_arena_mark(&f->arena);
    if (!sl_search__reserve(f->job, bytes)) return SL_OK;
    f->bytes += bytes;
    SL_TRY(sl_search__skeleton_make_variants(&done, f, SL_SKELETON__ONE, ROWS));
    for (int32_t i = 0; i < f->pieces && done && !good && verified < VERIFIED; i++) {
        if (sl_search__stop(f->job, true)) break;
        SL_TRY(try_piece(&good, &verified, f, &f->piece[i], level));
    }
    return SL_OK;
}

static void clear(functions *f) {
    for (int32_t i = 0; i < f->pieces && f->piece; i++)
        for (int k = 0; k < SL_SKELETON__SETS; k++) {
            sl_free(f->piece[i].set[k].list);
            sl_free(f->piece[i].set[k].value);
        }
    sl_free(f->piece);
    sl_free(f->node);
    sl_search__release(f->job, f->bytes);
    sl_arena_clear(&f->scratch);
    sl_arena_clear(&f->arena);
}

sl_status sl_search__skeleton_functions(sl_skeletons *s, int level) {
    sl_universe *u;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = 2, o.variables = s->variables, o.ops = s->job->o->grammar->ops, o.size = 0;
    SL_TRY(sl_universe_new(&u, s->job->pool, &o, NULL));
    const int64_t most = SL_MIN(FUNCTIONS * sl_universe_size(u), INT16_MAX);
    const int64_t bytes = most * (int64_t)(sizeof(piece) + sizeof(sl_node *));
    sl_status st = SL_OK;
    if (sl_search__reserve(s->job, bytes)) {
        functions f = *s;
        f.arena = f.scratch = (sl_arena){ 0 };
        f.nodes = f.pieces = 0;
        f.bytes = bytes;
        f.node = sl_calloc((size_t)SL_MAX(most, 1), sizeof *f.node);
        f.piece = sl_calloc((size_t)SL_MAX(most, 1), sizeof *f.piece);
        st = f.node && f.piece ? add_functions(&f, u, most)
                               : sl_fail_memory((size_t)most, sizeof *f.piece, "functions");
        if (st == SL_OK) st = try_functions(&f, level);
        clear(&f);
    }
    sl_universe_free(u);
    return st;
}
