/* Temporary files of processes that are gone are removed, and nothing else is. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture/fixture.h"

static bool any_run_file(const char *name, size_t n) {
    return (n == 8 && memcmp(name, "run.json", n) == 0) ||
           (n == 9 && memcmp(name, "log.jsonl", n) == 0);
}

/* The temporary name of run.json that this process would take, up to the number of the process. */
static const char *here(sl_fixture *t) {
    static char found[256];
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, sl_test_path("run.json")));
    DIR *d = opendir(sl_test_path("."));
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tmp-")) snprintf(found, sizeof found, "%s", e->d_name);
    closedir(d);
    sl_file_discard(&f);
    *strrchr(found, '-') = '\0';
    return found;
}

static void put(const char *name, int age) {
    const char *path = sl_test_path(name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= age;
    times[1] = times[0];
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void names_have_the_file_they_are_for(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name;
        size_t stem;
    } cases[] = {
        { "run.json.tmp-1", 8 },
        { "run.json.tmp-4194304-999", 8 },
        { "run.json.tmp-0123abcd-77", 8 },
        { "run.json.tmp-0123abcd-77-3", 8 },
        { "a.tmp-1.tmp-2", 7 },
        { "run.json", 0 },
        { "run.json.tmp-", 0 },
        { "run.json.tmp-0", 0 },
        { "run.json.tmp-012", 0 },
        { "run.json.tmp-12a", 0 },
        { "run.json.tmp-12-", 0 },
        { "run.json.tmp-12-x", 0 },
        { "run.json.tmp-12345678", 0 },
        { "run.json.tmp-0123abcd", 0 },
        { "run.json.tmp-0123abcd-", 0 },
        { "run.json.tmp-0123ABCD-1", 0 },
        { "run.json.tmp-1.bak", 0 },
        { ".tmp-1", 0 },
        { "", 0 },
    };
    for (int i = 0; i < SL_LEN(cases); i++)
        SL_CHECK(t, sl_file_temporary(cases[i].name) == cases[i].stem, "%s", cases[i].name);
    char name[300];
    snprintf(name, sizeof name, "%s-%ld", here(t), (long)getpid());
    assert_int_equal(sl_file_temporary(name), 8);
}

static void only_files_without_a_living_writer_are_removed(void **state) {
    sl_fixture *t = *state;
    const char *ours = here(t);
    const long gone = sl_test_gone(), alive = (long)getppid();
    struct {
        char name[300];
        int age;
        bool stays, stays_alone;
    } cases[12];
    int n = 0;
#define CASE(seconds, stay, stay_alone, ...)                        \
    do {                                                            \
        snprintf(cases[n].name, sizeof cases[n].name, __VA_ARGS__); \
        cases[n].age = seconds;                                     \
        cases[n].stays = stay;                                      \
        cases[n++].stays_alone = stay_alone;                        \
    } while (0)
    CASE(0, false, false, "%s-%ld", ours, gone);
    CASE(0, false, false, "%s-%ld-1", ours, gone);
    CASE(100000, true, true, "%s-%ld", ours, alive); // asleep, perhaps
    CASE(100000, true, true, "%s-%ld", ours, (long)getpid());
    CASE(0, true, true, "run.json.tmp-00000000-%ld", gone); // may be alive elsewhere
    CASE(3600, false, false, "run.json.tmp-00000000-%ld-1", gone);
    CASE(0, true, false, "log.jsonl.tmp-%ld", gone); // of an older version
    CASE(3600, false, false, "log.jsonl.tmp-%ld-1", gone);
    CASE(0, true, true, "log.jsonl.tmp-%ld", alive);
    CASE(3600, true, true, "notes.tmp-%ld", gone); // of another program
    CASE(3600, true, true, "run.json.tmp-%ldx", gone);
    CASE(-3600, true, true, "run.json.tmp-00000000-%ld-2", gone); // a clock that is ahead
    assert_int_equal(n, SL_LEN(cases));
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n; i++) put(cases[i].name, cases[i].age);
        sl_file_sweep(sl_test_path("."), any_run_file, turn == 1);
        for (int i = 0; i < n; i++) {
            const bool there = access(sl_test_path(cases[i].name), F_OK) == 0;
            SL_CHECK(t, there == (turn ? cases[i].stays_alone : cases[i].stays), "%s, %d s, %d",
                     cases[i].name, cases[i].age, turn);
            unlink(sl_test_path(cases[i].name));
        }
    }
    sl_file_sweep(sl_test_path("no such folder"), any_run_file, true);
}

/* A process that is killed in the middle leaves its file; one that lives keeps it. */
static void a_killed_writer_is_cleaned_up_after(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("run.json");
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sl_file *f = NULL;
        if (sl_file_create(&f, path) == SL_OK && write(ready[1], "x", 1) == 1) pause();
        _exit(1);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    char name[300];
    snprintf(name, sizeof name, "%s-%ld", here(t), (long)child);
    sl_file_sweep(sl_test_path("."), any_run_file, true);
    assert_int_equal(access(sl_test_path(name), F_OK), 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    sl_file_sweep(sl_test_path("."), any_run_file, true);
    assert_int_not_equal(access(sl_test_path(name), F_OK), 0);
    close(ready[0]);
    close(ready[1]);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(names_have_the_file_they_are_for),
        SL_TEST(only_files_without_a_living_writer_are_removed),
        SL_TEST(a_killed_writer_is_cleaned_up_after),
    };
    return sl_test_main("base.temporary", tests, SL_LEN(tests));
}
