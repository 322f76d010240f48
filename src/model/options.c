/* options - the table of the model's options. */
#include "model/model.h"

#define ROW(field, option, ...) SL_OPTION(sl_model_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(width, "width", .value = 256, .min = 8, .max = SL_MODEL_MAX_WIDTH, .shown = "N",
        .help = "width of the model, a multiple of 8"),
    ROW(layers, "layers", .value = 3, .min = 1, .max = SL_MODEL_MAX_LAYERS, .shown = "N",
        .help = "layers of the encoder"),
    ROW(decoder_layers, "decoder-layers", .value = 0, .max = SL_MODEL_MAX_LAYERS, .shown = "N",
        .help = "layers of the decoder; 0: as many as the encoder has"),
    ROW(heads, "heads", .value = 0, .max = SL_MODEL_MAX_HEADS, .shown = "N",
        .help = "heads of each attention; 0: width/64, for widths below 64 width/8"),
    ROW(dropout, "dropout", .value = 0.1, .max = 0.9, .shown = "P",
        .help = "dropout on what is added to the residual stream"),
    ROW(attention_dropout, "attention-dropout", .value = 0.1, .max = 0.9, .shown = "P",
        .help = "dropout on attention weights"),
    ROW(norm_eps, "norm-eps", .value = 1e-5, .min = 1e-12, .max = 1, .shown = "EPS",
        .help = "added to the variance in layer norms"),
    ROW(init_scale, "init-scale", .value = 0.02, .max = 10, .shown = "S",
        .help = "standard deviation of initial weights"),
};

const sl_option_table sl_model_table = { rows, SL_LEN(rows) };

sl_model_options sl_model_defaults(void) {
    sl_model_options o = { .columns = 3, .vocabulary = 104 };
    sl_option_defaults(&o, &sl_model_table);
    return o;
}
