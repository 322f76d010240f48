/* laws - the command `laws`: scaling laws of a table of runs. Fitting is done in laws/. */
#include <math.h>
#include <string.h>

#include "commands/study_impl.h"

typedef struct options {
    sl_commands_common common;
    const char *file, *columns; // NULL: not given, here and below
    double target;
    int bins; // SL_LAWS_BINS_*
    int64_t trials, draws;
    const char *predict;
    double budget; // NaN: not given
    const char *compare;
    bool simulate;
    const char *law, *report, *figures, *out;
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(file, "file", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "table of runs: CSV with a header, or a JSON object a line, or - for standard "
                "input; or the folder of a study: its finished runs"),
    ROW(columns, "columns", .shown = "LIST",
        .help = "names of columns, as in params=N_nonemb,loss=final_loss; others are found by "
                "their usual names"),
    ROW(target, "target-solved", .value = 0.8, .min = 1e-9, .max = 0.999999999, .shown = "SHARE",
        .help = "solved rate whose compute is estimated"),
    ROW(bins, "bins", .value = SL_LAWS_BINS_LOG, .choices = "log|linear|none", .shown = "BINS",
        .help = "intervals of compute that the frontier is selected by; none: all runs count"),
    ROW(trials, "trials", .value = 0, .max = 1e12, .shown = "N",
        .help = "problems behind each share, where the table does not say; 0: not known"),
    ROW(draws, "draws", .value = 1000, .max = 100000, .shown = "N",
        .help = "bootstrap resamples of intervals; 0: no intervals"),
    ROW(predict, "predict", .shown = "N=..,D=..",
        .help = "predict a run of N parameters and D tokens"),
    ROW(budget, "budget", .value = NAN, .min = 1, .max = 1e40, .shown = "FLOPS",
        .help = "predict what this compute gives, and the best N and D for it"),
    ROW(compare, "compare", .path = SL_PATH_FILE_INPUT, .shown = "OTHER",
        .help = "another table: the ratio of compute at equal loss"),
    ROW(simulate, "simulate",
        .help = "print a table of runs from a known law instead, for tests and teaching"),
    ROW(law, "law", .shown = "LIST",
        .help = "--simulate: constants that differ from the defaults, as in "
                "E=0.1,sizes=4,noise=0.02"),
    ROW(report, "report", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "write figures and tables as one HTML page"),
    ROW(figures, "figures", .path = SL_PATH_FOLDER_IN_PLACE, .shown = "DIR",
        .help = "write the page's figures as SVG files into a folder, which is made if missing"),
    SL_COMMANDS_OUT(options),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Fits scaling laws to a table of finished training runs: loss and the share of\n"
    "solved problems as functions of compute, the compute for a target share, the\n"
    "best N, D, batch size and learning rate, the surface L(N, D), and whether laws\n"
    "fitted to the smaller runs predict the larger ones. All figures have 95 %\n"
    "bootstrap intervals: configurations and seeds are resampled, and everything is\n"
    "fitted again, selection of the frontier included.\n"
    "\n"
    "Columns by name: params (N), tokens (D) or ratio, flops (C), loss, solved and r2\n"
    "(shares, or solved_hits, r2_hits and trials), seed, batch, rate, id, size, phase\n"
    "(sweep, scale, both), status. A missing column switches off what needs it, and a\n"
    "note says so. Figures beyond ten times the largest run's compute are marked\n"
    "EXTRAPOLATION.\n"
    "\n"
    "Examples:\n"
    "  symlaw laws studies/paper_runs.csv --bins linear     the paper's own analysis\n"
    "  symlaw laws runs.csv --budget 1e21                   best N and D for 1e21\n"
    "  symlaw laws runs.csv --predict N=1e9,D=2e10\n"
    "  symlaw laws runs.csv --compare baseline.csv          compute at equal loss\n"
    "  symlaw laws runs.csv --json | jq .solved.exponent\n"
    "  symlaw laws runs.csv --report laws.html              a page with its figures\n"
    "  symlaw laws runs/micro                               a study, even unfinished\n"
    "  symlaw laws --simulate --law noise=0.02,seeds=3 > simulated.csv";

/* ---------------------------------------------------------------- simulation ---------------- */

static void add_truth(sl_str *s, const sl_laws_simulation *law) {
    const double b = sl_laws_simulation_exponent(law);
    sl_io_json_open(s, "truth", '{');
#define X(field, ...) sl_io_json_add_real(s, #field, law->field);
    SL_LAWS_SIMULATE_TABLE(X)
#undef X
    sl_io_json_add_real(s, "loss_exponent", b); // of L - E on the true frontier
    sl_io_json_add_real(s, "solved_exponent", b * law->solved_power);
    sl_io_json_add_real(s, "r2_exponent", b * law->r2_power);
    sl_io_json_close(s, '}');
}

static sl_status simulate(sl_commands_run *run, sl_str *result) {
    const options *o = run->options;
    sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
    sl_laws_table t;
    sl_str csv = { 0 };
    if (o->law) SL_TRY(sl_laws_simulation_read(&law, o->law));
    SL_TRY(sl_laws_simulate(&t, &run->arena, &law, (uint64_t)o->common.seed));
    sl_laws_table_csv(&csv, &t);
    sl_status st = sl_str_status(&csv);
    if (st == SL_OK) {
        add_truth(result, &law);
        if (run->common->json)
            sl_io_json_add_text(result, "csv", csv.text);
        else
            sl_str_add_bytes(&run->output, csv.text, csv.len);
        st = sl_commands__output(run);
    }
    sl_str_clear(&csv);
    return st;
}

/* ---------------------------------------------------------------- fitting ------------------- */

static sl_laws_options laws_options(const options *from) {
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.bins = (sl_laws_bins)from->bins;
    o.target = from->target;
    o.trials = (double)from->trials;
    o.draws = (int)from->draws;
    o.seed = (uint64_t)from->common.seed;
    return o;
}

/* The runs of a study that have finished so far, as its runs.csv would have them. */
static sl_status read_study(sl_laws_table *out, sl_arena *a, const char *dir, const char *columns) {
    sl_study_plan *plan;
    sl_study study;
    if (columns)
        return sl_fail(SL_EINVAL,
                       "--columns names columns of a file; %.300s is the folder of a study", dir);
    SL_TRY(sl_commands__study_plan(&plan, a, dir));
    SL_TRY(sl_study_look(&study, a, plan, dir));
    SL_TRY(sl_study_table(out, a, &study));
    return out->n > 0 ? SL_OK : sl_fail(SL_EFORMAT, "%.300s has no finished run yet", dir);
}

static sl_status fit_file(sl_laws *out, sl_commands_run *run, const char *path,
                          const char *columns) {
    sl_laws_table *t = sl_arena_alloc(&run->arena, sizeof *t);
    if (!t) return sl_fail_memory(1, sizeof *t, "a table");
    const sl_laws_options o = laws_options(run->options);
    SL_TRY(sl_commands__is_folder(path) ? read_study(t, &run->arena, path, columns)
                                        : sl_laws_table_read(t, &run->arena, path, columns));
    return sl_laws_fit(out, &run->arena, t, &o);
}

static void add_option(sl_str *s, const char *name, const char *value) {
    if (!value) return;
    sl_str_addf(s, " --%s ", name);
    sl_str_add_word(s, value);
}

/* The command that writes the page. */
static void add_command(sl_str *s, const sl_commands_run *run, const sl_laws *l) {
    const options *o = run->options;
    char bins[SL_OPTION_TEXT_MAX];
    sl_str_add(s, "symlaw laws ");
    sl_str_add_word(s, o->file);
    add_option(s, "columns", o->columns);
    add_option(s, "bins", sl_option_choice(bins, sl_commands__row(run, &o->bins), o->bins));
    sl_str_addf(s, " --target-solved %.10g --draws %d --seed %llu", l->options.target,
                l->options.draws, (unsigned long long)l->options.seed);
    if (l->options.trials > 0) sl_str_addf(s, " --trials %.0f", l->options.trials);
    add_option(s, "report", o->report);
    add_option(s, "figures", o->figures);
}

/* The page of --report and the files of --figures. If they cannot be written, the result is still
 * passed on, and then the call fails. */
static void write_report(sl_commands_run *run, const sl_laws *l) {
    const options *o = run->options;
    sl_file *page = NULL;
    sl_str command = { 0 };
    add_command(&command, run, l);
    sl_status st = sl_str_status(&command);
    if (st == SL_OK && o->report) st = sl_file_create(&page, o->report);
    if (st == SL_OK) st = sl_report_laws_page(&page, o->figures, l, o->file, sl_str_text(&command));
    sl_file_discard(&page);
    sl_str_clear(&command);
    sl_commands_fail_late(run, st);
}

static sl_status answer(sl_commands_run *run, const sl_laws *l, const sl_report_question *ask,
                        sl_str *result) {
    const options *o = run->options;
    sl_report_laws_json(result, l, ask);
    if (o->report || o->figures) write_report(run, l);
    if (run->common->json) return SL_OK;
    sl_report_laws_table(&run->output, l, ask);
    return sl_commands__output(run);
}

/* "N=1e9,D=2e10". */
static sl_status read_run(sl_report_question *out, const char *text) {
    out->params = out->tokens = NAN;
    const char *at = text;
    while (*at) {
        const size_t n = strcspn(at, ",");
        char *end = NULL;
        double *to = strncmp(at, "N=", 2) == 0   ? &out->params
                     : strncmp(at, "D=", 2) == 0 ? &out->tokens
                                                 : NULL;
        if (to) *to = sl_strtod(at + 2, &end);
        if (!end || end != at + n || !(*to >= 1 && *to <= 1e30)) break;
        at += n + (at[n] == ',');
    }
    if (*at || isnan(out->params) || isnan(out->tokens))
        return sl_fail(SL_EINVAL,
                       "--predict takes parameters and tokens, as in N=1e9,D=2e10, not \"%.60s\"",
                       text);
    return SL_OK;
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    (void)ok; // figures are no verdict
    sl_laws l, other;
    sl_report_question ask = { .params = NAN, .tokens = NAN };
    const options *o = run->options;
    const char *file = o->file;
    if (o->simulate && file) return sl_fail(SL_EINVAL, "--simulate makes a table and takes none");
    if (o->simulate) return simulate(run, result);
    if (o->law) return sl_fail(SL_EINVAL, "--law is for --simulate");
    if (!file || !*file)
        return sl_fail(SL_EINVAL, "missing input file: symlaw laws FILE, or - for standard input");
    if (o->predict) SL_TRY(read_run(&ask, o->predict));
    ask.budget = o->budget;
    SL_TRY(fit_file(&l, run, file, o->columns));
    if (!isnan(ask.params) && !l.surface.known)
        return sl_fail(SL_EINVAL,
                       "--predict needs the surface L(N, D), for which %.200s lacks runs: "
                       "parameters, tokens and loss, N and D varying on their own",
                       file);
    if (o->compare) {
        SL_TRY(fit_file(&other, run, o->compare, o->columns));
        SL_TRY(sl_laws_compare(ask.multiplier, &run->arena, &l, &other));
        ask.other = &other;
    }
    return answer(run, &l, &ask, result);
}

sl_commands_command sl_commands__laws = {
    .info = { .name = "laws",
              .summary = "fit scaling laws to a table of training runs",
              .help = help,
              .positional = "file" },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL }, SL_COMMANDS_COMMON_PART },
};
