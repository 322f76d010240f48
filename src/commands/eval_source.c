/* eval_source - the problems of an evaluation: a split of the model's own data, pairs of a file, or
 * formulas; and one hash of all of them. */
#include <string.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

/* ---------------------------------------------------------------- the model's data ---------- */

/* The options of a run's data, from its configuration. It does not have max-memory, threads and the
 * like: they have their defaults. */
typedef struct data_options {
    sl_commands_common common;
    sl_commands__set_options set;
    sl_pairs_options pairs;
} data_options;

static sl_commands_command data = {
    .info = { .name = "train" },
    .parts = { SL_COMMANDS__SET_PART(data_options, set),
               SL_COMMANDS_PAIRS_PART(data_options, pairs), SL_COMMANDS_COMMON_PART },
};

/* The member of a run's configuration; --size is its model's. */
static const sl_json *option_of_run(const sl_json *config, const sl_option *o) {
    const sl_json *j = sl_io_json_get(config, o->name);
    return j || !o->alias || !sl_commands__run_keeps(o->alias) ? j
                                                               : sl_io_json_get(config, o->alias);
}

/* The options of a run's data; texts are borrowed from config. Those that it lacks have the
 * defaults of its format, and are appended to *missing. */
static sl_status take_options(data_options *out, sl_str *missing, const sl_json *config,
                              const char *path) {
    const sl_option_table *t = sl_commands_table(&data);
    int format;
    SL_TRY(sl_ckpt_config_format(&format, config, path));
    for (int i = 0; i < t->n; i++) {
        const sl_option *o = &t->row[i];
        const sl_json *j = option_of_run(config, o);
        sl_commands__option_default(out, o, format);
        if (!j || sl_io_json_kind_of(j) == SL_JSON_NULL) {
            if (sl_commands__run_keeps(o->name)) sl_commands__missing_add(missing, out, o);
            continue;
        }
        const sl_status st = sl_commands__option_read(out, o, j);
        if (st == SL_EINVAL)
            return sl_fail(SL_EFORMAT, "%.300s: its configuration is damaged: %s", path,
                           sl_last_error());
        SL_TRY(st);
    }
    return sl_str_status(missing);
}

/* The set must be that of the run, else training may have seen its test split. */
static sl_status check_set(const sl_universe *u, const char *path) {
    sl_st_file *f = NULL;
    SL_TRY(sl_ckpt_st_open(&f, path));
    const char *hash = sl_ckpt_st_metadata(f, "universe");
    sl_status st = SL_OK;
    if (hash && *hash && strcmp(hash, sl_universe_hash(u)) != 0)
        st = sl_fail(SL_EINVAL,
                     "%.300s was trained on a set of expressions with hash %.40s; here it is %s: "
                     "another version of the program made it",
                     path, hash, sl_universe_hash(u));
    sl_ckpt_st_close(f);
    return st;
}

/* path: of the model; NULL: there is none. */
static sl_status open_set(sl_commands__problems *out, sl_commands_run *run, const char *path,
                          const data_options *o, sl_split split) {
    sl_universe_options universe;
    sl_pairs_options pairs = o->pairs;
    SL_TRY(sl_commands__universe_options(&universe, &o->set, o->common.seed));
    pairs.seed = (uint64_t)o->common.seed;
    if (split == SL_SPLIT_WITHHELD && !(universe.withheld > 0))
        return sl_fail(SL_EINVAL,
                       path ? "the run of this model withheld no expressions from training, so it "
                              "has no such split; take test or valid, or train with --withheld 0.01"
                            : "without a model nothing is withheld; take --split test or valid");
    SL_TRY(sl_commands_universe(&out->universe, &universe, sl_commands__threads(run),
                                SL_COMMANDS_MEMBERS, &run->listener));
    if (path) SL_TRY(check_set(out->universe, path));
    SL_TRY(sl_pairs_new(&out->pairs, out->universe, &pairs));
    if (sl_pairs_size(out->pairs, split) == 0)
        return sl_fail(SL_EINVAL, "the split %s of this model's run is empty",
                       sl_pairs_split_name(split));
    return SL_OK;
}

/* Does the configuration have options of data? That of a model of another program does not. */
static bool has_data_options(const sl_json *config) {
    if (sl_io_json_kind_of(config) != SL_JSON_OBJECT) return false;
    const sl_option_table *t = sl_commands_table(&data);
    for (const sl_option *o = t->row; o < t->row + t->n; o++) {
        // the model says how many variables it has, whatever it was trained on
        if (strcmp(o->name, "variables") != 0 && option_of_run(config, o)) return true;
    }
    return false;
}

/* The set and the pairs of the model's training. split: the one that is evaluated; TRAIN: none. */
static sl_status open_pairs(sl_commands__problems *out, sl_commands_run *run,
                            const sl_infer_info *model, sl_split split) {
    sl_json *config = NULL;
    sl_str missing = { 0 };
    data_options o = { .set = { .depth = 0 } };
    sl_status st;
    SL_GO(sl_io_json_parse(&config, model->config, strlen(model->config)));
    if (!has_data_options(config))
        SL_GO(sl_fail(SL_EINVAL,
                      split == SL_SPLIT_TRAIN
                          ? "%.300s does not say what it was trained on, so there is nothing to "
                            "draw from; take --source model or linear"
                          : "%.300s does not say what it was trained on, so it has no splits; give "
                            "problems by --pairs or --formulas",
                      model->path));
    SL_GO(take_options(&o, &missing, config, model->path));
    SL_GO(sl_commands__with_missing(open_set(out, run, model->path, &o, split), missing.text));
    sl_commands__missing_note(&run->listener, missing.text, model->path);
done:
    sl_str_clear(&missing);
    sl_io_json_free(config);
    return st;
}

/* Without a model: those that "symlaw pairs" makes. */
static sl_status open_default_pairs(sl_commands__problems *out, sl_commands_run *run,
                                    sl_split split) {
    data_options o = { .set = { .depth = 0 } };
    sl_option_defaults(&o, sl_commands_table(&data));
    return open_set(out, run, NULL, &o, split);
}

/* ---------------------------------------------------------------- what names them ----------- */

static void add_number(sl_hasher *h, int64_t n) { sl_hasher_add(h, &n, sizeof n); }

static void add_data(sl_hasher *h, const sl_dataset *p) {
    add_number(h, p->inputs);
    add_number(h, p->rows);
    if (p->rows == 0) return;
    const size_t bytes = (size_t)p->rows * sizeof *p->y;
    for (int i = 0; i < p->inputs; i++) sl_hasher_add(h, p->x[i], bytes);
    sl_hasher_add(h, p->y, bytes);
}

static void add_problem(sl_hasher *h, const sl_eval_problem *p) {
    sl_hasher_add(h, p->id, strlen(p->id) + 1);
    add_number(h, p->truth ? p->truth->len : 0);
    if (p->truth) sl_hasher_add(h, p->truth, p->truth->len * sizeof *p->truth);
    add_number(h, p->tokens ? p->n_tokens : 0);
    if (p->tokens) sl_hasher_add(h, p->tokens, (size_t)p->n_tokens * sizeof *p->tokens);
    add_data(h, &p->data);
    add_data(h, &p->fresh);
}

/* A hash of the problems and not of a file's name, so that a journal belongs to the problems. */
static sl_status hash_problems(char out[33], const sl_commands_run *run, const sl_eval_source *s) {
    static const char what[] = "reading problems";
    enum { PER_EVENT = 64 };
    sl_hasher *h = NULL;
    sl_arena arena = { 0 };
    sl_status st;
    SL_GO(sl_hasher_new(&h));
    for (int64_t i = 0; i < s->count; i++) {
        sl_eval_problem p;
        sl_arena_rewind(&arena, 0);
        SL_GO(s->get(&p, &arena, i, s));
        add_problem(h, &p);
        if (i % PER_EVENT == 0)
            SL_GO(sl_commands_send_event(&run->listener, SYMLAW_EVENT_PROGRESS, what,
                                         sizeof what - 1, (double)i, (double)s->count));
    }
    sl_hasher_text(h, out);
done:
    sl_arena_clear(&arena);
    sl_hasher_free(h);
    return st;
}

/* ---------------------------------------------------------------- which --------------------- */

static sl_status open_split(sl_commands__problems *out, sl_commands_run *run,
                            const sl_infer_info *model, const sl_commands__eval_options *o) {
    static const sl_split splits[] = { SL_SPLIT_TEST, SL_SPLIT_VALID, SL_SPLIT_WITHHELD };
    const sl_split split = splits[o->split];
    SL_TRY(model ? open_pairs(out, run, model, split) : open_default_pairs(out, run, split));
    return sl_eval_from_split(&out->source, out->pairs, split, o->limit);
}

static sl_status open_formulas(sl_commands__problems *out, const sl_commands__eval_options *from) {
    const sl_eval_formulas o = { .variables = out->variables,
                                 .rows = (int)from->rows,
                                 .max_points = (int)from->max_points,
                                 .seed = (uint64_t)from->common.seed,
                                 .limit = from->limit };
    if (o.rows == 1) return sl_fail(SL_EINVAL, "--rows 1: a formula needs at least 2 rows");
    return sl_eval_from_formulas(&out->source, from->formulas, &o, &out->skipped);
}

static sl_status add_errors(sl_commands__problems *p, const sl_commands__eval_options *o) {
    if (!(o->noise > 0) && o->digits == 0) return SL_OK;
    sl_eval_source plain = p->source;
    p->source = (sl_eval_source){ 0 };
    return sl_eval_with_errors(&p->source, &plain, o->noise, (int)o->digits,
                               (uint64_t)o->common.seed);
}

sl_status sl_commands__problems_open(sl_commands__problems *out, sl_commands_run *run,
                                     const sl_commands__eval_options *o, const sl_infer_info *model,
                                     bool pairs_needed) {
    const bool many = !model || sl_commands__eval_searches(o); // a model is shown the best of them
    *out = (sl_commands__problems){ .variables = many ? SL_DATA_MAX_INPUTS : model->variables };
    if (o->pairs)
        SL_TRY(sl_eval_from_lines(&out->source, o->pairs, out->variables, o->limit));
    else if (o->formulas)
        SL_TRY(open_formulas(out, o));
    else
        SL_TRY(open_split(out, run, model, o));
    if (out->source.count == 0)
        return sl_fail(SL_EINVAL, "%.300s has no problem to judge the model on", out->source.name);
    SL_TRY(add_errors(out, o));
    if (pairs_needed && !out->pairs) SL_TRY(open_pairs(out, run, model, SL_SPLIT_TRAIN));
    return hash_problems(out->hash, run, &out->source);
}

void sl_commands__problems_clear(sl_commands__problems *p) {
    sl_eval_source_clear(&p->source);
    sl_pairs_free(p->pairs);
    sl_universe_free(p->universe);
    *p = (sl_commands__problems){ 0 };
}
