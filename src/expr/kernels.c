/* The kernels for every CPU, and which of the variants this CPU can run. */
#define KERNELS      sl_expr__kernels_base
#define KERNELS_NAME "base"
#include "expr/kernels_body.h"

const sl_expr__kernels *sl_expr__kernels_at(sl_isa isa) {
    static const sl_expr__kernels *const variants[SL_ISA_COUNT] =
        SL_ISA_VARIANTS(sl_expr__kernels_base, sl_expr__kernels_avx2, sl_expr__kernels_avx2);
    return variants[isa];
}
