/* A guarded run: from the moment on at which the guard says no, nothing in the folder changes. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "train/test/tiny.h"

/* Refuses from the n-th call on, and records what the folder held then. */
typedef struct watchman {
    const char *dir;
    int asked, refuse_at;
    uint64_t then;
} watchman;

/* All files of the folder but temporary ones, whatever order they come in. */
static uint64_t contents(const char *dir) {
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[1200];
        char *text = NULL;
        size_t n;
        if (e->d_name[0] == '.' || strstr(e->d_name, ".tmp-")) continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        assert_int_equal(sl_file_read(&text, &n, path, 1 << 24), SL_OK);
        sum += sl_hash(text, n, sl_hash(e->d_name, strlen(e->d_name), 1));
        sl_free(text);
    }
    closedir(d);
    return sum;
}

static sl_status ask(void *payload) {
    watchman *w = payload;
    if (++w->asked < w->refuse_at) return SL_OK;
    if (w->asked == w->refuse_at) w->then = contents(w->dir);
    return sl_fail(SL_ECANCEL, "the folder is another's");
}

static void set_guard(sl_train_config *c, watchman *w) {
    c->guard = ask;
    c->guard_payload = w;
}

static void nothing_is_written_once_the_guard_fails(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result r;
    tiny_begin(t, &x, NULL);
    x.c.train.checkpoint_steps = 4;
    SL_MUST(t, sl_train_run(&r, NULL, &x.c, NULL, NULL));
    const tiny_left want = tiny_look(t, &x.c);
    tiny_remove(x.c.out);

    for (int n = 1;; n++) {
        watchman w = { .dir = x.c.out, .refuse_at = n };
        x.c.resume = false;
        set_guard(&x.c, &w);
        const sl_status st = sl_train_run(&r, NULL, &x.c, NULL, NULL);
        x.c.guard = NULL;
        if (st == SL_OK) {
            SL_CHECK(t, n > 12, "asked %d times only", n);
            break;
        }
        assert_int_equal(st, SL_ECANCEL);
        SL_CHECK(t, contents(x.c.out) == w.then, "question %d of %d", n, w.asked);
        assert_true(tiny_files(x.c.out, ".tmp-") <= 0);
        x.c.resume = true; // a process that takes over has the same result
        SL_MUST(t, sl_train_run(&r, NULL, &x.c, NULL, NULL));
        const tiny_left got = tiny_look(t, &x.c);
        char what[40];
        snprintf(what, sizeof what, "refused at question %d", n);
        tiny_same(t, &got, &want, what);
        tiny_remove(x.c.out);
    }
    tiny_remove(x.c.out);
    tiny_end(&x);
}

/* ---------------------------------------------------------------- one write a question ------ */

/* What can be written: run.json, lines of the log, a state, a model, and the removal of an old one.
 */
typedef struct folder_state {
    int run, state, model;
    long log;
} folder_state;

static folder_state look(const char *dir) {
    char path[1200];
    struct stat s;
    folder_state f = { 0 };
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strstr(e->d_name, ".tmp-")) continue;
        f.run += strcmp(e->d_name, "run.json") == 0;
        f.state += strncmp(e->d_name, "state-", 6) == 0;
        f.model += strncmp(e->d_name, "model-", 6) == 0;
    }
    if (d) closedir(d);
    snprintf(path, sizeof path, "%s/log.jsonl", dir);
    if (stat(path, &s) == 0) f.log = (long)s.st_size;
    return f;
}

typedef struct permit {
    const char *dir;
    int asked, last; // the last question that is answered with yes
    folder_state then, first;
} permit;

static sl_status ask_permit(void *payload) {
    permit *p = payload;
    p->asked++;
    if (p->asked == 1) p->first = look(p->dir);
    if (p->asked == p->last) p->then = look(p->dir);
    return p->asked <= p->last ? SL_OK : sl_fail(SL_ECANCEL, "the folder is another's");
}

/* The folder is lost right behind a yes: only what was asked for is done. */
static void one_question_allows_one_write(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result r;
    tiny_begin(t, &x, NULL);
    x.c.train.checkpoint_steps = 4;
    for (int n = 1;; n++) {
        permit p = { .dir = x.c.out, .last = n };
        x.c.guard = ask_permit;
        x.c.guard_payload = &p;
        const sl_status st = sl_train_run(&r, NULL, &x.c, NULL, NULL);
        const folder_state now = look(x.c.out);
        tiny_remove(x.c.out);
        assert_int_equal(p.first.run, 0); // nothing was written before the first question
        if (st == SL_OK) break;
        assert_int_equal(st, SL_ECANCEL);
        const int changes = (now.run > p.then.run) + (now.log != p.then.log) +
                            (now.state > p.then.state) + (now.model > p.then.model) +
                            (now.state < p.then.state || now.model < p.then.model);
        SL_CHECK(t, changes <= 1, "%d changes behind question %d", changes, n);
    }
    tiny_end(&x);
}

/* Lost between two steps: the next line of the log is not written. */
static int lose(const sl_train_report *n, void *payload) {
    watchman *w = payload;
    if (!n->note && n->step == w->refuse_at) w->then = contents(w->dir);
    if (!n->note && n->step >= w->refuse_at) w->asked = -1;
    return 0;
}

static sl_status ask_lost(void *payload) {
    const watchman *w = payload;
    return w->asked < 0 ? sl_fail(SL_ECANCEL, "the folder is another's") : SL_OK;
}

static void no_line_is_added_to_a_log_that_is_lost(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result r;
    tiny_begin(t, &x, NULL);
    x.c.train.checkpoint_steps = 100;
    for (int step = 1; step < 12; step++) {
        watchman w = { .dir = x.c.out, .refuse_at = step };
        x.c.guard = ask_lost;
        x.c.guard_payload = &w;
        assert_int_equal(sl_train_run(&r, NULL, &x.c, lose, &w), SL_ECANCEL);
        SL_CHECK(t, contents(x.c.out) == w.then, "lost at step %d", step);
        tiny_remove(x.c.out);
    }
    tiny_end(&x);
}

/* A request to stop saves; a guard that says no then is obeyed all the same. */
static int stop_at_once(const sl_train_report *n, void *payload) {
    watchman *w = payload;
    if (n->step >= 3) w->refuse_at = w->asked + 1;
    return n->step >= 3;
}

static void a_stopped_run_that_has_lost_its_folder_does_not_save(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result r;
    tiny_begin(t, &x, NULL);
    watchman w = { .dir = x.c.out, .refuse_at = 1000 };
    set_guard(&x.c, &w);
    assert_int_equal(sl_train_run(&r, NULL, &x.c, stop_at_once, &w), SL_ECANCEL);
    assert_int_equal(tiny_files(x.c.out, "model-"), 0);
    assert_true(contents(x.c.out) == w.then);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

static void the_guard_decides_and_not_the_lock(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result r;
    tiny_begin(t, &x, NULL);
    SL_MUST(t, sl_folder_make(x.c.out, 0777));
    const int held = open(x.c.out, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0); // as a process that was stopped holds it
    assert_int_equal(sl_train_run(&r, NULL, &x.c, NULL, NULL), SL_EINVAL);
    watchman w = { .dir = x.c.out, .refuse_at = 1000 };
    set_guard(&x.c, &w);
    SL_MUST(t, sl_train_run(&r, NULL, &x.c, NULL, NULL));
    close(held);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

static void a_run_reports_whether_it_diverged(void **state) {
    sl_fixture *t = *state;
    tiny x;
    sl_train_result r;
    bool diverged = false;
    tiny_begin(t, &x, NULL);
    x.c.diverged = &diverged;
    SL_MUST(t, sl_train_run(&r, NULL, &x.c, NULL, NULL));
    assert_false(diverged);
    tiny_remove(x.c.out);
    x.c.train.steps = 200;
    x.c.optim.optimizer = SL_OPTIM_ADAMW;
    x.c.optim.lr = 1000;
    x.c.optim.weight_decay = 10;
    assert_int_equal(sl_train_run(&r, NULL, &x.c, NULL, NULL), SL_ELIMIT);
    assert_true(diverged);
    tiny_remove(x.c.out);
    tiny_end(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(nothing_is_written_once_the_guard_fails),
        SL_TEST(one_question_allows_one_write),
        SL_TEST(no_line_is_added_to_a_log_that_is_lost),
        SL_TEST(a_stopped_run_that_has_lost_its_folder_does_not_save),
        SL_TEST(the_guard_decides_and_not_the_lock),
        SL_TEST(a_run_reports_whether_it_diverged),
    };
    return sl_test_main("train.guard", tests, SL_LEN(tests));
}
