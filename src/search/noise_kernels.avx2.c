/* For CPUs with AVX2: vectors of eight. */
#define PAIRS        sl_search__noise_pairs_avx2
#define VECTOR_BYTES 32
#define RUN          64
#include "search/noise_kernels_body.h"
