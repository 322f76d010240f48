/* Spans: the free columns of a family of models, and the projector onto their orthogonal complement
 * at a few rows.
 *
 * An error of y is 1/|dT/dy| times smaller in T(y); rows are weighted by the inverse, so that an
 * error counts alike in every row and family. The weights use the noisy y itself: good enough to
 * compare terms by, and the fit that follows does not use them. */
#include <math.h>

#include "search/noise_impl.h"

/* ---------------------------------------------------------------- columns ------------------- */

static double *new_column(sl_search__noise_span *s, sl_arena *a, int64_t rows) {
    double *c = sl_arena_alloc(a, (size_t)rows * sizeof *c);
    if (c) s->column[s->base++] = c;
    return c;
}

/* log|x| of a column of inputs; false where x is 0 somewhere. */
static bool has_log(const double *x, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) {
        if (!(fabs(x[i]) >= 1e-300)) return false;
    }
    return true;
}

static sl_status product_columns(sl_search__noise_span *s, sl_arena *a, const sl_search__job *j) {
    int64_t rows = j->rows.rows;
    for (int v = -1; v < j->rows.inputs; v++) {
        if (v >= 0 && !has_log(j->rows.x[v], rows)) continue;
        s->variable[s->base] = v;
        double *c = new_column(s, a, rows);
        if (!c)
            return sl_fail_memory((size_t)rows, sizeof *c, "a column of the search under noise");
        for (int64_t i = 0; i < rows; i++) c[i] = v < 0 ? 1 : fabs(j->rows.x[v][i]);
        if (v >= 0) sl_log_array(c, c, (int)rows);
    }
    return SL_OK;
}

/* All monomials of a degree, in the order of their powers. */
static sl_status monomial_columns(sl_search__noise_span *s, sl_arena *a, const sl_search__job *j,
                                  int8_t *power, int from, int left) {
    int64_t rows = j->rows.rows;
    if (left > 0) {
        for (int v = from; v < j->rows.inputs; v++) {
            power[v]++;
            SL_TRY(monomial_columns(s, a, j, power, v, left - 1));
            power[v]--;
        }
        return SL_OK;
    }
    memcpy(s->power[s->base], power, sizeof s->power[0]);
    double *c = new_column(s, a, rows);
    if (!c) return sl_fail_memory((size_t)rows, sizeof *c, "a column of the search under noise");
    for (int64_t i = 0; i < rows; i++) {
        c[i] = 1;
        for (int v = 0; v < j->rows.inputs; v++) {
            for (int k = 0; k < power[v]; k++) c[i] *= j->rows.x[v][i];
        }
    }
    return SL_OK;
}

int sl_search__noise_span_base(const sl_search__job *j, sl_side side, int degree) {
    if (side == SL_SIDE_PRODUCT) return 1 + j->rows.inputs;
    double n = 1;
    for (int d = 1; d <= degree; d++) n = n * (j->rows.inputs + d) / d;
    return n > 1e6 ? 1000000 : (int)(n + 0.5);
}

static sl_status make_columns(sl_search__noise_span *s, sl_arena *a, const sl_search__job *j) {
    if (s->side == SL_SIDE_PRODUCT) return product_columns(s, a, j);
    for (int d = 0; d <= s->degree; d++) {
        int8_t power[SL_DATA_MAX_INPUTS] = { 0 };
        SL_TRY(monomial_columns(s, a, j, power, 0, d));
    }
    return SL_OK;
}

/* ---------------------------------------------------------------- projector ----------------- */

/* T(y) at a probe, and the row's weight; 0 where it has no value. */
static double transformed(double *weight, sl_search__noise_link link, double y, double typical) {
    double size = fabs(y), t = y, slope = 1;
    switch (link) {
    case SL_NOISE__LOG: t = size > 0 ? sl_log(size) : 0, slope = 1 / size; break;
    case SL_NOISE__INVERSE: t = 1 / y, slope = 1 / (y * y); break;
    case SL_NOISE__SQUARE: t = y * y, slope = 2 * SL_MAX(size, 0.05 * typical); break;
    case SL_NOISE__INVERSE_SQUARE: t = 1 / (y * y), slope = 2 / (size * y * y); break;
    default: break;
    }
    bool known = isfinite(t) && slope > 0 && isfinite(slope);
    *weight = known ? 1 / slope : 0;
    return known ? t : 0;
}

/* basis[n] := w made orthogonal to the n before it and of unit length; false if nothing is left. */
static bool orthogonalise(double (*basis)[SL_NOISE__PROBES], int n, const double *w, int probes) {
    double *v = basis[n], before = sl_search__dot(w, w, probes);
    memcpy(v, w, (size_t)probes * sizeof *v);
    for (int round = 0; round < 2; round++) {
        for (int b = 0; b < n; b++) {
            double d = sl_search__dot(basis[b], v, probes);
            for (int i = 0; i < probes; i++) v[i] -= d * basis[b][i];
        }
    }
    double after = sl_search__dot(v, v, probes);
    if (!(after > 1e-20 * before) || !isfinite(after)) return false;
    for (int i = 0; i < probes; i++) v[i] /= sqrt(after);
    return true;
}

/* Rows of the projector: random directions outside the weighted columns. Random, because a subset
 * of a fixed basis would cover only some rows. */
static void make_projector(sl_search__noise_span *s) {
    double basis[SL_NOISE__PROBES + 1][SL_NOISE__PROBES], w[SL_NOISE__PROBES];
    int n = 0, inside;
    for (int c = 0; c < s->base; c++) {
        for (int i = 0; i < s->probes; i++) w[i] = s->weight[i] * s->column[c][i];
        n += orthogonalise(basis, n, w, s->probes);
    }
    inside = n;
    sl_rng rng;
    sl_rng_init(&rng, 14, 1, 0);
    for (s->dims = 0; s->dims < SL_NOISE__DIMS && n < s->probes; s->dims++, n++) {
        for (int i = 0; i < s->probes; i++) w[i] = s->weight[i] > 0 ? sl_rng_normal(&rng) : 0;
        if (!orthogonalise(basis, n, w, s->probes)) break;
        for (int i = 0; i < s->stride; i++) {
            double *to = &s->projector[s->dims * s->stride + i];
            *to = i < s->probes ? basis[inside + s->dims][i] * s->weight[i] : 0;
        }
    }
}

static void project(double *q, const sl_search__noise_span *s, const double *value) {
    s->kernels->project(q, s->projector, value, s->dims, s->stride);
}

bool sl_search__noise_project(float *q, const sl_search__noise_span *s, const double *value) {
    double v[SL_NOISE__DIMS], size = 0;
    for (int i = 0; i < s->probes; i++) {
        double w = s->weight[i] * value[i];
        size += w * w;
    }
    project(v, s, value);
    double left = sl_search__dot(v, v, s->dims);
    if (!(left > 1e-9 * size) || !(left > 1e-280) || !isfinite(size)) return false;
    double scale = 1 / sqrt(left);
    for (int d = 0; d < s->dims; d++) q[d] = (float)(v[d] * scale);
    return true;
}

sl_status sl_search__noise_span_make(sl_search__noise_span *out, sl_arena *a,
                                     const sl_search__job *j, const double *weight, sl_side side,
                                     sl_search__noise_link link, int degree, int stride) {
    sl_search__noise_span s = { .kernels = sl_search__noise_kernels_at(sl_cpu()),
                                .side = side,
                                .link = link,
                                .degree = degree,
                                .stride = stride };
    double value[SL_NOISE__PROBES + 8] = { 0 }, q[SL_NOISE__DIMS], typical = 0;
    s.probes = (int)SL_MIN(j->rows.rows, SL_NOISE__PROBES);
    SL_TRY(make_columns(&s, a, j));
    s.projector = sl_arena_alloc(a, (size_t)(SL_NOISE__DIMS * stride) * sizeof(double));
    if (!s.projector)
        return sl_fail_memory(SL_NOISE__DIMS, (size_t)stride * sizeof(double), "a projector");
    for (int i = 0; i < s.probes; i++) typical += j->rows.y[i] * j->rows.y[i] / s.probes;
    for (int i = 0; i < s.probes; i++) {
        value[i] = transformed(&s.weight[i], link, j->rows.y[i], sqrt(typical));
        if (weight) s.weight[i] *= weight[i];
    }
    make_projector(&s);
    project(q, &s, value);
    s.target_square = sl_search__dot(q, q, s.dims);
    if (!(s.target_square > 0) || !isfinite(s.target_square)) s.dims = 0;
    for (int d = 0; d < s.dims; d++) s.target[d] = (float)(q[d] / sqrt(s.target_square));
    *out = s;
    return SL_OK;
}
