/* The text of a double is what the C library says, byte for byte, whichever way it was made. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fixture/fixture.h"

/* The naive twin, which is also the definition. */
static void defined(char text[64], double v) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 64, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    if (!strpbrk(text, ".e")) strcat(text, ".0");
}

static void check(sl_fixture *t, double v) {
    char want[64], text[SL_REAL_TEXT_MAX];
    memset(text, 'x', sizeof text);
    defined(want, v);
    int n = sl_real_text(text, v);
    SL_CHECK(t, strcmp(text, want) == 0 && n == (int)strlen(want), "%a is %s, not %s", v, want,
             text);
}

/* With its neighbours and its opposite: what is special is seldom hit by chance. */
static void check_around(sl_fixture *t, double v) {
    double below = v, above = v;
    for (int i = 0; i < 4; i++) {
        check(t, below);
        check(t, -above);
        below = nextafter(below, 0);
        above = nextafter(above, DBL_MAX);
    }
}

static double of_bits(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void any_bits_are_written_as_by_the_c_library(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 20000); i++) {
        double v = of_bits(sl_rng_u64(&t->rng));
        if (isfinite(v)) check(t, v);
    }
}

/* Every mantissa is as likely as any other, and every exponent of the exact way. */
static void common_sizes_are_written_as_by_the_c_library(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 40000); i++) {
        uint64_t sign = (uint64_t)sl_rng_below(&t->rng, 2) << 63;
        uint64_t exponent = (uint64_t)(1023 - 38 + (int)sl_rng_below(&t->rng, 38 + 51)) << 52;
        check(t, of_bits(sign | exponent | sl_rng_u64(&t->rng) >> 12));
    }
}

/* Few bits give decimal expansions that end: exactly half way between two texts. */
static void ties_are_written_as_by_the_c_library(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 20000); i++) {
        uint64_t whole = sl_rng_u64(&t->rng) >> (11 + sl_rng_below(&t->rng, 45));
        check(t, ldexp((double)whole, -(int)sl_rng_below(&t->rng, 60)));
    }
}

/* What people and programs wrote before: few digits, and what lies just beside. */
static void short_decimals_are_written_as_by_the_c_library(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        char text[64];
        int digits = 1 + (int)sl_rng_below(&t->rng, 17);
        long long whole = (long long)(sl_rng_u64(&t->rng) >> 1);
        for (int k = digits; k < 19; k++) whole /= 10;
        snprintf(text, sizeof text, "%llde%d", whole, (int)sl_rng_below(&t->rng, 40) - 28);
        check_around(t, strtod(text, NULL));
    }
}

static void edges_are_written_as_by_the_c_library(void **state) {
    sl_fixture *t = *state;
    for (int e = DBL_MIN_EXP - DBL_MANT_DIG; e < DBL_MAX_EXP; e++) check_around(t, ldexp(1, e));
    for (int k = -323; k <= 308; k++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", k);
        check_around(t, strtod(text, NULL));
    }
    check(t, 0.0);
    check(t, -0.0);
    check(t, DBL_MAX);
    check(t, -DBL_MAX);
    check(t, DBL_MIN);
    check(t, DBL_TRUE_MIN);
    for (int i = 0; i < sl_test_iters(t, 5000); i++) // subnormals of every size
        check(t, of_bits(sl_rng_u64(&t->rng) >> (12 + sl_rng_below(&t->rng, 52))));
    for (int i = 0; i < 2000; i++) check(t, i);
}

/* In words, so that the twin cannot share a mistake. */
static void these_texts_are_exactly_this(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        { 0.1, "0.1" },
        { 1.0 / 3, "0.3333333333333333" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { -1.0, "-1.0" },
        { 1e-7, "1e-07" },
        { 1e-4, "0.0001" },
        { 0.00012345, "0.00012345" },
        { 1.25e-5, "1.25e-05" },
        { 123456789.0, "123456789.0" },
        { 1e14, "100000000000000.0" },
        { 1e15, "1e+15" },
        { 0x1p-44, "5.6843418860808015e-14" },
        { 5e-324, "4.94065645841247e-324" },
        { -0.0, "-0.0" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char text[SL_REAL_TEXT_MAX];
        sl_real_text(text, cases[i].v);
        SL_CHECK(t, strcmp(text, cases[i].text) == 0, "%s is written %s", cases[i].text, text);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(these_texts_are_exactly_this),
        SL_TEST(edges_are_written_as_by_the_c_library),
        SL_TEST(short_decimals_are_written_as_by_the_c_library),
        SL_TEST(ties_are_written_as_by_the_c_library),
        SL_TEST(common_sizes_are_written_as_by_the_c_library),
        SL_TEST(any_bits_are_written_as_by_the_c_library),
    };
    return sl_test_main("base.real", tests, SL_LEN(tests));
}
