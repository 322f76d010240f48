/* Rows of options: fields, defaults, their texts, bounds. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "fixture/fixture.h"

typedef struct options {
    bool on;
    int64_t count, none;
    double rate, unknown;
    int kind, no_kind;
    const char *name, *file;
    const char *two[SL_OPTION_TEXTS_COUNT];
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, __VA_ARGS__)

static const sl_option rows[] = {
    ROW(on, "on", .value = 1),
    ROW(count, "count", .alias = "n", .value = 7, .min = 1, .max = 9),
    ROW(none, "none", .value = NAN, .max = 5),
    ROW(rate, "rate", .value = 4.6e-4, .max = 1),
    ROW(unknown, "unknown", .value = NAN, .max = 1),
    ROW(kind, "kind", .value = 1, .choices = "a|bc|d"),
    ROW(no_kind, "no-kind", .value = NAN, .choices = "a|b"),
    ROW(name, "name", .text = "x"),
    ROW(file, "file", .path = SL_PATH_FILE_INPUT),
    ROW(two, "two"),
};
static const sl_option_table table = { rows, SL_LEN(rows) };

static options defaults(void) {
    options o;
    memset(&o, 0x5a, sizeof o);
    sl_option_defaults(&o, &table);
    return o;
}

static void fields_have_their_defaults(void **state) {
    (void)state;
    const options o = defaults();
    assert_true(o.on && o.count == 7 && o.none == SL_NONE && o.rate == 4.6e-4 && isnan(o.unknown));
    assert_true(o.kind == 1 && o.no_kind == -1 && !o.file && !o.two[0] && !o.two[1]);
    assert_string_equal(o.name, "x");
    static const bool given[] = { true, true, false, true, false, true, false, true, false, false };
    for (int i = 0; i < table.n; i++) assert_int_equal(sl_option_is_given(&o, &rows[i]), given[i]);
}

static void texts_of_defaults_read_back(void **state) {
    sl_fixture *t = *state;
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 0, "0" },           { -1, "-1" },      { 1e5, "100000" },  { 0.05, "0.05" },
                  { 4.6e-4, "4.6e-4" }, { 1e-9, "1e-9" },  { 1e100, "1e100" }, { 0.1, "0.1" },
                  { 0.001, "0.001" },   { 2.5, "2.5" },    { -3e-7, "-3e-7" }, { 1.0 / 3, NULL },
                  { 1e-3 / 3, NULL },   { 1e17 / 3, NULL } };
    char text[SL_OPTION_TEXT_MAX];
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_option o = { .kind = SL_KIND_REAL, .value = cases[i].value };
        const char *got = sl_option_default_text(text, &o);
        SL_CHECK(t, !cases[i].text || strcmp(got, cases[i].text) == 0, "%s, not %s", got,
                 cases[i].text);
        SL_CHECK(t, sl_strtod(got, NULL) == cases[i].value, "%s is another number", got);
    }
    static const char *const want[] = { "true", "7",  NULL, "4.6e-4", NULL,
                                        "bc",   NULL, "x",  NULL,     NULL };
    for (int i = 0; i < table.n; i++) {
        const char *got = sl_option_default_text(text, &rows[i]);
        SL_CHECK(t, got && want[i] ? strcmp(got, want[i]) == 0 : got == want[i], "%s: %s",
                 rows[i].name, got ? got : "none");
    }
}

static void names_and_former_names_are_found(void **state) {
    (void)state;
    assert_ptr_equal(sl_option_find(&table, "count"), &rows[1]);
    assert_ptr_equal(sl_option_find(&table, "n"), &rows[1]);
    assert_ptr_equal(sl_option_get(&table, "two"), &rows[9]);
    assert_null(sl_option_find(&table, "cou"));
    assert_null(sl_option_find(&table, ""));
    assert_int_equal(sl_option_place(&rows[5], "d"), 2);
    assert_int_equal(sl_option_place(&rows[5], "b"), -1);
    assert_int_equal(sl_option_place(&rows[5], "bc|d"), -1);
    assert_int_equal(sl_option_place(&rows[5], ""), -1);
}

static void bounds_are_kept(void **state) {
    sl_fixture *t = *state;
    options o = defaults();
    SL_MUST(t, sl_option_check(&o, &table));
#define REFUSED(field, bad, message)                          \
    o = defaults();                                           \
    o.field = (bad);                                          \
    assert_int_equal(sl_option_check(&o, &table), SL_EINVAL); \
    assert_string_equal(sl_last_error(), message);
    REFUSED(count, 0, "count is 0, not from 1 to 9")
    REFUSED(count, 10, "count is 10, not from 1 to 9")
    REFUSED(none, 6, "none is 6, not from 0 to 5")
    REFUSED(rate, NAN, "rate is nan, not from 0 to 1")
    REFUSED(unknown, 1.5, "unknown is 1.5, not from 0 to 1")
    REFUSED(kind, 3, "kind is 3, not from 0 to 2")
    REFUSED(kind, -1, "kind is -1, not from 0 to 2")
    REFUSED(no_kind, 2, "no-kind is 2, not from 0 to 1")
#undef REFUSED
}

static void fields_are_copied_and_compared(void **state) {
    sl_fixture *t = *state;
    const char other[] = { 'x', '\0' };
    options a = defaults(),
            b = { .none = 2, .unknown = 1, .kind = 2, .file = "f", .two = { "g", "h" } };
    for (int i = 0; i < table.n; i++) SL_CHECK(t, !sl_option_same(&a, &b, &rows[i]), "%d", i);
    for (int i = 0; i < table.n; i++) {
        sl_option_copy(&a, &b, &rows[i]);
        SL_CHECK(t, sl_option_same(&a, &b, &rows[i]), "%d", i);
    }
    a.name = "x";
    b.name = other;
    assert_true(sl_option_same(&a, &b, &rows[7]));
    a.two[1] = NULL;
    assert_false(sl_option_same(&a, &b, &rows[9]));
}

static void presets_replace_defaults(void **state) {
    (void)state;
    static const sl_option_preset list[] = { { "kind", 0 }, { "count", 3 }, { .name = NULL } };
    options o = defaults();
    sl_option_presets(&o, &table, list);
    assert_true(o.kind == 0 && o.count == 3 && o.rate == 4.6e-4);
    sl_option_set(&o, &rows[1], 1e300); // a bound says that it is too large
    assert_true(o.count == INT64_MAX);
    sl_option_set(&o, &rows[1], NAN);
    assert_true(o.count == SL_NONE);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(fields_have_their_defaults),       SL_TEST(texts_of_defaults_read_back),
        SL_TEST(names_and_former_names_are_found), SL_TEST(bounds_are_kept),
        SL_TEST(fields_are_copied_and_compared),   SL_TEST(presets_replace_defaults),
    };
    return sl_test_main("base.option", tests, SL_LEN(tests));
}
