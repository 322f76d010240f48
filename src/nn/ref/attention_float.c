/* Plain linear maps and attention in float. */
#include "nn/nn.h"

#define SL_REAL     float
#define SL_NN(name) sl_nn_ref_f_##name
#include "nn/ref/attention_body.h"
