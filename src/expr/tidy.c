/* The cheap normal form: lift, merge numbers, sort. What parsers hand out, and what an expression
 * gets after constants were put into it; no term is multiplied out and no function rule is applied,
 * so the shape stays the one that was written. */
#include "expr/expr_impl.h"

#include <math.h>
#include <stdlib.h>

sl_status sl_expr__room(sl_node **out, sl_arena *a, size_t len) {
    if (len > SL_EXPR_MAX)
        return sl_fail(SL_ELIMIT, "expression grows beyond %d nodes", SL_EXPR_MAX);
    sl_node *r = sl_arena_alloc(a, len * sizeof *r);
    if (!r) return sl_fail_memory(len, sizeof *r, "an expression");
    *out = r;
    return SL_OK;
}

sl_status sl_expr__fn(const sl_node **out, sl_arena *a, sl_op op, const sl_node *argument) {
    sl_node *r = NULL;
    SL_TRY(sl_expr__room(&r, a, 1 + (size_t)argument->len));
    *r = (sl_node){ .op = (uint8_t)op, .arg = 1, .len = 1 + argument->len };
    sl_expr__put(r + 1, argument);
    *out = r;
    return SL_OK;
}

/* Moves e, built above mark, down to it. */
static sl_status keep(const sl_node **out, sl_arena *a, size_t mark, const sl_node *e) {
    enum { SMALL = 1024 }; // by way of the stack; the few larger ones by way of the heap
    sl_node small[SMALL], *large = NULL;
    const uint32_t len = e->len;
    if (len > SMALL && !(large = sl_malloc(len, sizeof *large)))
        return sl_fail_memory(len, sizeof *large, "an expression");
    memcpy(large ? large : small, e, len * sizeof *e);
    sl_arena_rewind(a, mark);
    sl_node *r = NULL;
    sl_status st = sl_expr__room(&r, a, len);
    if (st == SL_OK) memcpy(r, large ? large : small, len * sizeof *r);
    sl_free(large);
    if (st == SL_OK) *out = r;
    return st;
}

sl_status sl_expr__finish(const sl_node **out, sl_arena *a, size_t mark, sl_status st,
                          const sl_node *r) {
    if (st == SL_EXPR__NOWHERE) {
        sl_node *undefined = NULL;
        sl_arena_rewind(a, mark);
        SL_TRY(sl_expr__room(&undefined, a, 3));
        *undefined = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = 3 };
        sl_num_put(sl_num_put(undefined + 1, SL_RAT(0)), SL_RAT(-1));
        *out = undefined;
        return SL_OK;
    }
    if (st == SL_OK) st = keep(out, a, mark, r);
    if (st != SL_OK) sl_arena_rewind(a, mark);
    return st;
}

/* The q-th root of n >= 0 if it is a whole number. */
static bool whole_root(int64_t *out, int64_t n, int64_t q) {
    if (n <= 1) {
        *out = n;
        return true;
    }
    if (q > 62) return false;
    int64_t guess = (int64_t)llround(pow((double)n, 1.0 / (double)q));
    for (int64_t g = guess - 1; g <= guess + 1; g++) {
        sl_rat p;
        if (g > 0 && sl_rat_pow(&p, SL_RAT(g), q) && p.num == n) {
            *out = g;
            return true;
        }
    }
    return false;
}

sl_status sl_expr__num_pow(sl_rat *out, bool *exact, sl_rat v, sl_rat r) {
    sl_rat root = v;
    *exact = sl_rat_is_int(r) || (v.num >= 0 && whole_root(&root.num, v.num, r.den) &&
                                  whole_root(&root.den, v.den, r.den));
    if (!*exact) return SL_OK;
    if (!sl_rat_pow(out, root, r.num))
        return sl_fail(SL_EOVERFLOW, "a power of %lld is beyond 64-bit rationals",
                       (long long)v.num);
    return SL_OK;
}

/* Does a tidy expression hold a number that is none: 0 to a negative power, or a negative number to
 * a broken one? Then it is real nowhere, and so is what 0*e or e^0 stands in: these would make it
 * vanish. */
static bool is_nowhere(const sl_node *e) {
    for (uint32_t i = 0; i < e->len; i += sl_expr__step(&e[i])) {
        if (e[i].op != SL_OP_POW || e[i + 1].op != SL_OP_NUM) continue;
        sl_rat v = sl_num_value(&e[i + 1]), r = sl_num_value(sl_next(&e[i + 1]));
        if ((v.num == 0 && r.num < 0) || (v.num < 0 && !sl_rat_is_int(r))) return true;
    }
    return false;
}

static sl_status tidy(const sl_node **out, sl_arena *a, const sl_node *e, int depth);

static sl_status put_pow(const sl_node **out, sl_arena *a, const sl_node *base, sl_rat exponent) {
    sl_node *r;
    size_t len = 1 + base->len + sl_expr__num_len(exponent);
    SL_TRY(sl_expr__room(&r, a, len));
    *r = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = (uint32_t)len };
    sl_num_put(sl_expr__put(r + 1, base), exponent);
    *out = r;
    return SL_OK;
}

static sl_status put_number(const sl_node **out, sl_arena *a, sl_rat v) {
    sl_node *r;
    SL_TRY(sl_expr__room(&r, a, sl_expr__num_len(v)));
    sl_num_put(r, v);
    *out = r;
    return SL_OK;
}

static int cmp_operand(const void *a, const void *b) {
    return sl_expr_cmp(*(const sl_node *const *)a, *(const sl_node *const *)b);
}

/* A sum or product: children first, since a child may turn into what this node is. */
static sl_status tidy_nary(const sl_node **out, sl_arena *a, const sl_node *e, int depth) {
    const sl_op op = e->op;
    const bool product = op == SL_OP_MUL;
    sl_rat number = SL_RAT(product ? 1 : 0);
    const sl_node **list = sl_arena_alloc(a, e->len * sizeof *list); // no more operands than nodes
    if (!list) return sl_fail_memory(e->len, sizeof *list, "operands");

    int n = 0;
    const sl_node *child = e + 1;
    for (int i = 0; i < e->arg; i++, child = sl_next(child)) {
        const sl_node *c;
        SL_TRY(tidy(&c, a, child, depth - 1));
        const sl_node *part = c->op == op ? c + 1 : c;
        for (int parts = c->op == op ? c->arg : 1; parts--; part = sl_next(part)) {
            if (part->op != SL_OP_NUM) {
                list[n++] = part;
                continue;
            }
            sl_rat v = sl_num_value(part);
            if (!(product ? sl_rat_mul : sl_rat_add)(&number, number, v))
                return sl_fail(SL_EOVERFLOW, "a merged number is beyond 64-bit rationals");
        }
    }
    if (product && number.num == 0) { // 0*u = 0
        for (int i = 0; i < n; i++)
            if (is_nowhere(list[i])) return SL_EXPR__NOWHERE;
        n = 0;
    }
    qsort(list, (size_t)n, sizeof *list, cmp_operand);

    // the number first in a product, last in a sum, nowhere when it changes nothing
    bool with_number = n == 0 || !sl_rat_is(number, product ? 1 : 0);
    int count = n + with_number;
    if (count == 1 && n == 1) {
        *out = list[0];
        return SL_OK;
    }
    size_t len = with_number ? sl_expr__num_len(number) : 0;
    for (int i = 0; i < n; i++) len += list[i]->len;
    sl_node *r, *w;
    SL_TRY(sl_expr__room(&r, a, len + (count > 1)));
    w = r;
    if (count > 1)
        *w++ = (sl_node){ .op = (uint8_t)op, .arg = (uint16_t)count, .len = (uint32_t)len + 1 };
    if (with_number && product) w = sl_num_put(w, number);
    for (int i = 0; i < n; i++) w = sl_expr__put(w, list[i]);
    if (with_number && !product) sl_num_put(w, number);
    *out = r;
    return SL_OK;
}

static sl_status tidy_pow(const sl_node **out, sl_arena *a, const sl_node *e, int depth) {
    sl_rat exponent = sl_num_value(sl_next(e + 1));
    const sl_node *base;
    SL_TRY(tidy(&base, a, e + 1, depth - 1));
    if (sl_rat_is(exponent, 0))
        return is_nowhere(base) ? SL_EXPR__NOWHERE : put_number(out, a, SL_RAT(1));
    if (sl_rat_is(exponent, 1)) {
        *out = base;
        return SL_OK;
    }
    if (base->op != SL_OP_NUM) return put_pow(out, a, base, exponent);

    sl_rat v = sl_num_value(base);
    if (v.num == 0 && exponent.num < 0) return put_pow(out, a, base, SL_RAT(-1)); // 1/0
    bool exact;
    SL_TRY(sl_expr__num_pow(&v, &exact, v, exponent));
    return exact ? put_number(out, a, v) : put_pow(out, a, base, exponent);
}

static sl_status tidy(const sl_node **out, sl_arena *a, const sl_node *e, int depth) {
    if (depth == 0) return sl_fail(SL_ELIMIT, "nested deeper than %d", SL_EXPR__DEEP);
    const sl_node *c;
    switch ((sl_op)e->op) {
    case SL_OP_ADD:
    case SL_OP_MUL: return tidy_nary(out, a, e, depth);
    case SL_OP_POW: return tidy_pow(out, a, e, depth);
    case SL_OP_EXP:
    case SL_OP_SIN:
    case SL_OP_COS:
        SL_TRY(tidy(&c, a, e + 1, depth - 1));
        return sl_expr__fn(out, a, (sl_op)e->op, c);
    case SL_OP_NUM:
    case SL_OP_VAR:
    case SL_OP_PAR: *out = e; return SL_OK;
    case SL_OP_COUNT: break;
    }
    SL_ASSERT(!"a node");
    return SL_EINVAL;
}

sl_status sl_expr_tidy(const sl_node **out, sl_arena *a, const sl_node *e) {
    size_t mark = sl_arena_mark(a);
    const sl_node *r = NULL;
    sl_status st = tidy(&r, a, e, SL_EXPR__DEEP);
    return sl_expr__finish(out, a, mark, st, r);
}
