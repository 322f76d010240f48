/* The passes over floats, for AVX2. The flags allow fused operations, the language's rules as we
 * set them do not: -ffp-contract=off. */
#include <math.h>

#define REAL float
#define SQRT sqrtf
#include "optim/adam_body.h"

const sl_optim__kernels sl_optim__avx2 = { "avx2", sizeof(float), adam, shrink, squares };
