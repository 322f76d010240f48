/* lattice_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_lattice__kernels_base
#include "search/lattice_kernels_body.h"

const sl_lattice__kernels *sl_lattice__kernels_at(sl_isa isa) {
    static const sl_lattice__kernels *const variants[SL_ISA_COUNT] = SL_ISA_VARIANTS(
        sl_lattice__kernels_base, sl_lattice__kernels_avx2, sl_lattice__kernels_avx512);
    return variants[isa];
}
