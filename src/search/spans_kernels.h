/* spans_kernels - the inner loops of the search modulo spans: projections and keys.
 *
 * Terms come in blocks of SL_SPANS__BLOCK, values row by row; what is computed of them is held
 * number by number (q[d][term]), so that keys are made for many terms at once. Every sum has one
 * fixed order and nothing is fused, so that all variants give the same bits. spans_kernels_body.h
 * is the text of all variants, compiled once per instruction set. */
#ifndef SL_SEARCH_SPANS_KERNELS_H
#define SL_SEARCH_SPANS_KERNELS_H

#include "base/base.h"

enum {
    SL_SPANS__BLOCK = 128, // terms of one block
    SL_SPANS__DIMS = 5,    // numbers that a projection has
    SL_SPANS__LANES = 8,   // partial sums of a dot product; values are padded to a multiple
};

/* Numbers by dimension, then by term of a block. */
typedef double sl_search__spans_numbers[SL_SPANS__DIMS][SL_SPANS__BLOCK];

typedef struct sl_search__spans_kernels {
    /* q[d][t] := normal[d] . value[t] and size[t] := value[t] . value[t] over `rows` numbers, a
     * multiple of SL_SPANS__LANES, for n terms; value[t] begins at value + t stride. */
    void (*project)(sl_search__spans_numbers q, double *size, const double *normal,
                    const double *value, int rows, int stride, int n);
    /* key[t] := hash of the direction of q[.][t], the same for -q; norm[t] := |q|^2. */
    void (*direct)(uint64_t *key, double *norm, sl_search__spans_numbers q);
    /* The same of what is left of q in `dims` - 1 dimensions: basis[i] . q. */
    void (*reduce)(uint64_t *key, double *norm, sl_search__spans_numbers q,
                   const double basis[SL_SPANS__DIMS - 1][SL_SPANS__DIMS]);
} sl_search__spans_kernels;

extern const sl_search__spans_kernels sl_search__spans_kernels_base, sl_search__spans_kernels_avx2,
    sl_search__spans_kernels_avx512;
const sl_search__spans_kernels *sl_search__spans_kernels_at(sl_isa isa);

#endif
