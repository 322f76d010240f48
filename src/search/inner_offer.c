/* From a point of the grid to a formula: coefficients in all rows, the expression, the fit of all
 * its constants in the space of y, and removal of terms without effect. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "search/inner_impl.h"

static const double NOTHING = 1e-9;    // a summand this small beside the largest T(y)
static const double INSIGNIFICANT = 2; // standard errors: a coefficient that may as well be 0

/* ---------------------------------------------------------------- coefficients -------------- */

/* Squares of T(y) weighted so that they are squares of y, to first order. */
static double weight(sl_search__inner_transform t, double y) {
    switch (t) {
    case SL_INNER__SAME: return 1;
    case SL_INNER__SQUARED: return 0.25 / (y * y);
    case SL_INNER__INVERTED: return y * y * y * y;
    case SL_INNER__LOGARITHM:
    case SL_INNER__FACTORS: return y * y;
    }
    return 1;
}

/* The inverse of T, with the sign of y where T loses it. */
static double undone(sl_search__inner_transform t, double sum, double y) {
    switch (t) {
    case SL_INNER__SAME: return sum;
    case SL_INNER__SQUARED: return sum >= 0 ? sqrt(sum) : 0;
    case SL_INNER__INVERTED: return 1 / sum;
    case SL_INNER__LOGARITHM: return sl_exp(sum);
    case SL_INNER__FACTORS: return copysign(sl_exp(sum), y);
    }
    return sum;
}

/* Unexplained part of y's variance in all rows. */
static double part_left(const sl_inner *s, const sl_search__inner_target *t,
                        const double *const *column, const double *coefficient, int n) {
    const double *y = s->job->rows.y;
    double mean = sl_num_mean(y, s->rows), left = 0, all = 0;
    for (int i = 0; i < s->rows; i++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += coefficient[k] * column[k][i];
        double d = y[i] - undone(t->transform, sum, y[i]), e = y[i] - mean;
        left += d * d, all += e * e;
    }
    return left / all;
}

static sl_status solve(double *coefficient, sl_search__inner_candidate *c, const sl_inner *s,
                       sl_arena *a) {
    const sl_search__inner_traits *traits = &sl_search__inner_traits_of[c->family];
    const sl_search__inner_span *p = &s->span[traits->side];
    const sl_search__inner_target *t = &p->target[c->target];
    const double *column[SL_INNER__BASE + 2], *m = s->monomial[c->m].value;
    size_t rows = (size_t)s->rows;
    double *room = sl_arena_alloc(a, 3 * rows * sizeof *room);
    if (!room) return sl_fail_memory(rows, 3 * sizeof *room, "columns with inner constants");
    double *const own[2] = { room, room + rows }, *w = room + 2 * rows;
    sl_lsq fit;
    int n = p->base + traits->columns;
    memcpy(column, p->column, sizeof p->column);
    sl_search__inner_columns(own, c->family, &c->at, s->monomial[c->z].value,
                             &s->monomial[c->z].range, s->rows);
    for (int k = 0; k < traits->columns; k++) {
        for (int i = 0; i < s->rows; i++) own[k][i] *= m[i];
        column[p->base + k] = own[k]; // NOLINT(clang-analyzer-core.uninitialized.Assign): k < 2
    }
    for (int i = 0; i < s->rows; i++) w[i] = weight(t->transform, s->job->rows.y[i]);
    SL_TRY(sl_num_lsq_fit(&fit, coefficient, NULL, a, column, t->value, w, s->rows, n));
    c->left = part_left(s, t, column, coefficient, n);
    if (!isfinite(c->left)) c->left = INFINITY;
    return SL_OK;
}

sl_status sl_search__inner_solve(double *coefficient, sl_search__inner_candidate *c,
                                 const sl_inner *s) {
    sl_arena a = { 0 };
    sl_status st = solve(coefficient, c, s, &a);
    sl_arena_clear(&a);
    return st;
}

/* ---------------------------------------------------------------- the expression ------------ */

typedef struct formula {
    sl_writer write;
    const sl_node *e;
    int base[SL_INNER__BASE]; // constant of base column k, from 0
    bool used[SL_INNER__BASE];
} formula;

static const sl_node *undo(sl_writer *w, const sl_node *sum, sl_search__inner_transform t) {
    switch (t) {
    case SL_INNER__SQUARED: return sl_search__write_power(w, sum, (sl_rat){ 1, 2 });
    case SL_INNER__INVERTED: return sl_search__write_power(w, sum, SL_RAT(-1));
    case SL_INNER__LOGARITHM: return sl_search__write_function(w, SL_OP_EXP, sum);
    default: return sum;
    }
}

static const sl_node *write_base(formula *f, const sl_inner *s, const sl_search__inner_span *p,
                                 int k, double coefficient, bool product) {
    sl_writer *w = &f->write;
    f->base[k] = w->params;
    if (p->variable[k] < 0) {
        double sign = s->job->rows.y[0] < 0 ? -1 : 1;
        return sl_search__write_constant(w, product ? sign * exp(coefficient) : coefficient);
    }
    const sl_node *x = sl_search__write_variable(w, p->variable[k] + 1);
    if (product) return sl_search__write_real_power(w, x, coefficient);
    return sl_search__write_times(w, sl_search__write_constant(w, coefficient), x);
}

static sl_status write_formula(formula *f, const sl_inner *s, const sl_search__inner_candidate *c,
                               const double *coefficient, sl_arena *a) {
    sl_side side = sl_search__inner_traits_of[c->family].side;
    const sl_search__inner_span *p = &s->span[side];
    const sl_search__inner_monomial *z = &s->monomial[c->z], *m = &s->monomial[c->m];
    int inputs = s->job->rows.inputs;
    sl_writer *w = &f->write;
    *w = (sl_writer){ .arena = a };
    const sl_node *e =
        sl_search__inner_write(w, c->family, &c->at, sl_search__write_monomial(w, z->power, inputs),
                               &z->range, coefficient + p->base);
    e = sl_search__write_times(w, e, sl_search__write_monomial(w, m->power, inputs));
    for (int k = 0; k < p->base; k++) {
        if (!f->used[k]) continue;
        const sl_node *b = write_base(f, s, p, k, coefficient[k], side == SL_SIDE_PRODUCT);
        e = side == SL_SIDE_PRODUCT ? sl_search__write_times(w, b, e)
                                    : sl_search__write_plus(w, e, b);
    }
    f->e = undo(w, e, p->target[c->target].transform);
    return sl_search__write_status(w);
}

/* ---------------------------------------------------------------- the offer ----------------- */

static bool stop_fit(void *payload) { return sl_search__stop(payload, false); }

/* Marks base columns that the fit does not need; returns whether there were any. The factor of a
 * product stays. */
static bool leave_out(formula *f, const sl_inner *s, const sl_search__inner_candidate *c,
                      const sl_fit *fit) {
    const sl_search__inner_span *p = &s->span[sl_search__inner_traits_of[c->family].side];
    const sl_search__inner_target *t = &p->target[c->target];
    bool any = false;
    double largest = 0;
    for (int i = 0; i < s->rows; i++) largest = SL_MAX(largest, fabs(t->value[i]));
    for (int k = 0; k < p->base; k++) {
        if (!f->used[k] || (t->transform == SL_INNER__FACTORS && p->variable[k] < 0)) continue;
        double value = fabs(fit->value[f->base[k]]), most = 0;
        for (int i = 0; i < s->rows; i++) most = SL_MAX(most, fabs(p->column[k][i]));
        if (value * most < NOTHING * largest || value < INSIGNIFICANT * fit->error[f->base[k]])
            f->used[k] = false, any = true;
    }
    return any;
}

/* Rounds the phase of a wave to a quarter turn where the fit allows it: sin or cos. */
static bool round_phase(sl_search__inner_candidate *c, const sl_inner *s, const sl_fit *fit) {
    if (sl_search__inner_traits_of[c->family].columns < 2 || c->at.quarter) return false;
    static const double QUARTER = 1.57079632679489661923;
    double phase = fit->value[SL_INNER__PHASE], whole = rint(phase / QUARTER);
    double off = fabs(phase - whole * QUARTER);
    if (!(off < NOTHING || off < INSIGNIFICANT * fit->error[SL_INNER__PHASE])) return false;
    if (!(s->job->o->ops >> SL_OPERATOR_COS & 1)) return false;
    c->at.quarter = (int)(whole - 4 * floor(whole / 4));
    if (c->at.quarter == 0) c->at.quarter = 4;
    return true;
}

static sl_status offer(bool *exact, const sl_inner *s, const sl_search__inner_candidate *c,
                       bool noisy, sl_arena *a) {
    sl_search__job *j = s->job;
    const sl_refine_options o = {
        .evaluations = 100, .restarts = -1, .stop = stop_fit, .payload = j
    };
    double coefficient[SL_INNER__BASE + 2];
    sl_search__inner_candidate copy = *c;
    formula f;
    sl_fit fit;
    bool kept, steady;
    SL_TRY(sl_search__inner_solve(coefficient, &copy, s));
    for (int k = 0; k < SL_INNER__BASE; k++) f.used[k] = true;
    for (int pass = 0; pass < 3; pass++) {
        SL_TRY(write_formula(&f, s, &copy, coefficient, a));
        if (f.write.params > SL_FIT_MAX_PARAMS) return SL_OK;
        SL_TRY(sl_fit_constants(&fit, a, f.e, f.write.params, f.write.value, &j->rows, &o));
        if (!isfinite(fit.r2)) return SL_OK;
        bool phase = round_phase(&copy, s, &fit);
        if (!leave_out(&f, s, c, &fit) && !phase) break;
    }
    SL_TRY(sl_search__offer(exact, j, fit.expr, fit.value, fit.params, "inner", s->level));
    if (*exact || !noisy) return SL_OK;
    SL_TRY(sl_fit_is_steady(&steady, a, &fit, &j->rows));
    if (!steady) return SL_OK; // constants that diverge: u is not the function
    return sl_search__offer_noisy(&kept, j, fit.expr, fit.value, fit.params, "inner", s->level);
}

sl_status sl_search__inner_offer(bool *exact, const sl_inner *s,
                                 const sl_search__inner_candidate *c, bool noisy) {
    sl_arena a = { 0 };
    *exact = false;
    sl_status st = offer(exact, s, c, noisy, &a);
    sl_arena_clear(&a);
    return st;
}
