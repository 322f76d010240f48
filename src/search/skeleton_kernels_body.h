/* The text of skeleton_kernels*.c: KERNELS is the name of the table. Variants do not know each
 * other, so the width of a vector changes no result. */
#include <math.h>

#include "base/vector.h"
#include "search/lattice_kernels.h"
#include "search/skeleton_kernels.h"

enum { PARTS = SL_SKELETON__LANES / WD, DIMS = SL_SKELETON__DIMS };
enum { SHIFT = 6 }; // bits of a ratio's float that keys leave out

/* Squares of lengths: of what rounding leaves of a vector of length 1; of one that is all in
 * direction 0. */
static const double NOTHING = 1e-16, PARALLEL = 1e-12;

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

/* *out := 1 / sqrt(s) where s > least, else 0. */
static inline void inverse_root(dvec *out, const dvec *s, const dvec *least) {
    for (int i = 0; i < WD; i++) (*out)[i] = (*s)[i] > (*least)[i] ? 1 / sqrt((*s)[i]) : 0;
}

static void images(sl_search__skeleton_image *out, const double *across, const double *w,
                   const double *v, int64_t stride, int rows, int n, double least) {
    for (int i = 0; i < n; i += WD) {
        dvec q[DIMS] = { { 0 } }, norm = { 0 }, size = { 0 };
        for (int r = 0; r < rows; r++) {
            const dvec x = d_load(v + r * stride + i), weighted = x * w[r];
            norm += weighted * weighted;
            for (int d = 0; d < DIMS; d++) q[d] += across[r * DIMS + d] * x;
        }
        for (int d = 0; d < DIMS; d++) size += q[d] * q[d];
        const dvec rounding = norm * least;
        dvec scale;
        inverse_root(&scale, &size, &rounding);
        for (int d = 0; d < DIMS; d++) d_store(&out->q[d][i], q[d] * scale);
    }
}

/* *rest less what it has of q, which is of length 1. */
static inline void take_out(dvec *rest, const dvec *q) {
    dvec part = { 0 };
    for (int d = 0; d < DIMS; d++) part += rest[d] * q[d];
    for (int d = 0; d < DIMS; d++) rest[d] -= part * q[d];
}

static void leave(double *left, sl_search__skeleton_image *image, int count, int n) {
    for (int i = 0; i < n; i += WD) {
        dvec rest[DIMS] = { { 0 } }, sum = { 0 }, nothing = { 0 };
        nothing += NOTHING;
        rest[0] += 1.0;
        for (int c = 0; c < count; c++) {
            dvec q[DIMS], size = { 0 }, scale;
            for (int d = 0; d < DIMS; d++) q[d] = d_load(&image[c].q[d][i]);
            for (int b = 0; b < c; b++) {
                dvec part = { 0 };
                for (int d = 0; d < DIMS; d++) part += q[d] * d_load(&image[b].q[d][i]);
                for (int d = 0; d < DIMS; d++) q[d] -= part * d_load(&image[b].q[d][i]);
            }
            for (int d = 0; d < DIMS; d++) size += q[d] * q[d];
            inverse_root(&scale, &size, &nothing);
            for (int d = 0; d < DIMS; d++) d_store(&image[c].q[d][i], q[d] *= scale);
            take_out(rest, q);
        }
        for (int d = 0; d < DIMS; d++) sum += rest[d] * rest[d];
        d_store(left + i, sum);
    }
}

static void leave_beside(double *left, const sl_search__skeleton_image *image, int count, int n,
                         const double (*other)[DIMS], int m) {
    double start[DIMS] = { 1 };
    for (int k = 0; k < m; k++) {
        double part = 0;
        for (int d = 0; d < DIMS; d++) part += start[d] * other[k][d];
        for (int d = 0; d < DIMS; d++) start[d] -= part * other[k][d];
    }
    for (int i = 0; i < n; i += WD) {
        dvec rest[DIMS] = { { 0 } }, q[SL_SKELETON__BESIDE][DIMS], sum = { 0 }, nothing = { 0 };
        nothing += NOTHING;
        for (int d = 0; d < DIMS; d++) rest[d] += start[d];
        for (int c = 0; c < count; c++) {
            dvec size = { 0 }, scale;
            for (int d = 0; d < DIMS; d++) q[c][d] = d_load(&image[c].q[d][i]);
            for (int k = 0; k < m; k++) {
                dvec part = { 0 };
                for (int d = 0; d < DIMS; d++) part += q[c][d] * other[k][d];
                for (int d = 0; d < DIMS; d++) q[c][d] -= part * other[k][d];
            }
            for (int b = 0; b < c; b++) take_out(q[c], q[b]);
            for (int d = 0; d < DIMS; d++) size += q[c][d] * q[c][d];
            inverse_root(&scale, &size, &nothing);
            for (int d = 0; d < DIMS; d++) q[c][d] *= scale;
            take_out(rest, q[c]);
        }
        for (int d = 0; d < DIMS; d++) sum += rest[d] * rest[d];
        d_store(left + i, sum);
    }
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

const sl_search__skeleton_kernels KERNELS = { deflate, images, leave, leave_beside, keys };
