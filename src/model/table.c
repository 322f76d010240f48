/* table - from options to the parameter table. */
#include <string.h>

#include "model/model_impl.h"
#include "nn/nn.h"

/* ---------------------------------------------------------------- options ------------------- */

typedef struct size_row {
    const char *name;
    int width, layers;
} size_row;

#define X(name, width, layers) { name, width, layers },
static const size_row sizes[] = { SL_MODEL_SIZES(X) };
#undef X

const char *sl_model_size_of(int64_t width, int64_t layers) {
    for (int i = 0; i < SL_LEN(sizes); i++)
        if (sizes[i].width == width && sizes[i].layers == layers) return sizes[i].name;
    return NULL;
}

sl_status sl_model_size_find(sl_model_options *o, const char *name) {
    for (int i = 0; i < SL_LEN(sizes); i++) {
        if (strcmp(sizes[i].name, name) != 0) continue;
        o->width = sizes[i].width;
        o->layers = sizes[i].layers;
        return SL_OK;
    }
    char list[128] = "";
    for (int i = 0; i < SL_LEN(sizes); i++) {
        size_t n = strlen(list);
        sl_snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", sizes[i].name);
    }
    return sl_fail(SL_EINVAL, "no size is called %.40s; there are %s", name, list);
}

/* Bounds of the table, then what only several options together can break. */
static sl_status check(const sl_model_options *o) {
    SL_TRY(sl_option_check(o, &sl_model_table));
    if (o->width % 8 != 0)
        return sl_fail(SL_EINVAL, "width is %lld, which is no multiple of 8", (long long)o->width);
    if (o->columns < 1 || o->columns > SL_NN_MAX_COLUMNS)
        return sl_fail(SL_EINVAL, "%lld columns: a model takes 1 to %d", (long long)o->columns,
                       SL_NN_MAX_COLUMNS);
    if (o->vocabulary < 1 || o->vocabulary > 256) // ids are bytes
        return sl_fail(SL_EINVAL, "a vocabulary of %lld tokens: a model takes 1 to 256",
                       (long long)o->vocabulary);
    return SL_OK;
}

static sl_status complete(sl_model_options *o) {
    SL_TRY(check(o));
    if (o->decoder_layers == 0) o->decoder_layers = o->layers;
    if (o->heads == 0) o->heads = o->width < 64 ? o->width / 8 : o->width / 64;
    if (o->width % o->heads != 0 || o->width / o->heads % 8 != 0)
        return sl_fail(SL_EINVAL,
                       "%lld heads cannot share a width of %lld: each needs a multiple of 8",
                       (long long)o->heads, (long long)o->width);
    if (o->width / o->heads > SL_NN_MAX_HEAD)
        return sl_fail(SL_EINVAL, "%lld heads for a width of %lld: a head has at most %d",
                       (long long)o->heads, (long long)o->width, SL_NN_MAX_HEAD);
    return SL_OK;
}

/* ---------------------------------------------------------------- rows ---------------------- */

enum {
#define X(...) +1
    ROWS_CELLS = 0 SL_MODEL__CELLS(X),
    ROWS_ENCODER = 0 SL_MODEL__ENCODER(X),
    ROWS_TOKENS = 0 SL_MODEL__TOKENS(X),
    ROWS_DECODER = 0 SL_MODEL__DECODER(X),
    ROWS_END = 0 SL_MODEL__END(X),
#undef X
    TENSOR_STEP = 16 // numbers: a cache line
};

/* Adds a row and returns where its numbers begin. */
static int64_t add(sl_model *m, bool encoder, const char *stem, int layer, const char *name,
                   int64_t rows, int64_t columns, sl_init init, bool regularised) {
    sl_param *p = &m->param[m->n_param++];
    if (stem)
        sl_snprintf(p->name, sizeof p->name, "%s.%d.%s", stem, layer, name);
    else
        sl_snprintf(p->name, sizeof p->name, "%s", name);
    p->dims = columns > 0 ? 2 : 1;
    p->shape[0] = (int)rows;
    p->shape[1] = (int)columns;
    p->count = columns > 0 ? rows * columns : rows;
    p->offset = m->block;
    p->init = init;
    p->regularised = regularised;
    p->encoder = encoder;
    m->count += p->count;
    if (encoder) m->count_encoder += p->count;
    m->block += (p->count + TENSOR_STEP - 1) / TENSOR_STEP * TENSOR_STEP;
    return p->offset;
}

static void fill_table(sl_model *m) {
    const int64_t d = m->options.width, V = m->options.vocabulary;
    sl_model__layout *l = m->layout;
#define ROW(to, encoder, stem, layer, field, name, rows, columns, init, regularised) \
    (to)->field = add(m, encoder, stem, layer, name, rows, columns, SL_INIT_##init, regularised);
#define X(...) ROW(l, true, NULL, 0, __VA_ARGS__)
    SL_MODEL__CELLS(X)
#undef X
    for (int i = 0; i < m->options.layers; i++) {
#define X(...) ROW(&l->encoder[i], true, "encoder", i, __VA_ARGS__)
        SL_MODEL__ENCODER(X)
#undef X
    }
#define X(...) ROW(l, false, NULL, 0, __VA_ARGS__)
    SL_MODEL__TOKENS(X)
#undef X
    for (int i = 0; i < m->options.decoder_layers; i++) {
#define X(...) ROW(&l->decoder[i], false, "decoder", i, __VA_ARGS__)
        SL_MODEL__DECODER(X)
#undef X
    }
#define X(...) ROW(l, false, NULL, 0, __VA_ARGS__)
    SL_MODEL__END(X)
#undef X
#undef ROW
}

/* code[p][2i] = sin(p 10000^(-2i/d)), code[p][2i+1] the cosine. */
static void fill_code(sl_model__layout *l, int d) {
    for (int p = 0; p < SL_MODEL_MAX_TOKENS; p++) {
        for (int i = 0; i < d; i += 2) {
            double angle = p * sl_exp(-sl_log(10000.0) * i / d);
            l->code[p * d + i] = sl_sin(angle);
            l->code[p * d + i + 1] = sl_cos(angle);
        }
    }
    for (int i = 0; i < SL_MODEL_MAX_TOKENS * d; i++) l->code_f[i] = (float)l->code[i];
}

sl_status sl_model_new(sl_model **out, const sl_model_options *o) {
    sl_model_options full = *o;
    SL_TRY(complete(&full));
    const size_t rows = (size_t)(ROWS_CELLS + full.layers * ROWS_ENCODER + ROWS_TOKENS +
                                 full.decoder_layers * ROWS_DECODER + ROWS_END);
    const size_t codes = (size_t)(SL_MODEL_MAX_TOKENS * full.width);
    sl_model *m = sl_calloc(1, sizeof *m);
    if (!m) return sl_fail_memory(1, sizeof *m, "a model");
    m->options = full;
    m->param = sl_calloc(rows, sizeof *m->param);
    sl_model__layout *l = m->layout = sl_calloc(1, sizeof *l);
    if (l) {
        l->encoder = sl_calloc((size_t)full.layers, sizeof *l->encoder);
        l->decoder = sl_calloc((size_t)full.decoder_layers, sizeof *l->decoder);
        l->code = sl_malloc_aligned(codes, sizeof *l->code);
        l->code_f = sl_malloc_aligned(codes, sizeof *l->code_f);
    }
    if (!m->param || !l || !l->encoder || !l->decoder || !l->code || !l->code_f) {
        sl_model_free(m);
        return sl_fail_memory(rows, sizeof *m->param, "the table of parameters");
    }
    fill_table(m);
    SL_ASSERT(m->n_param == (int)rows);
    fill_code(l, (int)full.width);
    *out = m;
    return SL_OK;
}

void sl_model_free(sl_model *m) {
    if (!m) return;
    if (m->layout) {
        sl_free(m->layout->code_f);
        sl_free(m->layout->code);
        sl_free(m->layout->decoder);
        sl_free(m->layout->encoder);
    }
    sl_free(m->layout);
    sl_free(m->param);
    sl_free(m);
}

int sl_model_find(const sl_model *m, const char *name) {
    for (int i = 0; i < m->n_param; i++)
        if (strcmp(m->param[i].name, name) == 0) return i;
    return -1;
}

/* ---------------------------------------------------------------- initial values ------------ */

void sl_model_init(float *weights, const sl_model *m, uint64_t seed) {
    enum { STREAM = 0x1417 }; // of initial weights; the index is the tensor's number
    memset(weights, 0, (size_t)m->block * sizeof *weights);
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        float *w = weights + p->offset;
        sl_rng rng;
        sl_rng_init(&rng, seed, STREAM, (uint64_t)i);
        for (int64_t j = 0; j < p->count && p->init != SL_INIT_ZERO; j++)
            w[j] = p->init == SL_INIT_ONE ? 1.0f
                                          : (float)(m->options.init_scale * sl_rng_normal(&rng));
    }
}
