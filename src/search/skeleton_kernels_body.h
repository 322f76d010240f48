/* The text of skeleton_kernels*.c: KERNELS is the name of the table. Variants do not know each
 * other, so the width of a vector changes no result. */
#include <math.h>

#include "base/vector.h"
#include "search/lattice_kernels.h"
#include "search/skeleton_kernels.h"

enum {
    PARTS = SL_SKELETON__LANES / WD,
    DIMS = SL_SKELETON__DIMS,
    DIMS_MOST = SL_SKELETON__DIMS_WIDE,
    BLOCK = SL_SKELETON__BLOCK
};
enum { SHIFT = 6 }; // bits of a ratio's float that keys leave out

static const double PARALLEL = 1e-12; // square of the length of one that is all in direction 0

static inline vec v_abs(vec a) { return (vec)((uvec)a & (UINT32_MAX >> 1)); }

static void multiply(double *restrict out, const double *restrict a, const double *restrict b,
                     int rows) {
    int r = 0;
    for (; r + WD <= rows; r += WD) d_store(out + r, d_load(a + r) * d_load(b + r));
    for (; r < rows; r++) out[r] = a[r] * b[r];
}

/* Eight partial sums, whatever the width: the order of additions is fixed. */
static inline double add_up(const dvec *sum) {
    double part[SL_SKELETON__LANES];
    for (int k = 0; k < PARTS; k++) d_store(part + k * WD, sum[k]);
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

static double square(const double *v, int rows) {
    dvec sum[PARTS] = { { 0 } };
    for (int r = 0; r < rows; r += PARTS * WD)
        for (int k = 0; k < PARTS; k++) {
            const dvec x = d_load(v + r + k * WD);
            sum[k] += x * x;
        }
    return add_up(sum);
}

/* Vectors that are taken out at once: their products do not wait for each other. */
enum { TOGETHER = 4 };

static inline void take_out_of(double *v, const double *basis, int n, int rows) {
    dvec sum[TOGETHER][PARTS] = { { { 0 } } };
    double c[TOGETHER];
    for (int r = 0; r < rows; r += PARTS * WD)
        for (int k = 0; k < PARTS; k++) {
            const dvec x = d_load(v + r + k * WD);
            for (int i = 0; i < n; i++) sum[i][k] += x * d_load(basis + i * rows + r + k * WD);
        }
    for (int i = 0; i < n; i++) c[i] = add_up(sum[i]);
    for (int r = 0; r < rows; r += WD) {
        dvec x = d_load(v + r);
        for (int i = 0; i < n; i++) x -= c[i] * d_load(basis + i * rows + r);
        d_store(v + r, x);
    }
}

static double deflate(double *v, const double *basis, int n, int rows) {
    int i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) take_out_of(v, basis + i * rows, TOGETHER, rows);
    for (; i < n; i++) take_out_of(v, basis + i * rows, 1, rows);
    return square(v, rows);
}

/* Makes the column of length 1; 0 where that is not finite. */
static void normalise(double *v, int rows) {
    const double s = square(v, rows);
    const double scale = s > 0 && s < HUGE_VAL ? 1 / sqrt(s) : 0;
    for (int r = 0; r < rows; r += WD) d_store(v + r, scale > 0 ? d_load(v + r) * scale : d_set(0));
}

/* Place of the largest |v[r]|, the first of these. */
static int find_largest(const double *v, int rows) {
    dvec most = d_abs(d_load(v));
    double largest = 0;
    for (int r = WD; r < rows; r += WD) most = d_max(most, d_abs(d_load(v + r)));
    for (int i = 0; i < WD; i++) largest = most[i] > largest ? most[i] : largest;
    const dvec wanted = d_set(largest);
    int at = 0;
    while (at < rows - WD && !u_any((ulvec)(d_abs(d_load(v + at)) == wanted))) at += WD;
    while (at < rows - 1 && fabs(v[at]) != largest) at++;
    return at;
}

/* The columns behind v less their multiples of v that make row `pivot` 0. */
SL_INLINE void eliminate_row(double *v, int behind, int pivot, int rows) {
    dvec factor[SL_SKELETON__PIVOTS / WD];
    const double inverse = 1 / v[pivot];
    for (int r = 0; r < rows; r += WD) factor[r / WD] = d_load(v + r) * inverse;
    for (int j = 1; j <= behind; j++) {
        double *to = v + j * rows;
        const dvec c = d_set(to[pivot]);
        for (int r = 0; r < rows; r += WD) d_store(to + r, d_load(to + r) - c * factor[r / WD]);
        to[pivot] = 0; // but for rounding, it is
    }
}

/* What rounding leaves of a column of length 1 in the span of others: it has no pivot. */
static const double NO_PIVOT = 1e-12;

SL_INLINE void eliminate_rows(double *left, double *a, int n, int rows) {
    for (int k = 0; k < n; k++) {
        double *v = a + k * rows;
        const int pivot = find_largest(v, rows);
        left[k] = fabs(v[pivot]);
        if (left[k] > NO_PIVOT) eliminate_row(v, n - k - 1, pivot, rows);
    }
}

/* A number of rows that the compiler knows keeps a column in registers. */
static void eliminate(double *left, double *a, int n, int rows) {
    for (int k = 0; k < n; k++) normalise(a + k * rows, rows);
    switch (rows) {
    case 16: eliminate_rows(left, a, n, 16); break;
    case 24: eliminate_rows(left, a, n, 24); break;
    case 32: eliminate_rows(left, a, n, 32); break;
    case 40: eliminate_rows(left, a, n, 40); break;
    default: eliminate_rows(left, a, n, rows); break;
    }
}

/* *out := 1 / sqrt(s) where s > least, else 0. */
static inline void inverse_root(dvec *out, const dvec *s, const dvec *least) {
    *out = d_choose((ulvec)(*s > *least), 1 / d_sqrt(*s), d_set(0));
}

/* Images and what they leave, in any number of directions: q[d] has one number per variant, and
 * that of column c and direction d is q[c dims + d]. */
SL_INLINE void images_in(double (*out)[BLOCK], int dims, const double *across, const double *w,
                         const double *v, int64_t stride, int rows, int n, double least) {
    for (int i = 0; i < n; i += WD) {
        dvec q[DIMS_MOST] = { { 0 } }, norm = { 0 }, size = { 0 };
        for (int r = 0; r < rows; r++) {
            const dvec x = d_load(v + r * stride + i), weighted = x * w[r];
            norm += weighted * weighted;
            for (int d = 0; d < dims; d++) q[d] += across[r * dims + d] * x;
        }
        for (int d = 0; d < dims; d++) size += q[d] * q[d];
        const dvec rounding = norm * least;
        dvec scale;
        inverse_root(&scale, &size, &rounding);
        for (int d = 0; d < dims; d++) d_store(&out[d][i], q[d] * scale);
    }
}

SL_INLINE void leave_in(double *left, double (*image)[BLOCK], int dims, int count, int n,
                        double least) {
    const dvec nothing = d_set(least);
    for (int i = 0; i < n; i += WD) {
        dvec rest[DIMS_MOST] = { { 0 } }, sum = { 0 };
        rest[0] += 1.0;
        for (int c = 0; c < count; c++) {
            dvec q[DIMS_MOST], size = { 0 }, scale, part;
            for (int d = 0; d < dims; d++) q[d] = d_load(&image[c * dims + d][i]);
            for (int b = 0; b < c; b++) {
                part = d_set(0);
                for (int d = 0; d < dims; d++) part += q[d] * d_load(&image[b * dims + d][i]);
                for (int d = 0; d < dims; d++) q[d] -= part * d_load(&image[b * dims + d][i]);
            }
            for (int d = 0; d < dims; d++) size += q[d] * q[d];
            inverse_root(&scale, &size, &nothing);
            part = d_set(0);
            for (int d = 0; d < dims; d++) {
                d_store(&image[c * dims + d][i], q[d] *= scale);
                part += rest[d] * q[d];
            }
            for (int d = 0; d < dims; d++) rest[d] -= part * q[d];
        }
        for (int d = 0; d < dims; d++) sum += rest[d] * rest[d];
        d_store(left + i, sum);
    }
}

static void images(sl_search__skeleton_image *out, const double *across, const double *w,
                   const double *v, int64_t stride, int rows, int n, double least) {
    images_in(out->q, DIMS, across, w, v, stride, rows, n, least);
}

static void leave(double *left, sl_search__skeleton_image *image, int count, int n, double least) {
    leave_in(left, (void *)image, DIMS, count, n, least);
}

static void images_wide(sl_search__skeleton_wide *out, const double *across, const double *w,
                        const double *v, int64_t stride, int rows, int n, double least) {
    images_in(out->q, DIMS_MOST, across, w, v, stride, rows, n, least);
}

static void leave_wide(double *left, sl_search__skeleton_wide *image, int count, int n,
                       double least) {
    leave_in(left, (void *)image, DIMS_MOST, count, n, least);
}

/* Column k in `size` directions. One that is in the span of others is 0, and so would be all
 * minors: any vector takes its place. */
static inline void load_column(dvec *out, const sl_search__skeleton_image *image, int k, int first,
                               int size, int i) {
    dvec sum = { 0 };
    for (int d = 0; d < size; d++) {
        out[d] = d_load(&image[k].q[first + d][i]);
        sum += out[d] * out[d];
    }
    const ulvec none = (ulvec)(sum == 0);
    if (!u_any(none)) return;
    for (int d = 0; d < size; d++) {
        const int turn = (3 * d + 2 * k + d * k) % 7;
        out[d] = d_choose(none, d_set(0.125 * turn - 0.3), out[d]);
    }
}

/* Determinants of c + 1 columns from those of c, along the last column. */
static void minors(sl_search__skeleton_minors *out, const sl_search__skeleton_image *image,
                   int count, int first, int size, int n) {
    const unsigned sets = 1u << size;
    for (int i = 0; i < n; i += WD) {
        dvec m[1 << SL_SKELETON__TOGETHER], q[SL_SKELETON__BESIDE][SL_SKELETON__TOGETHER];
        int at = 0;
        for (int k = 0; k < count; k++) load_column(q[k], image, k, first, size, i);
        m[0] = d_set(1);
        for (unsigned set = 1; set < sets; set++) {
            const int columns = __builtin_popcount(set);
            if (columns > count) continue;
            bool minus = columns % 2 == 0;
            m[set] = d_set(0);
            for (unsigned rest = set; rest; rest &= rest - 1, minus = !minus) {
                const int d = __builtin_ctz(rest);
                const dvec part = q[columns - 1][d] * m[set & ~(1u << d)];
                m[set] = minus ? m[set] - part : m[set] + part;
            }
            if (columns == count) d_store(&out->of[at++][i], m[set]);
        }
    }
}

/* small[l] of WD variants from i on, as places in a list. */
static inline int list_small(int *at, int found, const lvec *small, int i, int n) {
    for (int l = 0; l < SL_MIN(WD, n - i); l++)
        if ((*small)[l]) at[found++] = i + l;
    return found;
}

static int meet(int *at, const double *v, const sl_search__skeleton_minors *m, int count, int n,
                double least) {
    int found = 0;
    for (int i = 0; i < n; i += WD) {
        dvec sum = d_load(&m->of[0][i]) * v[0];
        for (int k = 1; k < count; k++) sum += d_load(&m->of[k][i]) * v[k];
        const lvec small = (sum < least) & (sum > -least);
        if (u_any((ulvec)small)) found = list_small(at, found, &small, i, n);
    }
    return found;
}

enum { SIEVED = SL_SKELETON__SIEVED / W }; // vectors at once: their sums do not wait

static int sieve(int *at, const float *m, const int *row, int rows, const float *v, int64_t stride,
                 float least, int n) {
    int found = 0;
    for (int i = 0; i < n; i += SIEVED * W) {
        vec q[SIEVED] = { { 0 } }, size[SIEVED] = { { 0 } };
        for (int k = 0; k < rows; k++) {
            const float *x = v + row[k] * stride + i;
            SL_UNROLL for (int l = 0; l < SIEVED; l++) {
                const vec part = m[k] * v_load(x + l * W);
                q[l] += part;
                size[l] += v_abs(part);
            }
        }
        for (int l = 0; l < SIEVED; l++) {
            const ivec small = v_abs(q[l]) < least * size[l];
            if (!u_any((ulvec)small)) continue;
            for (int k = 0; k < W; k++)
                if (small[k]) at[found++] = i + l * W + k;
        }
    }
    return found;
}

/* p[d] q[e] - p[e] q[d]. */
static inline dvec cross(const dvec *p, const dvec *q, int d, int e) {
    return p[d] * q[e] - p[e] * q[d];
}

static int sieve_two(int *at, const double (*m)[3], const double *v, const double *w,
                     int64_t stride, int rows, int n, double least) {
    int found = 0;
    for (int i = 0; i < n; i += WD) {
        dvec q[3] = { { 0 } }, p[3] = { { 0 } };
        for (int r = 0; r < rows; r++) {
            const dvec x = d_load(v + r * stride + i), z = d_load(w + r * stride + i);
            for (int d = 0; d < 3; d++) {
                q[d] += m[r][d] * x;
                p[d] += m[r][d] * z;
            }
        }
        const dvec a = cross(q, p, 0, 1), b = cross(q, p, 0, 2), c = cross(q, p, 1, 2);
        const lvec small = c * c < least * least * (a * a + b * b);
        if (u_any((ulvec)small)) found = list_small(at, found, &small, i, n);
    }
    return found;
}

enum { FIVE = SL_SKELETON__FIVE };
/* Square of the determinants of four columns that are dependent without y, but for rounding. */
static const double DEPENDENT_FOUR = 1e-22;

/* out[d] := the sum over rows of m[r][d] v[r stride]. */
static inline void multiply_five(dvec *out, const double (*m)[FIVE], const double *v,
                                 int64_t stride, int rows) {
    for (int d = 0; d < FIVE; d++) out[d] = d_set(0);
    for (int r = 0; r < rows; r++) {
        const dvec x = d_load(v + r * stride);
        for (int d = 0; d < FIVE; d++) out[d] += m[r][d] * x;
    }
}

/* The determinant of four columns in four directions, from those of two columns each. */
static inline dvec determinant(const dvec *a, const dvec *b, const dvec *c, const dvec *x,
                               const int *d) {
    return ((cross(a, b, d[0], d[1]) * cross(c, x, d[2], d[3]) -
             cross(a, b, d[0], d[2]) * cross(c, x, d[1], d[3])) +
            (cross(a, b, d[0], d[3]) * cross(c, x, d[1], d[2]) +
             cross(a, b, d[1], d[2]) * cross(c, x, d[0], d[3]))) +
           (cross(a, b, d[2], d[3]) * cross(c, x, d[0], d[1]) -
            cross(a, b, d[1], d[3]) * cross(c, x, d[0], d[2]));
}

static int meet_four(int *at, const sl_search__skeleton_four *f, int rows, int n, double least,
                     double turned) {
    static const int way[FIVE][4] = {
        { 1, 2, 3, 4 }, { 0, 2, 3, 4 }, { 0, 1, 3, 4 }, { 0, 1, 2, 4 }, { 0, 1, 2, 3 }
    };
    int found = 0;
    dvec a[FIVE], b[FIVE], c[FIVE], x[FIVE];
    for (int d = 0; d < FIVE; d++) a[d] = d_set(f->a[d]), x[d] = d_set(0.3 + 0.1 * d * d);
    for (int i = 0; i < n; i += WD) {
        load_column(b, f->b, 0, 0, FIVE, i);
        multiply_five(c, f->c, f->c_value + i, f->stride, rows);
        if (f->x) multiply_five(x, f->x, f->x_value + i, f->stride, rows);
        const dvec det = determinant(a, b, c, x, way[0]);
        dvec c_size = d_set(0), x_size = d_set(0), others = d_set(0);
        for (int d = 0; d < FIVE; d++) c_size += c[d] * c[d], x_size += x[d] * x[d];
        lvec small = det * det <= least * least * (c_size * x_size);
        if (!u_any((ulvec)small)) continue;
        SL_UNROLL for (int d = 1; d < FIVE; d++) {
            const dvec other = determinant(a, b, c, x, way[d]);
            others += other * other;
        }
        small &= (det * det <= turned * turned * others) |
                 (others <= DEPENDENT_FOUR * (c_size * x_size));
        if (u_any((ulvec)small)) found = list_small(at, found, &small, i, n);
    }
    return found;
}

enum { SPAN = SL_SKELETON__SPAN };

/* The direction but the first with the largest part of a column, and that part; -1: it is next to
 * 0. */
static int pivot_of(const double *q, int span, double least) {
    int best = -1;
    for (int d = 1; d < span; d++)
        if (fabs(q[d]) > least) best = d, least = fabs(q[d]);
    return best;
}

/* Images of n <= TOGETHER columns: out[k SPAN + d]. */
SL_INLINE void image_columns(double *out, const double *across, int span, const double *column,
                             int n, int rows) {
    for (int d = 0; d < span; d += WD) {
        dvec q[TOGETHER] = { { 0 } };
        for (int r = 0; r < rows; r++) {
            const dvec x = d_load(across + r * span + d);
            for (int k = 0; k < n; k++) q[k] += column[k * rows + r] * x;
        }
        for (int k = 0; k < n; k++) d_store(out + k * SPAN + d, q[k]);
    }
}

/* Of all columns, which have length 1 then. */
static void image_all(double (*q)[SPAN], const double *across, int span, const double *column,
                      int n, int rows) {
    int k = 0;
    for (; k + TOGETHER <= n; k += TOGETHER)
        image_columns(q[k], across, span, column + k * rows, TOGETHER, rows);
    for (; k < n; k++) image_columns(q[k], across, span, column + k * rows, 1, rows);
    for (k = 0; k < n; k++) {
        const double norm = square(column + k * rows, rows);
        const double scale = norm > 0 && norm < HUGE_VAL ? 1 / sqrt(norm) : 0;
        for (int d = 0; d < span; d += WD)
            d_store(q[k] + d, scale > 0 ? d_load(q[k] + d) * scale : d_set(0));
    }
}

/* v less so much of q. */
static inline void take_out(double *v, const double *q, double part, int n) {
    for (int d = 0; d < n; d += WD) d_store(v + d, d_load(v + d) - part * d_load(q + d));
}

static bool beside(double *out, int dims, const double *across, int span, const double *column,
                   int n, int rows, double least) {
    double q[SPAN][SPAN];
    int pivot[SPAN], kept = 0, free[SPAN], frees = 0;
    bool taken[SPAN] = { false };
    const int stride = (span + SL_SKELETON__LANES - 1) / SL_SKELETON__LANES * SL_SKELETON__LANES;
    image_all(q, across, stride, column, n, rows);
    for (int k = 0; k < n; k++) {
        double *v = q[k];
        for (int b = 0; b < kept; b++) {
            take_out(v, q[b], v[pivot[b]], stride);
            v[pivot[b]] = 0;
        }
        const int at = pivot_of(v, span, least);
        if (at < 0) continue;
        const double scale = 1 / v[at];
        for (int d = 0; d < stride; d += WD) d_store(q[kept] + d, d_load(v + d) * scale);
        for (int b = 0; b < kept; b++) {
            take_out(q[b], q[kept], q[b][at], stride);
            q[b][at] = 0;
        }
        pivot[kept++] = at;
        taken[at] = true;
    }
    for (int d = 0; d < span && frees < dims; d++)
        if (!taken[d]) free[frees++] = d;
    if (frees < dims) return false;
    for (int b = 0; b < kept; b++)
        for (int d = 0; d < dims; d++) q[b][d] = q[b][free[d]]; // free[d] >= d
    for (int r = 0; r < rows; r++)
        for (int d = 0; d < dims; d++) out[r * dims + d] = across[r * stride + free[d]];
    for (int r = 0; r < rows; r++) {
        double *to = out + r * dims;
        for (int b = 0; b < kept; b++) take_out(to, q[b], across[r * stride + pivot[b]], dims);
    }
    return true;
}

static void keys(uint32_t *restrict high, uint32_t *restrict low,
                 const sl_search__skeleton_image *restrict image, int n) {
    const double *restrict q1 = image->q[1], *restrict q2 = image->q[2], *restrict q3 = image->q[3],
                           *restrict q4 = image->q[4], *restrict q5 = image->q[5],
                           *restrict q6 = image->q[6], *restrict q7 = image->q[7];
    for (int i = 0; i < n; i++) {
        double inverse = 1 / q1[i];
        double size = ((q1[i] * q1[i] + q2[i] * q2[i]) + (q3[i] * q3[i] + q4[i] * q4[i])) +
                      ((q5[i] * q5[i] + q6[i] * q6[i]) + q7[i] * q7[i]);
        uint32_t a = sl_search__lattice_cell((float)(q2[i] * inverse), SHIFT);
        uint32_t b = sl_search__lattice_cell((float)(q3[i] * inverse), SHIFT);
        uint32_t c = sl_search__lattice_cell((float)(q4[i] * inverse), SHIFT);
        bool none = !(size > PARALLEL);
        high[i] = none ? 0 : sl_search__lattice_high(a, b, c);
        low[i] = none ? 0 : sl_search__lattice_low(a, b, c) | 1;
    }
}

const sl_search__skeleton_kernels KERNELS = {
    .multiply = multiply,
    .deflate = deflate,
    .eliminate = eliminate,
    .images = images,
    .images_wide = images_wide,
    .leave = leave,
    .leave_wide = leave_wide,
    .sieve = sieve,
    .sieve_two = sieve_two,
    .minors = minors,
    .meet = meet,
    .meet_four = meet_four,
    .beside = beside,
    .keys = keys,
};
