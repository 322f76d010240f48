/* Columns of errors and weights, units in names, many inputs; rows of a problem keep their errors.
 */
#include "fixture/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

static const char *file_of(sl_fixture *t, const char *text) {
    const char *path = sl_test_path("errors.csv");
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, text, strlen(text)));
    SL_MUST(t, sl_file_commit(&f));
    return path;
}

static sl_status read_text(sl_fixture *t, sl_table *out, const char *text,
                           const sl_table_options *o) {
    return sl_data_table_read(out, file_of(t, text), o, NULL, NULL);
}

static void a_column_of_errors_is_no_input(void **state) {
    sl_fixture *t = *state;
    static const char text[] = "a,b,y,s\n1,2,3,0.5\n4,5,6,2\n7,8,9,0.25\n";
    static const char *const targets[] = { NULL, "y", "3" };
    for (int i = 0; i < SL_LEN(targets); i++)
        for (int named = 0; named < 2; named++) {
            sl_table_options o = SL_TABLE_OPTIONS_INIT;
            sl_table table;
            o.target = targets[i];
            o.sigma = i == 2 ? "4" : "s";
            if (named) o.inputs = "a,b";
            SL_MUST(t, read_text(t, &table, text, &o));
            const sl_dataset p = table.data;
            assert_true(p.inputs == 2 && p.rows == 3 && p.sigma_absolute);
            assert_true(p.sigma[0] == 0.5 && p.sigma[1] == 2 && p.sigma[2] == 0.25);
            assert_true(p.x[0][2] == 7 && p.x[1][2] == 8 && p.y[2] == 9);
            assert_string_equal(table.data.target, "y");
            sl_data_table_clear(&table);
        }
    // the last column is the target unless it has the errors
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table table;
    o.sigma = "c";
    SL_MUST(t, read_text(t, &table, "a,b,c\n1,2,3\n4,5,6\n", &o));
    assert_string_equal(table.data.target, "b");
    sl_data_table_clear(&table);
}

static void weights_are_inverse_variances(void **state) {
    sl_fixture *t = *state;
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table table;
    o.weights = "w";
    SL_MUST(t, read_text(t, &table, "a,w,y\n1,4,3\n4,0,6\n7,0.25,9\n8,,9\n", &o));
    assert_true(table.data.rows == 2 && table.weightless == 1 && table.missing == 1 &&
                table.data.inputs == 1);
    assert_true(table.data.sigma[0] == 0.5 && table.data.sigma[1] == 2 &&
                !table.data.sigma_absolute);
    assert_string_equal(table.data.names[0], "a");
    sl_data_table_clear(&table);
}

static void what_cannot_be_is_reported(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *target, *inputs, *sigma, *weights;
        sl_status st;
        const char *says;
    } cases[] = {
        { "a,y,s\n1,2,1\n2,3,0\n", NULL, NULL, "s", NULL, SL_EFORMAT, "row 2 (line 3)" },
        { "a,y,s\n1,2,1\n2,3,-1\n", NULL, NULL, NULL, "s", SL_EFORMAT, "0 or more" },
        { "a,y,s\n1,2,1\n2,3,x\n", NULL, NULL, "s", NULL, SL_EFORMAT, "is no number" },
        { "a,y,s\n1,2,1\n", NULL, NULL, "sig", NULL, SL_EINVAL, "for the errors" },
        { "a,y,s\n1,2,1\n", "y", NULL, "y", NULL, SL_EINVAL, "is the target" },
        { "a,y,s\n1,2,1\n", "y", "a,s", "s", NULL, SL_EINVAL, "has the errors" },
        { "a,y,s\n1,2,1\n", "y", "a", "s", "s", SL_EINVAL, "name one of them" },
        { "a,y,w\n1,2,0\n2,3,0\n", NULL, NULL, NULL, "w", SL_EINVAL, "none of 2 rows" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_table_options o = SL_TABLE_OPTIONS_INIT;
        sl_table table = { .data = { .rows = -1 } };
        o.target = cases[i].target;
        o.inputs = cases[i].inputs;
        o.sigma = cases[i].sigma;
        o.weights = cases[i].weights;
        const sl_status st = read_text(t, &table, cases[i].text, &o);
        SL_CHECK(t, st == cases[i].st && table.data.rows == -1, "%s: %s", cases[i].text,
                 sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), cases[i].says), "%s: %s", cases[i].text,
                 sl_last_error());
    }
}

static void names_lose_their_units(void **state) {
    sl_fixture *t = *state;
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table table;
    o.max_inputs = 5;
    SL_MUST(t,
            read_text(t, &table,
                      "m (kg),v [km/h],y (J),d (m),d (s),n (old)\n1,2,3,4,5,6\n2,3,4,5,6,7\n", &o));
    assert_string_equal(table.data.target, "y"); // found by its name, though it is not the last
    static const char *const names[] = { "m", "v", "d (m)", "d (s)", "n (old)" };
    static const bool known[] = { true, true, true, true, false };
    for (int i = 0; i < 5; i++) {
        assert_string_equal(table.data.names[i], names[i]);
        assert_int_equal(table.units.input_known[i], known[i]);
    }
    assert_true(table.units.target_known && table.units.target.power[0] == 2 * SL_DIMENSION_PART);
    assert_true(fabs(table.units.input_factor[1] * 3.6 - 1) < 1e-12);
    sl_data_table_clear(&table);
    // named with or without it
    static const char *const inputs[] = { "v,m", "v [km/h],m (kg)", "2,1" };
    for (int i = 0; i < SL_LEN(inputs); i++) {
        o.inputs = inputs[i];
        o.target = "E";
        SL_MUST(t, read_text(t, &table, "m (kg),v [km/h],E (J)\n1,2,3\n4,5,6\n", &o));
        assert_true(table.data.inputs == 2 && table.data.x[0][1] == 5 && table.units.target_known);
        assert_string_equal(table.data.names[1], "m");
        sl_data_table_clear(&table);
    }
    o.inputs = NULL;
    o.target = "d"; // which?
    assert_int_equal(read_text(t, &table, "d (m),d (s)\n1,2\n3,4\n", &o), SL_EINVAL);
}

/* Of more columns than can be taken, those that matter are. */
static void sixteen_inputs_are_taken(void **state) {
    sl_fixture *t = *state;
    enum { COLUMNS = 24, ROWS = 300 };
    sl_str s = { 0 };
    for (int j = 0; j < COLUMNS; j++) sl_str_addf(&s, "c%d,", j);
    sl_str_add(&s, "y\n");
    for (int i = 0; i < ROWS; i++) {
        double y = 0;
        for (int j = 0; j < COLUMNS; j++) {
            const double x = sl_rng_range(&t->rng, -1, 1);
            y += j % 3 == 1 && j < 18 ? x : 0;
            sl_str_addf(&s, "%.17g,", x);
        }
        sl_str_addf(&s, "%.17g\n", y);
    }
    SL_MUST(t, sl_str_status(&s));
    for (int k = 4; k <= SL_DATA_MAX_INPUTS; k += 4) {
        sl_table_options o = SL_TABLE_OPTIONS_INIT;
        sl_table table;
        o.max_inputs = k;
        SL_MUST(t, read_text(t, &table, s.text, &o));
        assert_true(table.data.inputs == k && table.chosen_from == COLUMNS &&
                    table.data.rows == ROWS);
        int found = 0;
        for (int j = 0; j < k; j++) {
            const int column = atoi(table.data.names[j] + 1);
            found += column % 3 == 1 && column < 18;
            SL_CHECK(t, j == 0 || column > atoi(table.data.names[j - 1] + 1), "not in order");
        }
        SL_CHECK(t, found >= (k < 6 ? k - 1 : k < 12 ? 5 : 6), "%d of 6 found among %d", found, k);
        sl_data_table_clear(&table);
    }
    sl_str_clear(&s);
}

static sl_status read_once(const char *path) {
    sl_table_options o = SL_TABLE_OPTIONS_INIT;
    sl_table table = { 0 };
    o.sigma = "s";
    o.max_inputs = 4;
    const sl_status st = sl_data_table_read(&table, path, &o, NULL, NULL);
    sl_data_table_clear(&table);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    const char *path =
        file_of(t, "a (m),b,c,d,e,y [s],s\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n1,1,1,1,1,1,1\n");
    SL_EACH_ALLOCATION(t, read_once(path));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_column_of_errors_is_no_input), SL_TEST(weights_are_inverse_variances),
        SL_TEST(what_cannot_be_is_reported),     SL_TEST(names_lose_their_units),
        SL_TEST(sixteen_inputs_are_taken),       SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("data.table_errors", tests, SL_LEN(tests));
}
