/* nn_impl - what the files of nn/ share: the CPU level that all fast kernels are chosen by. */
#ifndef SL_NN_IMPL_H
#define SL_NN_IMPL_H

#include "nn/nn.h"

/* Fast kernels are one text compiled for each level: X.c, X.avx2.c (with FMA), X.avx512.c. Each
 * gives a table of its functions; the public function calls the one of sl_nn__level(). */
typedef enum sl_nn__cpu {
    SL_NN__BASE,   // x86-64-v2: vectors of 4, no fused multiply-add
    SL_NN__AVX2,   // vectors of 8
    SL_NN__AVX512, // vectors of 16: F, DQ, VL, BW
    SL_NN__CPUS
} sl_nn__cpu;

sl_nn__cpu sl_nn__level(void); // the one in use: as sl_nn_level, decided once
sl_nn__cpu sl_nn__best(void);  // the best that this CPU has: tests run all up to it
/* What `best` becomes by the environment's word: never more than the CPU has, NULL and words that
 * name no level change nothing. */
sl_nn__cpu sl_nn__lowered(sl_nn__cpu best, const char *word);
const char *sl_nn__cpu_name(sl_nn__cpu cpu); // "base", "avx2", "avx512"

#endif
