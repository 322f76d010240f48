/* Growing text, edit distance, grouped digits. */
#include <string.h>

#include "fixture/fixture.h"

static void text_grows_as_appended(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    assert_string_equal(sl_str_text(&s), "");
    sl_str_add(&s, "");
    assert_string_equal(s.text, ""); // terminated once anything was appended, be it nothing
    sl_str_add(&s, "x1");
    sl_str_add_char(&s, '+');
    sl_str_addf(&s, "%d*%s", 42, "x2");
    sl_str_add_bytes(&s, "abcdef", 3);
    assert_string_equal(s.text, "x1+42*x2abc");
    assert_int_equal(s.len, 11);
    sl_str_truncate(&s, 2);
    assert_string_equal(s.text, "x1");
    sl_str_truncate(&s, 100); // longer than it is: nothing to cut
    assert_string_equal(s.text, "x1");
    SL_MUST(t, sl_str_status(&s));
    sl_str_clear(&s);
    sl_str_clear(&s);
    assert_string_equal(sl_str_text(&s), "");
}

/* Every length around the points where the buffer doubles. */
static void every_length_is_terminated(void **state) {
    (void)state;
    static char model[600];
    for (size_t step = 1; step < 70; step++) {
        sl_str s = { 0 };
        for (size_t n = 0; n + step < sizeof model; n += step) {
            for (size_t i = 0; i < step; i++) model[n + i] = (char)('a' + (n + i) % 26);
            if (n / step % 2)
                sl_str_add_bytes(&s, model + n, step);
            else
                sl_str_addf(&s, "%.*s", (int)step, model + n);
            assert_int_equal(s.len, n + step);
            assert_true(s.cap > s.len);
            assert_memory_equal(s.text, model, s.len);
            assert_int_equal(s.text[s.len], 0);
        }
        sl_str_clear(&s);
    }
}

static void bytes_may_be_zero(void **state) {
    (void)state;
    sl_str s = { 0 };
    sl_str_add_bytes(&s, "a\0b", 3);
    sl_str_add_bytes(&s, NULL, 0);
    sl_str_add_char(&s, '\0');
    assert_int_equal(s.len, 4);
    assert_memory_equal(s.text, "a\0b\0", 5);
    sl_str_clear(&s);
}

static sl_status build(sl_str *out) {
    sl_str s = { 0 };
    for (int i = 0; i < 40; i++) {
        sl_str_addf(&s, "%d,", i);
        sl_str_add(&s, "some words to make it grow");
    }
    sl_str_truncate(&s, 30);
    sl_str_add_char(&s, '!');
    sl_status st = sl_str_status(&s);
    if (st == SL_OK)
        *out = s;
    else
        sl_str_clear(&s);
    return st;
}

/* A failure in the middle must stick, though later appends would find memory. */
static void failures_stick(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    SL_EACH_ALLOCATION(t, build(&s));
    assert_int_equal(s.len, 31);
    sl_str_clear(&s);

    sl_mem_fail_at(1, false);
    sl_str_add(&s, "lost");
    sl_str_add(&s, "also lost");
    assert_string_equal(sl_str_text(&s), "");
    assert_int_equal(sl_str_status(&s), SL_ENOMEM);
    sl_str_clear(&s); // which makes it good again
    SL_MUST(t, sl_str_status(&s));
}

static void neighbours_in_edit_distance(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        int want;
    } cases[] = {
        { "", "", 0 },
        { "", "abc", 3 },
        { "depth", "depth", 0 },
        { "depht", "depth", 1 },
        { "dept", "depth", 1 },
        { "deptth", "depth", 1 },
        { "dapth", "depth", 1 },
        { "ca", "abc", 3 }, // restricted: no edit between swapped letters
        { "kitten", "sitting", 3 },
        { "--threads", "--thread", 1 },
        { "ab", "ba", 1 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        assert_int_equal(sl_edit_distance(cases[i].a, cases[i].b), cases[i].want);
        assert_int_equal(sl_edit_distance(cases[i].b, cases[i].a), cases[i].want);
    }
    char a[65];
    memset(a, 'a', 64);
    a[64] = '\0';
    assert_true(sl_edit_distance(a, a) >= 64); // beyond 63 bytes: far from everything
    assert_true(sl_edit_distance("a", a) >= 64);
    a[63] = '\0';
    assert_int_equal(sl_edit_distance(a, a), 0);
    assert_int_equal(sl_edit_distance(a, ""), 63);
}

/* A word changed by k random edits is at most k away, and the distance is a symmetric one. */
static void edits_bound_the_distance(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        char a[64], b[64];
        size_t n = 1 + sl_rng_below(&t->rng, 20);
        for (size_t k = 0; k < n; k++) a[k] = (char)('a' + sl_rng_below(&t->rng, 3));
        a[n] = '\0';
        memcpy(b, a, n + 1);
        int edits = (int)sl_rng_below(&t->rng, 4);
        for (int e = 0; e < edits && n > 1; e++) {
            size_t at = sl_rng_below(&t->rng, (uint32_t)n);
            switch (sl_rng_below(&t->rng, 3)) {
            case 0: b[at] = 'z'; break;
            case 1: // delete
                memmove(b + at, b + at + 1, n - at);
                n--;
                break;
            case 2: // insert
                memmove(b + at + 1, b + at, n - at + 1);
                b[at] = 'y';
                n++;
                break;
            }
        }
        int d = sl_edit_distance(a, b);
        SL_CHECK(t, d <= edits, "%s %s: %d edits, distance %d", a, b, edits, d);
        SL_CHECK(t, d == sl_edit_distance(b, a), "%s %s: not symmetric", a, b);
        SL_CHECK(t, (d == 0) == (strcmp(a, b) == 0), "%s %s: %d", a, b, d);
    }
}

static void digits_are_grouped(void **state) {
    (void)state;
    static const struct {
        int64_t n;
        const char *want;
    } cases[] = {
        { 0, "0" },
        { 7, "7" },
        { 999, "999" },
        { 1000, "1,000" },
        { -1000, "-1,000" },
        { -999, "-999" },
        { 12345678, "12,345,678" },
        { 100000, "100,000" },
        { INT64_MAX, "9,223,372,036,854,775,807" },
        { INT64_MIN, "-9,223,372,036,854,775,808" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char buffer[32];
        const char *text = sl_group_digits(buffer, cases[i].n);
        assert_ptr_equal(text, buffer);
        assert_string_equal(text, cases[i].want);
    }
}

static void numbers_are_written_in_decimal(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        sl_str s = { 0 };
        char want[32];
        uint64_t n = i < 3 ? (uint64_t)i - 1 : sl_rng_u64(&t->rng) >> sl_rng_below(&t->rng, 64);
        snprintf(want, sizeof want, "a%llu", (unsigned long long)n);
        sl_str_add_char(&s, 'a');
        sl_str_add_uint(&s, n);
        bool same = strcmp(sl_str_text(&s), want) == 0;
        sl_str_clear(&s);
        SL_CHECK(t, same, "%s", want);
    }
}

static void utf8_is_read_strictly(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        size_t n;
        int32_t c;
        int used;
    } cases[] = {
        { "a", 1, 'a', 1 },
        { "\0", 1, 0, 1 },
        { "\xc3\xa9", 2, 0xe9, 2 },
        { "\xe2\x82\xac", 3, 0x20ac, 3 },
        { "\xf4\x8f\xbf\xbf", 4, 0x10ffff, 4 },
        { "\xe2\x82\xac", 2, -1, 1 },     // cut, though the rest lies behind it
        { "\xc0\x80", 2, -1, 1 },         // overlong
        { "\xe0\x9f\xbf", 3, -1, 1 },     // overlong
        { "\xed\xa0\x80", 3, -1, 1 },     // a surrogate
        { "\xf4\x90\x80\x80", 4, -1, 1 }, // past U+10FFFF
        { "\x80", 1, -1, 1 },
        { "\xff", 1, -1, 1 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        int used = 0;
        int32_t c = sl_utf8_read(cases[i].text, cases[i].n, &used);
        SL_CHECK(t, c == cases[i].c && used == cases[i].used, "case %d: %d, %d bytes", i, (int)c,
                 used);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(utf8_is_read_strictly),       SL_TEST(numbers_are_written_in_decimal),
        SL_TEST(text_grows_as_appended),      SL_TEST(every_length_is_terminated),
        SL_TEST(bytes_may_be_zero),           SL_TEST(failures_stick),
        SL_TEST(neighbours_in_edit_distance), SL_TEST(edits_bound_the_distance),
        SL_TEST(digits_are_grouped),
    };
    return sl_test_main("base.string", tests, SL_LEN(tests));
}
