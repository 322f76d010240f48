/* look - the states of runs, read from their folders.
 *
 * A file that is damaged or cannot be read counts as missing, so its work is repeated, and a note
 * names the file and the reason. Only a lack of memory fails. */
#include <string.h>
#include <unistd.h>

#include "study/study_impl.h"

typedef struct folders {
    const char *dir;
    sl_str path;
    sl_str notes;
} folders;

/* path := <dir>/<kind>/<name>/<file>. */
static sl_status point_to(folders *f, const char *kind, const char *name, const char *file) {
    sl_str_truncate(&f->path, 0);
    sl_str_addf(&f->path, "%s/%s/%s/%s", f->dir, kind, name, file);
    return sl_str_status(&f->path);
}

/* A file that cannot be read is noted and ignored. */
static sl_status forgive(folders *f, sl_status st) {
    if (st == SL_OK || st == SL_ENOMEM) return st;
    const char *reason = sl_last_error();
    const bool named = strstr(reason, f->path.text) != NULL;
    sl_str_addf(&f->notes, "%s%s%.400s\n", named ? "" : f->path.text,
                named ? "" : " is damaged and counts as missing: ", reason);
    return sl_str_status(&f->notes);
}

static sl_status read_evaluation(sl_study_evaluation *out, sl_arena *a, folders *f,
                                 const char *kind, const char *name, const char *set) {
    char file[40];
    SL_TRY(point_to(f, kind, name, "attempts.json"));
    SL_TRY(forgive(f, sl_study__attempts_read(&out->attempts, &out->error, a, f->path.text, set)));
    sl_snprintf(file, sizeof file, "eval-%s.json", set);
    SL_TRY(point_to(f, kind, name, file));
    return forgive(f, sl_study__evaluation_read(out, f->path.text));
}

static sl_status read_run(sl_study_run *run, sl_arena *a, void *payload) {
    folders *f = payload;
    bool there;
    SL_TRY(point_to(f, "runs", run->id, ""));
    if (access(f->path.text, F_OK) != 0) return SL_OK;
    SL_TRY(point_to(f, "runs", run->id, "run.json"));
    if (access(f->path.text, F_OK) == 0) run->state = SL_STUDY_BEGUN;
    SL_TRY(point_to(f, "runs", run->id, "attempts.json"));
    SL_TRY(
        forgive(f, sl_study__attempts_read(&run->attempts, &run->error, a, f->path.text, "train")));
    SL_TRY(point_to(f, "runs", run->id, "result.json"));
    SL_TRY(forgive(f, sl_study__result_read(&run->result, &there, a, f->path.text)));
    run->trained = there && !run->result.diverged;
    for (int k = 0; k < SL_STUDY_SET_COUNT && run->trained; k++)
        SL_TRY(read_evaluation(&run->eval[k], a, f, "runs", run->id,
                               sl_study_set_name((sl_study_set)k)));
    return SL_OK;
}

static sl_status read_baseline(sl_study_evaluation *out, sl_arena *a, const char *name,
                               void *payload) {
    return read_evaluation(out, a, payload, "baselines", name,
                           sl_study_set_name(SL_STUDY_SET_TEST));
}

sl_status sl_study_look(sl_study *out, sl_arena *a, const sl_study_plan *plan, const char *dir) {
    sl_status st;
    folders f = { .dir = dir };
    const sl_study__source source = { read_run, read_baseline, &f };
    SL_GO(sl_study__expand(out, a, plan, &source));
    SL_GO(sl_study__copy(&out->dir, a, dir, strlen(dir)));
    SL_GO(sl_study__copy(&out->notes, a, sl_str_text(&f.notes), f.notes.len));
done:
    sl_str_clear(&f.path);
    sl_str_clear(&f.notes);
    return st;
}
