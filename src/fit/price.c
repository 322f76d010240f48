/* price - bits of a formula, node by node.
 *
 * A formula is written as its nodes in prefix order. Sums and products of n operands count as n - 1
 * nodes of two. A factor of -1 is a sign and not a number: x1 - x2 should cost hardly more than
 * x1 + x2. Exponents have a code of their own, because nearly all are -1, 2 and 1/2. */
#include <math.h>

#include "fit/fit_impl.h"

static const double LOG2_E = 1.4426950408889634;

double sl_fit__log2(double x) { return LOG2_E * sl_log(x); }

/* Of a number p/q in lowest terms: the sum of 1/(p q)^2 over all of them is 5/2. One in four is
 * negative. 0 counts as 1. */
static double number_bits(sl_rat v) {
    const double p = v.num == 0 ? 1 : fabs((double)v.num), q = (double)v.den;
    const double sign = v.num < 0 ? 2 : sl_fit__log2(4.0 / 3);
    return sl_fit__log2(2.5) + 2 * (sl_fit__log2(p) + sl_fit__log2(q)) + sign;
}

static double node_price(sl_op op) {
    static const double price[SL_OP_COUNT] = {
#define X(id, bits, text) [SL_OP_##id] = bits,
        SL_FIT_PRICES(X)
#undef X
    };
    SL_ASSERT(price[op] > 0); // every node has a price
    return price[op];
}

typedef struct pricing {
    sl_bits *out;
    const double *value, *error;
    double variable; // bits of which variable
    double least;    // of a fitted constant
    double unknown;  // of one whose error is not known
} pricing;

static const double MOST = 52; // digits of a double

static double constant_bits(const pricing *p, int k) {
    if (!p->value || !p->error || isnan(p->error[k])) return p->unknown;
    const double digits = sl_fit__log2(fabs(p->value[k]) / p->error[k]);
    if (isnan(digits)) return p->least; // 0/0, or both infinite
    return fmax(p->least, fmin(digits, MOST));
}

static void add_node(pricing *p, const sl_node *e);

static void add_exponent(pricing *p, const sl_node *e) {
    const sl_rat v = sl_expr_num_value(e);
#define X(id, above, below, bits)               \
    if (v.num == (above) && v.den == (below)) { \
        p->out->numbers += bits;                \
        return;                                 \
    }
    SL_FIT_EXPONENTS(X)
#undef X
    p->out->numbers += SL_FIT_EXPONENT_NUMBER + number_bits(v);
}

/* Operands of a sum or product; a factor of -1 joins nothing. */
static void add_operands(pricing *p, const sl_node *e) {
    const sl_node *c = e + 1;
    int joined = 0;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        if (e->op == SL_OP_MUL && sl_expr_num_is(c, -1)) {
            p->out->structure += SL_FIT_PRICE_SIGN;
            continue;
        }
        joined++;
        add_node(p, c);
    }
    p->out->structure += fmax(joined - 1, 0) * node_price(e->op);
}

static void add_node(pricing *p, const sl_node *e) {
    sl_bits *out = p->out;
    switch ((sl_op)e->op) {
    case SL_OP_ADD:
    case SL_OP_MUL: add_operands(p, e); return;
    case SL_OP_NUM:
        out->structure += node_price(SL_OP_NUM);
        out->numbers += number_bits(sl_expr_num_value(e));
        return;
    case SL_OP_PAR:
        out->structure += node_price(SL_OP_PAR);
        out->constants += constant_bits(p, e->arg - 1);
        return;
    case SL_OP_VAR: out->structure += node_price(SL_OP_VAR) + p->variable; return;
    case SL_OP_POW:
        out->structure += node_price(SL_OP_POW);
        add_node(p, e + 1);
        add_exponent(p, sl_expr_next(e + 1));
        return;
    default: break;
    }
    out->structure += node_price((sl_op)e->op);
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) add_node(p, c);
}

void sl_fit_price(sl_bits *out, const sl_node *e, const double *value, const double *error,
                  int inputs, int64_t rows) {
    *out = (sl_bits){ 0 };
    pricing p = { .out = out,
                  .value = value,
                  .error = error,
                  .variable = sl_fit__log2(SL_MAX(inputs, 1)),
                  .least = 0.5 * sl_fit__log2((double)SL_MAX(rows, 1)) };
    // with as many constants as rows the residuals carry no information: constants copy the rows
    p.unknown = sl_expr_max_par(e) >= rows ? MOST : p.least;
    add_node(&p, e);
    out->total = out->structure + out->numbers + out->constants;
}
