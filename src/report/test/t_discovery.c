/* A discovery as text: figures are rounded for people, and what the data lack is named. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "report/report.h"

/* y = 2 x + 1 with one candidate, made by hand. */
typedef struct made {
    double x[8], y[8];
    sl_table table;
    sl_candidate candidate;
    sl_discovery discovery;
    const char *name;
    sl_report_discovery result;
} made;

static void make(made *m, sl_fixture *t, double r2) {
    static const char formula[] = "2*x1 + 1";
    sl_text_error wrong;
    *m = (made){ .name = "mass" };
    for (int i = 0; i < 8; i++) m->y[i] = 2 * (m->x[i] = i) + 1;
    m->table =
        (sl_table){ .data = { .inputs = 1, .rows = 8, .x = { m->x }, .y = m->y }, .read = 8 };
    m->candidate = (sl_candidate){ .state = SL_CANDIDATE_SCORED,
                                   .source = SL_SOURCE_BASELINE,
                                   .r2 = r2,
                                   .r2_holdout = r2,
                                   .rms = 0.25,
                                   .same_as = -1 };
    SL_MUST(t, sl_expr_parse(&m->candidate.expr, &t->arena, SL_FORMAT_INFIX, formula,
                             strlen(formula), NULL, &wrong));
    m->discovery = (sl_discovery){
        .candidate = &m->candidate, .count = 1, .ranked = 1, .within_noise = true, .rows_fit = 8
    };
    m->result = (sl_report_discovery){ .table = &m->table,
                                       .data = &m->table.data,
                                       .discovery = &m->discovery,
                                       .names = { &m->name, 1 },
                                       .target = "y",
                                       .top = 6 };
}

static void must_print(sl_fixture *t, const made *m, const char *line) {
    sl_str s = { 0 };
    SL_MUST(t, sl_report_discovery_table(&s, &m->result));
    SL_CHECK(t, strstr(sl_str_text(&s), line), "no \"%s\" in\n%s", line, sl_str_text(&s));
    sl_str_clear(&s);
}

static void an_r2_close_to_1_is_shown_as_what_it_lacks(void **state) {
    sl_fixture *t = *state;
    made m;
    make(&m, t, 1 - 9.5e-9);
    must_print(t, &m, "y = 2*mass + 1\n\n");
    must_print(t, &m, "\n  1 - R2        9.5e-09\n");
    m.discovery.rows_held = 3;
    must_print(t, &m, "\n  held-out      1 - R2 = 9.5e-09, on 3 rows\n");
    make(&m, t, 0.98765);
    must_print(t, &m, "\n  R2            0.987650\n");
    m.discovery.rows_held = 3;
    must_print(t, &m, "\n  held-out R2   0.987650, on 3 rows\n");
    make(&m, t, 1);
    must_print(t, &m, "\n  R2            1\n");
}

static void keep(void *payload, const char *name, const char *sentence) {
    sl_str_addf(payload, "%s: %s\n", name, sentence);
}

static void notes_name_what_the_data_lack(void **state) {
    sl_fixture *t = *state;
    made m;
    sl_str s = { 0 };
    make(&m, t, 1);
    sl_report_discovery_notes(&m.result, keep, &s);
    assert_string_equal(sl_str_text(&s), ""); // nothing to be known
    m.table.read = 11;
    m.table.missing = 2;
    m.table.infinite = 1;
    m.table.text_columns = 1;
    m.discovery.cut = SL_CUT_TIME;
    sl_report_discovery_notes(&m.result, keep, &s);
    assert_string_equal(
        sl_str_text(&s),
        "rows: 8 of 11: 2 with a missing cell dropped, 1 with an infinite cell dropped\n"
        "text: 1 text column ignored\n"
        "stopped: by the time limit: the best so far, which another run may not repeat\n");
    sl_str_clear(&s);
}

/* What failed stands in one place: the table says it, and the notes where there is no table. */
static void no_formula_is_reported(void **state) {
    sl_fixture *t = *state;
    made m;
    sl_str s = { 0 };
    make(&m, t, NAN);
    m.discovery.ranked = 0;
    must_print(t, &m, "no formula found: every candidate is undefined on some rows\n");
    sl_report_discovery_notes(&m.result, keep, &s);
    assert_string_equal(sl_str_text(&s),
                        "no formula found: every candidate is undefined on some rows\n");
    sl_str_clear(&s);
}

static void a_duration_is_in_the_units_people_use(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = { { 0.4, "0.4 s" },       { 75, "1 min 15 s" }, { 3725, "1 h 2 min" },
                 { 250000, "2.9 days" }, { NAN, "unknown" },   { -1, "unknown" } };
    char text[32];
    for (int i = 0; i < SL_LEN(rows); i++)
        assert_string_equal(sl_report_duration(text, rows[i].seconds), rows[i].text);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(an_r2_close_to_1_is_shown_as_what_it_lacks),
        SL_TEST(notes_name_what_the_data_lack),
        SL_TEST(no_formula_is_reported),
        SL_TEST(a_duration_is_in_the_units_people_use),
    };
    return sl_test_main("report.discovery", tests, SL_LEN(tests));
}
