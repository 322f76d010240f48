/* discover_fitted - the rows of the file once more, with what the formula makes of them.
 *
 * The file is read a second time, so that every row is there with all its columns, also where an
 * even sample of rows was fitted. Rows are held in blocks, for which the formula is evaluated at
 * once. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"

enum { BLOCK = 1024 };

typedef struct writing {
    sl_file *file;
    const sl_table *table;
    const sl_candidate *best;
    sl_commands_run *run;
    sl_arena arena;
    sl_str text;           // cells of the rows that are held, one after the other
    size_t end[BLOCK];     // of each row's
    double *x, *y, *value; // of the rows that are held
    int held;
    int64_t rows;
} writing;

/* Appends a name that no column has: NAME_fitted, or NAME_fitted_2 and so on. */
static void add_free_name(sl_str *s, const sl_csv *csv, const char *target, const char *what) {
    sl_str name = { 0 };
    for (int i = 1;; i++) {
        sl_str_truncate(&name, 0);
        sl_str_addf(&name, "%s_%s", target, what);
        if (i > 1) sl_str_addf(&name, "_%d", i);
        bool taken = false;
        for (int c = 0; c < sl_io_csv_columns(csv); c++)
            taken = taken || strcmp(sl_io_csv_name(csv, c), sl_str_text(&name)) == 0;
        if (!taken || name.failed) break;
    }
    s->failed = s->failed || name.failed;
    sl_io_csv_add_text(s, sl_str_text(&name));
    sl_str_clear(&name);
}

static sl_status write_names(writing *w, const sl_csv *csv) {
    sl_str s = { 0 };
    for (int c = 0; c < sl_io_csv_columns(csv); c++) {
        sl_io_csv_add_text(&s, sl_io_csv_name(csv, c));
        sl_str_add_char(&s, ',');
    }
    add_free_name(&s, csv, w->table->data.target, "fitted");
    sl_str_add_char(&s, ',');
    add_free_name(&s, csv, w->table->data.target, "residual");
    sl_str_add_char(&s, '\n');
    sl_status st = sl_str_status(&s);
    if (st == SL_OK) st = sl_file_write(w->file, s.text, s.len);
    sl_str_clear(&s);
    return st;
}

/* The held rows with their values. */
static sl_status flush(writing *w) {
    const int inputs = w->table->data.inputs;
    const double *x[SL_DATA_MAX_INPUTS];
    sl_str s = { 0 };
    sl_status st;
    for (int j = 0; j < inputs; j++) x[j] = w->x + (size_t)j * BLOCK;
    const sl_dataset rows = sl_data_view(x, inputs, w->y, w->held);
    SL_GO(sl_str_status(&w->text));
    SL_GO(sl_discover_candidate_eval(w->value, &w->arena, w->best, &rows));
    for (int i = 0; i < w->held; i++) {
        for (int j = 0; j < inputs; j++)
            if (isnan(x[j][i])) w->value[i] = NAN; // also of an input that the formula lacks
        const size_t begin = i ? w->end[i - 1] : 0;
        sl_str_add_bytes(&s, w->text.text + begin, w->end[i] - begin);
        sl_io_csv_add_number(&s, w->value[i]);
        sl_str_add_char(&s, ',');
        sl_io_csv_add_number(&s, w->y[i] - w->value[i]);
        sl_str_add_char(&s, '\n');
    }
    SL_GO(sl_str_status(&s));
    if (w->held > 0) SL_GO(sl_file_write(w->file, s.text, s.len));
    w->held = 0;
    sl_str_truncate(&w->text, 0);
    st = sl_commands_send_event(&w->run->listener, SYMLAW_EVENT_PROGRESS, "writing rows", 12,
                                (double)w->rows, (double)w->table->read);
done:
    sl_str_clear(&s);
    return st;
}

static sl_status on_row(const sl_csv *csv, const sl_cell *cells, const double *x, double y,
                        void *payload) {
    writing *w = payload;
    if (w->rows++ == 0) SL_TRY(write_names(w, csv));
    for (int c = 0; c < sl_io_csv_columns(csv); c++) {
        sl_io_csv_add_text(&w->text, cells[c].text);
        sl_str_add_char(&w->text, ',');
    }
    w->end[w->held] = w->text.len;
    for (int j = 0; j < w->table->data.inputs; j++)
        w->x[(size_t)j * BLOCK + (size_t)w->held] = x[j];
    w->y[w->held++] = y;
    return w->held == BLOCK ? flush(w) : SL_OK;
}

sl_status sl_commands__discover_fitted(sl_file **file, sl_commands_run *run, const sl_table *t,
                                       const sl_candidate *best, const char *path,
                                       const sl_table_options *o) {
    sl_status st;
    const size_t width = (size_t)t->data.inputs + 2;
    writing w = { .file = *file, .table = t, .best = best, .run = run };
    w.x = sl_malloc(width * BLOCK, sizeof *w.x);
    if (!w.x) return sl_fail_memory(width * BLOCK, sizeof *w.x, "rows");
    w.y = w.x + (width - 2) * BLOCK;
    w.value = w.y + BLOCK;
    SL_GO(sl_data_table_rows(t, path, o, on_row, &w));
    SL_GO(flush(&w));
    st = sl_file_commit(file);
done:
    sl_free(w.x);
    sl_str_clear(&w.text);
    sl_arena_clear(&w.arena);
    return st;
}
