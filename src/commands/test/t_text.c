/* Lists of names. */
#include <string.h>

#include "commands/commands_impl.h"
#include "fixture/fixture.h"

static void names_are_split_and_checked(void **state) {
    sl_fixture *t = *state;
    sl_commands_run run = { 0 };
    sl_names n;
    SL_MUST(t, sl_commands__read_names(&n, &run, NULL));
    assert_null(n.names);
    assert_int_equal(n.count, 0);
    SL_MUST(t, sl_commands__read_names(&n, &run, "mass,v 0,z"));
    assert_int_equal(n.count, 3);
    assert_string_equal(n.names[0], "mass");
    assert_string_equal(n.names[1], "v 0");
    assert_string_equal(n.names[2], "z");
    SL_MUST(t, sl_commands__read_names(&n, &run, "a"));
    assert_int_equal(n.count, 1);
    assert_int_equal(sl_commands__read_names(&n, &run, ""), SL_EINVAL);
    assert_int_equal(sl_commands__read_names(&n, &run, "a,"), SL_EINVAL);
    assert_int_equal(sl_commands__read_names(&n, &run, ",a"), SL_EINVAL);
    assert_int_equal(sl_commands__read_names(&n, &run, "a,b,a"), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "\"a\""), "does not name it: %s", sl_last_error());
    char many[200];
    memset(many, ',', 199);
    many[199] = '\0';
    assert_int_equal(sl_commands__read_names(&n, &run, many), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "200 names"), "%s", sl_last_error());
    sl_arena_clear(&run.arena);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(names_are_split_and_checked),
    };
    return sl_test_main("api.text", tests, SL_LEN(tests));
}
