/* The text of sl_search__noise_pairs_*: PAIRS its name, RUN how many terms of the tile are in
 * registers at a time. Sums run over dimensions in order, one term a lane, so the width does not
 * change a bit. */
#include "base/vector.h"
#include "search/noise_kernels.h"

enum { VECTORS = RUN / W };

int PAIRS(float *left, const float *x, float a, const float *tile, const float *b, int dims,
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
