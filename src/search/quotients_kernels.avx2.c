/* The kernels for CPUs with AVX2. */
#define KERNELS sl_search__quotients_kernels_avx2
#include "search/quotients_kernels_body.h"
