/* config - the options that commands share, the table of a command from its parts, and options as
 * the structs of modules. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "commands/commands_impl.h"

/* ---------------------------------------------------------------- shared options ------------ */

static const sl_option common[] = {
    SL_OPTION(sl_commands_common, json, "json",
              .help = "print JSON: one object, or one object a line for a listing"),
    SL_OPTION(sl_commands_common, quiet, "quiet", .help = "print no progress and no notes"),
    SL_OPTION(sl_commands_common, seed, "seed", .value = 0, .max = 9007199254740991.0, .shown = "N",
              .help = "seed of all random numbers; the same seed gives the same result"),
    SL_OPTION(sl_commands_common, threads, "threads", .value = 0, .max = 1024, .shown = "N",
              .help = "number of threads; 0: one per core; results do not depend on it"),
};
const sl_option_table sl_commands_common_table = { common, SL_LEN(common) };
const sl_option_table sl_commands_repeat_table = { common + 2, SL_LEN(common) - 2 };

static const sl_option set[] = {
    SL_OPTION(sl_commands__set_options, depth, "depth", .value = 3, .max = SL_UNIVERSE_MAX_DEPTH,
              .shown = "N", .help = "expressions up to this depth; variables have depth 0"),
    SL_OPTION(sl_commands__set_options, variables, "variables", .value = 2, .min = 1,
              .max = SL_EXPR_MAX_VARS, .shown = "N",
              .help = "number of variables: x1, x2, ...; a set takes up to 3"),
    SL_OPTION(sl_commands__set_options, ops, "ops", .text = "exp,sin,neg,sqrt,+,-,*,/",
              .shown = "LIST", .help = "operators of expressions, separated by commas or blanks"),
    SL_OPTION(sl_commands__set_options, size, "set-size", .alias = "size", .value = 100000,
              .max = 1e12, .shown = "N",
              .help = "members of the set: depth by depth, a sample of the last one; 0: all there "
                      "are"),
    SL_OPTION(sl_commands__set_options, withheld, "withheld", .value = 0, .max = 1, .shown = "PART",
              .help = "part of the set that is withheld from training"),
    SL_OPTION(sl_commands__set_options, max_memory, "max-memory", .value = 0, .max = 1e6,
              .shown = "GB", .help = "largest memory, in 10^9 bytes; 0: what the machine has free"),
};
const sl_option_table sl_commands__set_table = { set, SL_LEN(set) };

#define X(name, ...) "|" name
static const char sizes[] = SL_MODEL_SIZES(X);
#undef X

static const sl_option named_size[] = {
    SL_OPTION(sl_commands__shape, size, "size", .value = NAN, .choices = sizes + 1, .shown = "NAME",
              .help = "size of the model by name, instead of --width and --layers"),
};
const sl_option_table sl_commands__size_table = { named_size, SL_LEN(named_size) };

static const sl_option look[] = {
    SL_OPTION(sl_commands_look, ops, "ops", .shown = "LIST",
              .help = "functions and operators of formulas, separated by commas or blanks; if not "
                      "given, all; sums, products and powers are always allowed"),
    SL_OPTION(sl_commands_look, max_size, "max-size", .value = 0, .max = SL_EXPR_MAX, .shown = "N",
              .help = "largest number of nodes of a formula; 0: any; a larger law leaves the best "
                      "approximation"),
    SL_OPTION(sl_commands_look, max_memory, "max-memory", .value = 1, .min = 0.01, .max = 1e6,
              .shown = "GB", .help = "largest memory of the search, in 10^9 bytes"),
    SL_OPTION(sl_commands_look, units, "units", .shown = "LIST",
              .help = "units of columns, as m=kg,v=m/s,E=J; also taken from names such as \"v "
                      "(m/s)\"; formulas whose units do not agree are left out"),
};
const sl_option_table sl_commands_look_table = { look, SL_LEN(look) };
const sl_option_preset sl_commands_short_samples[] = { { "length", SL_INFER_SHORT },
                                                       { .name = NULL } };

/* ---------------------------------------------------------------- the table of a command ---- */

static symlaw_option_type type_of(const sl_option *o) {
    switch (o->kind) {
    case SL_KIND_FLAG: return SYMLAW_OPTION_FLAG;
    case SL_KIND_INT: return SYMLAW_OPTION_INT;
    case SL_KIND_REAL: return SYMLAW_OPTION_REAL;
    case SL_KIND_CHOICE: return SYMLAW_OPTION_CHOICE;
    case SL_KIND_TEXTS: return SYMLAW_OPTION_TEXTS;
    case SL_KIND_TEXT: break;
    }
    switch (o->path) {
    case SL_PATH_NONE: break;
    case SL_PATH_FILE_INPUT:
    case SL_PATH_FILE_OUTPUT:
    case SL_PATH_FILE_IN_PLACE: return SYMLAW_OPTION_FILE;
    case SL_PATH_FOLDER_INPUT:
    case SL_PATH_FOLDER_IN_PLACE: return SYMLAW_OPTION_FOLDER;
    }
    return SYMLAW_OPTION_TEXT;
}

static symlaw_option_use use_of(sl_option_path path) {
    switch (path) {
    case SL_PATH_NONE: break;
    case SL_PATH_FILE_INPUT:
    case SL_PATH_FOLDER_INPUT: return SYMLAW_OPTION_INPUT;
    case SL_PATH_FILE_OUTPUT: return SYMLAW_OPTION_OUTPUT;
    case SL_PATH_FILE_IN_PLACE:
    case SL_PATH_FOLDER_IN_PLACE: return SYMLAW_OPTION_IN_PLACE;
    }
    return SYMLAW_OPTION_NO_FILE;
}

/* The row as a public struct. */
static void describe(symlaw_option_info *out, char text[SL_OPTION_TEXT_MAX], const sl_option *o) {
    *out = (symlaw_option_info){ .size = sizeof *out,
                                 .name = o->name,
                                 .alias = o->alias,
                                 .type = type_of(o),
                                 .arity = o->kind == SL_KIND_FLAG    ? 0
                                          : o->kind == SL_KIND_TEXTS ? SL_OPTION_TEXTS_COUNT
                                                                     : 1,
                                 .value_name = o->shown,
                                 .default_value = sl_option_default_text(text, o),
                                 .choices = o->choices,
                                 .min = o->min,
                                 .max = o->max,
                                 .help = o->help,
                                 .group = o->group,
                                 .use = use_of(o->path) };
}

static void add_part(sl_commands_command *c, const sl_commands_part *p) {
    const int first = c->table.n;
    SL_ASSERT(first + p->table->n <= SL_COMMANDS_MAX_OPTIONS);
    for (int i = 0; i < p->table->n; i++) {
        sl_option *o = &c->row[c->table.n++];
        *o = p->table->row[i];
        o->offset += p->at;
        o->group = p->group;
    }
    const sl_option_table added = { c->row + first, p->table->n };
    for (const sl_option_preset *d = p->presets; d && d->name; d++)
        c->row[sl_option_get(&added, d->name) - c->row].value = d->value;
}

static void make(sl_commands_command *c) {
    c->table.row = c->row;
    for (const sl_commands_part *p = c->parts; p->table; p++) add_part(c, p);
    for (int i = 0; i < c->table.n; i++) {
        sl_option *o = &c->row[i];
        // a former name that another option has now is that option's
        if (o->alias && strcmp(sl_option_find(&c->table, o->alias)->name, o->alias) == 0)
            o->alias = NULL;
        describe(&c->option[i], c->text[i], o);
    }
    c->info.size = sizeof c->info;
    c->info.n_options = c->table.n;
    c->made = true;
}

const sl_option_table *sl_commands_table(sl_commands_command *c) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!c->made) make(c);
    pthread_mutex_unlock(&lock);
    return &c->table;
}

/* ---------------------------------------------------------------- the options of a run ------ */

sl_status sl_commands__run_options(sl_commands_run *run, const sl_json *given) {
    const size_t size = run->command->size;
    run->table = sl_commands_table(run->command);
    const size_t n = (size_t)run->table->n;
    run->common = run->options = sl_calloc(1, size);
    if (!run->options) return sl_fail_memory(1, size, "options");
    run->by_caller = sl_calloc(n, sizeof *run->by_caller);
    if (!run->by_caller) return sl_fail_memory(n, sizeof *run->by_caller, "options");
    return sl_commands_options_read(run->options, run->by_caller, run->table, given);
}

void sl_commands__run_options_clear(sl_commands_run *run) {
    sl_free(run->options);
    sl_free(run->by_caller);
    run->options = run->common = NULL;
    run->by_caller = NULL;
}

const sl_option *sl_commands__row(const sl_commands_run *run, const void *field) {
    const size_t at = (size_t)((const char *)field - (const char *)run->options);
    int i = 0;
    while (i < run->table->n && run->table->row[i].offset != at) i++;
    SL_ASSERT(i < run->table->n);
    return &run->table->row[i];
}

bool *sl_commands__by_caller(const sl_commands_run *run, const void *field) {
    return &run->by_caller[sl_commands__row(run, field) - run->table->row];
}

sl_status sl_commands__one_job(const void **chosen, const sl_commands_run *run,
                               const void *const *fields, int n) {
    *chosen = NULL;
    for (int i = 0; i < n; i++) {
        const sl_option *o = sl_commands__row(run, fields[i]);
        const bool requested = o->kind == SL_KIND_FLAG ? *(const bool *)fields[i]
                                                       : sl_option_is_given(run->options, o);
        if (requested && *chosen)
            return sl_fail(SL_EINVAL, "--%s and --%s ask for different things; give one of them",
                           sl_commands__row(run, *chosen)->name, o->name);
        if (requested) *chosen = fields[i];
    }
    return SL_OK;
}

int sl_commands__threads(const sl_commands_run *run) {
    const int64_t n = run->common->threads;
    return n > 0 ? (int)n : SL_MAX(sl_par_cores() / sl_par_peers(), 1);
}

/* ---------------------------------------------------------------- for modules --------------- */

sl_status sl_commands__universe_options(sl_universe_options *out, const sl_commands__set_options *o,
                                        int64_t seed) {
    *out = (sl_universe_options){
        .depth = (int)o->depth,
        .variables = (int)o->variables,
        .size = o->size,
        .seed = (uint64_t)seed,
        .withheld = o->withheld,
        .max_memory = (int64_t)(o->max_memory * 1e9),
    };
    return sl_universe_ops_parse(&out->ops, o->ops);
}

/* Sets a field to the value of --size; fails if the caller has given another value. */
static sl_status apply_size(sl_commands_run *run, const char *named, int64_t *to, int64_t n) {
    bool *given = sl_commands__by_caller(run, to);
    if (*given && *to != n)
        return sl_fail(SL_EINVAL, "--size %s has --%s %lld, not %lld; give one of them", named,
                       sl_commands__row(run, to)->name, (long long)n, (long long)*to);
    *to = n;
    *given = true;
    return SL_OK;
}

sl_status sl_commands__model_options(sl_model_options *out, sl_commands_run *run,
                                     sl_commands__shape *shape, int64_t variables) {
    if (shape->size >= 0) {
        char name[SL_OPTION_TEXT_MAX];
        sl_model_options named = sl_model_defaults();
        SL_TRY(sl_model_size_find(&named, sl_option_choice(name, &named_size[0], shape->size)));
        SL_TRY(apply_size(run, name, &shape->model.width, named.width));
        SL_TRY(apply_size(run, name, &shape->model.layers, named.layers));
    }
    *out = shape->model;
    out->columns = variables + 1; // and the target
    out->vocabulary = SL_TOKEN_COUNT;
    return SL_OK;
}

/* Sums and products are always allowed. */
static const uint32_t arithmetic = 1u << SL_OPERATOR_NEG | 1u << SL_OPERATOR_ADD |
                                   1u << SL_OPERATOR_SUB | 1u << SL_OPERATOR_MUL |
                                   1u << SL_OPERATOR_DIV | 1u << SL_OPERATOR_POW;

sl_status sl_commands_discover_options(sl_discover_options *out, const sl_commands_look *o,
                                       int64_t seed) {
    *out = o->discover;
    out->seed = (uint64_t)seed;
    out->exhaustive = (sl_search_options)SL_SEARCH_OPTIONS_INIT;
    if (o->ops) SL_TRY(sl_universe_ops_parse(&out->exhaustive.ops, o->ops));
    out->exhaustive.ops |= arithmetic;
    out->exhaustive.max_size = (int)o->max_size;
    out->exhaustive.max_memory = (int64_t)(o->max_memory * 1e9);
    return SL_OK;
}
