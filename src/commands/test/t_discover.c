/* The command `discover` by the public call: what it finds, prints and writes, and what it refuses.
 */
#include <math.h>

#include "commands/commands_test.h"

#define ENERGY "\"file\":\"examples/energy.csv\",\"search\":\"exhaustive\""

static const char *text_of(const sl_json *j, const char *name) {
    return sl_io_json_get_text(j, name, "(none)");
}

/* Values of the formula that was found are the target's, whatever its terms are called. */
static void the_result_holds_the_law(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "discover", "{" ENERGY ",\"json\":true,\"top\":3}");
    SL_CHECK(t, strncmp(output_of(&h), "{\"exit\":0,", 10) == 0, "%.80s", output_of(&h));
    SL_CHECK(t, sl_io_json_get_real(j, "r2", 0) > 1 - 1e-9, "R2 %g",
             sl_io_json_get_real(j, "r2", 0));
    SL_CHECK(t, sl_io_json_get_bool(j, "within_noise", false), "the law is not taken for one");
    const sl_json *data = sl_io_json_get(j, "data");
    assert_string_equal(text_of(data, "target"), "E");
    assert_int_equal(sl_io_json_get_int(data, "rows", 0), 40);
    assert_int_equal(sl_io_json_count(sl_io_json_get(data, "inputs")), 3);
    const sl_json *list = sl_io_json_get(j, "candidates"), *best = sl_io_json_at(list, 0);
    assert_in_range(sl_io_json_count(list), 1, 3);
    assert_string_equal(text_of(best, "formula"), text_of(j, "formula"));
    assert_string_equal(text_of(best, "source"), "search");
    SL_CHECK(t, strstr(text_of(best, "python"), "x1"), "%s", text_of(best, "python"));
    const sl_json *bits = sl_io_json_get(best, "bits");
    const double parts =
        sl_io_json_get_real(bits, "structure", NAN) + sl_io_json_get_real(bits, "numbers", NAN) +
        sl_io_json_get_real(bits, "constants", NAN) + sl_io_json_get_real(bits, "data", NAN);
    SL_CHECK(t, fabs(parts - sl_io_json_get_real(bits, "total", NAN)) < 1e-6, "bits: %g", parts);
    const sl_json *search = sl_io_json_get(j, "search");
    SL_CHECK(t, sl_io_json_get_int(search, "tried", 0) > 0, "nothing was tried");
    const sl_json *counts = sl_io_json_get(j, "counts");
    assert_int_equal(sl_io_json_get_int(counts, "samples", -1), 0);
    SL_CHECK(t, sl_io_json_get_int(counts, "ranked", 0) >= sl_io_json_count(list), "ranked");
    sl_io_json_free(j);
    log_clear(&h);
}

/* The table for people has the law, units of the columns and the front. */
static void the_table_begins_with_the_formula(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "discover", "{" ENERGY "}");
    static const char law[] = "E = m*v^2/2 + 9.81*m*h\n";
    SL_CHECK(t, strncmp(output_of(&h), law, sizeof law - 1) == 0, "%s", output_of(&h));
    SL_CHECK(t, strstr(output_of(&h), "9.81 m s^-2"), "no unit of the constant:\n%s",
             output_of(&h));
    SL_CHECK(t, lines_of(&h) > 5, "%s", output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);

    j = result_of(t, &h, "discover", "{" ENERGY ",\"all\":true,\"baseline\":\"on\"}");
    SL_CHECK(t, count_of(output_of(&h), "baseline") >= 2, "no baselines among all:\n%s",
             output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);
}

/* A formula to paste is one line in the names of the columns. */
static void formats_print_the_formula_alone(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *format, *has;
    } cases[] = { { "python", "m" }, { "latex", "v" }, { "infix", "h" }, { "sympy", "x1" } };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        char options[256];
        snprintf(options, sizeof options, "{" ENERGY ",\"format\":\"%s\"}", cases[i].format);
        sl_json *j = result_of(t, &h, "discover", options);
        SL_CHECK(t, strstr(output_of(&h), cases[i].has) && lines_of(&h) <= 4, "%s: %s",
                 cases[i].format, output_of(&h));
        sl_io_json_free(j);
        log_clear(&h);
    }
}

static char *file_text(sl_fixture *t, const char *path) {
    char *text = NULL;
    size_t n;
    SL_MUST(t, sl_file_read(&text, &n, path, 1 << 24));
    return text;
}

/* Every candidate is a row; the picture is SVG, the page is HTML. */
static void files_beside_are_written(void **state) {
    sl_fixture *t = *state;
    char options[1024], csv[256], svg[256], page[256];
    snprintf(csv, sizeof csv, "%s", sl_test_path("all.csv"));
    snprintf(svg, sizeof svg, "%s", sl_test_path("fit.svg"));
    snprintf(page, sizeof page, "%s", sl_test_path("fit.html"));
    event_log h = { 0 };
    snprintf(options, sizeof options,
             "{" ENERGY ",\"candidates\":\"%s\",\"plot\":\"%s\",\"json\":true}", csv, svg);
    sl_json *j = result_of(t, &h, "discover", options);
    const int64_t count = sl_io_json_get_int(sl_io_json_get(j, "counts"), "candidates", 0);
    char *text = file_text(t, csv);
    SL_CHECK(t, count_of(text, "\n") == count + 1, "%d lines of %lld candidates",
             count_of(text, "\n"), (long long)count);
    sl_free(text);
    text = file_text(t, svg);
    SL_CHECK(t, strncmp(text, "<svg", 4) == 0 && count_of(text, "<circle") >= 40, "%.200s", text);
    sl_free(text);
    sl_io_json_free(j);
    snprintf(options, sizeof options, "{" ENERGY ",\"plot\":\"%s\",\"json\":true}", page);
    j = result_of(t, &h, "discover", options);
    text = file_text(t, page);
    SL_CHECK(t, strstr(text, "<html") && strstr(text, "<math"), "%.200s", text);
    sl_free(text);
    sl_io_json_free(j);
    log_clear(&h);
}

/* What a page draws: rows of the table, and the slope of the formula. */
static void values_and_a_derivative_are_in_the_result(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "discover",
                           "{" ENERGY ",\"values\":7,\"derivative\":\"h\",\"json\":true}");
    const sl_json *values = sl_io_json_get(sl_io_json_get(j, "data"), "values");
    const sl_json *x = sl_io_json_get(values, "x");
    assert_int_equal(sl_io_json_get_int(values, "of", 0), 40);
    assert_int_equal(sl_io_json_count(x), 3);
    assert_int_equal(sl_io_json_count(sl_io_json_at(x, 2)), 7);
    assert_int_equal(sl_io_json_count(sl_io_json_get(values, "y")), 7);
    const sl_json *slope = sl_io_json_get(j, "derivative");
    assert_string_equal(text_of(slope, "input"), "h");
    assert_string_equal(text_of(slope, "formula"), "9.81*m");
    sl_io_json_free(j);
    log_clear(&h);
}

/* One input of the three does not explain the energy: nothing is claimed to be exact. */
static void noise_and_rows_kept_aside_are_used(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "discover",
                           "{" ENERGY ",\"inputs\":\"h (m)\",\"effort\":\"low\",\"holdout\":0.25,"
                           "\"sigma\":\"5\",\"json\":true,\"max-size\":5}");
    SL_CHECK(t, !sl_io_json_get_bool(j, "within_noise", true), "a law of h alone: %s",
             text_of(j, "formula"));
    assert_int_equal(sl_io_json_get_int(sl_io_json_get(j, "counts"), "rows_held", 0), 10);
    assert_int_equal(sl_io_json_get_int(sl_io_json_get(j, "counts"), "rows_fit", 0), 30);
    SL_CHECK(t, sl_io_json_get_real(j, "r2", 1) < 0.99, "R2 %g", sl_io_json_get_real(j, "r2", 1));
    sl_io_json_free(j);
    log_clear(&h);
}

static void wrong_use_is_explained(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *options, *says;
    } cases[] = {
        { "{}", "missing input file" },
        { "{\"file\":\"examples/no_such.csv\"}", "no_such.csv" },
        { "{" ENERGY ",\"target\":\"Energy\"}", "Energy" },
        { "{" ENERGY ",\"inputs\":\"m,w\"}", "w" },
        { "{" ENERGY ",\"separator\":\"ab\"}", "--separator" },
        { "{" ENERGY ",\"sigma\":\"-1\"}", "sigma" },
        { "{" ENERGY ",\"plot\":\"fit.gif\"}", "fit.gif" },
        { "{" ENERGY ",\"units\":\"m=furlong\"}", "furlong" },
        { "{" ENERGY ",\"ops\":\"sqr\"}", "sqr" },
        { "{" ENERGY ",\"derivative\":\"w\"}", "--derivative" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        char *result = NULL;
        const sl_status st = symlaw_command("discover", cases[i].options, log_event, &h, &result);
        SL_CHECK(t, st != SL_OK && !result && strstr(symlaw_last_error(), cases[i].says),
                 "%s: %d, %s", cases[i].options, st, symlaw_last_error());
        log_clear(&h);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_result_holds_the_law),
        SL_TEST(the_table_begins_with_the_formula),
        SL_TEST(formats_print_the_formula_alone),
        SL_TEST(files_beside_are_written),
        SL_TEST(noise_and_rows_kept_aside_are_used),
        SL_TEST(wrong_use_is_explained),
        SL_TEST(values_and_a_derivative_are_in_the_result),
    };
    return sl_test_main("commands.discover", tests, SL_LEN(tests));
}
