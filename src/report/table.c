/* table - the columns of a table. */
#include <math.h>
#include <string.h>

#include "report/report_impl.h"

static const char *separator_name(char separator) {
    static const struct {
        char is;
        const char *name;
    } known[] = {
        { ',', "comma" }, { ';', "semicolon" }, { '\t', "tab" }, { '|', "bar" }, { ' ', "blank" }
    };
    for (int i = 0; i < SL_LEN(known); i++)
        if (known[i].is == separator) return known[i].name;
    return NULL;
}

/* ---------------------------------------------------------------- JSON ---------------------- */

static void add_column_json(sl_str *s, const sl_table_column *c) {
    sl_io_json_open(s, NULL, '{');
    SL_JSON_FIELDS(s, c, name, unit);
    sl_io_json_add_text(s, "kind", sl_data_column_kind_name(c->kind));
    SL_JSON_FIELDS(s, c, missing, min, max);
    if (c->distinct >= 0)
        sl_io_json_add_int(s, "distinct", c->distinct);
    else
        sl_io_json_add_null(s, "distinct");
    sl_io_json_open(s, "first", '[');
    for (int i = 0; i < c->n_first; i++) sl_io_json_add_text(s, NULL, c->first[i]);
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

static void add_list_json(sl_str *s, const char *name, const char *const *list, int n) {
    sl_io_json_open(s, name, '[');
    for (int i = 0; i < n; i++) sl_io_json_add_text(s, NULL, list[i]);
    sl_io_json_close(s, ']');
}

void sl_report_table_json(sl_str *s, const char *file, const sl_table_summary *t) {
    const char separator[2] = { t->separator };
    const char *name = separator_name(t->separator);
    sl_io_json_open(s, "table", '{');
    sl_io_json_add_text(s, "file", file);
    sl_io_json_add_int(s, "rows", t->rows);
    sl_io_json_open(s, "columns", '[');
    for (int i = 0; i < t->columns; i++) add_column_json(s, &t->column[i]);
    sl_io_json_close(s, ']');
    sl_io_json_add_text(s, "separator", name ? name : separator);
    sl_io_json_add_bool(s, "header", t->header);
    add_list_json(s, "notes", t->notes, t->n_notes);
    sl_io_json_add_text(s, "target", t->target);
    add_list_json(s, "inputs", t->inputs, t->n_inputs);
    sl_io_json_open(s, "preview", '[');
    for (int r = 0; r < t->preview_rows; r++)
        add_list_json(s, NULL, t->preview + (size_t)r * (size_t)t->columns, t->columns);
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- text ---------------------- */

enum { NAME_WIDTH = 20, FIRST_WIDTH = 12 };

/* Appends a text that is safe to print, cut or padded to `width` characters. */
static sl_status add_padded(sl_str *s, const char *text, int width, bool pad) {
    sl_arena a = { 0 };
    const char *visible = sl_text_visible(&a, text);
    int n = 0, used;
    for (const char *at = visible; at && *at; at += used, n++) {
        sl_utf8_read(at, strlen(at), &used);
        const bool cut = n == width - 3 && strlen(at) > 3;
        if (cut) sl_str_add(s, "...");
        if (cut) n = width;
        if (cut) break;
        sl_str_add_bytes(s, at, (size_t)used);
    }
    for (; pad && n < width; n++) sl_str_add_char(s, ' ');
    sl_arena_clear(&a);
    return visible ? SL_OK : sl_fail(SL_ENOMEM, "no memory for a cell");
}

static void add_number(sl_str *s, double v) {
    char text[32] = "-";
    if (isfinite(v)) sl_snprintf(text, sizeof text, "%.6g", v);
    sl_str_addf(s, "  %-12s", text);
}

static sl_status add_column(sl_str *s, const sl_table_column *c) {
    char distinct[32] = "many";
    if (c->distinct >= 0) sl_snprintf(distinct, sizeof distinct, "%lld", (long long)c->distinct);
    sl_str_add(s, "  ");
    SL_TRY(add_padded(s, c->name, NAME_WIDTH, true));
    sl_str_add(s, "  ");
    SL_TRY(add_padded(s, c->unit ? c->unit : "", 8, true));
    sl_str_addf(s, "  %-8s  %7lld  %8s", sl_data_column_kind_name(c->kind), (long long)c->missing,
                distinct);
    add_number(s, c->min);
    add_number(s, c->max);
    for (int i = 0; i < c->n_first; i++) {
        sl_str_add(s, i ? ", " : "  ");
        SL_TRY(add_padded(s, c->first[i], FIRST_WIDTH, false));
    }
    sl_str_add_char(s, '\n');
    return SL_OK;
}

/* "  inputs        a, b" */
static sl_status add_names(sl_str *s, const char *what, const char *const *names, int n) {
    sl_str_addf(s, "  %-13s ", what);
    for (int i = 0; i < n; i++) {
        if (i) sl_str_add(s, ", ");
        SL_TRY(add_padded(s, names[i], 3 * NAME_WIDTH, false));
    }
    sl_str_add(s, n ? "\n" : "-\n");
    return SL_OK;
}

sl_status sl_report_table_text(sl_str *s, const char *file, const sl_table_summary *t) {
    char rows[32];
    const char separator[2] = { t->separator };
    const char *name = separator_name(t->separator);
    SL_TRY(add_padded(s, file, 200, false));
    sl_str_addf(s, ": %s row%s, %d column%s, separator %s, %s\n\n", sl_group_digits(rows, t->rows),
                t->rows == 1 ? "" : "s", t->columns, t->columns == 1 ? "" : "s",
                name ? name : separator, t->header ? "with names" : "without names");
    sl_str_addf(s, "  %-*s  %-8s  %-8s  %7s  %8s  %-12s  %-12s  %s\n", (int)NAME_WIDTH, "column",
                "unit", "kind", "missing", "distinct", "min", "max", "first values");
    for (int i = 0; i < t->columns; i++) SL_TRY(add_column(s, &t->column[i]));
    sl_str_add_char(s, '\n');
    SL_TRY(add_names(s, "target", &t->target, t->target != NULL));
    SL_TRY(add_names(s, "inputs", t->inputs, t->n_inputs));
    for (int i = 0; i < t->n_notes; i++) {
        sl_str_addf(s, "  %-13s ", "note");
        SL_TRY(add_padded(s, t->notes[i], 500, false));
        sl_str_add_char(s, '\n');
    }
    return SL_OK;
}
