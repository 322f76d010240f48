/* dataset - data sets made of others: fewer inputs, some rows, rows held out, inputs to one scale.
 */
#include <math.h>
#include <string.h>

#include "data/data.h"
#include "num/num.h"

sl_dataset sl_data_view_inputs(const sl_dataset *d, const int *column, int n) {
    sl_dataset view = *d;
    view.inputs = n;
    view.names = NULL;
    for (int i = 0; i < n; i++) view.x[i] = d->x[column[i]];
    return view;
}

/* ---------------------------------------------------------------- rows ---------------------- */

static sl_status gather(const double **column, sl_arena *a, const int64_t *pick, int64_t n) {
    double *to = sl_arena_alloc(a, (size_t)n * sizeof *to);
    if (!to) return sl_fail_memory((size_t)n, sizeof *to, "rows");
    for (int64_t i = 0; i < n; i++) to[i] = (*column)[pick[i]];
    *column = to;
    return SL_OK;
}

sl_status sl_data_pick_rows(sl_dataset *out, sl_arena *a, const sl_dataset *d, const int64_t *pick,
                            int64_t n) {
    sl_dataset rows = *d;
    rows.rows = n;
    for (int c = 0; c < d->inputs; c++) SL_TRY(gather(&rows.x[c], a, pick, n));
    SL_TRY(gather(&rows.y, a, pick, n));
    if (d->sigma) SL_TRY(gather(&rows.sigma, a, pick, n));
    *out = rows;
    return SL_OK;
}

sl_status sl_data_pick_evenly(sl_dataset *out, sl_arena *a, const sl_dataset *d, int64_t n) {
    int64_t *pick = sl_arena_alloc(a, (size_t)n * sizeof *pick);
    if (!pick) return sl_fail_memory((size_t)n, sizeof *pick, "rows");
    for (int64_t i = 0; i < n; i++) pick[i] = i * d->rows / n;
    return sl_data_pick_rows(out, a, d, pick, n);
}

sl_status sl_data_shuffle(int64_t **order, sl_arena *a, int64_t rows, sl_rng *rng) {
    int64_t *o = sl_arena_alloc(a, (size_t)rows * sizeof *o);
    if (!o) return sl_fail_memory((size_t)rows, sizeof *o, "rows");
    for (int64_t i = 0; i < rows; i++) o[i] = i;
    for (int64_t i = rows - 1; i > 0; i--) {
        const int64_t k = (int64_t)(sl_rng_uniform(rng) * (double)(i + 1));
        const int64_t at = o[i];
        o[i] = o[k];
        o[k] = at;
    }
    *order = o;
    return SL_OK;
}

sl_status sl_data_hold_out(sl_dataset *fit, sl_dataset *held, const bool **fitted, sl_arena *a,
                           const sl_dataset *d, int64_t n, sl_rng *rng) {
    SL_ASSERT(n > 0 && n < d->rows);
    int64_t *order;
    SL_TRY(sl_data_shuffle(&order, a, d->rows, rng));
    bool *in_fit = sl_arena_alloc(a, (size_t)d->rows);
    if (!in_fit) return sl_fail_memory((size_t)d->rows, 1, "rows");
    memset(in_fit, true, (size_t)d->rows);
    for (int64_t i = 0; i < n; i++) in_fit[order[i]] = false;
    for (int64_t i = 0, h = 0, f = n; i < d->rows; i++) order[in_fit[i] ? f++ : h++] = i;
    SL_TRY(sl_data_pick_rows(held, a, d, order, n));
    SL_TRY(sl_data_pick_rows(fit, a, d, order + n, d->rows - n));
    *fitted = in_fit;
    return SL_OK;
}

bool sl_data_constant(const sl_dataset *d) {
    for (int64_t i = 1; i < d->rows; i++)
        if (d->y[i] != d->y[0]) return false;
    return true;
}

/* ---------------------------------------------------------------- scale --------------------- */

/* The sum of numbers near the largest double is none. */
static double mean_of(const double *x, int64_t n, double largest) {
    const double mean = sl_num_mean(x, n);
    if (isfinite(mean)) return mean;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] / largest;
    return sum / (double)n * largest;
}

sl_standard sl_data_standard(const sl_dataset *d) {
    sl_standard s = { .mean = { 0 } };
    for (int c = 0; c < d->inputs; c++) {
        const double *x = d->x[c];
        double scale = 0, squares = 0;
        for (int64_t i = 0; i < d->rows; i++) scale = fmax(scale, fabs(x[i]));
        s.mean[c] = mean_of(x, d->rows, scale);
        // in units of the largest one, so that squares neither overflow nor vanish
        for (int64_t i = 0; i < d->rows && scale > 0; i++) {
            const double v = x[i] / scale - s.mean[c] / scale;
            squares += v * v;
        }
        s.deviation[c] = scale * sqrt(squares / (double)d->rows);
        if (!isfinite(1 / s.deviation[c])) s.deviation[c] = 0;
        s.factor[c] = s.deviation[c] > 0 ? 1 / s.deviation[c] : 1;
    }
    return s;
}

void sl_data_standardise(double *x, int64_t n, const sl_standard *s, int c) {
    for (int64_t i = 0; i < n; i++) // by halves, or the difference may be no double
        x[i] = (0.5 * x[i] - 0.5 * s->mean[c]) * s->factor[c] * 2;
}
