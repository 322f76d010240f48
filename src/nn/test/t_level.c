/* Which level is used, and what the environment can do to it. */
#include <stdlib.h>

#include "nn/test/twins.h"

static void words_lower_and_never_raise(void **state) {
    (void)state;
    static const struct {
        sl_nn__cpu best;
        const char *word;
        sl_nn__cpu used;
    } known[] = {
        { SL_NN__AVX512, NULL, SL_NN__AVX512 },       { SL_NN__AVX512, "base", SL_NN__BASE },
        { SL_NN__AVX512, "avx2", SL_NN__AVX2 },       { SL_NN__AVX512, "avx512", SL_NN__AVX512 },
        { SL_NN__AVX2, "avx512", SL_NN__AVX2 },       { SL_NN__AVX2, "base", SL_NN__BASE },
        { SL_NN__BASE, "avx2", SL_NN__BASE },         { SL_NN__BASE, NULL, SL_NN__BASE },
        { SL_NN__AVX512, "nonsense", SL_NN__AVX512 }, { SL_NN__AVX2, "", SL_NN__AVX2 },
    };
    for (int i = 0; i < SL_LEN(known); i++)
        assert_int_equal(sl_nn__lowered(known[i].best, known[i].word), known[i].used);
}

/* Asked for first by this program's first thread: the environment counts, once. */
static void the_environment_is_heard_once(void **state) {
    (void)state;
    assert_int_equal(setenv("SYMLAW_CPU", "base", 1), 0);
    assert_string_equal(sl_nn_level(), "base");
    assert_int_equal(setenv("SYMLAW_CPU", "avx2", 1), 0);
    assert_string_equal(sl_nn_level(), "base");
    assert_int_equal(sl_nn__level(), SL_NN__BASE);
}

static void every_level_has_its_table(void **state) {
    (void)state;
    static const char *const names[SL_NN__CPUS] = { "base", "avx2", "avx512" };
    assert_true(sl_nn__best() < SL_NN__CPUS);
    for (int i = 0; i < SL_NN__CPUS; i++) {
        assert_string_equal(sl_nn__cpu_name((sl_nn__cpu)i), names[i]);
        const sl_nn__pointwise *k = sl_nn__pointwise_at((sl_nn__cpu)i);
#define X(name) assert_true(k->name != NULL);
        SL_NN__POINTWISE(X)
#undef X
        for (int j = 0; j < i; j++) assert_true(sl_nn__pointwise_at((sl_nn__cpu)j) != k);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(words_lower_and_never_raise),
        SL_TEST(the_environment_is_heard_once),
        SL_TEST(every_level_has_its_table),
    };
    return sl_test_main("nn.level", tests, SL_LEN(tests));
}
