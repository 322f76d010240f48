/* commands - one command of the program per file: its options, what it runs, what it prints.
 *
 * A command <name>.c has a struct of options, a table that describes them (base/option.c) and a
 * function that does the work. Parsing, ranges, defaults, --help, completion, man pages and the
 * configuration that every result records are made from the table. command.c reads options, frames
 * the result and passes output on; event.c calls the callback of the caller; options.c turns JSON
 * into fields and back; files.c refuses outputs that are inputs. Files of a command begin with its
 * name (pairs_export.c); what it prints is rendered by src/report.
 *
 * This header has what src/api uses: events, options of a typed call, sets from the cache,
 * discovery with progress, and the dispatch of commands. The rest is commands_impl.h.
 *
 * Threads: a call works in the calling thread, and only that thread runs the callback; loops use a
 * pool of threads of the call. Calls share only the tables of options, which are made once. */
#ifndef SL_COMMANDS_H
#define SL_COMMANDS_H

#include "symlaw/symlaw.h"

#include "discover/discover.h"
#include "io/io.h"
#include "pairs/pairs.h"
#include "universe/universe.h"

/* ---------------------------------------------------------------- calls --------------------- */

/* A public call that is under way. */
typedef struct sl_commands_call {
    char line[SL_FAIL_LINE]; // sl_last_error() before the call
    bool stop;               // cancellation requested, not yet acted on
} sl_commands_call;

/* SL_ELIMIT: too little stack. */
SL_NODISCARD sl_status sl_commands_enter(sl_commands_call *c);
/* Returns st. With SL_OK it restores the line: a call that succeeds does not change it, even if
 * something failed inside. */
SL_NODISCARD sl_status sl_commands_leave(const sl_commands_call *c, sl_status st);

/* ---------------------------------------------------------------- events -------------------- */

/* The callback of a call. It receives all events of the call, from the calling thread. */
typedef struct sl_commands_listener {
    symlaw_event_fn fn; // NULL: no callback
    void *payload;
    double start;       // sl_clock() when the work began
    sl_commands_call *call; // that the callback is called from
} sl_commands_listener;

/* SL_ECANCEL if the callback cancels, or, at a progress event, the callback of another rank. */
SL_NODISCARD sl_status sl_commands_send_event(const sl_commands_listener *l,
                                               symlaw_event_kind kind, const char *text,
                                               size_t length, double done, double total);
/* Reports a note, formatted as by printf. A note cannot end the work: if its callback cancels, the
 * next progress or output event returns SL_ECANCEL. */
SL_PRINTF(2, 3) void sl_commands_note(const sl_commands_listener *l, const char *format, ...);

/* An sl_par_stop_fn whose payload is a listener: true if its callback cancels. */
bool sl_commands_cancel_requested(void *listener);

/* ---------------------------------------------------------------- sets of expressions ------- */

/* Which parts of a set are needed. */
typedef enum sl_commands_need {
    SL_COMMANDS_MEMBERS, // the members: may come from the cache; sl_universe_find does not work
    SL_COMMANDS_BUILT,   // the enumeration too: functions can be found, levels have counts
} sl_commands_need;

/* Appends the folder of the cache, or nothing if there is none. named: by the caller; NULL: the
 * environment decides. */
void sl_commands_cache_folder(sl_str *s, const char *named);
/* The universe of checked options, with progress; dir: of the cache, "" is none. */
SL_NODISCARD sl_status sl_commands_universe_make(sl_universe **out, const sl_universe_options *o,
                                                  int threads, sl_commands_need need,
                                                  const char *dir, const sl_commands_listener *l);
/* The same with the cache that the environment names. */
SL_NODISCARD sl_status sl_commands_universe(sl_universe **out, const sl_universe_options *o,
                                             int threads, sl_commands_need need,
                                             const sl_commands_listener *l);

/* ---------------------------------------------------------------- options ------------------- */

/* A command's options are the fields of one struct of its own. It embeds the structs of modules and
 * those below, each described by the table of its folder; the command lists the tables as parts,
 * each with its place. */
typedef struct sl_commands_part {
    const sl_option_table *table; // NULL: the list ends
    size_t at;                    // offset of the table's struct in the command's
    const char *group;            // heading in --help; options of one group are consecutive
    const sl_option_preset *presets; // defaults that differ here; NULL: none
} sl_commands_part;

typedef struct sl_commands_run sl_commands_run;         // below
typedef struct sl_commands_command sl_commands_command; // below
typedef struct sl_commands_inner sl_commands_inner;     // commands_impl.h

/* Options of every command: its struct begins with them. */
typedef struct sl_commands_common {
    bool json, quiet;
    int64_t seed, threads; // threads 0: one per core
} sl_commands_common;
extern const sl_option_table sl_commands_common_table;
extern const sl_option_table sl_commands_repeat_table; // seed and threads alone
#define SL_COMMANDS_COMMON_PART { &sl_commands_common_table, 0, "all commands", NULL }

#define SL_COMMANDS_PAIRS_PART(type, field) \
    { &sl_pairs_table, offsetof(type, field), "data", NULL }

/* How a table is read (reading.c): the same options in every command that reads one. A command
 * embeds the struct in its own, lists SL_COMMANDS_READING_PART(options, reading) among its parts,
 * and gets what a sl_table_options has as `csv` by sl_commands_reading_options. */
typedef struct sl_commands_reading {
    const char *separator, *comment;
    int header, decimal, encoding; // places of their choices
    int64_t skip;
} sl_commands_reading;
extern const sl_option_table sl_commands_reading_table;
#define SL_COMMANDS_READING_PART(type, field) \
    { &sl_commands_reading_table, offsetof(type, field), "reading the table", NULL }
/* SL_EINVAL names the option. It opens no file, so a command can call it before it starts to
 * work. */
SL_NODISCARD sl_status sl_commands_reading_options(sl_csv_options *out,
                                                   const sl_commands_reading *o);

/* Options of discovery, in the commands discover and eval and in symlaw_discover. */
typedef struct sl_commands_look {
    const char *ops; // NULL: all
    int64_t max_size;
    double max_memory; // in 10^9 bytes
    const char *units; // NULL: none
    double timeout;    // seconds; 0: none. Each command has a row of its own for it
    sl_discover_options discover;
} sl_commands_look;
extern const sl_option_table sl_commands_look_table;
extern const sl_option_preset sl_commands_short_samples[];
#define SL_COMMANDS_LOOK_PARTS(type, field, discover_presets, infer_presets)                     \
    { &sl_commands_look_table, offsetof(type, field), "the formulas", NULL },                    \
    { &sl_discover_table, offsetof(type, field.discover), "the work", discover_presets },         \
    { &sl_infer_table, offsetof(type, field.discover.infer), "samples", infer_presets }
#define SL_COMMANDS_TIMEOUT(type, field)                                                  \
    SL_OPTION(type, field, "timeout", .value = 0, .max = 1e9, .shown = "SECONDS",          \
              .help = "end after this time with the best so far; 0: no limit")
#define SL_COMMANDS_OUT(type)                                                             \
    SL_OPTION(type, out, "out", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE",              \
              .help = "write to FILE, which appears whole or not at all; - is standard output")

/* All options of the command, with offsets in its struct. */
const sl_option_table *sl_commands_table(sl_commands_command *c);

/* Every field := its value in the object `given` (NULL: none), or its default. by_caller[i], unless
 * NULL, := row i was in the object. Texts are borrowed from `given` and from the table. SL_EINVAL
 * names the option and the values that it accepts. */
SL_NODISCARD sl_status sl_commands_options_read(void *options, bool *by_caller,
                                                 const sl_option_table *t, const sl_json *given);
/* The nearest of several words, for "did you mean". Start with { word }, offer all candidates; the
 * text is the end of a message: "; did you mean depth?" or "". */
typedef struct sl_commands_guess {
    const char *word, *best;
    int distance;
} sl_commands_guess;
void sl_commands_guess_offer(sl_commands_guess *g, const char *candidate);
const char *sl_commands_guess_text(const sl_commands_guess *g, const char *dashes,
                                    char buffer[96]);

/* The work of a command: appends members of the result object to `result`, sets *ok to false if the
 * answer is no or unknown (exit code 1), and prints. With --json the result object is printed after
 * it, unless `printed`. */
typedef sl_status (*sl_commands_work)(sl_commands_run *run, sl_str *result, bool *ok);

enum { SL_COMMANDS_MAX_PARTS = 10, SL_COMMANDS_MAX_OPTIONS = 80 };

/* A command, or a call with options. Its rows are made at the first use: see
 * sl_commands_table. */
struct sl_commands_command {
    symlaw_command_info info; // n_options is made too
    sl_commands_work work;
    size_t size; // of its struct of options
    sl_commands_part parts[SL_COMMANDS_MAX_PARTS];

    bool made;
    sl_option_table table;
    sl_option row[SL_COMMANDS_MAX_OPTIONS];
    symlaw_option_info option[SL_COMMANDS_MAX_OPTIONS];             // the same in public structs
    char text[SL_COMMANDS_MAX_OPTIONS][SL_OPTION_TEXT_MAX]; // of their defaults
};

/* One call of a command. */
struct sl_commands_run {
    sl_commands_command *command;
    const sl_option_table *table; // the options of the command
    void *options;                // its struct
    sl_commands_common *common;  // the beginning of it
    bool *by_caller;              // by row: the caller has given it
    sl_json *kept[2];      // configurations of a resumed run, from run.json and its checkpoint;
                           // options borrow texts from them
    sl_commands_listener listener;
    sl_arena arena;     // lives as long as the call
    sl_str output;      // not yet passed on
    sl_file *file;      // that output goes to; NULL: to the callback
    bool model_is_default; // the caller has not named one
    bool printed;     // the command has printed JSON itself
    bool stopped;     // cancelled; the result so far is still reported
    bool costly;      // output goes to the callback if its file cannot be written
    sl_status late;   // a failure beside the result: see sl_commands_fail_late
    char late_line[1024];
    double done, total; // of the output, for progress while a file is written
    sl_commands_inner *inner; // NULL: called by the user, not by another command
    int exit_code;             // of the program; 0: by the status
};

/* ---------------------------------------------------------------- discovery ----------------- */

/* Inputs of a discovery besides the options. */
typedef struct sl_commands_request {
    const sl_infer *model; // NULL: none, or one that is opened when it is needed:
    sl_status (*open)(const sl_infer **out, void *payload);
    void *payload;
    const sl_names *names; // of the inputs, for progress
    double sigma;          // of y; 0: not known
    const sl_units *units; // NULL: not known
} sl_commands_request;

/* sl_discover_run with threads and progress. */
SL_NODISCARD sl_status sl_commands_discover_rows(sl_discovery **out,
                                                 const sl_commands_request *request,
                                                 const sl_dataset *p, const sl_commands_run *run,
                                                 const sl_commands_look *look);
/* *out := the options of discovery; those of the formulas are --ops, --max-size, --max-memory. */
SL_NODISCARD sl_status sl_commands_discover_options(sl_discover_options *out,
                                                    const sl_commands_look *look, int64_t seed);

/* Appends the path of share/symlaw/NAME (share.c). SL_EINVAL: there is none; the message lists the
 * places. */
SL_NODISCARD sl_status sl_commands_share_find(sl_str *found, const char *name);
/* Appends the path of the default model (model_default.c). SL_EINVAL: there is none; the message
 * lists the places and how to get one. */
SL_NODISCARD sl_status sl_commands_model_default(sl_str *found);
/* Adds to a failure of opening it that it was the default model. */
SL_NODISCARD sl_status sl_commands_with_default(sl_status st);

/* ---------------------------------------------------------------- dispatch ------------------ */

int sl_commands_count(void);
const symlaw_command_info *sl_commands_get(int i); // NULL past the end
/* Option i of one of these; NULL past the end. */
const symlaw_option_info *sl_commands_option(const symlaw_command_info *command, int i);
/* A command by its name: see symlaw_command. result_json may be NULL. */
SL_NODISCARD sl_status sl_commands_run_named(const char *name, const char *options_json,
                                              const sl_commands_listener *listener,
                                              char **result_json);

#endif
