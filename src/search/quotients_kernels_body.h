/* The text of all variants of quotients_kernels.h; the including file names the table. */
#include <math.h>

#include "search/lattice_kernels.h"
#include "search/quotients_kernels.h"

/* Ratios below SMALL count as 0, those above LARGE say nothing; LEFT is the part of its size that a
 * term must keep without y. Terms that grow by many orders of magnitude have small ratios: 1e-9, as
 * in sums of halves, would make them all equal. */
#define SMALL 1e-30
#define LARGE 1e30
#define LEFT  1e-9
enum { CELL = 6 }; // bits of a ratio's float that keys leave out

static inline uint32_t cell(double ratio) {
    return sl_search__lattice_cell((float)(fabs(ratio) < SMALL ? 0.0 : ratio), CELL);
}

static void keys(sl_search__quotients_keys *restrict out, const double *const *v, int n,
                 const double *g, const double *p) {
    const double *restrict v0 = v[0], *restrict v1 = v[1], *restrict v2 = v[2], *restrict v3 = v[3],
                           *restrict v4 = v[4];
    const double g1 = g[1], g2 = g[2], g3 = g[3], g4 = g[4];
    const double p1 = p[1] * g[0], p2 = p[2] * g[0], p3 = p[3] * g[0], p4 = p[4] * g[0], g0 = g[0];
    for (int i = 0; i < n; i++) {
        double w1 = v1[i] * g1, w2 = v2[i] * g2, w3 = v3[i] * g3, w4 = v4[i] * g4;
        double e1 = w1 - v0[i] * p1, e2 = w2 - v0[i] * p2, e3 = w3 - v0[i] * p3,
               e4 = w4 - v0[i] * p4;
        double inverse = 1 / e1;
        double r2 = e2 * inverse, r3 = e3 * inverse, r4 = e4 * inverse;
        double size = fabs(w1) + fabs(w2) + fabs(w3) + fabs(w4);
        double left = fabs(e1) + fabs(e2) + fabs(e3) + fabs(e4);
        double sum = fabs(r2) + fabs(r3) + fabs(r4);
        bool good = sum < LARGE && left > LEFT * size && size < LARGE;
        uint32_t a = cell(r2), b = cell(r3), c = cell(r4);
        uint32_t check = sl_search__lattice_high(a, b, c) | 1u;
        out->check[i] = good ? check : 0;
        out->place[i] = sl_search__lattice_low(a, b, c);
        out->share[i] = (float)(v0[i] * g0 * inverse);
    }
}

static void sift(uint8_t *restrict passed, const sl_search__quotients_keys *restrict keys,
                 const uint32_t *restrict filter, int shift, int n) {
    for (int i = 0; i < (n + 7) / 8 * 8; i++) {
        const uint32_t check = keys->check[i], place = keys->place[i];
        const uint32_t bits = sl_search__quotients_bits(check, place);
        passed[i] = (check != 0) & ((filter[place >> shift] & bits) == bits);
    }
}

const sl_search__quotients_kernels KERNELS = { keys, sift };
