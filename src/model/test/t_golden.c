/* The model is PyTorch's: its table, loss, logits and gradients, by tests/golden/model/renew.py. */
#include "base/base.h"
#include "golden/model/small.h"

static void parameters_are_the_same(void **state) {
    sl_fixture *t = *state;
    small x;
    small_open(&x, t);
    SL_CHECK(t, golden_case(&x.g, "parameters"), "no parameters");
    int lines = 0;
    for (const char *c = x.g.begin + 1; c < x.g.end && *c != '\n'; lines++) {
        // also in this order, which is that of weights.bin
        const sl_param *p = &x.m->param[lines];
        SL_CHECK(t, lines < x.m->n_param, "fewer parameters than PyTorch has: %.40s", c);
        SL_CHECK(t, strncmp(c, p->name, strlen(p->name)) == 0 && c[strlen(p->name)] == ' ',
                 "parameter %d is %s, not %.40s", lines, p->name, c);
        const double *v = golden_get(&x.g, p->name, NULL);
        SL_CHECK(t, p->shape[0] == v[0] && (p->dims == 2 ? p->shape[1] : 0) == v[1],
                 "the shape of %s", p->name);
        SL_CHECK(t, p->regularised == (v[2] != 0), "%s: regularised or not", p->name);
        c = strchr(c, '\n') + 1;
    }
    assert_int_equal(lines, x.m->n_param);
    small_close(&x);
}

static void check_pass(small *x, double loss, const double *logits, const double *grad,
                       double tol) {
    sl_fixture *t = x->g.t;
    int n;
    x->g.end = x->g.text; // from the beginning
    SL_CHECK(t, golden_case(&x->g, "model"), "no model");
    const double want = golden_one(&x->g, "loss"), *v = golden_get(&x->g, "logits", &n);
    SL_CHECK(t, fabs(loss - want) <= tol * want, "loss %.17g, not %.17g", loss, want);
    assert_int_equal(n, x->tokens * (int)x->m->options.vocabulary);
    for (int i = 0; i < n; i++)
        SL_CHECK(t, fabs(logits[i] - v[i]) <= tol, "logit %d: %.17g, not %.17g", i, logits[i],
                 v[i]);
    SL_CHECK(t, golden_case(&x->g, "gradients"), "no gradients");
    small_compare(x, "gradient", grad, tol);
}

static void pass_in_double(void **state) {
    sl_fixture *t = *state;
    small x;
    small_open(&x, t);
    double *grad = sl_calloc((size_t)x.m->block, sizeof *grad);
    double *logits = sl_calloc((size_t)(x.tokens * x.m->options.vocabulary), sizeof *logits);
    assert_true(grad && logits);
    for (int flags = 0; flags <= SL_MODEL_PLAIN; flags += SL_MODEL_PLAIN) {
        sl_work_d *w;
        SL_MUST(t, sl_model_work_new_d(&w, x.m, x.b.pairs, x.b.points, x.tokens, flags));
        memset(grad, 0, (size_t)x.m->block * sizeof *grad);
        const double loss =
            sl_model_pass_d(w, grad, logits, x.weights, &x.b, (sl_dropout){ .on = false });
        check_pass(&x, loss, logits, grad, 1e-11);
        sl_model_work_free_d(w);
    }
    sl_free(logits);
    sl_free(grad);
    small_close(&x);
}

static void pass_in_float(void **state) {
    sl_fixture *t = *state;
    small x;
    sl_work *w;
    small_open(&x, t);
    const size_t block = (size_t)x.m->block, n = (size_t)(x.tokens * x.m->options.vocabulary);
    float *weights = sl_malloc_aligned(block, sizeof *weights);
    float *grad = sl_malloc_aligned(block, sizeof *grad),
          *logits = sl_malloc_aligned(n, sizeof *logits);
    double *grad_d = sl_malloc(block, sizeof *grad_d), *logits_d = sl_malloc(n, sizeof *logits_d);
    assert_true(weights && grad && logits && grad_d && logits_d);
    for (size_t i = 0; i < block; i++) {
        weights[i] = (float)x.weights[i];
        grad[i] = 0;
    }
    SL_MUST(t, sl_model_work_new(&w, x.m, x.b.pairs, x.b.points, x.tokens, 0));
    const double loss = sl_model_pass(w, grad, logits, weights, &x.b, (sl_dropout){ .on = false });
    for (size_t i = 0; i < block; i++) grad_d[i] = grad[i];
    for (size_t i = 0; i < n; i++) logits_d[i] = logits[i];
    check_pass(&x, loss, logits_d, grad_d, 3e-6);
    sl_model_work_free(w);
    sl_free(logits_d);
    sl_free(grad_d);
    sl_free(logits);
    sl_free(grad);
    sl_free(weights);
    small_close(&x);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(parameters_are_the_same),
        SL_TEST(pass_in_double),
        SL_TEST(pass_in_float),
    };
    return sl_test_main("model.golden", tests, SL_LEN(tests));
}
