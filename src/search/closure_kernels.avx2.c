/* The kernels for CPUs with AVX2. */
#define KERNELS sl_closure__kernels_avx2
#include "search/closure_kernels_body.h"
