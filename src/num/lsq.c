/* Linear least squares: Householder QR with column pivoting, and the power law made of it. */
#include "num/num_impl.h"

#include <float.h>
#include <math.h>

void *sl_num__alloc(sl_arena *a, size_t count, size_t each) {
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes)) return NULL;
    return sl_arena_alloc(a, bytes);
}

static double norm2(const double *x, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return sqrt(s);
}

static double *column(const sl_qr *q, int k) { return q->a + (size_t)k * (size_t)q->m; }

/* Scales x by a power of two, which is exact, so that its norm is in [1, 2); returns the factor.
 * First by the largest element, because the square of 1e200 is not a double. A column below 1e-300
 * stays shorter than that: the factor must be a double too. */
static double unit_scale(double *x, int n) {
    double size = 0, scale = 1;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    for (int pass = 0; pass < 2 && size > 0; pass++) {
        int e;
        (void)frexp(size, &e);
        double f = ldexp(1, SL_MIN(1 - e, 1000));
        for (int i = 0; i < n; i++) x[i] *= f;
        scale *= f;
        size = norm2(x, n);
        if (size < 0.5) break;
    }
    return scale;
}

static void swap_columns(sl_qr *q, int k, int l) {
    if (k == l) return;
    double *a = column(q, k), *b = column(q, l);
    for (int i = 0; i < q->m; i++) {
        double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
    double s = q->scale[k];
    q->scale[k] = q->scale[l], q->scale[l] = s;
    int p = q->perm[k];
    q->perm[k] = q->perm[l], q->perm[l] = p;
}

/* y := (I - beta v v^T) y for reflection k; y has m elements of which the first k stay. */
static void reflect(const sl_qr *q, int k, double *y) {
    const double *v = column(q, k);
    double dot = q->head[k] * y[k];
    for (int i = k + 1; i < q->m; i++) dot += v[i] * y[i];
    dot *= q->beta[k];
    y[k] -= dot * q->head[k];
    for (int i = k + 1; i < q->m; i++) y[i] -= dot * v[i];
}

sl_status sl_num__qr(sl_qr *out, sl_arena *a, const double *const *col, const double *root, int m,
                     int n) {
    SL_ASSERT(m >= 0 && n >= 0);
    sl_qr q = { .m = m, .n = n };
    q.a = sl_num__alloc(a, (size_t)m * sizeof *q.a, (size_t)n);
    q.head = sl_num__alloc(a, (size_t)n * 3, sizeof *q.head);
    q.perm = sl_num__alloc(a, (size_t)n, sizeof *q.perm);
    if (!q.a || !q.head || !q.perm) {
        return sl_fail(SL_ENOMEM, "no memory for least squares with %d rows, %d columns", m, n);
    }
    q.beta = q.head + n;
    q.scale = q.beta + n;

    for (int j = 0; j < n; j++) {
        double *x = column(&q, j);
        for (int i = 0; i < m; i++) x[i] = root ? root[i] * col[j][i] : col[j][i];
        q.scale[j] = unit_scale(x, m);
        q.perm[j] = j;
    }

    // the longest remaining column next; when even that one is rounding noise, the rest is linearly
    // dependent. Lengths are recomputed at each step: downdating them loses digits just when they
    // decide the rank, and costs little less.
    double tiny = (double)SL_MAX(m, n) * 4 * DBL_EPSILON, first = 0;
    for (int k = 0; k < SL_MIN(m, n); k++) {
        int best = k;
        double longest = -1;
        for (int j = k; j < n; j++) {
            double len = norm2(column(&q, j) + k, m - k);
            if (len > longest) longest = len, best = j;
        }
        if (k == 0) first = longest;
        if (longest == 0 || longest <= tiny * first) break;
        swap_columns(&q, k, best);

        // v = x + sign(x0) |x| e1: the sign that does not cancel
        double *x = column(&q, k);
        double diagonal = x[k] > 0 ? -longest : longest;
        q.head[k] = x[k] - diagonal;
        q.beta[k] = 1 / (longest * fabs(q.head[k])); // 2 / v.v
        for (int j = k + 1; j < n; j++) reflect(&q, k, column(&q, j));
        x[k] = diagonal;
        q.rank = k + 1;
    }
    *out = q;
    return SL_OK;
}

/* y := Q^T y, m values. */
static void apply(const sl_qr *q, double *y) {
    for (int k = 0; k < q->rank; k++) reflect(q, k, y);
}

/* Destroys qty; n coefficients. */
static void back_substitute(const sl_qr *q, double *coef, double *qty) {
    for (int j = 0; j < q->n; j++) coef[j] = 0;
    for (int k = q->rank - 1; k >= 0; k--) {
        const double *r = column(q, k);
        double z = qty[k] / r[k];
        for (int i = 0; i < k; i++) qty[i] -= z * r[i];
        coef[q->perm[k]] = z * q->scale[k];
    }
}

/* d[j] needs the length of row j of R^-1, which is computed by columns: squares summed by row. */
sl_status sl_num__qr_errors(const sl_qr *q, double *d, sl_arena *scratch) {
    size_t mark = sl_arena_mark(scratch);
    int r = q->rank;
    double *z = sl_num__alloc(scratch, (size_t)r * 2, sizeof *z);
    if (!z) return sl_fail(SL_ENOMEM, "no memory for the standard errors of %d columns", q->n);
    double *sum = z + r;
    for (int k = 0; k < r; k++) sum[k] = 0;

    for (int c = 0; c < r; c++) { // solve R z = e_c, which reaches no further down than c
        for (int k = 0; k <= c; k++) z[k] = k == c;
        for (int k = c; k >= 0; k--) {
            const double *rk = column(q, k);
            z[k] /= rk[k];
            for (int i = 0; i < k; i++) z[i] -= z[k] * rk[i];
            sum[k] += z[k] * z[k];
        }
    }
    for (int j = 0; j < q->n; j++) d[q->perm[j]] = j < r ? sqrt(sum[j]) * q->scale[j] : INFINITY;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

/* b := root * y, where root := sqrt(w) or is NULL. All inputs are checked here, since a NaN would
 * spoil the choice of pivots: false if one, or its product with the root, is not finite. */
static bool weigh(double *b, double *root, const double *const *col, const double *y,
                  const double *w, int m, int n) {
    bool good = true;
    for (int i = 0; i < m; i++) {
        if (root) root[i] = sqrt(w[i]); // NaN for a negative one
        b[i] = root ? root[i] * y[i] : y[i];
        good = good && isfinite(b[i]);
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) good = good && isfinite(root ? root[i] * col[j][i] : col[j][i]);
    }
    return good;
}

sl_status sl_num_lsq_fit(sl_lsq *out, double *coef, double *se, sl_arena *scratch,
                         const double *const *col, const double *y, const double *w, int m, int n) {
    SL_ASSERT(m >= 0 && n >= 0);
    sl_status st;
    size_t mark = sl_arena_mark(scratch);
    double *b = sl_num__alloc(scratch, (size_t)m * 2, sizeof *b);
    double *root = w && b ? b + m : NULL;
    if (!b) {
        st = sl_fail(SL_ENOMEM, "no memory for least squares with %d rows", m);
        goto done;
    }
    if (!weigh(b, root, col, y, w, m, n)) {
        for (int j = 0; j < n; j++) coef[j] = NAN;
        for (int j = 0; se && j < n; j++) se[j] = NAN;
        *out = (sl_lsq){ .rank = 0, .sse = NAN };
        st = SL_OK;
        goto done;
    }

    sl_qr q;
    SL_GO(sl_num__qr(&q, scratch, col, root, m, n));
    apply(&q, b);
    back_substitute(&q, coef, b);

    // from the residuals themselves: the tail of Q^T y has the same length, but for an exact fit it
    // measures the rounding of the reflections instead of that of the answer
    double sse = 0;
    int rows = 0;
    for (int i = 0; i < m; i++) {
        double r = y[i];
        for (int j = 0; j < n; j++) r -= coef[j] * col[j][i];
        if (root) r *= root[i];
        sse += r * r;
        rows += !root || root[i] > 0;
    }
    if (se) {
        SL_GO(sl_num__qr_errors(&q, se, scratch));
        double s = rows > q.rank ? sqrt(sse / (double)(rows - q.rank)) : NAN;
        for (int j = 0; j < n; j++) se[j] = isinf(se[j]) ? se[j] : se[j] * s;
    }
    *out = (sl_lsq){ .rank = q.rank, .sse = sse };
    st = SL_OK;
done:
    sl_arena_rewind(scratch, mark);
    return st;
}
