/* bags - which rows are fitted, which are held out, and which the model reads together. */
#include <math.h>

#include "discover/discover_impl.h"

/* ---------------------------------------------------------------- rows ---------------------- */

static sl_status hold_out(sl_discover__rows *r, sl_arena *a, const sl_dataset *p,
                          const sl_discover_options *o) {
    const int64_t held = (int64_t)(o->holdout * (double)p->rows + 0.5);
    sl_rng rng;
    if (held == 0) return SL_OK;
    if (p->rows - held < 2)
        return sl_fail(SL_EINVAL, "holding out %lld of %lld rows leaves too few to fit",
                       (long long)held, (long long)p->rows);
    sl_rng_init(&rng, o->seed, SL_DISCOVER__HOLDOUT, o->problem);
    return sl_data_hold_out(&r->fit, &r->held, &r->fitted, a, p, held, &rng);
}

sl_status sl_discover__rows_make(sl_discover__rows *out, sl_arena *a, const sl_dataset *p,
                                 const sl_discover_options *o) {
    *out = (sl_discover__rows){ .fit = *p, .held = { .inputs = p->inputs }, .shown = p->inputs };
    for (int c = 0; c < p->inputs; c++) out->column[c] = c;
    SL_TRY(hold_out(out, a, p, o));
    out->standard = sl_data_standard(&out->fit);
    out->constant = sl_data_constant(&out->fit);
    return SL_OK;
}

/* ---------------------------------------------------------------- bags ---------------------- */

enum { MOST_BAGS = 8 };

/* If the inputs have mean 0 and variance 1 already, the model need not read them twice. */
static bool is_unit(const sl_discover__rows *r) {
    for (int i = 0; i < r->shown; i++) {
        const int c = r->column[i];
        if (fabs(r->standard.mean[c]) > 0.05 || fabs(r->standard.deviation[c] - 1) > 0.05)
            return false;
    }
    return true;
}

static sl_status fill_bag(sl_discover__bag *b, sl_arena *a, const sl_discover__rows *r,
                          const int64_t *order, int64_t from, int points) {
    const sl_dataset all = sl_data_view_inputs(&r->fit, r->column, r->shown);
    int64_t *pick = sl_arena_alloc(a, (size_t)points * sizeof *pick);
    if (!pick) return sl_fail_memory((size_t)points, sizeof *pick, "rows");
    for (int64_t i = 0; i < points; i++) pick[i] = order ? order[(from + i) % all.rows] : i;
    SL_TRY(sl_data_pick_rows(&b->data, a, &all, pick, points));
    for (int c = 0; c < r->shown && b->unit; c++) // gathered just now: our own
        sl_data_standardise((double *)b->data.x[c], points, &r->standard, r->column[c]);
    return SL_OK;
}

sl_status sl_discover__bags_make(sl_discover__bag **bags, int *n, sl_arena *a,
                                 const sl_discover__rows *r, int points,
                                 const sl_discover_options *o, int64_t samples) {
    const int64_t rows = r->fit.rows;
    const int size = (int)SL_MIN(points, rows);
    const int views = o->scale == SL_SCALE_BOTH && !is_unit(r) ? 2 : 1;
    int64_t each = o->bags > 0 ? o->bags : SL_MIN(MOST_BAGS, (rows + size - 1) / size);
    each = SL_MAX(1, SL_MIN(each, samples / views));
    int64_t *order = NULL;
    sl_rng rng;
    sl_rng_init(&rng, o->seed, SL_DISCOVER__BAGS, o->problem);
    if (rows > size) SL_TRY(sl_data_shuffle(&order, a, rows, &rng));
    *n = (int)(views * each);
    sl_discover__bag *b = sl_arena_alloc(a, (size_t)*n * sizeof *b);
    if (!b) return sl_fail_memory((size_t)*n, sizeof *b, "bags");
    int64_t first = 0;
    for (int i = 0; i < *n; i++) {
        const bool unit = o->scale == SL_SCALE_UNIT || (views == 2 && i % 2 == 1);
        const int64_t count = (samples - first) / (*n - i);
        b[i] = (sl_discover__bag){ .unit = unit, .first = first, .count = count };
        SL_TRY(fill_bag(&b[i], a, r, order, (int64_t)(i / views) * size, size));
        first += count;
    }
    *bags = b;
    return SL_OK;
}
