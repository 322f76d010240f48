/* Shared by fitting and snapping: a formula with free constants as code, the rows it is fitted to,
 * and the fit itself. */
#ifndef SL_FIT_IMPL_H
#define SL_FIT_IMPL_H

#include "fit/fit.h"
#include "num/num.h"

/* By base's logarithm: the same bits on every machine. */
double sl_fit__log2(double x);

double sl_fit__log_mean(const double *v, int64_t n); // geometric mean

/* Of functions: abs has the unit of its argument, all others need a number and are one. */
#define SL_FIT__KEEPS_UNIT(op) ((op) == SL_OP_ABS)

/* An exact number: a fraction or its root, with its sign, times a power of pi (exact.c). */
typedef struct sl_fit__exact {
    sl_rat times;
    int shape; // 0: the fraction alone
} sl_fit__exact;
#define SL_FIT__SHAPES 14
double sl_fit__exact_value(sl_fit__exact x);
const sl_node *sl_fit__exact_expr(sl_arena *a, sl_fit__exact x); // raw; NULL without memory
/* *out := the cheapest number within the tolerance of v, of shapes from `first` on and of fewer
 * than `bits_most` bits, if there is one. */
SL_NODISCARD sl_status sl_fit__near_exact(bool *found, sl_fit__exact *out, sl_arena *scratch,
                                          double v, double tolerance, int first, double bits_most);
/* *out := e with constant k the number v, and value[0..*n-1] moved along with those that are left.
 * Constants that tidying has taken away, as in 0*c2, go too. */
SL_NODISCARD sl_status sl_fit__put_exact(const sl_node **out, double *value, int *n, sl_arena *a,
                                         const sl_node *e, int k, sl_fit__exact v);

/* A formula of n free constants, compiled once for many values of them. The constants in `linear`
 * enter jointly linearly: none of them is in a derivative by one of them. For given values of the
 * others, `nonlinear`, they are a linear least-squares problem. */
typedef struct sl_fit__code {
    const sl_node *expr;
    int n;
    const sl_program *value;
    const sl_program *slope[SL_FIT_MAX_PARAMS]; // by constant k + 1
    int n_linear, linear[SL_FIT_MAX_PARAMS];    // k, counted from 0
    int n_nonlinear, nonlinear[SL_FIT_MAX_PARAMS];
} sl_fit__code;

/* SL_ELIMIT, SL_EOVERFLOW: a derivative is too large. */
SL_NODISCARD sl_status sl_fit__compile(sl_fit__code *out, sl_arena *a, const sl_node *expr, int n);

/* The rows of a fit. Residuals are measured in a unit of the size of y's spread, so that squares of
 * 1e200 and 1e-200 are numbers; where rows have a sigma, that is divided by it, in units of its
 * geometric mean. */
typedef struct sl_fit__rows {
    int m;
    const double *x[SL_DATA_MAX_INPUTS];
    const double *y;
    const double *scale; // residual = scale[i] * (value - y)
    double unit;         // a power of two: scale of a row of mean sigma
    double sigma;        // that mean; 0: rows have none, or only ratios of it mean something
    double sst;          // of scaled y
    double size; // the median of |y|
} sl_fit__rows;

/* One descent: code and rows, room for their columns, and what it has cost so far. */
typedef struct sl_fit__descent {
    const sl_fit__code *code;
    const sl_fit__rows *rows;
    const sl_refine_options *o;
    sl_arena *scratch;
    double *col[SL_FIT_MAX_PARAMS + 1]; // m each, as many as constants and one
    double exact; // a sum of squares that is only rounding
    double last;  // the latest sum of squares
    int evaluations;
    bool stopped;
} sl_fit__descent;

/* Moves place[], n constants, to a minimum of the sum of squares *sse of `residuals`. Where the
 * start is outside the domain, *sse is infinite and place unchanged. error may be NULL. Ends early
 * on a request to stop, or when d->last, the latest sum of squares that `residuals` stores, is only
 * rounding. */
SL_NODISCARD sl_status sl_fit__minimize(sl_fit__descent *d, double *place, double *error,
                                        double *sse, int evaluations, int n, sl_nls_fn residuals,
                                        void *payload);

/* Over the nonlinear constants alone, with the best linear ones for each of their values. */
SL_NODISCARD sl_status sl_fit__projected(sl_fit__descent *d, double *value, double *sse,
                                         int evaluations);
/* Over all constants, by residuals that are continuous at poles. */
SL_NODISCARD sl_status sl_fit__circle(sl_fit__descent *d, double *value, int evaluations);

/* ---------------------------------------------------------------- the whole ----------------- */

#define SL_FIT__GOOD 1e-10 // 1 - R2 that needs no further start

/* *out := expr (tidy, n free constants) fitted to p from `start`, and o->restarts times from values
 * around it; restarts -1: without the circle, for a start that is nearly right. R2 is that of all
 * rows, NaN where no start is inside the domain: then values are those of the start. */
SL_NODISCARD sl_status sl_fit__run(sl_fit *out, sl_arena *a, const sl_node *expr, int n,
                                   const double *start, const sl_dataset *p,
                                   const sl_refine_options *o);

/* *out := expr with n constants of these values, in a, and nothing known of errors and R2. */
SL_NODISCARD sl_status sl_fit__put(sl_fit *out, sl_arena *a, const sl_node *expr,
                                   const double *value, int n);

/* An expression with these values of its constants on all rows: R2, and what it leaves unexplained,
 * which is 1 - R2, or where y is constant the part of y's squares that is left. Both NaN where a
 * value is not real. */
SL_NODISCARD sl_status sl_fit__score(double *r2, double *loss, const sl_node *expr,
                                     const double *value, const sl_dataset *p);

#endif
