/* Random expressions: for tests of this and higher folders only. */
#include "expr/expr_test.h"

#include "expr/expr_impl.h"

static sl_status built(const sl_node **out, const sl_node *r) {
    if (!r) return sl_fail_memory(1, sizeof *r, "a random expression");
    *out = r;
    return SL_OK;
}

/* An integer of -range .. range without 0. */
static int64_t not_zero(sl_rng *rng, int range) {
    int64_t n = (int64_t)sl_rng_below(rng, 2 * (uint32_t)range) - range;
    return n < 0 ? n : n + 1;
}

static sl_status leaf(const sl_node **out, sl_arena *a, sl_rng *rng,
                      const sl_expr_random_options *o) {
    const bool is_number = o->number_range > 0 && sl_rng_below(rng, 4) == 0;
    const uint32_t numbers = 2 * (uint32_t)o->number_range + 1;
    if (is_number && o->with_pi && sl_rng_below(rng, 4) == 0) return built(out, sl_expr_pi(a));
    if (is_number)
        return built(out, sl_expr_int(a, (int64_t)sl_rng_below(rng, numbers) - o->number_range));
    return built(out, sl_expr_var(a, 1 + (int)sl_rng_below(rng, (uint32_t)o->variables)));
}

/* One of the set, each as likely. */
static sl_operator any_operator(sl_rng *rng, uint32_t ops) {
    uint32_t k = sl_rng_below(rng, (uint32_t)__builtin_popcount(ops));
    for (; k > 0; k--) ops &= ops - 1;
    return (sl_operator)__builtin_ctz(ops);
}

static sl_status grow(const sl_node **out, sl_arena *a, sl_rng *rng,
                      const sl_expr_random_options *o, int depth) {
    const sl_node *p, *q = NULL;
    if (depth == 0 || sl_rng_uniform(rng) < o->p_leaf) return leaf(out, a, rng, o);
    const sl_operator op = any_operator(rng, o->ops ? o->ops : SL_EXPR_FIRST_OPERATORS);
    SL_TRY(grow(&p, a, rng, o, depth - 1));
    if (sl_expr_operator_operands(op) == 2) SL_TRY(grow(&q, a, rng, o, depth - 1));
    return built(out, sl_expr_apply(a, op, p, q));
}

sl_status sl_expr_random(const sl_node **out, sl_arena *a, sl_rng *rng,
                         const sl_expr_random_options *options) {
    SL_ASSERT(options->depth >= 0 && options->depth <= 10); // 2^10 leaves fit SL_EXPR_MAX
    SL_ASSERT(options->variables >= 1 && options->variables <= SL_EXPR_MAX_VARS);
    return grow(out, a, rng, options, options->depth);
}

/* ---------------------------------------------------------------- rewriting ----------------- */

static sl_status rewrite(const sl_node **out, sl_arena *a, sl_rng *rng, const sl_node *e);

/* Appends the rewritten operands of e, and of operands that are of its kind again. */
static sl_status gather(const sl_node **list, int *n, sl_arena *a, sl_rng *rng, const sl_node *e) {
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        if (c->op == e->op)
            SL_TRY(gather(list, n, a, rng, c));
        else
            SL_TRY(rewrite(&list[(*n)++], a, rng, c));
    }
    return SL_OK;
}

/* Brackets a list at random: a few cuts, and the same again inside every piece. */
static sl_status bracket(const sl_node **out, sl_arena *a, sl_rng *rng, sl_op op,
                         const sl_node *const *list, int n) {
    if (n == 1) {
        *out = list[0];
        return SL_OK;
    }
    const sl_node **parts = sl_arena_alloc(a, (size_t)n * sizeof *parts);
    if (!parts) return sl_fail_memory((size_t)n, sizeof *parts, "operands");
    int k = 0;
    for (int from = 0; from < n;) {
        // the first piece is never the whole list
        const int most = k ? n - from : n - 1;
        const int size = 1 + (int)sl_rng_below(rng, (uint32_t)most);
        SL_TRY(bracket(&parts[k++], a, rng, op, list + from, size));
        from += size;
    }
    return built(out, sl_expr_nary(a, op, parts, k));
}

static sl_status rewrite(const sl_node **out, sl_arena *a, sl_rng *rng, const sl_node *e) {
    const sl_node *u, *v;
    switch ((sl_op)e->op) {
    case SL_OP_NUM:
    case SL_OP_VAR:
    case SL_OP_PAR:
    case SL_OP_PI: return built(out, sl_expr_copy(a, e));
    case SL_OP_POW:
        SL_TRY(rewrite(&u, a, rng, e + 1));
        return built(out, sl_expr_pow(a, u, sl_expr__exponent(e)));
    case SL_OP_RAISE:
        SL_TRY(rewrite(&u, a, rng, e + 1));
        SL_TRY(rewrite(&v, a, rng, sl_expr_next(e + 1)));
        return built(out, sl_expr_power(a, u, v));
    case SL_OP_ADD:
    case SL_OP_MUL: break;
    default: // functions
        SL_TRY(rewrite(&u, a, rng, e + 1));
        return built(out, sl_expr_fn(a, e->op, u));
    }
    const sl_node **list = sl_arena_alloc(a, e->len * sizeof *list);
    if (!list) return sl_fail_memory(e->len, sizeof *list, "operands");
    int n = 0;
    SL_TRY(gather(list, &n, a, rng, e));
    for (int i = n - 1; i > 0; i--) { // Fisher-Yates
        const int j = (int)sl_rng_below(rng, (uint32_t)i + 1);
        u = list[i], list[i] = list[j], list[j] = u;
    }
    return bracket(out, a, rng, e->op, list, n);
}

sl_status sl_expr_rewrite(const sl_node **out, sl_arena *a, sl_rng *rng, const sl_node *e) {
    return rewrite(out, a, rng, e);
}

/* ---------------------------------------------------------------- numbers ------------------- */

typedef struct insertion {
    sl_arena *a;
    sl_rng *rng;
    double p;
    int range;
} insertion;

/* a*u + b, with probability p for each of a and b. */
static sl_status affine(const sl_node **out, const insertion *w, const sl_node *u) {
    if (sl_rng_uniform(w->rng) < w->p) {
        const sl_node *list[] = { sl_expr_int(w->a, not_zero(w->rng, w->range)), u };
        SL_TRY(built(&u, sl_expr_nary(w->a, SL_OP_MUL, list, 2)));
    }
    if (sl_rng_uniform(w->rng) < w->p) {
        const sl_node *list[] = { u, sl_expr_int(w->a, not_zero(w->rng, w->range)) };
        SL_TRY(built(&u, sl_expr_nary(w->a, SL_OP_ADD, list, 2)));
    }
    *out = u;
    return SL_OK;
}

static sl_status insert(const sl_node **out, const insertion *w, const sl_node *e) {
    const sl_node *u = NULL, *v;
    switch ((sl_op)e->op) {
    case SL_OP_NUM:
    case SL_OP_PAR:
    case SL_OP_PI: return built(out, sl_expr_copy(w->a, e));
    case SL_OP_VAR: SL_TRY(built(&u, sl_expr_copy(w->a, e))); return affine(out, w, u);
    case SL_OP_POW:
        SL_TRY(insert(&u, w, e + 1));
        SL_TRY(built(&u, sl_expr_pow(w->a, u, sl_expr__exponent(e))));
        if (!sl_expr_rat_is_int(sl_expr__exponent(e)))
            return affine(out, w, u); // a root is a function
        *out = u;
        return SL_OK;
    case SL_OP_RAISE:
        SL_TRY(insert(&u, w, e + 1));
        SL_TRY(insert(&v, w, sl_expr_next(e + 1)));
        SL_TRY(built(&u, sl_expr_power(w->a, u, v)));
        return affine(out, w, u);
    case SL_OP_ADD:
    case SL_OP_MUL: break;
    default: // functions
        SL_TRY(insert(&u, w, e + 1));
        SL_TRY(built(&u, sl_expr_fn(w->a, e->op, u)));
        return affine(out, w, u);
    }
    const sl_node **list = sl_arena_alloc(w->a, e->arg * sizeof *list), *c = e + 1;
    if (!list) return sl_fail_memory(e->arg, sizeof *list, "operands");
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) SL_TRY(insert(&list[i], w, c));
    return built(out, sl_expr_nary(w->a, e->op, list, e->arg));
}

sl_status sl_expr_insert_numbers(const sl_node **out, sl_arena *a, sl_rng *rng, const sl_node *e,
                                 double p, int range) {
    SL_ASSERT(range >= 1);
    const insertion w = { a, rng, p, range };
    return insert(out, &w, e);
}
