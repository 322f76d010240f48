/* Full disks and lack of memory: reported, nothing lost, and a resumed run ends with the same bits.
 */
#include "train/test/tiny.h"

static sl_status run(const sl_train_config *c) {
    sl_train_result out;
    return sl_train_run(&out, NULL, c, NULL, NULL);
}

/* One write of a run finds the disk full: each of the first ones, then each thirteenth (ckpt's own
 * tests go through those of a checkpoint), all of them at a larger scale. */
static void a_full_disk_at_any_write(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.train.steps = 4;
    x.c.train.log_steps = 1;
    x.c.train.valid_steps = 2;
    x.c.train.checkpoint_steps = 2;
    SL_MUST(t, run(&x.c));
    const tiny_left want = tiny_look(t, &x.c);
    bool before = false, behind = false;
    for (int n = 1;; n += n < 8 || t->scale > 1 ? 1 : 13) {
        tiny_remove(x.c.out);
        x.c.resume = false;
        sl_file_fail_at(n);
        const sl_status st = run(&x.c);
        sl_file_fail_at(0);
        if (st == SL_OK) break;
        tiny_says(t, st, SL_EIO, x.c.out, "space");
        before = before || strstr(sl_last_error(), "nothing was saved before");
        behind = behind || strstr(sl_last_error(), "the checkpoint of step 2 is kept");
        SL_CHECK(t, tiny_files(x.c.out, "tmp-") == 0, "write %d leaves a file behind", n);
        x.c.resume = true;
        SL_MUST(t, run(&x.c));
        const tiny_left got = tiny_look(t, &x.c);
        char what[40];
        snprintf(what, sizeof what, "write %d failed", n);
        tiny_same(t, &got, &want, what);
    }
    assert_true(before && behind);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

static sl_status run_anew(sl_train_config *c) {
    tiny_remove(c->out);
    return run(c);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    tiny x;
    tiny_begin(t, &x, NULL);
    x.c.train.steps = 2;
    x.c.train.batch = 2;
    x.c.train.lanes = 2;
    x.c.train.valid_pairs = 2;
    SL_EACH_ALLOCATION(t, run_anew(&x.c));
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* The same for one that goes on. */
static int stop_at_one(const sl_train_report *n, void *payload) {
    (void)payload;
    return n->step == 1;
}

static void each_allocation_may_fail_on_resuming(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result out;
    tiny_begin(t, &x, NULL);
    x.c.train.steps = 2;
    x.c.train.batch = 2;
    x.c.train.lanes = 2;
    x.c.train.valid_pairs = 2;
    assert_int_equal(sl_train_run(&out, NULL, &x.c, stop_at_one, NULL), SL_ECANCEL);
    x.c.resume = true;
    SL_EACH_ALLOCATION(t, run(&x.c));
    tiny_remove(x.c.out);
    tiny_end(&x);
}

static sl_status plan(const tiny *x, const sl_model *m) {
    sl_train_plan p;
    return sl_train_plan_make(&p, &x->c, m, 0, 0, 2, 1);
}

static sl_status time_it(const tiny *x) {
    sl_train_timing out;
    return sl_train_time(&out, NULL, &x->c, 4, 5, 1, NULL, NULL);
}

static void each_allocation_may_fail_elsewhere(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_model *m;
    tiny_begin(t, &x, NULL);
    SL_MUST(t, sl_train__model(&m, &x.c));
    SL_EACH_ALLOCATION(t, plan(&x, m));
    SL_EACH_ALLOCATION(t, time_it(&x));
    sl_model_free(m);
    tiny_end(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_full_disk_at_any_write),
        SL_TEST(each_allocation_may_fail),
        SL_TEST(each_allocation_may_fail_on_resuming),
        SL_TEST(each_allocation_may_fail_elsewhere),
    };
    return sl_test_main("train.faults", tests, SL_LEN(tests));
}
