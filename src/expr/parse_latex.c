/* LaTeX, as the printer writes it and as people do.
 *
 *     sum      = product { ("+" | "-") product }
 *     product  = signed { factor | ("\cdot" | "\times" | "*" | "/" | "\div") signed }
 *     signed   = { "+" | "-" } factor
 *     factor   = atom [ "^" argument ] | "e" "^" argument
 *     atom     = number | name | "(" sum ")" | "[" sum "]" | "\{" sum "\}" | "{" sum "}"
 *              | "\left|" sum "\right|" | "\lvert" sum "\rvert" | "|" sum "|"
 *              | "\frac" argument argument | "\sqrt" [ "[" sum "]" ] argument
 *              | function [ "^" argument ] operand
 *     argument = "{" sum "}" | digit | name of one letter | atom that begins with a command
 *     operand  = bracketed or braced sum, or the factors up to the next sign, function or bracket
 *     name     = letter [ "_" ( digit | letter | "{" ... "}" ) ] | "\mathrm" "{" ... "}" | ...
 *
 * Blanks, \, \; \! ~ \quad, \left, \right, \bigl and similar, {} are ignored. A product needs no
 * sign; where that leaves two readings the text is refused: a number goes before what it multiplies
 * (x_1 2 and x_12 are errors), 2\frac{1}{3} may be a mixed number, what follows a/b without a sign
 * may belong below the bar, and \sin^{-1} may be the arcsine. */
#include "expr/text_impl.h"

static sl_expr_term *sum(sl_reader *r);
static sl_expr_term *atom(sl_reader *r);
static sl_expr_term *factor(sl_reader *r);

/* ---------------------------------------------------------------- characters ---------------- */

static char at(const sl_reader *r, size_t i) { return i < r->n ? r->text[i] : '\0'; }
static char here(const sl_reader *r) { return at(r, r->at); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '~'; }

/* Length of the command at `i`, with its backslash: letters, or one other character. */
static size_t command_length(const sl_reader *r, size_t i) {
    if (at(r, i) != '\\') return 0;
    size_t n = 1;
    while (is_letter(at(r, i + n))) n++;
    return n > 1 || i + 1 >= r->n ? n : 2;
}

static bool is_command(const sl_reader *r, size_t i, const char *name) {
    size_t n = command_length(r, i);
    return n == strlen(name) && memcmp(r->text + i, name, n) == 0;
}

static bool is_one_of(const sl_reader *r, size_t i, const char *const *names, int count) {
    for (int k = 0; k < count; k++)
        if (is_command(r, i, names[k])) return true;
    return false;
}

/* Commands that only space, size or style what follows. */
static bool is_ignored(const sl_reader *r, size_t i) {
    static const char *const silent[] = {
        "\\,",
        "\\;",
        "\\:",
        "\\!",
        "\\>",
        "\\ ",
        "\\quad",
        "\\qquad",
        "\\left",
        "\\right",
        "\\big",
        "\\Big",
        "\\bigg",
        "\\Bigg",
        "\\bigl",
        "\\bigr",
        "\\Bigl",
        "\\Bigr",
        "\\biggl",
        "\\biggr",
        "\\Biggl",
        "\\Biggr",
        "\\displaystyle",
        "\\textstyle",
    };
    return is_one_of(r, i, silent, SL_LEN(silent));
}

/* Is this \left or \right of a bar, which without it neither opens nor closes? */
static bool bar_follows(const sl_reader *r, size_t i) {
    return at(r, i + command_length(r, i)) == '|';
}

/* The place of the next character that is not ignored. */
static size_t after_blanks(const sl_reader *r, size_t i) {
    for (;;) {
        if (is_blank(at(r, i))) {
            i++;
        } else if (at(r, i) == '\\' && is_ignored(r, i) && !bar_follows(r, i)) {
            i += command_length(r, i);
        } else if (at(r, i) == '{') {
            size_t close = i + 1;
            while (is_blank(at(r, close))) close++;
            if (at(r, close) != '}') return i;
            i = close + 1;
        } else {
            return i;
        }
    }
}

static void skip(sl_reader *r) { r->at = after_blanks(r, r->at); }

/* What stands at r->at, for a message: a command, a number, or one character. */
static const char *quote_here(char buffer[SL_TEXT_QUOTE], const sl_reader *r) {
    size_t n = command_length(r, r->at);
    int used = 1;
    if (!n && r->at < r->n) sl_utf8_read(r->text + r->at, r->n - r->at, &used);
    return sl_expr__text_quote(buffer, r->text + r->at, n ? n : (size_t)used);
}

static sl_expr_term *unexpected(sl_reader *r, const char *expected) {
    char text[SL_TEXT_QUOTE];
    char c = here(r);
    if (r->at >= r->n)
        return sl_expr__text_fail(r, SL_EFORMAT, r->at, "the text ends where %s should be",
                                  expected);
    if ((unsigned char)c >= 0x7f || (unsigned char)c < 0x20 || c == '=')
        return sl_expr__text_bad_character(r, r->at);
    return sl_expr__text_fail(r, SL_EFORMAT, r->at, "\"%s\" where %s should be",
                              quote_here(text, r), expected);
}

/* ---------------------------------------------------------------- brackets ------------------ */

/* The closing form of the bracket that opens at i, or NULL if none opens there. */
static const char *closing_of(const sl_reader *r, size_t i) {
    switch (at(r, i)) {
    case '(': return ")";
    case '[': return "]";
    case '{': return "}";
    case '\\':
        return is_command(r, i, "\\{") ? "\\}" : is_command(r, i, "\\lbrace") ? "\\rbrace" : NULL;
    default: return NULL;
    }
}

static bool stands_here(const sl_reader *r, const char *text) {
    size_t n = strlen(text);
    if (r->at + n > r->n || memcmp(r->text + r->at, text, n) != 0) return false;
    return !(*text == '\\' && is_letter(text[n - 1]) && is_letter(at(r, r->at + n)));
}

/* The sum between the bracket at r->at and its closing. */
static sl_expr_term *bracket(sl_reader *r) {
    size_t open = r->at;
    const char *close = closing_of(r, open);
    r->at += here(r) == '\\' ? command_length(r, open) : 1;
    if (!sl_expr__text_open(r, open)) return NULL;
    const bool outer = r->in_bars;
    r->in_bars = false;
    sl_expr_term *t = sum(r);
    r->in_bars = outer;
    r->nest--;
    if (!t) return NULL;
    skip(r);
    if (r->at >= r->n)
        return sl_expr__text_fail(r, SL_EFORMAT, open, "this bracket is never closed");
    if (!stands_here(r, close)) {
        char expected[32] = "a sign or ";
        strcat(expected, close);
        return unexpected(r, expected);
    }
    r->at += strlen(close);
    return t;
}

/* The closing form of the bars that open at i, or NULL if none open there. A plain bar opens where
 * a factor may begin and closes elsewhere; \left and \right decide it. */
static const char *closing_bar_of(const sl_reader *r, size_t i) {
    if (at(r, i) == '|') return "|";
    if (is_command(r, i, "\\lvert")) return "\\rvert";
    if (at(r, i) != '\\' || !bar_follows(r, i)) return NULL;
    static const char *const opens[] = { "\\left", "\\bigl", "\\Bigl", "\\biggl", "\\Biggl" };
    static const char *const closes[] = { "\\right|", "\\bigr|", "\\Bigr|", "\\biggr|",
                                          "\\Biggr|" };
    for (int k = 0; k < SL_LEN(opens); k++)
        if (is_command(r, i, opens[k])) return closes[k];
    return NULL;
}

/* |u|, at r->at. */
static sl_expr_term *absolute(sl_reader *r) {
    size_t open = r->at;
    const char *close = closing_bar_of(r, open);
    r->at += here(r) == '|' ? 1 : command_length(r, open) + (close[strlen(close) - 1] == '|');
    if (!sl_expr__text_open(r, open)) return NULL;
    const bool outer = r->in_bars;
    r->in_bars = *close == '|';
    sl_expr_term *t = sum(r);
    r->in_bars = outer;
    r->nest--;
    if (!t) return NULL;
    skip(r);
    if (!stands_here(r, close))
        return sl_expr__text_fail(r, SL_EFORMAT, open, "this bar is never closed by %s", close);
    r->at += strlen(close);
    return sl_expr__term_call(&r->build, (sl_function)SL_OP_ABS, t);
}

/* ---------------------------------------------------------------- names --------------------- */

static bool is_upright(const sl_reader *r, size_t i) {
    static const char *const upright[] = {
        "\\mathrm", "\\mathit", "\\mathbf", "\\mathsf", "\\mathtt",
        "\\text",   "\\textrm", "\\textit", "\\textbf", "\\operatorname",
    };
    return is_one_of(r, i, upright, SL_LEN(upright));
}

/* The letters between braces, escapes undone, added to the name. */
static bool braced_name(sl_reader *r, size_t *len) {
    static const struct {
        const char *written, *meant;
    } escapes[] = {
        { "\\textbackslash{}", "\\" },
        { "\\^{}", "^" },
        { "\\~{}", "~" },
        { "\\_", "_" },
        { "\\{", "{" },
        { "\\}", "}" },
        { "\\%", "%" },
        { "\\$", "$" },
        { "\\&", "&" },
        { "\\#", "#" },
        { "\\ ", " " },
    };
    size_t open = r->at++;
    while (r->at < r->n && here(r) != '}') {
        char c = here(r);
        if (c == '\\') {
            int k = 0;
            while (k < SL_LEN(escapes) && !stands_here(r, escapes[k].written)) k++;
            if (k == SL_LEN(escapes)) {
                unexpected(r, "a letter of a name");
                return false;
            }
            sl_expr__text_name_add(r, len, escapes[k].meant, 1);
            r->at += strlen(escapes[k].written);
        } else if (c == '{' || c == '\0') {
            unexpected(r, "a letter of a name");
            return false;
        } else {
            sl_expr__text_name_add(r, len, c == '~' ? " " : &c, 1);
            r->at++;
        }
    }
    if (r->at >= r->n) {
        sl_expr__text_fail(r, SL_EFORMAT, open, "this brace is never closed");
        return false;
    }
    r->at++;
    return true;
}

/* A subscript at r->at, added to the name. */
static bool subscript(sl_reader *r, size_t *len) {
    skip(r);
    char c = here(r);
    if (is_digit(c) && is_digit(at(r, r->at + 1))) {
        sl_expr__text_fail(r, SL_EFORMAT, r->at,
                           "a subscript of several digits needs braces, as in x_{12}");
        return false;
    }
    if (is_digit(c) || is_letter(c)) {
        sl_expr__text_name_add(r, len, &c, 1);
        r->at++;
        return true;
    }
    if (c != '{') {
        unexpected(r, "a subscript");
        return false;
    }
    size_t inside = after_blanks(r, r->at + 1);
    if (!is_upright(r, inside)) return braced_name(r, len);
    r->at = inside + command_length(r, inside);
    skip(r);
    if (here(r) != '{') {
        unexpected(r, "{");
        return false;
    }
    if (!braced_name(r, len)) return false;
    skip(r);
    if (here(r) != '}') {
        unexpected(r, "}");
        return false;
    }
    r->at++;
    return true;
}

/* What r->name stands for, or NULL without a failure. */
static sl_expr_term *known(sl_reader *r) {
    int k;
    if ((k = sl_expr__text_variable(r->names, r->name)))
        return sl_expr_term_leaf(&r->build, SL_OP_VAR, k);
    if ((k = sl_expr__text_constant(r->name))) return sl_expr_term_leaf(&r->build, SL_OP_PAR, k);
    const sl_constant exact = sl_expr__text_exact(r->name);
    return exact ? sl_expr__term_exact(&r->build, exact) : NULL;
}

static sl_expr_term *unknown(sl_reader *r, size_t start) {
    char reason[sizeof r->build.reason];
    if (r->build.st != SL_OK) return NULL;
    if (sl_expr__text_function(r->name) != SL_FUNCTION_NONE)
        return sl_expr__text_fail(r, SL_EFORMAT, start, "write \\%s for the function", r->name);
    sl_expr__text_explain(reason, sizeof reason, r->names, r->name);
    return sl_expr__text_fail(r, SL_EFORMAT, start, "%s", reason);
}

/* The rest of a name whose first part, of len letters, is in r->name: a subscript, if one follows,
 * is joined with and without the underscore. */
static sl_expr_term *subscripted(sl_reader *r, size_t len, size_t start) {
    size_t sub = after_blanks(r, r->at);
    if (at(r, sub) != '_') {
        sl_expr_term *t = known(r);
        return t ? t : unknown(r, start);
    }
    r->at = sub + 1;
    size_t base = len;
    sl_expr__text_name_add(r, &len, "_", 1);
    if (!subscript(r, &len)) return NULL;
    sl_expr_term *t = known(r);
    if (t || r->build.st != SL_OK) return t;
    if (len <= base) return unknown(r, start);               // cut: longer than any known name
    memmove(r->name + base, r->name + base + 1, len - base); // with the NUL
    t = known(r);
    return t ? t : unknown(r, start);
}

/* Euler's number is the letter e when it is raised. */
static bool is_raised(const sl_reader *r, size_t i) { return at(r, after_blanks(r, i)) == '^'; }

static sl_expr_term *argument(sl_reader *r, const char *of);

static sl_expr_term *euler(sl_reader *r) {
    skip(r);
    r->at++; // ^
    return sl_expr__term_call(&r->build, (sl_function)SL_OP_EXP, argument(r, "^"));
}

/* A name written in plain letters. In LaTeX each letter is a name of its own, so xy is x times y,
 * unless all of them together are known. `single`: no more than one letter, as after ^. */
static sl_expr_term *plain_name(sl_reader *r, bool single) {
    size_t start = r->at, end = start, len;
    // no further than the longest name, so that a long run of letters is not read once for each of
    // them
    size_t most = single ? 1 : r->name_size;
    while (end - start < most && is_letter(at(r, end))) end++;
    size_t letters = end - start;
    while (end - start < most && is_digit(at(r, end))) end++; // x1 for x_1
    sl_expr__text_name_begin(r, &len);
    sl_expr__text_name_add(r, &len, r->text + start, end - start);
    if (!single && end - start == 1 && here(r) == 'e' && is_raised(r, end)) {
        r->at = end;
        return euler(r);
    }
    sl_reader whole = *r; // a second reader, because the word may turn out to be several names
    whole.at = end;
    whole.build.at = &whole.at;
    sl_expr_term *t = subscripted(&whole, len, start);
    if (!t && letters > 1 && whole.build.st == SL_EFORMAT) {
        char first[2] = { here(r), '\0' };
        int k = sl_expr__text_variable(r->names, first);
        if (k) {
            r->at = start + 1;
            return sl_expr_term_leaf(&r->build, SL_OP_VAR, k);
        }
    }
    *r = whole;
    r->build.at = &r->at;
    return t;
}

/* ---------------------------------------------------------------- functions ----------------- */

/* The argument of a command: braces, or the next digit, letter or command. */
static sl_expr_term *argument(sl_reader *r, const char *of) {
    skip(r);
    char c = here(r);
    if (c == '{') return bracket(r);
    if (is_digit(c)) {
        r->at++;
        if (*of == '^' && is_digit(here(r)))
            return sl_expr__text_fail(r, SL_EFORMAT, r->at - 1,
                                      "an exponent of several digits needs braces, as in ^{12}");
        return sl_expr_term_num(&r->build, SL_RAT(c - '0'));
    }
    if (is_letter(c)) return plain_name(r, true);
    if (c == '\\' && !closing_of(r, r->at)) {
        if (!sl_expr__text_open(r, r->at)) return NULL;
        sl_expr_term *t = atom(r);
        r->nest--;
        return t;
    }
    if (c == '-' || c == '+' || c == '(' || c == '[')
        return sl_expr__text_fail(r, SL_EFORMAT, r->at,
                                  "what follows %s needs braces, as in %s{...}", of, of);
    return unexpected(r, "an argument");
}

/* base^argument, if ^ comes next. */
static sl_expr_term *raised(sl_reader *r, sl_expr_term *base) {
    if (!base || !is_raised(r, r->at)) return base;
    skip(r);
    r->at++;
    sl_expr_term *exponent = argument(r, "^");
    if (exponent && is_raised(r, r->at)) {
        skip(r);
        return sl_expr__text_fail(r, SL_EFORMAT, r->at, "a second exponent; use braces");
    }
    return sl_expr__term_power(&r->build, base, exponent);
}

static sl_expr_term *fraction(sl_reader *r) {
    sl_expr_term *num = argument(r, "\\frac");
    sl_expr_term *den = num ? argument(r, "\\frac") : NULL;
    return sl_expr_term_div(&r->build, num, den);
}

static sl_expr_term *root(sl_reader *r) {
    sl_rat index = SL_RAT(2), exponent;
    skip(r);
    if (here(r) == '[') {
        size_t where = r->at;
        sl_expr_term *t = bracket(r);
        if (!t) return NULL;
        if (!sl_expr_term_value(&r->build, &index, t) || index.num == 0)
            return sl_expr__text_fail(r, SL_EFORMAT, where, "the index of a root must be a number");
    }
    sl_expr_term *t = argument(r, "\\sqrt");
    if (!sl_expr_rat_make(&exponent, index.den, index.num))
        return sl_expr__text_fail(r, SL_EOVERFLOW, r->at, "the index of a root is too large");
    return sl_expr_term_pow(&r->build, t, exponent);
}

/* May the text at r->at continue the operand of a function that has no brackets? */
static bool goes_on(const sl_reader *r) {
    static const char *const fine[] = { "\\frac", "\\dfrac", "\\tfrac", "\\sqrt" };
    if (is_command(r, r->at, "\\operatorname")) return false;
    return is_letter(here(r)) || is_upright(r, r->at) || is_one_of(r, r->at, fine, SL_LEN(fine));
}

/* \sin(u), \sin{u}, \sin u v, \sin^2 u; the command has been read. */
static sl_expr_term *function(sl_reader *r, sl_function f, size_t start) {
    char name[SL_TEXT_QUOTE];
    sl_expr__text_quote(name, r->text + start, r->at - start);
    sl_rat power = SL_RAT(1);
    sl_expr_term *base = NULL; // of a logarithm
    skip(r);
    if (f == (sl_function)SL_OP_LOG && here(r) == '_') {
        r->at++;
        base = argument(r, "_");
        if (!base) return NULL;
        skip(r);
    }
    if (here(r) == '^') {
        r->at++;
        skip(r);
        size_t where = r->at;
        sl_expr_term *t = argument(r, "^");
        if (!t) return NULL;
        if (!sl_expr_term_value(&r->build, &power, t))
            return sl_expr__text_fail(r, SL_EFORMAT, where, "the exponent must be a number");
        if (sl_expr_rat_is(power, -1))
            return sl_expr__text_fail(r, SL_EFORMAT, where,
                                      "%s^{-1} may be a reciprocal or an inverse function; write "
                                      "\\frac{1}{%s(...)}",
                                      name, name);
        skip(r);
    }
    sl_expr_term *operand;
    if (!sl_expr__text_open(r, r->at)) return NULL;
    if (closing_of(r, r->at)) {
        operand = bracket(r);
    } else {
        operand = factor(r);
        for (skip(r); operand && goes_on(r); skip(r))
            operand = sl_expr_term_mul(&r->build, operand, factor(r));
    }
    r->nest--;
    sl_expr_term *t = sl_expr__term_call(&r->build, f, operand);
    if (base) t = sl_expr_term_div(&r->build, t, sl_expr__term_call(&r->build, f, base));
    return t && !sl_expr_rat_is(power, 1) ? sl_expr_term_pow(&r->build, t, power) : t;
}

/* ---------------------------------------------------------------- grammar ------------------- */

/* \mathrm{name}, \operatorname{sin} and similar commands, at r->at. A column may have the name of a
 * function; \operatorname means the function. */
static sl_expr_term *upright_name(sl_reader *r) {
    size_t start = r->at, len;
    bool operator_first = is_command(r, start, "\\operatorname");
    r->at += command_length(r, start);
    skip(r);
    if (here(r) != '{') return unexpected(r, "a name in braces");
    sl_expr__text_name_begin(r, &len);
    if (!braced_name(r, &len)) return NULL;
    sl_function f = sl_expr__text_function(r->name);
    if (f != SL_FUNCTION_NONE && (operator_first || !sl_expr__text_variable(r->names, r->name)))
        return function(r, f, start);
    if (strcmp(r->name, "e") == 0 && is_raised(r, r->at) && !sl_expr__text_variable(r->names, "e"))
        return euler(r);
    return subscripted(r, len, start);
}

static sl_expr_term *command(sl_reader *r) {
    static const char *const fractions[] = { "\\frac", "\\dfrac", "\\tfrac", "\\cfrac" };
    size_t start = r->at, len;
    size_t n = command_length(r, start);
    if (is_upright(r, start)) return upright_name(r);
    if (is_one_of(r, start, fractions, SL_LEN(fractions))) {
        r->at += n;
        return fraction(r);
    }
    if (is_command(r, start, "\\sqrt")) {
        r->at += n;
        return root(r);
    }
    if (n < 2 || !is_letter(at(r, start + 1))) return unexpected(r, "a factor");
    sl_expr__text_name_begin(r, &len);
    sl_expr__text_name_add(r, &len, r->text + start + 1, n - 1);
    sl_function f = sl_expr__text_function(r->name);
    if (f != SL_FUNCTION_NONE && f != SL_FUNCTION_NEG) {
        r->at += n;
        return function(r, f, start);
    }
    r->at += n;
    return subscripted(r, len, start); // \theta for a column called theta
}

static sl_expr_term *atom(sl_reader *r) {
    skip(r);
    char c = here(r);
    sl_rat v;
    if (is_digit(c) || (c == '.' && is_digit(at(r, r->at + 1))))
        return sl_expr__text_number(r, &v, false) ? sl_expr_term_num(&r->build, v) : NULL;
    if (closing_of(r, r->at)) return bracket(r);
    if (closing_bar_of(r, r->at)) return absolute(r);
    if (is_letter(c)) return plain_name(r, false);
    if (c == '\\') return command(r);
    return unexpected(r, "a factor");
}

static sl_expr_term *factor(sl_reader *r) { return raised(r, atom(r)); }

/* An explicit sign of a product at r->at, stepped over: 1 times, -1 divided by, 0 none. */
static int product_sign(sl_reader *r) {
    static const char *const times[] = { "\\cdot", "\\times", "\\ast" };
    int sign = 0;
    if (here(r) == '*' || is_one_of(r, r->at, times, SL_LEN(times))) sign = 1;
    if (here(r) == '/' || is_command(r, r->at, "\\div")) sign = -1;
    if (sign) r->at += here(r) == '\\' ? command_length(r, r->at) : 1;
    return sign;
}

/* Does a factor begin at r->at? Every command begins one, except closing brackets and signs. */
static bool begins_factor(const sl_reader *r) {
    static const char *const closings[] = { "\\}", "\\rbrace", "\\)", "\\]", "\\rvert" };
    char c = here(r);
    if (r->at >= r->n) return false;
    if (c == '|') return !r->in_bars;
    if (c == '\\' && bar_follows(r, r->at)) return closing_bar_of(r, r->at) != NULL;
    if (c == '\\') return !is_one_of(r, r->at, closings, SL_LEN(closings));
    return is_digit(c) || is_letter(c) || c == '.' || closing_of(r, r->at);
}

/* *literal: behind its signs it begins as a plain number. */
static sl_expr_term *signed_factor(sl_reader *r, bool *literal) {
    bool negative = false;
    for (skip(r); here(r) == '-' || here(r) == '+'; skip(r)) negative ^= r->text[r->at++] == '-';
    *literal = is_digit(here(r));
    sl_expr_term *t = factor(r);
    return negative ? sl_expr_term_neg(&r->build, t) : t;
}

static sl_expr_term *product(sl_reader *r) {
    bool literal; // the last factor began as a plain number
    int sign = 1;
    sl_expr_term *t = signed_factor(r, &literal);
    while (t) {
        skip(r);
        int next = product_sign(r);
        if (next) {
            sl_expr_term *u = signed_factor(r, &literal);
            t = next > 0 ? sl_expr_term_mul(&r->build, t, u) : sl_expr_term_div(&r->build, t, u);
            sign = next;
            continue;
        }
        if (!begins_factor(r)) return t;
        char text[SL_TEXT_QUOTE];
        size_t where = r->at;
        if (is_digit(here(r)) || here(r) == '.')
            return sl_expr__text_fail(r, SL_EFORMAT, where,
                                      "a number after a factor; write \\cdot before \"%s\"",
                                      quote_here(text, r));
        if (sign < 0)
            return sl_expr__text_fail(
                r, SL_EFORMAT, where,
                "missing operator before \"%s\": after / write \\cdot, or brackets",
                quote_here(text, r));
        bool bare = !closing_of(r, where);
        sl_expr_term *u = factor(r);
        if (u && literal && bare && u->op == SL_OP_NUM)
            return sl_expr__text_fail(
                r, SL_EFORMAT, where,
                "a fraction after a number may be a mixed number; write + or \\cdot");
        literal = false;
        t = sl_expr_term_mul(&r->build, t, u);
    }
    return NULL;
}

static sl_expr_term *sum(sl_reader *r) {
    sl_expr_term *t = product(r);
    while (t) {
        skip(r);
        char c = here(r);
        if (c != '+' && c != '-') return t;
        r->at++;
        sl_expr_term *u = product(r);
        t = sl_expr_term_add(&r->build, t, c == '-' ? sl_expr_term_neg(&r->build, u) : u);
    }
    return NULL;
}

sl_expr_term *sl_expr__text_latex(sl_reader *r) {
    static const struct {
        const char *open, *close;
    } fences[] = { { "$$", "$$" }, { "$", "$" }, { "\\(", "\\)" }, { "\\[", "\\]" } };
    const char *close = NULL;
    skip(r);
    for (int i = 0; i < SL_LEN(fences) && !close; i++) {
        if (!stands_here(r, fences[i].open)) continue;
        close = fences[i].close;
        r->at += strlen(fences[i].open);
        skip(r);
    }
    if (r->at >= r->n)
        return sl_expr__text_fail(r, SL_EFORMAT, r->at, "no expression, only blanks");
    sl_expr_term *t = sum(r);
    if (!t) return NULL;
    skip(r);
    if (close) {
        if (!stands_here(r, close)) return unexpected(r, close);
        r->at += strlen(close);
        skip(r);
    }
    return r->at < r->n ? unexpected(r, "a sign or the end") : t;
}
