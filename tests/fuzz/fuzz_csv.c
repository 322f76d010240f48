/* Any bytes as a file of a table. Cells are terminated where they end, as many as there are
 * columns, and written anew in quotes they are read the same; if it is no table there is a reason.
 * As a problem it has finite numbers, in as many rows as it says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/data.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROW_MAX = 3000 }; // so that limits are met

static void write_cell(sl_str *s, const char *text, bool first) {
    sl_str_add(s, first ? "\"" : ",\"");
    for (; *text; text++) {
        if (*text == '"') sl_str_add_char(s, '"');
        sl_str_add_char(s, *text);
    }
    sl_str_add_char(s, '"');
}

/* Appends the cells of all good rows, all in quotes. True if it was a table to its end. */
static bool rewrite(sl_str *s, const char *path, const sl_csv_options *o) {
    sl_csv *c = NULL;
    sl_fail_restore("");
    sl_status st = sl_io_csv_open(&c, path, o);
    if (st != SL_OK) {
        if (c) wrong("a table and a failure");
        expect_reason(st);
        return false;
    }
    const int columns = sl_io_csv_columns(c);
    if (columns < 1) wrong("no columns");
    for (int i = 0; i < columns && sl_io_csv_has_header(c); i++) {
        if (sl_io_csv_find(c, sl_io_csv_name(c, i)) > i) wrong("a column is not found");
        write_cell(s, sl_io_csv_name(c, i), i == 0);
    }
    if (sl_io_csv_has_header(c)) sl_str_add_char(s, '\n');
    int64_t line = 0;
    for (;;) {
        const sl_cell *cells;
        st = sl_io_csv_next(&cells, c);
        if (st == SL_OK && !cells) break;
        if (st != SL_OK) expect_reason(st);
        if (st == SL_ELIMIT || st == SL_EIO) break; // these stay
        if (sl_io_csv_line(c) <= line) wrong("lines do not count up");
        line = sl_io_csv_line(c);
        if (st != SL_OK) continue;
        for (int i = 0; i < columns; i++) {
            double v;
            if (strlen(cells[i].text) != cells[i].n) wrong("a cell is not as long as it says");
            unsigned signs;
            sl_cell_kind kind = sl_io_cell_number(&v, &cells[i], sl_io_csv_separator(c));
            if ((kind == SL_CELL_NUMBER) != isfinite(v)) wrong("a number that is none");
            kind = sl_io_cell_read(&v, &signs, &cells[i], sl_io_csv_facts(c)->style);
            if ((kind == SL_CELL_NUMBER) != isfinite(v)) wrong("a number that is none");
            if (kind == SL_CELL_NUMBER && signs & SL_SIGN_UNCLEAR) wrong("a number of two values");
            write_cell(s, cells[i].text, i == 0);
        }
        sl_str_add_char(s, '\n');
    }
    sl_io_csv_close(c);
    if (sl_str_status(s) != SL_OK) wrong("not written");
    return st == SL_OK;
}

static void round_trip(const char *path, sl_csv_options o) {
    char other[64];
    sl_str first = { 0 }, second = { 0 };
    const sl_csv_options again = { .separator = ',',
                                   .header = 0,
                                   .max_row = 1 << 20,
                                   .comment = "",
                                   .encoding = SL_ENCODING_UTF8 };
    o.max_row = ROW_MAX;
    if (rewrite(&first, path, &o) && first.len > 0) {
        const int fd = file_of(other, first.text, first.len);
        if (!rewrite(&second, other, &again)) wrong("what was written is not read");
        if (strcmp(first.text, second.text) != 0) wrong("reads back as something else");
        close(fd);
    }
    sl_str_clear(&first);
    sl_str_clear(&second);
}

static void read_table(const char *path, int max_inputs, const char *inputs) {
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table t = { .data = { .rows = -1 } };
    o.max_inputs = max_inputs;
    o.max_rows = 5;
    o.inputs = inputs;
    o.csv.max_row = ROW_MAX;
    sl_fail_restore("");
    const sl_status st = sl_data_table_read(&t, path, &o, NULL, NULL);
    if (st != SL_OK) {
        expect_reason(st);
        if (t.data.rows != -1) wrong("a failure left something");
        return;
    }
    if (t.data.rows < 2 || t.data.rows > 5 || t.data.inputs < 1 || t.data.inputs > max_inputs)
        wrong("no problem");
    if (t.data.rows + t.missing + t.infinite > t.read) wrong("more rows than there are");
    for (int64_t i = 0; i < t.data.rows; i++) {
        if (!isfinite(t.data.y[i])) wrong("not finite");
        for (int j = 0; j < t.data.inputs; j++)
            if (!isfinite(t.data.x[j][i])) wrong("not finite");
    }
    sl_data_table_clear(&t);
}

static sl_status on_row(const sl_csv *csv, const sl_cell *cells, const double *x, double y,
                        void *payload) {
    (void)cells;
    (void)x;
    (void)y;
    if (sl_io_csv_row(csv) != ++*(int64_t *)payload) wrong("rows do not count up");
    return SL_OK;
}

/* A summary has the rows that reading has; read once more there are as many. */
static void summarise(const char *path) {
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table_summary m;
    sl_table t;
    o.csv.max_row = ROW_MAX;
    sl_fail_restore("");
    sl_status st = sl_data_table_summary(&m, path, &o, NULL, NULL);
    if (st != SL_OK) {
        expect_reason(st);
        return;
    }
    st = sl_data_table_read(&t, path, &o, NULL, NULL);
    if ((st == SL_OK) != (m.target != NULL)) wrong("a summary is not what is read");
    if (st == SL_OK) {
        int64_t rows = 0;
        if (sl_data_table_rows(&t, path, &o, on_row, &rows) != SL_OK || rows != m.rows)
            wrong("not as many rows the second time");
        sl_data_table_clear(&t);
    }
    sl_data_table_summary_clear(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    const int64_t blocks = sl_mem_blocks();
    const int fd = file_of(path, data, size);
    round_trip(path, (sl_csv_options){ .header = -1 });
    round_trip(path, (sl_csv_options){ .header = 1, .encoding = SL_ENCODING_LATIN1, .skip = 1 });
    round_trip(path, (sl_csv_options){ .header = -1, .encoding = SL_ENCODING_UTF16 });
    round_trip(path, (sl_csv_options){ .header = -1, .comment = "%", .decimal = ',' });
    summarise(path);
    read_table(path, 1, NULL);
    read_table(path, 2, NULL);
    read_table(path, 2, "1");
    close(fd);
    if (sl_mem_blocks() != blocks) wrong("memory is lost");
    return 0;
}
