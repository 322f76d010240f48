/* fit - the constants of a formula, from data.
 *
 *     formula -> numbers become free constants -> least squares -> exact numbers again
 *
 * sl_refine frees the numbers of a formula and moves them, by Levenberg-Marquardt with exact
 * derivatives, from where they were to the least squares; what enters linearly is solved for.
 * sl_snap makes exact numbers of constants where that costs no accuracy. How the walks go past
 * poles and domains: docs/math/refine.md.
 *
 * R2 follows sl_r2, in double. A formula that is not real and finite in all rows has none.
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

/* *out := e with constants fitted to p, in a; r2 is never below that of e itself, and if nothing
 * better is found the constants are e's. e may have free constants already, with `start` their
 * values; its numbers become free too (sl_expr_free_numbers). */
SL_NODISCARD sl_status sl_refine(sl_fit *out, sl_arena *a, const sl_node *e, const double *start,
                                 const sl_problem *p, const sl_refine_options *o);

/* The same with a factor and a summand around e, a e + b, and with a factor for each term of a sum:
 * for data whose units the model has never seen. Kept only if it is the better explanation by the
 * Bayesian information criterion; else *out is the plain fit. */
SL_NODISCARD sl_status sl_refine_wide(sl_fit *out, sl_arena *a, const sl_node *e,
                                      const double *start, const sl_problem *p,
                                      const sl_refine_options *o);

/* Constants of a fit, one at a time, the closest first, made whole numbers or fractions of small
 * denominator where that does not lower R2 (beyond rounding; within half a standard error where
 * there is noise), the others fitted again. *snapped: how many. A constant that becomes 0 or 1
 * drops out. */
SL_NODISCARD sl_status sl_snap(sl_fit *fit, int *snapped, sl_arena *a, const sl_problem *p,
                               const sl_refine_options *o);

/* ---------------------------------------------------------------- the criterion ------------- */

/* Description length, in bits: of the formula's operators and variables, of its exact numbers, of
 * its fitted constants, and of what it leaves of the data; total is their sum. */
typedef struct sl_bits {
    double structure, numbers, constants, data, total;
} sl_bits;

/* What is known of y's errors where the problem has no sigma by row. */
typedef struct sl_noise {
    double sigma;     // standard deviation; 0: not known
    double relative;  // of y, in addition
    double precision; // relative size of y's rounding; 0: that of a double
} sl_noise;

/* Does the fit mean anything? There must be two rows for each constant, and constants must not
 * stand against each other, as in 1e8*(x + 1e8)/(x - 1e8): such a fit is on its way to a simpler
 * formula that it never reaches. Told by what a tiny change of one constant does, beside how far y
 * goes. */
SL_NODISCARD sl_status sl_fit_is_steady(bool *out, sl_arena *scratch, const sl_fit *f,
                                        const sl_problem *p);

/* *out := e, whose constants have values, with everything that holds no variable made one constant,
 * and as few of them as that leaves: 3 (c1 x + c2)^2 is c1 (x + c2)^2. *n of them, values in a. */
SL_NODISCARD sl_status sl_fit_collapse(const sl_node **out, double **value, int *n,
                                       sl_arena *a, const sl_node *e, const double *given);

#endif
