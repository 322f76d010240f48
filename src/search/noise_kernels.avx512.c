/* For CPUs with AVX-512. */
#define PAIRS sl_search__noise_pairs_avx512
#define RUN   64
#include "search/noise_kernels_body.h"
