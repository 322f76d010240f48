/* skeleton_fits - does a hit hold in all rows?
 *
 * Screening compares eight directions in a few rows. Variants such as exp(-9 x1) are next to 0 in
 * all rows but one, and some hundred pairs of them agree there by chance, some thousand where y is
 * rounded. So every hit is fitted in all rows by the thread that found it, before hits are sorted
 * and the first of them are verified, which takes some thousand times as long. Where y is rounded,
 * the squares of what is left must be those of rounding, 1/3 a row in units of half of y's last
 * digit. */
#include <math.h>
#include <string.h>

#include "search/skeleton_impl.h"

/* Columns of a term: all of them where y is exact, since what is left out may be what is missing.
 */
enum { ROWS = SL_SKELETON__ROWS, PRODUCTS = 64, PRODUCTS_ROUNDED = SL_SKELETON__PRODUCTS };
static const double DEPENDENT = 1e-11; // part of a column
static const double EXACT = 1e-6;      // what is left of exact y, as a part: terms may cancel
/* Squares of a uniform error: mean, standard deviation, and how many of these are allowed. */
static const double MEAN = 1.0 / 3, DEVIATION = 0.3, DEVIATIONS = 6;

typedef sl_search__skeleton_fitting fitting;

/* v less what it has of the basis, twice against rounding. Returns what part of it is left. */
static double project(fitting *f, double *v, int n) {
    const sl_search__skeleton_kernels *kernels = f->s->kernels;
    const double whole = kernels->deflate(v, f->basis[0], 0, ROWS);
    double left = whole;
    for (int pass = 0; pass < 2 && n > 0; pass++) left = kernels->deflate(v, f->basis[0], n, ROWS);
    f->left = left;
    return whole > 0 ? sqrt(left / whole) : 0;
}

static void push(fitting *f, const double *column) {
    double *v = f->basis[f->rank], size = 0;
    if (f->rank == SL_SKELETON__FITTED) return;
    for (int r = 0; r < ROWS; r++) v[r] = r < f->s->rows ? column[r] * f->weight[r] : 0;
    for (int r = 0; r < ROWS; r++) size += fabs(v[r]);
    if (!(size < 1e60 && size > 1e-60) || !(project(f, v, f->rank) > DEPENDENT)) return;
    const double over = 1 / sqrt(f->left);
    for (int r = 0; r < ROWS; r++) v[r] *= over;
    f->rank++;
}

/* Columns of a factor with a variant in its place, and the summand beside it. */
typedef struct changed {
    int factor, count;
    double value[SL_SKELETON__CHANGED + 1][ROWS];
} changed;

static sl_status take_change(changed *out, const fitting *f, const sl_search__skeleton_change *c,
                             const sl_search__skeleton_term *t, bool summand, sl_arena *scratch) {
    const sl_search__skeleton_piece *p = &f->s->piece[t->piece[c->factor]];
    out->factor = c->factor;
    out->count = p->columns;
    const sl_search__skeleton_variant *v = &p->set[c->set].list[c->variant];
    const double constant[2] = { v->factor, (double)v->summand / v->over };
    for (int k = 0; k < p->columns; k++)
        SL_TRY(sl_expr_program_run(out->value[k], p->slot[v->slot].program[k], f->s->x, f->s->rows,
                                   constant, scratch));
    if (!summand || !sl_search__skeleton_has_summand(p)) return SL_OK;
    for (int r = 0; r < f->s->rows; r++) out->value[out->count][r] = 1;
    out->count++;
    return SL_OK;
}

/* All products of the columns of a term. */
static void push_products(fitting *f, const sl_search__skeleton_term *t, const changed *change,
                          int changes) {
    const int most = f->s->sigma > 0 ? PRODUCTS_ROUNDED : PRODUCTS;
    int n = 1;
    double product[PRODUCTS][ROWS];
    for (int r = 0; r < f->s->rows; r++) product[0][r] = 1;
    for (int k = 0; k < t->factors; k++) {
        const sl_search__skeleton_piece *p = &f->s->piece[t->piece[k]];
        const double(*value)[ROWS] = p->value;
        int count = p->plains;
        for (int i = 0; i < changes; i++)
            if (change[i].factor == k) value = change[i].value, count = change[i].count;
        for (int i = count - 1; i >= 0; i--)
            for (int m = 0; m < n && i * n + m < most; m++)
                for (int r = 0; r < f->s->rows; r++)
                    product[i * n + m][r] = product[m][r] * value[i][r];
        n = SL_MIN(n * count, most);
    }
    for (int i = 0; i < n; i++) push(f, product[i]);
}

void sl_search__skeleton_fitting_begin(fitting *f, const sl_skeletons *s) {
    double least = INFINITY;
    f->s = s;
    for (int r = 0; r < s->rows; r++)
        if (s->rounding[r] > 0) least = SL_MIN(least, s->rounding[r]);
    for (int r = 0; r < s->rows; r++)
        f->weight[r] = s->weight[r] / (s->sigma > 0 ? SL_MAX(s->rounding[r], least) : 1);
}

sl_status sl_search__skeleton_fits(bool *out, fitting *f, const sl_search__skeleton_hit *h,
                                   sl_arena *scratch) {
    const sl_skeletons *s = f->s;
    const sl_search__skeleton_base *b = &s->base[h->base];
    const bool inside = h->changes > 1 && h->change[0].term == h->change[1].term;
    changed change[2];
    double y[ROWS] = { 0 };
    f->rank = 0;
    for (int t = 0; t < b->terms; t++) push_products(f, &s->term[b->term[t]], NULL, 0);
    const int plain = f->rank;
    for (int i = 0; i < h->changes; i++) {
        const sl_search__skeleton_term *t = &s->term[b->term[h->change[i].term]];
        // of a term with one change the plain columns have the summand
        SL_TRY(take_change(&change[i], f, &h->change[i], t, inside, scratch));
        if (!inside) push_products(f, t, &change[i], 1);
    }
    if (inside) push_products(f, &s->term[b->term[h->change[0].term]], change, 2);
    for (int r = 0; r < s->rows; r++) y[r] = s->y[r] * f->weight[r];
    const double left = project(f, y, f->rank);
    if (s->sigma == 0) {
        *out = left < EXACT || f->rank == SL_SKELETON__FITTED; // of more columns, unknown
        return SL_OK;
    }
    const double freedom = s->rows - f->rank;
    *out = freedom > 0 && f->left <= MEAN * freedom + DEVIATIONS * DEVIATION * sqrt(freedom) &&
           (h->changes == 0 || f->rank > plain);
    return SL_OK;
}
