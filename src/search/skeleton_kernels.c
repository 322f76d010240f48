/* skeleton_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_search__skeleton_kernels_base
#include "search/skeleton_kernels_body.h"

const sl_search__skeleton_kernels *sl_search__skeleton_kernels_at(sl_isa isa) {
    static const sl_search__skeleton_kernels *const variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_search__skeleton_kernels_base, sl_search__skeleton_kernels_avx2,
                        sl_search__skeleton_kernels_avx512);
    return variants[isa];
}
