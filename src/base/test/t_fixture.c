/* The fixture itself: a test that should fail must fail, and say why. The program starts itself
 * with the name of a bad test and looks at how that ends. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture/fixture.h"

/* ---------------------------------------------------------------- bad tests ----------------- */

static void *kept;

static void bad_leak(void **state) {
    (void)state;
    kept = sl_malloc(10, 1);
}

static void bad_must(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, sl_fail(SL_EFORMAT, "line %d is odd", 7));
}

static void bad_check(void **state) {
    sl_fixture *t = *state;
    int answer = 41;
    SL_CHECK(t, answer == 42, "the answer is %d", answer);
}

static sl_status leak_when_second_fails(void) {
    void *a = sl_malloc(1, 1), *b = sl_malloc(1, 1);
    if (!b) return sl_fail_memory(1, 1, "b"); // forgets a
    sl_free(a);
    sl_free(b);
    return a ? SL_OK : sl_fail_memory(1, 1, "a");
}

static void bad_fault_leaks(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, leak_when_second_fails());
}

static sl_status overlook(void) {
    sl_free(sl_malloc(1, 1));
    return SL_OK;
}

static void bad_fault_unnoticed(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, overlook());
}

static sl_status misname(void) {
    void *p = sl_malloc(1, 1);
    sl_free(p);
    return p ? SL_OK : sl_fail(SL_EIO, "the disk is full");
}

static void bad_fault_misnamed(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, misname());
}

static sl_status mute(void) {
    void *p = sl_malloc(1, 1);
    sl_free(p);
    return p ? SL_OK : SL_ENOMEM;
}

static void bad_fault_mute(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, mute());
}

static const struct CMUnitTest bad[] = {
    SL_TEST(bad_leak),
    SL_TEST(bad_must),
    SL_TEST(bad_check),
    SL_TEST(bad_fault_leaks),
    SL_TEST(bad_fault_unnoticed),
    SL_TEST(bad_fault_misnamed),
    SL_TEST(bad_fault_mute),
};

/* ---------------------------------------------------------------- tests --------------------- */

static void bad_tests_fail_with_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *name, *says;
    } want[] = {
        { "bad_leak", "1 blocks of memory not given back" },
        { "bad_must", "is \"malformed input\": line 7 is odd" },
        { "bad_check", "the answer is 41" },
        { "bad_fault_leaks", "with allocation 2 failing: 1 blocks of memory not given back" },
        { "bad_fault_unnoticed", "with allocation 1 failing: went unnoticed" },
        { "bad_fault_misnamed", "input or output failed\": the disk is full" },
        { "bad_fault_mute", "leaves no message" },
    };
    assert_int_equal(SL_LEN(want), SL_LEN(bad));
    for (int i = 0; i < SL_LEN(want); i++) {
        char command[256], text[8192];
        // exec, because /proc/self must be ours and not the shell's
        snprintf(command, sizeof command,
                 "SL_TEST_SEED=99 ASAN_OPTIONS=detect_leaks=0 exec /proc/%d/exe %s 2>&1",
                 (int)getpid(), want[i].name);
        FILE *f = popen(command, "re");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof text - 1, f);
        text[n] = '\0';
        int how = pclose(f);
        if (!WIFEXITED(how) || WEXITSTATUS(how) != 1)
            fail_msg("%s did not fail (%#x):\n%s", want[i].name, how, text);
        if (!strstr(text, want[i].says) || !strstr(text, "SL_TEST_SEED=99") ||
            (i > 0 && !strstr(text, "t_fixture.c:")))
            fail_msg("%s does not say \"%s\", its place and the seed:\n%s", want[i].name,
                     want[i].says, text);
    }
}

static sl_status build(const char **out, sl_arena *a, int n) {
    for (int i = 0; i < n; i++) {
        char *p = sl_arena_alloc(a, 5000);
        if (!p) return sl_fail_memory(1, 5000, "a piece");
        memset(p, 'a' + i, 5000);
        *out = p;
    }
    return SL_OK;
}

/* Every allocation of the call is hit once, what was in the arena before stays, and what the call
 * built stays valid, too. */
static void each_allocation_hits_all_and_keeps_the_arena(void **state) {
    sl_fixture *t = *state;
    char *before = sl_arena_alloc(&t->arena, 100);
    assert_non_null(before);
    memset(before, 'x', 100);
    size_t mark = sl_arena_mark(&t->arena);

    sl_arena alone = { 0 };
    const char *out = NULL;
    int64_t calls = sl_mem_calls();
    SL_MUST(t, build(&out, &alone, 6));
    int64_t need = sl_mem_calls() - calls;
    sl_arena_clear(&alone);
    assert_true(need >= 3);

    int runs = 0;
    SL_EACH_ALLOCATION(t, (runs++, build(&out, &t->arena, 6)));
    assert_int_equal(runs, need + 1);
    assert_int_equal(sl_arena_mark(&t->arena), mark);
    for (int i = 0; i < 100; i++) assert_int_equal(before[i], 'x');
    sl_arena_rewind(&t->arena, 0);
    for (int i = 0; i < 5000; i++) assert_int_equal(out[i], 'f');
}

static uint64_t first_draw[2];

static void draws_a(void **state) {
    sl_fixture *t = *state;
    first_draw[0] = sl_rng_u64(&t->rng);
    assert_true(first_draw[0] != first_draw[1]);
}

static void draws_b(void **state) {
    sl_fixture *t = *state;
    first_draw[1] = sl_rng_u64(&t->rng);
    assert_true(first_draw[0] != first_draw[1]); // a stream for every test name
    sl_rng again;
    sl_rng_init(&again, t->seed, 0x7E57, sl_hash("draws_b", 7, 0));
    assert_true(sl_rng_u64(&again) == first_draw[1]); // and the same one every time
    assert_int_equal(sl_test_iters(t, 10), 10 * t->scale);
}

int main(int argc, char **argv) {
    for (int i = 0; argc > 1 && i < SL_LEN(bad); i++) {
        if (strcmp(argv[1], bad[i].name) == 0) return sl_test_main("bad", &bad[i], 1);
    }
    static const struct CMUnitTest tests[] = {
        SL_TEST(bad_tests_fail_with_a_reason),
        SL_TEST(each_allocation_hits_all_and_keeps_the_arena),
        SL_TEST(draws_a),
        SL_TEST(draws_b),
    };
    return sl_test_main("base.fixture", tests, SL_LEN(tests));
}
