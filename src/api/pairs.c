/* pairs - pairs over a set as handles. */
#include <math.h>
#include <string.h>

#include "api/api_impl.h"

/* Options of the command `pairs` for drawing data. The default of the seed is that of the set, as
 * one --seed is for both. */
typedef struct data_options {
    sl_pairs_options pairs;
    int64_t seed;
} data_options;

static const sl_option own_rows[] = {
    SL_OPTION(data_options, seed, "seed", .value = NAN, .max = 9007199254740991.0, .shown = "N",
              .help = "seed of all random numbers"),
};
static const sl_option_table own = { own_rows, SL_LEN(own_rows) };

static sl_commands_command the_call = {
    .info = { .name = "data" },
    .parts = { SL_COMMANDS_PAIRS_PART(data_options, pairs), { &own, 0, "options", NULL } },
};

static sl_status read_options(sl_pairs_options *out, const char *json, const sl_universe *u) {
    data_options o = { .seed = SL_NONE };
    sl_json *given = NULL;
    if (json) SL_TRY(sl_io_json_parse(&given, json, strlen(json)));
    const sl_status st = sl_commands_options_read(&o, NULL, sl_commands_table(&the_call), given);
    sl_io_json_free(given);
    *out = o.pairs;
    out->seed = o.seed == SL_NONE ? sl_universe_config(u)->seed : (uint64_t)o.seed;
    return st;
}

static sl_status open_data(symlaw_pairs **out, const symlaw_set *set, const char *options_json) {
    if (!out || !set) return sl_fail(SL_EINVAL, "symlaw_pairs_open: out or set is NULL");
    sl_pairs_options o;
    SL_TRY(read_options(&o, options_json, set->universe));
    symlaw_pairs *d = sl_calloc(1, sizeof *d);
    if (!d) return sl_fail_memory(1, sizeof *d, "data");
    sl_status st = sl_pairs_new(&d->pairs, set->universe, &o);
    if (st != SL_OK) {
        symlaw_pairs_close(d);
        return st;
    }
    *out = d;
    return SL_OK;
}

symlaw_status symlaw_pairs_open(symlaw_pairs **out, const symlaw_set *set,
                                const char *options_json) {
    SL_API__PUBLIC(open_data(out, set, options_json));
}

void symlaw_pairs_close(symlaw_pairs *d) {
    if (!d) return;
    sl_pairs_free(d->pairs);
    sl_free(d);
}

int64_t symlaw_pairs_count(const symlaw_pairs *d, const char *split) {
    sl_split s = split ? sl_pairs_split_find(split) : SL_SPLIT_COUNT;
    return d && s != SL_SPLIT_COUNT ? sl_pairs_size(d->pairs, s) : -1;
}

static sl_status find_split(sl_split *out, const char *name) {
    *out = sl_pairs_split_find(name);
    if (*out != SL_SPLIT_COUNT) return SL_OK;
    sl_commands_guess g = { .word = name };
    for (sl_split s = 0; s < SL_SPLIT_COUNT; s++)
        sl_commands_guess_offer(&g, sl_pairs_split_name(s));
    char end[96];
    return sl_fail(SL_EINVAL, "symlaw_pairs_get: unknown split \"%.40s\"%s", name,
                   sl_commands_guess_text(&g, "", end));
}

static sl_status get(symlaw_pair **out, const symlaw_pairs *d, const char *split, int64_t index) {
    if (!out || !d || !split) return sl_fail(SL_EINVAL, "symlaw_pairs_get: an argument is NULL");
    sl_split which;
    SL_TRY(find_split(&which, split));
    symlaw_pair *s = sl_calloc(1, sizeof *s);
    if (!s) return sl_fail_memory(1, sizeof *s, "a pair");
    sl_status st = sl_pairs_get(&s->pair, &s->arena, d->pairs, which, index);
    if (st != SL_OK) {
        symlaw_pair_free(s);
        return st;
    }
    *out = s;
    return SL_OK;
}

symlaw_status symlaw_pairs_get(symlaw_pair **out, const symlaw_pairs *d, const char *split,
                               int64_t index) {
    SL_API__PUBLIC(get(out, d, split, index));
}

void symlaw_pair_free(symlaw_pair *s) {
    if (!s) return;
    sl_arena_clear(&s->arena);
    sl_free(s);
}

static sl_status formula_of(symlaw_formula **out, const symlaw_pair *s) {
    if (!out || !s) return sl_fail(SL_EINVAL, "symlaw_pair_formula: out or sample is NULL");
    return sl_api__formula_of(out, s->pair.expr);
}

symlaw_status symlaw_pair_formula(symlaw_formula **out, const symlaw_pair *s) {
    SL_API__PUBLIC(formula_of(out, s));
}

int64_t symlaw_pair_member(const symlaw_pair *s) { return s ? s->pair.base : -1; }
int symlaw_pair_rows(const symlaw_pair *s) { return s ? (int)s->pair.data.rows : 0; }
int symlaw_pair_columns(const symlaw_pair *s) { return s ? s->pair.data.inputs : 0; }

const double *symlaw_pair_x(const symlaw_pair *s, int column) {
    return s && column >= 0 && column < s->pair.data.inputs ? s->pair.data.x[column] : NULL;
}

const double *symlaw_pair_y(const symlaw_pair *s) { return s ? s->pair.data.y : NULL; }

const uint8_t *symlaw_pair_tokens(const symlaw_pair *s, int *n) {
    if (n) *n = s ? s->pair.n_tokens : 0;
    return s ? s->pair.tokens : NULL;
}
