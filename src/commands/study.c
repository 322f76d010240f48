/* cmd_study - the verb `study`: its options, which study is meant, and which part of the work. */
#include <string.h>
#include <sys/stat.h>

#include "commands/study_impl.h"

#define OWN_OPTIONS(X)                                                                           \
    X(ACTION, "action", CHOICE, 1, "ACTION", NULL, "init|run|worker|status|report", 0, 0,        \
      "what to do")                                                                              \
    X(PATH, "path", FILE_IN, 1, "PLAN|DIR", NULL, NULL, 0, 0,                                    \
      "a plan, or the folder of a study that was begun")                                         \
    X(OUT, "out", FOLDER_INOUT, 1, "DIR", NULL, NULL, 0, 0,                                      \
      "folder of the study; runs/ and the plan's name if it is not given")                       \
    X(DRY_RUN, "dry-run", FLAG, 0, NULL, "false", NULL, 0, 0,                                    \
      "run: print what would be started, and start nothing")                                     \
    X(ENGINE, "engine", CHOICE, 1, "ENGINE", "local", "local|mpi|slurm", 0, 0,                   \
      "who does the work: processes of this machine, ranks of mpirun that share each run, or "   \
      "jobs of Slurm")                                                                           \
    X(WORKERS, "workers", INT, 1, "N", "0", NULL, 0, 10000,                                      \
      "runs at a time; 0: with the engine local, what is measured to be faster; with slurm, as " \
      "many as can begin, 16 at most")                                                           \
    X(RANKS, "ranks", INT, 1, "N", "0", NULL, 0, 100000,                                         \
      "engine mpi: processes that share a run; 0: one for each core")                            \
    X(EXPIRY, "expiry", REAL, 1, "S", "600", NULL, 0.1, 1e6,                                     \
      "seconds without a sign of life after which a run of another machine is taken over")       \
    X(TIME_LIMIT, "time-limit", REAL, 1, "S", "0", NULL, 0, 1e9,                                 \
      "save and stop after so many seconds; 0: no limit")                                        \
    X(PROGRAM, "program", TEXT, 1, "PATH", NULL, NULL, 0, 0,                                     \
      "program that workers are started with; this one if it is not given")

#define SLURM_OPTION(...) SL_COMMANDS__TABLE_ROW("engine slurm", __VA_ARGS__)

enum {
    OWN_OPTIONS(SL_COMMANDS__ID) SL_STUDY_SLURM_TABLE(SL_COMMANDS__TABLE_ID)
        SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { OWN_OPTIONS(SL_COMMANDS__OPTION) SL_STUDY_SLURM_TABLE(
    SLURM_OPTION) SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Runs a scaling study: models of several sizes are trained over batch sizes,\n"
    "learning rates and lengths, the best of each size are evaluated, and laws are\n"
    "fitted to what comes out. A plan says which; \"symlaw info PLAN\" says what it\n"
    "costs.\n"
    "\n"
    "  symlaw study run PLAN      does all of it, or goes on with it\n"
    "  symlaw study status PLAN   each run with its state, what remains\n"
    "  symlaw study init PLAN     makes the folder, and starts nothing\n"
    "  symlaw study worker DIR    one more worker, wherever the folder is seen\n"
    "  symlaw study report DIR    table, laws and report of what is finished by now\n"
    "\n"
    "Examples:\n"
    "  symlaw study run studies/quick.json            about a minute\n"
    "  symlaw study run studies/micro.json            about ten minutes\n"
    "  symlaw study run studies/paper.json --dry-run  what it would start\n"
    "  symlaw study status runs/micro\n"
    "  symlaw study run studies/paper.json --engine slurm --workers 32 --nodes 2\n"
    "      --tasks-per-node 4 --cpus-per-task 16 --time 1-00:00:00 --partition long\n"
    "\n"
    "The folder of the study is all that is known of it. Ctrl-C, SIGTERM, a crash or\n"
    "a full disk may end it at any moment: the same command goes on, each run from\n"
    "its last checkpoint, and comes to the same table. Any number of workers may\n"
    "join; each takes a run that nobody works on. A run of a worker that is gone is\n"
    "taken over, at once on the same machine, else after --expiry seconds without a\n"
    "sign of life. A run that fails is tried again as often as the plan says, and\n"
    "does not stop the others. Exit code 1: some have failed for good.\n"
    "\n"
    "The best model is left as best.safetensors in the folder of the study and beside\n"
    "that folder. A worker that --time-limit has ended has the exit code 75.\n"
    "\n"
    "--engine slurm submits the workers as an array job and waits for them; stopping\n"
    "it stops the waiting, not the jobs. A worker that nears the time limit of its\n"
    "job saves and is queued again. After scancel the same command submits new\n"
    "workers, and while there are some it submits none.";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

static const sl_commands__engine *const engines[] = { &sl_commands__engine_local,
                                                      &sl_commands__engine_mpi,
                                                      &sl_commands__engine_slurm };

static const sl_commands__engine *engine_named(const char *name) {
    for (int i = 0; i < SL_LEN(engines); i++)
        if (strcmp(engines[i]->name, name) == 0) return engines[i];
    return &sl_commands__engine_local;
}

/* ---------------------------------------------------------------- which study --------------- */

static sl_status join(const char **out, sl_arena *a, const char *first, const char *second) {
    const size_t n = strlen(first) + strlen(second) + 1;
    char *text = sl_arena_alloc(a, n);
    if (!text) return sl_fail_memory(n, 1, "a file name");
    sl_snprintf(text, n, "%s%s", first, second);
    *out = text;
    return SL_OK;
}

/* The folder that a plan's study is in. */
static sl_status find_folder(sl_commands__study_context *s, sl_commands__run *run) {
    s->dir = value(run, OPT_OUT)->text[0];
    return s->dir ? SL_OK : join(&s->dir, &run->arena, "runs/", s->plan->name);
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A plan, or the folder of a study with its plan. */
static sl_status find_study(sl_commands__study_context *s, sl_commands__run *run) {
    const char *plan, *path = value(run, OPT_PATH)->text[0];
    *s = (sl_commands__study_context){ .run = run,
                                       .named = path,
                                       .workers = (int)value(run, OPT_WORKERS)->whole,
                                       .threads = (int)value(run, OPT_THREADS)->whole,
                                       .ranks = (int)value(run, OPT_RANKS)->whole,
                                       .expiry = value(run, OPT_EXPIRY)->real,
                                       .seconds = value(run, OPT_TIME_LIMIT)->real };
    if (!path) return sl_fail(SL_EINVAL, "missing plan: give a plan or the folder of a study");
    if (!is_folder(path)) {
        SL_TRY(sl_study_plan_read(&s->plan, &run->arena, path, sl_commands__study_check, NULL));
        return find_folder(s, run);
    }
    if (value(run, OPT_OUT)->text[0])
        return sl_fail(SL_EINVAL, "%.300s is the folder of a study: --out is for plans", path);
    SL_TRY(join(&plan, &run->arena, path, "/plan.json"));
    struct stat there;
    if (stat(plan, &there) != 0)
        return sl_fail(SL_EINVAL,
                       "%.300s holds no study: it has no plan.json; \"symlaw study init PLAN --out "
                       "%.300s\" begins one",
                       path, path);
    s->dir = path;
    return sl_study_plan_read(&s->plan, &run->arena, plan, sl_commands__study_check, NULL);
}

/* ---------------------------------------------------------------- actions ------------------- */

static sl_status look_ahead(const sl_commands__study_context *s, sl_str *text) {
    sl_arena arena = { 0 };
    sl_study study;
    sl_status st = sl_study_look(&study, &arena, s->plan, s->dir);
    if (st == SL_OK) st = sl_commands__study_outlook(s, &study, text);
    sl_arena_clear(&arena);
    return st;
}

static sl_status init(sl_commands__study_context *s, sl_str *result) {
    sl_str text = { 0 };
    sl_status st;
    SL_GO(sl_study_plan_store(s->plan, s->dir));
    SL_GO(look_ahead(s, &text));
    sl_io_json_add_text(result, "folder", s->dir);
    sl_io_json_add_text(result, "outlook", text.text);
    if (!value(s->run, OPT_JSON)->flag) {
        sl_str_add_bytes(&s->run->output, text.text, text.len);
        sl_str_addf(&s->run->output, "%s is ready: symlaw study run %s\n", s->dir, s->dir);
    }
    st = sl_commands__output(s->run);
done:
    sl_str_clear(&text);
    return st;
}

static sl_status dry_run(sl_commands__study_context *s, sl_str *result) {
    sl_str text = { 0 };
    sl_status st;
    SL_GO(look_ahead(s, &text));
    SL_GO(engine_named(value(s->run, OPT_ENGINE)->text[0])->describe(&text, s));
    sl_io_json_add_text(result, "folder", s->dir);
    sl_io_json_add_text(result, "would_run", text.text);
    if (!value(s->run, OPT_JSON)->flag) sl_str_add_bytes(&s->run->output, text.text, text.len);
    st = sl_commands__output(s->run);
done:
    sl_str_clear(&text);
    return st;
}

/* Stopped on request: what to type. */
static sl_status fail_stopped(const sl_commands__study_context *s) {
    return sl_fail(SL_ECANCEL,
                   "stopped on request; all is saved in %.300s; the same command continues",
                   s->dir);
}

static void set_out_of_time(const sl_commands__study_context *s, sl_str *result) {
    s->run->exit_code = SL_COMMANDS__OUT_OF_TIME;
    sl_io_json_add_bool(result, "out_of_time", true);
}

static sl_status is_complete(bool *out, const sl_commands__study_context *s) {
    sl_arena arena = { 0 };
    sl_study study;
    const sl_status st = sl_study_look(&study, &arena, s->plan, s->dir);
    *out = st == SL_OK && study.complete;
    sl_arena_clear(&arena);
    return st;
}

static sl_status run_all(sl_commands__study_context *s, sl_str *result, bool *ok) {
    bool out_of_time = false, complete;
    if (value(s->run, OPT_DRY_RUN)->flag) return dry_run(s, result);
    SL_TRY(sl_study_plan_store(s->plan, s->dir));
    SL_TRY(is_complete(&complete, s));
    const sl_commands__engine *engine = engine_named(value(s->run, OPT_ENGINE)->text[0]);
    const sl_status st = complete ? SL_OK : engine->work(&out_of_time, s);
    if (st == SL_ECANCEL && !out_of_time)
        return engine == &sl_commands__engine_slurm ? st : fail_stopped(s); // whose jobs go on
    if (st != SL_ECANCEL) SL_TRY(st);
    if (out_of_time) {
        set_out_of_time(s, result);
        sl_commands__note(&s->run->listener,
                          "out of time; all is saved in %.300s; the same command "
                          "continues",
                          s->dir);
        return SL_OK;
    }
    const sl_status end = sl_commands__study_finish(s, result, ok);
    return end == SL_ECANCEL ? fail_stopped(s) : end;
}

/* Every rank. */
static sl_status work_once(sl_commands__study_context *s, sl_str *result) {
    bool out_of_time = false;
    if (s->threads == 0) s->threads = sl_commands__threads(s->run);
    // named by its plan it may be the first, and must not work by another plan than the others
    SL_TRY(sl_par_agree(sl_par_rank() == 0 ? sl_study_plan_store(s->plan, s->dir) : SL_OK));
    sl_status st = sl_commands__study_worker(&out_of_time, s, true);
    int64_t late = out_of_time; // rank 0 knows
    SL_TRY(sl_par_share(&late, sizeof late));
    if (st == SL_ECANCEL && late) {
        set_out_of_time(s, result);
        return SL_OK;
    }
    if (st == SL_ECANCEL) return fail_stopped(s);
    SL_TRY(st);
    sl_io_json_add_text(result, "folder", s->dir);
    return SL_OK;
}

/* By the plan that the folder has: another one would call its runs by other names. */
static sl_status report(sl_commands__study_context *s, sl_str *result, bool *ok) {
    const char *plan;
    struct stat there;
    SL_TRY(join(&plan, &s->run->arena, s->dir, "/plan.json"));
    if (stat(plan, &there) != 0)
        return sl_fail(SL_EINVAL, "%.300s holds no study yet: symlaw study run %.300s begins it",
                       s->dir, s->named);
    SL_TRY(sl_study_plan_store(s->plan, s->dir));
    return sl_commands__study_finish(s, result, ok);
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    sl_commands__study_context s;
    const char *action = value(run, OPT_ACTION)->text[0];
    if (!action)
        return sl_fail(SL_EINVAL,
                       "what is to be done? symlaw study init, run, worker, status or report");
    const bool worker = strcmp(action, "worker") == 0;
    if (sl_par_ranks() > 1 && !worker)
        return sl_fail(SL_EINVAL,
                       "study %s runs as one process, not as %d; --engine mpi starts "
                       "ranks by itself",
                       action, sl_par_ranks());
    SL_TRY(sl_par_agree(find_study(&s, run)));
    if (worker) return work_once(&s, result);
    if (strcmp(action, "init") == 0) return init(&s, result);
    if (strcmp(action, "run") == 0) return run_all(&s, result, ok);
    if (strcmp(action, "status") == 0) return sl_commands__study_status(&s, result);
    return report(&s, result, ok);
}

const sl_commands__command sl_commands__study = {
    .info = { .name = "study",
              .summary = "run a scaling study: train, evaluate, fit, report",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options),
              .positional = "action",
              .positional_next = "path",
              .ranks = 1 },
    .work = work,
};
