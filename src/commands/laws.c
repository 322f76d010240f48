/* cmd_laws - the verb `laws`: scaling laws out of a table of runs. The fitting is laws/'s. */
#include <math.h>
#include <string.h>

#include "commands/commands.h"

#define OWN_OPTIONS(X)                                                                             \
    X(FILE, "file", FILE_IN, 1, "FILE", NULL, NULL, 0, 0,                                          \
      "table of runs: CSV with a header, or a JSON object a line; - is standard input")            \
    X(COLUMNS, "columns", TEXT, 1, "LIST", NULL, NULL, 0, 0,                                       \
      "which columns are which, as in params=N_nonemb,loss=final_loss; others are found by their " \
      "usual names")                                                                               \
    X(TARGET, "target-solved", REAL, 1, "SHARE", "0.8", NULL, 1e-9, 0.999999999,                   \
      "solved rate whose compute is asked for")                                                    \
    X(BINS, "bins", CHOICE, 1, "BINS", "log", "log|linear|none", 0, 0,                             \
      "intervals of compute that the frontier is selected by; none: all runs count")               \
    X(TRIALS, "trials", INT, 1, "N", "0", NULL, 0, 1e12,                                           \
      "problems behind each share, where the table does not say; 0: not known")                    \
    X(DRAWS, "draws", INT, 1, "N", "1000", NULL, 0, 100000,                                        \
      "resamples that intervals are made from; 0: no intervals")                                   \
    X(PREDICT, "predict", TEXT, 1, "N=..,D=..", NULL, NULL, 0, 0,                                  \
      "what a run of N parameters and D tokens would give")                                        \
    X(BUDGET, "budget", REAL, 1, "FLOPS", NULL, NULL, 1, 1e40,                                     \
      "what this compute would give, and which N and D are best for it")                           \
    X(COMPARE, "compare", FILE_IN, 1, "OTHER", NULL, NULL, 0, 0,                                   \
      "another table: how much compute it needs for the same loss")                                \
    X(SIMULATE, "simulate", FLAG, 0, NULL, "false", NULL, 0, 0,                                    \
      "print a table of runs from a known law instead, for tests and teaching")                    \
    X(LAW, "law", TEXT, 1, "LIST", NULL, NULL, 0, 0,                                               \
      "--simulate: constants that differ from the usual ones, as in E=0.1,sizes=4,noise=0.02")     \
    X(REPORT, "report", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                     \
      "write figures and tables as one HTML page")                                                 \
    X(FIGURES, "figures", FOLDER_INOUT, 1, "DIR", NULL, NULL, 0, 0,                                \
      "write the page's figures as SVG files into a folder, which is made if it is not there")     \
    X(OUT, "out", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                           \
      "write to FILE, which appears whole or not at all; - is standard output")

enum { OWN_OPTIONS(SL_COMMANDS__ID) SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL };

static const symlaw_option_info options[] = { OWN_OPTIONS(SL_COMMANDS__OPTION) //
                                              SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Fits scaling laws to a table of finished training runs: how loss and the share\n"
    "of solved problems change with compute, the compute for a wanted share, the\n"
    "best N, D, batch size and learning rate, the surface L(N, D), and whether laws\n"
    "that are fitted to the smaller runs predict the larger ones. All figures have\n"
    "95 % intervals: configurations and seeds are resampled, then everything,\n"
    "selection of the frontier included, is done again.\n"
    "\n"
    "Columns by name: params (N), tokens (D) or ratio, flops (C), loss, solved and\n"
    "r2 (shares, or solved_hits, r2_hits and trials), seed, batch, rate, id, size,\n"
    "phase (sweep, scale, both), status. What is missing switches off what needs\n"
    "it, and a note says so. Figures beyond ten times the largest run's compute are\n"
    "marked EXTRAPOLATION.\n"
    "\n"
    "Examples:\n"
    "  symlaw laws studies/paper_runs.csv --bins linear     the paper's own analysis\n"
    "  symlaw laws runs.csv --budget 1e21                   best N and D for 1e21\n"
    "  symlaw laws runs.csv --predict N=1e9,D=2e10\n"
    "  symlaw laws runs.csv --compare baseline.csv          compute at equal loss\n"
    "  symlaw laws runs.csv --json | jq .solved.exponent\n"
    "  symlaw laws runs.csv --report laws.html              a page with its figures\n"
    "  symlaw laws --simulate --law noise=0.02,seeds=3 > simulated.csv";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

static const char *text(const sl_commands__run *run, int option) {
    return value(run, option)->text[0];
}

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

static sl_status simulate(sl_commands__run *run, sl_str *result) {
    sl_laws_simulation law = SL_LAWS_SIMULATION_INIT;
    sl_laws_table t;
    sl_str csv = { 0 };
    if (text(run, OPT_LAW)) SL_TRY(sl_laws_simulation_read(&law, text(run, OPT_LAW)));
    SL_TRY(sl_laws_simulate(&t, &run->arena, &law, (uint64_t)value(run, OPT_SEED)->whole));
    sl_laws_table_csv(&csv, &t);
    sl_status st = sl_str_status(&csv);
    if (st == SL_OK) {
        add_truth(result, &law);
        if (value(run, OPT_JSON)->flag)
            sl_io_json_add_text(result, "csv", csv.text);
        else
            sl_str_add_bytes(&run->output, csv.text, csv.len);
        st = sl_commands__output(run);
    }
    sl_str_clear(&csv);
    return st;
}

/* ---------------------------------------------------------------- fitting ------------------- */

static sl_laws_options options_of(const sl_commands__run *run) {
    const char *bins = text(run, OPT_BINS);
    sl_laws_options o = SL_LAWS_OPTIONS_INIT;
    o.bins = strcmp(bins, "linear") == 0 ? SL_LAWS_BINS_LINEAR
             : strcmp(bins, "none") == 0 ? SL_LAWS_BINS_NONE
                                         : SL_LAWS_BINS_LOG;
    o.target = value(run, OPT_TARGET)->real;
    o.trials = (double)value(run, OPT_TRIALS)->whole;
    o.draws = (int)value(run, OPT_DRAWS)->whole;
    o.seed = (uint64_t)value(run, OPT_SEED)->whole;
    return o;
}

static sl_status fit_file(sl_laws *out, sl_commands__run *run, const char *path,
                          const char *columns) {
    sl_laws_table *t = sl_arena_alloc(&run->arena, sizeof *t);
    if (!t) return sl_fail_memory(1, sizeof *t, "a table");
    const sl_laws_options o = options_of(run);
    SL_TRY(sl_laws_table_read(t, &run->arena, path, columns));
    return sl_laws_fit(out, &run->arena, t, &o);
}

static void add_option(sl_str *s, const sl_commands__run *run, const char *name) {
    const sl_commands__value *v = sl_commands__named(run, name);
    if (!v->given || !v->text[0]) return;
    sl_str_addf(s, " --%s ", name);
    sl_str_add_word(s, v->text[0]);
}

/* The command that makes the page again. */
static void add_command(sl_str *s, const sl_commands__run *run, const sl_laws *l) {
    sl_str_add(s, "symlaw laws ");
    sl_str_add_word(s, sl_commands__named(run, "file")->text[0]);
    add_option(s, run, "columns");
    add_option(s, run, "bins");
    sl_str_addf(s, " --target-solved %.10g --draws %d --seed %llu", l->options.target,
                l->options.draws, (unsigned long long)l->options.seed);
    if (l->options.trials > 0) sl_str_addf(s, " --trials %.0f", l->options.trials);
    add_option(s, run, "report");
    add_option(s, run, "figures");
}

/* The page of --report and the files of --figures. If they cannot be written the result is handed
 * on all the same, and then the call fails. */
static void write_report(sl_commands__run *run, const sl_laws *l) {
    sl_file *page = NULL;
    sl_str command = { 0 };
    add_command(&command, run, l);
    sl_status st = sl_str_status(&command);
    if (st == SL_OK && text(run, OPT_REPORT)) st = sl_file_create(&page, text(run, OPT_REPORT));
    if (st == SL_OK)
        st = sl_report_laws_page(&page, text(run, OPT_FIGURES), l, text(run, OPT_FILE),
                                 sl_str_text(&command));
    sl_file_discard(&page);
    sl_str_clear(&command);
    sl_commands__fail_late(run, st);
}

static sl_status answer(sl_commands__run *run, const sl_laws *l, const sl_report_question *ask,
                        sl_str *result) {
    sl_report_laws_json(result, l, ask);
    if (text(run, OPT_REPORT) || text(run, OPT_FIGURES)) write_report(run, l);
    if (value(run, OPT_JSON)->flag) return SL_OK;
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

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    (void)ok; // figures are no verdict
    sl_laws l, other;
    sl_report_question ask = { .params = NAN, .tokens = NAN, .budget = NAN };
    const char *file = text(run, OPT_FILE);
    if (value(run, OPT_SIMULATE)->flag && file)
        return sl_fail(SL_EINVAL, "--simulate makes a table and takes none");
    if (value(run, OPT_SIMULATE)->flag) return simulate(run, result);
    if (text(run, OPT_LAW)) return sl_fail(SL_EINVAL, "--law is for --simulate");
    if (!file || !*file)
        return sl_fail(SL_EINVAL, "missing input file: symlaw laws FILE, or - for standard input");
    if (text(run, OPT_PREDICT)) SL_TRY(read_run(&ask, text(run, OPT_PREDICT)));
    if (value(run, OPT_BUDGET)->given) ask.budget = value(run, OPT_BUDGET)->real;
    SL_TRY(fit_file(&l, run, file, text(run, OPT_COLUMNS)));
    if (!isnan(ask.params) && !l.surface.known)
        return sl_fail(SL_EINVAL,
                       "--predict needs the surface L(N, D), for which %.200s lacks runs: "
                       "parameters, tokens and loss, N and D varying on their own",
                       file);
    if (text(run, OPT_COMPARE)) {
        SL_TRY(fit_file(&other, run, text(run, OPT_COMPARE), text(run, OPT_COLUMNS)));
        SL_TRY(sl_laws_compare(ask.multiplier, &run->arena, &l, &other));
        ask.other = &other;
    }
    return answer(run, &l, &ask, result);
}

const sl_commands__command sl_commands__laws = {
    .info = { .name = "laws",
              .summary = "fit scaling laws to a table of training runs",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options),
              .positional = "file" },
    .work = work,
};
