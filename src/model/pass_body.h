/* The pass, for one type of number. Defined by the including file:
 *
 *     REAL      float or double
 *     NN(f)     the kernel f for it
 *     WORK      the struct's name
 *     CODE      the member of the layout with the sinusoids
 *     OF(f)     the function's name in the face
 *     SQRT(x)   its root
 *     OWN_CELLS true if the batch's floats must be copied to be REAL
 *
 * Rows: R = pairs x points is a column's cells, n = columns x R all cells, m those that a layer
 * outputs (R in the last encoder layer, n before), T all tokens. The activations of a layer are
 * kept for the backward pass. Names of gradients begin with d; `dx` is that of the residual
 * stream. */

#include "model/work_body.h"

/* ---------------------------------------------------------------- dropout ------------------- */

/* Places where something is dropped. A mask is counted by (pair, layer, place, column), so it does
 * not depend on which pairs share a batch. */
enum { DROP_FIRST, DROP_FIRST_OUT, DROP_SECOND, DROP_SECOND_OUT, DROP_MLP_OUT, DROP_PLACES };
enum { DECODER = SL_MODEL_MAX_LAYERS }; // layers of the decoder are counted from here

static uint64_t counter(int layer, int place, int column) {
    return (uint64_t)((layer * DROP_PLACES + place) * SL_NN_MAX_COLUMNS + column) << 32;
}

static void make_mask(const struct WORK *w, uint8_t *mask, size_t bytes, int pair, uint64_t at,
                      double chance) {
    sl_nn_dropout_mask(mask, bytes, w->dropout.key, (uint64_t)w->batch->number[pair], at,
                       sl_nn_dropout_threshold(chance));
}

/* Masks of cells: `bytes` for each pair and each of the first `columns` columns. NULL: no
 * dropout. */
static const uint8_t *mask_cells(const struct WORK *w, uint8_t *mask, size_t bytes, int columns,
                                 int layer, int place, double chance) {
    if (!w->dropout.on || chance <= 0) return NULL;
    for (int c = 0; c < columns; c++)
        for (int b = 0; b < w->batch->pairs; b++)
            make_mask(w, mask + (size_t)(c * w->batch->pairs + b) * bytes, bytes, b,
                      counter(layer, place, c), chance);
    return mask;
}

/* Masks of tokens: each pair has its tokens' rows of `bytes`. */
static const uint8_t *mask_tokens(const struct WORK *w, uint8_t *mask, size_t bytes, int layer,
                                  int place, double chance) {
    if (!w->dropout.on || chance <= 0) return NULL;
    for (int b = 0; b < w->batch->pairs; b++) {
        size_t first = (size_t)w->batch->begin[b], end = (size_t)w->batch->begin[b + 1];
        make_mask(w, mask + first * bytes, (end - first) * bytes, b,
                  counter(DECODER + layer, place, 0), chance);
    }
    return mask;
}

/* The mask that the forward pass made, for the backward pass. */
static const uint8_t *mask_of(const struct WORK *w, const uint8_t *mask, double chance) {
    return w->dropout.on && chance > 0 ? mask : NULL;
}

static REAL scale_of(double chance) {
    return (REAL)(1.0 / (1.0 - sl_nn_dropout_threshold(chance) / 65536.0));
}

/* ---------------------------------------------------------------- attention over groups ----- */

/* Rows that attend to each other, group by group. */
typedef enum attending {
    POINTS, // the points of a column, for each column and pair
    SELF,   // the tokens of a target, each to those before it
    CROSS   // the tokens of a target to the memory of its pair
} attending;

/* Group g: where its queries and keys begin, in rows, how many there are, and where its weights
 * are, in numbers. A target's weights are spaced for the longest that the work can take. */
typedef struct group {
    size_t queries, keys, weights;
    int Tq, Tk;
} group;

/* Numbers of a row of weights. */
static size_t weights_row(const struct WORK *w, attending kind) {
    const int keys = kind == SELF ? SL_MIN(w->tokens, SL_MODEL_MAX_TOKENS) : w->batch->points;
    return (size_t)sl_nn_attn_row(keys);
}

static group group_at(const struct WORK *w, attending kind, int g) {
    const int P = w->batch->points, *begin = w->batch->begin;
    group x;
    x.queries = kind == POINTS ? (size_t)g * (size_t)P : (size_t)begin[g];
    x.Tq = kind == POINTS ? P : begin[g + 1] - begin[g];
    x.keys = kind == CROSS ? (size_t)g * (size_t)P : x.queries;
    x.Tk = kind == CROSS ? P : x.Tq;
    x.weights = x.queries * (size_t)w->model->options.heads * weights_row(w, kind);
    return x;
}

static void groups_fwd(struct WORK *w, attention *a, const uint8_t *mask, attending kind,
                       int groups) {
    const int H = (int)w->model->options.heads, d = (int)w->model->options.width;
    for (int g = 0; g < groups; g++) {
        const group x = group_at(w, kind, g);
        const size_t q = x.queries * (size_t)a->ldq, k = x.keys * (size_t)a->ldkv;
        NN(attn_fwd)(a->o + x.queries * (size_t)d, d, a->p + x.weights, a->q + q, a->ldq, a->k + k,
                     a->v + k, a->ldkv, mask ? mask + x.weights / 8 : NULL, w->scale_attention,
                     x.Tq, x.Tk, H, d / H, kind == SELF, w->scratch);
    }
}

/* dq is spaced as q, dk and dv as k and v. */
static void groups_bwd(struct WORK *w, const attention *a, const uint8_t *mask, attending kind,
                       int groups, REAL *dq, REAL *dk, REAL *dv, const REAL *dout) {
    const int H = (int)w->model->options.heads, d = (int)w->model->options.width;
    for (int g = 0; g < groups; g++) {
        const group x = group_at(w, kind, g);
        const size_t q = x.queries * (size_t)a->ldq, k = x.keys * (size_t)a->ldkv;
        NN(attn_bwd)(dq + q, a->ldq, dk + k, dv + k, a->ldkv, dout + x.queries * (size_t)d, d,
                     a->q + q, a->k + k, a->v + k, a->p + x.weights,
                     mask ? mask + x.weights / 8 : NULL, w->scale_attention, x.Tq, x.Tk, H, d / H,
                     kind == SELF, w->scratch);
    }
}

/* ---------------------------------------------------------------- blocks -------------------- */

/* A norm in the parameters, or none. */
typedef struct norm {
    const REAL *gain, *offset;
    REAL *dgain, *doffset;
} norm;

static norm norm_at(const REAL *weights, REAL *grad, int64_t gain, int64_t offset) {
    return (norm){ weights + gain, weights + offset, grad ? grad + gain : NULL,
                   grad ? grad + offset : NULL };
}

/* The norm that reads a stream behind encoder layer i, or -1 the cells themselves. */
static norm encoder_norm(const struct WORK *w, const REAL *weights, REAL *grad, int i) {
    const sl_model__layout *l = w->model->layout;
    if (i + 1 == w->model->options.layers) return (norm){ 0 };
    return norm_at(weights, grad, l->encoder[i + 1].norm1_g, l->encoder[i + 1].norm1_b);
}

static norm decoder_norm(const struct WORK *w, const REAL *weights, REAL *grad, int i) {
    const sl_model__layout *l = w->model->layout;
    if (i + 1 == w->model->options.decoder_layers)
        return norm_at(weights, grad, l->norm_g, l->norm_b);
    return norm_at(weights, grad, l->decoder[i + 1].norm1_g, l->decoder[i + 1].norm1_b);
}

static void close_block(const struct WORK *w, residual_norm *s, const REAL *x, const REAL *bias,
                        const uint8_t *mask, norm n, int rows) {
    NN(residual_norm_fwd)(s->x, s->h, s->stat, x, w->y, bias, mask, w->scale, n.gain, n.offset,
                 (REAL)w->model->options.norm_eps, rows, (int)w->model->options.width);
}

/* dx: the stream's gradient behind the residual_norm, then before it. w->dh in, w->y out. */
static void open_block(const struct WORK *w, const residual_norm *s, REAL *dx, REAL *dbias, norm n,
                       int rows) {
    NN(residual_norm_bwd)(dx, w->y, dbias, n.dgain, n.doffset, w->dh, s->x, s->stat,
                 mask_of(w, s->mask, w->model->options.dropout), w->scale, n.gain, rows,
                 (int)w->model->options.width);
}

static void mlp_fwd(const struct WORK *w, mlp *f, const REAL *h, const REAL *W1, const REAL *b1,
                    const REAL *W2, int rows) {
    const int d = (int)w->model->options.width;
    NN(linear_fwd)(f->u, 4 * d, h, d, W1, NULL, rows, d, 4 * d);
    NN(silu_fwd)(f->a, f->u, b1, rows, 4 * d);
    NN(linear_fwd)(w->y, d, f->a, 4 * d, W2, NULL, rows, 4 * d, d);
}

/* w->y in, w->dh out. */
static void mlp_bwd(const struct WORK *w, const mlp *f, const REAL *h, const REAL *W1,
                    const REAL *W2, REAL *dW1, REAL *db1, REAL *dW2, int rows) {
    const int d = (int)w->model->options.width;
    NN(linear_bwd_w)(dW2, NULL, w->y, d, f->a, 4 * d, rows, 4 * d, d);
    NN(linear_bwd_x)(w->dwide, 4 * d, w->y, d, W2, rows, 4 * d, d, false);
    NN(silu_bwd)(w->dwide, db1, w->dwide, f->u, rows, 4 * d);
    NN(linear_bwd_w)(dW1, NULL, w->dwide, 4 * d, h, d, rows, d, 4 * d);
    NN(linear_bwd_x)(w->dh, d, w->dwide, 4 * d, W1, rows, d, 4 * d, false);
}

/* ---------------------------------------------------------------- encoder ------------------- */

#include "model/affine_body.h"

/* y = h W^T + b of the cells before layer i, for the first `rows` of them. */
static void cells_linear_fwd(const struct WORK *w, int i, REAL *y, int ldy, const REAL *h,
                             const REAL *W, const REAL *b, int rows, int K) {
    const int d = (int)w->model->options.width;
    if (is_affine(w, i))
        affine_fwd(w, y, ldy, W, b, rows, K);
    else
        NN(linear_fwd)(y, ldy, h, d, W, b, rows, d, K);
}

/* w->dh (with `add`: +=) out, or what stands for it in the affine form. */
static void cells_linear_bwd(const struct WORK *w, int i, const REAL *dy, int ldy, const REAL *h,
                             const REAL *W, const REAL *b, REAL *dW, REAL *db, int rows, int K,
                             bool add) {
    const int d = (int)w->model->options.width;
    if (is_affine(w, i)) {
        affine_bwd(w, dW, db, dy, ldy, W, b, rows, K);
        return;
    }
    NN(linear_bwd_w)(dW, db, dy, ldy, h, d, rows, d, K);
    NN(linear_bwd_x)(w->dh, d, dy, ldy, W, rows, d, K, add);
}

/* Cells to queries, keys and values; the last layer asks for the target's cells only. */
static void columns_qkv_fwd(const struct WORK *w, int i, attention *a, const REAL *h,
                            const REAL *W, const REAL *b, int rows) {
    const int d = (int)w->model->options.width;
    if (a->ldq == 3 * d) {
        cells_linear_fwd(w, i, a->q, 3 * d, h, W, b, w->n, 3 * d);
        return;
    }
    cells_linear_fwd(w, i, a->q, d, h, W, b, rows, d);
    cells_linear_fwd(w, i, a->k, 2 * d, h, W + d * d, b + d, w->n, 2 * d);
}

/* dq and dkv as cols_bwd left them in `dwide`; w->dh out. */
static void columns_qkv_bwd(const struct WORK *w, int i, const attention *a, const REAL *dq,
                            const REAL *dk, const REAL *h, const REAL *W, const REAL *b, REAL *dW,
                            REAL *db, int rows) {
    const int d = (int)w->model->options.width;
    if (a->ldq == 3 * d) {
        cells_linear_bwd(w, i, dq, 3 * d, h, W, b, dW, db, w->n, 3 * d, false);
        return;
    }
    cells_linear_bwd(w, i, dk, 2 * d, h, W + d * d, b + d, dW + d * d, db + d, w->n, 2 * d, false);
    cells_linear_bwd(w, i, dq, d, h, W, b, dW, db, rows, d, true);
}

static void encoder_fwd(struct WORK *w, const REAL *weights, int i, const residual_norm *in) {
    const sl_model_options *o = &w->model->options;
    const sl_model__encoder *at = &w->model->layout->encoder[i];
    encoder_layer *l = &w->encoder[i];
    const int d = (int)o->width, H = (int)o->heads, columns = (int)o->columns;
    const int P = w->batch->points, asking = is_last(w->model, w->flags, i) ? 1 : columns;
    const int m = asking * w->R, row = sl_nn_attn_row(P);
    const size_t cell = (size_t)(P * d / 8), column_bits = (size_t)((H * columns + 7) / 8);

    attention *a = &l->columns;
    columns_qkv_fwd(w, i, a, in->h, weights + at->columns_qkv_w, weights + at->columns_qkv_b, m);
    const uint8_t *mask = mask_cells(w, a->mask, (size_t)P * column_bits, asking, i, DROP_FIRST,
                                     o->attention_dropout);
    NN(cols_fwd)(a->o, d, a->p, a->q, a->ldq, a->k, a->v, a->ldkv, mask, w->scale_attention,
                 w->batch->present, P, w->R, asking, columns, H, d / H);
    NN(linear_fwd)(w->y, d, a->o, d, weights + at->columns_out_w, NULL, m, d, d);
    mask = mask_cells(w, l->after_columns.mask, cell, asking, i, DROP_FIRST_OUT, o->dropout);
    close_block(w, &l->after_columns, in->x, weights + at->columns_out_b, mask,
                norm_at(weights, NULL, at->norm2_g, at->norm2_b), m);

    a = &l->points;
    NN(linear_fwd)(a->q, 3 * d, l->after_columns.h, d, weights + at->points_qkv_w,
                   weights + at->points_qkv_b, m, d, 3 * d);
    mask = mask_cells(w, a->mask, (size_t)(P * H * row / 8), asking, i, DROP_SECOND,
                      o->attention_dropout);
    groups_fwd(w, a, mask, POINTS, m / P);
    NN(linear_fwd)(w->y, d, a->o, d, weights + at->points_out_w, NULL, m, d, d);
    mask = mask_cells(w, l->after_points.mask, cell, asking, i, DROP_SECOND_OUT, o->dropout);
    close_block(w, &l->after_points, l->after_columns.x, weights + at->points_out_b, mask,
                norm_at(weights, NULL, at->norm3_g, at->norm3_b), m);

    mlp_fwd(w, &l->mlp, l->after_points.h, weights + at->mlp_in_w, weights + at->mlp_in_b,
            weights + at->mlp_out_w, m);
    mask = mask_cells(w, l->after_mlp.mask, cell, asking, i, DROP_MLP_OUT, o->dropout);
    close_block(w, &l->after_mlp, l->after_points.x, weights + at->mlp_out_b, mask,
                encoder_norm(w, weights, NULL, i), m);
}

/* w->dx: the gradient behind the layer in its first m rows, zero in the others; w->dh: that of the
 * norm which reads it. Leaves both for the layer before. */
static void encoder_bwd(struct WORK *w, const REAL *weights, REAL *grad, int i,
                        const residual_norm *in) {
    const sl_model_options *o = &w->model->options;
    const sl_model__encoder *at = &w->model->layout->encoder[i];
    encoder_layer *l = &w->encoder[i];
    const int d = (int)o->width, H = (int)o->heads, columns = (int)o->columns;
    const int P = w->batch->points, asking = is_last(w->model, w->flags, i) ? 1 : columns;
    const int m = asking * w->R;

    open_block(w, &l->after_mlp, w->dx, grad + at->mlp_out_b, encoder_norm(w, weights, grad, i), m);
    mlp_bwd(w, &l->mlp, l->after_points.h, weights + at->mlp_in_w, weights + at->mlp_out_w,
            grad + at->mlp_in_w, grad + at->mlp_in_b, grad + at->mlp_out_w, m);

    const attention *a = &l->points;
    open_block(w, &l->after_points, w->dx, grad + at->points_out_b,
               norm_at(weights, grad, at->norm3_g, at->norm3_b), m);
    NN(linear_bwd_w)(grad + at->points_out_w, NULL, w->y, d, a->o, d, m, d, d);
    NN(linear_bwd_x)(w->dh, d, w->y, d, weights + at->points_out_w, m, d, d, false);
    groups_bwd(w, a, mask_of(w, a->mask, o->attention_dropout), POINTS, m / P, w->dwide,
               w->dwide + d, w->dwide + 2 * d, w->dh);
    NN(linear_bwd_w)(grad + at->points_qkv_w, grad + at->points_qkv_b, w->dwide, 3 * d,
                     l->after_columns.h, d, m, d, 3 * d);
    NN(linear_bwd_x)(w->dh, d, w->dwide, 3 * d, weights + at->points_qkv_w, m, d, 3 * d, false);

    a = &l->columns;
    open_block(w, &l->after_columns, w->dx, grad + at->columns_out_b,
               norm_at(weights, grad, at->norm2_g, at->norm2_b), m);
    NN(linear_bwd_w)(grad + at->columns_out_w, NULL, w->y, d, a->o, d, m, d, d);
    NN(linear_bwd_x)(w->dh, d, w->y, d, weights + at->columns_out_w, m, d, d, false);
    const bool packed = a->ldq == 3 * d;
    REAL *dq = packed ? w->dwide : w->dwide + (size_t)w->n * (size_t)(2 * d);
    REAL *dk = packed ? w->dwide + d : w->dwide;
    NN(cols_bwd)(dq, a->ldq, dk, dk + d, a->ldkv, w->dh, d, a->q, a->k, a->v, a->p,
                 mask_of(w, a->mask, o->attention_dropout), w->scale_attention, w->batch->present,
                 P, w->R, asking, columns, H, d / H);
    columns_qkv_bwd(w, i, a, dq, dk, in->h, weights + at->columns_qkv_w,
                    weights + at->columns_qkv_b, grad + at->columns_qkv_w,
                    grad + at->columns_qkv_b, m);
}

static const residual_norm *encoder_in(const struct WORK *w, int i) {
    return i == 0 ? &w->cells_in : &w->encoder[i - 1].after_mlp;
}

/* Returns the memory: (R, width). */
static const REAL *encode(struct WORK *w, const REAL *weights) {
    const sl_model *m = w->model;
    const sl_model__layout *l = m->layout;
    const int d = (int)m->options.width, columns = (int)m->options.columns;
    NN(linear_fwd)(w->column_code, d, l->CODE, d, weights + l->column_w, NULL, columns, d, d);
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < d; i++)
            w->column_code[c * d + i] += weights[l->mantissa_b + i] + weights[l->exponent_b + i];
    NN(cells_fwd)(w->cells_in.x, w->mantissa, w->exponent, weights + l->mantissa_w,
                  weights + l->exponent_w, w->column_code, w->R, columns, d);
    if (is_affine(w, 0)) {
        affine_prepare(w, weights);
    } else {
        norm n = encoder_norm(w, weights, NULL, -1);
        NN(residual_norm_fwd)(NULL, w->cells_in.h, w->cells_in.stat, w->cells_in.x, NULL, NULL,
                              NULL, 1, n.gain, n.offset, (REAL)m->options.norm_eps, w->n, d);
    }
    for (int i = 0; i < m->options.layers && !is_stopped(w); i++)
        encoder_fwd(w, weights, i, encoder_in(w, i));
    return w->encoder[m->options.layers - 1].after_mlp.x;
}

/* w->dx: the gradient of the memory in the first R rows, zero elsewhere. */
static void encode_bwd(struct WORK *w, const REAL *weights, REAL *grad) {
    const sl_model *m = w->model;
    const sl_model__layout *l = m->layout;
    const int d = (int)m->options.width, columns = (int)m->options.columns;
    memset(w->affine.dS, 0, (size_t)(w->n * affine_rank(m)) * sizeof *w->affine.dS);
    memset(w->affine.dZ, 0, (size_t)(affine_rank(m) * d) * sizeof *w->affine.dZ);
    for (int i = (int)m->options.layers - 1; i >= 0 && !is_stopped(w); i--)
        encoder_bwd(w, weights, grad, i, encoder_in(w, i));
    if (w->stopped) return;
    REAL *dcode = w->column_code; // read for the last time in encode
    memset(dcode, 0, (size_t)(columns * d) * sizeof *dcode);
    if (is_affine(w, 0)) {
        affine_close(w, weights, grad, dcode);
    } else {
        norm n = encoder_norm(w, weights, grad, -1);
        NN(residual_norm_bwd)(w->dx, NULL, NULL, n.dgain, n.doffset, w->dh, w->cells_in.x,
                     w->cells_in.stat, NULL, 1, n.gain, w->n, d);
    }
    NN(cells_bwd)(grad + l->mantissa_w, grad + l->exponent_w, dcode, w->dx, w->mantissa,
                  w->exponent, w->R, columns, d);
    for (int c = 0; c < columns; c++) {
        for (int i = 0; i < d; i++) {
            grad[l->mantissa_b + i] += dcode[c * d + i];
            grad[l->exponent_b + i] += dcode[c * d + i];
        }
    }
    NN(linear_bwd_w)(grad + l->column_w, NULL, dcode, d, l->CODE, d, columns, d, d);
}

/* ---------------------------------------------------------------- decoder ------------------- */

static void decoder_fwd(struct WORK *w, const REAL *weights, int i, const residual_norm *in,
                        const REAL *memory) {
    const sl_model_options *o = &w->model->options;
    const sl_model__decoder *at = &w->model->layout->decoder[i];
    decoder_layer *l = &w->decoder[i];
    const int d = (int)o->width, H = (int)o->heads, T = w->T;
    const size_t residual = (size_t)(d / 8),
                 across = (size_t)H * (size_t)sl_nn_attn_row(w->batch->points);

    attention *a = &l->self;
    NN(linear_fwd)(a->q, 3 * d, in->h, d, weights + at->self_qkv_w, weights + at->self_qkv_b, T, d,
                   3 * d);
    const uint8_t *mask = mask_tokens(w, a->mask, (size_t)H * weights_row(w, SELF) / 8, i,
                                      DROP_FIRST, o->attention_dropout);
    groups_fwd(w, a, mask, SELF, w->batch->pairs);
    NN(linear_fwd)(w->y, d, a->o, d, weights + at->self_out_w, NULL, T, d, d);
    mask = mask_tokens(w, l->after_self.mask, residual, i, DROP_FIRST_OUT, o->dropout);
    close_block(w, &l->after_self, in->x, weights + at->self_out_b, mask,
                norm_at(weights, NULL, at->norm2_g, at->norm2_b), T);

    a = &l->cross;
    NN(residual_norm_fwd)(NULL, l->memory_h, l->memory_stat, memory, NULL, NULL, NULL, 1,
                 weights + at->memory_g, weights + at->memory_b, (REAL)o->norm_eps, w->R, d);
    NN(linear_fwd)(a->q, d, l->after_self.h, d, weights + at->cross_q_w, weights + at->cross_q_b, T,
                   d, d);
    NN(linear_fwd)(a->k, 2 * d, l->memory_h, d, weights + at->cross_kv_w,
                   weights + at->cross_kv_b, w->R, d, 2 * d);
    mask = mask_tokens(w, a->mask, across / 8, i, DROP_SECOND, o->attention_dropout);
    groups_fwd(w, a, mask, CROSS, w->batch->pairs);
    NN(linear_fwd)(w->y, d, a->o, d, weights + at->cross_out_w, NULL, T, d, d);
    mask = mask_tokens(w, l->after_cross.mask, residual, i, DROP_SECOND_OUT, o->dropout);
    close_block(w, &l->after_cross, l->after_self.x, weights + at->cross_out_b, mask,
                norm_at(weights, NULL, at->norm3_g, at->norm3_b), T);

    mlp_fwd(w, &l->mlp, l->after_cross.h, weights + at->mlp_in_w, weights + at->mlp_in_b,
            weights + at->mlp_out_w, T);
    mask = mask_tokens(w, l->after_mlp.mask, residual, i, DROP_MLP_OUT, o->dropout);
    close_block(w, &l->after_mlp, l->after_cross.x, weights + at->mlp_out_b, mask,
                decoder_norm(w, weights, NULL, i), T);
}

/* As encoder_bwd, of w->dx_tokens; adds to the memory's gradient, the first R rows of w->dx. */
static void decoder_bwd(struct WORK *w, const REAL *weights, REAL *grad, int i,
                        const residual_norm *in, const REAL *memory) {
    const sl_model_options *o = &w->model->options;
    const sl_model__decoder *at = &w->model->layout->decoder[i];
    decoder_layer *l = &w->decoder[i];
    const int d = (int)o->width, T = w->T;

    open_block(w, &l->after_mlp, w->dx_tokens, grad + at->mlp_out_b,
               decoder_norm(w, weights, grad, i), T);
    mlp_bwd(w, &l->mlp, l->after_cross.h, weights + at->mlp_in_w, weights + at->mlp_out_w,
            grad + at->mlp_in_w, grad + at->mlp_in_b, grad + at->mlp_out_w, T);

    const attention *a = &l->cross;
    open_block(w, &l->after_cross, w->dx_tokens, grad + at->cross_out_b,
               norm_at(weights, grad, at->norm3_g, at->norm3_b), T);
    NN(linear_bwd_w)(grad + at->cross_out_w, NULL, w->y, d, a->o, d, T, d, d);
    NN(linear_bwd_x)(w->dh, d, w->y, d, weights + at->cross_out_w, T, d, d, false);
    groups_bwd(w, a, mask_of(w, a->mask, o->attention_dropout), CROSS, w->batch->pairs, w->dwide,
               w->dmemory, w->dmemory + d, w->dh);
    NN(linear_bwd_w)(grad + at->cross_kv_w, grad + at->cross_kv_b, w->dmemory, 2 * d, l->memory_h,
                     d, w->R, d, 2 * d);
    NN(linear_bwd_x)(w->dh, d, w->dmemory, 2 * d, weights + at->cross_kv_w, w->R, d, 2 * d, false);
    NN(residual_norm_bwd)(w->dx, NULL, NULL, grad + at->memory_g, grad + at->memory_b, w->dh,
                          memory, l->memory_stat, NULL, 1, weights + at->memory_g, w->R, d);
    NN(linear_bwd_w)(grad + at->cross_q_w, grad + at->cross_q_b, w->dwide, d, l->after_self.h, d, T,
                     d, d);
    NN(linear_bwd_x)(w->dh, d, w->dwide, d, weights + at->cross_q_w, T, d, d, false);

    a = &l->self;
    open_block(w, &l->after_self, w->dx_tokens, grad + at->self_out_b,
               norm_at(weights, grad, at->norm2_g, at->norm2_b), T);
    NN(linear_bwd_w)(grad + at->self_out_w, NULL, w->y, d, a->o, d, T, d, d);
    NN(linear_bwd_x)(w->dh, d, w->y, d, weights + at->self_out_w, T, d, d, false);
    groups_bwd(w, a, mask_of(w, a->mask, o->attention_dropout), SELF, w->batch->pairs, w->dwide,
               w->dwide + d, w->dwide + 2 * d, w->dh);
    NN(linear_bwd_w)(grad + at->self_qkv_w, grad + at->self_qkv_b, w->dwide, 3 * d, in->h, d, T, d,
                     3 * d);
    NN(linear_bwd_x)(w->dh, d, w->dwide, 3 * d, weights + at->self_qkv_w, T, d, 3 * d, false);
}

static const residual_norm *decoder_in(const struct WORK *w, int i) {
    return i == 0 ? &w->tokens_in : &w->decoder[i - 1].after_mlp;
}

static int longest(const sl_batch *b) {
    int most = 0;
    for (int i = 0; i < b->pairs; i++) most = SL_MAX(most, b->begin[i + 1] - b->begin[i]);
    return most;
}

static void decode(struct WORK *w, const REAL *weights, const REAL *memory) {
    const sl_model *m = w->model;
    const sl_model__layout *l = m->layout;
    const int d = (int)m->options.width, T = w->T, last = (int)m->options.decoder_layers - 1;
    NN(linear_fwd)(w->position_code, d, l->CODE, d, weights + l->position_w, NULL,
                   longest(w->batch), d, d);
    NN(tokens_fwd)(w->tokens_in.x, w->batch->ids, w->at, weights + l->table, w->position_code, T,
                   d);
    norm n = decoder_norm(w, weights, NULL, -1);
    NN(residual_norm_fwd)(NULL, w->tokens_in.h, w->tokens_in.stat, w->tokens_in.x, NULL, NULL, NULL,
                          1, n.gain, n.offset, (REAL)m->options.norm_eps, T, d);
    for (int i = 0; i <= last && !is_stopped(w); i++)
        decoder_fwd(w, weights, i, decoder_in(w, i), memory);
    if (w->stopped) return;
    NN(linear_fwd)(w->logits, (int)m->options.vocabulary, w->decoder[last].after_mlp.h, d,
                   weights + l->table, NULL, T, d, (int)m->options.vocabulary);
}

/* w->logits: their gradient. Leaves the memory's in w->dx. */
static void decode_bwd(struct WORK *w, const REAL *weights, REAL *grad, const REAL *memory) {
    const sl_model *m = w->model;
    const sl_model__layout *l = m->layout;
    const int d = (int)m->options.width, T = w->T, V = (int)m->options.vocabulary;
    const int last = (int)m->options.decoder_layers - 1;
    memset(w->dx, 0, (size_t)w->n * (size_t)d * sizeof *w->dx);
    memset(w->dx_tokens, 0, (size_t)T * (size_t)d * sizeof *w->dx_tokens);
    NN(linear_bwd_w)(grad + l->table, NULL, w->logits, V, w->decoder[last].after_mlp.h, d, T, d, V);
    NN(linear_bwd_x)(w->dh, d, w->logits, V, weights + l->table, T, d, V, false);
    for (int i = last; i >= 0 && !is_stopped(w); i--)
        decoder_bwd(w, weights, grad, i, decoder_in(w, i), memory);
    if (w->stopped) return;
    norm n = decoder_norm(w, weights, grad, -1);
    NN(residual_norm_bwd)(w->dx_tokens, NULL, NULL, n.dgain, n.doffset, w->dh, w->tokens_in.x,
                 w->tokens_in.stat, NULL, 1, n.gain, T, d);
    const int positions = longest(w->batch);
    memset(w->dposition_code, 0, (size_t)(positions * d) * sizeof *w->dposition_code);
    NN(tokens_bwd)(grad + l->table, w->dposition_code, w->dx_tokens, w->batch->ids, w->at, T, d);
    NN(linear_bwd_w)(grad + l->position_w, NULL, w->dposition_code, d, l->CODE, d, positions, d, d);
}

/* ---------------------------------------------------------------- the pass ------------------ */

static void take_batch(struct WORK *w, const sl_batch *b, sl_dropout dropout) {
    const sl_model_options *o = &w->model->options;
    w->batch = b;
    w->dropout = dropout;
    w->stopped = false;
    w->R = b->pairs * b->points;
    w->n = (int)o->columns * w->R;
    w->T = b->begin ? b->begin[b->pairs] - b->begin[0] : 0;
    w->scale = dropout.on ? scale_of(o->dropout) : 1;
    w->scale_attention = dropout.on ? scale_of(o->attention_dropout) : 1;
    SL_ASSERT(b->pairs <= w->pairs && b->points == w->points);
#if OWN_CELLS
    for (int i = 0; i < w->n; i++) {
        w->cells[i] = b->mantissa[i];
        w->cells[w->n + i] = b->exponent[i];
    }
    w->mantissa = w->cells;
    w->exponent = w->cells + w->n;
#else
    w->mantissa = b->mantissa;
    w->exponent = b->exponent;
#endif
}

static void take_tokens(struct WORK *w, const sl_batch *b) {
    SL_ASSERT(b->begin[0] == 0 && w->T > 0 && w->T <= w->tokens);
    SL_ASSERT(longest(b) <= SL_MODEL_MAX_TOKENS);
    for (int i = 0; i < b->pairs; i++)
        for (int t = b->begin[i]; t < b->begin[i + 1]; t++) w->at[t] = (uint8_t)(t - b->begin[i]);
}

void OF(model_encode)(REAL *memory, struct WORK *w, const REAL *weights, const sl_batch *b) {
    take_batch(w, b, (sl_dropout){ 0 });
    memcpy(memory, encode(w, weights),
           (size_t)w->R * (size_t)w->model->options.width * sizeof *memory);
}

double OF(model_pass)(struct WORK *w, REAL *grad, REAL *logits, const REAL *weights,
                      const sl_batch *b, sl_dropout dropout) {
    take_batch(w, b, dropout);
    take_tokens(w, b);
    const size_t V = (size_t)w->model->options.vocabulary;
    const REAL *memory = encode(w, weights);
    if (!w->stopped) decode(w, weights, memory);
    if (w->stopped) return NAN;
    if (logits) memcpy(logits, w->logits, (size_t)w->T * V * sizeof *logits);
    double loss = NN(xent)(grad ? w->logits : NULL, w->logits, b->targets, w->T, (int)V);
    if (grad) {
        decode_bwd(w, weights, grad, memory);
        if (!w->stopped) encode_bwd(w, weights, grad);
    }
    return w->stopped ? NAN : loss;
}
