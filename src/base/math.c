/* math - the elementary functions for every CPU, one value at a time, and the choice of a wider
 * variant. */
#include "base/math_body.h"

const sl_math__variant sl_math__base = SL_MATH_VARIANT("base");
#undef X

static const sl_math__variant *const variants[SL_ISA_COUNT] =
    SL_ISA_VARIANTS(sl_math__base, sl_math__avx2, sl_math__avx512);

const sl_math__variant *sl_math__usable(int i) {
    return i <= (int)sl_cpu_best() ? variants[i] : NULL;
}

static const sl_math__variant *chosen(void) { return variants[sl_cpu()]; }

#define X(f)                                                                         \
    void sl_##f##_array(double *y, const double *x, int n) { chosen()->f(y, x, n); } \
    double sl_##f(double x) { return f##_lanes(d_set(x))[0]; }
SL_MATH_FUNCTIONS(X)
#undef X

void sl_sincos_array(double *sine, double *cosine, const double *x, int n) {
    chosen()->sincos(sine, cosine, x, n);
}
