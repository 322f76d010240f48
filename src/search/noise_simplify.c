/* Simple coefficients, by description length.
 *
 * Around its least squares a fit's sum of squares is a quadratic form, so the price of any value v
 * of a coefficient b is known without a further fit: (v - b)^2 / C_bb more, C the inverse of the
 * normal matrix, with the others moved to their best places given v. Every step tries all simple
 * values of all free coefficients, takes the one that shortens the description most, and updates C
 * by a rank-one correction. A value of 0 drops the column and its price.
 *
 * Bits: of residuals, n/2 log2(rss/n) or chi-square where sigma is known; of coefficients, the
 * table below. A free number costs the digits that its standard error leaves, at least log2(n)/2,
 * as in fit/price.c; exponents of laws are small rationals, so a free exponent costs a
 * surcharge. */
#include <math.h>

#include "search/noise_impl.h"

typedef struct simple_value {
    double value, bits;
} simple_value;

static const simple_value exponents[] = {
    { 0, 0.5 },  { 1, 1.5 },      { 2, 3 },        { 0.5, 3.5 }, { 3, 4.5 }, { 1.5, 5 },
    { 4, 5.5 },  { 1 / 3., 6.5 }, { 2 / 3., 6.5 }, { 2.5, 7 },   { 5, 8 },   { 6, 8 },
    { 0.25, 8 }, { 0.75, 8.5 },   { 4 / 3., 8.5 }, { 3.5, 9 },
};
static const simple_value odd_exponents[] = { { 1, 1.5 }, { 3, 5 } };
static const simple_value even_exponents[] = { { 0, 0.5 }, { 2, 3 }, { 4, 6 } };
static const simple_value rates[] = { { 0, 0.5 }, { 1, 2 },    { 0.5, 3 },
                                      { 2, 3 },   { 0.25, 5 }, { 4, 5 } };
static const simple_value coefficients[] = { { 0, 0.5 }, { 1, 2 }, { 2, 4 }, { 0.5, 4 } };
static const simple_value factors[] = { { 0, 1 } };

static const struct {
    const simple_value *values;
    int n;
    double surcharge; // bits of a free number beyond its precision
} tables[] = {
    [SL_NOISE__FACTOR] = { factors, SL_LEN(factors), 1 },
    [SL_NOISE__COEFFICIENT] = { coefficients, SL_LEN(coefficients), 2 },
    [SL_NOISE__EXPONENT] = { exponents, SL_LEN(exponents), 10 },
    [SL_NOISE__ODD] = { odd_exponents, SL_LEN(odd_exponents), 60 },
    [SL_NOISE__EVEN] = { even_exponents, SL_LEN(even_exponents), 60 },
    [SL_NOISE__RATE] = { rates, SL_LEN(rates), 2 },
};

double sl_search__noise_price(sl_search__noise_kind kind, double value, double error, int rows) {
    const double most = 52; // digits of a double
    if (error == 0) {
        for (int k = 0; k < tables[kind].n; k++) {
            if (fabs(value) == tables[kind].values[k].value) return tables[kind].values[k].bits;
        }
    }
    // the error of a logarithm is a part of the factor
    double digits = log2(kind == SL_NOISE__FACTOR ? 1 / error : fabs(value) / error);
    double least = 0.5 * log2(rows);
    return (digits > least ? SL_MIN(digits, most) : least) + tables[kind].surcharge;
}

double sl_search__noise_residual_bits(const sl_search__noise_model *m, double rss) {
    if (rss < m->least) rss = m->least;
    if (m->sigma > 0) return rss / (2 * m->sigma * m->sigma * 0.69314718055994531);
    return 0.5 * m->rows * log2(rss / m->rows);
}

/* C := inverse of the normal matrix, full. Columns that the data do not determine are fixed at 0
 * first. */
static void invert(sl_search__noise_equations *e, sl_search__noise_fit *f) {
    int n = e->n;
    double scale[SL_NOISE__COLUMNS];
    for (int a = 0; a < n; a++) {
        scale[a] = e->matrix[a][a] > 0 ? 1 / sqrt(e->matrix[a][a]) : 0;
        for (int b = 0; b < a; b++) e->matrix[b][a] = e->matrix[a][b];
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) e->matrix[a][b] *= scale[a] * scale[b];
    }
    // Gauss-Jordan, one pivot after the other; a column without one stays as it is
    bool swept[SL_NOISE__COLUMNS];
    for (int k = 0; k < n; k++) {
        double pivot = e->matrix[k][k];
        swept[k] = pivot > 1e-12;
        if (!swept[k]) continue;
        for (int b = 0; b < n; b++) e->matrix[k][b] /= b == k ? 1 : pivot;
        for (int a = 0; a < n; a++) {
            double part = e->matrix[a][k];
            if (a == k) continue;
            for (int b = 0; b < n; b++) {
                if (b != k) e->matrix[a][b] -= part * e->matrix[k][b];
            }
            e->matrix[a][k] = -part / pivot;
        }
        e->matrix[k][k] = 1 / pivot;
    }
    int kept = 0;
    for (int a = 0; a < n; a++) {
        if (!swept[a]) {
            f->fixed[e->column[a]] = true;
            f->coefficient[e->column[a]] = 0;
            continue;
        }
        int w = 0;
        for (int b = 0; b < n; b++) {
            if (swept[b]) e->matrix[kept][w++] = e->matrix[a][b] * scale[a] * scale[b];
        }
        e->column[kept++] = e->column[a];
    }
    e->n = kept;
}

typedef struct step {
    int at; // place among the free columns
    double value, gain, rss;
} step;

/* Standard error of free coefficient a, of which the normal equations have n. */
static double error_of(const sl_search__noise_equations *e, const sl_search__noise_model *m,
                       double rss, int a) {
    double variance =
        m->sigma > 0 ? m->sigma * m->sigma : SL_MAX(rss, m->least) / SL_MAX(m->rows - e->n, 1);
    return SL_MAX(sqrt(variance * e->matrix[a][a]), 1e-300);
}

/* Bits of column j with this coefficient, column included; error 0: it is fixed. */
static double column_bits(const sl_search__noise_model *m, int j, double value, double error) {
    double bits = sl_search__noise_price(m->kind[j], value, error, m->rows);
    return error == 0 && value == 0 ? bits : bits + m->price[j];
}

/* The step that shortens the description most; drop: among values of 0. */
static step best_step(const sl_search__noise_equations *e, const sl_search__noise_model *m,
                      const sl_search__noise_fit *f, bool drop) {
    step best = { .at = -1, .gain = 1e-9 };
    double now = sl_search__noise_residual_bits(m, f->rss);
    for (int a = 0; a < e->n; a++) {
        int j = e->column[a];
        double b = f->coefficient[j], paid = column_bits(m, j, b, error_of(e, m, f->rss, a));
        for (int k = 0; k < tables[m->kind[j]].n; k++) {
            double v = tables[m->kind[j]].values[k].value;
            if (drop && v != 0) continue;
            if (b < 0) v = 0 - v;
            double rss = f->rss + (v - b) * (v - b) / e->matrix[a][a];
            double gain =
                now + paid - sl_search__noise_residual_bits(m, rss) - column_bits(m, j, v, 0);
            if (gain > best.gain) best = (step){ a, v, gain, rss };
        }
    }
    return best;
}

/* Coefficient `at` := value, the others to their best places, and C without its row and column. */
static void take(sl_search__noise_equations *e, sl_search__noise_fit *f, const step *s) {
    int k = s->at, j = e->column[k];
    double pivot = e->matrix[k][k], by = (s->value - f->coefficient[j]) / pivot;
    for (int a = 0; a < e->n; a++) {
        if (a != k) f->coefficient[e->column[a]] += e->matrix[a][k] * by;
    }
    f->coefficient[j] = s->value;
    f->fixed[j] = true;
    f->rss = s->rss;
    for (int a = 0; a < e->n; a++) {
        if (a == k) continue;
        double part = e->matrix[a][k] / pivot;
        for (int b = 0; b < e->n; b++) {
            if (b != k) e->matrix[a][b] -= part * e->matrix[k][b];
        }
    }
    e->n--;
    for (int a = 0; a < e->n; a++) {
        int from = a < k ? a : a + 1;
        e->column[a] = e->column[from];
        for (int b = 0; b < e->n; b++) e->matrix[a][b] = e->matrix[from][b < k ? b : b + 1];
    }
}

static void count_bits(sl_search__noise_fit *f, const sl_search__noise_model *m,
                       const sl_search__noise_equations *e) {
    f->price = 0;
    for (int j = 0; j < m->columns; j++) {
        if (f->fixed[j]) f->price += column_bits(m, j, f->coefficient[j], 0);
    }
    for (int a = 0; a < e->n; a++) {
        int j = e->column[a];
        f->price += column_bits(m, j, f->coefficient[j], error_of(e, m, f->rss, a));
    }
    f->bits = sl_search__noise_residual_bits(m, f->rss) + f->price;
    if (!isfinite(f->bits)) f->bits = INFINITY;
}

/* Greedy steps until none shortens the description. A greedy step may prevent a better result, as
 * fixing the coefficient of a needless column at 1 does: with drop_first, columns are dropped
 * first, then coefficients simplified. */
static void walk(sl_search__noise_equations *e, const sl_search__noise_model *m,
                 sl_search__noise_fit *f, bool drop_first) {
    for (int drop = drop_first; drop >= 0; drop--) {
        for (step s = best_step(e, m, f, drop); s.at >= 0; s = best_step(e, m, f, drop))
            take(e, f, &s);
    }
    count_bits(f, m, e);
}

void sl_search__noise_simplify(sl_search__noise_fit *f, const sl_search__noise_model *m, int steps,
                               double *scratch) {
    sl_search__noise_equations e;
    if (!isfinite(f->rss)) {
        f->bits = f->price = INFINITY;
        return;
    }
    sl_search__noise_equations_at(&e, m, f, scratch);
    invert(&e, f);
    sl_search__noise_fit first = *f;
    sl_search__noise_equations left = e;
    walk(&e, m, f, false);
    walk(&left, m, &first, true);
    if (first.bits < f->bits) {
        *f = first;
        e = left;
    }
    sl_search__noise_fit_run(f, m, false, steps, scratch);
    count_bits(f, m, &e);
}
