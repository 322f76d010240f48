/* Inside src/optim only: the passes over numbers, and the parts of a step. */
#ifndef SL_OPTIM_IMPL_H
#define SL_OPTIM_IMPL_H

#include "optim/optim.h"

/* ---------------------------------------------------------------- passes over numbers ------- */

/* What Adam does to every number in a step:
 *
 *     g *= grad;   m += rate1 (g - m);   v = keep2 v + rate2 g^2
 *     w = w - decay w - (lr m / c1) / (sqrt(v) / root2 + eps)
 *
 * decay is 0 but for AdamW. Each operation rounds where it stands here: with other groupings the
 * stored answers of the optimiser's authors' rule cannot be followed past its first overshoot. */
typedef struct sl_optim__move {
    double grad;                // scale and clip factor
    double rate1, keep2, rate2; // 1 - beta1, beta2, 1 - beta2
    double lr, c1, root2, eps;  // c1 = 1 - beta1^t, root2 = sqrt(1 - beta2^t)
} sl_optim__move;

/* The passes for one number type and CPU. Each does its n numbers one by one with single IEEE 754
 * operations, nothing fused, and sums squares in strands whose number does not depend on the width
 * of vectors: all kernels for float give the same bits. */
typedef struct sl_optim__kernels {
    const char *name;
    size_t size; // of a number
    void (*adam)(void *w, void *m, void *v, const void *g, int n, const sl_optim__move *k,
                 double decay);
    void (*shrink)(void *x, int n, double part); // x -= part x
    double (*squares)(const void *x, int n); // their sum
} sl_optim__kernels;

extern const sl_optim__kernels sl_optim__base, sl_optim__avx2, sl_optim__avx512;

/* The i-th for float that this CPU can run, slowest first; NULL past the last. */
const sl_optim__kernels *sl_optim__usable(int i);
const sl_optim__kernels *sl_optim__chosen(void); // by sl_cpu()

/* ---------------------------------------------------------------- bounds -------------------- */

/* Is R of this tensor needed in step t (from 1), after Adam's move? */
bool sl_optim__wants(const sl_optim *s, int tensor, int64_t t);
/* Moves the multipliers of step t, then sets bounds; sum[] has R by pieces where it was needed.
 * Returns how many bounds were set. */
int sl_optim__bound(sl_optim *s, int64_t t);
/* Are bounds to be made of the first weights now? And from their R in sum[]. */
bool sl_optim__wants_first(const sl_optim *s);
void sl_optim__bound_first(sl_optim *s);
/* The part of a tensor's weights that is taken away at the end of a step. */
double sl_optim__shrink(const sl_cpr *c);

/* ---------------------------------------------------------------- a step -------------------- */

/* The arrays of a step, of floats or doubles. Blocks begin with number 0, moments with s->begin. */
typedef struct sl_optim__arrays {
    const sl_optim__kernels *kernels;
    void *weights, *m, *v;
    const void *grad;
} sl_optim__arrays;

/* exchange makes s->sum whole from what ranks have of it: sl_optim__gather, or what a test puts in
 * its place to have several ranks in one process. */
typedef sl_status sl_optim__exchange(sl_optim *s);
sl_optim__exchange sl_optim__gather;
SL_NODISCARD sl_status sl_optim__step(sl_optim_report *out, sl_optim *s, sl_pool *pool,
                                      const sl_optim__arrays *a, double scale,
                                      sl_optim__exchange *exchange);

#endif
