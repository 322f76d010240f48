/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_closure__kernels_avx512
#include "search/closure_kernels_body.h"
