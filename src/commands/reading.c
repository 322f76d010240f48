/* reading - the options of how a table is read, which commands that read one share, and reading
 * with progress. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands_impl.h"

// places of choices
enum { HEADER_AUTO, HEADER_YES, HEADER_NO };
enum { DECIMAL_AUTO, DECIMAL_POINT, DECIMAL_COMMA };

#define ROW(field, option, ...) SL_OPTION(sl_commands_reading, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(separator, "separator", .text = "auto", .shown = "S",
        .help = "between cells: auto, comma, semicolon, tab, bar, or a character"),
    ROW(header, "header", .value = HEADER_AUTO, .choices = "auto|yes|no", .shown = "HOW",
        .help = "whether the first row has names; auto: if one of its cells is no number"),
    ROW(skip, "skip", .value = 0, .max = 1e9, .shown = "N",
        .help = "lines before the table that are left out"),
    ROW(comment, "comment", .text = "auto", .shown = "CHAR",
        .help = "lines that begin with CHAR are left out; auto: #, or %, // or ; if the first "
                "line is such a comment; none"),
    ROW(decimal, "decimal", .value = DECIMAL_AUTO, .choices = "auto|point|comma", .shown = "MARK",
        .help = "the decimal mark of numbers; the other one separates thousands"),
    ROW(encoding, "encoding", .value = SL_ENCODING_AUTO, .choices = "auto|utf-8|latin-1|utf-16",
        .shown = "NAME", .help = "encoding of the text; latin-1 is Windows-1252"),
};
const sl_option_table sl_commands_reading_table = { own_rows, SL_LEN(own_rows) };

/* ---------------------------------------------------------------- options ------------------- */

static sl_status find_separator(char *out, const char *text) {
    static const struct {
        const char *name;
        char is;
    } known[] = {
        { "auto", '\0' }, { "comma", ',' }, { "semicolon", ';' },
        { "tab", '\t' },  { "bar", '|' },   { "\\t", '\t' },
    };
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

/* NULL: detected. What a number or a quoted cell may begin with cannot begin a comment. */
static sl_status find_comment(const char **out, const char *text) {
    *out = strcmp(text, "auto") == 0 ? NULL : strcmp(text, "none") == 0 ? "" : text;
    if (!*out || !**out) return SL_OK;
    if (strlen(text) <= SL_CSV_COMMENT_MAX && !sl_isalpha(*text) && !sl_isdigit(*text) &&
        !strchr("\"+-. \t", *text))
        return SL_OK;
    return sl_fail(SL_EINVAL,
                   "--comment must be auto, none or one to three characters such as # or //, not "
                   "\"%.40s\"",
                   text);
}

sl_status sl_commands_reading_options(sl_csv_options *out, const sl_commands_reading *o) {
    *out = (sl_csv_options)SL_CSV_OPTIONS_INIT;
    out->skip = o->skip;
    out->decimal = o->decimal == DECIMAL_POINT ? '.' : o->decimal == DECIMAL_COMMA ? ',' : '\0';
    out->encoding = (sl_text_encoding)o->encoding;
    SL_TRY(find_comment(&out->comment, o->comment));
    out->header = o->header == HEADER_AUTO ? -1 : o->header == HEADER_YES;
    return find_separator(&out->separator, o->separator);
}

/* ---------------------------------------------------------------- progress ------------------ */

typedef struct progress {
    sl_commands_listener listener;
    double deadline; // 0: none
    int64_t rows;
    bool late;
} progress;

/* A small table is read to its end even if opening a model took all the time: what needs no model
 * is found in no time. */
static const double grace = 0.1; // seconds

int sl_commands__table_progress(int64_t rows, int64_t bytes, int64_t size, void *listener) {
    char text[64], digits[32];
    sl_snprintf(text, sizeof text, "reading, %s rows", sl_group_digits(digits, rows));
    return sl_commands_send_event(listener, SYMLAW_EVENT_PROGRESS, text, strlen(text),
                                  (double)bytes, (double)size) != SL_OK;
}

static int on_rows(int64_t rows, int64_t bytes, int64_t size, void *payload) {
    progress *p = payload;
    p->rows = rows;
    p->late = p->deadline > 0 && sl_clock() > p->deadline + grace;
    return p->late || sl_commands__table_progress(rows, bytes, size, &p->listener);
}

sl_status sl_commands__table_read(sl_table *out, bool *late, const sl_commands_run *run,
                                  const char *path, const sl_table_options *o, double timeout) {
    progress p = { .listener = run->listener };
    p.deadline = sl_deadline(run->listener.start, timeout);
    const sl_status st = sl_data_table_read(out, path, o, on_rows, &p);
    *late = st == SL_ECANCEL && p.late;
    if (!*late) return st;
    sl_commands_note(
        &run->listener,
        "nothing was found: the time limit of %g s was reached while reading %.200s, at row "
        "%lld",
        timeout, path, (long long)p.rows);
    return SL_OK;
}

/* ---------------------------------------------------------------- what can be read twice ---- */

const char *sl_commands__table_shown(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static const int64_t keep_max = (int64_t)1 << 30; // bytes

static bool is_regular(const char *path) {
    struct stat s;
    return strcmp(path, "-") != 0 && (stat(path, &s) != 0 || S_ISREG(s.st_mode));
}

/* All of the file into `to`. A signal may be a cancellation: the callback decides. */
static sl_status copy_all(int to, int from, const char *shown, const sl_commands_listener *l) {
    char block[1 << 16];
    int64_t all = 0;
    for (;;) {
        const ssize_t got = read(from, block, sizeof block);
        if (got < 0 && errno != EINTR)
            return sl_fail(SL_EIO, "reading %s: %s", shown, sl_strerror(errno));
        SL_TRY(sl_commands_send_event(l, SYMLAW_EVENT_PROGRESS, "reading", 7, (double)all, 0));
        if (got < 0) continue;
        if (got == 0) return SL_OK;
        all += got;
        if (all > keep_max)
            return sl_fail(SL_ELIMIT,
                           "%s has more than %lld bytes, too many to keep for a second reading; "
                           "save it to a file and name that",
                           shown, (long long)keep_max);
        for (ssize_t done = 0; done < got;) {
            const ssize_t n = write(to, block + done, (size_t)(got - done));
            if (n < 0 && errno != EINTR)
                return sl_fail(SL_EIO, "keeping %s in a temporary file: %s", shown,
                               sl_strerror(errno));
            done += n > 0 ? n : 0;
        }
    }
}

sl_status sl_commands__table_keep(const char **path, int *kept, sl_commands_run *run) {
    *kept = -1;
    if (is_regular(*path)) return SL_OK;
    const bool standard = strcmp(*path, "-") == 0;
    const char *shown = sl_commands__table_shown(*path);
    FILE *file = standard ? stdin : fopen(*path, "re");
    FILE *to = file ? tmpfile() : NULL; // has no name: it is gone with the descriptor
    sl_status st = SL_OK;
    if (!file || !to) SL_GO(sl_fail(SL_EIO, "cannot read %s: %s", shown, sl_strerror(errno)));
    SL_GO(copy_all(fileno(to), fileno(file), shown, &run->listener));
    char *name = sl_arena_alloc(&run->arena, 32);
    *kept = dup(fileno(to));
    if (!name || *kept < 0) SL_GO(sl_fail(SL_ENOMEM, "no memory for %s", shown));
    sl_snprintf(name, 32, "/dev/fd/%d", *kept);
    *path = name;
done:
    if (to) fclose(to);
    if (file && !standard) fclose(file);
    return st;
}

void sl_commands__table_release(int kept) {
    if (kept >= 0) close(kept);
}
