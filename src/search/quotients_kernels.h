/* quotients_kernels - the inner loop of the search for quotients: keys of a block of terms.
 *
 * A term has the values v[k] g[k] at five probes, g being common to the block. y is taken out:
 * e[k] = v[k] g[k] - p[k] v[0] g[0], k = 1 .. 4, p[k] = y[k] / y[0]. Terms that differ by a factor
 * and by a multiple of y have the same ratios e[k] / e[1]: their key, rounded to cells and hashed.
 * The share v[0] g[0] / e[1] tells whether y has a part in it: two terms of one key and one share
 * differ by a factor alone.
 *
 * The text is compiled once per instruction set. Every operation is one IEEE operation, so all
 * variants give the same bits. */
#ifndef SL_SEARCH_QUOTIENTS_KERNELS_H
#define SL_SEARCH_QUOTIENTS_KERNELS_H

#include "base/base.h"

enum { SL_QUOTIENTS__PROBES = 6, SL_QUOTIENTS__BLOCK = 512 }; // three terms need one probe more

typedef struct sl_search__quotients_keys {
    uint32_t check[SL_QUOTIENTS__BLOCK]; // 0: no key, a value is not finite or nothing is left
    uint32_t place[SL_QUOTIENTS__BLOCK];
    float share[SL_QUOTIENTS__BLOCK];
} sl_search__quotients_keys;

typedef struct sl_search__quotients_kernels {
    void (*keys)(sl_search__quotients_keys *out, const double *const *v, int n, const double *g,
                 const double *p);
    /* passed[i] := may the filter have key i? It has two bits a key, in the word of index
     * place >> shift. n: rounded up to a multiple of 8. */
    void (*sift)(uint8_t *passed, const sl_search__quotients_keys *keys, const uint32_t *filter,
                 int shift, int n);
} sl_search__quotients_kernels;

/* The bits of a key in its word; the highest bits of its place say which word that is. */
static inline uint32_t sl_search__quotients_bits(uint32_t check, uint32_t place) {
    return 1u << (place & 31) | 1u << (check >> 27);
}

extern const sl_search__quotients_kernels sl_search__quotients_kernels_base,
    sl_search__quotients_kernels_avx2, sl_search__quotients_kernels_avx512;
const sl_search__quotients_kernels *sl_search__quotients_kernels_at(sl_isa isa);

#endif
