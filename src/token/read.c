/* Reading: tokens to an expression. The grammar gives the actions; here they build terms
 * (sl_expr_builder) on a stack of values, as expr's own reader of LaTeX does.
 *
 * At most SL_TOKEN_MAX tokens are read, and that bounds everything: values on the stack, depth of
 * the recursion over a tree, and nodes. */
#include "token/token_impl.h"

struct sl_token_reader {
    sl_expr_builder build;
    bool undefined;  // an exponent of n/0
    int64_t integer; // of the digits so far
    int n;
    sl_expr_term *values[SL_TOKEN_MAX]; // no token makes more than one
};

/* ---------------------------------------------------------------- actions ------------------- */

static void put(sl_token_reader *r, sl_expr_term *t) {
    SL_ASSERT(r->n < SL_LEN(r->values)); // every value has a token of its own, and there is an end
    r->values[r->n++] = t;
}

static sl_expr_term *pop(sl_token_reader *r) {
    SL_ASSERT(r->n > 0);
    return r->values[--r->n];
}

/* The value of a number, 1 after a failure. */
static sl_rat number(sl_token_reader *r, sl_expr_term *t) {
    sl_rat v = SL_RAT(1);
    if (t && !sl_expr_term_value(&r->build, &v, t)) SL_ASSERT(!"a number");
    return v;
}

static sl_expr_term *ratio(sl_token_reader *r, sl_expr_term *p, sl_expr_term *q) {
    sl_rat v = SL_RAT(1);
    if (!sl_expr_rat_make(&v, number(r, p).num, number(r, q).num)) r->undefined = true; // q is 0
    return sl_expr_term_num(&r->build, v);
}

void sl_token__shift(sl_token_reader *r, int id) {
    if (id <= SL_TOKEN__9) {
        r->integer = 10 * r->integer + (id - SL_TOKEN__0);
        return;
    }
    put(r, sl_expr_term_leaf(&r->build, SL_OP_VAR, id - SL_TOKEN__X_1 + 1));
}

void sl_token__act(sl_token_reader *r, sl_action action) {
    sl_expr_builder *build = &r->build;
    sl_expr_term *b = action == SL_ACTION_INTEGER ? NULL : pop(r);
    switch (action) {
    case SL_ACTION_INTEGER:
        put(r, sl_expr_term_num(build, SL_RAT(r->integer)));
        r->integer = 0;
        return;
    case SL_ACTION_NEGATE: put(r, sl_expr_term_neg(build, b)); return;
    case SL_ACTION_SQRT: put(r, sl_expr_term_pow(build, b, (sl_rat){ 1, 2 })); return;
    case SL_ACTION_SIN: put(r, sl_expr_term_fn(build, SL_OP_SIN, b)); return;
    case SL_ACTION_EXP: put(r, sl_expr_term_fn(build, SL_OP_EXP, b)); return;
    default: break; // of two operands
    }
    sl_expr_term *a = pop(r);
    switch (action) {
    case SL_ACTION_ADD: put(r, sl_expr_term_add(build, a, b)); return;
    case SL_ACTION_SUBTRACT: put(r, sl_expr_term_add(build, a, sl_expr_term_neg(build, b))); return;
    case SL_ACTION_MULTIPLY: put(r, sl_expr_term_mul(build, a, b)); return;
    case SL_ACTION_DIVIDE: put(r, sl_expr_term_div(build, a, b)); return;
    case SL_ACTION_RAISE: put(r, sl_expr_term_pow(build, a, number(r, b))); return;
    case SL_ACTION_RATIO: put(r, ratio(r, a, b)); return;
    default: SL_ASSERT(!"an action");
    }
}

/* ---------------------------------------------------------------- the whole ----------------- */

static sl_status finish(const sl_node **out, sl_token_reason *reason, sl_token_reader *r,
                        size_t mark) {
    const sl_expr_term *t = pop(r);
    const sl_node *e = NULL;
    sl_status st = r->build.st;
    SL_ASSERT(r->n == 0);
    if (st != SL_OK && st != SL_EOVERFLOW) return sl_fail(st, "%s", r->build.reason);
    if (st == SL_OK && !r->undefined) st = sl_expr_term_end(&e, &r->build, mark, t);
    if (r->undefined || (e && sl_expr_has_undefined(e)))
        *reason = SL_TOKEN_UNDEFINED;
    else if (st == SL_EOVERFLOW)
        *reason = SL_TOKEN_OVERFLOW;
    else
        *out = e;
    return st == SL_EOVERFLOW ? SL_OK : st;
}

sl_status sl_token_to_expr(const sl_node **out, sl_token_reason *reason, int *at, sl_arena *a,
                           const sl_token *ids, int n, int variables) {
    sl_token_state s;
    sl_token_reader r; // its values need no clearing
    r.build = (sl_expr_builder){ .arena = a };
    r.undefined = false;
    r.integer = 0;
    r.n = 0;
    const size_t mark = sl_arena_mark(a);
    sl_status st = SL_OK;
    int i = 0;
    *out = NULL;
    *reason = SL_TOKEN_FINE;
    *at = 0;
    sl_token_begin(&s, variables);
    for (; i < n && *reason == SL_TOKEN_FINE; i++) {
        if (i == SL_TOKEN_MAX && s.top > 0) break;
        *reason = sl_token__take(&s, ids[i], &r);
        *at = i;
    }
    if (*reason == SL_TOKEN_FINE) {
        *at = s.top > 0 ? i : 0;
        if (s.top > 0)
            *reason = SL_TOKEN_NO_END;
        else
            st = finish(out, reason, &r, mark);
    }
    if (!*out) sl_arena_rewind(a, mark);
    return st;
}
