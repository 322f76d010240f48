/* real - the text of a double.
 *
 * What is written is defined by the C library: the first of "%.15g", "%.16g" and "%.17g" that
 * strtod reads back. A data set has 192 numbers and asking the library costs a microsecond each, so
 * for numbers of common size the same text is computed from exact integers. Let v = m 2^e with a
 * 53-bit m, 10^k <= v < 10^(k+1) and s = 16 - k. Then
 *
 *     v 10^s = m 5^s / 2^t      with t = -(e + s)
 *
 * has 17 digits before the point. m 5^s is below 2^116 while s <= 27, so it fits 128 bits; the
 * digits are its bits above t, what they leave out is known exactly, and so are both questions:
 *
 *     rounding       to a unit of 1, 10 or 100 of these digits, ties to even
 *     reading back   neighbours of v are 5^s away in units of 2^-t, so a text reads back as v if it
 *                    is less than half of that away. Below a power of two the neighbour is at half
 *                    the distance. There are no ties: 5^s is odd.
 *
 * Measured on a Zen 3: 80 ns in place of 1100. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

typedef unsigned __int128 wide;

/* Where the exact way is taken: k is within -11 .. 14, so 2 <= s <= 27 and 2 <= t <= 61, and no
 * text has a positive exponent. */
static const double LEAST = 0x1p-36, BEYOND = 0x1p49;

// clang-format off
static const uint64_t power_of_5[] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625,
    1220703125, 6103515625, 30517578125, 152587890625, 762939453125, 3814697265625,
    19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
    59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125
};
// clang-format on

/* v = m 2^e = scaled 2^-t 10^(k-16) */
typedef struct exact {
    uint64_t m;
    int k, t;
    wide scaled;
    uint64_t step; // from one double to the next, in the units of `scaled`
} exact;

static exact exactly(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const int e = (int)(bits >> 52) - 1075; // no sign, and not subnormal: v >= LEAST
    exact x = { .m = (bits & 0xFFFFFFFFFFFFF) | 0x10000000000000 };

    // 1233/4096 is log10(2) to five digits: k, or one less
    x.k = (e + 52) * 1233 >> 12;
    for (;; x.k++) {
        const int s = 16 - x.k;
        x.t = -(e + s);
        x.step = power_of_5[s];
        x.scaled = (wide)x.m * x.step;
        if (x.scaled >> x.t < 100000000000000000) return x;
    }
}

/* *digits := v rounded to a multiple of `unit` of its 17 digits, divided by it. Does that read back
 * as v? */
static bool reads_back(uint64_t *digits, const exact *x, unsigned unit) {
    const wide one = (wide)unit << x->t;
    uint64_t d = (uint64_t)(x->scaled >> x->t) / unit;
    wide off = x->scaled - d * one;
    const bool up = 2 * off > one || (2 * off == one && d % 2 == 1);
    if (up) {
        off = one - off;
        d++;
    }
    *digits = d;
    if (!up && x->m == 0x10000000000000) off *= 2; // below a power of two
    return 2 * off < x->step;
}

/* As "%g" lays out `digits`, n of them and the first at 10^k: without zeros at the end, and with an
 * exponent below 10^-4. */
static char *lay_out(char *w, uint64_t digits, int n, int k) {
    while (digits % 10 == 0) {
        digits /= 10;
        n--;
    }
    char d[20];
    for (int i = n; i-- > 0; digits /= 10) d[i] = (char)('0' + digits % 10);

    const int exponent = k < -4 ? k : 0;
    int whole = k - exponent + 1; // digits before the point
    if (whole <= 0) *w++ = '0';
    for (int i = 0; i < whole; i++) *w++ = i < n ? d[i] : '0';
    if (n > whole) {
        *w++ = '.';
        for (; whole < 0; whole++) *w++ = '0';
        memcpy(w, d + whole, (size_t)(n - whole));
        w += n - whole;
    } else if (exponent == 0) {
        *w++ = '.'; // so that it reads back as a real
        *w++ = '0';
    }
    if (exponent != 0) {
        *w++ = 'e';
        *w++ = '-';
        *w++ = (char)('0' - exponent / 10);
        *w++ = (char)('0' - exponent % 10);
    }
    *w = '\0';
    return w;
}

/* The definition, for the largest and smallest numbers. */
static int by_library(char *text, double v) {
    for (int digits = 15; digits <= 17; digits++) {
        sl_snprintf(text, SL_REAL_TEXT_MAX, "%.*g", digits, v);
        if (sl_strtod(text, NULL) == v) break;
    }
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    return (int)strlen(text);
}

int sl_real_text(char text[SL_REAL_TEXT_MAX], double value) {
    const double v = fabs(value);
    if (!(v >= LEAST && v < BEYOND)) return by_library(text, value);

    const exact x = exactly(v);
    uint64_t digits;
    int n = 15;
    for (unsigned unit = 100; !reads_back(&digits, &x, unit) && n < 17; unit /= 10) n++;

    // rounding up may have carried: 9.9999999999999995e-08 is written 1e-07
    static const uint64_t ten_to[] = { 1000000000000000, 10000000000000000, 100000000000000000 };
    const int carry = digits == ten_to[n - 15];

    char *w = text;
    if (value < 0) *w++ = '-';
    return (int)(lay_out(w, digits, n + carry, x.k + carry) - text);
}
