/* closure_atoms - the functions without free constants.
 *
 * sin and cos of one argument come together, because sin(u + b) is a combination of both; exp(u +
 * b) is a multiple of exp(u), and sqrt(k u) of sqrt(u). The square of an input comes with the
 * input, because (x + a)^2 needs both. An atom that is not real in every row is left out. */
#include <math.h>
#include <string.h>

#include "search/closure_impl.h"

static const double MODERATE = 1e15;

/* *part := the place of the expression among the parts, where it may be already; -1: it is not real
 * in every row. */
static sl_status add_part(int *part, sl_closure *c, const char *text) {
    SL_ASSERT(c->parts < SL_CLOSURE__PARTS);
    const sl_node *e;
    double *value = c->value[c->parts];
    *part = -1;
    SL_TRY(sl_expr_parse(&e, &c->arena, SL_FORMAT_INFIX, text, strlen(text), NULL, NULL));
    for (int i = 0; i < c->parts && *part < 0; i++)
        if (sl_expr_equal(c->expr[i], e)) *part = i;
    if (*part >= 0) return SL_OK;
    SL_TRY(sl_expr_eval(value, &c->arena, e, c->x, c->rows, NULL));
    for (int r = 0; r < c->rows; r++)
        if (!(fabs(value[r]) < MODERATE)) return SL_OK;
    c->expr[c->parts] = e;
    *part = c->parts++;
    return SL_OK;
}

/* An atom of one part or two. */
static sl_status add_atom(sl_closure *c, const char *first, const char *second) {
    sl_search__closure_atom a = { .parts = second ? 2 : 1, .curve = -1 };
    SL_ASSERT(c->atoms < SL_CLOSURE__ATOMS);
    SL_TRY(add_part(&a.part[0], c, first));
    if (second) SL_TRY(add_part(&a.part[1], c, second));
    if (a.part[0] >= 0 && a.part[1] >= 0) c->atom[c->atoms++] = a;
    return SL_OK;
}

/* The functions of an argument; down: also of its negative, where that is another function. */
static sl_status add_functions(sl_closure *c, const char *argument, bool down) {
    char first[96], second[96];
    sl_snprintf(first, sizeof first, "exp(%s)", argument);
    SL_TRY(add_atom(c, first, NULL));
    sl_snprintf(first, sizeof first, "exp(-(%s))", argument);
    if (down) SL_TRY(add_atom(c, first, NULL));
    sl_snprintf(first, sizeof first, "sin(%s)", argument);
    sl_snprintf(second, sizeof second, "cos(%s)", argument);
    SL_TRY(add_atom(c, first, second));
    sl_snprintf(first, sizeof first, "sqrt(%s)", argument);
    SL_TRY(add_atom(c, first, NULL));
    sl_snprintf(first, sizeof first, "sqrt(-(%s))", argument);
    return add_atom(c, first, NULL);
}

/* ---------------------------------------------------------------- the lists ----------------- */

static sl_status add_one_input(sl_closure *c, int v) {
    char name[16], square[16];
    sl_snprintf(name, sizeof name, "x%d", v);
    sl_snprintf(square, sizeof square, "x%d^2", v);
    SL_TRY(add_atom(c, name, NULL));
    SL_TRY(add_functions(c, name, false));
    return add_atom(c, square, name);
}

static sl_status add_two_inputs(sl_closure *c, int v, int w) {
    char first[32], second[32];
    sl_snprintf(first, sizeof first, "x%d", v);
    sl_snprintf(second, sizeof second, "x%d", w);
    SL_TRY(add_atom(c, first, second));
    sl_snprintf(first, sizeof first, "x%d*x%d", v, w);
    SL_TRY(add_atom(c, first, NULL));
    sl_snprintf(first, sizeof first, "x%d/x%d", v, w);
    SL_TRY(add_atom(c, first, NULL));
    sl_snprintf(first, sizeof first, "x%d/x%d", w, v);
    return add_atom(c, first, NULL);
}

static sl_status make_simple(sl_closure *c) {
    c->simple.begin = c->atoms;
    c->atom[c->atoms++] = (sl_search__closure_atom){ .curve = -1 };
    for (int v = 1; v <= c->variables; v++) SL_TRY(add_one_input(c, v));
    if (c->variables == 2) SL_TRY(add_two_inputs(c, 1, 2));
    const int before = c->atoms;
    for (int v = 1; v <= c->variables; v++) {
        char text[16];
        sl_snprintf(text, sizeof text, "exp(-x%d)", v);
        SL_TRY(add_atom(c, text, NULL));
    }
    c->falling = c->atoms - before;
    c->simple.end = c->atoms;
    return SL_OK;
}

static sl_status make_nested(sl_closure *c) {
    static const char *const one[] = { "x%d^2", "exp(x%d)", "sin(x%d)", "sqrt(x%d)", "1/x%d" };
    static const char *const two[] = { "x%d*x%d", "x%d/x%d", "x%d+x%d", "x%d-x%d" };
    char argument[48];
    c->nested.begin = c->atoms;
    for (int v = 1; v <= c->variables; v++) {
        for (int i = 0; i < SL_LEN(one) && c->variables < 3; i++) {
            sl_snprintf(argument, sizeof argument, one[i], v);
            SL_TRY(add_functions(c, argument, true));
        }
        sl_snprintf(argument, sizeof argument, "exp(-x%d)", v);
        SL_TRY(add_atom(c, argument, NULL));
    }
    for (int v = 1; v <= c->variables; v++)
        for (int w = 1; w <= c->variables; w++)
            for (int i = 0; i < SL_LEN(two); i++) {
                if (v == w || (w < v && i != 1)) continue;
                sl_snprintf(argument, sizeof argument, two[i], v, w);
                SL_TRY(add_functions(c, argument, true));
            }
    c->nested.end = c->atoms;
    return SL_OK;
}

sl_status sl_search__closure_make_atoms(sl_closure *c) {
    SL_TRY(make_simple(c));
    return make_nested(c);
}
