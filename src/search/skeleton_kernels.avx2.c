/* The kernels for CPUs with AVX2. */
#define KERNELS sl_search__skeleton_kernels_avx2
#include "search/skeleton_kernels_body.h"
