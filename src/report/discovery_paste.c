/* discovery_paste - the best formula alone, in full precision, as other programs read it.
 *
 * Columns keep their names where the language has such names. Where it has not, they are x1, x2,
 * ..., and comments before the formula say which is which; LaTeX takes any name. */
#include <string.h>

#include "report/discovery_impl.h"

/* What begins a comment to the end of the line; NULL: none is needed. */
static const char *comment_of(sl_format format) {
    return format == SL_FORMAT_C ? "//" : format == SL_FORMAT_LATEX ? NULL : "#";
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

static sl_status add_comments(sl_str *s, const sl_candidate *c, sl_format format,
                              const sl_names *names) {
    const uint64_t used = sl_expr_variables(c->expr);
    sl_arena a = { 0 };
    sl_status st = SL_OK;
    for (int v = 1; v <= names->count && st == SL_OK; v++)
        if (used >> (v - 1) & 1) st = add_comment(s, &a, v, format, names);
    sl_arena_clear(&a);
    return st;
}

sl_status sl_report_discovery_paste(sl_str *s, const sl_report_discovery *f, sl_format format) {
    if (!f->discovery || f->discovery->ranked == 0) return SL_OK; // a note says why
    const sl_candidate *best = &f->discovery->candidate[0];
    if (comment_of(format)) SL_TRY(add_comments(s, best, format, &f->names));
    SL_TRY(sl_discover_candidate_print(s, best, format, &f->names));
    sl_str_add_char(s, '\n');
    return SL_OK;
}
