/* linear - y = x W^T + b and its gradients: products by gemm.c, and one pass for the bias. */
#include "nn/attention_impl.h"

static const sl_nn__attention *level(void) { return sl_nn__attention_at(sl_nn__level()); }

/* The bias is added to a block of rows while it is in the second cache; the blocks are large enough
 * that the library's packing of W for each does not show. */
void sl_linear_fwd(float *y, int ldy, const float *x, int ldx, const float *W, const float *b,
                   int N, int C, int K) {
    const int block = b ? 192 : N;
    for (int n = 0; n < N; n += block) {
        const int rows = SL_MIN(block, N - n);
        float *y_n = y + (size_t)n * (size_t)ldy;
        sl_gemm(false, true, rows, K, C, 1, x + (size_t)n * (size_t)ldx, ldx, W, C, 0, y_n, ldy);
        if (b) level()->add_row(y_n, ldy, b, rows, K);
    }
}

void sl_linear_bwd_x(float *dx, int ldx, const float *dy, int ldy, const float *W, int N, int C,
                     int K, bool add) {
    sl_gemm(false, false, N, C, K, 1, dy, ldy, W, C, add ? 1 : 0, dx, ldx);
}

void sl_linear_bwd_w(float *dW, float *db, const float *dy, int ldy, const float *x, int ldx, int N,
                     int C, int K) {
    sl_gemm(true, false, K, C, N, 1, dy, ldy, x, ldx, 1, dW, C);
    if (db) level()->add_columns(db, dy, ldy, N, K);
}
