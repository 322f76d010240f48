/* The set from a file is the set that was built, and no file, however bad, changes that. Whether a
 * set was built or read is seen from its progress: reading has none. */
#include "universe/universe_impl.h"

#include "fixture/fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- help ---------------------- */

static sl_universe_options config(int depth, int variables, const char *ops, int64_t size) {
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = depth;
    o.variables = variables;
    o.size = size;
    if (ops && sl_universe_ops_parse(&o.ops, ops) != SL_OK) fail_msg("%s", sl_last_error());
    return o;
}

/* 30 members of three levels, six of them withheld. */
static sl_universe_options little(void) {
    sl_universe_options o = config(2, 1, "+,*,exp,sin", 30);
    o.withheld = 0.2;
    return o;
}

static void empty_folder(const char *dir) {
    DIR *d = opendir(dir);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, unlinkat(dirfd(d), e->d_name, 0) ? AT_REMOVEDIR : 0);
    closedir(d);
}

static int files_in(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    if (!d) return -1;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* An empty folder, and limits under which everything is kept there. */
static cache fresh(const char *name) {
    cache c = CACHE_INIT;
    c.dir = sl_test_path(name);
    c.min_raw = 0;
    c.rules = 17;
    empty_folder(c.dir);
    return c;
}

/* Folders of a test are removed by it: the fixture removes files, and folders when empty. */
static void drop(const cache *c) {
    empty_folder(c->dir);
    rmdir(c->dir);
}

static const char *path_of(sl_fixture *t, const sl_universe_options *o, const cache *c) {
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

static int on_progress(int i, const char *what, double done, double total, void *payload) {
    (void)i, (void)what, (void)done, (void)total;
    ((event_log *)payload)->progress++;
    return 0;
}

static void on_note(const char *text, void *payload) {
    event_log *h = payload;
    h->notes++;
    snprintf(h->note, sizeof h->note, "%s", text);
}

static sl_universe *opened(sl_fixture *t, event_log *h, const sl_universe_options *o,
                           const cache *c) {
    sl_universe *u = NULL;
    *h = (event_log){ 0 };
    sl_universe_watch w = { on_progress, on_note, h };
    SL_MUST(t, sl_universe__open(&u, NULL, o, &w, c));
    SL_CHECK(t, !sl_universe_can_find(u), "an opened set says it can find");
    return u;
}

/* Every answer of u, against a set built without any file. */
static void check_same(sl_fixture *t, const sl_universe *u, const sl_universe *built) {
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

static sl_universe *build(sl_fixture *t, const sl_universe_options *o) {
    sl_universe *u;
    SL_MUST(t, sl_universe_new(&u, NULL, o, NULL));
    SL_CHECK(t, sl_universe_can_find(u), "a built set says it cannot find");
    return u;
}

/* Opens and checks; returns whether it was read. What is wrong with a note fails the test. */
static bool was_read(sl_fixture *t, const sl_universe_options *o, const cache *c,
                     const sl_universe *built) {
    event_log h;
    sl_universe *u = opened(t, &h, o, c);
    check_same(t, u, built);
    sl_universe_free(u);
    SL_CHECK(t, h.notes == 0, "a note: %s", h.note);
    return h.progress == 0;
}

/* In place: no sync for each of many. */
static void write_bytes(sl_fixture *t, const char *path, const char *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SL_CHECK(t, fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "cannot write %s", path);
    close(fd);
}

/* ---------------------------------------------------------------- the same set -------------- */

static void a_set_from_the_file_is_the_set_that_was_built(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("same");
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
    cache c = fresh("threads");
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
    cache c = fresh("bytes");
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
    cache c = fresh("own");
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
    cache c = fresh("cheap");
    event_log h;
    c.min_raw = 1000000;
    sl_universe_free(opened(t, &h, &o, &c));
    SL_CHECK(t, files_in(c.dir) == -1, "the folder was made");
}

static void wrong_options_are_refused_before_any_file(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("refused");
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
    cache c = fresh("memory");
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

/* ---------------------------------------------------------------- bad files ----------------- */

static void a_changed_byte_is_noticed(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("byte");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    const char *path = path_of(t, &o, &c);
    char *bytes;
    size_t n;
    was_read(t, &o, &c, built);
    SL_MUST(t, sl_file_read(&bytes, &n, path, SIZE_MAX / 2));
    cache no_sync = c; // reads, but takes it for too large to keep: a sync for each byte is slow
    no_sync.max_bytes = (int64_t)n * 3 / 2;
    for (size_t at = 0; at < n; at++) {
        const char old = bytes[at];
        bytes[at] = (char)(old ^ 1 << sl_rng_below(&t->rng, 8));
        write_bytes(t, path, bytes, n);
        bytes[at] = old;
        const bool mends = at % 200 == 0;
        SL_CHECK(t, !was_read(t, &o, mends ? &c : &no_sync, built), "byte %zu of %zu was believed",
                 at, n);
        if (mends) SL_CHECK(t, was_read(t, &o, &c, built), "byte %zu: not mended", at);
    }
    sl_free(bytes);
    sl_universe_free(built);
    drop(&c);
}

static void a_cut_or_longer_file_is_noticed(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("cut");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    const char *path = path_of(t, &o, &c);
    char *bytes;
    size_t n;
    was_read(t, &o, &c, built);
    SL_MUST(t, sl_file_read(&bytes, &n, path, SIZE_MAX / 2));
    cache no_sync = c;
    no_sync.max_bytes = (int64_t)n * 3 / 2;
    for (size_t length = 0; length < n; length++) {
        write_bytes(t, path, bytes, length);
        SL_CHECK(t, !was_read(t, &o, &no_sync, built), "%zu of %zu bytes were believed", length, n);
    }
    write_bytes(t, path, bytes, n + 1); // the NUL that sl_file_read adds
    SL_CHECK(t, !was_read(t, &o, &c, built), "a byte too much was believed");
    SL_CHECK(t, was_read(t, &o, &c, built), "not mended");
    sl_free(bytes);
    sl_universe_free(built);
    drop(&c);
}

/* Where the numbers of a head are: docs/formats.md. */
enum {
    AT_BYTES = 64,
    AT_SUM = 72,
    AT_MEMBERS = 80,
    AT_SLOTS = 88,
    AT_HASH = 96,
    AT_LEVEL = 128,
    HEAD = 448
};

/* The checksum of a forged file is right: all else must hold by itself. */
static void forge(sl_fixture *t, const char *path, char *bytes, size_t n) {
    uint64_t length = n, sum = sl_hash(bytes + AT_MEMBERS, n - AT_MEMBERS, 0);
    memcpy(bytes + AT_BYTES, &length, 8);
    memcpy(bytes + AT_SUM, &sum, 8);
    write_bytes(t, path, bytes, n);
}

/* The name of the set in a forged file, as sl_universe_hash defines it. */
static void forge_hash(sl_fixture *t, char *bytes, const sl_universe_options *o, int64_t members,
                       size_t n) {
    sl_hasher *h;
    sl_str s = { 0 };
    char text[33];
    const size_t nodes = HEAD + (size_t)(members + 63) / 64 * 8;
    sl_str_addf(&s, "symlaw universe 1; depth %d; variables %d; ops ", o->depth, o->variables);
    sl_universe_ops_print(&s, o->ops);
    SL_MUST(t, sl_hasher_new(&h));
    sl_hasher_add(h, s.text, s.len);
    sl_hasher_add(h, bytes + nodes, n - nodes);
    sl_hasher_add(h, bytes + HEAD, (size_t)(members + 7) / 8);
    sl_hasher_text(h, text);
    memcpy(bytes + AT_HASH, text, 32);
    sl_hasher_free(h);
    sl_str_clear(&s);
}

static void a_forged_file_does_no_harm(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("forged");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    const char *path = path_of(t, &o, &c);
    char *good, *bytes;
    size_t n;
    was_read(t, &o, &c, built);
    SL_MUST(t, sl_file_read(&good, &n, path, SIZE_MAX / 2));
    SL_MUST(t, sl_file_read(&bytes, &n, path, SIZE_MAX / 2));
    const size_t nodes = HEAD + 8; // 30 members: one word of bits
    cache no_sync = c;
    no_sync.max_bytes = (int64_t)n * 3 / 2;

    // the forgery itself is good, or nothing below would say anything
    forge_hash(t, bytes, &o, 30, n);
    forge(t, path, bytes, n);
    SL_CHECK(t, memcmp(good, bytes, n) == 0, "the test forges badly");
    SL_CHECK(t, was_read(t, &o, &c, built), "a good forgery is refused");

    // lengths and levels that do not fit
    static const int64_t wrong[] = { 0, 1, 29, 31, -1, INT64_MAX, INT64_MIN, (int64_t)1 << 61, 64 };
    static const int places[] = { AT_MEMBERS, AT_SLOTS, AT_LEVEL, AT_LEVEL + 64, AT_LEVEL + 256 };
    for (int p = 0; p < SL_LEN(places); p++) {
        for (int i = 0; i < SL_LEN(wrong); i++) {
            memcpy(bytes, good, n);
            if (memcmp(bytes + places[p], &wrong[i], 8) == 0) continue; // as it was
            memcpy(bytes + places[p], &wrong[i], 8);
            forge(t, path, bytes, n);
            SL_CHECK(t, !was_read(t, &o, &no_sync, built), "%lld at %d was believed",
                     (long long)wrong[i], places[p]);
        }
    }

    // lengths and levels that fit each other, but not what is there
    for (int i = 0; i < 3; i++) {
        int64_t members = 30, slots = (int64_t)(n - nodes) / 8, first, second, beyond = 0;
        memcpy(&first, good + AT_LEVEL, 8);
        memcpy(&second, good + AT_LEVEL + 64, 8);
        if (i == 0) members++, slots++, first++;     // a member behind the end
        if (i == 1) second += first + 1, first = -1; // less than none
        if (i == 2) first--, beyond = 1;             // deeper than the set
        memcpy(bytes, good, n);
        memcpy(bytes + AT_MEMBERS, &members, 8);
        memcpy(bytes + AT_SLOTS, &slots, 8);
        memcpy(bytes + AT_LEVEL, &first, 8);
        memcpy(bytes + AT_LEVEL + 64, &second, 8);
        memcpy(bytes + AT_LEVEL + 3 * 64, &beyond, 8);
        forge(t, path, bytes, n);
        SL_CHECK(t, !was_read(t, &o, &no_sync, built), "lengths %d were believed", i);
    }

    // a last member with one operand more, which would be behind the end
    memcpy(bytes, good, n);
    const size_t last = n - sl_universe_get(built, 29)->len * sizeof(sl_node);
    sl_node longer;
    memcpy(&longer, bytes + last, sizeof longer);
    longer.op = SL_OP_ADD;
    longer.arg++;
    longer.len++;
    memcpy(bytes + last, &longer, sizeof longer);
    forge_hash(t, bytes, &o, 30, n);
    forge(t, path, bytes, n);
    SL_CHECK(t, !was_read(t, &o, &no_sync, built), "an operand behind the end was believed");

    // another set under the name of this one
    for (int i = 0; i < 3; i++) {
        memcpy(bytes, good, n);
        bytes[i == 0 ? AT_HASH : HEAD + i] ^= 1; // its name, or which are withheld
        forge(t, path, bytes, n);
        SL_CHECK(t, !was_read(t, &o, &no_sync, built), "the name %d was believed", i);
    }

    // any change of nodes, with every hash made right again: it is either refused, or it is a set
    // of other expressions, all of them well-formed; only the key can detect that
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        memcpy(bytes, good, n);
        for (uint32_t k = 1 + sl_rng_below(&t->rng, 3); k > 0; k--)
            bytes[nodes + sl_rng_below(&t->rng, (uint32_t)(n - nodes))] =
                (char)sl_rng_below(&t->rng, i % 2 ? 10 : 256);
        forge_hash(t, bytes, &o, 30, n);
        forge(t, path, bytes, n);
        event_log h;
        sl_universe *u = opened(t, &h, &o, &no_sync);
        SL_CHECK(t, sl_universe_size(u) == 30, "%lld members", (long long)sl_universe_size(u));
        for (int64_t m = 0; m < 30; m++) {
            const sl_node *e = sl_universe_get(u, m);
            SL_CHECK(t,
                     sl_expr_valid(e, e->len) && sl_expr_max_var(e) <= o.variables &&
                         sl_expr_max_par(e) == 0,
                     "member %lld is no expression", (long long)m);
        }
        if (h.progress) check_same(t, u, built);
        sl_universe_free(u);
    }
    sl_free(good);
    sl_free(bytes);
    sl_universe_free(built);
    drop(&c);
}

static void a_file_of_other_rules_is_not_used(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("rules"), other = c;
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    other.rules ^= 1;
    was_read(t, &o, &c, built);
    SL_CHECK(t, !was_read(t, &o, &other, built), "a file of other rules was read");
    SL_CHECK(t, files_in(c.dir) == 2, "other rules share a file");
    SL_CHECK(t, was_read(t, &o, &c, built) && was_read(t, &o, &other, built), "not both are kept");

    // nor under the name that these rules would look for
    SL_CHECK(t, rename(path_of(t, &o, &other), path_of(t, &o, &c)) == 0, "rename");
    SL_CHECK(t, !was_read(t, &o, &c, built), "the name was believed");
    sl_universe_free(built);
    drop(&c);
}

/* A file is told to be stale by version and rules. If the members of a set change, one of the two
 * must: where the rules are the same as before, raise CACHE_VERSION. Then write the three here. */
static void version_and_rules_follow_the_members(void **state) {
    sl_fixture *t = *state;
    static const struct {
        int version;
        uint64_t rules;
        const char *hash;
    } last = { 2, UINT64_C(0x3f7a385436fc92f6), "5758e4bcf895f63100db34ceae83af99" };
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    uint64_t rules, again;
    sl_fail_restore("an older line");
    SL_MUST(t, sl_universe__rules(&rules));
    SL_MUST(t, sl_universe__rules(&again));
    SL_CHECK(t, strcmp(sl_last_error(), "an older line") == 0, "%s", sl_last_error());
    assert_true(rules == again);
    o.variables = 1;
    o.size = 10000;
    o.withheld = 0.1;
    sl_universe *u = build(t, &o);
    SL_CHECK(t,
             CACHE_VERSION == last.version && rules == last.rules &&
                 strcmp(sl_universe_hash(u), last.hash) == 0,
             "version %d, rules 0x%016llx, set %s", CACHE_VERSION, (unsigned long long)rules,
             sl_universe_hash(u));
    sl_universe_free(u);
}

static void rules_out_of_memory(void **state) {
    sl_fixture *t = *state;
    uint64_t rules;
    sl_status st = SL_ENOMEM;
    const int64_t before = sl_mem_blocks();
    sl_mem_fail_at(1, false);
    SL_CHECK(t, sl_universe__rules(&rules) == SL_ENOMEM, "the first allocation");
    for (int64_t i = 2; st == SL_ENOMEM; i += 1 + i / 16) {
        sl_mem_fail_at(i, false);
        st = sl_universe__rules(&rules);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, st == SL_OK || st == SL_ENOMEM, "allocation %lld: %d", (long long)i, (int)st);
        SL_CHECK(t, sl_mem_blocks() == before, "allocation %lld leaks", (long long)i);
    }
}

static void what_is_no_plain_file_is_left_alone(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("plain");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o), *u;
    const char *path = path_of(t, &o, &c);
    event_log h;
    SL_CHECK(t, mkdir(c.dir, 0700) == 0, "mkdir");
    for (int i = 0; i < 2; i++) {
        SL_CHECK(t, (i ? mkdir(path, 0700) : mkfifo(path, 0600)) == 0, "%s", strerror(errno));
        u = opened(t, &h, &o, &c); // opening the pipe would wait for ever
        check_same(t, u, built);
        SL_CHECK(t, h.notes == 1 && strstr(h.note, path), "note: %s", h.note);
        sl_universe_free(u);
        empty_folder(c.dir);
    }
    sl_universe_free(built);
    drop(&c);
}

/* ---------------------------------------------------------------- the world ----------------- */

static void a_folder_that_cannot_be_written_is_a_note(void **state) {
    sl_fixture *t = *state;
    static const char *const dirs[] = { "/proc/symlaw", "/dev/null/symlaw", "/dev/null" };
    sl_universe_options o = little();
    sl_universe *built = build(t, &o), *u;
    cache c = fresh("none");
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
    cache c = fresh("deep");
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
    cache c = fresh("write");
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
    cache c = fresh("old");
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

static sl_status open_anew(const sl_universe_options *o, const cache *c, bool kept) {
    sl_universe *u;
    if (!kept) empty_folder(c->dir);
    SL_TRY(sl_universe__open(&u, NULL, o, NULL, c));
    sl_universe_free(u);
    return SL_OK;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("memory");
    sl_universe_options o = little();
    SL_EACH_ALLOCATION(t, open_anew(&o, &c, false));
    SL_EACH_ALLOCATION(t, open_anew(&o, &c, true));
    SL_CHECK(t, files_in(c.dir) == 1, "%d files", files_in(c.dir));
    drop(&c);
}

/* ---------------------------------------------------------------- growth -------------------- */

static void set_age(sl_fixture *t, const char *path, int seconds) {
    struct timespec now, when[2];
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec -= seconds;
    when[0] = when[1] = now;
    SL_CHECK(t, utimensat(AT_FDCWD, path, when, 0) == 0, "%s: %s", path, strerror(errno));
}

static void what_was_not_used_for_longest_goes_first(void **state) {
    sl_fixture *t = *state;
    cache c = fresh("limit");
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
    cache c = fresh("left");
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
    cache c = fresh("many");
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
        SL_TEST(a_set_from_the_file_is_the_set_that_was_built),
        SL_TEST(many_threads_read_the_same),
        SL_TEST(the_file_of_a_configuration_has_always_the_same_bytes),
        SL_TEST(each_configuration_has_a_file_of_its_own),
        SL_TEST(without_a_folder_there_are_no_files),
        SL_TEST(wrong_options_are_refused_before_any_file),
        SL_TEST(memory_allowed_holds_for_the_file_too),
        SL_TEST(a_changed_byte_is_noticed),
        SL_TEST(a_cut_or_longer_file_is_noticed),
        SL_TEST(a_forged_file_does_no_harm),
        SL_TEST(a_file_of_other_rules_is_not_used),
        SL_TEST(version_and_rules_follow_the_members),
        SL_TEST(rules_out_of_memory),
        SL_TEST(what_is_no_plain_file_is_left_alone),
        SL_TEST(a_folder_that_cannot_be_written_is_a_note),
        SL_TEST(missing_folders_are_made),
        SL_TEST(a_failing_write_leaves_nothing),
        SL_TEST(a_failing_write_leaves_the_old_file),
        SL_TEST(every_allocation_may_fail),
        SL_TEST(what_was_not_used_for_longest_goes_first),
        SL_TEST(what_killed_ones_left_goes_and_nothing_else),
        SL_TEST(processes_do_not_disturb_each_other),
    };
    return sl_test_main("universe.cache", tests, SL_LEN(tests));
}
