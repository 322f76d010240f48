/* study_finish - the results of a study: the table, the best model. They are made from the folders
 * each time, and never read. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "commands/study_impl.h"

sl_status sl_commands__study_write(const sl_commands__study_context *s, const char *name,
                                   const sl_str *text) {
    sl_str path = { 0 };
    sl_str_addf(&path, "%s/%s", s->dir, name);
    sl_status st = sl_str_status(&path);
    if (st == SL_OK) st = sl_str_status(text);
    if (st == SL_OK) st = sl_file_put(path.text, sl_str_text(text), text->len);
    sl_str_clear(&path);
    return st;
}

/* ---------------------------------------------------------------- the best model ------------ */

static sl_status copy_file(const char *to, const char *from) {
    char bytes[1 << 14];
    sl_file *f = NULL;
    int fd = -1;
    sl_status st;
    SL_GO(sl_file_open(&fd, from));
    SL_GO(sl_file_replace(&f, to));
    for (;;) {
        const ssize_t n = read(fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) SL_GO(sl_fail(SL_EIO, "cannot read %.300s: %s", from, sl_strerror(errno)));
        if (n == 0) break;
        SL_GO(sl_file_write(f, bytes, (size_t)n));
    }
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    if (fd >= 0) close(fd);
    return st;
}

/* In the study's folder, and in the folder above, where other commands look for a model. A deleted
 * model, or a folder above that cannot be written, is only noted. */
static sl_status copy_best(const sl_commands__study_context *s, const sl_study_run *best) {
    sl_str from = { 0 }, to = { 0 }, beside = { 0 };
    sl_status st;
    sl_str_addf(&from, "%s/runs/%s/%s", s->dir, best->id, best->result.checkpoint);
    sl_str_addf(&to, "%s/best.safetensors", s->dir);
    sl_str_addf(&beside, "%s/../best.safetensors", s->dir);
    SL_GO(sl_str_status(&from));
    SL_GO(sl_str_status(&to));
    SL_GO(sl_str_status(&beside));
    st = copy_file(to.text, from.text);
    if (st == SL_OK) st = copy_file(beside.text, from.text);
    if (st == SL_EIO) {
        sl_commands_note(&s->run->listener, "the best model, that of %s, is not copied: %.300s",
                         best->id, sl_last_error());
        st = SL_OK;
    }
done:
    sl_str_clear(&from);
    sl_str_clear(&to);
    sl_str_clear(&beside);
    return st;
}

/* ---------------------------------------------------------------- all of it ----------------- */

static int count_failed(const sl_study *study) {
    int n = 0;
    for (int i = 0; i < study->runs; i++)
        n += study->run[i].state == SL_STUDY_FAILED && !study->run[i].result.diverged;
    return n;
}

static int count_diverged(const sl_study *study) {
    int n = 0;
    for (int i = 0; i < study->runs; i++) n += study->run[i].result.diverged;
    return n;
}

static void add_failures(sl_str *out, const sl_study *study) {
    for (int i = 0; i < study->runs; i++) {
        const sl_study_run *r = &study->run[i];
        if (r->state != SL_STUDY_FAILED || r->result.diverged) continue;
        const char *why = r->error;
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++)
            if (r->eval[k].error && !r->eval[k].there) why = r->eval[k].error;
        sl_str_addf(out, "failed: %s: %.300s\n", r->id, why ? why : "");
    }
}

sl_status sl_commands__study_finish(const sl_commands__study_context *s, sl_str *result, bool *ok) {
    sl_status st;
    sl_arena arena = { 0 };
    sl_study study;
    sl_str csv = { 0 };
    const bool json = s->options->common.json;
    sl_str *out = &s->run->output;
    SL_GO(sl_study_look(&study, &arena, s->plan, s->dir));
    sl_study_csv(&csv, &study);
    SL_GO(sl_commands__study_write(s, "runs.csv", &csv));
    const int at = sl_study_best_run(&study);
    const sl_study_run *best = at >= 0 ? &study.run[at] : NULL;
    if (best) SL_GO(copy_best(s, best));
    sl_io_json_add_text(result, "folder", s->dir);
    SL_JSON_FIELDS(result, &study, complete, runs);
    sl_io_json_add_int(result, "failed", count_failed(&study));
    sl_io_json_add_int(result, "diverged", count_diverged(&study));
    sl_io_json_add_text(result, "best", best ? best->id : NULL);
    if (!json) add_failures(out, &study);
    if (ok && count_failed(&study) > 0) *ok = false;
    SL_GO(sl_commands__study_report(s, &study, &arena, result));
    st = sl_commands__output(s->run);
done:
    sl_str_clear(&csv);
    sl_arena_clear(&arena);
    return st;
}
