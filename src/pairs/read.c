/* read - pairs from other sources, one line of JSON each:
 *
 *     {"id": "a7", "x": [[1, 2, 3], [0.5, 0.5, 1]], "y": [1.5, 2.5, 4], "expr": "x1 + x2"}
 *
 * Strict, because a silent correction here would be a wrong figure later. Every error states what
 * was found, where, and what is expected. Fields of other names are ignored. */
#include <math.h>
#include <string.h>

#include "io/io.h"
#include "pairs/pairs.h"

#define COLUMNS "x must be a list of columns: [[...], [...]]"

static const char *kind_of(const sl_json *j) { return sl_io_json_kind_text(sl_io_json_kind_of(j)); }

static const char *plural(int n) { return n == 1 ? "" : "s"; }

static sl_status copy_text(const char **out, sl_arena *a, const char *text) {
    const char *copy = sl_arena_text(a, text, strlen(text));
    if (!copy) return sl_fail_memory(strlen(text) + 1, 1, "the text of a pair");
    *out = copy;
    return SL_OK;
}

/* Text, or a whole number. One that came as a REAL is whole and exact up to 2^53: beyond, digits
 * are lost already. */
static sl_status read_id(sl_pair_input *g, sl_arena *a, const sl_json *j) {
    char text[32];
    switch (sl_io_json_kind_of(j)) {
    case SL_JSON_TEXT: return copy_text(&g->id, a, sl_io_json_text(j));
    case SL_JSON_INT: sl_snprintf(text, sizeof text, "%lld", (long long)sl_io_json_int(j)); break;
    case SL_JSON_REAL: {
        const double v = sl_io_json_real(j);
        if (fabs(v) > 0x1p53)
            return sl_fail(SL_EFORMAT, "id is a number of too many digits; write it as a text");
        if (v != floor(v)) return sl_fail(SL_EFORMAT, "id is %g, not a text or whole number", v);
        sl_snprintf(text, sizeof text, "%lld", (long long)v);
        break;
    }
    default: return sl_fail(SL_EFORMAT, "id is %s, not a text or whole number", kind_of(j));
    }
    g->id_whole = true;
    return copy_text(&g->id, a, text);
}

/* name: of the list, for messages. */
static sl_status read_values(const double **out, sl_arena *a, const sl_json *list,
                             const char *name) {
    const int n = sl_io_json_count(list);
    double *v = sl_arena_alloc(a, (size_t)n * sizeof *v);
    if (!v) return sl_fail_memory((size_t)n, sizeof *v, "the values of a pair");
    for (int i = 0; i < n; i++) {
        const sl_json *j = sl_io_json_at(list, i);
        const sl_json_kind kind = sl_io_json_kind_of(j);
        if (kind != SL_JSON_INT && kind != SL_JSON_REAL)
            return sl_fail(SL_EFORMAT, "%s[%d] is %s, not a number", name, i, kind_of(j));
        v[i] = sl_io_json_real(j);
    }
    *out = v;
    return SL_OK;
}

static sl_status read_y(sl_dataset *d, sl_arena *a, const sl_json *y) {
    if (!y) return sl_fail(SL_EFORMAT, "there is no y");
    if (sl_io_json_kind_of(y) != SL_JSON_ARRAY)
        return sl_fail(SL_EFORMAT, "y is %s, not a list of numbers", kind_of(y));
    const int n = sl_io_json_count(y);
    d->rows = n;
    if (n < 2) // R2 compares with the variance of y
        return sl_fail(SL_EFORMAT, "y has %d value%s, but at least 2 are needed", n, plural(n));
    return read_values(&d->y, a, y, "y");
}

static sl_status read_x(sl_dataset *d, sl_arena *a, const sl_json *x, int variables) {
    if (!x) return sl_fail(SL_EFORMAT, "there is no x");
    if (sl_io_json_kind_of(x) != SL_JSON_ARRAY)
        return sl_fail(SL_EFORMAT, "x is %s; " COLUMNS, kind_of(x));
    d->inputs = sl_io_json_count(x);
    if (d->inputs == 0) return sl_fail(SL_EFORMAT, "x has no columns");
    for (int i = 0; i < d->inputs; i++) {
        const sl_json *column = sl_io_json_at(x, i);
        if (sl_io_json_kind_of(column) != SL_JSON_ARRAY)
            return sl_fail(SL_EFORMAT, "x[%d] is %s; " COLUMNS, i, kind_of(column));
    }
    if (d->inputs > variables)
        return sl_fail(SL_EFORMAT, "x has %d columns, but the configuration has %d variable%s%s",
                       d->inputs, variables, plural(variables),
                       d->inputs == d->rows ? "; x is one list per variable, not per point" : "");
    for (int i = 0; i < d->inputs; i++) {
        const sl_json *column = sl_io_json_at(x, i);
        const int n = sl_io_json_count(column);
        char name[16];
        sl_snprintf(name, sizeof name, "x[%d]", i);
        if (n != d->rows)
            return sl_fail(SL_EFORMAT, "%s has %d value%s but y has %d", name, n, plural(n),
                           (int)d->rows);
        SL_TRY(read_values(&d->x[i], a, column, name));
    }
    return SL_OK;
}

/* Over the columns that are there, and no free constants: those have no values here. */
static sl_status read_expr(sl_pair_input *g, sl_arena *a, const sl_json *j) {
    if (sl_io_json_kind_of(j) != SL_JSON_TEXT)
        return sl_fail(SL_EFORMAT, "expr is %s, not a text", kind_of(j));
    const sl_names names = { .count = g->data.inputs };
    const char *text = sl_io_json_text(j);
    sl_status st = sl_expr_parse(&g->expr, a, SL_FORMAT_INFIX, text, strlen(text), &names, NULL);
    if (st == SL_ENOMEM) return st;
    if (st != SL_OK)
        return sl_fail(st == SL_EFORMAT ? SL_EFORMAT : SL_ELIMIT, "expr, %s", sl_last_error());
    const int constant = sl_expr_max_par(g->expr);
    if (constant > 0)
        return sl_fail(SL_EFORMAT, "expr has c%d, a constant without a value", constant);
    return SL_OK;
}

static sl_status read_object(sl_pair_input *g, sl_arena *a, const sl_json *j, int variables) {
    if (sl_io_json_kind_of(j) != SL_JSON_OBJECT)
        return sl_fail(SL_EFORMAT, "the line is %s, not an object with x and y", kind_of(j));
    SL_TRY(read_y(&g->data, a, sl_io_json_get(j, "y")));
    SL_TRY(read_x(&g->data, a, sl_io_json_get(j, "x"), variables));
    const sl_json *id = sl_io_json_get(j, "id"), *expr = sl_io_json_get(j, "expr");
    // null counts as absent
    if (id && sl_io_json_kind_of(id) != SL_JSON_NULL) SL_TRY(read_id(g, a, id));
    if (expr && sl_io_json_kind_of(expr) != SL_JSON_NULL) SL_TRY(read_expr(g, a, expr));
    return SL_OK;
}

sl_status sl_pairs_read(sl_pair_input *out, sl_arena *a, const char *line, size_t n,
                        int variables) {
    SL_ASSERT(variables >= 1 && variables <= SL_DATA_MAX_INPUTS);
    if (n > INT32_MAX) // numbers of values and columns are int
        return sl_fail(SL_ELIMIT, "a line of %zu bytes; at most %d are read", n, INT32_MAX);
    sl_json *j = NULL;
    SL_TRY(sl_io_json_parse_line(&j, line, n));

    sl_pair_input g = { .id = "" };
    const size_t mark = sl_arena_mark(a);
    sl_status st = read_object(&g, a, j, variables);
    sl_io_json_free(j);
    if (st == SL_OK)
        *out = g;
    else
        sl_arena_rewind(a, mark);
    return st;
}
