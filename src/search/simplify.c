/* simplify - the same formula, written shorter.
 *
 * Formulas come out of the search in the structure of the terms that matched: x2*(1 + x1/x2) for
 * x1 + x2, (x1/x2)^(-1) for x2/x1, sqrt(x^2) for x. Rules are applied until none shortens the
 * description any more; some need positive bases, which the rows decide:
 *
 *     (a b)^p                a^p b^p
 *     (a^p)^q                a^(p q)
 *     exp(u)^p               exp(p u)                      also where it is no shorter: convention
 *     v^e (s + t)^p          (s v^(e/p) + t v^(e/p))^p     v a variable, e/p an integer
 *     (s + t)^p (u + v)^p    (s u + s v + t u + t v)^p
 *     -(s + t)^p             (-s - t)^p                    p odd
 *
 * The caller verifies the result in all rows. */
#include <math.h>

#include "search/search_impl.h"

enum { FACTORS_MAX = 64, ROUNDS = 8 };

static const double BRACKETS = 3; // bits that removing a bracket may cost: x^(-2) for (x^2)^(-1)

typedef struct simplifier {
    sl_arena *arena;
    const sl_dataset *rows;
    const double *value; // of the constants
    bool failed;
} simplifier;

/* ---------------------------------------------------------------- pieces -------------------- */

static const sl_node *piece(simplifier *s, const sl_node *e) {
    if (!e) s->failed = true;
    return e;
}

/* Did the call succeed? A form that passes a limit counts as none; lack of memory is kept as the
 * status. */
static bool succeeded(simplifier *s, sl_status st) {
    if (st == SL_ENOMEM) s->failed = true;
    return st == SL_OK;
}

static const sl_node *product(simplifier *s, const sl_node *const *factor, int n) {
    if (s->failed) return NULL;
    if (n == 0) return piece(s, sl_expr_int(s->arena, 1));
    return n == 1 ? factor[0] : piece(s, sl_expr_nary(s->arena, SL_OP_MUL, factor, n));
}

static const sl_node *power(simplifier *s, const sl_node *e, sl_rat p) {
    if (s->failed || sl_expr_rat_is(p, 1)) return e;
    return piece(s, sl_expr_pow(s->arena, e, p));
}

/* list[] := the operands; returns how many, 0 if there are too many. */
static int operands(const sl_node **list, const sl_node *e) {
    if (e->arg > FACTORS_MAX) return 0;
    const sl_node *at = e + 1;
    for (int i = 0; i < e->arg; i++, at = sl_expr_next(at)) list[i] = at;
    return e->arg;
}

/* e = base^exponent, with exponent 1 for what is no power of a number. */
static const sl_node *base_of(const sl_node *e, sl_rat *exponent) {
    *exponent = SL_RAT(1);
    if (e->op != SL_OP_POW || sl_expr_next(e + 1)->op != SL_OP_NUM) return e;
    *exponent = sl_expr_num_value(sl_expr_next(e + 1));
    return e + 1;
}

static bool is_positive(simplifier *s, const sl_node *e) {
    size_t mark = sl_arena_mark(s->arena);
    double *v = sl_arena_alloc(s->arena, (size_t)s->rows->rows * sizeof *v);
    bool all = v && succeeded(s, sl_expr_eval(v, s->arena, e, s->rows->x, s->rows->rows, s->value));
    for (int64_t i = 0; i < s->rows->rows && all; i++) all = v[i] > 0;
    if (!v) s->failed = true;
    sl_arena_rewind(s->arena, mark);
    return all;
}

/* ---------------------------------------------------------------- powers -------------------- */

/* (a^q)^p, which is a^(p q) or stays as it is. */
static const sl_node *raise(simplifier *s, const sl_node *e, sl_rat p) {
    sl_rat q, both;
    const sl_node *inner = base_of(e, &q);
    bool may = inner != e && (sl_expr_rat_is_int(p) || is_positive(s, inner));
    return may && sl_expr_rat_mul(&both, p, q) ? power(s, inner, both) : power(s, e, p);
}

static const sl_node *open_exponential(simplifier *s, const sl_node *e, sl_rat p) {
    const sl_node *pair[2] = { piece(s, sl_expr_num(s->arena, p)), e + 1 }, *exponent;
    const sl_node *both = product(s, pair, 2);
    if (!both || !succeeded(s, sl_expr_merge(&exponent, s->arena, both))) return NULL;
    return piece(s, sl_expr_fn(s->arena, SL_OP_EXP, exponent));
}

/* (a b ...)^p, (a^q)^p and exp(u)^p without their brackets; NULL: no such thing. */
static const sl_node *open_power(simplifier *s, const sl_node *base, sl_rat p) {
    const sl_node *factor[FACTORS_MAX];
    sl_rat q;
    bool whole = sl_expr_rat_is_int(p);
    if (base->op == SL_OP_EXP) return open_exponential(s, base, p);
    if (base_of(base, &q) != base) return raise(s, base, p);
    int n = base->op == SL_OP_MUL ? operands(factor, base) : 0;
    for (int i = 0; i < n; i++)
        if (!whole && !is_positive(s, factor[i])) return NULL;
    for (int i = 0; i < n; i++) factor[i] = raise(s, factor[i], p);
    return n ? product(s, factor, n) : NULL;
}

/* ---------------------------------------------------------------- products with sums -------- */

/* sum times `by`, term by term, each in canonical form; NULL where there is none. */
static const sl_node *scale_sum(simplifier *s, const sl_node *sum, const sl_node *by) {
    const sl_node *term[FACTORS_MAX];
    int n = operands(term, sum);
    for (int i = 0; i < n; i++) {
        const sl_node *pair[2] = { term[i], by };
        const sl_node *both = product(s, pair, 2);
        if (!both || !succeeded(s, sl_expr_canon(&term[i], s->arena, both))) return NULL;
    }
    return n ? piece(s, sl_expr_nary(s->arena, SL_OP_ADD, term, n)) : NULL;
}

/* The product with factor `from` moved into the sum of factor `to`; NULL where that cannot be. */
static const sl_node *move_in(simplifier *s, const sl_node *const *factor, int n, int from,
                              int to) {
    const sl_node *out[FACTORS_MAX];
    sl_rat e, p, inverse, share;
    const sl_node *by = base_of(factor[from], &e), *sum = base_of(factor[to], &p);
    bool sign = sl_expr_num_is(by, -1);
    if (sum->op != SL_OP_ADD || (by->op != SL_OP_VAR && !sign)) return NULL;
    if (sign && !(sl_expr_rat_is_int(p) && p.num % 2)) return NULL;
    if (!sl_expr_rat_make(&inverse, p.den, p.num) || !sl_expr_rat_mul(&share, e, inverse))
        return NULL;
    if (sign) share = SL_RAT(1);
    if (!sl_expr_rat_is_int(share) || (!sl_expr_rat_is_int(p) && !is_positive(s, by))) return NULL;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        if (i == from) continue;
        out[kept] = factor[i];
        if (i == to) {
            out[kept] = scale_sum(s, sum, power(s, by, share));
            if (!out[kept]) return NULL;
            out[kept] = power(s, out[kept], p);
        }
        kept++;
    }
    return product(s, out, kept);
}

/* The product with factors a and b, powers of sums with one exponent, made the power of one sum. */
static const sl_node *join(simplifier *s, const sl_node *const *factor, int n, int a, int b) {
    const sl_node *out[FACTORS_MAX], *pair[2], *both;
    sl_rat p, q;
    int kept = 0;
    pair[0] = base_of(factor[a], &p), pair[1] = base_of(factor[b], &q);
    if (pair[0]->op != SL_OP_ADD || pair[1]->op != SL_OP_ADD || sl_expr_rat_cmp(p, q) != 0)
        return NULL;
    if (!sl_expr_rat_is_int(p) && !is_positive(s, pair[0])) return NULL;
    both = product(s, pair, 2);
    if (!both || !succeeded(s, sl_expr_canon(&out[kept++], s->arena, both))) return NULL;
    out[0] = power(s, out[0], p);
    for (int i = 0; i < n; i++)
        if (i != a && i != b) out[kept++] = factor[i];
    return product(s, out, kept);
}

/* ---------------------------------------------------------------- trying -------------------- */

static double price(const simplifier *s, const sl_node *e) {
    sl_bits bits;
    sl_fit_price(&bits, e, s->value, NULL, s->rows->inputs, s->rows->rows);
    return bits.structure + bits.numbers;
}

/* Takes `other` for *best if it is shorter. */
static bool take_shorter(simplifier *s, const sl_node **best, const sl_node *other) {
    const sl_node *tidy;
    if (!other || s->failed || !succeeded(s, sl_expr_tidy(&tidy, s->arena, other))) return false;
    if (!(price(s, tidy) < price(s, *best) - 1e-9)) return false;
    *best = tidy;
    return true;
}

/* The same where it has fewer nodes and costs at most `slack` bits more. */
static bool take_smaller(simplifier *s, const sl_node **best, const sl_node *other, double slack) {
    const sl_node *tidy;
    if (!other || s->failed || !succeeded(s, sl_expr_tidy(&tidy, s->arena, other))) return false;
    if (sl_expr_nodes(tidy) >= sl_expr_nodes(*best)) return false;
    if (price(s, tidy) > price(s, *best) + slack) return false;
    *best = tidy;
    return true;
}

static bool has_power_of_exp(const sl_node *e) {
    for (uint32_t i = 0; i < e->len; i += sl_expr_step(&e[i]))
        if (e[i].op == SL_OP_POW && e[i + 1].op == SL_OP_EXP) return true;
    return false;
}

/* The same where powers of exponentials are gone. */
static bool take_opened(simplifier *s, const sl_node **best, const sl_node *other) {
    const sl_node *tidy;
    if (!other || s->failed || !succeeded(s, sl_expr_tidy(&tidy, s->arena, other))) return false;
    if (!has_power_of_exp(*best) || has_power_of_exp(tidy)) return false;
    *best = tidy;
    return true;
}

/* With fewer nodes only: otherwise a factor would be moved into a sum because its price is below
 * that of the number 1. */
static bool shorten_product(simplifier *s, const sl_node **best) {
    const sl_node *factor[FACTORS_MAX];
    int n = operands(factor, *best);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            if (a < b && take_smaller(s, best, join(s, factor, n, a, b), 0)) return true;
            if (a != b && take_smaller(s, best, move_in(s, factor, n, a, b), 0)) return true;
        }
    return false;
}

static const sl_node *simplified(simplifier *s, const sl_node *e);

/* e with its operands simplified. */
static const sl_node *simplify_operands(simplifier *s, const sl_node *e) {
    const sl_node *list[FACTORS_MAX];
    int n = e->op == SL_OP_NUM || e->len == 1 ? 0 : operands(list, e);
    if (n == 0) return e;
    for (int i = 0; i < n; i++)
        if (!(list[i] = simplified(s, list[i]))) return NULL;
    if (e->op == SL_OP_ADD || e->op == SL_OP_MUL)
        return piece(s, sl_expr_nary(s->arena, (sl_op)e->op, list, n));
    if (e->op == SL_OP_POW || e->op == SL_OP_RAISE)
        return piece(s, sl_expr_power(s->arena, list[0], list[1]));
    return piece(s, sl_expr_fn(s->arena, (sl_op)e->op, list[0]));
}

static const sl_node *simplified(simplifier *s, const sl_node *e) {
    const sl_node *best = simplify_operands(s, e), *tidy;
    if (!best || !succeeded(s, sl_expr_tidy(&tidy, s->arena, best))) return best;
    best = tidy;
    for (int round = 0; round < ROUNDS && !s->failed; round++) {
        sl_rat p;
        const sl_node *base = base_of(best, &p);
        bool shorter = false;
        if (base != best)
            shorter = take_smaller(s, &best, open_power(s, base, p), BRACKETS) ||
                      take_shorter(s, &best, open_power(s, base, p)) ||
                      take_opened(s, &best, open_power(s, base, p));
        if (!shorter && best->op == SL_OP_MUL) shorter = shorten_product(s, &best);
        if (!shorter) break;
    }
    return best;
}

sl_status sl_search__simplify(const sl_node **out, sl_arena *a, const sl_node *e,
                              const double *value, const sl_dataset *rows) {
    simplifier s = { .arena = a, .rows = rows, .value = value };
    const sl_node *best = e, *other;
    for (int round = 0; round < ROUNDS && !s.failed; round++) {
        const sl_node *next = simplified(&s, best);
        if (!take_smaller(&s, &best, next, BRACKETS) && !take_shorter(&s, &best, next) &&
            !take_opened(&s, &best, next))
            break;
    }
    if (succeeded(&s, sl_expr_merge(&other, a, best))) take_shorter(&s, &best, other);
    if (succeeded(&s, sl_expr_canon(&other, a, best))) take_shorter(&s, &best, other);
    if (s.failed) return sl_fail(SL_ENOMEM, "no memory for a formula");
    *out = best;
    return SL_OK;
}
