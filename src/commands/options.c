/* options - a JSON object against a command's table: types, ranges, choices, defaults.
 *
 * Messages name options as people type them, --depth, because most are read on a terminal. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/ckpt.h"
#include "commands/commands.h"

/* ---------------------------------------------------------------- did you mean -------------- */

void sl_commands__guess_offer(sl_commands__guess *g, const char *candidate) {
    // who types the beginning of a long name means it, however many letters are missing
    size_t n = strlen(g->word);
    bool beginning = n >= 2 && strncmp(candidate, g->word, n) == 0;
    int d = beginning ? 1 : sl_edit_distance(g->word, candidate);
    if (d > 1 + (int)SL_MIN(n, (size_t)64) / 4) return;
    if (g->best && d >= g->distance) return;
    g->best = candidate;
    g->distance = d;
}

const char *sl_commands__guess_text(const sl_commands__guess *g, const char *dashes,
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

/* The value as its writer would recognise it, cut to a sensible length. */
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

static sl_status fail_number(const symlaw_option_info *o, const sl_json *j) {
    char low[40], high[40], got[64];
    return sl_fail(SL_EINVAL, "--%s must be a %s from %s to %s, not %s", o->name,
                   o->type == SYMLAW_OPTION_INT ? "whole number" : "number",
                   number_text(low, o->min), number_text(high, o->max), value_text(got, j));
}

/* 1e5 is a whole number too, however it was written. */
static sl_status read_number(sl_commands__value *v, const symlaw_option_info *o, const sl_json *j) {
    sl_json_kind kind = sl_io_json_kind_of(j);
    if (kind != SL_JSON_INT && kind != SL_JSON_REAL) return fail_number(o, j);
    double x = sl_io_json_real(j);
    if (!(x >= o->min && x <= o->max)) return fail_number(o, j);
    if (o->type == SYMLAW_OPTION_INT && x != floor(x)) return fail_number(o, j);
    v->real = x;
    v->whole = kind == SL_JSON_INT ? sl_io_json_int(j) : (int64_t)x;
    return SL_OK;
}

/* Calls offer on each of "infix|python|..."; true when one is `word`. */
static bool choice_known(const symlaw_option_info *o, const char *word, sl_commands__guess *g,
                         char names[8][32]) {
    const char *at = o->choices;
    for (int i = 0; *at; i++) {
        size_t n = strcspn(at, "|");
        SL_ASSERT(i < 8 && n < 32); // the tables are ours
        memcpy(names[i], at, n);
        names[i][n] = '\0';
        if (strcmp(names[i], word) == 0) return true;
        sl_commands__guess_offer(g, names[i]);
        at += n + (at[n] == '|');
    }
    return false;
}

static sl_status read_choice(sl_commands__value *v, const symlaw_option_info *o, const char *word) {
    char names[8][32], end[96], list[200];
    sl_commands__guess g = { .word = word };
    if (choice_known(o, word, &g, names)) {
        v->text[0] = word;
        return SL_OK;
    }
    // "a|b|c" reads as "a, b, c"
    size_t w = 0;
    for (const char *p = o->choices; *p && w + 3 < sizeof list; p++) {
        list[w++] = *p == '|' ? ',' : *p;
        if (*p == '|') list[w++] = ' ';
    }
    list[w] = '\0';
    return sl_fail(SL_EINVAL, "--%s must be one of %s, not \"%.40s\"%s", o->name, list, word,
                   sl_commands__guess_text(&g, "", end));
}

static sl_status read_texts(sl_commands__value *v, const symlaw_option_info *o, const sl_json *j) {
    SL_ASSERT(o->arity <= SL_COMMANDS__MAX_ARITY);
    bool good = sl_io_json_kind_of(j) == SL_JSON_ARRAY && sl_io_json_count(j) == o->arity;
    for (int i = 0; good && i < o->arity; i++) {
        const sl_json *element = sl_io_json_at(j, i);
        good = sl_io_json_kind_of(element) == SL_JSON_TEXT;
        if (good) v->text[i] = sl_io_json_text(element);
    }
    if (good) return SL_OK;
    return sl_fail(SL_EINVAL, "--%s must be an array of %d texts", o->name, o->arity);
}

sl_status sl_commands__option_read(sl_commands__value *v, const symlaw_option_info *o,
                                   const sl_json *j) {
    char got[64];
    v->given = v->told = true;
    switch (o->type) {
    case SYMLAW_OPTION_INT:
    case SYMLAW_OPTION_REAL: return read_number(v, o, j);
    case SYMLAW_OPTION_TEXTS: return read_texts(v, o, j);
    case SYMLAW_OPTION_FLAG:
        if (sl_io_json_kind_of(j) != SL_JSON_BOOL)
            return sl_fail(SL_EINVAL, "--%s must be true or false, not %s", o->name,
                           value_text(got, j));
        v->flag = sl_io_json_bool(j);
        return SL_OK;
    case SYMLAW_OPTION_TEXT:
    case SYMLAW_OPTION_CHOICE:
    case SYMLAW_OPTION_FILE:
    case SYMLAW_OPTION_FOLDER: break;
    }
    if (sl_io_json_kind_of(j) != SL_JSON_TEXT)
        return sl_fail(SL_EINVAL, "--%s must be a text, not %s", o->name, value_text(got, j));
    v->text[0] = sl_io_json_text(j);
    return o->type == SYMLAW_OPTION_CHOICE ? read_choice(v, o, v->text[0]) : SL_OK;
}

/* The default is text in the table, so that --help shows just what holds. */
static void read_default(sl_commands__value *v, const symlaw_option_info *o) {
    *v = (sl_commands__value){ .given = o->default_value != NULL };
    if (!o->default_value) return;
    v->text[0] = o->default_value;
    v->flag = strcmp(o->default_value, "true") == 0;
    v->whole = sl_strtoll(o->default_value, NULL);
    v->real = sl_strtod(o->default_value, NULL);
}

void sl_commands__option_default(sl_commands__value *v, const symlaw_option_info *o, int format) {
    const sl_ckpt_older *older = sl_ckpt_older_default(o->name, format);
    symlaw_option_info then = *o;
    if (older) then.default_value = older->text;
    read_default(v, &then);
}

/* ---------------------------------------------------------------- all of them --------------- */

sl_status sl_commands__options_read(sl_commands__value *values, const symlaw_command_info *info,
                                    const sl_json *given) {
    for (int i = 0; i < info->n_options; i++) read_default(&values[i], &info->options[i]);
    if (!given) return SL_OK;
    if (sl_io_json_kind_of(given) != SL_JSON_OBJECT)
        return sl_fail(SL_EINVAL, "options must be a JSON object, not %s",
                       sl_io_json_kind_text(sl_io_json_kind_of(given)));

    for (sl_json_member m = sl_io_json_first(given); m.name; m = sl_io_json_next(given, m)) {
        sl_commands__guess g = { .word = m.name };
        int i = 0;
        while (i < info->n_options && strcmp(info->options[i].name, m.name) != 0)
            sl_commands__guess_offer(&g, info->options[i++].name);
        if (i == info->n_options) {
            char end[96];
            return sl_fail(SL_EINVAL, "unknown option --%.60s%s", m.name,
                           sl_commands__guess_text(&g, "--", end));
        }
        if (sl_io_json_kind_of(m.value) == SL_JSON_NULL) continue; // as if it were not there
        SL_TRY(sl_commands__option_read(&values[i], &info->options[i], m.value));
    }
    return SL_OK;
}

void sl_commands__option_write(sl_str *s, const symlaw_option_info *o,
                               const sl_commands__value *v) {
    if (!v->given) {
        sl_io_json_add_null(s, o->name);
        return;
    }
    switch (o->type) {
    case SYMLAW_OPTION_FLAG: sl_io_json_add_bool(s, o->name, v->flag); break;
    case SYMLAW_OPTION_INT: sl_io_json_add_int(s, o->name, v->whole); break;
    case SYMLAW_OPTION_REAL: sl_io_json_add_real(s, o->name, v->real); break;
    case SYMLAW_OPTION_TEXT:
    case SYMLAW_OPTION_CHOICE:
    case SYMLAW_OPTION_FILE:
    case SYMLAW_OPTION_FOLDER: sl_io_json_add_text(s, o->name, v->text[0]); break;
    case SYMLAW_OPTION_TEXTS:
        sl_io_json_open(s, o->name, '[');
        for (int k = 0; k < o->arity; k++) sl_io_json_add_text(s, NULL, v->text[k]);
        sl_io_json_close(s, ']');
        break;
    }
}

void sl_commands__options_write(sl_str *s, const symlaw_command_info *info,
                                const sl_commands__value *values) {
    for (int i = 0; i < info->n_options; i++)
        sl_commands__option_write(s, &info->options[i], &values[i]);
}
