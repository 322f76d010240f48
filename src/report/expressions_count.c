/* expressions_count - counts of the candidates of each level: listed, duplicate, dropped. */
#include <string.h>

#include "report/report_impl.h"

static sl_universe_counts total(const sl_universe *u) {
    sl_universe_counts t = { 0 };
    for (int i = 0; i <= sl_universe_config(u)->depth; i++) {
        const sl_universe_counts *c = sl_universe_count(u, i);
        t.raw += c->raw;
        t.distinct += c->distinct;
        t.partial += c->partial;
        t.partial_raw += c->partial_raw;
        t.constant += c->constant;
        t.nowhere += c->nowhere;
        t.known += c->known;
        t.seconds += c->seconds;
    }
    return t;
}

static int64_t withheld(const sl_universe *u) {
    int64_t n = 0;
    if (sl_universe_config(u)->withheld > 0)
        for (int64_t i = 0; i < sl_universe_size(u); i++) n += sl_universe_withheld(u, i);
    return n;
}

/* ---------------------------------------------------------------- for programs -------------- */

static void add_counts(sl_str *s, const sl_universe_counts *c) {
    SL_JSON_FIELDS(s, c, raw, partial_raw, constant, nowhere, known, distinct, partial, seconds);
}

void sl_report_count_json(sl_str *s, const sl_universe *u) {
    sl_universe_counts t = total(u);
    sl_io_json_open(s, "levels", '[');
    for (int i = 0; i <= sl_universe_config(u)->depth; i++) {
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_int(s, "level", i);
        add_counts(s, sl_universe_count(u, i));
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "total", '{');
    add_counts(s, &t);
    sl_io_json_close(s, '}');
    sl_io_json_add_int(s, "size", sl_universe_size(u));
    sl_io_json_add_int(s, "size_withheld", withheld(u));
    sl_io_json_add_text(s, "hash", sl_universe_hash(u));
}

/* ---------------------------------------------------------------- for people ---------------- */

enum { COLUMNS = 7, MAX_ROWS = SL_UNIVERSE_MAX_DEPTH + 3 };

typedef struct table {
    char cell[MAX_ROWS][COLUMNS][32];
    int rows;
} table;

static void add_row(table *t, const char *name, const sl_universe_counts *c) {
    SL_ASSERT(t->rows < MAX_ROWS); // a head, the levels, and their sum
    const int64_t numbers[COLUMNS - 2] = { c->raw, c->constant, c->nowhere, c->known, c->distinct };
    char(*cell)[32] = t->cell[t->rows++];
    sl_snprintf(cell[0], sizeof cell[0], "%s", name);
    for (int i = 0; i < COLUMNS - 2; i++) sl_group_digits(cell[i + 1], numbers[i]);
    sl_snprintf(cell[COLUMNS - 1], sizeof cell[0], "%.2f", c->seconds);
}

/* Every column as wide as its widest cell, flush right. */
static void print_table(sl_str *s, const table *t) {
    int width[COLUMNS] = { 0 };
    for (int r = 0; r < t->rows; r++)
        for (int i = 0; i < COLUMNS; i++) width[i] = SL_MAX(width[i], (int)strlen(t->cell[r][i]));
    for (int r = 0; r < t->rows; r++)
        for (int i = 0; i < COLUMNS; i++)
            sl_str_addf(s, "%*s%s", width[i], t->cell[r][i], i + 1 < COLUMNS ? "  " : "\n");
}

void sl_report_count_table(sl_str *s, const sl_universe *u) {
    static const char *const head[COLUMNS] = { "depth",     "candidates", "constant", "empty",
                                               "duplicate", "distinct",   "seconds" };
    char name[16], a[32], b[32];
    const int depth = sl_universe_config(u)->depth;
    const sl_universe_counts all = total(u);
    table t = { .rows = 1 };
    for (int i = 0; i < COLUMNS; i++) sl_snprintf(t.cell[0][i], sizeof t.cell[0][i], "%s", head[i]);
    for (int i = 0; i <= depth; i++) {
        sl_snprintf(name, sizeof name, "%d", i);
        add_row(&t, name, sl_universe_count(u, i));
    }
    add_row(&t, "all", &all);
    print_table(s, &t);
    sl_str_add(s,
               "\nDropped: constant; empty domain, no real value anywhere; duplicate of an earlier "
               "function.\n");
    if (all.partial_raw)
        sl_str_addf(s,
                    "Real only on part of every orthant (choice of signs of the variables) are %s "
                    "candidates\nand %s of the distinct functions.\n",
                    sl_group_digits(a, all.partial_raw), sl_group_digits(b, all.partial));

    sl_str_addf(s, "\nset E     %s of %s expressions", sl_group_digits(a, sl_universe_size(u)),
                sl_group_digits(b, all.distinct));
    if (sl_universe_size(u) < all.distinct)
        sl_str_addf(s, ": a sample of depth %d, and all below it",
                    sl_universe_level(u, sl_universe_size(u) - 1));
    sl_str_add_char(s, '\n');
    if (sl_universe_config(u)->withheld > 0)
        sl_str_addf(s, "withheld  %s of them\n", sl_group_digits(a, withheld(u)));
    sl_str_addf(s, "hash      %s\n", sl_universe_hash(u));
}
