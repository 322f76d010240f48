/* st_finite - finds numbers that are NaN or infinite. */
#include <string.h>

#include "ckpt/ckpt_impl.h"

enum { BLOCK = 4096 };

/* All bits of the exponent are set. Blocks without such a number, the usual case, are scanned
 * without a branch. */
#define FIRST(name, bits, mask)                                        \
    static int64_t name(const char *numbers, int64_t n) {              \
        for (int64_t from = 0; from < n; from += BLOCK) {              \
            const int64_t to = SL_MIN(from + BLOCK, n);                \
            unsigned bad = 0;                                          \
            for (int64_t i = from; i < to; i++) {                      \
                bits x;                                                \
                memcpy(&x, numbers + i * (int64_t)sizeof x, sizeof x); \
                bad |= (x & (mask)) == (mask);                         \
            }                                                          \
            for (int64_t i = from; bad && i < to; i++) {               \
                bits x;                                                \
                memcpy(&x, numbers + i * (int64_t)sizeof x, sizeof x); \
                if ((x & (mask)) == (mask)) return i;                  \
            }                                                          \
        }                                                              \
        return -1;                                                     \
    }
FIRST(first_of_floats, uint32_t, UINT32_C(0x7F800000))
FIRST(first_of_doubles, uint64_t, UINT64_C(0x7FF0000000000000))

int64_t sl_ckpt__st_not_finite(const void *numbers, sl_dtype dtype, int64_t n) {
    switch (dtype) {
    case SL_F32: return first_of_floats(numbers, n);
    case SL_F64: return first_of_doubles(numbers, n);
    default: return -1; // whole numbers
    }
}
