/* Dropout's bits from Philox counters: one text for all instruction sets.
 *
 * A block of Philox has eight halves of words, so it is one byte of bits, and block lo + i is byte
 * i. Vectors hold a word in 64 bits per counter, as the multiplication needs it (as in
 * base/philox.avx2.c); the upper halves are not looked at. Only the lowest word of the counter
 * differs between blocks, so half of the first two rounds is the same for all of them, and is done
 * once, in scalars. Four vectors are in work at a time: a round is a chain (0.44 ns
 * a bit with one vector, 0.35 with two, 0.30 with four, on a busy Zen 3). */
#include "base/vector.h"
#include "nn/pointwise_impl.h"

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

enum { VECTORS = 4, GROUP = VECTORS * WD };

/* What is the same for all blocks of a call. In memory: an xor takes it from there for nothing. */
typedef struct rounds {
    ulvec x0, x1, x2, x3; // of the first two rounds
    ulvec k0[ROUNDS], k1[ROUNDS];
    uint32_t threshold;
} rounds;

static void rounds_init(rounds *k, uint64_t key, uint64_t hi, uint64_t lo, uint32_t threshold) {
    uint32_t k0[ROUNDS], k1[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        k0[i] = (uint32_t)key + i * K0;
        k1[i] = (uint32_t)(key >> 32) + i * K1;
        k->k0[i] = u_set(k0[i]);
        k->k1[i] = u_set(k1[i]);
    }
    // round 0, in which word 0 alone varies: words 0 and 1 come out constant
    const uint64_t p1 = (uint64_t)M1 * (uint32_t)hi;
    const uint32_t c0 = (uint32_t)(p1 >> 32) ^ (uint32_t)(lo >> 32) ^ k0[0], c1 = (uint32_t)p1;
    // round 1: the product of word 0 is constant
    const uint64_t p0 = (uint64_t)M0 * c0;
    k->x0 = u_set((uint32_t)(hi >> 32) ^ k1[0]);
    k->x1 = u_set(c1 ^ k0[1]);
    k->x2 = u_set((uint32_t)(p0 >> 32) ^ k1[1]);
    k->x3 = u_set((uint32_t)p0);
    k->threshold = threshold;
}

/* GROUP bytes; `low` is the lowest word of the first one's counter. */
SL_INLINE void group(uint8_t *bits, const rounds *k, uint64_t low) {
    const ulvec m0 = u_set(M0), m1 = u_set(M1);
    ulvec a[VECTORS], b[VECTORS], c[VECTORS], d[VECTORS];
    for (int i = 0; i < VECTORS; i++) {
        const ulvec p = u_mul_low(m0, u_count() + (low + (uint64_t)(i * WD)));
        const ulvec q = u_mul_low(m1, (p >> 32) ^ k->x0);
        a[i] = (q >> 32) ^ k->x1;
        b[i] = q;
        c[i] = p ^ k->x2;
        d[i] = k->x3;
    }
    for (int round = 2; round < ROUNDS; round++)
        for (int i = 0; i < VECTORS; i++) {
            const ulvec p = u_mul_low(m0, a[i]), q = u_mul_low(m1, c[i]);
            a[i] = (q >> 32) ^ (b[i] ^ k->k0[round]);
            c[i] = (p >> 32) ^ (d[i] ^ k->k1[round]);
            b[i] = q;
            d[i] = p;
        }
    for (int i = 0; i < VECTORS; i++)
        u_not_below(bits + i * WD, u_join(a[i], b[i]), u_join(c[i], d[i]), (uint16_t)k->threshold);
}

/* As many bytes as whole groups give before the lowest word of the counter runs over; answers how
 * many. */
static size_t mask_groups(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
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

static void dropout_mask(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                      uint32_t threshold) {
    if (threshold == 0 || threshold > 0xffff) { // all stay, or none: 16 bits cannot be compared
        memset(bits, threshold ? 0 : 0xff, bytes);
        return;
    }
    size_t i = mask_groups(bits, bytes, key, hi, lo, threshold);
    for (; i < bytes; i++) bits[i] = byte_of(sl_philox(key, hi, lo + i), threshold);
}
