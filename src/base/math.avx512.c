/* math - exp, sin and log for eight lanes; compiled with -mavx512f, which has fused operations: the
 * build's -ffp-contract=off keeps them out. */
#define SL_MATH_LANES 8
#include "base/math_template.h"

const sl_math__variant sl_math__avx512 = { "avx512",  exp_array, sin_array,
                                           log_array, cos_array, sincos_array };
