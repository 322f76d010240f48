/* From a file to columns of numbers: which columns, which rows, how many were left out; and clear
 * words for everything that cannot be. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/table_impl.h"
#include "fixture/fixture.h"
#include "num/num.h"

static const char *file_of(const char *bytes, size_t n) {
    return sl_test_write(sl_test_path("table.csv"), bytes, n);
}

static const char *file(sl_fixture *t, const sl_str *s) {
    SL_MUST(t, sl_str_status(s));
    return file_of(s->text, s->len);
}

/* The table in one line: `y ~ a + b: 3 rows of 5`, then what was left out, then the rows. */
static void show(sl_str *s, const sl_table *t) {
    sl_str_truncate(s, 0);
    sl_str_addf(s, "%s ~", t->data.target);
    for (int j = 0; j < t->data.inputs; j++)
        sl_str_addf(s, "%s%s", j ? " + " : " ", t->data.names[j]);
    sl_str_addf(s, ": %lld of %lld", (long long)t->data.rows, (long long)t->read);
    if (t->missing) sl_str_addf(s, ", %lld missing", (long long)t->missing);
    if (t->infinite) sl_str_addf(s, ", %lld infinite", (long long)t->infinite);
    if (t->repeated) sl_str_addf(s, ", %lld repeated", (long long)t->repeated);
    if (t->text_columns) sl_str_addf(s, ", %d text", t->text_columns);
    if (t->chosen_from) sl_str_addf(s, ", from %d", t->chosen_from);
    sl_str_addf(s, ", %d columns:", t->columns);
    for (int64_t i = 0; i < t->data.rows; i++) {
        for (int j = 0; j < t->data.inputs; j++)
            sl_str_addf(s, "%c%g", j ? ',' : ' ', t->data.x[j][i]);
        sl_str_addf(s, "=%g", t->data.y[i]);
    }
}

/* ---------------------------------------------------------------- what is read -------------- */

static void tables_as_people_have_them(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *target, *inputs, *want;
    } cases[] = {
        // which column is the target
        { "a,b,c\n1,2,3\n4,5,6\n", NULL, NULL, "c ~ a + b: 2 of 2, 3 columns: 1,2=3 4,5=6" },
        { "a,y,c\n1,2,3\n4,5,6\n", NULL, NULL, "y ~ a + c: 2 of 2, 3 columns: 1,3=2 4,6=5" },
        { "Target,b\n1,2\n4,5\n", NULL, NULL, "Target ~ b: 2 of 2, 2 columns: 2=1 5=4" },
        { "target,y\n1,2\n4,5\n", NULL, NULL, "y ~ target: 2 of 2, 2 columns: 1=2 4=5" },
        { "1,2,3\n4,5,6\n", NULL, NULL, "x3 ~ x1 + x2: 2 of 2, 3 columns: 1,2=3 4,5=6" },
        { "1,2,3\n4,5,6\n", "x1", NULL, "x1 ~ x2 + x3: 2 of 2, 3 columns: 2,3=1 5,6=4" },
        { "a,b,c\n1,2,3\n4,5,6\n", "1", NULL, "a ~ b + c: 2 of 2, 3 columns: 2,3=1 5,6=4" },
        // which are inputs
        { "a,b,c\n1,2,3\n4,5,6\n", "b", "c", "b ~ c: 2 of 2, 3 columns: 3=2 6=5" },
        { "a,b,c\n1,2,3\n4,5,6\n", "b", "c,a", "b ~ c + a: 2 of 2, 3 columns: 3,1=2 6,4=5" },
        { "a,b,c\n1,2,3\n4,5,6\n", "b", " 3 , 1 ", "b ~ c + a: 2 of 2, 3 columns: 3,1=2 6,4=5" },
        { "\"a,b\",\"c\"\"d\",e\n1,2,3\n4,5,6\n", "e", "\"a,b\",\"c\"\"d\"",
          "e ~ a,b + c\"d: 2 of 2, 3 columns: 1,2=3 4,5=6" },
        { "\"a,b\",\"c\"\"d\",e\n1,2,3\n4,5,6\n", "e", "a,b",
          "e ~ a,b: 2 of 2, 3 columns: 1=3 4=6" },
        { "\"a,b\",\"c\"\"d\",e\n1,2,3\n4,5,6\n", "e", "c\"d",
          "e ~ c\"d: 2 of 2, 3 columns: 2=3 5=6" },
        // names are just names; equal ones get numbers
        { "N,exec\n1,2\n4,5\n", "exec", NULL, "exec ~ N: 2 of 2, 2 columns: 1=2 4=5" },
        { "my col,100 %,\xC3\xA9t\xC3\xA9\n1,2,3\n4,5,6\n", "\xC3\xA9t\xC3\xA9", "100 %",
          "\xC3\xA9t\xC3\xA9 ~ 100 %: 2 of 2, 3 columns: 2=3 5=6" },
        { "a,a,b\n1,2,3\n4,5,6\n", NULL, "2", "b ~ a: 2 of 2, 3 columns: 2=3 5=6" },
        { "a,a,b\n1,2,3\n4,5,6\n", "2", NULL, "a ~ a + b: 2 of 2, 3 columns: 1,3=2 4,6=5" },
        // text is ignored, its rows are not
        { "id,a,unit,y\nr1,1,m,2\nr2,3,,4\n", NULL, NULL,
          "y ~ a: 2 of 2, 2 text, 4 columns: 1=2 3=4" },
        { "a,b,y\n1,,2\n3,m,4\n5,,6\n", NULL, NULL,
          "y ~ a: 3 of 3, 1 text, 3 columns: 1=2 3=4 5=6" },
        { "a,b,y\n1,,2\n3,nan,4\n", NULL, NULL, "y ~ a: 2 of 2, 3 columns: 1=2 3=4" },
        { "a,b,y\n1,,2\n3,inf,4\n5,6,7\n8,9,10\n", NULL, NULL,
          "y ~ a + b: 2 of 4, 1 missing, 1 infinite, 3 columns: 5,6=7 8,9=10" },
        // missing and infinite cells where a number is needed
        { "a,y\n1,2\n,3\nNA,4\n5,inf\n-inf,nan\n7,1e999\n8,9\n", NULL, NULL,
          "y ~ a: 2 of 7, 3 missing, 2 infinite, 2 columns: 1=2 8=9" },
        { "a,b,y\n1,,2\n3,inf,4\nnan,x,5\n", NULL, "a",
          "y ~ a: 2 of 3, 1 missing, 3 columns: 1=2 3=4" },
        // repeated rows, a constant target, a target that is an input again
        { "a,y\n1,2\n0,3\n1,2\n-0,3\n1,2\n2,2\n", NULL, NULL,
          "y ~ a: 6 of 6, 3 repeated, 2 columns: 1=2 0=3 1=2 -0=3 1=2 2=2" },
        { "a,y\n1,0\n1,-0\n", NULL, NULL, "y ~ a: 2 of 2, 1 repeated, 2 columns: 1=0 1=-0" },
        { "a,y\n1,5\n2,5\n3,5\n", NULL, NULL, "y ~ a: 3 of 3, 2 columns: 1=5 2=5 3=5" },
        { "a,y\n1,1\n2,2\n", NULL, NULL, "y ~ a: 2 of 2, 2 columns: 1=1 2=2" },
        // other ways of writing
        { "a;y\r\n1,5;2\r\n\r\n\"2,5\";3\r\n", NULL, NULL,
          "y ~ a: 2 of 2, 2 columns: 1.5=2 2.5=3" },
        { "a\ty\n1\t2\n3\t4\n", NULL, NULL, "y ~ a: 2 of 2, 2 columns: 1=2 3=4" },
        { "1 2\n3 4\n", NULL, NULL, "x2 ~ x1: 2 of 2, 2 columns: 1=2 3=4" },
        { "a,y,\n1,2,\n3,4,\n", NULL, NULL, "y ~ a: 2 of 2, 2 columns: 1=2 3=4" },
    };
    sl_str s = { 0 };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_table_options o = SL_TABLE_OPTIONS_INIT;
        sl_table table = { 0 };
        o.target = cases[i].target;
        o.inputs = cases[i].inputs;
        const char *path = file_of(cases[i].text, strlen(cases[i].text));
        const sl_status st = sl_data_table_read(&table, path, &o, NULL, NULL);
        SL_CHECK(t, st == SL_OK, "%s: %s", cases[i].text, sl_last_error());
        show(&s, &table);
        SL_CHECK(t, strcmp(s.text, cases[i].want) == 0, "%s\nis\n%s\nand not\n%s", cases[i].text,
                 s.text, cases[i].want);
        sl_data_table_clear(&table);
        sl_data_table_clear(&table);
    }
    sl_str_clear(&s);
}

static void what_cannot_be_is_reported(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *target, *inputs;
        sl_status st;
        const char *want;
    } cases[] = {
        { "a,y\n1,2\n", NULL, NULL, SL_EINVAL, "table.csv has 1 row of data; a law shows in 2" },
        { "a,y\n", NULL, NULL, SL_EINVAL, "table.csv has no rows of data" },
        { "", NULL, NULL, SL_EFORMAT, "table.csv is empty" },
        { "a,y\n1,2\n3,\n", NULL, NULL, SL_EINVAL,
          "only 1 of 2 rows has a number in every column that is needed: a cell is missing in 1, "
          "infinite in 0" },
        { "a,y\n1,nan\n3,inf\n", NULL, NULL, SL_EINVAL,
          "none of 2 rows has a number in every column that is needed: a cell is missing in 1, "
          "infinite in 1" },
        { "a\n1\n2\n", NULL, NULL, SL_EINVAL,
          "table.csv has no column of numbers beside the target \"a\"" },
        { "a,b,y\n\"1 m\",n,1\n5,n,2\n", NULL, NULL, SL_EINVAL,
          "has no column of numbers beside the target \"y\": column \"a\" is text, as its cell "
          "\"1 m\" is no number" },
        { "a,y\n,1\nm,2\n", NULL, NULL, SL_EINVAL,
          "the target \"y\": column \"a\" is text, as its cell \"m\" is no number" },
        { "a,y\n,1\n,2\n", NULL, NULL, SL_EINVAL, "no column of numbers beside the target \"y\"" },
        // text among numbers: row, line, column, text
        { "a,y\n1,2\n\nx1,3\n", NULL, NULL, SL_EFORMAT,
          "table.csv: row 2 (line 4), column \"a\": \"x1\" is no number" },
        { "a,y\n1,2\n\nx1,3\n", NULL, "a", SL_EFORMAT,
          "table.csv: row 2 (line 4), column \"a\": \"x1\" is no number" },
        { "a,y\n1,two\n3,4\n", NULL, NULL, SL_EFORMAT,
          "row 1 (line 2), column \"y\": \"two\" is no number; the target must be a column of "
          "numbers" },
        { "a,y\n1,2\n3,four\n", NULL, NULL, SL_EFORMAT,
          "row 2 (line 3), column \"y\": \"four\" is no number" },
        { "a,b,y\nm,1,2\nm,3,4\n", NULL, "a", SL_EFORMAT,
          "column \"a\" has text, \"m\" in every row" },
        { "a,b,y\nm,1,2\nn,3,4\no,3,4\n", NULL, "a", SL_EFORMAT,
          "row 3 (line 4), column \"a\": \"o\" is no number; a column of text can be an input if "
          "it "
          "has two different values, and this is the third" },
        { "a,y\n1,2\n\"1\xC3\xA9"
          "23456789012345678901234567890123456789012345678901234567\xC3\xA9"
          "90\",3\n",
          NULL, NULL, SL_EFORMAT,
          "\"1\xC3\xA9"
          "23456789012345678901234567890123456789012345678901234567...\" is no number" },
        { "a,y\n1,2,3\n", NULL, NULL, SL_EFORMAT, "row 1 (line 2) has 3 cells" },
        // names
        { "speed,time\n1,2\n3,4\n", "sped", NULL, SL_EINVAL,
          "table.csv has no column \"sped\" for the target; did you mean \"speed\"? It has "
          "\"speed\", "
          "\"time\"" },
        { "speed,time\n1,2\n3,4\n", NULL, "SPEED", SL_EINVAL, "did you mean \"speed\"?" },
        { "speed,time\n1,2\n3,4\n", "ti", NULL, SL_EINVAL, "did you mean \"time\"?" },
        { "a,E\n1,2\n3,4\n", "e", NULL, SL_EINVAL, "did you mean \"E\"?" },
        { "a,b\n1,2\n3,4\n", "c", NULL, SL_EINVAL,
          "no column \"c\" for the target; it has \"a\", \"b\"" },
        { "speed,time\n1,2\n3,4\n", NULL, "foo", SL_EINVAL,
          "no column \"foo\" for the input; it has \"speed\", \"time\"" },
        { "speed,time\n1,2\n3,4\n", "3", NULL, SL_EINVAL, "no column \"3\" for the target" },
        { "speed,time\n1,2\n3,4\n", "", NULL, SL_EINVAL, "no column \"\" for the target" },
        { "speed,time\n1,2\n3,4\n", "%s%n", NULL, SL_EINVAL, "no column \"%s%n\" for the target" },
        { "a,b,c\n1,2,3\n4,5,6\n", "c", "a,", SL_EINVAL, "an empty name among the inputs \"a,\"" },
        { "a,b,c\n1,2,3\n4,5,6\n", "c", "", SL_EINVAL, "an empty name among the inputs" },
        { "a,b,c\n1,2,3\n4,5,6\n", "c", "a,c", SL_EINVAL,
          "column \"c\" is the target, so it cannot be an input too" },
        { "a,b,c\n1,2,3\n4,5,6\n", "c", "a,1", SL_EINVAL, "\"a\" is named twice among the inputs" },
        { "a,b,c,d\n1,2,3,4\n4,5,6,7\n", "d", "a,b,c", SL_EINVAL,
          "more than 2 inputs are named, and no more are taken" },
        { "a,a,b\n1,2,3\n4,5,6\n", "a", NULL, SL_EINVAL,
          "columns 1 and 2 are both called \"a\"; say which by its number" },
        { "y,a,y\n1,2,3\n4,5,6\n", NULL, NULL, SL_EINVAL, "columns 1 and 3 are both called \"y\"" },
        { "c,a,b,a\n1,2,3,4\n4,5,6,7\n", "c", "a", SL_EINVAL,
          "columns 2 and 4 are both called \"a\"" },
        { "a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15\n", "foo", NULL, SL_EINVAL,
          "\"a11\", \"a12\" and 3 more" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_table_options o = SL_TABLE_OPTIONS_INIT;
        sl_table table = { .data = { .rows = -1 } };
        o.target = cases[i].target;
        o.inputs = cases[i].inputs;
        const char *path = file_of(cases[i].text, strlen(cases[i].text));
        const sl_status st = sl_data_table_read(&table, path, &o, NULL, NULL);
        SL_CHECK(t, st == cases[i].st, "%s: %s", cases[i].text, sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), cases[i].want),
                 "%s\n is reported as\n%s\nand not as\n%s", cases[i].text, sl_last_error(),
                 cases[i].want);
        assert_true(table.data.rows == -1); // untouched
    }
}

/* ---------------------------------------------------------------- samples ------------------- */

static void write_squares(sl_str *s, int rows) {
    sl_str_truncate(s, 0);
    sl_str_add(s, "a,b,y\n");
    for (int i = 0; i < rows; i++) sl_str_addf(s, "%d,%d,%lld\n", i, i % 7, (long long)i * i);
}

static void read_squares(sl_fixture *t, sl_table *out, const char *path, int64_t max_rows,
                         uint64_t seed) {
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    o.max_rows = max_rows;
    o.seed = seed;
    SL_MUST(t, sl_data_table_read(out, path, &o, NULL, NULL));
}

/* Rows of a sample are whole, in order, and the seed's. */
static void a_sample_keeps_rows_and_order(void **state) {
    sl_fixture *t = *state;
    enum { ROWS = 5000 };
    sl_str s = { 0 };
    write_squares(&s, ROWS);
    const char *path = file(t, &s);
    sl_table a, b, c, all;
    read_squares(t, &all, path, ROWS, 1);
    assert_int_equal(all.data.rows, ROWS);
    for (int64_t i = 0; i < ROWS; i++) assert_true(all.data.x[0][i] == (double)i);
    for (int64_t n = 2; n < ROWS; n = n * 3 + 1) {
        read_squares(t, &a, path, n, 1);
        read_squares(t, &b, path, n, 1);
        read_squares(t, &c, path, n, 2);
        assert_int_equal(a.data.rows, n);
        assert_int_equal(a.read, ROWS);
        for (int64_t i = 0; i < n; i++) {
            const double v = a.data.x[0][i];
            SL_CHECK(t, a.data.y[i] == v * v && a.data.x[1][i] == fmod(v, 7), "a row of pieces");
            SL_CHECK(t, i == 0 || a.data.x[0][i - 1] < v, "not in order");
        }
        assert_memory_equal(a.data.x[0], b.data.x[0], (size_t)n * sizeof(double));
        SL_CHECK(t, memcmp(a.data.x[0], c.data.x[0], (size_t)n * sizeof(double)) != 0,
                 "seeds do nothing");
        sl_data_table_clear(&a);
        sl_data_table_clear(&b);
        sl_data_table_clear(&c);
    }
    sl_data_table_clear(&all);
    sl_str_clear(&s);
}

/* Every row is as likely as any other: chi-square over tenths of the file, over many seeds. */
static void a_sample_is_even(void **state) {
    sl_fixture *t = *state;
    enum { ROWS = 200, KEPT = 50, SEEDS = 400, PARTS = 10 };
    sl_str s = { 0 };
    write_squares(&s, ROWS);
    const char *path = file(t, &s);
    double hits[PARTS] = { 0 }, chi2 = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        sl_table a;
        read_squares(t, &a, path, KEPT, t->seed + seed);
        for (int64_t i = 0; i < a.data.rows; i++) hits[(int)a.data.x[0][i] * PARTS / ROWS]++;
        sl_data_table_clear(&a);
    }
    const double want = (double)KEPT * SEEDS / PARTS;
    for (int k = 0; k < PARTS; k++) chi2 += (hits[k] - want) * (hits[k] - want) / want;
    // without repeats the variance is smaller: by the share that is left out
    chi2 /= 1 - (double)KEPT / ROWS;
    SL_CHECK(t, sl_num_chi2_tail(chi2, PARTS - 1) > 1e-6, "chi-square %g", chi2);
    sl_str_clear(&s);
}

/* ---------------------------------------------------------------- picking ------------------- */

/* The share as the documentation has it, for k columns cut into b bins, rows all taken. */
static double naive_share(const double *const *x, const double *y, int n, int k, int b) {
    int *cell = sl_malloc((size_t)n, sizeof *cell), used = 0;
    assert_non_null(cell);
    double mean = 0, total = 0, within = 0;
    for (int i = 0; i < n; i++) {
        cell[i] = 0;
        mean += y[i] / n;
        for (int j = 0; j < k; j++) {
            int smaller = 0;
            for (int r = 0; r < n; r++) smaller += x[j][r] < x[j][i];
            cell[i] = cell[i] * 100 + (isfinite(x[j][i]) ? b * smaller / n : b);
        }
    }
    for (int i = 0; i < n; i++) {
        double sum = 0;
        int count = 0, first = i;
        for (int r = n; r-- > 0;) {
            if (cell[r] != cell[i]) continue;
            sum += y[r];
            count++;
            first = r;
        }
        used += first == i;
        total += (y[i] - mean) * (y[i] - mean);
        within += (y[i] - sum / count) * (y[i] - sum / count);
    }
    sl_free(cell);
    if (n <= used || total == 0) return 0;
    return 1 - within / (n - used) / (total / (n - 1));
}

/* The set with the largest share, by the naive twin. */
static void the_best_set_is_picked(void **state) {
    sl_fixture *t = *state;
    enum { COLUMNS = 6, ROWS = 300 };
    double *value = sl_malloc(ROWS * COLUMNS, sizeof *value);
    double *col = sl_malloc(ROWS * COLUMNS, sizeof *col);
    assert_true(value && col);
    for (int it = 0; it < sl_test_iters(t, 40); it++) {
        const int k = 1 + it % 3, rows = 10 + (int)sl_rng_below(&t->rng, ROWS - 10);
        const int law = (int)sl_rng_below(&t->rng, 4);
        for (int i = 0; i < rows; i++) {
            double *r = value + i * COLUMNS;
            for (int j = 1; j < COLUMNS; j++) r[j] = sl_rng_normal(&t->rng);
            r[2] = floor(2 * r[2]); // with many equal ones
            r[0] = law == 0   ? r[1] * r[3]
                   : law == 1 ? r[2] + 0.1 * r[4]
                   : law == 2 ? sl_rng_normal(&t->rng)
                              : 1e300 * (r[5] + r[1] * r[1]);
            if (sl_rng_below(&t->rng, 8) == 0) r[3] = NAN;
            if (sl_rng_below(&t->rng, 8) == 0) r[4] = INFINITY;
        }
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < COLUMNS; j++) col[j * rows + i] = value[i * COLUMNS + j];
        if (law == 3)
            for (int i = 0; i < rows; i++) col[i] /= 1e300; // the twin would overflow
        int b = 2;
        while (b < 32 && 4 * pow(b + 1, k) <= rows) b++;

        const double *const which[] = { value + 1, value + 2, value + 3, value + 4, value + 5 };
        const sl_columns from = { which, SL_LEN(which), value, rows, COLUMNS };
        int set[3];
        double share, best = -1e9;
        SL_MUST(t, sl_data_choose_inputs(set, &share, &from, k, 7));
        for (int m = 0; m < 1 << 5; m++) {
            if (__builtin_popcount((unsigned)m) != k) continue;
            const double *x[3];
            int n = 0, picked = 0;
            for (int j = 0; j < 5; j++)
                if (m >> j & 1) {
                    x[n] = col + (1 + j) * rows;
                    picked += set[n++] == j;
                }
            const double s = naive_share(x, col, rows, k, b);
            best = fmax(best, s);
            if (picked == k)
                SL_CHECK(t, fabs(share - fmax(0, s)) < 1e-9, "share %g, not %g", share, s);
        }
        SL_CHECK(t, share >= best - 1e-9, "a set of %d has share %g, the picked one %g", k, best,
                 share);
        for (int j = 1; j < k; j++) assert_true(set[j - 1] < set[j]);
    }
    sl_free(value);
    sl_free(col);
}

/* A product of two among twenty columns, and the same two behind a hundred useless ones. */
static void what_matters_is_found(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    static const int columns[] = { 20, 120 }, one[] = { 3, 97 }, two[] = { 11, 101 };
    for (int c = 0; c < SL_LEN(columns); c++) {
        sl_str_truncate(&s, 0);
        sl_str_add(&s, "y");
        for (int j = 1; j <= columns[c]; j++) sl_str_addf(&s, ",c%d", j);
        sl_str_add(&s, ",label\n");
        for (int i = 0; i < 700; i++) {
            double x[121] = { 0 };
            for (int j = 1; j <= columns[c]; j++) x[j] = 1 + sl_rng_uniform(&t->rng);
            sl_str_addf(&s, "%.17g", x[one[c]] * x[two[c]] + 0.05 * sl_rng_normal(&t->rng));
            for (int j = 1; j <= columns[c]; j++)
                sl_str_addf(&s, j == 7 && i % 50 ? "," : ",%.17g", x[j]); // mostly empty
            sl_str_add(&s, i ? ",b\n" : ",a\n");
        }
        sl_table_options o = SL_TABLE_OPTIONS_INIT;
        sl_table a;
        SL_MUST(t, sl_data_table_read(&a, file(t, &s), &o, NULL, NULL));
        char first[8], second[8];
        snprintf(first, sizeof first, "c%d", one[c]);
        snprintf(second, sizeof second, "c%d", two[c]);
        SL_CHECK(t,
                 a.data.inputs == 2 && !strcmp(a.data.names[0], first) &&
                     !strcmp(a.data.names[1], second),
                 "%s and %s", a.data.names[0], a.data.names[1]);
        assert_int_equal(a.chosen_from, columns[c]);
        assert_int_equal(a.text_columns, 1);
        assert_int_equal(a.data.rows, 700); // empty cells elsewhere cost no row
        assert_int_equal(a.missing, 0);
        SL_CHECK(t, a.explained > 0.8 && a.explained < 1, "explained %g", a.explained);
        sl_data_table_clear(&a);
    }
    sl_str_clear(&s);
}

/* Not one of sixteen rows: in a grid those have the same x2. A table of more rows than are looked
 * at. */
static void a_grid_is_no_trap(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    sl_str_add(&s, "u,a,b,y\n");
    for (int i = 0; i < 65536; i++)
        sl_str_addf(&s, "%u,%d,%d,%d\n", sl_rng_below(&t->rng, 99), i / 16, i % 16,
                    i / 16 + 1000 * (i % 16));
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table a;
    SL_MUST(t, sl_data_table_read(&a, file(t, &s), &o, NULL, NULL));
    SL_CHECK(t, !strcmp(a.data.names[0], "a") && !strcmp(a.data.names[1], "b"), "%s, %s",
             a.data.names[0], a.data.names[1]);
    SL_CHECK(t, a.explained > 0.95, "explained %g", a.explained);
    sl_data_table_clear(&a);
    sl_str_clear(&s);
}

/* Rows dropped for the sake of picked columns are counted; a constant target picks the first. */
static void picking_drops_what_it_must(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table a;
    for (int constant = 0; constant < 2; constant++) {
        sl_str_truncate(&s, 0);
        sl_str_add(&s, "p,q,r,y\n");
        for (int i = 0; i < 200; i++)
            sl_str_addf(&s, "%d,%s,%d,%d\n", i * 37 % 101,
                        i == 5   ? "inf"
                        : i == 9 ? ""
                                 : "8",
                        i * 53 % 89, constant ? 3 : i * 37 % 101);
        SL_MUST(t, sl_data_table_read(&a, file(t, &s), &o, NULL, NULL));
        assert_int_equal(a.chosen_from, 3);
        assert_string_equal(a.data.names[0], "p");
        if (constant) {
            assert_string_equal(a.data.names[1], "q");
            assert_true(a.explained == 0);
            assert_true(a.data.rows == 198 && a.missing == 1 && a.infinite == 1);
        }
        SL_CHECK(t, a.data.rows + a.missing + a.infinite == a.read, "rows are lost");
        sl_data_table_clear(&a);
    }
    sl_str_clear(&s);
}

static void too_many_columns_are_refused(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    for (int r = 0; r < 3; r++)
        for (int j = 1; j <= 1002; j++) sl_str_addf(&s, "%d%c", r * j, j < 1002 ? ',' : '\n');
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table a;
    const char *path = file(t, &s);
    assert_int_equal(sl_data_table_read(&a, path, &o, NULL, NULL), SL_ELIMIT);
    SL_CHECK(t, strstr(sl_last_error(), "name the inputs"), "%s", sl_last_error());
    o.inputs = "x1,1001";
    SL_MUST(t, sl_data_table_read(&a, path, &o, NULL, NULL));
    assert_true(a.data.x[1][2] == 2002 && a.data.y[2] == 2004);
    sl_data_table_clear(&a);
    sl_str_clear(&s);
}

/* ---------------------------------------------------------------- streams ------------------- */

/* A process that writes a table of `rows` rows of three numbers into a pipe; *fd is the end to
 * read. */
static pid_t stream(int *fd, int64_t rows) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        FILE *f = fdopen(ends[1], "w");
        fprintf(f, "a,b,y\n");
        for (int64_t i = 0; i < rows; i++)
            fprintf(f, "%lld,%lld,%lld\n", (long long)i, (long long)(i % 1000), (long long)(2 * i));
        _exit(fclose(f) != 0);
    }
    close(ends[1]);
    *fd = ends[0];
    return child;
}

typedef struct progress {
    int64_t calls, rows, bytes, stop_at;
} progress;

static int report(int64_t rows, int64_t bytes, int64_t size, void *payload) {
    progress *p = payload;
    assert_true(rows >= p->rows && bytes >= p->bytes && size == 0);
    p->calls++;
    p->rows = rows;
    p->bytes = bytes;
    return p->stop_at && rows >= p->stop_at;
}

/* However many rows there are, memory is what max_rows take, and progress is reported. */
static void memory_is_bounded(void **state) {
    sl_fixture *t = *state;
    enum { ROWS = 150000, KEPT = 1000 };
    int fd;
    char path[32];
    const pid_t child = stream(&fd, ROWS);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    o.max_rows = KEPT;
    sl_table a;
    progress p = { 0 };
    sl_mem_peak_reset();
    const int64_t before = sl_mem_bytes();
    SL_MUST(t, sl_data_table_read(&a, path, &o, report, &p));
    waitpid(child, NULL, 0);
    close(fd);
    assert_true(a.data.rows == KEPT && a.read == ROWS);
    SL_CHECK(t, sl_mem_peak() - before < 400000, "%lld bytes", (long long)(sl_mem_peak() - before));
    SL_CHECK(t, p.calls >= ROWS / 10000 && p.bytes > 1000000, "reported %lld times",
             (long long)p.calls);
    SL_CHECK(t, a.data.x[0][KEPT - 1] > 0.95 * ROWS, "the end was not read");
    sl_data_table_clear(&a);
}

static void reading_can_be_stopped(void **state) {
    sl_fixture *t = *state;
    int fd;
    char path[32];
    signal(SIGPIPE, SIG_DFL); // ends the writer
    const pid_t child = stream(&fd, (int64_t)1 << 60);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    const sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table a = { .data = { .rows = -1 } };
    progress p = { .stop_at = 20000 };
    assert_int_equal(sl_data_table_read(&a, path, &o, report, &p), SL_ECANCEL);
    SL_CHECK(t, strstr(sl_last_error(), "stopped after row 2"), "%s", sl_last_error());
    assert_true(a.data.rows == -1);
    close(fd);
    waitpid(child, NULL, 0);
}

/* ---------------------------------------------------------------- faults -------------------- */

static sl_status read_and_clear(const char *path, const sl_table_options *o) {
    sl_table a;
    SL_TRY(sl_data_table_read(&a, path, o, NULL, NULL));
    sl_data_table_clear(&a);
    return SL_OK;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    sl_str_add(&s, "a,b,c,d\n");
    for (int i = 0; i < 3000; i++) sl_str_addf(&s, "%d,%d,%d,%d\n", i, i % 3, i % 5, i % 7);
    const char *path = file(t, &s);
    sl_str_clear(&s);
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    SL_EACH_ALLOCATION(t, read_and_clear(path, &o)); // picks
    o.inputs = "a,\"b\"";
    o.max_rows = 2000;
    SL_EACH_ALLOCATION(t, read_and_clear(path, &o)); // named, sampled
}

static sl_status take_row(const sl_csv *csv, const sl_cell *cells, const double *x, double y,
                          void *payload) {
    (void)csv;
    (void)cells;
    *(double *)payload += x[0] + x[1] + y;
    return SL_OK;
}

/* Reads it twice: the sums of all values are the same. */
static sl_status read_twice(const char *path, const sl_table_options *o) {
    sl_table a;
    double first = 0, second = 0;
    SL_TRY(sl_data_table_read(&a, path, o, NULL, NULL));
    for (int64_t i = 0; i < a.data.rows; i++)
        first += a.data.x[0][i] + a.data.x[1][i] + a.data.y[i];
    const sl_status st = sl_data_table_rows(&a, path, o, take_row, &second);
    SL_ASSERT(st != SL_OK || first == second);
    SL_ASSERT(a.n_notes == 6);
    sl_data_table_clear(&a);
    return st;
}

/* Notes: comment, title, units, an unknown unit, dates, words. */
static void lack_of_memory_is_reported_of_all_that_a_table_has(void **state) {
    sl_fixture *t = *state;
    static const char text[] = "# made by hand\nA title\nwhen,state,E\n,,[a.u.]\n"
                               "03/01/2024,on,1\n03/13/2024,off,2\n03/02/2024,on,3\n";
    const char *path = file_of(text, sizeof text - 1);
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    o.inputs = "when,state";
    SL_EACH_ALLOCATION(t, read_twice(path, &o));
}

static sl_status read_unknown(const char *path) {
    sl_table a;
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    o.target = "nobody";
    const sl_status st = sl_data_table_read(&a, path, &o, NULL, NULL);
    return st == SL_EINVAL ? SL_OK : st == SL_OK ? SL_EINVAL : st;
}

static void failures_fail_in_order(void **state) {
    sl_fixture *t = *state;
    const char *path = file_of("a,b\n1,2\n3,4\n", 12);
    SL_EACH_ALLOCATION(t, read_unknown(path));
    sl_table a;
    const sl_table_options o = SL_TABLE_OPTIONS_INIT;
    assert_int_equal(sl_data_table_read(&a, sl_test_path("missing"), &o, NULL, NULL), SL_EIO);
    assert_int_equal(sl_data_table_read(&a, "/proc/self/mem", &o, NULL, NULL), SL_EIO);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(tables_as_people_have_them),
        SL_TEST(what_cannot_be_is_reported),
        SL_TEST(a_sample_keeps_rows_and_order),
        SL_TEST(a_sample_is_even),
        SL_TEST(the_best_set_is_picked),
        SL_TEST(what_matters_is_found),
        SL_TEST(a_grid_is_no_trap),
        SL_TEST(picking_drops_what_it_must),
        SL_TEST(too_many_columns_are_refused),
        SL_TEST(memory_is_bounded),
        SL_TEST(reading_can_be_stopped),
        SL_TEST(lack_of_memory_is_reported),
        SL_TEST(lack_of_memory_is_reported_of_all_that_a_table_has),
        SL_TEST(failures_fail_in_order),
    };
    return sl_test_main("data.table", tests, SL_LEN(tests));
}
