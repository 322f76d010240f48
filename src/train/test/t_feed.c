/* Pairs as the model reads them, judged against a batch that is put together by hand. */
#include <float.h>

#include "train/test/tiny.h"

enum { PAIRS = 24 };

/* All pairs of a feed as one batch, by index arithmetic alone. */
typedef struct by_hand {
    float *mantissa, *exponent;
    uint8_t *present, ids[PAIRS * SL_TOKEN_MAX], targets[PAIRS * SL_TOKEN_MAX];
    int begin[PAIRS + 1];
    int64_t number[PAIRS];
    sl_batch b;
} by_hand;

static by_hand *make_by_hand(sl_fixture *t, const sl_pairs *p, int columns, int64_t first) {
    const int points = (int)sl_pairs_config(p)->points;
    by_hand *h = sl_calloc(1, sizeof *h);
    const size_t n = (size_t)columns * PAIRS * (size_t)points;
    assert_non_null(h);
    h->mantissa = sl_calloc(n, sizeof(float));
    h->exponent = sl_calloc(n, sizeof(float));
    h->present = sl_calloc((size_t)columns, PAIRS);
    assert_true(h->mantissa && h->exponent && h->present);
    for (int i = 0; i < PAIRS; i++) {
        sl_pair e;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&e, &t->arena, p, SL_SPLIT_TRAIN, first + i));
        for (int c = 0; c <= e.data.inputs; c++) {
            h->present[c * PAIRS + i] = 1;
            for (int k = 0; k < points; k++) {
                int exponent;
                const int at = (c * PAIRS + i) * points + k;
                sl_data_number_split(&h->mantissa[at], &exponent,
                                     c ? e.data.x[c - 1][k] : e.data.y[k]);
                h->exponent[at] = (float)exponent / 10.0f;
            }
        }
        h->begin[i + 1] = h->begin[i] + e.n_tokens;
        h->number[i] = first + i;
        for (int k = 0; k < e.n_tokens; k++) {
            h->targets[h->begin[i] + k] = e.tokens[k];
            h->ids[h->begin[i] + k] = k ? e.tokens[k - 1] : SL_TOKEN_START;
        }
        assert_int_equal(e.tokens[e.n_tokens - 1], SL_TOKEN_END);
    }
    h->b = (sl_batch){ .pairs = PAIRS,
                       .points = points,
                       .mantissa = h->mantissa,
                       .exponent = h->exponent,
                       .present = h->present,
                       .ids = h->ids,
                       .targets = h->targets,
                       .begin = h->begin,
                       .number = h->number };
    return h;
}

static void free_by_hand(by_hand *h) {
    sl_free(h->mantissa);
    sl_free(h->exponent);
    sl_free(h->present);
    sl_free(h);
}

static double norm(const float *x, int64_t n) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) squares += (double)x[i] * (double)x[i];
    return sqrt(squares);
}

static double distance(const float *a, const float *b, int64_t n) {
    double d = 0;
    for (int64_t i = 0; i < n; i++)
        d += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(d) / norm(b, n);
}

/* How far the gradient may be from `want`, relative to it, because chunks are summed in another
 * order: a sum of n floats is off by n half-units of the last place of the sum of their sizes. Each
 * weight's gradient has a term per cell at most, and the sizes add up to the pairs' own gradients.
 */
static double rounding(sl_train__workspace *workspace, float *grad, const float *weights,
                       const sl_model *m, const sl_train__shape *s, const sl_train__feed *f,
                       sl_dropout on, const float *want) {
    const int cells = PAIRS * s->points * s->columns;
    double sizes = 0;
    for (int i = 0; i < PAIRS; i++) {
        int64_t tokens = 0;
        memset(grad, 0, (size_t)m->block * sizeof *grad);
        (void)sl_train__run_pairs(workspace, grad, &tokens, weights, s, f, i, i + 1, on);
        sizes += norm(grad, m->block);
    }
    return cells * (FLT_EPSILON / 2.0) * sizes / norm(want, m->block);
}

/* Loss and gradient, chunk by chunk, are those of the batch made by hand in one pass. */
static void chunks_add_up_to_the_whole(void **state) {
    sl_fixture *t = *state;
    for (int dropped = 0; dropped < 2; dropped++) {
        sl_pairs_options o = sl_pairs_defaults();
        o.points = 6;
        o.draws = 50;
        o.test_size = 5;
        o.drop_column = dropped; // pairs that lack a column, in one of two rounds
        tiny x;
        tiny_begin(t, &x, &o);
        sl_model *m;
        SL_MUST(t, sl_train__model(&m, &x.c));
        const size_t bytes = (size_t)m->block * sizeof(float);
        float *weights = sl_malloc_aligned(bytes, 1), *grad = sl_malloc_aligned(bytes, 1),
              *want = sl_malloc_aligned(bytes, 1);
        sl_model_init(weights, m, 5);
        for (int64_t i = 0; i < m->block; i++) weights[i] *= 10; // away from a loss of log(104)

        by_hand *h = make_by_hand(t, x.p, 3, 40);
        const sl_dropout on = { .key = 9, .on = true };
        sl_work *w;
        SL_MUST(t, sl_model_work_new(&w, m, PAIRS, 6, h->begin[PAIRS], 0));
        memset(want, 0, bytes);
        const double loss_want = sl_model_pass(w, want, NULL, weights, &h->b, on);
        sl_model_work_free(w);

        double bound = 0;
        for (int chunk = 1; chunk <= PAIRS; chunk += 6) {
            sl_train__shape s;
            sl_train__feed f;
            sl_train__workspace workspace = { 0 };
            const sl_train__source source = { .pairs = x.p, .split = SL_SPLIT_TRAIN };
            int64_t tokens = 7;
            x.c.train.lanes = 1;
            x.c.train.batch = PAIRS;
            SL_MUST(t, sl_train__shape_make(&s, &x.c.train, 3, 6, 256, 0, 1, 0, 1));
            assert_int_equal(s.chunk, PAIRS);
            s.chunk = chunk;
            SL_MUST(t, sl_train__feed_new(&f, &s, PAIRS));
            f.first = 40;
            for (int i = PAIRS - 1; i >= 0; i--) // any order
                SL_MUST(t, sl_train__feed_make(&f, i, &t->arena, &source));
            SL_MUST(t, sl_train__workspace_new(&workspace, m, &s));
            if (chunk == 1) bound = rounding(&workspace, grad, weights, m, &s, &f, on, want);
            memset(grad, 0, bytes);
            const double loss =
                sl_train__run_pairs(&workspace, grad, &tokens, weights, &s, &f, 0, PAIRS, on);
            assert_int_equal(tokens, 7 + h->begin[PAIRS]);
            SL_CHECK(t, fabs(loss / loss_want - 1) < 1e-6, "chunks of %d: loss %.9g, not %.9g",
                     chunk, loss, loss_want);
            const double d = distance(grad, want, m->block);
            SL_CHECK(t, d < bound, "chunks of %d: gradient off by %.3g, not %.3g", chunk, d, bound);
            // forward alone
            const double again =
                sl_train__run_pairs(&workspace, NULL, &tokens, weights, &s, &f, 0, PAIRS, on);
            assert_true(again == loss);
            sl_train__workspace_clear(&workspace);
            sl_train__feed_clear(&f);
        }
        free_by_hand(h);
        sl_free(weights);
        sl_free(grad);
        sl_free(want);
        sl_model_free(m);
        tiny_end(&x);
    }
}

/* Targets of full length: a chunk ends where its tokens would not fit. */
static void long_targets_cut_a_chunk_early(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    sl_model *m;
    SL_MUST(t, sl_train__model(&m, &x.c));
    float *weights = sl_malloc_aligned((size_t)m->block, sizeof(float));
    sl_model_init(weights, m, 5);
    x.c.train.lanes = 1;
    sl_train__shape s;
    sl_train__feed f;
    sl_train__workspace workspace = { 0 };
    SL_MUST(t, sl_train__shape_make(&s, &x.c.train, 3, 4, 256, 0, 1, 0, 1));
    assert_int_equal(s.chunk, 8);
    assert_int_equal(s.chunk_tokens, 512);
    SL_MUST(t, sl_train__feed_new(&f, &s, 8));
    SL_MUST(t, sl_train__workspace_new(&workspace, m, &s));
    for (int n = 1; n <= 256; n += 51) {
        int64_t tokens = 0;
        for (int i = 0; i < 8; i++) sl_train__feed_random(&f, i, n, 104, 1);
        const double loss = sl_train__run_pairs(&workspace, NULL, &tokens, weights, &s, &f, 0, 8,
                                                (sl_dropout){ 0 });
        assert_int_equal(tokens, 8 * n);
        SL_CHECK(t, fabs(loss / (double)tokens - log(104)) < 0.2, "%d tokens: %g", n,
                 loss / (double)tokens);
    }
    sl_train__workspace_clear(&workspace);
    sl_train__feed_clear(&f);
    sl_free(weights);
    sl_model_free(m);
    tiny_end(&x);
}

static void made_up_pairs_are_copied_in_turn(void **state) {
    sl_fixture *t = *state;
    const sl_train__shape s = { .columns = 3, .points = 5, .max_tokens = 9 };
    sl_train__feed stored, f;
    SL_MUST(t, sl_train__feed_new(&stored, &s, 3));
    SL_MUST(t, sl_train__feed_new(&f, &s, 8));
    for (int i = 0; i < 3; i++) sl_train__feed_random(&stored, i, 9, 104, 77);
    const sl_train__source source = { .stored = &stored };
    f.first = 4;
    for (int i = 0; i < 8; i++) SL_MUST(t, sl_train__feed_make(&f, i, &t->arena, &source));
    for (int i = 0; i < 8; i++) {
        const int from = (4 + i) % 3;
        assert_memory_equal(f.mantissa + 15 * i, stored.mantissa + 15 * from, 15 * sizeof(float));
        assert_memory_equal(f.exponent + 15 * i, stored.exponent + 15 * from, 15 * sizeof(float));
        assert_memory_equal(f.tokens + 9 * i, stored.tokens + 9 * from, 9);
        assert_int_equal(f.n_tokens[i], 9);
        assert_int_equal(f.tokens[9 * i + 8], SL_TOKEN_END);
        for (int k = 0; k < 8; k++) assert_in_range(f.tokens[9 * i + k], SL_TOKEN_END + 1, 103);
        for (int k = 0; k < 15; k++) {
            const double v = fabs((double)f.mantissa[15 * i + k]);
            SL_CHECK(t, v >= 1 && v < 10, "%g", v);
        }
    }
    assert_true(memcmp(stored.mantissa, stored.mantissa + 15, 15 * sizeof(float)) != 0);
    sl_train__feed_clear(&f);
    sl_train__feed_clear(&stored);
    sl_train__feed_clear(&stored);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(chunks_add_up_to_the_whole),
        SL_TEST(long_targets_cut_a_chunk_early),
        SL_TEST(made_up_pairs_are_copied_in_turn),
    };
    return sl_test_main("train.feed", tests, SL_LEN(tests));
}
