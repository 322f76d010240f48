/* info_plan - what a study takes before anyone starts it: every run of its plan with FLOPs and
 * time.
 *
 * Which batch size and learning rate are best is not known before the sweep is over. FLOPs do not
 * depend on the learning rate, and on the batch size by less than a step, so the middle one of a
 * list stands for the best. */
#include <math.h>
#include <string.h>

#include "commands/study_impl.h"

/* What one size takes. FLOPs are as the paper counts unless they are `executed`. */
typedef struct cost {
    const sl_study_size *size;
    sl_commands__setup setup;
    double params, tokens; // tokens: of a pair
    double batch;          // that stands for all
    double flops_pair, flops_pair_executed;
    int64_t memory;
    double sweep_flops; // of one run
    int sweep_runs, grow_runs;
    double rate;      // FLOP/s in training, of one process
    double share;     // of the sgemm rate, as executed; NaN
    int64_t measured; // pairs of a step that was timed; 0: the share is taken from elsewhere
} cost;

typedef struct outlook {
    sl_commands_run *run;
    const sl_commands__info_options *options;
    const sl_study_plan *plan;
    cost *cost;
    double peak;  // FLOP/s of products on all threads; NaN: not measured
    double given; // rate of --rate; NaN
    double ranks;
    double flops_sweep, flops_scale, flops_grow, seconds_sweep, seconds_scale;
    int runs_sweep, runs_scale, runs_grow;
} outlook;

/* ---------------------------------------------------------------- a size -------------------- */

static double middle(const sl_study_list *list) { return list->at[(list->n - 1) / 2]; }

/* The options of a run of this size as train would read them. */
static sl_status read_setup(sl_commands__setup *out, const outlook *o, int i) {
    const sl_study_size *s = &o->plan->size[i];
    const sl_study_run run = { .size = i,
                               .batch = middle(&s->batch),
                               .lr = middle(&s->lr),
                               .ratio = s->sweep_ratio,
                               .seed = (int64_t)s->scale_seeds.at[0] };
    return sl_commands__study_setup(out, o->plan, &run, o->run->common->threads);
}

/* Tokens of a pair: as given, as of an earlier size with the same data, or measured. */
static sl_status find_tokens(double *out, const outlook *o, int i) {
    sl_commands__setup *mine = &o->cost[i].setup;
    *out = o->options->tokens;
    if (!isnan(*out)) return SL_OK;
    for (int k = 0; k < i; k++) {
        const sl_commands__setup *theirs = &o->cost[k].setup;
        *out = o->cost[k].tokens;
        if (memcmp(&mine->universe, &theirs->universe, sizeof mine->universe) == 0 &&
            memcmp(&mine->pairs, &theirs->pairs, sizeof mine->pairs) == 0)
            return SL_OK;
    }
    sl_train_plan p;
    SL_TRY(sl_commands__plan_make(&p, o->run, mine, 0));
    *out = p.tokens_per_pair;
    return SL_OK;
}

/* What a run of this size takes. */
static sl_status plan_run(sl_train_plan *out, cost *c, double ratio) {
    c->setup.config.train.batch = (int64_t)c->batch;
    c->setup.config.train.ratio = ratio;
    return sl_train_plan_make(out, &c->setup.config, c->setup.model, (int)c->setup.pairs.points,
                              c->tokens, c->setup.threads, 1);
}

static int grid_points(const sl_study_size *s, int grow) {
    const int batch = s->batch.n + (s->batch.n > 1 ? 2 * grow : 0);
    const int lr = s->lr.n + (s->lr.n > 1 ? 2 * grow : 0);
    return batch * lr == 1 ? 0 : batch * lr; // a grid of one point is not swept
}

static sl_status cost_size(outlook *o, int i) {
    cost *c = &o->cost[i];
    sl_train_plan p;
    c->size = &o->plan->size[i];
    SL_TRY(read_setup(&c->setup, o, i));
    SL_TRY(find_tokens(&c->tokens, o, i));
    c->params = (double)c->setup.model->count;
    c->batch = middle(&c->size->batch);
    c->rate = c->share = NAN;
    SL_TRY(plan_run(&p, c, c->size->sweep_ratio));
    c->flops_pair = p.flops_pair_paper;
    c->flops_pair_executed = p.flops_pair;
    c->memory = p.memory;
    c->sweep_flops = p.flops;
    c->sweep_runs = grid_points(c->size, 0) * c->size->sweep_seeds.n;
    c->grow_runs = grid_points(c->size, c->size->grow) * c->size->sweep_seeds.n - c->sweep_runs;
    return SL_OK;
}

/* ---------------------------------------------------------------- how fast ------------------ */

/* Of the sgemm rate, before anything is known. */
static const double usual_share = 0.4;

static int on_step(const sl_train_report *n, void *payload) {
    static const char what[] = "timing steps";
    return sl_commands_send_event(payload, SYMLAW_EVENT_PROGRESS, what, sizeof what - 1,
                                  (double)n->step, (double)n->steps) != SL_OK;
}

/* Times a step of as many pairs as take about a third of a second; the model may be too large for
 * that.
 */
static sl_status measure(cost *c, const outlook *o, sl_pool *pool) {
    const double a_step = 0.3, too_long = 1.5, all = 0.5;
    const double pair = c->flops_pair_executed / (usual_share * o->peak);
    const double least = SL_MIN(c->batch, (double)c->setup.threads);
    const double batch = SL_MIN(c->batch, SL_MAX(least, floor(a_step / pair)));
    if (least * pair > too_long || c->memory > sl_mem_available() / 2) return SL_OK;
    sl_train_config config = c->setup.config;
    sl_train_timing t;
    config.train.batch = (int64_t)batch;
    const double steps = SL_MIN(SL_MAX(all / (batch * pair), 1), 50);
    SL_TRY(sl_train_time(&t, pool, &config, (int)c->setup.pairs.points,
                         (int)SL_MAX(round(c->tokens), 1), (int)steps, on_step, &o->run->listener));
    c->measured = (int64_t)batch;
    c->rate = batch * t.plan.flops_pair_paper / t.median;
    c->share = sl_report_peak_share(batch * t.plan.flops_pair / t.median, o->peak);
    return SL_OK;
}

/* Sizes that were not timed are taken to reach the share of the sgemm rate that the last one
 * reached. */
static sl_status measure_all(outlook *o) {
    static const double seconds = 0.2;
    sl_pool *pool = NULL;
    sl_status st;
    double share = usual_share;
    SL_GO(sl_par_pool_new(&pool, o->cost[0].setup.threads));
    SL_GO(sl_commands__gemm_rate(&o->peak, pool, SL_COMMANDS__SQUARE, seconds));
    for (int i = 0; i < o->plan->sizes; i++) {
        cost *c = &o->cost[i];
        SL_GO(measure(c, o, pool));
        if (!isnan(c->share)) share = c->share;
        if (c->measured) continue;
        c->share = share;
        c->rate = share * o->peak * c->flops_pair / c->flops_pair_executed;
    }
done:
    sl_par_pool_free(pool);
    return st;
}

static double seconds_of(const outlook *o, const cost *c, double flops) {
    return flops / (isnan(o->given) ? c->rate : o->given) / o->ranks;
}

/* ---------------------------------------------------------------- sums ---------------------- */

/* The run of scale number k of this size. */
static sl_status scale_plan(sl_train_plan *out, const outlook *o, int i, int k) {
    return plan_run(out, &o->cost[i], o->cost[i].size->ratios.at[k]);
}

static sl_status add_up(outlook *o) {
    for (int i = 0; i < o->plan->sizes; i++) {
        const cost *c = &o->cost[i];
        const double sweep = c->sweep_flops * c->sweep_runs;
        o->flops_sweep += sweep;
        o->flops_grow += c->sweep_flops * c->grow_runs;
        o->seconds_sweep += seconds_of(o, c, sweep);
        o->runs_sweep += c->sweep_runs;
        o->runs_grow += c->grow_runs;
        for (int k = 0; k < c->size->ratios.n; k++) {
            sl_train_plan p;
            SL_TRY(scale_plan(&p, o, i, k));
            // runs that the sweep has made are not made again
            int n = c->size->scale_seeds.n;
            for (int j = 0; j < c->size->scale_seeds.n; j++)
                for (int l = 0; l < c->size->sweep_seeds.n; l++)
                    n -= c->sweep_runs > 0 && c->size->ratios.at[k] == c->size->sweep_ratio &&
                         c->size->scale_seeds.at[j] == c->size->sweep_seeds.at[l];
            o->runs_scale += n;
            o->flops_scale += n * p.flops;
            o->seconds_scale += seconds_of(o, c, n * p.flops);
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- for programs -------------- */

static sl_status add_size_json(sl_str *s, const outlook *o, int i) {
    const cost *c = &o->cost[i];
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "name", c->size->name);
    sl_io_json_add_real(s, "parameters", c->params);
    sl_io_json_add_real(s, "tokens_per_pair", c->tokens);
    sl_io_json_add_real(s, "flops_pair_paper", c->flops_pair);
    sl_io_json_add_real(s, "flops_pair", c->flops_pair_executed);
    sl_io_json_add_int(s, "memory", c->memory);
    sl_io_json_add_real(s, "rate", isnan(o->given) ? c->rate : o->given);
    sl_io_json_add_real(s, "share", c->share);
    sl_io_json_add_int(s, "measured_pairs", c->measured);
    sl_io_json_open(s, "sweep", '{');
    sl_io_json_add_int(s, "runs", c->sweep_runs);
    sl_io_json_add_int(s, "runs_grown", c->sweep_runs + c->grow_runs);
    sl_io_json_add_real(s, "ratio", c->size->sweep_ratio);
    sl_io_json_add_real(s, "flops_run", c->sweep_flops);
    sl_io_json_add_real(s, "flops", c->sweep_flops * c->sweep_runs);
    sl_io_json_add_real(s, "seconds", seconds_of(o, c, c->sweep_flops * c->sweep_runs));
    sl_io_json_close(s, '}');
    sl_io_json_open(s, "scale", '[');
    for (int k = 0; k < c->size->ratios.n; k++) {
        sl_train_plan p;
        SL_TRY(scale_plan(&p, o, i, k));
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "ratio", c->size->ratios.at[k]);
        sl_io_json_add_int(s, "seeds", c->size->scale_seeds.n);
        sl_io_json_add_real(s, "tokens", (double)p.steps * c->batch * c->tokens);
        sl_io_json_add_real(s, "flops", p.flops);
        sl_io_json_add_real(s, "seconds", seconds_of(o, c, p.flops));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
    return SL_OK;
}

static sl_status add_json(sl_str *s, const outlook *o) {
    sl_io_json_open(s, "plan", '{');
    SL_JSON_FIELDS(s, o->plan, name, about);
    sl_io_json_open(s, "sizes", '[');
    for (int i = 0; i < o->plan->sizes; i++) SL_TRY(add_size_json(s, o, i));
    sl_io_json_close(s, ']');
    SL_JSON_FIELDS(s, o, runs_sweep, runs_scale);
    sl_io_json_add_int(s, "runs_grown", o->runs_grow);
    SL_JSON_FIELDS(s, o, flops_sweep, flops_scale);
    sl_io_json_add_real(s, "flops", o->flops_sweep + o->flops_scale);
    sl_io_json_add_real(s, "flops_grown", o->flops_grow);
    SL_JSON_FIELDS(s, o, seconds_sweep, seconds_scale);
    sl_io_json_add_real(s, "seconds", o->seconds_sweep + o->seconds_scale);
    sl_io_json_add_real(s, "sgemm_rate", o->peak);
    sl_io_json_close(s, '}');
    return SL_OK;
}

/* ---------------------------------------------------------------- for people ---------------- */

static void add_sweep(sl_str *s, const outlook *o) {
    char a[32], t[32];
    sl_str_addf(s, "\nthe sweep\n  %-12s %12s %11s %6s %6s %11s %11s  %s\n", "size", "parameters",
                "tokens/pair", "ratio", "runs", "FLOPs each", "FLOPs", "time");
    for (int i = 0; i < o->plan->sizes; i++) {
        const cost *c = &o->cost[i];
        const double all = c->sweep_flops * c->sweep_runs;
        sl_str_addf(s, "  %-12s %12s %11.4g %6g %6d %11.3g %11.3g  %s\n", c->size->name,
                    sl_group_digits(a, (int64_t)c->params), c->tokens, c->size->sweep_ratio,
                    c->sweep_runs, c->sweep_flops, all,
                    sl_report_duration(t, seconds_of(o, c, all)));
    }
}

static sl_status add_scale(sl_str *s, const outlook *o) {
    char t[32];
    sl_str_addf(s, "\nthe best of each size, by ratio\n  %-12s %6s %6s %11s %11s  %s\n", "size",
                "ratio", "seeds", "tokens", "FLOPs each", "time each");
    for (int i = 0; i < o->plan->sizes; i++) {
        const cost *c = &o->cost[i];
        for (int k = 0; k < c->size->ratios.n; k++) {
            sl_train_plan p;
            SL_TRY(scale_plan(&p, o, i, k));
            sl_str_addf(s, "  %-12s %6g %6d %11.3g %11.3g  %s\n", c->size->name,
                        c->size->ratios.at[k], c->size->scale_seeds.n,
                        (double)p.steps * c->batch * c->tokens, p.flops,
                        sl_report_duration(t, seconds_of(o, c, p.flops)));
        }
    }
    return SL_OK;
}

/* What the times rest on. */
static void add_speed(sl_str *s, const outlook *o) {
    char where[64] = "";
    if (o->ranks > 1)
        sl_snprintf(where, sizeof where, ", and %.0f processes %.0f times as much", o->ranks,
                    o->ranks);
    if (!isnan(o->given)) {
        sl_report_line(s, "speed", "%.3g FLOP/s in training, as given%s", o->given, where);
        return;
    }
    sl_report_line(s, "speed", "this machine has %.0f GFLOP/s in products of matrices, %d thread%s",
                   1e-9 * o->peak, o->cost[0].setup.threads,
                   o->cost[0].setup.threads == 1 ? "" : "s");
    for (int i = 0; i < o->plan->sizes; i++) {
        const cost *c = &o->cost[i];
        char share[48] = "";
        if (!isnan(c->share)) sl_snprintf(share, sizeof share, ", %.2f of that", c->share);
        if (c->measured)
            sl_report_line(s, "", "%s: %.1f GFLOP/s%s, measured with %lld pairs a step",
                           c->size->name, 1e-9 * c->rate, share, (long long)c->measured);
        else
            sl_report_line(s, "", "%s: %.1f GFLOP/s%s, not measured: a step is too large here",
                           c->size->name, 1e-9 * c->rate, share);
    }
    if (o->ranks > 1)
        sl_report_line(s, "", "%.0f processes are taken to be %.0f times as fast", o->ranks,
                       o->ranks);
}

static sl_status add_table(sl_str *s, const outlook *o) {
    char a[32], b[32], c[32];
    sl_str_addf(s, "%s%s%s\n", o->plan->name, o->plan->about ? ": " : "",
                o->plan->about ? o->plan->about : "");
    add_sweep(s, o);
    SL_TRY(add_scale(s, o));
    sl_str_add(s, "\nin all\n");
    sl_report_line(s, "runs", "%d of the sweep and %d more", o->runs_sweep, o->runs_scale);
    sl_report_line(s, "FLOPs", "%.3g = %.3g + %.3g, as the paper counts",
                   o->flops_sweep + o->flops_scale, o->flops_sweep, o->flops_scale);
    sl_report_line(s, "time", "%s = %s + %s, one run after the other, without evaluations",
                   sl_report_duration(a, o->seconds_sweep + o->seconds_scale),
                   sl_report_duration(b, o->seconds_sweep),
                   sl_report_duration(c, o->seconds_scale));
    sl_report_line(s, "growth", "at most %d runs more, %.3g FLOPs, if grids grow on all sides",
                   o->runs_grow, o->flops_grow);
    add_speed(s, o);
    return SL_OK;
}

/* ---------------------------------------------------------------- the work ------------------ */

/* What a run is, the plan says. */
static sl_status check_told(const sl_commands_run *run) {
    static const char *const ours[] = { "plan",    "tokens", "ranks", "rate",
                                        "threads", "json",   "quiet" };
    for (int i = 0; i < run->table->n; i++) {
        const char *name = run->table->row[i].name;
        bool known = !run->by_caller[i];
        for (int k = 0; k < SL_LEN(ours); k++) known |= strcmp(name, ours[k]) == 0;
        if (!known)
            return sl_fail(SL_EINVAL,
                           "--%s does not go with a plan, which has its own; change it there",
                           name);
    }
    return SL_OK;
}

static sl_status look_ahead(outlook *o) {
    for (int i = 0; i < o->plan->sizes; i++) SL_TRY(cost_size(o, i));
    if (isnan(o->given)) SL_TRY(measure_all(o));
    return add_up(o);
}

sl_status sl_commands__info_plan(sl_commands_run *run, const sl_commands__info_options *options,
                                 sl_str *result) {
    sl_study_plan *plan;
    sl_status st;
    outlook o = { .run = run,
                  .options = options,
                  .peak = NAN,
                  .given = options->rate,
                  .ranks = (double)options->ranks };
    SL_TRY(check_told(run));
    SL_TRY(sl_study_plan_read(&plan, &run->arena, options->plan, sl_commands__study_check, NULL));
    o.plan = plan;
    o.cost = sl_calloc((size_t)plan->sizes, sizeof *o.cost);
    if (!o.cost) return sl_fail_memory((size_t)plan->sizes, sizeof *o.cost, "costs of sizes");
    SL_GO(look_ahead(&o));
    SL_GO(add_json(result, &o));
    if (run->common->json) goto done;
    SL_GO(add_table(&run->output, &o));
    st = sl_commands__output(run);
done:
    for (int i = 0; i < plan->sizes; i++) sl_commands__setup_clear(&o.cost[i].setup);
    sl_free(o.cost);
    return st;
}
