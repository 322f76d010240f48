/* pointwise - the kernels for every CPU, the public functions, and the choice of a variant. */
#include "nn/mask_body.h"
#include "nn/pointwise_body.h"
#include "nn/sums_body.h"

const sl_nn__pointwise sl_nn__pointwise_base = {
#define X(name) .name = name,
    SL_NN__POINTWISE(X)
#undef X
        .exp_array = exp_array,
};

const sl_nn__pointwise *sl_nn__pointwise_at(sl_isa isa) {
    static const sl_nn__pointwise *const table[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_nn__pointwise_base, sl_nn__pointwise_avx2, sl_nn__pointwise_avx512);
    return table[isa];
}

static const sl_nn__pointwise *chosen(void) { return sl_nn__pointwise_at(sl_cpu()); }

void sl_nn_residual_norm_fwd(float *xo, float *h, float *stat, const float *x, const float *y,
                             const float *b, const uint8_t *mask, float scale, const float *gain,
                             const float *offset, float eps, int N, int C) {
    chosen()->residual_norm_fwd(xo, h, stat, x, y, b, mask, scale, gain, offset, eps, N, C);
}

void sl_nn_residual_norm_bwd(float *dx, float *dy, float *db, float *dgain, float *doffset,
                             const float *dh, const float *xo, const float *stat,
                             const uint8_t *mask, float scale, const float *gain, int N, int C) {
    chosen()->residual_norm_bwd(dx, dy, db, dgain, doffset, dh, xo, stat, mask, scale, gain, N, C);
}

void sl_nn_silu_fwd(float *a, float *u, const float *b, int N, int K) {
    chosen()->silu_fwd(a, u, b, N, K);
}

void sl_nn_silu_bwd(float *du, float *db, const float *da, const float *u, int N, int K) {
    chosen()->silu_bwd(du, db, da, u, N, K);
}

void sl_nn_cells_fwd(float *x, const float *m, const float *e, const float *wm, const float *we,
                     const float *code, int N, int cols, int C) {
    chosen()->cells_fwd(x, m, e, wm, we, code, N, cols, C);
}

void sl_nn_cells_bwd(float *dwm, float *dwe, float *dcode, const float *dx, const float *m,
                     const float *e, int N, int cols, int C) {
    chosen()->cells_bwd(dwm, dwe, dcode, dx, m, e, N, cols, C);
}

void sl_nn_tokens_fwd(float *x, const uint8_t *id, const uint8_t *at, const float *table,
                      const float *code, int N, int C) {
    chosen()->tokens_fwd(x, id, at, table, code, N, C);
}

void sl_nn_tokens_bwd(float *dtable, float *dcode, const float *dx, const uint8_t *id,
                      const uint8_t *at, int N, int C) {
    chosen()->tokens_bwd(dtable, dcode, dx, id, at, N, C);
}

double sl_nn_xent(float *dz, const float *z, const uint8_t *target, int N, int V) {
    return chosen()->xent(dz, z, target, N, V);
}

void sl_nn_dropout_mask(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                        uint32_t threshold) {
    chosen()->dropout_mask(bits, bytes, key, hi, lo, threshold);
}

double sl_nn_sum_tree(float *out, const float *const *block, int n_blocks, int64_t n) {
    return chosen()->sum_tree(out, block, n_blocks, n);
}

