/* The public calls about the set E. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"

static sl_set *opened(sl_fixture *t, const sl_set_options *o) {
    sl_set *s = NULL;
    SL_MUST(t, sl_set_open(&s, o, NULL, NULL));
    return s;
}

static sl_set_options small(void) {
    sl_set_options o = SL_SET_OPTIONS_INIT;
    o.depth = 2;
    o.threads = 1;
    return o;
}

static void depth_two_has_929_members_found_again(void **state) {
    sl_fixture *t = *state;
    sl_set_options o = small();
    sl_set *s = opened(t, &o);
    assert_int_equal(sl_set_count(s), 2 + 18 + 909);
    assert_int_equal(strlen(sl_set_hash(s)), 32);
    for (int64_t i = 0; i < sl_set_count(s); i += 7) {
        sl_formula *f = NULL;
        int64_t found = -2;
        SL_MUST(t, sl_set_get(&f, s, i));
        SL_MUST(t, sl_set_find(&found, s, f));
        SL_CHECK(t, found == i, "member %lld is found as %lld", (long long)i, (long long)found);
        sl_formula_free(f);
    }
    sl_set_close(s);
}

static void what_has_other_variables_is_no_member(void **state) {
    sl_fixture *t = *state;
    static const char *const strangers[] = { "x3", "x1 + x64", "c1", "x1*c2", "x1 + 1", "7" };
    sl_set_options o = small();
    o.depth = 1;
    sl_set *s = opened(t, &o);
    for (int i = 0; i < SL_LEN(strangers); i++) {
        sl_formula *f = NULL;
        int64_t found = -2;
        SL_MUST(t, sl_formula_parse(&f, strangers[i], NULL, NULL, 0));
        SL_MUST(t, sl_set_find(&found, s, f));
        SL_CHECK(t, found == -1, "%s is member %lld", strangers[i], (long long)found);
        sl_formula_free(f);
    }
    sl_set_close(s);
}

static void options_reach_the_set(void **state) {
    sl_fixture *t = *state;
    sl_set_options o = small();
    o.count = 100;
    o.withheld = 0.25;
    sl_set *a = opened(t, &o);
    assert_int_equal(sl_set_count(a), 100);
    int withheld = 0;
    for (int i = 0; i < 100; i++) withheld += sl_set_is_withheld(a, i);
    SL_CHECK(t, withheld > 5 && withheld < 50, "%d of 100 withheld", withheld);
    assert_int_equal(sl_set_is_withheld(a, -1), 0);
    assert_int_equal(sl_set_is_withheld(a, 100), 0);

    o.seed = 1;
    sl_set *b = opened(t, &o);
    assert_string_not_equal(sl_set_hash(a), sl_set_hash(b));
    o.seed = 0;
    o.threads = 3;
    sl_set *c = opened(t, &o);
    assert_string_equal(sl_set_hash(a), sl_set_hash(c));
    o.ops = "+";
    o.depth = 1;
    o.variables = 1;
    sl_set *d = opened(t, &o);
    assert_int_equal(sl_set_count(d), 2); // x1, 2*x1
    sl_set_close(a);
    sl_set_close(b);
    sl_set_close(c);
    sl_set_close(d);
}

/* A program built when the struct ended after `variables` must get defaults for the rest, whatever
 * lies behind its struct. */
static void an_older_caller_gets_defaults(void **state) {
    sl_fixture *t = *state;
    sl_set_options o;
    memset(&o, 0xEE, sizeof o);
    o.size = offsetof(sl_set_options, ops);
    o.depth = 1;
    o.variables = 2;
    sl_set *s = opened(t, &o);
    assert_int_equal(sl_set_count(s), 20);
    sl_set_close(s);
}

static void wrong_arguments_are_answered(void **state) {
    (void)state;
    sl_set *s = NULL;
    sl_formula *f = NULL;
    int64_t index;
    sl_set_options o = small();
    assert_int_equal(sl_set_open(NULL, &o, NULL, NULL), SL_EINVAL);
#define WRONG(field, value)                                           \
    do {                                                              \
        o = small();                                                  \
        o.field = (value);                                            \
        assert_int_equal(sl_set_open(&s, &o, NULL, NULL), SL_EINVAL); \
    } while (0)
    WRONG(size, 0);
    WRONG(depth, 5);
    WRONG(depth, -1);
    WRONG(variables, 0);
    WRONG(variables, 4);
    WRONG(count, -1);
    WRONG(withheld, 1.5);
    WRONG(withheld, NAN);
    WRONG(threads, -1);
    WRONG(max_memory, -1);
    o = small();
    o.ops = "+,plus";
    assert_int_equal(sl_set_open(&s, &o, NULL, NULL), SL_EFORMAT);
    assert_null(s);
    assert_int_equal(sl_set_get(&f, NULL, 0), SL_EINVAL);
    assert_int_equal(sl_set_find(&index, NULL, NULL), SL_EINVAL);
    assert_int_equal(sl_set_count(NULL), 0);
    assert_string_equal(sl_set_hash(NULL), "");
    assert_int_equal(sl_set_is_withheld(NULL, 0), 0);
    sl_set_close(NULL);

    o = small();
    o.depth = 0;
    assert_int_equal(sl_set_open(&s, &o, NULL, NULL), SL_OK);
    assert_int_equal(sl_set_get(&f, s, -1), SL_EINVAL);
    assert_int_equal(sl_set_get(&f, s, 2), SL_EINVAL);
    assert_int_equal(sl_set_get(NULL, s, 0), SL_EINVAL);
    assert_int_equal(sl_set_find(NULL, s, NULL), SL_EINVAL);
    sl_set_close(s);
}

static int stop_at_once(const sl_event *e, void *payload) {
    int *calls = payload;
    ++*calls;
    return e->kind == SL_EVENT_PROGRESS;
}

static void a_listener_can_stop_it(void **state) {
    sl_fixture *t = *state;
    sl_set_options o = small();
    sl_set *s = NULL;
    int calls = 0;
    assert_int_equal(sl_set_open(&s, &o, stop_at_once, &calls), SL_ECANCEL);
    assert_null(s);
    SL_CHECK(t, calls > 0, "never called");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(depth_two_has_929_members_found_again),
        SL_TEST(what_has_other_variables_is_no_member),
        SL_TEST(options_reach_the_set),
        SL_TEST(an_older_caller_gets_defaults),
        SL_TEST(wrong_arguments_are_answered),
        SL_TEST(a_listener_can_stop_it),
    };
    return sl_test_main("api.set", tests, SL_LEN(tests));
}
