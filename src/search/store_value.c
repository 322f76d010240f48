/* Values of terms at the probes.
 *
 * A value is made in stages, given by its form: the inner product or sum, the function, the factor
 * before it, the one. Each stage is a loop over the probes that compilers make vectors of. The
 * padding holds the first probe once more, so it is finite wherever that is and needs no care. */
#include <math.h>
#include <string.h>

#include "search/store_impl.h"

/* ---------------------------------------------------------------- checks -------------------- */

static inline uint64_t bits_of(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* Integers, because sums of doubles may not be reordered into vectors. */
bool sl_search__store_all_finite(const double *v, int n) {
    const uint64_t top = UINT64_C(0x7ff0000000000000);
    uint64_t bad = 0;
    for (int i = 0; i < n; i++) bad |= (uint64_t)((bits_of(v[i]) & top) == top);
    return !bad;
}

static bool within(const double *v, double limit, int n) {
    uint64_t bad = 0;
    for (int i = 0; i < n; i++) bad |= (uint64_t) !(fabs(v[i]) <= limit);
    return !bad;
}

bool sl_search__store_constant_value(const double *v, int n) {
    const double limit = 1e-10 * fabs(v[0]);
    uint64_t differ = 0;
    for (int i = 0; i < n; i++) differ |= (uint64_t)(fabs(v[i] - v[0]) > limit);
    return !differ;
}

/* ---------------------------------------------------------------- functions ----------------- */

/* exp(u) - 1 by exp, near zero by its series: the difference would lose digits. */
static void expm1_array(double *o, const double *u, int n) {
    double e[SL_STORE_MAX_PROBES];
    sl_exp_array(e, u, n);
    for (int i = 0; i < n; i++) {
        const double x = u[i];
        const double series =
            x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5 * (1 + x / 6 * (1 + x / 7))))));
        o[i] = fabs(x) < 0.01 ? series : e[i] - 1;
    }
}

/* o := f(o). */
static void apply(double *o, sl_search__store_function_id f, int n) {
    switch (f) {
    case SL_STORE__SIN: sl_sin_array(o, o, n); return;
    case SL_STORE__COS: sl_cos_array(o, o, n); return;
    case SL_STORE__EXP: sl_exp_array(o, o, n); return;
    case SL_STORE__RECIPROCAL:
        for (int i = 0; i < n; i++) o[i] = 1 / o[i];
        return;
    case SL_STORE__SQRT:
        for (int i = 0; i < n; i++) o[i] = sqrt(o[i]);
        return;
    case SL_STORE__LOG: sl_log_array(o, o, n); return;
    case SL_STORE__EXPM1: expm1_array(o, o, n); return;
    case SL_STORE__SQUARE:
        for (int i = 0; i < n; i++) o[i] *= o[i];
        return;
    case SL_STORE__TANH: sl_tanh_array(o, o, n); return;
    case SL_STORE__COSH: sl_cosh_array(o, o, n); return;
    case SL_STORE__RSQRT:
        for (int i = 0; i < n; i++) o[i] = 1 / sqrt(o[i]);
        return;
    case SL_STORE__EXPP1:
        sl_exp_array(o, o, n);
        for (int i = 0; i < n; i++) o[i] += 1;
        return;
    case SL_STORE__RSQUARE:
        for (int i = 0; i < n; i++) o[i] = 1 / (o[i] * o[i]);
        return;
    case SL_STORE__FUNCTIONS: break;
    }
    SL_ASSERT(!"no such function");
}

/* ---------------------------------------------------------------- stages -------------------- */

static void monomial(double *o, const sl_store *s, uint32_t number, int n) {
    const int8_t *e = s->exponents.row[number];
    const size_t stride = (size_t)s->stride;
    for (int i = 0; i < n; i++) o[i] = 1;
    for (int v = 0; v < s->variables; v++) {
        if (!e[v]) continue;
        const double *p =
            s->power +
            ((size_t)v * (2 * SL_STORE__POWER + 1) + (size_t)(e[v] + SL_STORE__POWER)) * stride;
        for (int i = 0; i < n; i++) o[i] *= p[i];
    }
}

static void product(double *restrict o, const double *restrict a, const double *restrict b,
                    double c, int p, int q, int n) {
    if (p == 2)
        for (int i = 0; i < n; i++) o[i] = c * a[i] * a[i];
    else if (p == 1)
        for (int i = 0; i < n; i++) o[i] = c * a[i];
    else
        for (int i = 0; i < n; i++) o[i] = c;
    if (q == 1)
        for (int i = 0; i < n; i++) o[i] *= b[i];
    else if (q == -1)
        for (int i = 0; i < n; i++) o[i] /= b[i];
}

static void sum(double *restrict o, const double *restrict a, const double *restrict b, double c,
                double d, int n) {
    for (int i = 0; i < n; i++) o[i] = c * a[i] + d * b[i];
}

static void inner(double *o, const sl_store *s, sl_store_term t, const sl_search__store_form *form,
                  const double *a, const double *b, int n) {
    const unsigned c = sl_search__term_constant(t);
    if (form->sum && form->one) // 1 +- a +- b
        sum(o, a, b, c & 1 ? -1 : 1, c & 2 ? -1 : 1, n);
    else if (form->sum)
        sum(o, a, b, 1, s->constant[c], n);
    else
        product(o, a, b, s->constant[c], form->p, form->q, n);
}

bool sl_search__store_evaluate(double *o, const sl_store *s, sl_store_term t, int n) {
    if (sl_search__term_form(t) == SL_FORM_MONOMIAL) {
        monomial(o, s, sl_search__term_a(t), n);
        return sl_search__store_all_finite(o, n);
    }
    if (sl_search__term_form(t) == SL_FORM_HINT) { // the second number is the part itself
        memcpy(o, sl_search__store_value(s, sl_search__term_b(t)), (size_t)n * sizeof *o);
        return true;
    }
    const sl_search__store_form *form = &sl_search__store_forms[sl_search__term_form(t)];
    const double *a = sl_search__store_value(s, sl_search__term_a(t)),
                 *b = sl_search__store_value(s, sl_search__term_b(t));
    inner(o, s, t, form, a, b, n);
    if (form->function) {
        const unsigned f = sl_search__term_function(t);
        if (sl_search__store_functions[f].exponential && !within(o, SL_STORE__MAX_EXP, n))
            return false;
        apply(o, (sl_search__store_function_id)f, n);
    }
    if (form->outer)
        for (int i = 0; i < n; i++) o[i] *= a[i];
    if (form->one && form->sign > 0)
        for (int i = 0; i < n; i++) o[i] += 1;
    else if (form->one)
        for (int i = 0; i < n; i++) o[i] = 1 - o[i];
    return sl_search__store_all_finite(o, n);
}

bool sl_search__store_value_first(double *value, bool *exponent, const sl_store *s, sl_store_term t,
                                  int n) {
    *exponent = sl_search__term_exponent(t);
    return sl_search__store_evaluate(value, s, t, n) && !sl_search__store_constant_value(value, n);
}

bool sl_search__store_term_value(double *value, bool *exponent, const sl_store *s,
                                 sl_store_term t) {
    return sl_search__store_value_first(value, exponent, s, t, s->stride);
}
