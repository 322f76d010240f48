/* The text of closure_kernels*.c: KERNELS is the name of the table, VECTOR_BYTES the width of a
 * register. Sums run in eight parts whatever the width, so it changes no bit. A vector that is wider
 * than a register would pass through memory: three times slower on AVX2. */
#include "search/closure_kernels.h"

enum { WIDTH = VECTOR_BYTES / 8, LANES = SL_CLOSURE__LANES, PARTS = LANES / WIDTH };

typedef double vector __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

#define AT(p) (*(vector *)(p))
#define IN(p) (*(const vector *)(p))

/* The eight partial sums of a dot product. */
typedef struct sums {
    vector part[PARTS];
} sums;

static inline void add_products(sums *s, const double *a, const double *b) {
    for (int i = 0; i < PARTS; i++) s->part[i] += IN(a + i * WIDTH) * IN(b + i * WIDTH);
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
    for (int k = 0; k < rows; k += WIDTH)
        AT(v + k) -= (p * IN(q + k) + r * IN(q1 + k)) + (s * IN(q2 + k) + t * IN(q3 + k));
}

static double project(double *v, const double *q, int n, int rows, int stride) {
    int i = 0;
    for (; i + 4 <= n; i += 4) project_four(v, q + (size_t)i * (size_t)stride, rows, stride);
    for (; i < n; i++) {
        const double *unit = q + (size_t)i * (size_t)stride, part = dot(unit, v, rows);
        for (int k = 0; k < rows; k += WIDTH) AT(v + k) -= part * IN(unit + k);
    }
    return dot(v, v, rows);
}

const sl_search__closure_kernels KERNELS = { project };
