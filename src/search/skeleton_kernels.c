/* skeleton_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS      sl_search__skeleton_kernels_base
#define VECTOR_BYTES 16
#include "search/skeleton_kernels_body.h"

const sl_search__skeleton_kernels *sl_search__skeleton_kernels_at(sl_isa isa) {
    switch (isa) {
    case SL_ISA_AVX512: return &sl_search__skeleton_kernels_avx512;
    case SL_ISA_AVX2: return &sl_search__skeleton_kernels_avx2;
    default: return &sl_search__skeleton_kernels_base;
    }
}
