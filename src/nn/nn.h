/* nn - the arithmetic of the model: kernels forward and backward on plain arrays.
 *
 * Every kernel exists three times with one signature (nn_kernels.h):
 *
 *     sl_nn_linear_fwd          float, fast: GEMM by oneDNN or OpenBLAS, the rest vectorised by us
 *     sl_nn_ref_f_linear_fwd    float, plain loops   \  ref/: one text, compiled for both
 *     sl_nn_ref_d_linear_fwd    double, plain loops  /
 *
 * The plain twins are oracle and gradient check: finite differences in double agree to ten digits
 * where float would leave three, so backward passes are proved in double and the fast ones are
 * compared with them.
 *
 * All fast kernels run on the calling thread alone; parallel work is done by calling them from
 * several threads on different data. They allocate nothing (the GEMM libraries keep buffers of
 * their own). The sums in them have a fixed order that depends on shapes only, so equal input gives
 * equal bits on one instruction set and one GEMM library, whichever thread runs them. Between
 * instruction sets the last bits differ: wider vectors sum in another order, and fused multiply-add
 * is used where the CPU has it.
 *
 * Which library multiplies is a fixed rule of instruction set, transposition and shape (gemm.c),
 * from measurements in docs/performance.md. Elementwise work is fused into few passes over memory:
 * the kernel that reads a product adds its bias.
 *
 * Dropout: sl_nn_dropout_mask makes the bits from Philox counters before the kernels run, so a mask
 * is a function of (key, counter), the same for every kernel and its plain twin. */
#ifndef SL_NN_H
#define SL_NN_H

#include "base/base.h"

#define SL_NN_MAX_COLUMNS 8
#define SL_NN_MAX_HEAD 512 // width of a head

/* Rows of attention weights are this many numbers apart: n rounded up to whole vectors. */
static inline int sl_nn_attn_row(int n) { return (n + 15) & ~15; }
size_t sl_nn_attn_scratch(int Tq, int Tk, int D);

#define SL_REAL float
#define SL_NN(name) sl_nn_##name
#include "nn/nn_kernels.h"
#undef SL_NN
#define SL_NN(name) sl_nn_ref_f_##name
#include "nn/nn_kernels.h"
#undef SL_REAL
#undef SL_NN
#define SL_REAL double
#define SL_NN(name) sl_nn_ref_d_##name
#include "nn/nn_kernels.h"
#undef SL_REAL
#undef SL_NN

/* ---------------------------------------------------------------- dropout ------------------- */

/* bits[0 .. bytes) := 8 bytes bits, each 1 with probability 1 - threshold/65536. Bit i is decided
 * by the 16-bit word i of the Philox blocks (key, hi, lo), (key, hi, lo + 1), ..., low half of a
 * word first: the same on every CPU. */
void sl_nn_dropout_mask(uint8_t *bits, size_t bytes, uint64_t key, uint64_t hi, uint64_t lo,
                        uint32_t threshold);
static inline uint32_t sl_nn_dropout_threshold(double p) { return (uint32_t)(p * 65536.0 + 0.5); }

/* ---------------------------------------------------------------- one row at a time --------- */

/* What decoding needs: kernels in which a row of the result is computed from its own row of the
 * input, by an order of operations that neither the number of rows nor a row's place among them has
 * a part in. A library's product promises no such thing. They exist in float only; tests have the
 * plain loops.
 *
 * A matrix that many rows will be multiplied by is laid out in panels: for 16 outputs at a time,
 * all inputs, 16 numbers each. */
#define SL_PANEL 16
size_t sl_nn_panels_size(int C, int K); // numbers of a (K,C) matrix in panels
/* panels := W (K,C), rows ldw apart; or, with `across`, W (C,K), whose columns are the outputs. */
void sl_nn_panels_pack(float *panels, const float *W, int ldw, int C, int K, bool across);
/* y = x W^T + b.   x (N,C)   W (K,C) in panels   b (K) or NULL   y (N,K). Each number is one sum
 * over C in order, then b. */
void sl_nn_panels_fwd(float *y, int ldy, const float *x, int ldx, const float *panels,
                      const float *b, int N, int C, int K);

/* z[i] = softmax(scale z[i]) over its first n numbers, rows ld apart. */
void sl_nn_softmax_rows(float *z, int ld, float scale, int N, int n);

/* One query over T keys that lie anywhere: kv[t] points to a key's H D numbers, followed by as many
 * of its value. o = softmax(q k / sqrt(D)) v, head by head; p: room for H (T + 3) numbers. */
void sl_nn_attn_row_fwd(float *o, const float *q, const float *const *kv, int T, int H, int D,
                     float *p);

/* ---------------------------------------------------------------- sums ---------------------- */

#define SL_NN_MAX_BLOCKS 1024

/* out[i] = the sum of block[0][i] .. block[n_blocks-1][i] by halves: the first half's sum plus the
 * second half's, n_blocks being a power of two up to SL_NN_MAX_BLOCKS. out may be one of the
 * blocks. Returns the sum of out[i]^2, in double, by a fixed order. */
double sl_nn_sum_tree(float *out, const float *const *block, int n_blocks, int64_t n);

/* ---------------------------------------------------------------- the machine --------------- */

/* Products are computed by oneDNN and OpenBLAS, on the calling thread. Neither is mapped before it
 * is needed. Call this first, with the number of threads that will multiply at once: it loads them
 * and takes the memory that they need for that, since most of them do not survive its lack later.
 * SL_EIO: a library cannot be loaded; SL_ENOMEM: too little memory or address space; SL_ELIMIT: too
 * many threads. Later calls are cheap unless they ask for more threads. */
SL_NODISCARD sl_status sl_nn_prepare(int threads);

/* C = alpha op(A) op(B) + beta C, row-major; ta, tb: transposed. A product that fails fills C with
 * NaN: callers ask sl_nn_gemm_status once, at the end of a piece of work. */
void sl_nn_gemm(bool ta, bool tb, int M, int N, int K, float alpha, const float *A, int lda,
             const float *B, int ldb, float beta, float *C, int ldc);
/* The first failure of a product of this thread since it last asked; SL_OK: none. */
SL_NODISCARD sl_status sl_nn_gemm_status(void);

typedef enum sl_gemm_library { SL_GEMM_RULE, SL_GEMM_ONEDNN, SL_GEMM_OPENBLAS } sl_gemm_library;
/* Kinds of products that the rule distinguishes. */
typedef enum sl_gemm_kind {
    SL_GEMM_NN,       // A B
    SL_GEMM_NT,       // A B^T; A^T B^T counts as one
    SL_GEMM_NT_LARGE, // of 512 columns and sums of 256 at least
    SL_GEMM_TN_SMALL, // A^T B with at most 2048 results
    SL_GEMM_TN,       // A^T B
    SL_GEMM_TN_WIDE,  // with a side of 512, or two of 128
    SL_GEMM_KINDS
} sl_gemm_kind;
sl_gemm_kind sl_nn_gemm_kind_of(bool ta, bool tb, int M, int N, int K);
const char *sl_nn_gemm_kind_name(sl_gemm_kind kind);
/* Which library the rule takes for a product of M rows and N columns, of sums of K. */
sl_gemm_library sl_nn_gemm_rule(sl_isa isa, bool ta, bool tb, int M, int N, int K);
bool sl_nn_gemm_uses(sl_gemm_library library); // for some product, with sl_cpu()
/* The same by a given library, for benches and tests of the rule. */
void sl_nn_gemm_by(sl_gemm_library library, bool ta, bool tb, int M, int N, int K, float alpha,
                const float *A, int lda, const float *B, int ldb, float beta, float *C, int ldc);

/* Names that a checkpoint keeps, since bits depend on them: "avx2" for sl_cpu(), and the libraries
 * in use with the instruction sets that they chose, "oneDNN 2.6.3 avx2, OpenBLAS 0.3.21 Haswell";
 * "" if they cannot be loaded. */
const char *sl_nn_isa(void);
const char *sl_nn_libraries(void);

#endif
