/* model - a trained model as a handle. */
#include <stdlib.h>
#include <string.h>

#include "api/api_impl.h"
#include "report/report.h"

/* path NULL: the default one. */
static sl_status open_file(sl_infer **out, const char *path) {
    const char *named = getenv("SYMLAW_MODEL");
    if (path || (named && *named)) return sl_infer_open(out, path ? path : named);
    sl_str found = { 0 };
    sl_status st = sl_commands_model_default(&found);
    if (st == SL_OK) st = sl_commands_with_default(sl_infer_open(out, found.text));
    sl_str_clear(&found);
    return st;
}

static sl_status open_model(symlaw_model **out, const char *path) {
    if (!out) return sl_fail(SL_EINVAL, "symlaw_model_open: out is NULL");
    symlaw_model *m = sl_calloc(1, sizeof *m);
    if (!m) return sl_fail_memory(1, sizeof *m, "a model");
    sl_status st = open_file(&m->infer, path);
    if (st != SL_OK) {
        symlaw_model_close(m);
        return st;
    }
    *out = m;
    return SL_OK;
}

symlaw_status symlaw_model_open(symlaw_model **out, const char *path) {
    SL_API__PUBLIC(open_model(out, path));
}

void symlaw_model_close(symlaw_model *m) {
    if (!m) return;
    sl_infer_close(m->infer);
    sl_free(m);
}

int symlaw_model_inputs(const symlaw_model *m) {
    return m ? sl_infer_about(m->infer)->variables : 0;
}

static sl_status about(char **json, const symlaw_model *m) {
    if (!json || !m) return sl_fail(SL_EINVAL, "symlaw_model_about: json or model is NULL");
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    sl_report_model_json(&s, m->infer);
    sl_str_add(&s, ",\"config\":"); // an object as it stands in the checkpoint
    sl_str_add(&s, sl_infer_about(m->infer)->config);
    sl_io_json_close(&s, '}');
    sl_status st = sl_str_status(&s);
    if (st == SL_OK)
        *json = s.text;
    else
        sl_str_clear(&s);
    return st;
}

symlaw_status symlaw_model_about(char **json, const symlaw_model *m) {
    SL_API__PUBLIC(about(json, m));
}
