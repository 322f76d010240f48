/* laws_ask - what a budget, or a size and its tokens, would give by the laws. */
#include <math.h>
#include <string.h>

#include "commands/laws_impl.h"

sl_status sl_commands__predict_read(sl_commands__ask *out, const char *text) {
    out->params = out->tokens = NAN;
    const char *at = text;
    while (*at) {
        const size_t n = strcspn(at, ",");
        char *end = NULL;
        double *to = strncmp(at, "N=", 2) == 0   ? &out->params
                     : strncmp(at, "D=", 2) == 0 ? &out->tokens
                                                 : NULL;
        if (to) *to = sl_strtod(at + 2, &end);
        if (!end || end != at + n || !(*to >= 1 && *to <= 1e30)) break;
        at += n + (at[n] == ',');
    }
    if (*at || isnan(out->params) || isnan(out->tokens))
        return sl_fail(SL_EINVAL,
                       "--predict takes parameters and tokens, as in N=1e9,D=2e10, not \"%.60s\"",
                       text);
    return SL_OK;
}

static sl_estimate share(sl_estimate y) {
    return (sl_estimate){ 1 - y.value, 1 - y.high, 1 - y.low };
}

static void add_laws(sl_commands__forecast *f, const sl_laws *l) {
    f->factor = f->flops / l->c_top;
    f->solved = share(sl_laws_at(&l->law[SL_LAWS_SOLVED][SL_LAWS_POWER], f->flops));
    f->r2 = share(sl_laws_at(&l->law[SL_LAWS_R2][SL_LAWS_POWER], f->flops));
}

sl_commands__forecast sl_commands__forecast_budget(const sl_laws *l, double flops) {
    sl_commands__forecast f = { .flops = flops,
                                .params = sl_laws_at(&l->params, flops),
                                .tokens = sl_laws_at(&l->tokens, flops),
                                .surface = sl_laws_allocate(&l->surface, flops),
                                .loss = sl_laws_at(&l->law[SL_LAWS_LOSS][SL_LAWS_POWER], flops) };
    add_laws(&f, l);
    return f;
}

sl_commands__forecast sl_commands__forecast_run(const sl_laws *l, double params, double tokens) {
    sl_commands__forecast f = { .flops = l->surface.flops_per * params * tokens,
                                .params = { params, NAN, NAN },
                                .tokens = { tokens, NAN, NAN },
                                .loss = sl_laws_surface_at(&l->surface, params, tokens) };
    f.surface = sl_laws_allocate(&l->surface, f.flops);
    add_laws(&f, l);
    return f;
}
