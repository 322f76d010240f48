/* The command `laws` by the public call: events, results, lack of memory. */
#include "commands/commands_test.h"

static void the_table_comes_as_output(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "laws", "{\"file\":\"studies/paper_runs.csv\",\"draws\":5}");
    const sl_json *exponent = sl_io_json_get(sl_io_json_get(j, "solved"), "exponent");
    const double b = sl_io_json_real(sl_io_json_get(exponent, "value"));
    SL_CHECK(t, b > 0.116 && b < 0.12, "%g", b);
    SL_CHECK(t, strncmp(output_of(&h), "0.8 solved needs ", 17) == 0, "%s", output_of(&h));
    sl_io_json_free(j);
    log_clear(&h);
}

/* The page holds its figures; a table that cannot be read or an option that cannot be says why. */
static void a_page_is_written(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    char options[512], *text = NULL;
    size_t n;
    const char *path = sl_test_path("laws.html");
    snprintf(options, sizeof options,
             "{\"file\":\"studies/paper_runs.csv\",\"draws\":3,\"report\":\"%s\",\"json\":true}",
             path);
    sl_io_json_free(result_of(t, &h, "laws", options));
    SL_MUST(t, sl_file_read(&text, &n, path, 1 << 24));
    SL_CHECK(t, strncmp(text, "<!DOCTYPE html>", 15) == 0 && count_of(text, "<figure") >= 5,
             "%.100s, %d figures", text, count_of(text, "<figure"));
    sl_free(text);
    log_clear(&h);
    static const struct {
        const char *options, *says;
    } wrong[] = {
        { "{\"file\":\"studies/no_such.csv\"}", "no_such.csv" },
        { "{\"file\":\"studies/paper_runs.csv\",\"predict\":\"N=-1\"}", "predict" },
        { "{\"file\":\"studies/paper_runs.csv\",\"columns\":\"loss=none\"}", "none" },
    };
    for (int i = 0; i < SL_LEN(wrong); i++) {
        SL_CHECK(t,
                 quiet_status("laws", wrong[i].options) != SL_OK &&
                     strstr(symlaw_last_error(), wrong[i].says),
                 "%s: %s", wrong[i].options, symlaw_last_error());
    }
}

static sl_status quietly(const char *options) { return quiet_status("laws", options); }

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    static const char table[] = "N,D,loss\n1e6,1e8,3\n1e6,4e8,2.8\n4e6,1e8,2.7\n4e6,4e8,2.4\n"
                                "9e6,4e8,2.3\n9e6,9e8,2.1\n";
    char options[512];
    sl_file *f = NULL;
    const char *path = sl_test_path("runs.csv");
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, table, sizeof table - 1));
    SL_MUST(t, sl_file_commit(&f));
    snprintf(options, sizeof options,
             "{\"file\":\"%s\",\"draws\":1,\"budget\":1e20,\"predict\":\"N=1e9,D=1e10\","
             "\"compare\":\"%s\"}",
             path, path);
    SL_EACH_ALLOCATION(t, quietly(options));
    SL_EACH_ALLOCATION(t, quietly("{\"simulate\":true,\"law\":\"sizes=2,ratios=2\"}"));
    SL_EACH_ALLOCATION(t, quietly("{\"simulate\":true,\"law\":\"sizes=1\",\"json\":true}"));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(the_table_comes_as_output),
        SL_TEST(a_page_is_written),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("api.laws", tests, SL_LEN(tests));
}
