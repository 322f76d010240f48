/* rows - the kernels for single rows: for every CPU, the public calls, and the choice of a
 * variant. */
#include <string.h>

#include "nn/rows_body.h"

const sl_nn__rows sl_nn__rows_base = {
#define X(name) .name = name,
    SL_NN__ROWS(X)
#undef X
};

const sl_nn__rows *sl_nn__rows_at(sl_isa isa) {
    static const sl_nn__rows *const table[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_nn__rows_base, sl_nn__rows_avx2, sl_nn__rows_avx512);
    return table[isa];
}

static const sl_nn__rows *chosen(void) { return sl_nn__rows_at(sl_cpu()); }

size_t sl_nn_panels_size(int C, int K) {
    const size_t panels = ((size_t)K + SL_PANEL - 1) / SL_PANEL;
    return panels * SL_PANEL * (size_t)C;
}

void sl_nn_panels_pack(float *panels, const float *W_, int ldw, int C, int K, bool across) {
    const size_t ld = (size_t)ldw;
    for (int k0 = 0; k0 < K; k0 += SL_PANEL)
        for (int c = 0; c < C; c++)
            for (int k = k0; k < k0 + SL_PANEL; k++) {
                const size_t at = across ? (size_t)c * ld + (size_t)k : (size_t)k * ld + (size_t)c;
                *panels++ = k < K ? W_[at] : 0;
            }
}

void sl_nn_panels_fwd(float *y, int ldy, const float *x, int ldx, const float *panels,
                      const float *b, int N, int C, int K) {
    SL_ASSERT(N >= 0 && C >= 1 && K >= 1 && ldy >= K && ldx >= C);
    chosen()->panels_fwd(y, ldy, x, ldx, panels, b, N, C, K);
}

void sl_nn_softmax_rows(float *z, int ld, float scale, int N, int n) {
    SL_ASSERT(n >= 1 && ld >= n && scale > 0);
    chosen()->softmax_rows(z, ld, scale, N, n);
}

void sl_nn_attn_row_fwd(float *o, const float *q, const float *const *kv, int T, int H, int D,
                        float *p) {
    SL_ASSERT(T >= 1 && H >= 1 && D >= 1);
    chosen()->attn_row_fwd(o, q, kv, T, H, D, p);
}
