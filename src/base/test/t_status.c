/* Every status has a text; the line of explanation is one line, whole, and the thread's own. */
#include <pthread.h>
#include <string.h>

#include "fixture/fixture.h"

static void numbers_are_fixed_and_texts_distinct(void **state) {
    sl_fixture *t = *state;
    static const sl_status all[] = { SL_OK,        SL_EINVAL, SL_EFORMAT, SL_ELIMIT,
                                     SL_EOVERFLOW, SL_ENOMEM, SL_EIO,     SL_ECANCEL };
    for (int i = 0; i < SL_LEN(all); i++) {
        SL_CHECK(t, (int)all[i] == -i, "status %d is the %d-th of the interface", all[i], i);
        for (int k = 0; k < i; k++)
            SL_CHECK(t, strcmp(sl_status_text(all[i]), sl_status_text(all[k])) != 0, "%d and %d", i,
                     k);
    }
    assert_string_equal(sl_status_text(SL_ENOMEM), "out of memory");
    assert_string_equal(sl_status_text((sl_status)-1000), "unknown status");
}

static void fail_stores_one_line(void **state) {
    (void)state;
    assert_int_equal(sl_fail(SL_EFORMAT, "%s: %d rows", "a.csv", 7), SL_EFORMAT);
    assert_string_equal(sl_last_error(), "a.csv: 7 rows");
    // quoting the line before it
    assert_int_equal(sl_fail(SL_EIO, "step 3: %s", sl_last_error()), SL_EIO);
    assert_string_equal(sl_last_error(), "step 3: a.csv: 7 rows");
    sl_fail_restore("a\nb\tc\x1b[31m\x7f");
    assert_string_equal(sl_last_error(), "a b c [31m ");
    sl_fail_restore(sl_last_error());
    assert_string_equal(sl_last_error(), "a b c [31m ");
    sl_fail_restore("a\xc2\x9b"
                    "b\xc2\xa0\xc3\xa9\xc2"); // U+009B is a control; the others are not
    assert_string_equal(sl_last_error(), "a  b\xc2\xa0\xc3\xa9\xc2");
    sl_fail_restore("");
    assert_string_equal(sl_last_error(), "");
}

static void a_long_line_is_cut_between_characters(void **state) {
    sl_fixture *t = *state;
    char text[3000];
    // the cut falls on each byte of a three-byte character
    for (int shift = 0; shift < 3; shift++) {
        memset(text, 'x', (size_t)shift);
        size_t n = (size_t)shift;
        while (n < 2900) {
            memcpy(text + n, "\xE2\x82\xAC", 3);
            n += 3;
        }
        text[n] = '\0';
        assert_int_equal(sl_fail(SL_EINVAL, "%s", text), SL_EINVAL);
        const char *line = sl_last_error();
        size_t len = strlen(line);
        SL_CHECK(t, len > 1000 && len < 1024, "length %zu", len);
        assert_string_equal(line + len - 3, "...");
        SL_CHECK(t, (len - 3 - (size_t)shift) % 3 == 0, "cut inside a character at %zu", len - 3);
        assert_memory_equal(line, text, len - 3);
    }
    // exactly what fits is not cut
    memset(text, 'y', 1023);
    text[1023] = '\0';
    sl_fail_restore(text);
    assert_string_equal(sl_last_error(), text);
}

static void *fail_elsewhere(void *arg) {
    *(bool *)arg = sl_last_error()[0] == '\0' && sl_fail(SL_EIO, "theirs") == SL_EIO;
    return NULL;
}

static void lines_are_the_threads_own(void **state) {
    (void)state;
    bool clean = false;
    pthread_t thread;
    sl_fail_restore("mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &clean), 0);
    pthread_join(thread, NULL);
    assert_true(clean);
    assert_string_equal(sl_last_error(), "mine");
}

static sl_status tried(sl_status inner, int *after) {
    SL_TRY(inner);
    (*after)++;
    return SL_OK;
}

static sl_status gone(sl_status inner, int *after, int *released) {
    sl_status st;
    SL_GO(inner);
    (*after)++;
done:
    (*released)++;
    return st;
}

static void try_and_go_pass_a_failure_up(void **state) {
    (void)state;
    int after = 0, released = 0;
    assert_int_equal(tried(SL_EIO, &after), SL_EIO);
    assert_int_equal(gone(SL_ELIMIT, &after, &released), SL_ELIMIT);
    assert_int_equal(after, 0);
    assert_int_equal(tried(SL_OK, &after), SL_OK);
    assert_int_equal(gone(SL_OK, &after, &released), SL_OK);
    assert_int_equal(after, 2);
    assert_int_equal(released, 2);
}

static void truth_has_three_values(void **state) {
    (void)state;
    assert_true(sl_yes(SL_YES) && !sl_no(SL_YES));
    assert_true(sl_no(SL_NO) && !sl_yes(SL_NO));
    assert_true(!sl_yes(SL_UNKNOWN) && !sl_no(SL_UNKNOWN));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(numbers_are_fixed_and_texts_distinct),  SL_TEST(fail_stores_one_line),
        SL_TEST(a_long_line_is_cut_between_characters), SL_TEST(lines_are_the_threads_own),
        SL_TEST(try_and_go_pass_a_failure_up),          SL_TEST(truth_has_three_values),
    };
    return sl_test_main("base.status", tests, SL_LEN(tests));
}
