/* units - which dimensions the constants of a formula must have.
 *
 * The dimension of every part of a formula is linear in those of its constants: products add them,
 * powers multiply them. Terms of a sum must have the same one, arguments of functions none, and the
 * whole the target's; each condition is a linear equation
 *
 *     sum_k coefficient_k * unknown_k + known = 0        (known: 7 numbers, one for each base unit)
 *
 * whose coefficients are the same for all base units. They are solved by elimination one by one; an
 * equation left without unknowns that is not 0 is a contradiction. Unknown are the constants, the
 * columns without units, and powers with a fitted exponent. */
#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"

enum { BASES = 7, FRESH_MAX = 16 };
enum { INPUTS_AT = SL_FIT_MAX_PARAMS, FRESH_AT = INPUTS_AT + SL_DATA_MAX_INPUTS };
enum { UNKNOWNS = FRESH_AT + FRESH_MAX };

static const double NOTHING = 1e-9; // exponents are small fractions

/* A dimension in terms of the unknowns. */
typedef struct linear {
    double coef[UNKNOWNS], known[BASES];
} linear;

typedef struct solver {
    const sl_units *units;
    sl_arena *scratch;
    linear *pivot[UNKNOWNS]; // the equation that gives this unknown, with coefficient 1; or NULL
    int fresh;
    bool contradiction;
} solver;

static void add(linear *a, const linear *b, double factor) {
    for (int i = 0; i < UNKNOWNS; i++) a->coef[i] += factor * b->coef[i];
    for (int i = 0; i < BASES; i++) a->known[i] += factor * b->known[i];
}

static linear *new_linear(solver *s) {
    linear *l = sl_arena_alloc(s->scratch, sizeof *l);
    if (l) memset(l, 0, sizeof *l);
    return l;
}

static sl_status no_memory(void) {
    return sl_fail_memory(UNKNOWNS, sizeof(linear), "units of a formula");
}

static void put_dimension(linear *l, sl_dimension d) {
    for (int i = 0; i < BASES; i++) l->known[i] = (double)d.power[i] / SL_DIMENSION_PART;
}

/* ---------------------------------------------------------------- equations ----------------- */

/* Adds the equation l = 0, dimensionless. Takes l. */
static void demand_none(solver *s, linear *l) {
    for (int k = 0; k < UNKNOWNS; k++)
        if (s->pivot[k] && l->coef[k] != 0) add(l, s->pivot[k], -l->coef[k]);
    int most = 0;
    for (int k = 1; k < UNKNOWNS; k++)
        if (fabs(l->coef[k]) > fabs(l->coef[most])) most = k;
    if (fabs(l->coef[most]) <= NOTHING) {
        for (int i = 0; i < BASES; i++)
            s->contradiction = s->contradiction || fabs(l->known[i]) > NOTHING;
        return;
    }
    const double by = l->coef[most];
    for (int k = 0; k < UNKNOWNS; k++)
        l->coef[k] = fabs(l->coef[k]) <= NOTHING ? 0 : l->coef[k] / by;
    for (int i = 0; i < BASES; i++) l->known[i] /= by;
    for (int k = 0; k < UNKNOWNS; k++) // the other equations lose it
        if (s->pivot[k] && s->pivot[k]->coef[most] != 0)
            add(s->pivot[k], l, -s->pivot[k]->coef[most]);
    s->pivot[most] = l;
}

static sl_status demand_same(solver *s, const linear *a, const linear *b) {
    linear *l = new_linear(s);
    if (!l) return no_memory();
    add(l, a, 1);
    add(l, b, -1);
    demand_none(s, l);
    return SL_OK;
}

/* ---------------------------------------------------------------- the formula --------------- */

static sl_status dimension_of(linear **out, solver *s, const sl_node *e);

static sl_status of_sum(linear **out, solver *s, const sl_node *e) {
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        linear *term;
        SL_TRY(dimension_of(&term, s, c));
        if (i > 0)
            SL_TRY(demand_same(s, *out, term));
        else
            *out = term;
    }
    return SL_OK;
}

static sl_status of_product(linear **out, solver *s, const sl_node *e) {
    const sl_node *c = e + 1;
    *out = new_linear(s);
    if (!*out) return no_memory();
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        linear *factor;
        SL_TRY(dimension_of(&factor, s, c));
        add(*out, factor, 1);
    }
    return SL_OK;
}

static bool is_none(const solver *s, const linear *l) {
    linear rest = *l;
    for (int k = 0; k < UNKNOWNS; k++)
        if (s->pivot[k] && rest.coef[k] != 0) add(&rest, s->pivot[k], -rest.coef[k]);
    for (int k = 0; k < UNKNOWNS; k++)
        if (fabs(rest.coef[k]) > NOTHING) return false;
    for (int i = 0; i < BASES; i++)
        if (fabs(rest.known[i]) > NOTHING) return false;
    return true;
}

/* A power of a number is a number. The power of a length with a fitted exponent is a new unknown;
 * with a variable exponent the base must be a number. */
static sl_status of_power(linear **out, solver *s, const sl_node *e) {
    const sl_node *exponent = sl_expr_next(e + 1);
    linear *base, *above;
    SL_TRY(dimension_of(&base, s, e + 1));
    *out = new_linear(s);
    if (!*out) return no_memory();
    if (exponent->op == SL_OP_NUM) {
        add(*out, base, sl_expr_rat_double(sl_expr_num_value(exponent)));
        return SL_OK;
    }
    SL_TRY(dimension_of(&above, s, exponent));
    demand_none(s, above);
    if (is_none(s, base)) return SL_OK;
    if (sl_expr_max_var(exponent) == 0 && s->fresh < FRESH_MAX)
        (*out)->coef[FRESH_AT + s->fresh++] = 1;
    else
        demand_none(s, base);
    return SL_OK;
}

static sl_status of_function(linear **out, solver *s, const sl_node *e) {
    const sl_node *c = e + 1;
    *out = new_linear(s);
    if (!*out) return no_memory();
    const bool keeps = SL_FIT__KEEPS_UNIT(e->op);
    for (int i = 0; i < e->arg && e->len > 1; i++, c = sl_expr_next(c)) {
        linear *operand;
        SL_TRY(dimension_of(&operand, s, c));
        if (keeps)
            add(*out, operand, 1);
        else
            demand_none(s, operand);
    }
    return SL_OK;
}

static sl_status of_leaf(linear **out, solver *s, const sl_node *e) {
    linear *l = *out = new_linear(s);
    if (!l) return no_memory();
    if (e->op == SL_OP_PAR) l->coef[e->arg - 1] = 1;
    if (e->op != SL_OP_VAR) return SL_OK;
    const int v = e->arg - 1;
    if (s->units->input_known[v])
        put_dimension(l, s->units->input[v]);
    else
        l->coef[INPUTS_AT + v] = 1;
    return SL_OK;
}

static sl_status dimension_of(linear **out, solver *s, const sl_node *e) {
    switch ((sl_op)e->op) {
    case SL_OP_NUM:
    case SL_OP_PAR:
    case SL_OP_VAR: return of_leaf(out, s, e);
    case SL_OP_ADD: return of_sum(out, s, e);
    case SL_OP_MUL: return of_product(out, s, e);
    case SL_OP_POW:
    case SL_OP_RAISE: return of_power(out, s, e);
    default: return of_function(out, s, e);
    }
}

/* ---------------------------------------------------------------- the answer ---------------- */

/* l with known values inserted and free ones dimensionless. False: not multiples of 1/60. */
static bool solve(sl_dimension *out, const solver *s, const linear *l) {
    linear rest = *l;
    *out = (sl_dimension){ { 0 } };
    for (int k = 0; k < UNKNOWNS; k++)
        if (s->pivot[k] && rest.coef[k] != 0) add(&rest, s->pivot[k], -rest.coef[k]);
    for (int i = 0; i < BASES; i++) {
        const double part = rest.known[i] * SL_DIMENSION_PART, whole = rint(part);
        if (!(fabs(part - whole) < 1e-6) || fabs(whole) > INT16_MAX) return false;
        out->power[i] = (int16_t)whole;
    }
    return true;
}

static sl_status fill(sl_fit_dimensions *out, solver *s, const sl_node *e) {
    linear *whole, *target = new_linear(s);
    SL_TRY(dimension_of(&whole, s, e));
    if (!target) return no_memory();
    put_dimension(target, s->units->target);
    if (s->units->target_known) SL_TRY(demand_same(s, whole, target));
    out->homogeneous = !s->contradiction && solve(&out->result, s, whole);
    for (int k = 0; k < SL_FIT_MAX_PARAMS && out->homogeneous; k++) {
        memset(target, 0, sizeof *target);
        target->coef[k] = 1;
        out->homogeneous = solve(&out->constant[k], s, target);
    }
    return SL_OK;
}

sl_status sl_fit_units(sl_fit_dimensions *out, sl_arena *scratch, const sl_node *e,
                       const sl_units *units) {
    SL_ASSERT(sl_expr_max_par(e) <= SL_FIT_MAX_PARAMS);
    SL_ASSERT(sl_expr_max_var(e) <= SL_DATA_MAX_INPUTS);
    const size_t mark = sl_arena_mark(scratch);
    solver s = { .units = units, .scratch = scratch };
    *out = (sl_fit_dimensions){ .homogeneous = false };
    const sl_status st = fill(out, &s, e);
    sl_arena_rewind(scratch, mark);
    return st;
}
