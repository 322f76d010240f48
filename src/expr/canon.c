/* The canonical form. docs/math/canonical.md lists the rules and why none of them changes a real
 * value; names in brackets are those of rules.
 *
 * A sum is canonicalised term by term and like terms are added; that cannot depend on how it was
 * bracketed. A product is harder: ((x+1)*(x+2))/(x+1) must not be expanded before it is seen that
 * x+1 cancels, or the result would depend on brackets. So a whole product, with everything nested
 * in it, is first gathered into one list of (base, exponent), equal bases are added up, and only
 * then are sums multiplied out. A step whose result could depend on the order of its inputs runs
 * over bases by falling size, which is always the same sequence. */
#include "expr/canon_impl.h"

static sl_status canon_node(const sl_node **out, sl_canon_work *w, const sl_node *e, int depth);

/* ---------------------------------------------------------------- whole trees --------------- */

typedef struct gathered {
    sl_canon_entry *list;
    int n, cap;
} gathered;

/* Adds e^times to the list, looking through products and powers. depth < 0: e is canonical, so its
 * parts are taken as they are. */
static sl_status gather(gathered *g, sl_canon_work *w, const sl_node *e, sl_rat times, int depth) {
    bool canonical = depth < 0;
    if (depth == 0) return sl_fail(SL_ELIMIT, "nested deeper than %d", SL_EXPR__DEEP);
    int below = canonical ? depth : depth - 1;
    if (e->op == SL_OP_MUL) {
        const sl_node *c = e + 1;
        for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) SL_TRY(gather(g, w, c, times, below));
        return SL_OK;
    }
    bool primitive = false;
    if (e->op == SL_OP_POW) {
        if (sl_expr_is_undefined(e)) return SL_EXPR__UNDEFINED; // or 1/(1/0) would be 0
        sl_rat r = sl_expr_num_value(sl_expr_next(e + 1));
        if (!sl_expr_rat_mul(&times, times, r)) return sl_expr__canon_overflow();
        if (sl_expr_rat_is_int(r) && !(canonical && e[1].op == SL_OP_ADD))
            return gather(g, w, e + 1, times, below); // (u*v)^n = u^n * v^n
        primitive = canonical && sl_expr_rat_is_int(r);
        e = e + 1;
    }
    if (!canonical) SL_TRY(canon_node(&e, w, e, below));
    SL_CANON_GROW(g->list, g->n, g->cap, w);
    g->list[g->n++] = (sl_canon_entry){ e, times, primitive };
    return SL_OK;
}

/* out += p^q, both canonical. */
static sl_status power(sl_poly *out, sl_canon_work *w, const sl_node *p, const sl_node *q) {
    sl_canon_entry x = { p, SL_RAT(1), false };
    if (sl_expr_is_undefined(p) || sl_expr_is_undefined(q)) return SL_EXPR__UNDEFINED;
    if (q->op == SL_OP_NUM) {
        x.exp = sl_expr_num_value(q);
    } else {
        sl_node *r;
        size_t len = 1 + (size_t)p->len + q->len;
        SL_TRY(sl_expr__room(&r, w->a, len));
        *r = (sl_node){ .op = SL_OP_RAISE, .arg = 2, .len = (uint32_t)len };
        sl_expr__put(sl_expr__put(r + 1, p), q);
        x.base = r;
    }
    return sl_expr__canon_product(out, w, SL_RAT(1), &x, 1);
}

/* out += e, terms unsorted. */
static sl_status add_tree(sl_poly *out, sl_canon_work *w, const sl_node *e, int depth) {
    const sl_node *p, *q;
    if (depth == 0) return sl_fail(SL_ELIMIT, "nested deeper than %d", SL_EXPR__DEEP);
    switch ((sl_op)e->op) {
    case SL_OP_NUM:
    case SL_OP_VAR:
    case SL_OP_PAR:
    case SL_OP_PI: {
        sl_poly_term t;
        SL_TRY(sl_expr__poly_read_term(&t, w, e));
        return sl_expr__poly_push(out, w, t);
    }
    case SL_OP_ADD: {
        const sl_node *c = e + 1;
        for (int i = 0; i < e->arg; i++, c = sl_expr_next(c))
            SL_TRY(add_tree(out, w, c, depth - 1));
        return SL_OK;
    }
    case SL_OP_MUL:
    case SL_OP_POW: {
        gathered g = { 0 };
        SL_TRY(gather(&g, w, e, SL_RAT(1), depth));
        return sl_expr__canon_product(out, w, SL_RAT(1), g.list, g.n);
    }
    case SL_OP_RAISE:
        SL_TRY(canon_node(&p, w, e + 1, depth - 1));
        SL_TRY(canon_node(&q, w, sl_expr_next(e + 1), depth - 1));
        return power(out, w, p, q);
    default: break; // functions
    }
    SL_TRY(canon_node(&p, w, e + 1, depth - 1));
    return sl_expr__canon_function(out, w, e->op, p);
}

static sl_status canon_node(const sl_node **out, sl_canon_work *w, const sl_node *e, int depth) {
    if (e->op == SL_OP_VAR || e->op == SL_OP_NUM || e->op == SL_OP_PAR || e->op == SL_OP_PI) {
        *out = e;
        return SL_OK;
    }
    sl_poly p = { 0 };
    SL_TRY(add_tree(&p, w, e, depth));
    SL_TRY(sl_expr__poly_collect(&p));
    return sl_expr__poly_node(out, w, &p);
}

/* ---------------------------------------------------------------- entry points -------------- */

bool sl_expr_is_undefined(const sl_node *e) {
    return e->op == SL_OP_POW && sl_expr_num_is(e + 1, 0) && sl_expr_num_is(e + 2, -1);
}

sl_status sl_expr_canon(const sl_node **out, sl_arena *a, const sl_node *e) {
    size_t mark = sl_arena_mark(a);
    sl_canon_work w = { .a = a };
    const sl_node *r = NULL;
    sl_status st = canon_node(&r, &w, e, SL_EXPR__DEEP);
    return sl_expr__finish(out, a, mark, st, r);
}

/* out += by*e, e canonical. */
static sl_status add_canonical(sl_poly *out, sl_canon_work *w, const sl_node *e, int by) {
    sl_poly p;
    SL_TRY(sl_expr__poly_read(&p, w, e));
    if (by != 1) SL_TRY(sl_expr__poly_scale(&p, w, SL_RAT(by)));
    for (int i = 0; i < p.n; i++) SL_TRY(sl_expr__poly_push(out, w, p.t[i]));
    return SL_OK;
}

static sl_status apply(sl_poly *out, sl_canon_work *w, sl_operator o, const sl_node *p,
                       const sl_node *q) {
    gathered g = { 0 };
    switch (o) {
#define X(id, name) \
    case SL_OPERATOR_##id: return sl_expr__canon_function(out, w, SL_OP_##id, p);
        SL_EXPR_FUNCTIONS(X)
#undef X
    case SL_OPERATOR_POW: return power(out, w, p, q);
    case SL_OPERATOR_NEG: return add_canonical(out, w, p, -1);
    case SL_OPERATOR_ADD:
    case SL_OPERATOR_SUB:
        SL_TRY(add_canonical(out, w, p, 1));
        return add_canonical(out, w, q, o == SL_OPERATOR_ADD ? 1 : -1);
    case SL_OPERATOR_SQRT: {
        sl_canon_entry e = { p, { 1, 2 }, false };
        return sl_expr__canon_product(out, w, SL_RAT(1), &e, 1);
    }
    case SL_OPERATOR_MUL:
    case SL_OPERATOR_DIV:
        SL_TRY(gather(&g, w, p, SL_RAT(1), -1));
        SL_TRY(gather(&g, w, q, SL_RAT(o == SL_OPERATOR_MUL ? 1 : -1), -1));
        return sl_expr__canon_product(out, w, SL_RAT(1), g.list, g.n);
    case SL_OPERATOR_COUNT: break;
    }
    SL_ASSERT(!"an operator");
    return SL_EINVAL;
}

sl_status sl_expr_canon_apply(const sl_node **out, sl_arena *a, sl_operator o, const sl_node *p,
                              const sl_node *q) {
    size_t mark = sl_arena_mark(a);
    sl_canon_work w = { .a = a };
    sl_poly sum = { 0 };
    const sl_node *r = NULL;
    bool undefined =
        sl_expr_is_undefined(p) || (sl_expr_operator_operands(o) == 2 && sl_expr_is_undefined(q));
    sl_status st = undefined ? SL_EXPR__UNDEFINED : apply(&sum, &w, o, p, q);
    if (st == SL_OK) st = sl_expr__poly_collect(&sum);
    if (st == SL_OK) st = sl_expr__poly_node(&r, &w, &sum);
    return sl_expr__finish(out, a, mark, st, r);
}
