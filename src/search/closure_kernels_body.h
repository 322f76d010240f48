/* The text of closure_kernels*.c; KERNELS is the name of the table. */
#include "search/closure_kernels.h"

enum { LANES = SL_CLOSURE__LANES };

static double sum_lanes(const double *lane) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static double dot(const double *restrict a, const double *restrict b, int rows) {
    double s[LANES] = { 0 };
    for (int k = 0; k < rows; k += LANES)
        for (int l = 0; l < LANES; l++) s[l] += a[k + l] * b[k + l];
    return sum_lanes(s);
}

static void subtract(double *restrict v, const double *restrict q, double factor, int rows) {
    for (int k = 0; k < rows; k += LANES)
        for (int l = 0; l < LANES; l++) v[k + l] -= factor * q[k + l];
}

static double project(double *v, const double *q, int n, int rows, int stride) {
    for (int i = 0; i < n; i++) {
        const double *unit = q + (size_t)i * (size_t)stride;
        subtract(v, unit, dot(unit, v, rows), rows);
    }
    double s[LANES] = { 0 };
    for (int k = 0; k < rows; k += LANES)
        for (int l = 0; l < LANES; l++) s[l] += v[k + l] * v[k + l];
    return sum_lanes(s);
}

const sl_closure__kernels KERNELS = { project };
