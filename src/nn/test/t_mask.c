/* Dropout's bits: those of the generator, on every CPU, and as many as asked for. */
#include "nn/test/twins.h"

/* The face's words, bit by bit. */
static uint32_t word_of(uint64_t key, uint64_t hi, uint64_t lo, size_t i) {
    const sl_philox_block b = sl_philox(key, hi, lo + i / 8);
    const uint32_t word = b.v[i % 8 / 2];
    return i % 2 ? word >> 16 : word & 0xffff;
}

static void bits_are_the_generators(void **state) {
    sl_fixture *t = *state;
    static const uint32_t thresholds[] = { 0, 1, 6554, 32767, 32768, 32769, 58982, 65535, 65536 };
    enum { MOST = 70 };
    for (int round = 0; round < sl_test_iters(t, 200); round++) {
        const uint64_t key = sl_rng_u64(&t->rng), hi = sl_rng_u64(&t->rng);
        // half of them so that the counter's low word runs over on the way
        uint64_t lo = sl_rng_u64(&t->rng);
        if (round % 2) lo = (lo & ~UINT64_C(0xffffffff)) - sl_rng_below(&t->rng, MOST);
        const size_t bytes = sl_rng_below(&t->rng, MOST);
        uint32_t threshold = thresholds[round % SL_LEN(thresholds)];
        if (round % 3 == 0 && bytes) // one that a word meets, which then stays
            threshold = word_of(key, hi, lo, sl_rng_below(&t->rng, 8 * (uint32_t)bytes));
        EACH_VARIANT(k, level) {
            uint8_t bits[MOST + 32];
            memset(bits, 0x5a, sizeof bits);
            k->dropout_mask(bits, bytes, key, hi, lo, threshold);
            for (size_t i = 0; i < 8 * bytes; i++)
                SL_CHECK(t, (bits[i / 8] >> (i % 8) & 1) == (word_of(key, hi, lo, i) >= threshold),
                         "%s: bit %zu of %zu bytes from %llx, threshold %u", level, i, bytes,
                         (unsigned long long)lo, threshold);
            for (size_t i = bytes; i < sizeof bits; i++)
                SL_CHECK(t, bits[i] == 0x5a, "%s: byte %zu of %zu is written", level, i, bytes);
        }
    }
}

/* Of many bits as many are kept as the rate says: at each place of a byte, and together with the
 * next one. Chi-square of 8 + 8 counts; 45 is passed by chance once in 8000 times. */
static void bits_come_at_their_rate(void **state) {
    sl_fixture *t = *state;
    enum { BYTES = 40000 };
    static const double drops[] = { 0.1, 0.25, 0.5, 0.9 };
    uint8_t *bits = sl_arena_alloc(&t->arena, BYTES);
    assert_non_null(bits);
    for (int i = 0; i < SL_LEN(drops); i++) {
        const uint32_t threshold = sl_nn_dropout_threshold(drops[i]);
        const double rate = 1 - threshold / 65536.0;
        SL_CHECK(t, fabs(rate - (1 - drops[i])) < 1e-5, "%g", rate);
        sl_nn_dropout_mask(bits, BYTES, t->seed, 7, (uint64_t)i << 40, threshold);
        unsigned kept[8] = { 0 }, pairs[8] = { 0 };
        for (int b = 0; b + 1 < BYTES; b++) {
            const unsigned two = bits[b] | (unsigned)bits[b + 1] << 8;
            for (int k = 0; k < 8; k++) {
                kept[k] += two >> k & 1;
                pairs[k] += (two >> k & 3) == 3;
            }
        }
        double chi = 0;
        for (int k = 0; k < 8; k++) {
            const double n = BYTES - 1, both_kept = rate * rate;
            chi += pow(kept[k] - n * rate, 2) / (n * rate * (1 - rate));
            chi += pow(pairs[k] - n * both_kept, 2) / (n * both_kept * (1 - both_kept));
        }
        SL_CHECK(t, chi < 45, "drop %g: chi-square %g", drops[i], chi);
    }
}

static void thresholds_are_rounded(void **state) {
    (void)state;
    assert_int_equal(sl_nn_dropout_threshold(0), 0);
    assert_int_equal(sl_nn_dropout_threshold(0.5), 32768);
    assert_int_equal(sl_nn_dropout_threshold(0.1), 6554);
    assert_int_equal(sl_nn_dropout_threshold(1), 65536);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(bits_are_the_generators),
        SL_TEST(bits_come_at_their_rate),
        SL_TEST(thresholds_are_rounded),
    };
    return sl_test_main("nn.mask", tests, SL_LEN(tests));
}
