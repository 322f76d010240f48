/* train_setup - from the options of a run to what train/ takes, and what the run will cost. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/api_impl.h"

sl_status sl_api__setup_read(sl_api__setup *out, sl_api__run *run) {
    *out = (sl_api__setup){ .threads = sl_api__threads(run) };
    sl_train_config *c = &out->config;
    c->seed = (uint64_t)sl_api__named(run, "seed")->whole;
    SL_TRY(sl_api__universe_options(&out->universe, run));
    if (out->universe.variables > SL_UNIVERSE_MAX_VARS) // seen here, a set is not built for it
        return sl_fail(SL_EINVAL, "a set over %d variables; it can have 1 to %d",
                       out->universe.variables, SL_UNIVERSE_MAX_VARS);
    sl_api__pairs_options(&out->pairs, run);
    sl_api__train_options(&c->train, run);
    sl_api__optim_options(&c->optim, run);
    SL_TRY(sl_api__model_options(&c->model, run));
    SL_TRY(sl_pairs_options_check(&out->pairs));
    SL_TRY(sl_optim_options_check(&c->optim));
    return sl_model_new(&out->model, &c->model);
}

void sl_api__setup_clear(sl_api__setup *s) {
    sl_model_free(s->model);
    *s = (sl_api__setup){ 0 };
}

/* ---------------------------------------------------------------- kept with a run ----------- */

/* Neither what only says how the work is done, nor what other options say already. */
static bool is_kept(const char *name) {
    static const char *const others[] = { "json", "quiet", "threads", "max-memory",
                                          "out",  "size",  "resume" };
    for (int i = 0; i < SL_LEN(others); i++)
        if (strcmp(name, others[i]) == 0) return false;
    return true;
}

void sl_api__run_config(sl_str *s, const sl_api__run *run) {
    sl_json_open(s, NULL, '{');
    for (int i = 0; i < run->info->n_options; i++)
        if (is_kept(run->info->options[i].name))
            sl_api__option_write(s, &run->info->options[i], &run->values[i]);
    sl_json_close(s, '}');
}

static bool same_value(const sl_option_info *o, const sl_api__value *a, const sl_api__value *b) {
    switch (o->type) {
    case SL_OPTION_FLAG: return a->flag == b->flag;
    case SL_OPTION_INT: return a->whole == b->whole;
    case SL_OPTION_REAL: return a->real == b->real;
    default: return strcmp(a->text[0], b->text[0]) == 0;
    }
}

static sl_status fail_other(const sl_option_info *o, const sl_api__value *told,
                            const sl_api__value *kept, const char *dir) {
    sl_str a = { 0 }, b = { 0 };
    sl_api__option_write(&a, o, told);
    sl_api__option_write(&b, o, kept);
    // "name":value, of which the value is wanted
    const size_t skip = strlen(o->name) + 3;
    const bool whole = !a.failed && !b.failed;
    sl_status st = sl_fail(SL_EINVAL,
                           "--%s is %.60s, but the run in %.200s has %.60s; leave it out to go on, "
                           "or give another --out",
                           o->name, whole ? a.text + skip : "different", dir,
                           whole ? b.text + skip : "another");
    sl_str_clear(&a);
    sl_str_clear(&b);
    return st;
}

/* Options that were not told become what the run has. */
static sl_status take_over(sl_api__run *run, const sl_json *config, const char *dir) {
    for (int i = 0; i < run->info->n_options; i++) {
        const sl_option_info *o = &run->info->options[i];
        const sl_json *j = is_kept(o->name) ? sl_json_get(config, o->name) : NULL;
        if (!j || sl_json_kind_of(j) == SL_JSON_NULL) continue;
        sl_api__value kept = { 0 }, *v = &run->values[i];
        sl_status st = sl_api__option_read(&kept, o, j);
        if (st == SL_EINVAL)
            return sl_fail(SL_EFORMAT, "the configuration of the run in %.200s is damaged: %s", dir,
                           sl_last_error());
        SL_TRY(st);
        if (!v->told)
            *v = kept;
        else if (!sl_train_may_change(o->name) && !same_value(o, v, &kept))
            return fail_other(o, v, &kept, dir);
    }
    return SL_OK;
}

/* *out := dir/run.json. */
static sl_status config_path(sl_str *out, const char *dir) {
    sl_str_addf(out, "%s/run.json", dir);
    return sl_str_status(out);
}

sl_status sl_api__run_is_there(bool *out, const char *dir) {
    sl_str path = { 0 };
    sl_status st = config_path(&path, dir);
    if (st == SL_OK) *out = access(path.text, F_OK) == 0 || sl_ckpt_newest(dir) >= 0;
    sl_str_clear(&path);
    return st;
}

sl_status sl_api__run_read(sl_json **out, char **text_out, const char *dir) {
    enum { MOST = 1 << 20 };
    sl_str path = { 0 };
    char *text = NULL;
    size_t n;
    sl_status st;
    *out = NULL;
    SL_GO(config_path(&path, dir));
    if (access(path.text, F_OK) != 0) goto done;
    SL_GO(sl_file_read(&text, &n, path.text, MOST));
    st = sl_json_parse(out, text, n);
    if (st == SL_OK && sl_json_kind_of(*out) != SL_JSON_OBJECT)
        st = sl_fail(SL_EFORMAT, "it holds %s, not an object",
                     sl_json_kind_text(sl_json_kind_of(*out)));
    if (st == SL_EFORMAT) st = sl_fail(st, "%.300s is damaged: %s", path.text, sl_last_error());
    if (st == SL_OK && text_out) {
        *text_out = text;
        text = NULL;
    }
done:
    sl_free(text);
    sl_str_clear(&path);
    return st;
}

/* Where run.json is lost, the newest checkpoint has the configuration too. */
static sl_status read_checkpoint(sl_json **out, const char *dir) {
    char path[PATH_MAX];
    sl_st_file *f = NULL;
    const int64_t step = sl_ckpt_newest(dir);
    if (step < 0) return SL_OK;
    sl_ckpt_model_path(path, sizeof path, dir, step);
    if (sl_st_open(&f, path) != SL_OK) return SL_OK; // said when the weights are wanted from it
    const char *config = sl_st_metadata(f, "config");
    sl_status st = config ? sl_json_parse(out, config, strlen(config)) : SL_OK;
    if (st == SL_OK && *out && sl_json_kind_of(*out) != SL_JSON_OBJECT)
        st = sl_fail(SL_EFORMAT, "it holds %s, not an object",
                     sl_json_kind_text(sl_json_kind_of(*out)));
    if (st == SL_EFORMAT)
        st = sl_fail(st, "%.300s: its configuration is damaged: %s", path, sl_last_error());
    sl_st_close(f);
    return st;
}

sl_status sl_api__run_resume(sl_api__run *run, const char *dir) {
    SL_TRY(sl_api__run_read(&run->kept, NULL, dir));
    if (!run->kept) SL_TRY(read_checkpoint(&run->kept, dir));
    return run->kept ? take_over(run, run->kept, dir) : SL_OK;
}

/* ---------------------------------------------------------------- cost ---------------------- */

void sl_api__line(sl_str *s, const char *name, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    sl_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sl_str_addf(s, "  %-13s %s\n", name, text);
}

// parts of a plan's memory      field        what people call it
#define PARTS(X)                  \
    X(weights, "weights")         \
    X(gradients, "gradients")     \
    X(optimiser, "optimizer")     \
    X(activations, "activations") \
    X(batches, "batches")

void sl_api__plan_json(sl_str *s, const sl_train_plan *p) {
    sl_json_open(s, "plan", '{');
    sl_json_add_int(s, "steps", p->steps);
    sl_json_add_real(s, "tokens_per_pair", p->tokens_per_pair);
    sl_json_add_real(s, "ratio", p->ratio);
    sl_json_add_real(s, "flops", p->flops);
    sl_json_add_real(s, "flops_pair_paper", p->flops_pair_paper);
    sl_json_add_real(s, "flops_pair", p->flops_pair);
    sl_json_add_int(s, "lanes", p->lanes);
    sl_json_add_int(s, "chunk", p->chunk);
    sl_json_open(s, "memory", '{');
    sl_json_add_int(s, "total", p->memory);
#define X(field, name) sl_json_add_int(s, name, p->memory_##field);
    PARTS(X)
#undef X
    sl_json_close(s, '}');
    sl_json_close(s, '}');
}

void sl_api__memory_table(sl_str *s, const sl_train_plan *p) {
    sl_str_add(s, "\nmemory, in MB\n");
#define X(field, name) sl_api__line(s, name, "%10.1f", 1e-6 * (double)p->memory_##field);
    PARTS(X)
#undef X
    sl_api__line(s, "all", "%10.1f", 1e-6 * (double)p->memory);
}

sl_status sl_api__memory_check(const sl_train_plan *p, const sl_api__run *run) {
    const double limit = sl_api__named(run, "max-memory")->real * 1e9;
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
                   "all the same",
                   need, 1e-9 * (double)free_bytes, remedy, need * 1.01);
}
