/* num - numerical methods shared by the other folders: least squares, Akima, statistics, bootstrap.
 *
 * Small on purpose: what fitting constants, scoring candidates and fitting scaling laws to a table
 * of runs need, each by one robust method.
 *
 *   linear       QR by Householder reflections with column pivoting. Columns are scaled by powers
 *                of two first, so the rank that is found does not depend on a column's unit.
 *   non-linear   Levenberg-Marquardt, MINPACK's. Formulas leave their domain (log of a negative, a
 *                pole, an overflow); a step that does is rejected and a shorter one tried. The
 *                result is the best finite point that was evaluated.
 *   Akima        the interpolation of hyper-parameter sweeps: local, no overshoot next to a kink.
 *   bootstrap    percentile intervals of a statistic's values.
 *
 * Matrices are lists of columns, `col[j][i]` being row i of column j: a column is what evaluating
 * an expression over a table gives, and what a reflection works on.
 *
 * Errors: a status reports lack of memory or a callback that failed. Mathematical failures are
 * values: a result that cannot be computed is NaN, a parameter that is not determined has an
 * infinite standard error, and a NaN or an infinity among the data makes the result NaN. Invalid
 * sizes are assertions.
 *
 * Memory: `scratch` is used and rewound before return. Threads: no shared state; one arena each.
 * Least squares and Akima use only + - * / and the square root, so these fits are the same bits on
 * every CPU. Distributions use libm and may differ. */
#ifndef SL_NUM_H
#define SL_NUM_H

#include "base/base.h"

typedef struct sl_interval {
    double lo, hi;
} sl_interval;

/* ---------------------------------------------------------------- linear least squares ------ */

typedef struct sl_lsq {
    int rank;   // columns found independent; the others got coefficient 0
    double sse; // weighted sum of squared residuals
} sl_lsq;

/* coef[j] minimise  sum_i w[i] (y[i] - sum_j coef[j] col[j][i])^2.   m rows, n columns, both >= 0.
 *
 * w: weights, that is 1/variance up to a common factor; NULL for all 1; a row of weight 0 is
 * ignored. se: standard errors of the coefficients, or NULL. The common factor is estimated from
 * the residuals; NaN when no degree of freedom is left for that, infinite for a column left out.
 * A column is left out when its part orthogonal to the columns before it has at most about
 * max(m,n) * 2^-50 of its length; which of two equal columns stays is unspecified.
 * A NaN, an infinity or a negative weight anywhere: everything NaN, rank 0. */
SL_NODISCARD sl_status sl_num_lsq_fit(sl_lsq *out, double *coef, double *se, sl_arena *scratch,
                                  const double *const *col, const double *y, const double *w, int m,
                                  int n);

/* The same with all coef[j] >= 0, by the active set method of Lawson and Hanson: a unique minimum
 * where the columns are independent, no starting point. *sse: the weighted sum of squares. A NaN,
 * an infinity or a negative weight anywhere: everything NaN. */
SL_NODISCARD sl_status sl_num_nnls_fit(double *sse, double *coef, sl_arena *scratch,
                                   const double *const *col, const double *y, const double *w,
                                   int m, int n);

/* ---------------------------------------------------------------- non-linear least squares -- */

/* Fills either the residuals r[i] at the parameters p or their derivatives jac[k][i] = dr[i]/dp[k];
 * the other pointer is NULL. Outside the domain a residual is NaN or infinite, with SL_OK; another
 * status ends the fit, which returns it. */
typedef sl_status (*sl_nls_fn)(double *r, double *const *jac, const double *p, void *payload);

typedef struct sl_nls_options {
    int max_evaluations; // of the residuals; derivatives are evaluated less often
    double ftol;         // converged when the sum of squares falls by less than this part of it,
    double xtol;         // or the parameters move by less than this part of them,
    double gtol;         // or the cosine between residuals and every derivative is below this
    bool (*stop)(void *stop_payload); // called before each evaluation; may be NULL
    void *stop_payload;
} sl_nls_options;

#define SL_NLS_OPTIONS_INIT \
    { .max_evaluations = 200, .ftol = 1e-12, .xtol = 1e-12, .gtol = 0 }

typedef enum sl_nls_end {
    SL_NLS_CONVERGED,   // or no further progress possible in double precision
    SL_NLS_EVALUATIONS, // max_evaluations are used up
    SL_NLS_STOPPED,     // stop returned true
    SL_NLS_DOMAIN,      // the start is outside the domain; nothing was tried
} sl_nls_end;

typedef struct sl_nls {
    sl_nls_end end;
    int evaluations;
    double sse; // at the answer; infinite when no point was inside the domain
} sl_nls;

/* Moves p[0..n-1] from its start to a minimum of the sum of squares of m residuals: the best finite
 * point seen, never worse than the start. m >= 1; n may be 0 and may exceed m. A derivative that is
 * not finite counts as 0. Weights are applied by the callback, which scales r and jac. The sum of
 * squares must fit a double, so residuals past 1e150 count as outside the domain.
 *
 * se: standard errors from the derivatives at the result, or NULL (which saves one evaluation of
 * them). NaN when no degree of freedom is left to estimate the noise, infinite for a parameter that
 * the data do not determine. opt NULL: the defaults. On failure p is unchanged. */
SL_NODISCARD sl_status sl_num_nls_fit(sl_nls *out, double *p, double *se, sl_arena *scratch,
                                  const sl_nls_options *opt, int m, int n, sl_nls_fn fn,
                                  void *payload);

/* ---------------------------------------------------------------- Akima interpolation ------- */

/* Cubic pieces through (x[i], y[i]) whose slope at a point is a mean of the slopes on either side,
 * weighted towards the side that bends less (Akima 1970, with SciPy's rule for ties). */
typedef struct sl_akima {
    const double *x, *y; // borrowed from the caller
    const double *slope; // in the arena
    int n;
} sl_akima;

/* n >= 2 points, two make a straight line. SL_EINVAL unless x strictly increases. */
SL_NODISCARD sl_status sl_num_akima_init(sl_akima *out, sl_arena *a, const double *x,
                                         const double *y, int n);

/* The value at `at`; NaN outside [x[0], x[n-1]]: a cubic does not extrapolate. */
double sl_num_akima_at(const sl_akima *s, double at);

/* ---------------------------------------------------------------- statistics ---------------- */

double sl_num_mean(const double *x, int64_t n);     // NaN for n = 0
double sl_num_variance(const double *x, int64_t n); // of a sample: over n - 1; NaN below two values

void sl_num_sort(double *x, int64_t n); // ascending, NaN last

/* A number and where it stands in a list. */
typedef struct sl_keyed {
    double key;
    int64_t at;
} sl_keyed;
void sl_num_sort_keyed(sl_keyed *list, int64_t n); // ascending, equal numbers by place; no NaN

/* Linear between order statistics, as NumPy by default; x is sorted as by sl_num_sort, q in [0, 1].
 * NaN if there is a NaN among x, or nothing. Never decreases in q. */
double sl_num_quantile(const double *x, int64_t n, double q);
double sl_num_median(double *x, int64_t n); // sorts x

/* Coefficient of determination, 1 - SSE/SST with SST about the mean of y:
 *   fewer than 2 points, or a NaN or infinity in prediction or y     NaN  (rank it as -infinity)
 *   prediction equals y everywhere                                   1    (also for constant y)
 *   y constant, prediction not                                       0
 * Free of overflow and underflow; -infinity when the true value is below all doubles. */
double sl_num_r2(const double *prediction, const double *y, int64_t n);

/* Wilson's interval for a probability that gave `hits` in n trials, at a level such as 0.95. Hits
 * may be a mean and need not be whole. Without trials: [0, 1]. */
sl_interval sl_num_wilson(double hits, int64_t n, double level);

double sl_num_normal_cdf(double x);
double sl_num_normal_quantile(double p);     // inverse of the above; NaN outside [0, 1]
/* P(X >= x), X chi-square with k > 0 degrees of freedom. */
double sl_num_chi2_tail(double x, double k);

/* P(X >= x), X of Fisher's F distribution with m and n > 0 degrees of freedom. */
double sl_num_f_tail(double x, double m, double n);

/* P(D >= d) for the two-sided Kolmogorov-Smirnov distance of n values to their true distribution:
 * the limit law with Vrbik's correction, within 0.03/n of the exact one from n = 10 on. */
double sl_num_ks_tail(double d, int64_t n);
/* p-value of "u are independent and uniform on [0, 1]"; sorts u. Other laws: pass cdf values. */
double sl_num_ks_uniform(double *u, int64_t n);

/* ---------------------------------------------------------------- bootstrap ----------------- */

typedef struct sl_boot {
    double lo, median, hi; // NaN when fewer than half of the draws had a value
    int valid;             // draws that had one
} sl_boot;

/* The percentile interval of a statistic's values over all draws, which are reordered; NaN is a
 * draw that had none. */
sl_boot sl_num_boot_summary(double *values, int draws, double level);

#endif
