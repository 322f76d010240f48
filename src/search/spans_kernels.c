/* The kernels for every CPU, and the choice between all. */
#define KERNELS sl_spans__kernels_base
#include "search/spans_kernels_body.h"

const sl_spans__kernels *sl_spans__kernels_at(sl_isa isa) {
    static const sl_spans__kernels *const variants[SL_ISA_COUNT] = SL_ISA_VARIANTS(
        sl_spans__kernels_base, sl_spans__kernels_avx2, sl_spans__kernels_avx512);
    return variants[isa];
}
