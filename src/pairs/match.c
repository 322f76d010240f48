/* match - the chance that a base with random constants becomes a given expression.
 *
 * Many draws of constants give one expression, since numbers merge: (x1 + 3) + (x2 + 4) is (x1 + 5)
 * + (x2 + 2). They are not tried one by one; base and expression are traversed together. With its
 * constants, every node of a base becomes alpha T + beta with one term T, and a sum one term for
 * each of its operands. So for a given T a node has a law of alpha (term_law): products multiply
 * the laws of their operands, roots and whole powers map them, a sine adds both signs. For a sum,
 * every matching of its operands with the terms is counted, with the law of the sum of the betas
 * (chance_of).
 *
 * This follows sl_expr_merge, rule by rule, and uses its functions for roots and signs; a test
 * compares it with all draws. Left out are integer powers of products, which no canonical form has,
 * and sums and products of more than MAX_OPERANDS: their chance is returned too small. */
#include <stdlib.h>
#include <string.h>

#include "pairs/pairs_impl.h"

enum { MAX_OPERANDS = 16 }; // of a sum or product; longer ones are left unmatched

static bool minus(sl_rat *out, sl_rat a, sl_rat b) {
    return sl_expr_rat_mul(&b, b, SL_RAT(-1)) && sl_expr_rat_add(out, a, b);
}

static bool over(sl_rat *out, sl_rat a, sl_rat b) { // b is not 0
    return sl_expr_rat_pow(&b, b, -1) && sl_expr_rat_mul(out, a, b);
}

/* ---------------------------------------------------------------- laws ---------------------- */

typedef struct weighted {
    sl_rat value;
    double weight;
} weighted;

/* Weights of numbers, each number once. */
typedef struct law {
    weighted *at;
    int n;
} law;

static int cmp_weighted(const void *a, const void *b) {
    return sl_expr_rat_cmp(((const weighted *)a)->value, ((const weighted *)b)->value);
}

static sl_status law_new(law *out, sl_arena *a, size_t room) {
    *out = (law){ .at = sl_arena_alloc(a, room * sizeof *out->at) };
    if (!out->at) return sl_fail_memory(room, sizeof *out->at, "weights");
    return SL_OK;
}

static void law_add(law *l, sl_rat value, double weight) {
    if (weight > 0) l->at[l->n++] = (weighted){ value, weight };
}

static void law_gather(law *l) {
    int n = 0;
    qsort(l->at, (size_t)l->n, sizeof *l->at, cmp_weighted);
    for (int i = 0; i < l->n; i++) {
        if (n > 0 && sl_expr_rat_cmp(l->at[n - 1].value, l->at[i].value) == 0)
            l->at[n - 1].weight += l->at[i].weight;
        else
            l->at[n++] = l->at[i];
    }
    l->n = n;
}

static double law_at(const law *l, sl_rat value) {
    for (int i = 0; i < l->n; i++)
        if (sl_expr_rat_cmp(l->at[i].value, value) == 0) return l->at[i].weight;
    return 0;
}

/* The law of x o y for independent x and y. Numbers beyond 64 bits are left out: they would have
 * failed as pairs. */
static sl_status law_combine(law *out, sl_arena *a, const law *x, const law *y,
                             bool (*o)(sl_rat *, sl_rat, sl_rat)) {
    law r;
    SL_TRY(law_new(&r, a, (size_t)x->n * (size_t)y->n));
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < y->n; k++) {
            sl_rat v;
            if (o(&v, x->at[i].value, y->at[k].value))
                law_add(&r, v, x->at[i].weight * y->at[k].weight);
        }
    if (x->n > 1 && y->n > 1) law_gather(&r); // else they are as different as before
    *out = r;
    return SL_OK;
}

static sl_status law_one(law *out, sl_arena *a, sl_rat value, double weight) {
    SL_TRY(law_new(out, a, 1));
    law_add(out, value, weight);
    return SL_OK;
}

/* ---------------------------------------------------------------- the law of constants ------ */

typedef struct matcher {
    sl_arena *a;
    double chance; // of a constant
    int max;
} matcher;

/* -max .. max without 0 */
static bool is_constant(const matcher *m, sl_rat v) {
    return v.den == 1 && v.num != 0 && v.num >= -m->max && v.num <= m->max;
}

static double factor_chance(const matcher *m, sl_rat v) {
    if (sl_expr_rat_is(v, 1)) return 1 - m->chance;
    return is_constant(m, v) ? m->chance / (2 * m->max - 1) : 0;
}

static double summand_chance(const matcher *m, sl_rat v) {
    if (v.num == 0) return 1 - m->chance;
    return is_constant(m, v) ? m->chance / (2 * m->max) : 0;
}

/* Of a factor that keeps or turns its sign, by these weights. */
static sl_status factor_law(law *out, const matcher *m, double keeps, double turns) {
    SL_TRY(law_new(out, m->a, 2 * (size_t)m->max));
    for (int v = -m->max; v <= m->max; v++)
        if (v != 0)
            law_add(out, SL_RAT(v),
                    keeps * factor_chance(m, SL_RAT(v)) + turns * factor_chance(m, SL_RAT(-v)));
    return SL_OK;
}

static sl_status summand_law(law *out, const matcher *m, sl_rat scale) {
    SL_TRY(law_new(out, m->a, 2 * (size_t)m->max + 1));
    for (int v = -m->max; v <= m->max; v++) {
        sl_rat scaled;
        if (sl_expr_rat_mul(&scaled, SL_RAT(v), scale))
            law_add(out, scaled, summand_chance(m, SL_RAT(v)));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- parts of expressions ------ */

/* The operands of a sum or product but for its number; anything else is its own only operand.
 * Returns how many there are, -1 for too many. */
static int operands(const sl_node **list, sl_rat *number, const sl_node *e, sl_op op) {
    const bool many = e->op == op;
    const sl_node *u = many ? e + 1 : e;
    int n = 0;
    *number = SL_RAT(op == SL_OP_MUL ? 1 : 0);
    for (int i = 0; i < (many ? e->arg : 1); i++, u = sl_expr_next(u)) {
        if (u->op == SL_OP_NUM)
            *number = sl_expr_num_value(u);
        else if (n == MAX_OPERANDS)
            return -1;
        else
            list[n++] = u;
    }
    return n;
}

/* A number times some factors, which stand one after the other. */
typedef struct term {
    sl_rat number;
    const sl_node *factor;
    int n;
} term;

static term term_of(const sl_node *e) {
    if (e->op != SL_OP_MUL) return (term){ SL_RAT(1), e, 1 };
    if (e[1].op != SL_OP_NUM) return (term){ SL_RAT(1), e + 1, e->arg };
    return (term){ sl_expr_num_value(e + 1), sl_expr_next(e + 1), e->arg - 1 };
}

static uint64_t mix(uint64_t a, uint64_t b) { return sl_hash(&a, sizeof a, b); }

static uint64_t hash_of_many(const sl_node *u, int n, sl_op op) {
    uint64_t sum = 0, last = 0;
    int count = 0;
    for (int i = 0; i < n; i++, u = sl_expr_next(u)) {
        if (u->op == SL_OP_NUM) continue;
        last = sl_pairs__skeleton_hash(u);
        sum += mix(last, op); // in any order: constants change it
        count++;
    }
    return count == 1 ? last : mix(sum, (uint64_t)op + 1000);
}

uint64_t sl_pairs__skeleton_hash(const sl_node *e) {
    switch ((sl_op)e->op) {
    case SL_OP_ADD:
    case SL_OP_MUL: return hash_of_many(e + 1, e->arg, (sl_op)e->op);
    case SL_OP_POW:
        if (e[1].op == SL_OP_NUM) return sl_expr_hash(e);
        return mix(sl_pairs__skeleton_hash(e + 1), sl_expr_hash(sl_expr_next(e + 1)));
    case SL_OP_EXP:
    case SL_OP_SIN:
    case SL_OP_COS: return mix(sl_pairs__skeleton_hash(e + 1), (uint64_t)e->op + 2000);
    default: return sl_expr_hash(e);
    }
}

/* ---------------------------------------------------------------- matching ------------------ */

/* The chance that u with constants becomes s t. */
static sl_status chance_of(double *out, const matcher *m, const sl_node *u, const sl_node *t,
                           sl_rat s);
/* u, which is no sum, becomes alpha T + beta for the given T: the law of alpha. beta has a law of
 * its own (summand_scale). */
static sl_status term_law(law *out, const matcher *m, const sl_node *u, term T);

/* Has u, which is no sum, a beta? It is *scale times a summand. */
static bool summand_scale(sl_rat *scale, const sl_node *u) {
    const sl_node *list[MAX_OPERANDS];
    sl_rat number;
    *scale = SL_RAT(1);
    if (sl_pairs__is_site(u)) return true;
    if (u->op != SL_OP_MUL || operands(list, &number, u, SL_OP_MUL) != 1) return false;
    return summand_scale(scale, list[0]) && sl_expr_rat_mul(scale, *scale, number);
}

/* The chance that the betas of n operands add up to `want`: by the law of all but the last, then
 * the chance that the last is the difference. */
static sl_status chance_of_number(double *out, const matcher *m, const sl_node *const *operand,
                                  int n, sl_rat want) {
    sl_rat scale[MAX_OPERANDS], rest;
    law sum, next;
    int count = 0;
    for (int i = 0; i < n; i++) count += summand_scale(&scale[count], operand[i]);
    *out = want.num == 0;
    if (count == 0) return SL_OK;
    SL_TRY(law_one(&sum, m->a, SL_RAT(0), 1));
    for (int i = 0; i < count - 1; i++) {
        SL_TRY(summand_law(&next, m, scale[i]));
        SL_TRY(law_combine(&sum, m->a, &sum, &next, sl_expr_rat_add));
    }
    *out = 0;
    for (int i = 0; i < sum.n; i++)
        if (minus(&rest, want, sum.at[i].value) && over(&rest, rest, scale[count - 1]))
            *out += sum.at[i].weight * summand_chance(m, rest);
    return SL_OK;
}

/* u becomes alpha T and nothing besides: the law of alpha. */
static sl_status pure_law(law *out, const matcher *m, const sl_node *u, term T) {
    const sl_node *list[MAX_OPERANDS];
    sl_rat number, want;
    double chance = 0;
    *out = (law){ .n = 0 };
    if (operands(list, &number, u, SL_OP_ADD) != 1) return SL_OK;
    if (!minus(&want, SL_RAT(0), number)) return SL_OK;
    SL_TRY(term_law(out, m, list[0], T));
    if (out->n > 0) SL_TRY(chance_of_number(&chance, m, list, 1, want));
    for (int i = 0; i < out->n; i++) out->at[i].weight *= chance;
    if (chance == 0) out->n = 0;
    return SL_OK;
}

/* An argument whose first term is negative is negated, unless its negative begins so too (x1 - x1,
 * where the least number comes first). So an argument with a positive first term may be the
 * original or a negated one, and one with a negative first term is the original. */
static sl_status sine_law(law *out, const matcher *m, const sl_node *u, const sl_node *t) {
    double own, turned = 0;
    SL_TRY(chance_of(&own, m, u, t, SL_RAT(1)));
    if (!sl_expr_leads_negative(t)) SL_TRY(chance_of(&turned, m, u, t, SL_RAT(-1)));
    return factor_law(out, m, own, turned);
}

/* u^n becomes alpha t^n. A sum keeps its numbers; those of a single term become part of alpha. */
static sl_status whole_power_law(law *out, const matcher *m, const sl_node *u, const sl_node *t,
                                 sl_rat n) {
    law inner;
    double chance;
    if (t->op == SL_OP_ADD) {
        SL_TRY(chance_of(&chance, m, u, t, SL_RAT(1)));
        return law_one(out, m->a, SL_RAT(1), chance);
    }
    SL_TRY(pure_law(&inner, m, u, term_of(t)));
    SL_TRY(law_new(out, m->a, (size_t)inner.n));
    for (int i = 0; i < inner.n; i++) {
        sl_rat v;
        if (sl_expr_rat_pow(&v, inner.at[i].value, n.num)) law_add(out, v, inner.at[i].weight);
    }
    law_gather(out);
    return SL_OK;
}

/* u^(p/q) becomes alpha t^(p/q), alpha without the factor of the site. Of c U under the root s^p is
 * taken out, for c = s^q c', and c' U = t. */
static sl_status root_law(law *out, const matcher *m, const sl_node *u, const sl_node *t,
                          sl_rat r) {
    law inner;
    double chance;
    if (t->op == SL_OP_ADD) {
        SL_TRY(chance_of(&chance, m, u, t, SL_RAT(1)));
        return law_one(out, m->a, SL_RAT(1), chance);
    }
    const term T = term_of(t);
    SL_TRY(pure_law(&inner, m, u, T));
    SL_TRY(law_new(out, m->a, (size_t)inner.n));
    for (int i = 0; i < inner.n; i++) {
        sl_rat stays, v;
        if (sl_expr_merge_root(&v, &stays, inner.at[i].value, r) &&
            sl_expr_rat_cmp(stays, T.number) == 0)
            law_add(out, v, inner.at[i].weight);
    }
    law_gather(out);
    return SL_OK;
}

static sl_status power_law(law *out, const matcher *m, const sl_node *u, const sl_node *t) {
    const sl_rat r = sl_expr_num_value(sl_expr_next(u + 1));
    law core, factor;
    if (u[1].op == SL_OP_NUM) return law_one(out, m->a, SL_RAT(1), 1); // sqrt(2): by its key
    if (!sl_pairs__is_site(u)) return whole_power_law(out, m, u + 1, t + 1, r);
    SL_TRY(root_law(&core, m, u + 1, t + 1, r));
    SL_TRY(factor_law(&factor, m, 1, 0));
    return law_combine(out, m->a, &core, &factor, sl_expr_rat_mul);
}

/* Each of n operands takes one of n factors: what their numbers come to. */
typedef struct product {
    const matcher *m;
    int n;
    law at[MAX_OPERANDS][MAX_OPERANDS]; // by operand and factor
    int twin[MAX_OPERANDS];             // an equal factor before this one, or -1
    law sum;                            // over all ways
} product;

static sl_status product_ways(product *p, int i, uint32_t used, const law *so_far) {
    if (i == p->n) {
        law sum;
        SL_TRY(law_new(&sum, p->m->a, (size_t)(p->sum.n + so_far->n)));
        for (int k = 0; k < p->sum.n; k++) sum.at[sum.n++] = p->sum.at[k];
        for (int k = 0; k < so_far->n; k++) sum.at[sum.n++] = so_far->at[k];
        law_gather(&sum);
        p->sum = sum;
        return SL_OK;
    }
    for (int k = 0; k < p->n; k++) {
        // of equal factors the first is taken first: else one way would count twice
        const bool early = p->twin[k] >= 0 && !(used >> p->twin[k] & 1);
        if (used >> k & 1 || early || p->at[i][k].n == 0) continue;
        law next;
        SL_TRY(law_combine(&next, p->m->a, so_far, &p->at[i][k], sl_expr_rat_mul));
        SL_TRY(product_ways(p, i + 1, used | 1u << k, &next));
    }
    return SL_OK;
}

static int twin_before(const sl_node *const *list, int i) {
    int k = i - 1;
    while (k >= 0 && !sl_expr_equal(list[k], list[i])) k--;
    return k;
}

static sl_status product_law(law *out, const matcher *m, const sl_node *const *operand, int n,
                             sl_rat number, term T) {
    const sl_node *factor[MAX_OPERANDS], *f = T.factor;
    product *p = sl_arena_alloc(m->a, sizeof *p);
    if (!p) return sl_fail_memory(1, sizeof *p, "a product");
    *p = (product){ .m = m, .n = n };
    *out = p->sum;
    if (T.n != n) return SL_OK;
    for (int k = 0; k < n; k++, f = sl_expr_next(f)) {
        factor[k] = f;
        p->twin[k] = twin_before(factor, k);
        for (int i = 0; i < n; i++) {
            double chance;
            if (sl_pairs__skeleton_hash(operand[i]) != sl_pairs__skeleton_hash(f)) continue;
            if (f->op != SL_OP_ADD) {
                SL_TRY(pure_law(&p->at[i][k], m, operand[i], (term){ SL_RAT(1), f, 1 }));
                continue;
            }
            SL_TRY(chance_of(&chance, m, operand[i], f, SL_RAT(1)));
            SL_TRY(law_one(&p->at[i][k], m->a, SL_RAT(1), chance));
        }
    }
    law first;
    SL_TRY(law_one(&first, m->a, number, 1));
    SL_TRY(product_ways(p, 0, 0, &first));
    *out = p->sum;
    return SL_OK;
}

static sl_status term_law(law *out, const matcher *m, const sl_node *u, term T) {
    const sl_node *list[MAX_OPERANDS];
    sl_rat number;
    law one;
    *out = (law){ .n = 0 };
    if (sl_pairs__skeleton_hash(u) != hash_of_many(T.factor, T.n, SL_OP_MUL)) return SL_OK;
    if (u->op == SL_OP_MUL) {
        const int n = operands(list, &number, u, SL_OP_MUL);
        if (n > 1) return product_law(out, m, list, n, number, T);
        if (n < 1) return SL_OK;
        SL_TRY(term_law(out, m, list[0], T));
        SL_TRY(law_one(&one, m->a, number, 1));
        return law_combine(out, m->a, out, &one, sl_expr_rat_mul);
    }
    if (T.n != 1 || T.factor->op != u->op) return SL_OK;
    double chance;
    switch ((sl_op)u->op) {
    case SL_OP_VAR: return factor_law(out, m, 1, 0);
    case SL_OP_SIN: return sine_law(out, m, u + 1, T.factor + 1);
    case SL_OP_POW: return power_law(out, m, u, T.factor);
    case SL_OP_EXP:
        SL_TRY(chance_of(&chance, m, u + 1, T.factor + 1, SL_RAT(1)));
        return factor_law(out, m, chance, 0);
    default: return SL_OK;
    }
}

/* The sum, over ways to give each of n operands a term, of products of chances. */
static double sum_of_ways(const double (*chance)[MAX_OPERANDS], const int *twin, int n, int i,
                          uint32_t used) {
    if (i == n) return 1;
    double sum = 0;
    for (int k = 0; k < n; k++) {
        const bool early = twin[k] >= 0 && !(used >> twin[k] & 1);
        if (used >> k & 1 || early || chance[i][k] == 0) continue;
        sum += chance[i][k] * sum_of_ways(chance, twin, n, i + 1, used | 1u << k);
    }
    return sum;
}

static sl_status chance_of(double *out, const matcher *m, const sl_node *u, const sl_node *t,
                           sl_rat s) {
    const sl_node *operand[MAX_OPERANDS], *part[MAX_OPERANDS];
    double chance[MAX_OPERANDS][MAX_OPERANDS], number_chance;
    int twin[MAX_OPERANDS];
    sl_rat number, want;
    const int n = operands(operand, &number, u, SL_OP_ADD);
    *out = 0;
    if (n < 1 || operands(part, &want, t, SL_OP_ADD) != n) return SL_OK;
    if (!sl_expr_rat_mul(&want, want, s) || !minus(&want, want, number)) return SL_OK;
    SL_TRY(chance_of_number(&number_chance, m, operand, n, want));
    if (number_chance == 0) return SL_OK;
    for (int k = 0; k < n; k++) {
        const term T = term_of(part[k]);
        sl_rat alpha;
        const bool fits = sl_expr_rat_mul(&alpha, T.number, s);
        twin[k] = twin_before(part, k);
        for (int i = 0; i < n; i++) {
            law l = { .n = 0 };
            if (fits) SL_TRY(term_law(&l, m, operand[i], T));
            chance[i][k] = law_at(&l, alpha);
        }
    }
    *out = number_chance * sum_of_ways(chance, twin, n, 0, 0);
    return SL_OK;
}

sl_status sl_pairs__chance(double *out, sl_arena *a, const sl_node *base, const sl_node *e,
                           const sl_pairs_options *o) {
    const matcher m = { a, o->constant_chance, (int)o->constant_max };
    const size_t mark = sl_arena_mark(a);
    sl_status st = chance_of(out, &m, base, e, SL_RAT(1));
    sl_arena_rewind(a, mark);
    return st;
}

double sl_pairs__draw_chance(const sl_pair_site *site, int n, const sl_pairs_options *o) {
    const matcher m = { NULL, o->constant_chance, (int)o->constant_max };
    double chance = 1;
    for (int i = 0; i < n; i++)
        chance *= factor_chance(&m, SL_RAT(site[i].a)) * summand_chance(&m, SL_RAT(site[i].b));
    return chance;
}
