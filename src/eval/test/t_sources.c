/* Where problems come from: each is what it says, the same each time it is asked for. */
#include <stdlib.h>

#include "eval/test/small.h"

static const char lines_text[] =
    "{\"id\": \"a\", \"x\": [[1, 2, 3], [0, 1, 4]], \"y\": [1, 3, 7], \"expr\": \"x1 + x2\"}\n"
    "\n"
    "{\"id\": 7, \"x\": [[1, 2]], \"y\": [1, 2.5]}\r\n"
    "{\"x\": [[1, 2, 5]], \"y\": [1, 4, 25], \"expr\": \"cos(3*x1) + 2\"}";

static const char formulas_text[] = "nvars,name,formula,lo,hi,npoints\n"
                                    "2,one,x1 * x2 ** 2 / 2,1,5,100000\n"
                                    "1,two,sqrt(x1),-10,10,20\n"
                                    "4,many,x1*x4,1,5,20\n"
                                    "1,never,sqrt(-1 - x1**2),1,5,20\n"
                                    "2,last,\"x2, 1\",0,1,20\n";

static void same_problem(sl_fixture *t, const sl_eval_problem *a, const sl_eval_problem *b) {
    const sl_dataset *const pa[2] = { &a->data, &a->fresh }, *const pb[2] = { &b->data, &b->fresh };
    assert_string_equal(a->id, b->id);
    assert_true(!a->truth == !b->truth && (!a->truth || sl_expr_equal(a->truth, b->truth)));
    assert_int_equal(a->n_tokens, b->n_tokens);
    assert_memory_equal(a->n_tokens ? a->tokens : (const void *)"",
                        a->n_tokens ? b->tokens : (const void *)"", (size_t)a->n_tokens);
    assert_true(a->depth == b->depth && a->constants == b->constants);
    for (int k = 0; k < 2; k++) {
        const size_t n = (size_t)pa[k]->rows * sizeof(double);
        SL_CHECK(t, pa[k]->rows == pb[k]->rows && pa[k]->inputs == pb[k]->inputs, "%s", a->id);
        for (int v = 0; v < pa[k]->inputs && n; v++)
            assert_memory_equal(pa[k]->x[v], pb[k]->x[v], n);
        if (n) assert_memory_equal(pa[k]->y, pb[k]->y, n);
    }
}

/* y is the truth's value, and finite. */
static void judge_points(sl_fixture *t, const sl_dataset *p, const sl_node *truth) {
    for (int64_t i = 0; i < p->rows; i++) {
        const double *at[SL_DATA_MAX_INPUTS];
        double y;
        for (int v = 0; v < p->inputs; v++) at[v] = &p->x[v][i];
        SL_MUST(t, sl_expr_eval(&y, &t->arena, truth, at, 1, NULL));
        SL_CHECK(t, isfinite(y) && y == p->y[i], "%s: %g, not %g", text_of(truth), p->y[i], y);
    }
}

/* Built twice, into arenas apart. */
static void judge_source(sl_fixture *t, const sl_eval_source *s) {
    sl_arena other = { 0 };
    for (int64_t i = s->count - 1; i >= 0; i--) {
        sl_eval_problem a, b;
        sl_arena_rewind(&other, 0);
        SL_MUST(t, s->get(&a, &t->arena, i, s));
        SL_MUST(t, s->get(&b, &other, i, s));
        same_problem(t, &a, &b);
    }
    sl_arena_clear(&other);
}

/* ---------------------------------------------------------------- a split ------------------- */

static sl_universe *universe(sl_fixture *t, double withheld) {
    sl_universe *u;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = 2;
    o.size = 0;
    o.withheld = withheld;
    SL_MUST(t, sl_universe_new(&u, NULL, &o, NULL));
    return u;
}

static void a_split_is_its_pairs(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = universe(t, 0.2);
    sl_pairs_options o = sl_pairs_defaults();
    sl_pairs *pairs;
    o.test_size = 30;
    o.noise = 0.1;
    o.drop_column = 0.5;
    SL_MUST(t, sl_pairs_new(&pairs, u, &o));
    for (sl_split split = SL_SPLIT_VALID; split < SL_SPLIT_COUNT; split++) {
        sl_eval_source s;
        SL_MUST(t, sl_eval_from_split(&s, pairs, split, 0));
        assert_int_equal(s.count, 30);
        assert_string_equal(s.name, sl_pairs_split_name(split));
        judge_source(t, &s);
        int moved = 0;
        for (int64_t i = 0; i < s.count; i++) {
            sl_eval_problem p;
            sl_pair e;
            char id[40];
            SL_MUST(t, s.get(&p, &t->arena, i, &s));
            SL_MUST(t, sl_pairs_get(&e, &t->arena, pairs, split, i));
            snprintf(id, sizeof id, "%s/%d", sl_pairs_split_name(split), (int)i);
            assert_string_equal(p.id, id);
            assert_true(sl_expr_equal(p.truth, e.expr) && p.n_tokens == e.n_tokens);
            assert_memory_equal(p.tokens, e.tokens, (size_t)e.n_tokens);
            assert_int_equal(p.depth, sl_universe_level(u, e.base));
            assert_true(p.constants >= 0);
            assert_true(p.data.rows == 64 && p.data.inputs == e.data.inputs && p.fresh.rows == 256);
            assert_memory_equal(p.data.y, e.data.y, 64 * sizeof *e.data.y); // with its noise
            for (int c = 0; c < e.data.inputs; c++)
                assert_memory_equal(p.data.x[c], e.data.x[c], 64 * sizeof *e.data.y);
            judge_points(t, &p.fresh, p.truth); // without
            moved += p.fresh.x[0][0] != p.data.x[0][0];
        }
        assert_int_equal(moved, 30);
        sl_eval_source_clear(&s);
        sl_eval_source_clear(&s); // twice does nothing

        SL_MUST(t, sl_eval_from_split(&s, pairs, split, 7));
        assert_int_equal(s.count, 7);
        sl_eval_source_clear(&s);
        SL_MUST(t, sl_eval_from_split(&s, pairs, split, 700));
        assert_int_equal(s.count, 30);
        sl_eval_source_clear(&s);
    }
    sl_pairs_free(pairs);
    sl_universe_free(u);
}

static void nothing_withheld_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_universe *u = universe(t, 0);
    sl_pairs_options o = sl_pairs_defaults();
    sl_pairs *pairs;
    sl_eval_source s;
    SL_MUST(t, sl_pairs_new(&pairs, u, &o));
    assert_int_equal(sl_eval_from_split(&s, pairs, SL_SPLIT_WITHHELD, 0), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "withheld"), "%s", sl_last_error());
    sl_pairs_free(pairs);
    sl_universe_free(u);
}

static void constants_are_counted(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text;
        int n;
    } list[] = { { "x1", 0 },       { "-x1", 0 },           { "x1**2 - sqrt(x2)", 0 },
                 { "3*x1 + 2", 2 }, { "x1/2 + 7/x2", 2 },   { "sin(4*x1 - 1)*9", 3 },
                 { "5", 1 },        { "x1 - x2*exp(2)", 1 } };
    for (int i = 0; i < SL_LEN(list); i++) {
        int n;
        SL_MUST(t, sl_eval__constants(&n, &t->arena, parsed(t, list[i].text)));
        SL_CHECK(t, n == list[i].n, "%s has %d", list[i].text, n);
    }
}

/* ---------------------------------------------------------------- lines --------------------- */

static void lines_are_problems(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("pairs.jsonl");
    sl_eval_source s;
    sl_eval_problem p;
    sl_test_write_text(path, lines_text);
    SL_MUST(t, sl_eval_from_lines(&s, path, 2, 0));
    assert_string_equal(s.name, path);
    assert_int_equal(s.count, 3);
    judge_source(t, &s);

    SL_MUST(t, s.get(&p, &t->arena, 0, &s));
    assert_true(strcmp(p.id, "a") == 0 && !p.id_whole && p.truth && p.depth == -1);
    assert_true(p.data.inputs == 2 && p.data.rows == 3 && p.data.x[1][2] == 4 && p.data.y[2] == 7);
    assert_true(p.n_tokens == 4 && p.tokens[3] == SL_TOKEN_END && p.constants == 0);
    assert_int_equal(p.fresh.rows, 256);
    judge_points(t, &p.fresh, p.truth);
    double lo = 9, hi = 0;
    for (int i = 0; i < 256; i++) { // inside the box of its own rows, and all over it
        assert_true(p.fresh.x[0][i] >= 1 && p.fresh.x[0][i] <= 3);
        lo = fmin(lo, p.fresh.x[1][i]);
        hi = fmax(hi, p.fresh.x[1][i]);
    }
    SL_CHECK(t, lo >= 0 && lo < 0.3 && hi <= 4 && hi > 3.7, "x2 from %g to %g", lo, hi);

    SL_MUST(t, s.get(&p, &t->arena, 1, &s));
    assert_true(strcmp(p.id, "7") == 0 && p.id_whole && !p.truth && p.constants == -1);
    assert_true(!p.tokens && p.n_tokens == 0 && p.data.inputs == 1 && p.fresh.rows == 0);

    SL_MUST(t, s.get(&p, &t->arena, 2, &s));
    assert_true(strcmp(p.id, "4") == 0 && p.id_whole);     // its line
    assert_true(p.truth && !p.tokens && p.constants == 2); // no token is a cosine
    sl_eval_source_clear(&s);

    SL_MUST(t, sl_eval_from_lines(&s, path, 2, 2));
    assert_int_equal(s.count, 2);
    sl_eval_source_clear(&s);
}

/* Tokens are those that training would have: numbers merged. */
static void tokens_are_as_in_training(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("tokens.jsonl");
    sl_eval_source s;
    sl_eval_problem p;
    sl_token ids[SL_TOKEN_MAX];
    sl_str text = { 0 };
    const sl_node *merged;
    int n;
    sl_test_write_text(path, "{\"x\": [[1, 2]], \"y\": [1, 2], \"expr\": \"2*(x1 + 3)\"}\n");
    SL_MUST(t, sl_eval_from_lines(&s, path, 1, 0));
    SL_MUST(t, s.get(&p, &t->arena, 0, &s));
    SL_MUST(t, sl_expr_merge(&merged, &t->arena, parsed(t, "2*(x1 + 3)")));
    SL_MUST(t, sl_token_from_expr(ids, &n, SL_TOKEN_MAX, merged, &text));
    assert_int_equal(p.n_tokens, n);
    assert_memory_equal(p.tokens, ids, (size_t)n);
    assert_true(sl_expr_equal(p.truth, parsed(t, "2*(x1 + 3)")));
    sl_str_clear(&text);
    sl_eval_source_clear(&s);
}

static void bad_lines_are_named(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("bad.jsonl");
    static const struct {
        const char *text, *said;
        sl_status st;
    } list[] = {
        { "", "no pairs", SL_EFORMAT },
        { "\n  \n", "no pairs", SL_EFORMAT },
        { "{\"x\": [[1, 2]], \"y\": [1, 2]}\n\n{\"x\": [[1, 2]], \"y\": [1, null]}\n",
          "bad.jsonl:3: y[1]", SL_EFORMAT },
        { "{\"x\": [[1, 2], [1, 2]], \"y\": [1, 2]}\n", "bad.jsonl:1: x has 2 columns",
          SL_EFORMAT },
        { "{\"id\": \"b\", \"x\": [[1, 2]], \"y\": [1, 2]}\n{\"id\": \"a\", \"x\": [[1, 2]], "
          "\"y\": [1, 2]}\n"
          "{\"id\": \"b\", \"x\": [[1, 2]], \"y\": [1, 2]}\n",
          "bad.jsonl:3: the id \"b\" is that of line 1 too", SL_EFORMAT },
        { "{\"id\": 2, \"x\": [[1, 2]], \"y\": [1, 2]}\n{\"x\": [[1, 2]], \"y\": [1, 2]}\n",
          "bad.jsonl:2: the id \"2\" is that of line 1 too", SL_EFORMAT },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        sl_eval_source s;
        sl_test_write_text(path, list[i].text);
        assert_int_equal(sl_eval_from_lines(&s, path, 1, 0), list[i].st);
        SL_CHECK(t, strstr(sl_last_error(), list[i].said), "%s", sl_last_error());
    }
    sl_eval_source s;
    assert_int_equal(sl_eval_from_lines(&s, sl_test_path("none"), 1, 0), SL_EIO);
}

/* ---------------------------------------------------------------- formulas ------------------ */

static void formulas_are_problems(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("formulas.csv");
    char text[sizeof formulas_text];
    sl_eval_source s, again;
    sl_eval_problem p, q;
    int skipped = -1;
    sl_eval_formulas o = { .variables = 2, .max_points = 50, .seed = 3 };
    strcpy(text, formulas_text);
    *strstr(text, "2,last") = '\0'; // which is none
    sl_test_write_text(path, text);
    SL_MUST(t, sl_eval_from_formulas(&s, path, &o, &skipped));
    assert_true(s.count == 2 && skipped == 2);
    judge_source(t, &s);

    SL_MUST(t, s.get(&p, &t->arena, 0, &s));
    assert_string_equal(p.id, "one");
    assert_true(p.data.inputs == 2 && p.data.rows == 50 && p.fresh.rows == 256);
    assert_true(p.tokens && p.constants == 1 && p.depth == -1);
    judge_points(t, &p.data, p.truth);
    judge_points(t, &p.fresh, p.truth);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 50; i++) assert_true(p.data.x[k][i] >= 1 && p.data.x[k][i] <= 5);
    assert_true(p.data.x[0][0] != p.fresh.x[0][0] && p.data.x[0][0] != p.data.x[1][0]);

    SL_MUST(t, s.get(&q, &t->arena, 1, &s)); // real on one half of its range
    assert_string_equal(q.id, "two");
    assert_true(q.data.inputs == 1 && q.data.rows == 20);
    judge_points(t, &q.data, q.truth);
    double *u = sl_arena_alloc(&t->arena, 256 * sizeof *u);
    for (int i = 0; i < 256; i++) u[i] = q.fresh.x[0][i] / 10;
    assert_true(sl_num_ks_uniform(u, 256) > 1e-4); // evenly

    // further rows and a limit change nothing; a seed does
    o.limit = 1;
    SL_MUST(t, sl_eval_from_formulas(&again, path, &o, &skipped));
    assert_true(again.count == 1 && skipped == 0);
    SL_MUST(t, again.get(&q, &t->arena, 0, &again));
    same_problem(t, &p, &q);
    sl_eval_source_clear(&again);
    o.seed = 4;
    SL_MUST(t, sl_eval_from_formulas(&again, path, &o, &skipped));
    SL_MUST(t, again.get(&q, &t->arena, 0, &again));
    assert_true(q.data.x[0][0] != p.data.x[0][0]);
    sl_eval_source_clear(&again);
    o.rows = 70; // said by the caller: the table's number and the bound do not hold
    SL_MUST(t, sl_eval_from_formulas(&again, path, &o, &skipped));
    SL_MUST(t, again.get(&q, &t->arena, 0, &again));
    assert_int_equal(q.data.rows, 70);
    sl_eval_source_clear(&again);
    sl_eval_source_clear(&s);
}

static const char named_text[] =
    "name,formula,variables,field\n"
    "energy,m*v**2/2 + gamma,v:1:2  m:-3:-1 gamma:0:0.5 idle:7:8,mechanics\n"
    "wide,a1*a2*a3*a4*a5*a6*a7*a8*a9*a10*a11*a12*a13*a14*a15*a16,"
    "a1:1:2 a2:1:2 a3:1:2 a4:1:2 a5:1:2 a6:1:2 a7:1:2 a8:1:2 a9:1:2 a10:1:2 a11:1:2 a12:1:2 "
    "a13:1:2 "
    "a14:1:2 a15:1:2 a16:1:2,none\n";

/* Each variable has its name and its range, in the order of the cell; some may not matter. */
static void ranges_go_with_names(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("named.csv");
    static const double lo[] = { 1, -3, 0, 7 }, hi[] = { 2, -1, 0.5, 8 };
    sl_eval_formulas o = { .variables = SL_DATA_MAX_INPUTS, .max_points = 50, .seed = 3 };
    sl_eval_source s;
    sl_eval_problem p;
    int skipped;
    sl_test_write_text(path, named_text);
    SL_MUST(t, sl_eval_from_formulas(&s, path, &o, &skipped));
    assert_true(s.count == 2 && skipped == 0);
    judge_source(t, &s);
    SL_MUST(t, s.get(&p, &t->arena, 0, &s));
    assert_true(p.data.inputs == 4 && p.data.rows == 200 && p.fresh.rows == 256);
    assert_true(p.data.inputs == 4 && strcmp(p.data.names[1], "m") == 0);
    assert_true(sl_expr_equal(p.truth, parsed(t, "x2*x1**2/2 + x3")));
    judge_points(t, &p.data, p.truth);
    for (int v = 0; v < 4; v++)
        for (int i = 0; i < 200; i++)
            assert_true(p.data.x[v][i] >= lo[v] && p.data.x[v][i] <= hi[v]);
    SL_MUST(t, s.get(&p, &t->arena, 1, &s));
    assert_int_equal(p.data.inputs, 16);
    judge_points(t, &p.fresh, p.truth);
    sl_eval_source_clear(&s);

    o.variables = 3;
    o.rows = 16;
    assert_int_equal(sl_eval_from_formulas(&s, path, &o, &skipped), SL_EFORMAT); // 4 and 16
    o.variables = 4;
    SL_MUST(t, sl_eval_from_formulas(&s, path, &o, &skipped));
    SL_MUST(t, s.get(&p, &t->arena, 0, &s));
    assert_true(s.count == 1 && skipped == 1 && p.data.rows == 16);
    sl_eval_source_clear(&s);
}

static void bad_ranges_are_named(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *said;
    } list[] = {
        { "", "character 1: there is no variable" },
        { "  ", "character 3: there is no variable" },
        { "m", "character 2: after a name comes a colon" },
        { "m:1", "character 4: a range has two ends" },
        { "m:1:", "character 5: is not a number" },
        { "m: 1:2", "character 3: is not a number" },
        { "m:1:inf", "character 5: is not a number" },
        { "m:1:2x", "character 6: after a range comes a space" },
        { "m:1:2:3", "character 6: after a range comes a space" },
        { "m:1:2 v:2:2", "character 7: the low end must be below" },
        { "m:1:2 m:2:3", "character 7: this name is there twice" },
        { "m:1:2 2v:2:3", "character 7: a name begins with a letter" },
        { "a:0:1 b:0:1 c:0:1 d:0:1 e:0:1 f:0:1 g:0:1 h:0:1 i:0:1 j:0:1 k:0:1 l:0:1 m:0:1 n:0:1 "
          "o:0:1 p:0:1 q:0:1",
          "character 97: more variables than the 16" },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        sl_eval__box box;
        assert_int_equal(sl_eval__ranges_read(&box, &t->arena, list[i].text), SL_EFORMAT);
        SL_CHECK(t, strstr(sl_last_error(), list[i].said), "%s: %s", list[i].text, sl_last_error());
    }
}

/* ---------------------------------------------------------------- errors in y --------------- */

/* Noise of the size that was asked for, the same each time; the truth and fresh points stay. */
static void errors_are_added_to_y(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("errors.csv");
    const sl_eval_formulas o = { .variables = 4, .rows = 4000, .max_points = 50, .seed = 3 };
    sl_eval_source plain, s;
    sl_eval_problem p, q;
    int skipped;
    sl_test_write_text(path, named_text);
    SL_MUST(t, sl_eval_from_formulas(&plain, path, &o, &skipped));
    SL_MUST(t, plain.get(&p, &t->arena, 0, &plain));
    double square = 0, error = 0;
    SL_MUST(t, sl_eval_with_errors(&s, &plain, 0.1, 0, 5));
    assert_true(!plain.clear && s.count == 1 && strcmp(s.name, path) == 0);
    judge_source(t, &s);
    SL_MUST(t, s.get(&q, &t->arena, 0, &s));
    assert_true(q.y_true == p.data.y && q.data.y != p.data.y && sl_expr_equal(q.truth, p.truth));
    judge_points(t, &q.fresh, q.truth);
    for (int i = 0; i < 4000; i++) {
        square += p.data.y[i] * p.data.y[i];
        error += (q.data.y[i] - p.data.y[i]) * (q.data.y[i] - p.data.y[i]);
    }
    SL_CHECK(t, fabs(sqrt(error / square) - 0.1) < 0.005, "noise of %g", sqrt(error / square));
    sl_eval_source_clear(&s);

    SL_MUST(t, sl_eval_from_formulas(&plain, path, &o, &skipped));
    SL_MUST(t, sl_eval_with_errors(&s, &plain, 0, 3, 5));
    SL_MUST(t, s.get(&q, &t->arena, 0, &s));
    for (int i = 0; i < 4000; i++) {
        char text[40];
        snprintf(text, sizeof text, "%.2e", q.y_true[i]);
        assert_true(q.data.y[i] == strtod(text, NULL));
    }
    sl_eval_source_clear(&s);
}

static void bad_formulas_are_named(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("bad.csv");
    static const struct {
        const char *text, *said;
    } list[] = {
        { formulas_text, "bad.csv:6: formula," },
        { "name,formula,lo,hi\na,x1,0,1\n", "no column \"npoints\"" },
        { "name,formula,lo,hi,npoints\na,x1,0,one,10\n", "bad.csv:2: hi is not a number" },
        { "name,formula,lo,hi,npoints\na,x1,0,0,10\n", "bad.csv:2: lo must be below hi" },
        { "name,formula,lo,hi,npoints\na,x1,0,1,1\n", "bad.csv:2: npoints must be" },
        { "name,formula,lo,hi,npoints\na,x1,0,1,2.5\n", "bad.csv:2: npoints must be" },
        { "name,formula,lo,hi,npoints\na,c1*x1,0,1,10\n", "constant without a value" },
        { "name,formula,lo,hi,npoints\na,x1,0,1,10\na,x2,0,1,10\n", "bad.csv:3: name" },
        { "name,formula,lo,hi,npoints\na,x3,0,1,10\n", "no formula that can be used; 1 with" },
        { "name,formula,variables\n\na,m*v,m:1:2\n", "bad.csv:3: formula," },
        { "name,formula,variables\na,m,m:1\n", "bad.csv:2: variables, character 4: a range" },
        { "name,variables\na,m:1:2\n", "no column \"formula\"" },
    };
    for (int i = 0; i < SL_LEN(list); i++) {
        sl_eval_source s;
        int skipped;
        const sl_eval_formulas o = { .variables = 2, .max_points = 10 };
        sl_test_write_text(path, list[i].text);
        assert_int_equal(sl_eval_from_formulas(&s, path, &o, &skipped), SL_EFORMAT);
        SL_CHECK(t, strstr(sl_last_error(), list[i].said), "%s", sl_last_error());
    }
}

/* ---------------------------------------------------------------- faults -------------------- */

static sl_status split_once(sl_fixture *t, const sl_pairs *pairs) {
    sl_eval_source s;
    sl_eval_problem p;
    SL_TRY(sl_eval_from_split(&s, pairs, SL_SPLIT_TEST, 0));
    sl_status st = s.get(&p, &t->arena, 3, &s);
    sl_eval_source_clear(&s);
    return st;
}

static sl_status lines_once(const char *path) {
    sl_eval_source s;
    SL_TRY(sl_eval_from_lines(&s, path, 2, 0));
    sl_eval_source_clear(&s);
    return SL_OK;
}

static sl_status formulas_once(sl_fixture *t, const char *path) {
    const sl_eval_formulas o = { .variables = 4, .max_points = 10, .limit = 3 };
    sl_eval_source plain, s;
    sl_eval_problem p;
    int skipped;
    SL_TRY(sl_eval_from_formulas(&plain, path, &o, &skipped));
    SL_TRY(sl_eval_with_errors(&s, &plain, 0.1, 4, 1));
    sl_status st = s.get(&p, &t->arena, 0, &s);
    sl_eval_source_clear(&s);
    return st;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const char *lines = sl_test_path("pairs.jsonl"), *table = sl_test_path("formulas.csv");
    sl_universe *u = universe(t, 0);
    sl_pairs_options o = sl_pairs_defaults();
    sl_pairs *pairs;
    char text[sizeof formulas_text];
    SL_MUST(t, sl_pairs_new(&pairs, u, &o));
    SL_EACH_ALLOCATION(t, split_once(t, pairs));
    sl_test_write_text(lines, lines_text);
    SL_EACH_ALLOCATION(t, lines_once(lines));
    strcpy(text, formulas_text);
    *strstr(text, "4,many") = '\0';
    sl_test_write_text(table, text);
    SL_EACH_ALLOCATION(t, formulas_once(t, table));
    sl_test_write_text(table, named_text);
    SL_EACH_ALLOCATION(t, formulas_once(t, table));
    sl_pairs_free(pairs);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_split_is_its_pairs),      SL_TEST(nothing_withheld_is_reported),
        SL_TEST(constants_are_counted),     SL_TEST(lines_are_problems),
        SL_TEST(tokens_are_as_in_training), SL_TEST(bad_lines_are_named),
        SL_TEST(formulas_are_problems),     SL_TEST(bad_formulas_are_named),
        SL_TEST(ranges_go_with_names),      SL_TEST(bad_ranges_are_named),
        SL_TEST(errors_are_added_to_y),     SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.sources", tests, SL_LEN(tests));
}
