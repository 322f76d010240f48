/* time - how long a step takes, on pairs that are made up.
 *
 * Sixteen pairs are drawn once and copied over and over, so that what is timed is the model, the
 * sums and the optimiser at exactly the given sizes. */
#include "num/num.h"
#include "train/train_impl.h"

enum { WARM_UP = 2, STORED = 16 };

static sl_status check(const sl_train_config *c, int points, int tokens, int steps) {
    if (points < 1 || points > SL_PAIRS_MAX_POINTS)
        return sl_fail(SL_EINVAL, "%d points: must be 1 to %d", points, SL_PAIRS_MAX_POINTS);
    if (tokens < 1 || tokens > SL_TOKEN_MAX)
        return sl_fail(SL_EINVAL, "%d tokens: must be 1 to %d", tokens, SL_TOKEN_MAX);
    if (steps < 1) return sl_fail(SL_EINVAL, "%d steps: at least one is timed", steps);
    // one token besides the special ones, to draw from
    if (c->model.vocabulary < SL_TOKEN_END + 2)
        return sl_fail(SL_EINVAL, "a vocabulary of %lld is too small",
                       (long long)c->model.vocabulary);
    return SL_OK;
}

/* Rank 0: reports progress, outside of what is timed. */
static sl_status report_progress(int step, int steps, double loss, sl_train_progress progress,
                                 void *payload) {
    if (!progress || sl_par_rank() != 0) return SL_OK;
    const sl_train_report latest = { .step = step, .steps = steps, .loss = loss };
    if (progress(&latest, payload) == 0) return SL_OK;
    return sl_fail(SL_ECANCEL, "stopped at step %d of %d", step, steps);
}

static sl_status time_steps(sl_train_timing *out, sl_train__engine *e, double *seconds, int steps,
                            sl_train_progress progress, void *payload) {
    for (int i = 0; i < WARM_UP + steps; i++) {
        sl_train__outcome o;
        const double begun = sl_clock();
        SL_TRY(sl_train__step(&o, e, i, i + 1 < WARM_UP + steps));
        if (i >= WARM_UP) seconds[i - WARM_UP] = sl_clock() - begun;
        out->loss = o.loss / (double)o.tokens;
        SL_TRY(sl_par_agree(report_progress(i + 1, WARM_UP + steps, out->loss, progress, payload)));
    }
    out->median = sl_num_median(seconds, steps); // sorted now
    out->best = seconds[0];
    return SL_OK;
}

/* Everything before the first step. */
static sl_status prepare(sl_train_timing *out, sl_train__engine *e, sl_model **m,
                         sl_train__feed *stored, sl_pool *pool, const sl_train_config *c,
                         int points, int tokens) {
    sl_train__shape s;
    SL_TRY(sl_train__model(m, c));
    SL_TRY(sl_train__shape_make(&s, &c->train, (int)(*m)->options.columns, points, tokens, 0,
                                sl_par_pool_threads(pool), sl_par_rank(), sl_par_ranks()));
    SL_TRY(sl_train__plan_fill(&out->plan, c, *m, &s, tokens));
    out->plan.memory_batches += sl_train__feed_bytes(&s, STORED);
    out->plan.memory += sl_train__feed_bytes(&s, STORED);
    out->planned_bytes = out->plan.memory;

    SL_TRY(sl_train__feed_new(stored, &s, STORED));
    for (int i = 0; i < STORED; i++)
        sl_train__feed_random(stored, i, tokens, (int)(*m)->options.vocabulary, c->seed);
    const sl_train__source source = { .stored = stored };
    SL_TRY(sl_train__engine_new(e, pool, *m, &s, &c->optim, out->plan.steps, c->seed, &source));
    sl_model_init(e->weights, *m, c->seed);
    return SL_OK;
}

sl_status sl_train_time(sl_train_timing *out, sl_pool *pool, const sl_train_config *c, int points,
                        int tokens, int steps, sl_train_progress progress, void *payload) {
    const int64_t held = sl_mem_bytes();
    sl_status st;
    sl_model *m = NULL;
    sl_train__engine e = { 0 };
    sl_train__feed stored = { 0 };
    sl_train_config timed = *c; // a run as long as the timing, without pairs of its own
    timed.pairs = NULL;
    timed.train.steps = WARM_UP + (int64_t)steps;
    timed.train.ratio = timed.train.flops = 0;
    *out = (sl_train_timing){ .steps = steps };
    SL_TRY(check(c, points, tokens, steps));

    sl_mem_peak_reset();
    double *seconds = sl_malloc((size_t)steps, sizeof *seconds);
    st = seconds ? prepare(out, &e, &m, &stored, pool, &timed, points, tokens)
                 : sl_fail_memory((size_t)steps, sizeof *seconds, "times of steps");
    SL_GO(sl_par_agree(st));
    SL_GO(time_steps(out, &e, seconds, steps, progress, payload));
    out->peak_bytes = sl_mem_peak() - held;
done:
    sl_train__engine_clear(&e);
    sl_train__feed_clear(&stored);
    sl_model_free(m);
    sl_free(seconds);
    return st;
}
