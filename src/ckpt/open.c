/* open - required contents of a checkpoint file, and the model of a weights file. */
#include <stdlib.h>
#include <string.h>

#include "ckpt/ckpt_impl.h"
#include "nn/nn.h"

/* ---------------------------------------------------------------- texts --------------------- */

void sl_ckpt_loaded_clear(sl_ckpt_loaded *l) {
    sl_free(l->config);
    sl_free(l->progress);
    sl_free(l->vocabulary);
    sl_free(l->universe);
    sl_free(l->level);
    sl_free(l->libraries);
    sl_free(l->warning);
    sl_free(l->missing);
    *l = (sl_ckpt_loaded){ 0 };
}

static sl_status copy(char **out, const char *text) {
    if (!text) text = ""; // absent in files of other versions
    const size_t n = strlen(text) + 1;
    *out = sl_malloc(n, 1);
    if (!*out) return sl_fail_memory(n, 1, "texts of a checkpoint");
    memcpy(*out, text, n);
    return SL_OK;
}

/* Names all missing members at once, so that a wrong file is recognised. */
static sl_status name_missing(const sl_st_file *f, const char *path, sl_ckpt__kind kind) {
    static const char *const needed[] = { SL_ST__FORMAT, "kind", "step", "config" };
    char list[160] = "";
    for (int i = 0; i < SL_LEN(needed); i++) {
        const size_t n = strlen(list);
        if (!sl_ckpt_st_metadata(f, needed[i]))
            sl_snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", needed[i]);
    }
    if (!list[0]) return SL_OK;
    return sl_fail(SL_EFORMAT, "%s: a safetensors file, but no symlaw %s: its metadata lack %s",
                   path, kind == SL_CKPT__MODEL ? "model" : "state of training", list);
}

sl_status sl_ckpt__texts(sl_ckpt_loaded *out, const sl_st_file *f, const char *path,
                         sl_ckpt__kind kind) {
    SL_TRY(name_missing(f, path, kind));
    const char *is = sl_ckpt_st_metadata(f, "kind"), *step = sl_ckpt_st_metadata(f, "step");
    if (strcmp(is, sl_ckpt__kind_text(kind)) != 0)
        return sl_fail(SL_EFORMAT, "%s: its kind is \"%s\", not \"%s\"", path, is,
                       sl_ckpt__kind_text(kind));
    if (!step[0] || strlen(step) > 18 || step[strspn(step, "0123456789")])
        return sl_fail(SL_EFORMAT, "%s: its step is \"%s\"", path, step);
    out->step = sl_strtoll(step, NULL);
    SL_TRY(copy(&out->config, sl_ckpt_st_metadata(f, "config")));
    SL_TRY(copy(&out->vocabulary, sl_ckpt_st_metadata(f, "vocabulary")));
    SL_TRY(copy(&out->universe, sl_ckpt_st_metadata(f, "universe")));
    SL_TRY(copy(&out->level, sl_ckpt_st_metadata(f, "level")));
    SL_TRY(copy(&out->libraries, sl_ckpt_st_metadata(f, "libraries")));
    const char *progress = sl_ckpt_st_metadata(f, "progress");
    if (kind == SL_CKPT__MODEL) return SL_OK;
    if (!progress || !sl_ckpt_st_metadata(f, "model_hash"))
        return sl_fail(SL_EFORMAT, "%s: its metadata lack %s", path,
                       progress ? "model_hash" : "progress");
    return copy(&out->progress, progress);
}

/* ---------------------------------------------------------------- tensors ------------------- */

/* "F32 (64, 128)" */
static void describe(char out[128], const sl_st_tensor *t) {
    int n = sl_snprintf(out, 128, "%s (", sl_ckpt__st_dtype_name(t->dtype));
    for (int d = 0; d < t->dims; d++)
        n += sl_snprintf(out + n, 128 - (size_t)n, "%s%lld", d ? ", " : "", (long long)t->shape[d]);
    sl_snprintf(out + n, 128 - (size_t)n, ")");
}

sl_status sl_ckpt__expect(const sl_st_tensor **out, const sl_st_file *f, const char *path,
                          const sl_st_tensor *want) {
    const sl_st_tensor *t = sl_ckpt_st_find(f, want->name);
    if (!t) return sl_fail(SL_EFORMAT, "%s: no tensor \"%s\"", path, want->name);
    bool same = t->dtype == want->dtype && t->dims == want->dims;
    for (int d = 0; d < t->dims && same; d++) same = t->shape[d] == want->shape[d];
    if (!same) {
        char have[128], need[128];
        describe(have, t);
        describe(need, want);
        return sl_fail(SL_EFORMAT, "%s: tensor \"%s\" is %s, where the model needs %s", path,
                       t->name, have, need);
    }
    if (out) *out = t;
    return SL_OK;
}

sl_status sl_ckpt__expect_weights(const sl_st_file *f, const char *path, const sl_model *m) {
    for (int i = 0; i < m->n_param; i++) {
        char name[SL_CKPT__NAME];
        const sl_st_tensor want = sl_ckpt__tensor(name, "", &m->param[i]);
        SL_TRY(sl_ckpt__expect(NULL, f, path, &want));
    }
    for (int i = 0; i < sl_ckpt_st_count(f) && sl_ckpt_st_count(f) > m->n_param; i++)
        if (sl_model_find(m, sl_ckpt_st_at(f, i)->name) < 0)
            return sl_fail(SL_EFORMAT, "%s: tensor \"%s\" is none of this model", path,
                           sl_ckpt_st_at(f, i)->name);
    return SL_OK;
}

sl_status sl_ckpt__read_weights(float *weights, const sl_st_file *f, const sl_model *m) {
    memset(weights, 0, (size_t)m->block * sizeof *weights);
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        SL_TRY(sl_ckpt_st_read(f, sl_ckpt_st_find(f, p->name), 0, p->count, weights + p->offset));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the model of a file ------- */

/* A configuration that is being read. */
typedef struct reading {
    const sl_json *config;
    const char *path;
    int format;
    sl_str missing; // options with their defaults: "heads" (0), ...
} reading;

static sl_status bad_member(const reading *r, const char *name, const sl_json *j,
                            const char *need) {
    return sl_fail(SL_EFORMAT, "%s: \"%s\" of its config is %s, not %s", r->path, name,
                   sl_io_json_kind_text(sl_io_json_kind_of(j)), need);
}

/* The value of a missing option: the default of the configuration's format. */
static sl_status take_default(double *out, reading *r, const char *name, double today) {
    const sl_ckpt_older *then = sl_ckpt_older_default(name, r->format);
    if (sl_ckpt_config_needs(name)) return sl_ckpt_config_lacks(name, r->path);
    *out = then ? then->value : today;
    sl_ckpt_missing_add(&r->missing, name, *out);
    return SL_OK;
}

/* *out has the current default. */
static sl_status get_int(int64_t *out, reading *r, const char *name) {
    const sl_json *j = sl_io_json_get(r->config, name);
    if (!j) {
        double x = 0;
        SL_TRY(take_default(&x, r, name, (double)*out));
        *out = (int64_t)x;
        return SL_OK;
    }
    if (sl_io_json_kind_of(j) != SL_JSON_INT)
        return bad_member(r, name, j, sl_io_json_kind_text(SL_JSON_INT));
    *out = sl_io_json_int(j);
    return SL_OK;
}

/* The field has the default of today. */
static sl_status get_option(sl_model_options *to, const sl_option *o, reading *r) {
    const bool whole = o->kind == SL_KIND_INT;
    const sl_json *j = sl_io_json_get(r->config, o->name);
    double x = sl_option_number(to, o);
    if (!j)
        SL_TRY(take_default(&x, r, o->name, x));
    else if (sl_io_json_kind_of(j) != SL_JSON_INT &&
             (whole || sl_io_json_kind_of(j) != SL_JSON_REAL))
        return bad_member(r, o->name, j, sl_io_json_kind_text(whole ? SL_JSON_INT : SL_JSON_REAL));
    else
        x = sl_io_json_real(j);
    sl_option_set(to, o, x);
    return SL_OK;
}

static sl_status read_options(sl_model_options *o, reading *r) {
    int64_t variables = o->columns - 1;
    for (int i = 0; i < sl_model_table.n; i++) SL_TRY(get_option(o, &sl_model_table.row[i], r));
    SL_TRY(get_int(&variables, r, "variables"));
    if (variables < 0 || variables >= SL_NN_MAX_COLUMNS) // before 1 is added
        return sl_fail(SL_EFORMAT, "%s: its config has %lld variables", r->path,
                       (long long)variables);
    o->columns = variables + 1;
    return sl_str_status(&r->missing);
}

/* *missing := NULL, or the options that have their default; sl_free it. */
static sl_status options_of(sl_model_options *o, char **missing, const sl_st_file *f,
                            const char *text, const char *path) {
    sl_json *config = NULL;
    sl_status st = sl_io_json_parse(&config, text, strlen(text));
    if (st == SL_EFORMAT) return sl_fail(st, "%s: its config: %s", path, sl_last_error());
    SL_TRY(st);
    reading r = { .config = config, .path = path };
    *o = sl_model_defaults();
    if (sl_io_json_kind_of(config) == SL_JSON_OBJECT) {
        st = sl_ckpt_config_format(&r.format, config, path);
        if (st == SL_OK) st = read_options(o, &r);
    } else {
        st = sl_fail(SL_EFORMAT, "%s: its config is %s, not an object", path,
                     sl_io_json_kind_text(sl_io_json_kind_of(config)));
    }
    sl_io_json_free(config);
    if (st != SL_OK) sl_str_clear(&r.missing);
    SL_TRY(st);
    *missing = r.missing.text; // NULL if nothing was added

    const sl_st_tensor *table = sl_ckpt_st_find(f, "tokens.weight");
    if (!table || table->dims != 2)
        return sl_fail(SL_EFORMAT, "%s: no table of tokens (tensor \"tokens.weight\")", path);
    o->vocabulary = table->shape[0];
    return SL_OK;
}

sl_status sl_ckpt_open_model(sl_model **model, float **weights, sl_ckpt_loaded *out,
                             const char *path) {
    sl_status st;
    sl_st_file *f = NULL;
    sl_model *m = NULL;
    float *w = NULL;
    sl_ckpt_loaded texts = { 0 };
    sl_model_options o;
    SL_GO(sl_ckpt_st_open(&f, path));
    SL_GO(sl_ckpt__texts(&texts, f, path, SL_CKPT__MODEL));
    SL_GO(options_of(&o, &texts.missing, f, texts.config, path));
    st = sl_model_new(&m, &o);
    if (st == SL_EINVAL) st = sl_fail(SL_EFORMAT, "%s: %s", path, sl_last_error());
    if (st != SL_OK) goto done;
    SL_GO(sl_ckpt__expect_weights(f, path, m));
    SL_GO(sl_ckpt_st_verify(f));
    SL_GO(sl_ckpt_st_finite(f));
    w = sl_malloc_aligned((size_t)m->block, sizeof *w);
    if (!w) SL_GO(sl_fail_memory((size_t)m->block, sizeof *w, "weights"));
    SL_GO(sl_ckpt__read_weights(w, f, m));
    *model = m;
    *weights = w;
    *out = texts;
    sl_ckpt_st_close(f);
    return SL_OK;
done:
    sl_free(w);
    sl_model_free(m);
    sl_ckpt_loaded_clear(&texts);
    sl_ckpt_st_close(f);
    return st;
}
