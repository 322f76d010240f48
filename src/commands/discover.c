/* discover - the command `discover`: its options, and the way from a file to what is printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands_impl.h"

typedef struct options {
    sl_commands_common common;
    const char *file, *model, *target, *inputs; // NULL: not given, here and below
    const char *sigma, *weights;
    int64_t max_rows, top, values;
    bool all;
    const char *candidates;
    int format; // SL_COMMANDS__FORMAT_TABLE, or an sl_format and 1
    const char *derivative, *plot, *fitted, *out;
    sl_commands_reading reading;
    sl_commands_look look;
} options;

// places of choices

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(file, "file", .path = SL_PATH_FILE_INPUT, .shown = "FILE",
        .help = "the table: CSV or TSV, also compressed by gzip; - is standard input"),
    ROW(model, "model", .path = SL_PATH_FILE_INPUT, .shown = "MODEL",
        .help = "a run's folder or a weights file; if not given, what SYMLAW_MODEL names, or "
                "runs/best.safetensors, or the model that is installed with the program; without "
                "any, the search works alone"),
    ROW(target, "target", .shown = "COLUMN",
        .help = "target column, by name or number; if not given, y or target, or the last one"),
    ROW(inputs, "inputs", .shown = "COLUMNS",
        .help = "input columns, separated by commas; if not given, the strongest ones"),
    ROW(sigma, "sigma", .shown = "VALUE|COLUMN",
        .help = "standard deviation of the target's errors: a value, or the name of a column with "
                "that of each row; if not given, it is estimated"),
    ROW(weights, "weights", .shown = "COLUMN",
        .help = "column with the weight of each row: 1/variance up to a factor"),
    ROW(max_rows, "max-rows", .value = 100000, .min = 2, .max = 1e9, .shown = "N",
        .help = "rows to keep in memory, evenly sampled where there are more"),
    ROW(top, "top", .value = 6, .min = 1, .max = 1e9, .shown = "N",
        .help = "formulas of the front to show"),
    ROW(values, "values", .value = 0, .min = 0, .max = 1e9, .shown = "N",
        .help = "rows of the table that the JSON result holds as numbers, evenly chosen"),
    ROW(all, "all", .help = "show every candidate with its status"),
    ROW(candidates, "candidates", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "write every candidate as a row of CSV"),
    ROW(format, "format", .value = SL_COMMANDS__FORMAT_TABLE, .choices = SL_COMMANDS__FORMATS,
        .shown = "FORMAT",
        .help = "a table, JSON, or the best formula alone, ready to paste; excel: for row 2 of the "
                "table in a spreadsheet"),
    ROW(derivative, "derivative", .shown = "COLUMN",
        .help = "also print the exact derivative of the best formula with respect to an input; a "
                "format to paste has the derivative alone"),
    ROW(plot, "plot", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "draw data, formula and residuals: FILE.svg, or FILE.html with the table"),
    ROW(fitted, "fitted", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",
        .help = "write all rows and columns of the table with the formula's value and the residual "
                "as CSV"),
    SL_COMMANDS_OUT(options),
    SL_COMMANDS_TIMEOUT(options, look.timeout),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static const char help[] =
    "Finds the formula behind a table of numbers. The first line is the answer, or\n"
    "follows a note where there are more columns than are used: the formula of least\n"
    "description length, which is the bits of the formula and of its residuals. Then\n"
    "comes the front: the best formula of each size, with its error. If no formula is\n"
    "as good as the noise allows, the answer says so.\n"
    "\n"
    "Examples:\n"
    "  symlaw discover data.csv                      the last column, by the others\n"
    "  symlaw discover a.csv b.csv c.csv             each in turn\n"
    "  symlaw discover data.csv --target T --inputs a,m\n"
    "  symlaw discover data.csv --ops sqrt,exp --max-size 12\n"
    "  symlaw discover data.csv --units m=kg,v=m/s,E=J\n"
    "  symlaw discover data.csv --sigma 0.02         or the name of a column\n"
    "  symlaw discover data.csv --holdout 0.2        also judge by rows kept aside\n"
    "  symlaw discover data.csv --format python      only the formula, to paste\n"
    "  symlaw discover data.csv --format excel       for a spreadsheet, in row 2\n"
    "  symlaw discover data.csv --derivative m       and its derivative\n"
    "  symlaw discover data.csv --plot fit.html      with a figure\n"
    "  symlaw discover data.csv --candidates all.csv every formula that was tried\n"
    "  symlaw discover data.csv --fitted rows.csv    the rows with values, residuals\n"
    "  zcat big.csv.gz | symlaw discover - --timeout 10 --effort high\n"
    "\n"
    "Formulas come from two sources (--search). The search enumerates them, with real\n"
    "constants and powers, for up to 16 inputs; it needs no model, and most laws take\n"
    "it milliseconds. Where it finds nothing within the noise, a model is sampled;\n"
    "the constants of its samples are fitted, and parts of them join a second search.\n"
    "Constants near integers or small fractions are rounded when the fit does not\n"
    "worsen.\n"
    "\n"
    "A small model is installed with the program. \"symlaw train\" makes larger ones:\n"
    "--model names one, and so does the variable SYMLAW_MODEL. Without these\n"
    "runs/best.safetensors is used, the best model of a study, or else the installed\n"
    "one. A model takes as many inputs as it was trained on, usually two; it reads\n"
    "those that explain most of the target's variance. Of more than 16 columns those\n"
    "that explain most are used, and the table says so.\n"
    "\n"
    "Tables: cells between commas, semicolons, tabs, bars or blanks, in quotes or\n"
    "not, with or without a header, any column names. Rows with an empty cell, NA,\n"
    "NaN or an infinity where a number is needed are dropped and counted. Text in a\n"
    "column of numbers is an error that names row and column. A unit in a name, as\n"
    "in \"v (m/s)\", or in a row below the names, is the column's unit. Formulas whose\n"
    "units do not agree are left out; a constant has the unit that makes them agree.\n"
    "Comment lines, titles above the names, thousands separators, percent signs,\n"
    "decimal commas, Latin-1 and UTF-16 are read, and the table says what was done;\n"
    "where a number may mean two things, the error names the option that helps.\n"
    "Dates are inputs if --inputs names them, as days or seconds since the first; so\n"
    "is text of two different values, as 0 and 1. \"symlaw info --table FILE\" shows\n"
    "what a table holds.\n"
    "\n"
    "--fitted writes all rows and columns of the file, and two more: the value of the\n"
    "formula and the residual, empty where a row lacks a number.\n"
    "\n"
    "Figures: error and R2 are of the rows that were fitted; --holdout keeps rows\n"
    "aside for a second, unbiased R2. Constants have standard errors and are printed\n"
    "to the digits that these leave, or to as many as the formula needs to be defined\n"
    "on every row and to keep its R2; JSON and formulas to paste have all digits. \"by\n"
    "chance: 1 in 2^50\" is how often data without a law would let a search of this\n"
    "length find a formula as good. SymPy text names columns x1, x2, ...; Python and\n"
    "C text does so only for names that are no identifiers, and a comment says which.\n"
    "\n"
    "--effort sets the amount of work, so the answer is the same for any number of\n"
    "threads. --timeout ends the work earlier, counted from the start and with\n"
    "reading; the best so far is printed and marked as cut, with the exit code of any\n"
    "other answer. Ctrl-C prints the best so far too, with exit code 130. The exit\n"
    "code is 1 when no formula was found, and 3 when --plot, --candidates, --fitted\n"
    "or --out could not be written; the formula is printed in that case too.\n"
    "\n"
    "Memory: the search uses at most --max-memory, 1 GB by default. Where it finds\n"
    "nothing it takes up to 0.35 GB with --effort low, 0.85 GB with normal, and more\n"
    "with high. Steps that do not fit are left out or cut short; the answer says\n"
    "which, and the --max-memory with which more of them fit.";

/* ---------------------------------------------------------------- what was asked for -------- */

/* The model's inputs, where it alone is asked. */
static int most_inputs(const sl_infer *model, int search) {
    if (search != SL_DISCOVER_MODEL) return SL_DATA_MAX_INPUTS;
    return SL_MIN(sl_infer_about(model)->variables, SL_TOKEN_VARIABLES);
}

static sl_status table_options(sl_table_options *out, const options *o, int most) {
    *out = (sl_table_options)SL_TABLE_OPTIONS_INIT;
    out->target = o->target;
    out->inputs = o->inputs;
    double sigma;
    SL_TRY(sl_commands__sigma_find(&sigma, &out->sigma, o->sigma, o->weights));
    out->weights = o->weights;
    out->max_inputs = most;
    out->max_rows = o->max_rows;
    out->seed = (uint64_t)o->common.seed;
    return sl_commands_reading_options(&out->csv, &o->reading);
}

/* ---------------------------------------------------------------- files beside the result --- */

/* The picture, the list of candidates and the rows with their values. Opened before the work, so
 * that a name that cannot be written is known at once; the formula is wanted all the same. */
typedef struct beside {
    sl_file *plot, *candidates, *fitted;
    bool html; // of the picture
} beside;

static sl_status draw(sl_file **file, bool html, const sl_report_discovery *f) {
    sl_str s = { 0 };
    sl_status st = sl_report_discovery_picture(&s, f, html);
    if (st == SL_OK) st = sl_commands__beside_write(file, &s);
    sl_str_clear(&s);
    return st;
}

static sl_status write_candidates(sl_file **file, const sl_report_discovery *f) {
    sl_str s = { 0 };
    sl_status st = sl_report_discovery_csv(&s, f);
    if (st == SL_OK) st = sl_commands__beside_write(file, &s);
    sl_str_clear(&s);
    return st;
}

/* The table, and how to read it once more. */
typedef struct source_file {
    sl_table_options options;
    const char *path;
    int kept; // a copy of it, see sl_commands__table_keep
} source_file;

static void write_beside(sl_commands_run *run, beside *b, const sl_report_discovery *f,
                         const source_file *from) {
    if (!f->discovery) return;
    if (b->fitted && f->discovery->ranked > 0)
        sl_commands_fail_late(run, sl_commands__discover_fitted(&b->fitted, run, f->table,
                                                                &f->discovery->candidate[0],
                                                                from->path, &from->options));
    if (b->plot && f->discovery->ranked > 0) sl_commands_fail_late(run, draw(&b->plot, b->html, f));
    if (b->candidates) sl_commands_fail_late(run, write_candidates(&b->candidates, f));
}

/* ---------------------------------------------------------------- the model ----------------- */

/* The one that is asked, opened when it is needed. */
typedef struct source {
    sl_commands_run *run;
    const char *path; // NULL: there is none
    sl_infer *model;  // NULL: it is not open
    const char *note; // why it is not
    char line[SL_FAIL_LINE];
} source;

/* With both engines a default model that cannot be read is no reason to lose what the search found.
 */
static sl_status open_late(const sl_infer **out, void *payload) {
    source *m = payload;
    if (!m->path) return SL_OK;
    const sl_status st = sl_commands__model_open(&m->model, m->run, m->path);
    if (st == SL_ENOMEM) return st;
    if (st != SL_OK) {
        sl_commands__keep_line(m->line);
        m->note = m->line;
        sl_commands_note(&m->run->listener, "the model was not used: %s", m->line);
        return SL_OK;
    }
    *out = m->model;
    return sl_commands__model_notes(&m->run->listener, m->model);
}

static bool has_default(void) {
    sl_str path = { 0 };
    const bool there = sl_commands_model_default(&path) != SL_EINVAL; // else the message says why
    sl_str_clear(&path);
    return there;
}

/* A model that was named must be there; one that is found may be missing where the search works
 * too. */
static sl_status find_model(source *m, sl_commands_run *run, int search) {
    options *o = run->options;
    const char *named = getenv("SYMLAW_MODEL");
    const bool chosen = o->model || (named && *named);
    m->run = run;
    if (search == SL_DISCOVER_EXHAUSTIVE) {
        m->note = "not used: --search exhaustive";
        if (!o->model) return SL_OK;
        return sl_fail(SL_EINVAL,
                       "--model names a model and --search exhaustive asks none; give one of them");
    }
    if (search == SL_DISCOVER_BOTH && !chosen && !has_default()) {
        m->note = "none found; \"symlaw train\" makes one";
        return SL_OK;
    }
    SL_TRY(sl_commands__model_named(&o->model, run));
    m->path = o->model;
    m->note = "not used: the search found the formula";
    if (!chosen && search == SL_DISCOVER_BOTH) return SL_OK; // when it is needed
    SL_TRY(sl_commands__model_open(&m->model, run, m->path));
    return sl_commands__model_notes(&run->listener, m->model);
}

/* ---------------------------------------------------------------- the work ------------------ */

static void note(void *run, const char *name, const char *sentence) {
    sl_commands_note(&((sl_commands_run *)run)->listener, "%s: %s", name, sentence);
}

static sl_status print(sl_commands_run *run, const sl_report_discovery *f, sl_commands__style how) {
    options *o = run->options;
    switch (how) {
    case SL_COMMANDS__TABLE: SL_TRY(sl_report_discovery_table(&run->output, f)); break;
    case SL_COMMANDS__PASTE:
        SL_TRY(sl_report_discovery_paste(&run->output, f, sl_commands__format(o->format)));
        if (f->discovery) sl_report_discovery_notes(f, note, run);
        break;
    case SL_COMMANDS__JSON: o->common.json = true; // the result is what is printed
    }
    return sl_commands__output(run);
}

/* A cancellation now does not drop the result, since the work is done. */
static void poll_once(sl_commands_run *run) {
    static const char what[] = "printing";
    if (sl_commands_send_event(&run->listener, SYMLAW_EVENT_PROGRESS, what, strlen(what), 1, 1) !=
        SL_OK)
        run->stopped = true;
}

/* *out := the number of the input of this name, or x1, x2, ... where no input is called so. */
static sl_status find_input(int *out, const char *name, const sl_dataset *d) {
    sl_commands_guess g = { .word = name };
    char end[96], plain[16];
    for (int i = 0; i < d->inputs; i++)
        if (strcmp(d->names[i], name) == 0) {
            *out = i + 1;
            return SL_OK;
        }
    for (int i = 0; i < d->inputs; i++) {
        sl_snprintf(plain, sizeof plain, "x%d", i + 1);
        if (strcmp(plain, name) == 0) {
            *out = i + 1;
            return SL_OK;
        }
        sl_commands_guess_offer(&g, d->names[i]);
    }
    return sl_fail(SL_EINVAL, "--derivative: \"%.60s\" is not among the inputs%s", name,
                   sl_commands_guess_text(&g, "", end));
}

/* The table is read; the rest of the finding. */
static sl_status discover(sl_report_discovery *f, sl_discovery **found, source *m,
                          sl_commands_run *run) {
    const options *o = run->options;
    const char *column;
    double sigma;
    SL_TRY(sl_commands__sigma_find(&sigma, &column, o->sigma, o->weights));
    f->constant = sl_data_constant(&f->table->data);
    SL_TRY(sl_commands__table_names(f, &run->arena, f->table));
    if (o->derivative) SL_TRY(find_input(&f->derivative, o->derivative, &f->table->data));
    const sl_commands_request request = { .model = m->model,
                                          .open = m->model ? NULL : open_late,
                                          .payload = m,
                                          .names = &f->names,
                                          .sigma = sigma,
                                          .units = f->units };
    SL_TRY(sl_commands_discover_rows(found, &request, f->data, run, &o->look));
    f->discovery = *found;
    f->model = f->discovery->model_used ? m->model : NULL;
    f->model_note = m->note;
    run->stopped = f->discovery->cut == SL_CUT_CANCEL;
    return SL_OK;
}

static sl_status find(sl_commands_run *run, source *m, int search, beside *files,
                      sl_commands__style how, sl_str *result, bool *ok) {
    const options *o = run->options;
    sl_status st;
    bool late = false;
    sl_table table = { 0 };
    sl_discovery *found = NULL;
    source_file from = { .path = o->file, .kept = -1 };
    sl_report_discovery f = { .file = o->file,
                              .seed = (uint64_t)o->common.seed,
                              .all = o->all,
                              .top = o->top,
                              .values = o->values };
    const double start = sl_clock();
    SL_GO(table_options(&from.options, o, most_inputs(m->model, search)));
    from.options.csv.shown = sl_commands__table_shown(o->file);
    if (files->fitted) SL_GO(sl_commands__table_keep(&from.path, &from.kept, run));
    SL_GO(sl_commands__table_read(&table, &late, run, from.path, &from.options, o->look.timeout));
    f.read_seconds = sl_clock() - start;
    if (!late) {
        f.table = &table;
        f.data = &table.data;
        SL_GO(sl_data_units_known(&f.units, &table.units, o->look.units, table.data.names,
                                  table.data.inputs, table.data.target));
        SL_GO(discover(&f, &found, m, run));
    }
    if (found) f.top = f.all ? found->count : SL_MIN(f.top, found->ranked); // those that have R2
    *ok = f.discovery && f.discovery->ranked > 0;
    write_beside(run, files, &f, &from);
    poll_once(run);
    SL_GO(sl_report_discovery_json(result, &f));
    st = print(run, &f, how);
done:
    sl_discover_free(found);
    sl_data_table_clear(&table);
    sl_commands__table_release(from.kept);
    return st;
}

/* What can be said without the table. */
static sl_status check(sl_commands__style *how, beside *files, sl_discover_options *out,
                       sl_commands_run *run) {
    const options *o = run->options;
    sl_csv_options csv;
    double sigma;
    const char *column;
    if (!o->file || !*o->file)
        return sl_fail(SL_EINVAL,
                       "missing input file: symlaw discover FILE, or - for standard input");
    SL_TRY(sl_commands__style_find(how, run, &o->format));
    SL_TRY(sl_commands_reading_options(&csv, &o->reading));
    SL_TRY(sl_commands__sigma_find(&sigma, &column, o->sigma, o->weights));
    if (o->plot) SL_TRY(sl_commands__picture_find(&files->html, o->plot));
    SL_TRY(sl_commands_discover_options(out, &o->look, o->common.seed));
    return sl_discover_options_check(out);
}

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    const options *o = run->options;
    sl_commands__style how;
    sl_discover_options look;
    beside files = { .html = false };
    source m = { .path = NULL };
    SL_TRY(check(&how, &files, &look, run));
    sl_status st;
    run->costly = true;
    SL_GO(sl_commands__beside_open(&files.plot, run, o->plot, "picture"));
    SL_GO(sl_commands__beside_open(&files.candidates, run, o->candidates, "list of candidates"));
    SL_GO(sl_commands__beside_open(&files.fitted, run, o->fitted, "table of values"));
    SL_GO(find_model(&m, run, look.search));
    st = find(run, &m, look.search, &files, how, result, ok);
done:
    sl_file_discard(&files.plot);
    sl_file_discard(&files.candidates);
    sl_file_discard(&files.fitted);
    sl_infer_close(m.model);
    return st;
}

sl_commands_command sl_commands__discover = {
    .info = { .name = "discover",
              .summary = "find the formula behind a table of numbers",
              .help = help,
              .positional = "file",
              .repeats = 1 },
    .work = work,
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL },
               SL_COMMANDS_READING_PART(options, reading),
               SL_COMMANDS_LOOK_PARTS(options, look, NULL, sl_commands_short_samples),
               SL_COMMANDS_COMMON_PART },
};
