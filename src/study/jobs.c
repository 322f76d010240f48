/* jobs - jobs that can run now, most urgent first. */
#include <stdlib.h>
#include <string.h>

#include "study/study_impl.h"

/* A job with its sort keys. */
typedef struct ranked {
    sl_study_job job;
    int class; // 0: sweep, 1: scale, 2: evaluation, 3: baseline
    double flops;
    int order; // of the plan
} ranked;

/* Sweeps come first, since scale waits for them; of each kind the longest first, so that what is
 * left for the end is short. */
static int by_urgency(const void *x, const void *y) {
    const ranked *a = x, *b = y;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    if (a->flops != b->flops) return a->flops > b->flops ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static ranked *add(ranked *r, int *n, sl_study_job_kind kind, int class, double flops,
                   const char *dir, const char *name) {
    ranked *x = &r[*n];
    *x = (ranked){ .job = { .kind = kind }, .class = class, .flops = flops, .order = (*n)++ };
    sl_snprintf(x->job.folder, sizeof x->job.folder, "%s/%s", dir, name);
    return x;
}

static void add_run(ranked *r, int *n, const sl_study *study, int i, double flops) {
    const sl_study_run *run = &study->run[i];
    if (run->state == SL_STUDY_WAITING || run->state == SL_STUDY_BEGUN)
        add(r, n, SL_STUDY_JOB_TRAIN, run->sweep ? 0 : 1, flops, "runs", run->id)->job.run = i;
    if (run->state != SL_STUDY_TRAINED) return;
    for (int k = 0; k < SL_STUDY_SET_COUNT; k++) {
        if (!study->plan->size[run->size].eval[k] || run->eval[k].there ||
            run->eval[k].attempts >= study->plan->attempts)
            continue;
        sl_study_job *job = &add(r, n, SL_STUDY_JOB_EVAL, 2, flops, "runs", run->id)->job;
        job->run = i;
        job->set = (sl_study_set)k;
    }
}

static void add_baselines(ranked *r, int *n, const sl_study *study) {
    bool never;
    const int run = sl_study__baseline_run(&never, study);
    if (run < 0 || !study->run[run].trained) return;
    for (int i = 0; i < study->plan->n_baselines; i++) {
        if (study->baseline[i].there || study->baseline[i].attempts >= study->plan->attempts)
            continue;
        sl_study_job *job =
            &add(r, n, SL_STUDY_JOB_BASELINE, 3, 0, "baselines", study->plan->baselines[i])->job;
        job->run = run;
        job->baseline = i;
    }
}

int sl_study_jobs(sl_study_job **jobs, sl_arena *a, const sl_study *study, const double *flops) {
    int n = 0;
    const size_t room = (size_t)study->runs * SL_STUDY_SET_COUNT + (size_t)study->plan->n_baselines;
    *jobs = NULL;
    sl_study_job *out = sl_arena_alloc(a, SL_MAX(room, 1) * sizeof *out);
    const size_t mark = sl_arena_mark(a);
    ranked *r = out ? sl_arena_alloc(a, SL_MAX(room, 1) * sizeof *r) : NULL;
    if (!r) {
        (void)sl_fail_memory(room, sizeof *r, "jobs of a study");
        return -1;
    }
    for (int i = 0; i < study->runs; i++) add_run(r, &n, study, i, flops ? flops[i] : 0);
    add_baselines(r, &n, study);
    qsort(r, (size_t)n, sizeof *r, by_urgency);
    for (int i = 0; i < n; i++) out[i] = r[i].job;
    sl_arena_rewind(a, mark);
    *jobs = out;
    return n;
}
