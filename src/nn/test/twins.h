/* twins - arrays in float and in double with the same numbers, to run a fast kernel beside its
 * plain twin. The float one has guards behind it, which a kernel must leave alone. */
#ifndef SL_NN_TWINS_H
#define SL_NN_TWINS_H

#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "nn/pointwise_impl.h"

enum { GUARDS = 16 };
static const float GUARD = 12345.0f;

typedef struct both {
    float *f;
    double *d;
    size_t n;
} both;

/* Not NULL even where n is 0; the address is a multiple of 4, seldom of more. */
static inline both both_new(sl_fixture *t, size_t n) {
    both b = { .n = n };
    const size_t shift = sl_rng_below(&t->rng, 4);
    b.f = sl_arena_alloc(&t->arena, (n + GUARDS + shift) * sizeof *b.f);
    b.d = sl_arena_alloc(&t->arena, (n + 1) * sizeof *b.d);
    assert_non_null(b.f);
    assert_non_null(b.d);
    b.f += shift;
    for (size_t i = 0; i < n; i++) b.f[i] = GUARD;
    for (size_t i = 0; i < GUARDS; i++) b.f[n + i] = GUARD;
    return b;
}

static inline both both_random(sl_fixture *t, size_t n, double lo, double hi) {
    both b = both_new(t, n);
    for (size_t i = 0; i < n; i++) b.f[i] = (float)sl_rng_range(&t->rng, lo, hi);
    for (size_t i = 0; i < n; i++) b.d[i] = (double)b.f[i];
    return b;
}

static inline both both_copy(sl_fixture *t, both from) {
    both b = both_new(t, from.n);
    memcpy(b.f, from.f, from.n * sizeof *b.f);
    memcpy(b.d, from.d, from.n * sizeof *b.d);
    return b;
}

/* Each number of f within `tolerance` of d's, of at least 1; the guards as they were. */
static inline void both_agree(sl_fixture *t, both b, double tolerance, const char *what,
                              const char *level, const char *shape) {
    for (size_t i = 0; i < b.n; i++) {
        const double wrong = fabs((double)b.f[i] - b.d[i]) / fmax(1, fabs(b.d[i]));
        SL_CHECK(t, wrong <= tolerance, "%s at %s, %s: number %zu is %.9g, not %.9g", what, level,
                 shape, i, (double)b.f[i], b.d[i]);
    }
    for (size_t i = b.n; i < b.n + GUARDS; i++)
        SL_CHECK(t, b.f[i] == GUARD, "%s at %s, %s: writes past its end", what, level, shape);
}

static inline uint8_t *bytes_random(sl_fixture *t, size_t n, uint32_t below) {
    uint8_t *b = sl_arena_alloc(&t->arena, n + 1);
    assert_non_null(b);
    for (size_t i = 0; i < n; i++) b[i] = (uint8_t)sl_rng_below(&t->rng, below);
    return b;
}

/* The levels of this CPU, and after them the public functions; NULL past the last. */
static inline const sl_nn__pointwise *variant(int i, const char **name) {
    static const sl_nn__pointwise face = {
#define X(kernel) .kernel = sl_nn_##kernel,
        SL_NN__POINTWISE(X)
#undef X
    };
    const int levels = (int)sl_cpu_best() + 1;
    *name = i < levels ? sl_isa_name((sl_isa)i) : "face";
    return i < levels ? sl_nn__pointwise_at((sl_isa)i) : i == levels ? &face : NULL;
}

#define EACH_VARIANT(k, name)                                                                   \
    const char *name;                                                                           \
    const sl_nn__pointwise *k;                                                                  \
    for (int variant_ = 0; (k = variant(variant_, &name)) != NULL; variant_++)

#endif
