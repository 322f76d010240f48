/* Figures as files, and the sentences. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "plot/plot_test.h"
#include "report/report_test.h"

static report_study study;

typedef struct files {
    sl_fixture *t;
    int n, fail_at;
    char name[32][32];
} files;

static void visit(const xml_element *e, void *payload) {
    int *marks = payload;
    *marks += strcmp(e->name, "circle") == 0 || strcmp(e->name, "path") == 0;
}

static sl_status keep(const char *name, const char *svg, size_t n, void *payload) {
    files *f = payload;
    int marks = 0;
    if (f->n == f->fail_at) return sl_fail(SL_EIO, "no");
    SL_CHECK(f->t, strlen(svg) == n, "%s: %zu bytes are said to be %zu", name, strlen(svg), n);
    XML_MUST(f->t, svg, visit, &marks);
    SL_CHECK(f->t, marks > 3, "%s: nothing is drawn", name);
    for (int i = 0; i < f->n; i++)
        SL_CHECK(f->t, strcmp(f->name[i], name) != 0, "two files %s", name);
    sl_snprintf(f->name[f->n++], 32, "%s", name);
    return SL_OK;
}

static void every_figure_is_a_file(void **state) {
    sl_fixture *t = *state;
    files f = { .t = t, .fail_at = -1 };
    SL_MUST(t, report_study_make(&study, &t->arena, 20));
    SL_MUST(t, sl_report_figures(&study.in, keep, &f));
    assert_int_equal(f.n, 10 + 4);
    assert_string_equal(f.name[0], "solved.svg");
    assert_string_equal(f.name[2], "loss.svg");
    // a callback that fails ends it, with its own error
    files g = { .t = t, .fail_at = 2 };
    assert_int_equal(sl_report_figures(&study.in, keep, &g), SL_EIO);
    assert_int_equal(g.n, 2);
}

/* ---------------------------------------------------------------- what is drawn ------------- */

typedef struct kept_text {
    const char *name;
    sl_str text;
} kept_text;

static sl_status keep_one(const char *name, const char *svg, size_t n, void *payload) {
    kept_text *k = payload;
    if (strcmp(name, k->name) == 0) sl_str_add_bytes(&k->text, svg, n);
    return sl_str_status(&k->text);
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) n++;
    return n;
}

/* Closed paths of ten corners: "M1 2L3 4 5 6 ..." has 18 blanks then. */
static int stars_in(const char *svg) {
    int n = 0;
    for (const char *at = svg; (at = strstr(at, "<path d=\"M")); at++) {
        int blanks = 0;
        const char *c = at + strlen("<path d=\"");
        for (; *c != '"'; c++) blanks += *c == ' ';
        n += blanks == 18 && c[-1] == 'z';
    }
    return n;
}

static void every_run_has_a_mark(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    // laws that say −60 percent of the smallest run
    study.laws.law[SL_LAWS_SOLVED][SL_LAWS_POWER].fit.a += 0.47;
    study.laws.law[SL_LAWS_R2][SL_LAWS_POWER].fit.a += 0.47;
    // a mark for each configuration, and one for each seed where there are several
    int marks = study.laws.n_point;
    for (int i = 0; i < study.laws.n_point; i++)
        marks += study.laws.point[i].n > 1 ? study.laws.point[i].n : 0;
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = { "loss.svg", "solved.svg", "r2.svg" };
        kept_text k = { .name = names[i] };
        SL_MUST(t, sl_report_figures(&study.in, keep_one, &k));
        assert_int_equal(count(k.text.text, "<title>"), marks);
        // shares begin at 0, whatever their law says of little compute
        SL_CHECK(t, i == 0 || !strstr(k.text.text, ">−"), "a share below 0 in %s", names[i]);
        // baselines are lines of the two accuracies
        assert_int_equal(count(k.text.text, "blind draws, best of 128"), i > 0);
        // the search by what it spends is a curve of what is solved
        assert_int_equal(count(k.text.text, "search, by compute for one problem"), i == 1);
        sl_str_clear(&k.text);
    }
}

static void stars_are_minima_of_curves(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    sl_laws_curve *c = sl_arena_alloc(&t->arena, (size_t)study.laws.n_curve * sizeof *c);
    memcpy(c, study.laws.curve, (size_t)study.laws.n_curve * sizeof *c);
    study.laws.curve = c;
    int stars = 0;
    for (int i = 0; i < study.laws.n_curve; i++) stars += c[i].n > 1;
    assert_true(stars >= 12);
    for (int single = 0; single < 2; single++) {
        kept_text k = { .name = "sweep.svg" };
        SL_MUST(t, sl_report_figures(&study.in, keep_one, &k));
        assert_int_equal(stars_in(k.text.text), stars - single);
        sl_str_clear(&k.text);
        for (int i = 0; i < study.laws.n_curve; i++) // one rate is no search
            if (c[i].n > 1) {
                c[i].n = 1;
                c[i].n_fine = 0;
                break;
            }
    }
}

static void a_folder_gets_them(void **state) {
    sl_fixture *t = *state;
    char path[4096];
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    const char *folder = sl_test_path("figures");
    SL_MUST(t, sl_report_figures_folder(&study.in, folder));
    sl_snprintf(path, sizeof path, "%s/allocation.svg", folder);
    assert_int_equal(access(path, R_OK), 0);
    // a disk that is full is an error, and leaves no half of a file
    const char *full = sl_test_path("full");
    sl_file_fail_at(1);
    assert_int_equal(sl_report_figures_folder(&study.in, full), SL_EIO);
    sl_file_fail_at(0);
    sl_snprintf(path, sizeof path, "%s/solved.svg", full);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* ---------------------------------------------------------------- sentences ----------------- */

static int lines_of(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void sentences_have_the_values_of_the_laws(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    char part[128];
    SL_MUST(t, report_study_make(&study, &t->arena, 60));
    SL_MUST(t, sl_report_sentences(&s, &study.in));
    const sl_law *loss = &study.laws.law[SL_LAWS_LOSS][SL_LAWS_POWER];
    assert_int_equal(lines_of(s.text), 3);
    SL_CHECK(t, !strchr(s.text, '<'), "markup in plain text: %s", s.text);
    sl_snprintf(part, sizeof part, "falls as C^−%.3f (−%.3f to −%.3f)", loss->exponent.value,
                loss->exponent.high, loss->exponent.low);
    SL_CHECK(t, strstr(s.text, part), "not \"%s\" in: %s", part, s.text);
    sl_snprintf(part, sizeof part, "over %.1f orders of magnitude of compute: %d runs",
                log10(loss->x_max / loss->x_min), loss->n);
    SL_CHECK(t, strstr(s.text, part), "not \"%s\" in: %s", part, s.text);
    const sl_laws *l = &study.laws;
    sl_snprintf(part, sizeof part, "rises from %.1f to %.1f percent",
                100 * l->point[l->frontier[0]].solved,
                100 * l->point[l->frontier[l->n_frontier - 1]].solved);
    SL_CHECK(t, strstr(s.text, part), "not \"%s\" in: %s", part, s.text);
    SL_CHECK(t, strstr(s.text, "an extrapolation to") && l->target_flops[0].value > 10 * l->c_top,
             "80 %% solved is far off: %s", s.text);
    sl_str_clear(&s);
}

static void what_is_not_known_is_left_out(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    study.laws.law[SL_LAWS_LOSS][SL_LAWS_POWER].known = false;
    study.laws.ratio.known = false;
    study.laws.n_score = 0;
    SL_MUST(t, sl_report_sentences(&s, &study.in));
    assert_int_equal(lines_of(s.text), 1);
    assert_true(strncmp(s.text, "The solved rate", 15) == 0);
    // without intervals there are none in the text
    SL_CHECK(t, !strstr(s.text, " to –"), "an interval that is none: %s", s.text);
    sl_str_truncate(&s, 0);
    SL_MUST(t, sl_report_sentences(&s, &(sl_report_input){ 0 }));
    assert_int_equal(s.len, 0);
    sl_str_clear(&s);
}

/* Each name once, in this order. */
static void has_legend(sl_fixture *t, const char *svg, const char *const *name, int n) {
    const char *last = svg;
    for (int i = 0; i < n; i++) {
        char text[48];
        sl_snprintf(text, sizeof text, ">%s</text>", name[i]);
        const char *at = strstr(svg, text);
        SL_CHECK(t, at && at > last, "%s is not named, or in another order", name[i]);
        SL_CHECK(t, count(svg, text) == 1, "%s is named more than once", name[i]);
        last = at;
    }
}

/* Whatever comes first: the panel of the smallest batch size may lack the smallest model, and a
 * form may have no prediction for what was left out first. */
static void legends_name_everything_in_order(void **state) {
    sl_fixture *t = *state;
    static const char *const sizes[] = { "11k", "26k", "74k" };
    static const char *const forms[] = { "power", "floor", "surface", "binomial" };
    kept_text sweep = { .name = "sweep.svg" }, predicted = { .name = "leave-out.svg" };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    sl_laws *l = &study.laws;
    sl_laws_curve *curve = sl_arena_alloc(&t->arena, (size_t)l->n_curve * sizeof *curve);
    sl_laws_prediction *prediction =
        sl_arena_alloc(&t->arena, (size_t)l->n_prediction * sizeof *prediction);
    assert_true(curve && prediction);
    int n = 0, m = 0;
    for (int i = 0; i < l->n_curve; i++)
        if (l->curve[i].size > 0 || l->curve[i].batch > 8) curve[n++] = l->curve[i];
    assert_true(n < l->n_curve);
    for (int i = 0; i < l->n_prediction; i++)
        if (l->prediction[i].form != SL_LAWS_SURFACE || l->prediction[i].split > 0)
            prediction[m++] = l->prediction[i];
    assert_true(m < l->n_prediction);
    l->curve = curve;
    l->prediction = prediction;
    l->n_curve = n;
    l->n_prediction = m;
    SL_MUST(t, sl_report_figures(&study.in, keep_one, &sweep));
    SL_MUST(t, sl_report_figures(&study.in, keep_one, &predicted));
    has_legend(t, sl_str_text(&sweep.text), sizes, SL_LEN(sizes));
    has_legend(t, sl_str_text(&predicted.text), forms, SL_LEN(forms));
    sl_str_clear(&sweep.text);
    sl_str_clear(&predicted.text);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(legends_name_everything_in_order),
        SL_TEST(every_figure_is_a_file),
        SL_TEST(every_run_has_a_mark),
        SL_TEST(stars_are_minima_of_curves),
        SL_TEST(a_folder_gets_them),
        SL_TEST(sentences_have_the_values_of_the_laws),
        SL_TEST(what_is_not_known_is_left_out),
    };
    return sl_test_main("report.figures", tests, SL_LEN(tests));
}
