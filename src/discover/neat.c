/* neat - the simplest form of a found formula.
 *
 * The search combines terms in any form: (a w - a c)/(d/k) for k a (w - c)/d. Two
 * other forms are tried: the canonical one, which is a sum of products, and that sum with what all
 * its terms have in common in front of it. The one of fewest nodes is kept, the given one among
 * equals. All have the same constants and the same values wherever they are real. */
#include "discover/discover_impl.h"

enum { FACTORS_MAX = 32 };

/* Factors of a term, numbers left out: operands of a product, or the term itself. Returns how many;
 * -1: too many. */
static int factors_of(const sl_node **factor, const sl_node *term) {
    if (term->op != SL_OP_MUL) {
        factor[0] = term;
        return term->op != SL_OP_NUM;
    }
    const sl_node *c = term + 1;
    int n = 0;
    for (int i = 0; i < term->arg; i++, c = sl_expr_next(c)) {
        if (c->op == SL_OP_NUM) continue;
        if (n == FACTORS_MAX) return -1;
        factor[n++] = c;
    }
    return n;
}

static const sl_node *base_of(const sl_node *factor) {
    const bool power = factor->op == SL_OP_POW && sl_expr_next(factor + 1)->op == SL_OP_NUM;
    return power ? factor + 1 : factor;
}

static sl_rat exponent_of(const sl_node *factor) {
    return base_of(factor) == factor ? SL_RAT(1) : sl_expr_num_value(sl_expr_next(factor + 1));
}

/* The exponent that the base has in a term: 0 where it is no factor of it. */
static sl_rat find_exponent(const sl_node *term, const sl_node *base) {
    const sl_node *factor[FACTORS_MAX];
    const int n = factors_of(factor, term);
    for (int i = 0; i < n; i++)
        if (sl_expr_equal(base_of(factor[i]), base)) return exponent_of(factor[i]);
    return SL_RAT(0);
}

/* What of base^x all terms have: the exponent nearest to 0 if all have the same sign, else 0. */
static sl_rat common_exponent(const sl_node *sum, const sl_node *base, sl_rat first) {
    const sl_node *term = sum + 1;
    sl_rat least = first;
    for (int i = 0; i < sum->arg; i++, term = sl_expr_next(term)) {
        const sl_rat x = find_exponent(term, base);
        if (x.num == 0 || (x.num > 0) != (first.num > 0)) return SL_RAT(0);
        if (sl_expr_rat_cmp(x, least) * (first.num > 0 ? 1 : -1) < 0) least = x;
    }
    return least;
}

/* *out := sum with the n factors in front of it, each term divided by them. */
static sl_status take_out(const sl_node **out, sl_arena *a, const sl_node *sum,
                          const sl_node *const *front, const sl_node *const *inverse, int n) {
    const sl_node **terms = sl_arena_alloc(a, (size_t)sum->arg * sizeof(const sl_node *));
    const sl_node *product[FACTORS_MAX + 1];
    if (!terms) return sl_fail_memory((size_t)sum->arg, sizeof *terms, "terms");
    const sl_node *term = sum + 1;
    for (int i = 0; i < sum->arg; i++, term = sl_expr_next(term)) {
        for (int k = 0; k < n; k++) product[k] = inverse[k];
        product[n] = sl_expr_copy(a, term);
        const sl_node *divided = product[n] ? sl_expr_nary(a, SL_OP_MUL, product, n + 1) : NULL;
        if (!divided) return sl_fail_memory(1, sizeof *divided, "terms");
        SL_TRY(sl_expr_canon(&terms[i], a, divided));
    }
    for (int k = 0; k < n; k++) product[k] = front[k];
    product[n] = sl_expr_nary(a, SL_OP_ADD, terms, sum->arg);
    const sl_node *whole = product[n] ? sl_expr_nary(a, SL_OP_MUL, product, n + 1) : NULL;
    if (!whole) return sl_fail_memory(1, sizeof *whole, "a product");
    return sl_expr_tidy(out, a, whole);
}

/* *out := a sum with its common factors in front; NULL: it has none. */
static sl_status factor_out(const sl_node **out, sl_arena *a, const sl_node *e) {
    const sl_node *factor[FACTORS_MAX], *front[FACTORS_MAX], *inverse[FACTORS_MAX];
    *out = NULL;
    if (e->op != SL_OP_ADD) return SL_OK;
    const int n = factors_of(factor, e + 1);
    int common = 0;
    for (int i = 0; i < n; i++) {
        const sl_node *base = base_of(factor[i]);
        const sl_rat x = common_exponent(e, base, exponent_of(factor[i]));
        if (x.num == 0) continue;
        front[common] = sl_expr_pow(a, base, x);
        inverse[common] = sl_expr_pow(a, base, (sl_rat){ -x.num, x.den });
        if (!front[common] || !inverse[common]) return sl_fail_memory(1, sizeof *e, "factors");
        common++;
    }
    return common > 0 ? take_out(out, a, e, front, inverse, common) : SL_OK;
}

sl_status sl_discover__neat(const sl_node **e, sl_arena *a, const sl_node *form) {
    const int params = sl_expr_max_par(*e);
    const sl_node *factored;
    const sl_status st = factor_out(&factored, a, form);
    if (st == SL_ENOMEM) return st;
    const sl_node *tries[] = { form, st == SL_OK ? factored : NULL };
    int least = sl_expr_nodes(*e);
    for (int i = 0; i < SL_LEN(tries); i++) {
        if (!tries[i] || sl_expr_max_par(tries[i]) != params) continue;
        if (sl_expr_nodes(tries[i]) >= least) continue;
        least = sl_expr_nodes(tries[i]);
        *e = tries[i];
    }
    return SL_OK;
}
