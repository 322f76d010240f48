/* vector - the few operations on a vector of floats that the bodies of fast kernels are written in.
 * Included by files that are compiled for one CPU level; which one, the compiler's macros say.
 *
 *     W            numbers in a vector: 4, 8, 16
 *     vec            the vector; + - * / work on it
 *     v_fma        a b + c, fused where the level has it
 *
 * Functions with an n take 1 <= n <= W: with n == W known to the compiler they are one instruction,
 * with less they touch n numbers alone and read 0 for the others. Nothing here needs alignment. */
#ifndef SL_NN_VECTOR_H
#define SL_NN_VECTOR_H

#include <immintrin.h>
#include <string.h>

#define SL_INLINE static inline __attribute__((always_inline, unused))

/* ---------------------------------------------------------------- the three levels ---------- */

#if defined(__AVX512F__)

enum { W = 16 };
typedef __m512 vec;
typedef struct v_double { __m512d lo, hi; } v_double; // as many doubles as vec has floats

SL_INLINE vec v_set(float x) { return _mm512_set1_ps(x); }
SL_INLINE vec v_load(const float *p) { return _mm512_loadu_ps(p); }
SL_INLINE void v_store(float *p, vec a) { _mm512_storeu_ps(p, a); }
SL_INLINE vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
SL_INLINE vec v_max(vec a, vec b) { return _mm512_max_ps(a, b); } // b where either is NaN
SL_INLINE vec v_min(vec a, vec b) { return _mm512_min_ps(a, b); }
SL_INLINE __mmask16 first_n(int n) { return (__mmask16)((1u << n) - 1); }
SL_INLINE vec v_load_tail(const float *p, int n, float rest) {
    return _mm512_mask_loadu_ps(v_set(rest), first_n(n), p);
}
SL_INLINE void v_store_tail(float *p, vec a, int n) { _mm512_mask_storeu_ps(p, first_n(n), a); }
/* a where the bits say so, else 0. c: the column, a multiple of W. */
SL_INLINE vec v_keep(vec a, const uint8_t *keep, int c, int n) {
    unsigned bits = keep[c / 8];
    if (n > 8) bits |= (unsigned)keep[c / 8 + 1] << 8;
    return _mm512_maskz_mov_ps((__mmask16)bits, a);
}
/* 2^k of the whole numbers k that are the low bits of a: -127 (which is 0) to 128 (infinity). */
SL_INLINE vec v_power(vec a) {
    __m512i k = _mm512_slli_epi32(_mm512_castps_si512(a), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(k, _mm512_set1_epi32(127 << 23)));
}
SL_INLINE __m128 v_quarter(vec a) { // 4 sums of W/4
    __m256 h = _mm512_castps512_ps256(a) + _mm512_extractf32x8_ps(a, 1);
    return _mm256_castps256_ps128(h) + _mm256_extractf128_ps(h, 1);
}
SL_INLINE __m128 v_quarter_max(vec a) {
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    return _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
}
SL_INLINE v_double v_add_squares(v_double s, vec a) {
    __m512d lo = _mm512_cvtps_pd(_mm512_castps512_ps256(a));
    __m512d hi = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
    return (v_double){ _mm512_fmadd_pd(lo, lo, s.lo), _mm512_fmadd_pd(hi, hi, s.hi) };
}

#elif defined(__AVX2__)

enum { W = 8 };
typedef __m256 vec;
typedef struct v_double { __m256d lo, hi; } v_double;

SL_INLINE vec v_set(float x) { return _mm256_set1_ps(x); }
SL_INLINE vec v_load(const float *p) { return _mm256_loadu_ps(p); }
SL_INLINE void v_store(float *p, vec a) { _mm256_storeu_ps(p, a); }
SL_INLINE vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
SL_INLINE vec v_max(vec a, vec b) { return _mm256_max_ps(a, b); } // b where either is NaN
SL_INLINE vec v_min(vec a, vec b) { return _mm256_min_ps(a, b); }
SL_INLINE __m256i first_n(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
SL_INLINE vec v_load_tail(const float *p, int n, float rest) {
    const __m256i m = first_n(n);
    return _mm256_blendv_ps(v_set(rest), _mm256_maskload_ps(p, m), _mm256_castsi256_ps(m));
}
SL_INLINE void v_store_tail(float *p, vec a, int n) { _mm256_maskstore_ps(p, first_n(n), a); }
/* a where the bits say so, else 0. c: the column, a multiple of W. A byte in all bytes, of which
 * each lane looks at one bit. */
SL_INLINE vec v_keep(vec a, const uint8_t *keep, int c, int n) {
    (void)n;
    const __m256i mine = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i bits = _mm256_and_si256(_mm256_set1_epi8((char)keep[c / 8]), mine);
    return _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(bits, mine)));
}
/* 2^k of the whole numbers k that are the low bits of a: -127 (which is 0) to 128 (infinity). */
SL_INLINE vec v_power(vec a) {
    __m256i k = _mm256_slli_epi32(_mm256_castps_si256(a), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(k, _mm256_set1_epi32(127 << 23)));
}
SL_INLINE __m128 v_quarter(vec a) { // 4 sums of W/4
    return _mm256_castps256_ps128(a) + _mm256_extractf128_ps(a, 1);
}
SL_INLINE __m128 v_quarter_max(vec a) {
    return _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
}
SL_INLINE v_double v_add_squares(v_double s, vec a) {
    __m256d lo = _mm256_cvtps_pd(_mm256_castps256_ps128(a));
    __m256d hi = _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1));
    return (v_double){ _mm256_fmadd_pd(lo, lo, s.lo), _mm256_fmadd_pd(hi, hi, s.hi) };
}

#else

enum { W = 4 };
typedef __m128 vec;
typedef struct v_double { __m128d lo, hi; } v_double;

SL_INLINE vec v_set(float x) { return _mm_set1_ps(x); }
SL_INLINE vec v_load(const float *p) { return _mm_loadu_ps(p); }
SL_INLINE void v_store(float *p, vec a) { _mm_storeu_ps(p, a); }
SL_INLINE vec v_fma(vec a, vec b, vec c) { return a * b + c; }
SL_INLINE vec v_max(vec a, vec b) { return _mm_max_ps(a, b); } // b where either is NaN
SL_INLINE vec v_min(vec a, vec b) { return _mm_min_ps(a, b); }
SL_INLINE vec v_load_tail(const float *p, int n, float rest) {
    return _mm_setr_ps(p[0], n > 1 ? p[1] : rest, n > 2 ? p[2] : rest, n > 3 ? p[3] : rest);
}
SL_INLINE void v_store_tail(float *p, vec a, int n) {
    float number[4];
    v_store(number, a);
    memcpy(p, number, (size_t)n * sizeof *p);
}
/* a where the bits say so, else 0. c: the column, a multiple of W. */
SL_INLINE vec v_keep(vec a, const uint8_t *keep, int c, int n) {
    (void)n;
    const __m128i mine = _mm_setr_epi32(1, 2, 4, 8);
    __m128i bits = _mm_and_si128(_mm_set1_epi32(keep[c / 8] >> (c & 4)), mine);
    return _mm_and_ps(a, _mm_castsi128_ps(_mm_cmpeq_epi32(bits, mine)));
}
/* 2^k of the whole numbers k that are the low bits of a: -127 (which is 0) to 128 (infinity). */
SL_INLINE vec v_power(vec a) {
    __m128i k = _mm_slli_epi32(_mm_castps_si128(a), 23);
    return _mm_castsi128_ps(_mm_add_epi32(k, _mm_set1_epi32(127 << 23)));
}
SL_INLINE __m128 v_quarter(vec a) { return a; } // 4 sums of W/4
SL_INLINE __m128 v_quarter_max(vec a) { return a; }
SL_INLINE v_double v_add_squares(v_double s, vec a) {
    __m128d lo = _mm_cvtps_pd(a), hi = _mm_cvtps_pd(_mm_movehl_ps(a, a));
    return (v_double){ lo * lo + s.lo, hi * hi + s.hi };
}

#endif

/* ---------------------------------------------------------------- what follows from them ---- */

SL_INLINE vec v_load_n(const float *p, int n) { return n == W ? v_load(p) : v_load_tail(p, n, 0); }
SL_INLINE void v_store_n(float *p, vec a, int n) {
    if (n == W) v_store(p, a);
    else v_store_tail(p, a, n);
}

/* Four horizontal sums at the price of two: lane i is the sum of s[i]. */
SL_INLINE __m128 v_sums(vec s0, vec s1, vec s2, vec s3) {
    return _mm_hadd_ps(_mm_hadd_ps(v_quarter(s0), v_quarter(s1)),
                       _mm_hadd_ps(v_quarter(s2), v_quarter(s3)));
}

SL_INLINE float v_largest(vec a) {
    __m128 q = v_quarter_max(a);
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}

SL_INLINE double v_double_sum(v_double a) {
    double number[W], sum = 0;
    memcpy(number, &a, sizeof number);
    for (int i = 0; i < W; i++) sum += number[i];
    return sum;
}

/* e^x = 2^k e^r with k = x / ln 2 rounded and e^r = 1 + r + r^2 P(r), |r| <= ln(2)/2; P is minimax
 * for the relative error, which is 0.05 of 2^-24 (by the remez of tests/golden/math/coefficients.py).
 * Within 1.1 ulp from -87.3 to 88.3; from 88.376 on infinity, and below -87.68 zero: 2^k then is no
 * normal float, and both ends are far beyond what softmax and sigmoid can tell apart. NaN stays. */
SL_INLINE vec v_exp(vec x) {
    // adding 1.5 2^23 rounds to a whole number, which then stands in the low bits
    const vec shift = v_set(0x1.8p23f);
    x = v_min(v_set(89.0f), v_max(v_set(-88.0f), x));
    vec t = v_fma(x, v_set(0x1.715476p0f), shift), k = t - shift;
    vec r = v_fma(k, v_set(-0x1.62ep-1f), x); // k times 14 bits of ln 2 is exact
    r = v_fma(k, v_set(-0x1.0bfbe8p-15f), r);
    vec p = v_fma(v_set(0x1.6a244ep-10f), r, v_set(0x1.1239e4p-7f));
    p = v_fma(p, r, v_set(0x1.5558f2p-5f));
    p = v_fma(p, r, v_set(0x1.555492p-3f));
    p = v_fma(p, r, v_set(0x1.fffffcp-2f));
    p = v_fma(p, r * r, r);
    return (p + v_set(1.0f)) * v_power(t);
}

#endif
