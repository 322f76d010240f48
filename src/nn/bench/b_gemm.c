/* b_gemm - how fast products of the model's shapes are by either library, on one thread.
 *
 * Each is first held against the other library's product, then timed. `share` is the rate over that
 * of one product of 1024 x 1024 x 1024, the machine's own peak for the purpose; `rule` marks the
 * library that sl_nn_gemm takes.
 *
 * The last lines are what the rule's table in gemm.c is made from, a line for each row of it:
 * renew them on every instruction set by SYMLAW_CPU.
 *
 *     build/bench/nn.gemm           a table, tab separated
 *     build/bench/nn.gemm 256       products of layers of this width alone */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "nn/nn.h"

enum { PEAK = 1024, LARGEST = 1536 * 4096, REPEATS = 11 };

static float *A, *B, *C[2];

static void run(sl_gemm_library l, bool ta, bool tb, int M, int N, int K, float *out) {
    sl_nn_gemm_by(l, ta, tb, M, N, K, 1, A, ta ? M : K, B, tb ? K : N, 0, out, N);
}

/* Seconds of one product: the best, and the median in *median. */
static double best(double *median, sl_gemm_library l, bool ta, bool tb, int M, int N, int K) {
    const int calls = 1 + (int)(1e7 / (2.0 * M * N * K));
    double s[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        const double begin = sl_clock();
        for (int i = 0; i < calls; i++) run(l, ta, tb, M, N, K, C[0]);
        s[r] = (sl_clock() - begin) / calls;
    }
    sl_bench_sort(s, REPEATS);
    *median = s[REPEATS / 2];
    return s[0];
}

static bool agree(bool ta, bool tb, int M, int N, int K) {
    run(SL_GEMM_ONEDNN, ta, tb, M, N, K, C[0]);
    run(SL_GEMM_OPENBLAS, ta, tb, M, N, K, C[1]);
    for (int i = 0; i < M * N; i++)
        if (!(fabsf(C[0][i] - C[1][i]) <= 1e-3f)) return false;
    return true;
}

/* How the libraries compare over the products of a kind, which is a row of the rule's table. */
static struct tally {
    int n;
    double log_sum, least, most; // of the time of OpenBLAS over that of oneDNN
} tallies[SL_GEMM_KINDS];

static void count(bool ta, bool tb, int M, int N, int K, double ratio) {
    struct tally *t = &tallies[sl_nn_gemm_kind_of(ta, tb, M, N, K)];
    t->least = t->n ? fmin(t->least, ratio) : ratio;
    t->most = t->n ? fmax(t->most, ratio) : ratio;
    t->log_sum += log(ratio);
    t->n++;
}

static int report(const char *what, bool ta, bool tb, int M, int N, int K, double peak) {
    if (!agree(ta, tb, M, N, K)) {
        fprintf(stderr, "nn.gemm: the libraries differ at %s %d %d %d\n", what, M, N, K);
        return 1;
    }
    const sl_gemm_library ruled = sl_nn_gemm_rule(sl_cpu(), ta, tb, M, N, K);
    double seconds[3];
    for (int l = SL_GEMM_ONEDNN; l <= SL_GEMM_OPENBLAS; l++) {
        double median, s = best(&median, (sl_gemm_library)l, ta, tb, M, N, K);
        const double rate = 2e-9 * M * N * K / s;
        seconds[l] = s;
        printf("%s\t%c%c\t%d\t%d\t%d\t%s\t%s\t%.2f\t%.2f\t%.1f\t%.2f\n", what, ta ? 'T' : 'N',
               tb ? 'T' : 'N', M, N, K, l == SL_GEMM_ONEDNN ? "oneDNN" : "OpenBLAS",
               (int)ruled == l ? "rule" : "", s * 1e6, median * 1e6, rate, rate / peak);
    }
    count(ta, tb, M, N, K, seconds[SL_GEMM_OPENBLAS] / seconds[SL_GEMM_ONEDNN]);
    return 0;
}

int main(int argc, char **argv) {
    const int only = argc > 1 ? atoi(argv[1]) : 0;
    static const int widths[] = { 16, 32, 48, 64, 128, 256, 512 };
    static const int row_counts[] = { 96, 192, 768 };
    float **all[] = { &A, &B, &C[0], &C[1] };
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < SL_LEN(all); i++) {
        *all[i] = sl_malloc_aligned(LARGEST, sizeof **all[i]);
        if (!*all[i]) return fprintf(stderr, "nn.gemm: no memory\n"), 1;
        for (int k = 0; k < LARGEST; k++) (*all[i])[k] = (float)sl_rng_range(&rng, -1, 1);
    }
    double median, peak = 0;
    for (int l = SL_GEMM_ONEDNN; l <= SL_GEMM_OPENBLAS; l++)
        peak = fmax(peak, 2e-9 * PEAK * PEAK * PEAK /
                              best(&median, (sl_gemm_library)l, false, false, PEAK, PEAK, PEAK));
    printf("# %s, %s; 1024 x 1024 x 1024: %.1f GFLOP/s\n", sl_nn_isa(), sl_nn_libraries(), peak);
    printf("product\top\tM\tN\tK\tlibrary\trule\tbest us\tmedian us\tGFLOP/s\tshare\n");
    int wrong = 0;
    for (int w = 0; w < SL_LEN(widths); w++)
        for (int r = 0; r < SL_LEN(row_counts); r++) {
            const int C_ = widths[w], N = row_counts[r];
            if (only && C_ != only) continue;
            const struct {
                const char *what;
                int out;
            } maps[] = { { "qkv", 3 * C_ }, { "projection", C_ }, { "mlp", 4 * C_ } };
            for (int m = 0; m < SL_LEN(maps); m++) {
                wrong |= report(maps[m].what, false, true, N, maps[m].out, C_, peak);
                wrong |= report(maps[m].what, false, false, N, C_, maps[m].out, peak);
                wrong |= report(maps[m].what, true, false, maps[m].out, C_, N, peak);
            }
            wrong |= report("mlp back", false, true, N, C_, 4 * C_, peak);
            wrong |= report("mlp back", false, false, N, 4 * C_, C_, peak);
            wrong |= report("mlp back", true, false, C_, 4 * C_, N, peak);
        }
    printf("# time of OpenBLAS over that of oneDNN, on %s: mean, least, most\n", sl_nn_isa());
    for (int i = 0; i < SL_GEMM_KINDS; i++)
        if (tallies[i].n > 0)
            printf("# %s\t%d products\t%.2f\t%.2f\t%.2f\n", sl_nn_gemm_kind_name((sl_gemm_kind)i),
                   tallies[i].n, exp(tallies[i].log_sum / tallies[i].n), tallies[i].least,
                   tallies[i].most);
    for (int i = 0; i < SL_LEN(all); i++) sl_free(*all[i]);
    return wrong;
}
