/* Free constants with values: how they look, and that they read back. */
#include "fixture/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"

#define X(id, name, reads) [SL_FORMAT_##id] = SL_FORMAT_##reads,
static const sl_format reads_back[SL_FORMAT_COUNT] = { SL_FORMATS(X) };
#undef X

enum { PARS = 4, VARS = 2 };

static int pick(sl_rng *rng, int n) { return (int)sl_rng_below(rng, (uint32_t)n); }

/* ---------------------------------------------------------------- looks --------------------- */

typedef struct look {
    const char *e;
    double value[2];
    sl_format format;
    const char *text;
} look;

static const look looks[] = {
    { "x1 + c1*x2", { -2.5 }, SL_FORMAT_INFIX, "x1 - 2.5*x2" },
    { "x1 + c1*x2", { -2.5 }, SL_FORMAT_PYTHON, "x1 - 2.5*x2" },
    { "x1 + c1*x2", { -2.5 }, SL_FORMAT_LATEX, "x_1 - 2.5 x_2" },
    { "x1 + c1*x2", { -2.5 }, SL_FORMAT_PREFIX, "- x1 * 5/2 x2" },
    { "x1 - c1*x2", { -2.5 }, SL_FORMAT_INFIX, "x1 + 2.5*x2" },
    { "x1 + c1", { -0.1 }, SL_FORMAT_INFIX, "x1 - 0.1" },
    { "c1*x1", { -3 }, SL_FORMAT_INFIX, "-3*x1" },
    { "c1*x1", { -3 }, SL_FORMAT_PYTHON, "-3.0*x1" },
    { "c1*x1", { -3 }, SL_FORMAT_C, "-3.0*x1" },
    { "c1*x1", { -3 }, SL_FORMAT_SYMPY, "-3.0*x1" },
    { "c1*x1", { -3 }, SL_FORMAT_LATEX, "-3 x_1" },
    { "c1", { -2.5 }, SL_FORMAT_INFIX, "-2.5" },
    { "c1", { -2.5 }, SL_FORMAT_PREFIX, "-5/2" },
    { "c1", { -0.0 }, SL_FORMAT_INFIX, "0" },
    { "c1*c2*x1", { -2.5, -4 }, SL_FORMAT_INFIX, "2.5*4*x1" },
    { "3*c1*x1", { 0.5 }, SL_FORMAT_LATEX, "3 \\cdot 0.5 x_1" },
    { "x1/c1", { -2.5 }, SL_FORMAT_INFIX, "x1/(-2.5)" },
    { "x1/c1", { 2.5 }, SL_FORMAT_LATEX, "\\frac{x_1}{2.5}" },
    { "c1^2", { -2.5 }, SL_FORMAT_INFIX, "(-2.5)^2" },
    { "c1^2", { -2.5 }, SL_FORMAT_LATEX, "(-2.5)^{2}" },
    { "c1^2", { 2.5 }, SL_FORMAT_SYMPY, "2.5**2" },
    { "c1^2", { -2 }, SL_FORMAT_C, "pow(-2.0, 2.0)" },
    { "exp(c1*x1)", { -0.5 }, SL_FORMAT_PYTHON, "exp(-0.5*x1)" },
    { "exp(c1*x1)", { -0.5 }, SL_FORMAT_LATEX, "e^{-0.5 x_1}" },
    { "c1*(x1 + 1)", { -0.5 }, SL_FORMAT_INFIX, "-0.5*(x1 + 1)" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_INFIX, "1.5e-07*x1" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_PYTHON, "1.5e-07*x1" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_C, "1.5e-07*x1" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_LATEX, "1.5 \\cdot 10^{-7} x_1" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_PREFIX, "* 3/20000000 x1" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_JULIA, "1.5e-07*x1" },
    { "c1*x1", { 1.5e-7 }, SL_FORMAT_EXCEL, "=1.5E-07*A2" },
    { "c1*x1^2", { -3 }, SL_FORMAT_EXCEL, "=-3*A2^2" },
    { "c1^x1", { 3 }, SL_FORMAT_NUMPY, "3.0**x1" },
    { "exp(c1)", { -3 }, SL_FORMAT_JULIA, "exp(-3.0)" },
    { "c1", { -3 }, SL_FORMAT_JSON, "{\"constant\":1,\"value\":-3.0}" },
    { "c1*x1", { -1e300 }, SL_FORMAT_INFIX, "-1e+300*x1" },
    { "c1*x1", { -1e300 }, SL_FORMAT_LATEX, "-10^{300} x_1" },
    { "c1*x1", { -1e300 }, SL_FORMAT_PREFIX, "neg * 1e+300 x1" },
    { "c1^2*x1", { 1.5e-7 }, SL_FORMAT_LATEX, "x_1 \\cdot (1.5 \\cdot 10^{-7})^{2}" },
    { "c1",
      { 1.5e-7 },
      SL_FORMAT_MATHML,
      "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mrow><mn>1.5</mn><mo>&#x22C5;</mo><msup>"
      "<mrow><mn>10</mn></mrow><mrow><mo>&#x2212;</mo><mn>7</mn></mrow></msup></mrow></math>" },
    { "c1", { 0.1 + 0.2 }, SL_FORMAT_INFIX, "0.30000000000000004" },
};

static void values_print_as_expected(void **state) {
    sl_fixture *t = *state;
    for (int i = 0; i < SL_LEN(looks); i++) {
        const look *l = &looks[i];
        const sl_node *e = parsed(t, l->e);
        sl_str s = { 0 };
        sl_status st = sl_expr_print_values(&s, l->format, e, NULL, l->value);
        bool same = strcmp(sl_str_text(&s), l->text) == 0;
        if (!same) print_error("%s\n", sl_str_text(&s));
        sl_str_clear(&s);
        SL_CHECK(t, st == SL_OK && same, "%s in %s is not %s", l->e, sl_expr_format_name(l->format),
                 l->text);
    }
}

/* ---------------------------------------------------------------- reading back -------------- */

/* A raw tree of all nodes with c1 .. c<PARS>, also in shapes that no operator of the surface makes.
 */
static const sl_node *random_tree(sl_arena *a, sl_rng *rng, int depth) {
    int kind = depth == 0 ? pick(rng, 4) : pick(rng, 14);
    if (kind == 0 && pick(rng, 8) == 0) return sl_expr_pi(a);
    if (kind == 0) return sl_expr_num(a, (sl_rat){ pick(rng, 13) - 6, 1 });
    if (kind < 3) return sl_expr_par(a, 1 + pick(rng, PARS));
    if (kind < 4) return sl_expr_var(a, 1 + pick(rng, VARS));
    const sl_node *operands[4];
    if (kind < 9) {
        int n = 2 + pick(rng, 3);
        for (int i = 0; i < n; i++) operands[i] = random_tree(a, rng, depth - 1);
        return sl_expr_nary(a, kind < 6 ? SL_OP_ADD : SL_OP_MUL, operands, n);
    }
    operands[0] = random_tree(a, rng, depth - 1);
    if (kind == 9) return sl_expr_fn(a, (sl_op)(SL_OP_EXP + pick(rng, 3)), operands[0]);
    if (kind == 10) return sl_expr_fn(a, (sl_op)(SL_OP_LOG + pick(rng, 9)), operands[0]);
    if (kind == 11) return sl_expr_power(a, operands[0], random_tree(a, rng, depth - 1));
    static const sl_rat exponents[] = { { 1, 2 }, { -1, 2 }, { -1, 1 }, { 2, 1 }, { -2, 1 } };
    return sl_expr_pow(a, operands[0], exponents[pick(rng, SL_LEN(exponents))]);
}

/* A decimal of few digits, as the exact number and as the double that reads it. */
static void random_decimal(sl_rat *exact, double *value, sl_rng *rng) {
    static const int64_t scales[] = { 1, 10, 100, 10000000 };
    const int64_t num = pick(rng, 41) - 20, scale = scales[pick(rng, SL_LEN(scales))];
    bool fits = pick(rng, 16) ? sl_expr_rat_make(exact, num, scale)
                              : sl_expr_rat_make(exact, num * 1000000000000000, 1);
    assert_true(fits);
    *value = sl_expr_rat_double(*exact);
}

/* Where u^c has got a number for c, 1/u^c is read as u^(-c): the same function, and there is such
 * a power. */
static bool both_powers(sl_fixture *t, const sl_node *a, const sl_node *b) {
    sl_truth same;
    for (const sl_node *c = b; c < b + b->len; c += sl_expr_step(c)) {
        if (c->op != SL_OP_POW || c[1].op != SL_OP_POW) continue;
        SL_MUST(t, sl_expr_same(&same, &t->arena, a, b));
        return !sl_no(same);
    }
    return false;
}

/* Text with values reads back as the expression with these numbers in place, in every format that
 * reads back. */
static void values_read_back_as_the_numbers_they_are(void **state) {
    sl_fixture *t = *state;
    static const bool all[PARS] = { true, true, true, true };
    int judged = 0;
    const int trees = sl_test_iters(t, 2000);
    for (int i = 0; i < trees; i++) {
        sl_rat exact[PARS];
        double value[PARS];
        sl_arena_rewind(&t->arena, 0);
        for (int k = 0; k < PARS; k++) random_decimal(&exact[k], &value[k], &t->rng);
        const sl_node *e = random_tree(&t->arena, &t->rng, i % 4), *want;
        if (i % 2) SL_MUST(t, sl_expr_tidy(&e, &t->arena, e));
        sl_status st = sl_expr_bind(&want, &t->arena, e, exact, all);
        if (st == SL_EOVERFLOW) continue;
        SL_MUST(t, st);
        for (int f = 0; f < SL_FORMAT_COUNT; f++) {
            sl_str s = { 0 };
            const sl_node *back = NULL;
            SL_MUST(t, sl_expr_print_values(&s, (sl_format)f, e, NULL, value));
            if (reads_back[f] != SL_FORMAT_COUNT)
                st = sl_expr_parse(&back, &t->arena, reads_back[f], s.text, s.len, NULL, NULL);
            const bool good = !back || sl_expr_equal(back, want) || both_powers(t, back, want);
            if (!good) print_error("%s\n", s.text);
            sl_str_clear(&s);
            SL_CHECK(t, good, "%s reads back as something else: %s",
                     sl_expr_format_name((sl_format)f), text_with(e, NULL));
            judged += back != NULL;
        }
    }
    SL_CHECK(t, judged > 3 * trees, "only %d texts fit 64 bits", judged);
}

/* With all their digits numbers fit less often, but then the values are the same to rounding. */
static void texts_with_all_digits_have_the_same_values(void **state) {
    sl_fixture *t = *state;
    int judged = 0;
    const int trees = sl_test_iters(t, 3000);
    for (int i = 0; i < trees; i++) {
        double value[PARS], x[VARS], a, b;
        const double *columns[VARS] = { &x[0], &x[1] };
        sl_arena_rewind(&t->arena, 0);
        for (int k = 0; k < PARS; k++)
            value[k] = sl_rng_range(&t->rng, 0.1, 5) * (pick(&t->rng, 2) ? 1 : -1);
        for (int k = 0; k < VARS; k++) x[k] = sl_rng_range(&t->rng, -2, 2);
        const sl_node *e = random_tree(&t->arena, &t->rng, 1 + i % 3), *back;
        long double wide_x[VARS], wide[PARS], v, bound;
        for (int k = 0; k < VARS; k++) wide_x[k] = x[k];
        for (int k = 0; k < PARS; k++) wide[k] = value[k];
        sl_expr_eval_ref(&v, &bound, e, wide_x, wide, 0x1p-53L);
        for (int k = 0; k < PARS; k++) { // the number that is read may be an ulp off
            long double moved, ignored, old = wide[k];
            wide[k] *= 1 + 0x1p-51L;
            sl_expr_eval_ref(&moved, &ignored, e, wide_x, wide, 0x1p-53L);
            bound += fabsl(moved - v);
            wide[k] = old;
        }

        const sl_format f = (sl_format[]){ SL_FORMAT_INFIX, SL_FORMAT_PYTHON, SL_FORMAT_SYMPY,
                                           SL_FORMAT_C, SL_FORMAT_LATEX }[i % 5];
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_print_values(&s, f, e, NULL, value));
        sl_status st = sl_expr_parse(&back, &t->arena, reads_back[f], s.text, s.len, NULL, NULL);
        if (st == SL_EFORMAT) print_error("%s\n", s.text);
        sl_str_clear(&s);
        if (st == SL_EOVERFLOW || !isfinite((double)bound)) continue;
        SL_MUST(t, st);
        SL_MUST(t, sl_expr_eval(&a, &t->arena, e, columns, 1, value));
        SL_MUST(t, sl_expr_eval(&b, &t->arena, back, columns, 1, NULL));
        SL_CHECK(t, !(fabs(a - b) > 4 * (double)bound), "%.17g is not %.17g: %s", b, a,
                 text_with(e, value));
        judged += isfinite(a);
    }
    SL_CHECK(t, judged > trees / 4, "judged only %d", judged);
}

/* Prefix text has no decimals, but a number beyond 64 bits has no other form. */
static void numbers_beyond_64_bits_are_written(void **state) {
    sl_fixture *t = *state;
    const sl_node *c = sl_expr_par(&t->arena, 1);
    const double values[] = { 1.2345678901234567e-300, -1e22, 5e-324 };
    for (int i = 0; i < SL_LEN(values); i++) {
        sl_str s = { 0 };
        SL_MUST(t, sl_expr_print_values(&s, SL_FORMAT_PREFIX, c, NULL, &values[i]));
        double back = strtod(s.text, NULL);
        sl_str_clear(&s);
        SL_CHECK(t, back == values[i], "%g is written as %g", values[i], back);
    }
}

/* ---------------------------------------------------------------- the rest ------------------ */

static sl_status print_once(sl_format f, const sl_node *e, const double *value) {
    sl_str s = { 0 };
    sl_status st = sl_expr_print_values(&s, f, e, NULL, value);
    sl_str_clear(&s);
    return st;
}

static void printing_survives_failing_allocations(void **state) {
    sl_fixture *t = *state;
    const double value[PARS] = { -1.5e-7, 2, -0.30000000000000004, 1e300 };
    const sl_node *e = random_tree(&t->arena, &t->rng, 6);
    for (int f = 0; f < SL_FORMAT_COUNT; f++)
        SL_EACH_ALLOCATION(t, print_once((sl_format)f, e, value));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(values_print_as_expected),
        SL_TEST(values_read_back_as_the_numbers_they_are),
        SL_TEST(texts_with_all_digits_have_the_same_values),
        SL_TEST(numbers_beyond_64_bits_are_written),
        SL_TEST(printing_survives_failing_allocations),
    };
    return sl_test_main("expr.values", tests, SL_LEN(tests));
}
