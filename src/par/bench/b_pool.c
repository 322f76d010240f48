/* b_pool - what sl_par_for costs beside the work itself.
 *
 * A loop of one part per thread, empty or of a fixed length, called again and again: at once, and
 * after the caller was busy alone for a while, as between the loops of a training step. Parts of a
 * length L would take L if every thread began at once, so what the table shows beyond L is how long
 * it takes to wake workers and to wait for the last one. Checked first: every part is run.
 *
 *     build/bench/par.pool             a table, tab separated; threads up to the number of cores */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "par/par.h"

enum { REPEATS = 2000 };

typedef struct job {
    double length; // of a part, microseconds
    _Atomic int64_t ran;
} job;

static void pass_time(double microseconds) {
    double start = sl_clock();
    while (sl_clock() - start < microseconds * 1e-6) continue;
}

static sl_status part(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    job *j = payload;
    atomic_fetch_add_explicit(&j->ran, end - begin, memory_order_relaxed);
    if (j->length > 0) pass_time(j->length);
    return SL_OK;
}

/* Microseconds of REPEATS loops beyond the length of a part, sorted. */
static sl_status measure(double *t, sl_pool *pool, double length, double pause) {
    job j = { .length = length };
    int threads = sl_par_pool_threads(pool);
    for (int r = 0; r < REPEATS; r++) {
        if (pause > 0) pass_time(pause);
        double start = sl_clock();
        SL_TRY(sl_par_for(pool, threads, 1, part, &j));
        t[r] = (sl_clock() - start) * 1e6 - length;
    }
    if (j.ran != (int64_t)REPEATS * threads) return sl_fail(SL_EINVAL, "parts were left out");
    sl_bench_sort(t, REPEATS);
    return SL_OK;
}

int main(void) {
    static const double lengths[] = { 0, 20, 200 }, pauses[] = { 0, 20, 500 };
    static double t[REPEATS];
    printf("name\tthreads\tpart_us\tpause_us\tbest_us\tmedian_us\tp95_us\n");
    for (int threads = 1; threads <= sl_par_cores(); threads *= 2) {
        sl_pool *pool;
        sl_status st = sl_par_pool_new(&pool, threads);
        for (int i = 0; i < SL_LEN(lengths) * SL_LEN(pauses) && st == SL_OK; i++) {
            double length = lengths[i / SL_LEN(pauses)], pause = pauses[i % SL_LEN(pauses)];
            st = measure(t, pool, length, pause);
            if (st == SL_OK)
                printf("par_for\t%d\t%g\t%g\t%.2f\t%.2f\t%.2f\n", threads, length, pause, t[0],
                       t[REPEATS / 2], t[REPEATS * 95 / 100]);
        }
        if (st != SL_OK) {
            fprintf(stderr, "%s\n", sl_last_error());
            return EXIT_FAILURE;
        }
        sl_par_pool_free(pool);
    }
    return EXIT_SUCCESS;
}
