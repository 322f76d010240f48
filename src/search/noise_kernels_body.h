/* The text of sl_search__noise_pairs_*: PAIRS its name, VECTOR_BYTES the width, RUN how many terms of the
 * tile are in registers at a time. Sums run over dimensions in order, one term a lane, so the width
 * does not change a bit. */
#include "search/noise_kernels.h"

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int mask __attribute__((vector_size(VECTOR_BYTES)));
enum { LANES = VECTOR_BYTES / 4, VECTORS = RUN / LANES };

int PAIRS(float *left, const float *x, float a, const float *tile, const float *b, int dims,
          float most) {
    mask below = { 0 };
    for (int k = 0; k < SL_NOISE__TILE; k += RUN) {
        vector sum[VECTORS];
        for (int v = 0; v < VECTORS; v++) sum[v] = (vector){ 0 };
        for (int d = 0; d < dims; d++) {
            const vector *row = (const vector *)(const void *)(tile + d * SL_NOISE__TILE + k);
            for (int v = 0; v < VECTORS; v++) sum[v] += row[v] * x[d];
        }
        for (int v = 0; v < VECTORS; v++) {
            vector c = sum[v], g = *(const vector *)(const void *)(b + k + v * LANES);
            vector apart = 1 - c * c;
            vector rest = 1 - (a * a + g * g - 2 * a * g * c) / apart;
            mask parallel = apart < SL_NOISE__PARALLEL;
            // 2 where parallel: a mask is all ones, or 0
            vector two = (vector){ 0 } + 2;
            rest = (vector)(((mask)rest & ~parallel) | ((mask)two & parallel));
            *(vector *)(void *)(left + k + v * LANES) = rest;
            below -= rest < most;
        }
    }
    int n = 0;
    for (int l = 0; l < LANES; l++) n += below[l];
    return n;
}
