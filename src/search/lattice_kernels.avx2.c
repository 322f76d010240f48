/* The kernels for CPUs with AVX2. */
#define KERNELS sl_lattice__kernels_avx2
#include "search/lattice_kernels_body.h"
