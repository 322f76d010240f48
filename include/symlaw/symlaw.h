/* symlaw - symbolic regression: formulas for tables of numbers, models that find them, and how
 * their success scales.
 *
 * The only installed header. It needs no other header of the project and compiles as C99 or newer
 * and as C++. Three rules hold everywhere:
 *
 *   - A call that can fail returns `symlaw_status`: 0 on success, negative on failure. After a
 *     failure symlaw_last_error() returns one line of text for the calling thread. The library
 *     never prints and never exits.
 *   - `T **out` comes first, and the caller owns what it receives: free it with the type's own
 *     `_free` or `_close`, which accept NULL. A returned `const` pointer is borrowed.
 *   - Option structs begin with `size` and are filled by their `_INIT` macro. They only grow at the
 *     end, so a program built against an older header keeps working.
 *
 * Threads: any number of threads may read a handle at once. No call changes a handle in a way that
 * its readers can observe. A calling thread needs SYMLAW_STACK_BYTES of free stack: with less,
 * calls that return a status return SYMLAW_ELIMIT.
 *
 * Locale: whatever setlocale and uselocale have set, numbers and messages are as in the C locale,
 * in what is read and in what is returned. The caller's locale is in force in every callback and
 * after every call.
 *
 * The process: the library installs no signal handler, and its threads block all signals except
 * faults. oneDNN, OpenBLAS and MPI are loaded by the first call that needs them. If the host uses
 * the same OpenBLAS, its number of threads is set to one during our products and restored after
 * them. A host that loads OpenBLAS later finds it set to one thread and calls
 * openblas_set_num_threads.
 *
 * Environment: SYMLAW_CPU (base, avx2, avx512) lowers the instruction set that is used,
 * SYMLAW_CACHE names the folder of the cache, SYMLAW_MODEL the default model. */
#ifndef SYMLAW_H
#define SYMLAW_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The version of this header. symlaw_version() is that of the library in use. */
#define SYMLAW_VERSION_MAJOR 0
#define SYMLAW_VERSION_MINOR 1
#define SYMLAW_VERSION_PATCH 0
#define SYMLAW_VERSION_TEXT_(n) #n
#define SYMLAW_VERSION_TEXT(n) SYMLAW_VERSION_TEXT_(n)
#define SYMLAW_VERSION                                                                     \
    SYMLAW_VERSION_TEXT(SYMLAW_VERSION_MAJOR) "." SYMLAW_VERSION_TEXT(SYMLAW_VERSION_MINOR) \
    "." SYMLAW_VERSION_TEXT(SYMLAW_VERSION_PATCH)

#if defined(__GNUC__)
#define SYMLAW_API __attribute__((visibility("default")))
#define SYMLAW_NODISCARD __attribute__((warn_unused_result))
#else
#define SYMLAW_API
#define SYMLAW_NODISCARD
#endif

/* Free stack that a calling thread needs, a few times what most calls use. */
#define SYMLAW_STACK_BYTES (256 * 1024)

/* ---------------------------------------------------------------- status -------------------- */

/* Every way a call can fail. Numbers are part of the interface and are never reused. Negative, so
 * that the minimum of several answers is the worst of them.                  id  number  text */
#define SYMLAW_STATUS_LIST(X)                            \
    X(OK,        0, "ok")                                \
    X(EINVAL,   -1, "invalid argument")                  \
    X(EFORMAT,  -2, "malformed input")                   \
    X(ELIMIT,   -3, "limit exceeded")                    \
    X(EOVERFLOW, -4, "number beyond 64-bit rationals")   \
    X(ENOMEM,   -5, "out of memory")                     \
    X(EIO,      -6, "input or output failed")            \
    X(ECANCEL,  -7, "cancelled")

enum {
#define X(id, number, text) SYMLAW_##id = number,
    SYMLAW_STATUS_LIST(X)
#undef X
};
typedef int symlaw_status; /* one of these */

/* "0.1.0" */
SYMLAW_API const char *symlaw_version(void);
/* What the library was built of and by: "revision 1f2e3d4, gcc 12.2.0". */
SYMLAW_API const char *symlaw_build(void);

/* The name of a status, such as "out of memory". */
SYMLAW_API const char *symlaw_status_text(symlaw_status st);

/* The error message of the last failing call of this thread; "" if none failed. Valid until the
 * next failure. A call that succeeds does not change it. */
SYMLAW_API const char *symlaw_last_error(void);

/* Three-valued answer. It is a struct so that `if (t)` does not compile: use symlaw_yes and
 * symlaw_no. */
typedef struct symlaw_truth { int answer; } symlaw_truth; /* 1 yes, -1 no, 0 unknown */
static inline int symlaw_yes(symlaw_truth t) { return t.answer > 0; }
static inline int symlaw_no(symlaw_truth t) { return t.answer < 0; }

/* Frees a string that a call returned; NULL is accepted. */
SYMLAW_API void symlaw_string_free(char *text);

/* *path := a file or folder that is installed with symlaw, share/symlaw/NAME, such as
 * "examples/kepler.csv". It is searched for from the folder of this program or library, then where
 * the build was configured to install to. SYMLAW_EINVAL: there is none. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_share_find(char **path, const char *name);

/* ---------------------------------------------------------------- progress ------------------ */

typedef enum symlaw_event_kind {
    /* done of total units of work; text names the work. Up to its first comma the text is the same
     * as long as the same work continues. */
    SYMLAW_EVENT_PROGRESS,
    /* text: a message for the user, such as an expected cost */
    SYMLAW_EVENT_NOTE,
    /* text: the next bytes of the result; no newline is added */
    SYMLAW_EVENT_OUTPUT,
    /* text: sent before a failure: the part of the input that could not be read and, on a second
     * line, a caret under the place */
    SYMLAW_EVENT_EXCERPT,
    /* nothing to show: a chance to cancel, up to 100 times a second during long work and while the
     * call waits for other processes */
    SYMLAW_EVENT_POLL,
    /* text: of `discover`, the front so far whenever it has changed: a JSON array with formula,
     * latex, mathml, r2, rms, size and bits of each, the simplest first */
    SYMLAW_EVENT_FRONT
} symlaw_event_kind; /* kinds may be added: a callback returns 0 for a kind that it does not know */

typedef struct symlaw_event {
    size_t size; /* of this struct */
    symlaw_event_kind kind;
    const char *text;
    size_t length;      /* bytes of text */
    double done, total; /* PROGRESS: in units of work; total 0 when unknown */
    double seconds;     /* since the work began */
} symlaw_event;

/* Called from the thread that made the call. A return value other than 0 cancels the work: the call
 * soon returns SYMLAW_ECANCEL and leaves nothing half done. Discovery is the exception: if it has
 * formulas by then, it returns them. */
typedef int (*symlaw_event_fn)(const symlaw_event *event, void *payload);

/* ---------------------------------------------------------------- processes ----------------- */

/* mpirun and srun start a program as several processes; each process is a rank. Such a program
 * calls symlaw_begin first and symlaw_end last, each once. In between every rank makes the same
 * calls of symlaw_command. A command whose symlaw_command_info has `ranks` shares the work, and all
 * ranks return the same status. With more than one rank all other commands are refused.
 *
 * Only rank 0 receives events, except SYMLAW_EVENT_POLL, which every rank receives: if one rank
 * cancels, all ranks stop. A program that is started as one process needs neither call. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_begin(void);
SYMLAW_API void symlaw_end(void);
SYMLAW_API int symlaw_rank(void); /* 0: the rank that receives events */
SYMLAW_API int symlaw_ranks(void);

/* ---------------------------------------------------------------- formulas ------------------ */

/* One expression over x1, x2, ... or over named columns. Its numbers are exact rationals. A formula
 * that was fitted to data may also have constants that are doubles. */
typedef struct symlaw_formula symlaw_formula;

/* Reads text. format: "infix" (also Python, SymPy and C spellings), "latex" or "prefix"; NULL means
 * infix. names: the names of x1 .. x<n_names>, or NULL; with n_names > 0 no other variable exists.
 * After SYMLAW_EFORMAT symlaw_last_error has the position and the reason. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_parse(symlaw_formula **out,
                                                               const char *text, const char *format,
                                                               const char *const *names,
                                                               int n_names);
SYMLAW_API void symlaw_formula_free(symlaw_formula *f);

/* Text in "infix", "python", "numpy", "sympy", "julia", "c", "latex", "mathml", "excel", "prefix"
 * or "json". A fitted constant is written as the shortest decimal that reads back as the same
 * double. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_print(char **out, const symlaw_formula *f,
                                                               const char *format);

/* The canonical form: expanded, simplified, in one fixed order. A fitted constant is not combined
 * with other numbers. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_canon(symlaw_formula **out,
                                                               const symlaw_formula *f);

/* The exact derivative with respect to x<variable>, from 1. Fitted constants stay. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_derivative(symlaw_formula **out,
                                                                    const symlaw_formula *f,
                                                                    int variable);

/* Are a and b the same function wherever both are real? Yes if their canonical forms are equal, no
 * if they differ at some point, else unknown. A fitted constant counts as the decimal that is
 * printed for it. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_same(symlaw_truth *out,
                                                              const symlaw_formula *a,
                                                              const symlaw_formula *b);

/* y[i] for the n rows of the columns x[0] .. x[n_columns-1]; NaN where the formula is not real. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_eval(double *y, const symlaw_formula *f,
                                                              const double *const *x, int n_columns,
                                                              int64_t n);

SYMLAW_API int symlaw_formula_nodes(const symlaw_formula *f);     /* size: nodes of the tree */
SYMLAW_API int symlaw_formula_variables(const symlaw_formula *f); /* the highest variable number */

/* Number of fitted or free constants of a formula, and the k-th of them, k from 0: NaN if it is
 * free. Text has free constants as c1, c2, ...; they are read so where no variable has that
 * name. */
SYMLAW_API int symlaw_formula_constants(const symlaw_formula *f);
SYMLAW_API double symlaw_formula_constant(const symlaw_formula *f, int k);

/* *out := f with these n finite values for its constants; values NULL: the constants are free.
 * names: of its variables; NULL: as in f. So a formula can be stored as infix or prefix text with
 * free constants and plain names, and the values: reading the text and binding the values gives the
 * same function, to the last bit. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_bind(symlaw_formula **out,
                                                              const symlaw_formula *f,
                                                              const double *values, int n,
                                                              const char *const *names,
                                                              int n_names);

/* ---------------------------------------------------------------- sets of expressions ------- */

/* The set E of a configuration: all distinct expressions below the last depth, and a seeded sample
 * of the expressions of the last depth, so that the set has `count` members. */
typedef struct symlaw_set symlaw_set;

typedef struct symlaw_set_options {
    size_t size;        /* sizeof(symlaw_set_options) */
    int depth;          /* 0 .. 4 */
    int variables;      /* 1 .. 3 */
    const char *ops;    /* comma or blank separated; NULL: "exp,sin,neg,sqrt,+,-,*,/" */
    int64_t count;      /* |E|; 0: the whole last level */
    uint64_t seed;      /* of the sample of the last level and of what is withheld */
    double withheld;    /* part of E that training must not see, 0 .. 1 */
    int threads;        /* 0: one per core */
    int64_t max_memory; /* bytes; 0: what the machine has free */
    /* folder where large sets are stored for the next call; "off": none; NULL: the folder that
     * SYMLAW_CACHE names, else ~/.cache/symlaw */
    const char *cache;
} symlaw_set_options;

#define SYMLAW_SET_OPTIONS_INIT \
    { sizeof(symlaw_set_options), 3, 2, NULL, 100000, 0, 0.0, 0, 0, NULL }

/* A set that takes long to build is read from the cache if it is there, in hundredths of a second
 * and with a tenth of the memory; else it is built and stored there. A missing, damaged or
 * unwritable file is not an error, and the members are the same with and without the cache.
 * options NULL: the defaults. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_set_open(symlaw_set **out,
                                                          const symlaw_set_options *options,
                                                          symlaw_event_fn on_event, void *payload);
SYMLAW_API void symlaw_set_close(symlaw_set *s);
SYMLAW_API int64_t symlaw_set_count(const symlaw_set *s);
/* 32 hex digits; equal sets have equal hashes. */
SYMLAW_API const char *symlaw_set_hash(const symlaw_set *s);
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_set_get(symlaw_formula **out, const symlaw_set *s,
                                                         int64_t index);
SYMLAW_API int symlaw_set_is_withheld(const symlaw_set *s, int64_t index);

/* *index := the member that is the same function as f, or -1 if there is none. This needs all
 * functions of the enumeration, which the cache does not hold: for a set read from the cache the
 * first call builds them, with the threads and max_memory of the options, and the set keeps them.
 * With cache "off" symlaw_set_open has built them. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_set_find(int64_t *index, const symlaw_set *s,
                                                          const symlaw_formula *f);

/* ---------------------------------------------------------------- data ---------------------- */

/* Pairs of an expression and a data set, over the members of a set. Each pair is a function of its
 * split and number. */
typedef struct symlaw_pairs symlaw_pairs;
typedef struct symlaw_pair symlaw_pair; /* one pair */

/* options_json: an object with options of the command `pairs` by name: those for drawing data
 * ("points", "noise", ...) and "seed", which defaults to the seed of the set. NULL or "{}": the
 * defaults, which are the paper's. The caller keeps the set and closes it after the pairs. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_pairs_open(symlaw_pairs **out,
                                                            const symlaw_set *set,
                                                            const char *options_json);
SYMLAW_API void symlaw_pairs_close(symlaw_pairs *d);

/* Pairs of a split: "train" (of one pass), "valid", "test" or "withheld"; -1: no such split. */
SYMLAW_API int64_t symlaw_pairs_count(const symlaw_pairs *d, const char *split);

/* Pair `index` of a split, the same on every machine. The split "train" continues past
 * symlaw_pairs_count. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_pairs_get(symlaw_pair **out, const symlaw_pairs *d,
                                                           const char *split, int64_t index);
SYMLAW_API void symlaw_pair_free(symlaw_pair *s);

SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_pair_formula(symlaw_formula **out,
                                                              const symlaw_pair *s);
SYMLAW_API int64_t symlaw_pair_member(const symlaw_pair *s); /* index of its base in the set */
SYMLAW_API int symlaw_pair_rows(const symlaw_pair *s);
SYMLAW_API int symlaw_pair_columns(const symlaw_pair *s);
/* Columns are numbered from 0; NULL: there is no such column. */
SYMLAW_API const double *symlaw_pair_x(const symlaw_pair *s, int column);
SYMLAW_API const double *symlaw_pair_y(const symlaw_pair *s);
/* The formula as token ids with the end token; *n of them. */
SYMLAW_API const uint8_t *symlaw_pair_tokens(const symlaw_pair *s, int *n);

/* ---------------------------------------------------------------- discovery ----------------- */

/* A model that "symlaw train" has trained, in memory. Any number of threads may use it at once. */
typedef struct symlaw_model symlaw_model;

/* path: the folder of a run, of which the newest complete checkpoint is used, or a file of weights.
 * NULL: the default model: the path in the variable SYMLAW_MODEL, else runs/best.safetensors in the
 * current folder, else the model that is installed with the library; symlaw_model_about returns the
 * path. SYMLAW_EFORMAT: the file is damaged or not a model of symlaw. SYMLAW_EINVAL: there is no
 * model. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_model_open(symlaw_model **out, const char *path);
SYMLAW_API void symlaw_model_close(symlaw_model *m);
SYMLAW_API int symlaw_model_inputs(const symlaw_model *m); /* largest number of inputs */
/* A JSON object: path, hash, step, parameters, inputs, points, warning (null, or why a newer
 * checkpoint of the folder was not used), and the run's configuration. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_model_about(char **json, const symlaw_model *m);

/* Formulas for a table, the best first. */
typedef struct symlaw_discovery symlaw_discovery;

/* Looks for formulas of y[r] in x[0][r] .. x[n_inputs-1][r], r < rows, n_inputs <= 16. All numbers
 * must be finite. names: of the inputs, or NULL for x1, x2, ... With model NULL only the search
 * proposes formulas. If there are more inputs than the model accepts, it receives those that
 * explain most of y.
 *
 * options_json: an object with options of the command `discover` by name ("search", "effort",
 * "ops", "max-size", "max-memory", "sigma" as a number, "units" with the target as y, "samples",
 * "holdout", "timeout", "seed", "threads", ...); NULL or "{}": the defaults. When it is cancelled
 * or out of time it returns the formulas found so far: see symlaw_discovery_cut. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status
symlaw_discover(symlaw_discovery **out, const symlaw_model *model, const double *const *x,
                int n_inputs, const double *y, int64_t rows, const char *const *names,
                const char *options_json, symlaw_event_fn on_event, void *payload);

/* A table for symlaw_discover_rows, with the errors of y. */
typedef struct symlaw_rows {
    size_t size; /* sizeof(symlaw_rows) */
    const double *const *x;
    int n_inputs;
    const double *y;
    int64_t rows;
    const char *const *names; /* of the inputs; NULL: x1, x2, ... */
    const char *target;       /* name of y, for units and figures; NULL: y */
    const double *sigma;      /* standard deviation of each y, above 0; NULL: not known */
    int sigma_relative;       /* not 0: only the ratios of sigma count, as of 1/sqrt(weight) */
} symlaw_rows;

#define SYMLAW_ROWS_INIT { sizeof(symlaw_rows), NULL, 0, NULL, 0, NULL, NULL, NULL, 0 }

/* column[0 .. k-1] := which k of the inputs explain y best, in their order, numbered from 0: those
 * that the command `discover` uses of a table with more columns than it takes. Here n_inputs may be
 * any number above k, and an input may have NaN or infinite cells. k is 1 to 16. The seed draws the
 * rows that are looked at, of more than 4096. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_rows_choose_inputs(int *column,
                                                                    const symlaw_rows *rows, int k,
                                                                    uint64_t seed);

/* As symlaw_discover. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status
symlaw_discover_rows(symlaw_discovery **out, const symlaw_model *model, const symlaw_rows *rows,
                     const char *options_json, symlaw_event_fn on_event, void *payload);
SYMLAW_API void symlaw_discovery_free(symlaw_discovery *f);

/* *svg := a figure of the rows, the first formula and its residuals. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_discovery_picture(char **svg,
                                                                   const symlaw_discovery *f,
                                                                   const symlaw_rows *rows);

/* Number of formulas that are real in every row, ordered by description length, the shortest first
 * (with the option "rank":"r2" by R2, the highest first). May be 0. Below, i is 0 .. count - 1;
 * for another i the calls return NaN, 0, NULL or SYMLAW_EINVAL. */
SYMLAW_API int64_t symlaw_discovery_count(const symlaw_discovery *f);
/* Not 0: the residuals of the first formula are no larger than the noise of y, as far as that is
 * known. 0: it is only the best approximation. */
SYMLAW_API int symlaw_discovery_within_noise(const symlaw_discovery *f);
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_discovery_formula(symlaw_formula **out,
                                                                   const symlaw_discovery *f,
                                                                   int64_t i);
/* On the rows that were fitted. RMSE has the unit of y. */
SYMLAW_API double symlaw_discovery_r2(const symlaw_discovery *f, int64_t i);
SYMLAW_API double symlaw_discovery_rmse(const symlaw_discovery *f, int64_t i);
/* R2 on the rows held out; NaN if there are none. */
SYMLAW_API double symlaw_discovery_holdout_r2(const symlaw_discovery *f, int64_t i);
/* Description length in bits; NaN with "rank":"r2". */
SYMLAW_API double symlaw_discovery_bits(const symlaw_discovery *f, int64_t i);
/* Bits of evidence: by chance alone a search like this one finds a formula as good once in
 * 2^evidence tables. NaN with "rank":"r2". */
SYMLAW_API double symlaw_discovery_evidence(const symlaw_discovery *f, int64_t i);
SYMLAW_API int symlaw_discovery_size(const symlaw_discovery *f, int64_t i); /* nodes */
/* Not 0: its R2 is higher than that of every smaller formula. */
SYMLAW_API int symlaw_discovery_on_front(const symlaw_discovery *f, int64_t i);
/* "search", "model" or "baseline". */
SYMLAW_API const char *symlaw_discovery_source(const symlaw_discovery *f, int64_t i);
/* By the model; -infinity if the formula is from another source. */
SYMLAW_API double symlaw_discovery_log_prob(const symlaw_discovery *f, int64_t i);
/* "scored"; "refined": constants fitted; "snapped": fitted, some constants rounded to exact
 * values. */
SYMLAW_API const char *symlaw_discovery_status(const symlaw_discovery *f, int64_t i);
/* Number of fitted constants of formula i, and the k-th of them with its standard error (may be
 * NULL), which is NaN where it cannot be estimated. */
SYMLAW_API int symlaw_discovery_constants(const symlaw_discovery *f, int64_t i);
SYMLAW_API double symlaw_discovery_constant(const symlaw_discovery *f, int64_t i, int k,
                                            double *error);
/* Why it ended early: "time", "cancel"; "" if it did not. */
SYMLAW_API const char *symlaw_discovery_cut(const symlaw_discovery *f);
/* The whole result with every candidate and its status: the members `cut`, `within_noise`,
 * `candidates`, `front`, `search`, `counts` and `cost` of the result of the command `discover`. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_discovery_json(char **json,
                                                                const symlaw_discovery *f);

/* ---------------------------------------------------------------- commands ------------------ */

/* Runs a command of the program, so that the command line and other languages have the same
 * options, progress and results. options_json: an object whose members are options of the command
 * by name; NULL or "{}": all defaults. What the program prints arrives as SYMLAW_EVENT_OUTPUT. The
 * result is one JSON object, which also records the complete configuration; result_json may be
 * NULL. Its text begins with the exit code of the program:
 *
 *     {"exit":0      success
 *     {"exit":1      the answer is no or unknown
 *     {"exit":130    the work was cancelled, and the output has what was found by then
 *
 * If a further file cannot be written (the picture of `discover`, the predictions of `eval`), the
 * result is printed as JSON with {"exit":3 and a member "error", and the call fails. If the output
 * file of these two commands cannot be written, its content arrives as SYMLAW_EVENT_OUTPUT, and the
 * call fails. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_command(const char *name, const char *options_json,
                                                         symlaw_event_fn on_event, void *payload,
                                                         char **result_json);

typedef enum symlaw_option_type {
    SYMLAW_OPTION_FLAG, /* true or false; --name */
    SYMLAW_OPTION_INT,  /* whole number */
    SYMLAW_OPTION_REAL,
    SYMLAW_OPTION_TEXT,
    SYMLAW_OPTION_CHOICE, /* one of `choices` */
    SYMLAW_OPTION_TEXTS,  /* exactly `arity` texts: --same A B */
    SYMLAW_OPTION_FILE,
    SYMLAW_OPTION_FOLDER
} symlaw_option_type;

/* The use of a FILE or FOLDER. A call whose output is also one of its inputs, or another of its
 * outputs, is refused. */
typedef enum symlaw_option_use {
    SYMLAW_OPTION_NO_FILE, /* the option is no FILE or FOLDER */
    SYMLAW_OPTION_INPUT,
    SYMLAW_OPTION_OUTPUT,
    SYMLAW_OPTION_IN_PLACE /* read, then added to: a journal, the folder of a run */
} symlaw_option_use;

typedef struct symlaw_option_info {
    size_t size;               /* sizeof(symlaw_option_info) of the library */
    const char *name;          /* without dashes */
    const char *alias;         /* a former name that is still accepted; NULL: none */
    symlaw_option_type type;
    int arity;                 /* number of values on the command line */
    const char *value_name;    /* "N", "FILE" */
    const char *default_value; /* as text; NULL: none */
    const char *choices;       /* "infix|python|..." or NULL */
    double min, max;           /* of numbers */
    const char *help;          /* one sentence */
    const char *group;         /* heading in a list; options of one group are consecutive */
    symlaw_option_use use;     /* of a FILE or FOLDER */
} symlaw_option_info;

typedef struct symlaw_command_info {
    size_t size;               /* sizeof(symlaw_command_info) of the library */
    const char *name;
    const char *summary;       /* one line */
    const char *help;          /* a few paragraphs with examples */
    int n_options;             /* the common ones (json, quiet, seed, threads) included */
    const char *positional;    /* the option that a word without dashes is a value of, or NULL */
    int ranks;                 /* not 0: it may run as several processes */
    const char *positional_next; /* the same for a second such word, or NULL */
    int repeats;               /* not 0: each further such word is a call of its own */
} symlaw_command_info;

SYMLAW_API int symlaw_command_count(void);
SYMLAW_API const symlaw_command_info *symlaw_command_get(int i); /* NULL past the end */
/* Option i of a command that symlaw_command_get returned, 0 .. n_options - 1; NULL past the end. */
SYMLAW_API const symlaw_option_info *symlaw_command_option(const symlaw_command_info *command,
                                                           int i);

#if defined(__cplusplus)
}
#endif

#endif
