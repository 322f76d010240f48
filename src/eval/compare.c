/* compare - is a candidate the truth?
 *
 * Algebra first: equal canonical forms are a proof. Where it has none, because the rules do not
 * bring the two together or because constants are fitted decimals, values decide: at fresh points,
 * and at the problem's own, both are evaluated in long double with a bound on what rounding did to
 * them (sl_expr_eval_ref).
 *
 * A point says yes where the two are within 1e-9 of the larger, and their bounds too: where much
 * cancels, or the sine of something huge is taken, agreement means nothing. It says no where they
 * differ by more than that and four times the bounds. Where the truth is not real nothing is asked
 * of a candidate; where it is, the candidate must be. Sixteen points must say yes; where the truth
 * is real at so few points, all of the problem's must.
 *
 * A fitted constant is off by some part in 1e13 or so, and where terms cancel that shows more than
 * 1e-9. So before a point says no to one, bounds are taken for numbers of 40 bits. */
#include <math.h>

#include "eval/eval_impl.h"

enum {
    LEAST = 16, // points that must say yes
    MOST = 1024 // points of a problem that are asked
};

static const long double tolerance = 1e-9L, safety = 4;

typedef struct contest {
    const sl_node *truth, *expr;
    const long double *value; // of the candidate's constants
    bool fitted;              // there are any
} contest;

/* Both at a point, by numbers that are good to u. */
typedef struct values {
    long double truth, expr; // NaN: not real
    long double near, blur;  // 1e-9 of the larger; what rounding may have done to their difference
    bool undefined;          // the candidate, beyond rounding
} values;

static values evaluate(const contest *c, const long double *x, long double u) {
    values v;
    long double dt, dc;
    sl_expr_eval_ref(&v.truth, &dt, c->truth, x, NULL, u);
    sl_expr_eval_ref(&v.expr, &dc, c->expr, x, c->value, u);
    v.near = tolerance * fmaxl(fabsl(v.truth), fabsl(v.expr));
    v.blur = safety * (dt + dc);
    v.undefined = isnan(v.expr) && dc == 0;
    return v;
}

static sl_truth agree_at(const contest *c, const long double *x) {
    values v = evaluate(c, x, 0x1p-64L);
    if (!isfinite(v.truth)) return SL_UNKNOWN;
    if (isnan(v.expr)) return v.undefined ? SL_NO : SL_UNKNOWN;
    const long double apart = fabsl(v.truth - v.expr);
    if (apart <= v.near) return v.blur <= v.near ? SL_YES : SL_UNKNOWN;
    if (c->fitted) v = evaluate(c, x, 0x1p-40L);
    return apart > v.near + v.blur ? SL_NO : SL_UNKNOWN;
}

/* *yes := points that say yes, of *asked, evenly taken; false where one says no. */
static bool agree(int64_t *yes, int64_t *asked, const contest *c, const sl_dataset *points) {
    long double x[SL_DATA_MAX_INPUTS];
    const int64_t n = *asked = SL_MIN(points->rows, MOST);
    *yes = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i * points->rows / n;
        for (int v = 0; v < points->inputs; v++) x[v] = points->x[v][row];
        const sl_truth t = agree_at(c, x);
        if (sl_no(t)) return false;
        *yes += sl_yes(t);
    }
    return true;
}

static sl_status compare_values(bool *out, sl_arena *scratch, const contest *c, int params,
                                const sl_eval_problem *p) {
    int64_t own, rows, fresh, points;
    sl_dataset more = p->fresh;
    *out = false;
    if (!agree(&own, &rows, c, &p->data)) return SL_OK;
    if (more.rows == 0) SL_TRY(sl_eval__around(&more, scratch, p->truth, &p->data));
    if (!agree(&fresh, &points, c, &more)) return SL_OK;
    // as many constants as points agree with anything
    *out = own + fresh > params && (own + fresh >= LEAST || own == rows);
    return SL_OK;
}

sl_status sl_eval_compare(sl_verdict *out, sl_arena *scratch, const sl_node *expr,
                          const double *value, const sl_eval_problem *p) {
    const int params = sl_expr_max_par(expr);
    SL_ASSERT(p->truth && sl_expr_max_var(p->truth) <= p->data.inputs);
    SL_ASSERT(p->data.inputs <= SL_DATA_MAX_INPUTS);
    *out = SL_VERDICT_MISS;
    if (sl_expr_max_var(expr) > p->data.inputs) return SL_OK; // of a column that is not there

    if (params == 0) {
        sl_truth same;
        SL_TRY(sl_expr_same(&same, scratch, expr, p->truth));
        if (sl_yes(same)) {
            *out = SL_VERDICT_SOLVED;
            return SL_OK;
        }
    }
    // what was proposed and not fitted may have any number of constants
    const size_t mark = sl_arena_mark(scratch), n = (size_t)params;
    long double *constants = sl_arena_alloc(scratch, n * sizeof *constants);
    if (!constants) return sl_fail_memory(n, sizeof *constants, "constants");
    for (int k = 0; k < params; k++) constants[k] = value[k];
    const contest c = { p->truth, expr, constants, params > 0 };
    bool equal;
    sl_status st = compare_values(&equal, scratch, &c, params, p);
    sl_arena_rewind(scratch, mark);
    SL_TRY(st);
    if (equal) *out = SL_VERDICT_EQUAL;
    return SL_OK;
}
