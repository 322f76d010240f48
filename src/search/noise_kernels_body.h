/* The text of noise_kernels*.c: KERNELS is the name of the table, RUN how many terms of the tile
 * are in registers at a time. Sums of pairs run over dimensions in order, one term a lane, and
 * those of a projection have eight lanes, so the width of a vector does not change a bit. */
#include "base/vector.h"
#include "search/noise_kernels.h"

enum { VECTORS = RUN / W, LANES = 8, SUMS = LANES / WD };

static int pairs(float *left, const float *x, float a, const float *tile, const float *b, int dims,
                 float most) {
    ivec below = { 0 };
    for (int k = 0; k < SL_NOISE__TILE; k += RUN) {
        vec sum[VECTORS];
        for (int v = 0; v < VECTORS; v++) sum[v] = (vec){ 0 };
        for (int d = 0; d < dims; d++) {
            const float *row = tile + d * SL_NOISE__TILE + k;
            for (int v = 0; v < VECTORS; v++) sum[v] += v_load(row + v * W) * x[d];
        }
        for (int v = 0; v < VECTORS; v++) {
            vec c = sum[v], g = v_load(b + k + v * W);
            vec apart = 1 - c * c;
            vec rest = 1 - (a * a + g * g - 2 * a * g * c) / apart;
            rest = v_choose(apart < SL_NOISE__PARALLEL, v_set(2), rest);
            v_store(left + k + v * W, rest);
            below -= rest < most;
        }
    }
    int n = 0;
    for (int l = 0; l < W; l++) n += below[l];
    return n;
}

static double sum_lanes(const dvec *sum) {
    double s[LANES];
    for (int v = 0; v < SUMS; v++) d_store(s + v * WD, sum[v]);
    return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

static void project(double *q, const double *projector, const double *value, int dims, int stride) {
    for (int d = 0; d < dims; d++) {
        const double *row = projector + d * stride;
        dvec sum[SUMS];
        for (int v = 0; v < SUMS; v++) sum[v] = (dvec){ 0 };
        for (int i = 0; i < stride; i += LANES)
            for (int v = 0; v < SUMS; v++)
                sum[v] += d_load(row + i + v * WD) * d_load(value + i + v * WD);
        q[d] = sum_lanes(sum);
    }
}

const sl_search__noise_kernels KERNELS = { pairs, project };
