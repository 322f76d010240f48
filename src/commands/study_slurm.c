/* study_slurm - the engine `slurm` of the command `study`: options to workers of an array job. */
#include <string.h>

#include "commands/study_impl.h"

/* With --workers not given: as many as have something to do at once, but not a whole cluster. */
enum { MAX_WORKERS = 16, MAX_WORDS = 4 };

/* The options of the job, and texts that they borrow. */
typedef struct request {
    sl_study_slurm_options o;
    const char *words[MAX_WORDS];
    char expiry[32];
} request;

static sl_status count_workers(int64_t *out, const sl_commands__study_context *s,
                               const sl_study *study) {
    sl_arena arena = { 0 };
    sl_study_job *jobs;
    *out = s->workers;
    if (s->workers > 0) return SL_OK;
    const int n = sl_study_jobs(&jobs, &arena, study, NULL);
    sl_arena_clear(&arena);
    if (n < 0) return sl_fail_memory(1, sizeof *jobs, "jobs of a study");
    *out = SL_MAX(1, SL_MIN(n, MAX_WORKERS));
    return SL_OK;
}

static sl_status request_make(request *r, sl_commands__study_context *s, const sl_study *study) {
    *r = (request){ 0 };
    if (*sl_commands__by_caller(s->run, &s->options->time_limit))
        return sl_fail(SL_EINVAL,
                       "--time-limit is for workers, which get it from Slurm here: give the limit "
                       "of their jobs by --time");
    if (sl_par_ranks() > 1)
        return sl_fail(SL_EINVAL, "--engine slurm starts its ranks by itself: call it without "
                                  "mpirun and srun");
    SL_TRY(sl_commands__study_program(s));
    r->o = s->options->slurm;
    SL_TRY(count_workers(&r->o.workers, s, study));
    r->o.program = s->program;
    sl_snprintf(r->expiry, sizeof r->expiry, "%.15g", s->expiry);
    r->words[r->o.n_words++] = "--expiry";
    r->words[r->o.n_words++] = r->expiry;
    r->words[r->o.n_words++] = "--quiet"; // a log is no place for progress
    r->o.words = r->words;
    return SL_OK;
}

/* ---------------------------------------------------------------- work ---------------------- */

static void note_jobs(const sl_commands__study_context *s, bool submitted,
                      const sl_study_slurm_jobs *jobs) {
    const sl_commands_listener *l = &s->run->listener;
    if (submitted)
        sl_commands_note(l, "job %s: %d workers submitted; their logs are %s/slurm/worker-*.log",
                         jobs->id, jobs->waiting, s->dir);
    else
        sl_commands_note(l,
                         "job %s has workers of this study already (%d running, %d waiting): none "
                         "are submitted",
                         jobs->id, jobs->running, jobs->waiting);
}

/* Cancelling ends the waiting, not the jobs. */
static sl_status with_jobs(sl_status st, const sl_study_slurm_jobs *jobs) {
    if (st != SL_ECANCEL || !*jobs->id) return st;
    return sl_fail(SL_ECANCEL,
                   "its jobs continue: \"scancel %s\" ends them, the same command waits for "
                   "them again",
                   jobs->id);
}

static sl_status run_jobs(sl_commands__study_context *s, const sl_study *study) {
    request r;
    bool submitted;
    sl_study_slurm_jobs jobs = { 0 };
    sl_commands__runner runner;
    SL_TRY(request_make(&r, s, study));
    sl_commands__runner_init(&runner, s);
    sl_status st = sl_study_slurm_submit(&submitted, &jobs, &r.o, study, &runner.runner);
    if (st == SL_OK) {
        note_jobs(s, submitted, &jobs);
        st = with_jobs(sl_study_slurm_wait(s->plan, s->dir, &runner.runner), &jobs);
    }
    sl_commands__runner_clear(&runner);
    return st;
}

static sl_status work(bool *out_of_time, sl_commands__study_context *s) {
    sl_arena arena = { 0 };
    sl_study study;
    *out_of_time = false;
    sl_status st = sl_study_look(&study, &arena, s->plan, s->dir);
    if (st == SL_OK && !study.complete) st = run_jobs(s, &study);
    sl_arena_clear(&arena);
    return st;
}

static sl_status describe(sl_str *out, sl_commands__study_context *s) {
    sl_arena arena = { 0 };
    sl_study study;
    request r;
    sl_str command = { 0 };
    sl_status st;
    SL_GO(sl_study_look(&study, &arena, s->plan, s->dir));
    SL_GO(request_make(&r, s, &study));
    SL_GO(sl_study_slurm_script(out, &command, &r.o, s->plan, s->dir));
    sl_str_addf(out, "\n# submitted by\n%s\n", sl_str_text(&command));
    st = sl_str_status(out);
done:
    sl_str_clear(&command);
    sl_arena_clear(&arena);
    return st;
}

const sl_commands__engine sl_commands__engine_slurm = { "slurm", work, describe };
