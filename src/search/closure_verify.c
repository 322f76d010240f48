/* closure_verify - from a choice of atoms whose lead is in the span to a formula.
 *
 * Coefficients are solved for on most rows and must hold on the held-out rows: with many columns,
 * half of the choices that fit the former alone are false. Columns are then dropped one by one
 * while the formula holds. That removes common factors of N and D, and products of the shape that
 * the formula does not have. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "search/closure_impl.h"

enum { ROWS = SL_CLOSURE__ROWS, COLUMNS = SL_CLOSURE__COLUMNS };

static const double TOLERANCE = 1e-8; // of y
static const double CANCELLED = 1e-7; // a D smaller than this part of its terms is rounding

typedef struct equation {
    const sl_closure *c;
    sl_search__closure_column lead, column[COLUMNS];
    int columns;
    const sl_search__closure_atom *curve; // NULL: none
    double constant;
    sl_search__closure_override override;
    double target[ROWS], value[COLUMNS][ROWS];
    double coefficient[COLUMNS];
} equation;

/* ---------------------------------------------------------------- solving ------------------- */

static void evaluate(equation *s) {
    const sl_closure *c = s->c;
    const sl_search__closure_override *override = s->curve ? &s->override : NULL;
    if (s->curve) {
        s->override.part = s->curve->part[0], s->override.parts = s->curve->parts;
        if (!sl_search__closure_curve_values(s->override.value, c, &c->curve[s->curve->curve],
                                             s->constant))
            s->columns = 0; // then `holds` fails
    }
    sl_search__closure_evaluate(s->target, c, s->lead, override, c->rows);
    for (int k = 0; k < s->columns; k++)
        sl_search__closure_evaluate(s->value[k], c, s->column[k], override, c->rows);
}

static sl_status solve(equation *s, const bool *use, sl_arena *scratch) {
    const double *list[COLUMNS] = { NULL };
    double found[COLUMNS];
    int place[COLUMNS], n = 0;
    sl_lsq lsq;
    for (int k = 0; k < s->columns; k++) {
        s->coefficient[k] = 0;
        if (use[k]) place[n] = k, list[n++] = s->value[k];
    }
    SL_TRY(sl_num_lsq_fit(&lsq, found, NULL, scratch, list, s->target, NULL, s->c->fitted, n));
    for (int i = 0; i < n; i++) s->coefficient[place[i]] = lsq.rank > 0 ? found[i] : 0;
    return SL_OK;
}

/* Does y D = N hold in all rows, also those held out, with a D that is not 0 up to rounding? */
static bool holds(const equation *s) {
    for (int r = 0; r < s->c->rows; r++) {
        double sum = 0, below = s->target[r], size = fabs(s->target[r]);
        for (int k = 0; k < s->columns; k++) {
            // columns of D count with the opposite sign: all of y D is on one side
            double v = s->coefficient[k] * s->value[k][r];
            sum += v;
            if (s->column[k].below) below -= v, size += fabs(v);
        }
        if (!(fabs(s->target[r] - sum) <= TOLERANCE * fabs(below))) return false;
        if (!(fabs(below) > CANCELLED * size)) return false;
    }
    return s->columns > 0;
}

/* The column in use of least effect that has not been tried; -1: none. */
static int least_column(const equation *s, const bool *use, const bool *tried) {
    int least = -1;
    double effect = INFINITY;
    for (int k = 0; k < s->columns; k++) {
        double most = 0;
        for (int r = 0; r < s->c->rows; r++)
            most = SL_MAX(most, fabs(s->coefficient[k] * s->value[k][r] / s->target[r]));
        if (use[k] && !tried[k] && most < effect) effect = most, least = k;
    }
    return least;
}

/* Leaves out columns, those of least effect first, as long as the rest holds. */
static sl_status thin_out(equation *s, bool *use, sl_arena *scratch) {
    bool tried[COLUMNS] = { false };
    for (int k = least_column(s, use, tried); k >= 0; k = least_column(s, use, tried)) {
        tried[k] = true;
        use[k] = false;
        SL_TRY(solve(s, use, scratch));
        if (holds(s)) continue;
        use[k] = true;
        SL_TRY(solve(s, use, scratch));
    }
    return SL_OK;
}

/* Keeps the columns in use alone, and finds the constant inside the curve once more with them. */
static sl_status polish(equation *s, bool *use, sl_arena *scratch) {
    int n = 0;
    for (int k = 0; k < s->columns; k++)
        if (use[k]) s->column[n++] = s->column[k];
    s->columns = n;
    for (int k = 0; k < n; k++) use[k] = true;
    if (s->curve) sl_search__closure_refine(&s->constant, s->c, s->curve, s->lead, s->column, n);
    evaluate(s);
    return solve(s, use, scratch);
}

/* ---------------------------------------------------------------- formulas ------------------ */

static const sl_node *write_column(sl_writer *w, const equation *s, const sl_node *e,
                                   sl_search__closure_column k, const sl_node *inside) {
    for (int i = 0; i < SL_CLOSURE__SLOTS; i++) {
        if (k.part[i] < 0) continue;
        const sl_node *part = s->c->expr[k.part[i]];
        for (int n = 0; s->curve && n < s->curve->parts; n++)
            if (k.part[i] == s->curve->part[n])
                part = sl_search__closure_write_curve(w, &s->c->curve[s->curve->curve], n, inside);
        e = sl_search__write_times(w, e, part);
    }
    return e;
}

static sl_status offer(bool *kept, sl_closure *c, const equation *s, int level) {
    sl_writer w = { .arena = &c->arena };
    const sl_node *inside = s->curve ? sl_search__write_constant(&w, s->constant) : NULL,
                  *above = NULL;
    const sl_node *below = write_column(&w, s, sl_search__write_int(&w, 1), s->lead, inside);
    for (int k = 0; k < s->columns; k++) {
        if (s->coefficient[k] == 0) continue;
        double coefficient = s->column[k].below ? -s->coefficient[k] : s->coefficient[k];
        const sl_node *term =
            write_column(&w, s, sl_search__write_constant(&w, coefficient), s->column[k], inside);
        const sl_node **sum = s->column[k].below ? &below : &above;
        *sum = *sum ? sl_search__write_plus(&w, *sum, term) : term;
    }
    *kept = false;
    SL_TRY(sl_search__write_status(&w));
    if (!above || w.params > SL_FIT_MAX_PARAMS) return SL_OK;
    const sl_node *e = sl_expr_apply(&c->arena, SL_OPERATOR_DIV, above, below);
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula of a closure");
    return sl_search__offer(kept, c->job, e, w.value, w.params, "closure", level);
}

static sl_status verify(bool *kept, equation *s, sl_closure *c, int level, sl_arena *scratch) {
    bool use[COLUMNS];
    for (int k = 0; k < COLUMNS; k++) use[k] = true;
    evaluate(s);
    SL_TRY(solve(s, use, scratch));
    if (!holds(s)) return SL_OK;
    for (int k = 0; k < s->columns; k++) use[k] = s->coefficient[k] != 0;
    SL_TRY(thin_out(s, use, scratch));
    SL_TRY(polish(s, use, scratch));
    return holds(s) ? offer(kept, c, s, level) : SL_OK;
}

sl_status sl_search__closure_verify(bool *kept, sl_closure *c, const sl_search__closure_hit *h,
                                    int level) {
    sl_arena scratch = { 0 };
    equation *s = sl_malloc(1, sizeof *s);
    *kept = false;
    if (!s) return sl_fail_memory(1, sizeof *s, "a formula of a closure");
    s->c = c;
    s->lead = sl_search__closure_lead(c, &h->choice);
    s->columns = sl_search__closure_all_columns(s->column, c, &h->choice);
    s->curve = sl_search__closure_curve_of(c, &h->choice);
    s->constant = h->constant;
    sl_status st = verify(kept, s, c, level, &scratch);
    sl_arena_clear(&scratch);
    sl_free(s);
    return st;
}
