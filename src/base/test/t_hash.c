/* Hashes are part of what runs and caches store, so their values are fixed here: those of XXH3 as
 * xxHash 0.8.1 computes them in one call, without our code. */
#include <string.h>

#include "fixture/fixture.h"

static void values_are_those_of_xxh3(void **state) {
    sl_fixture *t = *state;
    assert_true(sl_hash("", 0, 0) == UINT64_C(0x2D06800538D394C2));
    assert_true(sl_hash("abc", 3, 0) == UINT64_C(0x78AF5F94892F3950));
    assert_true(sl_hash("abc", 3, 1) != sl_hash("abc", 3, 0));

    sl_hasher *h = NULL;
    char text[33];
    SL_MUST(t, sl_hasher_new(&h));
    sl_hasher_text(h, text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
    sl_hasher_add(h, "abc", 3);
    sl_hasher_text(h, text);
    assert_string_equal(text, "06b05ab6733a618578af5f94892f3950");
    sl_hasher_free(h);
    sl_hasher_free(NULL);
}

/* However the bytes are cut into pieces, and looking at the hash on the way changes nothing. */
static void pieces_do_not_matter(void **state) {
    sl_fixture *t = *state;
    static unsigned char bytes[3000];
    for (int i = 0; i < sl_test_iters(t, 50); i++) {
        for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)sl_rng_u32(&t->rng);
        size_t n = sl_rng_below(&t->rng, sizeof bytes);
        char whole[33], pieces[33];
        sl_hasher *h = NULL;
        SL_MUST(t, sl_hasher_new(&h));
        sl_hasher_add(h, bytes, n);
        sl_hasher_text(h, whole);
        sl_hasher_free(h);

        SL_MUST(t, sl_hasher_new(&h));
        for (size_t at = 0; at < n;) {
            size_t piece = sl_rng_below(&t->rng, 500);
            piece = SL_MIN(piece, n - at);
            sl_hasher_add(h, bytes + at, piece);
            if (sl_rng_below(&t->rng, 4) == 0) sl_hasher_text(h, pieces);
            at += piece;
        }
        sl_hasher_text(h, pieces);
        sl_hasher_free(h);
        SL_CHECK(t, strcmp(whole, pieces) == 0, "%zu bytes: %s, in pieces %s", n, whole, pieces);
    }
}

static void memory_comes_from_sl_malloc(void **state) {
    sl_fixture *t = *state;
    sl_hasher *h = NULL;
    SL_EACH_ALLOCATION(t, sl_hasher_new(&h));
    sl_hasher_free(h);
    void *between[16];
    sl_hasher *hashers[16];
    for (int i = 0; i < 16; i++) { // aligned wherever the heap stands: XXH3 uses aligned stores
        between[i] = sl_malloc((size_t)(16 * i + 8), 1);
        assert_non_null(between[i]);
        SL_MUST(t, sl_hasher_new(&hashers[i]));
        assert_int_equal((uintptr_t)hashers[i] % 64, 0);
    }
    for (int i = 0; i < 16; i++) {
        sl_free(between[i]);
        sl_hasher_free(hashers[i]);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(values_are_those_of_xxh3),
        SL_TEST(pieces_do_not_matter),
        SL_TEST(memory_comes_from_sl_malloc),
    };
    return sl_test_main("base.hash", tests, SL_LEN(tests));
}
