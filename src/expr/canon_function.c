/* Functions of one canonical operand, in canonical form: known values, parity, log and abs of
 * products and powers. docs/math/canonical.md lists the rules; names in brackets are theirs. */
#include "expr/canon_impl.h"

/* out += by * p. */
static sl_status push_scaled(sl_poly *out, sl_canon_work *w, sl_poly p, sl_rat by) {
    SL_TRY(sl_expr__poly_scale(&p, w, by));
    for (int i = 0; i < p.n; i++) SL_TRY(sl_expr__poly_push(out, w, p.t[i]));
    return SL_OK;
}

static bool leads_negative(const sl_poly *p) { return p->n > 0 && p->t[0].coef.num < 0; }

/* out += coef * pi^power. */
static sl_status push_pi(sl_poly *out, sl_canon_work *w, sl_rat coef, int power) {
    sl_poly_term t = { coef, NULL, 0 };
    if (coef.num == 0) return SL_OK;
    if (power) {
        sl_factor *f;
        SL_CANON_NEW(f, w, 1);
        f->base = sl_expr_pi(w->a);
        if (!f->base) return sl_fail_memory(1, sizeof *f->base, "pi");
        f->exp = SL_RAT(power);
        t.f = f;
        t.n = 1;
    }
    return sl_expr__poly_push(out, w, t);
}

/* out += coef * op(argument), as it stands. */
static sl_status push_function(sl_poly *out, sl_canon_work *w, sl_op op, const sl_node *argument,
                               sl_rat coef) {
    sl_factor *f;
    SL_CANON_NEW(f, w, 1);
    SL_TRY(sl_expr__fn(&f->base, w->a, op, argument));
    f->exp = SL_RAT(1);
    return sl_expr__poly_push(out, w, (sl_poly_term){ coef, f, 1 });
}

/* ---------------------------------------------------------------- known values -------------- */

/* The value of op at 0, 1 or -1 as *coef pi^*power, where it is one [values]. */
static bool known_value(sl_rat *coef, int *power, sl_op op, sl_rat v) {
    *coef = SL_RAT(0);
    *power = 0;
    if (v.den != 1 || v.num > 1 || v.num < -1) return false;
    switch (op) {
    case SL_OP_EXP:
    case SL_OP_COS:
    case SL_OP_COSH: *coef = SL_RAT(1); return v.num == 0;
    case SL_OP_LOG: return v.num == 1;
    case SL_OP_ASIN:
    case SL_OP_ACOS: // pi/2 - asin
        *power = 1;
        *coef = op == SL_OP_ASIN ? (sl_rat){ v.num, 2 } : (sl_rat){ 1 - v.num, 2 };
        break;
    case SL_OP_ATAN:
        *power = 1;
        *coef = (sl_rat){ v.num, 4 };
        break;
    default: return v.num == 0;
    }
    return sl_expr_rat_make(coef, coef->num, coef->den);
}

/* sin, cos and tan of k pi/2 where that is an integer [values]. */
static bool wave_value(int *value, sl_op op, const sl_poly *p) {
    if (op != SL_OP_SIN && op != SL_OP_COS && op != SL_OP_TAN) return false;
    if (p->n != 1 || p->t[0].n != 1) return false;
    const sl_factor *f = p->t[0].f;
    const sl_rat c = p->t[0].coef;
    if (f->base->op != SL_OP_PI || !sl_expr_rat_is(f->exp, 1) || c.den > 2) return false;
    const int turn = (int)(c.num % 4 * (c.den == 1 ? 2 : 1)); // quarters, -6 .. 6
    const int quarter = ((op == SL_OP_COS ? turn + 1 : turn) % 4 + 4) % 4;
    *value = quarter % 2 ? 2 - quarter : 0;
    return op != SL_OP_TAN || quarter % 2 == 0;
}

/* ---------------------------------------------------------------- logarithms ---------------- */

/* out += by*log(n), n >= 1; of an integer power k log(root): log(8) = 3 log(2) [log]. */
static sl_status log_of_whole(sl_poly *out, sl_canon_work *w, int64_t n, sl_rat by) {
    if (n == 1) return SL_OK;
    sl_rat root = SL_RAT(n), coef;
    bool exact = false;
    int k = 63 - __builtin_clzll((uint64_t)n); // the most that 2^k allows
    for (; k > 1 && !exact; k -= !exact)
        SL_TRY(sl_expr__num_pow(&root, &exact, SL_RAT(n), (sl_rat){ 1, k }));
    const sl_node *number = sl_expr_int(w->a, exact ? root.num : n);
    if (!number) return sl_fail_memory(1, sizeof *number, "a number");
    if (!sl_expr_rat_mul(&coef, by, SL_RAT(exact ? k : 1))) return sl_expr__canon_overflow();
    return push_function(out, w, SL_OP_LOG, number, coef);
}

/* Is this factor positive wherever it is real and not 0? */
static bool is_positive(const sl_factor *f) {
    switch (f->base->op) {
    case SL_OP_NUM:
    case SL_OP_PI:
    case SL_OP_EXP:
    case SL_OP_COSH:
    case SL_OP_RAISE: return true;
    default: return !sl_expr_rat_is_int(f->exp);
    }
}

static sl_status log_of(sl_poly *out, sl_canon_work *w, const sl_node *argument);

/* out += log(base^exp) of a positive factor: exp*log(base). */
static sl_status log_of_factor(sl_poly *out, sl_canon_work *w, const sl_node *base, sl_rat exp) {
    if (base->op == SL_OP_NUM) return log_of_whole(out, w, sl_expr_num_value(base).num, exp);
    if (base->op == SL_OP_EXP) {
        sl_poly p;
        SL_TRY(sl_expr__poly_read(&p, w, base + 1));
        return push_scaled(out, w, p, exp);
    }
    if (base->op == SL_OP_MUL || base->op == SL_OP_POW) { // (u v)^(1/2), (u^2)^(1/2)
        sl_poly logs = { 0 };
        SL_TRY(log_of(&logs, w, base));
        return push_scaled(out, w, logs, exp);
    }
    if (base->op == SL_OP_RAISE) { // v log u
        sl_poly logs = { 0 }, v;
        SL_TRY(sl_expr__canon_function(&logs, w, SL_OP_LOG, base + 1));
        SL_TRY(sl_expr__poly_collect(&logs));
        SL_TRY(sl_expr__poly_read(&v, w, sl_expr_next(base + 1)));
        SL_TRY(sl_expr__poly_scale(&v, w, exp));
        return sl_expr__poly_mul(out, w, &logs, &v);
    }
    return push_function(out, w, SL_OP_LOG, base, exp);
}

/* out += by*log(sum^2), where the square is a sum again. */
static sl_status log_of_square(sl_poly *out, sl_canon_work *w, const sl_node *sum, sl_rat by) {
    sl_poly p, square = { 0 }, logs = { 0 };
    const sl_node *node;
    SL_TRY(sl_expr__poly_read(&p, w, sum));
    SL_TRY(sl_expr__poly_mul(&square, w, &p, &p));
    SL_TRY(sl_expr__poly_collect(&square));
    SL_TRY(sl_expr__poly_node(&node, w, &square));
    SL_TRY(sl_expr__canon_function(&logs, w, SL_OP_LOG, node));
    return push_scaled(out, w, logs, by);
}

/* out += log(argument). Factors that are positive everywhere are taken out of a product; the rest
 * keeps its sign and stays one logarithm, except for a single power: log(u^3) = 3 log u, log(u^4) =
 * 2 log(u^2) [log]. */
static sl_status log_of(sl_poly *out, sl_canon_work *w, const sl_node *argument) {
    if (argument->op == SL_OP_ADD) return push_function(out, w, SL_OP_LOG, argument, SL_RAT(1));
    sl_poly_term t;
    SL_TRY(sl_expr__poly_read_term(&t, w, argument));
    const int sign = t.coef.num < 0 ? -1 : 1;
    SL_TRY(log_of_whole(out, w, sign * t.coef.num, SL_RAT(1)));
    SL_TRY(log_of_whole(out, w, t.coef.den, SL_RAT(-1)));
    sl_factor *rest;
    SL_CANON_NEW(rest, w, t.n);
    int n = 0;
    for (int i = 0; i < t.n; i++) {
        if (is_positive(&t.f[i]))
            SL_TRY(log_of_factor(out, w, t.f[i].base, t.f[i].exp));
        else
            rest[n++] = t.f[i];
    }
    if (n == 0) return sign < 0 ? SL_EXPR__UNDEFINED : SL_OK;
    sl_rat by = SL_RAT(1);
    if (n == 1 && sign > 0) {
        const bool even = rest->exp.num % 2 == 0;
        by = SL_RAT(even ? rest->exp.num / 2 : rest->exp.num);
        rest->exp = SL_RAT(even ? 2 : 1);
        if (even && rest->base->op == SL_OP_ADD) return log_of_square(out, w, rest->base, by);
    }
    const sl_node *inside;
    SL_TRY(sl_expr__poly_product_node(&inside, w, SL_RAT(sign), rest, n));
    return push_function(out, w, SL_OP_LOG, inside, by);
}

/* ---------------------------------------------------------------- the rest ------------------ */

/* out += |argument|, as sqrt(argument^2): the form that roots of squares have anyway [abs]. */
static sl_status absolute_value(sl_poly *out, sl_canon_work *w, const sl_node *argument) {
    sl_poly p, square = { 0 };
    const sl_node *node;
    SL_TRY(sl_expr__poly_read(&p, w, argument));
    SL_TRY(sl_expr__poly_mul(&square, w, &p, &p));
    SL_TRY(sl_expr__poly_collect(&square));
    SL_TRY(sl_expr__poly_node(&node, w, &square));
    return sl_expr__canon_product(out, w, SL_RAT(1), &(sl_canon_entry){ node, { 1, 2 }, false }, 1);
}

static bool is_outside(sl_op op, sl_rat v) {
    if (op == SL_OP_LOG) return v.num <= 0;
    return (op == SL_OP_ASIN || op == SL_OP_ACOS) && (v.num > v.den || v.num < -v.den);
}

sl_status sl_expr__canon_function(sl_poly *out, sl_canon_work *w, sl_op op,
                                  const sl_node *argument) {
    if (argument->op == SL_OP_NUM) {
        sl_rat coef;
        int power;
        const sl_rat v = sl_expr_num_value(argument);
        if (is_outside(op, v)) return SL_EXPR__UNDEFINED;
        if (known_value(&coef, &power, op, v)) return push_pi(out, w, coef, power);
    }
    if (op == SL_OP_EXP) return sl_expr__canon_exp(out, w, argument);
    if (op == SL_OP_LOG) return log_of(out, w, argument);
    if (op == SL_OP_ABS) return absolute_value(out, w, argument);
    const bool odd = sl_expr__is_odd(op);
    if (!odd && !sl_expr__is_even(op)) return push_function(out, w, op, argument, SL_RAT(1));

    // sin(-u) = -sin u, cos(-u) = cos u and so on [parity]
    sl_poly p;
    int value;
    sl_rat coef = SL_RAT(1);
    SL_TRY(sl_expr__poly_read(&p, w, argument));
    if (wave_value(&value, op, &p)) return push_pi(out, w, SL_RAT(value), 0);
    if (leads_negative(&p)) {
        SL_TRY(sl_expr__poly_scale(&p, w, SL_RAT(-1)));
        SL_TRY(sl_expr__poly_node(&argument, w, &p));
        if (odd) coef = SL_RAT(-1);
    }
    return push_function(out, w, op, argument, coef);
}
