/* Processes that work for a study: how they end, what they say, and that they may save. */
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "commands/study_impl.h"
#include "fixture/fixture.h"

static sl_commands__child start(sl_fixture *t, const char *script) {
    sl_commands__child c;
    SL_MUST(t, sl_commands__child_start(&c, (const char *const[]){ "sh", "-c", script, NULL }));
    return c;
}

static void pause_a_moment(void) {
    static const struct timespec moment = { 0, 2 * 1000 * 1000 };
    nanosleep(&moment, NULL);
}

/* Until it has ended; a child that is never noticed to end fails the test by its timeout. */
static void finish(sl_commands__child *c) {
    for (sl_commands__child_look(c); !c->ended; sl_commands__child_look(c)) pause_a_moment();
}

static void an_end_has_its_code_and_its_words(void **state) {
    sl_fixture *t = *state;
    sl_commands__child c = start(t, "echo why >&2; exit 7");
    finish(&c);
    assert_int_equal(c.code, 7);
    assert_string_equal(sl_str_text(&c.text), "why\n");
    sl_commands__child_clear(&c);
    c = start(t, "kill -KILL $$");
    finish(&c);
    assert_int_equal(c.code, 128 + SIGKILL);
    sl_commands__child_clear(&c);
}

static void of_a_long_text_the_end_is_kept(void **state) {
    sl_fixture *t = *state;
    sl_commands__child c = start(t, "i=0; while [ $i -lt 9000 ]; do echo \"line number $i\"; "
                                    "i=$((i + 1)); done >&2; echo the reason >&2");
    finish(&c);
    const char *text = sl_str_text(&c.text);
    assert_true(c.text.len > 1 << 14 && c.text.len < 1 << 17);
    assert_string_equal(text + c.text.len - strlen("8999\nthe reason\n"), "8999\nthe reason\n");
    sl_commands__child_clear(&c);
}

/* Then waitpid fails, and the end is still detected. */
static void a_host_that_ignores_sigchld_sees_the_end(void **state) {
    sl_fixture *t = *state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    sl_commands__child c = start(t, "echo bad >&2; exit 3");
    finish(&c);
    signal(SIGCHLD, before);
    assert_int_equal(c.code, 255);
    assert_string_equal(sl_str_text(&c.text), "bad\n");
    sl_commands__child_clear(&c);
}

static void one_that_is_dropped_may_save(void **state) {
    sl_fixture *t = *state;
    char script[900];
    const char *saved = sl_test_path("saved");
    snprintf(script, sizeof script,
             "trap 'echo x > %s; exit 0' TERM; echo ready >&2; while :; do sleep 0.01; done",
             saved);
    sl_commands__child c = start(t, script);
    while (!strstr(sl_str_text(&c.text), "ready")) {
        assert_false(c.ended);
        sl_commands__child_look(&c);
        pause_a_moment();
    }
    sl_commands__child_clear(&c);
    assert_int_equal(access(saved, F_OK), 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(an_end_has_its_code_and_its_words),
        SL_TEST(of_a_long_text_the_end_is_kept),
        SL_TEST(a_host_that_ignores_sigchld_sees_the_end),
        SL_TEST(one_that_is_dropped_may_save),
    };
    return sl_test_main("api.study_child", tests, SL_LEN(tests));
}
