/* pairs_stats - what names a configuration of pairs, and figures of its draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

/* ---------------------------------------------------------------- identity ------------------ */

sl_status sl_commands__identify(sl_commands__identity *out, sl_pool *pool, const sl_pairs *p,
                                bool hashes) {
    *out = (sl_commands__identity){ .pairs = p };
    for (sl_split s = 0; hashes && s < SL_SPLIT_COUNT; s++)
        if (sl_pairs_size(p, s) > 0)
            SL_TRY(sl_pairs_hash(out->hash[s], pool, p, s, SL_COMMANDS__HASHED));
    return SL_OK;
}

/* Members of E that training does not see: one pass has `draws` pairs of each of the others. */
static int64_t withheld(const sl_pairs *p) {
    return sl_universe_size(sl_pairs_universe(p)) -
           sl_pairs_size(p, SL_SPLIT_TRAIN) / sl_pairs_config(p)->draws;
}

void sl_commands__identity_json(sl_str *s, const sl_commands__identity *id) {
    const sl_universe *u = sl_pairs_universe(id->pairs);
    sl_io_json_open(s, "set", '{');
    sl_io_json_add_int(s, "size", sl_universe_size(u));
    sl_io_json_add_int(s, "size_withheld", withheld(id->pairs));
    sl_io_json_add_text(s, "hash", sl_universe_hash(u));
    sl_io_json_close(s, '}');
    sl_io_json_add_int(s, "pairs_per_pass", sl_pairs_size(id->pairs, SL_SPLIT_TRAIN));
    if (!id->hash[SL_SPLIT_TRAIN][0]) return; // not asked for
    sl_io_json_open(s, "hash", '{');
    for (sl_split i = 0; i < SL_SPLIT_COUNT; i++)
        if (id->hash[i][0]) sl_io_json_add_text(s, sl_pairs_split_name(i), id->hash[i]);
    sl_io_json_close(s, '}');
}

static void add_name(sl_str *s, const char *name) { sl_str_addf(s, "  %-14s ", name); }

/* " --points 32" where that is not the default; answers whether it is another. */
static bool add_option(sl_str *s, const symlaw_option_info *o, const sl_commands__value *v) {
    const char *preset = o->default_value;
    switch (o->type) {
    case SYMLAW_OPTION_INT:
        if (v->whole == sl_strtoll(preset, NULL)) return false;
        sl_str_addf(s, " --%s %lld", o->name, (long long)v->whole);
        return true;
    case SYMLAW_OPTION_REAL: {
        if (v->real == sl_strtod(preset, NULL)) return false;
        char text[32]; // as short as it may be to be read as the same number
        sl_snprintf(text, sizeof text, "%.15g", v->real);
        if (sl_strtod(text, NULL) != v->real) sl_snprintf(text, sizeof text, "%.17g", v->real);
        sl_str_addf(s, " --%s %s", o->name, text);
        return true;
    }
    default:
        if (strcmp(v->text[0], preset) == 0) return false;
        // a list of operators has what a shell would obey
        sl_str_addf(s, o->type == SYMLAW_OPTION_TEXT ? " --%s '%s'" : " --%s %s", o->name,
                    v->text[0]);
        return true;
    }
}

/* What has to be given to have the same data, as a command line takes it. */
static void add_options(sl_str *s, const sl_commands__run *run) {
    static const char *const names[] = { "seed",           "depth",    "variables", "ops",
                                         "size",           "withheld",
#define X(field, option, ...) option,
                                         SL_PAIRS_TABLE(X)
#undef X
    };
    bool any = false;
    sl_str_addf(s, "  %-14s", "options"); // each brings a blank
    for (int i = 0; i < SL_LEN(names); i++) {
        const sl_commands__value *v = sl_commands__named(run, names[i]);
        any |= add_option(s, &run->info->options[v - run->values], v);
    }
    sl_str_add(s, any ? "\n" : " the defaults\n");
}

void sl_commands__identity_table(sl_str *s, const sl_commands__run *run,
                                 const sl_commands__identity *id) {
    const sl_universe *u = sl_pairs_universe(id->pairs);
    const sl_pairs_options *o = sl_pairs_config(id->pairs);
    char a[32], b[32];
    sl_str_add(s, "configuration\n");
    add_options(s, run);
    add_name(s, "set E");
    sl_str_addf(s, "%s expressions, hash %s\n", sl_group_digits(a, sl_universe_size(u)),
                sl_universe_hash(u));
    if (withheld(id->pairs) > 0) {
        add_name(s, "withheld");
        sl_str_addf(s, "%s of them\n", sl_group_digits(a, withheld(id->pairs)));
    }
    add_name(s, "one pass");
    sl_str_addf(s, "%s pairs, %s of each expression\n",
                sl_group_digits(a, sl_pairs_size(id->pairs, SL_SPLIT_TRAIN)),
                sl_group_digits(b, o->draws));

    sl_str_add(s, "\nhash of a split's first pairs\n");
    for (sl_split i = 0; i < SL_SPLIT_COUNT; i++) {
        if (!id->hash[i][0]) continue;
        const int64_t n = SL_MIN(sl_pairs_size(id->pairs, i), SL_COMMANDS__HASHED);
        add_name(s, sl_pairs_split_name(i));
        sl_str_addf(s, "%s  of %s pairs\n", id->hash[i], sl_group_digits(a, n));
    }
}

/* ---------------------------------------------------------------- verdict ------------------- */

/* A good generator gives a p below this once in ten thousand checks; by the seed it is either
 * always or never. */
static const double p_least = 1e-4;

static bool check_good(const sl_pairs_check *c) { return !(c->p < p_least); } // NaN: no test

static int checks_bad(const sl_pairs_stats *stats) {
    int n = 0;
    for (int i = 0; i < stats->n_checks; i++) n += !check_good(&stats->check[i]);
    return n;
}

bool sl_commands__stats_good(const sl_pairs_stats *stats) {
    return checks_bad(stats) == 0 && stats->shared == 0;
}

/* ---------------------------------------------------------------- for programs -------------- */

void sl_commands__entropy_json(sl_str *s, const sl_entropy *e) {
    sl_io_json_open(s, "entropy", '{');
    sl_io_json_add_real(s, "expressions", e->expressions);
    sl_io_json_add_real(s, "error", e->error);
    sl_io_json_add_int(s, "pairs", e->pairs);
    sl_io_json_add_real(s, "draws", e->draws);
    sl_io_json_add_real(s, "bases", e->bases);
    sl_io_json_close(s, '}');
}

void sl_commands__stats_json(sl_str *s, const sl_pairs_stats *stats, const sl_entropy *entropy) {
    sl_io_json_open(s, "stats", '{');
    sl_io_json_add_int(s, "pairs", stats->pairs);
    sl_io_json_add_real(s, "success", stats->success);
    sl_io_json_open(s, "first_attempts", '{');
    for (sl_pair_failure f = 0; f < SL_PAIR_FAILURE_COUNT; f++)
        sl_io_json_add_int(s, sl_pairs_failure_name(f), stats->attempts[f]);
    sl_io_json_close(s, '}');
    sl_io_json_add_real(s, "attempts_mean", stats->attempts_mean);
    sl_io_json_add_int(s, "next_base", stats->next_base);
    sl_io_json_add_real(s, "tokens_mean", stats->tokens_mean);
    sl_io_json_add_real(s, "tokens_median", stats->tokens_median);
    sl_io_json_add_int(s, "tokens_min", stats->tokens_min);
    sl_io_json_add_int(s, "tokens_max", stats->tokens_max);
    sl_io_json_add_real(s, "base_tokens_mean", stats->base_tokens_mean);
    sl_io_json_add_real(s, "dropped", stats->dropped);
    sl_io_json_add_real(s, "constants_mean", stats->constants_mean);
    sl_io_json_add_real(s, "exact_repeats", stats->exact_repeats);
    sl_io_json_add_int(s, "trained", stats->trained);
    sl_io_json_add_int(s, "shared", stats->shared);
    sl_io_json_open(s, "checks", '[');
    for (int i = 0; i < stats->n_checks; i++) {
        const sl_pairs_check *c = &stats->check[i];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_text(s, "what", c->what);
        sl_io_json_add_real(s, "measured", c->measured);
        sl_io_json_add_real(s, "expected", c->expected);
        sl_io_json_add_real(s, "p", c->p);
        sl_io_json_add_text(s, "test", c->test);
        sl_io_json_add_bool(s, "good", check_good(c));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_add_bool(s, "good", sl_commands__stats_good(stats));
    sl_io_json_close(s, '}');
    sl_commands__entropy_json(s, entropy);
}

/* ---------------------------------------------------------------- for people ---------------- */

static void add_attempts(sl_str *s, const sl_pairs_stats *stats) {
    char a[32];
    int width = 0;
    for (sl_pair_failure f = 0; f < SL_PAIR_FAILURE_COUNT; f++)
        width = SL_MAX(width, (int)strlen(sl_pairs_failure_name(f)));
    const int digits = (int)strlen(sl_group_digits(a, stats->pairs));
    sl_str_addf(s, "\nfirst attempts at %s training pair%s\n", sl_group_digits(a, stats->pairs),
                stats->pairs == 1 ? "" : "s");
    for (sl_pair_failure f = 0; f < SL_PAIR_FAILURE_COUNT; f++)
        sl_str_addf(s, "  %-*s  %*s  %5.1f %%\n", width, sl_pairs_failure_name(f), digits,
                    sl_group_digits(a, stats->attempts[f]),
                    100 * (double)stats->attempts[f] / (double)SL_MAX(stats->pairs, 1));
}

static void add_pairs(sl_str *s, const sl_pairs_stats *stats) {
    char a[32];
    sl_str_add(s, "\npairs\n");
    add_name(s, "attempts");
    sl_str_addf(s, "%.3f on average; %s took another expression\n", stats->attempts_mean,
                stats->next_base == 0 ? "none" : sl_group_digits(a, stats->next_base));
    add_name(s, "constants");
    sl_str_addf(s, "%.2f on average\n", stats->constants_mean);
    add_name(s, "tokens");
    sl_str_addf(s, "%.1f on average, %g in the middle, %d to %d; %.1f without constants\n",
                stats->tokens_mean, stats->tokens_median, stats->tokens_min, stats->tokens_max,
                stats->base_tokens_mean);
    add_name(s, "points");
    sl_str_addf(s, "%.2f %% of first draws were invalid and drawn again\n", 100 * stats->dropped);
}

static void add_checks(sl_str *s, const sl_pairs_stats *stats) {
    int width = 6;
    for (int i = 0; i < stats->n_checks; i++)
        width = SL_MAX(width, (int)strlen(stats->check[i].what));
    sl_str_addf(s, "\n%-*s  %10s  %10s  %8s  test\n", width + 2, "checks", "measured", "expected",
                "p");
    for (int i = 0; i < stats->n_checks; i++) {
        const sl_pairs_check *c = &stats->check[i];
        char p[16];
        sl_snprintf(p, sizeof p, isnan(c->p) ? "-" : "%.2g", c->p);
        sl_str_addf(s, "  %-*s  %10.5g  %10.5g  %8s  %s%s\n", width, c->what, c->measured,
                    c->expected, p, c->test ? c->test : "-", check_good(c) ? "" : "  <- not so");
    }
}

static void add_entropy(sl_str *s, const sl_entropy *e) {
    char a[32];
    sl_str_add(s, "\nentropy in nats: the loss per target that no model without data gets below\n");
    add_name(s, "expressions");
    sl_str_addf(s, "%.2f, standard error %.2g, by %s pairs\n", e->expressions, e->error,
                sl_group_digits(a, e->pairs));
    add_name(s, "draws");
    sl_str_addf(s, "%.2f before numbers merge; %.2f without constants\n", e->draws, e->bases);
}

void sl_commands__stats_table(sl_str *s, const sl_pairs_stats *stats, const sl_entropy *entropy) {
    char a[32], b[32];
    add_attempts(s, stats);
    add_pairs(s, stats);
    add_entropy(s, entropy);
    add_checks(s, stats);

    sl_str_addf(s, "\nsplits, against %s training pairs\n", sl_group_digits(a, stats->trained));
    add_name(s, "pairs");
    sl_str_addf(s, "%s of valid, test or withheld %s among them\n",
                stats->shared == 0 ? "none" : sl_group_digits(b, stats->shared),
                stats->shared == 1 ? "is" : "are");
    add_name(s, "expressions");
    sl_str_addf(s, "%.1f %% of test, with the same constants, are among theirs\n",
                100 * stats->exact_repeats);

    const int bad = checks_bad(stats);
    if (sl_commands__stats_good(stats))
        sl_str_addf(s, "\ngood: all %d checks hold\n", stats->n_checks);
    else
        sl_str_addf(s, "\nNOT GOOD: %d of %d checks fail, with p below %g\n", bad, stats->n_checks,
                    p_least);
}
