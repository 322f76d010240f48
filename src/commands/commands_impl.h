/* Inside src/commands only: options that several commands share, output, parts of commands. */
#ifndef SL_COMMANDS_IMPL_H
#define SL_COMMANDS_IMPL_H

#include <limits.h>

#include "commands/commands.h"
#include "eval/eval.h"
#include "expr/expr.h"
#include "infer/infer.h"
#include "report/report.h"
#include "search/search.h"

/* line := sl_last_error(). */
void sl_commands__keep_line(char line[SL_FAIL_LINE]);

/* ---------------------------------------------------------------- options ------------------- */

/* The set E. */
typedef struct sl_commands__set_options {
    int64_t depth, variables;
    const char *ops;
    int64_t size;
    double withheld, max_memory; // memory in 10^9 bytes
} sl_commands__set_options;
extern const sl_option_table sl_commands__set_table;
#define SL_COMMANDS__SET_PART(type, field) \
    { &sl_commands__set_table, offsetof(type, field), "the set of expressions", NULL }

/* A model by the name of its size, or by width and layers. */
typedef struct sl_commands__shape {
    int size; // place in SL_MODEL_SIZES; -1: not given
    sl_model_options model;
} sl_commands__shape;
extern const sl_option_table sl_commands__size_table;
#define SL_COMMANDS__SHAPE_PARTS(type, field)                                       \
    { &sl_commands__size_table, offsetof(type, field), "the model", NULL },         \
    { &sl_model_table, offsetof(type, field.model), "the model", NULL }
#define SL_COMMANDS__OPTIM_PART(type, field) \
    { &sl_optim_table, offsetof(type, field), "the optimizer", NULL }

/* A run of training. */
typedef struct sl_commands__training {
    sl_commands__shape shape;
    sl_train_options train;
    sl_optim_options optim;
    sl_commands__set_options set;
    sl_pairs_options pairs;
} sl_commands__training;
#define SL_COMMANDS__TRAINING_PARTS(type, field)                             \
    SL_COMMANDS__SHAPE_PARTS(type, field.shape),                             \
    { &sl_train_table, offsetof(type, field.train), "the run", NULL },       \
    SL_COMMANDS__OPTIM_PART(type, field.optim),                              \
    SL_COMMANDS__SET_PART(type, field.set),                                  \
    SL_COMMANDS_PAIRS_PART(type, field.pairs)

/* One of them, from JSON. */
SL_NODISCARD sl_status sl_commands__option_read(void *options, const sl_option *o,
                                                const sl_json *j);
/* The member of a configuration that has the option, by its name or its former name; NULL: none. */
const sl_json *sl_commands__option_member(const sl_json *config, const sl_option *o);
/* The field := the default that the option has in configurations of this format. */
void sl_commands__option_default(void *options, const sl_option *o, int format);
/* Adds one as a member to the open object of s; null if it is not given. */
void sl_commands__option_write(sl_str *s, const void *options, const sl_option *o);
/* Adds all of them as members to the open object of s. */
void sl_commands__options_write(sl_str *s, const void *options, const sl_option_table *t);

/* SL_EINVAL if an output of the run is one of its inputs or another of its outputs, under whatever
 * name. If the folder of a run is an input, so are the files of that run. */
SL_NODISCARD sl_status sl_commands__files_check(const sl_commands_run *run);
/* The same for one more file, which no option names; what: its name in the message. */
SL_NODISCARD sl_status sl_commands__file_check(const sl_commands_run *run, const char *what,
                                          const char *path, sl_option_path use);

/* A command that another one runs, as the study does train and eval. */
struct sl_commands_inner {
    sl_train_guard guard; // of the folder of a run: see sl_train_config and sl_eval_options
    void *payload;
    bool alone;           // this rank alone runs it; else all do
    bool diverged;        // := a number that is not finite ended the training
};

/* ---------------------------------------------------------------- commands ------------------ */

/* Output is appended to run->output; this passes it on once there is enough of it. The end of the
 * call passes on the rest. */
SL_NODISCARD sl_status sl_commands__output(sl_commands_run *run);
SL_NODISCARD sl_status sl_commands__output_begin(sl_commands_run *run,
                                                 const char *path);    // NULL: callback
SL_NODISCARD sl_status sl_commands__output_end(sl_commands_run *run); // the file appears now
/* A failure that does not concern the result, such as that of a picture: the result is passed on,
 * then the call fails with the first of these failures and its error line, which was just stored.
 * SL_OK is no failure. */
void sl_commands_fail_late(sl_commands_run *run, sl_status st);
void sl_commands__output_discard(sl_commands_run *run);

/* run->options, by_caller := as of sl_commands_options_read; run->command is set. Clear it whatever
 * the answer is. */
SL_NODISCARD sl_status sl_commands__run_options(sl_commands_run *run, const sl_json *given);
void sl_commands__run_options_clear(sl_commands_run *run);
/* The row of a field of run->options, which must be one, and whether the caller has given it. */
const sl_option *sl_commands__row(const sl_commands_run *run, const void *field);
bool *sl_commands__by_caller(const sl_commands_run *run, const void *field);

/* Options as the structs of modules. */
SL_NODISCARD sl_status sl_commands__universe_options(sl_universe_options *out,
                                                const sl_commands__set_options *set, int64_t seed);
/* --size sets --width and --layers, in the run's options too; SL_EINVAL if they are given and
 * differ. shape: of run->options. */
SL_NODISCARD sl_status sl_commands__model_options(sl_model_options *out, sl_commands_run *run,
                                             sl_commands__shape *shape, int64_t variables);
/* --threads, or this rank's part of the cores. */
int sl_commands__threads(const sl_commands_run *run);

/* *chosen := the one of these fields of run->options (flags, or options without a default) that was
 * given, or NULL. SL_EINVAL if two are given: each selects a job of its own. */
SL_NODISCARD sl_status sl_commands__one_job(const void **chosen, const sl_commands_run *run,
                                       const void *const *fields, int n);

/* *result_json := as of symlaw_command (sl_free it). Its output and notes go to
 * the callback of l. */
SL_NODISCARD sl_status sl_commands__run_inner(char **result_json, sl_commands_command *c,
                                         const char *options_json, const sl_commands_listener *l,
                                         sl_commands_inner *inner);

extern sl_commands_command sl_commands__expressions, sl_commands__pairs, sl_commands__train,
    sl_commands__discover, sl_commands__eval, sl_commands__laws, sl_commands__info,
    sl_commands__bench, sl_commands__fit, sl_commands__study, sl_commands__doctor;

/* Members of a set as lines, or as JSON lines. */
typedef struct sl_commands__listing {
    const sl_universe *universe;
    sl_format format;
    const sl_names *names;
    int64_t sample; // that many of them at random; 0: all
    bool json;
} sl_commands__listing;
SL_NODISCARD sl_status sl_commands__list(int64_t *listed, sl_commands_run *run,
                                         const sl_commands__listing *l);

/* ---------------------------------------------------------------- tables -------------------- */

/* sl_data_table_read with progress, up to `timeout` seconds from the start of the call (0: no
 * limit). *late := the time was over before the end of the file; then there is no table, a note
 * reports it, and the status is SL_OK. */
SL_NODISCARD sl_status sl_commands__table_read(sl_table *out, bool *late,
                                               const sl_commands_run *run, const char *path,
                                               const sl_table_options *o, double timeout);
/* The progress alone: an sl_table_progress whose payload is a listener. */
int sl_commands__table_progress(int64_t rows, int64_t bytes, int64_t size, void *listener);

/* The file's name in messages: `shown` of sl_csv_options, as a copy has another path. */
const char *sl_commands__table_shown(const char *path);
/* Makes *path a file that can be read twice. Standard input and pipes are copied to a temporary
 * file without a name (a path of /dev/fd), which exists until the caller releases `kept` (-1:
 * none). SL_ELIMIT: the input is too large for that. */
SL_NODISCARD sl_status sl_commands__table_keep(const char **path, int *kept, sl_commands_run *run);
void sl_commands__table_release(int kept);

/* The rows of the table that t was read from, with two columns more: the value of the formula and
 * what it leaves of the target. Empty where they cannot be computed. *file is committed. */
SL_NODISCARD sl_status sl_commands__discover_fitted(sl_file **file, sl_commands_run *run,
                                                    const sl_table *t, const sl_candidate *best,
                                                    const char *path, const sl_table_options *o);

/* ---------------------------------------------------------------- beside.c ------------------ */

/* *number := what --sigma is, or *column := the name that it is; 0 and NULL if it is neither.
 * SL_EINVAL: --weights is given too. */
SL_NODISCARD sl_status sl_commands__sigma_find(double *number, const char **column,
                                               const char *sigma, const char *weights);
/* f->names, target := those of the table that a terminal and a comment can take, in a. */
SL_NODISCARD sl_status sl_commands__table_names(sl_report_discovery *f, sl_arena *a,
                                                const sl_table *t);
/* *html := does the name of a picture ask for a page? */
SL_NODISCARD sl_status sl_commands__picture_find(bool *html, const char *path);
/* A file beside the result, opened before the work (path NULL: none). One that cannot be written is
 * a failure at the end of the call. */
SL_NODISCARD sl_status sl_commands__beside_open(sl_file **out, sl_commands_run *run,
                                                const char *path, const char *what);
SL_NODISCARD sl_status sl_commands__beside_write(sl_file **file, sl_str *s);

/* ---------------------------------------------------------------- pairs --------------------- */

/* How pairs are written.    id      name */
#define SL_COMMANDS__PAIR_FORMATS(X) \
    X(JSONL,  "jsonl")               \
    X(CSV,    "csv")                 \
    X(NPY,    "npy")                 \
    X(PRETTY, "pretty")

typedef enum sl_commands__pair_format {
#define X(id, name) SL_COMMANDS__PAIR_##id,
    SL_COMMANDS__PAIR_FORMATS(X)
#undef X
} sl_commands__pair_format;

/* Pairs start .. start + count - 1 of a split. */
typedef struct sl_commands__export {
    const sl_pairs *pairs;
    sl_split split;
    int64_t start, count;
    sl_commands__pair_format format;
    bool alone; // CSV: a plain table of the one pair
} sl_commands__export;
SL_NODISCARD sl_status sl_commands__export_pairs(sl_commands_run *run, sl_pool *pool,
                                            const sl_commands__export *x);

/* hashes: of all splits that have pairs; they take as long as making a thousand pairs of each. */
SL_NODISCARD sl_status sl_commands__identify(sl_report_identity *out, sl_pool *pool,
                                             const sl_pairs *p, bool hashes);
/* Appends " --points 32 ...": the options that give the same pairs; nothing if all are defaults. */
void sl_commands__pairs_command(sl_str *s, const sl_commands_run *run);

/* Checks the pairs of a file; *ok when it has some and none of them is bad. Prints at most `shown`
 * bad lines and as many notes. */
SL_NODISCARD sl_status sl_commands__check_file(sl_commands_run *run, const char *path,
                                               int variables, int64_t shown, sl_str *result,
                                               bool *ok);

/* ---------------------------------------------------------------- training ------------------ */

/* A run as the options describe it. `model` is owned. */
typedef struct sl_commands__setup {
    sl_universe_options universe;
    sl_pairs_options pairs;
    sl_train_config config; // its pairs, config_json and out are the caller's to set
    sl_model *model;
    int threads;
} sl_commands__setup;
/* The training of the options of a run of `train`. */
sl_commands__training *sl_commands__training_of(const sl_commands_run *run);
/* Reads and checks everything that does not need the set. t: of run->options. Clear it whatever is
 * returned. */
SL_NODISCARD sl_status sl_commands__setup_read(sl_commands__setup *out, sl_commands_run *run,
                                               sl_commands__training *t);
void sl_commands__setup_clear(sl_commands__setup *s);

/* The configuration of a run as JSON: the options that its result depends on, how often it is
 * saved, and unknown members of a resumed run. */
void sl_commands__run_config(sl_str *s, const sl_commands_run *run);
/* run->kept := what the run in folder `dir` was started with; both stay NULL if there is none.
 * Options that the caller did not give become the run's. Options newer than the run get their
 * defaults of that time, are appended to *missing and noted. SL_EINVAL names an option that the
 * caller gave with another value. */
SL_NODISCARD sl_status sl_commands__run_resume(sl_str *missing, sl_commands_run *run,
                                               const char *dir);
/* Is this option part of a run's configuration? */
bool sl_commands__run_keeps(const char *name);
/* Options that a configuration lacks: appends "name" (default); notes all of them, if there are
 * any. */
void sl_commands__missing_add(sl_str *s, const void *options, const sl_option *o);
void sl_commands__missing_note(const sl_commands_listener *l, const char *missing,
                               const char *where);
/* Adds the options that the configuration lacks to the message of a failure that they may cause. */
SL_NODISCARD sl_status sl_commands__with_missing(sl_status st, const char *missing);
/* Notes about an opened model: a newer checkpoint that is damaged, options that its configuration
 * lacks, unknown members. */
SL_NODISCARD sl_status sl_commands__model_notes(const sl_commands_listener *l, const sl_infer *m);
/* The configuration alone and, unless text is NULL, its text (sl_free it); NULL if there is
 * none. */
SL_NODISCARD sl_status sl_commands__run_read(sl_json **out, char **text, const char *dir);
/* *out := has the folder a run's configuration or checkpoints? */
SL_NODISCARD sl_status sl_commands__run_is_there(bool *out, const char *dir);

/* ---------------------------------------------------------------- evaluation ---------------- */

/* The problems of an evaluation. */
typedef struct sl_commands__problems {
    sl_universe *universe; // of the model's training, where it is needed; else NULL
    sl_pairs *pairs;
    sl_eval_source source;
    int variables; // most that a problem may have
    int skipped;   // formulas that have more, or no values
    char hash[33]; // of all problems, as the model and the judge see them
} sl_commands__problems;
/* Options of the command eval. */
typedef struct sl_commands__eval_options {
    sl_commands_common common;
    const char *model;
    int source;                   // SL_EVAL_CANDIDATES_*
    int split;                    // place in SL_COMMANDS__EVAL_SPLITS; -1: not given
    const char *pairs, *formulas; // NULL: not given
    int64_t rows, limit, max_points;
    double noise;
    int64_t digits, seeds;
    const char *budgets, *predictions, *journal, *out; // NULL: not given
    sl_commands_look look;
} sl_commands__eval_options;
#define SL_COMMANDS__EVAL_SPLITS "test|valid|withheld"

/* By --split, --pairs or --formulas, with the errors of --noise and --digits. A split belongs to
 * the model's training: the checkpoint has the options that its data were drawn with. model NULL:
 * data are drawn by the defaults, and problems may have as many variables as the search takes.
 * pairs_needed: they are made for other problems too. Clear it whatever is returned. */
SL_NODISCARD sl_status sl_commands__problems_open(sl_commands__problems *out, sl_commands_run *run,
                                             const sl_commands__eval_options *o,
                                             const sl_infer_info *model, bool pairs_needed);
void sl_commands__problems_clear(sl_commands__problems *p);

/* Does the search propose formulas; alone; must a model be opened? */
bool sl_commands__eval_searches(const sl_commands__eval_options *o);
bool sl_commands__eval_exhaustive(const sl_commands__eval_options *o);
bool sl_commands__eval_needs_model(const sl_commands_run *run, const sl_commands__eval_options *o);
/* With the search, options of discovery that were not given become those of "symlaw discover". */
SL_NODISCARD sl_status sl_commands__eval_search_defaults(sl_commands_run *run,
                                                         sl_commands__eval_options *o);
/* --budgets, which sets --timeout; without it some times for the search, and none for a model. */
SL_NODISCARD sl_status sl_commands__eval_budgets(double out[SL_EVAL_MAX_BUDGETS], int *n,
                                            sl_commands_run *run, sl_commands__eval_options *o);
sl_search_grammar sl_commands__eval_grammar(const sl_commands__problems *p);

/* ---------------------------------------------------------------- speed --------------------- */

/* Options of the command bench. */
typedef struct sl_commands__bench_options {
    sl_commands_common common;
    int what; // gemm, train, sample; -1: not given
    int64_t steps, batch, points, tokens, lanes, samples;
    const char *model; // NULL: not given
    bool natural_end;
    sl_commands__shape shape;
    sl_optim_options optim;
} sl_commands__bench_options;
enum { SL_COMMANDS__BENCH_VARIABLES = 2 };

/* `symlaw bench sample`. */
SL_NODISCARD sl_status sl_commands__bench_sample(sl_commands_run *run, sl_str *result);

/* FLOP/s of products of n x n matrices on all threads of the pool at once, by the libraries and
 * instruction sets that training uses: the sum of each thread's fastest, in as many rounds as fit
 * `seconds`, in three at least. */
SL_NODISCARD sl_status sl_commands__gemm_rate(double *out, sl_pool *pool, int n, double seconds);
/* Large enough for the rate to be the machine's, and so short that on a busy one some products
 * are not interrupted: a millisecond. (With 1024 a machine of load 15 shows a fourth of what it
 * can.) */
enum { SL_COMMANDS__SQUARE = 384 };
/* SL_ELIMIT, with a remedy in the message, if the plan needs more than --max-memory, in 10^9 bytes,
 * or, where that is 0, more than is free. */
SL_NODISCARD sl_status sl_commands__memory_check(const sl_train_plan *p, double max_memory);

/* Options of the command info. */
typedef struct sl_commands__info_options {
    sl_commands_common common;
    const char *model, *run, *plan, *table; // NULL: not given
    int64_t ranks;
    double rate, tokens; // NaN: not given
    bool tensors;
    sl_commands_reading reading; // of the table
    sl_commands__training training;
} sl_commands__info_options;

/* `symlaw info` of a weights file and of a run's folder. */
SL_NODISCARD sl_status sl_commands__info_model(sl_commands_run *run, const char *path, bool tensors,
                                          sl_str *result);
SL_NODISCARD sl_status sl_commands__info_run(sl_commands_run *run, const char *dir, sl_str *result);
/* `symlaw info` of a table: its columns, and which of them discover would use. */
SL_NODISCARD sl_status sl_commands__info_table(sl_commands_run *run,
                                               const sl_commands__info_options *options,
                                               sl_str *result);
/* `symlaw info` of a study's plan: the cost of all its runs. */
SL_NODISCARD sl_status sl_commands__info_plan(sl_commands_run *run,
                                              const sl_commands__info_options *options,
                                              sl_str *result);
/* *out := the plan of a run with so many target tokens a pair; 0: measured on the pairs of the set,
 * or the paper's, with a note, where the set cannot be built. */
SL_NODISCARD sl_status sl_commands__plan_make(sl_train_plan *out, const sl_commands_run *run,
                                         sl_commands__setup *u, double tokens);

/* ---------------------------------------------------------------- models -------------------- */

/* *model, the field of --model := its value, or the path that the environment names, or the default
 * model, so that the result records it. */
SL_NODISCARD sl_status sl_commands__model_named(const char **model, sl_commands_run *run);
/* Opens that model; a failure says whether it is the default one. */
SL_NODISCARD sl_status sl_commands__model_open(sl_infer **out, const sl_commands_run *run,
                                               const char *path);

/* The same with the folders given: that of the program or library, NULL if it is not known, and
 * PREFIX/share. Appends the places that have none. */
SL_NODISCARD sl_status sl_commands__model_search(sl_str *found, sl_str *looked, const char *folder,
                                            const char *data_folder);

/* Appends share/symlaw/NAME as it is found from these folders; false where there is none. */
bool sl_commands__share_search(sl_str *found, sl_str *looked, const char *folder,
                               const char *data_folder, const char *name);
/* Appends the path to `found` if it exists, else to `looked`. */
bool sl_commands__file_try(sl_str *found, sl_str *looked, const char *path);
/* The folder of the file that holds this code; false where it is unknown. */
bool sl_commands__code_folder(char folder[PATH_MAX]);
extern const char sl_commands__data_folder[]; // PREFIX/share

/* ---------------------------------------------------------------- formulas to paste --------- */

/* Choices of --format where a formula is the result: a table, or a format of SL_FORMATS, of which
 * json is the whole result. */
enum { SL_COMMANDS__FORMAT_TABLE };
#define SL_COMMANDS__FORMAT_NAME(id, name, reads) "|" name
#define SL_COMMANDS__FORMATS "table" SL_FORMATS(SL_COMMANDS__FORMAT_NAME)
static inline sl_format sl_commands__format(int choice) { return (sl_format)(choice - 1); }

/* What is printed. */
typedef enum sl_commands__style {
    SL_COMMANDS__TABLE,
    SL_COMMANDS__JSON,
    SL_COMMANDS__PASTE
} sl_commands__style;
/* By --format, a field of run->options, and --json. SL_EINVAL: they differ. */
SL_NODISCARD sl_status sl_commands__style_find(sl_commands__style *out, const sl_commands_run *run,
                                               const int *format);

/* ---------------------------------------------------------------- text ---------------------- */

/* Reads an expression that an option gave. `what` names it in the message ("--find"); the place of
 * a mistake is also reported as an excerpt. */
SL_NODISCARD sl_status sl_commands__read_expr(const sl_node **out, sl_commands_run *run,
                                              const char *what, const char *text, sl_format format,
                                              const sl_names *names);
/* "a,b" to names in the run's arena; NULL and any number leave *out without names. */
SL_NODISCARD sl_status sl_commands__read_names(sl_names *out, sl_commands_run *run,
                                               const char *text);

#endif
