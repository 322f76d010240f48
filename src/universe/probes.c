/* Functions as values at fixed points. */
#include "universe/universe_impl.h"

#include <math.h>
#include <string.h>

/* Magnitudes 0.3 .. 2.3: large enough for sin and exp to bend, small enough for exp(exp(exp(x))) to
 * stay in range somewhere. Drawn once from the generator, hence the same for ever. */
static long double coordinate(int i, int variable) {
    sl_rng rng;
    sl_rng_init(&rng, 0x70726f6267, (uint32_t)variable, (uint64_t)i);
    long double size = 0.3L + 2.0L * (long double)sl_rng_u64(&rng) * 0x1p-64L;
    return (i / SL_UNIVERSE__PER_ORTHANT) >> variable & 1 ? -size : size;
}

static long double distance(const sl_universe__probe_point p, int variables) {
    long double d = 0;
    for (int v = 0; v < variables; v++) d += p[v] * p[v];
    return d;
}

void sl_universe__probes(sl_universe__probe_point *point, int variables) {
    for (int i = 0; i < SL_UNIVERSE__PER_ORTHANT << variables; i++) {
        sl_universe__probe_point p = { 0 };
        for (int v = 0; v < variables; v++) p[v] = coordinate(i, v);
        int at = i; // insertion into the orthant's part
        for (; at % SL_UNIVERSE__PER_ORTHANT &&
               distance(point[at - 1], variables) > distance(p, variables);
             at--)
            memcpy(point[at], point[at - 1], sizeof p);
        memcpy(point[at], p, sizeof p);
    }
}

uint64_t sl_universe__cell(long double v) {
    if (fabsl(v) < 0x1p-8L)
        return SL_UNIVERSE__CELL_IS_ABSOLUTE |
               (uint64_t)((int64_t)floorl(v * 0x1p34L) + (1ll << 40));
    const sl_long_bits x = sl_long_bits_of(v);
    return (uint64_t)x.exponent << 26 | x.mantissa >> 38;
}

sl_universe__cells sl_universe__cells_of(long double v) {
    sl_universe__cells c = { sl_universe__cell(v), 0 };
    c.second = c.first;
    if (fabsl(v) >=
        0x1.01p-8L) { // far from both edges of a relative cell, as nearly all values are?
        uint64_t within = sl_long_bits_of(v).mantissa & ((1ull << 38) - 1);
        if (within - (1ull << 29) < (1ull << 38) - (2ull << 29)) return c;
    }
    // a thousandth of a cell down: of two equal values on both sides of an edge the upper one has
    // both
    c.second = sl_universe__cell(v - (fabsl(v) * 0x1p-36L + 0x1p-44L));
    return c;
}

sl_universe__keys sl_universe__value_keys(long double v, int probe) {
    sl_universe__cells c = sl_universe__cells_of(v);
    return (sl_universe__keys){ sl_universe__key(c.first, probe),
                                sl_universe__key(c.second, probe) };
}

sl_universe__keys sl_universe__keys_of(const long double *v, int o) {
    sl_universe__keys k = { 0, 0 };
    bool first_ends = false, second_ends = false;
    for (int i = 0; i < SL_UNIVERSE__PER_ORTHANT && !(first_ends && second_ends); i++) {
        sl_universe__cells c = sl_universe__cells_of(v[i]);
        if (!first_ends)
            k.first = sl_universe__key(c.first ^ k.first, o * SL_UNIVERSE__PER_ORTHANT + i);
        if (!second_ends)
            k.second = sl_universe__key(c.second ^ k.second, o * SL_UNIVERSE__PER_ORTHANT + i);
        first_ends |= !(c.first & SL_UNIVERSE__CELL_IS_ABSOLUTE);
        second_ends |= !(c.second & SL_UNIVERSE__CELL_IS_ABSOLUTE);
    }
    return k;
}

void sl_universe__shape_of(sl_universe__shape *s, const long double *v, int probes) {
    *s = (sl_universe__shape){ .exp_min = 0, .exp_max = 0 };
    bool any = false;
    for (int i = 0; i < probes; i++) {
        if (!isfinite(v[i])) continue;
        s->real |= (sl_universe__probe_set)1 << i;
        if (v[i] == 0) {
            s->zero |= (sl_universe__probe_set)1 << i;
            continue;
        }
        int e = ilogbl(v[i]);
        s->exp_min = any ? SL_MIN(s->exp_min, e) : e;
        s->exp_max = any ? SL_MAX(s->exp_max, e) : e;
        any = true;
    }
    const sl_universe__probe_set orthant =
        ((sl_universe__probe_set)1 << SL_UNIVERSE__PER_ORTHANT) - 1;
    for (int o = 0; o < probes / SL_UNIVERSE__PER_ORTHANT; o++)
        if ((s->real >> o * SL_UNIVERSE__PER_ORTHANT & orthant) == orthant)
            s->full |= (uint8_t)(1 << o);
}

bool sl_universe__agree(const long double *a, const long double *b, int probes) {
    bool shared = false;
    for (int i = 0; i < probes; i++) {
        if (isnan(a[i]) || isnan(b[i])) continue;
        if (!(fabsl(a[i] - b[i]) <= SL_UNIVERSE__TOLERANCE * (1 + fabsl(a[i])))) return false;
        shared = true;
    }
    return shared;
}

/* ---------------------------------------------------------------- table --------------------- */

sl_status sl_universe__table_grow(sl_universe__table *t, int64_t n) {
    uint64_t slots = t->slot ? t->mask + 1 : 0, want = SL_MAX(slots, 1024);
    while ((double)want * 0.6 < (double)n) want *= 2;
    if (want == slots) return SL_OK;
    sl_universe__table bigger = { sl_calloc(want, sizeof(sl_universe__slot)), want - 1, 0 };
    if (!bigger.slot)
        return sl_fail_memory(want, sizeof(sl_universe__slot), "the table of functions");
    // in the order of the old chains, so that equal keys keep their order: start behind an empty
    // slot
    uint64_t start = 0;
    while (slots && t->slot[start].key) start++;
    for (uint64_t k = 0; k < slots; k++) {
        const sl_universe__slot *s = &t->slot[(start + k) & t->mask];
        if (s->key) sl_universe__table_add(&bigger, s->key, s->value);
    }
    sl_free(t->slot);
    *t = bigger;
    return SL_OK;
}

void sl_universe__table_clear(sl_universe__table *t) {
    sl_free(t->slot);
    *t = (sl_universe__table){ 0 };
}
