/* info_plan - the cost of a study before it is run: FLOPs and time of every run of its plan.
 *
 * The best batch size and learning rate are not known before the sweep is over. FLOPs do not depend
 * on the learning rate, and on the batch size by less than a step, so the middle value of a list is
 * used for the best one. */
#include <math.h>
#include <string.h>

#include "commands/study_impl.h"

typedef struct outlook {
    sl_commands_run *run;
    const sl_commands__info_options *options;
    const sl_study_plan *plan;
    sl_commands__setup *setup; // of a run of each size
    sl_report_size_cost *size;
    sl_report_study_cost cost;
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
    const sl_commands__setup *mine = &o->setup[i];
    *out = o->options->tokens;
    if (!isnan(*out)) return SL_OK;
    for (int k = 0; k < i; k++) {
        const sl_commands__setup *theirs = &o->setup[k];
        *out = o->size[k].tokens;
        if (memcmp(&mine->universe, &theirs->universe, sizeof mine->universe) == 0 &&
            memcmp(&mine->pairs, &theirs->pairs, sizeof mine->pairs) == 0)
            return SL_OK;
    }
    sl_train_plan p;
    SL_TRY(sl_commands__plan_make(&p, o->run, &o->setup[i], 0));
    *out = p.tokens_per_pair;
    return SL_OK;
}

/* The cost of a run of size i. */
static sl_status plan_run(sl_train_plan *out, outlook *o, int i, double ratio) {
    sl_commands__setup *u = &o->setup[i];
    u->config.train.batch = (int64_t)o->size[i].batch;
    u->config.train.ratio = ratio;
    return sl_train_plan_make(out, &u->config, u->model, (int)u->pairs.points, o->size[i].tokens,
                              u->threads, 1);
}

static int grid_points(const sl_study_size *s, int grow) {
    const int batch = s->batch.n + (s->batch.n > 1 ? 2 * grow : 0);
    const int lr = s->lr.n + (s->lr.n > 1 ? 2 * grow : 0);
    return batch * lr == 1 ? 0 : batch * lr; // a grid of one point is not swept
}

static sl_status cost_size(outlook *o, int i) {
    const sl_study_size *s = &o->plan->size[i];
    sl_report_size_cost *c = &o->size[i];
    sl_train_plan p;
    *c = (sl_report_size_cost){ .rate = NAN, .share = NAN, .batch = middle(&s->batch) };
    SL_TRY(read_setup(&o->setup[i], o, i));
    SL_TRY(find_tokens(&c->tokens, o, i));
    c->params = (double)o->setup[i].model->count;
    SL_TRY(plan_run(&p, o, i, s->sweep_ratio));
    c->flops_pair = p.flops_pair_paper;
    c->flops_pair_executed = p.flops_pair;
    c->memory = p.memory;
    c->sweep_flops = p.flops;
    c->sweep_runs = grid_points(s, 0) * s->sweep_seeds.n;
    c->grow_runs = grid_points(s, s->grow) * s->sweep_seeds.n - c->sweep_runs;
    c->scale = sl_arena_alloc(&o->run->arena, (size_t)s->ratios.n * sizeof *c->scale);
    if (!c->scale) return sl_fail_memory((size_t)s->ratios.n, sizeof *c->scale, "costs of runs");
    for (int k = 0; k < s->ratios.n; k++) {
        SL_TRY(plan_run(&p, o, i, s->ratios.at[k]));
        const double tokens = (double)p.steps * c->batch * c->tokens;
        c->scale[k] = (sl_report_run_cost){ .tokens = tokens, .flops = p.flops };
    }
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

/* Times a step of as many pairs as take about a third of a second, unless the model is too large
 * for that. */
static sl_status measure(outlook *o, int i, sl_pool *pool) {
    sl_report_size_cost *c = &o->size[i];
    const sl_commands__setup *u = &o->setup[i];
    const double a_step = 0.3, too_long = 1.5, all = 0.5;
    const double pair = c->flops_pair_executed / (usual_share * o->cost.peak);
    const double least = SL_MIN(c->batch, (double)u->threads);
    const double batch = SL_MIN(c->batch, SL_MAX(least, floor(a_step / pair)));
    if (least * pair > too_long || c->memory > sl_mem_available() / 2) return SL_OK;
    sl_train_config config = u->config;
    sl_train_timing t;
    config.train.batch = (int64_t)batch;
    const double steps = SL_MIN(SL_MAX(all / (batch * pair), 1), 50);
    SL_TRY(sl_train_time(&t, pool, &config, (int)u->pairs.points, (int)SL_MAX(round(c->tokens), 1),
                         (int)steps, on_step, &o->run->listener));
    c->measured = (int64_t)batch;
    c->rate = batch * t.plan.flops_pair_paper / t.median;
    c->share = sl_report_peak_share(batch * t.plan.flops_pair / t.median, o->cost.peak);
    return SL_OK;
}

/* For a size that was not timed the share of the sgemm rate is that of the size before it. */
static sl_status measure_all(outlook *o) {
    static const double seconds = 0.2;
    sl_pool *pool = NULL;
    sl_status st;
    double share = usual_share;
    SL_GO(sl_par_pool_new(&pool, o->setup[0].threads));
    SL_GO(sl_commands__gemm_rate(&o->cost.peak, pool, SL_COMMANDS__SQUARE, seconds));
    for (int i = 0; i < o->plan->sizes; i++) {
        sl_report_size_cost *c = &o->size[i];
        SL_GO(measure(o, i, pool));
        if (!isnan(c->share)) share = c->share;
        if (c->measured) continue;
        c->share = share;
        c->rate = share * o->cost.peak * c->flops_pair / c->flops_pair_executed;
    }
done:
    sl_par_pool_free(pool);
    return st;
}

/* ---------------------------------------------------------------- sums ---------------------- */

static double seconds_of(const outlook *o, int i, double flops) {
    return flops / (isnan(o->cost.given) ? o->size[i].rate : o->cost.given) / o->cost.ranks;
}

static void add_up(outlook *o) {
    sl_report_study_cost *sum = &o->cost;
    for (int i = 0; i < o->plan->sizes; i++) {
        const sl_study_size *s = &o->plan->size[i];
        sl_report_size_cost *c = &o->size[i];
        const double sweep = c->sweep_flops * c->sweep_runs;
        c->sweep_seconds = seconds_of(o, i, sweep);
        sum->flops_sweep += sweep;
        sum->flops_grow += c->sweep_flops * c->grow_runs;
        sum->seconds_sweep += c->sweep_seconds;
        sum->runs_sweep += c->sweep_runs;
        sum->runs_grow += c->grow_runs;
        for (int k = 0; k < s->ratios.n; k++) {
            const double flops = c->scale[k].flops;
            c->scale[k].seconds = seconds_of(o, i, flops);
            // a run that the sweep has made is not made a second time
            int n = s->scale_seeds.n;
            for (int j = 0; j < s->scale_seeds.n; j++)
                for (int l = 0; l < s->sweep_seeds.n; l++)
                    n -= c->sweep_runs > 0 && s->ratios.at[k] == s->sweep_ratio &&
                         s->scale_seeds.at[j] == s->sweep_seeds.at[l];
            sum->runs_scale += n;
            sum->flops_scale += n * flops;
            sum->seconds_scale += seconds_of(o, i, n * flops);
        }
    }
}

/* ---------------------------------------------------------------- the work ------------------ */

/* The plan has the options of training; the command line must not have them. */
static sl_status check_options(const sl_commands_run *run) {
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

static sl_status find_costs(outlook *o) {
    for (int i = 0; i < o->plan->sizes; i++) SL_TRY(cost_size(o, i));
    if (isnan(o->cost.given)) SL_TRY(measure_all(o));
    add_up(o);
    return SL_OK;
}

sl_status sl_commands__info_plan(sl_commands_run *run, const sl_commands__info_options *options,
                                 sl_str *result) {
    sl_study_plan *plan;
    sl_status st;
    outlook o = { .run = run, .options = options };
    SL_TRY(check_options(run));
    SL_TRY(sl_study_plan_read(&plan, &run->arena, options->plan, sl_commands__study_check, NULL));
    const size_t n = (size_t)plan->sizes;
    o.plan = plan;
    o.setup = sl_calloc(n, sizeof *o.setup);
    o.size = sl_calloc(n, sizeof *o.size);
    o.cost = (sl_report_study_cost){ .plan = plan,
                                     .size = o.size,
                                     .peak = NAN,
                                     .given = options->rate,
                                     .ranks = (double)options->ranks };
    if (!o.setup || !o.size) SL_GO(sl_fail_memory(n, sizeof *o.setup, "costs of sizes"));
    SL_GO(find_costs(&o));
    o.cost.threads = o.setup[0].threads;
    sl_report_study_cost_json(result, &o.cost);
    if (run->common->json) goto done;
    sl_report_study_cost_table(&run->output, &o.cost);
    st = sl_commands__output(run);
done:
    for (size_t i = 0; o.setup && i < n; i++) sl_commands__setup_clear(&o.setup[i]);
    sl_free(o.setup);
    sl_free(o.size);
    return st;
}
