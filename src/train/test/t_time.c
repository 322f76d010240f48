/* Timing takes the steps that a run takes, in the memory that was planned. */
#include "train/test/tiny.h"

static void within(sl_fixture *t, int64_t peak, int64_t plan, const char *what) {
    SL_CHECK(t, fabs((double)peak / (double)plan - 1) < 0.05,
             "%s: %lld bytes at most, %lld planned", what, (long long)peak, (long long)plan);
}

static void the_plan_is_kept_by_timing(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int width, layers, batch, lanes, points, tokens, threads;
    } row[] = {
        { 64, 1, 8, 4, 16, 12, 1 }, { 64, 2, 16, 8, 8, 20, 2 },  { 32, 1, 6, 4, 64, 31, 6 },
        { 128, 1, 4, 1, 5, 40, 3 }, { 8, 1, 64, 1, 200, 31, 1 }, // most of it pairs
    };
    for (int i = 0; i < SL_LEN(row); i++) {
        sl_train_config c = { .train = sl_train_defaults(),
                              .model = sl_model_defaults(),
                              .optim = sl_optim_defaults() };
        sl_train_timing out;
        sl_pool *pool;
        c.model.width = row[i].width;
        c.model.layers = row[i].layers;
        c.train.batch = row[i].batch;
        c.train.lanes = row[i].lanes;
        SL_MUST(t, sl_par_pool_new(&pool, row[i].threads));
        SL_MUST(t, sl_train_time(&out, pool, &c, row[i].points, row[i].tokens, 3, NULL, NULL));
        sl_par_pool_free(pool);
        char what[40];
        snprintf(what, sizeof what, "row %d", i);
        within(t, out.peak_bytes, out.planned_bytes, what);
        assert_int_equal(out.planned_bytes, out.plan.memory);
        assert_int_equal(out.steps, 3);
        SL_CHECK(t, out.best > 0 && out.best <= out.median, "%g %g", out.best, out.median);
        SL_CHECK(t, out.loss > 2 && out.loss < 8, "row %d: loss %g", i, out.loss);
        SL_CHECK(t, out.plan.tokens_per_pair == row[i].tokens, "%g", out.plan.tokens_per_pair);
        assert_int_equal(out.plan.steps, 5);
    }
}

static void the_plan_is_kept_by_a_run(void **state) {
    sl_fixture *t = *state;
    for (int threads = 1; threads <= 5; threads += 2) {
        tiny x;
        sl_pairs_options o = sl_pairs_defaults();
        o.points = 16;
        o.draws = 50;
        o.test_size = 30;
        tiny_begin(t, &x, &o);
        x.c.model.width = 64;
        x.c.train.steps = 3;
        x.c.train.valid_pairs = 30;
        sl_model *m;
        sl_pool *pool;
        sl_train_plan p;
        sl_train_result out;
        SL_MUST(t, sl_par_pool_new(&pool, threads));
        SL_MUST(t, sl_train__model(&m, &x.c));
        SL_MUST(t, sl_train_plan_make(&p, &x.c, m, 0, 0, threads, 1));
        SL_MUST(t, sl_train_run(&out, pool, &x.c, NULL, NULL));
        char what[40];
        snprintf(what, sizeof what, "%d threads", threads);
        within(t, out.peak_bytes, p.memory, what);
        sl_model_free(m);
        sl_par_pool_free(pool);
        tiny_remove(x.c.out);
        tiny_end(&x);
    }
}

static int stop_at_third(const sl_train_report *n, void *payload) {
    *(int64_t *)payload = n->step;
    return n->step == 3;
}

static void timing_stops_when_cancelled(void **state) {
    sl_fixture *t = *state;
    sl_train_config c = { .train = sl_train_defaults(),
                          .model = sl_model_defaults(),
                          .optim = sl_optim_defaults() };
    sl_train_timing out;
    int64_t last = 0;
    c.model.width = 8;
    c.model.layers = 1;
    tiny_says(t, sl_train_time(&out, NULL, &c, 4, 5, 1000, stop_at_third, &last), SL_ECANCEL,
              "step 3", "of 1002");
    SL_CHECK(t, last == 3, "step %lld was reported", (long long)last);
}

static void nonsense_is_refused(void **state) {
    sl_fixture *t = *state;
    sl_train_config c = { .train = sl_train_defaults(),
                          .model = sl_model_defaults(),
                          .optim = sl_optim_defaults() };
    sl_train_timing out;
    c.model.width = 8;
    c.model.layers = 1;
    tiny_says(t, sl_train_time(&out, NULL, &c, 0, 5, 1, NULL, NULL), SL_EINVAL, "0 points", "must");
    tiny_says(t, sl_train_time(&out, NULL, &c, 4, 257, 1, NULL, NULL), SL_EINVAL, "257 tokens",
              "must");
    tiny_says(t, sl_train_time(&out, NULL, &c, 4, 5, 0, NULL, NULL), SL_EINVAL, "0 steps", "one");
    c.train.lanes = 3;
    tiny_says(t, sl_train_time(&out, NULL, &c, 4, 5, 1, NULL, NULL), SL_EINVAL, "3 lanes", "power");
    c.train.lanes = 4;
    c.model.vocabulary = 3;
    tiny_says(t, sl_train_time(&out, NULL, &c, 4, 5, 1, NULL, NULL), SL_EINVAL, "vocabulary",
              "small");
    c.model.vocabulary = 104;
    c.train.ratio = 80; // the length of the run is not that of the timing
    SL_MUST(t, sl_train_time(&out, NULL, &c, 4, 5, 1, NULL, NULL));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_plan_is_kept_by_timing),
        SL_TEST(the_plan_is_kept_by_a_run),
        SL_TEST(timing_stops_when_cancelled),
        SL_TEST(nonsense_is_refused),
    };
    return sl_test_main("train.time", tests, SL_LEN(tests));
}
