/* keep - dropout's bits from Philox counters. */
#include <string.h>

#include "nn/nn_impl.h"

/* A block of four words has eight halves: a byte. */
static uint8_t byte_of(sl_philox_block block, uint32_t threshold) {
    unsigned byte = 0;
    for (int w = 0; w < 4; w++) {
        byte |= (unsigned)((block.v[w] & 0xffff) >= threshold) << (2 * w);
        byte |= (unsigned)((block.v[w] >> 16) >= threshold) << (2 * w + 1);
    }
    return (uint8_t)byte;
}

void sl_keep_bits(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                  uint32_t threshold) {
    for (size_t i = 0; i < bytes; i++) bits[i] = byte_of(sl_philox(key, hi, lo + i), threshold);
}
