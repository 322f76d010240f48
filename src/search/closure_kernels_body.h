/* The text of closure_kernels*.c; KERNELS is the name of the table. */
#include "search/closure_kernels.h"

enum { LANES = SL_CLOSURE__LANES };

/* The compiler makes one, two or four registers of it. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

#define AT(p) (*(lanes *)(p))
#define IN(p) (*(const lanes *)(p))

static inline double sum_lanes(const lanes *v) {
    const double *s = (const double *)v;
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static inline double dot(const double *a, const double *b, int rows) {
    lanes s = { 0 };
    for (int k = 0; k < rows; k += LANES) s += IN(a + k) * IN(b + k);
    return sum_lanes(&s);
}

/* Four columns at once: their sums do not wait for each other. */
static inline void project_four(double *v, const double *q, int rows, int stride) {
    const double *q1 = q + stride, *q2 = q1 + stride, *q3 = q2 + stride;
    lanes a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };
    for (int k = 0; k < rows; k += LANES) {
        const lanes x = IN(v + k);
        a += IN(q + k) * x;
        b += IN(q1 + k) * x;
        c += IN(q2 + k) * x;
        d += IN(q3 + k) * x;
    }
    const double p = sum_lanes(&a), r = sum_lanes(&b), s = sum_lanes(&c), t = sum_lanes(&d);
    for (int k = 0; k < rows; k += LANES)
        AT(v + k) -= (p * IN(q + k) + r * IN(q1 + k)) + (s * IN(q2 + k) + t * IN(q3 + k));
}

static double project(double *v, const double *q, int n, int rows, int stride) {
    int i = 0;
    for (; i + 4 <= n; i += 4) project_four(v, q + (size_t)i * (size_t)stride, rows, stride);
    for (; i < n; i++) {
        const double *unit = q + (size_t)i * (size_t)stride, part = dot(unit, v, rows);
        for (int k = 0; k < rows; k += LANES) AT(v + k) -= part * IN(unit + k);
    }
    return dot(v, v, rows);
}

const sl_closure__kernels KERNELS = { project };
