/* The kernels for CPUs with AVX-512. */
#define KERNELS      sl_search__closure_kernels_avx512
#define VECTOR_BYTES 64
#include "search/closure_kernels_body.h"
