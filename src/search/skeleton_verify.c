/* skeleton_verify - from hits to formulas: fit, drop columns, offer.
 *
 * A matching skeleton has more columns than the formula: those below rounding in all rows are
 * dropped first, then others one by one while the formula holds in every row.
 *
 * A dozen smooth columns with free coefficients come close to many functions, so ten digits of
 * agreement prove little. A true formula holds to within rounding, its terms do not nearly cancel,
 * and most of its coefficients are simple fractions, because they are products of integer
 * constants; the others hold exp(3), sqrt(5) or sin(2). All three are required. The rounding is
 * bounded for every column: divisors that nearly vanish have large bounds.
 *
 * Where y itself is rounded, coefficients are known to few digits. Then they must become exact
 * numbers (lattice_snap.c), as most of them are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/num.h"
#include "search/lattice_impl.h"
#include "search/skeleton_impl.h"

enum {
    COLUMNS = SL_SKELETON__RANK + 2 * SL_SKELETON__PRODUCTS,
    ROWS = SL_SKELETON__ROWS,
    LEFT_MAX = 14,
    HITS_MAX = 400,
    OFFERS = 8,
    REAL_MAX = 6,   // coefficients that are no simple fractions
    CANCELLED = 16, // one row of so many may have terms that cancel
};
/* Largest error of a row relative to |y| and the terms; relative to its bound; terms without
 * effect, and that cancel, relative to |y|. */
static const double TOLERANCE = 1e-13, BOUNDS = 2, UNSEEN = 1e-13, CANCELLATION = 1e4;
/* Where y is rounded: errors of a row, in parts of half a unit of its last digit. */
static const double ROUNDED = 1.6;

typedef struct column {
    int factors;
    int lower; // of its factors that stand for a constant: a power below, a phase, 1; 0: the term
    const sl_node *factor[SL_SKELETON__FACTORS];
    double value[ROWS], bound[ROWS]; // times the weights
} column;

typedef struct formula {
    const sl_skeletons *s;
    sl_arena *a;
    bool plain; // phases are left out
    int columns;
    column column[COLUMNS];
    column before[COLUMNS]; // where y is rounded: as they were before phases were joined
    double coefficient[COLUMNS], error[COLUMNS]; // error: standard errors, where y is rounded
    double scale[ROWS]; // of rows in fits: 1, or how much larger than y the terms are
    sl_search__lattice_number number[COLUMNS]; // where y is rounded: what they are
} formula;

/* ---------------------------------------------------------------- columns ------------------- */

static bool same_column(const column *a, const column *b) {
    bool same = a->factors == b->factors;
    for (int i = 0; i < a->factors && same; i++) same = sl_expr_equal(a->factor[i], b->factor[i]);
    return same;
}

/* Values and bounds of a column's product; false where it is not finite or not of moderate size. */
static bool evaluate(column *c, const sl_skeletons *s) {
    double size = 0;
    for (int r = 0; r < s->rows; r++) {
        long double x[SL_SKELETON__INPUTS] = { 0 }, product = s->weight[r], relative = 0;
        for (int v = 0; v < s->variables; v++) x[v] = s->x[v][r];
        for (int f = 0; f < c->factors; f++) {
            long double value, bound;
            sl_expr_eval_ref(&value, &bound, c->factor[f], x, NULL, 0x1p-53L);
            product *= value;
            relative += bound / fabsl(value) + 0x1p-53L;
        }
        c->value[r] = (double)product;
        c->bound[r] = (double)(relative * fabsl(product));
        if (!(fabs(c->value[r]) < 1e30 && c->bound[r] < 1e30)) return false;
        size = SL_MAX(size, fabs(c->value[r]));
    }
    return size > 1e-30;
}

/* A factor of a term that has a variant's columns. */
typedef struct changed {
    int factor, count;
    const sl_node *expr[SL_SKELETON__CHANGED + 1];
} changed;

static void add_columns(formula *f, const sl_search__skeleton_product *p, bool term) {
    int all = 1;
    for (int k = 0; k < p->factors; k++) all *= p->count[k];
    for (int i = 0; i < SL_MIN(all, SL_SKELETON__PRODUCTS) && f->columns < COLUMNS; i++) {
        column *c = &f->column[f->columns];
        c->factors = p->factors;
        c->lower = !term;
        for (int k = 0, rest = i; k < p->factors; k++) {
            c->factor[k] = p->list[k][rest % p->count[k]];
            c->lower += rest % p->count[k] > 0;
            rest /= p->count[k];
        }
        bool known = false;
        for (int k = 0; k < f->columns && !known; k++) known = same_column(&f->column[k], c);
        if (!known && evaluate(c, f->s)) f->columns++;
    }
}

/* All products of the columns of a term, of which `changes` factors have those of a variant. term:
 * the first of them is the term itself. */
static void add_products(formula *f, const sl_search__skeleton_term *t, const changed *change,
                         int changes, bool term) {
    sl_search__skeleton_product product = { .factors = t->factors };
    const sl_node *plain[SL_SKELETON__FACTORS][SL_SKELETON__PLAIN];
    for (int k = 0; k < t->factors; k++) {
        const sl_search__skeleton_piece *p = &f->s->piece[t->piece[k]];
        product.list[k] = plain[k];
        for (int i = 0; i < p->plains; i++)
            if (!f->plain || !sl_search__skeleton_is_phase(p, i))
                plain[k][product.count[k]++] = p->plain[i];
        for (int i = 0; i < changes; i++)
            if (change[i].factor == k)
                product.list[k] = change[i].expr, product.count[k] = change[i].count;
    }
    add_columns(f, &product, term);
}

static sl_status take_change(changed *out, formula *f, const sl_search__skeleton_change *c,
                             const sl_search__skeleton_term *t) {
    const sl_search__skeleton_piece *p = &f->s->piece[t->piece[c->factor]];
    *out = (changed){ .factor = c->factor, .count = p->columns };
    for (int k = 0; k < p->columns; k++)
        SL_TRY(sl_search__skeleton_change_expr(&out->expr[k], f->a, f->s, p, c, k));
    // a summand outside, which matters beside a variant of another factor
    if (sl_search__skeleton_has_summand(p)) out->expr[out->count++] = p->plain[p->plains - 1];
    return SL_OK;
}

static sl_status take_columns(formula *f, const sl_search__skeleton_hit *h) {
    const sl_search__skeleton_base *b = &f->s->base[h->base];
    const bool inside = h->changes > 1 && h->change[0].term == h->change[1].term;
    changed change[2];
    f->columns = 0;
    f->plain = h->plain;
    for (int t = 0; t < b->terms; t++) {
        bool term = true;
        for (int i = 0; i < h->changes; i++) term = term && h->change[i].term != t;
        add_products(f, &f->s->term[b->term[t]], NULL, 0, term);
    }
    for (int i = 0; i < h->changes; i++) {
        const sl_search__skeleton_term *t = &f->s->term[b->term[h->change[i].term]];
        SL_TRY(take_change(&change[i], f, &h->change[i], t));
        if (!inside) add_products(f, t, &change[i], 1, true);
    }
    if (inside) add_products(f, &f->s->term[b->term[h->change[0].term]], change, 2, true);
    return SL_OK;
}

/* ---------------------------------------------------------------- fits ---------------------- */

/* Least squares of the columns in use. *worst: largest error in a row, in parts of what is allowed.
 */
static sl_status fit(double *worst, formula *f, const bool *use) {
    const double *value[COLUMNS];
    double target[ROWS], got[COLUMNS], errors[COLUMNS], weight[ROWS];
    int n = 0;
    sl_lsq lsq;
    const int rows = f->s->rows;
    const bool rounded = f->s->sigma > 0;
    for (int r = 0; r < rows; r++) {
        const double size = SL_MAX(f->s->rounding[r], 0.01 * f->s->sigma);
        target[r] = f->s->y[r] * f->s->weight[r];
        weight[r] = 1 / (rounded ? size * size : f->scale[r] * f->scale[r]);
    }
    for (int k = 0; k < f->columns; k++)
        if (use[k]) value[n++] = f->column[k].value;
    size_t mark = sl_arena_mark(f->a);
    SL_TRY(
        sl_num_lsq_fit(&lsq, got, rounded ? errors : NULL, f->a, value, target, weight, rows, n));
    sl_arena_rewind(f->a, mark);
    n = 0;
    for (int k = 0; k < f->columns; k++) {
        if (rounded) f->error[k] = use[k] ? errors[n] : INFINITY;
        f->coefficient[k] = use[k] ? got[n++] : 0;
    }
    *worst = 0;
    for (int r = 0; r < rows; r++) {
        double sum = 0, size = 1, bound = 0;
        for (int k = 0; k < f->columns; k++) {
            double part = f->coefficient[k] * f->column[k].value[r];
            sum += part;
            size += fabs(part);
            bound += fabs(f->coefficient[k]) * f->column[k].bound[r];
        }
        double error = fabs(sum - target[r]) /
                       (TOLERANCE * size + BOUNDS * bound + ROUNDED * f->s->rounding[r]);
        if (!(error <= *worst)) *worst = error;
    }
    if (isnan(*worst)) *worst = INFINITY;
    return SL_OK;
}

/* Rows in which terms cancel determine coefficients less well than their weight says. */
static void set_scale(formula *f) {
    for (int r = 0; r < f->s->rows; r++) {
        f->scale[r] = 1;
        for (int k = 0; k < f->columns; k++)
            f->scale[r] += fabs(f->coefficient[k] * f->column[k].value[r]);
    }
}

static double seen(const formula *f, int k) {
    double most = 0;
    for (int r = 0; r < f->s->rows; r++)
        most = SL_MAX(most, fabs(f->coefficient[k] * f->column[k].value[r]));
    return most;
}

/* Orders in which columns are dropped: by their largest part of y; by their coefficients in
 * standard errors; the same, those that need most constants earlier, and the terms themselves last.
 */
typedef enum order { BY_SIZE, BY_ERROR, BY_CONSTANTS } order;

static double weight_of(const formula *f, int k, order by) {
    if (by == BY_SIZE) return seen(f, k);
    const double weight = fabs(f->coefficient[k]) / f->error[k];
    if (by == BY_ERROR) return weight;
    return f->column[k].lower ? ldexp(weight, -f->column[k].lower) : 1e100 + weight;
}

/* Drops columns while the formula holds, those that matter least first; use[] are those that
 * stay. */
static sl_status thin_out(formula *f, bool *use, order by) {
    double worst;
    bool fixed[COLUMNS] = { false };
    for (int k = 0; k < f->columns; k++)
        if (use[k] && seen(f, k) < UNSEEN) use[k] = false;
    SL_TRY(fit(&worst, f, use));
    for (;;) {
        int least = -1;
        for (int k = 0; k < f->columns; k++)
            if (use[k] && !fixed[k] && (least < 0 || weight_of(f, k, by) < weight_of(f, least, by)))
                least = k;
        if (least < 0) break;
        use[least] = false;
        SL_TRY(fit(&worst, f, use));
        if (worst > 1) {
            use[least] = fixed[least] = true;
            SL_TRY(fit(&worst, f, use));
        }
    }
    return SL_OK;
}

static bool is_simple(double v) {
    for (int d = 1; d <= 12; d++)
        if (fabs(v * d - nearbyint(v * d)) <= 1e-8 * fabs(v * d)) return fabs(v) < 1e6;
    return false;
}

/* Do terms cancel in more than a few rows, those in which y is next to 0? */
static bool cancel(const formula *f, const bool *use) {
    int rows = 0;
    for (int r = 0; r < f->s->rows; r++) {
        double most = 0;
        for (int k = 0; k < f->columns; k++)
            if (use[k]) most = SL_MAX(most, fabs(f->coefficient[k] * f->column[k].value[r]));
        rows += !(most < CANCELLATION);
    }
    return rows > f->s->rows / CANCELLED;
}

/* Are the remaining coefficients those of a true formula? */
static bool is_plausible(const formula *f, const bool *use) {
    int left = 0, real = 0;
    for (int k = 0; k < f->columns; k++) {
        if (!use[k]) continue;
        left++;
        real += !is_simple(f->coefficient[k]);
    }
    if (cancel(f, use)) return false;
    return left > 0 && left <= LEFT_MAX && (real <= REAL_MAX || f->s->sigma > 0);
}

/* ---------------------------------------------------------------- phases -------------------- */

/* The factor in which b has the cosine of what a has the sine of, all others being the same; -1:
 * there is none. */
static int phase_between(const column *a, const column *b) {
    int at = -1;
    if (a->factors != b->factors) return -1;
    for (int i = 0; i < a->factors; i++) {
        if (sl_expr_equal(a->factor[i], b->factor[i])) continue;
        if (at >= 0 || a->factor[i]->op != SL_OP_SIN || b->factor[i]->op != SL_OP_COS ||
            !sl_expr_equal(a->factor[i] + 1, b->factor[i] + 1))
            return -1;
        at = i;
    }
    return at;
}

/* Column a with sin(u + phase) in the place of sin(u). */
static sl_status set_phase(bool *good, formula *f, column *a, int factor, int phase) {
    const sl_node *part[2] = { a->factor[factor] + 1, sl_expr_int(f->a, phase) };
    const sl_node *sum = part[1] ? sl_expr_nary(f->a, SL_OP_ADD, part, 2) : NULL;
    const sl_node *sine = sum ? sl_expr_fn(f->a, SL_OP_SIN, sum) : NULL;
    if (!sine) return sl_fail(SL_ENOMEM, "no memory for a formula");
    SL_TRY(sl_expr_tidy(&a->factor[factor], f->a, sine));
    *good = evaluate(a, f->s);
    return SL_OK;
}

/* A sine and a cosine of u become one sine of u and an integer phase, where the formula holds
 * then. */
static sl_status join_phases(formula *f, bool *use) {
    for (int i = 0; i < f->columns; i++)
        for (int k = 0; k < f->columns && use[i]; k++) {
            const int at = use[k] ? phase_between(&f->column[i], &f->column[k]) : -1;
            const column before = f->column[i];
            const double a = f->coefficient[i], b = f->coefficient[k];
            bool joined = at < 0;
            for (int phase = f->s->low; phase <= f->s->high && !joined; phase++) {
                double worst;
                // a = c cos(phase), b = c sin(phase), but for the errors of both
                if (phase == 0 || fabs(a * sin(phase) - b * cos(phase)) > 0.01 * hypot(a, b))
                    continue;
                use[k] = false;
                SL_TRY(set_phase(&joined, f, &f->column[i], at, phase));
                if (joined) SL_TRY(fit(&worst, f, use));
                joined = joined && worst <= 1;
                if (joined) break;
                use[k] = true;
                f->column[i] = before;
                SL_TRY(fit(&worst, f, use));
            }
        }
    return SL_OK;
}

/* ---------------------------------------------------------------- exact numbers ------------- */

/* Where y is rounded: coefficients become exact numbers. *good: enough is known of them. */
static sl_status make_exact(bool *good, formula *f, bool *use) {
    sl_search__lattice_linear m = { .rows = f->s->rows, .size = 1 };
    double coefficient[SL_LATTICE__LINEAR];
    sl_search__lattice_number number[SL_LATTICE__LINEAR];
    int place[SL_LATTICE__LINEAR] = { 0 };
    for (int k = 0; k < f->columns; k++) {
        if (!use[k]) continue;
        place[m.columns] = k;
        memcpy(m.column[m.columns++], f->column[k].value, sizeof f->column[k].value);
    }
    for (int r = 0; r < m.rows; r++) {
        const double size = SL_MAX(f->s->rounding[r], 0.01 * f->s->sigma);
        m.t[r] = f->s->y[r] * f->s->weight[r];
        m.reach[r] = ROUNDED * f->s->rounding[r];
        m.w[r] = 1 / (size * size);
    }
    SL_TRY(sl_search__lattice_snap(good, coefficient, number, f->a, &m));
    for (int i = 0; i < m.columns; i++) {
        const int k = place[i];
        f->coefficient[k] = coefficient[i];
        f->number[k] = number[i];
        use[k] = coefficient[i] != 0;
    }
    return SL_OK;
}

static sl_status check_in_order(bool *good, formula *f, bool *use, order by) {
    double worst;
    for (int k = 0; k < f->columns; k++) use[k] = true;
    for (int r = 0; r < ROWS; r++) f->scale[r] = 1;
    SL_TRY(fit(&worst, f, use));
    if (worst > 1 && f->s->sigma == 0) {
        set_scale(f);
        SL_TRY(fit(&worst, f, use));
    }
    *good = worst <= 1;
    if (!*good) return SL_OK;
    for (int k = 0; k < f->columns; k++) use[k] = f->coefficient[k] != 0;
    SL_TRY(thin_out(f, use, by));
    SL_TRY(fit(&worst, f, use));
    SL_TRY(join_phases(f, use));
    *good = is_plausible(f, use);
    if (*good && f->s->sigma > 0) SL_TRY(make_exact(good, f, use));
    return SL_OK;
}

/* Where y is rounded, which columns are dropped depends on the order: one of them may leave the
 * exact formula, and others one that only fits. */
static sl_status check(bool *good, formula *f, bool *use) {
    const size_t bytes = (size_t)f->columns * sizeof *f->column;
    static const order orders[] = { BY_CONSTANTS, BY_ERROR, BY_SIZE };
    if (f->s->sigma == 0) return check_in_order(good, f, use, BY_SIZE);
    memcpy(f->before, f->column, bytes);
    *good = false;
    for (int i = 0; i < SL_LEN(orders) && !*good; i++) {
        memcpy(f->column, f->before, bytes);
        SL_TRY(check_in_order(good, f, use, orders[i]));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- offers -------------------- */

/* A column's coefficient: a number, or the next free constant, which has its value. */
static const sl_node *coefficient_of(const formula *f, int k, double *value, int *params) {
    if (f->s->sigma > 0 && f->number[k].times.den)
        return sl_search__lattice_number_expr(f->a, f->number[k]);
    value[(*params)++] = f->coefficient[k];
    return sl_expr_par(f->a, *params);
}

static sl_status offer(bool *kept, sl_skeletons *s, const formula *f, const bool *use, int level) {
    const sl_node *term[LEFT_MAX];
    double value[LEFT_MAX];
    int n = 0, params = 0;
    sl_search__job *j = s->job;
    *kept = false;
    for (int k = 0; k < f->columns; k++) {
        if (!use[k]) continue;
        const sl_node *factor[1 + SL_SKELETON__FACTORS];
        const column *c = &f->column[k];
        factor[0] = coefficient_of(f, k, value, &params);
        for (int i = 0; i < c->factors; i++) factor[1 + i] = c->factor[i];
        term[n] = factor[0];
        if (factor[0] && c->factors > 0)
            term[n] = sl_expr_nary(f->a, SL_OP_MUL, factor, 1 + c->factors);
        if (!term[n++]) return sl_fail(SL_ENOMEM, "no memory for a formula");
    }
    if (n == 0) return SL_OK; // numbers that became 0
    const sl_node *e = n == 1 ? term[0] : sl_expr_nary(f->a, SL_OP_ADD, term, n);
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula");
    SL_TRY(sl_expr_tidy(&e, f->a, e));
    const double precision = j->precision;
    for (int r = 0; r < s->rows; r++) j->precision = SL_MAX(j->precision, s->rounding[r]);
    sl_status st = sl_search__offer(kept, j, e, value, params, sl_search__skeletons.name, level);
    j->precision = precision;
    return st;
}

/* Where y is rounded fewer columns first; fewer constants inside; then the order of skeletons:
 * independent of which thread came first. */
static int cmp_hit(const void *a, const void *b) {
    const sl_search__skeleton_hit *p = a, *q = b;
    if (p->left != q->left) return p->left < q->left ? -1 : 1;
    if (p->changes != q->changes) return p->changes < q->changes ? -1 : 1;
    if (p->base != q->base) return p->base < q->base ? -1 : 1;
    if (p->plain != q->plain) return q->plain ? -1 : 1;
    return memcmp(p->change, q->change, sizeof p->change);
}

sl_status sl_search__skeleton_verify(sl_skeletons *s, sl_search__skeleton_hits *hits, int level) {
    sl_status st = SL_OK;
    sl_arena scratch = { 0 };
    int offers = 0;
    if (hits->count == 0) return SL_OK;
    formula *f = sl_malloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a formula of many terms");
    f->s = s;
    f->a = &scratch;
    qsort(hits->hit, (size_t)hits->count, sizeof *hits->hit, cmp_hit);
    for (int64_t i = 0; i < SL_MIN(hits->count, HITS_MAX) && offers < OFFERS; i++) {
        bool good, kept, use[COLUMNS];
        if (sl_search__stop(s->job, true)) break;
        size_t mark = sl_arena_mark(&scratch);
        SL_GO(take_columns(f, &hits->hit[i]));
        SL_GO(check(&good, f, use));
        if (good) SL_GO(offer(&kept, s, f, use, level));
        sl_arena_rewind(&scratch, mark);
        offers += good;
    }
done:
    sl_free(f);
    sl_arena_clear(&scratch);
    return st;
}

sl_status sl_search__skeleton_verify_products(bool *good, sl_skeletons *s,
                                              const sl_search__skeleton_product *product, int n,
                                              int level) {
    sl_status st;
    sl_arena scratch = { 0 };
    bool use[COLUMNS];
    formula *f = sl_malloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a formula of many terms");
    f->s = s;
    f->a = &scratch;
    f->columns = 0;
    for (int i = 0; i < n; i++) add_columns(f, &product[i], true);
    st = check(good, f, use);
    if (st == SL_OK && *good) st = offer(good, s, f, use, level);
    sl_free(f);
    sl_arena_clear(&scratch);
    return st;
}
