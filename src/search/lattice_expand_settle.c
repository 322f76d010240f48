/* lattice_expand_settle - from hits to formulas: fit, thin out, offer.
 *
 * A base that holds has more columns than the formula: those that are nowhere seen beside y go
 * first, then others one by one as long as the formula holds in every row.
 *
 * A dozen smooth columns with free coefficients come close to many functions, so that holding to
 * ten digits says little. A formula that is meant holds as well as rounding lets it, its terms do
 * not cancel by much, and most of its coefficients are simple fractions, because they are products
 * of whole constants; the others hold exp(3), sqrt(5) or sin(2). All three are asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/lattice_expand_impl.h"

enum { COLUMNS = SL_EXPAND__RANK + 2 * SL_EXPAND__PRODUCTS, LEFT_MAX = 14, HITS_MAX = 160 };
enum { OFFERS = 8, REAL_MAX = 6 }; // coefficients that are no simple fractions
/* Errors of a row, in parts of |y| and of the terms together; terms, in parts of |y|. */
static const double TOLERANCE = 1e-13, UNSEEN = 1e-13, CANCELLATION = 1e4;

typedef struct formula {
    const sl_expand *x;
    int columns;
    sl_expand__product product[COLUMNS];
    double value[COLUMNS][SL_EXPAND__ROWS]; // times the weights
    double coefficient[COLUMNS];
} formula;

static bool same_product(const sl_expand__product *a, const sl_expand__product *b) {
    return a->factors == b->factors &&
           !memcmp(a->column, b->column, (size_t)a->factors * sizeof *a->column);
}

static void add_products(formula *f, const sl_expand__product *list, int n) {
    for (int i = 0; i < n && f->columns < COLUMNS; i++) {
        bool known = false;
        for (int k = 0; k < f->columns && !known; k++)
            known = same_product(&f->product[k], &list[i]);
        if (known || !sl_expand__value(f->value[f->columns], f->x, &list[i], f->x->rows)) continue;
        f->product[f->columns++] = list[i];
    }
}

static void take_columns(formula *f, const sl_expand__hit *h) {
    const sl_expand__base *b = &f->x->base[h->base];
    sl_expand__product list[SL_EXPAND__PRODUCTS];
    f->columns = 0;
    for (int t = 0; t < b->terms; t++)
        add_products(f, list, sl_expand__products(list, f->x, &b->term[t], -1, 0));
    for (int i = 0; i < h->changes; i++) {
        const sl_expand__change *c = &h->change[i];
        int n = sl_expand__products(list, f->x, &b->term[c->term], c->factor, c->variant);
        add_products(f, list, h->changes > 1 ? 1 : n);
    }
}

/* Least squares of the columns in use. *worst: largest error in a row, as a part of |y| and of the
 * sizes of all terms. */
static sl_status fit(double *worst, formula *f, const bool *use, sl_arena *scratch) {
    const double *column[COLUMNS];
    double target[SL_EXPAND__ROWS], got[COLUMNS];
    int n = 0;
    sl_lsq lsq;
    for (int r = 0; r < f->x->rows; r++) target[r] = f->x->y[r] * f->x->weight[r];
    for (int k = 0; k < f->columns; k++)
        if (use[k]) column[n++] = f->value[k];
    size_t mark = sl_arena_mark(scratch);
    SL_TRY(sl_lsq_fit(&lsq, got, NULL, scratch, column, target, NULL, f->x->rows, n));
    sl_arena_rewind(scratch, mark);
    n = 0;
    for (int k = 0; k < f->columns; k++) f->coefficient[k] = use[k] ? got[n++] : 0;
    *worst = 0;
    for (int r = 0; r < f->x->rows; r++) {
        double sum = 0, size = 1;
        for (int k = 0; k < f->columns; k++) {
            sum += f->coefficient[k] * f->value[k][r];
            size += fabs(f->coefficient[k] * f->value[k][r]);
        }
        double error = fabs(sum - target[r]) / size;
        if (!(error <= *worst)) *worst = error;
    }
    if (isnan(*worst)) *worst = INFINITY;
    return SL_OK;
}

static double seen(const formula *f, int k) {
    double most = 0;
    for (int r = 0; r < f->x->rows; r++)
        most = SL_MAX(most, fabs(f->coefficient[k] * f->value[k][r]));
    return most;
}

/* Drops columns while the formula holds; use[] are those that stay. */
static sl_status thin_out(formula *f, bool *use, sl_arena *scratch) {
    double worst;
    bool fixed[COLUMNS] = { false };
    for (int k = 0; k < f->columns; k++)
        if (use[k] && seen(f, k) < UNSEEN) use[k] = false;
    SL_TRY(fit(&worst, f, use, scratch));
    for (;;) {
        int least = -1;
        for (int k = 0; k < f->columns; k++)
            if (use[k] && !fixed[k] && (least < 0 || seen(f, k) < seen(f, least))) least = k;
        if (least < 0) break;
        use[least] = false;
        SL_TRY(fit(&worst, f, use, scratch));
        if (worst > TOLERANCE) {
            use[least] = fixed[least] = true;
            SL_TRY(fit(&worst, f, use, scratch));
        }
    }
    return SL_OK;
}

static bool is_simple(double v) {
    for (int d = 1; d <= 12; d++)
        if (fabs(v * d - nearbyint(v * d)) <= 1e-8 * fabs(v * d)) return fabs(v) < 1e6;
    return false;
}

/* Is the formula that is left one that was meant? */
static bool is_meant(const formula *f, const bool *use) {
    int left = 0, real = 0;
    for (int k = 0; k < f->columns; k++) {
        if (!use[k]) continue;
        left++;
        real += !is_simple(f->coefficient[k]);
        if (!(seen(f, k) < CANCELLATION)) return false;
    }
    return left > 0 && left <= LEFT_MAX && real <= REAL_MAX;
}

static sl_status check(bool *good, formula *f, bool *use, const sl_expand__hit *h,
                       sl_arena *scratch) {
    double worst;
    take_columns(f, h);
    for (int k = 0; k < f->columns; k++) use[k] = true;
    SL_TRY(fit(&worst, f, use, scratch));
    *good = worst <= TOLERANCE;
    if (!*good) return SL_OK;
    for (int k = 0; k < f->columns; k++) use[k] = f->coefficient[k] != 0;
    SL_TRY(thin_out(f, use, scratch));
    SL_TRY(fit(&worst, f, use, scratch));
    *good = worst <= TOLERANCE && is_meant(f, use);
    return SL_OK;
}

/* ---------------------------------------------------------------- offers -------------------- */

static sl_status offer(bool *kept, sl_expand *x, const formula *f, const bool *use, int level,
                       sl_arena *a) {
    const sl_node *term[LEFT_MAX];
    double value[LEFT_MAX];
    int n = 0;
    *kept = false;
    for (int k = 0; k < f->columns; k++) {
        if (!use[k]) continue;
        const sl_node *factor[1 + SL_EXPAND__FACTORS];
        const sl_expand__product *p = &f->product[k];
        factor[0] = sl_expr_par(a, n + 1);
        for (int i = 0; i < p->factors; i++) factor[1 + i] = x->column[p->column[i]].expr;
        term[n] = factor[0] ? sl_expr_nary(a, SL_OP_MUL, factor, 1 + p->factors) : NULL;
        if (!term[n]) return sl_fail(SL_ENOMEM, "no memory for a formula");
        value[n++] = f->coefficient[k];
    }
    const sl_node *e = n == 1 ? term[0] : sl_expr_nary(a, SL_OP_ADD, term, n);
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula");
    SL_TRY(sl_expr_tidy(&e, a, e));
    return sl_search__offer(kept, x->job, e, value, n, sl_search__expand.name, level);
}

/* Fewer constants inside first, then the order of bases: the same whatever thread came first. */
static int cmp_hit(const void *a, const void *b) {
    const sl_expand__hit *p = a, *q = b;
    if (p->changes != q->changes) return p->changes < q->changes ? -1 : 1;
    if (p->base != q->base) return p->base < q->base ? -1 : 1;
    return memcmp(p->change, q->change, sizeof p->change);
}

sl_status sl_expand__settle(sl_expand *x, sl_expand__hits *hits, int level) {
    sl_status st = SL_OK;
    sl_arena scratch = { 0 };
    int offers = 0;
    if (hits->count == 0) return SL_OK;
    formula *f = sl_malloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a formula of many terms");
    f->x = x;
    qsort(hits->hit, (size_t)hits->count, sizeof *hits->hit, cmp_hit);
    for (int64_t i = 0; i < SL_MIN(hits->count, HITS_MAX) && offers < OFFERS; i++) {
        bool good, kept, use[COLUMNS];
        if (sl_search__stop(x->job, true)) break;
        SL_GO(check(&good, f, use, &hits->hit[i], &scratch));
        if (!good) continue;
        size_t mark = sl_arena_mark(&scratch);
        SL_GO(offer(&kept, x, f, use, level, &scratch));
        sl_arena_rewind(&scratch, mark);
        offers++;
    }
done:
    sl_free(f);
    sl_arena_clear(&scratch);
    return st;
}
