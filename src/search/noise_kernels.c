/* The baseline variant, and which one a CPU can run. */
#define PAIRS sl_search__noise_pairs_base
#define RUN   32
#include "search/noise_kernels_body.h"

sl_search__noise_pairs_fn sl_search__noise_pairs_at(sl_isa isa) {
    static const sl_search__noise_pairs_fn variants[SL_ISA_COUNT] = SL_ISA_VARIANTS(
        sl_search__noise_pairs_base, sl_search__noise_pairs_avx2, sl_search__noise_pairs_avx512);
    return variants[isa];
}
