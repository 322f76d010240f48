/* closure_refine - the constant inside a curve, from a point of the grid to a root of the residual.
 *
 * The residual of the lead outside of the span of the other columns depends on the constant alone:
 * all coefficients follow from it. Gauss-Newton steps minimise its length, with a difference
 * quotient for the derivative. Near a root each step gains about five digits; where the first steps
 * gain little there is no root. */
#include <math.h>

#include "search/closure_impl.h"

typedef struct line {
    const sl_closure *c;
    const sl_search__closure_curve *curve;
    sl_search__closure_basis basis,
        below; // of all columns, and of those of D; columns without the curve come first
    sl_search__closure_override override;
    int fixed, fixed_below;
    sl_search__closure_column lead, list[SL_CLOSURE__COLUMNS];
    int curved;
} line;

static bool uses_curve(const line *l, sl_search__closure_column k) {
    for (int i = 0; i < SL_CLOSURE__SLOTS; i++)
        if (k.part[i] >= l->override.part && k.part[i] < l->override.part + l->override.parts)
            return true;
    return false;
}

static void push(line *l, sl_search__closure_column k) {
    sl_search__closure_basis_push(&l->basis, k);
    if (k.below) sl_search__closure_basis_push(&l->below, k);
}

static void begin(line *l, const sl_closure *c, const sl_search__closure_atom *curve,
                  const sl_search__closure_column *list, int n) {
    l->c = c;
    l->curve = &c->curve[curve->curve];
    l->override.part = curve->part[0], l->override.parts = curve->parts;
    l->curved = 0;
    sl_search__closure_basis_clear(&l->basis, c, c->fitted, &l->override);
    sl_search__closure_basis_clear(&l->below, c, c->fitted, &l->override);
    for (int i = 0; i < n; i++) {
        if (uses_curve(l, list[i]))
            l->list[l->curved++] = list[i];
        else
            push(l, list[i]);
    }
    l->fixed = l->basis.n, l->fixed_below = l->below.n;
}

/* v := the residual of the lead; returns its length, infinite outside of the domain. */
static double rest_at(double *v, line *l, double constant) {
    if (!sl_search__closure_curve_values(l->override.value, l->c, l->curve, constant))
        return INFINITY;
    l->basis.n = l->fixed, l->below.n = l->fixed_below;
    for (int i = 0; i < l->curved; i++) push(l, l->list[i]);
    return sl_search__closure_basis_residual(v, &l->basis, &l->below, l->lead);
}

/* The Gauss-Newton step; 0: none. */
static double step_at(line *l, double constant, const double *v) {
    const double h = 1e-6 * (fabs(constant) + 0.1);
    double w[SL_CLOSURE__ROWS], across = 0, along = 0;
    if (!(rest_at(w, l, constant + h) < INFINITY)) return 0;
    for (int r = 0; r < l->basis.padded; r++) {
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
        // rest is below left only once w is filled
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
        for (int r = 0; r < l->basis.padded; r++) v[r] = w[r];
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
