/* Pairs by the typed interface: what it hands out, its options, and wrong use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixture/fixture.h"
#include "io/io_test.h"
#include "symlaw/symlaw.h"
#include "token/token.h"

static symlaw_set *opened(sl_fixture *t, int depth, double withheld, uint64_t seed) {
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    symlaw_set *s = NULL;
    o.depth = depth;
    o.withheld = withheld;
    o.seed = seed;
    o.threads = 1;
    SL_MUST(t, symlaw_set_open(&s, &o, NULL, NULL));
    return s;
}

static symlaw_pairs *data_of(sl_fixture *t, const symlaw_set *set, const char *options) {
    symlaw_pairs *d = NULL;
    SL_MUST(t, symlaw_pairs_open(&d, set, options));
    return d;
}

static symlaw_pair *pair(sl_fixture *t, const symlaw_pairs *d, const char *split, int64_t index) {
    symlaw_pair *s = NULL;
    SL_MUST(t, symlaw_pairs_get(&s, d, split, index));
    return s;
}

/* The formula has the values y at x; the tokens spell its LaTeX. */
static void a_sample_is_consistent(void **state) {
    sl_fixture *t = *state;
    static const char *const splits[] = { "train", "valid", "test", "withheld" };
    symlaw_set *set = opened(t, 2, 0.1, 0);
    symlaw_pairs *d = data_of(t, set, NULL);
    for (int i = 0; i < 400; i++) {
        symlaw_pair *s = pair(t, d, splits[i % 4], i / 4);
        symlaw_formula *f = NULL;
        char *latex = NULL;
        double y[64];
        const double *x[2] = { symlaw_pair_x(s, 0), symlaw_pair_x(s, 1) };
        assert_int_equal(symlaw_pair_rows(s), 64);
        assert_int_equal(symlaw_pair_columns(s), 2);
        SL_MUST(t, symlaw_pair_formula(&f, s));
        SL_MUST(t, symlaw_formula_print(&latex, f, "latex"));
        SL_MUST(t, symlaw_formula_eval(y, f, x, 2, 64));
        SL_CHECK(t, memcmp(y, symlaw_pair_y(s), sizeof y) == 0, "other values: %s", latex);

        int n = 0;
        sl_str spelled = { 0 };
        const uint8_t *tokens = symlaw_pair_tokens(s, &n);
        assert_int_equal(tokens[n - 1], SL_TOKEN_END);
        sl_token_to_latex(&spelled, tokens, n);
        assert_string_equal(sl_str_text(&spelled), latex);
        assert_int_equal(symlaw_set_is_withheld(set, symlaw_pair_member(s)), i % 4 == 3);
        sl_str_clear(&spelled);
        symlaw_string_free(latex);
        symlaw_formula_free(f);
        symlaw_pair_free(s);
    }
    symlaw_pairs_close(d);
    symlaw_set_close(set);
}

static bool same_pair(const symlaw_pair *a, const symlaw_pair *b) {
    int n, m;
    const uint8_t *p = symlaw_pair_tokens(a, &n), *q = symlaw_pair_tokens(b, &m);
    const int points = symlaw_pair_rows(a);
    if (n != m || memcmp(p, q, (size_t)n) != 0 || points != symlaw_pair_rows(b)) return false;
    return memcmp(symlaw_pair_y(a), symlaw_pair_y(b), (size_t)points * sizeof(double)) == 0;
}

static bool agree(sl_fixture *t, const symlaw_pairs *a, const symlaw_pairs *b) {
    bool all = true;
    for (int i = 0; i < 10; i++) {
        symlaw_pair *s = pair(t, a, "train", i), *o = pair(t, b, "train", i);
        all = all && same_pair(s, o);
        symlaw_pair_free(s);
        symlaw_pair_free(o);
    }
    return all;
}

static void options_are_those_of_the_command(void **state) {
    sl_fixture *t = *state;
    symlaw_set *set = opened(t, 1, 0, 0), *other = opened(t, 1, 0, 7);
    symlaw_pairs *plain = data_of(t, set, NULL), *empty = data_of(t, set, "{}");
    assert_true(agree(t, plain, empty));
    assert_int_equal(symlaw_pairs_count(plain, "train"), 20 * 3600);
    assert_int_equal(symlaw_pairs_count(plain, "valid"), 1000);
    assert_int_equal(symlaw_pairs_count(plain, "test"), 1000);
    assert_int_equal(symlaw_pairs_count(plain, "withheld"), 0);
    assert_int_equal(symlaw_pairs_count(plain, "tests"), -1);

    // the seed is the set's unless another is given
    symlaw_pairs *sevenths = data_of(t, other, NULL), *seven = data_of(t, other, "{\"seed\":7}");
    symlaw_pairs *zero = data_of(t, other, "{\"seed\":0}");
    assert_true(agree(t, sevenths, seven));
    assert_false(agree(t, sevenths, zero));

    symlaw_pairs *few =
        data_of(t, set, "{\"points\":3,\"draws\":2,\"test-size\":9,\"shape\":\"dataset\"}");
    symlaw_pair *s = pair(t, few, "test", 8);
    assert_int_equal(symlaw_pair_rows(s), 3);
    assert_int_equal(symlaw_pairs_count(few, "train"), 40);
    assert_int_equal(symlaw_pairs_count(few, "test"), 9);
    symlaw_pair_free(s);
    s = pair(t, few, "train", 41); // training goes on
    symlaw_pair_free(s);
    symlaw_pairs_close(plain);
    symlaw_pairs_close(empty);
    symlaw_pairs_close(sevenths);
    symlaw_pairs_close(seven);
    symlaw_pairs_close(zero);
    symlaw_pairs_close(few);
    symlaw_set_close(set);
    symlaw_set_close(other);
}

/* What the command prints is what the interface hands out. */
static int log_event(const symlaw_event *e, void *payload) {
    if (e->kind == SYMLAW_EVENT_OUTPUT) sl_str_add_bytes(payload, e->text, e->length);
    return 0;
}

static void the_command_prints_the_same_pairs(void **state) {
    sl_fixture *t = *state;
    sl_str out = { 0 };
    SL_MUST(t,
            symlaw_command("pairs",
                           "{\"depth\":1,\"seed\":5,\"points\":6,\"split\":\"valid\",\"index\":3,"
                           "\"format\":\"csv\",\"noise\":0.1,\"threads\":1}",
                           log_event, &out, NULL));
    symlaw_set *set = opened(t, 1, 0, 5);
    symlaw_pairs *d = data_of(t, set, "{\"points\":6,\"noise\":0.1}");
    symlaw_pair *s = pair(t, d, "valid", 3);
    char *at = strchr(out.text, '\n') + 1;
    for (int i = 0; i < 6; i++)
        for (int c = 0; c < 3; c++, at++)
            assert_true(strtod(at, &at) == (c < 2 ? symlaw_pair_x(s, c)[i] : symlaw_pair_y(s)[i]));
    symlaw_pair_free(s);
    symlaw_pairs_close(d);
    symlaw_set_close(set);
    sl_str_clear(&out);
}

/* What a formula says outlives the sample it came from. */
static void a_formula_is_the_callers(void **state) {
    sl_fixture *t = *state;
    symlaw_set *set = opened(t, 2, 0, 0);
    symlaw_pairs *d = data_of(t, set, NULL);
    for (int i = 0; i < 20; i++) {
        symlaw_pair *s = pair(t, d, "train", i);
        symlaw_formula *f = NULL;
        char *before = NULL, *after = NULL;
        SL_MUST(t, symlaw_pair_formula(&f, s));
        SL_MUST(t, symlaw_formula_print(&before, f, "infix"));
        symlaw_pair_free(s);
        s = pair(t, d, "train", i + 1); // may get the memory of the other
        SL_MUST(t, symlaw_formula_print(&after, f, "infix"));
        assert_string_equal(before, after);
        symlaw_pair_free(s);
        symlaw_string_free(before);
        symlaw_string_free(after);
        symlaw_formula_free(f);
    }
    symlaw_pairs_close(d);
    symlaw_set_close(set);
}

/* The column behind the last is no column, also where the struct has no room for more. */
static void columns_end(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    symlaw_set *set = NULL;
    o.depth = 0;
    o.variables = 3;
    o.threads = 1;
    SL_MUST(t, symlaw_set_open(&set, &o, NULL, NULL));
    symlaw_pairs *d = data_of(t, set, NULL);
    symlaw_pair *s = pair(t, d, "train", 0);
    assert_int_equal(symlaw_pair_columns(s), 3);
    assert_non_null(symlaw_pair_x(s, 2));
    assert_null(symlaw_pair_x(s, 3));
    assert_null(symlaw_pair_x(s, -1));
    symlaw_pair_free(s);
    symlaw_pairs_close(d);
    symlaw_set_close(set);
}

static void wrong_arguments_are_answered(void **state) {
    sl_fixture *t = *state;
    static const sl_test_wrong cases[] = {
        { "{\"point\":5}", SL_EINVAL, "unknown option --point; did you mean --points?" },
        { "{\"split\":\"test\"}", SL_EINVAL, "unknown option --split" },
        { "{\"depth\":2}", SL_EINVAL, "unknown option --depth" },
        { "{\"points\":1}", SL_EINVAL, "--points must be a whole number from 2 to 4096, not 1" },
        { "{\"seed\":-1}", SL_EINVAL, "--seed must be" },
        { "{\"retry\":\"all\"}", SL_EINVAL, "--retry must be one of points, whole" },
        { "[]", SL_EINVAL, "must be a JSON object" },
        { "{", SL_EFORMAT, "JSON, line 1" },
    };
    symlaw_set *set = opened(t, 1, 0, 0);
    symlaw_pairs *d = NULL;
    symlaw_pair *s = NULL;
    symlaw_formula *f = NULL;
    int n = 7;
    for (int i = 0; i < SL_LEN(cases); i++) {
        SL_REFUSED(t, symlaw_pairs_open(&d, set, cases[i].options), &cases[i]);
        assert_null(d);
    }
    assert_int_equal(symlaw_pairs_open(NULL, set, NULL), SL_EINVAL);
    assert_int_equal(symlaw_pairs_open(&d, NULL, NULL), SL_EINVAL);
    assert_int_equal(symlaw_pairs_count(NULL, "train"), -1);
    assert_int_equal(symlaw_pairs_get(&s, NULL, "train", 0), SL_EINVAL);
    symlaw_pairs_close(NULL);
    symlaw_pair_free(NULL);

    d = data_of(t, set, NULL);
    assert_int_equal(symlaw_pairs_count(d, NULL), -1);
    assert_int_equal(symlaw_pairs_get(NULL, d, "train", 0), SL_EINVAL);
    assert_int_equal(symlaw_pairs_get(&s, d, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_pairs_get(&s, d, "trian", 0), SL_EINVAL);
    assert_non_null(strstr(sl_last_error(), "did you mean train?"));
    assert_int_equal(symlaw_pairs_get(&s, d, "train", -1), SL_EINVAL);
    assert_int_equal(symlaw_pairs_get(&s, d, "test", 1000), SL_EINVAL);
    assert_int_equal(symlaw_pairs_get(&s, d, "withheld", 0), SL_EINVAL);
    assert_null(s);

    assert_int_equal(symlaw_pair_formula(&f, NULL), SL_EINVAL);
    assert_int_equal(symlaw_pair_member(NULL), -1);
    assert_int_equal(symlaw_pair_rows(NULL), 0);
    assert_int_equal(symlaw_pair_columns(NULL), 0);
    assert_null(symlaw_pair_x(NULL, 0));
    assert_null(symlaw_pair_y(NULL));
    assert_null(symlaw_pair_tokens(NULL, &n));
    assert_int_equal(n, 0);
    s = pair(t, d, "test", 0);
    assert_int_equal(symlaw_pair_formula(NULL, s), SL_EINVAL);
    assert_null(symlaw_pair_x(s, -1));
    assert_null(symlaw_pair_x(s, 2));
    assert_non_null(symlaw_pair_x(s, 1));
    assert_non_null(symlaw_pair_tokens(s, NULL));
    symlaw_pair_free(s);
    symlaw_pairs_close(d);
    symlaw_set_close(set);
}

static sl_status one_pair(const symlaw_set *set) {
    symlaw_pairs *d = NULL;
    symlaw_pair *s = NULL;
    symlaw_formula *f = NULL;
    sl_status st;
    SL_GO(symlaw_pairs_open(&d, set, "{\"points\":4,\"whiten\":\"off\"}"));
    SL_GO(symlaw_pairs_get(&s, d, "test", 3));
    st = symlaw_pair_formula(&f, s);
done:
    symlaw_formula_free(f);
    symlaw_pair_free(s);
    symlaw_pairs_close(d);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    symlaw_set *set = opened(t, 1, 0, 0);
    SL_EACH_ALLOCATION(t, one_pair(set));
    symlaw_set_close(set);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_sample_is_consistent),
        SL_TEST(options_are_those_of_the_command),
        SL_TEST(the_command_prints_the_same_pairs),
        SL_TEST(a_formula_is_the_callers),
        SL_TEST(columns_end),
        SL_TEST(wrong_arguments_are_answered),
        SL_TEST(lack_of_memory_is_reported),
    };
    setenv("SYMLAW_CACHE", "off", 1);
    sl_io_json_count_memory();
    return sl_test_main("api.data", tests, SL_LEN(tests));
}
