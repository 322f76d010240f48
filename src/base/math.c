/* math - exp, sin and log for two lanes, one value at a time, and the choice of a wider variant. */
#include "base/base.h"

#define SL_MATH_LANES 2
#include "base/math_template.h"

const sl_math__variant sl_math__baseline = { "x86-64",  exp_array, sin_array,
                                             log_array, cos_array, sincos_array };

/* The list is short and the test of a CPU feature is one load, so nothing is remembered: no state,
 * nothing to initialise, nothing for threads to race on. */
const sl_math__variant *sl_math__usable(int i) {
    const sl_math__variant *list[4] = { &sl_math__baseline };
    int n = 1;
    if (__builtin_cpu_supports("avx2")) list[n++] = &sl_math__avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        list[n++] = &sl_math__avx512;
    return i < n ? list[i] : NULL;
}

static const sl_math__variant *best(void) {
    const sl_math__variant *v = &sl_math__baseline, *next;
    for (int i = 1; (next = sl_math__usable(i)) != NULL; i++) v = next;
    return v;
}

void sl_exp_array(double *y, const double *x, int n) { best()->exp(y, x, n); }
void sl_sin_array(double *y, const double *x, int n) { best()->sin(y, x, n); }
void sl_log_array(double *y, const double *x, int n) { best()->log(y, x, n); }
void sl_cos_array(double *y, const double *x, int n) { best()->cos(y, x, n); }
void sl_sincos_array(double *sine, double *cosine, const double *x, int n) {
    best()->sincos(sine, cosine, x, n);
}

double sl_exp(double x) { return exp_lanes(all(x))[0]; }
double sl_sin(double x) { return sin_lanes(all(x))[0]; }
double sl_cos(double x) { return cos_lanes(all(x))[0]; }
double sl_log(double x) { return log_lanes(all(x))[0]; }
