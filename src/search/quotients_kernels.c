/* quotients_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_quotients__kernels_base
#include "search/quotients_kernels_body.h"

const sl_quotients__kernels *sl_quotients__kernels_at(sl_isa isa) {
    static const sl_quotients__kernels *const variants[SL_ISA_COUNT] = SL_ISA_VARIANTS(
        sl_quotients__kernels_base, sl_quotients__kernels_avx2, sl_quotients__kernels_avx512);
    return variants[isa];
}
