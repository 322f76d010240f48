/* formula - one expression as a handle: an arena of its own, a tree, names of variables, and values
 * of constants that were fitted. */
#include <math.h>
#include <string.h>

#include "api/api_impl.h"

static sl_status new_formula(symlaw_formula **out) {
    symlaw_formula *f = sl_calloc(1, sizeof *f);
    if (!f) return sl_fail_memory(1, sizeof *f, "a formula");
    *out = f;
    return SL_OK;
}

static sl_status copy_names(symlaw_formula *f, const char *const *names, int n) {
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

/* As many names as there may be variables, or none. */
static sl_status take_names(symlaw_formula *f, const sl_names *names) {
    f->names.count = names->count;
    return names->names ? copy_names(f, names->names, names->count) : SL_OK;
}

static sl_status take_values(symlaw_formula *f, const double *value, int params) {
    const size_t bytes = (size_t)params * sizeof *value;
    double *copy = sl_arena_alloc(&f->arena, bytes);
    if (!copy) return sl_fail_memory(bytes, 1, "constants of a formula");
    memcpy(copy, value, bytes);
    f->value = copy;
    f->params = params;
    return SL_OK;
}

sl_status sl_api__formula_fitted(symlaw_formula **out, const sl_node *e, const double *value,
                                 int params, const sl_names *names) {
    sl_status st;
    symlaw_formula *f = NULL;
    SL_TRY(new_formula(&f));
    f->e = sl_expr_copy(&f->arena, e);
    if (!f->e) {
        st = sl_fail(SL_ENOMEM, "no memory for a formula");
        goto done;
    }
    SL_GO(take_names(f, names));
    if (params > 0) SL_GO(take_values(f, value, params));
    *out = f;
    return SL_OK;
done:
    symlaw_formula_free(f);
    return st;
}

sl_status sl_api__formula_of(symlaw_formula **out, const sl_node *e) {
    return sl_api__formula_fitted(out, e, NULL, 0, &(sl_names){ 0 });
}

static sl_status check_names(const char *const *names, int n, const char *function) {
    if (n < 0 || n > SL_EXPR_MAX_VARS)
        return sl_fail(SL_EINVAL, "%s: %d names; 0 to %d can be given", function, n,
                       SL_EXPR_MAX_VARS);
    for (int i = 0; names && i < n; i++)
        if (!names[i]) return sl_fail(SL_EINVAL, "%s: name %d is NULL", function, i + 1);
    return SL_OK;
}

static sl_status find_format(sl_format *out, const char *name, const char *call) {
    *out = name ? sl_expr_format_find(name) : SL_FORMAT_INFIX;
    if (*out != SL_FORMAT_COUNT) return SL_OK;
    sl_commands_guess g = { .word = name };
    for (int i = 0; i < SL_FORMAT_COUNT; i++)
        sl_commands_guess_offer(&g, sl_expr_format_name((sl_format)i));
    char end[96];
    return sl_fail(SL_EINVAL, "%s: unknown format \"%.40s\"%s", call, name,
                   sl_commands_guess_text(&g, "", end));
}

static sl_status parse(symlaw_formula **out, const char *text, const char *format,
                       const char *const *names, int n_names) {
    if (!out || !text) return sl_fail(SL_EINVAL, "symlaw_formula_parse: out or text is NULL");
    sl_format fmt;
    SL_TRY(find_format(&fmt, format, "symlaw_formula_parse"));
    SL_TRY(check_names(names, n_names, "symlaw_formula_parse"));

    sl_status st;
    symlaw_formula *f = NULL;
    SL_TRY(new_formula(&f));
    SL_GO(take_names(f, &(sl_names){ n_names > 0 ? names : NULL, n_names }));
    SL_GO(sl_expr_parse(&f->e, &f->arena, fmt, text, strlen(text), &f->names, NULL));
    *out = f;
    return SL_OK;
done:
    symlaw_formula_free(f);
    return st;
}

symlaw_status symlaw_formula_parse(symlaw_formula **out, const char *text, const char *format,
                                   const char *const *names, int n_names) {
    SL_API__PUBLIC(parse(out, text, format, names, n_names));
}

void symlaw_formula_free(symlaw_formula *f) {
    if (!f) return;
    sl_arena_clear(&f->arena);
    sl_free(f);
}

static sl_status print(char **out, const symlaw_formula *f, const char *format) {
    if (!out || !f) return sl_fail(SL_EINVAL, "symlaw_formula_print: out or formula is NULL");
    sl_format fmt;
    SL_TRY(find_format(&fmt, format, "symlaw_formula_print"));
    sl_str s = { 0 };
    sl_status st;
    SL_GO(f->params > 0 ? sl_expr_print_values(&s, fmt, f->e, &f->names, f->value)
                        : sl_expr_print(&s, fmt, f->e, &f->names));
    SL_GO(sl_str_status(&s));
    *out = s.text;
    return SL_OK;
done:
    sl_str_clear(&s);
    return st;
}

symlaw_status symlaw_formula_print(char **out, const symlaw_formula *f, const char *format) {
    SL_API__PUBLIC(print(out, f, format));
}

/* *out := the canonical form of f, or with a variable its derivative. Variables keep their names,
 * constants their values. */
static sl_status transform(symlaw_formula **out, const symlaw_formula *f, int variable) {
    sl_status st;
    symlaw_formula *c = NULL;
    SL_TRY(new_formula(&c));
    SL_GO(take_names(c, &f->names));
    if (f->params > 0) SL_GO(take_values(c, f->value, f->params));
    SL_GO(variable ? sl_expr_derivative(&c->e, &c->arena, f->e, variable)
                   : sl_expr_canon(&c->e, &c->arena, f->e));
    *out = c;
    return SL_OK;
done:
    symlaw_formula_free(c);
    return st;
}

static sl_status canon(symlaw_formula **out, const symlaw_formula *f) {
    if (!out || !f) return sl_fail(SL_EINVAL, "symlaw_formula_canon: out or formula is NULL");
    return transform(out, f, 0);
}

symlaw_status symlaw_formula_canon(symlaw_formula **out, const symlaw_formula *f) {
    SL_API__PUBLIC(canon(out, f));
}

static sl_status derivative(symlaw_formula **out, const symlaw_formula *f, int variable) {
    if (!out || !f) return sl_fail(SL_EINVAL, "symlaw_formula_derivative: out or formula is NULL");
    const int most = f->names.count ? f->names.count : SL_EXPR_MAX_VARS;
    if (variable < 1 || variable > most)
        return sl_fail(SL_EINVAL, "symlaw_formula_derivative: variables are 1 to %d, not %d", most,
                       variable);
    return transform(out, f, variable);
}

symlaw_status symlaw_formula_derivative(symlaw_formula **out, const symlaw_formula *f,
                                        int variable) {
    SL_API__PUBLIC(derivative(out, f, variable));
}

/* *out := the shortest text of a double as an exact number; *fits false if it is beyond 64-bit
 * rationals. */
static sl_status exact_number(sl_rat *out, bool *fits, sl_arena *a, double value) {
    char text[SL_REAL_TEXT_MAX];
    const int n = sl_real_text(text, value);
    const sl_node *e = NULL;
    sl_status st = sl_expr_parse(&e, a, SL_FORMAT_INFIX, text, (size_t)n, NULL, NULL);
    *fits = st == SL_OK && e->op == SL_OP_NUM;
    if (*fits) *out = sl_expr_num_value(e);
    return st == SL_ENOMEM ? st : SL_OK;
}

/* *out := the formula with its constants as exact numbers; NULL where one of them, or what they
 * merge to, is beyond those. */
static sl_status exact(const sl_node **out, sl_arena *a, const symlaw_formula *f) {
    *out = f->e;
    if (f->params == 0) return SL_OK;
    const size_t n = (size_t)f->params;
    sl_rat *value = sl_arena_alloc(a, n * sizeof *value);
    bool *known = sl_arena_alloc(a, n * sizeof *known);
    if (!value || !known) return sl_fail_memory(n, sizeof *value, "constants of a formula");
    bool all = true;
    for (int i = 0; i < f->params && all; i++) {
        SL_TRY(exact_number(&value[i], &known[i], a, f->value[i]));
        all = known[i];
    }
    *out = NULL;
    if (!all) return SL_OK;
    sl_status st = sl_expr_bind(out, a, f->e, value, known);
    return st == SL_ENOMEM ? st : SL_OK;
}

/* For constants beyond exact numbers: equal trees with equal constants are the same function; else
 * the answer is unknown. */
static bool same_text(const symlaw_formula *a, const symlaw_formula *b) {
    return sl_expr_equal(a->e, b->e) && a->params == b->params &&
           memcmp(a->value, b->value, (size_t)a->params * sizeof *a->value) == 0;
}

static sl_status same(sl_truth *out, const symlaw_formula *a, const symlaw_formula *b) {
    if (!out || !a || !b)
        return sl_fail(SL_EINVAL, "symlaw_formula_same: out or a formula is NULL");
    sl_arena scratch = { 0 };
    const sl_node *p = NULL, *q = NULL;
    sl_status st;
    SL_GO(exact(&p, &scratch, a));
    SL_GO(exact(&q, &scratch, b));
    if (p && q)
        SL_GO(sl_expr_same(out, &scratch, p, q));
    else
        *out = same_text(a, b) ? SL_YES : SL_UNKNOWN;
done:
    sl_arena_clear(&scratch);
    return st;
}

static sl_status same_public(symlaw_truth *out, const symlaw_formula *a, const symlaw_formula *b) {
    sl_truth truth;
    SL_TRY(same(out ? &truth : NULL, a, b));
    out->answer = truth.answer;
    return SL_OK;
}

symlaw_status symlaw_formula_same(symlaw_truth *out, const symlaw_formula *a,
                                  const symlaw_formula *b) {
    SL_API__PUBLIC(same_public(out, a, b));
}

static sl_status eval(double *y, const symlaw_formula *f, const double *const *x, int n_columns,
                      int64_t n) {
    if (!f || n < 0 || n_columns < 0 || (n > 0 && !y) || (n_columns > 0 && !x))
        return sl_fail(SL_EINVAL, "symlaw_formula_eval: a pointer is NULL or a count negative");
    int needed = sl_expr_max_var(f->e);
    if (n_columns < needed)
        return sl_fail(SL_EINVAL,
                       "symlaw_formula_eval: the formula has x%d, but %d columns are given", needed,
                       n_columns);
    for (int i = 0; n > 0 && i < needed; i++)
        if (!x[i]) return sl_fail(SL_EINVAL, "symlaw_formula_eval: column %d is NULL", i + 1);
    if (sl_expr_max_par(f->e) > f->params)
        return sl_fail(SL_EINVAL,
                       "symlaw_formula_eval: the formula has the free constant c%d, which has "
                       "no value",
                       sl_expr_max_par(f->e));
    sl_arena scratch = { 0 };
    sl_status st = sl_expr_eval(y, &scratch, f->e, x, n, f->value);
    sl_arena_clear(&scratch);
    return st;
}

symlaw_status symlaw_formula_eval(double *y, const symlaw_formula *f, const double *const *x,
                                  int n_columns, int64_t n) {
    SL_API__PUBLIC(eval(y, f, x, n_columns, n));
}

int symlaw_formula_constants(const symlaw_formula *f) { return f ? sl_expr_max_par(f->e) : 0; }

double symlaw_formula_constant(const symlaw_formula *f, int k) {
    return f && k >= 0 && k < f->params ? f->value[k] : NAN;
}

static sl_status check_values(const symlaw_formula *f, const double *values, int n) {
    const int constants = sl_expr_max_par(f->e);
    if (!values) return SL_OK;
    if (n != constants)
        return sl_fail(SL_EINVAL, "symlaw_formula_bind: %d values for %d constants", n, constants);
    for (int i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return sl_fail(SL_EINVAL, "symlaw_formula_bind: value %d is no finite number", i + 1);
    return SL_OK;
}

static sl_status bind(symlaw_formula **out, const symlaw_formula *f, const double *values, int n,
                      const char *const *names, int n_names) {
    if (!out || !f) return sl_fail(SL_EINVAL, "symlaw_formula_bind: out or formula is NULL");
    SL_TRY(check_values(f, values, n));
    SL_TRY(check_names(names, n_names, "symlaw_formula_bind"));
    if (names && n_names < sl_expr_max_var(f->e))
        return sl_fail(SL_EINVAL,
                       "symlaw_formula_bind: the formula has x%d, but %d names are given",
                       sl_expr_max_var(f->e), n_names);
    const sl_names given = { names, n_names };
    return sl_api__formula_fitted(out, f->e, values, values ? n : 0, names ? &given : &f->names);
}

symlaw_status symlaw_formula_bind(symlaw_formula **out, const symlaw_formula *f,
                                  const double *values, int n, const char *const *names,
                                  int n_names) {
    SL_API__PUBLIC(bind(out, f, values, n, names, n_names));
}

int symlaw_formula_nodes(const symlaw_formula *f) { return f ? sl_expr_nodes(f->e) : 0; }
int symlaw_formula_variables(const symlaw_formula *f) { return f ? sl_expr_max_var(f->e) : 0; }

void symlaw_string_free(char *text) { sl_free(text); }
