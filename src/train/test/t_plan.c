/* The plan: lengths, cuts, the paper's own figures, and options that contradict each other. */
#include "train/test/tiny.h"

static sl_train_config plain(void) {
    return (sl_train_config){ .train = sl_train_defaults(),
                              .model = sl_model_defaults(),
                              .optim = sl_optim_defaults() };
}

/* The paper's table: sizes, batches at ratio 5, and FLOPs (6.5M at ratio 5 is 4.4e15 and so on, by
 * 21.2 ratio N^2 for 31.5 tokens and 192 cells). */
static void ratios_give_the_papers_flops(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *size;
        int batch;
        double steps; // thousands, at ratio 5
    } row[] = { { "6.5M", 32, 32.4 },
                { "13.5M", 128, 16.6 },
                { "24M", 64, 59.5 },
                { "45.5M", 64, 113 },
                { "93M", 256, 57.7 } };
    for (int i = 0; i < SL_LEN(row); i++)
        for (double ratio = 5; ratio <= 80; ratio *= 4) {
            sl_train_config c = plain();
            sl_model *m;
            sl_train_plan p, q;
            SL_MUST(t, sl_model_size_find(&c.model, row[i].size));
            SL_MUST(t, sl_model_new(&m, &c.model));
            c.train.batch = row[i].batch;
            c.train.ratio = ratio;
            SL_MUST(t, sl_train_plan_make(&p, &c, m, 64, 31.5, 2, 1));
            const double n = (double)m->count, pairs = (double)p.steps * row[i].batch;
            const double want = 3 * n * (192 + 31.5) * pairs;
            SL_CHECK(t, fabs(p.flops / want - 1) < 1e-12, "%s: %g, not %g", row[i].size, p.flops,
                     want);
            SL_CHECK(t, fabs(p.flops / (21.2 * ratio * n * n) - 1) < 0.01, "%s: %g", row[i].size,
                     p.flops);
            SL_CHECK(t, fabs(p.ratio / ratio - 1) < 1e-4, "%s: ratio %g", row[i].size, p.ratio);
            const double steps = row[i].steps * 1000 * ratio / 5;
            SL_CHECK(t, fabs((double)p.steps / steps - 1) < 0.012, "%s: %lld steps, not %g",
                     row[i].size, (long long)p.steps, steps);
            assert_int_equal(p.passes, 0); // unknown

            // the same length by FLOPs, and by steps
            c.train.ratio = 0;
            c.train.flops = p.flops;
            SL_MUST(t, sl_train_plan_make(&q, &c, m, 64, 31.5, 2, 1));
            assert_int_equal(q.steps, p.steps);
            c.train.flops = 0;
            c.train.steps = p.steps;
            SL_MUST(t, sl_train_plan_make(&q, &c, m, 64, 31.5, 2, 1));
            assert_memory_equal(&p, &q, sizeof p);
            if (ratio == 5) { // the default
                c.train.steps = 0;
                SL_MUST(t, sl_train_plan_make(&q, &c, m, 64, 31.5, 2, 1));
                assert_memory_equal(&p, &q, sizeof p);
            }
            sl_model_free(m);
        }
}

/* Without a given number, tokens are counted in the pairs. */
static void tokens_are_those_of_the_pairs(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_model *m;
    sl_train_plan p;
    tiny_begin(t, &x, NULL);
    SL_MUST(t, sl_train__model(&m, &x.c));
    int64_t sum = 0, short_sum = 0;
    for (int i = 0; i < 2048; i++) {
        sl_pair pair;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_pairs_get(&pair, &t->arena, x.p, SL_SPLIT_TRAIN, i));
        sum += pair.n_tokens;
        if (i < 12 * 8) short_sum += pair.n_tokens;
    }
    x.c.train.steps = 0;
    x.c.train.ratio = 7;
    SL_MUST(t, sl_train_plan_make(&p, &x.c, m, 0, 0, 1, 1));
    assert_true(p.tokens_per_pair == (double)sum / 2048);
    const double steps = 7 * (double)m->count / (p.tokens_per_pair * 8);
    assert_int_equal(p.steps, llround(steps));
    const int64_t size = sl_pairs_size(x.p, SL_SPLIT_TRAIN);
    assert_int_equal(p.passes, (p.steps * 8 + size - 1) / size);

    x.c.train.ratio = 0;
    x.c.train.steps = 12; // fewer pairs than are counted otherwise: all of them
    SL_MUST(t, sl_train_plan_make(&p, &x.c, m, 0, 0, 1, 1));
    assert_true(p.tokens_per_pair == (double)short_sum / (12 * 8));
    SL_MUST(t, sl_train_plan_make(&p, &x.c, m, 0, 10, 1, 1));
    assert_true(p.tokens_per_pair == 10);
    sl_model_free(m);
    tiny_end(&x);
}

static void batches_are_cut_by_the_rule(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int batch, lanes, columns, points, want_lanes, want_chunk;
    } row[] = {
        { 32, 8, 3, 64, 8, 4 },   { 256, 8, 3, 64, 8, 4 },   { 16, 8, 3, 64, 8, 2 },
        { 5, 8, 3, 64, 4, 2 },    { 1, 8, 3, 64, 1, 1 },     { 33, 8, 3, 64, 8, 4 },
        { 64, 1, 3, 1, 1, 64 },   { 32, 8, 3, 300, 8, 1 },   { 1024, 1024, 3, 64, 1024, 1 },
        { 600, 2, 2, 1, 2, 300 }, { 1000, 2, 2, 1, 2, 384 },
    };
    for (int i = 0; i < SL_LEN(row); i++) {
        sl_train_options o = sl_train_defaults();
        sl_train__shape s;
        o.batch = row[i].batch;
        o.lanes = row[i].lanes;
        SL_MUST(t, sl_train__shape_make(&s, &o, row[i].columns, row[i].points, 256, 0, 3, 0, 1));
        SL_CHECK(t, s.lanes == row[i].want_lanes, "row %d: %d lanes", i, s.lanes);
        SL_CHECK(t, s.chunk == row[i].want_chunk, "row %d: %d pairs a chunk", i, s.chunk);
        assert_int_equal(s.chunk_tokens, SL_MAX(256, 64 * s.chunk));
        assert_int_equal(s.workspaces, SL_MIN(3, s.lanes));
        assert_int_equal(sl_train__lane_begin(&s, s.lanes), row[i].batch);
        for (int l = 0; l < s.lanes; l++) { // no lane empty, sizes differ by at most one
            const int n = sl_train__lane_begin(&s, l + 1) - sl_train__lane_begin(&s, l);
            assert_in_range(n, row[i].batch / s.lanes, (row[i].batch + s.lanes - 1) / s.lanes);
        }
    }
}

static void contradictions_are_reported(void **state) {
    sl_fixture *t = *state;
    sl_train_config c = plain();
    sl_model *m;
    sl_train_plan p;
    c.model.width = 8;
    SL_MUST(t, sl_model_new(&m, &c.model));
#define PLAN(threads, ranks) sl_train_plan_make(&p, &c, m, 4, 10, threads, ranks)
    c.train.ratio = 1;
    c.train.steps = 2;
    tiny_says(t, PLAN(1, 1), SL_EINVAL, "ratio", "steps");
    c.train.ratio = 0;
    c.train.flops = 1;
    tiny_says(t, PLAN(1, 1), SL_EINVAL, "steps", "flops");
    c.train.steps = 0;
    SL_MUST(t, PLAN(1, 1));
    assert_int_equal(p.steps, 1); // at least
    c.train.flops = 1e30;
    tiny_says(t, PLAN(1, 1), SL_EINVAL, "steps", "too long");
    c.train.flops = 0;
    c.train.lanes = 6;
    tiny_says(t, PLAN(1, 1), SL_EINVAL, "6 lanes", "power of two");
    c.train.lanes = 8;
    tiny_says(t, PLAN(1, 3), SL_EINVAL, "3 ranks", "power of two");
    tiny_says(t, PLAN(1, 16), SL_EINVAL, "16 ranks", "8 lanes");
    c.train.batch = 7;
    tiny_says(t, PLAN(1, 8), SL_EINVAL, "8 ranks", "4 lanes");
    c.train.batch = 0;
    tiny_says(t, PLAN(1, 1), SL_EINVAL, "batch", "1 to");
    c.train.batch = 8;
    tiny_says(t, sl_train_plan_make(&p, &c, m, 4, 0, 1, 1), SL_EINVAL, "points", "tokens");
    tiny_says(t, sl_train_plan_make(&p, &c, m, 0, 9, 1, 1), SL_EINVAL, "points", "tokens");
    c.optim.lr = NAN;
    tiny_says(t, PLAN(1, 1), SL_EINVAL, "lr", "");
#undef PLAN
    sl_model_free(m);
}

/* More ranks: fewer lanes, less of the optimiser, and room to exchange. */
static void ranks_share_the_memory(void **state) {
    sl_fixture *t = *state;
    sl_train_config c = plain();
    sl_model *m;
    sl_train_plan one, four;
    SL_MUST(t, sl_model_new(&m, &c.model));
    SL_MUST(t, sl_train_plan_make(&one, &c, m, 64, 31.5, 2, 1));
    SL_MUST(t, sl_train_plan_make(&four, &c, m, 64, 31.5, 2, 4));
    const double block = (double)m->block * 4;
    SL_CHECK(t, fabs((double)one.memory_gradients / (8 * block) - 1) < 0.01, "%g blocks",
             (double)one.memory_gradients / block);
    SL_CHECK(t, fabs((double)four.memory_gradients / (3 * block) - 1) < 0.01, "%g blocks",
             (double)four.memory_gradients / block);
    SL_CHECK(t,
             fabs((double)four.memory_optimiser / (0.25 * (double)one.memory_optimiser) - 1) < 0.05,
             "%g", (double)four.memory_optimiser);
    assert_true(one.memory_activations == four.memory_activations); // two lanes each, two threads
    assert_int_equal(one.memory, one.memory_weights + one.memory_gradients + one.memory_optimiser +
                                     one.memory_activations + one.memory_batches);
    sl_model_free(m);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(ratios_give_the_papers_flops), SL_TEST(tokens_are_those_of_the_pairs),
        SL_TEST(batches_are_cut_by_the_rule),  SL_TEST(contradictions_are_reported),
        SL_TEST(ranks_share_the_memory),
    };
    return sl_test_main("train.plan", tests, SL_LEN(tests));
}
