/* quotients_kernels - the plain variant, and the choice by instruction set. */
#define KERNELS sl_quotients__kernels_base
#include "search/quotients_kernels_body.h"

const sl_quotients__kernels *sl_quotients__kernels_at(sl_isa isa) {
    switch (isa) {
    case SL_ISA_AVX512: return &sl_quotients__kernels_avx512;
    case SL_ISA_AVX2: return &sl_quotients__kernels_avx2;
    default: return &sl_quotients__kernels_base;
    }
}
