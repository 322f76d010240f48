/* problem - some rows of a problem as one of their own. */
#include "data/data.h"

static sl_status gather(const double **out, sl_arena *a, const double *from, const int64_t *pick,
                        int64_t n) {
    double *to = sl_arena_alloc(a, (size_t)n * sizeof *to);
    if (!to) return sl_fail_memory((size_t)n, sizeof *to, "rows");
    for (int64_t i = 0; i < n; i++) to[i] = from[pick[i]];
    *out = to;
    return SL_OK;
}

sl_status sl_data_problem_pick(sl_problem *out, const double **columns, sl_arena *a,
                               const sl_problem *p, const int64_t *pick, int64_t n) {
    const double *y, *sigma = NULL;
    for (int c = 0; c < p->inputs; c++) SL_TRY(gather(&columns[c], a, p->x[c], pick, n));
    SL_TRY(gather(&y, a, p->y, pick, n));
    if (p->sigma) SL_TRY(gather(&sigma, a, p->sigma, pick, n));
    *out = (sl_problem){ .inputs = p->inputs,
                         .rows = n,
                         .x = columns,
                         .y = y,
                         .sigma = sigma,
                         .sigma_absolute = p->sigma_absolute };
    return SL_OK;
}
