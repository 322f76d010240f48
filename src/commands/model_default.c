/* model_default - the model that is used where none is named.
 *
 *     runs/best.safetensors                    in the current folder: the best model of a study
 *     share/symlaw/models/small.safetensors    shipped with the program: share.c
 *
 * The first file that exists is used. If it is damaged, that is an error: using a worse model
 * without notice would be worse. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands_impl.h"

static const char study_best[] = "runs/best.safetensors";
static const char shipped[] = "models/small.safetensors";

/* ---------------------------------------------------------------- the search ---------------- */

sl_status sl_commands__model_search(sl_str *found, sl_str *looked, const char *folder,
                                    const char *data_folder) {
    const bool there = sl_commands__file_try(found, looked, study_best) ||
                       sl_commands__share_search(found, looked, folder, data_folder, shipped);
    SL_TRY(sl_str_status(looked));
    SL_TRY(sl_str_status(found));
    if (there) return SL_OK;
    return sl_fail(
        SL_EINVAL,
        "no model: --model and the variable SYMLAW_MODEL name none, and there is no file "
        "%.700s; symlaw train --size micro --steps 2000 --out runs/small makes one in "
        "minutes",
        sl_str_text(looked));
}

sl_status sl_commands_model_default(sl_str *found) {
    char folder[PATH_MAX];
    sl_str looked = { 0 };
    const bool known = sl_commands__code_folder(folder);
    sl_status st =
        sl_commands__model_search(found, &looked, known ? folder : NULL, sl_commands__data_folder);
    sl_str_clear(&looked);
    return st;
}

sl_status sl_commands_with_default(sl_status st) {
    if (st != SL_EINVAL && st != SL_EFORMAT && st != SL_EIO) return st;
    return sl_fail(
        st, "%.800s; it is the default model: --model or the variable SYMLAW_MODEL names another",
        sl_last_error());
}

/* ---------------------------------------------------------------- of a command -------------- */

/* The model becomes the value of --model, so that the result records it. */
static sl_status take_path(const char **model, sl_commands_run *run, const char *what,
                           const char *path) {
    const size_t n = strlen(path) + 1;
    SL_TRY(sl_commands__file_check(run, what, path, SL_PATH_FILE_INPUT));
    char *copy = sl_arena_alloc(&run->arena, n);
    if (!copy) return sl_fail_memory(n, 1, "the name of a model");
    *model = memcpy(copy, path, n);
    return SL_OK;
}

static sl_status take_default(const char **model, sl_commands_run *run) {
    sl_str path = { 0 };
    sl_status st = sl_commands_model_default(&path);
    if (st == SL_OK) st = take_path(model, run, "the default model", path.text);
    sl_str_clear(&path);
    run->model_is_default = st == SL_OK;
    return st;
}

sl_status sl_commands__model_named(const char **model, sl_commands_run *run) {
    const char *named = getenv("SYMLAW_MODEL");
    if (*model && !**model)
        return sl_fail(SL_EINVAL, "--model is empty: it takes a run's folder or a file of weights");
    if (*model) return SL_OK;
    return named && *named ? take_path(model, run, "SYMLAW_MODEL", named)
                           : take_default(model, run);
}

sl_status sl_commands__model_open(sl_infer **out, const sl_commands_run *run, const char *path) {
    const sl_status st = sl_infer_open(out, path);
    return run->model_is_default ? sl_commands_with_default(st) : st;
}
