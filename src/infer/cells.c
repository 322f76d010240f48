/* cells - a data set as the model reads it. */
#include <math.h>

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

_Static_assert(SL_NN_MAX_COLUMNS <= SL_DATA_MAX_INPUTS, "a data set has room for all columns");

sl_status sl_infer__cells_make(sl_infer__cells *out, sl_arena *a, const sl_infer *m,
                               const sl_dataset *d, uint64_t seed, uint64_t problem) {
    const int columns = (int)m->model->options.columns, n = (int)d->rows;
    const size_t cells = (size_t)columns * (size_t)n;
    if (d->inputs + 1 > columns)
        return sl_fail(SL_EINVAL, "the model takes %d input%s; the data have %d", columns - 1,
                       columns == 2 ? "" : "s", d->inputs);
    *out = (sl_infer__cells){ .mantissa = sl_arena_alloc(a, cells * sizeof(float)),
                              .exponent = sl_arena_alloc(a, cells * sizeof(float)) };
    double *filling = sl_arena_alloc(a, cells * sizeof *filling);
    if (!out->mantissa || !out->exponent || !filling)
        return sl_fail_memory(cells, 2 * sizeof(float), "cells");
    sl_dataset shown = *d;
    while (m->info.drop_column <= 0 && shown.inputs + 1 < columns) {
        double *v = filling + shown.inputs * n;
        fill(v, n, seed, problem, shown.inputs + 1);
        shown.x[shown.inputs++] = v;
    }
    sl_model_write_cells(out->mantissa, out->exponent, out->present, &shown, columns);
    out->batch = (sl_batch){ .pairs = 1,
                             .points = n,
                             .mantissa = out->mantissa,
                             .exponent = out->exponent,
                             .present = out->present };
    return SL_OK;
}
