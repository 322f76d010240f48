/* lattice_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_search__lattice_kernels_base
#include "search/lattice_kernels_body.h"

const sl_search__lattice_kernels *sl_search__lattice_kernels_at(sl_isa isa) {
    static const sl_search__lattice_kernels *const variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_search__lattice_kernels_base, sl_search__lattice_kernels_avx2,
                        sl_search__lattice_kernels_avx512);
    return variants[isa];
}
