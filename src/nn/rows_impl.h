/* rows_impl - the kernels for single rows of one instruction set: rows_body.h, compiled by rows.c,
 * rows.avx2.c and rows.avx512.c. */
#ifndef SL_NN_ROWS_IMPL_H
#define SL_NN_ROWS_IMPL_H

#include "nn/nn.h"

#define SL_NN__ROWS(X) X(panels_fwd) X(softmax_rows) X(attn_row_fwd)

typedef struct sl_nn__rows {
#define X(name) __typeof__(sl_nn_##name) *name;
    SL_NN__ROWS(X)
#undef X
} sl_nn__rows;

extern const sl_nn__rows sl_nn__rows_base, sl_nn__rows_avx2, sl_nn__rows_avx512;

const sl_nn__rows *sl_nn__rows_at(sl_isa isa);

#endif
