/* folder - where a run lives, and whether another may begin or go on there.
 *
 * run.json is the configuration, as it was given, with one member more, "run": what it was made
 * with. It is written once, before the first step; a folder that has one holds a run. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "nn/nn.h"
#include "train/train_impl.h"

enum { RUN_MAX_BYTES = 1 << 20, PAIRS_HASHED = 1000 };

/* ---------------------------------------------------------------- configurations ------------ */

static bool is_number(const sl_json *j) {
    return sl_io_json_kind_of(j) == SL_JSON_INT || sl_io_json_kind_of(j) == SL_JSON_REAL;
}

static bool same(const sl_json *a, const sl_json *b);

static bool same_members(const sl_json *a, const sl_json *b) {
    if (sl_io_json_count(a) != sl_io_json_count(b)) return false;
    for (sl_json_member m = sl_io_json_first(a); m.name; m = sl_io_json_next(a, m)) {
        const sl_json *other = sl_io_json_get(b, m.name);
        if (!other || !same(m.value, other)) return false;
    }
    return true;
}

static bool same(const sl_json *a, const sl_json *b) {
    if (is_number(a) && is_number(b)) return sl_io_json_real(a) == sl_io_json_real(b);
    if (sl_io_json_kind_of(a) != sl_io_json_kind_of(b)) return false;
    switch (sl_io_json_kind_of(a)) {
    case SL_JSON_BOOL: return sl_io_json_bool(a) == sl_io_json_bool(b);
    case SL_JSON_TEXT: return strcmp(sl_io_json_text(a), sl_io_json_text(b)) == 0;
    case SL_JSON_OBJECT: return same_members(a, b);
    case SL_JSON_ARRAY:
        if (sl_io_json_count(a) != sl_io_json_count(b)) return false;
        for (int i = 0; i < sl_io_json_count(a); i++)
            if (!same(sl_io_json_at(a, i), sl_io_json_at(b, i))) return false;
        return true;
    default: return true;
    }
}

bool sl_train_may_change(const char *option) {
    static const char start[] = "checkpoint-";
    return strncmp(option, start, sizeof start - 1) == 0;
}

/* The present name of an option: configurations of older versions may have a former one. */
static const char *present_name(const char *name) {
    static const sl_option_table *const tables[] = { &sl_model_table, &sl_train_table,
                                                     &sl_optim_table, &sl_pairs_table };
    for (int i = 0; i < SL_LEN(tables); i++) {
        const sl_option *o = sl_option_find(tables[i], name);
        if (o) return o->name;
    }
    return name;
}

/* Of an option that the run's configuration lacks nothing can differ: the run is from before it
 * existed, and the caller has given it the default of that time. */
bool sl_train__config_differs(char *name, size_t size, const sl_json *mine, const sl_json *kept) {
    for (sl_json_member m = sl_io_json_first(kept); m.name; m = sl_io_json_next(kept, m)) {
        const sl_json *other = sl_io_json_get(mine, present_name(m.name));
        const bool option =
            strcmp(m.name, "run") != 0 && strcmp(m.name, SL_CKPT_CONFIG_MEMBER) != 0;
        if (!option || sl_train_may_change(m.name) || (other && same(m.value, other))) continue;
        sl_snprintf(name, size, "%s", m.name);
        return true;
    }
    return false;
}

static const char *config_of(const sl_train_config *c) {
    return c->config_json ? c->config_json : "{}";
}

/* ---------------------------------------------------------------- looking ------------------- */

static sl_status expect_object(const sl_json *j, const char *what) {
    if (j && sl_io_json_kind_of(j) == SL_JSON_OBJECT) return SL_OK;
    return sl_fail(SL_EFORMAT, "%s is %s, not an object", what,
                   j ? sl_io_json_kind_text(sl_io_json_kind_of(j)) : "missing");
}

static sl_status same_options(const sl_json *kept, const sl_train_config *c) {
    char name[200];
    sl_json *mine = NULL;
    SL_TRY(sl_io_json_parse(&mine, config_of(c), strlen(config_of(c))));
    const bool differs = sl_train__config_differs(name, sizeof name, mine, kept);
    sl_io_json_free(mine);
    if (!differs) return SL_OK;
    return sl_fail(SL_EINVAL,
                   "%s holds a run with another \"%s\": give the options that it was begun with, or"
                   " another folder",
                   c->out, name);
}

static sl_status same_hash(const char *kept, const char *mine, const char *what,
                           const sl_train_config *c) {
    if (!*kept || strcmp(kept, mine) == 0) return SL_OK; // not known, or the same
    return sl_fail(SL_EINVAL,
                   "%s holds a run whose %s had the hash %.40s; the same options now give %s: the"
                   " program that began it made other data",
                   c->out, what, kept, mine);
}

static sl_status same_data(const char *universe, const char *vocabulary, const sl_train_config *c) {
    char tokens[33];
    sl_token_vocabulary_hash(tokens);
    SL_TRY(same_hash(universe, sl_universe_hash(sl_pairs_universe(c->pairs)), "set of expressions",
                     c));
    return same_hash(vocabulary, tokens, "vocabulary", c);
}

/* The run of run.json must be this one: its options, and what its data turned out to be. */
static sl_status compare(const sl_train__folder *f, const sl_train_config *c) {
    sl_status st;
    char *text = NULL;
    size_t n;
    sl_json *kept = NULL;
    SL_GO(sl_file_read(&text, &n, f->run, RUN_MAX_BYTES));
    st = sl_io_json_parse(&kept, text, n);
    if (st == SL_OK) st = expect_object(kept, "it");
    const sl_json *run = st == SL_OK ? sl_io_json_get(kept, "run") : NULL;
    if (run) st = expect_object(run, "\"run\"");
    if (st == SL_EFORMAT) st = sl_fail(st, "%.400s is damaged: %.400s", f->run, sl_last_error());
    if (st != SL_OK) goto done;
    SL_GO(same_options(kept, c));
    if (!run) goto done; // it does not say what it was made with
    SL_GO(same_data(sl_io_json_get_text(run, "universe", ""),
                    sl_io_json_get_text(run, "vocabulary", ""), c));
    st = same_hash(sl_io_json_get_text(run, "pairs", ""), f->pairs, "training pairs", c);
done:
    sl_io_json_free(kept);
    sl_free(text);
    return st;
}

sl_status sl_train__folder_fits(const sl_ckpt_loaded *l, const sl_train_config *c) {
    sl_json *kept = NULL;
    SL_TRY(sl_io_json_parse(&kept, l->config, strlen(l->config)));
    sl_status st = expect_object(kept, "the checkpoint's configuration");
    if (st == SL_OK) st = same_options(kept, c);
    sl_io_json_free(kept);
    return st == SL_OK ? same_data(l->universe, l->vocabulary, c) : st;
}

/* Two processes in one folder would write over each other. A file system that cannot lock is
 * believed. A guard decides instead of the lock, if there is one: a process that was stopped and
 * has lost the folder still holds the lock. */
static sl_status lock(sl_train__folder *f, bool guarded) {
    f->lock = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (guarded) return SL_OK;
    if (f->lock >= 0 && flock(f->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return sl_fail(SL_EINVAL, "%s: another process is training there", f->path);
    return SL_OK;
}

static sl_status set_paths(sl_train__folder *f, const char *out) {
    f->path = out;
    const int a = sl_snprintf(f->run, sizeof f->run, "%s/run.json", out);
    const int b = sl_snprintf(f->log, sizeof f->log, "%s/log.jsonl", out);
    if (a >= (int)sizeof f->run - 40 || b >= (int)sizeof f->log - 40)
        return sl_fail(SL_EINVAL, "the folder's name is too long: %.60s...", out);
    return SL_OK;
}

static bool is_ours(const char *name, size_t n) {
    return (n == 8 && strncmp(name, "run.json", n) == 0) ||
           (n == 9 && strncmp(name, "log.jsonl", n) == 0);
}

/* Removes what processes left that were killed while they wrote. */
static void remove_temporaries(const char *path) {
    sl_file_sweep(path, is_ours, true);
    sl_ckpt_sweep(path);
}

sl_status sl_train__folder_look(sl_train__folder *f, sl_pool *pool, const sl_train_config *c,
                                int64_t steps) {
    *f = (sl_train__folder){ .lock = -1 };
    SL_TRY(set_paths(f, c->out));
    SL_TRY(lock(f, c->guard != NULL));
    f->begun = access(f->run, F_OK) == 0;
    const int64_t newest = sl_ckpt_newest(f->path);
    if (!c->resume && newest >= 0)
        return sl_fail(SL_EINVAL,
                       "%s holds a run, saved at step %lld of %lld: resume it, or give another"
                       " folder",
                       f->path, (long long)newest, (long long)steps);
    if (!c->resume && f->begun)
        return sl_fail(SL_EINVAL,
                       "%s holds a run that has saved nothing yet: resume it, or give another"
                       " folder",
                       f->path);
    const int64_t count = SL_MIN(steps, PAIRS_HASHED) * c->train.batch;
    SL_TRY(sl_pairs_hash(f->pairs, pool, c->pairs, SL_SPLIT_TRAIN, SL_MIN(count, PAIRS_HASHED)));
    sl_token_vocabulary_hash(f->vocabulary);
    if (f->begun) SL_TRY(compare(f, c));
    remove_temporaries(f->path); // no other process writes there: we have the lock
    return SL_OK;
}

/* ---------------------------------------------------------------- beginning ----------------- */

static sl_status write_run(const sl_train__folder *f, const sl_train_config *c, int64_t steps) {
    sl_status st;
    sl_file *file = NULL;
    sl_str s = { 0 };
    // the configuration without its last bracket: one more member follows
    const char *config = config_of(c), *end = strrchr(config, '}');
    SL_ASSERT(end);
    sl_str_add_bytes(&s, config, (size_t)(end - config));
    sl_io_json_open(&s, "run", '{');
    sl_io_json_add_text(&s, "version", SL_VERSION);
    sl_io_json_add_text(&s, "revision", sl_ckpt_revision());
    sl_io_json_add_int(&s, "steps", steps);
    sl_io_json_add_text(&s, "universe", sl_universe_hash(sl_pairs_universe(c->pairs)));
    SL_JSON_FIELDS(&s, f, pairs, vocabulary);
    sl_io_json_add_text(&s, "level", sl_nn_isa());
    sl_io_json_add_text(&s, "libraries", sl_nn_libraries());
    sl_io_json_close(&s, '}');
    sl_str_add(&s, "}\n");
    SL_GO(sl_str_status(&s));
    SL_GO(sl_file_replace(&file, f->run));
    SL_GO(sl_file_write(file, s.text, s.len));
    if (c->guard) SL_GO(c->guard(c->guard_payload));
    st = sl_file_commit(&file);
done:
    sl_file_discard(&file);
    sl_str_clear(&s);
    return st;
}

sl_status sl_train__folder_begin(sl_train__folder *f, const sl_train_config *c, int64_t steps) {
    SL_TRY(sl_folder_make(f->path, 0777));
    if (f->lock < 0) SL_TRY(lock(f, c->guard != NULL));
    if (!f->begun && access(f->run, F_OK) == 0) // it was not there to be locked when we looked
        return sl_fail(SL_EINVAL, "%s: another process has begun a run there", f->path);
    return f->begun ? SL_OK : write_run(f, c, steps);
}

void sl_train__folder_close(sl_train__folder *f) {
    if (f->path && f->lock >= 0) close(f->lock);
    *f = (sl_train__folder){ .lock = -1 };
}
