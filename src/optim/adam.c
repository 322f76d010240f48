/* adam - the passes over floats for any x86-64, and the choice of a wider variant. */
#include <math.h>

#define REAL float
#define SQRT sqrtf
#include "optim/adam_body.h"

const sl_optim__kernels sl_optim__base = { "base", sizeof(float), adam, shrink, squares };

const sl_optim__kernels *sl_optim__usable(int i) {
    const sl_optim__kernels *list[3] = { &sl_optim__base };
    int n = 1;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        list[n++] = &sl_optim__avx2;
    if (n == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        list[n++] = &sl_optim__avx512;
    return i < n ? list[i] : NULL;
}
