/* Attention, columns and biases for CPUs with AVX2 and FMA: vectors of eight. */
#include "nn/attention_body.h"
#include "nn/columns_body.h"
#include "nn/linear_body.h"

const sl_nn__attention sl_nn__attention_avx2 = { attn_fwd, attn_bwd, cols_fwd,
                                                 cols_bwd, add_row,  add_columns };
