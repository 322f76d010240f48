/* The cache: a set that is read equals the set that was built, and no failure of the disk is an
 * error. */
#include "universe/test/cache.h"

/* ---------------------------------------------------------------- the same set -------------- */

static void a_set_from_the_file_is_the_set_that_was_built(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("same");
    sl_universe_options cases[] = {
        config(0, 2, NULL, 0),   config(1, 3, NULL, 0),    config(2, 2, NULL, 0),
        config(2, 2, NULL, 400), config(3, 1, NULL, 5000), config(4, 1, "-", 0),
        config(3, 2, "+,*", 1),  config(2, 2, NULL, 20),
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        for (int k = 0; k < 2; k++) {
            sl_universe_options o = cases[i];
            o.withheld = k ? 0.3 : 0;
            o.seed = (uint64_t)k;
            sl_universe *built = build(t, &o);
            unlink(path_of(t, &o, &c));
            was_read(t, &o, &c, built);
            SL_CHECK(t, access(path_of(t, &o, &c), R_OK) == 0, "case %d was not kept", i);
            SL_CHECK(t, was_read(t, &o, &c, built), "case %d was built again", i);
            sl_universe_free(built);
        }
    }
    drop(&c);
}

static void many_threads_read_the_same(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("threads");
    sl_pool *pool;
    sl_universe_options o = config(3, 1, NULL, 10000); // more than a part
    SL_MUST(t, sl_par_pool_new(&pool, 3));
    sl_universe *built = build(t, &o);
    for (int i = 0; i < 2; i++) {
        sl_universe *u;
        SL_MUST(t, sl_universe__open(&u, pool, &o, NULL, &c));
        check_same(t, u, built);
        sl_universe_free(u);
    }
    sl_universe_free(built);
    sl_par_pool_free(pool);
    drop(&c);
}

/* Independent of the process that writes it and of the time that took. */
static void the_file_of_a_configuration_has_always_the_same_bytes(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("bytes");
    sl_universe_options o = little();
    char *bytes[2];
    size_t n[2];
    event_log h;
    for (int i = 0; i < 2; i++) {
        sl_universe_free(opened(t, &h, &o, &c));
        SL_MUST(t, sl_file_read(&bytes[i], &n[i], path_of(t, &o, &c), SIZE_MAX / 2));
        unlink(path_of(t, &o, &c));
    }
    SL_CHECK(t, n[0] == n[1] && memcmp(bytes[0], bytes[1], n[0]) == 0, "they differ");
    sl_free(bytes[0]);
    sl_free(bytes[1]);
    drop(&c);
}

static void each_configuration_has_a_file_of_its_own(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("own");
    sl_universe_options base = little(), other[7];
    for (int i = 0; i < SL_LEN(other); i++) other[i] = base;
    other[0].depth = 1;
    other[1].variables = 2;
    other[2].ops = SL_UNIVERSE_ALL_OPS;
    other[3].size = 29;
    other[4].seed = 1;
    other[5].withheld = 0.21;
    other[6].max_memory = 1 << 30; // says nothing about the members
    sl_universe *built = build(t, &base);
    was_read(t, &base, &c, built);
    sl_universe_free(built);
    for (int i = 0; i < SL_LEN(other); i++) {
        built = build(t, &other[i]);
        bool read = was_read(t, &other[i], &c, built);
        SL_CHECK(t, read == (i == 6), "configuration %d was %s", i, read ? "read" : "built");
        sl_universe_free(built);
    }
    SL_CHECK(t, files_in(c.dir) == 7, "%d files", files_in(c.dir));
    drop(&c);
}

static void without_a_folder_there_are_no_files(void **state) {
    sl_fixture *t = *state;
    sl_universe_options o = little();
    sl_universe *built = build(t, &o), *u;
    SL_MUST(t, sl_universe_open(&u, NULL, &o, NULL, NULL));
    check_same(t, u, built);
    SL_CHECK(t, !sl_universe_can_find(u) && !u->class && !u->own, "it is not small");
    sl_universe_free(u);
    sl_universe_free(built);

    // what is built sooner than written is not kept
    sl_universe__cache c = fresh("cheap");
    event_log h;
    c.min_raw = 1000000;
    sl_universe_free(opened(t, &h, &o, &c));
    SL_CHECK(t, files_in(c.dir) == -1, "the folder was made");
}

static void wrong_options_are_refused_before_any_file(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("refused");
    sl_universe *u = NULL;
    sl_universe_options o = little();
    o.depth = 5;
    SL_CHECK(t, sl_universe__open(&u, NULL, &o, NULL, &c) == SL_EINVAL, "depth 5");
    o = little();
    o.ops = 0;
    SL_CHECK(t, sl_universe__open(&u, NULL, &o, NULL, &c) == SL_EINVAL, "no operators");
    SL_CHECK(t, !u && files_in(c.dir) == -1, "something was made");
}

/* A file larger than the memory allowed is not read; the members are built, if that is allowed. */
static void memory_allowed_holds_for_the_file_too(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("memory");
    event_log h;
    sl_universe *u = NULL;
    sl_universe_options o = config(2, 2, NULL, 0);
    sl_universe_free(opened(t, &h, &o, &c));
    o.max_memory = 10000;
    SL_CHECK(t, sl_universe__open(&u, NULL, &o, NULL, &c) == SL_ELIMIT && !u, "10 kB are enough");
    o.max_memory = 1 << 20;
    sl_universe_free(opened(t, &h, &o, &c));
    SL_CHECK(t, h.progress == 0, "a megabyte is not");
    drop(&c);
}

/* ---------------------------------------------------------------- the world ----------------- */

static void a_folder_that_cannot_be_written_is_a_note(void **state) {
    sl_fixture *t = *state;
    static const char *const dirs[] = { "/proc/symlaw", "/dev/null/symlaw", "/dev/null" };
    sl_universe_options o = little();
    sl_universe *built = build(t, &o), *u;
    sl_universe__cache c = fresh("none");
    event_log h;
    for (int i = 0; i < SL_LEN(dirs); i++) {
        c.dir = dirs[i];
        sl_fail_restore("an older line");
        u = opened(t, &h, &o, &c);
        check_same(t, u, built);
        SL_CHECK(t, h.notes == 1 && strstr(h.note, dirs[i]), "%d notes: %s", h.notes, h.note);
        SL_CHECK(t, strcmp(sl_last_error(), "an older line") == 0, "%s", sl_last_error());
        sl_universe_free(u);
    }
    sl_universe_free(built);
}

static void missing_folders_are_made(void **state) {
    sl_fixture *t = *state;
    static const char *const below[] = { "a", "a/b", "a/b//c", "a/b/c/d/" };
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    sl_universe__cache c = fresh("deep");
    const char *top = c.dir;
    char dir[300];
    c.dir = dir;
    snprintf(dir, sizeof dir, "%s/%s", top, below[3]);
    was_read(t, &o, &c, built);
    SL_CHECK(t, was_read(t, &o, &c, built), "not kept in %s", dir);
    struct stat s;
    SL_CHECK(t, stat(dir, &s) == 0 && (s.st_mode & 0777) == 0700, "mode %o", s.st_mode);
    sl_universe_free(built);
    for (int i = 3; i >= 0; i--) {
        snprintf(dir, sizeof dir, "%s/%s", top, below[i]);
        empty_folder(dir);
        rmdir(dir);
    }
    rmdir(top);
}

static void a_failing_write_leaves_nothing(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("write");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o), *u;
    event_log h;
    int n = 0;
    for (;;) {
        sl_file_fail_at(++n);
        u = opened(t, &h, &o, &c);
        sl_file_fail_at(0);
        check_same(t, u, built);
        sl_universe_free(u);
        if (h.notes == 0) break;
        SL_CHECK(t, strstr(h.note, "No space left"), "%s", h.note);
        SL_CHECK(t, h.notes == 1 && files_in(c.dir) == 0, "write %d leaves a file", n);
    }
    SL_CHECK(t, n == 3, "%d writes", n - 1); // the bytes, and the sync
    SL_CHECK(t, was_read(t, &o, &c, built), "not kept in the end");
    sl_universe_free(built);
    drop(&c);
}

/* A write that fails must not cost the file that was there, even if that one is bad. */
static void a_failing_write_leaves_the_old_file(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("old");
    sl_universe_options o = little();
    const char *path = path_of(t, &o, &c);
    event_log h;
    char *bytes;
    SL_CHECK(t, mkdir(c.dir, 0700) == 0, "mkdir");
    write_bytes(t, path, "old", 3);
    sl_file_fail_at(1);
    sl_universe_free(opened(t, &h, &o, &c));
    sl_file_fail_at(0);
    SL_MUST(t, sl_file_read(&bytes, NULL, path, 100));
    SL_CHECK(t, h.notes == 1 && strcmp(bytes, "old") == 0, "it is \"%s\"", bytes);
    sl_free(bytes);
    drop(&c);
}

static sl_status open_anew(const sl_universe_options *o, const sl_universe__cache *c, bool kept) {
    sl_universe *u;
    if (!kept) empty_folder(c->dir);
    SL_TRY(sl_universe__open(&u, NULL, o, NULL, c));
    sl_universe_free(u);
    return SL_OK;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("memory");
    sl_universe_options o = little();
    SL_EACH_ALLOCATION(t, open_anew(&o, &c, false));
    SL_EACH_ALLOCATION(t, open_anew(&o, &c, true));
    SL_CHECK(t, files_in(c.dir) == 1, "%d files", files_in(c.dir));
    drop(&c);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_set_from_the_file_is_the_set_that_was_built),
        SL_TEST(many_threads_read_the_same),
        SL_TEST(the_file_of_a_configuration_has_always_the_same_bytes),
        SL_TEST(each_configuration_has_a_file_of_its_own),
        SL_TEST(without_a_folder_there_are_no_files),
        SL_TEST(wrong_options_are_refused_before_any_file),
        SL_TEST(memory_allowed_holds_for_the_file_too),
        SL_TEST(a_folder_that_cannot_be_written_is_a_note),
        SL_TEST(missing_folders_are_made),
        SL_TEST(a_failing_write_leaves_nothing),
        SL_TEST(a_failing_write_leaves_the_old_file),
        SL_TEST(every_allocation_may_fail),
    };
    return sl_test_main("universe.cache", tests, SL_LEN(tests));
}
