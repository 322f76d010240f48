/* What the columns of a file hold: kinds, missing cells, ranges, distinct values, the first cells,
 * and which of them reading takes. */
#include <math.h>
#include <string.h>

#include "data/data.h"
#include "fixture/fixture.h"

static const char *file_of(const char *text) {
    return sl_test_write_text(sl_test_path("summary.csv"), text);
}

static void show(sl_str *s, const sl_table_summary *m) {
    sl_str_truncate(s, 0);
    sl_str_addf(s, "%lld rows:", (long long)m->rows);
    for (int i = 0; i < m->columns; i++) {
        const sl_table_column *c = &m->column[i];
        sl_str_addf(s, " %s[%s] %s -%lld %g..%g #%lld %d;", c->name, c->unit ? c->unit : "",
                    sl_data_column_kind_name(c->kind), (long long)c->missing, c->min, c->max,
                    (long long)c->distinct, c->n_first);
    }
    sl_str_addf(s, " %s by", m->target ? m->target : "none");
    for (int i = 0; i < m->n_inputs; i++) sl_str_addf(s, " %s", m->inputs[i]);
    for (int i = 0; i < m->n_notes; i++) sl_str_addf(s, " | %s", strchr(m->notes[i], ':'));
}

static void columns_are_described(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "v (m/s),id,g,E\n1,a,9.81,2\n3,b,9.81,NA\n-2,a,9.81,7\n",
          "3 rows: v[m/s] number -0 -2..3 #3 3; id[] text -0 nan..nan #2 3; "
          "g[] constant -0 9.81..9.81 #1 3; E[] number -1 2..7 #2 2; E by v g" },
        { "a,b\n,1\nNA,2\n", "2 rows: a[] empty -2 nan..nan #0 0; b[] number -0 1..2 #2 2; none "
                             "by | : b2 has no column" },
        { "a,b,c\n1,2,3\n1,x,4\n1,5,5\n",
          "3 rows: a[] constant -0 1..1 #1 3; b[] number -0 2..5 #3 3; c[] number -0 3..5 #3 3; "
          "none by | : row 2 (line 3) has \"x\", which is no number" },
        { "1,2\n-0,3\n0,3\n", "3 rows: x1[] number -0 0..1 #2 3; x2[] number -0 2..3 #2 3; x2 by "
                              "x1" },
    };
    sl_str s = { 0 };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_table_summary m;
        const sl_table_options o = SL_TABLE_OPTIONS_INIT;
        SL_MUST(t, sl_data_table_summary(&m, file_of(cases[i].text), &o, NULL, NULL));
        show(&s, &m);
        // of a note that is the failure of reading, the beginning is enough
        const char *want = cases[i].want;
        const size_t n = strcspn(want, "|");
        SL_CHECK(t, strncmp(s.text, want, n) == 0, "%s\ngives %s\nnot   %s", cases[i].text, s.text,
                 want);
        SL_CHECK(t, (m.n_notes > 0) == (want[n] == '|'), "%s: %d notes", cases[i].text, m.n_notes);
        if (m.n_notes > 1)
            SL_CHECK(t, strstr(m.notes[0], "row 2 (line 3) has \"x\""), "%s", m.notes[0]);
        SL_CHECK(t, strcmp(m.preview[0], cases[i].text[0] == '1' ? "1" : m.preview[0]) == 0, "%s",
                 m.preview[0]);
        sl_data_table_summary_clear(&m);
    }
    sl_str_clear(&s);
}

/* 12,000 different numbers and one text: more than are counted, and then none. */
static void distinct_values_are_counted_up_to_a_limit(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    sl_str_add(&s, "a,b,y\n");
    for (int i = 0; i < 12000; i++) sl_str_addf(&s, "%d,%d,%d\n", i, i % 9000, i % 7);
    sl_table_summary m;
    const sl_table_options o = SL_TABLE_OPTIONS_INIT;
    SL_MUST(t, sl_data_table_summary(&m, file_of(s.text), &o, NULL, NULL));
    SL_CHECK(t, m.column[0].distinct == -1, "%lld", (long long)m.column[0].distinct);
    SL_CHECK(t, m.column[1].distinct == 9000, "%lld", (long long)m.column[1].distinct);
    SL_CHECK(t, m.column[2].distinct == 7, "%lld", (long long)m.column[2].distinct);
    SL_CHECK(t, m.preview_rows == SL_TABLE_PREVIEW && strcmp(m.preview[19 * 3], "19") == 0, "%s",
             m.preview[19 * 3]);
    sl_data_table_summary_clear(&m);
    sl_str_clear(&s);
}

static sl_status read_summary(const char *path) {
    sl_table_summary m = { .rows = -1 };
    const sl_table_options o = SL_TABLE_OPTIONS_INIT;
    const sl_status st = sl_data_table_summary(&m, path, &o, NULL, NULL);
    if (st == SL_OK)
        sl_data_table_summary_clear(&m);
    else
        SL_ASSERT(m.rows == -1); // as it was
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    const char *path = file_of("a,b (m),y\n1,x,3\n2,y,NA\n3,z,4\n4,,z\n5,x,6\n");
    SL_EACH_ALLOCATION(t, read_summary(path));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(columns_are_described),
        SL_TEST(distinct_values_are_counted_up_to_a_limit),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("data.table_summary", tests, SL_LEN(tests));
}
