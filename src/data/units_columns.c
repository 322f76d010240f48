/* units_columns - which unit belongs to which column: a list of a user's, or the names themselves.
 */
#include <string.h>

#include "data/table_impl.h"
#include "data/unit_impl.h"

enum { NAME_SHOWN = 60 };

/* The column called name[0..n): inputs from 0, `inputs` for the target, -1 for none. */
static int find_column(const char *name, size_t n, const char *const *names, int inputs,
                       const char *target) {
    for (int i = 0; i <= inputs; i++) {
        const char *one = i < inputs ? names[i] : target;
        if (strlen(one) == n && memcmp(one, name, n) == 0) return i;
    }
    return -1;
}

static sl_status fail_column(const char *name, size_t n, const char *const *names, int inputs,
                             const char *target) {
    sl_str s = { 0 };
    sl_str_addf(&s, "units: no column is called \"%.*s\"; there are ",
                (int)SL_MIN(n, (size_t)NAME_SHOWN), name);
    for (int i = 0; i <= inputs; i++)
        sl_str_addf(&s, "%s\"%.60s\"", i ? ", " : "", i < inputs ? names[i] : target);
    sl_status st = sl_str_status(&s);
    if (st == SL_OK) st = sl_fail(SL_EINVAL, "%s", s.text);
    sl_str_clear(&s);
    return st;
}

/* One name=unit of a list, which ends at a comma that is not inside quotes or brackets. */
typedef struct item {
    const char *name, *unit;
    size_t name_length, unit_length;
} item;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static sl_status next_item(item *out, const char **list) {
    const char *at = *list;
    while (is_blank(*at)) at++;
    const bool quoted = *at == '"';
    out->name = at += quoted;
    at += strcspn(at, quoted ? "\"" : "=,");
    out->name_length = (size_t)(at - out->name);
    at += quoted && *at == '"';
    while (is_blank(*at)) at++;
    if (*at != '=')
        return sl_fail(SL_EFORMAT,
                       "units: \"=\" and a unit are missing behind \"%.*s\"; write them "
                       "as m=kg,v=m/s",
                       (int)SL_MIN(out->name_length, (size_t)NAME_SHOWN), out->name);
    while (!quoted && out->name_length > 0 && is_blank(out->name[out->name_length - 1]))
        out->name_length--;
    out->unit = ++at;
    at += strcspn(at, ",");
    out->unit_length = (size_t)(at - out->unit);
    *list = at;
    return SL_OK;
}

static void put(sl_units *u, int column, int inputs, const sl_unit *unit) {
    if (column < inputs) {
        u->input[column] = unit->dimension;
        u->input_factor[column] = unit->factor;
        u->input_known[column] = true;
    } else {
        u->target = unit->dimension;
        u->target_factor = unit->factor;
        u->target_known = true;
    }
}

sl_status sl_data_units_parse(sl_units *out, const char *list, const char *const *names, int inputs,
                              const char *target) {
    SL_ASSERT(inputs >= 0 && inputs <= SL_DATA_MAX_INPUTS);
    sl_units u = *out;
    bool named[SL_DATA_MAX_INPUTS + 1] = { false };
    for (bool more = true; more;) {
        item one;
        sl_unit unit;
        SL_TRY(next_item(&one, &list));
        const int column = find_column(one.name, one.name_length, names, inputs, target);
        if (column < 0) return fail_column(one.name, one.name_length, names, inputs, target);
        if (named[column])
            return sl_fail(SL_EINVAL, "units: column \"%.*s\" is named twice",
                           (int)SL_MIN(one.name_length, (size_t)NAME_SHOWN), one.name);
        SL_TRY(sl_data_unit_parse(&unit, one.unit, one.unit_length));
        named[column] = true;
        put(&u, column, inputs, &unit);
        more = *list == ',';
        list += more;
    }
    *out = u;
    return SL_OK;
}

/* "sensor (2)" has a number and no unit; (1) and (-) say that there is none. */
static bool may_be_unit(const char *text, size_t n) {
    if (n == 1 && (*text == '1' || *text == '-')) return true;
    for (size_t i = 0; i < n; i++)
        if (!sl_isdigit(text[i]) && !strchr(" .+-*/^()", text[i])) return true;
    return false;
}

/* The unit, or false with no trace of the attempt in the last error. */
static bool try_unit(sl_unit *unit, const char *text, size_t n) {
    char line[512];
    if (!may_be_unit(text, n)) return false;
    *unit = (sl_unit){ .factor = 1 };
    if (n == 1 && *text == '-') return true;
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    if (sl_data_unit_parse(unit, text, n) == SL_OK) return true;
    sl_fail_restore(line);
    return false;
}

bool sl_data__unit_of_cell(sl_unit *unit, const char *text) {
    size_t n = strlen(text);
    const bool bracketed =
        n > 2 && ((text[0] == '(' && text[n - 1] == ')') || (text[0] == '[' && text[n - 1] == ']'));
    if (bracketed) text++, n -= 2;
    return n > 0 && try_unit(unit, text, n);
}

static bool is_unit(const char *text, size_t n) {
    sl_unit unit;
    return n > 0 && try_unit(&unit, text, n);
}

sl_csv_options sl_data_table_csv(const sl_csv_options *o) {
    sl_csv_options own = *o;
    own.is_unit = is_unit;
    return own;
}

bool sl_data_unit_of_name(sl_unit *unit, size_t *length, const char *name) {
    const size_t n = strlen(name);
    const char last = n > 0 ? name[n - 1] : 0, open = last == ')' ? '(' : last == ']' ? '[' : 0;
    if (!open) return false;
    // the bracket that belongs to the last one: a unit may have some of its own
    size_t at = n - 1;
    for (int depth = 1; depth > 0 && at > 0;) {
        at--;
        depth += name[at] == last ? 1 : name[at] == open ? -1 : 0;
        if (depth > 0 && at == 0) return false;
    }
    size_t end = at;
    while (end > 0 && (is_blank(name[end - 1]) || name[end - 1] == '_')) end--;
    sl_unit u;
    if (end == 0 || !try_unit(&u, name + at + 1, n - at - 2)) return false;
    *unit = u;
    *length = end;
    return true;
}

static bool is_any_known(const sl_units *u, int inputs) {
    bool known = u->target_known;
    for (int i = 0; i < inputs; i++) known = known || u->input_known[i];
    return known;
}

sl_status sl_data_units_known(const sl_units **out, sl_units *units, const char *list,
                              const char *const *names, int inputs, const char *target) {
    if (list) SL_TRY(sl_data_units_parse(units, list, names, inputs, target));
    *out = is_any_known(units, inputs) ? units : NULL;
    return SL_OK;
}
