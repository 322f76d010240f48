/* skeleton_both - y D = N of one term, with a constant inside each of two functions.
 *
 * (exp(2 x1) - 5)/(sqrt(x1) - exp(-2 x2) - 2): the functions are one of the numerator and one of a
 * divisor, or two in one divisor, so that their columns are apart. Columns without both are
 * projected out; two variants are those of a formula if their columns are dependent in the
 * directions that are left. As in skeleton_screen.c that is a determinant, made of minors of either
 * one's columns. Products of one term have few columns; with those of more terms both functions
 * would be in the same columns. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_space space;
typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_clear_hit hit;
typedef sl_search__skeleton_clear_hits hits;
typedef sl_search__skeleton_extent extent;
typedef sl_search__skeleton_inside inside;

enum {
    ROWS = SL_SKELETON__ROWS,
    DIMS = SL_SKELETON__DIMS,
    BLOCK = SL_SKELETON__BLOCK,
    FITTED = SL_SKELETON__FITTED,
    BESIDE = SL_SKELETON__BESIDE,
    BLOCKS = 4,
    SIDES = 16,
    WAYS = 3,
};
/* As in skeleton_vary.c; a determinant that is compared further; the square of what is left of a
 * column that depends on the others in all directions. */
static const double LEAST = 1e-20, DETERMINANT = 1e-7, DEPENDENT = 1e-11;

/* A function that has variants. */
typedef struct side {
    inside inside;
    const sl_search__skeleton_piece *piece;
    const sl_search__skeleton_inner *u; // of a divisor; NULL: of the numerator
    int divisor;
    int products, count; // count: of the columns of a variant
} side;

/* Images of some variants of a side. */
typedef struct block {
    int from, n;
    sl_search__skeleton_image image[BESIDE];
    sl_search__skeleton_minors minors;
} block;

typedef struct both {
    cleared c;
    hits *h;
    int32_t base;
    extent extent;
    uint32_t use[SL_SKELETON__DIVISORS]; // of the extent
    side side[2];
    double product[2][BESIDE][FITTED]; // what the function of a side is multiplied by, weighted
    block block[2][BLOCKS];
    int blocks[2];
    double across[FITTED * DIMS];
    double function[2][ROWS]; // of a side in a divisor
    double rest[SL_SKELETON__BELOW][ROWS];
    sl_arena scratch;
} both;

/* ---------------------------------------------------------------- columns ------------------- */

/* The columns of D that have the function, without it; 0 rows: how many alone. NULL: too many. */
static const space *products_below(both *v, int number, int rows) {
    cleared *c = &v->c;
    const side *a = &v->side[number];
    sl_search__skeleton_below *b = &c->divisor[a->divisor];
    const sl_search__skeleton_divisor *d = b->divisor;
    sl_search__skeleton_divisor rest = *d;
    rest.value = v->rest;
    for (int k = 0; k < d->columns; k++)
        for (int r = 0; r < rows && (a->u->columns >> k & 1); r++)
            v->rest[k][r] = d->value[k][r] / v->function[number][r];
    memcpy(c->use, v->use, sizeof c->use);
    b->divisor = &rest;
    c->use[a->divisor] = a->u->columns;
    const space *out = sl_search__skeleton_divisor_products(c, rows);
    b->divisor = d;
    return out;
}

/* What the function of a side is multiplied by. false: too much. */
static bool take_products(both *v, int i, int rows) {
    cleared *c = &v->c;
    side *a = &v->side[i];
    const double *weight = a->u ? c->s->below : c->s->above;
    const space *w = a->u ? products_below(v, i, rows)
                          : sl_search__skeleton_term_products(c, 0, a->inside.change.factor, rows);
    if (!w || w->count * a->inside.columns > BESIDE) return false;
    a->products = w->count;
    a->count = w->count * a->inside.columns;
    for (int k = 0; k < w->count; k++)
        for (int r = 0; r < rows; r++) v->product[i][k][r] = w->value[k][r] * weight[r];
    return true;
}

/* Only columns without the functions of both sides are in use; false: a divisor has no others. */
static bool leave_both_out(both *v) {
    cleared *c = &v->c;
    memcpy(c->use, v->use, sizeof c->use);
    for (int i = 0; i < 2; i++) {
        const side *a = &v->side[i];
        if (a->u) c->use[a->divisor] &= ~a->u->columns & ~a->u->beside;
        if (a->u && !c->use[a->divisor]) return false;
    }
    return true;
}

/* Products, and the basis of the columns without both functions; false: too many. */
static bool take_columns(both *v) {
    cleared *c = &v->c;
    if (!take_products(v, 0, 0) || !take_products(v, 1, 0)) return false;
    if (v->side[0].count + v->side[1].count > SL_SKELETON__TOGETHER) return false;
    if (!leave_both_out(v) || !sl_search__skeleton_clear(c, 0)) return false;
    const int rows = (c->above.count + c->below.count + DIMS + 7) / 8 * 8;
    c->rows = rows;
    if (rows > c->rows_most) return false;
    for (int i = 0; i < 2; i++) (void)take_products(v, i, rows);
    (void)leave_both_out(v);
    (void)sl_search__skeleton_clear(c, rows);
    sl_search__skeleton_push_all(c);
    return true;
}

/* Directions orthogonal to the basis. */
static bool find_directions(both *v) {
    cleared *c = &v->c;
    if (!sl_search__skeleton_add_orthogonal(c, DIMS)) return false;
    for (int r = 0; r < c->rows; r++)
        for (int d = 0; d < DIMS; d++) v->across[r * DIMS + d] = c->basis[(c->n + d) * c->rows + r];
    return true;
}

/* ---------------------------------------------------------------- variants ------------------ */

/* Images of all variants of a side, and their minors in the first `size` directions. */
static void take_images(both *v, int number, int size) {
    const side *a = &v->side[number];
    const sl_search__skeleton_set *set = &a->piece->set[SL_SKELETON__ONE];
    const sl_search__skeleton_kernels *kernels = v->c.s->kernels;
    const int rows = v->c.rows;
    int n = 0;
    for (int from = 0; from < set->count && n < BLOCKS; from += BLOCK) {
        block *to = &v->block[number][n++];
        int at = 0;
        to->from = from;
        to->n = SL_MIN(BLOCK, set->count - from);
        for (int k = 0; k < a->products; k++) {
            const double *w = v->product[number][k];
            double m[FITTED * DIMS];
            for (int r = 0; r < rows; r++)
                for (int d = 0; d < DIMS; d++) m[r * DIMS + d] = v->across[r * DIMS + d] * w[r];
            for (int i = 0; i < a->inside.columns; i++)
                kernels->images(&to->image[at++], m, w,
                                set->value + (int64_t)i * set->rows * set->stride + from,
                                set->stride, rows, to->n, LEAST);
        }
        kernels->minors(&to->minors, to->image, a->count, 0, size, to->n);
    }
    v->blocks[number] = n;
}

/* Adds the columns of variant i to an orthonormal basis of n; false: one is 0, so that this variant
 * alone is a formula or none. *least: the smallest square of what is left of one. */
static bool extend(double (*basis)[DIMS], int *n, double *least, const both *v, const block *b,
                   int count, int i) {
    for (int k = 0; k < count; k++) {
        double *to = basis[(*n)++], whole = 0;
        for (int d = 0; d < DIMS; d++) {
            to[d] = b->image[k].q[d][i];
            whole += to[d] * to[d];
        }
        if (whole == 0) return false;
        const double left = v->c.s->kernels->deflate(to, basis[0], *n - 1, DIMS);
        *least = SL_MIN(*least, left);
        for (int d = 0; d < DIMS && left > 0; d++) to[d] /= sqrt(left);
    }
    return true;
}

/* Variants i of block a and k of block b: are their columns dependent in all directions, and in all
 * rows? */
static sl_status check_both(both *v, const block *a, int i, const block *b, int k) {
    double basis[SL_SKELETON__TOGETHER][DIMS], alone = 1, least = 1;
    int n = 0;
    if (!extend(basis, &n, &alone, v, a, v->side[0].count, i) || alone < DEPENDENT) return SL_OK;
    if (!extend(basis, &n, &least, v, b, v->side[1].count, k) || least > DEPENDENT) return SL_OK;
    cleared *c = &v->c;
    bool good, fits;
    hit h = { .base = v->base, .mask = c->mask, .extent = v->extent };
    for (int m = 0; m < 2; m++) h.inside[m] = v->side[m].inside;
    h.inside[0].change.variant = a->from + i;
    h.inside[1].change.variant = b->from + k;
    cleared *whole = sl_malloc_aligned(1, sizeof *whole);
    if (!whole) return sl_fail_memory(1, sizeof *whole, "skeletons");
    sl_status st = sl_search__skeleton_begin(&good, whole, c->s, &h, &v->scratch);
    whole->mask = c->mask;
    if (st == SL_OK) sl_search__skeleton_use_columns(whole, v->extent);
    if (st == SL_OK && good && sl_search__skeleton_is_dependent(&fits, whole))
        st = sl_search__skeleton_add_clear_hit(v->h, whole, &h);
    sl_free(whole);
    sl_arena_rewind(&v->scratch, 0);
    return st;
}

/* All variants of both sides. */
static sl_status try_variants(both *v) {
    const int p = v->side[0].count, size = p + v->side[1].count;
    double sign[SL_SKELETON__MINORS], w[SL_SKELETON__MINORS];
    const int terms = sl_search__skeleton_make_signs(sign, p, size);
    for (int i = 0; i < 2; i++) take_images(v, i, size);
    for (int i = 0; i < v->blocks[0]; i++)
        for (int k = 0; k < v->blocks[1]; k++) {
            const block *a = &v->block[0][i], *b = &v->block[1][k];
            for (int at = 0; at < a->n; at++) {
                int list[BLOCK];
                for (int t = 0; t < terms; t++) w[t] = sign[t] * a->minors.of[terms - 1 - t][at];
                const int found =
                    v->c.s->kernels->meet(list, w, &b->minors, terms, b->n, DETERMINANT);
                for (int m = 0; m < found; m++) SL_TRY(check_both(v, a, at, b, list[m]));
            }
            atomic_fetch_add_explicit(&v->c.s->job->tried, (int64_t)a->n * b->n,
                                      memory_order_relaxed);
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- pairs of functions -------- */

/* Are their columns apart? */
static bool are_apart(const side *a, const side *b) {
    if (!a->u || !b->u) return a->u || b->u;
    return a->divisor == b->divisor &&
           !((a->u->columns | a->u->beside) & (b->u->columns | b->u->beside));
}

/* With all columns; without further ones of the numerator; without phases. */
static sl_status try_pair(both *v, const side *a, const side *b) {
    static const extent ways[WAYS] = { { .phases = true },
                                       { .phases = true, .lean = UINT32_MAX },
                                       { .lean = UINT32_MAX } };
    cleared *c = &v->c;
    v->side[0] = *a, v->side[1] = *b;
    c->rows_most = SL_MIN(c->s->rows, FITTED);
    for (int k = 0; k < SL_LEN(c->replaced); k++) c->replaced[k].term = -1;
    for (int i = 0; i < 2; i++) {
        const side *to = &v->side[i];
        if (to->u)
            SL_TRY(sl_expr_eval(v->function[i], &v->scratch, to->u->function, c->s->x, c->rows_most,
                                NULL));
        else
            sl_search__skeleton_leave_out(c, to->piece, 0, to->inside.change.factor);
    }
    sl_arena_rewind(&v->scratch, 0);
    for (int way = 0; way < WAYS; way++) {
        v->extent = ways[way];
        sl_search__skeleton_use_columns(c, v->extent);
        memcpy(v->use, c->use, sizeof v->use);
        for (int i = 0; i < 2; i++) {
            side *to = &v->side[i];
            const bool phase = v->extent.phases && (!to->u || to->u->beside);
            to->inside.columns = phase ? to->piece->columns : 1;
        }
        if (take_columns(v)) return find_directions(v) ? try_variants(v) : SL_OK;
    }
    return SL_OK;
}

/* Functions of the numerator and of divisors that have variants; returns how many. */
static int list_sides(side *out, const both *v) {
    const cleared *c = &v->c;
    const sl_skeletons *s = c->s;
    const sl_search__skeleton_term *term = &s->term[c->base->term[0]];
    int n = 0;
    for (int f = 0; f < term->factors && n < SIDES; f++) {
        const sl_search__skeleton_piece *p = &s->piece[term->piece[f]];
        if (sl_search__skeleton_is_cleared(c, 0, f) || p->set[SL_SKELETON__ONE].count == 0)
            continue;
        out[n].piece = p, out[n].u = NULL;
        out[n].inside = (inside){ .inner = -1, .change.factor = (int8_t)f };
        n++;
    }
    for (int i = 0; i < c->divisors; i++)
        for (int k = 0; k < c->divisor[i].divisor->inners && n < SIDES; k++) {
            const sl_search__skeleton_inner *u = &c->divisor[i].divisor->inner[k];
            if (c->divisor[i].divisor->power != 1 || u->piece < 0) continue;
            out[n].piece = &s->piece[u->piece], out[n].u = u, out[n].divisor = i;
            out[n].inside = (inside){ .inner = k, .change.factor = c->divisor[i].factor };
            n += out[n].piece->set[SL_SKELETON__ONE].count > 0;
        }
    return n;
}

static sl_status try_base(both *v, int32_t base) {
    side list[SIDES];
    (void)sl_search__skeleton_find_divisors(&v->c, v->c.s, base);
    v->base = base;
    v->c.mask = (1u << v->c.divisors) - 1;
    const int n = list_sides(list, v);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            if (are_apart(&list[i], &list[k])) SL_TRY(try_pair(v, &list[i], &list[k]));
    return SL_OK;
}

sl_status sl_search__skeleton_vary_both(int64_t begin, int64_t end, int worker, void *payload) {
    const sl_search__skeleton_clear_screening *g = payload;
    sl_status st = SL_OK;
    both *v = sl_malloc_aligned(1, sizeof *v);
    if (!v) return sl_fail_memory(1, sizeof *v, "skeletons");
    v->scratch = (sl_arena){ 0 };
    v->h = &g->hits[worker];
    v->c.s = g->s;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        const int32_t base = g->s->with_divisors[i];
        if (base >= 0 && g->s->base[base].terms == 1) st = try_base(v, base);
    }
    sl_arena_clear(&v->scratch);
    sl_free(v);
    return st;
}
