/* Dropout's bits from Philox counters: one text for all CPU levels.
 *
 * A block of Philox has eight halves of words, so it is one byte of bits, and block lo + i is byte
 * i. Vectors hold a word in 64 bits per counter, where the multiplication wants it (as in
 * base/philox.avx2.c); the upper halves are not looked at. Only the lowest word of the counter
 * differs between blocks, so half of the first two rounds is the same for all of them, and is done
 * once, in scalars. Four vectors are in work at a time: a round is a chain (0.44 ns
 * a bit with one vector, 0.35 with two, 0.30 with four, on a busy Zen 3). */
#include "nn/pointwise_impl.h"
#include "nn/vector.h"

enum { ROUNDS = 10 };
static const uint32_t M0 = 0xD2511F53, M1 = 0xCD9E8D57; // the multipliers
static const uint32_t K0 = 0x9E3779B9, K1 = 0xBB67AE85; // added to the key from round to round

static uint8_t byte_of(sl_philox_block block, uint32_t threshold) {
    unsigned byte = 0;
    for (int w = 0; w < 4; w++) {
        byte |= (unsigned)((block.v[w] & 0xffff) >= threshold) << (2 * w);
        byte |= (unsigned)((block.v[w] >> 16) >= threshold) << (2 * w + 1);
    }
    return (uint8_t)byte;
}

#if defined(__AVX512F__)

enum { LANES = 8 };
typedef __m512i words;
SL_INLINE words w_set(uint64_t x) { return _mm512_set1_epi64((int64_t)x); }
SL_INLINE words w_count(void) { return _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7); }
SL_INLINE words w_add(words a, words b) { return _mm512_add_epi64(a, b); }
SL_INLINE words w_mul(words a, words b) { return _mm512_mul_epu32(a, b); }
SL_INLINE words w_high(words a) { return _mm512_srli_epi64(a, 32); }
SL_INLINE words w_xor(words a, words b) { return _mm512_xor_si512(a, b); }
/* The bytes of eight blocks whose words are the lower halves of a, b, c, d. */
SL_INLINE void w_bits(uint8_t *bits, words a, words b, words c, words d, uint32_t threshold) {
    const words t = _mm512_set1_epi16((int16_t)(uint16_t)threshold);
    const words ab = _mm512_mask_blend_epi32(0xaaaa, a, _mm512_slli_epi64(b, 32));
    const words cd = _mm512_mask_blend_epi32(0xaaaa, c, _mm512_slli_epi64(d, 32));
    const words first = _mm512_permutex2var_epi64(
        ab, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), cd);
    const words last = _mm512_permutex2var_epi64(
        ab, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), cd);
    const uint32_t m[2] = { _mm512_cmpge_epu16_mask(first, t), _mm512_cmpge_epu16_mask(last, t) };
    memcpy(bits, m, sizeof m);
}

#elif defined(__AVX2__)

enum { LANES = 4 };
typedef __m256i words;
SL_INLINE words w_set(uint64_t x) { return _mm256_set1_epi64x((int64_t)x); }
SL_INLINE words w_count(void) { return _mm256_setr_epi64x(0, 1, 2, 3); }
SL_INLINE words w_add(words a, words b) { return _mm256_add_epi64(a, b); }
SL_INLINE words w_mul(words a, words b) { return _mm256_mul_epu32(a, b); }
SL_INLINE words w_high(words a) { return _mm256_srli_epi64(a, 32); }
SL_INLINE words w_xor(words a, words b) { return _mm256_xor_si256(a, b); }
/* 16 bits of ones where the 16 bits of x are not below t. */
SL_INLINE words not_below(words x, words t) {
    return _mm256_cmpeq_epi16(_mm256_max_epu16(x, t), x);
}
/* The bytes of four blocks whose words are the lower halves of a, b, c, d. */
SL_INLINE void w_bits(uint8_t *bits, words a, words b, words c, words d, uint32_t threshold) {
    const words t = _mm256_set1_epi16((int16_t)(uint16_t)threshold);
    const words ab = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa);
    const words cd = _mm256_blend_epi32(c, _mm256_slli_epi64(d, 32), 0xaa);
    const words even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
    const words bytes = _mm256_packs_epi16(not_below(even, t), not_below(odd, t));
    const int m = _mm256_movemask_epi8(bytes);
    memcpy(bits, &m, sizeof m);
}

#endif

#if defined(__AVX2__)

enum { VECTORS = 4, GROUP = VECTORS * LANES };

/* What is the same for all blocks of a call. In memory: an xor takes it from there for nothing. */
typedef struct rounds {
    words x0, x1, x2, x3; // of the first two rounds
    words k0[ROUNDS], k1[ROUNDS];
    uint32_t threshold;
} rounds;

static void rounds_init(rounds *k, uint64_t key, uint64_t hi, uint64_t lo, uint32_t threshold) {
    uint32_t k0[ROUNDS], k1[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        k0[i] = (uint32_t)key + i * K0;
        k1[i] = (uint32_t)(key >> 32) + i * K1;
        k->k0[i] = w_set(k0[i]);
        k->k1[i] = w_set(k1[i]);
    }
    // round 0, in which word 0 alone varies: words 0 and 1 come out constant
    const uint64_t p1 = (uint64_t)M1 * (uint32_t)hi;
    const uint32_t c0 = (uint32_t)(p1 >> 32) ^ (uint32_t)(lo >> 32) ^ k0[0], c1 = (uint32_t)p1;
    // round 1: the product of word 0 is constant
    const uint64_t p0 = (uint64_t)M0 * c0;
    k->x0 = w_set((uint32_t)(hi >> 32) ^ k1[0]);
    k->x1 = w_set(c1 ^ k0[1]);
    k->x2 = w_set((uint32_t)(p0 >> 32) ^ k1[1]);
    k->x3 = w_set((uint32_t)p0);
    k->threshold = threshold;
}

/* GROUP bytes; `low` is the lowest word of the first one's counter. */
SL_INLINE void group(uint8_t *bits, const rounds *k, uint64_t low) {
    const words m0 = w_set(M0), m1 = w_set(M1);
    words a[VECTORS], b[VECTORS], c[VECTORS], d[VECTORS];
    for (int i = 0; i < VECTORS; i++) {
        const words count = w_add(w_set(low + (uint64_t)(i * LANES)), w_count());
        const words p = w_mul(m0, count), q = w_mul(m1, w_xor(w_high(p), k->x0));
        a[i] = w_xor(w_high(q), k->x1);
        b[i] = q;
        c[i] = w_xor(p, k->x2);
        d[i] = k->x3;
    }
    for (int round = 2; round < ROUNDS; round++)
        for (int i = 0; i < VECTORS; i++) {
            const words p = w_mul(m0, a[i]), q = w_mul(m1, c[i]);
            a[i] = w_xor(w_high(q), w_xor(b[i], k->k0[round]));
            c[i] = w_xor(w_high(p), w_xor(d[i], k->k1[round]));
            b[i] = q;
            d[i] = p;
        }
    for (int i = 0; i < VECTORS; i++)
        w_bits(bits + i * LANES, a[i], b[i], c[i], d[i], k->threshold);
}

/* As many bytes as whole groups give before the lowest word of the counter runs over; answers how
 * many. */
static size_t keep_groups(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                          uint32_t threshold) {
    const uint64_t low = lo & 0xffffffff, room = (UINT64_C(1) << 32) - low;
    const size_t most = bytes < room ? bytes : (size_t)room;
    rounds k;
    rounds_init(&k, key, hi, lo, threshold);
    size_t done = 0;
    for (; done + GROUP <= most; done += GROUP) group(bits + done, &k, low + done);
    if (done < bytes && done + GROUP <= room) {
        uint8_t last[GROUP];
        group(last, &k, low + done);
        memcpy(bits + done, last, bytes - done);
        done = bytes;
    }
    return done;
}

#else

static size_t keep_groups(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                          uint32_t threshold) {
    (void)bits, (void)bytes, (void)key, (void)hi, (void)lo, (void)threshold;
    return 0;
}

#endif

static void keep_bits(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                      uint32_t threshold) {
    if (threshold == 0 || threshold > 0xffff) { // all stay, or none: 16 bits cannot be compared
        memset(bits, threshold ? 0 : 0xff, bytes);
        return;
    }
    size_t i = keep_groups(bits, bytes, key, hi, lo, threshold);
    for (; i < bytes; i++) bits[i] = byte_of(sl_philox(key, hi, lo + i), threshold);
}
