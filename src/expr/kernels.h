/* kernels - the inner loops of evaluation: one operation over a block of points.
 *
 * Each kernel is y[i] = f(a[i], b[i]) for i < n; in the VS and SV forms the scalar operand is read
 * once from its first element. y may be a or b. Every operation is one correctly rounded IEEE
 * operation (or one of base's functions), so the variants for different CPUs give the same bits and
 * differ in speed only. n is at least 1. kernels_body.h is the text of all variants, compiled once
 * per instruction set by kernels.c and kernels.<set>.c. */
#ifndef SL_EXPR_KERNELS_H
#define SL_EXPR_KERNELS_H

#include "base/base.h"

/* V: a block, S: a scalar. Division by zero is NaN, whatever is divided.
 *    id       y = */
#define SL_EXPR__KERNELS(X)                    \
    X(COPY)    /* a */                         \
    X(FILL)    /* the scalar a */              \
    X(ADD)     /* a + b */                     \
    X(ADD_VS)                                  \
    X(SUB)     /* a - b */                     \
    X(SUB_VS)                                  \
    X(SUB_SV)                                  \
    X(MUL)     /* a * b */                     \
    X(MUL_VS)                                  \
    X(DIV)     /* a / b */                     \
    X(DIV_VS)                                  \
    X(DIV_SV)                                  \
    X(SQRT)                                    \
    X(EXP)                                     \
    X(LOG)                                     \
    X(SIN)                                     \
    X(COS)                                     \
    X(LN)      /* log a, NaN of 0 as well */   \
    X(TAN)                                     \
    X(TANH)                                    \
    X(SINH)                                    \
    X(COSH)                                    \
    X(ASIN)                                    \
    X(ACOS)                                    \
    X(ATAN)                                    \
    X(ABS)                                     \
    X(RAISE)   /* a^b, as exp(b log a) */      \
    X(RAISE_VS)                                \
    X(RAISE_SV)                                \
    X(ONE_NAN) /* a, with one bit pattern for every NaN */

typedef enum sl_expr__kernel {
#define X(id) SL_EXPR__##id,
    SL_EXPR__KERNELS(X)
#undef X
    SL_EXPR__KERNEL_COUNT
} sl_expr__kernel;

typedef void (*sl_expr__kernel_fn)(double *y, const double *a, const double *b, int n);

/* The kernels for one instruction set, by sl_expr__kernel. */
typedef struct sl_expr__kernels {
    const char *name;
    sl_expr__kernel_fn fn[SL_EXPR__KERNEL_COUNT];
} sl_expr__kernels;

extern const sl_expr__kernels sl_expr__kernels_base, sl_expr__kernels_avx2;

/* Kernels for AVX-512 are those for AVX2. */
const sl_expr__kernels *sl_expr__kernels_at(sl_isa isa);

#endif
