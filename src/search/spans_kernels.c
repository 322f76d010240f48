/* The kernels for every CPU, and the choice between all. */
#define KERNELS sl_search__spans_kernels_base
#include "search/spans_kernels_body.h"

const sl_search__spans_kernels *sl_search__spans_kernels_at(sl_isa isa) {
    switch (isa) {
    case SL_ISA_AVX512: return &sl_search__spans_kernels_avx512;
    case SL_ISA_AVX2: return &sl_search__spans_kernels_avx2;
    default: return &sl_search__spans_kernels_base;
    }
}
