/* The baseline kernels, and which of the variants this CPU can run. */
#define KERNELS      sl_expr__kernels_base
#define KERNELS_NAME "x86-64-v2"
#include "expr/kernels_body.h"

const sl_expr__kernels *sl_expr__kernels_at(sl_isa isa) {
    return isa == SL_ISA_BASE ? &sl_expr__kernels_base : &sl_expr__kernels_avx2;
}
