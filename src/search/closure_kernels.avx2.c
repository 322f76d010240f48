/* The kernels for CPUs with AVX2. */
#define KERNELS sl_search__closure_kernels_avx2
#include "search/closure_kernels_body.h"
