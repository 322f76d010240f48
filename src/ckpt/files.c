/* files - which files of a folder are checkpoints; removing old ones.
 *
 * A checkpoint is recognised by its exact name: no other file of the folder is touched. Nothing is
 * allocated here, so that removing old checkpoints cannot fail after saving succeeded. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt_impl.h"

enum { NAME_BYTES = 64 };

const char *sl_ckpt__kind_text(sl_ckpt__kind kind) {
    return kind == SL_CKPT__MODEL ? "model" : "state";
}

static void name_of(char name[NAME_BYTES], sl_ckpt__kind kind, int64_t step) {
    sl_snprintf(name, NAME_BYTES, "%s-%08lld.safetensors", sl_ckpt__kind_text(kind),
                (long long)step);
}

sl_status sl_ckpt__path(char **out, const char *dir, sl_ckpt__kind kind, int64_t step) {
    char name[NAME_BYTES];
    name_of(name, kind, step);
    const size_t n = strlen(dir) + strlen(name) + 2;
    *out = sl_malloc(n, 1);
    if (!*out) return sl_fail_memory(n, 1, "a file name");
    sl_snprintf(*out, n, "%s/%s", dir, name);
    return SL_OK;
}

void sl_ckpt_model_path(char *out, size_t size, const char *dir, int64_t step) {
    char name[NAME_BYTES];
    name_of(name, SL_CKPT__MODEL, step);
    sl_snprintf(out, size, "%s/%s", dir, name);
}

typedef struct entry {
    sl_ckpt__kind kind;
    int64_t step;
} entry;

/* Is name[0 .. length) that of a checkpoint? It is if the parsed name formats to the same text. */
static bool parse(entry *e, const char *name, size_t length) {
    for (sl_ckpt__kind kind = SL_CKPT__MODEL; kind <= SL_CKPT__STATE; kind++) {
        const size_t stem = strlen(sl_ckpt__kind_text(kind));
        if (strncmp(name, sl_ckpt__kind_text(kind), stem) != 0 || name[stem] != '-') continue;
        *e = (entry){ kind, sl_strtoll(name + stem + 1, NULL) };
        char whole[NAME_BYTES];
        name_of(whole, kind, e->step);
        return e->step >= 0 && strlen(whole) == length && strncmp(name, whole, length) == 0;
    }
    return false;
}

static bool is_ours(const char *name, size_t n) {
    entry e;
    return parse(&e, name, n);
}

bool sl_ckpt_is_file(const char *name) { return is_ours(name, strlen(name)); }

int64_t sl_ckpt__newest_below(const char *dir, int64_t limit) {
    int64_t newest = -1;
    DIR *d = opendir(dir);
    if (!d) return -1;
    for (struct dirent *f; (f = readdir(d));) {
        entry e;
        if (parse(&e, f->d_name, strlen(f->d_name)) && e.kind == SL_CKPT__MODEL && e.step < limit)
            newest = SL_MAX(newest, e.step);
    }
    closedir(d);
    return newest;
}

int64_t sl_ckpt_newest(const char *dir) { return sl_ckpt__newest_below(dir, INT64_MAX); }

int64_t sl_ckpt_before(const char *dir, int64_t step) { return sl_ckpt__newest_below(dir, step); }

void sl_ckpt_sweep(const char *dir) { sl_file_sweep(dir, is_ours, true); }

/* Removes files of one kind below a step; they stay where the folder is read-only. */
static void remove_below(DIR *d, sl_ckpt__kind kind, int64_t step) {
    rewinddir(d);
    for (struct dirent *f; (f = readdir(d));) {
        entry e;
        if (parse(&e, f->d_name, strlen(f->d_name)) && e.kind == kind && e.step < step)
            unlinkat(dirfd(d), f->d_name, 0);
    }
}

/* A checkpoint of a higher step than the one just saved was skipped when this run was resumed. It
 * stays until the run reaches that step. */
void sl_ckpt__remove_old(const char *dir, int64_t step) {
    DIR *d = opendir(dir);
    if (!d) return;
    int64_t kept = step;
    for (int64_t s = step; (s = sl_ckpt__newest_below(dir, s)) >= 0;) {
        char name[NAME_BYTES];
        struct stat found;
        name_of(name, SL_CKPT__STATE, s);
        if (fstatat(dirfd(d), name, &found, 0) != 0) continue; // incomplete without its state
        kept = s;
        break;
    }
    remove_below(d, SL_CKPT__MODEL, kept); // models first: no model without its state
    remove_below(d, SL_CKPT__STATE, kept);
    closedir(d);
}
