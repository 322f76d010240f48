/* The kernels for every CPU, and the choice between all. */
#define KERNELS sl_closure__kernels_base
#include "search/closure_kernels_body.h"

const sl_closure__kernels *sl_closure__kernels_at(sl_isa isa) {
    static const sl_closure__kernels *const variants[SL_ISA_COUNT] = SL_ISA_VARIANTS(
        sl_closure__kernels_base, sl_closure__kernels_avx2, sl_closure__kernels_avx512);
    return variants[isa];
}
