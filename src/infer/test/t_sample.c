/* Samples: each is what it would be alone, and they follow the model's probabilities. */
#include "num/num.h"
#include "small.h"

static const struct way {
    const char *name;
    double temperature, top_p;
    int top_k, length;
    bool grammar;
} ways[] = {
    { "plain", 1, 1, 0, 24, false },        { "grammar", 1, 1, 0, 40, true },
    { "cold", 0.5, 1, 0, 24, false },       { "hot", 3, 1, 0, 17, true },
    { "top-k", 1, 1, 5, 24, false },        { "top-p", 1, 0.7, 0, 24, true },
    { "all of it", 0.8, 0.9, 9, 30, true }, { "short", 1, 1, 0, 2, true },
};

static sl_infer_options options_of(const struct way *w) {
    sl_infer_options o = sl_infer_defaults();
    o.temperature = w->temperature;
    o.top_p = w->top_p;
    o.top_k = w->top_k;
    o.length = w->length;
    o.grammar = w->grammar;
    o.seed = 7;
    o.problem = 3;
    return o;
}

static void run(sl_fixture *t, sl_sampled *out, const small *s, sl_pool *pool,
                const sl_infer_options *o, int64_t first, int64_t count) {
    int64_t made = 0;
    SL_MUST(t, sl_infer_run(out, &made, &t->arena, s->m, pool, &s->data, o, first, count, NULL,
                            NULL, NULL));
    SL_CHECK(t, made == count, "made %lld of %lld", (long long)made, (long long)count);
}

/* In one batch, in small ones, by one to three threads, from the middle: what one at a time gives.
 */
static void a_sample_is_what_it_is_alone(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    for (int w = 0; w < SL_LEN(ways); w++) {
        sl_infer_options o = options_of(&ways[w]);
        sl_sampled alone[SAMPLES], got[SAMPLES];
        sl_arena_rewind(&t->arena, 0);
        for (int i = 0; i < SAMPLES; i++) run(t, &alone[i], &s, NULL, &o, i, 1);
        static const int batches[] = { 0, 1, 7, SAMPLES };
        for (int b = 0; b < SL_LEN(batches); b++) {
            o.batch = batches[b];
            for (int threads = 1; threads <= 3; threads++) {
                sl_pool *pool = NULL;
                SL_MUST(t, sl_par_pool_new(&pool, threads));
                run(t, got, &s, pool, &o, 0, SAMPLES);
                sl_par_pool_free(pool);
                for (int i = 0; i < SAMPLES; i++) must_be_same(t, &alone[i], &got[i], ways[w].name);
            }
        }
        run(t, got, &s, NULL, &o, 13, 11);
        for (int i = 0; i < 11; i++) must_be_same(t, &alone[13 + i], &got[i], "from the middle");
    }
    small_end(&s);
}

/* Work is shared: a step costs its distinct prefixes. A decided model has few. */
static void shared_prefixes_are_computed_once(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.5);
    sl_infer_options o = options_of(&ways[1]);
    sl_sampled got[SAMPLES];
    sl_infer_cost cost = { 0 };
    int64_t made = 0, distinct = 0, tokens = 0;
    SL_MUST(t, sl_infer_run(got, &made, &t->arena, s.m, NULL, &s.data, &o, 0, SAMPLES, &cost, NULL,
                            NULL));
    // a row for each prefix that a token was drawn behind
    for (int i = 0; i < SAMPLES; i++) {
        tokens += got[i].n;
        for (int n = 0; n < got[i].n; n++) {
            bool known = false;
            for (int k = 0; k < i && !known; k++)
                known = got[k].n > n && memcmp(got[k].tokens, got[i].tokens, (size_t)n) == 0;
            distinct += !known;
        }
    }
    assert_int_equal(cost.rows, distinct);
    assert_int_equal(cost.tokens, tokens);
    assert_true(cost.rows < cost.tokens);
    small_end(&s);
}

/* The probabilities of a prefix, one token at a time, by the whole pass. */
static void logits_after(sl_fixture *t, const small *s, const sl_token *prefix, int n,
                         float logits[SL_TOKEN_COUNT]) {
    sl_arena a = { 0 };
    sl_infer__cells cells;
    sl_work *w = NULL;
    sl_token ids[64] = { SL_TOKEN_START }, targets[64] = { 0 };
    float all[64 * SL_TOKEN_COUNT];
    const int begin[2] = { 0, n + 1 };
    const int64_t number = 0;
    SL_MUST(t, sl_infer__cells_make(&cells, &a, s->m, &s->data, 0, 0));
    SL_MUST(t, sl_model_work_new(&w, s->m->model, 1, POINTS, n + 1, 0));
    memcpy(ids + 1, prefix, (size_t)n);
    cells.batch.ids = ids;
    cells.batch.targets = targets;
    cells.batch.begin = begin;
    cells.batch.number = &number;
    sl_model_pass(w, NULL, all, s->m->weights, &cells.batch, (sl_dropout){ 0 });
    memcpy(logits, all + n * SL_TOKEN_COUNT, SL_TOKEN_COUNT * sizeof *logits);
    sl_model_work_free(w);
    sl_arena_clear(&a);
}

/* Pairs of tokens that are drawn first, against what the model says, by chi-square: cells that are
 * expected less than five times go together. */
static void frequencies_are_the_models(void **state) {
    sl_fixture *t = *state;
    enum { N = 4000, V = SL_TOKEN_COUNT };
    small s = { 0 };
    small_begin(t, &s, 0.35);
    sl_infer_options o = sl_infer_defaults();
    o.length = 2;
    o.seed = 11;
    sl_sampled *got = sl_malloc(N, sizeof *got);
    int64_t(*seen)[V] = sl_calloc(V, sizeof *seen);
    assert_true(got && seen);
    run(t, got, &s, NULL, &o, 0, N);
    for (int i = 0; i < N; i++)
        seen[got[i].tokens[0]][got[i].n > 1 ? got[i].tokens[1] : SL_TOKEN_PAD]++;
    double chi = 0, rest_want = 0, rest_seen = 0;
    int cells = -1;
    float first[V], second[V];
    sl_infer__choice c1, c2;
    logits_after(t, &s, &(sl_token){ 0 }, 0, first);
    sl_infer__choice_make(&c1, first, &o, NULL);
    for (int a = 0; a < V; a++) {
        const sl_token prefix = (sl_token)a;
        if (a != SL_TOKEN_END) logits_after(t, &s, &prefix, 1, second);
        sl_infer__choice_make(&c2, second, &o, NULL);
        for (int b = 0; b < V; b++) {
            if (a == SL_TOKEN_END && b != SL_TOKEN_PAD) continue;
            const double p = exp(c1.log_prob[a] + (a == SL_TOKEN_END ? 0 : c2.log_prob[b]));
            if (p * N < 5) {
                rest_want += p * N;
                rest_seen += (double)seen[a][b];
            } else {
                chi += pow((double)seen[a][b] - p * N, 2) / (p * N);
                cells++;
            }
        }
    }
    if (rest_want > 0) {
        chi += pow(rest_seen - rest_want, 2) / rest_want;
        cells++;
    }
    SL_CHECK(t, cells >= 5, "only %d cells: nothing is tested", cells);
    SL_CHECK(t, sl_num_chi2_tail(chi, cells) > 1e-3, "chi-square %g with %d degrees of freedom",
             chi, cells);
    sl_free(seen);
    sl_free(got);
    small_end(&s);
}

/* With the mask every sample is an expression in form, whatever the logits are. */
static void the_mask_leaves_expressions_only(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.4);
    for (int length = 2; length < 40; length += 6) {
        sl_infer_options o = sl_infer_defaults();
        sl_sampled got[SAMPLES];
        sl_arena_rewind(&t->arena, 0);
        o.grammar = true;
        o.length = length;
        o.temperature = 5;
        run(t, got, &s, NULL, &o, 0, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            const sl_node *e;
            sl_token_reason reason;
            int at;
            assert_true(got[i].ended && got[i].n <= length);
            SL_MUST(t, sl_token_to_expr(&e, &reason, &at, &t->arena, got[i].tokens, got[i].n, 2));
            SL_CHECK(t,
                     reason == SL_TOKEN_FINE || reason == SL_TOKEN_OVERFLOW ||
                         reason == SL_TOKEN_UNDEFINED,
                     "%s", sl_token_reason_text(reason));
        }
    }
    small_end(&s);
}

/* The log-probability of a sample is minus its loss. */
static void log_probabilities_are_losses(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    for (int w = 0; w < SL_LEN(ways); w++) {
        sl_infer_options o = options_of(&ways[w]);
        sl_sampled got[SAMPLES];
        run(t, got, &s, NULL, &o, 0, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            double loss;
            SL_MUST(t, sl_infer_loss(&loss, s.m, &s.data, got[i].tokens, got[i].n));
            SL_CHECK(t, fabs(loss + got[i].log_prob) <= 1e-4 * fmax(1, loss), "%s: %g, loss %g",
                     ways[w].name, got[i].log_prob, loss);
        }
    }
    small_end(&s);
}

static bool stop_after(void *payload) {
    int *left = payload;
    return (*left)-- <= 0;
}

/* What is done when it is stopped is what it would have been. */
static void a_stop_leaves_what_is_done(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    sl_infer_options o = options_of(&ways[1]);
    sl_sampled all[SAMPLES], got[SAMPLES];
    o.batch = 16;
    run(t, all, &s, NULL, &o, 0, SAMPLES);
    for (int steps = 0; steps < 60; steps += 5) {
        int left = steps;
        int64_t made = 0;
        SL_MUST(t, sl_infer_run(got, &made, &t->arena, s.m, NULL, &s.data, &o, 0, SAMPLES, NULL,
                                stop_after, &left));
        if (steps == 0) assert_int_equal(made, 0);
        for (int64_t i = 0; i < made; i++) must_be_same(t, &all[got[i].number], &got[i], "stopped");
    }
    small_end(&s);
}

/* A column that the data lack is no variable of the samples; its filling is the seed's. */
static void data_may_lack_an_input(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    sl_infer_options o = options_of(&ways[1]);
    sl_sampled a[SAMPLES], b[SAMPLES];
    s.data.inputs = 1;
    run(t, a, &s, NULL, &o, 0, SAMPLES);
    const int x2 = sl_token_find("x_2", 3);
    for (int i = 0; i < SAMPLES; i++) assert_null(memchr(a[i].tokens, x2, (size_t)a[i].n));
    run(t, b, &s, NULL, &o, 0, SAMPLES);
    for (int i = 0; i < SAMPLES; i++) must_be_same(t, &a[i], &b[i], "again");
    s.m->info.drop_column = 0.5; // a model that has learned to do without
    run(t, b, &s, NULL, &o, 0, SAMPLES);
    bool same = true;
    for (int i = 0; i < SAMPLES; i++) same = same && a[i].log_prob == b[i].log_prob;
    assert_false(same);
    int64_t made;
    s.data.inputs = 3;
    assert_int_equal(
        sl_infer_run(a, &made, &t->arena, s.m, NULL, &s.data, &o, 0, 1, NULL, NULL, NULL),
        SL_EINVAL);
    small_end(&s);
}

static void endless_samples_have_no_end(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    sl_infer_options o = options_of(&ways[0]);
    sl_sampled got[SAMPLES];
    o.endless = true;
    o.length = 32;
    run(t, got, &s, NULL, &o, 0, SAMPLES);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(got[i].n, 32);
        assert_null(memchr(got[i].tokens, SL_TOKEN_END, 32));
    }
    small_end(&s);
}

static sl_status sample_again(sl_fixture *t, const small *s, int decode) {
    sl_infer_options o = options_of(&ways[1]);
    sl_sampled got[SAMPLES];
    int64_t made;
    double loss;
    o.decode = decode;
    o.length = 12;
    SL_TRY(sl_infer_run(got, &made, &t->arena, s->m, NULL, &s->data, &o, 0, 20, NULL, NULL, NULL));
    return sl_infer_loss(&loss, s->m, &s->data, got[0].tokens, got[0].n);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    small s = { 0 };
    small_begin(t, &s, 0.3);
    for (int decode = SL_DECODE_SAMPLE; decode <= SL_DECODE_BEAM; decode++)
        SL_EACH_ALLOCATION(t, sample_again(t, &s, decode));
    small_end(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_sample_is_what_it_is_alone), SL_TEST(shared_prefixes_are_computed_once),
        SL_TEST(frequencies_are_the_models),   SL_TEST(the_mask_leaves_expressions_only),
        SL_TEST(log_probabilities_are_losses), SL_TEST(a_stop_leaves_what_is_done),
        SL_TEST(data_may_lack_an_input),       SL_TEST(endless_samples_have_no_end),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("infer.sample", tests, SL_LEN(tests));
}
