/* Families of functions with constants inside: their grids, values and expressions. */
#include <math.h>

#include "search/inner_impl.h"

const sl_search__inner_traits sl_search__inner_traits_of[SL_INNER__FAMILY_COUNT] = {
// clang-format off
#define X(id, side, one, two, signs, columns, bits, op)                   \
    { SL_SIDE_##side, { SL_INNER__##one, SL_INNER__##two }, signs, columns, \
      bits, SL_OPERATOR_##op },
    // clang-format on
    SL_INNER__FAMILIES(X)
#undef X
};

/* ---------------------------------------------------------------- grids --------------------- */

static const double PI = 3.14159265358979323846;

/* Below a quarter period waves resemble parabolas and few steps suffice. Above it, steps of a
 * quarter period keep the phase error below an eighth at both ends. */
static const double SLOW[] = { 0.25, 0.5, 0.8, 1.2 };

/* First point, step and number of points. */
static const struct axis {
    double first, step, least, most;
    int n;
} axes[] = {
    [SL_INNER__NONE] = { 0, 0, 0, 0, 1 },
    [SL_INNER__FREQUENCY] = { 0, 0.5 * 3.14159265358979323846, 0.02, 1e5, 0 },
    [SL_INNER__RATE] = { -3, 0.35, -7, 6, 21 },
    [SL_INNER__SHIFT] = { -6.9, 0.5, -20, 9, 21 },
    [SL_INNER__CENTER] = { -0.75, 1.0 / 12, -3, 3, 19 },
    [SL_INNER__EXPONENT] = { -3.75, 0.5, -12, 12, 18 },
};

int sl_search__inner_grid_size(sl_search__inner_coordinate c, int frequencies) {
    return c == SL_INNER__FREQUENCY ? frequencies : axes[c].n;
}

double sl_search__inner_grid(sl_search__inner_coordinate c, int i) {
    if (c != SL_INNER__FREQUENCY) return axes[c].first + i * axes[c].step;
    return i < SL_LEN(SLOW) ? SLOW[i] : 0.5 * PI * (i - SL_LEN(SLOW) + 1);
}

double sl_search__inner_grid_step(sl_search__inner_coordinate c) { return axes[c].step; }

bool sl_search__inner_inside(sl_search__inner_coordinate c, double t) {
    return t >= axes[c].least && t <= axes[c].most;
}

/* ---------------------------------------------------------------- inner constants ----------- */

static double width(const sl_search__inner_range *r) { return r->high - r->low; }

/* Largest |z|: the unit of rates where zero is a place of its own. */
static double reach(const sl_search__inner_range *r) { return SL_MAX(fabs(r->low), fabs(r->high)); }

static double rate(const sl_search__inner_point *at, int k, double unit) {
    return at->sign * sl_exp(at->t[k]) / unit;
}

static double center(const sl_search__inner_point *at, const sl_search__inner_range *r) {
    return 0.5 * (r->low + r->high) + at->t[0] * width(r);
}

/* v = sign z + this. */
static double shift(const sl_search__inner_point *at, const sl_search__inner_range *r) {
    double outside = width(r) * sl_exp(at->t[0]);
    return at->sign > 0 ? outside - r->low : outside + r->high;
}

/* The largest v: columns are in units of it. */
static double largest(const sl_search__inner_point *at, const sl_search__inner_range *r) {
    return width(r) * (1 + sl_exp(at->t[0]));
}

/* The z where the column exp(c z) is 1: where it is largest. */
static double origin(double c, const sl_search__inner_range *r) { return c > 0 ? r->high : r->low; }

/* ---------------------------------------------------------------- values -------------------- */

/* v, in units of the largest; the logarithm has v itself, as a factor would be a term of its own.
 */
static void shifted(double *o, const sl_search__inner_point *at, const double *z,
                    const sl_search__inner_range *r, bool scale, int n) {
    double d = shift(at, r), unit = scale ? 1 / largest(at, r) : 1;
    for (int i = 0; i < n; i++) o[i] = (at->sign * z[i] + d) * unit;
}

static void linear(double *o, double c, double d, const double *z, int n) {
    for (int i = 0; i < n; i++) o[i] = c * (z[i] - d);
}

static void wave(double *const *column, const sl_search__inner_point *at, const double *z,
                 const sl_search__inner_range *r, int n) {
    linear(column[0], at->t[0] / width(r), r->low, z, n);
    sl_sincos_array(column[0], column[1], column[0], n);
}

/* exp(k z) times both columns, in pieces that fit on the stack. */
static void damp(double *const *column, const sl_search__inner_point *at, const double *z,
                 const sl_search__inner_range *r, int n) {
    enum { PIECE = 64 };
    double k = rate(at, 1, width(r)), e[PIECE];
    for (int from = 0; from < n; from += PIECE) {
        int m = SL_MIN(n - from, (int)PIECE);
        linear(e, k, origin(k, r), z + from, m);
        sl_exp_array(e, e, m);
        for (int i = 0; i < m; i++) column[0][from + i] *= e[i], column[1][from + i] *= e[i];
    }
}

/* log|exp(u) + one| of column u, one being 1 or -1. */
static void log_exp_plus(double *o, double one, int n) {
    sl_exp_array(o, o, n);
    for (int i = 0; i < n; i++) o[i] = fabs(o[i] + one);
    sl_log_array(o, o, n);
}

void sl_search__inner_columns(double *const *column, sl_search__inner_family f,
                              const sl_search__inner_point *at, const double *z,
                              const sl_search__inner_range *r, int n) {
    double *o = column[0], c = rate(at, 0, width(r));
    switch (f) {
    case SL_INNER__WAVE: wave(column, at, z, r, n); return;
    case SL_INNER__DAMPED: wave(column, at, z, r, n), damp(column, at, z, r, n); return;
    case SL_INNER__EXP: linear(o, c, origin(c, r), z, n), sl_exp_array(o, o, n); return;
    case SL_INNER__LOG:
    case SL_INNER__SHIFTED: shifted(o, at, z, r, false, n), sl_log_array(o, o, n); return;
    case SL_INNER__ROOT:
        shifted(o, at, z, r, true, n);
        for (int i = 0; i < n; i++) o[i] = sqrt(o[i]);
        return;
    case SL_INNER__INVERSE:
        shifted(o, at, z, r, true, n);
        for (int i = 0; i < n; i++) o[i] = 1 / o[i];
        return;
    case SL_INNER__TANH: linear(o, rate(at, 0, reach(r)), 0, z, n), sl_tanh_array(o, o, n); return;
    case SL_INNER__TANHS:
        linear(o, rate(at, 0, reach(r)), 0, z, n), sl_tanh_array(o, o, n);
        for (int i = 0; i < n; i++) o[i] = fabs(o[i]);
        sl_log_array(o, o, n);
        return;
    case SL_INNER__EXPM1: linear(o, rate(at, 0, reach(r)), 0, z, n), log_exp_plus(o, -1, n); return;
    case SL_INNER__EXPP1: linear(o, rate(at, 0, reach(r)), 0, z, n), log_exp_plus(o, 1, n); return;
    case SL_INNER__POWER:
        shifted(o, at, z, r, true, n), sl_log_array(o, o, n);
        for (int i = 0; i < n; i++) o[i] *= at->t[1];
        sl_exp_array(o, o, n);
        return;
    case SL_INNER__BELL:
        linear(o, rate(at, 1, width(r)), center(at, r), z, n);
        for (int i = 0; i < n; i++) o[i] = -(o[i] * o[i]);
        sl_exp_array(o, o, n);
        return;
    case SL_INNER__STEP:
        linear(o, rate(at, 1, width(r)), center(at, r), z, n), sl_tanh_array(o, o, n);
        return;
    case SL_INNER__FAMILY_COUNT: break;
    }
    SL_ASSERT(!"no such family");
}

/* ---------------------------------------------------------------- expressions --------------- */

static const sl_node *scaled(sl_writer *w, double c, const sl_node *z) {
    return sl_search__write_times(w, sl_search__write_constant(w, c), z);
}

static const sl_node *function_of(sl_writer *w, sl_op op, double c, const sl_node *z) {
    return sl_search__write_function(w, op, scaled(w, c, z));
}

/* v, z with its sign. */
static const sl_node *write_shifted(sl_writer *w, const sl_search__inner_point *at,
                                    const sl_node *z, const sl_search__inner_range *r) {
    if (at->sign < 0) z = sl_search__write_times(w, sl_search__write_int(w, -1), z);
    return sl_search__write_plus(w, z, sl_search__write_constant(w, shift(at, r)));
}

/* b sin(c z + phase), from coefficients of sin and cos of c (z - low). A phase of quarter turns is
 * written as sin or cos; a free phase is constant number SL_INNER__PHASE. */
static const sl_node *write_wave(sl_writer *w, const sl_search__inner_point *at, const sl_node *z,
                                 const sl_search__inner_range *r, const double *coefficient,
                                 double factor) {
    double c = at->t[0] / width(r), phase = atan2(coefficient[1], coefficient[0]) - c * r->low;
    int quarter = at->quarter;
    phase = remainder(phase, 2 * PI);
    if (quarter == 2 || quarter == 3) factor = -factor;
    const sl_node *b = sl_search__write_constant(w, factor * hypot(coefficient[0], coefficient[1]));
    if (quarter)
        return sl_search__write_times(w, b,
                                      function_of(w, quarter % 2 ? SL_OP_COS : SL_OP_SIN, c, z));
    const sl_node *u = scaled(w, c, z);
    u = sl_search__write_plus(
        w, u, sl_search__write_constant(w, phase)); // constant number SL_INNER__PHASE
    return sl_search__write_times(w, b, sl_search__write_function(w, SL_OP_SIN, u));
}

/* A base of products to a free power. */
static const sl_node *write_factor(sl_writer *w, sl_search__inner_family f,
                                   const sl_search__inner_point *at, const sl_node *z,
                                   const sl_search__inner_range *r, double power) {
    const sl_node *base;
    if (f == SL_INNER__SHIFTED)
        return sl_search__write_real_power(w, write_shifted(w, at, z, r), power);
    double c = rate(at, 0, reach(r));
    if (f == SL_INNER__TANHS)
        return sl_search__write_real_power(w, function_of(w, SL_OP_TANH, r->low < 0 ? -c : c, z),
                                           power);
    base = function_of(w, SL_OP_EXP, c, z);
    bool turned = f == SL_INNER__EXPM1 && c * (r->low + r->high) < 0; // 1 - exp(c z)
    if (turned) base = sl_search__write_times(w, sl_search__write_int(w, -1), base);
    base = sl_search__write_plus(w, base,
                                 sl_search__write_int(w, f == SL_INNER__EXPP1 || turned ? 1 : -1));
    return sl_search__write_real_power(w, base, power);
}

static const sl_node *write_bell(sl_writer *w, const sl_search__inner_point *at, const sl_node *z,
                                 const sl_search__inner_range *r) {
    double c = rate(at, 1, width(r));
    const sl_node *off = sl_search__write_plus(w, z, sl_search__write_constant(w, -center(at, r)));
    return function_of(w, SL_OP_EXP, -c * c, sl_search__write_power(w, off, SL_RAT(2)));
}

const sl_node *sl_search__inner_write(sl_writer *w, sl_search__inner_family f,
                                      const sl_search__inner_point *at, const sl_node *z,
                                      const sl_search__inner_range *r, const double *coefficient) {
    double c = rate(at, 0, width(r)), b = coefficient[0], k = rate(at, 1, width(r));
    const sl_node *u;
    if (sl_search__inner_traits_of[f].side == SL_SIDE_PRODUCT)
        return write_factor(w, f, at, z, r, b);
    switch (f) {
    case SL_INNER__WAVE: return write_wave(w, at, z, r, coefficient, 1);
    case SL_INNER__DAMPED:
        u = write_wave(w, at, z, r, coefficient, exp(-k * origin(k, r)));
        return sl_search__write_times(w, u, function_of(w, SL_OP_EXP, k, z));
    case SL_INNER__EXP: b *= exp(-c * origin(c, r)), u = function_of(w, SL_OP_EXP, c, z); break;
    case SL_INNER__LOG:
        u = sl_search__write_function(w, SL_OP_LOG, write_shifted(w, at, z, r));
        break;
    case SL_INNER__ROOT:
        b /= sqrt(largest(at, r));
        u = sl_search__write_power(w, write_shifted(w, at, z, r), (sl_rat){ 1, 2 });
        break;
    case SL_INNER__INVERSE:
        b *= largest(at, r), u = sl_search__write_power(w, write_shifted(w, at, z, r), SL_RAT(-1));
        break;
    case SL_INNER__POWER:
        b *= pow(largest(at, r), -at->t[1]);
        u = sl_search__write_real_power(w, write_shifted(w, at, z, r), at->t[1]);
        break;
    case SL_INNER__BELL: u = write_bell(w, at, z, r); break;
    case SL_INNER__STEP:
        u = sl_search__write_plus(w, z, sl_search__write_constant(w, -center(at, r)));
        u = function_of(w, SL_OP_TANH, k, u);
        break;
    default: u = function_of(w, SL_OP_TANH, rate(at, 0, reach(r)), z); break; // TANH
    }
    return sl_search__write_times(w, sl_search__write_constant(w, b), u);
}
