/* gemm - products of matrices by oneDNN or OpenBLAS: which of the two, and whether it failed.
 *
 * Neither library is the faster one everywhere, so the table below has a row for each kind of
 * product and a column for each instruction set. It is made from what build/bench/nn.gemm prints
 * (docs/performance.md has a summary, with the CPUs). A kind is a matter of transposition and shape
 * alone, so the same product is always summed in the same order.
 *
 * A^T B is the gradient of a weight. oneDNN's AVX2 kernels copy a wide left factor badly on some
 * CPUs: on AMD Zen 3 OpenBLAS is up to twice as fast. With AVX-512 oneDNN gets long sums in
 * parts (libraries.c), which costs most for small results and for large B. */
#include <math.h>

#include "nn/libraries_impl.h"

sl_gemm_kind sl_nn_gemm_kind_of(bool ta, bool tb, int M, int N, int K) {
    if (!ta && !tb) return SL_GEMM_NN;
    if (tb) return N >= 512 && K >= 256 ? SL_GEMM_NT_LARGE : SL_GEMM_NT;
    if ((int64_t)M * N <= 2048) return SL_GEMM_TN_SMALL;
    return SL_MAX(M, N) >= 512 || SL_MIN(M, N) >= 128 ? SL_GEMM_TN_WIDE : SL_GEMM_TN;
}

#define D SL_GEMM_ONEDNN
#define O SL_GEMM_OPENBLAS
#if defined(__x86_64__)
#define B D
#else
#define B O // oneDNN's products are plain loops there
#endif
// clang-format off
static const sl_gemm_library rules[SL_GEMM_KINDS][SL_ISA_COUNT] = {
    //                     base avx2 avx512
    [SL_GEMM_NN]       = {  B,   D,   D },
    [SL_GEMM_NT]       = {  B,   D,   D },
    [SL_GEMM_NT_LARGE] = {  B,   D,   O },
    [SL_GEMM_TN_SMALL] = {  B,   D,   O },
    [SL_GEMM_TN]       = {  B,   D,   D },
    [SL_GEMM_TN_WIDE]  = {  B,   O,   D },
};
// clang-format on
#undef B
#undef D
#undef O

const char *sl_nn_gemm_kind_name(sl_gemm_kind kind) {
    static const char *const names[SL_GEMM_KINDS] = { "A B",          "A B^T", "A B^T, large",
                                                      "A^T B, small", "A^T B", "A^T B, wide" };
    return names[kind];
}

sl_gemm_library sl_nn_gemm_rule(sl_isa isa, bool ta, bool tb, int M, int N, int K) {
    return rules[sl_nn_gemm_kind_of(ta, tb, M, N, K)][isa];
}

bool sl_nn_gemm_uses(sl_gemm_library library) {
    for (int k = 0; k < SL_GEMM_KINDS; k++)
        if (rules[k][sl_cpu()] == library) return true;
    return false;
}

/* The first failure of this thread's products since it was last read. */
static _Thread_local sl_status failed;

sl_status sl_nn_gemm_status(void) {
    const sl_status st = failed;
    failed = SL_OK;
    return st;
}

static void fill(float *C, int ldc, int M, int N, float value) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) C[(size_t)m * (size_t)ldc + (size_t)n] = value;
}

void sl_nn_gemm_by(sl_gemm_library library, bool ta, bool tb, int M, int N, int K, float alpha,
                   const float *A, int lda, const float *B, int ldb, float beta, float *C,
                   int ldc) {
    SL_ASSERT(M >= 0 && N >= 0 && K >= 0);
    SL_ASSERT(lda >= (ta ? M : K) && ldb >= (tb ? K : N) && ldc >= N);
    if (M == 0 || N == 0) return;
    if (K == 0) { // the libraries differ in what they do then
        if (beta == 0) return fill(C, ldc, M, N, 0);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) C[(size_t)m * (size_t)ldc + (size_t)n] *= beta;
        return;
    }
    if (library == SL_GEMM_RULE) library = sl_nn_gemm_rule(sl_cpu(), ta, tb, M, N, K);
    const sl_status st =
        sl_nn__product(library, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    if (st == SL_OK) return;
    fill(C, ldc, M, N, NAN);
    if (failed == SL_OK) failed = st;
}

void sl_nn_gemm(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
                const float *B, int ldb, float beta, float *C, int ldc) {
    sl_nn_gemm_by(SL_GEMM_RULE, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

const char *sl_nn_isa(void) { return sl_isa_name(sl_cpu()); }
