/* engine - one step: lanes, tree, optimiser.
 *
 * The assignment of work to threads is free, the result is fixed. A lane's gradient is a function
 * of its pairs; the sum of lanes is by halves, first over the lanes of a rank, which are a subtree,
 * then over ranks; losses are added by lane. Making the next batch's pairs rides along behind the
 * lanes, so a thread that has no lane left makes pairs instead of waiting. */
#include <math.h>
#include <string.h>

#include "nn/nn.h"
#include "train/train_impl.h"

enum { PAIRS_PART = 4 }; // pairs of one part of parallel work

/* ---------------------------------------------------------------- lifetime ------------------ */

static sl_status wide(float **out, int64_t n, const char *what) {
    *out = sl_malloc_aligned((size_t)n, sizeof(float));
    return *out ? SL_OK : sl_fail_memory((size_t)n, sizeof(float), what);
}

static sl_status counts(int64_t **out, int n) {
    *out = sl_calloc((size_t)n, sizeof(int64_t));
    return *out ? SL_OK : sl_fail_memory((size_t)n, sizeof(int64_t), "a list of shares");
}

static bool pass_stops(void *payload) { return sl_train__stopping(payload); }

static sl_status allocate(sl_train__engine *e, const sl_optim_options *o, int64_t steps,
                          const sl_tensor *tensors) {
    const sl_train__shape *s = &e->shape;
    const sl_model *m = e->model;
    const int lanes = sl_train__rank_lanes(s);
    SL_TRY(counts(&e->share, s->ranks + 1));
    SL_TRY(counts(&e->lanes_of, s->ranks + 1));
    SL_TRY(counts(&e->tokens, s->lanes));
    e->loss = sl_calloc((size_t)s->lanes, sizeof *e->loss);
    e->grad = sl_calloc((size_t)lanes, sizeof *e->grad);
    e->workspace = sl_calloc((size_t)s->workspaces, sizeof *e->workspace);
    e->arena = sl_calloc((size_t)s->threads, sizeof *e->arena);
    if (!e->loss || !e->grad || !e->workspace || !e->arena)
        return sl_fail_memory((size_t)s->lanes, sizeof *e->loss, "lists of lanes and threads");

    sl_optim_shares(e->share, tensors, m->n_param, s->ranks);
    for (int r = 0; r <= s->ranks; r++) e->lanes_of[r] = (int64_t)lanes * r;
    SL_TRY(wide(&e->weights, m->block, "the weights"));
    memset(e->weights, 0, (size_t)m->block * sizeof *e->weights);
    for (int l = 0; l < lanes; l++) SL_TRY(wide(&e->grad[l], m->block, "a gradient"));
    if (s->ranks > 1) {
        // rank 0 also collects a whole block here when it saves
        const int64_t mine = e->share[s->rank + 1] - e->share[s->rank];
        SL_TRY(wide(&e->received, SL_MAX(s->ranks * mine, m->block), "gradients of ranks"));
    }
    SL_TRY(sl_optim_new(&e->optim, tensors, m->n_param, o, steps, s->rank, s->ranks));
    for (int i = 0; i < s->workspaces; i++) {
        SL_TRY(sl_train__workspace_new(&e->workspace[i], m, s));
        sl_model_work_set_stop(e->workspace[i].work, pass_stops, e);
    }
    const int first = sl_train__lane_begin(s, (int)e->lanes_of[s->rank]);
    const int last = sl_train__lane_begin(s, (int)e->lanes_of[s->rank + 1]);
    for (int i = 0; i < 2; i++) SL_TRY(sl_train__feed_new(&e->feed[i], s, last - first));
    return SL_OK;
}

sl_status sl_train__engine_new(sl_train__engine *e, sl_pool *pool, const sl_model *m,
                               const sl_train__shape *s, const sl_optim_options *o, int64_t steps,
                               uint64_t seed, const sl_train__source *source) {
    *e =
        (sl_train__engine){ .model = m, .pool = pool, .shape = *s, .source = *source, .ready = -1 };
    e->dropout.key = sl_hash("dropout", 7, seed);
    e->dropout.on = m->options.dropout > 0 || m->options.attention_dropout > 0;
    sl_tensor *tensors;
    SL_TRY(sl_nn_prepare(s->threads));
    SL_TRY(sl_train__tensors(&tensors, m));
    sl_status st = allocate(e, o, steps, tensors);
    sl_free(tensors);
    if (st != SL_OK) sl_train__engine_clear(e);
    return st;
}

void sl_train__engine_clear(sl_train__engine *e) {
    if (!e->model) return; // never begun, or cleared already
    for (int i = 0; i < 2; i++) sl_train__feed_clear(&e->feed[i]);
    for (int i = 0; e->workspace && i < e->shape.workspaces; i++)
        sl_train__workspace_clear(&e->workspace[i]);
    for (int i = 0; e->arena && i < e->shape.threads; i++) sl_arena_clear(&e->arena[i]);
    for (int l = 0; e->grad && l < sl_train__rank_lanes(&e->shape); l++) sl_free(e->grad[l]);
    sl_optim_free(e->optim);
    sl_free(e->workspace);
    sl_free(e->arena);
    sl_free(e->grad);
    sl_free(e->weights);
    sl_free(e->received);
    sl_free(e->share);
    sl_free(e->lanes_of);
    sl_free(e->loss);
    sl_free(e->tokens);
    *e = (sl_train__engine){ 0 };
}

sl_train__workspace *sl_train__workspace_take(sl_train__engine *e) {
    // no more lanes run at once than there are workspaces, so one is free or about to be
    for (int i = 0;; i = (i + 1) % e->shape.workspaces)
        if (!atomic_exchange(&e->workspace[i].taken, true)) return &e->workspace[i];
}

void sl_train__workspace_leave(sl_train__workspace *workspace) {
    atomic_store(&workspace->taken, false);
}

bool sl_train__stopping(sl_train__engine *e) {
    if (sl_par_stopping()) atomic_store(&e->stop, true);
    return atomic_load(&e->stop);
}

sl_status sl_train__fail_stopped(void) { return sl_fail(SL_ECANCEL, "stopped on request"); }

/* ---------------------------------------------------------------- lanes and pairs ----------- */

typedef struct job {
    sl_train__engine *e;
    const sl_train__feed *now;
    sl_train__feed *next;
    int lanes; // parts before it are lanes, those behind it make pairs of `next`
} job;

static sl_status run_lane(sl_train__engine *e, const sl_train__feed *f, int l) {
    const sl_train__shape *s = &e->shape;
    const int first = (int)e->lanes_of[s->rank], lane = first + l;
    const int base = sl_train__lane_begin(s, first); // place in the batch of our first slot
    sl_train__workspace *workspace = sl_train__workspace_take(e);
    memset(e->grad[l], 0, (size_t)e->model->block * sizeof(float));
    e->tokens[lane] = 0;
    e->loss[lane] = sl_train__run_pairs(workspace, e->grad[l], &e->tokens[lane], e->weights, s, f,
                                        sl_train__lane_begin(s, lane) - base,
                                        sl_train__lane_begin(s, lane + 1) - base, e->dropout);
    sl_train__workspace_leave(workspace);
    const sl_status st = sl_nn_gemm_status();
    return st == SL_OK && sl_train__stopping(e) ? sl_train__fail_stopped() : st;
}

static sl_status make_some(sl_train__feed *f, sl_train__engine *e, int worker, int64_t part) {
    const int64_t end = SL_MIN((part + 1) * PAIRS_PART, f->pairs);
    for (int64_t i = part * PAIRS_PART; i < end; i++)
        SL_TRY(sl_train__feed_make(f, (int)i, &e->arena[worker], &e->source));
    return SL_OK;
}

static sl_status run_parts(int64_t begin, int64_t end, int worker, void *payload) {
    const job *j = payload;
    for (int64_t i = begin; i < end; i++) {
        if (i < j->lanes)
            SL_TRY(run_lane(j->e, j->now, (int)i));
        else
            SL_TRY(make_some(j->next, j->e, worker, i - j->lanes));
    }
    return SL_OK;
}

/* Runs the lanes of `now` (unless NULL) and makes the pairs of step `make` (unless it is -1). */
static sl_status run_both(sl_train__engine *e, const sl_train__feed *now, int64_t make) {
    job j = { .e = e, .now = now, .lanes = now ? sl_train__rank_lanes(&e->shape) : 0 };
    int64_t parts = j.lanes;
    if (make >= 0) {
        j.next = &e->feed[make % 2];
        j.next->first = make * e->shape.batch +
                        sl_train__lane_begin(&e->shape, (int)e->lanes_of[e->shape.rank]);
        parts += (j.next->pairs + PAIRS_PART - 1) / PAIRS_PART;
    }
    SL_TRY(sl_par_agree(sl_par_for(e->pool, parts, 1, run_parts, &j)));
    e->ready = make;
    return SL_OK;
}

/* ---------------------------------------------------------------- the tree ------------------ */

/* The sum of our lanes into the first block, then that of ranks, of our share alone. */
static sl_status sum_gradients(sl_train__engine *e) {
    const sl_train__shape *s = &e->shape;
    const float *block[SL_TRAIN_MAX_LANES];
    const int lanes = sl_train__rank_lanes(s);
    for (int l = 0; l < lanes; l++) block[l] = e->grad[l];
    SL_TRY(sl_optim_sum(e->grad[0], e->optim, e->pool, block, lanes, false));
    if (s->ranks == 1) return SL_OK;
    SL_TRY(sl_par_exchange(e->received, e->grad[0], e->share));
    const int64_t mine = e->share[s->rank + 1] - e->share[s->rank];
    for (int r = 0; r < s->ranks; r++) block[r] = e->received + r * mine;
    return sl_optim_sum(e->grad[0], e->optim, e->pool, block, s->ranks, true);
}

/* ---------------------------------------------------------------- a step -------------------- */

sl_status sl_train__step(sl_train__outcome *out, sl_train__engine *e, int64_t step, bool more) {
    *out = (sl_train__outcome){ 0 };
    if (e->ready != step) SL_TRY(run_both(e, NULL, step));
    SL_TRY(run_both(e, &e->feed[step % 2], more ? step + 1 : -1));

    SL_TRY(sl_par_gather(e->loss, sizeof *e->loss, e->lanes_of));
    SL_TRY(sl_par_gather(e->tokens, sizeof *e->tokens, e->lanes_of));
    for (int l = 0; l < e->shape.lanes; l++) {
        out->loss += e->loss[l];
        out->tokens += e->tokens[l];
    }
    if (!isfinite(out->loss)) {
        out->bad = "loss";
        return sl_fail(SL_ELIMIT, "the loss is not finite");
    }
    SL_TRY(sum_gradients(e));
    sl_status st = sl_optim_step(&out->optim, e->optim, e->pool, e->weights, e->grad[0],
                                 1.0 / (double)out->tokens);
    if (st == SL_ELIMIT) out->bad = "gradient";
    SL_TRY(st);
    return sl_par_gather(e->weights, sizeof *e->weights, e->share);
}
