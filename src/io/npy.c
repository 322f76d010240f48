/* npy - the header of a NumPy file.
 *
 *     offset
 *          0  \x93NUMPY
 *          6  1, 0: the version of the format
 *          8  bytes of the header that follow, little-endian
 *         10  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 64, 3), }
 *             spaces, LF: values begin at a multiple of 64, so that a mapped file is aligned
 *
 * The same bytes as numpy.save has written since 1.23. That leaves room for a first dimension of 21
 * digits, so the header can be overwritten in place once the number of values is known; and it adds
 * 64 spaces where none would be needed. */
#include "io/io.h"

enum { FIXED = 10, ALIGN = 64, FIRST_DIGITS = 21, MAX_DIMS = 32 };

static size_t digits_of(int64_t n) {
    size_t digits = 1;
    while (n /= 10) digits++;
    return digits;
}

void sl_io_npy_header(sl_str *s, const int64_t *shape, int dims) {
    SL_ASSERT(dims >= 0 && dims <= MAX_DIMS); // NumPy's bound; two bytes then hold the length
    const size_t begin = s->len;
    sl_str_add_bytes(s, "\x93NUMPY\1\0??", FIXED);
    sl_str_add(s, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < dims; i++) {
        SL_ASSERT(shape[i] >= 0);
        if (i > 0) sl_str_add(s, ", ");
        sl_str_add_uint(s, (uint64_t)shape[i]);
    }
    sl_str_add(s, dims == 1 ? ",), }" : "), }"); // as Python writes tuples
    size_t spaces = dims > 0 ? FIRST_DIGITS - digits_of(shape[0]) : 0;
    spaces += ALIGN - (s->len - begin + spaces + 1) % ALIGN;
    while (spaces-- > 0) sl_str_add_char(s, ' ');
    sl_str_add_char(s, '\n');
    if (s->failed) return;

    const size_t n = s->len - begin - FIXED;
    s->text[begin + 8] = (char)(n & 0xFF);
    s->text[begin + 9] = (char)(n >> 8);
}
