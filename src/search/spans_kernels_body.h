/* The text of spans_kernels*.c; KERNELS is the name of the table. */
#include <math.h>
#include <string.h>

#include "search/spans_kernels.h"

enum { BLOCK = SL_SPANS__BLOCK, DIMS = SL_SPANS__DIMS, LANES = SL_SPANS__LANES };

/* Directions are distinguished to this part of their length. Finer cells would separate equal
 * directions by rounding, coarser ones would join different ones. */
static const double CELLS = 0x1p19;

/* A vector and its opposite get one key: that of the one with a positive product with this. */
static const double halfspace[DIMS] = { 0.4363, 0.7411, 0.3127, 0.9131, 0.6173 };

static double sum_lanes(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static void project_one(double *q, double *size, const double *restrict normal,
                        const double *restrict value, int rows, int stride) {
    double a[LANES] = { 0 }, b[LANES] = { 0 }, c[LANES] = { 0 }, d[LANES] = { 0 }, e[LANES] = { 0 };
    double s[LANES] = { 0 };
    for (int k = 0; k < rows; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            double v = value[k + l];
            const double *row = normal + k + l;
            a[l] += row[0] * v;
            b[l] += row[stride] * v;
            c[l] += row[2 * stride] * v;
            d[l] += row[3 * stride] * v;
            e[l] += row[4 * stride] * v;
            s[l] += v * v;
        }
    }
    q[0] = sum_lanes(a), q[1] = sum_lanes(b), q[2] = sum_lanes(c), q[3] = sum_lanes(d);
    q[4] = sum_lanes(e);
    *size = sum_lanes(s);
}

static void project(sl_search__spans_numbers q, double *size, const double *normal,
                    const double *value, int rows, int stride, int n) {
    for (int t = 0; t < n; t++) {
        double one[DIMS];
        project_one(one, &size[t], normal, value + (size_t)t * (size_t)stride, rows, stride);
        for (int d = 0; d < DIMS; d++) q[d][t] = one[d];
    }
}

static inline uint64_t bits_of(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* Whole numbers below 2^51 in the low bits of a sum with this. */
static const double WHOLE = 0x1.8p52;

/* Numbers of a direction to a key: each becomes a whole number, all are mixed. */
static inline uint64_t mix(double x0, double x1, double x2, double x3, double x4, double factor) {
    uint64_t a = bits_of(x0 * factor + WHOLE) + (bits_of(x1 * factor + WHOLE) << 24);
    uint64_t b = bits_of(x2 * factor + WHOLE) + (bits_of(x3 * factor + WHOLE) << 24);
    uint64_t c = bits_of(x4 * factor + WHOLE);
    uint64_t h = a * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
    h = (h + b) * 0xBF58476D1CE4E5B9u;
    h ^= h >> 32;
    h = (h + c) * 0x94D049BB133111EBu;
    return h ^ h >> 29;
}

static void direct(uint64_t *key, double *norm, sl_search__spans_numbers q) {
    for (int t = 0; t < BLOCK; t++) {
        double x0 = q[0][t], x1 = q[1][t], x2 = q[2][t], x3 = q[3][t], x4 = q[4][t];
        double n = x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3 + x4 * x4;
        double side = x0 * halfspace[0] + x1 * halfspace[1] + x2 * halfspace[2] +
                      x3 * halfspace[3] + x4 * halfspace[4];
        double factor = copysign(CELLS / sqrt(n), side);
        norm[t] = n;
        key[t] = mix(x0, x1, x2, x3, x4, factor);
    }
}

static void reduce(uint64_t *key, double *norm, sl_search__spans_numbers q,
                   const double basis[DIMS - 1][DIMS]) {
    for (int t = 0; t < BLOCK; t++) {
        double r[DIMS - 1];
        for (int i = 0; i < DIMS - 1; i++)
            r[i] = basis[i][0] * q[0][t] + basis[i][1] * q[1][t] + basis[i][2] * q[2][t] +
                   basis[i][3] * q[3][t] + basis[i][4] * q[4][t];
        double n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
        double side = r[0] * halfspace[0] + r[1] * halfspace[1] + r[2] * halfspace[2] +
                      r[3] * halfspace[3];
        double factor = copysign(CELLS / sqrt(n), side);
        norm[t] = n;
        key[t] = mix(r[0], r[1], r[2], r[3], 0, factor);
    }
}

const sl_search__spans_kernels KERNELS = { project, direct, reduce };
