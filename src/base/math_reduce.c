/* math_reduce - x mod pi/2 for large x, after Payne and Hanek (1983).
 *
 * x = M 2^E with a 53-bit integer M. Of 2/pi only the bits matter that, times 2^E, weigh less than
 * 4: the others add multiples of 4 M, which is whole turns. A window of 192 bits begins there:
 *
 *     2/pi    0 . 1 0 1 0 0 0 1 0 1 1 1 1 1 0 0 1 1 0 0 0 0 0 1 1 ...
 *                       [ 2 1 | 190 bits of fraction ]
 *
 * M times the window, modulo 2^192, is x / (pi/2) modulo 4. What was cut off behind is below
 * 2^53 units of 2^-190, and no double comes closer to a multiple of pi/2 than about 2^-62 of it, so
 * at least 75 bits of the fraction are right. */
#include <string.h>

#include "base/base.h"
#include "base/math_constants.h"
#include "base/math_impl.h"

typedef unsigned __int128 wide;

/* 64 bits of TWO_OVER_PI from bit `at`. */
static uint64_t bits_at(int at) {
    int word = at / 64, shift = at % 64;
    uint64_t v = TWO_OVER_PI[word] << shift;
    return shift ? v | TWO_OVER_PI[word + 1] >> (64 - shift) : v;
}

static double power_of_two(int e) { // -1022 <= e <= 1023
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The upper half of the bits of x, so that products of halves are exact. */
static double high_half(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0xfffffffff8000000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

void sl_math__reduce(double *r, double *y, uint64_t *n, double x) {
    uint64_t ix;
    memcpy(&ix, &x, sizeof ix);
    int e = (int)(ix >> 52 & 0x7ff) - 1075; // E
    SL_ASSERT(e >= 20 - 52 && e <= 1023 - 52);
    uint64_t m = (ix & (UINT64_C(0xfffffffffffff))) | UINT64_C(1) << 52;

    // the window: bit e-1 of 2/pi weighs 2; its bit 1 is bit 64 of the table
    int at = e - 1 + 63;
    uint64_t w0 = bits_at(at), w1 = bits_at(at + 64), w2 = bits_at(at + 128);
    wide p2 = (wide)m * w2;
    wide p1 = (wide)m * w1 + (uint64_t)(p2 >> 64);
    uint64_t c0 = m * w0 + (uint64_t)(p1 >> 64), c1 = (uint64_t)p1, c2 = (uint64_t)p2;

    // two bits of quadrant; the rest, if its first bit is set, counts down from the next quadrant
    uint64_t quadrant = c0 >> 62;
    c0 = c0 << 2 | c1 >> 62;
    c1 = c1 << 2 | c2 >> 62;
    c2 = c2 << 2;
    bool negative = c0 >> 63;
    if (negative) {
        quadrant++;
        c0 = ~c0, c1 = ~c1, c2 = ~c2; // minus one unit of 2^-192, which is noise
    }

    // normalise; there are never 64 zeros in front, see above
    SL_ASSERT(c0 != 0);
    int zeros = __builtin_clzll(c0);
    if (zeros) {
        c0 = c0 << zeros | c1 >> (64 - zeros);
        c1 = c1 << zeros | c2 >> (64 - zeros);
    }
    double scale = power_of_two(-53 - zeros);
    double hi = (double)(c0 >> 11) * scale;
    double lo = (double)((c0 & 0x7ff) << 42 | c1 >> 22) * (scale * 0x1p-53);

    // (hi + lo) pi/2, with the product of the leading parts exact (Dekker 1971)
    double hh = high_half(hi), hl = hi - hh;
    double ph = high_half(HALF_PI_HI), pl = HALF_PI_HI - ph;
    double a = hi * HALF_PI_HI;
    double a_err = ((hh * ph - a) + hh * pl + hl * ph) + hl * pl;
    double b = a_err + (hi * HALF_PI_LO + lo * HALF_PI_HI);
    double s = a + b, s_err = b - (s - a);

    bool flip = negative != (ix >> 63 != 0);
    *r = flip ? -s : s;
    *y = flip ? -s_err : s_err;
    *n = ix >> 63 ? 0 - quadrant : quadrant;
}
