/* philox - the counter-based generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011), and streams of numbers read from it.
 *
 * A stream's 128-bit counter:
 *
 *     word      3         2         1         0
 *           [     index      ] [ stream ] [ block ]        key = seed
 *              hi                lo
 *
 * so different (seed, stream, index) never meet, and each has 2^32 - 1 blocks of four numbers. */
#include <math.h>

#include "base/philox_impl.h"

sl_philox_block sl_philox(uint64_t key, uint64_t counter_hi, uint64_t counter_lo) {
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)counter_lo, c1 = (uint32_t)(counter_lo >> 32);
    uint32_t c2 = (uint32_t)counter_hi, c3 = (uint32_t)(counter_hi >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = UINT64_C(0xD2511F53) * c0;
        uint64_t p1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += UINT32_C(0x9E3779B9); // golden ratio
        k1 += UINT32_C(0xBB67AE85); // sqrt(3) - 1
    }
    return (sl_philox_block){ { c0, c1, c2, c3 } };
}

void sl_rng_init(sl_rng *r, uint64_t seed, uint32_t stream, uint64_t index) {
    *r = (sl_rng){ .key = seed, .hi = index, .lo = (uint64_t)stream << 32 };
}

uint32_t sl_rng_u32(sl_rng *r) {
    if (r->left == 0) {
        SL_ASSERT((uint32_t)r->lo != UINT32_MAX); // one more and it would be the next stream
        r->block = sl_philox(r->key, r->hi, r->lo++);
        r->left = 4;
    }
    return r->block.v[4 - r->left--];
}

uint64_t sl_rng_u64(sl_rng *r) {
    uint64_t low = sl_rng_u32(r);
    return low | (uint64_t)sl_rng_u32(r) << 32;
}

/* Lemire, "Fast random integer generation in an interval" (2019): the high word of a product, which
 * is fair once the 2^32 mod n lowest low words are drawn again. */
uint32_t sl_rng_below(sl_rng *r, uint32_t n) {
    SL_ASSERT(n > 0);
    uint64_t m = (uint64_t)sl_rng_u32(r) * n;
    if ((uint32_t)m < n) { // only then can it be one of those; spares the division
        uint32_t unfair = (0u - n) % n;
        while ((uint32_t)m < unfair) m = (uint64_t)sl_rng_u32(r) * n;
    }
    return (uint32_t)(m >> 32);
}

double sl_rng_uniform(sl_rng *r) { return (double)(sl_rng_u64(r) >> 11) * 0x1p-53; }

void sl_rng_uniforms(double *out, sl_rng *r, int n) {
    int i = 0;
    if (r->left == 0 && n >= 2) { // whole blocks, without passing through the stream
        const int blocks = n / 2;
        SL_ASSERT((uint32_t)r->lo <= UINT32_MAX - (uint32_t)blocks);
        int done = 0;
#if defined(__x86_64__)
        if (sl_cpu() >= SL_ISA_AVX2)
            done = sl_philox__uniforms_avx2(out, r->key, r->hi, r->lo, blocks);
#endif
        for (; done < blocks; done++) {
            sl_philox_block b = sl_philox(r->key, r->hi, r->lo + (uint64_t)done);
            uint64_t u = b.v[0] | (uint64_t)b.v[1] << 32, v = b.v[2] | (uint64_t)b.v[3] << 32;
            out[2 * done] = (double)(u >> 11) * 0x1p-53;
            out[2 * done + 1] = (double)(v >> 11) * 0x1p-53;
        }
        r->lo += (uint64_t)blocks;
        i = 2 * blocks;
    }
    for (; i < n; i++) out[i] = sl_rng_uniform(r);
}

double sl_rng_range(sl_rng *r, double lo, double hi) { return lo + (hi - lo) * sl_rng_uniform(r); }

/* Box and Muller (1958), one of the pair: sqrt(-2 log u) times the sine of a random angle. The
 * angle is drawn in the first quadrant and gets a random sign, which is the same distribution and
 * needs no reduction. The other one is not kept, so a normal is always four words of the stream.
 * Values reach 8.57, where the tail is 1e-17. sqrt is rounded correctly on every machine. */
double sl_rng_normal(sl_rng *r) {
    uint64_t a = sl_rng_u64(r), b = sl_rng_u64(r);
    double u = ((double)(a >> 12) + 0.5) * 0x1p-52; // (0, 1), exact
    double t = ((double)(b >> 12) + 0.5) * 0x1p-52;
    double v = sqrt(-2.0 * sl_log(u)) * sl_sin(t * 0x1.921fb54442d18p0); // t pi/2
    return b & 1 ? -v : v;
}
