/* eval and bench sample through the one call: results, memory that runs out, stops at every event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands_test.h"

#define TINY                                                                         \
    "\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":4,\"batch\":2," \
    "\"lanes\":2,\"valid-pairs\":0,\"threads\":1"

/* A run of a few steps, once for all tests. */
static const char *model(sl_fixture *t) {
    static char folder[256];
    char options[512];
    if (*folder) return folder;
    snprintf(folder, sizeof folder, "%s", sl_test_path("run"));
    snprintf(options, sizeof options, "{" TINY ",\"steps\":3,\"out\":\"%s\"}", folder);
    SL_MUST(t, quiet_status("train", options));
    return folder;
}

static const char *pairs_file(void) {
    static const char lines[] =
        "{\"id\":\"a\",\"x\":[[1,2,3,4]],\"y\":[2,3,4,5],\"expr\":\"x1 + 1\"}\n"
        "{\"id\":7,\"x\":[[1,2,3,4],[4,3,1,1]],\"y\":[4,6,3,4]}\n";
    return sl_test_write_text(sl_test_path("pairs.jsonl"), lines);
}

static const char *options_of(char out[768], sl_fixture *t, const char *more) {
    snprintf(out, 768, "{\"model\":\"%s\",\"samples\":4,\"seeds\":2,\"threads\":1%s}", model(t),
             more);
    return out;
}

static void figures_of_a_split(void **state) {
    sl_fixture *t = *state;
    char options[768];
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "eval", options_of(options, t, ",\"limit\":5,\"json\":true"));
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "judgements")), 10);
    assert_int_equal(sl_io_json_int(sl_io_json_get(sl_io_json_get(j, "problems"), "count")), 5);
    const sl_json *exact = sl_io_json_get(sl_io_json_get(j, "all"), "exact");
    assert_int_equal(sl_io_json_int(sl_io_json_get(exact, "n")), 10);
    assert_int_equal(sl_io_json_count(sl_io_json_get(exact, "seeds")), 2);
    // the result that is printed is the one that is handed back
    assert_true(strstr(output_of(&h), "\"judgements\":10"));
    sl_io_json_free(j);
    log_clear(&h);
}

/* The same work from the beginning each time: what an earlier failure left must not help. */
static sl_status with_predictions(const char *options, const char *predictions) {
    char part[512];
    snprintf(part, sizeof part, "%s.part", predictions);
    unlink(part);
    unlink(predictions);
    const sl_status st = quiet_status("eval", options);
    char *text = NULL;
    size_t n;
    if (st == SL_OK || access(predictions, F_OK) != 0) return st;
    // whole or not at all: the last thing that may fail is to make sure that it outlives a crash
    sl_mem_fail_at(0, false);
    assert_int_equal(sl_file_read(&text, &n, predictions, 1 << 20), SL_OK);
    int lines = 0;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    sl_free(text);
    assert_int_equal(lines, 2);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    char more[600], options[768], predictions[256];
    snprintf(predictions, sizeof predictions, "%s", sl_test_path("found.jsonl"));
    snprintf(more, sizeof more, ",\"pairs\":\"%s\",\"predictions\":\"%s\"", pairs_file(),
             predictions);
    options_of(options, t, more);
    SL_EACH_ALLOCATION(t, with_predictions(options, predictions));

    SL_EACH_ALLOCATION(t, quiet_status("bench",
                                       "{\"what\":\"sample\",\"width\":8,\"layers\":1,\"points\":2,"
                                       "\"samples\":3,\"tokens\":3,\"steps\":1,\"threads\":1}"));
}

/* Of a split, what comes before the judging: the set is for universe/ to stand, and takes long. */
static void a_split_may_lack_memory(void **state) {
    sl_fixture *t = *state;
    char options[768];
    options_of(options, t, ",\"limit\":1");
    for (int n = 1; n <= 60; n++) {
        const int64_t blocks = sl_mem_blocks();
        sl_mem_fail_at(n, false);
        const sl_status st = symlaw_command("eval", options, NULL, NULL, NULL);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, st == SL_ENOMEM, "allocation %d: %d, %s", n, st, sl_last_error());
        SL_CHECK(t, sl_mem_blocks() == blocks, "allocation %d leaks", n);
    }
    SL_MUST(t, symlaw_command("eval", options, NULL, NULL, NULL));
}

static void stops_when_cancelled(void **state) {
    sl_fixture *t = *state;
    char options[768];
    stops_at_every_event(t, "eval", options_of(options, t, ",\"limit\":3"));
    stops_at_every_event(t, "bench",
                         "{\"what\":\"sample\",\"width\":8,\"layers\":1,\"points\":2,\"samples\":3,"
                         "\"tokens\":3,\"steps\":2,\"threads\":1}");
}

/* A disk that is full while predictions are written: they are not there, the journal is. */
static void a_full_disk(void **state) {
    sl_fixture *t = *state;
    char more[600], options[768], predictions[256], part[300];
    snprintf(predictions, sizeof predictions, "%s", sl_test_path("full.jsonl"));
    snprintf(part, sizeof part, "%s.part", predictions);
    snprintf(more, sizeof more, ",\"pairs\":\"%s\",\"predictions\":\"%s\"", pairs_file(),
             predictions);
    options_of(options, t, more);
    int failed = 0, reported = 0;
    for (int n = 1; n < 100; n++) {
        event_log h = { 0 };
        sl_file_fail_at(n);
        const sl_status st = symlaw_command("eval", options, log_event, &h, NULL);
        sl_file_fail_at(0);
        reported += st != SL_OK && strstr(output_of(&h), "Acc_solved") &&
                    !strstr(output_of(&h), predictions);
        log_clear(&h);
        if (st == SL_OK) break;
        assert_int_equal(st, SL_EIO);
        assert_int_not_equal(access(predictions, F_OK), 0);
        failed++;
    }
    SL_CHECK(t, failed >= 3, "%d writes failed", failed);
    // when it is the predictions' turn, the figures are there all the same
    SL_CHECK(t, reported >= 1, "figures with %d failures", reported);
    assert_int_equal(access(predictions, F_OK), 0);
    assert_int_not_equal(access(part, F_OK), 0);
}

static void wrong_budgets_are_refused(void **state) {
    sl_fixture *t = *state;
    static const sl_test_wrong cases[] = {
        { ",\"budgets\":\"1,x\"", SL_EINVAL, "--budgets" },
        { ",\"budgets\":\"0\"", SL_EINVAL, "--budgets" },
        { ",\"budgets\":\"2,1\"", SL_EINVAL, "--budgets must grow: 1 comes after 2" },
        { ",\"budgets\":\"1\",\"timeout\":2", SL_EINVAL, "leave out --timeout" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char options[768];
        SL_REFUSED(t, quiet_status("eval", options_of(options, t, cases[i].options)), &cases[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(figures_of_a_split),        //
        SL_TEST(every_allocation_may_fail), //
        SL_TEST(a_split_may_lack_memory),   //
        SL_TEST(stops_when_cancelled),      //
        SL_TEST(a_full_disk),
        SL_TEST(wrong_budgets_are_refused),
    };
    setenv("SYMLAW_CACHE", "off", 1); // a set from there takes other allocations
    return sl_test_main("api.eval", tests, SL_LEN(tests));
}
