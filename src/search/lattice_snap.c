/* lattice_snap - coefficients of a formula that holds up to the rounding of y become exact numbers.
 *
 * Under exact data a coefficient is right to ten digits and offer.c recognises it. Where y is
 * rounded it is known to its standard error, and an error of one coefficient moves the others. So
 * one coefficient at a time becomes a number, the one whose agreement is least likely by chance,
 * and the others are fitted again; the formula must still hold in every row.
 *
 * Numbers are fractions times a root or exp of a fraction: what integer constants inside functions
 * contribute outside of them, as exp(-7/2) in exp(-x - 7/2). A number is taken if its bits by the
 * criterion (docs/math/criterion.md) are fewer than the known digits of the coefficient. */
#include <math.h>

#include "num/num.h"
#include "search/lattice_impl.h"

enum { COLUMNS = SL_LATTICE__LINEAR, DENOMINATORS = 100, ERRORS = 4, REALS_MAX = 2 };

/* With fewer than KNOWN bits of a coefficient its term may be another one; with fewer than REAL
 * bits of one that is no exact number the formula may be another one. */
static const double KNOWN = 7, REAL = 12;

static const double FUNCTION = 14; // bits of the cheapest root or power

/* ---------------------------------------------------------------- numbers ------------------- */

typedef sl_search__lattice_fraction fraction;

static double value_of(fraction f) { return (double)f.num / f.den; }

double sl_search__lattice_number_value(sl_search__lattice_number n) {
    double v = value_of(n.times);
    if (n.degree > 1) v *= pow(value_of(n.root), 1.0 / n.degree);
    return n.power.num ? v * sl_exp(value_of(n.power)) : v;
}

static const sl_node *fraction_expr(sl_arena *a, fraction f) {
    sl_rat r;
    return sl_expr_rat_make(&r, f.num, f.den) ? sl_expr_num(a, r) : NULL;
}

const sl_node *sl_search__lattice_number_expr(sl_arena *a, sl_search__lattice_number n) {
    const sl_node *factor[3] = { fraction_expr(a, n.times) }, *inner;
    int factors = 1;
    if (n.degree > 1) {
        inner = fraction_expr(a, n.root);
        factor[factors++] = inner ? sl_expr_pow(a, inner, (sl_rat){ 1, n.degree }) : NULL;
    }
    if (n.power.num) {
        inner = fraction_expr(a, n.power);
        factor[factors++] = inner ? sl_expr_fn(a, SL_OP_EXP, inner) : NULL;
    }
    for (int i = 0; i < factors; i++)
        if (!factor[i]) return NULL;
    return factors == 1 ? factor[0] : sl_expr_nary(a, SL_OP_MUL, factor, factors);
}

static double bits_of_fraction(fraction f) {
    const double product = (double)f.num * f.den;
    return log2(2.5 * product * product);
}

/* Nodes as fit.h prices them: product 2.3, root 3 + 2.5 + 4, exp 6 + 4. */
static double bits_of(sl_search__lattice_number n) {
    double bits = bits_of_fraction(n.times);
    if (n.degree > 1) bits += 11.8 + bits_of_fraction(n.root);
    if (n.power.num) bits += 12.3 + bits_of_fraction(n.power);
    return bits;
}

/* The fraction of least denominator within reach of v. */
static bool near_fraction(fraction *out, double v, double reach) {
    for (int den = 1; den <= DENOMINATORS; den++) {
        double num = nearbyint(v * den);
        if (num == 0 || fabs(num) > 1e6 || fabs(num / den - v) > reach) continue;
        *out = (fraction){ (int32_t)num, den };
        return true;
    }
    return false;
}

/* The cheapest number so far of fewer bits than `most`. */
typedef struct nearest {
    double v, reach, most;
    sl_search__lattice_number number;
    bool found;
} nearest;

/* n with the factor that brings it to v. */
static void try_times(nearest *b, sl_search__lattice_number n, double unit) {
    if (!near_fraction(&n.times, b->v / unit, b->reach / unit) || !(bits_of(n) < b->most)) return;
    b->number = n, b->most = bits_of(n), b->found = true;
}

static void try_roots(nearest *b) {
    static const int8_t roots[] = { 2, 3, 5, 6, 7, 10, 14, 15, 21, 30, 35, 42 };
    sl_search__lattice_number n = { .degree = 2 };
    for (int i = 0; i < SL_LEN(roots); i++) {
        n.root = (fraction){ roots[i], 1 };
        try_times(b, n, sqrt(roots[i]));
    }
    n = (sl_search__lattice_number){ .degree = 4, .times = { b->v < 0 ? -1 : 1, 1 } };
    const double cube = fabs(b->v * b->v * b->v);
    if (!near_fraction(&n.root, cube * fabs(b->v), 4 * cube * b->reach)) return;
    if (bits_of(n) < b->most) b->number = n, b->most = bits_of(n), b->found = true;
}

static void try_powers(nearest *b) {
    enum { MOST = 54, DENOMINATOR = 3 };
    for (int den = 1; den <= DENOMINATOR; den++) {
        for (int num = -MOST; num <= MOST; num++) {
            sl_search__lattice_number n = { .degree = 1, .power = { num, den } };
            if (num == 0 || (den > 1 && num % den == 0)) continue;
            try_times(b, n, sl_exp((double)num / den));
        }
    }
}

bool sl_search__lattice_near_number(sl_search__lattice_number *out, double v, double reach,
                                    double most) {
    nearest b = { .v = v, .reach = reach, .most = most };
    try_times(&b, (sl_search__lattice_number){ .degree = 1 }, 1);
    if (b.most > FUNCTION) try_roots(&b), try_powers(&b);
    *out = b.number;
    return b.found;
}

/* ---------------------------------------------------------------- a formula ----------------- */

typedef struct snapping {
    const sl_search__lattice_linear *m;
    bool decided[COLUMNS]; // an exact number, or a constant without one
    double coefficient[COLUMNS], error[COLUMNS];
    sl_search__lattice_number number[COLUMNS];
} snapping;

/* Fits the columns that are not decided, or have no number, with the others as they are. */
static sl_status fit_others(bool *holds, snapping *s, sl_arena *scratch) {
    const sl_search__lattice_linear *m = s->m;
    const double *column[COLUMNS] = { NULL };
    double left[SL_LATTICE__ROWS], found[COLUMNS], error[COLUMNS];
    int place[COLUMNS], n = 0;
    sl_lsq lsq;
    for (int r = 0; r < m->rows; r++) left[r] = m->t[r];
    for (int k = 0; k < m->columns; k++) {
        if (s->number[k].times.den == 0) {
            place[n] = k, column[n++] = m->column[k];
            continue;
        }
        for (int r = 0; r < m->rows; r++) left[r] -= s->coefficient[k] * m->column[k][r];
    }
    SL_TRY(sl_num_lsq_fit(&lsq, found, error, scratch, column, left, m->w, m->rows, n));
    for (int i = 0; i < n; i++) s->coefficient[place[i]] = found[i], s->error[place[i]] = error[i];
    *holds = lsq.rank == n && sl_search__lattice_holds(m, s->coefficient, 0);
    return SL_OK;
}

/* Bits that are known of coefficient k. */
static double digits_of(const snapping *s, int k) {
    const double v = fabs(s->coefficient[k]);
    return v > 0 ? log2(fmax(v / fmax(s->error[k], 0x1p-50 * v), 1)) : 0;
}

/* The coefficient whose number is least likely to be chance, and that number; -1: none is left. */
static int choose(sl_search__lattice_number *out, const snapping *s) {
    int best = -1;
    double most = 0;
    for (int k = 0; k < s->m->columns; k++) {
        const double v = s->coefficient[k], reach = ERRORS * s->error[k];
        sl_search__lattice_number n = { .times = { 0, 1 }, .degree = 1 };
        if (s->decided[k] || !(reach < INFINITY)) continue;
        const double digits = digits_of(s, k) + 4; // as a free constant costs
        const bool zero = fabs(v) <= reach;
        if (!zero && !sl_search__lattice_near_number(&n, v, reach, digits)) continue;
        const double surplus = zero ? INFINITY : digits - bits_of(n); // a term less comes first
        if (surplus > most) most = surplus, best = k, *out = n;
    }
    return best;
}

sl_status sl_search__lattice_snap(bool *sure, double *coefficient,
                                  sl_search__lattice_number *number, sl_arena *scratch,
                                  const sl_search__lattice_linear *m) {
    snapping s = { .m = m };
    sl_search__lattice_number n;
    bool holds;
    double least = INFINITY;
    int real = 0;
    *sure = true;
    SL_TRY(fit_others(&holds, &s, scratch));
    for (int k = holds ? choose(&n, &s) : -1; k >= 0; k = choose(&n, &s)) {
        const snapping before = s;
        const double digits = n.times.num ? digits_of(&s, k) : INFINITY;
        s.decided[k] = true;
        s.number[k] = n;
        s.coefficient[k] = sl_search__lattice_number_value(n);
        SL_TRY(fit_others(&holds, &s, scratch));
        if (holds) least = fmin(least, digits);
        if (holds) continue;
        s = before;
        s.decided[k] = true;
    }
    for (int k = 0; k < m->columns; k++) {
        coefficient[k] = s.coefficient[k], number[k] = s.number[k];
        if (s.number[k].times.den) continue;
        real++;
        *sure = *sure && digits_of(&s, k) >= REAL;
    }
    *sure = *sure && least >= KNOWN && real <= REALS_MAX;
    return SL_OK;
}
