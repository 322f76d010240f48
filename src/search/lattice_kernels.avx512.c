/* The kernels for CPUs with AVX-512. */
#define KERNELS sl_search__lattice_kernels_avx512
#include "search/lattice_kernels_body.h"
