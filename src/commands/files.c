/* files - the files that a call names: no output may be an input or another output.
 *
 * Output replaces a file, or is appended to it, after the inputs were read: an output that is an
 * input would destroy the user's data. One file can have several names, so files are compared by
 * identity:
 *
 *   existing          device and inode, through symbolic and hard links; "-" as an input is
 *                     standard input
 *   new               the folder, by device and inode, and the name in it
 *   a run's folder    as an input it means the files of the run in it. Other files may be written
 *                     there, such as the evaluation of its model
 *   a device, a pipe  never conflicts: /dev/null may be given twice
 *
 * The tables of options say which options name files and which of them are written. */
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

/* One file of a call. */
typedef struct named {
    char what[80]; // in messages: "--out"
    const char *path;
    sl_option_path use;
} named;

/* What it is. */
typedef struct identity {
    bool there, place; // it exists; its folder exists; neither: opening it will fail
    struct stat s;     // of the file, or of the folder that it would be in
    const char *name;  // in that folder
} identity;

static bool is_folder(const named *n) {
    return n->use == SL_PATH_FOLDER_INPUT || n->use == SL_PATH_FOLDER_IN_PLACE;
}

static bool is_written(const named *n) {
    return n->use != SL_PATH_FILE_INPUT && n->use != SL_PATH_FOLDER_INPUT;
}

static bool is_standard(const named *n) { return !is_folder(n) && strcmp(n->path, "-") == 0; }

static identity identify(const named *n) {
    identity id = { 0 };
    char folder[PATH_MAX];
    if (is_standard(n)) {
        id.there = !is_written(n) && fstat(STDIN_FILENO, &id.s) == 0;
        return id;
    }
    if (stat(n->path, &id.s) == 0) {
        id.there = true;
        return id;
    }
    const char *slash = strrchr(n->path, '/');
    const size_t length = slash ? (size_t)(slash - n->path) + 1 : 0; // with the slash: "/" is one
    if (length >= sizeof folder) return id;
    memcpy(folder, slash ? n->path : ".", slash ? length : 1);
    folder[slash ? length : 1] = '\0';
    id.name = slash ? slash + 1 : n->path;
    id.place = *id.name && stat(folder, &id.s) == 0;
    return id;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Can writing there destroy data? A folder as the value of a file option is refused when it is
 * opened. */
static bool is_at_stake(const named *n, const identity *id) {
    if (!id->there) return id->place;
    return S_ISREG(id->s.st_mode) || (is_folder(n) && S_ISDIR(id->s.st_mode));
}

static bool is_of_run(const char *name) {
    return strcmp(name, "run.json") == 0 || strcmp(name, "log.jsonl") == 0 || sl_ckpt_is_file(name);
}

/* Is `out` a file of the run in the folder? */
static bool is_in_run(const identity *out, const char *path, const struct stat *folder) {
    if (out->place && is_same(&out->s, folder)) return is_of_run(out->name);
    DIR *d = out->there ? opendir(path) : NULL;
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        struct stat s;
        found = is_of_run(e->d_name) && fstatat(dirfd(d), e->d_name, &s, 0) == 0 &&
                is_same(&out->s, &s);
    }
    if (d) closedir(d);
    return found;
}

/* `out` is written; `other` may be too. */
static sl_status compare(const named *out, const named *other) {
    const identity a = identify(out), b = identify(other);
    if (!is_at_stake(out, &a)) return SL_OK;
    bool same = a.there && b.there && is_same(&a.s, &b.s);
    if (a.place && b.place) same = is_same(&a.s, &b.s) && strcmp(a.name, b.name) == 0;
    if (same)
        return sl_fail(SL_EINVAL, "%s and %s are one file, %.300s; give each its own", out->what,
                       other->what, out->path);
    if (b.there && S_ISDIR(b.s.st_mode) && !is_written(other) && is_in_run(&a, other->path, &b.s))
        return sl_fail(SL_EINVAL, "%s is a file of the run that %s names, %.300s; give it another",
                       out->what, other->what, out->path);
    return SL_OK;
}

static sl_status compare_both(const named *a, const named *b) {
    if (is_written(b)) return compare(b, a);
    return is_written(a) ? compare(a, b) : SL_OK;
}

/* The file of option i; false if it has none. */
static bool file_of(named *n, const sl_commands_run *run, int i) {
    const sl_option *o = &run->table->row[i];
    if (o->path == SL_PATH_NONE) return false;
    *n = (named){ .path = *sl_option_texts(run->options, o), .use = o->path };
    sl_snprintf(n->what, sizeof n->what, "--%s", o->name);
    return n->path && *n->path;
}

static sl_status check_before(const sl_commands_run *run, const named *n, int end) {
    named other;
    for (int i = 0; i < end; i++)
        if (file_of(&other, run, i)) SL_TRY(compare_both(&other, n));
    return SL_OK;
}

sl_status sl_commands__files_check(const sl_commands_run *run) {
    named n;
    for (int i = 0; i < run->table->n; i++)
        if (file_of(&n, run, i)) SL_TRY(check_before(run, &n, i));
    return SL_OK;
}

sl_status sl_commands__file_check(const sl_commands_run *run, const char *what, const char *path,
                                  sl_option_path use) {
    named n = { .path = path, .use = use };
    sl_snprintf(n.what, sizeof n.what, "%s", what);
    return check_before(run, &n, run->table->n);
}
