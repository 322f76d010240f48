/* study - the command `study`: its options, its study, its actions. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/study_impl.h"

typedef sl_commands__study_options options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

enum { INIT, RUN, WORKER, STATUS, REPORT }; // places in --action

static const sl_option own_rows[] = {
    ROW(action, "action", .value = NAN, .choices = "init|run|worker|status|report",
        .shown = "ACTION", .help = "what to do"),
    ROW(path, "path", .path = SL_PATH_FILE_INPUT, .shown = "PLAN|DIR",
        .help = "a plan, or the folder of a study that was begun"),
    ROW(out, "out", .path = SL_PATH_FOLDER_IN_PLACE, .shown = "DIR",
        .help = "folder of the study; runs/ and the plan's name if not given"),
    ROW(dry_run, "dry-run", .help = "run: print what would be started, and start nothing"),
    ROW(engine, "engine", .value = 0, .choices = "local|mpi|slurm", .shown = "ENGINE",
        .help = "workers: processes of this machine, ranks of mpirun that share each run, or jobs "
                "of Slurm"),
    ROW(workers, "workers", .value = 0, .max = 10000, .shown = "N",
        .help = "runs at a time; 0: with the engine local, the faster number, as measured; with "
                "slurm, as many as can begin, 16 at most"),
    ROW(ranks, "ranks", .value = 0, .max = 100000, .shown = "N",
        .help = "engine mpi: processes that share a run; 0: one for each core"),
    ROW(expiry, "expiry", .value = 600, .min = 0.1, .max = 1e6, .shown = "S",
        .help = "seconds without a heartbeat after which a run of another machine is taken over"),
    ROW(time_limit, "time-limit", .value = 0, .max = 1e9, .shown = "S",
        .help = "save and stop after this many seconds; 0: no limit"),
    ROW(program, "program", .shown = "PATH",
        .help = "program that workers are started with; this one if not given"),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Runs a scaling study: models of several sizes are trained over batch sizes,\n"
    "learning rates and lengths, the best of each size are evaluated, and laws are\n"
    "fitted to the results. A plan lists them; \"symlaw info PLAN\" prints the cost.\n"
    "\n"
    "  symlaw study run PLAN      runs all of it, or resumes it\n"
    "  symlaw study status PLAN   state of each run, and what remains\n"
    "  symlaw study init PLAN     makes the folder, and starts nothing\n"
    "  symlaw study worker DIR    one more worker, on any machine with the folder\n"
    "  symlaw study report DIR    table, laws and report of the finished runs\n"
    "\n"
    "Examples:\n"
    "  symlaw study run studies/quick.json            about a minute\n"
    "  symlaw study run studies/micro.json            about ten minutes\n"
    "  symlaw study run studies/paper.json --dry-run  what it would start\n"
    "  symlaw study status runs/micro\n"
    "  symlaw study run studies/paper.json --engine slurm --workers 32 --nodes 2\n"
    "      --tasks-per-node 4 --cpus-per-task 16 --time 1-00:00:00 --partition long\n"
    "\n"
    "The folder of the study holds all of its state. Ctrl-C, SIGTERM, a crash or a\n"
    "full disk may end it at any moment: the same command resumes each run from its\n"
    "last checkpoint and produces the same table. Any number of workers may join;\n"
    "each takes a run that no other works on. A run of a worker that has ended is\n"
    "taken over, at once on the same machine, else after --expiry seconds without a\n"
    "heartbeat. A run that fails is tried again as often as the plan says, and does\n"
    "not stop the others. Exit code 1: some have failed finally.\n"
    "\n"
    "The best model is stored as best.safetensors in the folder of the study and\n"
    "beside that folder. A worker that --time-limit has ended has the exit code 75.\n"
    "\n"
    "--engine slurm submits the workers as an array job and waits for them; stopping\n"
    "it stops the waiting, not the jobs. A worker near the time limit of its job\n"
    "saves and is queued again. After scancel the same command submits new workers;\n"
    "while there are some it submits none.";

// in the order of --engine
static const sl_commands__engine *const engines[] = { &sl_commands__engine_local,
                                                      &sl_commands__engine_mpi,
                                                      &sl_commands__engine_slurm };

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
static sl_status find_folder(sl_commands__study_context *s, sl_commands_run *run) {
    s->dir = s->options->out;
    return s->dir ? SL_OK : join(&s->dir, &run->arena, "runs/", s->plan->name);
}

bool sl_commands__is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

sl_status sl_commands__study_plan(sl_study_plan **out, sl_arena *a, const char *dir) {
    const char *plan;
    struct stat there;
    SL_TRY(join(&plan, a, dir, "/plan.json"));
    if (stat(plan, &there) != 0)
        return sl_fail(SL_EINVAL,
                       "%.300s holds no study: it has no plan.json; \"symlaw study init PLAN --out "
                       "%.300s\" begins one",
                       dir, dir);
    return sl_study_plan_read(out, a, plan, sl_commands__study_check, NULL);
}

/* A plan, or the folder of a study with its plan. */
static sl_status find_study(sl_commands__study_context *s, sl_commands_run *run) {
    const options *o = run->options;
    const char *path = o->path;
    *s = (sl_commands__study_context){ .run = run,
                                       .options = o,
                                       .named = path,
                                       .workers = (int)o->workers,
                                       .threads = (int)o->common.threads,
                                       .ranks = (int)o->ranks,
                                       .expiry = o->expiry,
                                       .seconds = o->time_limit };
    if (!path) return sl_fail(SL_EINVAL, "missing plan: give a plan or the folder of a study");
    if (!sl_commands__is_folder(path)) {
        SL_TRY(sl_study_plan_read(&s->plan, &run->arena, path, sl_commands__study_check, NULL));
        return find_folder(s, run);
    }
    if (o->out)
        return sl_fail(SL_EINVAL, "%.300s is the folder of a study: --out is for plans", path);
    s->dir = path;
    return sl_commands__study_plan(&s->plan, &run->arena, path);
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
    if (!s->options->common.json) {
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
    SL_GO(engines[s->options->engine]->describe(&text, s));
    sl_io_json_add_text(result, "folder", s->dir);
    sl_io_json_add_text(result, "would_run", text.text);
    if (!s->options->common.json) sl_str_add_bytes(&s->run->output, text.text, text.len);
    st = sl_commands__output(s->run);
done:
    sl_str_clear(&text);
    return st;
}

/* Cancelled: the message has the command that resumes. */
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
    if (s->options->dry_run) return dry_run(s, result);
    SL_TRY(sl_study_plan_store(s->plan, s->dir));
    SL_TRY(is_complete(&complete, s));
    const sl_commands__engine *engine = engines[s->options->engine];
    const sl_status st = complete ? SL_OK : engine->work(&out_of_time, s);
    if (st == SL_ECANCEL && !out_of_time)
        return engine == &sl_commands__engine_slurm ? st : fail_stopped(s); // whose jobs go on
    if (st != SL_ECANCEL) SL_TRY(st);
    if (out_of_time) {
        set_out_of_time(s, result);
        sl_commands_note(&s->run->listener,
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

/* By the plan in the folder: with another plan the runs would have other names. */
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

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    sl_commands__study_context s;
    const options *o = run->options;
    const bool worker = o->action == WORKER;
    if (o->action < 0)
        return sl_fail(SL_EINVAL,
                       "what is to be done? symlaw study init, run, worker, status or report");
    if (sl_par_ranks() > 1 && !worker) {
        char action[SL_OPTION_TEXT_MAX];
        return sl_fail(SL_EINVAL,
                       "study %s runs as one process, not as %d; --engine mpi starts "
                       "ranks by itself",
                       sl_option_choice(action, sl_commands__row(run, &o->action), o->action),
                       sl_par_ranks());
    }
    SL_TRY(sl_par_agree(find_study(&s, run)));
    if (worker) return work_once(&s, result);
    if (o->action == INIT) return init(&s, result);
    if (o->action == RUN) return run_all(&s, result, ok);
    if (o->action == STATUS) return sl_commands__study_status(&s, result);
    return report(&s, result, ok);
}

sl_commands_command sl_commands__study = {
    .info = { .name = "study",
              .summary = "run a scaling study: train, evaluate, fit, report",
              .help = help,
              .positional = "action",
              .positional_next = "path",
              .ranks = 1 },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               { &sl_study_slurm_table, offsetof(options, slurm), "engine slurm", NULL },
               SL_COMMANDS_COMMON_PART },
};
