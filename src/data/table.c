/* table - a file's rows as columns of numbers: which columns, and which rows of them.
 *
 * A file is read once, since it may be a pipe, and never held. Rows go into a reservoir: the first
 * max_rows of them, and from then on row i takes the place of a random one with probability
 * max_rows/i, so at any time all rows read so far are in it with the same probability (Vitter's
 * algorithm R). At the end they are put back into the order of the file.
 *
 * Which columns are needed is known at once where they are named, or where no more columns than
 * wanted hold numbers, as the first row tells; then a row with a missing or infinite cell is
 * dropped as it comes. Else the columns are picked at the end, from the reservoir, and rows are
 * dropped then: a column that nobody needs may miss what it likes. The counts are then those of the
 * rows in the reservoir. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/table_impl.h"

enum {
    STREAM = 0x726f7773,
    ROWS_PER_REPORT = 8192,
    NAME_SHOWN = 60,       // bytes of a name or a cell in a message
    NAMES_SHOWN = 12,      // columns in a message
    COLUMNS_MAX = 1000,    // of numbers, to pick from
    NUMBERS_MAX = 1 << 24, // held to pick from: 128 MiB
};

typedef enum kind { UNKNOWN, NUMBER, TEXT } kind;

typedef struct reader {
    const sl_table_options *o;
    const char *shown; // the file, for messages
    sl_csv *csv;
    char separator;
    int target;
    bool named;   // the inputs are
    bool settled; // which columns are needed is known: a row that lacks one is dropped
    int width;    // numbers of a row that are held: the target, then columns that may be inputs
    int *column;  // of each
    kind *kinds;  // of each
    double *cell; // of the row that is looked at
    double *value;
    int64_t *number; // of each row that is held, in the file
    int64_t rows, cap, most;
    int64_t offered; // rows that could have been held
    int64_t missing, infinite;
    int text_columns;
    int text_column;                // the first of them, with
    char text_seen[NAME_SHOWN + 4]; // the cell that made it one
    sl_rng rng;
} reader;

/* ---------------------------------------------------------------- messages ------------------ */

/* Text from a file, for a message: not too long, and not cut inside a character. */
static const char *shorten(char buffer[NAME_SHOWN + 4], const char *text) {
    size_t n = strlen(text);
    if (n <= NAME_SHOWN) return text;
    n = NAME_SHOWN;
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
    memcpy(buffer, text, n);
    strcpy(buffer + n, "...");
    return buffer;
}

/* `"a", "b", "c" and 5 more` */
static void list_columns(sl_str *s, const sl_csv *csv) {
    char buffer[NAME_SHOWN + 4];
    const int n = sl_csv_columns(csv), listed = n <= NAMES_SHOWN + 1 ? n : NAMES_SHOWN;
    for (int i = 0; i < listed; i++)
        sl_str_addf(s, "%s\"%s\"", i ? ", " : "", shorten(buffer, sl_csv_name(csv, i)));
    if (n > listed) sl_str_addf(s, " and %d more", n - listed);
}

/* The name that comes nearest to a word that is none, or NULL. */
static const char *nearest(const sl_csv *csv, const char *word) {
    const char *best = NULL;
    const size_t n = strlen(word);
    // a word of one letter with that letter wrong is no slip of the finger
    int distance = n < 2 ? 1 : 2 + (int)SL_MIN(n, (size_t)64) / 4;
    for (int i = 0; i < sl_csv_columns(csv); i++) {
        const char *name = sl_csv_name(csv, i);
        const bool begins = n >= 1 && sl_strncasecmp(name, word, n) == 0;
        const int d = begins ? name[n] != 0 : sl_edit_distance(word, name);
        if (d >= distance) continue;
        distance = d;
        best = name;
    }
    return best;
}

static sl_status fail_unknown(const reader *r, const char *word, const char *role) {
    char shown[NAME_SHOWN + 4], near[NAME_SHOWN + 4];
    sl_str s = { 0 };
    const char *best = nearest(r->csv, word);
    sl_str_addf(&s, "%s has no column \"%s\" for the %s; ", r->shown, shorten(shown, word), role);
    if (best) sl_str_addf(&s, "did you mean \"%s\"? ", shorten(near, best));
    sl_str_add(&s, best ? "It has " : "it has ");
    list_columns(&s, r->csv);
    sl_status st = sl_str_status(&s);
    if (st == SL_OK) st = sl_fail(SL_EINVAL, "%s", s.text);
    sl_str_clear(&s);
    return st;
}

/* ---------------------------------------------------------------- which columns ------------- */

/* *column := the one that a word names. */
static sl_status find_column(int *column, const reader *r, const char *word, const char *role) {
    const sl_csv *csv = r->csv;
    char shown[NAME_SHOWN + 4];
    *column = sl_csv_find(csv, word);
    if (*column < 0) return fail_unknown(r, word, role);
    for (int i = *column + 1; i < sl_csv_columns(csv); i++)
        if (strcmp(sl_csv_name(csv, i), word) == 0)
            return sl_fail(SL_EINVAL,
                           "%s: columns %d and %d are both called \"%s\"; say which by its number",
                           r->shown, *column + 1, i + 1, shorten(shown, word));
    return SL_OK;
}

/* The column y or target, else the last. */
static sl_status find_target(reader *r) {
    static const char *const usual[] = { "y", "target" };
    if (r->o->target) return find_column(&r->target, r, r->o->target, "target");
    r->target = sl_csv_columns(r->csv) - 1;
    for (int k = 0; k < SL_LEN(usual); k++)
        for (int i = 0; i < sl_csv_columns(r->csv); i++)
            if (sl_strcasecmp(sl_csv_name(r->csv, i), usual[k]) == 0)
                return find_column(&r->target, r, sl_csv_name(r->csv, i), "target");
    return SL_OK;
}

/* Takes the next name off a list `a, "b, with a comma", 3` into `word`; false behind the last. A
 * name in quotes may have commas, and quotes written twice. */
static bool next_name(sl_str *word, const char **list, bool *more) {
    const char *at = *list;
    if (!*more) return false;
    sl_str_truncate(word, 0);
    at += strspn(at, " \t");
    if (*at == '"') {
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            sl_str_add_char(word, *at);
            if (*at == '"') at++;
        }
        at += *at == '"';
    }
    const size_t n = strcspn(at, ",");
    sl_str_add_bytes(word, at, n);
    size_t len = word->len;
    while (len > 0 && (word->text[len - 1] == ' ' || word->text[len - 1] == '\t')) len--;
    sl_str_truncate(word, len);
    *more = at[n] == ',';
    *list = at + n + *more;
    return true;
}

static sl_status add_input(reader *r, const char *word) {
    char shown[NAME_SHOWN + 4];
    int column;
    if (!*word) return sl_fail(SL_EINVAL, "an empty name among the inputs \"%s\"", r->o->inputs);
    SL_TRY(find_column(&column, r, word, "input"));
    if (column == r->target)
        return sl_fail(SL_EINVAL, "column \"%s\" is the target, so it cannot be an input too",
                       shorten(shown, sl_csv_name(r->csv, column)));
    for (int i = 1; i < r->width; i++)
        if (r->column[i] == column)
            return sl_fail(SL_EINVAL, "column \"%s\" is named twice among the inputs",
                           shorten(shown, sl_csv_name(r->csv, column)));
    if (r->width > r->o->max_inputs)
        return sl_fail(SL_EINVAL, "more than %d input%s named, and the model takes no more",
                       r->o->max_inputs, r->o->max_inputs == 1 ? " is" : "s are");
    r->column[r->width++] = column;
    return SL_OK;
}

static sl_status find_inputs(reader *r) {
    sl_status st = SL_OK;
    const char *list = r->o->inputs;
    if (sl_csv_find(r->csv, list) >= 0) return add_input(r, list); // a name with a comma, perhaps
    sl_str word = { 0 };
    bool more = true;
    while (next_name(&word, &list, &more)) {
        SL_GO(sl_str_status(&word));
        SL_GO(add_input(r, sl_str_text(&word)));
    }
done:
    sl_str_clear(&word);
    return st;
}

/* A column turned out to be text. */
static void count_text(reader *r, int column, const sl_cell *cell) {
    if (r->text_columns++ > 0) return;
    char buffer[NAME_SHOWN + 4];
    r->text_column = column;
    strcpy(r->text_seen, shorten(buffer, cell->text));
}

/* All columns that are not known to be text. */
static sl_status take_all(reader *r, const sl_cell *cells) {
    r->settled = true;
    for (int i = 0; i < sl_csv_columns(r->csv); i++) {
        double v;
        if (i == r->target) continue;
        const sl_cell_kind k = sl_cell_number(&v, &cells[i], r->separator);
        if (k == SL_CELL_TEXT) {
            count_text(r, i, &cells[i]);
            continue;
        }
        if (k == SL_CELL_MISSING) r->settled = false;
        if (r->width > COLUMNS_MAX)
            return sl_fail(SL_ELIMIT, "%s has more than %d columns of numbers; name the inputs",
                           r->shown, (int)COLUMNS_MAX);
        r->column[r->width++] = i;
    }
    if (r->width - 1 > r->o->max_inputs) {
        r->settled = false;
        r->most = SL_MIN(r->most, (int64_t)NUMBERS_MAX / r->width);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- which rows ---------------- */

static sl_status fail_text(const reader *r, int column, const sl_cell *cell) {
    char name[NAME_SHOWN + 4], text[NAME_SHOWN + 4];
    return sl_fail(SL_EFORMAT, "%s: row %lld (line %lld), column \"%s\": \"%s\" is no number%s",
                   r->shown, (long long)sl_csv_row(r->csv), (long long)sl_csv_line(r->csv),
                   shorten(name, sl_csv_name(r->csv, column)), shorten(text, cell->text),
                   column == r->target && r->kinds[0] == UNKNOWN
                       ? "; the target must be a column of numbers"
                       : "");
}

/* r->cell := the row's numbers, NaN and infinities among them. *keep: can it be held? */
static sl_status take_cells(bool *keep, reader *r, const sl_cell *cells) {
    bool missing = false, infinite = false;
    for (int j = 0; j < r->width; j++) {
        if (r->kinds[j] == TEXT) continue;
        const sl_cell *cell = &cells[r->column[j]];
        const sl_cell_kind k = sl_cell_number(&r->cell[j], cell, r->separator);
        if (k == SL_CELL_TEXT) {
            if (r->named || j == 0 || r->kinds[j] == NUMBER)
                return fail_text(r, r->column[j], cell);
            r->kinds[j] = TEXT; // its first cell that is not missing
            count_text(r, r->column[j], cell);
            continue;
        }
        if (k != SL_CELL_MISSING) r->kinds[j] = NUMBER;
        if (j > 0 && !r->settled) continue;
        missing = missing || k == SL_CELL_MISSING;
        infinite = infinite || k == SL_CELL_INFINITE;
    }
    r->missing += missing;
    r->infinite += infinite && !missing;
    *keep = !missing && !infinite;
    return SL_OK;
}

static sl_status grow(reader *r) {
    const int64_t cap = SL_MIN(r->cap ? 2 * r->cap : 1024, r->most);
    double *value = sl_realloc(r->value, (size_t)cap * (size_t)r->width, sizeof *value);
    if (!value) return sl_fail_memory((size_t)cap * (size_t)r->width, sizeof *value, "a table");
    r->value = value;
    int64_t *number = sl_realloc(r->number, (size_t)cap, sizeof *number);
    if (!number) return sl_fail_memory((size_t)cap, sizeof *number, "a table");
    r->number = number;
    r->cap = cap;
    return SL_OK;
}

/* r->cell into the reservoir, or not. */
static sl_status hold(reader *r) {
    int64_t slot = r->rows;
    r->offered++;
    if (slot < r->most) {
        if (slot == r->cap) SL_TRY(grow(r));
        r->rows++;
    } else {
        // 64 random bits times the count: even to one part in 2^64 / count
        const unsigned __int128 wide = (unsigned __int128)sl_rng_u64(&r->rng);
        slot = (int64_t)(wide * (uint64_t)r->offered >> 64);
        if (slot >= r->most) return SL_OK;
    }
    memcpy(r->value + slot * r->width, r->cell, (size_t)r->width * sizeof *r->cell);
    r->number[slot] = sl_csv_row(r->csv);
    return SL_OK;
}

/* The next row's cells, NULL behind the last. A signal may be the wish to stop: who listens knows.
 */
static sl_status next_row(const sl_cell **cells, reader *r, sl_table_progress progress,
                          void *payload) {
    for (;;) {
        const sl_status st = sl_csv_next(cells, r->csv);
        const int64_t row = sl_csv_row(r->csv);
        if (progress && (st == SL_ECANCEL || row % ROWS_PER_REPORT == 0) &&
            progress(row, sl_csv_bytes(r->csv), sl_csv_size(r->csv), payload) != 0)
            return sl_fail(SL_ECANCEL, "stopped after row %lld of %s", (long long)row, r->shown);
        if (st != SL_ECANCEL || !progress) return st;
    }
}

static sl_status read_rows(reader *r, sl_table_progress progress, void *payload) {
    const sl_cell *cells;
    SL_TRY(next_row(&cells, r, progress, payload));
    if (cells && !r->named) SL_TRY(take_all(r, cells));
    while (cells) {
        bool keep;
        SL_TRY(take_cells(&keep, r, cells));
        if (keep) SL_TRY(hold(r));
        SL_TRY(next_row(&cells, r, progress, payload));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- the end ------------------- */

static sl_status fail_inputs(const reader *r) {
    char target[NAME_SHOWN + 4], name[NAME_SHOWN + 4];
    if (r->text_columns > 0)
        return sl_fail(SL_EINVAL,
                       "%s has no column of numbers beside the target \"%s\": column \"%s\" is "
                       "text, as its cell \"%s\" is no number",
                       r->shown, shorten(target, sl_csv_name(r->csv, r->target)),
                       shorten(name, sl_csv_name(r->csv, r->text_column)), r->text_seen);
    return sl_fail(SL_EINVAL,
                   "%s has no column of numbers beside the target \"%s\"; cells are separated by "
                   "commas, semicolons, tabs, | or blanks",
                   r->shown, shorten(target, sl_csv_name(r->csv, r->target)));
}

/* place[0 .. *inputs) := which of the held numbers of a row are its inputs. */
static sl_status choose_inputs(int *place, sl_table *t, reader *r) {
    int *number = sl_malloc((size_t)r->width, sizeof *number), n = 0;
    if (!number) return sl_fail_memory((size_t)r->width, sizeof *number, "columns");
    for (int j = 1; j < r->width; j++)
        if (r->named || r->kinds[j] == NUMBER) number[n++] = j;
    t->inputs = SL_MIN(n, r->o->max_inputs);
    t->chosen_from = n > t->inputs ? n : 0;
    sl_status st = SL_OK;
    if (n == 0)
        st = fail_inputs(r);
    else if (n > t->inputs && r->rows > 0) {
        const sl_table__block b = { r->value, r->width, r->rows };
        st = sl_table__pick(place, &t->explained, &b, 0, number, n, t->inputs, r->o->seed);
        for (int j = 0; j < t->inputs && st == SL_OK; j++) place[j] = number[place[j]];
    } else
        memcpy(place, number, (size_t)t->inputs * sizeof *place);
    sl_free(number);
    return st;
}

/* A held row and its number in the file. */
typedef struct held {
    int64_t number, slot;
} held;

static int cmp_held(const void *a, const void *b) {
    const held *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* list[0 .. *n) := the rows that have all inputs, in the order of the file. */
static void complete_rows(held *list, int64_t *n, reader *r, const int *place, int inputs) {
    *n = 0;
    for (int64_t i = 0; i < r->rows; i++) {
        bool missing = false, infinite = false;
        for (int j = 0; j < inputs; j++) {
            const double v = r->value[i * r->width + place[j]];
            missing = missing || isnan(v);
            infinite = infinite || isinf(v);
        }
        r->missing += missing;
        r->infinite += infinite && !missing;
        if (!missing && !infinite) list[(*n)++] = (held){ r->number[i], i };
    }
    if (r->offered > r->rows) qsort(list, (size_t)*n, sizeof *list, cmp_held);
}

static sl_status fail_rows(const reader *r, int64_t rows) {
    const int64_t read = sl_csv_row(r->csv);
    if (read == 0) return sl_fail(SL_EINVAL, "%s has no rows of data", r->shown);
    if (read == rows)
        return sl_fail(SL_EINVAL, "%s has 1 row of data; a law shows in 2 or more", r->shown);
    return sl_fail(SL_EINVAL,
                   "%s: %s of %lld rows has a number in every column that is needed: a cell is "
                   "missing in %lld, infinite in %lld; a law shows in 2 rows or more",
                   r->shown, rows ? "only 1" : "none", (long long)read, (long long)r->missing,
                   (long long)r->infinite);
}

static bool same_row(const sl_table *t, int64_t a, int64_t b) {
    bool same = t->y[a] == t->y[b];
    for (int j = 0; j < t->inputs; j++) same = same && t->x[j][a] == t->x[j][b];
    return same;
}

/* Counts the rows that are equal to an earlier one, by a table of hashes with open addressing. */
static sl_status count_repeated(sl_table *t) {
    size_t size = 16;
    while (size < 2 * (size_t)t->rows) size *= 2;
    int64_t *place = sl_calloc(size, sizeof *place); // row + 1; 0: free
    if (!place) return sl_fail_memory(size, sizeof *place, "hashes of rows");
    for (int64_t i = 0; i < t->rows; i++) {
        double row[SL_DATA_MAX_INPUTS + 1] = { t->y[i] + 0.0 }; // -0 equals 0, in bits too then
        for (int j = 0; j < t->inputs; j++) row[1 + j] = t->x[j][i] + 0.0;
        size_t at = sl_hash(row, sizeof row, 0) & (size - 1);
        while (place[at] && !same_row(t, place[at] - 1, i)) at = (at + 1) & (size - 1);
        if (place[at])
            t->repeated++;
        else
            place[at] = i + 1;
    }
    sl_free(place);
    return SL_OK;
}

static sl_status copy_text(char **out, const char *text) {
    *out = sl_malloc(strlen(text) + 1, 1);
    if (!*out) return sl_fail_memory(strlen(text) + 1, 1, "a column's name");
    strcpy(*out, text);
    return SL_OK;
}

static sl_status copy_column(double **out, const reader *r, int place, const held *list,
                             int64_t n) {
    *out = sl_malloc_wide((size_t)n, sizeof **out);
    if (!*out) return sl_fail_memory((size_t)n, sizeof **out, "a column");
    for (int64_t i = 0; i < n; i++) (*out)[i] = r->value[list[i].slot * r->width + place];
    return SL_OK;
}

static sl_status finish(sl_table *t, reader *r) {
    sl_status st;
    int place[SL_DATA_MAX_INPUTS];
    held *list = NULL;
    if (sl_csv_row(r->csv) == 0) return fail_rows(r, 0);
    SL_TRY(choose_inputs(place, t, r));
    list = sl_malloc((size_t)r->rows, sizeof *list);
    if (!list) SL_GO(sl_fail_memory((size_t)r->rows, sizeof *list, "rows"));
    complete_rows(list, &t->rows, r, place, t->inputs);
    if (t->rows < 2) SL_GO(fail_rows(r, t->rows));

    SL_GO(copy_column(&t->y, r, 0, list, t->rows));
    SL_GO(copy_text(&t->target, sl_csv_name(r->csv, r->target)));
    for (int j = 0; j < t->inputs; j++) {
        SL_GO(copy_column(&t->x[j], r, place[j], list, t->rows));
        SL_GO(copy_text(&t->names[j], sl_csv_name(r->csv, r->column[place[j]])));
    }
    t->columns = sl_csv_columns(r->csv);
    t->read = sl_csv_row(r->csv);
    t->missing = r->missing;
    t->infinite = r->infinite;
    t->text_columns = r->text_columns;
    st = count_repeated(t);
done:
    sl_free(list);
    return st;
}

static sl_status begin(reader *r, const char *path) {
    SL_TRY(sl_csv_open(&r->csv, path, &r->o->csv));
    r->separator = sl_csv_separator(r->csv);
    const size_t columns = (size_t)sl_csv_columns(r->csv);
    r->column = sl_malloc(columns, sizeof *r->column);
    r->kinds = sl_calloc(columns, sizeof *r->kinds);
    r->cell = sl_calloc(columns, sizeof *r->cell);
    if (!r->column || !r->kinds || !r->cell)
        return sl_fail_memory(columns, sizeof *r->cell, "columns");
    SL_TRY(find_target(r));
    r->column[0] = r->target;
    r->width = 1;
    r->named = r->settled = r->o->inputs != NULL;
    return r->named ? find_inputs(r) : SL_OK;
}

sl_status sl_table_read(sl_table *out, const char *path, const sl_table_options *o,
                        sl_table_progress progress, void *payload) {
    SL_ASSERT(o->max_inputs >= 1 && o->max_inputs <= SL_DATA_MAX_INPUTS && o->max_rows >= 2);
    sl_status st;
    sl_table t = { 0 };
    reader r = { .o = o, .most = o->max_rows };
    r.shown = strcmp(path, "-") == 0 ? "standard input" : path;
    sl_rng_init(&r.rng, o->seed, STREAM, 0);
    SL_GO(begin(&r, path));
    SL_GO(read_rows(&r, progress, payload));
    SL_GO(finish(&t, &r));
    *out = t;
    t = (sl_table){ 0 };
done:
    sl_csv_close(r.csv);
    sl_free(r.column);
    sl_free(r.kinds);
    sl_free(r.cell);
    sl_free(r.value);
    sl_free(r.number);
    sl_table_clear(&t);
    return st;
}

void sl_table_clear(sl_table *t) {
    for (int j = 0; j < SL_DATA_MAX_INPUTS; j++) {
        sl_free(t->x[j]);
        sl_free(t->names[j]);
    }
    sl_free(t->y);
    sl_free(t->target);
    *t = (sl_table){ 0 };
}
