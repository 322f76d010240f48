/* cpu - which instruction set the kernels of this process use; the only place that detects it. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const names[SL_ISA_COUNT] = { "base", "avx2", "avx512" };

const char *sl_isa_name(sl_isa isa) { return names[isa]; }

#if defined(__x86_64__)
/* clang 14 has no name for it in __builtin_cpu_supports. */
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C) != 0;
}

/* The features that CMakeLists.txt compiles each variant with. */
sl_isa sl_cpu_best(void) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c())
        return SL_ISA_BASE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw"))
        return SL_ISA_AVX2;
    return SL_ISA_AVX512;
}
#else
sl_isa sl_cpu_best(void) { return SL_ISA_BASE; }
#endif

sl_isa sl_cpu_lowered(sl_isa best, const char *word) {
    for (int k = 0; word && k < (int)best && k < SL_ISA_COUNT; k++)
        if (strcmp(word, names[k]) == 0) return (sl_isa)k;
    return best;
}

sl_status sl_cpu_check(const char *word, sl_isa best) {
    if (!word || !*word) return SL_OK;
    for (int k = 0; k < SL_ISA_COUNT; k++) {
        if (strcmp(word, names[k]) != 0) continue;
        if (k <= (int)best) return SL_OK;
        return sl_fail(SL_EINVAL, "SYMLAW_CPU=%s: this CPU has %s at most", word, names[best]);
    }
    return sl_fail(SL_EINVAL, "SYMLAW_CPU=%s: must be base, avx2 or avx512", word);
}

/* Threads that call it first at the same time compute the same value, so no lock is needed. */
sl_isa sl_cpu(void) {
    static atomic_int known = -1;
    int isa = atomic_load_explicit(&known, memory_order_relaxed);
    if (isa < 0) {
        isa = (int)sl_cpu_lowered(sl_cpu_best(), getenv(SL_CPU_VARIABLE));
        atomic_store_explicit(&known, isa, memory_order_relaxed);
    }
    return (sl_isa)isa;
}

void sl_cpu_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

const char *sl_cpu_model(char out[128]) {
    static const char member[] = "model name";
    char *text = NULL;
    size_t n;
    sl_snprintf(out, 128, "unknown");
    if (sl_file_read(&text, &n, "/proc/cpuinfo", 1 << 22) != SL_OK) return out;
    const char *at = strstr(text, member), *colon = at ? strchr(at, ':') : NULL;
    if (colon) {
        colon += strspn(colon + 1, " \t") + 1;
        sl_snprintf(out, 128, "%.*s", (int)SL_MIN(strcspn(colon, "\n"), (size_t)127), colon);
    }
    sl_free(text);
    return out;
}
