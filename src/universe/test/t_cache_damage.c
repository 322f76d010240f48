/* The cache: a file that is damaged, forged or made by other rules is detected and not used. */
#include "universe/test/cache.h"

static void a_changed_byte_is_noticed(void **state) {
    sl_fixture *t = *state;
    sl_universe__cache c = fresh("byte");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    const char *path = path_of(t, &o, &c);
    char *bytes;
    size_t n;
    was_read(t, &o, &c, built);
    SL_MUST(t, sl_file_read(&bytes, &n, path, SIZE_MAX / 2));
    sl_universe__cache no_sync =
        c; // reads, but takes it for too large to keep: a sync for each byte is slow
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
    sl_universe__cache c = fresh("cut");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    const char *path = path_of(t, &o, &c);
    char *bytes;
    size_t n;
    was_read(t, &o, &c, built);
    SL_MUST(t, sl_file_read(&bytes, &n, path, SIZE_MAX / 2));
    sl_universe__cache no_sync = c;
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
    sl_universe__cache c = fresh("forged");
    sl_universe_options o = little();
    sl_universe *built = build(t, &o);
    const char *path = path_of(t, &o, &c);
    char *good, *bytes;
    size_t n;
    was_read(t, &o, &c, built);
    SL_MUST(t, sl_file_read(&good, &n, path, SIZE_MAX / 2));
    SL_MUST(t, sl_file_read(&bytes, &n, path, SIZE_MAX / 2));
    const size_t nodes = HEAD + 8; // 30 members: one word of bits
    sl_universe__cache no_sync = c;
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
    sl_universe__cache c = fresh("rules"), other = c;
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

/* A stale file is recognised by version and rules. If the members of a set change, one of the two
 * must: where the rules are the same as before, raise SL_UNIVERSE__CACHE_VERSION. Then write the
 * three here. */
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
             SL_UNIVERSE__CACHE_VERSION == last.version && rules == last.rules &&
                 strcmp(sl_universe_hash(u), last.hash) == 0,
             "version %d, rules 0x%016llx, set %s", SL_UNIVERSE__CACHE_VERSION,
             (unsigned long long)rules, sl_universe_hash(u));
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
    sl_universe__cache c = fresh("plain");
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

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_changed_byte_is_noticed),
        SL_TEST(a_cut_or_longer_file_is_noticed),
        SL_TEST(a_forged_file_does_no_harm),
        SL_TEST(a_file_of_other_rules_is_not_used),
        SL_TEST(version_and_rules_follow_the_members),
        SL_TEST(rules_out_of_memory),
        SL_TEST(what_is_no_plain_file_is_left_alone),
    };
    return sl_test_main("universe.cache_damage", tests, SL_LEN(tests));
}
