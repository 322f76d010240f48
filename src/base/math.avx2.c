/* math - the elementary functions for AVX2, without FMA. */
#include "base/math_body.h"

const sl_math__variant sl_math__avx2 = SL_MATH_VARIANT("avx2");
