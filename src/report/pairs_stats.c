/* pairs_stats - hashes of a configuration of pairs, and statistics of its draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_impl.h"

/* ---------------------------------------------------------------- identity ------------------ */

/* Members of E that training does not see: one pass has `draws` pairs of each of the others. */
static int64_t withheld(const sl_pairs *p) {
    return sl_universe_size(sl_pairs_universe(p)) -
           sl_pairs_size(p, SL_SPLIT_TRAIN) / sl_pairs_config(p)->draws;
}

void sl_report_identity_json(sl_str *s, const sl_report_identity *id) {
    const sl_universe *u = sl_pairs_universe(id->pairs);
    sl_io_json_open(s, "set", '{');
    sl_io_json_add_int(s, "size", sl_universe_size(u));
    sl_io_json_add_int(s, "size_withheld", withheld(id->pairs));
    sl_io_json_add_text(s, "hash", sl_universe_hash(u));
    sl_io_json_close(s, '}');
    sl_io_json_add_int(s, "pairs_per_pass", sl_pairs_size(id->pairs, SL_SPLIT_TRAIN));
    if (!id->hash[SL_SPLIT_TRAIN][0]) return; // not computed
    sl_io_json_open(s, "hash", '{');
    for (sl_split i = 0; i < SL_SPLIT_COUNT; i++)
        if (id->hash[i][0]) sl_io_json_add_text(s, sl_pairs_split_name(i), id->hash[i]);
    sl_io_json_close(s, '}');
}

#define LINE(s, ...) sl_report__line(s, 14, __VA_ARGS__)

void sl_report_identity_table(sl_str *s, const sl_report_identity *id, const char *options) {
    const sl_universe *u = sl_pairs_universe(id->pairs);
    const sl_pairs_options *o = sl_pairs_config(id->pairs);
    char a[32], b[32];
    sl_str_add(s, "configuration\n");
    sl_str_addf(s, "  %-14s%s\n", "options", *options ? options : " the defaults");
    LINE(s, "set E", "%s expressions, hash %s", sl_group_digits(a, sl_universe_size(u)),
         sl_universe_hash(u));
    if (withheld(id->pairs) > 0) {
        LINE(s, "withheld", "%s of them", sl_group_digits(a, withheld(id->pairs)));
    }
    LINE(s, "one pass", "%s pairs, %s of each expression",
         sl_group_digits(a, sl_pairs_size(id->pairs, SL_SPLIT_TRAIN)),
         sl_group_digits(b, o->draws));

    sl_str_add(s, "\nhash of a split's first pairs\n");
    for (sl_split i = 0; i < SL_SPLIT_COUNT; i++) {
        if (!id->hash[i][0]) continue;
        const int64_t n = SL_MIN(sl_pairs_size(id->pairs, i), SL_REPORT_HASHED);
        LINE(s, sl_pairs_split_name(i), "%s  of %s pairs", id->hash[i], sl_group_digits(a, n));
    }
}

/* ---------------------------------------------------------------- for programs -------------- */

void sl_report_entropy_json(sl_str *s, const sl_entropy *e) {
    sl_io_json_open(s, "entropy", '{');
    SL_JSON_FIELDS(s, e, expressions, error, pairs, draws, bases);
    sl_io_json_close(s, '}');
}

void sl_report_pairs_stats_json(sl_str *s, const sl_pairs_stats *stats, const sl_entropy *entropy) {
    sl_io_json_open(s, "stats", '{');
    SL_JSON_FIELDS(s, stats, pairs, success);
    sl_io_json_open(s, "first_attempts", '{');
    for (sl_pair_failure f = 0; f < SL_PAIR_FAILURE_COUNT; f++)
        sl_io_json_add_int(s, sl_pairs_failure_name(f), stats->attempts[f]);
    sl_io_json_close(s, '}');
    SL_JSON_FIELDS(s, stats, attempts_mean, next_base, tokens_mean, tokens_median, tokens_min,
                   tokens_max, base_tokens_mean, dropped, constants_mean, exact_repeats, trained,
                   shared);
    sl_io_json_open(s, "checks", '[');
    for (int i = 0; i < stats->n_checks; i++) {
        const sl_pairs_check *c = &stats->check[i];
        sl_io_json_open(s, NULL, '{');
        SL_JSON_FIELDS(s, c, what, measured, expected, p, test);
        sl_io_json_add_bool(s, "good", sl_pairs_check_good(c));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_add_bool(s, "good", sl_pairs_stats_good(stats));
    sl_io_json_close(s, '}');
    sl_report_entropy_json(s, entropy);
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
    LINE(s, "attempts", "%.3f per pair; %s needed another expression", stats->attempts_mean,
         stats->next_base == 0 ? "none" : sl_group_digits(a, stats->next_base));
    LINE(s, "constants", "%.2f per pair", stats->constants_mean);
    LINE(s, "tokens", "mean %.1f, median %g, range %d to %d; mean %.1f without constants",
         stats->tokens_mean, stats->tokens_median, stats->tokens_min, stats->tokens_max,
         stats->base_tokens_mean);
    LINE(s, "points", "%.2f %% of first draws were invalid and drawn again", 100 * stats->dropped);
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
                    c->expected, p, c->test ? c->test : "-",
                    sl_pairs_check_good(c) ? "" : "  <- fails");
    }
}

static void add_entropy(sl_str *s, const sl_entropy *e) {
    char a[32];
    sl_str_add(s,
               "\nentropy in nats: no model that ignores the data has a lower loss per target\n");
    LINE(s, "expressions", "%.2f, standard error %.2g, by %s pairs", e->expressions, e->error,
         sl_group_digits(a, e->pairs));
    LINE(s, "draws", "%.2f before equal expressions merge; %.2f without constants", e->draws,
         e->bases);
}

void sl_report_pairs_stats_table(sl_str *s, const sl_pairs_stats *stats,
                                 const sl_entropy *entropy) {
    char a[32], b[32];
    add_attempts(s, stats);
    add_pairs(s, stats);
    add_entropy(s, entropy);
    add_checks(s, stats);

    sl_str_addf(s, "\noverlap of other splits with %s training pairs\n",
                sl_group_digits(a, stats->trained));
    LINE(s, "pairs", "%s of valid, test or withheld %s among them",
         stats->shared == 0 ? "none" : sl_group_digits(b, stats->shared),
         stats->shared == 1 ? "is" : "are");
    LINE(s, "expressions", "%.1f %% of those of test are among theirs, with the same constants",
         100 * stats->exact_repeats);

    const int bad = sl_pairs_stats_failed(stats);
    if (sl_pairs_stats_good(stats))
        sl_str_addf(s, "\ngood: all %d checks hold\n", stats->n_checks);
    else
        sl_str_addf(s, "\nNOT GOOD: %d of %d checks fail, with p below %g\n", bad, stats->n_checks,
                    SL_PAIRS_LEAST_P);
}
