/* For CPUs with AVX2. */
#define PAIRS sl_noise__pairs_avx2
#define RUN   64
#include "search/noise_kernels_body.h"
