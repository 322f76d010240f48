/* Ticks: few, round, in order, where they say they are, and all over the axis. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "plot/plot_impl.h"

/* What a label says; NaN if nothing. */
static long double read_label(const char *label) {
    static const char *const raised[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char plain[SL_PLOT__LABEL];
    int n = 0, e = 0;
    bool power = false, below = false;
    for (const char *at = label; *at;) {
        int digit = -1, used = 1;
        for (int i = 0; i < 10; i++)
            if (strncmp(at, raised[i], strlen(raised[i])) == 0) {
                digit = i;
                used = (int)strlen(raised[i]);
            }
        if (strncmp(at, "−", 3) == 0) {
            plain[n++] = '-';
            used = 3;
        } else if (strncmp(at, "·10", 4) == 0) {
            used = 4;
        } else if (strncmp(at, "⁻", 3) == 0) {
            below = true;
            used = 3;
        } else if (digit >= 0) {
            e = 10 * e + digit;
            power = true;
        } else if ((*at >= '0' && *at <= '9') || *at == '.') {
            plain[n++] = *at;
        } else {
            return NAN;
        }
        at += used;
    }
    plain[n] = '\0';
    if (power && !strstr(label, "·")) strcpy(plain, "1"); // 10⁵
    snprintf(plain + strlen(plain), sizeof plain - strlen(plain), "e%d", below ? -e : e);
    return strtold(plain, NULL);
}

static void every_label_can_be_read(void **state) {
    (void)state;
    assert_true(read_label("10⁻¹²") == 1e-12L && read_label("−2.5·10³") == -2500);
    assert_true(read_label("0.25") == 0.25L && isnan(read_label("x")));
}

/* Ends of any kind: magnitudes, offsets, signs. */
static void random_ends(sl_rng *r, double *lo, double *hi) {
    const double size = pow(10, sl_rng_range(r, -280, 300));
    double a = size * sl_rng_normal(r), b = size * sl_rng_normal(r);
    switch (sl_rng_below(r, 4)) {
    case 0: a = b + fabs(b) * pow(10, sl_rng_range(r, -11, 0)); break; // close together
    case 1: a = 0; break;
    case 2: // round ends
        a = sl_rng_below(r, 10) * 0.1;
        b = a + 1 + sl_rng_below(r, 20);
        break;
    default: break;
    }
    *lo = SL_MIN(a, b);
    *hi = SL_MAX(a, b);
}

static void check_common(sl_fixture *t, const sl_ticks *k, const sl_axis *a, int max) {
    SL_CHECK(t, k->n >= 1 && k->n <= max, "%d ticks of %d: %g .. %g", k->n, max, a->lo, a->hi);
    SL_CHECK(t, max < 5 || k->n >= 2, "%d ticks of %d: %g .. %g", k->n, max, a->lo, a->hi);
    for (int i = 0; i < k->n; i++) {
        SL_CHECK(t, k->at[i] >= 0 && k->at[i] <= 1, "%s at %g", k->label[i], k->at[i]);
        SL_CHECK(t, i == 0 || k->at[i] > k->at[i - 1], "%s is not behind", k->label[i]);
        const long double v = read_label(k->label[i]);
        SL_CHECK(t, !isnan(v), "what is %s?", k->label[i]);
        const long double at = ((a->log ? log10l(v) : v) - a->from) / (a->to - a->from);
        SL_CHECK(t, fabsl(at - k->at[i]) < 1e-3L, "%s at %g, not %Lg", k->label[i], k->at[i], at);
    }
    for (int i = 0; i < k->minors; i++) assert_true(k->minor[i] >= 0 && k->minor[i] <= 1);
}

/* 1, 2 or 5 times a power of ten. */
static bool is_round(long double step) {
    const long double part = log10l(step), m = powl(10, part - floorl(part));
    const long double nice[] = { 1, 2, 5, 10 };
    for (int i = 0; i < 4; i++)
        if (fabsl(m / nice[i] - 1) < 1e-3L) return true;
    return false;
}

static void linear_ticks_are_few_round_and_all_over(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 5000); i++) {
        double lo, hi;
        sl_ticks k;
        random_ends(&t->rng, &lo, &hi);
        const int max = 2 + (int)sl_rng_below(&t->rng, SL_PLOT__TICKS - 1);
        const sl_axis a = sl_plot__axis(false, lo, hi, 0);
        sl_plot__ticks(&k, &a, max);
        check_common(t, &k, &a, max);
        if (k.n < 2) continue;
        const long double first = read_label(k.label[0]), step = read_label(k.label[1]) - first;
        SL_CHECK(t, is_round(step), "%s to %s is not round", k.label[0], k.label[1]);
        const double gap = k.at[1] - k.at[0];
        SL_CHECK(t, k.at[0] < gap * 1.001 && 1 - k.at[k.n - 1] < gap * 1.001,
                 "%g .. %g: nothing below %s or above %s", lo, hi, k.label[0], k.label[k.n - 1]);
        for (int j = 2; j < k.n; j++)
            SL_CHECK(t, fabs(k.at[j] - k.at[j - 1] - gap) < 1e-6, "uneven at %s", k.label[j]);
        // one step finer would be too many
        SL_CHECK(t, k.n * 2.6 + 2 >= max, "only %d of %d: %g .. %g", k.n, max, lo, hi);
    }
}

static void logarithmic_ticks_are_few_and_round(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 5000); i++) {
        sl_ticks k;
        const double from = sl_rng_range(&t->rng, -300, 290);
        const double span = pow(10, sl_rng_range(&t->rng, -4, log10(305 - from)));
        const double lo = pow(10, from), hi = pow(10, SL_MIN(from + span, 305));
        const int max = 5 + (int)sl_rng_below(&t->rng, SL_PLOT__TICKS - 4);
        const sl_axis a = sl_plot__axis(true, lo, hi, 0.04);
        assert_true(a.lo < lo && a.hi > hi);
        assert_true(a.lo < DBL_MIN || fabsl(a.from - log10l(a.lo)) < 1e-9L);
        assert_true(a.hi == DBL_MAX || fabsl(a.to - log10l(a.hi)) < 1e-9L);
        sl_plot__ticks(&k, &a, max);
        check_common(t, &k, &a, max);
        const long double ratio = read_label(k.label[1]) / read_label(k.label[0]);
        if (span > 3.2) { // whole decades
            SL_CHECK(t, fabsl(log10l(ratio) - roundl(log10l(ratio))) < 1e-6L, "%s", k.label[1]);
            SL_CHECK(t, k.minors > 0 || span > 40, "no small ticks: %g .. %g", lo, hi);
        }
        const double gap = k.at[1] - k.at[0];
        SL_CHECK(t, k.at[0] < 2.5 * gap && 1 - k.at[k.n - 1] < 2.5 * gap, "%g .. %g: far ends", lo,
                 hi);
    }
}

/* Labels as they are meant to look. */
static void labels_are_these(void **state) {
    sl_fixture *t = *state;
    static const struct {
        bool log;
        double lo, hi;
        int max;
        const char *labels;
    } cases[] = {
        { false, 0, 1, 6, "0 0.2 0.4 0.6 0.8 1.0" },
        { false, 0.1, 0.3, 5, "0.10 0.15 0.20 0.25 0.30" },
        { false, -300, 400, 5, "−200 0 200 400" },
        { false, 0, 1234567, 5, "0 0.5·10⁶ 1.0·10⁶" },
        { false, 0, 999999, 5, "0 200000 400000 600000 800000" },
        { false, -2e-7, 3e-7, 6, "−2·10⁻⁷ −1·10⁻⁷ 0 1·10⁻⁷ 2·10⁻⁷ 3·10⁻⁷" },
        { false, -DBL_MAX, DBL_MAX, 5, "−1·10³⁰⁸ 0 1·10³⁰⁸" },
        { false, 0, 0.0008, 5, "0 0.0002 0.0004 0.0006 0.0008" },
        { true, 1, 1000, 8, "1 10 100 1000" },
        { true, 0.01, 2000, 8, "0.01 0.1 1 10 100 1000" },
        { true, 1e-9, 1e-5, 8, "10⁻⁹ 10⁻⁸ 10⁻⁷ 10⁻⁶ 10⁻⁵" },
        { true, 1e-2, 1e6, 5, "10⁻² 1 10² 10⁴ 10⁶" },
        { true, 1e-300, 1e300, 7, "10⁻³⁰⁰ 10⁻²⁰⁰ 10⁻¹⁰⁰ 1 10¹⁰⁰ 10²⁰⁰ 10³⁰⁰" },
        { true, 0.5, 20, 8, "0.5 1 2 5 10 20" },
        { true, 2e11, 2e12, 8, "2·10¹¹ 5·10¹¹ 10¹² 2·10¹²" },
        { true, 3.1, 3.4, 8, "3.10 3.15 3.20 3.25 3.30 3.35 3.40" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_axis a = sl_plot__axis(cases[i].log, cases[i].lo, cases[i].hi, 0);
        sl_ticks k;
        char all[1024] = "";
        sl_plot__ticks(&k, &a, cases[i].max);
        for (int j = 0; j < k.n; j++) {
            if (j) strcat(all, " ");
            strcat(all, k.label[j]);
        }
        SL_CHECK(t, strcmp(all, cases[i].labels) == 0, "%s\n    not %s", all, cases[i].labels);
    }
}

/* Axes of one value, of values that are too close, and of the smallest and largest there are. */
static void every_axis_has_a_length(void **state) {
    sl_fixture *t = *state;
    static const double ends[][2] = {
        { 0, 0 },           { 5, 5 },          { -1e300, -1e300 },   { 1, 1 + 1e-15 },
        { 0, 5e-324 },      { -0.0, 0.0 },     { DBL_MAX, DBL_MAX }, { -DBL_MAX, DBL_MAX },
        { 5e-324, 5e-324 }, { 1e-300, 1e300 },
    };
    for (int i = 0; i < SL_LEN(ends); i++)
        for (int log = 0; log < 2; log++) {
            if (log && ends[i][0] <= 0) continue;
            const sl_axis a = sl_plot__axis(log, ends[i][0], ends[i][1], 0.04);
            double at, to;
            SL_CHECK(t, a.from < a.to && isfinite(a.hi) && isfinite(a.lo), "%g", ends[i][0]);
            assert_true(sl_plot__place(&at, &a, ends[i][0]) && sl_plot__place(&to, &a, ends[i][1]));
            SL_CHECK(t, at >= 0 && at <= to && to <= 1, "%g .. %g at %g .. %g", ends[i][0],
                     ends[i][1], at, to);
            sl_ticks k;
            sl_plot__ticks(&k, &a, 6);
            SL_CHECK(t, k.n >= 1 && k.n <= 6, "%d ticks, %g .. %g", k.n, ends[i][0], ends[i][1]);
        }
    double at;
    const sl_axis a = sl_plot__axis(true, 1, 10, 0);
    assert_false(sl_plot__place(&at, &a, 0) || sl_plot__place(&at, &a, -1) ||
                 sl_plot__place(&at, &a, NAN) || sl_plot__place(&at, &a, INFINITY));
    const sl_axis unit = sl_plot__axis(false, 0, 1, 0);
    assert_true(sl_plot__place(&at, &unit, DBL_MAX) && at == 1e6);
    assert_true(sl_plot__place(&at, &unit, -DBL_MAX) && at == -1e6);
}

static void labels_side_by_side_have_a_gap(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        double lo, hi;
        sl_ticks k;
        random_ends(&t->rng, &lo, &hi);
        const bool log = lo > 0 && sl_rng_below(&t->rng, 2);
        const sl_axis a = sl_plot__axis(log, lo, hi, 0.04);
        const double length = sl_rng_range(&t->rng, 24, 900);
        sl_plot__ticks_fit(&k, &a, 9, length, 12);
        assert_true(k.n >= 1);
        for (int j = 1; j < k.n; j++) {
            const double end = k.at[j - 1] * length + sl_plot__width(k.label[j - 1], 12) / 2;
            const double start = k.at[j] * length - sl_plot__width(k.label[j], 12) / 2;
            SL_CHECK(t, start - end >= 11, "%s and %s on %g pixels", k.label[j - 1], k.label[j],
                     length);
        }
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(every_label_can_be_read),
        SL_TEST(linear_ticks_are_few_round_and_all_over),
        SL_TEST(logarithmic_ticks_are_few_and_round),
        SL_TEST(labels_are_these),
        SL_TEST(every_axis_has_a_length),
        SL_TEST(labels_side_by_side_have_a_gap),
    };
    return sl_test_main("plot.ticks", tests, SL_LEN(tests));
}
