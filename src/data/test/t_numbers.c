/* Numbers: mantissa and exponent are the exact quotient, rounded once. */
#include "fixture/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

/* The judge: the C library prints all digits of a double (never more than 767), and reads them
 * without the exponent with one correct rounding. */
static void judge(float *mantissa, int *exponent, double v) {
    char text[800];
    snprintf(text, sizeof text, "%.766e", v);
    char *e = strchr(text, 'e');
    *exponent = v == 0 ? 0 : atoi(e + 1);
    *e = '\0';
    *mantissa = v == 0 ? 0 : strtof(text, NULL);
    if (fabsf(*mantissa) == 10) {
        *mantissa /= 10;
        ++*exponent;
    }
}

static void check(sl_fixture *t, double v) {
    float m, want_m, array_m, array_e;
    int e, want_e;
    sl_data_number_split(&m, &e, v);
    judge(&want_m, &want_e, v);
    SL_CHECK(t, m == want_m && e == want_e && !signbit(m) == !(v < 0),
             "%a = %.17g is %.9g e%d, not %.9g e%d", v, v, (double)m, e, (double)want_m, want_e);
    sl_data_number_split_array(&array_m, &array_e, &v, 1);
    SL_CHECK(t, array_m == m && array_e == (float)e, "the array has another %a", v);
    if (v == 0 || fabs(v) < 1e-300) return; // subnormal numbers have fewer bits than a float
    const double back = sl_data_number_join(m, e);
    SL_CHECK(t, fabs(back / v - 1) <= 0x1p-24, "%a comes back as %a", v, back);
    sl_data_number_split(&array_m, &want_e, back);
    SL_CHECK(t, isinf(back) || (array_m == m && want_e == e), "%a is not split as %a is", back, v);
}

static void check_both(sl_fixture *t, double v) {
    check(t, v);
    check(t, -v);
}

static void known_numbers_are_split_as_they_should(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double v;
        float m;
        int e;
    } known[] = {
        { 0.0, 0, 0 },
        { -0.0, 0, 0 },
        { 1, 1, 0 },
        { -1, -1, 0 },
        { 9.9999995, 9.9999995f, 0 },
        { 9.9999997, 1, 1 }, // nearer to 10 than to the float below it
        { 9.99999999999, 1, 1 },
        { -9.99999999999, -1, 1 },
        { 0.000123456, 1.23456f, -4 },
        { 9999.6, 9.9996f, 3 },
        { -3.14159, -3.14159f, 0 },
        { 5e-324, 4.9406565f, -324 },
        { 1e-323, 9.881313f, -324 }, // the double is two times 4.94e-324
        { 1e-320, 9.9998887f, -321 },
        { 2.2250738585072014e-308, 2.2250738585072014f, -308 },
        { 1.7976931348623157e308, 1.7976931348623157f, 308 },
        { 1e22, 1, 22 },
        { 1e23, 1, 23 }, // the double is below 10^23
        { 123456789, 1.23456789f, 8 },
    };
    for (int i = 0; i < SL_LEN(known); i++) {
        float m;
        int e;
        sl_data_number_split(&m, &e, known[i].v);
        SL_CHECK(t, m == known[i].m && e == known[i].e && !(m == 0 && signbit(m)),
                 "%.17g is %.9g e%d", known[i].v, (double)m, e);
        check_both(t, known[i].v);
    }
}

static void powers_of_ten_have_mantissa_1(void **state) {
    sl_fixture *t = *state;
    for (int k = -323; k <= 308; k++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", k);
        const double v = strtod(text, NULL);
        float m;
        int e;
        sl_data_number_split(&m, &e, v);
        if (k >= -307) SL_CHECK(t, m == 1 && e == k, "%s is %.9g e%d", text, (double)m, e);
        check_both(t, v);
        check_both(t, nextafter(v, 0));
        check_both(t, nextafter(v, INFINITY));
    }
}

static void all_exponents_and_bits(void **state) {
    sl_fixture *t = *state;
    for (int e = 0; e < 2047; e++) { // each binary exponent, at both of its ends
        for (int end = 0; end < 2; end++) {
            const uint64_t bits = (uint64_t)e << 52 | (end ? UINT64_MAX >> 12 : 0);
            double v;
            memcpy(&v, &bits, sizeof v);
            check_both(t, v);
        }
    }
    for (int i = 0; i < 52; i++) check(t, ldexp(1, i - 1074)); // each subnormal power of 2
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        const uint64_t bits = sl_rng_u64(&t->rng);
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v)) check(t, v);
        check(t, sl_rng_normal(&t->rng) * 10);
        check(t, ldexp((double)(bits >> 12), -1074)); // subnormal
        check(t, (double)((int64_t)bits >> (bits & 63)));
    }
}

/* A number whose mantissa is half-way between two floats, and those nearest to it. */
static void check_around(sl_fixture *t, double v) {
    check_both(t, v);
    check_both(t, nextafter(v, 0));
    check_both(t, nextafter(v, INFINITY));
}

static void ties_go_to_the_even_float(void **state) {
    sl_fixture *t = *state;
    int exact = 0;
    for (int i = 0; i < sl_test_iters(t, 100); i++) {
        // h = 2m + 1 has 25 bits: times 10^k it is exact as long as h 5^k has no more than 53
        const uint32_t h = 1u << 24 | sl_rng_below(&t->rng, 1u << 24) | 1;
        double v = ldexp(h, (int)sl_rng_below(&t->rng, 3) - 24);
        for (int k = 0; k <= 12; k++, v *= 10) check_around(t, v);
        // downwards, h must have the fives: j 5^k 2^x is j 2^(x - k) times 10^k
        uint32_t five = 1;
        for (int k = 1; k <= 9; k++) {
            five *= 5;
            const uint32_t j = (h / five) | 1;
            if ((uint64_t)j * five >> 24 != 1) continue; // not 25 bits
            check_around(t, ldexp(j, -24 - k));
            exact++;
        }
    }
    SL_CHECK(t, exact > 0, "no tie below 1 was tried");
}

/* The double nearest to a tie is some 2^-54 away from it. One in hundreds is so near that 64 bits
 * cannot decide, without being a tie: big integers decide. */
static void near_ties_are_decided_exactly(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 6000); i++) {
        const uint32_t h = 1u << 24 | sl_rng_below(&t->rng, 1u << 24) | 1;
        const int k = (int)sl_rng_below(&t->rng, 631) - 323;
        char text[64];
        snprintf(text, sizeof text, "%.24fe%d", ldexp(h, (int)sl_rng_below(&t->rng, 3) - 24), k);
        const double v = strtod(text, NULL);
        if (isfinite(v) && v > 0) check(t, v);
    }
}

static void joining_keeps_to_its_range(void **state) {
    sl_fixture *t = *state;
    SL_CHECK(t, sl_data_number_join(0, 0) == 0 && sl_data_number_join(0, 300) == 0, "zero");
    SL_CHECK(t, sl_data_number_join(0, INT32_MAX) == 0, "zero times a large power");
    SL_CHECK(t, sl_data_number_join(1, 23) == 1e23 && sl_data_number_join(-2.5f, -3) == -2.5e-3,
             "plain ones");
    SL_CHECK(t, sl_data_number_join(9, INT32_MAX) == INFINITY, "too large");
    SL_CHECK(t, sl_data_number_join(-9, 309) == -INFINITY, "too large");
    SL_CHECK(t, sl_data_number_join(9, INT32_MIN) == 0 && sl_data_number_join(2, -324) == 0,
             "too small");
    SL_CHECK(t, sl_data_number_join(5, -324) == 5e-324, "just not too small");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(known_numbers_are_split_as_they_should),
        SL_TEST(powers_of_ten_have_mantissa_1),
        SL_TEST(all_exponents_and_bits),
        SL_TEST(ties_go_to_the_even_float),
        SL_TEST(near_ties_are_decided_exactly),
        SL_TEST(joining_keeps_to_its_range),
    };
    return sl_test_main("token.numbers", tests, SL_LEN(tests));
}
