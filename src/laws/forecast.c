/* forecast - what a budget, or a size and its tokens, would give by the laws. */
#include <math.h>

#include "laws/laws_impl.h"

static sl_estimate share(sl_estimate y) {
    return (sl_estimate){ 1 - y.value, 1 - y.high, 1 - y.low };
}

static void add_laws(sl_laws_forecast *f, const sl_laws *l) {
    f->factor = f->flops / l->c_top;
    f->solved = share(sl_laws_at(&l->law[SL_LAWS_SOLVED][SL_LAWS_POWER], f->flops));
    f->r2 = share(sl_laws_at(&l->law[SL_LAWS_R2][SL_LAWS_POWER], f->flops));
}

sl_laws_forecast sl_laws_forecast_budget(const sl_laws *l, double flops) {
    sl_laws_forecast f = { .flops = flops,
                           .params = sl_laws_at(&l->params, flops),
                           .tokens = sl_laws_at(&l->tokens, flops),
                           .surface = sl_laws_allocate(&l->surface, flops),
                           .loss = sl_laws_at(&l->law[SL_LAWS_LOSS][SL_LAWS_POWER], flops) };
    add_laws(&f, l);
    return f;
}

sl_laws_forecast sl_laws_forecast_run(const sl_laws *l, double params, double tokens) {
    sl_laws_forecast f = { .flops = l->surface.flops_per * params * tokens,
                           .params = { params, NAN, NAN },
                           .tokens = { tokens, NAN, NAN },
                           .loss = sl_laws_surface_at(&l->surface, params, tokens) };
    f.surface = sl_laws_allocate(&l->surface, f.flops);
    add_laws(&f, l);
    return f;
}
