/* decode - the decoder one token at a time, along a tree of prefixes.
 *
 * The blocks are those of decoder_fwd in pass_body.h, for rows that are the latest tokens of their
 * prefixes. Products use panels (nn.h): many rows are multiplied at once, and each row's result is
 * independent of the others.
 *
 *     nodes    parent, position, token; keys and values in slabs that stay where they are:
 *              slab[node / SLAB], node % SLAB, layer: K (width), V (width)
 *     memory   its keys and values in every layer, as panels for each head: scores are a product of
 *              queries with K's panels, results one of weights with V's */
#include <math.h>
#include <string.h>

#include "model/model_impl.h"
#include "nn/nn.h"

/* Nodes in a slab: enough for huge pages, since the nodes of a prefix are scattered and with small
 * pages each would need one of its own. */
enum { SLAB = 512 };

/* ---------------------------------------------------------------- weights ------------------- */

/* One layer's maps as panels. */
typedef struct maps {
    float *self_qkv, *self_out, *cross_q, *cross_kv, *cross_out, *mlp_in, *mlp_out;
} maps;

struct sl_decoder {
    const sl_model *model;
    const float *weights;
    maps *layer;
    float *head;          // the token table
    float *position_code; // (SL_MODEL_MAX_TOKENS, width)
    float *block;
};

static float *pack(float **at, const float *W, int C, int K) {
    float *panels = *at;
    sl_nn_panels_pack(panels, W, C, C, K, false);
    *at += sl_nn_panels_size(C, K);
    return panels;
}

static size_t panels_of_layer(int d) {
    return sl_nn_panels_size(d, 3 * d) + 3 * sl_nn_panels_size(d, d) + sl_nn_panels_size(d, 2 * d) +
           sl_nn_panels_size(d, 4 * d) + sl_nn_panels_size(4 * d, d);
}

static void lay_out(sl_decoder *s) {
    const sl_model *m = s->model;
    const sl_model__layout *l = m->layout;
    const float *w = s->weights;
    const int d = (int)m->options.width;
    float *at = s->block;
    for (int i = 0; i < m->options.decoder_layers; i++) {
        const sl_model__decoder *p = &l->decoder[i];
        s->layer[i] = (maps){
            .self_qkv = pack(&at, w + p->self_qkv_w, d, 3 * d),
            .self_out = pack(&at, w + p->self_out_w, d, d),
            .cross_q = pack(&at, w + p->cross_q_w, d, d),
            .cross_kv = pack(&at, w + p->cross_kv_w, d, 2 * d),
            .cross_out = pack(&at, w + p->cross_out_w, d, d),
            .mlp_in = pack(&at, w + p->mlp_in_w, d, 4 * d),
            .mlp_out = pack(&at, w + p->mlp_out_w, 4 * d, d),
        };
    }
    s->head = pack(&at, w + l->table, d, (int)m->options.vocabulary);
    s->position_code = at;
    sl_nn_linear_fwd(s->position_code, d, l->code_f, d, w + l->position_w, NULL,
                     SL_MODEL_MAX_TOKENS, d, d);
}

sl_status sl_model_decoder_new(sl_decoder **out, const sl_model *m, const float *weights) {
    const int d = (int)m->options.width;
    const size_t layers = (size_t)m->options.decoder_layers;
    const size_t floats = layers * panels_of_layer(d) +
                          sl_nn_panels_size(d, (int)m->options.vocabulary) +
                          (size_t)SL_MODEL_MAX_TOKENS * (size_t)d;
    sl_decoder *s = sl_malloc(1, sizeof *s);
    maps *layer = sl_malloc(layers, sizeof *layer);
    float *block = sl_malloc_aligned(floats, sizeof *block);
    if (!s || !layer || !block) {
        sl_free(block);
        sl_free(layer);
        sl_free(s);
        return sl_fail_memory(floats, sizeof *block, "the decoder's weights");
    }
    *s = (sl_decoder){ .model = m, .weights = weights, .layer = layer, .block = block };
    lay_out(s);
    *out = s;
    return SL_OK;
}

void sl_model_decoder_free(sl_decoder *d) {
    if (!d) return;
    sl_free(d->block);
    sl_free(d->layer);
    sl_free(d);
}

/* ---------------------------------------------------------------- the tree ------------------ */

typedef struct node {
    int parent; // -1: none; of a free node, the next free one
    int behind; // living nodes behind it, and one for itself until it is dropped
    uint8_t id, at;
} node;

/* What one worker needs for SL_PREFIX_ROWS rows. */
typedef struct workspace {
    float *x, *h, *y, *wide, *stat, *scores;
    const float **kv;
} workspace;

struct sl_prefixes {
    const sl_decoder *decoder;
    int points, capacity; // of the present memory; the most
    float *memory_h, *memory_kv, *memory_stat;
    float **keys, **values; // by layer: panels of all heads, one after the other
    node *node;
    float **slab;
    int slabs, slabs_room;
    int free, used; // the first free node, -1: none; nodes alive
    workspace *workspace;
    int workspaces;
    float *block;
};

static size_t head_keys(const sl_prefixes *p) {
    const sl_model_options *o = &p->decoder->model->options;
    return sl_nn_panels_size((int)(o->width / o->heads), p->capacity);
}

static size_t head_values(const sl_prefixes *p) {
    const sl_model_options *o = &p->decoder->model->options;
    return sl_nn_panels_size(p->capacity, (int)(o->width / o->heads));
}

/* Divides the block into arrays; with a NULL block it only counts. */
typedef struct cutter {
    float *block;
    size_t used;
} cutter;

static float *take(cutter *c, size_t n) {
    float *p = c->block ? c->block + c->used : NULL;
    c->used += (n + 15) & ~(size_t)15;
    return p;
}

static void cut_prefixes(sl_prefixes *p, cutter *c) {
    const sl_model_options *o = &p->decoder->model->options;
    const size_t d = (size_t)o->width, H = (size_t)o->heads, P = (size_t)p->capacity;
    p->memory_h = take(c, P * d);
    p->memory_kv = take(c, P * 2 * d);
    p->memory_stat = take(c, P * 2);
    for (int i = 0; i < o->decoder_layers; i++) {
        p->keys[i] = take(c, H * head_keys(p));
        p->values[i] = take(c, H * head_values(p));
    }
    const size_t R = SL_PREFIX_ROWS, most = SL_MODEL_MAX_TOKENS;
    for (int i = 0; i < p->workspaces; i++) {
        workspace *k = &p->workspace[i];
        k->x = take(c, R * d);
        k->h = take(c, R * d);
        k->y = take(c, R * d);
        k->wide = take(c, R * 4 * d);
        k->stat = take(c, R * 2);
        k->scores = take(c, SL_MAX(R * P, H * (most + 3)));
    }
}

/* Pointers to rows of keys: one run of them for each worker. */
static sl_status new_lists(sl_prefixes *p) {
    const size_t layers = (size_t)p->decoder->model->options.decoder_layers;
    const size_t workspaces = (size_t)p->workspaces;
    p->keys = sl_calloc(2 * layers, sizeof *p->keys);
    p->workspace = sl_calloc(workspaces, sizeof *p->workspace);
    const float **kv = sl_malloc(workspaces * SL_MODEL_MAX_TOKENS, sizeof *kv);
    if (!p->keys || !p->workspace || !kv) {
        sl_free(kv);
        return sl_fail_memory(workspaces * SL_MODEL_MAX_TOKENS, sizeof *kv, "prefixes");
    }
    p->values = p->keys + layers;
    for (int i = 0; i < p->workspaces; i++)
        p->workspace[i].kv = kv + (size_t)i * SL_MODEL_MAX_TOKENS;
    return SL_OK;
}

sl_status sl_model_prefixes_new(sl_prefixes **out, const sl_decoder *d, int points, int workers) {
    SL_ASSERT(points > 0 && workers > 0);
    sl_prefixes *p = sl_malloc(1, sizeof *p);
    if (!p) return sl_fail_memory(1, sizeof *p, "prefixes");
    *p = (sl_prefixes){ .decoder = d, .capacity = points, .workspaces = workers, .free = -1 };
    sl_status st;
    SL_GO(new_lists(p));
    cutter c = { 0 };
    cut_prefixes(p, &c);
    p->block = sl_malloc_aligned(c.used, sizeof *p->block);
    if (!p->block) SL_GO(sl_fail_memory(c.used, sizeof *p->block, "prefixes"));
    cut_prefixes(p, &(cutter){ .block = p->block });
    *out = p;
    return SL_OK;
done:
    sl_model_prefixes_free(p);
    return st;
}

void sl_model_prefixes_free(sl_prefixes *p) {
    if (!p) return;
    for (int i = 0; i < p->slabs; i++) sl_free(p->slab[i]);
    if (p->workspace) sl_free(p->workspace[0].kv);
    sl_free(p->slab);
    sl_free(p->node);
    sl_free(p->block);
    sl_free(p->workspace);
    sl_free(p->keys);
    sl_free(p);
}

static void free_all(sl_prefixes *p) {
    p->free = p->slabs > 0 ? 0 : -1;
    for (int i = 0; i < p->slabs * SLAB; i++) p->node[i] = (node){ .parent = i + 1 };
    if (p->slabs > 0) p->node[p->slabs * SLAB - 1].parent = -1;
    p->used = 0;
}

/* Numbers of a node's keys and values. */
static size_t node_size(const sl_prefixes *p) {
    const sl_model_options *o = &p->decoder->model->options;
    return (size_t)o->decoder_layers * 2 * (size_t)o->width;
}

static float *kv_at(const sl_prefixes *p, int n, int layer) {
    const size_t d = (size_t)p->decoder->model->options.width;
    return p->slab[n / SLAB] + (size_t)(n % SLAB) * node_size(p) + (size_t)layer * 2 * d;
}

static sl_status add_slab(sl_prefixes *p) {
    if (p->slabs == p->slabs_room) {
        const int room = SL_MAX(4, 2 * p->slabs_room);
        float **slab = sl_realloc(p->slab, (size_t)room, sizeof *slab);
        if (slab) p->slab = slab;
        node *nodes = slab ? sl_realloc(p->node, (size_t)room * SLAB, sizeof *nodes) : NULL;
        if (!nodes) return sl_fail_memory((size_t)room * SLAB, sizeof *nodes, "prefixes");
        p->node = nodes;
        p->slabs_room = room;
    }
    float *slab = sl_malloc_aligned(SLAB * node_size(p), sizeof *slab);
    if (!slab) return sl_fail_memory(SLAB * node_size(p), sizeof *slab, "keys and values");
    const int first = p->slabs * SLAB;
    p->slab[p->slabs++] = slab;
    for (int i = 0; i < SLAB; i++)
        p->node[first + i] = (node){ .parent = i + 1 < SLAB ? first + i + 1 : p->free };
    p->free = first;
    return SL_OK;
}

sl_status sl_model_prefixes_add(int *out, sl_prefixes *p, int parent, int id) {
    if (p->free < 0) SL_TRY(add_slab(p));
    const int n = p->free, at = parent < 0 ? 0 : p->node[parent].at + 1;
    SL_ASSERT(at < SL_MODEL_MAX_TOKENS && id >= 0 && id < p->decoder->model->options.vocabulary);
    p->free = p->node[n].parent;
    p->node[n] = (node){ .parent = parent, .behind = 1, .id = (uint8_t)id, .at = (uint8_t)at };
    if (parent >= 0) p->node[parent].behind++;
    p->used++;
    *out = n;
    return SL_OK;
}

void sl_model_prefixes_drop(sl_prefixes *p, int n) {
    while (n >= 0 && --p->node[n].behind == 0) {
        const int parent = p->node[n].parent;
        p->node[n].parent = p->free;
        p->free = n;
        p->used--;
        n = parent;
    }
}

int sl_model_prefixes_alive(const sl_prefixes *p) { return p->used; }

/* ---------------------------------------------------------------- memory -------------------- */

void sl_model_prefixes_begin(sl_prefixes *p, const float *memory, int points) {
    const sl_decoder *s = p->decoder;
    const sl_model_options *o = &s->model->options;
    const int d = (int)o->width, H = (int)o->heads, D = d / H;
    SL_ASSERT(points > 0 && points <= p->capacity);
    p->points = points;
    free_all(p);
    for (int i = 0; i < o->decoder_layers; i++) {
        const sl_model__decoder *at = &s->model->layout->decoder[i];
        sl_nn_residual_norm_fwd(NULL, p->memory_h, p->memory_stat, memory, NULL, NULL, NULL, 1,
                                s->weights + at->memory_g, s->weights + at->memory_b,
                                (float)o->norm_eps, points, d);
        sl_nn_panels_fwd(p->memory_kv, 2 * d, p->memory_h, d, s->layer[i].cross_kv,
                         s->weights + at->cross_kv_b, points, d, 2 * d);
        for (int h = 0; h < H; h++) {
            const float *k = p->memory_kv + h * D, *v = k + d;
            sl_nn_panels_pack(p->keys[i] + (size_t)h * head_keys(p), k, 2 * d, D, points, false);
            sl_nn_panels_pack(p->values[i] + (size_t)h * head_values(p), v, 2 * d, points, D, true);
        }
    }
}

/* ---------------------------------------------------------------- a step -------------------- */

/* Where the keys and values of a node's path are, the root first; returns how many. */
static int find_way(const sl_prefixes *p, const float **kv, int n) {
    const int T = p->node[n].at + 1;
    for (int t = T - 1; t >= 0; t--, n = p->node[n].parent) kv[t] = kv_at(p, n, 0);
    return T;
}

/* The path is the same in every layer, but it is followed again: a list for each row would not stay
 * in the first-level cache. */
static void attend_self(sl_prefixes *p, workspace *k, int layer, const int *rows, int n) {
    const sl_model_options *o = &p->decoder->model->options;
    const int d = (int)o->width, H = (int)o->heads;
    for (int r = 0; r < n; r++) {
        const float *qkv = k->wide + (size_t)r * 3 * (size_t)d;
        memcpy(kv_at(p, rows[r], layer), qkv + d, 2 * (size_t)d * sizeof *qkv);
    }
    for (int r = 0; r < n; r++) {
        const int T = find_way(p, k->kv, rows[r]);
        for (int t = 0; t < T; t++) k->kv[t] += (size_t)layer * 2 * (size_t)d;
        sl_nn_attn_row_fwd(k->h + (size_t)r * (size_t)d, k->wide + (size_t)r * 3 * (size_t)d, k->kv,
                           T, H, d / H, k->scores);
    }
}

/* y holds the queries; h gets the result. */
static void attend_memory(sl_prefixes *p, workspace *k, int layer, int n) {
    const sl_model_options *o = &p->decoder->model->options;
    const int d = (int)o->width, H = (int)o->heads, D = d / H, P = p->points;
    for (int h = 0; h < H; h++) {
        sl_nn_panels_fwd(k->scores, P, k->y + h * D, d, p->keys[layer] + (size_t)h * head_keys(p),
                         NULL, n, D, P);
        sl_nn_softmax_rows(k->scores, P, 1 / sqrtf((float)D), n, P);
        sl_nn_panels_fwd(k->h + h * D, d, k->scores, P,
                         p->values[layer] + (size_t)h * head_values(p), NULL, n, P, D);
    }
}

/* x += y + b; h = its norm. */
static void close_block(const sl_decoder *s, workspace *k, int64_t b, int64_t gain, int64_t offset,
                        int n) {
    sl_nn_residual_norm_fwd(k->x, k->h, k->stat, k->x, k->y, s->weights + b, NULL, 1,
                            s->weights + gain, s->weights + offset,
                            (float)s->model->options.norm_eps, n, (int)s->model->options.width);
}

static void run_layer(sl_prefixes *p, workspace *k, int i, const int *rows, int n) {
    const sl_decoder *s = p->decoder;
    const sl_model__layout *l = s->model->layout;
    const sl_model__decoder *at = &l->decoder[i];
    const maps *m = &s->layer[i];
    const float *w = s->weights;
    const int d = (int)s->model->options.width;
    const bool last = i + 1 == s->model->options.decoder_layers;

    sl_nn_panels_fwd(k->wide, 3 * d, k->h, d, m->self_qkv, w + at->self_qkv_b, n, d, 3 * d);
    attend_self(p, k, i, rows, n);
    sl_nn_panels_fwd(k->y, d, k->h, d, m->self_out, NULL, n, d, d);
    close_block(s, k, at->self_out_b, at->norm2_g, at->norm2_b, n);

    sl_nn_panels_fwd(k->y, d, k->h, d, m->cross_q, w + at->cross_q_b, n, d, d);
    attend_memory(p, k, i, n);
    sl_nn_panels_fwd(k->y, d, k->h, d, m->cross_out, NULL, n, d, d);
    close_block(s, k, at->cross_out_b, at->norm3_g, at->norm3_b, n);

    sl_nn_panels_fwd(k->wide, 4 * d, k->h, d, m->mlp_in, NULL, n, d, 4 * d);
    sl_nn_silu_fwd(k->wide, k->wide, w + at->mlp_in_b, n, 4 * d);
    sl_nn_panels_fwd(k->y, d, k->wide, 4 * d, m->mlp_out, NULL, n, 4 * d, d);
    close_block(s, k, at->mlp_out_b, last ? l->norm_g : l->decoder[i + 1].norm1_g,
                last ? l->norm_b : l->decoder[i + 1].norm1_b, n);
}

void sl_model_prefixes_run(float *logits, sl_prefixes *p, const int *rows, int n, int worker) {
    SL_ASSERT(n > 0 && n <= SL_PREFIX_ROWS && worker >= 0 && worker < p->workspaces);
    const sl_decoder *s = p->decoder;
    const sl_model *m = s->model;
    const sl_model__decoder *first = &m->layout->decoder[0];
    const int d = (int)m->options.width, V = (int)m->options.vocabulary;
    workspace *k = &p->workspace[worker];
    uint8_t id[SL_PREFIX_ROWS], at[SL_PREFIX_ROWS];
    for (int r = 0; r < n; r++) {
        id[r] = p->node[rows[r]].id;
        at[r] = p->node[rows[r]].at;
    }
    sl_nn_tokens_fwd(k->x, id, at, s->weights + m->layout->table, s->position_code, n, d);
    sl_nn_residual_norm_fwd(NULL, k->h, k->stat, k->x, NULL, NULL, NULL, 1,
                            s->weights + first->norm1_g, s->weights + first->norm1_b,
                            (float)m->options.norm_eps, n, d);
    for (int i = 0; i < m->options.decoder_layers; i++) run_layer(p, k, i, rows, n);
    sl_nn_panels_fwd(logits, V, k->h, d, s->head, NULL, n, d, V);
}
