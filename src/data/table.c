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

typedef enum kind { UNKNOWN, NUMBER, TEXT } kind;

typedef struct reader {
    sl_table__columns of; // that are held
    char separator;
    bool settled; // which columns are needed is known: a row that lacks one is dropped
    kind *kinds;  // of each column that is held
    double *cell; // of the row that is looked at
    double *value;
    int64_t *number; // of each row that is held, in the file
    int64_t rows, cap, most;
    int64_t offered; // rows that could have been held
    int64_t missing, infinite, weightless;
    int text_columns;
    int text_column;                     // the first of them, with
    char text_seen[SL_TABLE__SHOWN + 4]; // the cell that made it one
    sl_rng rng;
} reader;

/* ---------------------------------------------------------------- which columns ------------- */

/* A column turned out to be text. */
static void count_text(reader *r, int column, const sl_cell *cell) {
    if (r->text_columns++ > 0) return;
    char buffer[SL_TABLE__SHOWN + 4];
    r->text_column = column;
    strcpy(r->text_seen, sl_data__table_shorten(buffer, cell->text));
}

/* All columns that are not known to be text. */
static sl_status take_all(reader *r, const sl_cell *cells) {
    r->settled = true;
    for (int i = 0; i < sl_io_csv_columns(r->of.csv); i++) {
        double v;
        if (i == r->of.target || (r->of.first > 1 && i == r->of.column[1])) continue;
        const sl_cell_kind k = sl_io_cell_number(&v, &cells[i], r->separator);
        if (k == SL_CELL_TEXT) {
            count_text(r, i, &cells[i]);
            continue;
        }
        if (k == SL_CELL_MISSING) r->settled = false;
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

static sl_status fail_text(const reader *r, int column, const sl_cell *cell) {
    char name[SL_TABLE__SHOWN + 4], text[SL_TABLE__SHOWN + 4];
    return sl_fail(SL_EFORMAT, "%s: row %lld (line %lld), column \"%s\": \"%s\" is no number%s",
                   r->of.shown, (long long)sl_io_csv_row(r->of.csv),
                   (long long)sl_io_csv_line(r->of.csv),
                   sl_data__table_shorten(name, sl_io_csv_name(r->of.csv, column)),
                   sl_data__table_shorten(text, cell->text),
                   column == r->of.target && r->kinds[0] == UNKNOWN
                       ? "; the target must be a column of numbers"
                       : "");
}

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
        if (r->kinds[j] == TEXT) continue;
        const sl_cell *cell = &cells[r->of.column[j]];
        const sl_cell_kind k = sl_io_cell_number(&r->cell[j], cell, r->separator);
        if (k == SL_CELL_TEXT) {
            if (r->of.named || j < r->of.first || r->kinds[j] == NUMBER)
                return fail_text(r, r->of.column[j], cell);
            r->kinds[j] = TEXT; // its first cell that is not missing
            count_text(r, r->of.column[j], cell);
            continue;
        }
        if (k != SL_CELL_MISSING) r->kinds[j] = NUMBER;
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
        if (r->of.named || r->kinds[j] == NUMBER) number[n++] = j;
    const int inputs = t->data.inputs = SL_MIN(n, r->of.o->max_inputs);
    t->chosen_from = n > inputs ? n : 0;
    sl_status st = SL_OK;
    if (n == 0)
        st = fail_inputs(r);
    else if (n > inputs && r->rows > 0) {
        const sl_table__block b = { r->value, r->of.width, r->rows };
        st = sl_data__table_pick(place, &t->explained, &b, 0, number, n, inputs, r->of.o->seed);
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
        if (input) t->column[j] = r->of.column[place[j]];
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

static sl_status copy_column(const double **out, sl_table *t, const reader *r, int place,
                             const held *list) {
    const int64_t n = t->data.rows;
    double *v = sl_arena_alloc(&t->arena, (size_t)n * sizeof *v);
    if (!v) return sl_fail_memory((size_t)n, sizeof *v, "a column");
    for (int64_t i = 0; i < n; i++) v[i] = r->value[list[i].slot * r->of.width + place];
    *out = v;
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

    SL_GO(copy_column(&d->y, t, r, 0, list));
    if (r->of.first > 1) SL_GO(copy_column(&d->sigma, t, r, 1, list));
    d->sigma_absolute = r->of.o->sigma != NULL;
    for (int j = 0; j < d->inputs; j++) SL_GO(copy_column(&d->x[j], t, r, place[j], list));
    SL_GO(copy_names(t, r, place));
    t->columns = sl_io_csv_columns(r->of.csv);
    t->read = sl_io_csv_row(r->of.csv);
    t->missing = r->missing;
    t->infinite = r->infinite;
    t->weightless = r->weightless;
    t->text_columns = r->text_columns;
    st = count_repeated(&t->repeated, d);
done:
    sl_free(list);
    return st;
}

static sl_status begin(reader *r, const char *path) {
    SL_TRY(sl_io_csv_open(&r->of.csv, path, &r->of.o->csv));
    r->separator = sl_io_csv_separator(r->of.csv);
    const size_t columns = (size_t)sl_io_csv_columns(r->of.csv);
    r->of.column = sl_malloc(columns + 1, sizeof *r->of.column);
    r->kinds = sl_calloc(columns, sizeof *r->kinds);
    r->cell = sl_calloc(columns, sizeof *r->cell);
    if (!r->of.column || !r->kinds || !r->cell)
        return sl_fail_memory(columns, sizeof *r->cell, "columns");
    SL_TRY(sl_data__table_find_columns(&r->of));
    r->settled = r->of.named;
    return SL_OK;
}

sl_status sl_data_table_read(sl_table *out, const char *path, const sl_table_options *o,
                             sl_table_progress progress, void *payload) {
    SL_ASSERT(o->max_inputs >= 1 && o->max_inputs <= SL_DATA_MAX_INPUTS && o->max_rows >= 2);
    sl_status st;
    sl_table t = { 0 };
    reader r = { .of = { .o = o }, .most = o->max_rows };
    r.of.shown = strcmp(path, "-") == 0 ? "standard input" : path;
    sl_rng_init(&r.rng, o->seed, STREAM, 0);
    SL_GO(begin(&r, path));
    SL_GO(read_rows(&r, progress, payload));
    SL_GO(finish(&t, &r));
    *out = t;
    t = (sl_table){ 0 };
done:
    sl_io_csv_close(r.of.csv);
    sl_free(r.of.column);
    sl_free(r.kinds);
    sl_free(r.cell);
    sl_free(r.value);
    sl_free(r.number);
    sl_data_table_clear(&t);
    return st;
}

void sl_data_table_clear(sl_table *t) {
    sl_arena_clear(&t->arena);
    *t = (sl_table){ 0 };
}
