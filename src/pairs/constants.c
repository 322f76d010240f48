/* constants - random numbers put into an expression.
 *
 * Every occurrence u of a variable, of exp or sin, and of a root (a power with a fractional
 * exponent, whatever its numerator) becomes a u + b: the constants act on what the operator gives,
 * not inside of it. A whole power is no operator, and neither is a root of a number. Negation is
 * part of a coefficient. a is drawn without 0, which would delete the subtree, and without 1, which
 * would change nothing; b without 0.
 *
 * Then numbers are merged with those of the base and operands sorted (sl_expr_merge). Nothing is
 * expanded, so (2 x1 + 3)^2 stays as short as it is. */
#include <string.h>

#include "pairs/pairs_impl.h"

/* ---------------------------------------------------------------- sites --------------------- */

/* -max .. max without 0, and without 1 if without_one; each alike. */
static int draw_constant(sl_rng *rng, int max, bool without_one) {
    int v = (int)sl_rng_below(rng, (uint32_t)(2 * max - without_one)) - max;
    if (v >= 0) v++;                // past 0
    if (without_one && v >= 1) v++; // past 1
    return v;
}

static sl_pair_site draw_site(sl_rng *rng, const sl_node *u, const sl_pairs_options *o) {
    const uint64_t chance = (uint64_t)(o->constant_chance * 0x1p32);
    const int max = (int)o->constant_max;
    sl_pair_site s = { .op = (sl_op)u->op, .a = 1, .b = 0 };
    if (u->op == SL_OP_VAR) s.variable = u->arg;
    if (sl_rng_u32(rng) < chance) s.a = draw_constant(rng, max, true);
    if (sl_rng_u32(rng) < chance) s.b = draw_constant(rng, max, false);
    return s;
}

bool sl_pairs__is_site(const sl_node *u) {
    switch ((sl_op)u->op) {
    case SL_OP_VAR:
    case SL_OP_EXP:
    case SL_OP_SIN: return true;
    case SL_OP_POW:
        return u[1].op != SL_OP_NUM && !sl_expr_rat_is_int(sl_expr_num_value(sl_expr_next(u + 1)));
    default: return false;
    }
}

/* ---------------------------------------------------------------- insertion ----------------- */

typedef struct inserter {
    const sl_pair_site *site; // the next
    sl_node *end;             // of the room for the result
} inserter;

/* The largest a site can add: a sum and a product, and two numbers of three slots each. */
enum { SITE_SLOTS = 8 };

static sl_node *put(inserter *in, sl_node *w, const sl_node *u);

static sl_node *put_operands(inserter *in, sl_node *w, const sl_node *u) {
    sl_node *head = w++;
    *head = *u;
    const sl_node *c = u + 1;
    for (int i = 0; i < u->arg; i++, c = sl_expr_next(c)) w = put(in, w, c);
    head->len = (uint32_t)(w - head);
    return w;
}

static sl_node *put_bare(inserter *in, sl_node *w, const sl_node *u) {
    switch ((sl_op)u->op) {
    case SL_OP_NUM:
    case SL_OP_VAR:
    case SL_OP_PAR: memcpy(w, u, u->len * sizeof *u); return w + u->len;
    default: return put_operands(in, w, u);
    }
}

/* u and all below it, with constants; returns where the next node goes. */
static sl_node *put(inserter *in, sl_node *w, const sl_node *u) {
    if (!sl_pairs__is_site(u)) return put_bare(in, w, u);
    const sl_pair_site s = *in->site++;
    sl_node *sum = s.b != 0 ? w++ : NULL;
    sl_node *product = s.a != 1 ? w++ : NULL;
    if (product) w = sl_expr_num_put(w, SL_RAT(s.a));
    w = put_bare(in, w, u);
    if (product) *product = (sl_node){ .op = SL_OP_MUL, .arg = 2, .len = (uint32_t)(w - product) };
    if (sum) {
        w = sl_expr_num_put(w, SL_RAT(s.b));
        *sum = (sl_node){ .op = SL_OP_ADD, .arg = 2, .len = (uint32_t)(w - sum) };
    }
    SL_ASSERT(w <= in->end);
    return w;
}

sl_status sl_pairs__place(const sl_node **out, sl_arena *a, const sl_node *base,
                          const sl_pair_site *site) {
    size_t room = (size_t)base->len * (1 + SITE_SLOTS);
    sl_node *raw = sl_malloc(room, sizeof *raw);
    if (!raw) return sl_fail_memory(room, sizeof *raw, "an expression with constants");
    put(&(inserter){ site, raw + room }, raw, base);
    sl_status st = sl_expr_merge(out, a, raw);
    sl_free(raw);
    return st;
}

sl_status sl_pairs__insert(const sl_node **out, sl_pair_site *site, int *n, sl_arena *a,
                           const sl_node *base, sl_rng *rng, const sl_pairs_options *o) {
    *n = 0;
    for (uint32_t i = 0; i < base->len; i += sl_expr_step(&base[i]))
        if (sl_pairs__is_site(&base[i])) site[(*n)++] = draw_site(rng, &base[i], o);
    return sl_pairs__place(out, a, base, site);
}
