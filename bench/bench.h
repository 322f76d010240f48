/* bench - shared by the benches of all folders. */
#ifndef SL_BENCH_H
#define SL_BENCH_H

#include <stdlib.h>

static inline int sl_bench_cmp(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts measured times: t[0] is the best, t[n / 2] the median. */
static inline void sl_bench_sort(double *t, int n) { qsort(t, (size_t)n, sizeof *t, sl_bench_cmp); }

#endif
