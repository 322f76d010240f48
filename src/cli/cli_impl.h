/* The program `symlaw`: argv in, symlaw_command out, events to the terminal.
 *
 * It defines no options but --help and what all commands share (quiet). Names, types, ranges,
 * defaults, help and messages about wrong options come from the library's tables, and from that of
 * src/serve. Only these, symlaw.h, the C library and POSIX are used here.
 *
 * Exit codes:
 *     0         success
 *     1         a negative or undecided result
 *     2         wrong use, or input text that cannot be read
 *     3         a failure of the system: memory, files, a full disk
 *     130, 143  stopped by SIGINT, SIGTERM; a partial result may have been printed
 * Started by mpirun, rank 0 prints and has the exit code; the others print nothing and exit with 0.
 * A reader that closes the pipe early (symlaw ... | head) ends the program by SIGPIPE, as it does
 * other programs; where standard error is no terminal, a message is printed first. */
#ifndef SL_CLI_IMPL_H
#define SL_CLI_IMPL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "serve/serve.h"
#include "symlaw/symlaw.h"

enum { SL_CLI__SUCCESS = 0, SL_CLI__NEGATIVE = 1, SL_CLI__USE = 2, SL_CLI__SYSTEM = 3 };

#define SL_CLI__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* "symlaw: " and the message on stderr. Of several ranks only rank 0 prints. */
SL_CLI__PRINTF(1, 2) void sl_cli__error(const char *format, ...);

/* ---------------------------------------------------------------- text ---------------------- */

/* A growing text, `{0}` is empty. Without memory the program ends with SL_CLI__SYSTEM. */
typedef struct sl_cli__text {
    char *text;
    size_t len, cap;
} sl_cli__text;

void sl_cli__add(sl_cli__text *t, const char *bytes, size_t n);
SL_CLI__PRINTF(2, 3) void sl_cli__addf(sl_cli__text *t, const char *format, ...);
void sl_cli__add_quoted(sl_cli__text *t, const char *value); // as a JSON text
void sl_cli__text_clear(sl_cli__text *t);

/* Index of the first byte of `value` that is no UTF-8, or -1. */
long sl_cli__bad_utf8(const char *value);

/* ---------------------------------------------------------------- locale -------------------- */

/* As vsnprintf and strerror in the C locale. */
SL_CLI__PRINTF(3, 0)
int sl_cli__vsnprintf(char *text, size_t size, const char *format, va_list args);
const char *sl_cli__strerror(int error);
/* Is all of the text a whole number that fits; a finite decimal number? */
bool sl_cli__whole(long long *out, const char *text);
bool sl_cli__real(double *out, const char *text);

/* ---------------------------------------------------------------- standard output ----------- */

/* Writes all of it and returns 0, or the errno that stopped it: EINTR after a signal to stop,
 * unless `after_stop`, that is, for output printed because of the stop. */
int sl_cli__write(const char *bytes, size_t n, bool after_stop);
/* Prints a finished text, frees it, and returns the exit code. */
int sl_cli__print(sl_cli__text *t);

/* ---------------------------------------------------------------- signals ------------------- */

/* Installs handlers: SIGINT and SIGTERM request a stop, a second one exits at once (with several
 * ranks, only after 10 seconds), and SIGPIPE ends the program. A file that grows past its limit
 * (ulimit -f) is a failed write, not a signal. */
void sl_cli__signals(void);
int sl_cli__signal(void); // the signal received, or 0

/* ---------------------------------------------------------------- arguments ----------------- */

/* Parsed argv of a command. */
typedef struct sl_cli__args {
    sl_cli__text json;  // the options of all calls, an object that is not closed
    const char **words; // positional argument of each call, for a command that repeats
    int n_words;        // 0, 1: one call
    bool heading;       // print the word before each call
    bool help;          // --help was among them
    bool quiet;
} sl_cli__args;

/* False after a message on stderr. */
bool sl_cli__parse(sl_cli__args *out, const symlaw_command_info *info, int argc, char **argv);
void sl_cli__args_clear(sl_cli__args *args);
/* Appends the options of a call, from 0, as JSON for symlaw_command. */
void sl_cli__call_options(sl_cli__text *json, const sl_cli__args *args,
                          const symlaw_command_info *info, int call);

/* The commands of the library, and `serve`, which is of the program alone. */
int sl_cli__command_count(void);
const symlaw_command_info *sl_cli__command_get(int i);
const symlaw_option_info *sl_cli__option(const symlaw_command_info *info, int i);
const symlaw_command_info *sl_cli__command(const char *name); // NULL if there is none
/* The option that takes the first (i = 0) or second (i = 1) positional argument; NULL: none. */
const symlaw_option_info *sl_cli__positional(const symlaw_command_info *info, int i);

/* ---------------------------------------------------------------- texts --------------------- */

extern const char sl_cli__summary[], sl_cli__examples[];
extern const char sl_cli__exit_codes[], sl_cli__environment[];
/* "0 .. 4, default 3": what the table knows besides the sentence. */
void sl_cli__facts(sl_cli__text *facts, const symlaw_option_info *o);
void sl_cli__help_all(sl_cli__text *t);
void sl_cli__help_command(sl_cli__text *t, const symlaw_command_info *c);

/* Pages of the manual, as roff: symlaw(1), symlaw-train(1), ... */
void sl_cli__man_all(sl_cli__text *t);
void sl_cli__man_command(sl_cli__text *t, const symlaw_command_info *c);

/* A completion script; false if the shell is none of bash, zsh, fish. */
bool sl_cli__complete(sl_cli__text *t, const char *shell);

/* ---------------------------------------------------------------- progress ------------------ */

/* State of the terminal while a command works. */
typedef struct sl_cli__screen {
    bool quiet;
    bool live;     // stderr is a terminal: one line, overwritten each time
    bool shown;    // such a line is displayed
    double next;   // seconds at which the next line may be shown
    char what[48]; // the current activity: the text up to a comma
    double since, at_first; // seconds and `done` when it began
    bool stop_returned;     // the callback returned a request to stop: later output is kept
    int output_error;       // errno of standard output, or 0
    sl_cli__text excerpt;   // the input around an error, printed after the message
} sl_cli__screen;

void sl_cli__screen_init(sl_cli__screen *s, bool quiet);
int sl_cli__on_event(const symlaw_event *event, void *screen); // an symlaw_event_fn
void sl_cli__screen_wipe(sl_cli__screen *s);                   // removes the live line

#endif
