/* Shared inside num: the pivoted QR factorisation that linear fits and the standard errors of
 * non-linear ones are made of, and allocation with the product checked. */
#ifndef SL_NUM_IMPL_H
#define SL_NUM_IMPL_H

#include "num/num.h"

/* A P = Q R for the scaled copy of A.   a (m,n) by columns: R on and above the diagonal, the
 * reflections' vectors below it, their first elements in head[]. */
typedef struct sl_qr {
    double *a;
    double *head, *beta; // reflection k is I - beta v v^T, v = (head[k], a[k][k+1..m-1])
    double *scale;       // column perm[k] of A is column k of the factorisation divided by scale[k]
    int *perm;
    int m, n, rank;
} sl_qr;

/* Room for count x each bytes, or NULL. */
void *sl_num__alloc(sl_arena *a, size_t count, size_t each);

/* Factors the m x n matrix with columns col, whose rows are first multiplied by root (or NULL).
 * All entries must be finite. The result lives in `a`. */
SL_NODISCARD sl_status sl_num__qr(sl_qr *out, sl_arena *a, const double *const *col,
                                  const double *root, int m, int n);
/* d[j] := sqrt of element (j,j) of the inverse of A^T A; infinite for columns left out. */
SL_NODISCARD sl_status sl_num__qr_errors(const sl_qr *q, double *d, sl_arena *scratch);

#endif
