/* philox - eight counters at once: two vectors of four lanes, each lane holding a 32-bit word in 64
 * bits, where the multiplication wants it. A round is a chain of a multiplication and three cheap
 * operations, so one vector leaves the multiplier idle, and four do not fit the registers. */
#include <immintrin.h>

#include "base/philox_impl.h"

enum { VECTORS = 2, LANES = 4 };

typedef struct lanes {
    __m256i c0, c1, c2, c3; // words of the counter, in the lower halves
} lanes;

/* The exact double of a 53-bit whole number: its halves as the low bits of 2^52 and 2^84. */
static __m256d to_double(__m256i v) {
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    const __m256i two52 = _mm256_castpd_si256(_mm256_set1_pd(0x1p52));
    const __m256i two84 = _mm256_castpd_si256(_mm256_set1_pd(0x1p84));
    __m256d lo = _mm256_castsi256_pd(_mm256_or_si256(_mm256_and_si256(v, low), two52));
    __m256d hi = _mm256_castsi256_pd(_mm256_or_si256(_mm256_srli_epi64(v, 32), two84));
    hi = _mm256_sub_pd(hi, _mm256_set1_pd(0x1p84));
    return _mm256_add_pd(hi, _mm256_sub_pd(lo, _mm256_set1_pd(0x1p52)));
}

/* [0, 1) of the 64 bits with these halves. */
static __m256d uniform(__m256i low, __m256i high) {
    __m256i bits = _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xaa);
    return _mm256_mul_pd(to_double(_mm256_srli_epi64(bits, 11)), _mm256_set1_pd(0x1p-53));
}

/* Uniforms of four blocks, two each: a0 b0 a1 b1 ... */
static void store(double *out, const lanes *v) {
    __m256d a = uniform(v->c0, v->c1), b = uniform(v->c2, v->c3);
    __m256d lo = _mm256_unpacklo_pd(a, b),
            hi = _mm256_unpackhi_pd(a, b); // a0 b0 a2 b2, a1 b1 a3 b3
    _mm256_storeu_pd(out, _mm256_permute2f128_pd(lo, hi, 0x20));
    _mm256_storeu_pd(out + 4, _mm256_permute2f128_pd(lo, hi, 0x31));
}

static void eight(double *out, uint64_t key, uint64_t hi, uint64_t lo) {
    const __m256i m0 = _mm256_set1_epi64x(0xD2511F53), m1 = _mm256_set1_epi64x(0xCD9E8D57);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    lanes v[VECTORS];
    for (int i = 0; i < VECTORS; i++) {
        __m256i count = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)(lo & 0xffffffff) + i * LANES),
                                         _mm256_set_epi64x(3, 2, 1, 0));
        v[i] = (lanes){ count, _mm256_set1_epi64x((int64_t)(lo >> 32)),
                        _mm256_set1_epi64x((int64_t)(hi & 0xffffffff)),
                        _mm256_set1_epi64x((int64_t)(hi >> 32)) };
    }
    for (int round = 0; round < 10; round++) {
        const __m256i a = _mm256_set1_epi64x(k0), b = _mm256_set1_epi64x(k1);
        for (int i = 0; i < VECTORS; i++) {
            __m256i p0 = _mm256_mul_epu32(m0, v[i].c0), p1 = _mm256_mul_epu32(m1, v[i].c2);
            v[i].c0 = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(v[i].c1, a));
            v[i].c2 = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(v[i].c3, b));
            v[i].c1 = p1; // the multiplication does not see upper halves
            v[i].c3 = p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < VECTORS; i++) store(out + i * 2 * LANES, &v[i]);
}

int sl_philox__uniforms_avx2(double *out, uint64_t key, uint64_t hi, uint64_t lo, int blocks) {
    int done = 0;
    for (; done + VECTORS * LANES <= blocks; done += VECTORS * LANES)
        eight(out + 2 * done, key, hi, lo + (uint64_t)done);
    return done;
}
