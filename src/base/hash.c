/* hash - XXH3: 64 bits for tables in memory, 128 to identify generated data. */
#include <string.h>

#define XXH_STATIC_LINKING_ONLY // the size of XXH3_state_t, so that its memory is ours to count
#include <xxhash.h>

#include "base/base.h"

uint64_t sl_hash(const void *bytes, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, n, seed);
}

struct sl_hasher {
    XXH3_state_t state;
    void *block; // from sl_malloc; the state inside it is 64-byte aligned, as XXH3 requires
};

sl_status sl_hasher_new(sl_hasher **out) {
    enum { ALIGN = _Alignof(sl_hasher) };
    char *block = sl_malloc(1, sizeof(sl_hasher) + ALIGN);
    if (!block) return sl_fail_memory(1, sizeof(sl_hasher), "a hash");
    sl_hasher *h = (sl_hasher *)(block + (ALIGN - (uintptr_t)block % ALIGN) % ALIGN);
    h->block = block;
    XXH3_INITSTATE(&h->state);
    XXH3_128bits_reset(&h->state);
    *out = h;
    return SL_OK;
}

void sl_hasher_add(sl_hasher *h, const void *bytes, size_t n) {
    if (n) XXH3_128bits_update(&h->state, bytes, n);
}

void sl_hasher_text(const sl_hasher *h, char out[33]) {
    XXH128_canonical_t c; // big-endian bytes: the text is the same on every machine
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest(&h->state));
    for (int i = 0; i < 16; i++) sl_snprintf(out + 2 * i, 3, "%02x", c.digest[i]);
}

void sl_hasher_free(sl_hasher *h) {
    if (h) sl_free(h->block);
}
