/* Reading: tokens to an expression.
 *
 * The grammar says which actions are due; here they build a tree of terms on a stack of values. The
 * tree says what expr's own reader of LaTeX says: division goes into factors, so a/(b c^2) is a,
 * b^-1 and c^-2, while the inverse of a sum or of an inverse is a power of its own. Sums and
 * products are lists that grow at the end; the finished tree is written as nodes and tidied.
 *
 * At most SL_TOKEN_MAX tokens are looked at, and that bounds everything: values on the stack, depth
 * of the recursion over a tree, and nodes. */
#include "token/token_impl.h"

typedef struct term {
    uint8_t op;     // sl_op
    uint8_t number; // of VAR
    int count;      // operands
    sl_rat value;   // of NUM; exponent of POW
    struct term *first, *last, *next;
} term;

struct sl_token_reader {
    sl_arena *arena;
    sl_status st;
    bool undefined;  // an exponent of n/0
    int64_t integer; // of the digits so far
    int n;
    term *values[SL_TOKEN_MAX]; // no token makes more than one
};

/* ---------------------------------------------------------------- terms --------------------- */

/* NULL after a failure; terms made from NULL are NULL, so that actions nest. */
static term *make(sl_token_reader *r, sl_op op) {
    if (r->st != SL_OK) return NULL;
    term *t = sl_arena_alloc(r->arena, sizeof *t);
    if (!t) {
        r->st = sl_fail_memory(1, sizeof *t, "an expression");
        return NULL;
    }
    *t = (term){ .op = (uint8_t)op };
    return t;
}

static term *number(sl_token_reader *r, sl_rat value) {
    term *t = make(r, SL_OP_NUM);
    if (t) t->value = value;
    return t;
}

static void append(term *list, term *operand) {
    operand->next = NULL;
    if (list->last)
        list->last->next = operand;
    else
        list->first = operand;
    list->last = operand;
    list->count++;
}

static term *wrap(sl_token_reader *r, sl_op op, term *operand) {
    term *t = operand ? make(r, op) : NULL;
    if (t) append(t, operand);
    return t;
}

static term *power(sl_token_reader *r, term *base, sl_rat exponent) {
    term *t = wrap(r, SL_OP_POW, base);
    if (t) t->value = exponent;
    return t;
}

/* a op b, for + and *: lists of the same operator become one. */
static term *join(sl_token_reader *r, sl_op op, term *a, term *b) {
    if (!a || !b) return NULL;
    if (a->op != op && !(a = wrap(r, op, a))) return NULL;
    if (b->op != op) {
        append(a, b);
        return a;
    }
    a->last->next = b->first;
    a->last = b->last;
    a->count += b->count;
    return a;
}

static term *negate(sl_token_reader *r, term *t) {
    if (!t || t->op != SL_OP_NUM) return join(r, SL_OP_MUL, number(r, SL_RAT(-1)), t);
    t->value.num = -t->value.num;
    return t;
}

static term *invert(sl_token_reader *r, term *t) {
    if (!t) return NULL;
    if (t->op == SL_OP_POW && t->value.num > 0) {
        t->value.num = -t->value.num;
        return t;
    }
    if (t->op != SL_OP_MUL) return power(r, t, SL_RAT(-1));
    term *factors = t->first; // none is a product: join has seen to it
    t->first = t->last = NULL;
    t->count = 0;
    for (term *c = factors, *next; c; c = next) {
        next = c->next;
        term *inverse = invert(r, c);
        if (!inverse) return NULL;
        append(t, inverse);
    }
    return t;
}

static term *ratio(sl_token_reader *r, const term *p, const term *q) {
    sl_rat v = SL_RAT(1);
    if (!p || !q) return NULL;
    if (!sl_expr_rat_make(&v, p->value.num, q->value.num)) r->undefined = true; // q is 0
    return number(r, v);
}

/* ---------------------------------------------------------------- actions ------------------- */

static void put(sl_token_reader *r, term *t) {
    SL_ASSERT(r->n < SL_LEN(r->values)); // every value has a token of its own, and there is an end
    r->values[r->n++] = t;
}

static term *pop(sl_token_reader *r) {
    SL_ASSERT(r->n > 0);
    return r->values[--r->n];
}

void sl_token__shift(sl_token_reader *r, int id) {
    if (id <= SL_TOKEN__9) {
        r->integer = 10 * r->integer + (id - SL_TOKEN__0);
        return;
    }
    term *t = make(r, SL_OP_VAR);
    if (t) t->number = (uint8_t)(id - SL_TOKEN__X_1 + 1);
    put(r, t);
}

void sl_token__act(sl_token_reader *r, sl_action action) {
    term *b = action == SL_ACTION_INTEGER ? NULL : pop(r);
    switch (action) {
    case SL_ACTION_INTEGER:
        put(r, number(r, SL_RAT(r->integer)));
        r->integer = 0;
        return;
    case SL_ACTION_NEGATE: put(r, negate(r, b)); return;
    case SL_ACTION_SQRT: put(r, power(r, b, (sl_rat){ 1, 2 })); return;
    case SL_ACTION_SIN: put(r, wrap(r, SL_OP_SIN, b)); return;
    case SL_ACTION_EXP: put(r, wrap(r, SL_OP_EXP, b)); return;
    default: break; // of two operands
    }
    term *a = pop(r);
    switch (action) {
    case SL_ACTION_ADD: put(r, join(r, SL_OP_ADD, a, b)); return;
    case SL_ACTION_SUBTRACT: put(r, join(r, SL_OP_ADD, a, negate(r, b))); return;
    case SL_ACTION_MULTIPLY: put(r, join(r, SL_OP_MUL, a, b)); return;
    case SL_ACTION_DIVIDE: put(r, join(r, SL_OP_MUL, a, invert(r, b))); return;
    case SL_ACTION_RAISE: put(r, b ? power(r, a, b->value) : NULL); return;
    case SL_ACTION_RATIO: put(r, ratio(r, a, b)); return;
    default: SL_ASSERT(!"an action");
    }
}

/* ---------------------------------------------------------------- the whole ----------------- */

/* Slots that suffice: three for a number, which may take one. */
static size_t slots(const term *t) {
    size_t n = t->op == SL_OP_NUM ? 3 : t->op == SL_OP_POW ? 4 : 1;
    for (const term *c = t->first; c; c = c->next) n += slots(c);
    return n;
}

static sl_node *write_nodes(sl_node *w, const term *t) {
    if (t->op == SL_OP_NUM) return sl_expr_num_put(w, t->value);
    sl_node *head = w++;
    *head = (sl_node){ .op = t->op, .arg = t->op == SL_OP_VAR ? t->number : (uint16_t)t->count };
    for (const term *c = t->first; c; c = c->next) w = write_nodes(w, c);
    if (t->op == SL_OP_POW) {
        w = sl_expr_num_put(w, t->value);
        head->arg = 2;
    }
    head->len = (uint32_t)(w - head);
    return w;
}

static sl_status finish(const sl_node **out, sl_token_reason *reason, sl_token_reader *r,
                        size_t mark) {
    SL_TRY(r->st);
    const term *t = pop(r);
    SL_ASSERT(r->n == 0);
    if (r->undefined) {
        *reason = SL_TOKEN_UNDEFINED;
        return SL_OK;
    }
    const size_t room = slots(t);
    sl_node *raw = sl_malloc(room, sizeof *raw);
    if (!raw) return sl_fail_memory(room, sizeof *raw, "an expression");
    write_nodes(raw, t);
    sl_arena_rewind(r->arena, mark); // terms are not needed any more: what is read begins here
    const sl_node *e = NULL;
    const sl_status st = sl_expr_tidy(&e, r->arena, raw);
    sl_free(raw);
    if (st == SL_EOVERFLOW) {
        *reason = SL_TOKEN_OVERFLOW;
        return SL_OK;
    }
    SL_TRY(st);
    if (sl_expr_is_nowhere(e))
        *reason = SL_TOKEN_UNDEFINED;
    else
        *out = e;
    return SL_OK;
}

sl_status sl_token_to_expr(const sl_node **out, sl_token_reason *reason, int *at, sl_arena *a,
                           const sl_token *ids, int n, int variables) {
    sl_token_state s;
    sl_token_reader r; // its values need no clearing
    r.arena = a;
    r.st = SL_OK;
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
