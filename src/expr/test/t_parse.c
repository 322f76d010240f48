/* Reading: the meaning of texts, messages for bad ones, and limits on large ones. */
#include "fixture/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

#define INFIX  SL_FORMAT_INFIX
#define LATEX  SL_FORMAT_LATEX
#define PREFIX SL_FORMAT_PREFIX

typedef struct good {
    sl_format format;
    const char *text, *means; // in prefix
} good;

/* The meaning is given in prefix text, which is compared with the builders below. */
static const good goods[] = {
    // precedence and associativity, as in Python
    { INFIX, "x1 + x2*x3", "+ * x2 x3 x1" },
    { INFIX, "(x1 + x2)*x3", "* x3 + x1 x2" },
    { INFIX, "x1 - x2 - x3", "- - x1 x2 x3" },
    { INFIX, "x1 - (x2 - x3)", "- x1 - x2 x3" },
    { INFIX, "x1/x2/x3", "/ x1 * x2 x3" },
    { INFIX, "x1/x2*x3", "/ * x1 x3 x2" },
    { INFIX, "x1/(x2*x3)", "/ x1 * x2 x3" },
    { INFIX, "x1/(x2/x3)", "/ * x1 ^ / 1 x3 -1 x2" },
    { INFIX, "-x1**2", "neg ^ x1 2" },
    { INFIX, "(-x1)**2", "^ neg x1 2" },
    { INFIX, "2**3**2", "512" },
    { INFIX, "x1^2^3", "^ x1 8" },
    { INFIX, "x1**-2", "/ 1 ^ x1 2" },
    { INFIX, "x1^-(1/2)", "/ 1 sqrt x1" },
    { INFIX, "x1^- - 3", "^ x1 3" },
    { INFIX, "2*-x1", "* -2 x1" },
    { INFIX, "--x1", "x1" },
    { INFIX, "+x1", "x1" },
    { INFIX, "- -x1 + - + 2", "- x1 2" },
    { INFIX, "x1*(x2*(x3*x4))", "* * * x1 x2 x3 x4" },
    // numbers are exact
    { INFIX, "0.5", "1/2" },
    { INFIX, ".25*x1", "* 1/4 x1" },
    { INFIX, "3.", "3" },
    { INFIX, "1e3", "1000" },
    { INFIX, "2.5E-1", "1/4" },
    { INFIX, "1.5000000000000000000000000000000000000000000", "3/2" },
    { INFIX, "0000000000000000000000000000000000000000000000001", "1" },
    { INFIX, "100000000000000000000000000000e-29", "1" },
    { INFIX, "0e999999999999999999999", "0" },
    { INFIX, "1e-18", "1/1000000000000000000" },
    { INFIX, "2e-19", "1/5000000000000000000" },
    { INFIX, "0.1 + 0.2", "3/10" },
    { INFIX, "9223372036854775807", "9223372036854775807" },
    { INFIX, "-9223372036854775807", "-9223372036854775807" },
    { INFIX, "4^(1/2)", "2" },
    { INFIX, "2^(1/2)", "sqrt 2" },
    { INFIX, "x1^0", "1" },
    { INFIX, "0*x1", "0" },
    { INFIX, "1/0", "/ 1 0" },
    { INFIX, "x1/0", "/ x1 0" },
    { INFIX, "0^-3", "/ 1 0" },
    // functions and dialects
    { INFIX, "sqrt(x1)", "sqrt x1" },
    { INFIX, "neg(x1)", "neg x1" },
    { INFIX, "cos(x1)", "cos x1" },
    { INFIX, "math.exp(np.sin(numpy.sqrt(x1)))", "exp sin sqrt x1" },
    { INFIX, "pow(x1 + 1, 3)", "^ + x1 1 3" },
    { INFIX, "pow(x1, -1.0/4.0)", "/ 1 ^ x1 1/4" },
    { INFIX, "Rational(3, 4)*x1", "* 3/4 x1" },
    { INFIX, "x1**Rational(-3, 4)", "/ 1 ^ x1 3/4" },
    { INFIX, "Rational(7)", "7" },
    { INFIX, "Rational(1, 0)", "/ 1 0" },
    { INFIX, "Integer(-2)**Rational(1, 3)", "^ -2 1/3" },
    { INFIX, "e^x1", "exp x1" },
    { INFIX, "E**-x1**2", "exp neg ^ x1 2" },
    { INFIX, "math.e ** (2*x1)", "exp * 2 x1" },
    { INFIX, "e^(x1)^2", "exp ^ x1 2" },
    { INFIX, "x1^sqrt(4)", "^ x1 2" },
    { INFIX, "log(tan(tanh(sinh(cosh(x1)))))", "log tan tanh sinh cosh x1" },
    { INFIX, "asin(acos(atan(abs(x1))))", "asin acos atan abs x1" },
    { INFIX, "ln(arcsin(arccos(arctan(fabs(x1)))))", "log asin acos atan abs x1" },
    { INFIX, "np.log(sympy.Abs(x1))", "log abs x1" },
    { INFIX, "log10(x1)", "/ log x1 log 10" },
    { INFIX, "np.log2(x1 + 1)", "/ log + x1 1 log 2" },
    { INFIX, "log1p(x1)", "log + x1 1" },
    { INFIX, "2*expm1(x1)", "* 2 - exp x1 1" },
    { INFIX, "pi", "pi" },
    { INFIX, "2*math.pi*np.pi/M_PI", "* 2 / * pi pi pi" },
    { INFIX, "e + math.e*M_E", "+ exp 1 * exp 1 exp 1" },
    { INFIX, "x1^x2", "^ x1 x2" },
    { INFIX, "x1**-x2", "^ x1 neg x2" },
    { INFIX, "pow(x1, c1)", "^ x1 c1" },
    { INFIX, "x1^x2^x3", "^ x1 ^ x2 x3" },
    { INFIX, "(x1^x2)^x3", "^ ^ x1 x2 x3" },
    { INFIX, "x1^(x2 - x2)", "^ x1 - x2 x2" },
    { INFIX, "x1^(0*x2)", "1" },
    { INFIX, "1^x2", "1" },
    { INFIX, "x1^2^(1/2)", "^ x1 sqrt 2" },
    { INFIX, "x1/x2^x3", "/ x1 ^ x2 x3" },
    { INFIX, "pi^2", "^ pi 2" },
    { INFIX, "2^x1", "^ 2 x1" },
    { INFIX, "\tx1\r\n +\n x2 ", "+ x1 x2" },
    { INFIX, "c2*x1 + c1", "+ * x1 c2 c1" },
    { INFIX, "_x1 + __c3", "+ x1 c3" },
    { INFIX, "x64", "x64" },
    { INFIX, "`x2`", "x2" },
    // LaTeX as it is printed
    { LATEX, "\\frac{2 x_1^{2}}{3} - \\sqrt{x_2} e^{-x_1}", "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1" },
    { LATEX, "3 \\cdot 2^{\\frac{3}{4}} x_{10}", "* * 3 ^ 2 3/4 x10" },
    { LATEX, "\\sin(x_1)^{2}", "^ sin x1 2" },
    { LATEX, "(e^{x_1})^{2}", "^ exp x1 2" },
    { LATEX, "\\frac{1}{0}", "/ 1 0" },
    { LATEX, "c_1 x_1", "* x1 c1" },
    // and as people write it
    { LATEX, "\\frac12", "1/2" },
    { LATEX, "\\frac12x_1", "* 1/2 x1" },
    { LATEX, "\\frac x_1 2", "* 1/2 x1" },
    { LATEX, "\\dfrac{x_1}{2}+\\tfrac{1}{3}", "+ * 1/2 x1 1/3" },
    { LATEX, "\\frac{x_1}{x_2 x_3}", "/ x1 * x2 x3" },
    { LATEX, "\\sqrt[4]{x_1}", "^ x1 1/4" },
    { LATEX, "\\sqrt 2", "sqrt 2" },
    { LATEX, "\\ln x_1 + \\log x_2", "+ log x1 log x2" },
    { LATEX, "\\log_{10} x_1", "/ log x1 log 10" },
    { LATEX, "\\log_2(x_1)", "/ log x1 log 2" },
    { LATEX, "\\log_2^2 x_1", "^ / log x1 log 2 2" },
    { LATEX, "\\arctan\\tanh x_1", "atan tanh x1" },
    { LATEX, "\\operatorname{asin}(x_1)", "asin x1" },
    { LATEX, "\\left|x_1\\right|", "abs x1" },
    { LATEX, "\\left| x_1 \\left|x_2\\right| \\right|^2", "^ abs * x1 abs x2 2" },
    { LATEX, "|x_1||x_2|", "* abs x1 abs x2" },
    { LATEX, "2|x_1 - |x_2||", "* 2 abs - x1 abs x2" },
    { LATEX, "|x_1 (|x_2| + 1)|", "abs * x1 + abs x2 1" },
    { LATEX, "\\lvert x_1 \\rvert x_2", "* abs x1 x2" },
    { LATEX, "\\bigl|x_1\\bigr|", "abs x1" },
    { LATEX, "\\sqrt{|x_1|}", "sqrt abs x1" },
    { LATEX, "2\\pi x_1", "* * 2 pi x1" },
    { LATEX, "\\frac{1}{4 \\pi}", "/ 1/4 pi" },
    { LATEX, "\\pi^{2}", "^ pi 2" },
    { LATEX, "e + x_1", "+ exp 1 x1" },
    { LATEX, "x_1^{x_2}", "^ x1 x2" },
    { LATEX, "x_1^{-c_1}", "^ x1 neg c1" },
    { LATEX, "x_1^\\pi", "^ x1 pi" },
    { LATEX, "3 \\cdot 2^{x_1}", "* 3 ^ 2 x1" },
    { LATEX, "\\sqrt\\frac{x_1}2", "sqrt * 1/2 x1" },
    { LATEX, "\\left( x_1 + 1 \\right) \\left[ x_2 - 1 \\right]", "* + x1 1 - x2 1" },
    { LATEX, "\\bigl( x_1 \\bigr)^2 \\Big\\{ x_2 \\Big\\}", "* ^ x1 2 x2" },
    { LATEX, "\\exp(x_1)", "exp x1" },
    { LATEX, "\\exp{x_1}", "exp x1" },
    { LATEX, "\\exp x_1", "exp x1" },
    { LATEX, "\\exp\\left(-x_1\\right)", "exp neg x1" },
    { LATEX, "\\mathrm{e}^{x_1}", "exp x1" },
    { LATEX, "e^2", "exp 2" },
    { LATEX, "2e^{x_1}", "* 2 exp x1" },
    { LATEX, "\\sin x_1", "sin x1" },
    { LATEX, "\\sin 2x_1", "sin * 2 x1" },
    { LATEX, "\\sin x_1^2", "sin ^ x1 2" },
    { LATEX, "\\sin x_1 \\sin x_2", "* sin x1 sin x2" },
    { LATEX, "\\sin x_1 \\cdot x_2", "* x2 sin x1" },
    { LATEX, "\\sin x_1 (x_2 + 1)", "* sin x1 + x2 1" },
    { LATEX, "\\sin(x_1) x_2", "* x2 sin x1" },
    { LATEX, "\\sin^2(x_1)", "^ sin x1 2" },
    { LATEX, "\\sin^{2}{x_1}", "^ sin x1 2" },
    { LATEX, "\\sin^2 x_1 x_2", "^ sin * x1 x2 2" },
    { LATEX, "\\operatorname{sin}(x_1)", "sin x1" },
    { LATEX, "x_{1} \\times x_{2} * x_3", "* * x1 x2 x3" },
    { LATEX, "x_1\\,x_2\\;x_3\\!x_4~x_5\\ x_6", "* * * * * x1 x2 x3 x4 x5 x6" },
    { LATEX, "x1x2", "* x1 x2" },
    { LATEX, "{x_1 + 1}^{2}", "^ + x1 1 2" },
    { LATEX, "x_1{}^2", "^ x1 2" },
    { LATEX, "-x_1^2", "neg ^ x1 2" },
    { LATEX, "x_1^\\frac12", "sqrt x1" },
    { LATEX, "x_1 / x_2 / x_3", "/ x1 * x2 x3" },
    { LATEX, "x_1 \\div 2", "* 1/2 x1" },
    { LATEX, "2 \\cdot -x_1", "* -2 x1" },
    { LATEX, "0.5 x_1", "* 1/2 x1" },
    { LATEX, "2 (\\frac{1}{3}) x_1", "* 2/3 x1" },
    { LATEX, "2 x_1 \\frac{1}{3}", "* 2/3 x1" },
    { LATEX, "$x_1$", "x1" },
    { LATEX, " $$ x_1 $$ ", "x1" },
    { LATEX, "\\( x_1 \\)", "x1" },
    { LATEX, "\\[ x_1 \\]", "x1" },
    { LATEX, "x_{\\mathrm{1}}", "x1" },
    // prefix
    { PREFIX, "+ * 2 x1 sqrt x2", "+ * 2 x1 sqrt x2" },
    { PREFIX, "^ x1 -3/4", "/ 1 ^ x1 3/4" },
    { PREFIX, "- - - x1 x2 x3 x4", "- - - x1 x2 x3 x4" },
    { PREFIX, "- x1 - x2 - x3 x4", "- x1 - x2 - x3 x4" },
    { PREFIX, "/ x1 / x2 x3", "/ * x1 ^ / 1 x3 -1 x2" },
    { PREFIX, "neg neg x1", "x1" },
    { PREFIX, "* -3/4 x1", "* -3/4 x1" },
    { PREFIX, "0.25", "1/4" },
    { PREFIX, "^ x1 + 1 2", "^ x1 3" },
    { PREFIX, "^ x1 - 2 * 0 x1", "^ x1 2" },
    { PREFIX, "* e pi", "* pi exp 1" },
    { PREFIX, "\n+ `x1`\tc1 ", "+ x1 c1" },
};

static const sl_node *read_prefix(sl_fixture *t, const char *text) {
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_PREFIX, text, strlen(text), NULL, NULL));
    return e;
}

static void texts_are_read_as_expected(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(goods); i++) {
        const good *g = &goods[i];
        const sl_node *e, *tidy;
        SL_MUST(t, sl_expr_parse(&e, &t->arena, g->format, g->text, strlen(g->text), NULL, NULL));
        SL_CHECK(t, sl_expr_equal(e, read_prefix(t, g->means)), "%s is not read as %s", g->text,
                 g->means);
        SL_CHECK(t, sl_expr_valid(e, e->len), "%s gives nodes that are no expression", g->text);
        SL_MUST(t, sl_expr_tidy(&tidy, &t->arena, e));
        SL_CHECK(t, sl_expr_equal(e, tidy), "%s is not handed out tidy", g->text);
    }
}

/* The prefix texts of the table above are compared with trees made without text. */
static void prefix_is_what_the_builders_make(void **state) {
    sl_fixture *t = *state;
    sl_arena *a = &t->arena;
    const sl_node *x = sl_expr_var(a, 1), *y = sl_expr_var(a, 2), *c = sl_expr_par(a, 1);
    const sl_node *minus = sl_expr_int(a, -1), *two = sl_expr_int(a, 2);
    const sl_node *inverse = sl_expr_pow(a, y, SL_RAT(-1));
    const sl_node *negative = sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ minus, y }, 2);
    const struct {
        const char *text;
        const sl_node *tree;
    } cases[] = {
        { "x1", x },
        { "c1", c },
        { "-3/4", sl_expr_num(a, (sl_rat){ -3, 4 }) },
        { "0.75", sl_expr_num(a, (sl_rat){ 3, 4 }) },
        { "+ x1 x2", sl_expr_nary(a, SL_OP_ADD, (const sl_node *[]){ x, y }, 2) },
        { "- x1 x2", sl_expr_nary(a, SL_OP_ADD, (const sl_node *[]){ x, negative }, 2) },
        { "* x1 x2", sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ x, y }, 2) },
        { "/ x1 x2", sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ x, inverse }, 2) },
        { "/ 2 x2", sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ two, inverse }, 2) },
        { "neg x2", negative },
        { "exp x1", sl_expr_fn(a, SL_OP_EXP, x) },
        { "sin x1", sl_expr_fn(a, SL_OP_SIN, x) },
        { "cos x1", sl_expr_fn(a, SL_OP_COS, x) },
        { "sqrt x1", sl_expr_pow(a, x, (sl_rat){ 1, 2 }) },
        { "^ x1 -3/4", sl_expr_pow(a, x, (sl_rat){ -3, 4 }) },
        { "^ ^ x1 2 3", sl_expr_pow(a, sl_expr_pow(a, x, SL_RAT(2)), SL_RAT(3)) },
        { "/ 1 * x1 x2",
          sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ sl_expr_pow(a, x, SL_RAT(-1)), inverse },
                       2) },
        { "^ * x1 x2 -1",
          sl_expr_pow(a, sl_expr_nary(a, SL_OP_MUL, (const sl_node *[]){ x, y }, 2), SL_RAT(-1)) },
        { "/ 1 0", sl_expr_pow(a, sl_expr_int(a, 0), SL_RAT(-1)) },
        { "log x1", sl_expr_fn(a, SL_OP_LOG, x) },
        { "tan x1", sl_expr_fn(a, SL_OP_TAN, x) },
        { "tanh x1", sl_expr_fn(a, SL_OP_TANH, x) },
        { "sinh x1", sl_expr_fn(a, SL_OP_SINH, x) },
        { "cosh x1", sl_expr_fn(a, SL_OP_COSH, x) },
        { "asin x1", sl_expr_fn(a, SL_OP_ASIN, x) },
        { "acos x1", sl_expr_fn(a, SL_OP_ACOS, x) },
        { "atan x1", sl_expr_fn(a, SL_OP_ATAN, x) },
        { "abs x1", sl_expr_fn(a, SL_OP_ABS, x) },
        { "pi", sl_expr_pi(a) },
        { "^ x1 x2", sl_expr_power(a, x, y) },
        { "^ x1 2", sl_expr_power(a, x, two) },
        { "/ 1 ^ x1 x2", sl_expr_pow(a, sl_expr_power(a, x, y), SL_RAT(-1)) },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *want;
        SL_MUST(t, sl_expr_tidy(&want, a, cases[i].tree));
        SL_CHECK(t, sl_expr_equal(read_prefix(t, cases[i].text), want), "%s is something else",
                 cases[i].text);
    }
}

typedef struct bad {
    sl_format format;
    const char *text;
    size_t n;
    sl_status st;
    size_t offset;
    const char *word; // of the reason
} bad;

#define BAD(format, text, offset, word) \
    { format, text, sizeof(text) - 1, SL_EFORMAT, offset, word }
#define FAR(format, text, offset, word) \
    { format, text, sizeof(text) - 1, SL_EOVERFLOW, offset, word }

static const bad bads[] = {
    BAD(INFIX, "", 0, "no expression"),
    BAD(INFIX, "  \n ", 4, "no expression"),
    BAD(INFIX, "2x1", 1, "write 2*x1"),
    BAD(INFIX, "x1 x2", 3, "missing operator before \"x2\"; write *"),
    BAD(INFIX, "x1(x2)", 2, "missing operator"),
    BAD(INFIX, "2 3", 2, "missing operator"),
    BAD(INFIX, "2^3 x1", 4, "missing operator"),
    BAD(INFIX, "x1 +", 4, "ends"),
    BAD(INFIX, "x1 + * x2", 5, "\"*\""),
    BAD(INFIX, "x1 ** ** x2", 6, "\"**\""),
    BAD(INFIX, "(x1 + x2", 0, "never closed"),
    BAD(INFIX, "sin((x1)", 3, "never closed"),
    BAD(INFIX, "x1)", 2, "\")\""),
    BAD(INFIX, "()", 1, "\")\""),
    BAD(INFIX, "x1, x2", 2, "\",\""),
    BAD(INFIX, "sin x1", 0, "brackets"),
    BAD(INFIX, "x1 + pow", 5, "brackets"),
    BAD(INFIX, "sin()", 4, "nothing"),
    BAD(INFIX, "sin(x1, x2)", 6, "operands"),
    BAD(INFIX, "pow(x1)", 6, "exponent"),
    BAD(INFIX, "pow(x1, 2, 3)", 9, "operands"),
    BAD(INFIX, "Rational(x1, 2)", 9, "needs numbers"),
    BAD(INFIX, "Rational(1, x2)", 12, "needs numbers"),
    BAD(INFIX, "Rational(1, 2, 3)", 13, "operands"),
    BAD(INFIX, "Integer(1/2)", 8, "whole"),
    BAD(INFIX, "E", 0, "exp(1)"),
    BAD(INFIX, "2*E + 1", 2, "Euler"),
    BAD(INFIX, "x1 + foo", 5, "unknown name \"foo\""),
    BAD(INFIX, "sqr(x1)", 0, "did you mean sqrt"),
    BAD(INFIX, "x", 0, "did you mean x1"),
    BAD(INFIX, "cot(x1)", 0, "not among the operators exp, sin"),
    BAD(INFIX, "`pi`", 0, "unknown name"),
    BAD(INFIX, "pi x1", 3, "missing operator"),
    BAD(INFIX, "abs x1", 0, "brackets"),
    BAD(INFIX, "log10 + 1", 0, "brackets"),
    BAD(INFIX, "x0", 0, "no x0"),
    BAD(INFIX, "x01", 0, "no x01"),
    BAD(INFIX, "x65", 0, "x64"),
    BAD(INFIX, "x99999999999999999999", 0, "x64"),
    BAD(INFIX, "c0", 0, "c1"),
    BAD(INFIX, "c65536", 0, "c65535"),
    BAD(INFIX, "`c1`", 0, "c1"),
    BAD(INFIX, "`x1", 0, "backtick"),
    BAD(INFIX, "`x1\0`", 3, "NUL"),
    BAD(INFIX, "x1 = 2", 3, "="),
    BAD(INFIX, "x1 \xe2\x88\x92 x2", 3, "write -"),
    BAD(INFIX, "x1\xc2\xb2", 2, "write ^2"),
    BAD(INFIX, "x1 # 2", 3, "\"#\""),
    BAD(INFIX, "x1\0", 2, "NUL"),
    BAD(INFIX, "x1 + \x01", 5, "control"),
    BAD(INFIX, "\xff", 0, "not UTF-8"),
    BAD(INFIX, "x1 + \xe2\x88", 5, "not UTF-8"),
    BAD(INFIX, "\xc0\x80", 0, "not UTF-8"),
    BAD(INFIX, "\xe0\x80\x80", 0, "not UTF-8"),
    BAD(INFIX, "\xed\xa0\x80", 0, "not UTF-8"),
    BAD(INFIX, "1..2", 2, "missing operator"),
    BAD(INFIX, ".", 0, "\".\""),
    BAD(INFIX, "x1.5", 2, "missing operator"),
    BAD(INFIX, "foo.sin(x1)", 0, "foo"),
    FAR(INFIX, "9223372036854775808", 0, "beyond 64-bit"),
    FAR(INFIX, "x1 + 1e19", 5, "1e19"),
    FAR(INFIX, "1e-19", 0, "beyond 64-bit"),
    FAR(INFIX, "1e999999999999999999999", 0, "beyond 64-bit"),
    FAR(INFIX, "1e-999999999999999999999", 0, "beyond 64-bit"),
    FAR(INFIX, "9223372036854775807*x1*2", 24, "beyond 64-bit"),
    FAR(INFIX, "9223372036854775807 + 1", 0, "beyond 64-bit"),
    FAR(INFIX, "10^30", 0, "beyond 64-bit"),

    BAD(LATEX, "", 0, "no expression"),
    BAD(LATEX, "$ $", 2, "\"$\""),
    BAD(LATEX, "x_1 +", 5, "ends"),
    BAD(LATEX, "x_12", 2, "x_{12}"),
    BAD(LATEX, "x_1^12", 4, "^{12}"),
    BAD(LATEX, "x_1^-2", 4, "braces"),
    BAD(LATEX, "x_1^2^3", 5, "second exponent"),
    BAD(LATEX, "x_1^{2}^{3}", 7, "second exponent"),
    BAD(LATEX, "x_1 2", 4, "\\cdot"),
    BAD(LATEX, "\\frac123", 7, "\\cdot"),
    BAD(LATEX, "2\\frac{1}{3}", 1, "mixed"),
    BAD(LATEX, "-2\\frac{1}{3}", 2, "mixed"),
    BAD(LATEX, "x_1 - 2\\frac{1}{3}", 7, "mixed"),
    BAD(LATEX, "x_1 \\cdot -2\\frac{1}{3}", 12, "mixed"),
    BAD(LATEX, "1/2x_1", 3, "after /"),
    BAD(LATEX, "\\sin^{-1}(x_1)", 5, "inverse"),
    BAD(LATEX, "\\sin^{x_1}(x_1)", 5, "must be a number"),
    BAD(LATEX, "\\sin", 4, "ends"),
    BAD(LATEX, "sin(x_1)", 0, "\\sin"),
    BAD(LATEX, "\\cot x_1", 0, "not among"),
    BAD(LATEX, "\\log_", 5, "ends"),
    BAD(LATEX, "\\alpha", 0, "alpha"),
    BAD(LATEX, "E", 0, "Euler"),
    BAD(LATEX, "\\frac{x_1}", 10, "ends"),
    BAD(LATEX, "\\frac{x_1}{2", 10, "never closed"),
    BAD(LATEX, "\\sqrt(x_1)", 5, "braces"),
    BAD(LATEX, "\\sqrt[x_1]{x_1}", 5, "index"),
    BAD(LATEX, "\\sqrt[0]{x_1}", 5, "index"),
    BAD(LATEX, "(x_1]", 4, "\"]\""),
    BAD(LATEX, "(x_1", 0, "never closed"),
    BAD(LATEX, "x_1}", 3, "\"}\""),
    BAD(LATEX, "\\left. x_1", 5, "\".\""),
    BAD(LATEX, "|x_1", 0, "never closed"),
    BAD(LATEX, "x_1|", 4, "ends"),
    BAD(LATEX, "\\left|x_1|", 10, "ends"),
    BAD(LATEX, "x_1\\right|", 3, "\"\\right\""),
    BAD(LATEX, "\\lvert x_1 \\right|", 0, "never closed"),
    BAD(LATEX, "(|x_1)|", 1, "never closed"),
    BAD(LATEX, "$x_1", 4, "ends"),
    BAD(LATEX, "$x_1$ + 1", 6, "\"+\""),
    BAD(LATEX, "x_1 = 1", 4, "="),
    BAD(LATEX, "x_1\\", 3, "\"\\\""),
    BAD(LATEX, "x_", 2, "subscript"),
    BAD(LATEX, "x_{1", 2, "never closed"),
    BAD(LATEX, "x_{65}", 0, "x64"),
    BAD(LATEX,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaa_1",
        0, "unknown name"), // too long for the underscore to be kept
    BAD(LATEX,
        "\\aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaa_1",
        0, "unknown name"),
    BAD(LATEX, "\\mathrm x", 8, "braces"),
    BAD(LATEX, "\\mathrm{x\\frac}", 9, "letter"),
    BAD(LATEX, "x_1\0", 3, "NUL"),
    BAD(LATEX, "\\sin\xff", 4, "not UTF-8"),

    BAD(PREFIX, "", 0, "no expression"),
    BAD(PREFIX, "+ x1", 4, "operand of \"+\""),
    BAD(PREFIX, "x1 x2", 3, "complete"),
    BAD(PREFIX, "^ x1", 4, "operand of \"^\""),
    BAD(PREFIX, "`pi`", 0, "unknown name"),
    BAD(PREFIX, "3/x", 1, "not a number"),
    BAD(PREFIX, "12abc", 2, "not a number"),
    BAD(PREFIX, "sin cot x1", 4, "not among"),
    BAD(PREFIX, "sin(x1)", 0, "unknown name"),
    BAD(PREFIX, "+ x1 \xff", 5, "not UTF-8"),
    BAD(PREFIX, "+ x1 a\0b", 6, "NUL"),
    BAD(PREFIX, "`x1`x2", 4, "blank"),
    FAR(PREFIX, "+ 1 99999999999999999999", 4, "beyond 64-bit"),
};

/* Bad text changes nothing and reports place and reason, in the struct and in the message. */
static void bad_texts_are_refused_with_place_and_reason(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(bads); i++) {
        const bad *b = &bads[i];
        const sl_node *e = NULL;
        sl_text_error error;
        size_t mark = sl_arena_mark(&t->arena);
        sl_status st = sl_expr_parse(&e, &t->arena, b->format, b->text, b->n, NULL, &error);
        SL_CHECK(t, st == b->st, "%s (%s) is answered with %d", b->text, b->word, st);
        SL_CHECK(t, !e && sl_arena_mark(&t->arena) == mark, "%s leaves something behind", b->text);
        SL_CHECK(t, error.offset == b->offset, "%s fails at %zu, not %zu: %s", b->text,
                 error.offset, b->offset, error.reason);
        SL_CHECK(t, strstr(error.reason, b->word), "%s: \"%s\" does not say \"%s\"", b->text,
                 error.reason, b->word);
        SL_CHECK(t, strstr(sl_last_error(), error.reason), "%s: the message is \"%s\"", b->text,
                 sl_last_error());
    }
}

static void places_are_counted_in_lines_and_characters(void **state) {
    sl_fixture *t = *state;
    const sl_node *e;
    sl_text_error error;
    const char *text = "x1 +\n `x1`*\xce\xb8\xce\xb8 + x1";
    sl_status st = sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, &error);
    SL_CHECK(t, st == SL_EFORMAT && error.offset == 11 && error.line == 2 && error.column == 7,
             "offset %zu, line %d, column %d", error.offset, error.line, error.column);
    SL_CHECK(t, strstr(sl_last_error(), "line 2, column 7: "), "the message is %s",
             sl_last_error());
    text = "`x1`*`\xce\xb8` + foo";
    const char *greek[] = { "x1", "\xce\xb8" };
    const sl_names names = { greek, 2 };
    st = sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), &names, &error);
    SL_CHECK(t, st == SL_EFORMAT && error.offset == 12 && error.column == 12, "%s",
             sl_last_error());
    SL_CHECK(t, strncmp(sl_last_error(), "column 12: ", 11) == 0, "the message is %s",
             sl_last_error());
}

/* n times `unit`, between `before` and `after`. */
static char *repeat(const char *before, const char *unit, size_t n, const char *after,
                    size_t *len) {
    size_t a = strlen(before), u = strlen(unit), b = strlen(after);
    char *text = malloc(a + n * u + b + 1);
    assert_non_null(text);
    memcpy(text, before, a);
    for (size_t i = 0; i < n; i++) memcpy(text + a + i * u, unit, u);
    memcpy(text + a + n * u, after, b + 1);
    *len = a + n * u + b;
    return text;
}

typedef struct large {
    sl_format format;
    const char *before, *unit;
    size_t n;
    const char *after;
    sl_status st;
    const char *word;
} large;

static const large larges[] = {
    { INFIX, "", "(", 1000000, "x1", SL_ELIMIT, "nested deeper" },
    { INFIX, "", "sin(", 1000000, "x1", SL_ELIMIT, "nested deeper" },
    { INFIX, "", "x1^", 1000000, "2", SL_ELIMIT, "nested deeper" },
    { INFIX, "", "x1^-", 1000000, "2", SL_ELIMIT, "nested deeper" },
    { INFIX, "", "e^", 1000000, "2", SL_ELIMIT, "nested deeper" },
    { INFIX, "", "Rational(1, ", 1000000, "2", SL_ELIMIT, "nested deeper" },
    { INFIX, "", "-", 2000000, "x1", SL_OK, NULL },
    { INFIX, "", " ", 10000000, "x1", SL_OK, NULL },
    { INFIX, "", "0", 10000000, "1", SL_OK, NULL },
    { INFIX, "0.", "1", 10000000, "", SL_EOVERFLOW, "beyond" },
    { INFIX, "1", "0", 10000000, "", SL_EOVERFLOW, "beyond" },
    { INFIX, "", "a", 2000000, "", SL_EFORMAT, "unknown name" },
    { INFIX, "`", "a", 10000000, "`", SL_EFORMAT, "unknown name" },
    { INFIX, "1", "*1", 5000000, "", SL_ELIMIT, "parts" },
    { INFIX, "x1", "+x1", 3000000, "", SL_ELIMIT, "parts" },
    { INFIX, "x1", "+x1", SL_EXPR_MAX - 2, "", SL_OK, NULL },
    { INFIX, "x1", "+x1", SL_EXPR_MAX - 1, "", SL_ELIMIT, "nodes" },
    { INFIX, "x1", "/x1", 3000000, "", SL_ELIMIT, "parts" },
    { LATEX, "", "{", 1000000, "x_1", SL_ELIMIT, "nested deeper" },
    { LATEX, "", "\\frac{1}", 1000000, "x_1", SL_ELIMIT, "nested deeper" },
    { LATEX, "", "\\frac{1}{", 1000000, "x_1", SL_ELIMIT, "nested deeper" },
    { LATEX, "", "\\sqrt\\sqrt", 1000000, "2", SL_ELIMIT, "nested deeper" },
    { LATEX, "", "\\sin ", 1000000, "x_1", SL_ELIMIT, "nested deeper" },
    { LATEX, "", "e^\\exp ", 1000000, "x_1", SL_ELIMIT, "nested deeper" },
    { LATEX, "", "{}", 500000, "x_1", SL_OK, NULL },
    { LATEX, "", "\\left ", 100000, "x_1", SL_OK, NULL },
    { LATEX, "x_1", "x", 10000000, "", SL_EFORMAT, "unknown name" },
    { LATEX, "", "x_1", 500000, "", SL_ELIMIT, "parts" },
    { LATEX, "\\mathrm{", "x", 2000000, "}", SL_EFORMAT, "unknown name" },
    { PREFIX, "", "+ ", 3000000, "x1", SL_ELIMIT, "operators" },
    { PREFIX, "", "sin ", 3000000, "x1", SL_ELIMIT, "operators" },
    { PREFIX, "", "+ neg neg neg neg 1 ", 4000, "x1", SL_OK, NULL },
    { PREFIX, "", "sin ", 1000, "x1", SL_ELIMIT, "nested deeper" },
    { PREFIX, "", "/ 1 ", 8000, "x1", SL_ELIMIT, "nested deeper" },
    { PREFIX, "", "+ x1 ", SL_EXPR_MAX - 2, "x1", SL_OK, NULL },
    { PREFIX, "", "* x1 ", SL_EXPR_MAX - 2, "x1", SL_OK, NULL },
};

/* Whatever the size of the text, memory stays below a limit that has nothing to do with it. */
static void large_texts_need_little_memory(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(larges); i++) {
        const large *l = &larges[i];
        size_t n;
        char *text = repeat(l->before, l->unit, l->n, l->after, &n);
        sl_arena a = { .limit = 8 << 20 };
        const sl_node *e;
        sl_text_error error = { 0 };
        sl_status st = sl_expr_parse(&e, &a, l->format, text, n, NULL, &error);
        free(text);
        sl_arena_clear(&a);
        SL_CHECK(t, st == l->st, "%s%s x %zu%s: %d, %s", l->before, l->unit, l->n, l->after, st,
                 error.reason);
        SL_CHECK(t, !l->word || strstr(error.reason, l->word), "%s%s x %zu%s: %s", l->before,
                 l->unit, l->n, l->after, error.reason);
    }
}

/* A letter is a variable in LaTeX, so a long word is read letter by letter: not by reading the rest
 * of it again each time. */
static void long_words_of_latex_are_read_once(void **state) {
    sl_fixture *t = *state;
    const char *letters[] = { "a" };
    const sl_names names = { letters, 1 };
    size_t n;
    char *text = repeat("", "a", 10000000, "", &n);
    const sl_node *e;
    sl_status st = sl_expr_parse(&e, &t->arena, SL_FORMAT_LATEX, text, n, &names, NULL);
    free(text);
    SL_CHECK(t, st == SL_ELIMIT, "answered with %d: %s", st, sl_last_error());
}

/* The deepest tree that is read, and one more. */
static void depth_has_one_limit(void **state) {
    sl_fixture *t = *state;
    static const struct {
        sl_format format;
        const char *open, *close;
        size_t levels; // of the tree, for one of them
    } ways[] = {
        { INFIX, "sin(", ")", 1 },
        { LATEX, "\\sin(", ")", 1 },
        { PREFIX, "sin ", "", 1 },
        { INFIX, "x1*x2*(x3*sin(", "))", 2 }, // two products become one: their depths too
    };
    for (int w = 0; w < SL_LEN(ways); w++) {
        size_t most = SL_EXPR_MAX_DEPTH / ways[w].levels;
        for (size_t depth = most; depth <= most + 1; depth++) {
            size_t n, m;
            char *inside = repeat("", ways[w].open, depth, "x1", &n);
            char *text = repeat(inside, ways[w].close, depth, "", &m);
            const sl_node *e;
            sl_status st = sl_expr_parse(&e, &t->arena, ways[w].format, text, m, NULL, NULL);
            free(inside);
            free(text);
            SL_CHECK(t, st == (depth > most ? SL_ELIMIT : SL_OK), "%s %zu deep gives %d",
                     ways[w].open, depth, st);
        }
    }
}

static void mathml_is_not_read(void **state) {
    sl_fixture *t = *state;
    const sl_node *e;
    sl_status st = sl_expr_parse(&e, &t->arena, SL_FORMAT_MATHML, "x1", 2, NULL, NULL);
    SL_CHECK(t, st == SL_EINVAL, "answered with %d", st);
}

/* A result leaves no scratch below it in the arena. */
static void reading_keeps_only_the_result(void **state) {
    sl_fixture *t = *state;
    const char *text = "x1*(x2 + 3)^(1/2) - sin(x1)/(x2*exp(x1))";
    const sl_node *e;
    size_t mark = sl_arena_mark(&t->arena);
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    size_t kept = sl_arena_mark(&t->arena) - mark;
    SL_CHECK(t, kept <= e->len * sizeof *e + 16, "%zu bytes for %u nodes", kept, e->len);
}

static void reading_survives_failing_allocations(void **state) {
    sl_fixture *t = *state;
    // repeated, so that chunks of the arena run out at many places
    static const struct {
        sl_format format;
        const char *unit, *last;
    } some[] = {
        { INFIX, "x1*(x2 + 3)^(1/4 + 1/4) - sin(x1)/(x2*exp(x1)) + Rational(1, 3) + ", "x1" },
        { LATEX, "\\frac{x_1}{2 x_2} \\sin^{1 + 1}(x_1) + \\mathrm{x1} - ", "x_1" },
        { PREFIX, "+ sin + * 2 x1 ^ x1 + 1 1/2 ", "x1" },
        { INFIX, "log10(x1)^pi + ", "e" },
    };
    for (int i = 0; i < SL_LEN(some); i++) {
        size_t n;
        const sl_node *e;
        char *text = repeat("", some[i].unit, 100, some[i].last, &n);
        SL_EACH_ALLOCATION(t, sl_expr_parse(&e, &t->arena, some[i].format, text, n, NULL, NULL));
        free(text);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(prefix_is_what_the_builders_make),
        SL_TEST(texts_are_read_as_expected),
        SL_TEST(bad_texts_are_refused_with_place_and_reason),
        SL_TEST(places_are_counted_in_lines_and_characters),
        SL_TEST(large_texts_need_little_memory),
        SL_TEST(long_words_of_latex_are_read_once),
        SL_TEST(depth_has_one_limit),
        SL_TEST(mathml_is_not_read),
        SL_TEST(reading_keeps_only_the_result),
        SL_TEST(reading_survives_failing_allocations),
    };
    return sl_test_main("expr.parse", tests, SL_LEN(tests));
}
