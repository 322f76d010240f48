/* The baseline variant, and which one a CPU can run. */
#define PAIRS sl_noise__pairs_base
#define RUN   32
#include "search/noise_kernels_body.h"

sl_noise__pairs_fn sl_noise__pairs_at(sl_isa isa) {
    static const sl_noise__pairs_fn variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_noise__pairs_base, sl_noise__pairs_avx2, sl_noise__pairs_avx512);
    return variants[isa];
}
