/* The kernels for CPUs with AVX2. */
#define KERNELS sl_search__lattice_kernels_avx2
#include "search/lattice_kernels_body.h"
