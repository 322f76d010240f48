/* fit_formula - a formula as a user writes it: which of its names are columns, which are constants.
 *
 * A name is a column of the file, by its name with or without its unit; or x3, the third column,
 * where none is called so; or pi or e; else it is a constant. A name that is no word stands between
 * backticks. */
#include <math.h>
#include <string.h>

#include "commands/fit_impl.h"

/* ---------------------------------------------------------------- text ---------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* A part of a text without the blanks around it, in a; NULL without memory. */
static const char *trimmed(sl_arena *a, const char *text, size_t n) {
    while (n > 0 && is_blank(text[0])) {
        text++;
        n--;
    }
    while (n > 0 && is_blank(text[n - 1])) n--;
    return sl_arena_text(a, text, n);
}

/* Bytes up to `mark` outside backticks, or to the end. */
static size_t length_to(const char *text, char mark) {
    bool quoted = false;
    size_t n = 0;
    for (; text[n] && (quoted || text[n] != mark); n++) quoted ^= text[n] == '`';
    return n;
}

/* *target := what is left of the =, which must be one name. */
static sl_status read_left(const char **target, sl_arena *a, const char *left) {
    const char *const *words;
    int n;
    SL_TRY(sl_expr_infix_words(&words, &n, a, left, strlen(left)));
    const bool quoted = left[0] == '`';
    const bool whole = n == 1 && (quoted ? left[strlen(left) - 1] == '`' : !strcmp(left, words[0]));
    if (!whole)
        return sl_fail(SL_EINVAL,
                       "\"%.80s\" left of = is no column; write COLUMN = FORMULA, with the name "
                       "between backticks if it is no word",
                       left);
    if (*target && strcmp(*target, words[0]) != 0)
        return sl_fail(SL_EINVAL, "two targets, \"%.60s\" and \"%.60s\"; give one", *target,
                       words[0]);
    *target = words[0];
    return SL_OK;
}

static sl_status read_one(sl_commands__formula *f, const char **target, sl_arena *a,
                          const char *text, size_t n) {
    const char *whole = trimmed(a, text, n);
    if (!whole) return sl_fail_memory(n, 1, "a formula");
    const size_t left = length_to(whole, '=');
    *f = (sl_commands__formula){ .text = whole };
    if (whole[left] == '=') {
        const char *name = trimmed(a, whole, left);
        f->text = trimmed(a, whole + left + 1, strlen(whole + left + 1));
        if (!name || !f->text) return sl_fail_memory(n, 1, "a formula");
        SL_TRY(read_left(target, a, name));
    }
    if (!*f->text) return sl_fail(SL_EINVAL, "an empty formula; write one such as a*x1/(b + x2)");
    return sl_expr_infix_words(&f->words, &f->n_words, a, f->text, strlen(f->text));
}

sl_status sl_commands__formulas_split(sl_commands__formula **out, int *n, const char **target,
                                      sl_commands_run *run, const char *formula, const char *more) {
    const char *const lists[2] = { formula, more };
    size_t most = 2;
    for (int k = 0; k < 2; k++)
        for (const char *c = lists[k]; c && *c; c++) most += *c == ';';
    sl_commands__formula *f = sl_arena_alloc(&run->arena, most * sizeof *f);
    if (!f) return sl_fail_memory(most, sizeof *f, "formulas");
    *n = 0;
    for (int k = 0; k < 2; k++)
        for (const char *c = lists[k]; c;) {
            const size_t length = length_to(c, ';');
            SL_TRY(read_one(&f[(*n)++], target, &run->arena, c, length));
            c = c[length] ? c + length + 1 : NULL;
        }
    *out = f;
    return SL_OK;
}

/* ---------------------------------------------------------------- columns ------------------- */

sl_status sl_commands__columns_read(sl_commands__columns *out, sl_arena *a, const char *path,
                                    const sl_csv_options *o) {
    sl_csv *csv = NULL;
    sl_status st;
    const sl_csv_options own = sl_data_table_csv(o);
    SL_TRY(sl_io_csv_open(&csv, path, &own));
    const int n = out->n = sl_io_csv_columns(csv);
    out->name = sl_arena_alloc(a, (size_t)n * sizeof *out->name);
    out->plain = sl_arena_alloc(a, (size_t)n * sizeof *out->plain);
    st = out->name && out->plain ? SL_OK : sl_fail_memory((size_t)n, sizeof *out->name, "names");
    for (int i = 0; i < n && st == SL_OK; i++) {
        const char *name = sl_io_csv_name(csv, i);
        size_t length = strlen(name);
        sl_unit unit;
        out->name[i] = sl_arena_text(a, name, length);
        if (!sl_data_unit_of_name(&unit, &length, name)) length = strlen(name);
        out->plain[i] = sl_arena_text(a, name, length);
        if (!out->name[i] || !out->plain[i]) st = sl_fail_memory(length, 1, "a column's name");
    }
    sl_io_csv_close(csv);
    return st;
}

static int find_column(const sl_commands__columns *c, const char *word) {
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->name[i], word) == 0) return i;
    for (int i = 0; i < c->n; i++)
        if (strcmp(c->plain[i], word) == 0) return i;
    if (word[0] != 'x' || word[1] == '0' || strlen(word) < 2 || strlen(word) > 7) return -1;
    if (strspn(word + 1, "0123456789") != strlen(word + 1)) return -1;
    const int number = (int)sl_strtoll(word + 1, NULL);
    return number <= c->n ? number - 1 : -1;
}

/* The column that a constant's name comes near to, or NULL. */
static const char *near_column(const sl_commands__columns *c, const char *word) {
    const size_t n = strlen(word);
    const int slips = n < 4 ? 0 : n < 8 ? 1 : 2;
    for (int i = 0; i < c->n; i++) {
        if (n > 1 && sl_strncasecmp(c->plain[i], word, n + 1) == 0) return c->plain[i];
        if (sl_edit_distance(c->plain[i], word) <= slips) return c->plain[i];
    }
    return NULL;
}

/* ---------------------------------------------------------------- lists of constants -------- */

/* The next entry of a list such as a=1, b=2: its name and what follows its =. */
typedef struct entry {
    const char *name, *value;
    size_t name_length, value_length;
} entry;

static bool next_entry(entry *e, const char **list) {
    const char *at = *list;
    if (!at || !*at) return false;
    while (is_blank(*at)) at++;
    const size_t all = strcspn(at, ","), name = SL_MIN(strcspn(at, "="), all);
    *e = (entry){ .name = at, .name_length = name, .value = at + name + (name < all) };
    e->value_length = all - (size_t)(e->value - at);
    while (e->name_length > 0 && is_blank(at[e->name_length - 1])) e->name_length--;
    *list = at[all] ? at + all + 1 : NULL;
    return true;
}

static bool is_named(const entry *e, const char *name) {
    return strlen(name) == e->name_length && memcmp(name, e->name, e->name_length) == 0;
}

static bool in_list(const char *list, const char *name) {
    entry e;
    while (next_entry(&e, &list))
        if (is_named(&e, name)) return true;
    return false;
}

/* *out := the number that a part of an entry is; `empty` if there is nothing. */
static sl_status read_number(double *out, const char *option, const entry *e, const char *text,
                             size_t n, double empty) {
    char copy[64], *end;
    while (n > 0 && is_blank(text[0])) {
        text++;
        n--;
    }
    while (n > 0 && is_blank(text[n - 1])) n--;
    *out = empty;
    if (n == 0 && !isnan(empty)) return SL_OK;
    if (n > 0 && n < sizeof copy) {
        memcpy(copy, text, n);
        copy[n] = '\0';
        *out = sl_strtod(copy, &end);
        if (end == copy + n && !isnan(*out)) return SL_OK;
    }
    return sl_fail(SL_EINVAL, "%s %.*s: \"%.*s\" is no number", option,
                   (int)SL_MIN(e->name_length, (size_t)40), e->name, (int)SL_MIN(n, (size_t)40),
                   text);
}

static sl_status read_start(sl_commands__formula *f, int k, const entry *e) {
    SL_TRY(read_number(&f->start[k], "--start", e, e->value, e->value_length, NAN));
    if (isinf(f->start[k]))
        return sl_fail(SL_EINVAL, "--start %.40s must be finite", f->constant[k]);
    f->given[k] = true;
    return SL_OK;
}

static sl_status read_bounds(sl_commands__formula *f, int k, const entry *e) {
    const char *colon = memchr(e->value, ':', e->value_length);
    if (!colon)
        return sl_fail(SL_EINVAL,
                       "--bounds %.40s: write LOW:HIGH, as in %.40s=0:10; an empty side is open",
                       f->constant[k], f->constant[k]);
    const size_t left = (size_t)(colon - e->value);
    SL_TRY(read_number(&f->lo[k], "--bounds", e, e->value, left, -INFINITY));
    SL_TRY(read_number(&f->hi[k], "--bounds", e, colon + 1, e->value_length - left - 1, INFINITY));
    if (f->lo[k] < f->hi[k]) return SL_OK;
    return sl_fail(SL_EINVAL, "--bounds %.40s: %g is not below %g", f->constant[k], f->lo[k],
                   f->hi[k]);
}

sl_status sl_commands__formula_constants(sl_commands__formula *f, const sl_commands__constants *o) {
    for (int k = 0; k < f->params; k++) {
        f->lo[k] = -INFINITY;
        f->hi[k] = INFINITY;
        f->start[k] = 1;
        const char *starts = o->start, *bounds = o->bounds;
        entry e;
        while (next_entry(&e, &starts))
            if (is_named(&e, f->constant[k])) SL_TRY(read_start(f, k, &e));
        while (next_entry(&e, &bounds))
            if (is_named(&e, f->constant[k])) SL_TRY(read_bounds(f, k, &e));
        if (f->given[k] && (f->start[k] < f->lo[k] || f->start[k] > f->hi[k]))
            return sl_fail(SL_EINVAL, "--start %.40s=%g is outside its bounds, %g to %g",
                           f->constant[k], f->start[k], f->lo[k], f->hi[k]);
    }
    return SL_OK;
}

sl_status sl_commands__constants_check(const sl_commands__constants *o,
                                       const sl_commands__formula *f, int n) {
    const char *const lists[2] = { o->start, o->bounds };
    for (int side = 0; side < 2; side++) {
        const char *list = lists[side];
        entry e;
        while (next_entry(&e, &list)) {
            bool known = false;
            for (int i = 0; i < n; i++)
                for (int k = 0; k < f[i].params; k++)
                    known = known || is_named(&e, f[i].constant[k]);
            if (!known)
                return sl_fail(SL_EINVAL, "%s names \"%.*s\", which is no constant of the formula",
                               side ? "--bounds" : "--start",
                               (int)SL_MIN(e.name_length, (size_t)40), e.name);
        }
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- names of a formula -------- */

enum { CONSTANT = -1, EXACT = -2 };

sl_status sl_commands__formula_words(sl_commands__formula *f, sl_arena *a,
                                     const sl_commands__columns *c,
                                     const sl_commands__constants *o) {
    f->column = sl_arena_alloc(a, ((size_t)f->n_words + 1) * sizeof *f->column);
    if (!f->column) return sl_fail_memory((size_t)f->n_words, sizeof *f->column, "names");
    f->params = 0;
    for (int i = 0; i < f->n_words; i++) {
        const char *word = f->words[i];
        const bool listed = in_list(o->start, word) || in_list(o->bounds, word);
        f->column[i] = listed ? CONSTANT : find_column(c, word);
        if (f->column[i] >= 0) continue;
        if (!listed && (strcmp(word, "pi") == 0 || strcmp(word, "e") == 0)) {
            f->column[i] = EXACT;
            continue;
        }
        const char *near = listed ? NULL : near_column(c, word);
        if (near)
            return sl_fail(SL_EINVAL,
                           "%.80s has no column \"%.60s\"; did you mean \"%.60s\"? If it is a "
                           "constant, say so by --start %.60s=1",
                           c->shown, word, near, word);
        if (f->params == SL_FIT_MAX_PARAMS)
            return sl_fail(SL_ELIMIT, "\"%.80s\" has more than %d constants", f->text,
                           SL_FIT_MAX_PARAMS);
        f->constant[f->params++] = word;
    }
    return SL_OK;
}

/* The input of the table that is this column of the file, from 1. */
static int input_of(const sl_table *t, int column) {
    for (int j = 0; j < t->data.inputs; j++)
        if (t->input_from[j].column == column) return j + 1;
    SL_ASSERT(!"a column that was not read");
    return 0;
}

sl_status sl_commands__formula_parse(sl_commands__formula *f, sl_commands_run *run,
                                     const sl_table *t) {
    sl_node become[SL_EXPR_MAX_VARS];
    const char *names[SL_EXPR_MAX_VARS];
    int n = 0, params = 0;
    // every name is a variable at first: columns and constants may be called anything
    for (int i = 0; i < f->n_words; i++) {
        if (f->column[i] == EXACT) continue;
        const bool column = f->column[i] >= 0;
        if (n == SL_EXPR_MAX_VARS)
            return sl_fail(SL_ELIMIT, "\"%.80s\" has more than %d names", f->text,
                           SL_EXPR_MAX_VARS);
        names[n] = f->words[i];
        become[n++] = (sl_node){ .op = column ? SL_OP_VAR : SL_OP_PAR,
                                 .arg = (uint16_t)(column ? input_of(t, f->column[i]) : ++params),
                                 .len = 1 };
    }
    const sl_node *parsed;
    const sl_names known = { names, SL_MAX(n, 1) };
    if (n == 0) names[0] = "";
    SL_TRY(sl_commands__read_expr(&parsed, run, "the formula", f->text, SL_FORMAT_INFIX, &known));
    sl_node *copy = sl_arena_alloc(&run->arena, parsed->len * sizeof *copy);
    if (!copy) return sl_fail_memory(parsed->len, sizeof *copy, "a formula");
    memcpy(copy, parsed, parsed->len * sizeof *copy);
    for (sl_node *c = copy; c < copy + parsed->len; c += sl_expr_step(c))
        if (c->op == SL_OP_VAR) *c = become[c->arg - 1];
    return sl_expr_tidy(&f->expr, &run->arena, copy);
}

/* ---------------------------------------------------------------- groups -------------------- */

enum { GROUPS_MAX = 1000 };

/* The number of a group by its name, which is new where it is the last. */
static sl_status group_number(int *out, const char **name, int *n, sl_arena *a, const char *text) {
    for (*out = 0; *out < *n; ++*out)
        if (strcmp(name[*out], text) == 0) return SL_OK;
    if (*n == GROUPS_MAX)
        return sl_fail(SL_ELIMIT, "--group: more than %d groups", (int)GROUPS_MAX);
    name[*n] = sl_arena_text(a, text, strlen(text));
    if (!name[*n]) return sl_fail_memory(strlen(text), 1, "a group's name");
    ++*n;
    return SL_OK;
}

/* A row that cannot be read was left out of the table too, or failed there. */
static sl_status next_row(const sl_cell **cells, sl_csv *csv) {
    sl_status st;
    do st = sl_io_csv_next(cells, csv);
    while (st == SL_ECANCEL); // a signal; the fits that follow ask whether to stop
    return st;
}

sl_status sl_commands__groups_read(int **code, const char ***name, int *n, sl_arena *a,
                                   const char *path, const sl_csv_options *o, const char *column,
                                   const sl_table *t) {
    sl_csv *csv = NULL;
    sl_status st;
    const sl_cell *cells;
    int64_t at = 0;
    *n = 0;
    *code = sl_arena_alloc(a, (size_t)t->data.rows * sizeof **code);
    *name = sl_arena_alloc(a, GROUPS_MAX * sizeof **name);
    if (!*code || !*name) return sl_fail_memory((size_t)t->data.rows, sizeof **code, "groups");
    const sl_csv_options own = sl_data_table_csv(o);
    SL_TRY(sl_io_csv_open(&csv, path, &own));
    const int which = sl_io_csv_find(csv, column);
    if (which < 0) SL_GO(sl_fail(SL_EINVAL, "--group: there is no column \"%.60s\"", column));
    SL_GO(next_row(&cells, csv));
    while (cells && at < t->data.rows) {
        if (sl_io_csv_row(csv) == t->row[at])
            SL_GO(group_number(&(*code)[at++], *name, n, a, cells[which].text));
        SL_GO(next_row(&cells, csv));
    }
    for (int i = 0; i < *n && st == SL_OK; i++) {
        (*name)[i] = sl_text_visible(a, *(*name)[i] ? (*name)[i] : "(empty)");
        if (!(*name)[i]) st = sl_fail(SL_ENOMEM, "no memory for names of groups");
    }
done:
    sl_io_csv_close(csv);
    return st;
}
