/* noise_kernels - the inner loops of the search under noise: terms projected, and pairs of
 * projected terms, one against a tile of many.
 *
 * Compiled per instruction set from noise_kernels_body.h; every variant gives the same bits. */
#ifndef SL_NOISE_KERNELS_H
#define SL_NOISE_KERNELS_H

#include "base/base.h"

#define SL_NOISE__TILE     64 // terms of a tile
#define SL_NOISE__PARALLEL 1e-4f

typedef struct sl_search__noise_kernels {
    /* With f, g and y of unit length, c = f.g, a = f.y and b = g.y, the pair leaves
     *     1 - (a^2 + b^2 - 2 a b c) / (1 - c^2)
     * of y. left[k] := that for f = x and g = column k of the tile, or 2 where f and g are too
     * nearly parallel to mean anything (1 - c^2 < SL_NOISE__PARALLEL). Returns how many are below
     * `most`.
     *
     *   x[dims]; a = x.y; b[SL_NOISE__TILE]; tile[dims][SL_NOISE__TILE], a dimension a row */
    int (*pairs)(float *left, const float *x, float a, const float *tile, const float *b, int dims,
                 float most);
    /* q[d] := row d of the projector times value. stride is a multiple of 8. */
    void (*project)(double *q, const double *projector, const double *value, int dims, int stride);
} sl_search__noise_kernels;

extern const sl_search__noise_kernels sl_search__noise_kernels_base, sl_search__noise_kernels_avx2,
    sl_search__noise_kernels_avx512;
const sl_search__noise_kernels *sl_search__noise_kernels_at(sl_isa isa);

#endif
