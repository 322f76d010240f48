/* The command `pairs`: options, formats, ranges, figures. Files of others: t_pairs_from.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands_impl.h"
#include "commands/commands_test.h"

/* A set of 20 expressions and small tables: what each test adds its options to. */
#define SMALL "\"depth\":1,\"points\":5,\"threads\":1"

static sl_json *run(sl_fixture *t, event_log *h, const char *options) {
    return result_of(t, h, "pairs", options);
}

/* The same where only the output counts. */
static void print(sl_fixture *t, event_log *h, const char *options) {
    sl_io_json_free(run(t, h, options));
}

/* ---------------------------------------------------------------- options ------------------- */

/* What the options of the set and of pairs say, as the modules get it. */
typedef struct both {
    sl_commands_common common;
    sl_commands__set_options set;
    sl_pairs_options pairs;
} both;

static sl_commands_command of_both = {
    .info = { .name = "both" },
    .parts = { SL_COMMANDS__SET_PART(both, set), SL_COMMANDS_PAIRS_PART(both, pairs),
               SL_COMMANDS_COMMON_PART },
};

static void read_options(sl_fixture *t, sl_universe_options *u, sl_pairs_options *p,
                         const char *text) {
    both o = { .set = { .depth = 0 } };
    sl_json *j = text ? parsed(t, text, strlen(text)) : NULL;
    SL_MUST(t, sl_commands_options_read(&o, NULL, sl_commands_table(&of_both), j));
    SL_MUST(t, sl_commands__universe_options(u, &o.set, o.common.seed));
    *p = o.pairs;
    p->seed = (uint64_t)o.common.seed;
    sl_io_json_free(j);
}

/* By fields and not by memcmp: there may be holes between them. */
static bool equal(const sl_pairs_options *a, const sl_pairs_options *b) {
    bool same = a->seed == b->seed;
    for (int i = 0; i < sl_pairs_table.n; i++)
        same = same && sl_option_same(a, b, &sl_pairs_table.row[i]);
    return same;
}

static void defaults_are_those_of_the_modules(void **state) {
    sl_fixture *t = *state;
    const sl_universe_options uo = SL_UNIVERSE_OPTIONS_INIT;
    const sl_pairs_options po = sl_pairs_defaults();
    sl_universe_options u;
    sl_pairs_options p;
    read_options(t, &u, &p, NULL);
    assert_true(equal(&p, &po));
    assert_true(u.depth == uo.depth && u.variables == uo.variables && u.ops == uo.ops &&
                u.size == uo.size && u.seed == uo.seed && u.withheld == uo.withheld &&
                u.max_memory == uo.max_memory);
}

/* A value of the row that is not its default, as JSON and as a number. */
static double other_value(char json[64], const sl_option *o) {
    char name[SL_OPTION_TEXT_MAX];
    if (o->kind == SL_KIND_CHOICE) {
        const int place = o->value == 0 ? 1 : 0;
        snprintf(json, 64, "\"%s\"", sl_option_choice(name, o, place));
        return place;
    }
    double v = o->value == o->min ? o->min + 1 : o->min;
    SL_ASSERT(v != o->value && v <= o->max);
    snprintf(json, 64, "%.17g", v);
    return v;
}

static void every_option_reaches_its_field(void **state) {
    sl_fixture *t = *state;
    const sl_pairs_options init = sl_pairs_defaults();
    sl_universe_options u;
    sl_pairs_options p, wanted;
    char json[64], options[200];
    for (int i = 0; i < sl_pairs_table.n; i++) {
        const sl_option *o = &sl_pairs_table.row[i];
        const double v = other_value(json, o);
        snprintf(options, sizeof options, "{\"%s\":%s}", o->name, json);
        read_options(t, &u, &p, options);
        SL_CHECK(t, sl_option_number(&p, o) == v, "%s: the field is %g", options,
                 sl_option_number(&p, o));
        wanted = p;
        sl_option_copy(&wanted, &init, o);
        SL_CHECK(t, equal(&wanted, &init), "%s changes another field", options);
    }

    // by the former names of two of them
    read_options(t, &u, &p,
                 "{\"depth\":1,\"variables\":3,\"ops\":\"+,exp\",\"size\":7,\"withheld\":0.25,"
                 "\"max-memory\":2.5,\"seed\":11,\"limit\":17}");
    assert_int_equal(u.depth, 1);
    assert_int_equal(u.variables, 3);
    assert_int_equal(u.ops, 1u << SL_OPERATOR_EXP | 1u << SL_OPERATOR_ADD);
    assert_int_equal(u.size, 7);
    assert_true(u.withheld == 0.25 && p.max_y == 17);
    assert_int_equal(u.max_memory, 2500000000);
    assert_int_equal(u.seed, 11);
    assert_int_equal(p.seed, 11);
}

/* ---------------------------------------------------------------- JSON lines ---------------- */

static const double *reals(sl_fixture *t, const sl_json *array, int n) {
    double *v = sl_arena_alloc(&t->arena, (size_t)n * sizeof *v);
    assert_non_null(v);
    assert_int_equal(sl_io_json_count(array), n);
    for (int i = 0; i < n; i++) v[i] = sl_io_json_real(sl_io_json_at(array, i));
    return v;
}

/* Read back, a line is a pair: expr has the values y at x, to the bit, latex is the same
 * expression, and the tokens spell it. */
static void check_line(sl_fixture *t, const sl_json *j, int points, int columns) {
    static const char *const fields[] = { "id", "base", "expr", "latex", "tokens", "x", "y" };
    sl_json_member m = sl_io_json_first(j);
    for (int i = 0; i < SL_LEN(fields); i++, m = sl_io_json_next(j, m))
        assert_string_equal(m.name, fields[i]);
    assert_null(m.name);

    const char *expr = sl_io_json_text(sl_io_json_get(j, "expr"));
    const char *latex = sl_io_json_text(sl_io_json_get(j, "latex"));
    const sl_node *e, *l;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, expr, strlen(expr), NULL, NULL));
    SL_MUST(t, sl_expr_parse(&l, &t->arena, SL_FORMAT_LATEX, latex, strlen(latex), NULL, NULL));
    SL_CHECK(t, sl_expr_equal(e, l), "%s is not %s", latex, expr);

    const double *x[SL_UNIVERSE_MAX_VARS], *y = reals(t, sl_io_json_get(j, "y"), points);
    double value[SL_PAIRS_MAX_POINTS];
    const sl_json *xs = sl_io_json_get(j, "x");
    assert_int_equal(sl_io_json_count(xs), columns);
    for (int c = 0; c < columns; c++) x[c] = reals(t, sl_io_json_at(xs, c), points);
    SL_MUST(t, sl_expr_eval(value, &t->arena, e, x, points, NULL));
    for (int i = 0; i < points; i++)
        SL_CHECK(t, value[i] == y[i], "%s: y[%d] is %.17g, not %.17g", expr, i, y[i], value[i]);

    const sl_json *tokens = sl_io_json_get(j, "tokens");
    const int n = sl_io_json_count(tokens);
    sl_token ids[SL_TOKEN_MAX];
    sl_str spelled = { 0 };
    assert_in_range(n, 2, SL_TOKEN_MAX);
    for (int i = 0; i < n; i++) ids[i] = (sl_token)sl_io_json_int(sl_io_json_at(tokens, i));
    assert_int_equal(ids[n - 1], SL_TOKEN_END);
    assert_int_not_equal(ids[0], SL_TOKEN_START);
    sl_token_to_latex(&spelled, ids, n);
    SL_CHECK(t, strcmp(sl_str_text(&spelled), latex) == 0, "tokens spell %s, not %s",
             sl_str_text(&spelled), latex);
    sl_str_clear(&spelled);
}

static void a_line_is_a_pair(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    sl_json *result = run(t, &h, "{\"depth\":2,\"threads\":1,\"split\":\"test\",\"start\":17}");
    const char *line = output_of(&h);
    for (int i = 17; i < 1000; i++) {
        size_t n = strcspn(line, "\n");
        sl_json *j = parsed(t, line, n);
        char id[32];
        snprintf(id, sizeof id, "test/%d", i);
        assert_string_equal(sl_io_json_text(sl_io_json_get(j, "id")), id);
        assert_in_range(sl_io_json_int(sl_io_json_get(j, "base")), 0, 928);
        sl_arena_rewind(&t->arena, 0);
        check_line(t, j, 64, 2);
        sl_io_json_free(j);
        line += n + 1;
    }
    assert_string_equal(line, ""); // the rest of the split, and no more
    assert_int_equal(sl_io_json_int(sl_io_json_get(result, "start")), 17);
    assert_int_equal(sl_io_json_int(sl_io_json_get(result, "count")), 983);
    assert_string_equal(sl_io_json_text(sl_io_json_get(result, "split")), "test");
    sl_io_json_free(result);
    log_clear(&h);
}

static void a_range_may_be_cut_anywhere(void **state) {
    sl_fixture *t = *state;
    static const char *const formats[] = { "jsonl", "csv" };
    static const int cuts[] = { 0, 1, 2, 9, 73, 137, 140 };
    // tables of 300 points, so that 140 pairs are more than one block
    for (int f = 0; f < SL_LEN(formats); f++) {
        char options[200];
        event_log whole = { 0 }, pieces = { 0 };
        snprintf(options, sizeof options,
                 "{\"depth\":1,\"points\":300,\"threads\":1,\"format\":\"%s\",\"count\":140}",
                 formats[f]);
        print(t, &whole, options);
        for (int threads = 2; threads <= 3; threads++) {
            event_log more = { 0 };
            snprintf(options, sizeof options,
                     "{\"depth\":1,\"points\":300,\"threads\":%d,\"format\":\"%s\",\"count\":140}",
                     threads, formats[f]);
            print(t, &more, options);
            SL_CHECK(t, strcmp(output_of(&whole), output_of(&more)) == 0,
                     "%s: %d threads differ from one", formats[f], threads);
            log_clear(&more);
        }
        for (int i = 0; i + 1 < SL_LEN(cuts); i++) {
            event_log piece = { 0 };
            snprintf(options, sizeof options,
                     "{\"depth\":1,\"points\":300,\"threads\":%d,\"format\":\"%s\",\"start\":%d,"
                     "\"count\":%d}",
                     1 + i % 2, formats[f], cuts[i], cuts[i + 1] - cuts[i]);
            print(t, &piece, options);
            const char *text = output_of(&piece);
            if (f == 1 && i > 0) text = strchr(text, '\n') + 1; // each has the head of a table
            sl_str_add(&pieces.output, text);
            log_clear(&piece);
        }
        SL_CHECK(t, strcmp(output_of(&whole), output_of(&pieces)) == 0,
                 "%s: pieces differ from the whole", formats[f]);
        log_clear(&whole);
        log_clear(&pieces);
    }
}

static void the_number_of_workers_is_measured(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *options;
        int lines;
    } cases[] = {
        { "{" SMALL "}", 10 },
        { "{" SMALL ",\"start\":123456789}", 10 },
        { "{" SMALL ",\"count\":0}", 0 },
        { "{" SMALL ",\"count\":3}", 3 },
        { "{" SMALL ",\"index\":40}", 1 },
        { "{" SMALL ",\"split\":\"valid\",\"test-size\":31}", 31 },
        { "{" SMALL ",\"split\":\"test\",\"test-size\":31,\"start\":30}", 1 },
        { "{" SMALL ",\"split\":\"withheld\",\"test-size\":8,\"withheld\":0.4}", 8 },
        { "{" SMALL ",\"json\":true}", 10 },
        { "{" SMALL ",\"json\":true,\"format\":\"pretty\"}", 10 }, // JSON lines in its place
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        print(t, &h, cases[i].options);
        SL_CHECK(t, lines_of(&h) == cases[i].lines, "%s: %d lines", cases[i].options, lines_of(&h));
        SL_CHECK(t, h.output.len == 0 || output_of(&h)[0] == '{', "%s: %s", cases[i].options,
                 output_of(&h));
        SL_CHECK(t, h.notes.len == 0 || i == 1, "%s: %s", cases[i].options, sl_str_text(&h.notes));
        log_clear(&h);
    }
}

/* ---------------------------------------------------------------- other formats ------------- */

/* The pairs that a call prints, by the typed interface. */
static symlaw_pair *sample(sl_fixture *t, symlaw_set **set, symlaw_pairs **data,
                           const char *options, const char *split, int64_t index) {
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    symlaw_pair *s = NULL;
    o.depth = 1;
    o.threads = 1;
    SL_MUST(t, symlaw_set_open(set, &o, NULL, NULL));
    SL_MUST(t, symlaw_pairs_open(data, *set, options));
    SL_MUST(t, symlaw_pairs_get(&s, *data, split, index));
    return s;
}

static void a_csv_is_a_table(void **state) {
    sl_fixture *t = *state;
    event_log many = { 0 }, one = { 0 };
    print(t, &many, "{" SMALL ",\"format\":\"csv\",\"start\":6,\"count\":3}");
    print(t, &one, "{" SMALL ",\"format\":\"csv\",\"index\":7}");
    assert_int_equal(lines_of(&many), 1 + 3 * 5);
    assert_int_equal(lines_of(&one), 1 + 5);
    assert_int_equal(strncmp(output_of(&many), "pair,x1,x2,y\n6,", 15), 0);
    assert_int_equal(strncmp(output_of(&one), "x1,x2,y\n", 8), 0);

    // each line of the one is behind "7," in the other, and its numbers are the pair's to the bit
    symlaw_set *set = NULL;
    symlaw_pairs *data = NULL;
    symlaw_pair *s = sample(t, &set, &data, "{\"points\":5}", "train", 7);
    char *at = one.output.text + 8;
    for (int i = 0; i < 5; i++) {
        char line[200];
        snprintf(line, sizeof line, "\n7,%.*s\n", (int)strcspn(at, "\n"), at);
        SL_CHECK(t, strstr(output_of(&many), line), "no line %s in %s", line, output_of(&many));
        for (int c = 0; c < 3; c++, at++)
            assert_true(strtod(at, &at) == (c < 2 ? symlaw_pair_x(s, c)[i] : symlaw_pair_y(s)[i]));
    }
    assert_int_equal(*at, '\0');
    symlaw_pair_free(s);
    symlaw_pairs_close(data);
    symlaw_set_close(set);
    log_clear(&many);
    log_clear(&one);
}

static void an_array_has_the_numbers_of_the_pairs(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    print(t, &h, "{" SMALL ",\"format\":\"npy\",\"start\":3,\"count\":20,\"drop-column\":1}");
    assert_memory_equal(output_of(&h), "\x93NUMPY", 6);
    assert_non_null(strstr(output_of(&h) + 10, "'shape': (20, 5, 3)"));
    const size_t values = 20 * 5 * 3 * sizeof(double), head = h.output.len - values;
    assert_int_equal(head % 64, 0);
    const char *at = output_of(&h) + head;
    int left_out = 0;
    for (int k = 0; k < 20; k++) {
        symlaw_set *set = NULL;
        symlaw_pairs *data = NULL;
        symlaw_pair *s = sample(t, &set, &data, "{\"points\":5,\"drop-column\":1}", "train", 3 + k);
        left_out += symlaw_pair_columns(s) < 2;
        for (int i = 0; i < 5; i++, at += 3 * sizeof(double)) {
            double row[3];
            memcpy(row, at, sizeof row);
            for (int c = 0; c < 2; c++)
                assert_true(c < symlaw_pair_columns(s) ? row[c] == symlaw_pair_x(s, c)[i]
                                                       : isnan(row[c]));
            assert_true(row[2] == symlaw_pair_y(s)[i]);
        }
        symlaw_pair_free(s);
        symlaw_pairs_close(data);
        symlaw_set_close(set);
    }
    SL_CHECK(t, left_out > 0, "no pair with a column left out");
    log_clear(&h);

    // the same pairs as a table: nan where there is no column
    print(t, &h, "{" SMALL ",\"format\":\"csv\",\"start\":3,\"count\":20,\"drop-column\":1}");
    assert_int_equal(count_of(output_of(&h), ",nan,"), left_out * 5);
    log_clear(&h);
}

static void text_has_everything(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 }, lines = { 0 };
    print(t, &h,
          "{\"depth\":2,\"threads\":1,\"format\":\"pretty\",\"split\":\"test\",\"start\":17,"
          "\"count\":12}");
    print(t, &lines, "{\"depth\":2,\"threads\":1,\"split\":\"test\",\"start\":17,\"count\":12}");
    static const char *const rows[] = {
        "\n  latex       ", "\n  infix       ", "\n  base        #",
        "\n  constants   ", "\n  tokens      ", "\n  data        "
    };
    for (int i = 0; i < SL_LEN(rows); i++) assert_int_equal(count_of(output_of(&h), rows[i]), 12);
    assert_int_equal(strncmp(output_of(&h), "test/17\n", 8), 0);
    assert_int_equal(count_of(output_of(&h), "\n\ntest/"), 11);

    // the LaTeX is the one that the line has
    const char *line = output_of(&lines);
    for (int i = 0; i < 12; i++) {
        size_t n = strcspn(line, "\n");
        sl_json *j = parsed(t, line, n);
        char wanted[600];
        snprintf(wanted, sizeof wanted, "%s\n  latex       %s\n",
                 sl_io_json_text(sl_io_json_get(j, "id")),
                 sl_io_json_text(sl_io_json_get(j, "latex")));
        SL_CHECK(t, strstr(output_of(&h), wanted), "no %s in %s", wanted, output_of(&h));
        sl_io_json_free(j);
        line += n + 1;
    }
    // plots fit a terminal, and no line ends in blanks
    for (const char *p = output_of(&h); *p; p += strcspn(p, "\n") + 1) {
        size_t n = strcspn(p, "\n");
        SL_CHECK(t, n <= 80 || p[2] != ' ', "%zu characters: %.*s", n, (int)n, p);
        SL_CHECK(t, n == 0 || p[n - 1] != ' ', "blanks at the end of %.*s", (int)n, p);
    }
    log_clear(&h);
    log_clear(&lines);
}

static void what_was_put_in_is_returned(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    print(t, &h,
          "{\"depth\":0,\"variables\":1,\"points\":4,\"constant-chance\":0,\"format\":\"pretty\","
          "\"index\":0,\"threads\":1}");
    assert_non_null(strstr(output_of(&h), "base        #0 of 1, depth 0: x1\n"));
    assert_non_null(strstr(output_of(&h), "constants   none in 1 place\n"));
    assert_non_null(strstr(output_of(&h), "tokens      2: x_1 <end>\n"));
    assert_non_null(strstr(output_of(&h), "data        4 points, 1 column, y from "));
    log_clear(&h);

    // of a lone variable, what it became is the whole expression
    print(t, &h,
          "{\"depth\":0,\"variables\":1,\"points\":4,\"constant-chance\":1,\"format\":\"pretty\","
          "\"count\":200,\"threads\":1,\"draws\":200}");
    SL_CHECK(t, count_of(output_of(&h), "constants   2 in 1 place: x1 -> ") > 150, "%s",
             output_of(&h));
    const char *at = output_of(&h);
    int n = 0;
    while ((at = strstr(at, "\n  infix       "))) {
        const sl_node *e, *site;
        const char *infix = at + strlen("\n  infix       "), *became = strstr(at, " -> ") + 4;
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, infix, strcspn(infix, "\n"), NULL,
                                 NULL));
        SL_MUST(t, sl_expr_parse(&site, &t->arena, SL_FORMAT_INFIX, became, strcspn(became, "\n"),
                                 NULL, NULL));
        SL_CHECK(t, sl_expr_equal(e, site), "%.120s", at);
        at = infix;
        n++;
    }
    assert_int_equal(n, 200);
    assert_true(count_of(output_of(&h), "x1 -> -x1 ") > 0); // not -1*x1
    log_clear(&h);
}

/* ---------------------------------------------------------------- figures ------------------- */

static void a_configuration_has_hashes(void **state) {
    sl_fixture *t = *state;
    static const char *const same[] = {
        "{" SMALL ",\"hash\":true,\"test-size\":30}",
        "{" SMALL ",\"hash\":true,\"test-size\":30,\"json\":true}",
        "{\"depth\":1,\"points\":5,\"hash\":true,\"test-size\":30,\"threads\":3}",
    };
    char valid[33] = "", test[33] = "";
    for (int i = 0; i < SL_LEN(same); i++) {
        event_log h = { 0 };
        sl_json *j = run(t, &h, same[i]);
        const sl_json *hash = sl_io_json_get(j, "hash"), *set = sl_io_json_get(j, "set");
        assert_int_equal(sl_io_json_count(hash), 3); // nothing is withheld
        assert_int_equal(sl_io_json_int(sl_io_json_get(set, "size")), 20);
        assert_int_equal(sl_io_json_int(sl_io_json_get(set, "size_withheld")), 0);
        assert_int_equal(sl_io_json_int(sl_io_json_get(j, "pairs_per_pass")), 20 * 3600);
        if (i == 0) {
            snprintf(valid, sizeof valid, "%s", sl_io_json_text(sl_io_json_get(hash, "valid")));
            snprintf(test, sizeof test, "%s", sl_io_json_text(sl_io_json_get(hash, "test")));
            assert_int_equal(strlen(test), 32);
            assert_string_not_equal(valid, test);
        }
        assert_string_equal(sl_io_json_text(sl_io_json_get(hash, "valid")), valid);
        assert_string_equal(sl_io_json_text(sl_io_json_get(hash, "test")), test);
        assert_non_null(strstr(output_of(&h), test));
        assert_non_null(strstr(output_of(&h), sl_io_json_text(sl_io_json_get(set, "hash"))));
        sl_io_json_free(j);
        log_clear(&h);
    }
    // an export makes no pairs but its own
    event_log h = { 0 };
    sl_json *j = run(t, &h, "{" SMALL ",\"split\":\"test\",\"test-size\":30,\"index\":0}");
    assert_null(sl_io_json_get(j, "hash"));
    assert_non_null(sl_io_json_get(j, "set"));
    sl_io_json_free(j);
    log_clear(&h);
    // other data, other hash; and what is withheld has one
    j = run(t, &h, "{" SMALL ",\"hash\":true,\"test-size\":30,\"withheld\":0.4,\"limit\":3}");
    assert_int_equal(sl_io_json_count(sl_io_json_get(j, "hash")), 4);
    assert_string_not_equal(sl_io_json_text(sl_io_json_get(sl_io_json_get(j, "hash"), "test")),
                            test);
    assert_true(sl_io_json_int(sl_io_json_get(sl_io_json_get(j, "set"), "size_withheld")) > 0);
    sl_io_json_free(j);
    log_clear(&h);
}

/* A hash says nothing without what it is of: all options that are not the default and that data
 * depend on, as they are to be given again. */
static void a_configuration_is_printed_to_be_given_again(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 };
    print(t, &h, "{\"depth\":1,\"hash\":true,\"threads\":1,\"max-memory\":1,\"points\":64}");
    assert_non_null(strstr(output_of(&h), "\n  options        --depth 1\n"));
    log_clear(&h);
    print(t, &h,
          "{" SMALL ",\"hash\":true,\"seed\":3,\"ops\":\"sin, *\",\"noise\":0.1,"
          "\"retry\":\"whole\",\"min-spread\":0.30000000000000004}");
    assert_non_null(strstr(output_of(&h),
                           "\n  options        --seed 3 --depth 1 --ops 'sin, *' --points 5"
                           " --retry whole --min-spread 0.30000000000000004 --noise 0.1\n"));
    log_clear(&h);
    print(t, &h, "{\"depth\":3,\"size\":100000,\"ops\":\"sin\",\"test-size\":2,\"hash\":true}");
    assert_non_null(strstr(output_of(&h), "\n  options        --ops 'sin' --test-size 2\n"));
    log_clear(&h);
}

static void figures_are_printed_and_recorded(void **state) {
    sl_fixture *t = *state;
    event_log h = { 0 }, as_json = { 0 };
    sl_json *j = run(t, &h,
                     "{\"depth\":2,\"points\":8,\"threads\":1,\"stats\":500,\"disjoint\":700,"
                     "\"test-size\":50}");
    const sl_json *stats = sl_io_json_get(j, "stats");
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "exit")), 0);
    assert_int_equal(sl_io_json_int(sl_io_json_get(stats, "pairs")), 500);
    assert_int_equal(sl_io_json_int(sl_io_json_get(stats, "trained")), 700);
    assert_int_equal(sl_io_json_int(sl_io_json_get(stats, "shared")), 0);
    assert_int_equal(sl_io_json_count(sl_io_json_get(stats, "first_attempts")),
                     SL_PAIR_FAILURE_COUNT);
    const sl_json *checks = sl_io_json_get(stats, "checks");
    assert_true(sl_io_json_count(checks) > 5);
    for (int i = 0; i < sl_io_json_count(checks); i++) {
        const char *what = sl_io_json_text(sl_io_json_get(sl_io_json_at(checks, i), "what"));
        SL_CHECK(t, strstr(output_of(&h), what), "\"%s\" is not in %s", what, output_of(&h));
    }
    const sl_json *entropy = sl_io_json_get(j, "entropy");
    const double bases = sl_io_json_real(sl_io_json_get(entropy, "bases")),
                 draws = sl_io_json_real(sl_io_json_get(entropy, "draws")),
                 expressions = sl_io_json_real(sl_io_json_get(entropy, "expressions"));
    SL_CHECK(t, fabs(bases - log(929)) < 1e-9 && bases < expressions && expressions < draws,
             "%g nats of bases, %g of expressions, %g of draws", bases, expressions, draws);
    assert_int_equal(sl_io_json_int(sl_io_json_get(entropy, "pairs")), 500);
    assert_non_null(strstr(output_of(&h), "by 500 pairs\n"));
    assert_non_null(strstr(output_of(&h), "first attempts at 500 training pairs\n"));
    assert_non_null(strstr(output_of(&h), "overlap of other splits with 700 training pairs\n"));
    assert_non_null(strstr(output_of(&h), "\ngood: all "));
    assert_non_null(
        strstr(output_of(&h), sl_io_json_text(sl_io_json_get(sl_io_json_get(j, "hash"), "test"))));
    sl_io_json_free(j);

    // two white points are -1 and 1, so there are few pairs, and the splits have them in common
    sl_json *shared = run(t, &as_json,
                          "{\"depth\":0,\"variables\":1,\"points\":2,\"constant-chance\":0,"
                          "\"stats\":50,\"disjoint\":100,\"test-size\":50,\"threads\":1}");
    assert_int_equal(sl_io_json_int(sl_io_json_get(shared, "exit")), 1);
    assert_non_null(strstr(output_of(&as_json), "\nNOT GOOD: "));
    sl_io_json_free(shared);
    log_clear(&as_json);
    print(t, &as_json, "{" SMALL ",\"stats\":20,\"disjoint\":0,\"json\":true}");
    assert_int_equal(lines_of(&as_json), 1);
    assert_int_equal(output_of(&as_json)[0], '{');
    log_clear(&h);
    log_clear(&as_json);
}

/* ---------------------------------------------------------------- failures ------------------ */

static void wrong_use_is_explained(void **state) {
    sl_fixture *t = *state;
    static const sl_test_wrong cases[] = {
        { "{\"stats\":5,\"hash\":true}", SL_EINVAL, "--stats and --hash ask for different things" },
        { "{\"hash\":true,\"from\":\"a\"}", SL_EINVAL, "--hash and --from" },
        { "{\"stats\":5,\"index\":0}", SL_EINVAL, "--stats and --index" },
        { "{\"from\":\"a\",\"count\":1}", SL_EINVAL, "--from and --count" },
        { "{\"hash\":true,\"start\":1}", SL_EINVAL, "--hash and --start" },
        { "{\"stats\":5,\"split\":\"test\"}", SL_EINVAL, "--split has no meaning with --stats" },
        { "{\"hash\":true,\"split\":\"valid\"}", SL_EINVAL, "--split has no meaning with --hash" },
        { "{\"from\":\"a\",\"format\":\"csv\"}", SL_EINVAL, "--format has no meaning with --from" },
        { "{\"index\":5,\"start\":5}", SL_EINVAL, "--index is one pair and --start" },
        { "{\"index\":5,\"count\":5}", SL_EINVAL, "--index is one pair and --count" },
        { "{\"json\":true,\"format\":\"csv\"}", SL_EINVAL, "--json prints JSON lines" },
        { "{\"json\":true,\"format\":\"npy\"}", SL_EINVAL, "--format npy does not" },
        { "{\"split\":\"withheld\"}", SL_EINVAL,
          "no expressions are withheld; give --withheld 0.01, here and in training" },
        { "{" SMALL ",\"split\":\"withheld\",\"withheld\":1e-9}", SL_EINVAL,
          "no expressions are withheld" },
        { "{" SMALL ",\"split\":\"test\",\"index\":1000}", SL_EINVAL,
          "there is no pair 1,000: test has 1,000 pairs, 0 to 999; --test-size makes more" },
        { "{" SMALL ",\"split\":\"valid\",\"test-size\":5,\"start\":7}", SL_EINVAL,
          "there is no pair 7: valid has 5 pairs, 0 to 4" },
        { "{" SMALL ",\"split\":\"valid\",\"test-size\":5,\"start\":3,\"count\":3}", SL_EINVAL,
          "there is no pair 5: valid has 5 pairs" },
        { "{\"split\":\"tests\"}", SL_EINVAL, "did you mean test?" },
        { "{\"format\":\"json\"}", SL_EINVAL, "did you mean jsonl?" },
        { "{\"stats\":0}", SL_EINVAL, "--stats must be a whole number from 1" },
        { "{\"points\":1}", SL_EINVAL, "--points must be a whole number from 2 to 4096, not 1" },
        { "{\"whiten\":\"no\"}", SL_EINVAL, "--whiten must be one of off, on" },
        { "{\"ops\":\"plus\"}", SL_EFORMAT, "plus" },
        { "{\"variables\":4}", SL_EINVAL, "a set over 4 variables" },
        { "{\"from\":\"a\",\"variables\":4}", SL_EINVAL, "--variables 4: pairs have 1 to 3" },
        { "{\"from\":\"/no/such/file\"}", SL_EIO, "/no/such/file" },
        { "{\"from\":\"/\"}", SL_EIO, "folder" },
        { "{" SMALL ",\"limit\":1e-90}", SL_ELIMIT, "pair train/0 cannot be drawn" },
        { "{" SMALL ",\"withheld\":1}", SL_EINVAL, "all expressions are withheld" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        char *result = NULL;
        SL_REFUSED(t, symlaw_command("pairs", cases[i].options, log_event, &h, &result), &cases[i]);
        SL_CHECK(t, !result && h.output.len == 0, "%s leaves something", cases[i].options);
        log_clear(&h);
    }
}

static void another_pass_is_noted(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *range, *says;
    } cases[] = {
        { "\"count\":40", "" },
        { "\"start\":30,\"count\":11", "these continue into pass 2, with fresh draws" },
        { "\"start\":40,\"count\":1", "these are of pass 2" },
        { "\"index\":119", "one pass of training has 40 pairs; these are of pass 3" },
        { "\"start\":40,\"count\":0", "" },
        { "\"split\":\"test\",\"index\":41", "" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        event_log h = { 0 };
        char options[200];
        snprintf(options, sizeof options, "{" SMALL ",\"draws\":2,%s}", cases[i].range);
        print(t, &h, options);
        SL_CHECK(t, strstr(sl_str_text(&h.notes), cases[i].says), "%s: %s", cases[i].range,
                 sl_str_text(&h.notes));
        SL_CHECK(t, (h.notes.len == 0) == !*cases[i].says, "%s: %s", cases[i].range,
                 sl_str_text(&h.notes));
        log_clear(&h);
    }
}

static void a_file_appears_whole_or_not_at_all(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("pairs.jsonl");
    char options[700];
    event_log h = { 0 }, printed = { 0 };
    char *text = NULL;
    size_t n;
    snprintf(options, sizeof options, "{" SMALL ",\"count\":300,\"out\":\"%s\"}", path);
    print(t, &h, options);
    assert_int_equal(h.output.len, 0);
    SL_MUST(t, sl_file_read(&text, &n, path, 1 << 24));
    print(t, &printed, "{" SMALL ",\"count\":300}");
    assert_int_equal(n, printed.output.len);
    assert_memory_equal(text, output_of(&printed), n);
    sl_free(text);

    // every write that fails is noticed, and what was there before stays
    snprintf(options, sizeof options, "{" SMALL ",\"count\":2,\"out\":\"%s\"}", path);
    for (int64_t k = 1;; k++) {
        sl_file_fail_at(k);
        sl_status st = symlaw_command("pairs", options, NULL, NULL, NULL);
        sl_file_fail_at(0);
        if (st == SL_OK) {
            SL_CHECK(t, k > 1, "no write was made to fail");
            break;
        }
        assert_int_equal(st, SL_EIO);
        SL_CHECK(t, strstr(sl_last_error(), "pairs.jsonl"), "%s", sl_last_error());
        size_t m;
        SL_MUST(t, sl_file_read(&text, &m, path, 1 << 24));
        SL_CHECK(t, m == n && memcmp(text, output_of(&printed), n) == 0, "the old file is gone");
        sl_free(text);
    }
    log_clear(&h);
    log_clear(&printed);
}

static void it_can_be_stopped_at_every_event(void **state) {
    static const char *const jobs[] = {
        "{\"depth\":1,\"points\":300,\"threads\":1,\"count\":70}",
        "{\"depth\":1,\"points\":300,\"threads\":2,\"count\":70,\"format\":\"npy\"}",
        "{" SMALL ",\"stats\":10,\"disjoint\":10,\"test-size\":3}",
    };
    for (int i = 0; i < SL_LEN(jobs); i++) stops_at_every_event(*state, "pairs", jobs[i]);
}

static sl_status quietly(const char *options) { return quiet_status("pairs", options); }

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
#define TINY "\"depth\":1,\"ops\":\"+\",\"threads\":1,\"points\":3,\"test-size\":2,\"draws\":1"
    SL_EACH_ALLOCATION(t, quietly("{" TINY ",\"split\":\"test\"}"));
    SL_EACH_ALLOCATION(t, quietly("{" TINY ",\"split\":\"test\",\"format\":\"csv\"}"));
    SL_EACH_ALLOCATION(t, quietly("{" TINY ",\"split\":\"test\",\"format\":\"npy\"}"));
    SL_EACH_ALLOCATION(t, quietly("{" TINY ",\"split\":\"test\",\"format\":\"pretty\"}"));
    SL_EACH_ALLOCATION(t, quietly("{" TINY ",\"hash\":true}"));
    SL_EACH_ALLOCATION(t, quietly("{" TINY ",\"stats\":3,\"disjoint\":3}"));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(defaults_are_those_of_the_modules),
        SL_TEST(every_option_reaches_its_field),
        SL_TEST(a_line_is_a_pair),
        SL_TEST(a_range_may_be_cut_anywhere),
        SL_TEST(the_number_of_workers_is_measured),
        SL_TEST(a_csv_is_a_table),
        SL_TEST(an_array_has_the_numbers_of_the_pairs),
        SL_TEST(text_has_everything),
        SL_TEST(what_was_put_in_is_returned),
        SL_TEST(a_configuration_has_hashes),
        SL_TEST(a_configuration_is_printed_to_be_given_again),
        SL_TEST(figures_are_printed_and_recorded),
        SL_TEST(wrong_use_is_explained),
        SL_TEST(another_pass_is_noted),
        SL_TEST(a_file_appears_whole_or_not_at_all),
        SL_TEST(it_can_be_stopped_at_every_event),
        SL_TEST(lack_of_memory_is_reported),
    };
    setenv("SYMLAW_CACHE", "off", 1); // a set from there takes other allocations and events
    sl_io_json_count_memory();
    return sl_test_main("api.pairs", tests, SL_LEN(tests));
}
