/* math - exp, sin and log for four lanes; compiled with -mavx2 and without FMA. */
#define SL_MATH_LANES 4
#include "base/math_template.h"

const sl_math__variant sl_math__avx2 = { "avx2",    exp_array, sin_array,
                                         log_array, cos_array, sincos_array };
