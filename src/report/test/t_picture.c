/* Pictures: well-formed whatever the names are, with what was found, small for many rows. */
#include <math.h>
#include <stdlib.h>

#include "fixture/fixture.h"
#include "plot/plot_test.h"
#include "report/report.h"

/* A problem and its discovery, made by hand. */
typedef struct made {
    sl_fixture *t;
    double *column[SL_DATA_MAX_INPUTS], *y;
    sl_dataset problem;
    sl_candidate candidate[4];
    sl_discovery discovery;
    sl_report_discovery result;
    bool html;
} made;

static double *column(sl_fixture *t, int64_t rows) {
    double *w = sl_arena_alloc(&t->arena, (size_t)rows * sizeof *w);
    assert_non_null(w);
    return w;
}

static void make(made *m, sl_fixture *t, int inputs, int64_t rows) {
    *m = (made){ .t = t };
    for (int k = 0; k < inputs; k++) {
        m->column[k] = column(t, rows);
        for (int64_t i = 0; i < rows; i++) m->column[k][i] = sl_rng_range(&t->rng, -3, 3);
    }
    m->y = column(t, rows);
    for (int64_t i = 0; i < rows; i++)
        m->y[i] = 2 * m->column[0][i] + 1 + 0.1 * sl_rng_normal(&t->rng);
    m->problem = sl_data_view((const double *const *)m->column, inputs, m->y, rows);
    m->discovery = (sl_discovery){ .candidate = m->candidate, .rows_fit = rows, .seconds = 0.5 };
    m->result = (sl_report_discovery){ .data = &m->problem, .discovery = &m->discovery, .top = 10 };
}

static void add(made *m, const char *text, const double *value, const double *error, double r2) {
    sl_candidate *c = &m->candidate[m->discovery.ranked++];
    sl_text_error wrong;
    *c = (sl_candidate){ .state = value ? SL_CANDIDATE_REFINED : SL_CANDIDATE_SCORED,
                         .value = value,
                         .error = error,
                         .r2 = r2,
                         .r2_holdout = r2,
                         .same_as = -1 };
    SL_MUST(m->t, sl_expr_parse(&c->expr, &m->t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL,
                                &wrong));
    c->params = sl_expr_max_par(c->expr);
    c->size = sl_expr_nodes(c->expr);
    m->discovery.count++;
}

/* What a picture has, panel by panel. */
typedef struct seen {
    int panels, circles, paths;
    bool log;                                      // the last panel has small ticks
    double x_min[4], x_max[4], y_min[4], y_max[4]; // of circles, by panel
    int math, scripts, links;
} seen;

static void visit(const xml_element *e, void *payload) {
    seen *s = payload;
    const char *v, *d;
    if (xml_attribute(&v, e, "class") && *v == 'a' && xml_attribute(&d, e, "d")) {
        s->x_min[s->panels] = s->y_min[s->panels] = INFINITY;
        s->x_max[s->panels] = s->y_max[s->panels] = -INFINITY;
        s->panels++;
        s->log = strstr(d, "v4") && strstr(d, "v4") < strchr(d, '"');
    }
    if (s->panels && strcmp(e->name, "circle") == 0) {
        const double x = xml_number(e, "cx"), y = xml_number(e, "cy");
        const int at = s->panels - 1;
        s->circles++;
        s->x_min[at] = SL_MIN(s->x_min[at], x);
        s->x_max[at] = SL_MAX(s->x_max[at], x);
        s->y_min[at] = SL_MIN(s->y_min[at], y);
        s->y_max[at] = SL_MAX(s->y_max[at], y);
    }
    if (s->panels && strcmp(e->name, "path") == 0) s->paths++;
    s->math += strcmp(e->name, "math") == 0;
    s->scripts += strcmp(e->name, "script") == 0;
    s->links += xml_attribute(&v, e, "href") || xml_attribute(&v, e, "src");
}

/* The text, which the caller clears. */
static sl_str drawn(made *m, seen *s) {
    sl_str text = { 0 }, again = { 0 };
    *s = (seen){ 0 };
    SL_MUST(m->t, sl_report_discovery_picture(&text, &m->result, m->html));
    SL_MUST(m->t, sl_report_discovery_picture(&again, &m->result, m->html));
    assert_string_equal(text.text, again.text);
    sl_str_clear(&again);
    XML_MUST(m->t, text.text, visit, s);
    assert_int_equal(s->scripts + s->links, 0);
    return text;
}

static void must_have(made *m, const sl_str *text, const char *what) {
    SL_CHECK(m->t, strstr(text->text, what), "no %s in %.300s ...", what, text->text);
}

/* One input: data with a curve, and residuals. More: four panels. Nothing found: one for each. */
static void panels_are_as_many_as_they_should_be(void **state) {
    sl_fixture *t = *state;
    static const int panels[] = { 2, 4, 4 };
    for (int inputs = 1; inputs <= 3; inputs++)
        for (int html = 0; html < 2; html++) {
            made m;
            seen s;
            make(&m, t, inputs, 50);
            m.html = html;
            sl_str text = drawn(&m, &s);
            assert_int_equal(s.panels, inputs);
            assert_int_equal(s.circles, 50 * inputs);
            assert_true((strstr(text.text, "No formula") != NULL) == html);
            sl_str_clear(&text);
            add(&m, "2*x1+1", NULL, NULL, 0.99);
            text = drawn(&m, &s);
            assert_int_equal(s.panels, panels[inputs - 1]);
            assert_int_equal(s.circles, 50 * panels[inputs - 1]);
            assert_true((strstr(text.text, "<!DOCTYPE html>") == text.text) == html);
            sl_str_clear(&text);
        }
}

/* The true formula leaves no residuals, and y over it is a diagonal; one that is always 7 has y
 * over one place. */
static void marks_are_where_formula_and_data_are(void **state) {
    sl_fixture *t = *state;
    for (int inputs = 1; inputs <= 3; inputs++)
        for (int truth = 0; truth < 2; truth++) {
            made m;
            seen s;
            make(&m, t, inputs, 60);
            for (int i = 0; i < 60; i++) m.y[i] = m.column[0][i] + 4 * (m.column[0][i] > 0);
            if (truth) memcpy(m.y, m.column[0], 60 * sizeof *m.y);
            add(&m, truth ? "x1" : "7", NULL, NULL, truth);
            sl_str text = drawn(&m, &s);
            if (inputs > 1) {
                const double wide = s.x_max[0] - s.x_min[0], high = s.y_max[0] - s.y_min[0];
                SL_CHECK(t, high > 150 && (truth ? wide > 150 : wide == 0), "%g %g", wide, high);
            }
            for (int k = 1; k < s.panels; k++) {
                const double high = s.y_max[k] - s.y_min[k];
                SL_CHECK(t, truth ? high == 0 : high > 40, "inputs %d, panel %d: %g", inputs, k,
                         high);
            }
            sl_str_clear(&text);
        }
}

static void the_figure_shows_the_formula(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "a & b" };
    const sl_names named = { names, 1 };
    const double value[] = { 1.99999912345, 1.00000456 };
    made m;
    seen s;
    make(&m, t, 1, 30);
    add(&m, "c1*x1+c2", value, NULL, 1 - 2.4e-9);
    m.result.names = named;
    m.result.target = "T<";
    m.result.file = "orbits.csv";
    sl_str text = drawn(&m, &s);
    must_have(&m, &text, ">orbits.csv</text>");
    must_have(&m, &text, ">data, 30 rows</text>");
    must_have(&m, &text, ">T&lt; = 2*`a &amp; b` + 1, 1 − R² = 2.4·10⁻⁹</text>");
    must_have(&m, &text, ">a &amp; b</text>");
    must_have(&m, &text, ">residual</text>");
    sl_str_clear(&text);
}

static void the_page_has_everything(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "mass", "speed" };
    const sl_names named = { names, 2 };
    const double value[] = { 0.4999812345, -2.5 }, error[] = { 0.0123456, NAN };
    made m;
    seen s;
    make(&m, t, 2, 40);
    add(&m, "c1*x1*x2+c2", value, error, 0.98761);
    add(&m, "x1+1/x2", NULL, NULL, 0.5);
    add(&m, "x2", NULL, NULL, -12);
    m.candidate[0].r2_holdout = 0.9513;
    m.candidate[0].seconds = 0.25;
    m.discovery.rows_fit = 32;
    m.discovery.rows_held = 8;
    m.discovery.cut = SL_CUT_TIME;
    m.discovery.cost =
        (sl_discover_cost){ .samples = 128, .bags = 2, .distinct = 71, .refined = 9 };
    m.discovery.cost.invalid[SL_TOKEN_FINE] = 120;
    m.result.names = named;
    m.result.target = "energy";
    m.result.file = "motion <1>.csv";
    m.html = true;
    sl_str text = drawn(&m, &s);
    static const char *const wanted[] = {
        "<title>motion &lt;1&gt;.csv</title>",
        "<h1>motion &lt;1&gt;.csv</h1>",
        "energy by mass and speed · 32 rows fitted, 8 rows held out",
        "The time limit was reached",
        "<mi>energy</mi><mo>=</mo>",
        "<mn>0.5</mn>", // for people
        "<dd>0.9876</dd>",
        "<dd>0.9513</dd>",
        "refined</span>",
        "<dd>0.25 s</dd>",
        "<msub><mi>c</mi><mn>2</mn></msub>",
        "<td class=\"n\">0.4999812345</td><td class=\"n\">0.012</td>",
        "<td class=\"n\">−2.5</td><td class=\"n\">–</td>",
        "<td class=\"n\">2</td><td><math",
        "<td class=\"n\">3</td><td><math",
        "<td class=\"n\">−12</td>",
        "0.4999812345*mass*speed", // to be copied
        "prefers-color-scheme:dark",
        "128 samples from 2 row subsets: 120 are expressions, 71 of them distinct. 3 candidates "
        "ranked, 9 fitted, in 0.5 s. symlaw " SL_VERSION,
    };
    for (int i = 0; i < SL_LEN(wanted); i++) must_have(&m, &text, wanted[i]);
    assert_int_equal(s.math, 6); // the best, its form, two constants, two more
    sl_str_clear(&text);

    m.result.top = 1; // one more than the best
    m.discovery.rows_held = 0;
    m.discovery.cut = SL_CUT_NONE;
    text = drawn(&m, &s);
    assert_int_equal(s.math, 5);
    assert_null(strstr(text.text, "held"));
    assert_null(strstr(text.text, "The time limit was reached"));
    sl_str_clear(&text);
    m.result.top = 0;
    text = drawn(&m, &s);
    assert_int_equal(s.math, 4);
    assert_null(strstr(text.text, "Other candidates"));
    sl_str_clear(&text);
}

/* Names of columns are any bytes. */
static void names_cannot_break_the_page(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "</svg><script>x</script>", "\xff\x01\"'&" };
    const sl_names named = { names, 2 };
    for (int found = 0; found < 2; found++)
        for (int html = 0; html < 2; html++) {
            made m;
            seen s;
            make(&m, t, 2, 20);
            if (found) add(&m, "x1*x2", NULL, NULL, 0.3);
            m.result.names = named;
            m.result.target = "<!--]]>";
            m.result.file = "\"><img src=x>\xc3";
            m.html = html;
            sl_str text = drawn(&m, &s);
            assert_null(strstr(text.text, "<script"));
            assert_null(strstr(text.text, "<img"));
            sl_str_clear(&text);
        }
}

/* A constant that is rounded past a row would leave that row without a value. */
static void formulas_are_real_in_every_row(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 1.0453388, 2.5 };
    for (int html = 0; html < 2; html++) {
        made m;
        seen s;
        make(&m, t, 1, 1000);
        for (int i = 0; i < 1000; i++) m.column[0][i] = sl_rng_range(&t->rng, 2, 9);
        m.column[0][601] = 1.0453389;
        for (int i = 0; i < 1000; i++)
            m.y[i] = 2.5 * pow(m.column[0][i] - value[0], 1.5) + sl_rng_normal(&t->rng);
        m.html = html;
        add(&m, "c2*(x1 - c1)^(3/2)", value, NULL, 0.99);
        add(&m, "c2*sqrt(x1 - c1)", value, NULL, 0.9);
        sl_str text = drawn(&m, &s);
        must_have(&m, &text, "1.0453388");
        assert_null(strstr(text.text, "1.04534"));
        sl_str_clear(&text);
    }
}

/* Positive data over four decades get logarithmic axes; so do not data with a few values near zero.
 */
static void wide_data_get_logarithmic_axes(void **state) {
    sl_fixture *t = *state;
    for (int kind = 0; kind < 3; kind++) {
        made m;
        seen s;
        const int rows = kind == 2 ? 5 : 64;
        make(&m, t, 1, rows);
        for (int i = 0; i < rows; i++) {
            const double u = i / (rows - 1.0);
            m.column[0][i] = kind == 0 ? pow(10, 4 * u) : kind == 1 ? 1e-9 + u : pow(10, 4 * u) - 2;
            m.y[i] = m.column[0][i];
        }
        add(&m, "x1", NULL, NULL, 1);
        sl_str text = drawn(&m, &s);
        SL_CHECK(t, s.log == (kind == 0), "kind %d", kind);
        sl_str_clear(&text);
    }
}

/* The largest y of the curve's path, and whether some stroke goes all the way across. */
static void read_curve(const char *svg, double *lowest, double *highest, bool *across) {
    const char *d = strstr(strstr(strstr(svg, "class=\"a\""), "class=\"k1\""), " d=\"") + 4;
    double last = NAN;
    *lowest = INFINITY;
    *highest = -INFINITY;
    *across = false;
    for (bool move = false; *d != '"';) {
        if (*d == 'M' || *d == 'L') move = *d++ == 'M';
        char *end;
        strtod(d, &end);
        const double y = strtod(end, &end);
        d = end;
        *across = *across || (!move && fabs(y - last) > 200);
        *lowest = SL_MIN(*lowest, y);
        *highest = SL_MAX(*highest, y);
        last = y;
        move = false;
    }
}

/* A pole between the rows: the curve leaves above and below, and no line joins the two. */
static void a_pole_is_no_line(void **state) {
    sl_fixture *t = *state;
    made m;
    seen s;
    make(&m, t, 1, 40);
    for (int i = 0; i < 40; i++) {
        m.column[0][i] = (i - 19.5) / 10;
        m.y[i] = 1 / (m.column[0][i] - 0.01);
    }
    add(&m, "1/(x1-1/100)", NULL, NULL, 1);
    sl_str text = drawn(&m, &s);
    double lowest, highest;
    bool across;
    read_curve(text.text, &lowest, &highest, &across);
    SL_CHECK(t, highest - lowest > 250, "%g .. %g", lowest, highest);
    assert_false(across);
    sl_str_clear(&text);
}

/* Values that are not real in some rows, no row at all, one row, one x, the largest numbers. */
static void strange_data_are_drawn(void **state) {
    sl_fixture *t = *state;
    static const double odd[][2] = { { 1, 1 }, { 1e300, -1e300 }, { 5e-324, 0 }, { -1, 1e308 } };
    for (int inputs = 1; inputs <= 3; inputs++)
        for (int kind = 0; kind < SL_LEN(odd) + 2; kind++) {
            made m;
            seen s;
            make(&m, t, inputs, kind < 2 ? kind : 12);
            for (int i = 0; kind >= 2 && i < 12; i++)
                for (int k = 0; k <= inputs; k++)
                    *(k < inputs ? &m.column[k][i] : &m.y[i]) = odd[kind - 2][(i + k) % 2];
            add(&m, "x1^(1/2)+exp(x1)", NULL, NULL, 0.1);
            m.html = kind % 2;
            sl_str text = drawn(&m, &s);
            assert_true(s.panels == (inputs == 1 ? 2 : 4));
            sl_str_clear(&text);
        }
}

/* The bytes that drawing takes. */
static int64_t peak(made *m) {
    seen s;
    const int64_t before = sl_mem_bytes();
    sl_mem_peak_reset();
    sl_str text = drawn(m, &s);
    SL_CHECK(m->t, text.len < 250000, "%zu bytes", text.len);
    sl_str_clear(&text);
    return sl_mem_peak() - before;
}

static void very_many_rows_make_a_small_picture(void **state) {
    sl_fixture *t = *state;
    made m;
    seen s;
    make(&m, t, 1, 400000); // some are not even looked at
    add(&m, "2*x1+1", NULL, NULL, 0.99);
    const int64_t most = peak(&m);
    sl_str text = drawn(&m, &s);
    must_have(&m, &text, ">data, 400,000 rows</text>");
    sl_str_clear(&text);
    m.problem.rows = 200000;
    const int64_t half = peak(&m);
    SL_CHECK(t, most < half + half / 2, "%lld bytes, not %lld", (long long)most, (long long)half);
}

static sl_status draw(const made *m) {
    sl_str s = { 0 };
    const sl_status st = sl_report_discovery_picture(&s, &m->result, m->html);
    sl_str_clear(&s);
    return st;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const double value[] = { 2, 1 }, error[] = { 0.1, 0.1 };
    for (int inputs = 1; inputs <= 2; inputs++)
        for (int html = 0; html < 2; html++) {
            made m;
            make(&m, t, inputs, 12);
            add(&m, "c1*x1+c2", value, error, 0.99);
            add(&m, "x1", NULL, NULL, 0.5);
            m.html = html;
            SL_EACH_ALLOCATION(t, draw(&m));
        }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(formulas_are_real_in_every_row),
        SL_TEST(panels_are_as_many_as_they_should_be),
        SL_TEST(marks_are_where_formula_and_data_are),
        SL_TEST(the_figure_shows_the_formula),
        SL_TEST(the_page_has_everything),
        SL_TEST(names_cannot_break_the_page),
        SL_TEST(wide_data_get_logarithmic_axes),
        SL_TEST(a_pole_is_no_line),
        SL_TEST(strange_data_are_drawn),
        SL_TEST(very_many_rows_make_a_small_picture),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("report.picture", tests, SL_LEN(tests));
}
