/* bench - the command `bench`: speed of matrix products, training and sampling on this machine. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "commands/commands_impl.h"

typedef sl_commands__bench_options options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

enum { GEMM, TRAIN, SAMPLE }; // places in --what

static const sl_option own_rows[] = {
    ROW(what, "what", .value = NAN, .choices = "gemm|train|sample", .shown = "WHAT",
        .help = "matrix products, training steps, or samples from a model"),
    ROW(steps, "steps", .value = 10, .min = 1, .max = 1e6, .shown = "N",
        .help = "steps, repetitions of a product, or rounds of samples, that are timed"),
    ROW(batch, "batch", .value = 32, .min = 1, .max = 1e6, .shown = "N", .help = "pairs of a step"),
    ROW(points, "points", .value = 64, .min = 2, .max = SL_PAIRS_MAX_POINTS, .shown = "N",
        .help = "points of a data set"),
    ROW(tokens, "tokens", .value = 32, .min = 2, .max = SL_TOKEN_MAX, .shown = "T",
        .help = "target tokens of a pair, or of a sample"),
    ROW(lanes, "lanes", .value = 8, .min = 1, .max = SL_TRAIN_MAX_LANES, .shown = "N",
        .help = "parts of a batch that threads share, a power of two"),
    ROW(samples, "samples", .value = 128, .min = 1, .max = 1e6, .shown = "N",
        .help = "samples of a data set"),
    ROW(model, "model", .path = SL_PATH_FILE_INPUT, .shown = "PATH",
        .help = "sample: a weights file or a run's folder, instead of random weights"),
    ROW(natural_end, "natural-end",
        .help = "sample: let samples end by themselves, not at exactly --tokens"),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Measures speed, one row per case.\n"
    "\n"
    "\"bench gemm\": products of large square matrices, on one thread and on all; then\n"
    "the products of the model's maps by either library, * marking the one that\n"
    "training uses.\n"
    "\n"
    "\"bench train\": whole training steps on random pairs, and the machine's rate of\n"
    "square matrix products on the same threads. GFLOP/s are by the paper's count (3\n"
    "N (cells + tokens) a pair for N parameters) and as executed; the share is that\n"
    "of those executed.\n"
    "\n"
    "\"bench sample\": samples of a model for a data set of two inputs, each of exactly\n"
    "--tokens, the end token being masked. Weights are random, or those of --model;\n"
    "with --natural-end samples end by themselves, and the savings by shared prefixes\n"
    "and by ended samples are printed.\n"
    "\n"
    "Examples:\n"
    "  symlaw bench gemm --size 24M\n"
    "  symlaw bench train --size 6.5M --batch 32 --tokens 32\n"
    "  symlaw bench train --size 6.5M --threads 1 --json\n"
    "  symlaw bench sample --size 6.5M --samples 128 --tokens 32\n"
    "  symlaw bench sample --model runs/small --natural-end";

static const options *options_of(const sl_commands_run *run) { return run->options; }

enum { SQUARE = SL_COMMANDS__SQUARE };
static const double square_seconds = 0.5;

/* ---------------------------------------------------------------- products ------------------ */

/* One product of the model, by one library. */
typedef struct product {
    const char *name; // of the map it belongs to
    const char *pass; // "forward", "input's gradient", "weight's gradient"
    bool ta, tb;
    int M, N, K;
} product;

/* *best := seconds of the fastest of `repeats`. */
static sl_status time_product(double *best, sl_commands_run *run, const product *p,
                              sl_gemm_library library) {
    const int repeats = (int)options_of(run)->steps;
    sl_status st = SL_OK;
    const size_t a = (size_t)p->M * (size_t)p->K, b = (size_t)p->K * (size_t)p->N;
    const size_t n = a + b + (size_t)p->M * (size_t)p->N;
    float *x = sl_malloc_aligned(n, sizeof *x);
    if (!x) return sl_fail_memory(n, sizeof *x, "matrices to measure with");
    for (size_t i = 0; i < n; i++) x[i] = (float)(i % 7) - 3;
    for (int i = -1; i < repeats && st == SL_OK; i++) { // the first one warms up
        const double start = sl_clock();
        sl_nn_gemm_by(library, p->ta, p->tb, p->M, p->N, p->K, 1, x, p->ta ? p->M : p->K, x + a,
                      p->tb ? p->K : p->N, 0, x + a + b, p->N);
        const double took = sl_clock() - start;
        if (i <= 0 || took < *best) *best = took;
        st = sl_nn_gemm_status();
        if (st == SL_OK)
            st = sl_commands_send_event(&run->listener, SYMLAW_EVENT_PROGRESS, p->name,
                                        strlen(p->name), 0, 0);
    }
    sl_free(x);
    return st;
}

/* A row for people, and one for programs. */
static void add_row(sl_commands_run *run, sl_str *result, const product *p, const char *library,
                    bool chosen, int threads, double seconds) {
    const double gflops = 2e-9 * p->M * p->N * p->K * threads / seconds;
    const char pair[3] = { p->ta ? 'T' : 'N', p->tb ? 'T' : 'N', '\0' };
    sl_io_json_open(result, NULL, '{');
    SL_JSON_FIELDS(result, p, name, pass);
    sl_io_json_add_text(result, "transposed", pair);
    sl_io_json_open(result, "shape", '[');
    sl_io_json_add_int(result, NULL, p->M);
    sl_io_json_add_int(result, NULL, p->N);
    sl_io_json_add_int(result, NULL, p->K);
    sl_io_json_close(result, ']');
    sl_io_json_add_int(result, "threads", threads);
    sl_io_json_add_text(result, "library", library);
    sl_io_json_add_bool(result, "chosen", chosen);
    sl_io_json_add_real(result, "ms", 1e3 * seconds);
    sl_io_json_add_real(result, "gflops", gflops);
    sl_io_json_close(result, '}');
    if (run->common->json) return;
    sl_str_addf(&run->output, "%s\t%s\t%s\t%dx%dx%d\t%d\t%s%s\t%.3f\t%.1f\n", p->name, p->pass,
                pair, p->M, p->N, p->K, threads, library, chosen ? "*" : "", 1e3 * seconds, gflops);
}

static sl_status time_square(sl_commands_run *run, sl_str *result, int threads) {
    sl_pool *pool = NULL;
    double rate = 1;
    SL_TRY(sl_par_pool_new(&pool, threads));
    sl_status st = sl_commands__gemm_rate(&rate, pool, SQUARE, square_seconds);
    sl_par_pool_free(pool);
    SL_TRY(st);
    const product p = { "square", "best of all three", false, true, SQUARE, SQUARE, SQUARE };
    add_row(run, result, &p, "rule", true, threads,
            2.0 * SQUARE * SQUARE * SQUARE * threads / rate);
    return SL_OK;
}

/* Both libraries at one product. */
static sl_status compare(sl_commands_run *run, sl_str *result, const product *p) {
    static const struct {
        sl_gemm_library id;
        const char *name;
    } libraries[] = { { SL_GEMM_ONEDNN, "oneDNN" }, { SL_GEMM_OPENBLAS, "OpenBLAS" } };
    for (int i = 0; i < SL_LEN(libraries); i++) {
        double best = 0;
        SL_TRY(time_product(&best, run, p, libraries[i].id));
        add_row(run, result, p, libraries[i].name,
                sl_nn_gemm_rule(sl_cpu(), p->ta, p->tb, p->M, p->N, p->K) == libraries[i].id, 1,
                best);
    }
    return SL_OK;
}

/* A linear map y = x W^T of so many rows takes three products in training. */
static sl_status compare_map(sl_commands_run *run, sl_str *result, const sl_param *w, int rows) {
    const int out = w->shape[0], in = w->shape[1];
    const product p[] = {
        { w->name, "forward", false, true, rows, out, in },
        { w->name, "input's gradient", false, false, rows, in, out },
        { w->name, "weight's gradient", true, false, out, in, rows },
    };
    for (int i = 0; i < SL_LEN(p); i++) SL_TRY(compare(run, result, &p[i]));
    return SL_OK;
}

static sl_status time_products(sl_commands_run *run, const sl_commands__setup *s,
                               const sl_train_plan *plan, sl_str *result) {
    const sl_model *m = s->model;
    const int rows = plan->chunk * (int)m->options.columns * (int)options_of(run)->points;
    SL_TRY(sl_nn_prepare(s->threads));
    sl_io_json_add_text(result, "libraries", sl_nn_libraries());
    sl_io_json_add_text(result, "level", sl_nn_isa());
    sl_io_json_open(result, "products", '[');
    if (!run->common->json)
        sl_str_add(&run->output, "# map\tpass\top\tMxNxK\tthreads\tlibrary\tbest ms\tGFLOP/s\n");
    SL_TRY(time_square(run, result, 1));
    if (s->threads > 1) SL_TRY(time_square(run, result, s->threads));
    // the maps of one layer: the others have the same shapes
    for (int i = 0; i < m->n_param; i++)
        if (m->param[i].regularised && strncmp(m->param[i].name, "encoder.0.", 10) == 0)
            SL_TRY(compare_map(run, result, &m->param[i], rows));
    sl_io_json_close(result, ']');
    return sl_commands__output(run);
}

/* ---------------------------------------------------------------- steps --------------------- */

/* The most bytes of physical memory that this process has held. */
static int64_t resident_bytes(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (int64_t)u.ru_maxrss * 1024 : 0;
}

static int on_step(const sl_train_report *n, void *payload) {
    static const char what[] = "timing steps";
    return sl_commands_send_event(payload, SYMLAW_EVENT_PROGRESS, what, sizeof what - 1,
                                  (double)n->step, (double)n->steps) != SL_OK;
}

static sl_status time_steps(sl_commands_run *run, const sl_commands__setup *s, sl_str *result) {
    sl_status st;
    sl_pool *pool = NULL;
    sl_train_timing t;
    double peak;
    SL_GO(sl_par_pool_new(&pool, s->threads));
    SL_GO(sl_commands__gemm_rate(&peak, pool, SQUARE, square_seconds));
    SL_GO(sl_train_time(&t, pool, &s->config, (int)options_of(run)->points,
                        (int)options_of(run)->tokens, (int)options_of(run)->steps, on_step,
                        &run->listener));
    const double pairs = (double)s->config.train.batch;
    const double paper = 1e-9 * pairs * t.plan.flops_pair_paper / t.median;
    const double executed = 1e-9 * pairs * t.plan.flops_pair / t.median;
    const double share = sl_report_peak_share(1e9 * executed, peak);
    const int64_t resident = resident_bytes();
    sl_io_json_add_int(result, "parameters", s->model->count);
    sl_io_json_add_int(result, "threads", s->threads);
    sl_io_json_add_real(result, "ms", 1e3 * t.median);
    sl_io_json_add_real(result, "best_ms", 1e3 * t.best);
    sl_io_json_add_real(result, "pairs_per_second", pairs / t.median);
    sl_io_json_add_real(result, "gflops_6nd", paper);
    sl_io_json_add_real(result, "gflops_executed", executed);
    sl_io_json_add_real(result, "sgemm_gflops", 1e-9 * peak);
    sl_io_json_add_real(result, "share", share); // null if it is not known
    SL_JSON_FIELDS(result, &t, peak_bytes, planned_bytes);
    sl_io_json_add_int(result, "rss_bytes", resident);
    sl_io_json_add_real(result, "loss", t.loss);
    if (run->common->json) goto done;

    sl_str *o = &run->output;
    char a[32], part[40] = "";
    if (share <= 1) sl_snprintf(part, sizeof part, "; share %.2f", share); // not if it is NaN
    sl_report_line(o, "model", "%s parameters; %d thread%s, %d lanes, chunks of %d pairs",
                   sl_group_digits(a, s->model->count), s->threads, s->threads == 1 ? "" : "s",
                   t.plan.lanes, t.plan.chunk);
    sl_report_line(o, "step", "median %.1f ms, best %.1f ms; %.1f pairs/s", 1e3 * t.median,
                   1e3 * t.best, pairs / t.median);
    sl_report_line(o, "GFLOP/s", "%.1f as the paper counts, %.1f executed", paper, executed);
    sl_report_line(o, "machine", "%.1f GFLOP/s in products of matrices%s", 1e-9 * peak, part);
    sl_report_line(o, "memory", "%.1f MB peak, %.1f planned, %.1f resident",
                   1e-6 * (double)t.peak_bytes, 1e-6 * (double)t.planned_bytes,
                   1e-6 * (double)resident);
    sl_report_line(o, "loss", "%.4f nats per token", t.loss);
    st = sl_commands__output(run);
done:
    sl_par_pool_free(pool);
    return st;
}

/* ---------------------------------------------------------------- which --------------------- */

static sl_status read_setup(sl_commands__setup *s, sl_commands_run *run) {
    options *o = run->options;
    sl_train_config *c = &s->config;
    s->threads = sl_commands__threads(run);
    c->train = sl_train_defaults();
    c->train.batch = o->batch;
    c->train.lanes = o->lanes;
    c->train.steps = o->steps;
    c->seed = (uint64_t)o->common.seed;
    c->optim = o->optim;
    SL_TRY(sl_commands__model_options(&c->model, run, &o->shape, SL_COMMANDS__BENCH_VARIABLES));
    SL_TRY(sl_optim_options_check(&c->optim));
    return sl_model_new(&s->model, &c->model);
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    (void)ok; // a speed is no verdict
    const options *o = run->options;
    if (o->what < 0)
        return sl_fail(SL_EINVAL, "what is to be measured? symlaw bench gemm, train or sample");
    if (o->what == SAMPLE) return sl_commands__bench_sample(run, result);
    sl_commands__setup s = { 0 };
    sl_train_plan plan;
    sl_status st;
    SL_GO(read_setup(&s, run));
    SL_GO(sl_train_plan_make(&plan, &s.config, s.model, (int)options_of(run)->points,
                             (double)o->tokens, s.threads, 1));
    SL_GO(sl_commands__memory_check(&plan, 0));
    st = o->what == GEMM ? time_products(run, &s, &plan, result) : time_steps(run, &s, result);
done:
    sl_commands__setup_clear(&s);
    return st;
}

sl_commands_command sl_commands__bench = {
    .info = { .name = "bench",
              .summary = "measure the speed of products, training and sampling",
              .help = help,
              .positional = "what" },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS__SHAPE_PARTS(options, shape),
               SL_COMMANDS__OPTIM_PART(options, optim),
               SL_COMMANDS_COMMON_PART },
};
