/* Leaves for other leaves or trees: numbers become free constants and free constants numbers again,
 * variables become expressions.
 *
 * One traversal serves all three. A rule gives the replacement of a leaf, first to measure the
 * result, then to write it: lengths of all subtrees above a replaced leaf change. Exponents are
 * part of a power and no leaves. */
#include "expr/expr_impl.h"

typedef struct walk walk;
/* The replacement of leaf e, which is a factor of a product or not. */
typedef const sl_node *(*rule)(walk *w, const sl_node *e, bool factor);

struct walk {
    rule rule;
    // numbers to constants
    double *value;
    int first, n, max; // the next constant is first + n
    bool full;
    // constants to numbers
    const sl_rat *bound;
    const bool *known;
    const int *place; // number of a constant that stays
    // variables to expressions
    const sl_node *const *with;
    int n_with;

    sl_node leaf[3]; // a replacement that is made here
};

/* exp(0), sin(0), log(1), ...: a number that tidying does not evaluate; *out is its value. */
static bool is_known(sl_rat *out, const sl_node *e) {
    if (!sl_expr_is_fn((sl_op)e->op) || e[1].op != SL_OP_NUM) return false;
    const sl_rat v = sl_expr_num_value(e + 1);
    if (e->op == SL_OP_ABS) {
        *out = (sl_rat){ v.num < 0 ? -v.num : v.num, v.den };
        return true;
    }
    const bool of_one = e->op == SL_OP_LOG || e->op == SL_OP_ACOS;
    *out = SL_RAT(e->op == SL_OP_EXP || e->op == SL_OP_COS || e->op == SL_OP_COSH);
    return sl_expr_rat_is(v, of_one ? 1 : 0);
}

static bool is_leaf(const sl_node *e) {
    sl_rat v;
    return e->op == SL_OP_NUM || e->op == SL_OP_VAR || e->op == SL_OP_PAR || e->op == SL_OP_PI ||
           is_known(&v, e);
}

static sl_status measure(size_t *len, walk *w, const sl_node *e, bool factor, int depth) {
    if (depth == 0) return sl_fail(SL_ELIMIT, "nested deeper than %d", SL_EXPR__DEEP);
    if (is_leaf(e)) {
        *len += w->rule(w, e, factor)->len;
        return SL_OK;
    }
    *len += 1;
    const sl_node *c = e + 1;
    const int operands = e->op == SL_OP_POW ? 1 : e->arg;
    for (int i = 0; i < operands; i++, c = sl_expr_next(c))
        SL_TRY(measure(len, w, c, e->op == SL_OP_MUL, depth - 1));
    if (e->op == SL_OP_POW) *len += c->len;
    return SL_OK;
}

static sl_node *copy(sl_node *to, walk *w, const sl_node *e, bool factor) {
    if (is_leaf(e)) return sl_expr__put(to, w->rule(w, e, factor));
    sl_node *at = to + 1;
    const sl_node *c = e + 1;
    const int operands = e->op == SL_OP_POW ? 1 : e->arg;
    for (int i = 0; i < operands; i++, c = sl_expr_next(c)) at = copy(at, w, c, e->op == SL_OP_MUL);
    if (e->op == SL_OP_POW) at = sl_expr__put(at, c);
    *to = *e;
    to->len = (uint32_t)(at - to);
    return at;
}

/* *out := e with its leaves replaced, and nothing else of it changed. */
static sl_status replace(const sl_node **out, sl_arena *a, walk *w, const sl_node *e) {
    size_t len = 0;
    SL_TRY(measure(&len, w, e, false, SL_EXPR__DEEP));
    if (w->full) return sl_fail(SL_ELIMIT, "more than %d numbers to be fitted", w->max);
    sl_node *r = NULL;
    SL_TRY(sl_expr__room(&r, a, len));
    w->n = 0; // counted again while writing
    copy(r, w, e, false);
    *out = r;
    return SL_OK;
}

/* ---------------------------------------------------------------- numbers to constants ------ */

static const sl_node *freed(walk *w, const sl_node *e, bool factor) {
    if (e->op != SL_OP_NUM) return e;
    if (factor && (sl_expr_num_is(e, 1) || sl_expr_num_is(e, -1))) return e;
    const int number = w->first + w->n;
    if (number > w->max) {
        w->full = true;
        return e;
    }
    w->value[number - 1] = sl_expr_rat_double(sl_expr_num_value(e));
    w->n++;
    *w->leaf = (sl_node){ .op = SL_OP_PAR, .arg = (uint16_t)number, .len = 1 };
    return w->leaf;
}

static sl_status free_by(rule which, const sl_node **out, double *value, int *n, int max,
                         sl_arena *a, const sl_node *e) {
    SL_ASSERT(max <= UINT16_MAX); // what a node can count
    const int before = sl_expr_max_par(e);
    walk w = { .rule = which, .value = value, .first = 1 + before, .max = max };
    w.full = before > max;
    SL_TRY(replace(out, a, &w, e));
    *n = before + w.n;
    return SL_OK;
}

sl_status sl_expr_free_numbers(const sl_node **out, double *value, int *n, int max, sl_arena *a,
                               const sl_node *e) {
    return free_by(freed, out, value, n, max, a, e);
}

/* A finite decimal other than halves, quarters and the like. */
static bool is_decimal(sl_rat v) {
    if (v.den % 5 != 0) return false;
    while (v.den % 5 == 0) v.den /= 5;
    while (v.den % 2 == 0) v.den /= 2;
    return v.den == 1;
}

static const sl_node *freed_decimal(walk *w, const sl_node *e, bool factor) {
    return e->op == SL_OP_NUM && is_decimal(sl_expr_num_value(e)) ? freed(w, e, factor) : e;
}

/* 17/10 and 981/100, but not 3/10. */
static bool has_decimals(const sl_node *e) {
    const sl_node *end = e + e->len;
    for (; e < end; e += sl_expr_step(e)) {
        if (e->op != SL_OP_NUM) continue;
        const sl_rat v = sl_expr_num_value(e);
        if (is_decimal(v) && v.den % 10 == 0 && (v.num >= 10 || v.num <= -10)) return true;
    }
    return false;
}

sl_status sl_expr_free_decimals(const sl_node **out, double *value, int *n, int max, sl_arena *a,
                                const sl_node *e) {
    *n = sl_expr_max_par(e);
    *out = e;
    if (!has_decimals(e)) return SL_OK;
    return free_by(freed_decimal, out, value, n, max, a, e);
}

/* ---------------------------------------------------------------- constants to numbers ------ */

static const sl_node *bound(walk *w, const sl_node *e, bool factor) {
    (void)factor;
    if (e->op != SL_OP_PAR) return e;
    const int k = e->arg - 1;
    if (w->known[k])
        sl_expr_num_put(w->leaf, w->bound[k]);
    else
        *w->leaf = (sl_node){ .op = SL_OP_PAR, .arg = (uint16_t)w->place[k], .len = 1 };
    return w->leaf;
}

sl_status sl_expr_bind(const sl_node **out, sl_arena *a, const sl_node *e, const sl_rat *value,
                       const bool *known) {
    const int n = sl_expr_max_par(e);
    int *place = sl_malloc((size_t)n, sizeof *place);
    if (!place) return sl_fail_memory((size_t)n, sizeof *place, "numbers of constants");
    int next = 1;
    for (int k = 0; k < n; k++) place[k] = known[k] ? 0 : next++;

    walk w = { .rule = bound, .bound = value, .known = known, .place = place };
    const size_t mark = sl_arena_mark(a);
    const sl_node *raw, *tidy = NULL;
    sl_status st = replace(&raw, a, &w, e);
    if (st == SL_OK) st = sl_expr_tidy(&tidy, a, raw);
    sl_free(place);
    return sl_expr__finish(out, a, mark, st, tidy);
}

static const sl_node *valued(walk *w, const sl_node *e, bool factor) {
    sl_rat v;
    (void)factor;
    if (!is_known(&v, e)) return e;
    sl_expr_num_put(w->leaf, v);
    return w->leaf;
}

static bool has_known(const sl_node *e) {
    sl_rat v;
    const sl_node *end = e + e->len;
    while (e < end && !is_known(&v, e)) e += sl_expr_step(e);
    return e < end;
}

sl_status sl_expr_fold(const sl_node **out, sl_arena *a, const sl_node *e) {
    const size_t mark = sl_arena_mark(a);
    walk w = { .rule = valued };
    const sl_node *raw;
    sl_status st = sl_expr_tidy(&e, a, e);
    while (st == SL_OK && has_known(e)) {
        st = replace(&raw, a, &w, e);
        if (st == SL_OK) st = sl_expr_tidy(&e, a, raw);
    }
    return sl_expr__finish(out, a, mark, st, e);
}

/* ---------------------------------------------------------------- variables ----------------- */

static const sl_node *substituted(walk *w, const sl_node *e, bool factor) {
    (void)factor;
    const bool replaced = e->op == SL_OP_VAR && e->arg <= w->n_with && w->with[e->arg - 1];
    return replaced ? w->with[e->arg - 1] : e;
}

sl_status sl_expr_substitute(const sl_node **out, sl_arena *a, const sl_node *e,
                             const sl_node *const *with, int n) {
    walk w = { .rule = substituted, .with = with, .n_with = n };
    return replace(out, a, &w, e);
}
