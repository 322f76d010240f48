/* info_file - what a weights file holds, and how far a run is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

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

// what the metadata say of a file      member       what people call it
#define TEXTS(X)                \
    X("kind", "kind")           \
    X("step", "step")           \
    X("revision", "revision")   \
    X("level", "CPU")           \
    X("libraries", "libraries") \
    X("universe", "set hash")   \
    X("vocabulary", "vocabulary")

/* A text that may be missing or empty in files of others. */
static const char *text_of(const sl_st_file *f, const char *name) {
    const char *text = sl_ckpt_st_metadata(f, name);
    return text && *text ? text : NULL;
}

static void add_configuration(sl_str *s, const char *config) {
    sl_str_add(s, ",\"configuration\":"); // it is JSON already
    sl_str_add(s, config);
}

static void add_file_json(sl_str *s, const sl_st_file *f, const char *path, const char *config,
                          bool hashed) {
    sl_io_json_add_text(s, "file", path);
    sl_io_json_add_int(s, "parameters", numbers_of(f));
    sl_io_json_add_int(s, "tensor_count", sl_ckpt_st_count(f));
    sl_io_json_add_bool(s, "hashed",
                        hashed); // and the hash was found right, else nobody reads this
#define X(member, name) sl_io_json_add_text(s, member, text_of(f, member));
    TEXTS(X)
#undef X
    if (config) add_configuration(s, config);
}

static void add_file_table(sl_str *s, const sl_st_file *f, const char *path, const sl_json *config,
                           bool hashed) {
    char a[32];
    sl_report_line(s, "file", "%s", path);
    sl_report_line(s, "parameters", "%s in %d tensors", sl_group_digits(a, numbers_of(f)),
                   sl_ckpt_st_count(f));
    add_model_line(s, config);
#define X(member, name) \
    if (text_of(f, member)) sl_report_line(s, name, "%s", text_of(f, member));
    TEXTS(X)
#undef X
    sl_report_line(s, "integrity", "%s", hashed ? "checksum verified" : "unknown: no checksum");
}

/* *out stays NULL where the text is no configuration: a file of others may call anything so. */
static sl_status read_config(sl_json **out, const char *text) {
    const sl_status st = sl_io_json_parse(out, text, strlen(text));
    if (st == SL_OK && sl_io_json_kind_of(*out) != SL_JSON_OBJECT) {
        sl_io_json_free(*out);
        *out = NULL;
    }
    return st == SL_EFORMAT ? SL_OK : st;
}

sl_status sl_commands__info_model(sl_commands_run *run, const char *path, bool tensors,
                                  sl_str *result) {
    sl_status st;
    sl_st_file *f = NULL;
    sl_json *config = NULL;
    SL_GO(sl_ckpt_st_open(&f, path));
    SL_GO(sl_ckpt_st_verify(f));
    const bool ours = sl_ckpt_st_metadata(f, "symlaw_format") != NULL;
    if (ours) SL_GO(sl_ckpt_st_finite(f)); // others may have reasons of their own
    const bool hashed = sl_ckpt_st_metadata(f, "data_hash") != NULL;
    const char *text = text_of(f, "config");
    if (text) SL_GO(read_config(&config, text));
    int format;
    if (config && ours) SL_GO(sl_ckpt_config_format(&format, config, path));
    if (!config) text = NULL;
    add_file_json(result, f, path, text, hashed);
    if (tensors) add_tensors_json(result, f);
    if (run->common->json) goto done;
    add_file_table(&run->output, f, path, config, hashed);
    if (tensors) add_tensors_table(&run->output, f);
    st = sl_commands__output(run);
done:
    sl_io_json_free(config);
    sl_ckpt_st_close(f);
    return st;
}

/* ---------------------------------------------------------------- a run --------------------- */

/* The last line of each kind that the log has. */
typedef struct figures {
    int64_t step; // -1: none
    double loss, loss_valid, seconds;
} figures;

static void take_real(double *out, const sl_json *line, const char *name) {
    const sl_json *j = sl_io_json_get(line, name);
    if (j && (sl_io_json_kind_of(j) == SL_JSON_REAL || sl_io_json_kind_of(j) == SL_JSON_INT))
        *out = sl_io_json_real(j);
}

static void take_line(figures *f, const sl_json *line) {
    if (sl_io_json_kind_of(line) != SL_JSON_OBJECT) return;
    const sl_json *event = sl_io_json_get(line, "event");
    const bool text = event && sl_io_json_kind_of(event) == SL_JSON_TEXT;
    if (text && strcmp(sl_io_json_text(event), "step") == 0) {
        f->step = sl_io_json_get_int(line, "step", 0);
        take_real(&f->loss, line, "loss");
        take_real(&f->seconds, line, "seconds");
    } else if (text && strcmp(sl_io_json_text(event), "valid") == 0) {
        take_real(&f->loss_valid, line, "loss");
    }
}

/* The log is read while a run may be writing it: a line that is cut off is no error. */
static sl_status read_log(figures *out, const char *path) {
    enum { LONGEST = 1 << 20 };
    sl_lines *lines = NULL;
    sl_status st;
    *out = (figures){ -1, NAN, NAN, NAN };
    if (access(path, F_OK) != 0) return SL_OK;
    SL_GO(sl_io_lines_open_own(&lines, path, LONGEST));
    for (;;) {
        const char *line;
        size_t n;
        sl_json *j = NULL;
        st = sl_io_lines_next(&line, &n, lines);
        if (st == SL_ELIMIT) continue; // no line of ours
        if (st != SL_OK || !line) break;
        st = sl_io_json_parse_line(&j, line, n);
        if (st == SL_ENOMEM) goto done;
        if (st == SL_OK) take_line(out, j);
        sl_io_json_free(j);
    }
done:
    sl_io_lines_close(lines);
    return st;
}

/* With the command, as it can be typed. */
static void add_go_on(sl_str *s, const char *dir, int64_t saved) {
    sl_str word = { 0 };
    sl_str_add_word(&word, dir);
    const bool whole = sl_str_status(&word) == SL_OK;
    sl_report_line(s, "saved", "step %lld; continue with: symlaw train --resume --out %s",
                   (long long)saved, whole ? word.text : dir);
    sl_str_clear(&word);
}

/* What the files of a folder say of its run. */
typedef struct state {
    figures log;
    int64_t steps; // of the whole run; 0: not known
    int64_t saved; // step of the newest checkpoint that is whole; -1: none
    char *warning; // NULL, or why a newer one is not
} state;

static void add_run_table(sl_str *s, const char *dir, const sl_json *config, const state *r) {
    const figures *f = &r->log;
    const int64_t saved = r->saved;
    char steps[32] = "an unknown number";
    if (r->steps > 0) sl_snprintf(steps, sizeof steps, "%lld", (long long)r->steps);
    sl_report_line(s, "run", "%s", dir);
    add_model_line(s, config);
    if (f->step >= 0)
        sl_report_line(s, "step", "%lld of %s, after %.0f s", (long long)f->step, steps,
                       f->seconds);
    else if (saved < 0)
        sl_report_line(s, "step", "0 of %s", steps);
    else
        sl_report_line(s, "step", "%lld of %s; the log is missing", (long long)saved, steps);
    if (!isnan(f->loss)) sl_report_line(s, "loss", "%.4f nats per token", f->loss);
    if (!isnan(f->loss_valid))
        sl_report_line(s, "validation", "%.4f nats per token", f->loss_valid);
    if (saved < 0)
        sl_report_line(s, "saved", "nothing yet");
    else if (saved < r->steps || r->steps == 0)
        add_go_on(s, dir, saved);
    else
        sl_report_line(s, "saved", "step %lld: finished", (long long)saved);
    if (r->warning) sl_report_line(s, "damaged", "%s", r->warning);
}

static void add_run_json(sl_str *s, const char *dir, const char *config, const state *r) {
    const figures *f = &r->log;
    const int64_t saved = r->saved;
    sl_io_json_add_text(s, "run", dir);
    sl_io_json_add_int(s, "step", f->step >= 0 ? f->step : SL_MAX(saved, 0));
    sl_io_json_add_int(s, "steps", r->steps);
    SL_JSON_FIELDS(s, f, loss, loss_valid);
    sl_io_json_add_real(s, "training_seconds", f->seconds);
    if (saved >= 0)
        sl_io_json_add_int(s, "saved", saved);
    else
        sl_io_json_add_null(s, "saved");
    sl_io_json_add_text(s, "warning", r->warning); // null: none
    sl_io_json_add_bool(s, "finished", r->steps > 0 && saved == r->steps);
    add_configuration(s, config);
}

/* By what train/ has added to the configuration, or by the option. */
static int64_t steps_of(const sl_json *config) {
    const sl_json *made = sl_io_json_get(config, "run");
    const bool known = made && sl_io_json_kind_of(made) == SL_JSON_OBJECT;
    const int64_t steps = known ? sl_io_json_get_int(made, "steps", 0) : 0;
    return steps > 0 ? steps : sl_io_json_get_int(config, "steps", 0);
}

sl_status sl_commands__info_run(sl_commands_run *run, const char *dir, sl_str *result) {
    sl_status st;
    sl_json *config = NULL;
    char *text = NULL;
    sl_str log = { 0 };
    state r = { .saved = -1 };
    SL_GO(sl_commands__run_read(&config, &text, dir));
    if (!config) SL_GO(sl_fail(SL_EINVAL, "%.300s holds no run: it has no run.json", dir));
    sl_str_addf(&log, "%s/log.jsonl", dir);
    SL_GO(sl_str_status(&log));
    SL_GO(read_log(&r.log, log.text));
    r.steps = steps_of(config);
    if (sl_ckpt_newest(dir) >= 0) SL_GO(sl_ckpt_look(&r.saved, &r.warning, dir));
    add_run_json(result, dir, text, &r);
    if (run->common->json) goto done;
    add_run_table(&run->output, dir, config, &r);
    st = sl_commands__output(run);
done:
    sl_free(r.warning);
    sl_str_clear(&log);
    sl_io_json_free(config);
    sl_free(text);
    return st;
}
