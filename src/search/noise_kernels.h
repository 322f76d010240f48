/* Pairs of projected terms, one against a tile of many: the inner loop of the search under noise.
 * Compiled per instruction set from noise_kernels_body.h; every variant gives the same bits. */
#ifndef SL_NOISE_KERNELS_H
#define SL_NOISE_KERNELS_H

#include "base/base.h"

#define SL_NOISE__TILE 64 // terms of a tile

/* With f, g and y of unit length, c = f.g, a = f.y and b = g.y, the pair leaves
 *     1 - (a^2 + b^2 - 2 a b c) / (1 - c^2)
 * of y. left[k] := that for f = x and g = column k of the tile, or 2 where f and g are too nearly
 * parallel to mean anything (1 - c^2 < SL_NOISE__PARALLEL). Returns how many are below `most`.
 *
 *   x[dims]; a = x.y; b[SL_NOISE__TILE]; tile[dims][SL_NOISE__TILE], one dimension after the other
 */
typedef int (*sl_search__noise_pairs_fn)(float *left, const float *x, float a, const float *tile,
                                  const float *b, int dims, float most);

#define SL_NOISE__PARALLEL 1e-4f

int sl_search__noise_pairs_base(float *left, const float *x, float a, const float *tile,
                                const float *b, int dims, float most);
int sl_search__noise_pairs_avx2(float *left, const float *x, float a, const float *tile,
                                const float *b, int dims, float most);
int sl_search__noise_pairs_avx512(float *left, const float *x, float a, const float *tile,
                                  const float *b, int dims, float most);
sl_search__noise_pairs_fn sl_search__noise_pairs_at(sl_isa isa);

#endif
