/* Terms as expressions, read from the same table of forms as their values. */
#include "search/store_impl.h"

/* Builders return NULL without memory; NULL passes through a chain of them. */
typedef struct builder {
    sl_arena *arena;
    const sl_store *store;
} builder;

static const sl_node *times(builder *b, const sl_node *p, const sl_node *q) {
    if (!p || !q) return NULL;
    const sl_node *both[2] = { p, q };
    return sl_expr_nary(b->arena, SL_OP_MUL, both, 2);
}

static const sl_node *plus(builder *b, const sl_node *p, const sl_node *q) {
    if (!p || !q) return NULL;
    const sl_node *both[2] = { p, q };
    return sl_expr_nary(b->arena, SL_OP_ADD, both, 2);
}

static const sl_node *power(builder *b, const sl_node *p, int num, int den) {
    if (!p || (num == 1 && den == 1)) return p;
    return sl_expr_pow(b->arena, p, (sl_rat){ num, den });
}

static const sl_node *function(builder *b, sl_op op, const sl_node *p) {
    return p ? sl_expr_fn(b->arena, op, p) : NULL;
}

static const sl_node *constant(builder *b, int i) {
    const sl_search__store_constant c = sl_search__store_constants[i];
    const sl_node *e = sl_expr_num(b->arena, (sl_rat){ c.num, c.den });
    if (!c.pi) return e;
    return times(b, e, power(b, sl_expr_pi(b->arena), c.pi, 1));
}

/* c e, where 1 e is e. */
static const sl_node *scaled(builder *b, unsigned c, const sl_node *e) {
    return c == 0 ? e : times(b, constant(b, (int)c), e);
}

static const sl_node *apply(builder *b, sl_search__store_function_id f, const sl_node *u) {
    switch (f) {
    case SL_STORE__SIN: return function(b, SL_OP_SIN, u);
    case SL_STORE__COS: return function(b, SL_OP_COS, u);
    case SL_STORE__EXP: return function(b, SL_OP_EXP, u);
    case SL_STORE__RECIPROCAL: return power(b, u, -1, 1);
    case SL_STORE__SQRT: return power(b, u, 1, 2);
    case SL_STORE__LOG: return function(b, SL_OP_LOG, u);
    case SL_STORE__EXPM1: return plus(b, function(b, SL_OP_EXP, u), sl_expr_int(b->arena, -1));
    case SL_STORE__SQUARE: return power(b, u, 2, 1);
    case SL_STORE__TANH: return function(b, SL_OP_TANH, u);
    case SL_STORE__COSH: return function(b, SL_OP_COSH, u);
    case SL_STORE__RSQRT: return power(b, u, -1, 2);
    case SL_STORE__EXPP1: return plus(b, sl_expr_int(b->arena, 1), function(b, SL_OP_EXP, u));
    case SL_STORE__RSQUARE: return power(b, u, -2, 1);
    case SL_STORE__FUNCTIONS: break;
    }
    return NULL;
}

static const sl_node *monomial(builder *b, uint32_t number) {
    const int8_t *e = b->store->exponents.row[number];
    const sl_node *factor[SL_STORE_MAX_VARIABLES];
    int n = 0;
    for (int v = 0; v < b->store->variables; v++) {
        if (!e[v]) continue;
        const bool whole = e[v] % 2 == 0;
        factor[n] = power(b, sl_expr_var(b->arena, v + 1), whole ? e[v] / 2 : e[v], whole ? 1 : 2);
        if (!factor[n++]) return NULL;
    }
    if (n == 0) return sl_expr_int(b->arena, 1);
    return n == 1 ? factor[0] : sl_expr_nary(b->arena, SL_OP_MUL, factor, n);
}

static const sl_node *build(builder *b, sl_store_term t);

static const sl_node *part(builder *b, uint32_t id) {
    return build(b, sl_search__store_term(b->store, id));
}

static const sl_node *inner(builder *b, sl_store_term t, const sl_search__store_form *form) {
    const unsigned c = sl_search__term_constant(t);
    const sl_node *p = form->p ? power(b, part(b, sl_search__term_a(t)), form->p, 1) : NULL;
    const sl_node *q = form->q ? power(b, part(b, sl_search__term_b(t)), form->q, 1) : NULL;
    if ((form->p && !p) || (form->q && !q)) return NULL;
    if (form->sum && form->one) return plus(b, scaled(b, c & 1, p), scaled(b, c >> 1 & 1, q));
    if (form->sum) return plus(b, p, scaled(b, c, q));
    return scaled(b, c, p && q ? times(b, p, q) : p ? p : q);
}

/* Parts are at most a few levels deep: each is made of earlier ones. */
static const sl_node *build(builder *b, sl_store_term t) {
    if (sl_search__term_form(t) == SL_FORM_MONOMIAL) return monomial(b, sl_search__term_a(t));
    if (sl_search__term_form(t) == SL_FORM_HINT) return b->store->hint[sl_search__term_a(t)];
    const sl_search__store_form *form = &sl_search__store_forms[sl_search__term_form(t)];
    const sl_node *e = inner(b, t, form);
    if (form->function) e = apply(b, (sl_search__store_function_id)sl_search__term_function(t), e);
    if (form->outer) e = times(b, part(b, sl_search__term_a(t)), e);
    if (form->one && form->sign < 0) e = times(b, sl_expr_int(b->arena, -1), e);
    if (form->one) e = plus(b, sl_expr_int(b->arena, 1), e);
    return sl_search__term_exponent(t) ? function(b, SL_OP_EXP, e) : e;
}

static sl_status finish(const sl_node **out, sl_arena *a, const sl_node *e) {
    if (!e) return sl_fail_memory(1, sizeof *e, "the expression of a term");
    return sl_expr_tidy(out, a, e);
}

sl_status sl_search__store_expr(const sl_node **out, sl_arena *a, const sl_store *s,
                                sl_store_term t) {
    builder b = { a, s };
    return finish(out, a, build(&b, t));
}
