/* The kernels for CPUs with AVX2. */
#define KERNELS sl_skeleton__kernels_avx2
#include "search/skeleton_kernels_body.h"
