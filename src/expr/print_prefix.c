/* Prefix text: operators of the surface before their operands, sums and products made binary from
 * the left, so that every token is one of a fixed set, a number or a name.
 *
 *     x1 + x2 - 3/4        - + x1 x2 3/4
 *     -2*x1/(x2*x3)        / * -2 x1 * x2 x3 */
#include "expr/text_impl.h"

#include <inttypes.h>
#include <math.h>

typedef struct printer {
    sl_str *s;
    const sl_names *names;
    const double *params; // values of the free constants, or NULL
    bool begun;           // a blank is due before the next token
} printer;

static void put(printer *p, const sl_node *e);

static void blank(printer *p) {
    if (p->begun) sl_str_add_char(p->s, ' ');
    p->begun = true;
}

static void put_word(printer *p, const char *word) {
    blank(p);
    sl_str_add(p->s, word);
}

static void put_operator(printer *p, sl_operator o) { put_word(p, sl_expr_operator_text(o)); }

static void put_number(printer *p, int64_t num, int64_t den) {
    blank(p);
    sl_str_addf(p->s, "%" PRId64, num);
    if (den != 1) sl_str_addf(p->s, "/%" PRId64, den);
}

/* A constant's value, or its size, as the exact number that its shortest decimal is. The few beyond
 * 64 bits stay decimals. */
static void put_value(printer *p, const sl_node *e, bool with_sign) {
    char text[SL_REAL_TEXT_MAX];
    const double v = p->params[e->arg - 1];
    const bool minus = with_sign && v < 0;
    sl_rat exact = SL_RAT(0);
    sl_reader r = { .text = text, .n = (size_t)sl_real_text(text, fabs(v)) };
    if (sl_expr__text_number(&r, &exact, true)) {
        put_number(p, minus ? -exact.num : exact.num, exact.den);
        return;
    }
    put_word(p, minus ? "-" : "");
    sl_str_add(p->s, text);
}

static void put_power(printer *p, const sl_node *base, sl_rat exponent) {
    if (exponent.num == 1 && exponent.den == 2) {
        put_operator(p, SL_OPERATOR_SQRT);
        put(p, base);
        return;
    }
    put_operator(p, SL_OPERATOR_POW);
    put(p, base);
    put_number(p, exponent.num, exponent.den);
}

static void put_factor(printer *p, const sl_node *c, bool below) {
    sl_rat exponent = sl_expr__text_exponent(c, below);
    if (!below && c->op == SL_OP_PAR && p->params)
        put_value(p, c, false); // its sign is that of the product
    else if (!below && c->op != SL_OP_POW)
        put(p, c);
    else if (below && sl_expr_rat_is(exponent, 1))
        put(p, c + 1);
    else
        put_power(p, c + 1, exponent);
}

/* One side of a fraction as nested binary products, with the number `num` unless it is 1. */
static void put_side(printer *p, const sl_fraction *f, bool below, int64_t num, int64_t den) {
    bool number = num != 1 || den != 1;
    int n = (below ? f->below : f->above) + number;
    for (int i = 1; i < n; i++) put_operator(p, SL_OPERATOR_MUL);
    if (number || n == 0) put_number(p, num, den);
    for (const sl_node *c = NULL; (c = sl_expr__text_factor(f, c, below));) put_factor(p, c, below);
}

/* A product, with its sign or without. */
static void put_product(printer *p, const sl_node *e, bool with_sign) {
    sl_fraction f = sl_expr__text_fraction(e, p->params);
    int64_t num = (int64_t)f.num, den = (int64_t)f.den;
    if (f.negative && with_sign) {
        if (num == 1 && den == 1)
            put_operator(p, SL_OPERATOR_NEG);
        else
            num = -num;
    }
    if (f.below) put_operator(p, SL_OPERATOR_DIV);
    put_side(p, &f, false, num, den);
    if (f.below) put_side(p, &f, true, 1, 1);
}

/* The positive operands first, then what is taken away: so the signs are known before the operands
 * are walked. */
static void put_sum(printer *p, const sl_node *e) {
    int minus = 0;
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c))
        minus += sl_expr__text_negative(c, p->params);
    bool none = minus == e->arg; // then the first operand keeps its sign
    for (int i = none; i < minus; i++) put_operator(p, SL_OPERATOR_SUB);
    for (int i = minus + 1; i < e->arg; i++) put_operator(p, SL_OPERATOR_ADD);
    c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c))
        if (!sl_expr__text_negative(c, p->params) || (none && i == 0)) put(p, c);
    c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c))
        if (sl_expr__text_negative(c, p->params) && !(none && i == 0)) put_product(p, c, false);
}

static void put(printer *p, const sl_node *e) {
    sl_rat v;
    switch ((sl_op)e->op) {
    case SL_OP_NUM:
        v = sl_expr_num_value(e);
        put_number(p, v.num, v.den);
        break;
    case SL_OP_VAR:
    case SL_OP_PAR:
        if (e->op == SL_OP_PAR && p->params) {
            put_value(p, e, true);
        } else {
            blank(p);
            sl_expr__text_print_name(p->s, SL_FORMAT_PREFIX, e, p->names);
        }
        break;
    case SL_OP_ADD: put_sum(p, e); break;
    case SL_OP_MUL: put_product(p, e, true); break;
    case SL_OP_POW:
        if (sl_expr__text_fraction(e, p->params).below)
            put_product(p, e, true);
        else
            put_power(p, e + 1, sl_expr__exponent(e));
        break;
    case SL_OP_PI:
        blank(p);
        sl_expr__text_print_pi(p->s, SL_FORMAT_PREFIX, p->names);
        break;
    case SL_OP_RAISE:
        put_operator(p, SL_OPERATOR_POW);
        put(p, e + 1);
        put(p, sl_expr_next(e + 1));
        break;
    default:
        put_word(p, sl_expr__text_function_name((sl_op)e->op, SL_FORMAT_PREFIX));
        put(p, e + 1);
    }
}

void sl_expr__text_print_prefix(sl_str *s, const sl_node *e, const sl_names *names,
                                const double *params) {
    printer p = { s, names, params, false };
    put(&p, e);
}
