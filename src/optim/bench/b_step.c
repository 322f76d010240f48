/* b_step - how fast a step of the optimiser is.
 *
 * The tensors of a model of 6.5 million parameters, in round figures, by one thread and by all
 * cores; Adam alone, AdamCPR with a bound in force on every matrix (squares are summed, weights are
 * shrunk). Adam reads gradient, moments and weight and writes all but the first: 28 bytes per
 * parameter, which the rate is computed from for all rows. Checked first: one step of Adam moves by
 * the learning rate.
 *
 *     build/bench/optim.step             a table, tab separated */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "optim/optim_impl.h"
#include "par/par.h"

enum { MATRICES = 50, SIDE = 360, REPEATS = 40, BYTES = 28 };

typedef struct bench {
    sl_tensor tensors[2 * MATRICES];
    int64_t count;
    float *weights, *grad;
} bench;

/* Matrices, each with the bias of its outputs. */
static sl_status make(bench *b) {
    int64_t at = 0;
    for (int i = 0; i < 2 * MATRICES; i++) {
        const bool matrix = i % 2 == 0;
        b->tensors[i] = (sl_tensor){ at, matrix ? SIDE * SIDE : SIDE, matrix };
        at = (at + b->tensors[i].count + 15) & ~INT64_C(15);
        b->count += b->tensors[i].count;
    }
    b->weights = sl_malloc_aligned((size_t)at, sizeof *b->weights);
    b->grad = sl_malloc_aligned((size_t)at, sizeof *b->grad);
    if (!b->weights || !b->grad) return sl_fail_memory((size_t)at, 8, "weights");
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int64_t i = 0; i < at; i++) {
        b->weights[i] = (float)sl_rng_range(&rng, -0.1, 0.1);
        b->grad[i] = (float)sl_rng_range(&rng, -0.1, 0.1);
    }
    return SL_OK;
}

/* A step with the kernels k; sums are left as the gradient's would be: any number will do. */
static sl_status step(bench *b, sl_optim *s, sl_pool *pool, const sl_optim__kernels *k) {
    sl_optim_report r;
    for (int i = 0; i < s->n_piece; i++) s->sum[i] = 1;
    const sl_optim__arrays a = { k, b->weights, s->m, s->v, b->grad };
    return sl_optim__step(&r, s, pool, &a, 1, sl_optim__gather);
}

static sl_status check(bench *b, sl_optim *s, const sl_optim__kernels *k) {
    const float before = b->weights[7];
    SL_TRY(step(b, s, NULL, k));
    const double lr = sl_optim_lr(&s->options, 0, s->steps), moved = fabs(b->weights[7] - before);
    if (fabs(moved - lr) > 1e-3 * lr)
        return sl_fail(SL_EINVAL, "%s: moved by %g, not %g", k->name, moved, lr);
    return SL_OK;
}

static sl_status measure(bench *b, sl_pool *pool, const sl_optim__kernels *k, bool bounds) {
    sl_optim_options o = sl_optim_defaults();
    o.optimizer = bounds ? SL_OPTIM_ADAMCPR : SL_OPTIM_ADAM;
    o.kappa_init = SL_KAPPA_UNIFORM;
    o.kappa_param = 1e-3;
    o.kappa_update = 1e-6; // bounds that hold a little
    sl_optim *s;
    SL_TRY(sl_optim_new(&s, b->tensors, SL_LEN(b->tensors), &o, 1000, 0, 1));
    sl_status st;
    double t[REPEATS];
    if (!bounds) SL_GO(check(b, s, k));
    for (int r = 0; r < REPEATS; r++) {
        double start = sl_clock();
        SL_GO(step(b, s, pool, k));
        t[r] = sl_clock() - start;
    }
    sl_bench_sort(t, REPEATS);
    printf("%s\t%lld\t%s\t%d\t%.3f\t%.3f\t%.2f\n", bounds ? "adamcpr" : "adam", (long long)b->count,
           k->name, sl_par_pool_threads(pool), t[0] * 1e3, t[REPEATS / 2] * 1e3,
           (double)b->count * BYTES / t[0] * 1e-9);
done:
    sl_optim_free(s);
    return st;
}

int main(void) {
    static bench b;
    sl_pool *pool = NULL;
    const sl_optim__kernels *k;
    sl_status st;
    SL_GO(make(&b));
    printf("name\tparameters\tkernels\tthreads\tbest_ms\tmedian_ms\tGB_per_s\n");
    for (int threads = 1; threads <= sl_par_cores(); threads *= 2) {
        SL_GO(sl_par_pool_new(&pool, threads));
        for (int i = 0; (k = sl_optim__usable(i)) != NULL; i++) {
            SL_GO(measure(&b, pool, k, false));
            SL_GO(measure(&b, pool, k, true));
        }
        sl_par_pool_free(pool);
        pool = NULL;
    }
done:
    if (st != SL_OK) fprintf(stderr, "%s\n", sl_last_error());
    sl_par_pool_free(pool);
    sl_free(b.weights);
    sl_free(b.grad);
    return st == SL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
