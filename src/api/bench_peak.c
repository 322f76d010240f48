/* bench_peak - how fast this machine multiplies matrices: what all other speeds are held against.
 */
#include "api/api_impl.h"

typedef struct squares {
    float *numbers; // A, B and C of each thread
    int n;
} squares;

static sl_status multiply(int64_t begin, int64_t end, int worker, void *payload) {
    const squares *s = payload;
    const size_t square = (size_t)s->n * (size_t)s->n;
    float *a = s->numbers + 3 * (size_t)worker * square, *b = a + square, *c = b + square;
    for (int64_t i = begin; i < end; i++)
        sl_gemm(false, true, s->n, s->n, s->n, 1, a, s->n, b, s->n, 0, c, s->n);
    return sl_gemm_status();
}

/* A round is one product per thread; the best one is the machine's, the others were disturbed. */
sl_status sl_api__gemm_rate(double *out, sl_pool *pool, int n, double seconds) {
    const int threads = sl_pool_threads(pool);
    SL_TRY(sl_nn_prepare(threads));
    const size_t numbers = 3 * (size_t)threads * (size_t)n * (size_t)n;
    squares s = { .numbers = sl_malloc_wide(numbers, sizeof(float)), .n = n };
    if (!s.numbers) return sl_fail_memory(numbers, sizeof(float), "matrices to measure with");
    for (size_t i = 0; i < numbers; i++) s.numbers[i] = (float)(i % 7) - 3;

    sl_status st = SL_OK;
    const double start = sl_clock();
    double best = 0;
    for (int round = 0; st == SL_OK && (round < 3 || sl_clock() - start < seconds); round++) {
        const double before = sl_clock();
        st = sl_par_for(pool, threads, 1, multiply, &s);
        const double took = sl_clock() - before;
        if (round == 0 || took < best) best = took;
    }
    sl_free(s.numbers);
    *out = 2.0 * n * n * n * threads / best;
    return st;
}
