/* closure_curves - functions with a real constant inside, first at the points of a grid.
 *
 * Grids are coarse: near the right constant little of the lead is left, and closure_refine.c finds
 * the constant from there. Rates are spaced by size, frequencies by a part of the period over the
 * range of the argument, shifts under a root by parts of that range. */
#include <math.h>
#include <string.h>

#include "search/closure_impl.h"

static const double MODERATE = 1e40;

static bool is_root(sl_search__closure_family f) {
    return f == SL_CLOSURE__ROOT || f == SL_CLOSURE__ROOT_DOWN;
}

/* (h + k)^(3/2) needs the root and h times it. */
static int parts_of(const sl_search__closure_curve *k) {
    return k->family == SL_CLOSURE__WAVE || is_root(k->family) ? 2 : 1;
}

static double at(sl_search__closure_family f, double h, double k) {
    switch (f) {
    case SL_CLOSURE__RATE: return sl_exp(k * h);
    case SL_CLOSURE__WAVE: return sl_sin(k * h);
    case SL_CLOSURE__ROOT: return sqrt(h + k);
    case SL_CLOSURE__ROOT_DOWN: return sqrt(k - h);
    case SL_CLOSURE__RATE_ROOT: return sl_exp(sqrt(h + k));
    case SL_CLOSURE__FALL_ROOT: return sl_exp(-sqrt(h + k));
    }
    return 0;
}

/* Largest rate and frequency: a steeper curve is near 0 in all but a few rows and fits anything. */
static const double STEEPEST = 12;

bool sl_search__closure_curve_values(sl_search__closure_values *room, const sl_closure *c,
                                     const sl_search__closure_curve *k, double constant) {
    const bool steep = k->family == SL_CLOSURE__RATE || k->family == SL_CLOSURE__WAVE;
    if (steep && fabs(constant) > STEEPEST) return false;
    for (int r = 0; r < c->rows; r++) {
        room[0][r] = at(k->family, k->h[r], constant);
        if (k->family == SL_CLOSURE__WAVE) room[1][r] = sl_cos(constant * k->h[r]);
        if (is_root(k->family)) room[1][r] = k->h[r] * room[0][r];
        if (!(fabs(room[0][r]) < MODERATE)) return false;
    }
    return true;
}

const sl_node *sl_search__closure_write_curve(sl_writer *w, const sl_search__closure_curve *k,
                                              int i, const sl_node *constant) {
    const sl_node *h = k->argument;
    const sl_rat half = { 1, 2 };
    switch (k->family) {
    case SL_CLOSURE__RATE:
        return sl_search__write_function(w, SL_OP_EXP, sl_search__write_times(w, constant, h));
    case SL_CLOSURE__WAVE:
        return sl_search__write_function(w, i ? SL_OP_COS : SL_OP_SIN,
                                         sl_search__write_times(w, constant, h));
    case SL_CLOSURE__ROOT:
    case SL_CLOSURE__ROOT_DOWN:
        if (k->family == SL_CLOSURE__ROOT_DOWN)
            h = sl_search__write_times(w, sl_search__write_int(w, -1), h);
        h = sl_search__write_power(w, sl_search__write_plus(w, h, constant), half);
        return i ? sl_search__write_times(w, k->argument, h) : h;
    case SL_CLOSURE__RATE_ROOT:
    case SL_CLOSURE__FALL_ROOT:
        h = sl_search__write_power(w, sl_search__write_plus(w, h, constant), half);
        if (k->family == SL_CLOSURE__FALL_ROOT)
            h = sl_search__write_times(w, sl_search__write_int(w, -1), h);
        return sl_search__write_function(w, SL_OP_EXP, h);
    }
    return NULL;
}

/* ---------------------------------------------------------------- grids --------------------- */

static const double shifts[] = {
    0.02, 0.1, 0.3, 0.7, 1.5, 4
}; // beyond the end, in parts of the range

enum { FREQUENCIES = 40, RATES = 48 };

static int points(sl_search__closure_family f) {
    if (f == SL_CLOSURE__RATE) return RATES;
    return f == SL_CLOSURE__WAVE ? FREQUENCIES : SL_LEN(shifts);
}

/* Point i of the grid; 0: there is none. */
static double point(const sl_search__closure_curve *k, int i) {
    const double range = k->high - k->low, most = 9.5;
    if (k->family == SL_CLOSURE__RATE) {
        const int pair = i / 2; // of a rate and its opposite
        double rate = 2 / range * (pair + 0.35);
        return rate > most ? 0 : i % 2 ? -rate : rate;
    }
    if (k->family == SL_CLOSURE__WAVE) {
        double frequency = 1.4 / range * (i + 0.6);
        return frequency < most ? frequency : 0;
    }
    return k->family == SL_CLOSURE__ROOT_DOWN ? k->high + shifts[i] * range
                                              : -k->low + shifts[i] * range;
}

static void add_point(sl_closure *c, int curve, double constant) {
    const sl_search__closure_curve *k = &c->curve[curve];
    const int parts = parts_of(k);
    if (constant == 0 || c->parts + parts > SL_CLOSURE__PARTS || c->atoms == SL_CLOSURE__ATOMS)
        return;
    if (!sl_search__closure_curve_values(c->value + c->parts, c, k, constant)) return;
    c->atom[c->atoms++] =
        (sl_search__closure_atom){ { c->parts, c->parts + 1 }, parts, curve, constant };
    c->parts += parts;
}

static sl_status add_curve(sl_closure *c, sl_search__closure_family f, const char *argument) {
    sl_search__closure_curve *k = &c->curve[c->curves];
    SL_ASSERT(c->curves < SL_CLOSURE__CURVES);
    k->family = f;
    SL_TRY(sl_expr_parse(&k->argument, &c->arena, SL_FORMAT_INFIX, argument, strlen(argument), NULL,
                         NULL));
    SL_TRY(sl_expr_eval(k->h, &c->arena, k->argument, c->x, c->rows, NULL));
    k->low = INFINITY, k->high = -INFINITY;
    for (int r = 0; r < c->rows; r++) {
        if (!(fabs(k->h[r]) < MODERATE)) return SL_OK;
        k->low = fmin(k->low, k->h[r]), k->high = fmax(k->high, k->h[r]);
    }
    for (int i = 0; i < points(f); i++) add_point(c, c->curves, point(k, i));
    c->curves++;
    return SL_OK;
}

/* ---------------------------------------------------------------- the lists ----------------- */

static sl_status add_families(sl_closure *c, const char *argument) {
    for (int f = SL_CLOSURE__RATE; f <= SL_CLOSURE__ROOT_DOWN; f++)
        SL_TRY(add_curve(c, (sl_search__closure_family)f, argument));
    return SL_OK;
}

sl_status sl_search__closure_make_curves(sl_closure *c) {
    static const char *const one[] = { "sqrt(x%d)", "sqrt(-x%d)", "exp(x%d)", "x%d^2", "sin(x%d)" };
    static const char *const two[] = { "x%d*x%d", "x%d/x%d", "x%d+x%d", "x%d-x%d" };
    char argument[48];
    c->grid.begin = c->atoms;
    for (int v = 1; v <= c->variables; v++) {
        sl_snprintf(argument, sizeof argument, "x%d", v);
        SL_TRY(add_families(c, argument));
    }
    c->grid.end = c->nested_grid.begin = c->atoms;
    for (int v = 1; v <= c->variables && c->variables < 3; v++) {
        sl_snprintf(argument, sizeof argument, "x%d", v);
        SL_TRY(add_curve(c, SL_CLOSURE__RATE_ROOT, argument));
        SL_TRY(add_curve(c, SL_CLOSURE__FALL_ROOT, argument));
        for (int i = 0; i < SL_LEN(one); i++) {
            sl_snprintf(argument, sizeof argument, one[i], v);
            SL_TRY(add_families(c, argument));
        }
        for (int w = 1; w <= c->variables; w++)
            for (int i = 0; i < SL_LEN(two); i++) {
                if (v == w || (w < v && i != 1)) continue;
                sl_snprintf(argument, sizeof argument, two[i], v, w);
                SL_TRY(add_families(c, argument));
            }
    }
    c->nested_grid.end = c->atoms;
    return SL_OK;
}
