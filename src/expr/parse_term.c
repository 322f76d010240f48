/* Terms: the tree that a reader builds. */
#include "expr/text_impl.h"

sl_expr_term *sl_expr__term_fail(sl_expr_builder *build, sl_status st, size_t where,
                                 const char *format, ...) {
    if (build->st != SL_OK) return NULL; // later failures follow from the first
    build->st = st;
    build->where = where;
    va_list args;
    va_start(args, format);
    sl_vsnprintf(build->reason, sizeof build->reason, format, args);
    va_end(args);
    return NULL;
}

static size_t here(const sl_expr_builder *build) { return build->at ? *build->at : 0; }

static sl_expr_term *make(sl_expr_builder *build, sl_op op) {
    // twice the nodes an expression may have, and as much again for numbers that fold into one
    // another
    enum { MOST = 4 * SL_EXPR_MAX };
    if (build->st != SL_OK) return NULL;
    if (++build->made > MOST)
        return sl_expr__term_fail(build, SL_ELIMIT, here(build),
                                  "an expression of more than %d parts", MOST);
    sl_expr_term *t = sl_arena_alloc(build->arena, sizeof *t);
    if (!t) return sl_expr__term_fail(build, SL_ENOMEM, here(build), "no memory for an expression");
    *t = (sl_expr_term){ .op = (uint8_t)op };
    return t;
}

/* Records that t has this operand. */
static sl_expr_term *deepen(sl_expr_builder *build, sl_expr_term *t, const sl_expr_term *operand) {
    if (operand->depth >= SL_EXPR_MAX_DEPTH)
        return sl_expr__term_fail(build, SL_ELIMIT, here(build), "nested deeper than %d operations",
                                  SL_EXPR_MAX_DEPTH);
    if (t->depth < operand->depth + 1) t->depth = (uint16_t)(operand->depth + 1);
    return t;
}

static sl_expr_term *append(sl_expr_builder *build, sl_expr_term *list, sl_expr_term *operand) {
    if (list->last)
        list->last->next = operand;
    else
        list->first = operand;
    list->last = operand;
    list->count++;
    return deepen(build, list, operand);
}

static sl_expr_term *prepend(sl_expr_builder *build, sl_expr_term *list, sl_expr_term *operand) {
    operand->next = list->first;
    list->first = operand;
    if (!list->last) list->last = operand;
    list->count++;
    return deepen(build, list, operand);
}

static sl_expr_term *wrap(sl_expr_builder *build, sl_op op, sl_expr_term *operand) {
    sl_expr_term *t = make(build, op);
    return t ? append(build, t, operand) : NULL;
}

/* a op b for + and *: lists of the same operator become one. */
static sl_expr_term *join(sl_expr_builder *build, sl_op op, sl_expr_term *a, sl_expr_term *b) {
    if (a->op != op && b->op == op) return prepend(build, b, a);
    if (a->op != op) a = wrap(build, op, a);
    if (!a || b->op != op) return a ? append(build, a, b) : NULL;
    a->last->next = b->first;
    a->last = b->last;
    a->count += b->count;
    a->depth = SL_MAX(a->depth, b->depth);
    return a;
}

static bool is_coefficient(const sl_expr_builder *build, const sl_expr_term *t) {
    return build->fold && t->op == SL_OP_NUM && t->value.num != 0;
}

/* The number in front of a product, taken out of it; a zero is an ordinary factor, because of 1/0.
 */
static sl_rat take_coefficient(const sl_expr_builder *build, sl_expr_term *t) {
    sl_rat v = SL_RAT(1);
    if (t->op == SL_OP_MUL && is_coefficient(build, t->first)) {
        v = t->first->value;
        t->first = t->first->next; // there is one: a product has two factors or more
        t->count--;
    }
    return v;
}

sl_expr_term *sl_expr_term_num(sl_expr_builder *build, sl_rat value) {
    sl_expr_term *t = make(build, SL_OP_NUM);
    if (t) t->value = value;
    return t;
}

sl_expr_term *sl_expr_term_leaf(sl_expr_builder *build, sl_op op, int number) {
    sl_expr_term *t = make(build, op);
    if (t) t->number = (uint16_t)number;
    return t;
}

sl_expr_term *sl_expr_term_add(sl_expr_builder *build, sl_expr_term *a, sl_expr_term *b) {
    return a && b ? join(build, SL_OP_ADD, a, b) : NULL;
}

static sl_expr_term *beyond(sl_expr_builder *build) {
    return sl_expr__term_fail(build, SL_EOVERFLOW, here(build),
                              "the product of the numbers up to here is beyond "
                              "64-bit rationals");
}

/* v * t, with the number in front. */
static sl_expr_term *scale(sl_expr_builder *build, sl_rat v, sl_expr_term *t) {
    if (is_coefficient(build, t))
        return sl_expr_rat_mul(&t->value, t->value, v) ? t : beyond(build);
    if (t->op == SL_OP_MUL && is_coefficient(build, t->first))
        return sl_expr_rat_mul(&t->first->value, t->first->value, v) ? t : beyond(build);
    if (sl_expr_rat_is(v, 1)) return t;
    sl_expr_term *number = sl_expr_term_num(build, v);
    if (number && t->op != SL_OP_MUL) t = wrap(build, SL_OP_MUL, t);
    return number && t ? prepend(build, t, number) : NULL;
}

sl_expr_term *sl_expr_term_mul(sl_expr_builder *build, sl_expr_term *a, sl_expr_term *b) {
    if (!a || !b) return NULL;
    if (is_coefficient(build, b)) return scale(build, b->value, a);
    if (is_coefficient(build, a)) return scale(build, a->value, b);
    sl_rat v = take_coefficient(build, b);
    if (b->op == SL_OP_MUL && b->count == 1) b = b->first;
    sl_rat u = take_coefficient(build, a);
    if (a->op == SL_OP_MUL && a->count == 1) a = a->first;
    if (!sl_expr_rat_mul(&v, u, v)) return beyond(build);
    a = join(build, SL_OP_MUL, a, b);
    return a ? scale(build, v, a) : NULL;
}

static sl_expr_term *invert(sl_expr_builder *build, sl_expr_term *t) {
    if (is_coefficient(build, t)) {
        sl_rat v = t->value;
        t->value = v.num < 0 ? (sl_rat){ -v.den, -v.num } : (sl_rat){ v.den, v.num };
        return t;
    }
    if (t->op == SL_OP_POW && t->value.num > 0) {
        t->value.num = -t->value.num;
        return t;
    }
    if (t->op == SL_OP_MUL) { // never holds another product, so this goes one level down
        sl_expr_term *factors = t->first;
        t->first = t->last = NULL;
        t->count = 0;
        t->depth = 0;
        for (sl_expr_term *c = factors, *next; c; c = next) {
            next = c->next;
            c->next = NULL;
            sl_expr_term *inverse = invert(build, c);
            if (!inverse || !append(build, t, inverse)) return NULL;
        }
        return t;
    }
    return sl_expr_term_pow(build, t, SL_RAT(-1));
}

sl_expr_term *sl_expr_term_div(sl_expr_builder *build, sl_expr_term *a, sl_expr_term *b) {
    if (!a || !b) return NULL;
    sl_expr_term *inverse = invert(build, b);
    return sl_expr_term_mul(build, a, inverse);
}

sl_expr_term *sl_expr_term_neg(sl_expr_builder *build, sl_expr_term *a) {
    if (!a) return NULL;
    return a->op == SL_OP_NUM && a->value.num == 0 ? a : scale(build, SL_RAT(-1), a);
}

sl_expr_term *sl_expr_term_pow(sl_expr_builder *build, sl_expr_term *base, sl_rat exponent) {
    sl_expr_term *t = base ? wrap(build, SL_OP_POW, base) : NULL;
    if (t) t->value = exponent;
    return t;
}

sl_expr_term *sl_expr_term_fn(sl_expr_builder *build, sl_op op, sl_expr_term *operand) {
    return operand ? wrap(build, op, operand) : NULL;
}

sl_expr_term *sl_expr__term_call(sl_expr_builder *build, sl_function f, sl_expr_term *operand) {
    if (!operand) return NULL;
    if (f == SL_FUNCTION_NEG) return sl_expr_term_neg(build, operand);
    if (f == SL_FUNCTION_SQRT) return sl_expr_term_pow(build, operand, (sl_rat){ 1, 2 });
    if (f == SL_FUNCTION_LOG10 || f == SL_FUNCTION_LOG2) {
        sl_expr_term *base = sl_expr_term_num(build, SL_RAT(f == SL_FUNCTION_LOG10 ? 10 : 2));
        if (base) base = wrap(build, SL_OP_LOG, base);
        return sl_expr_term_div(build, wrap(build, SL_OP_LOG, operand), base);
    }
    if (f == SL_FUNCTION_LOG1P) {
        sl_expr_term *sum = sl_expr_term_add(build, sl_expr_term_num(build, SL_RAT(1)), operand);
        return sum ? wrap(build, SL_OP_LOG, sum) : NULL;
    }
    if (f == SL_FUNCTION_EXPM1)
        return sl_expr_term_add(build, wrap(build, SL_OP_EXP, operand),
                                sl_expr_term_num(build, SL_RAT(-1)));
    return wrap(build, (sl_op)f, operand);
}

sl_expr_term *sl_expr__term_exact(sl_expr_builder *build, sl_constant which) {
    if (which == SL_CONSTANT_PI) return make(build, SL_OP_PI);
    sl_expr_term *one = sl_expr_term_num(build, SL_RAT(1));
    return one ? wrap(build, SL_OP_EXP, one) : NULL;
}

/* ---------------------------------------------------------------- to nodes ------------------ */

static size_t slots(const sl_expr_term *t) {
    if (t->op == SL_OP_NUM) return sl_expr__num_len(t->value);
    size_t n = t->op == SL_OP_POW ? 1 + sl_expr__num_len(t->value) : 1;
    for (const sl_expr_term *c = t->first; c; c = c->next) n += slots(c);
    return n;
}

static sl_node *write_nodes(sl_node *w, const sl_expr_term *t) {
    if (t->op == SL_OP_NUM) return sl_expr_num_put(w, t->value);
    sl_node *head = w++;
    *head = (sl_node){ .op = t->op, .arg = t->number };
    for (const sl_expr_term *c = t->first; c; c = c->next) w = write_nodes(w, c);
    if (t->op == SL_OP_POW) w = sl_expr_num_put(w, t->value);
    if (t->first) head->arg = (uint16_t)(t->count + (t->op == SL_OP_POW));
    head->len = (uint32_t)(w - head);
    return w;
}

static sl_status emit(const sl_node **out, sl_arena *a, const sl_expr_term *t) {
    sl_node *e;
    SL_TRY(sl_expr__room(&e, a, slots(t)));
    write_nodes(e, t);
    *out = e;
    return SL_OK;
}

bool sl_expr_term_value(sl_expr_builder *build, sl_rat *out, sl_expr_term *t) {
    if (t->op == SL_OP_NUM) {
        *out = t->value;
        return true;
    }
    size_t mark = sl_arena_mark(build->arena);
    const sl_node *e;
    sl_status st = emit(&e, build->arena, t);
    if (st == SL_OK) st = sl_expr_tidy(&e, build->arena, e);
    bool known = st == SL_OK && e->op == SL_OP_NUM;
    if (known) *out = sl_expr_num_value(e);
    if (st == SL_ENOMEM) sl_expr__term_fail(build, st, here(build), "%s", sl_last_error());
    sl_arena_rewind(build->arena, mark);
    return known;
}

sl_expr_term *sl_expr__term_power(sl_expr_builder *build, sl_expr_term *base,
                                  sl_expr_term *exponent) {
    if (!base || !exponent) return NULL;
    sl_rat p;
    if (sl_expr_term_value(build, &p, exponent)) return sl_expr_term_pow(build, base, p);
    sl_expr_term *t = build->st == SL_OK ? wrap(build, SL_OP_RAISE, base) : NULL;
    return t ? append(build, t, exponent) : NULL;
}

sl_status sl_expr_term_end(const sl_node **out, sl_expr_builder *build, size_t mark,
                           const sl_expr_term *t) {
    const sl_node *e = NULL;
    sl_status st = emit(&e, build->arena, t);
    if (st == SL_OK) st = sl_expr_tidy(&e, build->arena, e);
    return sl_expr__finish(out, build->arena, mark, st, e);
}
