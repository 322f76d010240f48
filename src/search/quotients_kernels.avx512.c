/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_search__quotients_kernels_avx512
#include "search/quotients_kernels_body.h"
