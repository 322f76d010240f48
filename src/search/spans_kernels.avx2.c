/* The kernels for CPUs with AVX2. */
#define KERNELS sl_search__spans_kernels_avx2
#include "search/spans_kernels_body.h"
