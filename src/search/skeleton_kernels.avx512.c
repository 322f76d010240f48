/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_search__skeleton_kernels_avx512
#include "search/skeleton_kernels_body.h"
