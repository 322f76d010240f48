/* optim_test - what tests above this folder need: the optimiser in double.
 *
 *     sl_optim_new(&s, ...); sl_optim_twin_new(&twin, s);
 *     sl_optim_step_d(&report, s, twin, weights, grad, scale);      double weights and gradients
 *
 * All but the numbers is s's: options, steps done, bounds and multipliers. Its float moments stay
 * untouched, so an optimiser is stepped either in float or in double, not in both. */
#ifndef SL_OPTIM_TEST_H
#define SL_OPTIM_TEST_H

#include "optim/optim.h"

typedef struct sl_optim_twin {
    double *m, *v; // moments of begin .. end
} sl_optim_twin;

SL_NODISCARD sl_status sl_optim_twin_new(sl_optim_twin **out, const sl_optim *s);
void sl_optim_twin_free(sl_optim_twin *t);

/* As sl_optim_step, on the calling thread; sums of squares of the gradient are made here. */
SL_NODISCARD sl_status sl_optim_step_d(sl_optim_report *out, sl_optim *s, sl_optim_twin *t,
                                       double *weights, const double *grad, double scale);

#endif
