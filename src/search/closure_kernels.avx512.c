/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_search__closure_kernels_avx512
#include "search/closure_kernels_body.h"
