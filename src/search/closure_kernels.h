/* closure_kernels - the inner loop of closures: what is left of a column outside of a span.
 *
 * Every sum has one fixed order and nothing is fused, so that all variants give the same bits.
 * closure_kernels_body.h is the text of all variants, compiled once per instruction set. */
#ifndef SL_SEARCH_CLOSURE_KERNELS_H
#define SL_SEARCH_CLOSURE_KERNELS_H

#include "base/base.h"

enum { SL_CLOSURE__LANES = 8 }; // partial sums of a dot product; columns are padded to a multiple

typedef struct sl_search__closure_kernels {
    /* v := v - sum of (q[i] . v) q[i] over n orthonormal columns q[i] = q + i stride of `rows`
     * numbers, a multiple of SL_CLOSURE__LANES. Returns v . v. */
    double (*project)(double *v, const double *q, int n, int rows, int stride);
} sl_search__closure_kernels;

extern const sl_search__closure_kernels sl_search__closure_kernels_base,
    sl_search__closure_kernels_avx2, sl_search__closure_kernels_avx512;
const sl_search__closure_kernels *sl_search__closure_kernels_at(sl_isa isa);

#endif
