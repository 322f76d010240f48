/* Excerpts with a caret, and words for a shell. */
#include <string.h>

#include "fixture/fixture.h"

static void check(sl_fixture *t, const char *text, size_t offset, const char *expected) {
    sl_str s = { 0 };
    sl_str_add_excerpt(&s, text, offset);
    SL_MUST(t, sl_str_status(&s));
    SL_CHECK(t, strcmp(sl_str_text(&s), expected) == 0, "\"%s\" at %zu is\n%s\nnot\n%s", text,
             offset, sl_str_text(&s), expected);
    sl_str_clear(&s);
}

static void the_caret_stands_under_the_place(void **state) {
    sl_fixture *t = *state;
    check(t, "x1 + )", 5, "    x1 + )\n         ^");
    check(t, "x1", 2, "    x1\n      ^"); // the end: behind the last character
    check(t, "", 0, "    \n    ^");
    check(t, "x1", 99, "    x1\n      ^"); // past the end
    check(t, "a\nbc?d\ne", 4, "    bc?d\n      ^");
    check(t, "\xc3\xa4\xc3\xb6?", 4, "    \xc3\xa4\xc3\xb6?\n      ^"); // characters, not bytes
}

static void a_terminal_is_not_commanded_by_the_text(void **state) {
    sl_fixture *t = *state;
    check(t, "a\033[2Jb", 5, "    a [2Jb\n         ^");
    check(t, "a\tb", 2, "    a b\n      ^");
    check(t,
          "a\xc2\x9b"
          "b",
          3, "    a b\n      ^"); // CSI as one character
}

static void a_long_text_is_cut_around_the_place(void **state) {
    sl_fixture *t = *state;
    char text[201];
    memset(text, 'a', 200);
    text[200] = '\0';
    text[100] = '?';
    sl_str s = { 0 };
    sl_str_add_excerpt(&s, text, 100);
    const char *caret = strchr(sl_str_text(&s), '^');
    const char *second = strchr(sl_str_text(&s), '\n');
    assert_non_null(caret);
    assert_non_null(second);
    SL_CHECK(t, sl_str_text(&s)[caret - second - 1] == '?', "caret beside: %s", sl_str_text(&s));
    SL_CHECK(t, second - sl_str_text(&s) < 80, "too wide: %s", sl_str_text(&s));
    SL_CHECK(t, strncmp(sl_str_text(&s), "    ...a", 8) == 0, "no mark: %s", sl_str_text(&s));
    SL_CHECK(t, strncmp(second - 3, "...", 3) == 0, "no mark: %s", sl_str_text(&s));
    sl_str_clear(&s);
}

static void a_word_is_one_to_a_shell(void **state) {
    sl_fixture *t = *state;
    static const char *const rows[][2] = {
        { "runs/a-1_b.c", "runs/a-1_b.c" }, { "a b", "'a b'" },       { "", "''" },
        { "it's", "'it'\\''s'" },           { "$HOME", "'$HOME'" },   { "*", "'*'" },
        { "\xc3\xa4", "\xc3\xa4" },         { "a\nb;c", "'a\nb;c'" },
    };
    for (int i = 0; i < SL_LEN(rows); i++) {
        sl_str s = { 0 };
        sl_str_add_word(&s, rows[i][0]);
        SL_MUST(t, sl_str_status(&s));
        SL_CHECK(t, strcmp(sl_str_text(&s), rows[i][1]) == 0, "%s is %s", rows[i][0],
                 sl_str_text(&s));
        sl_str_clear(&s);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_caret_stands_under_the_place),
        SL_TEST(a_terminal_is_not_commanded_by_the_text),
        SL_TEST(a_long_text_is_cut_around_the_place),
        SL_TEST(a_word_is_one_to_a_shell),
    };
    return sl_test_main("base.text", tests, SL_LEN(tests));
}
