/* The kernels for CPUs with AVX2. */
#define KERNELS      sl_expr__kernels_avx2
#define KERNELS_NAME "avx2"
#include "expr/kernels_body.h"
