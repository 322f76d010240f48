/* sl_last_error: a call that succeeds leaves it alone, whatever failed inside on the way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands_test.h"

static const char marker[] = "an older line";

/* The call must succeed and leave the marker. */
#define LEAVES(t, call)                                                                      \
    do {                                                                                     \
        sl_fail_restore(marker);                                                             \
        SL_MUST(t, call);                                                                    \
        SL_CHECK(t, strcmp(sl_last_error(), marker) == 0, "%s succeeds and says: %s", #call, \
                 sl_last_error());                                                           \
    } while (0)

/* The same for calls that have no status. */
#define LEAVES_ALL(t, calls)                                                                       \
    do {                                                                                           \
        sl_fail_restore(marker);                                                                   \
        calls;                                                                                     \
        SL_CHECK(t, strcmp(sl_last_error(), marker) == 0, "%s says: %s", #calls, sl_last_error()); \
    } while (0)

enum { ROWS = 12 };

/* y = 0.1 x1 + 1e-30 and the like: constants that no 64-bit rational is. */
typedef struct line {
    double x[ROWS], y[ROWS];
    const double *columns[1];
} line;

static void line_fill(line *l, double slope) {
    for (int i = 0; i < ROWS; i++) {
        l->x[i] = i;
        l->y[i] = slope * i;
    }
    l->columns[0] = l->x;
}

/* ---------------------------------------------------------------- formulas ------------------ */

static void formulas_leave_it(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "x1*exp(x2)", "x1/x2 - x2/x1", "sqrt(x1^2)",
                                         "9223372036854775807*x1 + x2", "(x1 + x2)^9*(x1 - x2)^9" };
    static const char *const formats[] = { "infix",  "python", "sympy", "latex",
                                           "mathml", "c",      "prefix" };
    const double x[2][2] = { { 1, -2 }, { 0.5, 3 } };
    const double *const columns[] = { x[0], x[1] };
    for (int i = 0; i < SL_LEN(texts); i++) {
        symlaw_formula *f = NULL, *g = NULL, *canon = NULL;
        symlaw_truth same;
        double y[2];
        LEAVES(t, symlaw_formula_parse(&f, texts[i], NULL, NULL, 0));
        LEAVES(t, symlaw_formula_parse(&g, texts[(i + 1) % SL_LEN(texts)], NULL, NULL, 0));
        for (int k = 0; k < SL_LEN(formats); k++) {
            char *text = NULL;
            LEAVES(t, symlaw_formula_print(&text, f, formats[k]));
            LEAVES_ALL(t, symlaw_string_free(text));
        }
        LEAVES(t, symlaw_formula_canon(&canon, f));
        LEAVES(t, symlaw_formula_same(&same, f, g));
        LEAVES(t, symlaw_formula_same(&same, f, f));
        LEAVES(t, symlaw_formula_same(&same, f, canon));
        LEAVES(t, symlaw_formula_eval(y, f, columns, 2, 2));
        LEAVES_ALL(t, ((void)symlaw_formula_nodes(f), (void)symlaw_formula_variables(f)));
        LEAVES_ALL(t, symlaw_formula_free(f));
        symlaw_formula_free(g);
        symlaw_formula_free(canon);
    }
}

/* Fitted constants are doubles; as exact numbers they may be too long, alone or together. */
static void formulas_with_long_constants_leave_it(void **state) {
    sl_fixture *t = *state;
    static const double slopes[] = { 0.1, 1.0 / 3, 1.2345678901234567e-30, 3e200, M_PI };
    for (int i = 0; i < SL_LEN(slopes); i++) {
        line l;
        symlaw_discovery *found = NULL;
        symlaw_formula *f = NULL, *canon = NULL, *x1 = NULL;
        symlaw_truth same;
        line_fill(&l, slopes[i]);
        LEAVES(t, symlaw_discover(&found, NULL, l.columns, 1, l.y, ROWS, NULL, "{\"threads\":1}",
                                  NULL, NULL));
        assert_true(symlaw_discovery_count(found) >= 1);
        LEAVES(t, symlaw_discovery_formula(&f, found, 0));
        LEAVES(t, symlaw_formula_canon(&canon, f));
        LEAVES(t, symlaw_formula_parse(&x1, "x1", NULL, NULL, 0));
        LEAVES(t, symlaw_formula_same(&same, f, canon));
        LEAVES(t, symlaw_formula_same(&same, f, x1));
        symlaw_formula_free(f);
        symlaw_formula_free(canon);
        symlaw_formula_free(x1);
        symlaw_discovery_free(found);
    }
}

/* ---------------------------------------------------------------- sets and data ------------- */

static void sets_and_data_leave_it(void **state) {
    sl_fixture *t = *state;
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    symlaw_set *set = NULL;
    symlaw_pairs *data = NULL;
    o.depth = 2;
    o.threads = 1;
    o.withheld = 0.1;
    LEAVES(t, symlaw_set_open(&set, &o, NULL, NULL));
    LEAVES_ALL(t, ((void)symlaw_set_count(set), (void)symlaw_set_is_withheld(set, 3),
                   (void)*symlaw_set_hash(set)));
    for (int64_t i = 0; i < 20; i++) {
        symlaw_formula *f = NULL;
        int64_t index;
        LEAVES(t, symlaw_set_get(&f, set, i));
        LEAVES(t, symlaw_set_find(&index, set, f));
        symlaw_formula_free(f);
    }
    LEAVES(t, symlaw_pairs_open(&data, set, "{\"points\":8}"));
    LEAVES_ALL(t, ((void)symlaw_pairs_count(data, "train"),
                   (void)symlaw_pairs_count(data, "no such split")));
    for (int64_t i = 0; i < 20; i++) {
        symlaw_pair *s = NULL;
        symlaw_formula *f = NULL;
        int n;
        LEAVES(t, symlaw_pairs_get(&s, data, i % 2 ? "train" : "test", i));
        LEAVES(t, symlaw_pair_formula(&f, s));
        LEAVES_ALL(t, ((void)symlaw_pair_member(s), (void)symlaw_pair_rows(s),
                       (void)symlaw_pair_columns(s), (void)*symlaw_pair_x(s, 0),
                       (void)*symlaw_pair_y(s), (void)*symlaw_pair_tokens(s, &n)));
        LEAVES_ALL(t, symlaw_pair_free(s));
        symlaw_formula_free(f);
    }
    LEAVES_ALL(t, symlaw_pairs_close(data));
    LEAVES_ALL(t, symlaw_set_close(set));
}

/* ---------------------------------------------------------------- models, discovery, commands */

static const char *model_path(sl_fixture *t) {
    static char path[256];
    if (path[0]) return path;
    char options[512];
    snprintf(path, sizeof path, "%s", sl_test_path("model"));
    snprintf(options, sizeof options,
             "{\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":8,\"batch\":2,"
             "\"lanes\":2,\"valid-pairs\":2,\"threads\":1,\"steps\":3,\"out\":\"%s\"}",
             path);
    LEAVES(t, symlaw_command("train", options, NULL, NULL, NULL));
    return path;
}

static void discovery_leaves_it(void **state) {
    sl_fixture *t = *state;
    static const char options[] = "{\"samples\":12,\"refine\":4,\"threads\":2}";
    line l;
    line_fill(&l, 3);
    symlaw_model *m = NULL;
    char *text = NULL;
    LEAVES(t, symlaw_model_open(&m, model_path(t)));
    LEAVES(t, symlaw_model_about(&text, m));
    LEAVES_ALL(t, (void)symlaw_model_inputs(m));
    symlaw_string_free(text);
    for (int k = 0; k < 6; k++) { // to the end, and cancelled at the k-th event
        event_log h = { .stop_after = k };
        symlaw_discovery *found = NULL;
        LEAVES(t,
               symlaw_discover(&found, m, l.columns, 1, l.y, ROWS, NULL, options, log_event, &h));
        for (int64_t i = -1; i <= symlaw_discovery_count(found); i++)
            LEAVES_ALL(
                t,
                ((void)symlaw_discovery_r2(found, i), (void)symlaw_discovery_holdout_r2(found, i),
                 (void)symlaw_discovery_log_prob(found, i),
                 (void)symlaw_discovery_constants(found, i),
                 (void)symlaw_discovery_constant(found, i, 0, NULL),
                 (void)symlaw_discovery_rmse(found, i), (void)symlaw_discovery_bits(found, i),
                 (void)symlaw_discovery_evidence(found, i), (void)symlaw_discovery_size(found, i),
                 (void)symlaw_discovery_on_front(found, i), (void)symlaw_discovery_source(found, i),
                 (void)symlaw_discovery_status(found, i)));
        LEAVES_ALL(
            t, ((void)symlaw_discovery_within_noise(found), (void)*symlaw_discovery_cut(found)));
        LEAVES(t, symlaw_discovery_json(&text, found));
        symlaw_string_free(text);
        LEAVES_ALL(t, symlaw_discovery_free(found));
        log_clear(&h);
    }
    LEAVES_ALL(t, symlaw_model_close(m));
}

/* The newest checkpoint is damaged, the one before it is whole. */
static void an_older_checkpoint_leaves_it(void **state) {
    sl_fixture *t = *state;
    char options[512], path[300];
    snprintf(path, sizeof path, "%s", sl_test_path("damaged"));
    snprintf(options, sizeof options,
             "{\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":8,\"batch\":2,"
             "\"lanes\":2,\"valid-pairs\":2,\"threads\":1,\"steps\":4,\"checkpoint-steps\":2,"
             "\"out\":\"%s\"}",
             path);
    LEAVES(t, symlaw_command("train", options, NULL, NULL, NULL));
    char newest[400];
    snprintf(newest, sizeof newest, "%s/model-00000004.safetensors", path);
    SL_CHECK(t, truncate(newest, 100) == 0, "no %s", newest);
    symlaw_model *m = NULL;
    LEAVES(t, symlaw_model_open(&m, path));
    symlaw_model_close(m);
}

static void commands_leave_it(void **state) {
    sl_fixture *t = *state;
    static const char *const calls[][2] = {
        { "expressions", "{\"depth\":1}" },
        { "expressions", "{\"depth\":1,\"find\":\"x1 + x2 + x1\"}" },
        { "expressions", "{\"same\":[\"x1\",\"2*x1\"]}" },
        { "expressions", "{\"same\":[\"(x1+x2)^40\",\"(x2+x1)^40\"]}" },
        { "pairs", "{\"depth\":1,\"count\":3}" },
        { "info", "{\"size\":\"6.5M\",\"tokens\":31.5}" },
    };
    for (int i = 0; i < SL_LEN(calls); i++)
        LEAVES(t, symlaw_command(calls[i][0], calls[i][1], NULL, NULL, NULL));
    LEAVES_ALL(t, ((void)symlaw_command_count(), (void)*symlaw_command_get(0)->name,
                   (void)symlaw_rank(), (void)symlaw_ranks()));

    char file[300], options[900];
    snprintf(file, sizeof file, "%s", sl_test_path("table.csv"));
    sl_test_write_text(file, "a,y\n1,2\n2,4\n3,6\n4,8.5\n");
    snprintf(options, sizeof options,
             "{\"file\":\"%s\",\"model\":\"%s\",\"samples\":6,\"threads\":1}", file, model_path(t));
    LEAVES(t, symlaw_command("discover", options, NULL, NULL, NULL));
    int ended = 0;
    // a stop that comes late is no failure; on a slow machine progress is reported more often
    for (int k = 1; k < 4000 && !ended; k += 1 + k / 8) {
        event_log h = { .stop_after = k };
        char *result = NULL;
        sl_fail_restore(marker);
        const sl_status st = symlaw_command("discover", options, log_event, &h, &result);
        if (st == SL_OK)
            SL_CHECK(t, strcmp(sl_last_error(), marker) == 0, "stopped at event %d: %s", k,
                     sl_last_error());
        else
            assert_string_not_equal(sl_last_error(), marker);
        ended = st == SL_OK && strncmp(result, "{\"exit\":130,", 12) != 0;
        symlaw_string_free(result);
        log_clear(&h);
    }
    assert_true(ended);
    snprintf(options, sizeof options,
             "{\"model\":\"%s\",\"limit\":2,\"seeds\":1,\"samples\":4,\"threads\":1}",
             model_path(t));
    LEAVES(t, symlaw_command("eval", options, NULL, NULL, NULL));
    snprintf(options, sizeof options, "{\"run\":\"%s\"}", model_path(t));
    LEAVES(t, symlaw_command("info", options, NULL, NULL, NULL));
}

/* ---------------------------------------------------------------- from the callback --------- */

typedef struct nested {
    const sl_fixture *t;
    int events, fail_at; // a call of the callback's own fails at this event
} nested;

static int call_again(const symlaw_event *e, void *payload) {
    (void)e;
    nested *n = payload;
    const char *before =
        n->events < n->fail_at ? marker : "symlaw_formula_parse: out or text is NULL";
    SL_CHECK(n->t, strcmp(sl_last_error(), before) == 0, "event %d sees: %s", n->events,
             sl_last_error());
    if (n->events++ == n->fail_at - 1)
        assert_int_equal(symlaw_formula_parse(NULL, NULL, NULL, NULL, 0), SL_EINVAL);
    return 0;
}

/* What the callback's own calls say counts, and what fails inside does not show there. */
static void callbacks_see_their_own_failures(void **state) {
    sl_fixture *t = *state;
    char options[512];
    nested n = { .t = t, .fail_at = 2 };
    snprintf(options, sizeof options,
             "{\"model\":\"%s\",\"limit\":4,\"seeds\":1,\"samples\":4,"
             "\"threads\":1}",
             model_path(t));
    sl_fail_restore(marker);
    SL_MUST(t, symlaw_command("eval", options, call_again, &n, NULL));
    assert_true(n.events >= 3);
    assert_string_equal(sl_last_error(), "symlaw_formula_parse: out or text is NULL");
}

int main(void) {
    setenv("SYMLAW_CACHE", "off", 1);
    unsetenv("SYMLAW_MODEL");
    static const struct CMUnitTest tests[] = {
        SL_TEST(formulas_leave_it),
        SL_TEST(formulas_with_long_constants_leave_it),
        SL_TEST(sets_and_data_leave_it),
        SL_TEST(discovery_leaves_it),
        SL_TEST(an_older_checkpoint_leaves_it),
        SL_TEST(commands_leave_it),
        SL_TEST(callbacks_see_their_own_failures),
    };
    return sl_test_main("api.last_error", tests, SL_LEN(tests));
}
