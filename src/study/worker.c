/* worker - runs jobs of a study, one after the other, until none is left.
 *
 *     read the folders -> jobs -> claim the first free one -> read again -> work -> release
 *
 * Between the first read and the claim another worker may have done the job, so the folders are
 * read once more when the claim is held. Only the holder of a claim writes into a folder, apart
 * from the claims themselves.
 *
 * With several ranks, rank 0 alone reads and claims; the others get the job from it. All ranks
 * train; rank 0 evaluates while the others wait. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "par/par.h"
#include "study/claim_impl.h"

static const double PAUSE_FIRST = 0.02, PAUSE_MOST = 0.5; // seconds between two reads

typedef struct worker {
    const sl_study_plan *plan;
    const char *dir;
    const sl_study_runner *runner;
    const sl_study_worker_options *o;
    sl_study_watch *watch; // rank 0
    sl_study_claim *claim; // rank 0: of the current job
    sl_arena arena;        // of `study`
    sl_study study;        // as read last
    double deadline, pause;
    bool out_of_time;
    bool jobs_outdated; // another worker did a job of the list, which must be rebuilt
    uint64_t *unusable; // hashes of folders that cannot be claimed
    int n_unusable;
    int64_t cap_unusable;
    char unusable_line[SL_FAIL_LINE]; // why, of the last of them
} worker;

/* The decision of rank 0. */
typedef struct order {
    bool end;
    sl_study_job job;
    char run[SL_STUDY_ID]; // its name: its index may change when the study is read again
} order;

/* ---------------------------------------------------------------- reading ------------------- */

static sl_status look(worker *w) {
    sl_arena_rewind(&w->arena, 0);
    return sl_study_look(&w->study, &w->arena, w->plan, w->dir);
}

static sl_status list_jobs(sl_study_job **jobs, int *n, worker *w) {
    const int runs = w->study.runs;
    double *flops = sl_arena_alloc(&w->arena, (size_t)SL_MAX(runs, 1) * sizeof *flops);
    if (!flops) return sl_fail_memory((size_t)runs, sizeof *flops, "costs of runs");
    for (int i = 0; i < runs; i++)
        SL_TRY(w->runner->flops(&flops[i], w->runner, w->plan, &w->study.run[i]));
    *n = sl_study_jobs(jobs, &w->arena, &w->study, flops);
    return *n < 0 ? sl_fail_memory(1, sizeof **jobs, "jobs of a study") : SL_OK;
}

static bool is_same(const sl_study_job *a, const sl_study_job *b) {
    return a->kind == b->kind && strcmp(a->folder, b->folder) == 0 &&
           (a->kind != SL_STUDY_JOB_EVAL || a->set == b->set);
}

/* *out: the job still has to be done. job := the same job, with the indices of this reading. */
static sl_status still_due(bool *out, sl_study_job *job, worker *w) {
    sl_study_job *jobs;
    int n;
    *out = false;
    SL_TRY(look(w));
    SL_TRY(list_jobs(&jobs, &n, w));
    for (int i = 0; i < n && !*out; i++)
        if (is_same(&jobs[i], job)) {
            *job = jobs[i];
            *out = true;
        }
    return SL_OK;
}

static sl_status folder_of(sl_str *s, const worker *w, const sl_study_job *job) {
    sl_str_addf(s, "%s/%s", w->dir, job->folder);
    return sl_str_status(s);
}

/* ---------------------------------------------------------------- disks --------------------- */

/* Did the disk fail, and not a file of this job? Then every job would fail. */
static bool is_disk(const char *message) {
    static const int errors[] = { ENOSPC, EDQUOT, EROFS, EIO, EFBIG, EMFILE, ENFILE, ESTALE };
    for (int i = 0; i < SL_LEN(errors); i++)
        if (strstr(message, sl_strerror(errors[i]))) return true;
    return false;
}

/* Can anything be written into the study's folder? */
static sl_status try_disk(const worker *w) {
    static const char bytes[4096] = "";
    sl_str path = { 0 };
    sl_file *f = NULL;
    sl_status st;
    sl_str_addf(&path, "%s/.writable", w->dir);
    SL_GO(sl_str_status(&path));
    SL_GO(sl_file_replace(&f, path.text));
    SL_GO(sl_file_write(f, bytes, sizeof bytes));
    st = sl_file_flush(f, true);
done:
    sl_file_discard(&f);
    sl_str_clear(&path);
    return st;
}

/* SL_OK: the failure st, with the stored message, concerns this job only. */
static sl_status blame_job(const worker *w, sl_status st) {
    char line[SL_FAIL_LINE];
    if (st != SL_EIO) return SL_OK;
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    const bool disk = is_disk(line) || try_disk(w) != SL_OK;
    sl_fail_restore(line);
    if (!disk) return SL_OK;
    return sl_fail(SL_EIO, "%.700s; what was done before is kept; the same command continues",
                   line);
}

/* ---------------------------------------------------------------- choosing ------------------ */

static bool is_unusable(const worker *w, const sl_study_job *job) {
    const uint64_t hash = sl_hash(job->folder, strlen(job->folder), 0);
    for (int i = 0; i < w->n_unusable; i++)
        if (w->unusable[i] == hash) return true;
    return false;
}

/* Records that the folder of this job cannot be claimed, with the stored message. */
static sl_status set_unusable(worker *w, const sl_study_job *job, sl_status st) {
    if (st != SL_EIO) return st;
    SL_TRY(blame_job(w, st));
    sl_snprintf(w->unusable_line, sizeof w->unusable_line, "%s", sl_last_error());
    SL_TRY(sl_grow(&w->unusable, &w->cap_unusable, w->n_unusable, sizeof *w->unusable,
                   "folders to pass over"));
    w->unusable[w->n_unusable++] = sl_hash(job->folder, strlen(job->folder), 0);
    return SL_OK;
}

/* w->claim := the claim of the job, if it is free and still has to be done. */
static sl_status claim_job(worker *w, sl_study_job *job) {
    sl_str dir = { 0 };
    sl_study_claim *claim = NULL;
    bool due;
    sl_status st = folder_of(&dir, w, job);
    if (st == SL_OK) st = sl_study_claim_take(&claim, w->watch, dir.text);
    sl_str_clear(&dir);
    if (st != SL_OK) return set_unusable(w, job, st);
    if (!claim) return SL_OK;
    st = still_due(&due, job, w);
    if (st != SL_OK || !due) {
        sl_study_claim_release(claim);
        w->jobs_outdated = true;
        return st;
    }
    sl_study__claim_deadline(claim, w->deadline);
    w->claim = claim;
    return SL_OK;
}

/* out->job := a job, claimed. *all_unusable: no folder of a job can be claimed by any process. */
static sl_status claim_first(worker *w, order *out, bool *all_unusable) {
    sl_study_job *jobs;
    int n, unusable = 0;
    w->jobs_outdated = false;
    SL_TRY(list_jobs(&jobs, &n, w));
    for (int i = 0; i < n; i++) {
        out->job = jobs[i];
        if (!is_unusable(w, &out->job)) SL_TRY(claim_job(w, &out->job));
        if (w->claim || w->jobs_outdated) return SL_OK;
        unusable += is_unusable(w, &out->job);
    }
    *all_unusable = n > 0 && unusable == n;
    return SL_OK;
}

/* SL_ECANCEL: stopped on request, or out of time. */
static sl_status may_go_on(worker *w, const char *text) {
    if (sl_deadline_passed(w->deadline, sl_study__clock())) {
        w->out_of_time = true;
        return sl_fail(SL_ECANCEL, "out of time; what was done is saved");
    }
    return w->runner->report(w->runner, &w->study, text);
}

/* Waits until the next reading. */
static sl_status wait_some(worker *w) {
    static const struct timespec moment = { 0, 10 * 1000 * 1000 };
    const double end = sl_study__clock() + w->pause;
    do {
        SL_TRY(may_go_on(w, "waiting for other workers"));
        nanosleep(&moment, NULL);
    } while (sl_study__clock() < end);
    w->pause = SL_MIN(2 * w->pause, PAUSE_MOST);
    return SL_OK;
}

/* Rank 0: *out := the next job, claimed, or the end. */
static sl_status choose(worker *w, order *out) {
    *out = (order){ .end = true };
    for (;;) {
        bool all_unusable = false;
        SL_TRY(look(w));
        SL_TRY(may_go_on(w, ""));
        if (w->study.complete) return SL_OK;
        SL_TRY(claim_first(w, out, &all_unusable));
        if (w->claim) {
            w->pause = PAUSE_FIRST;
            out->end = false;
            sl_snprintf(out->run, sizeof out->run, "%s", w->study.run[out->job.run].id);
            return SL_OK;
        }
        if (w->jobs_outdated) continue;
        if (all_unusable)
            return sl_fail(SL_EIO, "%.800s; the other runs are done", w->unusable_line);
        if (!w->o->wait) return SL_OK;
        SL_TRY(wait_some(w));
    }
}

/* ---------------------------------------------------------------- working ------------------- */

/* Counts a failure of the job, with its message. */
static sl_status count_failure(const worker *w, const sl_study_job *job, const char *dir,
                               const char *message) {
    SL_TRY(sl_study_claim_check(w->claim));
    const char *what = job->kind == SL_STUDY_JOB_TRAIN  ? "train"
                       : job->kind == SL_STUDY_JOB_EVAL ? sl_study_set_name(job->set)
                                                        : sl_study_set_name(SL_STUDY_SET_TEST);
    return sl_study_attempt_add(dir, what, message);
}

/* Releases the claim; only frees it where it was lost to another process. */
static void let_go(worker *w) {
    char line[SL_FAIL_LINE];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    if (!w->claim) return;
    if (sl_study_claim_check(w->claim) == SL_OK)
        sl_study_claim_release(w->claim);
    else
        sl_study__claim_abandon(w->claim);
    w->claim = NULL;
    sl_fail_restore(line);
}

/* Rank 0: the worker's status after a job. */
static sl_status settle(worker *w, sl_study_job *job, const char *dir, sl_status st) {
    char line[SL_FAIL_LINE];
    bool due = false;
    sl_snprintf(line, sizeof line, "%s", st == SL_OK ? "" : sl_last_error());
    if (sl_study_claim_check(w->claim) != SL_OK) return SL_OK; // another worker has the job
    if (st == SL_ECANCEL) {
        w->out_of_time = sl_study__claim_late(w->claim);
        sl_fail_restore(line);
        return st;
    }
    if (st == SL_OK) {
        SL_TRY(still_due(&due, job, w));
        if (!due) return SL_OK;
        sl_snprintf(line, sizeof line, "it ended without a result");
    }
    sl_fail_restore(line);
    if (st != SL_OK) SL_TRY(blame_job(w, st));
    st = count_failure(w, job, dir, line);
    if (st == SL_ECANCEL) return SL_OK;
    return st == SL_EIO ? set_unusable(w, job, st) : st;
}

/* All ranks: the job that rank 0 has claimed. */
static sl_status do_job(worker *w, order *o) {
    sl_str dir = { 0 };
    sl_status st = SL_OK;
    if (sl_par_rank() > 0) { // finds the run by its name in this rank's own reading
        st = look(w);
        o->job.run = -1;
        for (int i = 0; st == SL_OK && i < w->study.runs; i++)
            if (strcmp(w->study.run[i].id, o->run) == 0) o->job.run = i;
        if (st == SL_OK && o->job.run < 0)
            st = sl_fail(SL_EIO, "rank %d does not find run %s in %.300s, where rank 0 does",
                         sl_par_rank(), o->run, w->dir);
    }
    if (st == SL_OK) st = folder_of(&dir, w, &o->job);
    SL_GO(sl_par_agree(st));
    if (o->job.kind == SL_STUDY_JOB_TRAIN || sl_par_rank() == 0)
        st = w->runner->work(w->runner, &w->study, &o->job, dir.text, w->claim);
    st = sl_par_agree(st);
    if (sl_par_rank() == 0) {
        st = settle(w, &o->job, dir.text, st);
        let_go(w);
    } else {
        st = SL_OK;
    }
    st = sl_par_agree(st);
done:
    sl_str_clear(&dir);
    return st;
}

static sl_status work(worker *w) {
    for (;;) {
        order o;
        SL_TRY(sl_par_agree(sl_par_rank() == 0 ? choose(w, &o) : SL_OK));
        SL_TRY(sl_par_share(&o, sizeof o));
        if (o.end) return SL_OK;
        SL_TRY(do_job(w, &o));
    }
}

sl_status sl_study_work(bool *out_of_time, const sl_study_plan *plan, const char *dir,
                        const sl_study_runner *runner, const sl_study_worker_options *o) {
    worker w = { .plan = plan, .dir = dir, .runner = runner, .o = o, .pause = PAUSE_FIRST };
    w.deadline = sl_deadline(sl_study__clock(), o->seconds);
    sl_status st = sl_par_agree(sl_study_watch_new(&w.watch, o->expiry));
    if (st == SL_OK) st = work(&w);
    let_go(&w);
    *out_of_time = w.out_of_time;
    sl_study_watch_free(w.watch);
    sl_free(w.unusable);
    sl_arena_clear(&w.arena);
    return st;
}
