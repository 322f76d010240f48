/* compare - two recipes: how much compute the other needs for the same loss. */
#include <math.h>

#include "laws/laws_impl.h"

static double place(const sl_laws_draw *d, double ln_loss) {
    return d->b < 0 ? (ln_loss - d->a) / d->b : NAN;
}

/* The draws of both come from the same random numbers, so one list is rotated by half: otherwise a
 * table compared with itself would give an interval of width 0. */
static sl_status multiplier(sl_laws_multiplier *out, sl_arena *a, const sl_law *base,
                            const sl_law *other, double loss) {
    const int n = SL_MIN(base->n_draw, other->n_draw);
    const double at = sl_log(loss), ln = place(&other->fit, at) - place(&base->fit, at);
    double *room;
    SL_LAWS__TRY_ALLOC(room, a, n);
    for (int i = 0; i < n; i++)
        room[i] = sl_exp(place(&other->draw[(i + n / 2) % n], at) - place(&base->draw[i], at));
    out->loss = loss;
    out->factor = sl_laws__interval(sl_exp(ln), room, n, base->level);
    return SL_OK;
}

static void range_of(double *low, double *high, const sl_laws *l) {
    *low = INFINITY, *high = -INFINITY;
    for (int i = 0; i < l->n_frontier; i++) {
        const double v = l->point[l->frontier[i]].loss;
        *low = fmin(*low, v), *high = fmax(*high, v);
    }
}

sl_status sl_laws_compare(sl_laws_multiplier out[SL_LAWS_MULTIPLIERS], sl_arena *a,
                          const sl_laws *base, const sl_laws *other) {
    const sl_law *b = &base->law[SL_LAWS_LOSS][SL_LAWS_POWER];
    const sl_law *o = &other->law[SL_LAWS_LOSS][SL_LAWS_POWER];
    if (!b->known || !o->known)
        return sl_fail(SL_EFORMAT,
                       "%.200s has no law of the loss: it needs flops and loss of three "
                       "runs or more on the frontier",
                       b->known ? other->table->source : base->table->source);
    double low_b, high_b, low_o, high_o;
    range_of(&low_b, &high_b, base);
    range_of(&low_o, &high_o, other);
    const double low = fmax(low_b, low_o), high = fmin(high_b, high_o);
    const double middle = sl_exp((sl_log(low) + sl_log(high)) / 2);
    const double loss[SL_LAWS_MULTIPLIERS] = { fmax(low, high), middle, fmin(low, high) };
    for (int i = 0; i < SL_LAWS_MULTIPLIERS; i++) {
        SL_TRY(multiplier(&out[i], a, b, o, loss[i]));
        out[i].inside = low <= high;
    }
    return SL_OK;
}
