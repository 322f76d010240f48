/* The small model of answers.txt, with its weights and batch; and how tensors are held against
 * their summaries. renew.py says what a summary is. */
#ifndef SL_GOLDEN_SMALL_H
#define SL_GOLDEN_SMALL_H

#include "fixture/golden.h"
#include "model/model_test.h"

typedef struct small {
    golden g;
    sl_model *m;
    double *weights; // a block
    sl_batch b;
    int tokens;
    float mantissa[64], exponent[64];
    uint8_t present[16], ids[32], targets[32];
    int begin[8];
    int64_t number[8];
} small;

/* The values of a key that must be there, at most `most` of them. */
static inline const double *small_get(small *x, const char *key, int *n, int most) {
    const double *v = golden_get(&x->g, key, n);
    SL_CHECK(x->g.t, v && *n <= most, "%s is not there, or has too many values", key);
    return v;
}

static inline void small_batch(small *x) {
    int n, pairs, columns = (int)x->m->options.columns;
    const double *v = small_get(x, "begin", &n, SL_LEN(x->begin));
    for (int i = 0; i < n; i++) x->begin[i] = (int)v[i];
    pairs = n - 1;
    x->tokens = x->begin[pairs];
    const int points = (int)golden_one(&x->g, "points");
    v = small_get(x, "mantissa", &n, SL_LEN(x->mantissa));
    assert_int_equal(n, columns * pairs * points);
    for (int i = 0; i < n; i++) x->mantissa[i] = (float)v[i];
    v = small_get(x, "exponent", &n, SL_LEN(x->exponent));
    for (int i = 0; i < n; i++) x->exponent[i] = (float)v[i];
    v = small_get(x, "present", &n, SL_LEN(x->present));
    for (int i = 0; i < n; i++) x->present[i] = v[i] != 0;
    v = small_get(x, "ids", &n, SL_LEN(x->ids));
    for (int i = 0; i < n; i++) x->ids[i] = (uint8_t)v[i];
    v = small_get(x, "targets", &n, SL_LEN(x->targets));
    assert_int_equal(n, x->tokens);
    for (int i = 0; i < n; i++) x->targets[i] = (uint8_t)v[i];
    x->b = (sl_batch){ pairs,  points,     x->mantissa, x->exponent, x->present,
                       x->ids, x->targets, x->begin,    x->number };
}

static inline void small_weights(small *x) {
    sl_fixture *t = x->g.t;
    size_t bytes, at = 0;
    uint8_t *raw = (uint8_t *)golden_bytes(t, "model/weights.bin", &bytes);
    SL_CHECK(t, bytes == 2 * (size_t)x->m->count, "%zu bytes of weights for %lld numbers", bytes,
             (long long)x->m->count);
    x->weights = sl_calloc((size_t)x->m->block, sizeof *x->weights);
    assert_non_null(x->weights);
    for (int k = 0; k < x->m->n_param; k++)
        for (int64_t i = 0; i < x->m->param[k].count; i++, at += 2)
            x->weights[x->m->param[k].offset + i] =
                (int16_t)(raw[at] | (uint16_t)raw[at + 1] << 8) / 4096.0;
    sl_free(raw);
}

/* The model is that of the file, without dropout. */
static inline void small_open(small *x, sl_fixture *t) {
    int n;
    sl_model_options o = sl_model_defaults();
    *x = (small){ .g = golden_open(t, "model/answers.txt") };
    SL_CHECK(t, golden_case(&x->g, "model"), "no model");
    const double *v = small_get(x, "sizes", &n, 6);
    assert_int_equal(n, 6);
    o.width = (int64_t)v[0];
    o.layers = (int64_t)v[1];
    o.decoder_layers = (int64_t)v[2];
    o.heads = (int64_t)v[3];
    o.columns = (int64_t)v[4];
    o.vocabulary = (int64_t)v[5];
    o.norm_eps = golden_one(&x->g, "norm_eps");
    o.dropout = o.attention_dropout = 0;
    SL_MUST(t, sl_model_new(&x->m, &o));
    small_batch(x);
    small_weights(x);
}

static inline void small_close(small *x) {
    sl_free(x->weights);
    sl_model_free(x->m);
    golden_close(&x->g);
}

static inline bool small_ends(const char *name, const char *end) {
    const size_t a = strlen(name), b = strlen(end);
    return a >= b && strcmp(name + a - b, end) == 0;
}

/* Is number i of this tensor of width d the bias of a key? */
static inline bool small_is_key_bias(const char *name, int64_t i, int64_t d) {
    if (small_ends(name, "qkv.bias")) return i >= d && i < 2 * d;
    return small_ends(name, "kv.bias") && i < d;
}

/* Holds every tensor of a block against its summary in the case at hand. What is allowed is a part
 * of the tensor's norm, times the length of the vector that it is multiplied by. */
static inline void small_compare(small *x, const char *what, const double *block, double tol) {
    sl_fixture *t = x->g.t;
    for (int k = 0; k < x->m->n_param; k++) {
        const sl_param *p = &x->m->param[k];
        int n;
        const double *want = golden_get(&x->g, p->name, &n);
        SL_CHECK(t, want && n == 13, "%s of %s: no answer", what, p->name);
        double squares = 0, product[8] = { 0 }, length[8] = { 0 };
        for (int64_t i = 0; i < p->count; i++) {
            double v = block[p->offset + i];
            if (small_is_key_bias(p->name, i, x->m->options.width)) v = 0;
            squares += v * v;
            for (int r = 0; r < 8; r++) {
                const double c = cos(0.1 * (double)i * (r + 1) + (r + 1));
                product[r] += c * v;
                length[r] += c * c;
            }
            SL_CHECK(t, i >= 4 || fabs(v - want[9 + i]) <= tol * want[0],
                     "%s of %s, number %d: %.17g, not %.17g", what, p->name, (int)i, v,
                     want[9 + i]);
        }
        SL_CHECK(t, fabs(sqrt(squares) - want[0]) <= tol * want[0],
                 "%s of %s: norm %.17g, not %.17g", what, p->name, sqrt(squares), want[0]);
        for (int r = 0; r < 8; r++)
            SL_CHECK(t, fabs(product[r] - want[1 + r]) <= tol * want[0] * sqrt(length[r]),
                     "%s of %s, product %d: %.17g, not %.17g", what, p->name, r + 1, product[r],
                     want[1 + r]);
    }
}

#endif
