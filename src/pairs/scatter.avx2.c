/* Uniforms to points, compiled with -mavx2 and without FMA. */
#define SCATTER sl_pairs__scatter_avx2
#include "pairs/scatter_body.h"
