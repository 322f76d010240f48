/* Writing: how expressions look in every format, and that each text reads back as the same bytes.
 */
#include "fixture/fixture.h"

#include <string.h>

#include "expr/expr.h"
#include "expr/expr_test.h"

#define X(id, name, reads) [SL_FORMAT_##id] = SL_FORMAT_##reads,
static const sl_format reads_back[SL_FORMAT_COUNT] = { SL_FORMATS(X) };
#undef X

/* ---------------------------------------------------------------- looks --------------------- */

typedef struct look {
    const char *prefix; // what is printed
    sl_format format;
    const char *text;
} look;

static const look looks[] = {
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_INFIX, "2*x1^2/3 - sqrt(x2)*exp(-x1)" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_PYTHON, "2*x1**2/3 - sqrt(x2)*exp(-x1)" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_SYMPY, "2*x1**2/3 - sqrt(x2)*exp(-x1)" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_C,
      "2.0*pow(x1, 2.0)/3.0 - sqrt(x2)*exp(-x1)" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_LATEX,
      "\\frac{2 x_1^{2}}{3} - \\sqrt{x_2} e^{-x_1}" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_PREFIX,
      "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1" },

    { "3/4", SL_FORMAT_INFIX, "3/4" },
    { "3/4", SL_FORMAT_SYMPY, "Rational(3, 4)" },
    { "3/4", SL_FORMAT_C, "3.0/4.0" },
    { "3/4", SL_FORMAT_LATEX, "\\frac{3}{4}" },
    { "-3/4", SL_FORMAT_SYMPY, "-Rational(3, 4)" },
    { "-3/4", SL_FORMAT_LATEX, "-\\frac{3}{4}" },
    { "^ x1 3/4", SL_FORMAT_INFIX, "x1^(3/4)" },
    { "^ x1 3/4", SL_FORMAT_PYTHON, "x1**(3/4)" },
    { "^ x1 3/4", SL_FORMAT_SYMPY, "x1**Rational(3, 4)" },
    { "^ x1 3/4", SL_FORMAT_C, "pow(x1, 3.0/4.0)" },
    { "^ x1 3/4", SL_FORMAT_LATEX, "x_1^{\\frac{3}{4}}" },
    { "/ 1 sqrt x1", SL_FORMAT_INFIX, "1/sqrt(x1)" },
    { "/ 1 sqrt x1", SL_FORMAT_LATEX, "\\frac{1}{\\sqrt{x_1}}" },
    { "/ 1 sqrt x1", SL_FORMAT_PREFIX, "/ 1 sqrt x1" },
    { "/ 1 0", SL_FORMAT_INFIX, "1/0" },
    { "/ 1 0", SL_FORMAT_SYMPY, "1/Integer(0)" },
    { "/ 1 0", SL_FORMAT_C, "1.0/0.0" },
    { "/ 1 0", SL_FORMAT_LATEX, "\\frac{1}{0}" },
    { "/ 1 0", SL_FORMAT_PREFIX, "/ 1 0" },
    { "^ -2 1/3", SL_FORMAT_INFIX, "(-2)^(1/3)" },
    { "^ -2 1/3", SL_FORMAT_SYMPY, "Integer(-2)**Rational(1, 3)" },
    { "^ 2/3 1/3", SL_FORMAT_PYTHON, "(2/3)**(1/3)" },
    { "^ 2/3 1/3", SL_FORMAT_SYMPY, "Rational(2, 3)**Rational(1, 3)" },
    { "^ 2/3 1/3", SL_FORMAT_LATEX, "(\\frac{2}{3})^{\\frac{1}{3}}" },
    { "* 3 ^ 2 1/3", SL_FORMAT_LATEX, "3 \\cdot 2^{\\frac{1}{3}}" },
    { "* 3 sqrt 2", SL_FORMAT_LATEX, "3 \\sqrt{2}" },
    { "^ ^ x1 2 3", SL_FORMAT_INFIX, "(x1^2)^3" },
    { "^ sqrt x1 3", SL_FORMAT_LATEX, "\\sqrt{x_1}^{3}" },
    { "^ exp x1 3", SL_FORMAT_LATEX, "(e^{x_1})^{3}" },
    { "^ exp x1 3", SL_FORMAT_INFIX, "exp(x1)^3" },
    { "^ sin x1 2", SL_FORMAT_LATEX, "\\sin(x_1)^{2}" },
    { "^ * x1 x2 -1", SL_FORMAT_INFIX, "(x1*x2)^(-1)" },
    { "^ * x1 x2 -1", SL_FORMAT_PREFIX, "^ * x1 x2 -1" },
    { "/ 1 * x1 x2", SL_FORMAT_INFIX, "1/(x1*x2)" },
    { "/ 1 ^ + x1 1 2", SL_FORMAT_INFIX, "1/(x1 + 1)^2" },
    { "/ + x1 1 + x2 2", SL_FORMAT_INFIX, "(x1 + 1)/(x2 + 2)" },
    { "/ + x1 1 + x2 2", SL_FORMAT_LATEX, "\\frac{x_1 + 1}{x_2 + 2}" },
    { "/ * -2 + x1 1 * 3 x2", SL_FORMAT_INFIX, "-2*(x1 + 1)/(3*x2)" },
    { "/ * -2 + x1 1 * 3 x2", SL_FORMAT_LATEX, "-\\frac{2 (x_1 + 1)}{3 x_2}" },
    { "neg + x1 x2", SL_FORMAT_INFIX, "-(x1 + x2)" },
    { "- x1 3", SL_FORMAT_INFIX, "x1 - 3" },
    { "neg x1", SL_FORMAT_PREFIX, "neg x1" },
    { "- neg x1 x2", SL_FORMAT_PREFIX, "- neg x1 x2" },
    { "* -2 x1", SL_FORMAT_PREFIX, "* -2 x1" },
    { "cos x1", SL_FORMAT_LATEX, "\\cos(x_1)" },
    { "* x12 c3", SL_FORMAT_LATEX, "x_{12} c_3" },
    { "c10", SL_FORMAT_INFIX, "c10" },
    { "9223372036854775807", SL_FORMAT_C, "9223372036854775807.0" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_NUMPY,
      "2*x1**2/3 - np.sqrt(x2)*np.exp(-x1)" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_JULIA, "2*x1^2/3 - sqrt(x2)*exp(-x1)" },
    { "- * 2/3 ^ x1 2 * sqrt x2 exp neg x1", SL_FORMAT_EXCEL, "=2*A2^2/3 - SQRT(B2)*EXP(-A2)" },
    { "+ asin x1 * abs x1 log pi", SL_FORMAT_NUMPY, "np.log(np.pi)*np.abs(x1) + np.arcsin(x1)" },
    { "+ asin x1 * abs x1 log pi", SL_FORMAT_JULIA, "log(pi)*abs(x1) + asin(x1)" },
    { "+ asin x1 * abs x1 log pi", SL_FORMAT_EXCEL, "=LN(PI())*ABS(A2) + ASIN(A2)" },
    { "^ * x1 x2 -1", SL_FORMAT_NUMPY, "(x1*x2)**(-1.0)" }, // of integers too
    // a sign before a power belongs to its base there, and powers go from left to right
    { "neg ^ x1 2", SL_FORMAT_EXCEL, "=-(A2^2)" },
    { "neg * ^ x1 2 x2", SL_FORMAT_EXCEL, "=-(A2^2)*B2" },
    { "neg ^ x1 x2", SL_FORMAT_EXCEL, "=-(A2^B2)" },
    { "* -2 ^ x1 2", SL_FORMAT_EXCEL, "=-2*A2^2" },
    { "exp neg ^ x1 2", SL_FORMAT_EXCEL, "=EXP(-(A2^2))" },
    { "- 3 ^ x1 2", SL_FORMAT_EXCEL, "=-(A2^2) + 3" },
    { "/ neg x2 ^ x1 2", SL_FORMAT_EXCEL, "=-B2/A2^2" },
    { "^ ^ x1 2 3", SL_FORMAT_EXCEL, "=(A2^2)^3" },
    { "^ x1 ^ x2 x3", SL_FORMAT_EXCEL, "=A2^(B2^C2)" },
    { "* x26 * x27 x52", SL_FORMAT_EXCEL, "=Z2*AA2*AZ2" },
    { "* x53 c3", SL_FORMAT_EXCEL, "=BA2*_c3" }, // c3 would be a cell
    { "+ * 2/3 ^ x1 x2 pi", SL_FORMAT_JSON,
      "{\"op\":\"sum\",\"of\":[{\"op\":\"pi\",\"of\":[]},{\"op\":\"product\",\"of\":[{\"number\":"
      "\"2/3\"},{\"op\":\"power\",\"of\":[{\"variable\":1,\"name\":\"x1\"},{\"variable\":2,"
      "\"name\":\"x2\"}]}]}]}" },
    { "* -7 c2", SL_FORMAT_JSON,
      "{\"op\":\"product\",\"of\":[{\"number\":\"-7\"},{\"constant\":2}]}" },
    { "^ x1 2", SL_FORMAT_MATHML,
      "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mrow><msup><mrow><msub><mi>x</mi>"
      "<mn>1</mn></msub></mrow><mrow><mn>2</mn></mrow></msup></mrow></math>" },
};

static void expressions_print_as_expected(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(looks); i++) {
        const look *l = &looks[i];
        const sl_node *e;
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_PREFIX, l->prefix, strlen(l->prefix),
                                 NULL, NULL));
        sl_status st = sl_expr_print(&s, l->format, e, NULL);
        bool same = strcmp(sl_str_text(&s), l->text) == 0;
        if (!same) print_error("%s\n", sl_str_text(&s));
        sl_str_clear(&s);
        SL_CHECK(t, st == SL_OK && same, "%s in %s is not %s", l->prefix,
                 sl_expr_format_name(l->format), l->text);
    }
}

/* ---------------------------------------------------------------- laws ---------------------- */

static int pick(sl_rng *rng, int n) { return (int)sl_rng_below(rng, (uint32_t)n); }

/* Numbers of all kinds: mostly small, some with 63 bits above or below the bar. */
static sl_rat random_number(sl_rng *rng, bool large) {
    sl_rat v = SL_RAT(0);
    int64_t num = pick(rng, 13) - 6, den = 1 + pick(rng, 4);
    if (large && pick(rng, 4) == 0) num = (int64_t)(sl_rng_u64(rng) >> (1 + pick(rng, 60)));
    if (large && pick(rng, 8) == 0) den = 1 + (int64_t)(sl_rng_u64(rng) >> (2 + pick(rng, 60)));
    if (pick(rng, 2)) num = -num;
    return sl_expr_rat_make(&v, num, den) ? v : SL_RAT(INT64_MAX);
}

/* A raw tree of all nodes, also in shapes that no operator of the surface makes. */
static const sl_node *random_tree(sl_arena *a, sl_rng *rng, int depth, bool large) {
    int kind = depth == 0 ? pick(rng, 4) : pick(rng, 14);
    if (kind == 0 && pick(rng, 4) == 0) return sl_expr_pi(a);
    if (kind == 0) return sl_expr_num(a, random_number(rng, large));
    if (kind == 1) return sl_expr_par(a, 1 + pick(rng, 12));
    if (kind < 4) return sl_expr_var(a, 1 + pick(rng, kind == 2 ? 3 : 12));
    const sl_node *operands[4];
    if (kind < 9) {
        int n = 2 + pick(rng, 3);
        for (int i = 0; i < n; i++) operands[i] = random_tree(a, rng, depth - 1, large);
        return sl_expr_nary(a, kind < 6 ? SL_OP_ADD : SL_OP_MUL, operands, n);
    }
    operands[0] = random_tree(a, rng, depth - 1, large);
    if (kind == 9) return sl_expr_fn(a, (sl_op)(SL_OP_EXP + pick(rng, 3)), operands[0]);
    if (kind == 10) return sl_expr_fn(a, (sl_op)(SL_OP_LOG + pick(rng, 9)), operands[0]);
    if (kind == 11) return sl_expr_power(a, operands[0], random_tree(a, rng, depth - 1, large));
    sl_rat exponent =
        pick(rng, 2) ? random_number(rng, false) : (sl_rat){ 1 - 2 * pick(rng, 2), 2 };
    return sl_expr_pow(a, operands[0], exponent);
}

/* The text of e in each format that reads back gives `want` again. */
static void check_round_trips(sl_fixture *t, const sl_node *e, const sl_node *want) {
    for (int f = 0; f < SL_FORMAT_COUNT; f++) {
        sl_str s = { 0 };
        const sl_node *back = NULL;
        SL_MUST(t, sl_expr_print(&s, (sl_format)f, e, NULL));
        if (reads_back[f] == SL_FORMAT_COUNT) {
            sl_str_clear(&s);
            continue;
        }
        sl_status st = sl_expr_parse(&back, &t->arena, reads_back[f], s.text, s.len, NULL, NULL);
        if (st != SL_OK || !sl_expr_equal(back, want)) print_error("%s\n", sl_str_text(&s));
        sl_str_clear(&s);
        SL_CHECK(t, st == SL_OK, "%s is not read back: %s", sl_expr_format_name((sl_format)f),
                 sl_last_error());
        SL_CHECK(t, sl_expr_equal(back, want), "%s reads back as something else",
                 sl_expr_format_name((sl_format)f));
    }
}

static void tidy_trees_read_back_as_the_same_bytes(void **state) {
    sl_fixture *t = *state;
    int seen = 0;
    for (int i = 0; i < sl_test_iters(t, 3000); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_tree(&t->arena, &t->rng, 1 + i % 5, true), *tidy;
        sl_status st = sl_expr_tidy(&tidy, &t->arena, e);
        if (st == SL_EOVERFLOW) continue;
        SL_MUST(t, st);
        seen++;
        check_round_trips(t, tidy, tidy);
    }
    SL_CHECK(t, seen > sl_test_iters(t, 3000) / 2, "only %d trees were of use", seen);
}

static void raw_trees_read_back_tidied(void **state) {
    sl_fixture *t = *state;
    int seen = 0;
    for (int i = 0; i < sl_test_iters(t, 2000); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_tree(&t->arena, &t->rng, 1 + i % 4, false), *tidy;
        if (sl_expr_tidy(&tidy, &t->arena, e) != SL_OK) continue;
        seen++;
        check_round_trips(t, e, tidy);
    }
    SL_CHECK(t, seen > sl_test_iters(t, 2000) / 2, "only %d trees were of use", seen);
}

/* What the enumeration makes. */
static void expressions_of_the_surface_read_back(void **state) {
    sl_fixture *t = *state;
    const sl_expr_random_options options = { .depth = 6,
                                             .variables = 3,
                                             .number_range = 9,
                                             .p_leaf = 0.1,
                                             .ops = SL_EXPR_ALL_OPERATORS,
                                             .with_pi = true };
    for (int i = 0; i < sl_test_iters(t, 300); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e, *tidy;
        SL_MUST(t, sl_expr_random(&e, &t->arena, &t->rng, &options));
        if (sl_expr_tidy(&tidy, &t->arena, e) != SL_OK) continue;
        check_round_trips(t, e, tidy);
    }
}

/* A chain as deep as trees may be, of every operation whose brackets could add up. */
static void the_deepest_trees_read_back(void **state) {
    sl_fixture *t = *state;
    sl_arena *a = &t->arena;
    const sl_node *x = sl_expr_var(a, 1), *y = sl_expr_var(a, 2);
    for (int way = 0; way < 6; way++) {
        const sl_node *e = x;
        for (int depth = 0; depth < SL_EXPR_MAX_DEPTH; depth++) {
            bool odd = depth % 2;
            const sl_node *both[] = { y, e };
            switch (way) {
            case 0: e = sl_expr_fn(a, SL_OP_EXP, e); break;
            case 1: e = sl_expr_nary(a, odd ? SL_OP_ADD : SL_OP_MUL, both, 2); break;
            case 2:
                e = odd ? sl_expr_nary(a, SL_OP_ADD, both, 2) : sl_expr_pow(a, e, SL_RAT(-1));
                break;
            case 3: e = sl_expr_pow(a, e, (sl_rat){ odd ? 3 : -2, 5 }); break;
            case 4: {
                const sl_node *over[] = { sl_expr_pow(a, e, SL_RAT(-2)),
                                          sl_expr_pow(a, y, SL_RAT(-1)) };
                if (depth % 2 == 0 && depth + 2 <= SL_EXPR_MAX_DEPTH) {
                    e = sl_expr_nary(a, SL_OP_MUL, over, 2);
                    depth++;
                }
                break;
            }
            default:
                e = odd ? sl_expr_pow(a, e, (sl_rat){ 2, 3 })
                        : sl_expr_nary(a, SL_OP_MUL,
                                       (const sl_node *[]){ sl_expr_num(a, (sl_rat){ -2, 3 }), e },
                                       2);
            }
        }
        const sl_node *tidy;
        SL_MUST(t, sl_expr_tidy(&tidy, a, e));
        const sl_node *deeper = sl_expr_fn(a, SL_OP_SIN, tidy);
        bool deepest = sl_expr_valid(tidy, tidy->len) && !sl_expr_valid(deeper, deeper->len);
        SL_CHECK(t, deepest, "way %d is not as deep as can be", way);
        check_round_trips(t, tidy, tidy);

        sl_str s = { 0 };
        sl_status st = sl_expr_print(&s, SL_FORMAT_INFIX, deeper, NULL);
        SL_CHECK(t, st == SL_ELIMIT && s.len == 0, "one deeper is answered with %d", st);
        sl_str_clear(&s);
    }
}

/* A sum as long as an expression may be: one operator in prefix for each operand. */
static void the_longest_sums_read_back(void **state) {
    sl_fixture *t = *state;
    static const sl_node *operands[SL_EXPR_MAX - 1];
    const sl_node *x = sl_expr_var(&t->arena, 1);
    for (int i = 0; i < SL_LEN(operands); i++) operands[i] = x;
    const sl_node *sum = sl_expr_nary(&t->arena, SL_OP_ADD, operands, SL_LEN(operands));
    SL_CHECK(t, sum, "no sum of %d operands", SL_LEN(operands));
    check_round_trips(t, sum, sum);
}

/* ---------------------------------------------------------------- MathML -------------------- */

/* Are all elements closed in order, with one root? Enough XML for what is printed here. */
static bool is_well_formed(const char *text) {
    enum { DEEP = 4096 };
    const char *names[DEEP];
    int lens[DEEP], open = 0, roots = 0;
    for (const char *c = text; *c;) {
        if (*c != '<') {
            if (open == 0 || *c == '>') return false;
            if (*c == '&') {
                const char *end = strchr(c, ';');
                if (!end || end - c > 9) return false;
            }
            c++;
            continue;
        }
        bool closing = c[1] == '/';
        const char *name = c + 1 + closing;
        int len = (int)strspn(name, "abcdefghijklmnopqrstuvwxyz");
        c = strchr(name, '>');
        if (!c || len == 0) return false;
        c++;
        if (!closing) {
            if (open == DEEP || (open == 0 && roots++ > 0)) return false;
            names[open] = name;
            lens[open++] = len;
        } else if (open == 0 || lens[open - 1] != len ||
                   memcmp(names[open - 1], name, (size_t)len)) {
            return false;
        } else {
            open--;
        }
    }
    return open == 0 && roots == 1;
}

static void mathml_is_well_formed(void **state) {
    sl_fixture *t = *state;
    static const char *const given[] = { "a<b & c>", "\xff\x01", "mass", "\xef\xbf\xbf" };
    const sl_names names = { given, SL_LEN(given) };
    for (int i = 0; i < sl_test_iters(t, 1000); i++) {
        sl_arena_rewind(&t->arena, 0);
        const sl_node *e = random_tree(&t->arena, &t->rng, 1 + i % 5, true);
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_print(&s, SL_FORMAT_MATHML, e, &names));
        bool good =
            is_well_formed(s.text) && strncmp(s.text, "<math ", 6) == 0 && !strchr(s.text, 1);
        if (!good) print_error("%s\n", s.text);
        sl_str_clear(&s);
        SL_CHECK(t, good, "this is no XML");
    }
}

/* ---------------------------------------------------------------- the rest ------------------ */

static void printing_appends(void **state) {
    sl_fixture *t = *state;
    sl_str s = { 0 };
    sl_str_add(&s, "y = ");
    const sl_node *x = sl_expr_var(&t->arena, 1);
    sl_status st = sl_expr_print(&s, SL_FORMAT_PREFIX, sl_expr_fn(&t->arena, SL_OP_SIN, x), NULL);
    bool good = strcmp(sl_str_text(&s), "y = sin x1") == 0;
    sl_str_clear(&s);
    SL_MUST(t, st);
    SL_CHECK(t, good, "not appended");
}

static sl_status print_once(sl_format f, const sl_node *e) {
    sl_str s = { 0 };
    sl_status st = sl_expr_print(&s, f, e, NULL);
    sl_str_clear(&s);
    return st;
}

static void printing_survives_failing_allocations(void **state) {
    sl_fixture *t = *state;
    const sl_node *e = random_tree(&t->arena, &t->rng, 6, true);
    for (int f = 0; f < SL_FORMAT_COUNT; f++) SL_EACH_ALLOCATION(t, print_once((sl_format)f, e));
}

static void tables_are_found_by_name(void **state) {
    sl_fixture *t = *state;
    for (int f = 0; f < SL_FORMAT_COUNT; f++)
        SL_CHECK(t, (int)sl_expr_format_find(sl_expr_format_name((sl_format)f)) == f, "format %d",
                 f);
    SL_CHECK(t, sl_expr_format_find("html") == SL_FORMAT_COUNT, "html is a format");
    SL_CHECK(t, sl_expr_format_find("") == SL_FORMAT_COUNT, "nothing is a format");
    for (int o = 0; o < SL_OPERATOR_COUNT; o++) {
        const char *text = sl_expr_operator_text((sl_operator)o);
        SL_CHECK(t, (int)sl_expr_operator_find(text, strlen(text)) == o, "operator %d", o);
        SL_CHECK(t, (int)sl_expr_operator_find("sinus", 3) == SL_OPERATOR_SIN, "sin by length");
    }
    SL_CHECK(t, sl_expr_operator_find("s", 1) == SL_OPERATOR_COUNT, "s is an operator");
    SL_CHECK(t, sl_expr_operator_find("", 0) == SL_OPERATOR_COUNT, "nothing is an operator");
    SL_CHECK(t, sl_expr_operator_operands(SL_OPERATOR_DIV) == 2, "operands of a division");
    SL_CHECK(t, sl_expr_operator_operands(SL_OPERATOR_SQRT) == 1, "operands of a root");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(expressions_print_as_expected),
        SL_TEST(tidy_trees_read_back_as_the_same_bytes),
        SL_TEST(raw_trees_read_back_tidied),
        SL_TEST(expressions_of_the_surface_read_back),
        SL_TEST(the_deepest_trees_read_back),
        SL_TEST(the_longest_sums_read_back),
        SL_TEST(mathml_is_well_formed),
        SL_TEST(printing_appends),
        SL_TEST(printing_survives_failing_allocations),
        SL_TEST(tables_are_found_by_name),
    };
    return sl_test_main("expr.print", tests, SL_LEN(tests));
}
