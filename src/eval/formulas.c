/* formulas - problems from a table of formulas, as benchmarks are written down. Two layouts:
 *
 *     name,formula,nvars,lo,hi,npoints                         name,formula,variables
 *     Nguyen-6,sin(x1) + sin(x1 + x1 ** 2),1,-1,1,20           kinetic,m*v**2/2,m:1:5 v:0:2
 *
 * Points are drawn here, by the seed and the row's number, so that a formula's points depend
 * neither on the others nor on how many are wanted of the table. */
#include <math.h>
#include <string.h>

#include "eval/eval_impl.h"

enum { STREAM_POINTS = 2, STREAM_FRESH }; // points.c has 1

enum { ROWS = 200 }; // of a formula, where the table does not say

enum { NAME, FORMULA, VARIABLES, LO, HI, POINTS, COLUMNS };
static const char *const column_name[COLUMNS] = { "name", "formula", "variables",
                                                  "lo",   "hi",      "npoints" };

typedef struct reader {
    const char *name; // of the file, in messages
    sl_csv *csv;
    int column[COLUMNS]; // -1: of the other layout
    sl_eval__held *held;
    const sl_eval_formulas *o;
    int skipped;
} reader;

/* Where a row's points come from. */
typedef struct layout {
    sl_eval__box box;
    int64_t rows;
} layout;

static bool named(const reader *r) { return r->column[VARIABLES] >= 0; }

static sl_status find_columns(reader *r) {
    for (int i = 0; i < COLUMNS; i++) r->column[i] = sl_io_csv_find(r->csv, column_name[i]);
    for (int i = 0; i < COLUMNS; i++) {
        const bool needed = i <= FORMULA || (i >= LO && !named(r));
        if (needed && r->column[i] < 0)
            return sl_fail(SL_EFORMAT,
                           "%s: no column \"%s\"; name, formula, lo, hi and npoints are needed, or "
                           "name, formula and variables (as \"m:1:5 v:0:2\")",
                           r->name, column_name[i]);
    }
    return SL_OK;
}

static sl_status bad(const reader *r, const char *what, const char *reason) {
    return sl_fail(SL_EFORMAT, "%s:%lld: %s %s", r->name, (long long)sl_io_csv_line(r->csv), what,
                   reason);
}

/* The reason stands already; the place goes before it. */
static sl_status placed(const reader *r, const char *what, sl_status st) {
    if (st == SL_OK || st == SL_ENOMEM) return st;
    return bad(r, what, sl_last_error());
}

/* ---------------------------------------------------------------- ranges -------------------- */

static sl_status read_number(double *out, const reader *r, const sl_cell *cells, int which) {
    const sl_cell_kind kind =
        sl_io_cell_number(out, &cells[r->column[which]], sl_io_csv_separator(r->csv));
    return kind == SL_CELL_NUMBER ? SL_OK : bad(r, column_name[which], "is not a number");
}

static sl_status read_named(layout *out, const reader *r, const sl_cell *cells) {
    const sl_cell *cell = &cells[r->column[VARIABLES]];
    if (strlen(cell->text) != cell->n) return bad(r, "variables", "holds a NUL byte");
    out->rows = r->o->rows > 0 ? r->o->rows : ROWS;
    return placed(r, "variables,", sl_eval__ranges_read(&out->box, &r->held->arena, cell->text));
}

/* The number of variables is the formula's. */
static sl_status read_common(layout *out, const reader *r, const sl_cell *cells) {
    double lo, hi, points;
    SL_TRY(read_number(&lo, r, cells, LO));
    SL_TRY(read_number(&hi, r, cells, HI));
    SL_TRY(read_number(&points, r, cells, POINTS));
    if (!(lo < hi)) return bad(r, "lo", "must be below hi");
    if (!(points >= 2) || points != floor(points))
        return bad(r, "npoints", "must be a whole number from 2 on");
    for (int v = 0; v < SL_DATA_MAX_INPUTS; v++) {
        out->box.lo[v] = lo;
        out->box.hi[v] = hi;
    }
    out->rows = points < r->o->max_points ? (int64_t)points : r->o->max_points;
    if (r->o->rows > 0) out->rows = r->o->rows;
    return SL_OK;
}

/* ---------------------------------------------------------------- one formula --------------- */

static sl_status read_formula(sl_eval_problem *p, const reader *r, const sl_eval__box *box,
                              const sl_cell *cell) {
    const sl_names names = { box->names, box->inputs };
    SL_TRY(placed(r, "formula,",
                  sl_expr_parse(&p->truth, &r->held->arena, SL_FORMAT_INFIX, cell->text, cell->n,
                                box->names ? &names : NULL, NULL)));
    return sl_expr_max_par(p->truth) ? bad(r, "formula", "has a constant without a value") : SL_OK;
}

static sl_status read_name(const char **out, const reader *r, const sl_cell *cell) {
    if (cell->n == 0) return bad(r, "name", "is empty");
    SL_TRY(sl_eval__text(out, &r->held->arena, cell->text));
    for (int64_t i = 0; i < r->held->count; i++)
        if (strcmp(r->held->problem[i].id, *out) == 0)
            return bad(r, "name", "is that of another formula too");
    return SL_OK;
}

/* n points in the range, named by the row and by what they are for. */
static sl_status draw(sl_dataset *out, const reader *r, const sl_eval_problem *p,
                      const layout *from, int64_t n, uint32_t stream) {
    sl_rng rng;
    sl_rng_init(&rng, r->o->seed, stream, (uint64_t)sl_io_csv_row(r->csv));
    return sl_eval__draw(out, &r->held->arena, p->truth, &from->box, n, &rng);
}

static sl_status read_row(reader *r, const sl_cell *cells) {
    sl_eval_problem p = { .depth = -1 };
    sl_arena *a = &r->held->arena;
    const size_t mark = sl_arena_mark(a);
    layout from = { 0 };
    SL_TRY(named(r) ? read_named(&from, r, cells) : read_common(&from, r, cells));
    SL_TRY(read_name(&p.id, r, &cells[r->column[NAME]]));
    SL_TRY(read_formula(&p, r, &from.box, &cells[r->column[FORMULA]]));
    if (!named(r)) from.box.inputs = SL_MAX(1, sl_expr_max_var(p.truth));

    bool usable = from.box.inputs <= r->o->variables;
    if (usable) {
        SL_TRY(draw(&p.data, r, &p, &from, from.rows, STREAM_POINTS));
        usable = p.data.rows >= 2;
    }
    if (!usable) {
        r->skipped++;
        sl_arena_rewind(a, mark);
        return SL_OK;
    }
    SL_TRY(draw(&p.fresh, r, &p, &from, SL_EVAL__FRESH, STREAM_FRESH));
    return sl_eval__held_add(r->held, &p);
}

static sl_status read_rows(reader *r) {
    SL_TRY(find_columns(r));
    while (r->o->limit <= 0 || r->held->count < r->o->limit) {
        const sl_cell *cells;
        SL_TRY(sl_io_csv_next(&cells, r->csv));
        if (!cells) break;
        SL_TRY(read_row(r, cells));
    }
    if (r->held->count == 0)
        return sl_fail(SL_EFORMAT,
                       "%s: no formula that can be used; %d with more than %d variable%s, or "
                       "undefined in their range",
                       r->name, r->skipped, r->o->variables, r->o->variables == 1 ? "" : "s");
    return SL_OK;
}

sl_status sl_eval_from_formulas(sl_eval_source *out, const char *path, const sl_eval_formulas *o,
                                int *skipped) {
    SL_ASSERT(o->max_points >= 2 && o->variables >= 1 && o->variables <= SL_DATA_MAX_INPUTS);
    sl_status st;
    sl_csv_options csv = SL_CSV_OPTIONS_INIT;
    csv.header = 1;
    reader r = { .name = strcmp(path, "-") == 0 ? "standard input" : path, .o = o };
    SL_GO(sl_eval__held_new(&r.held));
    SL_GO(sl_io_csv_open(&r.csv, path, &csv));
    SL_GO(read_rows(&r));
    SL_GO(sl_eval__held_source(out, r.held, r.name));
    *skipped = r.skipped;
    r.held = NULL;
done:
    sl_eval__held_free(r.held);
    sl_io_csv_close(r.csv);
    return st;
}
