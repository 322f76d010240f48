/* attention - the public calls: shapes are checked, the variant is chosen. The work is in
 * attention_body.h and columns_body.h. */
#include "nn/attention_impl.h"

const sl_nn__attention *sl_nn__attention_at(sl_isa isa) {
    static const sl_nn__attention *const tables[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_nn__attention_base, sl_nn__attention_avx2, sl_nn__attention_avx512);
    return tables[isa];
}

static const sl_nn__attention *chosen(void) { return sl_nn__attention_at(sl_cpu()); }

/* Enough for every instruction set: panels are rounded up to two of the widest vectors. Backward
 * needs most: V transposed (D x Tk), K (Tk x D), a block of queries (x D), and twice a block's
 * weights (x Tk).
 */
size_t sl_nn_attn_scratch(int Tq, int Tk, int D) {
    const size_t row = (size_t)sl_nn_attn_row(Tk), keys = (row + 31) & ~(size_t)31;
    const size_t width = ((size_t)D + 31) & ~(size_t)31;
    const size_t block = (size_t)SL_MIN(Tq, SL_ATTN__BLOCK);
    return (size_t)D * keys + width * ((size_t)Tk + block) + 2 * block * row;
}

static void check_head(int H, int D) {
    SL_ASSERT(H >= 1 && D >= 8 && D <= SL_NN_MAX_HEAD && D % 8 == 0);
}

void sl_nn_attn_fwd(float *o, int ldo, float *p, const float *q, int ldq, const float *k,
                    const float *v, int ldkv, const uint8_t *mask, float scale, int Tq, int Tk,
                    int H, int D, bool causal, float *scratch) {
    check_head(H, D);
    SL_ASSERT(Tq >= 1 && Tk >= 1 && (!causal || Tq == Tk));
    SL_ASSERT(ldo >= H * D && ldq >= H * D && ldkv >= H * D);
    chosen()->attn_fwd(o, ldo, p, q, ldq, k, v, ldkv, mask, scale, Tq, Tk, H, D, causal, scratch);
}

void sl_nn_attn_bwd(float *dq, int ldq, float *dk, float *dv, int ldkv, const float *dout, int ldo,
                    const float *q, const float *k, const float *v, const float *p,
                    const uint8_t *mask, float scale, int Tq, int Tk, int H, int D, bool causal,
                    float *scratch) {
    check_head(H, D);
    SL_ASSERT(Tq >= 1 && Tk >= 1 && (!causal || Tq == Tk));
    SL_ASSERT(ldo >= H * D && ldq >= H * D && ldkv >= H * D);
    chosen()->attn_bwd(dq, ldq, dk, dv, ldkv, dout, ldo, q, k, v, p, mask, scale, Tq, Tk, H, D,
                       causal, scratch);
}

static void check_columns(int N, int nq, int cols, const uint8_t *present, int per) {
    SL_ASSERT(N >= 0 && nq >= 1 && nq <= cols && cols <= SL_NN_MAX_COLUMNS);
    SL_ASSERT(!present || (per >= 1 && N % per == 0)); // whole data sets
}

void sl_nn_cols_fwd(float *o, int ldo, float *p, const float *q, int ldq, const float *k,
                    const float *v, int ldkv, const uint8_t *mask, float scale,
                    const uint8_t *present, int per, int N, int nq, int cols, int H, int D) {
    check_head(H, D);
    check_columns(N, nq, cols, present, per);
    chosen()->cols_fwd(o, ldo, p, q, ldq, k, v, ldkv, mask, scale, present, per, N, nq, cols, H, D);
}

void sl_nn_cols_bwd(float *dq, int ldq, float *dk, float *dv, int ldkv, const float *dout, int ldo,
                    const float *q, const float *k, const float *v, const float *p,
                    const uint8_t *mask, float scale, const uint8_t *present, int per, int N,
                    int nq, int cols, int H, int D) {
    check_head(H, D);
    check_columns(N, nq, cols, present, per);
    chosen()->cols_bwd(dq, ldq, dk, dv, ldkv, dout, ldo, q, k, v, p, mask, scale, present, per, N,
                       nq, cols, H, D);
}
