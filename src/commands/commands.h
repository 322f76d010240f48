/* Inside src/commands only: a command's options, what it tells its caller, and where its output goes. */
#ifndef SL_COMMANDS_H
#define SL_COMMANDS_H

#include <limits.h>
#include <pthread.h>

#include "symlaw/symlaw.h"
#include "discover/discover.h"
#include "eval/eval.h"
#include "expr/expr.h"
#include "infer/infer.h"
#include "io/io.h"
#include "pairs/pairs.h"
#include "report/report.h"
#include "search/search.h"
#include "train/train.h"
#include "universe/universe.h"

/* ---------------------------------------------------------------- calls --------------------- */

/* A public call that is under way. */
typedef struct sl_api__call {
    char line[SL_FAIL_LINE]; // what sl_last_error said before it
    bool stop;               // the callback wants no more, and the work does not know yet
} sl_api__call;

/* line := what sl_last_error says now. */
void sl_api__keep_line(char line[SL_FAIL_LINE]);
/* SL_ELIMIT: too little stack. */
SL_NODISCARD sl_status sl_api__enter(sl_api__call *c);
/* Returns st. SL_OK puts the line back: a call that succeeds leaves it alone, whatever failed
 * inside on the way. */
SL_NODISCARD sl_status sl_api__leave(const sl_api__call *c, sl_status st);

/* The body of every public function that returns a status. `work` may use `call`. */
#define SL_API__PUBLIC(work)               \
    do {                                   \
        sl_api__call call;                 \
        SL_TRY(sl_api__enter(&call));      \
        return sl_api__leave(&call, work); \
    } while (0)

/* ---------------------------------------------------------------- events -------------------- */

/* Who hears of the work. All events of one call go to one listener, from the calling thread. */
typedef struct sl_commands__listener {
    symlaw_event_fn fn; // NULL: nobody
    void *payload;
    double start;       // sl_clock() when the work began
    sl_api__call *call; // that the callback is called from
} sl_commands__listener;

/* SL_ECANCEL if the listener wants no more, or, at a progress, that of another rank. */
SL_NODISCARD sl_status sl_commands__send_event(const sl_commands__listener *l,
                                               symlaw_event_kind kind, const char *text,
                                               size_t length, double done, double total);
/* A note as printf makes it. Where it is told the work cannot stop; if the listener wants that, the
 * next progress or output does. */
SL_PRINTF(2, 3) void sl_commands__note(const sl_commands__listener *l, const char *format, ...);

/* An sl_par_stop_fn whose payload is a listener: asks it whether to stop. */
bool sl_commands__asks_to_stop(void *listener);

/* ---------------------------------------------------------------- handles ------------------- */

struct symlaw_formula {
    sl_arena arena;
    const sl_node *e;
    sl_names names;
    int params;          // fitted constants: c1 .. c<params> of e have
    const double *value; // these values
};

/* *out := a formula of its own with a copy of e. */
SL_NODISCARD sl_status sl_api__formula_of(symlaw_formula **out, const sl_node *e);
/* The same with the values of e's free constants and the names of its variables, copied too. */
SL_NODISCARD sl_status sl_api__formula_fitted(symlaw_formula **out, const sl_node *e,
                                              const double *value, int params,
                                              const sl_names *names);

struct symlaw_set {
    sl_universe *universe; // the members
    int threads;           // for building
    pthread_mutex_t lock;  // of `built`
    sl_universe *built; // the same set for symlaw_set_find; NULL until it is needed, or `universe`
};

struct symlaw_pairs {
    sl_pairs *pairs; // of the set that the caller keeps open
};

struct symlaw_pair {
    sl_arena arena;
    sl_pair pair;
};

struct symlaw_model {
    sl_infer *infer;
};

struct symlaw_discovery {
    sl_discovery *discovery;
    sl_arena arena; // of the names
    sl_names names;
    sl_units units;
    const sl_units *units_known; // those, or NULL
};

/* What a set is opened for. */
typedef enum sl_commands__need {
    SL_COMMANDS__MEMBERS, // may come from the cache, and cannot answer sl_universe_find
    SL_COMMANDS__BUILT,   // enumerated here and now: finds functions, knows what each level took
} sl_commands__need;

/* The universe of checked options, with its progress told to l, by the cache that the environment
 * names. */
SL_NODISCARD sl_status sl_commands__universe(sl_universe **out, const sl_universe_options *o,
                                             int threads, sl_commands__need need,
                                             const sl_commands__listener *l);

/* ---------------------------------------------------------------- options ------------------- */

/* A command's options are the fields of one struct of its own. It embeds the structs of modules and
 * those below, each described by the table of its folder; the command lists the tables as parts, each
 * with its place. */
typedef struct sl_commands__part {
    const sl_option_table *table; // NULL: the list ends
    size_t at;                    // offset of the table's struct in the command's
    const char *group;            // heading in --help; options of one are neighbours
    const sl_option_preset *presets; // defaults that differ here; NULL: none
} sl_commands__part;

typedef struct sl_commands__run sl_commands__run;         // below
typedef struct sl_commands__command sl_commands__command; // below

/* Options of every command: its struct begins with them. */
typedef struct sl_commands__common {
    bool json, quiet;
    int64_t seed, threads; // threads 0: one per core
} sl_commands__common;
extern const sl_option_table sl_commands__common_table;
extern const sl_option_table sl_commands__repeat_table; // seed and threads alone
#define SL_COMMANDS__COMMON_PART { &sl_commands__common_table, 0, "all commands", NULL }

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
#define SL_COMMANDS__PAIRS_PART(type, field) \
    { &sl_pairs_table, offsetof(type, field), "data", NULL }

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
    SL_COMMANDS__PAIRS_PART(type, field.pairs)

/* How formulas are looked for, in the command discover, the call and the command eval. */
typedef struct sl_commands__look {
    const char *ops; // NULL: all there are
    int64_t max_size;
    double max_memory; // in 10^9 bytes
    const char *units; // NULL: none
    double timeout;    // seconds; 0: none. Each command has a row of its own for it
    sl_discover_options discover;
} sl_commands__look;
extern const sl_option_table sl_commands__look_table;
extern const sl_option_preset sl_commands__short_samples[];
#define SL_COMMANDS__LOOK_PARTS(type, field, discover_presets, infer_presets)                     \
    { &sl_commands__look_table, offsetof(type, field), "the formulas", NULL },                    \
    { &sl_discover_table, offsetof(type, field.discover), "the work", discover_presets },         \
    { &sl_infer_table, offsetof(type, field.discover.infer), "samples", infer_presets }
#define SL_COMMANDS__TIMEOUT(type, field)                                                  \
    SL_OPTION(type, field, "timeout", .value = 0, .max = 1e9, .shown = "SECONDS",          \
              .help = "end after this time with the best so far; 0: no limit")
#define SL_COMMANDS__OUT(type)                                                             \
    SL_OPTION(type, out, "out", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",              \
              .help = "write to FILE, which appears whole or not at all; - is standard output")

/* All options of the command, with offsets in its struct. */
const sl_option_table *sl_commands__table(sl_commands__command *c);

/* Every field := its default, or what the object `given` (NULL: none) says. by_caller[i], unless NULL,
 * := row i was in the object. Texts are borrowed from `given` and from the table. SL_EINVAL names the
 * option and what it takes. */
SL_NODISCARD sl_status sl_commands__options_read(void *options, bool *by_caller,
                                                 const sl_option_table *t, const sl_json *given);
/* One of them, from JSON. */
SL_NODISCARD sl_status sl_commands__option_read(void *options, const sl_option *o,
                                                const sl_json *j);
/* The member of a configuration that has the option, by its name or its former name; NULL: none. */
const sl_json *sl_commands__option_member(const sl_json *config, const sl_option *o);
/* The field := the default that the option has in configurations of this format. */
void sl_commands__option_default(void *options, const sl_option *o, int format);
/* Adds one as a member to the object that s is in the middle of; null if it is not given. */
void sl_commands__option_write(sl_str *s, const void *options, const sl_option *o);
/* Adds them all as members to the object that s is in the middle of. */
void sl_commands__options_write(sl_str *s, const void *options, const sl_option_table *t);

/* SL_EINVAL if an output of the run is one of its inputs or another of its outputs, by whatever name;
 * the folder of a run that is an input stands for the files of the run. */
SL_NODISCARD sl_status sl_commands__files_check(const sl_commands__run *run);
/* The same of one more file that the run has by other means; what: its name in the message. */
SL_NODISCARD sl_status sl_commands__file_check(const sl_commands__run *run, const char *what,
                                          const char *path, sl_option_path use);

/* The nearest of several words, for "did you mean". Start with { word }, offer all, ask for the end
 * of a message: "; did you mean depth?" or "". */
typedef struct sl_commands__guess {
    const char *word, *best;
    int distance;
} sl_commands__guess;
void sl_commands__guess_offer(sl_commands__guess *g, const char *candidate);
const char *sl_commands__guess_text(const sl_commands__guess *g, const char *dashes,
                                    char buffer[96]);

/* ---------------------------------------------------------------- commands ------------------ */

/* A command that another one runs, as the study does train and eval. */
typedef struct sl_commands__inner {
    sl_train_guard guard; // of the folder of a run: see sl_train_config and sl_eval_options
    void *payload;
    bool alone;           // this rank alone runs it; else all do
    bool diverged;        // := a number that is not finite ended the training
} sl_commands__inner;

/* One call of a command. */
struct sl_commands__run {
    sl_commands__command *command;
    const sl_option_table *table; // the options of the command
    void *options;                // its struct
    sl_commands__common *common;  // the beginning of it
    bool *by_caller;              // by row: the caller has given it
    sl_json *kept[2];      // what options may borrow texts from, besides what the caller gave: the
                           // configuration of a resumed run, in run.json and in its checkpoint
    sl_commands__listener listener;
    sl_arena arena;     // lives as long as the call
    sl_str output;      // not handed on yet
    sl_file *file;      // where it goes; NULL: to the listener
    bool model_is_default; // nobody has named it
    bool printed;     // the verb has printed JSON itself
    bool stopped;     // the listener wanted no more, and gets what there is by now
    bool costly;      // the output took work: it is the listener's where its file cannot be written
    sl_status late;   // a failure beside the result: see sl_commands__fail_late
    char late_line[1024];
    double done, total; // of what is to be printed, for progress while a file is written
    sl_commands__inner *inner; // NULL: it is the caller's own
    int exit_code;             // of the program; 0: the usual one
};

/* Output is appended to run->output; this hands it on once there is enough to be worth it. The end
 * of the call hands on the rest. */
SL_NODISCARD sl_status sl_commands__output(sl_commands__run *run);
SL_NODISCARD sl_status sl_commands__output_begin(sl_commands__run *run,
                                                 const char *path);    // NULL: listener
SL_NODISCARD sl_status sl_commands__output_end(sl_commands__run *run); // the file appears now
/* Something beside the result failed, such as a picture: all else is handed on, then the call fails with
 * the first of such failures, whose line is the one just stored. SL_OK is none. */
void sl_commands__fail_late(sl_commands__run *run, sl_status st);
void sl_commands__output_discard(sl_commands__run *run);

/* run->options, by_caller := as of sl_commands__options_read; run->command is set. Clear it whatever the
 * answer is. */
SL_NODISCARD sl_status sl_commands__run_options(sl_commands__run *run, const sl_json *given);
void sl_commands__run_options_clear(sl_commands__run *run);
/* The row of a field of run->options, which must be one, and whether the caller has given it. */
const sl_option *sl_commands__row(const sl_commands__run *run, const void *field);
bool *sl_commands__by_caller(const sl_commands__run *run, const void *field);

/* What options say, as the structs that modules take. */
SL_NODISCARD sl_status sl_commands__universe_options(sl_universe_options *out,
                                                const sl_commands__set_options *set, int64_t seed);
/* --size becomes --width and --layers, in the run's options too; SL_EINVAL if they say otherwise.
 * shape: of run->options. */
SL_NODISCARD sl_status sl_commands__model_options(sl_model_options *out, sl_commands__run *run,
                                             sl_commands__shape *shape, int64_t variables);
/* --threads, or this rank's part of the cores. */
int sl_commands__threads(const sl_commands__run *run);

/* *chosen := the one of these fields of run->options (flags, or options without a default) that was
 * given, or NULL. SL_EINVAL if there are two: each asks for a job of its own. */
SL_NODISCARD sl_status sl_commands__one_job(const void **chosen, const sl_commands__run *run,
                                       const void *const *fields, int n);

/* What a verb does: appends members of the result object to `result`, says in *ok whether the
 * answer is a good one, and prints. Under --json the result object is printed behind it, unless
 * `printed`. */
typedef sl_status (*sl_commands__work)(sl_commands__run *run, sl_str *result, bool *ok);

enum { SL_COMMANDS__MAX_PARTS = 10, SL_COMMANDS__MAX_OPTIONS = 80 };

/* A command, or a call with options. Its rows are made when they are first asked for: see
 * sl_commands__table. */
struct sl_commands__command {
    symlaw_command_info info; // n_options is made too
    sl_commands__work work;
    size_t size; // of its struct of options
    sl_commands__part parts[SL_COMMANDS__MAX_PARTS];

    bool made;
    sl_option_table table;
    sl_option row[SL_COMMANDS__MAX_OPTIONS];
    symlaw_option_info option[SL_COMMANDS__MAX_OPTIONS];             // the same for callers
    char text[SL_COMMANDS__MAX_OPTIONS][SL_OPTION_TEXT_MAX]; // of their defaults
};

/* *result_json := as of symlaw_command (sl_free it). What it prints and notes goes to the listener. */
SL_NODISCARD sl_status sl_commands__run_inner(char **result_json, sl_commands__command *c,
                                         const char *options_json, const sl_commands__listener *l,
                                         sl_commands__inner *inner);

extern sl_commands__command sl_commands__expressions, sl_commands__pairs, sl_commands__train,
    sl_commands__discover, sl_commands__eval, sl_commands__laws, sl_commands__info,
    sl_commands__bench, sl_commands__study;

/* Members of a set as lines, or as JSON lines. */
typedef struct sl_commands__listing {
    const sl_universe *universe;
    sl_format format;
    const sl_names *names;
    int64_t sample; // that many of them at random; 0: all
    bool json;
} sl_commands__listing;
SL_NODISCARD sl_status sl_commands__list(int64_t *listed, sl_commands__run *run,
                                         const sl_commands__listing *l);

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
SL_NODISCARD sl_status sl_commands__export_pairs(sl_commands__run *run, sl_pool *pool,
                                            const sl_commands__export *x);

/* hashes: of all splits that have pairs; they take as long as making a thousand pairs of each. */
SL_NODISCARD sl_status sl_commands__identify(sl_report_identity *out, sl_pool *pool, const sl_pairs *p,
                                        bool hashes);
/* Appends " --points 32 ...": the options that have to be given to have the same pairs; nothing where
 * they are the defaults. */
void sl_commands__pairs_command(sl_str *s, const sl_commands__run *run);

/* Checks the pairs of a file; *ok when it has some and none of them is bad. Prints at most `shown`
 * bad lines and as many notes. */
SL_NODISCARD sl_status sl_commands__check_file(sl_commands__run *run, const char *path, int variables,
                                          int64_t shown, sl_str *result, bool *ok);

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
sl_commands__training *sl_commands__training_of(const sl_commands__run *run);
/* Reads and checks all that can be seen without the set. t: of run->options. Clear it whatever the
 * answer is. */
SL_NODISCARD sl_status sl_commands__setup_read(sl_commands__setup *out, sl_commands__run *run, sl_commands__training *t);
void sl_commands__setup_clear(sl_commands__setup *s);

/* The configuration of a run as JSON: what its result depends on, how often it is saved, and what a
 * resumed run has that is not known here. */
void sl_commands__run_config(sl_str *s, const sl_commands__run *run);
/* run->kept := what the run in folder `dir` was started with; both stay NULL if there is none.
 * Options that were not told become the run's, or, where it is from before they existed, their
 * defaults of that time, which are appended to *missing and noted. SL_EINVAL names one that was told
 * otherwise. */
SL_NODISCARD sl_status sl_commands__run_resume(sl_str *missing, sl_commands__run *run, const char *dir);
/* Is this option part of a run's configuration? */
bool sl_commands__run_keeps(const char *name);
/* Options that a configuration lacks: appends "name" (default); notes all of them, if there are any.
 */
void sl_commands__missing_add(sl_str *s, const void *options, const sl_option *o);
void sl_commands__missing_note(const sl_commands__listener *l, const char *missing, const char *where);
/* Adds to a failure that may come from it what the configuration lacks, if it lacks anything. */
SL_NODISCARD sl_status sl_commands__with_missing(sl_status st, const char *missing);
/* Notes what an opened model lacks and has too much: a newer checkpoint that is damaged, options that
 * its configuration does not say, members that are not known here. */
SL_NODISCARD sl_status sl_commands__model_notes(const sl_commands__listener *l, const sl_infer *m);
/* The configuration alone, and, unless text is NULL, as the text it is read from (sl_free it); NULL
 * if there is none. */
SL_NODISCARD sl_status sl_commands__run_read(sl_json **out, char **text, const char *dir);
/* *out := has the folder a run's configuration or checkpoints? */
SL_NODISCARD sl_status sl_commands__run_is_there(bool *out, const char *dir);

/* ---------------------------------------------------------------- evaluation ---------------- */

/* What a model is to be judged on. */
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
    sl_commands__common common;
    const char *model;
    int source;                   // SL_EVAL_CANDIDATES_*
    int split;                    // place in SL_COMMANDS__EVAL_SPLITS; -1: not given
    const char *pairs, *formulas; // NULL: not given
    int64_t rows, limit, max_points;
    double noise;
    int64_t digits, seeds;
    const char *budgets, *predictions, *journal, *out; // NULL: not given
    sl_commands__look look;
} sl_commands__eval_options;
#define SL_COMMANDS__EVAL_SPLITS "test|valid|withheld"

/* By --split, --pairs or --formulas, with the errors of --noise and --digits. A split is the one that
 * belongs to the model's training: the checkpoint says how its data were drawn. model NULL: data are
 * drawn by the defaults, and problems may have as many variables as the search takes. pairs_needed:
 * they are made for other problems too. Clear it whatever the answer is. */
SL_NODISCARD sl_status sl_commands__problems_open(sl_commands__problems *out, sl_commands__run *run,
                                             const sl_commands__eval_options *o,
                                             const sl_infer_info *model, bool pairs_needed);
void sl_commands__problems_clear(sl_commands__problems *p);

/* Does the search propose formulas; alone; must a model be opened? */
bool sl_commands__eval_searches(const sl_commands__eval_options *o);
bool sl_commands__eval_exhaustive(const sl_commands__eval_options *o);
bool sl_commands__eval_needs_model(const sl_commands__run *run, const sl_commands__eval_options *o);
/* With the search, options of discovery that were not given become those of "symlaw discover". */
SL_NODISCARD sl_status sl_commands__eval_search_defaults(sl_commands__run *run, sl_commands__eval_options *o);
/* --budgets, which sets --timeout; without it some times for the search, and none for a model. */
SL_NODISCARD sl_status sl_commands__eval_budgets(double out[SL_EVAL_MAX_BUDGETS], int *n,
                                            sl_commands__run *run, sl_commands__eval_options *o);
sl_search_grammar sl_commands__eval_grammar(const sl_commands__problems *p);

/* ---------------------------------------------------------------- speed --------------------- */

/* Options of the command bench. */
typedef struct sl_commands__bench_options {
    sl_commands__common common;
    int what; // gemm, train, sample; -1: not given
    int64_t steps, batch, points, tokens, lanes, samples;
    const char *model; // NULL: not given
    bool natural_end;
    sl_commands__shape shape;
    sl_optim_options optim;
} sl_commands__bench_options;
enum { SL_COMMANDS__BENCH_VARIABLES = 2 };

/* `symlaw bench sample`. */
SL_NODISCARD sl_status sl_commands__bench_sample(sl_commands__run *run, sl_str *result);

/* FLOP/s of products of n x n matrices on all threads of the pool at once, by the libraries and
 * instruction sets that training uses: the sum of each thread's fastest, in as many rounds as fit
 * `seconds`, in three at least. */
SL_NODISCARD sl_status sl_commands__gemm_rate(double *out, sl_pool *pool, int n, double seconds);
/* Large enough for the rate to be the machine's, and so short that on a busy one some products are not
 * interrupted: a millisecond. (With 1024 a machine of load 15 shows a fourth of what it can.) */
enum { SL_COMMANDS__SQUARE = 384 };
/* SL_ELIMIT with what to do about it if the plan is past --max-memory, in 10^9 bytes, or, where that is
 * 0, past what is free. */
SL_NODISCARD sl_status sl_commands__memory_check(const sl_train_plan *p, double max_memory);

/* Options of the command info. */
typedef struct sl_commands__info_options {
    sl_commands__common common;
    const char *model, *run, *plan; // NULL: not given
    int64_t ranks;
    double rate, tokens; // NaN: not given
    bool tensors;
    sl_commands__training training;
} sl_commands__info_options;

/* `symlaw info` of a weights file and of a run's folder. */
SL_NODISCARD sl_status sl_commands__info_model(sl_commands__run *run, const char *path, bool tensors,
                                          sl_str *result);
SL_NODISCARD sl_status sl_commands__info_run(sl_commands__run *run, const char *dir, sl_str *result);
/* `symlaw info` of a study's plan: what all its runs take. */
SL_NODISCARD sl_status sl_commands__info_plan(sl_commands__run *run, const sl_commands__info_options *options,
                                         sl_str *result);
/* *out := the plan of a run with so many target tokens a pair; 0: measured on the pairs of the set, or the
 * paper's, with a note, where the set cannot be built. */
SL_NODISCARD sl_status sl_commands__plan_make(sl_train_plan *out, const sl_commands__run *run,
                                         sl_commands__setup *u, double tokens);

/* ---------------------------------------------------------------- discovery ----------------- */

/* What is asked besides the options. */
typedef struct sl_commands__asked {
    const sl_infer *model; // NULL: none, or one that is opened when it is needed:
    sl_status (*open)(const sl_infer **out, void *payload);
    void *payload;
    const sl_names *names; // of the inputs, for progress
    double sigma;          // of y; 0: not known
    const sl_units *units; // NULL: not known
} sl_commands__asked;

/* sl_discover_run with threads and progress. */
SL_NODISCARD sl_status sl_commands__find(sl_discovery **out, const sl_commands__asked *asked,
                                    const sl_dataset *p, const sl_commands__run *run,
                                    const sl_commands__look *look);
/* *out := the options of discovery; those of the formulas are --ops, --max-size, --max-memory. */
SL_NODISCARD sl_status sl_commands__discover_options(sl_discover_options *out, const sl_commands__look *look,
                                                int64_t seed);

/* *model, the field of --model := what it is, or what the environment names, or the default: the result
 * records it. */
SL_NODISCARD sl_status sl_commands__model_named(const char **model, sl_commands__run *run);
/* Opens what the former named; a failure says if it is the default one. */
SL_NODISCARD sl_status sl_commands__model_open(sl_infer **out, const sl_commands__run *run, const char *path);

/* Appends the path of the model that is taken where none is named (model_default.c). SL_EINVAL: there
 * is none; the message has the places and how to get one. */
SL_NODISCARD sl_status sl_commands__model_default(sl_str *found);
/* The same with the folders given: that of the program or library, NULL if it is not known, and
 * PREFIX/share. Appends the places that have none. */
SL_NODISCARD sl_status sl_commands__model_search(sl_str *found, sl_str *looked, const char *folder,
                                            const char *data_folder);
/* The folder of the file that holds this code; false where that cannot be told. */
bool sl_commands__code_folder(char folder[PATH_MAX]);
/* Adds to a failure of opening it that it was the default model. */
SL_NODISCARD sl_status sl_commands__with_default(sl_status st);

/* ---------------------------------------------------------------- text ---------------------- */

/* Reads an expression that an option gave. `what` names it in the message ("--find"); the place of
 * a mistake is also told as an excerpt. */
SL_NODISCARD sl_status sl_commands__read_expr(const sl_node **out, sl_commands__run *run, const char *what,
                                         const char *text, sl_format format, const sl_names *names);
/* "a,b" to names in the run's arena; NULL and any number leave *out without names. */
SL_NODISCARD sl_status sl_commands__read_names(sl_names *out, sl_commands__run *run, const char *text);

#endif
