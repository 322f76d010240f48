/* cmd_bench - the verb `bench`: how fast this machine multiplies, trains and samples. */
#include <string.h>
#include <sys/resource.h>

#include "commands/commands.h"

#define OWN_OPTIONS(X)                                                                           \
    X(WHAT, "what", CHOICE, 1, "WHAT", NULL, "gemm|train|sample", 0, 0,                          \
      "products of matrices, steps of training, or samples from a model")                        \
    X(STEPS, "steps", INT, 1, "N", "10", NULL, 1, 1e6,                                           \
      "steps, repetitions of a product, or rounds of samples, that are timed")                   \
    X(BATCH, "batch", INT, 1, "N", "32", NULL, 1, 1e6, "pairs of a step")                        \
    X(POINTS, "points", INT, 1, "N", "64", NULL, 2, SL_PAIRS_MAX_POINTS, "points of a data set") \
    X(TOKENS, "tokens", INT, 1, "T", "32", NULL, 2, SL_TOKEN_MAX,                                \
      "target tokens of a pair, or of a sample")                                                 \
    X(LANES, "lanes", INT, 1, "N", "8", NULL, 1, SL_TRAIN_MAX_LANES,                             \
      "parts of a batch that threads share out, a power of two")                                 \
    X(SAMPLES, "samples", INT, 1, "N", "128", NULL, 1, 1e6, "samples of a data set")             \
    X(MODEL, "model", FILE_IN, 1, "PATH", NULL, NULL, 0, 0,                                      \
      "sample: a file of weights or a run's folder, in place of random weights")                 \
    X(NATURAL_END, "natural-end", FLAG, 0, NULL, "false", NULL, 0, 0,                            \
      "sample: let samples end where they do, not at exactly --tokens")

enum {
    OWN_OPTIONS(SL_COMMANDS__ID) SL_COMMANDS__SIZE(SL_COMMANDS__ID)
        SL_MODEL_TABLE(SL_COMMANDS__TABLE_ID) SL_OPTIM_TABLE(SL_COMMANDS__TABLE_ID)
            SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { OWN_OPTIONS(SL_COMMANDS__OPTION)            //
                                              SL_COMMANDS__SIZE(SL_COMMANDS__SIZE_OPTION) //
                                              SL_MODEL_TABLE(SL_COMMANDS__MODEL_OPTION)   //
                                              SL_OPTIM_TABLE(SL_COMMANDS__OPTIM_OPTION)   //
                                              SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Measures speed, one row per case.\n"
    "\n"
    "\"bench gemm\": products of large square matrices, on one thread and on all; then\n"
    "the products of the model's maps by either library, * marking the one that\n"
    "training uses.\n"
    "\n"
    "\"bench train\": whole steps of training on made-up pairs, and beside them the\n"
    "machine's products of square matrices on the same threads. GFLOP/s are by the\n"
    "paper's count (3 N (cells + tokens) a pair for N parameters) and as executed;\n"
    "the share of the machine is of those executed.\n"
    "\n"
    "\"bench sample\": what a model writes about a data set of two inputs, each sample\n"
    "of exactly --tokens, the end token being masked. Weights are random, or those of\n"
    "--model; with --natural-end samples end by themselves, and what shared prefixes\n"
    "and leaving early save is told.\n"
    "\n"
    "Examples:\n"
    "  symlaw bench gemm --size 24M\n"
    "  symlaw bench train --size 6.5M --batch 32 --tokens 32\n"
    "  symlaw bench train --size 6.5M --threads 1 --json\n"
    "  symlaw bench sample --size 6.5M --samples 128 --tokens 32\n"
    "  symlaw bench sample --model runs/small --natural-end";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

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
static sl_status time_product(double *best, sl_commands__run *run, const product *p,
                              sl_gemm_library library) {
    const int repeats = (int)value(run, OPT_STEPS)->whole;
    sl_status st = SL_OK;
    const size_t a = (size_t)p->M * (size_t)p->K, b = (size_t)p->K * (size_t)p->N;
    const size_t n = a + b + (size_t)p->M * (size_t)p->N;
    float *x = sl_malloc_wide(n, sizeof *x);
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
            st = sl_commands__send_event(&run->listener, SYMLAW_EVENT_PROGRESS, p->name,
                                         strlen(p->name), 0, 0);
    }
    sl_free(x);
    return st;
}

/* A row for people, and one for programs. */
static void add_row(sl_commands__run *run, sl_str *result, const product *p, const char *library,
                    bool chosen, int threads, double seconds) {
    const double gflops = 2e-9 * p->M * p->N * p->K * threads / seconds;
    const char pair[3] = { p->ta ? 'T' : 'N', p->tb ? 'T' : 'N', '\0' };
    sl_io_json_open(result, NULL, '{');
    sl_io_json_add_text(result, "name", p->name);
    sl_io_json_add_text(result, "pass", p->pass);
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
    if (value(run, OPT_JSON)->flag) return;
    sl_str_addf(&run->output, "%s\t%s\t%s\t%dx%dx%d\t%d\t%s%s\t%.3f\t%.1f\n", p->name, p->pass,
                pair, p->M, p->N, p->K, threads, library, chosen ? "*" : "", 1e3 * seconds, gflops);
}

static sl_status time_square(sl_commands__run *run, sl_str *result, int threads) {
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
static sl_status compare(sl_commands__run *run, sl_str *result, const product *p) {
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
static sl_status compare_map(sl_commands__run *run, sl_str *result, const sl_param *w, int rows) {
    const int out = w->shape[0], in = w->shape[1];
    const product p[] = {
        { w->name, "forward", false, true, rows, out, in },
        { w->name, "input's gradient", false, false, rows, in, out },
        { w->name, "weight's gradient", true, false, out, in, rows },
    };
    for (int i = 0; i < SL_LEN(p); i++) SL_TRY(compare(run, result, &p[i]));
    return SL_OK;
}

static sl_status time_products(sl_commands__run *run, const sl_commands__setup *s,
                               const sl_train_plan *plan, sl_str *result) {
    const sl_model *m = s->model;
    const int rows = plan->chunk * (int)m->options.columns * (int)value(run, OPT_POINTS)->whole;
    SL_TRY(sl_nn_prepare(s->threads));
    sl_io_json_add_text(result, "libraries", sl_nn_libraries());
    sl_io_json_add_text(result, "level", sl_nn_level());
    sl_io_json_open(result, "products", '[');
    if (!value(run, OPT_JSON)->flag)
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

static int on_step(const sl_train_news *n, void *payload) {
    static const char what[] = "timing steps";
    return sl_commands__send_event(payload, SYMLAW_EVENT_PROGRESS, what, sizeof what - 1,
                                   (double)n->step, (double)n->steps) != SL_OK;
}

static sl_status time_steps(sl_commands__run *run, const sl_commands__setup *s, sl_str *result) {
    sl_status st;
    sl_pool *pool = NULL;
    sl_train_timing t;
    double peak;
    SL_GO(sl_par_pool_new(&pool, s->threads));
    SL_GO(sl_commands__gemm_rate(&peak, pool, SQUARE, square_seconds));
    SL_GO(sl_train_time(&t, pool, &s->config, (int)value(run, OPT_POINTS)->whole,
                        (int)value(run, OPT_TOKENS)->whole, (int)value(run, OPT_STEPS)->whole,
                        on_step, &run->listener));
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
    sl_io_json_add_int(result, "peak_bytes", t.peak_bytes);
    sl_io_json_add_int(result, "planned_bytes", t.planned_bytes);
    sl_io_json_add_int(result, "rss_bytes", resident);
    sl_io_json_add_real(result, "loss", t.loss);
    if (value(run, OPT_JSON)->flag) goto done;

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

static sl_status read_setup(sl_commands__setup *s, sl_commands__run *run) {
    sl_train_config *c = &s->config;
    s->threads = sl_commands__threads(run);
    c->train = (sl_train_options)SL_TRAIN_OPTIONS_INIT;
    c->train.batch = value(run, OPT_BATCH)->whole;
    c->train.lanes = value(run, OPT_LANES)->whole;
    c->train.steps = value(run, OPT_STEPS)->whole;
    c->seed = (uint64_t)value(run, OPT_SEED)->whole;
    sl_commands__optim_options(&c->optim, run);
    SL_TRY(sl_commands__model_options(&c->model, run));
    SL_TRY(sl_optim_options_check(&c->optim));
    return sl_model_new(&s->model, &c->model);
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    (void)ok; // a speed is no verdict
    const char *what = value(run, OPT_WHAT)->text[0];
    if (!what)
        return sl_fail(SL_EINVAL, "what is to be measured? symlaw bench gemm, train or sample");
    if (strcmp(what, "sample") == 0) return sl_commands__bench_sample(run, result);
    sl_commands__setup s = { 0 };
    sl_train_plan plan;
    sl_status st;
    SL_GO(read_setup(&s, run));
    SL_GO(sl_train_plan_make(&plan, &s.config, s.model, (int)value(run, OPT_POINTS)->whole,
                             value(run, OPT_TOKENS)->real, s.threads, 1));
    SL_GO(sl_commands__memory_check(&plan, run));
    st = strcmp(what, "gemm") == 0 ? time_products(run, &s, &plan, result)
                                   : time_steps(run, &s, result);
done:
    sl_commands__setup_clear(&s);
    return st;
}

const sl_commands__command sl_commands__bench = {
    .info = { .name = "bench",
              .summary = "measure the speed of products, training and sampling",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options),
              .positional = "what" },
    .work = work,
};
