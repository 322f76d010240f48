/* Vectors of one CPU level, for the bodies of attention, columns and linear. The including file sets
 * SL_LANES to 4, 8 or 16 and is compiled for a CPU that has them; with 8 and 16 it has fused
 * multiply-add as well. */
#ifndef SL_ATTENTION_LANES_H
#define SL_ATTENTION_LANES_H

#include <string.h>

#if SL_LANES > 4
#include <immintrin.h>
#endif

#include "nn/attention_impl.h"

#define INLINE static inline __attribute__((always_inline))
/* Before loops over registers, whose arrays must not go to memory. clang unrolls them by itself, and
 * when told to does it too late. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
enum { LANES = SL_LANES };

typedef float vec __attribute__((vector_size(4 * SL_LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * SL_LANES)));
typedef uint32_t uvec __attribute__((vector_size(4 * SL_LANES)));
typedef float vec4 __attribute__((vector_size(16)));

/* Half a widest vector at most: 8 numbers, which every width of a head is a multiple of. */
#if SL_LANES == 4
enum { UNIT = 4 };
typedef vec unit;
typedef ivec iunit;
typedef uvec uunit;
#else
enum { UNIT = 8 };
typedef float unit __attribute__((vector_size(32)));
typedef int32_t iunit __attribute__((vector_size(32)));
typedef uint32_t uunit __attribute__((vector_size(32)));
#endif

// numbers stand anywhere: no alignment is asked for
typedef float vec_any __attribute__((vector_size(4 * SL_LANES), aligned(4), may_alias));
typedef float vec4_any __attribute__((vector_size(16), aligned(4), may_alias));
#if SL_LANES == 4
typedef vec_any unit_any;
#else
typedef float unit_any __attribute__((vector_size(32), aligned(4), may_alias));
#endif

INLINE vec load(const float *x) { return *(const vec_any *)x; }
INLINE void store(float *x, vec v) { *(vec_any *)x = v; }
INLINE unit load_unit(const float *x) { return *(const unit_any *)x; }
INLINE void store_unit(float *x, unit v) { *(unit_any *)x = v; }
INLINE vec all(float x) { return x - (vec){ 0 }; }
INLINE unit all_units(float x) { return x - (unit){ 0 }; }

/* The first n numbers, n being LANES or, of vectors of 16, half of that. */
INLINE void store_first(float *x, vec v, int n) {
#if SL_LANES == 16
    if (n == 8) {
        store_unit(x, __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7));
        return;
    }
#else
    (void)n;
#endif
    store(x, v);
}

INLINE vec load_first(const float *x, int n) {
#if SL_LANES == 16
    if (n == 8) {
        const unit u = load_unit(x), zero = { 0 };
        return __builtin_shufflevector(u, zero, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                       15);
    }
#else
    (void)n;
#endif
    return load(x);
}

/* a b + c */
INLINE vec muladd(vec a, vec b, vec c) {
#if SL_LANES == 4
    return a * b + c;
#elif SL_LANES == 8
    return _mm256_fmadd_ps(a, b, c);
#else
    return _mm512_fmadd_ps(a, b, c);
#endif
}

INLINE unit muladd_unit(unit a, unit b, unit c) {
#if SL_LANES == 4
    return a * b + c;
#else
    return _mm256_fmadd_ps(a, b, c);
#endif
}

INLINE vec choose(ivec mask, vec yes, vec no) {
    return (vec)(((ivec)yes & mask) | ((ivec)no & ~mask));
}
INLINE vec clear_unless(ivec mask, vec v) { return (vec)((ivec)v & mask); }
INLINE vec larger(vec a, vec b) {
#if SL_LANES == 4
    return choose(a > b, a, b);
#elif SL_LANES == 8
    return _mm256_max_ps(a, b);
#else
    return _mm512_max_ps(a, b);
#endif
}

INLINE ivec count_up(void) {
    ivec v;
    for (int i = 0; i < LANES; i++) v[i] = i;
    return v;
}

/* Bits bit .. bit+LANES-1 as a mask of lanes; bit is a multiple of LANES. */
INLINE ivec lanes_of_bits(const uint8_t *bits, size_t bit) {
#if SL_LANES == 16
    uint16_t word;
    memcpy(&word, bits + bit / 8, 2);
#elif SL_LANES == 8
    const uint8_t word = bits[bit / 8];
#else
    const int word = bits[bit / 8] >> (bit % 8);
#endif
    ivec one;
    for (int i = 0; i < LANES; i++) one[i] = 1 << i;
    return (((int32_t)word - (ivec){ 0 }) & one) == one;
}

/* Four vectors of four as their transpose. */
INLINE void transpose(vec4 r[4]) {
    const vec4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    const vec4 b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    const vec4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    const vec4 d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

INLINE vec4 larger4(vec4 a, vec4 b) {
#if SL_LANES == 4
    return larger(a, b);
#else
    return _mm_max_ps(a, b);
#endif
}

/* The sums, or the largest, of each of four vectors: by halves, then across. */
#if SL_LANES == 4
INLINE vec4 sum_half(vec v) { return v; }
INLINE vec4 max_half(vec v) { return v; }
#else
INLINE vec4 low4(unit v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3); }
INLINE vec4 high4(unit v) { return __builtin_shufflevector(v, v, 4, 5, 6, 7); }
#if SL_LANES == 8
INLINE vec4 sum_half(vec v) { return low4(v) + high4(v); }
INLINE vec4 max_half(vec v) { return larger4(low4(v), high4(v)); }
#else
INLINE unit low8(vec v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7); }
INLINE unit high8(vec v) { return __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15); }
INLINE vec4 sum_half(vec v) {
    const unit u = low8(v) + high8(v);
    return low4(u) + high4(u);
}
INLINE vec4 max_half(vec v) {
    const unit u = _mm256_max_ps(low8(v), high8(v));
    return larger4(low4(u), high4(u));
}
#endif
#endif
INLINE vec4 sum_of_each(const vec v[4]) {
    vec4 r[4] = { sum_half(v[0]), sum_half(v[1]), sum_half(v[2]), sum_half(v[3]) };
    transpose(r);
    return (r[0] + r[1]) + (r[2] + r[3]);
}
INLINE vec4 max_of_each(const vec v[4]) {
    vec4 r[4] = { max_half(v[0]), max_half(v[1]), max_half(v[2]), max_half(v[3]) };
    transpose(r);
    return larger4(larger4(r[0], r[1]), larger4(r[2], r[3]));
}

/* 2^x for x <= 0, within 2 units of the last place; 0 below -100, so that no number here or in what
 * is made of it is subnormal, which would be slow. x = n + f with |f| <= 1/2; 2^f by a polynomial
 * that is minimax for the relative error. NaN stays NaN. */
#define SL_EXP2_BODY(VEC, UVEC, FMA, ALL)                                 \
    const VEC magic = ALL(0x1.8p23f);                                     \
    const VEC shifted = x + magic; /* n in its low bits */                \
    const VEC f = x - (shifted - magic);                                  \
    VEC y = ALL(0x1.41fbbcp-13f);                                         \
    y = FMA(y, f, ALL(0x1.5f3e54p-10f));                                  \
    y = FMA(y, f, ALL(0x1.3b2d4cp-7f));                                   \
    y = FMA(y, f, ALL(0x1.c6aee8p-5f));                                   \
    y = FMA(y, f, ALL(0x1.ebfbdcp-3f));                                   \
    y = FMA(y, f, ALL(0x1.62e43p-1f));                                    \
    y = FMA(y, f, ALL(1.0f));                                             \
    const UVEC power = (UVEC)y + ((UVEC)shifted << 23);                   \
    return (VEC)(power & ~(UVEC)(x < ALL(-100.0f)));

INLINE vec exp2_vec(vec x) { SL_EXP2_BODY(vec, uvec, muladd, all) }
INLINE unit exp2_unit(unit x) { SL_EXP2_BODY(unit, uunit, muladd_unit, all_units) }
#undef SL_EXP2_BODY

#endif
