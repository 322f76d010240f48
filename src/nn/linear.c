/* linear - y = x W^T + b and its gradients: products by gemm.c, and one pass for the bias. */
#include "nn/attention_impl.h"

static const sl_nn__attention *chosen(void) { return sl_nn__attention_at(sl_cpu()); }

/* One product, one pass. Adding the bias block by block while rows are in the second cache was no
 * faster for 96 to 768 rows and slower for more: the library then packs W for each block. */
void sl_nn_linear_fwd(float *y, int ldy, const float *x, int ldx, const float *W, const float *b,
                      int N, int C, int K) {
    sl_nn_gemm(false, true, N, K, C, 1, x, ldx, W, C, 0, y, ldy);
    if (b) chosen()->add_row(y, ldy, b, N, K);
}

void sl_nn_linear_bwd_x(float *dx, int ldx, const float *dy, int ldy, const float *W, int N, int C,
                        int K, bool add) {
    sl_nn_gemm(false, false, N, C, K, 1, dy, ldy, W, C, add ? 1 : 0, dx, ldx);
}

void sl_nn_linear_bwd_w(float *dW, float *db, const float *dy, int ldy, const float *x, int ldx,
                        int N, int C, int K) {
    sl_nn_gemm(true, false, K, C, N, 1, dy, ldy, x, ldx, 1, dW, C);
    if (db) chosen()->add_columns(db, dy, ldy, N, K);
}
