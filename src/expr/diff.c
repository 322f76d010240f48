/* Derivatives: the usual rules, bottom up on raw trees, tidied once at the end. */
#include "expr/expr_impl.h"

typedef struct work {
    sl_arena *a;
    sl_op op; // what to differentiate by
    int number;
} work;

/* Builders return NULL for lack of memory or for too many nodes; the length decides which it
 * was. */
static sl_status built(const sl_node **out, const sl_node *r, size_t len) {
    if (len > SL_EXPR_MAX)
        return sl_fail(SL_ELIMIT, "derivative grows beyond %d nodes", SL_EXPR_MAX);
    if (!r) return sl_fail_memory(len, sizeof *r, "a derivative");
    *out = r;
    return SL_OK;
}

static sl_status combine(const sl_node **out, work *w, sl_op op, const sl_node *const *list,
                         int n) {
    if (n == 1) {
        *out = list[0];
        return SL_OK;
    }
    size_t len = 1;
    for (int i = 0; i < n; i++) len += list[i]->len;
    return built(out, sl_expr_nary(w->a, op, list, n), len);
}

static sl_status number(const sl_node **out, work *w, sl_rat v) {
    return built(out, sl_expr_num(w->a, v), 1);
}

/* *out := the derivative of e; NULL stands for 0, so that nothing is built for absent terms. */
static sl_status diff(const sl_node **out, work *w, const sl_node *e, int depth);

static sl_status diff_sum(const sl_node **out, work *w, const sl_node *e, int depth) {
    const sl_node **terms = sl_arena_alloc(w->a, e->arg * sizeof *terms);
    if (!terms) return sl_fail_memory(e->arg, sizeof *terms, "terms");
    int n = 0;
    const sl_node *term = e + 1;
    for (int i = 0; i < e->arg; i++, term = sl_expr_next(term)) {
        SL_TRY(diff(&terms[n], w, term, depth));
        n += terms[n] != NULL;
    }
    return n ? combine(out, w, SL_OP_ADD, terms, n) : SL_OK;
}

/* f*g*h -> f'*g*h + f*g'*h + f*g*h' */
static sl_status diff_product(const sl_node **out, work *w, const sl_node *e, int depth) {
    const sl_node **terms = sl_arena_alloc(w->a, 2 * e->arg * sizeof *terms);
    if (!terms) return sl_fail_memory(2 * (size_t)e->arg, sizeof *terms, "terms");
    const sl_node **factors = terms + e->arg, *factor = e + 1, *d;
    int n = 0;
    for (int i = 0; i < e->arg; i++, factor = sl_expr_next(factor)) factors[i] = factor;
    for (int i = 0; i < e->arg; i++) {
        const sl_node *f = factors[i];
        SL_TRY(diff(&d, w, f, depth));
        if (!d) continue;
        factors[i] = d;
        SL_TRY(combine(&terms[n++], w, SL_OP_MUL, factors, e->arg));
        factors[i] = f;
    }
    return n ? combine(out, w, SL_OP_ADD, terms, n) : SL_OK;
}

/* factor * outer * du, the chain rule; factor may be 1. */
static sl_status chain(const sl_node **out, work *w, sl_rat factor, const sl_node *outer,
                       const sl_node *du) {
    const sl_node *list[3] = { NULL, outer, du };
    if (sl_expr_rat_is(factor, 1)) return combine(out, w, SL_OP_MUL, list + 1, 2);
    SL_TRY(number(&list[0], w, factor));
    return combine(out, w, SL_OP_MUL, list, 3);
}

static sl_status diff_power(const sl_node **out, work *w, const sl_node *e, const sl_node *du) {
    sl_rat r = sl_expr__exponent(e), less;
    if (r.num == 0) return SL_OK;
    if (!sl_expr_rat_add(&less, r, SL_RAT(-1)))
        return sl_fail(SL_EOVERFLOW, "an exponent of the derivative is beyond 64-bit rationals");
    const sl_node *outer = NULL;
    SL_TRY(built(&outer, sl_expr_pow(w->a, e + 1, less), 1 + (size_t)e[1].len + 3));
    return chain(out, w, r, outer, du);
}

/* u^v -> v*u^(v - 1)*u' + u^v*log(u)*v' */
static sl_status diff_raise(const sl_node **out, work *w, const sl_node *e, int depth) {
    const sl_node *u = e + 1, *v = sl_expr_next(u), *du, *dv, *terms[2], *part = NULL;
    int n = 0;
    SL_TRY(diff(&du, w, u, depth));
    SL_TRY(diff(&dv, w, v, depth));
    if (du) {
        const sl_node *less[2] = { v, NULL };
        SL_TRY(number(&less[1], w, SL_RAT(-1)));
        SL_TRY(combine(&part, w, SL_OP_ADD, less, 2));
        SL_TRY(built(&part, sl_expr_power(w->a, u, part), 1 + (size_t)u->len + part->len));
        SL_TRY(combine(&terms[n++], w, SL_OP_MUL, (const sl_node *[]){ v, part, du }, 3));
    }
    if (dv) {
        SL_TRY(built(&part, sl_expr_fn(w->a, SL_OP_LOG, u), 1 + (size_t)u->len));
        SL_TRY(combine(&terms[n++], w, SL_OP_MUL, (const sl_node *[]){ e, part, dv }, 3));
    }
    return n ? combine(out, w, SL_OP_ADD, terms, n) : SL_OK;
}

/* (1 + sign*u^2)^exponent */
static sl_status one_and_square(const sl_node **out, work *w, int sign, const sl_node *u,
                                sl_rat exponent) {
    const sl_node *terms[2] = { NULL }, *square[2] = { NULL };
    SL_TRY(number(&terms[0], w, SL_RAT(1)));
    SL_TRY(number(&square[0], w, SL_RAT(sign)));
    SL_TRY(built(&square[1], sl_expr_pow(w->a, u, SL_RAT(2)), 2 + (size_t)u->len));
    SL_TRY(combine(&terms[1], w, SL_OP_MUL, square, 2));
    SL_TRY(combine(out, w, SL_OP_ADD, terms, 2));
    if (sl_expr_rat_is(exponent, 1)) return SL_OK;
    return built(out, sl_expr_pow(w->a, *out, exponent), 2 + (size_t)(*out)->len);
}

/* *out := f'(u) of e = f(u), without *factor. */
static sl_status slope(const sl_node **out, sl_rat *factor, work *w, const sl_node *e) {
    const sl_node *u = e + 1, *inverse;
    const sl_op op = (sl_op)e->op;
    *factor = SL_RAT(op == SL_OP_COS || op == SL_OP_ACOS ? -1 : 1);
    switch (op) {
    case SL_OP_EXP: *out = e; return SL_OK;
    case SL_OP_SIN: return built(out, sl_expr_fn(w->a, SL_OP_COS, u), e->len);
    case SL_OP_COS: return built(out, sl_expr_fn(w->a, SL_OP_SIN, u), e->len);
    case SL_OP_SINH: return built(out, sl_expr_fn(w->a, SL_OP_COSH, u), e->len);
    case SL_OP_COSH: return built(out, sl_expr_fn(w->a, SL_OP_SINH, u), e->len);
    case SL_OP_LOG: return built(out, sl_expr_pow(w->a, u, SL_RAT(-1)), 2 + (size_t)u->len);
    case SL_OP_TAN: return one_and_square(out, w, 1, e, SL_RAT(1));
    case SL_OP_TANH: return one_and_square(out, w, -1, e, SL_RAT(1));
    case SL_OP_ATAN: return one_and_square(out, w, 1, u, SL_RAT(-1));
    case SL_OP_ASIN:
    case SL_OP_ACOS: return one_and_square(out, w, -1, u, (sl_rat){ -1, 2 });
    default: break;
    }
    SL_ASSERT(op == SL_OP_ABS); // the sign, u/|u|
    SL_TRY(built(&inverse, sl_expr_pow(w->a, e, SL_RAT(-1)), 2 + (size_t)e->len));
    return combine(out, w, SL_OP_MUL, (const sl_node *[]){ u, inverse }, 2);
}

static sl_status diff(const sl_node **out, work *w, const sl_node *e, int depth) {
    const sl_node *du = NULL, *outer = NULL;
    sl_rat factor;
    *out = NULL;
    if (depth == 0) return sl_fail(SL_ELIMIT, "nested deeper than %d", SL_EXPR__DEEP);
    switch ((sl_op)e->op) {
    case SL_OP_NUM:
    case SL_OP_PI: return SL_OK;
    case SL_OP_VAR:
    case SL_OP_PAR:
        return e->op == w->op && e->arg == w->number ? number(out, w, SL_RAT(1)) : SL_OK;
    case SL_OP_ADD: return diff_sum(out, w, e, depth - 1);
    case SL_OP_MUL: return diff_product(out, w, e, depth - 1);
    case SL_OP_RAISE: return diff_raise(out, w, e, depth - 1);
    default: break; // a power, or a function of one operand
    }
    SL_TRY(diff(&du, w, e + 1, depth - 1));
    if (!du) return SL_OK;
    if (e->op == SL_OP_POW) return diff_power(out, w, e, du);
    SL_TRY(slope(&outer, &factor, w, e));
    return chain(out, w, factor, outer, du);
}

sl_status sl_expr_diff(const sl_node **out, sl_arena *a, const sl_node *e, sl_op op, int index) {
    SL_ASSERT(op == SL_OP_PAR || op == SL_OP_VAR);
    sl_status st;
    sl_arena temporary = { 0 };
    work w = { &temporary, op, index };
    const sl_node *raw;
    SL_GO(diff(&raw, &w, e, SL_EXPR__DEEP));
    if (!raw) SL_GO(number(&raw, &w, SL_RAT(0)));
    st = sl_expr_tidy(out, a, raw);
done:
    sl_arena_clear(&temporary);
    return st;
}

sl_status sl_expr_derivative(const sl_node **out, sl_arena *a, const sl_node *e, int number) {
    const sl_node *canonical = NULL;
    SL_TRY(sl_expr_diff(out, a, e, SL_OP_VAR, number));
    const sl_status st = sl_expr_canon(&canonical, a, *out);
    if (st == SL_ENOMEM) return st;
    // a derivative that is expanded past a limit stays as it is
    if (st == SL_OK && sl_expr_nodes(canonical) <= sl_expr_nodes(*out)) *out = canonical;
    return SL_OK;
}
