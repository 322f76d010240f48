/* Names of columns: whatever they are, expressions over them are written and read back. */
#include "fixture/fixture.h"

#include <string.h>

#include "expr/expr.h"

#define COUNT 4

static const char *const tables[][COUNT] = {
    { "mass", "v", "E", "length_2" },
    { "x2", "x1", "x4", "x3" },   // each other's plain names
    { "x_1", "x2", "c_1", "c1" }, // the spellings of LaTeX, and of a free constant
    { "c1", "_c1", "__c1", "c2" },
    { "exp", "sin", "pow", "Rational" }, // functions
    { "cos", "neg", "sqrt", "Integer" },
    { "e", "E", "np", "math" },
    { "my col", "a`b", "``", "two\nlines" },
    { "50% & $5 #1", "a\\b^c~d", "{x}_{1}", "\\frac{1}{2}" },
    { "\xce\xb8", "\xff\x01", "\xe2\x88\x92", "temp\xc3\xa9rature" },
    { "a", "a", "a", "x1" },  // the same name more than once
    { "", NULL, "x1", "x2" }, // columns without one
    { "x1", NULL, "_x2", "x2" },
    { "1", "2.5", "-", "+" }, // look like something else
    { "(", ")", " ", "," },
    { "log", "pi", "e2", "x" },
    { "x9", "x10", "X1", "C1" },
    { "m", "mm", "mmm", "c" },
    { NULL, "x_1", "c_2", "" }, // taken only in the spelling of LaTeX
    { "pi", "_pi", "M_PI", "__pi" },
    { "e", "M_E", "ln", "abs" },
};

static sl_names names_of(int table) { return (sl_names){ tables[table], COUNT }; }

/* sum of variable * constant^2 * exp(variable) * pi, and more, over all. */
static const sl_node *all_of_them(sl_arena *a) {
    const sl_node *terms[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const sl_node *x = sl_expr_var(a, i + 1), *c = sl_expr_par(a, i + 1);
        const sl_node *other = sl_expr_var(a, (i + 1) % COUNT + 1);
        const sl_node *factors[] = { x,
                                     sl_expr_pow(a, c, SL_RAT(2)),
                                     sl_expr_fn(a, SL_OP_EXP, x),
                                     sl_expr_pow(a, other, SL_RAT(3)),
                                     sl_expr_pi(a),
                                     sl_expr_power(a, other, x),
                                     other };
        terms[i] = sl_expr_nary(a, SL_OP_MUL, factors, SL_LEN(factors));
    }
    return sl_expr_nary(a, SL_OP_ADD, terms, COUNT);
}

static void any_names_read_back(void **state) {
    sl_fixture *t = *state;
    static const sl_format formats[] = { SL_FORMAT_INFIX, SL_FORMAT_PYTHON, SL_FORMAT_SYMPY,
                                         SL_FORMAT_LATEX, SL_FORMAT_C,      SL_FORMAT_PREFIX,
                                         SL_FORMAT_NUMPY, SL_FORMAT_JULIA };
    const sl_node *e;
    SL_MUST(t, sl_expr_tidy(&e, &t->arena, all_of_them(&t->arena)));
    for (int k = 0; k < SL_LEN(tables); k++) {
        sl_names names = names_of(k);
        for (int f = 0; f < SL_LEN(formats); f++) {
            sl_str s = { 0 };
            const sl_node *back = NULL;
            SL_MUST(t, sl_expr_print(&s, formats[f], e, &names));
            sl_status st = sl_expr_parse(&back, &t->arena, formats[f], s.text, s.len, &names, NULL);
            bool same = st == SL_OK && sl_expr_equal(back, e);
            if (!same) print_error("%s\n", s.text);
            sl_str_clear(&s);
            SL_CHECK(t, st == SL_OK, "table %d, %s: %s", k, sl_expr_format_name(formats[f]),
                     sl_last_error());
            SL_CHECK(t, same, "table %d, %s: reads back as something else", k,
                     sl_expr_format_name(formats[f]));
        }
    }
}

typedef struct spelling {
    int table;
    sl_format format;
    const char *text;
    int number;     // of the variable that is meant, or
    const char *no; // a word of the refusal
} spelling;

static const spelling spellings[] = {
    { 0, SL_FORMAT_INFIX, "mass", 1, NULL },
    { 0, SL_FORMAT_INFIX, "x1", 1, NULL },
    { 0, SL_FORMAT_INFIX, "`mass`", 1, NULL },
    { 0, SL_FORMAT_INFIX, "E", 3, NULL },
    { 0, SL_FORMAT_INFIX, "`x4`", 4, NULL },
    { 0, SL_FORMAT_INFIX, "x5", 0, "there is no x5: this has variables mass, v, E, length_2" },
    { 0, SL_FORMAT_INFIX, "mas", 0, "did you mean mass?" },
    { 0, SL_FORMAT_INFIX, "lenght_2", 0, "did you mean length_2?" },
    { 0, SL_FORMAT_INFIX, "velocity", 0, "variables are mass, v, E, length_2" },
    { 0, SL_FORMAT_LATEX, "v", 2, NULL },
    { 0, SL_FORMAT_LATEX, "x_1", 1, NULL },
    { 0, SL_FORMAT_LATEX, "mass", 1, NULL },
    { 0, SL_FORMAT_LATEX, "\\text{mass}", 1, NULL },
    { 0, SL_FORMAT_LATEX, "\\mathrm{length}_{2}", 4, NULL },
    { 0, SL_FORMAT_LATEX, "length_2", 4, NULL },
    { 0, SL_FORMAT_PREFIX, "length_2", 4, NULL },
    { 1, SL_FORMAT_INFIX, "x1", 2, NULL }, // a column name comes first
    { 1, SL_FORMAT_LATEX, "x_1", 2, NULL },
    { 2, SL_FORMAT_LATEX, "x_1", 1, NULL },
    { 2, SL_FORMAT_INFIX, "x_1", 1, NULL },
    { 2, SL_FORMAT_INFIX, "c1", 4, NULL },
    { 4, SL_FORMAT_INFIX, "`exp`", 1, NULL },
    { 4, SL_FORMAT_INFIX, "exp", 1, NULL }, // no bracket follows, so it is no function
    { 5, SL_FORMAT_INFIX, "exp", 0, "brackets" },
    { 4, SL_FORMAT_LATEX, "\\mathrm{exp}", 1, NULL },
    { 6, SL_FORMAT_INFIX, "e", 1, NULL },
    { 6, SL_FORMAT_LATEX, "\\mathrm{e}", 1, NULL },
    { 6, SL_FORMAT_LATEX, "e", 1, NULL },
    { 7, SL_FORMAT_INFIX, "`my col`", 1, NULL },
    { 7, SL_FORMAT_INFIX, "`a``b`", 2, NULL },
    { 7, SL_FORMAT_LATEX, "\\text{my col}", 1, NULL },
    { 7, SL_FORMAT_PREFIX, "`my col`", 1, NULL },
    { 9, SL_FORMAT_INFIX, "\xce\xb8", 1, NULL },
    { 9, SL_FORMAT_INFIX, "temp\xc3\xa9rature", 4, NULL },
    { 9, SL_FORMAT_INFIX, "temperature", 0, "did you mean temp\xc3\xa9rature" },
    { 10, SL_FORMAT_INFIX, "a", 1, NULL },
    { 10, SL_FORMAT_INFIX, "x2", 2, NULL },
    { 15, SL_FORMAT_INFIX, "log", 1, NULL },
    { 15, SL_FORMAT_INFIX, "pi", 2, NULL }, // a column before the constant
    { 17, SL_FORMAT_LATEX, "mm", 2, NULL }, // a known word before its letters
};

static void words_are_read_as_columns(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(spellings); i++) {
        const spelling *s = &spellings[i];
        sl_names names = names_of(s->table);
        const sl_node *e;
        sl_text_error error;
        sl_status st =
            sl_expr_parse(&e, &t->arena, s->format, s->text, strlen(s->text), &names, &error);
        if (s->no) {
            SL_CHECK(t, st == SL_EFORMAT && strstr(error.reason, s->no), "%s: %d %s", s->text, st,
                     error.reason);
            continue;
        }
        SL_MUST(t, st);
        SL_CHECK(t, e->op == SL_OP_VAR && e->arg == s->number, "%s in table %d is node %d, %d",
                 s->text, s->table, e->op, e->arg);
    }
}

static void letters_of_latex_multiply(void **state) {
    sl_fixture *t = *state;
    static const char *const given[] = { "m", "v", "theta" };
    const sl_names names = { given, 3 };
    const char *text = "mv^2\\sin\\theta", *same = "* * x1 ^ x2 2 sin x3";
    const sl_node *a, *b;
    SL_MUST(t, sl_expr_parse(&a, &t->arena, SL_FORMAT_LATEX, text, strlen(text), &names, NULL));
    SL_MUST(t, sl_expr_parse(&b, &t->arena, SL_FORMAT_PREFIX, same, strlen(same), NULL, NULL));
    SL_CHECK(t, sl_expr_equal(a, b), "%s is something else", text);
}

static void plain_variables_can_be_counted(void **state) {
    sl_fixture *t = *state;
    const sl_names two = { NULL, 2 };
    const sl_node *e;
    sl_text_error error;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, "x1*x2", 5, &two, NULL));
    sl_status st = sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, "x1 + x9", 7, &two, &error);
    SL_CHECK(t, st == SL_EFORMAT && error.offset == 5, "x9 is answered with %d", st);
    SL_CHECK(t, strcmp(error.reason, "there is no x9: this has variables x1, x2") == 0, "%s",
             error.reason);
}

/* More names, and longer ones, than a reason has room for. */
static void reasons_fit_their_room(void **state) {
    sl_fixture *t = *state;
    static char long_name[3000];
    memset(long_name, 'n', sizeof long_name - 1);
    const char *given[SL_EXPR_MAX_VARS];
    for (int i = 0; i < SL_LEN(given); i++)
        given[i] = i % 2 ? long_name : "\xce\xb8\xce\xb8\xce\xb8";
    const sl_names names = { given, SL_LEN(given) };
    const sl_node *e;
    sl_text_error error;
    sl_status st = sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, "x99", 3, &names, &error);
    SL_CHECK(t, st == SL_EFORMAT && strlen(error.reason) < sizeof error.reason, "%d", st);
    SL_CHECK(t, strstr(error.reason, "..."), "%s", error.reason);
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, long_name, strlen(long_name), &names,
                             &error));
    SL_CHECK(t, e->op == SL_OP_VAR && e->arg == 2, "the long name is node %d, %d", e->op, e->arg);
}

/* Text for a programming language holds only words that these take as names. */
static void code_has_no_words_that_code_reserves(void **state) {
    sl_fixture *t = *state;
    static const char *const given[] = { "lambda", "np", "my col", "beta" };
    static const sl_format code[] = { SL_FORMAT_PYTHON, SL_FORMAT_SYMPY, SL_FORMAT_C,
                                      SL_FORMAT_NUMPY, SL_FORMAT_JULIA };
    sl_names names = { given, 4 };
    const sl_node *e;
    const char *text = "x1*x2*x3*x4";
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    for (int f = 0; f < SL_LEN(code); f++) {
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_print(&s, code[f], e, &names));
        const char *want = code[f] == SL_FORMAT_SYMPY ? "x1*x2*x3*x4" : "x1*x2*x3*beta";
        bool right = strcmp(s.text, want) == 0;
        char shown[100];
        snprintf(shown, sizeof shown, "%s", s.text);
        sl_str_clear(&s);
        SL_CHECK(t, right, "%s: %s", sl_expr_format_name(code[f]), shown);
    }
}

/* R1 R2 is not R1R2; letters and plain variables need no gap. */
static void names_of_several_letters_have_a_gap(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *name[2], *latex, *mathml;
    } row[] = {
        { { "R1", "R2" },
          "2 \\, \\mathrm{R1} \\, \\mathrm{R2}",
          "<mn>2</mn><mo rspace=\"0.2em\">&#x2062;</mo><mi>R1</mi><mo "
          "rspace=\"0.2em\">&#x2062;</mo>"
          "<mi>R2</mi>" },
        { { "a", "\xce\xb8" },
          "2 a \\mathrm{\xce\xb8}",
          "<mn>2</mn><mo>&#x2062;</mo><mi>a</mi><mo>&#x2062;</mo><mi>\xce\xb8</mi>" },
        { { "x1", "x2" },
          "2 x_1 x_2",
          "<mn>2</mn><mo>&#x2062;</mo><msub><mi>x</mi><mn>1</mn></msub><mo>&#x2062;</mo><msub><mi>x"
          "</mi><mn>2</mn></msub>" },
    };
    const sl_node *e;
    const char *text = "2*x1*x2";
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    for (int i = 0; i < SL_LEN(row); i++) {
        const sl_names names = { row[i].name, 2 };
        sl_str latex = { 0 }, mathml = { 0 };
        SL_MUST(t, sl_expr_print(&latex, SL_FORMAT_LATEX, e, &names));
        SL_MUST(t, sl_expr_print(&mathml, SL_FORMAT_MATHML, e, &names));
        const bool right =
            strcmp(latex.text, row[i].latex) == 0 && strstr(mathml.text, row[i].mathml);
        char shown[400];
        snprintf(shown, sizeof shown, "%s %s", latex.text, mathml.text);
        sl_str_clear(&latex);
        sl_str_clear(&mathml);
        SL_CHECK(t, right, "%s", shown);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(any_names_read_back),
        SL_TEST(code_has_no_words_that_code_reserves),
        SL_TEST(names_of_several_letters_have_a_gap),
        SL_TEST(words_are_read_as_columns),
        SL_TEST(letters_of_latex_multiply),
        SL_TEST(plain_variables_can_be_counted),
        SL_TEST(reasons_fit_their_room),
    };
    return sl_test_main("expr.names", tests, SL_LEN(tests));
}
