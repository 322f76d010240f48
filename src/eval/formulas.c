/* formulas - problems from a table of formulas, as benchmarks are written down:
 *
 *     name,formula,nvars,lo,hi,npoints
 *     Nguyen-6,sin(x1) + sin(x1 + x1 ** 2),1,-1,1,20
 *
 * Points are drawn here, by the seed and the row's number, so that a formula's points depend
 * neither on the others nor on how many are wanted of the table. */
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

enum { STREAM_POINTS = 2, STREAM_FRESH }; // points.c has 1

enum { NAME, FORMULA, LO, HI, POINTS, COLUMNS };
static const char *const column_name[COLUMNS] = { "name", "formula", "lo", "hi", "npoints" };

typedef struct reader {
    const char *name; // of the file, in messages
    sl_csv *csv;
    int column[COLUMNS];
    sl_eval__held *held;
    int variables, max_points, skipped;
    uint64_t seed;
} reader;

static sl_status find_columns(reader *r) {
    for (int i = 0; i < COLUMNS; i++) {
        r->column[i] = sl_csv_find(r->csv, column_name[i]);
        if (r->column[i] < 0)
            return sl_fail(SL_EFORMAT,
                           "%s: no column \"%s\"; name, formula, lo, hi and npoints are needed",
                           r->name, column_name[i]);
    }
    return SL_OK;
}

static sl_status bad(const reader *r, const char *what, const char *reason) {
    return sl_fail(SL_EFORMAT, "%s:%lld: %s %s", r->name, (long long)sl_csv_line(r->csv), what,
                   reason);
}

static sl_status read_number(double *out, const reader *r, const sl_cell *cells, int which) {
    const sl_cell_kind kind =
        sl_cell_number(out, &cells[r->column[which]], sl_csv_separator(r->csv));
    return kind == SL_CELL_NUMBER ? SL_OK : bad(r, column_name[which], "is not a number");
}

static sl_status read_formula(sl_eval_problem *p, const reader *r, const sl_cell *cell) {
    sl_status st =
        sl_expr_parse(&p->truth, &r->held->arena, SL_FORMAT_INFIX, cell->text, cell->n, NULL, NULL);
    if (st == SL_ENOMEM) return st;
    if (st != SL_OK) {
        char reason[512];
        sl_snprintf(reason, sizeof reason, "%s", sl_last_error());
        return bad(r, "formula,", reason);
    }
    return sl_expr_max_par(p->truth) ? bad(r, "formula", "has a constant without a value") : SL_OK;
}

/* n points in the range, named by the row and by what they are for. */
static sl_status draw(sl_problem *out, const reader *r, const sl_eval_problem *p, double lo,
                      double hi, int64_t n, uint32_t stream) {
    sl_eval__box box = { .inputs = SL_MAX(1, sl_expr_max_var(p->truth)) };
    for (int v = 0; v < box.inputs; v++) {
        box.lo[v] = lo;
        box.hi[v] = hi;
    }
    sl_rng rng;
    sl_rng_init(&rng, r->seed, stream, (uint64_t)sl_csv_row(r->csv));
    return sl_eval__draw(out, &r->held->arena, p->truth, &box, n, &rng);
}

static sl_status read_row(reader *r, const sl_cell *cells) {
    sl_eval_problem p = { .depth = -1 };
    double lo, hi, points;
    SL_TRY(read_number(&lo, r, cells, LO));
    SL_TRY(read_number(&hi, r, cells, HI));
    SL_TRY(read_number(&points, r, cells, POINTS));
    if (!(lo < hi)) return bad(r, "lo", "must be below hi");
    if (!(points >= 2) || points != floor(points))
        return bad(r, "npoints", "must be a whole number from 2 on");
    if (cells[r->column[NAME]].n == 0) return bad(r, "name", "is empty");

    sl_arena *a = &r->held->arena;
    const size_t mark = sl_arena_mark(a);
    SL_TRY(sl_eval__text(&p.id, a, cells[r->column[NAME]].text));
    for (int64_t i = 0; i < r->held->count; i++)
        if (strcmp(r->held->problem[i].id, p.id) == 0)
            return bad(r, "name", "is that of another formula too");
    SL_TRY(read_formula(&p, r, &cells[r->column[FORMULA]]));

    const int64_t n = points < r->max_points ? (int64_t)points : r->max_points;
    bool usable = sl_expr_max_var(p.truth) <= r->variables;
    if (usable) {
        SL_TRY(draw(&p.data, r, &p, lo, hi, n, STREAM_POINTS));
        usable = p.data.rows >= 2;
    }
    if (!usable) {
        r->skipped++;
        sl_arena_rewind(a, mark);
        return SL_OK;
    }
    SL_TRY(draw(&p.fresh, r, &p, lo, hi, SL_EVAL__FRESH, STREAM_FRESH));
    return sl_eval__held_add(r->held, &p);
}

static sl_status read_rows(reader *r, int64_t limit) {
    SL_TRY(find_columns(r));
    while (limit <= 0 || r->held->count < limit) {
        const sl_cell *cells;
        SL_TRY(sl_csv_next(&cells, r->csv));
        if (!cells) break;
        SL_TRY(read_row(r, cells));
    }
    if (r->held->count == 0)
        return sl_fail(SL_EFORMAT,
                       "%s: no formula that can be used; %d with more than %d variable%s, or real "
                       "nowhere in their range",
                       r->name, r->skipped, r->variables, r->variables == 1 ? "" : "s");
    return SL_OK;
}

sl_status sl_eval_from_formulas(sl_eval_source *out, const char *path, int variables,
                                int max_points, uint64_t seed, int *skipped, int64_t limit) {
    SL_ASSERT(max_points >= 2 && variables >= 1 && variables <= SL_UNIVERSE_MAX_VARS);
    sl_status st;
    sl_csv_options o = SL_CSV_OPTIONS_INIT;
    o.header = 1;
    reader r = { .name = strcmp(path, "-") == 0 ? "standard input" : path,
                 .variables = variables,
                 .max_points = max_points,
                 .seed = seed };
    SL_GO(sl_eval__held_new(&r.held));
    SL_GO(sl_csv_open(&r.csv, path, &o));
    SL_GO(read_rows(&r, limit));
    SL_GO(sl_eval__held_source(out, r.held, r.name));
    *skipped = r.skipped;
    r.held = NULL;
done:
    sl_eval__held_free(r.held);
    sl_csv_close(r.csv);
    return st;
}
