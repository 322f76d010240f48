/* spans_verify - a hit, fitted on all rows that are searched, as a formula.
 *
 *     products   T(y) = c prod x_i^a_i prod f_j^p_j       linear in logarithms
 *     sums       T(y) = sum b_i monomial_i + sum c_j f_j
 *
 * Least squares gives exponents or coefficients. Exponents that are small fractions become so, and
 * the others are fitted again; terms without effect are dropped. The result is written with the
 * transform of y inverted, and offered. */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "search/spans_impl.h"
#include "search/write.h"

/* Largest residual of a formula: of a logarithm, and of a sum relative to its largest value. */
static const double LOG_RESIDUAL = 1e-7, SUM_RESIDUAL = 1e-7;
/* A summand below this part of the largest value in all rows is rounding. */
static const double NOTHING = 1e-10;

enum { COLUMNS = SL_SPANS__COLUMNS, VERIFIED_MAX = 4000 };

/* A hit as a least squares problem. */
typedef struct system {
    int n, span; // columns; of them of the span, from the front
    double *column[COLUMNS];
    double *y, *weight;
    const sl_node *term[SL_SPANS__TERMS];
    bool exponent[SL_SPANS__TERMS];
    double coefficient[COLUMNS];
    sl_rat exact[COLUMNS];  // products: the exponent as a fraction,
    bool is_exact[COLUMNS]; // if it is one
} system;

/* ---------------------------------------------------------------- columns ------------------- */

static sl_status values_of(double *out, sl_spans *s, sl_arena *a, const sl_node *e) {
    const sl_dataset *p = &s->job->rows;
    return sl_expr_eval(out, a, e, p->x, p->rows, NULL);
}

/* log|v|; rows where that is not finite get weight 0. */
static void take_logarithms(double *v, double *weight, int64_t n) {
    for (int64_t i = 0; i < n; i++) v[i] = fabs(v[i]);
    sl_log_array(v, v, (int)n);
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(v[i])) v[i] = 0, weight[i] = 0;
}

static void span_columns(sl_spans *s, system *sys, const sl_search__spans_span *span) {
    const sl_dataset *p = &s->job->rows;
    for (int i = 0; i < span->dim; i++) {
        double *c = sys->column[i];
        if (s->side == SL_SIDE_SUM) {
            sl_search__spans_monomial(c, span->power[i], p->x, p->inputs, p->rows);
        } else {
            for (int64_t k = 0; k < p->rows; k++) c[k] = i ? p->x[i - 1][k] : 1;
            if (i) take_logarithms(c, sys->weight, p->rows);
        }
    }
    sys->n = sys->span = span->dim;
}

static sl_status term_columns(sl_spans *s, system *sys, sl_arena *a,
                              const sl_search__spans_hit *hit) {
    int64_t n = s->job->rows.rows;
    for (int i = 0; i < hit->n; i++) {
        double *c = sys->column[sys->n++];
        SL_TRY(sl_search__store_expr(&sys->term[i], a, s->store, hit->term[i]));
        const sl_node *e = sys->term[i];
        sys->exponent[i] = s->side == SL_SIDE_PRODUCT && e->op == SL_OP_EXP;
        if (sys->exponent[i]) e++; // its argument
        SL_TRY(values_of(c, s, a, e));
        if (s->side == SL_SIDE_PRODUCT && !sys->exponent[i]) take_logarithms(c, sys->weight, n);
    }
    return SL_OK;
}

/* *factor := the target's factor at all rows and as an expression; NULL for 1. */
static sl_status factor_of(const sl_node **factor, double *value, sl_spans *s, sl_arena *a,
                           const sl_search__spans_target *t) {
    *factor = NULL;
    if (t->factor == SL_SPANS__ONE) return SL_OK;
    if (t->factor == SL_SPANS__FUNCTION || t->factor == SL_SPANS__ELEMENTARY) {
        SL_TRY(sl_search__store_expr(factor, a, s->store, sl_search__spans_factor_term(s, t)));
    } else {
        sl_writer w = { .arena = a };
        const int8_t *row = t->factor == SL_SPANS__ROW
                                ? sl_search__store_row(s->store, t->index)
                                : sl_search__store_monomial_exponents(s->store, t->index);
        *factor = sl_search__write_halves(&w, row, s->job->rows.inputs);
        SL_TRY(sl_search__write_status(&w));
    }
    return values_of(value, s, a, *factor);
}

/* ---------------------------------------------------------------- least squares ------------- */

static sl_status solve(bool *fits, system *sys, sl_arena *a, int64_t rows, double limit) {
    sl_lsq lsq;
    SL_TRY(sl_num_lsq_fit(&lsq, sys->coefficient, NULL, a, (const double *const *)sys->column,
                          sys->y, sys->weight, (int)rows, sys->n));
    double worst = 0;
    *fits = false;
    for (int64_t k = 0; k < rows; k++) {
        if (sys->weight[k] == 0) continue;
        double r = sys->y[k];
        for (int i = 0; i < sys->n; i++) r -= sys->coefficient[i] * sys->column[i][k];
        if (!(fabs(r) <= limit)) return SL_OK;
        worst = SL_MAX(worst, fabs(r));
    }
    *fits = true;
    return SL_OK;
}

static bool near_fraction(sl_rat *out, double x) {
    for (int d = 1; d <= 6; d++) {
        double n = nearbyint(x * d);
        if (fabs(x - n / d) < 2e-7 && fabs(n) < 20 * d) return sl_expr_rat_make(out, (int64_t)n, d);
    }
    return false;
}

/* Rounds exponents to small fractions where they are close; the others are fitted to the rest of
 * y. */
static sl_status snap_exponents(system *sys, sl_arena *a, int64_t rows) {
    system rest = *sys;
    int place[COLUMNS] = { 0 };
    bool fits;
    rest.n = 0;
    size_t bytes = (size_t)rows * sizeof(double);
    double *left = sl_arena_alloc(a, bytes);
    if (!left) return sl_fail_memory((size_t)rows, sizeof *left, "a formula");
    memcpy(left, sys->y, bytes);
    for (int i = 0; i < sys->n; i++) {
        bool power = i > 0 && (i < sys->span || !sys->exponent[i - sys->span]);
        sys->is_exact[i] = power && near_fraction(&sys->exact[i], sys->coefficient[i]);
        if (!sys->is_exact[i]) {
            rest.column[rest.n] = sys->column[i];
            place[rest.n++] = i;
            continue;
        }
        sys->coefficient[i] = sl_expr_rat_double(sys->exact[i]);
        for (int64_t k = 0; k < rows; k++) left[k] -= sys->coefficient[i] * sys->column[i][k];
    }
    rest.y = left;
    SL_TRY(solve(&fits, &rest, a, rows, INFINITY));
    for (int i = 0; i < rest.n; i++) sys->coefficient[place[i]] = rest.coefficient[i];
    return SL_OK;
}

/* ---------------------------------------------------------------- writing ------------------- */

/* -1 or 1 where all values have that sign, else 0. */
static int sign_of(const double *v, int64_t n) {
    bool plus = true, minus = true;
    for (int64_t i = 0; i < n; i++) plus &= v[i] > 0, minus &= v[i] < 0;
    return plus ? 1 : minus ? -1 : 0;
}

/* base^exponent; NULL where it is not real. */
static sl_status write_power(const sl_node **out, sl_writer *w, sl_spans *s, const system *sys,
                             int i, const sl_node *base) {
    const sl_dataset *p = &s->job->rows;
    double *v = sl_arena_alloc(w->arena, (size_t)p->rows * sizeof *v);
    if (!v) return sl_fail_memory((size_t)p->rows, sizeof *v, "a formula");
    SL_TRY(values_of(v, s, w->arena, base));
    *out = NULL;
    if (!(sys->is_exact[i] && sl_expr_rat_is_int(sys->exact[i]))) {
        int sign = sign_of(v, p->rows);
        if (sign == 0) return SL_OK;
        if (sign < 0) base = sl_search__write_times(w, sl_search__write_int(w, -1), base);
    }
    *out = sys->is_exact[i] ? sl_search__write_power(w, base, sys->exact[i])
                            : sl_search__write_real_power(w, base, sys->coefficient[i]);
    return SL_OK;
}

/* prod x_i^a_i prod f_j^p_j, without the factor c; NULL where it is not real. */
static sl_status write_product(const sl_node **out, sl_writer *w, sl_spans *s, const system *sys) {
    const sl_node *product = sl_search__write_int(w, 1), *factor;
    *out = NULL;
    for (int i = 1; i < sys->n; i++) {
        if (sys->is_exact[i] && sl_expr_rat_is(sys->exact[i], 0)) continue;
        int t = i - sys->span;
        if (t >= 0 && sys->exponent[t]) {
            const sl_node *scaled = sl_search__write_times(
                w, sl_search__write_constant(w, sys->coefficient[i]), sys->term[t] + 1);
            factor = sl_search__write_function(w, SL_OP_EXP, scaled);
        } else {
            SL_TRY(write_power(&factor, w, s, sys, i,
                               t >= 0 ? sys->term[t] : sl_search__write_variable(w, i)));
            if (!factor) return sl_search__write_status(w);
        }
        product = sl_search__write_times(w, product, factor);
    }
    *out = product;
    return sl_search__write_status(w);
}

/* c, the sign included, from the target and the product without it. */
static sl_status scale_product(double *c, sl_spans *s, sl_writer *w, const sl_node *product,
                               const double *target, double size) {
    const sl_dataset *p = &s->job->rows;
    double *v = sl_arena_alloc(w->arena, (size_t)p->rows * sizeof *v);
    if (!v) return sl_fail_memory((size_t)p->rows, sizeof *v, "a formula");
    SL_TRY(sl_expr_eval(v, w->arena, product, p->x, p->rows, w->value));
    int64_t k = 0;
    while (k < p->rows && !(fabs(v[k]) > 0 && isfinite(v[k]))) k++;
    *c = k < p->rows && target[k] / v[k] < 0 ? -size : size;
    return SL_OK;
}

static const sl_node *write_sum(sl_writer *w, sl_spans *s, const system *sys, int span) {
    const sl_dataset *p = &s->job->rows;
    const sl_node *sum = NULL;
    double largest = 0;
    for (int64_t k = 0; k < p->rows; k++) largest = SL_MAX(largest, fabs(sys->y[k]));
    for (int i = 0; i < sys->n; i++) {
        double most = 0;
        for (int64_t k = 0; k < p->rows; k++)
            most = SL_MAX(most, fabs(sys->coefficient[i] * sys->column[i][k]));
        if (most < NOTHING * largest) continue;
        const sl_node *e = i < sys->span
                               ? sl_search__write_monomial(w, s->span[span].power[i], p->inputs)
                               : sys->term[i - sys->span];
        e = sl_search__write_times(w, sl_search__write_constant(w, sys->coefficient[i]), e);
        sum = sum ? sl_search__write_plus(w, sum, e) : e;
    }
    return sum ? sum : sl_search__write_int(w, 0);
}

/* ((1 - e)/(1 + e))^power. */
static const sl_node *invert_ratio(sl_writer *w, const sl_node *e, int power) {
    const sl_node *minus = sl_search__write_times(w, sl_search__write_int(w, -1), e),
                  *one = sl_search__write_int(w, 1);
    const sl_node *top = sl_search__write_plus(w, one, minus),
                  *bottom = sl_search__write_plus(w, one, e);
    e = sl_search__write_times(w, top, sl_search__write_power(w, bottom, SL_RAT(-1)));
    return power == 1 ? e : sl_search__write_power(w, e, SL_RAT(power));
}

/* y from e = T(y). */
static const sl_node *invert_transform(sl_writer *w, sl_spans *s, const sl_search__spans_target *t,
                                       const sl_node *e, const sl_node *factor) {
    static const sl_op inverse[] = {
        [SL_SPANS__SIN] = SL_OP_ASIN, [SL_SPANS__COS] = SL_OP_ACOS, [SL_SPANS__TAN] = SL_OP_ATAN,
        [SL_SPANS__EXP] = SL_OP_LOG,  [SL_SPANS__LOG] = SL_OP_EXP,
    };
    if (t->kind == SL_SPANS__RATIO) return invert_ratio(w, e, t->power);
    if (t->kind == SL_SPANS__LEVEL) {
        const sl_node *scale =
            sl_search__write_constant(w, 1 / sl_search__spans_scale(t->constant));
        e = sl_search__write_times(w, scale, sl_search__write_function(w, SL_OP_LOG, e));
        return factor ? sl_search__write_plus(w, e, factor) : e;
    }
    if (t->kind == SL_SPANS__REST) {
        e = sl_search__write_times(w, sl_search__write_int(w, -1),
                                   sl_search__write_function(w, SL_OP_EXP, e));
        e = sl_search__write_plus(w, sl_search__write_int(w, 1), e);
        return factor ? sl_search__write_times(w, e, sl_search__write_power(w, factor, SL_RAT(-1)))
                      : e;
    }
    if (t->kind > SL_SPANS__RATIO) {
        e = sl_search__write_function(w, inverse[t->kind], e);
        return factor ? sl_search__write_times(w, e, sl_search__write_power(w, factor, SL_RAT(-1)))
                      : e;
    }
    if (t->kind == SL_SPANS__LESS) {
        const sl_node *less =
            sl_search__write_constant(w, sl_search__store_get_constant(t->constant));
        e = sl_search__write_plus(w, e, factor ? sl_search__write_times(w, less, factor) : less);
    } else if (factor) {
        e = sl_search__write_times(w, e, sl_search__write_power(w, factor, SL_RAT(-1)));
    }
    if (t->power == 1) return e;
    if (t->power == -1) return sl_search__write_power(w, e, SL_RAT(-1));
    e = sl_search__write_power(w, e, (sl_rat){ t->power > 0 ? 1 : -1, 2 });
    if (sign_of(s->job->rows.y, s->job->rows.rows) < 0)
        e = sl_search__write_times(w, sl_search__write_int(w, -1), e);
    return e;
}

/* ---------------------------------------------------------------- the whole ----------------- */

static sl_status write_formula(const sl_node **out, sl_writer *w, sl_spans *s, const system *sys,
                               const sl_search__spans_hit *hit, const double *target) {
    if (s->side == SL_SIDE_SUM) {
        *out = write_sum(w, s, sys, hit->span);
        return sl_search__write_status(w);
    }
    double c;
    const sl_node *product;
    *out = NULL;
    SL_TRY(write_product(&product, w, s, sys));
    if (!product) return SL_OK;
    SL_TRY(scale_product(&c, s, w, product, target, sl_exp(sys->coefficient[0])));
    *out = sl_search__write_times(w, sl_search__write_constant(w, c), product);
    return sl_search__write_status(w);
}

static sl_status open_system(system *sys, sl_spans *s, sl_arena *a, int columns) {
    size_t rows = (size_t)s->job->rows.rows;
    double *room = sl_arena_alloc(a, rows * (size_t)(columns + 2) * sizeof *room);
    if (!room) return sl_fail_memory(rows, (size_t)(columns + 2) * sizeof *room, "a formula");
    for (int i = 0; i < columns; i++) sys->column[i] = room + (size_t)i * rows;
    sys->y = room + (size_t)columns * rows;
    sys->weight = sys->y + rows;
    for (size_t k = 0; k < rows; k++) sys->weight[k] = 1;
    return SL_OK;
}

static sl_status fit_and_offer(sl_spans *s, sl_arena *a, const sl_search__spans_hit *hit) {
    const sl_search__spans_span *span = &s->span[hit->span];
    const sl_search__spans_target *t = &s->target[hit->target];
    int64_t rows = s->job->rows.rows;
    system sys = { .n = 0 };
    sl_writer w = { .arena = a };
    const sl_node *factor, *e;
    bool fits, kept;
    int columns = span->dim + hit->n;
    // with `few` no row is spare: exponents become exact numbers, which the rows verify
    if (columns > COLUMNS || columns > (s->few ? rows : rows - 2)) return SL_OK;
    SL_TRY(open_system(&sys, s, a, columns));
    double *target = sl_arena_alloc(a, (size_t)rows * sizeof *target);
    if (!target) return sl_fail_memory((size_t)rows, sizeof *target, "a formula");
    SL_TRY(factor_of(&factor, target, s, a, t));
    if (!sl_search__spans_transform(sys.y, t, s->job->rows.y, factor ? target : NULL, rows))
        return SL_OK;
    memcpy(target, sys.y, (size_t)rows * sizeof *target);
    if (s->side == SL_SIDE_PRODUCT) take_logarithms(sys.y, sys.weight, rows);
    span_columns(s, &sys, span);
    SL_TRY(term_columns(s, &sys, a, hit));
    double limit = LOG_RESIDUAL;
    if (s->side == SL_SIDE_SUM) {
        double most = 0;
        for (int64_t k = 0; k < rows; k++) most = SL_MAX(most, fabs(sys.y[k]));
        limit = SUM_RESIDUAL * most;
    }
    SL_TRY(solve(&fits, &sys, a, rows, limit));
    if (!fits) return SL_OK;
    if (s->side == SL_SIDE_PRODUCT) SL_TRY(snap_exponents(&sys, a, rows));
    SL_TRY(write_formula(&e, &w, s, &sys, hit, target));
    if (!e) return SL_OK;
    e = invert_transform(&w, s, t, e, factor);
    SL_TRY(sl_search__write_status(&w));
    if (w.params > SL_FIT_MAX_PARAMS) return SL_OK;
    SL_TRY(sl_search__offer(&kept, s->job, e, w.value, w.params, s->name, s->level));
    if (kept && !s->found) s->found = true, s->found_at = s->terms;
    return SL_OK;
}

sl_status sl_search__spans_verify(sl_spans *s, const sl_search__spans_hit *hit) {
    if (s->verified++ >= VERIFIED_MAX) return SL_OK;
    size_t mark = sl_arena_mark(&s->arena);
    sl_status st = fit_and_offer(s, &s->arena, hit);
    sl_arena_rewind(&s->arena, mark);
    return sl_search__skip_overflow(st);
}
