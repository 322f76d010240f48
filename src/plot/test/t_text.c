/* Text: what is escaped, how long it is, and numbers that can be read back. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "fixture/fixture.h"
#include "plot/plot_impl.h"
#include "plot/plot_test.h"

/* The judge that figures and pages are held against. */
static void the_parser_of_xml_accepts_good_and_rejects_bad(void **state) {
    sl_fixture *t = *state;
    static const char *const good[] = { "<a/>", "<a b=\"1\" c=\"&lt;\">x &#39; <d/></a>\n",
                                        "<!DOCTYPE html>\n<a>é</a>" };
    static const char *const bad[] = { "",
                                       "x",
                                       "<a>",
                                       "<a></b>",
                                       "<a/><b/>",
                                       "<a b=1/>",
                                       "<a b=\"<\"/>",
                                       "<a>&</a>",
                                       "<a>&nbsp;</a>",
                                       "<a b=\"1\" b=\"2\"/>",
                                       "<a>\x01</a>",
                                       "<a>\xff</a>",
                                       "<a>\xed\xa0\x80</a>",
                                       "<a/>x",
                                       "<a b=\"1\"c=\"2\"/>",
                                       "<a>\xef\xbf\xbf</a>",
                                       "<a>&#1;</a>",
                                       "</a>",
                                       "<a b=\"&x\"/>" };
    for (int i = 0; i < SL_LEN(good); i++) XML_MUST(t, good[i], NULL, NULL);
    for (int i = 0; i < SL_LEN(bad); i++)
        SL_CHECK(t, xml_wrong(bad[i], NULL, NULL), "taken for good: %s", bad[i]);
}

static void escaped_text_is_this(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "a<b & \"c\" > 'd'", "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;" },
        { "tab\tline\nend\r", "tab line end " },
        { "\x01\x1b\x7f\xc2\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },                 // not UTF-8
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, // a surrogate
        { "\xef\xbf\xbe\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd" }, // U+FFFE, U+FFFF
        { "é 温度 😀", "é 温度 😀" },
        { "cut \xe6\xb8", "cut \xef\xbf\xbd\xef\xbf\xbd" },
        { "", "" },
        { "]]>", "]]&gt;" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_str s = { 0 };
        sl_plot_escape(&s, cases[i][0]);
        SL_CHECK(t, strcmp(sl_str_text(&s), cases[i][1]) == 0, "%d: %s", i, sl_str_text(&s));
        sl_str_clear(&s);
    }
}

/* Whatever the bytes, in content and in an attribute. */
static void any_bytes_become_well_formed(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        char bytes[40];
        const int n = (int)sl_rng_below(&t->rng, sizeof bytes - 1);
        for (int k = 0; k < n; k++) {
            static const char likely[] = "<>&\"'\xc3\xa9\xed\xa0\xef\xbf\xbe;#";
            bytes[k] = sl_rng_below(&t->rng, 2) ? likely[sl_rng_below(&t->rng, sizeof likely - 1)]
                                                : (char)(1 + sl_rng_below(&t->rng, 255));
        }
        bytes[n] = '\0';
        sl_str s = { 0 };
        sl_str_add(&s, "<a b=\"");
        sl_plot_escape(&s, bytes);
        sl_str_add(&s, "\">");
        sl_plot__text(&s, bytes, 12, sl_rng_range(&t->rng, 0, 200));
        sl_str_add(&s, "</a>");
        XML_MUST(t, s.text, NULL, NULL);
        sl_str_clear(&s);
    }
}

/* A text that has room is whole; else it ends in an ellipsis, starts as the text does and fits. */
static void text_is_cut_to_its_room(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "temperature of the outer wall",
                                         "WWWWWWWW",
                                         "iiii.iiii",
                                         "温度温度温度",
                                         "été à é",
                                         "−1.5·10⁻⁷" };
    for (int i = 0; i < SL_LEN(texts); i++) {
        const double whole = sl_plot__width(texts[i], 13);
        for (double room = 20; room < 320; room += 7.3) {
            sl_str s = { 0 };
            sl_plot__text(&s, texts[i], 13, room);
            const char *end = strstr(s.text, "…");
            if (whole <= room) {
                assert_string_equal(s.text, texts[i]);
            } else {
                SL_CHECK(t, end && strcmp(end, "…") == 0, "%s in %g: %s", texts[i], room, s.text);
                SL_CHECK(t, sl_plot__width(s.text, 13) <= room + 1, "%s in %g", s.text, room);
                assert_int_equal(strncmp(s.text, texts[i], (size_t)(end - s.text)), 0);
            }
            sl_str_clear(&s);
        }
        sl_str exact = { 0 };
        sl_plot__text(&exact, texts[i], 13, whole);
        assert_string_equal(exact.text, texts[i]);
        sl_str_clear(&exact);
    }
}

static void check_number(sl_fixture *t, double v, int digits, const char *wanted) {
    sl_str s = { 0 };
    sl_plot_number(&s, v, digits);
    SL_CHECK(t, strcmp(sl_str_text(&s), wanted) == 0, "%.17g: %s, not %s", v, sl_str_text(&s),
             wanted);
    sl_str_clear(&s);
}

static void numbers_are_these(void **state) {
    sl_fixture *t = *state;
    check_number(t, 0, 3, "0");
    check_number(t, -0.0, 3, "0");
    check_number(t, 0.25, 3, "0.25");
    check_number(t, -1234.5678, 6, "−1234.57");
    check_number(t, 1234.5678, 2, "1200");
    check_number(t, 999.96, 4, "1000");
    check_number(t, 123456, 6, "123456");
    check_number(t, 1234567, 9, "1.234567·10⁶");
    check_number(t, 1234567, 3, "1.23·10⁶");
    check_number(t, 0.0001, 3, "0.0001");
    check_number(t, 0.00012345, 17, "0.00012344999999999999");
    check_number(t, 0.00001, 3, "1·10⁻⁵");
    check_number(t, -3.14159e-300, 4, "−3.142·10⁻³⁰⁰");
    check_number(t, 5e-324, 1, "5·10⁻³²⁴");
    check_number(t, 1.7976931348623157e308, 17, "1.7976931348623157·10³⁰⁸");
    check_number(t, NAN, 3, "–");
    check_number(t, INFINITY, 3, "∞");
    check_number(t, -INFINITY, 3, "−∞");
}

static void the_locale_makes_no_difference(void **state) {
    sl_fixture *t = *state;
    static const char *const commas[] = { "de_DE.UTF-8", "ps_AF.UTF-8" };
    for (int i = 0; i < SL_LEN(commas); i++) {
        if (!setlocale(LC_NUMERIC, commas[i])) sl_test_skip("no locale %s", commas[i]);
        check_number(t, 0.25, 3, "0.25");
        check_number(t, 1234567, 3, "1.23·10⁶");
        setlocale(LC_NUMERIC, "C");
    }
}

static void coordinates_are_rounded_to_hundredths(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        const double v = sl_rng_range(&t->rng, -20, 2000);
        sl_str s = { 0 };
        sl_plot__coord(&s, v);
        SL_CHECK(t, fabs(strtod(s.text, NULL) - v) <= 0.005000001, "%.9g: %s", v, s.text);
        SL_CHECK(t, s.len < 8 && (!strchr(s.text, '.') || s.text[s.len - 1] != '0'), "%s", s.text);
        sl_str_clear(&s);
    }
    sl_str s = { 0 };
    const double some[] = { 3, -0.001, 2.5, -1.25, 0.07, 9.999 };
    for (int i = 0; i < SL_LEN(some); i++) {
        sl_plot__coord(&s, some[i]);
        sl_str_add_char(&s, ' ');
    }
    assert_string_equal(s.text, "3 0 2.5 -1.25 0.07 10 ");
    sl_str_clear(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_parser_of_xml_accepts_good_and_rejects_bad),
        SL_TEST(escaped_text_is_this),
        SL_TEST(any_bytes_become_well_formed),
        SL_TEST(text_is_cut_to_its_room),
        SL_TEST(numbers_are_these),
        SL_TEST(the_locale_makes_no_difference),
        SL_TEST(coordinates_are_rounded_to_hundredths),
    };
    return sl_test_main("plot.text", tests, SL_LEN(tests));
}
