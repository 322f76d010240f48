/* Least squares of y = scale m(eta), eta linear in known columns, in the space of y.
 *
 * A product is linear in its exponents after a logarithm, but the logarithm of a noisy y is biased
 * and of unequal variance. So the weighted linear fit of T(y) is only the start; Gauss-Newton on
 * the residuals of y itself follows. One step is a linear problem again with columns d mu/d eta
 * times the old ones: m x m normal equations, the same that the choice of simple coefficients works
 * on (noise_simplify.c).
 *
 * Normal equations square the condition number. Columns are scaled to unit length first, and fit/
 * fits the result once more before it is reported. */
#include <math.h>
#include <string.h>

#include "search/noise_impl.h"

typedef sl_search__noise_equations equations;

/* mu = m(eta) and its derivative. Outside the domain roots are those of a small positive number:
 * the fit may pass there, the result is verified in all rows. */
static inline void respond(double *mu, double *slope, sl_search__noise_link link, double eta) {
    const double small = 1e-12;
    double u;
    switch (link) {
    case SL_NOISE__LOG: *mu = *slope = sl_exp(eta > 300 ? 300 : eta); return;
    case SL_NOISE__INVERSE: *mu = 1 / eta, *slope = -*mu * *mu; return;
    case SL_NOISE__SQUARE:
        u = sqrt(eta > small ? eta : small);
        *mu = u, *slope = 0.5 / u;
        return;
    case SL_NOISE__INVERSE_SQUARE:
        u = eta > small ? eta : small;
        *mu = 1 / sqrt(u), *slope = -0.5 * *mu / u;
        return;
    default: *mu = eta, *slope = 1;
    }
}

/* The same of n values. Most models are products: their exponentials are computed at once. */
static void respond_all(double *mu, double *slope, const double *eta, sl_search__noise_link link,
                        int n) {
    if (link != SL_NOISE__LOG) {
        for (int i = 0; i < n; i++) respond(&mu[i], &slope[i], link, eta[i]);
        return;
    }
    for (int i = 0; i < n; i++) slope[i] = eta[i] > 300 ? 300 : eta[i];
    sl_exp_array(mu, slope, n);
    memcpy(slope, mu, (size_t)n * sizeof *slope);
}

/* T(y) and its derivative; false where T is not defined. */
static inline bool transform(double *t, double *slope, sl_search__noise_link link, double y) {
    switch (link) {
    case SL_NOISE__LOG: *t = sl_log(y), *slope = 1 / y; return y > 0;
    case SL_NOISE__INVERSE: *t = 1 / y, *slope = 1 / (y * y); return y != 0;
    case SL_NOISE__SQUARE: *t = y * y, *slope = 2 * fabs(y); return y > 0;
    case SL_NOISE__INVERSE_SQUARE: *t = 1 / (y * y), *slope = 2 / (y * y * y); return y > 0;
    default: *t = y, *slope = 1; return true;
    }
}

static double row_weight(const sl_search__noise_model *m, int i) {
    return m->weight ? m->weight[i] : 1;
}
static double row_scale(const sl_search__noise_model *m, int i) {
    return m->scale ? m->scale[i] : 1;
}

static void linear_part(double *eta, const sl_search__noise_model *m, const double *coefficient) {
    for (int i = 0; i < m->rows; i++) eta[i] = 0;
    for (int j = 0; j < m->columns; j++) {
        double b = coefficient[j];
        if (b == 0) continue;
        const double *c = m->column[j];
        for (int i = 0; i < m->rows; i++) eta[i] += b * c[i];
    }
}

/* residual and slope by row, both weighted, at these coefficients; returns the sum of squares. */
static double residuals(double *residual, double *slope, double *eta,
                        const sl_search__noise_model *m, const double *coefficient) {
    double rss = 0, *mu = residual;
    linear_part(eta, m, coefficient);
    respond_all(mu, slope, eta, m->link, m->rows);
    for (int i = 0; i < m->rows; i++) {
        const double w = row_weight(m, i), s = row_scale(m, i);
        residual[i] = w * (m->y[i] - s * mu[i]);
        slope[i] *= w * s;
    }
    for (int i = 0; i < m->rows; i++) rss += residual[i] * residual[i];
    return isfinite(rss) ? rss : INFINITY;
}

void sl_search__noise_predict(double *mu, const sl_search__noise_model *m,
                              const sl_search__noise_fit *f) {
    linear_part(mu, m, f->coefficient);
    for (int i = 0; i < m->rows; i++) {
        double slope;
        respond(&mu[i], &slope, m->link, mu[i]);
        mu[i] *= row_scale(m, i);
    }
}

/* Normal equations of residual = sum_j delta_j slope column_j, over columns that are not fixed. */
static void assemble(equations *e, const sl_search__noise_model *m, const bool *fixed,
                     const double *residual, const double *slope, double *work) {
    e->n = 0;
    for (int j = 0; j < m->columns; j++) {
        if (!fixed[j]) e->column[e->n++] = j;
    }
    for (int a = 0; a < e->n; a++) {
        const double *c = m->column[e->column[a]];
        double right = 0;
        for (int i = 0; i < m->rows; i++) {
            work[i] = slope[i] * c[i];
            right += work[i] * residual[i];
            work[i] *= slope[i];
        }
        e->right[a] = right;
        for (int b = 0; b <= a; b++) {
            const double *d = m->column[e->column[b]];
            double sum[4] = { 0 };
            int i = 0;
            for (; i + 4 <= m->rows; i += 4) {
                for (int k = 0; k < 4; k++) sum[k] += work[i + k] * d[i + k];
            }
            for (; i < m->rows; i++) sum[0] += work[i] * d[i];
            e->matrix[a][b] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
}

/* x[] := the solution, by Cholesky of the matrix scaled to a diagonal of 1. Directions that the
 * data do not determine get 0. */
static void solve(double *x, equations *e) {
    double scale[SL_NOISE__COLUMNS];
    for (int a = 0; a < e->n; a++) {
        double d = e->matrix[a][a];
        scale[a] = d > 0 && isfinite(d) ? 1 / sqrt(d) : 0;
    }
    for (int a = 0; a < e->n; a++) {
        for (int b = 0; b <= a; b++) {
            double sum = a == b ? 1 : e->matrix[a][b] * scale[a] * scale[b];
            for (int k = 0; k < b; k++) sum -= e->matrix[a][k] * e->matrix[b][k];
            if (a == b)
                e->matrix[a][a] = sum > 1e-13 && scale[a] > 0 ? sqrt(sum) : 0;
            else
                e->matrix[a][b] = e->matrix[b][b] > 0 ? sum / e->matrix[b][b] : 0;
        }
    }
    for (int a = 0; a < e->n; a++) {
        double sum = e->right[a] * scale[a];
        for (int k = 0; k < a; k++) sum -= e->matrix[a][k] * x[k];
        x[a] = e->matrix[a][a] > 0 ? sum / e->matrix[a][a] : 0;
    }
    for (int a = e->n - 1; a >= 0; a--) {
        double sum = x[a];
        for (int k = a + 1; k < e->n; k++) sum -= e->matrix[k][a] * x[k];
        x[a] = e->matrix[a][a] > 0 ? sum / e->matrix[a][a] : 0;
    }
    for (int a = 0; a < e->n; a++) x[a] *= scale[a];
}

/* The weighted linear fit of T(y); fixed columns are taken to the other side. */
static void fit_transformed(sl_search__noise_fit *f, const sl_search__noise_model *m,
                            double *scratch) {
    double *residual = scratch, *slope = scratch + m->rows, *work = scratch + 2 * m->rows;
    equations e;
    double x[SL_NOISE__COLUMNS];
    for (int j = 0; j < m->columns; j++) {
        if (!f->fixed[j]) f->coefficient[j] = 0;
    }
    linear_part(work, m, f->coefficient);
    double typical = 0;
    for (int i = 0; i < m->rows; i++) {
        double v = m->y[i] / row_scale(m, i);
        typical += v * v;
    }
    typical = sqrt(typical / m->rows);
    for (int i = 0; i < m->rows; i++) {
        double t = 0, d = 1, s = row_scale(m, i), v = m->y[i] / s;
        // the slope of the root's transform is 0 at 0: there the weight would be infinite
        if (m->link == SL_NOISE__SQUARE && v > 0) v = SL_MAX(v, 0.02 * typical);
        bool known = transform(&t, &d, m->link, v) && isfinite(t) && d > 0 && isfinite(d);
        double w = known ? row_weight(m, i) * fabs(s) / d : 0;
        residual[i] = known ? w * (t - work[i]) : 0;
        slope[i] = w;
    }
    assemble(&e, m, f->fixed, residual, slope, work);
    solve(x, &e);
    for (int a = 0; a < e.n; a++) f->coefficient[e.column[a]] = x[a];
}

void sl_search__noise_fit_run(sl_search__noise_fit *f, const sl_search__noise_model *m, bool start,
                              int steps, double *scratch) {
    double *residual = scratch, *slope = scratch + m->rows, *eta = scratch + 2 * m->rows;
    double *work = scratch + 3 * m->rows, x[SL_NOISE__COLUMNS], moved[SL_NOISE__COLUMNS];
    equations e;
    if (start) fit_transformed(f, m, scratch);
    f->rss = residuals(residual, slope, eta, m, f->coefficient);
    for (int step = 0; step < steps && isfinite(f->rss) && f->rss > m->least; step++) {
        assemble(&e, m, f->fixed, residual, slope, work);
        if (!e.n) break;
        solve(x, &e);
        double before = f->rss, part = 1;
        for (int half = 0;; half++, part *= 0.25) {
            for (int j = 0; j < m->columns; j++) moved[j] = f->coefficient[j];
            for (int a = 0; a < e.n; a++) moved[e.column[a]] += part * x[a];
            double rss = residuals(residual, slope, eta, m, moved);
            if (rss < f->rss) {
                memcpy(f->coefficient, moved, sizeof moved[0] * (size_t)m->columns);
                f->rss = rss;
                break;
            }
            if (half == 5) return;
        }
        if (f->rss > before * (1 - 1e-5)) break;
        if (m->link == SL_NOISE__IDENTITY) break; // one step is exact
    }
}

void sl_search__noise_equations_at(equations *e, const sl_search__noise_model *m,
                                   const sl_search__noise_fit *f, double *scratch) {
    double *residual = scratch, *slope = scratch + m->rows, *work = scratch + 2 * m->rows;
    residuals(residual, slope, work, m, f->coefficient);
    assemble(e, m, f->fixed, residual, slope, work);
}
