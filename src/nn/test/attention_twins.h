/* attention_twins - every variant of attention and linear maps: this CPU's levels, the public
 * functions, and the plain twins in float; and gradients of the twins by differences. */
#ifndef SL_NN_ATTENTION_TWINS_H
#define SL_NN_ATTENTION_TWINS_H

#include "nn/attention_impl.h"
#include "nn/test/twins.h"

/* NULL past the last. */
static inline const sl_nn__attention *attention_variant(int i, const char **name) {
    static const sl_nn__attention face = { .attn_fwd = sl_nn_attn_fwd,
                                           .attn_bwd = sl_nn_attn_bwd,
                                           .cols_fwd = sl_nn_cols_fwd,
                                           .cols_bwd = sl_nn_cols_bwd };
    static const sl_nn__attention plain = { .attn_fwd = sl_nn_ref_f_attn_fwd,
                                            .attn_bwd = sl_nn_ref_f_attn_bwd,
                                            .cols_fwd = sl_nn_ref_f_cols_fwd,
                                            .cols_bwd = sl_nn_ref_f_cols_bwd };
    const int levels = (int)sl_cpu_best() + 1;
    if (i < levels) {
        *name = sl_isa_name((sl_isa)i);
        return sl_nn__attention_at((sl_isa)i);
    }
    *name = i == levels ? "face" : "plain float";
    return i == levels ? &face : i == levels + 1 ? &plain : NULL;
}

#define EACH_ATTENTION(k, name)                                                                 \
    const char *name;                                                                           \
    const sl_nn__attention *k;                                                                  \
    for (int variant_ = 0; (k = attention_variant(variant_, &name)) != NULL; variant_++)

/* A kernel as a function of one number: the outputs of its forward pass, weighed. */
typedef double (*loss_fn)(void *problem);

/* grad is what the backward pass says of x, which the loss reads. */
static inline void differences_agree(sl_fixture *t, double *x, const double *grad, size_t n,
                                     loss_fn loss, void *problem, const char *what) {
    const double h = 1e-5;
    for (size_t i = 0; i < n; i++) {
        const double x_i = x[i];
        x[i] = x_i + h;
        const double above = loss(problem);
        x[i] = x_i - h;
        const double below = loss(problem);
        x[i] = x_i;
        const double slope = (above - below) / (2 * h);
        SL_CHECK(t, fabs(slope - grad[i]) <= 1e-7 * fmax(1, fabs(slope)),
                 "%s: number %zu is %.12g, by differences %.12g", what, i, grad[i], slope);
    }
}

static inline double weighed(const double *w, const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += w[i] * x[i];
    return sum;
}

#endif
