/* order - a permutation of 0 .. n-1 that is computed, not stored.
 *
 * A Feistel network on pairs of digits (l, r) with l < a, r < b and a b just above n (Black and
 * Rogaway, "Ciphers with arbitrary finite domains", 2002): in turn each half is shifted by a keyed
 * function of the other, which can be undone whatever the function is. Values from n on are walked
 * through the network again until they come below it; a b < n + a, so that is rare. */
#include <math.h>

#include "pairs/pairs_impl.h"

enum { ROUNDS = 8 };

typedef struct grid {
    uint64_t a, b;
} grid;

static grid grid_of(int64_t n) {
    uint64_t a = (uint64_t)ceil(sqrt((double)n));
    return (grid){ a, ((uint64_t)n + a - 1) / a };
}

static uint64_t shift(sl_pairs__key key, int round, uint64_t half, uint64_t below) {
    uint64_t lo =
        (uint64_t)SL_PAIRS__PURPOSE_ORDER << 56 | (uint64_t)key.split << 52 | (uint64_t)round;
    sl_philox_block v = sl_philox(key.seed, (uint64_t)key.pass << 32 ^ half, lo);
    return (v.v[0] | (uint64_t)v.v[1] << 32) % below;
}

static int64_t forward(grid g, sl_pairs__key key, int64_t i) {
    uint64_t l = (uint64_t)i % g.a, r = (uint64_t)i / g.a;
    for (int round = 0; round < ROUNDS; round += 2) {
        l = (l + shift(key, round, r, g.a)) % g.a;
        r = (r + shift(key, round + 1, l, g.b)) % g.b;
    }
    return (int64_t)(l + g.a * r);
}

static int64_t backward(grid g, sl_pairs__key key, int64_t i) {
    uint64_t l = (uint64_t)i % g.a, r = (uint64_t)i / g.a;
    for (int round = ROUNDS; round > 0; round -= 2) {
        r = (r + g.b - shift(key, round - 1, l, g.b)) % g.b;
        l = (l + g.a - shift(key, round - 2, r, g.a)) % g.a;
    }
    return (int64_t)(l + g.a * r);
}

int64_t sl_pairs__permute(int64_t n, sl_pairs__key key, int64_t i) {
    SL_ASSERT(i >= 0 && i < n);
    grid g = grid_of(n);
    do i = forward(g, key, i);
    while (i >= n);
    return i;
}

int64_t sl_pairs__permute_inverse(int64_t n, sl_pairs__key key, int64_t i) {
    SL_ASSERT(i >= 0 && i < n);
    grid g = grid_of(n);
    do i = backward(g, key, i);
    while (i >= n);
    return i;
}
