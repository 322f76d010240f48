/* The arena: allocations stay apart and in place, marks bring back what was, the limit holds. */
#include <string.h>

#include "fixture/fixture.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#endif

typedef struct piece {
    unsigned char *p, fill;
    size_t bytes, mark; // mark: just before it was allocated
} piece;

static bool whole(const piece *k) {
    for (size_t i = 0; i < k->bytes; i++) {
        if (k->p[i] != k->fill) return false;
    }
    return true;
}

/* Against a plain list of what is alive: random allocations, shrinks and rewinds, every piece
 * filled with its own byte. An overlap, a move or a wrong rewind changes another piece's bytes. */
static void pieces_keep_their_bytes(void **state) {
    sl_fixture *t = *state;
    enum { MAX = 400 };
    piece alive[MAX];
    for (int round = 0; round < sl_test_iters(t, 60); round++) {
        int n = 0;
        bool rewound = false; // then the newest piece may lie in an older chunk and keeps its size
        for (int step = 0; step < 300; step++) {
            uint32_t dice = sl_rng_below(&t->rng, 100);
            if (dice < 85 && n < MAX) {
                size_t bytes = sl_rng_below(&t->rng, dice < 3 ? 20000 : 200);
                piece *k = &alive[n++];
                rewound = false;
                k->mark = sl_arena_mark(&t->arena);
                k->p = sl_arena_alloc(&t->arena, bytes);
                k->bytes = bytes;
                k->fill = (unsigned char)(sl_rng_u32(&t->rng) | 1);
                assert_non_null(k->p);
                SL_CHECK(t, (uintptr_t)k->p % 16 == 0, "%p is not aligned", (void *)k->p);
                memset(k->p, k->fill, bytes);
            } else if (dice < 92 && n > 0 && !rewound) {
                piece *k = &alive[n - 1];
                size_t kept = sl_rng_below(&t->rng, (uint32_t)k->bytes + 1);
                if (kept == 0) continue; // gives the address back, too
                sl_arena_shrink(&t->arena, k->p, k->bytes, kept);
                k->bytes = kept;
            } else if (n > 0) {
                n = (int)sl_rng_below(&t->rng, (uint32_t)n);
                rewound = true;
                sl_arena_rewind(&t->arena, alive[n].mark);
                assert_int_equal(sl_arena_mark(&t->arena), alive[n].mark);
            }
        }
        for (int i = 0; i < n; i++) SL_CHECK(t, whole(&alive[i]), "piece %d of %d", i, n);
        sl_arena_rewind(&t->arena, 0);
        assert_int_equal(sl_arena_mark(&t->arena), 0);
    }
}

static void marks_count_what_was_handed_out(void **state) {
    sl_fixture *t = *state;
    size_t sum = 0;
    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        assert_int_equal(sl_arena_mark(&t->arena), sum);
        void *p = sl_arena_alloc(&t->arena, bytes);
        assert_non_null(p);
        sum += bytes ? (bytes + 15) / 16 * 16 : 16;
    }
    assert_int_equal(sl_arena_mark(&t->arena), sum);
}

/* A loop that works and rewinds must reach its memory once and then allocate nothing, wherever its
 * mark lies; and chunks double, so growing costs few of them. */
static void work_and_rewind_stops_allocating(void **state) {
    sl_fixture *t = *state;
    for (int keep = 0; keep < 2000; keep += 333) {
        sl_arena_clear(&t->arena);
        for (int i = 0; i < keep; i++) assert_non_null(sl_arena_alloc(&t->arena, 48));
        size_t mark = sl_arena_mark(&t->arena);
        int64_t settled = 0;
        for (int round = 0; round < 50; round++) {
            for (int i = 0; i < 500; i++) assert_non_null(sl_arena_alloc(&t->arena, 100));
            sl_arena_rewind(&t->arena, mark);
            if (round == 10) settled = sl_mem_calls();
        }
        SL_CHECK(t, sl_mem_calls() == settled, "%lld allocations after 10 rounds, %d kept",
                 (long long)(sl_mem_calls() - settled), keep);
    }
    sl_arena_clear(&t->arena);
    int64_t calls = sl_mem_calls();
    for (int i = 0; i < 1 << 16; i++) assert_non_null(sl_arena_alloc(&t->arena, 64)); // 4 MiB
    SL_CHECK(t, sl_mem_calls() - calls <= 12, "%lld chunks", (long long)(sl_mem_calls() - calls));
}

/* Larger than any chunk would be by itself, as the first allocation and behind others. */
static void one_allocation_may_exceed_a_chunk(void **state) {
    sl_fixture *t = *state;
    for (size_t before = 0; before < 3; before++) {
        for (size_t bytes = 4000; bytes < 200000; bytes += bytes / 3) {
            sl_arena_clear(&t->arena);
            for (size_t i = 0; i < before; i++) assert_non_null(sl_arena_alloc(&t->arena, 1000));
            char *p = sl_arena_alloc(&t->arena, bytes);
            assert_non_null(p);
            memset(p, 1, bytes);
            SL_CHECK(t, p + bytes <= t->arena.end, "%zu bytes end outside their chunk", bytes);
        }
    }
}

static void rewinding_to_nothing_keeps_one_chunk(void **state) {
    sl_fixture *t = *state;
    int64_t blocks = sl_mem_blocks();
    for (int i = 0; i < 1000; i++) assert_non_null(sl_arena_alloc(&t->arena, 100));
    assert_true(sl_mem_blocks() - blocks > 2);
    sl_arena_rewind(&t->arena, 0);
    assert_int_equal(sl_mem_blocks() - blocks, 1);
    sl_arena_clear(&t->arena);
    assert_int_equal(sl_mem_blocks(), blocks);
    sl_arena_clear(&t->arena); // a second clear does nothing
    sl_arena_rewind(&t->arena, 0);
    assert_non_null(sl_arena_alloc(&t->arena, 1)); // and it can be used again
}

static void shrinking_gives_the_tail_back(void **state) {
    sl_fixture *t = *state;
    char *p = sl_arena_alloc(&t->arena, 1000);
    assert_non_null(p);
    sl_arena_shrink(&t->arena, p, 1000, 20);
    assert_int_equal(sl_arena_mark(&t->arena), 32);
    assert_ptr_equal(sl_arena_alloc(&t->arena, 8), p + 32);
    char *q = sl_arena_alloc(&t->arena, 64);
    assert_non_null(q);
    sl_arena_shrink(&t->arena, q, 64, 0);
    assert_ptr_equal(sl_arena_alloc(&t->arena, 8), q);
}

static void the_limit_holds_exactly(void **state) {
    sl_fixture *t = *state;
    for (size_t limit = 16; limit < 40000; limit = limit * 3 / 16 * 16 + 16) {
        sl_arena_clear(&t->arena);
        t->arena.limit = limit;
        size_t got = 0;
        while (sl_arena_alloc(&t->arena, 16)) got += 16;
        SL_CHECK(t, got == limit, "%zu of %zu bytes", got, limit);
        assert_int_equal(sl_arena_mark(&t->arena), limit);
        sl_arena_rewind(&t->arena, limit - 16);
        assert_non_null(sl_arena_alloc(&t->arena, 16));
        assert_null(sl_arena_alloc(&t->arena, 0)); // even nothing needs an address
    }
    t->arena.limit = 100;
    sl_arena_clear(&t->arena);
    assert_int_equal(t->arena.limit, 100); // the owner's setting survives
    assert_null(sl_arena_alloc(&t->arena, 101));
    assert_non_null(sl_arena_alloc(&t->arena, 96));
}

static void failing_leaves_the_arena_as_it_was(void **state) {
    sl_fixture *t = *state;
    char *p = sl_arena_alloc(&t->arena, 5);
    assert_non_null(p);
    memcpy(p, "here", 5);
    sl_arena before = t->arena;
    assert_null(sl_arena_alloc(&t->arena, SIZE_MAX));
    assert_null(sl_arena_alloc(&t->arena, SIZE_MAX - 8));
    assert_null(sl_arena_alloc(&t->arena, PTRDIFF_MAX));
    sl_mem_fail_at(1, false);
    assert_null(sl_arena_alloc(&t->arena, 1 << 20));
    assert_memory_equal(&before, &t->arena, sizeof before);
    assert_string_equal(p, "here");
}

/* Only with AddressSanitizer: what is not handed out cannot be touched. */
static void what_is_not_handed_out_is_poisoned(void **state) {
    sl_fixture *t = *state;
    char *p = sl_arena_alloc(&t->arena, 21);
    assert_non_null(p);
    char *q = sl_arena_alloc(&t->arena, 64);
    assert_non_null(q);
#ifdef WITH_ASAN
    assert_false(__asan_address_is_poisoned(p + 20));
    assert_true(__asan_address_is_poisoned(p + 21)); // the padding
    assert_true(__asan_address_is_poisoned(q + 64)); // the free part
    sl_arena_shrink(&t->arena, q, 64, 40);
    assert_false(__asan_address_is_poisoned(q + 39));
    assert_true(__asan_address_is_poisoned(q + 40));
    size_t mark = sl_arena_mark(&t->arena);
    char *r = sl_arena_alloc(&t->arena, 16), *s = sl_arena_alloc(&t->arena, 100000);
    assert_true(r && s);
    sl_arena_rewind(&t->arena, mark); // r is in the older chunk, s in the newer
    assert_false(__asan_address_is_poisoned(q));
    assert_true(__asan_address_is_poisoned(r));
    assert_true(__asan_address_is_poisoned(s));
#else
    memset(p, 1, 21); // without it, the two are merely apart
    memset(q, 2, 64);
    for (int i = 0; i < 21; i++) assert_int_equal(p[i], 1);
#endif
}

/* The bytes that were given, NUL among them, and an end; nothing where there is no room. */
static void a_text_is_copied_and_terminated(void **state) {
    sl_fixture *t = *state;
    static const char from[] = "ab\0cd";
    sl_arena a = { 0 };
    const char *whole_text = sl_arena_text(&a, from, 5), *empty = sl_arena_text(&a, from, 0);
    SL_CHECK(t, whole_text && memcmp(whole_text, from, 6) == 0 && whole_text != from, "not copied");
    SL_CHECK(t, empty && *empty == '\0', "not terminated");
    sl_arena_clear(&a);
    a.limit = 4;
    SL_CHECK(t, !sl_arena_text(&a, from, 5), "past the limit");
    sl_arena_clear(&a);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_text_is_copied_and_terminated),    SL_TEST(pieces_keep_their_bytes),
        SL_TEST(marks_count_what_was_handed_out),    SL_TEST(work_and_rewind_stops_allocating),
        SL_TEST(one_allocation_may_exceed_a_chunk),  SL_TEST(rewinding_to_nothing_keeps_one_chunk),
        SL_TEST(shrinking_gives_the_tail_back),      SL_TEST(the_limit_holds_exactly),
        SL_TEST(failing_leaves_the_arena_as_it_was), SL_TEST(what_is_not_handed_out_is_poisoned),
    };
    return sl_test_main("base.arena", tests, SL_LEN(tests));
}
