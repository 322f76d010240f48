/* The baseline variant, and which one a CPU can run. */
#define KERNELS sl_search__noise_kernels_base
#define RUN     32
#include "search/noise_kernels_body.h"

const sl_search__noise_kernels *sl_search__noise_kernels_at(sl_isa isa) {
    static const sl_search__noise_kernels *const variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_search__noise_kernels_base, sl_search__noise_kernels_avx2,
                        sl_search__noise_kernels_avx512);
    return variants[isa];
}
