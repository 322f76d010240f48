/* The kernels, declared once and included three times by nn.h: SL_REAL is the number type, SL_NN(x)
 * makes the name. There is no include guard on purpose.
 *
 * Letters: N rows, C width of a row, K outputs, T tokens or points, H heads, D width of a head, V
 * vocabulary. Arrays are row-major; ldx is the distance between rows of x in numbers. Names in dX
 * are gradients. Unless said otherwise outputs are overwritten; gradients of weights are added to.
 *
 * mask: dropout as bits, 1 for numbers that stay, row by row, each row padded to whole bytes. Bit c
 * of a row is bit c % 8 of its byte c / 8. Numbers that stay are multiplied by `scale`. NULL:
 * nothing is dropped, and `scale` is not used. */

/* ------------------------------------------------------------------ linear ------------------ */

/* y = x W^T + b.   x (N,C)   W (K,C)   b (K) or NULL   y (N,K) */
void SL_NN(linear_fwd)(SL_REAL *y, int ldy, const SL_REAL *x, int ldx, const SL_REAL *W,
                       const SL_REAL *b, int N, int C, int K);
/* dx = dy W, added to what is there if `add`. */
void SL_NN(linear_bwd_x)(SL_REAL *dx, int ldx, const SL_REAL *dy, int ldy, const SL_REAL *W, int N,
                         int C, int K, bool add);
/* dW += dy^T x;  db (or NULL) += column sums of dy. */
void SL_NN(linear_bwd_w)(SL_REAL *dW, SL_REAL *db, const SL_REAL *dy, int ldy, const SL_REAL *x,
                         int ldx, int N, int C, int K);

/* ------------------------------------------------------------------ residual and norm ------- */

/* The residual_norm between two blocks of a layer, in one pass over the rows:
 *
 *     xo = x + dropout(y + b)                  when y is NULL, x is used and xo is not written
 *     h  = (xo - mean) rstd gain + offset      skipped when gain is NULL
 *
 * stat (N,2) keeps mean and rstd = 1/sqrt(variance + eps). b may be NULL. xo may be x. All
 * dense. */
void SL_NN(residual_norm_fwd)(SL_REAL *xo, SL_REAL *h, SL_REAL *stat, const SL_REAL *x,
                              const SL_REAL *y, const SL_REAL *b, const uint8_t *mask,
                              SL_REAL scale, const SL_REAL *gain, const SL_REAL *offset,
                              SL_REAL eps, int N, int C);
/* Backward of the same: dx holds the gradient of xo that came along the residual stream.
 *
 *     dx += what dh says through the norm; dgain, doffset +=     skipped when gain is NULL
 *     dy  = dropout of dx; db += its column sums (db may be NULL)  skipped when dy is NULL
 *
 * xo: what the norm saw. Afterwards dx is the gradient of x. */
void SL_NN(residual_norm_bwd)(SL_REAL *dx, SL_REAL *dy, SL_REAL *db, SL_REAL *dgain,
                              SL_REAL *doffset, const SL_REAL *dh, const SL_REAL *xo,
                              const SL_REAL *stat, const uint8_t *mask, SL_REAL scale,
                              const SL_REAL *gain, int N, int C);

/* ------------------------------------------------------------------ activation -------------- */

/* u += b (K);  a = u sigmoid(u), a may be u.   u, a (N,K), dense */
void SL_NN(silu_fwd)(SL_REAL *a, SL_REAL *u, const SL_REAL *b, int N, int K);
/* du = da silu'(u), du may be da;  db += column sums of du. u as silu_fwd left it. */
void SL_NN(silu_bwd)(SL_REAL *du, SL_REAL *db, const SL_REAL *da, const SL_REAL *u, int N, int K);

/* ------------------------------------------------------------------ attention --------------- */

/* One group of queries against one group of keys, all heads:
 *
 *     p[h] = softmax(q[h] k[h]^T / sqrt(D)),  o[h] = dropout(p[h]) v[h]
 *
 * q, o (Tq, H D) and k, v (Tk, H D), head h being columns h D .. (h+1) D. causal: query t sees keys
 * 0 .. t only (Tq == Tk). p (H, Tq, sl_nn_attn_row(Tk)) is kept for backward, numbers past Tk being
 * 0; mask has the same rows as bits. scratch: sl_nn_attn_scratch(Tq, Tk, D) numbers. */
void SL_NN(attn_fwd)(SL_REAL *o, int ldo, SL_REAL *p, const SL_REAL *q, int ldq, const SL_REAL *k,
                     const SL_REAL *v, int ldkv, const uint8_t *mask, SL_REAL scale, int Tq, int Tk,
                     int H, int D, bool causal, SL_REAL *scratch);
/* dq, dk, dv are overwritten; dq is spaced as q, dk and dv as k and v. */
void SL_NN(attn_bwd)(SL_REAL *dq, int ldq, SL_REAL *dk, SL_REAL *dv, int ldkv, const SL_REAL *dout,
                     int ldo, const SL_REAL *q, const SL_REAL *k, const SL_REAL *v,
                     const SL_REAL *p, const uint8_t *mask, SL_REAL scale, int Tq, int Tk, int H,
                     int D, bool causal, SL_REAL *scratch);

/* Attention over the columns of each of N points. Row r of column c stands at row c N + r. All
 * `cols` columns are keys, the first nq of them ask (1 in the last layer, where only the target's
 * cells are read on). present (cols, N/per), or NULL: bytes, 0 where the data set r/per lacks the
 * column, which then is no key. p (nq, N, H, cols); mask: rows of H cols bits for each of nq N.
 * cols is at most SL_NN_MAX_COLUMNS. */
void SL_NN(cols_fwd)(SL_REAL *o, int ldo, SL_REAL *p, const SL_REAL *q, int ldq, const SL_REAL *k,
                     const SL_REAL *v, int ldkv, const uint8_t *mask, SL_REAL scale,
                     const uint8_t *present, int per, int N, int nq, int cols, int H, int D);
void SL_NN(cols_bwd)(SL_REAL *dq, int ldq, SL_REAL *dk, SL_REAL *dv, int ldkv, const SL_REAL *dout,
                     int ldo, const SL_REAL *q, const SL_REAL *k, const SL_REAL *v,
                     const SL_REAL *p, const uint8_t *mask, SL_REAL scale, const uint8_t *present,
                     int per, int N, int nq, int cols, int H, int D);

/* ------------------------------------------------------------------ ends of the model ------- */

/* x[c N + r] = m[c N + r] wm + e[c N + r] we + code[c].   code (cols, C) */
void SL_NN(cells_fwd)(SL_REAL *x, const SL_REAL *m, const SL_REAL *e, const SL_REAL *wm,
                      const SL_REAL *we, const SL_REAL *code, int N, int cols, int C);
/* dwm, dwe (C) and dcode (cols, C) +=. */
void SL_NN(cells_bwd)(SL_REAL *dwm, SL_REAL *dwe, SL_REAL *dcode, const SL_REAL *dx,
                      const SL_REAL *m, const SL_REAL *e, int N, int cols, int C);
/* x[i] = table[id[i]] + code[at[i]] */
void SL_NN(tokens_fwd)(SL_REAL *x, const uint8_t *id, const uint8_t *at, const SL_REAL *table,
                       const SL_REAL *code, int N, int C);
/* dtable, dcode +=, in the order of i. */
void SL_NN(tokens_bwd)(SL_REAL *dtable, SL_REAL *dcode, const SL_REAL *dx, const uint8_t *id,
                       const uint8_t *at, int N, int C);
/* Returns the sum over i of -log softmax(z[i])[target[i]], and dz[i] = softmax(z[i]) - onehot, its
 * gradient, unless dz is NULL; dz may be z.   z (N,V) */
double SL_NN(xent)(SL_REAL *dz, const SL_REAL *z, const uint8_t *target, int N, int V);
