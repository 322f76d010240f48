/* The kernels for CPUs with AVX2. */
#define KERNELS      sl_search__closure_kernels_avx2
#define VECTOR_BYTES 32
#include "search/closure_kernels_body.h"
