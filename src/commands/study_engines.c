/* study_engines - workers on this machine: in this process, as processes beside each other, or as
 * ranks of mpirun. An engine starts workers and waits for them; workers find their jobs
 * themselves. */
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "commands/study_impl.h"

enum { WORDS = 24 };

sl_status sl_commands__study_program(sl_commands__study_context *s) {
    static const char ours[] = "symlaw";
    char path[PATH_MAX];
    s->program = s->options->program;
    if (s->program) return SL_OK;
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(path, '/');
    if (!slash || strncmp(slash + 1, ours, sizeof ours - 1) != 0) {
        s->program = ours; // a host that uses the library: the program is in PATH
        return SL_OK;
    }
    char *copy = sl_arena_alloc(&s->run->arena, (size_t)n + 1);
    if (!copy) return sl_fail_memory((size_t)n + 1, 1, "a file name");
    memcpy(copy, path, (size_t)n + 1);
    s->program = copy;
    return SL_OK;
}

/* The words of a worker, and room for their numbers. */
typedef struct words {
    const char *at[WORDS];
    int n;
    char threads[24], expiry[40], seconds[40], ranks[24];
} words;

static void add(words *w, const char *word) {
    SL_ASSERT(w->n + 1 < WORDS);
    w->at[w->n++] = word;
    w->at[w->n] = NULL;
}

static void add_worker(words *w, const sl_commands__study_context *s) {
    sl_snprintf(w->threads, sizeof w->threads, "%d", s->threads);
    sl_snprintf(w->expiry, sizeof w->expiry, "%.17g", s->expiry);
    sl_snprintf(w->seconds, sizeof w->seconds, "%.17g", s->seconds);
    add(w, s->program);
    add(w, "study");
    add(w, "worker");
    add(w, s->dir);
    add(w, "--threads");
    add(w, w->threads);
    add(w, "--expiry");
    add(w, w->expiry);
    add(w, "--quiet");
    if (s->seconds <= 0) return;
    add(w, "--time-limit");
    add(w, w->seconds);
}

static sl_status describe_words(sl_str *out, const words *w) {
    for (int i = 0; i < w->n; i++) {
        if (i > 0) sl_str_add_char(out, ' ');
        sl_str_add_word(out, w->at[i]);
    }
    sl_str_add_char(out, '\n');
    return sl_str_status(out);
}

/* n processes, until the last has ended. */
static sl_status run_processes(bool *out_of_time, const words *w, int n, bool launcher,
                               const sl_commands__study_context *s) {
    sl_commands__child *children = sl_calloc((size_t)n, sizeof *children);
    if (!children) return sl_fail_memory((size_t)n, sizeof *children, "workers");
    sl_status st = SL_OK;
    int started = 0;
    for (; started < n && st == SL_OK; started++) {
        st = sl_commands__child_start(&children[started], w->at);
        children[started].launcher = launcher;
    }
    if (st == SL_OK) st = sl_commands__children_wait(out_of_time, children, started, s);
    for (int i = 0; i < started; i++) sl_commands__child_stop(&children[i], SIGTERM); // all at once
    for (int i = 0; i < started; i++) sl_commands__child_clear(&children[i]);
    sl_free(children);
    return st;
}

/* ---------------------------------------------------------------- local --------------------- */

static sl_status local_work(bool *out_of_time, sl_commands__study_context *s) {
    words w = { .n = 0 };
    SL_TRY(sl_commands__study_choose(s));
    if (s->workers == 1) return sl_commands__study_worker(out_of_time, s, true);
    SL_TRY(sl_commands__study_program(s));
    add_worker(&w, s);
    return run_processes(out_of_time, &w, s->workers, false, s);
}

static sl_status local_describe(sl_str *out, sl_commands__study_context *s) {
    words w = { .n = 0 };
    SL_TRY(sl_commands__study_choose(s));
    if (s->workers == 1) {
        sl_str_addf(out, "this process works with %d threads, one run after the other\n",
                    s->threads);
        return sl_str_status(out);
    }
    SL_TRY(sl_commands__study_program(s));
    add_worker(&w, s);
    sl_str_addf(out, "%d times: ", s->workers);
    return describe_words(out, &w);
}

const sl_commands__engine sl_commands__engine_local = { "local", local_work, local_describe };

/* ---------------------------------------------------------------- mpi ----------------------- */

/* Open MPI refuses to be started by root unless two variables allow it. */
static sl_status mpi_words(words *w, sl_commands__study_context *s) {
    const int cores = sl_par_cores();
    if (s->ranks == 0) s->ranks = cores;
    if (s->threads == 0) s->threads = SL_MAX(cores / s->ranks, 1);
    SL_TRY(sl_commands__study_program(s));
    sl_snprintf(w->ranks, sizeof w->ranks, "%d", s->ranks);
    add(w, "env");
    if (geteuid() == 0) {
        add(w, "OMPI_ALLOW_RUN_AS_ROOT=1");
        add(w, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
    }
    add(w, "OMPI_MCA_rmaps_base_oversubscribe=1");
    add(w, "mpirun");
    add(w, "-n");
    add(w, w->ranks);
    add_worker(w, s);
    return SL_OK;
}

static sl_status mpi_work(bool *out_of_time, sl_commands__study_context *s) {
    words w = { .n = 0 };
    SL_TRY(mpi_words(&w, s));
    return run_processes(out_of_time, &w, 1, true, s);
}

static sl_status mpi_describe(sl_str *out, sl_commands__study_context *s) {
    words w = { .n = 0 };
    SL_TRY(mpi_words(&w, s));
    return describe_words(out, &w);
}

const sl_commands__engine sl_commands__engine_mpi = { "mpi", mpi_work, mpi_describe };
