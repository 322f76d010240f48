/* The plain twins in double. */
#include "nn/nn.h"

#define SL_REAL     double
#define SL_NN(name) sl_nn_ref_d_##name
#include "nn/ref/pointwise_body.h"
