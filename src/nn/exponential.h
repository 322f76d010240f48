/* exponential - e^x and 2^x of vectors of floats, for one instruction set. */
#ifndef SL_NN_EXPONENTIAL_H
#define SL_NN_EXPONENTIAL_H

#include "base/vector.h"

/* 2^k of the whole numbers k that are the low bits of a: -127 (which is 0) to 128 (infinity). */
SL_INLINE vec v_power(vec a) { return (vec)(((uvec)a << 23) + (127u << 23)); }

/* e^x = 2^k e^r with k = x / ln 2 rounded and e^r = 1 + r + r^2 P(r), |r| <= ln(2)/2; P is minimax
 * for the relative error, which is 0.05 of 2^-24 (by the remez of
 * tests/golden/math/coefficients.py). Within 1.1 ulp from -87.3 to 88.3; from 88.376 on infinity,
 * and below -87.68 zero: 2^k then is no normal float, and both ends are far beyond what softmax and
 * sigmoid can distinguish. NaN stays. */
SL_INLINE vec v_exp(vec x) {
    // adding 1.5 2^23 rounds to a whole number, which then stands in the low bits
    const vec shift = v_set(0x1.8p23f);
    x = v_min(v_set(89.0f), v_max(v_set(-88.0f), x));
    vec t = v_fma(x, v_set(0x1.715476p0f), shift), k = t - shift;
    vec r = v_fma(k, v_set(-0x1.62ep-1f), x); // k times 14 bits of ln 2 is exact
    r = v_fma(k, v_set(-0x1.0bfbe8p-15f), r);
    vec p = v_fma(v_set(0x1.6a244ep-10f), r, v_set(0x1.1239e4p-7f));
    p = v_fma(p, r, v_set(0x1.5558f2p-5f));
    p = v_fma(p, r, v_set(0x1.555492p-3f));
    p = v_fma(p, r, v_set(0x1.fffffcp-2f));
    p = v_fma(p, r * r, r);
    return (p + v_set(1.0f)) * v_power(t);
}

/* 2^x for x <= 0, within 2 units of the last place; 0 below -100, so that no number here or in what
 * is made of it is subnormal, which would be slow. x = n + f with |f| <= 1/2; 2^f by a polynomial
 * that is minimax for the relative error. NaN stays NaN. */
#define SL_EXP2_BODY(VEC, UVEC, FMA, ALL)                                 \
    const VEC magic = ALL(0x1.8p23f);                                     \
    const VEC shifted = x + magic; /* n in its low bits */                \
    const VEC f = x - (shifted - magic);                                  \
    VEC y = ALL(0x1.41fbbcp-13f);                                         \
    y = FMA(y, f, ALL(0x1.5f3e54p-10f));                                  \
    y = FMA(y, f, ALL(0x1.3b2d4cp-7f));                                   \
    y = FMA(y, f, ALL(0x1.c6aee8p-5f));                                   \
    y = FMA(y, f, ALL(0x1.ebfbdcp-3f));                                   \
    y = FMA(y, f, ALL(0x1.62e43p-1f));                                    \
    y = FMA(y, f, ALL(1.0f));                                             \
    const UVEC power = (UVEC)y + ((UVEC)shifted << 23);                   \
    return (VEC)(power & ~(UVEC)(x < ALL(-100.0f)));

SL_INLINE vec v_exp2(vec x) { SL_EXP2_BODY(vec, uvec, v_fma, v_set) }
SL_INLINE unit unit_exp2(unit x) { SL_EXP2_BODY(unit, uunit, unit_fma, unit_set) }
#undef SL_EXP2_BODY

#endif
