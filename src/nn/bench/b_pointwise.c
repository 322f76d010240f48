/* b_pointwise - how fast the kernels beside products and attention are, per instruction set.
 *
 * Each is first held against its plain twin at the timed shape, then run on one thread over arrays
 * that lie in the second or third cache, as they do in a training step. ns are per number of a row
 * array (per bit for dropout_mask); GB/s count each array that a kernel must read or write once.
 *
 *     build/bench/nn.pointwise              a table, tab separated
 *     build/bench/nn.pointwise residual_norm avx2    kernels and levels whose names hold these
 * words */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "nn/pointwise_impl.h"

enum { ROWS = 768, WIDEST = 1024, V = 104, BLOCKS = 8, BLOCK = 1 << 20, WEIGHTS = 5, REPEATS = 41 };

typedef struct bench {
    float *x, *y, *z, *h, *out, *w, *stat; // x, y, z: rows that are read; w: weights
    uint8_t *mask, *id;
    const float *block[BLOCKS];
    int N, C;
    double answer;
} bench;

typedef struct subject {
    const char *name;
    void (*run)(bench *b, const sl_nn__pointwise *k);
    int bytes; // moved per number
    int width; // 0: the swept widths
} subject;

/* ---------------------------------------------------------------- subjects ------------------ */

static void residual_norm_fwd(bench *b, const sl_nn__pointwise *k) {
    k->residual_norm_fwd(b->out, b->h, b->stat, b->x, b->y, b->w, b->mask, 1.25f, b->w + b->C,
                         b->w + 2 * b->C, 1e-5f, b->N, b->C);
}
static void residual_norm_bwd(bench *b, const sl_nn__pointwise *k) {
    k->residual_norm_bwd(b->out, b->h, b->w, b->w + b->C, b->w + 2 * b->C, b->x, b->y, b->stat,
                         b->mask, 1.25f, b->w + 3 * b->C, b->N, b->C);
}
static void norm_fwd(bench *b, const sl_nn__pointwise *k) {
    k->residual_norm_fwd(NULL, b->h, b->stat, b->x, NULL, NULL, NULL, 1, b->w + b->C,
                         b->w + 2 * b->C, 1e-5f, b->N, b->C);
}
static void norm_bwd(bench *b, const sl_nn__pointwise *k) {
    k->residual_norm_bwd(b->out, NULL, NULL, b->w + b->C, b->w + 2 * b->C, b->x, b->y, b->stat,
                         NULL, 1, b->w + 3 * b->C, b->N, b->C);
}
static void silu_fwd(bench *b, const sl_nn__pointwise *k) {
    k->silu_fwd(b->h, b->out, b->w, b->N, b->C);
}
static void silu_bwd(bench *b, const sl_nn__pointwise *k) {
    k->silu_bwd(b->h, b->w, b->x, b->y, b->N, b->C);
}
static void cells_fwd(bench *b, const sl_nn__pointwise *k) {
    k->cells_fwd(b->h, b->x, b->y, b->w, b->w + b->C, b->w + 2 * b->C, b->N / 3, 3, b->C);
}
static void cells_bwd(bench *b, const sl_nn__pointwise *k) {
    k->cells_bwd(b->w, b->w + b->C, b->w + 2 * b->C, b->x, b->y, b->z, b->N / 3, 3, b->C);
}
static void tokens_fwd(bench *b, const sl_nn__pointwise *k) {
    k->tokens_fwd(b->h, b->id, b->id + b->N, b->x, b->y, b->N, b->C);
}
static void tokens_bwd(bench *b, const sl_nn__pointwise *k) {
    k->tokens_bwd(b->h, b->out, b->x, b->id, b->id + b->N, b->N, b->C);
}
static void xent(bench *b, const sl_nn__pointwise *k) {
    b->answer = k->xent(b->h, b->x, b->id, b->N, b->C);
}
static void dropout_mask(bench *b, const sl_nn__pointwise *k) {
    k->dropout_mask((uint8_t *)b->h, (size_t)b->N * (size_t)b->C / 8, 1, 2, 3,
                    sl_nn_dropout_threshold(0.1));
}
static void sum_tree(bench *b, const sl_nn__pointwise *k) {
    b->answer = k->sum_tree(b->h, b->block, BLOCKS, (int64_t)b->N * b->C);
}

static const subject subjects[] = {
    { "residual_norm_fwd", residual_norm_fwd, 16, 0 },
    { "residual_norm_bwd", residual_norm_bwd, 20, 0 },
    { "norm_fwd", norm_fwd, 8, 0 },
    { "norm_bwd", norm_bwd, 16, 0 },
    { "silu_fwd", silu_fwd, 12, 0 },
    { "silu_bwd", silu_bwd, 12, 0 },
    { "cells_fwd", cells_fwd, 4, 0 },
    { "cells_bwd", cells_bwd, 4, 0 },
    { "tokens_fwd", tokens_fwd, 4, 0 },
    { "tokens_bwd", tokens_bwd, 4, 0 },
    { "xent", xent, 8, V },
    { "dropout_mask", dropout_mask, 0, 0 },
    { "sum_tree_8", sum_tree, 36, 1024 },
};

/* ---------------------------------------------------------------- check --------------------- */

static void plain_keep(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                       uint32_t threshold) {
    for (size_t i = 0; i < 8 * bytes; i++) {
        const uint32_t word = sl_philox(key, hi, lo + i / 8).v[i % 8 / 2];
        const bool on = (i % 2 ? word >> 16 : word & 0xffff) >= threshold;
        if (i % 8 == 0) bits[i / 8] = 0;
        bits[i / 8] = (uint8_t)(bits[i / 8] | on << (i % 8));
    }
}

static float halves(const float *const *block, int n_blocks, int64_t i) {
    if (n_blocks == 1) return block[0][i];
    return halves(block, n_blocks / 2, i) + halves(block + n_blocks / 2, n_blocks / 2, i);
}

static double plain_tree(float *out, const float *const *block, int n_blocks, int64_t n) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = halves(block, n_blocks, i);
        squares += (double)out[i] * (double)out[i];
    }
    return squares;
}

static const sl_nn__pointwise plain = {
    .residual_norm_fwd = sl_nn_ref_f_residual_norm_fwd,
    .residual_norm_bwd = sl_nn_ref_f_residual_norm_bwd,
    .silu_fwd = sl_nn_ref_f_silu_fwd,
    .silu_bwd = sl_nn_ref_f_silu_bwd,
    .cells_fwd = sl_nn_ref_f_cells_fwd,
    .cells_bwd = sl_nn_ref_f_cells_bwd,
    .tokens_fwd = sl_nn_ref_f_tokens_fwd,
    .tokens_bwd = sl_nn_ref_f_tokens_bwd,
    .xent = sl_nn_ref_f_xent,
    .dropout_mask = plain_keep,
    .sum_tree = plain_tree,
};

static void fill(bench *b) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    const size_t most = (size_t)ROWS * WIDEST;
    float *all[] = { b->x, b->y, b->z, b->h, b->out };
    for (int a = 0; a < SL_LEN(all); a++)
        for (size_t i = 0; i < most; i++) all[a][i] = (float)(sl_rng_u32(&rng) * 0x1p-30 - 2);
    for (size_t i = 0; i < (size_t)WIDEST * WEIGHTS; i++)
        b->w[i] = (float)(sl_rng_u32(&rng) * 0x1p-32);
    for (size_t i = 0; i < (size_t)ROWS * 2; i++) b->stat[i] = (float)(1 - (double)(i % 2) / 3);
    for (size_t i = 0; i < most / 8; i++) b->mask[i] = (uint8_t)sl_rng_u32(&rng);
    for (size_t i = 0; i < (size_t)ROWS * 2; i++) b->id[i] = (uint8_t)sl_rng_below(&rng, V);
}

static double difference(const float *a, const float *b, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)a[i] - (double)b[i]) / fmax(1, fabs((double)b[i]));
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

/* The largest difference between what the kernel and its twin leave in any array. `other` has
 * arrays of its own. Bits are compared as bits: a difference of one is 1. */
static double check(const subject *s, bench *b, bench *other, const sl_nn__pointwise *k) {
    const size_t n = (size_t)b->N * (size_t)b->C;
    fill(b);
    fill(other);
    s->run(b, k);
    s->run(other, &plain);
    if (s->run == dropout_mask) return memcmp(b->h, other->h, n / 8) != 0;
    double worst = difference(b->h, other->h, n);
    worst = fmax(worst, difference(b->out, other->out, n));
    worst = fmax(worst, difference(b->w, other->w, (size_t)WIDEST * WEIGHTS));
    worst = fmax(worst, difference(b->stat, other->stat, (size_t)ROWS * 2));
    return fmax(worst, fabs(b->answer - other->answer) / fmax(1, fabs(other->answer)));
}

/* ---------------------------------------------------------------- time ---------------------- */

static void measure(double *best, double *median, const subject *s, bench *b,
                    const sl_nn__pointwise *k) {
    double t[REPEATS];
    const double n = (double)b->N * b->C;
    const int calls = (int)(8e5 / n) + 1;
    fill(b);
    for (int r = 0; r < REPEATS; r++) {
        const double start = sl_clock();
        for (int c = 0; c < calls; c++) s->run(b, k);
        t[r] = (sl_clock() - start) * 1e9 / (calls * n);
    }
    sl_bench_sort(t, REPEATS);
    *best = t[0];
    *median = t[REPEATS / 2];
}

static bool bench_new(bench *b) {
    const size_t most = (size_t)ROWS * WIDEST;
    float **rows[] = { &b->x, &b->y, &b->z, &b->h, &b->out };
    bool good = true;
    for (int i = 0; i < SL_LEN(rows); i++) good &= (*rows[i] = sl_malloc_aligned(most, 4)) != NULL;
    b->w = sl_malloc_aligned((size_t)WIDEST * WEIGHTS, sizeof *b->w);
    b->stat = sl_malloc_aligned((size_t)ROWS * 2, sizeof *b->stat);
    b->mask = sl_malloc_aligned(most / 8, 1);
    b->id = sl_malloc_aligned((size_t)ROWS * 2, 1);
    return good && b->w && b->stat && b->mask && b->id;
}

static void bench_free(bench *b) {
    void *all[] = { b->x, b->y, b->z, b->h, b->out, b->w, b->stat, b->mask, b->id };
    for (int i = 0; i < SL_LEN(all); i++) sl_free(all[i]);
}

/* Is it asked for? Words that name neither a kernel nor a level ask for nothing. */
static bool wanted(const char *name, const char *level, int argc, char **argv) {
    bool kernels = argc < 2, levels = argc < 3;
    for (int i = 1; i < argc; i++) {
        if (i == 1 && strstr(name, argv[i])) kernels = true;
        if (i > 1 && strcmp(level, argv[i]) == 0) levels = true;
    }
    return kernels && levels;
}

int main(int argc, char **argv) {
    static const int swept[] = { 64, 256, 1024 };
    bench b = { 0 }, other = { 0 };
    float *blocks = sl_malloc_aligned((size_t)BLOCKS * BLOCK, sizeof *blocks);
    int status = bench_new(&b) && bench_new(&other) && blocks ? 0 : 3;
    for (size_t i = 0; !status && i < (size_t)BLOCKS * BLOCK; i++)
        blocks[i] = (float)(i * 2654435761u % 1000) / 1000;
    for (size_t i = 0; !status && i < BLOCKS; i++) b.block[i] = other.block[i] = blocks + i * BLOCK;

    if (!status) printf("name\tshape\tlevel\tbest_ns\tmedian_ns\tgb_per_s\tmax_error\n");
    for (int i = 0; i < SL_LEN(subjects) && !status; i++)
        for (int cpu = 0; cpu <= (int)sl_cpu_best(); cpu++) {
            const subject *s = &subjects[i];
            const char *level = sl_isa_name((sl_isa)cpu);
            const sl_nn__pointwise *k = sl_nn__pointwise_at((sl_isa)cpu);
            if (!wanted(s->name, level, argc, argv)) continue;
            for (int w = 0; w < (s->width ? 1 : SL_LEN(swept)) && !status; w++) {
                double best, median;
                b.N = other.N = ROWS;
                b.C = other.C = s->width ? s->width : swept[w];
                const double error = check(s, &b, &other, k);
                if (!(error < 1e-3)) {
                    fprintf(stderr, "%s %s, width %d: off by %g\n", s->name, level, b.C, error);
                    status = 1;
                    break;
                }
                measure(&best, &median, s, &b, k);
                printf("%s\t%dx%d\t%s\t%.4f\t%.4f\t%.1f\t%.1e\n", s->name, b.N, b.C, level, best,
                       median, s->bytes / best, error);
            }
        }
    sl_free(blocks);
    bench_free(&b);
    bench_free(&other);
    return status;
}
