/* csv - a table's rows, one at a time.
 *
 *     buffer   [ returned | the row | not scanned | free ]
 *                         ^start    ^seen         ^end   ^cap
 *
 * The end of a row is found first, then it is cut into cells. Most rows have no quotes: one memchr
 * finds the line end, another that there is no quote. A row with quotes is scanned field by field:
 * only that distinguishes an opening quote from a literal one (5" pipe), and a line end inside
 * quotes from the end of the row. Cells are cut in place: the byte after a cell becomes its
 * terminator, and doubled quotes are collapsed.
 *
 * The buffer is filled completely before the dialect is detected, so the result does not depend on
 * the sizes of reads. It never holds more than the longest row allowed. */
#include <stdlib.h>
#include <string.h>

#include "io/io_impl.h"

enum { FIRST_BYTES = 1 << 16, ROW_BYTES = 1 << 20 };

struct sl_csv {
    sl_io__text *text;
    sl_csv__dialect dialect;
    sl_csv_facts facts;
    const char *shown; // NULL: as its bytes are
    bool header;
    bool held; // the first row is data and was not returned yet
    bool last; // the file has no more
    size_t max_row;
    char *buffer;
    size_t start, seen, end, cap;
    bool quotes; // the current row has some
    sl_cell *cells;
    int n_cells;
    int64_t cap_cells;
    int columns;
    char **names, **units; // units: NULL, or the row below the names
    int64_t row, line, line_next;
};

static const char *shown(const sl_csv *c) {
    return c->shown ? c->shown : sl_io__bytes_shown(sl_io__text_bytes(c->text));
}

/* ---------------------------------------------------------------- bytes --------------------- */

/* Fills the buffer, or up to the end of the file, then `last`. `last` is seen only with room left,
 * so there is a byte for the last cell's terminator. */
static sl_status fill(sl_csv *c) {
    while (!c->last && c->end < c->cap) {
        size_t got;
        SL_TRY(sl_io__text_read(&got, c->text, c->buffer + c->end, c->cap - c->end));
        c->end += got;
        c->last = got == 0;
    }
    return SL_OK;
}

/* Reads more of the row that begins at start and does not end within the buffer. */
static sl_status read_on(sl_csv *c) {
    if (c->start > 0) {
        memmove(c->buffer, c->buffer + c->start, c->end - c->start);
        c->seen -= c->start;
        c->end -= c->start;
        c->start = 0;
    }
    if (c->end == c->cap) {
        const size_t most = c->max_row + 2; // CR, LF
        const size_t cap = c->cap > most / 2 ? most : 2 * c->cap;
        char *buffer = sl_realloc(c->buffer, cap, 1);
        if (!buffer) return sl_fail_memory(cap, 1, shown(c));
        c->buffer = buffer;
        c->cap = cap;
    }
    return fill(c);
}

/* ---------------------------------------------------------------- rows ---------------------- */

/* The end of the row that begins at start, or 0 if it continues past the bytes read so far. */
static size_t row_end(sl_csv *c) {
    const char *begin = c->buffer + c->start, *end = c->buffer + c->end;
    if (!c->quotes) {
        const char *at = c->buffer + c->seen;
        const char *line_end = memchr(at, c->dialect.line_end, (size_t)(end - at));
        const char *stop = line_end ? line_end : end;
        c->quotes = memchr(at, '"', (size_t)(stop - at));
        c->seen = (size_t)(stop - c->buffer);
        if (!c->quotes) return line_end ? c->seen + 1 : c->last ? c->end : 0;
    }
    for (;;) {
        const sl_csv__field f = sl_io__csv_scan(begin, end, &c->dialect);
        begin = f.next;
        switch (f.end) {
        case SL_CSV__SEPARATOR: continue;
        case SL_CSV__BYTES:
        case SL_CSV__QUOTE: return c->last ? c->end : 0;
        case SL_CSV__BEHIND: // malformed: the row is taken to end with the line
            begin = memchr(begin, c->dialect.line_end, (size_t)(end - begin));
            return begin ? (size_t)(begin + 1 - c->buffer) : c->last ? c->end : 0;
        case SL_CSV__LINE: return (size_t)(begin - c->buffer);
        }
    }
}

/* *stop := the end of the next row, > start; start if there is none. */
static sl_status find_row(size_t *stop, sl_csv *c) {
    c->quotes = false;
    c->seen = c->start;
    for (;;) {
        *stop = c->start == c->end && c->last ? c->end : row_end(c);
        const size_t n = (*stop ? *stop : c->end) - c->start;
        if (n > c->max_row + 2) break;
        if (*stop || (c->start == c->end && c->last)) return SL_OK;
        if (n == c->max_row + 2) break;
        SL_TRY(read_on(c));
    }
    return sl_fail(SL_ELIMIT, "%s: the row that begins in line %lld is longer than %zu bytes%s",
                   shown(c), (long long)c->line_next, c->max_row,
                   c->quotes ? "; is a quote not closed?" : "");
}

static int64_t count_lines(const char *at, const char *stop, char line_end) {
    int64_t n = 0;
    for (; (at = memchr(at, line_end, (size_t)(stop - at))); at++) n++;
    return n;
}

/* ---------------------------------------------------------------- cells --------------------- */

/* The text of a field as a cell, in place: "" become ", blanks at its ends go. */
static sl_cell cell_of(const sl_csv *c, const sl_csv__field *f) {
    char *text = c->buffer + (f->text - c->buffer);
    size_t n = f->n;
    if (f->doubled) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            text[kept++] = text[i];
            i += text[i] == '"';
        }
        n = kept;
    }
    if (f->quoted) {
        while (n > 0 && strchr(" \t\r\n", text[n - 1])) n--;
        for (; n > 0 && strchr(" \t\r\n", *text); n--) text++;
    }
    text[n] = '\0';
    return (sl_cell){ text, n, f->quoted };
}

static sl_status add_cell(sl_csv *c, sl_cell cell) {
    SL_TRY(sl_grow(&c->cells, &c->cap_cells, c->n_cells, sizeof cell, "cells of a row"));
    c->cells[c->n_cells++] = cell;
    return SL_OK;
}

/* Cuts the row from start to stop into cells. */
static sl_status cut(sl_csv *c, size_t stop) {
    const char *at = c->buffer + c->start, *end = c->buffer + stop;
    c->n_cells = 0;
    for (;;) {
        const sl_csv__field f = sl_io__csv_scan(at, end, &c->dialect);
        if (f.end == SL_CSV__QUOTE)
            return sl_fail(SL_EFORMAT, "%s: line %lld: a quote is opened and never closed",
                           shown(c), (long long)c->line);
        if (f.end == SL_CSV__BEHIND)
            return sl_fail(SL_EFORMAT,
                           "%s: line %lld, cell %d: text behind a closing quote; a quote inside of "
                           "quotes is written twice",
                           shown(c), (long long)c->line, c->n_cells + 1);
        SL_TRY(add_cell(c, cell_of(c, &f)));
        at = f.next;
        if (f.end != SL_CSV__SEPARATOR) break;
    }
    const sl_cell *edge = &c->cells[c->n_cells - 1];
    if (c->dialect.closed && c->n_cells > 1 && edge->n == 0 && !edge->quoted &&
        (c->columns == 0 || c->n_cells == c->columns + 1))
        c->n_cells--;
    return SL_OK;
}

static bool is_blank_line(const char *at, const char *stop) {
    while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    return at == stop;
}

/* The next row's cells; n_cells = 0 after the last. */
static sl_status next_row(sl_csv *c) {
    c->n_cells = 0;
    for (;;) {
        size_t stop;
        SL_TRY(find_row(&stop, c));
        if (stop == c->start) return SL_OK;
        const char *at = c->buffer + c->start, *end = c->buffer + stop;
        c->line = c->line_next;
        c->line_next += c->quotes ? count_lines(at, end, c->dialect.line_end) : 1;
        sl_status st = SL_OK;
        const bool comment = sl_io__csv_is_comment(at, end, &c->dialect);
        const bool blank = comment || is_blank_line(at, end);
        c->facts.comments += comment;
        if (memchr(at, '\0', (size_t)(end - at)))
            st = sl_fail(SL_EFORMAT, "%s: line %lld has a byte 0: this is no text", shown(c),
                         (long long)c->line);
        else if (!blank)
            st = cut(c, stop);
        c->start = stop;
        if (st != SL_OK || !blank) return st;
    }
}

/* ---------------------------------------------------------------- head ---------------------- */

/* Lines that the caller wants left out; then the buffer is full again. */
static sl_status skip_lines(sl_csv *c, int64_t n, char line_end) {
    for (int64_t i = 0; i < n; i++) {
        for (;;) {
            const char *at = c->buffer + c->start;
            const char *stop = memchr(at, line_end, c->end - c->start);
            c->start = stop ? (size_t)(stop + 1 - c->buffer) : c->end;
            if (stop) break;
            if (c->last)
                return sl_fail(SL_EFORMAT,
                               "%s has fewer lines than the %lld that are to be skipped", shown(c),
                               (long long)n);
            c->start = c->end = 0;
            SL_TRY(fill(c));
        }
        c->line_next++;
    }
    if (n == 0) return SL_OK;
    memmove(c->buffer, c->buffer + c->start, c->end - c->start);
    c->end -= c->start;
    c->start = 0;
    return fill(c);
}

static sl_status copy_text(char **out, const char *text, size_t n) {
    *out = sl_malloc(n + 1, 1);
    if (!*out) return sl_fail_memory(n + 1, 1, "a column's name");
    memcpy(*out, text, n);
    (*out)[n] = '\0';
    return SL_OK;
}

/* Columns without a name are named by their number. */
static sl_status name_column(sl_csv *c, int i, const char *name, size_t n) {
    char made[32];
    if (n == 0) {
        sl_snprintf(made, sizeof made, c->header ? "column %d" : "x%d", i + 1);
        name = made;
        n = strlen(made);
    }
    return copy_text(&c->names[i], name, n);
}

/* From the row that was cut, or from a comment line; with row_names its cells are those of the
 * columns behind the first. */
static sl_status name_columns(sl_csv *c, const sl_csv__head *h) {
    c->columns = c->n_cells + h->facts.row_names;
    c->names = sl_calloc((size_t)c->columns, sizeof *c->names);
    if (!c->names) return sl_fail_memory((size_t)c->columns, sizeof *c->names, "names of columns");
    if (h->facts.row_names) SL_TRY(name_column(c, 0, "row", 3));
    const char *at = c->buffer + h->names, *end = c->buffer + h->names_end;
    for (int i = h->facts.row_names, k = 0; i < c->columns; i++, k++) {
        if (at < end) {
            const sl_csv__field f = sl_io__csv_scan(at, end, &c->dialect);
            SL_TRY(name_column(c, i, f.text, f.n));
            at = f.next;
        } else {
            SL_TRY(name_column(c, i, c->cells[k].text, c->header ? c->cells[k].n : 0));
        }
    }
    return SL_OK;
}

/* What is below the names and above the data: rows that are left out, and units. */
static sl_status read_below(sl_csv *c, const sl_csv__head *h) {
    for (int i = 0; i < h->facts.between; i++) SL_TRY(next_row(c));
    if (!h->facts.units) return SL_OK;
    SL_TRY(next_row(c));
    c->units = sl_calloc((size_t)c->columns, sizeof *c->units);
    if (!c->units) return sl_fail_memory((size_t)c->columns, sizeof *c->units, "units of columns");
    for (int i = 0; i < SL_MIN(c->columns, c->n_cells); i++)
        SL_TRY(copy_text(&c->units[i], c->cells[i].text, c->cells[i].n));
    return SL_OK;
}

static sl_status read_head(sl_csv *c, const sl_csv_options *o) {
    sl_csv__head h;
    SL_TRY(fill(c));
    const char line_end = sl_io__csv_line_end(c->buffer, c->end);
    SL_TRY(skip_lines(c, o->skip, line_end));
    SL_TRY(sl_io__csv_head(&h, c->buffer, c->end, c->last, line_end, o));
    c->dialect = h.dialect;
    c->facts = h.facts;
    c->facts.encoding = sl_io__text_encoding(c->text);
    const char *at = c->buffer, *stop = c->buffer + h.start;
    for (; at < stop; at = (const char *)memchr(at, line_end, (size_t)(stop - at)) + 1)
        c->facts.comments += sl_io__csv_is_comment(at, stop, &c->dialect);
    c->start = h.start;
    c->line_next += h.line;
    SL_TRY(next_row(c));
    if (c->n_cells == 0) return sl_fail(SL_EFORMAT, "%s is empty", shown(c));
    c->header = h.header;
    SL_TRY(name_columns(c, &h));
    c->held = !c->header || h.facts.comment_names;
    return read_below(c, &h);
}

sl_status sl_io_csv_open(sl_csv **out, const char *path, const sl_csv_options *o) {
    static const sl_csv_options defaults = SL_CSV_OPTIONS_INIT;
    if (!o) o = &defaults;
    if (o->separator && !strchr(",;\t| :/#", o->separator))
        return sl_fail(SL_EINVAL, "columns are separated by one of , ; tab | : / # or blanks");
    sl_status st;
    sl_csv *c = sl_calloc(1, sizeof *c);
    if (!c) return sl_fail_memory(1, sizeof *c, "a table");
    SL_GO(sl_io__text_open(&c->text, path, o->encoding));
    c->shown = o->shown;
    c->max_row = SL_MIN(o->max_row ? o->max_row : (size_t)ROW_BYTES, (size_t)PTRDIFF_MAX / 2);
    c->cap = FIRST_BYTES;
    c->line_next = 1;
    c->buffer = sl_malloc(c->cap, 1);
    if (!c->buffer) SL_GO(sl_fail_memory(c->cap, 1, "rows of a table"));
    SL_GO(read_head(c, o));
    *out = c;
    return SL_OK;
done:
    sl_io_csv_close(c);
    return st;
}

void sl_io_csv_close(sl_csv *c) {
    if (!c) return;
    for (int i = 0; c->names && i < c->columns; i++) sl_free(c->names[i]);
    for (int i = 0; c->units && i < c->columns; i++) sl_free(c->units[i]);
    sl_free(c->names);
    sl_free(c->units);
    sl_free(c->cells);
    sl_free(c->buffer);
    sl_io__text_close(c->text);
    sl_free(c);
}

/* ---------------------------------------------------------------- interface ----------------- */

/* What may help where rows do not have the same number of cells. */
static const char *remedy(const sl_csv *c) {
    if (c->row == 1) return "; --skip N leaves out lines before the table";
    if (c->n_cells == 1) return "; --comment CHAR leaves out lines that begin with CHAR";
    return "";
}

sl_status sl_io_csv_next(const sl_cell **cells, sl_csv *c) {
    *cells = NULL;
    if (c->held)
        c->held = false;
    else
        SL_TRY(next_row(c));
    if (c->n_cells == 0) return SL_OK;
    c->row++;
    if (c->n_cells != c->columns)
        return sl_fail(SL_EFORMAT, "%s: row %lld (line %lld) has %d cell%s, and the first row %d%s",
                       shown(c), (long long)c->row, (long long)c->line, c->n_cells,
                       c->n_cells == 1 ? "" : "s", c->columns, remedy(c));
    *cells = c->cells;
    return SL_OK;
}

int sl_io_csv_columns(const sl_csv *c) { return c->columns; }
const char *sl_io_csv_name(const sl_csv *c, int column) { return c->names[column]; }
const char *sl_io_csv_unit(const sl_csv *c, int column) {
    return c->units && c->units[column] ? c->units[column] : "";
}
const sl_csv_facts *sl_io_csv_facts(const sl_csv *c) { return &c->facts; }
bool sl_io_csv_has_header(const sl_csv *c) { return c->header; }
char sl_io_csv_separator(const sl_csv *c) { return c->dialect.separator; }
int64_t sl_io_csv_row(const sl_csv *c) { return c->row; }
int64_t sl_io_csv_line(const sl_csv *c) { return c->line; }
int64_t sl_io_csv_bytes(const sl_csv *c) { return sl_io__bytes_taken(sl_io__text_bytes(c->text)); }
int64_t sl_io_csv_size(const sl_csv *c) { return sl_io__bytes_size(sl_io__text_bytes(c->text)); }

int sl_io_csv_find(const sl_csv *c, const char *name) {
    for (int i = 0; i < c->columns; i++)
        if (strcmp(c->names[i], name) == 0) return i;
    const size_t n = strlen(name);
    if (n == 0 || n > 9 || strspn(name, "0123456789") != n) return -1;
    const int number = (int)sl_strtoll(name, NULL);
    return number >= 1 && number <= c->columns ? number - 1 : -1;
}
