/* philox - eight counters at once: two vectors of four lanes, each lane holding a 32-bit word in 64
 * bits, where the multiplication wants it. A round is a chain of a multiplication and three cheap
 * operations, so one vector leaves the multiplier idle, and four do not fit the registers. */
#include "base/philox_impl.h"
#include "base/vector.h"

enum { VECTORS = 2 };

typedef struct lanes {
    ulvec c0, c1, c2, c3; // words of the counter, in the lower halves
} lanes;

/* The exact double of a 53-bit whole number: its halves as the low bits of 2^52 and 2^84. */
SL_INLINE dvec to_double(ulvec v) {
    const dvec two52 = d_set(0x1p52), two84 = d_set(0x1p84);
    const dvec low = (dvec)((v & 0xffffffff) | (ulvec)two52), high = (dvec)(v >> 32 | (ulvec)two84);
    return (high - two84) + (low - two52);
}

/* [0, 1) of the 64 bits with these halves. */
SL_INLINE dvec uniform(ulvec low, ulvec high) {
    return to_double(u_join(low, high) >> 11) * 0x1p-53;
}

/* Uniforms of four blocks, two each: a0 b0 a1 b1 ... */
SL_INLINE void store(double *out, const lanes *v) {
    const dvec a = uniform(v->c0, v->c1), b = uniform(v->c2, v->c3);
    d_store(out, __builtin_shufflevector(a, b, 0, 4, 1, 5));
    d_store(out + WD, __builtin_shufflevector(a, b, 2, 6, 3, 7));
}

static void eight(double *out, uint64_t key, uint64_t hi, uint64_t lo) {
    const ulvec m0 = u_set(0xD2511F53), m1 = u_set(0xCD9E8D57);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    lanes v[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        v[i] = (lanes){ u_count() + ((lo & 0xffffffff) + (uint64_t)(i * WD)), u_set(lo >> 32),
                        u_set(hi & 0xffffffff), u_set(hi >> 32) };
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < VECTORS; i++) {
            const ulvec p0 = u_mul_low(m0, v[i].c0), p1 = u_mul_low(m1, v[i].c2);
            v[i].c0 = (p1 >> 32) ^ (v[i].c1 ^ k0);
            v[i].c2 = (p0 >> 32) ^ (v[i].c3 ^ k1);
            v[i].c1 = p1; // the multiplication does not see upper halves
            v[i].c3 = p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < VECTORS; i++) store(out + i * 2 * WD, &v[i]);
}

int sl_philox__uniforms_avx2(double *out, uint64_t key, uint64_t hi, uint64_t lo, int blocks) {
    int done = 0;
    for (; done + VECTORS * WD <= blocks; done += VECTORS * WD)
        eight(out + 2 * done, key, hi, lo + (uint64_t)done);
    return done;
}
