/* bench_peak - the rate of matrix products on this machine, which other speeds are compared
 * with. */
#include <math.h>

#include "commands/commands_impl.h"

typedef struct squares {
    float *numbers; // A, B and C of each thread
    int n;
    double *best; // seconds of each thread's fastest product; 0: it has made none
} squares;

/* The three kinds of product in training, each by the library that the rule takes for it. */
static sl_status multiply(int64_t begin, int64_t end, int worker, void *payload) {
    const squares *s = payload;
    const size_t square = (size_t)s->n * (size_t)s->n;
    float *a = s->numbers + 3 * (size_t)worker * square, *b = a + square, *c = b + square;
    for (int64_t i = begin; i < end; i++) {
        const bool ta = i % 3 == 2, tb = i % 3 == 0;
        const double before = sl_clock();
        sl_nn_gemm(ta, tb, s->n, s->n, s->n, 1, a, s->n, b, s->n, 0, c, s->n);
        const double took = sl_clock() - before;
        if (s->best[worker] == 0 || took < s->best[worker]) s->best[worker] = took;
    }
    return sl_nn_gemm_status();
}

/* All threads multiply at once. The fastest product of each thread counts, because the others were
 * disturbed. A thread that got no part counts like the others. */
sl_status sl_commands__gemm_rate(double *out, sl_pool *pool, int n, double seconds) {
    const int threads = sl_par_pool_threads(pool);
    SL_TRY(sl_nn_prepare(threads));
    const size_t numbers = 3 * (size_t)threads * (size_t)n * (size_t)n;
    sl_status st = SL_OK;
    squares s = { .numbers = sl_malloc_aligned(numbers, sizeof(float)),
                  .n = n,
                  .best = sl_calloc((size_t)threads, sizeof *s.best) };
    if (!s.numbers || !s.best)
        SL_GO(sl_fail_memory(numbers, sizeof(float), "matrices to measure with"));
    for (size_t i = 0; i < numbers; i++) s.numbers[i] = (float)(i % 7) - 3;

    const double start = sl_clock();
    for (int round = 0; st == SL_OK && (round < 3 || sl_clock() - start < seconds); round++)
        st = sl_par_for(pool, 3 * (int64_t)threads, 1, multiply, &s);
    double rate = 0;
    int measured = 0;
    for (int i = 0; i < threads; i++) {
        if (s.best[i] <= 0) continue;
        rate += 2.0 * n * n * n / s.best[i];
        measured++;
    }
    *out = rate * threads / SL_MAX(measured, 1);
done:
    sl_free(s.best);
    sl_free(s.numbers);
    return st;
}
