/* csv_head - where a table begins in its file: what stands above it, which row has the names, and
 * how its numbers are written. All of it from the rows within the first bytes.
 *
 *     sep=;                       for spreadsheets
 *     # Date: 2024-03-01          comments, which may also come later
 *     Run 5 of sample A           titles: rows above the names
 *     t;v;note                    names
 *     s;m/s;                      units
 *     0,1;2,25;first              data
 *
 * A column has numbers if most of its cells in the last rows of the sample are. Data begin with the
 * first row of the usual number of cells that has no text in such a column. The row above it has
 * the names if it has text in all of them; what is above that is left out, and so are rows of text
 * between the first full row of names and the data. Where this does not fit the first row is taken
 * as it is, and reading reports what is wrong with it. */
#include <string.h>

#include "io/io_impl.h"

enum { KIND_ROWS = 20 }; // from which a column's kind is decided

typedef struct head {
    sl_csv__head out;
    sl_csv__sample sample;
    const char *bytes, *end;
    const sl_csv_options *o;
    bool *numeric; // of each column
    int data;      // the first row of it; -1: not known
} head;

/* ---------------------------------------------------------------- comments ------------------ */

static const char *line_after(const char *at, const char *end, char line_end) {
    const char *stop = at < end ? memchr(at, line_end, (size_t)(end - at)) : NULL;
    return stop ? stop + 1 : end;
}

static const char *text_of(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) at++;
    return at;
}

/* Lines that begin with `comment`, above and below the first that does not, and the others. Of
 * those above: */
typedef struct counted {
    int above, below, others;
    bool cell;      // in the first a separator follows `comment`
    bool separated; // one has a separator
    bool tight;     // one has no blank behind `comment`
} counted;

static bool has_separator(const char *at, const char *end) {
    for (; at < end; at++)
        if (*at == ',' || *at == ';' || *at == '\t' || *at == '|') return true;
    return false;
}

static counted count_comments(const head *h, const char *comment) {
    counted c = { 0 };
    sl_csv__dialect d = { .line_end = h->out.dialect.line_end };
    strcpy(d.comment, comment);
    const char *next = h->bytes;
    for (int lines = 0; next < h->end && lines < 4 * SL_CSV__ROWS_TRIED; lines++) {
        const char *at = next;
        next = line_after(at, h->end, d.line_end);
        const char *text = text_of(at, next), *behind = text + strlen(comment);
        if (text == next) continue;
        if (!sl_io__csv_is_comment(at, next, &d)) {
            c.others++;
        } else if (c.others > 0) {
            c.below++;
        } else {
            const char *first = text_of(behind, next);
            if (c.above++ == 0) c.cell = first < next && has_separator(first, first + 1);
            c.separated = c.separated || has_separator(behind, next);
            c.tight = c.tight || first == behind;
        }
    }
    return c;
}

/* # marks comments anywhere, unless many rows begin with it. The others do if the first line begins
 * with them: % may also begin a name, so a blank must follow; ; is a separator too, so a blank must
 * follow, and no other separator. */
static void find_comment(head *h) {
    static const char *const known[] = { "#", "%", "//", ";" };
    char *comment = h->out.dialect.comment;
    if (h->o->comment) {
        strncpy(comment, h->o->comment, sizeof h->out.dialect.comment - 1);
        return;
    }
    for (int i = 0; i < SL_LEN(known); i++) {
        if (h->o->separator == known[i][0]) continue;
        const counted c = count_comments(h, known[i]);
        bool taken = !c.cell && c.others > 0 && 2 * c.below <= c.others && (i == 0 || c.above > 0);
        if (*known[i] == '%') taken = taken && !c.tight;
        if (*known[i] == ';') taken = taken && !c.separated && !c.tight;
        if (!taken) continue;
        strcpy(comment, known[i]); // # alone may be replaced by what is above the table
        if (c.above > 0) return;
    }
}

/* ---------------------------------------------------------------- kinds of rows ------------- */

/* The cells of a row, one after the other. */
typedef struct walk {
    const char *at, *end;
    const sl_csv__dialect *d;
    bool over;
} walk;

static walk walk_row(const head *h, int row) {
    return (walk){ h->bytes + h->sample.row[row].at, h->end, &h->out.dialect, false };
}

static bool next_cell(sl_cell *cell, walk *w) {
    if (w->over) return false;
    const sl_csv__field f = sl_io__csv_scan(w->at, w->end, w->d);
    *cell = (sl_cell){ f.text, f.n, f.quoted };
    w->at = f.next;
    w->over = f.end != SL_CSV__SEPARATOR;
    return true;
}

typedef enum kind { NUMBER, MISSING, TEXT } kind;

static kind kind_of(const sl_cell *cell) {
    double v;
    if (sl_io__cell_is_number(cell)) return NUMBER;
    return sl_io_cell_number(&v, cell, ',') == SL_CELL_TEXT ? TEXT : MISSING; // or infinite
}

static sl_status find_numeric(head *h) {
    const sl_csv__sample *s = &h->sample;
    const size_t n = (size_t)s->columns;
    int *balance = sl_calloc(n + 1, sizeof *balance);
    h->numeric = sl_calloc(n + 1, sizeof *h->numeric);
    if (!balance || !h->numeric) {
        sl_free(balance);
        return sl_fail_memory(n, sizeof *balance, "columns");
    }
    int rows = 0;
    for (int i = s->rows - 1; i >= 0 && rows < KIND_ROWS; i--) {
        if (s->row[i].cells != s->columns) continue;
        sl_cell cell;
        walk w = walk_row(h, i);
        for (int64_t j = 0; j < s->columns && next_cell(&cell, &w); j++) {
            const kind k = kind_of(&cell);
            balance[j] += k == NUMBER ? 1 : k == TEXT ? -1 : 0;
        }
        rows++;
    }
    for (int64_t j = 0; j < s->columns; j++) h->numeric[j] = balance[j] > 0;
    sl_free(balance);
    return SL_OK;
}

/* What a row has. */
typedef struct content {
    int filled;  // cells that are not empty
    int text;    // texts in columns of numbers
    int numbers; // numbers in those
    bool named;  // each of these has a text, and none ends in a colon
    bool units;  // each is a unit or missing, and one is
} content;

/* (m/s), [m/s] or m/s; what stands in brackets need not be known. */
static bool is_unit(const head *h, const sl_cell *c) {
    const bool bracketed = c->n > 2 && ((c->text[0] == '(' && c->text[c->n - 1] == ')') ||
                                        (c->text[0] == '[' && c->text[c->n - 1] == ']'));
    return bracketed || h->o->is_unit(c->text, c->n);
}

static content content_of(const head *h, int row) {
    content r = { .named = true, .units = h->o->is_unit != NULL };
    sl_cell cell;
    walk w = walk_row(h, row);
    for (int64_t j = 0; j < h->sample.columns && next_cell(&cell, &w); j++) {
        const kind k = kind_of(&cell);
        r.filled += cell.n > 0;
        if (!h->numeric[j]) continue;
        r.text += k == TEXT;
        r.numbers += k == NUMBER;
        r.named = r.named && k == TEXT && cell.text[cell.n - 1] != ':';
        r.units = r.units && (k == MISSING || (k == NUMBER && cell.n == 1 && *cell.text == '1') ||
                              (k == TEXT && is_unit(h, &cell)));
    }
    r.units = r.units && r.text > 0;
    return r;
}

static bool is_even(const head *h, int row) {
    return h->sample.row[row].cells == h->sample.columns;
}

/* -1: there is none. */
static int first_data(const head *h) {
    for (int i = 0; i < h->sample.rows; i++) {
        const content c = content_of(h, i);
        if (is_even(h, i) && c.text == 0 && c.numbers > 0) return i;
    }
    return -1;
}

/* ---------------------------------------------------------------- which row has names ------- */

static void keep_title(head *h, int row) {
    char *to = h->out.facts.title;
    const char *at = text_of(h->bytes + h->sample.row[row].at, h->end);
    const char *next = line_after(at, h->end, h->out.dialect.line_end);
    while (next > at && (unsigned char)next[-1] <= ' ') next--;
    size_t n = SL_MIN((size_t)(next - at), sizeof h->out.facts.title - 1);
    while (n > 0 && n < (size_t)(next - at) && ((unsigned char)at[n] & 0xC0) == 0x80) n--;
    memcpy(to, at, n);
    to[n] = '\0';
}

static void begin_at(head *h, int row, bool header) {
    h->out.start = h->sample.row[row].at;
    h->out.line = h->sample.row[row].line;
    h->out.header = header;
    h->out.facts.titles = row;
    if (row > 0) keep_title(h, 0);
}

/* The names are in the row above the data, or above a row of units, or further above. */
static bool find_names(head *h) {
    int names = h->data - 1;
    const content last = content_of(h, names);
    if (!is_even(h, names) || !(last.named || last.units)) return false;
    int top = names;
    while (top > 0 && is_even(h, top - 1) && content_of(h, top - 1).named) top--;
    if (!content_of(h, top).named) return false;
    h->out.facts.units = last.units && names > top;
    h->out.facts.between = names - top - h->out.facts.units;
    begin_at(h, top, true);
    if (h->out.facts.between > 0 && top == 0) keep_title(h, 1);
    return true;
}

/* Does each of the rows above the data have one cell and no more? */
static bool are_titles(const head *h) {
    for (int i = 0; i < h->data; i++)
        if (content_of(h, i).filled > 1) return false;
    return h->sample.columns > 1;
}

/* One name less than cells, and a first column that is text or counts rows, as R writes it. */
static bool has_row_names(const head *h) {
    const sl_csv__sample *s = &h->sample;
    if (h->data < 1 || s->row[h->data - 1].cells != s->columns - 1) return false;
    double before = 0;
    for (int i = h->data; i < s->rows; i++) {
        sl_cell cell;
        walk w = walk_row(h, i);
        double v;
        if (!is_even(h, i) || !next_cell(&cell, &w)) return false;
        const sl_cell_kind k = sl_io_cell_number(&v, &cell, ',');
        if (k == SL_CELL_TEXT) continue;
        if (k != SL_CELL_NUMBER || (i == h->data ? v != 0 && v != 1 : v != before + 1))
            return false;
        before = v;
    }
    // all of the names are texts
    sl_cell cell;
    walk w = walk_row(h, h->data - 1);
    while (next_cell(&cell, &w))
        if (kind_of(&cell) != TEXT) return false;
    return s->rows - h->data > 1;
}

static bool first_row_has_names(const head *h) {
    sl_cell cell;
    walk w = walk_row(h, 0);
    while (next_cell(&cell, &w))
        if (kind_of(&cell) == TEXT) return true;
    return false;
}

/* The last comment line above the table, if it has a text for each column. */
static void find_comment_names(head *h) {
    const sl_csv__dialect *d = &h->out.dialect;
    const char *stop = h->bytes + h->out.start, *line = NULL;
    for (const char *at = h->bytes; at < stop; at = line_after(at, stop, d->line_end))
        if (sl_io__csv_is_comment(at, stop, d)) line = at;
    if (!line) return;
    const char *end = line_after(line, stop, d->line_end);
    const char *text = text_of(line, end) + strlen(d->comment);
    while (text < end && *text == *d->comment) text++; // ## and more
    sl_cell cell;
    int64_t cells = 0;
    for (walk w = { text, end, d, false }; next_cell(&cell, &w); cells++)
        if (kind_of(&cell) != TEXT) return;
    if (cells != h->sample.columns) return;
    h->out.names = (size_t)(text - h->bytes);
    h->out.names_end = (size_t)(end - h->bytes);
    h->out.header = h->out.facts.comment_names = true;
}

static void find_begin(head *h) {
    begin_at(h, 0, h->o->header > 0);
    if (h->o->header == 0) return;
    if (h->data > 0 && find_names(h)) return;
    if (h->data > 0 && has_row_names(h)) {
        begin_at(h, h->data - 1, true);
        h->out.facts.row_names = true;
        return;
    }
    if (h->o->header > 0) return;
    if (h->data > 0 && are_titles(h))
        begin_at(h, h->data, false);
    else
        h->out.header = first_row_has_names(h);
    if (!h->out.header) find_comment_names(h);
}

/* ---------------------------------------------------------------- numbers ------------------- */

static void find_style(head *h) {
    sl_number_style *style = &h->out.facts.style;
    unsigned seen = 0;
    if (h->o->decimal) {
        const bool comma = h->o->decimal == ',';
        *style = (sl_number_style){ comma ? SL_MARK_GROUP : SL_MARK_DECIMAL,
                                    comma ? SL_MARK_DECIMAL : SL_MARK_GROUP };
        return;
    }
    for (int i = SL_MAX(h->data, 0); i < h->sample.rows; i++) {
        sl_cell cell;
        walk w = walk_row(h, i);
        for (int64_t j = 0; j < h->sample.columns && next_cell(&cell, &w); j++) {
            if (!h->numeric[j]) continue;
            const unsigned marks = sl_io__cell_marks(&cell);
            if (marks & SL_CELL__COMMA_UNCLEAR && !*h->out.facts.example &&
                cell.n < sizeof h->out.facts.example)
                memcpy(h->out.facts.example, cell.text, cell.n);
            seen |= marks;
        }
    }
    const bool comma_decimal = seen & SL_CELL__COMMA_DECIMAL,
               comma_group = seen & SL_CELL__COMMA_GROUP;
    const bool point_decimal = seen & SL_CELL__POINT_DECIMAL,
               point_group = seen & SL_CELL__POINT_GROUP;
    const bool unclear = seen & SL_CELL__COMMA_UNCLEAR;
    const char separator = h->out.dialect.separator;
    style->point = SL_MARK_DECIMAL;
    style->comma = separator == ',' ? SL_MARK_GROUP : SL_MARK_EITHER;
    if (comma_decimal && comma_group) {
        style->comma = SL_MARK_EITHER;
    } else if (comma_decimal || (point_group && !comma_group)) {
        style->comma = SL_MARK_DECIMAL;
    } else if (comma_group || (unclear && point_decimal)) {
        style->comma = SL_MARK_GROUP;
    } else if (unclear && separator == ';') { // it separates cells because commas are decimal
        style->comma = SL_MARK_DECIMAL;
        h->out.facts.assumed = true;
    }
    // with decimal commas 1.234 is 1234, if no other number has a decimal point
    if (!point_decimal && (point_group || (comma_decimal && seen & SL_CELL__POINT_UNCLEAR)))
        style->point = SL_MARK_GROUP;
    else if (point_group || (style->comma == SL_MARK_DECIMAL && !point_decimal))
        style->point = SL_MARK_EITHER;
}

/* ---------------------------------------------------------------- all of it ----------------- */

/* "sep=;" as the first line says what separates cells. */
static size_t find_separator(char *separator, const char *bytes, size_t n, char line_end) {
    if (n < 6 || memcmp(bytes, "sep=", 4) != 0 || !strchr(",;\t|", bytes[4])) return 0;
    const char *next = line_after(bytes, bytes + n, line_end);
    if (text_of(bytes + 5, next) != next) return 0;
    if (!*separator) *separator = bytes[4];
    return (size_t)(next - bytes);
}

sl_status sl_io__csv_head(sl_csv__head *out, const char *bytes, size_t n, bool whole, char line_end,
                          const sl_csv_options *o) {
    head h = { .o = o, .data = -1 };
    sl_csv__dialect *d = &h.out.dialect;
    *d = (sl_csv__dialect){ .separator = o->separator, .line_end = line_end };
    const size_t first = find_separator(&d->separator, bytes, n, line_end);
    h.bytes = bytes + first;
    h.end = bytes + n;
    find_comment(&h);
    sl_io__csv_guess(d, &h.sample, h.bytes, n - first, whole);
    sl_status st = SL_OK;
    if (h.sample.rows > 0) {
        SL_GO(find_numeric(&h));
        h.data = first_data(&h);
        find_begin(&h);
        find_style(&h);
    }
    strcpy(h.out.facts.comment, d->comment);
    h.out.start += first;
    h.out.line += first > 0;
    if (h.out.names_end > 0) {
        h.out.names += first;
        h.out.names_end += first;
    }
    *out = h.out;
done:
    sl_free(h.numeric);
    return st;
}
