/* math - shared by the files of the elementary functions. Method, errors: docs/math/elementary.md.
 *
 *     math_body.h          the functions, written once in the vectors of vector.h
 *     math_composed.h      those computed from the others: tan, sinh, asin, ...
 *     math.c               for every CPU: 2 lanes; the scalar calls, the choice of variant
 *     math.avx2.c          4 lanes
 *     math.avx512.c        8 lanes
 *     math_reduce.c        sin of a large argument: x mod pi/2 with as many bits as it takes
 *     math_constants.h     coefficients, printed by tests/golden/math/coefficients.py
 *
 * Lanes are independent, and every operation on one is an IEEE 754 operation in a fixed order. So
 * the variants agree in every bit, which t_math.c tests. */
#ifndef SL_MATH_IMPL_H
#define SL_MATH_IMPL_H

#include <stdbool.h>
#include <stdint.h>

typedef void sl_math__function(double *y, const double *x, int n);
typedef void sl_math__two_functions(double *y, double *z, const double *x, int n);

/* The functions of one argument: sl_<name>, sl_<name>_array. */
#define SL_MATH_FUNCTIONS(X) \
    X(exp) X(sin) X(log) X(cos) X(tan) X(sinh) X(cosh) X(tanh) X(atan) X(asin) X(acos)

/* One compilation of the template. */
typedef struct sl_math__variant {
    const char *name;
#define X(f) sl_math__function *f;
    SL_MATH_FUNCTIONS(X)
#undef X
    sl_math__two_functions *sincos;
} sl_math__variant;

extern const sl_math__variant sl_math__base, sl_math__avx2, sl_math__avx512;

/* The i-th variant that this CPU can run, slowest first; NULL past the last. */
const sl_math__variant *sl_math__usable(int i);

/* x = n pi/2 + (r + y) with |r| <= pi/4 and y at most half an ulp of r; n counts modulo 4. For
 * finite x with |x| >= 2^20. */
void sl_math__reduce(double *r, double *y, uint64_t *n, double x);

#endif
