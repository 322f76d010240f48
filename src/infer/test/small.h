/* What the tests of infer share: a small model with loud weights, so that samples differ, and
 * data. */
#ifndef SL_INFER_TEST_SMALL_H
#define SL_INFER_TEST_SMALL_H

#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "infer/infer_impl.h"

enum { POINTS = 9, SAMPLES = 40 };

typedef struct small {
    sl_infer *m;
    double x1[POINTS], x2[POINTS], y[POINTS];
    const double *x[2];
    sl_dataset data;
} small;

/* scale: of the weights; the larger, the more decided the model is. */
static inline void small_begin(sl_fixture *t, small *s, double scale) {
    sl_model_options o = sl_model_defaults();
    o.width = 16;
    o.layers = 1;
    o.decoder_layers = 2;
    o.heads = 2;
    o.init_scale = scale;
    SL_MUST(t, sl_infer_new(&s->m, &o, NULL, sl_rng_u64(&t->rng), POINTS));
    for (int i = 0; i < POINTS; i++) {
        s->x1[i] = sl_rng_normal(&t->rng);
        s->x2[i] = sl_rng_normal(&t->rng);
        s->y[i] = s->x1[i] * s->x2[i];
    }
    s->x[0] = s->x1;
    s->x[1] = s->x2;
    s->data = sl_data_view(s->x, 2, s->y, POINTS);
}

static inline void small_end(small *s) { sl_infer_close(s->m); }

static inline void must_be_same(const sl_fixture *t, const sl_sampled *a, const sl_sampled *b,
                                const char *what) {
    SL_CHECK(t, a->number == b->number && a->n == b->n && a->ended == b->ended,
             "%s: sample %lld has %d tokens, not %d", what, (long long)b->number, b->n, a->n);
    SL_CHECK(t, memcmp(a->tokens, b->tokens, (size_t)a->n) == 0, "%s: sample %lld differs", what,
             (long long)b->number);
    SL_CHECK(t, memcmp(&a->log_prob, &b->log_prob, sizeof a->log_prob) == 0,
             "%s: sample %lld has log-probability %.17g, not %.17g", what, (long long)b->number,
             b->log_prob, a->log_prob);
}

#endif
