/* exp, sin, cos and log on vectors of WD doubles, and with math_composed.h the functions made of
 * them, for one instruction set.
 *
 * The rules that make the bits the same everywhere: only + - * / and square roots of doubles,
 * integer operations on their bits, and selection by mask; the order is spelled out; nothing is
 * fused (the build says -ffp-contract=off) and nothing is taken from libm. Rounding is to nearest,
 * the state in which every program starts. Every NaN that comes out is the same NaN. */
#include <math.h> // INFINITY
#include <string.h>

#include "base/math_constants.h"
#include "base/math_impl.h"
#include "base/vector.h"

/* Adding it to a small double leaves the nearest integer, in two's complement, in the low bits. */
#define ROUNDER      0x1.8p52
#define ROUNDER_BITS UINT64_C(0x4338000000000000)
#define NAN_BITS     UINT64_C(0x7ff8000000000000)
#define SIGN_BIT     UINT64_C(0x8000000000000000)
#define HIGH_HALF    UINT64_C(0xfffffffff8000000) // 26 bits of mantissa: their square is exact

SL_INLINE dvec size(dvec x) { return (dvec)((ulvec)x & ~SIGN_BIT); }
SL_INLINE dvec high_half(dvec x) { return (dvec)((ulvec)x & HIGH_HALF); }

/* a + b = *s + *e exactly, where a is 0 or |a| >= |b|. */
SL_INLINE void fast_two_sum(dvec *s, dvec *e, dvec a, dvec b) {
    *s = a + b;
    *e = b - (*s - a);
}

/* a - b = *s + *e exactly. */
SL_INLINE void two_difference(dvec *s, dvec *e, dvec a, dvec b) {
    *s = a - b;
    dvec t = *s - a;
    *e = (a - (*s - t)) - (b + t);
}

/* 2^shift exp(x), shift 0 or -1; exp(x) = 2^k exp(r), r = x - k ln 2. */
SL_INLINE dvec exp_shifted(dvec x, int shift) {
    // beyond these the answer is infinity or zero, and k would not fit an exponent; NaN passes
    dvec c = d_choose((ulvec)(x > 712.0), d_set(712.0), x);
    c = d_choose((ulvec)(c < -746.0), d_set(-746.0), c);

    dvec rounded = c * LN2_INVERSE + ROUNDER;
    dvec k = rounded - ROUNDER;
    dvec hi = c - k * LN2_HI; // exact
    dvec lo = k * LN2_LO;
    dvec r = hi - lo;
    dvec r_lo = (hi - r) - lo;

    // p as a tree, short in latency
    const double *p = EXP_POLY;
    dvec r2 = r * r, r4 = r2 * r2;
    dvec p03 = (p[0] + p[1] * r) + (p[2] + p[3] * r) * r2;
    dvec p47 = (p[4] + p[5] * r) + (p[6] + p[7] * r) * r2;
    dvec p89 = p[8] + p[9] * r;
    dvec q = p03 + (p47 + p89 * r4) * r4;

    // 1 + r is the bulk and its rounding is kept; what is added to it is below 0.07
    dvec s, e;
    fast_two_sum(&s, &e, d_set(1.0), r);
    dvec y = s + (r2 * (0.5 + r * q) + (e + r_lo));

    // 2^k in two factors: the first is exact, the second rounds where the answer is subnormal
    ulvec b = (ulvec)rounded - ROUNDER_BITS + (uint64_t)(2048 + shift); // k + 2048 > 0
    ulvec b1 = b >> 1, b2 = b - b1;
    y = y * (dvec)((b1 - 1) << 52) * (dvec)((b2 - 1) << 52);
    return d_choose((ulvec)(x == x), y, (dvec)u_set(NAN_BITS));
}

SL_INLINE dvec exp_lanes(dvec x) { return exp_shifted(x, 0); }

/* log(x) = k ln 2 + log(1 + f), x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
 * With s = f / (2 + f), z = s^2 and h = f^2 / 2:   log(1 + f) = f - h + s (h + z p(z)),
 * as in fdlibm; unlike there, the roundings of h, of f - h and of the sum with k ln 2 are carried
 * along. */
SL_INLINE dvec log_lanes(dvec x) {
    ulvec tiny = (ulvec)(x < 0x1p-1022);
    ulvec ix = (ulvec)d_choose(tiny, x * 0x1p54, x);

    // k in the top 12 bits of t, plus 1024 so that it is positive
    const uint64_t from = UINT64_C(0x3fe6a09e00000000); // high half of sqrt(1/2)
    ulvec t = ix - from + (UINT64_C(1024) << 52);
    ulvec k_bits = (t >> 52) - 1024 - (tiny & 54);
    dvec k = (dvec)(k_bits + ROUNDER_BITS) - ROUNDER;
    dvec f = (dvec)(ix - ((t >> 52) << 52) + (UINT64_C(1024) << 52)) - 1.0; // exact

    dvec f_hi = high_half(f);
    dvec h_hi = 0.5 * f_hi * f_hi; // exact
    dvec h_lo = 0.5 * (f - f_hi) * (f + f_hi);
    dvec s = f / (2.0 + f);
    dvec z = s * s, z2 = z * z;
    const double *p = LOG_POLY;
    dvec q = z * (((p[0] + p[1] * z) + (p[2] + p[3] * z) * z2) +
                ((p[4] + p[5] * z) + p[6] * z2) * (z2 * z2));

    // |k ln 2| > |f| or k = 0; the sum of both is above 0.27 or it is f: larger than h either way
    dvec a, a_err, b, b_err;
    fast_two_sum(&a, &a_err, k * LN2_HI, f);
    fast_two_sum(&b, &b_err, a, -h_hi);
    dvec y = b + ((s * (h_hi + (h_lo + q)) - h_lo) + (k * LN2_LO + (a_err + b_err)));

    y = d_choose((ulvec)(x == INFINITY), x, y);
    y = d_choose((ulvec)(x == 0.0), d_set(-INFINITY), y);
    return d_choose((ulvec)(x >= 0.0), y, (dvec)u_set(NAN_BITS));
}

/* Sine and cosine of r + y, |r| <= pi/4. */
SL_INLINE void both_waves(dvec *sine, dvec *cosine, dvec r, dvec y) {
    dvec z = r * r, z2 = z * z;
    dvec r_hi = high_half(r); // z/2 = h_hi + h_lo, h_hi exact
    dvec h_hi = 0.5 * r_hi * r_hi;
    dvec h_lo = 0.5 * (r - r_hi) * (r + r_hi);

    // r + r z p(z). The cubic term is up to 0.08 and has only two roundings this way. To y goes
    // cos(r), for which 1 - z/2 is close enough.
    const double *p = SIN_POLY;
    dvec ps = (p[1] + p[2] * z) + ((p[3] + p[4] * z) + (p[5] + p[6] * z) * z2) * z2;
    dvec cubic = (r * h_hi) * (2.0 * p[0]);
    dvec rest = (r * z2) * ps + ((r * h_lo) * (2.0 * p[0]) + (y - y * h_hi));
    *sine = r + (cubic + rest);

    // 1 - z/2 + z^2 p(z) - r y: here z/2 is up to 0.3, so its rounding is carried along
    p = COS_POLY;
    dvec pc = ((p[0] + p[1] * z) + (p[2] + p[3] * z) * z2) + (p[4] + p[5] * z) * (z2 * z2);
    dvec a, a_err;
    fast_two_sum(&a, &a_err, d_set(1.0), -h_hi);
    *cosine = a + ((z2 * pc - (h_lo + r * y)) + a_err);
}

/* The sine, or in odd quadrants the cosine, with the quadrant's sign; NaN where x is not finite. */
SL_INLINE dvec turned(dvec sine, dvec cosine, ulvec quadrant, ulvec finite) {
    dvec v = d_choose(-(quadrant & 1), cosine, sine);
    return d_choose(finite, (dvec)((ulvec)v ^ ((quadrant & 2) << 62)), (dvec)u_set(NAN_BITS));
}

/* Sine and cosine of r + y, where x = quadrant pi/2 + (r + y). Four pieces of pi/2 leave r + y
 * right to 2^-70 of itself, also for the double closest to a multiple of pi/2; lanes with |x| >=
 * 2^20 go through sl_math__reduce. */
SL_INLINE void wave_lanes(dvec *sine, dvec *cosine, ulvec *quadrants, ulvec *finites, dvec x) {
    dvec rounded = x * HALF_PI_INVERSE + ROUNDER;
    dvec n = rounded - ROUNDER;
    ulvec quadrant = (ulvec)rounded;
    dvec r1 = x - n * HALF_PI_1; // exact
    dvec r2, r2_err, r3, r3_err, r, y;
    two_difference(&r2, &r2_err, r1, n * HALF_PI_2);
    two_difference(&r3, &r3_err, r2, n * HALF_PI_3);
    fast_two_sum(&r, &y, r3, r2_err + (r3_err - n * HALF_PI_4));

    ulvec finite = (ulvec)(size(x) < INFINITY);
    ulvec large = (ulvec)(size(x) >= 0x1p20) & finite;
    if (__builtin_expect(u_any(large), 0)) {
        for (int i = 0; i < WD; i++) {
            if (!large[i]) continue;
            double r_i, y_i;
            uint64_t n_i;
            sl_math__reduce(&r_i, &y_i, &n_i, x[i]);
            r[i] = r_i, y[i] = y_i, quadrant[i] = n_i;
        }
    }
    both_waves(sine, cosine, r, y);
    *quadrants = quadrant;
    *finites = finite;
}

SL_INLINE void sincos_lanes(dvec *sine, dvec *cosine, dvec x) {
    dvec s, c;
    ulvec quadrant, finite;
    wave_lanes(&s, &c, &quadrant, &finite, x);
    // where x^3/6 is below half an ulp the sine is x, which keeps -0 and subnormals
    *sine = d_choose((ulvec)(size(x) < 0x1p-27), x, turned(s, c, quadrant, finite));
    *cosine = turned(s, c, quadrant + 1, finite);
}

SL_INLINE dvec sin_lanes(dvec x) {
    dvec sine, cosine;
    sincos_lanes(&sine, &cosine, x);
    return sine;
}

SL_INLINE dvec cos_lanes(dvec x) {
    dvec sine, cosine;
    sincos_lanes(&sine, &cosine, x);
    return cosine;
}

/* y[i] = lanes(x[i]). The last few go through a padded vector: the same code for every place. */
#define DEFINE_ARRAY(name, lanes)                                             \
    static void name(double *y, const double *x, int n) {                     \
        int i = 0;                                                            \
        for (; i <= n - WD; i += WD) d_store(y + i, lanes(d_load(x + i)));    \
        if (i >= n) return;                                                   \
        dvec v = d_set(1.0);                                                  \
        memcpy(&v, x + i, (size_t)(n - i) * sizeof x[0]);                     \
        v = lanes(v);                                                         \
        memcpy(y + i, &v, (size_t)(n - i) * sizeof x[0]);                     \
    }

DEFINE_ARRAY(exp_array, exp_lanes)
DEFINE_ARRAY(sin_array, sin_lanes)
DEFINE_ARRAY(log_array, log_lanes)
DEFINE_ARRAY(cos_array, cos_lanes)

static void sincos_array(double *sine, double *cosine, const double *x, int n) {
    int i = 0;
    dvec s, c;
    for (; i <= n - WD; i += WD) {
        sincos_lanes(&s, &c, d_load(x + i));
        d_store(sine + i, s);
        d_store(cosine + i, c);
    }
    if (i >= n) return;
    dvec v = d_set(1.0);
    memcpy(&v, x + i, (size_t)(n - i) * sizeof x[0]);
    sincos_lanes(&s, &c, v);
    memcpy(sine + i, &s, (size_t)(n - i) * sizeof x[0]);
    memcpy(cosine + i, &c, (size_t)(n - i) * sizeof x[0]);
}

#include "base/math_composed.h"

/* The table of this compilation. */
#define X(f) .f = f##_array,
#define SL_MATH_VARIANT(text) { .name = (text), SL_MATH_FUNCTIONS(X).sincos = sincos_array }
