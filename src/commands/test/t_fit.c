/* The command `fit` by the public call: what it finds, prints and refuses, and every allocation
 * that may fail. What users type is in tests/cli/test_fit.py. */
#include <math.h>

#include "commands/commands_test.h"

static const char table[] = "group,t (s),y (m)\n"
                            "a,0,3.1\na,1,2.2\na,2,1.7\na,3,1.4\na,4,1.3\na,5,1.15\n"
                            "b,0,5.0\nb,1,3.4\nb,2,2.4\nb,3,1.9\nb,4,1.5\nb,5,1.4\n";

/* Options with the table's path. */
static const char *options_of(sl_fixture *t, char *text, size_t size, const char *more) {
    const char *path = sl_test_path("table.csv");
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, table, sizeof table - 1));
    SL_MUST(t, sl_file_commit(&f));
    snprintf(text, size, "{\"file\":\"%s\",%s}", path, more);
    return text;
}

static void the_result_has_constants_with_errors(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    char options[1024];
    sl_json *j = result_of(t, &h, "fit",
                           options_of(t, options, sizeof options,
                                      "\"formula\":\"y = a*exp(-k*t) + c\",\"group\":\"group\""));
    SL_CHECK(t, strncmp(output_of(&h), "y = ", 4) == 0, "%s", output_of(&h));
    const sl_json *first = sl_io_json_at(sl_io_json_get(j, "formulas"), 0),
                  *constants = sl_io_json_get(first, "constants");
    assert_int_equal(sl_io_json_count(constants), 3);
    const sl_json *k = sl_io_json_at(constants, 1);
    assert_string_equal(sl_io_json_get_text(k, "name", ""), "k");
    assert_string_equal(sl_io_json_get_text(k, "unit", ""), "s^-1");
    SL_CHECK(t, sl_io_json_get_real(k, "error", NAN) > 0, "no error");
    assert_int_equal(sl_io_json_count(sl_io_json_get(j, "groups")), 2);
    SL_CHECK(t, sl_io_json_get_real(sl_io_json_get(j, "group_test"), "p", NAN) < 0.05,
             "groups do not differ");
    sl_io_json_free(j);
    log_clear(&h);
}

static sl_status quietly(const char *options) { return quiet_status("fit", options); }

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    char options[1024];
    options_of(t, options, sizeof options,
               "\"formula\":\"a*exp(-k*t) + c\",\"group\":\"group\",\"compare\":\"a + b*t\","
               "\"bounds\":\"c=0:\"");
    SL_EACH_ALLOCATION(t, quietly(options));
    options_of(t, options, sizeof options, "\"formula\":\"a*t + c\",\"format\":\"numpy\"");
    SL_EACH_ALLOCATION(t, quietly(options));
}

static void a_cancelled_call_leaks_nothing(void **state) {
    sl_fixture *t = *state;
    char options[1024];
    options_of(t, options, sizeof options, "\"formula\":\"a*exp(-k*t) + c\"");
    for (int n = 0; n < 12; n++) {
        event_log h = { .stop_after = n + 1 };
        char *result = NULL;
        const sl_status st = symlaw_command("fit", options, log_event, &h, &result);
        SL_CHECK(t, st == SL_OK || st == SL_ECANCEL, "event %d: %d", n, st);
        symlaw_string_free(result);
        log_clear(&h);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_result_has_constants_with_errors),
        SL_TEST(lack_of_memory_is_reported),
        SL_TEST(a_cancelled_call_leaks_nothing),
    };
    return sl_test_main("commands.fit", tests, SL_LEN(tests));
}
