/* lattice_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_lattice__kernels_base
#include "search/lattice_kernels_body.h"

const sl_lattice__kernels *sl_lattice__kernels_at(sl_isa isa) {
    switch (isa) {
    case SL_ISA_AVX512: return &sl_lattice__kernels_avx512;
    case SL_ISA_AVX2: return &sl_lattice__kernels_avx2;
    default: return &sl_lattice__kernels_base;
    }
}
