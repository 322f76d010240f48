/* trained - a model for use as a handle, and what it says of itself. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

/* path NULL: the default one. */
static sl_status open_file(sl_infer **out, const char *path) {
    const char *named = getenv("SYMLAW_MODEL");
    if (path || (named && *named)) return sl_infer_open(out, path ? path : named);
    sl_str found = { 0 };
    sl_status st = sl_commands__model_default(&found);
    if (st == SL_OK) st = sl_commands__with_default(sl_infer_open(out, found.text));
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

/* ---------------------------------------------------------------- for commands -------------- */

/* The model becomes the value of --model, so that the result records it. */
static sl_status take_path(const char **model, sl_commands__run *run, const char *what,
                           const char *path) {
    const size_t n = strlen(path) + 1;
    SL_TRY(sl_commands__file_check(run, what, path, SL_PATH_FILE_INPUT));
    char *copy = sl_arena_alloc(&run->arena, n);
    if (!copy) return sl_fail_memory(n, 1, "the name of a model");
    *model = memcpy(copy, path, n);
    return SL_OK;
}

static sl_status take_default(const char **model, sl_commands__run *run) {
    sl_str path = { 0 };
    sl_status st = sl_commands__model_default(&path);
    if (st == SL_OK) st = take_path(model, run, "the default model", path.text);
    sl_str_clear(&path);
    run->model_is_default = st == SL_OK;
    return st;
}

sl_status sl_commands__model_named(const char **model, sl_commands__run *run) {
    const char *named = getenv("SYMLAW_MODEL");
    if (*model && !**model)
        return sl_fail(SL_EINVAL, "--model is empty: it takes a run's folder or a file of weights");
    if (*model) return SL_OK;
    return named && *named ? take_path(model, run, "SYMLAW_MODEL", named)
                           : take_default(model, run);
}

sl_status sl_commands__model_open(sl_infer **out, const sl_commands__run *run, const char *path) {
    const sl_status st = sl_infer_open(out, path);
    return run->model_is_default ? sl_commands__with_default(st) : st;
}
