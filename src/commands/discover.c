/* cmd_discover - the verb `discover`: its options, and the way from a file to what is printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

#define OWN_OPTIONS(X)                                                                          \
    X(FILE, "file", FILE_IN, 1, "FILE", NULL, NULL, 0, 0,                                       \
      "the table: CSV or TSV, also packed by gzip; - is standard input")                        \
    X(MODEL, "model", FILE_IN, 1, "MODEL", NULL, NULL, 0, 0,                                    \
      "a run's folder or a file of weights; if it is not given, what SYMLAW_MODEL names, or "   \
      "runs/best.safetensors, or the model that is installed with the program; without any, "   \
      "the search works alone")                                                                 \
    X(TARGET, "target", TEXT, 1, "COLUMN", NULL, NULL, 0, 0,                                    \
      "column to explain, by name or number; if it is not given, y or target, or the last one") \
    X(INPUTS, "inputs", TEXT, 1, "COLUMNS", NULL, NULL, 0, 0,                                   \
      "columns to explain it by, with commas between; if it is not given, the strongest ones")  \
    X(SEPARATOR, "separator", TEXT, 1, "S", "auto", NULL, 0, 0,                                 \
      "between cells: auto, comma, semicolon, tab, bar, or a character")                        \
    X(HEADER, "header", CHOICE, 1, "HOW", "auto", "auto|yes|no", 0, 0,                          \
      "has the first row names; auto: if one of its cells is no number")                        \
    X(SIGMA, "sigma", TEXT, 1, "WHAT", NULL, NULL, 0, 0,                                        \
      "standard deviation of the target's errors: a value, or the name of a column with that "  \
      "of each row; if it is not given, it is estimated")                                       \
    X(WEIGHTS, "weights", TEXT, 1, "COLUMN", NULL, NULL, 0, 0,                                  \
      "column with the weight of each row: 1/variance up to a factor")                          \
    X(MAX_ROWS, "max-rows", INT, 1, "N", "100000", NULL, 2, 1e9,                                \
      "rows to keep in memory, evenly sampled where there are more")                            \
    X(TOP, "top", INT, 1, "N", "6", NULL, 1, 1e9, "formulas of the front to show")              \
    X(ALL, "all", FLAG, 0, NULL, "false", NULL, 0, 0, "show every candidate with its status")   \
    X(CANDIDATES, "candidates", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                          \
      "write every candidate as a row of CSV")                                                  \
    X(FORMAT, "format", CHOICE, 1, "FORMAT", "table", "table|json|latex|python|c|sympy", 0, 0,  \
      "a table, JSON, or the best formula alone, ready to paste")                               \
    X(PLOT, "plot", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                      \
      "draw data, formula and residuals: FILE.svg, or FILE.html with the table")                \
    X(OUT, "out", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0,                                        \
      "write to FILE, which appears whole or not at all; - is standard output")                 \
    SL_COMMANDS__TIMEOUT(X)

enum {
    OWN_OPTIONS(SL_COMMANDS__ID) SL_COMMANDS__SEARCH(SL_COMMANDS__ID)
        SL_DISCOVER_TABLE(SL_COMMANDS__TABLE_ID) SL_INFER_SHORT_TABLE(SL_COMMANDS__TABLE_ID)
            SL_COMMANDS__COMMON(SL_COMMANDS__ID) OPT_COUNT_ALL
};

static const symlaw_option_info options[] = { OWN_OPTIONS(SL_COMMANDS__OPTION)                //
                                              SL_COMMANDS__SEARCH(SL_COMMANDS__SEARCH_OPTION) //
                                              SL_DISCOVER_TABLE(SL_COMMANDS__DISCOVER_OPTION) //
                                              SL_INFER_SHORT_TABLE(SL_COMMANDS__INFER_OPTION) //
                                              SL_COMMANDS__COMMON(SL_COMMANDS__COMMON_OPTION) };

static const char help[] =
    "Finds the formula behind a table of numbers. The first line is the answer: the\n"
    "formula of least description length, which is the bits of the formula and of\n"
    "what it leaves of the data. Behind it comes the front: the best formula of\n"
    "each size, with its error. If nothing is as good as the noise allows, the\n"
    "answer says so.\n"
    "\n"
    "Examples:\n"
    "  symlaw discover data.csv                      the last column, by the others\n"
    "  symlaw discover a.csv b.csv c.csv             one after the other\n"
    "  symlaw discover data.csv --target T --inputs a,m\n"
    "  symlaw discover data.csv --ops sqrt,exp --max-size 12\n"
    "  symlaw discover data.csv --units m=kg,v=m/s,E=J\n"
    "  symlaw discover data.csv --sigma 0.02         or the name of a column\n"
    "  symlaw discover data.csv --holdout 0.2        also judge by rows kept aside\n"
    "  symlaw discover data.csv --format python      only the formula, to paste\n"
    "  symlaw discover data.csv --plot fit.html      a picture with it\n"
    "  symlaw discover data.csv --candidates all.csv every formula that was tried\n"
    "  zcat big.csv.gz | symlaw discover - --timeout 10 --effort high\n"
    "\n"
    "Two engines propose formulas (--search). The search enumerates them, with real\n"
    "constants and powers, for up to 16 inputs; it needs no model and most laws\n"
    "take it milliseconds. Where it finds nothing within the noise, a model is\n"
    "asked for samples; their constants are fitted, and parts of them join a second\n"
    "search. Constants near integers or small fractions are rounded when the fit\n"
    "does not worsen.\n"
    "\n"
    "A small model comes with the program. Larger ones come from \"symlaw train\":\n"
    "name one with --model, or once and for all with the variable SYMLAW_MODEL.\n"
    "Without these runs/best.safetensors is taken, where a study leaves its best\n"
    "model, and else the one that is installed. A model takes as many inputs as it\n"
    "was trained on, two as a rule, and is shown those that explain most of the\n"
    "target's variance. Of more than 16 columns those that explain most are taken,\n"
    "and the table says so.\n"
    "\n"
    "Tables: cells between commas, semicolons, tabs, bars or blanks, in quotes or\n"
    "not, with or without a header, any column names. Rows with an empty cell, NA,\n"
    "NaN or an infinity where a number is needed are dropped and counted. Text in a\n"
    "column of numbers is an error that names row and column. A unit in a name, as\n"
    "in \"v (m/s)\", is the column's unit, and v is its name. Formulas whose units do\n"
    "not agree are left out; a constant has the unit that makes them agree.\n"
    "\n"
    "Figures: error and R2 are of the rows that were fitted; --holdout keeps rows\n"
    "aside for an honest second R2. Constants have standard errors and are shown as\n"
    "far as these leave digits, or as many as the formula needs to be real in every\n"
    "row and to keep its R2; JSON and formulas to paste have all digits. \"by\n"
    "chance: 1 in 2^50\" says how often data without a law would let a search of\n"
    "this length find a formula as good. SymPy text has columns as x1, x2, ...,\n"
    "Python and C only those whose name is no word of the language; a comment says\n"
    "which.\n"
    "\n"
    "How much work is done is up to --effort, so the answer is the same for any\n"
    "number of threads. --timeout ends it earlier, counted from the start and with\n"
    "reading, with the best so far, which is marked as cut; the exit code is that of\n"
    "any other answer. Ctrl-C shows the best so far too, with exit code 130. The\n"
    "exit code is 1 when no formula was found, and 3 when --plot, --candidates or\n"
    "--out could not be written: the formula is printed all the same.\n"
    "\n"
    "Memory: the search keeps to --max-memory, 1 GB if it is not given. Where it\n"
    "finds nothing it takes up to 0.35 GB with --effort low, 0.85 GB with normal,\n"
    "and more with high. Steps that do not fit are left out or cut short; the answer\n"
    "says which, and from which --max-memory on more of them fit.";

static const sl_commands__value *value(const sl_commands__run *run, int option) {
    return &run->values[option];
}

/* ---------------------------------------------------------------- what was asked for -------- */

/* What is printed. */
typedef enum style { STYLE_TABLE, STYLE_JSON, STYLE_PASTE } style;

static sl_status find_style(style *out, const sl_commands__run *run) {
    const char *format = value(run, OPT_FORMAT)->text[0];
    const bool json = value(run, OPT_JSON)->flag, table = strcmp(format, "table") == 0;
    *out = table ? STYLE_TABLE : strcmp(format, "json") == 0 ? STYLE_JSON : STYLE_PASTE;
    if (json && *out == STYLE_PASTE)
        return sl_fail(SL_EINVAL, "--json prints JSON, --format %s does not; give one of them",
                       format);
    if (json) *out = STYLE_JSON;
    return SL_OK;
}

static sl_status find_separator(char *out, const sl_commands__run *run) {
    static const struct {
        const char *name;
        char is;
    } known[] = {
        { "auto", '\0' }, { "comma", ',' }, { "semicolon", ';' },
        { "tab", '\t' },  { "bar", '|' },   { "\\t", '\t' },
    };
    const char *text = value(run, OPT_SEPARATOR)->text[0];
    for (int i = 0; i < SL_LEN(known); i++)
        if (strcmp(text, known[i].name) == 0) {
            *out = known[i].is;
            return SL_OK;
        }
    // what a number or a quoted cell may hold cannot stand between cells
    if (strlen(text) != 1 || (unsigned char)*text >= 0x80 || strchr("\"'+-.\r\n", *text) ||
        (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'z') ||
        (*text >= 'A' && *text <= 'Z'))
        return sl_fail(SL_EINVAL,
                       "--separator must be auto, comma, semicolon, tab, bar or one character "
                       "such as ':', not \"%.40s\"",
                       text);
    *out = *text;
    return SL_OK;
}

/* *html := does the picture's name ask for a page? */
static sl_status find_picture(bool *html, const char *path) {
    const char *end = strrchr(path, '.');
    *html = end && (strcmp(end, ".html") == 0 || strcmp(end, ".htm") == 0);
    if (*html || (end && strcmp(end, ".svg") == 0)) return SL_OK;
    return sl_fail(SL_EINVAL, "--plot draws FILE.svg or FILE.html, not \"%.200s\"", path);
}

/* The model's inputs, where it alone is asked. */
static int most_inputs(const sl_infer *model, int search) {
    if (search != SL_DISCOVER_MODEL) return SL_DATA_MAX_INPUTS;
    return SL_MIN(sl_infer_about(model)->variables, SL_TOKEN_VARIABLES);
}

/* *value := the number that --sigma is, or *column := the name that it is. */
static sl_status find_sigma(double *number, const char **column, const sl_commands__run *run) {
    const char *text = value(run, OPT_SIGMA)->text[0];
    char *end;
    *number = 0;
    *column = NULL;
    if (!text) return SL_OK;
    if (value(run, OPT_WEIGHTS)->text[0])
        return sl_fail(SL_EINVAL, "--sigma and --weights both say how good rows are; give one");
    const double x = sl_strtod(text, &end);
    if (end == text || *end) {
        *column = text;
        return SL_OK;
    }
    if (!(x > 0) || isinf(x))
        return sl_fail(SL_EINVAL, "--sigma must be a number above 0 or a column, not \"%.40s\"",
                       text);
    *number = x;
    return SL_OK;
}

static sl_status table_options(sl_table_options *out, const sl_commands__run *run, int most) {
    const char *header = value(run, OPT_HEADER)->text[0];
    *out = (sl_table_options)SL_TABLE_OPTIONS_INIT;
    out->target = value(run, OPT_TARGET)->text[0];
    out->inputs = value(run, OPT_INPUTS)->text[0];
    double sigma;
    SL_TRY(find_sigma(&sigma, &out->sigma, run));
    out->weights = value(run, OPT_WEIGHTS)->text[0];
    out->csv.header = strcmp(header, "auto") == 0 ? -1 : strcmp(header, "yes") == 0;
    out->max_inputs = most;
    out->max_rows = value(run, OPT_MAX_ROWS)->whole;
    out->seed = (uint64_t)value(run, OPT_SEED)->whole;
    return find_separator(&out->csv.separator, run);
}

/* ---------------------------------------------------------------- reading ------------------- */

typedef struct reading {
    const sl_commands__listener *listener;
    double deadline; // 0: none
    int64_t rows;
    bool late;
} reading;

/* A small table is read to its end even if opening the model took all the time: what needs no model
 * is found in no time. */
static const double grace = 0.1; // seconds

static int on_rows(int64_t rows, int64_t bytes, int64_t size, void *payload) {
    reading *r = payload;
    char text[64], digits[32];
    r->rows = rows;
    r->late = r->deadline > 0 && sl_clock() > r->deadline + grace;
    sl_snprintf(text, sizeof text, "reading, %s rows", sl_group_digits(digits, rows));
    return r->late || sl_commands__send_event(r->listener, SYMLAW_EVENT_PROGRESS, text,
                                              strlen(text), (double)bytes, (double)size) != SL_OK;
}

/* *late := the time was over before the end of the file; then there is no table. */
static sl_status read_table(sl_table *out, bool *late, const sl_commands__run *run, int most) {
    const char *path = value(run, OPT_FILE)->text[0];
    const double timeout = value(run, OPT_TIMEOUT)->real;
    sl_table_options o;
    reading r = { .listener = &run->listener };
    r.deadline = sl_deadline(run->listener.start, timeout);
    SL_TRY(table_options(&o, run, most));
    sl_status st = sl_data_table_read(out, path, &o, on_rows, &r);
    *late = st == SL_ECANCEL && r.late;
    if (!*late) return st;
    sl_commands__note(
        &run->listener,
        "nothing was found: the time limit of %g s was reached while reading %.200s, at row "
        "%lld",
        timeout, path, (long long)r.rows);
    return SL_OK;
}

static bool is_constant(const sl_table *t) {
    for (int64_t i = 1; i < t->rows; i++)
        if (t->y[i] != t->y[0]) return false;
    return true;
}

/* Names that a terminal and a comment can take. */
static sl_status take_names(sl_report_discovery *f, sl_arena *a, const sl_table *t) {
    const char **names = sl_arena_alloc(a, SL_DATA_MAX_INPUTS * sizeof *names);
    bool good = names;
    for (int i = 0; i < t->inputs && good; i++) {
        names[i] = sl_text_visible(a, t->names[i]);
        good = names[i];
    }
    f->target = good ? sl_text_visible(a, t->target) : NULL;
    if (!f->target) return sl_fail(SL_ENOMEM, "no memory for names of columns");
    f->names = (sl_names){ names, t->inputs };
    return SL_OK;
}

/* ---------------------------------------------------------------- files beside the result --- */

/* The picture and the list of candidates. Opened before the work, so that a name that cannot be
 * written is known at once; the formula is wanted all the same. */
typedef struct beside {
    sl_file *plot, *candidates;
    bool html; // of the picture
} beside;

static sl_status open_file(sl_file **out, sl_commands__run *run, const char *path,
                           const char *what) {
    if (!path) return SL_OK;
    const sl_status st = sl_file_create(out, path);
    if (st != SL_EIO) return st;
    sl_commands__fail_late(run, st);
    sl_commands__note(&run->listener, "there will be no %s: %s", what, run->late_line);
    return SL_OK;
}

static sl_status write_file(sl_file **file, sl_str *s) {
    SL_TRY(sl_str_status(s));
    SL_TRY(sl_file_write(*file, s->text, s->len));
    return sl_file_commit(file);
}

static sl_status draw(sl_file **file, bool html, const sl_report_discovery *f) {
    sl_str s = { 0 };
    sl_status st = sl_report_discovery_picture(&s, f, html);
    if (st == SL_OK) st = write_file(file, &s);
    sl_str_clear(&s);
    return st;
}

static sl_status write_candidates(sl_file **file, const sl_report_discovery *f) {
    sl_str s = { 0 };
    sl_status st = sl_report_discovery_csv(&s, f);
    if (st == SL_OK) st = write_file(file, &s);
    sl_str_clear(&s);
    return st;
}

static void write_beside(sl_commands__run *run, beside *b, const sl_report_discovery *f) {
    if (!f->discovery) return;
    if (b->plot && f->discovery->ranked > 0)
        sl_commands__fail_late(run, draw(&b->plot, b->html, f));
    if (b->candidates) sl_commands__fail_late(run, write_candidates(&b->candidates, f));
}

/* ---------------------------------------------------------------- the model ----------------- */

/* The one that is asked, opened when it is needed. */
typedef struct source {
    sl_commands__run *run;
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
        sl_api__keep_line(m->line);
        m->note = m->line;
        sl_commands__note(&m->run->listener, "the model was not used: %s", m->line);
        return SL_OK;
    }
    *out = m->model;
    return sl_commands__model_notes(&m->run->listener, m->model);
}

static bool has_default(void) {
    sl_str path = { 0 };
    const bool there = sl_commands__model_default(&path) != SL_EINVAL; // else naming it tells why
    sl_str_clear(&path);
    return there;
}

/* A model that was named must be there; one that is found may be missing where the search works
 * too. */
static sl_status find_model(source *m, sl_commands__run *run, int search) {
    const char *named = getenv("SYMLAW_MODEL");
    const bool told = value(run, OPT_MODEL)->told || (named && *named);
    m->run = run;
    if (search == SL_DISCOVER_EXHAUSTIVE) {
        m->note = "not used: --search exhaustive";
        if (!value(run, OPT_MODEL)->told) return SL_OK;
        return sl_fail(SL_EINVAL,
                       "--model names a model and --search exhaustive asks none; give one of them");
    }
    if (search == SL_DISCOVER_BOTH && !told && !has_default()) {
        m->note = "none found; \"symlaw train\" makes one";
        return SL_OK;
    }
    SL_TRY(sl_commands__model_named(&m->path, run));
    m->note = "not used: the search found the formula";
    if (!told && search == SL_DISCOVER_BOTH) return SL_OK; // when it is needed
    SL_TRY(sl_commands__model_open(&m->model, run, m->path));
    return sl_commands__model_notes(&run->listener, m->model);
}

/* ---------------------------------------------------------------- the work ------------------ */

static void note(void *run, const char *name, const char *sentence) {
    sl_commands__note(&((sl_commands__run *)run)->listener, "%s: %s", name, sentence);
}

static sl_status print(sl_commands__run *run, const sl_report_discovery *f, style how) {
    switch (how) {
    case STYLE_TABLE: SL_TRY(sl_report_discovery_table(&run->output, f)); break;
    case STYLE_PASTE:
        SL_TRY(sl_report_discovery_paste(&run->output, f,
                                         sl_expr_format_find(value(run, OPT_FORMAT)->text[0])));
        if (f->discovery) sl_report_discovery_notes(f, note, run);
        break;
    case STYLE_JSON: run->values[OPT_JSON].flag = true; // the result is what is printed
    }
    return sl_commands__output(run);
}

/* Who wants no more now gets what there is all the same, since the work is done. */
static void ask_once_more(sl_commands__run *run) {
    static const char what[] = "printing";
    if (sl_commands__send_event(&run->listener, SYMLAW_EVENT_PROGRESS, what, strlen(what), 1, 1) !=
        SL_OK)
        run->stopped = true;
}

/* The table is read; the rest of the finding. */
static sl_status discover(sl_report_discovery *f, sl_discovery **found, source *m,
                          sl_commands__run *run) {
    const char *column;
    double sigma;
    SL_TRY(find_sigma(&sigma, &column, run));
    f->constant = is_constant(f->table);
    SL_TRY(take_names(f, &run->arena, f->table));
    const sl_commands__asked asked = { .model = m->model,
                                       .open = m->model ? NULL : open_late,
                                       .payload = m,
                                       .names = &f->names,
                                       .sigma = sigma,
                                       .units = f->units };
    SL_TRY(sl_commands__find(found, &asked, f->problem, run));
    f->discovery = *found;
    f->model = f->discovery->model_asked ? m->model : NULL;
    f->model_note = m->note;
    run->stopped = f->discovery->cut == SL_CUT_CANCEL;
    return SL_OK;
}

static sl_status find(sl_commands__run *run, source *m, int search, beside *files, style how,
                      sl_str *result, bool *ok) {
    sl_status st;
    bool late = false;
    sl_table table = { 0 };
    sl_problem rows;
    sl_discovery *found = NULL;
    sl_report_discovery f = { .file = value(run, OPT_FILE)->text[0],
                              .seed = (uint64_t)value(run, OPT_SEED)->whole,
                              .all = value(run, OPT_ALL)->flag,
                              .top = value(run, OPT_TOP)->whole };
    const double start = sl_clock();
    SL_GO(read_table(&table, &late, run, most_inputs(m->model, search)));
    f.read_seconds = sl_clock() - start;
    if (!late) {
        rows = sl_data_table_problem(&table);
        f.table = &table;
        f.problem = &rows;
        SL_GO(sl_data_units_known(&f.units, &table.units, value(run, OPT_UNITS)->text[0],
                                  (const char *const *)table.names, table.inputs, table.target));
        SL_GO(discover(&f, &found, m, run));
    }
    if (found) f.top = f.all ? found->count : SL_MIN(f.top, found->ranked); // those that have R2
    *ok = f.discovery && f.discovery->ranked > 0;
    write_beside(run, files, &f);
    ask_once_more(run);
    SL_GO(sl_report_discovery_json(result, &f));
    st = print(run, &f, how);
done:
    sl_discover_free(found);
    sl_data_table_clear(&table);
    return st;
}

/* What can be said without the table. */
static sl_status check(style *how, beside *files, sl_discover_options *o, sl_commands__run *run) {
    const char *picture = value(run, OPT_PLOT)->text[0], *file = value(run, OPT_FILE)->text[0];
    char separator;
    double sigma;
    const char *column;
    if (!file || !*file)
        return sl_fail(SL_EINVAL,
                       "missing input file: symlaw discover FILE, or - for standard input");
    SL_TRY(find_style(how, run));
    SL_TRY(find_separator(&separator, run));
    SL_TRY(find_sigma(&sigma, &column, run));
    if (picture) SL_TRY(find_picture(&files->html, picture));
    sl_commands__discover_options(o, run);
    SL_TRY(sl_commands__search_options(&o->exhaustive, run));
    return sl_discover_options_check(o);
}

static sl_status work(sl_commands__run *run, sl_str *result, bool *ok) {
    style how;
    sl_discover_options o;
    beside files = { .html = false };
    source m = { .path = NULL };
    SL_TRY(check(&how, &files, &o, run));
    sl_status st;
    run->costly = true;
    SL_GO(open_file(&files.plot, run, value(run, OPT_PLOT)->text[0], "picture"));
    SL_GO(open_file(&files.candidates, run, value(run, OPT_CANDIDATES)->text[0],
                    "list of candidates"));
    SL_GO(find_model(&m, run, o.search));
    st = find(run, &m, o.search, &files, how, result, ok);
done:
    sl_file_discard(&files.plot);
    sl_file_discard(&files.candidates);
    sl_infer_close(m.model);
    return st;
}

const sl_commands__command sl_commands__discover = {
    .info = { .name = "discover",
              .summary = "find the formula behind a table of numbers",
              .help = help,
              .options = options,
              .n_options = SL_LEN(options),
              .positional = "file",
              .repeats = 1 },
    .work = work,
};
