/* rows - the kernels for single rows, for AVX-512. */
#include "nn/rows_body.h"

const sl_nn__rows sl_nn__rows_avx512 = {
#define X(name) .name = name,
    SL_NN__ROWS(X)
#undef X
};
