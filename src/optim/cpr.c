/* cpr - constrained parameter regularisation: each regularised tensor's R = sum w^2 is held under a
 * bound kappa by a multiplier lambda (Franke et al., "Improving Deep Learning Optimization through
 * Constrained Parameter Regularization").
 *
 * R is computed after Adam's update, as in the authors' code; there is no constraint before the
 * bound is set, as in their paper. Their code marks "not set" by the bound 1000, and smooths R by a
 * mean that never leaves 0; neither changes a bound below 1000, and neither is here. */
#include <math.h>

#include "optim/optim_impl.h"

/* The largest part of a weight that one step may take away. Beyond 1/2 a multiplier that overshoots
 * could change signs, and the next step change them back. The limit should never be reached. */
static const double SHRINK_MAX = 0.5;

static bool constrained(const sl_optim *s, int tensor) {
    return s->options.optimizer == SL_OPTIM_ADAMCPR && s->tensor[tensor].regularised;
}

/* Is R tested after this step, for a tensor without bound? */
static bool looks(const sl_optim *s, int64_t t) {
    if (s->options.kappa_init == SL_KAPPA_WARM_START) return t == llround(s->options.kappa_param);
    if (s->options.kappa_init != SL_KAPPA_INFLECTION) return false;
    return t % sl_optim_kappa_steps(&s->options, s->steps) == 0;
}

bool sl_optim__wants(const sl_optim *s, int tensor, int64_t t) {
    return constrained(s, tensor) && (s->cpr[tensor].set_at >= 0 || looks(s, t));
}

bool sl_optim__wants_first(const sl_optim *s) {
    return s->t == 0 && s->options.optimizer == SL_OPTIM_ADAMCPR &&
           s->options.kappa_init == SL_KAPPA_DEPENDENT;
}

/* R of the tensor that begins with piece *at, which moves on to the next one's. */
static double sum_pieces(const sl_optim *s, int *at) {
    double R = 0;
    for (int tensor = s->piece[*at].tensor; *at < s->n_piece && s->piece[*at].tensor == tensor;
         ++*at)
        R += s->sum[*at];
    return R;
}

void sl_optim__bound_first(sl_optim *s) {
    for (int i = 0, at = 0; i < s->n_tensor; i++) {
        const double R = sum_pieces(s, &at);
        if (!constrained(s, i)) continue;
        s->cpr[i].kappa = s->options.kappa_param * R;
        s->cpr[i].set_at = 0;
    }
}

/* A test of R, one every S steps. An increase smaller than the one before is the inflection, from
 * the fourth test on: the authors leave out the first, when training has hardly begun. */
static bool inflects(sl_cpr *c, double R, int64_t t, int64_t S) {
    const double increase = R - c->sampled, before = c->increase;
    c->sampled = R;
    c->increase = increase;
    return t > 3 * S && before > increase;
}

static void move_multiplier(sl_optim *s, int tensor, double R) {
    sl_cpr *c = &s->cpr[tensor];
    const double n = (double)s->tensor[tensor].count;
    c->lambda = SL_MAX(0, c->lambda + s->options.kappa_update * (R - c->kappa) / n);
    s->clamped += 2 * c->lambda > SHRINK_MAX;
}

int sl_optim__bound(sl_optim *s, int64_t t) {
    const int64_t S = sl_optim_kappa_steps(&s->options, s->steps);
    int n = 0;
    for (int i = 0, at = 0; i < s->n_tensor; i++) {
        sl_cpr *c = &s->cpr[i];
        const double R = sum_pieces(s, &at);
        if (!sl_optim__wants(s, i, t)) continue;
        if (c->set_at >= 0) {
            move_multiplier(s, i, R);
        } else if (s->options.kappa_init == SL_KAPPA_WARM_START || inflects(c, R, t, S)) {
            c->kappa = R; // in force from the next step on
            c->set_at = t;
            n++;
        }
    }
    return n;
}

double sl_optim__shrink(const sl_cpr *c) { return SL_MIN(2 * c->lambda, SHRINK_MAX); }
