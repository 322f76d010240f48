/* schedule - the learning rate of a step, and how often AdamCPR tests R. */
#include "optim/optim.h"

static const double PI = 3.14159265358979323846;

static int64_t rounded(double x) { return (int64_t)(x + 0.5); }

int64_t sl_optim_warmup_steps(const sl_optim_options *o, int64_t steps) {
    return rounded(o->warmup * (double)steps);
}

double sl_optim_lr(const sl_optim_options *o, int64_t step, int64_t steps) {
    const int64_t w = sl_optim_warmup_steps(o, steps);
    if (step < w) return o->lr * ((double)(step + 1) / (double)w);
    const double way = (double)(SL_MIN(step, steps) - w) / (double)SL_MAX(steps - w, 1);
    return o->lr * (o->lr_final + (1 - o->lr_final) * ((1 + sl_cos(PI * way)) / 2));
}

/* The authors of the method test every 200 steps in long runs, and found a tenth of the warm-up
 * sufficient in general. */
int64_t sl_optim_kappa_steps(const sl_optim_options *o, int64_t steps) {
    if (o->kappa_steps > 0) return o->kappa_steps;
    if (steps >= 16000) return 200;
    return SL_MAX(rounded(0.1 * (double)sl_optim_warmup_steps(o, steps)), 1);
}
