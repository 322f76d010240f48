/* What the tests of the cache share: small sets, folders for their files, what a call
 * reports. Reading a set reports no progress, so a test sees whether a set was built or read. */
#ifndef SL_UNIVERSE_TEST_CACHE_H
#define SL_UNIVERSE_TEST_CACHE_H

#include "universe/universe_impl.h"

#include "fixture/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline sl_universe_options config(int depth, int variables, const char *ops, int64_t size) {
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = depth;
    o.variables = variables;
    o.size = size;
    if (ops && sl_universe_ops_parse(&o.ops, ops) != SL_OK) fail_msg("%s", sl_last_error());
    return o;
}

/* 30 members of three levels, six of them withheld. */
static inline sl_universe_options little(void) {
    sl_universe_options o = config(2, 1, "+,*,exp,sin", 30);
    o.withheld = 0.2;
    return o;
}

static inline void empty_folder(const char *dir) {
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, unlinkat(dirfd(d), e->d_name, 0) ? AT_REMOVEDIR : 0);
    closedir(d);
}

static inline int files_in(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* An empty folder, and limits under which everything is kept there. */
static inline sl_universe__cache fresh(const char *name) {
    sl_universe__cache c = SL_UNIVERSE__CACHE_INIT;
    c.dir = sl_test_path(name);
    c.min_raw = 0;
    c.rules = 17;
    empty_folder(c.dir);
    return c;
}

/* Folders of a test are removed by it: the fixture removes files, and folders when empty. */
static inline void drop(const sl_universe__cache *c) {
    empty_folder(c->dir);
    rmdir(c->dir);
}

static const char *path_of(sl_fixture *t, const sl_universe_options *o,
                           const sl_universe__cache *c) {
    sl_str s = { 0 };
    sl_universe__cache_path(&s, o, c);
    SL_MUST(t, sl_str_status(&s));
    char *path = sl_arena_alloc(&t->arena, s.len + 1);
    SL_CHECK(t, path, "no memory");
    memcpy(path, s.text, s.len + 1);
    sl_str_clear(&s);
    return path;
}

typedef struct event_log {
    int progress, notes;
    char note[1200];
} event_log;

static inline int on_progress(int i, const char *what, double done, double total, void *payload) {
    (void)i, (void)what, (void)done, (void)total;
    ((event_log *)payload)->progress++;
    return 0;
}

static inline void on_note(const char *text, void *payload) {
    event_log *h = payload;
    h->notes++;
    snprintf(h->note, sizeof h->note, "%s", text);
}

static inline sl_universe *opened(sl_fixture *t, event_log *h, const sl_universe_options *o,
                                  const sl_universe__cache *c) {
    sl_universe *u = NULL;
    *h = (event_log){ 0 };
    sl_universe_watch w = { on_progress, on_note, h };
    SL_MUST(t, sl_universe__open(&u, NULL, o, &w, c));
    SL_CHECK(t, !sl_universe_can_find(u), "an opened set says it can find");
    return u;
}

/* Every answer of u, against a set built without any file. */
static inline void check_same(sl_fixture *t, const sl_universe *u, const sl_universe *built) {
    int64_t n = sl_universe_size(built);
    SL_CHECK(t, sl_universe_size(u) == n, "%lld members of %lld", (long long)sl_universe_size(u),
             (long long)n);
    SL_CHECK(t, strcmp(sl_universe_hash(u), sl_universe_hash(built)) == 0, "%s",
             sl_universe_hash(u));
    for (int64_t m = 0; m < n; m++) {
        SL_CHECK(t, sl_expr_equal(sl_universe_get(u, m), sl_universe_get(built, m)), "member %lld",
                 (long long)m);
        int depth = built->class[built->member_class[m]].level; // not the way it is answered
        SL_CHECK(t, sl_universe_level(u, m) == depth, "level of %lld", (long long)m);
        SL_CHECK(t, sl_universe_withheld(u, m) == sl_universe_withheld(built, m), "withheld %lld",
                 (long long)m);
    }
    for (int i = 0; i <= built->options.depth; i++) {
        sl_universe_counts a = *sl_universe_count(u, i), b = *sl_universe_count(built, i);
        a.seconds = b.seconds = 0;
        SL_CHECK(t, memcmp(&a, &b, sizeof a) == 0, "counts of level %d", i);
    }
    SL_CHECK(
        t,
        memcmp(sl_universe_config(u), sl_universe_config(built), sizeof(sl_universe_options)) == 0,
        "configuration");
}

static inline sl_universe *build(sl_fixture *t, const sl_universe_options *o) {
    sl_universe *u;
    SL_MUST(t, sl_universe_new(&u, NULL, o, NULL));
    SL_CHECK(t, sl_universe_can_find(u), "a built set says it cannot find");
    return u;
}

/* Opens and checks; returns whether it was read. What is wrong with a note fails the test. */
static inline bool was_read(sl_fixture *t, const sl_universe_options *o,
                            const sl_universe__cache *c, const sl_universe *built) {
    event_log h;
    sl_universe *u = opened(t, &h, o, c);
    check_same(t, u, built);
    sl_universe_free(u);
    SL_CHECK(t, h.notes == 0, "a note: %s", h.note);
    return h.progress == 0;
}

/* In place: no sync for each of many. */
static inline void write_bytes(sl_fixture *t, const char *path, const char *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SL_CHECK(t, fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "cannot write %s", path);
    close(fd);
}

#endif
