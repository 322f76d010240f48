/* Claims: one of many processes gets a folder; it is taken over from the dead and the silent, at
 * once or after its time, whatever clocks say; a process that wakes late notices. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "study/claim_impl.h"

static const double FOREVER = 1e6;

static void sleep_ms(int ms) {
    const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };
    nanosleep(&t, NULL);
}

/* A folder that no test has used. */
static const char *fresh(const char *name) {
    static char path[4][700];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s", sl_test_path(name));
    return out;
}

static sl_study_watch *watch_of(sl_fixture *t, double expiry) {
    sl_study_watch *w;
    SL_MUST(t, sl_study_watch_new(&w, expiry));
    return w;
}

static sl_study_claim *take(sl_fixture *t, sl_study_watch *w, const char *dir) {
    sl_study_claim *c;
    SL_MUST(t, sl_study_claim_take(&c, w, dir));
    return c;
}

static bool has(const char *dir, const char *name) {
    char path[800];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* Replaces `from` in claim 1 by `to`, of the same length. */
static void edit_claim(const char *dir, const char *from, const char *to) {
    char path[800], text[2048];
    snprintf(path, sizeof path, "%s/claim-1", dir);
    const int fd = open(path, O_RDWR);
    const ssize_t n = read(fd, text, sizeof text - 1);
    assert_true(n > 0 && strlen(from) == strlen(to));
    text[n] = '\0';
    char *at = strstr(text, from);
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    assert_int_equal(pwrite(fd, text, (size_t)n, 0), n);
    close(fd);
}

/* Claim 1 seems to be of another machine: nothing is known of its process. */
static void move_elsewhere(const char *dir) { edit_claim(dir, "\"machine\":\"", "\"nachine\":\""); }

static void set_times(const char *dir, const char *name, int shift) {
    char path[800];
    struct timespec now, both[2];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    clock_gettime(CLOCK_REALTIME, &now);
    both[0] = both[1] = (struct timespec){ now.tv_sec + shift, 0 };
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
}

static int wait_code(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---------------------------------------------------------------- one of many --------------- */

static void of_many_processes_one_gets_it(void **state) {
    sl_fixture *t = *state;
    enum { PROCESSES = 8, FOLDERS = 20 };
    int *won = mmap(NULL, FOLDERS * sizeof *won, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    assert_true(won != MAP_FAILED);
    pid_t pid[PROCESSES];
    const char *all = fresh("race");
    for (int p = 0; p < PROCESSES; p++) {
        pid[p] = fork();
        if (pid[p] != 0) continue;
        sl_study_watch *w;
        if (sl_study_watch_new(&w, FOREVER) != SL_OK) _exit(1);
        for (int i = 0; i < FOLDERS; i++) {
            char dir[700];
            sl_study_claim *c;
            snprintf(dir, sizeof dir, "%s/%d", all, i);
            if (sl_study_claim_take(&c, w, dir) != SL_OK) _exit(2);
            if (c) __atomic_add_fetch(&won[i], 1, __ATOMIC_SEQ_CST);
        }
        while (__atomic_load_n(&won[FOLDERS - 1], __ATOMIC_SEQ_CST) == 0) sleep_ms(1);
        sleep_ms(100); // a process that has ended would be replaced
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) assert_int_equal(wait_code(pid[p]), 0);
    for (int i = 0; i < FOLDERS; i++) SL_CHECK(t, won[i] == 1, "folder %d: %d got it", i, won[i]);
    munmap(won, FOLDERS * sizeof *won);
}

static void a_released_claim_is_taken_and_numbers_ascend(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("ascend");
    sl_study_watch *w = watch_of(t, FOREVER);
    for (int n = 1; n <= 30; n++) {
        char name[40];
        sl_study_claim *c = take(t, w, dir);
        assert_non_null(c);
        assert_null(take(t, w, dir)); // it is held
        snprintf(name, sizeof name, "claim-%d", n);
        SL_CHECK(t, has(dir, name), "%s", name);
        SL_MUST(t, sl_study_claim_check(c));
        sl_study_claim_release(c);
    }
    assert_false(has(dir, "claim-22")); // old ones are gone, the last few are not
    assert_true(has(dir, "claim-23"));
    sl_study_watch_free(w);
}

static void other_names_are_no_claims(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "claim-",
                                         "claim-0",
                                         "claim-07",
                                         "claim-7x",
                                         "claim-x7",
                                         "claim--7",
                                         "claim-99999999999999999" };
    const char *dir = fresh("names");
    SL_MUST(t, sl_folder_make(dir, 0777));
    for (int i = 0; i < SL_LEN(names); i++) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        close(open(path, O_CREAT | O_WRONLY, 0666));
    }
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c = take(t, w, dir);
    assert_non_null(c);
    assert_true(has(dir, "claim-1"));
    sl_study_claim_release(c);
    sl_study_watch_free(w);
}

/* What a process leaves that is killed between writing its claim and linking it. */
static void unfinished_claims_are_swept(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("swept");
    char path[800];
    SL_MUST(t, sl_folder_make(dir, 0777));
    snprintf(path, sizeof path, "%s/claim-new-0123", dir);
    close(open(path, O_CREAT | O_WRONLY, 0666));
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c = take(t, w, dir);
    assert_false(has(dir, "claim-new-0123"));
    sl_study_claim_release(c);
    sl_study_watch_free(w);
}

/* ---------------------------------------------------------------- ended holders ------------- */

static void a_process_of_this_machine_that_is_gone_is_replaced_at_once(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("gone");
    const pid_t pid = fork();
    if (pid == 0) {
        sl_study_watch *w;
        sl_study_claim *c;
        if (sl_study_watch_new(&w, FOREVER) != SL_OK || sl_study_claim_take(&c, w, dir) != SL_OK)
            _exit(1);
        raise(SIGKILL);
    }
    siginfo_t info; // it stays a zombie: that is as good as gone
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    sl_study_holder h;
    SL_MUST(t, sl_study_holder_read(&h, dir));
    assert_true(h.held && h.gone && h.pid == pid);
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c = take(t, w, dir);
    assert_non_null(c);
    assert_int_equal(wait_code(pid), 128 + SIGKILL);
    SL_MUST(t, sl_study_holder_read(&h, dir));
    assert_true(h.held && !h.gone && h.pid == getpid());
    sl_study_claim_release(c);
    SL_MUST(t, sl_study_holder_read(&h, dir));
    assert_false(h.held);
    sl_study_watch_free(w);
}

/* The number of a process says nothing once another has it. */
static void another_process_with_its_number_does_not_keep_it(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("number");
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c = take(t, w, dir);
    assert_null(take(t, w, dir));
    char path[800], text[1100];
    snprintf(path, sizeof path, "%s/claim-1", dir);
    const int fd = open(path, O_RDWR);
    const ssize_t n = read(fd, text, sizeof text - 1);
    text[n] = '\0';
    char *at = strstr(text, "\"start\":") + strlen("\"start\":");
    *at = *at == '1' ? '2' : '1'; // a process that was started at another time
    assert_int_equal(pwrite(fd, text, (size_t)n, 0), n);
    close(fd);
    sl_study_claim *next = take(t, w, dir);
    assert_non_null(next);
    assert_int_equal(sl_study_claim_check(c), SL_ECANCEL);
    sl_study__claim_abandon(c);
    sl_study_claim_release(next);
    sl_study_watch_free(w);
}

/* ---------------------------------------------------------------- holders without beats ----- */

/* Tries until it has it, at most ten seconds; *seconds := how long that took. */
static sl_study_claim *take_at_last(sl_fixture *t, sl_study_watch *w, const char *dir,
                                    double *seconds) {
    const double begin = sl_clock();
    for (;;) {
        sl_study_claim *c = take(t, w, dir);
        *seconds = sl_clock() - begin;
        if (c || *seconds > 10) return c;
        sleep_ms(5);
    }
}

static void a_remote_holder_without_beats_is_replaced_after_expiry(void **state) {
    sl_fixture *t = *state;
    static const int shifts[] = { 0, -7200, 7200 }; // clocks that are hours off
    for (int i = 0; i < SL_LEN(shifts); i++) {
        char name[40];
        snprintf(name, sizeof name, "silent%d", i);
        const char *dir = fresh(name);
        sl_study_watch *w = watch_of(t, 0.08);
        sl_study_claim *old = take(t, w, dir);
        move_elsewhere(dir);
        set_times(dir, "claim-1", shifts[i]);
        double seconds;
        sl_study_claim *c = take_at_last(t, w, dir, &seconds);
        assert_non_null(c);
        SL_CHECK(t, seconds >= 0.08, "after %g s, files %d s off", seconds, shifts[i]);
        assert_int_equal(sl_study_claim_check(old), SL_ECANCEL);
        assert_int_equal(sl_study_claim_beat(old, 1, 2, "late"), SL_ECANCEL);
        SL_MUST(t, sl_study_claim_check(c));
        sl_study__claim_abandon(old);
        sl_study_claim_release(c);
        sl_study_watch_free(w);
    }
}

static void a_holder_that_beats_keeps_its_claim_for_any_file_times(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("beats");
    sl_study_watch *w = watch_of(t, 0.1);
    sl_study_claim *c = take(t, w, dir);
    for (int i = 0; i < 30; i++) {
        // its process seems to be elsewhere, its clock an hour behind or before
        SL_MUST(t, sl_study_claim_beat(c, i, 30, "working"));
        if (i % 2 == 0) set_times(dir, "claim-1", i % 4 ? 3600 : -3600);
        assert_null(take(t, w, dir));
        sleep_ms(10);
    }
    sl_study_holder h;
    SL_MUST(t, sl_study_holder_read(&h, dir));
    assert_string_equal(h.text, "working");
    assert_true(h.total == 30 && h.done > 0);
    sl_study_claim_release(c);
    sl_study_watch_free(w);
}

/* The longer of both times counts: a worker in a hurry must not take from one that beats seldom. */
static void the_holders_own_time_counts_too(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("hurry");
    sl_study_watch *slow = watch_of(t, 0.2), *quick = watch_of(t, 0.01);
    sl_study_claim *c = take(t, slow, dir);
    move_elsewhere(dir);
    double seconds;
    sl_study_claim *next = take_at_last(t, quick, dir, &seconds);
    SL_CHECK(t, next && seconds >= 0.2, "after %g s", seconds);
    sl_study__claim_abandon(c);
    sl_study_claim_release(next);
    sl_study_watch_free(slow);
    sl_study_watch_free(quick);
}

static void a_claim_that_cannot_be_read_holds_until_it_expires(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "", "{", "[]", "{\"released\":1}", "\xff\xfe" };
    for (int i = 0; i < SL_LEN(texts); i++) {
        char name[40], path[800];
        snprintf(name, sizeof name, "damaged%d", i);
        const char *dir = fresh(name);
        SL_MUST(t, sl_folder_make(dir, 0777));
        snprintf(path, sizeof path, "%s/claim-4", dir);
        FILE *f = fopen(path, "w");
        fputs(texts[i], f);
        fclose(f);
        sl_study_watch *w = watch_of(t, 0.03);
        double seconds;
        assert_null(take(t, w, dir));
        sl_study_claim *c = take_at_last(t, w, dir, &seconds);
        assert_true(c && has(dir, "claim-5"));
        sl_study_claim_release(c);
        sl_study_watch_free(w);
    }
}

/* ---------------------------------------------------------------- waking late --------------- */

static void a_suspended_process_detects_the_loss_before_it_writes(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("late");
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        sl_study_watch *w;
        sl_study_claim *c;
        if (sl_study_watch_new(&w, 0.1) != SL_OK || sl_study_claim_take(&c, w, dir) != SL_OK)
            _exit(1);
        if (sl_study_claim_check(c) != SL_OK || write(ready[1], "x", 1) != 1) _exit(2);
        raise(SIGSTOP);
        if (sl_study_claim_check(c) != SL_ECANCEL) _exit(3);
        if (sl_study_claim_beat(c, 1, 1, "I am back") != SL_ECANCEL) _exit(4);
        sl_study_claim_release(c); // into its own file: the next holder's is another
        _exit(0);
    }
    char x;
    assert_int_equal(read(ready[0], &x, 1), 1);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
    sl_study_watch *w = watch_of(t, 0.1);
    double seconds;
    sl_study_claim *c = take_at_last(t, w, dir, &seconds);
    assert_non_null(c);
    kill(pid, SIGCONT);
    assert_int_equal(wait_code(pid), 0);
    SL_MUST(t, sl_study_claim_check(c));
    sl_study_holder h;
    SL_MUST(t, sl_study_holder_read(&h, dir));
    assert_true(h.held && h.pid == getpid());
    sl_study_claim_release(c);
    sl_study_watch_free(w);
    close(ready[0]);
    close(ready[1]);
}

static void a_removed_claim_is_lost(void **state) {
    sl_fixture *t = *state;
    const char *dir = fresh("removed");
    char path[800];
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c = take(t, w, dir);
    snprintf(path, sizeof path, "%s/claim-1", dir);
    unlink(path);
    assert_int_equal(sl_study_claim_check(c), SL_ECANCEL);
    sl_study_claim *other = take(t, w, dir); // claim-1 again: another file
    assert_non_null(other);
    assert_int_equal(sl_study_claim_check(c), SL_ECANCEL);
    SL_MUST(t, sl_study_claim_check(other));
    sl_study_claim_release(c); // changes nothing of the other's
    SL_MUST(t, sl_study_claim_check(other));
    assert_null(take(t, w, dir));
    sl_study_claim_release(other);
    sl_study_watch_free(w);
}

/* One of two signs is enough: on a network file system the other may be seen later. */
static void a_mark_or_a_higher_claim_alone_means_lost(void **state) {
    sl_fixture *t = *state;
    static const char *const signs[] = { "claim-1", "claim-2" };
    for (int i = 0; i < SL_LEN(signs); i++) {
        char name[40], path[800];
        snprintf(name, sizeof name, "sign%d", i);
        const char *dir = fresh(name);
        sl_study_watch *w = watch_of(t, FOREVER);
        sl_study_claim *c = take(t, w, dir);
        SL_MUST(t, sl_study_claim_check(c));
        snprintf(path, sizeof path, "%s/%s", dir, signs[i]);
        FILE *f = fopen(path, "a");
        fputs("taken over\n", f);
        fclose(f);
        assert_int_equal(sl_study_claim_check(c), SL_ECANCEL);
        sl_study__claim_abandon(c);
        sl_study_watch_free(w);
    }
}

static void a_deadline_ends_the_work(void **state) {
    sl_fixture *t = *state;
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c = take(t, w, fresh("deadline"));
    SL_MUST(t, sl_study_claim_beat(c, 0, 1, ""));
    sl_study__claim_deadline(c, sl_study__clock() + 0.02);
    assert_false(sl_study__claim_late(c));
    sleep_ms(25);
    assert_int_equal(sl_study_claim_beat(c, 0, 1, ""), SL_ECANCEL);
    assert_true(sl_study__claim_late(c));
    SL_MUST(t, sl_study_claim_check(c)); // what is done may still be saved
    sl_study_claim_release(c);
    sl_study_watch_free(w);
}

/* ---------------------------------------------------------------- failures ------------------ */

static void a_folder_that_cannot_be_made_is_reported(void **state) {
    sl_fixture *t = *state;
    const char *file = fresh("plain");
    char dir[800];
    close(open(file, O_CREAT | O_WRONLY, 0666));
    snprintf(dir, sizeof dir, "%s/below", file);
    sl_study_watch *w = watch_of(t, FOREVER);
    sl_study_claim *c;
    assert_int_equal(sl_study_claim_take(&c, w, file), SL_EIO);
    assert_non_null(strstr(sl_last_error(), file));
    assert_int_equal(sl_study_claim_take(&c, w, dir), SL_EIO);
    sl_study_watch_free(w);
}

static void a_long_text_fits_and_is_valid(void **state) {
    sl_fixture *t = *state;
    char text[1000];
    const char *dir = fresh("text");
    sl_study_watch *w = watch_of(t, 0.01);
    sl_study_claim *c = take(t, w, dir);
    static const char fill[] = { 'a', '\\', '\x01', '\xff' };
    for (int i = 0; i < SL_LEN(fill); i++) {
        memset(text, fill[i], sizeof text - 1);
        text[sizeof text - 1] = '\0';
        sleep_ms(3);
        SL_MUST(t, sl_study_claim_beat(c, 1, 2, text));
        sl_study_holder h;
        SL_MUST(t, sl_study_holder_read(&h, dir));
        assert_true(h.held && h.total == 2);
    }
    sl_study_claim_release(c);
    sl_study_watch_free(w);
}

static void without_memory_nothing_is_claimed_or_leaked(void **state) {
    sl_fixture *t = *state;
    for (int n = 1;; n++) {
        char name[40];
        snprintf(name, sizeof name, "memory%d", n);
        const char *dir = fresh(name);
        sl_study_watch *w = NULL;
        sl_study_claim *c = NULL;
        sl_mem_fail_at(n, false);
        sl_status st = sl_study_watch_new(&w, FOREVER);
        if (st == SL_OK) st = sl_study_claim_take(&c, w, dir);
        sl_mem_fail_at(0, false);
        if (st == SL_OK) {
            sl_study_claim_release(c);
            sl_study_watch_free(w);
            SL_CHECK(t, n > 5, "only %d allocations", n);
            return;
        }
        assert_int_equal(st, SL_ENOMEM);
        assert_null(c);
        assert_false(has(dir, "claim-1"));
        sl_study_watch_free(w);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(of_many_processes_one_gets_it),
        SL_TEST(a_released_claim_is_taken_and_numbers_ascend),
        SL_TEST(other_names_are_no_claims),
        SL_TEST(unfinished_claims_are_swept),
        SL_TEST(a_process_of_this_machine_that_is_gone_is_replaced_at_once),
        SL_TEST(another_process_with_its_number_does_not_keep_it),
        SL_TEST(a_remote_holder_without_beats_is_replaced_after_expiry),
        SL_TEST(a_holder_that_beats_keeps_its_claim_for_any_file_times),
        SL_TEST(the_holders_own_time_counts_too),
        SL_TEST(a_claim_that_cannot_be_read_holds_until_it_expires),
        SL_TEST(a_suspended_process_detects_the_loss_before_it_writes),
        SL_TEST(a_removed_claim_is_lost),
        SL_TEST(a_mark_or_a_higher_claim_alone_means_lost),
        SL_TEST(a_deadline_ends_the_work),
        SL_TEST(a_folder_that_cannot_be_made_is_reported),
        SL_TEST(a_long_text_fits_and_is_valid),
        SL_TEST(without_memory_nothing_is_claimed_or_leaked),
    };
    return sl_test_main("study.claim", tests, SL_LEN(tests));
}
