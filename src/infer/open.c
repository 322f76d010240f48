/* open - a model for use: from a checkpoint, or made here. */
#include <string.h>
#include <sys/stat.h>

#include "infer/infer_impl.h"

static sl_status hash_weights(char out[33], const float *weights, int64_t n) {
    sl_hasher *h;
    SL_TRY(sl_hasher_new(&h));
    sl_hasher_add(h, weights, (size_t)n * sizeof *weights);
    sl_hasher_text(h, out);
    sl_hasher_free(h);
    return SL_OK;
}

static sl_status finish(sl_infer *m) {
    SL_TRY(sl_nn_prepare(1)); // the encoder's products
    SL_TRY(sl_model_decoder_new(&m->decoder, m->model, m->weights));
    SL_TRY(hash_weights(m->hash, m->weights, m->model->block));
    m->info.model = m->model;
    m->info.weights = m->weights;
    m->info.variables = (int)m->model->options.columns - 1;
    m->info.hash = m->hash;
    return SL_OK;
}

/* What a configuration says of data, in numbers. An older one may lack an option; `today` is its
 * default, unless the format says otherwise. */
static double number_of(sl_infer *m, const sl_json *config, int format, const char *name,
                        double today) {
    const sl_json *j = sl_io_json_get(config, name);
    if (j && (sl_io_json_kind_of(j) == SL_JSON_INT || sl_io_json_kind_of(j) == SL_JSON_REAL))
        return sl_io_json_real(j);
    const sl_ckpt_older *then = sl_ckpt_older_default(name, format);
    const double value = then ? then->value : today;
    sl_ckpt_missing_add(&m->missing, name, value);
    return value;
}

/* What the run's configuration says about data. */
static sl_status take_config(sl_infer *m, const char *path) {
    sl_json *config;
    int format;
    const char *text = m->loaded.config;
    SL_TRY(sl_io_json_parse(&config, text, strlen(text)));
    m->info.config = text;
    m->info.step = m->loaded.step;
    m->info.warning = m->loaded.warning;
    if (m->loaded.missing) sl_str_add(&m->missing, m->loaded.missing);
    sl_status st = sl_ckpt_config_format(&format, config, path);
    double points = 0;
    if (st == SL_OK) {
        points = number_of(m, config, format, "points", SL_INFER_POINTS);
        m->info.drop_column = number_of(m, config, format, "drop-column", SL_INFER_DROP_COLUMN);
        st = sl_str_status(&m->missing);
    }
    sl_io_json_free(config);
    SL_TRY(st);
    m->info.missing = m->missing.text;
    if (!(points >= 1 && points <= 1e6))
        return sl_fail(SL_EFORMAT, "%s: its configuration says %g points", path, points);
    m->info.points = (int)points;
    return SL_OK;
}

static sl_status check_vocabulary(const sl_infer *m, const char *path) {
    char ours[33];
    const int variables = (int)m->model->options.columns - 1;
    if (variables < 1 || variables > SL_TOKEN_VARIABLES)
        return sl_fail(SL_EFORMAT, "%s: it was trained on %d variables; 1 to %d can be written",
                       path, variables, SL_TOKEN_VARIABLES);
    sl_token_vocabulary_hash(ours);
    if (m->model->options.vocabulary != SL_TOKEN_COUNT ||
        (m->loaded.vocabulary[0] && strcmp(m->loaded.vocabulary, ours) != 0))
        return sl_fail(SL_EFORMAT, "%s: it was trained with another vocabulary", path);
    return SL_OK;
}

static sl_status open_file(sl_infer *m, const char *path) {
    SL_TRY(sl_ckpt_open_model(&m->model, &m->weights, &m->loaded, path));
    return check_vocabulary(m, path);
}

static void forget(sl_infer *m) {
    sl_free(m->weights);
    sl_model_free(m->model);
    sl_ckpt_loaded_clear(&m->loaded);
    m->weights = NULL;
    m->model = NULL;
}

static sl_status set_path(sl_infer *m, const char *path) {
    const size_t n = strlen(path) + 1;
    m->path = sl_malloc(n, 1);
    if (!m->path) return sl_fail_memory(n, 1, "a path");
    memcpy(m->path, path, n);
    m->info.path = m->path;
    return SL_OK;
}

static sl_status warn(sl_infer *m, const char *reason) {
    const size_t n = strlen(reason) + 64;
    char *text = sl_malloc(n, 1);
    if (!text) return sl_fail_memory(n, 1, "a warning");
    sl_snprintf(text, n, "%s; step %lld is used instead", reason, (long long)m->loaded.step);
    m->loaded.warning = text;
    return SL_OK;
}

/* The newest checkpoint that is whole; the message is about the newest of all. */
static sl_status open_folder(sl_infer *m, const char *dir) {
    char path[4096], reason[512] = "";
    sl_status st = sl_fail(SL_EINVAL, "%s: there is no checkpoint in this folder", dir);
    for (int64_t step = sl_ckpt_newest(dir); step >= 0; step = sl_ckpt_before(dir, step)) {
        sl_ckpt_model_path(path, sizeof path, dir, step);
        st = open_file(m, path);
        if (st == SL_OK && reason[0]) SL_TRY(warn(m, reason));
        if (st == SL_OK) return set_path(m, path);
        forget(m);
        if (st != SL_EFORMAT) return st;
        if (!reason[0]) sl_snprintf(reason, sizeof reason, "%s", sl_last_error());
    }
    return reason[0] ? sl_fail(SL_EFORMAT, "%s", reason) : st;
}

static sl_status open_any(sl_infer *m, const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        SL_TRY(open_folder(m, path));
    } else {
        SL_TRY(open_file(m, path));
        SL_TRY(set_path(m, path));
    }
    SL_TRY(take_config(m, m->path));
    return finish(m);
}

sl_status sl_infer_open(sl_infer **out, const char *path) {
    sl_infer *m = sl_calloc(1, sizeof *m);
    if (!m) return sl_fail_memory(1, sizeof *m, "a model");
    sl_status st = open_any(m, path);
    if (st != SL_OK) {
        sl_infer_close(m);
        return st;
    }
    *out = m;
    return SL_OK;
}

static sl_status make(sl_infer *m, const sl_model_options *o, const float *weights, uint64_t seed) {
    SL_TRY(sl_model_new(&m->model, o));
    const size_t n = (size_t)m->model->block;
    m->weights = sl_malloc_aligned(n, sizeof *m->weights);
    if (!m->weights) return sl_fail_memory(n, sizeof *m->weights, "weights");
    if (weights)
        memcpy(m->weights, weights, n * sizeof *weights);
    else
        sl_model_init(m->weights, m->model, seed);
    return finish(m);
}

sl_status sl_infer_new(sl_infer **out, const sl_model_options *o, const float *weights,
                       uint64_t seed, int points) {
    SL_ASSERT(o->vocabulary == SL_TOKEN_COUNT && points >= 1);
    sl_infer *m = sl_calloc(1, sizeof *m);
    if (!m) return sl_fail_memory(1, sizeof *m, "a model");
    m->info = (sl_infer_info){ .points = points, .path = "", .config = "{}" };
    sl_status st = make(m, o, weights, seed);
    if (st != SL_OK) {
        sl_infer_close(m);
        return st;
    }
    *out = m;
    return SL_OK;
}

void sl_infer_close(sl_infer *m) {
    if (!m) return;
    sl_model_decoder_free(m->decoder);
    forget(m);
    sl_str_clear(&m->missing);
    sl_free(m->path);
    sl_free(m);
}

const sl_infer_info *sl_infer_about(const sl_infer *m) { return &m->info; }
