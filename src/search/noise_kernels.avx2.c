/* For CPUs with AVX2. */
#define KERNELS sl_search__noise_kernels_avx2
#define RUN     64
#include "search/noise_kernels_body.h"
