/* Sums of blocks: by halves to the last bit, and squares in double. */
#include "nn/test/twins.h"

enum { BLOCKS = 1024 };

/* As the face says it. */
static float by_halves(const float *const *block, int n_blocks, int64_t i) {
    if (n_blocks == 1) return block[0][i];
    const int half = n_blocks / 2;
    return by_halves(block, half, i) + by_halves(block + half, half, i);
}

static void squares_are(sl_fixture *t, double got, const float *x, int64_t n, const char *level) {
    long double exact = 0;
    for (int64_t i = 0; i < n; i++) exact += (long double)x[i] * (long double)x[i];
    SL_CHECK(t, fabsl((long double)got - exact) <= 1e-14L * exact, "%s, n %lld: %.17g, not %.17Lg",
             level, (long long)n, got, exact);
}

static void sums_are_by_halves(void **state) {
    sl_fixture *t = *state;
    static const int64_t sizes[] = { 1, 2, 7, 8, 16, 37, 1023, 1024, 1025, 2090 };
    for (int s = 0; s < SL_LEN(sizes); s++)
        for (int n_blocks = 1; n_blocks <= (sizes[s] > 100 ? 64 : BLOCKS); n_blocks *= 2) {
            const int64_t n = sizes[s];
            sl_arena_rewind(&t->arena, 0);
            both block[BLOCKS];
            const float *from[BLOCKS];
            for (int b = 0; b < n_blocks; b++) {
                block[b] = both_random(t, (size_t)n, -1, 1);
                from[b] = block[b].f;
            }
            const both exact = both_new(t, (size_t)n);
            for (int64_t i = 0; i < n; i++) exact.f[i] = by_halves(from, n_blocks, i);
            EACH_VARIANT(k, level) {
                // apart, and on a block that is anywhere among them
                const both out = both_new(t, (size_t)n);
                const int at = (int)sl_rng_below(&t->rng, (uint32_t)n_blocks);
                const both on = both_copy(t, block[at]);
                const double apart = k->sum_tree(out.f, from, n_blocks, n);
                from[at] = on.f;
                const double over = k->sum_tree(on.f, from, n_blocks, n);
                from[at] = block[at].f;
                for (int64_t i = 0; i < n + GUARDS; i++)
                    SL_CHECK(t, out.f[i] == exact.f[i] && on.f[i] == exact.f[i],
                             "%s: %d blocks, number %lld of %lld: %a and %a, not %a", level,
                             n_blocks, (long long)i, (long long)n, (double)out.f[i],
                             (double)on.f[i], (double)exact.f[i]);
                assert_true(apart == over);
                squares_are(t, apart, exact.f, n, level);
            }
        }
}

static void nothing_sums_to_nothing(void **state) {
    (void)state;
    const float *none[2] = { NULL, NULL };
    EACH_VARIANT(k, level) assert_true(k->sum_tree(NULL, none, 2, 0) == 0);
}

/* In double: float would lose the small ones, or overflow. */
static void squares_are_summed_in_double(void **state) {
    sl_fixture *t = *state;
    float x[33], out[33];
    const float *const block[] = { x };
    for (int i = 0; i < 33; i++) x[i] = 1e-4f;
    x[5] = 1e4f;
    x[32] = 1e25f;
    EACH_VARIANT(k, level) {
        squares_are(t, k->sum_tree(out, block, 1, 33), x, 33, level);
        squares_are(t, k->sum_tree(out, block, 1, 32), x, 32, level);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(sums_are_by_halves),
        SL_TEST(nothing_sums_to_nothing),
        SL_TEST(squares_are_summed_in_double),
    };
    return sl_test_main("nn.sums", tests, SL_LEN(tests));
}
