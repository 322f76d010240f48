/* share - files that are installed with the program: share/symlaw/NAME.
 *
 * They are searched for in the folder of the program or shared library that has this code, and in
 * the two folders above. So an installed tree may be moved, and a build folder, which has links
 * share/symlaw/NAME to the source, needs no rule of its own. The last place is the folder that the
 * build was configured to install to. The program has no other path of the machine that built
 * it. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "commands/commands_impl.h"

const char sl_commands__data_folder[] = SL_DATA_FOLDER;

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

bool sl_commands__file_try(sl_str *found, sl_str *looked, const char *path) {
    if (access(path, F_OK) == 0) {
        sl_str_add(found, path);
        return true;
    }
    sl_str_addf(looked, "%s%s", looked->len > 0 ? ", " : "", path);
    return false;
}

bool sl_commands__share_search(sl_str *found, sl_str *looked, const char *folder,
                               const char *data_folder, const char *name) {
    enum { FOLDERS = 3, ROOM = PATH_MAX + 300 };
    char from[PATH_MAX], path[ROOM], installed[ROOM];
    sl_snprintf(installed, sizeof installed, "%s/symlaw/%.200s", data_folder, name);
    bool more = folder != NULL;
    if (more) sl_snprintf(from, sizeof from, "%s", folder);
    for (int i = 0; i < FOLDERS && more; i++, more = to_parent(from)) {
        sl_snprintf(path, sizeof path, "%s/share/symlaw/%.200s", from, name);
        if (strcmp(path, installed) != 0 && sl_commands__file_try(found, looked, path)) return true;
    }
    return sl_commands__file_try(found, looked, installed);
}

sl_status sl_commands_share_find(sl_str *found, const char *name) {
    char folder[PATH_MAX];
    sl_str looked = { 0 };
    const bool known = sl_commands__code_folder(folder);
    const bool there = sl_commands__share_search(found, &looked, known ? folder : NULL,
                                                 sl_commands__data_folder, name);
    sl_status st = sl_str_status(&looked);
    if (st == SL_OK) st = sl_str_status(found);
    if (st == SL_OK && !there)
        st = sl_fail(SL_EINVAL, "%.100s is not installed: there is no %.700s", name,
                     sl_str_text(&looked));
    sl_str_clear(&looked);
    return st;
}
