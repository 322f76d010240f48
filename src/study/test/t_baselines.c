/* Baselines as options of eval: a source of samples keeps the options of its set; the search has
 * its own. */
#include <string.h>

#include "fixture/fixture.h"
#include "study/study_impl.h"

static const sl_json *options_of(sl_fixture *t, sl_json **j, const char *name, const char *set) {
    sl_str s = { 0 };
    SL_MUST(t, sl_study_baseline_options(&s, name, set));
    SL_MUST(t, sl_io_json_parse(j, s.text, s.len));
    sl_str_clear(&s);
    return *j;
}

static void a_source_keeps_the_options_of_its_set(void **state) {
    sl_fixture *t = *state;
    sl_json *own;
    const sl_json *j = options_of(t, &own, "blind", "{\"limit\":1000,\"samples\":16}");
    assert_string_equal(sl_io_json_get_text(j, "source", ""), "blind");
    assert_true(sl_io_json_get_int(j, "limit", 0) == 1000 &&
                sl_io_json_get_int(j, "samples", 0) == 16);
    assert_true(sl_io_json_count(j) == 3 && !sl_study_is_search("blind"));
    sl_io_json_free(own);
    j = options_of(t, &own, "linear", NULL);
    assert_int_equal(sl_io_json_count(j), 1);
    sl_io_json_free(own);
}

/* No samples, one seed, and no more problems than it can search in the time of a study. */
static void the_search_has_options_of_its_own(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *set;
        int64_t limit;
    } list[] = { { NULL, 200 },
                 { "{}", 200 },
                 { "{\"limit\":0,\"samples\":16,\"seeds\":3}", 200 },
                 { "{\"limit\":1000}", 200 },
                 { "{\"limit\":50,\"effort\":\"high\"}", 50 } };
    assert_true(sl_study_is_search("search"));
    for (int i = 0; i < SL_LEN(list); i++) {
        sl_json *own;
        const sl_json *j = options_of(t, &own, "search", list[i].set);
        SL_CHECK(t, sl_io_json_get_int(j, "limit", -1) == list[i].limit, "%d: another limit", i);
        assert_string_equal(sl_io_json_get_text(j, "search", ""), "exhaustive");
        assert_string_equal(sl_io_json_get_text(j, "effort", ""), "low");
        assert_true(sl_io_json_get_int(j, "seeds", 0) == 1 && !sl_io_json_get(j, "samples"));
        assert_true(!sl_io_json_get(j, "source"));
        sl_io_json_free(own);
    }
}

static sl_status once(const char *name) {
    sl_str s = { 0 };
    const sl_status st = sl_study_baseline_options(&s, name, "{\"limit\":5}");
    sl_str_clear(&s);
    return st;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, once("search"));
    SL_EACH_ALLOCATION(t, once("blind"));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_source_keeps_the_options_of_its_set),
        SL_TEST(the_search_has_options_of_its_own),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("study.baselines", tests, SL_LEN(tests));
}
