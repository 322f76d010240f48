/* cells - a data set as the model reads it. */
#include <math.h>
#include <string.h>

#include "infer/infer_impl.h"

/* A column that the data lack, for a model that has always seen it: numbers that have nothing to do
 * with y, of mean 0 and variance 1 as in training. */
static void fill(double *v, int n, uint64_t seed, uint64_t problem, int column) {
    sl_rng rng;
    sl_rng_init(&rng, seed, SL_INFER__FILLING + (uint32_t)column, problem);
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) sum += v[i] = sl_rng_normal(&rng);
    for (int i = 0; i < n; i++) {
        v[i] -= sum / n;
        squares += v[i] * v[i];
    }
    for (int i = 0; i < n && squares > 0; i++) v[i] /= sqrt(squares / n);
}

static void put(sl_infer__cells *c, int column, const double *v, int n) {
    float *m = c->mantissa + (size_t)column * (size_t)n, *e = c->exponent + (m - c->mantissa);
    c->present[column] = v != NULL;
    memset(m, 0, (size_t)n * sizeof *m);
    memset(e, 0, (size_t)n * sizeof *e);
    if (!v) return;
    sl_token_number_split_array(m, e, v, n);
    for (int i = 0; i < n; i++) e[i] /= 10.0f;
}

sl_status sl_infer__cells_make(sl_infer__cells *out, sl_arena *a, const sl_infer *m,
                               const sl_infer_data *d, uint64_t seed, uint64_t problem) {
    const int columns = (int)m->model->options.columns, n = d->points;
    const size_t cells = (size_t)columns * (size_t)n;
    if (d->inputs + 1 > columns)
        return sl_fail(SL_EINVAL, "the model takes %d input%s; the data have %d", columns - 1,
                       columns == 2 ? "" : "s", d->inputs);
    *out = (sl_infer__cells){ .mantissa = sl_arena_alloc(a, cells * sizeof(float)),
                              .exponent = sl_arena_alloc(a, cells * sizeof(float)) };
    double *filling = sl_arena_alloc(a, (size_t)n * sizeof *filling);
    if (!out->mantissa || !out->exponent || !filling)
        return sl_fail_memory(cells, 2 * sizeof(float), "cells");
    put(out, 0, d->y, n);
    for (int c = 1; c < columns; c++) {
        const double *v = c <= d->inputs ? d->x[c - 1] : NULL;
        if (!v && m->info.drop_column <= 0) {
            fill(filling, n, seed, problem, c);
            v = filling;
        }
        put(out, c, v, n);
    }
    out->batch = (sl_batch){ .pairs = 1,
                             .points = n,
                             .mantissa = out->mantissa,
                             .exponent = out->exponent,
                             .present = out->present };
    return SL_OK;
}
