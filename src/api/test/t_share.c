/* Files that are installed with the library, found from the folder of this program. */
#include <string.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "symlaw/symlaw.h"

static sl_status find(const char *name) {
    char *path = NULL;
    const sl_status st = (sl_status)symlaw_share_find(&path, name);
    symlaw_string_free(path);
    return st;
}

static void what_is_there_is_found(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "web", "web/index.html", "examples/kepler.csv" };
    for (int i = 0; i < SL_LEN(names); i++) {
        char *path = NULL;
        SL_MUST(t, (sl_status)symlaw_share_find(&path, names[i]));
        SL_CHECK(t, access(path, R_OK) == 0 && path[0] == '/', "%s", path);
        symlaw_string_free(path);
    }
}

static void what_is_missing_is_named_with_its_places(void **state) {
    sl_fixture *t = *state;
    assert_int_equal(find("no such file"), SL_EINVAL);
    SL_CHECK(t, strstr(symlaw_last_error(), "/share/symlaw/no such file, /"), "%s",
             symlaw_last_error());
    assert_int_equal(find(""), SL_EINVAL);
    assert_int_equal(find(NULL), SL_EINVAL);
    assert_int_equal(symlaw_share_find(NULL, "web"), SYMLAW_EINVAL);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, find("web"));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_is_there_is_found),
        SL_TEST(what_is_missing_is_named_with_its_places),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("api.share", tests, SL_LEN(tests));
}
