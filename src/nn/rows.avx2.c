/* rows - the kernels for single rows, for AVX2 and FMA. */
#include "nn/rows_body.h"

const sl_nn__rows sl_nn__rows_avx2 = {
#define X(name) .name = name,
    SL_NN__ROWS(X)
#undef X
};
