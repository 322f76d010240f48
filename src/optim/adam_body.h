/* adam_body - the passes over numbers of type REAL with the root SQRT. Plain loops that compilers
 * turn into vectors. A step is bound by memory (it reads four arrays and writes three), so the
 * exact root and quotient cost nothing that estimates would save. */
#include "optim/optim_impl.h"

static void adam(void *weights, void *mean, void *square, const void *grad, int n,
                 const sl_optim__move *k, double decay_by) {
    REAL *restrict w = weights, *restrict m = mean, *restrict v = square;
    const REAL *restrict g = grad;
    const REAL by = (REAL)k->grad, rate1 = (REAL)k->rate1, rate2 = (REAL)k->rate2;
    const REAL keep2 = (REAL)k->keep2, decay = (REAL)decay_by, lr = (REAL)k->lr;
    const REAL c1 = (REAL)k->c1, root2 = (REAL)k->root2, eps = (REAL)k->eps;
    for (int i = 0; i < n; i++) {
        const REAL gi = g[i] * by;
        const REAL mi = m[i] + rate1 * (gi - m[i]);
        const REAL vi = keep2 * v[i] + rate2 * gi * gi;
        m[i] = mi;
        v[i] = vi;
        w[i] = (w[i] - decay * w[i]) - lr * mi / c1 / (SQRT(vi) / root2 + eps);
    }
}

/* A part is taken away, not a factor near 1 multiplied with: that one's rounding would be the same
 * for all numbers, and in float as large as one part in thirty of a shrink by 1e-6. */
static void shrink(void *numbers, int n, double part_by) {
    REAL *x = numbers;
    const REAL part = (REAL)part_by;
    for (int i = 0; i < n; i++) x[i] -= part * x[i];
}

/* In double, in sixteen strands of every sixteenth number each, which are then added by halves;
 * what is left over at the end is added one by one. */
static double squares(const void *numbers, int n) {
    enum { STRANDS = 16 };
    const REAL *x = numbers;
    double sum[STRANDS] = { 0 };
    int i = 0;
    for (; i + STRANDS <= n; i += STRANDS)
        for (int k = 0; k < STRANDS; k++) sum[k] += (double)x[i + k] * (double)x[i + k];
    for (int half = STRANDS / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) sum[k] += sum[k + half];
    for (; i < n; i++) sum[0] += (double)x[i] * (double)x[i];
    return sum[0];
}
