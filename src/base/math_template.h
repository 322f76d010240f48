/* exp, sin, cos and log on vectors of SL_MATH_LANES doubles, and with math_composed.h the functions
 * made of them. Included once by each of math.c,
 * math.avx2.c and math.avx512.c, which differ in the lanes and in the instructions that the
 * compiler may use.
 *
 * The rules that make the bits the same everywhere: only + - * / and square roots of doubles, integer
 * operations on their bits, and selection by mask; the order is spelled out; nothing is fused (the build says
 * -ffp-contract=off) and nothing is taken from libm. Rounding is to nearest, the state in which
 * every program starts. Every NaN that comes out is the same NaN.
 *
 * GCC's vector extension rather than intrinsics: one text serves all widths and both compilers. */
#include <math.h> // INFINITY
#include <string.h>

#include "base/math_constants.h"
#include "base/math_impl.h"

#ifndef SL_MATH_LANES
#error "SL_MATH_LANES says how many doubles a vector has"
#endif

typedef double vd __attribute__((vector_size(8 * SL_MATH_LANES)));
typedef uint64_t vu __attribute__((vector_size(8 * SL_MATH_LANES)));

#define INLINE static inline __attribute__((always_inline))

/* Adding it to a small double leaves the nearest integer, in two's complement, in the low bits. */
#define ROUNDER      0x1.8p52
#define ROUNDER_BITS UINT64_C(0x4338000000000000)
#define NAN_BITS     UINT64_C(0x7ff8000000000000)
#define SIGN_BIT     UINT64_C(0x8000000000000000)
#define HIGH_HALF    UINT64_C(0xfffffffff8000000) // 26 bits of mantissa: their square is exact

INLINE vd all(double c) { return (vd){ 0 } + c; }
INLINE vu all_bits(uint64_t c) { return (vu){ 0 } + c; }
INLINE vd pick(vu mask, vd yes, vd no) { return (vd)((mask & (vu)yes) | (~mask & (vu)no)); }
INLINE vd size(vd x) { return (vd)((vu)x & ~SIGN_BIT); }
INLINE vd high_half(vd x) { return (vd)((vu)x & HIGH_HALF); }

INLINE bool any(vu mask) {
    uint64_t r = 0;
    for (int i = 0; i < SL_MATH_LANES; i++) r |= mask[i];
    return r != 0;
}

/* a + b = *s + *e exactly, where a is 0 or |a| >= |b|. */
INLINE void fast_two_sum(vd *s, vd *e, vd a, vd b) {
    *s = a + b;
    *e = b - (*s - a);
}

/* a - b = *s + *e exactly. */
INLINE void two_difference(vd *s, vd *e, vd a, vd b) {
    *s = a - b;
    vd t = *s - a;
    *e = (a - (*s - t)) - (b + t);
}

/* 2^shift exp(x), shift 0 or -1; exp(x) = 2^k exp(r), r = x - k ln 2. */
INLINE vd exp_shifted(vd x, int shift) {
    // beyond these the answer is infinity or zero, and k would not fit an exponent; NaN passes
    vd c = pick((vu)(x > 712.0), all(712.0), x);
    c = pick((vu)(c < -746.0), all(-746.0), c);

    vd rounded = c * LN2_INVERSE + ROUNDER;
    vd k = rounded - ROUNDER;
    vd hi = c - k * LN2_HI; // exact
    vd lo = k * LN2_LO;
    vd r = hi - lo;
    vd r_lo = (hi - r) - lo;

    // p as a tree, short in latency
    const double *p = EXP_POLY;
    vd r2 = r * r, r4 = r2 * r2;
    vd p03 = (p[0] + p[1] * r) + (p[2] + p[3] * r) * r2;
    vd p47 = (p[4] + p[5] * r) + (p[6] + p[7] * r) * r2;
    vd p89 = p[8] + p[9] * r;
    vd q = p03 + (p47 + p89 * r4) * r4;

    // 1 + r is the bulk and its rounding is kept; what is added to it is below 0.07
    vd s, e;
    fast_two_sum(&s, &e, all(1.0), r);
    vd y = s + (r2 * (0.5 + r * q) + (e + r_lo));

    // 2^k in two factors: the first is exact, the second rounds where the answer is subnormal
    vu b = (vu)rounded - ROUNDER_BITS + (uint64_t)(2048 + shift); // k + 2048 > 0
    vu b1 = b >> 1, b2 = b - b1;
    y = y * (vd)((b1 - 1) << 52) * (vd)((b2 - 1) << 52);
    return pick((vu)(x == x), y, (vd)all_bits(NAN_BITS));
}

INLINE vd exp_lanes(vd x) { return exp_shifted(x, 0); }

/* log(x) = k ln 2 + log(1 + f), x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)).
 * With s = f / (2 + f), z = s^2 and h = f^2 / 2:   log(1 + f) = f - h + s (h + z p(z)),
 * as in fdlibm; unlike there, the roundings of h, of f - h and of the sum with k ln 2 are carried
 * along. */
INLINE vd log_lanes(vd x) {
    vu tiny = (vu)(x < 0x1p-1022);
    vu ix = (vu)pick(tiny, x * 0x1p54, x);

    // k in the top 12 bits of t, plus 1024 so that it is positive
    const uint64_t from = UINT64_C(0x3fe6a09e00000000); // high half of sqrt(1/2)
    vu t = ix - from + (UINT64_C(1024) << 52);
    vu k_bits = (t >> 52) - 1024 - (tiny & 54);
    vd k = (vd)(k_bits + ROUNDER_BITS) - ROUNDER;
    vd f = (vd)(ix - ((t >> 52) << 52) + (UINT64_C(1024) << 52)) - 1.0; // exact

    vd f_hi = high_half(f);
    vd h_hi = 0.5 * f_hi * f_hi; // exact
    vd h_lo = 0.5 * (f - f_hi) * (f + f_hi);
    vd s = f / (2.0 + f);
    vd z = s * s, z2 = z * z;
    const double *p = LOG_POLY;
    vd q = z * (((p[0] + p[1] * z) + (p[2] + p[3] * z) * z2) +
                ((p[4] + p[5] * z) + p[6] * z2) * (z2 * z2));

    // |k ln 2| > |f| or k = 0; the sum of both is above 0.27 or it is f: larger than h either way
    vd a, a_err, b, b_err;
    fast_two_sum(&a, &a_err, k * LN2_HI, f);
    fast_two_sum(&b, &b_err, a, -h_hi);
    vd y = b + ((s * (h_hi + (h_lo + q)) - h_lo) + (k * LN2_LO + (a_err + b_err)));

    y = pick((vu)(x == INFINITY), x, y);
    y = pick((vu)(x == 0.0), all(-INFINITY), y);
    return pick((vu)(x >= 0.0), y, (vd)all_bits(NAN_BITS));
}

/* Sine and cosine of r + y, |r| <= pi/4. */
INLINE void both_waves(vd *sine, vd *cosine, vd r, vd y) {
    vd z = r * r, z2 = z * z;
    vd r_hi = high_half(r); // z/2 = h_hi + h_lo, h_hi exact
    vd h_hi = 0.5 * r_hi * r_hi;
    vd h_lo = 0.5 * (r - r_hi) * (r + r_hi);

    // r + r z p(z). The cubic term is up to 0.08 and has only two roundings this way. To y goes
    // cos(r), for which 1 - z/2 is close enough.
    const double *p = SIN_POLY;
    vd ps = (p[1] + p[2] * z) + ((p[3] + p[4] * z) + (p[5] + p[6] * z) * z2) * z2;
    vd cubic = (r * h_hi) * (2.0 * p[0]);
    vd rest = (r * z2) * ps + ((r * h_lo) * (2.0 * p[0]) + (y - y * h_hi));
    *sine = r + (cubic + rest);

    // 1 - z/2 + z^2 p(z) - r y: here z/2 is up to 0.3, so its rounding is carried along
    p = COS_POLY;
    vd pc = ((p[0] + p[1] * z) + (p[2] + p[3] * z) * z2) + (p[4] + p[5] * z) * (z2 * z2);
    vd a, a_err;
    fast_two_sum(&a, &a_err, all(1.0), -h_hi);
    *cosine = a + ((z2 * pc - (h_lo + r * y)) + a_err);
}

/* The sine, or in odd quadrants the cosine, with the quadrant's sign; NaN where x is not finite. */
INLINE vd turned(vd sine, vd cosine, vu quadrant, vu finite) {
    vd v = pick(-(quadrant & 1), cosine, sine);
    return pick(finite, (vd)((vu)v ^ ((quadrant & 2) << 62)), (vd)all_bits(NAN_BITS));
}

/* Sine and cosine of r + y, where x = quadrant pi/2 + (r + y). Four pieces of pi/2 leave r + y right
 * to 2^-70 of itself, also for the double closest to a multiple of pi/2; lanes with |x| >= 2^20 go
 * through sl_math__reduce. */
INLINE void wave_lanes(vd *sine, vd *cosine, vu *quadrants, vu *finites, vd x) {
    vd rounded = x * HALF_PI_INVERSE + ROUNDER;
    vd n = rounded - ROUNDER;
    vu quadrant = (vu)rounded;
    vd r1 = x - n * HALF_PI_1; // exact
    vd r2, r2_err, r3, r3_err, r, y;
    two_difference(&r2, &r2_err, r1, n * HALF_PI_2);
    two_difference(&r3, &r3_err, r2, n * HALF_PI_3);
    fast_two_sum(&r, &y, r3, r2_err + (r3_err - n * HALF_PI_4));

    vu finite = (vu)(size(x) < INFINITY);
    vu large = (vu)(size(x) >= 0x1p20) & finite;
    if (__builtin_expect(any(large), 0)) {
        for (int i = 0; i < SL_MATH_LANES; i++) {
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

INLINE void sincos_lanes(vd *sine, vd *cosine, vd x) {
    vd s, c;
    vu quadrant, finite;
    wave_lanes(&s, &c, &quadrant, &finite, x);
    // where x^3/6 is below half an ulp the sine is x, which keeps -0 and subnormals
    *sine = pick((vu)(size(x) < 0x1p-27), x, turned(s, c, quadrant, finite));
    *cosine = turned(s, c, quadrant + 1, finite);
}

INLINE vd sin_lanes(vd x) {
    vd sine, cosine;
    sincos_lanes(&sine, &cosine, x);
    return sine;
}

INLINE vd cos_lanes(vd x) {
    vd sine, cosine;
    sincos_lanes(&sine, &cosine, x);
    return cosine;
}

/* y[i] = lanes(x[i]). The last few go through a padded vector: the same code for every place. */
#define DEFINE_ARRAY(name, lanes)                            \
    static void name(double *y, const double *x, int n) {    \
        int i = 0;                                           \
        vd v;                                                \
        for (; i <= n - SL_MATH_LANES; i += SL_MATH_LANES) { \
            memcpy(&v, x + i, sizeof v);                     \
            v = lanes(v);                                    \
            memcpy(y + i, &v, sizeof v);                     \
        }                                                    \
        if (i >= n) return;                                  \
        v = all(1.0);                                        \
        memcpy(&v, x + i, (size_t)(n - i) * sizeof x[0]);    \
        v = lanes(v);                                        \
        memcpy(y + i, &v, (size_t)(n - i) * sizeof x[0]);    \
    }

DEFINE_ARRAY(exp_array, exp_lanes)
DEFINE_ARRAY(sin_array, sin_lanes)
DEFINE_ARRAY(log_array, log_lanes)
DEFINE_ARRAY(cos_array, cos_lanes)

static void sincos_array(double *sine, double *cosine, const double *x, int n) {
    int i = 0;
    vd v, s, c;
    for (; i <= n - SL_MATH_LANES; i += SL_MATH_LANES) {
        memcpy(&v, x + i, sizeof v);
        sincos_lanes(&s, &c, v);
        memcpy(sine + i, &s, sizeof s);
        memcpy(cosine + i, &c, sizeof c);
    }
    if (i >= n) return;
    v = all(1.0);
    memcpy(&v, x + i, (size_t)(n - i) * sizeof x[0]);
    sincos_lanes(&s, &c, v);
    memcpy(sine + i, &s, (size_t)(n - i) * sizeof x[0]);
    memcpy(cosine + i, &c, (size_t)(n - i) * sizeof x[0]);
}

#include "base/math_composed.h"

/* The table of this compilation. */
#define X(f) .f = f##_array,
#define SL_MATH_VARIANT(text) { .name = (text), SL_MATH_FUNCTIONS(X).sincos = sincos_array }
