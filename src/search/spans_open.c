/* spans_open - the spans of a side, and projections modulo them. */
#include <math.h>
#include <string.h>

#include "search/spans_impl.h"

/* ---------------------------------------------------------------- monomials ----------------- */

typedef struct enumeration {
    int8_t (*power)[SL_DATA_MAX_INPUTS];
    int8_t now[SL_DATA_MAX_INPUTS];
    int room, n, inputs;
} enumeration;

/* All ways to share `left` among variables v, v + 1, ... */
static void share_out(enumeration *m, int v, int left) {
    if (v == m->inputs - 1) {
        m->now[v] = (int8_t)left;
        if (m->n < m->room) memcpy(m->power[m->n], m->now, sizeof m->now);
        m->n++;
        return;
    }
    for (int p = left; p >= 0; p--) {
        m->now[v] = (int8_t)p;
        share_out(m, v + 1, left - p);
    }
}

int sl_search__spans_monomials(int8_t (*power)[SL_DATA_MAX_INPUTS], int room, int inputs,
                               int degree) {
    enumeration m = { .power = power, .room = room, .inputs = inputs };
    for (int d = 0; d <= degree; d++) share_out(&m, 0, d);
    return m.n;
}

void sl_search__spans_monomial(double *value, const int8_t *power, const double *const *x,
                               int inputs, int64_t n) {
    for (int64_t i = 0; i < n; i++) value[i] = 1;
    for (int v = 0; v < inputs; v++)
        for (int p = 0; p < power[v]; p++)
            for (int64_t i = 0; i < n; i++) value[i] *= x[v][i];
}

/* ---------------------------------------------------------------- orthogonal bases ---------- */

/* Takes the n vectors of `basis` out of v (of length rows) and makes it a unit vector; false where
 * nothing but rounding is left. */
static bool orthogonal(double *v, const double *basis, int n, int rows) {
    double before = sqrt(sl_search__dot(v, v, rows));
    if (!(before > 0) || !isfinite(before)) return false;
    for (int k = 0; k < rows; k++) v[k] /= before;
    for (int repeat = 0; repeat < 3; repeat++)
        for (int i = 0; i < n; i++) {
            double c = sl_search__dot(basis + i * rows, v, rows);
            for (int k = 0; k < rows; k++) v[k] -= c * basis[i * rows + k];
        }
    double after = sqrt(sl_search__dot(v, v, rows));
    if (!(after > 1e-12)) return false;
    for (int k = 0; k < rows; k++) v[k] /= after;
    return true;
}

/* Values of function i of the span at the probes. */
static void function_at(double *v, const sl_spans *s, const sl_search__spans_span *span, int i) {
    const sl_search__job *j = s->job;
    if (s->side == SL_SIDE_SUM) {
        sl_search__spans_monomial(v, span->power[i], j->rows.x, j->rows.inputs, span->rows);
        return;
    }
    for (int k = 0; k < span->rows; k++) v[k] = i == 0 ? 1 : sl_log(fabs(j->rows.x[i - 1][k]));
}

/* The remaining directions are drawn at random, so that none is special. */
static sl_status find_normal(sl_spans *s, sl_search__spans_span *span) {
    int rows = span->rows, n = 0;
    size_t mark = sl_arena_mark(&s->arena), room = (size_t)span->dim + SL_SPANS__DIMS + 1;
    double *basis = sl_arena_alloc(&s->arena, room * (size_t)rows * sizeof *basis);
    if (!basis) return sl_fail_memory(room, (size_t)rows * sizeof *basis, "a span");
    for (int i = 0; i < span->dim && n < rows; i++) {
        function_at(basis + n * rows, s, span, i);
        n += orthogonal(basis + n * rows, basis, n, rows);
    }
    sl_rng rng;
    sl_rng_init(&rng, 14, 0, (uint64_t)s->side);
    int from = n;
    while (span->left < SL_SPANS__DIMS && n < rows) {
        double *v = basis + n * rows;
        for (int k = 0; k < rows; k++) v[k] = sl_rng_uniform(&rng) - 0.5;
        if (!orthogonal(v, basis, n, rows)) break;
        n++, span->left++;
    }
    for (int d = 0; d < span->left; d++)
        memcpy(span->normal + d * s->stride, basis + (from + d) * rows,
               (size_t)rows * sizeof *basis);
    sl_arena_rewind(&s->arena, mark);
    return SL_OK;
}

/* ---------------------------------------------------------------- choice of spans ----------- */

/* Degrees of sums by number of inputs, in order; 0 ends. */
static const int8_t degrees[][SL_SPANS__SPANS + 1] = {
    { 1, 0 }, { 1, 2, 4, 0 }, { 1, 2, 3, 0 }, { 1, 2, 0 }, { 1, 2, 0 }, { 1, 2, 0 }, { 1, 0 },
};

/* Sizes of a span; false where there are too few rows. */
static bool plan_span(sl_search__spans_span *span, const sl_search__job *j, sl_side side,
                      int degree) {
    int64_t rows = j->rows.rows;
    span->degree = degree;
    span->dim = side == SL_SIDE_SUM ? sl_search__spans_monomials(NULL, 0, j->rows.inputs, degree)
                                    : j->rows.inputs + 1;
    if (side == SL_SIDE_SUM && j->rows.inputs == 0) span->dim = 1;
    span->rows = (int)SL_MIN((int64_t)span->dim + SL_SPANS__DIMS, rows);
    return span->rows - span->dim >= 3;
}

/* list[] := the spans of a side; returns how many. */
static int plan(sl_search__spans_span *list, const sl_search__job *j, sl_side side) {
    int n = 0;
    if (j->rows.inputs == 0) return 0;
    if (side == SL_SIDE_PRODUCT) return plan_span(&list[0], j, side, 0) ? 1 : 0;
    const int8_t *degree = degrees[SL_MIN(j->rows.inputs, SL_LEN(degrees) - 1)];
    for (int i = 0; degree[i]; i++) {
        list[n] = (sl_search__spans_span){ 0 };
        bool enough = plan_span(&list[n], j, side, degree[i]);
        if (enough && (n == 0 || list[n].dim + SL_SPANS__DIMS + 2 <= j->rows.rows)) n++;
    }
    return n;
}

int sl_search__spans_probes(const sl_search__job *j, sl_side side) {
    sl_search__spans_span list[SL_SPANS__SPANS] = { 0 };
    int most = 0;
    for (int i = plan(list, j, side) - 1; i >= 0; i--) most = SL_MAX(most, list[i].rows);
    return most;
}

sl_status sl_search__spans_open_spans(sl_spans *s) {
    sl_search__spans_span list[SL_SPANS__SPANS] = { 0 };
    s->spans = plan(list, s->job, s->side);
    for (int i = 0; i < s->spans; i++) {
        sl_search__spans_span *span = &s->span[i];
        *span = list[i];
        size_t numbers = SL_SPANS__DIMS * (size_t)s->stride;
        span->normal = sl_arena_alloc(&s->arena, numbers * sizeof(double));
        span->power = sl_arena_alloc(&s->arena, (size_t)span->dim * sizeof *span->power);
        if (!span->normal || !span->power) return sl_fail_memory(numbers, 8, "a span");
        memset(span->normal, 0, numbers * sizeof(double));
        memset(span->power, 0, (size_t)span->dim * sizeof *span->power);
        if (s->side == SL_SIDE_SUM)
            sl_search__spans_monomials(span->power, span->dim, s->job->rows.inputs, span->degree);
        SL_TRY(find_normal(s, span));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- vectors ------------------- */

bool sl_search__spans_value(double *value, const sl_spans *s, sl_store_term t) {
    bool exponent;
    if (!sl_search__store_value_first(value, &exponent, s->store, t, s->stride)) return false;
    if (s->side == SL_SIDE_SUM || exponent) return true;
    for (int k = 0; k < s->stride; k++) value[k] = fabs(value[k]);
    sl_log_array(value, value, s->stride);
    return true;
}

void sl_search__spans_project(double *q, double *size, const sl_spans *s, int span,
                              const double *value) {
    sl_search__spans_numbers all;
    double norm[SL_SPANS__BLOCK];
    int lanes = (s->span[span].rows + SL_SPANS__LANES - 1) / SL_SPANS__LANES * SL_SPANS__LANES;
    s->kernels->project(all, norm, s->span[span].normal, value, lanes, s->stride, 1);
    for (int d = 0; d < SL_SPANS__DIMS; d++) q[d] = all[d][0];
    *size = norm[0];
}
