/* For CPUs with AVX-512. */
#define KERNELS sl_search__noise_kernels_avx512
#define RUN     64
#include "search/noise_kernels_body.h"
