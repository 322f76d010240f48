/* Numbers, letters and messages in other locales: the same as in the C locale, and the host's
 * locale is what it was. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <libintl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "fixture/fixture.h"

/* A decimal comma; an I without a dot; a decimal point of two bytes. */
static const char *const locales[] = { "de_DE.UTF-8", "tr_TR.UTF-8", "ps_AF.UTF-8" };

/* The next of them that this machine has, at or after *i; false behind the last. */
static bool next_locale(int *i) {
    for (; *i < SL_LEN(locales); ++*i)
        if (setlocale(LC_ALL, locales[*i])) return true;
    setlocale(LC_ALL, "C");
    return false;
}

/* What the C library says in the C locale. */
static void numbers_are_written_as_in_c(void **state) {
    sl_fixture *t = *state;
    static const char *const formats[] = { "%g", "%.3f", "%12.5e", "%.17g", "%a", "%.0f" };
    for (int k = 0; k < sl_test_iters(t, 300); k++) {
        const uint64_t bits = sl_rng_u64(&t->rng);
        double v = sl_rng_normal(&t->rng);
        if (k % 2) memcpy(&v, &bits, sizeof v);
        const char *format = formats[k % SL_LEN(formats)];
        char expected[400], got[400];
        const int length = snprintf(expected, sizeof expected, format, v);
        for (int i = 0; next_locale(&i); i++) {
            // -Wformat-nonliteral is off: both see the same format
            const int n = sl_snprintf(got, sizeof got, format, v);
            SL_CHECK(t, n == length && strcmp(got, expected) == 0, "%s: %s in %s, not %s", format,
                     got, locales[i], expected);
        }
    }
    char cut[4];
    assert_int_equal(sl_snprintf(cut, sizeof cut, "%.2f", 1.25), 4);
    assert_string_equal(cut, "1.2");
    assert_int_equal(sl_snprintf(NULL, 0, "%s %d", "five", 5), 6);
}

static void numbers_are_read_as_in_c(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "0.5", "-1.25e-3x", " 3.", ".5",   "1e400", "0x1.8p3",
                                         "1,5", "inf",       "x",   "",     "-",     "1.5.5",
                                         "nan", "4e-3",      "0,1", "+7.0", "1e",    "1.5e+" };
    for (int k = 0; k < SL_LEN(texts); k++) {
        char *expected_end, *end;
        const double expected = strtod(texts[k], &expected_end);
        for (int i = 0; next_locale(&i); i++) {
            const double v = sl_strtod(texts[k], &end);
            SL_CHECK(t, memcmp(&v, &expected, sizeof v) == 0 && end == expected_end,
                     "\"%s\" is %s%g in %s", texts[k], end == expected_end ? "" : "cut, ", v,
                     locales[i]);
            assert_true(memcmp(&v, &(double){ sl_strtod(texts[k], NULL) }, sizeof v) == 0);
        }
    }
}

static void whole_numbers_are_read_as_by_strtoll(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "0",
                                         "-0",
                                         "12x",
                                         " \t\n\v\f\r+5",
                                         "-",
                                         "+-3",
                                         "",
                                         "abc",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "-9223372036854775809",
                                         "18446744073709551616",
                                         "99999999999999999999999999 1",
                                         "-99999999999999999999999999",
                                         "007",
                                         "1.5",
                                         "1'000",
                                         ("\xC2\xA0"
                                          "1") };
    for (int k = 0; k < SL_LEN(texts); k++) {
        char *expected_end, *end;
        const long long expected = strtoll(texts[k], &expected_end, 10);
        const int64_t v = sl_strtoll(texts[k], &end);
        SL_CHECK(t, v == expected && end == expected_end, "\"%s\" is %lld, %ld bytes", texts[k],
                 (long long)v, (long)(end - texts[k]));
    }
    for (int k = 0; k < sl_test_iters(t, 1000); k++) {
        char text[32];
        const int64_t v = (int64_t)(sl_rng_u64(&t->rng) >> sl_rng_below(&t->rng, 64));
        snprintf(text, sizeof text, "%" PRId64, k % 2 ? v : -v);
        assert_true(sl_strtoll(text, NULL) == strtoll(text, NULL, 10));
    }
}

static int sign(int x) { return (x > 0) - (x < 0); }

static void letters_are_those_of_ascii(void **state) {
    sl_fixture *t = *state;
    for (int c = 0; c < 256; c++) {
        const char b = (char)c;
        const bool alpha = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        SL_CHECK(t, sl_isalpha(b) == alpha, "byte %d", c);
        SL_CHECK(t, sl_isdigit(b) == (c >= '0' && c <= '9'), "byte %d", c);
        SL_CHECK(t, sl_isspace(b) == (c && strchr(" \t\n\v\f\r", c) != NULL), "byte %d", c);
        SL_CHECK(t, sl_tolower(b) == (char)(c >= 'A' && c <= 'Z' ? c + 32 : c), "byte %d", c);
    }
    static const char *const words[] = {
        "",  "inf",   "INF",   "Inf", "infinity", "I", "i",
        "j", "TITLE", "title", "[",   "{",        "Z", "\xC4\xB1"
    };
    for (int a = 0; a < SL_LEN(words); a++)
        for (int b = 0; b < SL_LEN(words); b++) {
            const int whole = sign(strcasecmp(words[a], words[b]));
            for (size_t n = 0; n < 5; n++) {
                const int part = sign(strncasecmp(words[a], words[b], n));
                for (int i = 0; next_locale(&i); i++)
                    SL_CHECK(t, sign(sl_strncasecmp(words[a], words[b], n)) == part,
                             "%s and %s, %zu bytes, in %s", words[a], words[b], n, locales[i]);
            }
            for (int i = 0; next_locale(&i); i++)
                SL_CHECK(t, sign(sl_strcasecmp(words[a], words[b])) == whole, "%s and %s in %s",
                         words[a], words[b], locales[i]);
        }
}

/* The C library's own catalogue may not be installed; so here is one, as msgfmt would write it. */
static void write_catalogue(const char *path, const char *text, const char *translated) {
    const uint32_t from = (uint32_t)strlen(text), to = (uint32_t)strlen(translated);
    const uint32_t head[] = { 0x950412de, 0, 1, 28, 36, 0, 44, from, 44, to, 44 + from + 1 };
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(head, sizeof head, 1, f), 1);
    assert_int_equal(fwrite(text, from + 1, 1, f), 1);
    assert_int_equal(fwrite(translated, to + 1, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

static void messages_are_not_translated(void **state) {
    sl_fixture *t = *state;
    char text[256], folder[600], path[700];
    snprintf(text, sizeof text, "%s", strerror(ENOENT));
    snprintf(folder, sizeof folder, "%s", sl_test_path("catalogue"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/de", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/de/LC_MESSAGES", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/de/LC_MESSAGES/libc.mo", folder);
    write_catalogue(path, text, "Die Datei ist nicht da");
    assert_non_null(bindtextdomain("libc", folder));
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) sl_test_skip("no locale de_DE.UTF-8");
    SL_CHECK(t, strcmp(strerror(ENOENT), "Die Datei ist nicht da") == 0,
             "the catalogue is not used: %s", strerror(ENOENT));
    SL_CHECK(t, strcmp(sl_strerror(ENOENT), text) == 0, "%s", sl_strerror(ENOENT));

    assert_null(dlopen("/no/such/library.so", RTLD_NOW));
    const char *said = sl_dlerror();
    SL_CHECK(t, strstr(said, text), "%s", said);
    assert_string_equal(sl_dlerror(), "unknown error"); // it was asked for already
    setlocale(LC_ALL, "C");
}

/* glibc and musl promise this nowhere, and locale.c relies on it: no memory is taken. */
static void the_c_locale_is_a_constant(void **state) {
    (void)state;
    locale_t first = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t second = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    assert_non_null(first);
    assert_ptr_equal(first, second);
}

/* Threads with locales of their own keep them, and see nothing of each other's. */
static void *host_thread(void *name) {
    locale_t own = newlocale(LC_ALL_MASK, name, (locale_t)0);
    if (!own) return "no such locale";
    uselocale(own);
    const char *wrong = NULL;
    for (int i = 0; i < 2000 && !wrong; i++) {
        char text[32];
        sl_str s = { 0 };
        sl_snprintf(text, sizeof text, "%.2f", 0.25);
        sl_str_addf(&s, "%g", 1.5);
        if (strcmp(text, "0.25") != 0 || strcmp(sl_str_text(&s), "1.5") != 0) wrong = "formatted";
        if (sl_strtod("2.5", NULL) != 2.5) wrong = "read";
        if (sl_fail(SL_EINVAL, "%g", 3.5) != SL_EINVAL || strcmp(sl_last_error(), "3.5") != 0)
            wrong = "failed";
        if (uselocale((locale_t)0) != own) wrong = "the thread's locale has changed";
        sl_str_clear(&s);
    }
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(own);
    return (void *)(uintptr_t)wrong;
}

static void threads_keep_their_locales(void **state) {
    sl_fixture *t = *state;
    int missing = 0;
    for (int i = 0; i < SL_LEN(locales); i++) {
        locale_t l = newlocale(LC_ALL_MASK, locales[i], (locale_t)0);
        missing += l == (locale_t)0;
        if (l) freelocale(l);
    }
    if (missing) sl_test_skip("%d locales are missing", missing);
    pthread_t threads[SL_LEN(locales)];
    for (int i = 0; i < SL_LEN(locales); i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, host_thread, (void *)(uintptr_t)locales[i]), 0);
    for (int i = 0; i < SL_LEN(locales); i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        SL_CHECK(t, !wrong, "%s: %s", locales[i], (const char *)wrong);
    }
}

/* Without them the tests above compare nothing, and say so here. */
static void the_locales_are_there(void **state) {
    (void)state;
    int n = 0;
    for (int i = 0; next_locale(&i); i++) n++;
    if (n < SL_LEN(locales))
        sl_test_skip("of %d locales %d are installed: tools/setup check installs them",
                     SL_LEN(locales), n);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_locales_are_there),      SL_TEST(numbers_are_written_as_in_c),
        SL_TEST(numbers_are_read_as_in_c),   SL_TEST(whole_numbers_are_read_as_by_strtoll),
        SL_TEST(letters_are_those_of_ascii), SL_TEST(messages_are_not_translated),
        SL_TEST(the_c_locale_is_a_constant), SL_TEST(threads_keep_their_locales),
    };
    return sl_test_main("base.locale", tests, SL_LEN(tests));
}
