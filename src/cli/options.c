/* options - argv to the JSON object that symlaw_command reads, by the command's table; `serve` has
 * its table in src/serve.
 *
 * Only the syntax of the command line is handled here: dashes, `=`, missing values. The library
 * checks names and values, so a malformed number is passed on as a text and refused there. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli_impl.h"

enum { MAX_ARITY = 8 };

/* What an option came with. */
typedef struct slot {
    bool given, bare; // without its name
    const char *values[MAX_ARITY];
} slot;

int sl_cli__command_count(void) { return symlaw_command_count() + 1; }

const symlaw_command_info *sl_cli__command_get(int i) {
    return i == symlaw_command_count() ? &sl_serve_command : symlaw_command_get(i);
}

const symlaw_option_info *sl_cli__option(const symlaw_command_info *info, int i) {
    return info == &sl_serve_command ? sl_serve_option(i) : symlaw_command_option(info, i);
}

const symlaw_command_info *sl_cli__command(const char *name) {
    for (int i = 0; i < sl_cli__command_count(); i++)
        if (strcmp(sl_cli__command_get(i)->name, name) == 0) return sl_cli__command_get(i);
    return NULL;
}

static bool is_name(const char *name, const char *text, size_t n) {
    return name && strlen(name) == n && memcmp(name, text, n) == 0;
}

/* The number of the option named by the n bytes of `name`, now or formerly; -1: there is none. */
static int place_of(const symlaw_command_info *info, const char *name, size_t n) {
    for (int i = 0; i < info->n_options; i++)
        if (is_name(sl_cli__option(info, i)->name, name, n)) return i;
    for (int i = 0; i < info->n_options; i++)
        if (is_name(sl_cli__option(info, i)->alias, name, n)) return i;
    return -1;
}

static const symlaw_option_info *find(const symlaw_command_info *info, const char *name, size_t n) {
    return sl_cli__option(info, place_of(info, name, n));
}

static slot *slot_of(slot *slots, const symlaw_command_info *info, const symlaw_option_info *o) {
    return &slots[place_of(info, o->name, strlen(o->name))];
}

const symlaw_option_info *sl_cli__positional(const symlaw_command_info *info, int i) {
    const char *name = i == 0 ? info->positional : info->positional_next;
    return name ? find(info, name, strlen(name)) : NULL;
}

static bool is_option(const symlaw_command_info *info, const char *arg) {
    return strncmp(arg, "--", 2) == 0 && find(info, arg + 2, strcspn(arg + 2, "=")) != NULL;
}

/* ---------------------------------------------------------------- values to JSON ------------ */

static void add_number(sl_cli__text *json, const char *value) {
    const bool begins = value[0] && strchr("0123456789+-.", value[0]);
    long long whole;
    double real;
    if (begins && sl_cli__whole(&whole, value))
        sl_cli__addf(json, "%lld", whole);
    else if (begins && sl_cli__real(&real, value))
        sl_cli__addf(json, "%.17g", real);
    else
        sl_cli__add_quoted(json, value);
}

static void add_value(sl_cli__text *json, const symlaw_option_info *o, const char *const *values) {
    sl_cli__addf(json, "%s\"%s\":", json->len > 1 ? "," : "", o->name);
    switch (o->type) {
    case SYMLAW_OPTION_FLAG: sl_cli__addf(json, "true"); break;
    case SYMLAW_OPTION_INT:
    case SYMLAW_OPTION_REAL: add_number(json, values[0]); break;
    case SYMLAW_OPTION_TEXT:
    case SYMLAW_OPTION_CHOICE:
    case SYMLAW_OPTION_FILE:
    case SYMLAW_OPTION_FOLDER: sl_cli__add_quoted(json, values[0]); break;
    case SYMLAW_OPTION_TEXTS:
        sl_cli__addf(json, "[");
        for (int i = 0; i < o->arity; i++) {
            if (i > 0) sl_cli__addf(json, ",");
            sl_cli__add_quoted(json, values[i]);
        }
        sl_cli__addf(json, "]");
        break;
    }
}

/* ---------------------------------------------------------------- argv ---------------------- */

static void see_help(const symlaw_command_info *info) {
    sl_cli__error("\"symlaw %s --help\" shows its options", info->name);
}

/* The library's message about an unknown name suggests the nearest one. */
static bool fail_unknown(const symlaw_command_info *info, const char *name, size_t n) {
    char word[64];
    if (n >= sizeof word) n = sizeof word - 1;
    memcpy(word, name, n);
    word[n] = '\0';
    if (info == &sl_serve_command) {
        sl_cli__error("unknown option --%s", word);
        see_help(info);
        return false;
    }
    sl_cli__text json = { 0 };
    sl_cli__addf(&json, "{");
    sl_cli__add_quoted(&json, sl_cli__bad_utf8(word) < 0 ? word : "?");
    sl_cli__addf(&json, ":true}");
    if (symlaw_command(info->name, json.text, NULL, NULL, NULL) != SYMLAW_OK)
        sl_cli__error("%s", symlaw_last_error());
    sl_cli__text_clear(&json);
    see_help(info);
    return false;
}

/* An argument too many. */
static bool fail_extra(const symlaw_command_info *info, const char *word) {
    sl_cli__error("unexpected argument \"%.60s\"; a text with blanks needs quotes around it", word);
    see_help(info);
    return false;
}

/* One dash alone begins no option but -h. */
static bool fail_dash(const symlaw_command_info *info, const char *arg) {
    if (find(info, arg + 1, strcspn(arg + 1, "=")))
        sl_cli__error("unknown option %.60s; options begin with two dashes: -%.60s", arg, arg);
    else
        sl_cli__error("unknown option %.60s", arg);
    see_help(info);
    return false;
}

static bool is_text(const symlaw_option_info *o, const char *value) {
    const long bad = sl_cli__bad_utf8(value);
    if (bad >= 0) sl_cli__error("--%s: its value is not UTF-8 text at byte %ld", o->name, bad + 1);
    return bad < 0;
}

/* Reads the option at argv[*at] and its values, and steps over them. Sets values[0 .. arity-1]. */
static bool read_option(const symlaw_option_info **out, const char **values,
                        const symlaw_command_info *info, int argc, char **argv, int *at) {
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    const symlaw_option_info *o = find(info, name, n);
    if (!o) return fail_unknown(info, name, n);
    ++*at;
    if (equals && o->arity == 0) {
        sl_cli__error("--%s takes no value", o->name);
        return false;
    }
    for (int i = 0; i < o->arity; i++) {
        if (i == 0 && equals)
            values[i] = equals + 1;
        else if (*at < argc && !is_option(info, argv[*at]))
            values[i] = argv[(*at)++];
        else {
            sl_cli__error("--%s needs %s: --%s %s", o->name,
                          o->arity == 1 ? "a value" : "more values", o->name, o->value_name);
            return false;
        }
        if (!is_text(o, values[i])) return false;
    }
    *out = o;
    return true;
}

/* A positional argument goes to the first positional option without a value, or to a call of its
 * own. */
static bool read_bare(sl_cli__args *out, slot *slots, const symlaw_command_info *info,
                      const char *word) {
    const symlaw_option_info *o = sl_cli__positional(info, 0);
    if (o && info->repeats) {
        out->words[out->n_words++] = word;
        return is_text(o, word);
    }
    if (o && slot_of(slots, info, o)->bare) o = sl_cli__positional(info, 1);
    if (!o || slot_of(slots, info, o)->bare) return fail_extra(info, word);
    *slot_of(slots, info, o) = (slot){ .given = true, .bare = true, .values = { word } };
    return is_text(o, word);
}

/* One argument, or an option with its values. dashes: they still begin options. */
static bool read_argument(sl_cli__args *out, slot *slots, const symlaw_command_info *info, int argc,
                          char **argv, int *at, bool dashes) {
    const char *arg = argv[*at];
    if (!dashes || strcmp(arg, "-") == 0 || arg[0] != '-') {
        ++*at;
        return read_bare(out, slots, info, arg);
    }
    if (strncmp(arg, "--", 2) != 0) return fail_dash(info, arg);
    const symlaw_option_info *o;
    slot s = { .given = true };
    if (!read_option(&o, s.values, info, argc, argv, at)) return false;
    s.bare = slot_of(slots, info, o)->bare;
    *slot_of(slots, info, o) = s; // of a repeated option the last counts
    out->quiet = out->quiet || strcmp(o->name, "quiet") == 0;
    return true;
}

/* An output file takes one result, so it cannot be combined with several calls. */
static bool is_single(const slot *slots, const symlaw_command_info *info, int calls) {
    for (int i = 0; i < info->n_options && calls > 1; i++)
        if (slots[i].given && sl_cli__option(info, i)->use == SYMLAW_OPTION_OUTPUT) {
            sl_cli__error("--%s is one file, and there are %d to work on; call symlaw %s for each",
                          sl_cli__option(info, i)->name, calls, info->name);
            return false;
        }
    return true;
}

/* Words for the calls, the options of all calls, and whether each has a heading: not where the
 * output is machine-readable. */
static void collect(sl_cli__args *out, const slot *slots, const symlaw_command_info *info) {
    sl_cli__addf(&out->json, "{");
    out->heading = true;
    for (int i = 0; i < info->n_options; i++) {
        if (!slots[i].given) continue;
        const symlaw_option_info *o = sl_cli__option(info, i);
        if (info->repeats && o == sl_cli__positional(info, 0)) {
            out->words[out->n_words++] = slots[i].values[0];
            continue;
        }
        add_value(&out->json, o, slots[i].values);
        if (strcmp(o->name, "json") == 0 || strcmp(o->name, "format") == 0) out->heading = false;
    }
    out->heading = out->heading && out->n_words > 1;
}

void sl_cli__call_options(sl_cli__text *json, const sl_cli__args *args,
                          const symlaw_command_info *info, int call) {
    sl_cli__add(json, args->json.text, args->json.len);
    if (call < args->n_words) add_value(json, sl_cli__positional(info, 0), &args->words[call]);
    sl_cli__addf(json, "}");
}

void sl_cli__args_clear(sl_cli__args *args) {
    sl_cli__text_clear(&args->json);
    free(args->words);
    args->words = NULL;
}

bool sl_cli__parse(sl_cli__args *out, const symlaw_command_info *info, int argc, char **argv) {
    slot *slots = calloc((size_t)info->n_options, sizeof *slots);
    *out = (sl_cli__args){ .words = calloc((size_t)argc + 1, sizeof *out->words) };
    if (!slots || !out->words) {
        sl_cli__error("no memory for options");
        exit(SL_CLI__SYSTEM);
    }
    bool good = true, dashes = true;
    for (int at = 0; good && !out->help && at < argc;) {
        const char *arg = argv[at];
        if (dashes && (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)) {
            out->help = true;
        } else if (dashes && strcmp(arg, "--") == 0) {
            dashes = false;
            at++;
        } else {
            good = read_argument(out, slots, info, argc, argv, &at, dashes);
        }
    }
    if (good) collect(out, slots, info);
    good = good && is_single(slots, info, out->n_words);
    free(slots);
    if (!good) sl_cli__args_clear(out);
    return good;
}
