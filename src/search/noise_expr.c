/* A fitted model as an expression. Coefficients that were chosen are exact numbers in it, the
 * others free constants. */
#include <math.h>
#include <stdlib.h>

#include "search/noise_impl.h"

typedef struct builder {
    sl_arena *a;
    const sl_search__noise_parts *p;
    const sl_search__noise_outcome *o;
    const sl_search__noise_span *s;
    double *value; // of the free constants
    int params;
    const sl_node *part[SL_NOISE__COLUMNS + 4]; // factors or summands
    int parts;
} builder;

static const sl_node *free_constant(builder *b, double value) {
    b->value[b->params++] = value;
    return sl_expr_par(b->a, b->params);
}

/* NULL operands come from a full arena and pass through. */
static const sl_node *join(builder *b, sl_op op, const sl_node *const *list, int n) {
    for (int k = 0; k < n; k++) {
        if (!list[k]) return NULL;
    }
    return n == 1 ? list[0] : sl_expr_nary(b->a, op, list, n);
}

static const sl_node *times(builder *b, const sl_node *p, const sl_node *q) {
    return join(b, SL_OP_MUL, (const sl_node *[]){ p, q }, 2);
}

/* The rational of small denominator that a simple value is, or the nearest of four digits. */
static sl_rat rational(double value) {
    for (int den = 1; den <= 6; den++) {
        double num = rint(value * den);
        if (fabs(value * den - num) < 1e-9) {
            sl_rat r = SL_RAT(0);
            (void)sl_expr_rat_make(&r, (int64_t)num, den);
            return r;
        }
    }
    sl_rat r = SL_RAT(0);
    (void)sl_expr_rat_make(&r, (int64_t)rint(value * 1e4), 10000);
    return r;
}

static const sl_node *number(builder *b, double value) {
    return sl_expr_num(b->a, rational(value));
}

static const sl_node *power(builder *b, const sl_node *base, sl_rat exponent) {
    if (!base || sl_expr_rat_is(exponent, 1)) return base;
    return sl_expr_pow(b->a, base, exponent);
}

/* base^exponent where base has one sign: of -base if that is negative and the exponent is not an
 * integer. */
static const sl_node *real_power(builder *b, const sl_node *base, bool negative, double exponent,
                                 bool fixed) {
    sl_rat r = rational(exponent);
    if (negative && !(fixed && sl_expr_rat_is_int(r))) base = times(b, sl_expr_int(b->a, -1), base);
    if (fixed || !base) return power(b, base, r);
    const sl_node *by = free_constant(b, exponent);
    return by ? sl_expr_power(b->a, base, by) : NULL;
}

/* Does base^exponent turn the sign of a negative base? */
static bool turns_sign(double exponent, bool fixed) {
    sl_rat r = rational(exponent);
    return fixed && sl_expr_rat_is_int(r) && r.num % 2 != 0;
}

static bool all_negative(const double *x, int rows) {
    for (int i = 0; i < rows; i++) {
        if (!(x[i] < 0)) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- products ------------------ */

/* exp(rate u) for exp(u). */
static const sl_node *exponential(builder *b, const sl_node *e, double rate, bool fixed) {
    const sl_node *u = e->op == SL_OP_EXP ? e + 1 : NULL;
    if (fixed && rate == 1) return e;
    const sl_node *by = fixed ? number(b, rate) : free_constant(b, rate);
    if (!u) return by ? sl_expr_power(b->a, e, by) : NULL;
    const sl_node *argument = times(b, by, u);
    return argument ? sl_expr_fn(b->a, SL_OP_EXP, argument) : NULL;
}

/* A base's sign times |base|^p is base^p for integer p; an integer p of the wrong parity, for which
 * only |base|^p would fit, is excluded by the kinds of noise_simplify.c. */
static sl_status product_term(builder *b, int t, double exponent, bool fixed, int *sign) {
    const sl_search__noise_terms *terms = &b->p->terms[SL_SIDE_PRODUCT];
    sl_store_term term = terms->term[b->o->candidate.at[t]];
    double probe[SL_NOISE__PROBES + 8];
    const sl_node *e;
    bool rate;
    if (!sl_search__store_term_value(probe, &rate, b->p->store, term)) return SL_OK;
    SL_TRY(sl_search__store_expr(&e, b->a, b->p->store, term));
    if (rate) {
        b->part[b->parts++] = exponential(b, e, exponent, fixed);
        return SL_OK;
    }
    bool negative = all_negative(probe, (int)SL_MIN(b->p->rows, SL_NOISE__PROBES));
    if (negative && turns_sign(exponent, fixed)) *sign = -*sign;
    b->part[b->parts++] = real_power(b, e, negative, exponent, fixed);
    return SL_OK;
}

static sl_status product(builder *b) {
    const sl_search__noise_fit *f = &b->o->fit;
    int sign = b->o->sign;
    for (int c = 1; c < b->s->base; c++) {
        if (f->coefficient[c] == 0) continue;
        const double *x = b->p->j->rows.x[b->s->variable[c]];
        bool negative = all_negative(x, b->p->rows);
        if (negative && turns_sign(f->coefficient[c], f->fixed[c])) sign = -sign;
        b->part[b->parts++] = real_power(b, sl_expr_var(b->a, b->s->variable[c] + 1), negative,
                                         f->coefficient[c], f->fixed[c]);
    }
    for (int t = 0; t < b->o->candidate.n; t++) {
        int c = b->s->base + t;
        if (f->coefficient[c] != 0)
            SL_TRY(product_term(b, t, f->coefficient[c], f->fixed[c], &sign));
    }
    if (!f->fixed[0])
        b->part[b->parts++] = free_constant(b, sign * sl_exp(f->coefficient[0]));
    else if (sign < 0 || !b->parts)
        b->part[b->parts++] = sl_expr_int(b->a, sign);
    return SL_OK;
}

/* ---------------------------------------------------------------- sums ---------------------- */

static const sl_node *monomial(builder *b, const int8_t *halves) {
    const sl_node *factor[SL_DATA_MAX_INPUTS];
    int n = 0;
    for (int v = 0; v < b->p->j->rows.inputs; v++) {
        sl_rat r;
        if (!halves[v] || !sl_expr_rat_make(&r, halves[v], 2)) continue;
        factor[n++] = power(b, sl_expr_var(b->a, v + 1), r);
    }
    return n ? join(b, SL_OP_MUL, factor, n) : sl_expr_int(b->a, 1);
}

static const sl_node *summand(builder *b, const sl_node *e, int c) {
    const sl_search__noise_fit *f = &b->o->fit;
    if (!e || (f->fixed[c] && f->coefficient[c] == 1)) return e;
    const sl_node *by =
        f->fixed[c] ? number(b, f->coefficient[c]) : free_constant(b, f->coefficient[c]);
    return times(b, by, e);
}

static sl_status summands(builder *b) {
    const sl_search__noise_fit *f = &b->o->fit;
    for (int c = 0; c < b->s->base; c++) {
        int8_t halves[SL_DATA_MAX_INPUTS];
        if (f->coefficient[c] == 0) continue;
        for (int v = 0; v < SL_DATA_MAX_INPUTS; v++) halves[v] = (int8_t)(2 * b->s->power[c][v]);
        b->part[b->parts++] = summand(b, monomial(b, halves), c);
    }
    for (int t = 0; t < b->o->candidate.n; t++) {
        const sl_node *e;
        int c = b->s->base + t;
        if (f->coefficient[c] == 0) continue;
        SL_TRY(sl_search__store_expr(&e, b->a, b->p->store,
                                     b->p->terms[SL_SIDE_SUM].term[b->o->candidate.at[t]]));
        b->part[b->parts++] = summand(b, e, c);
    }
    if (!b->parts) b->part[b->parts++] = sl_expr_int(b->a, 0);
    return SL_OK;
}

/* y from eta, z and f: (eta/z)^(1/p) times f. */
static const sl_node *invert(builder *b, const sl_node *eta, const sl_node *factor) {
    static const struct {
        int num, den;
    } inverse[SL_NOISE__LINK_COUNT] = {
        [SL_NOISE__IDENTITY] = { 1, 1 },
        [SL_NOISE__INVERSE] = { -1, 1 },
        [SL_NOISE__SQUARE] = { 1, 2 },
        [SL_NOISE__INVERSE_SQUARE] = { -1, 2 },
    };
    int monomial_at = b->o->candidate.monomial;
    if (monomial_at > 0) {
        int8_t halves[SL_DATA_MAX_INPUTS];
        const int8_t *z = sl_search__store_monomial_exponents(b->p->store, monomial_at);
        for (int v = 0; v < b->p->j->rows.inputs; v++) halves[v] = (int8_t)-z[v];
        eta = times(b, monomial(b, halves), eta);
    }
    sl_rat r = SL_RAT(1);
    (void)sl_expr_rat_make(&r, inverse[b->s->link].num, inverse[b->s->link].den);
    const sl_node *e = power(b, eta, r);
    if (e && factor) e = times(b, factor, e);
    return e && b->o->sign < 0 ? times(b, sl_expr_int(b->a, -1), e) : e;
}

/* *out := f^(power/2), of -f where f is negative and the power is not an integer. */
static sl_status factor_power(const sl_node **out, builder *b) {
    sl_store_term term = b->p->terms[SL_SIDE_PRODUCT].term[b->o->candidate.at[0]];
    double probe[SL_NOISE__PROBES + 8];
    bool rate, real = sl_search__store_term_value(probe, &rate, b->p->store, term);
    const sl_node *e;
    SL_TRY(sl_search__store_expr(&e, b->a, b->p->store, term));
    bool negative = real && !rate && all_negative(probe, SL_MIN(b->p->rows, SL_NOISE__PROBES));
    *out = real_power(b, e, negative, 0.5 * b->o->candidate.power, true);
    return *out ? SL_OK : sl_fail(SL_ENOMEM, "no memory for a factor");
}

/* ---------------------------------------------------------------- the whole ----------------- */

sl_status sl_search__noise_expr(const sl_node **out, double *value, int *params, sl_arena *a,
                                const sl_search__noise_parts *p,
                                const sl_search__noise_outcome *o) {
    builder b = { .a = a, .p = p, .o = o, .s = &p->span[o->candidate.span], .value = value };
    bool is_product = b.s->side == SL_SIDE_PRODUCT;
    const sl_node *factor = NULL;
    SL_TRY(is_product ? product(&b) : summands(&b));
    const sl_node *e = join(&b, is_product ? SL_OP_MUL : SL_OP_ADD, b.part, b.parts);
    if (e && o->candidate.power) SL_TRY(factor_power(&factor, &b));
    if (e && !is_product) e = invert(&b, e, factor);
    if (!e) return sl_fail(SL_ENOMEM, "no memory for a formula of the search under noise");
    *params = b.params;
    *out = e;
    return SL_OK;
}
