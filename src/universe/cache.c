/* cache - the set E of a configuration, kept in a file for the next time.
 *
 * The file is a memory image: a head, a bit per member for whether it is withheld, and the members'
 * nodes end to end (docs/formats.md draws it). Opening is one read into one block, checks, and a
 * pointer per member into the block. A set that was built is packed into the same block before it
 * is written, so an opened set is the same thing whether there was a file or not.
 *
 * Risks and measures:
 *
 *   what it is   The head begins with a key: version, hash of what the rules do, configuration. The
 *                name of the file is a hash of the key, and the key itself is compared. The rules
 *                are tried on two small sets and on canonical forms a level deeper. A change of
 *                rules that shows only in larger sets needs a new version; a test fails if the
 *                default set changes while version and rules do not.
 *   damage       Every length is compared with the size of the file before it is used. A checksum
 *                covers all behind the key, and the hash that names the set is computed anew. Nodes
 *                are checked to be well-formed too: code that reads them does not check.
 *   neighbours   A file is written under another name and renamed, so others see the old one, the
 *                new one or none, and a killed process leaves at most a temporary one. The file of
 *                a key always has the same bytes; it does not matter which process writes it last.
 *   growth       After a write, files unused for longest are removed until the limits are kept.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "universe/universe_impl.h"

enum { LEVELS = SL_UNIVERSE_MAX_DEPTH + 1 };

static const char MAGIC[8] = { 's', 'y', 'm', 'l', 'a', 'w', 'E', '\n' };

/* All that the members follow from. Without padding: it is hashed and compared as bytes. */
typedef struct key {
    char magic[8];
    uint32_t version, zero;
    uint64_t rules;
    int32_t depth, variables;
    uint32_t ops, zero_too;
    int64_t size;
    uint64_t seed;
    double withheld;
} key;

typedef struct head {
    key key;
    uint64_t file_bytes;
    uint64_t checksum; // XXH3 of all that follows
    int64_t members, slots;
    char hash[32];
    struct {
        int64_t members, raw, distinct, partial, partial_raw, constant, nowhere, known;
    } level[LEVELS];
} head;

_Static_assert(sizeof(key) == 64 && sizeof(head) == 448 && sizeof(sl_node) == 8,
               "the file is drawn in docs/formats.md");

enum { CHECKED = offsetof(head, members) }; // where the checksum begins

/* ---------------------------------------------------------------- the rules ----------------- */

enum { RULES_SIZE = 600, RULES_COMPOSED = 600 };

/* Canonical forms one level deeper, of operators in turn on random members of the two sets; the
 * status where there is no form. */
static sl_status add_composed(sl_hasher *h, const sl_universe *deep, const sl_universe *flat) {
    sl_arena a = { 0 };
    sl_rng rng;
    sl_rng_init(&rng, 0, 0, 0);
    sl_status st = SL_OK;
    for (int i = 0; i < RULES_COMPOSED && st != SL_ENOMEM; i++) {
        const sl_universe *const of[] = { i % 3 ? deep : flat, i % 2 ? deep : flat };
        const sl_node *e, *operand[2];
        for (int k = 0; k < 2; k++)
            operand[k] = of[k]->member[sl_rng_below(&rng, (uint32_t)of[k]->n_member)];
        st = sl_expr_canon_apply(&e, &a, (sl_operator)(i % SL_OPERATOR_COUNT), operand[0],
                                 operand[1]);
        if (st == SL_OK)
            sl_hasher_add(h, e, e->len * sizeof *e);
        else
            sl_hasher_add(h, &st, sizeof st);
        sl_arena_rewind(&a, 0);
    }
    sl_arena_clear(&a);
    return st == SL_ENOMEM ? st : SL_OK;
}

sl_status sl_universe__rules(uint64_t *out) {
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT, all = SL_UNIVERSE_OPTIONS_INIT;
    sl_universe *deep = NULL, *flat = NULL;
    sl_hasher *h = NULL;
    char text[33], line[1024]; // forms that fail change the stored message
    sl_status st;
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    o.depth = 2;
    o.size = RULES_SIZE; // of 929: the sample counts
    o.withheld = 0.25;
    all.depth = 1;
    all.variables = SL_UNIVERSE_MAX_VARS;
    all.ops = SL_EXPR_ALL_OPERATORS;
    SL_GO(sl_hasher_new(&h));
    SL_GO(sl_universe_new(&deep, NULL, &o, NULL));
    SL_GO(sl_universe_new(&flat, NULL, &all, NULL));
    sl_hasher_add(h, deep->hash, strlen(deep->hash));
    sl_hasher_add(h, flat->hash, strlen(flat->hash));
    SL_GO(add_composed(h, deep, flat));
    sl_hasher_text(h, text);
    *out = sl_hash(text, strlen(text), 0);
    sl_fail_restore(line);
done:
    sl_universe_free(deep);
    sl_universe_free(flat);
    sl_hasher_free(h);
    return st;
}

static key key_of(const sl_universe_options *o, const sl_universe__cache *c) {
    key k = { .version = SL_UNIVERSE__CACHE_VERSION,
              .rules = c->rules,
              .depth = o->depth,
              .variables = o->variables,
              .ops = o->ops,
              .size = o->size,
              .seed = o->seed,
              .withheld = o->withheld };
    memcpy(k.magic, MAGIC, sizeof k.magic);
    return k;
}

/* ---------------------------------------------------------------- the image ----------------- */

static size_t bits_bytes(int64_t members) { return (size_t)(members + 63) / 64 * 8; }

static size_t image_bytes(int64_t members, int64_t slots) {
    return sizeof(head) + bits_bytes(members) + (size_t)slots * sizeof(sl_node);
}

/* Moves the members of a set that was built into one block, and frees everything else. */
static sl_status pack(sl_universe *u) {
    sl_universe__release(u); // first: the block need not add to the peak
    int64_t slots = 0;
    for (int64_t m = 0; m < u->n_member; m++) slots += u->member[m]->len;
    u->image_bytes = image_bytes(u->n_member, slots);
    u->image = sl_malloc(u->image_bytes, 1);
    if (!u->image) return sl_fail_memory(u->image_bytes, 1, "the members of E");

    char *bits = u->image + sizeof(head), *at = bits + bits_bytes(u->n_member);
    memset(u->image, 0, (size_t)(at - u->image));
    memcpy(bits, u->withheld, (size_t)(u->n_member + 7) / 8);
    for (int64_t m = 0; m < u->n_member; m++) {
        size_t n = u->member[m]->len * sizeof(sl_node);
        u->member[m] = memcpy(at, u->member[m], n);
        at += n;
    }
    for (int i = 0; i < u->n_own; i++) sl_arena_clear(&u->own[i].arena);
    sl_free(u->own);
    u->own = NULL;
    u->n_own = 0;
    return SL_OK;
}

/* Writes the head of a packed set. How long it took is left out, so that equal keys make equal
 * files. */
static void seal(sl_universe *u, const key *k) {
    head h = { .key = *k, .file_bytes = u->image_bytes, .members = u->n_member };
    const size_t before = sizeof h + bits_bytes(u->n_member);
    h.slots = (int64_t)((u->image_bytes - before) / sizeof(sl_node));
    memcpy(h.hash, u->hash, sizeof h.hash);
    for (int i = 0; i <= u->options.depth; i++) {
        const sl_universe_counts *c = &u->level[i].counts;
        h.level[i].members = u->member_end[i] - (i ? u->member_end[i - 1] : 0);
        h.level[i].raw = c->raw;
        h.level[i].distinct = c->distinct;
        h.level[i].partial = c->partial;
        h.level[i].partial_raw = c->partial_raw;
        h.level[i].constant = c->constant;
        h.level[i].nowhere = c->nowhere;
        h.level[i].known = c->known;
    }
    memcpy(u->image, &h, sizeof h);
    h.checksum = sl_hash(u->image + CHECKED, u->image_bytes - CHECKED, 0);
    memcpy(u->image, &h, sizeof h);
}

/* ---------------------------------------------------------------- reading ------------------- */

static sl_status bad(const char *what) { return sl_fail(SL_EFORMAT, "kept set: %s", what); }

/* Does the head have the requested key, and do its lengths fit the file? */
static sl_status check_head(const head *h, const key *k, const char *image, size_t n) {
    if (memcmp(&h->key, k, sizeof *k) != 0) return bad("of another configuration or other rules");
    if (h->file_bytes != n) return bad("not of the length it had");
    if (h->checksum != sl_hash(image + CHECKED, n - CHECKED, 0)) return bad("checksum");
    // each member has a slot at least, so nothing here can pass 64 bits
    const int64_t most = (int64_t)(n / sizeof(sl_node));
    if (h->slots < 0 || h->slots > most || h->members < 0 || h->members > h->slots ||
        image_bytes(h->members, h->slots) != n)
        return bad("lengths");
    int64_t members = 0;
    for (int i = 0; i < LEVELS; i++) {
        const int64_t here = h->level[i].members;
        if (here < 0 || here > (i <= k->depth ? h->members : 0)) return bad("levels");
        members += here;
    }
    return members == h->members ? SL_OK : bad("levels");
}

/* member[m] := where it begins, if all of them together have the length that they should. */
static sl_status find_members(sl_universe *u, const sl_node *node, int64_t slots) {
    int64_t at = 0;
    for (int64_t m = 0; m < u->n_member; m++) {
        if (at >= slots) return bad("nodes");
        u->member[m] = node + at;
        at += node[at].len;
    }
    return at == slots ? SL_OK : bad("nodes");
}

static sl_status check_members(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const sl_universe *u = payload;
    for (int64_t m = begin; m < end; m++) {
        const sl_node *e = u->member[m];
        if (!sl_expr_valid(e, e->len) || sl_expr_max_var(e) > u->options.variables ||
            sl_expr_max_par(e) > 0)
            return bad("a member is no expression of these variables");
    }
    return SL_OK;
}

/* Fills u from its image, all of which may be wrong. */
static sl_status unpack(sl_universe *u, sl_pool *pool, const key *k) {
    head h;
    if (u->image_bytes < sizeof h) return bad("too short");
    memcpy(&h, u->image, sizeof h);
    SL_TRY(check_head(&h, k, u->image, u->image_bytes));

    u->n_member = h.members;
    u->member = sl_malloc((size_t)u->n_member, sizeof *u->member);
    u->withheld = sl_malloc((size_t)(u->n_member + 7) / 8, 1);
    if (!u->member || !u->withheld)
        return sl_fail_memory((size_t)u->n_member, sizeof *u->member, "the members of E");
    const char *bits = u->image + sizeof h;
    memcpy(u->withheld, bits, (size_t)(u->n_member + 7) / 8);
    SL_TRY(find_members(u, (const sl_node *)(bits + bits_bytes(u->n_member)), h.slots));
    SL_TRY(sl_par_for(pool, u->n_member, 4096, check_members, u));

    int64_t end = 0;
    for (int i = 0; i <= u->options.depth; i++) {
        u->member_end[i] = end += h.level[i].members;
        u->level[i].counts = (sl_universe_counts){ .raw = h.level[i].raw,
                                                   .distinct = h.level[i].distinct,
                                                   .partial = h.level[i].partial,
                                                   .partial_raw = h.level[i].partial_raw,
                                                   .constant = h.level[i].constant,
                                                   .nowhere = h.level[i].nowhere,
                                                   .known = h.level[i].known };
    }
    SL_TRY(sl_universe__hash_members(u, u->hash));
    return memcmp(u->hash, h.hash, sizeof h.hash) == 0 ? SL_OK : bad("hash of the set");
}

/* *out := the set that the file has. */
static sl_status load(sl_universe **out, sl_pool *pool, const sl_universe_options *o,
                      const char *path, const key *k, const sl_universe__cache *c) {
    int64_t most = c->max_bytes;
    if (o->max_memory) most = SL_MIN(most, o->max_memory);
    if (access(path, F_OK) != 0) return sl_fail(SL_EIO, "no file %s", path);
    sl_universe *u = sl_calloc(1, sizeof *u);
    if (!u) return sl_fail_memory(1, sizeof *u, "a universe");
    u->options = *o;
    sl_status st;
    SL_GO(sl_file_read(&u->image, &u->image_bytes, path, (size_t)most));
    SL_GO(unpack(u, pool, k));
    // this time shows which file was unused for longest; if it cannot be set, the age does
    if (utimensat(AT_FDCWD, path, NULL, 0) != 0) errno = 0;
    *out = u;
    return SL_OK;
done:
    sl_universe_free(u);
    return st;
}

/* ---------------------------------------------------------------- writing ------------------- */

/* Is name[0 .. n) set-<16 hexadecimal digits>.bin? */
static bool is_ours(const char *name, size_t n) {
    enum { BEFORE = 4, DIGITS = 16, ALL = BEFORE + DIGITS + 4 };
    return n == ALL && strncmp(name, "set-", BEFORE) == 0 &&
           strspn(name + BEFORE, "0123456789abcdef") == DIGITS &&
           strncmp(name + BEFORE + DIGITS, ".bin", 4) == 0;
}

/* What is in the folder: how many files, how large together, and which one is oldest. `mine` is
 * never that, nor one that is being written. */
typedef struct tally {
    int files;
    int64_t bytes;
    char oldest[256];
    struct timespec when;
} tally;

static void count_files(tally *t, DIR *d, const char *mine) {
    *t = (tally){ 0 };
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct stat s;
        const size_t stem = sl_file_temporary(e->d_name);
        if (!is_ours(e->d_name, stem ? stem : strlen(e->d_name)) ||
            fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode))
            continue;
        t->files++;
        t->bytes += s.st_size;
        if (stem || strcmp(e->d_name, mine) == 0) continue;
        if (!t->oldest[0] || s.st_mtim.tv_sec < t->when.tv_sec ||
            (s.st_mtim.tv_sec == t->when.tv_sec && s.st_mtim.tv_nsec < t->when.tv_nsec)) {
            sl_snprintf(t->oldest, sizeof t->oldest, "%s", e->d_name);
            t->when = s.st_mtim;
        }
    }
}

/* Removes temporary files of killed processes, then the oldest files, until the limits are kept or
 * nothing can be removed. A file that another process is writing counts and stays. */
static void prune(const sl_universe__cache *c, const char *mine) {
    sl_file_sweep(c->dir, is_ours, false);
    DIR *d = opendir(c->dir);
    if (!d) return; // the file is written; pruning needs permission to list the folder
    tally t;
    for (;;) {
        count_files(&t, d, mine);
        if (t.files <= c->max_files && t.bytes <= c->max_bytes) break;
        if (!t.oldest[0] || (unlinkat(dirfd(d), t.oldest, 0) != 0 && errno != ENOENT)) break;
    }
    closedir(d);
}

static sl_status keep(sl_universe *u, const char *path, const key *k, const sl_universe__cache *c) {
    sl_file *f = NULL;
    sl_status st;
    // for the user alone, as the XDG rules for such folders require
    SL_TRY(sl_folder_make(c->dir, 0700));
    seal(u, k);
    SL_GO(sl_file_replace(&f, path));
    SL_GO(sl_file_write(f, u->image, u->image_bytes));
    SL_GO(sl_file_commit(&f));
    prune(c, strrchr(path, '/') + 1);
done:
    sl_file_discard(&f);
    return st;
}

static bool worth_keeping(const sl_universe *u, const sl_universe__cache *c) {
    int64_t raw = 0;
    for (int i = 0; i <= u->options.depth; i++) raw += u->level[i].counts.raw;
    return raw >= c->min_raw && u->image_bytes <= (size_t)c->max_bytes / 2;
}

/* ---------------------------------------------------------------- opening ------------------- */

void sl_universe__cache_path(sl_str *s, const sl_universe_options *o, const sl_universe__cache *c) {
    const key k = key_of(o, c);
    sl_str_addf(s, "%s/set-%016llx.bin", c->dir, (unsigned long long)sl_hash(&k, sizeof k, 0));
}

sl_status sl_universe__open(sl_universe **out, sl_pool *pool, const sl_universe_options *o,
                            const sl_universe_watch *watch, const sl_universe__cache *c) {
    SL_TRY(sl_universe__check(o));
    const key k = key_of(o, c);
    sl_str path = { 0 };
    sl_universe *u = NULL;
    sl_status st = SL_OK;
    char line[1024], text[1200]; // a call that succeeds does not change the stored message
    sl_snprintf(line, sizeof line, "%s", sl_last_error());

    // lack of memory is the only failure that is returned: building takes more than reading
    if (c->dir) {
        sl_universe__cache_path(&path, o, c);
        SL_GO(sl_str_status(&path));
        st = load(&u, pool, o, path.text, &k, c);
        if (st == SL_ENOMEM) goto done;
    }
    if (!u) {
        sl_fail_restore(line);
        SL_GO(sl_universe_new(&u, pool, o, watch));
        SL_GO(pack(u));
        if (c->dir && worth_keeping(u, c)) st = keep(u, path.text, &k, c);
        if (st == SL_ENOMEM) goto done;
        if (st != SL_OK) {
            sl_snprintf(text, sizeof text, "the set is not kept for later: %s", sl_last_error());
            sl_universe__note(watch, text);
        }
    }
    *out = u;
    u = NULL;
    st = SL_OK;
    sl_fail_restore(line);
done:
    sl_universe_free(u);
    sl_str_clear(&path);
    return st;
}

sl_status sl_universe_open(sl_universe **out, sl_pool *pool, const sl_universe_options *o,
                           const sl_universe_watch *watch, const char *dir) {
    sl_universe__cache c = SL_UNIVERSE__CACHE_INIT;
    c.dir = dir;
    SL_TRY(sl_universe__check(o));
    if (dir) SL_TRY(sl_universe__rules(&c.rules));
    return sl_universe__open(out, pool, o, watch, &c);
}
