/* vector - vectors of one register, the vocabulary of kernels.
 *
 * A kernel is one text that is compiled once per instruction set:
 *
 *     X_body.h       the text, in these vectors or in plain loops
 *     X.c            compiles it for every CPU, and chooses between the variants by sl_cpu()
 *     X.avx2.c       compiles it for AVX2
 *     X.avx512.c     compiles it for AVX-512
 *
 * The compiler's macros say which instruction set the including file is compiled for:
 *
 *     vec  ivec uvec      W floats, or as many 32-bit integers with and without a sign: 4, 8, 16
 *     dvec lvec ulvec     WD doubles, or as many 64-bit integers: 2, 4, 8
 *     unit iunit uunit    UNIT floats: half of the widest vector at most, 4 or 8
 *     vec4                4 floats
 *
 * These are the vector types of GCC and clang: + - * / & | ^ << >> work on them, also with a scalar
 * on one side, and a comparison gives a mask of integers, all bits set where it holds. Functions
 * below begin with v_ for floats, d_ for doubles, u_ for integers, unit_ for units.
 *
 * Only this file has instructions of a CPU, each beside the same in plain vectors for all other
 * CPUs. The bits are the same either way. Nothing here needs alignment. */
#ifndef SL_VECTOR_H
#define SL_VECTOR_H

#include <string.h>

#include "base/base.h"

#if defined(__AVX512F__)
#define SL_VECTOR_BYTES 64
#define SL_X86(name)    _mm512_##name
#elif defined(__AVX2__)
#define SL_VECTOR_BYTES 32
#define SL_X86(name)    _mm256_##name
#else
#define SL_VECTOR_BYTES 16
#if defined(__SSE4_1__)
#define SL_X86(name) _mm_##name
#endif
#endif
#if defined(SL_X86)
#include <immintrin.h>
#endif

#define SL_INLINE static inline __attribute__((always_inline, unused))
/* Before loops over arrays that must stay in registers. clang unrolls them by itself; with the
 * pragma it does so too late. */
#ifdef __clang__
#define SL_UNROLL
#else
#define SL_UNROLL _Pragma("GCC unroll 8")
#endif

/* ---------------------------------------------------------------- types --------------------- */

enum { W = SL_VECTOR_BYTES / 4, WD = SL_VECTOR_BYTES / 8 };
enum { UNIT = W < 8 ? W : 8 };
#define SL_UNIT_BYTES (SL_VECTOR_BYTES < 32 ? SL_VECTOR_BYTES : 32)

typedef float vec __attribute__((vector_size(SL_VECTOR_BYTES)));
typedef int32_t ivec __attribute__((vector_size(SL_VECTOR_BYTES)));
typedef uint32_t uvec __attribute__((vector_size(SL_VECTOR_BYTES)));
typedef double dvec __attribute__((vector_size(SL_VECTOR_BYTES)));
typedef int64_t lvec __attribute__((vector_size(SL_VECTOR_BYTES)));
typedef uint64_t ulvec __attribute__((vector_size(SL_VECTOR_BYTES)));
typedef float unit __attribute__((vector_size(SL_UNIT_BYTES)));
typedef int32_t iunit __attribute__((vector_size(SL_UNIT_BYTES)));
typedef uint32_t uunit __attribute__((vector_size(SL_UNIT_BYTES)));
typedef float vec4 __attribute__((vector_size(16)));

#if SL_VECTOR_BYTES == 64
typedef __m512i sl_x86_int;
#elif SL_VECTOR_BYTES == 32
typedef __m256i sl_x86_int;
#elif defined(SL_X86)
typedef __m128i sl_x86_int;
#endif

// in memory: at any address, whatever else is said to be there
typedef float vec_any __attribute__((vector_size(SL_VECTOR_BYTES), aligned(4), may_alias));
typedef double dvec_any __attribute__((vector_size(SL_VECTOR_BYTES), aligned(8), may_alias));
typedef float unit_any __attribute__((vector_size(SL_UNIT_BYTES), aligned(4), may_alias));
typedef float vec4_any __attribute__((vector_size(16), aligned(4), may_alias));

/* ---------------------------------------------------------------- memory -------------------- */

SL_INLINE vec v_set(float x) { return x - (vec){ 0 }; }
SL_INLINE dvec d_set(double x) { return x - (dvec){ 0 }; }
SL_INLINE ulvec u_set(uint64_t x) { return x - (ulvec){ 0 }; }
SL_INLINE unit unit_set(float x) { return x - (unit){ 0 }; }
SL_INLINE vec v_load(const float *p) { return *(const vec_any *)p; }
SL_INLINE dvec d_load(const double *p) { return *(const dvec_any *)p; }
SL_INLINE unit unit_load(const float *p) { return *(const unit_any *)p; }
SL_INLINE vec4 v4_load(const float *p) { return *(const vec4_any *)p; }
SL_INLINE void v_store(float *p, vec a) { *(vec_any *)p = a; }
SL_INLINE void d_store(double *p, dvec a) { *(dvec_any *)p = a; }
SL_INLINE void unit_store(float *p, unit a) { *(unit_any *)p = a; }
SL_INLINE void v4_store(float *p, vec4 a) { *(vec4_any *)p = a; }

/* The first n numbers, 1 <= n <= W, and `rest` for the others. */
#if defined(__AVX512F__)
SL_INLINE vec v_load_tail(const float *p, int n, float rest) {
    return _mm512_mask_loadu_ps(v_set(rest), (__mmask16)((1u << n) - 1), p);
}
SL_INLINE void v_store_tail(float *p, vec a, int n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
}
#elif defined(__AVX2__)
SL_INLINE __m256i v_first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
SL_INLINE vec v_load_tail(const float *p, int n, float rest) {
    const __m256i m = v_first(n);
    return _mm256_blendv_ps(v_set(rest), _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m));
}
SL_INLINE void v_store_tail(float *p, vec a, int n) { _mm256_maskstore_ps(p, v_first(n), a); }
#else
SL_INLINE vec v_load_tail(const float *p, int n, float rest) {
    return (vec){ p[0], n > 1 ? p[1] : rest, n > 2 ? p[2] : rest, n > 3 ? p[3] : rest };
}
SL_INLINE void v_store_tail(float *p, vec a, int n) { memcpy(p, &a, (size_t)n * sizeof *p); }
#endif

/* With n == W known to the compiler these are one instruction; numbers past n are read as 0. */
SL_INLINE vec v_load_n(const float *p, int n) { return n == W ? v_load(p) : v_load_tail(p, n, 0); }
SL_INLINE void v_store_n(float *p, vec a, int n) {
    if (n == W)
        v_store(p, a);
    else
        v_store_tail(p, a, n);
}

/* ---------------------------------------------------------------- numbers ------------------- */

/* a where the mask is set, b elsewhere. */
SL_INLINE vec v_choose(ivec mask, vec a, vec b) {
    return (vec)(((ivec)a & mask) | ((ivec)b & ~mask));
}
SL_INLINE dvec d_choose(ulvec mask, dvec a, dvec b) {
    return (dvec)((mask & (ulvec)a) | (~mask & (ulvec)b));
}

/* a b + c: fused in files that are compiled for it (those of the neural half), else rounded
 * twice. */
#if defined(__FMA__)
SL_INLINE vec v_fma(vec a, vec b, vec c) { return SL_X86(fmadd_ps)(a, b, c); }
SL_INLINE dvec d_fma(dvec a, dvec b, dvec c) { return SL_X86(fmadd_pd)(a, b, c); }
SL_INLINE unit unit_fma(unit a, unit b, unit c) { return _mm256_fmadd_ps(a, b, c); }
#else
SL_INLINE vec v_fma(vec a, vec b, vec c) { return a * b + c; }
SL_INLINE dvec d_fma(dvec a, dvec b, dvec c) { return a * b + c; }
SL_INLINE unit unit_fma(unit a, unit b, unit c) { return a * b + c; }
#endif

/* b where either is NaN. */
#if defined(SL_X86)
SL_INLINE vec v_max(vec a, vec b) { return SL_X86(max_ps)(a, b); }
SL_INLINE vec v_min(vec a, vec b) { return SL_X86(min_ps)(a, b); }
SL_INLINE vec4 v4_max(vec4 a, vec4 b) { return _mm_max_ps(a, b); }
SL_INLINE dvec d_max(dvec a, dvec b) { return SL_X86(max_pd)(a, b); }
#else
SL_INLINE vec v_max(vec a, vec b) { return v_choose(a > b, a, b); }
SL_INLINE vec v_min(vec a, vec b) { return v_choose(a < b, a, b); }
SL_INLINE vec4 v4_max(vec4 a, vec4 b) { return v_max(a, b); }
SL_INLINE dvec d_max(dvec a, dvec b) { return d_choose((ulvec)(a > b), a, b); }
#endif

SL_INLINE dvec d_abs(dvec a) { return (dvec)((ulvec)a & (UINT64_MAX >> 1)); }

SL_INLINE dvec d_sqrt(dvec a) {
#if defined(SL_X86)
    return SL_X86(sqrt_pd)(a);
#else
    for (int i = 0; i < WD; i++) a[i] = __builtin_sqrt(a[i]);
    return a;
#endif
}

/* a where the bits from bits[bit] on say so, else 0; bit: a multiple of W. Reads the bytes that
 * hold the first n bits. */
SL_INLINE vec v_keep(vec a, const uint8_t *bits, size_t bit, int n) {
#if SL_VECTOR_BYTES == 64
    unsigned word = bits[bit / 8];
    if (n > 8) word |= (unsigned)bits[bit / 8 + 1] << 8;
    return _mm512_maskz_mov_ps((__mmask16)word, a);
#elif SL_VECTOR_BYTES == 32
    (void)n;
    const ivec mine = { 1, 2, 4, 8, 16, 32, 64, 128 };
    const ivec word = (ivec)_mm256_set1_epi8((char)bits[bit / 8]);
#else
    (void)n;
    const ivec mine = { 1, 2, 4, 8 };
    const ivec word = (bits[bit / 8] >> (bit % 8)) - (ivec){ 0 };
#endif
#if SL_VECTOR_BYTES < 64
    return (vec)((ivec)a & ((word & mine) == mine));
#endif
}

/* ---------------------------------------------------------------- integers ------------------ */

/* 0, 1, 2, ... */
SL_INLINE ivec i_count(void) {
    ivec v;
    for (int i = 0; i < W; i++) v[i] = i;
    return v;
}
SL_INLINE ulvec u_count(void) {
    ulvec v;
    for (int i = 0; i < WD; i++) v[i] = (uint64_t)i;
    return v;
}

SL_INLINE bool u_any(ulvec mask) {
#if SL_VECTOR_BYTES == 64
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif SL_VECTOR_BYTES == 32
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#elif defined(SL_X86)
    return !_mm_testz_si128((__m128i)mask, (__m128i)mask);
#else
    return (mask[0] | mask[1]) != 0;
#endif
}

/* Products of the lower 32 bits. */
SL_INLINE ulvec u_mul_low(ulvec a, ulvec b) {
#if defined(SL_X86)
    return (ulvec)SL_X86(mul_epu32)((sl_x86_int)a, (sl_x86_int)b);
#else
    return (a & 0xffffffff) * (b & 0xffffffff);
#endif
}

/* The lower 32 bits of a, and above them those of b. */
SL_INLINE ulvec u_join(ulvec a, ulvec b) { return (a & 0xffffffff) | b << 32; }

/* bits[i], i < WD: which of the eight 16-bit numbers in low[i] and high[i] are not below t, 1 <=
 * t. */
SL_INLINE void u_not_below(uint8_t *bits, ulvec low, ulvec high, uint16_t t) {
#if SL_VECTOR_BYTES == 64
    const __m512i least = _mm512_set1_epi16((int16_t)t);
    const __m512i from0 = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i from4 = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const __m512i first = _mm512_permutex2var_epi64((__m512i)low, from0, (__m512i)high);
    const __m512i last = _mm512_permutex2var_epi64((__m512i)low, from4, (__m512i)high);
    const uint32_t m[2] = { _mm512_cmpge_epu16_mask(first, least),
                            _mm512_cmpge_epu16_mask(last, least) };
    memcpy(bits, m, sizeof m);
#elif defined(SL_X86)
    const sl_x86_int least = SL_X86(set1_epi16)((int16_t)t);
    const sl_x86_int even = SL_X86(unpacklo_epi64)((sl_x86_int)low, (sl_x86_int)high);
    const sl_x86_int odd = SL_X86(unpackhi_epi64)((sl_x86_int)low, (sl_x86_int)high);
    const sl_x86_int e = SL_X86(cmpeq_epi16)(SL_X86(max_epu16)(even, least), even);
    const sl_x86_int o = SL_X86(cmpeq_epi16)(SL_X86(max_epu16)(odd, least), odd);
    const int m = SL_X86(movemask_epi8)(SL_X86(packs_epi16)(e, o));
    memcpy(bits, &m, WD);
#else
    for (int i = 0; i < WD; i++) {
        unsigned byte = 0;
        for (int k = 0; k < 4; k++) {
            byte |= (unsigned)((uint16_t)(low[i] >> 16 * k) >= t) << k;
            byte |= (unsigned)((uint16_t)(high[i] >> 16 * k) >= t) << (4 + k);
        }
        bits[i] = (uint8_t)byte;
    }
#endif
}

/* ---------------------------------------------------------------- across a vector ----------- */

/* Sums, and maxima, of quarters: lane i has numbers i, i + 4, ... */
#if SL_VECTOR_BYTES == 16
SL_INLINE vec4 v_sum4(vec a) { return a; }
SL_INLINE vec4 v_max4(vec a) { return a; }
#else
SL_INLINE vec4 unit_low(unit a) { return __builtin_shufflevector(a, a, 0, 1, 2, 3); }
SL_INLINE vec4 unit_high(unit a) { return __builtin_shufflevector(a, a, 4, 5, 6, 7); }
#if SL_VECTOR_BYTES == 32
SL_INLINE vec4 v_sum4(vec a) { return unit_low(a) + unit_high(a); }
SL_INLINE vec4 v_max4(vec a) { return v4_max(unit_low(a), unit_high(a)); }
#else
SL_INLINE unit v_low(vec a) { return __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7); }
SL_INLINE unit v_high(vec a) { return __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15); }
SL_INLINE vec4 v_sum4(vec a) {
    const unit h = v_low(a) + v_high(a);
    return unit_low(h) + unit_high(h);
}
SL_INLINE vec4 v_max4(vec a) {
    const unit h = _mm256_max_ps(v_low(a), v_high(a));
    return v4_max(unit_low(h), unit_high(h));
}
#endif
#endif

/* a[0] + a[1], a[2] + a[3], b[0] + b[1], b[2] + b[3] */
SL_INLINE vec4 v4_sum_pairs(vec4 a, vec4 b) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}

/* Lane i is the sum of a, b, c or d. */
SL_INLINE vec4 v_sums(vec a, vec b, vec c, vec d) {
    return v4_sum_pairs(v4_sum_pairs(v_sum4(a), v_sum4(b)), v4_sum_pairs(v_sum4(c), v_sum4(d)));
}

/* Lane i is the sum of r[i]. */
#if SL_VECTOR_BYTES == 16
SL_INLINE unit unit_sums(const unit r[UNIT]) { return v_sums(r[0], r[1], r[2], r[3]); }
#else
SL_INLINE unit unit_sum_pairs(unit a, unit b) {
    return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
           __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}
SL_INLINE unit unit_sums(const unit r[UNIT]) {
    const unit a = unit_sum_pairs(r[0], r[1]), b = unit_sum_pairs(r[2], r[3]);
    const unit c = unit_sum_pairs(r[4], r[5]), d = unit_sum_pairs(r[6], r[7]);
    const unit ab = unit_sum_pairs(a, b), cd = unit_sum_pairs(c, d);
    return __builtin_shufflevector(ab, cd, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(ab, cd, 4, 5, 6, 7, 12, 13, 14, 15);
}
#endif

/* Four vectors of four, or two such side by side, become their transposes. */
SL_INLINE void unit_transpose(unit r[4]) {
#if SL_VECTOR_BYTES == 16
    const unit a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    const unit b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    const unit c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    const unit d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
    const unit a = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const unit b = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const unit c = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const unit d = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
#endif
}

/* Lane i is the largest number of a, b, c or d. */
SL_INLINE vec4 v4_max_pairs(vec4 a, vec4 b) {
    return v4_max(__builtin_shufflevector(a, b, 0, 2, 4, 6),
                  __builtin_shufflevector(a, b, 1, 3, 5, 7));
}
SL_INLINE vec4 v_maxima(vec a, vec b, vec c, vec d) {
    return v4_max_pairs(v4_max_pairs(v_max4(a), v_max4(b)), v4_max_pairs(v_max4(c), v_max4(d)));
}

SL_INLINE float v_largest(vec a) {
    vec4 q = v_max4(a);
    q = v4_max(q, __builtin_shufflevector(q, q, 2, 3, 2, 3));
    return v4_max(q, __builtin_shufflevector(q, q, 1, 1, 1, 1))[0];
}

/* W sums of squares in double. */
typedef struct v_squares {
    dvec low, high;
} v_squares;

SL_INLINE v_squares v_add_squares(v_squares s, vec a) {
#if SL_VECTOR_BYTES == 64
    const dvec low = _mm512_cvtps_pd(v_low(a)), high = _mm512_cvtps_pd(v_high(a));
#elif SL_VECTOR_BYTES == 32
    const dvec low = _mm256_cvtps_pd(unit_low(a)), high = _mm256_cvtps_pd(unit_high(a));
#elif defined(SL_X86)
    const dvec low = _mm_cvtps_pd(a), high = _mm_cvtps_pd(_mm_movehl_ps(a, a));
#else
    const dvec low = { (double)a[0], (double)a[1] }, high = { (double)a[2], (double)a[3] };
#endif
    return (v_squares){ d_fma(low, low, s.low), d_fma(high, high, s.high) };
}

SL_INLINE double v_squares_sum(v_squares s) {
    double number[W], sum = 0;
    memcpy(number, &s, sizeof number);
    for (int i = 0; i < W; i++) sum += number[i];
    return sum;
}

#endif
