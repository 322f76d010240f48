/* tan, the hyperbolic functions and the inverses of sin, cos and tan, on vectors of SL_MATH_LANES
 * doubles; a part of math_template.h, whose rules and helpers it uses.
 *
 * Each is a short formula around exp, sin and cos or a polynomial, without a low part carried along:
 * two or three roundings more than those, hence errors up to 2.5 ulp. Odd functions are computed
 * of |x| and get the sign back, so that f(-x) = -f(x) to the bit. The square root is the
 * machine's, which IEEE 754 rounds correctly. */

INLINE vd with_sign_of(vd size_of, vd x) { return (vd)((vu)size_of | ((vu)x & SIGN_BIT)); }
INLINE vd or_nan(vu real, vd y) { return pick(real, y, (vd)all_bits(NAN_BITS)); }

INLINE vd root(vd x) {
    for (int i = 0; i < SL_MATH_LANES; i++) x[i] = sqrt(x[i]);
    return x;
}

/* The sine over the cosine, or in odd quadrants its negative inverse. */
INLINE vd tan_lanes(vd x) {
    vd s, c;
    vu quadrant, finite;
    wave_lanes(&s, &c, &quadrant, &finite, x);
    vu odd = -(quadrant & 1);
    vd y = pick(odd, -c, s) / pick(odd, s, c);
    // where x^3/3 is below half an ulp the tangent is x, which keeps -0 and subnormals
    return or_nan(finite, pick((vu)(size(x) < 0x1p-28), x, y));
}

/* sinh and cosh of |x| <= 1, x >= 0. */
INLINE vd small_sinh(vd x) {
    const double *p = SINH_POLY;
    vd z = x * x, z2 = z * z;
    vd q = (p[0] + p[1] * z) + ((p[2] + p[3] * z) + ((p[4] + p[5] * z) + p[6] * z2) * z2) * z2;
    return x + (x * z) * q;
}

INLINE vd small_cosh(vd x) {
    const double *p = COSH_POLY;
    vd z = x * x, z2 = z * z;
    vd q = (p[0] + p[1] * z) + ((p[2] + p[3] * z) + ((p[4] + p[5] * z) + p[6] * z2) * z2) * z2;
    return 1.0 + (0.5 * z + z2 * q);
}

/* exp(x)/2 - exp(-x)/2; below 1 that cancels and a polynomial takes its place. */
INLINE vd sinh_lanes(vd x) {
    vd a = size(x), half = exp_shifted(a, -1);
    vd y = pick((vu)(a < 1.0), small_sinh(a), half - 0.25 / half);
    return or_nan((vu)(x == x), with_sign_of(y, x));
}

INLINE vd cosh_lanes(vd x) {
    vd half = exp_shifted(size(x), -1);
    return or_nan((vu)(x == x), half + 0.25 / half);
}

/* 1 - 2 / (exp(2 x) + 1), or below 1 the quotient of the polynomials. */
INLINE vd tanh_lanes(vd x) {
    vd a = size(x);
    vd near = small_sinh(a) / small_cosh(a), far = 1.0 - 2.0 / (exp_lanes(2.0 * a) + 1.0);
    return or_nan((vu)(x == x), with_sign_of(pick((vu)(a < 1.0), near, far), x));
}

/* Three pieces, so that |t| <= tan(pi/8):   atan(t);   pi/4 + atan(t), t = (x - 1)/(x + 1);
 * pi/2 + atan(t), t = -1/x. */
INLINE vd atan_lanes(vd x) {
    vd a = size(x);
    vu middle = (vu)(a > 0x1.a827999fcef32p-2), large = (vu)(a > 0x1.3504f333f9de6p+1);
    vd above = pick(large, all(-1.0), pick(middle, a - 1.0, a));
    vd below = pick(large, a, pick(middle, a + 1.0, all(1.0)));
    vd part = pick(large, all(1.0), pick(middle, all(0.5), all(0.0))); // of pi/2
    vd t = above / below, z = t * t, z2 = z * z, z4 = z2 * z2;
    const double *p = ATAN_POLY;
    vd p03 = (p[0] + p[1] * z) + (p[2] + p[3] * z) * z2;
    vd p47 = (p[4] + p[5] * z) + (p[6] + p[7] * z) * z2;
    vd p8b = (p[8] + p[9] * z) + (p[10] + p[11] * z) * z2;
    vd q = p03 + (p47 + p8b * z4) * z4;
    vd y = part * HALF_PI_HI + (t + ((t * z) * q + part * HALF_PI_LO));
    return or_nan((vu)(x == x), with_sign_of(y, x));
}

/* asin(t) of t in [0, 1/2], where z = t^2. */
INLINE vd small_asin(vd t, vd z) {
    const double *p = ASIN_POLY;
    vd z2 = z * z, z4 = z2 * z2;
    vd p03 = (p[0] + p[1] * z) + (p[2] + p[3] * z) * z2;
    vd p47 = (p[4] + p[5] * z) + (p[6] + p[7] * z) * z2;
    vd p8c = (p[8] + p[9] * z) + ((p[10] + p[11] * z) + p[12] * z2) * z2;
    return t + (t * z) * (p03 + (p47 + p8c * z4) * z4);
}

/* Of |x|; above 1/2 it is asin(sqrt((1 - |x|)/2)), half the angle that is missing to pi/2. */
INLINE vd half_angle(vd a, vu large) {
    vd z = pick(large, 0.5 * (1.0 - a), a * a);
    return small_asin(pick(large, root(z), a), z);
}

INLINE vd asin_lanes(vd x) {
    vd a = size(x);
    vu large = (vu)(a > 0.5);
    vd r = half_angle(a, large);
    vd y = pick(large, HALF_PI_HI - (2.0 * r - HALF_PI_LO), r);
    return or_nan((vu)(a <= 1.0), with_sign_of(y, x));
}

INLINE vd acos_lanes(vd x) {
    vd a = size(x);
    vu large = (vu)(a > 0.5), negative = (vu)(x < 0.0);
    vd r = half_angle(a, large);
    vd middle = HALF_PI_HI - (with_sign_of(r, x) - HALF_PI_LO);
    vd outer = pick(negative, 2.0 * HALF_PI_HI - (2.0 * r - 2.0 * HALF_PI_LO), 2.0 * r);
    return or_nan((vu)(a <= 1.0), pick(large, outer, middle));
}

DEFINE_ARRAY(tan_array, tan_lanes)
DEFINE_ARRAY(sinh_array, sinh_lanes)
DEFINE_ARRAY(cosh_array, cosh_lanes)
DEFINE_ARRAY(tanh_array, tanh_lanes)
DEFINE_ARRAY(atan_array, atan_lanes)
DEFINE_ARRAY(asin_array, asin_lanes)
DEFINE_ARRAY(acos_array, acos_lanes)
