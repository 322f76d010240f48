/* exact - numbers that constants may be: fractions and their roots, alone or times a power of pi.
 *
 * The cost of a number is its sl_fit_price as an expression. A random constant is rarely close to a
 * number of fewer bits than its own digits, so one that is close is tried. Exact data verify it in
 * every row; then numbers of any cost are tried. */
#include <math.h>
#include <string.h>

#include "fit/fit_impl.h"

/* fraction * pi^(halves/2), or the root of the fraction; with the largest numerator and denominator
 * that are tried. */
static const struct shape {
    int8_t halves;
    bool root;
    int numerator, denominator;
    double pi; // its value
} shapes[SL_FIT__SHAPES] = {
    { 0, false, 4096, 64, 1 },
    { 2, false, 128, 64, 3.14159265358979323846 },
    { -2, false, 128, 64, 0.31830988618379067154 },
    { 4, false, 100, 64, 9.86960440108935861883 },
    { -4, false, 100, 64, 0.10132118364233777144 },
    { 0, true, 200, 64, 1 },
    { 1, false, 100, 32, 1.77245385090551602730 },
    { -1, false, 100, 32, 0.56418958354775628695 },
    { 1, true, 100, 32, 1.77245385090551602730 },
    { -1, true, 100, 32, 0.56418958354775628695 },
    { 2, true, 64, 32, 3.14159265358979323846 },
    { -2, true, 64, 32, 0.31830988618379067154 },
    { 6, false, 32, 64, 31.0062766802998201755 },
    { -6, false, 32, 64, 0.03225153443319949918 },
};

/* ---------------------------------------------------------------- one number ---------------- */

double sl_fit__exact_value(sl_fit__exact x) {
    const double times = sl_expr_rat_double(x.times);
    const double part = shapes[x.shape].root ? copysign(sqrt(fabs(times)), times) : times;
    return part * shapes[x.shape].pi;
}

/* pi^n; NULL without memory. */
static const sl_node *power_of_pi(sl_arena *a, sl_rat n) {
    const sl_node *pi = sl_expr_pi(a);
    return pi ? sl_expr_pow(a, pi, n) : NULL;
}

/* The root of a positive fraction and pi^(halves/2): one root where both are under it. */
static const sl_node *write_root(sl_arena *a, sl_rat times, int halves) {
    const bool both = halves % 2 != 0, below = halves < 0;
    sl_rat half = { below && both ? -1 : 1, 2 };
    if (below && both) times = (sl_rat){ times.den, times.num };
    const sl_node *part[2] = { sl_expr_num(a, times), NULL };
    if (!part[0]) return NULL;
    if (both) {
        part[1] = sl_expr_pi(a);
        part[0] = part[1] ? sl_expr_nary(a, SL_OP_MUL, part, 2) : NULL;
        return part[0] ? sl_expr_pow(a, part[0], half) : NULL;
    }
    part[0] = sl_expr_pow(a, part[0], half);
    if (halves == 0 || !part[0]) return part[0];
    part[1] = power_of_pi(a, SL_RAT(halves / 2));
    return part[1] ? sl_expr_nary(a, SL_OP_MUL, part, 2) : NULL;
}

const sl_node *sl_fit__exact_expr(sl_arena *a, sl_fit__exact x) {
    const struct shape *s = &shapes[x.shape];
    const sl_node *part[2];
    sl_rat halves, times = x.times;
    if (s->root) {
        const bool negative = times.num < 0;
        if (negative) times.num = -times.num;
        part[0] = write_root(a, times, s->halves);
        if (!negative || !part[0]) return part[0];
        part[1] = sl_expr_int(a, -1);
    } else {
        part[0] = sl_expr_num(a, times);
        if (s->halves == 0 || !part[0] || !sl_expr_rat_make(&halves, s->halves, 2)) return part[0];
        part[1] = power_of_pi(a, halves);
    }
    return part[1] ? sl_expr_nary(a, SL_OP_MUL, part, 2) : NULL;
}

/* Structure and numbers of it, tidy. */
static sl_status bits_of(double *bits, sl_arena *scratch, sl_fit__exact x) {
    const size_t mark = sl_arena_mark(scratch);
    const sl_node *e = sl_fit__exact_expr(scratch, x), *tidy;
    if (!e) return sl_fail(SL_ENOMEM, "no memory for an exact number");
    SL_TRY(sl_expr_tidy(&tidy, scratch, e));
    sl_bits b;
    sl_fit_price(&b, tidy, NULL, NULL, 1, 1);
    *bits = b.total;
    sl_arena_rewind(scratch, mark);
    return SL_OK;
}

/* ---------------------------------------------------------------- the nearest --------------- */

/* The number of that shape with the smallest denominator within the tolerance of v. */
static bool near_shape(sl_fit__exact *out, int k, double v, double tolerance) {
    const struct shape *s = &shapes[k];
    double part = v / s->pi;
    if (s->root) part *= fabs(part);
    out->shape = k;
    for (int den = 1; den <= s->denominator; den++) {
        const double num = rint(part * den);
        if (fabs(num) > s->numerator) return false;
        if (num == 0 || !sl_expr_rat_make(&out->times, (int64_t)num, den)) continue;
        if (fabs(v - sl_fit__exact_value(*out)) <= tolerance) return true;
    }
    return false;
}

sl_status sl_fit__near_exact(bool *found, sl_fit__exact *out, sl_arena *scratch, double v,
                             double tolerance, int first, double bits_most) {
    double least = bits_most;
    *found = false;
    for (int k = first; k < SL_LEN(shapes); k++) {
        sl_fit__exact x;
        double bits;
        if (!near_shape(&x, k, v, tolerance)) continue;
        SL_TRY(bits_of(&bits, scratch, x));
        if (!(bits < least)) continue;
        *found = true;
        *out = x;
        least = bits;
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- in a formula -------------- */

/* *out := e with that expression for constant k, the others unchanged: the constant is bound to an
 * unused variable, which is then substituted. */
static sl_status put_expr(const sl_node **out, sl_arena *a, const sl_node *e, int k,
                          const sl_node *with) {
    const sl_node *by[SL_EXPR_MAX_VARS] = { [SL_EXPR_MAX_VARS - 1] = with };
    sl_node *copy = sl_arena_alloc(a, e->len * sizeof *copy);
    if (!copy) return sl_fail_memory(e->len, sizeof *copy, "a formula");
    memcpy(copy, e, e->len * sizeof *copy);
    for (sl_node *c = copy; c < copy + e->len; c += sl_expr_step(c))
        if (c->op == SL_OP_PAR && c->arg == k + 1) {
            c->op = SL_OP_VAR;
            c->arg = SL_EXPR_MAX_VARS;
        }
    return sl_expr_substitute(out, a, copy, by, SL_EXPR_MAX_VARS);
}

sl_status sl_fit__put_exact(const sl_node **out, double *value, int *n, sl_arena *a,
                            const sl_node *e, int k, sl_fit__exact v) {
    sl_rat exact[SL_FIT_MAX_PARAMS] = { { 0 } };
    bool known[SL_FIT_MAX_PARAMS] = { false }, found = true;
    exact[k] = v.times;
    known[k] = true;
    if (v.shape != 0) {
        const sl_node *number = sl_fit__exact_expr(a, v);
        if (!number) return sl_fail(SL_ENOMEM, "no memory for an exact number");
        SL_TRY(put_expr(&e, a, e, k, number));
    }
    for (; found; e = *out) { // repeated while the numbering of constants has gaps
        SL_TRY(sl_expr_bind(out, a, e, exact, known));
        SL_TRY(sl_expr_fold(out, a, *out));
        int left = 0;
        for (int i = 0; i < *n; i++)
            if (!known[i]) value[left++] = value[i];
        *n = left;
        for (int i = 0; i < left; i++) {
            exact[i] = SL_RAT(0);
            known[i] = true;
        }
        for (const sl_node *c = *out; c < *out + (*out)->len; c += sl_expr_step(c))
            if (c->op == SL_OP_PAR) known[c->arg - 1] = false;
        found = false;
        for (int i = 0; i < left; i++) found = found || known[i];
    }
    return SL_OK;
}

/* Constant k, if it is close to a number. */
static sl_status bind_one(sl_fit_bound *b, sl_arena *a, int k, double tolerance) {
    sl_fit__exact x;
    bool found;
    const double v = b->value[k];
    SL_TRY(sl_fit__near_exact(&found, &x, a, v, tolerance * fabs(v), 0, INFINITY));
    if (!found) return SL_OK;
    const sl_fit_bound before = *b;
    const sl_status st = sl_fit__put_exact(&b->expr, b->value, &b->params, a, b->expr, k, x);
    if (st == SL_EOVERFLOW || st == SL_ELIMIT) {
        *b = before; // too many nodes or digits after merging
        return SL_OK;
    }
    b->bound++;
    return st;
}

sl_status sl_fit_bind(sl_fit_bound *out, sl_arena *a, const sl_node *e, const double *value,
                      int params, int which, double tolerance) {
    SL_ASSERT(params <= SL_FIT_MAX_PARAMS);
    *out = (sl_fit_bound){ .expr = e, .params = params };
    memcpy(out->value, value, (size_t)params * sizeof *value);
    // the last first: those before it keep their numbers
    for (int k = params - 1; k >= 0; k--)
        if ((which < 0 || which == k) && k < out->params) SL_TRY(bind_one(out, a, k, tolerance));
    return SL_OK;
}
