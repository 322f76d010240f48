/* weights - the contents of a weights file, the progress of a run. */
#include <math.h>

#include "report/report_impl.h"

/* ---------------------------------------------------------------- a file -------------------- */

static int64_t numbers_of(const sl_st_file *f) {
    int64_t sum = 0;
    for (int i = 0; i < sl_ckpt_st_count(f); i++) {
        const sl_st_tensor *t = sl_ckpt_st_at(f, i);
        int64_t n = 1;
        for (int d = 0; d < t->dims; d++) n *= t->shape[d];
        sum += n;
    }
    return sum;
}

static void add_tensors_json(sl_str *s, const sl_st_file *f) {
    sl_io_json_open(s, "tensors", '[');
    for (int i = 0; i < sl_ckpt_st_count(f); i++) {
        const sl_st_tensor *t = sl_ckpt_st_at(f, i);
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "name", t->name);
        sl_io_json_open(s, "shape", '[');
        for (int d = 0; d < t->dims; d++) sl_io_json_add_int(s, NULL, t->shape[d]);
        sl_io_json_close(s, ']');
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
}

static void add_tensors_table(sl_str *s, const sl_st_file *f) {
    sl_str_add(s, "\ntensors\n");
    for (int i = 0; i < sl_ckpt_st_count(f); i++) {
        const sl_st_tensor *t = sl_ckpt_st_at(f, i);
        sl_str_addf(s, "  %-44s ", t->name);
        for (int d = 0; d < t->dims; d++)
            sl_str_addf(s, "%s%lld", d > 0 ? " x " : "", (long long)t->shape[d]);
        sl_str_add_char(s, '\n');
    }
}

static void add_model_line(sl_str *s, const sl_json *config) {
    if (sl_io_json_get_int(config, "width", 0) == 0) return;
    const int64_t layers = sl_io_json_get_int(config, "layers", 0);
    const char *name = sl_model_size_of(sl_io_json_get_int(config, "width", 0), layers);
    sl_report_line(s, "model", "width %lld, %lld layer%s%s%s",
                   (long long)sl_io_json_get_int(config, "width", 0), (long long)layers,
                   layers == 1 ? "" : "s", name ? ", size " : "", name ? name : "");
}

// members of the metadata      member       name in the table
#define TEXTS(X)                \
    X("kind", "kind")           \
    X("step", "step")           \
    X("revision", "revision")   \
    X("level", "CPU")           \
    X("libraries", "libraries") \
    X("universe", "set hash")   \
    X("vocabulary", "vocabulary")

/* A text that may be missing or empty in files of other programs. */
static const char *text_of(const sl_st_file *f, const char *name) {
    const char *text = sl_ckpt_st_metadata(f, name);
    return text && *text ? text : NULL;
}

static void add_configuration(sl_str *s, const char *config) {
    sl_str_add(s, ",\"configuration\":"); // it is JSON already
    sl_str_add(s, config);
}

void sl_report_weights_json(sl_str *s, const sl_report_weights *w) {
    sl_io_json_add_text(s, "file", w->path);
    sl_io_json_add_int(s, "parameters", numbers_of(w->file));
    sl_io_json_add_int(s, "tensor_count", sl_ckpt_st_count(w->file));
    sl_io_json_add_bool(s, "hashed", w->hashed);
#define X(member, name) sl_io_json_add_text(s, member, text_of(w->file, member));
    TEXTS(X)
#undef X
    if (w->config_text) add_configuration(s, w->config_text);
    if (w->tensors) add_tensors_json(s, w->file);
}

void sl_report_weights_table(sl_str *s, const sl_report_weights *w) {
    char a[32];
    sl_report_line(s, "file", "%s", w->path);
    sl_report_line(s, "parameters", "%s in %d tensors", sl_group_digits(a, numbers_of(w->file)),
                   sl_ckpt_st_count(w->file));
    add_model_line(s, w->config);
#define X(member, name) \
    if (text_of(w->file, member)) sl_report_line(s, name, "%s", text_of(w->file, member));
    TEXTS(X)
#undef X
    sl_report_line(s, "integrity", "%s", w->hashed ? "checksum verified" : "unknown: no checksum");
    if (w->tensors) add_tensors_table(s, w->file);
}

/* ---------------------------------------------------------------- a run --------------------- */

/* With the command that continues the run, quoted for a shell. */
static void add_saved(sl_str *s, const char *dir, int64_t saved) {
    sl_str word = { 0 };
    sl_str_add_word(&word, dir);
    const bool whole = sl_str_status(&word) == SL_OK;
    sl_report_line(s, "saved", "step %lld; continue with: symlaw train --resume --out %s",
                   (long long)saved, whole ? word.text : dir);
    sl_str_clear(&word);
}

void sl_report_progress_table(sl_str *s, const sl_report_progress *r) {
    const int64_t saved = r->saved;
    char steps[32] = "an unknown number";
    if (r->steps > 0) sl_snprintf(steps, sizeof steps, "%lld", (long long)r->steps);
    sl_report_line(s, "run", "%s", r->dir);
    add_model_line(s, r->config);
    if (r->step >= 0)
        sl_report_line(s, "step", "%lld of %s, after %.0f s", (long long)r->step, steps,
                       r->seconds);
    else if (saved < 0)
        sl_report_line(s, "step", "0 of %s", steps);
    else
        sl_report_line(s, "step", "%lld of %s; the log is missing", (long long)saved, steps);
    if (!isnan(r->loss)) sl_report_line(s, "loss", "%.4f nats per token", r->loss);
    if (!isnan(r->loss_valid))
        sl_report_line(s, "validation", "%.4f nats per token", r->loss_valid);
    if (saved < 0)
        sl_report_line(s, "saved", "nothing yet");
    else if (saved < r->steps || r->steps == 0)
        add_saved(s, r->dir, saved);
    else
        sl_report_line(s, "saved", "step %lld: finished", (long long)saved);
    if (r->warning) sl_report_line(s, "damaged", "%s", r->warning);
}

void sl_report_progress_json(sl_str *s, const sl_report_progress *r) {
    const int64_t saved = r->saved;
    sl_io_json_add_text(s, "run", r->dir);
    sl_io_json_add_int(s, "step", r->step >= 0 ? r->step : SL_MAX(saved, 0));
    SL_JSON_FIELDS(s, r, steps, loss, loss_valid);
    sl_io_json_add_real(s, "training_seconds", r->seconds);
    if (saved >= 0)
        sl_io_json_add_int(s, "saved", saved);
    else
        sl_io_json_add_null(s, "saved");
    sl_io_json_add_text(s, "warning", r->warning); // null: none
    sl_io_json_add_bool(s, "finished", r->steps > 0 && saved == r->steps);
    add_configuration(s, r->config_text);
}
