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

enum { SL_COMMANDS__MAX_ARITY = 2 };

/* What an option is set to; which member counts is up to its type. */
typedef struct sl_commands__value {
    bool given; // by the caller, or by a default
    bool told;  // by the caller
    bool flag;
    int64_t whole;
    double real;
    const char *text[SL_COMMANDS__MAX_ARITY]; // TEXT, CHOICE, FILE, FOLDER use the first
} sl_commands__value;

/* Rows that every command has. A command's own list ends with them, and an X over that list makes
 * the table and an enum of the same order. Each list of rows has an X of its own for the table, since
 * the heading they stand under in --help is not repeated in every row.
 *    id        name       type  values  shown  default  choices  min  max  help */
#define SL_COMMANDS__COMMON(X) SL_COMMANDS__SPEECH(X) SL_COMMANDS__REPEAT(X)
#define SL_COMMANDS__SPEECH(X)                                                             \
    X(JSON, "json", FLAG, 0, NULL, "false", NULL, 0, 0,                                    \
      "print JSON: one object, or one object a line for a listing")                        \
    X(QUIET, "quiet", FLAG, 0, NULL, "false", NULL, 0, 0, "show no progress and no notes")
#define SL_COMMANDS__REPEAT(X)                                                             \
    X(SEED, "seed", INT, 1, "N", "0", NULL, 0, 9007199254740991.0,                         \
      "seed of everything random; the same seed gives the same result")                    \
    X(THREADS, "threads", INT, 1, "N", "0", NULL, 0, 1024,                                 \
      "threads to work with; 0: one per core; results do not depend on it")

/* Rows of every command that needs the set E. What its size is called is up to the command: where
 * there is a model, --size is the model's. */
#define SL_COMMANDS__UNIVERSE_BUT_SIZE(X, size)                                              \
    X(DEPTH, "depth", INT, 1, "N", "3", NULL, 0, SL_UNIVERSE_MAX_DEPTH,                      \
      "expressions up to this depth; variables have depth 0")                                \
    X(VARIABLES, "variables", INT, 1, "N", "2", NULL, 1, SL_EXPR_MAX_VARS,                   \
      "number of variables: x1, x2, ...; a set takes up to 3")                               \
    X(OPS, "ops", TEXT, 1, "LIST", "exp,sin,neg,sqrt,+,-,*,/", NULL, 0, 0,                   \
      "operators to combine them with, commas or blanks between")                            \
    X(SET_SIZE, size, INT, 1, "N", "100000", NULL, 0, 1e12,                                  \
      "members of the set: depth by depth, a sample where it is reached; 0: all there are")  \
    X(WITHHELD, "withheld", REAL, 1, "PART", "0", NULL, 0, 1,                                \
      "part of the set to keep from training")                                               \
    X(MAX_MEMORY, "max-memory", REAL, 1, "GB", "0", NULL, 0, 1e6,                            \
      "memory it may use, in 10^9 bytes; 0: what the machine has free")
#define SL_COMMANDS__UNIVERSE(X) SL_COMMANDS__UNIVERSE_BUT_SIZE(X, "size")
#define SL_COMMANDS__UNIVERSE_OF_MODEL(X) SL_COMMANDS__UNIVERSE_BUT_SIZE(X, "set-size")

/* The type of a row, and what its file is for. There is no plain FILE: a row that does not say whether
 * it is read or written does not compile. */
#define SL_COMMANDS__TYPE_FLAG         SYMLAW_OPTION_FLAG,   SYMLAW_OPTION_NO_FILE
#define SL_COMMANDS__TYPE_INT          SYMLAW_OPTION_INT,    SYMLAW_OPTION_NO_FILE
#define SL_COMMANDS__TYPE_REAL         SYMLAW_OPTION_REAL,   SYMLAW_OPTION_NO_FILE
#define SL_COMMANDS__TYPE_TEXT         SYMLAW_OPTION_TEXT,   SYMLAW_OPTION_NO_FILE
#define SL_COMMANDS__TYPE_CHOICE       SYMLAW_OPTION_CHOICE, SYMLAW_OPTION_NO_FILE
#define SL_COMMANDS__TYPE_TEXTS        SYMLAW_OPTION_TEXTS,  SYMLAW_OPTION_NO_FILE
#define SL_COMMANDS__TYPE_FILE_IN      SYMLAW_OPTION_FILE,   SYMLAW_OPTION_INPUT
#define SL_COMMANDS__TYPE_FILE_OUT     SYMLAW_OPTION_FILE,   SYMLAW_OPTION_OUTPUT
#define SL_COMMANDS__TYPE_FILE_INOUT   SYMLAW_OPTION_FILE,   SYMLAW_OPTION_IN_PLACE
#define SL_COMMANDS__TYPE_FOLDER_IN    SYMLAW_OPTION_FOLDER, SYMLAW_OPTION_INPUT
#define SL_COMMANDS__TYPE_FOLDER_INOUT SYMLAW_OPTION_FOLDER, SYMLAW_OPTION_IN_PLACE
#define SL_COMMANDS__FIRST(...)         SL_COMMANDS__FIRST_(__VA_ARGS__)
#define SL_COMMANDS__FIRST_(type, use)  type
#define SL_COMMANDS__SECOND(...)        SL_COMMANDS__SECOND_(__VA_ARGS__)
#define SL_COMMANDS__SECOND_(type, use) use

#define SL_COMMANDS__ID(id, ...) OPT_##id,
#define SL_COMMANDS__ROW(group, id, name, type, arity, shown, preset, choices, min, max, help)           \
    { name, SL_COMMANDS__FIRST(SL_COMMANDS__TYPE_##type), arity, shown, preset, choices, min, max, help, \
      group, SL_COMMANDS__SECOND(SL_COMMANDS__TYPE_##type) },
#define SL_COMMANDS__OPTION(...) SL_COMMANDS__ROW("options", __VA_ARGS__)
#define SL_COMMANDS__UNIVERSE_OPTION(...) SL_COMMANDS__ROW("the set of expressions", __VA_ARGS__)
#define SL_COMMANDS__COMMON_OPTION(...) SL_COMMANDS__ROW("all commands", __VA_ARGS__)

/* The same of the tables that modules keep themselves: SL_PAIRS_TABLE, SL_MODEL_TABLE, ... */
#define SL_COMMANDS__TABLE_ID(field, ...) OPT_##field,
#define SL_COMMANDS__TABLE_ROW(group, field, option, kind, value, text, choices, min, max, shown, help)     \
    { option, SL_COMMANDS__FIRST(SL_COMMANDS__TYPE_##kind), 1, shown, text, choices, min, max, help, group, \
      SL_COMMANDS__SECOND(SL_COMMANDS__TYPE_##kind) },
#define SL_COMMANDS__PAIRS_OPTION(...) SL_COMMANDS__TABLE_ROW("data", __VA_ARGS__)
#define SL_COMMANDS__MODEL_OPTION(...) SL_COMMANDS__TABLE_ROW("the model", __VA_ARGS__)
#define SL_COMMANDS__OPTIM_OPTION(...) SL_COMMANDS__TABLE_ROW("the optimizer", __VA_ARGS__)
#define SL_COMMANDS__TRAIN_OPTION(...) SL_COMMANDS__TABLE_ROW("the run", __VA_ARGS__)
#define SL_COMMANDS__DISCOVER_OPTION(...) SL_COMMANDS__TABLE_ROW("the work", __VA_ARGS__)
#define SL_COMMANDS__INFER_OPTION(...) SL_COMMANDS__TABLE_ROW("samples", __VA_ARGS__)

/* Rows that describe a model and how it is trained, for commands that have all of them. */
extern const char sl_commands__sizes[]; // "|6.5M|13.5M|..."
#define SL_COMMANDS__SIZE(X)                                                         \
    X(SIZE, "size", CHOICE, 1, "NAME", NULL, sl_commands__sizes + 1, 0, 0,           \
      "a size with a name, in place of --width and --layers")
#define SL_COMMANDS__SIZE_OPTION(...) SL_COMMANDS__ROW("the model", __VA_ARGS__)
#define SL_COMMANDS__RUN_IDS                                                         \
    SL_COMMANDS__SIZE(SL_COMMANDS__ID)                                               \
    SL_MODEL_TABLE(SL_COMMANDS__TABLE_ID)                                            \
    SL_TRAIN_TABLE(SL_COMMANDS__TABLE_ID)                                            \
    SL_OPTIM_TABLE(SL_COMMANDS__TABLE_ID)                                            \
    SL_COMMANDS__UNIVERSE_OF_MODEL(SL_COMMANDS__ID)                                  \
    SL_PAIRS_TABLE(SL_COMMANDS__TABLE_ID)
#define SL_COMMANDS__RUN_OPTIONS                                                     \
    SL_COMMANDS__SIZE(SL_COMMANDS__SIZE_OPTION)                                      \
    SL_MODEL_TABLE(SL_COMMANDS__MODEL_OPTION)                                        \
    SL_TRAIN_TABLE(SL_COMMANDS__TRAIN_OPTION)                                        \
    SL_OPTIM_TABLE(SL_COMMANDS__OPTIM_OPTION)                                        \
    SL_COMMANDS__UNIVERSE_OF_MODEL(SL_COMMANDS__UNIVERSE_OPTION)                     \
    SL_PAIRS_TABLE(SL_COMMANDS__PAIRS_OPTION)

typedef struct sl_commands__run sl_commands__run; // below

/* values[i] := option i of the command, from the object `given` (NULL: none) or its default. Texts
 * are borrowed from `given` and from the table. SL_EINVAL names the option and what it takes. */
SL_NODISCARD sl_status sl_commands__options_read(sl_commands__value *values,
                                                 const symlaw_command_info *info,
                                                 const sl_json *given);
/* One of them, from JSON. */
SL_NODISCARD sl_status sl_commands__option_read(sl_commands__value *v, const symlaw_option_info *o,
                                           const sl_json *j);
/* The default that an option has in configurations of this format. */
void sl_commands__option_default(sl_commands__value *v, const symlaw_option_info *o, int format);
/* Adds one as a member to the object that s is in the middle of; null if it is not given. */
void sl_commands__option_write(sl_str *s, const symlaw_option_info *o, const sl_commands__value *v);
/* Adds them all as members to the object that s is in the middle of. */
void sl_commands__options_write(sl_str *s, const symlaw_command_info *info,
                                const sl_commands__value *values);

/* SL_EINVAL if an output of the run is one of its inputs or another of its outputs, by whatever name;
 * the folder of a run that is an input stands for the files of the run. */
SL_NODISCARD sl_status sl_commands__files_check(const sl_commands__run *run);
/* The same of one more file that the run has by other means; what: its name in the message. */
SL_NODISCARD sl_status sl_commands__file_check(const sl_commands__run *run, const char *what,
                                          const char *path, symlaw_option_use use);

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
    const symlaw_command_info *info;
    sl_commands__value *values; // by option
    sl_json *kept[2]; // what values may borrow texts from, besides what the caller gave: the
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

/* The value of a name, also where the command has no such option: then it is not given. */
const sl_commands__value *sl_commands__named(const sl_commands__run *run, const char *name);
/* Which option has this name; -1 if none has. */
int sl_commands__option_find(const symlaw_command_info *info, const char *name);

/* What the rows of each table were set to; the seed goes into the first two. */
SL_NODISCARD sl_status sl_commands__universe_options(sl_universe_options *out,
                                                     const sl_commands__run *run);
void sl_commands__pairs_options(sl_pairs_options *out, const sl_commands__run *run);
void sl_commands__optim_options(sl_optim_options *out, const sl_commands__run *run);
void sl_commands__train_options(sl_train_options *out, const sl_commands__run *run);
/* Both tables of discovery, SL_DISCOVER_TABLE (or the paper's) and SL_INFER_TABLE, with the seed. */
void sl_commands__discover_options(sl_discover_options *out, const sl_commands__run *run);
/* --size becomes --width and --layers, in the run's values too; SL_EINVAL if they say otherwise. */
SL_NODISCARD sl_status sl_commands__model_options(sl_model_options *out, sl_commands__run *run);
/* --threads, or this rank's part of the cores. */
int sl_commands__threads(const sl_commands__run *run);

/* *chosen := the one of these options (flags, or options without a default) that was given, or -1.
 * SL_EINVAL if there are two: each asks for a job of its own. */
SL_NODISCARD sl_status sl_commands__one_job(int *chosen, const sl_commands__run *run,
                                            const int *jobs, int n);

/* What a verb does: appends members of the result object to `result`, says in *ok whether the
 * answer is a good one, and prints. Under --json the result object is printed behind it, unless
 * `printed`. */
typedef sl_status (*sl_commands__work)(sl_commands__run *run, sl_str *result, bool *ok);

typedef struct sl_commands__command {
    symlaw_command_info info;
    sl_commands__work work;
} sl_commands__command;

/* *result_json := as of symlaw_command (sl_free it). What it prints and notes goes to the listener. */
SL_NODISCARD sl_status sl_commands__run_inner(char **result_json, const sl_commands__command *c,
                                         const char *options_json, const sl_commands__listener *l,
                                         sl_commands__inner *inner);

extern const sl_commands__command sl_commands__expressions, sl_commands__pairs, sl_commands__train,
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
/* Reads and checks all that can be seen without the set. Clear it whatever the answer is. */
SL_NODISCARD sl_status sl_commands__setup_read(sl_commands__setup *out, sl_commands__run *run);
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
void sl_commands__missing_add(sl_str *s, const symlaw_option_info *o, const sl_commands__value *v);
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
/* By --split, --pairs or --formulas, with the errors of --noise and --digits. A split is the one that
 * belongs to the model's training: the checkpoint says how its data were drawn. model NULL: data are
 * drawn by the defaults, and problems may have as many variables as the search takes. pairs_needed:
 * they are made for other problems too. Clear it whatever the answer is. */
SL_NODISCARD sl_status sl_commands__problems_open(sl_commands__problems *out, sl_commands__run *run,
                                             const sl_infer_info *model, bool pairs_needed);
void sl_commands__problems_clear(sl_commands__problems *p);

/* Does the search propose formulas; alone; must a model be opened? */
bool sl_commands__eval_searches(const sl_commands__run *run);
bool sl_commands__eval_exhaustive(const sl_commands__run *run);
bool sl_commands__eval_needs_model(const sl_commands__run *run);
/* With the search, options of discovery that were not told become those of "symlaw discover". */
SL_NODISCARD sl_status sl_commands__eval_search_defaults(sl_commands__run *run);
/* --budgets, which sets --timeout; without it some times for the search, and none for a model. */
SL_NODISCARD sl_status sl_commands__eval_budgets(double out[SL_EVAL_MAX_BUDGETS], int *n,
                                            sl_commands__run *run);
sl_search_grammar sl_commands__eval_grammar(const sl_commands__problems *p);

/* ---------------------------------------------------------------- speed --------------------- */

/* `symlaw bench sample`. */
SL_NODISCARD sl_status sl_commands__bench_sample(sl_commands__run *run, sl_str *result);

/* FLOP/s of products of n x n matrices on all threads of the pool at once, by the libraries and
 * instruction sets that training uses: the sum of each thread's fastest, in as many rounds as fit
 * `seconds`, in three at least. */
SL_NODISCARD sl_status sl_commands__gemm_rate(double *out, sl_pool *pool, int n, double seconds);
/* Large enough for the rate to be the machine's, and so short that on a busy one some products are not
 * interrupted: a millisecond. (With 1024 a machine of load 15 shows a fourth of what it can.) */
enum { SL_COMMANDS__SQUARE = 384 };
/* SL_ELIMIT with what to do about it if the plan is past --max-memory or what is free. */
SL_NODISCARD sl_status sl_commands__memory_check(const sl_train_plan *p, const sl_commands__run *run);

/* `symlaw info` of a weights file and of a run's folder. */
SL_NODISCARD sl_status sl_commands__info_model(sl_commands__run *run, const char *path, bool tensors,
                                          sl_str *result);
SL_NODISCARD sl_status sl_commands__info_run(sl_commands__run *run, const char *dir, sl_str *result);
/* `symlaw info` of a study's plan: what all its runs take. */
SL_NODISCARD sl_status sl_commands__info_plan(sl_commands__run *run, const char *path, sl_str *result);
/* *out := the plan of a run with so many target tokens a pair; 0: measured on the pairs of the set, or the
 * paper's, with a note, where the set cannot be built. */
SL_NODISCARD sl_status sl_commands__plan_make(sl_train_plan *out, const sl_commands__run *run,
                                         sl_commands__setup *u, double tokens);

/* ---------------------------------------------------------------- discovery ----------------- */

/* What the command and symlaw_discover add to the tables of the modules. */
#define SL_COMMANDS__TIMEOUT(X)                                                            \
    X(TIMEOUT, "timeout", REAL, 1, "SECONDS", "0", NULL, 0, 1e9,                           \
      "end after this time with the best so far; 0: no limit")

/* Rows that say what formulas may be, for the command and the call. */
#define SL_COMMANDS__SEARCH(X)                                                             \
    X(OPS, "ops", TEXT, 1, "LIST", NULL, NULL, 0, 0,                                       \
      "functions and operators that formulas may have, commas or blanks between; if it is" \
      " not given, all there are; sums, products and powers are always allowed")           \
    X(MAX_SIZE, "max-size", INT, 1, "N", "0", NULL, 0, SL_EXPR_MAX,                        \
      "nodes of a formula at most; 0: any; a larger law leaves the best approximation")     \
    X(MAX_MEMORY, "max-memory", REAL, 1, "GB", "1", NULL, 0.01, 1e6,                       \
      "memory that the search may use, in 10^9 bytes")                                     \
    X(UNITS, "units", TEXT, 1, "LIST", NULL, NULL, 0, 0,                                   \
      "units of columns, as m=kg,v=m/s,E=J; also taken from names such as \"v (m/s)\";"    \
      " formulas whose units do not agree are left out")
#define SL_COMMANDS__SEARCH_OPTION(...) SL_COMMANDS__ROW("the formulas", __VA_ARGS__)

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
                                    const sl_problem *p, const sl_commands__run *run);
/* Options of the formulas: --ops, --max-size, --max-memory. */
SL_NODISCARD sl_status sl_commands__search_options(sl_search_options *out, const sl_commands__run *run);

/* *out := the value of --model, or what the environment names, or the default, which then count as
 * given: the result records it. */
SL_NODISCARD sl_status sl_commands__model_named(const char **out, sl_commands__run *run);
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
