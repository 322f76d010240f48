/* snap - constants that are exact numbers.
 *
 * A constant that was fitted to exact data is right to ten digits or more. If so many of them agree
 * with a simple number, p/q, its root, or one of these times a power of pi, then it is that number
 * with near certainty: there are about a hundred thousand candidates. The formula is held against
 * all rows afterwards in any case. */
#include <math.h>
#include <string.h>

#include "search/search_impl.h"

/* Tried in this order: power of pi in halves; is the fraction under a root; largest numerator and
 * denominator. */
static const struct shape {
    int8_t pi_halves;
    bool root;
    int numerator, denominator;
} shapes[] = {
    { 0, false, 4096, 64 }, { 2, false, 128, 64 }, { -2, false, 128, 64 }, { 4, false, 64, 64 },
    { -4, false, 64, 64 },  { 0, true, 64, 32 },   { 1, false, 64, 32 },   { -1, false, 64, 32 },
    { -1, true, 64, 32 },   { 1, true, 64, 32 },   { 2, true, 64, 32 },    { -2, true, 64, 32 },
    { 6, false, 32, 64 },   { -6, false, 32, 64 },
};

static const double CLOSE = 1e-9; // relative

enum { OPERANDS_MAX = 256 }; // of a sum that a method writes

static bool near_fraction(sl_rat *out, double x, const struct shape *s) {
    for (int d = 1; d <= s->denominator; d++) {
        double n = nearbyint(x * d);
        if (fabs(n) > s->numerator) return false;
        if (n != 0 && fabs(x * d - n) <= CLOSE * fabs(n)) return sl_rat_make(out, (int64_t)n, d);
    }
    return false;
}

/* p/q times the shape's root and power of pi. */
static const sl_node *write_number(sl_arena *a, sl_rat number, const struct shape *s,
                                   bool negative) {
    const sl_node *factor[3];
    int n = 0;
    factor[n] = sl_expr_num(a, number);
    if (s->root && factor[n]) factor[n] = sl_expr_pow(a, factor[n], (sl_rat){ 1, 2 });
    if (!factor[n++]) return NULL;
    if (negative && !(factor[n++] = sl_expr_int(a, -1))) return NULL;
    if (s->pi_halves) {
        const sl_node *pi = sl_expr_pi(a);
        sl_rat power;
        if (!pi || !sl_rat_make(&power, s->pi_halves, 2)) return NULL;
        if (!(factor[n++] = sl_expr_pow(a, pi, power))) return NULL;
    }
    return n == 1 ? factor[0] : sl_expr_nary(a, SL_OP_MUL, factor, n);
}

/* *out := the exact number, NULL if there is none. */
static sl_status exact_number(const sl_node **out, sl_arena *a, double x) {
    *out = NULL;
    for (int i = 0; i < SL_LEN(shapes); i++) {
        const struct shape *s = &shapes[i];
        sl_rat number;
        double v = x;
        for (int h = s->pi_halves; h > 0; h--) v /= 1.7724538509055160; // sqrt(pi)
        for (int h = s->pi_halves; h < 0; h++) v *= 1.7724538509055160;
        bool negative = s->root && v < 0;
        if (s->root) v *= v;
        if (!near_fraction(&number, v, s)) continue;
        *out = write_number(a, number, s, negative);
        return *out ? SL_OK : sl_fail(SL_ENOMEM, "no memory for a formula");
    }
    return SL_OK;
}

/* e with constant k replaced by with[k] where that is not NULL, and numbered anew by number[k]
 * elsewhere. NULL without memory. */
static const sl_node *rebuild(sl_arena *a, const sl_node *e, const sl_node *const *with,
                              const int *number) {
    const sl_node *operand[OPERANDS_MAX];
    if (e->op == SL_OP_PAR)
        return with[e->arg - 1] ? with[e->arg - 1] : sl_expr_par(a, number[e->arg - 1]);
    if (e->op == SL_OP_NUM || e->len == 1) return sl_expr_copy(a, e);
    int n = e->arg;
    if (n > OPERANDS_MAX) return NULL;
    const sl_node *at = e + 1;
    for (int i = 0; i < n; i++, at = sl_next(at))
        if (!(operand[i] = rebuild(a, at, with, number))) return NULL;
    if (e->op == SL_OP_ADD || e->op == SL_OP_MUL) return sl_expr_nary(a, (sl_op)e->op, operand, n);
    if (e->op == SL_OP_POW || e->op == SL_OP_RAISE) return sl_expr_power(a, operand[0], operand[1]);
    return sl_expr_fn(a, (sl_op)e->op, operand[0]);
}

sl_status sl_search__snap(sl_snapped *out, sl_arena *a, const sl_node *e, const double *value,
                          int params, int which) {
    const sl_node *with[SL_FIT_MAX_PARAMS];
    int number[SL_FIT_MAX_PARAMS];
    *out = (sl_snapped){ .expr = e };
    for (int k = 0; k < params; k++) {
        with[k] = NULL;
        if (which < 0 || which == k) SL_TRY(exact_number(&with[k], a, value[k]));
        if (with[k])
            out->bound++;
        else
            out->value[out->params++] = value[k];
        number[k] = out->params;
    }
    if (out->bound == 0) return SL_OK;
    out->expr = rebuild(a, e, with, number);
    if (!out->expr) return sl_fail(SL_ENOMEM, "no memory for a formula");
    return sl_expr_tidy(&out->expr, a, out->expr);
}
