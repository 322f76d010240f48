/* The text of every kernel; the including file defines KERNELS, the name of the table to make, and
 * KERNELS_NAME, what to call it.
 *
 * Vectors are written out instead of being left to the auto-vectoriser: y may be an operand, and
 * tests for overlap would send those calls through the scalar loop. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "expr/kernels.h"

/* y = E, where E is written in the vectors or scalars u and w. */
#define LOOP(NAME, E, E1, U, U1, V, V1)                                           \
    static void NAME(double *y, const double *a, const double *b, int n) {        \
        const double sa = a[0], sb = b[0];                                        \
        const dvec va = d_set(sa), vb = d_set(sb);                                \
        (void)va, (void)vb;                                                       \
        int i = 0;                                                                \
        for (; i + WD <= n; i += WD) {                                      \
            const dvec u = U, w = V;                                              \
            d_store(y + i, E);                                                    \
        }                                                                         \
        for (; i < n; i++) {                                                      \
            const double u = U1, w = V1;                                          \
            y[i] = E1;                                                            \
        }                                                                         \
    }
#define LOOP_VV(NAME, E, E1) LOOP(NAME, E, E1, d_load(a + i), a[i], d_load(b + i), b[i])
#define LOOP_VS(NAME, E, E1) LOOP(NAME, E, E1, d_load(a + i), a[i], vb, sb)
#define LOOP_SV(NAME, E, E1) LOOP(NAME, E, E1, va, sa, d_load(b + i), b[i])

// all bits set is a NaN, so zero divisors are or-ed into the quotient
#define QUOTIENT ((dvec)((lvec)(u / w) | (lvec)(w == 0.0)))
#define QUOTIENT1 (w == 0 ? (double)NAN : u / w)

LOOP_VV(run_ADD, u + w, u + w)
LOOP_VS(run_ADD_VS, u + w, u + w)
LOOP_VV(run_SUB, u - w, u - w)
LOOP_VS(run_SUB_VS, u - w, u - w)
LOOP_SV(run_SUB_SV, u - w, u - w)
LOOP_VV(run_MUL, u * w, u * w)
LOOP_VS(run_MUL_VS, u * w, u * w)
LOOP_VV(run_DIV, QUOTIENT, QUOTIENT1)
LOOP_VS(run_DIV_VS, QUOTIENT, QUOTIENT1)
LOOP_SV(run_DIV_SV, QUOTIENT, QUOTIENT1)

static void run_COPY(double *y, const double *a, const double *b, int n) {
    (void)b;
    memmove(y, a, (size_t)n * sizeof *y);
}

static void run_FILL(double *y, const double *a, const double *b, int n) {
    (void)b;
    const double s = *a;
    for (int i = 0; i < n; i++) y[i] = s;
}

static void run_SQRT(double *y, const double *a, const double *b, int n) {
    (void)b;
    int i = 0;
    for (; i + WD <= n; i += WD) d_store(y + i, d_sqrt(d_load(a + i)));
    for (; i < n; i++) y[i] = sqrt(a[i]);
}

static void run_ONE_NAN(double *y, const double *a, const double *b, int n) {
    (void)b;
    int i = 0;
    for (; i + WD <= n; i += WD) {
        const dvec u = d_load(a + i);
        d_store(y + i, d_choose((ulvec)(u == u), u, d_set((double)NAN)));
    }
    for (; i < n; i++) y[i] = isnan(a[i]) ? (double)NAN : a[i];
}

#define FUNCTION(id, array)                                                          \
    static void run_##id(double *y, const double *a, const double *b, int n) {       \
        (void)b;                                                                     \
        array(y, a, n);                                                              \
    }
FUNCTION(EXP, sl_exp_array)
FUNCTION(LOG, sl_log_array)
FUNCTION(SIN, sl_sin_array)
FUNCTION(COS, sl_cos_array)
FUNCTION(TAN, sl_tan_array)
FUNCTION(TANH, sl_tanh_array)
FUNCTION(SINH, sl_sinh_array)
FUNCTION(COSH, sl_cosh_array)
FUNCTION(ASIN, sl_asin_array)
FUNCTION(ACOS, sl_acos_array)
FUNCTION(ATAN, sl_atan_array)

static void run_LN(double *y, const double *a, const double *b, int n) {
    (void)b;
    sl_log_array(y, a, n);
    for (int i = 0; i < n; i++) y[i] = y[i] == -(double)INFINITY ? (double)NAN : y[i];
}

static void run_ABS(double *y, const double *a, const double *b, int n) {
    (void)b;
    for (int i = 0; i < n; i++) y[i] = fabs(a[i]);
}

/* a^b with operands that stand `step_a` and `step_b` apart, 0 for a scalar. The logarithm of a
 * negative number is NaN and stays so; that of 0 is -inf, which comes out as 0 for b > 0. Results
 * go through a buffer, since y may be an operand. */
static void raise_all(double *y, const double *a, int step_a, const double *b, int step_b, int n) {
    enum { PART = 64 };
    double base[PART], exponent[PART];
    for (int from = 0; from < n; from += PART) {
        const int m = n - from < PART ? n - from : PART;
        for (int i = 0; i < m; i++) {
            base[i] = a[(from + i) * step_a];
            exponent[i] = b[(from + i) * step_b];
        }
        double power[PART];
        sl_log_array(power, base, m);
        for (int i = 0; i < m; i++) power[i] *= exponent[i];
        sl_exp_array(power, power, m);
        for (int i = 0; i < m; i++)
            y[from + i] = base[i] == 0 && exponent[i] <= 0 ? (double)NAN : power[i];
    }
}

static void run_RAISE(double *y, const double *a, const double *b, int n) {
    raise_all(y, a, 1, b, 1, n);
}
static void run_RAISE_VS(double *y, const double *a, const double *b, int n) {
    const double s = *b;
    raise_all(y, a, 1, &s, 0, n);
}
static void run_RAISE_SV(double *y, const double *a, const double *b, int n) {
    const double s = *a;
    raise_all(y, &s, 0, b, 1, n);
}

const sl_expr__kernels KERNELS = {
    KERNELS_NAME,
    {
#define X(id) run_##id,
        SL_EXPR__KERNELS(X)
#undef X
    },
};
