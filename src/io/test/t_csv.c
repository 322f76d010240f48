/* Tables of text: any separators, quotes and line ends are read; errors report their place. */
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "io/io.h"

static const char *file_of(const char *bytes, size_t n) {
    return sl_test_write(sl_test_path("table.csv"), bytes, n);
}

static const char *table(const char *text) { return file_of(text, strlen(text)); }

/* Appends a file as it was read: names, then rows, cells between bars and rows in lines. A quoted
 * cell has a q behind it. Failures of rows stand in place of them, and reading goes on. */
static sl_status show(sl_str *s, const char *path, const sl_csv_options *o) {
    sl_status st;
    sl_csv *c = NULL;
    const sl_cell *cells;
    SL_GO(sl_io_csv_open(&c, path, o));
    sl_str_truncate(s, 0);
    sl_str_add_char(s, sl_io_csv_has_header(c) ? 'H' : 'N');
    for (int i = 0; i < sl_io_csv_columns(c); i++) sl_str_addf(s, "|%s", sl_io_csv_name(c, i));
    for (;;) {
        st = sl_io_csv_next(&cells, c);
        if (st == SL_ENOMEM) goto done;
        if (st == SL_ECANCEL) continue;
        if (st == SL_OK && !cells) break;
        sl_str_add_char(s, '\n');
        if (st != SL_OK) {
            const char *line = strstr(sl_last_error(), ".csv: ");
            sl_str_addf(s, "! %s", line ? line + 6 : sl_last_error());
            if (st == SL_ELIMIT) break; // it stays that way
        }
        for (int i = 0; st == SL_OK && i < sl_io_csv_columns(c); i++) {
            if (strlen(cells[i].text) != cells[i].n)
                return sl_fail(SL_EINVAL, "a cell is not as long as it says");
            sl_str_addf(s, "%s%s%s", i ? "|" : "", cells[i].text, cells[i].quoted ? "q" : "");
        }
    }
    st = sl_str_status(s);
done:
    sl_io_csv_close(c);
    return st;
}

/* ---------------------------------------------------------------- cases --------------------- */

static void tables_of_common_programs_are_read(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        // names or none
        { "a,b\n1,2\n", "H|a|b\n1|2" },
        { "1,2\n3,4\n", "N|x1|x2\n1|2\n3|4" },
        { "a,b", "H|a|b" },
        { "1,2", "N|x1|x2\n1|2" },
        { "1,\n3,4\n", "N|x1|x2\n1|\n3|4" },
        { "1,nan\n3,4\n", "N|x1|x2\n1|nan\n3|4" },
        { "2001,N\n1,2\n", "H|2001|N\n1|2" },
        { ",x,y\n0,1,2\n", "H|column 1|x|y\n0|1|2" },
        // separators
        { "a;b\n1,5;2,5\n3,5;4,5\n", "H|a|b\n1,5|2,5\n3,5|4,5" },
        { "a\tb\n1\t2\n", "H|a|b\n1|2" },
        { "a|b\n1|2\n", "H|a|b\n1|2" },
        { "a\tb c, d\n1\t2\n", "H|a|b c, d\n1|2" },
        { "a;b,c\n1;2\n3;4\n", "H|a|b,c\n1|2\n3|4" },
        { "a,b\nx;y,1\nz;w,2\n", "H|a|b\nx;y|1\nz;w|2" },
        { "a b\n1 2\n3   4\n", "H|a|b\n1|2\n3|4" },
        { "  1.5   2\n\t3 \t 4  \n", "N|x1|x2\n1.5|2\n3|4" },
        { "my col\n1\n2\n", "H|my col\n1\n2" },
        { "a\n1\n2\n", "H|a\n1\n2" },
        { "a,b c\n1,2\n", "H|a|b c\n1|2" },
        // blanks, line ends, marks
        { " a , b \r\n 1,\t2 \r\n\r\n  \r\n3,4", "H|a|b\n1|2\n3|4" },
        { "\xEF\xBB\xBF\"a\",b\n1,2\n", "H|a|b\n1|2" },
        { "\n\n a,b\n\n1,2\n\n", "H|a|b\n1|2" },
        { "a,b\r1,2\r3,4\r", "H|a|b\n1|2\n3|4" },
        { "a\tb\n1\t\n\t\n\t2\n", "H|a|b\n1|\n|2" },
        // quotes
        { "\"a,b\",\"c\"\"d\"\n\"1\",\" 2 \"\n", "H|a,b|c\"d\n1q|2q" },
        { "\"a\nb\",c\r\n1,\"2\r\n3\"\r\n", "H|a\nb|c\n1|2\r\n3q" },
        { "a,b\n5\" pipe,x\n\"\",\"\"\"\"\n", "H|a|b\n5\" pipe|x\nq|\"q" },
        { "a,b\n \"1\" , \"x,y\" \n", "H|a|b\n1q|x,yq" },
        { "a,b\n\"\"\"\"\"\",1\n", "H|a|b\n\"\"q|1" },
        { "a b\n\"1\" \"2 3\"\n4 5\n6 7\n", "H|a|b\n1q|2 3q\n4|5\n6|7" },
        // a separator at the end of every row
        { "a,b,\n1,2,\n3,4,\n", "H|a|b\n1|2\n3|4" },
        { "a,b\n1,2,\n3,4,\n", "H|a|b\n1|2\n3|4" },
        { "1;2;\n3;4;\n", "N|x1|x2\n1|2\n3|4" },
        { "1;2;\n3;4;\n5;\n", "N|x1|x2\n1|2\n3|4\n5|" },
        { "a,b,c\n1,2,\n3,4,\n", "H|a|b|c\n1|2|\n3|4|" },
        { "a,b,\n1,2,\n3,4,5\n", "H|a|b|column 3\n1|2|\n3|4|5" },
        // names that mean something elsewhere
        { "N,exec,100 %,\xC3\xA9t\xC3\xA9,%s%n\n1,2,3,4,5\n",
          "H|N|exec|100 %|\xC3\xA9t\xC3\xA9|%s%n\n1|2|3|4|5" },
        { "#x,y\n# comment,1\n", "H|#x|y\n# comment|1" },
        { "a,a\n1,2\n", "H|a|a\n1|2" },
        // errors are reported, and the rest is read
        { "a,b\n1,2,3\n4,5\n6\n", "H|a|b\n! row 1 (line 2) has 3 cells, and the first row 2; "
                                  "--skip N leaves out lines before the table\n4|5\n"
                                  "! row 3 (line 4) has 1 cell, and the first row 2; --comment "
                                  "CHAR leaves out lines that begin with CHAR" },
        { "a,b\n\n\"x\n\n\",1\n2\n", "H|a|b\nxq|1\n! row 2 (line 6) has 1 cell, and the first row "
                                     "2; --comment CHAR leaves out lines that begin with CHAR" },
        { "a,b\n1,2\n3,\"4\n5,6\n", "H|a|b\n1|2\n! line 3: a quote is opened and never closed" },
        { "a,b\n1,\"2\"3\n4,5\n",
          "H|a|b\n! line 2, cell 2: text behind a closing quote; a quote inside of quotes is "
          "written twice\n4|5" },
    };
    sl_str s = { 0 };
    for (int i = 0; i < SL_LEN(cases); i++) {
        SL_MUST(t, show(&s, table(cases[i].text), NULL));
        SL_CHECK(t, strcmp(s.text, cases[i].want) == 0, "%s\nis read as\n%s\nand not as\n%s",
                 cases[i].text, s.text, cases[i].want);
    }
    sl_str_clear(&s);
}

static void options_set_separator_and_header(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *text, *want;
        sl_csv_options o;
    } cases[] = {
        { "1,2\n3,4\n", "H|1|2\n3|4", { .header = 1 } },
        { "a,b\n3,4\n", "N|x1|x2\na|b\n3|4", { .header = 0 } },
        { "a;b,c\n1;2,3\n", "H|a;b|c\n1;2|3", { .separator = ',', .header = 1 } },
        { "1:2\n", "N|x1|x2\n1|2", { .separator = ':', .header = -1 } },
        { "1,2 3\n", "N|x1|x2\n1,2|3", { .separator = ' ', .header = 0 } },
        { "a,b\n123,4\n123,45\n6,7\n",
          "H|a|b\n123|4\n! the row that begins in line 3 is longer than 4 bytes",
          { .header = -1, .max_row = 4 } },
        { "a,b\n\"1,4\n5,6\n",
          "H|a|b\n! the row that begins in line 2 is longer than 4 bytes; is a quote not closed?",
          { .header = -1, .max_row = 4 } },
    };
    sl_str s = { 0 };
    for (int i = 0; i < SL_LEN(cases); i++) {
        SL_MUST(t, show(&s, table(cases[i].text), &cases[i].o));
        SL_CHECK(t, strcmp(s.text, cases[i].want) == 0, "%s\nis read as\n%s\nand not as\n%s",
                 cases[i].text, s.text, cases[i].want);
    }
    static const char bad[] = { '"', '\n', '\r', 'a', '.', '5', '\xC3' };
    for (int i = 0; i < SL_LEN(bad); i++) {
        const sl_csv_options o = { .separator = bad[i], .header = -1 };
        assert_int_equal(show(&s, table("1,2\n"), &o), SL_EINVAL);
    }
    sl_str_clear(&s);
}

static void columns_are_found_by_name_or_number(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *word;
        int column;
    } cases[] = {
        { "a b", 0 },
        { "3", 1 },
        { "%d", 2 },
        { "1", 0 },
        { "2", 1 },
        { "4", -1 },
        { "0", -1 },
        { "-1", -1 },
        { "", -1 },
        { "A B", -1 },
        { "a b ", -1 },
        { "02", 1 },
        { "99999999999999999999", -1 },
        { "1.0", -1 },
    };
    sl_csv *c = NULL;
    SL_MUST(t, sl_io_csv_open(&c, table("a b,3,%d\n1,2,3\n"), NULL));
    for (int i = 0; i < SL_LEN(cases); i++)
        SL_CHECK(t, sl_io_csv_find(c, cases[i].word) == cases[i].column, "\"%s\" is column %d",
                 cases[i].word, sl_io_csv_find(c, cases[i].word));
    sl_io_csv_close(c);
}

static void rows_lines_and_bytes_are_counted(void **state) {
    sl_fixture *t = *state;
    static const char text[] = "a,b\n\n1,\"2\n\n3\"\n4,5\n";
    static const int64_t line[] = { 3, 6 };
    sl_csv *c = NULL;
    const sl_cell *cells;
    SL_MUST(t, sl_io_csv_open(&c, table(text), NULL));
    assert_int_equal(sl_io_csv_row(c), 0);
    for (int i = 0; i < 2; i++) {
        SL_MUST(t, sl_io_csv_next(&cells, c));
        assert_non_null(cells);
        assert_int_equal(sl_io_csv_row(c), i + 1);
        assert_int_equal(sl_io_csv_line(c), line[i]);
    }
    for (int i = 0; i < 2; i++) { // the end stays the end
        SL_MUST(t, sl_io_csv_next(&cells, c));
        assert_null(cells);
        assert_int_equal(sl_io_csv_row(c), 2);
    }
    assert_int_equal(sl_io_csv_bytes(c), sizeof text - 1);
    assert_int_equal(sl_io_csv_size(c), sizeof text - 1);
    assert_int_equal(sl_io_csv_separator(c), ',');
    sl_io_csv_close(c);
}

/* ---------------------------------------------------------------- laws ---------------------- */

/* The text of a cell, of characters that are difficult to read. */
static void random_cell(sl_str *s, sl_rng *rng) {
    static const char *const words[] = { ",",  ";", "\t", "|", "\"", "\"\"", "\n",       "\r\n",
                                         "\r", " ", "a",  "1", ".",  "-",    "\xC3\xBC", "%s" };
    const size_t begin = s->len;
    for (uint32_t n = sl_rng_below(rng, 6); n > 0; n--)
        sl_str_add(s, words[sl_rng_below(rng, SL_LEN(words))]);
    // blanks at its ends do not belong to it
    while (s->len > begin && strchr(" \t\r\n", s->text[s->len - 1])) sl_str_truncate(s, s->len - 1);
    while (s->len > begin && strchr(" \t\r\n", s->text[begin])) {
        memmove(s->text + begin, s->text + begin + 1, s->len - begin);
        s->len--;
    }
}

/* Writes a cell, in quotes where it must be, and at random elsewhere. */
static void write_cell(sl_str *file, sl_rng *rng, const char *cell, char separator, bool alone) {
    const char special[] = { separator, '"', '\n', '\r', separator == ' ' ? '\t' : '"', '\0' };
    static const char *const blanks[] = { "", "", " ", "  " };
    const bool empty = !*cell && (alone || separator == ' ');
    const bool quoted = empty || strpbrk(cell, special) || sl_rng_below(rng, 4) == 0;
    if (separator != ' ') sl_str_add(file, blanks[sl_rng_below(rng, 4)]);
    if (quoted) sl_str_add_char(file, '"');
    if (quoted && sl_rng_below(rng, 4) == 0) sl_str_add(file, "  ");
    for (const char *p = cell; *p; p++) {
        if (*p == '"') sl_str_add_char(file, '"');
        sl_str_add_char(file, *p);
    }
    if (quoted) sl_str_add_char(file, '"');
    if (separator != ' ') sl_str_add(file, blanks[sl_rng_below(rng, 4)]);
}

static void written_cells_are_read_back(void **state) {
    sl_fixture *t = *state;
    static const char separators[] = { ',', ';', '\t', '|', ' ' };
    enum { CELLS = 400 };
    sl_str file = { 0 }, all = { 0 };
    for (int i = 0; i < sl_test_iters(t, 400); i++) {
        const int columns = 1 + (int)sl_rng_below(&t->rng, 6);
        const int rows = (int)sl_rng_below(&t->rng, CELLS / 6);
        const sl_csv_options o = { .separator = separators[sl_rng_below(&t->rng, 5)],
                                   .header = (int)sl_rng_below(&t->rng, 2) };
        const char *line_end = sl_rng_below(&t->rng, 2) ? "\n" : "\r\n";
        size_t at[CELLS + 6];
        sl_str_truncate(&file, 0);
        sl_str_truncate(&all, 0);
        sl_str_add(&file, sl_rng_below(&t->rng, 2) ? "\xEF\xBB\xBF\n" : "\n"); // has an LF, then
        for (int r = 0; r <= rows; r++) {
            for (int k = 0; k < columns; k++) {
                at[r * columns + k] = all.len;
                random_cell(&all, &t->rng);
                if (r == 0) sl_str_addf(&all, "name"); // never blank
                if (k > 0) sl_str_add_char(&file, o.separator);
                write_cell(&file, &t->rng, all.text + at[r * columns + k], o.separator,
                           columns == 1 || k == 0);
                sl_str_add_char(&all, '\0');
            }
            if (r == rows && sl_rng_below(&t->rng, 2)) break; // the last line needs no end
            sl_str_add(&file, line_end);
            while (sl_rng_below(&t->rng, 5) == 0) sl_str_addf(&file, "  %s", line_end);
        }
        sl_csv *c = NULL;
        const sl_cell *cells;
        SL_MUST(t, sl_io_csv_open(&c, file_of(file.text, file.len), &o));
        SL_CHECK(t, sl_io_csv_columns(c) == columns, "%d columns, not %d, in\n%s",
                 sl_io_csv_columns(c), columns, file.text);
        for (int k = 0; k < columns && o.header; k++)
            SL_CHECK(t, strcmp(sl_io_csv_name(c, k), all.text + at[k]) == 0,
                     "\"%s\" is \"%s\" in\n%s", all.text + at[k], sl_io_csv_name(c, k), file.text);
        for (int r = o.header; r <= rows; r++) {
            SL_MUST(t, sl_io_csv_next(&cells, c));
            SL_CHECK(t, cells, "row %d of %d is not there in\n%s", r, rows, file.text);
            for (int k = 0; k < columns; k++) {
                const char *want = all.text + at[r * columns + k];
                SL_CHECK(t, strcmp(cells[k].text, want) == 0 && cells[k].n == strlen(want),
                         "\"%s\" is read as \"%s\" in\n%s", want, cells[k].text, file.text);
            }
        }
        SL_MUST(t, sl_io_csv_next(&cells, c));
        SL_CHECK(t, !cells, "a row behind the last in\n%s", file.text);
        sl_io_csv_close(c);
    }
    sl_str_clear(&file);
    sl_str_clear(&all);
}

/* Numbers with any separator, with decimal commas where they can be, with names or without. */
static void separator_is_detected(void **state) {
    sl_fixture *t = *state;
    static const char separators[] = { ',', ';', '\t', '|', ' ' };
    sl_str file = { 0 };
    for (int i = 0; i < sl_test_iters(t, 600); i++) {
        const char separator = separators[sl_rng_below(&t->rng, 5)];
        const bool comma = separator != ',' && sl_rng_below(&t->rng, 2);
        const bool names = sl_rng_below(&t->rng, 2);
        const int columns = 2 + (int)sl_rng_below(&t->rng, 4);
        const int rows = 2 + (int)sl_rng_below(&t->rng, 40);
        sl_str_truncate(&file, 0);
        for (int r = 0; r < rows; r++) {
            for (int k = 0; k < columns; k++) {
                char text[64];
                if (r == 0 && names)
                    snprintf(text, sizeof text, separator == ' ' ? "c%d" : "c %d (m,s)", k);
                else
                    snprintf(text, sizeof text, "%.*f", 1 + (int)sl_rng_below(&t->rng, 5),
                             100 * sl_rng_normal(&t->rng));
                for (char *p = text; *p && comma && r >= names; p++)
                    if (*p == '.') *p = ',';
                const bool quoted = strchr(text, separator) && separator != ' ';
                if (k > 0) sl_str_add_char(&file, separator);
                sl_str_addf(&file, quoted ? "\"%s\"" : "%s", text);
            }
            sl_str_add(&file, "\n");
        }
        sl_csv *c = NULL;
        const sl_cell *cells;
        SL_MUST(t, sl_io_csv_open(&c, file_of(file.text, file.len), NULL));
        SL_CHECK(t, sl_io_csv_separator(c) == separator && sl_io_csv_columns(c) == columns,
                 "'%c' in place of '%c', %d columns in place of %d:\n%s", sl_io_csv_separator(c),
                 separator, sl_io_csv_columns(c), columns, file.text);
        SL_CHECK(t, sl_io_csv_has_header(c) == names, "names? %d\n%s", names, file.text);
        for (int r = names; r < rows; r++) {
            SL_MUST(t, sl_io_csv_next(&cells, c));
            for (int k = 0; k < columns; k++) {
                double v;
                SL_CHECK(t, sl_io_cell_number(&v, &cells[k], separator) == SL_CELL_NUMBER,
                         "\"%s\" is no number", cells[k].text);
            }
        }
        sl_io_csv_close(c);
    }
    sl_str_clear(&file);
}

/* ---------------------------------------------------------------- size ---------------------- */

/* Rows longer than the first buffer, of all lengths around it, quoted or not; the first of them
 * too. */
static void long_rows_are_whole(void **state) {
    sl_fixture *t = *state;
    sl_str file = { 0 };
    for (int i = 0; i < sl_test_iters(t, 60); i++) {
        const size_t n = (i % 3 ? 65536u : 131072u) - 40 + sl_rng_below(&t->rng, 80);
        const bool quoted = sl_rng_below(&t->rng, 2), first = sl_rng_below(&t->rng, 2);
        sl_str_truncate(&file, 0);
        if (!first) sl_str_add(&file, "1,2\n");
        if (quoted) sl_str_add_char(&file, '"');
        for (size_t k = 0; k < n; k++) sl_str_add_char(&file, quoted && k % 100 == 5 ? '\n' : 'a');
        if (quoted) sl_str_add_char(&file, '"');
        sl_str_add(&file, ",b");
        if (sl_rng_below(&t->rng, 2)) sl_str_add(&file, "\r\n3,4");
        sl_csv *c = NULL;
        const sl_cell *cells;
        const sl_csv_options o = { .header = 0 };
        SL_MUST(t, sl_io_csv_open(&c, file_of(file.text, file.len), &o));
        for (int r = 0; r < 1 + !first; r++) SL_MUST(t, sl_io_csv_next(&cells, c));
        SL_CHECK(t, cells && cells[0].n == n && strcmp(cells[1].text, "b") == 0,
                 "a cell of %zu bytes has %zu", n, cells ? cells[0].n : 0);
        sl_io_csv_close(c);
    }
    sl_str_clear(&file);
}

/* A file that fills the first buffer to its last byte, or nearly, and ends there without an end of
 * line: the terminator needs room. */
static void the_last_cell_is_terminated(void **state) {
    sl_fixture *t = *state;
    sl_str file = { 0 };
    for (size_t n = 65536 - 2; n <= 65536 + 2; n++) {
        sl_str_truncate(&file, 0);
        while (file.len < n - 10) sl_str_add(&file, "1,2\n");
        while (file.len < n) sl_str_add(&file, file.len == n - 2 ? "," : "3");
        sl_csv *c = NULL;
        const sl_cell *cells;
        char last[8] = "";
        SL_MUST(t, sl_io_csv_open(&c, file_of(file.text, file.len), NULL));
        for (;;) {
            SL_MUST(t, sl_io_csv_next(&cells, c));
            if (!cells) break;
            snprintf(last, sizeof last, "%s", cells[1].text);
        }
        SL_CHECK(t, strcmp(last, "3") == 0, "%zu bytes end in %s", n, last);
        sl_io_csv_close(c);
    }
    sl_str_clear(&file);
}

static void memory_is_bounded_by_the_longest_row_allowed(void **state) {
    sl_fixture *t = *state;
    sl_str file = { 0 };
    sl_str_add(&file, "a,b\n");
    for (int i = 0; i < 100000; i++) sl_str_addf(&file, "%d,%d\n", i, i);
    sl_str_add(&file, "\"");
    for (int i = 0; i < 300000; i++) sl_str_addf(&file, "%d,%d\n", i, i);
    const char *path = file_of(file.text, file.len);
    sl_str_clear(&file);
    sl_csv *c = NULL;
    const sl_cell *cells;
    sl_status st = SL_OK;
    const sl_csv_options o = { .header = -1, .max_row = 200000 };
    sl_mem_peak_reset();
    const int64_t before = sl_mem_bytes();
    SL_MUST(t, sl_io_csv_open(&c, path, &o));
    do st = sl_io_csv_next(&cells, c);
    while (st == SL_OK && cells);
    assert_int_equal(st, SL_ELIMIT);
    SL_CHECK(t, strstr(sl_last_error(), "begins in line 100002"), "%s", sl_last_error());
    assert_int_equal(sl_io_csv_next(&cells, c), SL_ELIMIT); // again, and not the end
    sl_io_csv_close(c);
    SL_CHECK(t, sl_mem_peak() - before < 600000, "%lld bytes", (long long)(sl_mem_peak() - before));
}

/* ---------------------------------------------------------------- pipes --------------------- */

static void ignore(int number) { (void)number; }

/* Bytes that come in pieces, from standard input, while signals interrupt the reading of rows. */
static void a_pipe_gives_the_same_rows(void **state) {
    sl_fixture *t = *state;
    sl_str file = { 0 }, want = { 0 }, got = { 0 };
    for (int i = 0; i < 20000; i++) sl_str_addf(&file, "%d;\"%d\n%d\";\n", i, 2 * i, 3 * i);
    SL_MUST(t, show(&want, file_of(file.text, file.len), NULL));
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        for (size_t at = 0, n; at < file.len; at += n) {
            n = SL_MIN(file.len - at, (size_t)(1 + at % 3000));
            if (write(ends[1], file.text + at, n) != (ssize_t)n) _exit(1);
            if (at > 70000 && at % 7 == 0) usleep(100);
        }
        _exit(0);
    }
    close(ends[1]);
    struct sigaction act = { .sa_handler = ignore, .sa_flags = SA_RESTART }, old;
    struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
    sigaction(SIGALRM, &act, &old);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    setitimer(ITIMER_REAL, &often, NULL);
    SL_MUST(t, show(&got, "-", NULL));
    setitimer(ITIMER_REAL, &never, NULL);
    SL_CHECK(t, fcntl(STDIN_FILENO, F_GETFD) >= 0, "standard input was closed");
    dup2(saved, STDIN_FILENO);
    close(saved);
    waitpid(child, NULL, 0);
    sigaction(SIGALRM, &old, NULL);
    SL_CHECK(t, strcmp(got.text, want.text) == 0, "%.200s", got.text);
    sl_str_clear(&file);
    sl_str_clear(&want);
    sl_str_clear(&got);
}

/* A signal while rows are waited for: nothing is lost. The last row is written when a signal has
 * been reported, or after ten seconds. */
static void reading_goes_on_behind_a_signal(void **state) {
    sl_fixture *t = *state;
    sl_str file = { 0 };
    while (file.len < 70000)
        sl_str_addf(&file, "%zu,\"1\"\n", file.len); // more than is read to open
    int ends[2], reported[2];
    char path[32];
    assert_int_equal(pipe(ends) + pipe(reported), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        if (write(ends[1], file.text, file.len) != (ssize_t)file.len) _exit(1);
        (void)poll(&(struct pollfd){ .fd = reported[0], .events = POLLIN }, 1, 10000);
        _exit(write(ends[1], "last,2\n", 7) != 7);
    }
    close(ends[1]);
    sl_csv *c = NULL;
    const sl_cell *cells;
    SL_MUST(t, sl_io_csv_open(&c, path, NULL));
    struct sigaction act = { .sa_handler = ignore }, old; // no SA_RESTART: read says EINTR
    struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { 0 };
    sigaction(SIGALRM, &act, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    int rows = 0, cancelled = 0;
    sl_status st;
    char last[32] = "";
    do {
        st = sl_io_csv_next(&cells, c);
        if (st == SL_ECANCEL && cancelled++ == 0) assert_int_equal(write(reported[1], "", 1), 1);
        if (st == SL_OK && cells) {
            rows++;
            snprintf(last, sizeof last, "%s", cells[0].text);
        }
    } while (st == SL_ECANCEL || (st == SL_OK && cells));
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(reported[0]);
    close(reported[1]);
    SL_MUST(t, st);
    SL_CHECK(t, cancelled > 0, "no signal was reported");
    int lines = 1;
    for (size_t i = 0; i < file.len; i++) lines += file.text[i] == '\n';
    SL_CHECK(t, rows == lines && strcmp(last, "last") == 0, "%d rows of %d", rows, lines);
    assert_int_equal(sl_io_csv_size(c), 0);
    sl_io_csv_close(c);
    sl_str_clear(&file);
}

/* ---------------------------------------------------------------- faults -------------------- */

static void files_that_are_no_table_are_refused(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *want;
    } cases[] = {
        { "", 0, "is empty" },
        { "\n \n\r\n", 5, "is empty" },
        { "\xEF\xBB\xBF", 3, "is empty" },
        { "\xFF\xFE", 2, "is empty" },
        { "\xD0\xCF\x11\xE0", 4, "a workbook of Excel" },
        { "PK\3\4abc", 7, "save the table as CSV" },
        { "BZh91AY", 7, "bzip2" },
        { "\xFD"
          "7zXZ\0",
          6, "xz" },
        { "\x28\xB5\x2F\xFD\x24", 5, "zstd" },
        { "a,b\n1,\0\n", 8, "bytes that are 0" },
        { "\"a,b\n1,2\n", 9, "line 1: a quote is opened and never closed" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_csv *c = NULL;
        const sl_status st = sl_io_csv_open(&c, file_of(cases[i].bytes, cases[i].n), NULL);
        SL_CHECK(t, st == SL_EFORMAT && !c, "case %d is %s", i, sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), cases[i].want), "%s: %s", cases[i].want,
                 sl_last_error());
        SL_CHECK(t, strstr(sl_last_error(), "table.csv"), "no name: %s", sl_last_error());
    }
    // past the first buffer, a byte 0 is reported with its line
    sl_str file = { 0 };
    int lines = 0;
    for (; file.len < 70000; lines++) sl_str_add(&file, "1,2\n");
    sl_str_add_bytes(&file, "1,\0\n", 4);
    sl_str s = { 0 };
    char want[64];
    SL_MUST(t, show(&s, file_of(file.text, file.len), NULL));
    snprintf(want, sizeof want, "! line %d has a byte 0", lines + 1);
    SL_CHECK(t, strstr(s.text, want), "not %s", want);
    sl_str_clear(&s);
    sl_str_clear(&file);
}

static void unreadable_files_are_named(void **state) {
    sl_fixture *t = *state;
    const char *folder = sl_test_path("folder");
    mkdir(folder, 0700);
    const char *cases[][2] = {
        { sl_test_path("missing"), "missing: No such file" },
        { folder, "folder: it is a folder, not a file" },
        { "", "without a name" },
        { "/proc/self/mem", "/proc/self/mem" }, // opens, but address 0 is not mapped
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_csv *c = NULL;
        const sl_status st = sl_io_csv_open(&c, cases[i][0], NULL);
        SL_CHECK(t, st == SL_EIO && !c, "\"%s\" is %s", cases[i][0], sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), cases[i][1]), "not named: %s", sl_last_error());
    }
    sl_io_csv_close(NULL);
}

static sl_status read_all(const char *path) {
    sl_status st;
    sl_csv *c = NULL;
    const sl_cell *cells;
    SL_GO(sl_io_csv_open(&c, path, NULL));
    do SL_GO(sl_io_csv_next(&cells, c));
    while (cells);
done:
    sl_io_csv_close(c);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    sl_str file = { 0 };
    for (int i = 0; i < 40; i++) sl_str_addf(&file, "%sname %d", i ? "," : "", i); // cells grow
    sl_str_add(&file, "\n");
    for (int i = 0; i < 40; i++) sl_str_addf(&file, "%s%d", i ? "," : "", i);
    for (int i = 0; i < 150000; i++) sl_str_add(&file, " "); // so does the buffer
    sl_str_add(&file, "\n");
    const char *path = file_of(file.text, file.len);
    sl_str_clear(&file);
    SL_EACH_ALLOCATION(t, read_all(path));
}

/* Whatever the cells are, what is written reads back, but for blanks around a cell. */
static void what_is_written_reads_back(void **state) {
    sl_fixture *t = *state;
    static const char *const texts[] = { "",       "a",    "a b", "1,5",        "x;y",
                                         "say \"", "\"\"", "a|b", "two\nlines", "a\tb" };
    static const double numbers[] = { 0, -3, 1e15, 1e300, 0.1, -2.5e-308, 123456789012345.0 };
    sl_str s = { 0 };
    sl_csv *c = NULL;
    const sl_cell *cells;
    sl_str_add(&s, "name,value\n");
    for (int i = 0; i < SL_LEN(texts); i++) {
        sl_io_csv_add_text(&s, texts[i]);
        sl_str_add_char(&s, ',');
        sl_io_csv_add_number(&s, numbers[i % SL_LEN(numbers)]);
        sl_str_add_char(&s, '\n');
    }
    SL_MUST(t, sl_io_csv_open(&c, file_of(s.text, s.len), NULL));
    for (int i = 0; i < SL_LEN(texts); i++) {
        SL_MUST(t, sl_io_csv_next(&cells, c));
        SL_CHECK(t, strcmp(cells[0].text, texts[i]) == 0, "%s became %s", texts[i], cells[0].text);
        SL_CHECK(t, sl_strtod(cells[1].text, NULL) == numbers[i % SL_LEN(numbers)], "cell %d of %s",
                 i, s.text);
    }
    sl_io_csv_close(c);
    sl_str_truncate(&s, 0);
    sl_io_csv_add_number(&s, NAN);
    sl_io_csv_add_number(&s, -INFINITY);
    SL_CHECK(t, s.len == 0, "written: %s", s.text);
    sl_str_clear(&s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(tables_of_common_programs_are_read),
        SL_TEST(options_set_separator_and_header),
        SL_TEST(columns_are_found_by_name_or_number),
        SL_TEST(rows_lines_and_bytes_are_counted),
        SL_TEST(written_cells_are_read_back),
        SL_TEST(what_is_written_reads_back),
        SL_TEST(separator_is_detected),
        SL_TEST(long_rows_are_whole),
        SL_TEST(the_last_cell_is_terminated),
        SL_TEST(memory_is_bounded_by_the_longest_row_allowed),
        SL_TEST(a_pipe_gives_the_same_rows),
        SL_TEST(reading_goes_on_behind_a_signal),
        SL_TEST(files_that_are_no_table_are_refused),
        SL_TEST(unreadable_files_are_named),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("io.csv", tests, SL_LEN(tests));
}
