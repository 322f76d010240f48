/* The text of closure_kernels*.c: KERNELS is the name of the table. Sums run in eight parts
 * whatever the width of a vector, so it changes no bit. */
#include "base/vector.h"
#include "search/closure_kernels.h"

enum { LANES = SL_CLOSURE__LANES, PARTS = LANES / WD };

/* The eight partial sums of a dot product. */
typedef struct sums {
    dvec part[PARTS];
} sums;

static inline void add_products(sums *s, const double *a, const double *b) {
    for (int i = 0; i < PARTS; i++) s->part[i] += d_load(a + i * WD) * d_load(b + i * WD);
}

static inline double whole(const sums *v) {
    const double *s = (const double *)v;
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static inline double dot(const double *a, const double *b, int rows) {
    sums s = { { { 0 } } };
    for (int k = 0; k < rows; k += LANES) add_products(&s, a + k, b + k);
    return whole(&s);
}

/* Four columns at once: their sums do not wait for each other. */
static inline void project_four(double *v, const double *q, int rows, int stride) {
    const double *q1 = q + stride, *q2 = q1 + stride, *q3 = q2 + stride;
    sums a = { { { 0 } } }, b = { { { 0 } } }, c = { { { 0 } } }, d = { { { 0 } } };
    for (int k = 0; k < rows; k += LANES) {
        add_products(&a, q + k, v + k);
        add_products(&b, q1 + k, v + k);
        add_products(&c, q2 + k, v + k);
        add_products(&d, q3 + k, v + k);
    }
    const double p = whole(&a), r = whole(&b), s = whole(&c), t = whole(&d);
    for (int k = 0; k < rows; k += WD)
        d_store(v + k, d_load(v + k) - ((p * d_load(q + k) + r * d_load(q1 + k)) +
                                        (s * d_load(q2 + k) + t * d_load(q3 + k))));
}

static double project(double *v, const double *q, int n, int rows, int stride) {
    int i = 0;
    for (; i + 4 <= n; i += 4) project_four(v, q + (size_t)i * (size_t)stride, rows, stride);
    for (; i < n; i++) {
        const double *column = q + (size_t)i * (size_t)stride, part = dot(column, v, rows);
        for (int k = 0; k < rows; k += WD)
            d_store(v + k, d_load(v + k) - part * d_load(column + k));
    }
    return dot(v, v, rows);
}

const sl_search__closure_kernels KERNELS = { project };
