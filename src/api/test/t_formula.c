/* The public calls about one formula, as a program outside sees them. */
#include <math.h>
#include <string.h>

#include "api/api_impl.h"
#include "fixture/fixture.h"

static symlaw_formula *parsed(sl_fixture *t, const char *text) {
    symlaw_formula *f = NULL;
    SL_MUST(t, symlaw_formula_parse(&f, text, NULL, NULL, 0));
    return f;
}

static void check_print(sl_fixture *t, const symlaw_formula *f, const char *format,
                        const char *expected) {
    char *text = NULL;
    SL_MUST(t, symlaw_formula_print(&text, f, format));
    SL_CHECK(t, strcmp(text, expected) == 0, "%s is %s, not %s", format, text, expected);
    symlaw_string_free(text);
}

static void text_goes_in_and_comes_out(void **state) {
    sl_fixture *t = *state;
    static const char *const formats[] = { "infix", "python", "sympy", "latex", "c", "prefix" };
    symlaw_formula *f = parsed(t, "x1*sin(x2) - sqrt(x1)/3");
    assert_int_equal(symlaw_formula_variables(f), 2);
    assert_true(symlaw_formula_nodes(f) > 5);
    for (int i = 0; i < SL_LEN(formats); i++) {
        char *text = NULL;
        symlaw_formula *g = NULL;
        symlaw_truth same;
        SL_MUST(t, symlaw_formula_print(&text, f, formats[i]));
        bool plain = strcmp(formats[i], "latex") != 0 && strcmp(formats[i], "prefix") != 0;
        SL_MUST(t, symlaw_formula_parse(&g, text, plain ? "infix" : formats[i], NULL, 0));
        SL_MUST(t, symlaw_formula_same(&same, f, g));
        SL_CHECK(t, symlaw_yes(same), "%s: %s is another function", formats[i], text);
        symlaw_formula_free(g);
        symlaw_string_free(text);
    }
    symlaw_formula_free(f);
}

static void names_stay_with_the_formula(void **state) {
    sl_fixture *t = *state;
    char mass[] = "mass";
    const char *names[] = { mass, "v" };
    symlaw_formula *f = NULL, *c = NULL, *g = NULL;
    SL_MUST(t, symlaw_formula_parse(&f, "mass*v + mass*v", "infix", names, 2));
    mass[0] = '?'; // the caller's names may go
    SL_MUST(t, symlaw_formula_canon(&c, f));
    symlaw_formula_free(f);
    check_print(t, c, "infix", "2*mass*v");
    assert_int_equal(symlaw_formula_parse(&g, "mass + x3", "infix", names, 2), SL_EFORMAT);
    assert_int_equal(symlaw_formula_parse(&g, "x3", "infix", NULL, 2), SL_EFORMAT);
    SL_MUST(t, symlaw_formula_parse(&g, "x2", "infix", NULL, 2));
    symlaw_formula_free(g);
    symlaw_formula_free(c);
}

static void a_mistake_has_its_place(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = NULL;
    assert_int_equal(symlaw_formula_parse(&f, "x1 + * x2", NULL, NULL, 0), SL_EFORMAT);
    SL_CHECK(t, strstr(sl_last_error(), "column 6"), "no place: %s", sl_last_error());
    assert_null(f);
}

/* Text of any size is answered soon, and without using the stack up. */
static void a_million_brackets_are_refused(void **state) {
    sl_fixture *t = *state;
    size_t n = 1000000;
    char *text = sl_malloc(n + 1, 1);
    assert_non_null(text);
    text[n] = '\0';
    const char *formats[] = { "infix", "latex", "prefix" };
    const char fill[] = { '(', '{', '-' };
    for (int i = 0; i < 3; i++) {
        symlaw_formula *f = NULL;
        memset(text, fill[i], n);
        sl_status st = symlaw_formula_parse(&f, text, formats[i], NULL, 0);
        SL_CHECK(t, st == SL_ELIMIT || st == SL_EFORMAT, "%s: %s", formats[i], sl_status_text(st));
        assert_null(f);
    }
    sl_free(text);
}

static void same_answers_three_ways(void **state) {
    sl_fixture *t = *state;
    static const struct {
        const char *a, *b;
        int answer;
    } cases[] = {
        { "x1 + x2", "x2 + x1", 1 },
        { "exp(x1)*exp(x2)", "exp(x1 + x2)", 1 },
        { "sqrt(x1^2)", "x1", -1 },
        { "x1", "x2", -1 },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        symlaw_formula *a = parsed(t, cases[i].a), *b = parsed(t, cases[i].b);
        symlaw_truth same = { 7 };
        SL_MUST(t, symlaw_formula_same(&same, a, b));
        SL_CHECK(t, same.answer == cases[i].answer, "%s and %s: %d", cases[i].a, cases[i].b,
                 same.answer);
        symlaw_formula_free(a);
        symlaw_formula_free(b);
    }
}

static void values_are_right_and_nan_where_not_real(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = parsed(t, "sqrt(x1)/x2");
    const double x1[] = { 4, -1, 9 }, x2[] = { 2, 1, 0 }, *x[] = { x1, x2 };
    double y[3] = { 0 };
    SL_MUST(t, symlaw_formula_eval(y, f, x, 2, 3));
    assert_true(y[0] == 1.0);
    assert_true(isnan(y[1]));
    assert_true(isnan(y[2]));
    SL_MUST(t, symlaw_formula_eval(NULL, f, x, 2, 0)); // no rows, nothing to do
    assert_int_equal(symlaw_formula_eval(y, f, x, 1, 3), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "x2"), "does not say what is missing: %s", sl_last_error());
    symlaw_formula_free(f);

    f = parsed(t, "c1*x1");
    assert_int_equal(symlaw_formula_eval(y, f, x, 2, 3), SL_EINVAL);
    symlaw_formula_free(f);
}

static void wrong_arguments_are_answered(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = parsed(t, "x1"), *g = NULL;
    const char *names[] = { "a", NULL };
    const double *x[] = { NULL };
    char *text = NULL;
    double y;
    symlaw_truth same;
    assert_int_equal(symlaw_formula_parse(NULL, "x1", NULL, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_parse(&g, NULL, NULL, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_parse(&g, "x1", "latx", NULL, 0), SL_EINVAL);
    SL_CHECK(t, strstr(sl_last_error(), "did you mean latex"), "%s", sl_last_error());
    assert_int_equal(symlaw_formula_parse(&g, "x1", "mathml", NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_parse(&g, "x1", NULL, names, 2), SL_EINVAL);
    assert_int_equal(symlaw_formula_parse(&g, "x1", NULL, names, -1), SL_EINVAL);
    assert_int_equal(symlaw_formula_parse(&g, "x1", NULL, NULL, 65), SL_EINVAL);
    assert_int_equal(symlaw_formula_print(NULL, f, NULL), SL_EINVAL);
    assert_int_equal(symlaw_formula_print(&text, NULL, NULL), SL_EINVAL);
    assert_int_equal(symlaw_formula_print(&text, f, "html"), SL_EINVAL);
    assert_int_equal(symlaw_formula_canon(NULL, f), SL_EINVAL);
    assert_int_equal(symlaw_formula_canon(&g, NULL), SL_EINVAL);
    assert_int_equal(symlaw_formula_derivative(NULL, f, 1), SL_EINVAL);
    assert_int_equal(symlaw_formula_derivative(&g, NULL, 1), SL_EINVAL);
    assert_int_equal(symlaw_formula_derivative(&g, f, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_derivative(&g, f, 65), SL_EINVAL);
    assert_int_equal(symlaw_formula_same(NULL, f, f), SL_EINVAL);
    assert_int_equal(symlaw_formula_same(&same, f, NULL), SL_EINVAL);
    assert_int_equal(symlaw_formula_eval(&y, NULL, NULL, 0, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_eval(&y, f, NULL, 1, 1), SL_EINVAL);
    assert_int_equal(symlaw_formula_eval(&y, f, x, 1, 1), SL_EINVAL);
    assert_int_equal(symlaw_formula_eval(&y, f, x, 1, -1), SL_EINVAL);
    assert_int_equal(symlaw_formula_eval(NULL, f, x, 1, 1), SL_EINVAL);
    assert_int_equal(symlaw_formula_nodes(NULL), 0);
    assert_int_equal(symlaw_formula_variables(NULL), 0);
    symlaw_formula_free(NULL);
    symlaw_string_free(NULL);
    symlaw_formula_free(f);
}

static sl_status all_of_it(void) {
    const char *names[] = { "a", "b" };
    symlaw_formula *f = NULL, *c = NULL, *d = NULL;
    char *text = NULL;
    symlaw_truth same;
    sl_status st;
    SL_GO(symlaw_formula_parse(&f, "(a + b)^2 - sqrt(b)", NULL, names, 2));
    SL_GO(symlaw_formula_canon(&c, f));
    SL_GO(symlaw_formula_print(&text, c, "latex"));
    SL_GO(symlaw_formula_same(&same, f, c));
    SL_GO(symlaw_formula_derivative(&d, f, 2));
done:
    symlaw_formula_free(d);
    symlaw_string_free(text);
    symlaw_formula_free(c);
    symlaw_formula_free(f);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, all_of_it());
}

/* ---------------------------------------------------------------- fitted constants ---------- */

/* A formula of text in which c1, c2, ... have values. */
static symlaw_formula *fitted(sl_fixture *t, const char *text, const double *value, int n) {
    const sl_node *e = NULL;
    symlaw_formula *f = NULL;
    SL_MUST(t, sl_expr_parse(&e, &t->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    SL_MUST(t, sl_api__formula_fitted(&f, e, value, n, &(sl_names){ 0 }));
    return f;
}

static void constants_are_printed_and_computed_with(void **state) {
    sl_fixture *t = *state;
    double value[] = { 0.1, -2.5 };
    symlaw_formula *f = fitted(t, "c1*x1 + c2", value, 2);
    value[0] = 99; // the caller's may go
    check_print(t, f, "infix", "0.1*x1 - 2.5");
    check_print(t, f, "python", "0.1*x1 - 2.5");
    const double x[] = { 1, 30 }, *columns[] = { x };
    double y[2];
    SL_MUST(t, symlaw_formula_eval(y, f, columns, 1, 2));
    assert_true(y[0] == 0.1 - 2.5 && y[1] == 0.1 * 30 - 2.5);
    assert_int_equal(symlaw_formula_nodes(f), 5);
    symlaw_formula_free(f);

    // one that is not among the values has none
    f = fitted(t, "c1*x1 + c3", value, 2);
    assert_int_equal(symlaw_formula_eval(y, f, columns, 1, 2), SL_EINVAL);
    symlaw_formula_free(f);
}

static void canonical_forms_keep_constants(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = fitted(t, "(x1 + x2)*c1", (double[]){ 1.5 }, 1), *c = NULL;
    const double x1[] = { 2 }, x2[] = { 5 }, *columns[] = { x1, x2 };
    double y;
    SL_MUST(t, symlaw_formula_canon(&c, f));
    symlaw_formula_free(f);
    SL_MUST(t, symlaw_formula_eval(&y, c, columns, 2, 1));
    assert_true(y == 10.5);
    symlaw_formula_free(c);
}

static void derivatives_keep_constants(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = fitted(t, "c1*x1^2*x2", (double[]){ 1.5 }, 1), *d = NULL;
    const double x1[] = { 2 }, x2[] = { 5 }, *columns[] = { x1, x2 };
    double y;
    char *text = NULL;
    SL_MUST(t, symlaw_formula_derivative(&d, f, 1));
    symlaw_formula_free(f);
    SL_MUST(t, symlaw_formula_eval(&y, d, columns, 2, 1));
    assert_true(y == 30);
    SL_MUST(t, symlaw_formula_print(&text, d, "numpy"));
    assert_string_equal(text, "2*1.5*x1*x2");
    symlaw_string_free(text);
    symlaw_formula_free(d);
}

static void check_same(sl_fixture *t, const symlaw_formula *a, const symlaw_formula *b,
                       symlaw_truth expected) {
    symlaw_truth same;
    SL_MUST(t, symlaw_formula_same(&same, a, b));
    assert_int_equal(same.answer, expected.answer);
    SL_MUST(t, symlaw_formula_same(&same, b, a));
    assert_int_equal(same.answer, expected.answer);
}

static void constants_count_as_their_decimals(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = fitted(t, "c1*x1 + c2", (double[]){ 0.1, -2.5 }, 2);
    symlaw_formula *exact = parsed(t, "(x1 - 25)/10"), *other = parsed(t, "(x1 - 26)/10");
    check_same(t, f, exact, (symlaw_truth){ 1 });
    check_same(t, f, other, (symlaw_truth){ -1 });
    check_same(t, f, f, (symlaw_truth){ 1 });
    symlaw_formula_free(other);
    symlaw_formula_free(exact);

    // beyond 64-bit rationals: what is not the same text is not known
    symlaw_formula *tiny = fitted(t, "c1*x1", (double[]){ 1e-40 }, 1);
    symlaw_formula *again = fitted(t, "c1*x1", (double[]){ 1e-40 }, 1);
    symlaw_formula *double_ = fitted(t, "c1*x1", (double[]){ 2e-40 }, 1);
    check_same(t, tiny, again, (symlaw_truth){ 1 });
    check_same(t, tiny, double_, (symlaw_truth){ 0 });
    check_same(t, tiny, f, (symlaw_truth){ 0 });
    symlaw_formula_free(double_);
    symlaw_formula_free(again);
    symlaw_formula_free(tiny);
    symlaw_formula_free(f);
}

static sl_status constants_once(const symlaw_formula *f) {
    symlaw_formula *copy = NULL, *c = NULL;
    symlaw_truth same;
    char *text = NULL;
    sl_status st;
    SL_GO(sl_api__formula_fitted(&copy, f->e, f->value, f->params,
                                 &(sl_names){ (const char *const[]){ "mass" }, 1 }));
    SL_GO(symlaw_formula_canon(&c, copy));
    SL_GO(symlaw_formula_same(&same, c, copy));
    SL_GO(symlaw_formula_print(&text, c, "latex"));
done:
    symlaw_string_free(text);
    symlaw_formula_free(c);
    symlaw_formula_free(copy);
    return st;
}

static void constants_may_lack_memory(void **state) {
    sl_fixture *t = *state;
    symlaw_formula *f = fitted(t, "c1*x1 + c2", (double[]){ 0.1, -2.5 }, 2);
    SL_EACH_ALLOCATION(t, constants_once(f));
    symlaw_formula_free(f);
}

/* Text with free constants and the values beside it are the formula. */
static void a_stored_formula_is_the_same(void **state) {
    sl_fixture *t = *state;
    static const char *const names[] = { "c1", "a b" }, *const plain[] = { "x1", "x2" };
    const double value[] = { 1e-30, -0.1, 2.718281828459045e200 };
    symlaw_formula *f = fitted(t, "c1*x1^(3/2) + exp(c2*x2) - x1/(c3 + x2)/3", value, 3);
    symlaw_formula *named = NULL, *free_one = NULL, *read = NULL, *again = NULL;
    char *text = NULL;
    assert_int_equal(symlaw_formula_constants(f), 3);
    assert_true(symlaw_formula_constant(f, 1) == -0.1);
    assert_true(isnan(symlaw_formula_constant(f, 3)) && isnan(symlaw_formula_constant(f, -1)));
    SL_MUST(t, symlaw_formula_bind(&named, f, value, 3, names, 2));
    SL_MUST(t, symlaw_formula_bind(&free_one, named, NULL, 0, plain, 2));
    assert_int_equal(symlaw_formula_constants(free_one), 3);
    assert_true(isnan(symlaw_formula_constant(free_one, 0)));
    SL_MUST(t, symlaw_formula_print(&text, free_one, "prefix"));
    assert_null(strstr(text, "1e-30"));
    SL_MUST(t, symlaw_formula_parse(&read, text, "prefix", NULL, 0));
    SL_MUST(t, symlaw_formula_bind(&again, read, value, 3, names, 2));

    const double x1[] = { 0.7, 3e150 }, x2[] = { -2, 1.25 }, *columns[] = { x1, x2 };
    double y[2], z[2];
    SL_MUST(t, symlaw_formula_eval(y, f, columns, 2, 2));
    SL_MUST(t, symlaw_formula_eval(z, again, columns, 2, 2));
    assert_memory_equal(y, z, sizeof y);
    char *first = NULL;
    SL_MUST(t, symlaw_formula_print(&first, named, "infix"));
    check_print(t, again, "infix", first);
    assert_non_null(strstr(first, "`a b`"));

    // what cannot be bound
    symlaw_formula *none = NULL;
    assert_int_equal(symlaw_formula_bind(NULL, f, value, 3, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_bind(&none, NULL, value, 3, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_bind(&none, f, value, 2, NULL, 0), SL_EINVAL);
    assert_int_equal(symlaw_formula_bind(&none, f, value, 3, names, 1), SL_EINVAL);
    assert_int_equal(symlaw_formula_bind(&none, f, (double[]){ 1, NAN, 2 }, 3, NULL, 0), SL_EINVAL);
    assert_null(none);
    symlaw_string_free(first);
    symlaw_string_free(text);
    symlaw_formula_free(f);
    symlaw_formula_free(named);
    symlaw_formula_free(free_one);
    symlaw_formula_free(read);
    symlaw_formula_free(again);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(text_goes_in_and_comes_out),
        SL_TEST(names_stay_with_the_formula),
        SL_TEST(a_mistake_has_its_place),
        SL_TEST(a_million_brackets_are_refused),
        SL_TEST(same_answers_three_ways),
        SL_TEST(values_are_right_and_nan_where_not_real),
        SL_TEST(wrong_arguments_are_answered),
        SL_TEST(lack_of_memory_is_reported),
        SL_TEST(constants_are_printed_and_computed_with),
        SL_TEST(canonical_forms_keep_constants),
        SL_TEST(derivatives_keep_constants),
        SL_TEST(constants_count_as_their_decimals),
        SL_TEST(constants_may_lack_memory),
        SL_TEST(a_stored_formula_is_the_same),
    };
    return sl_test_main("api.formula", tests, SL_LEN(tests));
}
