/* skeleton_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_skeleton__kernels_base
#include "search/skeleton_kernels_body.h"

const sl_skeleton__kernels *sl_skeleton__kernels_at(sl_isa isa) {
    static const sl_skeleton__kernels *const variants[SL_ISA_COUNT] = SL_ISA_VARIANTS(
        sl_skeleton__kernels_base, sl_skeleton__kernels_avx2, sl_skeleton__kernels_avx512);
    return variants[isa];
}
