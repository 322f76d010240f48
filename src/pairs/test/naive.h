/* What the tests of this folder judge by: an evaluation that knows nothing of how constants are put
 * in, only where they belong; and small helpers. */
#ifndef SL_PAIRS_NAIVE_H
#define SL_PAIRS_NAIVE_H

#include <math.h>
#include <string.h>

#include "fixture/formula.h"
#include "num/num.h"
#include "pairs/pairs_impl.h"

static inline bool same_bytes(const sl_node *a, const sl_node *b) {
    return a->len == b->len && memcmp(a, b, a->len * sizeof *a) == 0;
}

/* All functions up to this depth; some of them withheld. */
static inline sl_universe *small_universe(sl_fixture *t, int depth, int variables, const char *ops,
                                          double withheld) {
    sl_universe *u;
    sl_universe_options o = SL_UNIVERSE_OPTIONS_INIT;
    o.depth = depth;
    o.variables = variables;
    o.size = 0;
    o.withheld = withheld;
    if (ops) SL_MUST(t, sl_universe_ops_parse(&o.ops, ops));
    SL_MUST(t, sl_universe_new(&u, NULL, &o, NULL));
    return u;
}

static inline sl_pairs *pairs_of(sl_fixture *t, const sl_universe *u, const sl_pairs_options *o) {
    sl_pairs *p;
    SL_MUST(t, sl_pairs_new(&p, u, o));
    return p;
}

/* Where constants belong: at every variable, exp, sin, and root of what is no number. A root is a
 * power whose exponent is no whole number. */
static inline bool naive_is_place(const sl_node *u) {
    if (u->op == SL_OP_VAR || u->op == SL_OP_EXP || u->op == SL_OP_SIN) return true;
    if (u->op != SL_OP_POW || (u + 1)->op == SL_OP_NUM) return false;
    sl_rat exponent = sl_expr_num_value(u + u->len - sl_expr_next(u + 1)->len);
    return exponent.num % exponent.den != 0;
}

typedef struct naive {
    const long double *x;     // by variable
    const sl_pair_site *site; // NULL: none are put in
    int n, at;                // of sites; the next one
    bool wrong;               // the list does not fit the expression
    bool coarse;              // every step is rounded to double
} naive;

/* The value at a point, of u with a u + b at every place; NaN where it is not real. */
static inline long double naive_value(naive *s, const sl_node *u) {
    long double v = NAN;
    sl_pair_site site = { .a = 1, .b = 0 };
    if (s->site && naive_is_place(u)) {
        if (s->at >= s->n) {
            s->wrong = true;
            return NAN;
        }
        site = s->site[s->at++];
        if (site.op != u->op || (u->op == SL_OP_VAR && site.variable != u->arg)) s->wrong = true;
    }
    const sl_node *c = u + 1;
    switch ((sl_op)u->op) {
    case SL_OP_NUM:
        v = (long double)sl_expr_num_value(u).num / (long double)sl_expr_num_value(u).den;
        break;
    case SL_OP_VAR: v = s->x[u->arg - 1]; break;
    case SL_OP_ADD:
        v = 0;
        for (int i = 0; i < u->arg; i++, c += c->len) v += naive_value(s, c);
        break;
    case SL_OP_MUL:
        v = 1;
        for (int i = 0; i < u->arg; i++, c += c->len) v *= naive_value(s, c);
        break;
    case SL_OP_POW: {
        long double b = naive_value(s, c);
        sl_rat r = sl_expr_num_value(c + c->len);
        if ((r.den > 1 && b < 0) || (r.num < 0 && b == 0)) return NAN;
        v = powl(b, (long double)r.num / (long double)r.den);
        break;
    }
    case SL_OP_EXP: v = expl(naive_value(s, c)); break;
    case SL_OP_SIN: v = sinl(naive_value(s, c)); break;
    default: s->wrong = true; // the default universe has no others
    }
    if (!s->coarse) return site.a * v + site.b;
    return (double)((double)(site.a * (double)v) + site.b);
}

/* Is base with its sites the same as e, at x for base and at x_of_e for e? -1 no, 0 nothing can be
 * said, 1 up to what rounding can do. s is left as evaluating base leaves it.
 *
 * What rounding does to e is known. What it does to base may be more (1 + u - 1 is u in e), and is
 * seen by rounding 2048 times as coarsely. */
static inline int naive_agrees(naive *s, const sl_node *base, const sl_node *e,
                               const long double *x_of_e) {
    naive again = *s;
    long double v, bound, value = naive_value(s, base);
    again.coarse = true;
    long double error = fabsl(value - naive_value(&again, base));
    sl_expr_eval_ref(&v, &bound, e, x_of_e, NULL, 0x1p-58L); // some more than long double
    if (isnan(v)) return bound > 0 || (isnan(error) && !isnan(value)) ? 0 : isnan(value) ? 1 : -1;
    if (isinf(bound) || (isnan(error) && !isnan(value))) return 0;
    return fabsl(v - value) <= bound + 16 * error ? 1 : -1;
}

/* Which variables occur, bit v - 1 for variable v. */
static inline unsigned variables_in(const sl_node *e) {
    if (e->op == SL_OP_VAR) return 1u << (e->arg - 1);
    if (e->op == SL_OP_NUM) return 0;
    unsigned set = 0;
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c += c->len) set |= variables_in(c);
    return set;
}

/* How often each kind of node occurs; a number's further slots are not nodes. */
static inline void count_nodes(int count[SL_OP_COUNT], const sl_node *e) {
    memset(count, 0, SL_OP_COUNT * sizeof *count);
    for (uint32_t i = 0; i < e->len; i += e[i].op == SL_OP_NUM ? e[i].len : 1) count[e[i].op]++;
}

/* p of "n kinds came up in these shares". */
static inline double p_shares(const int *count, const double *share, int n) {
    double total = 0, chi2 = 0;
    for (int i = 0; i < n; i++) total += count[i];
    for (int i = 0; i < n; i++)
        chi2 += (count[i] - total * share[i]) * (count[i] - total * share[i]) / (total * share[i]);
    return sl_num_chi2_tail(chi2, n - 1);
}

static inline double p_equal(const int *count, int n) {
    double share[64];
    SL_ASSERT(n <= SL_LEN(share));
    for (int i = 0; i < n; i++) share[i] = 1.0 / n;
    return p_shares(count, share, n);
}

/* ids spell e, all of them: read back they are e's very bytes. */
static inline void tokens_spell(sl_fixture *t, const sl_token *ids, int n, const sl_node *e,
                                int variables) {
    const sl_node *back;
    sl_token_reason reason;
    int at;
    SL_CHECK(t, n > 1 && n <= SL_TOKEN_MAX && ids[n - 1] == SL_TOKEN_END, "%d tokens of %s", n,
             text_of(e));
    SL_MUST(t, sl_token_to_expr(&back, &reason, &at, &t->arena, ids, n, variables));
    SL_CHECK(t, reason == SL_TOKEN_FINE, "token %d: %s: %s", at, sl_token_reason_text(reason),
             text_of(e));
    SL_CHECK(t, same_bytes(back, e), "%s reads back as %s", text_of(e), text_of(back));
}

/* Along ids, at every `step`-th prefix: what may come next is exactly what can be taken, and the
 * token that comes is among it, even with no more room than the sequence needs. */
static inline void masks_fit(sl_fixture *t, const sl_token *ids, int n, int variables, int step) {
    sl_token_state s;
    sl_token_begin(&s, variables);
    for (int i = 0; i < n; i++) {
        if (i % step == 0) {
            sl_token_set any, tight;
            sl_token_next(&any, &s, 10000);
            sl_token_next(&tight, &s, n - i);
            SL_CHECK(t, s.need <= n - i && sl_token_in(&tight, ids[i]),
                     "token %d of %d, %s, is not foreseen", i, n, sl_token_text(ids[i]));
            for (int id = 0; id < SL_TOKEN_COUNT; id++) {
                sl_token_state fork = s;
                bool taken = sl_token_push(&fork, id) == SL_TOKEN_FINE;
                SL_CHECK(t, taken == sl_token_in(&any, id), "%s after %d tokens: %s, %s",
                         sl_token_text(id), i, taken ? "taken" : "refused",
                         taken ? "not foreseen" : "foreseen");
                SL_CHECK(t, taken || memcmp(&fork, &s, sizeof s) == 0, "%s leaves a trace",
                         sl_token_text(id));
            }
        }
        SL_CHECK(t, sl_token_push(&s, ids[i]) == SL_TOKEN_FINE, "token %d of %d is refused", i, n);
    }
    SL_CHECK(t, s.top == 0, "not complete after %d tokens", n);
}

#endif
