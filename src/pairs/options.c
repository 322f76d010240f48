/* options - the table of options; names of splits and failures. */
#include <string.h>

#include "pairs/pairs.h"

SL_DEFINE_NAMES(sl_pairs_split_name, sl_split, SL_SPLITS, SL_ROW_NAME)
SL_DEFINE_NAMES(sl_pairs_failure_name, sl_pair_failure, SL_PAIR_FAILURES, SL_ROW_NAME)

sl_split sl_pairs_split_find(const char *name) {
    sl_split s = SL_SPLIT_TRAIN;
    while (s < SL_SPLIT_COUNT && strcmp(sl_pairs_split_name(s), name) != 0) s++;
    return s;
}

#define ROW(field, option, ...) SL_OPTION(sl_pairs_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(points, "points", .value = 64, .min = 2, .max = SL_PAIRS_MAX_POINTS, .shown = "N",
        .help = "points of a data set"),
    ROW(draws, "draws", .value = 3600, .min = 1, .max = 1e9, .shown = "K",
        .help = "pairs of each expression in one pass of training"),
    ROW(test_size, "test-size", .value = 1000, .min = 1, .max = 1e9, .shown = "N",
        .help = "pairs of each of the splits valid, test and withheld"),
    ROW(constant_chance, "constant-chance", .value = 0.2, .max = 1, .shown = "P",
        .help = "probability of each factor a and each summand b at a variable or function u: "
                "a u + b"),
    ROW(constant_max, "constant-max", .value = 9, .min = 1, .max = SL_PAIRS_MAX_CONSTANT,
        .shown = "N",
        .help = "constants are whole numbers from -N to N: factors without 0 and 1, summands "
                "without 0"),
    ROW(clusters, "clusters", .value = 5, .min = 1, .max = SL_PAIRS_MAX_CLUSTERS, .shown = "N",
        .help = "largest number of clusters of the mixture that points are drawn from"),
    ROW(shape, "shape", .value = SL_PAIRS_SHAPE_CLUSTER, .choices = "cluster|dataset",
        .shown = "WHAT", .help = "Gaussian or uniform is drawn per cluster or per data set"),
    ROW(counts, "counts", .value = SL_PAIRS_COUNTS_MULTINOMIAL,
        .choices = "multinomial|proportional", .shown = "HOW",
        .help = "points per cluster: drawn by its weight, or its weight's share rounded down, "
                "the rest assigned in order"),
    ROW(whiten, "whiten", .value = 1, .choices = "off|on", .shown = "SWITCH",
        .help = "standardise each column to mean 0 and variance 1"),
    ROW(retry, "retry", .value = SL_PAIRS_RETRY_POINTS, .choices = "points|whole", .shown = "WHAT",
        .help = "after invalid points: draw more from the same mixture, or a whole new data set"),
    ROW(tries, "tries", .value = 5, .min = 1, .max = 1000, .shown = "N",
        .help = "draws of points in all, before constants are drawn anew"),
    ROW(max_y, "max-y", .alias = "limit", .value = 1e100, .min = 1e-100, .max = 1e150, .shown = "Y",
        .help = "points with |y| of this size or more are invalid"),
    ROW(min_spread, "min-spread", .value = 1e-9, .max = 1, .shown = "PART",
        .help = "least range of y in a data set, relative to the largest |y|"),
    ROW(shift, "shift", .value = 0, .max = 1e6, .shown = "S",
        .help = "raw columns: shift each by a random amount up to S in either direction"),
    ROW(stretch, "stretch", .value = 1, .min = 1, .max = 1e6, .shown = "F",
        .help = "raw columns: scale each by a random factor between 1/F and F"),
    ROW(noise, "noise", .value = 0, .max = 1e6, .shown = "G",
        .help = "add normal noise to y, of a level drawn from 0 to G times the root mean square "
                "of y"),
    ROW(drop_column, "drop-column", .value = 0, .max = 1, .shown = "P",
        .help = "probability that columns the expression does not use are left out"),
    ROW(max_tokens, "max-tokens", .value = SL_TOKEN_MAX, .min = 2, .max = SL_TOKEN_MAX,
        .shown = "N", .help = "longest target, end token included"),
};

const sl_option_table sl_pairs_table = { rows, SL_LEN(rows) };

sl_pairs_options sl_pairs_defaults(void) {
    sl_pairs_options o = { 0 };
    sl_option_defaults(&o, &sl_pairs_table);
    return o;
}

sl_status sl_pairs_options_check(const sl_pairs_options *o) {
    return sl_option_check(o, &sl_pairs_table);
}
