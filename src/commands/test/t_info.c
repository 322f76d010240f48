/* The commands `info --table` and `doctor` by the public call. */
#include "commands/commands_test.h"

static const char *text_of(const sl_json *j, const char *name) {
    return sl_io_json_get_text(j, name, "(none)");
}

static const char table[] = "name;x (m);y\nfirst;1,5;2\nsecond;2,5;\nthird;1,5;7\n";

static void a_table_is_described_column_by_column(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("small.csv");
    char options[512];
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, table, sizeof table - 1));
    SL_MUST(t, sl_file_commit(&f));
    event_log h = { 0 };
    snprintf(options, sizeof options, "{\"table\":\"%s\"}", path);
    sl_json *j = result_of(t, &h, "info", options);
    const sl_json *about = sl_io_json_get(j, "table"), *columns = sl_io_json_get(about, "columns");
    assert_int_equal(sl_io_json_get_int(about, "rows", 0), 3);
    assert_int_equal(sl_io_json_count(columns), 3);
    const sl_json *name = sl_io_json_at(columns, 0), *x = sl_io_json_at(columns, 1),
                  *y = sl_io_json_at(columns, 2);
    assert_string_equal(text_of(name, "kind"), "text");
    assert_string_equal(text_of(x, "name"), "x");
    assert_string_equal(text_of(x, "unit"), "m");
    assert_int_equal(sl_io_json_get_int(x, "distinct", 0), 2);
    assert_true(sl_io_json_get_real(x, "min", 0) == 1.5 && sl_io_json_get_real(x, "max", 0) == 2.5);
    assert_int_equal(sl_io_json_get_int(y, "missing", 0), 1);
    SL_CHECK(t, strstr(output_of(&h), "3 rows, 3 columns, separator semicolon"), "%s",
             output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);
}

/* Each part says whether it works; what a bug report needs is named. */
static void the_doctor_tries_every_part(void **state) {
    sl_fixture *t = *state;
    static const char *const expected[] = { "version", "CPU",   "memory", "products",
                                            "MPI",     "model", "cache" };
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "doctor", "{}");
    const sl_json *parts = sl_io_json_get(j, "parts");
    assert_int_equal(sl_io_json_count(parts), SL_LEN(expected));
    for (int i = 0; i < SL_LEN(expected); i++) {
        const sl_json *p = sl_io_json_at(parts, i);
        assert_string_equal(text_of(p, "part"), expected[i]);
        SL_CHECK(t, *text_of(p, "text") && strstr(output_of(&h), expected[i]), "%s: %s",
                 expected[i], text_of(p, "text"));
        // what does not work has a remedy
        const bool works = strcmp(text_of(p, "state"), "works") == 0;
        SL_CHECK(t, works || strcmp(text_of(p, "remedy"), "(none)") != 0, "%s", expected[i]);
    }
    SL_CHECK(t, strstr(text_of(sl_io_json_at(parts, 0), "text"), symlaw_version()), "%s",
             output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_table_is_described_column_by_column),
        SL_TEST(the_doctor_tries_every_part),
    };
    return sl_test_main("commands.info", tests, SL_LEN(tests));
}
