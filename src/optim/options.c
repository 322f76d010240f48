/* options - do they keep to their table, and to each other? */
#include "optim/optim.h"

/* Choices are numbered from 0 by the bars between them. */
static double choices_last(const char *choices) {
    double n = 0;
    for (; *choices; choices++) n += *choices == '|';
    return n;
}

static sl_status check_table(const sl_optim_options *o) {
    static const struct {
        const char *option, *choices;
        double min, max;
    } rows[] = {
#define X(field, option, kind, value, text, choices, min, max, shown, help) \
    { option, choices, min, max },
        SL_OPTIM_TABLE(X)
#undef X
    };
    const double value[] = {
#define X(field, ...) (double)o->field,
        SL_OPTIM_TABLE(X)
#undef X
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        double max = rows[i].choices ? choices_last(rows[i].choices) : rows[i].max;
        if (!(value[i] >= rows[i].min && value[i] <= max))
            return sl_fail(SL_EINVAL, "%s is %g, not from %g to %g", rows[i].option, value[i],
                           rows[i].min, max);
    }
    return SL_OK;
}

/* A bound of 0 would press all weights to 0. */
sl_status sl_optim_options_check(const sl_optim_options *o) {
    SL_TRY(check_table(o));
    if (o->optimizer != SL_OPTIM_ADAMCPR) return SL_OK;
    if (o->kappa_init == SL_KAPPA_WARM_START && !(o->kappa_param >= 1))
        return sl_fail(SL_EINVAL, "kappa-param is %g: warm-start needs at least 1 step",
                       o->kappa_param);
    if (o->kappa_init != SL_KAPPA_INFLECTION && !(o->kappa_param > 0))
        return sl_fail(SL_EINVAL, "kappa-param is 0: with such a bound all weights would vanish");
    return SL_OK;
}
