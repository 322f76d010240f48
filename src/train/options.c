/* options - the table of a run's options. */
#include "train/train.h"

#define ROW(field, option, ...) SL_OPTION(sl_train_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(batch, "batch", .value = 32, .min = 1, .max = 1e6, .shown = "N", .help = "pairs of a step"),
    ROW(ratio, "ratio", .value = 0, .max = 1e9, .shown = "R",
        .help = "length of the run in target tokens per parameter; 5 if no length is given"),
    ROW(steps, "steps", .value = 0, .max = 1e12, .shown = "N",
        .help = "length of the run in steps"),
    ROW(flops, "flops", .value = 0, .max = 1e30, .shown = "F",
        .help = "length of the run in FLOPs, by the paper's count"),
    ROW(lanes, "lanes", .value = 8, .min = 1, .max = SL_TRAIN_MAX_LANES, .shown = "N",
        .help = "parts of a batch that threads and ranks share, a power of two; at most this many "
                "work at once, and results depend on it"),
    ROW(valid_steps, "valid-steps", .value = 0, .max = 1e12, .shown = "N",
        .help = "steps between validations; 0: a twentieth of the run"),
    ROW(valid_pairs, "valid-pairs", .value = 1000, .max = 1e9, .shown = "N",
        .help = "pairs of the validation split that are used; 0: no validation"),
    ROW(log_steps, "log-steps", .value = 0, .max = 1e9, .shown = "N",
        .help = "steps that a line of the log covers; 0: a thousandth of the run, at least 1"),
    ROW(checkpoint_steps, "checkpoint-steps", .value = 0, .max = 1e12, .shown = "N",
        .help = "steps between checkpoints; 0: by time"),
    ROW(checkpoint_minutes, "checkpoint-minutes", .value = 5, .max = 1e6, .shown = "M",
        .help = "minutes between checkpoints; 0: only at the end"),
    ROW(weights_seed, "weights-seed", .value = -1, .min = -1, .max = 9007199254740991.0,
        .shown = "N",
        .help = "seed of the initial weights and of dropout; -1: --seed. Runs that differ only in "
                "it are trained, validated and tested on the same data"),
};

const sl_option_table sl_train_table = { rows, SL_LEN(rows) };

sl_train_options sl_train_defaults(void) {
    sl_train_options o = { 0 };
    sl_option_defaults(&o, &sl_train_table);
    return o;
}
