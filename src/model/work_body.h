/* Memory of the pass for one type of number: what is kept of every layer for the way back, in one
 * block. Included by pass_body.h, which has the meaning of REAL, OF, WORK and the letters. */

/* ---------------------------------------------------------------- activations --------------- */

/* One attention: what its backward pass needs. */
typedef struct attention {
    REAL *q, *k, *v;
    int ldq, ldkv;
    REAL *p;       // weights
    uint8_t *keep; // of them
    REAL *o;       // what goes into the output map
} attention;

/* The residual_norm behind a block: its sum goes on as x, normalised as h. */
typedef struct residual_norm {
    REAL *x, *h, *stat;
    uint8_t *keep;
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
    REAL *y;        // a block's output before the residual_norm; on the way back its gradient
    REAL *dx, *dx_tokens, *dh, *dwide, *dmemory, *scratch;
    char *block;
    bool (*stop)(void *payload); // NULL: no one asks
    void *stop_payload;
    // of the batch at hand
    const sl_batch *batch;
    const REAL *mantissa, *exponent;
    sl_dropout dropout;
    int R, n, T;
    REAL scale, scale_attention; // of what dropout leaves
    bool stopped;                // the pass is abandoned
};

/* Hands out the block; with a NULL block it only counts. */
typedef struct cutter {
    char *block;
    size_t used;
} cutter;

static void *cut(cutter *c, size_t bytes) {
    void *p = c->block ? c->block + c->used : NULL;
    c->used += (bytes + 63) / 64 * 64;
    return p;
}

static REAL *cut_reals(cutter *c, size_t rows, size_t columns) {
    return cut(c, rows * columns * sizeof(REAL));
}

/* block: something is added to the stream here, and dropped from before; else the stream begins. */
static residual_norm cut_residual_norm(cutter *c, size_t rows, size_t d, bool block, bool norm) {
    residual_norm s = { .x = cut_reals(c, rows, d) };
    if (block) s.keep = cut(c, rows * d / 8);
    if (norm) {
        s.h = cut_reals(c, rows, d);
        s.stat = cut_reals(c, rows, 2);
    }
    return s;
}

/* Queries of `rows` rows over keys of `keys` rows; packed into one array where both are the same
 * rows and so come from one product. weights: numbers of p; bits: bytes of keep. */
static attention cut_attention(cutter *c, size_t rows, size_t keys, size_t d, bool packed,
                               size_t weights, size_t bits) {
    attention a;
    REAL *q = cut_reals(c, rows, packed ? 3 * d : d);
    REAL *kv = packed ? q : cut_reals(c, keys, 2 * d);
    a.ldq = (int)(packed ? 3 * d : d);
    a.ldkv = (int)(packed ? 3 * d : 2 * d);
    a.q = q;
    a.k = c->block ? kv + (packed ? d : 0) : NULL;
    a.v = c->block ? kv + (packed ? 2 * d : d) : NULL;
    a.p = cut_reals(c, weights, 1);
    a.keep = cut(c, bits);
    a.o = cut_reals(c, rows, d);
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

static void cut_work(struct WORK *w, cutter *c) {
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
    w->cells_in = cut_residual_norm(c, n, d, false, w->flags & SL_MODEL_PLAIN);
    w->affine.centred = cut_reals(c, k, d);
    w->affine.Z = cut_reals(c, k, d);
    w->affine.dZ = cut_reals(c, k, d);
    w->affine.S = cut_reals(c, n, k);
    w->affine.dS = cut_reals(c, n, k);
    w->affine.dS_part = cut_reals(c, n, k);
    w->affine.ZW = cut_reals(c, k, 3 * d);
    for (int i = 0; i < o->layers; i++) {
        encoder_layer *l = &w->encoder[i];
        const bool last = is_last(m, w->flags, i);
        const size_t rows = last ? R : n;
        l->columns = cut_attention(c, rows, n, d, !last, rows * H * columns, rows * column_bits);
        l->after_columns = cut_residual_norm(c, rows, d, true, true);
        l->points = cut_attention(c, rows, rows, d, true, rows * H * row, rows * H * row / 8);
        l->after_points = cut_residual_norm(c, rows, d, true, true);
        l->mlp.u = cut_reals(c, rows, 4 * d);
        l->mlp.a = cut_reals(c, rows, 4 * d);
        l->after_mlp = cut_residual_norm(c, rows, d, true, i + 1 < o->layers);
    }
    w->tokens_in = cut_residual_norm(c, T, d, false, true);
    for (int i = 0; i < o->decoder_layers; i++) {
        decoder_layer *l = &w->decoder[i];
        l->self = cut_attention(c, T, T, d, true, T * H * own, T * H * own / 8);
        l->after_self = cut_residual_norm(c, T, d, true, true);
        l->memory_h = cut_reals(c, R, d);
        l->memory_stat = cut_reals(c, R, 2);
        l->cross = cut_attention(c, T, R, d, false, T * H * row, T * H * row / 8);
        l->after_cross = cut_residual_norm(c, T, d, true, true);
        l->mlp.u = cut_reals(c, T, 4 * d);
        l->mlp.a = cut_reals(c, T, 4 * d);
        l->after_mlp = cut_residual_norm(c, T, d, true, true);
    }
    w->column_code = cut_reals(c, columns, d);
    w->position_code = cut_reals(c, most, d);
    w->dposition_code = cut_reals(c, most, d);
    w->at = cut(c, T);
    w->cells = cut_reals(c, OWN_CELLS ? 2 * n : 0, 1);
    w->logits = cut_reals(c, T, (size_t)o->vocabulary);
    const size_t rows = SL_MAX(n, T);
    w->y = cut_reals(c, rows, d);
    w->dx = cut_reals(c, n, d);
    w->dx_tokens = cut_reals(c, T, d);
    w->dh = cut_reals(c, rows, d);
    w->dwide = cut_reals(c, rows, 4 * d);
    w->dmemory = cut_reals(c, R, 2 * d);
    w->scratch = cut_reals(c, sl_nn_attn_scratch((int)SL_MAX(P, SL_MIN(T, most)),
                                              (int)SL_MAX(P, SL_MIN(T, most)), (int)(d / H)),
                           1);
}

static void set_capacity(struct WORK *w, const sl_model *m, int pairs, int points, int tokens,
                         int flags) {
    *w = (struct WORK){ .model = m, .pairs = pairs, .points = points, .tokens = tokens,
                        .flags = flags };
}

/* The layers' structs are at the front of the same block. */
static void cut_all(struct WORK *w, cutter *c) {
    encoder_layer *encoder = cut(c, (size_t)w->model->options.layers * sizeof *encoder);
    decoder_layer *decoder = cut(c, (size_t)w->model->options.decoder_layers * sizeof *decoder);
    w->encoder = encoder;
    w->decoder = decoder;
    cut_work(w, c);
}

/* Counting needs somewhere to write the pointers that it does not need. */
static size_t count_bytes(const sl_model *m, int pairs, int points, int tokens, int flags) {
    encoder_layer encoder[SL_MODEL_MAX_LAYERS];
    decoder_layer decoder[SL_MODEL_MAX_LAYERS];
    struct WORK w;
    cutter c = { 0 };
    set_capacity(&w, m, pairs, points, tokens, flags);
    cut(&c, (size_t)m->options.layers * sizeof *encoder);
    cut(&c, (size_t)m->options.decoder_layers * sizeof *decoder);
    w.encoder = encoder;
    w.decoder = decoder;
    cut_work(&w, &c);
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
    cutter c = { .block = block };
    cut_all(w, &c);
    w->block = block;
    *out = w;
    return SL_OK;
}

void OF(model_work_free)(struct WORK *w) {
    if (!w) return;
    sl_free(w->block);
    sl_free(w);
}

/* Before a layer: is the pass to be abandoned? */
static bool is_stopped(struct WORK *w) {
    if (w->stop && !w->stopped) w->stopped = w->stop(w->stop_payload);
    return w->stopped;
}
