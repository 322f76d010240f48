/* Attention, columns and biases for every CPU: vectors of four. */
#include "nn/attention_body.h"
#include "nn/columns_body.h"
#include "nn/linear_body.h"

const sl_nn__attention sl_nn__attention_base = { attn_fwd, attn_bwd, cols_fwd,
                                                 cols_bwd, add_row,  add_columns };
