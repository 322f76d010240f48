/* For CPUs with AVX2. */
#define PAIRS sl_search__noise_pairs_avx2
#define RUN   64
#include "search/noise_kernels_body.h"
