/* The operations on vectors, each against a loop over numbers. */
#include <math.h>

#include "base/vector.h"
#include "fixture/fixture.h"

enum { ROUNDS = 200 };

static float any_float(sl_rng *r) { return (float)sl_rng_range(r, -2, 2); }

static vec any_vec(sl_rng *r) {
    vec v;
    for (int i = 0; i < W; i++) v[i] = any_float(r);
    return v;
}

static float sum_of(vec v) { // halves to the fourth part, then pairs
    for (int half = W / 2; half >= 4; half /= 2)
        for (int i = 0; i < half; i++) v[i] += v[i + half];
    return (v[0] + v[1]) + (v[2] + v[3]);
}

static float max_of(vec v) {
    float m = v[0];
    for (int i = 1; i < W; i++) m = fmaxf(m, v[i]);
    return m;
}

static void tails_touch_n_numbers(void **state) {
    (void)state;
    sl_rng r;
    sl_rng_init(&r, 1, 0, 0);
    for (int n = 1; n <= W; n++) {
        float from[W], to[W];
        for (int i = 0; i < W; i++) from[i] = any_float(&r), to[i] = 7;
        const vec zero = v_load_n(from, n), rest = v_load_tail(from, n, 3);
        for (int i = 0; i < W; i++) {
            assert_true(zero[i] == (i < n ? from[i] : 0));
            assert_true(rest[i] == (i < n ? from[i] : 3));
        }
        v_store_n(to, zero + 1, n);
        for (int i = 0; i < W; i++) assert_true(to[i] == (i < n ? from[i] + 1 : 7));
    }
}

static void sums_and_maxima_are_those_of_loops(void **state) {
    (void)state;
    sl_rng r;
    sl_rng_init(&r, 2, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        const vec v[4] = { any_vec(&r), any_vec(&r), any_vec(&r), any_vec(&r) };
        const vec4 sum = v_sums(v[0], v[1], v[2], v[3]), top = v_maxima(v[0], v[1], v[2], v[3]);
        for (int i = 0; i < 4; i++) {
            assert_true(sum[i] == sum_of(v[i]));
            assert_true(top[i] == max_of(v[i]) && v_largest(v[i]) == top[i]);
        }
        v_squares s = { d_set(0), d_set(0) };
        double squares = 0;
        s = v_add_squares(s, v[0]);
        for (int i = 0; i < W; i++) squares += (double)v[0][i] * (double)v[0][i];
        assert_true(v_squares_sum(s) == squares);
    }
}

static void units_are_summed_and_transposed(void **state) {
    (void)state;
    sl_rng r;
    sl_rng_init(&r, 3, 0, 0);
    unit u[UNIT], t[4];
    for (int i = 0; i < UNIT; i++)
        for (int k = 0; k < UNIT; k++) u[i][k] = (float)(int)sl_rng_below(&r, 1000); // exact sums
    const unit sum = unit_sums(u);
    for (int i = 0; i < UNIT; i++) {
        float s = 0;
        for (int k = 0; k < UNIT; k++) s += u[i][k];
        assert_true(sum[i] == s);
    }
    for (int i = 0; i < 4; i++) t[i] = u[i];
    unit_transpose(t);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < UNIT; k++) assert_true(t[i][k] == u[k % 4][k / 4 * 4 + i]);
}

/* A maximum or minimum with a NaN is the second one. */
static void numbers_are_compared_and_chosen(void **state) {
    (void)state;
    const vec one = v_set(1), two = v_set(2), nan = v_set(NAN);
    assert_true(v_max(one, two)[0] == 2 && v_max(two, one)[W - 1] == 2);
    assert_true(v_min(one, two)[0] == 1 && v_min(two, one)[W - 1] == 1);
    assert_true(v_max(nan, one)[0] == 1 && isnan(v_max(one, nan)[0]));
    assert_true(v_min(nan, one)[0] == 1 && isnan(v_min(one, nan)[0]));
    assert_true(v_choose(one < two, one, two)[0] == 1 && v_choose(one > two, one, two)[0] == 2);
    assert_true(v_fma(one, two, two)[W - 1] == 4 && d_fma(d_set(3), d_set(2), d_set(1))[0] == 7);
    const dvec two_root = d_sqrt(d_set(2));
    assert_true(two_root[0] == sqrt(2) && two_root[WD - 1] == sqrt(2));
    const ulvec odd = u_count() & 1, mask = (ulvec)(odd == 1);
    const dvec mixed = d_choose(mask, d_set(5), d_set(6));
    for (int i = 0; i < WD; i++) assert_true(mixed[i] == (i % 2 ? 5 : 6));
    assert_true(u_any(mask) && !u_any(mask & 0));
    for (int i = 0; i < W; i++) assert_int_equal(i_count()[i], i);
}

static void bits_keep_numbers(void **state) {
    (void)state;
    sl_rng r;
    sl_rng_init(&r, 4, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t bits[8];
        for (int i = 0; i < 8; i++) bits[i] = (uint8_t)sl_rng_u32(&r);
        for (size_t bit = 0; bit + W <= 64; bit += W) {
            const vec v = any_vec(&r), kept = v_keep(v, bits, bit, W);
            for (size_t i = 0; i < W; i++) {
                const bool on = bits[(bit + i) / 8] >> ((bit + i) % 8) & 1;
                assert_true(kept[i] == (on ? v[i] : 0));
            }
        }
    }
}

static void words_are_multiplied_and_compared(void **state) {
    (void)state;
    sl_rng r;
    sl_rng_init(&r, 5, 0, 0);
    for (int round = 0; round < ROUNDS; round++) {
        ulvec a, b;
        uint8_t bits[WD];
        for (int i = 0; i < WD; i++) a[i] = sl_rng_u64(&r), b[i] = sl_rng_u64(&r);
        const uint16_t t = round % 3
                               ? (uint16_t)SL_MAX(1, sl_rng_u32(&r) & 0xffff)
                               : (uint16_t)SL_MAX(1, a[0] & 0xffff); // as large as one of them
        const ulvec product = u_mul_low(a, b), joined = u_join(a, b);
        u_not_below(bits, a, b, t);
        for (int i = 0; i < WD; i++) {
            assert_true(product[i] == (uint64_t)(uint32_t)a[i] * (uint32_t)b[i]);
            assert_true(joined[i] == ((uint32_t)a[i] | b[i] << 32));
            for (int k = 0; k < 8; k++) {
                const uint16_t x = (uint16_t)((k < 4 ? a[i] : b[i]) >> 16 * (k % 4));
                assert_int_equal(bits[i] >> k & 1, x >= t);
            }
        }
    }
}

/* 64 bits of a long double, also where it has more: 1/10 is rounded up in them. */
static void long_doubles_have_64_bits(void **state) {
    (void)state;
    static const struct {
        long double v;
        uint64_t mantissa;
        int exponent;
    } known[] = {
        { 1, UINT64_C(1) << 63, 0x3fff },
        { -1.5L, UINT64_C(3) << 62, 0xbfff },
        { 0.1L, UINT64_C(0xcccccccccccccccd), 0x3ffb },
        { 1e20L, UINT64_C(0xad78ebc5ac620000), 0x4041 },
        { 0x1.fffffffffffffffep0L, UINT64_MAX, 0x3fff },
    };
    for (int i = 0; i < SL_LEN(known); i++) {
        const sl_long_bits b = sl_long_bits_of(known[i].v);
        assert_true(b.mantissa == known[i].mantissa);
        assert_int_equal(b.exponent, known[i].exponent);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(tails_touch_n_numbers),
        SL_TEST(sums_and_maxima_are_those_of_loops),
        SL_TEST(units_are_summed_and_transposed),
        SL_TEST(numbers_are_compared_and_chosen),
        SL_TEST(bits_keep_numbers),
        SL_TEST(words_are_multiplied_and_compared),
        SL_TEST(long_doubles_have_64_bits),
    };
    return sl_test_main("base.vector", tests, SL_LEN(tests));
}
