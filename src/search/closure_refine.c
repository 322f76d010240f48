/* closure_refine - the constant inside a curve, from a point of the grid to where nothing is left.
 *
 * What is left of the lead outside of the span of the other columns is a vector that depends on the
 * constant alone: all coefficients follow from it. Its length is made least by Gauss's method, with
 * a difference for the derivative. Close to the right constant each step gains five digits; where
 * the first steps gain little there is no root, and the search ends. */
#include <math.h>

#include "search/closure_impl.h"

typedef struct line {
    const sl_closure *c;
    const sl_search__closure_curve *curve;
    sl_search__closure_tower tower, below; // all columns, and those of D; what does not bend first
    sl_search__closure_bent bent;
    int fixed, fixed_below;
    sl_search__closure_column lead, list[SL_CLOSURE__COLUMNS];
    int bending;
} line;

static bool bends(const line *l, sl_search__closure_column k) {
    for (int i = 0; i < SL_CLOSURE__SLOTS; i++)
        if (k.part[i] >= l->bent.part && k.part[i] < l->bent.part + l->bent.parts) return true;
    return false;
}

static void push(line *l, sl_search__closure_column k) {
    sl_search__closure_push(&l->tower, k);
    if (k.below) sl_search__closure_push(&l->below, k);
}

static void begin(line *l, const sl_closure *c, const sl_search__closure_atom *curve,
                  const sl_search__closure_column *list, int n) {
    l->c = c;
    l->curve = &c->curve[curve->curve];
    l->bent.part = curve->part[0], l->bent.parts = curve->parts;
    l->bending = 0;
    sl_search__closure_clear(&l->tower, c, c->fitted, &l->bent);
    sl_search__closure_clear(&l->below, c, c->fitted, &l->bent);
    for (int i = 0; i < n; i++) {
        if (bends(l, list[i]))
            l->list[l->bending++] = list[i];
        else
            push(l, list[i]);
    }
    l->fixed = l->tower.n, l->fixed_below = l->below.n;
}

/* v := what is left of the lead; answers its length, infinite outside of the domain. */
static double rest_at(double *v, line *l, double constant) {
    if (!sl_search__closure_bend(l->bent.value, l->c, l->curve, constant)) return INFINITY;
    l->tower.n = l->fixed, l->below.n = l->fixed_below;
    for (int i = 0; i < l->bending; i++) push(l, l->list[i]);
    return sl_search__closure_rest(v, &l->tower, &l->below, l->lead);
}

/* The step that Gauss's method takes; 0: none. */
static double step_at(line *l, double constant, const double *v) {
    const double h = 1e-6 * (fabs(constant) + 0.1);
    double w[SL_CLOSURE__ROWS], across = 0, along = 0;
    if (!(rest_at(w, l, constant + h) < INFINITY)) return 0;
    for (int r = 0; r < l->tower.padded; r++) {
        double slope = (w[r] - v[r]) / h;
        across += slope * v[r], along += slope * slope;
    }
    return along > 0 ? -across / along : 0;
}

static const double ENOUGH = 1e-13;

static double descend(double *constant, line *l) {
    enum { STEPS = 16, PATIENCE = 4 };
    double v[SL_CLOSURE__ROWS], w[SL_CLOSURE__ROWS], left = rest_at(v, l, *constant);
    const double first = left;
    for (int i = 0; i < STEPS && left > ENOUGH && left < INFINITY; i++) {
        const double reach = 0.3 * (fabs(*constant) + 0.5);
        double step = SL_MAX(-reach, SL_MIN(reach, step_at(l, *constant, v))), rest = INFINITY;
        for (int k = 0; k < PATIENCE && step != 0; k++, step *= 0.4) {
            rest = rest_at(w, l, *constant + step);
            if (rest < left) break;
        }
        if (!(rest < left)) break;
        *constant += step;
        left = rest;
        for (int r = 0; r < l->tower.padded; r++) v[r] = w[r];
        if (i == PATIENCE && left > 0.5 * first) break;
    }
    return left;
}

double sl_search__closure_refine(double *constant, const sl_closure *c,
                                 const sl_search__closure_atom *curve,
                                 sl_search__closure_column lead,
                                 const sl_search__closure_column *list, int n) {
    line l;
    l.lead = lead;
    begin(&l, c, curve, list, n);
    return descend(constant, &l);
}
