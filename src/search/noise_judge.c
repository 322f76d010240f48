/* Does a formula leave nothing but noise?
 *
 * sigma known: its chi-square is within what noise of that size gives in all but one case in a
 * thousand.
 *
 * sigma not known: residuals, divided by the formula's value where errors are relative, have no
 * structure. Products of residuals of neighbouring rows have mean 0, measured against the standard
 * deviation for independent ones. Neighbours are nearest in all inputs, in each input alone, and in
 * the formula's value: where y is a function of one combination of inputs, so is the residual of a
 * wrong function of it. Where y is a product, x2 g(x1), so is that residual, and neighbours in x1
 * agree in sign only relative to the formula's. Nor do residuals follow a polynomial of second
 * degree. Where y has few digits it is enough that residuals are no larger than its rounding and
 * that of the inputs.
 *
 * Either way the formula needs evidence of at least SL_NOISE__EVIDENCE bits. */
#include <math.h>

#include "num/num.h"
#include "search/lattice_impl.h"
#include "search/noise_impl.h"

static const double PROBABILITY = SL_SEARCH__NOISE_PROBABILITY;
enum { ROWS_MAX = 1000 }; // rows in which neighbours are searched

/* z-score of the mean product of neighbours along one input. */
static double along_input(const double *r, const double *x, int n, sl_keyed *room) {
    double products = 0, squares = 0;
    for (int i = 0; i < n; i++) room[i] = (sl_keyed){ x[i], i };
    sl_num_sort_keyed(room, n);
    for (int i = 0; i + 1 < n; i++) {
        double p = r[room[i].at] * r[room[i + 1].at];
        products += p, squares += p * p;
    }
    return squares > 0 ? products / sqrt(squares) : 0;
}

/* The same for the nearest row in all inputs, in units of their spread. A pair that is nearest both
 * ways counts once. */
static double among_nearest(const double *r, const double *const *x, int inputs, int n,
                            int *nearest) {
    double scale[SL_DATA_MAX_INPUTS], products = 0, squares = 0;
    for (int v = 0; v < inputs; v++) {
        double s = sqrt(sl_num_variance(x[v], n));
        scale[v] = s > 0 ? 1 / s : 0;
    }
    for (int i = 0; i < n; i++) {
        double least = INFINITY;
        nearest[i] = -1;
        for (int k = 0; k < n; k++) {
            double d = 0;
            for (int v = 0; v < inputs && d < least; v++) {
                double z = (x[v][i] - x[v][k]) * scale[v];
                d += z * z;
            }
            if (k != i && d < least) least = d, nearest[i] = k;
        }
    }
    for (int i = 0; i < n; i++) {
        int k = nearest[i];
        if (k < 0 || (k < i && nearest[k] == i)) continue;
        products += r[i] * r[k], squares += r[i] * r[k] * r[i] * r[k];
    }
    return squares > 0 ? products / sqrt(squares) : 0;
}

/* Columns of all monomials of degree 2, of inputs of mean 0 and variance 1; as many as are at
 * most a quarter of the rows, linear ones first. */
static sl_status polynomial_columns(int *out, const double **column, sl_arena *a,
                                    const double *const *x, int inputs, int n) {
    double *unit[SL_DATA_MAX_INPUTS];
    int columns = 0;
    for (int v = 0; v < inputs; v++) {
        double mean = sl_num_mean(x[v], n), s = sqrt(sl_num_variance(x[v], n));
        unit[v] = sl_arena_alloc(a, (size_t)n * sizeof(double));
        if (!unit[v]) return sl_fail_memory((size_t)n, sizeof(double), "a polynomial");
        for (int i = 0; i < n; i++) unit[v][i] = s > 0 ? (x[v][i] - mean) / s : 0;
        if (columns < n / 4) column[columns++] = unit[v];
    }
    for (int v = 0; v < inputs; v++) {
        for (int w = 0; w <= v && columns < n / 4; w++) {
            double *c = sl_arena_alloc(a, (size_t)n * sizeof *c);
            if (!c) return sl_fail_memory((size_t)n, sizeof *c, "a polynomial");
            for (int i = 0; i < n; i++) c[i] = unit[v][i] * unit[w][i];
            column[columns++] = c;
        }
    }
    *out = columns;
    return SL_OK;
}

/* *out := does a polynomial of the inputs explain more of the residuals than of noise? By the
 * likelihood ratio with Bartlett's factor. */
static sl_status follows_polynomial(bool *out, const double *r, const double *const *x, int inputs,
                                    int n, double probability, sl_arena *a) {
    enum { COLUMNS = SL_DATA_MAX_INPUTS * (SL_DATA_MAX_INPUTS + 3) / 2 };
    const double *column[COLUMNS];
    double coefficient[COLUMNS], squares = 0;
    sl_lsq fit;
    int columns;
    *out = false;
    SL_TRY(polynomial_columns(&columns, column, a, x, inputs, n));
    for (int i = 0; i < n; i++) squares += r[i] * r[i];
    if (!columns) return SL_OK;
    SL_TRY(sl_num_lsq_fit(&fit, coefficient, NULL, a, column, r, NULL, n, columns));
    if (!fit.rank || !(fit.sse > 0)) return SL_OK;
    double statistic = (n - 1 - 0.5 * (fit.rank + 1)) * log(squares / fit.sse);
    *out = sl_num_chi2_tail(statistic, fit.rank) < probability;
    return SL_OK;
}

/* out := the residuals, negated where the formula is negative; false: it has one sign. */
static bool sign_residuals(double *out, const double *r, const double *fitted, int n) {
    int negative = 0;
    for (int i = 0; i < n; i++) {
        out[i] = fitted[i] < 0 ? -r[i] : r[i];
        negative += fitted[i] < 0;
    }
    return negative > 0 && negative < n;
}

sl_status sl_search__noise_has_structure(bool *out, const double *r, const double *const *x,
                                         int inputs, const double *fitted, int n,
                                         double probability, sl_arena *scratch) {
    size_t mark = sl_arena_mark(scratch);
    sl_keyed *room = sl_arena_alloc(scratch, (size_t)n * sizeof *room);
    int *nearest = sl_arena_alloc(scratch, (size_t)n * sizeof *nearest);
    double *relative = sl_arena_alloc(scratch, (size_t)n * sizeof *relative);
    if (!room || !nearest || !relative) return sl_fail_memory((size_t)n, sizeof *room, "residuals");
    const bool both_signs = sign_residuals(relative, r, fitted, n);
    const int tests = inputs + 3 + (both_signs ? inputs : 0);
    const double each = probability / tests, limit = -sl_num_normal_quantile(each);
    bool found = along_input(r, fitted, n, room) > limit;
    for (int v = 0; v < inputs && !found; v++) found = along_input(r, x[v], n, room) > limit;
    for (int v = 0; v < inputs && both_signs && !found; v++)
        found = along_input(relative, x[v], n, room) > limit;
    if (!found) found = among_nearest(r, x, inputs, n, nearest) > limit;
    if (!found) SL_TRY(follows_polynomial(&found, r, x, inputs, n, each, scratch));
    sl_arena_rewind(scratch, mark);
    *out = found;
    return SL_OK;
}

/* squares[] += the square of what one unit of the last digit of input v moves the formula by, in
 * the first n rows. */
static sl_status add_input_units(double *squares, sl_arena *a, const sl_search__job *j,
                                 const sl_search_formula *f, const double *fitted, int v, int n) {
    const sl_dataset *p = j->all;
    const sl_digits digits = sl_search__digits(p->x[v], p->rows);
    const double *x[SL_DATA_MAX_INPUTS];
    if (digits.kind == SL_DIGITS_FULL) return SL_OK;
    double *moved = sl_arena_alloc(a, 2 * (size_t)n * sizeof *moved);
    if (!moved) return sl_fail_memory(2 * (size_t)n, sizeof *moved, "residuals");
    double *got = moved + n;
    for (int i = 0; i < n; i++) moved[i] = p->x[v][i] + sl_search__last_unit(digits, p->x[v][i]);
    for (int u = 0; u < p->inputs; u++) x[u] = u == v ? moved : p->x[u];
    SL_TRY(sl_expr_eval(got, a, f->fit.expr, x, n, f->fit.value));
    for (int i = 0; i < n; i++) {
        const double d = got[i] - fitted[i];
        if (isfinite(d)) squares[i] += d * d;
    }
    return SL_OK;
}

/* *out := are residuals no larger than the rounding of y, and of the inputs where
 * they have few digits, makes them? Roundings are uniform, so chi-square is only a bound, on the
 * safe side. */
static sl_status is_rounding(bool *out, sl_arena *a, const sl_search__job *j,
                             const sl_search_formula *f, const double *fitted, int n) {
    double units[ROWS_MAX], squares = 0;
    *out = false;
    if (j->all->sigma || j->digits.kind == SL_DIGITS_FULL) return SL_OK;
    for (int i = 0; i < n; i++) {
        const double unit = sl_search__last_unit(j->digits, j->all->y[i]);
        if (!(unit > 0)) return SL_OK;
        units[i] = unit * unit;
    }
    for (int v = 0; v < j->all->inputs; v++) SL_TRY(add_input_units(units, a, j, f, fitted, v, n));
    for (int i = 0; i < n; i++) {
        const double d = j->all->y[i] - fitted[i];
        squares += 12 * d * d / units[i];
    }
    *out = sl_num_chi2_tail(squares, n) > PROBABILITY;
    return SL_OK;
}

/* Weighted residuals and the formula's values in the first rows; the sum of squares over all. */
static sl_status residuals(double *r, double *fitted, double *squares, sl_arena *a,
                           const sl_dataset *p, const sl_search_formula *f) {
    double *got = sl_arena_alloc(a, 2 * (size_t)p->rows * sizeof *got);
    if (!got) return sl_fail_memory(2 * (size_t)p->rows, sizeof *got, "residuals");
    double *scale = got + p->rows;
    SL_TRY(sl_expr_eval(got, a, f->fit.expr, p->x, p->rows, f->fit.value));
    if (f->bits.relative > 0) sl_fit_relative_scale(scale, got, p);
    *squares = 0;
    for (int64_t i = 0; i < p->rows; i++) {
        double unit = f->bits.relative > 0 ? scale[i] : p->sigma ? p->sigma[i] : 1;
        double d = (p->y[i] - got[i]) / unit;
        if (i < ROWS_MAX) r[i] = d, fitted[i] = got[i];
        *squares += d * d;
    }
    return SL_OK;
}

sl_status sl_search__judge_noise(double *sigma, bool *within, const sl_search__job *j,
                                 const sl_search_formula *f, double probability) {
    const sl_dataset *p = j->all;
    sl_arena a = { 0 };
    double r[ROWS_MAX], fitted[ROWS_MAX], squares;
    *within = false;
    sl_status st = residuals(r, fitted, &squares, &a, p, f);
    if (st == SL_OK && isfinite(squares)) {
        double freedom = SL_MAX((double)(p->rows - f->fit.params), 1);
        bool known = p->sigma ? p->sigma_absolute : j->o->sigma > 0;
        *sigma = known && !p->sigma ? j->o->sigma : sqrt(squares / freedom);
        if (known) {
            double unit = p->sigma ? 1 : j->o->sigma;
            *within = sl_num_chi2_tail(squares / (unit * unit), freedom) > probability;
        } else {
            int n = (int)SL_MIN(p->rows, ROWS_MAX);
            bool structure = false;
            st = is_rounding(within, &a, j, f, fitted, n);
            if (st == SL_OK && !*within)
                st = sl_search__noise_has_structure(&structure, r, p->x, p->inputs, fitted, n,
                                                    probability, &a);
            *within = *within || !structure;
        }
        if (f->evidence < SL_NOISE__EVIDENCE || p->rows < f->fit.params + 3) *within = false;
    }
    if (f->exact) *within = true;
    sl_arena_clear(&a);
    return st;
}

/* ---------------------------------------------------------------- certainty ----------------- */

/* Skewness and kurtosis of normal numbers (the test of Jarque and Bera)? */
static bool is_normal(const double *r, int n, double probability) {
    double mean = 0, m2 = 0, m3 = 0, m4 = 0;
    for (int i = 0; i < n; i++) mean += r[i] / n;
    for (int i = 0; i < n; i++) {
        double d = r[i] - mean;
        m2 += d * d / n, m3 += d * d * d / n, m4 += d * d * d * d / n;
    }
    double skewness = m3 / pow(m2, 1.5), excess = m4 / (m2 * m2) - 3;
    return sl_num_chi2_tail(n / 6.0 * (skewness * skewness + excess * excess / 4), 2) > probability;
}

/* Is a constant nearly a simple fraction? The true constant may be that fraction. */
static bool has_nearly_simple(const sl_fit *f) {
    static const double NEARLY = 1e-5;
    enum { DENOMINATORS = 12 };
    for (int k = 0; k < f->params; k++)
        for (int den = 1; den <= DENOMINATORS; den++) {
            const double v = f->value[k], simple = nearbyint(v * den) / den;
            if (v != simple && fabs(v - simple) <= NEARLY * fabs(v)) return true;
        }
    return false;
}

/* The same for what integer constants make inside functions: 4 sqrt(6), 3 exp(-2). */
static bool has_nearly_exact(const sl_fit *f) {
    static const double NEARLY = 1e-5, BITS = 12;
    sl_search__lattice_number n;
    for (int k = 0; k < f->params; k++)
        if (sl_search__lattice_near_number(&n, f->value[k], NEARLY * fabs(f->value[k]), BITS))
            return true;
    return false;
}

sl_status sl_search__noise_is_certain(bool *out, const sl_search__job *j,
                                      const sl_search_formula *f) {
    static const double DOUBT = 0.05, R2 = 0.9, COMPUTED = 3e-6; // six digits and more
    enum { LAST_BEFORE_EXACT = 2 }; // level under noise that comes after them (run.c)
    enum { CONSTANTS = 3 };
    const sl_dataset *p = j->all;
    const bool measured = j->precision > COMPUTED || p->sigma || j->o->sigma > 0;
    sl_arena a = { 0 };
    double r[ROWS_MAX], fitted[ROWS_MAX], squares;
    bool structure = true;
    *out = measured;
    if (measured || f->fit.params > CONSTANTS || f->fit.r2 < R2) return SL_OK;
    if (j->o->grammar && has_nearly_simple(&f->fit)) return SL_OK; // exact steps are left
    if (j->computed && has_nearly_exact(&f->fit)) return SL_OK;
    int n = (int)SL_MIN(p->rows, ROWS_MAX);
    sl_status st = residuals(r, fitted, &squares, &a, p, f);
    if (st == SL_OK) st = is_rounding(out, &a, j, f, fitted, n);
    if (*out)
        structure = false;
    else if (j->computed && j->progress.level < LAST_BEFORE_EXACT)
        structure = true; // errors larger than the rounding of y: exact steps are left
    else if (st == SL_OK && squares > 0 && is_normal(r, n, DOUBT))
        st = sl_search__noise_has_structure(&structure, r, p->x, p->inputs, fitted, n, DOUBT, &a);
    *out = !structure;
    sl_arena_clear(&a);
    return st;
}
