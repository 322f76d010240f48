/* model_default - the model that is used where none is named.
 *
 *     runs/best.safetensors                    in the current folder: the best model of a study
 *     share/symlaw/models/small.safetensors    shipped with the program
 *
 * The second is searched for in the folder of the program or shared library that has this code, and
 * in the two folders above. So an installed tree may be moved, and a build folder, which has a link
 * share/symlaw/models to the source, needs no rule of its own. The last place is the folder that
 * the build was configured to install to. The program has no other path of the machine that built
 * it.
 *
 * The first file that exists is used. If it is damaged, that is an error: using a worse model
 * without notice would be worse. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "commands/commands_impl.h"

#define SHIPPED "symlaw/models/small.safetensors"
static const char study_best[] = "runs/best.safetensors";

/* ---------------------------------------------------------------- where this code is -------- */

static const char here; // an address of this program or library

/* dladdr gives argv[0] for a program, which need not be a path; /proc has the path. */
static bool is_in_program(const Dl_info *of) {
    Dl_info program;
    const uintptr_t headers = (uintptr_t)getauxval(AT_PHDR);
    return headers != 0 && dladdr((const void *)headers, &program) != 0 &&
           program.dli_fbase == of->dli_fbase;
}

/* Cuts the last part off; false where there is none. */
static bool to_parent(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash || !*path) return false;
    *slash = '\0';
    return true;
}

bool sl_commands__code_folder(char folder[PATH_MAX]) {
    Dl_info of;
    if (dladdr(&here, &of) == 0) return false;
    const char *file = is_in_program(&of) ? "/proc/self/exe" : of.dli_fname;
    return file && realpath(file, folder) && to_parent(folder);
}

/* ---------------------------------------------------------------- the search ---------------- */

typedef struct search {
    sl_str *found, *looked;
} search;

/* True ends the search: the file is there. */
static bool try_file(search *s, const char *path) {
    if (access(path, F_OK) == 0) {
        sl_str_add(s->found, path);
        return true;
    }
    sl_str_addf(s->looked, "%s%s", s->looked->len > 0 ? ", " : "", path);
    return false;
}

/* In a folder and the two above it; *folder is used up. */
static bool try_above(search *s, char *folder, const char *installed) {
    enum { FOLDERS = 3 };
    char path[PATH_MAX + sizeof "/share/" SHIPPED];
    bool more = true;
    for (int i = 0; i < FOLDERS && more; i++, more = to_parent(folder)) {
        sl_snprintf(path, sizeof path, "%s/share/" SHIPPED, folder);
        if (strcmp(path, installed) != 0 && try_file(s, path)) return true;
    }
    return false;
}

sl_status sl_commands__model_search(sl_str *found, sl_str *looked, const char *folder,
                                    const char *data_folder) {
    search s = { found, looked };
    char from[PATH_MAX], installed[PATH_MAX + sizeof "/" SHIPPED];
    sl_snprintf(installed, sizeof installed, "%s/" SHIPPED, data_folder);
    if (folder) sl_snprintf(from, sizeof from, "%s", folder);
    const bool there = try_file(&s, study_best) || (folder && try_above(&s, from, installed)) ||
                       try_file(&s, installed);
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
    sl_status st = sl_commands__model_search(found, &looked, known ? folder : NULL, SL_DATA_FOLDER);
    sl_str_clear(&looked);
    return st;
}

sl_status sl_commands_with_default(sl_status st) {
    if (st != SL_EINVAL && st != SL_EFORMAT && st != SL_EIO) return st;
    char line[800];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    return sl_fail(
        st, "%s; it is the default model: --model or the variable SYMLAW_MODEL names another",
        line);
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
