/* Ranks: the same program alone and under mpirun. Every test is collective. What a run leaves is
 * printed, and cmake/same_ranks.cmake holds it side by side for 1, 2 and 4 ranks; there a run is
 * also handed on between them (SL_TEST_RELAY names its folder, SL_TEST_STOP the step to stop at).
 */
#include "train/test/tiny.h"

/* Rank 0's path, for all. */
static const char *shared_path(sl_fixture *t, const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s", sl_test_path(name));
    SL_MUST(t, sl_par_share(path, sizeof path));
    return path;
}

static void begin(sl_fixture *t, tiny *x) {
    tiny_begin(t, x, NULL);
    x->c.out = shared_path(t, "run");
}

static void remove_run(const tiny *x) {
    sl_par_barrier();
    if (sl_par_rank() == 0) tiny_remove(x->c.out);
    sl_par_barrier();
}

static int stop_at(const sl_train_report *n, void *payload) {
    return !n->note && n->step >= *(int64_t *)payload;
}

static sl_status run(sl_train_result *out, const sl_train_config *c, int64_t stop) {
    sl_pool *pool;
    SL_TRY(sl_par_pool_new(&pool, 2));
    sl_status st = sl_train_run(out, pool, c, stop ? stop_at : NULL, &stop);
    sl_par_pool_free(pool);
    return st;
}

static void print_left(const tiny_left *l, const char *name) {
    if (sl_par_rank() == 0)
        print_message("%s: %lld %016llx %016llx %016llx %016llx %016llx\n", name,
                      (long long)l->step, (unsigned long long)l->weights,
                      (unsigned long long)l->moments, (unsigned long long)l->constraints,
                      (unsigned long long)l->sums, (unsigned long long)l->log);
}

static void a_run_is_the_same_for_any_number(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result out;
    begin(t, &x);
    SL_MUST(t, run(&out, &x.c, 0));
    assert_int_equal(out.step, 12);
    const tiny_left want = tiny_look(t, &x.c); // all ranks read the files
    print_left(&want, "left");
    remove_run(&x);

    // all stop at the step where rank 0 is asked to stop, and go on together
    assert_int_equal(run(&out, &x.c, 5), SL_ECANCEL);
    assert_int_equal(out.step, 5);
    x.c.resume = true;
    SL_MUST(t, run(&out, &x.c, 0));
    assert_int_equal(out.resumed_at, 5);
    const tiny_left got = tiny_look(t, &x.c);
    tiny_same(t, &got, &want, "resumed");
    remove_run(&x);
    tiny_end(&x);
}

typedef struct request {
    bool mine; // it is this rank that is asked,
    int polls; // after it was polled so many times
} request;

static bool is_asked(void *payload) {
    request *r = payload;
    return r->mine && r->polls-- <= 0;
}

/* Does the newest checkpoint say that a validation is due? */
static bool is_valid_due(sl_fixture *t, const sl_train_config *c) {
    char path[600], *bytes;
    size_t n;
    snprintf(path, sizeof path, "%s/state-%08lld.safetensors", c->out,
             (long long)sl_ckpt_newest(c->out));
    SL_MUST(t, sl_file_read(&bytes, &n, path, 1 << 22));
    const bool due = memmem(bytes, n, "valid_due", 9) != NULL;
    sl_free(bytes);
    return due;
}

/* Cancelled at any poll, in a step or in a validation, the run
 * is saved, and ends as if nothing had been. Each rank in turn is the one that is asked. */
static void a_request_at_any_moment_changes_nothing(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result out;
    begin(t, &x);
    x.c.train.steps = 3;
    x.c.train.valid_steps = 2;
    SL_MUST(t, sl_train_run(&out, NULL, &x.c, NULL, NULL));
    const tiny_left want = tiny_look(t, &x.c);
    remove_run(&x);

    // several ranks are also polled while they wait for each other, thousands of times
    const bool alone = sl_par_ranks() == 1;
    int due = 0, stopped = 0;
    for (int turn = 0; alone || turn < 10; turn++) {
        request r = { .mine = turn % sl_par_ranks() == sl_par_rank(),
                      .polls = alone ? 13 * turn : 1 << turn };
        sl_par_watch watch;
        sl_par_watch_begin(&watch, is_asked, &r);
        watch.pause = 0;
        sl_status st = sl_train_run(&out, NULL, &x.c, NULL, NULL);
        sl_par_watch_end(&watch);
        if (st == SL_OK) break; // it was not polled so often
        SL_CHECK(t, st == SL_ECANCEL, "%s", sl_last_error());
        SL_CHECK(t, out.step == sl_ckpt_newest(x.c.out), "stopped at %lld, saved at %lld",
                 (long long)out.step, (long long)sl_ckpt_newest(x.c.out));
        stopped++;
        due += is_valid_due(t, &x.c);
        sl_par_barrier(); // all have looked

        x.c.resume = true;
        SL_MUST(t, sl_train_run(&out, NULL, &x.c, NULL, NULL));
        const tiny_left got = tiny_look(t, &x.c);
        tiny_same(t, &got, &want, "stopped and resumed");
        x.c.resume = false;
        remove_run(&x);
    }
    SL_CHECK(t, stopped > 3, "%d stops", stopped);
    SL_CHECK(t, due > 0 || !alone, "%d of %d stops in a validation", due, stopped);
    remove_run(&x);
    tiny_end(&x);
}

static void a_run_is_handed_on(void **state) {
    sl_fixture *t = *state;
    const char *folder = getenv("SL_TEST_RELAY"), *stop = getenv("SL_TEST_STOP");
    if (!folder || !stop) return;
    tiny x;
    sl_train_result out;
    begin(t, &x);
    x.c.out = folder;
    x.c.resume = true;
    const sl_status st = run(&out, &x.c, atoi(stop));
    SL_CHECK(t, st == (atoi(stop) < 12 ? SL_ECANCEL : SL_OK), "%s: %s", sl_status_text(st),
             sl_last_error());
    if (st == SL_OK) {
        const tiny_left got = tiny_look(t, &x.c);
        print_left(&got, "relay");
    }
    tiny_end(&x);
}

/* What only rank 0 sees stops all of them, with the reason. */
static void all_ranks_return_a_failure(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result out;
    begin(t, &x);
    const char *good = x.c.out;
    x.c.out = "/proc/nowhere";
    tiny_says(t, run(&out, &x.c, 0), SL_EIO, "/proc/nowhere", "folder");
    x.c.out = good;
    assert_int_equal(run(&out, &x.c, 3), SL_ECANCEL);
    tiny_says(t, run(&out, &x.c, 0), SL_EINVAL, "saved at step 3", "resume it");
    x.c.resume = true;
    if (sl_par_rank() == 0) sl_file_fail_at(4);
    tiny_says(t, run(&out, &x.c, 0), SL_EIO, "space", "the checkpoint of step 3 is kept");
    sl_file_fail_at(0);
    if (sl_par_ranks() > 1) {
        x.c.train.lanes = 1;
        tiny_says(t, run(&out, &x.c, 0), SL_EINVAL, "ranks share 1 lanes", "more lanes");
    }
    remove_run(&x);
    tiny_end(&x);
}

/* The last rank runs out of memory, at one place after the other: no other rank waits for it. */
static void one_rank_without_memory_stops_all(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result out;
    begin(t, &x);
    x.c.train.steps = 2;
    int failed = 0;
    for (int n = 1;; n += 5) {
        if (sl_par_rank() == sl_par_ranks() - 1) sl_mem_fail_at(n, false);
        const sl_status st = sl_train_run(&out, NULL, &x.c, NULL, NULL);
        sl_mem_fail_at(0, false);
        remove_run(&x);
        if (st == SL_OK) break;
        tiny_says(t, st, SL_ENOMEM, "no memory", "");
        failed++;
    }
    assert_true(failed > 3);
    tiny_end(&x);
}

static void each_rank_keeps_to_its_plan(void **state) {
    sl_fixture *t = *state;
    sl_train_config c = { .train = sl_train_defaults(),
                          .model = sl_model_defaults(),
                          .optim = sl_optim_defaults() };
    sl_train_timing out;
    c.model.width = 64;
    c.model.layers = 1;
    SL_MUST(t, sl_train_time(&out, NULL, &c, 8, 12, 2, NULL, NULL));
    SL_CHECK(t, fabs((double)out.peak_bytes / (double)out.planned_bytes - 1) < 0.05,
             "rank %d: %lld bytes at most, %lld planned", sl_par_rank(), (long long)out.peak_bytes,
             (long long)out.planned_bytes);
    double loss = out.loss; // the same for all
    SL_MUST(t, sl_par_share(&loss, sizeof loss));
    assert_true(loss == out.loss);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_run_is_the_same_for_any_number),
        SL_TEST(a_request_at_any_moment_changes_nothing),
        SL_TEST(a_run_is_handed_on),
        SL_TEST(all_ranks_return_a_failure),
        SL_TEST(one_rank_without_memory_stops_all),
        SL_TEST(each_rank_keeps_to_its_plan),
    };
    if (sl_par_begin() != SL_OK) {
        print_error("%s\n", sl_last_error());
        return EXIT_FAILURE;
    }
    int failed = sl_test_main("train.ranks", tests, SL_LEN(tests));
    sl_par_end();
    return failed;
}
