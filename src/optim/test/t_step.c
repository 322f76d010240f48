/* Steps against a plain loop in long double, written from the formulas alone; clipping; the same
 * bits for all kernels and threads; gradients that are not finite; lack of memory. */
#include <math.h>
#include <string.h>

#include "fixture/fixture.h"
#include "optim/optim_impl.h"
#include "optim/optim_test.h"

/* ---------------------------------------------------------------- a small world ------------- */

enum { TENSORS = 6, BLOCK = 49200 };

/* Three pieces, gaps, tensors of one number and of exactly a piece. */
static const sl_tensor tensors[TENSORS] = {
    { 0, 2 * SL_PIECE + 77, true },
    { 32848, 1, false },
    { 32864, 100, false },
    { 32976, 37, true },
    { 33024, 1, true },
    { 33040, 16000, false },
};

/* Numbers between tensors must stay as they are. */
static const double GAP = 7.5;

typedef struct world {
    double *w, *g; // doubles that are floats
    float *wf, *gf;
    long double *lw, *lm, *lv;
} world;

static void *get(sl_fixture *t, size_t size) {
    void *p = sl_arena_alloc(&t->arena, BLOCK * size);
    assert_non_null(p);
    memset(p, 0, BLOCK * size);
    return p;
}

static void make_world(world *x, sl_fixture *t) {
    x->w = get(t, sizeof *x->w);
    x->g = get(t, sizeof *x->g);
    x->wf = get(t, sizeof *x->wf);
    x->gf = get(t, sizeof *x->gf);
    x->lw = get(t, sizeof *x->lw);
    x->lm = get(t, sizeof *x->lm);
    x->lv = get(t, sizeof *x->lv);
    for (int i = 0; i < BLOCK; i++) x->w[i] = x->wf[i] = (float)GAP;
    for (int k = 0; k < TENSORS; k++) {
        for (int64_t i = 0; i < tensors[k].count; i++) {
            int64_t at = tensors[k].offset + i;
            x->lw[at] = x->w[at] = x->wf[at] = (float)(0.3 * sl_rng_normal(&t->rng));
        }
    }
}

/* A gradient that pulls weights outwards and is noisy, floats all; sums of s as train leaves them.
 */
static void make_gradient(world *x, sl_fixture *t, sl_optim *s, double size) {
    for (int i = 0; i < s->n_piece; i++) {
        const sl_piece *p = &s->piece[i];
        s->sum[i] = 0;
        for (int64_t at = p->offset; at < p->offset + p->count; at++) {
            double noise = sl_rng_uniform(&t->rng) - 0.5;
            x->gf[at] = (float)(size * (noise - (x->lw[at] > 0 ? 0.3 : -0.3)));
            x->g[at] = x->gf[at];
            s->sum[i] += x->g[at] * x->g[at];
        }
    }
}

/* ---------------------------------------------------------------- the plain loop ------------ */

typedef struct plain {
    long double lambda[TENSORS], kappa[TENSORS], look[TENSORS][64];
    int looks[TENSORS];
    bool set[TENSORS];
    int clamped;
} plain;

static long double sum_squares(const long double *x, int64_t n) {
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

static void plain_bound(plain *p, const sl_optim_options *o, int k, long double *w, int t) {
    const int64_t n = tensors[k].count;
    const long double R = sum_squares(w, n);
    if (p->set[k]) {
        long double l = p->lambda[k] + o->kappa_update / (long double)n * (R - p->kappa[k]);
        p->lambda[k] = l > 0 ? l : 0;
        long double part = 2 * p->lambda[k];
        if (part > 0.5L) part = 0.5L, p->clamped++;
        for (int64_t i = 0; i < n; i++) w[i] -= part * w[i];
    } else if (o->kappa_init == SL_KAPPA_WARM_START) {
        p->set[k] = t == (int)o->kappa_param;
        p->kappa[k] = R;
    } else if (t % o->kappa_steps == 0) {
        long double *look = p->look[k];
        int m = p->looks[k]++;
        look[m] = R;
        // looks 0, 1, 2, ... are those of steps S, 2S, 3S, ...; the first is not compared
        if (m >= 3 && look[m] - look[m - 1] < look[m - 1] - look[m - 2])
            p->set[k] = true, p->kappa[k] = R;
    }
}

/* lr: of this step, which the schedule's own test answers for. */
static void plain_step(plain *p, world *x, const sl_optim_options *o, int t, double lr,
                       double scale) {
    const long double c1 = 1 - powl(o->beta1, t), c2 = 1 - powl(o->beta2, t);
    long double norm = 0, factor = 1;
    for (int k = 0; k < TENSORS; k++)
        for (int64_t i = 0; i < tensors[k].count; i++) {
            long double g = (long double)x->g[tensors[k].offset + i] * scale;
            norm += g * g;
        }
    norm = sqrtl(norm);
    if (o->clip > 0 && o->clip / (norm + 1e-6L) < 1) factor = o->clip / (norm + 1e-6L);
    for (int k = 0; k < TENSORS; k++) {
        const int64_t at = tensors[k].offset;
        const bool reg = tensors[k].regularised;
        if (t == 1 && o->optimizer == SL_OPTIM_ADAMCPR && reg) {
            p->set[k] = o->kappa_init == SL_KAPPA_UNIFORM || o->kappa_init == SL_KAPPA_DEPENDENT;
            p->kappa[k] = o->kappa_param;
            if (o->kappa_init == SL_KAPPA_DEPENDENT)
                p->kappa[k] *= sum_squares(x->lw + at, tensors[k].count);
        }
        for (int64_t i = at; i < at + tensors[k].count; i++) {
            long double g = x->g[i] * (long double)scale * factor;
            if (o->optimizer == SL_OPTIM_ADAMW && reg)
                x->lw[i] *= 1 - lr * (long double)o->weight_decay;
            x->lm[i] = o->beta1 * x->lm[i] + (1 - o->beta1) * g;
            x->lv[i] = o->beta2 * x->lv[i] + (1 - o->beta2) * g * g;
            long double m = x->lm[i] / c1, v = x->lv[i] / c2;
            x->lw[i] -= lr * m / (sqrtl(v) + o->eps);
        }
        if (o->optimizer == SL_OPTIM_ADAMCPR && reg) plain_bound(p, o, k, x->lw + at, t);
    }
}

/* ---------------------------------------------------------------- judging ------------------- */

typedef struct worst {
    double error;
    int64_t at;
} worst;

static void look_at(worst *y, double got, long double want, int64_t at) {
    double error = (double)fabsl(got - want);
    if (!(error <= y->error)) y->error = error, y->at = at;
}

/* Both twins for `steps` steps beside the plain loop. */
static void follow(sl_fixture *t, const sl_optim_options *o, int steps, double scale, double size) {
    world x;
    plain p = { 0 };
    sl_optim *s, *d;
    sl_optim_twin *twin;
    sl_optim_report r, rd;
    make_world(&x, t);
    SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, o, steps, 0, 1));
    SL_MUST(t, sl_optim_new(&d, tensors, TENSORS, o, steps, 0, 1));
    SL_MUST(t, sl_optim_twin_new(&twin, d));
    for (int step = 1; step <= steps; step++) {
        make_gradient(&x, t, s, size);
        double lr = sl_optim_lr(o, step - 1, steps);
        plain_step(&p, &x, o, step, lr, scale);
        SL_MUST(t, sl_optim_step(&r, s, NULL, x.wf, x.gf, scale));
        SL_MUST(t, sl_optim_step_d(&rd, d, twin, x.w, x.g, scale));
        assert_true(r.lr == lr && r.bounds_set == rd.bounds_set && r.clipped == rd.clipped);
        worst y = { 0 }, yd = { 0 };
        for (int k = 0; k < TENSORS; k++) {
            for (int64_t i = tensors[k].offset; i < tensors[k].offset + tensors[k].count; i++) {
                look_at(&y, x.wf[i], x.lw[i], i);
                look_at(&yd, x.w[i], x.lw[i], i);
            }
            SL_CHECK(t, (d->cpr[k].set_at >= 0) == p.set[k], "step %d, tensor %d: set %d", step, k,
                     p.set[k]);
            SL_CHECK(t, fabsl(d->cpr[k].lambda - p.lambda[k]) <= 1e-12L, "step %d, tensor %d: %g",
                     step, k, d->cpr[k].lambda);
        }
        SL_CHECK(t, yd.error < 1e-13 * step + 1e-14, "double: step %d, number %d is %g off", step,
                 (int)yd.at, yd.error);
        SL_CHECK(t, y.error < 1e-6, "float: step %d, number %d is %g off", step, (int)y.at,
                 y.error);
    }
    assert_true(s->t == steps && d->t == steps);
    assert_true(s->clamped == p.clamped && d->clamped == p.clamped);
    int64_t at = 0;
    for (int k = 0; k <= TENSORS; at = tensors[k].offset + tensors[k].count, k++) {
        int64_t next = k < TENSORS ? tensors[k].offset : BLOCK;
        for (; at < next; at++)
            SL_CHECK(t, x.w[at] == GAP && x.wf[at] == (float)GAP, "number %d between tensors",
                     (int)at);
        if (k == TENSORS) break;
    }
    for (int k = 0; k < TENSORS; k++)
        if (!tensors[k].regularised) assert_true(s->cpr[k].set_at == -1 && s->cpr[k].lambda == 0);
    sl_optim_twin_free(twin);
    sl_optim_free(d);
    sl_optim_free(s);
}

static void adam_is_the_plain_loop(void **state) {
    sl_optim_options o = sl_optim_defaults();
    o.optimizer = SL_OPTIM_ADAM;
    o.lr = 0.003;
    follow(*state, &o, 12, 0.01, 3);
}

static void adamw_is_the_plain_loop(void **state) {
    sl_optim_options o = sl_optim_defaults();
    o.optimizer = SL_OPTIM_ADAMW;
    o.lr = 0.003;
    o.weight_decay = 1.5;
    follow(*state, &o, 12, 0.01, 3);
}

static void adamcpr_is_the_plain_loop(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    o.lr = 0.003;
    o.lr_final = 0.5;
    o.clip = 0;
    o.kappa_update = 0.02;
    o.kappa_steps = 2;
    follow(t, &o, 20, 1, 1);
    o.kappa_init = SL_KAPPA_WARM_START;
    o.kappa_param = 3;
    follow(t, &o, 10, 1, 1);
    o.kappa_param = 100; // never
    follow(t, &o, 5, 1, 1);
    o.kappa_init = SL_KAPPA_UNIFORM;
    o.kappa_param = 0.01;
    o.kappa_update = 0.001;
    follow(t, &o, 6, 1, 1);
    o.kappa_init = SL_KAPPA_DEPENDENT;
    o.kappa_param = 0.9;
    o.kappa_update = 0.02;
    follow(t, &o, 6, 1, 1);
}

/* Looks at R as they are given here: which of them sets the bound? */
static void look_along(sl_fixture *t, const double *R, int n, int64_t want) {
    enum { S = 10 };
    static const sl_tensor tensor = { 0, 4, true };
    sl_optim_options o = sl_optim_defaults();
    o.kappa_steps = S;
    o.kappa_update = 1e-9;
    sl_optim *s;
    SL_MUST(t, sl_optim_new(&s, &tensor, 1, &o, 1000, 0, 1));
    for (int64_t step = 1; step <= n * S; step++) {
        const bool look = step % S == 0;
        SL_CHECK(t, sl_optim__wants(s, 0, step) == (look || s->cpr[0].set_at >= 0), "step %d",
                 (int)step);
        s->sum[0] = look ? R[step / S - 1] : -1e9; // what must not be looked at
        int set = sl_optim__bound(s, step);
        SL_CHECK(t, set == (step == want), "bound at step %d, want %d", (int)step, (int)want);
    }
    SL_CHECK(t, s->cpr[0].set_at == want, "set at %d, want %d", (int)s->cpr[0].set_at, (int)want);
    if (want > 0) assert_true(s->cpr[0].kappa == R[want / S - 1]);
    sl_optim_free(s);
}

static void the_first_smaller_increase_sets_the_bound(void **state) {
    sl_fixture *t = *state;
    look_along(t, (double[]){ 1, 2, 4, 5, 6, 7 }, 6, 40); // +2, +1
    look_along(t, (double[]){ 9, 10, 9, 8.5, 7 }, 5, 50); // the third look is too early
    look_along(t, (double[]){ 1, 9, 10, 12, 13 }, 5, 50); // +8, +1 is too early as well
    look_along(t, (double[]){ 1, 2, 3, 4, 5, 6 }, 6, -1); // equal is not smaller
    look_along(t, (double[]){ 1, 2, 4, 8, 16, 24 }, 6, -1);
    look_along(t, (double[]){ 1, 2, 4, 8, 16, 23 }, 6, 60);
    look_along(t, (double[]){ 5, 4, 3.5, 3.25, 3 }, 5, -1); // falls ever more slowly
    look_along(t, (double[]){ 5, 4, 3.5, 2 }, 4, 40);       // falls faster
}

/* The others have none to count, whatever the options of bounds say. */
static void only_adamcpr_has_bounds(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    o.kappa_init = SL_KAPPA_UNIFORM;
    for (o.optimizer = SL_OPTIM_ADAMCPR; o.optimizer <= SL_OPTIM_ADAMW; o.optimizer++) {
        sl_optim *s;
        SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, &o, 10, 0, 1));
        for (int k = 0; k < TENSORS; k++)
            assert_int_equal(s->cpr[k].set_at >= 0,
                             o.optimizer == SL_OPTIM_ADAMCPR && tensors[k].regularised);
        sl_optim_free(s);
    }
}

/* A multiplier beyond all reason takes no more than half of a weight. */
static void shrinking_is_kept_within_reason(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = sl_optim_defaults();
    o.kappa_init = SL_KAPPA_UNIFORM;
    o.kappa_param = 1e-6;
    o.kappa_update = 10;
    follow(t, &o, 4, 1, 1);
    sl_cpr c = { .lambda = 0.2 };
    assert_true(sl_optim__shrink(&c) == 0.4);
    c.lambda = 40;
    assert_true(sl_optim__shrink(&c) == 0.5);
}

/* ---------------------------------------------------------------- clipping ------------------ */

/* One tensor of four numbers (3, 0, 4, 0): norm 5. What is used of the gradient shows in v. */
static void clip_once(sl_fixture *t, double clip, double scale, double want, bool clipped) {
    static const sl_tensor tensor = { 0, 4, true };
    sl_optim_options o = sl_optim_defaults();
    o.clip = clip;
    sl_optim *s;
    sl_optim_report r;
    sl_optim_twin *twin;
    double w[4] = { 1, 1, 1, 1 }, g[4] = { 3, 0, 4, 0 };
    SL_MUST(t, sl_optim_new(&s, &tensor, 1, &o, 100, 0, 1));
    SL_MUST(t, sl_optim_twin_new(&twin, s));
    SL_MUST(t, sl_optim_step_d(&r, s, twin, w, g, scale));
    SL_CHECK(t, fabs(r.grad_norm - 5 * scale) < 1e-12 && r.clipped == clipped, "norm %g, %d",
             r.grad_norm, r.clipped);
    double used = sqrt(twin->v[2] / (1 - o.beta2)) / 4;
    SL_CHECK(t, fabs(used - want) < 1e-14, "clip %g, scale %g: %.17g", clip, scale, used);
    sl_optim_twin_free(twin);
    sl_optim_free(s);
}

static void gradients_are_clipped_by_their_norm(void **state) {
    sl_fixture *t = *state;
    clip_once(t, 1, 1, 1 / (5 + 1e-6), true);
    clip_once(t, 1, 0.5, 0.5 / (2.5 + 1e-6), true); // the scaled norm counts
    clip_once(t, 1, 0.1, 0.1, false);
    clip_once(t, 0, 1, 1, false);
    clip_once(t, 10, 1, 1, false);
    clip_once(t, 5, 1, 5 / (5 + 1e-6), true); // by the last millionth
}

static void a_gradient_that_is_not_finite_changes_nothing(void **state) {
    sl_fixture *t = *state;
    static const double bad[] = { INFINITY, NAN, -NAN };
    world x;
    make_world(&x, t);
    sl_optim_options o = sl_optim_defaults();
    o.kappa_init = SL_KAPPA_DEPENDENT;
    sl_optim *s;
    sl_optim_report r;
    SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, &o, 100, 0, 1));
    for (int i = 0; i < 2 * SL_LEN(bad); i++) {
        if (i == SL_LEN(bad)) { // again in the middle of a run
            make_gradient(&x, t, s, 1);
            SL_MUST(t, sl_optim_step(&r, s, NULL, x.wf, x.gf, 1));
        }
        int64_t n = s->end - s->begin;
        uint64_t w = sl_hash(x.wf, BLOCK * sizeof *x.wf, 0), m = sl_hash(s->m, (size_t)n * 4, 0),
                 v = sl_hash(s->v, (size_t)n * 4, 0);
        int64_t steps = s->t;
        sl_cpr c = s->cpr[0];
        make_gradient(&x, t, s, 1);
        s->sum[sl_rng_below(&t->rng, (uint32_t)s->n_piece)] = bad[i % SL_LEN(bad)];
        assert_int_equal(sl_optim_step(&r, s, NULL, x.wf, x.gf, 1), SL_ELIMIT);
        assert_string_equal(sl_last_error(), "the gradient is not finite");
        assert_true(w == sl_hash(x.wf, BLOCK * sizeof *x.wf, 0));
        assert_true(m == sl_hash(s->m, (size_t)n * 4, 0));
        assert_true(v == sl_hash(s->v, (size_t)n * 4, 0));
        assert_int_equal(s->t, steps);
        assert_true(s->cpr[0].kappa == c.kappa && s->cpr[0].set_at == c.set_at);
    }
    sl_optim_free(s);
}

/* ---------------------------------------------------------------- the same bits ------------- */

static sl_optim_options lively(void) {
    sl_optim_options o = sl_optim_defaults();
    o.lr = 0.003;
    o.kappa_steps = 2;
    o.kappa_update = 0.02;
    return o;
}

/* Weights, moments and constraints after 16 steps by this pool and these kernels. */
static uint64_t fingerprint(sl_fixture *t, sl_pool *pool, const sl_optim__kernels *k) {
    world x;
    sl_arena_rewind(&t->arena, 0);
    sl_rng_init(&t->rng, 5, 0, 0);
    make_world(&x, t);
    sl_optim_options o = lively();
    sl_optim *s;
    sl_optim_report r;
    SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, &o, 16, 0, 1));
    int bounds = 0;
    for (int i = 0; i < 16; i++) {
        make_gradient(&x, t, s, 1);
        const sl_optim__arrays a = { k, x.wf, s->m, s->v, x.gf };
        if (k)
            SL_MUST(t, sl_optim__step(&r, s, pool, &a, 0.01, sl_optim__gather));
        else
            SL_MUST(t, sl_optim_step(&r, s, pool, x.wf, x.gf, 0.01));
        bounds += r.bounds_set;
    }
    SL_CHECK(t, bounds > 0 && s->cpr[0].lambda > 0, "%d bounds, lambda %g: too tame a test", bounds,
             s->cpr[0].lambda);
    const size_t n = (size_t)(s->end - s->begin);
    uint64_t h = sl_hash(x.wf, BLOCK * sizeof *x.wf, 0);
    h = sl_hash(s->m, n * sizeof *s->m, h);
    h = sl_hash(s->v, n * sizeof *s->v, h);
    for (int k2 = 0; k2 < TENSORS; k2++) {
        h = sl_hash(&s->cpr[k2].lambda, sizeof(double), h);
        h = sl_hash(&s->cpr[k2].kappa, sizeof(double), h);
    }
    sl_optim_free(s);
    return h;
}

static void threads_do_not_change_a_bit(void **state) {
    sl_fixture *t = *state;
    uint64_t one = fingerprint(t, NULL, NULL);
    for (int threads = 1; threads <= 5; threads++) {
        sl_pool *pool;
        SL_MUST(t, sl_par_pool_new(&pool, threads));
        SL_CHECK(t, fingerprint(t, pool, NULL) == one, "%d threads", threads);
        sl_par_pool_free(pool);
    }
}

static void kernels_do_not_differ_in_a_bit(void **state) {
    sl_fixture *t = *state;
    uint64_t best = fingerprint(t, NULL, NULL);
    const sl_optim__kernels *k;
    for (int i = 0; (k = sl_optim__usable(i)) != NULL; i++)
        SL_CHECK(t, fingerprint(t, NULL, k) == best, "kernels for %s", k->name);
    // short and odd lengths: tails of vectors
    for (int n = 0; n <= 70; n++) {
        float x[70];
        double sum = 0;
        for (int i = 0; i < n; i++) {
            x[i] = (float)sl_rng_normal(&t->rng);
            sum += (double)x[i] * x[i];
        }
        double first = sl_optim__base.squares(x, n);
        SL_CHECK(t, fabs(first - sum) <= 1e-13 * sum, "%d squares: %.17g", n, first);
        for (int i = 1; (k = sl_optim__usable(i)) != NULL; i++)
            SL_CHECK(t, k->squares(x, n) == first, "%d squares by %s", n, k->name);
    }
}

/* State carried over in the fields that a checkpoint keeps is all there is. */
static void a_resumed_run_goes_on_alike(void **state) {
    sl_fixture *t = *state;
    sl_optim_options o = lively();
    sl_optim *a, *b;
    sl_optim_report r;
    world x;
    make_world(&x, t);
    float *copy = get(t, sizeof *copy);
    SL_MUST(t, sl_optim_new(&a, tensors, TENSORS, &o, 16, 0, 1));
    SL_MUST(t, sl_optim_new(&b, tensors, TENSORS, &o, 16, 0, 1));
    for (int i = 0; i < 16; i++) {
        make_gradient(&x, t, a, 1);
        if (i == 7) {
            const size_t n = (size_t)(a->end - a->begin) * sizeof *a->m;
            memcpy(b->m, a->m, n);
            memcpy(b->v, a->v, n);
            memcpy(b->cpr, a->cpr, TENSORS * sizeof *a->cpr);
            b->t = a->t;
            memcpy(copy, x.wf, BLOCK * sizeof *copy);
        }
        if (i >= 7) {
            memcpy(b->sum, a->sum, (size_t)a->n_piece * sizeof *a->sum);
            SL_MUST(t, sl_optim_step(&r, b, NULL, copy, x.gf, 0.01));
        }
        SL_MUST(t, sl_optim_step(&r, a, NULL, x.wf, x.gf, 0.01));
    }
    assert_true(a->cpr[0].lambda > 0);
    assert_memory_equal(copy, x.wf, BLOCK * sizeof *copy);
    sl_optim_free(a);
    sl_optim_free(b);
}

/* ---------------------------------------------------------------- memory -------------------- */

static sl_status make_and_free(void) {
    sl_optim *s;
    sl_optim_twin *twin = NULL;
    const sl_optim_options o = sl_optim_defaults();
    SL_TRY(sl_optim_new(&s, tensors, TENSORS, &o, 10, 1, 3));
    sl_status st = sl_optim_twin_new(&twin, s);
    sl_optim_twin_free(twin);
    sl_optim_free(s);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    SL_EACH_ALLOCATION(t, make_and_free());
    sl_optim_free(NULL);
    sl_optim_twin_free(NULL);
}

static void a_step_allocates_nothing(void **state) {
    sl_fixture *t = *state;
    world x;
    make_world(&x, t);
    sl_optim *s;
    sl_optim_report r;
    const sl_optim_options o = sl_optim_defaults();
    SL_MUST(t, sl_optim_new(&s, tensors, TENSORS, &o, 10, 0, 1));
    make_gradient(&x, t, s, 1);
    sl_mem_fail_at(1, true);
    sl_status st = sl_optim_step(&r, s, NULL, x.wf, x.gf, 1);
    sl_mem_fail_at(0, false);
    SL_MUST(t, st);
    sl_optim_free(s);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(adam_is_the_plain_loop),
        SL_TEST(adamw_is_the_plain_loop),
        SL_TEST(adamcpr_is_the_plain_loop),
        SL_TEST(the_first_smaller_increase_sets_the_bound),
        SL_TEST(only_adamcpr_has_bounds),
        SL_TEST(shrinking_is_kept_within_reason),
        SL_TEST(gradients_are_clipped_by_their_norm),
        SL_TEST(a_gradient_that_is_not_finite_changes_nothing),
        SL_TEST(threads_do_not_change_a_bit),
        SL_TEST(kernels_do_not_differ_in_a_bit),
        SL_TEST(a_resumed_run_goes_on_alike),
        SL_TEST(lack_of_memory_is_reported),
        SL_TEST(a_step_allocates_nothing),
    };
    return sl_test_main("optim.step", tests, SL_LEN(tests));
}
