/* Pairs that others made: what they say is what is read, and what cannot be is reported. */
#include "fixture/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr_test.h"
#include "io/io_test.h"
#include "pairs/pairs.h"

static sl_status read_text(sl_pair_input *g, sl_fixture *t, const char *line, int variables) {
    return sl_pairs_read(g, &t->arena, line, strlen(line), variables);
}

/* ---------------------------------------------------------------- good lines ---------------- */

static void a_pair_is_what_the_line_says(void **state) {
    sl_fixture *t = *state;
    sl_pair_input g;
    SL_MUST(t, read_text(&g, t,
                         "{\"id\": \"a\\u00e4\", \"x\": [[1, 2.5, -3], [0, 1e3, 1e-400]],"
                         " \"y\": [4, 5, 100000000000000000000], \"expr\": \"x2**2 - x1\"}",
                         3));
    assert_string_equal(g.id, "a\xc3\xa4");
    assert_int_equal(g.data.inputs, 2);
    assert_int_equal(g.data.rows, 3);
    static const double want[3][3] = { { 1, 2.5, -3 }, { 0, 1e3, 0 }, { 4, 5, 1e20 } };
    const double *got[3] = { g.data.x[0], g.data.x[1], g.data.y };
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            SL_CHECK(t, got[k][i] == want[k][i], "value %d of list %d is %g", i, k, got[k][i]);
    sl_str s = { 0 };
    SL_MUST(t, sl_expr_print(&s, SL_FORMAT_INFIX, g.expr, NULL));
    assert_string_equal(sl_str_text(&s), "-x1 + x2^2");
    sl_str_clear(&s);
}

static void id_and_expr_may_be_missing(void **state) {
    sl_fixture *t = *state;
    sl_pair_input g;
    static const char *const cases[] = {
        "{\"y\": [1, 2], \"x\": [[3, 4]]}",
        "{\"y\": [1, 2], \"x\": [[3, 4]], \"id\": null, \"expr\": null}",
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        SL_MUST(t, read_text(&g, t, cases[i], 1));
        assert_string_equal(g.id, "");
        assert_null(g.expr);
    }
}

/* What we write has more in it, and so may what others write. */
static void other_fields_are_left_alone(void **state) {
    sl_fixture *t = *state;
    sl_pair_input g;
    SL_MUST(t, read_text(&g, t,
                         " {\"base\": \"x1\", \"latex\": null, \"tokens\": [1, [2]], \"x \": 7,"
                         " \"X\": [], \"x\": [[1, 2]], \"y\": [1, 1], \"n\": {\"x\": 1}} ",
                         2));
    assert_int_equal(g.data.inputs, 1);
}

static void a_whole_number_is_an_id(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "17", "17" },
        { "-9223372036854775808", "-9223372036854775808" },
        { "3.0", "3" }, // a table with gaps makes reals of whole numbers
        { "9007199254740992.0", "9007199254740992" },
        { "\"\"", "" },
        { "\"017\"", "017" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        char line[128];
        sl_pair_input g;
        snprintf(line, sizeof line, "{\"id\": %s, \"x\": [[1, 2]], \"y\": [1, 2]}", cases[i][0]);
        SL_MUST(t, read_text(&g, t, line, 1));
        assert_string_equal(g.id, cases[i][1]);
        assert_int_equal(g.id_whole, cases[i][0][0] != '"'); // so that it can be written as it was
    }
}

static double any_finite(sl_rng *rng) {
    for (;;) {
        uint64_t bits = sl_rng_u64(rng);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (isfinite(d)) return d;
    }
}

static void add_list(sl_str *s, const char *name, const double *v, int n) {
    sl_io_json_open(s, name, '[');
    for (int i = 0; i < n; i++) sl_io_json_add_real(s, NULL, v[i]);
    sl_io_json_close(s, ']');
}

/* Any numbers, any expression, any number of points; more than we would make ourselves. */
static void what_is_written_reads_back(void **state) {
    sl_fixture *t = *state;
    static double v[SL_UNIVERSE_MAX_VARS + 1][2 * SL_PAIRS_MAX_POINTS];
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        const int columns = 1 + (int)sl_rng_below(&t->rng, SL_UNIVERSE_MAX_VARS);
        const int points =
            i == 0 ? 2 * SL_PAIRS_MAX_POINTS : 2 + (int)sl_rng_below(&t->rng, i % 10 ? 8 : 300);
        for (int k = 0; k <= columns; k++)
            for (int p = 0; p < points; p++) v[k][p] = any_finite(&t->rng);
        const sl_node *e;
        sl_arena_rewind(&t->arena, 0);
        const sl_expr_random_options random = { 4, columns, 9, 0.2, 0, false };
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &random));
        SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));

        sl_str s = { 0 }, expr = { 0 };
        SL_MUST(t, sl_expr_print(&expr, i % 2 ? SL_FORMAT_INFIX : SL_FORMAT_PYTHON, e, NULL));
        sl_io_json_open(&s, NULL, '{');
        sl_io_json_add_text(&s, "expr", sl_str_text(&expr));
        add_list(&s, "y", v[columns], points);
        sl_io_json_open(&s, "x", '[');
        for (int k = 0; k < columns; k++) add_list(&s, NULL, v[k], points);
        sl_io_json_close(&s, ']');
        sl_io_json_add_int(&s, "id", i);
        sl_io_json_close(&s, '}');
        SL_MUST(t, sl_str_status(&s));

        sl_pair_input g;
        SL_MUST(t, sl_pairs_read(&g, &t->arena, s.text, s.len, SL_UNIVERSE_MAX_VARS));
        SL_CHECK(t, g.data.inputs == columns && g.data.rows == points, "%d inputs, %d rows",
                 g.data.inputs, (int)g.data.rows);
        const size_t bytes = (size_t)points * sizeof(double);
        for (int k = 0; k <= columns; k++)
            SL_CHECK(t, memcmp(k < columns ? g.data.x[k] : g.data.y, v[k], bytes) == 0,
                     "other values: %s", s.text);
        SL_CHECK(t, g.expr && sl_expr_equal(g.expr, e), "another expression: %s", s.text);
        SL_CHECK(t, atoi(g.id) == i, "another id: %s", g.id);
        sl_str_clear(&expr);
        sl_str_clear(&s);
    }
}

/* ---------------------------------------------------------------- bad lines ----------------- */

/* Each with two variables. A reason must stand alone: it comes behind "file.jsonl:12: ". */
static const char *const bad[][2] = {
    { "", "the line is empty" },
    { "[1, 2]", "the line is an array, not an object with x and y" },
    { "7", "the line is a whole number, not an object with x and y" },
    { "{\"x\": [[1, NaN]], \"y\": [1, 2]}", "column 12: NaN is no JSON number" },
    { "{\"x\": [[1, 2]], \"y\": [1, -Infinity]}", "column 26: -Infinity is no JSON number" },
    { "{\"x\": [[1, 1e999]], \"y\": [1, 2]}",
      "JSON, column 16: real number overflow near '1e999'" },
    { "{\"x\": [[1, 2]], \"y\": [1, 2]", "JSON, column 27: '}' expected near end of line" },

    { "{}", "there is no y" },
    { "{\"y\": [1, 2]}", "there is no x" },
    { "{\"y\": null}", "y is null, not a list of numbers" },
    { "{\"y\": {}}", "y is an object, not a list of numbers" },
    { "{\"y\": []}", "y has 0 values, but at least 2 are needed" },
    { "{\"y\": [1], \"x\": [[1]]}", "y has 1 value, but at least 2 are needed" },
    { "{\"y\": [1, null]}", "y[1] is null, not a number" },
    { "{\"y\": [\"1\", 2]}", "y[0] is a text, not a number" },
    { "{\"y\": [1, 2, true]}", "y[2] is true or false, not a number" },
    { "{\"y\": [[1, 2]], \"x\": [[1, 2]]}", "y has 1 value, but at least 2 are needed" },
    { "{\"y\": [[1], [2]], \"x\": [[1, 2]]}", "y[0] is an array, not a number" },

    { "{\"y\": [1, 2], \"x\": 3}",
      "x is a whole number; x must be a list of columns: [[...], [...]]" },
    { "{\"y\": [1, 2], \"x\": {\"x1\": [1, 2]}}",
      "x is an object; x must be a list of columns: [[...], [...]]" },
    { "{\"y\": [1, 2], \"x\": [1, 2.5]}",
      "x[0] is a whole number; x must be a list of columns: [[...], [...]]" },
    { "{\"y\": [1, 2], \"x\": [[1, 2], 2.5]}",
      "x[1] is a number; x must be a list of columns: [[...], [...]]" },
    { "{\"y\": [1, 2], \"x\": []}", "x has no columns" },
    { "{\"y\": [1, 2], \"x\": [[1, 2], [1, 2], [1, 2]]}",
      "x has 3 columns, but the configuration has 2 variables" },
    { "{\"y\": [1, 2, 3], \"x\": [[1, 2], [1, 2], [1, 2]]}",
      "x has 3 columns, but the configuration has 2 variables;"
      " x is one list per variable, not per point" },
    { "{\"y\": [1, 2, 3], \"x\": [[1, 2, 3], [1, 2]]}", "x[1] has 2 values but y has 3" },
    { "{\"y\": [1, 2, 3], \"x\": [[1], [1, 2]]}", "x[0] has 1 value but y has 3" },
    { "{\"y\": [1, 2], \"x\": [[1, 2, 3]]}", "x[0] has 3 values but y has 2" },
    { "{\"y\": [1, 2], \"x\": [[1, 2], [1, null]]}", "x[1][1] is null, not a number" },
    { "{\"y\": [1, 2], \"x\": [[[1], 2]]}", "x[0][0] is an array, not a number" },

    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"id\": true}",
      "id is true or false, not a text or whole number" },
    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"id\": [1]}",
      "id is an array, not a text or whole number" },
    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"id\": 1.5}", "id is 1.5, not a text or whole number" },
    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"id\": 9007199254740994.0}",
      "id is a number of too many digits; write it as a text" },
    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"id\": 12345678901234567890}",
      "id is a number of too many digits; write it as a text" },

    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"expr\": 2}", "expr is a whole number, not a text" },
    { "{\"y\": [1, 2], \"x\": [[1, 2]], \"expr\": \"c1*x1 + c2\"}",
      "expr has c2, a constant without a value" },
};

static void each_refusal_has_its_reason(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(bad); i++) {
        sl_pair_input g;
        sl_status st = read_text(&g, t, bad[i][0], 2);
        SL_CHECK(t, st == SL_EFORMAT, "%s: %s", bad[i][0], sl_status_text(st));
        SL_CHECK(t, strcmp(sl_last_error(), bad[i][1]) == 0, "%s: \"%s\", not \"%s\"", bad[i][0],
                 sl_last_error(), bad[i][1]);
    }
    sl_pair_input g;
    assert_int_equal(read_text(&g, t, "{\"y\": [1, 2], \"x\": [[1, 2], [3, 4]]}", 1), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "has 1 variable; "), "%s", sl_last_error());
}

static sl_status read_with_expr(sl_pair_input *g, sl_fixture *t, const char *expr) {
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    sl_io_json_add_text(&s, "expr", expr);
    sl_io_json_close(&s, '}');
    sl_str_truncate(&s, s.len - 1);
    sl_str_add(&s, ",\"x\":[[1,2]],\"y\":[1,2]}");
    SL_MUST(t, sl_str_status(&s));
    sl_status st = sl_pairs_read(g, &t->arena, s.text, s.len, 2);
    sl_str_clear(&s);
    return st;
}

/* Position and reason are the parser's own; there is one column, so there is no x2. */
static void a_bad_expression_is_reported_with_its_place(void **state) {
    sl_fixture *t = *state;
    static const char *const exprs[] = { "",     "x1 + x2",   "x1 +", "x1 + )",
                                         "sin(", "gamma(x1)", "a\n+b" };
    for (int i = 0; i < SL_LEN(exprs); i++) {
        const sl_node *e;
        const sl_names names = { .count = 1 };
        char want[512];
        sl_status st =
            sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, exprs[i], strlen(exprs[i]), &names, NULL);
        assert_int_equal(st, SL_EFORMAT);
        snprintf(want, sizeof want, "expr, %s", sl_last_error());
        SL_CHECK(t, strstr(want, "column "), "no place: %s", want);

        sl_pair_input g;
        st = read_with_expr(&g, t, exprs[i]);
        SL_CHECK(t, st == SL_EFORMAT, "\"%s\": %s", exprs[i], sl_status_text(st));
        SL_CHECK(t, strcmp(sl_last_error(), want) == 0, "\"%s\", not \"%s\"", sl_last_error(),
                 want);
    }
}

static void limits_of_expressions_are_limits(void **state) {
    sl_fixture *t = *state;
    sl_str deep = { 0 };
    for (int i = 0; i < 2 * SL_EXPR_MAX_DEPTH; i++) sl_str_add(&deep, "sin(");
    sl_str_add(&deep, "x1");
    for (int i = 0; i < 2 * SL_EXPR_MAX_DEPTH; i++) sl_str_add(&deep, ")");
    SL_MUST(t, sl_str_status(&deep));
    const char *cases[] = { sl_str_text(&deep), "9223372036854775807 * 9223372036854775807 + x1" };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_pair_input g;
        sl_status st = read_with_expr(&g, t, cases[i]);
        SL_CHECK(t, st == SL_ELIMIT && strncmp(sl_last_error(), "expr, ", 6) == 0, "%s: %s",
                 sl_status_text(st), sl_last_error());
    }
    sl_str_clear(&deep);

    sl_pair_input g; // not a byte of it is looked at
    assert_int_equal(sl_pairs_read(&g, &t->arena, "", (size_t)INT32_MAX + 1, 1), SL_ELIMIT);
}

static const char good[] =
    "{\"id\": \"a7\", \"x\": [[1, 2.25, 3e-2], [0.5, -7, 12345678901234567]],"
    " \"y\": [1.5, 2.5, 0.12345678901234567], \"expr\": \"x1 + 3*x2/4\"}";

/* A line that is not read leaves everything as it was and a message; one that is read is whole. */
static void judge(sl_fixture *t, const char *line, size_t n) {
    sl_pair_input g, before;
    memset(&g, 0x5A, sizeof g);
    before = g;
    const size_t mark = sl_arena_mark(&t->arena);
    sl_fail_restore("");
    sl_status st = sl_pairs_read(&g, &t->arena, line, n, 2);
    if (st != SL_OK) {
        SL_CHECK(t, st == SL_EFORMAT || st == SL_ELIMIT, "%.*s: %s", (int)n, line,
                 sl_status_text(st));
        SL_CHECK(t, *sl_last_error(), "no reason: %.*s", (int)n, line);
        SL_CHECK(t, memcmp(&g, &before, sizeof g) == 0, "touched: %.*s", (int)n, line);
        SL_CHECK(t, sl_arena_mark(&t->arena) == mark, "memory kept: %.*s", (int)n, line);
        return;
    }
    SL_CHECK(t, g.data.inputs >= 1 && g.data.inputs <= 2 && g.data.rows >= 2, "%d inputs, %d rows",
             g.data.inputs, (int)g.data.rows);
    for (int k = 0; k <= g.data.inputs; k++)
        for (int p = 0; p < g.data.rows; p++)
            SL_CHECK(t, isfinite(k < g.data.inputs ? g.data.x[k][p] : g.data.y[p]),
                     "not finite: %.*s", (int)n, line);
    if (g.expr)
        SL_CHECK(t, sl_expr_valid(g.expr, g.expr->len) && sl_expr_max_var(g.expr) <= g.data.inputs,
                 "no expression: %.*s", (int)n, line);
    sl_arena_rewind(&t->arena, mark);
}

static void half_a_line_is_refused(void **state) {
    sl_fixture *t = *state;
    const size_t whole = strlen(good);
    SL_CHECK(t, sl_arena_alloc(&t->arena, 100), "no memory"); // of another owner
    for (size_t n = 0; n < whole; n++) {
        char *exact = sl_malloc(n, 1); // so that a read past the end is seen
        assert_non_null(exact);
        memcpy(exact, good, n);
        sl_pair_input g;
        SL_CHECK(t, sl_pairs_read(&g, &t->arena, exact, n, 2) == SL_EFORMAT, "%zu bytes", n);
        judge(t, exact, n);
        sl_free(exact);
    }
    judge(t, good, whole);
}

static void any_bytes_are_read_or_refused(void **state) {
    sl_fixture *t = *state;
    static const char *const pieces[] = { "[",   "]",     "{",     "}",  ",",  ":",
                                          "\"",  "null",  "1e309", "-",  "0",  ".",
                                          "NaN", "\"x\"", "\\u0",  "\n", "x2", "[[1,2]]" };
    for (int i = 0; i < sl_test_iters(t, 20000); i++) {
        char line[2 * sizeof good];
        size_t n = strlen(good);
        memcpy(line, good, n);
        for (int k = 1 + (int)sl_rng_below(&t->rng, 4); k > 0; k--) {
            const size_t at = sl_rng_below(&t->rng, (uint32_t)n);
            const char *piece = pieces[sl_rng_below(&t->rng, SL_LEN(pieces))];
            switch (sl_rng_below(&t->rng, 4)) {
            case 0: line[at] = (char)sl_rng_below(&t->rng, 256); break;
            case 1: // a byte less
                memmove(line + at, line + at + 1, n - at - 1);
                n--;
                break;
            default: // something in between
                memmove(line + at + strlen(piece), line + at, n - at);
                memcpy(line + at, piece, strlen(piece));
                n += strlen(piece);
            }
        }
        judge(t, line, n);
    }
}

static sl_status read_good(sl_fixture *t) {
    sl_pair_input g;
    return sl_pairs_read(&g, &t->arena, good, strlen(good), 2);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, read_good(t));

    // and where the arena may not grow
    for (size_t limit = 1; limit < 4096; limit += 16) {
        t->arena.limit = limit;
        sl_status st = read_good(t);
        SL_CHECK(t, st == SL_OK || st == SL_ENOMEM, "%s", sl_last_error());
        if (st != SL_OK) SL_CHECK(t, sl_arena_mark(&t->arena) == 0, "memory kept");
        sl_arena_rewind(&t->arena, 0);
    }
    SL_MUST(t, read_good(t));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_pair_is_what_the_line_says),
        SL_TEST(id_and_expr_may_be_missing),
        SL_TEST(other_fields_are_left_alone),
        SL_TEST(a_whole_number_is_an_id),
        SL_TEST(what_is_written_reads_back),
        SL_TEST(each_refusal_has_its_reason),
        SL_TEST(a_bad_expression_is_reported_with_its_place),
        SL_TEST(limits_of_expressions_are_limits),
        SL_TEST(half_a_line_is_refused),
        SL_TEST(any_bytes_are_read_or_refused),
        SL_TEST(lack_of_memory_is_reported),
    };
    sl_io_json_count_memory();
    return sl_test_main("pairs.read", tests, SL_LEN(tests));
}
