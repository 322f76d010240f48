/* skeleton_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS      sl_skeleton__kernels_base
#define VECTOR_BYTES 16
#include "search/skeleton_kernels_body.h"

const sl_skeleton__kernels *sl_skeleton__kernels_at(sl_isa isa) {
    switch (isa) {
    case SL_ISA_AVX512: return &sl_skeleton__kernels_avx512;
    case SL_ISA_AVX2: return &sl_skeleton__kernels_avx2;
    default: return &sl_skeleton__kernels_base;
    }
}
