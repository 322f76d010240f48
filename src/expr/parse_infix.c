/* Infix text, with the spellings of Python, SymPy and C.
 *
 *     sum      = product { ("+" | "-") product }
 *     product  = signed { ("*" | "/") signed }
 *     signed   = { "+" | "-" } power
 *     power    = atom [ ("^" | "**") signed ]        2^3^2 = 2^9, -x1^2 = -(x1^2), x1^-2
 *              | ("e" | "E") ("^" | "**") signed     exp
 *     atom     = number | variable | c<n> | `name` | "(" sum ")"
 *              | [module "."] ("pi" | "e")           where no column is called so; also M_PI, M_E
 *              | [module "."] function "(" sum ")"   function: exp log sin ... sqrt neg
 *              | [module "."] "pow" "(" sum "," sum ")"
 *              | "Rational" "(" sum [ "," sum ] ")" | "Integer" "(" sum ")"
 *
 * A product needs its sign: 2x1 is an error, because x12 and 2e3 would be ambiguous. */
#include "expr/text_impl.h"

typedef enum kind {
    END,
    NUMBER,
    NAME,   // in reader->name, without the module
    QUOTED, // between backticks, in reader->name
    POWER,
    SIGN, // + - * / ( ) and ,
    BAD
} kind;

typedef struct token {
    kind kind;
    char sign;
    bool of_module; // the name follows math. or another module
    size_t start, end;
    sl_rat value;
} token;

typedef struct parser {
    sl_reader *r;
    token tok;    // the one to look at next
    token before; // the one before it
} parser;

/* ---------------------------------------------------------------- tokens -------------------- */

static bool is_name_character(int32_t c) {
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    // letters of all scripts; not punctuation, superscripts, operators and arrows
    return c >= 0xc0 && c != 0xd7 && c != 0xf7 && !(c >= 0x2000 && c <= 0x2bff) &&
           !(c >= 0x3000 && c <= 0x303f) && !(c >= 0xfe00 && c <= 0xfeff);
}

static void read_name(sl_reader *r) {
    size_t len;
    sl_expr__text_name_begin(r, &len);
    int used;
    for (; r->at < r->n; r->at += (size_t)used) {
        int32_t c = sl_utf8_read(r->text + r->at, r->n - r->at, &used);
        if (!is_name_character(c)) break;
        sl_expr__text_name_add(r, &len, r->text + r->at, (size_t)used);
    }
}

/* Python as people write it: math.sin, np.exp. */
static bool is_module(const char *name) {
    static const char *const modules[] = { "math", "np", "numpy", "sp", "sympy", "Base" };
    for (int i = 0; i < SL_LEN(modules); i++)
        if (strcmp(modules[i], name) == 0) return true;
    return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void advance(parser *p) {
    sl_reader *r = p->r;
    while (r->at < r->n && is_blank(r->text[r->at])) r->at++;
    token *t = &p->tok;
    p->before = *t;
    *t = (token){ .kind = BAD, .start = r->at };
    char c = r->at < r->n ? r->text[r->at] : '\0';
    char after = r->at + 1 < r->n ? r->text[r->at + 1] : '\0';
    int used;
    if (r->at >= r->n) {
        t->kind = END;
    } else if ((c >= '0' && c <= '9') || (c == '.' && after >= '0' && after <= '9')) {
        if (sl_expr__text_number(r, &t->value, true)) t->kind = NUMBER;
    } else if (c == '`') {
        if (sl_expr__text_quoted_name(r)) t->kind = QUOTED;
    } else if (c == '^' || (c == '*' && after == '*')) {
        r->at += c == '^' ? 1 : 2;
        t->kind = POWER;
    } else if (c && strchr("+-*/(),", c)) {
        r->at++;
        t->kind = SIGN;
        t->sign = c;
    } else if (is_name_character(sl_utf8_read(r->text + r->at, r->n - r->at, &used))) {
        read_name(r);
        if (r->at < r->n && r->text[r->at] == '.' && is_module(r->name)) {
            r->at++;
            read_name(r);
            t->of_module = true;
        }
        t->kind = NAME;
    } else {
        sl_expr__text_bad_character(r, r->at);
    }
    t->end = r->at;
}

static bool is(const parser *p, char sign) { return p->tok.kind == SIGN && p->tok.sign == sign; }

static bool begins_operand(const parser *p) {
    return p->tok.kind == NUMBER || p->tok.kind == NAME || p->tok.kind == QUOTED || is(p, '(');
}

static const char *quote(char buffer[SL_TEXT_QUOTE], const parser *p, token t) {
    return sl_expr__text_quote(buffer, p->r->text + t.start, t.end - t.start);
}

/* Reports that the next token is not what the grammar needs here. */
static sl_expr_term *unexpected(parser *p, const char *expected) {
    char text[SL_TEXT_QUOTE];
    if (p->r->build.st != SL_OK) return NULL;
    if (p->tok.kind == END)
        return sl_expr__text_fail(p->r, SL_EFORMAT, p->tok.start,
                                  "the text ends where %s should be", expected);
    return sl_expr__text_fail(p->r, SL_EFORMAT, p->tok.start, "\"%s\" where %s should be",
                              quote(text, p, p->tok), expected);
}

static bool expect(parser *p, char sign, const char *expected) {
    if (!is(p, sign)) {
        unexpected(p, expected);
        return false;
    }
    advance(p);
    return true;
}

/* ---------------------------------------------------------------- grammar ------------------- */

static sl_expr_term *sum(parser *p);
static sl_expr_term *factor(parser *p);

/* The closing bracket of t, which has been read. */
static sl_expr_term *closing(parser *p, token open, sl_expr_term *t) {
    if (!t) return NULL;
    if (p->tok.kind == END)
        return sl_expr__text_fail(p->r, SL_EFORMAT, open.start, "this bracket is never closed");
    return expect(p, ')', "an operator or )") ? t : NULL;
}

static sl_expr_term *bracket(parser *p) {
    token open = p->tok;
    advance(p);
    if (!sl_expr__text_open(p->r, open.start)) return NULL;
    sl_expr_term *t = sum(p);
    p->r->nest--;
    return closing(p, open, t);
}

/* Number of an argument, which must have one. */
static bool argument(parser *p, sl_rat *out, const char *function) {
    size_t start = p->tok.start;
    sl_expr_term *t = sum(p);
    if (!t) return false;
    if (sl_expr_term_value(&p->r->build, out, t)) return true;
    sl_expr__text_fail(p->r, SL_EFORMAT, start, "%s needs numbers", function);
    return false;
}

static sl_expr_term *rational(parser *p) {
    sl_rat num, den = SL_RAT(1);
    if (!argument(p, &num, "Rational")) return NULL;
    if (is(p, ',')) {
        advance(p);
        if (!argument(p, &den, "Rational")) return NULL;
    }
    sl_expr_term *t = sl_expr_term_num(&p->r->build, num);
    return sl_expr_rat_is(den, 1)
               ? t
               : sl_expr_term_div(&p->r->build, t, sl_expr_term_num(&p->r->build, den));
}

static sl_expr_term *integer(parser *p) {
    sl_rat v;
    size_t start = p->tok.start;
    if (!argument(p, &v, "Integer")) return NULL;
    if (!sl_expr_rat_is_int(v))
        return sl_expr__text_fail(p->r, SL_EFORMAT, start, "Integer needs a whole number");
    return sl_expr_term_num(&p->r->build, v);
}

static sl_expr_term *power_call(parser *p) {
    sl_expr_term *base = sum(p);
    if (!base || !expect(p, ',', "a comma and the exponent")) return NULL;
    return sl_expr__term_power(&p->r->build, base, sum(p));
}

/* `name` stood before; what must follow is its operands in brackets. */
static sl_expr_term *call(parser *p, token name, sl_function f,
                          sl_expr_term *(*special)(parser *)) {
    sl_reader *r = p->r;
    char text[SL_TEXT_QUOTE];
    quote(text, p, name);
    if (r->build.st != SL_OK) return NULL;
    if (!is(p, '('))
        return sl_expr__text_fail(r, SL_EFORMAT, name.start, "%s needs brackets, as in %s(%s)",
                                  text, text, special ? "..." : "x1");
    token open = p->tok;
    advance(p);
    if (is(p, ')')) return sl_expr__text_fail(r, SL_EFORMAT, p->tok.start, "%s of nothing", text);
    if (!sl_expr__text_open(r, open.start)) return NULL;
    sl_expr_term *t = special ? special(p) : sum(p);
    r->nest--;
    if (t && is(p, ','))
        return sl_expr__text_fail(r, SL_EFORMAT, p->tok.start, "too many operands for %s", text);
    t = closing(p, open, t);
    return special ? t : sl_expr__term_call(&r->build, f, t);
}

/* Does an opening bracket come next? */
static bool bracket_follows(const sl_reader *r) {
    size_t at = r->at;
    while (at < r->n && is_blank(r->text[at])) at++;
    return at < r->n && r->text[at] == '(';
}

static sl_expr_term *named(parser *p) {
    sl_reader *r = p->r;
    token name = p->tok;
    int number;
    if (name.kind == NAME) {
        sl_function f = sl_expr__text_function(r->name);
        sl_expr_term *(*special)(parser *) = strcmp(r->name, "pow") == 0        ? power_call
                                             : strcmp(r->name, "Rational") == 0 ? rational
                                             : strcmp(r->name, "Integer") == 0  ? integer
                                                                                : NULL;
        // a name without a bracket is a column, even if a function has that name
        const bool column = !bracket_follows(r) && sl_expr__text_variable(r->names, r->name);
        if (!column && (f != SL_FUNCTION_NONE || special)) {
            advance(p);
            return call(p, name, f, special);
        }
    }
    const sl_constant exact = name.kind == NAME ? sl_expr__text_exact(r->name) : SL_CONSTANT_NONE;
    number = exact && name.of_module ? 0 : sl_expr__text_variable(r->names, r->name);
    if (number) {
        advance(p);
        return sl_expr_term_leaf(&r->build, SL_OP_VAR, number);
    }
    if (exact) {
        advance(p);
        return sl_expr__term_exact(&r->build, exact);
    }
    if (name.kind == NAME && (number = sl_expr__text_constant(r->name))) {
        advance(p);
        return sl_expr_term_leaf(&r->build, SL_OP_PAR, number);
    }
    char reason[sizeof r->build.reason];
    sl_expr__text_explain(reason, sizeof reason, r->names, r->name);
    return sl_expr__text_fail(r, SL_EFORMAT, name.start, "%s", reason);
}

static sl_expr_term *atom(parser *p) {
    token t = p->tok;
    if (t.kind == NUMBER) {
        advance(p);
        return sl_expr_term_num(&p->r->build, t.value);
    }
    if (t.kind == NAME || t.kind == QUOTED) return named(p);
    if (is(p, '(')) return bracket(p);
    return unexpected(p, "a number, a variable, a function or (");
}

/* Is the next token e, to be read as Euler's number because it is the base of a power? */
static bool is_euler(const parser *p) {
    const sl_reader *r = p->r;
    if (p->tok.kind != NAME || (strcmp(r->name, "e") != 0 && strcmp(r->name, "E") != 0))
        return false;
    if (sl_expr__text_variable(r->names, r->name)) return false; // a column called e
    size_t at = r->at;
    while (at < r->n && is_blank(r->text[at])) at++;
    return at < r->n &&
           (r->text[at] == '^' || (r->text[at] == '*' && at + 1 < r->n && r->text[at + 1] == '*'));
}

/* What follows ^. */
static sl_expr_term *exponent(parser *p) {
    advance(p);
    if (!sl_expr__text_open(p->r, p->tok.start)) return NULL;
    sl_expr_term *t = factor(p);
    p->r->nest--;
    return t;
}

static sl_expr_term *factor(parser *p) {
    bool negative = false;
    for (; is(p, '-') || is(p, '+'); advance(p)) negative ^= is(p, '-');
    sl_expr_term *t;
    if (is_euler(p)) {
        advance(p);
        t = sl_expr__term_call(&p->r->build, (sl_function)SL_OP_EXP, exponent(p));
    } else {
        t = atom(p);
        if (t && p->tok.kind == POWER) t = sl_expr__term_power(&p->r->build, t, exponent(p));
    }
    return negative ? sl_expr_term_neg(&p->r->build, t) : t;
}

static sl_expr_term *missing_operator(parser *p) {
    char left[SL_TEXT_QUOTE], right[SL_TEXT_QUOTE];
    quote(left, p, p->before);
    quote(right, p, p->tok);
    if (p->before.kind == NUMBER && p->tok.kind != NUMBER)
        return sl_expr__text_fail(p->r, SL_EFORMAT, p->tok.start,
                                  "missing operator before \"%s\"; write %s*%s", right, left,
                                  right);
    return sl_expr__text_fail(p->r, SL_EFORMAT, p->tok.start,
                              "missing operator before \"%s\"; write * for a product", right);
}

static sl_expr_term *product(parser *p) {
    sl_expr_term *t = factor(p);
    while (t) {
        if (begins_operand(p)) return missing_operator(p);
        bool times = is(p, '*');
        if (!times && !is(p, '/')) return t;
        advance(p);
        sl_expr_term *u = factor(p);
        t = times ? sl_expr_term_mul(&p->r->build, t, u) : sl_expr_term_div(&p->r->build, t, u);
    }
    return NULL;
}

static sl_expr_term *sum(parser *p) {
    sl_expr_term *t = product(p);
    while (t && (is(p, '+') || is(p, '-'))) {
        bool minus = is(p, '-');
        advance(p);
        sl_expr_term *u = product(p);
        t = sl_expr_term_add(&p->r->build, t, minus ? sl_expr_term_neg(&p->r->build, u) : u);
    }
    return t;
}

sl_expr_term *sl_expr__text_infix(sl_reader *r) {
    parser p = { .r = r };
    advance(&p);
    if (r->build.st == SL_OK && p.tok.kind == END)
        return sl_expr__text_fail(r, SL_EFORMAT, p.tok.start, "no expression, only blanks");
    sl_expr_term *t = sum(&p);
    if (r->build.st == SL_OK && p.tok.kind != END) unexpected(&p, "an operator or the end");
    return t;
}

sl_status sl_expr_infix_words(const char *const **words, int *n, sl_arena *a, const char *text,
                              size_t length) {
    const char **list = sl_arena_alloc(a, (length + 1) * sizeof *list);
    char *name = sl_arena_alloc(a, length + 2);
    if (!list || !name) return sl_fail_memory(length + 1, sizeof *list, "names");
    sl_reader r = {
        .text = length ? text : "", .n = length, .name = name, .name_size = length + 2
    };
    r.build = (sl_expr_builder){ .arena = a, .at = &r.at };
    parser p = { .r = &r };
    *n = 0;
    for (advance(&p); p.tok.kind != END && p.tok.kind != BAD;) {
        const bool named = p.tok.kind == QUOTED || (p.tok.kind == NAME && !p.tok.of_module);
        const char *word = named ? sl_arena_text(a, name, strlen(name)) : NULL;
        if (named && !word) return sl_fail_memory(length, 1, "a name");
        const bool quoted = p.tok.kind == QUOTED;
        advance(&p);
        bool fresh = named && (quoted || !is(&p, '('));
        for (int i = 0; i < *n && fresh; i++) fresh = strcmp(list[i], word) != 0;
        if (fresh) list[(*n)++] = word;
    }
    *words = list;
    return SL_OK;
}
