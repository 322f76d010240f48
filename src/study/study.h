/* study - a plan of runs, the folder of a study, and the next job.
 *
 *     plan (JSON)  --expand-->  runs, each with its state  --next-->  job  --claim, runner--> files
 *                                   ^                                                         |
 *                                   +----------------- read from the run folders -------------+
 *
 * A plan lists sizes, batch sizes, learning rates, ratios, seeds, evaluations. A study is a folder:
 *
 *     plan.json             the plan, as it was when the study began; another one is refused
 *     runs/<run>/           one run: the files of train (run.json, log.jsonl, checkpoints), and
 *         result.json       written at its end: losses, tokens, FLOPs, seconds, provenance
 *         eval-<set>.json   one evaluation, in full; <set> is test, withheld or formulas
 *         eval-<set>.jsonl  its journal, with the candidates of each problem
 *         attempts.json     failures of training and of each evaluation, with the last message
 *         claim-<n>         the process that works here now: the highest n counts
 *     baselines/<name>/     eval-test.json of a source of formulas that is no model; claims too
 *     runs.csv              all runs as laws/ reads them; like laws.json, report.html, figures/ and
 *                           best.safetensors derived from the folders and never read back
 *     slurm/                script, claims and logs of workers that Slurm starts
 *
 * These folders are the only state. The next job is a pure function of the plan and of the finished
 * folders, so any number of workers, started and killed at any time on any machine that shares the
 * folder, produce the same files:
 *
 *     sweep      every batch size x learning rate of a size at the sweep ratio. Where the best (by
 *                validation loss alone) is on the edge of the grid, the grid grows there, up to a
 *                bound
 *     scale      the best of each size at the plan's ratios, with the plan's seeds
 *     evaluate   the runs of `scale`: test, withheld, formulas; and the baselines
 *
 * A run is named by its configuration (`32x2-b16-lr4e-3-r50-s0`), so a run that belongs to the
 * sweep and to scale has one folder and is trained once.
 *
 * Training and evaluation are done by a runner that the caller passes: that of the commands or, in
 * tests, a fast imitation. Options of train and eval in a plan are JSON objects that only the
 * runner interprets and checks.
 *
 * Threads: a plan is read-only once read. Claims and jobs belong to the calling thread. */
#ifndef SL_STUDY_H
#define SL_STUDY_H

#include "laws/laws.h"

/* ---------------------------------------------------------------- plan ---------------------- */

enum {
    SL_STUDY_MAX_SIZES = 64,
    SL_STUDY_MAX_GRID = 64,
    SL_STUDY_MAX_SEEDS = 64,
    SL_STUDY_ID = 128
};

/* A list of numbers of a plan, ascending and without repeats. */
typedef struct sl_study_list {
    const double *at;
    int n;
} sl_study_list;

/* Sets of problems.    id        name */
#define SL_STUDY_SETS(X)      \
    X(TEST,     "test")       \
    X(WITHHELD, "withheld")   \
    X(FORMULAS, "formulas")
typedef enum sl_study_set {
#define X(id, name) SL_STUDY_SET_##id,
    SL_STUDY_SETS(X)
#undef X
    SL_STUDY_SET_COUNT
} sl_study_set;
const char *sl_study_set_name(sl_study_set s);

/* One size, with its settings and those of the whole study. */
typedef struct sl_study_size {
    const char *name;     // "32x2", "6.5M", or the plan's own name; unique
    const char *train;    // options of train as a JSON object: the study's, then the size's own
    const char *eval[SL_STUDY_SET_COUNT]; // options of eval; NULL: this set is not evaluated
    sl_study_list batch, lr, ratios;      // grid of the sweep; ratios of scale
    sl_study_list sweep_seeds, scale_seeds;
    double sweep_ratio;
    int grow; // most values that are added to batch and to lr, on each side
} sl_study_size;

typedef struct sl_study_plan {
    const char *name, *about; // about: NULL if the plan has none
    const char *text;         // the plan as it was read
    sl_study_size *size;      // in the order of the plan
    int sizes;
    const char *const *baselines; // sources of eval that are no model, and "search"
    int n_baselines;
    int attempts; // how often a run or an evaluation may fail
} sl_study_plan;

/* *out := the plan in a. SL_EINVAL or SL_EFORMAT: file, line, path of the member
 * ("sizes[2].widht"), what it must be and, for a name, the nearest one. Options of train and eval
 * are checked by `check` (NULL: not at all), whose message is prefixed by the path: each option as
 * an object of its own (name, type, range), then, with `whole`, all options of a size together (are
 * they consistent?). */
typedef sl_status (*sl_study_check)(const char *command, const char *options_json, bool whole,
                                    void *payload);
SL_NODISCARD sl_status sl_study_plan_read(sl_study_plan **out, sl_arena *a, const char *path,
                                          sl_study_check check, void *payload);

/* dir/plan.json := the plan, with copies of the files of formulas that it names beside it, so that
 * the folder alone is enough. SL_EINVAL: the folder holds another plan; the same plan in any layout
 * stays unmodified. */
SL_NODISCARD sl_status sl_study_plan_store(const sl_study_plan *plan, const char *dir);

/* ---------------------------------------------------------------- runs ---------------------- */

typedef enum sl_study_state {
    SL_STUDY_WAITING,
    SL_STUDY_BEGUN,     // has files, is not finished; its claim shows whether a worker runs it
    SL_STUDY_TRAINED,   // result.json exists; evaluations may be missing
    SL_STUDY_DONE,      // trained, with all its evaluations
    SL_STUDY_FAILED,    // diverged, or training or an evaluation failed as often as allowed
} sl_study_state;

/* The content of result.json; NaN for what is not known. Only `seconds` and `cpu_seconds` depend on
 * how it was run. */
typedef struct sl_study_result {
    double params, tokens, flops, flops_executed, steps;
    double loss_train, loss_valid;           // nats per token
    double loss_valid_expression;            // nats per expression
    double seconds, cpu_seconds, threads, ranks;
    const char *checkpoint;                  // name of the weights file in the run's folder
    const char *cpu, *isa, *libraries, *version, *revision; // provenance
    bool diverged;                           // a loss that is not finite ended it: losses are NaN
} sl_study_result;

/* A share of problems: hits is the mean over sampling seeds. */
typedef struct sl_study_share {
    double hits, trials; // NaN: not evaluated
} sl_study_share;

/* Problems solved within a time each. */
typedef struct sl_study_budget {
    double seconds, solved, trials, wrong; // wrong: reported as exact, and are not
} sl_study_budget;

enum { SL_STUDY_BUDGETS = 16 };

/* The content of eval-<set>.json. */
typedef struct sl_study_evaluation {
    sl_study_share solved, r2;
    sl_study_budget budget[SL_STUDY_BUDGETS]; // ascending; only the search has any
    int budgets;
    double seconds_most; // of one problem; NaN
    double loss;            // nats per token; NaN
    double loss_expression; // nats per expression; NaN
    double seconds, cpu_seconds;
    int attempts;           // failures so far
    const char *error;      // of the last one; NULL
    bool there;
} sl_study_evaluation;

typedef struct sl_study_run {
    char id[SL_STUDY_ID];  // also the name of its folder
    int size;              // of the plan
    double batch, lr, ratio;
    int64_t seed;
    bool sweep, scale;     // which phases it belongs to; maybe both
    sl_study_state state;
    int attempts;          // failures of training so far
    const char *error;     // of the last one; NULL
    bool trained;          // it has a result that did not diverge, in any state
    sl_study_result result; // if there is one
    sl_study_evaluation eval[SL_STUDY_SET_COUNT];
} sl_study_run;

/* The optimum of a size's sweep, when it is known. */
typedef struct sl_study_best {
    bool known;      // all runs of the grid, as far as it has grown, are finished
    bool edge;       // on the edge of a grid that may not grow further
    double batch, lr; // a point of the grid
    double loss;     // mean validation loss over seeds; infinite: no run succeeded, and scale has
                     // none; NaN: a grid of one point, which is not swept
} sl_study_best;

typedef struct sl_study {
    const sl_study_plan *plan;
    const char *dir;
    sl_study_run *run;      // all runs known so far, ordered by size, batch, lr, ratio, seed
    int runs;
    sl_study_best *best;    // per size
    sl_study_evaluation *baseline; // per baseline, on test
    const char *notes;      // damaged files that were ignored, a line each; ""
    bool complete;          // nothing is left but what has failed as often as allowed
} sl_study;

/* *out := the current state of the study in folder dir, in a. A damaged file is named in `notes`
 * and counts as missing. */
SL_NODISCARD sl_status sl_study_look(sl_study *out, sl_arena *a, const sl_study_plan *plan,
                                     const char *dir);

/* Appends the options of train for a run, as a JSON object: those of the size, and batch, lr,
 * ratio, seed. */
void sl_study_train_options(sl_str *s, const sl_study_plan *plan, const sl_study_run *run);

bool sl_study_is_search(const char *baseline);
/* Appends the options of eval for a baseline, as a JSON object. set: the options of the set that it
 * is evaluated on; NULL: none. */
SL_NODISCARD sl_status sl_study_baseline_options(sl_str *s, const char *name, const char *set);

sl_study_result sl_study_no_result(void); // all values NaN or NULL
/* dir/result.json := r, atomically. It reads back exactly; NaN is null. */
SL_NODISCARD sl_status sl_study_result_write(const char *dir, const sl_study_result *r);
/* Counts a failure in dir/attempts.json. what: "train", or the name of a set. */
SL_NODISCARD sl_status sl_study_attempt_add(const char *dir, const char *what, const char *message);

/* Appends runs.csv: all runs that have a result. Only the columns named seconds_..., the last ones,
 * depend on how the runs were executed. */
void sl_study_csv(sl_str *s, const sl_study *study);
/* The run of scale with the lowest validation loss; -1: there is none. */
int sl_study_best_run(const sl_study *s);
/* *out := the runs as a table for laws. */
SL_NODISCARD sl_status sl_study_table(sl_laws_table *out, sl_arena *a, const sl_study *study);

/* ---------------------------------------------------------------- jobs ---------------------- */

typedef enum sl_study_job_kind {
    SL_STUDY_JOB_TRAIN,
    SL_STUDY_JOB_EVAL,
    SL_STUDY_JOB_BASELINE,
} sl_study_job_kind;

typedef struct sl_study_job {
    sl_study_job_kind kind;
    int run;                // of the study; for a baseline: the trained run whose data it uses
    sl_study_set set;       // of EVAL
    int baseline;           // of BASELINE
    char folder[SL_STUDY_ID + 16]; // below the study's folder: "runs/<id>", "baselines/<name>"
} sl_study_job;

/* jobs[0..return-1] := jobs that can run now, most urgent first: sweeps before scale, the longest
 * run first, evaluations when no training is left to begin, so that workers end together. flops[r]:
 * cost of run r (NULL: order of the plan). In a; none while the study waits for running jobs. -1:
 * no memory. */
int sl_study_jobs(sl_study_job **jobs, sl_arena *a, const sl_study *study, const double *flops);

/* ---------------------------------------------------------------- claims -------------------- */

/* A claim is a lock file, claim-<n>, created by an exclusive link; the highest n counts.
 * Its holder writes heartbeats into it. Another process may take the folder over, by creating
 * claim-<n+1>, when it has seen the same beat for `expiry` seconds of its own monotonic clock (so
 * clocks of machines need not agree), when the holder has released it, or at once when the holder
 * was a process of this machine that has ended. A holder that finds a higher claim, or none, has
 * lost it. */
typedef struct sl_study_claim sl_study_claim;
typedef struct sl_study_watch sl_study_watch; // beats seen, and since when; one per worker

SL_NODISCARD sl_status sl_study_watch_new(sl_study_watch **out, double expiry);
void sl_study_watch_free(sl_study_watch *w);
/* *out := a claim of folder dir (made if it is missing), or NULL: another process holds it. */
SL_NODISCARD sl_status sl_study_claim_take(sl_study_claim **out, sl_study_watch *w,
                                           const char *dir);
/* Writes a heartbeat, with progress for `status` (done of total, text), if the last one is old
 * enough. SL_ECANCEL: the claim is lost. */
SL_NODISCARD sl_status sl_study_claim_beat(sl_study_claim *c, double done, double total,
                                           const char *text);
/* Is the claim still held? Must be called before every rename into the folder. SL_ECANCEL: no. */
SL_NODISCARD sl_status sl_study_claim_check(const sl_study_claim *c);
void sl_study_claim_release(sl_study_claim *c); // others may take it now; frees it
/* The claim of a folder, for `status`. */
typedef struct sl_study_holder {
    bool held;          // claimed and not released
    bool gone;          // by a process of this machine that has ended
    char host[64];
    int64_t pid;
    double done, total; // of its work
    char text[160];     // its line of progress
    double beat_seconds; // by the file's time and this machine's clock: a hint
} sl_study_holder;
SL_NODISCARD sl_status sl_study_holder_read(sl_study_holder *out, const char *dir);

/* ---------------------------------------------------------------- workers ------------------- */

typedef struct sl_study_runner {
    /* Does a job in folder dir. `claim` is that of the folder, NULL on ranks above 0. It must call
     * sl_study_claim_check before every write there and sl_study_claim_beat with progress;
     * SL_ECANCEL of either ends the work. Last it writes result.json or eval-<set>.json,
     * atomically. All ranks train; rank 0 alone evaluates. */
    sl_status (*work)(const struct sl_study_runner *r, const sl_study *study,
                      const sl_study_job *job, const char *dir, sl_study_claim *claim);
    /* *out := cost of a run in FLOPs, by the paper's count */
    sl_status (*flops)(double *out, const struct sl_study_runner *r, const sl_study_plan *plan,
                       const sl_study_run *run);
    /* reports progress to the caller of the worker; SL_ECANCEL: stop */
    sl_status (*report)(const struct sl_study_runner *r, const sl_study *study, const char *text);
    void *payload;
} sl_study_runner;

typedef struct sl_study_worker_options {
    double expiry;   // seconds without a beat after which a claim expires
    double seconds;  // stop, saved, after this time; 0: none
    bool wait;       // until the study is complete; else until nothing can be claimed
} sl_study_worker_options;

/* Runs jobs until the study is complete. SL_ECANCEL: stopped on request, or out of time
 * (*out_of_time), all saved and released. A job that fails is counted in its folder and the next
 * one is taken; failures of the disk itself (SL_EIO) end the worker. */
SL_NODISCARD sl_status sl_study_work(bool *out_of_time, const sl_study_plan *plan, const char *dir,
                                     const sl_study_runner *runner,
                                     const sl_study_worker_options *o);

/* ---------------------------------------------------------------- slurm --------------------- */

/* Workers as an array job of Slurm. A job script is written to slurm/job.sh in the study's folder
 * and passed to sbatch; each task of the array is one worker, of one process or of several ranks
 * that srun starts. Slurm queues, starts, stops and requeues them; what is done is read from the
 * folders. Jobs are found by a name that is unique to the folder, so nothing is submitted twice.
 * Needs a file system that all nodes share.
 *
 * Described by sl_study_slurm_table (slurm_script.c) up to mpi. */
typedef struct sl_study_slurm_options {
    int64_t nodes, tasks, cpus; // of a worker; of each node; of a process, 0: by Slurm
    const char *partition, *account, *time; // NULL: not given
    int64_t margin;      // seconds before the time limit; 0: by the limit
    const char *sbatch;  // more options; NULL: none
    const char *before;  // commands; NULL: none
    const char *mpi;     // type that srun takes
    int64_t workers;         // tasks of the array
    const char *program;     // symlaw, by a path that is valid on every node
    const char *const *words; // further arguments of `symlaw study worker DIR`
    int n_words;
} sl_study_slurm_options;

extern const sl_option_table sl_study_slurm_table;
sl_study_slurm_options sl_study_slurm_defaults(void); // of one worker

/* Exit code of a worker that saved because its time ran out: the script requeues it. */
enum { SL_STUDY_OUT_OF_TIME = 75 }; // EX_TEMPFAIL of sysexits.h

/* Appends the job script, and the command line that submits it. SL_EINVAL: an option or a path that
 * cannot be written there. Writes no file. */
SL_NODISCARD sl_status sl_study_slurm_script(sl_str *script, sl_str *command,
                                             const sl_study_slurm_options *o,
                                             const sl_study_plan *plan, const char *dir);

/* Jobs of the study, as squeue lists them: tasks of arrays. */
typedef struct sl_study_slurm_jobs {
    int running, waiting;
    int ending;      // stopped or stopping; some may return to the queue
    char id[32];     // of one of the arrays; "": none
    char reason[64]; // why one of them waits, from squeue
} sl_study_slurm_jobs;
SL_NODISCARD sl_status sl_study_slurm_ask(sl_study_slurm_jobs *out, const sl_study_plan *plan,
                                          const char *dir);

/* Submits workers unless this user has some for this folder; *jobs: the jobs after that. The number
 * of the job is written to slurm/job. SL_EIO: Slurm is missing or refuses, with its message.
 * runner->report is called while it waits for jobs that are ending; it may cancel. */
SL_NODISCARD sl_status sl_study_slurm_submit(bool *submitted, sl_study_slurm_jobs *jobs,
                                             const sl_study_slurm_options *o,
                                             const sl_study *study, const sl_study_runner *runner);

/* Waits until the study is complete, calling runner->report several times a second. SL_EIO: no job
 * is left but the study is not complete. SL_ECANCEL: cancelled by report; the jobs continue. */
SL_NODISCARD sl_status sl_study_slurm_wait(const sl_study_plan *plan, const char *dir,
                                           const sl_study_runner *runner);

#endif
