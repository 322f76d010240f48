/* table_notes - what was done to read a table, in sentences. */
#include <string.h>

#include "data/table_impl.h"

void sl_data__table_note(sl_table__notes *n, const char *format, ...) {
    char line[600];
    va_list args;
    if (n->failed || n->n == SL_TABLE__NOTES_MAX) return;
    va_start(args, format);
    sl_vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!n->line) n->line = sl_arena_alloc(n->arena, SL_TABLE__NOTES_MAX * sizeof *n->line);
    const char *copy = n->line ? sl_arena_text(n->arena, line, strlen(line)) : NULL;
    n->failed = !copy;
    if (copy) n->line[n->n++] = copy;
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void note_numbers(sl_table__notes *n, const sl_csv_facts *f) {
    if (f->assumed)
        sl_data__table_note(n,
                            "\"%s\" is read with a decimal comma, as cells are separated by "
                            "semicolons; --decimal point takes its comma as a thousands separator",
                            f->example);
    else if (f->style.comma == SL_MARK_GROUP && *f->example)
        sl_data__table_note(n, "commas in numbers are thousands separators, as in \"%s\"",
                            f->example);
    else if (f->style.comma == SL_MARK_DECIMAL && f->style.point == SL_MARK_GROUP)
        sl_data__table_note(n, "numbers have decimal commas; points are thousands separators");
    else if (f->style.comma == SL_MARK_DECIMAL)
        sl_data__table_note(n, "numbers have decimal commas");
}

void sl_data__table_note_file(sl_table__notes *n, const sl_csv *csv) {
    const sl_csv_facts *f = sl_io_csv_facts(csv);
    if (f->encoding == SL_ENCODING_LATIN1)
        sl_data__table_note(n, "the text is not UTF-8: read as Latin-1 (Windows-1252)");
    if (f->encoding == SL_ENCODING_UTF16) sl_data__table_note(n, "the text is UTF-16");
    if (f->comments > 0)
        sl_data__table_note(n, "%lld comment line%s (%s) skipped", (long long)f->comments,
                            plural(f->comments), f->comment);
    if (f->comment_names)
        sl_data__table_note(n, "the column names are those of the last comment line");
    if (f->titles > 0)
        sl_data__table_note(n, "%d line%s above the table skipped: \"%s\"%s", f->titles,
                            plural(f->titles), f->title, f->titles > 1 ? " and on" : "");
    if (f->between > 0)
        sl_data__table_note(n, "%d row%s of text below the column names skipped%s%s%s", f->between,
                            plural(f->between), f->titles == 0 ? ": \"" : "",
                            f->titles == 0 ? f->title : "", f->titles == 0 ? "\"" : "");
    if (f->units) sl_data__table_note(n, "the row below the column names has their units");
    if (f->row_names)
        sl_data__table_note(n, "the names lack one for the first column, which is called \"row\"");
    note_numbers(n, f);
}
