/* level - which of the compiled variants of the kernels this process runs. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn_impl.h"

static const char *const names[SL_NN__CPUS] = { "base", "avx2", "avx512" };

sl_nn__cpu sl_nn__best(void) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return SL_NN__BASE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return SL_NN__AVX512;
    return SL_NN__AVX2;
}

sl_nn__cpu sl_nn__lowered(sl_nn__cpu best, const char *word) {
    for (int k = 0; word && k < (int)best; k++)
        if (strcmp(word, names[k]) == 0) return (sl_nn__cpu)k;
    return best;
}

/* Threads that ask first at the same time find the same answer, so no lock is needed. */
sl_nn__cpu sl_nn__level(void) {
    static atomic_int known = -1;
    int level = atomic_load_explicit(&known, memory_order_relaxed);
    if (level < 0) {
        level = (int)sl_nn__lowered(sl_nn__best(), getenv("SYMLAW_CPU"));
        atomic_store_explicit(&known, level, memory_order_relaxed);
    }
    return (sl_nn__cpu)level;
}

const char *sl_nn__cpu_name(sl_nn__cpu cpu) { return names[cpu]; }
const char *sl_nn_level(void) { return names[sl_nn__level()]; }
