/* The judge of values: long double, plain recursion, libm, and a running bound on the error.
 *
 * Beside each value v goes a bound d, such that an evaluation with unit roundoff u which does the
 * operations of the expression, in whatever order and grouping, ends within d of v. Rounding errors
 * count to first order; u is taken a little larger, which covers the higher orders and the rounding
 * of v itself. d is infinite where nothing can be said: an operand might lie beyond the edge of a
 * domain, or an intermediate result outside the range of the arithmetic judged.
 *
 * v is NaN where the value is not real; then d is 0 if every evaluation must see that, and infinite
 * if one might not. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "expr/expr_impl.h"

/* The arithmetic that is judged. */
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
static const approx unknown = { NAN, INFINITY }; // not real, or only not here

// in units of u: own functions are good to one unit in the last place, which is two u
enum { FUNCTION_ERROR = 3 };

/* A result that was rounded `roundings` times. */
static approx rounded(const arithmetic *m, long double v, long double d, long double roundings) {
    d += roundings * m->u * (fabsl(v) + d) + (roundings > 0 ? m->tiny : 0);
    // beyond the range it may be infinite, and what follows anything
    if (isnan(d) || !(fabsl(v) + d < ldexpl(1, m->exponent))) d = INFINITY;
    return (approx){ v, d };
}

static approx number(const arithmetic *m, sl_rat r) {
    const int64_t exact = INT64_C(1) << 53; // integers up to here are doubles, also negative ones
    const bool small = r.num <= exact && r.num >= -exact && r.den <= exact;
    const bool binary = (r.den & (r.den - 1)) == 0;
    return rounded(m, (long double)r.num / (long double)r.den, 0, small ? (binary ? 0 : 1) : 3);
}

static approx given(const arithmetic *m, long double x) {
    return isnan(x) ? never : rounded(m, x, 0, 0);
}

static approx ref(const arithmetic *m, const sl_node *e, int depth);

/* The NaN among operands that says most. */
static approx worse(approx a, approx b) {
    if (!isnan(b.v)) return a;
    return isnan(a.v) && a.d <= b.d ? a : b;
}

static approx sum(const arithmetic *m, const sl_node *e, int depth) {
    long double v = 0, d = 0, size = 0;
    approx bad = { 0, 0 };
    const sl_node *term = e + 1;
    for (int i = 0; i < e->arg; i++, term = sl_next(term)) {
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

/* How far from 1 on the scale of binary exponents; 0 for zero, which spoils no partial product. */
static int far(long double v) { return v == 0 || !isfinite(v) ? 0 : abs(ilogbl(v)) + 1; }

static approx product(const arithmetic *m, const sl_node *e, int depth) {
    long double v = 1, d = 0;
    int roundings = -1, distance = 0; // the first factor needs no multiplication
    approx bad = { 0, 0 };
    const sl_node *factor = e + 1;
    for (int i = 0; i < e->arg; i++, factor = sl_next(factor)) {
        approx f = ref(m, factor, depth);
        bad = worse(bad, f);
        // 0 times a bound that is infinite is still infinite
        d = isinf(d) || isinf(f.d) ? INFINITY : fabsl(v) * f.d + fabsl(f.v) * d + d * f.d;
        v *= f.v;
        distance += far(f.v);
        if (!sl_num_is(factor, -1) && !sl_num_is(factor, 1)) roundings++;
    }
    if (isnan(bad.v)) return bad;
    // some order of the factors passes through a partial product out of range
    if (roundings > 1 && distance > m->exponent) d = INFINITY;
    return rounded(m, v, d, SL_MAX(roundings, 0));
}

static approx power(const arithmetic *m, approx b, sl_rat r) {
    const bool whole = sl_rat_is_int(r);
    const long double low = fabsl(b.v) - b.d, k = (long double)r.num / (long double)r.den;
    if (isnan(b.v)) return b;
    if (r.num == 0) return rounded(m, 1, isinf(b.d) ? INFINITY : 0, 0);
    if (b.v == 0 && r.num < 0) return b.d == 0 ? never : unknown;
    if (b.v < 0 && !whole) return low > 0 ? never : unknown;

    // the way from b to b^r: multiplications, or a logarithm whose error grows by its size
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

static approx ref(const arithmetic *m, const sl_node *e, int depth) {
    approx a;
    if (depth == 0) return unknown;
    switch ((sl_op)e->op) {
    case SL_OP_NUM: return number(m, sl_num_value(e));
    case SL_OP_VAR: return given(m, m->x[e->arg - 1]);
    case SL_OP_PAR: return given(m, m->params[e->arg - 1]);
    case SL_OP_ADD: return sum(m, e, depth - 1);
    case SL_OP_MUL: return product(m, e, depth - 1);
    case SL_OP_POW: return power(m, ref(m, e + 1, depth - 1), sl_expr__exponent(e));
    case SL_OP_EXP:
        a = ref(m, e + 1, depth - 1);
        if (isnan(a.v)) return a;
        return rounded(m, expl(a.v), isinf(a.d) ? INFINITY : expl(a.v) * expm1l(a.d),
                       FUNCTION_ERROR);
    case SL_OP_SIN: a = ref(m, e + 1, depth - 1); return wave(m, a, sinl(a.v), cosl(a.v));
    case SL_OP_COS: a = ref(m, e + 1, depth - 1); return wave(m, a, cosl(a.v), sinl(a.v));
    case SL_OP_COUNT: break;
    }
    SL_ASSERT(e->op < SL_OP_COUNT);
    return unknown;
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
