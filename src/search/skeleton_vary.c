/* skeleton_vary - y D = N with one constant inside a function, of a numerator or of a divisor.
 *
 * Columns without that function are projected out, and all its variants are compared by their
 * images in eight directions, as in skeleton_screen.c. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_space space;
typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_clear_hit hit;
typedef sl_search__skeleton_clear_hits hits;
typedef sl_search__skeleton_extent extent;

enum { ROWS = SL_SKELETON__ROWS };
/* Squares of the part of a column that is rounding error, and of what is left of an image that
 * depends on others: images of smooth columns have few digits. */
static const double LEAST = 1e-20, NOTHING = 1e-12;

/* ---------------------------------------------------------------- inside a numerator -------- */

/* A constant inside a function of a numerator: with v the function and W the products it occurs in,
 * the columns v W are added to those without it. As in skeleton_screen.c the latter are projected
 * out, and all variants v of a factor are compared by their images in eight directions: a formula
 * is one whose images are dependent. Eight or more columns v W are a level of their own, in more
 * directions. */
enum {
    DIMS = SL_SKELETON__DIMS,
    DIMS_WIDE = SL_SKELETON__DIMS_WIDE,
    BLOCK = SL_SKELETON__BLOCK,
    VARIED = DIMS_WIDE - 1, // columns v W
    FITTED = SL_SKELETON__FITTED,
};

typedef struct variation {
    cleared c;
    bool wide;
    double product[VARIED][FITTED]; // W, weighted
    double across[VARIED][FITTED * DIMS_WIDE];
    sl_search__skeleton_image image[VARIED];
    sl_search__skeleton_wide image_wide[VARIED];
    double left[BLOCK];
    // of a divisor: its function, its columns without that
    double function[ROWS], rest[SL_SKELETON__BELOW][ROWS];
    sl_arena scratch;
} variation;

static int dims_of(const variation *v) { return v->wide ? DIMS_WIDE : DIMS; }

/* So many columns v W are for this level; fewer are for the other one. */
static bool is_of_level(const variation *v, int columns) {
    return columns < dims_of(v) && (!v->wide || columns >= DIMS);
}

/* Directions orthogonal to the basis. */
static bool find_directions(variation *v, int columns) {
    cleared *c = &v->c;
    const int rank = c->n, dims = dims_of(v);
    if (!sl_search__skeleton_add_orthogonal(c, dims)) return false;
    for (int k = 0; k < columns; k++)
        for (int r = 0; r < c->rows; r++)
            for (int d = 0; d < dims; d++)
                v->across[k][r * dims + d] = c->basis[(rank + d) * c->rows + r] * v->product[k][r];
    return true;
}

static bool is_nothing(const variation *v, int k, int i) {
    double size = 0;
    for (int d = 0; d < dims_of(v); d++) {
        const double q = v->wide ? v->image_wide[k].q[d][i] : v->image[k].q[d][i];
        size += q * q;
    }
    return size == 0;
}

void sl_search__skeleton_leave_out(cleared *c, const sl_search__skeleton_piece *p, int t, int f) {
    sl_search__skeleton_replaced *to = &c->replaced[0];
    to->term = t, to->factor = f;
    to->n = sl_search__skeleton_has_summand(p);
    to->name[0] = 0;
    for (int r = 0; r < ROWS; r++) to->value[0][r] = 1;
}

/* W, and the basis of the columns without the function; returns how many products, 0: none fit.
 * *changed: columns of a variant that are taken, all of them or, without phase, the first. */
static int take_fixed(int *changed, variation *v, const sl_search__skeleton_piece *p, int t,
                      int f) {
    cleared *c = &v->c;
    sl_search__skeleton_leave_out(c, p, t, f);
    const space *w =
        sl_search__skeleton_clear(c, 0) ? sl_search__skeleton_term_products(c, t, f, 0) : NULL;
    const int columns = c->above.count + c->below.count;
    if (!w) return 0;
    *changed = w->count * p->columns < dims_of(v) ? p->columns : 1;
    c->rows = (columns + dims_of(v) + 7) / 8 * 8;
    if (!is_of_level(v, w->count * *changed) || c->rows > c->rows_most) return 0;
    (void)sl_search__skeleton_clear(c, c->rows);
    w = sl_search__skeleton_term_products(c, t, f, c->rows);
    for (int k = 0; k < w->count; k++)
        for (int r = 0; r < c->rows; r++) v->product[k][r] = w->value[k][r] * c->s->above[r];
    sl_search__skeleton_push_all(c);
    return w->count;
}

/* A factor of a numerator or a function of a divisor whose variants are tried: the hit that one of
 * them would be. */
typedef struct varied {
    hits *h;
    const sl_search__skeleton_piece *piece;
    hit hit;
} varied;

/* A variant whose images are dependent is a formula if y takes part in that. */
sl_status sl_search__skeleton_check_hit(hits *h, cleared *c, const hit *from, sl_arena *scratch) {
    const int rows_most = c->rows_most;
    bool good, fits;
    c->mask = from->mask;
    sl_status st = sl_search__skeleton_begin(&good, c, c->s, from, scratch);
    sl_search__skeleton_use_columns(c, from->extent);
    if (st == SL_OK && good && sl_search__skeleton_is_dependent(&fits, c))
        st = sl_search__skeleton_add_clear_hit(h, c, from);
    (void)sl_search__skeleton_find_divisors(c, c->s, from->base); // without the variant
    c->rows_most = rows_most;
    sl_arena_rewind(scratch, 0);
    return st;
}

/* All variants, in rows of which the basis and so many products are known. */
static sl_status try_variants(variation *v, varied *x, int products) {
    const sl_search__skeleton_set *set = &x->piece->set[SL_SKELETON__ONE];
    const sl_search__skeleton_kernels *kernels = v->c.s->kernels;
    const int rows = v->c.rows;
    for (int32_t from = 0; from < set->count; from += BLOCK) {
        const int n = (int)SL_MIN(BLOCK, set->count - from);
        int count = 0;
        for (int k = 0; k < products; k++)
            for (int i = 0; i < x->hit.inside[0].columns; i++) {
                const double *value = set->value + (int64_t)i * set->rows * set->stride + from;
                if (v->wide)
                    kernels->images_wide(&v->image_wide[count], v->across[k], v->product[k], value,
                                         set->stride, rows, n, LEAST);
                else
                    kernels->images(&v->image[count], v->across[k], v->product[k], value,
                                    set->stride, rows, n, LEAST);
                count++;
            }
        if (v->wide)
            kernels->leave_wide(v->left, v->image_wide, count, n, NOTHING);
        else
            kernels->leave(v->left, v->image, count, n, NOTHING);
        for (int i = 0; i < n; i++) {
            bool nothing = false;
            for (int k = 0; k < count && !nothing; k++) nothing = is_nothing(v, k, i);
            x->hit.inside[0].change.variant = from + i;
            if (nothing) SL_TRY(sl_search__skeleton_check_hit(x->h, &v->c, &x->hit, &v->scratch));
        }
    }
    atomic_fetch_add_explicit(&v->c.s->job->tried, set->count, memory_order_relaxed);
    return SL_OK;
}

/* All variants of factor f of term t. */
static sl_status vary_above(bool *fits, variation *v, hits *h, int32_t base, int t, int f,
                            extent e) {
    cleared *c = &v->c;
    const sl_search__skeleton_piece *p = &c->s->piece[c->s->term[c->base->term[t]].piece[f]];
    varied x = { h, p, { .base = base, .mask = c->mask, .extent = e } };
    sl_search__skeleton_inside *to = &x.hit.inside[0];
    *to = (sl_search__skeleton_inside){ 0, -1, { (int8_t)t, (int8_t)f, SL_SKELETON__ONE, 0 } };
    c->rows_most = SL_MIN(p->set[SL_SKELETON__ONE].rows, c->s->rows);
    sl_search__skeleton_use_columns(c, e);
    const int products = take_fixed(&to->columns, v, p, t, f);
    *fits = products > 0;
    return *fits && find_directions(v, products) ? try_variants(v, &x, products) : SL_OK;
}

static sl_status vary_base(variation *v, hits *h, int32_t base) {
    cleared *c = &v->c;
    const bool phases = sl_search__skeleton_has_phases(c);
    for (int t = 0; t < c->base->terms; t++)
        for (int f = 0; f < c->s->term[c->base->term[t]].factors; f++) {
            const sl_search__skeleton_piece *p =
                &c->s->piece[c->s->term[c->base->term[t]].piece[f]];
            bool fits = false;
            c->mask = (1u << c->divisors) - 1;
            if (sl_search__skeleton_is_cleared(c, t, f) || p->set[SL_SKELETON__ONE].count == 0)
                continue;
            SL_TRY(vary_above(&fits, v, h, base, t, f, (extent){ .phases = true }));
            if (fits) continue;
            SL_TRY(vary_above(&fits, v, h, base, t, f,
                              (extent){ .phases = true, .lean = ~(1u << t) }));
            SL_TRY(
                vary_above(&fits, v, h, base, t, f, (extent){ .phases = true, .lean = 1u << t }));
            if (phases) SL_TRY(vary_above(&fits, v, h, base, t, f, (extent){ .phases = false }));
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- inside a divisor ---------- */

/* A constant inside a function u of a divisor: with a variant v of it, the columns of y D and of N
 * that have u get v in its place. v->product := these columns without v; returns how many, 0: they
 * are too many. 0 rows: counts them alone. */
static int take_inner(variation *v, int i, const sl_search__skeleton_inner *u, int rows) {
    cleared *c = &v->c;
    const sl_search__skeleton_divisor *d = c->divisor[i].divisor;
    sl_search__skeleton_divisor rest = *d;
    uint64_t name[VARIED];
    int n = 0;
    rest.value = v->rest;
    for (int k = 0; k < d->columns && rows; k++)
        for (int r = 0; r < rows && (u->columns >> k & 1); r++)
            v->rest[k][r] = d->value[k][r] / v->function[r];
    c->divisor[i].divisor = &rest;
    c->use[i] = u->columns;
    const space *below = sl_search__skeleton_divisor_products(c, rows);
    bool good = below && below->count <= VARIED;
    for (; good && n < below->count; n++)
        for (int r = 0; r < rows; r++) v->product[n][r] = below->value[n][r] * c->s->below[r];
    const int first = n;
    for (int t = 0; t < c->base->terms && good; t++) {
        const space *w =
            t != c->divisor[i].term ? sl_search__skeleton_term_products(c, t, -1, rows) : NULL;
        good = w || t == c->divisor[i].term;
        for (int k = 0; w && k < w->count && good; k++) {
            int at = first;
            while (at < n && name[at] != w->name[k]) at++;
            if (at < n) continue;
            good = n < VARIED;
            if (!good) break;
            name[n] = w->name[k];
            for (int r = 0; r < rows; r++) v->product[n][r] = w->value[k][r] * c->s->above[r];
            n++;
        }
    }
    c->divisor[i].divisor = d;
    return good ? n : 0;
}

/* The products, and the basis of the columns without the function; returns how many products. */
static int take_without(variation *v, int i, const sl_search__skeleton_inner *u, int columns) {
    cleared *c = &v->c;
    const uint32_t use = c->use[i], fixed = use & ~u->columns & ~u->beside;
    const int products = take_inner(v, i, u, 0);
    c->use[i] = fixed;
    if (products == 0 || !is_of_level(v, products * columns) || !fixed ||
        !sl_search__skeleton_clear(c, 0))
        return 0;
    const int count = c->above.count + c->below.count;
    c->rows = (count + dims_of(v) + 7) / 8 * 8;
    if (c->rows > c->rows_most) return 0;
    const int rows = c->rows;
    (void)take_inner(v, i, u, rows);
    c->use[i] = fixed;
    (void)sl_search__skeleton_clear(c, rows);
    sl_search__skeleton_push_all(c);
    return products;
}

/* All variants of function number `inner` of divisor i. */
static sl_status vary_below(bool *fits, variation *v, hits *h, int32_t base, int i, int inner,
                            extent e) {
    cleared *c = &v->c;
    const sl_search__skeleton_inner *u = &c->divisor[i].divisor->inner[inner];
    const sl_search__skeleton_piece *p = &c->s->piece[u->piece];
    const int t = c->divisor[i].term, f = c->divisor[i].factor;
    varied x = { h, p, { .base = base, .mask = c->mask, .extent = e } };
    const int columns = e.phases && u->beside ? p->columns : 1;
    x.hit.inside[0] = (sl_search__skeleton_inside){ columns,
                                                    inner,
                                                    { (int8_t)t, (int8_t)f, SL_SKELETON__ONE, 0 } };
    c->rows_most = SL_MIN(p->set[SL_SKELETON__ONE].rows, c->s->rows);
    sl_search__skeleton_use_columns(c, e);
    SL_TRY(sl_expr_eval(v->function, &v->scratch, u->function, c->s->x, c->rows_most, NULL));
    sl_arena_rewind(&v->scratch, 0);
    const int products = take_without(v, i, u, columns);
    *fits = products > 0;
    return *fits && find_directions(v, products) ? try_variants(v, &x, products) : SL_OK;
}

uint32_t sl_search__skeleton_sums(const cleared *c) {
    uint32_t mask = 0;
    for (int i = 0; i < c->divisors; i++) {
        const int t = c->divisor[i].term, f = c->divisor[i].factor;
        const sl_search__skeleton_term *term = &c->s->term[c->base->term[t]];
        if (c->s->node[term->factor[f].node]->op != SL_OP_VAR) mask |= 1u << i;
    }
    return mask;
}

static sl_status vary_divisors(variation *v, hits *h, int32_t base) {
    cleared *c = &v->c;
    const bool phases = sl_search__skeleton_has_phases(c);
    const uint32_t all = (1u << c->divisors) - 1, sums = sl_search__skeleton_sums(c);
    for (int i = 0; i < c->divisors; i++)
        for (int k = 0; k < c->divisor[i].divisor->inners; k++) {
            const sl_search__skeleton_divisor *d = c->divisor[i].divisor;
            bool fits = false;
            if (d->power != 1 || d->inner[k].piece < 0 ||
                c->s->piece[d->inner[k].piece].set[SL_SKELETON__ONE].count == 0)
                continue;
            for (int way = 0; way < 4 && !fits; way++) {
                c->mask = way & 2 ? sums : all;
                if ((way & 1 && !phases) || (way & 2 && sums == all)) continue;
                SL_TRY(vary_below(&fits, v, h, base, i, k, (extent){ .phases = !(way & 1) }));
            }
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- threads ------------------- */

sl_status sl_search__skeleton_vary(int64_t begin, int64_t end, int worker, void *payload) {
    const sl_search__skeleton_clear_screening *g = payload;
    sl_status st = SL_OK;
    variation *v = sl_malloc_aligned(1, sizeof *v);
    if (!v) return sl_fail_memory(1, sizeof *v, "skeletons");
    v->scratch = (sl_arena){ 0 };
    v->wide = g->how == SL_SKELETON__CLEAR_VARIED_WIDE;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        const int32_t base = g->s->with_divisors[i];
        if (base < 0) continue;
        (void)sl_search__skeleton_find_divisors(&v->c, g->s, base);
        if (g->how != SL_SKELETON__CLEAR_VARIED_BELOW) st = vary_base(v, &g->hits[worker], base);
        if (g->how != SL_SKELETON__CLEAR_VARIED_ABOVE && st == SL_OK)
            st = vary_divisors(v, &g->hits[worker], base);
    }
    sl_arena_clear(&v->scratch);
    sl_free(v);
    return st;
}
