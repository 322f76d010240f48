/* twin - the optimiser in double. */
#include "optim/optim_test.h"

#include <math.h>

#include "optim/optim_impl.h"

#define REAL double
#define SQRT sqrt
#include "optim/adam_body.h"

static const sl_optim__kernels in_double = { "double", sizeof(double), adam, shrink, squares };

sl_status sl_optim_twin_new(sl_optim_twin **out, const sl_optim *s) {
    const size_t n = (size_t)(s->end - s->begin);
    sl_optim_twin *t = sl_calloc(1, sizeof *t);
    if (!t) return sl_fail_memory(1, sizeof *t, "an optimiser in double");
    t->m = sl_calloc(n, sizeof *t->m);
    t->v = sl_calloc(n, sizeof *t->v);
    if (!t->m || !t->v) {
        sl_optim_twin_free(t);
        return sl_fail_memory(n, 2 * sizeof *t->m, "moments in double");
    }
    *out = t;
    return SL_OK;
}

void sl_optim_twin_free(sl_optim_twin *t) {
    if (!t) return;
    sl_free(t->m);
    sl_free(t->v);
    sl_free(t);
}

sl_status sl_optim_step_d(sl_optim_report *out, sl_optim *s, sl_optim_twin *t, double *weights,
                          const double *grad, double scale) {
    const sl_optim__kernels *k = &in_double;
    for (int i = s->first; i < s->last; i++)
        s->sum[i] = k->squares(grad + s->piece[i].offset, s->piece[i].count);
    const sl_optim__arrays a = { k, weights, t->m, t->v, grad };
    return sl_optim__step(out, s, NULL, &a, scale, sl_optim__gather);
}
