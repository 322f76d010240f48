/* Expression to text: the common part. */
#include "expr/text_impl.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- fractions ----------------- */

/* Does this factor go below the bar? Reading a/b turns the exponents of b's factors around, so the
 * inverse of a product or of a power must not stand there bare: it would come back as other powers.
 */
static bool is_below(const sl_node *c) {
    if (c->op != SL_OP_POW) return false;
    sl_rat p = sl_expr_num_value(sl_expr_next(c + 1));
    if (p.num >= 0) return false;
    return !sl_expr_rat_is(p, -1) || (c[1].op != SL_OP_MUL && c[1].op != SL_OP_POW);
}

/* The operands of a product; anything else is the only one of its own. */
static const sl_node *first_operand(const sl_node *e) { return e->op == SL_OP_MUL ? e + 1 : e; }
static int operand_count(const sl_node *e) { return e->op == SL_OP_MUL ? e->arg : 1; }

sl_fraction sl_expr__text_fraction(const sl_node *e, const double *params) {
    sl_fraction f = { .e = e, .params = params, .num = 1, .den = 1 };
    const sl_node *c = first_operand(e);
    for (int i = operand_count(e); i > 0; i--, c = sl_expr_next(c)) {
        if (c->op == SL_OP_NUM && !f.number) {
            sl_rat v = sl_expr_num_value(c);
            f.number = c;
            f.negative ^= v.num < 0;
            f.num = (uint64_t)(v.num < 0 ? -v.num : v.num);
            f.den = (uint64_t)v.den;
        } else if (is_below(c)) {
            f.below++;
        } else {
            f.above++;
            if (params && c->op == SL_OP_PAR) f.negative ^= params[c->arg - 1] < 0;
        }
    }
    return f;
}

const sl_node *sl_expr__text_factor(const sl_fraction *f, const sl_node *before, bool below) {
    const sl_node *end = f->e + f->e->len;
    const sl_node *c = before ? sl_expr_next(before) : first_operand(f->e);
    bool values = f->params && (!before || before->op == SL_OP_PAR); // a round of their own
    for (;; values = false, c = first_operand(f->e)) {
        for (; c < end; c = sl_expr_next(c)) {
            if (c == f->number || is_below(c) != below) continue;
            if (!f->params || values == (c->op == SL_OP_PAR)) return c;
        }
        if (!values) return NULL;
    }
}

bool sl_expr__text_negative(const sl_node *e, const double *params) {
    if (e->op != SL_OP_NUM && e->op != SL_OP_MUL && e->op != SL_OP_PAR) return false;
    return sl_expr__text_fraction(e, params).negative;
}

sl_decimal sl_expr__text_decimal(double value) {
    sl_decimal d = { .exponent = 0 };
    int n = sl_real_text(d.digits, fabs(value));
    char *e = strchr(d.digits, 'e');
    if (e) {
        d.exponent = (int)sl_strtoll(e + 1, NULL);
        *e = '\0';
    } else if (n > 2 && strcmp(d.digits + n - 2, ".0") == 0) {
        d.digits[n - 2] = '\0';
    }
    return d;
}

/* ---------------------------------------------------------------- the whole ----------------- */

/* Is the depth within the limit? Without recursion, because it may not be. */
static bool is_shallow(const sl_node *e) {
    const sl_node *ends[SL_EXPR_MAX_DEPTH];
    int depth = 0;
    if (e->len <= SL_EXPR_MAX_DEPTH) return true; // most are: it has no more nodes
    for (const sl_node *c = e; c < e + e->len; c += sl_expr_step(c)) {
        while (depth && ends[depth - 1] <= c) depth--;
        if (c->op == SL_OP_NUM || c->len == 1) continue;
        if (depth == SL_EXPR_MAX_DEPTH) return false;
        ends[depth++] = c + c->len;
    }
    return true;
}

static sl_status print(sl_str *s, sl_format format, const sl_node *e, const sl_names *names,
                       const double *params) {
    SL_ASSERT((unsigned)format < SL_FORMAT_COUNT);
    if (!is_shallow(e))
        return sl_fail(SL_ELIMIT, "nested deeper than %d operations", SL_EXPR_MAX_DEPTH);
    switch (format) {
    case SL_FORMAT_INFIX:
    case SL_FORMAT_PYTHON:
    case SL_FORMAT_SYMPY:
    case SL_FORMAT_NUMPY:
    case SL_FORMAT_JULIA:
    case SL_FORMAT_EXCEL:
    case SL_FORMAT_C: sl_expr__text_print_infix(s, format, e, names, params); break;
    case SL_FORMAT_LATEX:
    case SL_FORMAT_MATHML: sl_expr__text_print_math(s, format, e, names, params); break;
    case SL_FORMAT_PREFIX: sl_expr__text_print_prefix(s, e, names, params); break;
    case SL_FORMAT_JSON: sl_expr__text_print_json(s, e, names, params); break;
    case SL_FORMAT_COUNT: break;
    }
    return sl_str_status(s);
}

sl_status sl_expr_print(sl_str *s, sl_format format, const sl_node *e, const sl_names *names) {
    return print(s, format, e, names, NULL);
}

sl_status sl_expr_print_values(sl_str *s, sl_format format, const sl_node *e, const sl_names *names,
                               const double *params) {
    for (const sl_node *c = e; c < e + e->len; c += sl_expr_step(c)) // digits of infinity are none
        SL_ASSERT(c->op != SL_OP_PAR || isfinite(params[c->arg - 1]));
    static const double none[1];
    return print(s, format, e, names, params ? params : none);
}
