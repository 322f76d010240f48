/* formula - one expression as a handle: an arena of its own, a tree, and names of variables. */
#include <string.h>

#include "api/api_impl.h"

static sl_status new_formula(sl_formula **out) {
    sl_formula *f = sl_calloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a formula");
    *out = f;
    return SL_OK;
}

sl_status sl_api__formula_of(sl_formula **out, const sl_node *e) {
    sl_formula *f = NULL;
    SL_TRY(new_formula(&f));
    f->e = sl_expr_copy(&f->arena, e);
    if (!f->e) {
        sl_formula_free(f);
        return sl_fail(SL_ENOMEM, "no memory for a formula");
    }
    *out = f;
    return SL_OK;
}

static sl_status copy_names(sl_formula *f, const char *const *names, int n) {
    size_t bytes = (size_t)n * sizeof *names;
    const char **list = sl_arena_alloc(&f->arena, bytes);
    if (!list) return sl_fail_memory(bytes, 1, "names of variables");
    for (int i = 0; i < n; i++) {
        size_t size = strlen(names[i]) + 1;
        char *name = sl_arena_alloc(&f->arena, size);
        if (!name) return sl_fail_memory(size, 1, "a name of a variable");
        list[i] = memcpy(name, names[i], size);
    }
    f->names = (sl_names){ list, n };
    return SL_OK;
}

static sl_status check_names(const char *const *names, int n) {
    if (n < 0 || n > SL_EXPR_MAX_VARS)
        return sl_fail(SL_EINVAL, "sl_formula_parse: %d names; 0 to %d can be given", n,
                       SL_EXPR_MAX_VARS);
    for (int i = 0; names && i < n; i++)
        if (!names[i]) return sl_fail(SL_EINVAL, "sl_formula_parse: name %d is NULL", i + 1);
    return SL_OK;
}

static sl_status find_format(sl_format *out, const char *name, const char *who) {
    *out = name ? sl_format_find(name) : SL_FORMAT_INFIX;
    if (*out != SL_FORMAT_COUNT) return SL_OK;
    sl_api__guess g = { .word = name };
    for (int i = 0; i < SL_FORMAT_COUNT; i++) sl_api__guess_offer(&g, sl_format_name((sl_format)i));
    char end[96];
    return sl_fail(SL_EINVAL, "%s: unknown format \"%.40s\"%s", who, name,
                   sl_api__guess_text(&g, "", end));
}

sl_status sl_formula_parse(sl_formula **out, const char *text, const char *format,
                           const char *const *names, int n_names) {
    if (!out || !text) return sl_fail(SL_EINVAL, "sl_formula_parse: out or text is NULL");
    sl_format fmt;
    SL_TRY(find_format(&fmt, format, "sl_formula_parse"));
    SL_TRY(check_names(names, n_names));

    sl_status st;
    sl_formula *f = NULL;
    SL_TRY(new_formula(&f));
    f->names.count = n_names;
    if (names && n_names > 0) SL_GO(copy_names(f, names, n_names));
    SL_GO(sl_expr_parse(&f->e, &f->arena, fmt, text, strlen(text), &f->names, NULL));
    *out = f;
    return SL_OK;
done:
    sl_formula_free(f);
    return st;
}

void sl_formula_free(sl_formula *f) {
    if (!f) return;
    sl_arena_clear(&f->arena);
    sl_free(f);
}

sl_status sl_formula_print(char **out, const sl_formula *f, const char *format) {
    if (!out || !f) return sl_fail(SL_EINVAL, "sl_formula_print: out or formula is NULL");
    sl_format fmt;
    SL_TRY(find_format(&fmt, format, "sl_formula_print"));
    sl_str s = { 0 };
    sl_status st;
    SL_GO(sl_expr_print(&s, fmt, f->e, &f->names));
    SL_GO(sl_str_status(&s));
    *out = s.text;
    return SL_OK;
done:
    sl_str_clear(&s);
    return st;
}

/* The variables keep their names. */
sl_status sl_formula_canon(sl_formula **out, const sl_formula *f) {
    if (!out || !f) return sl_fail(SL_EINVAL, "sl_formula_canon: out or formula is NULL");
    sl_status st;
    sl_formula *c = NULL;
    SL_TRY(new_formula(&c));
    c->names.count = f->names.count;
    if (f->names.names) SL_GO(copy_names(c, f->names.names, f->names.count));
    SL_GO(sl_expr_canon(&c->e, &c->arena, f->e));
    *out = c;
    return SL_OK;
done:
    sl_formula_free(c);
    return st;
}

sl_status sl_formula_same(sl_truth *out, const sl_formula *a, const sl_formula *b) {
    if (!out || !a || !b) return sl_fail(SL_EINVAL, "sl_formula_same: out or a formula is NULL");
    sl_arena scratch = { 0 };
    sl_status st = sl_expr_same(out, &scratch, a->e, b->e);
    sl_arena_clear(&scratch);
    return st;
}

sl_status sl_formula_eval(double *y, const sl_formula *f, const double *const *x, int n_columns,
                          int64_t n) {
    if (!f || n < 0 || n_columns < 0 || (n > 0 && !y) || (n_columns > 0 && !x))
        return sl_fail(SL_EINVAL, "sl_formula_eval: a pointer is NULL or a count negative");
    int needed = sl_expr_max_var(f->e);
    if (n_columns < needed)
        return sl_fail(SL_EINVAL, "sl_formula_eval: the formula has x%d, but %d columns are given",
                       needed, n_columns);
    for (int i = 0; n > 0 && i < needed; i++)
        if (!x[i]) return sl_fail(SL_EINVAL, "sl_formula_eval: column %d is NULL", i + 1);
    if (sl_expr_max_par(f->e) > 0)
        return sl_fail(SL_EINVAL,
                       "sl_formula_eval: the formula has the free constant c%d, which has "
                       "no value",
                       sl_expr_max_par(f->e));
    sl_arena scratch = { 0 };
    sl_status st = sl_expr_eval(y, &scratch, f->e, x, n, NULL);
    sl_arena_clear(&scratch);
    return st;
}

int sl_formula_nodes(const sl_formula *f) { return f ? sl_expr_nodes(f->e) : 0; }
int sl_formula_variables(const sl_formula *f) { return f ? sl_expr_max_var(f->e) : 0; }

void sl_string_free(char *text) { sl_free(text); }
