/* skeleton_clear_verify - the constants of divisors, from the dependence of y D and N.
 *
 * The dependence gives D as a function, up to a factor. It is a product of sums with few constants:
 * these are found by fitting that product to D (Levenberg and Marquardt, from several fixed random
 * starts). Two divisors of one structure may come out exchanged, so every solution is tried in the
 * formula itself: all other constants being linear, they are projected out, and the constants of
 * the divisors are refined until nothing of y is left. Then they are known to about ten digits and
 * become exact numbers, a sine and its cosine one sine with an integer phase. What remains is a sum
 * of known columns, as of any skeleton. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "search/lattice_impl.h"
#include "search/skeleton_impl.h"

typedef sl_search__skeleton_cleared cleared;
typedef sl_search__skeleton_divisor divisor;

enum {
    ROWS = SL_SKELETON__ROWS,
    CLEARED = SL_SKELETON__CLEARED,
    DIVISORS = SL_SKELETON__DIVISORS,
    STARTS = 6,
    STARTS_MANY = 24, // of three factors and more
    STEPS = 120,
    REFINED = 12,
    SLOW = 4,
    WAYS = 4,                         // orders of reduction
    UNKNOWNS = SL_SKELETON__UNKNOWNS, // coefficients of all divisors
};
/* Largest residual of the dependence; of the fit of D; of y, in the formula; parts of a constant
 * that are its error; bits of an exact number. */
static const double HOLDS = 1e-8, CLOSE = 1e-4, SOLVED = 1e-10, ERROR = 1e-7, BITS = 36;
static const double NEARLY = 1e-3;       // of y: more steps may solve it
static const double CLOSE_ROUNDED = 0.3; // D itself has large errors where y is rounded
/* What a dependence may leave when columns are dropped: so much, or so many times as much as
 * before. */
static const double KEPT = 1e-10, WORSE = 10;

/* The constants of the divisors, one after the other; the first column of each has 1. */
typedef struct problem {
    const sl_skeletons *s;
    cleared *c;
    int constants;
    int divisors, factors;              // cleared; by their powers
    int first[DIVISORS];                // constant of a divisor
    double product[ROWS], weight[ROWS]; // D, and of its rows
    // numerators of the terms, with their weights
    int columns;
    int8_t term[CLEARED];
    double value[CLEARED][ROWS];
    double unit[ROWS]; // weights of rows of y; where y is rounded, to halves of its last digit
    // where y is rounded
    int rank;                 // of the numerators, when they were fitted last
    int free, list[UNKNOWNS]; // constants that are fitted
    double exact[UNKNOWNS];   // the others
    int sine[UNKNOWNS];       // of a cosine: its sine; see sl_search__skeleton_choose_number
    int phase[UNKNOWNS];      // of a cosine: of both; 0: none
} problem;

/* ---------------------------------------------------------------- D ------------------------- */

static bool takes_part(const cleared *c, int i, int column) { return c->use[i] >> column & 1; }

/* Columns of D that do not depend on each other; returns how many. */
static int independent(int *list, const cleared *c, int rows) {
    double basis[CLEARED][ROWS];
    int n = 0;
    for (int i = 0; i < c->below.count; i++) {
        double *v = basis[n], whole = 0, left = 0;
        memcpy(v, c->below.value[i], (size_t)rows * sizeof *v);
        for (int r = 0; r < rows; r++) whole += v[r] * v[r];
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < n; k++) {
                double part = 0;
                for (int r = 0; r < rows; r++) part += v[r] * basis[k][r];
                for (int r = 0; r < rows; r++) v[r] -= part * basis[k][r];
            }
        for (int r = 0; r < rows; r++) left += v[r] * v[r];
        if (!(left > 1e-18 * whole)) continue;
        for (int r = 0; r < rows; r++) v[r] /= sqrt(left);
        list[n++] = i;
    }
    return n;
}

/* p->product := D, from the dependence in all rows; *good: there is one. */
static sl_status solve_product(bool *good, problem *p, sl_arena *a) {
    const cleared *c = p->c;
    const int rows = p->s->rows;
    const double *column[2 * CLEARED];
    double(*value)[ROWS] = sl_arena_alloc(a, 2 * CLEARED * sizeof *value);
    double coefficient[2 * CLEARED], target[ROWS], mean = 0;
    int list[CLEARED];
    if (!value) return sl_fail(SL_ENOMEM, "no memory for a formula");
    const bool rounded = p->s->sigma > 0;
    const int n = rounded ? 0 : independent(list, c, rows);
    *good = false;
    if (rounded) {
        p->c->rows = rows / 8 * 8;
        *good = sl_search__skeleton_is_dependent_rounded(p->c, p->product);
        for (int r = p->c->rows; r < rows; r++) p->product[r] = 0;
    }
    for (int lead = 0; lead < n && !*good; lead++) {
        int columns = 0;
        double size = 0;
        sl_lsq lsq;
        for (int i = 0; i < c->above.count; i++, columns++)
            for (int r = 0; r < rows; r++)
                value[columns][r] = c->above.value[i][r] * p->s->above[r];
        for (int i = 0; i < n; i++) {
            const double *v = c->below.value[list[i]];
            double *to = i == lead ? target : value[columns];
            for (int r = 0; r < rows; r++) to[r] = v[r] * p->s->below[r];
            columns += i != lead;
        }
        for (int i = 0; i < columns; i++) column[i] = value[i];
        SL_TRY(sl_num_lsq_fit(&lsq, coefficient, NULL, a, column, target, NULL, rows, columns));
        for (int r = 0; r < rows; r++) size += target[r] * target[r];
        *good = lsq.rank > 0 && lsq.sse < HOLDS * HOLDS * size;
        if (!*good) continue;
        for (int r = 0; r < rows; r++) p->product[r] = c->below.value[list[lead]][r];
        for (int i = 0, k = c->above.count; i < n; i++) {
            if (i == lead) continue;
            for (int r = 0; r < rows; r++)
                p->product[r] -= coefficient[k] * c->below.value[list[i]][r];
            k++;
        }
    }
    for (int r = 0; r < rows; r++) mean += fabs(p->product[r]) / rows;
    for (int r = 0; r < rows; r++) p->weight[r] = 1 / (fabs(p->product[r]) + 0.05 * mean);
    for (int r = p->c->rows; r < rows && rounded; r++) p->weight[r] = 0;
    return SL_OK;
}

/* ---------------------------------------------------------------- fits ---------------------- */

/* Divisor i in row r, with these constants. */
static double value_of(const problem *p, int i, const double *constant, int r) {
    const divisor *d = p->c->divisor[i].divisor;
    double sum = d->value[0][r];
    for (int k = 1, at = p->first[i]; k < d->columns; k++)
        if (takes_part(p->c, i, k)) sum += constant[at++] * d->value[k][r];
    return sum;
}

/* x := the solution of a x = b for a symmetric positive a of n rows, which is lost. */
static bool solve_positive(double *x, double (*a)[UNKNOWNS], const double *b, int n) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= i; k++) {
            double sum = a[i][k];
            for (int j = 0; j < k; j++) sum -= a[i][j] * a[k][j];
            if (i == k && !(sum > 0)) return false;
            a[i][k] = i == k ? sqrt(sum) : sum / a[k][k];
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = b[i];
        for (int j = 0; j < i; j++) sum -= a[i][j] * x[j];
        x[i] = sum / a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = x[i];
        for (int j = i + 1; j < n; j++) sum -= a[j][i] * x[j];
        x[i] = sum / a[i][i];
    }
    return true;
}

/* A least squares problem in few unknowns. */
typedef double residual_fn(double *left, double (*slope)[ROWS], problem *p, const double *x);

/* Levenberg and Marquardt; returns the sum of squares that is left. fn also accepts NULL for
 * slope. */
static double descend(double *x, problem *p, int n, int steps, double enough, residual_fn *fn) {
    double left[ROWS], slope[UNKNOWNS][ROWS], damping = 1e-3;
    double now = fn(left, slope, p, x);
    int slow = 0; // steps that gained next to nothing
    for (int step = 0; step < steps && now > enough && damping < 1e8 && slow < SLOW; step++) {
        double a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS], move[UNKNOWNS], next[UNKNOWNS];
        for (int i = 0; i < n; i++) {
            for (int k = 0; k <= i; k++) {
                a[i][k] = 0;
                for (int r = 0; r < p->s->rows; r++) a[i][k] += slope[i][r] * slope[k][r];
            }
            b[i] = 0;
            for (int r = 0; r < p->s->rows; r++) b[i] -= slope[i][r] * left[r];
            a[i][i] += damping * a[i][i] + 1e-280;
        }
        const bool solved = solve_positive(move, a, b, n);
        for (int i = 0; i < n && solved; i++) next[i] = x[i] + move[i];
        const double then = solved ? fn(left, NULL, p, next) : INFINITY;
        if (then < now) {
            slow = then > 0.99 * now ? slow + 1 : 0;
            memcpy(x, next, (size_t)n * sizeof *x);
            damping *= 0.1;
            now = fn(left, slope, p, x);
        } else {
            damping *= 10;
            (void)fn(left, NULL, p, x);
        }
    }
    return now;
}

/* The product of the divisors against D. All coefficients of a divisor are unknowns, the first too:
 * with that one fixed, and one factor for the product, the way to a solution often leads through
 * infinity. Numbers are those of the constants, and one more for every divisor before. */
static double fit_product(double *left, double (*slope)[ROWS], problem *p, const double *x) {
    const cleared *c = p->c;
    double sum = 0;
    for (int r = 0; r < p->s->rows; r++) {
        double value[DIVISORS] = { 0 }, product = 1;
        int at = 0;
        for (int i = 0; i < c->divisors; i++) {
            const divisor *d = c->divisor[i].divisor;
            if (!(c->mask >> i & 1)) continue;
            for (int k = 0; k < d->columns; k++)
                if (takes_part(c, i, k)) value[i] += x[at++] * d->value[k][r];
            for (int k = 0; k < d->power; k++) product *= value[i];
        }
        left[r] = (product - p->product[r]) * p->weight[r];
        sum += left[r] * left[r];
        at = 0;
        for (int i = 0; i < c->divisors && slope; i++) {
            const divisor *d = c->divisor[i].divisor;
            if (!(c->mask >> i & 1)) continue;
            const double part = d->power * product / value[i] * p->weight[r];
            for (int k = 0; k < d->columns; k++)
                if (takes_part(c, i, k)) slope[at++][r] = part * d->value[k][r];
        }
    }
    return isfinite(sum) ? sum : INFINITY;
}

/* Coefficients of all columns become constants relative to the first of each divisor. */
static void divide_by_first(double *x, const problem *p) {
    const cleared *c = p->c;
    int from = 0, to = 0;
    for (int i = 0; i < c->divisors; i++) {
        if (!(c->mask >> i & 1)) continue;
        const double first = x[from++];
        for (int k = 1; k < c->divisor[i].divisor->columns; k++)
            if (takes_part(c, i, k)) x[to++] = x[from++] / first;
    }
}

/* What the formula leaves of y, its coefficients fitted. */
static double fit_formula(double *left, double (*slope)[ROWS], problem *p, const double *x) {
    const cleared *c = p->c;
    const int rows = p->s->rows;
    double over[SL_SKELETON__TERMS][ROWS], basis[CLEARED][ROWS], sum = 0;
    int n = 0;
    for (int t = 0; t < c->base->terms; t++)
        for (int r = 0; r < rows; r++) {
            double product = 1;
            for (int i = 0; i < c->divisors; i++)
                for (int k = 0; k < c->divisor[i].divisor->power; k++)
                    if (c->mask >> i & 1 && c->divisor[i].term == t)
                        product *= value_of(p, i, x, r);
            over[t][r] = 1 / product;
        }
    for (int i = 0; i <= p->columns; i++) {
        double *v = i < p->columns ? basis[n] : left, whole = 0, size = 0;
        for (int r = 0; r < rows; r++) {
            v[r] = i < p->columns ? p->value[i][r] * over[p->term[i]][r] : p->s->y[r] * p->unit[r];
            whole += v[r] * v[r];
        }
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < n; k++) {
                double part = 0;
                for (int r = 0; r < rows; r++) part += v[r] * basis[k][r];
                for (int r = 0; r < rows; r++) v[r] -= part * basis[k][r];
            }
        for (int r = 0; r < rows; r++) size += v[r] * v[r];
        if (i == p->columns) sum = size, p->rank = n;
        if (i == p->columns || !(size > 1e-24 * whole)) continue;
        for (int r = 0; r < rows; r++) v[r] /= sqrt(size);
        n++;
    }
    for (int k = 0; k < p->constants && slope; k++) {
        double moved[UNKNOWNS], then[ROWS];
        const double step = 1e-6 * (fabs(x[k]) + 1e-3);
        memcpy(moved, x, (size_t)p->constants * sizeof *moved);
        moved[k] += step;
        (void)fit_formula(then, NULL, p, moved);
        for (int r = 0; r < rows; r++) slope[k][r] = (then[r] - left[r]) / step;
    }
    return isfinite(sum) ? sum : INFINITY;
}

/* The numerators of all terms in all rows: their factors but for the divisors of the mask. */
static bool take_numerators(problem *p) {
    p->columns = 0;
    for (int r = 0; r < p->s->rows; r++)
        p->unit[r] = p->s->weight[r] / (p->s->sigma > 0 ? p->s->rounding[r] : 1);
    for (int t = 0; t < p->c->base->terms; t++) {
        const sl_search__skeleton_term *term = &p->s->term[p->c->base->term[t]];
        int n = 1;
        double product[CLEARED][ROWS];
        for (int r = 0; r < p->s->rows; r++) product[0][r] = p->unit[r];
        for (int f = 0; f < term->factors; f++) {
            const double(*value)[ROWS];
            const uint64_t *name;
            const int plains = sl_search__skeleton_columns(&value, &name, p->c, t, f);
            if (sl_search__skeleton_is_cleared(p->c, t, f)) continue;
            if (n * plains > CLEARED) return false;
            for (int k = plains - 1; k >= 0; k--)
                for (int i = 0; i < n; i++)
                    for (int r = 0; r < p->s->rows; r++)
                        product[k * n + i][r] = product[i][r] * value[k][r];
            n *= plains;
        }
        if (p->columns + n > CLEARED) return false;
        for (int i = 0; i < n; i++) {
            memcpy(p->value[p->columns], product[i], sizeof product[i]);
            p->term[p->columns++] = (int8_t)t;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- exact numbers ------------- */

/* A divisor as a sum of numbers times expressions. */
typedef struct sum {
    int n;
    const sl_node *term[SL_SKELETON__BELOW];
} sum;

static sl_status add_number(bool *good, sum *to, sl_arena *a, double v, const sl_node *e) {
    sl_search__lattice_number n;
    *good = sl_search__lattice_near_number(&n, v, ERROR * fabs(v), BITS);
    if (!*good) return SL_OK;
    const sl_node *part[2] = { sl_search__lattice_number_expr(a, n), e };
    const sl_node *term = part[0] ? sl_expr_nary(a, SL_OP_MUL, part, 2) : NULL;
    if (!term) return sl_fail(SL_ENOMEM, "no memory for a formula");
    to->term[to->n++] = term;
    return SL_OK;
}

/* The phase of v sin(u) + w cos(u) = length sin(u + phase), an integer; 0: none. */
static int phase_of(double *length, const sl_skeletons *s, double v, double w) {
    const double size = hypot(v, w), angle = atan2(w, v);
    for (int n = s->low; n <= s->high; n++)
        if (n != 0 && fabs(sin(angle - n)) < ERROR) {
            *length = cos(angle - n) < 0 ? -size : size;
            return n;
        }
    return 0;
}

/* sin(angle + phase) times the rest. */
static const sl_node *write_sine(sl_arena *a, const divisor *d, int column, int phase) {
    const sl_node *n = sl_expr_int(a, phase);
    const sl_node *part[2] = { d->angle[column], n };
    const sl_node *e = n ? sl_expr_nary(a, SL_OP_ADD, part, 2) : NULL;
    if (e) e = sl_expr_fn(a, SL_OP_SIN, e);
    if (e && d->rest[column])
        e = sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ e, d->rest[column] }, 2);
    return e;
}

/* *out := the divisor to its power, with these coefficients; *good: they are exact numbers. */
static sl_status write_divisor(const sl_node **out, bool *good, sl_arena *a, const problem *p,
                               const divisor *d, const double *coefficient) {
    double v[SL_SKELETON__BELOW], size[SL_SKELETON__BELOW], all = 0, unit = 0;
    int phase[SL_SKELETON__BELOW] = { 0 };
    sum to = { 0 };
    for (int k = 0; k < d->columns; k++) {
        v[k] = coefficient[k];
        size[k] = 0;
        for (int r = 0; r < p->s->rows; r++) size[k] = SL_MAX(size[k], fabs(d->value[k][r]));
        all = SL_MAX(all, fabs(v[k]) * size[k]);
    }
    for (int k = 0; k < d->columns; k++)
        if (fabs(v[k]) * size[k] < 1e-8 * all) v[k] = 0;
    *good = true;
    for (int k = 0; k < d->columns && *good; k++) {
        if (d->sine[k] < 0 || v[k] == 0) continue;
        const int sine = d->sine[k];
        phase[sine] = phase_of(&v[sine], p->s, v[sine], v[k]);
        *good = phase[sine] != 0;
        v[k] = 0;
    }
    for (int k = 0; k < d->columns && unit == 0; k++) unit = v[k];
    for (int k = 0; k < d->columns && *good; k++) {
        if (v[k] == 0) continue;
        const sl_node *e = phase[k] ? write_sine(a, d, k, phase[k]) : d->expr[k];
        if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula");
        SL_TRY(add_number(good, &to, a, v[k] / unit, e));
    }
    if (!*good || to.n == 0) return SL_OK;
    const sl_node *e = to.n == 1 ? to.term[0] : sl_expr_nary(a, SL_OP_ADD, to.term, to.n);
    if (e) e = sl_expr_pow(a, e, SL_RAT(-d->power));
    return e ? sl_expr_tidy(out, a, e) : sl_fail(SL_ENOMEM, "no memory for a formula");
}

/* The formula with these constants is fitted and offered, if they are exact numbers. */
static sl_status write_formula(bool *good, const problem *p, sl_skeletons *s, sl_arena *a,
                               const double *x, int level) {
    const cleared *c = p->c;
    const sl_node *below[DIVISORS] = { NULL };
    sl_search__skeleton_product product[SL_SKELETON__TERMS];
    *good = true;
    for (int i = 0; i < c->divisors && *good; i++) {
        const divisor *d = c->divisor[i].divisor;
        double coefficient[SL_SKELETON__BELOW] = { 1 };
        if (!(c->mask >> i & 1)) continue;
        for (int k = 1, at = p->first[i]; k < d->columns; k++)
            if (takes_part(c, i, k)) coefficient[k] = x[at++];
        SL_TRY(write_divisor(&below[i], good, a, p, d, coefficient));
        *good = *good && below[i];
    }
    if (!*good) return SL_OK;
    for (int t = 0; t < c->base->terms; t++) {
        const sl_search__skeleton_term *term = &s->term[c->base->term[t]];
        product[t].factors = term->factors;
        for (int f = 0; f < term->factors; f++) {
            const sl_search__skeleton_piece *piece = &s->piece[term->piece[f]];
            const sl_search__skeleton_replaced *replaced = sl_search__skeleton_replaced_of(c, t, f);
            product[t].list[f] = replaced ? replaced->expr : piece->plain;
            product[t].count[f] = replaced ? replaced->n : piece->plains;
        }
        for (int i = 0; i < c->divisors; i++)
            if (below[i] && c->divisor[i].term == t) {
                product[t].list[c->divisor[i].factor] = &below[i];
                product[t].count[c->divisor[i].factor] = 1;
            }
    }
    return sl_search__skeleton_verify_products(good, s, product, c->base->terms, level);
}

/* ---------------------------------------------------------------- a hit --------------------- */

/* Numbers the constants of the divisors; false: too many. */
static bool count_constants(problem *p) {
    p->constants = p->divisors = p->factors = 0;
    for (int i = 0; i < p->c->divisors; i++) {
        const divisor *d = p->c->divisor[i].divisor;
        if (!(p->c->mask >> i & 1)) continue;
        p->divisors++;
        p->factors += d->power;
        p->first[i] = p->constants;
        for (int k = 1; k < d->columns; k++) p->constants += takes_part(p->c, i, k);
    }
    return p->constants + p->divisors <= UNKNOWNS;
}

/* Is there still a dependence, about as good as before? Fewer columns have smaller errors. */
static bool holds(cleared *c, double before) {
    bool fits;
    if (!sl_search__skeleton_is_dependent(&fits, c)) return false;
    return c->s->sigma > 0 || c->left < SL_MAX(KEPT, WORSE * before);
}

/* Leaves out what y does not need: divisors without constants, then, if `columns` is set, columns
 * of the others. Which of several are left out depends on the order. left: by the hit. */
static void reduce(cleared *c, double left, bool backwards, bool columns) {
    for (int n = 0; n < c->divisors; n++) {
        const int i = backwards ? c->divisors - 1 - n : n;
        const uint32_t mask = c->mask;
        c->mask &= ~(1u << i);
        if (c->mask != mask && !holds(c, left)) c->mask = mask;
    }
    for (int n = 0; n < c->divisors && columns; n++) {
        const int i = backwards ? c->divisors - 1 - n : n;
        for (int k = c->divisor[i].divisor->columns - 1; k > 0; k--) {
            const uint32_t use = c->use[i];
            if (!(c->mask >> i & 1) || !(use >> k & 1)) continue;
            c->use[i] &= ~(1u << k);
            if (!holds(c, left)) c->use[i] = use;
        }
    }
}

/* ---------------------------------------------------------------- where y is rounded -------- */

static bool is_noise(const problem *p, double squares, int constants) {
    const double freedom = p->s->rows - p->rank - constants;
    return freedom > 0 && squares <= sl_search__skeleton_rounding_limit(freedom);
}

/* All constants, from those that are fitted. */
static void complete(double *all, const problem *p, const double *x) {
    memcpy(all, p->exact, (size_t)p->constants * sizeof *all);
    for (int i = 0; i < p->free; i++) all[p->list[i]] = x[i];
    for (int k = 0; k < p->constants; k++)
        if (p->phase[k]) all[k] = tan(p->phase[k]) * (p->sine[k] < 0 ? 1 : all[p->sine[k]]);
}

/* What the formula leaves of y, of the constants that are fitted. */
static double fit_free(double *left, double (*slope)[ROWS], problem *p, const double *x) {
    double all[UNKNOWNS];
    complete(all, p, x);
    const double squares = fit_formula(left, NULL, p, all);
    for (int i = 0; i < p->free && slope; i++) {
        double moved[UNKNOWNS], then[ROWS];
        const double step = 1e-6 * (fabs(x[i]) + 1e-3);
        memcpy(moved, x, (size_t)p->free * sizeof *moved);
        moved[i] += step;
        complete(all, p, moved);
        (void)fit_formula(then, NULL, p, all);
        for (int r = 0; r < p->s->rows; r++) slope[i][r] = (then[r] - left[r]) / step;
    }
    return squares;
}

/* Standard errors of the constants that are fitted; infinite where they are not determined. */
static void find_errors(double *error, problem *p, const double *x) {
    double left[ROWS], slope[UNKNOWNS][ROWS];
    (void)fit_free(left, slope, p, x);
    for (int k = 0; k < p->constants; k++) error[k] = 0;
    for (int i = 0; i < p->free; i++) {
        double a[UNKNOWNS][UNKNOWNS], b[UNKNOWNS] = { 0 }, column[UNKNOWNS];
        for (int m = 0; m < p->free; m++)
            for (int k = 0; k <= m; k++) {
                a[m][k] = 0;
                for (int r = 0; r < p->s->rows; r++) a[m][k] += slope[m][r] * slope[k][r];
            }
        b[i] = 1;
        const bool solved = solve_positive(column, a, b, p->free);
        error[p->list[i]] = solved ? sqrt(column[i] / 3) : INFINITY;
    }
}

static void list_free(problem *p, double *x, const double *all, const bool *exact) {
    p->free = 0;
    for (int k = 0; k < p->constants; k++) {
        if (exact[k]) continue;
        x[p->free] = all[k];
        p->list[p->free++] = k;
    }
}

/* Which constants are cosines, and of which sine. */
static void find_sines(problem *p) {
    for (int i = 0; i < p->c->divisors; i++) {
        const divisor *d = p->c->divisor[i].divisor;
        int number[SL_SKELETON__BELOW] = { -1 };
        if (!(p->c->mask >> i & 1)) continue;
        for (int k = 1, at = p->first[i]; k < d->columns; k++) {
            number[k] = SL_SKELETON__NO_SINE;
            if (!takes_part(p->c, i, k)) continue;
            number[k] = at;
            p->sine[at++] = d->sine[k] >= 0 ? number[d->sine[k]] : SL_SKELETON__NO_SINE;
        }
    }
}

/* Constants become exact numbers one at a time while the formula holds; true: all of them. */
static bool make_exact(double *all, problem *p) {
    bool exact[UNKNOWNS] = { false }, decided[UNKNOWNS] = { false };
    double x[UNKNOWNS], error[UNKNOWNS];
    find_sines(p);
    for (;;) {
        list_free(p, x, all, exact);
        if (p->free == 0) return true;
        find_errors(error, p, x);
        const sl_search__skeleton_snapped n =
            sl_search__skeleton_choose_number(p->s, all, error, decided, p->sine, p->constants);
        if (n.constant < 0) return false;
        exact[n.constant] = decided[n.constant] = true;
        p->exact[n.constant] = n.value;
        p->phase[n.constant] = n.phase;
        list_free(p, x, all, exact);
        const double rest = descend(x, p, p->free, REFINED, 0, fit_free);
        if (is_noise(p, rest, p->free)) {
            complete(all, p, x);
        } else {
            exact[n.constant] = false;
            p->phase[n.constant] = 0;
        }
    }
}

/* Have two divisors the same columns to the same power? */
static bool is_alike(const problem *p, int i, int k) {
    const cleared *c = p->c;
    const divisor *a = c->divisor[i].divisor, *b = c->divisor[k].divisor;
    return c->mask >> i & 1 && c->mask >> k & 1 && c->use[i] == c->use[k] && a->power == b->power &&
           a->columns == b->columns &&
           !memcmp(a->name, b->name, sizeof a->name[0] * (size_t)a->columns);
}

static void exchange(double *x, const problem *p, int i, int k) {
    const divisor *d = p->c->divisor[i].divisor;
    double *a = x + p->first[i], *b = x + p->first[k];
    for (int column = 1; column < d->columns && i != k; column++) {
        if (!takes_part(p->c, i, column)) continue;
        const double kept = *a;
        *a++ = *b;
        *b++ = kept;
    }
}

/* D does not determine which of its factors is which divisor where these are alike: of all orders
 * of divisors `from` and later that which leaves least of y. least: what best[] leaves. */
static void choose_order(double *best, double *least, double *x, problem *p, int from) {
    double left[ROWS];
    if (from == p->c->divisors) {
        const double now = fit_formula(left, NULL, p, x);
        if (now < *least) *least = now, memcpy(best, x, (size_t)p->constants * sizeof *x);
        return;
    }
    for (int k = from; k < p->c->divisors; k++) {
        if (k > from && !is_alike(p, from, k)) continue;
        exchange(x, p, from, k);
        choose_order(best, least, x, p, from + 1);
        exchange(x, p, from, k);
    }
}

/* Constants with which the formula leaves nothing of y, from several starts. */
static void try_starts(sl_search__skeleton_solution *out, problem *p) {
    const int rows = p->s->rows;
    sl_rng rng;
    sl_rng_init(&rng, 1, 1, 0); // the same for every hit
    const int starts = p->factors > 2 ? STARTS_MANY : STARTS;
    for (int start = 0; start < starts && !out->found; start++) {
        double *x = out->constant, left[ROWS], above = 0, below = 0, size = 0;
        const int unknowns = p->constants + p->divisors;
        for (int k = 0; k < unknowns; k++) x[k] = 8 * sl_rng_uniform(&rng) - 4;
        (void)fit_product(left, NULL, p, x);
        for (int r = 0; r < rows; r++) {
            const double want = p->product[r] * p->weight[r], got = left[r] + want;
            above += fabs(want), below += fabs(got), size += want * want;
        }
        if (!(below > 0)) continue;
        for (int k = 0; k < unknowns; k++) x[k] *= pow(above / below, 1.0 / p->factors);
        double rest = descend(x, p, unknowns, STEPS, 1e-26 * size, fit_product);
        const double close = p->s->sigma > 0 ? CLOSE_ROUNDED : CLOSE;
        if (!(rest < close * close * size)) continue;
        divide_by_first(x, p);
        double order[UNKNOWNS], least = INFINITY;
        memcpy(order, x, sizeof order);
        choose_order(x, &least, order, p, 0);
        if (p->s->sigma > 0) {
            rest = descend(x, p, p->constants, STEPS, 0, fit_formula);
            out->found = is_noise(p, rest, p->constants) && make_exact(x, p);
            continue;
        }
        const double solved = SOLVED * SOLVED * rows;
        rest = descend(x, p, p->constants, REFINED, 1e-29 * rows, fit_formula);
        if (rest > solved && rest < NEARLY * NEARLY * rows)
            rest = descend(x, p, p->constants, STEPS, 1e-29 * rows, fit_formula);
        out->found = rest < solved;
    }
}

/* The divisor with a constant in one of its functions. */
static sl_status begin_divisor(bool *good, cleared *c, const sl_skeletons *s,
                               const sl_search__skeleton_inside *h, sl_arena *a) {
    divisor *d = sl_arena_alloc(a, sizeof *d);
    if (!d) return sl_fail(SL_ENOMEM, "no memory for a formula");
    *good = false;
    for (int i = 0; i < c->divisors; i++) {
        sl_search__skeleton_below *b = &c->divisor[i];
        if (b->term != h->change.term || b->factor != h->change.factor) continue;
        SL_TRY(sl_search__skeleton_vary_divisor(good, d, a, s, b->divisor, h->inner,
                                                h->change.variant));
        b->divisor = d;
    }
    return SL_OK;
}

/* The factor of a numerator with a constant inside. */
static sl_status begin_numerator(bool *good, sl_search__skeleton_replaced *to, const cleared *c,
                                 const sl_skeletons *s, const sl_search__skeleton_inside *h,
                                 sl_arena *a) {
    const int t = h->change.term, f = h->change.factor;
    const sl_search__skeleton_piece *p = &s->piece[s->term[c->base->term[t]].piece[f]];
    to->n = 0;
    for (int k = 0; k < h->columns; k++)
        SL_TRY(sl_search__skeleton_change_expr(&to->expr[to->n++], a, s, p, &h->change, k));
    if (sl_search__skeleton_has_summand(p)) to->expr[to->n++] = p->plain[p->plains - 1];
    for (int k = 0; k < to->n && *good; k++) {
        SL_TRY(sl_expr_eval(to->value[k], a, to->expr[k], s->x, s->rows, NULL));
        to->name[k] = sl_search__skeleton_name(to->expr[k]);
        for (int r = 0; r < s->rows; r++) *good = *good && fabs(to->value[k][r]) < 1e30;
    }
    to->term = t, to->factor = f;
    return SL_OK;
}

sl_status sl_search__skeleton_begin(bool *good, cleared *c, const sl_skeletons *s,
                                    const sl_search__skeleton_clear_hit *h, sl_arena *a) {
    *good = sl_search__skeleton_find_divisors(c, s, h->base);
    for (int k = 0; k < SL_LEN(h->inside) && *good && h->inside[k].columns; k++) {
        if (h->inside[k].inner >= 0)
            SL_TRY(begin_divisor(good, c, s, &h->inside[k], a));
        else
            SL_TRY(begin_numerator(good, &c->replaced[k], c, s, &h->inside[k], a));
    }
    return SL_OK;
}

static bool is_same(const cleared *c, const sl_search__skeleton_solution *x) {
    bool same = c->mask == x->mask;
    for (int i = 0; i < c->divisors && same; i++)
        same = !(c->mask >> i & 1) || c->use[i] == x->use[i];
    return same;
}

sl_status sl_search__skeleton_clear_solve(sl_search__skeleton_solution *out, const sl_skeletons *s,
                                          const sl_search__skeleton_clear_hit *h) {
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    sl_search__skeleton_solution tried[WAYS];
    problem *p = sl_malloc(1, sizeof *p);
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    if (!p || !c) st = sl_fail_memory(1, sizeof *p + sizeof *c, "a formula of divisors");
    bool good = false;
    if (st == SL_OK) st = sl_search__skeleton_begin(&good, c, s, h, &scratch);
    for (int way = 0; way < WAYS && good && !out->found && st == SL_OK; way++) {
        bool solved, known = false;
        *p = (problem){ .s = s, .c = c };
        c->mask = h->mask;
        sl_search__skeleton_use_columns(c, h->extent);
        reduce(c, h->left, way >> 1, !(way & 1));
        for (int k = 0; k < way; k++) known = known || is_same(c, &tried[k]);
        tried[way].mask = c->mask;
        memcpy(tried[way].use, c->use, sizeof c->use);
        if (known || !sl_search__skeleton_clear(c, s->rows) || !count_constants(p) ||
            !take_numerators(p))
            continue;
        st = solve_product(&solved, p, &scratch);
        if (st == SL_OK && solved) try_starts(out, p);
        out->mask = c->mask;
        memcpy(out->use, c->use, sizeof out->use);
    }
    sl_free(c);
    sl_free(p);
    sl_arena_clear(&scratch);
    return st;
}

sl_status sl_search__skeleton_clear_offer(bool *good, sl_skeletons *s,
                                          const sl_search__skeleton_clear_hit *h,
                                          const sl_search__skeleton_solution *x, int level) {
    sl_arena scratch = { 0 };
    sl_status st = SL_OK;
    problem *p = sl_calloc(1, sizeof *p);
    cleared *c = sl_malloc_aligned(1, sizeof *c);
    *good = false;
    if (!p || !c) st = sl_fail_memory(1, sizeof *p + sizeof *c, "a formula of divisors");
    bool known = false;
    if (st == SL_OK) st = sl_search__skeleton_begin(&known, c, s, h, &scratch);
    if (st == SL_OK && known) {
        p->s = s;
        p->c = c;
        c->mask = x->mask;
        memcpy(c->use, x->use, sizeof c->use);
        if (count_constants(p)) st = write_formula(good, p, s, &scratch, x->constant, level);
    }
    sl_free(c);
    sl_free(p);
    sl_arena_clear(&scratch);
    return st;
}
