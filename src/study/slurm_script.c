/* slurm_script - the job script of a study's workers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/slurm_impl.h"

/* ---------------------------------------------------------------- options ------------------- */

#define ROW(field, option, ...) SL_OPTION(sl_study_slurm_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(nodes, "nodes", .value = 1, .min = 1, .max = 1e5, .shown = "N",
        .help = "nodes of a worker"),
    ROW(tasks, "tasks-per-node", .value = 1, .min = 1, .max = 1e4, .shown = "N",
        .help = "processes of a worker on each of its nodes; all of them are ranks of one run"),
    ROW(cpus, "cpus-per-task", .value = 0, .max = 1e4, .shown = "N",
        .help = "cores, and threads, of a process; 0: Slurm's default"),
    ROW(partition, "partition", .shown = "NAME", .help = "partition of the jobs"),
    ROW(account, "account", .shown = "NAME", .help = "account that is charged"),
    ROW(time, "time", .shown = "LIMIT",
        .help = "time limit of a job as sbatch takes it: minutes, H:MM:SS, D-HH:MM:SS; default: "
                "the partition's"),
    ROW(margin, "margin", .value = 0, .max = 1e5, .shown = "SECONDS",
        .help = "time before the limit at which a worker saves and is queued again; 0: a tenth "
                "of it, 20 to 120"),
    ROW(sbatch, "sbatch", .shown = "OPTIONS",
        .help = "more options of sbatch, such as \"--qos=long --mem=8G\""),
    ROW(before, "before", .shown = "COMMANDS",
        .help = "shell commands that a job begins with, such as \"module load openmpi\""),
    ROW(mpi, "mpi", .text = "pmix", .shown = "TYPE",
        .help = "MPI type of srun; \"srun --mpi=list\" lists them"),
};

const sl_option_table sl_study_slurm_table = { rows, SL_LEN(rows) };

sl_study_slurm_options sl_study_slurm_defaults(void) {
    sl_study_slurm_options o = { .workers = 1 };
    sl_option_defaults(&o, &sl_study_slurm_table);
    return o;
}

/* ---------------------------------------------------------------- words --------------------- */

/* Characters without a special meaning for a shell, sbatch and squeue's lists. */
static bool is_plain(char c) { return sl_isalpha(c) || sl_isdigit(c) || (c && strchr("_.-", c)); }

/* An option of sbatch that the script has in a line "#SBATCH --name=value". */
static sl_status add_directive(sl_str *s, const char *name, const char *value, const char *more) {
    if (!value) return SL_OK;
    const char *p = value;
    while (is_plain(*p) || (*p && strchr(more, *p))) p++;
    if (!*value || *p)
        return sl_fail(SL_EINVAL,
                       "--%s \"%.100s\": letters, digits, _ . -%s%s are what it may hold", name,
                       value, *more ? " " : "", more);
    sl_str_addf(s, "#SBATCH --%s=%s\n", name, value);
    return SL_OK;
}

/* Options of sbatch unmodified, a line of the script for each line of the text. */
static sl_status add_directives(sl_str *s, const char *text) {
    while (text && *text) {
        const size_t n = strcspn(text, "\n");
        const char *at = text;
        while (at < text + n && sl_isspace(*at)) at++;
        if (at < text + n && *at != '-')
            return sl_fail(SL_EINVAL,
                           "--sbatch \"%.*s\": options of sbatch begin with -, as in --qos=long",
                           (int)SL_MIN(n, 100), text);
        if (at < text + n) {
            sl_str_add(s, "#SBATCH ");
            sl_str_add_bytes(s, at, (size_t)(text + n - at));
            sl_str_add_char(s, '\n');
        }
        text += n + (text[n] == '\n');
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- place --------------------- */

/* The name of jobs: the plan's name, for the reader, and a hash of the folder, so that jobs of
 * another folder have another name. */
static void name_jobs(sl_study__slurm_place *p, const char *plan) {
    char clean[32];
    size_t n = 0;
    for (; n < sizeof clean - 1 && plan[n]; n++) clean[n] = is_plain(plan[n]) ? plan[n] : '_';
    clean[n] = '\0';
    const uint64_t hash = sl_hash(p->study, strlen(p->study), 0);
    sl_snprintf(p->name, sizeof p->name, "symlaw-%s-%08x", clean, (unsigned)(hash >> 32));
}

/* The folder need not exist yet; then its parent must. */
static sl_status make_absolute(char out[4096], const char *dir) {
    char found[PATH_MAX], here[PATH_MAX];
    if (realpath(dir, found)) {
        sl_snprintf(out, 4096, "%s", found);
        return SL_OK;
    }
    if (!getcwd(here, sizeof here))
        return sl_fail(SL_EIO, "the folder that this was started in is gone; start in another one");
    const bool rooted = dir[0] == '/';
    const int n = sl_snprintf(out, 4096, "%s%s%s", rooted ? "" : here, rooted ? "" : "/", dir);
    if (n >= 4096) return sl_fail(SL_EINVAL, "%.100s...: the path is too long", dir);
    return SL_OK;
}

sl_status sl_study__slurm_find(sl_study__slurm_place *out, const sl_study_plan *plan,
                               const char *dir) {
    SL_TRY(make_absolute(out->study, dir));
    if (strchr(out->study, '\\'))
        return sl_fail(SL_EINVAL,
                       "%.300s: Slurm drops backslashes from the names of its files; rename the "
                       "folder to run the study there",
                       out->study);
    if (sl_snprintf(out->folder, sizeof out->folder, "%s/slurm", out->study) >=
        (int)sizeof out->folder)
        return sl_fail(SL_EINVAL, "%.100s...: the path is too long", dir);
    name_jobs(out, plan->name);
    return SL_OK;
}

/* texts: --chdir, --output, script. A per cent sign of the path must not begin one of Slurm's
 * replacements in the name of the log. */
void sl_study__slurm_words(const char *words[SL_STUDY__SBATCH_WORDS], sl_str texts[3],
                           const sl_study__slurm_place *p) {
    sl_str_addf(&texts[0], "--chdir=%s", p->folder);
    sl_str_add(&texts[1], "--output=");
    for (const char *c = p->folder; *c; c++) {
        if (*c == '%') sl_str_add_char(&texts[1], '%');
        sl_str_add_char(&texts[1], *c);
    }
    sl_str_add(&texts[1], "/worker-%A_%a.log");
    sl_str_addf(&texts[2], "%s/job.sh", p->folder);
    words[0] = "sbatch";
    words[1] = "--parsable";
    for (int i = 0; i < 3; i++) words[2 + i] = sl_str_text(&texts[i]);
    words[5] = NULL;
}

/* ---------------------------------------------------------------- the script ---------------- */

static sl_status add_head(sl_str *s, const sl_study_slurm_options *o,
                          const sl_study__slurm_place *p) {
    sl_str_add(s,
               "#!/bin/bash\n"
               "# Written by \"symlaw study run --engine slurm\", which also submits it. Each task "
               "of the array is a\n"
               "# worker: it takes free runs of the study until all are done.\n");
    sl_str_addf(s, "#SBATCH --job-name=%s\n#SBATCH --array=0-%lld\n", p->name,
                (long long)o->workers - 1);
    sl_str_addf(s, "#SBATCH --nodes=%lld\n#SBATCH --ntasks-per-node=%lld\n", (long long)o->nodes,
                (long long)o->tasks);
    if (o->cpus > 0) sl_str_addf(s, "#SBATCH --cpus-per-task=%lld\n", (long long)o->cpus);
    SL_TRY(add_directive(s, "partition", o->partition, ","));
    SL_TRY(add_directive(s, "account", o->account, "@:"));
    SL_TRY(add_directive(s, "time", o->time, ":"));
    sl_str_add(s, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    return add_directives(s, o->sbatch);
}

/* Where it runs, and with what. */
static sl_status add_setting(sl_str *s, const sl_study_slurm_options *o,
                             const sl_study__slurm_place *p) {
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return sl_fail(SL_EIO, "the folder that this was started in is gone; start in another one");
    sl_str_add(s, "\nprogram=");
    sl_str_add_word(s, o->program);
    sl_str_add(s, "\nstudy=");
    sl_str_add_word(s, p->study);
    sl_str_add(s, "\ncd ");
    sl_str_add_word(s, here); // files that a plan names are found from there
    sl_str_add(s, " || exit\n"
                  "# marks that srun or mpirun leave in the shells that they start\n"
                  "unset ${!PMIX_@} ${!PMI_@} ${!OMPI_COMM_WORLD_@}\n");
    if (o->before && *o->before) sl_str_addf(s, "%s\n", o->before);
    sl_str_add(s, "set -u\n"); // after `before`: `module` and the like fail under it
    return SL_OK;
}

/* One task of an array has the array's own job number, so tasks are named "array_task". */
static void add_limit(sl_str *s, const sl_study_slurm_options *o) {
    sl_str_add(s,
               "\n"
               "me=${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\n"
               "# Seconds that Slurm leaves this job; nothing: no limit. Newer versions of Slurm "
               "say when it "
               "ends.\n"
               "seconds_left() {\n"
               "    if [[ -n ${SLURM_JOB_END_TIME:-} ]]; then\n"
               "        echo $((SLURM_JOB_END_TIME - $(date +%s)))\n"
               "    elif [[ $(squeue --noheader --jobs=\"$me\" --format=%L) =~ "
               "^(([0-9]+)-)?(([0-9]+):)?([0-9]+):([0-9]+)$ ]]; then\n"
               "        local d=${BASH_REMATCH[2]:-0} h=${BASH_REMATCH[4]:-0} m=${BASH_REMATCH[5]} "
               "s=${BASH_REMATCH[6]}\n"
               "        echo $((((10#$d * 24 + 10#$h) * 60 + 10#$m) * 60 + 10#$s))\n"
               "    fi\n"
               "}\n"
               "left=$(seconds_left)\n"
               "limit=0 # none\n"
               "if [[ -n $left ]]; then\n");
    if (o->margin > 0)
        sl_str_addf(s, "    margin=%lld\n", (long long)o->margin);
    else
        sl_str_add(s, "    margin=$((left / 10 < 20 ? 20 : left / 10 > 120 ? 120 : left / 10))\n");
    sl_str_add(s,
               "    limit=$((left - margin))\n"
               "    if ((limit <= 0)); then\n"
               "        echo \"this job has $left s left, and $margin s are kept for saving: give "
               "a longer --time\" >&2\n"
               "        exit 2\n"
               "    fi\n"
               "fi\n");
}

static void add_threads(sl_str *s, const sl_study_slurm_options *o) {
    if (o->tasks == 1)
        sl_str_add(s, "threads=${SLURM_CPUS_PER_TASK:-$SLURM_CPUS_ON_NODE}\n");
    else
        sl_str_addf(s,
                    "threads=${SLURM_CPUS_PER_TASK:-$((SLURM_CPUS_ON_NODE / %lld))}\n"
                    "((threads > 0)) || threads=1\n",
                    (long long)o->tasks);
}

/* Several processes are the ranks of one run. */
static sl_status add_launch(sl_str *s, const sl_study_slurm_options *o) {
    if (o->nodes * o->tasks == 1) return SL_OK;
    const char *p = o->mpi;
    while (p && is_plain(*p)) p++;
    if (!o->mpi || p == o->mpi || *p)
        return sl_fail(SL_EINVAL, "--mpi \"%.100s\": give a name that srun --mpi=list shows",
                       o->mpi ? o->mpi : "");
    sl_str_addf(s,
                "srun --mpi=%s --nodes=%lld --ntasks-per-node=%lld --cpus-per-task=\"$threads\" "
                "\\\n    ",
                o->mpi, (long long)o->nodes, (long long)o->tasks);
    return SL_OK;
}

static sl_status add_worker(sl_str *s, const sl_study_slurm_options *o) {
    sl_str_add(s,
               "\n"
               "# When Slurm ends the job (scancel, the limit, preemption) it sends SIGTERM to all "
               "of it. The worker\n"
               "# saves and ends, and this script waits for that.\n"
               "asked=0\n"
               "trap 'asked=1' TERM\n");
    SL_TRY(add_launch(s, o));
    sl_str_add(s, "\"$program\" study worker \"$study\" --threads \"$threads\" --time-limit "
                  "\"$limit\"");
    for (int i = 0; i < o->n_words; i++) {
        sl_str_add_char(s, ' ');
        sl_str_add_word(s, o->words[i]);
    }
    sl_str_addf(s,
                " &\n"
                "worker=$!\n"
                "wait \"$worker\"\n"
                "code=$?\n"
                "while ((asked)); do # the signal has ended the wait\n"
                "    asked=0\n"
                "    wait \"$worker\"\n"
                "    code=$?\n"
                "done\n"
                "\n"
                "if ((code == %d)); then # out of time, all saved: back to the queue\n"
                "    scontrol requeue \"$me\" && exit 0\n"
                "    echo \"this job cannot be requeued: run symlaw study run again\" >&2\n"
                "fi\n"
                "exit \"$code\"\n",
                SL_STUDY_OUT_OF_TIME);
    return SL_OK;
}

static sl_status check_counts(const sl_study_slurm_options *o) {
    if (o->workers < 1 || o->workers > 1000000)
        return sl_fail(SL_EINVAL, "workers is %lld, not from 1 to 1e+06", (long long)o->workers);
    return sl_option_check(o, &sl_study_slurm_table);
}

sl_status sl_study__slurm_script(sl_str *s, const sl_study_slurm_options *o,
                                 const sl_study__slurm_place *p) {
    SL_TRY(check_counts(o));
    SL_TRY(add_head(s, o, p));
    SL_TRY(add_setting(s, o, p));
    add_limit(s, o);
    add_threads(s, o);
    SL_TRY(add_worker(s, o));
    return sl_str_status(s);
}

sl_status sl_study_slurm_script(sl_str *script, sl_str *command, const sl_study_slurm_options *o,
                                const sl_study_plan *plan, const char *dir) {
    sl_study__slurm_place place;
    SL_TRY(sl_study__slurm_find(&place, plan, dir));
    SL_TRY(sl_study__slurm_script(script, o, &place));
    const char *words[SL_STUDY__SBATCH_WORDS];
    sl_str texts[3] = { 0 };
    sl_study__slurm_words(words, texts, &place);
    for (int i = 0; words[i]; i++) {
        if (i > 0) sl_str_add_char(command, ' ');
        if (i < 2)
            sl_str_add(command, words[i]);
        else
            sl_str_add_word(command, words[i]);
    }
    sl_status st = SL_OK;
    for (int i = 0; i < 3; i++) {
        if (st == SL_OK) st = sl_str_status(&texts[i]);
        sl_str_clear(&texts[i]);
    }
    return st == SL_OK ? sl_str_status(command) : st;
}
