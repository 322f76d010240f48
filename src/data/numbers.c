/* Numbers of a data set as mantissa and decimal exponent, exactly, in integers.
 *
 * A double is M 2^E with 2^63 <= M < 2^64, and a power of ten is P 2^B, with P rounded to 64 bits.
 * Their product has the mantissa in its upper 64 bits, wrong by less than two in the last; of
 * those, 24 make the float. So the rounding is right, unless the other 40 bits are within a few of
 * a half: one number in 10^11 or an exact tie, for which big integers decide. */
#include "data/data.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- powers of ten ------------- */

/* The compiler rounds these, to nearest. */
enum { MOST = 329 };
#define UP(h)                                                                               \
    1e##h##0L, 1e##h##1L, 1e##h##2L, 1e##h##3L, 1e##h##4L, 1e##h##5L, 1e##h##6L, 1e##h##7L, \
        1e##h##8L, 1e##h##9L
#define DOWN(h)                                                                         \
    1e-##h##9L, 1e-##h##8L, 1e-##h##7L, 1e-##h##6L, 1e-##h##5L, 1e-##h##4L, 1e-##h##3L, \
        1e-##h##2L, 1e-##h##1L, 1e-##h##0L
static const long double powers[] = {
    DOWN(32), DOWN(31), DOWN(30), DOWN(29), DOWN(28), DOWN(27), DOWN(26), DOWN(25), DOWN(24),
    DOWN(23), DOWN(22), DOWN(21), DOWN(20), DOWN(19), DOWN(18), DOWN(17), DOWN(16), DOWN(15),
    DOWN(14), DOWN(13), DOWN(12), DOWN(11), DOWN(10), DOWN(9),  DOWN(8),  DOWN(7),  DOWN(6),
    DOWN(5),  DOWN(4),  DOWN(3),  DOWN(2),  DOWN(1),  DOWN(0), // ends with 1e-0
    1e1L,     1e2L,     1e3L,     1e4L,     1e5L,     1e6L,     1e7L,     1e8L,     1e9L,
    UP(1),    UP(2),    UP(3),    UP(4),    UP(5),    UP(6),    UP(7),    UP(8),    UP(9),
    UP(10),   UP(11),   UP(12),   UP(13),   UP(14),   UP(15),   UP(16),   UP(17),   UP(18),
    UP(19),   UP(20),   UP(21),   UP(22),   UP(23),   UP(24),   UP(25),   UP(26),   UP(27),
    UP(28),   UP(29),   UP(30),   UP(31),   UP(32),
};
_Static_assert(sizeof powers / sizeof powers[0] == 2 * MOST + 1, "10^-MOST to 10^MOST");

/* mantissa * 2^(exponent - 63), the mantissa's upper bit set. */
typedef struct binary {
    uint64_t mantissa;
    int exponent;
} binary;

static inline binary power_of_ten(int k) {
    const sl_long_bits p = sl_long_bits_of(powers[k + MOST]);
    return (binary){ p.mantissa, p.exponent - 16383 };
}

/* ---------------------------------------------------------------- exact comparison ---------- */

/* A natural number, lowest limb first. 5^324 has 753 bits, a mantissa 64 more. */
typedef struct natural {
    int n;
    uint32_t limb[28];
} natural;

static natural natural_of(uint64_t v) {
    return (natural){ 2, { (uint32_t)v, (uint32_t)(v >> 32) } };
}

static void push_limb(natural *a, uint32_t limb) {
    SL_ASSERT(a->n < SL_LEN(a->limb)); // 896 bits
    a->limb[a->n++] = limb;
}

static void times(natural *a, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < a->n; i++) {
        carry += (uint64_t)a->limb[i] * factor;
        a->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) push_limb(a, (uint32_t)carry);
}

static void times_power_of_5(natural *a, int k) {
    for (; k >= 13; k -= 13) times(a, 1220703125); // 5^13, the last below 2^32
    for (; k > 0; k--) times(a, 5);
}

static void times_power_of_2(natural *a, int k) {
    for (; k > 0; k -= SL_MIN(k, 31)) times(a, 1u << SL_MIN(k, 31));
}

static int compare(const natural *a, const natural *b) {
    for (int i = SL_MAX(a->n, b->n) - 1; i >= 0; i--) {
        const uint32_t x = i < a->n ? a->limb[i] : 0, y = i < b->n ? b->limb[i] : 0;
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Is v / 10^e above, at or below (2m + 1) 2^x?   1, 0, -1 */
static int compare_half(binary v, int e, uint32_t m, int x) {
    natural left = natural_of(v.mantissa), right = natural_of(2 * (uint64_t)m + 1);
    // v.mantissa 2^(v.exponent - 63) against (2m + 1) 2^x 10^e, powers of ten as 2^e 5^e
    times_power_of_5(e < 0 ? &left : &right, e < 0 ? -e : e);
    const int shift = v.exponent - 63 - x - e;
    times_power_of_2(shift > 0 ? &left : &right, shift > 0 ? shift : -shift);
    return compare(&left, &right);
}

/* ---------------------------------------------------------------- the numbers --------------- */

/* Of a finite number that is not 0. */
static inline binary binary_of(uint64_t bits) {
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    if (exponent) return (binary){ (uint64_t)1 << 63 | fraction << 11, exponent - 1023 };
    const int zeros = __builtin_clzll(fraction); // subnormal: fraction * 2^-1074
    return (binary){ fraction << zeros, -1074 + 63 - zeros };
}

/* floor(log10(v)), or one more where v is a power of ten rounded down: the mantissa is 1 then. */
static inline int decimal_exponent(binary v) {
    const int e = v.exponent * 315653 >> 20; // floor(log10(2^exponent)), for all of them
    const binary next = power_of_ten(e + 1);
    return e + (next.exponent == v.exponent && v.mantissa >= next.mantissa);
}

static inline int split(float *mantissa, double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    if (bits << 1 == 0) {
        *mantissa = 0;
        return 0;
    }
    const binary v = binary_of(bits);
    int e = decimal_exponent(v);
    const binary p = power_of_ten(-e);
    const unsigned __int128 product = (unsigned __int128)v.mantissa * p.mantissa;
    // the upper bit is set or the next one: a coin toss, so no branch
    uint64_t m = (uint64_t)(product >> 64);
    const int low = !(m >> 63);
    m = m << low | ((uint64_t)product >> 63 & (uint64_t)low);
    const int exponent = v.exponent + p.exponent + 1 - low;

    // 24 bits, and what the other 40 add to them
    const uint64_t half = (uint64_t)1 << 39;
    const uint32_t upper = (uint32_t)(m >> 40);
    const uint64_t lower = m & (2 * half - 1);
    uint32_t up = lower > half;
    if (lower - (half - 4) <= 8) {
        const int order = compare_half(v, e, upper, exponent - 24);
        up = order ? order > 0 : upper & 1; // a tie goes to the even one
    }

    // a carry out of the 24 bits is one into the exponent
    const uint32_t ten = 0x41200000; // the bits of 10.0f
    uint32_t word = ((uint32_t)(exponent + 127) << 23) + (upper - (1u << 23)) + up;
    if (word >= ten) {
        word = 0x3f800000;
        e++;
    }
    word |= (uint32_t)(bits >> 63) << 31;
    memcpy(mantissa, &word, sizeof word);
    return e;
}

void sl_data_number_split(float *mantissa, int *exponent, double v) {
    SL_ASSERT(isfinite(v));
    *exponent = split(mantissa, v);
}

void sl_data_number_split_array(float *mantissa, float *exponent, const double *v, int n) {
    for (int i = 0; i < n; i++) {
        SL_ASSERT(isfinite(v[i]));
        exponent[i] = (float)split(&mantissa[i], v[i]);
    }
}

double sl_data_number_join(float mantissa, int exponent) {
    const int e = SL_MAX(-MOST, SL_MIN(exponent, MOST)); // beyond: 0 or infinite all the same
    return (double)((long double)mantissa * powers[e + MOST]);
}
