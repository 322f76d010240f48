/* constants - merges the constants of a formula.
 *
 * A formula over standardised inputs has, over the inputs themselves, redundant constants: 3 (0.5 x
 * - 1)^2 + 2 - 7. From the leaves up, every part becomes a factor times a form. The factor of a sum
 * is the coefficient of its first term; a power raises the factor if it is positive or the power an
 * integer; a sum or a function's argument multiplies it in again:
 *
 *     0.5 x - 1           0.5 * (x - 2)
 *     (0.5 x - 1)^2       0.25 * (x - 2)^2
 *     3 (...)^2 + 2 - 7   0.75 * (x - 2)^2 - 5 */
#include <math.h>

#include "fit/fit.h"

/* A sum is coef[i] operand[i] + constant over all i; products, powers and functions have operands
 * alone, and that of a function is always a sum. */
typedef struct form {
    sl_op op;
    int n;
    struct form **operand;
    double *coef, constant;
    const sl_node *from; // VAR, PI: the node; POW: the exponent
} form;

/* factor * form; form NULL: the number. */
typedef struct part {
    double factor;
    form *form;
} part;

typedef struct maker {
    sl_arena *a;
    const double *constants;
    double *value;
    int n, room;
    bool failed;
} maker;

static form *new_form(maker *m, sl_op op, int n) {
    form *f = sl_arena_alloc(m->a, sizeof *f);
    form **operand = sl_arena_alloc(m->a, (size_t)n * sizeof *operand);
    double *coef = sl_arena_alloc(m->a, (size_t)n * sizeof *coef);
    if (!f || !operand || !coef) {
        m->failed = true;
        return NULL;
    }
    *f = (form){ .op = op, .operand = operand, .coef = coef };
    return f;
}

static part read_part(maker *m, const sl_node *e);

/* Adds a part to a sum; a nested sum is flattened, so that both constants merge. */
static void add_term(form *s, part p) {
    if (!p.form) {
        s->constant += p.factor;
    } else if (p.form->op == SL_OP_ADD) {
        for (int i = 0; i < p.form->n; i++)
            add_term(s, (part){ p.factor * p.form->coef[i], p.form->operand[i] });
        s->constant += p.factor * p.form->constant;
    } else {
        s->coef[s->n] = p.factor;
        s->operand[s->n++] = p.form;
    }
}

/* The sum with its first coefficient taken out, with or without its sign. */
static part take_leading(form *s, bool with_sign) {
    if (s->n == 0) return (part){ s->constant, NULL };
    double f = s->coef[0];
    if (s->n == 1 && s->constant == 0 && (with_sign || f > 0)) return (part){ f, s->operand[0] };
    if (!with_sign) f = fabs(f);
    if (f == 0) return (part){ 1, s };
    for (int i = 0; i < s->n; i++) s->coef[i] /= f;
    s->constant /= f;
    return (part){ f, s };
}

static part read_sum(maker *m, const sl_node *e) {
    form *s = new_form(m, SL_OP_ADD, (int)e->len); // room for the terms of all sums below
    if (!s) return (part){ 0 };
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg && !m->failed; i++, c = sl_expr_next(c))
        add_term(s, read_part(m, c));
    return take_leading(s, true);
}

static part read_product(maker *m, const sl_node *e) {
    form *f = new_form(m, SL_OP_MUL, e->arg);
    if (!f) return (part){ 0 };
    double factor = 1;
    const sl_node *c = e + 1;
    for (int i = 0; i < e->arg && !m->failed; i++, c = sl_expr_next(c)) {
        const part p = read_part(m, c);
        factor *= p.factor;
        if (p.form) f->operand[f->n++] = p.form;
    }
    if (f->n == 0) return (part){ factor, NULL };
    return (part){ factor, f->n == 1 ? f->operand[0] : f };
}

/* factor * form as a sum, where the factor cannot be passed on. */
static form *as_sum(maker *m, part p) {
    if (p.form && p.form->op == SL_OP_ADD) {
        for (int i = 0; i < p.form->n; i++) p.form->coef[i] *= p.factor;
        p.form->constant *= p.factor;
        return p.form;
    }
    form *s = new_form(m, SL_OP_ADD, 1);
    if (s) add_term(s, p);
    return s;
}

static part read_power(maker *m, const sl_node *e) {
    const sl_rat exponent = sl_expr_num_value(sl_expr_next(e + 1));
    const bool whole = sl_expr_rat_is_int(exponent);
    part base = read_part(m, e + 1);
    const double power = sl_expr_rat_double(exponent);
    if (m->failed) return base;
    if (!base.form) return (part){ pow(base.factor, power), NULL };
    if (!whole && base.factor < 0) {
        form *sum = as_sum(m, base);
        if (!sum) return base;
        base = take_leading(sum, false);
    }
    if (!isnormal(pow(base.factor, power))) base = (part){ 1, as_sum(m, base) }; // beyond doubles
    form *f = m->failed ? NULL : new_form(m, SL_OP_POW, 1);
    if (!f) return (part){ 0 };
    f->operand[f->n++] = base.form;
    f->from = sl_expr_next(e + 1);
    return (part){ pow(base.factor, power), f };
}

static part read_function(maker *m, const sl_node *e) {
    const part p = read_part(m, e + 1);
    if (m->failed) return p;
    if (!p.form) return (part){ sl_expr_fn_value((sl_op)e->op, p.factor), NULL };
    form *f = new_form(m, (sl_op)e->op, 1);
    if (!f) return p;
    f->operand[f->n++] = as_sum(m, p);
    return (part){ 1, f };
}

/* u^v: nothing leaves base or exponent. */
static part read_raise(maker *m, const sl_node *e) {
    const part base = read_part(m, e + 1), exponent = read_part(m, sl_expr_next(e + 1));
    form *f = m->failed ? NULL : new_form(m, SL_OP_RAISE, 2);
    if (!f) return (part){ 0 };
    f->operand[f->n++] = as_sum(m, base);
    f->operand[f->n++] = as_sum(m, exponent);
    return (part){ 1, f };
}

static part read_part(maker *m, const sl_node *e) {
    switch ((sl_op)e->op) {
    case SL_OP_NUM: return (part){ sl_expr_rat_double(sl_expr_num_value(e)), NULL };
    case SL_OP_PAR: return (part){ m->constants[e->arg - 1], NULL };
    case SL_OP_ADD: return read_sum(m, e);
    case SL_OP_MUL: return read_product(m, e);
    case SL_OP_POW: return read_power(m, e);
    case SL_OP_RAISE: return read_raise(m, e);
    case SL_OP_PI:
    case SL_OP_VAR: {
        form *f = new_form(m, (sl_op)e->op, 0);
        if (f) f->from = e;
        return (part){ 1, f };
    }
    default: return read_function(m, e);
    }
}

/* ---------------------------------------------------------------- back to nodes ------------- */

static const sl_node *built(maker *m, const sl_node *e) {
    if (!e) m->failed = true;
    return e;
}

/* A node for a constant; 0, 1 and -1 need none. */
static const sl_node *constant(maker *m, double v) {
    if (v == 1 || v == -1) return built(m, sl_expr_int(m->a, (int64_t)v));
    if (m->n == m->room) {
        m->failed = true;
        return NULL;
    }
    m->value[m->n++] = v;
    return built(m, sl_expr_par(m->a, m->n));
}

static const sl_node *write_form(maker *m, const form *f);

static const sl_node *write_scaled(maker *m, double factor, const form *f) {
    const sl_node *e = write_form(m, f);
    if (!e || factor == 1) return e;
    const sl_node *both[2] = { constant(m, factor), e };
    return both[0] ? built(m, sl_expr_nary(m->a, SL_OP_MUL, both, 2)) : NULL;
}

static const sl_node *write_many(maker *m, const form *f, sl_op op) {
    const sl_node **operands = sl_arena_alloc(m->a, ((size_t)f->n + 1) * sizeof *operands);
    int n = 0;
    if (!operands) return built(m, NULL);
    for (int i = 0; i < f->n; i++) {
        const bool sum = op == SL_OP_ADD;
        if (sum && f->coef[i] == 0) continue;
        operands[n] = write_scaled(m, sum ? f->coef[i] : 1, f->operand[i]);
        if (!operands[n++]) return NULL;
    }
    if (op == SL_OP_ADD && (f->constant != 0 || n == 0)) {
        operands[n] = constant(m, f->constant);
        if (!operands[n++]) return NULL;
    }
    return n == 1 ? operands[0] : built(m, sl_expr_nary(m->a, op, operands, n));
}

static const sl_node *write_form(maker *m, const form *f) {
    switch (f->op) {
    case SL_OP_PI:
    case SL_OP_VAR: return built(m, sl_expr_copy(m->a, f->from));
    case SL_OP_ADD:
    case SL_OP_MUL: return write_many(m, f, f->op);
    default: break;
    }
    const sl_node *operand = write_form(m, f->operand[0]), *exponent;
    if (!operand) return NULL;
    if (f->op == SL_OP_RAISE) {
        exponent = write_form(m, f->operand[1]);
        return exponent ? built(m, sl_expr_power(m->a, operand, exponent)) : NULL;
    }
    return built(m, f->op == SL_OP_POW ? sl_expr_pow(m->a, operand, sl_expr_num_value(f->from))
                                       : sl_expr_fn(m->a, f->op, operand));
}

sl_status sl_fit_collapse(const sl_node **out, double **value, int *n, sl_arena *a,
                          const sl_node *e, const double *constants) {
    const int room = sl_expr_nodes(e) + 1; // at most a factor and a summand for each node
    maker m = { .a = a, .constants = constants, .room = 2 * room };
    m.value = sl_arena_alloc(a, (size_t)m.room * sizeof *m.value);
    if (!m.value) return sl_fail_memory((size_t)m.room, sizeof *m.value, "constants");
    const part p = read_part(&m, e);
    const form *f = m.failed ? NULL : as_sum(&m, p);
    const sl_node *raw = f ? write_form(&m, f) : NULL;
    if (!raw) return sl_fail_memory((size_t)room, sizeof *raw, "constants");
    SL_TRY(sl_expr_tidy(out, a, raw));
    *value = m.value;
    *n = m.n;
    return SL_OK;
}
