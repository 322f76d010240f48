/* The command `fit` by the public call: what it finds, prints and refuses, and every allocation
 * that may fail. What users type is in tests/cli/test_fit.py. */
#include <math.h>
#include <unistd.h>

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

/* Files beside the result: rows with values and residuals, a picture. */
static void lack_of_memory_beside_the_result_is_reported(void **state) {
    sl_fixture *t = *state;
    char options[1024], more[512], rows[256];
    snprintf(rows, sizeof rows, "%s", sl_test_path("rows.csv"));
    snprintf(more, sizeof more,
             "\"formula\":\"y = a*exp(-k*t) + c\",\"fitted\":\"%s\",\"plot\":\"%s\"", rows,
             sl_test_path("fit.svg"));
    options_of(t, options, sizeof options, more);
    SL_EACH_ALLOCATION(t, quietly(options));
    char *text;
    size_t n;
    SL_MUST(t, sl_file_read(&text, &n, rows, 1 << 16));
    SL_CHECK(t, strncmp(text, "group,t (s),y (m),y_fitted,y_residual\na,0,3.1,", 46) == 0, "%s",
             text);
    assert_int_equal(count_of(text, "\n"), 13);
    sl_free(text);
}

/* Groups and fitted rows take a second reading, which a pipe does not give. */
static void a_pipe_is_read_like_a_file(void **state) {
    sl_fixture *t = *state;
    static const char more[] = "\"formula\":\"a*t + c\",\"group\":\"group\",\"format\":\"infix\"";
    char options[1024];
    event_log from_file = { 0 }, from_pipe = { 0 };
    int ends[2];
    sl_json *j = result_of(t, &from_file, "fit", options_of(t, options, sizeof options, more));
    sl_io_json_free(j);
    SL_CHECK(t, pipe(ends) == 0 && write(ends[1], table, sizeof table - 1) == sizeof table - 1,
             "no pipe");
    close(ends[1]);
    snprintf(options, sizeof options, "{\"file\":\"/dev/fd/%d\",%s}", ends[0], more);
    j = result_of(t, &from_pipe, "fit", options);
    close(ends[0]);
    assert_string_equal(output_of(&from_pipe), output_of(&from_file));
    assert_int_equal(sl_io_json_count(sl_io_json_get(j, "groups")), 2);
    sl_io_json_free(j);
    log_clear(&from_file);
    log_clear(&from_pipe);
}

static void constants_that_the_data_do_not_determine_are_named(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *more, *says;
    } cases[] = {
        { "\"formula\":\"a*b*t + c\"", "a and b are not determined each for itself" },
        { "\"formula\":\"a*t + c\",\"bounds\":\"c=20:\"", "c is at a bound" },
        { "\"formula\":\"a*log(-1 - t^2 + 0*b)\"", "no constants were found" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char options[1024], more[256];
        event_log h = { 0 };
        snprintf(more, sizeof more, "%s,\"json\":true", cases[i].more);
        sl_io_json_free(result_of(t, &h, "fit", options_of(t, options, sizeof options, more)));
        SL_CHECK(t, strstr(sl_str_text(&h.notes), cases[i].says), "%s: %s", cases[i].more,
                 sl_str_text(&h.notes));
        log_clear(&h);
    }
}

static void wrong_ways_of_reading_are_refused(void **state) {
    sl_fixture *t = *state;
    static const sl_test_wrong cases[] = {
        { "\"comment\":\"abc\"", SL_EINVAL, "--comment must be auto, none or one to three" },
        { "\"comment\":\"####\"", SL_EINVAL, "--comment must be" },
        { "\"comment\":\"-\"", SL_EINVAL, "--comment must be" },
        { "\"separator\":\"ab\"", SL_EINVAL, "--separator must be" },
        { "\"separator\":\"1\"", SL_EINVAL, "--separator must be" },
        { "\"decimal\":\"dot\"", SL_EINVAL, "--decimal must be one of" },
        { "\"skip\":100", SL_EFORMAT, "" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char options[1024], more[256];
        snprintf(more, sizeof more, "\"formula\":\"a*t\",%s", cases[i].options);
        SL_REFUSED(t, quietly(options_of(t, options, sizeof options, more)), &cases[i]);
    }
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
        SL_TEST(lack_of_memory_beside_the_result_is_reported),
        SL_TEST(a_pipe_is_read_like_a_file),
        SL_TEST(constants_that_the_data_do_not_determine_are_named),
        SL_TEST(wrong_ways_of_reading_are_refused),
        SL_TEST(a_cancelled_call_leaks_nothing),
    };
    return sl_test_main("commands.fit", tests, SL_LEN(tests));
}
