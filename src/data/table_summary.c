/* table_summary - what all columns of a file hold, in one pass and bounded memory.
 *
 * Distinct values are counted by a table of hashes for each column, up to a limit; 64 bits make two
 * values with one hash unlikely far below it. A column's kind is that of its first cell that is not
 * missing, as for sl_data_table_read, which then says which columns it would take. */
#include <math.h>
#include <string.h>

#include "data/table_impl.h"

enum {
    DISTINCT_MAX = 10000, // counted in a column
    HASHES_MAX = 1 << 22, // of all columns: 32 MiB
    NOTES_MAX = 64,
    ROWS_PER_REPORT = 8192,
};

/* The values of a column that were seen. */
typedef struct seen {
    uint64_t *hash; // 0: free
    size_t size;    // a power of two; 0: none yet
    int64_t n;      // -1: more than are counted
} seen;

typedef struct summing {
    sl_table_summary out;
    sl_csv *csv;
    sl_number_style style;
    seen *seen; // of each column
    int64_t distinct_max;
    const char **odd; // note of the first cell that is no number, in a column of them; NULL: none
} summing;

const char *sl_data_column_kind_name(sl_column_kind k) {
    static const char *const names[] = { [SL_COLUMN_NUMBER] = "number",
                                         [SL_COLUMN_TEXT] = "text",
                                         [SL_COLUMN_DATE] = "date",
                                         [SL_COLUMN_CONSTANT] = "constant",
                                         [SL_COLUMN_EMPTY] = "empty" };
    return names[k];
}

/* ---------------------------------------------------------------- distinct values ----------- */

static bool is_new(seen *s, uint64_t h) {
    size_t at = h & (s->size - 1);
    while (s->hash[at] && s->hash[at] != h) at = (at + 1) & (s->size - 1);
    if (s->hash[at]) return false;
    s->hash[at] = h;
    return true;
}

static sl_status grow_seen(seen *s) {
    seen larger = { .size = s->size ? 2 * s->size : 64, .n = s->n };
    larger.hash = sl_calloc(larger.size, sizeof *larger.hash);
    if (!larger.hash) return sl_fail_memory(larger.size, sizeof *larger.hash, "values of a column");
    for (size_t i = 0; i < s->size; i++)
        if (s->hash[i]) is_new(&larger, s->hash[i]);
    sl_free(s->hash);
    *s = larger;
    return SL_OK;
}

static sl_status count_distinct(seen *s, const void *bytes, size_t n, int64_t most) {
    if (s->n < 0) return SL_OK;
    if (2 * (size_t)(s->n + 1) > s->size) SL_TRY(grow_seen(s));
    const uint64_t h = sl_hash(bytes, n, 0);
    s->n += is_new(s, h ? h : 1);
    if (s->n <= most) return SL_OK;
    sl_free(s->hash);
    *s = (seen){ .n = -1 };
    return SL_OK;
}

/* ---------------------------------------------------------------- cells --------------------- */

static sl_status copy(const char **out, summing *m, const char *text, size_t n) {
    *out = sl_arena_text(&m->out.arena, text, n);
    return *out ? SL_OK : sl_fail_memory(n + 1, 1, "cells of a table");
}

static sl_status note(summing *m, const char *line) {
    if (m->out.n_notes == NOTES_MAX) return SL_OK;
    SL_TRY(copy(&m->out.notes[m->out.n_notes], m, line, strlen(line)));
    m->out.n_notes++;
    return SL_OK;
}

/* Text in a column of numbers: the first such cell of each column is worth a note. */
static sl_status keep_odd(summing *m, int i, const sl_cell *cell) {
    char line[400], name[SL_TABLE__SHOWN + 4], text[SL_TABLE__SHOWN + 4];
    if (m->odd[i]) return SL_OK;
    const int n = sl_snprintf(
        line, sizeof line, "column \"%s\": row %lld (line %lld) has \"%s\", which is no number",
        sl_data__table_shorten(name, sl_io_csv_name(m->csv, i)), (long long)sl_io_csv_row(m->csv),
        (long long)sl_io_csv_line(m->csv), sl_data__table_shorten(text, cell->text));
    return copy(&m->odd[i], m, line, SL_MIN((size_t)n, sizeof line - 1));
}

static sl_status take_cell(summing *m, int i, const sl_cell *cell) {
    sl_table_column *c = &m->out.column[i];
    double v, seconds;
    unsigned signs;
    sl_table__order shows;
    const sl_cell_kind k = sl_io_cell_read(&v, &signs, cell, m->style);
    if (k == SL_CELL_MISSING) {
        c->missing++;
        return SL_OK;
    }
    if (c->kind == SL_COLUMN_EMPTY && k == SL_CELL_TEXT && !(signs & SL_SIGN_UNCLEAR))
        c->kind =
            sl_data__table_date(&seconds, &shows, cell->text, cell->n, SL_TABLE__ORDER_UNKNOWN)
                ? SL_COLUMN_DATE
                : SL_COLUMN_TEXT;
    else if (c->kind == SL_COLUMN_EMPTY)
        c->kind = SL_COLUMN_NUMBER;
    if (c->n_first < SL_TABLE_FIRST) SL_TRY(copy(&c->first[c->n_first++], m, cell->text, cell->n));
    if (c->kind == SL_COLUMN_NUMBER && k == SL_CELL_TEXT) SL_TRY(keep_odd(m, i, cell));
    if (k == SL_CELL_NUMBER && c->kind == SL_COLUMN_NUMBER) {
        v += 0.0;                 // -0 equals 0
        c->min = fmin(c->min, v); // of NaN and v: v
        c->max = fmax(c->max, v);
        return count_distinct(&m->seen[i], &v, sizeof v, m->distinct_max);
    }
    return count_distinct(&m->seen[i], cell->text, cell->n, m->distinct_max);
}

static sl_status take_row(summing *m, const sl_cell *cells) {
    sl_table_summary *t = &m->out;
    for (int i = 0; i < t->columns; i++) {
        SL_TRY(take_cell(m, i, &cells[i]));
        if (t->preview_rows < SL_TABLE_PREVIEW)
            SL_TRY(
                copy(&t->preview[t->preview_rows * t->columns + i], m, cells[i].text, cells[i].n));
    }
    t->preview_rows += t->preview_rows < SL_TABLE_PREVIEW;
    return SL_OK;
}

static sl_status take_rows(summing *m, sl_table_progress progress, void *payload) {
    for (;;) {
        const sl_cell *cells;
        const sl_status st = sl_io_csv_next(&cells, m->csv);
        const int64_t row = sl_io_csv_row(m->csv);
        if (progress && (st == SL_ECANCEL || row % ROWS_PER_REPORT == 0) &&
            progress(row, sl_io_csv_bytes(m->csv), sl_io_csv_size(m->csv), payload) != 0)
            return sl_fail(SL_ECANCEL, "stopped after row %lld", (long long)row);
        if (st == SL_ECANCEL && progress) continue;
        SL_TRY(st);
        if (!cells) return SL_OK;
        SL_TRY(take_row(m, cells));
    }
}

/* ---------------------------------------------------------------- columns ------------------- */

/* The unit as its name has it, between brackets behind the plain name. */
static sl_status name_column(summing *m, int i) {
    sl_table_column *c = &m->out.column[i];
    sl_unit unit;
    bool has_unit;
    const char *name = sl_io_csv_name(m->csv, i);
    SL_TRY(sl_data__table_copy_name(&c->name, &has_unit, &unit, &m->out.arena, m->csv, i));
    size_t plain = strlen(name);
    if (!sl_data_unit_of_name(&unit, &plain, name)) {
        const char *cell = sl_io_csv_unit(m->csv, i);
        const bool bracketed = strlen(cell) > 2 && (*cell == '(' || *cell == '[');
        return has_unit || *cell ? copy(&c->unit, m, cell + bracketed, strlen(cell) - 2 * bracketed)
                                 : SL_OK;
    }
    const char *open = name + plain + strspn(name + plain, " \t_");
    return copy(&c->unit, m, open + 1, strlen(open) - 2);
}

static sl_status begin(summing *m, const char *path, const sl_csv_options *o) {
    sl_table_summary *t = &m->out;
    const sl_csv_options csv = sl_data_table_csv(o);
    SL_TRY(sl_io_csv_open(&m->csv, path, &csv));
    m->style = sl_io_csv_facts(m->csv)->style;
    t->columns = sl_io_csv_columns(m->csv);
    t->separator = sl_io_csv_separator(m->csv);
    t->header = sl_io_csv_has_header(m->csv);
    const size_t n = (size_t)t->columns;
    m->distinct_max = SL_MIN(DISTINCT_MAX, HASHES_MAX / 4 / (int64_t)n);
    m->seen = sl_calloc(n, sizeof *m->seen);
    m->odd = sl_calloc(n, sizeof *m->odd);
    t->column = sl_arena_alloc(&t->arena, n * sizeof *t->column);
    t->preview = sl_arena_alloc(&t->arena, n * SL_TABLE_PREVIEW * sizeof *t->preview);
    t->notes = sl_arena_alloc(&t->arena, NOTES_MAX * sizeof *t->notes);
    t->inputs = sl_arena_alloc(&t->arena, SL_DATA_MAX_INPUTS * sizeof *t->inputs);
    if (!m->seen || !m->odd || !t->column || !t->preview || !t->notes || !t->inputs)
        return sl_fail_memory(n, sizeof *t->column, "columns");
    for (int i = 0; i < t->columns; i++) {
        t->column[i] = (sl_table_column){ .kind = SL_COLUMN_EMPTY, .min = NAN, .max = NAN };
        SL_TRY(name_column(m, i));
    }
    return SL_OK;
}

/* Which columns would be taken; a failure to take any is a note. */
static sl_status choose(summing *m, const char *path, const sl_table_options *o,
                        sl_table_progress progress, void *payload) {
    sl_table t;
    char line[SL_FAIL_LINE];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    sl_status st = sl_data_table_read(&t, path, o, progress, payload);
    if (st == SL_ENOMEM || st == SL_ECANCEL || st == SL_EIO) return st;
    if (st != SL_OK) {
        st = note(m, sl_last_error());
        sl_fail_restore(line);
        return st;
    }
    for (int i = 0; i < t.n_notes; i++) SL_GO(note(m, t.notes[i]));
    SL_GO(copy(&m->out.target, m, t.data.target, strlen(t.data.target)));
    for (int i = 0; i < t.data.inputs; i++)
        SL_GO(copy(&m->out.inputs[i], m, t.data.names[i], strlen(t.data.names[i])));
    m->out.n_inputs = t.data.inputs;
done:
    sl_data_table_clear(&t);
    return st;
}

static sl_status finish(summing *m) {
    for (int i = 0; i < m->out.columns; i++) {
        sl_table_column *c = &m->out.column[i];
        c->distinct = m->seen[i].n;
        if (c->kind == SL_COLUMN_NUMBER && c->distinct == 1 && c->min == c->max)
            c->kind = SL_COLUMN_CONSTANT;
        if (m->odd[i]) SL_TRY(note(m, m->odd[i]));
    }
    m->out.rows = sl_io_csv_row(m->csv);
    return SL_OK;
}

sl_status sl_data_table_summary(sl_table_summary *out, const char *path, const sl_table_options *o,
                                sl_table_progress progress, void *payload) {
    sl_status st;
    summing m = { .csv = NULL };
    SL_GO(begin(&m, path, &o->csv));
    SL_GO(take_rows(&m, progress, payload));
    SL_GO(finish(&m));
    SL_GO(choose(&m, path, o, progress, payload));
    *out = m.out;
    m.out = (sl_table_summary){ 0 };
done:
    for (int i = 0; m.seen && i < sl_io_csv_columns(m.csv); i++) sl_free(m.seen[i].hash);
    sl_free(m.seen);
    sl_free(m.odd);
    sl_io_csv_close(m.csv);
    sl_data_table_summary_clear(&m.out);
    return st;
}

void sl_data_table_summary_clear(sl_table_summary *s) {
    sl_arena_clear(&s->arena);
    *s = (sl_table_summary){ 0 };
}
