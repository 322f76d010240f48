/* table - a file's rows as columns of numbers: which columns, and which rows of them.
 *
 * A file is read once, since it may be a pipe, and never held. Rows go into a reservoir: the first
 * max_rows of them, and from then on row i takes the place of a random one with probability
 * max_rows/i, so at any time all rows read so far are in it with the same probability (Vitter's
 * algorithm R). At the end they are put back into the order of the file.
 *
 * The columns are known at once if they are named, or if the first row has no more columns of
 * numbers than are needed; then a row with a missing or infinite cell is
 * dropped as it comes. Else the columns are picked at the end, from the reservoir, and rows are
 * dropped then: missing cells of unused columns do not matter. The counts are then those of the
 * rows in the reservoir. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/table_impl.h"

enum {
    STREAM = 0x726f7773,
    ROWS_PER_REPORT = 8192,
    NUMBERS_MAX = 1 << 24, // held to pick from: 128 MiB
};

typedef enum kind { UNKNOWN, NUMBER, DATE, WORDS, TEXT } kind;

enum { WORD_MAX = 64 };

/* What is known of a column that is held. */
typedef struct state {
    kind kind;
    unsigned signs;        // beside its numbers: all have them, or none
    sl_table__order order; // of its dates
    bool undecided;        // some may be in either order; they are held with the day first
    int words;             // different ones that it has, of
    char word[2][WORD_MAX];
} state;

typedef struct reader {
    sl_table__columns of; // that are held
    sl_number_style style;
    bool settled;  // which columns are needed is known: a row that lacks one is dropped
    state *states; // of each column that is held
    double *cell;  // of the row that is looked at
    double *value;
    int64_t *number; // of each row that is held, in the file
    int64_t rows, cap, most;
    int64_t offered; // rows that could have been held
    int64_t missing, infinite, weightless;
    int text_columns, date_columns;
    int text_column;                     // the first of the former, with
    char text_seen[SL_TABLE__SHOWN + 4]; // the cell that made it one
    int date_column;                     // the first of the latter
    sl_rng rng;
} reader;

static bool is_date(const sl_cell *cell) {
    double seconds;
    sl_table__order shows;
    return sl_data__table_date(&seconds, &shows, cell->text, cell->n, SL_TABLE__ORDER_UNKNOWN);
}

/* ---------------------------------------------------------------- which columns ------------- */

/* A column is ignored, as it has text or dates. */
static void pass_over(reader *r, int column, const sl_cell *cell) {
    if (is_date(cell)) {
        if (r->date_columns++ == 0) r->date_column = column;
        return;
    }
    if (r->text_columns++ > 0) return;
    char buffer[SL_TABLE__SHOWN + 4];
    r->text_column = column;
    strcpy(r->text_seen, sl_data__table_shorten(buffer, cell->text));
}

/* Is this one of the columns that may be inputs? */
static bool is_open(const reader *r, int column) {
    return column != r->of.target && !(r->of.first > 1 && column == r->of.column[1]);
}

/* All columns that are not known to be text; dates if there are no numbers. */
static sl_status take_all(reader *r, const sl_cell *cells) {
    bool numbers = false;
    double v;
    unsigned signs;
    for (int i = 0; i < sl_io_csv_columns(r->of.csv) && !numbers; i++)
        numbers =
            is_open(r, i) && sl_io_cell_read(&v, &signs, &cells[i], r->style) == SL_CELL_NUMBER;
    r->settled = true;
    for (int i = 0; i < sl_io_csv_columns(r->of.csv); i++) {
        if (!is_open(r, i)) continue;
        const sl_cell_kind k = sl_io_cell_read(&v, &signs, &cells[i], r->style);
        if (k == SL_CELL_TEXT && !(signs & SL_SIGN_UNCLEAR) && (numbers || !is_date(&cells[i]))) {
            pass_over(r, i, &cells[i]);
            continue;
        }
        if (k == SL_CELL_MISSING || k == SL_CELL_TEXT) r->settled = false;
        if (r->of.width - r->of.first >= SL_TABLE__COLUMNS_MAX)
            return sl_fail(SL_ELIMIT, "%s has more than %d columns of numbers; name the inputs",
                           r->of.shown, (int)SL_TABLE__COLUMNS_MAX);
        r->of.column[r->of.width++] = i;
    }
    if (r->of.width - r->of.first > r->of.o->max_inputs) {
        r->settled = false;
        r->most = SL_MIN(r->most, (int64_t)NUMBERS_MAX / r->of.width);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- which rows ---------------- */

/* The cell of a row cannot be taken; `why` may end the sentence. */
static sl_status fail_cell(const reader *r, int column, const sl_cell *cell, const char *why) {
    char name[SL_TABLE__SHOWN + 4], text[SL_TABLE__SHOWN + 4];
    return sl_fail(SL_EFORMAT, "%s: row %lld (line %lld), column \"%s\": \"%s\" %s", r->of.shown,
                   (long long)sl_io_csv_row(r->of.csv), (long long)sl_io_csv_line(r->of.csv),
                   sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, column)),
                   sl_data__table_shorten(text, cell->text), why);
}

static sl_status fail_text(const reader *r, int j, const sl_cell *cell, unsigned signs) {
    const int column = r->of.column[j];
    if (signs & SL_SIGN_UNCLEAR)
        return fail_cell(r, column, cell,
                         "has a mark that may be decimal or group digits; --decimal point or "
                         "--decimal comma says which");
    if (column == r->of.target && r->states[0].kind == UNKNOWN)
        return fail_cell(r, column, cell, "is no number; the target must be a column of numbers");
    return fail_cell(r, column, cell, "is no number");
}

/* A number with or without a percent or currency sign, where the others are not so. */
static sl_status fail_signs(const reader *r, int j, const sl_cell *cell, unsigned signs) {
    const unsigned differ = signs ^ r->states[j].signs;
    const bool percent = differ & SL_SIGN_PERCENT;
    char why[100];
    sl_snprintf(why, sizeof why, "has %s %s sign, and other numbers of the column have %s",
                signs & differ ? "a" : "no", percent ? "percent" : "currency",
                signs & differ ? "none" : "one");
    return fail_cell(r, r->of.column[j], cell, why);
}

/* ---------------------------------------------------------------- cells that are no number -- */

/* Dates that may be in either order were held with the day first; now the month is known to be. */
static void swap_dates(reader *r, int j) {
    for (int64_t i = 0; i < r->rows; i++) {
        double *v = &r->value[i * r->of.width + j];
        if (!isnan(*v)) *v = sl_data__table_swap_date(*v);
    }
}

/* r->cell[j] := the date in seconds. */
static sl_status take_date(reader *r, int j, const sl_cell *cell) {
    state *s = &r->states[j];
    sl_table__order shows;
    double *v = &r->cell[j];
    if (!sl_data__table_date(v, &shows, cell->text, cell->n, s->order))
        return fail_cell(r, r->of.column[j], cell, "is no date");
    if (isnan(*v)) {
        s->undecided = true;
        return sl_data__table_date(v, &shows, cell->text, cell->n, SL_TABLE__ORDER_DAY)
                   ? SL_OK
                   : fail_cell(r, r->of.column[j], cell, "is no date");
    }
    if (shows == SL_TABLE__ORDER_UNKNOWN || shows == s->order) return SL_OK;
    if (s->order != SL_TABLE__ORDER_UNKNOWN)
        return fail_cell(r, r->of.column[j], cell,
                         s->order == SL_TABLE__ORDER_DAY
                             ? "has the month first, and others the day"
                             : "has the day first, and others the month");
    s->order = shows;
    if (s->undecided && shows == SL_TABLE__ORDER_MONTH) swap_dates(r, j);
    s->undecided = false;
    return SL_OK;
}

/* r->cell[j] := which of the column's words it is. */
static sl_status take_word(reader *r, int j, const sl_cell *cell) {
    state *s = &r->states[j];
    char why[2 * WORD_MAX + 100];
    for (int i = 0; i < s->words; i++)
        if (strcmp(s->word[i], cell->text) == 0) {
            r->cell[j] = i;
            return SL_OK;
        }
    if (s->words < 2 && cell->n < WORD_MAX) {
        r->cell[j] = s->words;
        strcpy(s->word[s->words++], cell->text);
        return SL_OK;
    }
    sl_snprintf(why, sizeof why,
                "is no number; a column of text can be an input if it has two different values%s",
                s->words == 2 ? ", and this is the third" : "");
    return fail_cell(r, r->of.column[j], cell, why);
}

/* A cell that is no number and not missing. *taken := r->cell[j] has its value. */
static sl_status take_text(bool *taken, reader *r, int j, const sl_cell *cell, unsigned signs) {
    state *s = &r->states[j];
    *taken = true;
    if (s->kind == DATE) return take_date(r, j, cell);
    if (s->kind == WORDS) return take_word(r, j, cell);
    if (s->kind == NUMBER || j < r->of.first || signs & SL_SIGN_UNCLEAR)
        return fail_text(r, j, cell, signs);
    // the first cell that is not missing
    const bool numbers = r->settled && r->of.width - r->of.first > 1;
    if (is_date(cell) && (r->of.named || !numbers)) {
        s->kind = DATE;
        return take_date(r, j, cell);
    }
    if (r->of.named) {
        s->kind = WORDS;
        return take_word(r, j, cell);
    }
    s->kind = TEXT;
    pass_over(r, r->of.column[j], cell);
    *taken = false;
    return SL_OK;
}

/* ---------------------------------------------------------------- rows ---------------------- */

/* r->cell[1] := the row's sigma. */
static sl_status take_error(bool *keep, reader *r, const sl_cell *cell) {
    char name[SL_TABLE__SHOWN + 4], text[SL_TABLE__SHOWN + 4];
    const double v = r->cell[1];
    const bool weights = r->of.o->weights != NULL;
    if (v < 0 || (v == 0 && !weights))
        return sl_fail(
            SL_EFORMAT,
            "%s: row %lld (line %lld), column \"%s\": \"%s\" is no %s, which must be %s",
            r->of.shown, (long long)sl_io_csv_row(r->of.csv), (long long)sl_io_csv_line(r->of.csv),
            sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, r->of.column[1])),
            sl_data__table_shorten(text, cell->text), weights ? "weight" : "standard deviation",
            weights ? "0 or more" : "above 0");
    *keep = v > 0;
    r->weightless += !*keep;
    if (weights && v > 0) r->cell[1] = 1 / sqrt(v);
    return SL_OK;
}

/* r->cell := the row's numbers, NaN and infinities among them. *keep: can it be held? */
static sl_status take_cells(bool *keep, reader *r, const sl_cell *cells) {
    bool missing = false, infinite = false;
    for (int j = 0; j < r->of.width; j++) {
        state *s = &r->states[j];
        if (s->kind == TEXT) continue;
        const sl_cell *cell = &cells[r->of.column[j]];
        unsigned signs;
        const sl_cell_kind k = sl_io_cell_read(&r->cell[j], &signs, cell, r->style);
        if (k == SL_CELL_TEXT || ((s->kind == DATE || s->kind == WORDS) && k != SL_CELL_MISSING)) {
            bool taken;
            SL_TRY(take_text(&taken, r, j, cell, signs));
            if (!taken) continue;
        } else if (k != SL_CELL_MISSING) {
            signs &= SL_SIGN_PERCENT | SL_SIGN_CURRENCY;
            if (s->kind == UNKNOWN) s->signs = signs;
            s->kind = NUMBER;
            if (k == SL_CELL_NUMBER && signs != s->signs) return fail_signs(r, j, cell, signs);
        }
        if (j >= r->of.first && !r->settled) continue;
        missing = missing || k == SL_CELL_MISSING;
        infinite = infinite || k == SL_CELL_INFINITE;
    }
    r->missing += missing;
    r->infinite += infinite && !missing;
    *keep = !missing && !infinite;
    return *keep && r->of.first > 1 ? take_error(keep, r, &cells[r->of.column[1]]) : SL_OK;
}

static sl_status grow(reader *r) {
    const int64_t cap = SL_MIN(r->cap ? 2 * r->cap : 1024, r->most);
    double *value = sl_realloc(r->value, (size_t)cap * (size_t)r->of.width, sizeof *value);
    if (!value) return sl_fail_memory((size_t)cap * (size_t)r->of.width, sizeof *value, "a table");
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
    memcpy(r->value + slot * r->of.width, r->cell, (size_t)r->of.width * sizeof *r->cell);
    r->number[slot] = sl_io_csv_row(r->of.csv);
    return SL_OK;
}

/* The next row's cells, NULL behind the last. A signal may be a cancellation: the callback
 * decides. */
static sl_status next_row(const sl_cell **cells, reader *r, sl_table_progress progress,
                          void *payload) {
    for (;;) {
        const sl_status st = sl_io_csv_next(cells, r->of.csv);
        const int64_t row = sl_io_csv_row(r->of.csv);
        if (progress && (st == SL_ECANCEL || row % ROWS_PER_REPORT == 0) &&
            progress(row, sl_io_csv_bytes(r->of.csv), sl_io_csv_size(r->of.csv), payload) != 0)
            return sl_fail(SL_ECANCEL, "stopped after row %lld of %s", (long long)row, r->of.shown);
        if (st != SL_ECANCEL || !progress) return st;
    }
}

static sl_status read_rows(reader *r, sl_table_progress progress, void *payload) {
    const sl_cell *cells;
    SL_TRY(next_row(&cells, r, progress, payload));
    SL_TRY(sl_data__table_find_columns(&r->of, cells));
    r->settled = r->of.named;
    if (cells && !r->of.named) SL_TRY(take_all(r, cells));
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
    char target[SL_TABLE__SHOWN + 4], name[SL_TABLE__SHOWN + 4];
    if (r->text_columns > 0)
        return sl_fail(
            SL_EINVAL,
            "%s has no column of numbers beside the target \"%s\": column \"%s\" is "
            "text, as its cell \"%s\" is no number",
            r->of.shown, sl_data__table_shorten(target, sl_io_csv_name(r->of.csv, r->of.target)),
            sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, r->text_column)), r->text_seen);
    return sl_fail(SL_EINVAL,
                   "%s has no column of numbers beside the target \"%s\"; cells are separated by "
                   "commas, semicolons, tabs, | or blanks",
                   r->of.shown,
                   sl_data__table_shorten(target, sl_io_csv_name(r->of.csv, r->of.target)));
}

/* place[0 .. *inputs) := which of the held numbers of a row are its inputs. */
static sl_status choose_inputs(int *place, sl_table *t, reader *r) {
    int *number = sl_malloc((size_t)r->of.width, sizeof *number), n = 0;
    if (!number) return sl_fail_memory((size_t)r->of.width, sizeof *number, "columns");
    for (int j = r->of.first; j < r->of.width; j++)
        if (r->of.named || r->states[j].kind == NUMBER) number[n++] = j;
    // dates only where there is nothing else
    for (int j = r->of.first; j < r->of.width && n == 0; j++)
        if (r->states[j].kind == DATE) number[n++] = j;
    const int inputs = t->data.inputs = SL_MIN(n, r->of.o->max_inputs);
    t->chosen_from = n > inputs ? n : 0;
    sl_status st = SL_OK;
    if (n == 0)
        st = fail_inputs(r);
    else if (n > inputs && r->rows > 0) {
        const double *x[SL_TABLE__COLUMNS_MAX];
        for (int j = 0; j < n; j++) x[j] = r->value + number[j];
        const sl_columns from = { x, n, r->value, r->rows, r->of.width };
        st = sl_data_choose_inputs(place, &t->explained, &from, inputs, r->of.o->seed);
        for (int j = 0; j < inputs && st == SL_OK; j++) place[j] = number[place[j]];
    } else
        memcpy(place, number, (size_t)inputs * sizeof *place);
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
            const double v = r->value[i * r->of.width + place[j]];
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
    const int64_t read = sl_io_csv_row(r->of.csv);
    if (read == 0) return sl_fail(SL_EINVAL, "%s has no rows of data", r->of.shown);
    if (read == rows)
        return sl_fail(SL_EINVAL, "%s has 1 row of data; a law shows in 2 or more", r->of.shown);
    return sl_fail(SL_EINVAL,
                   "%s: %s of %lld rows has a number in every column that is needed: a cell is "
                   "missing in %lld, infinite in %lld; a law shows in 2 rows or more",
                   r->of.shown, rows ? "only 1" : "none", (long long)read, (long long)r->missing,
                   (long long)r->infinite);
}

static bool same_row(const sl_dataset *d, int64_t a, int64_t b) {
    bool same = d->y[a] == d->y[b];
    for (int j = 0; j < d->inputs; j++) same = same && d->x[j][a] == d->x[j][b];
    return same;
}

/* Counts the rows that are equal to an earlier one, by a table of hashes with open addressing. */
static sl_status count_repeated(int64_t *repeated, const sl_dataset *d) {
    size_t size = 16;
    while (size < 2 * (size_t)d->rows) size *= 2;
    int64_t *place = sl_calloc(size, sizeof *place); // row + 1; 0: free
    if (!place) return sl_fail_memory(size, sizeof *place, "hashes of rows");
    for (int64_t i = 0; i < d->rows; i++) {
        double row[SL_DATA_MAX_INPUTS + 1] = { d->y[i] + 0.0 }; // -0 equals 0, in bits too then
        for (int j = 0; j < d->inputs; j++) row[1 + j] = d->x[j][i] + 0.0;
        size_t at = sl_hash(row, sizeof row, 0) & (size - 1);
        while (place[at] && !same_row(d, place[at] - 1, i)) at = (at + 1) & (size - 1);
        if (place[at])
            ++*repeated;
        else
            place[at] = i + 1;
    }
    sl_free(place);
    return SL_OK;
}

static sl_status copy_names(sl_table *t, const reader *r, const int *place) {
    const int inputs = t->data.inputs;
    const char **names = sl_arena_alloc(&t->arena, (size_t)inputs * sizeof *names);
    if (!names) return sl_fail_memory((size_t)inputs, sizeof *names, "names of columns");
    for (int j = 0; j <= inputs; j++) {
        const bool input = j < inputs;
        sl_units *u = &t->units;
        sl_unit unit;
        SL_TRY(sl_data__table_copy_name(
            input ? &names[j] : &t->data.target, input ? &u->input_known[j] : &u->target_known,
            &unit, &t->arena, r->of.csv, input ? r->of.column[place[j]] : r->of.target));
        *(input ? &u->input[j] : &u->target) = unit.dimension;
        *(input ? &u->input_factor[j] : &u->target_factor) = unit.factor;
    }
    t->data.names = names;
    return SL_OK;
}

/* How the held numbers of a column become its values. */
static sl_status find_source(sl_table_source *out, sl_table *t, const reader *r, int place,
                             const held *list) {
    const state *s = &r->states[place];
    const int column = r->of.column[place];
    *out = (sl_table_source){ .column = column, .per = 1, .date_order = (int)s->order };
    char name[SL_TABLE__SHOWN + 4];
    if (s->kind == WORDS && s->words < 2)
        return sl_fail(
            SL_EFORMAT,
            "%s: column \"%s\" has text, \"%s\" in every row, and is no input; one of two "
            "different values can be",
            r->of.shown, sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, column)),
            s->word[0]);
    if (s->kind == WORDS) {
        const bool swap = s->words > 1 && strcmp(s->word[0], s->word[1]) > 0;
        out->words = true;
        for (int i = 0; i < s->words; i++) {
            const char *word = s->word[swap ? 1 - i : i];
            out->word[i] = sl_arena_text(&t->arena, word, strlen(word));
            if (!out->word[i]) return sl_fail_memory(WORD_MAX, 1, "words of a column");
        }
        out->per = swap ? -1 : 1; // value -> 1 - value
        out->from = swap ? 1 : 0;
    }
    if (s->kind != DATE) return SL_OK;
    if (s->undecided)
        return sl_fail(SL_EFORMAT,
                       "%s: column \"%s\" has dates that may have the day or the month first, and "
                       "none that decides it; write them as year-month-day",
                       r->of.shown,
                       sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, column)));
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < t->data.rows; i++) {
        const double v = r->value[list[i].slot * r->of.width + place];
        lo = fmin(lo, v);
        hi = fmax(hi, v);
    }
    out->date = true;
    out->from = r->value[list[0].slot * r->of.width + place];
    out->per = hi - lo < 2 * 86400.0 ? 1 : 86400;
    return SL_OK;
}

static double value_from(double v, const sl_table_source *s) { return (v - s->from) / s->per; }

static sl_status copy_column(const double **out, sl_table *t, const reader *r, int place,
                             const held *list, const sl_table_source *s) {
    const int64_t n = t->data.rows;
    double *v = sl_arena_alloc(&t->arena, (size_t)n * sizeof *v);
    if (!v) return sl_fail_memory((size_t)n, sizeof *v, "a column");
    for (int64_t i = 0; i < n; i++) v[i] = r->value[list[i].slot * r->of.width + place];
    for (int64_t i = 0; i < n && (s->date || s->words); i++) v[i] = value_from(v[i], s);
    *out = v;
    return SL_OK;
}

/* Notes of what was done to a column that is taken. */
static void note_column(sl_table__notes *n, const reader *r, int place, const sl_table_source *s) {
    char buffer[SL_TABLE__SHOWN + 4];
    const int column = r->of.column[place];
    const char *name = sl_data__table_shorten(buffer, sl_io_csv_name(r->of.csv, column));
    const unsigned signs = r->states[place].signs;
    if (signs & SL_SIGN_PERCENT)
        sl_data__table_note(n, "column \"%s\": percent signs are left out, 12.5%% is read as 12.5",
                            name);
    if (signs & SL_SIGN_CURRENCY)
        sl_data__table_note(n, "column \"%s\": currency signs are left out", name);
    if (s->date)
        sl_data__table_note(n, "column \"%s\" has dates: its values are %s since the first", name,
                            s->per == 1 ? "seconds" : "days");
    if (s->words)
        sl_data__table_note(n, "column \"%s\": \"%s\" is 0, \"%s\" is 1", name, s->word[0],
                            s->word[1] ? s->word[1] : "");
    const char *unit = sl_io_csv_unit(r->of.csv, column);
    sl_unit known;
    if (*unit && strcmp(unit, "-") != 0 && !sl_data__unit_of_cell(&known, unit))
        sl_data__table_note(n, "column \"%s\": \"%s\" is no known unit and not used", name, unit);
}

static sl_status note_all(sl_table *t, const reader *r, const int *place) {
    sl_table__notes n = { .arena = &t->arena };
    char name[SL_TABLE__SHOWN + 4];
    sl_data__table_note_file(&n, r->of.csv);
    note_column(&n, r, 0, &t->target_from);
    for (int j = 0; j < t->data.inputs; j++) note_column(&n, r, place[j], &t->input_from[j]);
    if (r->date_columns > 0)
        sl_data__table_note(
            &n,
            "column \"%s\" has dates and is not used; --inputs can name it, as days or seconds "
            "since the first",
            sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, r->date_column)));
    t->notes = n.line;
    t->n_notes = n.n;
    return n.failed ? sl_fail(SL_ENOMEM, "no memory for notes on a table") : SL_OK;
}

static sl_status copy_rows(sl_table *t, const held *list) {
    const int64_t n = t->data.rows;
    int64_t *row = sl_arena_alloc(&t->arena, (size_t)n * sizeof *row);
    if (!row) return sl_fail_memory((size_t)n, sizeof *row, "numbers of rows");
    for (int64_t i = 0; i < n; i++) row[i] = list[i].number;
    t->row = row;
    return SL_OK;
}

static sl_status finish(sl_table *t, reader *r) {
    sl_status st;
    int place[SL_DATA_MAX_INPUTS];
    held *list = NULL;
    sl_dataset *d = &t->data;
    if (sl_io_csv_row(r->of.csv) == 0) return fail_rows(r, 0);
    SL_TRY(choose_inputs(place, t, r));
    list = sl_malloc((size_t)r->rows, sizeof *list);
    if (!list) SL_GO(sl_fail_memory((size_t)r->rows, sizeof *list, "rows"));
    complete_rows(list, &d->rows, r, place, d->inputs);
    if (d->rows < 2) SL_GO(fail_rows(r, d->rows));

    SL_GO(find_source(&t->target_from, t, r, 0, list));
    SL_GO(copy_column(&d->y, t, r, 0, list, &t->target_from));
    static const sl_table_source plain = { .per = 1 };
    if (r->of.first > 1) SL_GO(copy_column(&d->sigma, t, r, 1, list, &plain));
    d->sigma_absolute = r->of.o->sigma != NULL;
    for (int j = 0; j < d->inputs; j++) {
        SL_GO(find_source(&t->input_from[j], t, r, place[j], list));
        SL_GO(copy_column(&d->x[j], t, r, place[j], list, &t->input_from[j]));
    }
    SL_GO(copy_names(t, r, place));
    SL_GO(note_all(t, r, place));
    SL_GO(copy_rows(t, list));
    t->columns = sl_io_csv_columns(r->of.csv);
    t->read = sl_io_csv_row(r->of.csv);
    t->missing = r->missing;
    t->infinite = r->infinite;
    t->weightless = r->weightless;
    t->text_columns = r->text_columns;
    t->date_columns = r->date_columns;
    st = count_repeated(&t->repeated, d);
done:
    sl_free(list);
    return st;
}

static sl_status begin(reader *r, const char *path) {
    const sl_csv_options csv = sl_data_table_csv(&r->of.o->csv);
    SL_TRY(sl_io_csv_open(&r->of.csv, path, &csv));
    r->style = sl_io_csv_facts(r->of.csv)->style;
    const size_t columns = (size_t)sl_io_csv_columns(r->of.csv);
    r->of.column = sl_malloc(columns + 1, sizeof *r->of.column);
    r->states = sl_calloc(columns + 1, sizeof *r->states);
    r->cell = sl_calloc(columns + 1, sizeof *r->cell);
    if (!r->of.column || !r->states || !r->cell)
        return sl_fail_memory(columns, sizeof *r->cell, "columns");
    return SL_OK;
}

sl_status sl_data_table_read(sl_table *out, const char *path, const sl_table_options *o,
                             sl_table_progress progress, void *payload) {
    SL_ASSERT(o->max_inputs >= 1 && o->max_inputs <= SL_DATA_MAX_INPUTS && o->max_rows >= 2);
    sl_status st;
    sl_table t = { 0 };
    reader r = { .of = { .o = o }, .most = o->max_rows };
    r.of.shown = o->csv.shown ? o->csv.shown : strcmp(path, "-") == 0 ? "standard input" : path;
    sl_rng_init(&r.rng, o->seed, STREAM, 0);
    SL_GO(begin(&r, path));
    SL_GO(read_rows(&r, progress, payload));
    SL_GO(finish(&t, &r));
    *out = t;
    t = (sl_table){ 0 };
done:
    sl_io_csv_close(r.of.csv);
    sl_free(r.of.column);
    sl_free(r.states);
    sl_free(r.cell);
    sl_free(r.value);
    sl_free(r.number);
    sl_data_table_clear(&t);
    return st;
}

/* ---------------------------------------------------------------- once more ----------------- */

static double value_of(const sl_cell *cell, const sl_table_source *s, sl_number_style style) {
    double v;
    unsigned signs;
    sl_table__order shows;
    const sl_cell_kind k = sl_io_cell_read(&v, &signs, cell, style);
    if (s->date && k != SL_CELL_MISSING)
        return sl_data__table_date(&v, &shows, cell->text, cell->n, (sl_table__order)s->date_order)
                   ? value_from(v, s)
                   : NAN;
    for (int i = 0; s->words && i < 2; i++)
        if (s->word[i] && strcmp(cell->text, s->word[i]) == 0) return i;
    return k == SL_CELL_NUMBER && !s->words ? v : NAN;
}

sl_status sl_data_table_rows(const sl_table *t, const char *path, const sl_table_options *o,
                             sl_table_row_fn on_row, void *payload) {
    sl_status st;
    sl_csv *csv = NULL;
    const sl_csv_options options = sl_data_table_csv(&o->csv);
    SL_GO(sl_io_csv_open(&csv, path, &options));
    const sl_number_style style = sl_io_csv_facts(csv)->style;
    if (sl_io_csv_columns(csv) != t->columns)
        SL_GO(sl_fail(SL_EIO, "%s has changed since it was read: it has %d columns and had %d",
                      path, sl_io_csv_columns(csv), t->columns));
    for (;;) {
        const sl_cell *cells;
        double x[SL_DATA_MAX_INPUTS];
        st = sl_io_csv_next(&cells, csv);
        if (st == SL_ECANCEL) continue; // a signal: the callback decides
        if (st != SL_OK || !cells) break;
        for (int j = 0; j < t->data.inputs; j++)
            x[j] = value_of(&cells[t->input_from[j].column], &t->input_from[j], style);
        const double y = value_of(&cells[t->target_from.column], &t->target_from, style);
        SL_GO(on_row(csv, cells, x, y, payload));
    }
done:
    sl_io_csv_close(csv);
    return st;
}

void sl_data_table_clear(sl_table *t) {
    sl_arena_clear(&t->arena);
    *t = (sl_table){ 0 };
}
