/* round - formulas with rounded constants for printing, and with decimals for exact numbers that
 * people write so.
 *
 * The standard error of a constant limits its significant digits. Two cases need more digits.
 * Correlated constants have errors larger than the amount each may be rounded by. And at the edge
 * of a domain rounding can leave it: (v - 1.05)^(3/2) has no value where v is 1.0454, although the
 * change of R2 is negligible. So each rounded formula is tried on the rows, and every constant gets
 * one more digit until the formula is real in every row where the exact one is and explains the
 * rows as well. Fitted and held-out rows are tried separately: held-out rows may be explained so
 * badly that they would hide a change. With 17 digits a double is exact, so the loop ends. */
#include <math.h>
#include <stdlib.h>

#include "discover/discover_impl.h"
#include "num/num.h"

enum { FEW = 6, ALL = 17, FIRST_ROWS = 256 };

static const double SLACK = 1.02, NOTHING = 1e-9; // of what a fit leaves unexplained

int sl_discover_candidate_digits(const sl_candidate *c, int k, int most) {
    const double value = c->value[k], error = c->error ? c->error[k] : NAN;
    if (!(error > 0) || isinf(error) || value == 0) return most;
    const double d = floor(log10(fabs(value))) - floor(log10(error)) + 2;
    return d < 2 ? 2 : d > most ? most : (int)d;
}

/* ---------------------------------------------------------------- rows ---------------------- */

/* The rows of p that are fitted, or those that are not, if there are any. */
static sl_status add_rows(sl_rounding *r, sl_arena *a, const sl_dataset *p, const bool *fitted,
                          bool which) {
    int64_t *pick = sl_arena_alloc(a, (size_t)p->rows * sizeof *pick), n = 0;
    if (!pick) return sl_fail_memory((size_t)p->rows, sizeof *pick, "rows to try formulas on");
    for (int64_t i = 0; i < p->rows; i++)
        if (fitted[i] == which) pick[n++] = i;
    return n ? sl_data_pick_rows(&r->rows[r->n++], a, p, pick, n) : SL_OK;
}

sl_status sl_discover_rounding_make(sl_rounding *out, sl_arena *a, const sl_dataset *p,
                                    const sl_discovery *d) {
    *out = (sl_rounding){ .n = 0 };
    // a few come first: most of what is rounded too far shows there, and a table of all candidates
    // must not take long
    if (p->rows > 2 * FIRST_ROWS)
        SL_TRY(sl_data_pick_evenly(&out->rows[out->n++], a, p, FIRST_ROWS));
    if (d->fitted) {
        SL_TRY(add_rows(out, a, p, d->fitted, true));
        return add_rows(out, a, p, d->fitted, false);
    }
    out->rows[out->n++] = *p;
    return SL_OK;
}

/* ---------------------------------------------------------------- trying -------------------- */

/* *out := is `shown` real where c is, and does it explain those rows as well? */
static sl_status holds(bool *out, sl_arena *a, const sl_candidate *shown, const sl_candidate *c,
                       const sl_dataset *p) {
    const size_t mark = sl_arena_mark(a), n = (size_t)p->rows;
    double *y = sl_arena_alloc(a, 3 * n * sizeof *y);
    if (!y) return sl_fail_memory(3 * n, sizeof *y, "values of a formula");
    double *rounded = y + n, *exact = rounded + n;
    SL_TRY(sl_discover_candidate_eval(rounded, a, shown, p));
    SL_TRY(sl_discover_candidate_eval(exact, a, c, p));
    int64_t kept = 0;
    *out = true;
    for (int64_t i = 0; i < p->rows && *out; i++) {
        if (!isfinite(exact[i])) continue;
        *out = isfinite(rounded[i]);
        y[kept] = p->y[i];
        rounded[kept] = rounded[i];
        exact[kept++] = exact[i];
    }
    const double before = sl_num_r2(exact, y, kept), after = sl_num_r2(rounded, y, kept);
    *out = *out && (isnan(before) || 1 - after <= SLACK * (1 - before) + NOTHING);
    sl_arena_rewind(a, mark);
    return SL_OK;
}

static sl_status holds_everywhere(bool *out, sl_arena *a, const sl_candidate *shown,
                                  const sl_candidate *c, const sl_rounding *r) {
    *out = true;
    for (int k = 0; k < r->n && *out; k++) SL_TRY(holds(out, a, shown, c, &r->rows[k]));
    return SL_OK;
}

/* The double nearest to the decimal of so many digits; the text is written and read in one locale.
 */
static double rounded(double value, int digits) {
    char text[40];
    sl_snprintf(text, sizeof text, "%.*g", digits, value);
    const double near = sl_strtod(text, NULL);
    return isfinite(near) ? near : value; // the largest numbers round up to none
}

/* Returns whether any constant was changed. */
static bool round_all(double *value, const sl_candidate *c, int more) {
    bool cut = false;
    for (int i = 0; i < c->params; i++) {
        const int digits = SL_MIN(sl_discover_candidate_digits(c, i, FEW) + more, ALL);
        value[i] = rounded(c->value[i], digits);
        cut = cut || digits < ALL;
    }
    return cut;
}

sl_status sl_discover_candidate_round(sl_candidate *out, sl_arena *a, const sl_candidate *c,
                                      const sl_rounding *r) {
    const int most = c->params + sl_expr_nodes(c->expr);
    double *value = sl_arena_alloc(a, (size_t)most * sizeof *value);
    if (!value) return sl_fail_memory((size_t)most, sizeof *value, "rounded constants");
    *out = *c;
    out->value = value;
    bool good = false;
    for (int more = 0; !good && round_all(value, c, more); more++)
        SL_TRY(holds_everywhere(&good, a, out, c, r));
    out->error = NULL;
    return sl_expr_free_decimals(&out->expr, value, &out->params, most, a, c->expr);
}
