/* bench_sample - speed of sampling from a model, and how much work the samples share. */
#include <string.h>

#include "commands/commands_impl.h"

/* ---------------------------------------------------------------- data sets ----------------- */

enum { LAWS = 4, INPUTS_MAX = SL_TOKEN_VARIABLES };

static double law(int which, double a, double b) {
    switch (which) {
    case 0: return a * sl_sin(b) + a;
    case 1: return 3 * a * a - b;
    case 2: return sl_exp(a) + 2 * b;
    default: return a / (b * b + 1);
    }
}

/* Rows of a law. Samples of a trained model differ by law, so rounds go through them all. */
static sl_status make_data(sl_dataset *out, sl_arena *a, int which, int inputs, int points,
                           uint64_t seed) {
    enum { STREAM = 0x62736d70 }; // "bsmp"
    double *v = sl_arena_alloc(a, (size_t)(inputs + 1) * (size_t)points * sizeof *v);
    if (!v) return sl_fail_memory((size_t)(inputs + 1) * (size_t)points, sizeof *v, "points");
    sl_rng rng;
    sl_rng_init(&rng, seed, STREAM, (uint64_t)which);
    for (int i = 0; i < inputs * points; i++) v[i] = sl_rng_normal(&rng);
    double *y = v + (size_t)inputs * (size_t)points;
    const double *first = v, *second = inputs > 1 ? v + points : v;
    for (int i = 0; i < points; i++) y[i] = law(which, first[i], second[i]);
    *out = (sl_dataset){ .inputs = inputs, .rows = points, .y = y };
    for (int i = 0; i < inputs; i++) out->x[i] = v + (size_t)i * (size_t)points;
    return SL_OK;
}

/* ---------------------------------------------------------------- rounds -------------------- */

/* A bench of samples: its input and its result. */
typedef struct bench {
    const sl_infer *model;
    sl_pool *pool;
    const sl_commands_listener *listener;
    sl_infer_options options;
    int64_t samples;
    int round, rounds;
    int inputs, points;
    sl_dataset data[LAWS];
    sl_arena kept;   // data sets
    sl_arena arena;  // of one round
    sl_sampled *out; // samples
} bench;

/* What rounds cost together. */
typedef struct sum {
    sl_infer_cost cost;
    int64_t samples, ended;
    int64_t in_step; // tokens, if every sample of a round had gone on to the end of the longest
    double *seconds; // of each round
} sum;

static bool on_step(void *payload) {
    static const char what[] = "timing samples";
    const bench *b = payload;
    return sl_commands_send_event(b->listener, SYMLAW_EVENT_PROGRESS, what, sizeof what - 1,
                                  b->round, b->rounds) != SL_OK;
}

static sl_status sample(bench *b, int which, sl_pool *pool, const sl_infer_options *o,
                        int64_t count, sl_infer_cost *cost) {
    int64_t made;
    SL_TRY(sl_infer_run(b->out, &made, &b->arena, b->model, pool, &b->data[which], o, 0, count,
                        cost, on_step, b));
    if (made < count) return sl_fail(SL_ECANCEL, "stopped on request");
    return SL_OK;
}

/* The first samples are made by all threads together and then few at a time by one thread. They
 * must be the same, else the times are worthless. */
static sl_status check(bench *b) {
    enum { CHECKED = 8 };
    sl_token before[CHECKED][SL_TOKEN_MAX];
    int length[CHECKED];
    const int n = (int)SL_MIN(b->samples, CHECKED);
    sl_infer_options few = b->options;
    few.batch = 3;
    SL_TRY(sample(b, 0, b->pool, &b->options, b->samples, NULL));
    for (int i = 0; i < n; i++) {
        length[i] = b->out[i].n;
        memcpy(before[i], b->out[i].tokens, (size_t)length[i]);
    }
    sl_arena_rewind(&b->arena, 0);
    SL_TRY(sample(b, 0, NULL, &few, n, NULL));
    for (int i = 0; i < n; i++) {
        SL_ASSERT(b->out[i].n == length[i]);
        SL_ASSERT(memcmp(b->out[i].tokens, before[i], (size_t)length[i]) == 0);
    }
    sl_arena_rewind(&b->arena, 0);
    return SL_OK;
}

static sl_status time_round(sum *s, bench *b) {
    sl_infer_cost cost = { 0 };
    const double start = sl_clock();
    SL_TRY(sample(b, b->round % LAWS, b->pool, &b->options, b->samples, &cost));
    s->seconds[b->round++] = sl_clock() - start;
    s->cost.rows += cost.rows;
    s->cost.tokens += cost.tokens;
    s->cost.encode += cost.encode;
    s->cost.decode += cost.decode;
    int longest = 0;
    for (int64_t i = 0; i < b->samples; i++) {
        s->ended += b->out[i].ended;
        longest = SL_MAX(longest, b->out[i].n);
    }
    s->samples += b->samples;
    s->in_step += longest * b->samples;
    sl_arena_rewind(&b->arena, 0);
    return SL_OK;
}

/* ---------------------------------------------------------------- what is asked ------------- */

static sl_status open_model(sl_infer **out, sl_commands_run *run) {
    sl_commands__bench_options *p = run->options;
    if (p->model) {
        if (p->shape.size >= 0)
            return sl_fail(SL_EINVAL, "--model has its size already; leave --size out");
        SL_TRY(sl_infer_open(out, p->model));
        return sl_commands__model_notes(&run->listener, *out);
    }
    sl_model_options o;
    SL_TRY(sl_commands__model_options(&o, run, &p->shape, SL_COMMANDS__BENCH_VARIABLES));
    return sl_infer_new(out, &o, NULL, (uint64_t)p->common.seed, (int)p->points);
}

static sl_status prepare(bench *b, const sl_commands_run *run) {
    const sl_commands__bench_options *o = run->options;
    b->samples = o->samples;
    b->points = (int)o->points;
    b->inputs = sl_infer_about(b->model)->variables;
    b->options = sl_infer_defaults();
    b->options.seed = (uint64_t)o->common.seed;
    b->options.endless = !o->natural_end;
    if (!o->natural_end || *sl_commands__by_caller(run, &o->tokens)) b->options.length = o->tokens;
    b->out = sl_calloc((size_t)b->samples, sizeof *b->out);
    if (!b->out) return sl_fail_memory((size_t)b->samples, sizeof *b->out, "samples");
    for (int i = 0; i < LAWS; i++)
        SL_TRY(make_data(&b->data[i], &b->kept, i, b->inputs, b->points, b->options.seed));
    return SL_OK;
}

/* ---------------------------------------------------------------- the result ---------------- */

static void report(sl_commands_run *run, const bench *b, sum *s, sl_str *result) {
    const int64_t parameters = sl_infer_about(b->model)->model->count;
    const double rounds = b->rounds, per_sample = (double)s->samples;
    double total = 0;
    for (int i = 0; i < b->rounds; i++) total += s->seconds[i];
    const double median = sl_num_median(s->seconds, b->rounds), best = s->seconds[0]; // sorted now
    const double shared = (double)s->cost.tokens / (double)SL_MAX(s->cost.rows, 1);
    const double left = (double)s->in_step / (double)SL_MAX(s->cost.tokens, 1);
    sl_io_json_add_int(result, "parameters", parameters);
    sl_io_json_add_int(result, "threads", sl_par_pool_threads(b->pool));
    sl_io_json_add_int(result, "samples", b->samples);
    sl_io_json_add_real(result, "ms", 1e3 * median);
    sl_io_json_add_real(result, "best_ms", 1e3 * best);
    sl_io_json_add_real(result, "encode_ms", 1e3 * s->cost.encode / rounds);
    sl_io_json_add_real(result, "decode_ms", 1e3 * s->cost.decode / rounds);
    sl_io_json_add_real(result, "samples_per_second", per_sample / total);
    sl_io_json_add_real(result, "tokens_per_second", (double)s->cost.tokens / total);
    sl_io_json_add_real(result, "tokens", (double)s->cost.tokens / rounds); // of a round
    sl_io_json_add_real(result, "rows", (double)s->cost.rows / rounds);
    sl_io_json_add_real(result, "ended", (double)s->ended / per_sample);
    sl_io_json_add_real(result, "gain_shared", shared);
    sl_io_json_add_real(result, "gain_leaving", left);
    if (run->common->json) return;

    sl_str *o = &run->output;
    char a[32];
    sl_report_line(o, "model", "%s parameters, %s; %d thread%s", sl_group_digits(a, parameters),
                   *sl_infer_about(b->model)->path ? sl_infer_about(b->model)->path
                                                   : "random weights",
                   sl_par_pool_threads(b->pool), sl_par_pool_threads(b->pool) == 1 ? "" : "s");
    sl_report_line(o, "samples", "%lld of %.1f tokens, median %.1f ms, best %.1f ms",
                   (long long)b->samples, (double)s->cost.tokens / per_sample, 1e3 * median,
                   1e3 * best);
    sl_report_line(o, "parts", "%.1f ms to encode, %.1f to decode", 1e3 * s->cost.encode / rounds,
                   1e3 * s->cost.decode / rounds);
    sl_report_line(o, "rate", "%.0f samples/s, %.0f tokens/s", per_sample / total,
                   (double)s->cost.tokens / total);
    sl_report_line(o, "rows",
                   "%.0f computed for %.0f tokens: shared prefixes save a factor of %.2f",
                   (double)s->cost.rows / rounds, (double)s->cost.tokens / rounds, shared);
    sl_report_line(o, "ended",
                   "%.1f %% before the last token; leaving them out saves a factor of %.2f",
                   100 * (double)s->ended / per_sample, left);
}

sl_status sl_commands__bench_sample(sl_commands_run *run, sl_str *result) {
    sl_infer *model = NULL;
    const sl_commands__bench_options *o = run->options;
    bench b = { .listener = &run->listener, .rounds = (int)o->steps };
    sum s = { 0 };
    sl_status st;
    SL_GO(open_model(&model, run));
    b.model = model;
    SL_GO(sl_par_pool_new(&b.pool, sl_commands__threads(run)));
    SL_GO(prepare(&b, run));
    s.seconds = sl_calloc((size_t)b.rounds, sizeof *s.seconds);
    if (!s.seconds) SL_GO(sl_fail_memory((size_t)b.rounds, sizeof *s.seconds, "times"));
    SL_GO(check(&b)); // and with it caches and memory are warm
    while (b.round < b.rounds) SL_GO(time_round(&s, &b));
    report(run, &b, &s, result);
    st = sl_commands__output(run);
done:
    sl_free(s.seconds);
    sl_free(b.out);
    sl_arena_clear(&b.arena);
    sl_arena_clear(&b.kept);
    sl_par_pool_free(b.pool);
    sl_infer_close(model);
    return st;
}
