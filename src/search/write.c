/* write - expressions built piece by piece. */
#include "search/write.h"

/* Returns e; records a failure where it is NULL. */
static const sl_node *piece(sl_writer *w, const sl_node *e) {
    if (!e) w->failed = true;
    return e;
}

sl_status sl_search__write_status(const sl_writer *w) {
    return w->failed ? sl_fail(SL_ENOMEM, "no memory for a formula") : SL_OK;
}

const sl_node *sl_search__write_int(sl_writer *w, int64_t n) {
    return w->failed ? NULL : piece(w, sl_expr_int(w->arena, n));
}

const sl_node *sl_search__write_variable(sl_writer *w, int number) {
    return w->failed ? NULL : piece(w, sl_expr_var(w->arena, number));
}

const sl_node *sl_search__write_constant(sl_writer *w, double value) {
    if (w->failed) return NULL;
    SL_ASSERT(w->params < SL_LEN(w->value));
    w->value[w->params++] = value;
    return piece(w, sl_expr_par(w->arena, w->params));
}

static const sl_node *both(sl_writer *w, sl_op op, const sl_node *a, const sl_node *b) {
    if (w->failed) return NULL;
    const sl_node *pair[2] = { a, b };
    return piece(w, sl_expr_nary(w->arena, op, pair, 2));
}

const sl_node *sl_search__write_plus(sl_writer *w, const sl_node *a, const sl_node *b) {
    return both(w, SL_OP_ADD, a, b);
}

const sl_node *sl_search__write_times(sl_writer *w, const sl_node *a, const sl_node *b) {
    if (w->failed || sl_expr_num_is(a, 1)) return b;
    return sl_expr_num_is(b, 1) ? a : both(w, SL_OP_MUL, a, b);
}

const sl_node *sl_search__write_power(sl_writer *w, const sl_node *a, sl_rat exponent) {
    if (w->failed || sl_expr_rat_is(exponent, 1)) return a;
    return piece(w, sl_expr_pow(w->arena, a, exponent));
}

const sl_node *sl_search__write_function(sl_writer *w, sl_op op, const sl_node *a) {
    return w->failed ? NULL : piece(w, sl_expr_fn(w->arena, op, a));
}

const sl_node *sl_search__write_real_power(sl_writer *w, const sl_node *a, double exponent) {
    const sl_node *c = sl_search__write_constant(w, exponent);
    return w->failed ? NULL : piece(w, sl_expr_power(w->arena, a, c));
}

static const sl_node *product(sl_writer *w, const int8_t *power, int n, int unit) {
    const sl_node *e = sl_search__write_int(w, 1);
    for (int v = 0; v < n; v++) {
        if (power[v] == 0) continue;
        sl_rat exponent;
        if (!sl_expr_rat_make(&exponent, power[v], unit)) return NULL;
        e = sl_search__write_times(
            w, e, sl_search__write_power(w, sl_search__write_variable(w, v + 1), exponent));
    }
    return e;
}

const sl_node *sl_search__write_monomial(sl_writer *w, const int8_t *power, int n) {
    return product(w, power, n, 1);
}

const sl_node *sl_search__write_halves(sl_writer *w, const int8_t *power, int n) {
    return product(w, power, n, 2);
}
