/* JSON: output reads back; malformed input is refused. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "io/io_test.h"

static sl_json *parsed(sl_fixture *t, const char *text) {
    sl_json *j = NULL;
    SL_MUST(t, sl_io_json_parse(&j, text, strlen(text)));
    return j;
}

static void a_tree_holds_what_the_text_says(void **state) {
    sl_fixture *t = *state;
    sl_json *j = parsed(t, "{\"z\": 1, \"a\": [true, null, 2.5, \"t\\u00e4\"], \"m\": {}}");
    assert_int_equal(sl_io_json_kind_of(j), SL_JSON_OBJECT);
    assert_int_equal(sl_io_json_count(j), 3);

    // members come in the order of the text, not of the alphabet
    const char *names[] = { "z", "a", "m" };
    int n = 0;
    for (sl_json_member m = sl_io_json_first(j); m.name; m = sl_io_json_next(j, m))
        assert_string_equal(m.name, names[n++]);
    assert_int_equal(n, 3);

    const sl_json *a = sl_io_json_get(j, "a");
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "z")), 1);
    assert_true(sl_io_json_real(sl_io_json_get(j, "z")) == 1.0);
    assert_true(sl_io_json_bool(sl_io_json_at(a, 0)));
    assert_int_equal(sl_io_json_kind_of(sl_io_json_at(a, 1)), SL_JSON_NULL);
    assert_true(sl_io_json_real(sl_io_json_at(a, 2)) == 2.5);
    assert_string_equal(sl_io_json_text(sl_io_json_at(a, 3)), "t\xc3\xa4");
    assert_null(sl_io_json_get(j, "b"));
    assert_null(sl_io_json_first(sl_io_json_get(j, "m")).name);
    sl_io_json_free(j);
}

static void bad_text_is_refused_with_its_place(void **state) {
    sl_fixture *t = *state;
    static const char *const bad[] = {
        "",      "{",    "{\"a\":1,}", "{\"a\":1}x",  "{\"a\":1,\"a\":2}",
        "{a:1}", "[1,2", "\"\xff\"",   "\"\\u0000\"", "99999999999999999999",
        "1e999", "nul",  "'a'",        "\"\n\"",
    };
    for (int i = 0; i < SL_LEN(bad); i++) {
        sl_json *j = NULL;
        sl_status st = sl_io_json_parse(&j, bad[i], strlen(bad[i]));
        SL_CHECK(t, st == SL_EFORMAT, "\"%s\" is %s", bad[i], sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), "line 1"), "no place: %s", sl_last_error());
    }
    sl_json *j = NULL;
    assert_int_equal(sl_io_json_parse(&j, "{\n  \"a\" 1}", 10), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "line 2"), "wrong line: %s", sl_last_error());
}

/* A hundred thousand brackets must not overflow the stack. */
static void deep_nesting_is_refused(void **state) {
    sl_fixture *t = *state;
    size_t n = 100000;
    char *text = sl_malloc(n, 1);
    assert_non_null(text);
    memset(text, '[', n);
    sl_json *j = NULL;
    assert_int_equal(sl_io_json_parse(&j, text, n), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "depth"), "other reason: %s", sl_last_error());
    sl_free(text);
}

static void written_text_equals_the_stored_one(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    sl_io_json_add_bool(&s, "ok", true);
    sl_io_json_open(&s, "list", '[');
    sl_io_json_add_int(&s, NULL, INT64_MIN);
    sl_io_json_open(&s, NULL, '{');
    sl_io_json_close(&s, '}');
    sl_io_json_add_text(&s, NULL, "a\"\\{[\n\t\x01");
    sl_io_json_close(&s, ']');
    sl_io_json_add_real(&s, "r", 0.1);
    sl_io_json_add_real(&s, "w", 3.0);
    sl_io_json_add_real(&s, "nan", NAN);
    sl_io_json_add_text(&s, "none", NULL);
    sl_io_json_close(&s, '}');
    sl_str_add_char(&s, '\n');
    sl_io_json_open(&s, NULL, '['); // a second line needs no comma
    sl_io_json_close(&s, ']');
    SL_MUST(t, sl_str_status(&s));
    assert_string_equal(sl_str_text(&s),
                        "{\"ok\":true,\"list\":[-9223372036854775808,{},"
                        "\"a\\\"\\\\{[\\n\\t\\u0001\"],\"r\":0.1,\"w\":3.0,\"nan\":null,"
                        "\"none\":null}\n[]");
    sl_str_clear(&s);
}

/* By their types: a whole number has no point, a real has one, no text is null. */
static void fields_are_members_of_their_names(void **state) {
    sl_fixture *t = *state;
    const struct {
        bool flag;
        int small;
        int64_t large;
        double real, none;
        const char *text, *missing;
        char array[4];
    } o = { true, -3, INT64_C(1) << 40, 2, NAN, "a", NULL, "b" };
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    SL_JSON_FIELDS(&s, &o, flag);
    SL_JSON_FIELDS(&s, &o, small, large, real, none, text, missing, array, flag, small, large, real,
                   none);
    sl_io_json_close(&s, '}');
    const char *want =
        "{\"flag\":true,\"small\":-3,\"large\":1099511627776,\"real\":2.0,\"none\":null,"
        "\"text\":\"a\",\"missing\":null,\"array\":\"b\",\"flag\":true,\"small\":-3,"
        "\"large\":1099511627776,\"real\":2.0,\"none\":null}";
    SL_CHECK(t, strcmp(sl_str_text(&s), want) == 0, "%s", sl_str_text(&s));
    sl_str_clear(&s);
}

static void bytes_that_are_no_utf8_are_replaced(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *bytes, *json;
    } cases[] = {
        { "\xc3\xa4", "\"\xc3\xa4\"" }, // fine as it is
        { "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
        { "\xff", "\"\\ufffd\"" },
        { "\xc3", "\"\\ufffd\"" }, // cut short by the end
        { "\xc3x", "\"\\ufffdx\"" },
        { "\xc0\xaf", "\"\\ufffd\\ufffd\"" }, // overlong '/'
        { "\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"" },
        { "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" }, // a surrogate
        { "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
        { "\xf0\x82\x82\xac", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_str s = { 0 };
        sl_io_json_add_text(&s, NULL, cases[i].bytes);
        SL_CHECK(t, strcmp(sl_str_text(&s), cases[i].json) == 0, "case %d is %s", i,
                 sl_str_text(&s));
        sl_str_clear(&s);
    }
}

/* Any text and any number are unchanged by writing and reading with jansson. */
static void what_is_written_reads_back(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        char text[64];
        int n = (int)sl_rng_below(&t->rng, 20);
        for (int k = 0; k < n; k++) {
            bool wild = sl_rng_below(&t->rng, 3) == 0;
            text[k] =
                (char)(wild ? 1 + sl_rng_below(&t->rng, 255) : 32 + sl_rng_below(&t->rng, 95));
        }
        text[n] = '\0';
        union {
            uint64_t u;
            double d;
        } real = { .u = sl_rng_u64(&t->rng) };
        int64_t whole = (int64_t)sl_rng_u64(&t->rng);

        sl_str s = { 0 };
        sl_io_json_open(&s, NULL, '[');
        sl_io_json_add_text(&s, NULL, text);
        sl_io_json_add_real(&s, NULL, real.d);
        sl_io_json_add_int(&s, NULL, whole);
        sl_io_json_close(&s, ']');
        SL_MUST(t, sl_str_status(&s));

        sl_json *j = parsed(t, sl_str_text(&s));
        bool plain = true;
        for (int k = 0; k < n; k++) plain = plain && (unsigned char)text[k] < 0x80;
        if (plain)
            SL_CHECK(t, strcmp(sl_io_json_text(sl_io_json_at(j, 0)), text) == 0, "%s",
                     sl_str_text(&s));
        if (isfinite(real.d))
            SL_CHECK(t,
                     sl_io_json_kind_of(sl_io_json_at(j, 1)) == SL_JSON_REAL &&
                         sl_io_json_real(sl_io_json_at(j, 1)) == real.d,
                     "%s", sl_str_text(&s));
        SL_CHECK(t, sl_io_json_int(sl_io_json_at(j, 2)) == whole, "%s", sl_str_text(&s));
        sl_io_json_free(j);
        sl_str_clear(&s);
    }
}

/* ---------------------------------------------------------------- lines --------------------- */

/* Unknown members are unchanged by reading and writing. */
static void a_tree_is_written_as_it_was_read(void **state) {
    sl_fixture *t = *state;
    static const char text[] =
        "{\"z\":1,\"a\":[true,false,null,-0.5,1e+300,\"t\xc3\xa4\\\"\",[],{}],"
        "\"m\":{\"\":{\"x\":9223372036854775807}}}";
    sl_json *j = parsed(t, text);
    sl_str s = { 0 };
    sl_io_json_add_tree(&s, NULL, j);
    assert_string_equal(sl_str_text(&s), text);
    sl_str_clear(&s);
    sl_io_json_open(&s, NULL, '{');
    sl_io_json_add_int(&s, "n", 1);
    sl_io_json_add_tree(&s, "again", sl_io_json_get(j, "m"));
    sl_io_json_close(&s, '}');
    assert_string_equal(sl_str_text(&s), "{\"n\":1,\"again\":{\"\":{\"x\":9223372036854775807}}}");
    sl_str_clear(&s);
    sl_io_json_free(j);
}

static void a_bad_line_is_refused_with_its_column(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *line, *reason;
    } cases[] = {
        { "", "the line is empty" },
        { " \t\r", "the line is empty" },
        { "NaN", "column 1: NaN is no JSON number" },
        { "[1, NaN]", "column 5: NaN is no JSON number" },
        { "[1,nan", "column 4: nan is no JSON number" },
        { "{\"x\": [-Infinity, 2]}", "column 8: -Infinity is no JSON number" },
        { "[Infinity]", "column 2: Infinity is no JSON number" },
        { "[\"\xc3\xa4\",  -inf]", "column 8: -inf is no JSON number" },
        { "[+inf]", "column 2: +inf is no JSON number" },
        { "[nano]", "JSON, column 5: invalid token near 'nano'" },
        { "[information]", "JSON, column 12: invalid token near 'information'" },
        { "[-x]", "JSON, column 2: invalid token near '-'" },
        { "[-", "JSON, column 2: invalid token near '-'" },
        { "[1e999]", "JSON, column 6: real number overflow near '1e999'" },
        { "{\"a\":1,\"a\":2}", "JSON, column 10: duplicate object key near '\"a\"'" },
        { "{\"a\":1} {", "JSON, column 9: end of line expected near '{'" },
        { "[1", "JSON, column 2: ']' expected near end of line" },
        { "{\"a\" \"end of file\"}", "JSON, column 18: ':' expected near '\"end of file\"'" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_json *j = NULL;
        sl_status st = sl_io_json_parse_line(&j, cases[i].line, strlen(cases[i].line));
        SL_CHECK(t, st == SL_EFORMAT && !j, "\"%s\" is %s", cases[i].line, sl_status_text(st));
        SL_CHECK(t, strcmp(sl_last_error(), cases[i].reason) == 0, "%s: \"%s\", not \"%s\"",
                 cases[i].line, sl_last_error(), cases[i].reason);
    }
}

/* Programs with one kind of number write 1e20 as 100000000000000000000. */
static void long_whole_numbers_in_lines_are_reals(void **state) {
    sl_fixture *t = *state;
    static const char line[] = "[100000000000000000000, -100000000000000000000, 7]";
    sl_json *j = NULL;
    SL_MUST(t, sl_io_json_parse_line(&j, line, strlen(line)));
    for (int i = 0; i < 3; i++)
        assert_int_equal(sl_io_json_kind_of(sl_io_json_at(j, i)), SL_JSON_REAL);
    assert_true(sl_io_json_real(sl_io_json_at(j, 0)) == 1e20);
    assert_true(sl_io_json_real(sl_io_json_at(j, 1)) == -1e20);
    assert_true(sl_io_json_real(sl_io_json_at(j, 2)) == 7);
    sl_io_json_free(j);

    SL_MUST(t, sl_io_json_parse_line(&j, "7", 1)); // elsewhere they stay whole
    assert_int_equal(sl_io_json_int(j), 7);
    sl_io_json_free(j);
}

static sl_status parse_line_and_free(const char *text) {
    sl_json *j = NULL;
    sl_status st = sl_io_json_parse_line(&j, text, strlen(text));
    sl_io_json_free(j);
    return st;
}

/* ---------------------------------------------------------------- memory -------------------- */

static sl_status parse_and_free(const char *text) {
    sl_json *j = NULL;
    sl_status st = sl_io_json_parse(&j, text, strlen(text));
    sl_io_json_free(j);
    return st;
}

static sl_status write_one(void) {
    sl_str s = { 0 };
    sl_io_json_open(&s, "a longer name than the first room of a text", '{');
    sl_io_json_add_text(&s, "b", "and a longer text than the first room");
    sl_io_json_close(&s, '}');
    sl_status st = sl_str_status(&s);
    sl_str_clear(&s);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(
        t, parse_and_free(
               "{\"a\": [1, 2.5, 0.12345678901234567, \"text\", {\"b\": null}], \"c\": true}"));
    SL_EACH_ALLOCATION(t, parse_line_and_free("[1, 99999999999999999999, {\"b\": \"text\"}]"));
    SL_EACH_ALLOCATION(t, write_one());
}

/* A member that is missing, null or of another kind has the caller's default. */
static void a_member_that_may_be_missing_has_a_default(void **state) {
    sl_fixture *t = *state;
    static const char text[] = "{\"i\":3,\"r\":2.5,\"b\":true,\"t\":\"x\",\"n\":null}";
    sl_json *j;
    SL_MUST(t, sl_io_json_parse(&j, text, sizeof text - 1));
    assert_true(sl_io_json_get_real(j, "i", 9) == 3 && sl_io_json_get_real(j, "r", 9) == 2.5);
    assert_true(sl_io_json_get_int(j, "i", 9) == 3 && sl_io_json_get_bool(j, "b", false));
    assert_string_equal(sl_io_json_get_text(j, "t", "none"), "x");
    static const char *const none[] = { "n", "missing" };
    for (int i = 0; i < SL_LEN(none); i++) {
        assert_true(sl_io_json_get_real(j, none[i], 9) == 9 &&
                    sl_io_json_get_int(j, none[i], 9) == 9);
        assert_true(sl_io_json_get_bool(j, none[i], true) &&
                    !sl_io_json_get_text(j, none[i], NULL));
    }
    assert_true(sl_io_json_get_real(j, "t", 9) == 9 && sl_io_json_get_int(j, "r", 9) == 9);
    assert_true(sl_io_json_get_bool(j, "i", true) && !sl_io_json_get_text(j, "b", NULL));
    assert_true(sl_io_json_get_real(NULL, "i", 9) == 9 && sl_io_json_get_int(NULL, "i", 9) == 9);
    assert_true(sl_io_json_get_bool(NULL, "b", true) && !sl_io_json_get_text(NULL, "t", NULL));
    sl_io_json_free(j);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_tree_holds_what_the_text_says),
        SL_TEST(a_member_that_may_be_missing_has_a_default),
        SL_TEST(bad_text_is_refused_with_its_place),
        SL_TEST(deep_nesting_is_refused),
        SL_TEST(written_text_equals_the_stored_one),
        SL_TEST(fields_are_members_of_their_names),
        SL_TEST(bytes_that_are_no_utf8_are_replaced),
        SL_TEST(what_is_written_reads_back),
        SL_TEST(a_tree_is_written_as_it_was_read),
        SL_TEST(a_bad_line_is_refused_with_its_column),
        SL_TEST(long_whole_numbers_in_lines_are_reals),
        SL_TEST(lack_of_memory_is_reported),
    };
    sl_io_json_count_memory();
    return sl_test_main("io.json", tests, SL_LEN(tests));
}
