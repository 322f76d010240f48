/* Inside the search for constants within functions (inner*.c) only.
 *
 *     T(y) = sum_k a_k base_k(x) + b m(x) u(z(x); t)
 *
 * z and m are monomials of low rank, u is of a family below, and t holds its one or two inner
 * constants, in units of z's range. Coefficients are projected out. There are two sides: sums have
 * the base 1, x_i; products are sums of logarithms with the base 1, log x_i. */
#ifndef SL_SEARCH_INNER_IMPL_H
#define SL_SEARCH_INNER_IMPL_H

#include "search/search_impl.h"
#include "search/write.h"

enum {
    SL_INNER__PROBES = 64, // rows of the grid scan, a multiple of 8
    SL_INNER__BASE = SL_DATA_MAX_INPUTS + 1,
    SL_INNER__TARGETS = 4, // of one side
    SL_INNER__COORDINATES = 2,
};

extern const sl_search__method sl_search__inner;

/* ---------------------------------------------------------------- families ------------------ */

/* Coordinates of inner constants, R the range of z, and the grid of each.
 *   FREQUENCY   t/R
 *   RATE        exp(t)/R, either sign
 *   SHIFT       R exp(t) outside the range of z, on either side
 *   CENTER      the middle of the range, plus R t
 *   EXPONENT    t
 *   NONE        no such coordinate */
typedef enum sl_search__inner_coordinate {
    SL_INNER__NONE,
    SL_INNER__FREQUENCY,
    SL_INNER__RATE,
    SL_INNER__SHIFT,
    SL_INNER__CENTER,
    SL_INNER__EXPONENT,
} sl_search__inner_coordinate;

/* v is z + d or d - z, positive in all rows. A wave has two columns, so that its phase is linear.
 *    id, side, coordinates, signs, columns, bits, operator that must be allowed: u(z) */
#define SL_INNER__FAMILIES(X)                                                                     \
    X(WAVE,    SUM,     FREQUENCY, NONE,     1, 2, 8,  SIN)  /* sin(c z + phase)            */    \
    X(EXP,     SUM,     RATE,      NONE,     2, 1, 6,  EXP)  /* exp(c z)                    */    \
    X(LOG,     SUM,     SHIFT,     NONE,     2, 1, 8,  LOG)  /* log v                       */    \
    X(ROOT,    SUM,     SHIFT,     NONE,     2, 1, 8,  SQRT) /* sqrt v                      */    \
    X(INVERSE, SUM,     SHIFT,     NONE,     2, 1, 8,  DIV)  /* 1/v                         */    \
    X(TANH,    SUM,     RATE,      NONE,     1, 1, 8,  TANH) /* tanh(c z)                   */    \
    X(SHIFTED, PRODUCT, SHIFT,     NONE,     2, 1, 8,  ADD)  /* v to a power                */    \
    X(TANHS,   PRODUCT, RATE,      NONE,     1, 1, 10, TANH) /* |tanh(c z)| to a power      */    \
    X(EXPM1,   PRODUCT, RATE,      NONE,     2, 1, 10, EXP)  /* |exp(c z) - 1| to a power   */    \
    X(EXPP1,   PRODUCT, RATE,      NONE,     2, 1, 10, EXP)  /* exp(c z) + 1 to a power     */    \
    X(POWER,   SUM,     SHIFT,     EXPONENT, 2, 1, 14, POW)  /* v to a power, plus the base */    \
    X(BELL,    SUM,     CENTER,    RATE,     1, 1, 14, EXP)  /* exp(-(c (z - d))^2)         */    \
    X(STEP,    SUM,     CENTER,    RATE,     1, 1, 14, TANH) /* tanh(c (z - d))             */    \
    X(DAMPED,  SUM,     FREQUENCY, RATE,     2, 2, 16, SIN)  /* exp(k z) sin(c z + phase)   */

typedef enum sl_search__inner_family {
#define X(id, side, one, two, signs, columns, bits, op) SL_INNER__##id,
    SL_INNER__FAMILIES(X)
#undef X
    SL_INNER__FAMILY_COUNT
} sl_search__inner_family;

typedef struct sl_search__inner_traits {
    sl_side side;
    sl_search__inner_coordinate coordinate[SL_INNER__COORDINATES];
    int signs, columns, bits, op;
} sl_search__inner_traits;
extern const sl_search__inner_traits sl_search__inner_traits_of[SL_INNER__FAMILY_COUNT];

/* z over the rows. */
typedef struct sl_search__inner_range {
    double low, high;
} sl_search__inner_range;

/* Inner constants: the coordinates, and which sign. */
typedef struct sl_search__inner_point {
    double t[SL_INNER__COORDINATES];
    int sign;    // 1 or -1
    int quarter; // phase of a wave in quarters of a turn, 1 .. 4; 0: free
} sl_search__inner_point;

enum { SL_INNER__PHASE = 2 }; // place of a free phase among the constants that are written

/* Points of a grid along one coordinate; `frequencies`: how many of these. */
int sl_search__inner_grid_size(sl_search__inner_coordinate c, int frequencies);
double sl_search__inner_grid(sl_search__inner_coordinate c, int i);
double sl_search__inner_grid_step(sl_search__inner_coordinate c);
bool sl_search__inner_inside(sl_search__inner_coordinate c, double t);

/* column[0 .. columns)[0 .. n) := u(z), scaled to moderate size; for products its logarithm. May be
 * NaN where u is not real. */
void sl_search__inner_columns(double *const *column, sl_search__inner_family f,
                              const sl_search__inner_point *at, const double *z,
                              const sl_search__inner_range *r, int n);

/* coefficient[] times u(z), or for products u(z) to the power coefficient[0], as an expression with
 * free constants. */
const sl_node *sl_search__inner_write(sl_writer *w, sl_search__inner_family f,
                                      const sl_search__inner_point *at, const sl_node *z,
                                      const sl_search__inner_range *r, const double *coefficient);

/* ---------------------------------------------------------------- the search ---------------- */

/* T(y). y is positive in all but the first and third. */
typedef enum sl_search__inner_transform {
    SL_INNER__SAME,
    SL_INNER__SQUARED,
    SL_INNER__INVERTED, // y is not 0
    SL_INNER__LOGARITHM,
    SL_INNER__FACTORS,  // log|y| on the side of products; y has one sign
} sl_search__inner_transform;

typedef struct sl_search__inner_target {
    sl_search__inner_transform transform;
    const double *value;           // in all rows
    double left[SL_INNER__PROBES]; // of it at the probes, of unit length
} sl_search__inner_target;

typedef struct sl_search__inner_span {
    int base;
    const double *column[SL_INNER__BASE]; // in all rows
    int variable[SL_INNER__BASE];         // -1: the constant
    double unit[SL_INNER__BASE][SL_INNER__PROBES]; // orthonormal at the probes
    int targets;
    sl_search__inner_target target[SL_INNER__TARGETS];
} sl_search__inner_span;

/* A monomial. */
typedef struct sl_search__inner_monomial {
    int8_t power[SL_DATA_MAX_INPUTS];
    int bits;
    const double *value; // in all rows, then zeros up to PROBES
    sl_search__inner_range range;
} sl_search__inner_monomial;

typedef struct sl_search__inner_candidate {
    sl_search__inner_family family;
    int z, m, target;
    sl_search__inner_point at;
    double left;  // squared residual of T(y), relative; then of y in all rows
    double bits;
    int number;   // place on the grid's list, so that the order is total
} sl_search__inner_candidate;

typedef struct sl_inner {
    sl_search__job *job;
    sl_arena arena;
    int64_t bytes;    // reserved
    int rows, probes; // probes: padded with zeros up to PROBES
    int level;
    sl_search__inner_span span[2]; // by side
    int monomials;                 // 1 first, then by rank
    sl_search__inner_monomial *monomial;
} sl_inner;

/* Opens spans, targets and monomials. */
SL_NODISCARD sl_status sl_search__inner_prepare(sl_inner *s);

/* The best point of the grid for a family, a monomial z, and each m < monomials and target: into
 * best[m * SL_INNER__TARGETS + target], left infinite where there is none. From any thread. */
void sl_search__inner_scan(sl_search__inner_candidate *best, const sl_inner *s,
                           sl_search__inner_family f, int z, int monomials, int frequencies);
/* Moves the point to the least squares at the probes. From any thread. */
void sl_search__inner_minimize(sl_search__inner_candidate *c, const sl_inner *s);

/* coefficient[] of the base, then of the columns, by least squares of T(y) in all rows. c->left :=
 * the relative residual of y there, or infinite. */
SL_NODISCARD sl_status sl_search__inner_solve(double *coefficient, sl_search__inner_candidate *c,
                                              const sl_inner *s);
/* Fits a candidate in all rows, drops what it does not need, and offers it. */
SL_NODISCARD sl_status sl_search__inner_offer(bool *exact, const sl_inner *s,
                                              const sl_search__inner_candidate *c, bool noisy);

#endif
