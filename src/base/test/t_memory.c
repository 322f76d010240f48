/* Allocation: counted, checked for overflow, failing on request. */
#include <pthread.h>
#include <string.h>

#include "fixture/fixture.h"

static void blocks_are_counted(void **state) {
    (void)state;
    int64_t blocks = sl_mem_blocks(), calls = sl_mem_calls();
    void *a = sl_malloc(3, 7), *b = sl_calloc(5, 1), *c = sl_realloc(NULL, 2, 8);
    assert_true(a && b && c);
    assert_int_equal(sl_mem_blocks() - blocks, 3);
    c = sl_realloc(c, 4000, 8); // the same block, moved or not
    assert_non_null(c);
    assert_int_equal(sl_mem_blocks() - blocks, 3);
    assert_int_equal(sl_mem_calls() - calls, 4);
    sl_free(a);
    sl_free(b);
    sl_free(c);
    sl_free(NULL);
    assert_int_equal(sl_mem_blocks(), blocks);
}

/* Elements stay where they were, and a failure changes nothing. */
static void arrays_grow_when_they_are_full(void **state) {
    (void)state;
    int *list = NULL;
    int64_t room = 0, calls = sl_mem_calls();
    for (int n = 0; n < 1000; n++) {
        assert_int_equal(sl_grow(&list, &room, n, sizeof *list, "a list"), SL_OK);
        assert_true(n < room);
        list[n] = n;
    }
    assert_int_equal(room, 1024);
    assert_int_equal(sl_mem_calls() - calls, 5);
    for (int n = 0; n < 1000; n++) assert_int_equal(list[n], n);
    const int *before = list;
    sl_mem_fail_at(1, false);
    assert_int_equal(sl_grow(&list, &room, 1024, sizeof *list, "a list"), SL_ENOMEM);
    assert_true(list == before && room == 1024);
    sl_free(list);
}

/* Bytes as the C library rounds them: at least what was asked for, a huge page more where a block
 * is to begin at one, and all of it given back. */
static void bytes_are_counted(void **state) {
    sl_fixture *t = *state;
    enum { MANY = 3 << 20, HUGE = 2 << 20 };
    int64_t before = sl_mem_bytes();
    sl_mem_peak_reset();
    assert_int_equal(sl_mem_peak(), before);
    char *a = sl_malloc(1000, 1), *b = sl_calloc(10, 100), *c = sl_malloc_aligned(MANY, 2);
    assert_true(a && b && c);
    int64_t held = sl_mem_bytes() - before;
    SL_CHECK(t, held >= 2 * MANY + 2000 && held < 2 * MANY + HUGE + 20000, "%d bytes", (int)held);
    assert_int_equal(sl_mem_peak(), before + held);
    sl_free(c);
    int64_t rest = sl_mem_bytes() - before;
    SL_CHECK(t, rest >= 2000 && rest < 3000, "%d bytes", (int)rest);
    assert_int_equal(sl_mem_peak(), before + held); // stays

    a = sl_realloc(a, 100000, 1); // grows, shrinks, and fails: counted as what is held
    assert_non_null(a);
    int64_t more = sl_mem_bytes() - before - rest;
    SL_CHECK(t, more >= 99000 - 100 && more < 110000, "%d bytes", (int)more);
    sl_mem_fail_at(1, false);
    assert_null(sl_realloc(a, 200000, 1));
    assert_int_equal(sl_mem_bytes() - before - rest, more);
    a = sl_realloc(a, 10, 1);
    assert_non_null(a);
    assert_true(sl_mem_bytes() - before <= rest);

    sl_free(a);
    sl_free(b);
    assert_int_equal(sl_mem_bytes(), before);
    sl_mem_peak_reset();
    assert_int_equal(sl_mem_peak(), before);
}

static void wide_blocks_begin_at_a_line_and_take_no_more_than_a_page_besides(void **state) {
    sl_fixture *t = *state;
    static const size_t sizes[] = { 0, 1, 63, 64, 4096, (4 << 20) - 1, 4 << 20, 9 << 20 };
    for (int i = 0; i < SL_LEN(sizes); i++) {
        int64_t blocks = sl_mem_blocks();
        const int64_t bytes = sl_mem_bytes();
        char *p = sl_malloc_aligned(sizes[i], 1);
        assert_non_null(p);
        SL_CHECK(t, (uintptr_t)p % 64 == 0, "%zu bytes at %p", sizes[i], (void *)p);
        SL_CHECK(t, sl_mem_bytes() - bytes <= (int64_t)sizes[i] + 8192, "%zu bytes take %lld",
                 sizes[i], (long long)(sl_mem_bytes() - bytes));
        memset(p, 'w', sizes[i]);
        assert_int_equal(sl_mem_blocks(), blocks + 1);
        sl_free(p);
    }
    sl_mem_fail_at(1, false);
    assert_null(sl_malloc_aligned(100, 4));
    volatile size_t half = SIZE_MAX / 2 + 1;
    assert_null(sl_malloc_aligned(half, 2));
    assert_null(sl_malloc_aligned(half, 1));
}

static void calloc_clears_and_realloc_keeps(void **state) {
    (void)state;
    char *p = sl_calloc(64, 4);
    assert_non_null(p);
    for (int i = 0; i < 256; i++) assert_int_equal(p[i], 0);
    memset(p, 'k', 256);
    p = sl_realloc(p, 100000, 1);
    assert_non_null(p);
    for (int i = 0; i < 256; i++) assert_int_equal(p[i], 'k');
    sl_free(p);
}

static void zero_bytes_are_a_pointer_and_too_many_none(void **state) {
    (void)state;
    void *p = sl_malloc(0, 8), *q = sl_calloc(8, 0), *r = sl_realloc(NULL, 0, 0);
    assert_true(p && q && r);
    r = sl_realloc(r, 0, 4);
    assert_non_null(r);
    sl_free(p);
    sl_free(q);
    sl_free(r);

    int64_t blocks = sl_mem_blocks();
    volatile size_t half = SIZE_MAX / 2 + 1; // volatile: the compiler must not see it coming
    assert_null(sl_malloc(half, 2));         // wraps to 0
    assert_null(sl_calloc(half, 2));
    assert_null(sl_malloc(half, 1)); // does not wrap, but no object is that large
    char *s = sl_malloc(4, 1);
    assert_non_null(s);
    memcpy(s, "abc", 4);
    assert_null(sl_realloc(s, half, 2));
    assert_string_equal(s, "abc");
    sl_free(s);
    assert_int_equal(sl_mem_blocks(), blocks);
}

/* How many of eight allocations fail, as bits. */
static int pattern(void) {
    int bits = 0;
    for (int i = 0; i < 8; i++) {
        void *p = i % 2 ? sl_calloc(1, 1) : sl_malloc(1, 1);
        if (!p) bits |= 1 << i;
        sl_free(p);
    }
    return bits;
}

static void the_chosen_allocation_fails(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n++) {
        sl_mem_fail_at(n, false);
        assert_int_equal(pattern(), 1 << (n - 1));
        assert_int_equal(pattern(), 0); // once
        sl_mem_fail_at(n, true);
        assert_int_equal(pattern(), 0xFF & ~((1 << (n - 1)) - 1));
        assert_int_equal(pattern(), 0xFF);
        sl_mem_fail_at(0, true);
        assert_int_equal(pattern(), 0);
    }
    char *p = sl_malloc(4, 1);
    assert_non_null(p);
    memcpy(p, "abc", 4);
    sl_mem_fail_at(1, false);
    assert_null(sl_realloc(p, 100, 1));
    assert_string_equal(p, "abc");
    sl_free(p);
}

enum { THREADS = 4, EACH = 2000 };

static void *allocate_many(void *failed) {
    for (int i = 0; i < EACH; i++) {
        void *p = sl_malloc(1, 16);
        if (!p) ++*(int *)failed;
        sl_free(p);
    }
    return NULL;
}

static void threads_count_together(void **state) {
    (void)state;
    int64_t calls = sl_mem_calls(), blocks = sl_mem_blocks(), bytes = sl_mem_bytes();
    pthread_t threads[THREADS];
    int failed[THREADS] = { 0 }, sum = 0;
    sl_mem_fail_at(THREADS * EACH / 2, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_many, &failed[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += failed[i];
    }
    assert_int_equal(sum, 1);
    assert_int_equal(sl_mem_calls() - calls, THREADS * EACH);
    assert_int_equal(sl_mem_blocks(), blocks);
    assert_int_equal(sl_mem_bytes(), bytes);
}

static void lack_of_memory_is_reported_in_readable_units(void **state) {
    (void)state;
    assert_int_equal(sl_fail_memory(3, 100, "a table"), SL_ENOMEM);
    assert_string_equal(sl_last_error(), "no memory for a table: 300 bytes");
    assert_int_equal(sl_fail_memory(1024, 3 * 1024 * 1024 / 2, "weights"), SL_ENOMEM);
    assert_string_equal(sl_last_error(), "no memory for weights: 1536.0 MiB");
    assert_int_equal(sl_fail_memory(SIZE_MAX, 3, "all"), SL_ENOMEM);
    assert_string_equal(sl_last_error(), "no memory for all: 18446744073709551615 times 3 bytes");
}

/* The kernel's number moves under us, so only its scale can be held: above what a test needs, below
 * any machine. */
static void available_memory_is_plausible(void **state) {
    sl_fixture *t = *state;
    int64_t bytes = sl_mem_available();
    SL_CHECK(t, bytes > 1 << 20 && bytes < INT64_C(1) << 50, "%lld bytes", (long long)bytes);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(blocks_are_counted),
        SL_TEST(arrays_grow_when_they_are_full),
        SL_TEST(bytes_are_counted),
        SL_TEST(wide_blocks_begin_at_a_line_and_take_no_more_than_a_page_besides),
        SL_TEST(calloc_clears_and_realloc_keeps),
        SL_TEST(zero_bytes_are_a_pointer_and_too_many_none),
        SL_TEST(the_chosen_allocation_fails),
        SL_TEST(threads_count_together),
        SL_TEST(lack_of_memory_is_reported_in_readable_units),
        SL_TEST(available_memory_is_plausible),
    };
    return sl_test_main("base.memory", tests, SL_LEN(tests));
}
