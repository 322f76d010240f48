/* The cache: its size is bounded, leftovers of killed processes are removed, and processes that use
 * it at the same time do not disturb each other. */
#include "universe/test/cache.h"

static void set_age(sl_fixture *t, const char *path, int seconds) {
    struct timespec now, when[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    when[0] = when[1] = now;
    SL_CHECK(t, utimensat(AT_FDCWD, path, when, 0) == 0, "%s: %s", path, strerror(errno));
}

static void what_was_not_used_for_longest_goes_first(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("limit");
    event_log h;
    const char *path[5];
    c.max_files = 3;
    for (int i = 0; i < 5; i++) {
        sl_universe_options o = little();
        o.seed = (uint64_t)i;
        path[i] = path_of(t, &o, &c);
        if (i == 3) { // 0 is the oldest, but in use
            o.seed = 0;
            sl_universe_free(opened(t, &h, &o, &c));
            SL_CHECK(t, h.progress == 0, "0 was not kept");
            o.seed = 3;
        }
        sl_universe_free(opened(t, &h, &o, &c));
        set_age(t, path[i], 100 - 10 * i);
        SL_CHECK(t, files_in(c.dir) == SL_MIN(i + 1, 3), "%d files", files_in(c.dir));
    }
    for (int i = 0; i < 5; i++)
        SL_CHECK(t, (access(path[i], F_OK) == 0) == (i == 0 || i >= 3), "file %d", i);

    // bytes: room for two and a half
    struct stat s;
    sl_universe_options o = little();
    o.seed = 5;
    SL_CHECK(t, stat(path[4], &s) == 0, "stat");
    c.max_bytes = s.st_size * 5 / 2;
    c.max_files = 16;
    sl_universe_free(opened(t, &h, &o, &c));
    SL_CHECK(t, files_in(c.dir) == 2 && access(path_of(t, &o, &c), F_OK) == 0, "%d files",
             files_in(c.dir));
    // what was just written stays, also where clocks disagree
    set_age(t, path_of(t, &o, &c), -1000);
    o.seed = 0;
    c.max_files = 1;
    unlink(path_of(t, &o, &c));
    sl_universe_free(opened(t, &h, &o, &c));
    SL_CHECK(t, files_in(c.dir) == 1 && access(path_of(t, &o, &c), F_OK) == 0, "the new one went");
    // one that would take more than half of it is not kept at all
    c.max_bytes = s.st_size * 3 / 2;
    o.seed = 6;
    sl_universe_free(opened(t, &h, &o, &c));
    SL_CHECK(t, access(path_of(t, &o, &c), F_OK) != 0 && h.notes == 0, "too large, but kept");
    drop(&c);
}

/* The name of the one temporary file in the folder. */
static void find_temporary(char *out, size_t size, const char *dir) {
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".tmp-")) snprintf(out, size, "%s", e->d_name);
    closedir(d);
}

static void what_killed_ones_left_goes_and_nothing_else(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("left");
    event_log h;
    // of this machine: the name of one that is being written, with another process in it
    char gone[300], alive[300];
    sl_file *f = NULL;
    SL_CHECK(t, mkdir(c.dir, 0700) == 0, "mkdir");
    char target[400];
    snprintf(target, sizeof target, "%s/set-0123456789abcdef.bin", c.dir);
    SL_MUST(t, sl_file_replace(&f, target));
    find_temporary(alive, sizeof alive, c.dir);
    snprintf(gone, sizeof gone, "%.*s-%ld", (int)(strrchr(alive, '-') - alive), alive,
             sl_test_gone());
    const struct {
        const char *name;
        int age;
        bool stays;
    } cases[] = {
        { gone, 10, false },
        { alive, 360000, true }, // by us
        { "set-0123456789abcdef.bin.tmp-1", 3600, false },
        { "set-0123456789abcdef.bin.tmp-2-1", 10, true },           // being written
        { "set-0123456789abcdef.bin.tmp-00000000-1", 3600, false }, // of another machine
        { "set-0123456789abcdef.bin.tmp-00000000-2", 10, true },
        { "set-0123456789abcdef.bin.tmp-1x", 3600, true }, // from here on: not ours
        { "set-0123456789abcdef.bin.old", 3600, true },
        { "set-0123456789abcde.bin", 3600, true },
        { "set-0123456789abcdef0.bin", 3600, true },
        { "Set-0123456789abcdef.bin", 3600, true },
        { "set-", 3600, true },
        { "notes.txt", 360000, true },
    };
    sl_universe_options o = little();
    char path[800];
    for (int i = 0; i < SL_LEN(cases); i++) {
        snprintf(path, sizeof path, "%s/%s", c.dir, cases[i].name);
        write_bytes(t, path, "x", 1);
        set_age(t, path, cases[i].age);
    }
    for (int k = 0; k < 2; k++) { // then with room for those being written and the two written here
        o.seed = (uint64_t)k;
        if (k) c.max_files = 5;
        sl_universe_free(opened(t, &h, &o, &c));
        for (int i = 0; i < SL_LEN(cases); i++) {
            snprintf(path, sizeof path, "%s/%s", c.dir, cases[i].name);
            SL_CHECK(t, (access(path, F_OK) == 0) == cases[i].stays, "%s", cases[i].name);
        }
    }
    SL_CHECK(t, access(path_of(t, &o, &c), F_OK) == 0, "not kept");
    // what is being written stays even where there is no room
    c.max_files = 1;
    o.seed = 2;
    sl_universe_free(opened(t, &h, &o, &c));
    snprintf(path, sizeof path, "%s/%s", c.dir, alive);
    SL_CHECK(t, access(path, F_OK) == 0, "%s", alive);
    sl_file_discard(&f);
    drop(&c);
}

/* Several processes write, read and remove in one folder; each gets its set. */
static void processes_do_not_disturb_each_other(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("many");
    sl_universe *built[3];
    for (int i = 0; i < 3; i++) {
        sl_universe_options o = little();
        o.seed = (uint64_t)i;
        built[i] = build(t, &o);
    }
    c.max_files = 2; // so that files come and go
    pid_t child[4];
    for (int p = 0; p < SL_LEN(child); p++) {
        child[p] = fork();
        SL_CHECK(t, child[p] >= 0, "fork");
        if (child[p]) continue;
        bool good = true;
        for (int i = 0; i < 12 && good; i++) {
            sl_universe *u = NULL;
            const sl_universe *b = built[(i * (p + 1) + p) % 3];
            good = sl_universe__open(&u, NULL, &b->options, NULL, &c) == SL_OK &&
                   strcmp(sl_universe_hash(u), sl_universe_hash(b)) == 0;
            sl_universe_free(u);
        }
        _exit(good ? 0 : 1);
    }
    for (int p = 0; p < SL_LEN(child); p++) {
        int status;
        SL_CHECK(t, waitpid(child[p], &status, 0) == child[p] && status == 0, "process %d: %d", p,
                 status);
    }
    SL_CHECK(t, files_in(c.dir) <= 2 + SL_LEN(child), "%d files", files_in(c.dir));
    for (int i = 0; i < 3; i++) {
        was_read(t, &built[i]->options, &c, built[i]);
        SL_CHECK(t, was_read(t, &built[i]->options, &c, built[i]), "set %d is not kept", i);
        sl_universe_free(built[i]);
    }
    drop(&c);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_was_not_used_for_longest_goes_first),
        SL_TEST(what_killed_ones_left_goes_and_nothing_else),
        SL_TEST(processes_do_not_disturb_each_other),
    };
    return sl_test_main("universe.cache_prune", tests, SL_LEN(tests));
}
