/* Figures: well-formed, inside their boxes, the same bytes each time, whatever is drawn. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "fixture/fixture.h"
#include "plot/plot_test.h"

/* ---------------------------------------------------------------- reading a figure ---------- */

/* What a figure says of itself. Boxes are read from the axes that are drawn. */
typedef struct seen {
    sl_fixture *t;
    double width, height;
    int panels, circles, strokes, texts; // strokes: of paths that show data; all behind the legend
    double left, top, right, bottom;     // of the panel at hand
    double x_min, x_max, y_min, y_max;   // of its circles
    double lefts[SL_PLOT_MAX_GRID], tops[SL_PLOT_MAX_GRID];
} seen;

static void must_be_inside(const seen *s, double x, double y) {
    SL_CHECK(s->t, x >= s->left && x <= s->right && y >= s->top && y <= s->bottom,
             "%g %g is outside of %g %g .. %g %g", x, y, s->left, s->top, s->right, s->bottom);
}

/* Walks a path of M L H V h z with absolute and relative coordinates. */
static void walk_path(seen *s, const char *d) {
    double x = 0, y = 0;
    char command = 'M';
    while (*d != '"') {
        if (*d == ' ' || *d == 'z') {
            d++;
            continue;
        }
        if (strchr("MLHVhv", *d)) command = *d++;
        char *end;
        const double v = strtod(d, &end);
        SL_CHECK(s->t, end > d, "not a path: %.40s", d);
        d = end;
        if (command == 'H' || command == 'h') {
            x = command == 'H' ? v : x + v;
        } else if (command == 'V' || command == 'v') {
            y = command == 'V' ? v : y + v;
        } else {
            x = v;
            y = strtod(d, &end);
            SL_CHECK(s->t, end > d, "not a path: %.40s", d);
            d = end;
            if (command == 'M') command = 'L';
        }
        must_be_inside(s, x, y);
        s->strokes++;
    }
}

static void visit(const xml_element *e, void *payload) {
    seen *s = payload;
    const char *v = "", *d = "\"";
    const bool class = xml_attribute(&v, e, "class");
    if (strcmp(e->name, "svg") == 0) {
        s->width = xml_number(e, "width");
        s->height = xml_number(e, "height");
    } else if (strcmp(e->name, "text") == 0) {
        s->texts++;
        if (!xml_attribute(&v, e, "transform"))
            SL_CHECK(s->t,
                     xml_number(e, "x") >= 0 && xml_number(e, "x") <= s->width &&
                         xml_number(e, "y") >= 8 && xml_number(e, "y") <= s->height,
                     "text at %g %g", xml_number(e, "x"), xml_number(e, "y"));
    } else if (class && *v == 'a') { // M left.5 top V bottom.5 H right
        assert_true(xml_attribute(&d, e, "d"));
        assert_int_equal(sscanf(d, "M%lf %lfV%lfH%lf", &s->left, &s->top, &s->bottom, &s->right),
                         4);
        s->left -= 0.5;
        s->bottom -= 0.5;
        SL_CHECK(s->t, s->left >= 0 && s->top >= 0 && s->left < s->right && s->top < s->bottom,
                 "a box %g %g .. %g %g", s->left, s->top, s->right, s->bottom);
        s->lefts[s->panels] = s->left;
        s->tops[s->panels] = s->top;
        s->x_min = s->y_min = INFINITY;
        s->x_max = s->y_max = -INFINITY;
        s->panels++;
    } else if (s->panels && strcmp(e->name, "circle") == 0) {
        const double x = xml_number(e, "cx"), y = xml_number(e, "cy");
        must_be_inside(s, x, y);
        s->circles++;
        s->x_min = SL_MIN(s->x_min, x);
        s->x_max = SL_MAX(s->x_max, x);
        s->y_min = SL_MIN(s->y_min, y);
        s->y_max = SL_MAX(s->y_max, y);
    } else if (s->panels && strcmp(e->name, "path") == 0 && !(class && *v == 'g')) {
        assert_true(xml_attribute(&d, e, "d"));
        walk_path(s, d);
    }
}

/* Draws, judges, frees. *bytes: its length, may be NULL. */
static seen judged(sl_fixture *t, sl_plot *p, size_t *bytes) {
    sl_str s = { 0 }, again = { 0 };
    seen v = { .t = t };
    SL_MUST(t, sl_plot_svg(&s, p));
    SL_MUST(t, sl_plot_svg(&again, p));
    assert_string_equal(s.text, again.text);
    XML_MUST(t, s.text, visit, &v);
    SL_CHECK(t, !strstr(s.text, "nan") && !strstr(s.text, "inf"), "a number that is none");
    SL_CHECK(t, !strstr(s.text, " id=\""), "an id: two figures on a page would share it");
    if (bytes) *bytes = s.len;
    sl_str_clear(&s);
    sl_str_clear(&again);
    sl_plot_free(p);
    return v;
}

static sl_plot *new_plot(sl_fixture *t, int width, int height) {
    sl_plot *p;
    SL_MUST(t, sl_plot_new(&p, width, height));
    return p;
}

static const sl_style plain;

/* ---------------------------------------------------------------- laws ---------------------- */

static double any_value(sl_rng *r, int kind) {
    switch (sl_rng_below(r, 20)) {
    case 0: return NAN;
    case 1: return INFINITY;
    case 2: return -INFINITY;
    case 3: return 0;
    default: break;
    }
    switch (kind) {
    case 0: return sl_rng_normal(r);
    case 1: return sl_rng_normal(r) * 1e300;
    case 2: return pow(10, sl_rng_range(r, -300, 300));
    case 3: return 7; // all the same
    case 4: return sl_rng_normal(r) * 1e-310;
    case 5: return (sl_rng_below(r, 2) ? 1 : -1) * DBL_MAX;
    default: return 1e6 + 1e-7 * sl_rng_normal(r);
    }
}

static void random_panel(sl_plot *p, sl_rng *r, int row, int column) {
    enum { N = 60 };
    static const char *const labels[] = { NULL, "x", "温度 <&>",
                                          "a rather long name of a column\xff" };
    double x[N], y[N], z[N];
    const int kind_x = (int)sl_rng_below(r, 7), kind_y = (int)sl_rng_below(r, 7);
    sl_panel panel = { .title = labels[sl_rng_below(r, 4)],
                       .x_label = labels[sl_rng_below(r, 4)],
                       .y_label = labels[sl_rng_below(r, 4)],
                       .log_x = sl_rng_below(r, 3) == 0,
                       .log_y = sl_rng_below(r, 3) == 0,
                       .row = row,
                       .column = column,
                       .height = sl_rng_below(r, 2) ? 0 : sl_rng_range(r, 0.2, 4),
                       .bare = sl_rng_below(r, 4) == 0 };
    if (sl_rng_below(r, 4) == 0) panel.x = (sl_range){ 0.5, 1.5 };
    if (sl_rng_below(r, 4) == 0) panel.y = (sl_range){ 1e-5, 1e5 };
    const int number = sl_plot_panel(p, &panel);
    const int layers = (int)sl_rng_below(r, 6);
    for (int i = 0; i < layers; i++) {
        const int n = (int)sl_rng_below(r, N + 1);
        for (int k = 0; k < n; k++) {
            x[k] = any_value(r, kind_x);
            y[k] = any_value(r, kind_y);
            z[k] = any_value(r, kind_y);
        }
        const sl_style style = { .colour = (int)sl_rng_below(r, 9),
                                 .shade = sl_rng_below(r, 3) ? 0 : sl_rng_uniform(r),
                                 .label = labels[sl_rng_below(r, 4)],
                                 .mark = sl_rng_below(r, 2) ? SL_MARK_DOT : SL_MARK_RING,
                                 .size = sl_rng_below(r, 2) ? 0 : 3,
                                 .dashed = sl_rng_below(r, 2),
                                 .faint = sl_rng_below(r, 2),
                                 .aside = sl_rng_below(r, 4) == 0 };
        switch (sl_rng_below(r, 5)) {
        case 0: sl_plot_marks(p, number, x, y, n, &style); break;
        case 1: sl_plot_line(p, number, x, y, n, &style); break;
        case 2: sl_plot_band(p, number, x, y, z, n, &style); break;
        case 3: sl_plot_bars(p, number, x, y, z, n, &style); break;
        default: sl_plot_rule(p, number, any_value(r, kind_y), &style);
        }
    }
}

static void every_coordinate_is_inside_its_box(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 150); i++) {
        const int rows = 1 + (int)sl_rng_below(&t->rng, 3),
                  columns = 1 + (int)sl_rng_below(&t->rng, 3);
        sl_plot *p = new_plot(t, 100 + columns * (200 + (int)sl_rng_below(&t->rng, 300)),
                              160 + rows * (100 + (int)sl_rng_below(&t->rng, 200)));
        if (sl_rng_below(&t->rng, 2)) sl_plot_title(p, "a title & \"more\"");
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < columns; c++) random_panel(p, &t->rng, r, c);
        const seen v = judged(t, p, NULL);
        assert_int_equal(v.panels, rows * columns);
        for (int k = 0; k < v.panels; k++) { // of one column, of one row
            assert_true(v.lefts[k] == v.lefts[k % columns]);
            assert_true(v.tops[k] == v.tops[k / columns * columns]);
        }
    }
}

/* Points are where the axes say: the least left and low, with some room, the middle in the middle.
 */
static void marks_are_in_their_places(void **state) {
    sl_fixture *t = *state;
    const double x[] = { 1, 10, 100, NAN, 1000 }, y[] = { -2, 0, 2, 5, 6 };
    sl_plot *p = new_plot(t, 500, 400);
    const int panel = sl_plot_panel(p, &(sl_panel){ .log_x = true });
    sl_plot_marks(p, panel, x, y, 5, &plain);
    sl_plot_line(p, panel, (double[]){ 0.001, 1e9 }, (double[]){ -100, 100 }, 2,
                 &(sl_style){ .aside = true });
    sl_str s = { 0 };
    SL_MUST(t, sl_plot_svg(&s, p));
    seen v = { .t = t };
    XML_MUST(t, s.text, visit, &v);
    assert_int_equal(v.circles, 4);
    const double w = v.right - v.left, h = v.bottom - v.top;
    SL_CHECK(t, fabs(v.x_min - v.left - w * 0.04 / 1.08) < 0.6, "left end at %g", v.x_min);
    SL_CHECK(t, fabs(v.right - v.x_max - w * 0.04 / 1.08) < 0.6, "right end at %g", v.x_max);
    SL_CHECK(t, fabs(v.y_min - v.top - h * 0.04 / 1.08) < 0.6, "upper end at %g", v.y_min);
    SL_CHECK(t, fabs(v.bottom - v.y_max - h * 0.04 / 1.08) < 0.6, "lower end at %g", v.y_max);
    char at[64]; // (10, 0): a third to the right, a quarter up
    snprintf(at, sizeof at, "cx=\"%.5g", v.x_min + (v.x_max - v.x_min) / 3);
    at[8] = '\0';
    SL_CHECK(t, strstr(s.text, at), "no mark at %s", at);
    sl_str_clear(&s);
    sl_plot_free(p);
}

/* The second of three points is missing: two dots of a line, no stroke across. */
static void lines_break_where_a_point_is_missing(void **state) {
    sl_fixture *t = *state;
    const double x[] = { 1, 2, 3, 4, 5 }, y[] = { 1, NAN, 3, 4, INFINITY };
    sl_plot *p = new_plot(t, 400, 300);
    const int panel = sl_plot_panel(p, &(sl_panel){ .title = "t" });
    sl_plot_line(p, panel, x, y, 5, &plain);
    sl_str s = { 0 };
    SL_MUST(t, sl_plot_svg(&s, p));
    const char *d = strstr(s.text, "stroke-linecap=\"round\" d=\"M");
    assert_non_null(d);
    const char *end = strchr(d + 26, '"');
    int moves = 0, dots = 0, lines = 0;
    for (; d < end; d++) {
        moves += *d == 'M';
        dots += *d == 'h' && d[1] == '0';
        lines += *d == 'L';
    }
    assert_int_equal(moves, 2);
    assert_int_equal(dots, 1);
    assert_int_equal(lines, 1);
    sl_str_clear(&s);
    sl_plot_free(p);
}

static void very_many_points_are_a_small_figure(void **state) {
    sl_fixture *t = *state;
    enum { N = 60000 };
    double *x = sl_malloc(2 * N, sizeof *x), *y = x + N;
    assert_non_null(x);
    for (int i = 0; i < N; i++) {
        x[i] = sl_rng_normal(&t->rng);
        y[i] = sl_rng_normal(&t->rng);
    }
    sl_plot *p = new_plot(t, 720, 420);
    sl_plot_marks(p, sl_plot_panel(p, &(sl_panel){ 0 }), x, y, N, &plain);
    size_t bytes;
    seen v = judged(t, p, &bytes);
    SL_CHECK(t, bytes < 300000, "%zu bytes", bytes);
    assert_int_equal(v.circles, 0);
    assert_true(v.strokes > 1000);

    for (int i = 0; i < N; i++) x[i] = i; // a line, and marks of which most hide each other
    p = new_plot(t, 720, 420);
    const int panel = sl_plot_panel(p, &(sl_panel){ 0 });
    sl_plot_line(p, panel, x, y, N, &plain);
    for (int i = 0; i < N; i++) y[i] = 0;
    sl_plot_marks(p, panel, x, y, N, &plain);
    v = judged(t, p, &bytes);
    SL_CHECK(t, bytes < 150000, "%zu bytes", bytes);
    assert_true(v.circles > 300 && v.circles <= 1500);
    sl_free(x);
}

/* One entry for one label, whatever panels and layers have it; and room is made for many. */
static void the_legend_has_each_label_once(void **state) {
    sl_fixture *t = *state;
    char name[32];
    double top = 0;
    for (int labels = 1; labels <= 40; labels += 13) {
        sl_plot *p = new_plot(t, 500, 700);
        for (int panel = 0; panel < 2; panel++) {
            sl_plot_panel(p, &(sl_panel){ .column = panel });
            for (int i = 0; i < labels; i++) {
                snprintf(name, sizeof name, "series %d", i);
                const sl_style style = { .colour = i, .label = name };
                sl_plot_line(p, panel, (double[]){ 1, 2 }, (double[]){ i, 1 }, 2, &style);
                sl_plot_marks(p, panel, (double[]){ 1, 2 }, (double[]){ i, 1 }, 2, &style);
            }
        }
        sl_str s = { 0 };
        SL_MUST(t, sl_plot_svg(&s, p));
        seen v = { .t = t };
        XML_MUST(t, s.text, visit, &v);
        int entries = 0, circles = 0;
        for (const char *at = s.text; (at = strstr(at, ">series ")); at++) entries++;
        for (const char *at = s.text; (at = strstr(at, "<circle")); at++) circles++;
        assert_int_equal(entries, labels);
        assert_int_equal(circles, labels + 4 * labels);
        SL_CHECK(t, v.top > top, "%d labels: boxes begin at %g, not below %g", labels, v.top, top);
        top = v.top;
        sl_str_clear(&s);
        sl_plot_free(p);
    }
}

static void figures_of_next_to_nothing_are_drawn(void **state) {
    sl_fixture *t = *state;
    seen v = judged(t, new_plot(t, 64, 64), NULL); // no panel
    assert_int_equal(v.panels, 0);
    sl_plot *p = new_plot(t, 320, 200); // no data
    sl_plot_panel(p, &(sl_panel){ .log_x = true });
    v = judged(t, p, NULL);
    assert_int_equal(v.panels, 1);
    assert_true(v.texts >= 4);
    p = new_plot(t, 320, 200); // one point
    sl_plot_marks(p, sl_plot_panel(p, &(sl_panel){ 0 }), (double[]){ 3 }, (double[]){ 0 }, 1,
                  &plain);
    v = judged(t, p, NULL);
    assert_int_equal(v.circles, 1);
    assert_true(fabs(v.x_min - (v.left + v.right) / 2) < 1 &&
                fabs(v.y_min - (v.top + v.bottom) / 2) < 1);
    p = new_plot(t, 320, 200); // nothing that a logarithmic axis has a place for
    const int panel = sl_plot_panel(p, &(sl_panel){ .log_y = true });
    sl_plot_marks(p, panel, (double[]){ 1, 2 }, (double[]){ 0, -1 }, 2, &plain);
    sl_plot_rule(p, panel, 0, &plain);
    sl_plot_line(p, panel, NULL, NULL, 0, &plain);
    v = judged(t, p, NULL);
    assert_int_equal(v.circles, 0);
    p = new_plot(t, 64, 64); // more panels than fit
    for (int i = 0; i < SL_PLOT_MAX_GRID; i++)
        sl_plot_marks(p, sl_plot_panel(p, &(sl_panel){ .row = i }), (double[]){ i },
                      (double[]){ i }, 1, &plain);
    sl_str s = { 0 };
    SL_MUST(t, sl_plot_svg(&s, p));
    XML_MUST(t, s.text, NULL, NULL);
    sl_str_clear(&s);
    sl_plot_free(p);
}

/* Only what is in the range counts for the other axis and is drawn. */
static void a_given_range_is_kept(void **state) {
    sl_fixture *t = *state;
    double x[100], y[100];
    for (int i = 0; i < 100; i++) {
        x[i] = i;
        y[i] = i * i;
    }
    sl_plot *p = new_plot(t, 400, 300);
    const int panel = sl_plot_panel(p, &(sl_panel){ .x = { 20, 30 }, .y = { 400, 900 } });
    sl_plot_marks(p, panel, x, y, 100, &plain);
    sl_plot_line(p, panel, x, y, 100, &plain);
    sl_plot_rule(p, panel, 901, &plain); // beyond
    const seen v = judged(t, p, NULL);
    assert_int_equal(v.circles, 11);
    assert_true(v.x_min == v.left && v.x_max == v.right && v.y_min == v.top && v.y_max == v.bottom);
}

/* Marks that are not drawn take their tips with them. */
static void tips_belong_to_their_marks(void **state) {
    sl_fixture *t = *state;
    static const char *const tips[] = { "first", "outside", "not finite", "a < b & c", NULL };
    const double x[] = { 1, 99, NAN, 3, 4 }, y[] = { 1, 1, 1, 1, 1 };
    sl_plot *p;
    sl_str s = { 0 };
    SL_MUST(t, sl_plot_new(&p, 400, 300));
    const int panel = sl_plot_panel(p, &(sl_panel){ .x = { 0, 10 }, .y = { 0, 2 } });
    sl_plot_marks(p, panel, x, y, 5, &(sl_style){ .tips = tips });
    sl_plot_marks(p, panel, x, y, 5, &(sl_style){ .tips = tips, .mark = SL_MARK_STAR });
    sl_plot_describe(p, "a <name>", "what there is & more");
    SL_MUST(t, sl_plot_svg(&s, p));
    XML_MUST(t, s.text, NULL, NULL);
    assert_non_null(strstr(s.text, "<title>first</title></circle>"));
    assert_non_null(strstr(s.text, "<title>first</title></path>"));
    assert_non_null(strstr(s.text, "<title>a &lt; b &amp; c</title></circle>"));
    assert_null(strstr(s.text, "outside"));
    assert_null(strstr(s.text, "not finite"));
    assert_non_null(strstr(s.text, " aria-label=\"a &lt;name&gt;\""));
    assert_non_null(strstr(s.text, "<desc>what there is &amp; more</desc>"));
    sl_str_clear(&s);
    sl_plot_free(p);
}

static sl_status small_figure(void) {
    static const char *const tips[] = { "one", NULL, "three" };
    sl_plot *p;
    sl_str s = { 0 };
    double x[2000], y[2000], z[2000];
    SL_TRY(sl_plot_new(&p, 400, 300));
    sl_plot_title(p, "title");
    for (int i = 0; i < 2000; i++) {
        x[i] = i;
        y[i] = (i * 7919) % 2003;
        z[i] = y[i] + 10;
    }
    const int a = sl_plot_panel(p, &(sl_panel){ .x_label = "x", .y_label = "y", .title = "t" });
    const int b = sl_plot_panel(p, &(sl_panel){ .x_label = "x", .row = 1 });
    sl_plot_marks(p, a, x, y, 2000, &(sl_style){ .label = "marks" });
    sl_plot_marks(p, a, x, y, 3, &(sl_style){ .tips = tips });
    sl_plot_describe(p, "name", "description");
    sl_plot_line(p, a, x, y, 200, &(sl_style){ .label = "line" });
    sl_plot_band(p, b, x, y, z, 200, &(sl_style){ .label = "band" });
    sl_plot_bars(p, b, x, y, z, 200, &(sl_style){ .label = "bars" });
    sl_plot_rule(p, b, 0, &(sl_style){ .label = "rule" });
    const sl_status st = sl_plot_svg(&s, p);
    if (st != SL_OK) assert_true(s.failed || s.len == 0); // nothing half done
    sl_str_clear(&s);
    sl_plot_free(p);
    return st;
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, small_figure());
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(every_coordinate_is_inside_its_box),
        SL_TEST(marks_are_in_their_places),
        SL_TEST(lines_break_where_a_point_is_missing),
        SL_TEST(very_many_points_are_a_small_figure),
        SL_TEST(the_legend_has_each_label_once),
        SL_TEST(figures_of_next_to_nothing_are_drawn),
        SL_TEST(a_given_range_is_kept),
        SL_TEST(tips_belong_to_their_marks),
        SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("plot.figure", tests, SL_LEN(tests));
}
