/* pairs_from - pairs of a file, line by line: errors and notes.
 *
 * A bad line cannot be used. A note is about one that can: a formula that does not fit the data is
 * no mistake where the data are noisy. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands_impl.h"

enum { LINE_BYTES_MAX = 64000000, LINES_PER_EVENT = 256 };

static const char too_long[] = "longer than 64,000,000 bytes";

static const double tolerance = 1e-6; // of the largest |y|

typedef struct checker {
    sl_commands_run *run;
    const char *name; // of the file, in messages
    bool json;
    int64_t shown; // most problems of a kind to report
    sl_lines *lines;
    sl_arena arena;         // of the line at hand
    sl_str text;            // LaTeX on its way to tokens
    sl_str problems, notes; // elements of JSON arrays
    int64_t good, bad, noted, with_expr;
    int points_min, points_max, columns_min, columns_max;
} checker;

/* ---------------------------------------------------------------- telling ------------------- */

/* Reports a problem of this line: the n-th of its kind. */
static sl_status report_problem(checker *c, sl_str *list, int64_t n, const char *label,
                                const char *reason) {
    if (n > c->shown) return SL_OK;
    const int64_t line = sl_io_lines_number(c->lines);
    sl_io_json_open(list, NULL, '{');
    sl_io_json_add_int(list, "line", line);
    sl_io_json_add_text(list, "reason", reason);
    sl_io_json_close(list, '}');
    if (c->json) return SL_OK;
    // the reader of the line has removed control characters
    sl_str_addf(&c->run->output, "%s:%lld: %s%s\n", c->name, (long long)line, label, reason);
    return sl_commands__output(c->run);
}

static sl_status report_bad(checker *c, const char *reason) {
    return report_problem(c, &c->problems, ++c->bad, "", reason);
}

SL_PRINTF(2, 3) static sl_status report_note(checker *c, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    sl_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return report_problem(c, &c->notes, ++c->noted, "note: ", text);
}

/* ---------------------------------------------------------------- one line ------------------ */

/* Does the formula give y? sl_pairs_read has checked that its columns exist. The point of the
 * largest difference is reported. */
static sl_status compare(checker *c, const sl_pair_input *p) {
    const int n = (int)p->data.rows;
    const double *y = p->data.y;
    double *value = sl_arena_alloc(&c->arena, (size_t)n * sizeof *value);
    if (!value) return sl_fail_memory((size_t)n, sizeof *value, "values");
    SL_TRY(sl_expr_eval(value, &c->arena, p->expr, p->data.x, n, NULL));
    double largest = 0, worst = 0;
    int at = -1;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(y[i]));
    for (int i = 0; i < n; i++) {
        if (isnan(value[i]))
            return report_note(c, "expr has no real value where y is %.6g (point %d of %d)", y[i],
                               i + 1, n);
        double off = fabs(value[i] - y[i]);
        if (off > worst && off > tolerance * largest) {
            worst = off;
            at = i;
        }
    }
    if (at < 0) return SL_OK;
    return report_note(c, "expr gives %.6g where y is %.6g (point %d of %d)", value[at], y[at],
                       at + 1, n);
}

static sl_status check_expr(checker *c, const sl_pair_input *p) {
    sl_token ids[SL_TOKEN_MAX];
    int n;
    sl_status st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, p->expr, &c->text);
    if (st == SL_EINVAL || st == SL_ELIMIT) {
        char reason[256];
        sl_snprintf(reason, sizeof reason, "%s", sl_last_error());
        st = report_note(c, "expr cannot be written as tokens: %s", reason);
    }
    SL_TRY(st);
    return compare(c, p);
}

static sl_status check_line(checker *c, const char *line, size_t n, int variables) {
    sl_pair_input p;
    sl_arena_rewind(&c->arena, 0);
    sl_status st = sl_pairs_read(&p, &c->arena, line, n, variables);
    if (st == SL_ENOMEM) return st;
    if (st != SL_OK) {
        char reason[512]; // printing may fail and overwrite the line
        sl_snprintf(reason, sizeof reason, "%s", sl_last_error());
        return report_bad(c, reason);
    }
    const bool first = c->good++ == 0;
    const int rows = (int)p.data.rows;
    c->points_min = first ? rows : SL_MIN(c->points_min, rows);
    c->points_max = first ? rows : SL_MAX(c->points_max, rows);
    c->columns_min = first ? p.data.inputs : SL_MIN(c->columns_min, p.data.inputs);
    c->columns_max = first ? p.data.inputs : SL_MAX(c->columns_max, p.data.inputs);
    if (sl_data_constant(&p.data)) SL_TRY(report_note(c, "y is the same at all points"));
    if (!p.expr) return SL_OK;
    c->with_expr++;
    return check_expr(c, &p);
}

static bool blank(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') return false;
    return true;
}

static sl_status check_lines(checker *c, int variables) {
    for (;;) {
        const char *line;
        size_t n;
        sl_status st = sl_io_lines_next(&line, &n, c->lines);
        const int64_t number = sl_io_lines_number(c->lines);
        // a signal may be a cancellation: the callback decides
        if (st == SL_ECANCEL || number % LINES_PER_EVENT == 0)
            SL_TRY(sl_commands_send_event(&c->run->listener, SYMLAW_EVENT_PROGRESS, "reading", 7,
                                          (double)number, 0));
        if (st == SL_ECANCEL) continue;
        if (st == SL_ELIMIT) {
            SL_TRY(report_bad(c, too_long));
            continue;
        }
        SL_TRY(st);
        if (!line) return SL_OK;
        if (!blank(line, n)) SL_TRY(check_line(c, line, n, variables));
    }
}

/* ---------------------------------------------------------------- summary ------------------- */

static void add_more(sl_str *s, int64_t n, int64_t shown, const char *what) {
    char a[32];
    const int64_t more = n - shown;
    if (more > 0)
        sl_str_addf(s, "and %s more %s%s\n", sl_group_digits(a, more), what, more == 1 ? "" : "s");
}

static void add_range(sl_str *s, int min, int max, const char *what) {
    char a[32];
    sl_str_add(s, sl_group_digits(a, min));
    if (max > min) sl_str_addf(s, " to %s", sl_group_digits(a, max));
    sl_str_addf(s, " %s%s", what, max == 1 ? "" : "s");
}

static void summarise(sl_str *s, const checker *c) {
    char a[32], b[32], d[32];
    add_more(s, c->bad, c->shown, "bad line");
    add_more(s, c->noted, c->shown, "note");
    const int64_t lines = c->good + c->bad;
    sl_str_addf(s, "%s: %s line%s, %s good, %s bad", c->name, sl_group_digits(a, lines),
                lines == 1 ? "" : "s", sl_group_digits(b, c->good), sl_group_digits(d, c->bad));
    if (c->good > 0) {
        sl_str_add(s, "; ");
        add_range(s, c->points_min, c->points_max, "point");
        sl_str_add(s, ", ");
        add_range(s, c->columns_min, c->columns_max, "column");
        sl_str_addf(s, "; %s with expr", sl_group_digits(a, c->with_expr));
    }
    if (c->noted > 0)
        sl_str_addf(s, "; %s note%s", sl_group_digits(a, c->noted), c->noted == 1 ? "" : "s");
    sl_str_add_char(s, '\n');
}

static void add_list(sl_str *s, const char *name, const sl_str *elements) {
    sl_io_json_open(s, name, '[');
    if (elements->len > 0) sl_str_add_bytes(s, elements->text, elements->len);
    sl_io_json_close(s, ']');
}

static void add_result(sl_str *s, const checker *c) {
    sl_io_json_add_int(s, "lines", c->good + c->bad);
    SL_JSON_FIELDS(s, c, good, bad, noted, with_expr, points_min, points_max, columns_min,
                   columns_max);
    add_list(s, "problems", &c->problems);
    add_list(s, "notes", &c->notes);
}

sl_status sl_commands__check_file(sl_commands_run *run, const char *path, int variables,
                                  int64_t shown, sl_str *result, bool *ok) {
    if (variables > SL_UNIVERSE_MAX_VARS)
        return sl_fail(SL_EINVAL, "--variables %d: pairs have 1 to %d", variables,
                       SL_UNIVERSE_MAX_VARS);
    checker c = { .run = run,
                  .name = strcmp(path, "-") == 0 ? "<stdin>" : path,
                  .json = run->common->json,
                  .shown = shown };
    sl_status st;
    SL_GO(sl_io_lines_open(&c.lines, path, LINE_BYTES_MAX));
    SL_GO(check_lines(&c, variables));
    SL_GO(sl_str_status(&c.problems));
    SL_GO(sl_str_status(&c.notes));
    add_result(result, &c);
    *ok = c.good > 0 && c.bad == 0;
    if (!c.json) {
        summarise(&run->output, &c);
        st = sl_commands__output(run);
    }
done:
    sl_io_lines_close(c.lines);
    sl_arena_clear(&c.arena);
    sl_str_clear(&c.text);
    sl_str_clear(&c.problems);
    sl_str_clear(&c.notes);
    return st;
}
