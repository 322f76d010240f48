/* options - the table of options, and whether they fit each other. */
#include "optim/optim.h"

#define ROW(field, option, ...) SL_OPTION(sl_optim_options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(optimizer, "optimizer", .value = SL_OPTIM_ADAMCPR, .choices = "adamcpr|adam|adamw",
        .shown = "NAME", .help = "optimizer"),
    ROW(lr, "lr", .value = 4.6e-4, .max = 1e3, .shown = "RATE", .help = "peak learning rate"),
    ROW(warmup, "warmup", .value = 0.05, .max = 1, .shown = "PART",
        .help = "part of the steps over which the learning rate rises"),
    ROW(lr_final, "lr-final", .alias = "decay", .value = 0.01, .max = 1, .shown = "F",
        .help = "final learning rate as a fraction of the peak, reached by a cosine"),
    ROW(clip, "clip", .value = 1, .max = 1e9, .shown = "NORM",
        .help = "largest gradient norm, over all parameters; 0: no limit"),
    ROW(beta1, "beta1", .value = 0.9, .max = 0.999999, .shown = "B",
        .help = "decay rate of the first moment"),
    ROW(beta2, "beta2", .value = 0.98, .max = 0.999999, .shown = "B",
        .help = "decay rate of the second moment"),
    ROW(eps, "eps", .value = 1e-9, .min = 1e-30, .max = 1, .shown = "EPS",
        .help = "added to the root of the second moment"),
    ROW(weight_decay, "weight-decay", .value = 0.1, .max = 10, .shown = "W",
        .help = "adamw: weight decay"),
    ROW(kappa_init, "kappa-init", .value = SL_KAPPA_INFLECTION,
        .choices = "inflection|uniform|dependent|warm-start", .shown = "HOW",
        .help = "adamcpr: how the bound of a tensor is set"),
    ROW(kappa_param, "kappa-param", .value = 1000, .max = 1e12, .shown = "K",
        .help = "adamcpr: the bound (uniform), its ratio to the first sum of squares "
                "(dependent), or steps before it is set (warm-start)"),
    ROW(kappa_update, "kappa-update", .value = 1, .max = 1e6, .shown = "MU",
        .help = "adamcpr: update rate of the multiplier"),
    ROW(kappa_steps, "kappa-steps", .value = 0, .max = 1e9, .shown = "S",
        .help = "adamcpr: steps between tests for the inflection; 0: 200, in runs below 16,000 "
                "steps a tenth of the warm-up"),
};

const sl_option_table sl_optim_table = { rows, SL_LEN(rows) };

sl_optim_options sl_optim_defaults(void) {
    sl_optim_options o = { 0 };
    sl_option_defaults(&o, &sl_optim_table);
    return o;
}

/* A bound of 0 would set all weights to 0. */
sl_status sl_optim_options_check(const sl_optim_options *o) {
    SL_TRY(sl_option_check(o, &sl_optim_table));
    if (o->optimizer != SL_OPTIM_ADAMCPR) return SL_OK;
    if (o->kappa_init == SL_KAPPA_WARM_START && !(o->kappa_param >= 1))
        return sl_fail(SL_EINVAL, "kappa-param is %g: warm-start needs at least 1 step",
                       o->kappa_param);
    if (o->kappa_init != SL_KAPPA_INFLECTION && !(o->kappa_param > 0))
        return sl_fail(SL_EINVAL, "kappa-param is 0: with such a bound all weights would vanish");
    return SL_OK;
}
