/* train_setup - from the options of a run to the structs of train/, and the cost of the run. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

sl_status sl_commands__setup_read(sl_commands__setup *out, sl_commands_run *run,
                                  sl_commands__training *t) {
    const int64_t seed = run->common->seed;
    *out = (sl_commands__setup){ .threads = sl_commands__threads(run), .pairs = t->pairs };
    sl_train_config *c = &out->config;
    SL_TRY(sl_commands__universe_options(&out->universe, &t->set, seed));
    if (out->universe.variables > SL_UNIVERSE_MAX_VARS) // seen here, a set is not built for it
        return sl_fail(SL_EINVAL, "a set over %d variables; it can have 1 to %d",
                       out->universe.variables, SL_UNIVERSE_MAX_VARS);
    out->pairs.seed = (uint64_t)seed;
    c->train = t->train;
    c->seed = (uint64_t)(t->train.weights_seed >= 0 ? t->train.weights_seed : seed);
    c->optim = t->optim;
    SL_TRY(sl_commands__model_options(&c->model, run, &t->shape, t->set.variables));
    SL_TRY(sl_pairs_options_check(&out->pairs));
    SL_TRY(sl_optim_options_check(&c->optim));
    return sl_model_new(&out->model, &c->model);
}

void sl_commands__setup_clear(sl_commands__setup *s) {
    sl_model_free(s->model);
    *s = (sl_commands__setup){ 0 };
}

/* ---------------------------------------------------------------- kept with a run ----------- */

/* Not the options that do not change the result, and not those that other options determine. */
bool sl_commands__run_keeps(const char *name) {
    static const char *const others[] = { "json", "quiet", "threads", "max-memory",
                                          "out",  "size",  "resume" };
    for (int i = 0; i < SL_LEN(others); i++)
        if (strcmp(name, others[i]) == 0) return false;
    return true;
}

/* Is this member of a configuration one that we know? "run" is what train/ adds to it. */
static bool is_known(const sl_option_table *t, const char *name) {
    if (strcmp(name, SL_CKPT_CONFIG_MEMBER) == 0 || strcmp(name, "run") == 0) return true;
    const sl_option *o = sl_option_find(t, name);
    return o && sl_commands__run_keeps(o->name);
}

/* Members that are not known here: of run.json, then what the checkpoint alone has. */
static void add_unknown(sl_str *s, const sl_commands_run *run) {
    const sl_json *const *kept = (const sl_json *const *)run->kept;
    for (int k = 0; k < SL_LEN(run->kept); k++) {
        if (!kept[k]) continue;
        for (sl_json_member m = sl_io_json_first(kept[k]); m.name;
             m = sl_io_json_next(kept[k], m)) {
            if (is_known(run->table, m.name) ||
                (k > 0 && kept[0] && sl_io_json_get(kept[0], m.name)))
                continue;
            sl_io_json_add_tree(s, m.name, m.value);
        }
    }
}

void sl_commands__run_config(sl_str *s, const sl_commands_run *run) {
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_int(s, SL_CKPT_CONFIG_MEMBER, SL_CKPT_CONFIG_FORMAT);
    for (int i = 0; i < run->table->n; i++)
        if (sl_commands__run_keeps(run->table->row[i].name))
            sl_commands__option_write(s, run->options, &run->table->row[i]);
    add_unknown(s, run);
    sl_io_json_close(s, '}');
}

static sl_status fail_other(const sl_option *o, const void *given, const void *kept,
                            const char *dir) {
    sl_str a = { 0 }, b = { 0 };
    sl_commands__option_write(&a, given, o);
    sl_commands__option_write(&b, kept, o);
    // "name":value, of which the value is wanted
    const size_t skip = strlen(o->name) + 3;
    const bool whole = !a.failed && !b.failed;
    sl_status st = sl_fail(
        SL_EINVAL,
        "--%s is %.60s, but the run in %.200s has %.60s; leave it out to resume, "
        "or give another --out",
        o->name, whole ? a.text + skip : "different", dir, whole ? b.text + skip : "another");
    sl_str_clear(&a);
    sl_str_clear(&b);
    return st;
}

void sl_commands__missing_add(sl_str *s, const void *options, const sl_option *o) {
    sl_str text = { 0 };
    sl_commands__option_write(&text, options, o);
    const size_t skip = strlen(o->name) + 3; // "name":value
    if (text.failed)
        s->failed = true;
    else
        sl_str_addf(s, "%s\"%s\" (%s)", s->len > 0 ? ", " : "", o->name, text.text + skip);
    sl_str_clear(&text);
}

/* The field of kept := what the run has: by run.json, by its checkpoint, else by the format of
 * either. */
static sl_status kept_value(void *kept, sl_str *missing, const sl_commands_run *run,
                            const sl_option *o, int format, const char *dir) {
    for (int k = 0; k < SL_LEN(run->kept); k++) {
        const sl_json *j = run->kept[k] ? sl_commands__option_member(run->kept[k], o) : NULL;
        if (!j || sl_io_json_kind_of(j) == SL_JSON_NULL) continue;
        sl_status st = sl_commands__option_read(kept, o, j);
        if (st == SL_EINVAL)
            st = sl_fail(SL_EFORMAT, "the configuration of the run in %.200s is damaged: %s", dir,
                         sl_last_error());
        return st;
    }
    if (sl_ckpt_config_needs(o->name)) return sl_ckpt_config_lacks(o->name, dir);
    sl_commands__option_default(kept, o, format);
    if (sl_option_is_given(kept, o)) sl_commands__missing_add(missing, kept, o);
    return SL_OK;
}

/* Options that the caller has not given become what the run has. */
static sl_status take_over(sl_str *missing, sl_commands_run *run, int format, const char *dir) {
    void *kept = sl_arena_alloc(&run->arena, run->command->size);
    if (!kept) return sl_fail_memory(1, run->command->size, "options");
    for (int i = 0; i < run->table->n; i++) {
        const sl_option *o = &run->table->row[i];
        if (!sl_commands__run_keeps(o->name)) continue;
        SL_TRY(kept_value(kept, missing, run, o, format, dir));
        if (!run->by_caller[i])
            sl_option_copy(run->options, kept, o);
        else if (!sl_train_may_change(o->name) && !sl_option_same(run->options, kept, o))
            return fail_other(o, run->options, kept, dir);
    }
    return sl_str_status(missing);
}

/* *out := dir/run.json. */
static sl_status config_path(sl_str *out, const char *dir) {
    sl_str_addf(out, "%s/run.json", dir);
    return sl_str_status(out);
}

sl_status sl_commands__run_is_there(bool *out, const char *dir) {
    sl_str path = { 0 };
    sl_status st = config_path(&path, dir);
    if (st == SL_OK) *out = access(path.text, F_OK) == 0 || sl_ckpt_newest(dir) >= 0;
    sl_str_clear(&path);
    return st;
}

sl_status sl_commands__run_read(sl_json **out, char **text_out, const char *dir) {
    enum { MOST = 1 << 20 };
    sl_str path = { 0 };
    char *text = NULL;
    size_t n;
    sl_status st;
    *out = NULL;
    SL_GO(config_path(&path, dir));
    if (access(path.text, F_OK) != 0) goto done;
    SL_GO(sl_file_read(&text, &n, path.text, MOST));
    st = sl_io_json_parse(out, text, n);
    if (st == SL_OK && sl_io_json_kind_of(*out) != SL_JSON_OBJECT)
        st = sl_fail(SL_EFORMAT, "it holds %s, not an object",
                     sl_io_json_kind_text(sl_io_json_kind_of(*out)));
    if (st == SL_EFORMAT) st = sl_fail(st, "%.300s is damaged: %s", path.text, sl_last_error());
    int format;
    if (st == SL_OK) st = sl_ckpt_config_format(&format, *out, path.text);
    if (st == SL_OK && text_out) {
        *text_out = text;
        text = NULL;
    }
done:
    sl_free(text);
    sl_str_clear(&path);
    return st;
}

/* *out stays NULL where the file cannot be opened. */
static sl_status read_file(sl_json **out, const char *path) {
    sl_st_file *f = NULL;
    sl_status st = sl_ckpt_st_open(&f, path);
    if (st != SL_OK)
        return st == SL_ENOMEM ? st : SL_OK; // said when the weights are wanted from it
    const char *config = sl_ckpt_st_metadata(f, "config");
    st = config ? sl_io_json_parse(out, config, strlen(config)) : SL_OK;
    if (st == SL_OK && *out && sl_io_json_kind_of(*out) != SL_JSON_OBJECT)
        st = sl_fail(SL_EFORMAT, "it holds %s, not an object",
                     sl_io_json_kind_text(sl_io_json_kind_of(*out)));
    if (st == SL_EFORMAT)
        st = sl_fail(st, "%.300s: its configuration is damaged: %s", path, sl_last_error());
    int format;
    if (st == SL_OK && *out) st = sl_ckpt_config_format(&format, *out, path);
    sl_ckpt_st_close(f);
    return st;
}

/* A checkpoint has the configuration too, for the case that run.json lacks a member or is lost. */
static sl_status read_checkpoint(sl_json **out, const char *dir) {
    char path[PATH_MAX];
    for (int64_t step = sl_ckpt_newest(dir); step >= 0 && !*out; step = sl_ckpt_before(dir, step)) {
        sl_ckpt_model_path(path, sizeof path, dir, step);
        SL_TRY(read_file(out, path));
    }
    return SL_OK;
}

/* Names what is not known here. */
static sl_status note_unknown(const sl_commands_listener *l, const sl_option_table *t,
                              const sl_json *config, const sl_json *but, const char *where) {
    sl_str s = { 0 };
    for (sl_json_member m = sl_io_json_first(config); m.name; m = sl_io_json_next(config, m)) {
        if (is_known(t, m.name) || (but && sl_io_json_get(but, m.name))) continue;
        sl_str_addf(&s, "%s\"%.60s\"", s.len > 0 ? ", " : "", m.name);
    }
    const sl_status st = sl_str_status(&s);
    if (st == SL_OK && s.len > 0)
        sl_commands_note(
            l,
            "%.300s: its configuration has %.400s, which is not known here: it is kept and "
            "has no effect",
            where, s.text);
    sl_str_clear(&s);
    return st;
}

void sl_commands__missing_note(const sl_commands_listener *l, const char *missing,
                               const char *where) {
    if (missing && *missing)
        sl_commands_note(
            l,
            "%.300s: its configuration lacks %.600s: it is from before that existed, and "
            "the default of that time is taken",
            where, missing);
}

/* No configuration can be read: if there are checkpoints, the message says what is wrong with
 * them. */
static sl_status refuse_damaged(const char *dir) {
    int64_t step;
    char *warning = NULL;
    if (sl_ckpt_newest(dir) < 0) return SL_OK;
    const sl_status st = sl_ckpt_look(&step, &warning, dir);
    sl_free(warning);
    return st;
}

sl_status sl_commands__run_resume(sl_str *missing, sl_commands_run *run, const char *dir) {
    int format;
    SL_TRY(sl_commands__run_read(&run->kept[0], NULL, dir));
    SL_TRY(read_checkpoint(&run->kept[1], dir));
    const sl_json *first = run->kept[0] ? run->kept[0] : run->kept[1];
    if (!first) return refuse_damaged(dir);
    SL_TRY(sl_ckpt_config_format(&format, first, dir));
    SL_TRY(take_over(missing, run, format, dir));
    sl_commands__missing_note(&run->listener, missing->text, dir);
    for (int k = 0; k < SL_LEN(run->kept); k++)
        if (run->kept[k])
            SL_TRY(note_unknown(&run->listener, run->table, run->kept[k],
                                k > 0 ? run->kept[0] : NULL, dir));
    return SL_OK;
}

sl_status sl_commands__with_missing(sl_status st, const char *missing) {
    if (!missing || !*missing || (st != SL_EINVAL && st != SL_EFORMAT)) return st;
    return sl_fail(st, "%.800s; its configuration lacks %.400s, whose default was taken",
                   sl_last_error(), missing);
}

sl_status sl_commands__model_notes(const sl_commands_listener *l, const sl_infer *m) {
    const sl_infer_info *i = sl_infer_about(m);
    if (i->warning) sl_commands_note(l, "%s", i->warning);
    sl_commands__missing_note(l, i->missing, i->path);
    sl_json *config = NULL;
    sl_status st = sl_io_json_parse(&config, i->config, strlen(i->config));
    if (st == SL_OK)
        st = note_unknown(l, sl_commands_table(&sl_commands__train), config, NULL, i->path);
    sl_io_json_free(config);
    return st;
}

/* ---------------------------------------------------------------- cost ---------------------- */

sl_status sl_commands__memory_check(const sl_train_plan *p, double max_memory) {
    const double limit = max_memory * 1e9;
    const int64_t free_bytes = sl_mem_available() / sl_par_peers();
    if (limit > 0 ? (double)p->memory <= limit : free_bytes == 0 || p->memory <= free_bytes)
        return SL_OK;
    const double need = 1e-9 * (double)p->memory;
    static const char remedy[] = "fewer --lanes or --threads, or a smaller model, need less";
    if (limit > 0)
        return sl_fail(SL_ELIMIT, "training takes %.3g GB, and --max-memory allows %.3g; %s", need,
                       1e-9 * limit, remedy);
    return sl_fail(SL_ELIMIT,
                   "training takes %.3g GB, and %.3g GB are free; %s; --max-memory %.3g tries it "
                   "anyway",
                   need, 1e-9 * (double)free_bytes, remedy, need * 1.01);
}
