/* symlaw - the laws behind tables of numbers, and how finding them scales.
 *
 * The only installed header. It stands alone, as C99 or newer and as C++. Three habits hold
 * everywhere:
 *
 *   - A call that can fail returns `sl_status`: 0 is good, negative is bad, and sl_last_error() then
 *     has one line of text for the calling thread. Nothing prints, nothing exits.
 *   - `T **out` comes first and the caller owns what it receives: free it with the type's own
 *     `_free` or `_close`, which accept NULL. A returned `const` pointer is borrowed.
 *   - Option structs begin with `size` and are filled by their `_INIT` macro; they only ever grow at
 *     the end, so a program built against an older header keeps working.
 *
 * Threads: a handle may be read by any number of threads at once; none is changed after it was
 * made, as far as its readers can tell. A thread that calls needs SL_STACK_BYTES of free stack: with
 * less, calls that return a status return SL_ELIMIT.
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

#define SL_VERSION "0.1.0"

#if defined(__GNUC__)
#define SL_API __attribute__((visibility("default")))
#define SL_NODISCARD __attribute__((warn_unused_result))
#else
#define SL_API
#define SL_NODISCARD
#endif

/* Free stack that a calling thread needs, a few times what most calls take. */
#define SL_STACK_BYTES (256 * 1024)

/* ---------------------------------------------------------------- status -------------------- */

/* Every way a call can fail. Numbers are part of the interface and are never reused. Negative, so
 * that the minimum of several answers is the worst of them.                  id  number  text */
#define SL_STATUS_LIST(X)                                \
    X(OK,        0, "ok")                                \
    X(EINVAL,   -1, "invalid argument")                  \
    X(EFORMAT,  -2, "malformed input")                   \
    X(ELIMIT,   -3, "limit exceeded")                    \
    X(EOVERFLOW, -4, "number beyond 64-bit rationals")   \
    X(ENOMEM,   -5, "out of memory")                     \
    X(EIO,      -6, "input or output failed")            \
    X(ECANCEL,  -7, "cancelled")

typedef enum sl_status {
#define X(id, number, text) SL_##id = number,
    SL_STATUS_LIST(X)
#undef X
} sl_status;

/* The name of a status, such as "out of memory". */
SL_API const char *sl_status_text(sl_status st);

/* What went wrong in the last failing call of this thread; "" if none did. Valid until the next
 * failure. A call that succeeds leaves it alone. */
SL_API const char *sl_last_error(void);

/* Three-valued answer. A struct, so that `if (t)` does not compile: use sl_yes and sl_no. */
typedef struct sl_truth { int answer; } sl_truth; /* 1 yes, -1 no, 0 unknown */
static inline int sl_yes(sl_truth t) { return t.answer > 0; }
static inline int sl_no(sl_truth t) { return t.answer < 0; }

/* Strings that calls hand out are freed with this; NULL is fine. */
SL_API void sl_string_free(char *text);

/* ---------------------------------------------------------------- progress ------------------ */

typedef enum sl_event_kind {
    SL_EVENT_PROGRESS, /* done of total, text says of what; up to its first comma the text stays the
                          same as long as the same work goes on */
    SL_EVENT_NOTE,     /* text: something the user should know, such as a cost before it is paid */
    SL_EVENT_OUTPUT,   /* text: the next bytes of the result, not terminated by a newline of ours */
    SL_EVENT_EXCERPT,  /* text: before a failure, the part of the input that could not be read and,
                          on a second line, a caret under the place */
    SL_EVENT_POLL      /* nothing to show: asks whether the work should stop, up to 100 times a second
                          where a piece of work takes long or waits for other processes */
} sl_event_kind;

typedef struct sl_event {
    size_t size; /* of this struct */
    sl_event_kind kind;
    const char *text;
    size_t length;      /* bytes of text */
    double done, total; /* PROGRESS: in units of work; total 0 when unknown */
    double seconds;     /* since the work began */
} sl_event;

/* Called from the thread that made the call. Anything but 0 asks the work to stop soon: it then
 * returns SL_ECANCEL and leaves nothing half done. Discovery is the exception: once it has
 * something to show, it returns that, as what was found so far. */
typedef int (*sl_event_fn)(const sl_event *event, void *payload);

/* ---------------------------------------------------------------- processes ----------------- */

/* mpirun and srun start a program several times over; each process is a rank. Such a program calls
 * sl_begin first and sl_end last, each once. Every rank then makes the same call of sl_command: one
 * whose sl_command_info says `ranks` shares the work, and all ranks return the same status. Events
 * go to rank 0 alone, but for SL_EVENT_POLL, which every rank gets: whichever of them is asked to
 * stop, all do. With more than one rank all other commands are refused. Who is started alone is the
 * only rank and needs neither call. */
SL_API SL_NODISCARD sl_status sl_begin(void);
SL_API void sl_end(void);
SL_API int sl_rank(void); /* 0 is the one that speaks */
SL_API int sl_ranks(void);

/* ---------------------------------------------------------------- formulas ------------------ */

/* One expression over x1, x2, ... or over named columns. Its numbers are exact; one that was found
 * in data may also have fitted constants, which are doubles. */
typedef struct sl_formula sl_formula;

/* Reads text. format: "infix" (also Python, SymPy and C spellings), "latex" or "prefix"; NULL means
 * infix. names: what x1 .. x<n_names> are called, or NULL; with n_names > 0 no other variable
 * exists. SL_EFORMAT tells the position and the reason in sl_last_error. */
SL_API SL_NODISCARD sl_status sl_formula_parse(sl_formula **out, const char *text,
                                               const char *format, const char *const *names,
                                               int n_names);
SL_API void sl_formula_free(sl_formula *f);

/* Text in "infix", "python", "sympy", "latex", "mathml", "c" or "prefix". A fitted constant is
 * written as the shortest decimal that reads back as the same double. */
SL_API SL_NODISCARD sl_status sl_formula_print(char **out, const sl_formula *f, const char *format);

/* The canonical form: expanded, simplified, in one fixed order. A fitted constant stays a number of
 * its own, which no rule computes with. */
SL_API SL_NODISCARD sl_status sl_formula_canon(sl_formula **out, const sl_formula *f);

/* Are a and b the same function wherever both are real? Yes when their canonical forms are equal,
 * no when some point tells them apart, else unknown. A fitted constant counts as the decimal that
 * it is written as. */
SL_API SL_NODISCARD sl_status sl_formula_same(sl_truth *out, const sl_formula *a,
                                              const sl_formula *b);

/* y[i] for the n rows of the columns x[0] .. x[n_columns-1]; NaN where the formula is not real. */
SL_API SL_NODISCARD sl_status sl_formula_eval(double *y, const sl_formula *f,
                                              const double *const *x, int n_columns, int64_t n);

SL_API int sl_formula_nodes(const sl_formula *f);     /* size: nodes of the tree */
SL_API int sl_formula_variables(const sl_formula *f); /* the highest variable number in it */

/* ---------------------------------------------------------------- sets of expressions ------- */

/* The set E of a configuration: every distinct expression up to a depth, complete below the last
 * depth, and of the last one a seeded sample of as many as `count` leaves room for. */
typedef struct sl_set sl_set;

typedef struct sl_set_options {
    size_t size;        /* sizeof(sl_set_options) */
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
} sl_set_options;

#define SL_SET_OPTIONS_INIT { sizeof(sl_set_options), 3, 2, NULL, 100000, 0, 0.0, 0, 0, NULL }

/* A set that takes long to build comes from the cache if it is there, in hundredths of a second and
 * a tenth of the memory; else it is built and kept there. No file is ever an error, and the members
 * are the same with and without. options NULL: the usual ones. */
SL_API SL_NODISCARD sl_status sl_set_open(sl_set **out, const sl_set_options *options,
                                          sl_event_fn on_event, void *payload);
SL_API void sl_set_close(sl_set *s);
SL_API int64_t sl_set_count(const sl_set *s);
SL_API const char *sl_set_hash(const sl_set *s); /* 32 hex digits; equal sets have equal hashes */
SL_API SL_NODISCARD sl_status sl_set_get(sl_formula **out, const sl_set *s, int64_t index);
SL_API int sl_set_is_withheld(const sl_set *s, int64_t index);

/* *index := which member is the same function as f, or -1 if none is. This takes all functions of
 * the enumeration, which the cache does not have: with a cache the first call builds them, with the
 * threads and max_memory of the options, and the set holds them from then on. With cache "off"
 * sl_set_open has built them. */
SL_API SL_NODISCARD sl_status sl_set_find(int64_t *index, const sl_set *s, const sl_formula *f);

/* ---------------------------------------------------------------- data ---------------------- */

/* Expression-dataset pairs over the members of a set, each a function of its split and number. */
typedef struct sl_data sl_data;
typedef struct sl_sample sl_sample; /* one pair */

/* options_json: an object with options of the command `pairs` that say how data are drawn, by name
 * ("points", "noise", ...; "seed" too, which is the set's if it is not given); NULL or "{}": the
 * paper's. The set stays the caller's and must stay open as long as the data are. */
SL_API SL_NODISCARD sl_status sl_data_open(sl_data **out, const sl_set *set,
                                           const char *options_json);
SL_API void sl_data_close(sl_data *d);

/* Pairs of a split: "train" (of one pass), "valid", "test" or "withheld"; -1: no such split. */
SL_API int64_t sl_data_count(const sl_data *d, const char *split);

/* Pair `index` of a split, the same on every machine. Training goes on past sl_data_count. */
SL_API SL_NODISCARD sl_status sl_data_get(sl_sample **out, const sl_data *d, const char *split,
                                          int64_t index);
SL_API void sl_sample_free(sl_sample *s);

SL_API SL_NODISCARD sl_status sl_sample_formula(sl_formula **out, const sl_sample *s);
SL_API int64_t sl_sample_base(const sl_sample *s); /* the member of the set it was made of */
SL_API int sl_sample_points(const sl_sample *s);
SL_API int sl_sample_columns(const sl_sample *s);
SL_API const double *sl_sample_x(const sl_sample *s, int column); /* from 0; NULL: no such one */
SL_API const double *sl_sample_y(const sl_sample *s);
/* The formula as token ids with the end token; *n of them. */
SL_API const uint8_t *sl_sample_tokens(const sl_sample *s, int *n);

/* ---------------------------------------------------------------- discovery ----------------- */

/* A model that "symlaw train" has made, in memory. Any number of threads may use one at once. */
typedef struct sl_trained sl_trained;

/* path: a run's folder, whose newest whole checkpoint is taken, or a file of weights. NULL: the default
 * one: what the variable SYMLAW_MODEL names, runs/best.safetensors in the current folder, or the one that
 * is installed with the library; sl_model_about says which. SL_EFORMAT: it is damaged, or no model of
 * ours. SL_EINVAL: there is none. */
SL_API SL_NODISCARD sl_status sl_model_open(sl_trained **out, const char *path);
SL_API void sl_model_close(sl_trained *m);
SL_API int sl_model_inputs(const sl_trained *m); /* the most inputs that its data had */
/* A JSON object: path, hash, step, parameters, inputs, points, warning (null, or why a newer
 * checkpoint of the folder was passed over), and the run's configuration. */
SL_API SL_NODISCARD sl_status sl_model_about(char **json, const sl_trained *m);

/* Formulas for a table, the best first. */
typedef struct sl_found sl_found;

/* Looks for y[r] as a formula of x[0][r] .. x[n_inputs-1][r], r < rows, n_inputs <= 16; all numbers must
 * be finite. model may be NULL: then the search alone proposes formulas. A model that takes fewer inputs
 * is shown those that explain most. names: of the inputs, or NULL for x1, x2, ... options_json: an object
 * with options of the command `discover` that say how to look, by name ("search", "effort", "ops",
 * "max-size", "max-memory", "sigma" as a number, "units" with the target as y, "samples", "holdout", "timeout", "seed", "threads", ...);
 * NULL or "{}": the usual. Told to stop, or out of time, it returns what it has: see sl_found_cut. */
SL_API SL_NODISCARD sl_status sl_discover(sl_found **out, const sl_trained *model,
                                          const double *const *x, int n_inputs, const double *y,
                                          int64_t rows, const char *const *names,
                                          const char *options_json, sl_event_fn on_event,
                                          void *payload);
SL_API void sl_found_free(sl_found *f);

/* Formulas that are real in every row, the one of least description length first (with the option
 * "rank":"r2" the one of highest R2). May be 0. Below, i is 0 .. count - 1; outside of that the answer is
 * NaN, 0, NULL or SL_EINVAL. */
SL_API int64_t sl_found_count(const sl_found *f);
/* Not 0: the first one leaves no more than the noise of y, as far as the search can tell. 0: it is only
 * the best approximation. */
SL_API int sl_found_within_noise(const sl_found *f);
SL_API SL_NODISCARD sl_status sl_found_formula(sl_formula **out, const sl_found *f, int64_t i);
SL_API double sl_found_r2(const sl_found *f, int64_t i);      /* on the rows that were fitted */
SL_API double sl_found_error(const sl_found *f, int64_t i);   /* root mean square, in the unit of y */
SL_API double sl_found_bits(const sl_found *f, int64_t i);    /* description length; NaN with "rank":"r2" */
/* Bits that the data hold against the formula and the search for it: by chance alone a formula as good is
 * found once in 2^evidence. NaN with "rank":"r2". */
SL_API double sl_found_evidence(const sl_found *f, int64_t i);
SL_API int sl_found_size(const sl_found *f, int64_t i);       /* nodes */
SL_API int sl_found_front(const sl_found *f, int64_t i);      /* not 0: no simpler one is as good */
SL_API const char *sl_found_source(const sl_found *f, int64_t i); /* "search|model|baseline" */
SL_API double sl_found_holdout(const sl_found *f, int64_t i); /* on those held out; NaN without */
SL_API double sl_found_log_prob(const sl_found *f, int64_t i); /* -infinity: not by the model */
SL_API const char *sl_found_status(const sl_found *f, int64_t i); /* "scored|refined|snapped" */
/* Fitted constants of formula i, and the k-th of them with its standard error (may be NULL), which
 * is NaN where nothing can be said. */
SL_API int sl_found_constants(const sl_found *f, int64_t i);
SL_API double sl_found_constant(const sl_found *f, int64_t i, int k, double *error);
/* Why it ended early: "time", "cancel"; "" if it did not. */
SL_API const char *sl_found_cut(const sl_found *f);
/* All of it, every candidate that was looked at with what became of it: the members `cut`,
 * `within_noise`, `candidates`, `front`, `search`, `counts` and `cost` of the result of the command `discover`. */
SL_API SL_NODISCARD sl_status sl_found_json(char **json, const sl_found *f);

/* ---------------------------------------------------------------- commands ------------------ */

/* Every verb of the program as one call, so that the command line, the page and other languages
 * have the same options, progress and results. options_json: an object whose members are options of
 * the command by name (NULL or "{}": all defaults). What the program prints arrives as
 * SL_EVENT_OUTPUT; the outcome is one JSON object, which also records the complete configuration.
 * Its text begins with {"exit":0 or, when the answer is negative or undecided, {"exit":1: the
 * program's exit code; or with {"exit":130, when the work was told to stop and what it had by then
 * was printed. result_json may be NULL.
 *
 * Where a file beside the result cannot be written (the picture of `discover`, the predictions of
 * `eval`), the result is printed all the same, as JSON with {"exit":3 and a member "error"; then the
 * call fails. So it does where the file that these two print to cannot be written: what it should
 * hold arrives as SL_EVENT_OUTPUT. */
SL_API SL_NODISCARD sl_status sl_command(const char *name, const char *options_json,
                                         sl_event_fn on_event, void *payload, char **result_json);

typedef enum sl_option_type {
    SL_OPTION_FLAG,    /* true or false; --name */
    SL_OPTION_INT,     /* whole number */
    SL_OPTION_REAL,
    SL_OPTION_TEXT,
    SL_OPTION_CHOICE,  /* one of `choices` */
    SL_OPTION_TEXTS,   /* exactly `arity` texts: --same A B */
    SL_OPTION_FILE,
    SL_OPTION_FOLDER
} sl_option_type;

/* What a FILE or FOLDER is for. A call whose output is one of its inputs, or another of its outputs,
 * is refused. */
typedef enum sl_option_use {
    SL_OPTION_NO_FILE, /* it is neither */
    SL_OPTION_INPUT,
    SL_OPTION_OUTPUT,
    SL_OPTION_IN_PLACE /* read, then added to: a journal, the folder of a run */
} sl_option_use;

typedef struct sl_option_info {
    size_t size;               /* sizeof(sl_option_info) of the library */
    const char *name;          /* without dashes */
    const char *alias;         /* a former name that is still read; NULL: none */
    sl_option_type type;
    int arity;                 /* values it takes on the command line */
    const char *value_name;    /* "N", "FILE" */
    const char *default_value; /* as text; NULL: none */
    const char *choices;       /* "infix|python|..." or NULL */
    double min, max;           /* of numbers */
    const char *help;          /* one sentence */
    const char *group;         /* heading it stands under in a list; options of one are neighbours */
    sl_option_use use;         /* of a FILE or FOLDER */
} sl_option_info;

typedef struct sl_command_info {
    size_t size;               /* sizeof(sl_command_info) of the library */
    const char *name;
    const char *summary;       /* one line */
    const char *help;          /* a few paragraphs with examples */
    int n_options;             /* the common ones (json, quiet, seed, threads) included */
    const char *positional;    /* name of the option that a word without dashes is for; NULL: none */
    int ranks;                 /* not 0: it may run as several processes */
    const char *positional_next; /* the same for a second such word; NULL: none */
    int repeats;               /* not 0: further such words are calls of their own, one for each */
} sl_command_info;

SL_API int sl_command_count(void);
SL_API const sl_command_info *sl_command_get(int i); /* NULL past the end */
/* Option i of a command that sl_command_get returned, 0 .. n_options - 1; NULL past the end. */
SL_API const sl_option_info *sl_command_option(const sl_command_info *command, int i);

#if defined(__cplusplus)
}
#endif

#endif
