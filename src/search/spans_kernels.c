/* The kernels for every CPU, and the choice between all. */
#define KERNELS sl_search__spans_kernels_base
#include "search/spans_kernels_body.h"

const sl_search__spans_kernels *sl_search__spans_kernels_at(sl_isa isa) {
    static const sl_search__spans_kernels *const variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_search__spans_kernels_base, sl_search__spans_kernels_avx2,
                        sl_search__spans_kernels_avx512);
    return variants[isa];
}
