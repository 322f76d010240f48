/* math - the elementary functions for four lanes; compiled with -mavx2 and without FMA. */
#define SL_MATH_LANES 4
#include "base/math_template.h"

const sl_math__variant sl_math__avx2 = SL_MATH_VARIANT("avx2");
