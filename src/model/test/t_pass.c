/* The pass in float, held against the one in double. */
#include <math.h>
#include <string.h>

#include "batch.h"
#include "par/par.h"

typedef struct setting {
    int width, layers, decoder_layers, heads, columns, points;
    double dropout;
    int lengths[MAX_PAIRS + 1];
} setting;

/* Widths and lengths that are no multiples of a vector, and some that are. */
static const setting settings[] = {
    { 16, 2, 2, 2, 3, 5, 0.1, { 3, 7, 1 } },  { 24, 1, 2, 3, 2, 16, 0, { 17, 40 } },
    { 64, 2, 1, 1, 3, 20, 0.2, { 9, 33 } },   { 40, 3, 1, 1, 4, 7, 0.5, { 4, 1, 1, 2, 8, 3 } },
    { 128, 1, 1, 2, 3, 17, 0.1, { 12, 31 } }, { 8, 2, 3, 1, 1, 9, 0.1, { 2, 2 } },
};

typedef struct bench {
    sl_model *m;
    test_batch t;
    float *weights, *grad;
    double *weights_d, *grad_d;
    sl_dropout dropout;
    int tokens;
} bench;

static void set_up(sl_fixture *t, bench *x, const setting *s) {
    sl_model_options o = sl_model_defaults();
    o.width = s->width;
    o.layers = s->layers;
    o.decoder_layers = s->decoder_layers;
    o.heads = s->heads;
    o.columns = s->columns;
    o.dropout = o.attention_dropout = s->dropout;
    SL_MUST(t, sl_model_new(&x->m, &o));
    random_batch(&x->t, &t->rng, x->m, s->points, s->lengths);
    if (s->columns > 2) x->t.present[2 * x->t.b.pairs + 1] = 0;
    x->tokens = x->t.begin[x->t.b.pairs];
    size_t n = (size_t)x->m->block;
    x->weights = sl_malloc_aligned(n, sizeof(float));
    x->grad = sl_malloc_aligned(n, sizeof(float));
    x->weights_d = sl_malloc_aligned(n, sizeof(double));
    x->grad_d = sl_malloc_aligned(n, sizeof(double));
    SL_CHECK(t, x->weights && x->grad && x->weights_d && x->grad_d, "no memory");
    random_weights(x->weights_d, &t->rng, x->m);
    for (size_t i = 0; i < n; i++) {
        x->weights[i] = (float)x->weights_d[i];
        x->weights_d[i] = x->weights[i];
        x->grad[i] = 0;
        x->grad_d[i] = 0;
    }
    x->dropout = (sl_dropout){ .key = sl_rng_u64(&t->rng), .on = true };
}

static void tear_down(bench *x) {
    sl_free(x->grad_d);
    sl_free(x->weights_d);
    sl_free(x->grad);
    sl_free(x->weights);
    sl_model_free(x->m);
}

static void float_agrees_with_double(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        set_up(t, &x, &settings[k]);
        sl_work *w = NULL;
        sl_work_d *wd = NULL;
        const int pairs = x.t.b.pairs, P = x.t.b.points, V = (int)x.m->options.vocabulary;
        SL_MUST(t, sl_model_work_new(&w, x.m, pairs, P, x.tokens, 0));
        SL_MUST(t, sl_model_work_new_d(&wd, x.m, pairs, P, x.tokens, 0));
        size_t n = (size_t)(x.tokens * V);
        float *z = sl_malloc(n, sizeof *z);
        double *zd = sl_malloc(n, sizeof *zd);
        SL_CHECK(t, z && zd, "no memory");

        double loss = sl_model_pass(w, x.grad, z, x.weights, &x.t.b, x.dropout);
        double want = sl_model_pass_d(wd, x.grad_d, zd, x.weights_d, &x.t.b, x.dropout);
        SL_CHECK(t, fabs(loss - want) <= 1e-5 * want, "case %d: loss %.9g, not %.9g", k, loss,
                 want);
        double scale = norm_of(zd, (int64_t)n) / sqrt((double)n);
        for (size_t i = 0; i < n; i++)
            SL_CHECK(t, fabs(z[i] - zd[i]) <= 1e-4 * scale, "case %d: logit %zu is %g, not %g", k,
                     i, z[i], zd[i]);
        for (int i = 0; i < x.m->n_param; i++) {
            const sl_param *p = &x.m->param[i];
            double error = 0;
            for (int64_t j = p->offset; j < p->offset + p->count; j++)
                error += (x.grad[j] - x.grad_d[j]) * (x.grad[j] - x.grad_d[j]);
            double size = norm_of(x.grad_d + p->offset, p->count);
            SL_CHECK(t, sqrt(error) <= 1e-4 * (size + 1e-3), "case %d: %s is off by %g of %g", k,
                     p->name, sqrt(error), size);
        }
        // without gradients the loss is the same bits
        SL_CHECK(t, sl_model_pass(w, NULL, NULL, x.weights, &x.t.b, x.dropout) == loss,
                 "case %d: the loss depends on whether gradients are wanted", k);
        sl_free(zd);
        sl_free(z);
        sl_model_work_free_d(wd);
        sl_model_work_free(w);
        tear_down(&x);
    }
}

/* Gradients are added to, not overwritten: twice the pass, twice the gradient. */
static void gradients_add_up(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[0]);
    sl_work *w = NULL;
    SL_MUST(t, sl_model_work_new(&w, x.m, x.t.b.pairs, x.t.b.points, x.tokens, 0));
    sl_model_pass(w, x.grad, NULL, x.weights, &x.t.b, x.dropout);
    for (int64_t i = 0; i < x.m->block; i++) x.grad_d[i] = 2.0 * x.grad[i];
    sl_model_pass(w, x.grad, NULL, x.weights, &x.t.b, x.dropout);
    for (int i = 0; i < x.m->n_param; i++) {
        const sl_param *p = &x.m->param[i];
        double scale = norm_of(x.grad_d + p->offset, p->count) + 1e-3;
        for (int64_t j = p->offset; j < p->offset + p->count; j++)
            SL_CHECK(t, fabs(x.grad[j] - x.grad_d[j]) <= 1e-5 * scale, "%s: %g, not %g", p->name,
                     x.grad[j], x.grad_d[j]);
    }
    sl_model_work_free(w);
    tear_down(&x);
}

typedef struct job {
    bench *x;
    sl_work *work[8];
    float *grad[8];
    double loss[8];
} job;

static sl_status run_one(int64_t begin, int64_t end, int worker, void *payload) {
    job *j = payload;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        j->loss[i] =
            sl_model_pass(j->work[i], j->grad[i], NULL, j->x->weights, &j->x->t.b, j->x->dropout);
    return SL_OK;
}

/* Other threads, other memory, a larger work whose rows stand elsewhere: the same bits. */
static void the_same_bits_on_every_thread(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        set_up(t, &x, &settings[k]);
        job j = { .x = &x };
        for (int i = 0; i < 8; i++) {
            SL_MUST(t, sl_model_work_new(&j.work[i], x.m, x.t.b.pairs + i % 3, x.t.b.points,
                                         x.tokens + i, 0));
            j.grad[i] = sl_malloc_aligned((size_t)x.m->block, sizeof(float));
            SL_CHECK(t, j.grad[i], "no memory");
            memset(j.grad[i], 0, (size_t)x.m->block * sizeof(float));
        }
        sl_pool *pool = NULL;
        SL_MUST(t, sl_par_pool_new(&pool, 3));
        SL_MUST(t, sl_par_for(pool, 8, 1, run_one, &j));
        sl_par_pool_free(pool);
        for (int i = 1; i < 8; i++)
            SL_CHECK(t,
                     j.loss[i] == j.loss[0] &&
                         memcmp(j.grad[i], j.grad[0], (size_t)x.m->block * sizeof(float)) == 0,
                     "case %d: run %d differs: loss %.17g and %.17g", k, i, j.loss[i], j.loss[0]);
        for (int i = 0; i < 8; i++) {
            sl_free(j.grad[i]);
            sl_model_work_free(j.work[i]);
        }
        tear_down(&x);
    }
}

/* Dropout drops: masks change with the key and the pair's number, and are off when asked. */
static void masks_are_counted_by_key_and_pair(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[0]);
    sl_work *w = NULL;
    SL_MUST(t, sl_model_work_new(&w, x.m, x.t.b.pairs, x.t.b.points, x.tokens, 0));
    double a = sl_model_pass(w, NULL, NULL, x.weights, &x.t.b, x.dropout);
    sl_dropout other = { x.dropout.key + 1, true }, off = { x.dropout.key, false };
    SL_CHECK(t, sl_model_pass(w, NULL, NULL, x.weights, &x.t.b, other) != a, "the key is ignored");
    double without = sl_model_pass(w, NULL, NULL, x.weights, &x.t.b, off);
    x.t.number[0]++;
    SL_CHECK(t, sl_model_pass(w, NULL, NULL, x.weights, &x.t.b, x.dropout) != a,
             "the pair's number is ignored");
    SL_CHECK(t, sl_model_pass(w, NULL, NULL, x.weights, &x.t.b, off) == without,
             "dropout that is off depends on the number");
    sl_model_work_free(w);
    tear_down(&x);
}

/* What sl_model_work_bytes says is what the allocator gives. */
static void memory_is_known_before(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        set_up(t, &x, &settings[k]);
        int64_t before = sl_mem_bytes();
        sl_work *w = NULL;
        SL_MUST(t, sl_model_work_new(&w, x.m, 4, 12, 100, 0));
        double taken = (double)(sl_mem_bytes() - before);
        double said = (double)sl_model_work_bytes(x.m, 4, 12, 100, 0);
        SL_CHECK(t, fabs(taken - said) <= 0.01 * said + 200, "took %g, said %g", taken, said);
        sl_model_work_free(w);
        tear_down(&x);
    }
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[0]);
    sl_work *w = NULL;
    SL_EACH_ALLOCATION(t, sl_model_work_new(&w, x.m, 2, 5, 10, 0));
    sl_model_work_free(w);
    tear_down(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(float_agrees_with_double),      SL_TEST(gradients_add_up),
        SL_TEST(the_same_bits_on_every_thread), SL_TEST(masks_are_counted_by_key_and_pair),
        SL_TEST(memory_is_known_before),        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("model.pass", tests, SL_LEN(tests));
}
