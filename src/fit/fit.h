/* fit - the constants of a formula, from data.
 *
 *     formula -> numbers become free constants -> least squares -> exact numbers again
 *
 * sl_fit_refine frees the numbers of a formula and moves them, by Levenberg-Marquardt with exact
 * derivatives, from where they were to the least squares; what enters linearly is solved for.
 * sl_fit_snap makes exact numbers of constants where that costs no accuracy. How descents pass
 * poles and leave domains: docs/math/refine.md. Which of two formulas explains the data better is
 * decided by sl_fit_describe alone.
 *
 * Where rows have a sigma, squares are weighted by 1/sigma^2, in fits and in R2; standard errors
 * are by sigma itself where it is absolute, and by the residuals otherwise.
 *
 * R2 follows sl_num_r2, in double. A formula that is not real and finite in all rows has none.
 *
 * Ownership: fits live in the arena that they were made in. Threads: none shared. */
#ifndef SL_FIT_H
#define SL_FIT_H

#include "data/data.h"
#include "expr/expr.h"

#define SL_FIT_MAX_PARAMS 24 // constants of one formula that are fitted

/* ---------------------------------------------------------------- fitting ------------------- */

typedef struct sl_refine_options {
    int evaluations; // of one fit
    int restarts;    // further starts, constants drawn around the first ones, while R2 < 1 - 1e-10;
                     // -1: not even the first one again by the circle (docs/math/refine.md)
    uint64_t seed, stream; // of those draws
    bool (*stop)(void *payload); // may be NULL; called from the thread that fits
    void *payload;
} sl_refine_options;

typedef struct sl_fit {
    const sl_node *expr; // with free constants; tidy
    int params;
    double *value, *error;
    double r2;
    int evaluations, starts;
    bool stopped;
} sl_fit;

/* R2 of a formula's values on all rows: as sl_num_r2, each row weighted by 1/sigma^2 where rows
 * have one. */
double sl_fit_r2(const double *value, const sl_dataset *p);

/* *out := e with constants fitted to p, in a; r2 is never below that of e itself, and if nothing
 * better is found the constants are e's. e may have free constants already, with `start` their
 * values; its numbers become free too (sl_expr_free_numbers). */
SL_NODISCARD sl_status sl_fit_refine(sl_fit *out, sl_arena *a, const sl_node *e,
                                     const double *start, const sl_dataset *p,
                                     const sl_refine_options *o);

/* The same with the numbers of e left as they are: only its `params` free constants move. */
SL_NODISCARD sl_status sl_fit_constants(sl_fit *out, sl_arena *a, const sl_node *e, int params,
                                        const double *start, const sl_dataset *p,
                                        const sl_refine_options *o);

/* The same with a factor and a summand around e, a e + b, and with a factor for each term of a sum:
 * for data in units that the model was not trained on. Kept only if its description length is
 * shorter; otherwise *out is the plain fit. */
SL_NODISCARD sl_status sl_fit_refine_wide(sl_fit *out, sl_arena *a, const sl_node *e,
                                          const double *start, const sl_dataset *p,
                                          const sl_refine_options *o);

/* Rounds constants of a fit to integers, fractions of small denominator, or such fractions of pi
 * and roots, one at a time, the closest first; the others are fitted again. A number is kept if R2
 * does not fall (beyond rounding; within half a standard error where there is noise) and the
 * description is shorter. *snapped: how many. A constant that becomes 0 or 1 drops out. */
SL_NODISCARD sl_status sl_fit_snap(sl_fit *fit, int *snapped, sl_arena *a, const sl_dataset *p,
                                   const sl_refine_options *o);

/* The decimal of fewest digits, nine at most, within 1e-12 of v by its size; v if there is none. */
double sl_fit_short_decimal(double v);

/* A formula with constants made exact numbers. */
typedef struct sl_fit_bound {
    const sl_node *expr;             // in the arena
    double value[SL_FIT_MAX_PARAMS]; // of the constants that are left
    int params, bound;               // left; made exact
} sl_fit_bound;
/* *out := e with constant `which` (from 0; -1: each) made the cheapest exact number within that
 * relative distance: a fraction or its root, either times a power of pi; as it is where there is
 * none. Nothing is fitted again: for constants that are accurate to nearly all digits. */
SL_NODISCARD sl_status sl_fit_bind(sl_fit_bound *out, sl_arena *a, const sl_node *e,
                                   const double *value, int params, int which, double tolerance);

/* ---------------------------------------------------------------- the criterion ------------- */

/* One criterion of choice, everywhere: description length in bits, the shortest wins. The code of a
 * formula is followed by that of its residuals:
 *
 *     structure    node by node, in prefix order, each at its price below; a variable costs log2 of
 *                  the number of inputs besides
 *     numbers      an exact p/q has probability 1/(2.5 p^2 q^2): small ones are cheap
 *     constants    a fitted one needs as many bits as its standard error leaves:
 *                  log2 |value/error|, at least log2(rows)/2 and at most the 52 of a double
 *     data         rows * log2(rms/resolution) where the errors of y are not known, of one size or
 *                  relative, whichever is shorter; chi^2/2 in bits where they are; all as a normal
 *                  law codes them
 *
 * Prices are those of a code: 2^-price over all nodes sums to at most 1, hence so does 2^-bits over
 * all formulas. That is what makes the choice safe: by chance alone, some formula saves e bits more
 * than it costs with probability 2^-e at most, however many are tried (docs/math/criterion.md).
 *
 *    node   bits   what for */
#define SL_FIT_PRICES(X)                                                        \
    X(VAR, 2.2, "a variable; log2(inputs) more")                                \
    X(MUL, 2.3, "each factor after the first")                                  \
    X(ADD, 2.7, "each term after the first")                                    \
    X(POW, 3.0, "a power; its exponent more")                                   \
    X(NUM, 4.0, "an exact number; its digits more")                             \
    X(PAR, 4.0, "a fitted constant, its sign and magnitude; its digits more")   \
    X(EXP, 6.0, "a function")                                                   \
    X(LOG, 6.0, "a function")                                                   \
    X(SIN, 6.0, "a function")                                                   \
    X(COS, 6.0, "a function")                                                   \
    X(PI, 6.0, "the number pi")                                                 \
    X(RAISE, 7.0, "a power whose exponent is no number")                        \
    X(TAN, 8.0, "a rarer function")                                             \
    X(TANH, 8.0, "a rarer function")                                            \
    X(SINH, 8.0, "a rarer function")                                            \
    X(COSH, 8.0, "a rarer function")                                            \
    X(ASIN, 8.0, "a rarer function")                                            \
    X(ACOS, 8.0, "a rarer function")                                            \
    X(ATAN, 8.0, "a rarer function")                                            \
    X(ABS, 8.0, "a rarer function")
#define SL_FIT_PRICE_SIGN 4.2 // a factor of -1, which is no number and joins nothing

/* Exponents have a code of their own.   id   numerator   denominator   bits */
#define SL_FIT_EXPONENTS(X)    \
    X(INVERSE, -1, 1, 1.7)     \
    X(SQUARE,   2, 1, 1.7)     \
    X(ROOT,     1, 2, 2.5)
#define SL_FIT_EXPONENT_NUMBER 2.5 // any other number; its digits more

/* Of the formula's operators and variables, of its exact numbers, of its fitted constants, and of
 * its residuals; total is their sum. */
typedef struct sl_bits {
    double structure, numbers, constants, data, total;
    double relative; // standard deviation of errors as a part of the formula's value, where nothing
                     // is known of them and that is the shorter description; 0: not relative
} sl_bits;

/* What is known of y's errors where the problem has no absolute sigma by row. With sigma and
 * relative both 0 they are not known and are estimated from the formula's residuals. */
typedef struct sl_noise {
    double sigma;     // standard deviation
    double relative;  // standard deviation as a part of |y|, independent of the former
    double precision; // relative size of y's rounding; 0: that of a double
} sl_noise;

/* *out := structure, numbers and constants of a formula over `inputs` columns; data 0. value and
 * error (NULL: not known) of its constants matter for their digits alone. */
void sl_fit_price(sl_bits *out, const sl_node *e, const double *value, const double *error,
                  int inputs, int64_t rows);

/* *out := the description length of f and of p's y by it. noise NULL: nothing is known. data and
 * total are infinite where f is not real in some row. Residuals below the precision, or below 256
 * roundings of a double, cost nothing: they depend on how the formula is evaluated. */
SL_NODISCARD sl_status sl_fit_describe(sl_bits *out, const sl_fit *f, const sl_dataset *p,
                                       const sl_noise *noise);

/* scale[] := what relative errors of a formula with these values are a part of: |f|, and where y
 * is of both signs or 0 somewhere at least a 64th of its rms. As sigma by row it makes fits
 * those of relative errors. */
void sl_fit_relative_scale(double *scale, const double *f, const sl_dataset *p);

/* The same total where R2 is all that is known of the residuals, less what all formulas of the
 * problem have in common. 1 - R2 below 1e-15 counts as 1e-15. */
double sl_fit_bits_by_r2(const sl_fit *f, int inputs, int64_t rows);

/* *out := bits by which y is shorter by the formula than by its own mean, less the formula's own
 * and those of the search that found it: log2(tried) of them, as far as its structure does not
 * pay for them already. By chance alone a formula as good is found once in 2^evidence. */
SL_NODISCARD sl_status sl_fit_evidence(double *out, const sl_bits *formula, const sl_dataset *p,
                                       const sl_noise *noise, double tried);

/* ---------------------------------------------------------------- a given formula ----------- */

/* Of the constants of a formula; each array has one value for each of them, or is NULL. */
typedef struct sl_curve_options {
    const double *start; // where `given`; the others are searched for
    const bool *given;
    const double *lo, *hi; // bounds; may be infinite
    double sigma;          // of y's errors, where rows have none of their own; 0: not known
    uint64_t seed;
    bool (*stop)(void *payload); // may be NULL
    void *payload;
} sl_curve_options;

typedef struct sl_curve {
    sl_fit fit;          // r2 NaN: no constants were found for which it is real in every row
    double *correlation; // of constants j and k: [j * params + k]; NaN where it is not known
    bool idle[SL_FIT_MAX_PARAMS]; // the constant changes no value; its error is infinite
    bool tied[SL_FIT_MAX_PARAMS]; // others can make up for it; its error is infinite
    int bound[SL_FIT_MAX_PARAMS]; // -1, 1: it is at its lower, upper bound
    int rank;            // directions in the space of constants that the data determine
    bool converged;
    double sse;          // sum of squares of (f - y)/sigma; sigma 1 where rows have none
    double rms;          // of f - y
    double chi2;         // NaN where sigma is not absolute
    double aic, bic;     // by normal errors; their size is one more constant where it is estimated
    sl_bits bits;
} sl_curve;

/* *out := e, tidy, with its `params` constants fitted to p, in a: least squares within the bounds.
 * Standard errors as SciPy's curve_fit: by sigma where it is absolute (absolute_sigma=True), else
 * scaled by the residual variance; NaN without a degree of freedom. The same values on every
 * machine. SL_ELIMIT, SL_EOVERFLOW: a derivative is too large. */
SL_NODISCARD sl_status sl_fit_curve(sl_curve *out, sl_arena *a, const sl_node *e, int params,
                                    const sl_dataset *p, const sl_curve_options *o);

/* ---------------------------------------------------------------- units --------------------- */

/* The dimensions of a formula and its constants. */
typedef struct sl_fit_dimensions {
    bool homogeneous;    // terms agree, arguments of functions are numbers, and the target's is met
    sl_dimension result; // of the formula; where it can be any, the target's or none
    sl_dimension constant[SL_FIT_MAX_PARAMS]; // that constants must have; where any will do, none
} sl_fit_dimensions;

/* *out := the dimensions of e's constants that make e homogeneous; homogeneous is false where there
 * are none: sums of unlike terms, or exponents that are not multiples of 1/60. Exact numbers are
 * numbers. A column whose unit is not known may have any. A power with a fitted exponent has a
 * dimension of its own unless its base is a number. */
SL_NODISCARD sl_status sl_fit_units(sl_fit_dimensions *out, sl_arena *scratch, const sl_node *e,
                                    const sl_units *units);

/* ---------------------------------------------------------------- ill-conditioned fits ------ */

/* *out := is the fit well conditioned? It needs two rows for each constant, and constants must not
 * compensate each other, as in 1e8*(x + 1e8)/(x - 1e8): such a fit diverges towards a simpler
 * formula. Measured by the change of values under a small change of one constant, relative to the
 * range of y. */
SL_NODISCARD sl_status sl_fit_is_steady(bool *out, sl_arena *scratch, const sl_fit *f,
                                        const sl_dataset *p);

/* *out := e with every subexpression without variables made one constant, and redundant constants
 * merged: 3 (c1 x + c2)^2 is c1 (x + c2)^2. *n of them, values in a. */
SL_NODISCARD sl_status sl_fit_collapse(const sl_node **out, double **value, int *n, sl_arena *a,
                                       const sl_node *e, const double *constants);

#endif
