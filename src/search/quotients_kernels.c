/* quotients_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_search__quotients_kernels_base
#include "search/quotients_kernels_body.h"

const sl_search__quotients_kernels *sl_search__quotients_kernels_at(sl_isa isa) {
    static const sl_search__quotients_kernels *const variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_search__quotients_kernels_base, sl_search__quotients_kernels_avx2,
                        sl_search__quotients_kernels_avx512);
    return variants[isa];
}
