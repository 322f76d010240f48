/* skeleton_clear_rounded - y D = N where y is rounded.
 *
 * The error of a row is y D times the relative rounding of y, so its size depends on D. With D and
 * the error in one metric, D of length 1 leaves a square of at most 1 of y D beside N: the smallest
 * eigenvalue of the matrix of what the columns of y D leave. The bound holds with any weights of
 * rows; with those of the previous D, all rows count alike, and what is left is compared with
 * uniform errors, whose squares are 1/3 in the mean.
 *
 * Constants of divisors are then known to their standard errors alone. They become exact numbers
 * one at a time, the one whose agreement is least likely by chance first, and the others are fitted
 * again, as in lattice_snap.c. */
#include <math.h>
#include <string.h>

#include "search/lattice_impl.h"
#include "search/skeleton_impl.h"

typedef sl_search__skeleton_cleared cleared;

enum {
    CLEARED = SL_SKELETON__CLEARED,
    ROWS = SL_SKELETON__ROWS,
    TURNS = 4,  // of weights
    SOLVES = 3, // of the eigenvector
    FREEDOM = 8,
};
static const double DEPENDENT = 1e-10, DEPENDENT_BELOW = 1e-7; // parts of a column
/* Squares of a uniform error: mean, standard deviation, and how many of these are allowed. */
static const double MEAN = 1.0 / 3, DEVIATION = 0.3, DEVIATIONS = 5;

double sl_search__skeleton_rounding_limit(double freedom) {
    return MEAN * freedom + DEVIATIONS * DEVIATION * sqrt(freedom);
}

/* ---------------------------------------------------------------- dependence ---------------- */

/* v as the next of an orthonormal basis of n vectors, unless it depends on them. */
static bool push(double *basis, int n, const cleared *c, double least) {
    const sl_search__skeleton_kernels *kernels = c->s->kernels;
    double *v = basis + n * c->rows, size = 0;
    for (int r = 0; r < c->rows; r++) size += fabs(v[r]);
    if (!(size < 1e60 && size > 1e-60)) return false;
    const double whole = kernels->deflate(v, basis, 0, c->rows);
    double left = kernels->deflate(v, basis, n, c->rows);
    if (!(left > least * least * whole)) return false;
    left = kernels->deflate(v, basis, n, c->rows);
    const double over = 1 / sqrt(left);
    for (int r = 0; r < c->rows; r++) v[r] *= over;
    return true;
}

/* a := its factor of Cholesky less `shift` in the diagonal; false: not positive. */
static bool factorise(double (*a)[CLEARED], int n, double shift) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = a[i][k] - (i == k ? shift : 0);
            for (int j = 0; j < k; j++) sum -= a[i][j] * a[k][j];
            if (i == k && !(sum > 0)) return false;
            a[i][k] = i == k ? sqrt(sum) : sum / a[k][k];
        }
    return true;
}

static void solve(double *x, double (*a)[CLEARED], int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= a[j][i] * x[j];
        x[i] /= a[i][i];
    }
}

/* What the columns of y D leave beside N, with these weights: the functions D as an orthonormal
 * basis, and the products of what each leaves. */
typedef struct remains {
    int n;
    double basis[(CLEARED + 1) * ROWS];
    double product[CLEARED][CLEARED];
} remains;

static void find_remains(remains *m, cleared *c, const double *weight) {
    const sl_skeletons *s = c->s;
    double left[CLEARED][ROWS];
    c->n = 0;
    for (int i = 0; i < c->above.count; i++) {
        double *v = c->basis + c->n * c->rows;
        for (int r = 0; r < c->rows; r++)
            v[r] = c->above.value[i][r] * weight[r] / (s->rounding[r] * fabs(s->y[r]));
        c->n += push(c->basis, c->n, c, DEPENDENT);
    }
    m->n = 0;
    for (int i = 0; i < c->below.count; i++) {
        double *v = m->basis + m->n * c->rows;
        for (int r = 0; r < c->rows; r++) v[r] = c->below.value[i][r] * weight[r];
        m->n += push(m->basis, m->n, c, DEPENDENT_BELOW);
    }
    for (int i = 0; i < m->n; i++) {
        const double *b = m->basis + i * c->rows;
        for (int r = 0; r < c->rows; r++)
            left[i][r] = (s->y[r] < 0 ? -b[r] : b[r]) / s->rounding[r];
        for (int pass = 0; pass < 2; pass++)
            (void)s->kernels->deflate(left[i], c->basis, c->n, c->rows);
        for (int k = 0; k <= i; k++) {
            double sum = 0;
            for (int r = 0; r < c->rows; r++) sum += left[i][r] * left[k][r];
            m->product[i][k] = m->product[k][i] = sum;
        }
    }
}

/* May a D of length 1 leave no more than 1? */
static bool is_small(const remains *m) {
    double a[CLEARED][CLEARED];
    for (int i = 0; i < m->n; i++) memcpy(a[i], m->product[i], (size_t)m->n * sizeof a[i][0]);
    return m->n > 0 && !factorise(a, m->n, 1);
}

/* d[] := the D that leaves least, of length 1; returns what it leaves. */
static double solve_least(double *d, const remains *m, const cleared *c) {
    double a[CLEARED][CLEARED], x[CLEARED], size = 0, left = 0, trace = 0;
    for (int i = 0; i < m->n; i++) {
        memcpy(a[i], m->product[i], (size_t)m->n * sizeof a[i][0]);
        trace += a[i][i];
        x[i] = 1 + 0.1 * i;
    }
    if (!factorise(a, m->n, -1e-15 * trace)) return INFINITY;
    for (int k = 0; k < SOLVES; k++) {
        solve(x, a, m->n);
        size = 0;
        for (int i = 0; i < m->n; i++) size += x[i] * x[i];
        for (int i = 0; i < m->n; i++) x[i] /= sqrt(size);
    }
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->n; k++) left += x[i] * x[k] * m->product[i][k];
    for (int r = 0; r < c->rows; r++) {
        d[r] = 0;
        for (int i = 0; i < m->n; i++) d[r] += x[i] * m->basis[i * c->rows + r];
    }
    return left;
}

bool sl_search__skeleton_is_dependent_rounded(cleared *c, double *product) {
    const int rows = c->rows, turns = c->every || product ? TURNS : 1;
    const double freedom = rows - c->above.count - c->below.count;
    double weight[ROWS], d[ROWS], left = INFINITY;
    remains m;
    c->left = 0;
    if (freedom < FREEDOM) return false;
    for (int r = 0; r < rows; r++) weight[r] = fabs(c->s->below[r]);
    for (int turn = 0; turn < turns; turn++) {
        find_remains(&m, c, weight);
        if (!is_small(&m)) return false;
        if (turns == 1) return true;
        double mean = 0;
        left = solve_least(d, &m, c);
        for (int r = 0; r < rows; r++) {
            d[r] /= weight[r];
            mean += fabs(d[r]) / rows;
        }
        for (int r = 0; r < rows; r++) weight[r] = 1 / (fabs(d[r]) + 1e-3 * mean);
    }
    if (product) memcpy(product, d, (size_t)rows * sizeof *d);
    return left * rows <= 2 * sl_search__skeleton_rounding_limit(rows - c->n);
}

/* ---------------------------------------------------------------- exact numbers ------------- */

/* Bits that are known of a constant. */
static double digits_of(double v, double error) {
    return v != 0 ? log2(fmax(fabs(v) / fmax(error, 0x1p-50 * fabs(v)), 1)) : 0;
}

/* The phase n, v sin(u) + w cos(u) = c sin(u + n), that both agree with; 0: none. *surplus: bits by
 * which it is better than chance. */
static int phase_of(double *surplus, const sl_skeletons *s, double v, double w, double error) {
    const double size = hypot(v, w), angle = atan2(w, v), reach = 4 * error / size;
    for (int n = s->low; n <= s->high && reach < 0.05; n++)
        if (n != 0 && fabs(sin(angle - n)) < reach) {
            *surplus = log2(1 / reach) - 4.2;
            return n;
        }
    return 0;
}

sl_search__skeleton_snapped sl_search__skeleton_choose_number(const sl_skeletons *s,
                                                              const double *x, const double *error,
                                                              const bool *decided, const int *sine,
                                                              int n) {
    sl_search__skeleton_snapped best = { .constant = -1 };
    double most = 0;
    for (int k = 0; k < n; k++) {
        const double reach = 4 * error[k];
        sl_search__lattice_number number;
        if (decided[k] || !(reach < INFINITY)) continue;
        if (fabs(x[k]) <= reach && reach < 0.5) { // a constant less comes first
            const double surplus = 1e3 - reach;
            if (surplus > most)
                most = surplus, best = (sl_search__skeleton_snapped){ .constant = k, .value = 0 };
            continue;
        }
        if (sine[k] !=
            SL_SKELETON__NO_SINE) { // a cosine: with its sine, whose coefficient may be 1
            const double v = sine[k] < 0 ? 1 : x[sine[k]];
            double surplus = 0;
            const int phase =
                phase_of(&surplus, s, v, x[k], error[k] + (sine[k] < 0 ? 0 : error[sine[k]]));
            if (phase && surplus > most) {
                most = surplus;
                best = (sl_search__skeleton_snapped){ .constant = k, .phase = phase };
            }
            continue;
        }
        const double digits = digits_of(x[k], error[k]) + 4;
        if (!sl_search__lattice_near_number(&number, x[k], reach, digits)) continue;
        const double surplus = digits - sl_search__lattice_number_bits(number);
        if (surplus > most) {
            most = surplus;
            best =
                (sl_search__skeleton_snapped){ .constant = k,
                                               .value = sl_search__lattice_number_value(number) };
        }
    }
    return best;
}
