/* lattice_snap - coefficients of a formula that holds up to the rounding of y become exact numbers.
 *
 * Under exact data a coefficient is right to ten digits and offer.c recognises it. Where y is
 * rounded it is known to its standard error, and an error of one coefficient moves the others. So
 * one coefficient at a time becomes a number, the one whose agreement is least likely by chance,
 * and the others are fitted again; the formula must still hold in every row.
 *
 * Numbers are fractions times a root or exp of a fraction: what integer constants inside functions
 * contribute outside of them, as exp(-7/2) in exp(-x - 7/2). A number is taken if its bits, by the
 * criterion (docs/math/criterion.md) or as constants of the grammar, are fewer than the known
 * digits of the coefficient. */
#include <math.h>
#include <stdlib.h>

#include "num/num.h"
#include "search/lattice_impl.h"

enum { COLUMNS = SL_LATTICE__LINEAR, DENOMINATORS = 100, ERRORS = 4 };

/* With fewer than KNOWN bits of a coefficient its term may be another one. */
static const double KNOWN = 7;

static const double FUNCTION = 5; // bits of the cheapest root or power

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

/* Prices of what one integer constant of the grammar leaves outside of a function: about log2 of
 * how many there are. */
static const double INTEGER = 4, POWER = 6, ROOT = 6, EXP = 5, EXP_HALF = 6.5, NONE = 1e9;
enum { LARGEST = 9 };

/* n >= 1 as products of constants and of their powers. */
static double bits_of_whole(int32_t n) {
    if (n == 1) return 0;
    if (n <= LARGEST) return INTEGER;
    double least = NONE;
    for (int a = 2; a <= LARGEST; a++) {
        int power = 0;
        for (int32_t rest = n; rest % a == 0 && power < 5; power++) {
            rest /= a;
            const double price = power == 0 ? INTEGER : POWER;
            if (rest == 1)
                least = fmin(least, price);
            else if (rest <= LARGEST)
                least = fmin(least, price + INTEGER);
        }
    }
    return least;
}

static double bits_of_factor(fraction f) {
    return bits_of_whole(abs(f.num)) + bits_of_whole(f.den) + (f.num < 0);
}

/* times * root^(1/2), where a constant a to an odd number of halves explains the root: sqrt(5)/25
 * is 5^(-3/2). */
static double bits_of_root(fraction times, fraction root) {
    static const struct {
        int8_t a, square_free, factor; // sqrt(a) = factor sqrt(square_free)
    } list[] = { { 2, 2, 1 }, { 3, 3, 1 }, { 5, 5, 1 }, { 6, 6, 1 }, { 7, 7, 1 }, { 8, 2, 2 } };
    double least = NONE;
    for (int i = 0; i < SL_LEN(list); i++) {
        if (root.den != 1 || root.num != list[i].square_free) continue;
        double power = list[i].factor; // of sqrt(a)^(2 k + 1)
        for (int k = 0; k <= 3; k++, power *= list[i].a) {
            const double up = (double)times.num / (times.den * power);
            const double down = (double)times.num * power * list[i].a / times.den;
            fraction rest;
            for (int way = 0; way < 2; way++) {
                const double v = way ? down / (list[i].factor * list[i].factor) : up;
                for (rest.den = 1; rest.den <= LARGEST * LARGEST; rest.den++) {
                    const double num = nearbyint(v * rest.den);
                    if (num == 0 || fabs(num) > 1e6 || fabs(num - v * rest.den) > 1e-9 * fabs(num))
                        continue;
                    rest.num = (int32_t)num;
                    least = fmin(least, ROOT + bits_of_factor(rest));
                    break;
                }
            }
        }
    }
    return least;
}

/* As constants of the grammar. */
static double bits_of_constants(sl_search__lattice_number n) {
    double bits = 0;
    if (n.degree > 2) return NONE;
    bits = n.degree == 2 ? bits_of_root(n.times, n.root) : bits_of_factor(n.times);
    if (n.power.num == 0) return bits;
    if (n.power.den == 1 && abs(n.power.num) <= LARGEST) return bits + EXP;
    if (n.power.den <= 2 && abs(n.power.num) <= 2 * LARGEST) return bits + EXP_HALF;
    return NONE;
}

/* Nodes as fit.h prices them: product 2.3, root 3 + 2.5 + 4, exp 6 + 4; or as constants, which is
 * less for some. */
static double bits_of(sl_search__lattice_number n) {
    double bits = bits_of_fraction(n.times);
    if (n.degree > 1) bits += 11.8 + bits_of_fraction(n.root);
    if (n.power.num) bits += 12.3 + bits_of_fraction(n.power);
    return fmin(bits, bits_of_constants(n));
}

double sl_search__lattice_number_bits(sl_search__lattice_number n) { return bits_of(n); }

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
        if (holds && n.times.num && bits_of(n) > digits) least = 0; // it may be another number
        if (holds) continue;
        s = before;
        s.decided[k] = true;
    }
    for (int k = 0; k < m->columns; k++) {
        coefficient[k] = s.coefficient[k], number[k] = s.number[k];
        *sure = *sure && s.number[k].times.den; // of the grammar, all of them are exact numbers
    }
    *sure = *sure && least >= KNOWN;
    return SL_OK;
}
