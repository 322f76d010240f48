/* quotients_bases - numerators and common structures, from the canonical forms of halves.
 *
 * A base is (n1 + n2) F or (n1 + n2)/D, with halves n1 + n2, F and D of depth 2. Multiplied out it
 * is n1 G + n2 G, where G is F or 1/D. So the terms of all halves of two terms are the numerators,
 * and all halves of one term and inverses of halves are the common structures. Canonical forms are
 * read factor by factor: powers of inputs and sines, exponentials, and at most one sum or function
 * of a sum, the core. Halves that have more are left out. */
#include <string.h>

#include "search/quotients_impl.h"

enum { HALVES_MAX = 4096 };

/* ---------------------------------------------------------------- canonical forms ----------- */

/* The part read so far: structure times factor. */
typedef struct reading {
    sl_search__quotients_structure s;
    sl_rat factor;
} reading;

static bool read_factor(reading *r, const sl_node *e, sl_rat exponent);

/* e as `factor` times a product without a core. */
static bool read_product(sl_search__quotients_product *out, int8_t *factor, const sl_node *e) {
    reading r = { .factor = SL_RAT(1) };
    if (!read_factor(&r, e, SL_RAT(1)) || r.s.core.parts > 0) return false;
    if (!sl_expr_rat_is_int(r.factor) || r.factor.num > 99 || r.factor.num < -99) return false;
    *out = r.s.product;
    *factor = (int8_t)(r.factor.num < 0 ? -r.factor.num : r.factor.num);
    return true;
}

/* The parts of a canonical sum come in an order that signs do not change: x1 - x2 and x2 - x1 are
 * one core. */
static bool read_core(reading *r, const sl_node *sum, sl_search__quotients_kind kind,
                      int64_t exponent) {
    sl_search__quotients_core *c = &r->s.core;
    if (c->parts > 0 || exponent < -4 || exponent > 4) return false;
    int n = sum->op == SL_OP_ADD ? sum->arg : 1;
    const sl_node *e = sum->op == SL_OP_ADD ? sum + 1 : sum;
    if (n > SL_QUOTIENTS__PARTS) return false;
    c->kind = (int8_t)kind;
    c->exponent = (int8_t)exponent;
    for (int i = 0; i < n; i++, e = sl_expr_next(e))
        if (!read_product(&c->part[i], &c->factor[i], e)) return false;
    c->parts = (int8_t)n;
    return true;
}

/* exp of a linear combination of inputs. */
static bool read_rates(sl_search__quotients_product *p, const sl_node *argument, sl_rat exponent) {
    sl_search__quotients_product got = *p;
    int n = argument->op == SL_OP_ADD ? argument->arg : 1;
    const sl_node *e = argument->op == SL_OP_ADD ? argument + 1 : argument;
    for (int i = 0; i < n; i++, e = sl_expr_next(e)) {
        sl_rat rate;
        const sl_node *x = e;
        if (!sl_expr_rat_mul(&rate, exponent, SL_RAT(2))) return false;
        if (e->op == SL_OP_MUL && e->arg == 2 && (e + 1)->op == SL_OP_NUM) {
            if (!sl_expr_rat_mul(&rate, rate, sl_expr_num_value(e + 1))) return false;
            x = sl_expr_next(e + 1);
        }
        if (x->op != SL_OP_VAR || !sl_expr_rat_is_int(rate) || rate.num > 8 || rate.num < -8)
            return false;
        got.rate[x->arg - 1] = (int8_t)(got.rate[x->arg - 1] + rate.num);
    }
    *p = got;
    return true;
}

static bool read_exp(reading *r, const sl_node *argument, sl_rat exponent) {
    if (read_rates(&r->s.product, argument, exponent)) return true;
    return sl_expr_rat_is(exponent, 1) && read_core(r, argument, SL_QUOTIENTS__RATE, 2);
}

static bool read_sin(reading *r, const sl_node *argument, sl_rat exponent) {
    sl_search__quotients_product *p = &r->s.product;
    if (!sl_expr_rat_is_int(exponent) || exponent.num > 4 || exponent.num < -4) return false;
    if (argument->op != SL_OP_VAR) return read_core(r, argument, SL_QUOTIENTS__SINE, exponent.num);
    p->sine[argument->arg - 1] = (int8_t)(p->sine[argument->arg - 1] + exponent.num);
    return true;
}

/* base^exponent, the exponent an integer or a half. */
static bool read_power(reading *r, const sl_node *base, sl_rat exponent) {
    sl_rat halves;
    if (!sl_expr_rat_mul(&halves, exponent, SL_RAT(2)) || !sl_expr_rat_is_int(halves)) return false;
    if (halves.num > 8 || halves.num < -8) return false;
    if (base->op == SL_OP_VAR) {
        int8_t *power = &r->s.product.power[base->arg - 1];
        *power = (int8_t)(*power + halves.num);
        return true;
    }
    bool whole = sl_expr_rat_is_int(exponent);
    if (base->op == SL_OP_ADD || (base->op == SL_OP_SIN && !whole))
        return read_core(r, base, whole ? SL_QUOTIENTS__LINEAR : SL_QUOTIENTS__ROOT,
                         whole ? exponent.num : halves.num);
    return whole && read_factor(r, base, exponent);
}

static bool read_number(reading *r, sl_rat value, sl_rat exponent) {
    sl_rat power;
    return sl_expr_rat_is_int(exponent) && sl_expr_rat_pow(&power, value, exponent.num) &&
           sl_expr_rat_mul(&r->factor, r->factor, power);
}

static bool read_factor(reading *r, const sl_node *e, sl_rat exponent) {
    const sl_node *operand = e + 1;
    sl_rat power;
    switch ((sl_op)e->op) {
    case SL_OP_NUM: return read_number(r, sl_expr_num_value(e), exponent);
    case SL_OP_VAR:
    case SL_OP_ADD: return read_power(r, e, exponent);
    case SL_OP_EXP: return read_exp(r, operand, exponent);
    case SL_OP_SIN: return read_sin(r, operand, exponent);
    case SL_OP_MUL:
        for (int i = 0; i < e->arg; i++, operand = sl_expr_next(operand))
            if (!read_factor(r, operand, exponent)) return false;
        return true;
    case SL_OP_POW:
        if (!sl_expr_rat_mul(&power, exponent, sl_expr_num_value(sl_expr_next(operand))))
            return false;
        return sl_expr_rat_is(exponent, 1) && read_power(r, operand, power);
    default: return false;
    }
}

/* ---------------------------------------------------------------- lists --------------------- */

static bool fits(const sl_search__quotients_product *p) {
    sl_search__quotients_class list[SL_QUOTIENTS__FACTORS];
    return sl_search__quotients_factors_of(list, p) >= 0;
}

static void add_numerator(sl_search__quotients_bases *b, const sl_node *e) {
    sl_search__quotients_product p;
    int8_t factor;
    if (!read_product(&p, &factor, e) || !fits(&p)) return;
    for (int i = 0; i < b->numerators; i++)
        if (!memcmp(&b->numerator[i], &p, sizeof p)) return;
    if (b->numerators < SL_QUOTIENTS__NUMERATORS) b->numerator[b->numerators++] = p;
}

static void add_structure(sl_search__quotients_bases *b, const sl_node *e) {
    reading r = { .factor = SL_RAT(1) };
    if (e->op == SL_OP_ADD || !read_factor(&r, e, SL_RAT(1)) || !fits(&r.s.product)) return;
    for (int i = 0; i < b->structures; i++)
        if (!memcmp(&b->structure[i], &r.s, sizeof r.s)) return;
    if (b->structures < SL_QUOTIENTS__STRUCTURES) b->structure[b->structures++] = r.s;
}

typedef struct halves {
    sl_arena *a;
    const sl_node *e[HALVES_MAX];
    bool sum[HALVES_MAX]; // made by + or -
    int count;
} halves;

/* Appends p o q unless it is known, a number or undefined everywhere. */
static sl_status add_half(halves *h, sl_operator o, const sl_node *p, const sl_node *q) {
    const sl_node *e;
    size_t mark = sl_arena_mark(h->a);
    sl_status st = sl_expr_canon_apply(&e, h->a, o, p, q);
    if (st == SL_ENOMEM) return st;
    bool known =
        st != SL_OK || h->count == HALVES_MAX || sl_expr_is_undefined(e) || sl_expr_max_var(e) == 0;
    for (int i = 0; i < h->count && !known; i++) known = sl_expr_equal(h->e[i], e);
    if (known) {
        sl_arena_rewind(h->a, mark);
        return SL_OK;
    }
    h->sum[h->count] = o == SL_OPERATOR_ADD || o == SL_OPERATOR_SUB;
    h->e[h->count++] = e;
    return SL_OK;
}

/* One operator more on all that is there. */
static sl_status extend(halves *h, uint32_t ops) {
    const int n = h->count;
    for (int o = 0; o < SL_OPERATOR_COUNT; o++) {
        if (!(ops >> o & 1)) continue;
        bool one = sl_expr_operator_operands((sl_operator)o) == 1;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < (one ? 1 : n); k++)
                SL_TRY(add_half(h, (sl_operator)o, h->e[i], one ? NULL : h->e[k]));
    }
    return SL_OK;
}

/* Numerators: terms of halves with two terms; those of sums first. */
static void add_numerators(sl_search__quotients_bases *b, const halves *h, bool sums) {
    for (int i = 0; i < h->count; i++) {
        const sl_node *e = h->e[i];
        if (e->op != SL_OP_ADD || e->arg != 2 || h->sum[i] != sums) continue;
        add_numerator(b, e + 1);
        add_numerator(b, sl_expr_next(e + 1));
    }
}

/* The place of a numerator among the simple ones; -1: none. */
static int place_of(const sl_search__quotients_bases *b, const sl_node *e) {
    sl_search__quotients_product p;
    int8_t factor;
    if (!read_product(&p, &factor, e)) return -1;
    for (int i = 0; i < b->simple; i++)
        if (!memcmp(&b->numerator[i], &p, sizeof p)) return i;
    return -1;
}

static void add_triples(sl_search__quotients_bases *b, const halves *h) {
    for (int i = 0; i < h->count; i++) {
        const sl_node *e = h->e[i] + 1;
        sl_search__quotients_triple t;
        bool good = h->e[i]->op == SL_OP_ADD && h->e[i]->arg == 3;
        for (int k = 0; k < 3 && good; k++, e = sl_expr_next(e)) {
            t.numerator[k] = (int16_t)place_of(b, e);
            good = t.numerator[k] >= 0;
        }
        for (int k = 0; k < b->triples && good; k++)
            good = memcmp(&b->triple[k], &t, sizeof t) != 0;
        if (good && b->triples < SL_QUOTIENTS__TRIPLES) b->triple[b->triples++] = t;
    }
}

static sl_status add_structures(sl_search__quotients_bases *b, halves *h) {
    const sl_node *one = sl_expr_int(h->a, 1), *inverse;
    if (!one) return sl_fail(SL_ENOMEM, "no memory for the bases of quotients");
    for (int i = 0; i < h->count; i++) {
        add_structure(b, h->e[i]);
        sl_status st = sl_expr_canon_apply(&inverse, h->a, SL_OPERATOR_DIV, one, h->e[i]);
        if (st == SL_ENOMEM) return st;
        if (st == SL_OK) add_structure(b, inverse);
    }
    return SL_OK;
}

sl_status sl_search__quotients_make_bases(sl_search__quotients_bases *out,
                                          const sl_search_grammar *grammar, int variables) {
    sl_arena a = { 0 };
    sl_status st = SL_OK;
    memset(out, 0, sizeof *out);
    halves *h = sl_calloc(1, sizeof *h);
    if (!h) return sl_fail_memory(1, sizeof *h, "the bases of quotients");
    h->a = &a;
    for (int v = 1; v <= variables; v++) {
        h->e[h->count] = sl_expr_var(&a, v);
        if (!h->e[h->count++]) st = sl_fail(SL_ENOMEM, "no memory for the bases of quotients");
    }
    for (int depth = 1; depth <= 2 && st == SL_OK; depth++) st = extend(h, grammar->ops);
    if (st == SL_OK) {
        add_numerators(out, h, true);
        out->simple = out->numerators;
        add_numerators(out, h, false);
        add_triples(out, h);
        st = add_structures(out, h);
    }
    sl_free(h);
    sl_arena_clear(&a);
    return st;
}
