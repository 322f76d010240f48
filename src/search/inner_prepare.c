/* Spans, transforms of y and monomials of the search for inner constants. */
#include <math.h>
#include <string.h>

#include "search/inner_impl.h"

enum { SPARE = 6, MONOMIALS_MAX = 240 }; // probes beside the base; monomials at most

static sl_status column(double **out, sl_inner *s) {
    size_t n = (size_t)SL_MAX(s->rows, (int)SL_INNER__PROBES);
    double *v = sl_arena_alloc(&s->arena, n * sizeof *v);
    if (!v) return sl_fail_memory(n, sizeof *v, "columns of the search for inner constants");
    memset(v, 0, n * sizeof *v);
    *out = v;
    return SL_OK;
}

static bool all_finite(const double *v, int n) {
    bool good = true;
    for (int i = 0; i < n; i++) good = good && fabs(v[i]) < 1e150;
    return good;
}

/* ---------------------------------------------------------------- spans --------------------- */

/* v := v projected onto the complement of the unit vectors; returns the remaining part of its
 * length. */
static double project_out(double *v, const sl_search__inner_span *p, int units) {
    double before = 0, after = 0;
    for (int i = 0; i < SL_INNER__PROBES; i++) before += v[i] * v[i];
    for (int repeat = 0; repeat < 2; repeat++) {
        for (int k = 0; k < units; k++) {
            double c = 0;
            for (int i = 0; i < SL_INNER__PROBES; i++) c += p->unit[k][i] * v[i];
            for (int i = 0; i < SL_INNER__PROBES; i++) v[i] -= c * p->unit[k][i];
        }
    }
    for (int i = 0; i < SL_INNER__PROBES; i++) after += v[i] * v[i];
    for (int i = 0; i < SL_INNER__PROBES; i++) v[i] /= after > 0 ? sqrt(after) : 1;
    return before > 0 && isfinite(before) ? sqrt(after / before) : 0;
}

static void add_base(sl_search__inner_span *p, const sl_inner *s, const double *v, int variable) {
    double *unit = p->unit[p->base];
    for (int i = 0; i < SL_INNER__PROBES; i++) unit[i] = i < s->probes ? v[i] : 0;
    if (project_out(unit, p, p->base) < 1e-9) return;
    p->column[p->base] = v;
    p->variable[p->base++] = variable;
}

static sl_status open_span(sl_inner *s, sl_side side) {
    sl_search__inner_span *p = &s->span[side];
    const sl_search__job *j = s->job;
    double *v;
    SL_TRY(column(&v, s));
    for (int i = 0; i < s->rows; i++) v[i] = 1;
    add_base(p, s, v, -1);
    if (s->probes < 1 + j->rows.inputs + SPARE) return SL_OK; // few rows: the constant alone
    for (int k = 0; k < j->rows.inputs; k++) {
        if (side == SL_SIDE_PRODUCT && !j->positive[k]) continue;
        SL_TRY(column(&v, s));
        memcpy(v, j->rows.x[k], (size_t)s->rows * sizeof *v);
        if (side == SL_SIDE_PRODUCT) sl_log_array(v, v, s->rows);
        if (all_finite(v, s->rows)) add_base(p, s, v, k);
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- targets ------------------- */

static double transformed(sl_search__inner_transform t, double y) {
    switch (t) {
    case SL_INNER__SAME: return y;
    case SL_INNER__SQUARED: return y * y;
    case SL_INNER__INVERTED: return 1 / y;
    case SL_INNER__LOGARITHM:
    case SL_INNER__FACTORS: return sl_log(fabs(y));
    }
    return y;
}

/* Only where the operators of the inverse transform are allowed. */
static sl_status add_target(sl_inner *s, sl_side side, sl_search__inner_transform transform,
                            int op) {
    sl_search__inner_span *p = &s->span[side];
    if (!(s->job->o->ops >> op & 1)) return SL_OK;
    sl_search__inner_target *t = &p->target[p->targets];
    double *v;
    SL_TRY(column(&v, s));
    for (int i = 0; i < s->rows; i++) v[i] = transformed(transform, s->job->rows.y[i]);
    if (!all_finite(v, s->rows)) return SL_OK;
    for (int i = 0; i < SL_INNER__PROBES; i++) t->left[i] = i < s->probes ? v[i] : 0;
    if (project_out(t->left, p, p->base) < 1e-10) return SL_OK; // y is in the span
    t->transform = transform;
    t->value = v;
    p->targets++;
    return SL_OK;
}

static sl_status open_targets(sl_inner *s) {
    const double *y = s->job->rows.y;
    int positive = 0, negative = 0;
    for (int i = 0; i < s->rows; i++) positive += y[i] > 0, negative += y[i] < 0;
    SL_TRY(add_target(s, SL_SIDE_SUM, SL_INNER__SAME, SL_OPERATOR_ADD));
    if (positive == s->rows) {
        SL_TRY(add_target(s, SL_SIDE_SUM, SL_INNER__SQUARED, SL_OPERATOR_SQRT));
        SL_TRY(add_target(s, SL_SIDE_SUM, SL_INNER__LOGARITHM, SL_OPERATOR_EXP));
    }
    if (positive + negative == s->rows)
        SL_TRY(add_target(s, SL_SIDE_SUM, SL_INNER__INVERTED, SL_OPERATOR_DIV));
    if (positive == s->rows || negative == s->rows)
        SL_TRY(add_target(s, SL_SIDE_PRODUCT, SL_INNER__FACTORS, SL_OPERATOR_MUL));
    return SL_OK;
}

/* ---------------------------------------------------------------- monomials ----------------- */

/* Keeps a monomial that is a real number of moderate size in all rows, and not the same everywhere.
 */
static sl_status add_monomial(sl_inner *s, const int8_t *power, int bits) {
    if (s->monomials == MONOMIALS_MAX) return SL_OK;
    size_t mark = sl_arena_mark(&s->arena);
    sl_search__inner_monomial *m = &s->monomial[s->monomials];
    double *v;
    SL_TRY(column(&v, s));
    *m = (sl_search__inner_monomial){ .bits = bits, .value = v, .range = { INFINITY, -INFINITY } };
    memcpy(m->power, power, sizeof m->power);
    for (int i = 0; i < s->rows; i++) {
        v[i] = 1;
        for (int k = 0; k < s->job->rows.inputs; k++) {
            for (int e = 0; e < power[k]; e++) v[i] *= s->job->rows.x[k][i];
            for (int e = 0; e > power[k]; e--) v[i] /= s->job->rows.x[k][i];
        }
        m->range.low = SL_MIN(m->range.low, v[i]);
        m->range.high = SL_MAX(m->range.high, v[i]);
    }
    bool wide = m->range.high - m->range.low > 1e-9 * (fabs(m->range.low) + fabs(m->range.high));
    if (all_finite(v, s->rows) && (wide || bits == 0))
        s->monomials++;
    else
        sl_arena_rewind(&s->arena, mark);
    return SL_OK;
}

/* x_i^a x_k^b for all i < k; a alone where b is 0. */
static sl_status add_kind(sl_inner *s, int a, int b, int bits) {
    int inputs = s->job->rows.inputs;
    for (int i = 0; i < inputs; i++) {
        for (int k = b ? i + 1 : inputs - 1; k < inputs; k++) {
            int8_t power[SL_DATA_MAX_INPUTS] = { 0 };
            if (b) power[k] = (int8_t)b;
            power[i] = (int8_t)a;
            SL_TRY(add_monomial(s, power, bits));
        }
    }
    return SL_OK;
}

static sl_status open_monomials(sl_inner *s) {
    static const struct kind {
        int a, b, bits;
    } kinds[] = { { 1, 0, 0 },  { 2, 0, 4 },  { 1, 1, 4 },   { 1, -1, 5 }, { -1, 1, 5 },
                  { -1, 0, 4 }, { 2, 1, 8 },  { 1, 2, 8 },   { 2, -1, 9 }, { -1, 2, 9 },
                  { 1, -2, 9 }, { -2, 1, 9 }, { -1, -1, 9 }, { -2, 0, 8 }, { 3, 0, 8 } };
    static const int8_t one[SL_DATA_MAX_INPUTS] = { 0 };
    s->monomial = sl_arena_alloc(&s->arena, MONOMIALS_MAX * sizeof *s->monomial);
    if (!s->monomial) return sl_fail_memory(MONOMIALS_MAX, sizeof *s->monomial, "monomials");
    SL_TRY(add_monomial(s, one, 0));
    for (int k = 0; k < SL_LEN(kinds); k++)
        SL_TRY(add_kind(s, kinds[k].a, kinds[k].b, 3 + kinds[k].bits));
    return SL_OK;
}

sl_status sl_search__inner_prepare(sl_inner *s) {
    s->rows = (int)s->job->rows.rows;
    s->probes = SL_MIN(s->rows, (int)SL_INNER__PROBES);
    if (s->job->rows.inputs == 0 || s->probes < 1 + SPARE) return SL_OK;
    SL_TRY(open_span(s, SL_SIDE_PRODUCT));
    SL_TRY(open_span(s, SL_SIDE_SUM));
    SL_TRY(open_targets(s));
    return open_monomials(s);
}
