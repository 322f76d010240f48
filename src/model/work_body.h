/* Memory of the pass for one type of number: the activations of every layer that the backward pass
 * needs, in one block. Included by pass_body.h, which has the meaning of REAL, OF, WORK and the
 * letters. */

/* ---------------------------------------------------------------- activations --------------- */

/* One attention: what its backward pass needs. */
typedef struct attention {
    REAL *q, *k, *v;
    int ldq, ldkv;
    REAL *p;       // weights
    uint8_t *mask; // of them
    REAL *o;       // input of the output projection
} attention;

/* The residual_norm after a block: x is the sum, h the sum normalised. */
typedef struct residual_norm {
    REAL *x, *h, *stat;
    uint8_t *mask;
} residual_norm;

typedef struct mlp {
    REAL *u, *a;
} mlp;

typedef struct encoder_layer {
    attention columns, points;
    mlp mlp;
    residual_norm after_columns, after_points, after_mlp;
} encoder_layer;

typedef struct decoder_layer {
    attention self, cross;
    REAL *memory_h, *memory_stat; // the memory, normalised
    mlp mlp;
    residual_norm after_self, after_cross, after_mlp;
} decoder_layer;

/* The first norm and product in a form that is cheaper: affine_body.h. */
typedef struct affine {
    REAL *centred, *Z, *dZ; // (k, d): vectors; times gain; and gradient
    REAL *S, *dS, *dS_part; // (n, k)
    REAL *ZW;               // (k, 3d)
} affine;

struct WORK {
    const sl_model *model;
    int pairs, points, tokens, flags; // capacity
    encoder_layer *encoder;
    decoder_layer *decoder;
    residual_norm cells_in, tokens_in; // the embeddings and their first norm
    affine affine;
    REAL *column_code, *position_code, *dposition_code;
    uint8_t *at;    // position of each token in its target
    REAL *cells;    // room for a batch's cells where they must be copied
    REAL *logits;
    REAL *y;        // a block's output before the residual_norm; in the backward pass its gradient
    REAL *dx, *dx_tokens, *dh, *dwide, *dmemory, *scratch;
    char *block;
    bool (*stop)(void *payload); // NULL: the pass is never stopped
    void *stop_payload;
    // of the present batch
    const sl_batch *batch;
    const REAL *mantissa, *exponent;
    sl_dropout dropout;
    int R, n, T;
    REAL scale, scale_attention; // of numbers that dropout leaves
    bool stopped;                // the pass ends before the next layer
};

/* Takes arrays from one block; with a NULL block it only counts bytes. */
typedef struct allocator {
    char *block;
    size_t used;
} allocator;

static void *alloc(allocator *c, size_t bytes) {
    void *p = c->block ? c->block + c->used : NULL;
    c->used += (bytes + 63) / 64 * 64;
    return p;
}

static REAL *alloc_reals(allocator *c, size_t rows, size_t columns) {
    return alloc(c, rows * columns * sizeof(REAL));
}

/* block: the output of a block is added to the stream, after dropout; else the stream begins
 * here. */
static residual_norm alloc_residual_norm(allocator *c, size_t rows, size_t d, bool block,
                                         bool norm) {
    residual_norm s = { .x = alloc_reals(c, rows, d) };
    if (block) s.mask = alloc(c, rows * d / 8);
    if (norm) {
        s.h = alloc_reals(c, rows, d);
        s.stat = alloc_reals(c, rows, 2);
    }
    return s;
}

/* Queries of `rows` rows over keys of `keys` rows; packed into one array where both are the same
 * rows and so come from one product. weights: numbers of p; bits: bytes of mask. */
static attention alloc_attention(allocator *c, size_t rows, size_t keys, size_t d, bool packed,
                               size_t weights, size_t bits) {
    attention a;
    REAL *q = alloc_reals(c, rows, packed ? 3 * d : d);
    REAL *kv = packed ? q : alloc_reals(c, keys, 2 * d);
    a.ldq = (int)(packed ? 3 * d : d);
    a.ldkv = (int)(packed ? 3 * d : 2 * d);
    a.q = q;
    a.k = c->block ? kv + (packed ? d : 0) : NULL;
    a.v = c->block ? kv + (packed ? 2 * d : d) : NULL;
    a.p = alloc_reals(c, weights, 1);
    a.mask = alloc(c, bits);
    a.o = alloc_reals(c, rows, d);
    return a;
}

static int affine_rank(const sl_model *m);

static bool is_last(const sl_model *m, int flags, int layer) {
    return layer + 1 == m->options.layers && !(flags & SL_MODEL_PLAIN);
}

/* Does layer i read the cells themselves, in the affine form? */
static bool is_affine(const struct WORK *w, int i) {
    return i == 0 && !(w->flags & SL_MODEL_PLAIN);
}

static void alloc_work(struct WORK *w, allocator *c) {
    const sl_model *m = w->model;
    const sl_model_options *o = &m->options;
    const size_t d = (size_t)o->width, H = (size_t)o->heads, columns = (size_t)o->columns;
    const size_t P = (size_t)w->points, R = (size_t)w->pairs * P, n = columns * R;
    const size_t T = (size_t)w->tokens, most = SL_MODEL_MAX_TOKENS;
    const size_t row = (size_t)sl_nn_attn_row((int)P);
    // a target of t tokens takes t rows of sl_nn_attn_row(t) weights
    const size_t own = (size_t)sl_nn_attn_row((int)SL_MIN(T, most));
    const size_t column_bits = (H * columns + 7) / 8;

    const size_t k = (size_t)affine_rank(m);
    w->cells_in = alloc_residual_norm(c, n, d, false, w->flags & SL_MODEL_PLAIN);
    w->affine.centred = alloc_reals(c, k, d);
    w->affine.Z = alloc_reals(c, k, d);
    w->affine.dZ = alloc_reals(c, k, d);
    w->affine.S = alloc_reals(c, n, k);
    w->affine.dS = alloc_reals(c, n, k);
    w->affine.dS_part = alloc_reals(c, n, k);
    w->affine.ZW = alloc_reals(c, k, 3 * d);
    for (int i = 0; i < o->layers; i++) {
        encoder_layer *l = &w->encoder[i];
        const bool last = is_last(m, w->flags, i);
        const size_t rows = last ? R : n;
        l->columns = alloc_attention(c, rows, n, d, !last, rows * H * columns, rows * column_bits);
        l->after_columns = alloc_residual_norm(c, rows, d, true, true);
        l->points = alloc_attention(c, rows, rows, d, true, rows * H * row, rows * H * row / 8);
        l->after_points = alloc_residual_norm(c, rows, d, true, true);
        l->mlp.u = alloc_reals(c, rows, 4 * d);
        l->mlp.a = alloc_reals(c, rows, 4 * d);
        l->after_mlp = alloc_residual_norm(c, rows, d, true, i + 1 < o->layers);
    }
    w->tokens_in = alloc_residual_norm(c, T, d, false, true);
    for (int i = 0; i < o->decoder_layers; i++) {
        decoder_layer *l = &w->decoder[i];
        l->self = alloc_attention(c, T, T, d, true, T * H * own, T * H * own / 8);
        l->after_self = alloc_residual_norm(c, T, d, true, true);
        l->memory_h = alloc_reals(c, R, d);
        l->memory_stat = alloc_reals(c, R, 2);
        l->cross = alloc_attention(c, T, R, d, false, T * H * row, T * H * row / 8);
        l->after_cross = alloc_residual_norm(c, T, d, true, true);
        l->mlp.u = alloc_reals(c, T, 4 * d);
        l->mlp.a = alloc_reals(c, T, 4 * d);
        l->after_mlp = alloc_residual_norm(c, T, d, true, true);
    }
    w->column_code = alloc_reals(c, columns, d);
    w->position_code = alloc_reals(c, most, d);
    w->dposition_code = alloc_reals(c, most, d);
    w->at = alloc(c, T);
    w->cells = alloc_reals(c, OWN_CELLS ? 2 * n : 0, 1);
    w->logits = alloc_reals(c, T, (size_t)o->vocabulary);
    const size_t rows = SL_MAX(n, T);
    w->y = alloc_reals(c, rows, d);
    w->dx = alloc_reals(c, n, d);
    w->dx_tokens = alloc_reals(c, T, d);
    w->dh = alloc_reals(c, rows, d);
    w->dwide = alloc_reals(c, rows, 4 * d);
    w->dmemory = alloc_reals(c, R, 2 * d);
    w->scratch = alloc_reals(c, sl_nn_attn_scratch((int)SL_MAX(P, SL_MIN(T, most)),
                                              (int)SL_MAX(P, SL_MIN(T, most)), (int)(d / H)),
                           1);
}

static void set_capacity(struct WORK *w, const sl_model *m, int pairs, int points, int tokens,
                         int flags) {
    *w = (struct WORK){ .model = m, .pairs = pairs, .points = points, .tokens = tokens,
                        .flags = flags };
}

/* The layers' structs are at the front of the same block. */
static void alloc_all(struct WORK *w, allocator *c) {
    encoder_layer *encoder = alloc(c, (size_t)w->model->options.layers * sizeof *encoder);
    decoder_layer *decoder = alloc(c, (size_t)w->model->options.decoder_layers * sizeof *decoder);
    w->encoder = encoder;
    w->decoder = decoder;
    alloc_work(w, c);
}

/* Counting writes pointers that are not used. */
static size_t count_bytes(const sl_model *m, int pairs, int points, int tokens, int flags) {
    encoder_layer encoder[SL_MODEL_MAX_LAYERS];
    decoder_layer decoder[SL_MODEL_MAX_LAYERS];
    struct WORK w;
    allocator c = { 0 };
    set_capacity(&w, m, pairs, points, tokens, flags);
    alloc(&c, (size_t)m->options.layers * sizeof *encoder);
    alloc(&c, (size_t)m->options.decoder_layers * sizeof *decoder);
    w.encoder = encoder;
    w.decoder = decoder;
    alloc_work(&w, &c);
    return c.used;
}

int64_t OF(model_work_bytes)(const sl_model *m, int pairs, int points, int tokens, int flags) {
    return (int64_t)(sizeof(struct WORK) + count_bytes(m, pairs, points, tokens, flags));
}

sl_status OF(model_work_new)(struct WORK **out, const sl_model *m, int pairs, int points,
                             int tokens, int flags) {
    SL_ASSERT(pairs > 0 && points > 0 && tokens > 0);
    size_t bytes = count_bytes(m, pairs, points, tokens, flags);
    struct WORK *w = sl_malloc(1, sizeof *w);
    char *block = sl_malloc_aligned(bytes, 1);
    if (!w || !block) {
        sl_free(block);
        sl_free(w);
        return sl_fail_memory(bytes, 1, "activations");
    }
    set_capacity(w, m, pairs, points, tokens, flags);
    allocator c = { .block = block };
    alloc_all(w, &c);
    w->block = block;
    *out = w;
    return SL_OK;
}

void OF(model_work_free)(struct WORK *w) {
    if (!w) return;
    sl_free(w->block);
    sl_free(w);
}

/* Called before a layer: is the pass to be stopped? */
static bool is_stopped(struct WORK *w) {
    if (w->stop && !w->stopped) w->stopped = w->stop(w->stop_payload);
    return w->stopped;
}
