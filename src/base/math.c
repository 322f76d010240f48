/* math - exp, sin and log for two lanes, one value at a time, and the choice of a wider variant. */
#include "base/base.h"

#define SL_MATH_LANES 2
#include "base/math_template.h"

const sl_math__variant sl_math__baseline = { "x86-64",  exp_array, sin_array,
                                             log_array, cos_array, sincos_array };

static const sl_math__variant *const variants[SL_ISA_COUNT] = { &sl_math__baseline, &sl_math__avx2,
                                                                &sl_math__avx512 };

const sl_math__variant *sl_math__usable(int i) {
    return i <= (int)sl_cpu_best() ? variants[i] : NULL;
}

static const sl_math__variant *chosen(void) { return variants[sl_cpu()]; }

void sl_exp_array(double *y, const double *x, int n) { chosen()->exp(y, x, n); }
void sl_sin_array(double *y, const double *x, int n) { chosen()->sin(y, x, n); }
void sl_log_array(double *y, const double *x, int n) { chosen()->log(y, x, n); }
void sl_cos_array(double *y, const double *x, int n) { chosen()->cos(y, x, n); }
void sl_sincos_array(double *sine, double *cosine, const double *x, int n) {
    chosen()->sincos(sine, cosine, x, n);
}

double sl_exp(double x) { return exp_lanes(all(x))[0]; }
double sl_sin(double x) { return sin_lanes(all(x))[0]; }
double sl_cos(double x) { return cos_lanes(all(x))[0]; }
double sl_log(double x) { return log_lanes(all(x))[0]; }
