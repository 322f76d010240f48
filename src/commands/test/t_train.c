/* train, info and bench through the one call: results, memory that runs out, stops at every event.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands_impl.h"
#include "commands/commands_test.h"

#define TINY                                                                         \
    "\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":4,\"batch\":2," \
    "\"lanes\":2,\"valid-pairs\":2,\"threads\":1"

static const char *run_options(char out[512], const char *folder, const char *more) {
    snprintf(out, 512, "{" TINY ",\"steps\":3,\"out\":\"%s\"%s}", folder, more);
    return out;
}

static double real_of(const sl_json *j, const char *name) {
    return sl_io_json_real(sl_io_json_get(j, name));
}

static void info_describes_a_run(void **state) {
    sl_fixture *t = *state;
    const char *folder = sl_test_path("reported");
    char options[512], ask[256];
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "train", run_options(options, folder, ",\"json\":true"));
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "step")), 3);
    assert_int_equal(sl_io_json_kind_of(sl_io_json_get(j, "resumed_at")), SL_JSON_NULL);
    assert_true(strstr(sl_str_text(&h.notes), "parameters"));

    sl_json *plan = result_of(t, &h, "info", "{" TINY ",\"steps\":3,\"json\":true}");
    assert_true(real_of(plan, "parameters") == real_of(j, "parameters"));
    snprintf(ask, sizeof ask, "{\"model\":\"%s\",\"tensors\":true}",
             sl_io_json_text(sl_io_json_get(j, "checkpoint")));
    sl_json *file = result_of(t, &h, "info", ask);
    assert_true(real_of(file, "parameters") == real_of(j, "parameters"));
    snprintf(ask, sizeof ask, "{\"run\":\"%s\"}", folder);
    sl_json *run = result_of(t, &h, "info", ask);
    assert_true(sl_io_json_bool(sl_io_json_get(run, "finished")));
    assert_true(real_of(run, "loss") == real_of(j, "loss"));
    sl_io_json_free(run);
    sl_io_json_free(file);
    sl_io_json_free(plan);
    sl_io_json_free(j);
    log_clear(&h);
}

/* A share above 1 is not reported, whatever was measured. */
static void a_share_of_the_peak_is_at_most_1(void **state) {
    sl_fixture *t = *state;
    assert_true(sl_report_peak_share(1e9, 4e9) == 0.25);
    assert_true(sl_report_peak_share(4e9, 4e9) == 1);
    static const double bad[][2] = {
        { 4.001e9, 4e9 }, { 1e9, 0 }, { 0, 0 }, { NAN, 1e9 }, { 1e9, NAN }
    };
    for (int i = 0; i < SL_LEN(bad); i++)
        SL_CHECK(t, isnan(sl_report_peak_share(bad[i][0], bad[i][1])), "%g of %g", bad[i][0],
                 bad[i][1]);
    // products of every kind, on each number of threads
    for (int threads = 1; threads <= 3; threads++) {
        sl_pool *pool;
        double rate = 0;
        SL_MUST(t, sl_par_pool_new(&pool, threads));
        SL_MUST(t, sl_commands__gemm_rate(&rate, pool, 32, 0));
        assert_true(rate > 0 && isfinite(rate));
        sl_par_pool_free(pool);
    }
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const char *folder = sl_test_path("faults");
    char options[512], ask[256];
    SL_MUST(t, quiet_status("train", run_options(options, folder, "")));
    snprintf(ask, sizeof ask, "{\"run\":\"%s\"}", folder);
    SL_EACH_ALLOCATION(t, quiet_status("info", ask));
    snprintf(ask, sizeof ask, "{\"model\":\"%s/model-00000003.safetensors\",\"tensors\":true}",
             folder);
    SL_EACH_ALLOCATION(t, quiet_status("info", ask));
    SL_EACH_ALLOCATION(t, quiet_status("info", "{" TINY ",\"tensors\":true,\"tokens\":9}"));

    // of a run, what comes before it begins: the rest is for train/ to stand, and takes long
    run_options(options, folder, ",\"resume\":true");
    for (int n = 1; n <= 40; n++) {
        const int64_t blocks = sl_mem_blocks();
        sl_mem_fail_at(n, false);
        const sl_status st = symlaw_command("train", options, NULL, NULL, NULL);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, st == SL_ENOMEM, "allocation %d: %d, %s", n, st, sl_last_error());
        SL_CHECK(t, sl_mem_blocks() == blocks, "allocation %d leaks", n);
    }
    SL_MUST(t, symlaw_command("train", options, NULL, NULL, NULL));
}

static void a_run_is_not_resumed_with_other_options(void **state) {
    sl_fixture *t = *state;
    const char *folder = sl_test_path("resumed");
    char options[512];
    static const sl_test_wrong cases[] = {
        { ",\"resume\":true,\"lr\":0.5", SL_EINVAL, "--lr is 0.5, but the run in " },
        { ",\"resume\":true,\"seed\":9", SL_EINVAL, "--seed is 9, but the run in " },
        { ",\"resume\":true,\"max-memory\":1e-6", SL_ELIMIT, "and --max-memory allows 1e-06" },
    };
    SL_MUST(t, quiet_status("train", run_options(options, folder, "")));
    for (int i = 0; i < SL_LEN(cases); i++)
        SL_REFUSED(t, quiet_status("train", run_options(options, folder, cases[i].options)),
                   &cases[i]);
    SL_MUST(t, quiet_status("train", run_options(options, folder, ",\"resume\":true")));
}

static void bench_stops_when_cancelled(void **state) {
    (void)state;
    event_log h = { .stop_after = 3 };
    char *result = NULL;
    assert_int_equal(symlaw_command("bench",
                                    "{\"what\":\"gemm\",\"width\":8,\"layers\":1,\"points\":2,"
                                    "\"batch\":2,\"lanes\":1,\"steps\":1,\"threads\":1}",
                                    log_event, &h, &result),
                     SL_ECANCEL);
    assert_null(result);
    assert_int_equal(h.events, 3);
    log_clear(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(info_describes_a_run),       SL_TEST(a_share_of_the_peak_is_at_most_1),
        SL_TEST(every_allocation_may_fail),  SL_TEST(a_run_is_not_resumed_with_other_options),
        SL_TEST(bench_stops_when_cancelled),
    };
    setenv("SYMLAW_CACHE", "off", 1); // a set from there takes other allocations
    // jansson's memory is not made to fail here: where it cannot enlarge the buffer of a token, as
    // texts of a configuration need, version 2.14 drops characters and then writes past what it has
    return sl_test_main("api.train", tests, SL_LEN(tests));
}
