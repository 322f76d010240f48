/* reading - the options of how a table is read, which commands that read one share, and reading
 * with progress. */
#include <string.h>

#include "commands/commands_impl.h"

// places of choices
enum { HEADER_AUTO, HEADER_YES, HEADER_NO };

#define ROW(field, option, ...) SL_OPTION(sl_commands_reading, field, option, __VA_ARGS__)

static const sl_option own_rows[] = {
    ROW(separator, "separator", .text = "auto", .shown = "S",
        .help = "between cells: auto, comma, semicolon, tab, bar, or a character"),
    ROW(header, "header", .value = HEADER_AUTO, .choices = "auto|yes|no", .shown = "HOW",
        .help = "whether the first row has names; auto: if one of its cells is no number"),
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

sl_status sl_commands_reading_options(sl_csv_options *out, const sl_commands_reading *o) {
    *out = (sl_csv_options)SL_CSV_OPTIONS_INIT;
    out->header = o->header == HEADER_AUTO ? -1 : o->header == HEADER_YES;
    return find_separator(&out->separator, o->separator);
}

/* ---------------------------------------------------------------- progress ------------------ */

typedef struct progress {
    const sl_commands_listener *listener;
    double deadline; // 0: none
    int64_t rows;
    bool late;
} progress;

/* A small table is read to its end even if opening a model took all the time: what needs no model
 * is found in no time. */
static const double grace = 0.1; // seconds

static int on_rows(int64_t rows, int64_t bytes, int64_t size, void *payload) {
    progress *p = payload;
    char text[64], digits[32];
    p->rows = rows;
    p->late = p->deadline > 0 && sl_clock() > p->deadline + grace;
    sl_snprintf(text, sizeof text, "reading, %s rows", sl_group_digits(digits, rows));
    return p->late || sl_commands_send_event(p->listener, SYMLAW_EVENT_PROGRESS, text, strlen(text),
                                             (double)bytes, (double)size) != SL_OK;
}

sl_status sl_commands__table_read(sl_table *out, bool *late, const sl_commands_run *run,
                                  const char *path, const sl_table_options *o, double timeout) {
    progress p = { .listener = &run->listener };
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
