/* Options against a table made for the purpose, with one of each kind. */
#include <string.h>

#include "commands/commands.h"
#include "fixture/fixture.h"
#include "io/io_test.h"

#define OPTIONS(X)                                                                \
    X(DEPTH, "depth", INT, 1, "N", "3", NULL, 0, 4, "h")                          \
    X(PART, "part", REAL, 1, "P", "0.5", NULL, 0, 1, "h")                         \
    X(TITLE, "title", TEXT, 1, "T", NULL, NULL, 0, 0, "h")                        \
    X(FORMAT, "format", CHOICE, 1, "F", "infix", "infix|latex|prefix", 0, 0, "h") \
    X(PAIR, "pair", TEXTS, 2, "A B", NULL, NULL, 0, 0, "h")                       \
    X(OUT, "out", FILE_OUT, 1, "FILE", NULL, NULL, 0, 0, "h")                     \
    SL_COMMANDS__COMMON(X)

#define X(id, ...) OPT_##id,
enum { OPTIONS(X) N_OPTIONS };
#undef X

static const symlaw_option_info options[] = { OPTIONS(SL_COMMANDS__OPTION) };
static const symlaw_command_info info = {
    .name = "try", .summary = "s", .help = "h", .options = options, .n_options = N_OPTIONS
};

static sl_status read_text(sl_commands__value *values, sl_json **json, const char *text) {
    SL_TRY(sl_io_json_parse(json, text, strlen(text)));
    return sl_commands__options_read(values, &info, *json);
}

static void what_is_not_given_has_its_default(void **state) {
    sl_fixture *t = *state;
    sl_commands__value v[N_OPTIONS];
    SL_MUST(t, sl_commands__options_read(v, &info, NULL));
    assert_int_equal(v[OPT_DEPTH].whole, 3);
    assert_true(v[OPT_PART].real == 0.5);
    assert_string_equal(v[OPT_FORMAT].text[0], "infix");
    assert_false(v[OPT_TITLE].given);
    assert_false(v[OPT_JSON].flag);
    assert_null(v[OPT_OUT].text[0]);
}

/* What infer/ takes for what a configuration lacks is what the table of pairs/ says, which it does
 * not see. */
static void defaults_stand_in_one_place(void **state) {
    (void)state;
    const sl_pairs_options o = SL_PAIRS_OPTIONS_INIT;
    assert_int_equal(o.points, SL_INFER_POINTS);
    assert_true(o.drop_column == SL_INFER_DROP_COLUMN);
}

static void what_is_given_counts(void **state) {
    sl_fixture *t = *state;
    sl_commands__value v[N_OPTIONS];
    sl_json *j = NULL;
    SL_MUST(t,
            read_text(v, &j,
                      "{\"out\":null,\"depth\":1e0,\"part\":1,\"title\":\"\",\"format\":\"latex\","
                      "\"pair\":[\"a\",\"b\"],\"json\":true,\"seed\":9007199254740991}"));
    assert_int_equal(v[OPT_DEPTH].whole, 1);
    assert_true(v[OPT_PART].real == 1.0);
    assert_string_equal(v[OPT_TITLE].text[0], "");
    assert_true(v[OPT_TITLE].given);
    assert_string_equal(v[OPT_PAIR].text[1], "b");
    assert_true(v[OPT_JSON].flag);
    assert_int_equal(v[OPT_SEED].whole, 9007199254740991);
    assert_false(v[OPT_OUT].given); // null is as if it were not there
    assert_int_equal(v[OPT_THREADS].whole, 0);

    // and all of it is recorded, defaults included
    sl_str s = { 0 };
    sl_commands__options_write(&s, &info, v);
    assert_string_equal(sl_str_text(&s),
                        "\"depth\":1,\"part\":1.0,\"title\":\"\",\"format\":\"latex\","
                        "\"pair\":[\"a\",\"b\"],\"out\":null,\"json\":true,\"quiet\":false,"
                        "\"seed\":9007199254740991,\"threads\":0");
    sl_str_clear(&s);
    sl_io_json_free(j);
}

static void what_is_wrong_is_named(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *json, *message;
    } cases[] = {
        { "[]", "options must be a JSON object, not an array" },
        { "3", "options must be a JSON object, not a whole number" },
        { "{\"dept\":1}", "unknown option --dept; did you mean --depth?" },
        { "{\"detph\":1}", "unknown option --detph; did you mean --depth?" },
        { "{\"paxt\":1}", "unknown option --paxt; did you mean --part?" },  // pair is farther
        { "{\"thr\":1}", "unknown option --thr; did you mean --threads?" }, // a beginning
        { "{\"zzzz\":1}", "unknown option --zzzz" },
        { "{\"zzzz\":null}", "unknown option --zzzz" },
        { "{\"depth\":5}", "--depth must be a whole number from 0 to 4, not 5" },
        { "{\"depth\":-1}", "--depth must be a whole number from 0 to 4, not -1" },
        { "{\"depth\":2.5}", "--depth must be a whole number from 0 to 4, not 2.5" },
        { "{\"depth\":\"two\"}", "--depth must be a whole number from 0 to 4, not \"two\"" },
        { "{\"depth\":true}", "--depth must be a whole number from 0 to 4, not true" },
        { "{\"part\":1.5}", "--part must be a number from 0 to 1, not 1.5" },
        { "{\"seed\":9007199254740993}",
          "--seed must be a whole number from 0 to 9007199254740991, not 9007199254740993" },
        { "{\"title\":1}", "--title must be a text, not 1" },
        { "{\"format\":\"latx\"}",
          "--format must be one of infix, latex, prefix, not \"latx\"; did you mean latex?" },
        { "{\"format\":\"lat\"}",
          "--format must be one of infix, latex, prefix, not \"lat\"; did you mean latex?" },
        { "{\"format\":\"\"}", "--format must be one of infix, latex, prefix, not \"\"" },
        { "{\"pair\":[\"a\"]}", "--pair must be an array of 2 texts" },
        { "{\"pair\":[\"a\",1]}", "--pair must be an array of 2 texts" },
        { "{\"pair\":\"ab\"}", "--pair must be an array of 2 texts" },
        { "{\"json\":1}", "--json must be true or false, not 1" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_commands__value v[N_OPTIONS];
        sl_json *j = NULL;
        sl_status st = read_text(v, &j, cases[i].json);
        SL_CHECK(t, st == SL_EINVAL, "%s is \"%s\"", cases[i].json, sl_status_text(st));
        SL_CHECK(t, strcmp(sl_last_error(), cases[i].message) == 0, "%s says\n%s\nnot\n%s",
                 cases[i].json, sl_last_error(), cases[i].message);
        sl_io_json_free(j);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_is_not_given_has_its_default),
        SL_TEST(defaults_stand_in_one_place),
        SL_TEST(what_is_given_counts),
        SL_TEST(what_is_wrong_is_named),
    };
    sl_io_json_count_memory();
    return sl_test_main("api.options", tests, SL_LEN(tests));
}
