/* symlaw - the laws behind tables of numbers, and how finding them scales.
 *
 * The only installed header. It stands alone, as C99 or newer and as C++. Three habits hold
 * everywhere:
 *
 *   - A call that can fail returns `symlaw_status`: 0 is good, negative is bad, and symlaw_last_error() then
 *     has one line of text for the calling thread. Nothing prints, nothing exits.
 *   - `T **out` comes first and the caller owns what it receives: free it with the type's own
 *     `_free` or `_close`, which accept NULL. A returned `const` pointer is borrowed.
 *   - Option structs begin with `size` and are filled by their `_INIT` macro; they only ever grow at
 *     the end, so a program built against an older header keeps working.
 *
 * Threads: a handle may be read by any number of threads at once; none is changed after it was
 * made, as far as its readers can tell. A thread that calls needs SYMLAW_STACK_BYTES of free stack: with
 * less, calls that return a status return SYMLAW_ELIMIT.
 *
 * Locale: whatever setlocale and uselocale have set, numbers and messages are as in the C locale,
 * in what is read and in what is returned. The caller's locale is in force in every callback and
 * after every call.
 *
 * The process: signals are the host's. Threads of ours take none but faults of their own, and no
 * handler is installed. oneDNN, OpenBLAS and MPI are loaded by the first call that needs them. If the
 * host uses the same OpenBLAS, its number of threads is one while we multiply and restored then;
 * a host that loads OpenBLAS after us finds it set to one thread and calls
 * openblas_set_num_threads. SYMLAW_CPU in the environment (base, avx2, avx512) lowers the instruction
 * set that everything uses; the cache is SYMLAW_CACHE's, the usual model SYMLAW_MODEL's. */
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

/* Free stack that a calling thread needs, a few times what most calls take. */
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

/* What went wrong in the last failing call of this thread; "" if none did. Valid until the next
 * failure. A call that succeeds leaves it alone. */
SYMLAW_API const char *symlaw_last_error(void);

/* Three-valued answer. A struct, so that `if (t)` does not compile: use symlaw_yes and symlaw_no. */
typedef struct symlaw_truth { int answer; } symlaw_truth; /* 1 yes, -1 no, 0 unknown */
static inline int symlaw_yes(symlaw_truth t) { return t.answer > 0; }
static inline int symlaw_no(symlaw_truth t) { return t.answer < 0; }

/* Strings that calls hand out are freed with this; NULL is fine. */
SYMLAW_API void symlaw_string_free(char *text);

/* ---------------------------------------------------------------- progress ------------------ */

typedef enum symlaw_event_kind {
    SYMLAW_EVENT_PROGRESS, /* done of total, text says of what; up to its first comma the text stays the
                          same as long as the same work goes on */
    SYMLAW_EVENT_NOTE,    /* text: something the user should know, such as a cost before it is paid */
    SYMLAW_EVENT_OUTPUT,  /* text: the next bytes of the result, not terminated by a newline of ours */
    SYMLAW_EVENT_EXCERPT, /* text: before a failure, the part of the input that could not be read and,
                          on a second line, a caret under the place */
    SYMLAW_EVENT_POLL,     /* nothing to show: asks whether the work should stop, up to 100 times a second
                          where a piece of work takes long or waits for other processes */
    SYMLAW_EVENT_FRONT     /* text: of `discover`, the front so far whenever it has changed, a JSON array
                          with formula, latex, mathml, r2, rms, size and bits of each, the simplest
                          first */
} symlaw_event_kind; /* further kinds may come: a callback returns 0 for one that it does not know */

typedef struct symlaw_event {
    size_t size; /* of this struct */
    symlaw_event_kind kind;
    const char *text;
    size_t length;      /* bytes of text */
    double done, total; /* PROGRESS: in units of work; total 0 when unknown */
    double seconds;     /* since the work began */
} symlaw_event;

/* Called from the thread that made the call. Anything but 0 asks the work to stop soon: it then
 * returns SYMLAW_ECANCEL and leaves nothing half done. Discovery is the exception: once it has
 * something to show, it returns that, as what was found so far. */
typedef int (*symlaw_event_fn)(const symlaw_event *event, void *payload);

/* ---------------------------------------------------------------- processes ----------------- */

/* mpirun and srun start a program several times over; each process is a rank. Such a program calls
 * symlaw_begin first and symlaw_end last, each once. Every rank then makes the same call of symlaw_command: one
 * whose symlaw_command_info says `ranks` shares the work, and all ranks return the same status. Events
 * go to rank 0 alone, but for SYMLAW_EVENT_POLL, which every rank gets: whichever of them is asked to
 * stop, all do. With more than one rank all other commands are refused. Who is started alone is the
 * only rank and needs neither call. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_begin(void);
SYMLAW_API void symlaw_end(void);
SYMLAW_API int symlaw_rank(void); /* 0 is the one that speaks */
SYMLAW_API int symlaw_ranks(void);

/* ---------------------------------------------------------------- formulas ------------------ */

/* One expression over x1, x2, ... or over named columns. Its numbers are exact; one that was found
 * in data may also have fitted constants, which are doubles. */
typedef struct symlaw_formula symlaw_formula;

/* Reads text. format: "infix" (also Python, SymPy and C spellings), "latex" or "prefix"; NULL means
 * infix. names: what x1 .. x<n_names> are called, or NULL; with n_names > 0 no other variable
 * exists. SYMLAW_EFORMAT tells the position and the reason in symlaw_last_error. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_parse(symlaw_formula **out,
                                                               const char *text, const char *format,
                                                               const char *const *names,
                                                               int n_names);
SYMLAW_API void symlaw_formula_free(symlaw_formula *f);

/* Text in "infix", "python", "numpy", "sympy", "julia", "c", "latex", "mathml", "excel", "prefix" or
 * "json". A fitted constant is written as the shortest decimal that reads back as the same double. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_print(char **out, const symlaw_formula *f,
                                                               const char *format);

/* The canonical form: expanded, simplified, in one fixed order. A fitted constant stays a number of
 * its own, which no rule computes with. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_canon(symlaw_formula **out,
                                                               const symlaw_formula *f);

/* The exact derivative with respect to x<variable>, from 1. Fitted constants stay. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_derivative(symlaw_formula **out,
                                                                    const symlaw_formula *f,
                                                                    int variable);

/* Are a and b the same function wherever both are real? Yes when their canonical forms are equal,
 * no when some point tells them apart, else unknown. A fitted constant counts as the decimal that
 * it is written as. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_same(symlaw_truth *out,
                                                              const symlaw_formula *a,
                                                              const symlaw_formula *b);

/* y[i] for the n rows of the columns x[0] .. x[n_columns-1]; NaN where the formula is not real. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_eval(double *y, const symlaw_formula *f,
                                              const double *const *x, int n_columns, int64_t n);

SYMLAW_API int symlaw_formula_nodes(const symlaw_formula *f);     /* size: nodes of the tree */
SYMLAW_API int symlaw_formula_variables(const symlaw_formula *f); /* the highest variable number in it */

/* Fitted or free constants of a formula, and the k-th of them, k from 0: NaN where it has no value.
 * Text writes a free one as c1, c2, ..., and reads it so where no variable has that name. */
SYMLAW_API int symlaw_formula_constants(const symlaw_formula *f);
SYMLAW_API double symlaw_formula_constant(const symlaw_formula *f, int k);

/* *out := f with these finite values for its constants, n of them. values NULL: free ones. names:
 * what its variables are called then; NULL: as in f. So the infix or prefix text of a formula with free
 * constants and plain names, with the values beside it, is a formula to store: reading the text and
 * binding the values gives the same function, to the last bit. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_formula_bind(symlaw_formula **out,
                                                              const symlaw_formula *f,
                                                              const double *values, int n,
                                                              const char *const *names,
                                                              int n_names);

/* ---------------------------------------------------------------- sets of expressions ------- */

/* The set E of a configuration: every distinct expression up to a depth, complete below the last
 * depth, and of the last one a seeded sample of as many as `count` leaves room for. */
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
    const char *cache;  /* folder where large sets are kept for the next call; "off": none; NULL: the
                           program's own, which SYMLAW_CACHE names, else ~/.cache/symlaw */
} symlaw_set_options;

#define SYMLAW_SET_OPTIONS_INIT \
    { sizeof(symlaw_set_options), 3, 2, NULL, 100000, 0, 0.0, 0, 0, NULL }

/* A set that takes long to build comes from the cache if it is there, in hundredths of a second and
 * a tenth of the memory; else it is built and kept there. No file is ever an error, and the members
 * are the same with and without. options NULL: the usual ones. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_set_open(symlaw_set **out,
                                                          const symlaw_set_options *options,
                                                          symlaw_event_fn on_event, void *payload);
SYMLAW_API void symlaw_set_close(symlaw_set *s);
SYMLAW_API int64_t symlaw_set_count(const symlaw_set *s);
SYMLAW_API const char *symlaw_set_hash(const symlaw_set *s); /* 32 hex digits; equal sets have equal hashes */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_set_get(symlaw_formula **out, const symlaw_set *s,
                                                         int64_t index);
SYMLAW_API int symlaw_set_is_withheld(const symlaw_set *s, int64_t index);

/* *index := which member is the same function as f, or -1 if none is. This takes all functions of
 * the enumeration, which the cache does not have: with a cache the first call builds them, with the
 * threads and max_memory of the options, and the set holds them from then on. With cache "off"
 * symlaw_set_open has built them. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_set_find(int64_t *index, const symlaw_set *s,
                                                          const symlaw_formula *f);

/* ---------------------------------------------------------------- data ---------------------- */

/* Expression-dataset pairs over the members of a set, each a function of its split and number. */
typedef struct symlaw_pairs symlaw_pairs;
typedef struct symlaw_pair symlaw_pair; /* one pair */

/* options_json: an object with options of the command `pairs` that say how data are drawn, by name
 * ("points", "noise", ...; "seed" too, which is the set's if it is not given); NULL or "{}": the
 * paper's. The set stays the caller's and must stay open as long as the data are. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_pairs_open(symlaw_pairs **out,
                                                            const symlaw_set *set,
                                                            const char *options_json);
SYMLAW_API void symlaw_pairs_close(symlaw_pairs *d);

/* Pairs of a split: "train" (of one pass), "valid", "test" or "withheld"; -1: no such split. */
SYMLAW_API int64_t symlaw_pairs_count(const symlaw_pairs *d, const char *split);

/* Pair `index` of a split, the same on every machine. Training goes on past symlaw_pairs_count. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_pairs_get(symlaw_pair **out, const symlaw_pairs *d,
                                                           const char *split, int64_t index);
SYMLAW_API void symlaw_pair_free(symlaw_pair *s);

SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_pair_formula(symlaw_formula **out,
                                                              const symlaw_pair *s);
SYMLAW_API int64_t symlaw_pair_member(const symlaw_pair *s); /* the member of the set it was made of */
SYMLAW_API int symlaw_pair_rows(const symlaw_pair *s);
SYMLAW_API int symlaw_pair_columns(const symlaw_pair *s);
SYMLAW_API const double *symlaw_pair_x(const symlaw_pair *s, int column); /* from 0; NULL: no such one */
SYMLAW_API const double *symlaw_pair_y(const symlaw_pair *s);
/* The formula as token ids with the end token; *n of them. */
SYMLAW_API const uint8_t *symlaw_pair_tokens(const symlaw_pair *s, int *n);

/* ---------------------------------------------------------------- discovery ----------------- */

/* A model that "symlaw train" has made, in memory. Any number of threads may use one at once. */
typedef struct symlaw_model symlaw_model;

/* path: a run's folder, whose newest whole checkpoint is taken, or a file of weights. NULL: the default
 * one: what the variable SYMLAW_MODEL names, runs/best.safetensors in the current folder, or the one that
 * is installed with the library; symlaw_model_about says which. SYMLAW_EFORMAT: it is damaged, or no model of
 * ours. SYMLAW_EINVAL: there is none. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_model_open(symlaw_model **out, const char *path);
SYMLAW_API void symlaw_model_close(symlaw_model *m);
SYMLAW_API int symlaw_model_inputs(const symlaw_model *m); /* the most inputs that its data had */
/* A JSON object: path, hash, step, parameters, inputs, points, warning (null, or why a newer
 * checkpoint of the folder was passed over), and the run's configuration. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_model_about(char **json, const symlaw_model *m);

/* Formulas for a table, the best first. */
typedef struct symlaw_discovery symlaw_discovery;

/* Looks for y[r] as a formula of x[0][r] .. x[n_inputs-1][r], r < rows, n_inputs <= 16; all numbers must
 * be finite. model may be NULL: then the search alone proposes formulas. A model that takes fewer inputs
 * is shown those that explain most. names: of the inputs, or NULL for x1, x2, ... options_json: an object
 * with options of the command `discover` that say how to look, by name ("search", "effort", "ops",
 * "max-size", "max-memory", "sigma" as a number, "units" with the target as y, "samples", "holdout", "timeout", "seed", "threads", ...);
 * NULL or "{}": the usual. Told to stop, or out of time, it returns what it has: see symlaw_discovery_cut. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status
symlaw_discover(symlaw_discovery **out, const symlaw_model *model, const double *const *x,
                int n_inputs, const double *y, int64_t rows, const char *const *names,
                const char *options_json, symlaw_event_fn on_event, void *payload);

/* Rows to explain: all that symlaw_discover takes, and what is known of the errors of y. */
typedef struct symlaw_rows {
    size_t size; /* sizeof(symlaw_rows) */
    const double *const *x;
    int n_inputs;
    const double *y;
    int64_t rows;
    const char *const *names; /* of the inputs; NULL: x1, x2, ... */
    const char *target;       /* name of y, for units and figures; NULL: y */
    const double *sigma;      /* standard deviation of each y, above 0; NULL: not known */
    int sigma_relative;       /* not 0: only the ratios of sigma mean something, as of 1/sqrt(weight) */
} symlaw_rows;

#define SYMLAW_ROWS_INIT { sizeof(symlaw_rows), NULL, 0, NULL, 0, NULL, NULL, NULL, 0 }

/* symlaw_discover of such rows. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status
symlaw_discover_rows(symlaw_discovery **out, const symlaw_model *model, const symlaw_rows *rows,
                     const char *options_json, symlaw_event_fn on_event, void *payload);
SYMLAW_API void symlaw_discovery_free(symlaw_discovery *f);

/* *svg := a picture of the rows that were looked at, the first formula and its residuals. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_discovery_picture(char **svg,
                                                                   const symlaw_discovery *f,
                                                                   const symlaw_rows *rows);

/* Formulas that are real in every row, the one of least description length first (with the option
 * "rank":"r2" the one of highest R2). May be 0. Below, i is 0 .. count - 1; outside of that the answer is
 * NaN, 0, NULL or SYMLAW_EINVAL. */
SYMLAW_API int64_t symlaw_discovery_count(const symlaw_discovery *f);
/* Not 0: the first one leaves no more than the noise of y, as far as the search can tell. 0: it is only
 * the best approximation. */
SYMLAW_API int symlaw_discovery_within_noise(const symlaw_discovery *f);
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_discovery_formula(symlaw_formula **out, const symlaw_discovery *f, int64_t i);
SYMLAW_API double symlaw_discovery_r2(const symlaw_discovery *f, int64_t i);   /* on the rows that were fitted */
SYMLAW_API double symlaw_discovery_rmse(const symlaw_discovery *f, int64_t i); /* root mean square, in the unit of y */
SYMLAW_API double symlaw_discovery_bits(const symlaw_discovery *f, int64_t i); /* description length; NaN with "rank":"r2" */
/* Bits that the data hold against the formula and the search for it: by chance alone a formula as good is
 * found once in 2^evidence. NaN with "rank":"r2". */
SYMLAW_API double symlaw_discovery_evidence(const symlaw_discovery *f, int64_t i);
SYMLAW_API int symlaw_discovery_size(const symlaw_discovery *f, int64_t i);     /* nodes */
SYMLAW_API int symlaw_discovery_on_front(const symlaw_discovery *f, int64_t i); /* not 0: no simpler one is as good */
SYMLAW_API const char *symlaw_discovery_source(const symlaw_discovery *f, int64_t i); /* "search|model|baseline" */
SYMLAW_API double symlaw_discovery_holdout_r2(const symlaw_discovery *f, int64_t i); /* on those held out; NaN without */
SYMLAW_API double symlaw_discovery_log_prob(const symlaw_discovery *f, int64_t i); /* -infinity: not by the model */
SYMLAW_API const char *symlaw_discovery_status(const symlaw_discovery *f, int64_t i); /* "scored|refined|snapped" */
/* Fitted constants of formula i, and the k-th of them with its standard error (may be NULL), which
 * is NaN where nothing can be said. */
SYMLAW_API int symlaw_discovery_constants(const symlaw_discovery *f, int64_t i);
SYMLAW_API double symlaw_discovery_constant(const symlaw_discovery *f, int64_t i, int k, double *error);
/* Why it ended early: "time", "cancel"; "" if it did not. */
SYMLAW_API const char *symlaw_discovery_cut(const symlaw_discovery *f);
/* All of it, every candidate that was looked at with what became of it: the members `cut`,
 * `within_noise`, `candidates`, `front`, `search`, `counts` and `cost` of the result of the command `discover`. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_discovery_json(char **json, const symlaw_discovery *f);

/* ---------------------------------------------------------------- commands ------------------ */

/* Every verb of the program as one call, so that the command line, the page and other languages
 * have the same options, progress and results. options_json: an object whose members are options of
 * the command by name (NULL or "{}": all defaults). What the program prints arrives as
 * SYMLAW_EVENT_OUTPUT; the outcome is one JSON object, which also records the complete configuration.
 * Its text begins with {"exit":0 or, when the answer is negative or undecided, {"exit":1: the
 * program's exit code; or with {"exit":130, when the work was told to stop and what it had by then
 * was printed. result_json may be NULL.
 *
 * Where a file beside the result cannot be written (the picture of `discover`, the predictions of
 * `eval`), the result is printed all the same, as JSON with {"exit":3 and a member "error"; then the
 * call fails. So it does where the file that these two print to cannot be written: what it should
 * hold arrives as SYMLAW_EVENT_OUTPUT. */
SYMLAW_API SYMLAW_NODISCARD symlaw_status symlaw_command(const char *name, const char *options_json,
                                         symlaw_event_fn on_event, void *payload, char **result_json);

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

/* What a FILE or FOLDER is for. A call whose output is one of its inputs, or another of its outputs,
 * is refused. */
typedef enum symlaw_option_use {
    SYMLAW_OPTION_NO_FILE, /* it is neither */
    SYMLAW_OPTION_INPUT,
    SYMLAW_OPTION_OUTPUT,
    SYMLAW_OPTION_IN_PLACE /* read, then added to: a journal, the folder of a run */
} symlaw_option_use;

typedef struct symlaw_option_info {
    size_t size;               /* sizeof(symlaw_option_info) of the library */
    const char *name;          /* without dashes */
    const char *alias;         /* a former name that is still read; NULL: none */
    symlaw_option_type type;
    int arity;                 /* values it takes on the command line */
    const char *value_name;    /* "N", "FILE" */
    const char *default_value; /* as text; NULL: none */
    const char *choices;       /* "infix|python|..." or NULL */
    double min, max;           /* of numbers */
    const char *help;          /* one sentence */
    const char *group;         /* heading it stands under in a list; options of one are neighbours */
    symlaw_option_use use;     /* of a FILE or FOLDER */
} symlaw_option_info;

typedef struct symlaw_command_info {
    size_t size;               /* sizeof(symlaw_command_info) of the library */
    const char *name;
    const char *summary;       /* one line */
    const char *help;          /* a few paragraphs with examples */
    int n_options;             /* the common ones (json, quiet, seed, threads) included */
    const char *positional;    /* name of the option that a word without dashes is for; NULL: none */
    int ranks;                 /* not 0: it may run as several processes */
    const char *positional_next; /* the same for a second such word; NULL: none */
    int repeats;               /* not 0: further such words are calls of their own, one for each */
} symlaw_command_info;

SYMLAW_API int symlaw_command_count(void);
SYMLAW_API const symlaw_command_info *symlaw_command_get(int i); /* NULL past the end */
/* Option i of a command that symlaw_command_get returned, 0 .. n_options - 1; NULL past the end. */
SYMLAW_API const symlaw_option_info *symlaw_command_option(const symlaw_command_info *command, int i);

#if defined(__cplusplus)
}
#endif

#endif
