/* train - the command `train`: its options, the cost of a run before it begins, its progress. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

typedef struct options {
    sl_commands_common common;
    const char *out; // NULL: not given
    bool resume;
    sl_commands__training training;
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(out, "out", .path = SL_PATH_FOLDER_IN_PLACE, .shown = "DIR",
        .help = "folder of the run, made if it is missing: configuration, log, checkpoints"),
    ROW(resume, "resume",
        .help = "continue the run in --out with the options it was started with, which need not be "
                "given. Where there is no run, one begins only if --size (or --width and "
                "--layers) and a length are given"),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

sl_commands__training *sl_commands__training_of(const sl_commands_run *run) {
    SL_ASSERT(run->command == &sl_commands__train);
    return &((options *)run->options)->training;
}

static const char help[] =
    "Trains a model that writes the expression behind a data set, on pairs that are\n"
    "generated while it runs (see \"symlaw pairs\"). The cost is printed first; \"symlaw\n"
    "info\" with the same options prints it without training.\n"
    "\n"
    "Examples:\n"
    "  symlaw train --size micro --steps 2000 --out runs/first    minutes\n"
    "  symlaw train --size 6.5M --ratio 5 --out runs/a            the paper's first\n"
    "  symlaw train --resume --out runs/a                         after a stop\n"
    "  mpirun -n 4 symlaw train --size 24M --ratio 5 --out runs/b\n"
    "\n"
    "The length of a run is --ratio (target tokens per parameter), --steps or\n"
    "--flops. The folder --out then has\n"
    "  run.json                    the configuration\n"
    "  log.jsonl                   losses and more, a line every --log-steps\n"
    "  model-<step>.safetensors    weights, which Python's safetensors opens too\n"
    "  state-<step>.safetensors    what is needed to resume\n"
    "with the last two checkpoints. Ctrl-C or SIGTERM, to any of its processes, ends\n"
    "the step, saves and stops. A run that was killed resumes from the last\n"
    "checkpoint, one of an older version with the options it had then. A loss that is\n"
    "not finite ends the run. mpirun kills its processes a second after it has asked\n"
    "them to stop, which is short for the largest models: --mca\n"
    "odls_base_sigkill_timeout 30 gives them more time.\n"
    "\n"
    "The same options give the same weights, bit by bit, for any number of threads\n"
    "and processes and however often a run was interrupted, on one kind of CPU.\n"
    "Losses are in nats, per token and per expression.";

/* ---------------------------------------------------------------- before it begins ---------- */

/* The folder of a run, and what is kept there as its configuration. */
typedef struct place {
    const char *dir;
    sl_str config;
    sl_str missing; // of a resumed run: options that its configuration lacks
} place;

/* A mistyped folder must not begin a run of many hours. */
static sl_status check_new(const sl_commands_run *run, const char *dir) {
    const options *o = run->options;
    const sl_model_options *m = &o->training.shape.model;
    const sl_train_options *t = &o->training.train;
    const bool size =
        *sl_commands__by_caller(run, &m->width) && *sl_commands__by_caller(run, &m->layers);
    const bool length = *sl_commands__by_caller(run, &t->ratio) ||
                        *sl_commands__by_caller(run, &t->steps) ||
                        *sl_commands__by_caller(run, &t->flops);
    if (size && length) return SL_OK;
    return sl_fail(SL_EINVAL,
                   "%.300s has no run to resume; to begin one there, give its size (--size, or "
                   "--width and --layers) and its length (--steps, --ratio or --flops)",
                   dir);
}

static sl_status place_find(place *p, sl_commands_run *run) {
    options *o = run->options;
    p->dir = o->out;
    if (!p->dir || !*p->dir)
        return sl_fail(SL_EINVAL, "a run needs a folder of its own: --out DIR");

    // what --size means must be known before it is held against what the run has
    sl_model_options ignored;
    SL_TRY(
        sl_commands__model_options(&ignored, run, &o->training.shape, o->training.set.variables));
    bool there;
    SL_TRY(sl_commands__run_is_there(&there, p->dir));
    if (o->resume) {
        if (!there) SL_TRY(check_new(run, p->dir));
        SL_TRY(sl_commands__run_resume(&p->missing, run, p->dir));
    } else {
        if (there)
            return sl_fail(SL_EINVAL,
                           "%.300s has a run already; --resume continues it, another --out "
                           "starts a new one",
                           p->dir);
    }
    sl_commands__run_config(&p->config, run);
    return sl_str_status(&p->config);
}

/* ---------------------------------------------------------------- what it costs ------------- */

static void note_cost(const sl_commands_run *run, const sl_commands__setup *s,
                      const sl_train_plan *p, double peak) {
    const sl_commands_listener *l = &run->listener;
    const int64_t batch = s->config.train.batch;
    char a[32], b[32], c[32];
    sl_commands_note(l,
                     "%s parameters; %s steps of %lld pairs are %s pairs, %.3g target tokens per "
                     "parameter, %s over the data",
                     sl_group_digits(a, s->model->count), sl_group_digits(b, p->steps),
                     (long long)batch, sl_group_digits(c, p->steps * batch), p->ratio,
                     p->passes > 1 ? "more than a pass" : "less than a pass");
    sl_commands_note(
        l,
        "%.3g FLOPs as the paper counts; those executed in products of matrices take this "
        "machine %s at %.0f GFLOP/s",
        p->flops, sl_report_duration(a, p->flops * p->flops_pair / p->flops_pair_paper / peak),
        1e-9 * peak);
    sl_commands_note(l, "%.1f MB of memory, of %.0f MB that are free", 1e-6 * (double)p->memory,
                     1e-6 * (double)sl_mem_available());
}

/* ---------------------------------------------------------------- while it runs ------------- */

typedef struct watcher {
    const sl_commands_run *run;
    double peak;     // FLOP/s of products on all threads of all ranks
    double executed; // FLOPs in products for one that the paper counts
} watcher;

static int on_report(const sl_train_report *n, void *payload) {
    const watcher *w = payload;
    if (n->note) sl_commands_note(&w->run->listener, "%s", n->note);
    char valid[40] = "", share[40] = "", text[256];
    const double part = sl_report_peak_share(1e9 * n->gflops * w->executed, w->peak);
    if (!isnan(n->loss_valid)) sl_snprintf(valid, sizeof valid, " (valid %.3f)", n->loss_valid);
    if (!isnan(part)) sl_snprintf(share, sizeof share, ", %.2f of peak", part);
    int length = sl_snprintf(text, sizeof text,
                             "training, step %lld/%lld, loss %.3f%s, %.1f pairs/s, %.0f GFLOP/s%s",
                             (long long)n->step, (long long)n->steps, n->loss, valid,
                             n->pairs_per_second, n->gflops, share);
    return sl_commands_send_event(&w->run->listener, SYMLAW_EVENT_PROGRESS, text,
                                  SL_MIN((size_t)SL_MAX(length, 0), sizeof text - 1),
                                  (double)n->step, (double)n->steps) != SL_OK;
}

/* ---------------------------------------------------------------- after it ------------------ */

static void add_result(sl_str *s, const sl_train_result *r) {
    sl_io_json_add_int(s, "step", r->step);
    if (r->resumed_at >= 0)
        sl_io_json_add_int(s, "resumed_at", r->resumed_at);
    else
        sl_io_json_add_null(s, "resumed_at");
    SL_JSON_FIELDS(s, r, loss, loss_expression, loss_valid, loss_valid_expression, tokens, flops);
    sl_io_json_add_real(s, "training_seconds", r->seconds);
    SL_JSON_FIELDS(s, r, bounds_set, peak_bytes, checkpoint);
}

static void add_table(sl_str *s, const sl_train_result *r, const sl_train_plan *p, int64_t batch) {
    const double seconds = SL_MAX(r->seconds, 1e-9);
    sl_report_line(s, "checkpoint", "%s", r->checkpoint);
    if (r->resumed_at >= 0)
        sl_report_line(s, "steps", "%lld of %lld, resumed at %lld", (long long)r->step,
                       (long long)p->steps, (long long)r->resumed_at);
    else
        sl_report_line(s, "steps", "%lld", (long long)r->step);
    sl_report_line(s, "loss", "%.4f nats per token, %.3f per expression", r->loss,
                   r->loss_expression);
    if (!isnan(r->loss_valid))
        sl_report_line(s, "validation", "%.4f nats per token, %.3f per expression", r->loss_valid,
                       r->loss_valid_expression);
    sl_report_line(s, "time", "%.1f s, %.1f pairs/s, %.1f GFLOP/s as the paper counts", r->seconds,
                   (double)r->step * (double)batch / seconds, 1e-9 * r->flops / seconds);
    sl_report_line(s, "memory", "%.1f MB peak, %.1f MB planned", 1e-6 * (double)r->peak_bytes,
                   1e-6 * (double)p->memory);
}

/* ---------------------------------------------------------------- the work ------------------ */

/* The set of expressions, by the first rank first: it leaves the set in the cache for the others.
 */
static sl_status open_set(sl_universe **out, sl_commands_run *run, const sl_commands__setup *s) {
    sl_status st = SL_OK;
    for (int turn = 0; turn < 2 && st == SL_OK; turn++) {
        if ((sl_par_rank() > 0) == (turn > 0))
            st = sl_commands_universe(out, &s->universe, s->threads, SL_COMMANDS_MEMBERS,
                                      &run->listener);
        st = sl_par_agree(st);
    }
    return st;
}

/* All ranks work at once, so what they reach together is the sum. */
static sl_status measure_peak(double *out, sl_pool *pool) {
    static const double seconds = 0.1;
    SL_TRY(sl_par_agree(sl_commands__gemm_rate(out, pool, SL_COMMANDS__SQUARE, seconds)));
    int64_t sum = (int64_t)*out;
    SL_TRY(sl_par_sum(&sum, 1));
    *out = (double)sum;
    return SL_OK;
}

static int on_entropy(const char *what, double done, double total, void *payload) {
    return sl_commands_send_event(payload, SYMLAW_EVENT_PROGRESS, what, strlen(what), done,
                                  total) != SL_OK;
}

/* The entropy of the targets given how they are drawn. Only rank 0 reports it, so only rank 0
 * computes it. */
static sl_status measure_entropy(sl_entropy *out, sl_commands_run *run, sl_pool *pool,
                                 const sl_pairs *pairs) {
    enum { PAIRS = 500 }; // about 0.6 s of a Zen 3; the estimate is within 2 %
    sl_status st = SL_OK;
    if (sl_par_rank() == 0)
        st = sl_pairs_entropy(out, pool, pairs, PAIRS, on_entropy, &run->listener);
    SL_TRY(sl_par_agree(st));
    sl_commands_note(&run->listener,
                     "a model that ignores the data cannot go below %.1f nats per expression (+- "
                     "%.1f)",
                     out->expressions, out->error);
    return SL_OK;
}

/* The message has the command that resumes. */
static sl_status fail_stopped(const sl_train_result *r, const sl_train_plan *p, const char *dir) {
    sl_str word = { 0 };
    sl_str_add_word(&word, dir);
    const bool whole = sl_str_status(&word) == SL_OK;
    const sl_status st = sl_fail(SL_ECANCEL,
                                 "stopped on request; step %lld of %lld is saved; continue with: "
                                 "symlaw train --resume --out %s",
                                 (long long)r->step, (long long)p->steps, whole ? word.text : dir);
    sl_str_clear(&word);
    return st;
}

static sl_status train(sl_commands_run *run, sl_commands__setup *s, const sl_pairs *pairs,
                       sl_pool *pool, sl_str *result) {
    watcher w = { .run = run };
    sl_train_plan plan;
    sl_entropy entropy = { 0 };
    sl_train_result r;
    s->config.pairs = pairs;
    SL_TRY(sl_par_agree(
        sl_train_plan_make(&plan, &s->config, s->model, 0, 0, s->threads, sl_par_ranks())));
    w.executed = plan.flops_pair / plan.flops_pair_paper;
    if (run->inner) { // one of many short runs: no second is spent on what all have in common
        s->config.guard = run->inner->guard;
        s->config.guard_payload = run->inner->payload;
        s->config.diverged = &run->inner->diverged;
    } else {
        SL_TRY(measure_peak(&w.peak, pool));
        note_cost(run, s, &plan, w.peak);
        SL_TRY(measure_entropy(&entropy, run, pool, pairs));
    }
    sl_status st = sl_train_run(&r, pool, &s->config, on_report, &w);
    if (st == SL_ECANCEL) return fail_stopped(&r, &plan, s->config.out);
    SL_TRY(st);
    if (r.resumed_at == plan.steps)
        sl_commands_note(&run->listener, "the run is finished: nothing is left to do");
    sl_io_json_add_int(result, "parameters", s->model->count);
    add_result(result, &r);
    sl_report_plan_json(result, &plan);
    if (!run->inner) {
        sl_report_entropy_json(result, &entropy);
        sl_io_json_add_real(result, "peak_gflops", 1e-9 * w.peak);
    }
    if (run->common->json) return SL_OK;
    add_table(&run->output, &r, &plan, s->config.train.batch);
    return sl_commands__output(run);
}

/* Checks before the set is built, which takes seconds. */
static sl_status prepare(sl_commands__setup *s, place *p, sl_commands_run *run) {
    enum { TOKENS = 32 }; // of a target: memory hardly depends on it
    options *o = run->options;
    sl_train_plan plan;
    SL_TRY(place_find(p, run));
    SL_TRY(sl_commands__setup_read(s, run, &o->training));
    SL_TRY(sl_train_plan_make(&plan, &s->config, s->model, (int)s->pairs.points, TOKENS, s->threads,
                              sl_par_ranks()));
    SL_TRY(sl_commands__memory_check(&plan, o->training.set.max_memory));
    s->config.config_json = p->config.text;
    s->config.out = p->dir;
    s->config.resume = o->resume;
    return sl_par_rank() == 0 ? sl_folder_make(p->dir, 0777) : SL_OK;
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    (void)ok; // a run has no negative answer
    sl_status st;
    place where = { 0 };
    sl_commands__setup setup = { 0 };
    sl_universe *u = NULL;
    sl_pairs *pairs = NULL;
    sl_pool *pool = NULL;
    SL_GO(sl_par_agree(prepare(&setup, &where, run)));
    SL_GO(open_set(&u, run, &setup));
    st = sl_pairs_new(&pairs, u, &setup.pairs);
    if (st == SL_OK) st = sl_par_pool_new(&pool, setup.threads);
    SL_GO(sl_par_agree(st));
    st = sl_commands__with_missing(train(run, &setup, pairs, pool, result), where.missing.text);
done:
    sl_par_pool_free(pool);
    sl_pairs_free(pairs);
    sl_universe_free(u);
    sl_commands__setup_clear(&setup);
    sl_str_clear(&where.config);
    sl_str_clear(&where.missing);
    return st;
}

sl_commands_command sl_commands__train = {
    .info = { .name = "train",
              .summary = "train a model, or resume a run",
              .help = help,
              .ranks = 1 },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS__TRAINING_PARTS(options, training),
               SL_COMMANDS_COMMON_PART },
};
