/* adam_body - the passes over numbers of type REAL with the root SQRT. Plain loops that compilers
 * turn into vectors. A step is bound by memory (it reads four arrays and writes three), so the exact
 * root and quotient cost nothing that estimates would save. */
#include "optim/optim_impl.h"

static void adam(void *weights, void *mean, void *square, const void *grad, int n,
                 const sl_optim__move *k, double keep_weights) {
    REAL *restrict w = weights, *restrict m = mean, *restrict v = square;
    const REAL *restrict g = grad;
    const REAL by = (REAL)k->grad, rate1 = (REAL)k->rate1, rate2 = (REAL)k->rate2;
    const REAL keep2 = (REAL)k->keep2, keep = (REAL)keep_weights, step = (REAL)k->step;
    const REAL root = (REAL)k->root, eps = (REAL)k->eps;
    for (int i = 0; i < n; i++) {
        const REAL gi = g[i] * by;
        const REAL mi = m[i] + rate1 * (gi - m[i]);
        const REAL vi = keep2 * v[i] + rate2 * (gi * gi);
        m[i] = mi;
        v[i] = vi;
        w[i] = keep * w[i] - step * (mi / (root * SQRT(vi) + eps));
    }
}

static void scale(void *numbers, int n, double by) {
    REAL *x = numbers;
    const REAL factor = (REAL)by;
    for (int i = 0; i < n; i++) x[i] *= factor;
}

/* In double, in eight strands of every eighth number each. */
static double squares(const void *numbers, int n) {
    enum { STRANDS = 8 };
    const REAL *x = numbers;
    double sum[STRANDS] = { 0 };
    int i = 0;
    for (; i + STRANDS <= n; i += STRANDS)
        for (int k = 0; k < STRANDS; k++) sum[k] += (double)x[i + k] * (double)x[i + k];
    for (int k = 0; i + k < n; k++) sum[k] += (double)x[i + k] * (double)x[i + k];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}
