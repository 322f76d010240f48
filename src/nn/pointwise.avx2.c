/* pointwise - the kernels for AVX2 and FMA. */
#include "nn/mask_body.h"
#include "nn/pointwise_body.h"
#include "nn/sums_body.h"

const sl_nn__pointwise sl_nn__pointwise_avx2 = {
#define X(name) .name = name,
    SL_NN__POINTWISE(X)
#undef X
        .exp_array = exp_array,
};
