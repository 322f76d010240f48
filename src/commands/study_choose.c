/* study_choose - how many workers on this machine, with how many threads each.
 *
 * Small models leave cores idle when several threads share one batch, and then several runs side by
 * side are faster. Where the border is depends on the machine, so both ways are timed on steps of
 * the plan's smallest and largest model: all threads on one run, and a run for each core at the
 * same time. Sizes count by the compute that the plan spends on them. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "commands/study_impl.h"

enum { TOKENS = 14, STEPS_LEAST = 2, STEPS_MOST = 200 };

static const double PART_SECONDS = 0.12; // of one timing
static const double STEP_FLOPS = 5e9;    // a step of more keeps all cores busy

/* A model of the plan, ready to be timed. */
typedef struct subject {
    sl_commands__setup setup;
    double flops; // of a step
} subject;

static sl_status subject_make(subject *s, const sl_study_plan *plan, int size) {
    const sl_study_size *z = &plan->size[size];
    const sl_study_run run = { .size = size,
                               .batch = z->batch.at[z->batch.n / 2],
                               .lr = z->lr.at[0],
                               .ratio = z->sweep_ratio };
    sl_train_plan cost;
    SL_TRY(sl_commands__study_setup(&s->setup, plan, &run, 0));
    SL_TRY(sl_train_plan_make(&cost, &s->setup.config, s->setup.model, (int)s->setup.pairs.points,
                              TOKENS, 1, 1));
    s->flops = cost.flops / (double)SL_MAX(cost.steps, 1);
    return SL_OK;
}

/* *out := seconds of the fastest step: what other processes of a busy machine take is not counted.
 */
static sl_status time_steps(double *out, const subject *s, sl_pool *pool, int steps) {
    sl_train_timing t;
    SL_TRY(sl_train_time(&t, pool, &s->setup.config, (int)s->setup.pairs.points, TOKENS, steps,
                         NULL, NULL));
    *out = t.best;
    return SL_OK;
}

/* One of several that are timed at once, each with one thread. */
typedef struct lane {
    pthread_t thread;
    const subject *subject;
    int steps;
    double seconds;
    sl_status st;
    char line[SL_FAIL_LINE];
} lane;

static void *run_lane(void *payload) {
    lane *l = payload;
    l->st = time_steps(&l->seconds, l->subject, NULL, l->steps);
    sl_snprintf(l->line, sizeof l->line, "%s", sl_last_error());
    return NULL;
}

/* *out := seconds of a step of the slowest of n side by side. */
static sl_status time_beside(double *out, const subject *s, int n, int steps) {
    lane *lanes = sl_calloc((size_t)n, sizeof *lanes);
    if (!lanes) return sl_fail_memory((size_t)n, sizeof *lanes, "timings");
    sl_status st = SL_OK;
    int started = 0;
    *out = 0;
    for (; started < n; started++) {
        lanes[started] = (lane){ .subject = s, .steps = steps };
        if (pthread_create(&lanes[started].thread, NULL, run_lane, &lanes[started]) != 0) break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(lanes[i].thread, NULL);
        if (lanes[i].st != SL_OK && st == SL_OK) st = sl_fail(lanes[i].st, "%s", lanes[i].line);
        *out = SL_MAX(*out, lanes[i].seconds);
    }
    sl_free(lanes);
    if (st == SL_OK && started < n) return sl_fail(SL_ENOMEM, "cannot start %d threads", n);
    return st;
}

/* Adds to both sums the seconds that `flops` of this size take. */
static sl_status measure(double sum[2], const sl_study_plan *plan, int size, double flops,
                         int cores, sl_pool *pool) {
    subject s = { 0 };
    sl_status st;
    double first, together, beside;
    SL_GO(subject_make(&s, plan, size));
    if (s.flops > STEP_FLOPS) { // too long to be timed here
        sum[1] = INFINITY;
        goto done;
    }
    SL_GO(time_steps(&first, &s, pool, 1));
    const double fit = PART_SECONDS / SL_MAX(first, 1e-6);
    const int steps = (int)SL_MIN(SL_MAX(fit, STEPS_LEAST), STEPS_MOST);
    SL_GO(time_steps(&together, &s, pool, steps));
    SL_GO(time_beside(&beside, &s, cores, SL_MAX(steps / cores, STEPS_LEAST)));
    sum[0] += flops / s.flops * together;
    sum[1] += flops / s.flops * beside / cores;
done:
    sl_commands__setup_clear(&s.setup);
    return st;
}

/* The sizes of the cheapest and the dearest run, and what the plan spends on sizes up to each. */
static sl_status weigh(int size[2], double flops[2], const sl_study_plan *plan) {
    double least = INFINITY, most = 0;
    for (int i = 0; i < plan->sizes; i++) {
        const sl_study_size *z = &plan->size[i];
        sl_study_run run = {
            .size = i, .batch = z->batch.at[0], .lr = z->lr.at[0], .ratio = z->sweep_ratio
        };
        double f;
        SL_TRY(sl_commands__study_flops(&f, plan, &run));
        if (f < least) size[0] = i;
        if (f > most) size[1] = i;
        least = SL_MIN(least, f);
        most = SL_MAX(most, f);
    }
    flops[0] = least;
    flops[1] = size[0] == size[1] ? 0 : most;
    return SL_OK;
}

static sl_status choose_measured(sl_commands__study_context *s, int cores) {
    sl_pool *pool = NULL;
    int size[2] = { 0, 0 };
    double flops[2], sum[2] = { 0, 0 };
    sl_status st;
    SL_GO(weigh(size, flops, s->plan));
    SL_GO(sl_par_pool_new(&pool, cores));
    for (int i = 0; i < 2; i++)
        if (flops[i] > 0) SL_GO(measure(sum, s->plan, size[i], flops[i], cores, pool));
    const bool beside = sum[1] < sum[0];
    s->workers = beside ? cores : 1;
    s->threads = beside ? 1 : cores;
    if (isfinite(sum[1]) && isfinite(sum[0]))
        sl_commands_note(
            &s->run->listener,
            "%s: measured on steps of %s and %s, %d runs side by side take %.2f of the time "
            "of one run with %d threads",
            beside ? "runs are trained side by side" : "one run at a time",
            s->plan->size[size[0]].name, s->plan->size[size[1]].name, cores, sum[1] / sum[0],
            cores);
    else
        sl_commands_note(&s->run->listener,
                         "one run at a time with %d threads: its steps are large", cores);
done:
    sl_par_pool_free(pool);
    return st;
}

sl_status sl_commands__study_choose(sl_commands__study_context *s) {
    const int cores = sl_par_cores();
    if (s->workers > 0) {
        if (s->threads == 0) s->threads = SL_MAX(cores / s->workers, 1);
        return SL_OK;
    }
    if (s->threads > 0 || cores == 1) {
        s->workers = 1;
        if (s->threads == 0) s->threads = 1;
        return SL_OK;
    }
    return choose_measured(s, cores);
}
