/* set - the set E of a configuration as a handle. */
#include <stdlib.h>
#include <string.h>

#include "api/api_impl.h"

/* ---------------------------------------------------------------- opening ------------------- */

/* Without a cache all functions stay, for symlaw_set_find: they were built anyway. */
static sl_status open_members(symlaw_set *s, const sl_universe_options *o, const char *cache,
                              const sl_commands_listener *l) {
    sl_str dir = { 0 };
    sl_commands_cache_folder(&dir, cache);
    sl_status st = sl_str_status(&dir);
    const sl_commands_need need = dir.len > 0 ? SL_COMMANDS_MEMBERS : SL_COMMANDS_BUILT;
    if (st == SL_OK)
        st = sl_commands_universe_make(&s->universe, o, s->threads, need, sl_str_text(&dir), l);
    if (st == SL_OK && need == SL_COMMANDS_BUILT) s->built = s->universe;
    sl_str_clear(&dir);
    return st;
}

static sl_status open_set(symlaw_set **out, const symlaw_set_options *options,
                          const sl_commands_listener *listener) {
    if (!out) return sl_fail(SL_EINVAL, "symlaw_set_open: out is NULL");
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    if (options) {
        if (options->size < sizeof options->size)
            return sl_fail(SL_EINVAL, "symlaw_set_open: options.size is not set; use "
                                      "SYMLAW_SET_OPTIONS_INIT");
        memcpy(&o, options,
               SL_MIN(options->size, sizeof o)); // what an older caller lacks is default
    }
    if (o.threads < 0 || o.max_memory < 0) // universe/ checks the rest
        return sl_fail(SL_EINVAL, "symlaw_set_open: threads or max_memory is negative");
    sl_universe_options u = { .depth = o.depth,
                              .variables = o.variables,
                              .ops = SL_UNIVERSE_ALL_OPS,
                              .size = o.count,
                              .seed = o.seed,
                              .withheld = o.withheld,
                              .max_memory = o.max_memory };
    if (o.ops) SL_TRY(sl_universe_ops_parse(&u.ops, o.ops));

    symlaw_set *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "a set");
    s->threads = o.threads;
    pthread_mutex_init(&s->lock, NULL);
    sl_status st = open_members(s, &u, o.cache, listener);
    if (st != SL_OK) {
        symlaw_set_close(s);
        return st;
    }
    *out = s;
    return SL_OK;
}

symlaw_status symlaw_set_open(symlaw_set **out, const symlaw_set_options *options,
                              symlaw_event_fn on_event, void *payload) {
    SL_API__PUBLIC(
        open_set(out, options, &(sl_commands_listener){ on_event, payload, sl_clock(), &call }));
}

void symlaw_set_close(symlaw_set *s) {
    if (!s) return;
    if (s->built != s->universe) sl_universe_free(s->built);
    sl_universe_free(s->universe);
    pthread_mutex_destroy(&s->lock);
    sl_free(s);
}

/* ---------------------------------------------------------------- asking -------------------- */

int64_t symlaw_set_count(const symlaw_set *s) { return s ? sl_universe_size(s->universe) : 0; }
const char *symlaw_set_hash(const symlaw_set *s) { return s ? sl_universe_hash(s->universe) : ""; }

static sl_status get(symlaw_formula **out, const symlaw_set *s, int64_t index) {
    if (!out || !s) return sl_fail(SL_EINVAL, "symlaw_set_get: out or set is NULL");
    int64_t count = sl_universe_size(s->universe);
    if (index < 0 || index >= count)
        return sl_fail(SL_EINVAL, "symlaw_set_get: index %lld is not in 0 .. %lld",
                       (long long)index, (long long)count - 1);
    return sl_api__formula_of(out, sl_universe_get(s->universe, index));
}

symlaw_status symlaw_set_get(symlaw_formula **out, const symlaw_set *s, int64_t index) {
    SL_API__PUBLIC(get(out, s, index));
}

int symlaw_set_is_withheld(const symlaw_set *s, int64_t index) {
    if (!s || index < 0 || index >= sl_universe_size(s->universe)) return 0;
    return sl_universe_withheld(s->universe, index);
}

/* *out := the set with all functions of the enumeration, built by the first thread that needs
 * it. */
static sl_status all_functions(const sl_universe **out, symlaw_set *s) {
    const sl_commands_listener silent = { .start = sl_clock() };
    sl_status st = SL_OK;
    pthread_mutex_lock(&s->lock);
    if (!s->built)
        st = sl_commands_universe_make(&s->built, sl_universe_config(s->universe), s->threads,
                                       SL_COMMANDS_BUILT, "", &silent);
    *out = s->built;
    pthread_mutex_unlock(&s->lock);
    return st;
}

static sl_status find(int64_t *index, const symlaw_set *s, const symlaw_formula *f) {
    if (!index || !s || !f) return sl_fail(SL_EINVAL, "symlaw_set_find: an argument is NULL");
    const sl_universe *all;
    SL_TRY(all_functions(&all, (symlaw_set *)s)); // no reader can observe the change
    *index = sl_universe_find(all, f->e);
    return SL_OK;
}

symlaw_status symlaw_set_find(int64_t *index, const symlaw_set *s, const symlaw_formula *f) {
    SL_API__PUBLIC(find(index, s, f));
}
