/* libraries_impl - what gemm.c gets from the libraries that multiply. Third-party headers stay in
 * libraries.c. */
#ifndef SL_NN_LIBRARIES_IMPL_H
#define SL_NN_LIBRARIES_IMPL_H

#include "nn/nn.h"

/* C = alpha op(A) op(B) + beta C by one library, loaded if it was not. Failing leaves C
 * undefined. */
SL_NODISCARD sl_status sl_nn__product(sl_gemm_library library, bool ta, bool tb, int M, int N,
                                      int K, float alpha, const float *A, int lda, const float *B,
                                      int ldb, float beta, float *C, int ldc);

#endif
