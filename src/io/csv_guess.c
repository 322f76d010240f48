/* csv_guess - scanning fields, and detecting the dialect from the first rows.
 *
 * The score of a separator comes from the first rows, cut with it: the share of rows with the most
 * frequent number of cells, two at least, plus the share of cells that are numbers. Both matter. A
 * table with semicolons and decimal commas can also be cut at the commas into equal rows, but then
 * "5;2" is no number; a table of words has no numbers, but equal rows. Of equal scores the first of
 * the list is taken: a tab rarely occurs inside a cell, a comma often does.
 *
 * Runs of blanks come last, and only where every row has the same number of cells. */
#include <string.h>

#include "io/io_impl.h"

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

/* ---------------------------------------------------------------- comments ------------------ */

bool sl_io__csv_is_comment(const char *at, const char *end, const sl_csv__dialect *d) {
    static const char *const errors[] = { "#N/A",  "#VALUE!", "#DIV/0!", "#REF!",
                                          "#NUM!", "#NAME?",  "#NULL!" };
    const size_t n = strlen(d->comment);
    if (n == 0) return false;
    at = skip_blanks(at, end, d);
    if ((size_t)(end - at) < n || memcmp(at, d->comment, n) != 0) return false;
    for (int i = 0; i < SL_LEN(errors); i++) {
        const size_t length = strlen(errors[i]);
        if ((size_t)(end - at) >= length && memcmp(at, errors[i], length) == 0) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- rows ---------------------- */

/* What cells of the rows of a sample are. */
typedef struct trial {
    sl_csv__sample sample;
    int64_t numbers[SL_CSV__ROWS_TRIED]; // of each row
    bool closed[SL_CSV__ROWS_TRIED];     // it ends in an empty cell
} trial;

typedef struct shape {
    int64_t cells, numbers;
    bool closed;
    bool whole;
    const char *next;
} shape;

bool sl_io__cell_is_number(const sl_cell *cell) {
    static const sl_number_style either = { SL_MARK_EITHER, SL_MARK_EITHER };
    double number;
    unsigned signs;
    return sl_io_cell_read(&number, &signs, cell, either) == SL_CELL_NUMBER ||
           signs == SL_SIGN_UNCLEAR;
}

static shape shape_of(const char *at, const char *end, const sl_csv__dialect *d) {
    shape s = { 0 };
    for (;;) {
        const sl_csv__field f = sl_io__csv_scan(at, end, d);
        const sl_cell cell = { f.text, f.n, f.quoted };
        s.cells++;
        s.numbers += sl_io__cell_is_number(&cell);
        s.closed = f.n == 0 && !f.quoted;
        s.next = at = f.next;
        if (f.end == SL_CSV__SEPARATOR) continue;
        s.whole = f.end == SL_CSV__LINE;
        return s;
    }
}

/* The most frequent number of cells, of 2 or more; of equally frequent ones the later. Else what
 * the second row has, or the only one. */
static void find_columns(sl_csv__sample *s) {
    int most = 0;
    s->columns = s->rows > 0 ? s->row[SL_MIN(s->rows - 1, 1)].cells : 0;
    for (int i = 0; i < s->rows; i++) {
        int times = 0;
        for (int k = 0; k <= i; k++) times += s->row[k].cells == s->row[i].cells;
        if (s->row[i].cells < 2 || times < most) continue;
        most = times;
        s->columns = s->row[i].cells;
    }
    s->first = 0;
    while (s->first + 1 < s->rows && s->row[s->first].cells != s->columns) s->first++;
}

static void try_separator(trial *t, const char *bytes, size_t n, bool whole,
                          const sl_csv__dialect *d) {
    const char *at = bytes, *end = bytes + n;
    sl_csv__sample *s = &t->sample;
    int64_t line = 0;
    s->rows = 0;
    while (at < end && s->rows < SL_CSV__ROWS_TRIED) {
        const char *begin = skip_blanks(at, end, d);
        if (begin == end) break;
        if (*begin == d->line_end) { // a line of blanks
            at = begin + 1;
            line++;
            continue;
        }
        if (sl_io__csv_is_comment(at, end, d)) {
            const char *stop = memchr(at, d->line_end, (size_t)(end - at));
            at = stop ? stop + 1 : end;
            line++;
            continue;
        }
        const shape one = shape_of(at, end, d);
        if (!one.whole && !whole && s->rows > 0) break; // there is more of this row
        s->row[s->rows] = (sl_csv__row){ (size_t)(at - bytes), line, one.cells };
        t->numbers[s->rows] = one.numbers;
        t->closed[s->rows] = one.closed;
        s->rows++;
        for (; (at = memchr(at, d->line_end, (size_t)(one.next - at))); at++) line++;
        at = one.next;
        if (!one.whole) break; // also a malformed quote, which reading reports
    }
    find_columns(s);
}

/* Does every row end in a separator, so that it has one cell less? A header may lack it, and titles
 * above do. */
static bool is_closed(const trial *t) {
    const sl_csv__sample *s = &t->sample;
    if (s->columns < 2) return false;
    for (int i = s->first; i < s->rows; i++)
        if (!t->closed[i]) return false;
    return s->rows > 0;
}

/* ---------------------------------------------------------------- guess --------------------- */

/* Classic Mac OS ends lines by CR alone. */
char sl_io__csv_line_end(const char *bytes, size_t n) {
    return !memchr(bytes, '\n', n) && memchr(bytes, '\r', n) ? '\r' : '\n';
}

/* Blanks also occur inside names and texts, so for them the conditions are stricter: all rows but a
 * few titles must be even. */
static double score(const trial *t, char separator) {
    const sl_csv__sample *s = &t->sample;
    int even = 0;
    int64_t cells = 0, numbers = 0;
    if (s->columns < 2) return 0;
    for (int i = 0; i < s->rows; i++) {
        even += s->row[i].cells == s->columns;
        cells += s->row[i].cells;
        numbers += t->numbers[i];
    }
    if (separator == ' ' && (even < s->rows - s->first || 4 * s->first > s->rows)) return 0;
    if (separator == ' ' && 2 * numbers < cells) return 0;
    return (double)even / s->rows + (double)numbers / (double)cells;
}

void sl_io__csv_guess(sl_csv__dialect *d, sl_csv__sample *s, const char *bytes, size_t n,
                      bool whole) {
    static const char separators[] = { '\t', ';', '|', ',', ' ' };
    double best = 0;
    char found = ',';
    trial t;
    for (int i = 0; i < SL_LEN(separators) && !d->separator; i++) {
        sl_csv__dialect one = *d;
        one.separator = separators[i];
        try_separator(&t, bytes, n, whole, &one);
        if (score(&t, separators[i]) <= best) continue;
        best = score(&t, separators[i]);
        found = separators[i];
    }
    if (!d->separator) d->separator = found;
    try_separator(&t, bytes, n, whole, d);
    d->closed = d->separator != ' ' && is_closed(&t);
    *s = t.sample;
    if (!d->closed) return;
    for (int i = 0; i < s->rows; i++) s->row[i].cells -= t.closed[i] && s->row[i].cells > 1;
    find_columns(s);
}
