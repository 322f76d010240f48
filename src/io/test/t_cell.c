/* Values of cells: numbers in any notation are, to the bit, the doubles that strtod reads in the C
 * locale; everything else is missing, infinite or text. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "io/io.h"

static sl_cell_kind read_cell(double *v, const char *text, char separator) {
    const sl_cell cell = { text, strlen(text), false };
    return sl_io_cell_number(v, &cell, separator);
}

/* The value must equal strtod's. */
static void check(sl_fixture *t, const char *text) {
    double v;
    const double want = strtod(text, NULL);
    const sl_cell_kind kind = read_cell(&v, text, ',');
    SL_CHECK(t, kind == (isinf(want) ? SL_CELL_INFINITE : SL_CELL_NUMBER), "%.60s is kind %d", text,
             (int)kind);
    SL_CHECK(t, memcmp(&v, &want, sizeof v) == 0, "%.60s is %.17g, not %.17g", text, v, want);
}

/* ---------------------------------------------------------------- numbers ------------------- */

/* All lengths around the 19 digits that fit a word, all powers around the 22 and 27 of the fast
 * ways, points anywhere. */
static void numbers_equal_strtod(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 60000); i++) {
        char text[128];
        const int digits = 1 + (int)sl_rng_below(&t->rng, 24);
        const int point = (int)sl_rng_below(&t->rng, (uint32_t)digits + 1);
        int n = 0;
        if (sl_rng_below(&t->rng, 3) == 0) text[n++] = sl_rng_below(&t->rng, 2) ? '-' : '+';
        for (int k = 0; k < digits; k++) {
            if (k == point) text[n++] = '.';
            text[n++] = (char)('0' + sl_rng_below(&t->rng, 10));
        }
        text[n] = '\0';
        const uint32_t what = sl_rng_below(&t->rng, 4);
        if (what > 0) {
            const int range = what == 1 ? 30 : what == 2 ? 60 : 350;
            sprintf(text + n, "%c%+d", sl_rng_below(&t->rng, 2) ? 'e' : 'E',
                    (int)sl_rng_below(&t->rng, (uint32_t)(2 * range)) - range);
        }
        check(t, text);
    }
}

/* 15 to 17 digits of a double must read back as it. */
static void printed_doubles_read_back(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 20000); i++) {
        char text[64];
        double v = ldexp(sl_rng_uniform(&t->rng) - 0.5, (int)sl_rng_below(&t->rng, 80) - 40), back;
        snprintf(text, sizeof text, "%.17g", v);
        check(t, text);
        read_cell(&back, text, ',');
        SL_CHECK(t, back == v, "%s reads back as %.17g", text, back);
        snprintf(text, sizeof text, "%.*f", (int)sl_rng_below(&t->rng, 20), v);
        check(t, text);
    }
}

/* Exactly between two doubles, and a little beside: long double has the middle, and printf all of
 * its digits. */
static void ties_are_rounded_to_even(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 6000); i++) {
        char text[1400];
        const int exponent = (int)sl_rng_below(&t->rng, i % 3 ? 90 : 1900) - (i % 3 ? 45 : 1000);
        const double v = ldexp(1 + sl_rng_uniform(&t->rng), exponent);
        const double next = nextafter(v, INFINITY);
        const long double middle = ((long double)v + (long double)next) / 2;
        const int n = snprintf(text, sizeof text, "%.1100Lf", middle);
        char *end = text + n; // without the zeros at the end, of which there are many
        while (end[-1] == '0') end--;
        strcpy(end, "");
        check(t, text);
        strcpy(end, end[-1] == '.' ? "0001" : "1");
        check(t, text);
        memset(end, '0', 100); // far behind what can be held
        strcpy(end + 100, "1");
        check(t, text);
        strcpy(end, "");
        if (end[-1] > '0') end[-1]--;
        strcpy(end, "9");
        check(t, text);
    }
    // whole numbers: 2^53 + 1 and its like, with and without a power
    static const char *const whole[] = {
        "9007199254740993",
        "9007199254740992",
        "9007199254740991",
        "9007199254740993e0",
        "9007199254740993.0",
        "9007199254740993.00000000000000001",
        "18014398509481986",
        "18014398509481990",
        "9007199254740993e22",
        "90071992547409930e21",
        "900719925474099.3e1",
        "9223372036854775807",
        "9999999999999999999",
        "18446744073709551615",
        "99999999999999999999",
        "4503599627370497.5",
        "4503599627370496.5",
        "0.500000000000000166533453693773",
        "3.50582559e-27",
        "1e22",
        "1e23",
        "1e27",
        "1e28",
        "9007199254740992e22",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "0e999999999999999999999",
        "0",
        "-0",
        "1e-999999999999999999999",
        "00000000000000000000000000000000000000000000000000001.5",
    };
    for (int i = 0; i < SL_LEN(whole); i++) check(t, whole[i]);
}

/* A point far away from the digits, and a power that brings it back. */
static void long_numbers_are_numbers(void **state) {
    sl_fixture *t = *state;
    enum { MANY = 200000 };
    char *text = sl_malloc(MANY + 64, 1);
    double v;
    assert_non_null(text);
    memset(text, '0', MANY);
    memcpy(text, "0.", 2);
    sprintf(text + MANY, "15e%d", MANY);
    assert_int_equal(read_cell(&v, text, ','), SL_CELL_NUMBER);
    SL_CHECK(t, v == 15, "many zeros before the digits: %.17g", v); // two of MANY are "0."
    memset(text, '0', MANY);
    memcpy(text, "15", 2);
    sprintf(text + MANY, "e-%d", MANY - 2);
    assert_int_equal(read_cell(&v, text, ','), SL_CELL_NUMBER);
    SL_CHECK(t, v == 15, "many zeros behind the digits: %.17g", v);
    memset(text, '3', MANY);
    text[1] = '.';
    text[MANY] = '\0';
    check(t, text);
    sl_free(text);
}

/* ---------------------------------------------------------------- spelling ------------------ */

static void cells_are_of_four_kinds(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        char separator;
        sl_cell_kind kind;
        double v;
    } cases[] = {
        { "5.", ',', SL_CELL_NUMBER, 5 },
        { ".5", ',', SL_CELL_NUMBER, 0.5 },
        { "-.5e+1", ',', SL_CELL_NUMBER, -5 },
        { "+7", ',', SL_CELL_NUMBER, 7 },
        { "007", ',', SL_CELL_NUMBER, 7 },
        { "1.5D+03", ',', SL_CELL_NUMBER, 1500 },
        { "1d-1", ',', SL_CELL_NUMBER, 0.1 },
        { "\xE2\x88\x92"
          "2.5",
          ',', SL_CELL_NUMBER, -2.5 },
        { "1,5", ';', SL_CELL_NUMBER, 1.5 },
        { "1.5", ';', SL_CELL_NUMBER, 1.5 },
        { "-1,25e2", '\t', SL_CELL_NUMBER, -125 },
        { ",5", '|', SL_CELL_NUMBER, 0.5 },
        { "1,5", ',', SL_CELL_TEXT, NAN },
        { "1.234,5", ';', SL_CELL_TEXT, NAN },
        { "1,234,567", ';', SL_CELL_TEXT, NAN },
        { "1.2.3", ',', SL_CELL_TEXT, NAN },
        { "", ',', SL_CELL_MISSING, NAN },
        { "NA", ',', SL_CELL_MISSING, NAN },
        { "n/a", ',', SL_CELL_MISSING, NAN },
        { "#N/A", ',', SL_CELL_MISSING, NAN },
        { "nan", ',', SL_CELL_MISSING, NAN },
        { "-NaN", ',', SL_CELL_MISSING, NAN },
        { "NULL", ',', SL_CELL_MISSING, NAN },
        { "None", ',', SL_CELL_MISSING, NAN },
        { "?", ',', SL_CELL_MISSING, NAN },
        { "-", ',', SL_CELL_MISSING, NAN },
        { "inf", ',', SL_CELL_INFINITE, INFINITY },
        { "-Infinity", ',', SL_CELL_INFINITE, -INFINITY },
        { "+INF", ',', SL_CELL_INFINITE, INFINITY },
        { "1e999", ',', SL_CELL_INFINITE, INFINITY },
        { "-1e999", ',', SL_CELL_INFINITE, -INFINITY },
        { ".", ',', SL_CELL_MISSING, NAN },
        { "--", ',', SL_CELL_MISSING, NAN },
        { "#DIV/0!", ',', SL_CELL_MISSING, NAN },
        { "n.a.", ',', SL_CELL_MISSING, NAN },
        { "+", ',', SL_CELL_TEXT, NAN },
        { "-.", ',', SL_CELL_TEXT, NAN },
        { "e5", ',', SL_CELL_TEXT, NAN },
        { "1e", ',', SL_CELL_TEXT, NAN },
        { "1e+", ',', SL_CELL_TEXT, NAN },
        { "1e5x", ',', SL_CELL_TEXT, NAN },
        { "1e5.0", ',', SL_CELL_TEXT, NAN },
        { "--1", ',', SL_CELL_TEXT, NAN },
        { "0x10", ',', SL_CELL_TEXT, NAN },
        { "5%", ',', SL_CELL_TEXT, NAN },
        { "1 000", ',', SL_CELL_TEXT, NAN },
        { "nano", ',', SL_CELL_TEXT, NAN },
        { "N", ',', SL_CELL_TEXT, NAN },
        { "exec", ',', SL_CELL_TEXT, NAN },
        { "\xE2\x88\x92", ',', SL_CELL_TEXT, NAN },
        { "\xE2\x88", ',', SL_CELL_TEXT, NAN },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        double v = 99;
        const sl_cell_kind kind = read_cell(&v, cases[i].text, cases[i].separator);
        SL_CHECK(t, kind == cases[i].kind, "\"%s\" is kind %d", cases[i].text, (int)kind);
        SL_CHECK(t, v == cases[i].v || (isnan(v) && isnan(cases[i].v)), "\"%s\" is %g",
                 cases[i].text, v);
    }
}

/* Only n bytes of the text belong to the cell. */
static void bytes_past_the_length_are_ignored(void **state) {
    sl_fixture *t = *state;
    double v;
    const sl_cell cell = { "12345", 3, false };
    SL_CHECK(t, sl_io_cell_number(&v, &cell, ',') == SL_CELL_NUMBER && v == 123, "%g", v);
}

/* Locales with a decimal comma change strtod, and nothing here. */
static void the_locale_does_not_matter(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "de_DE.UTF-8", "tr_TR.UTF-8", "ps_AF.UTF-8" };
    for (int i = 0; i < SL_LEN(names); i++) {
        if (!setlocale(LC_ALL, names[i])) sl_test_skip("no locale %s", names[i]);
        double v, w, u;
        read_cell(&v, "1.25", ',');
        read_cell(&w, "1.25000000000000000000000000e+30", ',');
        read_cell(&u, "INFINITY", ','); // no capital of i in Turkish
        setlocale(LC_ALL, "C");
        SL_CHECK(t, v == 1.25 && w == 1.25e30, "in %s 1.25 is %g", names[i], v);
        SL_CHECK(t, isinf(u), "in %s INFINITY is %g", names[i], u);
    }
}

/* Marks between digits and signs beside them, by the style of a file. */
static void numbers_are_read_by_the_style_of_a_file(void **state) {
    sl_fixture *t = *state;
    enum { D = SL_MARK_DECIMAL, G = SL_MARK_GROUP, E = SL_MARK_EITHER };
    static const struct {
        const char *text;
        int point, comma; // sl_mark_use
        double want;      // NaN: text
        unsigned signs;
    } cases[] = {
        { "421,204", D, G, 421204, SL_SIGN_GROUPS },
        { "421,204", D, D, 421.204, 0 },
        { "421,204", D, E, NAN, SL_SIGN_UNCLEAR },
        { "1,5", D, E, 1.5, 0 },
        { "1,5", D, G, NAN, 0 },
        { "1,234,567.25", D, E, 1234567.25, SL_SIGN_GROUPS },
        { "1,234,56", D, E, NAN, 0 },
        { "0,123", D, E, 0.123, 0 },
        { "1.234,5", E, D, 1234.5, SL_SIGN_GROUPS },
        { "1.234", G, D, 1234, SL_SIGN_GROUPS },
        { "1.234", E, D, NAN, SL_SIGN_UNCLEAR },
        { "-1 234,5", G, D, -1234.5, SL_SIGN_GROUPS },
        { "1\xC2\xA0"
          "234.5",
          D, G, 1234.5, SL_SIGN_GROUPS },
        { "12 34", D, G, NAN, 0 },
        { "1'234'567", D, G, 1234567, SL_SIGN_GROUPS },
        { "12.5%", D, G, 12.5, SL_SIGN_PERCENT },
        { "12,5 %", G, D, 12.5, SL_SIGN_PERCENT },
        { "%", D, G, NAN, 0 },
        { "$1,234.50", D, G, 1234.5, SL_SIGN_GROUPS | SL_SIGN_CURRENCY },
        { "-$5", D, G, -5, SL_SIGN_CURRENCY },
        { "5 \xE2\x82\xAC", D, G, 5, SL_SIGN_CURRENCY },
        { "$5 $", D, G, NAN, 0 },
        { "1.5e3 m", D, G, NAN, 0 },
        { "1.5D+03", D, G, 1500, 0 },
        { "2024-03-01", D, E, NAN, 0 },
        { "01.03.2024", G, D, NAN, 0 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_cell cell = { cases[i].text, strlen(cases[i].text), false };
        double v;
        unsigned signs;
        const sl_cell_kind k = sl_io_cell_read(
            &v, &signs, &cell,
            (sl_number_style){ (sl_mark_use)cases[i].point, (sl_mark_use)cases[i].comma });
        SL_CHECK(t, isnan(cases[i].want) ? k == SL_CELL_TEXT : v == cases[i].want, "%s is %.17g",
                 cell.text, v);
        SL_CHECK(t, signs == cases[i].signs, "%s has signs %u", cell.text, signs);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(numbers_are_read_by_the_style_of_a_file),
        SL_TEST(numbers_equal_strtod),
        SL_TEST(printed_doubles_read_back),
        SL_TEST(ties_are_rounded_to_even),
        SL_TEST(long_numbers_are_numbers),
        SL_TEST(cells_are_of_four_kinds),
        SL_TEST(bytes_past_the_length_are_ignored),
        SL_TEST(the_locale_does_not_matter),
    };
    return sl_test_main("io.cell", tests, SL_LEN(tests));
}
