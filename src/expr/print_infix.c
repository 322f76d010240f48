/* Infix text, and its dialects Python, NumPy, SymPy, Julia, C and Excel.
 *
 * They differ in how a power, a function and a number are written: x^2, x**2, pow(x, 2.0); sin,
 * np.sin, SIN; 3/4, Rational(3, 4), 3.0/4.0. SymPy text stays exact when Python reads it: wherever
 * Python would divide or raise plain integers, they are written as Rational or Integer. NumPy does
 * not raise arrays of integers to negative integers, so that these exponents have a point. For
 * Excel a sign before a power is that of its base, -A2^2 being (-A2)^2, so that such a power is in
 * brackets; and powers associate to the left. */
#include "expr/text_impl.h"

#include <inttypes.h>

/* Binding strength of a text, and the strength its place requires; brackets where it is less. */
typedef enum level { SUM, FACTOR, BASE } level; // a sum, or a quotient, or with a sign

typedef struct printer {
    sl_str *s;
    sl_format format;
    const sl_names *names;
    const double *params; // values of the free constants, or NULL
    bool after_sign;      // a minus sign was just written that is no operator between two terms
} printer;

static bool has_caret(const printer *p) {
    return p->format == SL_FORMAT_INFIX || p->format == SL_FORMAT_JULIA ||
           p->format == SL_FORMAT_EXCEL;
}

static void put_minus(printer *p) {
    sl_str_add_char(p->s, '-');
    p->after_sign = true;
}

/* The name of a function with its bracket. */
static void open_call(printer *p, const char *name) {
    if (p->format == SL_FORMAT_NUMPY) sl_str_add(p->s, "np.");
    for (; *name; name++) {
        const bool upper = p->format == SL_FORMAT_EXCEL && *name >= 'a' && *name <= 'z';
        sl_str_add_char(p->s, (char)(upper ? *name - 'a' + 'A' : *name));
    }
    sl_str_add_char(p->s, '(');
}

static void put(printer *p, const sl_node *e, level required);

static void put_integer(printer *p, uint64_t n) {
    sl_str_add_uint(p->s, n);
    if (p->format == SL_FORMAT_C) sl_str_add(p->s, ".0");
}

static uint64_t magnitude(int64_t n) { return (uint64_t)(n < 0 ? -n : n); }

/* A number by itself. In SymPy a fraction is a call; so is an integer that is raised to a power. */
static void put_number(printer *p, sl_rat v, bool raised) {
    bool sympy = p->format == SL_FORMAT_SYMPY;
    if (sympy && v.den > 1) {
        sl_str_addf(p->s, "Rational(%" PRId64 ", %" PRId64 ")", v.num, v.den);
        return;
    }
    if (sympy && raised) {
        sl_str_addf(p->s, "Integer(%" PRId64 ")", v.num);
        return;
    }
    if (v.num < 0) sl_str_add_char(p->s, '-');
    put_integer(p, magnitude(v.num));
    if (v.den > 1) {
        sl_str_add_char(p->s, '/');
        put_integer(p, (uint64_t)v.den);
    }
}

static level level_of_number(const printer *p, sl_rat v, bool raised) {
    if (p->format == SL_FORMAT_SYMPY && (v.den > 1 || raised)) return BASE;
    return v.num < 0 || v.den > 1 ? SUM : BASE;
}

/* The size of a constant's value. Programming languages would take digits without a point for an
 * integer. */
static void put_value(printer *p, const sl_node *e) {
    const sl_decimal d = sl_expr__text_decimal(p->params[e->arg - 1]);
    sl_str_add(p->s, d.digits);
    if (d.exponent != 0)
        sl_str_addf(p->s, p->format == SL_FORMAT_EXCEL ? "E%+03d" : "e%+03d", d.exponent);
    else if (p->format != SL_FORMAT_INFIX && p->format != SL_FORMAT_EXCEL && !strchr(d.digits, '.'))
        sl_str_add(p->s, ".0");
}

/* base^exponent, of a power that is not written below a bar. */
static void put_power(printer *p, const sl_node *base, sl_rat exponent) {
    bool c = p->format == SL_FORMAT_C;
    if (exponent.num == 1 && exponent.den == 2) {
        open_call(p, "sqrt");
        put(p, base, SUM);
        sl_str_add_char(p->s, ')');
        return;
    }
    if (c) {
        sl_str_add(p->s, "pow(");
        put(p, base, SUM);
        sl_str_add(p->s, ", ");
        put_number(p, exponent, false);
        sl_str_add_char(p->s, ')');
        return;
    }
    put(p, base, BASE);
    sl_str_add(p->s, has_caret(p) ? "^" : "**");
    bool bare = level_of_number(p, exponent, false) == BASE;
    if (!bare) sl_str_add_char(p->s, '(');
    put_number(p, exponent, false);
    if (p->format == SL_FORMAT_NUMPY && exponent.num < 0 && exponent.den == 1)
        sl_str_add(p->s, ".0");
    if (!bare) sl_str_add_char(p->s, ')');
}

/* base^exponent with an exponent that is no number. */
static void put_raise(printer *p, const sl_node *base, const sl_node *exponent) {
    const bool c = p->format == SL_FORMAT_C;
    if (c) sl_str_add(p->s, "pow(");
    put(p, base, c ? SUM : BASE);
    sl_str_add(p->s, c ? ", " : has_caret(p) ? "^" : "**");
    put(p, exponent, c ? SUM : BASE);
    if (c) sl_str_add_char(p->s, ')');
}

static void put_factor(printer *p, const sl_node *c, bool below) {
    const bool signed_base = p->after_sign && p->format == SL_FORMAT_EXCEL;
    p->after_sign = false;
    if (!below) {
        if (p->params && c->op == SL_OP_PAR)
            put_value(p, c); // its sign is that of the term
        else
            put(p, c, signed_base ? BASE : FACTOR);
        return;
    }
    sl_rat exponent = sl_expr__text_exponent(c, below);
    if (!sl_expr_rat_is(exponent, 1))
        put_power(p, c + 1, exponent);
    else if (c[1].op == SL_OP_NUM && p->format == SL_FORMAT_SYMPY)
        put_number(p, sl_expr_num_value(c + 1), true);
    else
        put(p, c + 1, FACTOR);
}

/* One side of a fraction: the number unless it is 1 beside factors, then the factors. */
static void put_side(printer *p, const sl_fraction *f, bool below) {
    uint64_t number = below ? f->den : f->num;
    int factors = below ? f->below : f->above;
    bool first = true;
    if (number != 1 || factors == 0) {
        put_integer(p, number);
        first = p->after_sign = false;
    }
    for (const sl_node *c = NULL; (c = sl_expr__text_factor(f, c, below));) {
        if (!first) sl_str_add_char(p->s, '*');
        put_factor(p, c, below);
        first = false;
    }
}

/* The magnitude of a term: what follows its sign. */
static void put_term(printer *p, const sl_node *e) {
    if (e->op == SL_OP_NUM) {
        sl_rat v = sl_expr_num_value(e);
        p->after_sign = false;
        put_number(p, (sl_rat){ v.num < 0 ? -v.num : v.num, v.den }, false);
        return;
    }
    sl_fraction f = sl_expr__text_fraction(e, p->params);
    put_side(p, &f, false);
    if (f.den == 1 && f.below == 0) return;
    bool brackets = f.below + (f.den != 1) > 1;
    sl_str_add(p->s, brackets ? "/(" : "/");
    put_side(p, &f, true);
    if (brackets) sl_str_add_char(p->s, ')');
}

static void put_sum(printer *p, const sl_node *e) {
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        bool negative = sl_expr__text_negative(c, p->params);
        if (i > 0)
            sl_str_add(p->s, negative ? " - " : " + ");
        else if (negative)
            put_minus(p);
        put_term(p, c);
    }
}

static level level_of(const printer *p, const sl_node *e) {
    switch ((sl_op)e->op) {
    case SL_OP_NUM: return level_of_number(p, sl_expr_num_value(e), false);
    case SL_OP_PAR: return sl_expr__text_negative(e, p->params) ? SUM : BASE;
    case SL_OP_ADD:
    case SL_OP_MUL: return SUM;
    case SL_OP_RAISE: return p->format == SL_FORMAT_C ? BASE : FACTOR;
    case SL_OP_POW: {
        if (sl_expr__text_fraction(e, p->params).below) return SUM; // 1/u
        sl_rat power = sl_expr__exponent(e);
        bool call = p->format == SL_FORMAT_C || (power.num == 1 && power.den == 2);
        return call ? BASE : FACTOR;
    }
    default: return BASE;
    }
}

static void put(printer *p, const sl_node *e, level required) {
    if (required == BASE && e->op == SL_OP_NUM && p->format == SL_FORMAT_SYMPY) {
        put_number(p, sl_expr_num_value(e), true);
        return;
    }
    bool brackets = level_of(p, e) < required;
    if (brackets) sl_str_add_char(p->s, '(');
    switch ((sl_op)e->op) {
    case SL_OP_VAR: sl_expr__text_print_name(p->s, p->format, e, p->names); break;
    case SL_OP_PI: sl_expr__text_print_pi(p->s, p->format, p->names); break;
    case SL_OP_RAISE: put_raise(p, e + 1, sl_expr_next(e + 1)); break;
    case SL_OP_PAR:
        if (sl_expr__text_negative(e, p->params)) sl_str_add_char(p->s, '-');
        if (p->params)
            put_value(p, e);
        else
            sl_expr__text_print_name(p->s, p->format, e, p->names);
        break;
    case SL_OP_ADD: put_sum(p, e); break;
    case SL_OP_POW:
        if (sl_expr__text_fraction(e, p->params).below)
            put_term(p, e);
        else
            put_power(p, e + 1, sl_expr__exponent(e));
        break;
    case SL_OP_NUM:
    case SL_OP_MUL:
        if (sl_expr__text_negative(e, p->params)) put_minus(p);
        put_term(p, e);
        break;
    default: // functions
        open_call(p, sl_expr__text_function_name((sl_op)e->op, p->format));
        put(p, e + 1, SUM);
        sl_str_add_char(p->s, ')');
    }
    if (brackets) sl_str_add_char(p->s, ')');
}

void sl_expr__text_print_infix(sl_str *s, sl_format format, const sl_node *e, const sl_names *names,
                               const double *params) {
    printer p = { s, format, names, params, false };
    if (format == SL_FORMAT_EXCEL) sl_str_add_char(s, '=');
    put(&p, e, SUM);
}
