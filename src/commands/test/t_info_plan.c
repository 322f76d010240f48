/* info of a plan through the one call: figures, memory that runs out, a stop while steps are timed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands_test.h"

static const char plan[] =
    "{\"name\":\"tiny\",\"train\":{\"depth\":1,\"ops\":\"+,*\",\"points\":4,\"lanes\":2},"
    "\"sizes\":[{\"width\":8,\"layers\":1},{\"width\":16,\"layers\":1,\"sweep\":{\"batch\":4,"
    "\"lr\":1e-3}}],"
    "\"sweep\":{\"batch\":[2,4],\"lr\":[1e-3,2e-3,4e-3],\"ratio\":5},\"scale\":{\"ratios\":[5,10],"
    "\"seeds\":[0,1]}}";

static const char *ask(char out[512], const char *more) {
    const char *path = sl_test_write_text(sl_test_path("plan.json"), plan);
    snprintf(out, 512, "{\"plan\":\"%s\",\"json\":true,\"threads\":1%s}", path, more);
    return out;
}

static double real_of(const sl_json *j, const char *name) {
    return sl_io_json_real(sl_io_json_get(j, name));
}

/* A grid of one point is not swept; a run of both phases is made once. */
static void runs_and_sums_are_those_of_the_plan(void **state) {
    sl_fixture *t = *state;
    char options[512];
    event_log h = { 0 };
    sl_json *j = result_of(t, &h, "info", ask(options, ",\"rate\":1e9,\"tokens\":9,\"ranks\":2"));
    const sl_json *p = sl_io_json_get(j, "plan"), *sizes = sl_io_json_get(p, "sizes");
    const sl_json *a = sl_io_json_at(sizes, 0), *b = sl_io_json_at(sizes, 1);
    assert_int_equal(sl_io_json_int(sl_io_json_get(sl_io_json_get(a, "sweep"), "runs")), 6);
    assert_int_equal(sl_io_json_int(sl_io_json_get(sl_io_json_get(b, "sweep"), "runs")), 0);
    assert_int_equal(sl_io_json_int(sl_io_json_get(p, "runs_sweep")), 6);
    assert_int_equal(sl_io_json_int(sl_io_json_get(p, "runs_scale")), 3 + 4);
    assert_int_equal(sl_io_json_int(sl_io_json_get(p, "runs_grown")), 6 * 7 - 6);
    double flops = 6 * real_of(sl_io_json_get(a, "sweep"), "flops_run");
    const double left[2][2] = { { 1, 2 }, { 2, 2 } };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            flops += left[i][k] *
                     real_of(sl_io_json_at(sl_io_json_get(sl_io_json_at(sizes, i), "scale"), k),
                             "flops");
    SL_CHECK(t, fabs(real_of(p, "flops") / flops - 1) < 1e-12, "%g FLOPs, not %g",
             real_of(p, "flops"), flops);
    SL_CHECK(t, fabs(real_of(p, "seconds") * 2e9 / flops - 1) < 1e-12, "%g s",
             real_of(p, "seconds"));
    sl_io_json_free(j);
    log_clear(&h);
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    char options[512];
    ask(options, ",\"rate\":1e9,\"tokens\":9");
    SL_EACH_ALLOCATION(t, quiet_status("info", options));
}

static void it_stops_while_steps_are_timed(void **state) {
    sl_fixture *t = *state;
    char options[512], *result = NULL;
    event_log h = { .stop_after = 2 };
    SL_CHECK(t,
             symlaw_command("info", ask(options, ",\"tokens\":9"), log_event, &h, &result) ==
                 SL_ECANCEL,
             "%s", sl_last_error());
    assert_null(result);
    log_clear(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        SL_TEST(runs_and_sums_are_those_of_the_plan),
        SL_TEST(every_allocation_may_fail),
        SL_TEST(it_stops_while_steps_are_timed),
    };
    setenv("SYMLAW_CACHE", "off", 1);
    return sl_test_main("api.info_plan", tests, SL_LEN(tests));
}
