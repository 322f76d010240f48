/* math - the elementary functions for AVX-512, which has fused operations: the build's
 * -ffp-contract=off keeps them out. */
#include "base/math_body.h"

const sl_math__variant sl_math__avx512 = SL_MATH_VARIANT("avx512");
