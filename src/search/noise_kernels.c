/* The baseline variant, and which one a CPU can run. */
#define PAIRS        sl_search__noise_pairs_base
#define VECTOR_BYTES 16
#define RUN          32
#include "search/noise_kernels_body.h"

sl_search__noise_pairs_fn sl_search__noise_pairs_at(sl_isa isa) {
    switch (isa) {
    case SL_ISA_AVX512: return sl_search__noise_pairs_avx512;
    case SL_ISA_AVX2: return sl_search__noise_pairs_avx2;
    default: return sl_search__noise_pairs_base;
    }
}
