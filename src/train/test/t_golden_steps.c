/* Twenty steps of AdamCPR on one batch are those of PyTorch in float64: losses, norms of gradients,
 * bounds and multipliers, and the weights in the end. tests/golden/model/renew.py makes them. */
#include "golden/model/small.h"

#include "model/model.h"
#include "optim/optim_test.h"

typedef struct steps {
    small x;
    sl_optim *s;
    int n;
    const double *loss, *grad_norm;
} steps;

static void steps_open(steps *r, sl_fixture *t) {
    sl_optim_options o = sl_optim_defaults();
    small *x = &r->x;
    small_open(x, t);
    SL_CHECK(t, golden_case(&x->g, "steps"), "no steps");
    o.lr = golden_one(&x->g, "lr");
    o.warmup = 0;
    o.lr_final = 1; // the same rate throughout
    o.beta1 = golden_get(&x->g, "beta", NULL)[0];
    o.beta2 = golden_get(&x->g, "beta", NULL)[1];
    o.eps = golden_one(&x->g, "eps");
    o.clip = golden_one(&x->g, "clip");
    o.kappa_update = golden_one(&x->g, "mu");
    o.kappa_steps = (int64_t)golden_one(&x->g, "every");
    r->loss = golden_get(&x->g, "loss", &r->n);
    r->grad_norm = golden_get(&x->g, "grad_norm", NULL);
    sl_tensor *tensor = sl_malloc((size_t)x->m->n_param, sizeof *tensor);
    assert_non_null(tensor);
    for (int k = 0; k < x->m->n_param; k++) {
        const sl_param *p = &x->m->param[k];
        tensor[k] = (sl_tensor){ p->offset, p->count, p->regularised };
    }
    SL_MUST(t, sl_optim_new(&r->s, tensor, x->m->n_param, &o, r->n, 0, 1));
    sl_free(tensor);
}

static void steps_close(steps *r) {
    sl_optim_free(r->s);
    small_close(&r->x);
}

/* Rounding grows from step to step: Adam divides a gradient by its own size, however small it is.
 */
static void check_step(steps *r, int i, double loss, const sl_optim_report *report, double tol) {
    sl_fixture *t = r->x.g.t;
    SL_CHECK(t, fabs(loss / r->x.tokens - r->loss[i]) <= tol * r->loss[i],
             "step %d: loss %.17g, not %.17g", i + 1, loss / r->x.tokens, r->loss[i]);
    SL_CHECK(t, fabs(report->grad_norm - r->grad_norm[i]) <= 10 * tol * r->grad_norm[i],
             "step %d: norm of the gradient %.17g, not %.17g", i + 1, report->grad_norm,
             r->grad_norm[i]);
    SL_CHECK(t, report->clipped == (r->grad_norm[i] > 1), "step %d: clipped or not", i + 1);
}

/* slack: of a multiplier, which is the sum of small differences of large numbers. */
static void check_end(steps *r, const double *weights, double tol, double slack) {
    small *x = &r->x;
    sl_fixture *t = x->g.t;
    int bound = 0, active = 0;
    SL_CHECK(t, golden_case(&x->g, "weights"), "no weights");
    small_compare(x, "weights", weights, tol);
    SL_CHECK(t, golden_case(&x->g, "constraints"), "no constraints");
    for (int k = 0; k < x->m->n_param; k++) {
        const sl_param *p = &x->m->param[k];
        const sl_cpr *c = &r->s->cpr[k];
        const double *v = golden_get(&x->g, p->name, NULL);
        SL_CHECK(t, (v != NULL) == p->regularised, "%s: a constraint or none", p->name);
        if (!v) continue;
        SL_CHECK(t, c->set_at == (int64_t)v[2], "%s: bound set at step %lld, not %g", p->name,
                 (long long)c->set_at, v[2]);
        SL_CHECK(t, fabs(c->kappa - v[1]) <= tol * v[1], "%s: kappa %.17g, not %.17g", p->name,
                 c->kappa, v[1]);
        SL_CHECK(t, fabs(c->lambda - v[0]) <= slack, "%s: lambda %.17g, not %.17g", p->name,
                 c->lambda, v[0]);
        bound += v[2] > 0;
        active += v[0] > 0;
    }
    SL_CHECK(t, bound >= 20 && active >= 20, "the answers put too little to the test: renew them");
    assert_int_equal(r->s->clamped, 0);
}

static void steps_in_double(void **state) {
    sl_fixture *t = *state;
    steps r;
    sl_work_d *w;
    sl_optim_twin *twin;
    steps_open(&r, t);
    const small *x = &r.x;
    double *grad = sl_malloc((size_t)x->m->block, sizeof *grad);
    assert_non_null(grad);
    SL_MUST(t, sl_model_work_new_d(&w, x->m, x->b.pairs, x->b.points, x->tokens, 0));
    SL_MUST(t, sl_optim_twin_new(&twin, r.s));
    for (int i = 0; i < r.n; i++) {
        sl_optim_report report;
        memset(grad, 0, (size_t)x->m->block * sizeof *grad);
        const double loss =
            sl_model_pass_d(w, grad, NULL, x->weights, &x->b, (sl_dropout){ .on = false });
        SL_MUST(t, sl_optim_step_d(&report, r.s, twin, x->weights, grad, 1.0 / x->tokens));
        check_step(&r, i, loss, &report, 1e-9);
    }
    check_end(&r, x->weights, 1e-9, 1e-11);
    sl_optim_twin_free(twin);
    sl_model_work_free_d(w);
    sl_free(grad);
    steps_close(&r);
}

static void steps_in_float(void **state) {
    sl_fixture *t = *state;
    steps r;
    sl_work *w;
    steps_open(&r, t);
    const small *x = &r.x;
    const size_t block = (size_t)x->m->block;
    float *weights = sl_malloc_aligned(block, sizeof *weights);
    float *grad = sl_malloc_aligned(block, sizeof *grad);
    assert_true(weights && grad);
    for (size_t i = 0; i < block; i++) weights[i] = (float)x->weights[i];
    SL_MUST(t, sl_model_work_new(&w, x->m, x->b.pairs, x->b.points, x->tokens, 0));
    for (int i = 0; i < r.n; i++) {
        sl_optim_report report;
        memset(grad, 0, block * sizeof *grad);
        const double loss =
            sl_model_pass(w, grad, NULL, weights, &x->b, (sl_dropout){ .on = false });
        SL_MUST(t, sl_optim_sum(grad, r.s, NULL, (const float *[]){ grad }, 1, false));
        SL_MUST(t, sl_optim_step(&report, r.s, NULL, weights, grad, 1.0 / x->tokens));
        check_step(&r, i, loss, &report, 1e-4);
    }
    for (size_t i = 0; i < block; i++) x->weights[i] = weights[i];
    check_end(&r, x->weights, 1e-4, 1e-6);
    sl_model_work_free(w);
    sl_free(grad);
    sl_free(weights);
    steps_close(&r);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(steps_in_double), SL_TEST(steps_in_float) };
    return sl_test_main("train.golden_steps", tests, SL_LEN(tests));
}
