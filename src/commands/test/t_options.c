/* Options against a table made for the purpose, with one of each kind. */
#include <math.h>
#include <string.h>

#include "commands/commands_impl.h"
#include "fixture/fixture.h"
#include "io/io_test.h"

typedef struct options {
    sl_commands_common common;
    int64_t depth;
    double part;
    const char *title, *out;
    int format;
    const char *pair[SL_OPTION_TEXTS_COUNT];
    int64_t limit; // no default
} options;

#define ROW(field, option, ...) SL_OPTION(options, field, option, .help = "h", __VA_ARGS__)

static const sl_option rows[] = {
    ROW(depth, "depth", .value = 3, .max = 4, .shown = "N"),
    ROW(part, "part", .alias = "fraction", .value = 0.5, .max = 1, .shown = "P"),
    ROW(title, "title", .shown = "T"),
    ROW(format, "format", .value = 0, .choices = "infix|latex|prefix", .shown = "F"),
    ROW(pair, "pair", .shown = "A B"),
    ROW(out, "out", .path = SL_PATH_FILE_OUTPUT, .shown = "FILE"),
    ROW(limit, "limit", .alias = "depth", .value = NAN, .max = 9, .shown = "N"),
};
static const sl_option_table own = { rows, SL_LEN(rows) };
static sl_commands_command command = {
    .info = { .name = "try", .summary = "s", .help = "h" },
    .size = sizeof(options),
    .parts = { { &own, 0, "options", NULL }, SL_COMMANDS_COMMON_PART },
};

static sl_status read_text(options *o, bool *by_caller, sl_json **json, const char *text) {
    SL_TRY(sl_io_json_parse(json, text, strlen(text)));
    return sl_commands_options_read(o, by_caller, sl_commands_table(&command), *json);
}

static void what_is_not_given_has_its_default(void **state) {
    sl_fixture *t = *state;
    options o;
    memset(&o, 0x5a, sizeof o);
    SL_MUST(t, sl_commands_options_read(&o, NULL, sl_commands_table(&command), NULL));
    assert_int_equal(o.depth, 3);
    assert_true(o.part == 0.5);
    assert_int_equal(o.format, 0);
    assert_null(o.title);
    assert_false(o.common.json);
    assert_null(o.out);
    assert_null(o.pair[0]);
    assert_true(o.limit == SL_NONE);
}

/* A former name is read, unless another option has it now, and is not offered. */
static void former_names_are_read(void **state) {
    sl_fixture *t = *state;
    options o;
    sl_json *j = NULL;
    const sl_option_table *table = sl_commands_table(&command);
    SL_MUST(t, read_text(&o, NULL, &j, "{\"fraction\":0.25,\"depth\":1}"));
    assert_true(o.part == 0.25 && o.depth == 1 && o.limit == SL_NONE);
    assert_null(sl_option_get(table, "limit")->alias);
    assert_string_equal(command.option[1].alias, "fraction");
    sl_io_json_free(j);
    assert_int_equal(read_text(&o, NULL, &j, "{\"fractio\":1}"), SL_EINVAL);
    assert_string_equal(sl_last_error(), "unknown option --fractio");
    sl_io_json_free(j);
}

/* Of a field that no row describes nothing can be asked. */
static void rows_are_found_by_their_field(void **state) {
    sl_fixture *t = *state;
    sl_json *j = NULL;
    sl_commands_run run = { .command = &command };
    SL_MUST(t, sl_io_json_parse(&j, "{\"part\":0.5}", 12));
    SL_MUST(t, sl_commands__run_options(&run, j));
    const options *o = run.options;
    assert_string_equal(sl_commands__row(&run, &o->part)->name, "part");
    assert_true(*sl_commands__by_caller(&run, &o->part)); // though it is the default
    assert_false(*sl_commands__by_caller(&run, &o->depth));
    sl_commands__run_options_clear(&run);
    sl_io_json_free(j);
}

/* What infer/ takes for what a configuration lacks is what the table of pairs/ says, which it does
 * not see. */
static void defaults_stand_in_one_place(void **state) {
    (void)state;
    const sl_pairs_options o = sl_pairs_defaults();
    assert_int_equal(o.points, SL_INFER_POINTS);
    assert_true(o.drop_column == SL_INFER_DROP_COLUMN);
}

static void what_is_given_counts(void **state) {
    sl_fixture *t = *state;
    options o;
    bool by_caller[SL_COMMANDS_MAX_OPTIONS];
    sl_json *j = NULL;
    SL_MUST(t,
            read_text(&o, by_caller, &j,
                      "{\"out\":null,\"depth\":1e0,\"part\":1,\"title\":\"\",\"format\":\"latex\","
                      "\"pair\":[\"a\",\"b\"],\"json\":true,\"seed\":9007199254740991}"));
    assert_int_equal(o.depth, 1);
    assert_true(o.part == 1.0);
    assert_string_equal(o.title, "");
    assert_int_equal(o.format, 1);
    assert_string_equal(o.pair[1], "b");
    assert_true(o.common.json);
    assert_int_equal(o.common.seed, 9007199254740991);
    assert_null(o.out); // null is as if it were not there
    assert_true(by_caller[0] && !by_caller[5]);
    assert_int_equal(o.common.threads, 0);

    // and all of it is recorded, defaults included
    sl_str s = { 0 };
    sl_commands__options_write(&s, &o, sl_commands_table(&command));
    assert_string_equal(
        sl_str_text(&s),
        "\"depth\":1,\"part\":1.0,\"title\":\"\",\"format\":\"latex\","
        "\"pair\":[\"a\",\"b\"],\"out\":null,\"limit\":null,\"json\":true,\"quiet\":false,"
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
        options o;
        sl_json *j = NULL;
        sl_status st = read_text(&o, NULL, &j, cases[i].json);
        SL_CHECK(t, st == SL_EINVAL, "%s is \"%s\"", cases[i].json, sl_status_text(st));
        SL_CHECK(t, strcmp(sl_last_error(), cases[i].message) == 0, "%s says\n%s\nnot\n%s",
                 cases[i].json, sl_last_error(), cases[i].message);
        sl_io_json_free(j);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(what_is_not_given_has_its_default),
        SL_TEST(former_names_are_read),
        SL_TEST(rows_are_found_by_their_field),
        SL_TEST(defaults_stand_in_one_place),
        SL_TEST(what_is_given_counts),
        SL_TEST(what_is_wrong_is_named),
    };
    sl_io_json_count_memory();
    return sl_test_main("api.options", tests, SL_LEN(tests));
}
