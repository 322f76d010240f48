/* attention_impl - what linear.c and attention.c choose from: one table per instruction set,
 * filled by attention_body.h, columns_body.h and linear_body.h. */
#ifndef SL_ATTENTION_IMPL_H
#define SL_ATTENTION_IMPL_H

#include "nn/nn.h"

typedef struct sl_nn__attention {
    // as the public functions of these names
    void (*attn_fwd)(float *o, int ldo, float *p, const float *q, int ldq, const float *k,
                     const float *v, int ldkv, const uint8_t *mask, float scale, int Tq, int Tk,
                     int H, int D, bool causal, float *scratch);
    void (*attn_bwd)(float *dq, int ldq, float *dk, float *dv, int ldkv, const float *dout, int ldo,
                     const float *q, const float *k, const float *v, const float *p,
                     const uint8_t *mask, float scale, int Tq, int Tk, int H, int D, bool causal,
                     float *scratch);
    void (*cols_fwd)(float *o, int ldo, float *p, const float *q, int ldq, const float *k,
                     const float *v, int ldkv, const uint8_t *mask, float scale,
                     const uint8_t *present, int per, int N, int nq, int cols, int H, int D);
    void (*cols_bwd)(float *dq, int ldq, float *dk, float *dv, int ldkv, const float *dout, int ldo,
                     const float *q, const float *k, const float *v, const float *p,
                     const uint8_t *mask, float scale, const uint8_t *present, int per, int N,
                     int nq, int cols, int H, int D);
    void (*add_row)(float *y, int ldy, const float *b, int N, int K);     // y[n] += b for all n
    void (*add_columns)(float *db, const float *dy, int ldy, int N, int K); // db += sum of dy[n]
} sl_nn__attention;

extern const sl_nn__attention sl_nn__attention_base, sl_nn__attention_avx2,
    sl_nn__attention_avx512;
const sl_nn__attention *sl_nn__attention_at(sl_isa isa);

/* Queries are worked on in blocks, so that scratch does not grow with the square of T. */
enum { SL_ATTN__BLOCK = 64 };

#endif
