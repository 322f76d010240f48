/* math - the elementary functions for eight lanes; compiled with -mavx512f, which has fused operations: the
 * build's -ffp-contract=off keeps them out. */
#define SL_MATH_LANES 8
#include "base/math_template.h"

const sl_math__variant sl_math__avx512 = SL_MATH_VARIANT("avx512");
