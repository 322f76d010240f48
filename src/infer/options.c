/* options - the table of options of decoding. */
#include "infer/infer.h"

#define ROW(field, option, ...) SL_OPTION(sl_infer_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(decode, "decode", .value = SL_DECODE_SAMPLE, .choices = "sample|greedy|beam",
        .shown = "HOW", .help = "sampling, greedy decoding, or beam search"),
    ROW(temperature, "temperature", .value = 1, .min = 0.01, .max = 100, .shown = "T",
        .help = "sampling temperature: above 1 samples differ more, below 1 less"),
    ROW(top_k, "top-k", .value = 0, .max = SL_TOKEN_COUNT, .shown = "K",
        .help = "sample from the K most probable tokens; 0: from all"),
    ROW(top_p, "top-p", .value = 1, .min = 0.001, .max = 1, .shown = "P",
        .help = "sample from the fewest tokens that have probability P together"),
    ROW(length, "length", .value = SL_TOKEN_MAX, .min = 2, .max = SL_TOKEN_MAX, .shown = "N",
        .help = "longest sample in tokens, end token included"),
};

const sl_option_table sl_infer_table = { rows, SL_LEN(rows) };

sl_infer_options sl_infer_defaults(void) {
    sl_infer_options o = { 0 };
    sl_option_defaults(&o, &sl_infer_table);
    return o;
}

sl_status sl_infer_options_check(const sl_infer_options *o) {
    return sl_option_check(o, &sl_infer_table);
}
