/* Workers, with a runner that imitates training: every run is done once and never by two at a time,
 * whichever process is killed, stopped or slow; failures are counted; full disks and broken folders
 * are reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "study/claim_impl.h"

enum { BATCHES = 10, RATES = 10, RUNS = BATCHES * RATES };

static double batch[BATCHES], rate[RATES];
static const double zero[] = { 0 }, ratio[] = { 10 };
static sl_study_size size = { .name = "16x1",
                              .train = "{}",
                              .batch = { batch, BATCHES },
                              .lr = { rate, RATES },
                              .ratios = { ratio, 1 },
                              .sweep_seeds = { zero, 1 },
                              .scale_seeds = { zero, 1 },
                              .sweep_ratio = 10 };
static sl_study_plan plan = { .name = "fake", .size = &size, .sizes = 1, .attempts = 2 };

static void make_grid(int batches, int rates) {
    for (int i = 0; i < BATCHES; i++) batch[i] = ldexp(1, i);
    for (int i = 0; i < RATES; i++) rate[i] = 1e-3 * (i + 1);
    size.batch.n = batches;
    size.lr.n = rates;
}

/* ---------------------------------------------------------------- the imitation ------------- */

/* What the runner shall do besides. */
typedef struct fake {
    double spin;     // seconds of work for each run
    const char *bad; // part of the name of runs that fail with `status`, `message`
    sl_status status;
    const char *message;
    bool empty;     // bad runs end well and leave nothing
    int stop_after; // jobs after which report cancels; 0: never
    int stop_self;  // the job in which it stops itself by SIGSTOP; 0: none
    int kill_self;  // ... or kills itself
    int done;
} fake;

static const char *dir(void) {
    static char path[600];
    if (!path[0]) snprintf(path, sizeof path, "%s", sl_test_path("studies"));
    return path;
}

/* <studies>/<name>, where a test has its study, and marks beside it. */
static const char *study_of(const char *name) {
    static char path[700];
    snprintf(path, sizeof path, "%s/%s", dir(), name);
    assert_int_equal(sl_folder_make(path, 0777), SL_OK);
    return path;
}

static void spin(double seconds) {
    for (const double end = sl_clock() + seconds; sl_clock() < end;) {
    }
}

/* A mark that only one process can have. One that was killed leaves its own: its number is in it.
 */
static bool mark(const char *path) {
    char text[32] = "";
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
    if (fd < 0 && errno == EEXIST) {
        fd = open(path, O_RDONLY);
        const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        if (fd >= 0) close(fd);
        const pid_t pid = (pid_t)(n > 0 ? sl_strtoll(text, NULL) : 0);
        char state[400] = "", proc[64];
        snprintf(proc, sizeof proc, "/proc/%d/stat", (int)pid);
        FILE *f = pid ? fopen(proc, "r") : NULL;
        const bool there =
            f && fgets(state, sizeof state, f) && !strstr(state, ") Z ") && !strstr(state, ") T ");
        if (f) fclose(f);
        if (there) return false;
        unlink(path);
        fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
    }
    if (fd < 0) return false;
    const int n = snprintf(text, sizeof text, "%d", (int)getpid());
    const bool good = write(fd, text, (size_t)n) == n;
    close(fd);
    return good;
}

static void count(const char *folder, const char *name) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_CREAT | O_APPEND | O_WRONLY, 0666);
    if (fd >= 0 && write(fd, "x", 1) == 1) close(fd);
}

static int counted(const char *folder, const char *name) {
    char path[1000];
    struct stat s;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &s) == 0 ? (int)s.st_size : 0;
}

static sl_status fake_work(const sl_study_runner *r, const sl_study *study, const sl_study_job *job,
                           const char *folder, sl_study_claim *claim) {
    fake *f = r->payload;
    char at[900];
    const sl_study_run *run = &study->run[job->run];
    assert_int_equal(job->kind, SL_STUDY_JOB_TRAIN);
    snprintf(at, sizeof at, "%s/at-work", folder);
    if (!mark(at)) {
        count(study->dir, "two-at-once");
        return sl_fail(SL_EINVAL, "two at once");
    }
    f->done++;
    count(folder, "begun");
    if (f->done == f->kill_self) raise(SIGKILL);
    if (f->done == f->stop_self) raise(SIGSTOP);
    spin(f->spin);
    sl_status st = sl_study_claim_beat(claim, 1, 1, "imitating");
    const bool bad = f->bad && strstr(run->id, f->bad);
    if (st == SL_OK && bad) st = f->empty ? SL_OK : sl_fail(f->status, "%s", f->message);
    if (st == SL_OK && !bad) {
        const double x = log2(run->batch) - 4.3, y = log(run->lr / 5e-3);
        const sl_study_result result = { .params = 1000,
                                         .tokens = 10000,
                                         .flops = 6e7,
                                         .steps = 10,
                                         .loss_valid = 1 + x * x + y * y,
                                         .checkpoint = "model" };
        st = sl_study_claim_check(claim);
        if (st == SL_OK) count(folder, "finished");
        if (st == SL_OK) st = sl_study_result_write(folder, &result);
    }
    if (sl_study_claim_check(claim) == SL_OK) unlink(at);
    return st;
}

static sl_status fake_flops(double *out, const sl_study_runner *r, const sl_study_plan *p,
                            const sl_study_run *run) {
    (void)r;
    (void)p;
    *out = run->batch;
    return SL_OK;
}

static sl_status fake_report(const sl_study_runner *r, const sl_study *study, const char *text) {
    const fake *f = r->payload;
    (void)study;
    (void)text;
    if (f->stop_after && f->done >= f->stop_after) return sl_fail(SL_ECANCEL, "asked to stop");
    return SL_OK;
}

static sl_status work(bool *late, fake *f, const char *study, double expiry, double seconds) {
    const sl_study_runner r = { fake_work, fake_flops, fake_report, f };
    const sl_study_worker_options o = { .expiry = expiry, .seconds = seconds, .wait = true };
    return sl_study_work(late, &plan, study, &r, &o);
}

/* A worker as a process; its exit code is 0 or minus the status. */
static pid_t start(fake f, const char *study, double expiry) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    bool late;
    _exit(-(int)work(&late, &f, study, expiry, 0));
}

static int wait_code(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Every run of the study has been finished once, and none was worked at by two. */
static void check_once(sl_fixture *t, const char *study, int lost) {
    sl_study s;
    int begun = 0;
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, study));
    assert_true(s.complete);
    assert_int_equal(s.runs, size.batch.n * size.lr.n);
    for (int i = 0; i < s.runs; i++) {
        char folder[900];
        snprintf(folder, sizeof folder, "%s/runs/%s", study, s.run[i].id);
        SL_CHECK(t, counted(folder, "finished") == 1, "%s: %d times", folder,
                 counted(folder, "finished"));
        begun += counted(folder, "begun");
    }
    SL_CHECK(t, begun == s.runs + lost, "%d begun, %d runs, %d lost", begun, s.runs, lost);
    assert_int_equal(counted(study, "two-at-once"), 0);
}

/* ---------------------------------------------------------------- many ---------------------- */

static void eight_workers_do_a_hundred_runs_once(void **state) {
    sl_fixture *t = *state;
    enum { WORKERS = 8 };
    const char *study = study_of("hundred");
    pid_t pid[WORKERS];
    make_grid(BATCHES, RATES);
    for (int i = 0; i < WORKERS; i++) pid[i] = start((fake){ .spin = 1e-4 }, study, 1e6);
    for (int i = 0; i < WORKERS; i++) assert_int_equal(wait_code(pid[i]), 0);
    check_once(t, study, 0);
}

static void a_killed_worker_is_replaced(void **state) {
    sl_fixture *t = *state;
    enum { WORKERS = 4 };
    const char *study = study_of("killed");
    pid_t pid[WORKERS];
    make_grid(5, 5);
    for (int i = 0; i < WORKERS; i++)
        pid[i] = start((fake){ .spin = 1e-3, .kill_self = i < 2 ? 2 : 0 }, study, 1e6);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(wait_code(pid[i]), i < 2 ? 128 + SIGKILL : 0);
    check_once(t, study, 2);
}

/* Stopped long enough for its run to be done by another: when it wakes it neither finishes that run
 * nor counts it as a failure, and goes on with others. */
static void a_worker_that_wakes_late_writes_nothing(void **state) {
    sl_fixture *t = *state;
    const char *study = study_of("late");
    make_grid(3, 3);
    const pid_t pid = start((fake){ .stop_self = 2 }, study, 0.1);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
    fake f = { 0 };
    bool late;
    SL_MUST(t, work(&late, &f, study, 0.1, 0));
    kill(pid, SIGCONT);
    assert_int_equal(wait_code(pid), 0);
    check_once(t, study, 1);
    sl_study s;
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, study));
    for (int i = 0; i < s.runs; i++) assert_int_equal(s.run[i].attempts, 0);
}

/* Files whose times are minutes off, before and behind, belong to machines with other clocks. */
static void file_times_do_not_matter(void **state) {
    sl_fixture *t = *state;
    enum { WORKERS = 4 };
    const char *study = study_of("clocks");
    pid_t pid[WORKERS + 1];
    make_grid(6, 6);
    for (int i = 0; i < WORKERS; i++) pid[i] = start((fake){ .spin = 2e-3 }, study, 0.5);
    pid[WORKERS] = fork();
    if (pid[WORKERS] == 0) { // sets the times of all claims, again and again
        for (int round = 0; round < 200; round++) {
            char command[1000];
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            sl_study s;
            sl_arena a = { 0 };
            if (sl_study_look(&s, &a, &plan, study) != SL_OK) _exit(1);
            for (int i = 0; i < s.runs; i++)
                for (int n = 1; n < 3; n++) {
                    const time_t at = now.tv_sec + (i % 2 ? 600 : -600);
                    const struct timespec both[2] = { { at, 0 }, { at, 0 } };
                    snprintf(command, sizeof command, "%s/runs/%s/claim-%d", study, s.run[i].id, n);
                    utimensat(AT_FDCWD, command, both, 0);
                }
            const bool complete = s.complete;
            sl_arena_clear(&a);
            if (complete) break;
        }
        _exit(0);
    }
    for (int i = 0; i <= WORKERS; i++) assert_int_equal(wait_code(pid[i]), 0);
    check_once(t, study, 0);
}

/* Not a test of speed: what it took is printed. */
static void two_workers_share_the_work(void **state) {
    sl_fixture *t = *state;
    double seconds[2];
    make_grid(4, 5);
    for (int two = 0; two < 2; two++) {
        const char *study = study_of(two ? "two" : "one");
        pid_t pid[2];
        const double begin = sl_clock();
        for (int i = 0; i <= two; i++) pid[i] = start((fake){ .spin = 4e-3 }, study, 1e6);
        for (int i = 0; i <= two; i++) assert_int_equal(wait_code(pid[i]), 0);
        seconds[two] = sl_clock() - begin;
        check_once(t, study, 0);
    }
    print_message("two workers take %.2f of the time of one (%.0f ms)\n", seconds[1] / seconds[0],
                  1e3 * seconds[0]);
}

/* ---------------------------------------------------------------- failures ------------------ */

static void a_run_that_fails_is_tried_again_and_the_others_go_on(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name;
        fake f;
        const char *message;
    } cases[] = {
        { "bad", { .bad = "-b2-lr2e-3", .status = SL_EFORMAT, .message = "damaged" }, "damaged" },
        { "gone",
          { .bad = "-b2-lr2e-3", .status = SL_EIO, .message = "no such file" },
          "no such file" },
        { "empty", { .bad = "-b2-lr2e-3", .empty = true }, "it ended without a result" },
    };
    make_grid(3, 3);
    for (int i = 0; i < SL_LEN(cases); i++) {
        const char *study = study_of(cases[i].name);
        fake f = cases[i].f;
        bool late;
        sl_study s;
        int failed = 0;
        SL_MUST(t, work(&late, &f, study, 1e6, 0));
        assert_int_equal(f.done, 9 + 1); // twice, as the plan says
        SL_MUST(t, sl_study_look(&s, &t->arena, &plan, study));
        assert_true(s.complete);
        for (int k = 0; k < s.runs; k++) {
            const bool bad = strstr(s.run[k].id, "-b2-lr2e-3");
            failed += s.run[k].state == SL_STUDY_FAILED;
            assert_int_equal(s.run[k].attempts, bad ? 2 : 0);
            if (bad) assert_string_equal(s.run[k].error, cases[i].message);
        }
        assert_int_equal(failed, 1);
    }
}

static void a_full_disk_ends_the_worker_and_room_lets_it_go_on(void **state) {
    sl_fixture *t = *state;
    const char *study = study_of("full");
    make_grid(3, 3);
    fake f = { .bad = "-b2-lr2e-3",
               .status = SL_EIO,
               .message = "cannot write model: No space left on device" };
    bool late;
    assert_int_equal(work(&late, &f, study, 1e6, 0), SL_EIO);
    assert_non_null(strstr(sl_last_error(), "No space left on device"));
    assert_non_null(strstr(sl_last_error(), "the same command continues"));
    f = (fake){ 0 };
    SL_MUST(t, work(&late, &f, study, 1e6, 0));
    check_once(t, study, 1);
    sl_study s;
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, study));
    for (int i = 0; i < s.runs; i++) assert_int_equal(s.run[i].attempts, 0);
}

/* Whatever write fails, nothing is lost: the same call goes on. */
static void every_write_may_fail(void **state) {
    sl_fixture *t = *state;
    make_grid(1, 3);
    for (int n = 1;; n++) {
        char name[40];
        snprintf(name, sizeof name, "write%d", n);
        const char *study = study_of(name);
        fake f = { 0 };
        bool late;
        sl_file_fail_at(n);
        const sl_status st = work(&late, &f, study, 1e6, 0);
        sl_file_fail_at(0);
        if (st != SL_OK) assert_int_equal(st, SL_EIO);
        SL_MUST(t, work(&late, &f, study, 1e6, 0));
        sl_study s;
        SL_MUST(t, sl_study_look(&s, &t->arena, &plan, study));
        assert_true(s.complete && s.run[0].trained && s.run[2].trained);
        if (st == SL_OK) break;
    }
}

static void a_folder_that_cannot_be_used_does_not_stop_the_others(void **state) {
    sl_fixture *t = *state;
    const char *study = study_of("blocked");
    char path[900];
    make_grid(3, 3);
    snprintf(path, sizeof path, "%s/runs", study);
    SL_MUST(t, sl_folder_make(path, 0777));
    snprintf(path, sizeof path, "%s/runs/16x1-b2-lr2e-3-r10-s0", study);
    close(open(path, O_CREAT | O_WRONLY, 0666)); // a file where a folder should be
    fake f = { 0 };
    bool late;
    assert_int_equal(work(&late, &f, study, 1e6, 0), SL_EIO);
    SL_CHECK(t, strstr(sl_last_error(), "16x1-b2-lr2e-3-r10-s0"), "%s", sl_last_error());
    assert_int_equal(f.done, 8);
    unlink(path);
    SL_MUST(t, work(&late, &f, study, 1e6, 0));
    check_once(t, study, 0);
}

static void a_request_to_stop_and_the_end_of_its_time(void **state) {
    sl_fixture *t = *state;
    const char *study = study_of("stop");
    make_grid(3, 3);
    fake f = { .stop_after = 4 };
    bool late;
    assert_int_equal(work(&late, &f, study, 1e6, 0), SL_ECANCEL);
    assert_false(late);
    assert_int_equal(f.done, 4);
    f = (fake){ .spin = 0.03 };
    assert_int_equal(work(&late, &f, study, 1e6, 0.05), SL_ECANCEL);
    assert_true(late);
    f = (fake){ 0 };
    SL_MUST(t, work(&late, &f, study, 1e6, 0));
    sl_study s;
    SL_MUST(t, sl_study_look(&s, &t->arena, &plan, study));
    assert_true(s.complete);
    for (int i = 0; i < s.runs; i++) assert_int_equal(s.run[i].attempts, 0);
}

static void without_memory_a_worker_ends_and_leaks_nothing(void **state) {
    sl_fixture *t = *state;
    make_grid(1, 1);
    size.lr.n = 2;
    const char *study = study_of("memory");
    fake f = { 0 };
    bool late;
    SL_MUST(t, work(&late, &f, study, 1e6, 0));
    for (int n = 1;; n += 3) {
        sl_mem_fail_at(n, true);
        const sl_status st = work(&late, &f, study, 1e6, 0);
        sl_mem_fail_at(0, false);
        if (st == SL_OK) break;
        assert_int_equal(st, SL_ENOMEM);
    }
    check_once(t, study, 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(eight_workers_do_a_hundred_runs_once),
        SL_TEST(a_killed_worker_is_replaced),
        SL_TEST(a_worker_that_wakes_late_writes_nothing),
        SL_TEST(file_times_do_not_matter),
        SL_TEST(two_workers_share_the_work),
        SL_TEST(a_run_that_fails_is_tried_again_and_the_others_go_on),
        SL_TEST(a_full_disk_ends_the_worker_and_room_lets_it_go_on),
        SL_TEST(every_write_may_fail),
        SL_TEST(a_folder_that_cannot_be_used_does_not_stop_the_others),
        SL_TEST(a_request_to_stop_and_the_end_of_its_time),
        SL_TEST(without_memory_a_worker_ends_and_leaks_nothing),
    };
    return sl_test_main("study.worker", tests, SL_LEN(tests));
}
