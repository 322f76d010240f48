/* Exact rational numbers in 64 bits. Intermediate results are 128 bits wide, where the sum and the
 * product of two fractions of 63-bit parts always fit; only the reduced result can be too large;
 * then the functions return false. */
#include "expr/expr_impl.h"

typedef __int128 wide;

static uint64_t gcd64(uint64_t a, uint64_t b) {
    if (!a) return b;
    if (!b) return a;
    int shift = __builtin_ctzll(a | b);
    a >>= __builtin_ctzll(a);
    while (b) {
        b >>= __builtin_ctzll(b);
        if (a > b) {
            uint64_t t = a;
            a = b;
            b = t;
        }
        b -= a;
    }
    return a << shift;
}

static unsigned __int128 gcd128(unsigned __int128 a, unsigned __int128 b) {
    while (a >> 64 || b >> 64) {
        if (!b) return a;
        unsigned __int128 t = a % b;
        a = b;
        b = t;
    }
    return gcd64((uint64_t)a, (uint64_t)b);
}

int64_t sl_expr__gcd(int64_t a, int64_t b) {
    return (int64_t)gcd64((uint64_t)(a < 0 ? -a : a), (uint64_t)(b < 0 ? -b : b));
}

/* INT64_MIN is left out, so that negation never overflows. */
static bool fits(wide n) { return n <= INT64_MAX && n >= -INT64_MAX; }

static bool reduce(sl_rat *out, wide num, wide den) {
    if (den < 0) num = -num, den = -den;
    unsigned __int128 g =
        gcd128(num < 0 ? -(unsigned __int128)num : (unsigned __int128)num, (unsigned __int128)den);
    if (g > 1) num /= (wide)g, den /= (wide)g;
    if (!fits(num) || !fits(den)) return false;
    *out = (sl_rat){ (int64_t)num, (int64_t)den };
    return true;
}

bool sl_expr_rat_make(sl_rat *out, int64_t num, int64_t den) {
    return den != 0 && reduce(out, num, den);
}

bool sl_expr_rat_add(sl_rat *out, sl_rat a, sl_rat b) {
    if (a.den == 1 && b.den == 1) {
        int64_t n;
        if (__builtin_add_overflow(a.num, b.num, &n) || n == INT64_MIN) return false;
        *out = SL_RAT(n);
        return true;
    }
    return reduce(out, (wide)a.num * b.den + (wide)b.num * a.den, (wide)a.den * b.den);
}

bool sl_expr_rat_mul(sl_rat *out, sl_rat a, sl_rat b) {
    if (a.den == 1 && b.den == 1) {
        int64_t n;
        if (__builtin_mul_overflow(a.num, b.num, &n) || n == INT64_MIN) return false;
        *out = SL_RAT(n);
        return true;
    }
    return reduce(out, (wide)a.num * b.num, (wide)a.den * b.den);
}

bool sl_expr_rat_pow(sl_rat *out, sl_rat a, int64_t n) {
    if (n < 0) {
        if (a.num == 0 || n == INT64_MIN) return false;
        a = a.num < 0 ? (sl_rat){ -a.den, -a.num } : (sl_rat){ a.den, a.num };
        n = -n;
    }
    sl_rat r = SL_RAT(1);
    // by squaring; a base of size 2 or more overflows within 63 steps, so the loop is short
    for (;;) {
        if (n & 1 && !sl_expr_rat_mul(&r, r, a)) return false;
        if (!(n >>= 1)) break;
        if (!sl_expr_rat_mul(&a, a, a)) return false;
    }
    *out = r;
    return true;
}

int sl_expr_rat_cmp(sl_rat a, sl_rat b) {
    wide x = (wide)a.num * b.den, y = (wide)b.num * a.den;
    return (x > y) - (x < y);
}

double sl_expr_rat_double(sl_rat a) { return (double)a.num / (double)a.den; }
