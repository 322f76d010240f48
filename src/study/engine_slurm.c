/* engine_slurm - submits workers as an array job, and waits until the study is complete.
 *
 * The only state is Slurm's list of jobs and the folders of the study. Jobs are found by their
 * name, which holds a hash of the study's folder, so the jobs of a submission that was killed
 * before it read their number are found too. Two simultaneous submissions exclude each other by a
 * claim of the folder slurm/. */
#include <string.h>
#include <time.h>

#include "study/slurm_impl.h"

/* Seconds: limit of a call to a busy controller; expiry of the claim of a submission; how long a
 * controller may be unavailable. */
static const double PATIENCE = 60, EXPIRY = 300, OUTAGE = 1800;
/* Between two calls of squeue, and two reads of the folders; they grow with the time waited. */
static const double ASK_MIN = 2, ASK_MAX = 30, LOOK_MIN = 1, LOOK_MAX = 10, SETTLE_MIN = 0.2,
                    SETTLE_MAX = 2, RARER = 0.05;

/* ---------------------------------------------------------------- programs of Slurm --------- */

/* line := all lines in one, without "sbatch: error: " before each: the cause is often the first. */
static void join_lines(char line[500], const char *text, const char *program) {
    char prefix[64];
    const size_t p = (size_t)sl_snprintf(prefix, sizeof prefix, "%s: error: ", program);
    size_t w = 0;
    line[0] = '\0';
    while (*text && w + 1 < 500) {
        const size_t n = strcspn(text, "\n"), skip = strncmp(text, prefix, p) == 0 ? p : 0;
        if (n > skip)
            w += (size_t)sl_snprintf(line + w, 500 - w, "%s%.*s", w > 0 ? "; " : "",
                                     (int)SL_MIN(n - skip, 200), text + skip);
        text += n + (text[n] == '\n');
    }
}

/* Appends what it prints. SL_EIO if it is missing or its exit code is not 0, with its message. */
static sl_status ask_slurm(sl_str *out, const char *const *words) {
    sl_str err = { 0 };
    int code = 0;
    bool missing;
    sl_status st = sl_study__execute(&code, &missing, out, &err, words, PATIENCE);
    if (st == SL_EIO && missing)
        st = sl_fail(SL_EIO,
                     "there is no %s in PATH: start this on a machine of a Slurm cluster, or use "
                     "--engine local or --engine mpi",
                     words[0]);
    if (st == SL_OK && code != 0) {
        char line[500];
        join_lines(line, sl_str_text(&err), words[0]);
        st = sl_fail(SL_EIO, "%s ended with code %d: %s", words[0], code,
                     *line ? line : "it says nothing");
    }
    sl_str_clear(&err);
    return st;
}

static size_t digits(const char *text) {
    size_t n = 0;
    while (sl_isdigit(text[n])) n++;
    return n;
}

sl_status sl_study__slurm_read_id(char id[32], const char *text) {
    const size_t n = digits(text);
    const char *at = text + n;
    if (*at == ';') at += strcspn(at, "\n"); // the cluster, where there are several
    if (n == 0 || n > 20 || strcmp(at, "\n") != 0)
        return sl_fail(SL_EFORMAT, "sbatch prints \"%.100s\", which is not the number of a job",
                       text);
    sl_snprintf(id, 32, "%.*s", (int)n, text);
    return SL_OK;
}

static void count_state(sl_study_slurm_jobs *jobs, const char *state, size_t n, const char *reason,
                        size_t reason_n) {
    const char *const waiting[] = { "PENDING",     "CONFIGURING",  "REQUEUED",     "REQUEUE_HOLD",
                                    "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD" };
    const char *const running[] = { "RUNNING",   "SUSPENDED", "RESIZING",
                                    "STAGE_OUT", "STOPPED",   "SIGNALING" };
    for (int i = 0; i < SL_LEN(running); i++)
        if (strlen(running[i]) == n && memcmp(state, running[i], n) == 0) {
            jobs->running++;
            return;
        }
    for (int i = 0; i < SL_LEN(waiting); i++)
        if (strlen(waiting[i]) == n && memcmp(state, waiting[i], n) == 0) {
            jobs->waiting++;
            sl_snprintf(jobs->reason, sizeof jobs->reason, "%.*s", (int)SL_MIN(reason_n, 63),
                        reason);
            return;
        }
    jobs->ending++; // COMPLETING, or at its end
}

sl_status sl_study__slurm_read_jobs(sl_study_slurm_jobs *out, const char *text) {
    *out = (sl_study_slurm_jobs){ 0 };
    while (*text) {
        const size_t line = strcspn(text, "\n"), id = digits(text);
        const char *part[4] = { text };
        size_t len[4];
        int parts = 0;
        for (const char *at = text; parts < 4; parts++) {
            part[parts] = at;
            len[parts] = parts < 3 ? strcspn(at, "|\n") : (size_t)(text + line - at);
            at += len[parts];
            if (*at != '|') break;
            at++;
        }
        if (parts != 3 || id == 0 || id != len[0] || id > 20 || len[2] == 0)
            return sl_fail(SL_EFORMAT, "squeue prints \"%.*s\", which is not the requested format",
                           (int)SL_MIN(line, 100), text);
        sl_snprintf(out->id, sizeof out->id, "%.*s", (int)id, text);
        count_state(out, part[2], len[2], part[3], len[3]);
        text += line + (text[line] == '\n');
    }
    return SL_OK;
}

static sl_status ask_place(sl_study_slurm_jobs *out, const sl_study__slurm_place *p) {
    char name[SL_STUDY__SLURM_NAME + 8];
    sl_snprintf(name, sizeof name, "--name=%s", p->name);
    const char *const format = "--format=" SL_STUDY__SQUEUE_FORMAT;
    const char *const words[] = { "squeue", "--noheader", "--array", "--me", name, format, NULL };
    sl_str text = { 0 };
    sl_status st = ask_slurm(&text, words);
    if (st == SL_OK) st = sl_study__slurm_read_jobs(out, sl_str_text(&text));
    sl_str_clear(&text);
    return st;
}

sl_status sl_study_slurm_ask(sl_study_slurm_jobs *out, const sl_study_plan *plan, const char *dir) {
    sl_study__slurm_place place;
    SL_TRY(sl_study__slurm_find(&place, plan, dir));
    return ask_place(out, &place);
}

/* ---------------------------------------------------------------- submission ---------------- */

static sl_status write_text(const char *folder, const char *name, const char *text) {
    char path[4096 + 64];
    sl_snprintf(path, sizeof path, "%s/%s", folder, name);
    return sl_file_put(path, text, strlen(text));
}

static sl_status write_script(const sl_study_slurm_options *o, const sl_study__slurm_place *p) {
    sl_str script = { 0 };
    sl_status st = sl_study__slurm_script(&script, o, p);
    if (st == SL_OK) st = write_text(p->folder, "job.sh", sl_str_text(&script));
    sl_str_clear(&script);
    return st;
}

static sl_status call_sbatch(char id[32], const sl_study__slurm_place *p) {
    const char *words[SL_STUDY__SBATCH_WORDS];
    sl_str texts[3] = { 0 }, output = { 0 };
    sl_status st = SL_OK;
    sl_study__slurm_words(words, texts, p);
    for (int i = 0; i < 3; i++) SL_GO(sl_str_status(&texts[i]));
    SL_GO(ask_slurm(&output, words));
    st = sl_study__slurm_read_id(id, sl_str_text(&output));
done:
    sl_str_clear(&output);
    for (int i = 0; i < 3; i++) sl_str_clear(&texts[i]);
    return st;
}

static sl_status submit_now(sl_study_slurm_jobs *jobs, const sl_study_slurm_options *o,
                            const sl_study__slurm_place *p) {
    char line[40];
    SL_TRY(write_script(o, p));
    SL_TRY(call_sbatch(jobs->id, p));
    jobs->waiting = (int)o->workers;
    sl_snprintf(line, sizeof line, "%s\n", jobs->id);
    return write_text(p->folder, "job", line); // for people: jobs are found by their name
}

static double rarer(double since, double min, double max) {
    const double pause = (sl_clock() - since) * RARER;
    return SL_MAX(min, SL_MIN(max, pause));
}

static void nap(double seconds) {
    const struct timespec t = { .tv_sec = (time_t)seconds,
                                .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&t, NULL); // a signal ends it, and the next report returns SL_ECANCEL
}

/* Reports to the caller, several times a second, until `seconds` have passed. */
static sl_status wait_reporting(const sl_study_runner *runner, const sl_study *study,
                                const char *text, double seconds) {
    const double end = sl_clock() + seconds;
    for (;;) {
        SL_TRY(runner->report(runner, study, text));
        const double left = end - sl_clock();
        if (left <= 0) return SL_OK;
        nap(SL_MIN(left, 0.1));
    }
}

/* Heartbeats, so that no other process takes the claim over while this one waits. */
static sl_status hold(sl_study_claim *claim) {
    const sl_status st = sl_study_claim_beat(claim, 0, 0, "submitting");
    if (st != SL_ECANCEL) return st;
    return sl_fail(SL_EIO, "another process submits workers of this study; the same command waits "
                           "for them");
}

/* Jobs that are ending may still return to the queue: this waits for them. */
static sl_status ask_settled(sl_study_slurm_jobs *jobs, sl_study_claim *claim,
                             const sl_study__slurm_place *p, const sl_study *study,
                             const sl_study_runner *runner) {
    const double start = sl_clock();
    for (;;) {
        SL_TRY(ask_place(jobs, p));
        SL_TRY(hold(claim));
        if (jobs->running + jobs->waiting > 0 || jobs->ending == 0) return SL_OK;
        SL_TRY(wait_reporting(runner, study, "waiting for jobs of this study to end",
                              rarer(start, SETTLE_MIN, SETTLE_MAX)));
    }
}

/* The claim of the folder is held from the call of squeue to the submission. */
static sl_status claim_folder(sl_study_claim **claim, sl_study_watch *watch, const char *folder,
                              const sl_study *study, const sl_study_runner *runner) {
    for (;;) {
        SL_TRY(sl_study_claim_take(claim, watch, folder));
        if (*claim) return SL_OK;
        SL_TRY(wait_reporting(runner, study, "another process submits workers of this study", 0.5));
    }
}

sl_status sl_study_slurm_submit(bool *submitted, sl_study_slurm_jobs *jobs,
                                const sl_study_slurm_options *o, const sl_study *study,
                                const sl_study_runner *runner) {
    sl_study__slurm_place place;
    sl_study_watch *watch = NULL;
    sl_study_claim *claim = NULL;
    *submitted = false;
    SL_TRY(sl_study__slurm_find(&place, study->plan, study->dir));
    sl_status st = sl_study_watch_new(&watch, EXPIRY);
    if (st == SL_OK) st = claim_folder(&claim, watch, place.folder, study, runner);
    if (st == SL_OK) st = ask_settled(jobs, claim, &place, study, runner);
    if (st == SL_OK && jobs->running + jobs->waiting == 0) {
        st = submit_now(jobs, o, &place);
        *submitted = st == SL_OK;
    }
    if (claim) sl_study_claim_release(claim);
    sl_study_watch_free(watch);
    return st;
}

/* ---------------------------------------------------------------- waiting ------------------- */

static void jobs_text(char text[160], const sl_study_slurm_jobs *jobs) {
    int n = sl_snprintf(text, 160, "job %s: %d running, %d waiting", jobs->id, jobs->running,
                        jobs->waiting);
    if (jobs->running == 0 && jobs->waiting > 0 && *jobs->reason)
        sl_snprintf(text + n, 160 - (size_t)n, " (%s)", jobs->reason);
}

/* A controller may be restarted while jobs run, so failures within OUTAGE are ignored. answered:
 * sl_clock() of the last success. */
static sl_status ask_again(sl_study_slurm_jobs *jobs, double *answered, char text[160],
                           const sl_study__slurm_place *p) {
    sl_study_slurm_jobs now;
    const sl_status st = ask_place(&now, p);
    if (st == SL_EIO && sl_clock() - *answered < OUTAGE) {
        sl_snprintf(text, 160, "Slurm does not respond; trying again");
        return SL_OK;
    }
    SL_TRY(st);
    *jobs = now;
    *answered = sl_clock();
    jobs_text(text, jobs);
    return SL_OK;
}

/* Jobs are read before the folders: a worker ends after its last file is written. */
static sl_status wait_for_jobs(sl_arena *arena, const sl_study__slurm_place *p,
                               const sl_study_plan *plan, const char *dir,
                               const sl_study_runner *runner) {
    const double start = sl_clock();
    double ask_at = 0;
    double answered = start;
    sl_study_slurm_jobs jobs = { .waiting = 1 }; // some were submitted, as far as is known
    char text[160] = "";
    for (;;) {
        sl_study study;
        if (sl_clock() >= ask_at) {
            SL_TRY(ask_again(&jobs, &answered, text, p));
            ask_at = sl_clock() + rarer(start, ASK_MIN, ASK_MAX);
        }
        sl_arena_rewind(arena, 0);
        SL_TRY(sl_study_look(&study, arena, plan, dir));
        if (study.complete) return SL_OK;
        if (jobs.running + jobs.waiting + jobs.ending == 0)
            return sl_fail(SL_EIO,
                           "no job of this study is left, and it is not complete: "
                           "see %.300s/worker-*.log; the same command continues it",
                           p->folder);
        SL_TRY(wait_reporting(runner, &study, text, rarer(start, LOOK_MIN, LOOK_MAX)));
    }
}

sl_status sl_study_slurm_wait(const sl_study_plan *plan, const char *dir,
                              const sl_study_runner *runner) {
    sl_study__slurm_place place;
    sl_arena arena = { 0 };
    SL_TRY(sl_study__slurm_find(&place, plan, dir));
    sl_status st = wait_for_jobs(&arena, &place, plan, dir, runner);
    sl_arena_clear(&arena);
    return st;
}
