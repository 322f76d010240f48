/* Structure of expressions: numbers in nodes, builders, measures, the total order. */
#include "expr/expr_impl.h"

#include <limits.h>

#define X(id, name, operands, commutes) [SL_OP_##id] = operands,
static const int8_t operands_of[SL_OP_COUNT] = { SL_NODES(X) };
#undef X

/* ---------------------------------------------------------------- numbers ------------------- */

static bool is_small(sl_rat v) {
    return v.num >= INT8_MIN && v.num <= INT8_MAX && v.den <= UINT8_MAX;
}

sl_rat sl_expr_num_value(const sl_node *e) {
    if (e->len == 1) return (sl_rat){ (int8_t)(e->arg >> 8), e->arg & 0xff };
    sl_rat v;
    memcpy(&v.num, e + 1, sizeof v.num);
    memcpy(&v.den, e + 2, sizeof v.den);
    return v;
}

uint32_t sl_expr__num_len(sl_rat v) { return is_small(v) ? 1 : 3; }

sl_node *sl_expr_num_put(sl_node *w, sl_rat v) {
    if (is_small(v)) {
        *w = (sl_node){ .op = SL_OP_NUM,
                        .arg = (uint16_t)((uint16_t)(uint8_t)(int8_t)v.num << 8 | (uint16_t)v.den),
                        .len = 1 };
        return w + 1;
    }
    *w = (sl_node){ .op = SL_OP_NUM, .len = 3 };
    memcpy(w + 1, &v.num, sizeof v.num);
    memcpy(w + 2, &v.den, sizeof v.den);
    return w + 3;
}

/* ---------------------------------------------------------------- builders ------------------ */

static sl_node *room(sl_arena *a, size_t len) {
    return len > SL_EXPR_MAX ? NULL : sl_arena_alloc(a, len * sizeof(sl_node));
}

const sl_node *sl_expr_num(sl_arena *a, sl_rat value) {
    sl_node *r = room(a, sl_expr__num_len(value));
    if (r) sl_expr_num_put(r, value);
    return r;
}

const sl_node *sl_expr_int(sl_arena *a, int64_t value) { return sl_expr_num(a, SL_RAT(value)); }

static const sl_node *leaf(sl_arena *a, sl_op op, int number) {
    SL_ASSERT(number >= 1 && number <= UINT16_MAX);
    sl_node *r = room(a, 1);
    if (r) *r = (sl_node){ .op = (uint8_t)op, .arg = (uint16_t)number, .len = 1 };
    return r;
}

const sl_node *sl_expr_var(sl_arena *a, int number) { return leaf(a, SL_OP_VAR, number); }
const sl_node *sl_expr_par(sl_arena *a, int number) { return leaf(a, SL_OP_PAR, number); }

const sl_node *sl_expr_pi(sl_arena *a) {
    sl_node *r = room(a, 1);
    if (r) *r = (sl_node){ .op = SL_OP_PI, .len = 1 };
    return r;
}

const sl_node *sl_expr_copy(sl_arena *a, const sl_node *e) {
    sl_node *r = room(a, e->len);
    if (r) memcpy(r, e, e->len * sizeof *r);
    return r;
}

const sl_node *sl_expr_nary(sl_arena *a, sl_op op, const sl_node *const *operands, int n) {
    SL_ASSERT((op == SL_OP_ADD || op == SL_OP_MUL) && n >= 2 && n <= UINT16_MAX);
    size_t len = 1;
    for (int i = 0; i < n; i++) {
        if (!operands[i]) return NULL; // so that builders nest without a check at every step
        len += operands[i]->len;
    }
    sl_node *r = room(a, len);
    if (!r) return NULL;
    r[0] = (sl_node){ .op = (uint8_t)op, .arg = (uint16_t)n, .len = (uint32_t)len };
    sl_node *w = r + 1;
    for (int i = 0; i < n; i++) w = sl_expr__put(w, operands[i]);
    return r;
}

const sl_node *sl_expr_pow(sl_arena *a, const sl_node *base, sl_rat exponent) {
    if (!base) return NULL;
    size_t len = 1 + base->len + sl_expr__num_len(exponent);
    sl_node *r = room(a, len);
    if (!r) return NULL;
    r[0] = (sl_node){ .op = SL_OP_POW, .arg = 2, .len = (uint32_t)len };
    sl_expr_num_put(sl_expr__put(r + 1, base), exponent);
    return r;
}

const sl_node *sl_expr_power(sl_arena *a, const sl_node *base, const sl_node *exponent) {
    if (!base || !exponent) return NULL;
    if (exponent->op == SL_OP_NUM) return sl_expr_pow(a, base, sl_expr_num_value(exponent));
    size_t len = 1 + (size_t)base->len + exponent->len;
    sl_node *r = room(a, len);
    if (!r) return NULL;
    r[0] = (sl_node){ .op = SL_OP_RAISE, .arg = 2, .len = (uint32_t)len };
    sl_expr__put(sl_expr__put(r + 1, base), exponent);
    return r;
}

bool sl_expr_is_fn(sl_op op) { return operands_of[op] == 1; }

const sl_node *sl_expr_fn(sl_arena *a, sl_op op, const sl_node *operand) {
    SL_ASSERT(operands_of[op] == 1);
    if (!operand) return NULL;
    sl_node *r = room(a, 1 + (size_t)operand->len);
    if (!r) return NULL;
    r[0] = (sl_node){ .op = (uint8_t)op, .arg = 1, .len = 1 + operand->len };
    sl_expr__put(r + 1, operand);
    return r;
}

const sl_node *sl_expr_apply(sl_arena *a, sl_operator o, const sl_node *p, const sl_node *q) {
    const sl_node *minus = sl_expr_int(a, -1);
    switch (o) {
#define X(id, name) \
    case SL_OPERATOR_##id: return sl_expr_fn(a, SL_OP_##id, p);
        SL_EXPR_FUNCTIONS(X)
#undef X
    case SL_OPERATOR_NEG: return sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ minus, p }, 2);
    case SL_OPERATOR_SQRT: return sl_expr_pow(a, p, (sl_rat){ 1, 2 });
    case SL_OPERATOR_ADD: return sl_expr_nary(a, SL_OP_ADD, (const sl_node *[]){ p, q }, 2);
    case SL_OPERATOR_SUB:
        q = sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ minus, q }, 2);
        return sl_expr_nary(a, SL_OP_ADD, (const sl_node *[]){ p, q }, 2);
    case SL_OPERATOR_MUL: return sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ p, q }, 2);
    case SL_OPERATOR_DIV:
        q = sl_expr_pow(a, q, SL_RAT(-1));
        return sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ p, q }, 2);
    case SL_OPERATOR_POW: return sl_expr_power(a, p, q);
    case SL_OPERATOR_COUNT: break;
    }
    SL_ASSERT(!"an operator");
    return NULL;
}

/* ---------------------------------------------------------------- measures ------------------ */

int sl_expr_nodes(const sl_node *e) {
    int n = 0;
    for (uint32_t i = 0; i < e->len; n++) i += sl_expr_step(&e[i]);
    return n;
}

static int max_number(const sl_node *e, sl_op op) {
    int most = 0;
    for (uint32_t i = 0; i < e->len; i += sl_expr_step(&e[i]))
        if (e[i].op == op) most = SL_MAX(most, e[i].arg);
    return most;
}

int sl_expr_max_var(const sl_node *e) { return max_number(e, SL_OP_VAR); }
int sl_expr_max_par(const sl_node *e) { return max_number(e, SL_OP_PAR); }

uint64_t sl_expr_variables(const sl_node *e) {
    uint64_t set = 0; // SL_EXPR_MAX_VARS is 64
    for (uint32_t i = 0; i < e->len; i += sl_expr_step(&e[i]))
        if (e[i].op == SL_OP_VAR) set |= UINT64_C(1) << (e[i].arg - 1);
    return set;
}

uint64_t sl_expr_hash(const sl_node *e) { return sl_hash(e, e->len * sizeof *e, 0); }

/* ---------------------------------------------------------------- validity ------------------ */

static bool valid_num(const sl_node *e, size_t n) {
    if (e->len != 1 && (e->len != 3 || n < 3 || e->arg != 0)) return false;
    sl_rat v = sl_expr_num_value(e), r;
    // lowest terms, and the small form wherever it fits
    return v.den > 0 && v.num != INT64_MIN && sl_expr_rat_make(&r, v.num, v.den) &&
           r.num == v.num && r.den == v.den && sl_expr__num_len(v) == e->len;
}

static bool valid(const sl_node *e, size_t n, int depth) {
    if (n == 0 || e->op >= SL_OP_COUNT || e->zero || e->len == 0 || e->len > n) return false;
    if (e->op == SL_OP_NUM) return valid_num(e, n);
    if (e->op == SL_OP_VAR) return e->len == 1 && e->arg >= 1 && e->arg <= SL_EXPR_MAX_VARS;
    if (e->op == SL_OP_PAR) return e->len == 1 && e->arg >= 1;
    if (e->op == SL_OP_PI) return e->len == 1 && e->arg == 0;
    int want = operands_of[e->op];
    if (want < 0 ? e->arg < 2 : e->arg != want) return false;
    if (depth == 0) return false;
    size_t at = 1;
    for (int i = 0; i < e->arg; i++) {
        if (at >= e->len || !valid(e + at, e->len - at, depth - 1)) return false;
        if (e->op == SL_OP_POW && i == 1 && e[at].op != SL_OP_NUM) return false;
        at += e[at].len;
    }
    return at == e->len;
}

bool sl_expr_valid(const sl_node *e, size_t n) {
    return n <= SL_EXPR_MAX && n > 0 && e->len == n && valid(e, n, SL_EXPR_MAX_DEPTH);
}

/* ---------------------------------------------------------------- total order --------------- */

/* The order that canonical forms are written in. A term is compared as a product of powers: factors
 * are compared one after the other, by base and then by falling exponent, and a term comes before
 * its own prefix, so a sum reads x1^2 + x1*x2 + x1 + x2 + sin(x1) + 1. Coefficients decide last, so
 * like terms are adjacent. */

static const uint8_t base_rank[SL_OP_COUNT] = {
    [SL_OP_NUM] = 0,   [SL_OP_PI] = 1,    [SL_OP_VAR] = 2,   [SL_OP_PAR] = 3,   [SL_OP_EXP] = 4,
    [SL_OP_SIN] = 5,   [SL_OP_COS] = 6,   [SL_OP_LOG] = 7,   [SL_OP_TAN] = 8,   [SL_OP_TANH] = 9,
    [SL_OP_SINH] = 10, [SL_OP_COSH] = 11, [SL_OP_ASIN] = 12, [SL_OP_ACOS] = 13, [SL_OP_ATAN] = 14,
    [SL_OP_ABS] = 15,  [SL_OP_ADD] = 16,  [SL_OP_MUL] = 17,  [SL_OP_POW] = 18,  [SL_OP_RAISE] = 19,
};

static int sign_of(int64_t a, int64_t b) { return (a > b) - (a < b); }

int sl_expr__cmp_base(const sl_node *a, const sl_node *b) {
    if (a == b) return 0;
    if (a->op != b->op) return sign_of(base_rank[a->op], base_rank[b->op]);
    switch (a->op) {
    case SL_OP_NUM: return sl_expr_rat_cmp(sl_expr_num_value(a), sl_expr_num_value(b));
    case SL_OP_VAR:
    case SL_OP_PAR: return sign_of(a->arg, b->arg);
    case SL_OP_POW: {
        int c = sl_expr__cmp_base(a + 1, b + 1);
        return c ? c
                 : -sl_expr_rat_cmp(sl_expr_num_value(sl_expr_next(a + 1)),
                                    sl_expr_num_value(sl_expr_next(b + 1)));
    }
    default: break; // operand by operand
    }
    int n = SL_MIN(a->arg, b->arg);
    const sl_node *x = a + 1, *y = b + 1;
    for (int i = 0; i < n; i++, x = sl_expr_next(x), y = sl_expr_next(y)) {
        int c = sl_expr_cmp(x, y);
        if (c) return c;
    }
    return sign_of(a->arg, b->arg);
}

/* The factors of a term: a cursor that skips the leading number. */
typedef struct cursor {
    const sl_node *at;
    int left;
    sl_rat coef;
} cursor;

static cursor factors_of(const sl_node *e) {
    cursor c = { e, 1, SL_RAT(1) };
    if (e->op == SL_OP_MUL) c = (cursor){ e + 1, e->arg, SL_RAT(1) };
    if (c.at->op == SL_OP_NUM) {
        c.coef = sl_expr_num_value(c.at);
        c.left--;
        if (c.left) c.at = sl_expr_next(c.at);
    }
    return c;
}

int sl_expr_cmp(const sl_node *a, const sl_node *b) {
    if (a == b) return 0;
    cursor x = factors_of(a), y = factors_of(b);
    for (; x.left && y.left;
         x.left--, y.left--, x.at = sl_expr_next(x.at), y.at = sl_expr_next(y.at)) {
        const sl_node *bx = sl_expr__base(x.at), *by = sl_expr__base(y.at);
        int c = sl_expr__cmp_base(bx, by);
        if (!c) c = -sl_expr_rat_cmp(sl_expr__exponent(x.at), sl_expr__exponent(y.at));
        if (c) return c;
    }
    if (x.left != y.left) return x.left ? -1 : 1;
    int c = sl_expr_rat_cmp(x.coef, y.coef);
    if (c || sl_expr_equal(a, b)) return c;
    // raw trees can differ and still look alike term by term, such as 1*x1 and x1
    if (a->len != b->len) return a->len < b->len ? -1 : 1;
    return memcmp(a, b, a->len * sizeof *a) < 0 ? -1 : 1;
}
