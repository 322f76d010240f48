/* skeleton_vary_two - y D = N with one constant inside each of two functions.
 *
 * 2 x1/(x2^2 - exp(-3 x2)) + sin(x2)/(x2^2 - exp(7 x2)) has two functions v and w with a constant
 * inside, in two divisors, two numerators or one of each. The columns of y D and of N are of four
 * kinds: without either function, v A, w B and, where both meet, v w C. Those of the first kind
 * and all A, B and C are the same for every pair of variants.
 *
 * The first kind is projected out once. For each variant v the columns v A are taken out of the
 * directions that are left, by elimination among a few numbers, such that eight remain; all
 * variants w are then compared by the images of w B and of v w C in these, as in skeleton_vary.c.
 * The function in the outer loop is that which makes this cheaper.
 *
 * Columns that are dependent whatever y is (exp(3 x) beside the cube of exp(x)) must not count: the
 * first of the eight directions is what is left of a column of y D whose coefficient is not 0, and
 * a formula is one whose images have that direction in their span.
 *
 * Skeletons differ in cost by a factor of hundreds, and each is as likely as any other. So the
 * cheap ones are a level of their own, some more are another one, and the rest is left out; so are
 * those of few columns, which other methods have found before. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_space space;
typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_clear_hit hit;
typedef sl_search__skeleton_clear_hits hits;
typedef sl_search__skeleton_extent extent;
typedef sl_search__skeleton_divisor divisor;
typedef sl_search__skeleton_inside inside;

enum {
    ROWS = SL_SKELETON__ROWS,
    FITTED = SL_SKELETON__FITTED,
    DIMS = SL_SKELETON__DIMS,
    BLOCK = SL_SKELETON__BLOCK,
    SPAN = SL_SKELETON__SPAN,
    LANES = SL_SKELETON__LANES,
    INNER = DIMS - 1, // columns of the function in the inner loop
    PRODUCTS = SL_SKELETON__CLEARED,
    PLACES = 24,
    KINDS = 4,   // bit k: columns that have function k
    FEW = 14,    // columns of all kinds; the lattice has most formulas of fewer
    CHEAP = 125, // cost of the first level, in images of eight variants; of the second one
    DEAR = 375,
};
/* Squares of the part of an image that is rounding error, and of what may be left of one that
 * depends on others. */
static const double LEAST = 1e-20, NOTHING = 1e-12, SPANNED = 1e-12;
/* What is left of the lead at least, and of a column of the outer function. */
static const double LED = 1e-8, OUTER = 1e-9;

/* A factor of a numerator or a function of a divisor that may have a constant inside. */
typedef struct place {
    int term, factor;
    int divisor, inner; // -1: a numerator
    const sl_search__skeleton_inner *function;
    const sl_search__skeleton_piece *piece; // has the variants
    int columns;                            // of a variant
} place;

/* The weighted products of one kind, without the functions themselves. */
typedef struct products {
    int below, count; // below: of y D, which come first
    uint64_t name[PRODUCTS];
    double value[PRODUCTS][ROWS];
} products;

typedef struct variation {
    cleared c;
    products kind[KINDS];
    int count[KINDS];   // columns
    divisor changed[2]; // with the function taken out
    double function[2][ROWS], rest[2][SL_SKELETON__BELOW][ROWS];
    int rows, span; // span: directions before a variant
    bool led;       // the first one is the lead's
    double before[FITTED * SPAN], directions[FITTED * DIMS];
    double fixed[SL_SKELETON__CHANGED][FITTED]; // the outer variant
    sl_search__skeleton_image image[INNER];
    double left[BLOCK];
    sl_arena scratch;
} variation;

static const sl_search__skeleton_set *variants_of(const place *x) {
    return &x->piece->set[SL_SKELETON__ONE];
}

/* ---------------------------------------------------------------- places -------------------- */

static int find_divisor(const cleared *c, int t, int f) {
    for (int i = 0; i < c->divisors; i++)
        if (c->divisor[i].term == t && c->divisor[i].factor == f) return i;
    return -1;
}

static int add_place(place *list, int n, place x) {
    if (n == PLACES || variants_of(&x)->count == 0) return n;
    list[n] = x;
    return n + 1;
}

static int list_places(place *list, const cleared *c) {
    const sl_skeletons *s = c->s;
    int n = 0;
    for (int t = 0; t < c->base->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[c->base->term[t]];
        for (int f = 0; f < term->factors; f++) {
            const sl_search__skeleton_piece *p = &s->piece[term->piece[f]];
            const int at = find_divisor(c, t, f);
            if (at < 0) n = add_place(list, n, (place){ t, f, -1, -1, NULL, p, p->columns });
            for (int k = 0; at >= 0 && p->divisor.power == 1 && k < p->divisor.inners; k++) {
                const sl_search__skeleton_inner *u = &p->divisor.inner[k];
                if (u->piece >= 0)
                    n = add_place(list, n, (place){ t, f, at, k, u, &s->piece[u->piece], 1 });
            }
        }
    }
    return n;
}

/* ---------------------------------------------------------------- columns ------------------- */

/* The place of function k has columns with the function, which is left out of them, or those
 * without it. */
static void restrict_place(variation *v, const place *x, int k, bool with, int rows) {
    cleared *c = &v->c;
    if (x->divisor < 0) {
        sl_search__skeleton_replaced *to = &c->replaced[k];
        to->term = x->term, to->factor = x->factor;
        to->n = with || sl_search__skeleton_has_summand(x->piece);
        to->name[0] = 0;
        for (int r = 0; r < rows; r++) to->value[0][r] = 1;
        return;
    }
    sl_search__skeleton_below *b = &c->divisor[x->divisor];
    const uint32_t columns = x->function->columns;
    c->use[x->divisor] &= with ? columns : ~(columns | x->function->beside);
    if (!with) return;
    v->changed[k] = *b->divisor;
    v->changed[k].value = v->rest[k];
    for (int i = 0; i < b->divisor->columns && rows; i++)
        for (int r = 0; r < rows && (columns >> i & 1); r++)
            v->rest[k][i][r] = b->divisor->value[i][r] / v->function[k][r];
    b->divisor = &v->changed[k];
}

static bool add_products(products *to, int first, const space *w, const double *weight,
                         const cleared *c, int rows) {
    for (int k = 0; w && k < w->count; k++) {
        int at = first;
        while (at < to->count && to->name[at] != w->name[k]) at++;
        if (at < to->count) continue;
        if (at == PRODUCTS) return false;
        to->name[at] = w->name[k];
        if (rows) c->s->kernels->multiply(to->value[at], w->value[k], weight, rows);
        to->count++;
    }
    return w != NULL;
}

/* Have products of term t (-1: of y D) all functions of that kind? A divisor is no factor of its
 * own term's. */
static bool has_kind(const place *x, unsigned kind, int t) {
    bool out = true;
    for (int k = 0; k < 2; k++)
        if (kind >> k & 1) out = out && (x[k].divisor < 0) == (x[k].term == t);
    return out;
}

/* The products of a kind; 0 rows: their names alone. false: too many. The columns in use stay those
 * of that kind. */
static bool take_kind(variation *v, const place *x, unsigned kind, extent e, int rows) {
    cleared *c = &v->c;
    products *to = &v->kind[kind];
    const divisor *whole[SL_SKELETON__DIVISORS] = { NULL };
    bool good = true;
    to->count = 0;
    c->replaced[0].term = c->replaced[1].term = -1;
    sl_search__skeleton_use_columns(c, e);
    for (int i = 0; i < c->divisors; i++) whole[i] = c->divisor[i].divisor;
    for (int k = 0; k < 2; k++) restrict_place(v, &x[k], k, kind >> k & 1, rows);
    if (has_kind(x, kind, -1))
        good = add_products(to, 0, sl_search__skeleton_divisor_products(c, rows), c->s->below, c,
                            rows);
    to->below = to->count;
    for (int t = 0; t < c->base->terms && good; t++)
        if (has_kind(x, kind, t))
            good = add_products(to, to->below, sl_search__skeleton_term_products(c, t, -1, rows),
                                c->s->above, c, rows);
    for (int i = 0; i < c->divisors; i++) c->divisor[i].divisor = whole[i];
    return good;
}

/* ---------------------------------------------------------------- directions ---------------- */

/* A column of y D without both functions whose coefficient is not 0: that of the first summands of
 * all divisors; -1: there is none. */
static int find_lead(const cleared *c) {
    uint64_t name = 0;
    for (int i = 0; i < c->divisors; i++) {
        const divisor *d = c->divisor[i].divisor;
        const uint32_t summands = c->use[i] & d->own;
        int k = 0;
        if (!(c->mask >> i & 1)) continue;
        while (k < d->columns && (!(summands >> k & 1) || d->sine[k] >= 0 || d->name[k] == 0)) k++;
        if (k == d->columns) return -1;
        name += d->name[k] * (uint64_t)d->power;
    }
    for (int k = 0; k < c->below.count; k++)
        if (c->below.name[k] == name) return k;
    return -1;
}

/* What is left of a vector beside the basis, of length 1, as number n behind it; false: too little.
 */
static bool add_direction(cleared *c, const double *vector, int n, double least) {
    double *to = c->basis + (c->n + n) * c->rows, length;
    memcpy(to, vector, (size_t)c->rows * sizeof *to);
    if (!(sl_search__skeleton_project(to, &length, c, c->basis, c->n + n) > least)) return false;
    for (int r = 0; r < c->rows; r++) to[r] /= length;
    return true;
}

/* Directions orthogonal to the columns without both functions. */
static bool find_directions(variation *v) {
    cleared *c = &v->c;
    space *below = &c->below;
    const int lead = find_lead(c), stride = (v->span + LANES - 1) / LANES * LANES;
    double first[ROWS];
    int n = 0;
    if (lead >= 0) {
        c->s->kernels->multiply(first, below->value[lead], c->s->below, c->rows);
        below->count--;
        memcpy(below->value[lead], below->value[below->count], sizeof first);
    }
    sl_search__skeleton_push_all(c);
    v->led = lead >= 0 && add_direction(c, first, 0, LED); // not of sin^2, with cos^2 and 1
    n = v->led;
    for (int r = 0; r < c->rows && n < v->span; r++) {
        double unit[ROWS] = { 0 };
        unit[r * 11 % c->rows] = 1;
        n += add_direction(c, unit, n, 0.05);
    }
    for (int r = 0; r < c->rows; r++)
        for (int d = 0; d < stride; d++)
            v->before[r * stride + d] = d < n ? c->basis[(c->n + d) * c->rows + r] : 0;
    return n == v->span;
}

/* Those of them that are left beside the columns of an outer variant. */
static bool take_variant(variation *v, const place *outer, int32_t variant, const products *p) {
    const sl_search__skeleton_set *set = variants_of(outer);
    const sl_search__skeleton_kernels *kernels = v->c.s->kernels;
    double column[SPAN * FITTED];
    int n = 0;
    for (int i = 0; i < outer->columns; i++) {
        const double *from = set->value + (int64_t)i * set->rows * set->stride + variant;
        for (int r = 0; r < v->rows; r++) v->fixed[i][r] = from[r * set->stride];
        for (int k = 0; k < p->count; k++, n++)
            kernels->multiply(column + n * v->rows, v->fixed[i], p->value[k], v->rows);
    }
    return kernels->beside(v->directions, DIMS, v->before, v->span, column, n, v->rows, OUTER);
}

/* ---------------------------------------------------------------- variants ------------------ */

/* Images of the product w with all columns of n variants. */
static int take_images(variation *v, int count, const place *inner, const double *w, int from,
                       int n) {
    const sl_search__skeleton_set *set = variants_of(inner);
    double across[FITTED * DIMS];
    for (int r = 0; r < v->rows; r++)
        for (int d = 0; d < DIMS; d++) across[r * DIMS + d] = v->directions[r * DIMS + d] * w[r];
    for (int i = 0; i < inner->columns; i++)
        v->c.s->kernels->images(&v->image[count++], across, w,
                                set->value + (int64_t)i * set->rows * set->stride + from,
                                set->stride, v->rows, n, LEAST);
    return count;
}

/* Those of the products of N, or of those of y D. */
static int take_side(variation *v, int count, bool below, const place *inner, int outer_columns,
                     const products *b, int from, int n) {
    const products *both = &v->kind[KINDS - 1];
    for (int k = below ? 0 : b->below; k < (below ? b->below : b->count); k++)
        count = take_images(v, count, inner, b->value[k], from, n);
    for (int i = 0; i < outer_columns; i++)
        for (int k = below ? 0 : both->below; k < (below ? both->below : both->count); k++) {
            double w[FITTED];
            v->c.s->kernels->multiply(w, v->fixed[i], both->value[k], v->rows);
            count = take_images(v, count, inner, w, from, n);
        }
    return count;
}

/* Image i of the columns `first` and later: is one in the span of those before it, or, if there is
 * a lead, the lead in that of all? */
static bool is_dependent(const variation *v, int first, int count, int i) {
    if (v->led) return v->left[i] < SPANNED;
    for (int k = first; k < count; k++) {
        double size = 0;
        for (int d = 0; d < DIMS; d++) size += v->image[k].q[d][i] * v->image[k].q[d][i];
        if (size == 0) return true;
    }
    return false;
}

/* All variants of the inner function beside one of the outer one, number `outer`. */
static sl_status try_inner(variation *v, hits *h, const place *x, int outer, hit *found) {
    const place *a = &x[outer], *b = &x[1 - outer];
    const int32_t total = variants_of(b)->count, fixed = found->inside[outer].change.variant;
    for (int32_t from = 0; from < total; from += BLOCK) {
        const int n = (int)SL_MIN(BLOCK, total - from);
        const products *p = &v->kind[2 - outer];
        const int above = take_side(v, 0, false, b, a->columns, p, from, n);
        const int count = take_side(v, above, true, b, a->columns, p, from, n);
        const int first = above < count ? above : 0; // y D has the function: it takes part last
        v->c.s->kernels->leave(v->left, v->image, count, n, NOTHING);
        for (int i = 0; i < n; i++) {
            if (a->piece == b->piece && from + i == fixed) continue; // skeleton_alike.c
            found->inside[1 - outer].change.variant = from + i;
            if (is_dependent(v, first, count, i))
                SL_TRY(sl_search__skeleton_check_hit(h, &v->c, found, &v->scratch));
        }
    }
    return SL_OK;
}

/* Both functions, with their numbers of columns and places set; outer: which is in the outer loop.
 */
static sl_status try_outer(variation *v, hits *h, const place *x, int outer, extent e,
                           int32_t base) {
    cleared *c = &v->c;
    hit found = { .base = base, .mask = c->mask, .extent = e };
    for (int k = 0; k < 2; k++) {
        const sl_search__skeleton_change change = { (int8_t)x[k].term, (int8_t)x[k].factor,
                                                    SL_SKELETON__ONE, 0 };
        found.inside[k] = (inside){ x[k].columns, x[k].inner, change };
        if (x[k].divisor < 0) continue;
        SL_TRY(sl_expr_eval(v->function[k], &v->scratch, x[k].function->function, c->s->x, v->rows,
                            NULL));
        sl_arena_rewind(&v->scratch, 0);
    }
    for (unsigned kind = 1; kind < KINDS; kind++) (void)take_kind(v, x, kind, e, v->rows);
    (void)take_kind(v, x, 0, e, v->rows);
    c->rows = v->rows;
    if (!sl_search__skeleton_clear(c, v->rows) || !find_directions(v)) return SL_OK;
    for (int32_t i = 0; i < variants_of(&x[outer])->count; i++) {
        if (!take_variant(v, &x[outer], i, &v->kind[1 + outer])) continue;
        found.inside[outer].change.variant = i;
        SL_TRY(try_inner(v, h, x, outer, &found));
    }
    atomic_fetch_add_explicit(&c->s->job->tried,
                              (int64_t)variants_of(&x[0])->count * variants_of(&x[1])->count,
                              memory_order_relaxed);
    return SL_OK;
}

/* ---------------------------------------------------------------- skeletons ----------------- */

static int rows_of(const variation *v, int outer) {
    return (v->count[0] + v->count[1 + outer] + DIMS + LANES - 1) / LANES * LANES;
}

/* With function `outer` in the outer loop; infinite where columns are too many. */
static double cost_of(const variation *v, const place *x, int outer) {
    const int columns = v->count[2 - outer] + v->count[KINDS - 1];
    const int blocks = (variants_of(&x[1 - outer])->count + LANES - 1) / LANES;
    if (columns > INNER || columns == 0 || v->count[1 + outer] + DIMS > SPAN ||
        rows_of(v, outer) > v->c.rows_most)
        return INFINITY;
    return variants_of(&x[outer])->count * (1.0 + columns * blocks);
}

/* Counts columns of all kinds; false: too many, or a place is not in a divisor that is cleared. */
static bool count_columns(variation *v, place *x, extent e) {
    const uint32_t mask = v->c.mask;
    for (int k = 0; k < 2; k++) {
        if (x[k].divisor < 0) continue;
        if (!(mask >> x[k].divisor & 1)) return false;
        x[k].columns = e.phases && x[k].function->beside ? x[k].piece->columns : 1;
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        if (!take_kind(v, x, kind, e, 0)) return false;
        v->count[kind] =
            v->kind[kind].count * (kind & 1 ? x[0].columns : 1) * (kind & 2 ? x[1].columns : 1);
    }
    return v->kind[0].below > 0;
}

/* With all divisors and phases, or else as many of them as fit: inputs as divisors seldom have
 * constants. */
static sl_status vary_places(variation *v, hits *h, int32_t base, place *x, bool cheap) {
    cleared *c = &v->c;
    const uint32_t all = (1u << c->divisors) - 1, sums = sl_search__skeleton_sums(c);
    const bool phases = sl_search__skeleton_has_phases(c);
    c->rows_most = SL_MIN(FITTED, c->s->rows);
    for (int way = 0; way < 4; way++) {
        const extent e = { .phases = !(way & 2) };
        c->mask = way & 1 ? sums : all;
        if ((way & 2 && !phases) || (way & 1 && sums == all) || !count_columns(v, x, e)) continue;
        const double cost[2] = { cost_of(v, x, 0), cost_of(v, x, 1) };
        const int outer = cost[1] < cost[0];
        if (cost[outer] == INFINITY) continue;
        if (v->count[0] + v->count[1] + v->count[2] + v->count[3] < FEW || cost[outer] > DEAR ||
            (cost[outer] <= CHEAP) != cheap)
            return SL_OK;
        v->rows = rows_of(v, outer);
        v->span = v->count[1 + outer] + DIMS;
        return try_outer(v, h, x, outer, e, base);
    }
    return SL_OK;
}

static sl_status vary_base(variation *v, hits *h, int32_t base, bool cheap) {
    place list[PLACES];
    (void)sl_search__skeleton_find_divisors(&v->c, v->c.s, base);
    const int n = list_places(list, &v->c);
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++) {
            place x[2] = { list[i], list[k] };
            SL_TRY(vary_places(v, h, base, x, cheap));
        }
    return SL_OK;
}

sl_status sl_search__skeleton_vary_two(int64_t begin, int64_t end, int worker, void *payload) {
    const sl_search__skeleton_clear_screening *g = payload;
    const bool cheap = g->how == SL_SKELETON__CLEAR_VARIED_TWO;
    sl_status st = SL_OK;
    variation *v = sl_malloc_aligned(1, sizeof *v);
    if (!v) return sl_fail_memory(1, sizeof *v, "skeletons");
    v->scratch = (sl_arena){ 0 };
    v->c.s = g->s;
    for (int64_t i = begin; i < end && st == SL_OK; i++) {
        if (sl_search__stop(g->s->job, worker == 0)) break;
        const int32_t base = g->s->with_divisors[i];
        if (base >= 0) st = vary_base(v, &g->hits[worker], base, cheap);
    }
    sl_arena_clear(&v->scratch);
    sl_free(v);
    return st;
}
