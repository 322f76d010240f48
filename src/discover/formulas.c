/* formulas - formulas of the search as candidates, in a common form.
 *
 * They are fitted and snapped already. Two things are done to their powers. A constant under a
 * power moves in front of it: sqrt(4.02 l) is 2.006 sqrt(l). And a formula with fitted exponents
 * gets a second version with the nearest simple fractions, its other constants fitted again. Where
 * errors are not quite random, as for the orbits of planets, a^1.49968 has smaller residuals than
 * a^(3/2) but more bits. */
#include <math.h>

#include "discover/discover_impl.h"

enum { DENOMINATOR_MAX = 4, EVALUATIONS = 60 };

static const double NEAR = 0.02; // an exponent to its fraction

/* ---------------------------------------------------------------- one candidate ------------- */

/* Values and errors are copied; expr lies in the pool's arena. */
static sl_status add(sl_discover__pool *p, const sl_candidate *like, const sl_node *expr,
                     const double *value, const double *error, int params) {
    sl_discover__work w = { .c = *like };
    w.c.expr = expr;
    w.c.params = params;
    SL_TRY(sl_discover__form(&w.form, p->arena, expr));
    SL_TRY(sl_discover__neat(&w.c.expr, p->arena, w.form));
    w.c.size = sl_expr_nodes(w.c.expr);
    if (isnan(w.c.r2)) w.c.state = SL_CANDIDATE_UNREAL;
    SL_TRY(sl_discover__copy(&w.c.value, p->arena, value, params));
    SL_TRY(sl_discover__copy(&w.c.error, p->arena, error, params));
    w.start = w.c.value;
    SL_TRY(sl_discover__reserve(p, 1));
    p->work[p->count++] = w;
    return SL_OK;
}

/* ---------------------------------------------------------------- fractions ----------------- */

/* The fraction of least denominator that is near; false: there is none. */
static bool find_fraction(sl_rat *out, double x) {
    for (int den = 1; den <= DENOMINATOR_MAX; den++) {
        const double num = round(x * den);
        if (fabs(x - num / den) > NEAR || fabs(num) > 100) continue;
        return sl_expr_rat_make(out, (int64_t)num, den);
    }
    return false;
}

/* known[k], fraction[k] := exponents that are constants with a fraction near; returns how many. */
static int find_exponents(sl_rat *fraction, bool *known, const sl_node *e, const double *value) {
    const sl_node *end = e + e->len;
    int n = 0;
    for (const sl_node *at = e; at < end; at += sl_expr_step(at)) {
        if (at->op != SL_OP_RAISE) continue;
        const sl_node *x = sl_expr_next(at + 1);
        if (x->op != SL_OP_PAR || known[x->arg - 1]) continue;
        known[x->arg - 1] = find_fraction(&fraction[x->arg - 1], value[x->arg - 1]);
        n += known[x->arg - 1];
    }
    return n;
}

/* *out := the twin with fractions for exponents, fitted; expr NULL: there is none. */
static sl_status make_twin(sl_fit *out, sl_discover__pool *p, const sl_node *e, const double *value,
                           int params) {
    bool known[SL_FIT_MAX_PARAMS] = { false };
    sl_rat fraction[SL_FIT_MAX_PARAMS];
    double start[SL_FIT_MAX_PARAMS];
    const sl_node *bound;
    int left = 0;
    *out = (sl_fit){ .expr = NULL };
    if (params > SL_FIT_MAX_PARAMS || find_exponents(fraction, known, e, value) == 0) return SL_OK;
    const sl_status st = sl_expr_bind(&bound, p->arena, e, fraction, known);
    if (st == SL_EOVERFLOW || st == SL_ELIMIT) return SL_OK;
    SL_TRY(st);
    for (int k = 0; k < params; k++)
        if (!known[k]) start[left++] = value[k];
    if (sl_expr_max_par(bound) != left) return SL_OK; // tidying took one away
    const sl_refine_options o = { .evaluations = EVALUATIONS, .restarts = -1 };
    return sl_fit_refine(out, p->arena, bound, start, &p->rows.fit, &o);
}

static sl_status add_twin(sl_discover__pool *p, const sl_candidate *like, const sl_fit *f) {
    sl_fit twin;
    SL_TRY(make_twin(&twin, p, f->expr, f->value, f->params));
    if (!twin.expr || isnan(twin.r2)) return SL_OK;
    sl_candidate c = *like;
    c.r2 = c.r2_proposed = twin.r2;
    c.state = SL_CANDIDATE_SNAPPED;
    c.exact = false;
    return add(p, &c, twin.expr, twin.value, twin.error, twin.params);
}

/* ---------------------------------------------------------------- constants in front -------- */

static int count_constant(const sl_node *e, int number) {
    const sl_node *end = e + e->len;
    int n = 0;
    for (const sl_node *at = e; at < end; at += sl_expr_step(at))
        n += at->op == SL_OP_PAR && at->arg == number;
    return n;
}

/* Where f is (c u)^x with a number x: c^x u^x, with c^x the constant. */
static sl_status move_constant(sl_fit *f, sl_arena *a) {
    const sl_node *e = f->expr;
    if (e->op != SL_OP_POW || e[1].op != SL_OP_MUL || sl_expr_next(e + 1)->op != SL_OP_NUM)
        return SL_OK;
    const sl_node *c = e + 2, *moved[2] = { NULL, NULL };
    const sl_rat exponent = sl_expr_num_value(sl_expr_next(e + 1));
    for (int i = 0; i < e[1].arg && !moved[0]; i++, c = sl_expr_next(c))
        if (c->op == SL_OP_PAR) moved[0] = c;
    if (!moved[0]) return SL_OK;
    const int k = moved[0]->arg - 1;
    const double x = sl_expr_rat_double(exponent), power = pow(f->value[k], x);
    if (count_constant(e, k + 1) != 1 || !(f->value[k] > 0) || !isfinite(power)) return SL_OK;
    const sl_node *factors[SL_DATA_MAX_INPUTS + 1];
    int n = 0;
    c = e + 2;
    for (int i = 0; i < e[1].arg; i++, c = sl_expr_next(c)) {
        if (c == moved[0]) continue;
        if (n == SL_LEN(factors)) return SL_OK;
        factors[n++] = c;
    }
    const sl_node *rest = n == 1 ? factors[0] : sl_expr_nary(a, SL_OP_MUL, factors, n);
    moved[1] = rest ? sl_expr_pow(a, rest, exponent) : NULL;
    const sl_node *whole = moved[1] ? sl_expr_nary(a, SL_OP_MUL, moved, 2) : NULL;
    if (!whole) return sl_fail_memory(1, sizeof *whole, "candidates");
    SL_TRY(sl_expr_tidy(&f->expr, a, whole));
    f->error[k] *= fabs(x * power / f->value[k]);
    f->value[k] = power;
    return SL_OK;
}

/* *out := a fit of our own: its values and errors may be changed. */
static sl_status copy_fit(sl_fit *out, sl_arena *a, const sl_fit *f) {
    const double *value, *error;
    *out = *f;
    out->expr = sl_expr_copy(a, f->expr);
    if (!out->expr) return sl_fail_memory(1, sizeof *f->expr, "candidates");
    SL_TRY(sl_discover__copy(&value, a, f->value, f->params));
    SL_TRY(sl_discover__copy(&error, a, f->error, f->params));
    out->value = (double *)value; // ours
    out->error = (double *)error;
    return SL_OK;
}

/* ---------------------------------------------------------------- all of them --------------- */

sl_status sl_discover__take_formulas(sl_discover__pool *p, const sl_search_formula *f, int64_t n) {
    for (int64_t i = 0; i < n; i++, f++) {
        const sl_candidate c = { .state = f->fit.params > 0 ? SL_CANDIDATE_REFINED
                                                            : SL_CANDIDATE_SNAPPED,
                                 .source = SL_SOURCE_SEARCH,
                                 .method = f->method,
                                 .level = f->level,
                                 .number = i,
                                 .same_as = -1,
                                 .times = 1,
                                 .log_prob = -INFINITY,
                                 .r2 = f->fit.r2,
                                 .r2_proposed = f->fit.r2,
                                 .r2_holdout = NAN,
                                 .rms = NAN,
                                 .bits = SL_DISCOVER__NO_BITS,
                                 .evidence = NAN,
                                 .exact = f->exact,
                                 .seconds = f->seconds };
        sl_fit own;
        SL_TRY(copy_fit(&own, p->arena, &f->fit));
        SL_TRY(move_constant(&own, p->arena));
        SL_TRY(add(p, &c, own.expr, own.value, own.error, own.params));
        SL_TRY(add_twin(p, &c, &own));
    }
    return SL_OK;
}
