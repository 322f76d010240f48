/* The command `pairs` on files that others made. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands_test.h"

static sl_json *run(sl_fixture *t, event_log *h, const char *options) {
    return result_of(t, h, "pairs", options);
}

/* The same where only the output counts. */
static void print(sl_fixture *t, event_log *h, const char *options) {
    sl_io_json_free(run(t, h, options));
}

static const char *written(sl_fixture *t, const char *text) {
    const char *path = sl_test_path("given.jsonl");
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, text, strlen(text)));
    SL_MUST(t, sl_file_commit(&f));
    return path;
}

static sl_json *check_file(sl_fixture *t, event_log *h, const char *text, const char *more) {
    char options[700];
    snprintf(options, sizeof options, "{\"from\":\"%s\"%s}", written(t, text), more);
    return run(t, h, options);
}

static int64_t number(const sl_json *j, const char *name) {
    const sl_json *v = sl_io_json_get(j, name);
    return v ? sl_io_json_int(v) : -1;
}

#define GOOD "{\"x\":[[1,2,3],[4,5,6]],\"y\":[5,7,9],\"expr\":\"x1 + x2\"}\n"

static void bad_lines_are_named(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = check_file(t, &h,
                            GOOD "\n  \n"                                    // 1; blank lines
                                 "{\"x\":[[1,2],[3,4]],\"y\":[1]}\n"         // 4
                                 "not JSON\n"                                // 5
                                 "{\"x\":[[1,1],[2,2],[3,3]],\"y\":[1,2]}\n" // 6
                                 "{\"x\":[[1,2]],\"y\":[1,NaN]}\n"           // 7
                            GOOD,                                            // 8
                            "");
    char line[1024];
    static const int bad[] = { 4, 5, 6, 7 };
    for (int i = 0; i < SL_LEN(bad); i++) {
        snprintf(line, sizeof line, "given.jsonl:%d: ", bad[i]);
        SL_CHECK(t, count_of(output_of(&h), line) == 1, "no %s in %s", line, output_of(&h));
    }
    assert_int_equal(lines_of(&h), 5);
    assert_non_null(
        strstr(output_of(&h), ": 6 lines, 2 good, 4 bad; 3 points, 2 columns; 2 with expr\n"));
    assert_int_equal(number(j, "exit"), 1);
    assert_int_equal(number(j, "lines"), 6);
    assert_int_equal(number(j, "good"), 2);
    assert_int_equal(number(j, "bad"), 4);
    assert_int_equal(number(j, "noted"), 0);
    assert_int_equal(number(j, "points_min"), 3);
    assert_int_equal(number(j, "columns_max"), 2);
    const sl_json *problems = sl_io_json_get(j, "problems");
    assert_int_equal(sl_io_json_count(problems), 4);
    assert_int_equal(number(sl_io_json_at(problems, 3), "line"), 7);
    sl_io_json_free(j);
    log_clear(&h);

    // a terminal must not obey what the file says
    j = check_file(t, &h,
                   "{\"x\":[[1,2]],\"y\":[1,2],\"expr\":\"x1 \\u001b[31m\"}\n"
                   "{\"a\xc2\x9b\":1,\"a\xc2\x9b\":1}\n\033\n",
                   "");
    assert_int_equal(number(j, "bad"), 3);
    SL_CHECK(t, !strpbrk(output_of(&h), "\033\x9b"), "a control in %s", output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);

    // three columns are fine where there are three variables
    j = check_file(t, &h, "{\"x\":[[1,1],[2,2],[3,3]],\"y\":[1,2]}\n", ",\"variables\":3");
    SL_CHECK(t, number(j, "exit") == 0, "%s", output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);
}

static void a_good_file_is_accepted(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = check_file(t, &h, GOOD GOOD "{\"x\":[[1,2]],\"y\":[1,3]}", "");
    assert_int_equal(number(j, "exit"), 0);
    assert_int_equal(lines_of(&h), 1);
    assert_non_null(strstr(
        output_of(&h), ": 3 lines, 3 good, 0 bad; 2 to 3 points, 1 to 2 columns; 2 with expr\n"));
    sl_io_json_free(j);
    log_clear(&h);

    j = check_file(t, &h, GOOD "{", ",\"json\":true");
    assert_int_equal(number(j, "exit"), 1);
    assert_int_equal(lines_of(&h), 1); // the result, and no text
    assert_int_equal(output_of(&h)[0], '{');
    sl_io_json_free(j);
    log_clear(&h);

    j = check_file(t, &h, "\n\n", ""); // nothing to be good
    assert_int_equal(number(j, "exit"), 1);
    sl_io_json_free(j);
    log_clear(&h);
}

static void what_is_odd_is_noted(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *line, *says; // "" : nothing
    } cases[] = {
        { GOOD, "" },
        { "{\"x\":[[1,2,3]],\"y\":[1,2,3.1],\"expr\":\"x1\"}",
          ":1: note: expr gives 3 where y is 3.1 (point 3 of 3)\n" },
        { "{\"x\":[[1,2,3]],\"y\":[1,2.2,3.1],\"expr\":\"x1\"}", // the worst one is reported
          ":1: note: expr gives 2 where y is 2.2 (point 2 of 3)\n" },
        { "{\"x\":[[1,2,3]],\"y\":[1,2,3.000001],\"expr\":\"x1\"}", "" }, // below 1e-6 of 3
        { "{\"x\":[[1,2,3]],\"y\":[1,2,3.000009],\"expr\":\"x1\"}", ":1: note: expr gives " },
        { "{\"x\":[[1,-2,3]],\"y\":[1,2,3],\"expr\":\"sqrt(x1)\"}",
          ":1: note: expr has no real value where y is 2 (point 2 of 3)\n" },
        { "{\"x\":[[0,1]],\"y\":[1,0.54030230586813977],\"expr\":\"cos(x1)\"}",
          ":1: note: expr cannot be written as tokens: " },
        { "{\"x\":[[1,2,3]],\"y\":[4,4,4]}", ":1: note: y is the same at all points\n" },
        { "{\"x\":[[1e200,2]],\"y\":[1,2],\"expr\":\"exp(x1)\"}", ":1: note: expr gives inf" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        sl_json *j = check_file(t, &h, cases[i].line, "");
        const bool noted = *cases[i].says;
        SL_CHECK(t, number(j, "exit") == 0 && number(j, "bad") == 0, "%s: %s", cases[i].line,
                 output_of(&h));
        SL_CHECK(t, number(j, "noted") == noted && strstr(output_of(&h), cases[i].says), "%s: %s",
                 cases[i].line, output_of(&h));
        SL_CHECK(t, sl_io_json_count(sl_io_json_get(j, "notes")) == noted, "%s", cases[i].line);
        sl_io_json_free(j);
        log_clear(&h);
    }
}

static void only_so_many_are_shown(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_str text = { 0 };
    for (int i = 0; i < 30; i++) sl_str_add(&text, "{}\n");
    for (int i = 0; i < 25; i++) sl_str_add(&text, "{\"x\":[[1,2]],\"y\":[7,9],\"expr\":\"x1\"}\n");
    sl_json *j = check_file(t, &h, sl_str_text(&text), "");
    assert_int_equal(count_of(output_of(&h), "note: "), 20);
    assert_int_equal(count_of(output_of(&h), "given.jsonl:"), 41); // the summary too
    assert_non_null(strstr(output_of(&h), "\nand 10 more bad lines\nand 5 more notes\n"));
    assert_int_equal(number(j, "bad"), 30);
    assert_int_equal(sl_io_json_count(sl_io_json_get(j, "problems")), 20);
    sl_io_json_free(j);
    log_clear(&h);
    j = check_file(t, &h, sl_str_text(&text), ",\"errors\":2");
    assert_int_equal(sl_io_json_count(sl_io_json_get(j, "problems")), 2);
    assert_non_null(strstr(output_of(&h), "\nand 28 more bad lines\n"));
    sl_io_json_free(j);
    log_clear(&h);
    sl_str_clear(&text);
}

/* What is written can be read: all lines good, no notes. */
static void our_own_lines_are_good(void **state) {
    sl_fixture *t = *state;
    event_log made_by_us = { 0 }, h = { 0 };
    print(t, &made_by_us,
          "{\"depth\":2,\"variables\":3,\"points\":9,\"threads\":1,\"count\":300,"
          "\"drop-column\":0.5}");
    sl_json *j = check_file(t, &h, output_of(&made_by_us), ",\"variables\":3");
    SL_CHECK(t, number(j, "exit") == 0 && number(j, "good") == 300 && number(j, "noted") == 0, "%s",
             output_of(&h));
    assert_int_equal(number(j, "with_expr"), 300);
    sl_io_json_free(j);
    log_clear(&made_by_us);
    log_clear(&h);
}

static sl_status quietly(const char *options) { return quiet_status("pairs", options); }

static sl_status quietly_from(const char *path) {
    FILE *f = freopen(path, "r", stdin);
    assert_non_null(f);
    return quietly("{\"from\":\"-\"}");
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    // by standard input: jansson drops a byte of a long text, here the path, when it lacks memory
    const char *path = written(t, GOOD "{\"x\":[[1,2,3]],\"y\":[1,2,3.1],\"expr\":\"x1\"}\n{}\n");
    SL_EACH_ALLOCATION(t, quietly_from(path));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(bad_lines_are_named),    SL_TEST(a_good_file_is_accepted),
        SL_TEST(what_is_odd_is_noted),   SL_TEST(only_so_many_are_shown),
        SL_TEST(our_own_lines_are_good), SL_TEST(lack_of_memory_is_reported),
    };
    setenv("SYMLAW_CACHE", "off", 1); // a set from there takes other allocations and events
    sl_io_json_count_memory();
    return sl_test_main("api.pairs_from", tests, SL_LEN(tests));
}
