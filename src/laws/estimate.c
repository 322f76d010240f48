/* estimate - a law's figures at any x or y, with intervals from its draws. */
#include <math.h>

#include "laws/laws_impl.h"
#include "num/num.h"

static const sl_estimate unknown = { NAN, NAN, NAN };

sl_estimate sl_laws__interval(double value, double *draws, int n, double level) {
    if (n == 0) return (sl_estimate){ value, NAN, NAN };
    const sl_boot s = sl_num_boot_summary(draws, n, level);
    return (sl_estimate){ value, s.lo, s.hi };
}

/* A quantity of a draw, and its standard error. */
typedef enum question { SLOPE, INTERCEPT, FLOOR, LN_Y, LN_X } question;

/* Logarithms beyond this stand for infinity, so that quantiles between them are numbers. */
#define FAR_AWAY 709

static double bounded(double v) { return SL_MAX(SL_MIN(v, FAR_AWAY), -FAR_AWAY); }

/* Infinite where a draw does not fall, or has a floor above y. */
static double place_of(const sl_laws_draw *d, double ln_y) {
    const double y = d->floor > 0 ? sl_exp(ln_y) - d->floor : 0;
    if (d->b == 0 || y < 0) return FAR_AWAY;
    return bounded(((d->floor > 0 ? sl_log(y) : ln_y) - d->a) / d->b);
}

static double answer(const sl_laws_draw *d, question q, double at) {
    switch (q) {
    case SLOPE: return d->b;
    case INTERCEPT: return d->a;
    case FLOOR: return d->floor;
    case LN_Y: return d->floor > 0 ? sl_log(d->floor + sl_exp(d->a + d->b * at)) : d->a + d->b * at;
    case LN_X: break;
    }
    return place_of(d, at);
}

/* Of a line without a floor. For LN_X by the first derivative. */
static double error_of(const sl_laws_draw *d, question q, double at) {
    double place = at, scale = d->sigma;
    if (q == SLOPE) return d->sigma / sqrt(d->spread);
    if (q == INTERCEPT) place = 0;
    if (q == LN_X) place = (at - d->a) / d->b, scale /= fabs(d->b);
    return scale * sqrt(1 / d->n + (place - d->mean) * (place - d->mean) / d->spread);
}

/* Bootstrap-t: each draw's deviation from the estimate in units of its own standard error; the
 * interval uses the opposite quantiles of those. */
static sl_estimate student_interval(const sl_law *law, question q, double at) {
    const double value = answer(&law->fit, q, at), se = error_of(&law->fit, q, at);
    for (int i = 0; i < law->n_draw; i++) {
        const double e = error_of(&law->draw[i], q, at);
        law->scratch[i] = e > 0 ? (answer(&law->draw[i], q, at) - value) / e : NAN;
    }
    const sl_boot s = sl_num_boot_summary(law->scratch, law->n_draw, law->level);
    return (sl_estimate){ value, value - s.hi * se, value - s.lo * se };
}

static sl_estimate ask(const sl_law *law, question q, double at) {
    if (!law->known) return unknown;
    if (law->n_draw == 0) return (sl_estimate){ answer(&law->fit, q, at), NAN, NAN };
    if (law->student) return student_interval(law, q, at);
    for (int i = 0; i < law->n_draw; i++) {
        const sl_laws_draw *d = &law->draw[i];
        const bool never = q == LN_X && law->falls && d->b >= 0;
        law->scratch[i] = isnan(d->b) ? NAN : never ? FAR_AWAY : answer(d, q, at);
    }
    return sl_laws__interval(answer(&law->fit, q, at), law->scratch, law->n_draw, law->level);
}

static double power(double ln) { return ln >= FAR_AWAY ? INFINITY : sl_exp(ln); }

static sl_estimate exponential(sl_estimate e) {
    return (sl_estimate){ power(e.value), power(e.low), power(e.high) };
}

sl_estimate sl_laws_at(const sl_law *law, double x) {
    return exponential(ask(law, LN_Y, sl_log(x)));
}

sl_estimate sl_laws_inverse(const sl_law *law, double y) {
    return exponential(ask(law, LN_X, sl_log(y)));
}

double sl_laws_factor(const sl_law *law, double x) { return x / law->x_top; }

void sl_laws__estimate(sl_law *law) {
    const sl_estimate slope = ask(law, SLOPE, 0);
    law->exponent = law->falls ? (sl_estimate){ -slope.value, -slope.high, -slope.low } : slope;
    law->coefficient = exponential(ask(law, INTERCEPT, 0));
    law->floor = law->student ? (sl_estimate){ 0, 0, 0 } : ask(law, FLOOR, 0);
    law->valid = 0;
    for (int i = 0; i < law->n_draw; i++) law->valid += !isnan(law->draw[i].b);
}
