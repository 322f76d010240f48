/* Inside src/commands only: the parts of the command `study`. */
#ifndef SL_COMMANDS_STUDY_IMPL_H
#define SL_COMMANDS_STUDY_IMPL_H

#include "commands/commands_impl.h"
#include "report/report.h"
#include "study/study.h"

/* Exit code of a worker that has saved and stopped because of its time limit. */
enum { SL_COMMANDS__OUT_OF_TIME = SL_STUDY_OUT_OF_TIME };

/* Options of the command study. */
typedef struct sl_commands__study_options {
    sl_commands_common common;
    int action, engine;     // places in their choices; action -1: not given
    const char *path, *out; // NULL: not given
    bool dry_run;
    int64_t workers, ranks;
    double expiry, time_limit;
    const char *program; // NULL: not given
    sl_study_slurm_options slurm;
} sl_commands__study_options;

/* A study that the command works on. */
typedef struct sl_commands__study_context {
    sl_commands_run *run;
    const sl_commands__study_options *options; // of the run
    sl_study_plan *plan;
    const char *dir;   // of the study
    const char *named; // the plan or the folder, as the user has it
    const char *program; // that workers are started with
    int workers;       // side by side; 0: by measurement
    int threads;       // of a worker; 0: by measurement
    int ranks;         // of a worker of the engine mpi; 0: one a core
    double expiry, seconds; // of claims; of a worker
} sl_commands__study_context;

/* An sl_study_check by the tables of train and eval. */
sl_status sl_commands__study_check(const char *command, const char *options_json, bool whole,
                              void *payload);

bool sl_commands__is_folder(const char *path);
/* *out := the plan in the folder of a study. SL_EINVAL: it holds none. */
SL_NODISCARD sl_status sl_commands__study_plan(sl_study_plan **out, sl_arena *a, const char *dir);

/* *out := the options of a run as train reads them, with this many threads; 0: one per core. Clear
 * it whatever is returned. */
SL_NODISCARD sl_status sl_commands__study_setup(sl_commands__setup *out, const sl_study_plan *plan,
                                           const sl_study_run *run, int64_t threads);
/* *out := cost of a run in FLOPs, by the paper's count, before it has run. */
SL_NODISCARD sl_status sl_commands__study_flops(double *out, const sl_study_plan *plan,
                                           const sl_study_run *run);

/* ---------------------------------------------------------------- how far it is ------------- */

SL_NODISCARD sl_status sl_commands__study_tally(sl_report_tally *out,
                                                const sl_commands__study_context *s,
                                                const sl_study *study);
/* Reports it as progress. SL_ECANCEL: the caller cancelled. */
SL_NODISCARD sl_status sl_commands__study_progress(const sl_commands__study_context *s,
                                                   const sl_report_tally *t);

/* ---------------------------------------------------------------- the runner ---------------- */

typedef struct sl_commands__runner {
    sl_study_runner runner; // its payload is this
    const sl_commands__study_context *study;
    sl_report_tally tally;    // of the last look
    double next_tally;      // sl_clock() from which on the next is made
    sl_str notes;           // damaged files that were reported already
} sl_commands__runner;
void sl_commands__runner_init(sl_commands__runner *r, const sl_commands__study_context *s);
void sl_commands__runner_clear(sl_commands__runner *r);
/* Works in this process. *out_of_time: it stopped for --time-limit, saved. */
SL_NODISCARD sl_status sl_commands__study_worker(bool *out_of_time,
                                                 const sl_commands__study_context *s, bool wait);

/* ---------------------------------------------------------------- engines ------------------- */

/* An engine starts workers and waits for them. */
typedef struct sl_commands__engine {
    const char *name;
    /* Until the study is complete. *out_of_time: stopped for --time-limit. */
    sl_status (*work)(bool *out_of_time, sl_commands__study_context *s);
    /* Appends what it would start, for --dry-run. */
    sl_status (*describe)(sl_str *out, sl_commands__study_context *s);
} sl_commands__engine;
extern const sl_commands__engine sl_commands__engine_local, sl_commands__engine_mpi,
    sl_commands__engine_slurm;

/* s->program := --program, or this program, or symlaw in PATH. */
SL_NODISCARD sl_status sl_commands__study_program(sl_commands__study_context *s);
/* s->workers, s->threads := the options, or the faster choice, measured on the plan's sizes within
 * about a second, and noted. */
SL_NODISCARD sl_status sl_commands__study_choose(sl_commands__study_context *s);

/* A worker process; its standard error is collected. */
typedef struct sl_commands__child {
    int64_t pid;
    int errors;   // a pipe; -1
    sl_str text;
    bool launcher; // mpirun: its own processes work
    bool stopping; // it was sent a signal
    bool ended;
    int code;     // exit code; 128 + n after signal n; 255 where it cannot be known
} sl_commands__child;
/* Starts it in a process group of its own; it receives a signal if this process ends. */
SL_NODISCARD sl_status sl_commands__child_start(sl_commands__child *c, const char *const *argv);
/* Signals it once: a second signal would end it without saving. Of a launcher its own processes are
 * signalled: the launcher would kill them a second later. */
void sl_commands__child_stop(sl_commands__child *c, int signal);
void sl_commands__child_look(sl_commands__child *c); // without waiting: reads, and notices its end
/* One that has not ended is signalled, and killed if it does not end within half a minute. */
void sl_commands__child_clear(sl_commands__child *c);
/* Waits for n of them and reports the progress of the study; stops them if the caller cancels. */
SL_NODISCARD sl_status sl_commands__children_wait(bool *out_of_time, sl_commands__child *c, int n,
                                             const sl_commands__study_context *s);

/* ---------------------------------------------------------------- what it leaves ------------ */

/* runs.csv, laws.json, the report and best.safetensors in the study's folder, from its folders;
 * members of the result, and, unless --json, lines for people. */
SL_NODISCARD sl_status sl_commands__study_finish(const sl_commands__study_context *s,
                                                 sl_str *result, bool *ok);
/* laws.json and report.html with its figures; their path is printed last. */
SL_NODISCARD sl_status sl_commands__study_report(const sl_commands__study_context *s,
                                                 const sl_study *study, sl_arena *a,
                                                 sl_str *result);
/* The state of each run. */
SL_NODISCARD sl_status sl_commands__study_status(const sl_commands__study_context *s,
                                                 sl_str *result);
/* The runs to come and their cost. */
SL_NODISCARD sl_status sl_commands__study_outlook(const sl_commands__study_context *s,
                                                  const sl_study *study, sl_str *out);

/* A file of the study's folder := text, or its failure. */
SL_NODISCARD sl_status sl_commands__study_write(const sl_commands__study_context *s,
                                                const char *name, const sl_str *text);

#endif
