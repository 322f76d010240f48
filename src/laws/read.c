/* read - a table of runs from CSV or JSON lines. */
#include <math.h>
#include <string.h>

#include "io/io.h"
#include "laws/laws_impl.h"

enum { LINE_MAX_BYTES = 1 << 20 };

/* ---------------------------------------------------------------- CSV ----------------------- */

/* place[c] := which of the file's columns is ours, -1 if none. Texts and names go to the arena. */
static sl_status find_places(int place[SL_LAWS_COLUMN_COUNT], sl_laws_table *t, sl_arena *a,
                             const sl_csv *f, const sl_laws__names *names) {
    for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
        int best = -1, other = -1;
        place[c] = -1;
        for (int i = 0; i < sl_io_csv_columns(f); i++) {
            const int rank = sl_laws__name_rank(names, (sl_laws_column)c, sl_io_csv_name(f, i));
            if (rank < 0 || rank == best) continue; // of two columns of one name the first
            if (best >= 0) other = rank < best ? place[c] : i;
            if (best < 0 || rank < best) best = rank, place[c] = i;
        }
        if (place[c] < 0) {
            if (!names->name[c]) continue;
            return sl_fail(SL_EINVAL, "%.200s has no column \"%.60s\" (for %s)", t->source,
                           names->name[c], sl_laws__column_name((sl_laws_column)c));
        }
        t->name[c] = sl_laws__text(a, "%s", sl_io_csv_name(f, place[c]));
        if (!t->name[c]) return sl_fail(SL_ENOMEM, "no memory for names of columns");
        if (other >= 0)
            SL_TRY(sl_laws__table_note(t, a, "For %s the column \"%s\" is taken, not \"%s\".",
                                       sl_laws__column_name((sl_laws_column)c), t->name[c],
                                       sl_io_csv_name(f, other)));
    }
    return SL_OK;
}

/* For the message that no column is usable. */
static sl_status list_columns(sl_laws_table *t, sl_arena *a, const sl_csv *f) {
    sl_str s = { 0 };
    for (int i = 0; i < sl_io_csv_columns(f); i++)
        sl_str_addf(&s, "%s\"%s\"", i ? ", " : "", sl_io_csv_name(f, i));
    t->columns = s.failed ? NULL : sl_laws__text(a, "%s", sl_str_text(&s));
    sl_str_clear(&s);
    return t->columns ? SL_OK : sl_fail(SL_ENOMEM, "no memory for names of columns");
}

/* An infinite loss means that the run diverged; it counts as missing. */
static sl_status read_cell(double *out, const sl_laws_table *t, const sl_csv *f,
                           const sl_cell *cell, sl_laws_column c) {
    const sl_cell_kind kind = sl_io_cell_number(out, cell, sl_io_csv_separator(f));
    if (kind == SL_CELL_NUMBER || kind == SL_CELL_MISSING) return SL_OK;
    if (kind == SL_CELL_INFINITE && (c == SL_LAWS_COLUMN_loss || c == SL_LAWS_COLUMN_loss_test)) {
        *out = NAN;
        return SL_OK;
    }
    return sl_fail(
        SL_EFORMAT,
        "%.200s, line %lld: %.60s is \"%.40s\", not a number; leave it empty where there is none",
        t->source, (long long)sl_io_csv_line(f), t->name[c], cell->text);
}

static sl_status read_rows(sl_laws_table *t, sl_arena *a, sl_csv *f, const int *place) {
    for (;;) {
        const sl_cell *cells;
        SL_TRY(sl_io_csv_next(&cells, f));
        if (!cells) return SL_OK;
        sl_laws_run run = SL_LAWS_RUN_NONE;
        for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
            const sl_laws_column k = (sl_laws_column)c;
            if (place[c] < 0) continue;
            const sl_cell *cell = &cells[place[c]];
            if (sl_laws__column_is_text(k))
                *sl_laws__text_of(&run, k) = cell->text;
            else
                SL_TRY(read_cell(sl_laws__number(&run, k), t, f, cell, k));
        }
        SL_TRY(sl_laws_table_add(t, a, &run));
    }
}

static sl_status read_csv(sl_laws_table *t, sl_arena *a, const char *path,
                          const sl_laws__names *names) {
    sl_status st;
    sl_csv *f = NULL;
    int place[SL_LAWS_COLUMN_COUNT];
    const sl_csv_options o = { .header = 1, .max_row = LINE_MAX_BYTES };
    SL_GO(sl_io_csv_open(&f, path, &o));
    SL_GO(find_places(place, t, a, f, names));
    SL_GO(list_columns(t, a, f));
    st = read_rows(t, a, f, place);
done:
    sl_io_csv_close(f);
    return st;
}

/* ---------------------------------------------------------------- JSON lines ---------------- */

static sl_status read_member(sl_laws_run *run, sl_arena *a, const sl_laws_table *t, int64_t line,
                             sl_laws_column c, const sl_json_member *m) {
    const sl_json_kind kind = sl_io_json_kind_of(m->value);
    const bool number = kind == SL_JSON_INT || kind == SL_JSON_REAL;
    if (kind == SL_JSON_NULL) return SL_OK;
    if (sl_laws__column_is_text(c) && (kind == SL_JSON_TEXT || number)) {
        const char **text = sl_laws__text_of(run, c);
        *text = number ? sl_laws__text(a, "%g", sl_io_json_real(m->value))
                       : sl_laws__text(a, "%s", sl_io_json_text(m->value));
        return *text ? SL_OK : sl_fail(SL_ENOMEM, "no memory for a row of the table");
    }
    if (!sl_laws__column_is_text(c) && number) {
        *sl_laws__number(run, c) = sl_io_json_real(m->value);
        return SL_OK;
    }
    return sl_fail(SL_EFORMAT, "%.200s, line %lld: \"%.60s\" is %s; it must be %s", t->source,
                   (long long)line, m->name, sl_io_json_kind_text(kind),
                   sl_laws__column_is_text(c) ? "a text" : "a number");
}

static sl_status read_object(sl_laws_table *t, sl_arena *a, const sl_json *j, int64_t line,
                             const sl_laws__names *names) {
    sl_laws_run run = SL_LAWS_RUN_NONE;
    int best[SL_LAWS_COLUMN_COUNT];
    for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) best[c] = -1;
    for (sl_json_member m = sl_io_json_first(j); m.name; m = sl_io_json_next(j, m)) {
        for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
            const int rank = sl_laws__name_rank(names, (sl_laws_column)c, m.name);
            if (rank < 0 || (best[c] >= 0 && rank >= best[c])) continue;
            best[c] = rank;
            SL_TRY(read_member(&run, a, t, line, (sl_laws_column)c, &m));
            if (!t->name[c]) t->name[c] = sl_laws__text(a, "%s", m.name);
            if (!t->name[c]) return sl_fail(SL_ENOMEM, "no memory for names of columns");
        }
    }
    return sl_laws_table_add(t, a, &run);
}

static bool is_blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!sl_isspace(line[i])) return false;
    }
    return true;
}

static sl_status read_lines(sl_laws_table *t, sl_arena *a, sl_lines *f,
                            const sl_laws__names *names) {
    for (;;) {
        const char *line;
        size_t n;
        sl_json *j = NULL;
        SL_TRY(sl_io_lines_next(&line, &n, f));
        if (!line) return SL_OK;
        if (is_blank(line, n)) continue;
        const int64_t number = sl_io_lines_number(f);
        sl_status st = sl_io_json_parse_line(&j, line, n);
        if (st == SL_EFORMAT)
            st = sl_fail(SL_EFORMAT, "%.200s, line %lld: %.600s", t->source, (long long)number,
                         sl_last_error());
        if (st == SL_OK && sl_io_json_kind_of(j) != SL_JSON_OBJECT)
            st = sl_fail(SL_EFORMAT, "%.200s, line %lld is %s; a run is an object", t->source,
                         (long long)number, sl_io_json_kind_text(sl_io_json_kind_of(j)));
        if (st == SL_OK) st = read_object(t, a, j, number, names);
        sl_io_json_free(j);
        SL_TRY(st);
    }
}

static sl_status read_jsonl(sl_laws_table *t, sl_arena *a, const char *path,
                            const sl_laws__names *names) {
    sl_lines *f = NULL;
    SL_TRY(sl_io_lines_open(&f, path, LINE_MAX_BYTES));
    const sl_status st = read_lines(t, a, f, names);
    sl_io_lines_close(f);
    if (st != SL_OK) return st;
    for (int c = 0; c < SL_LAWS_COLUMN_COUNT; c++) {
        if (names->name[c] && !t->name[c])
            return sl_fail(SL_EINVAL, "%.200s has no member \"%.60s\" (for %s)", path,
                           names->name[c], sl_laws__column_name((sl_laws_column)c));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- which one ----------------- */

/* JSON lines if the path ends in .jsonl, .ndjson or .json (a pipe can be read only once); else by
 * the first character. */
static sl_status is_jsonl(bool *out, const char *path) {
    static const char *const ends[] = { ".jsonl", ".ndjson", ".json", ".jsonl.gz" };
    const size_t n = strlen(path);
    *out = false;
    for (int i = 0; i < SL_LEN(ends); i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && strcmp(path + n - k, ends[i]) == 0) *out = true;
    }
    if (*out || strcmp(path, "-") == 0 || sl_file_is_direct(path)) return SL_OK;
    sl_lines *f = NULL;
    const char *line = NULL;
    size_t size = 0;
    SL_TRY(sl_io_lines_open(&f, path, LINE_MAX_BYTES));
    const sl_status st = sl_io_lines_next(&line, &size, f);
    size_t at = 0;
    while (st == SL_OK && line && at < size && sl_isspace(line[at])) at++;
    *out = st == SL_OK && line && at < size && line[at] == '{';
    sl_io_lines_close(f);
    return st == SL_ELIMIT ? SL_OK : st; // a long line is refused by the CSV reader
}

sl_status sl_laws_table_read(sl_laws_table *out, sl_arena *a, const char *path, const char *map) {
    sl_laws_table t = { .source = sl_laws__text(a, "%s", path) };
    sl_laws__names names;
    bool json;
    if (!t.source) return sl_fail(SL_ENOMEM, "no memory for the name of a table");
    SL_TRY(sl_laws__names_read(&names, a, map));
    SL_TRY(is_jsonl(&json, path));
    SL_TRY(json ? read_jsonl(&t, a, path, &names) : read_csv(&t, a, path, &names));
    if (t.n == 0) return sl_fail(SL_EFORMAT, "%.300s has no runs", path);
    SL_TRY(sl_laws_table_end(&t, a));
    *out = t;
    return SL_OK;
}
