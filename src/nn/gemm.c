/* gemm - products of matrices by oneDNN or OpenBLAS, each kept to the calling thread.
 *
 * Neither library is the faster one everywhere (bench nn.gemm): oneDNN's products with an
 * untransposed left factor run near the machine's peak at every width of the model, OpenBLAS gets
 * there only for wide ones; but for A^T B, the gradient of a weight, oneDNN copies the left factor
 * badly once it is wide, and OpenBLAS does not. The rule looks at transposition and shape alone, so
 * the same product is always summed in the same order. */
#include <cblas.h>
#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "nn/nn.h"

/* oneDNN spreads its work over OpenMP's threads. The setting belongs to the calling thread.
 * Declared here because clang's own <omp.h> is not installed everywhere, and the library is the
 * same. */
int omp_get_max_threads(void);
void omp_set_num_threads(int n);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char libraries[128];

/* OpenBLAS's number of threads is one for the process. */
static void prepare(void) {
    openblas_set_num_threads(1);
    const dnnl_version_t *v = dnnl_version();
    char blas[64] =
        "unknown"; // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": two words are wanted
    sscanf(openblas_get_config(), "%*s %63s", blas);
    snprintf(libraries, sizeof libraries, "oneDNN %d.%d.%d, OpenBLAS %s", v->major, v->minor,
             v->patch, blas);
}

const char *sl_nn_libraries(void) {
    pthread_once(&once, prepare);
    return libraries;
}

/* For A^T B of 16 to 1024 rows and columns: OpenBLAS is 1.1 to 2.2 times as fast where a side has
 * 512 or both have 128, and 0.6 to 1.0 times elsewhere. K, the rows of both factors, does not
 * matter. */
sl_gemm_library sl_gemm_rule(bool ta, bool tb, int M, int N) {
    const bool wide = SL_MAX(M, N) >= 512 || SL_MIN(M, N) >= 128;
    return ta && !tb && wide ? SL_GEMM_OPENBLAS : SL_GEMM_ONEDNN;
}

static void by_onednn(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
                      const float *B, int ldb, float beta, float *C, int ldc) {
    const int threads = omp_get_max_threads();
    if (threads != 1) omp_set_num_threads(1);
    const dnnl_status_t st =
        dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    if (threads != 1) omp_set_num_threads(threads);
    // it refuses wrong shapes, which are our mistake, and ends without memory for its buffers,
    // after which there is no way on: the product has no way to fail for all who need it
    SL_ASSERT(st == dnnl_success);
}

void sl_gemm_by(sl_gemm_library library, bool ta, bool tb, int M, int N, int K, float alpha,
                const float *A, int lda, const float *B, int ldb, float beta, float *C, int ldc) {
    SL_ASSERT(M >= 0 && N >= 0 && K >= 0);
    SL_ASSERT(lda >= (ta ? M : K) && ldb >= (tb ? K : N) && ldc >= N);
    if (M == 0 || N == 0) return;
    if (K == 0) { // the libraries do not agree about what is left to do
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                float *c = &C[(size_t)m * (size_t)ldc + (size_t)n];
                *c = beta == 0 ? 0 : beta * *c;
            }
        return;
    }
    pthread_once(&once, prepare);
    if (library == SL_GEMM_RULE) library = sl_gemm_rule(ta, tb, M, N);
    if (library == SL_GEMM_ONEDNN)
        by_onednn(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
    else
        cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                    M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}

void sl_gemm(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
             const float *B, int ldb, float beta, float *C, int ldc) {
    sl_gemm_by(SL_GEMM_RULE, ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc);
}
