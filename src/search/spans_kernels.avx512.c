/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_search__spans_kernels_avx512
#include "search/spans_kernels_body.h"
