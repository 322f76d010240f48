/* table_columns - which columns of a file are the target, its errors and the inputs.
 *
 * A word names a column by its name, by its number, or by its name without the unit behind it. */
#include <string.h>

#include "data/table_impl.h"

enum { NAME_SHOWN = SL_TABLE__SHOWN, NAMES_SHOWN = 12 }; // columns in a message

typedef sl_table__columns columns;

/* ---------------------------------------------------------------- messages ------------------ */

/* Text from a file, for a message: not too long, and not cut inside a character. */
const char *sl_data__table_shorten(char buffer[NAME_SHOWN + 4], const char *text) {
    size_t n = strlen(text);
    if (n <= NAME_SHOWN) return text;
    n = NAME_SHOWN;
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
    memcpy(buffer, text, n);
    strcpy(buffer + n, "...");
    return buffer;
}

/* `"a", "b", "c" and 5 more` */
static void list_columns(sl_str *s, const sl_csv *csv) {
    char buffer[NAME_SHOWN + 4];
    const int n = sl_io_csv_columns(csv), listed = n <= NAMES_SHOWN + 1 ? n : NAMES_SHOWN;
    for (int i = 0; i < listed; i++)
        sl_str_addf(s, "%s\"%s\"", i ? ", " : "",
                    sl_data__table_shorten(buffer, sl_io_csv_name(csv, i)));
    if (n > listed) sl_str_addf(s, " and %d more", n - listed);
}

/* The name that comes nearest to a word that is none, or NULL. */
static const char *nearest(const sl_csv *csv, const char *word) {
    const char *best = NULL;
    const size_t n = strlen(word);
    // a word of one letter with that letter wrong is no slip of the finger
    int distance = n < 2 ? 1 : 2 + (int)SL_MIN(n, (size_t)64) / 4;
    for (int i = 0; i < sl_io_csv_columns(csv); i++) {
        const char *name = sl_io_csv_name(csv, i);
        const bool begins = n >= 1 && sl_strncasecmp(name, word, n) == 0;
        const int d = begins ? name[n] != 0 : sl_edit_distance(word, name);
        if (d >= distance) continue;
        distance = d;
        best = name;
    }
    return best;
}

static sl_status fail_unknown(const columns *r, const char *word, const char *role) {
    char shown[NAME_SHOWN + 4], near[NAME_SHOWN + 4];
    sl_str s = { 0 };
    const char *best = nearest(r->csv, word);
    sl_str_addf(&s, "%s has no column \"%s\" for the %s; ", r->shown,
                sl_data__table_shorten(shown, word), role);
    if (best) sl_str_addf(&s, "did you mean \"%s\"? ", sl_data__table_shorten(near, best));
    sl_str_add(&s, best ? "It has " : "it has ");
    list_columns(&s, r->csv);
    sl_status st = sl_str_status(&s);
    if (st == SL_OK) st = sl_fail(SL_EINVAL, "%s", s.text);
    sl_str_clear(&s);
    return st;
}

/* ---------------------------------------------------------------- which columns ------------- */

/* Bytes of a column's name without its unit, which goes to *unit if there is one. */
static size_t plain_length(bool *has_unit, sl_unit *unit, const char *name) {
    size_t n = strlen(name);
    *has_unit = sl_data_unit_of_name(unit, &n, name);
    return n;
}

/* The column called `word` if units are left out; -1: none, or several. */
static int find_plain(const sl_csv *csv, const char *word) {
    int found = -1, times = 0;
    for (int i = 0; i < sl_io_csv_columns(csv); i++) {
        sl_unit unit;
        bool has_unit;
        const char *name = sl_io_csv_name(csv, i);
        const size_t n = plain_length(&has_unit, &unit, name);
        if (!has_unit || n != strlen(word) || memcmp(name, word, n) != 0) continue;
        found = i;
        times++;
    }
    return times == 1 ? found : -1;
}

/* *column := the one that a word names. */
static sl_status find_column(int *column, const columns *r, const char *word, const char *role) {
    const sl_csv *csv = r->csv;
    char shown[NAME_SHOWN + 4];
    *column = sl_io_csv_find(csv, word);
    if (*column < 0) *column = find_plain(csv, word);
    if (*column < 0) return fail_unknown(r, word, role);
    for (int i = *column + 1; i < sl_io_csv_columns(csv); i++)
        if (strcmp(sl_io_csv_name(csv, i), word) == 0)
            return sl_fail(SL_EINVAL,
                           "%s: columns %d and %d are both called \"%s\"; say which by its number",
                           r->shown, *column + 1, i + 1, sl_data__table_shorten(shown, word));
    return SL_OK;
}

static const char *errors_of(const columns *r) { return r->o->sigma ? "errors" : "weights"; }

static bool is_text(const columns *r, const sl_cell *cell) {
    double v;
    unsigned signs;
    return sl_io_cell_read(&v, &signs, cell, sl_io_csv_facts(r->csv)->style) == SL_CELL_TEXT &&
           !(signs & SL_SIGN_UNCLEAR);
}

/* The column y or target, else the last that has no errors and no text. */
static sl_status find_target(columns *r, const sl_cell *first) {
    static const char *const usual[] = { "y", "target" };
    if (r->o->target) return find_column(&r->target, r, r->o->target, "target");
    const char *errors = r->o->sigma ? r->o->sigma : r->o->weights;
    const int taken = errors ? sl_io_csv_find(r->csv, errors) : -1;
    const int last = sl_io_csv_columns(r->csv) - 1;
    r->target = last;
    while (r->target > 0 && (r->target == taken || (first && is_text(r, &first[r->target]))))
        r->target--;
    if (first && is_text(r, &first[r->target])) r->target = last; // there is no number at all
    for (int k = 0; k < SL_LEN(usual); k++)
        for (int i = 0; i < sl_io_csv_columns(r->csv); i++) {
            sl_unit unit;
            bool has_unit;
            const char *name = sl_io_csv_name(r->csv, i);
            const size_t n = plain_length(&has_unit, &unit, name);
            if (n == strlen(usual[k]) && sl_strncasecmp(name, usual[k], n) == 0)
                return find_column(&r->target, r, name, "target");
        }
    return SL_OK;
}

/* The column of sigma or of weights, if one is named. */
static sl_status find_errors(columns *r) {
    char shown[NAME_SHOWN + 4];
    const char *word = r->o->sigma ? r->o->sigma : r->o->weights;
    if (!word) return SL_OK;
    if (r->o->sigma && r->o->weights)
        return sl_fail(SL_EINVAL, "a column of errors and one of weights; name one of them");
    SL_TRY(find_column(&r->column[1], r, word, errors_of(r)));
    if (r->column[1] == r->target)
        return sl_fail(SL_EINVAL, "column \"%s\" is the target, so it cannot have its %s too",
                       sl_data__table_shorten(shown, sl_io_csv_name(r->csv, r->target)),
                       errors_of(r));
    r->width = r->first = 2;
    return SL_OK;
}

/* Takes the next name off a list `a, "b, with a comma", 3` into `word`; false behind the last. A
 * name in quotes may have commas, and quotes written twice. */
static bool next_name(sl_str *word, const char **list, bool *more) {
    const char *at = *list;
    if (!*more) return false;
    sl_str_truncate(word, 0);
    at += strspn(at, " \t");
    if (*at == '"') {
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            sl_str_add_char(word, *at);
            if (*at == '"') at++;
        }
        at += *at == '"';
    }
    const size_t n = strcspn(at, ",");
    sl_str_add_bytes(word, at, n);
    size_t len = word->len;
    while (len > 0 && (word->text[len - 1] == ' ' || word->text[len - 1] == '\t')) len--;
    sl_str_truncate(word, len);
    *more = at[n] == ',';
    *list = at + n + *more;
    return true;
}

static sl_status add_input(columns *r, const char *word) {
    char shown[NAME_SHOWN + 4];
    int column;
    if (!*word) return sl_fail(SL_EINVAL, "an empty name among the inputs \"%s\"", r->o->inputs);
    SL_TRY(find_column(&column, r, word, "input"));
    if (column == r->target)
        return sl_fail(SL_EINVAL, "column \"%s\" is the target, so it cannot be an input too",
                       sl_data__table_shorten(shown, sl_io_csv_name(r->csv, column)));
    if (r->first > 1 && column == r->column[1])
        return sl_fail(SL_EINVAL, "column \"%s\" has the %s, so it cannot be an input too",
                       sl_data__table_shorten(shown, sl_io_csv_name(r->csv, column)), errors_of(r));
    for (int i = r->first; i < r->width; i++)
        if (r->column[i] == column)
            return sl_fail(SL_EINVAL, "column \"%s\" is named twice among the inputs",
                           sl_data__table_shorten(shown, sl_io_csv_name(r->csv, column)));
    if (r->width - r->first >= r->o->max_inputs)
        return sl_fail(SL_EINVAL, "more than %d input%s named, and no more are taken",
                       r->o->max_inputs, r->o->max_inputs == 1 ? " is" : "s are");
    r->column[r->width++] = column;
    return SL_OK;
}

static sl_status find_inputs(columns *r) {
    sl_status st = SL_OK;
    const char *list = r->o->inputs;
    if (sl_io_csv_find(r->csv, list) >= 0)
        return add_input(r, list); // a name with a comma, perhaps
    sl_str word = { 0 };
    bool more = true;
    while (next_name(&word, &list, &more)) {
        SL_GO(sl_str_status(&word));
        SL_GO(add_input(r, sl_str_text(&word)));
    }
done:
    sl_str_clear(&word);
    return st;
}

sl_status sl_data__table_find_columns(columns *r, const sl_cell *first) {
    SL_TRY(find_target(r, first));
    r->column[0] = r->target;
    r->width = r->first = 1;
    SL_TRY(find_errors(r));
    r->named = r->o->inputs != NULL;
    return r->named ? find_inputs(r) : SL_OK;
}

sl_status sl_data__table_copy_name(const char **out, bool *has_unit, sl_unit *unit, sl_arena *a,
                                   const sl_csv *csv, int column) {
    const char *name = sl_io_csv_name(csv, column);
    *unit = (sl_unit){ .factor = 1 };
    const size_t plain = plain_length(has_unit, unit, name);
    size_t n = plain;
    for (int i = 0; i < sl_io_csv_columns(csv) && *has_unit; i++) {
        sl_unit other;
        bool any;
        const char *another = sl_io_csv_name(csv, i);
        const size_t length = plain_length(&any, &other, another);
        if (i != column && length == plain && memcmp(another, name, plain) == 0) n = strlen(name);
    }
    // a unit in the name, or in a row of units
    if (!*has_unit) *has_unit = sl_data__unit_of_cell(unit, sl_io_csv_unit(csv, column));
    *out = sl_arena_text(a, name, n);
    return *out ? SL_OK : sl_fail_memory(n + 1, 1, "a column's name");
}
