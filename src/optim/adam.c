/* adam - the passes over floats for every CPU, and the choice of a wider variant. */
#include <math.h>

#define REAL float
#define SQRT sqrtf
#include "optim/adam_body.h"

const sl_optim__kernels sl_optim__base = { "base", sizeof(float), adam, shrink, squares };

static const sl_optim__kernels *const variants[SL_ISA_COUNT] =
    SL_ISA_VARIANTS(sl_optim__base, sl_optim__avx2, sl_optim__avx512);

const sl_optim__kernels *sl_optim__usable(int i) {
    return i <= (int)sl_cpu_best() ? variants[i] : NULL;
}

const sl_optim__kernels *sl_optim__chosen(void) { return variants[sl_cpu()]; }
