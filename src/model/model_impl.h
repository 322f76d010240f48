/* Inside src/model only: the rows of the parameter table, and where the pass finds them. */
#ifndef SL_MODEL_IMPL_H
#define SL_MODEL_IMPL_H

#include "model/model.h"

/* The parameter table. d is the width, V the vocabulary; 0 columns: a vector. The order is that of
 * memory. Packed matrices (qkv, kv) are one product and one constraint of the optimiser.
 *    field          name                      rows   columns  init    regularised */
#define SL_MODEL__CELLS(X)                                                    \
    X(mantissa_w,    "cells.mantissa.weight",  d,     1,       NORMAL, true)  \
    X(mantissa_b,    "cells.mantissa.bias",    d,     0,       ZERO,   false) \
    X(exponent_w,    "cells.exponent.weight",  d,     1,       NORMAL, true)  \
    X(exponent_b,    "cells.exponent.bias",    d,     0,       ZERO,   false) \
    X(column_w,      "cells.column.weight",    d,     d,       NORMAL, true)

#define SL_MODEL__MLP(X)                                                      \
    X(norm3_g,       "norm3.weight",           d,     0,       ONE,    false) \
    X(norm3_b,       "norm3.bias",             d,     0,       ZERO,   false) \
    X(mlp_in_w,      "mlp.in.weight",          4 * d, d,       NORMAL, true)  \
    X(mlp_in_b,      "mlp.in.bias",            4 * d, 0,       ZERO,   false) \
    X(mlp_out_w,     "mlp.out.weight",         d,     4 * d,   NORMAL, true)  \
    X(mlp_out_b,     "mlp.out.bias",           d,     0,       ZERO,   false)

#define SL_MODEL__ENCODER(X)                                                  \
    X(norm1_g,       "norm1.weight",           d,     0,       ONE,    false) \
    X(norm1_b,       "norm1.bias",             d,     0,       ZERO,   false) \
    X(columns_qkv_w, "columns.qkv.weight",     3 * d, d,       NORMAL, true)  \
    X(columns_qkv_b, "columns.qkv.bias",       3 * d, 0,       ZERO,   false) \
    X(columns_out_w, "columns.out.weight",     d,     d,       NORMAL, true)  \
    X(columns_out_b, "columns.out.bias",       d,     0,       ZERO,   false) \
    X(norm2_g,       "norm2.weight",           d,     0,       ONE,    false) \
    X(norm2_b,       "norm2.bias",             d,     0,       ZERO,   false) \
    X(points_qkv_w,  "points.qkv.weight",      3 * d, d,       NORMAL, true)  \
    X(points_qkv_b,  "points.qkv.bias",        3 * d, 0,       ZERO,   false) \
    X(points_out_w,  "points.out.weight",      d,     d,       NORMAL, true)  \
    X(points_out_b,  "points.out.bias",        d,     0,       ZERO,   false) \
    SL_MODEL__MLP(X)

#define SL_MODEL__TOKENS(X)                                                   \
    X(table,         "tokens.weight",          V,     d,       NORMAL, false) \
    X(position_w,    "tokens.position.weight", d,     d,       NORMAL, true)

#define SL_MODEL__DECODER(X)                                                  \
    X(norm1_g,       "norm1.weight",           d,     0,       ONE,    false) \
    X(norm1_b,       "norm1.bias",             d,     0,       ZERO,   false) \
    X(self_qkv_w,    "self.qkv.weight",        3 * d, d,       NORMAL, true)  \
    X(self_qkv_b,    "self.qkv.bias",          3 * d, 0,       ZERO,   false) \
    X(self_out_w,    "self.out.weight",        d,     d,       NORMAL, true)  \
    X(self_out_b,    "self.out.bias",          d,     0,       ZERO,   false) \
    X(norm2_g,       "norm2.weight",           d,     0,       ONE,    false) \
    X(norm2_b,       "norm2.bias",             d,     0,       ZERO,   false) \
    X(memory_g,      "norm_memory.weight",     d,     0,       ONE,    false) \
    X(memory_b,      "norm_memory.bias",       d,     0,       ZERO,   false) \
    X(cross_q_w,     "cross.q.weight",         d,     d,       NORMAL, true)  \
    X(cross_q_b,     "cross.q.bias",           d,     0,       ZERO,   false) \
    X(cross_kv_w,    "cross.kv.weight",        2 * d, d,       NORMAL, true)  \
    X(cross_kv_b,    "cross.kv.bias",          2 * d, 0,       ZERO,   false) \
    X(cross_out_w,   "cross.out.weight",       d,     d,       NORMAL, true)  \
    X(cross_out_b,   "cross.out.bias",         d,     0,       ZERO,   false) \
    SL_MODEL__MLP(X)

#define SL_MODEL__END(X)                                                      \
    X(norm_g,        "norm.weight",            d,     0,       ONE,    false) \
    X(norm_b,        "norm.bias",              d,     0,       ZERO,   false)

/* Where each tensor begins in a block. */
typedef struct sl_model__encoder {
#define X(field, ...) int64_t field;
    SL_MODEL__ENCODER(X)
} sl_model__encoder;

typedef struct sl_model__decoder {
    SL_MODEL__DECODER(X)
} sl_model__decoder;

typedef struct sl_model__layout {
    SL_MODEL__CELLS(X)
    SL_MODEL__TOKENS(X)
    SL_MODEL__END(X)
#undef X
    sl_model__encoder *encoder; // per layer
    sl_model__decoder *decoder;
    double *code;    // (SL_MODEL_MAX_TOKENS, width): sinusoids of a position or column
    float *code_f;   // the same
} sl_model__layout;

#endif
