/* gemm - products of matrices by oneDNN or OpenBLAS: which of the two, and whether it failed.
 *
 * Neither library is the faster one everywhere, so each instruction set has a row in the table
 * below, made from what build/bench/nn.gemm prints (bench/results/nn.gemm.*.tsv;
 * docs/performance.md has its summary). A row looks at transposition and shape alone, so the same
 * product is always summed in the same order. A^T B, the gradient of a weight, is wide where a side
 * has 512 or both have 128: there oneDNN's AVX2 kernels copy the left factor badly on some CPUs, up
 * to 2.2 times slower on AMD Zen 3. For narrow ones the sums are long and AVX-512 cuts them into
 * many parts (libraries.c). */
#include <math.h>

#include "nn/libraries_impl.h"

typedef struct rule {
    sl_gemm_library plain;  // A B, A B^T, A^T B^T
    sl_gemm_library narrow; // A^T B
    sl_gemm_library wide;   // A^T B with a side of 512 or two of 128
} rule;

static const rule rules[SL_ISA_COUNT] = {
    //                 A B, A B^T       A^T B, narrow     A^T B, wide
    [SL_ISA_BASE] = { SL_GEMM_ONEDNN, SL_GEMM_ONEDNN, SL_GEMM_ONEDNN },
    [SL_ISA_AVX2] = { SL_GEMM_ONEDNN, SL_GEMM_ONEDNN, SL_GEMM_OPENBLAS },
    [SL_ISA_AVX512] = { SL_GEMM_ONEDNN, SL_GEMM_OPENBLAS, SL_GEMM_ONEDNN },
};

sl_gemm_library sl_gemm_rule(sl_isa isa, bool ta, bool tb, int M, int N) {
    const rule *r = &rules[isa];
    if (!ta || tb) return r->plain;
    return SL_MAX(M, N) >= 512 || SL_MIN(M, N) >= 128 ? r->wide : r->narrow;
}

bool sl_gemm_uses(sl_gemm_library library) {
    const rule *r = &rules[sl_cpu()];
    return r->plain == library || r->narrow == library || r->wide == library;
}

/* The first failure of this thread's products since it was last asked for. */
static _Thread_local sl_status failed;

sl_status sl_gemm_status(void) {
    const sl_status st = failed;
    failed = SL_OK;
    return st;
}

static void fill(float *C, int ldc, int M, int N, float value) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) C[(size_t)m * (size_t)ldc + (size_t)n] = value;
}

void sl_gemm_by(sl_gemm_library library, bool ta, bool tb, int M, int N, int K, float alpha,
                const float *A, int lda, const float *B, int ldb, float beta, float *C, int ldc) {
    SL_ASSERT(M >= 0 && N >= 0 && K >= 0);
    SL_ASSERT(lda >= (ta ? M : K) && ldb >= (tb ? K : N) && ldc >= N);
    if (M == 0 || N == 0) return;
    if (K == 0) { // the libraries do not agree about what is left to do
        if (beta == 0) return fill(C, ldc, M, N, 0);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) C[(size_t)m * (size_t)ldc + (size_t)n] *= beta;
        return;
    }
    if (library == SL_GEMM_RULE) library = sl_gemm_rule(sl_cpu(), ta, tb, M, N);
    const sl_status st =
        sl_nn__product(library, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    if (st == SL_OK) return;
    fill(C, ldc, M, N, NAN);
    if (failed == SL_OK) failed = st;
}

void sl_gemm(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
             const float *B, int ldb, float beta, float *C, int ldc) {
    sl_gemm_by(SL_GEMM_RULE, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

const char *sl_nn_level(void) { return sl_isa_name(sl_cpu()); }
