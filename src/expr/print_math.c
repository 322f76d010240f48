/* LaTeX and presentation MathML: fractions, roots and raised exponents.
 *
 * Models are trained on this LaTeX, so it is short and has one spelling for each construct: no
 * \left and \right, e^{u} for exp, a blank for a product (\cdot only before a digit), braces around
 * every exponent. */
#include "expr/text_impl.h"

#include <inttypes.h>
#include <stdlib.h>

/* Binding strength of a text, and the strength its place requires; brackets where it is less. */
typedef enum level { SUM, FACTOR, BASE } level; // a sum, or a fraction, or with a sign

typedef struct style {
    const char *begin, *end;
    const char *open, *close;
    const char *sign, *minus, *plus;              // sign: the minus before a first operand
    const char *times, *times_digit, *times_word; // word: where a name has several letters
    const char *fraction_open, *fraction_mid, *fraction_close;
    const char *root_open, *root_close;
    const char *power_open, *power_mid, *power_close;
    const char *exp_open, *exp_close;
    const char *function_open, *function_close; // around its name
    const char *number_open, *number_close;
    const char *abs_open, *abs_close;
    const char *pi;
} style;

static const style latex = {
    .begin = "",
    .end = "",
    .open = "(",
    .close = ")",
    .sign = "-",
    .minus = " - ",
    .plus = " + ",
    .times = " ",
    .times_digit = " \\cdot ",
    .times_word = " \\, ",
    .fraction_open = "\\frac{",
    .fraction_mid = "}{",
    .fraction_close = "}",
    .root_open = "\\sqrt{",
    .root_close = "}",
    .power_open = "",
    .power_mid = "^{",
    .power_close = "}",
    .exp_open = "e^{",
    .exp_close = "}",
    .function_open = "\\",
    .function_close = "",
    .number_open = "",
    .number_close = "",
    .abs_open = "\\left|",
    .abs_close = "\\right|",
    .pi = "\\pi",
};

static const style mathml = {
    .begin = "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mrow>",
    .end = "</mrow></math>",
    .open = "<mo>(</mo>",
    .close = "<mo>)</mo>",
    .sign = "<mo>&#x2212;</mo>",
    .minus = "<mo>&#x2212;</mo>",
    .plus = "<mo>+</mo>",
    .times = "<mo>&#x2062;</mo>", // invisible times
    .times_digit = "<mo>&#x22C5;</mo>",
    .times_word = "<mo rspace=\"0.2em\">&#x2062;</mo>",
    .fraction_open = "<mfrac><mrow>",
    .fraction_mid = "</mrow><mrow>",
    .fraction_close = "</mrow></mfrac>",
    .root_open = "<msqrt>",
    .root_close = "</msqrt>",
    .power_open = "<msup><mrow>",
    .power_mid = "</mrow><mrow>",
    .power_close = "</mrow></msup>",
    .exp_open = "<msup><mi>e</mi><mrow>",
    .exp_close = "</mrow></msup>",
    .function_open = "<mi>",
    .function_close = "</mi><mo>&#x2061;</mo>", // function application
    .number_open = "<mn>",
    .number_close = "</mn>",
    .abs_open = "<mo>|</mo><mrow>",
    .abs_close = "</mrow><mo>|</mo>",
    .pi = "<mi>&#x3C0;</mi>",
};

typedef struct printer {
    sl_str *s;
    const style *style;
    const sl_names *names;
    const double *params; // values of the free constants, or NULL
    const char *times;    // of the style: a formula with a name of several letters needs a gap
} printer;

static void put(printer *p, const sl_node *e, level required);

/* ---------------------------------------------------------------- names --------------------- */

static void put_upright(sl_str *s, const char *name) {
    sl_str_add(s, "\\mathrm{");
    for (; *name; name++) {
        switch (*name) {
        case '\\': sl_str_add(s, "\\textbackslash{}"); break;
        case '^': sl_str_add(s, "\\^{}"); break;
        case '~': sl_str_add(s, "\\~{}"); break;
        case ' ':
        case '_':
        case '{':
        case '}':
        case '%':
        case '$':
        case '&':
        case '#': sl_str_add_char(s, '\\'); // fall through
        default: sl_str_add_char(s, *name);
        }
    }
    sl_str_add_char(s, '}');
}

static void put_plain(sl_str *s, const sl_node *e, char letter) {
    const char head[] = { letter, '_', '{' };
    sl_str_add_bytes(s, head, e->arg < 10 ? 2 : 3);
    sl_str_add_uint(s, e->arg);
    if (e->arg >= 10) sl_str_add_char(s, '}');
}

/* x_1 or c_1, unless a column has that spelling. */
static bool put_numbered(sl_str *s, const sl_node *e, const sl_names *names, char letter) {
    char plain[16], lowered[16];
    sl_snprintf(plain, sizeof plain, "%c%d", letter, e->arg);
    sl_snprintf(lowered, sizeof lowered, "%c_%d", letter, e->arg);
    int taken = sl_expr__text_variable(names, plain);
    if (e->op == SL_OP_VAR && taken == e->arg) taken = 0;
    if (taken || sl_expr__text_variable(names, lowered)) return false;
    put_plain(s, e, letter);
    return true;
}

static void put_latex_name(sl_str *s, const sl_node *e, const sl_names *names) {
    char spelled[96], letter = e->op == SL_OP_VAR ? 'x' : 'c';
    if (!names || !names->names) { // nothing else can have the spelling
        put_plain(s, e, letter);
        return;
    }
    const char *column = e->op == SL_OP_VAR ? sl_expr__text_column_name(names, e->arg) : NULL;
    sl_snprintf(spelled, sizeof spelled, "%c%d", letter, e->arg);
    if ((!column || strcmp(column, spelled) == 0) && put_numbered(s, e, names, letter)) return;
    if (column) {
        // a single letter stands for itself, but e^{...} is the exponential
        bool is_letter =
            sl_expr__text_is_identifier(column) && *column != '_' && *column != 'e' && !column[1];
        if (is_letter)
            sl_str_add(s, column);
        else
            put_upright(s, column);
        return;
    }
    int n = sl_expr__text_underscores(names, letter, e->arg);
    memset(spelled, '_', (size_t)n);
    sl_snprintf(spelled + n, sizeof spelled - (size_t)n, "%c%d", letter, e->arg);
    put_upright(s, spelled);
}

/* The name of a variable's column; NULL: it has none, or it is the plain one, x1. */
static const char *own_name(const sl_names *names, const sl_node *e) {
    const char *column = e->op == SL_OP_VAR ? sl_expr__text_column_name(names, e->arg) : NULL;
    char plain[16];
    if (!column || !*column) return NULL;
    sl_snprintf(plain, sizeof plain, "x%d", e->arg);
    return strcmp(column, plain) != 0 ? column : NULL;
}

static void put_mathml_name(sl_str *s, const sl_node *e, const sl_names *names) {
    const char *column = own_name(names, e);
    if (!column) {
        sl_str_addf(s, "<msub><mi>%c</mi><mn>%d</mn></msub>", e->op == SL_OP_VAR ? 'x' : 'c',
                    e->arg);
        return;
    }
    sl_str_add(s, "<mi>");
    size_t n = strlen(column);
    int used;
    for (size_t i = 0; i < n; i += (size_t)used) {
        int32_t c = sl_utf8_read(column + i, n - i, &used);
        bool control = c < 0x20 && c != '\t' && c != '\n' && c != '\r';
        if (control || c == 0xfffe || c == 0xffff)
            sl_str_add(s, "&#xFFFD;"); // what XML cannot hold
        else if (c == '&' || c == '<' || c == '>')
            sl_str_add(s, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
        else
            sl_str_add_bytes(s, column + i, (size_t)used);
    }
    sl_str_add(s, "</mi>");
}

/* ---------------------------------------------------------------- formulas ------------------ */

static void put_integer(printer *p, uint64_t n) {
    sl_str_add(p->s, p->style->number_open);
    sl_str_add_uint(p->s, n);
    sl_str_add(p->s, p->style->number_close);
}

/* The magnitude. */
static void put_number(printer *p, sl_rat v) {
    uint64_t num = (uint64_t)(v.num < 0 ? -v.num : v.num);
    if (v.den == 1) {
        put_integer(p, num);
        return;
    }
    sl_str_add(p->s, p->style->fraction_open);
    put_integer(p, num);
    sl_str_add(p->s, p->style->fraction_mid);
    put_integer(p, (uint64_t)v.den);
    sl_str_add(p->s, p->style->fraction_close);
}

static double value_of(const printer *p, const sl_node *e) { return p->params[e->arg - 1]; }

/* The size of a constant's value: 2.5, or 1.5 times a power of ten. */
static void put_value(printer *p, const sl_node *e) {
    const sl_decimal d = sl_expr__text_decimal(value_of(p, e));
    const bool digits = d.exponent == 0 || strcmp(d.digits, "1") != 0;
    if (digits) {
        sl_str_add(p->s, p->style->number_open);
        sl_str_add(p->s, d.digits);
        sl_str_add(p->s, p->style->number_close);
    }
    if (d.exponent == 0) return;
    if (digits) sl_str_add(p->s, p->style->times_digit);
    sl_str_add(p->s, p->style->power_open);
    put_integer(p, 10);
    sl_str_add(p->s, p->style->power_mid);
    if (d.exponent < 0) sl_str_add(p->s, p->style->sign);
    put_integer(p, (uint64_t)abs(d.exponent));
    sl_str_add(p->s, p->style->power_close);
}

/* A column called pi has that spelling; then pi is an upright name behind underscores. */
static void put_pi(printer *p) {
    char spelled[SL_TEXT_PI];
    if (sl_expr__text_spell_pi(spelled, SL_FORMAT_LATEX, p->names) && p->style == &latex)
        put_upright(p->s, spelled);
    else
        sl_str_add(p->s, p->style->pi);
}

static bool is_half(sl_rat v) { return v.num == 1 && v.den == 2; }

static void put_power(printer *p, const sl_node *base, sl_rat exponent) {
    if (is_half(exponent)) {
        sl_str_add(p->s, p->style->root_open);
        put(p, base, SUM);
        sl_str_add(p->s, p->style->root_close);
        return;
    }
    sl_str_add(p->s, p->style->power_open);
    put(p, base, BASE);
    sl_str_add(p->s, p->style->power_mid);
    if (exponent.num < 0) sl_str_add(p->s, p->style->sign);
    put_number(p, exponent);
    sl_str_add(p->s, p->style->power_close);
}

static void put_factor(printer *p, const sl_node *c, bool below, level required) {
    sl_rat exponent = sl_expr__text_exponent(c, below);
    if (!below && c->op == SL_OP_PAR && p->params)
        put_value(p, c); // its sign is that of the term
    else if (!below)
        put(p, c, required);
    else if (sl_expr_rat_is(exponent, 1))
        put(p, c + 1, required);
    else
        put_power(p, c + 1, exponent);
}

/* Would a blank before this factor glue two numbers together? */
static bool begins_with_digit(const printer *p, const sl_node *c, bool below) {
    const bool power = c->op == SL_OP_POW || c->op == SL_OP_RAISE;
    if (power) {
        const bool bare = c->op == SL_OP_POW && sl_expr_rat_is(sl_expr__text_exponent(c, below), 1);
        if (c->op == SL_OP_POW && is_half(sl_expr__text_exponent(c, below))) return false;
        c++;
        if (bare && c->op == SL_OP_RAISE) c++; // u^v alone below the bar
    }
    if (c->op == SL_OP_PAR && p->params) return !power || value_of(p, c) >= 0;
    if (c->op != SL_OP_NUM) return false;
    sl_rat v = sl_expr_num_value(c);
    return v.num >= 0 && v.den == 1; // others stand in brackets
}

/* One side of a fraction, or a product without one. alone: the level required of a single
 * factor. */
static void put_side(printer *p, const sl_fraction *f, bool below, level alone) {
    uint64_t number = below ? f->den : f->num;
    int factors = below ? f->below : f->above;
    bool first = true;
    if (number != 1 || factors == 0) {
        put_integer(p, number);
        first = false;
    }
    level required = first && factors == 1 ? alone : FACTOR;
    for (const sl_node *c = NULL; (c = sl_expr__text_factor(f, c, below));) {
        if (!first)
            sl_str_add(p->s, begins_with_digit(p, c, below) ? p->style->times_digit : p->times);
        put_factor(p, c, below, required);
        first = false;
    }
}

/* The magnitude of a term: what follows its sign. */
static void put_term(printer *p, const sl_node *e) {
    sl_fraction f = sl_expr__text_fraction(e, p->params);
    if (f.den == 1 && f.below == 0) {
        put_side(p, &f, false, FACTOR);
        return;
    }
    sl_str_add(p->s, p->style->fraction_open);
    put_side(p, &f, false, SUM);
    sl_str_add(p->s, p->style->fraction_mid);
    put_side(p, &f, true, SUM);
    sl_str_add(p->s, p->style->fraction_close);
}

static void put_sum(printer *p, const sl_node *e) {
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg; i++, c = sl_expr_next(c)) {
        bool negative = sl_expr__text_negative(c, p->params);
        if (i > 0)
            sl_str_add(p->s, negative ? p->style->minus : p->style->plus);
        else if (negative)
            sl_str_add(p->s, p->style->sign);
        put_term(p, c);
    }
}

static level level_of(const printer *p, const sl_node *e) {
    switch ((sl_op)e->op) {
    case SL_OP_ADD:
    case SL_OP_MUL: return SUM;
    case SL_OP_NUM: {
        sl_rat v = sl_expr_num_value(e);
        return v.num < 0 || v.den > 1 ? SUM : BASE;
    }
    case SL_OP_POW:
        if (sl_expr__text_fraction(e, p->params).below) return SUM;
        return is_half(sl_expr__exponent(e)) ? BASE : FACTOR;
    case SL_OP_RAISE:
    case SL_OP_EXP: return FACTOR;
    case SL_OP_PAR:
        if (!p->params) return BASE;
        if (value_of(p, e) < 0) return SUM;
        return sl_expr__text_decimal(value_of(p, e)).exponent ? FACTOR : BASE;
    default: return BASE;
    }
}

static void put(printer *p, const sl_node *e, level required) {
    bool brackets = level_of(p, e) < required;
    if (brackets) sl_str_add(p->s, p->style->open);
    switch ((sl_op)e->op) {
    case SL_OP_VAR:
    case SL_OP_PAR:
        if (e->op == SL_OP_PAR && p->params) {
            if (value_of(p, e) < 0) sl_str_add(p->s, p->style->sign);
            put_value(p, e);
        } else {
            (p->style == &latex ? put_latex_name : put_mathml_name)(p->s, e, p->names);
        }
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
        if (sl_expr__text_negative(e, p->params)) sl_str_add(p->s, p->style->sign);
        put_term(p, e);
        break;
    case SL_OP_EXP:
        sl_str_add(p->s, p->style->exp_open);
        put(p, e + 1, SUM);
        sl_str_add(p->s, p->style->exp_close);
        break;
    case SL_OP_PI: put_pi(p); break;
    case SL_OP_RAISE:
        sl_str_add(p->s, p->style->power_open);
        put(p, e + 1, BASE);
        sl_str_add(p->s, p->style->power_mid);
        put(p, sl_expr_next(e + 1), SUM);
        sl_str_add(p->s, p->style->power_close);
        break;
    case SL_OP_ABS:
        sl_str_add(p->s, p->style->abs_open);
        put(p, e + 1, SUM);
        sl_str_add(p->s, p->style->abs_close);
        break;
    default: // functions
        sl_str_add(p->s, p->style->function_open);
        sl_str_add(p->s, sl_expr__text_function_name((sl_op)e->op, SL_FORMAT_LATEX));
        sl_str_add(p->s, p->style->function_close);
        sl_str_add(p->s, p->style->open);
        put(p, e + 1, SUM);
        sl_str_add(p->s, p->style->close);
    }
    if (brackets) sl_str_add(p->s, p->style->close);
}

/* Does e have a column whose name has several letters? R1 R2 is not R1R2. */
static bool has_words(const sl_node *e, const sl_names *names) {
    for (uint32_t i = 0; names && i < e->len; i += sl_expr_step(&e[i])) {
        const char *name = own_name(names, &e[i]);
        int first;
        if (!name) continue;
        sl_utf8_read(name, strlen(name), &first);
        if (name[first]) return true;
    }
    return false;
}

void sl_expr__text_print_math(sl_str *s, sl_format format, const sl_node *e, const sl_names *names,
                              const double *params) {
    const style *const by = format == SL_FORMAT_LATEX ? &latex : &mathml;
    printer p = { s, by, names, params, has_words(e, names) ? by->times_word : by->times };
    sl_str_add(s, p.style->begin);
    put(&p, e, SUM);
    sl_str_add(s, p.style->end);
}
