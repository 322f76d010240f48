/* What the tests of the pass share: a small model, and batches of random cells and targets. */
#ifndef SL_MODEL_TEST_BATCH_H
#define SL_MODEL_TEST_BATCH_H

#include "fixture/fixture.h"
#include "model/model_test.h"

enum { MAX_PAIRS = 6, MAX_POINTS = 20, MAX_LENGTH = 40, MAX_COLUMNS = 4 };

typedef struct test_batch {
    sl_batch b;
    float mantissa[MAX_COLUMNS * MAX_PAIRS * MAX_POINTS];
    float exponent[MAX_COLUMNS * MAX_PAIRS * MAX_POINTS];
    uint8_t present[MAX_COLUMNS * MAX_PAIRS];
    uint8_t ids[MAX_PAIRS * MAX_LENGTH], targets[MAX_PAIRS * MAX_LENGTH];
    int begin[MAX_PAIRS + 1];
    int64_t number[MAX_PAIRS];
} test_batch;

/* lengths: of the targets; 0 ends the list. */
static inline void random_batch(test_batch *t, sl_rng *rng, const sl_model *m, int points,
                                const int *lengths) {
    int pairs = 0, tokens = 0;
    while (lengths[pairs]) {
        t->begin[pairs] = tokens;
        t->number[pairs] = (int64_t)sl_rng_u32(rng) << 8 | pairs;
        tokens += lengths[pairs++];
    }
    t->begin[pairs] = tokens;
    const int columns = (int)m->options.columns, cells = columns * pairs * points;
    for (int i = 0; i < cells; i++) {
        t->mantissa[i] = (float)sl_rng_range(rng, -10, 10);
        t->exponent[i] = (float)sl_rng_range(rng, -0.3, 0.3);
    }
    for (int i = 0; i < columns * pairs; i++) t->present[i] = 1;
    for (int i = 0; i < tokens; i++) {
        t->ids[i] = (uint8_t)sl_rng_below(rng, (uint32_t)m->options.vocabulary);
        t->targets[i] = (uint8_t)sl_rng_below(rng, (uint32_t)m->options.vocabulary);
    }
    t->b = (sl_batch){ pairs,    points,     t->mantissa, t->exponent, t->present,
                       t->ids,   t->targets, t->begin,    t->number };
}

/* Pair i of a batch as a batch of its own. */
static inline void single_pair(test_batch *t, const test_batch *from, const sl_model *m, int i) {
    const int columns = (int)m->options.columns, P = from->b.points, pairs = from->b.pairs;
    for (int c = 0; c < columns; c++) {
        t->present[c] = from->present[c * pairs + i];
        for (int p = 0; p < P; p++) {
            t->mantissa[c * P + p] = from->mantissa[(c * pairs + i) * P + p];
            t->exponent[c * P + p] = from->exponent[(c * pairs + i) * P + p];
        }
    }
    const int first = from->begin[i], n = from->begin[i + 1] - first;
    for (int k = 0; k < n; k++) {
        t->ids[k] = from->ids[first + k];
        t->targets[k] = from->targets[first + k];
    }
    t->begin[0] = 0;
    t->begin[1] = n;
    t->number[0] = from->number[i];
    t->b = (sl_batch){ 1,      P,          t->mantissa, t->exponent, t->present,
                       t->ids, t->targets, t->begin,    t->number };
}

/* Weights far from their initial values, so that every path matters: norms, biases and all. */
static inline void random_weights(double *w, sl_rng *rng, const sl_model *m) {
    for (int64_t i = 0; i < m->block; i++) w[i] = 0;
    for (int k = 0; k < m->n_param; k++)
        for (int64_t i = 0; i < m->param[k].count; i++)
            w[m->param[k].offset + i] =
                (m->param[k].init == SL_INIT_ONE) + 0.3 * sl_rng_normal(rng);
}

static inline double norm_of(const double *x, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i] * x[i];
    return __builtin_sqrt(s);
}

#endif
