/* Tables: the runs of a study as laws sees them and as runs.csv has them are the same runs. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "study/study_impl.h"

static const double batch[] = { 8, 16 }, lr[] = { 2.15443e-4 }, two[] = { 0, 1 };
static sl_study_size size = { .name = "16x1",
                              .train = "{}",
                              .batch = { batch, 2 },
                              .lr = { lr, 1 },
                              .ratios = { batch, 2 },
                              .sweep_seeds = { two, 2 },
                              .scale_seeds = { two, 2 } };
static const sl_study_plan plan = { .name = "table", .size = &size, .sizes = 1, .attempts = 1 };

static sl_study_run run_of(double b, double ratio, int seed, bool sweep, bool scale) {
    sl_study_run r = { .batch = b,
                       .lr = lr[0],
                       .ratio = ratio,
                       .seed = seed,
                       .sweep = sweep,
                       .scale = scale,
                       .trained = true,
                       .state = SL_STUDY_DONE };
    sl_study__id(r.id, size.name, &r);
    r.result = sl_study_no_result();
    r.result.params = 11104;
    r.result.tokens = 11104 * ratio;
    r.result.flops = 1e11 * ratio / 3;
    r.result.loss_valid = 1.5 + 0.1 * seed;
    r.result.loss_valid_expression = 14.25;
    r.result.cpu = "AMD \"EPYC\", 7";
    r.result.seconds = 1.5 * ratio;
    for (int k = 0; k < SL_STUDY_SET_COUNT; k++) r.eval[k] = sl_study__no_evaluation();
    if (!scale) return r;
    r.eval[SL_STUDY_SET_TEST].solved = (sl_study_share){ 31 / 3.0, 100 };
    r.eval[SL_STUDY_SET_TEST].r2 = (sl_study_share){ 20, 100 };
    r.eval[SL_STUDY_SET_TEST].loss = 1.25;
    r.eval[SL_STUDY_SET_TEST].there = true;
    return r;
}

/* Five runs: two of the sweep alone, one of both phases, one that diverged, one that waits. */
static sl_study example(sl_study_run run[5]) {
    run[0] = run_of(8, 8, 0, true, false);
    run[1] = run_of(8, 8, 1, true, false);
    run[2] = run_of(16, 8, 0, true, true);
    run[3] = run_of(16, 8, 1, true, false);
    run[3].trained = false;
    run[3].state = SL_STUDY_FAILED;
    run[3].result = sl_study_no_result();
    run[3].result.diverged = true;
    run[4] = run_of(16, 16, 0, false, true);
    run[4].trained = false;
    run[4].state = SL_STUDY_WAITING;
    return (sl_study){ .plan = &plan, .dir = "there", .run = run, .runs = 5, .notes = "" };
}

static void laws_sees_the_runs_that_have_a_result(void **state) {
    sl_fixture *t = *state;
    sl_study_run run[5];
    const sl_study s = example(run);
    sl_laws_table table;
    SL_MUST(t, sl_study_table(&table, &t->arena, &s));
    assert_int_equal(table.n, 4);
    const sl_laws_run *r = &table.run[2];
    assert_string_equal(r->id, "16x1-b16-lr2.15443e-4-r8-s0");
    assert_string_equal(r->size, "16x1");
    assert_string_equal(r->phase, "both");
    assert_string_equal(table.run[0].phase, "sweep");
    assert_true(r->params == 11104 && r->loss == 1.5 && r->batch == 16 && r->rate == lr[0]);
    assert_true(r->trials == 100 && fabs(r->solved_hits - 31 / 3.0) < 1e-12 && r->r2 == 0.2);
    assert_true(isnan(table.run[0].solved) && r->seed == 0 && r->ratio == 8);
    assert_true(sl_laws_finished(r) && !sl_laws_finished(&table.run[3]));
    assert_string_equal(table.run[3].status, "diverged");
}

static void the_csv_reads_back_as_the_same_table(void **state) {
    sl_fixture *t = *state;
    sl_study_run run[5];
    const sl_study s = example(run);
    sl_laws_table a, b;
    sl_str csv = { 0 };
    sl_study_csv(&csv, &s);
    SL_MUST(t, sl_str_status(&csv));
    const char *path = sl_test_write_text(sl_test_path("runs.csv"), csv.text);
    sl_str_clear(&csv);
    // a text with separators and quotes is one cell
    sl_csv *c = NULL;
    const sl_cell *cells;
    SL_MUST(t, sl_io_csv_open(&c, path, NULL));
    SL_MUST(t, sl_io_csv_next(&cells, c));
    assert_string_equal(cells[sl_io_csv_find(c, "cpu")].text, run[0].result.cpu);
    sl_io_csv_close(c);
    SL_MUST(t, sl_study_table(&a, &t->arena, &s));
    SL_MUST(t, sl_laws_table_read(&b, &t->arena, path, NULL));
    assert_int_equal(a.n, b.n);
    for (int i = 0; i < a.n; i++) {
#define SAME_T(x, y) (strcmp(x, y) == 0)
#define SAME_R(x, y) ((x) == (y) || (isnan(x) && isnan(y)))
#define X(field, kind, ...) \
    SL_CHECK(t, SAME_##kind(a.run[i].field, b.run[i].field), "row %d: " #field " differs", i);
        SL_LAWS_COLUMNS(X)
#undef X
    }
}

/* What depends on how a run was executed stands in the last columns, and nowhere else. */
static void times_are_in_the_last_columns_alone(void **state) {
    sl_fixture *t = *state;
    sl_study_run run[5];
    const sl_study s = example(run);
    sl_str a = { 0 }, b = { 0 };
    sl_study_csv(&a, &s);
    for (int i = 0; i < 5; i++) {
        sl_study_result *r = &run[i].result;
        r->seconds = r->cpu_seconds = r->threads = r->ranks = 77;
        for (int k = 0; k < SL_STUDY_SET_COUNT; k++) run[i].eval[k].seconds = 78;
    }
    sl_study_csv(&b, &s);
    int times = 0, others = 0;
    char *x = a.text, *y = b.text;
    char names[2000];
    snprintf(names, sizeof names, "%.*s", (int)strcspn(a.text, "\n"), a.text);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const bool time = strncmp(name, "seconds_", 8) == 0;
        SL_CHECK(t, time || times == 0, "%s stands behind times", name);
        times += time;
        others += !time;
    }
    assert_true(times == 5 && others > 30);
    for (int line = 0; line < 5; line++) {
        size_t n = strcspn(x, "\n"), m = strcspn(y, "\n");
        // cut the last columns off both
        for (int k = 0; k < times && line > 0; k++) {
            while (x[--n] != ',') {
            }
            while (y[--m] != ',') {
            }
        }
        SL_CHECK(t, n == m && memcmp(x, y, n) == 0, "line %d differs: %.*s", line, (int)n, x);
        x += strcspn(x, "\n") + 1;
        y += strcspn(y, "\n") + 1;
    }
    assert_true(*x == '\0');
    sl_str_clear(&a);
    sl_str_clear(&b);
}

static sl_status make_table(sl_fixture *t, const sl_study *s) {
    sl_laws_table table;
    return sl_study_table(&table, &t->arena, s);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_study_run run[5];
    const sl_study s = example(run);
    SL_EACH_ALLOCATION(t, make_table(t, &s));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(laws_sees_the_runs_that_have_a_result),
        SL_TEST(the_csv_reads_back_as_the_same_table),
        SL_TEST(times_are_in_the_last_columns_alone),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("study.table", tests, SL_LEN(tests));
}
