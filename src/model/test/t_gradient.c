/* The pass in double: its gradients are those of its loss, and what it leaves out changes nothing.
 */
#include <math.h>
#include <string.h>

#include "batch.h"

typedef struct setting {
    const char *what;
    int width, layers, decoder_layers, heads, columns, points;
    double dropout, attention_dropout;
    int lengths[MAX_PAIRS + 1];
    bool absent; // pairs lack columns
} setting;

static const setting settings[] = {
    { "two layers", 16, 2, 2, 2, 3, 5, 0.1, 0.1, { 3, 7, 1 }, false },
    { "one layer", 8, 1, 1, 1, 3, 4, 0, 0, { 5 }, false },
    { "more decoder than encoder", 16, 1, 3, 2, 2, 3, 0.3, 0, { 2, 6 }, false },
    { "absent columns", 8, 2, 1, 1, 4, 6, 0, 0.4, { 4, 4, 2 }, true },
};

typedef struct bench {
    sl_model *m;
    sl_work_d *w;
    test_batch t;
    double *weights, *grad;
    sl_dropout dropout;
} bench;

static void set_up(sl_fixture *t, bench *x, const setting *s, int flags) {
    sl_model_options o = sl_model_defaults();
    o.width = s->width;
    o.layers = s->layers;
    o.decoder_layers = s->decoder_layers;
    o.heads = s->heads;
    o.columns = s->columns;
    o.dropout = s->dropout;
    o.attention_dropout = s->attention_dropout;
    o.vocabulary = 24;
    SL_MUST(t, sl_model_new(&x->m, &o));
    random_batch(&x->t, &t->rng, x->m, s->points, s->lengths);
    if (s->absent)
        for (int b = 0; b < x->t.b.pairs; b++) x->t.present[(1 + b % 3) * x->t.b.pairs + b] = 0;
    SL_MUST(t, sl_model_work_new_d(&x->w, x->m, x->t.b.pairs, s->points, x->t.begin[x->t.b.pairs],
                                   flags));
    x->weights = sl_calloc((size_t)x->m->block, sizeof(double));
    x->grad = sl_calloc((size_t)x->m->block, sizeof(double));
    SL_CHECK(t, x->weights && x->grad, "no memory");
    random_weights(x->weights, &t->rng, x->m);
    x->dropout = (sl_dropout){ .key = sl_rng_u64(&t->rng), .on = true };
}

static void tear_down(bench *x) {
    sl_free(x->grad);
    sl_free(x->weights);
    sl_model_work_free_d(x->w);
    sl_model_free(x->m);
}

static double loss_at(bench *x) {
    return sl_model_pass_d(x->w, NULL, NULL, x->weights, &x->t.b, x->dropout);
}

/* Along a random direction within one tensor the loss changes as the gradient says. The five-point
 * formula is good to h^4, so with h = 1e-3 both its error and rounding stay below 1e-10. */
static void gradients_are_those_of_the_loss(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        set_up(t, &x, &settings[k], 0);
        sl_model_pass_d(x.w, x.grad, NULL, x.weights, &x.t.b, x.dropout);
        double *direction = sl_calloc((size_t)x.m->block, sizeof(double));
        double *saved = sl_calloc((size_t)x.m->block, sizeof(double));
        SL_CHECK(t, direction && saved, "no memory");
        memcpy(saved, x.weights, (size_t)x.m->block * sizeof(double));
        for (int i = 0; i < x.m->n_param; i++) {
            const sl_param *p = &x.m->param[i];
            double *w = x.weights + p->offset;
            const double *g = x.grad + p->offset, *w0 = saved + p->offset;
            // two directions: at random, and along the gradient, where the change is largest
            for (int kind = 0; kind < 2; kind++) {
                double along = 0, length = 0;
                for (int64_t j = 0; j < p->count; j++) {
                    direction[j] = kind ? g[j] : sl_rng_normal(&t->rng);
                    length += direction[j] * direction[j];
                }
                length = sqrt(length);
                if (length == 0) continue; // a gradient of zero, see below
                for (int64_t j = 0; j < p->count; j++) {
                    direction[j] /= length;
                    along += direction[j] * g[j];
                }
                static const int place[] = { -2, -1, 1, 2 };
                static const double factor[] = { 1, -8, 8, -1 };
                const double h = 1e-3;
                double difference = 0;
                for (int q = 0; q < SL_LEN(place); q++) {
                    for (int64_t j = 0; j < p->count; j++)
                        w[j] = w0[j] + place[q] * h * direction[j];
                    difference += factor[q] * loss_at(&x);
                }
                difference /= 12 * h;
                memcpy(w, w0, (size_t)p->count * sizeof *w);
                const double scale = norm_of(g, p->count) + 1e-2;
                SL_CHECK(t, fabs(difference - along) <= 1e-7 * scale,
                         "%s, %s: the loss changes by %.12g, the gradient says %.12g",
                         settings[k].what, p->name, difference, along);
            }
        }
        sl_free(saved);
        sl_free(direction);
        tear_down(&x);
    }
}

/* Every tensor has a gradient that is not zero: a forgotten one would pass the test above only if
 * the loss did not depend on it. */
static void every_tensor_matters(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[0], 0);
    sl_model_pass_d(x.w, x.grad, NULL, x.weights, &x.t.b, x.dropout);
    for (int i = 0; i < x.m->n_param; i++)
        SL_CHECK(t, norm_of(x.grad + x.m->param[i].offset, x.m->param[i].count) > 1e-6,
                 "%s has no gradient", x.m->param[i].name);
    tear_down(&x);
}

static void check_same(sl_fixture *t, const sl_model *m, const char *what, const double *a,
                       const double *b) {
    for (int i = 0; i < m->n_param; i++) {
        const sl_param *p = &m->param[i];
        double scale = norm_of(b + p->offset, p->count);
        for (int64_t j = 0; j < p->count; j++)
            SL_CHECK(t, fabs(a[p->offset + j] - b[p->offset + j]) <= 1e-12 * (scale + 1),
                     "%s: gradient of %s[%lld] is %.15g, not %.15g", what, p->name, (long long)j,
                     a[p->offset + j], b[p->offset + j]);
    }
}

/* The last layer run on all cells, although most of them are not read: same loss, same gradients,
 * with dropout on, whose masks are counted by cell. */
static void unread_cells_change_nothing(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        set_up(t, &x, &settings[k], 0);
        sl_work_d *plain;
        SL_MUST(t, sl_model_work_new_d(&plain, x.m, x.t.b.pairs, x.t.b.points,
                                       x.t.begin[x.t.b.pairs], SL_MODEL_PLAIN));
        double *grad = sl_calloc((size_t)x.m->block, sizeof(double));
        SL_CHECK(t, grad, "no memory");
        double a = sl_model_pass_d(x.w, x.grad, NULL, x.weights, &x.t.b, x.dropout);
        double b = sl_model_pass_d(plain, grad, NULL, x.weights, &x.t.b, x.dropout);
        SL_CHECK(t, fabs(a - b) <= 1e-12 * fabs(b), "%s: loss %.15g, not %.15g", settings[k].what,
                 a, b);
        check_same(t, x.m, settings[k].what, x.grad, grad);
        sl_free(grad);
        sl_model_work_free_d(plain);
        tear_down(&x);
    }
}

/* Targets are packed without padding, and pairs do not see each other: a batch is the sum of its
 * pairs alone. */
static void a_batch_is_the_sum_of_its_pairs(void **state) {
    sl_fixture *t = *state;
    for (int k = 0; k < SL_LEN(settings); k++) {
        bench x = { 0 };
        set_up(t, &x, &settings[k], 0);
        double *grad = sl_calloc((size_t)x.m->block, sizeof(double));
        test_batch *one = sl_calloc(1, sizeof *one);
        SL_CHECK(t, grad && one, "no memory");
        double a = sl_model_pass_d(x.w, x.grad, NULL, x.weights, &x.t.b, x.dropout), b = 0;
        for (int i = 0; i < x.t.b.pairs; i++) {
            single_pair(one, &x.t, x.m, i);
            b += sl_model_pass_d(x.w, grad, NULL, x.weights, &one->b, x.dropout);
        }
        SL_CHECK(t, fabs(a - b) <= 1e-12 * fabs(b), "%s: loss %.15g, not %.15g", settings[k].what,
                 a, b);
        check_same(t, x.m, settings[k].what, x.grad, grad);
        sl_free(one);
        sl_free(grad);
        tear_down(&x);
    }
}

/* A data set has no order of its points, but it has one of its columns. */
static void points_have_no_order(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    setting s = settings[0];
    set_up(t, &x, &s, 0);
    x.dropout.on = false;
    double before = loss_at(&x);
    const int P = x.t.b.points, pairs = x.t.b.pairs;
    for (int c = 0; c < s.columns; c++) // swap points 1 and 3 of the first pair in all columns
        for (int which = 0; which < 2; which++) {
            float *cell = (which ? x.t.mantissa : x.t.exponent) + c * pairs * P;
            float kept = cell[1];
            cell[1] = cell[3];
            cell[3] = kept;
        }
    double after = loss_at(&x);
    SL_CHECK(t, fabs(after - before) <= 1e-12 * fabs(before), "loss %.15g became %.15g", before,
             after);
    for (int p = 0; p < P; p++) { // swap the first pair's columns 1 and 2
        float *a = x.t.mantissa + 1 * pairs * P + p, *b = x.t.mantissa + 2 * pairs * P + p;
        float kept = *a;
        *a = *b;
        *b = kept;
    }
    SL_CHECK(t, fabs(loss_at(&x) - after) > 1e-6, "columns have no identity");
    tear_down(&x);
}

/* What a token's logits say does not depend on the tokens behind it. */
static void targets_see_only_their_past(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[0], 0);
    x.dropout.on = false;
    const int V = 24, T = x.t.begin[x.t.b.pairs];
    double *a = sl_calloc((size_t)(T * V), sizeof *a), *b = sl_calloc((size_t)(T * V), sizeof *b);
    SL_CHECK(t, a && b, "no memory");
    sl_model_pass_d(x.w, NULL, a, x.weights, &x.t.b, x.dropout);
    const int changed = x.t.begin[1] + 4; // of the second target, which has 7 tokens
    x.t.ids[changed] = (uint8_t)((x.t.ids[changed] + 1) % V);
    sl_model_pass_d(x.w, NULL, b, x.weights, &x.t.b, x.dropout);
    for (int i = 0; i < T; i++) {
        bool same = memcmp(a + i * V, b + i * V, (size_t)V * sizeof *a) == 0;
        bool may_change = i >= changed && i < x.t.begin[2];
        SL_CHECK(t, same != may_change, "token %d: logits %s", i, same ? "stay" : "change");
    }
    sl_free(b);
    sl_free(a);
    tear_down(&x);
}

/* An absent column is no part of the data set: its numbers do not matter. */
static void absent_columns_are_not_read(void **state) {
    sl_fixture *t = *state;
    bench x = { 0 };
    set_up(t, &x, &settings[3], 0);
    double before = sl_model_pass_d(x.w, x.grad, NULL, x.weights, &x.t.b, x.dropout);
    const int P = x.t.b.points, pairs = x.t.b.pairs;
    for (int b = 0; b < pairs; b++)
        for (int p = 0; p < P; p++) x.t.mantissa[((1 + b % 3) * pairs + b) * P + p] = 3.25f;
    SL_CHECK(t, loss_at(&x) == before, "loss %.15g became %.15g", before, loss_at(&x));
    tear_down(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(gradients_are_those_of_the_loss),
        SL_TEST(every_tensor_matters),
        SL_TEST(unread_cells_change_nothing),
        SL_TEST(a_batch_is_the_sum_of_its_pairs),
        SL_TEST(points_have_no_order),
        SL_TEST(targets_see_only_their_past),
        SL_TEST(absent_columns_are_not_read),
    };
    return sl_test_main("model.gradient", tests, SL_LEN(tests));
}
