/* Which instruction set is used, and what the environment can do to it. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fixture/fixture.h"

static void words_lower_and_never_raise(void **state) {
    (void)state;
    static const struct {
        sl_isa best;
        const char *word;
        sl_isa used;
        bool fine;
    } known[] = {
        { SL_ISA_AVX512, NULL, SL_ISA_AVX512, true },
        { SL_ISA_AVX512, "base", SL_ISA_BASE, true },
        { SL_ISA_AVX512, "avx2", SL_ISA_AVX2, true },
        { SL_ISA_AVX512, "avx512", SL_ISA_AVX512, true },
        { SL_ISA_AVX2, "avx512", SL_ISA_AVX2, false },
        { SL_ISA_AVX2, "base", SL_ISA_BASE, true },
        { SL_ISA_BASE, "avx2", SL_ISA_BASE, false },
        { SL_ISA_BASE, NULL, SL_ISA_BASE, true },
        { SL_ISA_AVX512, "nonsense", SL_ISA_AVX512, false },
        { SL_ISA_AVX2, "AVX2", SL_ISA_AVX2, false },
        { SL_ISA_AVX2, "", SL_ISA_AVX2, true },
    };
    for (int i = 0; i < SL_LEN(known); i++) {
        assert_int_equal(sl_cpu_lowered(known[i].best, known[i].word), known[i].used);
        const sl_status st = sl_cpu_check(known[i].word, known[i].best);
        assert_int_equal(st, known[i].fine ? SL_OK : SL_EINVAL);
        if (!known[i].fine) assert_non_null(strstr(sl_last_error(), known[i].word));
    }
}

/* Asked first by this thread of this program: the environment counts, once. */
static void the_environment_is_read_once(void **state) {
    (void)state;
    assert_int_equal(setenv(SL_CPU_VARIABLE, "base", 1), 0);
    assert_int_equal(sl_cpu(), SL_ISA_BASE);
    assert_int_equal(setenv(SL_CPU_VARIABLE, "avx2", 1), 0);
    assert_int_equal(sl_cpu(), SL_ISA_BASE);
}

static void names_are_those_of_the_environment(void **state) {
    (void)state;
    assert_true(sl_cpu_best() < SL_ISA_COUNT);
    for (int i = 0; i < SL_ISA_COUNT; i++)
        assert_int_equal(sl_cpu_lowered(SL_ISA_COUNT, sl_isa_name((sl_isa)i)), i);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(words_lower_and_never_raise),
        SL_TEST(the_environment_is_read_once),
        SL_TEST(names_are_those_of_the_environment),
    };
    return sl_test_main("base.cpu", tests, SL_LEN(tests));
}
