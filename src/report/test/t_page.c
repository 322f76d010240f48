/* The page: well-formed whatever it is given, complete, alone in the world, the same each time. */
#include <float.h>
#include <math.h>

#include "fixture/fixture.h"
#include "plot/plot_test.h"
#include "report/report_test.h"

static report_study study; // large; each test fills it

static const char *const all_figures[] = {
    "solved", "r2",         "loss",    "leave-out", "sweep",
    "optima", "allocation", "isoflop", "curves",    "others"
};

/* ---------------------------------------------------------------- reading a page ------------ */

enum { IDS = 96 };

typedef struct seen {
    sl_fixture *t;
    int ids, links, figures, drawings, named, tables, details, scripts, captions, math;
    char id[IDS][32], link[IDS][32];
} seen;

static void copy_value(char out[32], const char *value) {
    size_t n = strcspn(value, "\"");
    n = SL_MIN(n, 31);
    memcpy(out, value, n);
    out[n] = '\0';
}

static void visit(const xml_element *e, void *payload) {
    seen *s = payload;
    const char *v;
    s->figures += strcmp(e->name, "figure") == 0;
    s->tables += strcmp(e->name, "table") == 0;
    s->details += strcmp(e->name, "details") == 0;
    s->scripts += strcmp(e->name, "script") == 0;
    s->captions += strcmp(e->name, "figcaption") == 0;
    s->math += strcmp(e->name, "math") == 0;
    if (strcmp(e->name, "svg") == 0) {
        s->drawings++;
        s->named += xml_attribute(&v, e, "aria-label") && xml_attribute(&v, e, "role");
    }
    SL_CHECK(s->t, !xml_attribute(&v, e, "src"), "<%s> fetches something", e->name);
    if (xml_attribute(&v, e, "id") && s->ids < IDS) copy_value(s->id[s->ids++], v);
    if (xml_attribute(&v, e, "href") && *v == '#' && s->links < IDS)
        copy_value(s->link[s->links++], v + 1);
}

static seen read_page(sl_fixture *t, const sl_str *page) {
    seen s = { .t = t };
    XML_MUST(t, sl_str_text(page), visit, &s);
    for (int i = 0; i < s.ids; i++)
        for (int k = 0; k < i; k++)
            SL_CHECK(t, strcmp(s.id[i], s.id[k]) != 0, "two are #%s", s.id[i]);
    for (int i = 0; i < s.links; i++) {
        bool there = false;
        for (int k = 0; k < s.ids; k++) there = there || strcmp(s.link[i], s.id[k]) == 0;
        SL_CHECK(t, there, "a link to #%s, which is not there", s.link[i]);
    }
    SL_CHECK(t, s.scripts == 1, "%d scripts", s.scripts);
    SL_CHECK(t, s.named == s.drawings, "%d of %d drawings have a name", s.named, s.drawings);
    return s;
}

static bool has(const sl_str *page, const char *text) { return strstr(sl_str_text(page), text); }

static bool has_id(const seen *s, const char *id) {
    for (int i = 0; i < s->ids; i++)
        if (strcmp(s->id[i], id) == 0) return true;
    return false;
}

static int count(const char *text, const char *part) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) n++;
    return n;
}

/* ---------------------------------------------------------------- tests --------------------- */

static void a_study_shows_everything(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 40));
    SL_MUST(t, sl_report_html(&page, &study.in));
    const seen s = read_page(t, &page);
    for (int i = 0; i < SL_LEN(all_figures); i++) {
        char id[48], number[48];
        sl_snprintf(id, sizeof id, "fig-%s", all_figures[i]);
        sl_snprintf(number, sizeof number, "<b>Figure %d.</b>", i + 1);
        SL_CHECK(t, has_id(&s, id), "no figure %s", id);
        SL_CHECK(t, has(&page, number), "no number %d", i + 1);
    }
    static const char *const sections[] = { "compute",    "laws",     "predict",   "settings",
                                            "allocation", "training", "baselines", "others",
                                            "problems",   "cost",     "machines",  "failures",
                                            "runs",       "repeat" };
    for (int i = 0; i < SL_LEN(sections); i++)
        SL_CHECK(t, has_id(&s, sections[i]), "no section %s", sections[i]);
    // numbered ones twice, for a page and for a telephone, and each with its data
    assert_int_equal(s.figures, SL_LEN(all_figures) + study.in.n_problems);
    assert_int_equal(s.drawings, 2 * SL_LEN(all_figures) + study.in.n_problems);
    assert_int_equal(s.captions, SL_LEN(all_figures));
    assert_true(s.details >= s.figures);
    assert_true(s.math >= study.in.n_problems);
    assert_true(has(&page, "These runs are mixed"));
    assert_true(has(&page, "loss is not finite at step 812"));
    assert_true(has(&page, "CPU-seconds a problem") && has(&page, "Squares are the search"));
    assert_true(has(&page, "symlaw study run studies/micro.json"));
    assert_true(has(&page, "  &quot;sizes&quot;: [16, 32, 48, 64]\n")); // lines stay lines
    for (int i = 0; i < study.table.n; i++) {
        char cell[64];
        sl_snprintf(cell, sizeof cell, "<td>%s</td>", study.table.run[i].id);
        SL_CHECK(t, has(&page, cell), "no run %s", study.table.run[i].id);
    }
    sl_str_clear(&page);
}

/* The first thing said, and nothing of a study that is complete. */
static void a_part_of_a_study_is_marked(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    SL_MUST(t, sl_report_html(&page, &study.in));
    assert_false(has(&page, "not complete"));
    sl_report_input part = study.in;
    part.unfinished = "3 of 5 runs <are> done";
    sl_str_truncate(&page, 0);
    SL_MUST(t, sl_report_html(&page, &part));
    const char *said = strstr(sl_str_text(&page), "3 of 5 runs &lt;are&gt; done.");
    assert_non_null(said);
    assert_true(said < strstr(sl_str_text(&page), "class=\"lead\""));
    sl_str_clear(&page);
}

/* The rate is of what was carried out, and not of the FLOPs that laws count. */
static void the_rate_is_of_what_was_executed(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    const sl_report_cost cost = {
        .phase = "scale", .runs = 1, .seconds = 10, .flops = 7e12, .executed = 4.44e11, .share = NAN
    };
    const sl_report_input in = { .laws = &study.laws, .n_costs = 1, .costs = &cost };
    SL_MUST(t, sl_report_html(&page, &in));
    const char *row = strstr(sl_str_text(&page), "<td>scale</td>");
    assert_non_null(row);
    assert_non_null(strstr(row, ">44.4</td>"));
    assert_null(strstr(row, ">700</td>"));
    sl_str_clear(&page);
}

static void nothing_is_fetched(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    SL_MUST(t, sl_report_html(&page, &study.in));
    const char *text = sl_str_text(&page);
    // the only addresses are the names of XML's vocabularies
    assert_int_equal(count(text, "://"), count(text, "xmlns=\"http://www.w3.org/"));
    assert_false(has(&page, "@import"));
    assert_false(has(&page, "url("));
    sl_str_clear(&page);
}

static void the_frontier_is_marked(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    study.in.n_others = study.in.n_baselines = 0;
    study.laws.n_score = 0; // whose best rows are marked alike
    SL_MUST(t, sl_report_html(&page, &study.in));
    int rows = 0;
    for (int i = 0; i < study.laws.n_frontier; i++)
        rows += study.laws.point[study.laws.frontier[i]].n;
    assert_true(rows > 10);
    assert_int_equal(count(sl_str_text(&page), "<tr class=\"best\">"), rows);
    sl_str_clear(&page);
}

static void extrapolations_are_in_red_words(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    for (int far = 0; far < 2; far++) {
        // ten times is not beyond ten times
        study.laws.target_flops[SL_LAWS_POWER] =
            (sl_estimate){ study.laws.c_top * (far ? 10.1 : 10), NAN, NAN };
        study.laws.target_flops[SL_LAWS_FLOOR].value = NAN;
        study.laws.target_flops[SL_LAWS_BINOMIAL].value = NAN;
        sl_str_truncate(&page, 0);
        SL_MUST(t, sl_report_html(&page, &study.in));
        SL_CHECK(t, has(&page, "<span class=\"red\">an extrapolation to 10 times") == far,
                 "sentence, far %d", far);
        SL_CHECK(t, has(&page, "<small class=\"red\">extrapolated") == far, "key, far %d", far);
        SL_CHECK(t, has(&page, "<span class=\"red\">far extrapolation") == far, "row, far %d", far);
    }
    sl_str_clear(&page);
}

static void the_same_input_is_the_same_bytes(void **state) {
    sl_fixture *t = *state;
    sl_str a = { 0 }, b = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 10));
    SL_MUST(t, sl_report_html(&a, &study.in));
    sl_str_add(&b, "before ");
    SL_MUST(t, sl_report_html(&b, &study.in));
    assert_string_equal(a.text, b.text + strlen("before ")); // and it appends
    sl_str_clear(&a);
    sl_str_clear(&b);
}

/* Every text of the input as bad as it can be. */
static void texts_are_escaped(void **state) {
    sl_fixture *t = *state;
    static const char bad[] = "</td><script>alert(1)</script>&amp;\"'>\x01\xff\xed\xa0\x80\n]]>";
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    for (int i = 0; i < study.table.n; i++) {
        sl_laws_run *r = &study.table.run[i];
        r->id = r->size = r->phase = r->status = bad;
    }
    sl_laws_size *size = sl_arena_alloc(&t->arena, REPORT_SIZES * sizeof *size);
    for (int i = 0; i < REPORT_SIZES; i++) size[i] = (sl_laws_size){ bad, report_params[i] };
    study.laws.size = size;
    sl_laws_split split = { bad, 1, 0, 1, 1 };
    study.laws.split = &split;
    study.laws.n_split = 1;
    study.laws.n_prediction = SL_MIN(study.laws.n_prediction, 1);
    study.laws.n_score = SL_MIN(study.laws.n_score, 1);
    const sl_laws_note note = { SL_LAWS_NOTE_FAR, bad };
    study.laws.note = &note;
    study.laws.n_note = 1;
    const sl_report_baseline baseline = { bad, bad, .solved = { 0.1, 0, 1 }, .r2 = { 0.1, 0, 1 } };
    const sl_report_cost cost = { bad, 1, 1, 1, 1, 1, 1 };
    const sl_report_failure failure = { bad, bad, bad, 1 };
    study.in.baselines = &baseline;
    study.in.costs = &cost;
    study.in.failures = &failure;
    study.in.n_baselines = study.in.n_costs = study.in.n_failures = 1;
    for (int i = 0; i < SL_LEN(study.origin); i++)
        study.origin[i] = (sl_report_origin){ bad, bad, bad, bad, i ? bad : NULL };
    for (int i = 0; i < REPORT_SIZES; i++) study.other[i].run = bad;
    for (int i = 0; i < study.curves; i++) study.curve[i].run = bad;
    for (int i = 0; i < 4; i++) {
        study.problem[i].truth_mathml = study.problem[i].found_mathml = NULL;
        study.problem[i].truth = study.problem[i].found = bad;
    }
    study.in.title = study.in.subtitle = study.in.command = study.in.plan = bad;
    SL_MUST(t, sl_report_html(&page, &study.in));
    (void)read_page(t, &page);
    assert_false(has(&page, "<script>alert"));
    assert_true(has(&page, "&lt;script&gt;alert"));
    sl_str_clear(&page);
}

static void parts_that_are_missing_are_left_out(void **state) {
    sl_fixture *t = *state;
    sl_str page = { 0 };
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    const sl_report_input bare = { .laws = &study.laws };
    SL_MUST(t, sl_report_html(&page, &bare));
    const seen s = read_page(t, &page);
    assert_true(has_id(&s, "fig-loss") && has_id(&s, "runs"));
    static const char *const gone[] = { "training", "baselines", "others", "problems",  "cost",
                                        "machines", "failures",  "repeat", "fig-curves" };
    for (int i = 0; i < SL_LEN(gone); i++)
        SL_CHECK(t, !has_id(&s, gone[i]), "%s of nothing", gone[i]);

    // and without a single run
    const sl_report_input nothing = { 0 };
    sl_str_truncate(&page, 0);
    SL_MUST(t, sl_report_html(&page, &nothing));
    const seen n = read_page(t, &page);
    assert_int_equal(n.figures, 0);
    assert_true(has(&page, "too few finished runs"));
    sl_str_clear(&page);
}

/* ---------------------------------------------------------------- any numbers --------------- */

static double odd_number(sl_rng *rng) {
    static const double odd[] = { NAN,     INFINITY, -INFINITY, 0, -1,   -0.0,
                                  DBL_MAX, DBL_MIN,  1e-320,    1, 1e300 };
    return odd[sl_rng_below(rng, SL_LEN(odd))];
}

/* Spoils one in `often` of n doubles. */
static void spoil(double *v, int n, sl_rng *rng, uint32_t often) {
    for (int i = 0; i < n; i++)
        if (!sl_rng_below(rng, often)) v[i] = odd_number(rng);
}

static void spoil_law(sl_law *law, sl_rng *rng, uint32_t often) {
    spoil(&law->exponent.value, 3, rng, often);
    spoil(&law->coefficient.value, 3, rng, often);
    spoil(&law->fit.a, 3, rng, often);
    spoil(&law->x_min, 3, rng, often);
    spoil(&law->r2, 1, rng, often);
    if (!sl_rng_below(rng, often)) law->known = !law->known;
}

static void any_numbers_make_a_page(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < sl_test_iters(t, 12); i++) {
        sl_str page = { 0 };
        sl_arena_rewind(&t->arena, 0);
        SL_MUST(t, report_study_make(&study, &t->arena, 0));
        const uint32_t often = i == 0 ? 1 : 1 + sl_rng_below(&t->rng, 12);
        for (int k = 0; k < study.table.n; k++) {
            sl_laws_run *r = &study.table.run[k];
            spoil(&r->params, 6, &t->rng, often);
            spoil(&r->r2, 1, &t->rng, often);
            spoil(&r->batch, 2, &t->rng, often);
        }
        for (int k = 0; k < study.laws.n_point; k++)
            spoil(&study.laws.point[k].params, 7, &t->rng, often);
        for (int m = 0; m < SL_LAWS_METRIC_COUNT; m++)
            for (int f = 0; f < SL_LAWS_FORM_COUNT; f++)
                spoil_law(&study.laws.law[m][f], &t->rng, often);
        spoil_law(&study.laws.params, &t->rng, often);
        spoil_law(&study.laws.ratio, &t->rng, often);
        spoil_law(&study.laws.batch, &t->rng, often);
        spoil(&study.laws.c_top, 1, &t->rng, often);
        spoil(&study.laws.target_flops[0].value, 3, &t->rng, often);
        for (int k = 0; k < study.curves; k++)
            spoil(&study.step[k][0][0], 3 * REPORT_STEPS, &t->rng, often);
        for (int k = 0; k < 4; k++) {
            spoil(study.x[k], REPORT_POINTS, &t->rng, often);
            spoil(study.y[k], REPORT_POINTS, &t->rng, often);
            spoil(study.found[k], REPORT_POINTS, &t->rng, often);
        }
        for (int k = 0; k < REPORT_SIZES; k++) spoil(&study.other[k].params, 11, &t->rng, often);
        SL_MUST(t, sl_report_html(&page, &study.in));
        (void)read_page(t, &page);
        sl_str_clear(&page);
    }
}

/* ---------------------------------------------------------------- memory -------------------- */

static sl_status page_of(const sl_report_input *in) {
    sl_str page = { 0 };
    const sl_status st = sl_report_html(&page, in);
    sl_str_clear(&page);
    return st;
}

static sl_status sentences_of(const sl_report_input *in) {
    sl_str text = { 0 };
    const sl_status st = sl_report_sentences(&text, in);
    sl_str_clear(&text);
    return st;
}

static sl_status ignore(const char *name, const char *svg, size_t n, void *payload) {
    (void)name, (void)svg, (void)n, (void)payload;
    return SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, report_study_make(&study, &t->arena, 0));
    // a little of everything: there are hundreds of allocations, and a page for each
    study.in.n_problems = 1;
    study.problem[0].data.rows = 3;
    study.in.n_curves = study.laws.n_curve = 2;
    study.laws.n_prediction = SL_MIN(study.laws.n_prediction, 4);
    study.laws.n_score = 1;
    study.in.n_origins = 2;
    SL_EACH_ALLOCATION(t, page_of(&study.in));
    SL_EACH_ALLOCATION(t, sentences_of(&study.in));
    SL_EACH_ALLOCATION(t, sl_report_figures(&study.in, ignore, NULL));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_study_shows_everything),
        SL_TEST(a_part_of_a_study_is_marked),
        SL_TEST(the_rate_is_of_what_was_executed),
        SL_TEST(nothing_is_fetched),
        SL_TEST(the_frontier_is_marked),
        SL_TEST(extrapolations_are_in_red_words),
        SL_TEST(the_same_input_is_the_same_bytes),
        SL_TEST(texts_are_escaped),
        SL_TEST(parts_that_are_missing_are_left_out),
        SL_TEST(any_numbers_make_a_page),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("report.page", tests, SL_LEN(tests));
}
