/* options - a JSON object checked against the table of a command: types, ranges, choices, defaults.
 *
 * Messages name options as people type them, --depth, because most are read on a terminal. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

/* ---------------------------------------------------------------- did you mean -------------- */

void sl_commands_guess_offer(sl_commands_guess *g, const char *candidate) {
    // the beginning of a long name counts as near, however many letters are missing
    size_t n = strlen(g->word);
    bool beginning = n >= 2 && strncmp(candidate, g->word, n) == 0;
    int d = beginning ? 1 : sl_edit_distance(g->word, candidate);
    if (d > 1 + (int)SL_MIN(n, (size_t)64) / 4) return;
    if (g->best && d >= g->distance) return;
    g->best = candidate;
    g->distance = d;
}

const char *sl_commands_guess_text(const sl_commands_guess *g, const char *dashes,
                                   char buffer[96]) {
    buffer[0] = '\0';
    if (g->best) sl_snprintf(buffer, 96, "; did you mean %s%s?", dashes, g->best);
    return buffer;
}

/* ---------------------------------------------------------------- one value ----------------- */

/* A number for messages, without an exponent where it is whole. */
static const char *number_text(char buffer[40], double x) {
    if (x == floor(x) && fabs(x) < 1e16)
        sl_snprintf(buffer, 40, "%.0f", x);
    else
        sl_snprintf(buffer, 40, "%g", x);
    return buffer;
}

/* The value as it was written, cut to a reasonable length. */
static const char *value_text(char buffer[64], const sl_json *j) {
    switch (sl_io_json_kind_of(j)) {
    case SL_JSON_TEXT: sl_snprintf(buffer, 64, "\"%.40s\"", sl_io_json_text(j)); break;
    case SL_JSON_INT: sl_snprintf(buffer, 64, "%" PRId64, sl_io_json_int(j)); break;
    case SL_JSON_REAL: // 1e200 is 9.9999999999999997e+199 to 17 digits
        sl_snprintf(buffer, 64, "%.15g", sl_io_json_real(j));
        if (sl_strtod(buffer, NULL) != sl_io_json_real(j))
            sl_snprintf(buffer, 64, "%.17g", sl_io_json_real(j));
        break;
    case SL_JSON_BOOL: sl_snprintf(buffer, 64, "%s", sl_io_json_bool(j) ? "true" : "false"); break;
    default: sl_snprintf(buffer, 64, "%s", sl_io_json_kind_text(sl_io_json_kind_of(j)));
    }
    return buffer;
}

static sl_status fail_number(const sl_option *o, const sl_json *j) {
    char low[40], high[40], got[64];
    return sl_fail(SL_EINVAL, "--%s must be a %s from %s to %s, not %s", o->name,
                   o->kind == SL_KIND_INT ? "whole number" : "number", number_text(low, o->min),
                   number_text(high, o->max), value_text(got, j));
}

/* 1e5 is a whole number too, however it was written. */
static sl_status read_number(void *options, const sl_option *o, const sl_json *j) {
    sl_json_kind kind = sl_io_json_kind_of(j);
    if (kind != SL_JSON_INT && kind != SL_JSON_REAL) return fail_number(o, j);
    double x = sl_io_json_real(j);
    if (!(x >= o->min && x <= o->max)) return fail_number(o, j);
    if (o->kind == SL_KIND_INT && x != floor(x)) return fail_number(o, j);
    sl_option_set(options, o, x); // bounds of whole numbers are below 2^53
    return SL_OK;
}

static sl_status fail_choice(const sl_option *o, const char *word) {
    char end[96], list[200], names[16][SL_OPTION_TEXT_MAX];
    sl_commands_guess g = { .word = word };
    int n = 1;
    size_t w = 0;
    // "a|b|c" reads as "a, b, c"
    for (const char *p = o->choices; *p && w + 3 < sizeof list; p++) {
        list[w++] = *p == '|' ? ',' : *p;
        if (*p == '|') list[w++] = ' ';
        n += *p == '|';
    }
    list[w] = '\0';
    SL_ASSERT(n <= SL_LEN(names)); // the tables are ours
    for (int i = 0; i < n; i++) sl_commands_guess_offer(&g, sl_option_choice(names[i], o, i));
    return sl_fail(SL_EINVAL, "--%s must be one of %s, not \"%.40s\"%s", o->name, list, word,
                   sl_commands_guess_text(&g, "", end));
}

static sl_status read_texts(const char **text, const sl_option *o, const sl_json *j) {
    bool good =
        sl_io_json_kind_of(j) == SL_JSON_ARRAY && sl_io_json_count(j) == SL_OPTION_TEXTS_COUNT;
    for (int i = 0; good && i < SL_OPTION_TEXTS_COUNT; i++) {
        const sl_json *element = sl_io_json_at(j, i);
        good = sl_io_json_kind_of(element) == SL_JSON_TEXT;
        if (good) text[i] = sl_io_json_text(element);
    }
    if (good) return SL_OK;
    return sl_fail(SL_EINVAL, "--%s must be an array of %d texts", o->name, SL_OPTION_TEXTS_COUNT);
}

sl_status sl_commands__option_read(void *options, const sl_option *o, const sl_json *j) {
    char got[64];
    switch (o->kind) {
    case SL_KIND_INT:
    case SL_KIND_REAL: return read_number(options, o, j);
    case SL_KIND_TEXTS: return read_texts(sl_option_texts(options, o), o, j);
    case SL_KIND_FLAG:
        if (sl_io_json_kind_of(j) != SL_JSON_BOOL)
            return sl_fail(SL_EINVAL, "--%s must be true or false, not %s", o->name,
                           value_text(got, j));
        sl_option_set(options, o, sl_io_json_bool(j));
        return SL_OK;
    case SL_KIND_TEXT:
    case SL_KIND_CHOICE: break;
    }
    if (sl_io_json_kind_of(j) != SL_JSON_TEXT)
        return sl_fail(SL_EINVAL, "--%s must be a text, not %s", o->name, value_text(got, j));
    if (o->kind == SL_KIND_TEXT) {
        *sl_option_texts(options, o) = sl_io_json_text(j);
        return SL_OK;
    }
    const int place = sl_option_place(o, sl_io_json_text(j));
    if (place < 0) return fail_choice(o, sl_io_json_text(j));
    sl_option_set(options, o, place);
    return SL_OK;
}

const sl_json *sl_commands__option_member(const sl_json *config, const sl_option *o) {
    const sl_json *j = sl_io_json_get(config, o->name);
    return j || !o->alias ? j : sl_io_json_get(config, o->alias);
}

void sl_commands__option_default(void *options, const sl_option *o, int format) {
    const sl_ckpt_older *older = sl_ckpt_older_default(o->name, format);
    sl_option_defaults(options, &(sl_option_table){ o, 1 });
    if (older) sl_option_set(options, o, older->value);
}

/* ---------------------------------------------------------------- all of them --------------- */

static sl_status fail_unknown(const sl_option_table *t, const char *name) {
    char end[96];
    sl_commands_guess g = { .word = name };
    for (int i = 0; i < t->n; i++) sl_commands_guess_offer(&g, t->row[i].name);
    return sl_fail(SL_EINVAL, "unknown option --%.60s%s", name,
                   sl_commands_guess_text(&g, "--", end));
}

sl_status sl_commands_options_read(void *options, bool *by_caller, const sl_option_table *t,
                                   const sl_json *given) {
    sl_option_defaults(options, t);
    for (int i = 0; by_caller && i < t->n; i++) by_caller[i] = false;
    if (!given) return SL_OK;
    if (sl_io_json_kind_of(given) != SL_JSON_OBJECT)
        return sl_fail(SL_EINVAL, "options must be a JSON object, not %s",
                       sl_io_json_kind_text(sl_io_json_kind_of(given)));

    for (sl_json_member m = sl_io_json_first(given); m.name; m = sl_io_json_next(given, m)) {
        const sl_option *o = sl_option_find(t, m.name);
        if (!o) return fail_unknown(t, m.name);
        if (sl_io_json_kind_of(m.value) == SL_JSON_NULL) continue; // as if it were not there
        SL_TRY(sl_commands__option_read(options, o, m.value));
        if (by_caller) by_caller[o - t->row] = true;
    }
    return SL_OK;
}

void sl_commands__option_write(sl_str *s, const void *options, const sl_option *o) {
    char name[SL_OPTION_TEXT_MAX];
    if (!sl_option_is_given(options, o)) {
        sl_io_json_add_null(s, o->name);
        return;
    }
    switch (o->kind) {
    case SL_KIND_FLAG: sl_io_json_add_bool(s, o->name, sl_option_number(options, o) != 0); break;
    case SL_KIND_INT: sl_io_json_add_int(s, o->name, (int64_t)sl_option_number(options, o)); break;
    case SL_KIND_REAL: sl_io_json_add_real(s, o->name, sl_option_number(options, o)); break;
    case SL_KIND_CHOICE:
        sl_io_json_add_text(s, o->name,
                            sl_option_choice(name, o, (int)sl_option_number(options, o)));
        break;
    case SL_KIND_TEXT: sl_io_json_add_text(s, o->name, *sl_option_texts(options, o)); break;
    case SL_KIND_TEXTS:
        sl_io_json_open(s, o->name, '[');
        for (int k = 0; k < SL_OPTION_TEXTS_COUNT; k++)
            sl_io_json_add_text(s, NULL, sl_option_texts(options, o)[k]);
        sl_io_json_close(s, ']');
        break;
    }
}

void sl_commands__options_write(sl_str *s, const void *options, const sl_option_table *t) {
    for (int i = 0; i < t->n; i++) sl_commands__option_write(s, options, &t->row[i]);
}
