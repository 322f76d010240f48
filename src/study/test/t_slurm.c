/* The engine `slurm` with sbatch, squeue, srun and scontrol that are shell scripts of this test:
 * what they are given, and what is made of their answers. tests/cli/test_slurm.py has the real
 * ones. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "study/slurm_impl.h"

/* ---------------------------------------------------------------- the imitation ------------- */

/* Programs that answer with the file <name>.out and the code in <name>.code, and keep their words,
 * one a line, in <name>.in. squeue answers with squeue.first once, if that is there. */
static const char imitation[] =
    "#!/bin/sh\n"
    "me=${0##*/}\n"
    "for word; do printf '%s\\n' \"$word\"; done >> \"$FAKE/$me.in\"\n"
    "echo \"${PMIX_RANK:-none}\" > \"$FAKE/$me.rank\"\n"
    "if [ -e \"$FAKE/$me.first\" ]; then cat \"$FAKE/$me.first\"; rm \"$FAKE/$me.first\"\n"
    "elif [ -e \"$FAKE/$me.out\" ]; then cat \"$FAKE/$me.out\"; fi\n"
    "[ ! -e \"$FAKE/$me.err\" ] || cat \"$FAKE/$me.err\" >&2\n"
    "[ ! -e \"$FAKE/$me.code\" ] || exit \"$(cat \"$FAKE/$me.code\")\"\n";
/* srun runs what it is given behind its own options. */
static const char imitation_srun[] =
    "#!/bin/sh\n"
    "for word; do printf '%s\\n' \"$word\"; done >> \"$FAKE/srun.in\"\n"
    "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
    "exec \"$@\"\n";

typedef struct world {
    sl_fixture *t;
    char bin[512], fake[512];
    char dir[600]; // of the study
    sl_study_plan *plan;
    sl_study study;
    sl_study_runner runner;
    sl_study_slurm_options o;
    int reports;      // calls of report
    int cancel_after; // reports after which it cancels; 0: never
} world;

static void put(const world *w, const char *folder, const char *name, const char *text,
                unsigned mode) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    SL_CHECK(w->t, f, "%s", path);
    SL_CHECK(w->t, fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
    SL_CHECK(w->t, chmod(path, mode) == 0, "%s", path);
}

static void answer(const world *w, const char *name, const char *text) {
    put(w, w->fake, name, text, 0600);
}

/* The text of a file, in the test's arena; NULL: there is none. */
static char *get(const world *w, const char *folder, const char *name) {
    char path[1200], *text;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (access(path, R_OK) != 0) return NULL;
    SL_MUST(w->t, sl_file_read(&text, &n, path, 1 << 20));
    char *copy = sl_arena_alloc(&w->t->arena, n + 1);
    SL_CHECK(w->t, copy, "no memory");
    memcpy(copy, text, n + 1);
    sl_free(text);
    return copy;
}

static sl_status on_report(const sl_study_runner *r, const sl_study *study, const char *text) {
    world *w = r->payload;
    SL_CHECK(w->t, study && study->plan && text, "nothing to say");
    w->reports++;
    if (w->cancel_after && w->reports >= w->cancel_after) return sl_fail(SL_ECANCEL, "cancelled");
    return SL_OK;
}

static const char plan_text[] =
    "{\"name\": \"tiny\", \"sizes\": [{\"width\": 8, \"layers\": 1}],\n"
    " \"sweep\": {\"ratio\": 5, \"batch\": [16], \"lr\": [0.001], \"seeds\": [0]},\n"
    " \"scale\": {\"ratios\": [5], \"seeds\": [0]}, \"attempts\": 1}\n";

/* A study in a folder of this name, Slurm's programs in PATH, and nothing queued. */
static void world_make(world *w, sl_fixture *t, const char *name) {
    *w = (world){ .t = t, .o = sl_study_slurm_defaults() };
    static int worlds;
    char base[256];
    snprintf(base, sizeof base, "%s-%d", sl_test_path("world"), worlds++);
    snprintf(w->bin, sizeof w->bin, "%s/bin", base);
    snprintf(w->fake, sizeof w->fake, "%s/fake", base);
    snprintf(w->dir, sizeof w->dir, "%s/%s", base, name);
    SL_MUST(t, sl_folder_make(w->bin, 0700));
    SL_MUST(t, sl_folder_make(w->fake, 0700));
    SL_MUST(t, sl_folder_make(w->dir, 0700));
    static const char *const programs[] = { "sbatch", "squeue", "scontrol", "symlaw" };
    for (int i = 0; i < SL_LEN(programs); i++) put(w, w->bin, programs[i], imitation, 0700);
    put(w, w->bin, "srun", imitation_srun, 0700);
    answer(w, "sbatch.out", "4711\n");

    char path[1200];
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", w->bin);
    SL_CHECK(t, setenv("PATH", path, 1) == 0 && setenv("FAKE", w->fake, 1) == 0, "setenv");
    put(w, base, "plan.json", plan_text, 0600);
    snprintf(path, sizeof path, "%s/plan.json", base);
    SL_MUST(t, sl_study_plan_read(&w->plan, &t->arena, path, NULL, NULL));
    SL_MUST(t, sl_study_look(&w->study, &t->arena, w->plan, w->dir));
    w->runner = (sl_study_runner){ .report = on_report, .payload = w };
    w->o.program = "/opt/symlaw";
    w->o.workers = 3;
}

static sl_status submit(world *w, bool *submitted, sl_study_slurm_jobs *jobs) {
    return sl_study_slurm_submit(submitted, jobs, &w->o, &w->study, &w->runner);
}

static bool says(const char *text) { return strstr(sl_last_error(), text) != NULL; }

/* ---------------------------------------------------------------- the script ---------------- */

static const char *script_of(world *w) {
    sl_str script = { 0 }, command = { 0 };
    SL_MUST(w->t, sl_study_slurm_script(&script, &command, &w->o, w->plan, w->dir));
    char *text = sl_arena_alloc(&w->t->arena, script.len + 1);
    SL_CHECK(w->t, text, "no memory");
    memcpy(text, script.text, script.len + 1);
    sl_str_clear(&script);
    sl_str_clear(&command);
    return text;
}

static void script_has_the_options(void **state) {
    world w;
    world_make(&w, *state, "study");
    const char *plain = script_of(&w);
    static const char *const always[] = { "#!/bin/bash\n",
                                          "\n#SBATCH --array=0-2\n",
                                          "\n#SBATCH --nodes=1\n",
                                          "\n#SBATCH --requeue\n",
                                          "\n#SBATCH --open-mode=append\n",
                                          "TERM\n\"$program\" study worker " };
    static const char *const never[] = { "--partition", "--account", "#SBATCH --time",
                                         "cpus-per-task", "srun --" };
    for (int i = 0; i < SL_LEN(always); i++)
        SL_CHECK(w.t, strstr(plain, always[i]), "no %s in\n%s", always[i], plain);
    for (int i = 0; i < SL_LEN(never); i++)
        SL_CHECK(w.t, !strstr(plain, never[i]), "%s in\n%s", never[i], plain);

    w.o = (sl_study_slurm_options){ .nodes = 2,
                                    .tasks = 4,
                                    .cpus = 8,
                                    .partition = "a,b",
                                    .account = "phys",
                                    .time = "1-12:00:00",
                                    .margin = 300,
                                    .sbatch = "--qos=long --mem=8G\n  --constraint=\"x&y\"\n",
                                    .before = "module load openmpi",
                                    .mpi = "pmi2",
                                    .workers = 16,
                                    .program = "/opt/symlaw" };
    const char *full = script_of(&w);
    static const char *const said[] = {
        "\n#SBATCH --nodes=2\n",
        "\n#SBATCH --ntasks-per-node=4\n",
        "\n#SBATCH --cpus-per-task=8\n",
        "\n#SBATCH --partition=a,b\n",
        "\n#SBATCH --account=phys\n",
        "\n#SBATCH --time=1-12:00:00\n",
        "\n#SBATCH --qos=long --mem=8G\n",
        "\n#SBATCH --constraint=\"x&y\"\n",
        "\nmodule load openmpi\nset -u\n",
        "\n    margin=300\n",
        "\n#SBATCH --array=0-15\n",
        ("\nsrun --mpi=pmi2 --nodes=2 --ntasks-per-node=4 --cpus-per-task=\"$threads\" \\\n    "
         "\"$program\" study worker "),
    };
    for (int i = 0; i < SL_LEN(said); i++)
        SL_CHECK(w.t, strstr(full, said[i]), "no %s in\n%s", said[i], full);
    // sbatch reads no directive behind the first command
    SL_CHECK(w.t, strstr(full, "set -u") > strstr(full, "--constraint"), "%s", full);
    SL_CHECK(w.t, !get(&w, w.dir, "slurm/job.sh"), "a script that is only shown was written");
}

static void what_cannot_be_written_is_refused(void **state) {
    world w;
    world_make(&w, *state, "study");
#define REFUSE(word, ...)                                                           \
    do {                                                                            \
        sl_study_slurm_options o = w.o;                                             \
        sl_str script = { 0 }, command = { 0 };                                     \
        __VA_ARGS__;                                                                \
        sl_status st = sl_study_slurm_script(&script, &command, &o, w.plan, w.dir); \
        SL_CHECK(w.t, st == SL_EINVAL && says(word), "%s: %s", word,                \
                 st == SL_OK ? "taken" : sl_last_error());                          \
        sl_str_clear(&script);                                                      \
        sl_str_clear(&command);                                                     \
    } while (0)
    REFUSE("--partition \"a b\"", o.partition = "a b");
    REFUSE("--partition", o.partition = "");
    REFUSE("--account", o.account = "x\n#SBATCH --uid=0");
    REFUSE("--time \"1 day\"", o.time = "1 day");
    REFUSE("--sbatch \"qos=long\"", o.sbatch = "--mem=1G\nqos=long");
    REFUSE("--mpi \"pm ix\"", o.tasks = 2, o.mpi = "pm ix");
    REFUSE("--mpi \"\"", o.nodes = 2, o.mpi = NULL);
    REFUSE("workers is 0", o.workers = 0);
    REFUSE("nodes is 0", o.nodes = 0);
    REFUSE("margin is -1", o.margin = -1);
#undef REFUSE
    sl_str script = { 0 }, command = { 0 };
    SL_CHECK(w.t,
             sl_study_slurm_script(&script, &command, &w.o, w.plan, "a\\b") == SL_EINVAL &&
                 says("backslash"),
             "%s", sl_last_error());
    sl_str_clear(&script);
    sl_str_clear(&command);
}

/* ---------------------------------------------------------------- the script at work -------- */

/* Slurm's part: the environment of task 7 of array 4711, of which Slurm says the time it has left.
 */
static int run_script(world *w, const char *left, const char *end_time) {
    char path[1300], end[64];
    snprintf(path, sizeof path, "%s/slurm/job.sh", w->dir);
    snprintf(end, sizeof end, "SLURM_JOB_END_TIME=%s", end_time);
    answer(w, "squeue.out", left);
    const char *const words[] = { "env",
                                  "SLURM_ARRAY_JOB_ID=4711",
                                  "SLURM_ARRAY_TASK_ID=7",
                                  "SLURM_JOB_ID=4711",
                                  "SLURM_CPUS_ON_NODE=6",
                                  "PMIX_RANK=0",
                                  end,
                                  "bash",
                                  path,
                                  NULL };
    sl_str out = { 0 }, err = { 0 };
    int code;
    bool missing;
    SL_MUST(w->t, sl_study__execute(&code, &missing, &out, &err, words, 30));
    sl_str_clear(&out);
    sl_str_clear(&err);
    return code;
}

static void write_job(world *w) {
    const char *text = script_of(w);
    char folder[1200];
    snprintf(folder, sizeof folder, "%s/slurm", w->dir);
    SL_MUST(w->t, sl_folder_make(folder, 0700));
    put(w, folder, "job.sh", text, 0700);
}

/* Names that a shell would take apart reach the worker as they are. */
static void odd_names_reach_the_worker(void **state) {
    world w;
    world_make(&w, *state, "it's a $HOME `x` \"q\" *; %j\n#SBATCH --x");
    char program[600];
    snprintf(program, sizeof program, "%s/my 'own' $symlaw", w.bin);
    put(&w, w.bin, "my 'own' $symlaw", imitation, 0700);
    const char *const words[] = { "--expiry", "9 $x 'y'" };
    w.o.program = program;
    w.o.words = words;
    w.o.n_words = 2;
    write_job(&w);
    SL_CHECK(w.t, run_script(&w, "UNLIMITED\n", "") == 0, "code");
    char want[4400], real[4096];
    SL_CHECK(w.t, realpath(w.dir, real), "%s", w.dir);
    snprintf(want, sizeof want,
             "study\nworker\n%s\n--threads\n6\n--time-limit\n0\n--expiry\n9 $x 'y'\n", real);
    const char *rank = get(&w, w.fake, "my 'own' $symlaw.rank"); // of the shell that submitted
    SL_CHECK(w.t, rank && strcmp(rank, "none\n") == 0, "it would take itself for a rank: %s", rank);
    const char *got = get(&w, w.fake, "my 'own' $symlaw.in");
    SL_CHECK(w.t, got && strcmp(got, want) == 0, "%s\ninstead of\n%s", got, want);
}

/* The worker is given what Slurm leaves it, but for a margin. */
static void limit_is_what_slurm_leaves(void **state) {
    static const struct {
        const char *left;
        int64_t margin;
        const char *limit; // "": refused
    } cases[] = {
        { "UNLIMITED\n", 0, "0" },
        { "1:00\n", 0, "40" },
        { "10:00\n", 0, "540" },
        { "1:00:00\n", 0, "3480" },
        { "2-03:04:05\n", 0, "183725" },
        { "0:59\n", 50, "9" },
        { "08:09\n", 9, "480" },
        { "0:59\n", 59, "" },
        { "0:10\n", 0, "" },
        { "INVALID\n", 30, "0" },
    };
    world w;
    world_make(&w, *state, "study");
    w.o.program = "symlaw";
    for (int i = 0; i < SL_LEN(cases); i++) {
        char want[64];
        char old[600];
        snprintf(old, sizeof old, "%s/symlaw.in", w.fake);
        remove(old);
        w.o.margin = cases[i].margin;
        write_job(&w);
        const int code = run_script(&w, cases[i].left, "");
        const char *got = get(&w, w.fake, "symlaw.in");
        if (!*cases[i].limit) {
            SL_CHECK(w.t, code == 2 && !got, "%s: code %d", cases[i].left, code);
            continue;
        }
        snprintf(want, sizeof want, "\n--time-limit\n%s\n", cases[i].limit);
        SL_CHECK(w.t, code == 0 && got && strstr(got, want), "%s: %s instead of %s", cases[i].left,
                 got, want);
    }
    // newer versions of Slurm say when the job ends: far in the past here
    SL_CHECK(w.t, run_script(&w, "1:00\n", "1000") == 2, "the end of the job is not looked at");
}

static void out_of_time_is_queued_again(void **state) {
    static const struct {
        const char *worker, *scontrol;
        int code;
        bool asked;
    } cases[] = { { "75", "0", 0, true },
                  { "75", "1", 75, true },
                  { "0", "0", 0, false },
                  { "3", "0", 3, false },
                  { "143", "0", 143, false } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        world w;
        world_make(&w, *state, "study");
        w.o.program = "symlaw";
        write_job(&w);
        answer(&w, "symlaw.code", cases[i].worker);
        answer(&w, "scontrol.code", cases[i].scontrol);
        const int code = run_script(&w, "10:00\n", "");
        const char *got = get(&w, w.fake, "scontrol.in");
        SL_CHECK(w.t, code == cases[i].code, "%s: %d", cases[i].worker, code);
        // not 4711, which would be the whole array
        SL_CHECK(w.t, cases[i].asked ? got && strcmp(got, "requeue\n4711_7\n") == 0 : !got,
                 "%s: %s", cases[i].worker, got);
    }
}

/* Slurm sends SIGTERM to the script and to the worker, which takes some time to save. Slurm kills
 * what is left when the script ends, so that must not be first. */
static void script_outlives_its_worker(void **state) {
    static const char slow[] = "#!/bin/sh\n"
                               "trap 'sleep 0.2; echo saved > \"$FAKE/saved\"; exit 7' TERM\n"
                               "echo $$ > \"$FAKE/new\" && mv \"$FAKE/new\" \"$FAKE/pid\"\n"
                               "while :; do sleep 0.02; done\n";
    static const char slurm[] = "bash \"$0\" & script=$!\n"
                                "until [ -e \"$FAKE/pid\" ]; do sleep 0.02; done\n"
                                "kill -TERM $script $(cat \"$FAKE/pid\")\n"
                                "wait $script; code=$?\n"
                                "[ -e \"$FAKE/saved\" ] || exit 99\n"
                                "exit $code\n";
    world w;
    world_make(&w, *state, "study");
    put(&w, w.bin, "symlaw", slow, 0700);
    w.o.program = "symlaw";
    write_job(&w);
    char path[1300];
    snprintf(path, sizeof path, "%s/slurm/job.sh", w.dir);
    const char *const words[] = { "env",
                                  "SLURM_ARRAY_JOB_ID=1",
                                  "SLURM_ARRAY_TASK_ID=0",
                                  "SLURM_CPUS_ON_NODE=1",
                                  "bash",
                                  "-c",
                                  slurm,
                                  path,
                                  NULL };
    sl_str out = { 0 }, err = { 0 };
    int code;
    bool missing;
    SL_MUST(w.t, sl_study__execute(&code, &missing, &out, &err, words, 30));
    SL_CHECK(w.t, code == 7, "code %d: %s", code, sl_str_text(&err));
    sl_str_clear(&out);
    sl_str_clear(&err);
}

static void several_processes_are_started_by_srun(void **state) {
    world w;
    world_make(&w, *state, "study");
    w.o.program = "symlaw";
    w.o.nodes = 2;
    w.o.tasks = 3;
    write_job(&w);
    answer(&w, "symlaw.code", "75"); // goes through srun to the script
    SL_CHECK(w.t, run_script(&w, "10:00\n", "") == 0, "code");
    const char *got = get(&w, w.fake, "srun.in");
    static const char want[] =
        "--mpi=pmix\n--nodes=2\n--ntasks-per-node=3\n--cpus-per-task=2\nsymlaw\nstudy\nworker\n";
    SL_CHECK(w.t, got && strncmp(got, want, strlen(want)) == 0, "%s", got);
    SL_CHECK(w.t, get(&w, w.fake, "scontrol.in"), "not requeued");
}

/* ---------------------------------------------------------------- answers of Slurm ---------- */

static void numbers_of_jobs_are_read_strictly(void **state) {
    sl_fixture *t = *state;
    static const char *const good[] = { "1\n", "4711\n", "18446744073709551615\n",
                                        "12;cluster one\n" };
    static const char *const bad[] = {
        "",      "\n",    "12",     "12\n\n",    " 12\n",
        "12 \n", "-12\n", "12.5\n", "0x1f\n",    "Submitted job 12\n",
        ";c\n",  "12;c",  "12\nx",  "12;c\nx\n", "123456789012345678901\n"
    };
    char id[32];
    for (int i = 0; i < SL_LEN(good); i++) {
        SL_MUST(t, sl_study__slurm_read_id(id, good[i]));
        SL_CHECK(t, strncmp(id, good[i], strlen(id)) == 0 && strlen(id) == strcspn(good[i], ";\n"),
                 "%s", id);
    }
    for (int i = 0; i < SL_LEN(bad); i++)
        SL_CHECK(t, sl_study__slurm_read_id(id, bad[i]) == SL_EFORMAT, "\"%s\" is taken", bad[i]);
}

static void jobs_are_counted_by_state(void **state) {
    sl_fixture *t = *state;
    sl_study_slurm_jobs jobs;
    SL_MUST(t, sl_study__slurm_read_jobs(&jobs, ""));
    SL_CHECK(t, jobs.running + jobs.waiting + jobs.ending == 0 && !*jobs.id, "not empty");
    SL_MUST(t, sl_study__slurm_read_jobs(&jobs, "12|0|RUNNING|None\n12|1|RUNNING|None\n"
                                                "12|2|PENDING|Resources | and more\n"
                                                "12|3|COMPLETING|None\n12|4|SUSPENDED|None\n"
                                                "12|N/A|CONFIGURING|None\n12|6|CANCELLED|None"));
    SL_CHECK(t, jobs.running == 3 && jobs.waiting == 2 && jobs.ending == 2, "%d %d %d",
             jobs.running, jobs.waiting, jobs.ending);
    SL_CHECK(t, strcmp(jobs.id, "12") == 0, "%s", jobs.id);
    static const char *const bad[] = { "\n",
                                       "12\n",
                                       "12|0\n",
                                       "12|0|RUNNING\n",
                                       "x|0|RUNNING|None\n",
                                       "12|0||None\n",
                                       "|0|RUNNING|None\n",
                                       "12|0|RUNNING|None\nsqueue: hello\n" };
    for (int i = 0; i < SL_LEN(bad); i++)
        SL_CHECK(t, sl_study__slurm_read_jobs(&jobs, bad[i]) == SL_EFORMAT, "\"%s\" is taken",
                 bad[i]);
}

/* ---------------------------------------------------------------- submission ---------------- */

static void workers_are_submitted_once(void **state) {
    world w;
    bool submitted;
    sl_study_slurm_jobs jobs;
    world_make(&w, *state, "50%j off");
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    SL_CHECK(w.t, submitted && strcmp(jobs.id, "4711") == 0 && jobs.waiting == 3, "%s %d", jobs.id,
             jobs.waiting);
    char real[4096], want[9000];
    SL_CHECK(w.t, realpath(w.dir, real), "%s", w.dir);
    char *percent = strstr(real, "%j");
    SL_CHECK(w.t, percent, "%s", real);
    snprintf(want, sizeof want,
             "--parsable\n--chdir=%s/slurm\n--output=%.*s%%%s/slurm/worker-%%A_%%a.log\n%s/slurm/"
             "job.sh\n",
             real, (int)(percent - real), real, percent, real);
    const char *got = get(&w, w.fake, "sbatch.in");
    SL_CHECK(w.t, got && strcmp(got, want) == 0, "%s\ninstead of\n%s", got, want);
    SL_CHECK(w.t, strcmp(get(&w, w.dir, "slurm/job.sh"), script_of(&w)) == 0, "another script");
    SL_CHECK(w.t, strcmp(get(&w, w.dir, "slurm/job"), "4711\n") == 0, "another number");

    // while jobs wait, run, or are on their way back to the queue, nothing is submitted
    answer(&w, "squeue.out", "4711|0|PENDING|Priority\n");
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    SL_CHECK(w.t, !submitted && jobs.waiting == 1 && strcmp(jobs.reason, "Priority") == 0, "%s",
             jobs.reason);
    answer(&w, "squeue.out", "4711|0|RUNNING|None\n4711|1|COMPLETING|None\n");
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    SL_CHECK(w.t, !submitted && jobs.running == 1, "%d", jobs.running);
    answer(&w, "squeue.first", "4711|0|COMPLETING|None\n");
    answer(&w, "squeue.out", "4711|0|PENDING|BeginTime\n");
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    SL_CHECK(w.t, !submitted && jobs.waiting == 1 && w.reports > 0, "requeued jobs are not seen");
    SL_CHECK(w.t, strcmp(get(&w, w.fake, "sbatch.in"), want) == 0, "sbatch was called again");

    // but when they are gone, for instance by scancel, others are
    answer(&w, "squeue.first", "4711|0|COMPLETING|None\n");
    answer(&w, "squeue.out", "");
    answer(&w, "sbatch.out", "4712\n");
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    SL_CHECK(w.t, submitted && strcmp(jobs.id, "4712") == 0, "%s", jobs.id);
    SL_CHECK(w.t, strcmp(get(&w, w.dir, "slurm/job"), "4712\n") == 0, "another number");
}

/* Jobs are found by a name that only this folder has. */
static void name_belongs_to_the_folder(void **state) {
    world w;
    world_make(&w, *state, "one");
    sl_study__slurm_place a, b;
    char other[700];
    snprintf(other, sizeof other, "%s/../two", w.dir);
    SL_MUST(w.t, sl_study__slurm_find(&a, w.plan, w.dir));
    SL_MUST(w.t, sl_study__slurm_find(&b, w.plan, other));
    SL_CHECK(w.t, strcmp(a.name, b.name) != 0, "%s", a.name);
    snprintf(other, sizeof other, "%s/../one/.", w.dir);
    SL_MUST(w.t, sl_study__slurm_find(&b, w.plan, other));
    SL_CHECK(w.t, strcmp(a.name, b.name) == 0, "%s and %s", a.name, b.name);
    sl_study_slurm_jobs jobs;
    SL_MUST(w.t, sl_study_slurm_ask(&jobs, w.plan, w.dir));
    char want[200];
    snprintf(want, sizeof want, "--noheader\n--array\n--me\n--name=%s\n--format=%%F|%%K|%%T|%%r\n",
             a.name);
    SL_CHECK(w.t, strcmp(get(&w, w.fake, "squeue.in"), want) == 0, "%s",
             get(&w, w.fake, "squeue.in"));
    SL_CHECK(w.t, strstr(script_of(&w), a.name), "the script has another name");
}

static void two_do_not_submit_at_once(void **state) {
    world w;
    bool submitted;
    sl_study_slurm_jobs jobs;
    char folder[700];
    world_make(&w, *state, "study");
    snprintf(folder, sizeof folder, "%s/slurm", w.dir);
    sl_study_watch *watch;
    sl_study_claim *claim;
    SL_MUST(w.t, sl_study_watch_new(&watch, 300));
    SL_MUST(w.t, sl_study_claim_take(&claim, watch, folder));
    SL_CHECK(w.t, claim, "no claim");
    w.cancel_after = 2;
    SL_CHECK(w.t, submit(&w, &submitted, &jobs) == SL_ECANCEL && !submitted, "%s", sl_last_error());
    SL_CHECK(w.t, !get(&w, w.fake, "sbatch.in") && !get(&w, w.fake, "squeue.in"),
             "it did not wait");
    sl_study_claim_release(claim);
    w.cancel_after = 0;
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    SL_CHECK(w.t, submitted, "not submitted");
    sl_study_watch_free(watch);
}

static void failures_quote_slurm(void **state) {
    world w;
    bool submitted;
    sl_study_slurm_jobs jobs;
    world_make(&w, *state, "study");
    answer(&w, "sbatch.err", "sbatch: error: invalid partition: a\n\nsbatch: error: it failed\n");
    answer(&w, "sbatch.code", "1");
    SL_CHECK(w.t, submit(&w, &submitted, &jobs) == SL_EIO && !submitted, "taken");
    SL_CHECK(w.t, says("sbatch ended with code 1: invalid partition: a; it failed"), "%s",
             sl_last_error());
    SL_CHECK(w.t, !get(&w, w.dir, "slurm/job"), "a number of no job is kept");

    answer(&w, "sbatch.code", "0");
    answer(&w, "sbatch.out", "hello\n");
    SL_CHECK(w.t, submit(&w, &submitted, &jobs) == SL_EFORMAT && !submitted && says("hello"), "%s",
             sl_last_error());

    // where squeue cannot answer, nothing is submitted: there may be jobs
    char old[600];
    snprintf(old, sizeof old, "%s/sbatch.in", w.fake);
    remove(old);
    answer(&w, "squeue.code", "1");
    answer(&w, "squeue.err", "slurm_load_jobs error: Unable to contact slurm controller\n");
    SL_CHECK(w.t, submit(&w, &submitted, &jobs) == SL_EIO && says("Unable to contact"), "%s",
             sl_last_error());
    SL_CHECK(w.t, !get(&w, w.fake, "sbatch.in"), "submitted blindly");

    setenv("PATH", w.fake, 1);
    SL_CHECK(w.t,
             submit(&w, &submitted, &jobs) == SL_EIO && says("no squeue in PATH") &&
                 says("--engine local"),
             "%s", sl_last_error());
}

static sl_status show(world *w) {
    sl_str script = { 0 }, command = { 0 };
    sl_status st = sl_study_slurm_script(&script, &command, &w->o, w->plan, w->dir);
    sl_str_clear(&script);
    sl_str_clear(&command);
    return st;
}

/* Not by SL_EACH_ALLOCATION: a claim is released as well as it can be, with memory or without. */
static void submission_reports_lack_of_memory(void **state) {
    world w;
    bool submitted;
    sl_study_slurm_jobs jobs;
    world_make(&w, *state, "study");
    int64_t failed = 0, total = sl_mem_calls();
    SL_MUST(w.t, submit(&w, &submitted, &jobs));
    total = sl_mem_calls() - total;
    for (int64_t n = 1; n <= total; n++) {
        const int64_t blocks = sl_mem_blocks();
        sl_mem_fail_at(n, false);
        const sl_status st = submit(&w, &submitted, &jobs);
        sl_mem_fail_at(0, false);
        SL_CHECK(w.t, st == SL_ENOMEM || (st == SL_OK && submitted), "allocation %lld: %s",
                 (long long)n, sl_last_error());
        SL_CHECK(w.t, sl_mem_blocks() == blocks, "allocation %lld leaks", (long long)n);
        failed += st == SL_ENOMEM;
    }
    SL_CHECK(w.t, failed > total / 2, "%lld of %lld", (long long)failed, (long long)total);
    SL_EACH_ALLOCATION(w.t, show(&w));
}

/* ---------------------------------------------------------------- waiting ------------------- */

static void waiting_ends_with_the_study_or_its_jobs(void **state) {
    world w;
    world_make(&w, *state, "study");
    SL_CHECK(w.t, w.study.runs == 1 && !w.study.complete, "%d runs", w.study.runs);
    SL_CHECK(w.t,
             sl_study_slurm_wait(w.plan, w.dir, &w.runner) == SL_EIO &&
                 says("no job of this study is left") && says("slurm/worker-*.log"),
             "%s", sl_last_error());

    answer(&w, "squeue.out", "4711|0|RUNNING|None\n");
    w.cancel_after = 3;
    SL_CHECK(w.t, sl_study_slurm_wait(w.plan, w.dir, &w.runner) == SL_ECANCEL && w.reports == 3,
             "%s", sl_last_error());

    // a controller that is down for a while changes nothing
    answer(&w, "squeue.code", "1");
    w.cancel_after = w.reports + 3;
    SL_CHECK(w.t, sl_study_slurm_wait(w.plan, w.dir, &w.runner) == SL_ECANCEL, "%s",
             sl_last_error());
    answer(&w, "squeue.out", "what?\n");
    answer(&w, "squeue.code", "0");
    SL_CHECK(w.t, sl_study_slurm_wait(w.plan, w.dir, &w.runner) == SL_EFORMAT, "%s",
             sl_last_error());

    char run[900]; // its only run has failed as often as it may
    answer(&w, "squeue.out", "4711|0|RUNNING|None\n");
    w.cancel_after = w.reports + 50;
    snprintf(run, sizeof run, "%s/runs/%s", w.dir, w.study.run[0].id);
    SL_MUST(w.t, sl_folder_make(run, 0700));
    SL_MUST(w.t, sl_study_attempt_add(run, "train", "too bad"));
    SL_MUST(w.t, sl_study_slurm_wait(w.plan, w.dir, &w.runner));
}

/* Does it have a program? A job that is not waited for has none. */
static bool is_alive(long pid) {
    char path[64], program[64];
    snprintf(path, sizeof path, "/proc/%ld/exe", pid);
    return readlink(path, program, sizeof program) > 0;
}

static void programs_that_hang_are_ended(void **state) {
    sl_fixture *t = *state;
    setenv("PATH", "/usr/bin:/bin", 1);
    sl_str out = { 0 }, err = { 0 };
    int code;
    bool missing;
    const char *const hang[] = { "sh", "-c", "sleep 1000 & echo $!; wait", NULL };
    SL_CHECK(t,
             sl_study__execute(&code, &missing, &out, &err, hang, 0.3) == SL_EIO && !missing &&
                 says("did not respond within 0.3 s"),
             "%s", sl_last_error());
    const long child = strtol(sl_str_text(&out), NULL, 10); // what it has started ends too
    SL_CHECK(t, child > 1, "%s", sl_str_text(&out));
    for (int i = 0; i < 1000 && is_alive(child); i++) usleep(1000);
    SL_CHECK(t, !is_alive(child), "process %ld is left", child);
    const char *const killed[] = { "sh", "-c", "echo e >&2; kill -TERM $$", NULL };
    SL_MUST(t, sl_study__execute(&code, &missing, &out, &err, killed, 30));
    SL_CHECK(t, code == 128 + 15 && strcmp(sl_str_text(&err), "e\n") == 0, "%d", code);
    const char *const none[] = { "no-such-program", NULL };
    SL_CHECK(t, sl_study__execute(&code, &missing, &out, &err, none, 30) == SL_EIO && missing, "%s",
             sl_last_error());
    sl_str_clear(&out);
    sl_str_clear(&err);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(script_has_the_options),
        SL_TEST(what_cannot_be_written_is_refused),
        SL_TEST(odd_names_reach_the_worker),
        SL_TEST(limit_is_what_slurm_leaves),
        SL_TEST(out_of_time_is_queued_again),
        SL_TEST(script_outlives_its_worker),
        SL_TEST(several_processes_are_started_by_srun),
        SL_TEST(numbers_of_jobs_are_read_strictly),
        SL_TEST(jobs_are_counted_by_state),
        SL_TEST(workers_are_submitted_once),
        SL_TEST(name_belongs_to_the_folder),
        SL_TEST(two_do_not_submit_at_once),
        SL_TEST(failures_quote_slurm),
        SL_TEST(submission_reports_lack_of_memory),
        SL_TEST(waiting_ends_with_the_study_or_its_jobs),
        SL_TEST(programs_that_hang_are_ended),
    };
    return sl_test_main("study.slurm", tests, SL_LEN(tests));
}
