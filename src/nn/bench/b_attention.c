/* b_attention - how fast attention is, of groups and over columns, per instruction set, on one
 * thread.
 *
 * Each is first held against its plain twin at the timed shape. GFLOP/s count the products alone, 4
 * Tq Tk D H forward and twice as many backward, half of that with causal; `share` is the rate over
 * that of a large product by the faster library.
 *
 *     build/bench/nn.attention          a table, tab separated
 *     build/bench/nn.attention avx2     one level */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "nn/attention_impl.h"

enum { PEAK = 768, REPEATS = 15 };
static const float SCALE = 1.25f;

/* cols: 0 for groups of Tq queries and Tk keys; else Tq are the points and nq the columns that ask.
 */
typedef struct shape {
    const char *what;
    int Tq, Tk, H, D, nq, cols;
    bool causal, drop;
} shape;

static const shape shapes[] = {
    { "points", 64, 64, 1, 64, 0, 0, false, false },
    { "points", 64, 64, 4, 64, 0, 0, false, false },
    { "points", 64, 64, 4, 64, 0, 0, false, true },
    { "points", 64, 64, 8, 64, 0, 0, false, true },
    { "points", 16, 16, 2, 8, 0, 0, false, true },
    { "points", 16, 16, 6, 8, 0, 0, false, true },
    { "cross", 32, 64, 4, 64, 0, 0, false, true },
    { "cross", 12, 16, 4, 8, 0, 0, false, true },
    { "tokens", 10, 10, 4, 64, 0, 0, true, true },
    { "tokens", 32, 32, 4, 64, 0, 0, true, true },
    { "tokens", 60, 60, 4, 64, 0, 0, true, true },
    { "tokens", 12, 12, 4, 8, 0, 0, true, true },
    { "long", 1024, 1024, 1, 64, 0, 0, false, true },
    { "columns", 64, 0, 4, 64, 3, 3, false, true },
    { "columns", 64, 0, 4, 64, 1, 3, false, true },
    { "columns", 2048, 0, 4, 64, 3, 3, false, true },
    { "columns", 16, 0, 6, 8, 3, 3, false, true },
    { "columns", 1024, 0, 6, 8, 3, 3, false, true },
};

/* The arrays of one case: what is read, and what a variant writes. */
typedef struct arrays {
    float *q, *kv, *dout, *o, *p, *dq, *dkv, *scratch;
    uint8_t *mask;
    size_t rows_q, rows_kv, weights;
} arrays;

static float *numbers(sl_rng *rng, size_t n) {
    float *x = sl_malloc_aligned(n, sizeof *x);
    if (!x) {
        fprintf(stderr, "nn.attention: no memory\n");
        exit(1);
    }
    for (size_t i = 0; i < n; i++) x[i] = (float)sl_rng_range(rng, -1, 1);
    return x;
}

static arrays arrays_of(const shape *s) {
    arrays a = { 0 };
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    const size_t width = (size_t)(s->H * s->D);
    a.rows_q = (size_t)(s->cols ? s->nq * s->Tq : s->Tq);
    a.rows_kv = (size_t)(s->cols ? s->cols * s->Tq : s->Tk);
    a.weights = a.rows_q * (size_t)s->H * (size_t)(s->cols ? s->cols : sl_nn_attn_row(s->Tk));
    a.q = numbers(&rng, a.rows_q * 3 * width);
    a.kv = numbers(&rng, a.rows_kv * 3 * width);
    a.dout = numbers(&rng, a.rows_q * width);
    a.o = numbers(&rng, a.rows_q * width);
    a.p = numbers(&rng, a.weights);
    a.dq = numbers(&rng, a.rows_q * 3 * width);
    a.dkv = numbers(&rng, a.rows_kv * 3 * width);
    a.scratch = numbers(&rng, sl_nn_attn_scratch(s->Tq, s->Tk, s->D));
    if (s->drop) a.mask = (uint8_t *)numbers(&rng, a.weights);
    return a;
}

static void arrays_clear(arrays *a) {
    float *all[] = { a->q, a->kv, a->dout, a->o, a->p, a->dq, a->dkv, a->scratch };
    for (int i = 0; i < SL_LEN(all); i++) sl_free(all[i]);
    sl_free(a->mask);
}

static void fwd(const shape *s, const arrays *a, const sl_nn__attention *l) {
    const int width = s->H * s->D;
    if (s->cols)
        l->cols_fwd(a->o, width, a->p, a->q, 3 * width, a->kv + width, a->kv + 2 * width, 3 * width,
                    a->mask, SCALE, NULL, 1, s->Tq, s->nq, s->cols, s->H, s->D);
    else
        l->attn_fwd(a->o, width, a->p, a->q, 3 * width, a->kv + width, a->kv + 2 * width, 3 * width,
                    a->mask, SCALE, s->Tq, s->Tk, s->H, s->D, s->causal, a->scratch);
}

static void bwd(const shape *s, const arrays *a, const sl_nn__attention *l) {
    const int width = s->H * s->D;
    if (s->cols)
        l->cols_bwd(a->dq, 3 * width, a->dkv + width, a->dkv + 2 * width, 3 * width, a->dout, width,
                    a->q, a->kv + width, a->kv + 2 * width, a->p, a->mask, SCALE, NULL, 1, s->Tq,
                    s->nq, s->cols, s->H, s->D);
    else
        l->attn_bwd(a->dq, 3 * width, a->dkv + width, a->dkv + 2 * width, 3 * width, a->dout, width,
                    a->q, a->kv + width, a->kv + 2 * width, a->p, a->mask, SCALE, s->Tq, s->Tk,
                    s->H, s->D, s->causal, a->scratch);
}

typedef void pass(const shape *s, const arrays *a, const sl_nn__attention *l);

/* The largest difference from the plain twin, of o, dq, dk and dv. */
static double difference(const shape *s, const arrays *a, const sl_nn__attention *l) {
    static const sl_nn__attention plain = { .attn_fwd = sl_nn_ref_f_attn_fwd,
                                            .attn_bwd = sl_nn_ref_f_attn_bwd,
                                            .cols_fwd = sl_nn_ref_f_cols_fwd,
                                            .cols_bwd = sl_nn_ref_f_cols_bwd };
    arrays b = arrays_of(s);
    const size_t width = (size_t)(s->H * s->D);
    double worst = 0;
    fwd(s, a, l);
    bwd(s, a, l);
    fwd(s, &b, &plain);
    bwd(s, &b, &plain);
    const struct {
        const float *x, *y;
        size_t n;
    } out[] = { { a->o, b.o, a->rows_q * width },
                { a->dq, b.dq, a->rows_q * 3 * width },
                { a->dkv, b.dkv, a->rows_kv * 3 * width } };
    for (int k = 0; k < SL_LEN(out); k++)
        for (size_t i = 0; i < out[k].n; i++) {
            const double d = fabs((double)out[k].x[i] - (double)out[k].y[i]);
            if (!(d <= worst)) worst = d;
        }
    arrays_clear(&b);
    return worst;
}

static void report(const char *level, const char *which, pass *run, double flops, double peak,
                   const shape *s, const arrays *a, const sl_nn__attention *l) {
    const int calls = 1 + (int)(4e6 / flops);
    double t[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        const double begin = sl_clock();
        for (int i = 0; i < calls; i++) run(s, a, l);
        t[r] = (sl_clock() - begin) / calls;
    }
    sl_bench_sort(t, REPEATS);
    printf("%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%.2f\t%.2f\t%.1f\t%.2f\n", s->what, which,
           level, s->Tq, s->Tk, s->H, s->D, s->nq, s->cols, s->drop ? "dropout" : "", t[0] * 1e6,
           t[REPEATS / 2] * 1e6, flops * 1e-9 / t[0], flops * 1e-9 / t[0] / peak);
}

static double measure_peak(void) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    float *A = numbers(&rng, PEAK * PEAK), *B = numbers(&rng, PEAK * PEAK);
    float *C = numbers(&rng, PEAK * PEAK);
    double best = 1e9;
    for (int i = 0; i < 2 * REPEATS; i++) {
        const double begin = sl_clock();
        sl_nn_gemm_by(i % 2 ? SL_GEMM_ONEDNN : SL_GEMM_OPENBLAS, false, false, PEAK, PEAK, PEAK, 1,
                      A, PEAK, B, PEAK, 0, C, PEAK);
        best = fmin(best, sl_clock() - begin);
    }
    sl_free(A);
    sl_free(B);
    sl_free(C);
    return 2e-9 * PEAK * PEAK * PEAK / best;
}

int main(int argc, char **argv) {
    const double peak = measure_peak();
    printf("# sgemm of %d: %.1f GFLOP/s\n", PEAK, peak);
    printf(
        "what\tpass\tlevel\tTq\tTk\tH\tD\tnq\tcols\tdropout\tbest us\tmedian us\tGFLOP/s\tshare\n");
    for (int c = (int)sl_cpu_best(); c >= 0; c--) {
        const char *level = sl_isa_name((sl_isa)c);
        const sl_nn__attention *l = sl_nn__attention_at((sl_isa)c);
        if (argc > 1 && strcmp(argv[1], level) != 0) continue;
        for (int i = 0; i < SL_LEN(shapes); i++) {
            const shape *s = &shapes[i];
            arrays a = arrays_of(s);
            const double worst = difference(s, &a, l);
            if (!(worst < 1e-4)) {
                fprintf(stderr, "nn.attention: %s at %s is off by %g\n", s->what, level, worst);
                return 1;
            }
            const double pairs = s->cols ? (double)s->Tq * s->nq * s->cols
                                         : (double)s->Tq * s->Tk * (s->causal ? 0.5 : 1);
            const double flops = 4 * pairs * s->H * s->D;
            report(level, "fwd", fwd, flops, peak, s, &a, l);
            report(level, "bwd", bwd, 2 * flops, peak, s, &a, l);
            arrays_clear(&a);
        }
    }
    return 0;
}
