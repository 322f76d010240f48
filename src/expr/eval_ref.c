/* Reference evaluation: long double, plain recursion, libm, and a running error bound.
 *
 * Each value v has a bound d, such that an evaluation with unit roundoff u which does the
 * operations of the expression, in whatever order and grouping, ends within d of v. Rounding errors
 * count to first order; u is taken a little larger, which covers the higher orders and the rounding
 * of v itself. d is infinite where there is no bound: an operand may be outside of a domain, or an
 * intermediate result outside the range of the arithmetic under test.
 *
 * v is NaN where the value is not real; then d is 0 if every evaluation must give NaN, and infinite
 * if one might not. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "expr/expr_impl.h"

/* The arithmetic under test. */
typedef struct arithmetic {
    long double u;    // relative error of an operation
    long double tiny; // absolute error of one that underflows
    int exponent;     // 2^exponent, and its inverse, are safely in range
    const long double *x, *params;
} arithmetic;

typedef struct approx {
    long double v, d;
} approx;

static const approx never = { NAN, 0 };          // surely not real
static const approx unknown = { NAN, INFINITY }; // not real; another evaluation may be

// in units of u: own functions are good to one unit in the last place, which is two u, and those
// that are composed of others to two and a half
enum { FUNCTION_ERROR = 3, COMPOSED_ERROR = 6 };

/* A result that was rounded `roundings` times. */
static approx rounded(const arithmetic *m, long double v, long double d, long double roundings) {
    d += roundings * m->u * (fabsl(v) + d) + (roundings > 0 ? m->tiny : 0);
    // outside the range the result may be infinite, and later results arbitrary
    if (isnan(d) || !(fabsl(v) + d < ldexpl(1, m->exponent))) d = INFINITY;
    return (approx){ v, d };
}

static approx number(const arithmetic *m, sl_rat r) {
    const int64_t exact = INT64_C(1) << 53; // integers up to here are doubles, also negative ones
    const bool small = r.num <= exact && r.num >= -exact && r.den <= exact;
    const bool binary = (r.den & (r.den - 1)) == 0;
    return rounded(m, (long double)r.num / (long double)r.den, 0, small ? (binary ? 0 : 1) : 3);
}

static approx input(const arithmetic *m, long double x) {
    return isnan(x) ? never : rounded(m, x, 0, 0);
}

static approx ref(const arithmetic *m, const sl_node *e, int depth);

/* The more certain NaN of two operands. */
static approx worse(approx a, approx b) {
    if (!isnan(b.v)) return a;
    return isnan(a.v) && a.d <= b.d ? a : b;
}

static approx sum(const arithmetic *m, const sl_node *e, int depth) {
    long double v = 0, d = 0, size = 0;
    approx bad = { 0, 0 };
    const sl_node *term = e + 1;
    for (int i = 0; i < e->arg; i++, term = sl_expr_next(term)) {
        approx t = ref(m, term, depth);
        bad = worse(bad, t);
        v += t.v;
        d += t.d;
        size += fabsl(t.v) + t.d; // every partial sum, in every order, is at most this
    }
    if (isnan(bad.v)) return bad;
    d += (long double)(e->arg - 1) * m->u * size;
    if (!(size < ldexpl(1, m->exponent))) d = INFINITY;
    return rounded(m, v, d, 0);
}

/* Distance from 1 in binary exponents; 0 for zero, with which partial products stay in range. */
static int far(long double v) { return v == 0 || !isfinite(v) ? 0 : abs(ilogbl(v)) + 1; }

static approx product(const arithmetic *m, const sl_node *e, int depth) {
    long double v = 1, d = 0;
    int roundings = -1, distance = 0; // the first factor needs no multiplication
    approx bad = { 0, 0 };
    const sl_node *factor = e + 1;
    for (int i = 0; i < e->arg; i++, factor = sl_expr_next(factor)) {
        approx f = ref(m, factor, depth);
        bad = worse(bad, f);
        // 0 times a bound that is infinite is still infinite
        d = isinf(d) || isinf(f.d) ? INFINITY : fabsl(v) * f.d + fabsl(f.v) * d + d * f.d;
        v *= f.v;
        distance += far(f.v);
        if (!sl_expr_num_is(factor, -1) && !sl_expr_num_is(factor, 1)) roundings++;
    }
    if (isnan(bad.v)) return bad;
    // some order of the factors passes through a partial product out of range
    if (roundings > 1 && distance > m->exponent) d = INFINITY;
    return rounded(m, v, d, SL_MAX(roundings, 0));
}

static approx power(const arithmetic *m, approx b, sl_rat r) {
    const bool whole = sl_expr_rat_is_int(r);
    const long double low = fabsl(b.v) - b.d, k = (long double)r.num / (long double)r.den;
    if (isnan(b.v)) return b;
    if (r.num == 0) return rounded(m, 1, isinf(b.d) ? INFINITY : 0, 0);
    if (b.v == 0 && r.num < 0) return b.d == 0 ? never : unknown;
    if (b.v < 0 && !whole) return low > 0 ? never : unknown;

    // b^r by multiplications, or by a logarithm whose error grows with its size
    long double v = powl(b.v, k), roundings = fabsl(k) + 4;
    if (whole)
        roundings = fabsl(k) - (r.num > 0);
    else if (r.den != 2 && r.den != 4 && b.v != 0)
        roundings = (FUNCTION_ERROR + 2) * fabsl(k * logl(b.v)) + FUNCTION_ERROR + 1;
    if (fabsl(k) * (long double)far(b.v) > m->exponent && fabsl(k) > 1)
        return (approx){ v, INFINITY };

    long double d = 0;
    if (b.d != 0 && low > 0) {
        // relative change of the power, on the side of the interval where it is larger
        const long double rel = b.d / fabsl(b.v);
        d = fabsl(v) * fmaxl(expm1l(fabsl(k) * log1pl(rel)), expm1l(-fabsl(k) * log1pl(-rel)));
    } else if (b.d != 0 && whole && r.num > 0) {
        d = powl(fabsl(b.v) + b.d, k) + fabsl(v);
    } else if (b.d != 0) {
        d = INFINITY;
    }
    return rounded(m, v, d, roundings);
}

static approx wave(const arithmetic *m, approx a, long double v, long double slope) {
    if (isnan(a.v)) return a;
    if (isinf(a.d) || isnan(v)) return (approx){ v, INFINITY };
    long double d = fminl(fminl(fabsl(slope) * a.d + a.d * a.d / 2, a.d), 2);
    return rounded(m, v, d, FUNCTION_ERROR);
}

/* b^c, c no number. */
static approx raise_to(const arithmetic *m, approx b, approx c) {
    const approx bad = worse(worse((approx){ 0, 0 }, b), c);
    if (isnan(bad.v)) return bad;
    if (b.v < 0) return b.v + b.d < 0 ? never : unknown;
    if (b.v == 0) {
        if (b.d != 0 || (c.v - c.d <= 0 && c.v + c.d > 0)) return unknown;
        return c.v > 0 ? rounded(m, 0, 0, 0) : never;
    }
    const long double v = powl(b.v, c.v), size = logl(b.v), rel = b.d / b.v;
    if (!(rel < 1) || isinf(c.d)) return (approx){ v, INFINITY };
    // the logarithm of the result, and how far off it may be
    const long double shift = -log1pl(-rel), exponent = c.v * size;
    const long double d = (fabsl(c.v) + c.d) * shift + c.d * fabsl(size);
    return rounded(m, v, v * expm1l(d),
                   (FUNCTION_ERROR + 2) * fabsl(exponent) + FUNCTION_ERROR + 1);
}

/* The functions whose domain ends: log, asin and acos. `inside` is how far the argument is from
 * the nearest end, negative outside; `slope` bounds the derivative between here and a.d closer. */
static approx bounded(const arithmetic *m, approx a, long double inside, long double v,
                      long double slope, int error) {
    if (inside < 0) return inside + a.d < 0 ? never : unknown;
    if (a.d == 0) return rounded(m, v, 0, error);
    return rounded(m, v, inside > a.d ? a.d * slope : INFINITY, error);
}

/* v of a function whose derivative is at most `slope` within a.d of a. */
static approx smooth(const arithmetic *m, approx a, long double v, long double slope) {
    return rounded(m, v, isinf(a.d) ? INFINITY : a.d == 0 ? 0 : a.d * slope, COMPOSED_ERROR);
}

static approx function(const arithmetic *m, sl_op op, approx a) {
    if (isnan(a.v)) return a;
    const long double size = fabsl(a.v), high = size + a.d, low = fmaxl(size - a.d, 0);
    const long double toward_end = sqrtl(fmaxl(1 - high * high, 0)), c = fabsl(cosl(a.v));
    switch (op) {
    case SL_OP_EXP:
        return rounded(m, expl(a.v), isinf(a.d) ? INFINITY : expl(a.v) * expm1l(a.d),
                       FUNCTION_ERROR);
    case SL_OP_SIN: return wave(m, a, sinl(a.v), cosl(a.v));
    case SL_OP_COS: return wave(m, a, cosl(a.v), sinl(a.v));
    case SL_OP_LOG:
        if (a.v == 0) return a.d == 0 ? never : unknown;
        return bounded(m, a, a.v, logl(size), 1 / (a.v - a.d), FUNCTION_ERROR);
    case SL_OP_TAN:
        if (!(c > a.d)) return (approx){ tanl(a.v), INFINITY };
        return smooth(m, a, tanl(a.v), 1 / ((c - a.d) * (c - a.d)));
    case SL_OP_TANH: return smooth(m, a, tanhl(a.v), 1 / (coshl(low) * coshl(low)));
    case SL_OP_SINH: return smooth(m, a, sinhl(a.v), coshl(high));
    case SL_OP_COSH: return smooth(m, a, coshl(a.v), sinhl(high));
    case SL_OP_ASIN: return bounded(m, a, 1 - size, asinl(a.v), 1 / toward_end, COMPOSED_ERROR);
    case SL_OP_ACOS: return bounded(m, a, 1 - size, acosl(a.v), 1 / toward_end, COMPOSED_ERROR);
    case SL_OP_ATAN: return smooth(m, a, atanl(a.v), 1 / (1 + low * low));
    default: break;
    }
    SL_ASSERT(op == SL_OP_ABS);
    return rounded(m, size, a.d, 0);
}

static approx ref(const arithmetic *m, const sl_node *e, int depth) {
    if (depth == 0) return unknown;
    switch ((sl_op)e->op) {
    case SL_OP_NUM: return number(m, sl_expr_num_value(e));
    case SL_OP_VAR: return input(m, m->x[e->arg - 1]);
    case SL_OP_PAR: return input(m, m->params[e->arg - 1]);
    case SL_OP_ADD: return sum(m, e, depth - 1);
    case SL_OP_MUL: return product(m, e, depth - 1);
    case SL_OP_POW: return power(m, ref(m, e + 1, depth - 1), sl_expr__exponent(e));
    case SL_OP_PI: return rounded(m, 0x1.921fb54442d18469898cc51701b8p1L, 0, 1);
    case SL_OP_RAISE:
        return raise_to(m, ref(m, e + 1, depth - 1), ref(m, sl_expr_next(e + 1), depth - 1));
    default: return function(m, (sl_op)e->op, ref(m, e + 1, depth - 1));
    }
}

void sl_expr_eval_ref(long double *value, long double *bound, const sl_node *e,
                      const long double *x, const long double *params, long double u) {
    const bool extended = u < 0x1p-60L;
    const arithmetic m = {
        .u = u * 1.01L + 0x1p-64L,
        .tiny = extended ? LDBL_TRUE_MIN : DBL_TRUE_MIN,
        .exponent = (extended ? LDBL_MAX_EXP : DBL_MAX_EXP) - 4,
        .x = x,
        .params = params,
    };
    approx r = ref(&m, e, SL_EXPR__DEEP);
    *value = r.v;
    *bound = r.d;
}
