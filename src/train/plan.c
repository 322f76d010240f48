/* plan - how long a run is, how it is cut, and what it costs, before anything is allocated. */
#include <math.h>
#include <string.h>

#include "train/train_impl.h"

enum {
    MEASURED = 2048, // pairs that tokens are counted of
    CHUNK_CELLS =
        768, // rows of a pass: its activations fit the cache, its products are large enough
    ARENA_BYTES = 12288, // of a thread that makes pairs, besides the points
    TENSOR_BYTES = 64,   // of bookkeeping
};

static bool power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

sl_status sl_train__shape_make(sl_train__shape *out, const sl_train_options *o, int columns,
                               int points, int max_tokens, int64_t valid, int threads, int rank,
                               int ranks) {
    SL_TRY(sl_option_check(o, &sl_train_table));
    if (!power_of_two(o->lanes))
        return sl_fail(SL_EINVAL, "%lld lanes: must be a power of two", (long long)o->lanes);
    int lanes = 1;
    while (2 * lanes <= SL_MIN(o->lanes, o->batch)) lanes *= 2;
    if (!power_of_two(ranks)) return sl_fail(SL_EINVAL, "%d ranks: must be a power of two", ranks);
    if (ranks > lanes)
        return sl_fail(SL_EINVAL,
                       "%d ranks share %d lanes: start fewer, or give more lanes and a batch that"
                       " has a pair for each",
                       ranks, lanes);
    const int lane_pairs = (int)((o->batch + lanes - 1) / lanes);
    const int fit = SL_MAX(1, CHUNK_CELLS / (columns * points));
    const int chunk = SL_MIN(fit, lane_pairs);
    *out = (sl_train__shape){
        .columns = columns,
        .points = points,
        .max_tokens = max_tokens,
        .batch = (int)o->batch,
        .lanes = lanes,
        .chunk = chunk,
        .chunk_tokens = SL_MAX(SL_TOKEN_MAX, 64 * chunk),
        .rank = rank,
        .ranks = ranks,
        .threads = threads,
        .workspaces = SL_MIN(threads, lanes / ranks),
        .valid = valid,
    };
    return SL_OK;
}

sl_status sl_train__tensors(sl_tensor **out, const sl_model *m) {
    sl_tensor *t = sl_malloc((size_t)m->n_param, sizeof *t);
    if (!t) return sl_fail_memory((size_t)m->n_param, sizeof *t, "a list of tensors");
    for (int i = 0; i < m->n_param; i++)
        t[i] = (sl_tensor){ m->param[i].offset, m->param[i].count, m->param[i].regularised };
    *out = t;
    return SL_OK;
}

sl_status sl_train__model(sl_model **out, const sl_train_config *c) {
    sl_model_options o = c->model;
    if (c->pairs) {
        o.columns = 1 + sl_universe_config(sl_pairs_universe(c->pairs))->variables;
        o.vocabulary = SL_TOKEN_COUNT;
    }
    return sl_model_new(out, &o);
}

/* ---------------------------------------------------------------- length -------------------- */

/* Mean target tokens of the first n training pairs. */
static sl_status measure_tokens(double *out, const sl_pairs *p, int64_t n) {
    sl_status st = SL_OK;
    sl_arena a = { 0 };
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sl_pair pair;
        sl_arena_rewind(&a, 0);
        SL_GO(sl_pairs_get(&pair, &a, p, SL_SPLIT_TRAIN, i));
        sum += pair.n_tokens;
    }
    *out = (double)sum / (double)n;
done:
    sl_arena_clear(&a);
    return st;
}

/* Steps, of whichever way the length was given. */
static sl_status find_steps(int64_t *out, const sl_train_options *o, const sl_model *m,
                            double tokens, double flops_pair) {
    double steps = (double)o->steps;
    if (o->flops > 0) steps = o->flops / (flops_pair * (double)o->batch);
    if (o->ratio > 0 || (o->steps == 0 && o->flops == 0)) {
        const double ratio = o->ratio > 0 ? o->ratio : 5;
        steps = ratio * (double)m->count / (tokens * (double)o->batch);
    }
    if (!(steps <= 1e12)) return sl_fail(SL_EINVAL, "a run of %.3g steps is too long", steps);
    *out = SL_MAX((int64_t)llround(steps), 1);
    return SL_OK;
}

static sl_status check_length(const sl_train_options *o) {
    const struct {
        const char *name;
        bool given;
    } way[] = { { "ratio", o->ratio > 0 }, { "steps", o->steps > 0 }, { "flops", o->flops > 0 } };
    const char *first = NULL;
    for (int i = 0; i < SL_LEN(way); i++) {
        if (!way[i].given) continue;
        if (first)
            return sl_fail(SL_EINVAL, "%s and %s both give the length of the run; give one of them",
                           first, way[i].name);
        first = way[i].name;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the plan ------------------ */

static sl_status fill_memory(sl_train_plan *p, const sl_model *m, const sl_train__shape *s) {
    sl_tensor *tensors;
    int64_t share[SL_TRAIN_MAX_LANES + 1];
    SL_TRY(sl_train__tensors(&tensors, m));
    sl_optim_shares(share, tensors, m->n_param, s->ranks);
    const int64_t block = m->block * (int64_t)sizeof(float);
    const int64_t received =
        s->ranks == 1 ? 0 : SL_MAX(block, s->ranks * share[1] * (int64_t)sizeof(float));
    const int lanes = sl_train__rank_lanes(s);

    // the model itself holds its table, and codes of positions in float and in double
    p->memory_weights = block + m->n_param * (int64_t)(sizeof(sl_param) + TENSOR_BYTES) +
                        SL_MODEL_MAX_TOKENS * m->options.width * 12;
    p->memory_gradients = lanes * block + received + s->lanes * 16;
    p->memory_optimiser = sl_optim_bytes(tensors, m->n_param, s->rank, s->ranks);
    p->memory_activations = s->workspaces * sl_train__workspace_bytes(m, s);
    p->memory_batches =
        2 * sl_train__feed_bytes(s, sl_train__lane_begin(s, lanes)) + sl_train__valid_bytes(s) +
        s->threads * (ARENA_BYTES + (int64_t)s->points * s->columns * 5 * (int64_t)sizeof(double));
    p->memory = p->memory_weights + p->memory_gradients + p->memory_optimiser +
                p->memory_activations + p->memory_batches;
    sl_free(tensors);
    return SL_OK;
}

sl_status sl_train__plan_fill(sl_train_plan *out, const sl_train_config *c, const sl_model *m,
                              const sl_train__shape *s, double tokens) {
    const sl_train_options *o = &c->train;
    sl_train_plan p = { .lanes = s->lanes, .chunk = s->chunk, .tokens_per_pair = tokens };
    SL_TRY(check_length(o));
    SL_TRY(sl_optim_options_check(&c->optim));
    if (tokens <= 0) {
        // a short run of so many steps is counted as it will be
        int64_t n = MEASURED;
        if (o->steps > 0 && o->steps < n) n = SL_MIN(n, o->steps * o->batch);
        SL_TRY(measure_tokens(&p.tokens_per_pair, c->pairs, n));
    }
    p.flops_pair_paper = sl_model_flops_paper(m, (double)s->columns * s->points, p.tokens_per_pair);
    p.flops_pair = sl_model_flops(m, s->points, p.tokens_per_pair);
    SL_TRY(find_steps(&p.steps, o, m, p.tokens_per_pair, p.flops_pair_paper));

    const double pairs = (double)p.steps * (double)o->batch;
    p.flops = pairs * p.flops_pair_paper;
    p.ratio = pairs * p.tokens_per_pair / (double)m->count;
    if (c->pairs) p.passes = 1 + sl_pairs_pass(c->pairs, SL_SPLIT_TRAIN, p.steps * o->batch - 1);
    SL_TRY(fill_memory(&p, m, s));
    *out = p;
    return SL_OK;
}

sl_status sl_train_plan_make(sl_train_plan *out, const sl_train_config *c, const sl_model *m,
                             int points, double tokens, int threads, int ranks) {
    if (!c->pairs && (points <= 0 || tokens <= 0))
        return sl_fail(SL_EINVAL, "a plan without pairs needs points and tokens per pair");
    sl_train__shape s;
    int64_t valid = c->train.valid_pairs;
    int max_tokens = SL_TOKEN_MAX;
    if (c->pairs) {
        const sl_pairs_options *o = sl_pairs_config(c->pairs);
        if (points <= 0) points = (int)o->points;
        max_tokens = (int)o->max_tokens;
        valid = SL_MIN(valid, sl_pairs_size(c->pairs, SL_SPLIT_VALID));
    }
    SL_TRY(sl_train__shape_make(&s, &c->train, (int)m->options.columns, points, max_tokens, valid,
                                SL_MAX(threads, 1), 0, ranks));
    return sl_train__plan_fill(out, c, m, &s, tokens);
}
