/* tan, the hyperbolic functions and the inverses of sin, cos and tan, on vectors of WD
 * doubles; a part of math_body.h, whose rules and helpers it uses.
 *
 * Each is a short formula around exp, sin and cos or a polynomial, without a low part carried
 * along: two or three roundings more than those, hence errors up to 2.5 ulp. Odd functions are
 * computed of |x| and get the sign back, so that f(-x) = -f(x) to the bit. The square root is the
 * machine's, which IEEE 754 rounds correctly. */

SL_INLINE dvec with_sign_of(dvec size_of, dvec x) {
    return (dvec)((ulvec)size_of | ((ulvec)x & SIGN_BIT));
}
SL_INLINE dvec or_nan(ulvec real, dvec y) { return d_choose(real, y, (dvec)u_set(NAN_BITS)); }

/* The sine over the cosine, or in odd quadrants its negative inverse. */
SL_INLINE dvec tan_lanes(dvec x) {
    dvec s, c;
    ulvec quadrant, finite;
    wave_lanes(&s, &c, &quadrant, &finite, x);
    ulvec odd = -(quadrant & 1);
    dvec y = d_choose(odd, -c, s) / d_choose(odd, s, c);
    // where x^3/3 is below half an ulp the tangent is x, which keeps -0 and subnormals
    return or_nan(finite, d_choose((ulvec)(size(x) < 0x1p-28), x, y));
}

/* sinh and cosh of |x| <= 1, x >= 0. */
SL_INLINE dvec small_sinh(dvec x) {
    const double *p = SINH_POLY;
    dvec z = x * x, z2 = z * z;
    dvec q = (p[0] + p[1] * z) + ((p[2] + p[3] * z) + ((p[4] + p[5] * z) + p[6] * z2) * z2) * z2;
    return x + (x * z) * q;
}

SL_INLINE dvec small_cosh(dvec x) {
    const double *p = COSH_POLY;
    dvec z = x * x, z2 = z * z;
    dvec q = (p[0] + p[1] * z) + ((p[2] + p[3] * z) + ((p[4] + p[5] * z) + p[6] * z2) * z2) * z2;
    return 1.0 + (0.5 * z + z2 * q);
}

/* exp(x)/2 - exp(-x)/2; below 1 that cancels and a polynomial takes its place. */
SL_INLINE dvec sinh_lanes(dvec x) {
    dvec a = size(x), half = exp_shifted(a, -1);
    dvec y = d_choose((ulvec)(a < 1.0), small_sinh(a), half - 0.25 / half);
    return or_nan((ulvec)(x == x), with_sign_of(y, x));
}

SL_INLINE dvec cosh_lanes(dvec x) {
    dvec half = exp_shifted(size(x), -1);
    return or_nan((ulvec)(x == x), half + 0.25 / half);
}

/* 1 - 2 / (exp(2 x) + 1), or below 1 the quotient of the polynomials. */
SL_INLINE dvec tanh_lanes(dvec x) {
    dvec a = size(x);
    dvec near = small_sinh(a) / small_cosh(a), far = 1.0 - 2.0 / (exp_lanes(2.0 * a) + 1.0);
    return or_nan((ulvec)(x == x), with_sign_of(d_choose((ulvec)(a < 1.0), near, far), x));
}

/* Three pieces, so that |t| <= tan(pi/8):   atan(t);   pi/4 + atan(t), t = (x - 1)/(x + 1);
 * pi/2 + atan(t), t = -1/x. */
SL_INLINE dvec atan_lanes(dvec x) {
    dvec a = size(x);
    ulvec middle = (ulvec)(a > 0x1.a827999fcef32p-2), large = (ulvec)(a > 0x1.3504f333f9de6p+1);
    dvec above = d_choose(large, d_set(-1.0), d_choose(middle, a - 1.0, a));
    dvec below = d_choose(large, a, d_choose(middle, a + 1.0, d_set(1.0)));
    dvec part = d_choose(large, d_set(1.0), d_choose(middle, d_set(0.5), d_set(0.0))); // of pi/2
    dvec t = above / below, z = t * t, z2 = z * z, z4 = z2 * z2;
    const double *p = ATAN_POLY;
    dvec p03 = (p[0] + p[1] * z) + (p[2] + p[3] * z) * z2;
    dvec p47 = (p[4] + p[5] * z) + (p[6] + p[7] * z) * z2;
    dvec p8b = (p[8] + p[9] * z) + (p[10] + p[11] * z) * z2;
    dvec q = p03 + (p47 + p8b * z4) * z4;
    dvec y = part * HALF_PI_HI + (t + ((t * z) * q + part * HALF_PI_LO));
    return or_nan((ulvec)(x == x), with_sign_of(y, x));
}

/* asin(t) of t in [0, 1/2], where z = t^2. */
SL_INLINE dvec small_asin(dvec t, dvec z) {
    const double *p = ASIN_POLY;
    dvec z2 = z * z, z4 = z2 * z2;
    dvec p03 = (p[0] + p[1] * z) + (p[2] + p[3] * z) * z2;
    dvec p47 = (p[4] + p[5] * z) + (p[6] + p[7] * z) * z2;
    dvec p8c = (p[8] + p[9] * z) + ((p[10] + p[11] * z) + p[12] * z2) * z2;
    return t + (t * z) * (p03 + (p47 + p8c * z4) * z4);
}

/* Of |x|; above 1/2 it is asin(sqrt((1 - |x|)/2)), half the angle that is missing to pi/2. */
SL_INLINE dvec half_angle(dvec a, ulvec large) {
    dvec z = d_choose(large, 0.5 * (1.0 - a), a * a);
    return small_asin(d_choose(large, d_sqrt(z), a), z);
}

SL_INLINE dvec asin_lanes(dvec x) {
    dvec a = size(x);
    ulvec large = (ulvec)(a > 0.5);
    dvec r = half_angle(a, large);
    dvec y = d_choose(large, HALF_PI_HI - (2.0 * r - HALF_PI_LO), r);
    return or_nan((ulvec)(a <= 1.0), with_sign_of(y, x));
}

SL_INLINE dvec acos_lanes(dvec x) {
    dvec a = size(x);
    ulvec large = (ulvec)(a > 0.5), negative = (ulvec)(x < 0.0);
    dvec r = half_angle(a, large);
    dvec middle = HALF_PI_HI - (with_sign_of(r, x) - HALF_PI_LO);
    dvec outer = d_choose(negative, 2.0 * HALF_PI_HI - (2.0 * r - 2.0 * HALF_PI_LO), 2.0 * r);
    return or_nan((ulvec)(a <= 1.0), d_choose(large, outer, middle));
}

DEFINE_ARRAY(tan_array, tan_lanes)
DEFINE_ARRAY(sinh_array, sinh_lanes)
DEFINE_ARRAY(cosh_array, cosh_lanes)
DEFINE_ARRAY(tanh_array, tanh_lanes)
DEFINE_ARRAY(atan_array, atan_lanes)
DEFINE_ARRAY(asin_array, asin_lanes)
DEFINE_ARRAY(acos_array, acos_lanes)
