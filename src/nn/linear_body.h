/* linear_body - what a linear map does beside its product, for one instruction set. */
#include "base/vector.h"
#include "nn/attention_impl.h"

static void add_row(float *y, int ldy, const float *b, int N, int K) {
    for (int n = 0; n < N; n++) {
        float *row = y + (size_t)n * (size_t)ldy;
        int k = 0;
        for (; k <= K - W; k += W) v_store(row + k, v_load(row + k) + v_load(b + k));
        for (; k < K; k++) row[k] += b[k];
    }
}

/* Strips of eight vectors; in each, 64 rows are summed before they are added to what there is,
 * which keeps long columns as exact as short ones. */
static void add_columns(float *db, const float *dy, int ldy, int N, int K) {
    enum { STRIP = 8 * W, BLOCK = 64 };
    for (int n0 = 0; n0 < N; n0 += BLOCK) {
        const int n1 = SL_MIN(n0 + BLOCK, N);
        int k = 0;
        for (; k <= K - STRIP; k += STRIP) {
            vec sum[8] = { { 0 } };
            for (int n = n0; n < n1; n++)
                for (int i = 0; i < 8; i++)
                    sum[i] += v_load(dy + (size_t)n * (size_t)ldy + k + i * W);
            for (int i = 0; i < 8; i++)
                v_store(db + k + i * W, v_load(db + k + i * W) + sum[i]);
        }
        for (; k < K; k += W) {
            const int some = SL_MIN(W, K - k);
            vec sum = { 0 };
            for (int n = n0; n < n1; n++) {
                const float *at = dy + (size_t)n * (size_t)ldy + k;
                sum += v_load_n(at, some);
            }
            for (int i = 0; i < some; i++) db[k + i] += sum[i];
        }
    }
}
