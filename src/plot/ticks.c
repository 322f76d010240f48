/* ticks - ranges of axes, and the round numbers on them.
 *
 * A tick is stored as an integer K and a power of ten: its label consists of the digits of K, so
 * 0.3 is never 0.30000000000000004. Ends are doubles of any size. Their difference may overflow a
 * double, but not a long double. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "plot/plot_impl.h"

#define LN10 2.302585092994045684
#define FAR  1e6 // axis lengths

/* sl_log gives the same bits everywhere. */
static double log10_of(double v) { return sl_log(v) / LN10; }

static double clamp(long double v) {
    return v > DBL_MAX ? DBL_MAX : v < -DBL_MAX ? -DBL_MAX : (double)v;
}

/* ---------------------------------------------------------------- axes ---------------------- */

sl_axis sl_plot__axis(bool log, double lo, double hi, double room) {
    sl_axis a = { .log = log, .lo = lo, .hi = hi, .from = lo, .to = hi };
    if (log) {
        a.from = log10_of(lo);
        a.to = log10_of(hi);
        // ends that are the same: a tenth of a decade on either side, more where doubles end
        const long double apart = lo < 1e-300 ? 1 : 0.1L;
        const long double more = a.to - a.from < 5e-6L ? apart : room * (a.to - a.from);
        a.from -= more;
        a.to += more;
        a.lo = more > 0 ? sl_exp((double)a.from * LN10) : lo;
        a.hi = more > 0 ? SL_MIN(sl_exp((double)a.to * LN10), DBL_MAX) : hi;
        return a;
    }
    // no digits are left for ticks between ends that agree in twelve
    const long double most = SL_MAX(fabsl(a.from), fabsl(a.to)), span = a.to - a.from;
    const long double more = most < 1e-290L ? 1 : span <= 1e-12L * most ? 0.1L * most : room * span;
    a.lo = clamp(a.from - more);
    a.hi = clamp(a.to + more);
    a.from = a.lo;
    a.to = a.hi;
    return a;
}

bool sl_plot__place(double *t, const sl_axis *a, double v) {
    if (!isfinite(v) || (a->log && v <= 0)) return false;
    const long double u = a->log ? (long double)log10_of(v) : (long double)v;
    const long double at = (u - a->from) / (a->to - a->from);
    *t = (double)SL_MIN(SL_MAX(at, -FAR), FAR);
    return true;
}

/* ---------------------------------------------------------------- linear -------------------- */

static long double power_of_ten(int e) {
    long double r = 1, b = 10;
    for (int n = e < 0 ? -e : e; n; n >>= 1, b *= b)
        if (n & 1) r *= b;
    return e < 0 ? 1 / r : r;
}

/* Ticks K 10^e, K = first m, (first + 1) m, ..., last m. */
typedef struct step {
    int m, e;
    int64_t first, last;
} step;

/* The smallest step that gives at most `max` ticks. */
static step choose_step(long double lo, long double hi, int max) {
    static const int mantissa[] = { 1, 2, 5 };
    int e2;
    (void)frexpl((hi - lo) / max, &e2);
    step s = { .e = (int)floor(e2 * 0.30103) - 2 }; // below any that fits
    for (;; s.e++)
        for (int i = 0; i < SL_LEN(mantissa); i++) {
            s.m = mantissa[i];
            const long double unit = s.m * power_of_ten(s.e);
            // ends that were meant to be ticks are, though 0.3 / 0.1 is below 3
            const long double first = ceill(lo / unit - 1e-9L), last = floorl(hi / unit + 1e-9L);
            if (last - first + 1 > max) continue;
            s.first = (int64_t)first;
            s.last = (int64_t)last;
            return s;
        }
}

static int digits_of(char w[24], int64_t k) {
    return sl_snprintf(w, 24, "%lld", (long long)(k < 0 ? -k : k));
}

/* Is a number whose first digit stands for 10^top shown without a power of ten? */
static bool is_plain(int top) { return top >= -4 && top <= 5; }

/* K 10^e; as a mantissa and 10^top unless it is plain. */
static void put_label(char *w, int64_t k, int e, int top, bool plain) {
    char digits[24];
    const int n = digits_of(digits, k);
    if (k < 0) w = stpcpy(w, "−");
    if (k == 0 || plain)
        sl_plot__plain(w, digits, n, k ? e : 0);
    else
        sl_plot__power(w, digits, n, e, top);
}

/* Where K 10^e is on the axis; rounding may have put it slightly beyond an end. */
static double place_of(const sl_axis *a, int64_t k, int e) {
    double t = 0;
    if (a->log) {
        const long double u = (long double)log10_of((double)k) + e;
        t = (double)((u - a->from) / (a->to - a->from));
    } else {
        t = (double)(((long double)k * power_of_ten(e) - a->from) / (a->to - a->from));
    }
    return SL_MIN(SL_MAX(t, 0), 1);
}

static void linear_ticks(sl_ticks *out, const sl_axis *a, int max) {
    const step s = choose_step(a->lo, a->hi, max);
    // all labels have the exponent of the largest
    char digits[24];
    const int64_t most = SL_MAX(s.last < 0 ? -s.last : s.last, s.first < 0 ? -s.first : s.first);
    const int top = s.e + digits_of(digits, most * s.m) - 1;
    for (int64_t k = s.first; k <= s.last; k++) {
        if (a->log && k <= 0) continue; // beside the smallest of all doubles
        out->at[out->n] = place_of(a, k * s.m, s.e);
        put_label(out->label[out->n++], k * s.m, s.e, top, is_plain(top));
    }
}

/* ---------------------------------------------------------------- logarithmic --------------- */

static void add_minor(sl_ticks *out, const sl_axis *a, int64_t k, int e) {
    const long double u = (long double)log10_of((double)k) + e;
    if (u > a->from && u < a->to && out->minors < SL_PLOT__MINOR)
        out->minor[out->minors++] = place_of(a, k, e);
}

/* 1, 10, 10², 10³; or 0.001 .. 1000 if all of them are of that kind. */
static void put_decade(char *w, int e, bool plain) {
    if (plain || e == 0 || e == 1)
        sl_plot__plain(w, "1", 1, e);
    else
        sl_plot__raised(w, e);
}

static void decades(sl_ticks *out, const sl_axis *a, int max) {
    const step s = choose_step(a->from, a->to, max);
    int stride = s.m;
    for (int i = 0; i < s.e; i++) stride *= 10;
    if (s.e < 0) stride = 1; // the caller knows that there are few enough
    const int from = (int)ceill(a->from - 1e-9L), to = (int)floorl(a->to + 1e-9L);
    const bool plain = is_plain(from - 1) && is_plain(to + 1);
    for (int e = from; e <= to; e++) {
        const bool numbered = e % stride == 0;
        if (numbered) {
            out->at[out->n] = place_of(a, 1, e);
            put_decade(out->label[out->n++], e, plain);
        } else if (to - from < SL_PLOT__MINOR / 2) {
            add_minor(out, a, 1, e);
        }
    }
    for (int e = from - 1; stride == 1 && e <= to; e++)
        for (int k = 2; k <= 9; k++) add_minor(out, a, k, e);
}

/* 1, 2, 5, 10, 20, ... : false if those are too many or too few. */
static bool parts_of_decades(sl_ticks *out, const sl_axis *a, int max) {
    const int from = (int)floorl(a->from), to = (int)floorl(a->to);
    const bool plain = is_plain(from) && is_plain(to);
    for (int e = from; e <= to; e++)
        for (int k = 1; k <= 9; k++) {
            const long double u = (long double)log10_of(k) + e;
            if (u < a->from - 1e-9L || u > a->to + 1e-9L) continue;
            if (k != 1 && k != 2 && k != 5) {
                add_minor(out, a, k, e);
                continue;
            }
            if (out->n == max) return false;
            out->at[out->n] = place_of(a, k, e);
            if (k == 1)
                put_decade(out->label[out->n++], e, plain);
            else
                put_label(out->label[out->n++], k, e, e, plain || e == 0 || e == 1);
        }
    return out->n >= 3;
}

void sl_plot__ticks(sl_ticks *out, const sl_axis *a, int max) {
    SL_ASSERT(max >= 2 && max <= SL_PLOT__TICKS);
    out->n = out->minors = 0;
    if (a->log) {
        const int whole = (int)(floorl(a->to + 1e-9L) - ceill(a->from - 1e-9L)) + 1;
        if (whole < 3 && parts_of_decades(out, a, max)) return;
        out->n = out->minors = 0;
        if (whole >= 2) {
            decades(out, a, max);
            return;
        }
    }
    linear_ticks(out, a, max);
}

void sl_plot__ticks_fit(sl_ticks *out, const sl_axis *a, int max, double length, double font) {
    for (;; max--) {
        sl_plot__ticks(out, a, max);
        bool fit = true;
        for (int i = 1; i < out->n; i++) {
            const double half =
                (sl_plot__width(out->label[i - 1], font) + sl_plot__width(out->label[i], font)) / 2;
            fit = fit && (out->at[i] - out->at[i - 1]) * length >= half + font;
        }
        if (fit) return;
        if (max == 2) { // of two the one may be left out
            out->n = 1;
            return;
        }
    }
}
