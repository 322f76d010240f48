/* pointwise_impl - the fast kernels of one instruction set.
 *
 *     pointwise_body.h   residual and norm, activation, embeddings, the loss
 *     mask_body.h        masks of dropout
 *     sums_body.h        sums of gradient blocks
 *
 * are one text each, compiled by pointwise.c, pointwise.avx2.c and pointwise.avx512.c, which also
 * hold the table. */
#ifndef SL_NN_POINTWISE_IMPL_H
#define SL_NN_POINTWISE_IMPL_H

#include "nn/nn.h"

#define SL_NN__POINTWISE(X)                                                                     \
    X(residual_norm_fwd) X(residual_norm_bwd) X(silu_fwd) X(silu_bwd) X(cells_fwd) X(cells_bwd) \
    X(tokens_fwd) X(tokens_bwd) X(xent) X(dropout_mask) X(sum_tree)

/* A function per kernel, typed as the public one of its name. */
typedef struct sl_nn__pointwise {
#define X(name) __typeof__(sl_nn_##name) *name;
    SL_NN__POINTWISE(X)
#undef X
    void (*exp_array)(float *y, const float *x, int n); // v_exp, for its test
} sl_nn__pointwise;

extern const sl_nn__pointwise sl_nn__pointwise_base, sl_nn__pointwise_avx2, sl_nn__pointwise_avx512;

const sl_nn__pointwise *sl_nn__pointwise_at(sl_isa isa);

#endif
