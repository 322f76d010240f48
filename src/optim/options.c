/* options - do they keep to their table, and to each other? */
#include "optim/optim.h"

/* A bound of 0 would press all weights to 0. */
sl_status sl_optim_options_check(const sl_optim_options *o) {
    static const sl_bounds rows[] = { SL_OPTIM_TABLE(SL_BOUNDS_ROW) };
    const double values[] = {
#define X(field, ...) (double)o->field,
        SL_OPTIM_TABLE(X)
#undef X
    };
    SL_TRY(sl_bounds_check(rows, values, SL_LEN(rows)));
    if (o->optimizer != SL_OPTIM_ADAMCPR) return SL_OK;
    if (o->kappa_init == SL_KAPPA_WARM_START && !(o->kappa_param >= 1))
        return sl_fail(SL_EINVAL, "kappa-param is %g: warm-start needs at least 1 step",
                       o->kappa_param);
    if (o->kappa_init != SL_KAPPA_INFLECTION && !(o->kappa_param > 0))
        return sl_fail(SL_EINVAL, "kappa-param is 0: with such a bound all weights would vanish");
    return SL_OK;
}
