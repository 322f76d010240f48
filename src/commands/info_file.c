/* info_file - the contents of a weights file, the progress of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

/* ---------------------------------------------------------------- a file -------------------- */

/* *out stays NULL where the text is no configuration: other programs' files may use the name for
 * something else. */
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
    if (ours) SL_GO(sl_ckpt_st_finite(f)); // in other files a NaN may be intended
    const bool hashed = sl_ckpt_st_metadata(f, "data_hash") != NULL;
    const char *text = sl_ckpt_st_metadata(f, "config");
    if (text && *text) SL_GO(read_config(&config, text));
    int format;
    if (config && ours) SL_GO(sl_ckpt_config_format(&format, config, path));
    const sl_report_weights w = { .path = path,
                                  .file = f,
                                  .config = config,
                                  .config_text = config ? text : NULL,
                                  .hashed = hashed,
                                  .tensors = tensors };
    sl_report_weights_json(result, &w);
    if (run->common->json) goto done;
    sl_report_weights_table(&run->output, &w);
    st = sl_commands__output(run);
done:
    sl_io_json_free(config);
    sl_ckpt_st_close(f);
    return st;
}

/* ---------------------------------------------------------------- a run --------------------- */

static void take_real(double *out, const sl_json *line, const char *name) {
    const sl_json *j = sl_io_json_get(line, name);
    if (j && (sl_io_json_kind_of(j) == SL_JSON_REAL || sl_io_json_kind_of(j) == SL_JSON_INT))
        *out = sl_io_json_real(j);
}

static void take_line(sl_report_progress *r, const sl_json *line) {
    if (sl_io_json_kind_of(line) != SL_JSON_OBJECT) return;
    const sl_json *event = sl_io_json_get(line, "event");
    const bool text = event && sl_io_json_kind_of(event) == SL_JSON_TEXT;
    if (text && strcmp(sl_io_json_text(event), "step") == 0) {
        r->step = sl_io_json_get_int(line, "step", 0);
        take_real(&r->loss, line, "loss");
        take_real(&r->seconds, line, "seconds");
    } else if (text && strcmp(sl_io_json_text(event), "valid") == 0) {
        take_real(&r->loss_valid, line, "loss");
    }
}

/* The last line of each kind. A run may be writing the log: a line that is cut off is no error. */
static sl_status read_log(sl_report_progress *out, const char *path) {
    enum { LONGEST = 1 << 20 };
    sl_lines *lines = NULL;
    sl_status st;
    if (access(path, F_OK) != 0) return SL_OK;
    SL_GO(sl_io_lines_open_own(&lines, path, LONGEST));
    for (;;) {
        const char *line;
        size_t n;
        sl_json *j = NULL;
        st = sl_io_lines_next(&line, &n, lines);
        if (st == SL_ELIMIT) continue; // not a line of a log
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
    char *warning = NULL;
    sl_report_progress r = {
        .dir = dir, .step = -1, .saved = -1, .loss = NAN, .loss_valid = NAN, .seconds = NAN
    };
    SL_GO(sl_commands__run_read(&config, &text, dir));
    if (!config) SL_GO(sl_fail(SL_EINVAL, "%.300s holds no run: it has no run.json", dir));
    sl_str_addf(&log, "%s/log.jsonl", dir);
    SL_GO(sl_str_status(&log));
    SL_GO(read_log(&r, log.text));
    r.steps = steps_of(config);
    r.config = config;
    r.config_text = text;
    if (sl_ckpt_newest(dir) >= 0) SL_GO(sl_ckpt_look(&r.saved, &warning, dir));
    r.warning = warning;
    sl_report_progress_json(result, &r);
    if (run->common->json) goto done;
    sl_report_progress_table(&run->output, &r);
    st = sl_commands__output(run);
done:
    sl_free(warning);
    sl_str_clear(&log);
    sl_io_json_free(config);
    sl_free(text);
    return st;
}
