/* The passes over floats, for AVX2. The CPU flags would allow fused operations; -ffp-contract=off
 * forbids them. */
#include <math.h>

#define REAL float
#define SQRT sqrtf
#include "optim/adam_body.h"

const sl_optim__kernels sl_optim__avx2 = { "avx2", sizeof(float), adam, shrink, squares };
