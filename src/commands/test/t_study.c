/* study through the one call: stopped at events, without memory, with writes that fail: the same
 * command goes on and comes to the same table. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "commands/commands_test.h"

static const char plan_text[] =
    "{\"name\":\"one\",\"attempts\":9,\"train\":{\"depth\":1,\"ops\":\"+,*\",\"points\":4,"
    "\"layers\":1,"
    "\"lanes\":2,\"valid-pairs\":2,\"dropout\":0,\"attention-dropout\":0},\"sizes\":[{\"width\":8}]"
    ","
    "\"sweep\":{\"ratio\":0.05,\"batch\":[4],\"lr\":[0.004,0.008],\"grow\":0},"
    "\"scale\":{\"ratios\":[0.05,0.1],\"seeds\":[0]},"
    "\"eval\":{\"test\":{\"limit\":2,\"seeds\":1,\"samples\":2}}}";

static const char *plan_path(void) {
    return sl_test_write_text(sl_test_path("plan.json"), plan_text);
}

/* Options for the study in folder <name>; the text is static. */
static const char *options_of(const char *action, const char *name) {
    static char out[1500];
    char plan[600];
    snprintf(plan, sizeof plan, "%s", plan_path());
    if (strcmp(action, "init") == 0)
        snprintf(out, sizeof out, "{\"action\":\"init\",\"path\":\"%s\",\"out\":\"%s\"}", plan,
                 sl_test_path(name));
    else
        snprintf(out, sizeof out, "{\"action\":\"%s\",\"path\":\"%s\",\"threads\":1}", action,
                 sl_test_path(name));
    return out;
}

static void call(sl_fixture *t, const char *action, const char *name) {
    event_log h = { 0 };
    sl_io_json_free(result_of(t, &h, "study", options_of(action, name)));
    log_clear(&h);
}

/* What must not depend on how it was run: each run with its state and its loss; sl_str_clear it. */
static sl_str outcome_of(sl_fixture *t, const char *name) {
    event_log h = { 0 };
    sl_str out = { 0 };
    sl_json *j = result_of(t, &h, "study", options_of("status", name));
    const sl_json *runs = sl_io_json_get(j, "runs");
    for (int i = 0; i < sl_io_json_count(runs); i++) {
        const sl_json *r = sl_io_json_at(runs, i);
        sl_str_addf(&out, "%s %s %a\n", sl_io_json_text(sl_io_json_get(r, "id")),
                    sl_io_json_text(sl_io_json_get(r, "state")),
                    sl_io_json_kind_of(sl_io_json_get(r, "loss_valid")) == SL_JSON_REAL
                        ? sl_io_json_real(sl_io_json_get(r, "loss_valid"))
                        : -1);
    }
    sl_io_json_free(j);
    log_clear(&h);
    return out;
}

static sl_str undisturbed(sl_fixture *t) {
    call(t, "init", "undisturbed");
    call(t, "worker", "undisturbed");
    sl_str want = outcome_of(t, "undisturbed");
    assert_null(strstr(want.text, "waiting"));
    assert_non_null(strstr(want.text, "done"));
    return want;
}

/* Goes on without a disturbance, and compares. */
static void check_goes_on(sl_fixture *t, const char *name, const sl_str *want, int n) {
    call(t, "worker", name);
    sl_str got = outcome_of(t, name);
    SL_CHECK(t, strcmp(got.text, want->text) == 0, "disturbance %d:\n%s\n%s", n, got.text,
             want->text);
    sl_str_clear(&got);
}

static void stopped_at_any_event_it_goes_on(void **state) {
    sl_fixture *t = *state;
    sl_str want = undisturbed(t);
    static const int events[] = { 1, 3, 8, 21, 55, 144 };
    int stopped = 0;
    for (int i = 0; i < SL_LEN(events); i++) {
        char name[40];
        event_log h = { .stop_after = events[i] };
        char *result = NULL;
        snprintf(name, sizeof name, "stopped%d", i);
        call(t, "init", name);
        const sl_status st =
            symlaw_command("study", options_of("worker", name), log_event, &h, &result);
        SL_CHECK(t, st == SL_OK || st == SL_ECANCEL, "%s", sl_last_error());
        if (st == SL_ECANCEL)
            SL_CHECK(t, strstr(sl_last_error(), "the same command continues"), "%s",
                     sl_last_error());
        stopped += st == SL_ECANCEL;
        symlaw_string_free(result);
        log_clear(&h);
        check_goes_on(t, name, &want, events[i]);
    }
    assert_true(stopped > 3);
    sl_str_clear(&want);
}

static void without_memory_it_fails_and_goes_on(void **state) {
    sl_fixture *t = *state;
    sl_str want = undisturbed(t);
    event_log h = { 0 };
    call(t, "init", "counted");
    const int64_t before = sl_mem_calls();
    call(t, "worker", "counted");
    const int64_t calls = sl_mem_calls() - before;
    const int tries = sl_test_iters(t, 8);
    for (int i = 0; i < tries; i++) {
        char name[40], *result = NULL;
        snprintf(name, sizeof name, "memory%d", i);
        call(t, "init", name);
        const char *options = options_of("worker", name);
        const int64_t n = 1 + (int64_t)sl_rng_below(&t->rng, (uint32_t)calls);
        sl_mem_fail_at(n, false);
        const sl_status st = symlaw_command("study", options, log_event, &h, &result);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, st == SL_OK || st == SL_ENOMEM, "allocation %lld: %s", (long long)n,
                 sl_last_error());
        symlaw_string_free(result);
        log_clear(&h);
        check_goes_on(t, name, &want, (int)n);
    }
    sl_str_clear(&want);
}

static void when_any_write_fails_it_goes_on(void **state) {
    sl_fixture *t = *state;
    sl_str want = undisturbed(t);
    int failed = 0;
    for (int n = 1; n < 130; n = 2 * n + 1) {
        char name[40], *result = NULL;
        event_log h = { 0 };
        snprintf(name, sizeof name, "write%d", n);
        call(t, "init", name);
        const char *options = options_of("worker", name);
        sl_file_fail_at(n);
        const sl_status st = symlaw_command("study", options, log_event, &h, &result);
        sl_file_fail_at(0);
        SL_CHECK(t, st == SL_OK || st == SL_EIO, "write %d: %s", n, sl_last_error());
        if (st == SL_EIO)
            SL_CHECK(t, strstr(sl_last_error(), "No space left on device"), "%s", sl_last_error());
        failed += st == SL_EIO;
        symlaw_string_free(result);
        log_clear(&h);
        check_goes_on(t, name, &want, n);
    }
    assert_true(failed > 3);
    sl_str_clear(&want);
}

/* The table and the report: made again after any failure. */
static void a_report_without_memory_fails_and_is_made_again(void **state) {
    sl_fixture *t = *state;
    sl_str want = undisturbed(t);
    event_log h = { 0 };
    for (int i = 0; i < 3; i++) {
        char *result = NULL;
        const char *options = options_of("report", "undisturbed");
        sl_mem_fail_at(1 + (int64_t)sl_rng_below(&t->rng, 400), false);
        const sl_status st = symlaw_command("study", options, log_event, &h, &result);
        sl_mem_fail_at(0, false);
        SL_CHECK(t, st == SL_OK || st == SL_ENOMEM, "%s", sl_last_error());
        symlaw_string_free(result);
        log_clear(&h);
    }
    sl_json *j = result_of(t, &h, "study", options_of("report", "undisturbed"));
    assert_true(sl_io_json_bool(sl_io_json_get(j, "complete")));
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "failed")), 0);
    sl_io_json_free(j);
    log_clear(&h);
    sl_str_clear(&want);
}

static void laws_of_a_folder_without_memory_fail(void **state) {
    sl_fixture *t = *state;
    char options[700];
    sl_str want = undisturbed(t);
    snprintf(options, sizeof options, "{\"file\":\"%s\",\"draws\":1}", sl_test_path("undisturbed"));
    SL_EACH_ALLOCATION(t, quiet_status("laws", options));
    sl_str_clear(&want);
}

/* Each engine describes the workers that it would start, and writes nothing. */
static void a_dry_run_describes_the_workers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *engine, *says;
    } cases[] = {
        { "\"local\",\"workers\":1", "this process works with 1 thread" },
        { "\"local\",\"workers\":2", "symlaw study worker " },
        { "\"mpi\",\"ranks\":2", "mpirun" },
        { "\"slurm\",\"workers\":3", "#SBATCH --array=" },
        { "\"slurm\"", "sbatch" },
    };
    char options[1500], plan[600], folder[600];
    snprintf(plan, sizeof plan, "%s", plan_path());
    snprintf(folder, sizeof folder, "%s", sl_test_path("dry"));
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        snprintf(options, sizeof options,
                 "{\"action\":\"run\",\"path\":\"%s\",\"out\":\"%s\",\"threads\":1,"
                 "\"program\":\"symlaw\",\"dry-run\":true,\"engine\":%s}",
                 plan, folder, cases[i].engine);
        sl_json *j = result_of(t, &h, "study", options);
        const char *would = sl_io_json_get_text(j, "would_run", "");
        SL_CHECK(t, strstr(would, cases[i].says), "%s: %s", cases[i].engine, would);
        assert_string_equal(output_of(&h), would);
        sl_io_json_free(j);
        log_clear(&h);
        struct stat s;
        SL_CHECK(t, stat(folder, &s) != 0, "%s makes a folder", cases[i].engine);
        SL_EACH_ALLOCATION(t, quiet_status("study", options));
    }
}

static void workers_that_fail_are_reported(void **state) {
    sl_fixture *t = *state;
    const char *script = sl_test_write_text(
        sl_test_path("worker"), "#!/bin/sh\necho 'symlaw: the disk is gone' >&2\nexit 3\n");
    chmod(script, 0700);
    const sl_test_wrong cases[] = {
        { script, SL_EIO, "a worker has failed: the disk is gone" },
        { "/nowhere/symlaw", SL_EIO, "the program of the workers cannot be started" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char options[1500];
        snprintf(options, sizeof options,
                 "{\"action\":\"run\",\"path\":\"%s\",\"out\":\"%s\",\"threads\":1,"
                 "\"workers\":2,\"program\":\"%s\"}",
                 plan_path(), sl_test_path("failing"), cases[i].options);
        SL_REFUSED(t, quiet_status("study", options), &cases[i]);
    }
}

static void options_of_other_engines_are_refused(void **state) {
    sl_fixture *t = *state;
    static const sl_test_wrong cases[] = {
        { "\"engine\":\"slurm\",\"time-limit\":60", SL_EINVAL, "--time-limit is for workers" },
        { "\"engine\":\"slurm\",\"nodes\":2,\"mpi\":\"a b\"", SL_EINVAL, "--mpi \"a b\"" },
        { "\"engine\":\"cloud\"", SL_EINVAL, "--engine must be one of local, mpi, slurm" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char options[1500];
        snprintf(options, sizeof options,
                 "{\"action\":\"run\",\"path\":\"%s\",\"out\":\"%s\",\"dry-run\":true,%s}",
                 plan_path(), sl_test_path("refused"), cases[i].options);
        SL_REFUSED(t, quiet_status("study", options), &cases[i]);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(stopped_at_any_event_it_goes_on),
        SL_TEST(without_memory_it_fails_and_goes_on),
        SL_TEST(when_any_write_fails_it_goes_on),
        SL_TEST(a_report_without_memory_fails_and_is_made_again),
        SL_TEST(laws_of_a_folder_without_memory_fail),
        SL_TEST(a_dry_run_describes_the_workers),
        SL_TEST(workers_that_fail_are_reported),
        SL_TEST(options_of_other_engines_are_refused),
    };
    setenv("SYMLAW_CACHE", "off", 1);
    return sl_test_main("api.study", tests, SL_LEN(tests));
}
