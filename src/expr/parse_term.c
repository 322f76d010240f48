/* Terms: the tree a parser grows. */
#include "expr/text_impl.h"

static sl_term *make(sl_reader *r, sl_op op) {
    // twice the nodes an expression may have, and as much again for numbers that fold into one
    // another
    enum { MOST = 4 * SL_EXPR_MAX };
    if (r->st != SL_OK) return NULL;
    if (++r->made > MOST)
        return sl_expr__text_fail(r, SL_ELIMIT, r->at, "an expression of more than %d parts", MOST);
    sl_term *t = sl_arena_alloc(r->arena, sizeof *t);
    if (!t) return sl_expr__text_fail(r, SL_ENOMEM, r->at, "no memory for an expression");
    *t = (sl_term){ .op = (uint8_t)op };
    return t;
}

/* Notes that t now has this operand. */
static sl_term *deepen(sl_reader *r, sl_term *t, const sl_term *operand) {
    if (operand->depth >= SL_EXPR_MAX_DEPTH)
        return sl_expr__text_fail(r, SL_ELIMIT, r->at, "nested deeper than %d operations",
                                  SL_EXPR_MAX_DEPTH);
    if (t->depth < operand->depth + 1) t->depth = (uint16_t)(operand->depth + 1);
    return t;
}

static sl_term *append(sl_reader *r, sl_term *list, sl_term *operand) {
    if (list->last)
        list->last->next = operand;
    else
        list->first = operand;
    list->last = operand;
    list->count++;
    return deepen(r, list, operand);
}

static sl_term *prepend(sl_reader *r, sl_term *list, sl_term *operand) {
    operand->next = list->first;
    list->first = operand;
    if (!list->last) list->last = operand;
    list->count++;
    return deepen(r, list, operand);
}

static sl_term *wrap(sl_reader *r, sl_op op, sl_term *operand) {
    sl_term *t = make(r, op);
    return t ? append(r, t, operand) : NULL;
}

/* a op b for + and *: lists of the same operator become one. */
static sl_term *join(sl_reader *r, sl_op op, sl_term *a, sl_term *b) {
    if (a->op != op && b->op == op) return prepend(r, b, a);
    if (a->op != op) a = wrap(r, op, a);
    if (!a || b->op != op) return a ? append(r, a, b) : NULL;
    a->last->next = b->first;
    a->last = b->last;
    a->count += b->count;
    a->depth = SL_MAX(a->depth, b->depth);
    return a;
}

static bool is_coefficient(const sl_term *t) { return t->op == SL_OP_NUM && t->value.num != 0; }

/* The number in front of a product, taken out of it; a zero is an ordinary factor, because of 1/0.
 */
static sl_rat take_coefficient(sl_term *t) {
    sl_rat v = SL_RAT(1);
    if (t->op == SL_OP_MUL && is_coefficient(t->first)) {
        v = t->first->value;
        t->first = t->first->next; // there is one: a product has two factors or more
        t->count--;
    }
    return v;
}

sl_term *sl_expr__term_num(sl_reader *r, sl_rat value) {
    sl_term *t = make(r, SL_OP_NUM);
    if (t) t->value = value;
    return t;
}

sl_term *sl_expr__term_leaf(sl_reader *r, sl_op op, int number) {
    sl_term *t = make(r, op);
    if (t) t->number = (uint16_t)number;
    return t;
}

sl_term *sl_expr__term_add(sl_reader *r, sl_term *a, sl_term *b) {
    return a && b ? join(r, SL_OP_ADD, a, b) : NULL;
}

static sl_term *beyond(sl_reader *r) {
    return sl_expr__text_fail(r, SL_EOVERFLOW, r->at,
                              "the product of the numbers up to here is beyond "
                              "64-bit rationals");
}

/* v * t, with the number in front. */
static sl_term *scale(sl_reader *r, sl_rat v, sl_term *t) {
    if (is_coefficient(t)) return sl_expr_rat_mul(&t->value, t->value, v) ? t : beyond(r);
    if (t->op == SL_OP_MUL && is_coefficient(t->first))
        return sl_expr_rat_mul(&t->first->value, t->first->value, v) ? t : beyond(r);
    if (sl_expr_rat_is(v, 1)) return t;
    sl_term *number = sl_expr__term_num(r, v);
    if (number && t->op != SL_OP_MUL) t = wrap(r, SL_OP_MUL, t);
    return number && t ? prepend(r, t, number) : NULL;
}

sl_term *sl_expr__term_mul(sl_reader *r, sl_term *a, sl_term *b) {
    if (!a || !b) return NULL;
    if (is_coefficient(b)) return scale(r, b->value, a);
    if (is_coefficient(a)) return scale(r, a->value, b);
    sl_rat v = take_coefficient(b);
    if (b->op == SL_OP_MUL && b->count == 1) b = b->first;
    sl_rat u = take_coefficient(a);
    if (a->op == SL_OP_MUL && a->count == 1) a = a->first;
    if (!sl_expr_rat_mul(&v, u, v)) return beyond(r);
    a = join(r, SL_OP_MUL, a, b);
    return a ? scale(r, v, a) : NULL;
}

static sl_term *invert(sl_reader *r, sl_term *t) {
    if (is_coefficient(t)) {
        sl_rat v = t->value;
        t->value = v.num < 0 ? (sl_rat){ -v.den, -v.num } : (sl_rat){ v.den, v.num };
        return t;
    }
    if (t->op == SL_OP_POW && t->value.num > 0) {
        t->value.num = -t->value.num;
        return t;
    }
    if (t->op == SL_OP_MUL) { // never holds another product, so this goes one level down
        sl_term *factors = t->first;
        t->first = t->last = NULL;
        t->count = 0;
        t->depth = 0;
        for (sl_term *c = factors, *next; c; c = next) {
            next = c->next;
            c->next = NULL;
            sl_term *inverse = invert(r, c);
            if (!inverse || !append(r, t, inverse)) return NULL;
        }
        return t;
    }
    return sl_expr__term_pow(r, t, SL_RAT(-1));
}

sl_term *sl_expr__term_div(sl_reader *r, sl_term *a, sl_term *b) {
    if (!a || !b) return NULL;
    sl_term *inverse = invert(r, b);
    return sl_expr__term_mul(r, a, inverse);
}

sl_term *sl_expr__term_neg(sl_reader *r, sl_term *a) {
    if (!a) return NULL;
    return a->op == SL_OP_NUM && a->value.num == 0 ? a : scale(r, SL_RAT(-1), a);
}

sl_term *sl_expr__term_pow(sl_reader *r, sl_term *base, sl_rat exponent) {
    sl_term *t = base ? wrap(r, SL_OP_POW, base) : NULL;
    if (t) t->value = exponent;
    return t;
}

sl_term *sl_expr__term_call(sl_reader *r, sl_function f, sl_term *operand) {
    if (!operand) return NULL;
    if (f == SL_FUNCTION_NEG) return sl_expr__term_neg(r, operand);
    if (f == SL_FUNCTION_SQRT) return sl_expr__term_pow(r, operand, (sl_rat){ 1, 2 });
    if (f == SL_FUNCTION_LOG10 || f == SL_FUNCTION_LOG2) {
        sl_term *base = sl_expr__term_num(r, SL_RAT(f == SL_FUNCTION_LOG10 ? 10 : 2));
        if (base) base = wrap(r, SL_OP_LOG, base);
        return sl_expr__term_div(r, wrap(r, SL_OP_LOG, operand), base);
    }
    if (f == SL_FUNCTION_LOG1P) {
        sl_term *sum = sl_expr__term_add(r, sl_expr__term_num(r, SL_RAT(1)), operand);
        return sum ? wrap(r, SL_OP_LOG, sum) : NULL;
    }
    if (f == SL_FUNCTION_EXPM1)
        return sl_expr__term_add(r, wrap(r, SL_OP_EXP, operand), sl_expr__term_num(r, SL_RAT(-1)));
    return wrap(r, (sl_op)f, operand);
}

sl_term *sl_expr__term_exact(sl_reader *r, sl_constant which) {
    if (which == SL_CONSTANT_PI) return make(r, SL_OP_PI);
    sl_term *one = sl_expr__term_num(r, SL_RAT(1));
    return one ? wrap(r, SL_OP_EXP, one) : NULL;
}

bool sl_expr__term_value(sl_reader *r, sl_rat *out, sl_term *t) {
    if (t->op == SL_OP_NUM) {
        *out = t->value;
        return true;
    }
    size_t mark = sl_arena_mark(r->arena);
    const sl_node *e;
    sl_status st = sl_expr__term_emit(&e, r->arena, t);
    if (st == SL_OK) st = sl_expr_tidy(&e, r->arena, e);
    bool known = st == SL_OK && e->op == SL_OP_NUM;
    if (known) *out = sl_expr_num_value(e);
    if (st == SL_ENOMEM) sl_expr__text_fail(r, st, r->at, "%s", sl_last_error());
    sl_arena_rewind(r->arena, mark);
    return known;
}

sl_term *sl_expr__term_power(sl_reader *r, sl_term *base, sl_term *exponent) {
    if (!base || !exponent) return NULL;
    sl_rat p;
    if (sl_expr__term_value(r, &p, exponent)) return sl_expr__term_pow(r, base, p);
    sl_term *t = r->st == SL_OK ? wrap(r, SL_OP_RAISE, base) : NULL;
    return t ? append(r, t, exponent) : NULL;
}

/* ---------------------------------------------------------------- to nodes ------------------ */

static size_t slots(const sl_term *t) {
    if (t->op == SL_OP_NUM) return sl_expr__num_len(t->value);
    size_t n = t->op == SL_OP_POW ? 1 + sl_expr__num_len(t->value) : 1;
    for (const sl_term *c = t->first; c; c = c->next) n += slots(c);
    return n;
}

static sl_node *write_nodes(sl_node *w, const sl_term *t) {
    if (t->op == SL_OP_NUM) return sl_expr_num_put(w, t->value);
    sl_node *head = w++;
    *head = (sl_node){ .op = t->op, .arg = t->number };
    for (const sl_term *c = t->first; c; c = c->next) w = write_nodes(w, c);
    if (t->op == SL_OP_POW) w = sl_expr_num_put(w, t->value);
    if (t->first) head->arg = (uint16_t)(t->count + (t->op == SL_OP_POW));
    head->len = (uint32_t)(w - head);
    return w;
}

sl_status sl_expr__term_emit(const sl_node **out, sl_arena *a, const sl_term *t) {
    sl_node *e;
    SL_TRY(sl_expr__room(&e, a, slots(t)));
    write_nodes(e, t);
    *out = e;
    return SL_OK;
}
