/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_skeleton__kernels_avx512
#include "search/skeleton_kernels_body.h"
