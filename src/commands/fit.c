/* fit - the verb `fit`: the constants of a formula of the user's own, from a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/fit_impl.h"

typedef struct options {
    sl_commands_common common;
    const char *formula, *file, *target; // NULL: not given, here and below
    const char *start, *bounds, *sigma, *weights;
    const char *compare;
    bool discover;
    int rank; // SL_REPORT_RANK_*
    const char *group, *units;
    int64_t max_rows;
    int format; // SL_COMMANDS__FORMAT_TABLE, or an sl_format and 1
    const char *plot, *fitted, *out;
    double timeout;
    sl_commands_reading reading;
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(formula, "formula", .shown = "FORMULA",
        .help = "a formula over the columns, as 'a*x1/(b + x2)' or 'y = a*x1/(b + x2)'; names that "
                "are no columns are constants"),
    ROW(file, "file", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "the table: CSV or TSV, also compressed by gzip; - is standard input"),
    ROW(target, "target", .shown = "COLUMN",
        .help = "target column, by name or number; if not given, what is left of the =, or y or "
                "target, or the last one"),
    ROW(start, "start", .shown = "LIST",
        .help = "start values of constants, as a=1,b=2; those of the others are searched for"),
    ROW(bounds, "bounds", .shown = "LIST",
        .help = "bounds of constants, as a=0:10,b=0:, with an open side where nothing stands"),
    ROW(sigma, "sigma", .shown = "VALUE|COLUMN",
        .help = "standard deviation of the target's errors: a value, or the name of a column with "
                "that of each row; standard errors are by it; if not given, they are by the "
                "residuals"),
    ROW(weights, "weights", .shown = "COLUMN",
        .help = "column with the weight of each row: 1/variance up to a factor"),
    ROW(compare, "compare", .shown = "LIST",
        .help = "further formulas, with ; between; all are fitted and ranked in one table"),
    ROW(discover, "discover",
        .help =
            "compare with the formulas that the search of \"symlaw discover\" finds in the same "
            "columns"),
    ROW(rank, "rank", .value = SL_REPORT_RANK_BITS, .choices = SL_REPORT_RANKS, .shown = "HOW",
        .help = "what formulas are ranked by: description length, Akaike's or the Bayesian "
                "information criterion"),
    ROW(group, "group", .shown = "COLUMN",
        .help = "fit each group of rows by itself: those with the same cell, text or number, in "
                "this column; and test whether the constants differ"),
    ROW(units, "units", .shown = "LIST",
        .help = "units of columns, as m=kg,v=m/s,E=J; also taken from names such as \"v (m/s)\""),
    ROW(max_rows, "max-rows", .value = 100000, .min = 2, .max = 1e9, .shown = "N",
        .help = "rows to keep in memory, evenly sampled where there are more"),
    ROW(format, "format", .value = SL_COMMANDS__FORMAT_TABLE, .choices = SL_COMMANDS__FORMATS,
        .shown = "FORMAT", .help = "a table, JSON, or the fitted formula alone, ready to paste"),
    ROW(plot, "plot", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "draw data, formula and residuals: FILE.svg, or FILE.html with the table"),
    ROW(fitted, "fitted", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "write all rows and columns of the table with the formula's value and the residual "
                "as CSV"),
    SL_COMMANDS_OUT(options),
    SL_COMMANDS_TIMEOUT(options, timeout),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Fits the constants of your own formula to a table by least squares. Names that\n"
    "are columns of the table are its inputs, all other names are constants. The\n"
    "answer has the fitted formula, each constant with its standard error, how\n"
    "constants are correlated, and how well the formula fits.\n"
    "\n"
    "Examples:\n"
    "  symlaw fit 'a*x1/(b + x2)' data.csv\n"
    "  symlaw fit 'y = a*exp(-k*t) + c' data.csv     the target is left of the =\n"
    "  symlaw fit 'a*exp(-k*t)' data.csv --start a=5,k=0.1 --bounds k=0:\n"
    "  symlaw fit 'a*t^b' data.csv --sigma 0.02      or the name of a column\n"
    "  symlaw fit 'a*t^b' data.csv --compare 'a*exp(b*t); a + b*log(t)'\n"
    "  symlaw fit 'a*t^b' data.csv --discover        is there a better formula?\n"
    "  symlaw fit 'a*exp(-k*t)' data.csv --group sample\n"
    "  symlaw fit 'a*`flow rate` + b' data.csv --format excel\n"
    "  symlaw fit 'a*exp(-k*t)' data.csv --plot fit.html --fitted values.csv\n"
    "\n"
    "Names: a column is written by its name, with or without its unit. A name that\n"
    "is no word stands between backticks. x1, x2, ... are the first, second, ...\n"
    "column where no column is called so. pi and e are numbers where they are no\n"
    "columns. Functions: exp, log, sqrt, sin, cos, tan, sinh, cosh, tanh, asin, acos,\n"
    "atan, abs; powers by ^ or **. A name that is one letter off a column's is taken\n"
    "for a mistake; --start says that it is a constant.\n"
    "\n"
    "Start values are not needed: constants that enter linearly are solved for, and\n"
    "the others are searched for on the scales of the data. Given ones are used as\n"
    "they are, and the fit then goes to the minimum that is near.\n"
    "\n"
    "Standard errors are those of SciPy's curve_fit. With --sigma they are by these\n"
    "errors of the target (absolute_sigma=True), otherwise they are scaled by the\n"
    "residuals (absolute_sigma=False), also with --weights. Constants that make up\n"
    "for each other, as a and b in a*b*x, have none, and the answer says so.\n"
    "\n"
    "--rank bits is the description length of formula, constants and residuals, the\n"
    "measure of \"symlaw discover\"; the lowest value is the best, as of AIC and BIC.\n"
    "\n"
    "--group fits the formula once with common constants and once with constants of\n"
    "each group. The F-test (with --sigma the chi-square test) says how probable such\n"
    "differences are if all groups have the same constants.\n"
    "\n"
    "The exit code is 1 when no constants are found for which the formula is defined\n"
    "in every row, or when the fit does not converge. --timeout and Ctrl-C end the\n"
    "work with the best so far.";

/* ---------------------------------------------------------------- the work ------------------ */

/* All of a call. */
typedef struct job {
    sl_commands_run *run;
    const options *o;
    const char *path; // of a file that can be read twice
    const char *target;
    double sigma;
    sl_table_options reading;
    sl_commands__constants constants;
    sl_commands__formula *formula;
    int n; // of them
    double deadline, polled;
    bool late; // the time was over
    sl_report_fit report;
    sl_discovery *found; // by --discover
} job;

/* Asked before each evaluation; the callback is not called more often than it can follow. */
static bool cancel_requested(void *payload) {
    job *j = payload;
    const double now = sl_clock();
    if (j->deadline > 0 && now > j->deadline) j->late = true;
    if (!j->late && !j->run->stopped && now > j->polled + 0.02) {
        j->polled = now;
        j->run->stopped = sl_commands_cancel_requested(&j->run->listener);
    }
    return j->late || j->run->stopped;
}

/* The inputs as a list for the reader: "a","b c" */
static sl_status list_inputs(sl_str *s, const job *j, const sl_commands__columns *c) {
    bool *used = sl_calloc((size_t)c->n, sizeof *used);
    if (!used) return sl_fail_memory((size_t)c->n, sizeof *used, "columns");
    for (int i = 0; i < j->n; i++)
        for (int k = 0; k < j->formula[i].n_words; k++)
            if (j->formula[i].column[k] >= 0) used[j->formula[i].column[k]] = true;
    for (int i = 0; i < c->n; i++) {
        if (!used[i]) continue;
        if (s->len > 0) sl_str_add_char(s, ',');
        sl_str_add_char(s, '"');
        for (const char *at = c->name[i]; *at; at++) {
            if (*at == '"') sl_str_add_char(s, '"');
            sl_str_add_char(s, *at);
        }
        sl_str_add_char(s, '"');
    }
    sl_free(used);
    SL_TRY(sl_str_status(s));
    if (s->len == 0)
        return sl_fail(SL_EINVAL,
                       "\"%.80s\" has no column of %.80s in it; its names are all constants",
                       j->formula[0].text, c->shown);
    return SL_OK;
}

static sl_status read_table(sl_table *table, bool *late, job *j) {
    sl_commands__columns columns = { .shown = strcmp(j->o->file, "-") == 0 ? "standard input"
                                                                           : j->o->file };
    sl_arena *a = &j->run->arena;
    sl_str inputs = { 0 };
    sl_status st;
    SL_TRY(sl_commands__columns_read(&columns, a, j->path, &j->reading.csv));
    for (int i = 0; i < j->n; i++) {
        SL_TRY(sl_commands__formula_words(&j->formula[i], a, &columns, &j->constants));
        SL_TRY(sl_commands__formula_constants(&j->formula[i], &j->constants));
    }
    SL_TRY(sl_commands__constants_check(&j->constants, j->formula, j->n));
    SL_GO(list_inputs(&inputs, j, &columns));
    j->reading.inputs = inputs.text;
    st = sl_commands__table_read(table, late, j->run, j->path, &j->reading, j->o->timeout);
done:
    sl_str_clear(&inputs);
    j->reading.inputs = NULL; // it was borrowed; rows that are read again follow the table
    return st;
}

/* stops: the caller may end it; else it is a matter of milliseconds. */
static sl_status fit_one(sl_curve *out, job *j, const sl_commands__formula *f, const sl_dataset *p,
                         bool stops) {
    const sl_curve_options o = { .start = f->start,
                                 .given = f->given,
                                 .lo = f->lo,
                                 .hi = f->hi,
                                 .sigma = j->sigma,
                                 .seed = (uint64_t)j->o->common.seed,
                                 .stop = stops ? cancel_requested : NULL,
                                 .payload = j };
    return sl_fit_curve(out, &j->run->arena, f->expr, f->params, p, &o);
}

static sl_status fit_all(job *j, const sl_dataset *p) {
    sl_report_fit *r = &j->report;
    for (int i = 0; i < j->n; i++) {
        sl_commands__formula *f = &j->formula[i];
        sl_report_formula *to = &r->formula[r->n];
        char text[64];
        sl_snprintf(text, sizeof text, "fitting formula %d of %d", i + 1, j->n);
        if (sl_commands_send_event(&j->run->listener, SYMLAW_EVENT_PROGRESS, text, strlen(text), i,
                                   j->n) != SL_OK)
            j->run->stopped = true;
        if (p->rows < f->params)
            return sl_fail(SL_EINVAL, "%lld rows cannot determine the %d constants of \"%.80s\"",
                           (long long)p->rows, f->params, f->text);
        *to = (sl_report_formula){ .text = f->text, .constant = f->constant };
        SL_TRY(fit_one(&to->curve, j, f, p, true));
        r->n++;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- discovered ones ----------- */

enum { DISCOVERED = 5 };

/* The best of the front, fitted once more so that all figures are of one kind. */
static sl_status add_discovered(job *j, const sl_dataset *p) {
    static const char *const numbered[SL_FIT_MAX_PARAMS] = {
        "c1",  "c2",  "c3",  "c4",  "c5",  "c6",  "c7",  "c8",  "c9",  "c10", "c11", "c12",
        "c13", "c14", "c15", "c16", "c17", "c18", "c19", "c20", "c21", "c22", "c23", "c24",
    };
    sl_report_fit *r = &j->report;
    sl_commands_look look = { .max_memory = 1, .timeout = j->o->timeout };
    const sl_commands_request asked = { .names = &r->base.names,
                                        .sigma = j->sigma,
                                        .units = r->base.units };
    look.discover = sl_discover_defaults();
    look.discover.search = SL_DISCOVER_EXHAUSTIVE;
    SL_TRY(sl_commands_discover_rows(&j->found, &asked, p, j->run, &look));
    j->run->stopped = j->run->stopped || j->found->cut == SL_CUT_CANCEL;
    for (int64_t i = 0, n = 0; i < j->found->ranked && n < DISCOVERED; i++) {
        const sl_candidate *c = &j->found->candidate[i];
        if ((i > 0 && !c->front) || c->params > SL_FIT_MAX_PARAMS || c->params > p->rows) continue;
        sl_commands__formula f = { .expr = c->expr, .params = c->params };
        for (int k = 0; k < c->params; k++) {
            f.start[k] = c->value[k];
            f.given[k] = true;
            f.lo[k] = -INFINITY;
            f.hi[k] = INFINITY;
        }
        sl_report_formula *to = &r->formula[r->n];
        *to = (sl_report_formula){ .constant = numbered };
        const sl_status st = fit_one(&to->curve, j, &f, p, false);
        if (st == SL_ELIMIT || st == SL_EOVERFLOW) continue; // no derivatives: an odd exponent
        SL_TRY(st);
        r->n++;
        n++;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- groups -------------------- */

/* The rows of group g. */
static sl_status pick_group(sl_dataset *out, sl_arena *a, const sl_dataset *p, const int *code,
                            int g) {
    int64_t n = 0, *pick = sl_arena_alloc(a, (size_t)p->rows * sizeof *pick);
    if (!pick) return sl_fail_memory((size_t)p->rows, sizeof *pick, "rows of a group");
    for (int64_t i = 0; i < p->rows; i++)
        if (code[i] == g) pick[n++] = i;
    SL_TRY(sl_data_pick_rows(out, a, p, pick, n));
    return SL_OK;
}

static sl_status fit_groups(job *j, const sl_table *t) {
    sl_report_fit *r = &j->report;
    sl_arena *a = &j->run->arena;
    const char **name;
    int *code, n;
    SL_TRY(sl_commands__groups_read(&code, &name, &n, a, j->path, &j->reading.csv, j->o->group, t));
    sl_report_group *group = sl_arena_alloc(a, (size_t)n * sizeof *group);
    if (!group) return sl_fail_memory((size_t)n, sizeof *group, "groups");
    for (int g = 0; g < n; g++) {
        sl_dataset part;
        sl_arena rows = { 0 };
        group[g] = (sl_report_group){ .name = name[g] };
        sl_status st = pick_group(&part, &rows, &t->data, code, g);
        if (st == SL_OK) {
            group[g].rows = part.rows;
            group[g].fitted = part.rows >= j->formula[0].params && part.rows >= 2;
        }
        if (st == SL_OK && group[g].fitted)
            st = fit_one(&group[g].curve, j, &j->formula[0], &part, true);
        sl_arena_clear(&rows);
        SL_TRY(st);
    }
    r->group = group;
    r->n_groups = n;
    r->group_column = j->o->group;
    r->group_constant = j->formula[0].constant;
    sl_report_fit_test(&r->test, r);
    return SL_OK;
}

/* ---------------------------------------------------------------- printing ------------------ */

static void note(void *run, const char *sentence) {
    sl_commands_note(&((sl_commands_run *)run)->listener, "%s", sentence);
}

static sl_status print(job *j, sl_commands__style how, sl_str *result) {
    const sl_report_fit *r = &j->report;
    sl_commands_run *run = j->run;
    options *o = run->options;
    SL_TRY(sl_report_fit_json(result, r));
    switch (how) {
    case SL_COMMANDS__TABLE: SL_TRY(sl_report_fit_table(&run->output, r)); break;
    case SL_COMMANDS__PASTE: {
        const sl_fit *f = &r->formula[0].curve.fit;
        if (isnan(f->r2)) break;
        SL_TRY(sl_report_paste(&run->output, f->expr, f->value, &r->base.names, r->base.table,
                               sl_commands__format(o->format)));
        break;
    }
    case SL_COMMANDS__JSON: o->common.json = true;
    }
    return sl_commands__output(run);
}

static sl_status draw(sl_file **file, bool html, const sl_report_fit *r) {
    sl_str s = { 0 };
    sl_status st = sl_report_fit_picture(&s, r, html);
    if (st == SL_OK) st = sl_commands__beside_write(file, &s);
    sl_str_clear(&s);
    return st;
}

/* The files beside the result. */
typedef struct beside {
    sl_file *plot, *fitted;
    bool html; // of the picture
} beside;

static void write_beside(job *j, beside *files) {
    const sl_fit *f = &j->report.formula[0].curve.fit;
    const sl_candidate best = {
        .expr = f->expr, .params = f->params, .value = f->value, .error = f->error
    };
    if (isnan(f->r2)) return;
    if (files->plot) sl_commands_fail_late(j->run, draw(&files->plot, files->html, &j->report));
    if (files->fitted)
        sl_commands_fail_late(j->run, sl_commands__discover_fitted(&files->fitted, j->run,
                                                                   j->report.base.table, &best,
                                                                   j->path, &j->reading));
}

static sl_status fit(job *j, beside *files, sl_commands__style how, sl_str *result, bool *ok) {
    sl_status st;
    bool late = false;
    sl_table table = { 0 };
    sl_report_fit *r = &j->report;
    const double start = sl_clock();
    r->base = (sl_report_discovery){ .file = j->o->file, .seed = (uint64_t)j->o->common.seed };
    r->rank = j->o->rank;
    r->sigma = j->sigma;
    r->formula = sl_arena_alloc(&j->run->arena, (size_t)(j->n + DISCOVERED) * sizeof *r->formula);
    if (!r->formula) return sl_fail_memory((size_t)j->n, sizeof *r->formula, "formulas");
    SL_GO(read_table(&table, &late, j));
    r->base.read_seconds = sl_clock() - start;
    *ok = false;
    if (late) goto done; // a note says so
    r->base.table = &table;
    r->base.data = &table.data;
    SL_GO(sl_commands__table_names(&r->base, &j->run->arena, &table));
    SL_GO(sl_data_units_known(&r->base.units, &table.units, j->o->units, table.data.names,
                              table.data.inputs, table.data.target));
    for (int i = 0; i < j->n; i++)
        SL_GO(sl_commands__formula_parse(&j->formula[i], j->run, &table));
    SL_GO(fit_all(j, &table.data));
    if (j->o->group) SL_GO(fit_groups(j, &table));
    if (j->o->discover && !cancel_requested(j)) SL_GO(add_discovered(j, &table.data));
    r->cut = j->run->stopped ? SL_CUT_CANCEL : j->late ? SL_CUT_TIME : SL_CUT_NONE;
    sl_report_fit_rank(r);
    *ok = !isnan(r->formula[0].curve.fit.r2) && (r->formula[0].curve.converged || r->cut);
    if (how != SL_COMMANDS__TABLE) SL_GO(sl_report_fit_notes(r, note, j->run));
    write_beside(j, files);
    st = print(j, how, result);
done:
    sl_discover_free(j->found);
    sl_data_table_clear(&table);
    return st;
}

/* What can be said without the table. */
static sl_status check(job *j, sl_commands__style *how, beside *files) {
    const options *o = j->o;
    if (!o->formula || !*o->formula || !o->file || !*o->file)
        return sl_fail(SL_EINVAL,
                       "missing %s: symlaw fit FORMULA FILE, as symlaw fit 'a*x1 + b' "
                       "data.csv",
                       o->formula && *o->formula ? "input file" : "formula");
    j->reading = (sl_table_options)SL_TABLE_OPTIONS_INIT;
    j->reading.max_inputs = SL_DATA_MAX_INPUTS;
    j->reading.max_rows = o->max_rows;
    j->reading.weights = o->weights;
    j->reading.seed = (uint64_t)o->common.seed;
    SL_TRY(sl_commands__style_find(how, j->run, &o->format));
    SL_TRY(sl_commands_reading_options(&j->reading.csv, &o->reading));
    SL_TRY(sl_commands__sigma_find(&j->sigma, &j->reading.sigma, o->sigma, o->weights));
    if (o->plot) SL_TRY(sl_commands__picture_find(&files->html, o->plot));
    j->target = o->target;
    SL_TRY(sl_commands__formulas_split(&j->formula, &j->n, &j->target, j->run, o->formula,
                                       o->compare));
    j->reading.target = j->target;
    return SL_OK;
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    const options *o = run->options;
    job j = { .run = run, .o = o, .path = o->file, .constants = { o->start, o->bounds } };
    sl_commands__style how;
    beside files = { .html = false };
    int kept = -1;
    SL_TRY(check(&j, &how, &files));
    sl_status st;
    run->costly = true;
    j.deadline = sl_deadline(run->listener.start, o->timeout);
    SL_GO(sl_commands__beside_open(&files.plot, run, o->plot, "picture"));
    SL_GO(sl_commands__beside_open(&files.fitted, run, o->fitted, "table of values"));
    SL_GO(sl_commands__table_keep(&j.path, &kept, run));
    st = fit(&j, &files, how, result, ok);
done:
    sl_commands__table_release(kept);
    sl_file_discard(&files.plot);
    sl_file_discard(&files.fitted);
    return st;
}

sl_commands_command sl_commands__fit = {
    .info = { .name = "fit",
              .summary = "fit the constants of your own formula to a table",
              .help = help,
              .positional = "formula",
              .positional_next = "file" },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS_READING_PART(options, reading),
               SL_COMMANDS_COMMON_PART },
};
