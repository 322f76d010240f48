/* A step against one that is done by hand: one pass, one block, one thread. Validation likewise. */
#include "train/test/tiny.h"

typedef struct bench {
    tiny x;
    sl_model *m;
    sl_train__shape s;
    sl_train__engine e;
    sl_pool *pool;
} bench;

static void begin(sl_fixture *t, bench *b, int batch, int lanes, int threads) {
    tiny_begin(t, &b->x, NULL);
    b->x.c.train.batch = batch;
    b->x.c.train.lanes = lanes;
    b->pool = NULL;
    if (threads) SL_MUST(t, sl_par_pool_new(&b->pool, threads));
    SL_MUST(t, sl_train__model(&b->m, &b->x.c));
    SL_MUST(t, sl_train__shape_make(&b->s, &b->x.c.train, 3, 4, 256, 9,
                                    sl_par_pool_threads(b->pool), 0, 1));
    const sl_train__source source = { .pairs = b->x.p, .split = SL_SPLIT_TRAIN };
    SL_MUST(t, sl_train__engine_new(&b->e, b->pool, b->m, &b->s, &b->x.c.optim, 20, 3, &source));
    sl_model_init(b->e.weights, b->m, 3);
}

static void end(bench *b) {
    sl_train__engine_clear(&b->e);
    sl_train__engine_clear(&b->e);
    sl_model_free(b->m);
    sl_par_pool_free(b->pool);
    tiny_end(&b->x);
}

/* Loss, tokens and norm of the gradient of pairs first .. first+n-1 in one chunk. */
static double by_hand(sl_fixture *t, const bench *b, double *norm, int64_t *tokens, sl_split split,
                      int64_t first, int n, sl_dropout dropout) {
    sl_train__shape s = b->s;
    sl_train__feed f;
    sl_train__workspace workspace = { 0 };
    const sl_train__source source = { .pairs = b->x.p, .split = split };
    s.chunk = n;
    s.chunk_tokens = 256 * n;
    float *grad = sl_calloc((size_t)b->m->block, sizeof *grad);
    SL_MUST(t, sl_train__feed_new(&f, &s, n));
    SL_MUST(t, sl_train__workspace_new(&workspace, b->m, &s));
    f.first = first;
    for (int i = 0; i < n; i++) SL_MUST(t, sl_train__feed_make(&f, i, &t->arena, &source));
    *tokens = 0;
    const double loss =
        sl_train__run_pairs(&workspace, grad, tokens, b->e.weights, &s, &f, 0, n, dropout);
    double sum = 0;
    for (int64_t i = 0; i < b->m->block; i++) sum += (double)grad[i] * (double)grad[i];
    *norm = sqrt(sum) / (double)*tokens;
    sl_train__workspace_clear(&workspace);
    sl_train__feed_clear(&f);
    sl_free(grad);
    return loss;
}

static void a_step_is_the_pass_and_the_optimiser(void **state) {
    sl_fixture *t = *state;
    static const int lanes[] = { 1, 2, 8 };
    for (int i = 0; i < SL_LEN(lanes); i++) {
        bench b;
        begin(t, &b, 9, lanes[i], 2);
        for (int step = 0; step < 5; step++) {
            double norm;
            int64_t tokens;
            const double loss =
                by_hand(t, &b, &norm, &tokens, SL_SPLIT_TRAIN, 9 * step, 9, b.e.dropout);
            sl_train__outcome o;
            SL_MUST(t, sl_train__step(&o, &b.e, step, step < 4));
            assert_null(o.bad);
            assert_int_equal(o.tokens, tokens);
            assert_int_equal(b.e.ready, step < 4 ? step + 1 : -1);
            SL_CHECK(t, fabs(o.loss / loss - 1) < 1e-6, "%d lanes, step %d: loss %.9g, not %.9g",
                     lanes[i], step, o.loss, loss);
            SL_CHECK(t, fabs(o.optim.grad_norm / norm - 1) < 1e-5,
                     "%d lanes, step %d: gradient of norm %.9g, not %.9g", lanes[i], step,
                     o.optim.grad_norm, norm);
            assert_true(o.optim.lr == sl_optim_lr(&b.x.c.optim, step, 20));
        }
        end(&b);
    }
}

/* A step that was not foreseen has its pairs made first: the same weights as in a row. */
static void any_step_can_be_the_first(void **state) {
    sl_fixture *t = *state;
    bench a, b;
    sl_train__outcome o;
    begin(t, &a, 8, 4, 0);
    begin(t, &b, 8, 4, 3);
    for (int step = 0; step < 4; step++) {
        SL_MUST(t, sl_train__step(&o, &a.e, step, true));
        SL_MUST(t, sl_train__step(&o, &b.e, step, false)); // never prepared
    }
    assert_memory_equal(a.e.weights, b.e.weights, (size_t)a.m->block * sizeof(float));
    SL_MUST(t, sl_train__step(&o, &a.e, 7, true)); // prepared for step 4
    SL_MUST(t, sl_train__step(&o, &b.e, 7, true));
    assert_memory_equal(a.e.weights, b.e.weights, (size_t)a.m->block * sizeof(float));
    end(&a);
    end(&b);
}

/* Dropout is the run's own, and off where there is none. */
static void dropout_hangs_on_the_seed(void **state) {
    sl_fixture *t = *state;
    bench b;
    sl_train__engine e;
    begin(t, &b, 8, 4, 0);
    SL_MUST(t, sl_train__engine_new(&e, NULL, b.m, &b.s, &b.x.c.optim, 20, 4, &b.e.source));
    assert_true(e.dropout.key != b.e.dropout.key && e.dropout.on);
    sl_train__engine_clear(&e);
    b.m->options.dropout = b.m->options.attention_dropout = 0;
    SL_MUST(t, sl_train__engine_new(&e, NULL, b.m, &b.s, &b.x.c.optim, 20, 3, &b.e.source));
    assert_true(e.dropout.key == b.e.dropout.key && !e.dropout.on);
    sl_train__engine_clear(&e);
    end(&b);
}

static void validation_is_the_pass_without_dropout(void **state) {
    sl_fixture *t = *state;
    double first = 0;
    for (int threads = 0; threads <= 3; threads++) {
        bench b;
        sl_train__valid v;
        double norm, loss;
        int64_t tokens, want_tokens;
        begin(t, &b, 8, 4, threads);
        assert_int_equal(b.s.chunk, 2); // so the last group has one pair
        for (int64_t i = 0; i < b.m->block; i++) b.e.weights[i] *= 5;
        SL_MUST(t, sl_train__valid_new(&v, &b.e, b.x.p));
        const double want =
            by_hand(t, &b, &norm, &want_tokens, SL_SPLIT_VALID, 0, 9, (sl_dropout){ .on = false });
        SL_MUST(t, sl_train__validate(&loss, &tokens, &v, &b.e));
        assert_int_equal(tokens, want_tokens);
        SL_CHECK(t, fabs(loss / want - 1) < 1e-6, "%.9g, not %.9g", loss, want);
        if (threads == 0) first = loss;
        assert_true(loss == first);
        sl_train__valid_clear(&v);
        sl_train__valid_clear(&v);
        end(&b);
    }
}

static void infinite_weights_are_noticed(void **state) {
    sl_fixture *t = *state;
    bench b;
    sl_train__outcome o;
    begin(t, &b, 8, 4, 2);
    b.e.weights[b.m->param[0].offset] = NAN;
    const size_t bytes = (size_t)b.m->block * sizeof(float);
    float *before = sl_malloc(bytes, 1);
    memcpy(before, b.e.weights, bytes);
    assert_int_equal(sl_train__step(&o, &b.e, 0, true), SL_ELIMIT);
    assert_non_null(o.bad);
    assert_memory_equal(b.e.weights, before, bytes);
    sl_free(before);
    end(&b);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_step_is_the_pass_and_the_optimiser),
        SL_TEST(any_step_can_be_the_first),
        SL_TEST(dropout_hangs_on_the_seed),
        SL_TEST(validation_is_the_pass_without_dropout),
        SL_TEST(infinite_weights_are_noticed),
    };
    return sl_test_main("train.engine", tests, SL_LEN(tests));
}
