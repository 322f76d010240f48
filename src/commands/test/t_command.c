/* Commands through the one call that the program, the page and other languages use. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands_impl.h"
#include "commands/commands_test.h"

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static sl_json *run(sl_fixture *t, event_log *h, const char *options) {
    return result_of(t, h, "expressions", options);
}

/* ---------------------------------------------------------------- the tables ---------------- */

static const symlaw_option_info *option_named(const symlaw_command_info *info, const char *name) {
    for (int i = 0; i < info->n_options; i++)
        if (strcmp(symlaw_command_option(info, i)->name, name) == 0)
            return symlaw_command_option(info, i);
    return NULL;
}

static bool takes_one(const symlaw_command_info *info, const char *name) {
    const symlaw_option_info *o = option_named(info, name);
    return o && o->arity == 1;
}

static void tables_are_complete(void **state) {
    sl_fixture *t = *state;
    static const char *const common[] = { "json", "quiet", "seed", "threads" };
    assert_true(symlaw_command_count() >= 1);
    assert_null(symlaw_command_get(-1));
    assert_null(symlaw_command_get(symlaw_command_count()));
    for (int c = 0; c < symlaw_command_count(); c++) {
        const symlaw_command_info *info = symlaw_command_get(c);
        int found = 0;
        assert_true(*info->summary && *info->help);
        for (int i = 0; i < info->n_options; i++) {
            const symlaw_option_info *o = symlaw_command_option(info, i);
            assert_int_equal(o->size, sizeof *o);
            for (int k = 0; k < SL_LEN(common); k++) found += strcmp(o->name, common[k]) == 0;
            SL_CHECK(t, *o->help && strlen(o->name) < 20, "--%s has no help", o->name);
            SL_CHECK(t, (o->arity == 0) == (o->type == SYMLAW_OPTION_FLAG), "--%s: arity", o->name);
            SL_CHECK(t, (o->arity == 0) == !o->value_name, "--%s: name of its value", o->name);
            SL_CHECK(t, !!o->choices == (o->type == SYMLAW_OPTION_CHOICE), "--%s: choices",
                     o->name);
            SL_CHECK(t, o->arity <= SL_OPTION_TEXTS_COUNT, "--%s: too many values", o->name);
            SL_CHECK(t, o->group && *o->group, "--%s stands under no heading", o->name);
            for (int k = 0; k + 1 < i; k++) // a heading comes once
                SL_CHECK(t,
                         strcmp(o->group, symlaw_command_option(info, k)->group) != 0 ||
                             strcmp(o->group, symlaw_command_option(info, i - 1)->group) == 0,
                         "%s: --%s is not beside its group", info->name, o->name);
            for (int k = 0; k < info->n_options; k++) {
                const symlaw_option_info *other = symlaw_command_option(info, k);
                SL_CHECK(t, k == i || strcmp(o->name, other->name) != 0, "--%s twice", o->name);
                SL_CHECK(t, !o->alias || strcmp(o->alias, other->name) != 0, "--%s is an alias",
                         o->alias);
                SL_CHECK(t, k == i || !o->alias || !other->alias || strcmp(o->alias, other->alias),
                         "--%s: one alias for two", o->alias);
            }
        }
        assert_int_equal(found, SL_LEN(common));
        assert_int_equal(info->size, sizeof *info);
        assert_null(symlaw_command_option(info, -1));
        assert_null(symlaw_command_option(info, info->n_options));
        if (info->positional) SL_CHECK(t, takes_one(info, info->positional), "%s", info->name);
        if (info->positional_next)
            SL_CHECK(t, info->positional && takes_one(info, info->positional_next), "%s",
                     info->name);
    }
}

/* Of the command that has this table. */
static sl_status read_options(const symlaw_command_info *info, const sl_json *given) {
    const uintptr_t at = (uintptr_t)info - offsetof(sl_commands_command, info);
    sl_commands_run run = { .command = (sl_commands_command *)at };
    const sl_status st = sl_commands__run_options(&run, given);
    sl_commands__run_options_clear(&run);
    return st;
}

/* Defaults as texts are values that the option takes. */
static void defaults_are_fit_values(void **state) {
    sl_fixture *t = *state;
    for (int c = 0; c < symlaw_command_count(); c++) {
        const symlaw_command_info *info = symlaw_command_get(c);
        for (int i = 0; i < info->n_options; i++) {
            const symlaw_option_info *o = symlaw_command_option(info, i);
            if (!o->default_value) continue;
            bool quoted = o->type == SYMLAW_OPTION_TEXT || o->type == SYMLAW_OPTION_CHOICE;
            const char *q = quoted ? "\"" : "";
            char text[200];
            sl_json *j = NULL;
            snprintf(text, sizeof text, "{\"%s\":%s%s%s}", o->name, q, o->default_value, q);
            SL_MUST(t, sl_io_json_parse(&j, text, strlen(text)));
            SL_MUST(t, read_options(info, j));
            sl_io_json_free(j);
        }
    }
    // and the operators are all there are, in their order
    sl_str s = { 0 };
    sl_universe_ops_print(&s, SL_UNIVERSE_ALL_OPS);
    const symlaw_command_info *info = symlaw_command_get(0);
    assert_string_equal(option_named(info, "ops")->default_value, sl_str_text(&s));
    sl_str_clear(&s);
}

/* ---------------------------------------------------------------- jobs ---------------------- */

static void a_listing_is_lines_in_order(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = run(t, &h, "{\"depth\":1,\"ops\":\"+,*\",\"threads\":1}");
    assert_string_equal(sl_str_text(&h.output), "x1\nx2\n2*x1\nx1^2\nx1 + x2\nx1*x2\n2*x2\nx2^2\n");
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "listed")), 8);
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "size")), 8);
    assert_int_equal(strlen(sl_io_json_text(sl_io_json_get(j, "hash"))), 32);
    assert_int_equal(sl_io_json_count(sl_io_json_get(j, "levels")), 2);

    // the configuration is complete: a member for every option
    const sl_json *config = sl_io_json_get(j, "config");
    const symlaw_command_info *info = symlaw_command_get(0);
    assert_int_equal(sl_io_json_count(config), info->n_options);
    assert_int_equal(sl_io_json_int(sl_io_json_get(config, "variables")), 2);
    assert_int_equal(sl_io_json_int(sl_io_json_get(config, "depth")), 1);
    sl_io_json_free(j);
    log_clear(&h);
}

static void json_lines_carry_index_and_level(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = run(t, &h,
                     "{\"depth\":1,\"ops\":\"sqrt\",\"variables\":1,\"json\":true,"
                     "\"format\":\"latex\",\"threads\":1}");
    assert_string_equal(sl_str_text(&h.output),
                        "{\"index\":0,\"level\":0,\"expr\":\"x_1\"}\n"
                        "{\"index\":1,\"level\":1,\"expr\":\"\\\\sqrt{x_1}\"}\n");
    sl_io_json_free(j);
    log_clear(&h);
}

static void a_large_listing_comes_in_large_pieces(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *j = run(t, &h, "{\"depth\":2,\"format\":\"mathml\",\"threads\":1}");
    int lines = 0;
    for (size_t i = 0; i < h.output.len; i++) lines += h.output.text[i] == '\n';
    assert_int_equal(lines, 929);
    SL_CHECK(t, h.largest >= 1 << 16 && h.largest < 1 << 17, "largest piece %zu bytes", h.largest);
    sl_io_json_free(j);
    log_clear(&h);
}

/* Distinct members in the order of the set, the same for the same seed, others for another; and
 * every member gets its turn. */
static void a_sample_is_fair_and_repeats(void **state) {
    sl_fixture *t = *state;
    int times[20] = { 0 }, rounds = sl_test_iters(t, 200);
    char last[400] = "";
    int changes = 0;
    for (int r = 0; r < rounds; r++) {
        char options[120];
        event_log h = { 0 }, again = { 0 };
        snprintf(options, sizeof options,
                 "{\"depth\":1,\"sample\":5,\"json\":true,\"threads\":1,\"seed\":%d}", r);
        sl_io_json_free(run(t, &h, options));
        if (r == 0) {
            sl_io_json_free(run(t, &again, options));
            assert_string_equal(sl_str_text(&h.output), sl_str_text(&again.output));
            log_clear(&again);
        }
        changes += strcmp(last, sl_str_text(&h.output)) != 0;
        snprintf(last, sizeof last, "%s", sl_str_text(&h.output));
        int n = 0, before = -1;
        for (const char *p = sl_str_text(&h.output); (p = strstr(p, "\"index\":")); n++) {
            int index = atoi(p += 8);
            SL_CHECK(t, index > before && index < 20, "out of order: %s", sl_str_text(&h.output));
            times[index]++;
            before = index;
        }
        assert_int_equal(n, 5);
        log_clear(&h);
    }
    SL_CHECK(t, changes > rounds / 2, "%d seeds, %d samples", rounds, changes);
    // 5 of 20: each member in a quarter of the rounds; 6 standard deviations are allowed
    for (int i = 0; i < 20; i++) {
        double off = times[i] - 0.25 * rounds;
        SL_CHECK(t, off * off < 36 * 0.25 * 0.75 * rounds, "member %d in %d of %d samples", i,
                 times[i], rounds);
    }
    event_log h = { 0 };
    sl_json *j = run(t, &h, "{\"depth\":1,\"sample\":1000,\"threads\":1}"); // more than there are
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "listed")), 20);
    sl_io_json_free(j);
    log_clear(&h);
}

static void questions_have_answers(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *options, *output;
        bool ok;
    } cases[] = {
        { "{\"canon\":\"x2 + x1 + x2\"}", "x1 + 2*x2\n", true },
        { "{\"canon\":\"a*b*a\",\"names\":\"a,b\"}", "a^2*b\n", true },
        { "{\"canon\":\"\\\\frac{x_1}{x_1}\",\"input-format\":\"latex\"}", "1\n", true },
        { "{\"same\":[\"x1 + x2\",\"x2 + x1\"]}", "yes\n", true },
        { "{\"same\":[\"x1\",\"x2\"]}", "no\n", false },
        { "{\"same\":[\"x1/(x1+x2) + x2/(x1+x2)\",\"1\"]}", "unknown\n", false },
        { "{\"depth\":1,\"threads\":1,\"find\":\"x2*x1/x1\"}", "1\tx2\n", true },
        { "{\"depth\":1,\"threads\":1,\"find\":\"b\",\"names\":\"a,b\"}", "1\tb\n", true },
        { "{\"depth\":1,\"threads\":1,\"find\":\"x1 + 5\"}", "not in the set\n", false },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        sl_json *j = run(t, &h, cases[i].options);
        SL_CHECK(t, strcmp(sl_str_text(&h.output), cases[i].output) == 0, "%s: %s",
                 cases[i].options, sl_str_text(&h.output));
        SL_CHECK(t, (sl_io_json_int(sl_io_json_get(j, "exit")) == 0) == cases[i].ok, "%s: exit",
                 cases[i].options);
        sl_io_json_free(j);
        log_clear(&h);
    }
}

/* Under "json" the object that is returned is also what is printed. */
static void an_answer_as_json_is_the_result(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    char *result = NULL;
    SL_MUST(t, symlaw_command("expressions", "{\"canon\":\"x1+x1\",\"json\":true}", log_event, &h,
                              &result));
    assert_int_equal(h.output.len, strlen(result) + 1);
    assert_true(starts(sl_str_text(&h.output), result));
    assert_non_null(strstr(result, "\"expr\":\"2*x1\""));
    symlaw_string_free(result);
    log_clear(&h);
}

static void counts_add_up(void **state) {
    sl_fixture *t = *state;
    static const int64_t distinct[] = { 2, 18, 909 };
    event_log h = { 0 };
    sl_json *j = run(t, &h, "{\"depth\":2,\"count\":true,\"threads\":1}");
    const sl_json *levels = sl_io_json_get(j, "levels");
    assert_int_equal(sl_io_json_count(levels), 3);
    int64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        const sl_json *l = sl_io_json_at(levels, i);
        int64_t raw = sl_io_json_int(sl_io_json_get(l, "raw")),
                d = sl_io_json_int(sl_io_json_get(l, "distinct"));
        assert_int_equal(d, distinct[i]);
        assert_int_equal(raw, d + sl_io_json_int(sl_io_json_get(l, "constant")) +
                                  sl_io_json_int(sl_io_json_get(l, "nowhere")) +
                                  sl_io_json_int(sl_io_json_get(l, "known")));
        sum += raw;
    }
    assert_int_equal(sl_io_json_int(sl_io_json_get(sl_io_json_get(j, "total"), "raw")), sum);
    assert_int_equal(sl_io_json_int(sl_io_json_get(sl_io_json_get(j, "total"), "distinct")), 929);
    assert_non_null(strstr(sl_str_text(&h.output), "909"));
    assert_non_null(strstr(sl_str_text(&h.output), sl_io_json_text(sl_io_json_get(j, "hash"))));
    sl_io_json_free(j);
    log_clear(&h);
}

/* ---------------------------------------------------------------- failures ------------------ */

static void wrong_use_is_explained(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name, *options;
        sl_status st;
        const char *says;
    } cases[] = {
        { "expresions", NULL, SL_EINVAL, "unknown command expresions; did you mean expressions?" },
        { "zzz", NULL, SL_EINVAL, "unknown command zzz" },
        { "expressions", "{", SL_EFORMAT, "JSON, line 1" },
        { "expressions", "{\"depht\":2}", SL_EINVAL, "did you mean --depth?" },
        { "expressions", "{\"count\":true,\"find\":\"x1\"}", SL_EINVAL, "--count-only and --find" },
        { "expressions", "{\"canon\":\"x1\",\"same\":[\"a\",\"b\"]}", SL_EINVAL,
          "--canon and --same" },
        { "expressions", "{\"ops\":\"+,plus\"}", SL_EFORMAT, "plus" },
        { "expressions", "{\"names\":\"a\"}", SL_EINVAL,
          "--names has 1 names, but --variables is 2" },
        { "expressions", "{\"find\":\"x1 + x3\"}", SL_EFORMAT, "--find, column 6" },
        { "expressions", "{\"same\":[\"x1\",\"(x2\"]}", SL_EFORMAT, "--same, second expression" },
        { "expressions", "{\"canon\":\"\"}", SL_EFORMAT, "--canon, column 1" },
        { "expressions", "{\"canon\":\"x1\",\"out\":\"\"}", SL_EIO, "without a name" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        char *result = NULL;
        sl_status st = symlaw_command(cases[i].name, cases[i].options, log_event, &h, &result);
        SL_CHECK(t, st == cases[i].st, "%s %s is \"%s\": %s", cases[i].name, cases[i].options,
                 sl_status_text(st), sl_last_error());
        SL_CHECK(t, strstr(sl_last_error(), cases[i].says), "%s: %s", cases[i].options,
                 sl_last_error());
        SL_CHECK(t, !result && h.output.len == 0, "%s leaves something", cases[i].options);
        log_clear(&h);
    }
    assert_int_equal(symlaw_command(NULL, NULL, NULL, NULL, NULL), SL_EINVAL);
}

static void a_mistake_is_shown_in_its_text(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    assert_int_equal(
        symlaw_command("expressions", "{\"canon\":\"x1 + ) + 2\"}", log_event, &h, NULL),
        SL_EFORMAT);
    SL_CHECK(t, strcmp(sl_str_text(&h.excerpt), "    x1 + ) + 2\n         ^") == 0, "%s",
             sl_str_text(&h.excerpt));
    log_clear(&h);
}

static void a_file_appears_whole_or_not_at_all(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("list.txt");
    char options[4200];
    snprintf(options, sizeof options, "{\"depth\":2,\"threads\":1,\"out\":\"%s\"}", path);
    event_log h = { 0 };
    char *text = NULL;
    size_t n;
    sl_io_json_free(run(t, &h, options));
    assert_int_equal(h.output.len, 0);
    SL_MUST(t, sl_file_read(&text, &n, path, 1 << 20));
    assert_true(starts(text, "x1\nx2\n"));
    assert_int_equal(text[n - 1], '\n');
    sl_free(text);

    // every write that fails is noticed, and what was there before stays
    for (int64_t k = 1;; k++) {
        snprintf(options, sizeof options, "{\"depth\":1,\"threads\":1,\"out\":\"%s\"}", path);
        sl_file_fail_at(k);
        sl_status st = symlaw_command("expressions", options, NULL, NULL, NULL);
        sl_file_fail_at(0);
        if (st == SL_OK) {
            SL_CHECK(t, k > 1, "no write was made to fail");
            break;
        }
        assert_int_equal(st, SL_EIO);
        size_t m;
        SL_MUST(t, sl_file_read(&text, &m, path, 1 << 20));
        sl_free(text);
        SL_CHECK(t, m == n, "the old file is gone after write %lld", (long long)k);
    }
    log_clear(&h);
}

static void it_can_be_stopped_at_every_event(void **state) {
    stops_at_every_event(*state, "expressions",
                         "{\"depth\":2,\"format\":\"mathml\",\"threads\":1}");
}

static sl_status quietly(const char *options) { return quiet_status("expressions", options); }

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, quietly("{\"canon\":\"a*b + a*b\",\"names\":\"a,b\",\"json\":true}"));
    SL_EACH_ALLOCATION(t, quietly("{\"same\":[\"x1\",\"x2\"]}"));
    SL_EACH_ALLOCATION(t,
                       quietly("{\"depth\":1,\"ops\":\"+\",\"threads\":1,\"find\":\"x1 + x2\"}"));
    SL_EACH_ALLOCATION(t, quietly("{\"depth\":1,\"ops\":\"+\",\"threads\":1,\"json\":true}"));
}

/* Says stop once, to the first note, and then goes on listening. */
typedef struct once {
    event_log h;
    int after; // events behind the stop
    bool said;
} once;

static int stop_at_note(const symlaw_event *e, void *payload) {
    once *o = payload;
    log_event(e, &o->h);
    o->after += o->said;
    const bool stop = !o->said && e->kind == SYMLAW_EVENT_NOTE;
    o->said = o->said || stop;
    return stop;
}

/* Work cannot end at a note, but at what comes next. */
static void a_stop_at_a_note_counts(void **state) {
    sl_fixture *t = *state;
    once o = { 0 };
    char *result = NULL;
    const sl_status st =
        symlaw_command("expressions", "{\"depth\":2,\"size\":50,\"find\":\"x1 + 7\",\"threads\":1}",
                       stop_at_note, &o, &result);
    assert_true(o.said);
    SL_CHECK(t, st == SL_ECANCEL && o.after == 0, "%s, %d more events", sl_status_text(st),
             o.after);
    assert_null(result);
    assert_string_equal(sl_last_error(), "stopped on request");
    log_clear(&o.h);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_stop_at_a_note_counts),
        SL_TEST(tables_are_complete),
        SL_TEST(defaults_are_fit_values),
        SL_TEST(a_listing_is_lines_in_order),
        SL_TEST(json_lines_carry_index_and_level),
        SL_TEST(a_large_listing_comes_in_large_pieces),
        SL_TEST(a_sample_is_fair_and_repeats),
        SL_TEST(questions_have_answers),
        SL_TEST(an_answer_as_json_is_the_result),
        SL_TEST(counts_add_up),
        SL_TEST(wrong_use_is_explained),
        SL_TEST(a_mistake_is_shown_in_its_text),
        SL_TEST(a_file_appears_whole_or_not_at_all),
        SL_TEST(it_can_be_stopped_at_every_event),
        SL_TEST(lack_of_memory_is_reported),
    };
    sl_io_json_count_memory();
    return sl_test_main("api.command", tests, SL_LEN(tests));
}
