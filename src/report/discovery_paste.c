/* discovery_paste - a formula alone, in full precision, as other programs read it.
 *
 * Columns keep their names where the language has such names. Where it has not, they are x1, x2,
 * ..., and comments before the formula say which is which; formats for people, LaTeX, MathML and
 * infix, take any name. In a spreadsheet they are the columns of the file. */
#include <string.h>

#include "report/discovery_impl.h"

/* What begins a comment to the end of the line; NULL: none is needed. */
static const char *comment_of(sl_format format) {
    switch (format) {
    case SL_FORMAT_C: return "//";
    case SL_FORMAT_PYTHON:
    case SL_FORMAT_NUMPY:
    case SL_FORMAT_SYMPY:
    case SL_FORMAT_JULIA: return "#";
    default: return NULL;
    }
}

/* `# x1: "its name"`, where variable v is written as something else. The name ends with its quote,
 * so that no backslash ends the line: C would go on with the next. */
static sl_status add_comment(sl_str *s, sl_arena *a, int v, sl_format format,
                             const sl_names *names) {
    const char *name = names->names[v - 1];
    sl_str text = { 0 };
    const sl_node *x = sl_expr_var(a, v);
    sl_status st =
        x ? sl_expr_print(&text, format, x, names) : sl_fail(SL_ENOMEM, "no memory for a variable");
    if (st == SL_OK) st = sl_str_status(&text);
    if (st == SL_OK && strcmp(sl_str_text(&text), name) != 0)
        sl_str_addf(s, "%s %s: \"%s\"\n", comment_of(format), sl_str_text(&text), name);
    sl_str_clear(&text);
    return st;
}

static sl_status add_comments(sl_str *s, const sl_node *e, sl_format format,
                              const sl_names *names) {
    const uint64_t used = sl_expr_variables(e);
    sl_arena a = { 0 };
    sl_status st = SL_OK;
    for (int v = 1; v <= names->count && st == SL_OK; v++)
        if (used >> (v - 1) & 1) st = add_comment(s, &a, v, format, names);
    sl_arena_clear(&a);
    return st;
}

/* e with variables numbered as the columns of the file are, for cells. The number of a column may
 * be beyond those of variables: such a tree is fit for printing cells and for nothing else. */
static sl_status add_cells(sl_str *s, const sl_node *e, const double *value, const sl_table *t) {
    sl_node *cells = sl_malloc(e->len, sizeof *cells);
    if (!cells) return sl_fail_memory(e->len, sizeof *cells, "a formula");
    memcpy(cells, e, e->len * sizeof *cells);
    for (sl_node *c = cells; c < cells + e->len; c += sl_expr_step(c))
        if (c->op == SL_OP_VAR) c->arg = (uint16_t)(t->input_from[c->arg - 1].column + 1);
    const sl_status st = sl_expr_print_values(s, SL_FORMAT_EXCEL, cells, NULL, value);
    sl_free(cells);
    return st;
}

sl_status sl_report_paste(sl_str *s, const sl_node *e, const double *value, const sl_names *names,
                          const sl_table *t, sl_format format) {
    if (comment_of(format)) SL_TRY(add_comments(s, e, format, names));
    if (format == SL_FORMAT_EXCEL && t)
        SL_TRY(add_cells(s, e, value, t));
    else
        SL_TRY(sl_expr_print_values(s, format, e, names, value));
    sl_str_add_char(s, '\n');
    return SL_OK;
}

/* The best formula, or its derivative if that was asked for. */
sl_status sl_report_discovery_paste(sl_str *s, const sl_report_discovery *f, sl_format format) {
    if (!f->discovery || f->discovery->ranked == 0) return SL_OK; // a note says why
    const sl_candidate *best = &f->discovery->candidate[0];
    const sl_node *e = best->expr;
    sl_arena a = { 0 };
    sl_status st = SL_OK;
    if (f->derivative) st = sl_expr_derivative(&e, &a, best->expr, f->derivative);
    if (st == SL_OK) st = sl_report_paste(s, e, best->value, &f->names, f->table, format);
    sl_arena_clear(&a);
    return st;
}
