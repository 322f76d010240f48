/* Inside src/base only: the wide variant of the generator. */
#ifndef SL_PHILOX_IMPL_H
#define SL_PHILOX_IMPL_H

#include "base/base.h"

/* out[0 .. 2 done) := the uniforms of the blocks (hi, lo), (hi, lo + 1), ...: the same bits as one
 * block at a time. Returns how many of the `blocks` are done; the caller does the rest. The low
 * half of lo must not overflow. */
int sl_philox__uniforms_avx2(double *out, uint64_t key, uint64_t hi, uint64_t lo, int blocks);

#endif
