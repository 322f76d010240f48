/* step - one step of the optimiser: norm and clip factor, Adam over pieces, bounds, shrinking. */
#include <math.h>

#include "nn/nn.h"
#include "optim/optim_impl.h"

enum { SUM_PART = 4 };               // pieces of one part of a parallel sum
static const double CLIP_EPS = 1e-6; // as PyTorch's clip_grad_norm_

/* base^n, in long double, so that the double is the nearest one. */
static double power(double base, int64_t n) {
    long double y = 1;
    for (long double x = base; n > 0; n /= 2, x *= x)
        if (n % 2 == 1) y *= x;
    return (double)y;
}

/* ---------------------------------------------------------------- over pieces --------------- */

typedef struct job {
    const sl_optim *s;
    const sl_optim__arrays *a;
    sl_optim__move move;
    double lr;
    int64_t t;
} job;

static void *at(void *block, const job *j, int64_t number) {
    return (char *)block + (size_t)number * j->a->kernels->size;
}

static double decay_of(const job *j, int tensor) {
    const sl_optim_options *o = &j->s->options;
    const bool decays = o->optimizer == SL_OPTIM_ADAMW && j->s->tensor[tensor].regularised;
    return decays ? j->lr * o->weight_decay : 0;
}

static sl_status move_pieces(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const job *j = payload;
    const sl_optim *s = j->s;
    const sl_optim__kernels *k = j->a->kernels;
    for (int64_t i = s->first + begin; i < s->first + end; i++) {
        const sl_piece *p = &s->piece[i];
        const int64_t mine = p->offset - s->begin;
        void *w = at(j->a->weights, j, p->offset);
        const void *g = (const char *)j->a->grad + (size_t)p->offset * k->size;
        k->adam(w, at(j->a->m, j, mine), at(j->a->v, j, mine), g, p->count, &j->move,
                decay_of(j, p->tensor));
        // the piece is still in the second cache
        if (sl_optim__wants(s, p->tensor, j->t)) s->sum[i] = k->squares(w, p->count);
    }
    return SL_OK;
}

static sl_status measure_pieces(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const job *j = payload;
    const sl_optim *s = j->s;
    for (int64_t i = s->first + begin; i < s->first + end; i++) {
        const sl_piece *p = &s->piece[i];
        s->sum[i] = j->a->kernels->squares(at(j->a->weights, j, p->offset), p->count);
    }
    return SL_OK;
}

static sl_status shrink_pieces(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const job *j = payload;
    const sl_optim *s = j->s;
    for (int64_t i = s->first + begin; i < s->first + end; i++) {
        const sl_piece *p = &s->piece[i];
        const double part = sl_optim__shrink(&s->cpr[p->tensor]);
        if (part > 0) j->a->kernels->shrink(at(j->a->weights, j, p->offset), p->count, part);
    }
    return SL_OK;
}

/* Small tensors make small pieces, so a part has many of them. Where there are few numbers in all,
 * threads would cost more than the work. */
static sl_status over_pieces(sl_pool *pool, const job *j, sl_par_fn fn) {
    const int64_t n = j->s->last - j->s->first, parts = 8 * (int64_t)sl_par_pool_threads(pool);
    if (j->s->end - j->s->begin < 2 * SL_PIECE) pool = NULL;
    return sl_par_for(pool, n, SL_MAX(n / parts, 1), fn, (void *)j);
}

/* ---------------------------------------------------------------- the gradient -------------- */

typedef struct sum_job {
    sl_optim *s;
    float *grad;
    const float *const *block;
    int n;
    bool share;
} sum_job;

static sl_status sum_pieces(int64_t begin, int64_t end, int worker, void *payload) {
    (void)worker;
    const sum_job *j = payload;
    sl_optim *s = j->s;
    const int64_t first = j->share ? s->first : 0, origin = j->share ? s->begin : 0;
    const float *from[SL_NN_MAX_BLOCKS];
    for (int64_t i = first + begin; i < first + end; i++) {
        const sl_piece *p = &s->piece[i];
        for (int b = 0; b < j->n; b++) from[b] = j->block[b] + (p->offset - origin);
        s->sum[i] = sl_nn_sum_tree(j->grad + p->offset, from, j->n, p->count);
    }
    return SL_OK;
}

sl_status sl_optim_sum(float *grad, sl_optim *s, sl_pool *pool, const float *const *block, int n,
                       bool share) {
    SL_ASSERT(n >= 1 && n <= SL_NN_MAX_BLOCKS);
    sum_job j = { s, grad, block, n, share };
    return sl_par_for(pool, share ? s->last - s->first : s->n_piece, SUM_PART, sum_pieces, &j);
}

/* ---------------------------------------------------------------- the step ------------------ */

sl_status sl_optim__gather(sl_optim *s) {
    if (s->ranks == 1) return SL_OK;
    SL_ASSERT(s->ranks == sl_par_ranks() && s->rank == sl_par_rank());
    return sl_par_gather(s->sum, sizeof *s->sum, s->share);
}

/* The norm of the scaled gradient decides how much of it is used. */
static sl_status clip(sl_optim_report *out, job *j, const sl_optim *s, double scale) {
    double sum = 0;
    for (int i = 0; i < s->n_piece; i++) sum += s->sum[i];
    const double norm = sqrt(sum) * fabs(scale), most = s->options.clip;
    if (!isfinite(norm)) return sl_fail(SL_ELIMIT, "the gradient is not finite");
    const double factor = most > 0 ? SL_MIN(1, most / (norm + CLIP_EPS)) : 1;
    out->grad_norm = norm;
    out->clipped = factor < 1;
    j->move.grad = scale * factor;
    return SL_OK;
}

static void plan_move(job *j, const sl_optim *s) {
    const sl_optim_options *o = &s->options;
    j->move.rate1 = 1 - o->beta1;
    j->move.keep2 = o->beta2;
    j->move.rate2 = 1 - o->beta2;
    j->move.lr = j->lr;
    j->move.c1 = 1 - power(o->beta1, j->t);
    j->move.root2 = sqrt(1 - power(o->beta2, j->t));
    j->move.eps = o->eps;
}

static bool any_wanted(const sl_optim *s, int64_t t) {
    for (int i = 0; i < s->n_tensor; i++)
        if (sl_optim__wants(s, i, t)) return true;
    return false;
}

static bool any_shrinks(const sl_optim *s) {
    for (int i = 0; i < s->n_tensor; i++)
        if (sl_optim__shrink(&s->cpr[i]) > 0) return true;
    return false;
}

sl_status sl_optim__step(sl_optim_report *out, sl_optim *s, sl_pool *pool,
                         const sl_optim__arrays *a, double scale, sl_optim__exchange *exchange) {
    *out = (sl_optim_report){ .lr = sl_optim_lr(&s->options, s->t, s->steps) };
    job j = { .s = s, .a = a, .lr = out->lr, .t = s->t + 1 };
    SL_TRY(exchange(s));
    SL_TRY(clip(out, &j, s, scale));
    plan_move(&j, s);
    if (sl_optim__wants_first(s)) {
        SL_TRY(over_pieces(pool, &j, measure_pieces));
        SL_TRY(exchange(s));
        sl_optim__bound_first(s);
    }

    s->t = j.t;
    SL_TRY(over_pieces(pool, &j, move_pieces));
    if (!any_wanted(s, j.t)) return SL_OK;
    SL_TRY(exchange(s));
    out->bounds_set = sl_optim__bound(s, j.t);
    return any_shrinks(s) ? over_pieces(pool, &j, shrink_pieces) : SL_OK;
}

sl_status sl_optim_step(sl_optim_report *out, sl_optim *s, sl_pool *pool, float *weights,
                        const float *grad, double scale) {
    const sl_optim__arrays a = { sl_optim__chosen(), weights, s->m, s->v, grad };
    return sl_optim__step(out, s, pool, &a, scale, sl_optim__gather);
}
