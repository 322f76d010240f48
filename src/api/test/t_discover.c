/* discover as a call and as a command: what is found, reported and refused; a stop and a
 * lack of memory at every place. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands_test.h"

enum { ROWS = 24 };

/* y = 3 x1 - 2 x2, so that the baselines know the answer and no model needs to be good. */
typedef struct plane {
    double x[2][ROWS], y[ROWS];
    const double *columns[2];
} plane;

static void plane_fill(plane *p, sl_rng *rng) {
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 2; k++) p->x[k][i] = sl_rng_range(rng, -4, 4);
        p->y[i] = 3 * p->x[0][i] - 2 * p->x[1][i];
    }
    p->columns[0] = p->x[0];
    p->columns[1] = p->x[1];
}

static const char quick[] = "{\"search\":\"model\",\"samples\":6,\"refine\":3,\"threads\":1}";

/* A model of a few numbers after a few steps, made once. */
static const char *model_path(sl_fixture *t) {
    static char path[256];
    if (path[0]) return path;
    char options[512];
    snprintf(path, sizeof path, "%s", sl_test_path("model"));
    snprintf(options, sizeof options,
             "{\"width\":8,\"layers\":1,\"depth\":1,\"ops\":\"+,*\",\"points\":8,\"batch\":2,"
             "\"lanes\":2,\"valid-pairs\":2,\"threads\":1,\"steps\":3,\"out\":\"%s\"}",
             path);
    SL_MUST(t, symlaw_command("train", options, NULL, NULL, NULL));
    return path;
}

static symlaw_model *opened(sl_fixture *t) {
    symlaw_model *m = NULL;
    SL_MUST(t, symlaw_model_open(&m, model_path(t)));
    return m;
}

static const char *table_path(sl_fixture *t, const char *name, const char *header) {
    const char *path = sl_test_path(name);
    plane p;
    plane_fill(&p, &t->rng);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", header);
    for (int i = 0; i < ROWS; i++) fprintf(f, "%.17g,%.17g,%.17g\n", p.x[0][i], p.x[1][i], p.y[i]);
    assert_int_equal(fclose(f), 0);
    return path;
}

/* ---------------------------------------------------------------- the call ------------------ */

static void arrays_become_a_formula(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "mass", "speed" };
    plane p;
    plane_fill(&p, &t->rng);
    symlaw_model *m = opened(t);
    symlaw_discovery *found = NULL;
    symlaw_formula *f = NULL, *truth = NULL;
    symlaw_truth same;
    char *text = NULL;
    double y[ROWS];
    SL_MUST(t, symlaw_discover(&found, m, p.columns, 2, p.y, ROWS, names, quick, NULL, NULL));
    assert_true(symlaw_discovery_count(found) >= 1);
    assert_true(symlaw_discovery_r2(found, 0) > 1 - 1e-12);
    assert_string_equal(symlaw_discovery_cut(found), "");
    assert_true(symlaw_discovery_within_noise(found));
    assert_false(symlaw_discovery_within_noise(NULL));

    SL_MUST(t, symlaw_discovery_formula(&f, found, 0));
    SL_MUST(t, symlaw_formula_print(&text, f, "infix"));
    SL_MUST(t, symlaw_formula_parse(&truth, "3*mass - 2*speed", NULL, names, 2));
    SL_MUST(t, symlaw_formula_same(&same, f, truth));
    SL_CHECK(t, symlaw_yes(same), "found %s", text);
    SL_MUST(t, symlaw_formula_eval(y, f, p.columns, 2, ROWS));
    for (int i = 0; i < ROWS; i++) assert_true(fabs(y[i] - p.y[i]) < 1e-12);

    for (int64_t i = 1; i < symlaw_discovery_count(found); i++)
        assert_true(symlaw_discovery_bits(found, i) >= symlaw_discovery_bits(found, i - 1));
    assert_true(symlaw_discovery_on_front(found, 0) && symlaw_discovery_size(found, 0) > 3);
    assert_true(symlaw_discovery_rmse(found, 0) < 1e-12);
    symlaw_string_free(text);
    symlaw_formula_free(truth);
    symlaw_formula_free(f);
    symlaw_discovery_free(found);
    symlaw_model_close(m);
}

/* The noise's own size is what the standard errors must show. */
static void constants_have_errors(void **state) {
    sl_fixture *t = *state;
    plane p;
    plane_fill(&p, &t->rng);
    for (int i = 0; i < ROWS; i++) p.y[i] += 1.2345 + 0.1 * sl_rng_normal(&t->rng);
    symlaw_discovery *found = NULL;
    SL_MUST(t,
            symlaw_discover(&found, NULL, p.columns, 2, p.y, ROWS, NULL,
                            "{\"search\":\"model\",\"holdout\":0.25,\"threads\":1}", NULL, NULL));
    assert_true(symlaw_discovery_count(found) >= 1);
    const int n = symlaw_discovery_constants(found, 0);
    assert_true(n >= 1);
    for (int k = 0; k < n; k++) {
        double error;
        const double value = symlaw_discovery_constant(found, 0, k, &error);
        SL_CHECK(t, isfinite(value) && error > 0.001 && error < 0.2, "%g +- %g", value, error);
        assert_true(symlaw_discovery_constant(found, 0, k, NULL) == value);
    }
    assert_true(symlaw_discovery_holdout_r2(found, 0) > 0.9);
    assert_true(symlaw_discovery_log_prob(found, 0) == -INFINITY); // a baseline
    assert_non_null(symlaw_discovery_status(found, 0));
    assert_string_equal(symlaw_discovery_source(found, 0), "baseline");
    symlaw_discovery_free(found);
}

/* Half of the rows are off by 5; weights that say so give the constants of the others. */
static void weights_count_and_rows_are_drawn(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "mass", "speed" };
    plane p;
    double sigma[ROWS];
    plane_fill(&p, &t->rng);
    for (int i = 0; i < ROWS; i++) {
        p.y[i] +=
            1.2345 + (i % 2 == 0 ? 5 + sl_rng_normal(&t->rng) : 0.01 * sl_rng_normal(&t->rng));
        sigma[i] = i % 2 == 0 ? 1e4 : 1;
    }
    symlaw_rows rows = SYMLAW_ROWS_INIT;
    rows.x = p.columns;
    rows.n_inputs = 2;
    rows.y = p.y;
    rows.rows = ROWS;
    rows.names = names;
    rows.target = "force <N>";
    rows.sigma = sigma;
    rows.sigma_relative = 1;
    symlaw_discovery *found = NULL;
    symlaw_formula *f = NULL;
    char *svg = NULL;
    SL_MUST(t, symlaw_discover_rows(&found, NULL, &rows, "{\"threads\":1,\"effort\":\"low\"}", NULL,
                                    NULL));
    SL_MUST(t, symlaw_discovery_formula(&f, found, 0));
    const double x1[] = { 1 }, x2[] = { 2 }, *at[] = { x1, x2 };
    double y;
    SL_MUST(t, symlaw_formula_eval(&y, f, at, 2, 1));
    SL_CHECK(t, fabs(y - (3 - 4 + 1.2345)) < 0.05, "%g", y);
    symlaw_formula_free(f);

    SL_MUST(t, symlaw_discovery_picture(&svg, found, &rows));
    assert_non_null(strstr(svg, "<svg"));
    assert_non_null(strstr(svg, "force &lt;N&gt;"));
    symlaw_string_free(svg);

    // what cannot be
    symlaw_discovery *none = NULL;
    sigma[3] = 0;
    assert_int_equal(symlaw_discover_rows(&none, NULL, &rows, NULL, NULL, NULL), SL_EINVAL);
    assert_true(strstr(sl_last_error(), "sigma of row 4"));
    sigma[3] = 1;
    rows.n_inputs = 1;
    assert_int_equal(symlaw_discovery_picture(&svg, found, &rows), SL_EINVAL);
    rows.size = 0;
    assert_int_equal(symlaw_discover_rows(&none, NULL, &rows, NULL, NULL, NULL), SL_EINVAL);
    assert_int_equal(symlaw_discover_rows(&none, NULL, NULL, NULL, NULL, NULL), SL_EINVAL);
    assert_int_equal(symlaw_discovery_picture(NULL, found, &rows), SL_EINVAL);
    assert_null(none);
    symlaw_discovery_free(found);
}

/* Of forty inputs y is the product of two. Cells without a number do no harm. */
static void inputs_that_explain_y_are_chosen(void **state) {
    sl_fixture *t = *state;
    enum { MANY = 40, N = 400 };
    static double x[MANY][N], y[N];
    const double *columns[MANY];
    for (int c = 0; c < MANY; c++) {
        columns[c] = x[c];
        for (int i = 0; i < N; i++) x[c][i] = sl_rng_range(&t->rng, 1, 2);
    }
    for (int i = 0; i < N; i++) y[i] = x[7][i] * x[31][i];
    x[3][5] = NAN;
    symlaw_rows rows = SYMLAW_ROWS_INIT;
    rows.x = columns;
    rows.n_inputs = MANY;
    rows.y = y;
    rows.rows = N;
    int chosen[16], found = 0;
    SL_MUST(t, symlaw_rows_choose_inputs(chosen, &rows, 16, 1));
    for (int i = 0; i < 16; i++) {
        found += chosen[i] == 7 || chosen[i] == 31;
        assert_true(i == 0 || chosen[i - 1] < chosen[i]);
    }
    assert_int_equal(found, 2);

    assert_int_equal(symlaw_rows_choose_inputs(NULL, &rows, 16, 1), SL_EINVAL);
    assert_int_equal(symlaw_rows_choose_inputs(chosen, NULL, 16, 1), SL_EINVAL);
    assert_int_equal(symlaw_rows_choose_inputs(chosen, &rows, 17, 1), SL_EINVAL);
    assert_int_equal(symlaw_rows_choose_inputs(chosen, &rows, 0, 1), SL_EINVAL);
    y[2] = NAN;
    assert_int_equal(symlaw_rows_choose_inputs(chosen, &rows, 16, 1), SL_EINVAL);
    assert_true(strstr(sl_last_error(), "y has no finite number in row 3"));
    rows.n_inputs = 16;
    assert_int_equal(symlaw_rows_choose_inputs(chosen, &rows, 16, 1), SL_EINVAL);
}

static void questions_past_the_end_have_answers(void **state) {
    sl_fixture *t = *state;
    plane p;
    plane_fill(&p, &t->rng);
    symlaw_discovery *found = NULL;
    symlaw_formula *f = NULL;
    double error = 0;
    SL_MUST(t, symlaw_discover(&found, NULL, p.columns, 2, p.y, ROWS, NULL, NULL, NULL, NULL));
    const int64_t past[] = { -1, symlaw_discovery_count(found), INT64_MAX };
    for (int i = 0; i < SL_LEN(past); i++) {
        assert_true(isnan(symlaw_discovery_r2(found, past[i])));
        assert_true(isnan(symlaw_discovery_holdout_r2(found, past[i])));
        assert_true(isnan(symlaw_discovery_log_prob(found, past[i])));
        assert_true(isnan(symlaw_discovery_rmse(found, past[i])));
        assert_true(isnan(symlaw_discovery_bits(found, past[i])));
        assert_true(isnan(symlaw_discovery_evidence(found, past[i])));
        assert_null(symlaw_discovery_source(found, past[i]));
        assert_int_equal(symlaw_discovery_size(found, past[i]), 0);
        assert_int_equal(symlaw_discovery_on_front(found, past[i]), 0);
        assert_null(symlaw_discovery_status(found, past[i]));
        assert_int_equal(symlaw_discovery_constants(found, past[i]), 0);
        assert_true(isnan(symlaw_discovery_constant(found, past[i], 0, &error)) && isnan(error));
        assert_int_equal(symlaw_discovery_formula(&f, found, past[i]), SL_EINVAL);
    }
    assert_true(isnan(symlaw_discovery_constant(found, 0, 99, &error)));
    assert_true(isnan(symlaw_discovery_constant(found, 0, -1, &error)));
    assert_int_equal(symlaw_discovery_count(NULL), 0);
    assert_string_equal(symlaw_discovery_cut(NULL), "");
    symlaw_discovery_free(found);
    symlaw_discovery_free(NULL);
    symlaw_model_close(NULL);
    assert_int_equal(symlaw_model_inputs(NULL), 0);
}

static void wrong_arguments_are_named(void **state) {
    sl_fixture *t = *state;
    plane p;
    plane_fill(&p, &t->rng);
    symlaw_discovery *f = NULL;
    symlaw_model *m = opened(t);
    char *text = NULL;
    const double *missing[] = { p.x[0], NULL };
    const char *const unnamed[] = { "a", NULL };
    const double *many[17];
    for (int i = 0; i < SL_LEN(many); i++) many[i] = p.x[i % 2];
    assert_int_equal(symlaw_discover(NULL, m, p.columns, 2, p.y, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(symlaw_discover(&f, m, NULL, 2, p.y, ROWS, NULL, NULL, NULL, NULL), SL_EINVAL);
    assert_int_equal(symlaw_discover(&f, m, p.columns, 2, NULL, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(symlaw_discover(&f, m, missing, 2, p.y, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(symlaw_discover(&f, m, p.columns, 2, p.y, ROWS, unnamed, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(symlaw_discover(&f, m, p.columns, 0, p.y, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(symlaw_discover(&f, m, many, 3, p.y, ROWS, NULL, quick, NULL, NULL),
                     SL_EINVAL);
    assert_true(strstr(sl_last_error(), "the model takes 2 inputs"));
    assert_int_equal(symlaw_discover(&f, NULL, many, 17, p.y, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(
        symlaw_discover(&f, NULL, p.columns, 2, p.y, ROWS, NULL, "{\"ops\":\"sinus\"}", NULL, NULL),
        SL_EFORMAT);
    assert_true(strstr(sl_last_error(), "sinus"));
    assert_int_equal(symlaw_discover(&f, m, p.columns, 2, p.y, 1, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_int_equal(
        symlaw_discover(&f, m, p.columns, 2, p.y, ROWS, NULL, "{\"sample\":3}", NULL, NULL),
        SL_EINVAL);
    assert_true(strstr(sl_last_error(), "--samples"));
    assert_int_equal(symlaw_discover(&f, m, p.columns, 2, p.y, ROWS, NULL, "{", NULL, NULL),
                     SL_EFORMAT);
    p.x[1][6] = NAN;
    assert_int_equal(symlaw_discover(&f, m, p.columns, 2, p.y, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_true(strstr(sl_last_error(), "input 2") && strstr(sl_last_error(), "row 7"));
    p.x[1][6] = 0;
    p.y[2] = INFINITY;
    assert_int_equal(symlaw_discover(&f, m, p.columns, 2, p.y, ROWS, NULL, NULL, NULL, NULL),
                     SL_EINVAL);
    assert_true(strstr(sl_last_error(), "y has") && strstr(sl_last_error(), "row 3"));
    assert_null(f);
    symlaw_model_close(m);

    m = NULL;
    assert_int_equal(symlaw_model_open(NULL, "x"), SL_EINVAL);
    assert_int_not_equal(symlaw_model_open(&m, sl_test_path("nowhere")), SL_OK);
    assert_int_equal(symlaw_model_about(&text, NULL), SL_EINVAL);
    assert_int_equal(symlaw_discovery_json(&text, NULL), SL_EINVAL);
    assert_null(m);
}

static void a_model_describes_itself(void **state) {
    sl_fixture *t = *state;
    symlaw_model *m = opened(t);
    char *text = NULL;
    SL_MUST(t, symlaw_model_about(&text, m));
    sl_json *j = parsed(t, text, strlen(text));
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "inputs")), symlaw_model_inputs(m));
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "points")), 8);
    assert_int_equal(sl_io_json_int(sl_io_json_get(j, "step")), 3);
    assert_int_equal(strlen(sl_io_json_text(sl_io_json_get(j, "hash"))), 32);
    assert_int_equal(sl_io_json_int(sl_io_json_get(sl_io_json_get(j, "config"), "width")), 8);
    sl_io_json_free(j);
    symlaw_string_free(text);
    symlaw_model_close(m);
}

/* Every candidate is in the JSON, and what it counts is what is there. */
static void json_has_everything(void **state) {
    sl_fixture *t = *state;
    plane p;
    plane_fill(&p, &t->rng);
    symlaw_model *m = opened(t);
    symlaw_discovery *found = NULL;
    char *text = NULL;
    SL_MUST(
        t,
        symlaw_discover(
            &found, m, p.columns, 2, p.y, ROWS, NULL,
            "{\"search\":\"model\",\"samples\":20,\"grammar\":\"off\",\"refine\":2,\"threads\":1}",
            NULL, NULL));
    SL_MUST(t, symlaw_discovery_json(&text, found));
    sl_json *j = parsed(t, text, strlen(text));
    const sl_json *list = sl_io_json_get(j, "candidates"), *counts = sl_io_json_get(j, "counts");
    assert_int_equal(sl_io_json_count(list), sl_io_json_int(sl_io_json_get(counts, "candidates")));
    assert_int_equal(sl_io_json_int(sl_io_json_get(counts, "samples")), 20);
    int64_t ranked = 0, invalid = 0, reported = 0;
    for (int i = 0; i < sl_io_json_count(list); i++) {
        const sl_json *c = sl_io_json_at(list, i);
        assert_int_equal(sl_io_json_int(sl_io_json_get(c, "place")), i + 1);
        ranked += sl_io_json_kind_of(sl_io_json_get(c, "r2")) != SL_JSON_NULL;
        const bool bad = strcmp(sl_io_json_text(sl_io_json_get(c, "status")), "invalid") == 0;
        invalid += bad;
        assert_true(bad == (sl_io_json_get(c, "reason") != NULL));
        assert_true(bad == (sl_io_json_get(c, "formula") == NULL));
    }
    const sl_json *reasons = sl_io_json_get(counts, "invalid");
    for (sl_json_member k = sl_io_json_first(reasons); k.name; k = sl_io_json_next(reasons, k))
        reported += sl_io_json_int(k.value);
    assert_int_equal(ranked, symlaw_discovery_count(found));
    assert_int_equal(invalid, reported);
    assert_true(invalid > 0); // a model of three steps, without its grammar
    sl_io_json_free(j);
    symlaw_string_free(text);
    symlaw_discovery_free(found);
    symlaw_model_close(m);
}

static sl_status discover_once(const symlaw_model *m, const plane *p) {
    static const char *const names[] = { "a", "b" };
    symlaw_discovery *found = NULL;
    symlaw_formula *f = NULL;
    char *text = NULL;
    sl_status st;
    SL_GO(symlaw_discover(&found, m, p->columns, 2, p->y, ROWS, names, quick, NULL, NULL));
    SL_GO(symlaw_discovery_json(&text, found));
    SL_GO(symlaw_discovery_formula(&f, found, 0));
done:
    symlaw_formula_free(f);
    symlaw_string_free(text);
    symlaw_discovery_free(found);
    return st;
}

/* Without a model, and with names, units and a bound of the size. */
static sl_status search_once(const plane *p) {
    static const char *const names[] = { "a", "b" };
    symlaw_discovery *found = NULL;
    char *text = NULL;
    sl_status st;
    SL_GO(symlaw_discover(&found, NULL, p->columns, 2, p->y, ROWS, names,
                          "{\"effort\":\"low\",\"units\":\"a=m,b=m,y=m\",\"threads\":1}", NULL,
                          NULL));
    SL_GO(symlaw_discovery_json(&text, found));
done:
    symlaw_string_free(text);
    symlaw_discovery_free(found);
    return st;
}

static void a_search_needs_no_model(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "m", "v" };
    plane p;
    plane_fill(&p, &t->rng);
    for (int i = 0; i < ROWS; i++) p.y[i] = 0.5 * p.x[0][i] * p.x[1][i] * p.x[1][i];
    symlaw_discovery *found = NULL;
    symlaw_formula *f = NULL;
    char *text = NULL;
    SL_MUST(t, symlaw_discover(&found, NULL, p.columns, 2, p.y, ROWS, names, NULL, NULL, NULL));
    SL_MUST(t, symlaw_discovery_formula(&f, found, 0));
    SL_MUST(t, symlaw_formula_print(&text, f, "infix"));
    assert_string_equal(text, "m*v^2/2");
    assert_string_equal(symlaw_discovery_source(found, 0), "search");
    assert_true(symlaw_discovery_within_noise(found) && symlaw_discovery_evidence(found, 0) > 50);
    symlaw_string_free(text);
    symlaw_formula_free(f);
    symlaw_discovery_free(found);
    found = NULL;
    assert_int_equal(symlaw_discover(&found, NULL, p.columns, 2, p.y, ROWS, names,
                                     "{\"units\":\"m=kgg\"}", NULL, NULL),
                     SL_EFORMAT);
    assert_null(found);
}

static sl_status open_and_describe(const char *path) {
    symlaw_model *m = NULL;
    char *text = NULL;
    sl_status st = symlaw_model_open(&m, path);
    if (st == SL_OK) st = symlaw_model_about(&text, m);
    symlaw_string_free(text);
    symlaw_model_close(m);
    return st;
}

static void every_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    plane p;
    plane_fill(&p, &t->rng);
    SL_EACH_ALLOCATION(t, open_and_describe(model_path(t)));
    SL_EACH_ALLOCATION(t, discover_once(NULL, &p));
    SL_EACH_ALLOCATION(t, search_once(&p));
}

/* A stop is no failure: what there is is returned, and it says that it was cut. */
static void a_stop_returns_what_there_is(void **state) {
    sl_fixture *t = *state;
    plane p;
    plane_fill(&p, &t->rng);
    symlaw_model *m = opened(t);
    int cut = 0;
    for (int k = 1; k < 100; k++) {
        event_log h = { .stop_after = k };
        symlaw_discovery *found = NULL;
        SL_MUST(t, symlaw_discover(&found, m, p.columns, 2, p.y, ROWS, NULL, quick, log_event, &h));
        const bool whole = *symlaw_discovery_cut(found) == '\0';
        if (!whole) assert_string_equal(symlaw_discovery_cut(found), "cancel");
        cut += !whole;
        symlaw_discovery_free(found);
        log_clear(&h);
        if (whole) break;
    }
    assert_true(cut >= 1);
    symlaw_model_close(m);
}

/* ---------------------------------------------------------------- the command --------------- */

static const char *ask(char out[1024], sl_fixture *t, const char *file, const char *more) {
    snprintf(out, 1024,
             "{\"file\":\"%s\",\"model\":\"%s\",\"search\":\"model\",\"samples\":6,\"refine\":3,"
             "\"threads\":1%s}",
             file, model_path(t), more);
    return out;
}

static void a_table_becomes_a_formula(void **state) {
    sl_fixture *t = *state;
    char options[1024];
    event_log h = { 0 };
    const char *path = table_path(t, "plain.csv", "mass,flow rate,y");
    sl_json *j = result_of(t, &h, "discover", ask(options, t, path, ""));
    SL_CHECK(t, strncmp(output_of(&h), "y = 3*mass - 2*`flow rate`\n", 27) == 0, "%s",
             output_of(&h));
    assert_string_equal(sl_io_json_text(sl_io_json_get(j, "formula")), "3*mass - 2*`flow rate`");
    const sl_json *data = sl_io_json_get(j, "data");
    assert_string_equal(sl_io_json_text(sl_io_json_at(sl_io_json_get(data, "inputs"), 1)),
                        "flow rate");
    assert_int_equal(sl_io_json_int(sl_io_json_get(data, "rows")), ROWS);
    assert_int_equal(sl_io_json_kind_of(sl_io_json_get(j, "cut")), SL_JSON_NULL);
    sl_io_json_free(j);
    log_clear(&h);

    SL_MUST(t, symlaw_command("discover", ask(options, t, path, ",\"format\":\"c\""), log_event, &h,
                              NULL));
    assert_string_equal(output_of(&h), "// x2: \"flow rate\"\n3.0*mass - 2.0*x2\n");
    log_clear(&h);
    SL_MUST(t, symlaw_command("discover", ask(options, t, path, ",\"format\":\"latex\""), log_event,
                              &h, NULL));
    assert_string_equal(output_of(&h), "3 \\, \\mathrm{mass} - 2 \\, \\mathrm{flow\\ rate}\n");
    log_clear(&h);
}

/* Names that would steer a terminal or end a comment do neither. */
static void names_do_no_harm(void **state) {
    sl_fixture *t = *state;
    char options[1024];
    event_log h = { 0 };
    const char *path = table_path(t, "odd.csv", "\"a\x1b[31m\nb\",\"back\\\",\"\xff\"");
    SL_MUST(t, symlaw_command("discover", ask(options, t, path, ""), log_event, &h, NULL));
    SL_CHECK(t, !strchr(output_of(&h), '\x1b') && !strchr(output_of(&h), '\xff'), "%s",
             output_of(&h));
    log_clear(&h);
    SL_MUST(t, symlaw_command("discover", ask(options, t, path, ",\"format\":\"c\""), log_event, &h,
                              NULL));
    assert_string_equal(output_of(&h), "// x1: \"a [31m b\"\n// x2: \"back\\\"\n3.0*x1 - 2.0*x2\n");
    log_clear(&h);
}

/* Before anything was found a stop is a stop; after it the result says 130, and the output comes.
 */
static void the_command_stops_with_what_it_has(void **state) {
    sl_fixture *t = *state;
    char options[1024];
    const char *path = table_path(t, "stop.csv", "a,b,y");
    ask(options, t, path, "");
    int shown = 0, ended = 0;
    for (int k = 1; k < 100 && !ended; k++) {
        event_log h = { .stop_after = k };
        char *result = NULL;
        sl_status st = symlaw_command("discover", options, log_event, &h, &result);
        if (st == SL_ECANCEL) {
            assert_null(result);
            assert_true(h.output.len == 0 || shown > 0); // the output itself may be refused
        } else {
            SL_MUST(t, st);
            const bool stopped = strncmp(result, "{\"exit\":130,", 12) == 0;
            shown += stopped && h.output.len > 0;
            ended = !stopped;
        }
        symlaw_string_free(result);
        log_clear(&h);
    }
    assert_true(shown >= 1 && ended);
}

/* Says stop once, to the first report of samples, and then goes on listening. */
typedef struct once {
    event_log h;
    bool said;
} once;

static int stop_once(const symlaw_event *e, void *payload) {
    once *o = payload;
    log_event(e, &o->h);
    const bool stop =
        !o->said && e->kind == SYMLAW_EVENT_PROGRESS && memcmp(e->text, "samp", 4) == 0;
    o->said = o->said || stop;
    return stop;
}

static void a_stop_is_remembered(void **state) {
    sl_fixture *t = *state;
    char options[1024], *result = NULL;
    once o = { 0 };
    ask(options, t, table_path(t, "once.csv", "a,b,y"), "");
    SL_MUST(t, symlaw_command("discover", options, stop_once, &o, &result));
    assert_true(o.said && strncmp(result, "{\"exit\":130,", 12) == 0);
    assert_true(strstr(result, "\"cut\":\"cancel\""));
    assert_true(strstr(output_of(&o.h), "on request"));
    symlaw_string_free(result);
    log_clear(&o.h);
}

/* Lines of progress that have a formula, and whether one has more than that. */
typedef struct lines {
    int formulas;
    char twice[200];
} lines;

static int count_formulas(const symlaw_event *e, void *payload) {
    lines *l = payload;
    if (e->kind != SYMLAW_EVENT_PROGRESS) return 0;
    const char *first = strstr(e->text, ": "), *second = first ? strstr(first + 1, ": ") : NULL;
    l->formulas += first != NULL;
    if (second) snprintf(l->twice, sizeof l->twice, "%s", e->text);
    return 0;
}

static void progress_shows_the_formula_once(void **state) {
    sl_fixture *t = *state;
    static const char *const engine[] = { "model", "both", "exhaustive" };
    plane p;
    plane_fill(&p, &t->rng);
    p.y[0] += 1; // no engine ends before it has reported
    symlaw_model *m = opened(t);
    for (int i = 0; i < SL_LEN(engine); i++) {
        char options[200];
        lines l = { 0 };
        symlaw_discovery *found = NULL;
        snprintf(options, sizeof options,
                 "{\"search\":\"%s\",\"samples\":6,\"refine\":3,\"threads\":1,\"effort\":\"low\","
                 "\"timeout\":0.2}",
                 engine[i]);
        SL_MUST(t, symlaw_discover(&found, m, p.columns, 2, p.y, ROWS, NULL, options,
                                   count_formulas, &l));
        SL_CHECK(t, l.formulas > 0 && !l.twice[0], "%s: %d lines, such as %s", engine[i],
                 l.formulas, l.twice);
        symlaw_discovery_free(found);
    }
    symlaw_model_close(m);
}

static void the_command_may_lack_memory(void **state) {
    sl_fixture *t = *state;
    char options[1024];
    const char *path = table_path(t, "memory.csv", "a,b,y");
    SL_EACH_ALLOCATION(t, quiet_status("discover", ask(options, t, path, "")));
}

/* The formula arrives, then the call fails. */
static void formula_then_failure(sl_fixture *t, const char *options, const char *says) {
    event_log h = { 0 };
    char *result = NULL;
    const sl_status st = symlaw_command("discover", options, log_event, &h, &result);
    SL_CHECK(t, st == SL_EIO && !result, "%d, %s", st, options);
    SL_CHECK(t, strstr(sl_last_error(), says), "%s", sl_last_error());
    SL_CHECK(t, strstr(output_of(&h), "3*a - 2*b"), "%s prints: %s", options, output_of(&h));
    if (strstr(options, "\"json\":true")) {
        sl_json *j = parsed(t, output_of(&h), strlen(output_of(&h)));
        const sl_json *error = sl_io_json_get(j, "error"); // not where --out alone failed
        SL_CHECK(t, !strstr(options, "plot") || (error && strstr(sl_io_json_text(error), says)),
                 "%s", output_of(&h));
        SL_CHECK(t, sl_io_json_int(sl_io_json_get(j, "exit")) == (error ? 3 : 0), "%s",
                 output_of(&h));
        sl_io_json_free(j);
    }
    log_clear(&h);
}

/* What cannot be written does not cost the formula: not the picture, nor the file it should go to.
 */
static void the_formula_outlives_files_that_fail(void **state) {
    sl_fixture *t = *state;
    char options[1024], more[300];
    const char *path = table_path(t, "outlives.csv", "a,b,y");
    for (int json = 0; json < 2; json++) {
        const char *form = json ? ",\"json\":true" : "";
        snprintf(more, sizeof more, ",\"plot\":\"%s\"%s", sl_test_path("no/fit.svg"), form);
        formula_then_failure(t, ask(options, t, path, more), "does not exist");
        for (int n = 1; n <= 2; n++) { // the write, and the sync
            snprintf(more, sizeof more, ",\"plot\":\"%s\"%s", sl_test_path("fit.svg"), form);
            ask(options, t, path, more);
            sl_file_fail_at(n);
            formula_then_failure(t, options, "fit.svg: No space left");
            snprintf(more, sizeof more, ",\"out\":\"%s\"%s", sl_test_path("f.txt"), form);
            ask(options, t, path, more);
            sl_file_fail_at(n);
            formula_then_failure(t, options, "f.txt: No space left");
            sl_file_fail_at(0);
        }
        snprintf(more, sizeof more, ",\"out\":\"/dev/full\"%s", form);
        formula_then_failure(t, ask(options, t, path, more), "/dev/full: No space left");
    }
    assert_int_not_equal(access(sl_test_path("fit.svg"), F_OK), 0);
    assert_int_not_equal(access(sl_test_path("f.txt"), F_OK), 0);
}

static void a_picture_that_fails_leaves_nothing(void **state) {
    sl_fixture *t = *state;
    char options[1024], more[300];
    const char *path = table_path(t, "drawn.csv", "a,b,y");
    char *picture = strdup(sl_test_path("fit.svg"));
    snprintf(more, sizeof more, ",\"plot\":\"%s\"", picture);
    SL_MUST(t, symlaw_command("discover", ask(options, t, path, more), NULL, NULL, NULL));
    assert_int_equal(access(picture, R_OK), 0);
    assert_int_equal(unlink(picture), 0);
    sl_file_fail_at(1);
    assert_int_equal(symlaw_command("discover", options, NULL, NULL, NULL), SL_EIO);
    sl_file_fail_at(0);
    assert_int_not_equal(access(picture, R_OK), 0);
    snprintf(more, sizeof more, ",\"plot\":\"%s.png\"", picture);
    assert_int_equal(symlaw_command("discover", ask(options, t, path, more), NULL, NULL, NULL),
                     SL_EINVAL);
    free(picture);
}

int main(void) {
    unsetenv("SYMLAW_MODEL");
    static const struct CMUnitTest tests[] = {
        SL_TEST(arrays_become_a_formula),
        SL_TEST(a_search_needs_no_model),
        SL_TEST(constants_have_errors),
        SL_TEST(weights_count_and_rows_are_drawn),
        SL_TEST(inputs_that_explain_y_are_chosen),
        SL_TEST(questions_past_the_end_have_answers),
        SL_TEST(wrong_arguments_are_named),
        SL_TEST(a_model_describes_itself),
        SL_TEST(json_has_everything),
        SL_TEST(every_allocation_may_fail),
        SL_TEST(a_stop_returns_what_there_is),
        SL_TEST(a_table_becomes_a_formula),
        SL_TEST(names_do_no_harm),
        SL_TEST(the_command_stops_with_what_it_has),
        SL_TEST(a_stop_is_remembered),
        SL_TEST(progress_shows_the_formula_once),
        SL_TEST(the_command_may_lack_memory),
        SL_TEST(the_formula_outlives_files_that_fail),
        SL_TEST(a_picture_that_fails_leaves_nothing),
    };
    return sl_test_main("api.discover", tests, SL_LEN(tests));
}
