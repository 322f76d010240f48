/* precision - how many digits a column was written with.
 *
 * 3.14 in a file stands for 3.135 .. 3.145: an error of known size, uniform over one unit of the
 * last digit. Three kinds are distinguished: single precision, fixed decimals (3.10, 412.25) and
 * significant digits (3.1e-5, 41). Nine in ten rounded numbers have a last digit other than 0; that
 * share decides between fixed decimals and significant digits where both fit.
 *
 * Integers count as exact: they may be counts. So do columns in which every number needs more than
 * DIGITS_MAX digits. */
#include <math.h>
#include <stdlib.h>

#include "search/search_impl.h"

enum { DIGITS_MAX = 10, FULL = 1000 };

/* Is value a multiple of 10^-decimals, up to its own rounding to double? */
static bool is_multiple(double value, int decimals) {
    double unit = 1;
    for (int d = abs(decimals); d > 0; d--) unit *= 10;
    double scaled = decimals >= 0 ? value * unit : value / unit;
    return fabs(scaled) < 1e15 && fabs(scaled - rint(scaled)) <= 0x1p-51 * fabs(scaled);
}

/* The decimal exponent: 10^e <= |value| < 10^(e+1). */
static int exponent_of(double value) { return (int)floor(log10(fabs(value))); }

/* Decimals that a value needs, negative for whole tens; FULL if it has more than DIGITS_MAX
 * digits. */
static int decimals_of(double value) {
    if (fabs(value) < 1e-290 || fabs(value) > 1e290) return FULL;
    int top = DIGITS_MAX - 1 - exponent_of(value);
    if (!is_multiple(value, top)) return FULL;
    int d = top;
    while (d > top - DIGITS_MAX && is_multiple(value, d - 1)) d--;
    return d;
}

static bool is_single(const double *y, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) {
        if ((double)(float)y[i] != y[i]) return false;
    }
    return true;
}

/* Is the last digit used often enough for rounded numbers, which use it in nine of ten? */
static bool is_plausible(int64_t used, int64_t rows) { return used * 2 >= rows; }

sl_digits sl_search__digits(const double *y, int64_t rows) {
    sl_digits out = { .kind = SL_DIGITS_FULL };
    int decimals = -400, significant = 0;
    int64_t at_decimals = 0, at_significant = 0, values = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (y[i] == 0) continue;
        int d = decimals_of(y[i]);
        if (d == FULL) {
            if (is_single(y, rows)) out.kind = SL_DIGITS_SINGLE;
            return out;
        }
        int s = d + exponent_of(y[i]) + 1;
        values++;
        if (d > decimals) decimals = d, at_decimals = 0;
        if (s > significant) significant = s, at_significant = 0;
        at_decimals += d == decimals;
        at_significant += s == significant;
    }
    if (values < 4 || decimals <= 0) return out; // integers, or too few to decide
    if (at_decimals >= at_significant && is_plausible(at_decimals, values)) {
        out = (sl_digits){ SL_DIGITS_DECIMALS, decimals };
    } else if (is_plausible(at_significant, values)) {
        out = (sl_digits){ SL_DIGITS_SIGNIFICANT, significant };
    }
    return out;
}

double sl_search__last_unit(sl_digits d, double y) {
    switch (d.kind) {
    case SL_DIGITS_DECIMALS: return pow(10, -d.digits);
    case SL_DIGITS_SIGNIFICANT: return y == 0 ? 0 : pow(10, exponent_of(y) + 1 - d.digits);
    case SL_DIGITS_SINGLE: return y == 0 ? 0 : ldexp(1, ilogb(y) - 23);
    default: return 0;
    }
}
