/* Formulas written shorter. */
#include "search_check.h"

static planted table;

static const char *print(sl_fixture *t, const sl_node *e, const double *value) {
    static char copy[512];
    sl_str text = { 0 };
    SL_MUST(t, sl_expr_print_values(&text, SL_FORMAT_INFIX, e, NULL, value));
    sl_snprintf(copy, sizeof copy, "%s", sl_str_text(&text));
    sl_str_clear(&text);
    return copy;
}

static const sl_node *parse(sl_fixture *t, const char *text) {
    const sl_node *e;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    return e;
}

static void formulas_are_written_shorter(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "x2*(1 + x1/x2)", "x1 + x2" },
        { "x1*(x2/x3)^(-1)", "x1*x3/x2" },
        { "sqrt((x1 + x2)^2)*x3", "x3*(x1 + x2)" },
        { "x2*sqrt(5 + x1/x3)*sqrt(5 - x1/x3)", "x2*sqrt(25 - x1^2/x3^2)" },
        { "sqrt(x1)*sqrt(1 + x2/x1)*x3^1.37", "sqrt(x1 + x2)*x3^1.37" },
    };
    plant(&table, t, "x1", 3, 20, 1, 3);
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *e = parse(t, cases[i][0]), *want = parse(t, cases[i][1]), *out;
        double a[20], b[20];
        SL_MUST(t, sl_search__simplify(&out, &t->arena, e, NULL, &table.problem));
        SL_CHECK(t, sl_expr_nodes(out) <= sl_expr_nodes(want), "%s stays %s", cases[i][0],
                 print(t, out, NULL));
        SL_MUST(t, sl_expr_eval(a, &t->arena, e, table.column, 20, NULL));
        SL_MUST(t, sl_expr_eval(b, &t->arena, out, table.column, 20, NULL));
        for (int k = 0; k < 20; k++)
            SL_CHECK(t, fabs(a[k] - b[k]) <= 1e-13 * fabs(a[k]), "%s is no %s", print(t, out, NULL),
                     cases[i][0]);
    }
}

static void powers_of_exponentials_are_exponentials(void **state) {
    sl_fixture *t = *state;
    static const char *const cases[][2] = {
        { "x2/sqrt(exp(x1^2))", "x2*exp(-x1^2/2)" },
        { "sin(exp(x1)^3) + x2", "x2 + sin(exp(3*x1))" },
        { "sqrt(x2^2*exp(-x1))", "x2*exp(-x1/2)" },
    };
    plant(&table, t, "x1", 2, 20, 1, 3);
    for (int i = 0; i < SL_LEN(cases); i++) {
        const sl_node *out;
        SL_MUST(t,
                sl_search__simplify(&out, &t->arena, parse(t, cases[i][0]), NULL, &table.problem));
        assert_string_equal(print(t, out, NULL), cases[i][1]);
    }
}

/* Roots of squares keep their sign where the rows have both. */
static void signs_are_kept(void **state) {
    sl_fixture *t = *state;
    const sl_node *e = parse(t, "sqrt((x1 + x2)^2)*x3"), *out;
    double a[20], b[20];
    plant(&table, t, "x1", 3, 20, -3, 3);
    SL_MUST(t, sl_search__simplify(&out, &t->arena, e, NULL, &table.problem));
    SL_MUST(t, sl_expr_eval(a, &t->arena, e, table.column, 20, NULL));
    SL_MUST(t, sl_expr_eval(b, &t->arena, out, table.column, 20, NULL));
    for (int k = 0; k < 20; k++)
        SL_CHECK(t, fabs(a[k] - b[k]) <= 1e-13 * fabs(a[k]), "%s", print(t, out, NULL));
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(formulas_are_written_shorter),
        SL_TEST(powers_of_exponentials_are_exponentials),
        SL_TEST(signs_are_kept),
    };
    return sl_test_main("search.write", tests, SL_LEN(tests));
}
