/* b_rows - how fast decoding's own product is beside the GEMM library's, on one thread.
 *
 * Both multiply the same rows by the same weights, those of the maps of a decoder of width 256;
 * ours has them in panels already, the library packs them each time. First they are held against
 * each other, then timed in turn.
 *
 *     build/bench/nn.rows           a table, tab separated: rows, inputs, outputs, GFLOP/s at best
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "nn/nn.h"

enum { ROUNDS = 40, MOST_ROWS = 128, WIDE = 1024 };

static float *x, *W, *panels, *y, *z;

static void ours(int N, int C, int K) { sl_nn_panels_fwd(y, K, x, C, panels, NULL, N, C, K); }
static void theirs(int N, int C, int K) {
    sl_nn_gemm(false, true, N, K, C, 1, x, C, W, C, 0, z, K);
}

static double seconds(void (*product)(int, int, int), int N, int C, int K) {
    const int calls = 1 + (int)(2e7 / (2.0 * N * C * K));
    const double begin = sl_clock();
    for (int i = 0; i < calls; i++) product(N, C, K);
    return (sl_clock() - begin) / calls;
}

static int report(int N, int C, int K) {
    double best[2] = { INFINITY, INFINITY };
    sl_nn_panels_pack(panels, W, C, C, K, false);
    ours(N, C, K);
    theirs(N, C, K);
    for (int i = 0; i < N * K; i++)
        if (!(fabsf(y[i] - z[i]) <= 1e-3f)) {
            fprintf(stderr, "nn.rows: the products differ at %d rows, %d x %d\n", N, C, K);
            return 1;
        }
    for (int r = 0; r < ROUNDS; r++) {
        best[0] = fmin(best[0], seconds(ours, N, C, K));
        best[1] = fmin(best[1], seconds(theirs, N, C, K));
    }
    const double work = 2e-9 * N * C * K;
    printf("%d\t%d\t%d\t%.1f\t%.1f\t%.2f\n", N, C, K, work / best[0], work / best[1],
           best[1] / best[0]);
    return 0;
}

int main(void) {
    static const int maps[][2] = { { 256, 768 }, { 256, 256 }, { 256, 1024 }, { 1024, 256 } };
    static const int rows[] = { 1, 6, 64, 128 };
    const size_t weights = 256 * WIDE;
    sl_rng rng;
    int wrong = 0;
    x = sl_malloc_aligned((size_t)MOST_ROWS * WIDE, sizeof *x);
    W = sl_malloc_aligned(weights, sizeof *W);
    panels = sl_malloc_aligned(weights, sizeof *panels);
    y = sl_malloc_aligned((size_t)MOST_ROWS * WIDE, sizeof *y);
    z = sl_malloc_aligned((size_t)MOST_ROWS * WIDE, sizeof *z);
    if (!x || !W || !panels || !y || !z) return 1;
    sl_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < MOST_ROWS * WIDE; i++) x[i] = (float)sl_rng_range(&rng, -1, 1);
    for (size_t i = 0; i < weights; i++) W[i] = (float)sl_rng_range(&rng, -0.1, 0.1);
    printf("# %s, %s\n# rows\tinputs\toutputs\tpanels\tlibrary\tratio\n", sl_nn_isa(),
           sl_nn_libraries());
    for (int r = 0; r < SL_LEN(rows); r++)
        for (int m = 0; m < SL_LEN(maps); m++) wrong |= report(rows[r], maps[m][0], maps[m][1]);
    sl_free(z);
    sl_free(y);
    sl_free(panels);
    sl_free(W);
    sl_free(x);
    return wrong;
}
