/* The cheap normal forms: lift, merge numbers, sort. Parsers return the tidy form: no term is
 * multiplied out and no function rule is applied, so the structure stays as written. The merged
 * form is for expressions with inserted constants: numbers also leave powers, are multiplied into
 * sums, and signs leave odd functions, so that fewer spellings of one function remain. */
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
    enum { SMALL = 1024 }; // copied through the stack; the few larger ones through the heap
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
    if (st == SL_EXPR__UNDEFINED) {
        sl_node *undefined = NULL;
        sl_arena_rewind(a, mark);
        SL_TRY(sl_expr__room(&undefined, a, 3));
        *undefined = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = 3 };
        sl_expr_num_put(sl_expr_num_put(undefined + 1, SL_RAT(0)), SL_RAT(-1));
        *out = undefined;
        return SL_OK;
    }
    if (st == SL_OK) st = keep(out, a, mark, r);
    if (st != SL_OK) sl_arena_rewind(a, mark);
    return st;
}

/* The q-th root of n >= 0 if it is an integer. */
static bool whole_root(int64_t *out, int64_t n, int64_t q) {
    if (n <= 1) {
        *out = n;
        return true;
    }
    if (q > 62) return false;
    int64_t guess = (int64_t)llround(pow((double)n, 1.0 / (double)q));
    for (int64_t g = guess - 1; g <= guess + 1; g++) {
        sl_rat p;
        if (g > 0 && sl_expr_rat_pow(&p, SL_RAT(g), q) && p.num == n) {
            *out = g;
            return true;
        }
    }
    return false;
}

sl_status sl_expr__num_pow(sl_rat *out, bool *exact, sl_rat v, sl_rat r) {
    sl_rat root = v;
    *exact = sl_expr_rat_is_int(r) || (v.num >= 0 && whole_root(&root.num, v.num, r.den) &&
                                       whole_root(&root.den, v.den, r.den));
    if (!*exact) return SL_OK;
    if (!sl_expr_rat_pow(out, root, r.num))
        return sl_fail(SL_EOVERFLOW, "a power of %lld is beyond 64-bit rationals",
                       (long long)v.num);
    return SL_OK;
}

/* Is e a power or function of a number that is outside its domain? */
static bool is_outside(const sl_node *e) {
    if (e->len == 1 || e->op == SL_OP_NUM || e[1].op != SL_OP_NUM) return false;
    sl_rat v = sl_expr_num_value(e + 1), r;
    switch (e->op) {
    case SL_OP_POW:
        r = sl_expr_num_value(sl_expr_next(e + 1));
        return (v.num == 0 && r.num < 0) || (v.num < 0 && !sl_expr_rat_is_int(r));
    case SL_OP_RAISE: return v.num < 0;
    case SL_OP_LOG: return v.num <= 0;
    case SL_OP_ASIN:
    case SL_OP_ACOS: return v.num > v.den || v.num < -v.den;
    default: return false;
    }
}

bool sl_expr_has_undefined(const sl_node *e) {
    for (uint32_t i = 0; i < e->len; i += sl_expr_step(&e[i]))
        if (is_outside(&e[i])) return true;
    return false;
}

typedef struct shaper {
    sl_arena *a;
    bool merge;
    bool in_product; // the result becomes part of a product, which merges its number
} shaper;

static sl_status tidy(const sl_node **out, shaper s, const sl_node *e, int depth);

static sl_status put_pow(const sl_node **out, sl_arena *a, const sl_node *base, sl_rat exponent) {
    sl_node *r;
    size_t len = 1 + base->len + sl_expr__num_len(exponent);
    SL_TRY(sl_expr__room(&r, a, len));
    *r = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = (uint32_t)len };
    sl_expr_num_put(sl_expr__put(r + 1, base), exponent);
    *out = r;
    return SL_OK;
}

static sl_status put_number(const sl_node **out, sl_arena *a, sl_rat v) {
    sl_node *r;
    SL_TRY(sl_expr__room(&r, a, sl_expr__num_len(v)));
    sl_expr_num_put(r, v);
    *out = r;
    return SL_OK;
}

static int cmp_operand(const void *a, const void *b) {
    return sl_expr_cmp(*(const sl_node *const *)a, *(const sl_node *const *)b);
}

/* Most sums and products have a handful of operands, often sorted already. */
static void sort_operands(const sl_node **list, int n) {
    enum { FEW = 12 };
    if (n > FEW) {
        qsort(list, (size_t)n, sizeof *list, cmp_operand);
        return;
    }
    for (int i = 1; i < n; i++) {
        const sl_node *e = list[i];
        int k = i;
        for (; k > 0 && sl_expr_cmp(list[k - 1], e) > 0; k--) list[k] = list[k - 1];
        list[k] = e;
    }
}

/* ---------------------------------------------------------------- merged -------------------- */

/* c times a tidy expression, itself tidy. */
static sl_status scale(const sl_node **out, sl_arena *a, sl_rat c, const sl_node *u) {
    sl_node *r;
    size_t len = 1 + sl_expr__num_len(c) + (size_t)u->len;
    SL_TRY(sl_expr__room(&r, a, len));
    *r = (sl_node){ .op = SL_OP_MUL, .arg = 2, .len = (uint32_t)len };
    sl_expr__put(sl_expr_num_put(r + 1, c), u);
    return tidy(out, (shaper){ .a = a }, r, SL_EXPR__DEEP);
}

/* 2 (x1 + 3) = 2 x1 + 6. */
static sl_status scale_sum(const sl_node **out, sl_arena *a, sl_rat c, const sl_node *sum) {
    const sl_node **list = sl_arena_alloc(a, sum->arg * sizeof *list);
    if (!list) return sl_fail_memory(sum->arg, sizeof *list, "operands");
    size_t len = 1;
    const sl_node *u = sum + 1;
    for (int i = 0; i < sum->arg; i++, u = sl_expr_next(u)) {
        SL_TRY(scale(&list[i], a, c, u));
        len += list[i]->len;
    }
    sl_node *r, *w;
    SL_TRY(sl_expr__room(&r, a, len));
    *r = (sl_node){ .op = SL_OP_ADD, .arg = sum->arg, .len = (uint32_t)len };
    w = r + 1;
    for (int i = 0; i < sum->arg; i++) w = sl_expr__put(w, list[i]);
    return tidy(out, (shaper){ .a = a }, r, SL_EXPR__DEEP);
}

/* The largest s > 0 whose q-th power divides n. */
static int64_t largest_root(int64_t n, int64_t q) {
    int64_t s = 1;
    for (int64_t p = 2; p <= 1000; p++) { // as far as canonical forms look for prime factors
        sl_rat pq;
        if (!sl_expr_rat_pow(&pq, SL_RAT(p), q) || pq.num > n) break;
        for (; n % pq.num == 0; n /= pq.num) s *= p;
    }
    return s;
}

/* (c u v)^n = c^n u^n v^n. */
static sl_status split_whole_power(const sl_node **out, sl_arena *a, const sl_node *base,
                                   sl_rat n) {
    size_t exponent = sl_expr__num_len(n), len = 1;
    const sl_node *u = base + 1;
    for (int i = 0; i < base->arg; i++, u = sl_expr_next(u)) len += 1 + u->len + exponent;
    sl_node *r, *w;
    SL_TRY(sl_expr__room(&r, a, len));
    *r = (sl_node){ .op = SL_OP_MUL, .arg = base->arg, .len = (uint32_t)len };
    w = r + 1;
    u = base + 1;
    for (int i = 0; i < base->arg; i++, u = sl_expr_next(u)) {
        *w = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = (uint32_t)(1 + u->len + exponent) };
        w = sl_expr_num_put(sl_expr__put(w + 1, u), n);
    }
    return tidy(out, (shaper){ .a = a }, r, SL_EXPR__DEEP);
}

bool sl_expr_merge_root(sl_rat *out, sl_rat *stays, sl_rat c, sl_rat exponent) {
    const sl_rat s = { largest_root(c.num < 0 ? -c.num : c.num, exponent.den),
                       largest_root(c.den, exponent.den) };
    return sl_expr_rat_pow(stays, s, -exponent.den) && sl_expr_rat_mul(stays, *stays, c) &&
           sl_expr_rat_pow(out, s, exponent.num);
}

/* (s^q c u)^(p/q) = s^p (c u)^(p/q): what is left of the number stays inside, with its sign. */
static sl_status split_root(const sl_node **out, sl_arena *a, const sl_node *base,
                            sl_rat exponent) {
    const sl_node *inside;
    sl_rat stays, factor;
    if (!sl_expr_merge_root(&factor, &stays, sl_expr_num_value(base + 1), exponent))
        return sl_fail(SL_EOVERFLOW, "a root is beyond 64-bit rationals");
    // the product with its number replaced
    sl_node *r;
    uint32_t rest = base->len - 1 - base[1].len;
    size_t len = 1 + sl_expr__num_len(stays) + rest;
    SL_TRY(sl_expr__room(&r, a, len));
    *r = (sl_node){ .op = SL_OP_MUL, .arg = base->arg, .len = (uint32_t)len };
    memcpy(sl_expr_num_put(r + 1, stays), sl_expr_next(base + 1), rest * sizeof *r);
    SL_TRY(tidy(&inside, (shaper){ .a = a }, r, SL_EXPR__DEEP));
    SL_TRY(put_pow(&inside, a, inside, exponent));
    return scale(out, a, factor, inside);
}

bool sl_expr_leads_negative(const sl_node *e) {
    const sl_node *first = e->op == SL_OP_ADD ? e + 1 : e;
    if (first->op == SL_OP_MUL) first++; // a number comes first in a product
    return first->op == SL_OP_NUM && sl_expr_num_value(first).num < 0;
}

/* sin(-u) = -sin u; cos(-u) = cos u, and so on. Like terms are not collected, so the negative of a
 * sum may lead negative too, as that of x1 - x1 does; then it stays as it is. */
static sl_status put_even_or_odd(const sl_node **out, sl_arena *a, sl_op op, const sl_node *u) {
    const sl_node *minus;
    if (!(sl_expr__is_odd(op) || sl_expr__is_even(op)) || !sl_expr_leads_negative(u))
        return sl_expr__fn(out, a, op, u);
    if (u->op == SL_OP_ADD)
        SL_TRY(scale_sum(&minus, a, SL_RAT(-1), u));
    else
        SL_TRY(scale(&minus, a, SL_RAT(-1), u));
    if (sl_expr_leads_negative(minus)) return sl_expr__fn(out, a, op, u);
    SL_TRY(sl_expr__fn(out, a, op, minus));
    return sl_expr__is_odd(op) ? scale(out, a, SL_RAT(-1), *out) : SL_OK;
}

/* ---------------------------------------------------------------- tidy ---------------------- */

/* A sum or product: operands first, since an operand may become a sum or product too. */
static sl_status tidy_nary(const sl_node **out, shaper s, const sl_node *e, int depth) {
    sl_arena *a = s.a;
    const sl_op op = e->op;
    const bool product = op == SL_OP_MUL;
    sl_rat number = SL_RAT(product ? 1 : 0);
    const sl_node **list = sl_arena_alloc(a, e->len * sizeof *list); // no more operands than nodes
    if (!list) return sl_fail_memory(e->len, sizeof *list, "operands");

    int n = 0;
    const sl_node *child = e + 1;
    for (int i = 0; i < e->arg; i++, child = sl_expr_next(child)) {
        const sl_node *c;
        SL_TRY(tidy(&c, (shaper){ a, s.merge, product }, child, depth - 1));
        const sl_node *part = c->op == op ? c + 1 : c;
        for (int parts = c->op == op ? c->arg : 1; parts--; part = sl_expr_next(part)) {
            if (part->op != SL_OP_NUM) {
                list[n++] = part;
                continue;
            }
            sl_rat v = sl_expr_num_value(part);
            if (!(product ? sl_expr_rat_mul : sl_expr_rat_add)(&number, number, v))
                return sl_fail(SL_EOVERFLOW, "a merged number is beyond 64-bit rationals");
        }
    }
    if (product && number.num == 0) { // 0*u = 0, unless u is undefined everywhere
        for (int i = 0; i < n; i++)
            if (sl_expr_has_undefined(list[i])) return SL_EXPR__UNDEFINED;
        n = 0;
    }
    sort_operands(list, n);

    // the number first in a product, last in a sum, omitted where it changes nothing
    bool with_number = n == 0 || !sl_expr_rat_is(number, product ? 1 : 0);
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
    if (with_number && product) w = sl_expr_num_put(w, number);
    for (int i = 0; i < n; i++) w = sl_expr__put(w, list[i]);
    if (with_number && !product) sl_expr_num_put(w, number);
    *out = r;
    return s.merge && product && !s.in_product && n == 1 && list[0]->op == SL_OP_ADD
               ? scale_sum(out, a, number, list[0])
               : SL_OK;
}

static sl_status tidy_pow(const sl_node **out, shaper s, const sl_node *e, sl_rat exponent,
                          int depth) {
    sl_arena *a = s.a;
    const sl_node *base;
    if (!sl_expr_rat_is(exponent, 1)) s.in_product = false;
    SL_TRY(tidy(&base, s, e + 1, depth - 1));
    if (sl_expr_rat_is(exponent, 0))
        return sl_expr_has_undefined(base) ? SL_EXPR__UNDEFINED : put_number(out, a, SL_RAT(1));
    if (sl_expr_rat_is(exponent, 1)) {
        *out = base;
        return SL_OK;
    }
    if (s.merge && base->op == SL_OP_MUL && base[1].op == SL_OP_NUM)
        return (sl_expr_rat_is_int(exponent) ? split_whole_power : split_root)(out, a, base,
                                                                               exponent);
    if (base->op != SL_OP_NUM) return put_pow(out, a, base, exponent);

    sl_rat v = sl_expr_num_value(base);
    if (v.num == 0 && exponent.num < 0) return put_pow(out, a, base, SL_RAT(-1)); // 1/0
    bool exact;
    SL_TRY(sl_expr__num_pow(&v, &exact, v, exponent));
    return exact ? put_number(out, a, v) : put_pow(out, a, base, exponent);
}

/* u^v: a power with a number, once v has turned out to be one; 1^v = 1. */
static sl_status tidy_raise(const sl_node **out, shaper s, const sl_node *e, int depth) {
    const sl_node *base, *exponent;
    SL_TRY(tidy(&exponent, (shaper){ s.a, s.merge, false }, sl_expr_next(e + 1), depth - 1));
    if (exponent->op == SL_OP_NUM) return tidy_pow(out, s, e, sl_expr_num_value(exponent), depth);
    SL_TRY(tidy(&base, (shaper){ s.a, s.merge, false }, e + 1, depth - 1));
    if (sl_expr_num_is(base, 1) && !sl_expr_has_undefined(exponent)) {
        *out = base;
        return SL_OK;
    }
    sl_node *r;
    size_t len = 1 + (size_t)base->len + exponent->len;
    SL_TRY(sl_expr__room(&r, s.a, len));
    *r = (sl_node){ .op = SL_OP_RAISE, .arg = 2, .len = (uint32_t)len };
    sl_expr__put(sl_expr__put(r + 1, base), exponent);
    *out = r;
    return SL_OK;
}

static sl_status tidy(const sl_node **out, shaper s, const sl_node *e, int depth) {
    if (depth == 0) return sl_fail(SL_ELIMIT, "nested deeper than %d", SL_EXPR__DEEP);
    const sl_node *c;
    switch ((sl_op)e->op) {
    case SL_OP_ADD:
    case SL_OP_MUL: return tidy_nary(out, s, e, depth);
    case SL_OP_POW: return tidy_pow(out, s, e, sl_expr__exponent(e), depth);
    case SL_OP_RAISE: return tidy_raise(out, s, e, depth);
    case SL_OP_NUM:
    case SL_OP_VAR:
    case SL_OP_PAR:
    case SL_OP_PI: *out = e; return SL_OK;
    default: break; // functions
    }
    SL_TRY(tidy(&c, (shaper){ s.a, s.merge, false }, e + 1, depth - 1));
    return s.merge ? put_even_or_odd(out, s.a, (sl_op)e->op, c)
                   : sl_expr__fn(out, s.a, (sl_op)e->op, c);
}

static sl_status shape(const sl_node **out, sl_arena *a, const sl_node *e, bool merge) {
    size_t mark = sl_arena_mark(a);
    const sl_node *r = NULL;
    sl_status st = tidy(&r, (shaper){ .a = a, .merge = merge }, e, SL_EXPR__DEEP);
    return sl_expr__finish(out, a, mark, st, r);
}

sl_status sl_expr_tidy(const sl_node **out, sl_arena *a, const sl_node *e) {
    return shape(out, a, e, false);
}

sl_status sl_expr_merge(const sl_node **out, sl_arena *a, const sl_node *e) {
    return shape(out, a, e, true);
}
