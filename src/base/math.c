/* math - the elementary functions for two lanes, one value at a time, and the choice of a wider
 * variant. */
#include "base/base.h"

#define SL_MATH_LANES 2
#include "base/math_template.h"

const sl_math__variant sl_math__baseline = SL_MATH_VARIANT("x86-64");
#undef X

static const sl_math__variant *const variants[SL_ISA_COUNT] = { &sl_math__baseline, &sl_math__avx2,
                                                                &sl_math__avx512 };

const sl_math__variant *sl_math__usable(int i) {
    return i <= (int)sl_cpu_best() ? variants[i] : NULL;
}

static const sl_math__variant *chosen(void) { return variants[sl_cpu()]; }

#define X(f)                                                                         \
    void sl_##f##_array(double *y, const double *x, int n) { chosen()->f(y, x, n); } \
    double sl_##f(double x) { return f##_lanes(all(x))[0]; }
SL_MATH_FUNCTIONS(X)
#undef X

void sl_sincos_array(double *sine, double *cosine, const double *x, int n) {
    chosen()->sincos(sine, cosine, x, n);
}
