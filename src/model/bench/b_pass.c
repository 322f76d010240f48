/* b_pass - the pass over one chunk of pairs, one core: how many pairs a chunk should have.
 *
 * Cells and targets are made up: 64 points, 2 variables and y, targets of 32 tokens. The loss is
 * held against the plain path before anything is timed.
 *
 *     forward      the loss alone
 *     training     and its gradients
 *     plain        the same without the savings of model.h
 *
 *     build/bench/model.pass [SIZE ...]       a table, tab separated; GFLOP/s as executed, and by
 *                                             the paper's count of 3 N a cell and token */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "model/model.h"

enum { POINTS = 64, TOKENS = 32, MAX_PAIRS = 16, REPEATS = 7, COLUMNS = 3 };

typedef struct bench {
    sl_model *m;
    float *weights, *grad;
    sl_batch b;
    float mantissa[COLUMNS * MAX_PAIRS * POINTS], exponent[COLUMNS * MAX_PAIRS * POINTS];
    uint8_t ids[MAX_PAIRS * TOKENS], targets[MAX_PAIRS * TOKENS];
    int begin[MAX_PAIRS + 1];
    int64_t number[MAX_PAIRS];
} bench;

static void fill(bench *x, int pairs) {
    sl_rng rng;
    sl_rng_init(&rng, 1, 0, 0);
    for (int i = 0; i < COLUMNS * pairs * POINTS; i++) {
        x->mantissa[i] = (float)sl_rng_range(&rng, -10, 10);
        x->exponent[i] = (float)sl_rng_range(&rng, -0.2, 0.2);
    }
    for (int i = 0; i < pairs * TOKENS; i++) {
        x->ids[i] = (uint8_t)sl_rng_below(&rng, (uint32_t)x->m->options.vocabulary);
        x->targets[i] = (uint8_t)sl_rng_below(&rng, (uint32_t)x->m->options.vocabulary);
    }
    for (int i = 0; i <= pairs; i++) x->begin[i] = i * TOKENS;
    for (int i = 0; i < pairs; i++) x->number[i] = i;
    x->b = (sl_batch){ pairs,  POINTS,     x->mantissa, x->exponent, NULL,
                       x->ids, x->targets, x->begin,    x->number };
}

static void time_one(bench *x, sl_work *w, const char *size, const char *what, bool train) {
    const sl_dropout dropout = { 7, true };
    double seconds[REPEATS];
    int inner = 1;
    for (int i = -1; i < REPEATS; i++) {
        double start = sl_clock();
        for (int k = 0; k < inner; k++)
            sl_model_pass(w, train ? x->grad : NULL, NULL, x->weights, &x->b, dropout);
        double t = (sl_clock() - start) / inner;
        if (i < 0)
            inner = SL_MAX(1, (int)(0.05 / t)); // the first one warms up and sets the length
        else
            seconds[i] = t;
    }
    sl_bench_sort(seconds, REPEATS);
    const double part = train ? 1 : 1.0 / 3, pairs = x->b.pairs, median = seconds[REPEATS / 2];
    printf("%s\t%s\t%d\t%.3f\t%.3f\t%.1f\t%.1f\n", what, size, x->b.pairs, 1e3 * seconds[0] / pairs,
           1e3 * median / pairs, part * pairs * sl_model_flops(x->m, POINTS, TOKENS) / median / 1e9,
           part * pairs * sl_model_flops_paper(x->m, COLUMNS * POINTS, TOKENS) / median / 1e9);
    fflush(stdout);
}

static sl_status run(const char *size) {
    sl_status st;
    static bench x;
    sl_work *w = NULL, *plain = NULL;
    sl_model_options o = sl_model_defaults();
    SL_GO(sl_model_size_find(&o, size));
    SL_GO(sl_model_new(&x.m, &o));
    x.weights = sl_malloc_aligned((size_t)x.m->block, sizeof(float));
    x.grad = sl_malloc_aligned((size_t)x.m->block, sizeof(float));
    if (!x.weights || !x.grad) {
        st = sl_fail_memory((size_t)x.m->block, sizeof(float), "weights");
        goto done;
    }
    sl_model_init(x.weights, x.m, 1);
    for (int pairs = 1; pairs <= MAX_PAIRS; pairs *= 2) {
        fill(&x, pairs);
        memset(x.grad, 0, (size_t)x.m->block * sizeof(float));
        SL_GO(sl_model_work_new(&w, x.m, pairs, POINTS, pairs * TOKENS, 0));
        SL_GO(sl_model_work_new(&plain, x.m, pairs, POINTS, pairs * TOKENS, SL_MODEL_PLAIN));
        const sl_dropout dropout = { 7, true };
        double a = sl_model_pass(w, NULL, NULL, x.weights, &x.b, dropout);
        double b = sl_model_pass(plain, NULL, NULL, x.weights, &x.b, dropout);
        if (!(fabs(a - b) <= 1e-4 * fabs(b))) {
            st = sl_fail(SL_EINVAL, "loss %g, the plain path says %g", a, b);
            goto done;
        }
        time_one(&x, w, size, "forward", false);
        time_one(&x, w, size, "training", true);
        time_one(&x, plain, size, "plain", true);
        sl_model_work_free(plain);
        sl_model_work_free(w);
        w = plain = NULL;
    }
done:
    sl_model_work_free(plain);
    sl_model_work_free(w);
    sl_free(x.grad);
    sl_free(x.weights);
    sl_model_free(x.m);
    x = (bench){ 0 };
    return st;
}

int main(int argc, char **argv) {
    static const char *const usual[] = { "6.5M", "mini", "micro" };
    const int n = argc > 1 ? argc - 1 : SL_LEN(usual);
    printf(
        "name\tsize\tpairs\tbest_ms_per_pair\tmedian_ms_per_pair\tgflops_executed\tgflops_paper\n");
    for (int i = 0; i < n; i++) {
        if (run(argc > 1 ? argv[i + 1] : usual[i]) != SL_OK) {
            fprintf(stderr, "%s\n", sl_last_error());
            return 1;
        }
    }
    return 0;
}
