/* bags - which rows are fitted, which are held out, and which the model is shown together. */
#include <math.h>
#include <string.h>

#include "discover/discover_impl.h"
#include "num/num.h"

/* ---------------------------------------------------------------- rows ---------------------- */

/* order[0..n) := a random order of the rows. */
static void shuffle(int64_t *order, int64_t n, sl_rng *rng) {
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t k = (int64_t)(sl_rng_uniform(rng) * (double)(i + 1));
        const int64_t at = order[i];
        order[i] = order[k];
        order[k] = at;
    }
}

static sl_status random_order(int64_t **out, sl_arena *a, int64_t n, uint64_t seed, uint32_t stream,
                              uint64_t index) {
    sl_rng rng;
    int64_t *order = sl_arena_alloc(a, (size_t)n * sizeof *order);
    if (!order) return sl_fail_memory((size_t)n, sizeof *order, "rows");
    sl_rng_init(&rng, seed, stream, index);
    shuffle(order, n, &rng);
    *out = order;
    return SL_OK;
}

/* In the order that the table has: a sum over rows then is the same with and without a holdout of
 * the others. */
static void sort_rows(int64_t *pick, int64_t n, bool *taken, int64_t rows) {
    memset(taken, 0, (size_t)rows);
    for (int64_t i = 0; i < n; i++) taken[pick[i]] = true;
    for (int64_t i = 0, k = 0; i < rows; i++)
        if (taken[i]) pick[k++] = i;
}

static sl_status hold_out(sl_discover__rows *r, sl_arena *a, const sl_problem *p,
                          const sl_discover_options *o) {
    const int64_t held = (int64_t)(o->holdout * (double)p->rows + 0.5);
    int64_t *order;
    if (held == 0) return SL_OK;
    if (p->rows - held < 2)
        return sl_fail(SL_EINVAL, "holding out %lld of %lld rows leaves too few to fit",
                       (long long)held, (long long)p->rows);
    SL_TRY(random_order(&order, a, p->rows, o->seed, SL_DISCOVER__HOLDOUT, o->problem));
    bool *taken = sl_arena_alloc(a, (size_t)p->rows);
    if (!taken) return sl_fail_memory((size_t)p->rows, 1, "rows");
    sort_rows(order, held, taken, p->rows);
    sort_rows(order + held, p->rows - held, taken, p->rows);
    r->fitted = taken;
    SL_TRY(sl_data_problem_pick(&r->held, r->columns[1], a, p, order, held));
    return sl_data_problem_pick(&r->fit, r->columns[0], a, p, order + held, p->rows - held);
}

/* The sum of numbers near the largest double is none. */
static double mean_of(const double *x, int64_t n, double largest) {
    const double mean = sl_num_mean(x, n);
    if (isfinite(mean)) return mean;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] / largest;
    return sum / (double)n * largest;
}

/* A deviation so small that its inverse is no double counts as none. */
static void measure(sl_discover__rows *r) {
    const sl_problem *p = &r->fit;
    for (int c = 0; c < p->inputs; c++) {
        double scale = 0, squares = 0;
        for (int64_t i = 0; i < p->rows; i++) scale = fmax(scale, fabs(p->x[c][i]));
        r->mean[c] = mean_of(p->x[c], p->rows, scale);
        // in units of the largest one, so that squares neither overflow nor vanish
        for (int64_t i = 0; i < p->rows && scale > 0; i++) {
            const double v = p->x[c][i] / scale - r->mean[c] / scale;
            squares += v * v;
        }
        r->deviation[c] = scale * sqrt(squares / (double)p->rows);
        if (!isfinite(1 / r->deviation[c])) r->deviation[c] = 0;
    }
    r->constant = true;
    for (int64_t i = 1; i < p->rows; i++) r->constant = r->constant && p->y[i] == p->y[0];
}

sl_status sl_discover__rows_make(sl_discover__rows *out, sl_arena *a, const sl_problem *p,
                                 const sl_discover_options *o) {
    *out = (sl_discover__rows){ .fit = *p, .held = { .inputs = p->inputs } };
    out->shown = p->inputs;
    for (int c = 0; c < p->inputs; c++) out->column[c] = c;
    SL_TRY(hold_out(out, a, p, o));
    measure(out);
    return SL_OK;
}

/* ---------------------------------------------------------------- bags ---------------------- */

enum { MOST_BAGS = 8 };

/* Inputs that have mean 0 and variance 1 as they are need not be shown twice. */
static bool is_unit(const sl_discover__rows *r) {
    for (int i = 0; i < r->shown; i++) {
        const int c = r->column[i];
        if (fabs(r->mean[c]) > 0.05 || fabs(r->deviation[c] - 1) > 0.05) return false;
    }
    return true;
}

double sl_discover__scale(const sl_discover__rows *r, int c) {
    return r->deviation[c] > 0 ? 1 / r->deviation[c] : 1;
}

static sl_status fill_bag(sl_discover__bag *b, sl_arena *a, const sl_discover__rows *r,
                          const int64_t *order, int64_t from, int points) {
    const sl_problem *p = &r->fit;
    const double *columns[SL_DATA_MAX_INPUTS];
    const sl_problem all = { .inputs = r->shown, .rows = p->rows, .x = columns, .y = p->y };
    sl_problem shown;
    for (int c = 0; c < r->shown; c++) columns[c] = p->x[r->column[c]];
    int64_t *pick = sl_arena_alloc(a, (size_t)points * sizeof *pick);
    if (!pick) return sl_fail_memory((size_t)points, sizeof *pick, "rows");
    for (int64_t i = 0; i < points; i++) pick[i] = order ? order[(from + i) % p->rows] : i;
    SL_TRY(sl_data_problem_pick(&shown, b->x, a, &all, pick, points));
    for (int c = 0; c < r->shown && b->unit; c++) {
        const int column = r->column[c];
        double *x = (double *)b->x[c];   // gathered just now: our own
        for (int i = 0; i < points; i++) // by halves, or the difference may be no double
            x[i] = (0.5 * x[i] - 0.5 * r->mean[column]) * sl_discover__scale(r, column) * 2;
    }
    b->data = (sl_infer_data){ .inputs = r->shown, .points = points, .x = b->x, .y = shown.y };
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
    if (rows > size) SL_TRY(random_order(&order, a, rows, o->seed, SL_DISCOVER__BAGS, o->problem));
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
