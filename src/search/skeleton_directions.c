/* skeleton_directions - what is orthogonal to the columns of a skeleton, in a few rows.
 *
 * The columns of a skeleton's terms without constants inside span a linear space. With eight more
 * rows than columns, its orthogonal complement has a basis of eight directions; the first is that
 * of y. Variants of a factor are compared by their images in these directions. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

typedef sl_search__skeleton_directions directions;
typedef sl_search__skeleton_fixed fixed;

enum { DIMS = SL_SKELETON__DIMS, RANK = SL_SKELETON__RANK, VARIED = SL_SKELETON__VARIED };
/* Parts of a column that are rounding errors, of a plain one and of y. */
static const double DEPENDENT = 1e-11, NOTHING = 1e-10;
/* Where y is rounded: residual allowed, in standard errors; largest doubt, as a part of y's
 * direction; chance of a false hit. */
static const double ERRORS = 3, DOUBT = 0.05, CHANCE = 1e-10;

/* v less what it has of basis[0..n), normalised; again where that is most of it. Returns what part
 * of it was left. */
static double make_orthogonal(double *v, const directions *d, int n) {
    const sl_search__skeleton_kernels *kernels = d->s->kernels;
    double whole = sqrt(kernels->deflate(v, d->basis, 0, d->rows)), before = whole, left = whole;
    for (int pass = 0; pass < 3; pass++) {
        left = sqrt(kernels->deflate(v, d->basis, n, d->rows));
        if (!(left < 0.1 * before) || left < 1e-14 * whole) break;
        before = left;
    }
    for (int r = 0; r < d->rows; r++) v[r] /= left;
    return left / whole;
}

/* Columns of a factor, one behind the other, and where their rows are; the last may be 1. */
typedef struct columns {
    const double *value;
    int count;
    int at[SL_SKELETON__PLAIN]; // which
    int64_t column, row;        // from one to the next
    bool one;
} columns;

static columns columns_of(const directions *d, const sl_search__skeleton_term *t, int f,
                          const fixed *variant) {
    const sl_search__skeleton_piece *p = &d->s->piece[t->piece[f]];
    if (!variant || variant->change.factor != f) {
        columns out = { .value = p->value[0], .column = SL_SKELETON__ROWS, .row = 1 };
        for (int i = 0; i < p->plains; i++)
            if (!d->plain || !sl_search__skeleton_is_phase(p, i)) out.at[out.count++] = i;
        return out;
    }
    const sl_search__skeleton_set *set = &variant->piece->set[variant->change.set];
    const bool one = sl_search__skeleton_has_summand(p);
    columns out = { .value = set->value + variant->change.variant,
                    .count = p->columns + one,
                    .column = set->rows * (int64_t)set->stride,
                    .row = set->stride,
                    .one = one };
    for (int i = 0; i < out.count; i++) out.at[i] = i;
    return out;
}

void sl_search__skeleton_multiply_plains(directions *d, const sl_search__skeleton_term *t, int but,
                                         const fixed *variant) {
    d->products = 1;
    d->further[0] = 0;
    memcpy(d->product[0], d->s->weight, (size_t)d->rows * sizeof(double));
    for (int f = 0; f < t->factors; f++) {
        if (f == but) continue;
        const columns v = columns_of(d, t, f, variant);
        int n = d->products;
        for (int i = v.count - 1; i >= 0; i--) {
            const double *value = v.value + v.at[i] * v.column;
            const bool one = v.one && i == v.count - 1;
            int to = i * n, most = SL_MIN(n, SL_SKELETON__PRODUCTS - to);
            for (int k = 0; k < most; k++) {
                for (int r = 0; r < d->rows; r++)
                    d->product[to + k][r] = d->product[k][r] * (one ? 1 : value[r * v.row]);
                d->further[to + k] = d->further[k] + (i > 0);
                d->products = SL_MAX(d->products, to + k + 1);
            }
        }
        if (v.count == 0) d->products = 0;
    }
}

static int count_plains(const sl_skeletons *s, const sl_search__skeleton_base *b) {
    int n = 0;
    for (int t = 0; t < b->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[b->term[t]];
        int product = 1;
        for (int f = 0; f < term->factors; f++) product *= s->piece[term->piece[f]].plains;
        n += SL_MIN(product, SL_SKELETON__PRODUCTS);
    }
    return n;
}

static bool is_number(const double *v, int rows) {
    double size = 0;
    for (int r = 0; r < rows; r++) size += fabs(v[r]);
    return size < 1e30 && size > 1e-30;
}

/* The space of the plain columns. */
static bool take_plains(directions *d) {
    d->rank = 0;
    for (int t = 0; t < d->base->terms; t++) {
        sl_search__skeleton_multiply_plains(d, &d->s->term[d->base->term[t]], -1, NULL);
        for (int i = 0; i < d->products; i++) {
            double *v = d->basis + d->rank * d->rows;
            if (!is_number(d->product[i], d->rows)) continue;
            memcpy(v, d->product[i], (size_t)d->rows * sizeof *v);
            if (!(make_orthogonal(v, d, d->rank) > DEPENDENT)) continue;
            if (++d->rank > RANK) return false;
        }
    }
    return true;
}

/* Sets the doubt: the rounding of y relative to what the plain columns leave of it. */
static void set_doubt(directions *d, double left) {
    d->doubt = ERRORS * d->s->sigma * sqrt(DIMS) / (left * sqrt(d->rows));
    d->most = VARIED;
    if (d->doubt > 0)
        d->most = (int)SL_MIN(VARIED, DIMS - log(CHANCE) / log(SL_MIN(d->doubt, DOUBT)));
}

/* The direction of y: what the plain columns leave of it. */
static void add_y(bool *nothing, directions *d) {
    double *v = d->basis + d->rank * d->rows;
    for (int r = 0; r < d->rows; r++) v[r] = d->s->y[r] * d->s->weight[r];
    const double left = make_orthogonal(v, d, d->rank);
    d->left = left;
    set_doubt(d, left);
    *nothing = left < SL_MAX(NOTHING, ERRORS * d->s->sigma);
}

bool sl_search__skeleton_add_directions(directions *d) {
    int n = 1;
    for (int r = 0; r < d->rows && n < DIMS; r++) {
        double *v = d->basis + (d->rank + n) * d->rows;
        for (int i = 0; i < d->rows; i++) v[i] = i == (r * 11) % d->rows;
        if (make_orthogonal(v, d, d->rank + n) > 0.05) n++;
    }
    for (int k = 0; k < DIMS; k++)
        for (int r = 0; r < d->rows; r++) d->across[r][k] = d->basis[(d->rank + k) * d->rows + r];
    return n == DIMS && d->doubt < DOUBT && d->most > 0;
}

int sl_search__skeleton_rows(const sl_skeletons *s, const sl_search__skeleton_base *base) {
    // many columns are duplicates or dependent, so the rank is less
    const int rows = count_plains(s, base) + DIMS;
    return SL_MIN((rows + 7) / 8 * 8, SL_SKELETON__FITTED);
}

bool sl_search__skeleton_find_basis(bool *nothing, directions *d,
                                    const sl_search__skeleton_base *base) {
    d->base = base;
    d->rows = sl_search__skeleton_rows(d->s, base);
    if (!take_plains(d)) return false;
    add_y(nothing, d);
    return true;
}

bool sl_search__skeleton_find_directions(bool *nothing, directions *d,
                                         const sl_search__skeleton_base *base) {
    if (!sl_search__skeleton_find_basis(nothing, d, base)) return false;
    return *nothing || sl_search__skeleton_add_directions(d);
}
