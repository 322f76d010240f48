/* csv_guess - scanning fields, and detecting the dialect from the first rows.
 *
 * The score of a separator comes from the first rows, cut with it: the share of rows with the same
 * number of cells, two at least, plus the share of cells that are numbers. Both matter. A table
 * with semicolons and decimal commas can also be cut at the commas into equal rows, but then "5;2"
 * is no number; a table of words has no numbers, but equal rows. Of equal scores the first of the
 * list is taken: a tab rarely occurs inside a cell, a comma often does.
 *
 * Runs of blanks come last, and only where every row has the same number of cells. */
#include <string.h>

#include "io/io_impl.h"

enum { ROWS_TRIED = 30 };

/* ---------------------------------------------------------------- fields -------------------- */

static bool is_blank(char c, const sl_csv__dialect *d) {
    return c == ' ' || (c == '\t' && d->separator != '\t') || (c == '\r' && d->line_end != '\r');
}

static const char *skip_blanks(const char *at, const char *end, const sl_csv__dialect *d) {
    while (at < end && is_blank(*at, d)) at++;
    return at;
}

/* Sets what ended a field; `at` is the end of its text, and blanks may follow. */
static void end_field(sl_csv__field *f, const char *at, const char *end, const sl_csv__dialect *d) {
    const char *next = skip_blanks(at, end, d);
    f->next = next + (next < end);
    if (next == end) {
        f->end = SL_CSV__BYTES;
    } else if (*next == d->line_end) {
        f->end = SL_CSV__LINE;
    } else if (d->separator == ' ') { // the blanks were the separator
        f->end = next > at ? SL_CSV__SEPARATOR : SL_CSV__BEHIND;
        f->next = next;
    } else {
        f->end = *next == d->separator ? SL_CSV__SEPARATOR : SL_CSV__BEHIND;
    }
}

static void scan_quoted(sl_csv__field *f, const char *at, const char *end,
                        const sl_csv__dialect *d) {
    f->quoted = true;
    f->text = at;
    for (;; at += 2) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        f->n = (size_t)((quote ? quote : end) - f->text);
        if (!quote) {
            f->end = SL_CSV__QUOTE;
            f->next = end;
            return;
        }
        at = quote;
        if (at + 1 == end || at[1] != '"') break;
        f->doubled = true;
    }
    end_field(f, at + 1, end, d);
}

sl_csv__field sl_io__csv_scan(const char *at, const char *end, const sl_csv__dialect *d) {
    sl_csv__field f = { 0 };
    at = skip_blanks(at, end, d);
    if (at < end && *at == '"') {
        scan_quoted(&f, at + 1, end, d);
        return f;
    }
    const char separator = d->separator, line_end = d->line_end;
    const char other = separator == ' ' ? '\t' : separator;
    f.text = at;
    while (at < end && *at != separator && *at != other && *at != line_end) at++;
    const char *stop = at;
    while (stop > f.text && is_blank(stop[-1], d)) stop--;
    f.n = (size_t)(stop - f.text);
    end_field(&f, at, end, d);
    return f;
}

/* ---------------------------------------------------------------- rows ---------------------- */

/* The first rows, as a separator cuts them. */
typedef struct trial {
    int rows;
    int even;        // rows with as many cells as the reference: the second row, or the only one
    int64_t columns; // of the reference
    int64_t first;   // of the first row
    int64_t cells, numbers;
    bool closed; // every row but the first ends in an empty cell
    bool first_closed;
} trial;

typedef struct shape {
    int64_t cells, numbers;
    bool closed;
    bool whole;
    const char *next;
} shape;

static shape shape_of(const char *at, const char *end, const sl_csv__dialect *d) {
    shape s = { 0 };
    for (;;) {
        const sl_csv__field f = sl_io__csv_scan(at, end, d);
        const sl_cell cell = { f.text, f.n, f.quoted };
        double number;
        s.cells++;
        s.numbers += sl_io_cell_number(&number, &cell, d->separator) == SL_CELL_NUMBER;
        s.closed = f.n == 0 && !f.quoted;
        s.next = at = f.next;
        if (f.end == SL_CSV__SEPARATOR) continue;
        s.whole = f.end == SL_CSV__LINE;
        return s;
    }
}

static trial try_separator(const char *bytes, size_t n, bool whole, const sl_csv__dialect *d) {
    trial t = { .closed = true };
    const char *end = bytes + n;
    while (bytes < end && t.rows < ROWS_TRIED) {
        const char *begin = skip_blanks(bytes, end, d);
        if (begin < end && *begin == d->line_end) { // a line of blanks
            bytes = begin + 1;
            continue;
        }
        if (begin == end) break;
        const shape s = shape_of(bytes, end, d);
        bytes = s.next;
        if (!s.whole && !whole && t.rows > 0) break; // there is more of this row
        t.rows++;
        if (t.rows == 1) {
            t.first = s.cells;
            t.first_closed = s.closed;
        } else {
            t.closed = t.closed && s.closed;
        }
        if (t.rows <= 2) {
            t.columns = s.cells;
            t.even = t.rows == 2 && t.first != s.cells ? 0 : t.rows - 1;
        }
        t.even += s.cells == t.columns;
        t.cells += s.cells;
        t.numbers += s.numbers;
        if (!s.whole) break; // also a malformed quote, which reading reports
    }
    return t;
}

/* Does every row end in a separator, so that it has one cell less? A header may lack it. */
static bool is_closed(const trial *t) {
    if (t->columns < 2) return false;
    if (t->rows == 1) return t->first_closed;
    return t->closed && (t->first_closed ? t->first == t->columns : t->first == t->columns - 1);
}

/* ---------------------------------------------------------------- guess --------------------- */

/* Classic Mac OS ends lines by CR alone. */
static char line_end_of(const char *bytes, size_t n) {
    return !memchr(bytes, '\n', n) && memchr(bytes, '\r', n) ? '\r' : '\n';
}

/* Blanks also occur inside names and texts, so for them the conditions are stricter. */
static double score(const trial *t, char separator) {
    if (t->columns < 2) return 0;
    if (separator == ' ' && (t->even < t->rows || 2 * t->numbers < t->cells)) return 0;
    return (double)t->even / t->rows + (double)t->numbers / (double)t->cells;
}

sl_csv__dialect sl_io__csv_guess(const char *bytes, size_t n, bool whole, char separator) {
    static const char separators[] = { '\t', ';', '|', ',', ' ' };
    sl_csv__dialect d = { separator, line_end_of(bytes, n), false };
    double best = 0;
    if (!separator) d.separator = ',';
    for (int i = 0; i < SL_LEN(separators) && !separator; i++) {
        const sl_csv__dialect one = { separators[i], d.line_end, false };
        const trial t = try_separator(bytes, n, whole, &one);
        if (score(&t, separators[i]) <= best) continue;
        best = score(&t, separators[i]);
        d.separator = separators[i];
    }
    const trial t = try_separator(bytes, n, whole, &d);
    d.closed = d.separator != ' ' && is_closed(&t);
    return d;
}
