/* The baseline kernels, and which of the variants this CPU can run. */
#define KERNELS      sl_expr__kernels_base
#define KERNELS_NAME "x86-64-v2"
#include "expr/kernels_body.h"

int sl_expr__kernel_levels(void) { return __builtin_cpu_supports("avx2") ? 2 : 1; }

const sl_expr__kernels *sl_expr__kernels_at(int level) {
    return level == 0 ? &sl_expr__kernels_base : &sl_expr__kernels_avx2;
}
